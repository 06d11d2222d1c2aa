//! The power falls with a power of the distance that the user chooses.

use super::Propagation;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Rappaport 2002, Wireless Communications §4.9";
/// What it does.
pub const SUMMARY: &str = "Log-distance path loss: the power falls with the distance to the power of `exponent`, from \
    one metre on.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::number("exponent", "2 in free space, about 3 in a city or inside a building, 4 and more behind obstacles")
        .default("3")
        .range(1.0, 10.0),
    Param::number("reference", "path loss at one metre in dB, for the SNR; the default is that of 5.15 GHz")
        .default("46.6777")
        .range(0.0, 200.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the model.
///
/// # Errors
/// Never.
pub fn build(args: &Args) -> Result<Box<dyn Propagation>, Refusal> {
    Ok(Box::new(LogDistance { exponent: args.number("exponent"), reference: args.number("reference") }))
}

#[derive(Debug)]
struct LogDistance {
    exponent: f64,
    /// Path loss at one metre in dB.
    reference: f64,
}

impl Propagation for LogDistance {
    fn gain(&self, distance: f64) -> f64 {
        libm::pow(distance.max(1.0), -self.exponent)
    }
    fn reference(&self) -> Option<f64> {
        Some(self.reference)
    }
}
