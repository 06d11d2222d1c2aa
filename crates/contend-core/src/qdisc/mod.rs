//! Queue disciplines: which packets wait at a transmitter, and in which order they leave.

use crate::Refusal;
use crate::observe::{HeardFrame, Local};
use crate::packet::{Ecn, Explicit, Packet};
use crate::registry::{Amount, Args, Choice, Fact, Need, Value};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;
use rand::RngExt as _;

/// Builds a discipline from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args, &Site) -> Result<Box<dyn Qdisc>, Refusal>;

crate::registry!(
    Build; fifo [Fact::DropTail], ack_filter, airtime, avq [Fact::Gives(Need::Marks)],
    cake [Fact::Gives(Need::Marks)], codel, cwaq [Fact::Gives(Need::Marks)], cwpq [Fact::Gives(Need::Marks)],
    directions, dualpi2 [Fact::Gives(Need::Marks)], elf, fq_codel, pi [Fact::Gives(Need::Marks)], pie,
    rcp [Fact::Gives(Need::Rcp)], rcp_winf [Fact::Gives(Need::Rcp)], red, rem [Fact::Gives(Need::Marks)],
    vcrr [Fact::Gives(Need::Marks)], vfq, vqr [Fact::Gives(Need::Marks)], vrc [Fact::Gives(Need::Marks)],
    wcp [Fact::Gives(Need::Wcp)], wf2q, xcp [Fact::Gives(Need::Xcp)], xcp_b [Fact::Gives(Need::Xcp)],
    xcp_winf [Fact::Gives(Need::Xcp)],
);

/// The key of a queue that is no parameter of its discipline: with `true`, acknowledgments pass [`ack_filter`] before
/// it.
pub const ACK_FILTER: &str = "ack_filter";

/// What [`ACK_FILTER`] does.
pub const ACK_FILTER_DOC: &str = "true if a new acknowledgment replaces the waiting one of its flow before the \
    discipline sees it (RFC 3449 §5.2.1)";

/// The queue of a file: its discipline, behind the stages that stand in front of it.
///
/// # Errors
/// If the discipline refuses a parameter.
pub fn queue(choice: &Choice<Build>, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let discipline = (choice.entry.build)(&choice.args, site)?;
    Ok(if filters_acks(choice) { Box::new(ack_filter::AckFilter::new(discipline)) } else { discipline })
}

/// True if acknowledgments are filtered before the discipline.
pub fn filters_acks(choice: &Choice<Build>) -> bool {
    matches!(choice.args.get(ACK_FILTER), Some(Value::Bool(true)))
}

mod capacity;
pub mod flow_queues;
pub mod lane;
mod marking;
pub mod shallow;
#[cfg(test)]
mod testbench;
pub mod turns;
pub mod virtual_time;
pub mod weighted;

pub use self::shallow::BurstMarks;

/// One queue at one transmitter.
///
/// Every offered packet either waits or goes to the [`Sink`] with the reason. No packet disappears. A discipline never
/// reorders or duplicates the packets of a flow unless its paper says so. A discipline may change a packet's ECN bits
/// ([`Sink::mark`]).
pub trait Qdisc: Debug + Send {
    /// Queues `p`, or drops `p` (or others) into `sink`. The `queued` stamp of `p` is already `cx.now`.
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink);
    /// The next packet to send, or `None` if no packet waits. A discipline with a [`Qdisc::next_deadline`] also returns
    /// `None` if no packet may leave yet. Other packets may be dropped into `sink`.
    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet>;
    /// The packets that wait.
    fn backlog(&self) -> Backlog;
    /// The probability of its law now (`dualpi2`: p′; `pie`: drop_prob_); `None` without such a law. For time series.
    fn probability(&self) -> Option<f64> {
        None
    }
    /// True if a packet may skip enqueue and dequeue when no packet waits and the transmitter is free (Linux:
    /// `TCQ_F_CAN_BYPASS`). Only for a discipline that would accept the packet, return it at once, and be in the same
    /// state as before.
    fn can_bypass(&self) -> bool {
        false
    }
    /// When to call `dequeue` again after it returned `None` although packets wait, because the rate of the discipline
    /// permits no packet yet.
    fn next_deadline(&self) -> Time {
        Time::NEVER
    }
    /// Called when an attempt to or from a neighbour has ended. Only the discipline of the access point receives this
    /// call, and only if [`Qdisc::hears_air`] is true.
    fn on_air(&mut self, _report: &AirReport) {}
    /// True if the discipline needs [`Qdisc::on_air`].
    fn hears_air(&self) -> bool {
        false
    }
    /// What the discipline is told about the nodes around it; nothing outside a field.
    fn hearing(&self) -> Hearing {
        Hearing::Nothing
    }
    /// The node of the transmitter received or sensed a frame, which has just ended. Called only if
    /// [`Qdisc::hearing`] is not `Nothing`.
    fn heard(&mut self, _frame: &HeardFrame<'_>) {}
    /// The notice that the nodes around must get at once, if it has changed since the last call. Called only if
    /// [`Qdisc::hearing`] is `AtOnce`.
    fn notice(&mut self, _now: Time) -> Option<Explicit> {
        None
    }
    /// The node `from`, whose frames this node can decode, has a new [`Qdisc::notice`].
    fn told(&mut self, _from: u32, _notice: &Explicit) {}
    /// What the transmitter marks when it makes an aggregate. From this call on the discipline leaves these marks to
    /// it. Only a transmitter of aggregates calls it.
    fn marks_below(&mut self) -> Option<BurstMarks> {
        None
    }
    /// The discipline as a scheduler of receivers; `None` if it orders packets regardless of their receivers. A sender
    /// of aggregates asks a scheduler for all packets of an aggregate at once, and cannot bypass it.
    fn by_receiver(&mut self) -> Option<&mut dyn ByReceiver> {
        None
    }
}

