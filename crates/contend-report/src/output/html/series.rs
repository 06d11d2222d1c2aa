//! Figures of one point over time, and the distributions of its delays.

use super::charts::numbers;
use super::ink::STYLES;
use super::svg::{Plot, Scale};
use super::{Figure, direction_style};
use crate::output::csv::quoted;
use crate::output::shape::{estimate, jain_flows};
use contend_experiment::results::{Columns, DataSeries, EstimateSeries, Flow, FlowSeries, Run};
use contend_experiment::stats::{self, Range};
use contend_sim::stats::Durations;
use std::fmt::Write;

/// Maximum number of flows drawn one by one. If there are more, each group is drawn as its median and its middle 80 %.
pub(super) const SINGLE: usize = 6;
/// Approximate number of instants in a line.
const INSTANTS: f64 = 240.0;

/// Figures of one run over time: goodput, congestion window and smoothed round-trip time of the flows, and the queues.
pub(super) fn over_time(run: &Run, warmup_s: f64, command: &str) -> Vec<Figure> {
    let time = &run.detail.series.time_s;
    let (Some(first), Some(last)) = (time.first(), time.last()) else { return Vec::new() };
    let span = last - first;
    if span <= 0.0 {
        return Vec::new();
    }
    let [slow, fine] = slow_and_fine(time);
    let is_tcp = |f: &Flow| f.tcp != "udp";
    let goodput = |s: &FlowSeries, (i, j): (usize, usize)| rate(s, i, j, time) / 1e6;
    let cwnd = |s: &FlowSeries, (_, j): (usize, usize)| s.snd_cwnd.get(j).map_or(f64::NAN, |n| f64::from(*n));
    let srtt = |s: &FlowSeries, (_, j): (usize, usize)| {
        s.srtt_us.get(j).filter(|us| **us > 0).map_or(f64::NAN, |us| f64::from(*us) / 1e3)
    };
    let window = slow.first().map_or(0.0, |(i, j)| time[*j] - time[*i]);
    let what = Sampled { run, warmup_s, span: (*first, *last), command };
    let mut all = vec![
        what.figure(
            "Goodput over time",
            "goodput [Mb/s]",
            &format!("Windows of {window:.2} s."),
            &slow,
            |_| true,
            goodput,
        ),
        what.figure("Congestion window", "cwnd [segments]", "", &fine, is_tcp, cwnd),
        what.figure("Smoothed round-trip time", "srtt [ms]", "", &fine, is_tcp, srtt),
    ];
    all.push(what.estimates(&fine));
    all.push(what.observed(&fine));
    all.push(what.data(&slow));
    all.push(what.queues(&fine));
    all.push(what.roaming());
    all.into_iter().flatten().collect()
}

/// Goodput in bits per second between two instants.
fn rate(s: &FlowSeries, i: usize, j: usize, time: &[f64]) -> f64 {
    match (s.delivered_bytes.get(i), s.delivered_bytes.get(j)) {
        (Some(a), Some(b)) if time[j] > time[i] => b.saturating_sub(*a) as f64 * 8.0 / (time[j] - time[i]),
        _ => f64::NAN,
    }
}

/// An empty plot over time, with the warm-up shaded.
pub(super) fn against_time((from, to): (f64, f64), warmup_s: f64, y: Scale, label: &str) -> Plot {
    let mut plot = Plot::new(Scale::Linear(from, to), "time [s]", y, label);
    if warmup_s > from {
        plot.shade(from, warmup_s.min(to), "warm-up, cut");
    }
    plot
}

/// Two lists of windows. The first is for rates: about [`INSTANTS`] windows, but no shorter than a second in runs of
/// ten seconds or more. The second is for sampled values: shorter windows.
pub(super) fn slow_and_fine(time: &[f64]) -> [Vec<(usize, usize)>; 2] {
    let span = time.last().zip(time.first()).map_or(0.0, |(last, first)| last - first);
    let step = span / INSTANTS;
    [windows(time, step.max(if span >= 10.0 { 1.0 } else { 0.0 })), windows(time, step)]
}

