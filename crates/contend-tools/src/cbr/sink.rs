//! The sink: counts what each sender sends, and answers pings.

use super::packet::{ANSWER, Kind, Packet};
use crate::{Result, Stop, clock, udp};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// Senders that are counted; packets of further ones are not.
const MOST_SENDERS: usize = 1024;

/// What a sink is told.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Where it listens.
    pub at: SocketAddr,
    /// Length of the intervals that are reported.
    pub every: Duration,
    /// True if rates count the IP and UDP headers.
    pub with_headers: bool,
    /// True if pings are answered.
    pub answers: bool,
    /// Ends after this time.
    pub duration: Option<Duration>,
}

/// What a sink heard of one sender: in an interval, or in all.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Its address.
    pub from: SocketAddr,
    /// Seconds from the start of the sink to the end of the interval.
    pub at_s: f64,
    /// Packets.
    pub packets: u64,
    /// Payload, in bytes.
    pub bytes: u64,
    /// Packets whose numbers are missing among those that came. A packet that comes late is taken off again.
    pub lost: i64,
    /// The rate in bits per second, with headers if they count. In all: from the first to the last packet.
    pub rate_bps: f64,
}

/// Counts of a sender since the start.
#[derive(Clone, Debug)]
struct Counts {
    packets: u64,
    bytes: u64,
    /// The first number, and one above the largest.
    numbers: (u64, u64),
    first: Duration,
    last: Duration,
}

impl Counts {
    fn lost(&self) -> i64 {
        let numbers = i64::try_from(self.numbers.1 - self.numbers.0).unwrap_or(i64::MAX);
        numbers.saturating_sub_unsigned(self.packets)
    }
}

/// A sender: counts since the start, those at the start of the interval, and the rate of the interval before.
struct Sender {
    now: Counts,
    before: Counts,
    rate_bps: u64,
}

/// Receives until the duration is over or `stop` is asked. `report` gets each sender's part of each interval. Returns
/// the sums. `ready` is called with the address when packets can come.
///
/// # Errors
/// When the address is taken.
pub fn receive(
    s: &Listening,
    stop: &Stop,
    ready: &mut dyn FnMut(SocketAddr),
    report: &mut dyn FnMut(&Heard),
) -> Result<Vec<Heard>> {
    let socket = udp::receiver(s.at)?;
    ready(socket.local_addr().unwrap_or(s.at));
    let begun = clock::monotonic();
    let mut senders: BTreeMap<SocketAddr, Sender> = BTreeMap::new();
    let mut packet = vec![0; udp::MOST_PAYLOAD];
    let mut reported = begun;
    loop {
        let now = clock::monotonic();
        let end = stop.asked() || s.duration.is_some_and(|d| now >= begun + d);
        if now >= reported + s.every || (end && now > reported) {
            let len = (now - reported).as_secs_f64();
            for (from, x) in &mut senders {
                let (packets, bytes) = (x.now.packets - x.before.packets, x.now.bytes - x.before.bytes);
                let counted = bytes + if s.with_headers { packets * udp::headers(*from) as u64 } else { 0 };
                let rate_bps = counted as f64 * 8.0 / len;
                let lost = x.now.lost().saturating_sub(x.before.lost());
                let at_s = (now - begun).as_secs_f64();
                report(&Heard { from: *from, at_s, packets, bytes, lost, rate_bps });
                x.before = x.now.clone();
                x.rate_bps = rate_bps as u64;
            }
            reported = now;
        }
        if end {
            let with = |from: &SocketAddr| if s.with_headers { udp::headers(*from) as u64 } else { 0 };
            let sum = |(from, x): (&SocketAddr, &Sender)| {
                let c = &x.now;
                // The packets after the first one came in this time.
                let (n, seconds) = (c.packets.saturating_sub(1), (c.last - c.first).as_secs_f64());
                let each = c.bytes as f64 / c.packets as f64 + with(from) as f64;
                Heard {
                    from: *from,
                    at_s: (now - begun).as_secs_f64(),
                    packets: c.packets,
                    bytes: c.bytes,
                    lost: c.lost(),
                    rate_bps: if seconds > 0.0 { n as f64 * each * 8.0 / seconds } else { 0.0 },
                }
            };
            return Ok(senders.iter().map(sum).collect());
        }
        let left = s.duration.map_or(s.every, |d| (begun + d).saturating_sub(now));
        udp::wait(&socket, false, stop, left.min((reported + s.every).saturating_sub(now)));
        while let Ok((n, from)) = socket.recv_from(&mut packet) {
            let now = clock::monotonic() - begun;
            let Some(p) = Packet::read(&packet[..n]).filter(|p| p.kind != Kind::Answer) else { continue };
            if senders.len() >= MOST_SENDERS && !senders.contains_key(&from) {
                continue;
            }
            let x = senders.entry(from).or_insert_with(|| {
                let none = Counts { packets: 0, bytes: 0, numbers: (p.number, p.number), first: now, last: now };
                Sender { now: none.clone(), before: none, rate_bps: 0 }
            });
            let c = &mut x.now;
            c.packets += 1;
            c.bytes += n as u64;
            c.last = now;
            c.numbers = (c.numbers.0.min(p.number), c.numbers.1.max(p.number.saturating_add(1)));
            if s.answers && p.kind == Kind::Ping {
                let mut answer = [0; ANSWER];
                Packet { kind: Kind::Answer, rate_bps: x.rate_bps, ..p }.write(&mut answer);
                // An answer that the kernel refuses is one that does not arrive.
                let _ = socket.send_to(&answer, from);
            }
            if clock::monotonic() >= reported + s.every {
                break;
            }
        }
    }
}
