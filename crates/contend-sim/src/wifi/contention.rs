//! Who sends next: backoff of all stations of a cell, computed instead of counted.
//!
//! Stations that resume their backoff at the same instant form a *group*: it has a clock in slots, and a heap of the clock readings
//! at which its members may send. The next start is `resume + (head - clock) x slot`; when the medium turns busy the clock advances by
//! the whole slots that have passed, which counts down every member at once. *Loners* are the few stations whose backoff resumes at
//! an instant of their own (a collider after its ACK timeout, an addressee of a spoilt frame); they rejoin the group at the next busy start.
//! One global slot counter would be wrong: EIFS and ACK timeout differ by a number of slots that is not whole.
//!
//! A frame therefore costs O(log n) in the number of stations that have something to send, and nothing for those that have not:
//! a backoff that runs without a frame behind it (post-backoff) is a stored clock reading.

use super::StationId;
use crate::scenario::BusySlot;
use contend_core::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Backoff of all stations of a cell.
#[derive(Debug)]
pub struct Contention {
    slot: Span,
    ifs: Span,
    /// Slots that a busy period counts for those who wait through it.
    busy_counts: u64,
    /// When the group's members count their first slot after the last busy period.
    resume: Time,
    /// Slots the group had counted at `resume`.
    clock: u64,
    /// Clock readings at which members with a frame may send. An entry counts only while `state` says the same: a member that left is skipped.
    heap: BinaryHeap<Reverse<(u64, StationId)>>,
    loners: Vec<Loner>,
    state: Vec<State>,
    /// Stations that have a frame and wait to send it.
    waiting: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing to send; its backoff ends (or ended) at this clock reading.
    Silent(u64),
    /// In the group with a frame, until this clock reading.
    Member(u64),
    /// In `loners`.
    Loner,
    /// Has a frame on the air, or its fate is being decided.
    Sending,
}

#[derive(Clone, Copy, Debug)]
struct Loner {
    who: StationId,
    resume: Time,
    slots: u64,
    /// Whether it has a frame to send.
    waits: bool,
}

/// What a packet that arrives at a station without one leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A backoff is pending: the station sends when it ends.
    Waits,
    /// No backoff is pending and the medium has been idle for long enough.
    Free,
    /// No backoff is pending and the medium is busy, so one is to be drawn.
    Busy,
}

impl Contention {
    /// `stations` stations without a frame, on a medium that has been idle since time zero; `ifs` is DIFS.
    pub fn new(stations: usize, slot: Span, ifs: Span, busy: BusySlot) -> Contention {
        Contention {
            slot,
            ifs,
            busy_counts: u64::from(busy == BusySlot::Counted),
            resume: Time::ZERO + ifs,
            clock: 0,
            heap: BinaryHeap::with_capacity(stations),
            loners: Vec::with_capacity(8),
            state: vec![State::Silent(0); stations],
            waiting: 0,
        }
    }

    /// Stations that have a frame and wait to send it.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The instant from which the group counts slots.
    pub fn resume(&self) -> Time {
        self.resume
    }

    /// When the next transmission starts if nothing else happens; the medium must be idle.
    pub fn next_start(&mut self) -> Time {
        let mut at = Time::NEVER;
        while let Some(&Reverse((expiry, who))) = self.heap.peek() {
            if self.state[who as usize] == State::Member(expiry) {
                at = self.resume + self.slot * expiry.saturating_sub(self.clock);
                break;
            }
            self.heap.pop();
        }
        for l in &self.loners {
            if l.waits {
                at = at.min(l.resume + self.slot * l.slots);
            }
        }
        at
    }

    /// The medium turns busy at `now`: everybody whose backoff ends in this instant is added to `senders`, all others are counted down.
    pub fn turn_busy(&mut self, now: Time, senders: &mut Vec<StationId>) {
        let passed = self.slots_between(self.resume, now);
        let reading = self.clock + passed;
        let on_boundary = now >= self.resume && self.resume + self.slot * passed == now;
        while let Some(&Reverse((expiry, who))) = self.heap.peek() {
            let member = self.state[who as usize] == State::Member(expiry);
            if member && (expiry > reading || !on_boundary) {
                break;
            }
            self.heap.pop();
            if member {
                self.start(who, senders);
            }
        }
        self.clock = reading + self.busy_counts;
        let mut i = 0;
        while i < self.loners.len() {
            let l = self.loners[i];
            if l.waits && l.resume + self.slot * l.slots == now {
                self.loners.swap_remove(i);
                self.start(l.who, senders);
                continue;
            }
            i += 1;
        }
        while let Some(l) = self.loners.pop() {
            let counted = self.slots_between(l.resume, now) + self.busy_counts;
            self.join(l.who, l.slots.saturating_sub(counted), l.waits);
        }
    }

