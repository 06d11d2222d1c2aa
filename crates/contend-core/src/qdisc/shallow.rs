//! Marks above a shallow threshold, for L4S in flow queues: what `codel`, `fq_codel` and `airtime` share beside CoDel.
//!
//! RFC 8290 §5.2.7 marks packets that have waited longer than `ce_threshold`, Linux optionally only those with ECT(1)
//! (`ce_threshold_selector`). Where a transmitter serves a flow in turns, packets wait for the turn although no queue
//! stands: if a turn comes every S, a threshold below S marks the share 1 − `ce_threshold` / S at any load.
//! `ce_from = "turn"` therefore counts the wait from the first turn that the flow had after the arrival (E. Dumazet,
//! netdev 2022, on "fq_codel: avoid under-utilization with ce_threshold").

use super::{Args, Refusal, bytes};
use crate::formulas::{Line, step};
use crate::packet::{Ecn, Packet};
use crate::registry::{Fact, Need, Param};
use crate::time::{Span, Time};
use alloc::collections::VecDeque;
use alloc::format;

/// The threshold.
pub(super) const CE_THRESHOLD: Param = Param::time(
    "ce_threshold",
    "packets that support ECN and have waited longer are always marked, whatever CoDel decides; the default is longer \
        than any run",
)
.default("1000000s")
.range(0.0, 1e6)
.makes(Fact::Gives(Need::Marks));

/// Which packets are compared with the threshold.
pub(super) const CE_SELECT: Param = Param::word(
    "ce_select",
    &["any", "ect1"],
    "packets that ce_threshold marks. any: all that support ECN; ect1: only ECT(1), those of L4S",
)
.default("any");

/// From when the wait counts.
pub(super) const CE_FROM: Param = Param::word(
    "ce_from",
    &["arrival", "turn"],
    "from when ce_threshold counts the wait. arrival: from the arrival; turn: from the first turn after the arrival, \
        so that waiting for a turn does not count",
)
.default("arrival");

/// How much must wait behind a marked packet.
pub(super) const CE_BEHIND: Param =
    Param::amount("ce_behind", "ce_threshold marks a packet only while at least this waits behind it in its queue")
        .default("0B")
        .range(0.0, 1e9);

/// How much of what stays behind after a turn is not marked.
pub(super) const CE_EXCESS: Param = Param::integer(
    "ce_excess",
    "each turn of a station marks those of its waiting ECT(1) packets that will not fit into this many further \
        aggregates of the same size; 0: none",
)
.default("0")
.range(0.0, 1e6);

/// How long a packet may be expected to wait.
pub(super) const CE_DRAIN: Param = Param::time(
    "ce_drain",
    "an arriving packet that ce_select names is marked if it will wait longer, by what waits before it, what the \
        station has below the queue, and the rate of its last turns; the default is longer than any run",
)
.default("1000000s")
.range(0.0, 1e6)
.makes(Fact::Gives(Need::Marks));

/// Where the wait ends.
pub(super) const MARK_AT: Param = Param::word(
    "mark_at",
    &["queue", "burst"],
    "when ce_threshold looks at the wait. queue: when the packet leaves the queue; burst: when the aggregate is made \
        that carries it first, so that the wait below the queue counts too. Where packets are sent one by one, both \
        are the same",
)
.default("queue");

/// What [`CE_EXCESS`] does.
pub(super) const EXCESS: Line = step(
    "each of its waiting ECT(1) packets is marked that has at least `ce_excess · A / f` bytes before it in its queue",
    "ns-3 fork of CableLabs, l4s-wifi.cc",
)
.when("`ce_excess > 0`");

/// Whether CoDel acts on ECT(1).
pub(super) const CLASSIC_FOR_ECT1: Param = Param::flag(
    "classic_for_ect1",
    "true if CoDel also signals ECT(1) packets; false: only those above four times ce_threshold, by a drop",
)
.default("true");

/// What CoDel does not do.
pub(super) const SPARES: Line = step("CoDel lets it pass, and drops it where it would mark others", "")
    .when("it has ECT(1), without `classic_for_ect1`; it passes until it has waited `4 · ce_threshold`");

/// What the threshold does, without turns.
pub(super) const MARKS: Line =
    step("it is marked if its transport supports marks, with `ce_select = ect1` if it has ECT(1)", "RFC 8290 §5.2.7")
        .when("it has waited longer than `ce_threshold`, and at least `ce_behind` bytes wait behind it in its queue");

/// When the packet is looked at.
pub(super) const BURST: Line =
    step("the threshold marks it when the aggregate that carries it first is made", "").when("`mark_at = burst`");

/// From when the wait counts.
pub(super) const COUNTS: Line = step("the wait counts from its first turn after the arrival", "Dumazet, netdev 2022")
    .when("`ce_from = turn`; without such a turn it is 0");

