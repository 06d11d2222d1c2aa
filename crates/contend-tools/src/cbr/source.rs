//! The source: packets at the rate of its buckets, some of them pings.

use super::bucket::Bucket;
use super::packet::{Kind, Packet};
use crate::{Result, Stop, clock, udp};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

/// What a source is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The sink.
    pub to: SocketAddr,
    /// The port of the source; 0: any.
    pub from_port: u16,
    /// Average rate, in bits per second.
    pub rate_bps: u64,
    /// Highest rate inside a burst; `None`: the interface's.
    pub peak_bps: Option<u64>,
    /// How the rate rises; `None`: it does not.
    pub sweep: Option<Sweep>,
    /// Payload of each packet in bytes, at least [`super::LEAST`].
    pub packet: usize,
    /// Packets that may be sent at once.
    pub burst: usize,
    /// True if rates count the IP and UDP headers.
    pub with_headers: bool,
    /// Length of the intervals that are reported.
    pub every: Duration,
    /// Measures the round-trip time.
    pub pings: Option<Pings>,
    /// Ends after this time; a sweep ends with its last step anyway.
    pub duration: Option<Duration>,
    /// Ends after this many packets.
    pub packets: Option<u64>,
}

/// A rate that rises in steps.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// The last rate, in bits per second.
    pub until_bps: u64,
    /// What each step adds, in bits per second.
    pub add_bps: u64,
    /// How long each step lasts.
    pub step: Duration,
}

impl Sweep {
    /// The rate at `t` after the start, from `first` bits per second; `None` after the last step.
    fn rate_at(self, t: Duration, first: u64) -> Option<u64> {
        let done = (t.as_nanos() / self.step.as_nanos().max(1)) as u64;
        let rate = first.checked_add(self.add_bps.checked_mul(done)?)?;
        (rate <= self.until_bps).then_some(rate)
    }
}

/// Packets that the sink sends back.
#[derive(Clone, Debug)]
pub struct Pings {
    /// Their share of all packets, above 0 and at most 1.
    pub share: f64,
    /// `Some(seed)`: which packets are pings is random, with this seed.
    pub random: Option<u64>,
    /// Pings whose answers are waited for; an older one counts as lost. `None`: those of two seconds.
    pub depth: Option<usize>,
}

/// What was sent, and came back, in an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sent {
    /// Seconds from the start of the source to the end of the interval.
    pub at_s: f64,
    /// The rate asked for, in bits per second.
    pub asked_bps: f64,
    /// The rate sent, in bits per second, with headers if they count.
    pub sent_bps: f64,
    /// Packets.
    pub packets: u64,
    /// Packets that the kernel refused: nobody listens, or no route.
    pub refused: u64,
    /// Answers to pings, and their smallest, mean and largest round-trip time in seconds.
    pub answers: u64,
    /// Smallest round-trip time, in seconds.
    pub rtt_min_s: f64,
    /// Mean round-trip time, in seconds.
    pub rtt_mean_s: f64,
    /// Largest round-trip time, in seconds.
    pub rtt_max_s: f64,
    /// The last rate at which the sink said it receives, in bits per second.
    pub received_bps: Option<u64>,
}

/// What a source did in all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Total {
    /// Packets sent.
    pub packets: u64,
    /// Payload sent, in bytes.
    pub bytes: u64,
    /// Packets that the kernel refused.
    pub refused: u64,
    /// Pings sent.
    pub pings: u64,
    /// Pings answered.
    pub answers: u64,
    /// Seconds from the first packet to the end.
    pub seconds: f64,
}

/// The pings that wait for their answer.
struct Waiting {
    share: f64,
    random: Option<Pcg64Mcg>,
    /// Parts of a ping that are due.
    due: f64,
    depth: usize,
    /// Number of the ping -> when it was sent.
    sent: BTreeMap<u64, Duration>,
}

impl Waiting {
    fn new(p: &Pings, s: &Settings) -> Waiting {
        let most_bps = s.sweep.map_or(s.rate_bps, |w| w.until_bps.max(s.rate_bps));
        let auto = 2.0 * p.share * most_bps as f64 / 8.0 / s.packet as f64;
        Waiting {
            share: p.share,
            random: p.random.map(Pcg64Mcg::seed_from_u64),
            due: 0.0,
            depth: p.depth.unwrap_or((auto as usize).clamp(16, 1 << 20)),
            sent: BTreeMap::new(),
        }
    }

