//! What a capture at a sending host says of each TCP sender (Arai et al. 2008 §III.B: tcpdump beside the monitor).
//!
//! A sender is one direction of a connection with data. TCP sends new data in the order of their numbers, so a
//! list of what was sent is not needed: bytes below the highest number were sent before, also if the capture missed
//! them.
//!
//! | what | how it is found |
//! | --- | --- |
//! | retransmission | all bytes of the segment lie below the highest that was sent |
//! | recovery (`dupack_sack`) | a retransmission after the third duplicate ACK (RFC 5681 §3.2) or a SACK block; the next one counts once all that was sent before is acknowledged (RFC 6582 §3.2) |
//! | timeout | a retransmission of the first unacknowledged byte, a round-trip time and 100 ms or more after this byte was sent or became the first, and half a round-trip time or more after the last ACK: no ACK caused it |
//! | window | not known; bytes in flight are those sent and not acknowledged cumulatively |
//! | marks (`marked`) | segments with CWR, if the handshake agreed on the ECN of RFC 3168 |
//! | local congestion, congestion control | not known |
//!
//! A tail loss probe (RFC 8985 §7) of the only segment in flight looks like a timeout, and counts as one.

use super::segment::{ACK, CWR, ECE, FIN, RST, SYN, Segment};
use super::summary::{Captured, Gaps, Sender};
use super::trace::Event;
use crate::Result;
use contend_core::Refusal;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Connections at the same time.
const MOST_CONNECTIONS: usize = 200_000;
/// How far a damaged segment may be from what its connection has sent, in bytes.
const NEAR: i64 = 1 << 22;
/// The shortest time after which a sender is taken to time out. Linux waits 200 ms or more (`tcp_rto_min_us`), RFC 6298
/// §2.4 a second.
const SHORTEST_TIMEOUT_NS: u64 = 100_000_000;
/// IP packets above this size are super-segments if the handshake was not captured.
const USUAL_PACKET: u32 = 1500;

/// A line of the event strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    /// Time since the beginning of the capture, in nanoseconds.
    pub at_ns: u64,
    /// The sender: own address, `>`, the peer's.
    pub flow: &'a str,
    /// What happened: `data`, `retransmission`, `ack`, `dupack`, `sack`, `window`, `keepalive`, `close`; before a
    /// retransmission its reason, `dupack_sack` or `timeout`.
    pub event: &'static str,
    /// Number of the first byte sent, acknowledged or in the first SACK block; the first byte of the sender has 0.
    pub seq: i64,
    /// Bytes sent, newly acknowledged, or in the first SACK block.
    pub bytes: i64,
    /// Bytes in flight afterwards; unknown until the first ACK.
    pub in_flight: Option<i64>,
}

impl Line<'_> {
    /// The first line of the strip.
    pub const HEADING: &'static str = "t_s,flow,event,seq,bytes,in_flight_bytes\n";

    /// Its line.
    pub fn csv(&self) -> String {
        let in_flight = self.in_flight.map_or(String::new(), |n| n.to_string());
        let (us, flow) = (self.at_ns.saturating_add(500) / 1000, self.flow);
        let (s, us) = (us / 1_000_000, us % 1_000_000);
        format!("{s}.{us:06},{flow},{},{},{},{in_flight}\n", self.event, self.seq, self.bytes)
    }
}

/// Receives the lines of the event strip.
pub type Strip<'s> = dyn FnMut(Line<'_>) + 's;

/// The connections of a capture while it is read.
#[derive(Debug, Default)]
pub struct Connections {
    /// By both ends, the smaller first.
    open: BTreeMap<[SocketAddr; 2], Connection>,
    /// Senders of connections whose addresses were used again, and the order of their first data.
    done: Vec<(u64, Sender)>,
    senders: u64,
    segments: u64,
}