/// A discipline that schedules receivers. The receivers have the numbers of [`Link::neighbour`].
pub trait ByReceiver {
    /// Gives a turn to the next receiver that can use one: hands its packets to `below` as long as there is room.
    /// Returns the receiver; `None` if no receiver can use a turn. A receiver cannot use a turn if it has packets only
    /// here, and `below` has no room for them.
    fn serve(&mut self, cx: &mut Cx, link: &dyn Link, below: &mut dyn Below, sink: &mut Sink) -> Option<u32>;
    /// The dequeued packet `p` waits below to be sent or retransmitted. Its receiver needs a turn even if no packet for
    /// it waits here.
    fn hold(&mut self, link: &dyn Link, p: &Packet);
    /// What the last turn of `receiver` made is about to be sent: hands further packets for this receiver to `below` as
    /// long as there is room. They belong to that turn.
    fn join(&mut self, cx: &mut Cx, link: &dyn Link, receiver: u32, below: &mut dyn Below, sink: &mut Sink);
}

/// What a sender of aggregates holds below its discipline.
pub trait Below {
    /// True if something for `receiver` waits below and may be sent now.
    fn holds(&self, receiver: u32) -> bool;
    /// True if another packet to `receiver` may be dequeued.
    fn has_room(&self, receiver: u32) -> bool;
    /// Takes a dequeued packet, and counts what `sink` has collected so far.
    fn put(&mut self, p: Packet, sink: &mut Sink);
}

/// True if `receiver`, for which packets wait in the discipline or not, can use a turn.
fn can_serve(below: &dyn Below, receiver: u32, waits: bool) -> bool {
    below.holds(receiver) || (waits && below.has_room(receiver))
}

/// What a discipline is told about the nodes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// Nothing.
    Nothing,
    /// The contents of their frames.
    Frames,
    /// The contents of their frames, and their notices at once. An oracle for comparison: no real node could do this.
    AtOnce,
}

/// What a discipline may ask about its place when it is built.
pub struct Site<'a> {
    /// The number of the neighbour with this name ([`Link::neighbour`]).
    pub neighbour: &'a dyn Fn(&str) -> Option<u32>,
    /// A number of the network, part of the key of hashes: without it, the same seeds would collide in every network.
    pub network: u64,
    /// The ends of flows, by address. All disciplines of a network share them.
    pub ends: Option<&'a Arc<[End]>>,
}

impl Site<'_> {
    /// A place without named neighbours: a wire, or the queue of a station.
    pub const ALONE: Site<'static> = Site { neighbour: &|_| None, network: 0, ends: None };
    /// A place at which every name is a known neighbour, for a discipline that is only tried.
    pub const ANYBODY: Site<'static> = Site { neighbour: &|_| Some(1), ..Site::ALONE };
}

/// What a discipline may know of the end of a flow: in a real network, its IP address and the mark of its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The number of its host; the ends of a host have the same.
    pub host: u32,
    /// The Differentiated Services code point of packets to it that have none of their own (RFC 2474).
    pub dscp: u8,
}

