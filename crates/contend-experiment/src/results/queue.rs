//! Queues and transmitters of a run.

use super::flow::Percentiles;
use contend_core::packet::PacketKind;
use contend_sim::stats::Durations;
use serde::{Deserialize, Serialize};

/// One queue of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Queue {
    /// Name: `ap`, or the name of a station or a link.
    pub name: String,
    /// Packets offered.
    pub offered: u64,
    /// Packets that the transmitter took; of control blocks, packets that passed them.
    pub taken: u64,
    /// Packets that wait.
    pub waiting: Held,
    /// Packets dropped.
    pub drops: Drops,
    /// Packets marked.
    pub marked: u64,
    /// Packets marked that had ECT(1), those of L4S.
    #[serde(default)]
    pub marked_l4s: u64,
    /// Packets marked that had ECT(0), those of classic senders.
    #[serde(default)]
    pub marked_classic: u64,
    /// Acknowledgments removed because a later one says the same; not counted as drops.
    pub filtered: u64,
    /// Packets that the discipline created.
    pub made: u64,
    /// Packets lost on the link after the queue.
    pub lost: u64,
    /// How many more packets or frames the channel behind the queue lost than its probabilities say; of a station, in
    /// both directions.
    #[serde(default)]
    pub excess_losses: f64,
    /// How long the queue was, in packets and in time.
    pub queue: Backlog,
    /// Distribution of the time in the queue.
    #[serde(skip)]
    pub delay: Durations,
}

/// Packets that a queue dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drops {
    /// Packets of all kinds.
    pub total: u64,
    /// TCP data.
    pub data: u64,
    /// Acknowledgments.
    pub ack: u64,
    /// Handshakes.
    pub syn: u64,
    /// Datagrams.
    pub datagram: u64,
}

impl Drops {
    /// From the number of each kind, in the order of [`PacketKind::ALL`].
    pub fn from_kinds(by_kind: [u64; PacketKind::ALL.len()]) -> Drops {
        let n = |kind: PacketKind| by_kind[kind as usize];
        Drops {
            total: by_kind.iter().sum(),
            data: n(PacketKind::Data),
            ack: n(PacketKind::Ack),
            syn: n(PacketKind::Syn),
            datagram: n(PacketKind::Datagram),
        }
    }

    /// The number of one kind.
    pub fn of(&self, kind: PacketKind) -> u64 {
        match kind {
            PacketKind::Data => self.data,
            PacketKind::Ack => self.ack,
            PacketKind::Syn => self.syn,
            PacketKind::Datagram => self.datagram,
        }
    }
}

/// How long a queue was.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Backlog {
    /// Time average of the number of waiting packets.
    pub length: f64,
    /// Time in the queue of the packets that left it.
    #[serde(rename = "delay")]
    pub delay_s: Percentiles,
}

/// How many packets are somewhere when the measured interval starts and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// At the end of the warm-up.
    pub start: u64,
    /// At the end of the run.
    pub end: u64,
}

/// A transmitter of a run: a station with all its queues, or a wire.
#[derive(Debug, Serialize, Deserialize)]
pub struct Transmitter {
    /// `ap`, a station's name, or a wire's.
    pub name: String,
    /// Packets taken from its queues, less those given back to routing; below 0 if more were given back that it had at
    /// the end of the warm-up.
    pub taken: i64,
    /// Packets that reached the receiver, each counted once.
    pub delivered: u64,
    /// Packets that did not reach the receiver: corrupted on a wire, or given up after the last retry.
    pub lost: u64,
    /// Packets in service, being sent, or propagating.
    pub carrying: Held,
    /// Share of time in which a wire of constant rate sent; `None` for stations and other wires.
    #[serde(skip)]
    pub busy: Option<f64>,
}
