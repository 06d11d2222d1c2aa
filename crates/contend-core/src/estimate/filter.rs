//! The low-pass filters of the estimators, in 2^-8 bytes per second.
//!
//! - Rates are limited to 2^31 bytes per second, intervals to 2^24 microseconds (17 s), time constants to 2^23
//!   microseconds. All products then fit 64 bits.
//! - Quotients are rounded down. Per acknowledgment, an estimate falls below the exact value by at most one rounding
//!   step (2^-8 bytes per second; two steps in [`Filter::bilinear`]). An estimate falls to zero if no data arrive.

/// Largest rate, in 2^-8 bytes per second.
const MOST_Q8: u64 = (1 << 39) - 1;
/// Longest interval in microseconds.
const LONGEST_US: u64 = (1 << 24) - 1;
/// Longest time constant in microseconds.
const SLOWEST_US: u64 = (1 << 23) - 1;
/// A byte per microsecond in 2^-8 bytes per second.
const PER_US: u64 = 1_000_000 << 8;

/// The state of a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The output.
    rate_q8: u64,
    /// The last input sample.
    sample_q8: u64,
    /// Bytes that came in an interval of length zero. They are part of the next sample.
    held: u64,
}

impl Filter {
    /// Starts the filter at the first acknowledgment, with a rate of `bytes` per round-trip time.
    pub fn start(&mut self, bytes: u64, rtt_us: u32) {
        self.sample_q8 = sample(bytes, u64::from(rtt_us));
        self.rate_q8 = self.sample_q8;
    }

    /// The estimate in bytes per second.
    pub fn rate(&self) -> u64 {
        self.rate_q8 >> 8
    }

    /// True if the state has decayed to zero.
    pub fn is_empty(&self) -> bool {
        self.rate_q8 == 0 && self.sample_q8 == 0
    }

    /// Time sliding window: (tau R + L) / (Delta + tau), eq. 5.8 and 5.9 of Xu 2005 (Clark and Fang 1998).
    pub fn sliding_window(&mut self, bytes: u64, delta_us: u64, tau_us: u64) {
        let tau = tau_us.clamp(1, SLOWEST_US);
        let sum = (tau * self.rate_q8).saturating_add(bytes.saturating_mul(PER_US));
        self.rate_q8 = (sum / (delta_us.min(LONGEST_US) + tau)).min(MOST_Q8);
    }

    /// First-order low-pass by the trapezoidal rule: ((2 tau - Delta) R + Delta (b + b')) / (2 tau + Delta) with the
    /// last two samples, eq. 5.2 and 5.19. For Delta above 2 tau the weight of R is negative; the estimate is then
    /// limited to at least 0.
    pub fn bilinear(&mut self, bytes: u64, delta_us: u64, tau_us: u64) {
        let Some((bytes, delta)) = self.interval(bytes, delta_us) else { return };
        let twice = 2 * tau_us.clamp(1, SLOWEST_US);
        // Delta b = L, so this step does not need the sample b. The next step does.
        let new = bytes.saturating_mul(PER_US).saturating_add(delta * self.sample_q8);
        let sum = if delta <= twice {
            ((twice - delta) * self.rate_q8).saturating_add(new)
        } else {
            new.saturating_sub((delta - twice) * self.rate_q8)
        };
        self.rate_q8 = (sum / (twice + delta)).min(MOST_Q8);
        self.sample_q8 = sample(bytes, delta);
    }

    /// The low-pass with constant weights, ((2n - 1) R + b + b') / (2n + 1) with `n` = `samples`. These are the weights
    /// of [`Filter::bilinear`] for tau = n Delta.
    pub fn constant(&mut self, bytes: u64, delta_us: u64, samples: u32) {
        let Some((bytes, delta)) = self.interval(bytes, delta_us) else { return };
        let new = sample(bytes, delta);
        let twice = 2 * u64::from(samples.clamp(1, 1000));
        self.rate_q8 = ((twice - 1) * self.rate_q8 + new + self.sample_q8) / (twice + 1);
        self.sample_q8 = new;
    }

    /// Exponential averaging: (1 - e^(-Delta/omega)) L / Delta + e^(-Delta/omega) R, eq. 8.38 (Stoica, Shenker and
    /// Zhang 1998). The first term is computed as L / omega g(Delta/omega), which has no pole at Delta = 0.
    pub fn exponential(&mut self, bytes: u64, delta_us: u64, omega_us: u64) {
        let omega = omega_us.clamp(1, SLOWEST_US);
        let x_q32 = (delta_us.min(LONGEST_US) << 32) / omega;
        let (g_q32, e_q32) = decay(x_q32);
        let step = scaled(bytes.saturating_mul(PER_US) / omega, g_q32);
        self.rate_q8 = scaled(self.rate_q8, e_q32).saturating_add(step).min(MOST_Q8);
    }

    /// Returns the bytes and the length of an interval. Keeps the bytes of an interval of length zero for the next
    /// interval.
    fn interval(&mut self, bytes: u64, delta_us: u64) -> Option<(u64, u64)> {
        let bytes = self.held.saturating_add(bytes);
        if delta_us == 0 {
            self.held = bytes;
            return None;
        }
        self.held = 0;
        Some((bytes, delta_us.min(LONGEST_US)))
    }
}

/// The rate of `bytes` in an interval, in 2^-8 bytes per second; 0 for an interval of length zero.
pub fn sample(bytes: u64, delta_us: u64) -> u64 {
    bytes.saturating_mul(PER_US).checked_div(delta_us).map_or(0, |q8| q8.min(MOST_Q8))
}

fn scaled(n: u64, by_q32: u64) -> u64 {
    ((u128::from(n) * u128::from(by_q32)) >> 32) as u64
}

/// (1 - e^-x) / x and e^-x in 2^-32, with an error below 2^-28.
fn decay(x_q32: u64) -> (u64, u64) {
    const ONE: u64 = 1 << 32;
    const LN2_Q32: u64 = 2_977_044_472;
    let (halvings, r) = (x_q32 / LN2_Q32, x_q32 % LN2_Q32);
    // g(r) = 1 - r/2 (1 - r/3 (1 - r/4 ...)). For r < ln 2 the terms after r^12 are below 2^-38.
    let g = (2..=13).rev().fold(ONE, |g, n| ONE - scaled(g, r) / n);
    let e = (ONE - scaled(g, r)).checked_shr(halvings.min(63) as u32).unwrap_or(0);
    let g = if halvings == 0 { g } else { ((ONE - e) << 31) / (x_q32 >> 1) };
    (g, e)
}
