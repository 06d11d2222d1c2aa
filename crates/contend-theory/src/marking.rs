//! The share of packets that a link loses or marks, as a function of the offered load.
//!
//! Jersey 2005 §6.2 and §9.3 require a function that is not negative and does not fall. They name no function.
//!
//! Differences from the source: the two functions here are our own choice. [`Marking::Fluid`] is the loss of a link
//! with a full queue; it has a kink at the capacity. [`Marking::Power`] is smooth below the capacity and is limited to
//! 1.

use crate::Invalid;
use crate::invalid::{invalid, not_negative, positive};
use crate::numbers::power;

/// The loss function of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Marking {
    /// The link loses the load above its capacity: max(0, (y-C)/y).
    Fluid,
    /// (y/C)^k, at most 1.
    Power(
        /// k, at least 1.
        u32,
    ),
}

/// Largest exponent accepted.
pub const EXPONENT_LIMIT: u32 = 10_000;

impl Marking {
    /// The function for this exponent; 0 means [`Marking::Fluid`]. Returns an error above [`EXPONENT_LIMIT`].
    pub fn of(exponent: u32) -> Result<Marking, Invalid> {
        match exponent {
            0 => Ok(Marking::Fluid),
            k if k > EXPONENT_LIMIT => Err(invalid("exponent", k, "at most 10000, or 0 for the loss of a fluid")),
            k => Ok(Marking::Power(k)),
        }
    }

    /// p(y) for a load of `load` times the capacity. Returns an error for a negative load.
    pub fn share(&self, load: f64) -> Result<f64, Invalid> {
        Ok(self.at(not_negative("load", load)?))
    }

    /// p(y) for a valid `load`; a load below 0 counts as 0.
    pub(crate) fn at(&self, load: f64) -> f64 {
        match self {
            Marking::Fluid if load <= 1.0 => 0.0,
            Marking::Fluid => 1.0 - 1.0 / load,
            Marking::Power(k) => power(load.max(0.0), *k).min(1.0),
        }
    }

    /// dp/du at the load u = `load`, in units of the capacity. At a kink it is the slope on the right side. Returns an
    /// error unless the load is above 0.
    pub fn slope(&self, load: f64) -> Result<f64, Invalid> {
        let u = positive("load", load)?;
        Ok(match self {
            Marking::Fluid if u < 1.0 => 0.0,
            Marking::Fluid => 1.0 / (u * u),
            Marking::Power(_) if u > 1.0 => 0.0,
            Marking::Power(k) => f64::from(*k) * power(u, k.saturating_sub(1)),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_full_queue_loses_what_exceeds_its_capacity() {
        // 1250 packets/s are offered to a link of 1000 packets/s: a fifth is lost.
        assert_eq!(Marking::Fluid.share(1.25).unwrap(), 1.0 - 1.0 / 1.25);
        assert_eq!((Marking::Fluid.share(1.0).unwrap(), Marking::Fluid.slope(0.9).unwrap()), (0.0, 0.0));
        assert_eq!(Marking::Power(3).share(0.5).unwrap(), 0.125);
        assert_eq!((Marking::Power(3).share(1.5).unwrap(), Marking::Power(3).slope(1.5).unwrap()), (1.0, 0.0));
    }

    #[test]
    fn slopes_are_differences() {
        for (m, u) in
            [(Marking::Fluid, 1.3), (Marking::Fluid, 4.0), (Marking::Power(1), 0.4), (Marking::Power(20), 0.9)]
        {
            let h = 1e-6;
            let difference = (m.share(u + h).unwrap() - m.share(u - h).unwrap()) / (2.0 * h);
            assert!((difference - m.slope(u).unwrap()).abs() < 1e-6, "{m:?}");
        }
    }

    #[test]
    fn impossible_loads_are_errors() {
        assert_eq!(Marking::Fluid.share(-1.0).unwrap_err().what, "load");
        assert_eq!(Marking::Fluid.slope(0.0).unwrap_err().what, "load");
        assert_eq!(Marking::of(20_000).unwrap_err().what, "exponent");
        assert_eq!((Marking::of(0).unwrap(), Marking::of(3).unwrap()), (Marking::Fluid, Marking::Power(3)));
    }
}