/// Consecutive pairs of instants (by index) at least `step` apart.
fn windows(time: &[f64], step: f64) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut from = 0;
    for (i, t) in time.iter().enumerate().skip(1) {
        if *t >= time[from] + step - 1e-9 {
            all.push((from, i));
            from = i;
        }
    }
    all
}

/// A run with series, and how its figures are drawn.
struct Sampled<'a> {
    run: &'a Run,
    warmup_s: f64,
    span: (f64, f64),
    command: &'a str,
}

impl Sampled<'_> {
    fn plot(&self, y: Scale, label: &str) -> Plot {
        against_time(self.span, self.warmup_s, y, label)
    }
    /// The figure of one quantity for all flows that `belongs` selects.
    fn figure(
        &self,
        title: &str,
        label: &str,
        note: &str,
        windows: &[(usize, usize)],
        belongs: impl Fn(&Flow) -> bool,
        of: impl Fn(&FlowSeries, (usize, usize)) -> f64,
    ) -> Option<Figure> {
        let time = &self.run.detail.series.time_s;
        let flows: Vec<(&Flow, Vec<f64>)> = self
            .run
            .flows
            .iter()
            .zip(&self.run.detail.series.flows)
            .filter(|(f, _)| belongs(f))
            .map(|(f, s)| (f, windows.iter().map(|w| of(s, *w)).collect()))
            .collect();
        if flows.is_empty() {
            return None;
        }
        let top = flows.iter().flat_map(|f| &f.1).filter(|v| v.is_finite()).fold(0.0, |a: f64, b| a.max(*b));
        let mut plot = self.plot(Scale::from_zero(top), label);
        let mut csv = String::from("time_s");
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut legend = Vec::new();
        let note = if flows.len() <= SINGLE {
            for (i, (flow, values)) in flows.iter().enumerate() {
                let line: Vec<(f64, f64)> = windows.iter().zip(values).map(|(w, v)| (time[w.1], *v)).collect();
                plot.line(i, &line, &flow.name);
                legend.push((i % STYLES, flow.name.clone()));
                let _ = write!(csv, ",{}", quoted(&flow.name));
                columns.push(values.clone());
            }
            note.to_owned()
        } else {
            for group in groups(flows.iter().map(|f| f.0)) {
                let members: Vec<&Vec<f64>> = flows.iter().filter(|(f, _)| f.group == group).map(|f| &f.1).collect();
                let style =
                    flows.iter().find(|(f, _)| f.group == group).map_or(0, |(f, _)| direction_style(f.direction));
                let style =
                    if legend.iter().any(|l: &(usize, String)| l.0 == style) { legend.len() + 4 } else { style };
                let at = |k: usize, q: f64| {
                    stats::quantile(&members.iter().map(|m| m[k]).filter(|v| v.is_finite()).collect::<Vec<f64>>(), q)
                        .unwrap_or(f64::NAN)
                };
                let [low, median, high] =
                    [0.1, 0.5, 0.9].map(|q| (0..windows.len()).map(|k| at(k, q)).collect::<Vec<f64>>());
                let band: Vec<(f64, f64, f64)> = windows
                    .iter()
                    .enumerate()
                    .map(|(k, w)| (time[w.1], low[k], high[k]))
                    .filter(|b| b.1.is_finite())
                    .collect();
                plot.band(style, &band);
                plot.line(
                    style,
                    &windows.iter().zip(&median).map(|(w, v)| (time[w.1], *v)).collect::<Vec<_>>(),
                    &format!("{group}: median of {}", members.len()),
                );
                legend.push((style, format!("{group} ({} flows)", members.len())));
                let _ = write!(csv, ",{0}_p10,{0}_p50,{0}_p90", group.replace(',', "_"));
                columns.extend([low, median, high]);
            }
            format!("{note} The line is the median of the group, the band the middle 80 % of its flows.")
        };
        csv.push('\n');
        for (k, w) in windows.iter().enumerate() {
            let _ = write!(csv, "{:.6}", time[w.1]);
            for c in &columns {
                let _ = if c[k].is_finite() { write!(csv, ",{:.5}", c[k]) } else { write!(csv, ",") };
            }
            csv.push('\n');
        }
        Some(Figure {
            title: title.into(),
            caption: format!("Seed {}, one run. {}", self.run.seed, note.trim()),
            plot: plot.named(title),
            legend,
            csv,
            command: self.command.into(),
            wide: false,
        })
    }
    /// The figure of the estimated rates.
    fn estimates(&self, windows: &[(usize, usize)]) -> Option<Figure> {
        let of = |e: &EstimateSeries| {
            let flow = self.run.flows.get(e.flow).map_or("", |f| f.name.as_str());
            let at = |w: &(usize, usize)| e.rate_bps.get(w.1).map(|r| *r as f64 / 1e6);
            (format!("{} of {flow}", e.name), windows.iter().map(at).collect())
        };
        self.rates(
            "Estimated rates",
            "estimate [Mb/s]",
            windows,
            self.run.detail.series.estimates.iter().map(of).collect(),
        )
    }
    /// The figure of what observers report of their links, beside what the stations really reached.
    fn observed(&self, windows: &[(usize, usize)]) -> Option<Figure> {
        let mut lines = vec![];
        for s in &self.run.detail.series.observed {
            let station = self.run.stations.get(s.station).map_or("", String::as_str);
            for o in &s.observers {
                for (what, samples) in [("capacity", &o.capacity_bps), ("available", &o.available_bps)] {
                    let at = |w: &(usize, usize)| Some(samples.get(w.1).copied().flatten()? as f64 / 1e6);
                    lines.push((format!("{what} at {station} by {}", o.name), windows.iter().map(at).collect()));
                }
            }
            let reached = |w: &(usize, usize)| {
                let grown = |c: &[u64]| Some(c.get(w.1)?.saturating_sub(*c.get(w.0)?));
                let (bytes, ns) = (grown(&s.acked_bytes)?, grown(&s.contended_ns)?);
                (ns > 0).then(|| 8e3 * bytes as f64 / ns as f64)
            };
            lines.push((format!("reached at {station}"), windows.iter().map(reached).collect()));
        }
        lines.retain(|(_, line): &(String, Vec<Option<f64>>)| line.iter().any(Option::is_some));
        self.rates("Links as observers see them", "rate [Mb/s]", windows, lines)
    }
    /// The figure of the mean rates of data frames: to and from each station, or without an access point from each
    /// station. The stations with the most MPDUs come first.
    fn data(&self, windows: &[(usize, usize)]) -> Option<Figure> {
        let mut series = vec![];
        let aps: Vec<&str> = self.run.access_points().collect();
        for (station, [from, to]) in self.run.stations.iter().zip(&self.run.detail.series.data) {
            if aps.is_empty() {
                series.push((format!("from {station}"), from));
            } else if !aps.contains(&station.as_str()) {
                series.extend([(format!("to {station}"), to), (format!("from {station}"), from)]);
            }
        }
        series.retain(|(_, s)| s.sent.last().is_some_and(|n| *n > 0));
        series.sort_by_key(|(_, s)| std::cmp::Reverse(s.sent.last().copied()));
        let line = |s: &DataSeries| {
            let at = |w: &(usize, usize)| Some(s.get(w.1)?.mean_rate(&s.get(w.0)?)? / 1e6);
            windows.iter().map(at).collect()
        };
        let lines = series.into_iter().map(|(name, s)| (name, line(s))).collect();
        self.rates("Rate of data frames", "mean rate [Mb/s]", windows, lines)
    }
    /// A figure with one line for each rate: its name, and Mb/s at the end of each window.
    fn rates(
        &self,
        title: &str,
        axis: &str,
        windows: &[(usize, usize)],
        mut lines: Vec<(String, Vec<Option<f64>>)>,
    ) -> Option<Figure> {
        let time = &self.run.detail.series.time_s;
        let left = lines.len().saturating_sub(SINGLE);
        lines.truncate(SINGLE);
        let top = lines.iter().flat_map(|(_, line)| line).flatten().copied().reduce(f64::max)?;
        let mut plot = self.plot(Scale::from_zero(top), axis);
        let mut csv = String::from("time_s");
        for (i, (name, line)) in lines.iter().enumerate() {
            let points: Vec<(f64, f64)> =
                windows.iter().zip(line).filter_map(|(w, rate)| Some((time[w.1], (*rate)?))).collect();
            plot.line(i, &points, name);
            let _ = write!(csv, ",{}", quoted(name));
        }
        csv.push('\n');
        for (k, w) in windows.iter().enumerate() {
            let _ = write!(csv, "{:.6}", time[w.1]);
            for (_, line) in &lines {
                let _ = match line.get(k).copied().flatten() {
                    Some(rate) => write!(csv, ",{rate:.6}"),
                    None => write!(csv, ","),
                };
            }
            csv.push('\n');
        }
        let note = if left > 0 { format!(" {left} more are in series.parquet.") } else { String::new() };
        Some(Figure {
            title: title.into(),
            caption: format!("Seed {}, one run.{note}", self.run.seed),
            plot: plot.named(title),
            legend: lines.into_iter().enumerate().map(|(i, (name, _))| (i % STYLES, name)).collect(),
            csv,
            command: self.command.into(),
            wide: false,
        })
    }
    /// The figure of waiting packets: in the queues of access points, or without one in the queues with the most
    /// packets.
    fn queues(&self, windows: &[(usize, usize)]) -> Option<Figure> {
        let time = &self.run.detail.series.time_s;
        let named = self.run.queues.iter().zip(&self.run.detail.series.queues);
        let mut queues: Vec<(&str, Vec<u64>)> = named.map(|(q, s)| (q.name.as_str(), s.packets.clone())).collect();
        let aps: Vec<&str> = self.run.access_points().collect();
        if aps.is_empty() {
            queues.sort_by_key(|q| std::cmp::Reverse(q.1.iter().sum::<u64>()));
        } else {
            queues.retain(|q| aps.contains(&q.0));
        }
        queues.truncate(4);
        let top = queues.iter().flat_map(|q| &q.1).max()?;
        let mut plot = self.plot(Scale::from_zero(*top as f64), "packets waiting");
        let mut csv = String::from("time_s");
        for (i, (name, samples)) in queues.iter().enumerate() {
            let line: Vec<(f64, f64)> =
                windows.iter().filter_map(|w| samples.get(w.1).map(|n| (time[w.1], *n as f64))).collect();
            plot.line(i, &line, name);
            let _ = write!(csv, ",{}", quoted(name));
        }
        csv.push('\n');
        for w in windows {
            let _ = write!(csv, "{:.6}", time[w.1]);
            for (_, samples) in &queues {
                let _ = write!(csv, ",{}", samples.get(w.1).copied().unwrap_or(0));
            }
            csv.push('\n');
        }
        let legend = queues
            .iter()
            .enumerate()
            .map(|(i, q)| (i, if aps == [q.0] { "access point".to_owned() } else { q.0.to_owned() }))
            .collect();
        Some(Figure {
            title: "Queue length".into(),
            caption: format!("Seed {}, one run.", self.run.seed),
            plot: plot.named("Queue length"),
            legend,
            csv,
            command: self.command.into(),
            wide: false,
        })
    }
    /// The figure of the access points of stations that change them.
    fn roaming(&self) -> Option<Figure> {
        let all = self.run.air.as_ref()?.roaming.as_ref()?;
        let aps: Vec<String> = self.run.access_points().map(String::from).collect();
        let mut plot = self.plot(Scale::Names(aps.clone()), "access point");
        let mut csv = String::from("station,time_s,access_point\n");
        for (i, (name, roaming)) in all.iter().take(SINGLE).enumerate() {
            let mut line: Vec<(f64, f64)> = vec![];
            for (since, ap) in &roaming.access_points {
                let _ = writeln!(csv, "{},{since:.6},{}", quoted(name), quoted(ap));
                let Some(row) = aps.iter().position(|a| a == ap) else { continue };
                // A step: the one before up to now.
                line.extend(line.last().map(|before| (*since, before.1)));
                line.push((*since, row as f64));
            }
            line.extend(line.last().map(|last| (self.span.1, last.1)));
            plot.line(i, &line, name);
        }
        let left = all.len().saturating_sub(SINGLE);
        let note = if left > 0 { format!(" {left} more are in summary.json.") } else { String::new() };
        Some(Figure {
            title: "Access point".into(),
            caption: format!("Seed {}, one run.{note}", self.run.seed),
            plot: plot.named("Access point"),
            legend: all.keys().take(SINGLE).enumerate().map(|(i, name)| (i, name.clone())).collect(),
            csv,
            command: self.command.into(),
            wide: false,
        })
    }
}

