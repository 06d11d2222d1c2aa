//! A station that moves as a movement file says.

use super::movement::{Leg, Movement};
use super::{Mobility, Point, Setting};
use contend_core::Refusal;
use contend_core::Time;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use std::sync::Arc;

/// Source.
pub const CITE: &str = "movement files of ns-2's setdest; also written by BonnMotion, SUMO and others";
/// What it does.
pub const SUMMARY: &str = "Moves as a movement file of ns-2's setdest says. `file` names the movement file; stations \
    are its nodes in the order of their numbers.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// The movement file.
pub const FILE: &str = "A movement file of ns-2's setdest, beside the experiment file or in a folder below.";

/// Builds the mobility.
///
/// # Errors
/// When there is no movement file, the file lacks this station, or the file takes the station out of the area.
pub fn build(_: &Args, setting: Setting) -> Result<Box<dyn Mobility>, Refusal> {
    let Some((movement, node)) = setting.movement else {
        return Err(Refusal::new(
            "a trace needs a movement file",
            "write mobility = { kind = \"trace\", file = \"moves.tcl\" }",
        ));
    };
    let Some(first) = movement.start(node) else {
        return Err(Refusal::new(
            format!("the movement file has no position of node {node}"),
            format!("add `$node_({node}) set X_ ...` and `set Y_ ...`"),
        ));
    };
    if setting.start.is_some_and(|p| p != first) {
        return Err(Refusal::new("the movement file says where the station is", "remove `position`"));
    }
    if let Some((line, p)) = movement.outside(node, setting.area) {
        let a = setting.area;
        return Err(Refusal::new(
            format!(
                "line {line} of the movement file takes node {node} to ({} m, {} m), outside {} m x {} m",
                p.x, p.y, a.width, a.height
            ),
            "write a larger \
                area",
        ));
    }
    let fastest = movement.legs(node).iter().map(|leg| leg.speed).fold(0.0, f64::max);
    Ok(Box::new(Trace { movement, node, fastest, next: 0, leg: Leg::rest(first) }))
}

#[derive(Debug)]
struct Trace {
    movement: Arc<Movement>,
    node: u32,
    /// Metres per second.
    fastest: f64,
    /// Index of the next leg among the legs of the node.
    next: usize,
    leg: Leg,
}

impl Mobility for Trace {
    fn position(&mut self, at: Time) -> Point {
        while let Some(&leg) = self.movement.legs(self.node).get(self.next).filter(|leg| leg.departs <= at) {
            (self.leg, self.next) = (leg, self.next + 1);
        }
        self.leg.position(at)
    }
    fn fastest(&self) -> f64 {
        self.fastest
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::square;
    use super::*;
    use contend_core::Span;

    fn of(text: &str, node: u32) -> Result<Box<dyn Mobility>, Refusal> {
        let movement = Some((Arc::new(Movement::parse(text)?), node));
        build(&Args::default(), Setting { movement, ..square(1, 0) })
    }

    fn at(s: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(s)
    }

    const MOVES: &str = "# nodes: 2
        $node_(0) set X_ 100.0
        $node_(0) set Y_ 200.0
        $node_(0) set Z_ 0.0
        $node_(1) set X_ 5
        $node_(1) set Y_ 5
        $god_ set-dist 0 1 2
        $ns_ at 10.0 \"$node_(0) setdest 400.0 600.0 50.0\"
        $ns_ at 15.0 \"$node_(0) setdest 250.0 0.0 100.0\"
        $ns_ at 16.0 \"$god_ set-dist 0 1 1\"\n";

    /// 500 m at 50 m/s take 10 s; after 5 s the node is at (250, 400) and goes 400 m down in 4 s.
    #[test]
    fn a_node_goes_straight_and_turns_before_it_arrives() {
        let mut m = of(MOVES, 0).unwrap();
        let seen = [0.0, 10.0, 12.5, 15.0, 17.0, 19.0, 99.0].map(|t| {
            let p = m.position(at(t));
            ((p.x * 1e6).round() / 1e6, (p.y * 1e6).round() / 1e6)
        });
        let want = [(100.0, 200.0), (100.0, 200.0), (175.0, 300.0), (250.0, 400.0), (250.0, 200.0), (250.0, 0.0)];
        assert_eq!(seen[..6], want);
        assert_eq!((seen[6], m.fastest()), ((250.0, 0.0), 100.0));
        let mut still = of(MOVES, 1).unwrap();
        assert_eq!((still.position(at(50.0)), still.fastest()), (Point { x: 5.0, y: 5.0 }, 0.0));
    }

    #[test]
    fn a_node_that_is_missing_or_leaves_the_area_is_refused() {
        assert!(of(MOVES, 2).unwrap_err().to_string().contains("no position of node 2"));
        let out = MOVES.replace("setdest 250.0 0.0", "setdest 250.0 -1.0");
        assert!(
            of(&out, 0).unwrap_err().to_string().contains("line 9 of the movement file takes node 0 to (250 m, -1 m)")
        );
        assert!(of(&out, 1).is_ok());
        assert!(build(&Args::default(), square(1, 0)).unwrap_err().to_string().contains("needs a movement file"));
    }
}
