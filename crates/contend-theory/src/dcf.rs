//! The parameters of a saturated DCF that all contention models here share: the backoff law and the three slot
//! durations.
//!
//! IEEE 802.11-2020 §10.3.3 (contention window) and §10.3.4.3 (backoff procedure).
//!
//! Differences from the standard:
//! - All frames have one retry limit, counted in attempts. The standard has a short and a long retry limit.
//! - All stations resume at the same time after an exchange. EIFS and ACK timeout are therefore part of `tc_us`.

use crate::Invalid;
use crate::invalid::{invalid, not_negative, positive, probability};

/// The largest contention window accepted.
pub const CW_LIMIT: u32 = 65_535;
/// The largest number of attempts accepted.
pub const ATTEMPTS_LIMIT: u32 = 255;

/// Truncated binary exponential backoff: attempt j (from 0) draws uniformly from 0..W_j-1, W_j = min(2^j (cw_min+1),
/// cw_max+1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// CWmin, slots.
    pub cw_min: u32,
    /// CWmax, slots.
    pub cw_max: u32,
    /// R, attempts after which a packet is dropped; `None`: never dropped.
    pub attempts: Option<u32>,
}

impl Backoff {
    /// Checks cw_min <= cw_max <= [`CW_LIMIT`] and 1 <= attempts <= [`ATTEMPTS_LIMIT`].
    pub fn check(&self) -> Result<(), Invalid> {
        if self.cw_max > CW_LIMIT {
            return Err(invalid("cw_max", self.cw_max, "at most 65535 slots"));
        }
        if self.cw_min > self.cw_max {
            return Err(invalid("cw_min", self.cw_min, "at most cw_max"));
        }
        match self.attempts {
            Some(r) if !(1..=ATTEMPTS_LIMIT).contains(&r) => Err(invalid("attempts", r, "between 1 and 255, or none")),
            _ => Ok(()),
        }
    }

    /// The windows W_j in slots, one per backoff stage. There are `attempts` stages; without a limit there are as many
    /// stages as different windows. Errors: see [`Backoff::check`].
    pub fn windows(&self) -> Result<Vec<u32>, Invalid> {
        self.check()?;
        let mut w = self.cw_min + 1;
        let mut windows = vec![w];
        while self.attempts.map_or(w <= self.cw_max, |r| windows.len() < r as usize) {
            w = (2 * w).min(self.cw_max + 1);
            windows.push(w);
        }
        Ok(windows)
    }

    /// Mean backoff in slots before one attempt, when each attempt fails with probability `p` independently of earlier
    /// attempts. Returns an error unless `p` is in 0..=1.
    pub fn slots_per_attempt(&self, p: f64) -> Result<f64, Invalid> {
        probability("p", p)?;
        let windows = self.windows()?;
        // An attempt is in stage j with a probability proportional to p^j. Without a limit on attempts, the last stage
        // has the weight of the whole tail, p^m/(1-p). All weights are then multiplied by 1-p, so that p = 1 gives a
        // finite result.
        let last = windows.len() - 1;
        let (mut sum, mut total, mut weight) = (0.0, 0.0, 1.0);
        for (j, &w) in windows.iter().enumerate() {
            let share = match self.attempts {
                None if j < last => weight * (1.0 - p),
                _ => weight,
            };
            sum += share * f64::from(w - 1) / 2.0;
            total += share;
            weight *= p;
        }
        Ok(sum / total)
    }

    /// Mean number of attempts per packet, until success or drop; infinite for p = 1 without a limit.
    pub fn attempts_per_packet(&self, p: f64) -> Result<f64, Invalid> {
        self.check()?;
        probability("p", p)?;
        Ok(match self.attempts {
            // 1 + p + ... + p^(R-1)
            Some(r) => (0..r).fold(0.0, |sum, _| 1.0 + p * sum),
            None => 1.0 / (1.0 - p),
        })
    }

    /// Probability p^R that a packet is dropped; 0 without a limit.
    pub fn drop_probability(&self, p: f64) -> Result<f64, Invalid> {
        self.check()?;
        probability("p", p)?;
        Ok(self.attempts.map_or(0.0, |r| (0..r).fold(1.0, |q, _| q * p)))
    }
}

/// The durations of the three kinds of slot, and the payload of a success.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlotTimes {
    /// σ, an idle backoff slot, µs.
    pub slot_us: f64,
    /// T_s, from the start of a successful frame to the next slot boundary (with SIFS, ACK and DIFS), µs.
    pub ts_us: f64,
    /// T_c, the corresponding time for a collision, µs.
    pub tc_us: f64,
    /// E\[P\], payload of one success, bits.
    pub payload_bits: f64,
}

impl SlotTimes {
    /// Checks that the durations are finite and above 0 and the payload finite and not below 0.
    pub fn check(&self) -> Result<(), Invalid> {
        positive("slot_us", self.slot_us)?;
        positive("ts_us", self.ts_us)?;
        positive("tc_us", self.tc_us)?;
        not_negative("payload_bits", self.payload_bits)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LAW: Backoff = Backoff { cw_min: 15, cw_max: 1023, attempts: Some(7) };

    #[test]
    fn windows_double_up_to_the_cap() {
        let short = Backoff { attempts: Some(3), ..LAW };
        let long = Backoff { attempts: Some(8), ..LAW };
        let endless = Backoff { attempts: None, ..LAW };
        assert_eq!(short.windows().unwrap(), [16, 32, 64]);
        assert_eq!(long.windows().unwrap(), [16, 32, 64, 128, 256, 512, 1024, 1024]);
        assert_eq!(endless.windows().unwrap(), [16, 32, 64, 128, 256, 512, 1024]);
        let odd = Backoff { cw_min: 10, cw_max: 29, attempts: None };
        assert_eq!(odd.windows().unwrap(), [11, 22, 30]);
    }

    #[test]
    fn many_attempts_approach_no_limit() {
        let many = Backoff { attempts: Some(255), ..LAW };
        let endless = Backoff { attempts: None, ..LAW };
        for p in [0.0, 0.1, 0.5, 0.8] {
            let (a, b) = (many.slots_per_attempt(p).unwrap(), endless.slots_per_attempt(p).unwrap());
            assert!((a - b).abs() < 1e-9, "p = {p}: {a} {b}");
            let (a, b) = (many.attempts_per_packet(p).unwrap(), endless.attempts_per_packet(p).unwrap());
            assert!((a - b).abs() < 1e-9, "p = {p}: {a} {b}");
        }
        assert_eq!(endless.slots_per_attempt(1.0).unwrap(), 511.5);
        assert_eq!(endless.attempts_per_packet(1.0).unwrap(), f64::INFINITY);
        assert_eq!(LAW.attempts_per_packet(1.0).unwrap(), 7.0);
    }

    #[test]
    fn impossible_laws_are_errors() {
        let what = |b: Backoff| b.check().unwrap_err().what;
        assert_eq!(what(Backoff { cw_min: 31, cw_max: 15, ..LAW }), "cw_min");
        assert_eq!(what(Backoff { cw_max: 65_536, ..LAW }), "cw_max");
        assert_eq!(what(Backoff { attempts: Some(0), ..LAW }), "attempts");
        assert_eq!(what(Backoff { attempts: Some(256), ..LAW }), "attempts");
        assert_eq!(LAW.slots_per_attempt(f64::NAN).unwrap_err().what, "p");
        let times = SlotTimes { slot_us: 9.0, ts_us: f64::INFINITY, tc_us: 1.0, payload_bits: 0.0 };
        assert_eq!(times.check().unwrap_err().what, "ts_us");
    }
}