fn groups<'a>(flows: impl Iterator<Item = &'a Flow>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for f in flows {
        if !all.contains(&f.group.as_str()) {
            all.push(&f.group);
        }
    }
    all
}

/// Figure of Jain's index over the flows that compete in each second, as the mean over the runs of a point.
pub(super) fn jain_over_time(runs: &[&Run], warmup_s: f64, command: &str) -> Option<Figure> {
    let sampled: Vec<&&Run> = runs.iter().filter(|r| r.detail.series.time_s.len() > 1 && r.flows.len() > 1).collect();
    let first = sampled.first()?;
    let cuts = windows(&first.detail.series.time_s, 1.0);
    if cuts.len() < 2 {
        return None;
    }
    let mut csv = String::from("time_s,n,jain_mean,low,high\n");
    let (mut line, mut band) = (Vec::new(), Vec::new());
    for &(i, j) in &cuts {
        // A second without any goodput says nothing about fairness.
        let of = |r: &&&Run| {
            let all: Vec<usize> = (0..r.detail.series.flows.len()).collect();
            let flows = r.competing(&all).into_iter().filter_map(|k| r.detail.series.flows.get(k));
            let rates: Vec<f64> =
                flows.map(|s| rate(s, i, j, &r.detail.series.time_s)).filter(|x| x.is_finite()).collect();
            stats::jain(&rates).filter(|_| rates.iter().any(|x| *x > 0.0))
        };
        let same = sampled.iter().filter(|r| r.detail.series.time_s.len() > j);
        let m = estimate(&same.filter_map(of).collect::<Vec<_>>(), Range::SHARE);
        let t = first.detail.series.time_s[j];
        let _ = writeln!(csv, "{t:.6},{}", numbers(&m));
        line.push((t, m.mean));
        band.extend(m.interval.map(|(low, high)| (t, low, high)));
    }
    let (from, to) = (first.detail.series.time_s[0], first.detail.series.time_s[first.detail.series.time_s.len() - 1]);
    let mut plot = against_time((from, to), warmup_s, Scale::Linear(0.0, 1.0), "Jain's index");
    plot.band(0, &band);
    plot.line(0, &line, "Jain's index");
    let how = if sampled.len() > 1 {
        format!("Mean over {} seeds; band: 95 % Student interval.", sampled.len())
    } else {
        "One seed: no interval.".into()
    };
    Some(Figure {
        title: "Fairness over time".into(),
        caption: format!("Jain's index of goodput in windows of 1 s, {}. {how}", jain_flows(runs)),
        plot: plot.named("Jain's index over time"),
        legend: Vec::new(),
        csv,
        command: command.into(),
        wide: false,
    })
}

