//! Which station sends next: the backoffs of all stations of a cell, computed and not counted slot by slot.
//!
//! Stations with the same inter-frame space resume their backoff at the same time. They form a *group*. A group has a
//! clock, which counts slots, and a heap of the clock readings at which its members may send. The next start is the
//! minimum of `resume + (head - clock) x slot` over the groups. When the medium becomes busy, the clock of each group
//! advances by the whole slots that have passed; this counts down all members at once. *Loners* are the few stations
//! that resume at a time of their own: a station after its ACK timeout, or the receiver of a corrupted frame. A loner
//! returns to its group when the medium becomes busy. One slot counter for all stations would be wrong: the difference
//! between EIFS and the ACK timeout is not a whole number of slots.
//!
//! Contenders are stations, or with EDCA the categories of stations.
//!
//! Stations whose rule keeps no residual backoff ([`Residue::Redraw`]) have groups of their own. When the medium
//! becomes busy, the waiting members of such a group are returned to the caller, which draws again for them.
//!
//! A frame therefore costs O(log n) in the number of stations that have a frame to send. The others cost nothing: a
//! backoff without a frame (post-backoff) is one stored clock reading.

mod late;

pub use self::late::LateStart;
use crate::wifi::access::{BackoffRules, Busy, BusySlot, Channel, Residue};
use crate::wifi::ids::Contender;
use contend_core::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Backoff of all stations of a cell.
#[derive(Debug)]
pub struct Contention {
    slot: Span,
    /// When the inter-frame space after the last busy period began.
    since: Time,
    /// When the last busy period ended, including the NAV.
    idle: Time,
    /// True if a NAV followed the last busy period. It does not hold for those that resume alone.
    reserved: bool,
    /// The shortest inter-frame space.
    first_ifs: Span,
    groups: Vec<Group>,
    loners: Vec<Loner>,
    state: Vec<State>,
    /// The group of each station.
    group: Vec<u8>,
    /// Number of contenders that wait to send a frame.
    waiting: u32,
    channel: Channel,
}

/// Contenders with the same rules.
#[derive(Debug)]
struct Group {
    rules: BackoffRules,
    /// Slots that a busy period counts for a member that waits.
    busy_counts: u64,
    /// When the members start to count slots after the last busy period.
    resume: Time,
    /// Slots the group had counted at `resume`.
    clock: u64,
    /// The clock readings at which members with a frame may send. An entry is valid only if `state` has the same
    /// reading; other entries are skipped. The entry of the only sender stays at the top until a station backs off,
    /// most often the same one, whose new reading then takes its place.
    heap: BinaryHeap<Reverse<(u64, Contender)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has nothing to send. Its backoff ends, or ended, at this clock reading.
    Silent(u64),
    /// It is in its group and may send its frame at this clock reading.
    Member(u64),
    /// It is in `loners`.
    Loner,
    /// It has a frame on the air, or the outcome is being decided.
    Sending,
}

#[derive(Clone, Copy, Debug)]
struct Loner {
    who: Contender,
    resume: Time,
    slots: u64,
    /// True if it has a frame to send.
    waits: bool,
    /// Until when its NAV reserves the medium; any time in the past if it does not.
    reserved: Time,
}

/// What happens to a packet that arrives at a station without a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A backoff is pending: the station sends when it ends.
    Waits,
    /// No backoff is pending and the medium has been idle for the inter-frame space: the station may send now.
    Free,
    /// No backoff is pending and the medium is busy: the caller draws a backoff.
    Busy,
}

