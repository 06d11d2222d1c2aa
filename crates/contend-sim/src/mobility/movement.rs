//! Movement files of ns-2's setdest.
//!
//! Four kinds of line are read: the position of a node at the start (`$node_(3) set X_ 10.5`), a destination
//! (`$ns_ at 12.5 "$node_(3) setdest 100 200 15"`: from where it is then, straight to (100 m, 200 m) at 15 m/s),
//! comments, and what setdest tells ns-2's `god`, which is skipped. A node that reaches its destination stays there. A
//! file in which a node jumps is refused: a position is set once and before all movement, and speeds have a limit.

use super::{Area, Point};
use contend_core::Refusal;
use contend_core::{Span, Time};
use std::collections::BTreeMap;

/// Highest speed in metres per second. Scripts write more to make a node jump.
const FASTEST: f64 = 10_000.0;
/// Largest number of nodes, and of lines with a destination.
const MOST: usize = 1_000_000;

/// The movement of all nodes of a file.
#[derive(Debug, Default)]
pub struct Movement {
    nodes: BTreeMap<u32, Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// Line of the first mention.
    line: usize,
    x: Option<f64>,
    y: Option<f64>,
    legs: Vec<Leg>,
}

/// A straight way at constant speed, and the stay at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leg {
    from: Point,
    to: Point,
    pub(super) departs: Time,
    arrives: Time,
    /// Metres per second.
    pub(super) speed: f64,
    line: usize,
}

impl Leg {
    /// A stay at `p` from the start.
    pub(super) fn rest(p: Point) -> Leg {
        Leg { from: p, to: p, departs: Time::ZERO, arrives: Time::ZERO, speed: 0.0, line: 0 }
    }

    /// The position at `at`, which is not before `departs`.
    pub(super) fn position(&self, at: Time) -> Point {
        if at >= self.arrives {
            return self.to;
        }
        let share = at.since(self.departs).as_secs_f64() / (self.arrives - self.departs).as_secs_f64();
        self.from.towards(self.to, share)
    }
}

impl Movement {
    /// Reads the text of a movement file.
    ///
    /// # Errors
    /// Names the line, what is wrong with it, and what to write instead.
    pub fn parse(text: &str) -> Result<Movement, Refusal> {
        let mut movement = Movement::default();
        let mut destinations: Vec<(Time, u32, Point, f64, usize)> = vec![];
        for (i, line) in text.lines().enumerate() {
            let in_line = |e: Refusal| e.of(format_args!("line {} of the movement file", i + 1));
            match statement(line).map_err(in_line)? {
                Statement::Nothing => {}
                Statement::Start { node, axis, metres } => {
                    if movement.nodes.len() >= MOST {
                        return Err(in_line(Refusal::new(format!("more than {MOST} nodes"), "split the file")));
                    }
                    let entry = movement.nodes.entry(node).or_insert_with(|| Node { line: i + 1, ..Node::default() });
                    let place = match axis {
                        Axis::X => &mut entry.x,
                        Axis::Y => &mut entry.y,
                        Axis::Z => continue,
                    };
                    if place.replace(metres).is_some() {
                        return Err(in_line(Refusal::new(
                            format!("node {node} jumps: its position is set twice"),
                            "use setdest",
                        )));
                    }
                }
                Statement::Destination { at, node, to, speed } => {
                    if destinations.len() >= MOST {
                        return Err(in_line(Refusal::new(format!("more than {MOST} destinations"), "split the file")));
                    }
                    destinations.push((at, node, to, speed, i + 1));
                }
            }
        }
        if let Some((id, n)) = movement.nodes.iter().find(|(_, n)| n.x.is_none() || n.y.is_none()) {
            let missing = if n.x.is_none() { "X_" } else { "Y_" };
            return Err(Refusal::new(
                format!("line {} of the movement file: node {id} has no {missing}", n.line),
                format!("add `$node_({id}) set {missing} METRES`"),
            ));
        }
        // The lines of a file may be in any order; equal times keep it.
        destinations.sort_by_key(|d| d.0);
        for (at, id, to, speed, line) in destinations {
            let Some(node) = movement.nodes.get_mut(&id) else {
                return Err(Refusal::new(
                    format!("line {line} of the movement file: node {id} has no position"),
                    format!("add `$node_({id}) set X_ METRES`"),
                ));
            };
            let from = node.position(at);
            // At speed 0 a node stays where it is, as setdest writes for a pause.
            let to = if speed == 0.0 { from } else { to };
            let taken = if from == to { Span::ZERO } else { Span::from_secs_f64(from.distance(to) / speed) };
            node.legs.push(Leg { from, to, departs: at, arrives: at.saturating_add(taken), speed, line });
        }
        Ok(movement)
    }

