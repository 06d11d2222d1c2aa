//! A node's estimate of its air: the shared database of Barreto 2012 §5.3.

use crate::registry::Param;
use crate::time::{Span, Time};

/// A node's estimate of its air. Rates are bytes of IP packets per second; a share of 2^20 is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local {
    /// C_Winf, capacity of the link; `None` if the observer has no estimate.
    pub capacity: Option<u64>,
    /// AB_Winf, the part of the capacity that is not in use; `None` if the observer has no estimate.
    pub available: Option<u64>,
    /// The receiver's available bandwidth, which the last ACK to this sender carried; `None` if none did.
    pub told: Option<u64>,
    /// When the last sample was taken.
    pub updated: Time,
    /// T_backoff: backoff of the last packet that the node sent, over all its attempts.
    pub backoff: Span,
    /// C_extra: share of the time between two packets that DIFS and backoff take (eq. 5.19).
    pub overhead_q20: u32,
    /// Share of the node's own RTSs (without RTS: data frames) that nobody answered.
    pub failed_q20: u32,
}

/// A share of 1.
pub(super) const ONE: u64 = 1 << 20;

/// How the available bandwidth is corrected for contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Not at all.
    Off,
    /// By the share that DIFS and backoff take. The thesis calls 1 - C_extra the collision probability (eq. 5.21, spec
    /// S7); it is the share of time that is left.
    Overhead,
    /// By the share of attempts that failed, the true rate of collisions (spec U8).
    Failures,
}

impl Correction {
    /// The parameter `correction`.
    pub const PARAM: Param = Param::word(
        "correction",
        &["off", "overhead", "failures"],
        "correction of the air's available bandwidth. off: none; overhead: eq. 5.21; failures: by the share \
            of attempts that failed",
    )
    .default("off");

    /// Reads a value of [`Correction::PARAM`].
    pub fn new(word: &str) -> Correction {
        match word {
            "overhead" => Correction::Overhead,
            "failures" => Correction::Failures,
            _ => Correction::Off,
        }
    }
}

impl Local {
    /// The same with the available bandwidth corrected for contention, or the receiver's if that is smaller (Barreto
    /// 2012 §5.4).
    #[must_use]
    pub fn corrected(self, by: Correction) -> Local {
        let lost = match by {
            Correction::Off => 0,
            Correction::Overhead => self.overhead_q20,
            Correction::Failures => self.failed_q20,
        };
        let own = self.available.map(|b| scale(b, ONE - u64::from(lost).min(ONE), ONE));
        Local { available: own.map(|b| b.min(self.told.unwrap_or(b))), ..self }
    }
}

/// `x * part / whole`.
pub(super) fn scale(x: u64, part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(x) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_shorten_only_the_available_bandwidth() {
        let local = Local {
            capacity: Some(900_000),
            available: Some(800_000),
            overhead_q20: (ONE * 15 / 100) as u32,
            failed_q20: (ONE / 4) as u32,
            ..Local::default()
        };
        assert_eq!(local.corrected(Correction::Off), local);
        assert!(local.corrected(Correction::Overhead).available.unwrap().abs_diff(680_000) <= 1);
        assert_eq!(local.corrected(Correction::Failures).available, Some(600_000));
        assert_eq!(local.corrected(Correction::Failures).capacity, Some(900_000));
        // The smaller of the corrected and the receiver's.
        let told = |available| Local { told: Some(available), ..local }.corrected(Correction::Failures).available;
        assert_eq!((told(500_000), told(700_000)), (Some(500_000), Some(600_000)));
        let all = Local { failed_q20: u32::MAX, ..local };
        assert_eq!(all.corrected(Correction::Failures).available, Some(0));
    }
}
