//! Queue disciplines: what waits at a transmitter, and in which order it leaves.

use crate::packet::{Ecn, Packet};
use crate::registry::{Amount, Args};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;
use rand::RngExt as _;

/// Makes a discipline from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args, &Site) -> Result<Box<dyn Qdisc>, String>;

crate::registry!(Build; fifo, ack_filter, airtime, avq, codel, cwaq, cwpq, directions, elf, fq_codel, pi, pie, red, rem, vcrr, vfq, vqr, vrc, wf2q);

pub mod flow_queues;
pub mod lane;
mod marking;
#[cfg(test)]
mod testbench;
pub mod turns;
pub mod virtual_time;
pub mod weighted;

/// One queue at one transmitter.
///
/// Every packet offered either waits, or is handed to the [`Sink`] with the reason; nothing vanishes. A discipline
/// never reorders or duplicates the packets of a flow unless its paper says so. It may change a packet's ECN bits
/// ([`Sink::mark`]).
pub trait Qdisc: Debug + Send {
    /// Takes `p`, or drops it (or others) into `sink`. Its `queued` stamp is already `cx.now`.
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink);
    /// The packet to send next, or `None` when nothing waits (or, for a discipline with a [`Qdisc::next_deadline`],
    /// nothing may go yet). May drop others into `sink`.
    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet>;
    /// What waits.
    fn backlog(&self) -> Backlog;
    /// The most that may wait in all, when there is one bound in packets or one in bytes. Parts of it may have bounds
    /// of their own.
    fn limit(&self) -> Option<Amount>;
    /// Whether a packet that finds nothing waiting and the transmitter free may go to it without enqueue and dequeue
    /// (Linux: `TCQ_F_CAN_BYPASS`). Only for a discipline that would take the packet, give it back at once and be as
    /// before.
    fn can_bypass(&self) -> bool {
        false
    }
    /// When to ask again a discipline that gave `None` while packets wait, because its rate allows none yet.
    fn next_deadline(&self) -> Time {
        Time::NEVER
    }
    /// An attempt to or from a neighbour has ended. Only the access point's own discipline hears of it, and only when
    /// it [wants to](Qdisc::hears_air).
    fn on_air(&mut self, _report: &AirReport) {}
    /// Whether [`Qdisc::on_air`] is to be called.
    fn hears_air(&self) -> bool {
        false
    }
}

/// What a discipline may ask about where it is put, when it is made.
pub struct Site<'a> {
    /// The number of the neighbour with this name ([`Link::neighbour`]).
    pub neighbour: &'a dyn Fn(&str) -> Option<u32>,
}

impl Site<'_> {
    /// A place without named neighbours: a wire, or a station's queue.
    pub const ALONE: Site<'static> = Site { neighbour: &|_| None };
}

/// What a discipline may know of the transmitter it feeds.
pub trait Link {
    /// The neighbour that `p` goes to: a station of the cell from 1 on; 0 where there is only one (on a wire, from a
    /// station).
    fn neighbour(&self, p: &Packet) -> u32;
    /// How long one exchange of an IP packet of `bytes` with `neighbour`, in either direction, takes of the medium:
    /// inter-frame space, frame, answer, without backoff, collisions and retries. On a wire its sending time.
    fn exchange(&self, neighbour: u32, bytes: u32) -> Span;
    /// Mean time that backoff and collisions take of the medium for every success while so many saturated transmitters
    /// contend, by the cell's own model; zero on a wire.
    fn contention(&self, contenders: u32) -> Span;
    /// A backoff slot; zero on a wire.
    fn slot(&self) -> Span;
}

/// What an attempt took of the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirReport {
    /// When it ended.
    pub now: Time,
    /// The station, from 1.
    pub station: u32,
    /// Whether the station sent, not the access point.
    pub up: bool,
    /// From the first bit to the end of the acknowledgment (or of waiting for it), inter-frame space and backoff not
    /// counted.
    pub airtime: Span,
    /// Whether it was acknowledged.
    pub success: bool,
    /// IP bytes of the packet.
    pub bytes: u32,
    /// Packets that wait at the access point.
    pub waiting: u64,
}

/// How much waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP packets.
    pub bytes: u64,
}

impl Backlog {
    /// Counts `p` in.
    pub fn add(&mut self, p: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(p.size);
    }
    /// Counts `p` out.
    pub fn remove(&mut self, p: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(p.size);
    }
    /// With the part of it that was `before` now being `after`.
    pub fn changed(self, before: Backlog, after: Backlog) -> Backlog {
        Backlog {
            packets: self.packets - before.packets + after.packets,
            bytes: self.bytes - before.bytes + after.bytes,
        }
    }
    /// Whether `p` may wait too when `limit` may wait.
    pub fn has_room(&self, limit: Amount, p: &Packet) -> bool {
        match limit {
            Amount::Packets(n) => self.packets < n,
            Amount::Bytes(n) => self.bytes + u64::from(p.size) <= n,
        }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// To tell the sender in time (RED, CoDel, PIE, ...).
    Early,
    /// An acknowledgment that a later one says too: not a loss.
    Filtered,
}

/// Where a discipline puts what it does to packets besides queueing them. Kept by the caller and used again, so that a
/// drop allocates nothing.
#[derive(Debug, Default)]
pub struct Sink {
    /// Dropped packets with the reason, in order.
    pub dropped: Vec<(Packet, DropReason)>,
    /// Packets marked since the caller looked last.
    pub marked: u64,
    /// Packets made (one split in two is one made) since the caller looked last.
    pub made: u64,
}

impl Sink {
    /// Drops `p`.
    pub fn drop(&mut self, p: Packet, why: DropReason) {
        self.dropped.push((p, why));
    }
    /// Marks `p` as having met congestion when its transport understands ECN; returns whether it does.
    pub fn mark(&mut self, p: &mut Packet) -> bool {
        if p.ecn() == Ecn::NotEct {
            return false;
        }
        self.marked += u64::from(p.ecn() != Ecn::Ce);
        p.set_ecn(Ecn::Ce);
        true
    }
    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marked == 0 && self.made == 0
    }
}

/// Whether something of probability `p` happens; draws only when that is open.
fn happens(p: f64, rng: &mut Rng) -> bool {
    p >= 1.0 || (p > 0.0 && rng.random::<f64>() < p)
}

/// A parameter that makes sense only in bytes.
fn bytes(args: &Args, name: &str) -> Result<u64, String> {
    match args.amount(name) {
        Amount::Bytes(n) => Ok(n),
        Amount::Packets(n) => Err(format!("{name} = \"{n}p\" counts packets; write it in bytes, like \"1500B\"")),
    }
}
