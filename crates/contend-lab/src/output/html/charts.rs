//! Figures of means over seeds: along the sweep, by flow, and the airtime ledger.

use super::svg::{GREY, Plot, STYLES, Scale};
use super::{Figure, direction_style};
use crate::output::ReportContext;
use crate::output::csv::quoted;
use crate::output::shape::{Mean, main_metrics, point_text, runs_of, summary_of, swept_keys, unit_of, value_text};
use crate::output::table::significant;
use crate::results::{Outcome, PointKey, Run};
use std::fmt::Write;

/// Main metrics along the first swept key, then the file's own figures.
pub(super) fn sweep(o: &Outcome, ctx: &ReportContext, points: &[PointKey]) -> Vec<Figure> {
    let keys = swept_keys(points);
    let Some(first) = keys.first() else { return Vec::new() };
    if points.len() < 2 {
        return Vec::new();
    }
    let main = main_metrics(o);
    let mut figures = Vec::new();
    if keys.len() > 1 {
        // Each metric has a figure of its own: its lines are the values of the other keys.
        figures.extend(main.iter().map(|m| along(o, points, first, &[m], "")));
    } else {
        let mut families: Vec<(&str, Vec<&str>)> = Vec::new();
        for m in main {
            let stem = m.split('.').next().unwrap_or(m);
            match families.iter_mut().find(|f| f.0 == stem) {
                Some(f) => f.1.push(m),
                None => families.push((stem, vec![m])),
            }
        }
        figures.extend(families.iter().map(|(_, metrics)| along(o, points, first, metrics, "")));
    }
    for f in &ctx.figures {
        let key = if f.along.is_empty() { first } else { &f.along };
        let metrics: Vec<&str> = f.metrics.iter().map(String::as_str).collect();
        let points = if f.points.is_empty() { points } else { &f.points };
        figures.push(along(o, points, key, &metrics, &f.title));
    }
    figures
}

/// A name and its dots: place, mean, hover title.
type Curve = (String, Vec<(f64, Mean, String)>);

/// Metrics along one swept key; one line for each metric and each combination of the other keys. Without a title it names itself.
fn along(o: &Outcome, points: &[PointKey], key: &str, metrics: &[&str], title: &str) -> Figure {
    let first = metrics.first().copied().unwrap_or_default();
    let unit = unit_of(first);
    let name = if metrics.len() == 1 { first } else { first.split('.').next().unwrap_or(first) };
    let title = if title.is_empty() { format!("{name} along {key}") } else { title.to_owned() };
    let mut values: Vec<&serde_json::Value> = Vec::new();
    let mut rests: Vec<PointKey> = Vec::new();
    for p in points {
        let Some(v) = p.get(key) else { continue };
        let rest: PointKey = p.iter().filter(|(k, _)| *k != key).map(|(k, v)| (k.clone(), v.clone())).collect();
        if !values.contains(&v) {
            values.push(v);
        }
        if !rests.contains(&rest) {
            rests.push(rest);
        }
    }
    let numbers: Option<Vec<f64>> = values.iter().map(|v| v.as_f64()).collect();
    let place = |i: usize| numbers.as_ref().map_or(i as f64, |n| n[i]);
    let x = match &numbers {
        Some(n) => {
            let (low, high) = n.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
            let margin = if high > low { (high - low) * 0.04 } else { 0.5 };
            Scale::Linear(low - margin, high + margin)
        }
        None => Scale::Names(values.iter().map(|v| value_text(v)).collect()),
    };

    let mut csv = format!("{},other_keys,metric,n,mean,ci95\n", quoted(key));
    let mut lines: Vec<Curve> = Vec::new();
    let mut highest: f64 = 0.0;
    for rest in &rests {
        for metric in metrics {
            let mut line = Vec::new();
            for (i, v) in values.iter().enumerate() {
                let mut point = rest.clone();
                point.insert(key.to_owned(), (*v).clone());
                let Some(m) = summary_of(o, &point, metric) else { continue };
                highest = highest.max((m.mean + m.ci95.unwrap_or(0.0)) * unit.scale);
                let _ = writeln!(csv, "{},{},{},{},{},{}", quoted(&value_text(v)), quoted(&point_text(rest)), quoted(metric), m.n, m.mean, interval(m.ci95));
                line.push((place(i), m, format!("{metric}, {}\n{} {}\nn = {}", point_text(&point), m.text(unit.scale, unit.decimals), unit.name, m.n)));
            }
            let name = match (metrics.len(), rests.len()) {
                (_, 1) => (*metric).to_owned(),
                (1, _) => point_text(rest),
                _ => format!("{metric}, {}", point_text(rest)),
            };
            lines.push((name, line));
        }
    }
    let y = if unit_is_share(metrics) { Scale::Linear(0.0, 1.0) } else { Scale::from_zero(highest) };
    let label = if unit.name.is_empty() { name.to_owned() } else { format!("{name} [{}]", unit.name) };
    let mut plot = Plot::new(x, key, y, &label);
    let shown = lines.len().min(STYLES);
    let mut legend = Vec::new();
    for (style, (name, line)) in lines.iter().take(shown).enumerate() {
        let style = match name.as_str() {
            n if n.ends_with(".down") => direction_style("down"),
            n if n.ends_with(".up") => direction_style("up"),
            n if n.ends_with(".total") => 2,
            _ => style,
        };
        plot.line(style, &line.iter().map(|(x, m, _)| (*x, m.mean * unit.scale)).collect::<Vec<_>>(), name);
        for (x, m, title) in line {
            plot.dot(style, *x, m.mean * unit.scale, m.ci95.map(|h| h * unit.scale), title);
        }
        legend.push((style, name.clone()));
    }
    let more = if lines.len() > shown { format!(" {} more lines are in the CSV.", lines.len() - shown) } else { String::new() };
    if lines.len() == 1 {
        legend.clear();
    }
    Figure {
        caption: format!("{}{more}", bars_are(points.first().map_or(0, |p| runs_of(o, p).len()))),
        svg: plot.finish(&title),
        title,
        legend,
        csv,
        command: String::new(),
        wide: false,
    }
}

