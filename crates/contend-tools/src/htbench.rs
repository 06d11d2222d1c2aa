//! An HTTP client that records how the volume of each transfer grows (Starzetz 2006 §6.3.2, `HTBench`).
//!
//! One thread serves all connections; ready sockets are served in a random order in each cycle, so that connections are
//! not in step because of the client. Time 0 of a transfer is when its TCP connection is established.
//!
//! Readings: the document's sample configuration is lost, so the configuration is ours. Requests are HTTP/1.0, one for
//! each connection. The bandwidth is the derivative of the volume.

mod client;
mod http;
mod plan;
mod server;
mod transfer;

pub use client::{Done, Report, run};
pub use plan::{Class, Method, Plan};
pub use server::serve;
pub use transfer::Sample;

use crate::Result;
use contend_core::Refusal;
use nix::sys::socket::{setsockopt, sockopt};
use std::net::{SocketAddr, UdpSocket};

/// Sends the packet for which clients with `wait` wait, to one address or a broadcast address.
///
/// # Errors
/// When the packet cannot be sent.
pub fn start(to: SocketAddr) -> Result<()> {
    let socket = crate::udp::receiver(if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() })?;
    let sent = |socket: &UdpSocket| {
        setsockopt(socket, sockopt::Broadcast, &true)?;
        socket.send_to(b"start", to)
    };
    sent(&socket).map(drop).map_err(|e| {
        Refusal::new(
            format!("no packet can be sent to {to}: {e}"),
            "take the broadcast address of the network: ip address shows it",
        )
    })
}
