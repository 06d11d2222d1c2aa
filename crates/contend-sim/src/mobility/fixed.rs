//! A station that never moves.

use super::{Mobility, Point, Setting};
use contend_core::Refusal;
use contend_core::Time;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "none";
/// What it does.
pub const SUMMARY: &str =
    "Stays at the station's position, or at a uniform point of the area if the position is \"random\".";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the mobility.
///
/// # Errors
/// When the position is outside the area, or is to be drawn in an area without an edge.
pub fn build(_: &Args, setting: Setting) -> Result<Box<dyn Mobility>, Refusal> {
    let Setting { area: a, start, mut rng, .. } = setting;
    let at = start.unwrap_or_else(|| a.uniform(&mut rng));
    if !a.contains(at) {
        return Err(Refusal::new(
            format!("the position ({} m, {} m) is outside the area", at.x, at.y),
            format!("write a position inside {} m x {} m, or a larger area", a.width, a.height),
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

    fn at(start: Option<Point>) -> Result<Box<dyn Mobility>, Refusal> {
        build(&Args::default(), Setting { start, ..square(1, 0) })
    }

    #[test]
    fn a_fixed_station_stays_where_it_is() {
        let p = Point { x: 1000.0, y: 0.0 };
        let mut m = at(Some(p)).unwrap();
        assert_eq!((m.position(Time::ZERO), m.position(Time::ZERO + Span::from_secs(3600))), (p, p));
    }

    #[test]
    fn a_random_position_is_in_the_area() {
        let p = at(None).unwrap().position(Time::ZERO);
        assert!(square(1, 0).area.contains(p) && p != Point::default());
    }

    #[test]
    fn a_position_outside_the_area_is_refused() {
        for (x, y) in [(-1.0, 5.0), (5.0, 1000.1), (f64::NAN, 5.0)] {
            assert!(at(Some(Point { x, y })).unwrap_err().to_string().contains("outside the area"));
        }
    }
}