    /// The medium is idle again as of `from`: the group counts slots once the inter-frame space has passed.
    pub fn turn_idle(&mut self, from: Time) {
        self.resume = from + self.ifs;
    }

    /// `who` sends at once, in the instant in which the medium turns busy; to be called before [`Contention::turn_busy`].
    pub fn send_at_once(&mut self, who: StationId, senders: &mut Vec<StationId>) {
        self.leave_loners(who);
        self.waiting += 1;
        self.start(who, senders);
    }

    /// `who` gets a new backoff of `slots`, which it counts with the group; `waits` says whether it has a frame.
    pub fn back_off(&mut self, who: StationId, slots: u64, waits: bool) {
        if waits {
            self.waiting += 1;
        }
        self.join(who, slots, waits);
    }

    /// `who` gets a new backoff of `slots`, which it counts from `resume` on; `waits` says whether it has a frame.
    pub fn back_off_alone(&mut self, who: StationId, resume: Time, slots: u64, waits: bool) {
        if waits {
            self.waiting += 1;
        }
        self.leave_loners(who);
        if resume == self.resume {
            self.join(who, slots, waits);
        } else {
            self.state[who as usize] = State::Loner;
            self.loners.push(Loner { who, resume, slots, waits });
        }
    }

    /// `who`, whatever it waits for, resumes at `resume` instead of with the group. The medium has just turned idle.
    pub fn resume_alone(&mut self, who: StationId, resume: Time) {
        let (expiry, waits) = match self.state[who as usize] {
            State::Member(e) => (e, true),
            State::Silent(e) => (e, false),
            State::Loner | State::Sending => return,
        };
        if resume != self.resume {
            self.state[who as usize] = State::Loner;
            self.loners.push(Loner { who, resume, slots: expiry - self.clock.min(expiry), waits });
        }
    }

    /// A packet arrives at `now` at `who`, which had none. After [`Arrival::Free`] and [`Arrival::Busy`] the caller decides what follows.
    pub fn arrive(&mut self, who: StationId, now: Time, busy: bool) -> Arrival {
        match self.state[who as usize] {
            State::Silent(expiry) if busy => {
                if expiry <= self.clock {
                    return Arrival::Busy;
                }
                self.back_off(who, expiry - self.clock, true);
                Arrival::Waits
            }
            State::Silent(expiry) => {
                let slots = expiry.saturating_sub(self.clock);
                if now >= self.resume + self.slot * slots {
                    return Arrival::Free;
                }
                self.back_off(who, slots, true);
                Arrival::Waits
            }
            State::Loner => {
                let slot = self.slot;
                for l in &mut self.loners {
                    if l.who == who && !l.waits {
                        if now >= l.resume + slot * l.slots {
                            return Arrival::Free;
                        }
                        l.waits = true;
                        self.waiting += 1;
                    }
                }
                Arrival::Waits
            }
            // Its frame's fate is being decided: what follows the decision takes the packet.
            State::Member(_) | State::Sending => Arrival::Waits,
        }
    }

    /// Whether `who` has a backoff that is still running at `now`, on an idle medium.
    pub fn counts_down(&self, who: StationId, now: Time) -> bool {
        match self.state[who as usize] {
            State::Silent(e) => e > self.clock && now < self.resume + self.slot * (e - self.clock),
            State::Loner => self.loners.iter().any(|l| l.who == who && now < l.resume + self.slot * l.slots),
            State::Member(_) => true,
            State::Sending => false,
        }
    }

    fn start(&mut self, who: StationId, senders: &mut Vec<StationId>) {
        self.state[who as usize] = State::Sending;
        self.waiting -= 1;
        senders.push(who);
    }

    fn join(&mut self, who: StationId, slots: u64, waits: bool) {
        let expiry = self.clock + slots;
        if waits {
            self.state[who as usize] = State::Member(expiry);
            self.heap.push(Reverse((expiry, who)));
        } else {
            self.state[who as usize] = State::Silent(expiry);
        }
    }

    fn leave_loners(&mut self, who: StationId) {
        if self.state[who as usize] == State::Loner {
            self.loners.retain(|l| l.who != who);
        }
    }

