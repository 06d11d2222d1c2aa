//! Propagation: how much of a transmitter's power arrives at a distance.

use contend_core::Refusal;
use contend_core::registry::Args;
use std::fmt::Debug;

/// Builds a model from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args) -> Result<Box<dyn Propagation>, Refusal>;

contend_core::registry!(Build; range, friis, two_ray, log_distance);

/// The path loss of a field, equal for all stations.
pub trait Propagation: Debug + Send {
    /// Received power as a share of the transmitted power, at `distance` metres. It never grows with the distance. Who
    /// hears whom follows from ratios of gains: the distances `range` and `sense` of a field are the thresholds.
    fn gain(&self, distance: f64) -> f64;
    /// The path loss in dB at a gain of 1, for the SNR; `None` if the model has no path loss.
    fn reference(&self) -> Option<f64> {
        Some(0.0)
    }
}

/// The share of the power that is left after a loss of so many decibels.
pub fn left(decibels: f64) -> f64 {
    if decibels == 0.0 { 1.0 } else { libm::pow(10.0, -decibels / 10.0) }
}

/// True if a frame that loses so many decibels beside the path loss of `distance` arrives with at least the power that
/// it has at the distance `limit` without loss. The distance alone decides where nothing is lost.
pub fn arrives(model: &dyn Propagation, distance: f64, lost: f64, limit: f64) -> bool {
    if lost == 0.0 { distance <= limit } else { model.gain(distance) * left(lost) >= model.gain(limit) }
}

/// The speed of light in metres per second.
pub(crate) const LIGHT: f64 = 299_792_458.0;

/// The gain in free space (Friis 1946) of isotropic antennas at a wavelength of `lambda` metres.
fn free_space(lambda: f64, distance: f64) -> f64 {
    let x = lambda / (4.0 * std::f64::consts::PI * distance.max(lambda));
    x * x
}

/// Metres of a wave of `megahertz`.
fn wavelength(megahertz: f64) -> f64 {
    LIGHT / (megahertz * 1e6)
}
