//! Queue disciplines: what waits at a transmitter, and in which order it leaves.

use crate::Cx;
use crate::packet::Packet;
use crate::registry::Args;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Makes a discipline from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args) -> Result<Box<dyn Qdisc>, String>;

crate::registry!(Build; fifo);

/// One queue at one transmitter.
///
/// Every packet offered either waits, or is handed to the [`Sink`] with the reason; nothing vanishes. A discipline never reorders or
/// duplicates the packets of a flow unless its paper says so.
pub trait Qdisc: Debug + Send {
    /// Takes `p`, or drops it (or others) into `sink`. Its `queued` stamp is already `cx.now`.
    fn enqueue(&mut self, cx: &mut Cx, p: Packet, sink: &mut Sink);
    /// The packet to send next, or `None` when nothing waits. May drop others into `sink`.
    fn dequeue(&mut self, cx: &mut Cx, sink: &mut Sink) -> Option<Packet>;
    /// What waits.
    fn backlog(&self) -> Backlog;
    /// Whether a packet that finds nothing waiting and the transmitter free may go to it without enqueue and dequeue (Linux: `TCQ_F_CAN_BYPASS`).
    /// Only for a discipline that would take the packet, give it back at once and be as before.
    fn can_bypass(&self) -> bool {
        false
    }
}

/// How much waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP packets.
    pub bytes: u64,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Drop {
    /// The queue was full.
    Full,
}

/// Where a discipline puts the packets it drops. Kept by the caller and used again, so that a drop allocates nothing.
#[derive(Debug, Default)]
pub struct Sink {
    /// Dropped packets with the reason, in order.
    pub dropped: Vec<(Packet, Drop)>,
}
