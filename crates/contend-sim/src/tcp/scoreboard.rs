//! The segments that are sent and not yet acknowledged.
//!
//! The cost of an acknowledgment depends on what it changes, not on the size of the window: counters replace sums over
//! the window, cursors only move forward, and a run of selectively acknowledged segments is skipped in one step. A
//! window of 10,000 segments costs no more per ACK than a window of ten.
//!
//! A segment is in at most one of the states sacked and lost. A lost segment may have been retransmitted. The
//! scoreboard counts segments, not bytes: a hole is lost when `dupthresh` segments above it are selectively
//! acknowledged. For full segments this is RFC 6675 §4 IsLost.

use contend_core::Time;
use std::collections::VecDeque;

/// One segment on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentSegment {
    /// First byte.
    pub seq: u64,
    /// Payload in bytes.
    pub len: u32,
    /// From a selectively acknowledged segment on, how many in a row are known to be, itself included.
    run: u32,
    /// When it was first sent.
    pub first: Time,
    /// When it was last sent.
    pub sent: Time,
    /// The number of its last transmission in the connection, which orders transmissions of the same instant.
    pub order: u32,
    /// How often it was retransmitted.
    pub copies: u8,
    flags: u8,
}

impl SentSegment {
    /// One past its last byte.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

/// The result of a look at a segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It is lost.
    Lost,
    /// It is not lost.
    Keep,
    /// It is not lost, and no later segment is.
    Stop,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// True if the segment was retransmitted since it was last taken as lost.
const AGAIN: u8 = 4;

/// What a cumulative acknowledgment covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Segments.
    pub segments: u32,
    /// Those of them that were not selectively acknowledged before.
    pub unsacked: u32,
    /// True if any of them was sent more than once (Karn).
    pub ambiguous: bool,
    /// When the first of them that was neither retransmitted nor selectively acknowledged had been sent.
    pub oldest: Option<Time>,
    /// When the last such one had been sent.
    pub newest: Option<Time>,
    /// When the last segment had been sent, unless it was retransmitted or selectively acknowledged before.
    pub last: Option<Time>,
}

/// The numbers of the segments that changed since the changes were last cleared.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Segments that arrived, as they were before the acknowledgment.
    pub delivered: Vec<(u64, SentSegment)>,
    /// Segments taken as lost; a segment is listed again if its retransmission is lost.
    pub lost: Vec<u64>,
}

/// The segments between the oldest unacknowledged byte and the next new one. Segments are named by their number in the
/// connection.
#[derive(Debug)]
pub struct Scoreboard {
    ring: VecDeque<SentSegment>,
    /// Number of the first segment in `ring`.
    base: u64,
    una: u64,
    nxt: u64,
    /// Usual payload of a segment, to guess where a byte is.
    mss: u32,
    sacked: u32,
    lost: u32,
    again: u32,
    /// [`Scoreboard::in_flight`]. It is asked for more often than it changes.
    in_flight: u32,
    /// Transmissions so far.
    orders: u32,
    /// All below are selectively acknowledged or retransmitted.
    cursor: u64,
    /// All below that are not selectively acknowledged are lost.
    lost_below: u64,
    /// The highest selectively acknowledged segments, highest first, at most the duplicate threshold.
    top: Vec<u64>,
    dupthresh: usize,
    /// The changes, if they are kept.
    changes: Option<Box<Changes>>,
}

impl Scoreboard {
    /// Nothing sent; the first byte will be `seq`.
    pub fn new(seq: u64, mss: u32, dupthresh: u32) -> Scoreboard {
        let dupthresh = dupthresh.max(1) as usize;
        let ring = VecDeque::with_capacity(64);
        Scoreboard {
            ring,
            base: 0,
            una: seq,
            nxt: seq,
            mss,
            sacked: 0,
            lost: 0,
            again: 0,
            in_flight: 0,
            orders: 0,
            cursor: 0,
            lost_below: 0,
            top: Vec::with_capacity(dupthresh),
            dupthresh,
            changes: None,
        }
    }

