//! Figures of one metric against another: a dot for each point, joined along a swept key of numbers.

use super::Figure;
use super::charts::{bars_are, numbers as columns};
use super::lines::{Dot, Head, Line, Panel, called, drawn, explained, groups, heads, hover, missing, range, telling};
use super::svg::Scale;
use crate::output::csv::quoted;
use crate::output::shape::InText as _;
use crate::output::shape::{point_text, runs_of, summary_of, unit_of, value_text};
use contend_experiment::reading::expression::numbers;
use contend_experiment::reading::file::Log;
use contend_experiment::results::{Outcome, PointKey};
use std::fmt::Write;

/// The swept key that joins the dots of a line: the first key of several numbers that is none of `by`. The values of
/// the other keys have a line each.
pub(super) fn path<'a>(points: &'a [PointKey], by: [Option<&str>; 2]) -> Option<&'a str> {
    let joins = |key: &&str| {
        let values: Vec<_> = points.iter().filter_map(|p| p.get(*key)).collect();
        values.iter().any(|v| Some(v) != values.first()) && numbers(&values).is_some()
    };
    points.first()?.keys().map(String::as_str).filter(|key| !by.contains(&Some(*key))).find(joins)
}

/// Metrics of one unit against the metric `x`. Lines join the points along `key`, in the order of the sweep.
pub(super) fn figure(
    o: &Outcome,
    panel: Panel,
    (x, key): (&str, Option<&str>),
    by: Option<&str>,
    metrics: &[&str],
    log: Log,
    title: &str,
) -> Figure {
    let (lines, csv, trouble) = curves(o, panel.points, (x, key), by, metrics);
    let frame = curves(o, panel.frame, (x, key), by, metrics).0;
    let ends = lines.iter().chain(&frame).flat_map(|l| &l.dots).flat_map(|d| {
        let (low, high) = d.x.1.unwrap_or((d.x.0, d.x.0));
        // An interval that reaches zero does not stretch a logarithmic axis.
        [if log.x && low < d.x.0 / 10.0 { d.x.0 } else { low }, high]
    });
    let scale = if log.x {
        let (low, high) = range(ends.filter(|v| *v > 0.0));
        Scale::log(low, high)
    } else {
        let (low, high) = range(ends);
        Scale::around(low, high)
    };
    let seeds = bars_are(panel.points.first().map_or(0, |p| runs_of(o, p).len()));
    let joined = key.map_or_else(String::new, |key| format!("Lines join the values of {key}. "));
    let caption = explained(by, joined + &seeds, trouble);
    drawn(title, (scale, &called(&[x]).1), metrics, log, (&lines, &frame), &caption, csv)
}

/// The lines of [`figure`], their CSV, and why a value is missing.
fn curves(
    o: &Outcome,
    points: &[PointKey],
    (x, key): (&str, Option<&str>),
    by: Option<&str>,
    metrics: &[&str],
) -> (Vec<Line>, String, Option<String>) {
    let groups = groups(points, &telling(points, key, by));
    let unit = unit_of(x);
    let mut csv = String::from("point,x_n,x_mean,x_low,x_high,metric,n,mean,low,high\n");
    let (mut lines, mut trouble) = (Vec::new(), None);
    for Head { name, style, members, metric } in heads(&groups, by, metrics) {
        let mut dots = Vec::new();
        for point in members {
            let Some((across, up)) = summary_of(o, point, x).zip(summary_of(o, point, metric)) else {
                trouble = trouble.or_else(|| missing(o, point, x).or_else(|| missing(o, point, metric)));
                continue;
            };
            let at = point_text(point);
            let _ = writeln!(csv, "{},{},{},{}", quoted(&at), columns(&across), quoted(metric), columns(&up));
            dots.push(Dot {
                x: across.scaled(unit.scale),
                y: up,
                title: format!("{}\n{}", hover(x, &at, across, unit), hover(metric, "", up, unit_of(metric))),
                tag: key.and_then(|key| point.get(key)).map(value_text).unwrap_or_default(),
            });
        }
        lines.push(Line { name, style, dots });
    }
    (lines, csv, trouble)
}
