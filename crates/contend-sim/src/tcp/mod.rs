//! The transport: the ends of flows, TCP sender and receiver, loss recovery, round-trip estimation, UDP.
//!
//! Sequence numbers are 64-bit byte offsets from 0. With a handshake, the SYN takes number 0. Data flow in one
//! direction. The connection is never closed: a transfer is complete when its last byte is acknowledged.

pub mod accecn;
pub mod app;
pub mod datagram_rate;
pub mod end;
pub mod overhead;
pub mod pacing;
pub mod rate;
mod receive_window;
pub mod receiver;
pub mod recovery;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
pub mod small_queue;
pub mod spec;
pub mod udp;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod duplicates;
#[cfg(test)]
mod random;
#[cfg(test)]
mod timed;
#[cfg(test)]
mod traces;

use self::rtt::RtoSpec;
use self::spec::TcpSpec;
use crate::peer::Peer;
use crate::stats::count;
use crate::trace::Event;
use crate::world::Out;
use contend_core::Refusal;
use contend_core::cc::CaState;
use contend_core::registry::Amount;
use contend_core::{Address, Packet, Span, Time};
use overhead::Overhead;

/// IP and TCP header without options, in bytes (RFC 791 §3.1, RFC 9293 §3.1).
pub const TCP_HEADERS: u32 = 40;
/// IP and UDP header, in bytes (RFC 791 §3.1, RFC 768).
pub const UDP_HEADERS: u32 = 28;
/// The timestamps option, padded to a multiple of four bytes (RFC 7323 appendix A).
pub const TIMESTAMPS: u32 = 12;

/// What an end may use during one call.
#[derive(Debug)]
pub struct Io<'a, 'w> {
    /// The present instant.
    pub now: Time,
    /// Addresses of this end and its peer, and the first hop.
    pub socket: &'a Socket,
    /// The world.
    pub out: &'a mut Out<'w>,
    /// Stage that this end's packets pass before they enter the network; `None` if the stage takes no time.
    pub overhead: Option<&'a mut Overhead>,
    /// Packets that the endpoint handed to the network so far.
    pub entered: &'a mut u64,
}

/// Where one end of a flow is attached to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Its own address.
    pub local: Address,
    /// The address of the other end.
    pub remote: Address,
    /// First hop of the packets it sends; `net/build.rs` sets it.
    pub uplink: Peer,
}

impl Io<'_, '_> {
    /// Sends `p` with the addresses of this end and its peer.
    #[inline]
    pub fn emit(&mut self, p: &mut Packet) {
        (p.src, p.dst) = (self.socket.local, self.socket.remote);
        if self.overhead.is_some() {
            self.hold(p);
        } else {
            self.leave(p);
        }
    }

    /// Gives `p` to the host, which forwards it when it has finished with it.
    #[cold]
    fn hold(&mut self, p: &Packet) {
        if let Some(overhead) = &mut self.overhead {
            overhead.take(self.now, p);
        }
        self.release();
    }

    /// Forwards the packets that the host has finished.
    #[cold]
    fn release(&mut self) {
        while let Some(p) = self.overhead.as_mut().and_then(|o| o.give(self.now)) {
            self.leave(&p);
        }
    }

    /// Hands `p` to the network.
    #[inline(always)]
    fn leave(&mut self, p: &Packet) {
        count(self.entered);
        self.out.trace.packet(self.now, Event::Sent, p);
        self.out.send(self.socket.uplink, p);
    }
}

/// The timestamp clock (RFC 7323 §4): whole ticks since the start of the run, modulo 2^32; 0 if the option is off.
fn ticks(now: Time, tick: Option<Span>) -> u32 {
    tick.map_or(0, |t| now.since(Time::ZERO).div_floor(t) as u32)
}

/// What both ends of a connection derive from its specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFormat {
    /// Payload of a full segment in bytes.
    pub mss: u32,
    /// IP and TCP headers with the options of every segment, the explicit header, and the bytes that encryption adds.
    pub headers: u32,
    /// IP size of a SYN in bytes, with all its options.
    pub syn: u32,
    /// The advertised window in bytes.
    pub window: u32,
    /// Shift of the window scale option.
    pub window_scale: u8,
    /// True if no node on the path can read the segments.
    pub sealed: bool,
}

impl SegmentFormat {
    /// The sizes of a connection whose full data packets have `packet` bytes. The error says which value is wrong.
    pub fn new(packet: u32, spec: &TcpSpec) -> Result<SegmentFormat, Refusal> {
        let options = if spec.timestamps.is_some() { TIMESTAMPS } else { 0 };
        let explicit = (spec.cc.entry.build)(&spec.cc.args)?.needs().explicit.map_or(0, |h| h.bytes);
        let headers = TCP_HEADERS + options + explicit + spec.encrypted.unwrap_or(0);
        if packet <= headers {
            return Err(Refusal::new(
                format!("a packet of {packet} B has no room for payload after {headers} B of headers"),
                format!("write at least {} B", headers + 1),
            ));
        }
        let mss = packet - headers;
        let wanted = match spec.window {
            Amount::Packets(n) => n.saturating_mul(u64::from(mss)),
            Amount::Bytes(n) => n,
        };
        // RFC 7323 §2: 16 bits without scaling, at most 2^30 with it.
        let most = if spec.window_scaling { 1 << 30 } else { 65_535 };
        let window = wanted.min(most) as u32;
        if window == 0 {
            return Err(Refusal::new("a window of zero never lets a byte through", "write at least 1p"));
        }
        let window_scale = if spec.window_scaling { (0..14).find(|s| window >> s <= 65_535).unwrap_or(14) } else { 0 };
        // RFC 9293 §3.7.1 maximum segment size 4 B; RFC 2018 §2 SACK-permitted 2 B, which shares a word pair with the
        // timestamps; RFC 7323 §2.2 3 B.
        let permitted = if spec.sack && spec.timestamps.is_none() { 4 } else { 0 };
        let scale = if spec.window_scaling { 4 } else { 0 };
        Ok(SegmentFormat {
            mss,
            headers,
            syn: headers + 4 + permitted + scale,
            window,
            window_scale,
            sealed: spec.encrypted.is_some(),
        })
    }
}

/// A snapshot of a sender for time series, named as Linux's `tcp_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderState {
    /// Congestion window in segments, without inflation.
    pub snd_cwnd: u32,
    /// Slow-start threshold in segments.
    pub snd_ssthresh: u32,
    /// Smoothed round-trip time in microseconds, 0 before the first sample.
    pub srtt_us: u32,
    /// Mean deviation of the round-trip time in microseconds.
    pub rttvar_us: u32,
    /// Retransmission timeout in microseconds, backed off.
    pub rto_us: u32,
    /// Payload bytes acknowledged in order.
    pub bytes_acked: u64,
    /// Segments in flight.
    pub inflight: u32,
    /// Data packets retransmitted so far.
    pub retrans: u64,
    /// State of congestion.
    pub ca_state: CaState,
}
