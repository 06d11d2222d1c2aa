//! Where a station is: a position for each instant, computed when asked. Movement causes no event.

use contend_core::Refusal;
use contend_core::registry::{Args, Fact};
use contend_core::{Rng, Time};
use rand::RngExt as _;
use std::fmt::Debug;
use std::sync::Arc;

pub mod movement;
mod squares;

pub use movement::Movement;
pub use squares::Squares;

/// Builds the mobility of one station from its parameters. The error names what is wrong and a valid value.
pub type Build = fn(&Args, Setting) -> Result<Box<dyn Mobility>, Refusal>;

contend_core::registry!(Build; fixed [Fact::Constant], random_waypoint, trace [Fact::File(trace::FILE)]);

/// A place on the ground, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Metres to the right of the area's left edge.
    pub x: f64,
    /// Metres above the area's lower edge.
    pub y: f64,
}

impl Point {
    /// The distance to `other` in metres.
    pub fn distance(self, other: Point) -> f64 {
        let (x, y) = (self.x - other.x, self.y - other.y);
        // `hypot` also serves coordinates whose squares overflow, and takes longer.
        (x * x + y * y).sqrt()
    }

    /// True if `other` is certainly farther away than `distance`; it costs less than [`Point::distance`].
    #[inline]
    pub fn is_beyond(self, other: Point, distance: f64) -> bool {
        let (x, y) = (self.x - other.x, self.y - other.y);
        // The margin is far above the error of either computation.
        x * x + y * y > distance * distance * (1.0 + 1e-9)
    }

    /// The point at `share` (0 to 1) of the way to `other`.
    pub fn towards(self, other: Point, share: f64) -> Point {
        Point { x: self.x + (other.x - self.x) * share, y: self.y + (other.y - self.y) * share }
    }
}

/// The ground on which stations are: a rectangle with its lower left corner at (0, 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Metres.
    pub width: f64,
    /// Metres.
    pub height: f64,
}

impl Area {
    /// The ground without an edge to the right and above.
    pub const INFINITE: Area = Area { width: f64::INFINITY, height: f64::INFINITY };

    /// A uniform point; not a number if the area is infinite.
    pub fn uniform(&self, rng: &mut Rng) -> Point {
        Point { x: rng.random::<f64>() * self.width, y: rng.random::<f64>() * self.height }
    }

    /// True if the area contains `p`; its edges belong to it.
    pub fn contains(self, p: Point) -> bool {
        (0.0..=self.width).contains(&p.x) && (0.0..=self.height).contains(&p.y)
    }
}

/// What the mobility of a station is built from, beside its parameters.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The area that the station never leaves.
    pub area: Area,
    /// The position that the file gives to the station.
    pub start: Option<Point>,
    /// The movement file, if the file names one, and the number of this station in it.
    pub movement: Option<(Arc<Movement>, u32)>,
    /// The random stream of this station's movement, for nothing else.
    pub rng: Rng,
}

/// The movement of one station.
pub trait Mobility: Debug + Send {
    /// The position at `at`. `at` is never earlier than in the call before.
    fn position(&mut self, at: Time) -> Point;
    /// An upper bound of the speed in metres per second. A cache of neighbours stays valid for as long as no two
    /// stations can have moved too far.
    fn fastest(&self) -> f64;
}

/// Helpers for the tests of several mobilities.
#[cfg(test)]
mod testing {
    use super::*;

    pub(super) use crate::testing::args;

    /// A square of 1000 m without a given position, with the stream of station `sta{k}` of this seed.
    pub(super) fn square(seed: u64, k: u32) -> Setting {
        Setting {
            area: Area { width: 1000.0, height: 1000.0 },
            start: None,
            movement: None,
            rng: crate::rng::stream(seed, &format!("sta{k}"), "movement"),
        }
    }
}
