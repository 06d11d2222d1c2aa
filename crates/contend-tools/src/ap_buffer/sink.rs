//! The sink: which packets of each burst arrive, and when, by the kernel's time of arrival.

use super::Packet;
use super::estimate::{Arrival, Report, Trial, estimate};
use crate::error::of_system;
use crate::{Result, Stop, clock, udp};
use contend_core::Refusal;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::time::Duration;

/// The most packets in a burst that are kept.
const MOST_PACKETS: u32 = 1_000_000;

/// What a sink is told.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Where it listens.
    pub at: SocketAddr,
    /// Ends after this many bursts.
    pub trials: u32,
    /// A burst ends when nothing has come for so long.
    pub silence: Duration,
    /// Ends when no first packet has come for so long; `None`: waits.
    pub patience: Option<Duration>,
}

/// A burst that comes in.
struct Coming {
    call: u32,
    trial: u32,
    packets: u32,
    arrivals: Vec<Arrival>,
    /// Packets the socket had lost when the burst began.
    overrun: u32,
    heard: Duration,
}

/// Receives bursts. `ready` is called with the address when packets can come; `report` gets each trial.
///
/// # Errors
/// When the address is taken, or no burst comes within the patience.
pub fn receive(
    s: &Listening,
    stop: &Stop,
    ready: &mut dyn FnMut(SocketAddr),
    report: &mut dyn FnMut(Trial),
) -> Result<Report> {
    let socket = udp::receiver(s.at)?;
    let system = |e| of_system("the kernel gives no times of arrival", e);
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).map_err(system)?;
    setsockopt(&socket, sockopt::RxqOvfl, &1).map_err(system)?;
    ready(socket.local_addr().unwrap_or(s.at));
    let mut all = Report::default();
    let mut coming: Option<Coming> = None;
    let mut overrun = 0_u32;
    let mut buffer = vec![0; udp::MOST_PAYLOAD];
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec, u32);
    let begun = clock::monotonic();
    loop {
        let now = clock::monotonic();
        let silent = coming.as_ref().is_some_and(|c| now >= c.heard + s.silence);
        if silent || (stop.asked() && coming.is_some()) {
            end(&mut coming, overrun, &mut all, report);
        }
        if stop.asked() || all.trials.len() >= s.trials as usize {
            return Ok(all);
        }
        if all.trials.is_empty() && coming.is_none() && s.patience.is_some_and(|p| now >= begun + p) {
            return Err(Refusal::new(
                format!("no packet came to {} in {:?}", s.at, s.patience.unwrap_or_default()),
                "start the source: contend tool ap-buffer send HOST:PORT; check firewalls on the way",
            ));
        }
        udp::wait(&socket, false, stop, s.silence.min(Duration::from_millis(100)));
        loop {
            let mut parts = [IoSliceMut::new(&mut buffer)];
            let Ok(message) =
                recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())
            else {
                break;
            };
            let (mut received, mut lost) = (None, overrun);
            for c in message.cmsgs().into_iter().flatten() {
                match c {
                    ControlMessageOwned::ScmTimestampns(t) => received = Some(Duration::from(t)),
                    ControlMessageOwned::RxqOvfl(n) => lost = n,
                    _ => {}
                }
            }
            let bytes = message.bytes;
            let Some(p) = Packet::read(&buffer[..bytes]).filter(|p| p.packets <= MOST_PACKETS && p.number < p.packets)
            else {
                continue;
            };
            if coming.as_ref().is_some_and(|c| (c.call, c.trial) != (p.call, p.trial)) {
                end(&mut coming, overrun, &mut all, report);
                if all.trials.len() >= s.trials as usize {
                    return Ok(all);
                }
            }
            all.payload = bytes;
            let c = coming.get_or_insert_with(|| Coming {
                call: p.call,
                trial: p.trial,
                packets: p.packets,
                arrivals: Vec::new(),
                overrun,
                heard: now,
            });
            c.heard = clock::monotonic();
            overrun = lost;
            // Duplicates say nothing new; more packets than the burst has are not kept.
            if c.arrivals.len() < c.packets as usize {
                let received = received.unwrap_or_else(clock::date);
                c.arrivals.push(Arrival {
                    number: p.number,
                    sent_s: p.stamp as f64 / 1e9,
                    received_s: received.as_secs_f64(),
                });
            }
        }
    }
}

/// Ends the burst that comes in.
fn end(coming: &mut Option<Coming>, overrun: u32, all: &mut Report, report: &mut dyn FnMut(Trial)) {
    let Some(c) = coming.take() else { return };
    let trial = if overrun != c.overrun { Trial::Overrun } else { estimate(c.packets, &c.arrivals) };
    report(trial);
    all.trials.push(trial);
}
