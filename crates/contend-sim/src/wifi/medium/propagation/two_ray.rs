//! A direct ray and one that the ground reflects.

use super::{Propagation, free_space, wavelength};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Rappaport 2002, Wireless Communications §4.6; ns-2's TwoRayGround";
/// What it does.
pub const SUMMARY: &str = "Two rays: free space up to the crossover distance 4 pi h^2 / lambda, beyond it the power \
    falls with the fourth power of the distance.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::number("frequency", "carrier frequency in MHz").default("914").range(1.0, 100_000.0),
    Param::number("height", "height of all antennas above the ground in metres").default("1.5").range(0.01, 1000.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the model.
///
/// # Errors
/// Never.
pub fn build(args: &Args) -> Result<Box<dyn Propagation>, Refusal> {
    let (lambda, height) = (wavelength(args.number("frequency")), args.number("height"));
    let crossover = 4.0 * std::f64::consts::PI * height * height / lambda;
    Ok(Box::new(TwoRay { lambda, height, crossover }))
}

#[derive(Debug)]
struct TwoRay {
    /// Wavelength, height of the antennas and crossover distance, in metres.
    lambda: f64,
    height: f64,
    crossover: f64,
}

impl Propagation for TwoRay {
    fn gain(&self, distance: f64) -> f64 {
        if distance <= self.crossover {
            return free_space(self.lambda, distance);
        }
        let x = self.height / distance;
        x * x * x * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::registry::Value;

    /// ns-2's defaults: 0.28183815 W and a threshold of 3.652e-10 W give 250 m, 1.559e-11 W gives 550 m. The crossover
    /// is 86.14 m; there both forms agree to 0.1 %.
    #[test]
    fn the_thresholds_of_ns2_are_at_250_and_550_metres() {
        let mut args = Args::default();
        args.set("frequency", Value::Number(914.0));
        args.set("height", Value::Number(1.5));
        let model = build(&args).unwrap();
        let watts = |d| 0.281_838_15 * model.gain(d);
        assert!((watts(250.0) / 3.652e-10 - 1.0).abs() < 1e-3 && (watts(550.0) / 1.559e-11 - 1.0).abs() < 1e-3);
        assert!((watts(86.0) / watts(86.3) / (86.3f64 / 86.0).powi(3) - 1.0).abs() < 0.01);
    }
}
