//! Where a station of a field is: `position` or `grid`, `mobility` and `off`.

use super::channel::level;
use super::choice::{check_file, default_choice, intervals, named, objection};
use super::error::FileError;
use super::field::{Field, distance, point};
use super::reader::{Fields, Val};
use super::traces::Traces;
use super::tree::{Node, NodeKind};
use contend_core::registry::Fact;
use contend_core::{Span, Time};
use contend_sim::mobility::{self, Movement, Setting};
use contend_sim::rng;
use contend_sim::scenario::{Area, Point, RoamSpec, Site};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads the sites of a file, one after the other.
#[derive(Default)]
pub(crate) struct Sites<'a> {
    /// The sites with their places in the file.
    pub all: Vec<(Val<'a>, Site)>,
    /// The stations that each movement file has so far, by path.
    nodes: BTreeMap<String, u32>,
}

/// The keys of a station.
struct Keys<'a> {
    position: Option<Val<'a>>,
    grid: Option<Val<'a>>,
    mobility: Option<Val<'a>>,
    off: Vec<(Time, Time)>,
    roam: Option<RoamSpec>,
}

impl<'a> Sites<'a> {
    /// Reads the site of the station or access point `v` from its fields `f`. `k`: its number from 1 among the members
    /// of a `[[station]]`; an access point has none, and neither `grid` nor `mobility`.
    pub fn read(
        &mut self,
        field: Option<&Field>,
        v: &Val<'a>,
        f: &mut Fields<'a>,
        k: Option<usize>,
        traces: &Traces,
    ) -> Result<(), FileError> {
        let member = |key, f: &mut Fields<'a>| k.and_then(|_| f.get(key));
        let position = f.get("position");
        let (grid, mobility) = (member("grid", f), member("mobility", f));
        let (off_at, roam_at) = (member("off", f), member("roam", f));
        let Some(field) = field else {
            return match [position, grid, mobility, off_at, roam_at].into_iter().flatten().next() {
                Some(at) => Err(at.error(
                    "is for a field, but in a cell all stations hear each other",
                    "add [field] range = \"250m\", or remove it",
                )),
                None => Ok(()),
            };
        };
        let off = off_at.as_ref().map_or(Ok(vec![]), intervals)?;
        let roam = roam_at.as_ref().map_or(Ok(None), |v| roaming(v, field))?;
        let site = self.site(field, v, Keys { position, grid, mobility, off, roam }, k.unwrap_or(1), traces)?;
        self.all.push(site);
        Ok(())
    }

    fn site(
        &mut self,
        field: &Field,
        v: &Val<'a>,
        keys: Keys<'a>,
        k: usize,
        traces: &Traces,
    ) -> Result<(Val<'a>, Site), FileError> {
        let Keys { position, grid, mobility, off, roam } = keys;
        let mut at = [&position, &grid, &mobility].into_iter().flatten().next().unwrap_or(v).clone();
        let is_random = |v: &Val| matches!(&v.node.kind, NodeKind::Text(t) if t == "random");
        let random = position.as_ref().is_some_and(is_random);
        let position = match (position, grid) {
            (Some(_), Some(grid)) => return Err(grid.error("stands beside `position`", "write one of the two")),
            (Some(v), None) if random && field.area == Area::INFINITE => {
                return Err(
                    v.error("is \"random\", but the field has no area", "write field.area = [\"1000m\", \"1000m\"]")
                );
            }
            (Some(_), None) if random => None,
            (Some(v), None) => Some(pair(&v)?),
            (None, Some(v)) => Some(in_grid(&v, k)?),
            (None, None) => None,
        };
        let (choice, movement) = match &mobility {
            Some(v) => {
                let (choice, file) = named(v, mobility::REGISTRY, "mobility", None, &["file"])?;
                check_file(file.as_ref(), choice.entry, mobility::REGISTRY)?;
                (choice, file.map(|file| self.node(&file, traces)).transpose()?)
            }
            None => (default_choice(v.cx, mobility::REGISTRY, "fixed", &[])?, None),
        };
        let still = choice.entry.has(Fact::Constant);
        if still && position.is_none() && !random && !field.has_links() {
            return Err(v.error("has no position, but the file has a [field]", "add position = [\"100m\", \"500m\"]"));
        }
        if let (Some(p), false) = (position, position.is_none_or(|p| field.area.contains(p))) {
            let area = field.area;
            if p.x.min(p.y) < 0.0 {
                let help = "write lengths from \"0m\" on: the area begins at (0m, 0m)";
                return Err(at.error(format!("has a negative coordinate: ({}m, {}m)", p.x, p.y), help));
            }
            return Err(at.error(
                format!("is at ({}m, {}m), outside the area of {}m x {}m", p.x, p.y, area.width, area.height),
                "write a position inside, or a larger field.area",
            ));
        }
        if let Some(v) = mobility.as_ref().filter(|_| field.has_links() && !still) {
            return Err(v.error("moves a station, but the field gives its links", "remove `mobility`, or field.links"));
        }
        if let Some(v) = &mobility {
            let setting =
                Setting { area: field.area, start: position, movement: movement.clone(), rng: rng::stream(1, "", "") };
            objection(v, choice.entry.name, (choice.entry.build)(&choice.args, setting))?;
            at = v.clone();
        }
        // Without positions all stations are at one place, which nobody reads.
        let position = position.or_else(|| (still && !random).then(Point::default));
        Ok((at, Site { position, mobility: choice, movement, off, roam }))
    }

