//! The lines of a figure: which points each line has, its name, and its style.

use super::ink::{GREY, GREYS, STYLES};
use super::svg::{Extent, Plot, Scale};
use super::{Figure, direction_style};
use crate::output::shape::InText as _;
use crate::output::shape::{Unit, point_name, point_text, runs_of, swept_keys, unit_of};
use crate::output::table::RESOLUTION;
use contend_experiment::reading::file::Log;
use contend_experiment::reading::file::test::SUBJECT;
use contend_experiment::results::{Outcome, PointKey};
use contend_experiment::stats::Estimate;
use contend_judge::measuring::metric::Expr;
use std::collections::BTreeMap;

/// The keys that distinguish the lines: `by`, and every other key that the chosen keys and `x` do not determine. So
/// keys with a single value, and keys that a `zip` pairs with `x`, make no lines.
pub(super) fn telling(points: &[PointKey], x: Option<&str>, by: Option<&str>) -> Vec<String> {
    let chosen: Vec<String> = x.into_iter().chain(by).map(str::to_owned).collect();
    let mut keys = chosen.clone();
    keys.extend(swept_keys(points).into_iter().filter(|k| !chosen.contains(k)));
    for i in (chosen.len()..keys.len()).rev() {
        let key = keys.remove(i);
        if !follows(points, &key, &keys) {
            keys.insert(i, key);
        }
    }
    keys.split_off(usize::from(x.is_some()))
}

/// True if points with the same values of `from` always have the same value of `key`.
fn follows(points: &[PointKey], key: &str, from: &[String]) -> bool {
    let mut seen = BTreeMap::new();
    points.iter().all(|p| *seen.entry(values_text(&part(p, from))).or_insert(p.get(key)) == p.get(key))
}

/// The values of a point as one text: labels do not count.
fn values_text(point: &PointKey) -> String {
    point.iter().map(|(k, v)| format!("{k} = {v}\n")).collect()
}

/// The part of a point with these keys.
pub(super) fn part(point: &PointKey, keys: &[String]) -> PointKey {
    point.iter().filter(|(k, _)| keys.contains(k)).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Groups the points by their values of `keys`, in order of appearance; each group with these values.
pub(super) fn groups(points: &[PointKey], keys: &[String]) -> Vec<(PointKey, Vec<PointKey>)> {
    let mut all: Vec<(PointKey, Vec<PointKey>)> = Vec::new();
    for p in points {
        let key = part(p, keys);
        match all.iter_mut().find(|g| g.0 == key) {
            Some(g) => g.1.push(p.clone()),
            None => all.push((key, vec![p.clone()])),
        }
    }
    all
}

/// The points of one figure.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    /// The points that are drawn.
    pub points: &'a [PointKey],
    /// The points of all panels with the same axes; empty if the figure stands alone.
    pub frame: &'a [PointKey],
}

impl<'a> Panel<'a> {
    /// A figure that stands alone.
    pub(super) fn alone(points: &'a [PointKey]) -> Panel<'a> {
        Panel { points, frame: &[] }
    }
}

/// One curve, or one bar at each place.
#[derive(Debug)]
pub(super) struct Line {
    /// Name in the legend.
    pub name: String,
    pub style: usize,
    pub dots: Vec<Dot>,
}

/// One value of a line.
#[derive(Debug)]
pub(super) struct Dot {
    /// Place on the horizontal axis, and its interval if it is measured.
    pub x: Extent,
    /// Value in base units.
    pub y: Estimate,
    /// Hover text.
    pub title: String,
    /// The word beside the dot; may be empty.
    pub tag: String,
}

impl Dot {
    /// A value at a place that is not measured.
    pub(super) fn at(x: f64, y: Estimate, title: String) -> Dot {
        Dot { x: (x, None), y, title, tag: String::new() }
    }
}

/// What a line is, before its values are read.
pub(super) struct Head<'a> {
    /// Name in the legend.
    pub name: String,
    pub style: usize,
    /// The points of the line.
    pub members: &'a [PointKey],
    pub metric: &'a str,
}

