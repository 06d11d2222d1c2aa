//! No fading.

use super::Fading;
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "no source: the definition";
/// What it does.
pub const SUMMARY: &str = "The SNR is constant.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the process.
///
/// # Errors
/// Never.
pub fn build(_: &Args) -> Result<Box<dyn Fading>, Refusal> {
    Ok(Box::new(Constant))
}

#[derive(Debug)]
struct Constant;

impl Fading for Constant {
    fn gain(&mut self, _: &mut Cx) -> f64 {
        0.0
    }
}
