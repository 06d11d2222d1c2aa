//! The table of a comparison on the terminal, and its JSON.

use super::field::metric_unit;
use super::grid::{Grid, Paint, WIDTH, wrapped};
use super::shape::{fixed, point_text, unit_of};
use crate::output::shape::InText as _;
use contend_judge::judging::compare::{Comparison, Difference};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The comparison for a terminal of `width` columns, with ANSI colours if `colour` is true.
pub fn comparison_table(c: &Comparison, colour: bool, width: usize) -> String {
    let paint = Paint(colour);
    let text = |text: &str| wrapped(text, width.min(WIDTH), 4) + "\n";
    let mut out = text(&format!("A   {}", c.a));
    out += &text(&format!("B   {}", c.b.as_deref().unwrap_or("each of the points below")));
    out.push('\n');
    let mut grid = Grid::new(["metric", "A", "B", "B - A", "change", "B has"].map(String::from).to_vec());
    grid.left = vec![0, 5];
    let mut last = None;
    for d in &c.differences {
        if !d.point.is_empty() && last != Some(&d.point) {
            grid.rows.push(vec![point_text(&d.point)]);
        }
        last = Some(&d.point);
        grid.rows.push(row(d).into());
    }
    out += &grid.render(paint, width);
    for why in missing(c) {
        out += &paint.with("33", &text(&why));
    }
    out.push('\n');
    out + &paint.dim(&text(&pairs_text(c)))
}

/// A comparison in texts, for a page.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The rows: the point (empty without a sweep), and metric, A, B, difference, change and answer.
    pub rows: Vec<(String, [String; 6])>,
    /// Reasons to be careful, one sentence each.
    pub cautions: Vec<String>,
    /// How the differences were computed.
    pub method: String,
}

impl Compared {
    /// The texts of `c`.
    pub fn of(c: &Comparison) -> Compared {
        let rows = c.differences.iter().map(|d| (point_text(&d.point), row(d))).collect();
        let mut cautions = missing(c);
        if c.differences.iter().any(|d| d.n == 1 && !d.no_effect) {
            cautions.push("one seed: the differences have no intervals, so they may be luck; run more seeds".into());
        }
        let single = c.differences.iter().all(|d| d.n <= 1);
        let method = if single { "B - A: of two runs with the same seed".into() } else { pairs_text(c) };
        Compared { rows, cautions, method }
    }
}

/// Metrics without a value, settings without effect, and seeds without a partner, one sentence each.
pub(super) fn missing(c: &Comparison) -> Vec<String> {
    let mut all: Vec<String> =
        c.differences.iter().filter_map(|d| d.missing.as_ref().map(|why| format!("{}: {why}", d.metric))).collect();
    let same = c.differences.iter().filter(|d| d.no_effect).count();
    if same > 0 {
        let whole = same == c.differences.len();
        let place = if whole { "in any run" } else { "at the points with \"the same runs\"" };
        all.push(format!("what differs between A and B had no effect {place}: the runs of each pair are the same"));
    }
    let unpaired = c.differences.iter().map(|d| d.unpaired).max().unwrap_or(0);
    if unpaired > 0 {
        all.push(format!("up to {unpaired} seeds have a value on one side only; they are left out"));
    }
    all
}

/// How the differences were computed.
pub(super) fn pairs_text(c: &Comparison) -> String {
    let (least, n) =
        c.differences.iter().filter(|d| d.n > 0).fold((usize::MAX, 0), |(a, b), d| (a.min(d.n), b.max(d.n)));
    let n = if least < n { format!("{least} to {n}") } else { n.to_string() };
    let mut text = format!(
        "n = {n} pairs of runs with the same seed; B - A: mean over the pairs ± half width of the 95 % Student interval"
    );
    let worth = c.differences.iter().filter_map(|d| d.worth);
    if let Some((least, most)) = worth.fold(None, |ends, x| {
        let (a, b) = ends.unwrap_or((x, x));
        Some((x.min(a), x.max(b)))
    }) {
        let times = if least == most { format!("{least:.1}") } else { format!("{least:.1} to {most:.1}") };
        text += &format!(
            ", less what the luck of lossy channels explains (excess_losses); without that, as short an interval needs \
                {times} times as many seeds"
        );
    }
    text
}

/// The cells of a difference: metric, A, B, difference, change, answer.
pub(super) fn row(d: &Difference) -> [String; 6] {
    let unit = unit_of(&d.metric);
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| fixed(x * unit.scale, unit.decimals));
    let metric = if unit.name.is_empty() { d.metric.clone() } else { format!("{} [{}]", d.metric, unit.name) };
    let change = d.relative.map_or_else(|| "–".to_owned(), |r| format!("{:+.1} %", 100.0 * r));
    let difference = d.estimate().map_or_else(|| "–".to_owned(), |e| e.text(unit.scale, unit.decimals));
    [metric, number(d.a), number(d.b), difference, change, d.answer().to_owned()]
}

/// A comparison as it is written: with its schema, and the unit of each metric.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    units: BTreeMap<&'a str, &'static str>,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// Writes the comparison as one JSON object, schema `contend/compare/2`.
///
/// # Errors
/// When `w` cannot be written.
pub fn write_comparison(c: &Comparison, mut w: impl Write) -> io::Result<()> {
    let metrics: BTreeSet<&str> = c.differences.iter().map(|d| d.metric.as_str()).collect();
    let units = metrics.into_iter().filter_map(|m| Some((m, metric_unit(m)?))).collect();
    let document = Document { schema: "contend/compare/2", units, comparison: c };
    serde_json::to_writer_pretty(&mut w, &document)?;
    writeln!(w)
}