/// Distribution functions of round-trip times and one-way delays, over all seeds of a point.
pub(super) fn delays(runs: &[&Run], command: &str) -> Vec<Figure> {
    let few = runs.first().is_some_and(|r| r.flows.len() <= 6);
    let rtt = distribution(runs, few, "Round-trip time", "round-trip time [ms]", |f| &f.rtt, command);
    let delay =
        distribution(runs, few, "One-way delay", "one-way delay, sender to receiver [ms]", |f| &f.delay, command);
    rtt.into_iter().chain(delay).collect()
}

fn distribution(
    runs: &[&Run],
    each: bool,
    title: &str,
    label: &str,
    of: fn(&Flow) -> &Durations,
    command: &str,
) -> Option<Figure> {
    let mut merged: Vec<Merged> = Vec::new();
    for f in runs.iter().flat_map(|r| &r.flows).filter(|f| of(f).buckets().next().is_some()) {
        let name: &str = if each { &f.name } else { &f.group };
        match merged.iter_mut().find(|m| m.name == name) {
            Some(m) => m.all.merge(of(f)),
            None => {
                merged.push(Merged { name: name.to_owned(), style: direction_style(f.direction), all: of(f).clone() })
            }
        }
    }
    let low = merged.iter().filter_map(|m| Some(m.all.buckets().next()?.0.0)).min()?.max(1);
    let high = merged.iter().filter_map(|m| Some(m.all.buckets().last()?.0.1)).max()?.max(1);
    let (low, high) = (low as f64 / 1e3, high as f64 / 1e3);
    let x = if high / low > 20.0 { Scale::Log(low * 0.9, high * 1.1) } else { Scale::from_zero(high) };
    let mut plot = Plot::new(x, label, Scale::Linear(0.0, 1.0), "share of packets");
    let mut csv = String::from("name,ms,share\n");
    let mut legend: Vec<(usize, String)> = Vec::new();
    for (i, m) in merged.iter().enumerate() {
        let all = m.all.len();
        let mut seen = 0;
        let mut line = Vec::new();
        let mut written = -1.0;
        for ((from, to), n) in m.all.buckets() {
            let (from, ms, before) = (from as f64 / 1e3, to as f64 / 1e3, seen as f64 / all as f64);
            seen += n;
            let share = seen as f64 / all as f64;
            // Skip steps smaller than a third of a pixel.
            if share - written > 0.0015 || seen == all {
                line.extend([(from, before), (ms, share)]);
                let _ = writeln!(csv, "{},{ms},{share:.5}", quoted(&m.name));
                written = share;
            }
        }
        let style = if each || legend.iter().any(|l| l.0 == m.style) { i } else { m.style };
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| m.all.quantile_ms(q));
        plot.line(style, &line, &format!("{}\nmedian {p50:.1} ms, p95 {p95:.1} ms, p99 {p99:.1} ms", m.name));
        legend.push((style, format!("{} (p95 {p95:.0} ms)", m.name)));
    }
    Some(Figure {
        title: title.into(),
        caption: format!(
            "Distribution over all packets of {} run{} after the warm-up.",
            runs.len(),
            if runs.len() == 1 { "" } else { "s" }
        ),
        plot: plot.named(title),
        legend,
        csv,
        command: command.into(),
        wide: false,
    })
}

/// Durations of several flows together.
struct Merged {
    name: String,
    style: usize,
    all: Durations,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_follow_each_other_without_gap() {
        let time: Vec<f64> = (0..=30).map(|i| f64::from(i) * 0.1).collect();
        assert_eq!(windows(&time, 1.0), [(0, 10), (10, 20), (20, 30)]);
    }
}
