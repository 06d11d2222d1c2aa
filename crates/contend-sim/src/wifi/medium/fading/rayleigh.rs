//! Many paths without a line of sight: the power has an exponential distribution.
//!
//! The gain is constant for a block of one coherence time, and independent in the next (block fading). The gain of a
//! block is a function of the link's key and the number of the block: blocks without frames cost nothing.

use super::Fading;
use crate::rng::mix;
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::Span;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Rappaport 2002, Wireless Communications §5.6.1; Biglieri, Proakis, Shamai 1998 (block fading)";
/// What it does.
pub const SUMMARY: &str = "Rayleigh fading in blocks: an exponential factor of the power with mean 1, drawn anew each \
    coherence time.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::time(
    "coherence",
    "time for which the gain is constant; at walking speed about 20ms at 5 GHz and 40ms at 2.4 GHz",
)
.default("20ms")
.range(1e-6, 1e6)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the process.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Fading>, Refusal> {
    Ok(Box::new(Rayleigh { coherence: args.time("coherence"), key: None, block: None, gain: 0.0 }))
}

#[derive(Debug)]
struct Rayleigh {
    coherence: Span,
    /// The key of the link; `None` before the first frame.
    key: Option<u64>,
    /// The number of the latest block with a frame, and its gain in dB.
    block: Option<u64>,
    gain: f64,
}

impl Fading for Rayleigh {
    fn gain(&mut self, cx: &mut Cx) -> f64 {
        let key = *self.key.get_or_insert_with(|| cx.rng.random());
        let block = Span::from_nanos(cx.now.as_nanos()).div_floor(self.coherence);
        if self.block != Some(block) {
            self.block = Some(block);
            // 53 bits: a uniform number above 0 and at most 1.
            let uniform = ((mix(key ^ mix(block)) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
            self.gain = 10.0 * libm::log10(-libm::log(uniform));
        }
        self.gain
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, gains};
    use super::*;
    use contend_core::registry::Value;

    fn process() -> Box<dyn Fading> {
        build(&args(PARAMS, &[("coherence", Value::Time(Span::from_millis(20)))])).unwrap()
    }

    /// The power has mean 1; it is below a tenth with probability 1 - exp(-0.1), above 1 with exp(-1). One standard
    /// deviation of a share of 100,000 is at most 0.0016, of the mean 0.0032.
    #[test]
    fn the_power_is_exponential_with_mean_one() {
        let g = gains(&mut *process(), 1, 100_000, Span::from_millis(20));
        let share = |db: f64| g.iter().filter(|x| **x < db).count() as f64 / 1e5;
        let mean = g.iter().map(|x| libm::pow(10.0, x / 10.0)).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((share(-10.0) - (1.0 - libm::exp(-0.1))).abs() < 0.004, "{}", share(-10.0));
        assert!((share(0.0) - (1.0 - libm::exp(-1.0))).abs() < 0.005, "{}", share(0.0));
    }

    #[test]
    fn blocks_are_independent() {
        let g: Vec<f64> = gains(&mut *process(), 2, 100_000, Span::from_millis(20))
            .iter()
            .map(|x| libm::pow(10.0, x / 10.0) - 1.0)
            .collect();
        let correlation = g.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / 1e5;
        assert!(correlation.abs() < 0.012, "{correlation}");
    }

    #[test]
    fn the_gain_is_constant_in_a_block_and_the_same_however_often_frames_start() {
        let dense = gains(&mut *process(), 3, 2_000, Span::from_millis(1));
        assert!(dense.chunks(20).all(|block| block.iter().all(|x| *x == block[0])));
        let sparse = gains(&mut *process(), 3, 50, Span::from_millis(40));
        assert!(sparse.iter().enumerate().all(|(i, x)| *x == dense[40 * i]));
        assert_ne!(gains(&mut *process(), 4, 1, Span::ZERO), dense[..1]);
    }
}