/// The settings.
#[derive(Clone, Copy, Debug)]
pub struct Shallow {
    threshold: Span,
    /// True if only ECT(1) is compared with the threshold.
    ect1_only: bool,
    /// True if the wait counts from the first turn after the arrival.
    pub(super) from_turn: bool,
    /// Bytes that must wait behind a marked packet.
    behind: u64,
    classic_for_ect1: bool,
    at: MarkAt,
}

/// Where packets are compared with the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkAt {
    /// When they leave the queue.
    Queue,
    /// When they are put into an aggregate. Without aggregates that is when they leave the queue.
    Burst,
    /// As [`MarkAt::Burst`], and the transmitter does it.
    Below,
}

/// What a transmitter of aggregates marks for its discipline ([`super::Qdisc::marks_below`]).
#[derive(Clone, Copy, Debug)]
pub struct BurstMarks {
    threshold: Span,
    ect1_only: bool,
}

impl BurstMarks {
    /// True if `p`, which is put into an aggregate at `now`, is marked.
    pub fn marks(&self, now: Time, p: &Packet) -> bool {
        now.since(p.queued) > self.threshold && (!self.ect1_only || p.ecn() == Ecn::Ect1)
    }
}

impl Shallow {
    /// Reads the parameters of this module. A discipline without turns has no `ce_from`.
    ///
    /// # Errors
    /// If `ce_behind` is not in bytes, if nothing would signal ECT(1), or if `mark_at = "burst"` goes with what only
    /// the queue knows.
    pub(super) fn new(args: &Args, has_turns: bool) -> Result<Shallow, Refusal> {
        let (threshold, classic_for_ect1) = (args.time("ce_threshold"), args.flag("classic_for_ect1"));
        if !classic_for_ect1 && threshold.as_secs_f64() >= CE_THRESHOLD.range.1 {
            return Err(Refusal::new(
                "classic_for_ect1 = false without ce_threshold: nothing would signal ECT(1) packets",
                "write a threshold too, like ce_threshold = \"1ms\"",
            ));
        }
        let from_turn = has_turns && args.word("ce_from") == "turn";
        let behind = bytes(args, "ce_behind")?;
        let at = if args.word("mark_at") == "burst" { MarkAt::Burst } else { MarkAt::Queue };
        if at == MarkAt::Burst && (from_turn || behind > 0) {
            let key = if from_turn { "ce_from = \"turn\"" } else { "ce_behind" };
            return Err(Refusal::new(
                format!("mark_at = \"burst\" beside {key}, which looks at the packet as it leaves the queue"),
                format!("leave out {key} or mark_at"),
            ));
        }
        Ok(Shallow { threshold, ect1_only: args.word("ce_select") == "ect1", from_turn, behind, classic_for_ect1, at })
    }

    /// The transmitter compares packets with the threshold from now on, if they are compared at the burst.
    pub(super) fn marks_below(&mut self) -> Option<BurstMarks> {
        let &mut Shallow { threshold, ect1_only, ref mut at, .. } = self;
        (*at != MarkAt::Queue).then(|| {
            *at = MarkAt::Below;
            BurstMarks { threshold, ect1_only }
        })
    }

    /// True if `ce_select` names `p`.
    pub(super) fn selects(&self, p: &Packet) -> bool {
        !self.ect1_only || p.ecn() == Ecn::Ect1
    }

    /// How long `p` has waited at `now`, for the threshold.
    pub(super) fn age(&self, now: Time, p: &Packet, turns: &Turns) -> Span {
        if self.from_turn {
            turns.first(p.queued).map_or(Span::ZERO, |turn| now.since(turn))
        } else {
            now.since(p.queued)
        }
    }

    /// True if `p`, which leaves at this age with `behind` bytes left in its queue, is marked.
    pub(super) fn marks(&self, p: &Packet, age: Span, behind: u64) -> bool {
        age > self.threshold && self.at != MarkAt::Below && self.selects(p) && behind >= self.behind
    }

    /// True if CoDel does not act on `p` at this age.
    pub(super) fn spares(&self, p: &Packet, age: impl FnOnce() -> Span) -> bool {
        self.only_drops(p) && age() <= self.threshold * 4
    }

    /// True if CoDel drops `p` where it would mark others.
    pub(super) fn only_drops(&self, p: &Packet) -> bool {
        !self.classic_for_ect1 && p.ecn() == Ecn::Ect1
    }

    /// The time after which a turn is old enough for every decision.
    fn horizon(&self) -> Span {
        self.threshold * 4
    }
}

/// When the turns of a queue or a group of queues began, as far as decisions depend on them.
#[derive(Debug, Default)]
pub struct Turns {
    starts: VecDeque<Time>,
}

impl Turns {
    /// A turn begins.
    pub(super) fn begin(&mut self, now: Time, shallow: &Shallow) {
        if !shallow.from_turn || self.starts.back() == Some(&now) {
            return;
        }
        self.starts.push_back(now);
        // A packet whose first turn is forgotten counts from the next one. Both are beyond the horizon.
        while self.starts.get(1).is_some_and(|&next| now.since(next) > shallow.horizon()) {
            self.starts.pop_front();
        }
    }

