//! The metrics' names: what each measures, of what, and over which time.

use crate::expression::Dimension;

/// One metric by name.
#[derive(Debug, PartialEq)]
pub struct Word {
    /// Its name in expressions.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// Which.
    pub what: What,
    /// What it is a property of.
    pub subject: Subject,
    /// What it measures.
    pub unit: Dimension,
    /// Over which time.
    pub extent: Extent,
    /// Whether it is made of samples: `.mean` (the default) and `.p01` to `.p99` can be asked for.
    pub percentiles: bool,
}

/// What a metric is a property of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Flows, selected by direction, group or name.
    Flows,
    /// Queues, selected by name: `ap`, a station's, a link's.
    Queues,
    /// Stations of the cell, selected by name; `ap` is one.
    Stations,
    /// The cell as a whole: no selection.
    Air,
}

/// Over which time a metric can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The measured interval only.
    Run,
    /// The measured interval, or a window.
    Window,
    /// A window only.
    WindowOnly,
    /// The samples of the time series, all or those of a window.
    Path,
}

/// Which metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each is explained in `WORDS`.
pub enum What {
    Goodput,
    Throughput,
    Sent,
    Retransmitted,
    Timeouts,
    Losses,
    TakenFor,
    Accuracy,
    Rtt,
    Delay,
    Jain,
    Completed,
    Fct,
    Cwnd,
    Ssthresh,
    Srtt,
    Estimate,
    Acked,
    Stall,
    QueueLength,
    QueueDelay,
    Enqueued,
    Drops,
    Marked,
    Filtered,
    Made,
    Lost,
    Loss,
    Airtime,
    Successes,
    Interarrival,
    Fingerprint,
    Frames,
    Collisions,
    CollisionProbability,
    RetryDrops,
    Rivals,
    Wait,
    EffectiveWindow,
    Busy,
    Ledger,
}