    /// True if the next packet is a ping.
    fn is_next(&mut self) -> bool {
        match &mut self.random {
            Some(rng) => rng.random::<f64>() < self.share,
            None => {
                self.due += self.share;
                let ping = self.due >= 1.0 - 1e-9;
                self.due -= f64::from(u8::from(ping));
                ping
            }
        }
    }

    fn sent(&mut self, number: u64, now: Duration) {
        if self.sent.len() >= self.depth {
            self.sent.pop_first();
        }
        self.sent.insert(number, now);
    }
}

/// Sends until the end that the settings name, or until `stop` is asked. `report` gets each interval; `sample` gets the
/// time since the start and the round-trip time of each answer, in seconds.
///
/// # Errors
/// When there is no way to the sink.
pub fn send(
    s: &Settings,
    stop: &Stop,
    report: &mut dyn FnMut(&Sent),
    sample: &mut dyn FnMut(f64, f64),
) -> Result<Total> {
    let socket = udp::sender(s.to, s.from_port)?;
    let extra = if s.with_headers { udp::headers(s.to) } else { 0 };
    let cost = s.packet + extra;
    let begun = clock::monotonic();
    let mut average = Bucket::new(s.rate_bps, s.burst.max(1) * cost, begun);
    let mut peak = s.peak_bps.map(|bps| Bucket::new(bps, cost, begun));
    let mut waiting = s.pings.as_ref().map(|p| Waiting::new(p, s));
    let mut payload = vec![0; s.packet];
    let mut rate = s.rate_bps;
    let mut total = Total::default();
    let mut now_in = Interval::default();
    let mut reported = begun;
    let mut answer = [0; 64];
    // The last answers are waited for after the last packet.
    let mut linger: Option<Duration> = None;
    loop {
        let now = clock::monotonic();
        let t = now - begun;
        if let Some(sweep) = s.sweep.filter(|_| linger.is_none()) {
            match sweep.rate_at(t, s.rate_bps) {
                Some(r) if r != rate => {
                    rate = r;
                    average.set_rate(r, now);
                }
                Some(_) => {}
                None => linger = Some(now),
            }
        }
        let full = s.packets.is_some_and(|n| total.packets >= n);
        if linger.is_none() && (full || s.duration.is_some_and(|d| t >= d)) {
            linger = Some(now);
        }
        let nothing_left = waiting.as_ref().is_none_or(|w| w.sent.is_empty());
        let over = linger.is_some_and(|l| nothing_left || now >= l + Duration::from_secs(1));
        let end = over || stop.asked();
        if now >= reported + s.every || (end && now > reported) {
            report(&now_in.close(t, now - reported, rate, cost));
            reported = now;
        }
        if end {
            total.seconds = linger.unwrap_or(now).saturating_sub(begun).as_secs_f64();
            return Ok(total);
        }
        let until_report = (reported + s.every).saturating_sub(now);
        let mut at_most = until_report;
        let mut blocked = false;
        if linger.is_none() {
            average.fill(now);
            peak.iter_mut().for_each(|p| p.fill(now));
            let ready = average.ready_in(cost).max(peak.as_ref().map_or(Duration::ZERO, |p| p.ready_in(cost)));
            if ready.is_zero() {
                let ping = waiting.as_mut().is_some_and(Waiting::is_next);
                let kind = if ping { Kind::Ping } else { Kind::Data };
                Packet { kind, number: total.packets, stamp: clock::nanos(t), rate_bps: 0 }.write(&mut payload);
                match socket.send(&payload) {
                    Err(e) if e.kind() == ErrorKind::WouldBlock => {
                        blocked = true;
                        average.clip();
                        peak.iter_mut().for_each(Bucket::clip);
                    }
                    sent => {
                        // A packet that the kernel refuses is one that does not arrive.
                        let refused = u64::from(sent.is_err());
                        total.refused += refused;
                        now_in.refused += refused;
                        if let Some(w) = waiting.as_mut().filter(|_| ping) {
                            w.sent(total.packets, t);
                            total.pings += 1;
                        }
                        total.packets += 1;
                        total.bytes += s.packet as u64;
                        now_in.packets += 1;
                        average.take(cost);
                        peak.iter_mut().for_each(|p| p.take(cost));
                        // A source that never has to wait must still hear answers and Ctrl-C.
                        if !average.ready_in(cost).is_zero() || total.packets % 32 > 0 {
                            continue;
                        }
                        at_most = Duration::ZERO;
                    }
                }
            } else {
                at_most = at_most.min(ready);
            }
        }
        if !udp::wait(&socket, blocked, stop, at_most).readable {
            continue;
        }
        loop {
            let n = match socket.recv(&mut answer) {
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                // A packet sent before was refused.
                Err(_) => {
                    total.refused += 1;
                    now_in.refused += 1;
                    break;
                }
            };
            let now = clock::monotonic() - begun;
            let read = Packet::read(&answer[..n]).filter(|p| p.kind == Kind::Answer);
            let Some((p, sent)) = read.and_then(|p| Some((p, waiting.as_mut()?.sent.remove(&p.number)?))) else {
                continue;
            };
            let rtt = now.saturating_sub(sent).as_secs_f64();
            total.answers += 1;
            now_in.answer(rtt, p.rate_bps);
            sample(now.as_secs_f64(), rtt);
        }
    }
}

