//! What a run leaves behind: a digest of all packet and frame events, and, when asked, the frames themselves.
//!
//! The digest covers what happened (a packet sent, delivered, dropped; a frame started and how it ended), never how the simulator got
//! there (wake-ups), so a change of the engine that keeps the world the same keeps the digest.

use crate::rng::mix;
use crate::wifi::Frame;
use contend_core::{Packet, Time};

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A transport handed it to the network.
    Sent,
    /// It reached its destination host.
    Delivered,
    /// A queue, a link or the MAC dropped it.
    Dropped,
}

/// The record of a run.
#[derive(Debug, Default)]
pub struct Trace {
    digest: u64,
    capture: Option<Capture>,
}

/// Frames kept for a capture file or the report's timeline.
#[derive(Debug)]
pub struct Capture {
    /// First instant kept.
    pub from: Time,
    /// First instant not kept any more.
    pub to: Time,
    /// Most frames kept; further ones are counted in `missed`.
    pub limit: usize,
    /// The frames, by start.
    pub frames: Vec<Frame>,
    /// Frames inside the interval that did not fit.
    pub missed: u64,
}

impl Trace {
    /// A trace that keeps the digest only.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// A trace that also keeps up to `limit` frames that start in `from..to`.
    pub fn capturing(from: Time, to: Time, limit: usize) -> Trace {
        Trace { digest: 0, capture: Some(Capture { from, to, limit, frames: Vec::new(), missed: 0 }) }
    }

    /// The digest of all events so far.
    pub fn digest(&self) -> u64 {
        mix(self.digest)
    }

    /// The captured frames, when frames are captured.
    pub fn capture(&self) -> Option<&Capture> {
        self.capture.as_ref()
    }

    /// Notes that `p` met `event` at `now`.
    pub fn packet(&mut self, now: Time, event: Event, p: &Packet) {
        let seq = match &p.body {
            contend_core::Body::Tcp(s) => s.seq.wrapping_add(s.ack << 20),
            contend_core::Body::Udp { seq } => *seq,
        };
        let what = event as u64 | u64::from(p.reverse) << 2 | u64::from(p.flow.0) << 8 | u64::from(p.size) << 40;
        self.note(now, what, seq);
    }

    /// Notes that `frame` was on the air.
    pub fn frame(&mut self, frame: &Frame) {
        let what = 1 << 7 | u64::from(frame.from) << 8 | u64::from(frame.to) << 32 | frame.outcome as u64 | (frame.kind as u64) << 4;
        self.note(frame.start, what, frame.end.as_nanos());
        if let Some(c) = &mut self.capture
            && frame.start >= c.from
            && frame.start < c.to
        {
            if c.frames.len() < c.limit {
                c.frames.push(*frame);
            } else {
                c.missed += 1;
            }
        }
    }

    fn note(&mut self, now: Time, what: u64, more: u64) {
        // Multiply and fold: order-dependent, and cheap enough to stay on in every run.
        let x = (self.digest ^ now.as_nanos()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.digest = (x ^ what ^ more.rotate_left(17)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    }
}
