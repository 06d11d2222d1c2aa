//! `[field]` and the positions of stations.

use super::choice::{choice, default_choice, objection};
use super::error::FileError;
use super::reader::{Fields, Val};
use super::tree::NodeKind;
use contend_core::Span;
use contend_core::registry::Choice;
use contend_sim::routing;
use contend_sim::scenario::{Capture, CtsRule, FieldSpec, Point};
use contend_sim::wifi::propagation;

/// Largest distance in a field, in metres.
const FARTHEST: f64 = 1e6;

/// `[field]` without the positions.
pub(crate) struct Field {
    area: Option<Point>,
    range: f64,
    sense: f64,
    propagation: Choice<propagation::Build>,
    capture: Capture,
    propagation_delay: bool,
    nav_reset: bool,
    nav_rounding: bool,
    cts: CtsRule,
    /// `Some(None)`: through the access points.
    routing: Option<Option<Choice<routing::Build>>>,
    /// Routes that never change.
    usual: Choice<routing::Build>,
    arp: bool,
    routing_priority: bool,
    link_delay: Span,
}

impl Field {
    /// Reads `[field]`.
    pub fn read(val: &Val) -> Result<Field, FileError> {
        let mut f = val.table()?;
        let area = f.read("area", |v| point(&v))?;
        let range = f.read_or("range", 250.0, |v| distance(&v))?;
        let sense_at = f.get("sense");
        let sense = sense_at.as_ref().map_or(Ok(2.2 * range), distance)?;
        if let (Some(v), true) = (&sense_at, sense < range) {
            return Err(v.error(
                format!("is shorter than the range of {range}m: a station would decode frames that it does not sense"),
                format!("write at least \"{range}m\""),
            ));
        }
        let propagation = match f.get("propagation") {
            Some(v) => {
                let model = choice(&v, propagation::REGISTRY, "propagation model")?;
                objection(&v, model.entry.name, (model.entry.build)(&model.args))?;
                model
            }
            None => default_choice(f.cx, propagation::REGISTRY, "two_ray", &[])?,
        };
        let read = Field {
            area,
            range,
            sense,
            propagation,
            capture: f.read_or("capture", Capture { ratio: 10.0, later: false, adds_up: false }, |v| capture(&v))?,
            propagation_delay: f.read_or("propagation_delay", true, |v| v.flag())?,
            nav_reset: f.read_or("nav_reset", true, |v| v.flag())?,
            nav_rounding: f.read_or("nav_rounding", false, |v| v.flag())?,
            cts: f.read_or("cts", CtsRule::Nav, |v| v.word(&[("nav", CtsRule::Nav), ("idle", CtsRule::Idle)]))?,
            routing: f.read("routing", |v| match &v.node.kind {
                NodeKind::Text(t) if t == "infrastructure" => Ok(None),
                _ => choice(&v, routing::REGISTRY, "routing protocol").map(Some),
            })?,
            usual: default_choice(f.cx, routing::REGISTRY, "static", &[])?,
            arp: f.read_or("arp", false, |v| v.flag())?,
            routing_priority: f.read_or("routing_priority", false, |v| v.flag())?,
            link_delay: f.read_or("link_delay", Span::ZERO, |v| v.span())?,
        };
        f.finish()?;
        Ok(read)
    }

    /// Checks that the station at `position` is inside the area.
    pub fn check(&self, v: &Val, position: Point) -> Result<(), FileError> {
        let Some(area) = self.area else { return Ok(()) };
        if (0.0..=area.x).contains(&position.x) && (0.0..=area.y).contains(&position.y) {
            return Ok(());
        }
        Err(v.error(
            format!("is at ({}m, {}m), outside the area of {}m x {}m", position.x, position.y, area.x, area.y),
            "write a position inside, or a larger field.area",
        ))
    }

    /// The field with stations at these positions, of which the first `aps` are access points.
    pub fn with(self, positions: Vec<Point>, aps: usize) -> FieldSpec {
        let usual = if aps > 0 { None } else { Some(self.usual) };
        FieldSpec {
            positions,
            range: self.range,
            sense: self.sense,
            propagation: self.propagation,
            capture: self.capture,
            propagation_delay: self.propagation_delay,
            nav_reset: self.nav_reset,
            nav_rounding: self.nav_rounding,
            cts: self.cts,
            routing: self.routing.unwrap_or(usual),
            arp: self.arp,
            routing_priority: self.routing_priority,
            link_delay: self.link_delay,
        }
    }
}

