//! Kinds of client: what lies between a station's host and its MAC.

use contend_core::Span;
use contend_core::registry::{Amount, Args};

/// Makes one from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args) -> Result<Client, String>;

contend_core::registry!(Build; converter, usb);

/// What lies between a station's host and its MAC, beside the station's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Client {
    /// Nothing, and the host hears of packets that the queue refuses.
    Usb,
    /// An Ethernet cable: the station is a bridge at its far end.
    Converter(Converter),
}

/// An Ethernet cable with a bridge to the air at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Converter {
    /// Rate of the cable in bits per second, each way.
    pub rate: u64,
    /// What may wait in the host's network card.
    pub nic: Amount,
    /// What the bridge takes for a packet, each way.
    pub latency: Span,
    /// Shares of the bridge's queue at which it tells the network card to pause and to go on; `None` when it does not.
    pub pause: Option<(f64, f64)>,
}
