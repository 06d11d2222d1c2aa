//! The figures of the file's `[[figure]]` tables: along a swept key, against a metric, flow by flow, or over time.

use super::charts::{BARS, bars_are, numbers};
use super::ink::STYLES;
use super::lines::{Dot, Head, Line, Panel, called, drawn, explained, groups, heads, hover, telling};
use super::svg::Scale;
use super::{DETAILED, Figure, against, course, sweep};
use crate::output::csv::quoted;
use crate::output::shape::{Unit, point_text, runs_of, unit_of};
use crate::output::{FigureSpec, ReportContext};
use contend_experiment::reading::file::{Along, Log};
use contend_experiment::results::{Outcome, PointKey, Run};
use contend_experiment::stats::Estimate;
use contend_judge::measuring::metric::{Expr, Unmeasured};
use std::fmt::Write;

/// All `[[figure]]` tables of the file in their order. Each unit has its own figure. With `by`, each combination of the
/// keys that make no lines has its own figure, too.
pub(super) fn figures(o: &Outcome, ctx: &ReportContext) -> Vec<Figure> {
    told(o, ctx).into_iter().map(|(figure, _)| figure).collect()
}

/// As [`figures`], each with what tells it from the others of its table: its metrics if they are of several units, and
/// its combination of keys. Empty if the table makes one figure.
pub(super) fn told(o: &Outcome, ctx: &ReportContext) -> Vec<(Figure, String)> {
    // Skip a figure along a key that no point has.
    let there = |f: &&FigureSpec| {
        f.points.iter().any(|p| if let Along::Key(key) = &f.along { p.contains_key(key) } else { true })
    };
    ctx.figures.iter().filter(there).flat_map(|f| of(o, ctx.warmup_s, f)).collect()
}

fn of(o: &Outcome, warmup_s: f64, f: &FigureSpec) -> Vec<(Figure, String)> {
    let x = match &f.along {
        Along::Key(key) => Some(key.as_str()),
        Along::Metric(_) => against::path(&f.points, [f.by.as_deref(), f.panels.as_deref()]),
        _ => None,
    };
    let values: &[serde_json::Value] = if let Along::Own(_, values) = &f.along { values } else { &[] };
    let by = f.by.as_deref();
    let others: Vec<String> = match by {
        Some(by) => {
            let told = telling(&f.points, x, Some(by)).into_iter().filter(|k| k != by);
            // The key of the panels tells them apart, also if another key does.
            told.filter(|k| f.panels.as_ref() != Some(k)).chain(f.panels.clone()).collect()
        }
        None => Vec::new(),
    };
    // Panels that differ by their key alone have equal axes.
    let frames =
        groups(&f.points, &others.iter().filter(|k| f.panels.as_ref() != Some(k)).cloned().collect::<Vec<_>>());
    let mut units: Vec<(Unit, Vec<&str>)> = Vec::new();
    for m in &f.metrics {
        let unit = unit_of(m);
        match units.iter_mut().find(|u| u.0 == unit) {
            Some(u) => u.1.push(m),
            None => units.push((unit, vec![m])),
        }
    }
    let panels = groups(&f.points, &others);
    let mut all = Vec::new();
    for (at, points) in panels.iter().take(DETAILED) {
        let framed = frames.iter().find(|(of, _)| f.panels.is_some() && of.iter().all(|(k, v)| at.get(k) == Some(v)));
        let panel = Panel { points, frame: framed.map_or(&[], |(_, all)| all) };
        for (_, metrics) in &units {
            let name = called(metrics).0;
            let told = [if units.len() > 1 { name.clone() } else { String::new() }, point_text(at)];
            let told = told.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(", ");
            let words = match (&f.along, f.title.as_str()) {
                (Along::Key(key) | Along::Own(key, _), "") => {
                    [format!("{name} along {key}"), String::new(), point_text(at)]
                }
                (Along::Flow, "") => [format!("{name} of each flow"), String::new(), point_text(at)],
                (Along::Metric(x), "") => [format!("{name} against {x}"), String::new(), point_text(at)],
                (Along::Time, "") => [format!("{name} over time"), String::new(), point_text(at)],
                (_, title) => [title.to_owned(), if units.len() > 1 { name } else { String::new() }, point_text(at)],
            };
            let title = words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(", ");
            let figure = match &f.along {
                Along::Key(key) | Along::Own(key, _) => {
                    sweep::along(o, panel, (key, values), by, metrics, f.log, &title)
                }
                Along::Metric(metric) => against::figure(o, panel, (metric, x), by, metrics, f.log, &title),
                Along::Flow => by_flow(o, panel, by, metrics, f.log.y, &title),
                Along::Time => course::over_time(o, panel, by, metrics, f.log.y, &title, warmup_s),
            };
            all.push((figure, told));
        }
    }
    if let Some((last, _)) = all.last_mut().filter(|_| panels.len() > DETAILED) {
        let _ = write!(
            last.caption,
            " {} more such figures are not drawn; select points with `when`.",
            panels.len() - DETAILED
        );
    }
    all
}