/// The heads of the lines: every metric for every group, group by group.
pub(super) fn heads<'a>(
    groups: &'a [(PointKey, Vec<PointKey>)],
    by: Option<&str>,
    metrics: &[&'a str],
) -> Vec<Head<'a>> {
    // If one chosen key distinguishes the lines, the name is its value.
    let text = |g: &PointKey| match by.and_then(|key| g.get(key)) {
        Some(_) if g.len() == 1 => point_name(g),
        _ => point_text(g),
    };
    let alone = styles(metrics);
    // The subject of a test has the first colour in every figure; the others, its baselines, are grey.
    let is_subject = |g: &PointKey| g.values().any(|v| v.label() == Some(SUBJECT));
    let subject = groups.iter().position(|(g, _)| is_subject(g));
    let baselines = groups.iter().filter(|(g, _)| !is_subject(g)).count();
    let style = |g: usize, m: usize| match (groups.len(), metrics.len()) {
        (1, _) => alone.get(m).copied().unwrap_or(m),
        (n, 1) if baselines + 1 == n && baselines <= GREYS && subject == Some(g) => 0,
        (n, 1) if baselines + 1 == n && baselines <= GREYS => GREY + g - usize::from(subject < Some(g)),
        // Two metrics: the colour is the group's; a full or dashed line is the metric's.
        (n, 2) if n <= STYLES / 2 => g + m * STYLES / 2,
        (_, n) => g * n + m,
    };
    let name = |g: &PointKey, metric: &str| match (metrics.len(), g.is_empty()) {
        (_, true) => metric.to_owned(),
        (1, _) => text(g),
        _ => format!("{metric}, {}", text(g)),
    };
    let mut all = Vec::new();
    for (i, (g, members)) in groups.iter().enumerate() {
        for (j, metric) in metrics.iter().copied().enumerate() {
            all.push(Head { name: name(g, metric), style: style(i, j), members, metric });
        }
    }
    all
}

/// A style for each metric. Directions have fixed styles; other metrics get unused styles.
fn styles(metrics: &[&str]) -> Vec<usize> {
    let own = |m: &str| match m.rsplit_once('.')?.1 {
        "total" => Some(2),
        direction @ ("up" | "down") => Some(direction_style(direction)),
        _ => None,
    };
    let mut used: Vec<Option<usize>> = Vec::new();
    for m in metrics {
        used.push(own(m).filter(|s| !used.contains(&Some(*s))));
    }
    for i in 0..used.len() {
        let free = (0..).find(|s| !used.contains(&Some(*s)));
        if let Some(style @ None) = used.get_mut(i) {
            *style = free;
        }
    }
    used.into_iter().map(Option::unwrap_or_default).collect()
}

/// A common name for metrics of one unit, and the label of their axis.
pub(super) fn called(metrics: &[&str]) -> (String, String) {
    let first = metrics.first().copied().unwrap_or_default();
    let name = if metrics.len() == 1 { first } else { first.split(['.', '[']).next().unwrap_or(first) };
    let unit = unit_of(first).name;
    (name.to_owned(), if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") })
}

/// The vertical axis for `metrics` with these values: from 0 to 1 for an index; otherwise it includes zero, unless it
/// is logarithmic.
pub(super) fn vertical(metrics: &[&str], values: impl Iterator<Item = f64> + Clone, log: bool) -> Scale {
    if log {
        let (low, high) = range(values.filter(|v| *v > 0.0));
        return Scale::log(low, high);
    }
    let (low, high) = range(values.chain([0.0]));
    let index = |m: &&str| Expr::parse_any(m).is_ok_and(|e| e.is_index());
    if metrics.iter().all(index) { Scale::Linear(0.0, 1.0) } else { Scale::with_zero(low, high) }
}

/// The smallest and the largest value; infinities in the wrong order if there is none.
pub(super) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
}