    /// The movement file that `v` names, and the number of the next station in it.
    fn node(&mut self, v: &Val, traces: &Traces) -> Result<(Arc<Movement>, u32), FileError> {
        let movement = traces.movement(v)?;
        let next = self.nodes.entry(v.text()?.to_owned()).or_default();
        *next += 1;
        Ok((movement, *next - 1))
    }
}

/// Reads `roam`: "none", or a table.
fn roaming(v: &Val, field: &Field) -> Result<Option<RoamSpec>, FileError> {
    if matches!(&v.node.kind, NodeKind::Text(t) if t == "none") {
        return Ok(None);
    }
    if let Some((why, help)) = field.keeps_access_points() {
        return Err(v.error(why, help));
    }
    let mut f = v.table()?;
    let powers = |v: Val| level(&v, "dBm", (-150.0, 30.0));
    let at_least_1_ms = |v: Val| {
        let span = v.positive_span()?;
        if span < Span::from_millis(1) {
            return Err(v.error("is shorter than a millisecond", "write for example \"102.4ms\""));
        }
        Ok(span)
    };
    let spec = RoamSpec {
        threshold: f.read_or("threshold", -70.0, powers)?,
        hysteresis: f.read_or("hysteresis", 8.0, |v| level(&v, "dB", (0.0, 100.0)))?,
        interval: f.read_or("interval", Span::from_micros(102_400), at_least_1_ms)?,
        scan: f.read_or("scan", Span::from_millis(60), |v| v.span())?,
        retry: f.read_or("retry", Span::from_secs(30), at_least_1_ms)?,
        gap: f.read_or("gap", Span::from_millis(50), |v| v.span())?,
        forwards: f.read_or("waiting", false, |v| v.word(&[("lost", false), ("forwarded", true)]))?,
    };
    f.finish()?;
    Ok(Some(spec))
}

/// Reads one pair, or the pair of this member from a list of pairs.
fn pair(v: &Val) -> Result<Point, FileError> {
    let is_pair = |node: &Node| matches!(node.kind, NodeKind::List(_));
    match (&v.node.kind, v.cx.member) {
        (NodeKind::List(pairs), Some((k, _))) if pairs.iter().any(is_pair) => {
            point(&Val { node: &pairs[(k - 1) % pairs.len()], ..v.clone() })
        }
        _ => point(v),
    }
}

/// Reads the position of member `k` from 1 of a grid.
fn in_grid(v: &Val, k: usize) -> Result<Point, FileError> {
    let mut g = v.table()?;
    let columns = g.need("columns", "4")?.integer(1..=100_000)?;
    let spacing = distance(&g.need("spacing", "\"200m\"")?)?;
    let at = g.read_or("at", Point::default(), |v| point(&v))?;
    g.finish()?;
    let (column, row) = ((k - 1) as u64 % columns, (k - 1) as u64 / columns);
    Ok(Point { x: at.x + spacing * column as f64, y: at.y + spacing * row as f64 })
}