impl Connections {
    /// Takes an IP packet: the time since the beginning of the capture, the place where it was seen, its first bytes,
    /// and how many it had at most. A packet of a `damaged` frame is used only if it fits to an open connection. The
    /// answer is true if the packet was used.
    ///
    /// # Errors
    /// When the capture has too many connections.
    pub fn packet(
        &mut self,
        at_ns: u64,
        place: u64,
        bytes: &[u8],
        length: u32,
        damaged: bool,
        strip: &mut Strip<'_>,
    ) -> Result<bool> {
        let Some(s) = Segment::read(bytes, length) else { return Ok(false) };
        let key = if s.from <= s.to { [s.from, s.to] } else { [s.to, s.from] };
        let i = usize::from(s.from != key[0]);
        if damaged && !(s.intact && self.open.get(&key).is_some_and(|c| c.fits(&s, i))) {
            return Ok(false);
        }
        if s.has(SYN)
            && self.open.get(&key).is_some_and(|c| c.is_over(&s, i))
            && let Some(old) = self.open.remove(&key)
        {
            // An address pair that is used again is another connection.
            self.done.extend(old.end());
        }
        if self.open.len() >= MOST_CONNECTIONS && !self.open.contains_key(&key) {
            return Err(Refusal::new(
                format!("the capture has more than {MOST_CONNECTIONS} connections"),
                "take those of one port: tcpdump -r FILE -w SHORTER tcp port 5201",
            ));
        }
        let c = self.open.entry(key).or_insert_with(|| Connection::new(at_ns));
        // On the interface "any", a packet is seen at each device that it passes.
        if *c.ends[i].place.get_or_insert(place) != place {
            return Ok(false);
        }
        self.segments += 1;
        c.passes(at_ns);
        let [a, b] = &mut c.ends;
        let (sender, receiver) = if i == 0 { (a, b) } else { (b, a) };
        if s.has(SYN) {
            sender.opens(&s);
            c.marks.handshake(&s);
        }
        if s.has(ACK) && !s.has(RST) {
            receiver.hears(at_ns, &s, strip);
        }
        if s.bytes > 0 && !s.has(RST) {
            if !sender.began() {
                sender.flow = format!("{}>{}", s.from, s.to);
                sender.order = self.senders;
                self.senders += 1;
                sender.sent_at = c.first_ns;
                sender.acked_at = at_ns;
            }
            let peer_mss = receiver.mss_option;
            sender.sends(at_ns, &s, peer_mss, strip);
        }
        if s.has(FIN | RST) {
            sender.closes(at_ns, &s, strip);
        }
        Ok(true)
    }

    /// The senders, in the order of their first data.
    ///
    /// # Errors
    /// When the capture had no TCP, or no data in it.
    pub fn end(mut self) -> Result<Vec<Sender>> {
        for (_, c) in std::mem::take(&mut self.open) {
            self.done.extend(c.end());
        }
        if self.segments == 0 {
            return Err(Refusal::new(
                "the capture has no TCP",
                "capture the connection's packets: tcpdump -w FILE tcp",
            ));
        }
        if self.done.is_empty() {
            return Err(Refusal::new(
                "no TCP connection in the capture has data",
                "capture while data are sent, on the host that sends",
            ));
        }
        self.done.sort_by_key(|(order, _)| *order);
        Ok(self.done.into_iter().map(|(_, s)| s).collect())
    }
}

/// Whether marks can be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Marks {
    /// The handshake was not captured, or agreed on another feedback than that of RFC 3168.
    #[default]
    Unknown,
    /// The SYN asked for ECN.
    Asked,
    /// No marks are possible.
    Off,
    /// RFC 3168.
    Classic,
}

impl Marks {
    /// RFC 3168 §6.1.1; RFC 9768 §3.1.1.
    fn handshake(&mut self, s: &Segment) {
        *self = match (*self, s.has(ACK), s.ae, s.has(CWR), s.has(ECE)) {
            (_, false, _, true, true) => Marks::Asked,
            (_, false, ..) => Marks::Off,
            (Marks::Asked, true, false, false, true) => Marks::Classic,
            (Marks::Asked, true, false, false, false) => Marks::Off,
            (Marks::Asked, true, ..) => Marks::Unknown,
            (other, true, ..) => other,
        };
    }
}

#[derive(Debug)]
struct Connection {
    first_ns: u64,
    last_ns: u64,
    marks: Marks,
    /// The directions: from the smaller address, and to it.
    ends: [Direction; 2],
}

impl Connection {
    fn new(at_ns: u64) -> Connection {
        Connection { first_ns: at_ns, last_ns: at_ns, marks: Marks::Unknown, ends: Default::default() }
    }

    /// True if a SYN begins another connection.
    fn is_over(&self, syn: &Segment, i: usize) -> bool {
        let closed = self.ends.iter().any(|d| d.fin.is_some());
        (closed || self.ends[i].syn != Some(syn.seq)) && self.ends.iter().any(Direction::began)
    }