    /// The first turn after `queued`; `None` if there was none.
    fn first(&self, queued: Time) -> Option<Time> {
        self.starts.get(self.starts.partition_point(|&start| start <= queued)).copied()
    }
}

/// The rate at which a station is served while packets wait for it, of its last turns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drain {
    /// Bytes per second; 0 before the first measurement.
    rate: f64,
    /// The begin of the last turn, if packets have waited ever since.
    since: Option<Time>,
    /// Bytes of that turn.
    bytes: u64,
}

impl Drain {
    /// A turn begins.
    pub(super) fn begin(&mut self, now: Time) {
        let span = self.since.map_or(Span::ZERO, |since| now.since(since));
        if self.bytes > 0 && span > Span::ZERO {
            let rate = self.bytes as f64 / span.as_secs_f64();
            self.rate += if self.rate > 0.0 { (rate - self.rate) / 8.0 } else { rate };
        }
        (self.since, self.bytes) = (Some(now), 0);
    }

    /// A packet of `bytes` leaves in this turn; `waits`: others are left.
    pub(super) fn served(&mut self, bytes: u32, waits: bool) {
        self.bytes += u64::from(bytes);
        self.since = self.since.filter(|_| waits);
    }

    /// How long `bytes` take; zero as long as the rate is not known.
    pub(super) fn time(&self, bytes: u64) -> Span {
        if self.rate > 0.0 { Span::from_secs_f64(bytes as f64 / self.rate) } else { Span::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::packet;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    const TURNS: Shallow = Shallow {
        threshold: Span::from_millis(5),
        ect1_only: true,
        from_turn: true,
        behind: 0,
        classic_for_ect1: true,
        at: MarkAt::Queue,
    };

    /// Turns at 0, 10, 30 and 40 ms of 10, 20, 30 and 40 kB; after the third nothing waits.
    #[test]
    fn the_rate_is_that_of_turns_which_leave_packets_behind() {
        let mut drain = Drain::default();
        let turn = |drain: &mut Drain, ms, kb: u32, waits| {
            drain.begin(at(ms));
            (1..=kb).for_each(|n| drain.served(1000, n < kb || waits));
            drain.time(1_000_000).as_secs_f64()
        };
        assert_eq!(turn(&mut drain, 0, 10, true), 0.0);
        // 10 kB in 10 ms: 1 MB/s.
        assert!((turn(&mut drain, 10, 20, true) - 1.0).abs() < 1e-6);
        // 20 kB in 20 ms: the same.
        assert!((turn(&mut drain, 30, 30, false) - 1.0).abs() < 1e-6);
        // Nothing waited between 30 and 40 ms.
        assert!((turn(&mut drain, 40, 40, true) - 1.0).abs() < 1e-6);
        // 40 kB in 10 ms: 4 MB/s, of which an eighth counts.
        drain.begin(at(50));
        assert!((drain.time(1_375_000).as_secs_f64() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_transmitter_of_aggregates_takes_over_the_threshold() {
        let mut burst = Shallow { from_turn: false, at: MarkAt::Burst, ..TURNS };
        let mut p = packet(1, 1500);
        p.set_ecn(Ecn::Ect1);
        p.queued = at(0);
        // Without aggregates the packet is compared as it leaves the queue.
        assert!(burst.marks(&p, Span::from_millis(6), 0));
        let below = burst.marks_below().unwrap();
        assert!(!burst.marks(&p, Span::from_millis(6), 0));
        assert_eq!([5, 6].map(|ms| below.marks(at(ms), &p)), [false, true]);
        assert!(Shallow { from_turn: false, ..TURNS }.marks_below().is_none());
    }

    #[test]
    fn the_wait_counts_from_the_first_turn_after_the_arrival() {
        let mut turns = Turns::default();
        [0, 10, 20].into_iter().for_each(|ms| turns.begin(at(ms), &TURNS));
        let age = |queued| {
            let mut p = packet(1, 1500);
            p.queued = at(queued);
            TURNS.age(at(24), &p, &turns).as_nanos() / 1_000_000
        };
        // No turn began after 20 ms: a later packet leaves in the turn in which it came.
        assert_eq!([0, 1, 10, 11, 20, 21, 24].map(age), [14, 14, 4, 4, 0, 0, 0]);
    }

    /// With a threshold of 5 ms all decisions are the same above 20 ms. Turns every 10 ms: at 1000 ms those of 970 to
    /// 1000 ms are kept, and a packet of 3 ms counts from 970 ms.
    #[test]
    fn old_turns_are_forgotten_without_consequence() {
        let mut turns = Turns::default();
        (0..=100).for_each(|n| turns.begin(at(10 * n), &TURNS));
        assert_eq!(turns.starts, [970, 980, 990, 1000].map(at));
        assert_eq!(turns.first(at(3)), Some(at(970)));
    }
}
