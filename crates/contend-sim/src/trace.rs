//! The record of a run: a digest of all events, and the segments that did not arrive.
//!
//! The digest covers what happened (a packet was sent, delivered or dropped; a frame was on the air), never how the
//! simulator got there (wake-ups). A change of the engine that keeps the events keeps the digest.

use crate::rng::{fold, mix};
use contend_core::cc::Cause;
use contend_core::{Body, FlowId, Packet, Time};

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A transport handed it to the network.
    Sent,
    /// It reached its destination host.
    Delivered,
    /// A queue dropped it, or it had nowhere to go.
    Dropped,
    /// The medium corrupted it: an error on a wire, or so many errors on the air that the MAC gave up.
    Lost,
}

impl Event {
    /// Its number in the digest. The digest does not distinguish why a packet did not arrive.
    const fn number(self) -> u64 {
        match self {
            Event::Sent => 0,
            Event::Delivered => 1,
            Event::Dropped | Event::Lost => 2,
        }
    }
}

/// A TCP data segment that did not arrive.
#[derive(Clone, Copy, Debug)]
struct Missing {
    seq: u64,
    copy: u8,
    cause: Cause,
}

/// The record of a run.
#[derive(Debug, Default)]
pub struct Trace {
    digest: u64,
    /// For each flow, the segments that did not arrive and may still be asked for.
    missing: Vec<Vec<Missing>>,
}

impl Trace {
    /// The record of a run that has not begun.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// The digest of all events so far.
    pub fn digest(&self) -> u64 {
        mix(self.digest)
    }

    /// Records that `event` happened to `p` at `now`.
    #[inline]
    pub fn packet(&mut self, now: Time, event: Event, p: &Packet) {
        let seq = match &p.body {
            Body::Tcp(s) => s.seq.wrapping_add(s.ack << 20),
            Body::Udp { seq } => *seq,
        };
        match event {
            Event::Sent | Event::Delivered => {}
            Event::Dropped => self.missed(p, Cause::Congestion),
            Event::Lost => self.missed(p, Cause::Error),
        }
        // Flow and size are neighbours in the packet: together they are one number in memory.
        let flow_and_size = u64::from(p.size) << 32 | u64::from(p.flow.0);
        let what = event.number() | u64::from(p.is_reverse()) << 2 | flow_and_size << 8;
        self.record(now, what, seq);
    }

    /// Why transmission `copy` of the segment of `flow` that begins at byte `seq` did not arrive; `None` if it arrived
    /// or is on its way. Segments before byte `una` are forgotten: later calls ask only for `una` and above.
    pub fn fate(&mut self, flow: FlowId, una: u64, seq: u64, copy: u8) -> Option<Cause> {
        let missing = self.missing.get_mut(flow.0 as usize)?;
        missing.retain(|m| m.seq >= una);
        missing.iter().find(|m| m.seq == seq && m.copy == copy).map(|m| m.cause)
    }

    #[cold]
    fn missed(&mut self, p: &Packet, cause: Cause) {
        // Nobody asks for the fate of a real packet, whose bytes are its payload; the list would only grow.
        let Some(s) = p.segment().filter(|s| s.len > 0 && p.payload == 0) else { return };
        let m = Missing { seq: s.seq, copy: s.copy, cause };
        let flow = p.flow.0 as usize;
        if self.missing.len() <= flow {
            self.missing.resize_with(flow + 1, Vec::new);
        }
        self.missing[flow].push(m);
    }

    /// Records an event at `at`: `what` it is, and one number `more` that belongs to it. Events of packets leave bit 7
    /// of `what` clear; other events set it.
    #[inline]
    pub fn record(&mut self, at: Time, what: u64, more: u64) {
        self.digest = fold(self.digest, at.as_nanos(), what ^ more.rotate_left(17));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::Segment;

    fn data(seq: u64, copy: u8) -> Packet {
        let body = Body::Tcp(Segment { seq, copy, len: 1000, ..Segment::default() });
        Packet::new(FlowId(1), 1040, Time::ZERO, body)
    }

    #[test]
    fn why_a_segment_did_not_arrive_is_told_by_transmission_until_it_is_acknowledged() {
        let mut t = Trace::new();
        t.packet(Time::ZERO, Event::Dropped, &data(0, 0));
        t.packet(Time::ZERO, Event::Lost, &data(0, 1));
        t.packet(Time::ZERO, Event::Delivered, &data(1000, 0));
        let f = FlowId(1);
        assert_eq!(
            [t.fate(f, 0, 0, 0), t.fate(f, 0, 0, 1), t.fate(f, 0, 0, 2)],
            [Some(Cause::Congestion), Some(Cause::Error), None]
        );
        assert_eq!((t.fate(f, 0, 1000, 0), t.fate(FlowId(7), 0, 0, 0)), (None, None));
        assert_eq!((t.fate(f, 1000, 1000, 0), t.fate(f, 0, 0, 0)), (None, None));
    }

    #[test]
    fn an_error_and_a_full_queue_are_the_same_to_the_digest() {
        let digest = |e| {
            let mut t = Trace::new();
            t.packet(Time::ZERO, e, &data(0, 0));
            t.digest()
        };
        assert_eq!(digest(Event::Lost), digest(Event::Dropped));
    }
}
