//! One random stream per named entity and purpose.
//!
//! The key of a stream is the seed of the run, the name of the entity in the file, and the purpose of the numbers:
//! `flow0.3/arrivals`, `sta3/backoff`, `wire.2/loss`. The key does not depend on the number of other entities. A sweep
//! over a count therefore changes no other draws, and an algorithm that draws more backoffs does not change its losses.

use contend_core::{Rng, Span};
use rand::{RngExt as _, SeedableRng};

/// FNV-1a over texts and numbers.
#[derive(Debug)]
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: impl Iterator<Item = u8>) {
        bytes.for_each(|b| self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.bytes().chain([0]));
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, n: u64) {
        self.bytes(n.to_le_bytes().into_iter());
    }

    /// The hash of all that was added.
    pub(crate) fn hash(&self) -> u64 {
        self.0
    }
}

/// The stream of `name` for `purpose` in the run with `seed`.
pub fn stream(seed: u64, name: &str, purpose: &str) -> Rng {
    // FNV-1a over name, '/', purpose spreads the text; two rounds of the SplitMix64 finaliser (Steele et al. 2014)
    // spread the bits.
    let mut all = Fnv::default();
    all.bytes(name.bytes().chain([b'/']).chain(purpose.bytes()));
    let h = all.hash();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(h ^ mix(seed)).to_le_bytes());
    key[8..].copy_from_slice(&mix(mix(h).wrapping_add(seed)).to_le_bytes());
    Rng::from_seed(key)
}

/// A duration from the exponential distribution with a mean of `mean` seconds, by inversion with libm's logarithm (the
/// same bits on every machine).
pub(crate) fn exponential(rng: &mut Rng, mean: f64) -> Span {
    Span::from_secs_f64(-mean * libm::log(1.0 - rng.random::<f64>()))
}

/// A draw from the standard normal distribution, by the transformation of Box and Muller with libm's functions.
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(2.0 * std::f64::consts::PI * angle)
}

/// The digest after `a` and `b`. It depends on their order, and is cheap enough for every run.
pub(crate) fn fold(digest: u64, a: u64, b: u64) -> u64 {
    ((digest ^ a).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ b).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// The finaliser of SplitMix64: every input bit affects every output bit.
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng as _;

    /// The values of the streams are a promise: a change here changes every published digest.
    #[test]
    fn stream_values_are_golden() {
        let mut r = stream(1, "sta3", "backoff");
        let got: Vec<u64> = (0..3).map(|_| r.next_u64()).collect();
        assert_eq!(got, GOLDEN);
        let mut r = stream(1, "sta3", "backoff");
        let draws: Vec<u32> = (0..8).map(|_| r.random_range(0..16)).collect();
        assert_eq!(draws, DRAWS);
    }
    const GOLDEN: [u64; 3] = [2_360_484_768_461_231_515, 15_232_393_226_389_333_614, 8_362_272_170_109_126_722];
    const DRAWS: [u32; 8] = [15, 4, 12, 4, 12, 10, 0, 1];

    #[test]
    fn seed_name_and_purpose_each_give_another_stream() {
        let first = |s, n, p| stream(s, n, p).next_u64();
        let base = first(1, "sta3", "backoff");
        assert!(
            [first(2, "sta3", "backoff"), first(1, "sta4", "backoff"), first(1, "sta3", "loss")]
                .iter()
                .all(|&x| x != base)
        );
    }
}