/// Metrics of one unit flow by flow: a bar for each metric, point and flow.
fn by_flow(o: &Outcome, panel: Panel, by: Option<&str>, metrics: &[&str], log_y: bool, title: &str) -> Figure {
    let mut names: Vec<String> = Vec::new();
    let frame = bars(o, panel.frame, by, metrics, &mut names).0;
    let (lines, csv, trouble) = bars(o, panel.points, by, metrics, &mut names);
    let all = names.len();
    names.truncate(BARS.div_ceil(lines.len().clamp(1, STYLES)));
    let mut caption = bars_are(panel.points.first().map_or(0, |p| runs_of(o, p).len()));
    if names.len() < all {
        let _ = write!(caption, " The first {} of {all} flows.", names.len());
    }
    let log = Log { x: false, y: log_y };
    let x = (Scale::Names(names), "flow");
    drawn(title, x, metrics, log, (&lines, &frame), &explained(by, caption, trouble), csv)
}

/// The bars of metrics flow by flow, their CSV, and why a value is missing. A new flow is added to `names`.
fn bars(
    o: &Outcome,
    points: &[PointKey],
    by: Option<&str>,
    metrics: &[&str],
    names: &mut Vec<String>,
) -> (Vec<Line>, String, Option<String>) {
    let groups = groups(points, &telling(points, None, by));
    let mut csv = String::from("flow,point,metric,n,mean,low,high\n");
    let (mut lines, mut trouble) = (Vec::new(), None);
    for Head { name, style, members, metric } in heads(&groups, by, metrics) {
        let Some(point) = members.first() else { continue };
        let mut values: Vec<(String, Vec<f64>)> = Vec::new();
        let e = Expr::parse_any(metric).map(|e| e.each_flow()).map_err(|why| why.to_string());
        for run in runs_of(o, point) {
            match e.as_ref().map_err(Clone::clone).and_then(|e| read(e, run).map_err(|why| why.to_string())) {
                Ok(read) => read.into_iter().filter(|v| v.1.is_finite()).for_each(|(name, x)| {
                    match values.iter_mut().find(|v| v.0 == name) {
                        Some(v) => v.1.push(x),
                        None => values.push((name, vec![x])),
                    }
                }),
                Err(why) => trouble = trouble.or(Some(why)),
            }
        }
        let mut dots = Vec::new();
        for (flow, values) in values {
            let Ok(e) = &e else { continue };
            let readings: Vec<_> = values.into_iter().map(|x| e.noted(x)).collect();
            let Some(m) = Estimate::of_readings(&readings, e.range()) else { continue };
            let _ =
                writeln!(csv, "{},{},{},{}", quoted(&flow), quoted(&point_text(point)), quoted(metric), numbers(&m));
            let place = names.iter().position(|n| *n == flow).unwrap_or_else(|| {
                names.push(flow.clone());
                names.len() - 1
            });
            if place * (metrics.len() * groups.len()).min(STYLES) < BARS {
                let at = [flow, point_text(point)].join(", ");
                dots.push(Dot::at(place as f64, m, hover(metric, &at, m, unit_of(metric))));
            }
        }
        lines.push(Line { name, style, dots });
    }
    (lines, csv, trouble)
}

/// The members of a list in `run`, with their names.
fn read(e: &Expr, run: &Run) -> Result<Vec<(String, f64)>, Unmeasured> {
    let (names, values) = (e.members(run)?.unwrap_or_default(), e.values(run)?);
    Ok(names.into_iter().zip(values).collect())
}
