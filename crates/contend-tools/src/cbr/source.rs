//! The source: packets at the rate of its buckets, some of them pings.

use super::bucket::Bucket;
use super::packet::{Kind, Packet};
use crate::{Result, Stop, clock, udp};
use contend_core::Refusal;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// So long the last answers are waited for after the last packet.
const LINGER: Duration = Duration::from_secs(1);

/// A sink that refuses packets so soon was never there.
const BEGINNING: Duration = Duration::from_secs(1);

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

/// What a source does next.
#[derive(Debug, PartialEq)]
enum Do {
    /// Sends this packet, and tells [`Source::sent`] how it went.
    Send(Packet),
    /// Waits so long, or until an answer comes.
    Wait(Duration),
    /// Reports an interval.
    Report(Sent),
    /// Is done.
    End(Total),
}

/// How the sending of a packet went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Went {
    /// The kernel took it.
    Sent,
    /// The kernel refused it: nobody listens, or there is no route. It is a packet that does not arrive.
    Refused,
    /// The kernel has no room for it now.
    Blocked,
}

/// A source without clock and socket: times are given to it, counted from any instant.
struct Source<'a> {
    s: &'a Settings,
    /// Bytes that a packet takes from a bucket.
    cost: usize,
    begun: Duration,
    average: Bucket,
    peak: Option<Bucket>,
    waiting: Option<Waiting>,
    /// The present rate, in bits per second.
    rate: u64,
    total: Total,
    interval: Interval,
    /// The end of the last interval that was reported.
    reported: Duration,
    /// The packet that was asked for last, until it is known how that went.
    next: Option<Packet>,
    /// True if answers have their turn before the next packet.
    listens: bool,
    /// When the last packet was due; answers are waited for from then on.
    linger: Option<Duration>,
    ended: bool,
}

