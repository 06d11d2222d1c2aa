//! A station that never moves.

use super::{Mobility, Point, Setting};
use contend_core::Time;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "none";
/// What it does.
pub const SUMMARY: &str = "Stays at the station's position.";
/// Parameters.
pub const PARAMS: &[Param] = &[];

/// Builds the mobility.
///
/// # Errors
/// When the station has no position, or one outside the area.
pub fn build(_: &Args, setting: Setting) -> Result<Box<dyn Mobility>, String> {
    let Some(at) = setting.start else {
        return Err("a fixed station needs a position; write position = [\"100m\", \"100m\"]".into());
    };
    if !setting.area.contains(at) {
        let a = setting.area;
        return Err(format!(
            "the position ({} m, {} m) is outside the area; write a position inside {} m x {} m, or a larger area",
            at.x, at.y, a.width, a.height
        ));
    }
    Ok(Box::new(Fixed { at }))
}

#[derive(Debug)]
struct Fixed {
    at: Point,
}

impl Mobility for Fixed {
    fn position(&mut self, _: Time) -> Point {
        self.at
    }
    fn fastest(&self) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::square;
    use super::*;
    use contend_core::Span;

    fn at(start: Option<Point>) -> Result<Box<dyn Mobility>, String> {
        build(&Args::default(), Setting { start, ..square(1, 0) })
    }

    #[test]
    fn a_fixed_station_stays_where_it_is() {
        let p = Point { x: 1000.0, y: 0.0 };
        let mut m = at(Some(p)).unwrap();
        assert_eq!((m.position(Time::ZERO), m.position(Time::ZERO + Span::from_secs(3600))), (p, p));
    }

    #[test]
    fn no_position_and_a_position_outside_the_area_are_refused() {
        assert!(at(None).unwrap_err().contains("write position"));
        for (x, y) in [(-1.0, 5.0), (5.0, 1000.1), (f64::NAN, 5.0)] {
            assert!(at(Some(Point { x, y })).unwrap_err().contains("outside the area"));
        }
    }
}