fn unit_is_share(metrics: &[&str]) -> bool {
    metrics.iter().all(|m| m.starts_with("jain"))
}

/// What the error bars are.
pub(super) fn bars_are(seeds: usize) -> String {
    match seeds {
        0 | 1 => "One seed: no interval.".into(),
        n => format!("Mean over {n} seeds; bars: 95 % Student interval."),
    }
}

fn interval(ci95: Option<f64>) -> String {
    ci95.map(|h| h.to_string()).unwrap_or_default()
}

/// Most bars in one figure; more would be thinner than a pixel.
const BARS: usize = 400;

/// Goodput of each flow at one point.
pub(super) fn flow_bars(runs: &[&Run], command: &str) -> Option<Figure> {
    let first = runs.first()?;
    if first.flows.is_empty() {
        return None;
    }
    let mut csv = String::from("flow,direction,n,goodput_bps_mean,ci95\n");
    let mut bars = Vec::new();
    for (i, flow) in first.flows.iter().enumerate() {
        let m = Mean::of(&runs.iter().filter_map(|r| r.flows.get(i)).map(|f| f.goodput_bps).collect::<Vec<_>>());
        let _ = writeln!(csv, "{},{},{},{},{}", quoted(&flow.name), flow.direction, m.n, m.mean, interval(m.ci95));
        bars.push((flow, m));
    }
    let share = bars.iter().map(|b| b.1.mean).sum::<f64>() / bars.len() as f64;
    let shown = bars.len().min(BARS);
    let highest = bars.iter().take(shown).map(|(_, m)| m.mean + m.ci95.unwrap_or(0.0)).fold(share, f64::max) / 1e6;
    let names = bars.iter().take(shown).map(|(f, _)| f.name.clone()).collect();
    let mut plot = Plot::new(Scale::Names(names), "flow", Scale::from_zero(highest), "goodput [Mb/s]");
    let wide = shown > 24;
    if wide {
        plot = plot.wide();
    }
    let mut legend: Vec<(usize, String)> = Vec::new();
    for (i, (flow, m)) in bars.iter().take(shown).enumerate() {
        let style = direction_style(flow.direction);
        if !legend.iter().any(|l| l.0 == style) {
            legend.push((style, flow.direction.to_owned()));
        }
        let title = format!("{} ({})\n{} Mb/s, n = {}", flow.name, flow.tcp, m.text(1e-6, 3), m.n);
        plot.bar(style, i as f64, m.mean / 1e6, m.ci95.map(|h| h / 1e6), &title);
    }
    plot.level(share / 1e6, "equal share");
    let more = if bars.len() > shown { format!(" The first {shown} of {} flows.", bars.len()) } else { String::new() };
    Some(Figure {
        title: "Goodput of each flow".into(),
        caption: format!("{}{more}", bars_are(runs.len())),
        svg: plot.finish("Goodput of each flow"),
        legend,
        csv,
        command: command.into(),
        wide,
    })
}

