//! COBALT: CoDel and BLUE side by side on one queue. CoDel signals to senders that answer; BLUE drops what does not, as
//! the queue overflows.
//!
//! Linux, `net/sched/sch_cake.c`: `cobalt_queue_full`, `cobalt_queue_empty`, `cobalt_should_drop`.

use super::super::{Sink, happens};
use crate::Cx;
use crate::packet::Packet;
use crate::time::{Span, Time};

/// `p_inc`: the step by which an overflow raises the probability of BLUE.
const INCREMENT: f64 = 1.0 / 256.0;
/// `p_dec`: the step by which an idle turn lowers it.
const DECREMENT: f64 = 1.0 / 4096.0;

/// The settings of a [`Cobalt`], the same for all queues of a tin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Law {
    /// Acceptable waiting time, and the time between two steps of BLUE.
    pub(super) target: Span,
    /// Time from the first packet above target to the first signal.
    pub(super) interval: Span,
    /// `mtu_time`: time in which the largest packet is sent.
    pub(super) mtu_time: Span,
}

impl Law {
    // cobalt_control: t + interval / sqrt(count), rounded down to a nanosecond; no signal counts as one.
    fn next(&self, t: Time, count: u32) -> Time {
        let root = libm::sqrt(f64::from(count.max(1)));
        t.saturating_add(Span::from_nanos((self.interval.as_nanos() as f64 / root) as u64))
    }
}

/// The state of one queue (`struct cobalt_vars`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    /// `count`: signals of CoDel; it falls again while the waiting time is below target.
    count: u32,
    /// `drop_next`: time of the next signal, or until which the state is kept.
    drop_next: Time,
    /// `blue_timer`: the last step of BLUE.
    stepped: Option<Time>,
    /// `p_drop`: the probability of BLUE.
    p_drop: f64,
    /// `dropping`: true while the waiting time is above target.
    dropping: bool,
}

impl Cobalt {
    /// True if an idle queue still has something to forget.
    pub(super) fn is_active(&self, now: Time) -> bool {
        self.p_drop > 0.0 || self.count > 0 || now < self.drop_next
    }

    fn may_step(&self, law: &Law, now: Time) -> bool {
        self.stepped.is_none_or(|t| now.since(t) > law.target)
    }

    /// A packet of the queue was dropped because of the limit.
    pub(super) fn is_full(&mut self, law: &Law, now: Time) {
        if self.may_step(law, now) {
            self.p_drop = (self.p_drop + INCREMENT).min(1.0);
            self.stepped = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue had a turn and was empty.
    pub(super) fn is_empty(&mut self, law: &Law, now: Time) {
        if self.p_drop > 0.0 && self.may_step(law, now) {
            self.p_drop = (self.p_drop - DECREMENT).max(0.0);
            self.stepped = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = law.next(self.drop_next, self.count);
        }
    }

    /// True if `p`, the first packet, is to be dropped. CoDel marks it instead if its transport supports ECN; BLUE
    /// never does. While `bulk` flows are busy, two packets of each are not too many.
    pub(super) fn drops(&mut self, law: &Law, cx: &mut Cx, p: &mut Packet, bulk: u64, sink: &mut Sink) -> bool {
        let (now, waited) = (cx.now, cx.now.since(p.queued));
        let above = waited > law.target && waited > law.mtu_time * (2 * bulk).max(4);
        let mut due = self.count > 0 && now >= self.drop_next;
        // The sign of `schedule`, which the kernel computes before `drop_next` changes.
        let mut late = now > self.drop_next;
        if above {
            if !self.dropping {
                self.drop_next = law.next(now, self.count);
            }
            self.count = self.count.max(1);
        }
        self.dropping = above;
        let mut drop = false;
        if due && above {
            drop = !sink.mark(p);
            self.count = self.count.saturating_add(1);
            self.drop_next = law.next(self.drop_next, self.count);
            late = now > self.drop_next;
        } else {
            while due {
                self.count -= 1;
                self.drop_next = law.next(self.drop_next, self.count);
                late = now > self.drop_next;
                due = self.count > 0 && now >= self.drop_next;
            }
        }
        drop |= happens(self.p_drop, cx.rng);
        if self.count == 0 {
            self.drop_next = now.saturating_add(law.interval);
        } else if late && !drop {
            self.drop_next = now;
        }
        drop
    }
}