impl Contention {
    /// One contender without a frame for each entry of `contenders`, on a medium that has been idle since time zero.
    /// There are at most 256 different sets of rules. `busy` is the meaning of [`Busy::Cell`].
    pub fn new(contenders: &[BackoffRules], slot: Span, busy: BusySlot) -> Contention {
        let mut groups: Vec<Group> = Vec::new();
        let mut group = Vec::with_capacity(contenders.len());
        for &rules in contenders {
            let g = groups.iter().position(|g| g.rules == rules).unwrap_or_else(|| {
                groups.push(Group {
                    rules,
                    busy_counts: u64::from(rules.busy.counts(busy)),
                    resume: Time::ZERO + rules.ifs,
                    clock: 0,
                    heap: BinaryHeap::new(),
                });
                groups.len() - 1
            });
            group.push(g as u8);
        }
        Contention {
            slot,
            since: Time::ZERO,
            idle: Time::ZERO,
            reserved: false,
            first_ifs: groups.iter().map(|g| g.rules.ifs).min().unwrap_or_default(),
            groups,
            loners: Vec::with_capacity(8),
            state: vec![State::Silent(0); contenders.len()],
            group,
            waiting: 0,
            channel: Channel::new(),
        }
    }

    /// Number of contenders that wait to send a frame.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// True if a busy slot counts as one slot of backoff of `who`.
    #[inline]
    pub fn busy_counts(&self, who: Contender) -> bool {
        self.of(who).busy_counts > 0
    }

    /// The history of the medium.
    #[inline]
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// The earliest time at which a group counts slots, if no older NAV holds it back.
    #[inline]
    pub fn resume(&self) -> Time {
        self.since + self.first_ifs
    }

    /// The inter-frame space of `who`.
    #[inline]
    pub fn ifs(&self, who: Contender) -> Span {
        self.of(who).rules.ifs
    }

    /// When the next transmission starts if no packet arrives. The medium must be idle.
    pub fn next_start(&mut self) -> Time {
        let mut at = Time::NEVER;
        for g in &mut self.groups {
            while let Some(&Reverse((expiry, who))) = g.heap.peek() {
                if self.state[who as usize] == State::Member(expiry) {
                    at = at.min(g.resume + self.slot * expiry.saturating_sub(g.clock));
                    break;
                }
                g.heap.pop();
            }
        }
        for l in &self.loners {
            if l.waits {
                at = at.min(l.resume + self.slot * l.slots);
            }
        }
        at
    }