    /// True if the segment is near what the connection has sent.
    fn fits(&self, s: &Segment, i: usize) -> bool {
        let d = &self.ends[i];
        d.base.is_some() && (d.una - NEAR..d.high + NEAR).contains(&d.offset(s.seq)) && !s.has(SYN | RST)
    }

    fn passes(&mut self, at_ns: u64) {
        let ns = at_ns.saturating_sub(self.last_ns);
        for d in &mut self.ends {
            d.byte_seconds += d.in_flight() as f64 * ns as f64 / 1e9;
        }
        self.last_ns = self.last_ns.max(at_ns);
    }

    fn end(self) -> Vec<(u64, Sender)> {
        let (first_ns, last_ns, marks) = (self.first_ns, self.last_ns, self.marks);
        self.ends.into_iter().filter(Direction::began).map(|d| (d.order, d.end(first_ns, last_ns, marks))).collect()
    }
}

/// Segments, of which some may be super-segments.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Single segments, and super-segments in units of a known MSS.
    single: u64,
    /// Super-segments whose MSS is not known yet, and their bytes.
    large: u64,
    large_bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: u32, packet: u32, mss: Option<u32>) {
        match mss {
            Some(mss) => self.single += u64::from(bytes.div_ceil(mss.max(1))),
            None if packet <= USUAL_PACKET => self.single += 1,
            None => {
                self.large += 1;
                self.large_bytes += u64::from(bytes);
            }
        }
    }

    fn total(&self, mss: Option<u32>) -> u64 {
        let parts = mss.map_or(0, |m| self.large_bytes.div_ceil(u64::from(m.max(1))));
        self.single + parts.max(self.large)
    }
}

/// One direction of a connection: its data, and what the other end says of them.
#[derive(Debug, Default)]
struct Direction {
    place: Option<u64>,
    /// Number of the SYN.
    syn: Option<u32>,
    mss_option: Option<u16>,
    /// The wire's number of offset 0: the first byte of data.
    base: Option<u32>,
    /// Offsets: behind the highest byte sent, and the first byte that is not acknowledged.
    high: i64,
    una: i64,
    /// Where data end.
    fin: Option<i64>,
    /// The window of the last ACK; `None` before the first.
    window: Option<u16>,
    last_ack: u64,
    /// When the byte at `una` was sent, or became the first that is not acknowledged.
    una_since: u64,
    /// Duplicate ACKs since the last one that acknowledged something, and whether blocks above `una` are known.
    duplicates: u32,
    sacked: bool,
    /// While it repairs a loss: the highest byte when it began.
    repairs_until: Option<i64>,
    /// The segment that is timed: its end, and when it was sent.
    timed: Option<(i64, u64)>,
    /// Smoothed round-trip time in nanoseconds, and the largest.
    srtt: Option<u64>,
    srtt_max: u64,
    // What is found.
    order: u64,
    flow: String,
    sent: Count,
    retransmitted: Count,
    /// The largest segment in a usual packet.
    largest: u32,
    mss: Option<u32>,
    acked: u64,
    unseen: u64,
    recoveries: u64,
    timeouts: u64,
    marks: u64,
    sent_at: u64,
    silence: u64,
    acked_at: u64,
    gaps: Gaps,
    byte_seconds: f64,
    most_in_flight: i64,
}

impl Direction {
    /// True if it has sent data.
    fn began(&self) -> bool {
        !self.flow.is_empty()
    }

    fn in_flight(&self) -> i64 {
        self.high - self.una
    }

    /// The offset of a number on the wire: the one that is nearest to what was sent last.
    fn offset(&self, wire: u32) -> i64 {
        let at = self.base.unwrap_or(wire).wrapping_add(self.high as u32);
        self.high + i64::from(wire.wrapping_sub(at) as i32)
    }

    fn line(&self, at_ns: u64, event: &'static str, seq: i64, bytes: i64, strip: &mut Strip<'_>) {
        if self.began() {
            let in_flight = self.window.map(|_| self.in_flight());
            strip(Line { at_ns, flow: &self.flow, event, seq, bytes, in_flight });
        }
    }