/// Reads a distance above zero, in metres.
fn distance(v: &Val) -> Result<f64, FileError> {
    let metres = v.length(FARTHEST)?;
    if metres > 0.0 { Ok(metres) } else { Err(v.error("is zero", "write a distance like \"250m\"")) }
}

/// Reads a pair of lengths: `["100m", "500m"]`.
fn point(v: &Val) -> Result<Point, FileError> {
    let pair: Vec<Val> = v.list("a pair like [\"100m\", \"500m\"]")?.collect();
    match &pair[..] {
        [x, y] => Ok(Point { x: x.length(FARTHEST)?, y: y.length(FARTHEST)? }),
        _ => Err(v.error(format!("has {} values", pair.len()), "write a pair like [\"100m\", \"500m\"]")),
    }
}

/// Reads `position`, or `grid` for member `k` from 1 of a station, of the table `f`. An access point has no members.
pub(crate) fn read_position<'a>(f: &mut Fields<'a>, k: Option<usize>) -> Result<Option<(Val<'a>, Point)>, FileError> {
    let (position, grid) = (f.get("position"), k.and_then(|_| f.get("grid")));
    let k = k.unwrap_or(1);
    match (position, grid) {
        (Some(_), Some(grid)) => Err(grid.error("stands beside `position`", "write one of the two")),
        (Some(v), None) => {
            // One pair, or one for each member.
            let pairs =
                matches!(&v.node.kind, NodeKind::List(l) if l.iter().any(|i| matches!(i.kind, NodeKind::List(_))));
            let own = if pairs { v.pick()? } else { v.clone() };
            Ok(Some((v, point(&own)?)))
        }
        (None, Some(v)) => {
            let mut g = v.table()?;
            let columns = g.need("columns", "4")?.integer(1..=100_000)?;
            let spacing = distance(&g.need("spacing", "\"200m\"")?)?;
            let at = g.read_or("at", Point::default(), |v| point(&v))?;
            g.finish()?;
            let (column, row) = ((k - 1) as u64 % columns, (k - 1) as u64 / columns);
            Ok(Some((v, Point { x: at.x + spacing * column as f64, y: at.y + spacing * row as f64 })))
        }
        (None, None) => Ok(None),
    }
}

/// Reads what happens when frames overlap at a receiver: `"none"`, `"10dB"`, or a table.
fn capture(v: &Val) -> Result<Capture, FileError> {
    if let NodeKind::Text(text) = &v.node.kind {
        return Ok(match text.as_str() {
            "none" => Capture::NONE,
            _ => Capture { ratio: decibels(v)?, later: false, adds_up: false },
        });
    }
    let mut f = v.table()?;
    let ratio = decibels(&f.need("ratio", "\"10dB\"")?)?;
    let later = f.read_or("frame", false, |v| v.word(&[("first", false), ("strongest", true)]))?;
    let adds_up = f.read_or("interference", false, |v| v.word(&[("strongest", false), ("sum", true)]))?;
    f.finish()?;
    Ok(Capture { ratio, later, adds_up })
}

/// Reads a ratio of powers: `"10dB"` or 10.
fn decibels(v: &Val) -> Result<f64, FileError> {
    let in_range = |ratio: f64| match (1.0..=1e10).contains(&ratio) {
        true => Ok(ratio),
        false => Err(v.error(format!("is a ratio of {ratio}"), "write a ratio from \"0dB\" to \"100dB\"")),
    };
    let NodeKind::Text(text) = &v.node.kind else { return in_range(v.number()?) };
    if text.trim_start().starts_with('=') {
        return in_range(v.number()?);
    }
    match text.strip_suffix("dB").and_then(|n| n.trim().parse::<f64>().ok()) {
        Some(db) => in_range(libm::pow(10.0, db / 10.0)),
        None => Err(v.error(format!("is not a ratio of powers: \"{text}\""), "write \"10dB\", or \"none\"")),
    }
}
