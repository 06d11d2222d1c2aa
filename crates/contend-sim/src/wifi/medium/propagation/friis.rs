//! Free space.

use super::{Propagation, free_space, wavelength};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Friis 1946, A note on a simple transmission formula";
/// What it does.
pub const SUMMARY: &str = "Free space: the power falls with the square of the distance.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::number("frequency", "carrier frequency in MHz").default("2412").range(1.0, 100_000.0)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the model.
///
/// # Errors
/// Never.
pub fn build(args: &Args) -> Result<Box<dyn Propagation>, Refusal> {
    Ok(Box::new(Friis { lambda: wavelength(args.number("frequency")) }))
}

#[derive(Debug)]
struct Friis {
    /// Wavelength in metres.
    lambda: f64,
}

impl Propagation for Friis {
    fn gain(&self, distance: f64) -> f64 {
        free_space(self.lambda, distance)
    }
}
