//! The source: bursts at the rate of its interface.

use super::{LEAST, Packet};
use crate::{Result, Stop, clock, udp};
use contend_core::Refusal;
use nix::sys::socket::{setsockopt, sockopt};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

/// Packets that wait in the source's own buffer.
const OWN_BUFFER: usize = 16;
/// What the kernel counts for a packet beside its payload, in bytes.
const OVERHEAD: usize = 1024;

/// What a source is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The sink.
    pub to: SocketAddr,
    /// Packets in a burst.
    pub packets: u32,
    /// Payload of each packet, in bytes.
    pub payload: usize,
    /// Bursts.
    pub trials: u32,
    /// Pause after a burst, so that the queue empties.
    pub quiet: Duration,
}

/// A burst that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Packets per second.
    pub rate_pps: f64,
    /// The longest time between two packets, in seconds: the source was interrupted.
    pub longest_gap_s: f64,
}

/// Sends the bursts. `report` gets each one.
///
/// # Errors
/// When there is no way to the sink, or nobody listens there.
pub fn send(s: &Settings, stop: &Stop, report: &mut dyn FnMut(&Burst)) -> Result<Vec<Burst>> {
    let socket = udp::sender(s.to, 0)?;
    let mut payload = vec![0; s.payload.max(LEAST)];
    // A large buffer would take packets before the interface does, and their times would say nothing of its rate.
    let _ = setsockopt(&socket, sockopt::SndBuf, &(OWN_BUFFER * (s.payload + OVERHEAD)));
    // Tells this call's packets from those of another.
    let call = clock::date().subsec_nanos() ^ std::process::id();
    let mut bursts = Vec::new();
    for trial in 0..s.trials {
        let begun = clock::monotonic();
        let (mut last, mut longest) = (begun, Duration::ZERO);
        let mut number = 0;
        while number < s.packets && !stop.asked() {
            let now = clock::monotonic();
            Packet { call, trial, number, packets: s.packets, stamp: clock::nanos(now) }.write(&mut payload);
            match socket.send(&payload) {
                Ok(_) => {
                    (longest, last) = (longest.max(now - last), now);
                    number += 1;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    udp::wait(&socket, true, stop, Duration::from_millis(100));
                }
                Err(e) if e.kind() == ErrorKind::ConnectionRefused && number < s.packets / 2 => {
                    return Err(Refusal::new(
                        format!("nobody listens on {}", s.to),
                        "start the sink there first: contend tool ap-buffer receive --listen [ADDRESS]:PORT",
                    ));
                }
                // The interface's queue is full (ENOBUFS), or the like: this packet was not sent.
                Err(_) => {
                    udp::sleep(stop, Duration::from_micros(50));
                }
            }
        }
        if stop.asked() {
            break;
        }
        let seconds = (last - begun).as_secs_f64();
        let rate_pps = if seconds > 0.0 { f64::from(s.packets - 1) / seconds } else { 0.0 };
        let burst = Burst { rate_pps, longest_gap_s: longest.as_secs_f64() };
        report(&burst);
        bursts.push(burst);
        udp::sleep(stop, s.quiet);
    }
    Ok(bursts)
}