    /// Keeps changes from now on.
    pub fn keep_changes(&mut self) {
        self.changes = Some(Box::default());
    }
    /// The changes, if they are kept.
    pub fn changes(&self) -> Option<&Changes> {
        self.changes.as_deref()
    }
    /// Clears the changes.
    pub fn forget_changes(&mut self) {
        if let Some(n) = &mut self.changes {
            n.delivered.clear();
            n.lost.clear();
        }
    }
    /// Number of the first unacknowledged segment, or of the next new one.
    pub fn first(&self) -> u64 {
        self.base
    }
    /// Number of the next new segment.
    pub fn next(&self) -> u64 {
        self.base + self.ring.len() as u64
    }

    /// Retransmissions so far, modulo 2^32.
    pub fn resent(&self) -> u32 {
        self.orders.wrapping_sub(self.next() as u32)
    }

    /// Oldest unacknowledged byte.
    pub fn una(&self) -> u64 {
        self.una
    }
    /// Next new byte.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }
    /// The first unacknowledged segment.
    pub fn head(&self) -> Option<&SentSegment> {
        self.ring.front()
    }
    /// Segments sent and not acknowledged.
    pub fn outstanding(&self) -> u32 {
        self.ring.len() as u32
    }
    /// Segments selectively acknowledged.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }
    /// Segments taken as lost.
    pub fn lost(&self) -> u32 {
        self.lost
    }
    /// Segments taken to be in the network: outstanding, less selectively acknowledged and lost ones, plus those sent
    /// again (RFC 6675 §4 SetPipe).
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }
    /// Updates the segments in flight after a change of any of the counts.
    fn recount(&mut self) {
        self.in_flight = self.outstanding() - self.sacked - self.lost + self.again;
    }

    /// Notes a new segment of `len` bytes and returns it.
    pub fn push(&mut self, len: u32, now: Time) -> SentSegment {
        let s =
            SentSegment { seq: self.nxt, len, run: 0, first: now, sent: now, order: self.orders, copies: 0, flags: 0 };
        self.orders = self.orders.wrapping_add(1);
        self.nxt += u64::from(len);
        self.ring.push_back(s);
        self.in_flight += 1;
        s
    }

    /// Notes that segment `i` is retransmitted. Returns its new state.
    pub fn resend(&mut self, i: u64, now: Time) -> Option<SentSegment> {
        let s = self.ring.get_mut(i.checked_sub(self.base)? as usize)?;
        s.sent = now;
        s.order = self.orders;
        self.orders = self.orders.wrapping_add(1);
        s.copies = s.copies.saturating_add(1);
        if s.flags & AGAIN == 0 {
            s.flags |= AGAIN;
            self.again += 1;
            self.in_flight += 1;
        }
        Some(*s)
    }

    /// The first unacknowledged segment is taken as lost. Returns its number.
    pub fn lose_head(&mut self) -> Option<u64> {
        let s = self.ring.front_mut()?;
        if s.flags & (SACKED | LOST) == 0 {
            s.flags |= LOST;
            self.lost += 1;
            if let Some(n) = &mut self.changes {
                n.lost.push(self.base);
            }
        }
        self.recount();
        Some(self.base)
    }

    /// Everything not selectively acknowledged is taken as lost, what was retransmitted too (RFC 6675 §5.1).
    pub fn lose_all(&mut self) {
        for (i, s) in (self.base..).zip(self.ring.iter_mut()).filter(|(_, s)| s.flags & SACKED == 0) {
            if let Some(n) = &mut self.changes
                && (s.flags & LOST == 0 || s.flags & AGAIN != 0)
            {
                n.lost.push(i);
            }
            s.flags = LOST;
        }
        self.lost = self.outstanding() - self.sacked;
        self.again = 0;
        self.recount();
        self.cursor = self.base;
        self.lost_below = self.base + self.ring.len() as u64;
    }

    /// Looks at the segments taken to be in the network, in order, and takes as lost those of which `look` says so,
    /// retransmitted or not. One that was sent once must not be kept below one that is lost: what is sent later is lost
    /// later. Returns how many. Costs a step for each segment up to where `look` stops, and for each run of selectively
    /// acknowledged ones.
    pub fn lose_where(&mut self, mut look: impl FnMut(&SentSegment) -> Look) -> u32 {
        let (mut i, mut news) = (0, 0);
        while let Some(s) = self.ring.get_mut(i) {
            if s.flags & SACKED != 0 {
                i += s.run.max(1) as usize;
                continue;
            }
            // Taken as lost, and not retransmitted since.
            if s.flags & (LOST | AGAIN) != LOST {
                match look(s) {
                    Look::Lost => {
                        self.lost += u32::from(s.flags & LOST == 0);
                        self.again -= u32::from(s.flags & AGAIN != 0);
                        s.flags = LOST;
                        if let Some(n) = &mut self.changes {
                            n.lost.push(self.base + i as u64);
                        }
                        self.cursor = self.cursor.min(self.base + i as u64);
                        news += 1;
                    }
                    Look::Keep => {}
                    Look::Stop => break,
                }
            }
            i += 1;
        }
        self.recount();
        news
    }

    /// Enters a cumulative acknowledgment of all bytes before `to`, which lies inside the window.
    pub fn acknowledge(&mut self, to: u64) -> Covered {
        let (first, sacked) = (self.base, self.sacked);
        let mut c = Covered::default();
        while let Some(s) = self.ring.front()
            && s.end() <= to
        {
            let new = s.flags & SACKED == 0;
            if let (true, Some(n)) = (new, &mut self.changes) {
                n.delivered.push((self.base, *s));
            }
            c.ambiguous |= s.copies > 0;
            c.last = None;
            if new && s.copies == 0 {
                c.last = Some(s.sent);
                c.newest = c.last;
                c.oldest = c.oldest.or(c.last);
            }
            if s.flags != 0 {
                self.sacked -= u32::from(s.flags & SACKED != 0);
                self.lost -= u32::from(s.flags & LOST != 0);
                self.again -= u32::from(s.flags & AGAIN != 0);
            }
            self.ring.pop_front();
            self.base += 1;
        }
        c.segments = (self.base - first) as u32;
        c.unsacked = c.segments - (sacked - self.sacked);
        self.una = to;
        self.recount();
        c
    }

    /// Enters a selective acknowledgment of the bytes `start..end`. Returns how many segments it newly covers.
    pub fn sack(&mut self, start: u64, end: u64) -> u32 {
        let from = self.find(start);
        let (mut i, mut news) = (from, 0);
        while let Some(s) = self.ring.get_mut(i)
            && s.end() <= end
        {
            if s.flags & SACKED != 0 {
                i += s.run.max(1) as usize;
                continue;
            }
            self.lost -= u32::from(s.flags & LOST != 0);
            self.again -= u32::from(s.flags & AGAIN != 0);
            if let Some(n) = &mut self.changes {
                n.delivered.push((self.base + i as u64, *s));
            }
            s.flags = SACKED;
            self.sacked += 1;
            news += 1;
            note_top(&mut self.top, self.base + i as u64, self.dupthresh);
            i += 1;
        }
        // A run is only ever longer than noted; it is used as a stride, never as a bound.
        let whole = i.min(self.ring.len()) - from.min(self.ring.len());
        if let Some(s) = self.ring.get_mut(from)
            && s.flags & SACKED != 0
        {
            s.run = s.run.max(whole as u32);
        }
        self.recount();
        news
    }

    /// Takes as lost every hole with `dupthresh` selectively acknowledged segments above it (RFC 6675 §4 IsLost).
    /// Returns how many are new.
    pub fn lose_holes(&mut self) -> u32 {
        if self.top.len() < self.dupthresh {
            return 0;
        }
        let to = self.top[self.dupthresh - 1];
        let from = self.lost_below.max(self.base);
        let mut news = 0;
        for i in from..to {
            let s = &mut self.ring[(i - self.base) as usize];
            if s.flags & (SACKED | LOST) == 0 {
                s.flags |= LOST;
                news += 1;
                if let Some(n) = &mut self.changes {
                    n.lost.push(i);
                }
            }
        }
        self.lost_below = self.lost_below.max(to);
        self.lost += news;
        self.recount();
        news
    }

    /// The first lost segment that has not been retransmitted (RFC 6675 §4 NextSeg rule 1).
    #[inline]
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 { None } else { self.first_lost() }
    }

    fn first_lost(&mut self) -> Option<u64> {
        let i = self.advance()?;
        (self.ring[(i - self.base) as usize].flags & LOST != 0).then_some(i)
    }

    /// The first hole below the highest selectively acknowledged segment that has not been retransmitted (RFC 6675 §4
    /// NextSeg rule 3).
    pub fn next_hole(&mut self) -> Option<u64> {
        let top = *self.top.first()?;
        self.advance().filter(|&i| i < top)
    }

    /// The number of the last segment sent.
    pub fn last(&self) -> Option<u64> {
        Some(self.base + (self.ring.len() as u64).checked_sub(1)?)
    }

    /// The last segment that is not selectively acknowledged.
    pub fn last_hole(&self) -> Option<u64> {
        let i = self.ring.iter().rposition(|s| s.flags & SACKED == 0)?;
        Some(self.base + i as u64)
    }

    /// Moves the cursor to the first segment neither selectively acknowledged nor retransmitted.
    fn advance(&mut self) -> Option<u64> {
        self.cursor = self.cursor.max(self.base);
        loop {
            let s = self.ring.get((self.cursor - self.base) as usize)?;
            if s.flags & (SACKED | AGAIN) == 0 {
                return Some(self.cursor);
            }
            self.cursor += 1;
        }
    }

    /// Place in the ring of the first segment that begins at or after `seq`.
    fn find(&self, seq: u64) -> usize {
        let Some(first) = self.ring.front() else { return 0 };
        let guess = (seq.saturating_sub(first.seq) / u64::from(self.mss.max(1))) as usize;
        match self.ring.get(guess) {
            Some(s) if s.seq == seq => guess,
            _ => self.ring.partition_point(|s| s.seq < seq),
        }
    }
}

