//! Metrics of flows, both TCP and UDP.

use crate::measuring::metric::entry::{Asked, Aspects, MetricEntry, Period, Selection, Subject};
use crate::measuring::metric::reading::{SampleRange, seconds};
use crate::measuring::metric::{Aspect, Scope, Unmeasured};
use contend_core::Refusal;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::{Kept, packet_loss};
use contend_experiment::stats;

/// Flows, selected by direction, group or name.
pub(in crate::measuring::metric) static FLOWS: Subject = Subject {
    noun: "flow, group of flows or direction",
    uses: &[
        ("NAME", "all flows"),
        ("NAME.up", "the uploads together; likewise down, local, wired"),
        ("NAME.FLOW", "a flow, or a group of flows together"),
        ("NAME[up]", "a list with one number for each upload, for mean(), min(), max(), sum(), count(x < q)"),
        ("NAME[all]", "one for each flow"),
        ("NAME[FLOW]", "a flow, or one for each flow of a group"),
    ],
    member: "up",
    groups: &["all", "total", "up", "down", "local", "wired"],
    names: |run| run.flows.iter().map(|f| f.name.as_str()).collect(),
    group: |name, run| run.flows.iter().enumerate().filter(|(_, f)| f.direction == name).map(|(i, _)| i).collect(),
    needs_cell: false,
};

const THROUGHPUT: &str = "IP bytes that arrived per second, including duplicates, and payload that waited out of order \
    when the warm-up ended, because goodput counts it too";

pub(super) const METRICS: &[MetricEntry] = &[
    flow("goodput", Dimension::Rate, "payload delivered in order, each byte once, per second", |a| {
        a.rate(|f| f.goodput_bps, |s| s.delivered_bytes)
    })
    .over(Period::RunOrWindow)
    .reported(&["goodput.total", "goodput.up", "goodput.down"]),
    flow("throughput", Dimension::Rate, THROUGHPUT, |a| a.rate(|f| f.throughput_bps, |s| s.received_bytes))
        .over(Period::RunOrWindow)
        .reported(&["throughput.total", "throughput.up", "throughput.down"]),
    flow("sent", Dimension::Packets, "data packets sent, including retransmissions", |a| {
        a.flow_count(|f| f.sent, |s| s.sent)
    })
    .over(Period::RunOrWindow)
    .reported(&["sent"]),
    flow(
        "packet_loss",
        Dimension::Number,
        "share of a flow's packets that entered the network and did not arrive",
        |a| packet_loss(a.flows()).ok_or_else(|| a.undefined("no packet entered the network")),
    )
    .share(),
    flow("delay", Dimension::Time, "one-way delay of data packets", |a| a.durations(a.flows().map(|f| &f.delay)))
        .aspects(Aspects::Samples)
        .needs(|m, s| s.histograms |= m.is_of_distribution())
        .reported(&["delay.mean", "delay.p50", "delay.p95", "delay.p99"]),
    flow(
        "jain",
        Dimension::Number,
        "Jain's index of the goodputs of the greedy flows (traffic `bulk` or `sessions`), of all flows if none is \
            greedy. `jain.all`, `jain.NAME`: also of flows with a rate of their own. `jain.short`: the mean over \
            windows of one second",
        jain,
    )
    .over(Period::RunOrWindow)
    .aspects(Aspects::Optional(&["short"]))
    .selected(Selection::Together)
    .example("jain.up")
    .index()
    .needs(|m, s| s.every_second |= m.aspect == Aspect::Word("short"))
    .reported(&["jain", "jain.up", "jain.down", "jain.short"]),
    flow("completed", Dimension::Number, "completed transfers", |a| {
        Ok(a.flows().map(|f| f.completions_s.len() as f64).sum())
    })
    .reported(&["completed"]),
    flow("unfinished", Dimension::Number, "transfers that had begun and were not complete when the run ended", |a| {
        Ok(a.flows().map(|f| f.unfinished as f64).sum())
    }),
    flow(
        "fct",
        Dimension::Time,
        "flow completion time of completed transfers; `unfinished` counts the others",
        completion_time,
    )
    .aspects(Aspects::Samples)
    .reported(&["fct.mean", "fct.p95"]),
];