/// The figure of `lines` with their error bars: curves if the places are numbers, grouped bars if the places are names.
/// On a logarithmic axis dots take the place of bars, because a bar begins at zero. The vertical axis fits `frame` too,
/// the lines of all panels.
pub(super) fn drawn(
    title: &str,
    (x, x_label): (Scale, &str),
    metrics: &[&str],
    log: Log,
    (lines, frame): (&[Line], &[Line]),
    caption: &str,
    csv: String,
) -> Figure {
    let unit = unit_of(metrics.first().copied().unwrap_or_default());
    let shown = lines.get(..STYLES).unwrap_or(lines);
    let dots = || shown.iter().flat_map(|l| &l.dots);
    let (name, label) = called(metrics);
    // If no mean is negative, the axis starts at zero even if an interval reaches below. An interval that reaches zero
    // does not stretch a logarithmic axis.
    let framed = || dots().chain(frame.iter().flat_map(|l| &l.dots));
    let negative = framed().any(|d| d.y.mean < 0.0);
    let kept = |end: f64, mean: f64| if log.y && end < mean / 10.0 || !negative && end < 0.0 { mean } else { end };
    let ends = framed().flat_map(|d| [kept(d.y.ends().0, d.y.mean), d.y.ends().1]).map(|v| v * unit.scale);
    let y = vertical(metrics, ends, log.y);
    let hidden = dots().filter(|d| !x.shows(d.x.0) || !y.shows(d.y.mean)).count();
    let places = if let Scale::Names(names) = &x { names.len() } else { 0 };
    let tagged = dots().any(|d| !d.tag.is_empty());
    let wide = places * shown.len() > 24 || tagged;
    let mut plot = Plot::new(x, x_label, y, &label);
    if wide {
        plot = plot.wide();
    }
    if tagged {
        plot = plot.tall(400.0);
    }
    for (i, line) in shown.iter().enumerate() {
        if places == 0 {
            plot.line(
                line.style,
                &line.dots.iter().map(|d| (d.x.0, d.y.scaled(unit.scale).0)).collect::<Vec<_>>(),
                &line.name,
            );
        }
        for d in &line.dots {
            let y = d.y.scaled(unit.scale);
            match places {
                0 => plot.dot(line.style, d.x, y, &d.title),
                // Beside each other, like bars.
                _ if log.y => plot.dot(line.style, (d.x.0 + beside(i, shown.len()), None), y, &d.title),
                _ => plot.bar(line.style, d.x.0, (i, shown.len()), y, &d.title),
            }
        }
    }
    for d in dots() {
        plot.tag(d.x.0, d.y.scaled(unit.scale).0, &d.tag);
    }
    let plot = plot.named(if title.is_empty() { &name } else { title });
    Figure {
        title: title.to_owned(),
        caption: format!("{caption}{}{}{}", coarse(dots()), left_out(lines.len()), not_positive(hidden)),
        plot,
        legend: legend(shown.iter().map(|l| (l.style, l.name.clone()))),
        csv,
        command: String::new(),
        wide,
    }
}

/// The legend; a single line needs none.
pub(super) fn legend(lines: impl Iterator<Item = (usize, String)>) -> Vec<(usize, String)> {
    let all: Vec<_> = lines.collect();
    if all.len() > 1 { all } else { Vec::new() }
}

/// A sentence about lines that are not drawn because there are too few styles.
pub(super) fn left_out(lines: usize) -> String {
    if lines > STYLES { format!(" {} more lines are in the CSV.", lines - STYLES) } else { String::new() }
}

/// A sentence about percentiles and trimmed means whose bars are not Student's interval.
fn coarse<'a>(mut dots: impl Iterator<Item = &'a Dot>) -> String {
    let coarse = dots.any(|d| d.y.by_resolution);
    if coarse { format!(" Of percentiles and trimmed means {RESOLUTION}.") } else { String::new() }
}

/// How far dot number `i` of `all` is from the middle of its place.
fn beside(i: usize, all: usize) -> f64 {
    0.72 * ((i as f64 + 0.5) / all.max(1) as f64 - 0.5)
}

/// A sentence about values for which a logarithmic axis has no place.
pub(super) fn not_positive(hidden: usize) -> String {
    match hidden {
        0 => String::new(),
        1 => " One value is not above zero: a logarithmic axis has no place for it.".into(),
        n => format!(" {n} values are not above zero: a logarithmic axis has no place for them."),
    }
}