/// Counts of the interval that runs.
#[derive(Default)]
struct Interval {
    packets: u64,
    refused: u64,
    answers: u64,
    sum: f64,
    min: f64,
    max: f64,
    received_bps: Option<u64>,
}

impl Interval {
    fn answer(&mut self, rtt: f64, rate_bps: u64) {
        self.min = if self.answers == 0 { rtt } else { self.min.min(rtt) };
        self.max = self.max.max(rtt);
        self.sum += rtt;
        self.answers += 1;
        self.received_bps = Some(rate_bps);
    }

    /// Ends the interval of the length `len`, and begins the next one.
    fn close(&mut self, at: Duration, len: Duration, rate_bps: u64, cost: usize) -> Sent {
        let i = std::mem::take(self);
        Sent {
            at_s: at.as_secs_f64(),
            asked_bps: rate_bps as f64,
            sent_bps: i.packets.saturating_sub(i.refused) as f64 * cost as f64 * 8.0 / len.as_secs_f64(),
            packets: i.packets,
            refused: i.refused,
            answers: i.answers,
            rtt_min_s: i.min,
            rtt_mean_s: i.sum / i.answers.max(1) as f64,
            rtt_max_s: i.max,
            received_bps: i.received_bps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pings: Pings) -> Settings {
        Settings {
            to: "127.0.0.1:9".parse().unwrap(),
            from_port: 0,
            rate_bps: 8_000_000,
            peak_bps: None,
            sweep: None,
            packet: 1000,
            burst: 1,
            with_headers: false,
            every: Duration::from_secs(1),
            pings: Some(pings),
            duration: None,
            packets: None,
        }
    }

    #[test]
    fn a_tenth_of_the_packets_are_pings_in_both_orders() {
        for random in [None, Some(1)] {
            let p = Pings { share: 0.1, random, depth: None };
            let s = settings(p.clone());
            let mut w = Waiting::new(&p, &s);
            let numbers: Vec<usize> = (0..100_000).filter(|_| w.is_next()).collect();
            // 10,000 are expected; four standard deviations of a binomial are 380.
            assert!(numbers.len().abs_diff(10_000) <= if random.is_some() { 380 } else { 1 }, "{}", numbers.len());
            let even = numbers.windows(2).all(|w| w[1] - w[0] == 10);
            assert_eq!(even, random.is_none());
            assert_eq!(w.depth, 200);
        }
    }

    #[test]
    fn a_sweep_has_the_document_s_sixteen_steps() {
        // §6.4.2: 8 to 128 kB/s by 8 kB/s each minute.
        let sweep = Sweep { until_bps: 128 * 8000, add_bps: 8 * 8000, step: Duration::from_secs(60) };
        let rate = |s| sweep.rate_at(Duration::from_secs(s), 8 * 8000);
        assert_eq!((rate(0), rate(59), rate(60)), (Some(64_000), Some(64_000), Some(128_000)));
        assert_eq!((rate(15 * 60), rate(16 * 60 - 1), rate(16 * 60)), (Some(1_024_000), Some(1_024_000), None));
    }

    #[test]
    fn pings_beyond_the_depth_are_lost() {
        let p = Pings { share: 1.0, random: None, depth: Some(2) };
        let mut w = Waiting::new(&p, &settings(p.clone()));
        (0..5).for_each(|n| w.sent(n, Duration::ZERO));
        assert_eq!(w.sent.keys().collect::<Vec<_>>(), [&3, &4]);
    }
}
