//! Walls: what a frame loses on its way through them.

use crate::mobility::Point;

/// A wall: a straight line on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// One end.
    pub from: Point,
    /// The other end.
    pub to: Point,
    /// What a frame loses that crosses it, in decibels.
    pub loss: f64,
}

impl Wall {
    /// True if the straight way between two points crosses the wall, in whichever direction.
    ///
    /// A way that meets the joint of two walls crosses one of them, as if it passed a hair to one side of the joint. A
    /// point on the wall is as if it were a hair to one side of it.
    pub fn crosses(&self, a: Point, b: Point) -> bool {
        let (a, b) = if (a.x, a.y) <= (b.x, b.y) { (a, b) } else { (b, a) };
        is_left(self.from, self.to, a) != is_left(self.from, self.to, b)
            && is_left(a, b, self.from) != is_left(a, b, self.to)
    }
}

/// True if `p` is to the left of the straight line from `a` to `b`.
fn is_left(a: Point, b: Point, p: Point) -> bool {
    (b.x - a.x) * (p.y - a.y) > (b.y - a.y) * (p.x - a.x)
}

/// What a frame loses in `walls` between two points, in decibels.
pub fn loss(walls: &[Wall], a: Point, b: Point) -> f64 {
    walls.iter().filter(|wall| wall.crosses(a, b)).map(|wall| wall.loss).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    fn wall(from: Point, to: Point, loss: f64) -> Wall {
        Wall { from, to, loss }
    }

    /// By hand: the wall x = 5 from y = 0 to y = 4.
    #[test]
    fn a_way_crosses_a_wall_if_the_two_lines_meet() {
        let wall = wall(at(5.0, 0.0), at(5.0, 4.0), 3.0);
        assert!(wall.crosses(at(0.0, 1.0), at(9.0, 1.0)));
        assert!(wall.crosses(at(0.0, 0.0), at(10.0, 7.9)), "it passes (5, 3.95)");
        assert!(!wall.crosses(at(0.0, 0.0), at(10.0, 8.1)), "it passes (5, 4.05)");
        assert!(!wall.crosses(at(0.0, 1.0), at(4.9, 1.0)), "it ends before the wall");
        assert!(!wall.crosses(at(5.0, 1.0), at(5.0, 9.0)), "it runs along the wall");
    }

    /// A room of four walls around (0, 0) to (4, 4): the way out crosses one, even through a corner, and the way
    /// through the room two.
    #[test]
    fn the_corner_of_a_room_is_one_wall() {
        let corners = [at(0.0, 0.0), at(4.0, 0.0), at(4.0, 4.0), at(0.0, 4.0)];
        let room: Vec<Wall> = (0..4).map(|i| wall(corners[i], corners[(i + 1) % 4], 10.0)).collect();
        for (to, losses) in [(at(9.0, 1.0), 10.0), (at(6.0, 6.0), 10.0), (at(-2.0, 6.0), 10.0), (at(3.0, 1.0), 0.0)] {
            assert_eq!(loss(&room, at(2.0, 2.0), to), losses, "to {to:?}");
            assert_eq!(loss(&room, to, at(2.0, 2.0)), losses, "from {to:?}");
        }
        assert_eq!(loss(&room, at(-2.0, 2.0), at(9.0, 3.0)), 20.0);
        assert_eq!(loss(&room, at(-2.0, -2.0), at(6.0, 6.0)), 20.0, "through two corners");
    }

    proptest! {
        /// On a coarse grid, where points lie on walls and ways meet their ends: both directions lose the same, and a
        /// closed room is left or entered an odd number of times if one end is inside and the other is not.
        #[test]
        fn a_way_loses_the_same_in_both_directions(
            (ax, ay, bx, by) in (-6i32..6, -6i32..6, -6i32..6, -6i32..6),
            ends in prop::collection::vec((-6i32..6, -6i32..6), 2..9),
        ) {
            let point = |x, y| at(f64::from(x), f64::from(y));
            let (a, b) = (point(ax, ay), point(bx, by));
            let walls: Vec<Wall> =
                ends.windows(2).map(|w| wall(point(w[0].0, w[0].1), point(w[1].0, w[1].1), 1.0)).collect();
            prop_assert_eq!(loss(&walls, a, b), loss(&walls, b, a));
            let corners = [at(-2.5, -2.5), at(2.5, -2.5), at(2.5, 2.5), at(-2.5, 2.5)];
            let room: Vec<Wall> = (0..4).map(|i| wall(corners[i], corners[(i + 1) % 4], 1.0)).collect();
            let inside = |p: Point| p.x.abs() < 2.5 && p.y.abs() < 2.5;
            prop_assert_eq!(loss(&room, a, b) % 2.0 == 1.0, inside(a) != inside(b));
        }
    }
}