/// The hover text of a dot.
pub(super) fn hover(metric: &str, at: &str, m: Estimate, unit: Unit) -> String {
    let at = if at.is_empty() { String::new() } else { format!(", {at}") };
    format!("{metric}{at}\n{} {}\nn = {}", m.text(unit.scale, unit.decimals), unit.name, m.n)
}

/// Why `metric` has no value at `point`.
pub(super) fn missing(o: &Outcome, point: &PointKey, metric: &str) -> Option<String> {
    let e = Expr::parse(metric).ok()?;
    runs_of(o, point).into_iter().find_map(|r| e.reading(r).err()).map(|why| why.to_string())
}

/// The caption, with the key that distinguishes the lines and the reason for missing values.
pub(super) fn explained(by: Option<&str>, caption: String, trouble: Option<String>) -> String {
    let by = by.map_or(String::new(), |by| format!("By {by}. "));
    by + &caption + &trouble.map_or(String::new(), |why| format!(" Not everything has a value: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn points(rows: &[serde_json::Value]) -> Vec<PointKey> {
        rows.iter()
            .map(|r| r.as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.clone().into())).collect())
            .collect()
    }

    #[test]
    fn a_key_zipped_with_the_axis_makes_no_lines_and_one_of_a_product_does() {
        let zip = points(&[json!({"x": 1, "k": "a"}), json!({"x": 2, "k": "b"})]);
        assert!(telling(&zip, Some("x"), None).is_empty());
        let product = points(&[
            json!({"x": 1, "k": "a"}),
            json!({"x": 1, "k": "b"}),
            json!({"x": 2, "k": "a"}),
            json!({"x": 2, "k": "b"}),
        ]);
        assert_eq!(telling(&product, Some("x"), None), ["k"]);
        assert_eq!(telling(&product, None, Some("x")), ["x", "k"]);
        let pairs = points(&[
            json!({"x": 1, "k": "a"}),
            json!({"x": 2, "k": "a"}),
            json!({"x": 1, "k": "b"}),
            json!({"x": 2, "k": "b"}),
        ]);
        assert_eq!(telling(&zip, None, None), ["k"], "of keys that say the same, the first");
        assert_eq!(telling(&pairs, Some("x"), Some("k")), ["k"], "a zip may repeat values");
    }

    #[test]
    fn a_chosen_key_names_its_lines_by_its_values() {
        let g = groups(&points(&[json!({"k": "a"}), json!({"k": "b"})]), &["k".to_owned()]);
        let names =
            |by, metrics: &[&str]| heads(&g, by, metrics).into_iter().map(|h| h.name).collect::<Vec<_>>().join("; ");
        assert_eq!(names(Some("k"), &["jain"]), "a; b");
        assert_eq!(names(None, &["jain"]), "k = a; k = b");
        assert_eq!(names(Some("k"), &["jain", "x"]), "jain, a; x, a; jain, b; x, b");
    }

    #[test]
    fn no_two_of_the_first_lines_look_the_same() {
        let values: Vec<_> = (0..5).map(|i| json!({"k": i})).collect();
        for groups_of in 1..=5 {
            let g = groups(&points(&values[..groups_of]), &["k".to_owned()]);
            for metrics in [
                &["goodput.up"][..],
                &["goodput.down", "goodput.up"],
                &["goodput.up", "jain.up"],
                &["goodput.total", "goodput.down", "sent"],
                &["jain", "jain.up", "jain.down"],
            ] {
                let mut styles: Vec<usize> = heads(&g, Some("k"), metrics).iter().map(|h| h.style).collect();
                styles.sort_unstable();
                styles.dedup();
                assert_eq!(styles.len(), groups_of * metrics.len(), "{groups_of} {metrics:?}");
                assert!(styles.iter().all(|s| *s < STYLES));
            }
        }
        assert_eq!(styles(&["jain", "jain.up", "jain.down"]), [2, 1, 0], "directions have the same colours everywhere");
    }
}
