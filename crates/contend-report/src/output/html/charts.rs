//! Figures of means over seeds at each point: goodput of each flow, and the airtime ledger.

use super::ink::GREY;
use super::svg::{Plot, Scale};
use super::{Figure, direction_style};
use crate::output::csv::quoted;
use crate::output::shape::InText as _;
use crate::output::shape::{estimate, point_columns, point_name, point_text, runs_of};
use crate::output::table::significant;
use contend_experiment::results::{Outcome, PointKey, Run};
use contend_experiment::stats::{Estimate, Range};
use std::fmt::Write;

/// A sentence that explains the error bars.
pub(super) fn bars_are(seeds: usize) -> String {
    match seeds {
        0 | 1 => "One seed: no interval.".into(),
        n => format!("Mean over {n} seeds; bars: 95 % Student interval."),
    }
}

/// An estimate as columns of a CSV: number of seeds, mean, and the ends of its interval.
pub(super) fn numbers(m: &Estimate) -> String {
    let ends = m.interval.map_or_else(|| ",".to_owned(), |(low, high)| format!("{low},{high}"));
    format!("{},{},{ends}", m.n, m.mean)
}

/// Maximum number of bars in one figure; more would be narrower than a pixel.
pub(super) const BARS: usize = 400;

/// Figure of the goodput of each flow at one point.
pub(super) fn flow_bars(runs: &[&Run], command: &str) -> Option<Figure> {
    let first = runs.first()?;
    if first.flows.is_empty() {
        return None;
    }
    let mut csv = String::from("flow,direction,n,goodput_bps_mean,low,high\n");
    let mut bars = Vec::new();
    for (i, flow) in first.flows.iter().enumerate() {
        let goodputs: Vec<f64> = runs.iter().filter_map(|r| r.flows.get(i)).map(|f| f.goodput_bps).collect();
        let m = estimate(&goodputs, Range::FROM_ZERO);
        let _ = writeln!(csv, "{},{},{}", quoted(&flow.name), flow.direction, numbers(&m));
        bars.push((flow, m));
    }
    let share = bars.iter().map(|b| b.1.mean).sum::<f64>() / bars.len() as f64;
    let shown = bars.len().min(BARS);
    let highest = bars.iter().take(shown).map(|(_, m)| m.ends().1).fold(share, f64::max) / 1e6;
    let names = bars.iter().take(shown).map(|(f, _)| f.name.clone()).collect();
    let mut plot = Plot::new(Scale::Names(names), "flow", Scale::from_zero(highest), "goodput [Mb/s]");
    let wide = shown > 24;
    if wide {
        plot = plot.wide();
    }
    plot = plot.levelled();
    let mut legend: Vec<(usize, String)> = Vec::new();
    for (i, (flow, m)) in bars.iter().take(shown).enumerate() {
        let style = direction_style(flow.direction);
        if !legend.iter().any(|l| l.0 == style) {
            legend.push((style, flow.direction.to_owned()));
        }
        let title = format!("{} ({})\n{} Mb/s, n = {}", flow.name, flow.tcp, m.text(1e-6, 3), m.n);
        plot.bar(style, i as f64, (0, 1), m.scaled(1e-6), &title);
    }
    plot.level(share / 1e6, ["equal", "share"]);
    let more = if bars.len() > shown { format!(" The first {shown} of {} flows.", bars.len()) } else { String::new() };
    Some(Figure {
        title: "Goodput of each flow".into(),
        caption: format!("{}{more}", bars_are(runs.len())),
        plot: plot.named("Goodput of each flow"),
        legend,
        csv,
        command: command.into(),
        wide,
    })
}

/// Accounts of the ledger in the order of an exchange, each with its style: idle time is grey, wasted time has warm
/// colours. Other accounts follow by name.
const ACCOUNTS: [(&str, usize); 15] = [
    ("payload", 0),
    ("sends", 1),
    ("receives", 0),
    ("hears", 5),
    ("blocked", GREY + 1),
    ("header", 5),
    ("preamble", 2),
    ("ack", 3),
    ("rts_cts", 7),
    ("beacon", 6),
    ("collision", 1),
    ("errored", 4),
    ("backoff", GREY),
    ("ifs", GREY + 1),
    ("idle", GREY + 2),
];

/// Figure of the airtime ledger: one bar for each point.
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
    // Rows are counted from the bottom; the first point is at the top.
    let names = shown.iter().rev().map(|p| if several { point_name(p) } else { String::new() }).collect();
    let label = if several { point_columns(points).join(", ") } else { String::new() };
    let mut plot = Plot::new(Scale::Linear(0.0, 100.0), "share of time [%]", Scale::Names(names), &label)
        .wide()
        .tall(70.0 + 36.0 * shown.len().max(2) as f64);
    let mut csv = String::from("point,account,n,share_mean,low,high\n");
    for (line, point) in shown.iter().enumerate() {
        let runs = runs_of(o, point);
        let mut at = 0.0;
        for (i, account) in accounts.iter().enumerate() {
            let shares: Vec<f64> = runs
                .iter()
                .filter_map(|r| r.air.as_ref())
                .map(|a| a.ledger.get(account).copied().unwrap_or(0.0))
                .collect();
            if shares.is_empty() {
                continue;
            }
            let m = estimate(&shares, Range::SHARE);
            let _ = writeln!(csv, "{},{account},{}", quoted(&point_text(point)), numbers(&m));
            let title = format!(
                "{account}{}{}\n{} % of time, n = {}",
                if several { ", " } else { "" },
                point_text(point),
                m.text(100.0, 2),
                m.n
            );
            let row = (shown.len() - 1 - line) as f64;
            plot.piece(
                style_of(i),
                row,
                (at, at + m.mean * 100.0),
                m.scaled(100.0).1.map(|(low, high)| (at + low, at + high)),
                &title,
                &format!("{} %", significant(m.mean * 100.0, 2)),
            );
            at += m.mean * 100.0;
        }
    }
    Some(Figure {
        title: "Where the airtime goes".into(),
        caption: format!(
            "The ledger: every nanosecond of the channel (in a field: of each station, here the mean) is in exactly \
                one account. {}",
            bars_are(points.first().map_or(0, |p| runs_of(o, p).len()))
        ),
        plot: plot.named("Airtime ledger"),
        legend: accounts.iter().enumerate().map(|(i, a)| (style_of(i), (*a).to_owned())).collect(),
        csv,
        command: String::new(),
        wide: true,
    })
}
