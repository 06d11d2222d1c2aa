//! Points sorted into squares, to find those near a place without a look at all.

use super::Point;
use std::collections::BTreeMap;

/// Points sorted into squares.
#[derive(Debug)]
pub struct Squares {
    width: f64,
    points: BTreeMap<(i64, i64), Vec<u32>>,
}

impl Squares {
    /// Sorts `points` into squares of `width` metres.
    pub fn new(points: &[Point], width: f64) -> Squares {
        let mut squares = Squares { width, points: BTreeMap::new() };
        for (i, p) in (0..).zip(points) {
            squares.points.entry(squares.square(*p)).or_default().push(i);
        }
        squares
    }

    /// The numbers of all points that are at most `width` from `p`, and of some others, square by square.
    pub fn near(&self, p: Point) -> impl Iterator<Item = &[u32]> {
        let (x, y) = self.square(p);
        // Squares above each other are next to each other in the map.
        let columns = (x - 1..=x + 1).flat_map(move |x| self.points.range((x, y - 1)..=(x, y + 1)));
        columns.map(|(_, points)| points.as_slice())
    }

    fn square(&self, p: Point) -> (i64, i64) {
        ((p.x / self.width).floor() as i64, (p.y / self.width).floor() as i64)
    }
}