    fn slots_between(&self, resume: Time, now: Time) -> u64 {
        now.since(resume).div_floor(self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLOT: Span = Span::from_micros(9);
    const IFS: Span = Span::from_micros(28);

    /// The same rules told station by station: every one has the instant from which it counts, and what is left.
    struct Naive {
        each: Vec<(Time, u64, bool)>,
        busy_counts: u64,
    }

    impl Naive {
        fn next_start(&self) -> Time {
            self.each.iter().filter(|e| e.2).map(|e| e.0 + SLOT * e.1).min().unwrap_or(Time::NEVER)
        }
        fn turn_busy(&mut self, now: Time) -> Vec<StationId> {
            let mut senders = Vec::new();
            for (i, e) in self.each.iter_mut().enumerate() {
                if e.2 && e.0 + SLOT * e.1 == now {
                    e.2 = false;
                    senders.push(i as StationId);
                } else {
                    e.1 = e.1.saturating_sub(now.since(e.0).div_floor(SLOT) + self.busy_counts);
                }
            }
            senders
        }
    }

    /// What follows a transmission: for each sender its next backoff, whether it has another frame, and how much later than the group
    /// (in nanoseconds, less 10 us) it resumes; and a bystander with a resume of its own.
    type Step = (Vec<(u64, bool, Option<u64>)>, Option<(usize, u64)>, u64);

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let sender = (0u64..20, prop::bool::weighted(0.8), prop::option::of(0u64..60_000));
        prop::collection::vec((prop::collection::vec(sender, 8), prop::option::weighted(0.3, (0usize..8, 0u64..60_000)), 1u64..400_000), 1..60)
    }

    proptest! {
        #[test]
        fn groups_and_loners_do_what_station_by_station_counting_does(counted in any::<bool>(), steps in steps(), arrivals in prop::collection::vec((0usize..8, 0u64..30), 60)) {
            let n = 8;
            let rule = if counted { BusySlot::Counted } else { BusySlot::Frozen };
            let mut c = Contention::new(n, SLOT, IFS, rule);
            let mut naive = Naive { each: vec![(Time::ZERO + IFS, 0, false); n], busy_counts: u64::from(counted) };
            for who in 0..n as StationId {
                c.back_off(who, u64::from(who) * 2, true);
                naive.each[who as usize] = (Time::ZERO + IFS, u64::from(who) * 2, true);
            }
            for ((after, lone, busy_for), (arriving, draw)) in steps.into_iter().zip(arrivals) {
                let start = c.next_start();
                prop_assert_eq!(start, naive.next_start());
                if start == Time::NEVER {
                    break;
                }
                let mut senders = Vec::new();
                c.turn_busy(start, &mut senders);
                senders.sort_unstable();
                prop_assert_eq!(&senders, &naive.turn_busy(start));
                prop_assert_eq!(c.waiting() as usize, naive.each.iter().filter(|e| e.2).count());
                // A packet arrives while the medium is busy.
                let e = &mut naive.each[arriving];
                if !e.2 && !senders.contains(&(arriving as StationId)) {
                    match c.arrive(arriving as StationId, start, true) {
                        Arrival::Busy => {
                            prop_assert_eq!(e.1, 0);
                            c.back_off(arriving as StationId, draw, true);
                            e.1 = draw;
                        }
                        other => prop_assert_eq!(other, Arrival::Waits),
                    }
                    e.2 = true;
                }
                let idle = start + Span::from_nanos(busy_for);
                c.turn_idle(idle);
                for e in &mut naive.each {
                    e.0 = idle + IFS;
                }
                for (&who, (slots, more, alone)) in senders.iter().zip(after) {
                    let resume = alone.map_or(idle + IFS, |ns| idle + Span::from_nanos(10_000 + ns));
                    match alone {
                        None => c.back_off(who, slots, more),
                        Some(_) => c.back_off_alone(who, resume, slots, more),
                    }
                    naive.each[who as usize] = (resume, slots, more);
                }
                if let Some((who, ns)) = lone && !senders.contains(&(who as StationId)) {
                    let resume = idle + Span::from_nanos(10_000 + ns);
                    c.resume_alone(who as StationId, resume);
                    naive.each[who].0 = resume;
                }
            }
        }
    }

    #[test]
    fn a_packet_that_finds_the_medium_idle_for_long_enough_goes_at_once() {
        let mut c = Contention::new(2, SLOT, IFS, BusySlot::Frozen);
        assert_eq!(c.arrive(0, Time::ZERO + IFS, false), Arrival::Free);
        // Earlier than DIFS after the last busy period it waits for the rest of DIFS.
        assert_eq!(c.arrive(1, Time::from_nanos(5), false), Arrival::Waits);
        assert_eq!(c.next_start(), Time::ZERO + IFS);
    }

    #[test]
    fn a_packet_behind_a_running_post_backoff_waits_for_its_rest() {
        let mut c = Contention::new(1, SLOT, IFS, BusySlot::Frozen);
        c.back_off(0, 5, false);
        assert_eq!(c.next_start(), Time::NEVER);
        assert_eq!(c.arrive(0, Time::ZERO + IFS + SLOT * 2, false), Arrival::Waits);
        assert_eq!(c.next_start(), Time::ZERO + IFS + SLOT * 5);
    }
}