    /// The numbers of the nodes, in order.
    pub fn nodes(&self) -> impl Iterator<Item = u32> {
        self.nodes.keys().copied()
    }

    /// The position of a node at the start; `None` if the file has no such node.
    pub fn start(&self, node: u32) -> Option<Point> {
        self.nodes.get(&node).map(Node::start)
    }

    /// The legs of a node in order of time.
    pub(super) fn legs(&self, node: u32) -> &[Leg] {
        self.nodes.get(&node).map_or(&[], |n| &n.legs)
    }

    /// The first line that places or sends a node outside `area`, and the point. Legs are straight, so a node whose
    /// points are inside never leaves.
    pub(super) fn outside(&self, node: u32, area: Area) -> Option<(usize, Point)> {
        let node = self.nodes.get(&node)?;
        let points = std::iter::once((node.line, node.start())).chain(node.legs.iter().map(|l| (l.line, l.to)));
        points.into_iter().find(|(_, p)| !area.contains(*p))
    }
}

impl Node {
    fn start(&self) -> Point {
        Point { x: self.x.unwrap_or_default(), y: self.y.unwrap_or_default() }
    }

    /// The position after the legs so far, at `at`.
    fn position(&self, at: Time) -> Point {
        self.legs.last().map_or(self.start(), |leg| leg.position(at))
    }
}

/// What a line says.
enum Statement {
    Nothing,
    Start { node: u32, axis: Axis, metres: f64 },
    Destination { at: Time, node: u32, to: Point, speed: f64 },
}

enum Axis {
    X,
    Y,
    Z,
}

const FORMS: &str = "write `$node_(N) set X_ METRES` or `$ns_ at SECONDS \"$node_(N) setdest X Y SPEED\"`";

fn statement(line: &str) -> Result<Statement, Refusal> {
    let words: Vec<&str> = line.split([' ', '\t', '"']).filter(|w| !w.is_empty()).collect();
    let unknown = || Refusal::new(format!("cannot read `{}`", line.trim()), FORMS);
    match words[..] {
        [] => Ok(Statement::Nothing),
        [first, ..] if first.starts_with('#') => Ok(Statement::Nothing),
        ["$god_", ..] | ["set", "god_", ..] | [_, "at", _, "$god_", ..] => Ok(Statement::Nothing),
        [node, "set", axis, metres] => {
            let axis = match axis {
                "X_" => Axis::X,
                "Y_" => Axis::Y,
                "Z_" => Axis::Z,
                _ => return Err(unknown()),
            };
            let (node, metres) = (number_of(node).ok_or_else(unknown)?, real(metres)?);
            if matches!(axis, Axis::Z) && metres != 0.0 {
                return Err(Refusal::new(
                    format!("node {node} is {metres} m above the ground"),
                    "the ground is flat: write Z_ 0",
                ));
            }
            Ok(Statement::Start { node, axis, metres })
        }
        [simulator, "at", at, node, "setdest", x, y, speed] if simulator.starts_with('$') => {
            let node = number_of(node).ok_or_else(unknown)?;
            let (at, to, speed) = (real(at)?, Point { x: real(x)?, y: real(y)? }, real(speed)?);
            if at < 0.0 {
                return Err(Refusal::new(format!("{at} s is before the start"), "write a time from 0"));
            }
            if !(0.0..=FASTEST).contains(&speed) {
                return Err(Refusal::new(
                    format!("node {node} jumps: its speed is {speed} m/s"),
                    format!("write a speed from 0 to {FASTEST}"),
                ));
            }
            Ok(Statement::Destination { at: Time::ZERO.saturating_add(Span::from_secs_f64(at)), node, to, speed })
        }
        [simulator, "at", _, node, "set", ..] if simulator.starts_with('$') => Err(Refusal::new(
            format!("{node} jumps: a position is set during the run"),
            "write `setdest X Y SPEED` in place of `set`",
        )),
        _ => Err(unknown()),
    }
}

/// The number in `$node_(3)`.
fn number_of(word: &str) -> Option<u32> {
    word.strip_prefix("$node_(")?.strip_suffix(')')?.parse().ok()
}