impl<'a> Source<'a> {
    /// A source that begins at `now`. Each packet has `headers` bytes beside its payload.
    fn new(s: &'a Settings, headers: usize, now: Duration) -> Source<'a> {
        let cost = s.packet + headers;
        Source {
            s,
            cost,
            begun: now,
            average: Bucket::new(s.rate_bps, s.burst.max(1) * cost, now),
            peak: s.peak_bps.map(|bps| Bucket::new(bps, cost, now)),
            waiting: s.pings.as_ref().map(|p| Waiting::new(p, s)),
            rate: s.rate_bps,
            total: Total::default(),
            interval: Interval::default(),
            reported: now,
            next: None,
            listens: false,
            linger: None,
            ended: false,
        }
    }

    /// What to do at `now`; `stop` ends the source.
    fn poll(&mut self, now: Duration, stop: bool) -> Do {
        if self.ended {
            return Do::End(self.total.clone());
        }
        let t = now - self.begun;
        self.follow_sweep(t, now);
        let full = self.s.packets.is_some_and(|n| self.total.packets >= n);
        if self.linger.is_none() && (full || self.s.duration.is_some_and(|d| t >= d)) {
            self.linger = Some(now);
        }
        let nothing_left = self.waiting.as_ref().is_none_or(|w| w.sent.is_empty());
        let over = self.linger.is_some_and(|l| nothing_left || now >= l + LINGER);
        if over || stop {
            self.ended = true;
            self.total.seconds = self.linger.unwrap_or(now).saturating_sub(self.begun).as_secs_f64();
        }
        if now >= self.reported + self.s.every || (self.ended && now > self.reported) {
            let length = now - std::mem::replace(&mut self.reported, now);
            return Do::Report(self.interval.close(t, length, self.rate, self.cost));
        }
        if self.ended {
            return Do::End(self.total.clone());
        }
        if self.linger.is_some() {
            return Do::Wait(self.until_report(now));
        }
        self.buckets().for_each(|b| b.fill(now));
        let ready = self.ready_in();
        if !ready.is_zero() {
            return Do::Wait(ready.min(self.until_report(now)));
        }
        // A source that never has to wait must still hear answers and Ctrl-C.
        if std::mem::take(&mut self.listens) {
            return Do::Wait(Duration::ZERO);
        }
        let (waiting, number) = (&mut self.waiting, self.total.packets);
        let packet = self.next.get_or_insert_with(|| {
            let ping = waiting.as_mut().is_some_and(Waiting::is_next);
            Packet { kind: if ping { Kind::Ping } else { Kind::Data }, number, stamp: 0, rate_bps: 0 }
        });
        packet.stamp = clock::nanos(t);
        Do::Send(*packet)
    }

    /// The packet that [`Source::poll`] asked for at `now` was handed to the kernel.
    fn sent(&mut self, went: Went, now: Duration) {
        if went == Went::Blocked {
            self.buckets().for_each(Bucket::clip);
            return;
        }
        let Some(packet) = self.next.take() else { return };
        if let Some(w) = self.waiting.as_mut().filter(|_| packet.kind == Kind::Ping) {
            w.sent(packet.number, now - self.begun);
            self.total.pings += 1;
        }
        if went == Went::Refused {
            self.refused();
        }
        self.total.packets += 1;
        self.total.bytes += self.s.packet as u64;
        self.interval.packets += 1;
        let cost = self.cost;
        self.buckets().for_each(|b| b.take(cost));
        self.listens = self.total.packets.is_multiple_of(32);
    }

    /// True if the source has just begun, and nothing has come back.
    fn begins(&self, now: Duration) -> bool {
        self.total.answers == 0 && now.saturating_sub(self.begun) < BEGINNING
    }

    /// The kernel refused a packet, perhaps one that it took before.
    fn refused(&mut self) {
        self.total.refused += 1;
        self.interval.refused += 1;
    }

    /// `p` came at `now`. Returns the time since the start and the round-trip time if it answers a ping that waits.
    fn came(&mut self, p: &Packet, now: Duration) -> Option<(Duration, Duration)> {
        if p.kind != Kind::Answer {
            return None;
        }
        let at = now - self.begun;
        let rtt = at.saturating_sub(self.waiting.as_mut()?.sent.remove(&p.number)?);
        self.total.answers += 1;
        self.interval.answer(rtt.as_secs_f64(), p.rate_bps);
        Some((at, rtt))
    }

    /// Changes the rate when the next step of the sweep begins; after the last one, no packet follows.
    fn follow_sweep(&mut self, t: Duration, now: Duration) {
        let Some(sweep) = self.s.sweep.filter(|_| self.linger.is_none()) else { return };
        match sweep.rate_at(t, self.s.rate_bps) {
            Some(rate) if rate != self.rate => {
                self.rate = rate;
                self.average.set_rate(rate, now);
            }
            Some(_) => {}
            None => self.linger = Some(now),
        }
    }

    fn until_report(&self, now: Duration) -> Duration {
        (self.reported + self.s.every).saturating_sub(now)
    }

    fn buckets(&mut self) -> impl Iterator<Item = &mut Bucket> {
        std::iter::once(&mut self.average).chain(&mut self.peak)
    }

    /// How long until all buckets have tokens for a packet.
    fn ready_in(&mut self) -> Duration {
        let cost = self.cost;
        self.buckets().map(|b| b.ready_in(cost)).max().unwrap_or_default()
    }
}

/// Sends until the end that the settings name, or until `stop` is asked. `report` gets each interval; `sample` gets the
/// time since the start and the round-trip time of each answer, in seconds.
///
/// # Errors
/// When there is no way to the sink, or nobody listens there when the source begins. A sink that ends later is no
/// error: its packets are counted as refused.
pub fn send(
    s: &Settings,
    stop: &Stop,
    report: &mut dyn FnMut(&Sent),
    sample: &mut dyn FnMut(f64, f64),
) -> Result<Total> {
    let socket = udp::sender(s.to, s.from_port)?;
    let headers = if s.with_headers { udp::headers(s.to) } else { 0 };
    let mut source = Source::new(s, headers, clock::monotonic());
    let mut payload = vec![0; s.packet];
    loop {
        let now = clock::monotonic();
        let (blocked, at_most) = match source.poll(now, stop.asked()) {
            Do::Report(interval) => {
                report(&interval);
                continue;
            }
            Do::End(total) => return Ok(total),
            Do::Wait(time) => (false, time),
            Do::Send(packet) => {
                packet.write(&mut payload);
                let went = match socket.send(&payload) {
                    Ok(_) => Went::Sent,
                    Err(e) if e.kind() == ErrorKind::WouldBlock => Went::Blocked,
                    Err(e) if e.kind() == ErrorKind::ConnectionRefused && source.begins(now) => {
                        return Err(nobody_listens(s.to));
                    }
                    Err(_) => Went::Refused,
                };
                source.sent(went, now);
                if went != Went::Blocked {
                    continue;
                }
                (true, source.until_report(now))
            }
        };
        if udp::wait(&socket, blocked, stop, at_most).readable {
            listen(&socket, &mut source, sample)?;
        }
    }
}

/// Reads all answers that have come.
fn listen(socket: &UdpSocket, source: &mut Source<'_>, sample: &mut dyn FnMut(f64, f64)) -> Result<()> {
    let mut answer = [0; 64];
    loop {
        match socket.recv(&mut answer) {
            Ok(n) => {
                let read = Packet::read(&answer[..n]);
                if let Some((at, rtt)) = read.and_then(|p| source.came(&p, clock::monotonic())) {
                    sample(at.as_secs_f64(), rtt.as_secs_f64());
                }
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(e) if e.kind() == ErrorKind::ConnectionRefused && source.begins(clock::monotonic()) => {
                return Err(nobody_listens(source.s.to));
            }
            // A packet sent before was refused.
            Err(_) => {
                source.refused();
                return Ok(());
            }
        }
    }
}

/// The error when the address of the sink answers that its port is closed.
fn nobody_listens(to: SocketAddr) -> Refusal {
    let remedy = "start the sink there first: contend tool cbr receive --listen [ADDRESS]:PORT";
    Refusal::new(format!("nobody listens on {to}"), remedy)
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

    /// Runs a source on a clock of its own. Each packet that it sends goes through `network`, which says how that went
    /// and after what time an answer comes. Returns what was reported, and the total.
    fn run(s: &Settings, mut network: impl FnMut(&Packet) -> (Went, Option<Duration>)) -> (Vec<Sent>, Total) {
        let mut now = Duration::from_secs(100);
        let mut source = Source::new(s, 0, now);
        let (mut reports, mut answers) = (vec![], BTreeMap::new());
        loop {
            match source.poll(now, false) {
                Do::Report(r) => reports.push(r),
                Do::End(total) => return (reports, total),
                Do::Send(p) => {
                    let (went, answer) = network(&p);
                    source.sent(went, now);
                    if let Some(after) = answer {
                        answers.insert(now + after, p.number);
                    }
                    if went == Went::Blocked {
                        now += Duration::from_millis(5);
                    }
                }
                Do::Wait(time) => now += time.max(Duration::from_nanos(1)),
            }
            while let Some(first) = answers.first_entry().filter(|e| *e.key() <= now) {
                let (at, number) = first.remove_entry();
                source.came(&Packet { kind: Kind::Answer, number, stamp: 0, rate_bps: 7 }, at);
            }
        }
    }

    #[test]
    fn a_source_keeps_its_rate_and_reports_each_second() {
        let mut s = settings(Pings { share: 0.1, random: None, depth: None });
        s.duration = Some(Duration::from_secs(3));
        let rtt = Duration::from_millis(20);
        let (reports, total) = run(&s, |p| (Went::Sent, (p.kind == Kind::Ping).then_some(rtt)));
        // 8 Mb/s are 1000 packets of 1000 B each second.
        assert_eq!((total.packets, total.bytes, total.pings), (3_000, 3_000_000, 300));
        assert_eq!((total.answers, total.refused, total.seconds), (300, 0, 3.0));
        let packets: Vec<u64> = reports.iter().map(|r| r.packets).collect();
        assert_eq!(packets[..2], [1_000, 1_000]);
        assert!((reports[1].rtt_mean_s - 0.02).abs() < 0.001 && reports[1].received_bps == Some(7));
    }

    #[test]
    fn a_packet_that_is_blocked_is_sent_later_and_one_that_is_refused_counts() {
        let mut s = settings(Pings { share: 1.0, random: None, depth: None });
        s.packets = Some(10);
        let mut tries = vec![];
        let (_, total) = run(&s, |p| {
            tries.push(p.number);
            let went = match tries.len() {
                3..6 => Went::Blocked,
                8 => Went::Refused,
                _ => Went::Sent,
            };
            (went, None)
        });
        assert_eq!(tries, [0, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!((total.packets, total.refused, total.pings, total.answers), (10, 1, 10, 0));
    }

    #[test]
    fn after_the_last_packet_answers_have_a_second() {
        let mut s = settings(Pings { share: 1.0, random: None, depth: None });
        s.packets = Some(1);
        for (after_ms, answers) in [(900, 1), (1_100, 0)] {
            let (_, total) = run(&s, |_| (Went::Sent, Some(Duration::from_millis(after_ms))));
            assert_eq!(total.answers, answers, "{after_ms} ms");
        }
    }
}