/// What a discipline may ask about its transmitter.
pub trait Link {
    /// The neighbour that receives `p`: a station of the cell, from 1 on; in a field, the number of the next hop; 0 if
    /// there is only one neighbour (on a wire, or from a station). For a broadcast it is the number of the transmitter.
    fn neighbour(&self, p: &Packet) -> u32;
    /// How long one exchange of an IP packet of `bytes` with `neighbour`, in either direction, occupies the medium:
    /// inter-frame space, frame and answer, without backoff, collisions and retries. On a wire: the transmission time.
    fn exchange(&self, neighbour: u32, bytes: u32) -> Span;
    /// Mean medium time per success that backoff and collisions take while `contenders` saturated transmitters contend,
    /// by the cell's own model; zero on a wire.
    fn contention(&self, contenders: u32) -> Span;
    /// A backoff slot; zero on a wire.
    fn slot(&self) -> Span;
    /// The estimate of the air at the transmitter's node; `None` without an observer.
    fn local(&self) -> Option<Local> {
        None
    }
    /// Bytes of the IP packets to `neighbour` that have left the queue and that a transmitter of aggregates still
    /// needs.
    fn below(&self, _neighbour: u32) -> u64 {
        0
    }
}

/// Report of one attempt on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirReport {
    /// The end of the attempt.
    pub now: Time,
    /// The station, from 1.
    pub station: u32,
    /// True if the station sent, false if the access point sent.
    pub up: bool,
    /// Time from the first bit to the end of the acknowledgment (or of the wait for it), without inter-frame space and
    /// backoff.
    pub airtime: Span,
    /// True if the attempt was acknowledged.
    pub success: bool,
    /// IP bytes of its packets.
    pub bytes: u32,
    /// Number of packets that wait at the access point.
    pub waiting: u64,
}

/// The amount that waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP packets.
    pub bytes: u64,
}

impl Backlog {
    /// Adds `p`.
    pub fn add(&mut self, p: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(p.size);
    }
    /// Removes `p`.
    pub fn remove(&mut self, p: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(p.size);
    }
    /// True if `p` also fits within `limit`.
    pub fn has_room(&self, limit: Amount, p: &Packet) -> bool {
        match limit {
            Amount::Packets(n) => self.packets < n,
            Amount::Bytes(n) => self.bytes + u64::from(p.size) <= n,
        }
    }
}

impl core::ops::Add for Backlog {
    type Output = Backlog;
    fn add(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl core::ops::Sub for Backlog {
    type Output = Backlog;
    fn sub(self, part: Backlog) -> Backlog {
        Backlog { packets: self.packets - part.packets, bytes: self.bytes - part.bytes }
    }
}

/// The reason for a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// An early signal to the sender (RED, CoDel, PIE, ...).
    Early,
    /// ACK made redundant by a later ACK; not a loss.
    Filtered,
}

/// The output of a discipline besides its queue. The caller keeps the sink and uses it again, so that a drop needs no
/// allocation.
#[derive(Debug, Default)]
pub struct Sink {
    /// Dropped packets with the reason, in order.
    pub dropped: Vec<(Packet, DropReason)>,
    /// Packets marked since the caller last read this count.
    pub marked: u64,
    /// How many of `marked` had ECT(1) before.
    pub marked_l4s: u64,
    /// Packets created since the caller last read this count. Splitting one packet into two creates one.
    pub made: u64,
}

impl Sink {
    /// Drops `p`.
    pub fn drop(&mut self, p: Packet, why: DropReason) {
        self.dropped.push((p, why));
    }
    /// Marks `p` as having met congestion if its transport supports ECN. Returns true if it does.
    pub fn mark(&mut self, p: &mut Packet) -> bool {
        if p.ecn() == Ecn::NotEct {
            return false;
        }
        self.marked += u64::from(p.ecn() != Ecn::Ce);
        self.marked_l4s += u64::from(p.ecn() == Ecn::Ect1);
        p.set_ecn(Ecn::Ce);
        true
    }
    /// True if there is nothing to report.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marked == 0 && self.made == 0
    }
}

/// True with probability `p`. Draws a random number only for 0 < p < 1.
fn happens(p: f64, rng: &mut Rng) -> bool {
    p >= 1.0 || (p > 0.0 && rng.random::<f64>() < p)
}

/// Reads a parameter that is valid only in bytes.
fn bytes(args: &Args, name: &str) -> Result<u64, Refusal> {
    match args.amount(name) {
        Amount::Bytes(n) => Ok(n),
        Amount::Packets(n) => {
            Err(Refusal::new(format!("{name} = \"{n}p\" counts packets"), "write it in bytes, like \"1500B\""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::happens;
    use crate::Rng;
    use rand::{RngExt as _, SeedableRng as _};

    #[test]
    fn only_what_is_uncertain_takes_a_random_number() {
        let after = |p: f64| {
            let mut rng = Rng::seed_from_u64(7);
            (happens(p, &mut rng), rng.random::<u64>())
        };
        let mut rng = Rng::seed_from_u64(7);
        let (first, second) = (rng.random::<u64>(), rng.random::<u64>());
        assert_eq!([after(0.0), after(-1.0), after(1.0), after(2.0)], [false, false, true, true].map(|b| (b, first)));
        assert_eq!(after(0.5).1, second);
    }
}
