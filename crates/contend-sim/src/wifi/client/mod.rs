//! Kinds of client. A client lies between a station's host and its MAC.

use contend_core::Refusal;
use contend_core::Span;
use contend_core::registry::{Amount, Args};

/// Builds a client from its parameters. The error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args) -> Result<Client, Refusal>;

contend_core::registry!(Build; converter, usb);

/// What lies between a station's host and its MAC, besides the station's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Client {
    /// Nothing. The host learns of the packets that the queue refuses.
    Usb,
    /// An Ethernet cable. The station is the bridge at the far end of the cable.
    Converter(Converter),
}

/// An Ethernet cable with a bridge to the air at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Converter {
    /// Rate of the cable in bits per second, in each direction.
    pub rate: u64,
    /// Maximum backlog of the host's network card.
    pub nic: Amount,
    /// Time that the bridge takes for a packet, in each direction.
    pub latency: Span,
    /// Shares of the bridge's queue at which the network card pauses and continues; `None`: the bridge never pauses the
    /// card.
    pub pause: Option<(f64, f64)>,
}
