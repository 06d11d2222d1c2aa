//! The unit disc: within the range all frames arrive with the same power.

use super::Propagation;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Clark, Colbourn, Johnson 1990, Unit disk graphs";
/// What it does.
pub const SUMMARY: &str = "The same power at every distance: who hears whom is a matter of `range` and `sense` alone, \
    and no frame captures a receiver.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the model.
///
/// # Errors
/// Never.
pub fn build(_: &Args) -> Result<Box<dyn Propagation>, Refusal> {
    Ok(Box::new(Range))
}

#[derive(Debug)]
struct Range;

impl Propagation for Range {
    fn gain(&self, _: f64) -> f64 {
        1.0
    }
    fn reference(&self) -> Option<f64> {
        None
    }
}