/// Accounts of the ledger in the order of an exchange, each with its style: silence is grey, waste is warm. Others follow by name.
const ACCOUNTS: [(&str, usize); 10] = [
    ("payload", 0),
    ("header", 5),
    ("preamble", 2),
    ("ack", 3),
    ("rts_cts", 7),
    ("collision", 1),
    ("errored", 4),
    ("backoff", GREY),
    ("ifs", GREY + 1),
    ("idle", GREY + 2),
];

/// The airtime ledger: one bar a point.
pub(super) fn ledger(o: &Outcome, points: &[PointKey]) -> Option<Figure> {
    let mut accounts: Vec<&str> = Vec::new();
    let all = || o.runs.iter().filter_map(|r| r.air.as_ref()).flat_map(|a| a.ledger.keys().copied());
    accounts.extend(ACCOUNTS.iter().map(|a| a.0).filter(|a| all().any(|k| k == *a)));
    for k in all() {
        if !accounts.contains(&k) {
            accounts.push(k);
        }
    }
    if accounts.is_empty() {
        return None;
    }
    let style_of = |i: usize| ACCOUNTS.iter().find(|a| a.0 == accounts[i]).map_or(i, |a| a.1);
    let shown: Vec<&PointKey> = points.iter().take(40).collect();
    let several = shown.len() > 1;
    // Rows are counted from the bottom; the first point stands at the top.
    let names = shown.iter().rev().map(|p| if several { p.values().map(value_text).collect::<Vec<_>>().join(", ") } else { String::new() }).collect();
    let label = if several { swept_keys(points).join(", ") } else { String::new() };
    let mut plot = Plot::new(Scale::Linear(0.0, 100.0), "share of time [%]", Scale::Names(names), &label).wide().tall(70.0 + 36.0 * shown.len().max(2) as f64);
    let mut csv = String::from("point,account,n,share_mean,ci95\n");
    for (line, point) in shown.iter().enumerate() {
        let runs = runs_of(o, point);
        let mut at = 0.0;
        for (i, account) in accounts.iter().enumerate() {
            let shares: Vec<f64> = runs.iter().filter_map(|r| r.air.as_ref()).map(|a| a.ledger.get(account).copied().unwrap_or(0.0)).collect();
            if shares.is_empty() {
                continue;
            }
            let m = Mean::of(&shares);
            let _ = writeln!(csv, "{},{account},{},{},{}", quoted(&point_text(point)), m.n, m.mean, interval(m.ci95));
            let title = format!("{account}{}{}\n{} % of time, n = {}", if several { ", " } else { "" }, point_text(point), m.text(100.0, 2), m.n);
            let row = (shown.len() - 1 - line) as f64;
            plot.piece(style_of(i), row, (at, at + m.mean * 100.0), m.ci95.map(|h| h * 100.0), &title, &format!("{} %", significant(m.mean * 100.0, 2)));
            at += m.mean * 100.0;
        }
    }
    Some(Figure {
        title: "Where the airtime goes".into(),
        caption: format!(
            "The ledger: every nanosecond of the channel is in exactly one account. {}",
            bars_are(points.first().map_or(0, |p| runs_of(o, p).len()))
        ),
        svg: plot.finish("Airtime ledger"),
        legend: accounts.iter().enumerate().map(|(i, a)| (style_of(i), (*a).to_owned())).collect(),
        csv,
        command: String::new(),
        wide: true,
    })
}
