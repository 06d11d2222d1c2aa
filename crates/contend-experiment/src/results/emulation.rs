//! What an emulation says of itself.

use super::flow::Percentiles;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How true an emulation is to time, and what it had to refuse.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// Why the run is not faithful; empty if it is.
    pub late: String,
    /// How often the run was made until it was faithful, or not made again.
    #[serde(default)]
    pub attempts: u32,
    /// How late packets left, against the time that the model gives them.
    pub lateness_s: Lateness,
    /// How late packets entered, as far as the emulator can know: because it woke up late, or read others first.
    #[serde(default)]
    pub entry_s: Lateness,
    /// How late the emulator woke up.
    pub wake_s: Lateness,
    /// Time between two looks at the hosts' devices: so long a packet may have waited before it entered.
    pub gap_s: Lateness,
    /// Packets that entered.
    pub entered: u64,
    /// Packets that left.
    pub left: u64,
    /// Packets that were refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Packets whose bytes were overwritten before they left.
    pub overwritten: u64,
    /// Packets that the machine lost beside the simulated network, by place.
    #[serde(default)]
    pub lost: BTreeMap<String, u64>,
    /// Flows, beside those of the file, that hosts had open at the same time.
    pub flows: u64,
    /// What these flows were for.
    #[serde(default)]
    pub opened: Vec<Opened>,
    /// True if the emulator had real-time priority.
    pub real_time: bool,
}

/// All flows that one host opened to one service of another: what programs did beside the flows of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// `tcp`, `udp`, `icmp`, or `protocol` and its number.
    pub protocol: String,
    /// The host that opened them.
    pub from: String,
    /// The other host.
    pub to: String,
    /// The port of the service; 0 if the protocol has none, and for all services beyond the first 256.
    pub port: u16,
    /// Number of flows.
    pub connections: u64,
    /// What `from` sent.
    pub there: Carried,
    /// What `to` sent.
    pub back: Carried,
}

/// What was carried in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// Payload bytes delivered.
    pub bytes: u64,
    /// One-way delay of packets with data, from the end of the warm-up.
    #[serde(rename = "delay")]
    pub delay_s: Percentiles,
}

/// A distribution of lateness in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Median.
    pub p50: f64,
    /// 99 % are at most so late.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}