fn real(word: &str) -> Result<f64, Refusal> {
    let x: Option<f64> = word.parse().ok();
    x.filter(|x| x.is_finite())
        .ok_or_else(|| Refusal::new(format!("`{word}` is no number"), "write metres, seconds or m/s as 12.5"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: &str = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n";

    fn refusal(rest: &str) -> String {
        Movement::parse(&format!("{START}{rest}")).unwrap_err().to_string()
    }

    #[test]
    fn each_error_names_its_line_and_what_to_write() {
        for (rest, wanted) in [
            ("$node_(0) set X_ 5", ["line 3", "jumps: its position is set twice"]),
            ("\n$ns_ at 5 \"$node_(0) set X_ 5\"", ["line 4", "jumps: a position is set during the run"]),
            ("$ns_ at 5.0 \"$node_(0) setdest 5 5 1e5\"", ["line 3", "jumps: its speed is 100000 m/s"]),
            ("$ns_ at 5.0 \"$node_(0) setdest 5 5 -1\"", ["line 3", "write a speed from 0"]),
            ("$ns_ at -5.0 \"$node_(0) setdest 5 5 1\"", ["line 3", "before the start"]),
            ("$ns_ at 5.0 \"$node_(1) setdest 5 5 1\"", ["line 3", "add `$node_(1) set X_ METRES`"]),
            ("$node_(1) set X_ 5", ["line 3", "node 1 has no Y_"]),
            ("$node_(1) set Z_ 5", ["line 3", "write Z_ 0"]),
            ("$node_(1) set X_ five", ["line 3", "`five` is no number"]),
            ("$node_(x) set X_ 5", ["line 3", "write `$node_(N) set X_ METRES`"]),
            ("puts hello", ["line 3", "cannot read `puts hello`"]),
        ] {
            let got = refusal(rest);
            assert!(wanted.iter().all(|w| got.contains(w)), "{rest}: {got}");
        }
    }

    #[test]
    fn a_node_that_pauses_with_speed_0_stays_and_lines_may_be_in_any_order() {
        let text = "$ns at 20 \"$node_(0) setdest 5 2 0\"\n$ns at 10 \"$node_(0) setdest 31 2 2\"\n$node_(0) set X_ 1\n\
                    $node_(0) set Y_ 2\n";
        let m = Movement::parse(text).unwrap();
        let at = |s| m.legs(0).iter().rfind(|l| l.departs <= s).unwrap().position(s);
        assert_eq!(at(Time::ZERO + Span::from_secs(15)), Point { x: 11.0, y: 2.0 });
        assert_eq!(at(Time::ZERO + Span::from_secs(99)), Point { x: 21.0, y: 2.0 });
        assert_eq!((m.nodes().collect::<Vec<_>>(), m.start(0)), (vec![0], Some(Point { x: 1.0, y: 2.0 })));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            let _ = Movement::parse(&text);
        }

        /// Statements with wrong pieces; whatever is read has positions without NaN that never jump.
        #[test]
        fn whatever_is_read_never_jumps(lines in proptest::collection::vec(line(), 0..12)) {
            let text = lines.join("\n");
            let Ok(m) = Movement::parse(&text) else { return Ok(()) };
            for node in m.nodes() {
                let mut last: Option<Leg> = None;
                for leg in m.legs(node) {
                    prop_assert!(leg.arrives >= leg.departs && leg.to.x.is_finite() && leg.to.y.is_finite());
                    let before = last.map_or(m.start(node).unwrap(), |l| l.position(leg.departs));
                    prop_assert_eq!(before, leg.from);
                    last = Some(*leg);
                }
            }
        }
    }

    fn line() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            Just("0".to_owned()),
            Just("1e999".to_owned()),
            Just("-3".to_owned()),
            Just("nan".into()),
            (0u32..500).prop_map(|x| x.to_string()),
            "[0-9.e+-]{1,6}"
        ];
        (0u32..3, proptest::collection::vec(number, 4), 0..6).prop_map(|(node, n, form)| match form {
            0 => format!("$node_({node}) set X_ {}", n[0]),
            1 => format!("$node_({node}) set Y_ {}", n[0]),
            2 => format!("$node_({node}) set Z_ {}", n[0]),
            3 => format!("$ns_ at {} \"$god_ set-dist 1 2 {}\"", n[0], n[1]),
            _ => format!("$ns_ at {} \"$node_({node}) setdest {} {} {}\"", n[0], n[1], n[2], n[3]),
        })
    }
}