    /// The medium becomes busy at `now`. Contenders whose backoff ends now are added to `senders`; all others are
    /// counted down. Contenders that keep no residual backoff are added to `again` with the slots that they counted.
    /// They stop waiting until they get a new backoff.
    pub fn turn_busy(&mut self, now: Time, senders: &mut Vec<Contender>, again: &mut Vec<(Contender, u32)>) {
        let idle = slots_between(self.resume(), now, self.slot);
        self.channel.turns_busy(u32::try_from(idle).unwrap_or(u32::MAX));
        for g in &mut self.groups {
            let passed = slots_between(g.resume, now, self.slot);
            let counted = passed + g.busy_slot(g.resume, now);
            let reading = g.clock + passed;
            let on_boundary = now >= g.resume && g.resume + self.slot * passed == now;
            while let Some(&Reverse((expiry, who))) = g.heap.peek() {
                let member = self.state[who as usize] == State::Member(expiry);
                let sends = expiry <= reading && on_boundary;
                let keeps = member && g.rules.residue == Residue::Keep;
                if keeps && !sends {
                    break;
                }
                let is_last = keeps && !g.another_sends(reading);
                if !is_last {
                    g.heap.pop();
                }
                if member {
                    self.state[who as usize] = State::Sending;
                    self.waiting -= 1;
                    if sends {
                        senders.push(who);
                    } else {
                        again.push((who, u32::try_from(counted).unwrap_or(u32::MAX)));
                    }
                }
                if is_last {
                    break;
                }
            }
            g.clock += counted;
        }
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
            let counted = self.counted(l.who, l.resume, now);
            if l.waits && self.of(l.who).rules.residue == Residue::Redraw {
                self.state[l.who as usize] = State::Sending;
                self.waiting -= 1;
                again.push((l.who, u32::try_from(counted).unwrap_or(u32::MAX)));
                continue;
            }
            self.join(l.who, l.slots.saturating_sub(counted), l.waits);
        }
    }

    /// The slots that `who`, which resumes at `resume`, has counted when the medium turns busy at `now`.
    fn counted(&self, who: Contender, resume: Time, now: Time) -> u64 {
        slots_between(resume, now, self.slot) + self.of(who).busy_slot(resume, now)
    }

    /// The medium is idle from `now` on, and reserved for `nav`. Each group counts slots after `nav`, `more` and its
    /// inter-frame space.
    #[inline]
    pub fn turn_idle(&mut self, now: Time, nav: Span, more: Span) {
        (self.idle, self.reserved) = (now + nav, !nav.is_zero());
        self.since = self.idle + more;
        for g in &mut self.groups {
            g.resume = self.since + g.rules.ifs;
        }
    }

    /// An older NAV reserves the medium until `until`. To be called after [`Contention::turn_idle`].
    pub fn hold(&mut self, until: Time) {
        if until > self.idle {
            (self.idle, self.reserved) = (until, true);
        }
        for g in &mut self.groups {
            g.resume = g.resume.max(until + g.rules.ifs);
        }
    }

    /// `who` sends now without backoff. To be called before [`Contention::turn_busy`].
    pub fn send_at_once(&mut self, who: Contender, senders: &mut Vec<Contender>) {
        self.leave_loners(who);
        self.waiting += 1;
        self.start(who, senders);
    }

    /// `who` gets a new backoff of `slots`, which it counts with its group. `waits` is true if it has a frame.
    pub fn back_off(&mut self, who: Contender, slots: u64, waits: bool) {
        if waits {
            self.waiting += 1;
        }
        self.join(who, slots, waits);
    }

    /// `who` gets a new backoff of `slots`, which it counts from `resume` on. `waits` is true if it has a frame.
    pub fn back_off_alone(&mut self, who: Contender, resume: Time, slots: u64, waits: bool) {
        if waits {
            self.waiting += 1;
        }
        self.leave_loners(who);
        if resume == self.of(who).resume && !self.reserved {
            self.join(who, slots, waits);
        } else {
            self.state[who as usize] = State::Loner;
            self.loners.push(Loner { who, resume, slots, waits, reserved: Time::ZERO });
        }
    }

    /// `who` resumes its backoff at `resume` and not with its group; its NAV reserves the medium until `reserved`. The
    /// medium has just become idle.
    pub fn resume_alone(&mut self, who: Contender, resume: Time, reserved: Time) {
        let (expiry, waits) = match self.state[who as usize] {
            State::Member(e) => (e, true),
            State::Silent(e) => (e, false),
            State::Loner | State::Sending => return,
        };
        let g = self.of(who);
        if resume != g.resume || self.reserved || reserved > self.idle {
            let slots = expiry.saturating_sub(g.clock);
            self.state[who as usize] = State::Loner;
            self.loners.push(Loner { who, resume, slots, waits, reserved });
        }
    }

    /// A packet arrives at `now` at `who`, which had none. After [`Arrival::Free`] and [`Arrival::Busy`] the caller
    /// acts.
    pub fn arrive(&mut self, who: Contender, now: Time, busy: bool) -> Arrival {
        match self.state[who as usize] {
            State::Silent(expiry) => {
                let g = self.of(who);
                let slots = expiry.saturating_sub(g.clock);
                // The NAV may last beyond the last frame.
                if slots == 0 && (busy || now < self.idle) {
                    return Arrival::Busy;
                }
                if !busy && now >= g.resume + self.slot * slots {
                    return Arrival::Free;
                }
                self.back_off(who, slots, true);
                Arrival::Waits
            }
            State::Loner => {
                let slot = self.slot;
                for l in &mut self.loners {
                    if l.who == who && !l.waits {
                        if l.slots == 0 && now < l.reserved {
                            return Arrival::Busy;
                        }
                        if now >= l.resume + slot * l.slots {
                            return Arrival::Free;
                        }
                        l.waits = true;
                        self.waiting += 1;
                    }
                }
                Arrival::Waits
            }
            // The outcome of its last frame is being decided. The packet is taken after that.
            State::Member(_) | State::Sending => Arrival::Waits,
        }
    }

    /// `who`, whose packet found a busy medium ([`Arrival::Busy`]), gets a backoff of `slots`.
    pub fn back_off_later(&mut self, who: Contender, slots: u64) {
        match self.loners.iter_mut().find(|l| l.who == who) {
            Some(l) if self.state[who as usize] == State::Loner => {
                (l.slots, l.waits) = (slots, true);
                self.waiting += 1;
            }
            _ => self.back_off(who, slots, true),
        }
    }

    /// True if `who` must wait at `now`, on a medium without a frame: a backoff is running, or its NAV.
    pub fn must_wait(&self, who: Contender, now: Time) -> bool {
        match self.state[who as usize] {
            State::Silent(e) => {
                let g = self.of(who);
                now < self.idle || (e > g.clock && now < g.resume + self.slot * (e - g.clock))
            }
            State::Loner => self
                .loners
                .iter()
                .any(|l| l.who == who && (now < l.reserved || (l.slots > 0 && now < l.resume + self.slot * l.slots))),
            State::Member(_) => true,
            State::Sending => false,
        }
    }

    /// True if `who` is among those that [`Contention::turn_busy`] found to send, and has not backed off since.
    pub fn sends(&self, who: Contender) -> bool {
        self.state[who as usize] == State::Sending
    }

    fn start(&mut self, who: Contender, senders: &mut Vec<Contender>) {
        self.state[who as usize] = State::Sending;
        self.waiting -= 1;
        senders.push(who);
    }

    fn join(&mut self, who: Contender, slots: u64, waits: bool) {
        let g = &mut self.groups[usize::from(self.group[who as usize])];
        let expiry = g.clock + slots;
        if !waits {
            self.state[who as usize] = State::Silent(expiry);
            return;
        }
        let entry = Reverse((expiry, who));
        let is_valid = |&Reverse((expiry, who)): &_| self.state[who as usize] == State::Member(expiry);
        if g.heap.peek().is_none_or(is_valid) {
            g.heap.push(entry);
        } else if let Some(mut first) = g.heap.peek_mut() {
            *first = entry;
        }
        self.state[who as usize] = State::Member(expiry);
    }

    fn leave_loners(&mut self, who: Contender) {
        if self.state[who as usize] == State::Loner {
            self.loners.retain(|l| l.who != who);
        }
    }

    #[inline]
    fn of(&self, who: Contender) -> &Group {
        &self.groups[usize::from(self.group[who as usize])]
    }
}