    fn opens(&mut self, s: &Segment) {
        if !self.began() {
            self.syn = Some(s.seq);
            self.base = Some(s.seq.wrapping_add(1));
            (self.high, self.una) = (0, 0);
            self.mss_option = s.mss;
        }
    }

    /// Data are sent.
    fn sends(&mut self, at_ns: u64, s: &Segment, peer_mss: Option<u16>, strip: &mut Strip<'_>) {
        let first = s.seq.wrapping_add(u32::from(s.has(SYN)));
        if self.sent.total(None) == 0 && self.syn.is_none() {
            // The capture began later than the connection. What was acknowledged is below the first byte.
            let before = self.base.map_or(0, |_| self.offset(first) - self.una);
            self.base = Some(first);
            // No window is larger (RFC 7323 §2.3).
            (self.high, self.una, self.unseen) = (0, -before.clamp(0, 1 << 30), 0);
        }
        let (from, len) = (self.offset(first), i64::from(s.bytes));
        let end = from + len;
        // RFC 9293 §3.8.4: a keep-alive repeats the last byte, which is acknowledged.
        if len == 1 && end == self.high && self.una == self.high && self.began() && self.sent.total(None) > 0 {
            return self.line(at_ns, "keepalive", from, len, strip);
        }
        // RFC 9293 §3.7.1: the option does not count TCP options, a segment's size does.
        if let (Some(own), Some(peer)) = (self.mss_option, peer_mss) {
            let mss = u32::from(own.min(peer)).saturating_sub(s.options).max(1);
            self.mss = Some(self.mss.unwrap_or(0).max(mss));
        }
        if s.packet <= USUAL_PACKET {
            self.largest = self.largest.max(s.bytes);
        }
        self.sent.add(s.bytes, s.packet, self.mss);
        if s.has(CWR) && !s.has(SYN) {
            self.marks += 1;
        }
        self.silence = self.silence.max(at_ns.saturating_sub(self.sent_at));
        self.sent_at = at_ns;
        let again = end <= self.high;
        if again {
            self.retransmitted.add(s.bytes, s.packet, self.mss);
            self.judges(at_ns, from, end, strip);
        } else {
            self.unseen += u64::try_from(from - self.high).unwrap_or(0);
            self.high = end;
            self.timed = self.timed.or(Some((end, at_ns)));
        }
        if from <= self.una && self.una < end {
            self.una_since = at_ns;
        }
        self.most_in_flight = self.most_in_flight.max(self.in_flight());
        self.line(at_ns, if again { "retransmission" } else { "data" }, from, len, strip);
    }

    /// Finds out why the bytes from `from` to `end` are retransmitted.
    fn judges(&mut self, at_ns: u64, from: i64, end: i64, strip: &mut Strip<'_>) {
        // Karn: a round-trip time of retransmitted data is ambiguous.
        self.timed = self.timed.filter(|t| from >= t.0);
        if self.window.is_none() {
            return;
        }
        let rtt = self.srtt.unwrap_or(SHORTEST_TIMEOUT_NS);
        let waited = at_ns.saturating_sub(self.una_since) >= rtt.max(SHORTEST_TIMEOUT_NS);
        let quiet = at_ns.saturating_sub(self.last_ack) >= rtt / 2;
        let event = if from <= self.una && self.una < end && waited && quiet {
            self.timeouts += 1;
            "timeout"
        } else if self.repairs_until.is_none() && (self.sacked || self.duplicates >= 3) {
            self.recoveries += 1;
            "dupack_sack"
        } else {
            return;
        };
        self.repairs_until = Some(self.high);
        self.line(at_ns, event, from, end - from, strip);
    }