pub(super) const fn flow(
    name: &'static str,
    unit: Dimension,
    doc: &'static str,
    read: fn(&Asked<'_>) -> Result<f64, Unmeasured>,
) -> MetricEntry {
    MetricEntry::new(name, unit, &FLOWS, doc, read)
}

/// The mean over time of what each member, a flow or a queue, keeps; of several members the mean.
pub(super) fn kept(a: &Asked<'_>, what: Kept) -> Result<f64, Unmeasured> {
    let (m, run, range) = (a.metric, a.run, a.series()?);
    let series = &run.detail.series;
    let name = |i: usize| match what {
        Kept::Probability => run.queues.get(i).map_or("", |q| &q.name),
        Kept::Alpha | Kept::Score => run.flows.get(i).map_or("", |f| &f.name),
    };
    let of = |i: &usize| {
        let kept = series.kept.iter().find(|k| k.what == what && k.of == *i).ok_or_else(|| {
            Unmeasured::wrong(Refusal::new(
                format!("`{m}`: `{}` keeps no {}", name(*i), what.name()),
                match what {
                    Kept::Alpha => "DCTCP and Prague keep one",
                    Kept::Score => "write fallback = \"detect\" or \"act\" in its tcp.cc, of kind prague",
                    Kept::Probability => "dualpi2 and pie have one",
                },
            ))
        })?;
        range.mean(&series.time_s, |k| kept.values.get(k).copied()).ok_or_else(|| a.unsampled())
    };
    let all = a.members.iter().map(of).collect::<Result<Vec<f64>, _>>()?;
    stats::mean(&all).ok_or_else(|| a.undefined("there is no such flow or queue"))
}

fn is_direction(name: &str) -> bool {
    FLOWS.groups.contains(&name)
}

fn completion_time(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let all: Vec<f64> = a.flows().flat_map(|f| f.completions_s.iter().copied()).collect();
    let value = match a.metric.aspect {
        Aspect::Percentile(p, _) => stats::quantile(&all, f64::from(p) / 100.0),
        Aspect::Trimmed(p, _) => stats::trimmed_mean(&all, f64::from(p) / 100.0),
        _ => stats::mean(&all),
    };
    value.ok_or_else(|| {
        let mut flows = a.flows();
        match (flows.next(), flows.next()) {
            (Some(only), None) => a.undefined(format!("{} completed no transfer", only.name)),
            _ => a.undefined("no transfer was completed"),
        }
    })
}

/// Jain's index over the run, over a window, or as the mean over windows of one second. Flows with a rate of their own
/// count only if they are named, or if no flow is greedy.
fn jain(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let named = match &a.metric.scope {
        Scope::All => false,
        Scope::Together(name) | Scope::Each(name) => matches!(name.as_str(), "all" | "total") || !is_direction(name),
    };
    let members = if named { a.members.to_vec() } else { a.run.competing(a.members) };
    let a = &Asked { members: &members, ..*a };
    let nothing = || a.undefined("there is no such flow");
    let over = |range: SampleRange| {
        let bytes = a.grown(range, |s| s.delivered_bytes).collect::<Result<Vec<_>, Unmeasured>>()?;
        stats::jain(&bytes).ok_or_else(nothing)
    };
    if a.metric.aspect == Aspect::Word("short") {
        let indices = seconds(a.run).into_iter().map(over).collect::<Result<Vec<_>, _>>()?;
        return stats::mean(&indices).ok_or_else(|| a.undefined("the series was not sampled at every second"));
    }
    match a.window()? {
        Some(range) => over(range),
        None => stats::jain(&a.flows().map(|f| f.goodput_bps).collect::<Vec<_>>()).ok_or_else(nothing),
    }
}
