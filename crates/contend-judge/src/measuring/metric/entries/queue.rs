//! Metrics of queues.

use super::flow::kept;
use crate::measuring::metric::entry::{Asked, Aspects, MetricEntry, Period, Selection, Subject};
use crate::measuring::metric::{Aspect, Unmeasured};
use contend_core::packet::PacketKind;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::Kept;

/// Queues, selected by name: `ap`, a station, or a link.
pub(in crate::measuring::metric) static QUEUES: Subject = Subject {
    noun: "queue",
    uses: &[("NAME[ap]", "the access point"), ("NAME[QUEUE]", "a station or a link")],
    member: "ap",
    groups: &[],
    names: |run| run.queues.iter().map(|q| q.name.as_str()).collect(),
    group: |_, _| vec![],
    needs_cell: false,
};

pub(super) const METRICS: &[MetricEntry] = &[
    queue("queue.length", Dimension::Packets, "mean number of waiting packets", length)
        .over(Period::RunOrWindow)
        .selected(Selection::Needed)
        .level()
        .needs(|m, s| s.series |= m.window.is_some())
        .reported(&["queue.length[ap]"]),
    queue("queue.delay", Dimension::Time, "waiting time of packets", |a| a.durations(a.queues().map(|q| &q.delay)))
        .aspects(Aspects::Samples)
        .selected(Selection::Needed)
        .needs(|m, s| s.histograms |= m.is_of_distribution())
        .reported(&["queue.delay[ap]", "queue.delay.p99[ap]"]),
    queue(
        "probability",
        Dimension::Number,
        "mean probability of the queue's law over time: p′ of `dualpi2`, drop_prob_ of `pie`",
        |a| kept(a, Kept::Probability),
    )
    .over(Period::Series)
    .level(),
    queue("offered", Dimension::Packets, "packets offered", |a| a.queue_count(|q| q.offered, |s| s.offered))
        .over(Period::RunOrWindow),
    queue(
        "drops",
        Dimension::Packets,
        "packets dropped; `drops.data`, `.ack`, `.syn`, `.datagram` for one kind",
        |a| match a.metric.aspect {
            Aspect::Word(kind) => {
                let of_kind = PacketKind::ALL.into_iter().filter(|k| k.name() == kind);
                Ok(of_kind.flat_map(|k| a.queues().map(move |q| q.drops.of(k))).sum::<u64>() as f64)
            }
            _ => Ok(a.queue_total(|q| q.drops.total)),
        },
    )
    .aspects(Aspects::Optional(&KINDS))
    .reported(&["drops", "drops[ap]"]),
    queue("marked", Dimension::Packets, "packets marked", |a| a.queue_count(|q| q.marked, |s| s.marked))
        .over(Period::RunOrWindow),
    queue("marked_l4s", Dimension::Packets, "packets marked that had ECT(1), those of L4S", |a| {
        Ok(a.queue_total(|q| q.marked_l4s))
    }),
    queue("marked_classic", Dimension::Packets, "packets marked that had ECT(0), those of classic senders", |a| {
        Ok(a.queue_total(|q| q.marked_classic))
    }),
    queue("filtered", Dimension::Packets, "acknowledgments removed because a later one says the same", |a| {
        Ok(a.queue_total(|q| q.filtered))
    }),
    queue("made", Dimension::Packets, "packets created by the discipline", |a| Ok(a.queue_total(|q| q.made))),
    queue("lost", Dimension::Packets, "packets lost by the link after the queue", |a| Ok(a.queue_total(|q| q.lost))),
    queue(
        "excess_losses",
        Dimension::Packets,
        "losses of the channel behind the queue (of a station: its channel, in both directions) beyond what their \
            probabilities say: each packet or MPDU counts as 1 or 0 less its probability. Its mean over many seeds is \
            exactly 0, whatever happens, so it is a control variate (`compare --control`)",
        |a| Ok(a.queues().map(|q| q.excess_losses).sum()),
    ),
    // Without packets the loss is 0.
    queue("loss", Dimension::Number, "share of offered packets that were dropped", |a| {
        Ok(a.queue_total(|q| q.drops.total) / a.queue_total(|q| q.offered).max(1.0))
    })
    .share()
    .reported(&["loss[ap]"]),
];

/// The names of the kinds of packets.
const KINDS: [&str; PacketKind::ALL.len()] = {
    let mut names = [""; PacketKind::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = PacketKind::ALL[i].name();
        i += 1;
    }
    names
};

pub(super) const fn queue(
    name: &'static str,
    unit: Dimension,
    doc: &'static str,
    read: fn(&Asked<'_>) -> Result<f64, Unmeasured>,
) -> MetricEntry {
    MetricEntry::new(name, unit, &QUEUES, doc, read)
}

fn length(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let Some(range) = a.window()? else { return Ok(a.queues().map(|q| q.queue.length).sum()) };
    let mean = |i: &usize| {
        let samples = a.run.detail.series.queues.get(*i).ok_or_else(|| a.unsampled())?;
        range
            .mean(&a.run.detail.series.time_s, |k| samples.packets.get(k).map(|n| *n as f64))
            .ok_or_else(|| a.unsampled())
    };
    a.members.iter().map(mean).sum()
}