/// Every metric.
pub const WORDS: &[Word] = &[
    flow(
        "goodput",
        What::Goodput,
        Dimension::Rate,
        Extent::Window,
        "payload delivered in order, each byte once, per second",
    ),
    flow(
        "throughput",
        What::Throughput,
        Dimension::Rate,
        Extent::Window,
        "IP bytes that arrived per second, duplicates included",
    ),
    flow("sent", What::Sent, Dimension::Packets, Extent::Run, "data packets sent, retransmissions included"),
    flow("retransmitted", What::Retransmitted, Dimension::Packets, Extent::Window, "data packets sent again"),
    flow("timeouts", What::Timeouts, Dimension::Number, Extent::Run, "expiries of the retransmission timer"),
    flow(
        "losses",
        What::Losses,
        Dimension::Number,
        Extent::Run,
        "losses found without a timeout; `losses.congestion`, `.error`, `.nothing` by what they were (a queue's drop, \
            an error of the medium, no loss at all)",
    ),
    flow(
        "taken_for",
        What::TakenFor,
        Dimension::Number,
        Extent::Run,
        "losses that controllers took for `taken_for.congestion`, `taken_for.error`",
    ),
    flow(
        "accuracy",
        What::Accuracy,
        Dimension::Number,
        Extent::Run,
        "share of the losses of a cause that controllers took for it: `accuracy.congestion` (A_c), `accuracy.error` \
            (A_w)",
    ),
    samples(flow("rtt", What::Rtt, Dimension::Time, Extent::Run, "round-trip time as the sender measures it")),
    samples(flow("delay", What::Delay, Dimension::Time, Extent::Run, "one-way delay of data packets")),
    flow(
        "jain",
        What::Jain,
        Dimension::Number,
        Extent::Window,
        "Jain's index of the flows' goodputs; `jain.short`: the mean of it over windows of one second",
    ),
    flow("completed", What::Completed, Dimension::Number, Extent::Run, "transfers that were completed"),
    samples(flow(
        "fct",
        What::Fct,
        Dimension::Time,
        Extent::Run,
        "flow completion time of the transfers that were completed",
    )),
    flow("cwnd", What::Cwnd, Dimension::Packets, Extent::Path, "congestion window, mean over time"),
    flow("ssthresh", What::Ssthresh, Dimension::Packets, Extent::Path, "slow-start threshold, mean over time"),
    flow("srtt", What::Srtt, Dimension::Time, Extent::Path, "smoothed round-trip time, mean over time"),
    flow(
        "estimate",
        What::Estimate,
        Dimension::Rate,
        Extent::Path,
        "what an estimator of the flow's `estimate` says, by its name: `estimate.are`, mean over time; `.min`, \
            `.max`, `.std` of its samples behind it",
    ),
    flow(
        "acked",
        What::Acked,
        Dimension::Bytes,
        Extent::WindowOnly,
        "bytes acknowledged in the window: progress of `snd_una`",
    ),
    flow("snd_una", What::Acked, Dimension::Bytes, Extent::WindowOnly, "another name of `acked`"),
    flow(
        "stall",
        What::Stall,
        Dimension::Time,
        Extent::Path,
        "longest time in which `snd_una` stood still, to the step of the series",
    ),
    queue("queue.length", What::QueueLength, Dimension::Packets, Extent::Window, "packets waiting, mean over time"),
    samples(queue("queue.delay", What::QueueDelay, Dimension::Time, Extent::Run, "time a packet waits")),
    queue("enqueued", What::Enqueued, Dimension::Packets, Extent::Window, "packets offered"),
    queue(
        "drops",
        What::Drops,
        Dimension::Packets,
        Extent::Run,
        "packets dropped; `drops.data`, `.ack`, `.syn`, `.datagram` for one kind",
    ),
    queue("marked", What::Marked, Dimension::Packets, Extent::Window, "packets marked"),
    queue(
        "filtered",
        What::Filtered,
        Dimension::Packets,
        Extent::Run,
        "acknowledgments taken out because a later one says the same",
    ),
    queue("made", What::Made, Dimension::Packets, Extent::Run, "packets made by the discipline itself"),
    queue("lost", What::Lost, Dimension::Packets, Extent::Run, "packets lost by the link after the queue"),
    queue("loss", What::Loss, Dimension::Number, Extent::Run, "share of the packets offered that were dropped"),
    Word {
        subject: Subject::Stations,
        ..queue(
            "airtime",
            What::Airtime,
            Dimension::Number,
            Extent::Run,
            "share of time that the station's own exchanges took",
        )
    },
    Word {
        subject: Subject::Stations,
        ..queue(
            "successes",
            What::Successes,
            Dimension::Number,
            Extent::Window,
            "data frames acknowledged, by who sent them: `[up]` the stations, `[all]` the access point too; `[down]`: \
                what it sent, by who received; `jain(successes[up], 100)`: Jain's index over windows of 100 of them, \
                averaged over all positions",
        )
    },
    Word {
        subject: Subject::Stations,
        ..queue(
            "interarrival",
            What::Interarrival,
            Dimension::Time,
            Extent::Run,
            "time from a data frame of a station to its next one, where nobody else sends between them and neither is \
                repeated: the mean; `.first`, `.last`: the first and the last peak of its histogram, \
                `interarrival.first[sta1]`",
        )
    },
    Word {
        subject: Subject::Stations,
        ..queue(
            "fingerprint",
            What::Fingerprint,
            Dimension::Number,
            Extent::Run,
            "what the histogram of a station's `interarrival` says of its backoff: `.conformant` (1 or 0), `.slots` \
                that are drawn, `.peaks`, and how likely by chance it is as uneven (`.even`) or dependent (`.lags`, \
                `.pairs`): `fingerprint.conformant[sta1]`",
        )
    },
    air("frames", What::Frames, "data frames sent, retries included"),
    air("collisions", What::Collisions, "events in which two or more stations sent at once"),
    air("collision_probability", What::CollisionProbability, "share of attempts that met another"),
    air("retry_drops", What::RetryDrops, "packets given up after the last retry"),
    air(
        "rivals",
        What::Rivals,
        "stations with a frame while the access point has one, at the starts of transmissions, mean",
    ),
    air(
        "wait",
        What::Wait,
        "idle slots before a transmission, mean: `wait.success` where one station sent (W_T), `wait.collision` where \
            several did (W_C)",
    ),
    air(
        "effective_window",
        What::EffectiveWindow,
        "slots of a table in which as many stations, drawing evenly in every cycle, collide as often (in a run of \
            [contention])",
    ),
    air("busy", What::Busy, "share of time with at least one transmission on the air"),
    air("ledger", What::Ledger, "an account's share of time: `ledger.idle` and so on"),
];

const fn flow(name: &'static str, what: What, unit: Dimension, extent: Extent, doc: &'static str) -> Word {
    Word { name, doc, what, subject: Subject::Flows, unit, extent, percentiles: false }
}

const fn queue(name: &'static str, what: What, unit: Dimension, extent: Extent, doc: &'static str) -> Word {
    Word { name, doc, what, subject: Subject::Queues, unit, extent, percentiles: false }
}

const fn air(name: &'static str, what: What, doc: &'static str) -> Word {
    Word { name, doc, what, subject: Subject::Air, unit: Dimension::Number, extent: Extent::Run, percentiles: false }
}

const fn samples(word: Word) -> Word {
    Word { percentiles: true, ..word }
}
