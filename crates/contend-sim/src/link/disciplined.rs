//! A queue with any discipline. It is asked for the next packet at the end of each transmission.

use super::line::Line;
use contend_core::qdisc::{Qdisc, Sink};
use contend_core::{Cx, Packet, Rng, Time};

/// A discipline behind its trait, and the packet that is being sent.
#[derive(Debug)]
pub(super) struct Disciplined {
    qdisc: Box<dyn Qdisc>,
    rng: Rng,
    sink: Sink,
    /// The packet being sent, and when its last bit leaves.
    sending: Option<(Packet, Time)>,
    /// True if the far end has paused it: no other packet begins.
    paused: bool,
}

impl Disciplined {
    pub(super) fn new(qdisc: Box<dyn Qdisc>, rng: Rng) -> Disciplined {
        Disciplined { qdisc, rng, sink: Sink::default(), sending: None, paused: false }
    }

    /// The probability of its law.
    pub(super) fn probability(&self) -> Option<f64> {
        self.qdisc.probability()
    }

    /// Packets that wait.
    pub(super) fn waiting(&self) -> u64 {
        self.qdisc.backlog().packets
    }

    /// Packets that are being sent: 0 or 1.
    pub(super) fn sending(&self) -> u64 {
        u64::from(self.sending.is_some())
    }

    /// The next deadline.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.sending.map_or(self.qdisc.next_deadline(), |(_, ends)| ends)
    }

    /// Does what is due by `now`.
    pub(super) fn wake(&mut self, now: Time, line: &mut Line<'_>) {
        // On an idle wire no packet waits, or none may leave yet. Then the discipline is not asked.
        if self.sending.is_some() || self.qdisc.next_deadline() <= now {
            self.send(now, line);
        }
    }

    /// Ends the transmission that is over by `now` and begins the next. If transmissions take no time, this repeats
    /// until no packet waits.
    fn send(&mut self, now: Time, line: &mut Line<'_>) {
        loop {
            if let Some((p, ends)) = &self.sending {
                if *ends > now {
                    return;
                }
                line.ring.push(p, p.queued, *ends);
            }
            self.sending = None;
            if self.paused {
                return;
            }
            let next = self.qdisc.dequeue(&mut Cx { now, rng: &mut self.rng }, line.transmitter, &mut self.sink);
            line.meter.settle(now, &mut self.sink, line.trace);
            self.sending = next.map(|p| {
                line.meter.taken(now, &p);
                (p, line.transmitter.ends(now, p.queued, p.size))
            });
            if self.sending.is_none() {
                return;
            }
        }
    }

    pub(super) fn offer(&mut self, now: Time, p: &Packet, line: &mut Line<'_>) {
        self.wake(now, line);
        line.meter.offered(now);
        let cx = &mut Cx { now, rng: &mut self.rng };
        self.qdisc.enqueue(cx, line.transmitter, p.queued_at(now), &mut self.sink);
        line.meter.settle(now, &mut self.sink, line.trace);
        self.send(now, line);
    }

    /// From `now` on begins no other packet (true), or continues (false).
    pub(super) fn pause(&mut self, now: Time, pause: bool, line: &mut Line<'_>) {
        self.wake(now, line);
        self.paused = pause;
        self.send(now, line);
    }
}
