//! Asks the kernel in regular steps and writes what has changed.

use super::trace::{self, Event, Sample};
use crate::sock_diag::{Identity, SockDiag, Socket};
use crate::tcp_info::TcpInfo;
use crate::{Result, Stop, clock, udp};
use contend_core::Refusal;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::IpAddr;
use std::time::Duration;

/// Sockets that are watched at the same time.
const MOST_SOCKETS: usize = 1000;

/// What a monitor is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Only sockets with this address at the other end.
    pub peer: Option<IpAddr>,
    /// Only sockets with this port at either end.
    pub port: Option<u16>,
    /// Time between two samples of a socket.
    pub every: Duration,
    /// Time between two looks for new sockets.
    pub look: Duration,
    /// Ends after this time.
    pub duration: Option<Duration>,
}

/// What a monitor wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Sockets.
    pub sockets: u64,
    /// Lines.
    pub lines: u64,
    /// Times at which all sockets were asked.
    pub samples: u64,
    /// Sockets that were not watched, because too many were.
    pub unwatched: u64,
}

/// Records until the duration is over or `stop` is asked.
///
/// # Errors
/// When the kernel has no sock_diag, or `out` cannot be written.
pub fn record(s: &Settings, stop: &Stop, out: &mut dyn Write) -> Result<Counted> {
    let mut diag = SockDiag::open()?;
    let mut watched: BTreeMap<Identity, (String, String, TcpInfo)> = BTreeMap::new();
    let mut counted = Counted::default();
    let begun = clock::monotonic();
    let (mut next, mut next_look) = (begun, begun);
    let unwritable = |e: std::io::Error| {
        Refusal::new(format!("the trace cannot be written: {e}"), "write it to a place with free space")
    };
    out.write_all(trace::heading().as_bytes()).map_err(unwritable)?;
    let mut write = |sample: &Sample, counted: &mut Counted| {
        counted.lines += 1;
        out.write_all(sample.line().as_bytes())
    };
    loop {
        let now = clock::monotonic();
        let t_s = (now - begun).as_secs_f64();
        if now >= next_look {
            next_look = now + s.look;
            for found in diag.all()? {
                let (Some(info), true) = (found.info, s.wants(&found)) else { continue };
                if watched.contains_key(&found.id) {
                    continue;
                }
                if watched.len() >= MOST_SOCKETS {
                    counted.unwatched += 1;
                    continue;
                }
                counted.sockets += 1;
                let flow = format!("{}>{}", found.id.local(), found.id.peer());
                let event = Some(Event::Open);
                let sample = Sample { t_s, flow: flow.clone(), congestion: found.congestion.clone(), event, info };
                write(&sample, &mut counted).map_err(unwritable)?;
                watched.insert(found.id, (flow, found.congestion, info));
            }
        }
        let ids: Vec<Identity> = watched.keys().copied().collect();
        for id in ids {
            let found = diag.one(&id)?.and_then(|f| Some((f.congestion, f.info?)));
            let Some((flow, congestion, before)) = watched.get_mut(&id) else { continue };
            let t_s = (clock::monotonic() - begun).as_secs_f64();
            let mut sample =
                Sample { t_s, flow: flow.clone(), congestion: congestion.clone(), event: None, info: *before };
            match found {
                Some((now_congestion, info)) => {
                    // What only tells how long ago something was changes always.
                    let same =
                        TcpInfo { since_sent_ms: before.since_sent_ms, since_ack_ms: before.since_ack_ms, ..info };
                    if same == *before && now_congestion == *congestion {
                        continue;
                    }
                    sample.event = Event::between(before, &info);
                    sample.congestion.clone_from(&now_congestion);
                    sample.info = info;
                    (*congestion, *before) = (now_congestion, info);
                }
                None => {
                    sample.event = Some(Event::Close);
                    watched.remove(&id);
                }
            }
            write(&sample, &mut counted).map_err(unwritable)?;
        }
        counted.samples += 1;
        // A sample that is late moves none of the following ones.
        let now = clock::monotonic();
        next = (next + s.every).max(now.saturating_sub(s.every));
        let over = s.duration.is_some_and(|d| now >= begun + d);
        if stop.asked() || over {
            return Ok(counted);
        }
        udp::sleep(stop, next.saturating_sub(now));
    }
}

impl Settings {
    fn wants(&self, s: &Socket) -> bool {
        let (local, peer) = (s.id.local(), s.id.peer());
        self.peer.is_none_or(|ip| ip == peer.ip()) && self.port.is_none_or(|p| p == local.port() || p == peer.port())
    }
}
