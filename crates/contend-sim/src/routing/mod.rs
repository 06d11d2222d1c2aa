//! Routing: which station a packet goes to next, and the messages by which stations find out.
//!
//! A routing agent runs in each station. It is a state machine: a packet, a message, a failure or its deadline comes
//! in, and [`Actions`] go out. It never sees the medium, and it holds a packet only until it knows a route.

use contend_core::Refusal;
use contend_core::registry::{Args, Fact, Param};
use contend_core::{Cx, Packet, Time};
use std::fmt::Debug;
use std::sync::Arc;

mod actions;
pub mod arp;
mod outbox;
pub mod shortest;
mod waiting;

pub use actions::{Action, Actions, Message, RoutingDrop};
pub use shortest::Shortest;

/// Number of a station, from 0 without gaps.
pub type Station = u32;

/// Builds the agent of one station from its parameters. The error names what is wrong and a valid value.
pub type Build = fn(&Args, &Setting) -> Result<Box<dyn Routing>, Refusal>;

contend_core::registry!(Build; r#static [Fact::Constant], dsdv, aodv);

/// What an agent is built from, beside its parameters.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The station that the agent runs in.
    pub me: Station,
    /// Number of stations; a message that names a larger one is malformed.
    pub stations: u32,
    /// Routes with the fewest hops, if no station ever moves.
    pub shortest: Option<Arc<Shortest>>,
}

/// A packet on its way between two stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routed {
    /// The packet. [`Packet::hops`] counts this station too if the packet was received from the air.
    pub packet: Packet,
    /// The station where the packet entered the field.
    pub source: Station,
    /// The station where it leaves the field.
    pub destination: Station,
}

/// Bytes that are no message of the protocol. The agent ignores them; the caller counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A routing agent. After each call the caller carries out `acts` in their order and asks for [`Routing::deadline`].
/// A packet that is given to the agent is sent, dropped or held: it is never lost and never doubled.
pub trait Routing: Debug + Send {
    /// `p` is at this station, which is not its destination, and must go on. It begins here or was received from the
    /// air.
    fn forward(&mut self, cx: &mut Cx, p: &Routed, acts: &mut Actions);
    /// The message `bytes` was received; `neighbour` sent its frame.
    ///
    /// # Errors
    /// When the bytes are malformed. Nothing has changed then.
    fn message(&mut self, cx: &mut Cx, neighbour: Station, bytes: &[u8], acts: &mut Actions) -> Result<(), Malformed>;
    /// The MAC gave up a frame to `next`, or `next` did not answer address resolution. `p` is the packet of the frame,
    /// which the agent has again; `None` if the frame carried a message.
    fn failed(&mut self, cx: &mut Cx, next: Station, p: Option<&Routed>, acts: &mut Actions);
    /// The deadline has come. The first call of a run comes at the first deadline, which draws what start-up needs.
    fn wake(&mut self, cx: &mut Cx, acts: &mut Actions);
    /// When [`Routing::wake`] must be called; [`Time::NEVER`] if not at all.
    fn deadline(&self) -> Time;
    /// Number of packets that the agent holds.
    fn held(&self) -> usize;
    /// The station to which a packet for `destination` would go now.
    fn next_hop(&self, destination: Station) -> Option<Station>;
}

/// The parameter `ip_header` of protocols for which ns-2 adds bytes to each data packet.
const IP_HEADER: Param = Param::amount(
    "ip_header",
    "bytes that the source adds to each data packet; 20B: as ns-2 does, although the packet already has its IP header",
)
.default("0B")
.range(0.0, 100.0);

/// The parameter `ip_header` in bytes.
fn ip_header(args: &Args) -> Result<u32, Refusal> {
    match args.amount("ip_header") {
        contend_core::registry::Amount::Bytes(n) => Ok(n as u32),
        contend_core::registry::Amount::Packets(_) => {
            Err(Refusal::new("ip_header counts bytes", "write ip_header = \"20B\""))
        }
    }
}

/// The admission of a packet by protocols with a TTL: what the source adds to it, and why a packet goes no further.
#[derive(Debug)]
struct Entrance {
    me: Station,
    /// Bytes that the source adds.
    ip_header: u32,
    /// A packet is forwarded fewer times than this.
    ttl: u8,
}

impl Entrance {
    /// The packet as it goes on; `None` if it was dropped.
    fn admit(&self, p: &Routed, acts: &mut Actions) -> Option<Routed> {
        let mut p = *p;
        match p.packet.hops {
            0 if p.source == self.me => p.packet.size += self.ip_header,
            _ if p.source == self.me => {
                acts.drop(p.packet, RoutingDrop::Loop);
                return None;
            }
            hops if hops >= self.ttl => {
                acts.drop(p.packet, RoutingDrop::Ttl);
                return None;
            }
            _ => {}
        }
        Some(p)
    }
}
