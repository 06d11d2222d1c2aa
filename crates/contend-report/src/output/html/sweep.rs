//! Figures of means over seeds along a swept key.

use super::Figure;
use super::charts::{self, bars_are};
use super::lines::{
    Dot, Head, Line, Panel, called, drawn, explained, groups, heads, hover, missing, part, range, telling,
};
use super::svg::Scale;
use crate::output::csv::quoted;
use crate::output::shape::{
    main_metrics, point_columns, point_name, point_text, runs_of, summary_of, swept_keys, unit_of, value_text,
};
use contend_experiment::reading::expression::numbers;
use contend_experiment::reading::file::Log;
use contend_experiment::results::{Outcome, PointKey, SweptValue};
use contend_judge::measuring::metric::Expr;
use serde_json::Value;
use std::fmt::Write;

/// Figures of the main metrics along the first swept key.
pub(super) fn main(o: &Outcome, points: &[PointKey]) -> Vec<Figure> {
    let keys = swept_keys(points);
    let Some(first) = keys.first().filter(|_| points.len() > 1) else { return Vec::new() };
    let main = main_metrics(o);
    if !telling(points, Some(first), None).is_empty() {
        // Each metric has its own figure; its lines are the values of the other keys.
        return main
            .iter()
            .map(|m| along(o, Panel::alone(points), (first, &[]), None, &[m], Log::default(), ""))
            .collect();
    }
    let mut families: Vec<(&str, Vec<&str>)> = Vec::new();
    for m in main {
        let stem = m.split('.').next().unwrap_or(m);
        match families.iter_mut().find(|f| f.0 == stem) {
            Some(f) => f.1.push(m),
            None => families.push((stem, vec![m])),
        }
    }
    families
        .iter()
        .map(|(_, metrics)| along(o, Panel::alone(points), (first, &[]), None, metrics, Log::default(), ""))
        .collect()
}

/// A figure of metrics of one unit along a swept key, or along values that the figure itself gives. There is one line
/// for each metric and each combination of the keys that distinguish lines, `by` first. An empty `title` is replaced by
/// the metric and the key.
pub(super) fn along(
    o: &Outcome,
    panel: Panel,
    (key, values): (&str, &[Value]),
    by: Option<&str>,
    metrics: &[&str],
    log: Log,
    title: &str,
) -> Figure {
    let expanded = |points: &[PointKey]| -> Vec<PointKey> {
        if values.is_empty() {
            return points.to_vec();
        }
        points.iter().flat_map(|p| values.iter().map(|v| with(p, key, v))).collect()
    };
    let runs = panel.points.first().map_or(0, |p| runs_of(o, p).len());
    let (points, frame) = (expanded(panel.points), expanded(panel.frame));
    let title = if title.is_empty() { format!("{} along {key}", called(metrics).0) } else { title.to_owned() };
    let axis = Axis::of(if frame.is_empty() { &points } else { &frame }, key);
    let (lines, csv, trouble) = curves(o, &points, (key, values), by, metrics, &axis);
    let frame = curves(o, &frame, (key, values), by, metrics, &axis).0;
    let caption = explained(by, bars_are(runs), trouble);
    drawn(&title, (axis.scale(log.x), &axis.label), metrics, log, (&lines, &frame), &caption, csv)
}

/// The lines of [`along`], their CSV, and why a value is missing.
fn curves(
    o: &Outcome,
    points: &[PointKey],
    (key, values): (&str, &[Value]),
    by: Option<&str>,
    metrics: &[&str],
    axis: &Axis,
) -> (Vec<Line>, String, Option<String>) {
    let groups = groups(points, &telling(points, Some(key), by));
    let mut csv = format!("{},other_keys,metric,n,mean,low,high\n", quoted(key));
    let (mut lines, mut trouble) = (Vec::new(), None);
    for Head { name, style, members, metric } in heads(&groups, by, metrics) {
        let mut dots = Vec::new();
        for point in members {
            let Some(value) = point.get(key) else { continue };
            let others: PointKey =
                point.iter().filter(|(k, _)| *k != key).map(|(k, v)| (k.clone(), v.clone())).collect();
            let (at, read) = match values {
                [] => (point, metric.to_owned()),
                _ => (&others, instead(metric, key, value)),
            };
            let Some(m) = summary_of(o, at, &read) else {
                trouble = trouble.or_else(|| missing(o, at, &read));
                continue;
            };
            let _ = writeln!(
                csv,
                "{},{},{},{}",
                quoted(&value_text(value)),
                quoted(&point_text(&others)),
                quoted(metric),
                charts::numbers(&m)
            );
            dots.push(Dot::at(axis.place(value), m, hover(metric, &point_text(point), m, unit_of(metric))));
        }
        dots.sort_by(|a, b| a.x.0.total_cmp(&b.x.0));
        lines.push(Line { name, style, dots });
    }
    (lines, csv, trouble)
}

/// `point` with an additional key, which only this figure has.
fn with(point: &PointKey, key: &str, value: &Value) -> PointKey {
    let mut point = point.clone();
    point.insert(key.to_owned(), value.clone().into());
    point
}

/// `metric` with `value` in place of `point(key)`.
fn instead(metric: &str, key: &str, value: &Value) -> String {
    Expr::parse(metric).map_or_else(|_| metric.to_owned(), |e| e.with_point(key, value).to_string())
}

/// The values of a swept key as positions on an axis.
struct Axis {
    /// Each value and its position.
    values: Vec<(SweptValue, f64)>,
    /// True if the values are numbers, false if they are names.
    numbers: bool,
    /// The texts of the values.
    names: Vec<String>,
    /// The key and the unit of its values.
    label: String,
}

impl Axis {
    fn of(points: &[PointKey], key: &str) -> Axis {
        let mut values: Vec<&SweptValue> = Vec::new();
        for v in points.iter().filter_map(|p| p.get(key)) {
            if !values.contains(&v) {
                values.push(v);
            }
        }
        let (places, unit) = match numbers(&values) {
            Some((places, unit)) => (Some(places), unit),
            None => (None, ""),
        };
        let numbers = places.is_some();
        let places = places.unwrap_or_else(|| (0..values.len()).map(|i| i as f64).collect());
        let (mut names, mut label) = (values.iter().map(|v| value_text(v)).collect(), key.to_owned());
        // Each value may be that of one labelled row.
        let keys = [key.to_owned()];
        let of_value = |v: &&SweptValue| {
            let mut rows = points.iter().filter(|p| p.get(key) == Some(*v)).map(|p| part(p, &keys));
            let first = rows.next()?;
            rows.all(|p| point_text(&p) == point_text(&first)).then_some(first)
        };
        if !numbers && let Some(rows) = values.iter().map(of_value).collect::<Option<Vec<PointKey>>>() {
            names = rows.iter().map(point_name).collect();
            label = point_columns(&rows).join(", ");
        }
        if !unit.is_empty() {
            label = format!("{label} [{unit}]");
        }
        Axis { values: values.into_iter().cloned().zip(places).collect(), numbers, names, label }
    }

    fn place(&self, value: &Value) -> f64 {
        self.values.iter().find(|v| v.0 == *value).map_or(f64::NAN, |v| v.1)
    }

    fn scale(&self, log: bool) -> Scale {
        if !self.numbers {
            return Scale::Names(self.names.clone());
        }
        let (low, high) = range(self.values.iter().map(|v| v.1));
        if log {
            return Scale::Log(low / 1.15, high * 1.15);
        }
        let margin = if high > low { (high - low) * 0.04 } else { (high.abs() * 0.5).max(0.5) };
        Scale::Linear(low - margin, high + margin)
    }
}
