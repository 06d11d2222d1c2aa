//! Always the same rate.

use super::{Chain, RateControl, RateId, Report, Setting};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, on, step};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "no source: the definition";
/// What it does.
pub const SUMMARY: &str = "Always the rate that the file gives the station.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] =
    &[on("a burst"), step("every attempt has the rate that the file gives the station", "the definition")];

/// Builds the rate control.
///
/// # Errors
/// Never: there are no parameters.
pub fn build(_: &Args, setting: &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal> {
    Ok(Box::new(Fixed { rate: setting.given }))
}

#[derive(Debug)]
struct Fixed {
    rate: RateId,
}

impl RateControl for Fixed {
    fn choose(&mut self, _: &mut Cx) -> Chain {
        Chain::all(self.rate)
    }
    fn sent(&mut self, _: &mut Cx, _: &Report) {}
}