/// Keeps the `most` highest numbers, highest first.
fn note_top(top: &mut Vec<u64>, i: u64, most: usize) {
    if top.len() == most {
        if top.last().is_some_and(|&low| low >= i) {
            return;
        }
        top.pop();
    }
    let at = top.iter().position(|&t| t < i).unwrap_or(top.len());
    top.insert(at, i);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(n: u32) -> Scoreboard {
        let mut b = Scoreboard::new(0, 10, 3);
        for _ in 0..n {
            b.push(10, Time::ZERO);
        }
        b
    }

    #[test]
    fn a_hole_is_lost_when_three_segments_above_it_have_arrived() {
        let mut b = board(10);
        assert_eq!((b.sack(20, 40), b.lose_holes()), (2, 0));
        assert_eq!((b.sack(50, 60), b.lose_holes()), (1, 2));
        assert_eq!((b.outstanding(), b.sacked(), b.lost(), b.in_flight()), (10, 3, 2, 5));
        assert_eq!((b.next_lost(), b.next_hole()), (Some(0), Some(0)));
        b.resend(0, Time::ZERO);
        b.resend(1, Time::ZERO);
        assert_eq!((b.next_lost(), b.next_hole(), b.last_hole(), b.in_flight()), (None, Some(4), Some(9), 7));
    }

    #[test]
    fn a_retransmitted_segment_gives_no_round_trip_sample() {
        let mut b = board(3);
        b.lose_head();
        b.resend(0, Time::from_nanos(5));
        let c = b.acknowledge(20);
        assert_eq!((c.segments, c.ambiguous, c.oldest, c.newest), (2, true, Some(Time::ZERO), Some(Time::ZERO)));
        assert_eq!(c.last, Some(Time::ZERO));
        assert_eq!((b.in_flight(), b.lost()), (1, 0));
    }

    /// The same questions answered by looking at everything.
    #[derive(Default)]
    struct Plain {
        acked: u64,
        sacked: Vec<bool>,
        lost: Vec<bool>,
        again: Vec<bool>,
    }

    proptest! {
        #[test]
        fn counters_and_cursors_agree_with_a_full_scan(ops in prop::collection::vec(
            (0u8..6, 0u64..60, 1u64..12), 1..120,
        )) {
            let mut b = board(0);
            let mut p = Plain::default();
            for (op, at, n) in ops {
                let end = p.sacked.len() as u64;
                match op {
                    0 => for _ in 0..n {
                        b.push(10, Time::ZERO);
                        p.sacked.push(false);
                        p.lost.push(false);
                        p.again.push(false);
                    },
                    1 => {
                        let to = (p.acked + at % 4).min(end);
                        b.acknowledge(to * 10);
                        p.acked = to;
                    }
                    2 => {
                        let (from, to) = ((p.acked + 1 + at).min(end), (p.acked + 1 + at + n).min(end));
                        let fresh = (from..to).filter(|&i| !p.sacked[i as usize]).count();
                        prop_assert_eq!(b.sack(from * 10, to * 10) as usize, fresh);
                        for i in from..to {
                            p.sacked[i as usize] = true;
                            p.lost[i as usize] = false;
                            p.again[i as usize] = false;
                        }
                        b.lose_holes();
                        for i in p.acked..end {
                            let above = (i..end).filter(|&j| p.sacked[j as usize]).count();
                            if !p.sacked[i as usize] && above >= 3 {
                                p.lost[i as usize] = true;
                            }
                        }
                    }
                    3 => if let Some(i) = b.next_lost() {
                        b.resend(i, Time::ZERO);
                        p.again[i as usize] = true;
                    },
                    4 => {
                        // Everything below a place, what was retransmitted too.
                        let below = p.acked + at;
                        let lost = |i: u64| i < below;
                        let is_fresh = |i: usize| !p.sacked[i] && (!p.lost[i] || p.again[i]);
                        let fresh = (p.acked..end).filter(|&i| lost(i) && is_fresh(i as usize)).count();
                        let n = b.lose_where(|s| if lost(s.seq / 10) { Look::Lost } else { Look::Stop });
                        prop_assert_eq!(n as usize, fresh);
                        for i in (p.acked..end).filter(|&i| lost(i)) {
                            p.lost[i as usize] = !p.sacked[i as usize];
                            p.again[i as usize] = false;
                        }
                    }
                    _ => if at < 6 {
                        b.lose_all();
                        for i in p.acked..end {
                            p.lost[i as usize] = !p.sacked[i as usize];
                            p.again[i as usize] = false;
                        }
                    },
                }
                let open = p.acked as usize..p.sacked.len();
                let count = |v: &[bool]| open.clone().filter(|&i| v[i]).count() as u32;
                prop_assert_eq!(
                    (b.outstanding(), b.sacked(), b.lost()), (open.len() as u32, count(&p.sacked), count(&p.lost)),
                );
                prop_assert_eq!(b.in_flight(), open.len() as u32 - count(&p.sacked) - count(&p.lost) + count(&p.again));
                let lost = open.clone().find(|&i| p.lost[i] && !p.again[i]).map(|i| i as u64);
                prop_assert_eq!(b.next_lost(), lost);
            }
        }
    }
}
