//! Time series of a run.

use super::MapSeries;
use serde::{Deserialize, Serialize};

/// Samples of a run, one at each instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Series {
    /// Instants in seconds.
    pub time_s: Vec<f64>,
    /// One entry for each flow (same order as [`super::Run::flows`]).
    pub flows: Vec<FlowSeries>,
    /// One entry for each queue (same order as [`super::Run::queues`]).
    pub queues: Vec<QueueSeries>,
    /// Number of [`super::Detail::successes`] up to each instant; empty when successes are not kept.
    pub successes: Vec<usize>,
    /// One entry for each flow and each of its estimators.
    pub estimates: Vec<EstimateSeries>,
    /// One entry for each station with observers of the air.
    pub observed: Vec<ObservedStation>,
    /// The data that each station sent and that was sent to it (same order as [`super::Run::stations`]); empty without
    /// a rate control.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<[DataSeries; 2]>,
    /// What controllers and the laws of queues keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptSeries>,
    /// The map, if stations have positions.
    pub map: Option<MapSeries>,
}

/// A number that a controller or the law of a queue keeps, at each instant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptSeries {
    /// What it is.
    pub what: Kept,
    /// Index of the flow or queue that keeps it.
    pub of: usize,
    /// Its values.
    pub values: Vec<f64>,
}

/// What a controller or the law of a queue keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// The smoothed share of marked segments (DCTCP, Prague).
    Alpha,
    /// Prague's score of the queue.
    Score,
    /// The probability of a queue's law (DualPI2, PIE).
    Probability,
}

impl Kept {
    /// All of them.
    pub const ALL: [Kept; 3] = [Kept::Alpha, Kept::Score, Kept::Probability];

    /// The name of its metric and column.
    pub const fn name(self) -> &'static str {
        match self {
            Kept::Alpha => "alpha",
            Kept::Score => "score",
            Kept::Probability => "probability",
        }
    }
}

/// The rate that one estimator reports for one flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EstimateSeries {
    /// Index of the flow in [`super::Run::flows`].
    pub flow: usize,
    /// Name of the estimate in the file, for example `are`.
    pub name: String,
    /// Estimated rate of payload in bits per second, at each instant.
    pub rate_bps: Vec<u64>,
}

/// What the observers of a station report, and what really happened there since the start of the run, at each instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ObservedStation {
    /// Index of the station in [`super::Run::stations`].
    pub station: usize,
    /// Its observers, in the order of the file.
    pub observers: Vec<ObserverSeries>,
    /// Bytes of its own IP packets that were acknowledged.
    pub acked_bytes: Vec<u64>,
    /// The time of its attempts in nanoseconds, from the start of contention to the ACK or to the end of the wait.
    pub contended_ns: Vec<u64>,
    /// The time in nanoseconds in which it neither sent nor sensed a frame.
    pub idle_ns: Vec<u64>,
}

/// What one observer of a station reports, at each instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ObserverSeries {
    /// Name of the observer in the file, for example `rt_winf`.
    pub name: String,
    /// Capacity of the link in bits of IP packets per second; `None` without an estimate.
    pub capacity_bps: Vec<Option<u64>>,
    /// The part of the capacity that is not in use.
    pub available_bps: Vec<Option<u64>>,
}

/// Declares two types: the sample of something at one instant, and columns of such samples.
macro_rules! sampled {
    ($(#[$of_sample:meta])* $sample:ident, $(#[$of_columns:meta])* $columns:ident,
     { $($(#[$of_field:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$of_sample])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $sample {
            $($(#[$of_field])* pub $field: $type,)*
        }

        $(#[$of_columns])*
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        pub struct $columns {
            $($(#[$of_field])* pub $field: Vec<$type>,)*
        }

        impl $columns {
            /// Empty columns with room for `many` samples.
            pub fn with_capacity(many: usize) -> $columns {
                $columns { $($field: Vec::with_capacity(many),)* }
            }
            /// Adds a sample.
            pub fn push(&mut self, sample: $sample) {
                $(self.$field.push(sample.$field);)*
            }
        }

        impl Columns for $columns {
            type Sample = $sample;
            fn get(&self, k: usize) -> Option<$sample> {
                Some($sample { $($field: *self.$field.get(k)?,)* })
            }
        }

        impl FromIterator<$sample> for $columns {
            fn from_iter<I: IntoIterator<Item = $sample>>(samples: I) -> $columns {
                let mut all = $columns::default();
                samples.into_iter().for_each(|s| all.push(s));
                all
            }
        }
    };
}

/// Samples of something, with one column for each number.
pub trait Columns {
    /// All numbers of one instant.
    type Sample;
    /// Sample number `k`, or `None` after the last one.
    fn get(&self, k: usize) -> Option<Self::Sample>;
    /// All samples in the order of time.
    fn iter(&self) -> impl Iterator<Item = Self::Sample> {
        (0..).map_while(|k| self.get(k))
    }
}

sampled! {
    /// One queue at one instant.
    QueueSample,
    /// One queue over time.
    QueueSeries,
    {
        /// Number of waiting packets.
        packets: u64,
        /// Packets offered since the start of the run.
        offered: u64,
        /// Packets marked since the start of the run.
        marked: u64,
        /// Packets dropped since the start of the run.
        dropped: u64,
    }
}

sampled! {
    /// One flow at one instant.
    FlowSample,
    /// One flow over time.
    FlowSeries,
    {
        /// Payload bytes delivered in order since the start of the run.
        delivered_bytes: u64,
        /// IP bytes that arrived since the start of the run.
        received_bytes: u64,
        /// Congestion window in segments.
        snd_cwnd: u32,
        /// Slow-start threshold in segments.
        snd_ssthresh: u32,
        /// Smoothed round-trip time in microseconds.
        srtt_us: u32,
        /// Mean deviation of the round-trip time in microseconds.
        rttvar_us: u32,
        /// Data packets sent since the start of the run, including retransmissions.
        sent: u64,
        /// Data packets retransmitted since the start of the run.
        retrans: u64,
        /// Highest byte acknowledged.
        snd_una_bytes: u64,
    }
}

sampled! {
    /// The MPDUs with data of a station at one instant; each number is a sum since the start of the run.
    DataSample,
    /// The MPDUs with data of a station over time.
    DataSeries,
    {
        /// MPDUs, retransmitted ones included.
        sent: u64,
        /// Those that were acknowledged.
        acked: u64,
        /// The sum of their rates in kb/s.
        kbps: u64,
        /// Those with an MCS.
        with_mcs: u64,
        /// The sum of these MCS.
        mcs: u64,
    }
}

impl DataSample {
    /// The mean rate since the sample `before` in bits per second; `None` if nothing was sent.
    pub fn mean_rate(&self, before: &DataSample) -> Option<f64> {
        let sent = self.sent.saturating_sub(before.sent);
        (sent > 0).then(|| self.kbps.saturating_sub(before.kbps) as f64 * 1e3 / sent as f64)
    }

    /// The mean MCS since the sample `before`; `None` if nothing with an MCS was sent.
    pub fn mean_mcs(&self, before: &DataSample) -> Option<f64> {
        let sent = self.with_mcs.saturating_sub(before.with_mcs);
        (sent > 0).then(|| self.mcs.saturating_sub(before.mcs) as f64 / sent as f64)
    }
}