    /// An ACK of the other end arrives.
    fn hears(&mut self, at_ns: u64, s: &Segment, strip: &mut Strip<'_>) {
        let first = self.window.is_none();
        if self.base.is_none() {
            self.base = Some(s.ack);
        }
        let mut ack = self.offset(s.ack);
        // The number of a FIN is no byte.
        ack = self.fin.map_or(ack, |fin| ack.min(fin));
        let same_window = self.window.replace(s.window) == Some(s.window);
        if first && ack < self.una {
            self.una = ack;
        }
        let block = s.sack().first().map(|(l, r)| (self.offset(*l), self.offset(*r)));
        // RFC 2883 §4: the first block of a D-SACK is below the acknowledgment or inside the second.
        let duplicate = block.is_some_and(|(l, r)| {
            r <= ack || s.sack().get(1).is_some_and(|(from, to)| self.offset(*from) <= l && r <= self.offset(*to))
        });
        let above = s.sack().iter().skip(usize::from(duplicate)).any(|(_, r)| self.offset(*r) > ack);
        if ack > self.una {
            self.advances(at_ns, ack, above, strip);
        } else if ack == self.una && s.bytes == 0 && !s.has(SYN | FIN) && self.in_flight() > 0 {
            self.last_ack = at_ns;
            // RFC 5681 §2, RFC 6675 §2: with SACK, what counts is a block.
            if above {
                self.duplicates += 1;
            } else if s.sack().is_empty() && same_window {
                self.duplicates += 1;
                self.line(at_ns, "dupack", ack, 0, strip);
            } else if s.sack().is_empty() {
                self.line(at_ns, "window", ack, 0, strip);
            }
        } else if ack == self.una && s.bytes == 0 && !same_window {
            self.line(at_ns, "window", ack, 0, strip);
        }
        if let (Some((l, r)), true) = (block, ack >= self.una) {
            self.sacked |= above;
            self.line(at_ns, "sack", l, (r - l).max(0), strip);
        }
    }

    fn advances(&mut self, at_ns: u64, ack: i64, above: bool, strip: &mut Strip<'_>) {
        let (from, bytes) = (self.una, ack - self.una);
        (self.una, self.una_since, self.last_ack) = (ack, at_ns, at_ns);
        if ack > self.high {
            self.unseen += u64::try_from(ack - self.high).unwrap_or(0);
            self.high = ack;
        }
        if let Some((end, sent)) = self.timed
            && end <= ack
        {
            // RFC 6298 §2.
            let sample = at_ns.saturating_sub(sent);
            let srtt = self.srtt.map_or(sample, |s| s - s / 8 + sample / 8);
            (self.srtt, self.srtt_max, self.timed) = (Some(srtt), self.srtt_max.max(srtt), None);
        }
        (self.duplicates, self.sacked) = (0, above);
        self.repairs_until = self.repairs_until.filter(|high| ack < *high);
        if self.began() {
            self.acked += bytes as u64;
            self.gaps.add(at_ns.saturating_sub(self.acked_at));
            self.acked_at = at_ns;
        }
        self.line(at_ns, "ack", from, bytes, strip);
    }

    fn closes(&mut self, at_ns: u64, s: &Segment, strip: &mut Strip<'_>) {
        if self.base.is_some() {
            let end = self.offset(s.seq) + i64::from(s.bytes);
            if s.has(FIN) && end >= self.high {
                self.fin = Some(end);
            }
            self.line(at_ns, "close", end, 0, strip);
        }
    }

    fn end(self, first_ns: u64, last_ns: u64, marks: Marks) -> Sender {
        let heard = self.window.is_some();
        let mut events = BTreeMap::new();
        if heard {
            events.insert(Event::DupackSack, self.recoveries);
            events.insert(Event::Timeout, self.timeouts);
        }
        match marks {
            Marks::Classic => events.insert(Event::Marked, self.marks),
            Marks::Off => events.insert(Event::Marked, 0),
            Marks::Unknown | Marks::Asked => None,
        };
        let s = |ns: u64| ns as f64 / 1e9;
        let seconds = s(last_ns.saturating_sub(first_ns));
        let mss = self.mss.or(Some(self.largest).filter(|n| *n > 0));
        let in_flight = heard.then(|| {
            (if seconds > 0.0 { self.byte_seconds / seconds } else { 0.0 }, self.most_in_flight.max(0) as u64)
        });
        Sender {
            flow: self.flow,
            congestion: None,
            span_s: (s(first_ns), s(last_ns)),
            cwnd: None,
            rtt_max_us: self.srtt.map(|_| u32::try_from(self.srtt_max / 1000).unwrap_or(u32::MAX)),
            events,
            sent: self.sent.total(mss),
            retransmitted: self.retransmitted.total(mss),
            acked: heard.then_some(self.acked),
            silence_s: s(self.silence.max(last_ns.saturating_sub(self.sent_at))),
            ack_gaps: self.gaps,
            captured: Some(Captured { in_flight, mss, handshake: self.mss.is_some(), unseen: self.unseen }),
        }
    }
}