impl Group {
    /// True if an entry behind the first one has a reading of at most `reading`.
    #[inline]
    fn another_sends(&self, reading: u64) -> bool {
        // The two next ones in the heap precede all others.
        self.heap.as_slice().iter().skip(1).take(2).any(|&Reverse((expiry, _))| expiry <= reading)
    }

    /// Slots that count for the busy period that begins at `now`, for a member that counts from `resume` on.
    fn busy_slot(&self, resume: Time, now: Time) -> u64 {
        if self.rules.busy == Busy::Boundary && now < resume { 0 } else { self.busy_counts }
    }
}

/// Whole slots from `resume` to `now`.
fn slots_between(resume: Time, now: Time, slot: Span) -> u64 {
    now.since(resume).div_floor(slot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLOT: Span = Span::from_micros(9);
    /// Every third station has a longer inter-frame space than the others, by one slot and a half.
    const IFS: [Span; 8] = {
        let (a, b) = (Span::from_micros(28), Span::from_nanos(41_500));
        [a, a, b, a, a, b, a, a]
    };

    fn members(busy: Busy) -> Vec<BackoffRules> {
        IFS.iter().map(|&ifs| BackoffRules { ifs, residue: Residue::Keep, busy }).collect()
    }

    /// A reference with the same rules, one station at a time: each has the instant from which it counts, and its
    /// residual backoff.
    struct Naive {
        each: Vec<(Time, u64, bool)>,
        busy: Busy,
        counted: bool,
    }

    impl Naive {
        fn next_start(&self) -> Time {
            self.each.iter().filter(|e| e.2).map(|e| e.0 + SLOT * e.1).min().unwrap_or(Time::NEVER)
        }
        fn turn_busy(&mut self, now: Time) -> Vec<Contender> {
            let mut senders = Vec::new();
            for (i, e) in self.each.iter_mut().enumerate() {
                if e.2 && e.0 + SLOT * e.1 == now {
                    e.2 = false;
                    senders.push(i as Contender);
                } else {
                    // Under EDCA's rule, only a station that has reached a slot boundary counts the slot that begins
                    // there.
                    let busy = match self.busy {
                        Busy::Cell => self.counted,
                        Busy::Frozen => false,
                        Busy::Boundary => e.0 <= now,
                    };
                    e.1 = e.1.saturating_sub(now.since(e.0).div_floor(SLOT) + u64::from(busy));
                }
            }
            senders
        }
    }

    /// What follows a transmission: for each sender its next backoff, true if it has another frame, and how much later
    /// than its group it resumes (in nanoseconds, minus 10 us); and a bystander that resumes separately.
    type Step = (Vec<(u64, bool, Option<u64>)>, Option<(usize, u64)>, u64);

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let sender = (0u64..20, prop::bool::weighted(0.8), prop::option::of(0u64..60_000));
        prop::collection::vec(
            (prop::collection::vec(sender, 8), prop::option::weighted(0.3, (0usize..8, 0u64..60_000)), 1u64..400_000),
            1..60,
        )
    }

    proptest! {
        #[test]
        fn groups_and_loners_do_what_station_by_station_counting_does(
            counted in any::<bool>(), busy in prop::sample::select(vec![Busy::Cell, Busy::Frozen, Busy::Boundary]),
            steps in steps(), arrivals in prop::collection::vec((0usize..8, 0u64..30), 60),
        ) {
            let n = 8;
            let rule = if counted { BusySlot::Counted } else { BusySlot::Frozen };
            let mut c = Contention::new(&members(busy), SLOT, rule);
            let mut naive = Naive {
                each: IFS.iter().map(|&ifs| (Time::ZERO + ifs, 0, false)).collect(), busy, counted,
            };
            for who in 0..n as Contender {
                c.back_off(who, u64::from(who) * 2, true);
                naive.each[who as usize] = (Time::ZERO + IFS[who as usize], u64::from(who) * 2, true);
            }
            for ((after, lone, busy_for), (arriving, draw)) in steps.into_iter().zip(arrivals) {
                let start = c.next_start();
                prop_assert_eq!(start, naive.next_start());
                if start == Time::NEVER {
                    break;
                }
                let mut senders = Vec::new();
                let mut again = Vec::new();
                c.turn_busy(start, &mut senders, &mut again);
                prop_assert_eq!(again.len(), 0);
                senders.sort_unstable();
                prop_assert_eq!(&senders, &naive.turn_busy(start));
                prop_assert_eq!(c.waiting() as usize, naive.each.iter().filter(|e| e.2).count());
                // A packet arrives while the medium is busy.
                let e = &mut naive.each[arriving];
                if !e.2 && !senders.contains(&(arriving as Contender)) {
                    match c.arrive(arriving as Contender, start, true) {
                        Arrival::Busy => {
                            prop_assert_eq!(e.1, 0);
                            c.back_off(arriving as Contender, draw, true);
                            e.1 = draw;
                        }
                        other => prop_assert_eq!(other, Arrival::Waits),
                    }
                    e.2 = true;
                }
                let idle = start + Span::from_nanos(busy_for);
                c.turn_idle(idle, Span::ZERO, Span::ZERO);
                for (e, ifs) in naive.each.iter_mut().zip(IFS) {
                    e.0 = idle + ifs;
                }
                for (&who, (slots, more, alone)) in senders.iter().zip(after) {
                    let resume = alone.map_or(idle + IFS[who as usize], |ns| idle + Span::from_nanos(10_000 + ns));
                    match alone {
                        None => c.back_off(who, slots, more),
                        Some(_) => c.back_off_alone(who, resume, slots, more),
                    }
                    naive.each[who as usize] = (resume, slots, more);
                }
                if let Some((who, ns)) = lone && !senders.contains(&(who as Contender)) {
                    let resume = idle + Span::from_nanos(10_000 + ns);
                    c.resume_alone(who as Contender, resume, Time::ZERO);
                    naive.each[who].0 = resume;
                }
            }
        }
    }

    #[test]
    fn who_keeps_no_residue_is_handed_back_when_somebody_else_is_first() {
        let residue = [Residue::Redraw, Residue::Redraw, Residue::Keep, Residue::Redraw];
        let stations = residue.map(|residue| BackoffRules { ifs: IFS[0], residue, busy: Busy::Cell });
        let mut c = Contention::new(&stations, SLOT, BusySlot::Counted);
        for (who, slots) in [(0, 3), (1, 7), (2, 5)] {
            c.back_off(who, slots, true);
        }
        c.back_off_alone(3, Time::ZERO + IFS[0] + Span::from_micros(1), 9, true);
        let (mut senders, mut again) = (vec![], vec![]);
        let start = c.next_start();
        assert_eq!(start, Time::ZERO + IFS[0] + SLOT * 3);
        c.turn_busy(start, &mut senders, &mut again);
        again.sort_unstable();
        // Three idle slots and the busy slot; the loner, one microsecond late, has counted two.
        assert_eq!((senders, again), (vec![0], vec![(1, 4), (3, 3)]));
        assert_eq!((c.waiting(), c.channel().busy(), c.channel().idle(0)), (1, 1, 3));
        let idle = start + Span::from_millis(1);
        c.turn_idle(idle, Span::ZERO, Span::ZERO);
        // The contender that keeps its residual backoff has one slot left; another draws a smaller backoff.
        assert_eq!(c.next_start(), idle + IFS[0] + SLOT);
        c.back_off(1, 0, true);
        assert_eq!((c.next_start(), c.waiting()), (idle + IFS[0], 2));
    }

    #[test]
    fn a_packet_that_finds_the_medium_idle_for_long_enough_goes_at_once() {
        let mut c = Contention::new(&members(Busy::Cell), SLOT, BusySlot::Frozen);
        assert_eq!(c.arrive(0, Time::ZERO + IFS[0], false), Arrival::Free);
        // Before DIFS after the last busy period has passed, it waits for the rest of DIFS.
        assert_eq!(c.arrive(1, Time::from_nanos(5), false), Arrival::Waits);
        assert_eq!(c.next_start(), Time::ZERO + IFS[1]);
    }

    #[test]
    fn a_packet_behind_a_running_post_backoff_waits_for_its_rest() {
        let mut c = Contention::new(&members(Busy::Cell), SLOT, BusySlot::Frozen);
        c.back_off(0, 5, false);
        assert_eq!(c.next_start(), Time::NEVER);
        assert_eq!(c.arrive(0, Time::ZERO + IFS[0] + SLOT * 2, false), Arrival::Waits);
        assert_eq!(c.next_start(), Time::ZERO + IFS[0] + SLOT * 5);
    }

    #[test]
    fn a_packet_that_comes_while_the_nav_says_busy_draws_a_backoff() {
        let mut c = Contention::new(&members(Busy::Cell), SLOT, BusySlot::Frozen);
        let end = Time::from_nanos(1_000_000);
        c.turn_idle(end, Span::ZERO, Span::ZERO);
        assert_eq!(c.arrive(0, end - Span::from_nanos(1), false), Arrival::Busy);
        // Idle, but for too short a time.
        assert_eq!(c.arrive(1, end, false), Arrival::Waits);
    }
}
