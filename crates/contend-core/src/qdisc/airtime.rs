//! Airtime fairness: stations take turns according to the airtime that they have used, as measured on the air.
//!
//! Høiland-Jørgensen, Kazior, Täht, Hurtig, Brunstrom 2017, "Ending the Anomaly: Achieving Low Latency and Airtime
//! Fairness in WiFi" (USENIX ATC), §3, Algorithms 1 to 3. The discipline is a deficit round robin over stations. The
//! airtime of a station's frames in both directions, including failed attempts, is subtracted from the station's
//! deficit. A station with no deficit left waits for the others. Inside a station there is FQ-CoDel, with queues that
//! all stations share. If the queues are full, the head of the longest queue is dropped.
//!
//! The algorithms leave some values open. These come from the paper's own implementation, mac80211 of Linux
//! (`ieee80211_txq_setup_flows`, `fq_init`): 4096 queues, 8192 packets, 300 bytes per round, target 20 ms, interval 100
//! ms, ECN. CoDel drops as long as another packet waits in the same flow.
//!
//! Differences from the paper:
//! - `most_debt` limits a station's debt. A station that only sends can use airtime without limit, and would have to
//!   wait equally long for its own packets.
//! - Weights: a station with weight w gets w quanta where another station gets one. The paper has no weights.
//! - `slow_rate` is off. Linux used a target of 50 ms, an interval of 300 ms and no ECN for stations with less than 6
//!   Mb/s per station of the cell, and later removed this (commit 4876376988081d, 2025). Here the rate is the
//!   throughput of the station when it is alone in the cell, without contention and errors.
//! - `share = "turns"`: every turn costs the same, whatever its airtime. It is the paper's FQ-MAC: the queues of each
//!   station without airtime fairness.
//! - `inner = "fifo"`: one queue per station, with its own limit and without CoDel, for comparison.

use super::codel::Law;
use super::flow_queues::FlowQueues;
use super::lane::{Weights, limit};
use super::marking::ECN;
use super::shallow::{
    BurstMarks, CE_BEHIND, CE_DRAIN, CE_EXCESS, CE_FROM, CE_SELECT, CE_THRESHOLD, CLASSIC_FOR_ECT1, MARK_AT, Shallow,
};
use super::wf2q::WEIGHTS;
use super::{AirReport, Args, Backlog, Below, ByReceiver, DropReason, Link, Qdisc, Sink, Site, bytes, can_serve};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Source.
pub const CITE: &str = "Høiland-Jørgensen et al. 2017, \"Ending the Anomaly\" (USENIX ATC), Algorithms 1 to 3";
/// What it does.
pub const SUMMARY: &str = "Equal airtime for stations by deficit round robin; the airtime of a station's frames counts \
    in both directions. FQ-CoDel serves the packets of each station. A turn fills one aggregate.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "share",
        &["airtime", "turns"],
        "what stations share. airtime: as measured on the air; turns: each station sends one frame per turn",
    )
    .default("airtime"),
    Param::time("quantum", "airtime that a station gets per turn").default("300us").range(1e-6, 1.0),
    Param::flag(
        "sparse",
        "true if a station that begins to wait is served before those that were waiting, for one turn",
    )
    .default("true"),
    Param::time("most_debt", "maximum airtime that a station may use in advance").default("100ms").range(1e-3, 1e3),
    WEIGHTS,
    Param::word(
        "inner",
        &["fq_codel", "fifo"],
        "queues inside a station. fq_codel: queues of flows with CoDel; fifo: one queue",
    )
    .default("fq_codel"),
    Param::time("target", "with fq_codel: acceptable waiting time").default("20ms").range(0.0, 1e6),
    Param::time("interval", "with fq_codel: time for which the target may be exceeded")
        .default("100ms")
        .range(1e-6, 1e6),
    Param { doc: "with fq_codel: true if packets that support ECN are marked instead of dropped", ..ECN }
        .default("true")
        .only_with("inner", "fq_codel"),
    CE_THRESHOLD.only_with("inner", "fq_codel"),
    CE_SELECT,
    CE_FROM,
    CE_BEHIND,
    MARK_AT,
    CE_DRAIN.only_with("inner", "fq_codel"),
    CE_EXCESS,
    CLASSIC_FOR_ECT1,
    Param::rate(
        "slow_rate",
        "with fq_codel: below this rate of full packets, a station has a target of 50 ms, an interval of 300 ms and no \
            ECN",
    )
    .default("0bps")
    .range(0.0, 1e12),
    Param::integer("flows", "with fq_codel: number of queues that all stations share")
        .default("4096")
        .range(1.0, 65536.0),
    Param::amount("flow_quantum", "with fq_codel: bytes that a queue may send per round")
        .default("300B")
        .range(64.0, 1e9),
    Param::amount("station_limit", "with fifo: maximum backlog of one station").default("100p").range(1.0, 1e9),
    Param::amount("limit", "maximum backlog of all stations; the packet in service is not counted")
        .default("8192p")
        .range(1.0, 1e9)
        .limits_queue(),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("D", "deficit of a station: airtime that it may use; `quantum · w` at first"),
    symbol("w", "weight of the station (`weights`), otherwise 1"),
    symbol("t", "airtime of the attempt"),
    symbol("X", "time of an exchange of 1500 bytes with the station"),
    symbol("A", "bytes of the aggregate of this turn"),
    symbol("f", "number of the station's queues with packets"),
    symbol("Q", "bytes before the packet in its own queue"),
    symbol("U", "bytes of the station that have left its queues and that the transmitter still needs"),
    symbol("C", "rate of the station, in bytes per second; not known before its first measurement"),
    symbol("Δ", "time since the station's last turn"),
    symbol("A′", "bytes of the aggregate of that turn"),
    on("an attempt from or to the station ends, with `share = airtime`"),
    eq("D ← max(D − t, −most_debt)", "Høiland-Jørgensen et al. 2017 §3.2"),
    on("an arrival"),
    step("the packet is dropped", "").when("`inner = fifo`, and `station_limit` has no room"),
    step("the head of the queue with the most bytes is dropped, until the packet fits", "Algorithm 1")
        .when("`limit` has no room for it"),
    step("it goes to the queue that the hash of its flow selects, one of `flows`", "").when("`inner = fq_codel`"),
    step("it goes to a queue of the station alone", "")
        .when("`inner = fifo`, or another station uses the queue, or no one does and its own queue is in use"),
    step("it is marked if its transport supports marks, with `ce_select = ect1` if it has ECT(1)", "")
        .when("`inner = fq_codel`, and `(f · Q + U) / C > ce_drain`"),
    step("the station goes to the end of the list of new stations, of old ones without `sparse`", "Algorithm 3")
        .when("it is in no list"),
    on("the transmitter is free"),
    step("the turn is that of the first new station; without one, of the first old station", ""),
    eq("D ← D + quantum · w", "").when("`D ≤ 0`"),
    step("it goes to the end of the old ones, and the next one has the turn", "").when("`D ≤ 0` before"),
    step("a new station goes to the end of the old ones, an old one leaves its list; the next one has the turn", "")
        .when("it has nothing to send"),
    eq("D ← D − quantum", "").when("`share = turns`, and it sends"),
    eq("C ← A′ / Δ", "").when("its packets have waited since its last turn, and `C` is not known"),
    eq("C ← C + (A′ / Δ − C) / 8", "").when("its packets have waited since its last turn, and `C` is known"),
    step("it sends one aggregate: its queues give packets in turns as in fq_codel, with `flow_quantum`", "Algorithm 2"),
    step("CoDel is that of codel, with MAXPACKET = 0 and the bytes of the packet's own queue", "mac80211"),
    super::shallow::SPARES,
    super::shallow::MARKS,
    super::shallow::BURST,
    super::shallow::COUNTS,
    super::shallow::EXCESS,
    step("the target is 50 ms, the interval 300 ms, and CoDel marks nothing", "")
        .when("`8 · 1500 / X < slow_rate`, with `X` in seconds at the first packet"),
];

/// The settings for a station below `slow_rate`: those of CoDel as in Linux before 2025.
const fn slow(law: Law) -> Law {
    Law { target: Span::from_millis(50), interval: Span::from_millis(300), ecn: false, ..law }
}

/// The size of the full packet that defines a station's rate, in bytes.
const FULL: u32 = 1500;

/// Builds the discipline.
///
/// # Errors
/// If a limit has no room for one packet, a weight belongs to no neighbour or is not above 0, `flow_quantum` or
/// `ce_behind` is not in bytes, or nothing would signal ECT(1).
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let ns = |name| i64::try_from(args.time(name).as_nanos()).unwrap_or(i64::MAX);
    let fifo = args.word("inner") == "fifo";
    let hashes = args.integer("flows").clamp(1, 65_536) as usize;
    let flow_quantum = bytes(args, "flow_quantum")?;
    // mac80211: only the bytes of the packet's own flow count, and there is no MTU allowance.
    let shallow = Shallow::new(args, true)?;
    let law =
        Law { target: args.time("target"), interval: args.time("interval"), mtu: 0, ecn: args.flag("ecn"), shallow };
    // One queue per station needs no turns.
    let flows =
        if fifo { FlowQueues::new(0, u64::MAX, 0) } else { FlowQueues::new(hashes, flow_quantum, site.network) };
    Ok(Box::new(Airtime {
        quantum: ns("quantum").max(1),
        most_debt: ns("most_debt"),
        sparse: args.flag("sparse"),
        turns: args.word("share") == "turns",
        weights: Weights::new(args, site)?,
        law: (!fifo).then_some(law),
        excess: if fifo { 0 } else { args.integer("ce_excess").max(0) as u64 },
        drain: Some(args.time("ce_drain")).filter(|most| !fifo && most.as_secs_f64() < CE_DRAIN.range.1),
        slow_rate: args.rate("slow_rate"),
        station_limit: limit(args, "station_limit")?,
        limit: limit(args, "limit")?,
        stations: Vec::new(),
        fresh: VecDeque::new(),
        old: VecDeque::new(),
        flows,
    }))
}

/// Stations in two lists: those that have just begun to wait, and the others.
#[derive(Debug)]
pub struct Airtime {
    /// Airtime per turn, in ns.
    quantum: i64,
    /// Limit of a station's debt, in ns.
    most_debt: i64,
    sparse: bool,
    /// True if each turn costs a quantum, instead of its airtime.
    turns: bool,
    weights: Weights,
    /// CoDel settings for flows; `None` for one queue per station.
    law: Option<Law>,
    /// Further aggregates whose packets a turn does not mark; 0 if turns mark nothing.
    excess: u64,
    /// The longest time that an arriving packet may be expected to wait without a mark.
    drain: Option<Span>,
    /// Rate below which a station is slow, in bits per second.
    slow_rate: u64,
    station_limit: Amount,
    limit: Amount,
    stations: Vec<Station>,
    fresh: VecDeque<usize>,
    old: VecDeque<usize>,
    /// The waiting packets. A group is a station.
    flows: FlowQueues,
}

#[derive(Debug)]
struct Station {
    /// Airtime that the station may use in this turn, in ns.
    deficit: i64,
    /// Airtime that the station gets per turn, in ns.
    quantum: i64,
    /// True if the station is in one of the lists.
    listed: bool,
    /// True if the station is below `slow_rate`; `None` before its first packet.
    slow: Option<bool>,
}

impl Airtime {
    fn station(&mut self, station: usize) -> Option<&mut Station> {
        while self.stations.len() <= station {
            let weight = self.weights.get(self.stations.len() as u32).unwrap_or(1.0);
            let quantum = ((self.quantum as f64 * weight) as i64).max(1);
            self.stations.push(Station { deficit: quantum, quantum, listed: false, slow: None });
        }
        self.stations.get_mut(station)
    }

    /// Puts station `i` into a list if it is in none.
    fn list(&mut self, i: usize) {
        let sparse = self.sparse;
        let Some(station) = self.station(i) else { return };
        if !core::mem::replace(&mut station.listed, true) {
            if sparse { &mut self.fresh } else { &mut self.old }.push_back(i);
        }
    }

    /// The next packet of station `i`. `None` only if no packet waits: CoDel never drops the last packet of a flow.
    fn pop(&mut self, now: Time, i: usize, sink: &mut Sink) -> Option<Packet> {
        let slow = self.stations.get(i).is_some_and(|s| s.slow == Some(true));
        let law = self.law.map(|law| if slow { self::slow(law) } else { law });
        self.flows.pop(i, now, law.as_ref(), true, sink)
    }

    /// Hands packets of station `i` to `below` as long as there is room. Returns their bytes.
    fn hand_over(&mut self, now: Time, i: usize, below: &mut dyn Below, sink: &mut Sink) -> u64 {
        let mut bytes = 0;
        while below.has_room(i as u32)
            && let Some(p) = self.pop(now, i, sink)
        {
            bytes += u64::from(p.size);
            below.put(p, sink);
        }
        bytes
    }

    /// The station whose turn it is. `below`: if packets are sent in aggregates.
    fn turn(&mut self, now: Time, below: Option<&dyn Below>, sink: &mut Sink) -> Option<usize> {
        // Algorithm 3. Each pass of the loop hands out a quantum, which replaces what was used, or removes a station
        // from a list, or passes over a station that cannot use its turn.
        // Stations passed over since the last quantum.
        let mut passed_over = 0;
        loop {
            let fresh = !self.fresh.is_empty();
            let row = if fresh { &mut self.fresh } else { &mut self.old };
            let i = *row.front()?;
            let station = self.stations.get_mut(i)?;
            if station.deficit <= 0 {
                station.deficit += station.quantum;
                row.pop_front();
                self.old.push_back(i);
                passed_over = 0;
                continue;
            }
            let waits = self.flows.backlog(i).packets > 0;
            if below.map_or(waits, |below| can_serve(below, i as u32, waits)) {
                station.deficit -= if self.turns { self.quantum } else { 0 };
                if let Some(law) = &self.law {
                    self.flows.begin_turn(i, now, &law.shallow);
                }
                if self.drain.is_some() {
                    self.flows.measure(i, now);
                }
                return Some(i);
            }
            row.pop_front();
            if waits {
                // As in mac80211 (ieee80211_next_txq).
                self.old.push_back(i);
                passed_over += 1;
                if passed_over > self.fresh.len() + self.old.len() {
                    return None;
                }
                continue;
            }
            // A new station moves to the old list for one turn. Otherwise it could become new again at once.
            if fresh {
                self.old.push_back(i);
            } else {
                station.listed = false;
            }
            // Ends the turns of its empty queues.
            let none = self.pop(now, i, sink);
            debug_assert!(none.is_none(), "no packet waits");
        }
    }
}

/// True if the link carries full packets to `station` at less than `rate` bits per second.
fn is_slow(link: &dyn Link, station: usize, rate: u64) -> bool {
    let bits = 8e9 * f64::from(FULL);
    rate > 0 && bits < rate as f64 * link.exchange(station as u32, FULL).as_nanos() as f64
}

impl Qdisc for Airtime {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        let i = link.neighbour(&p) as usize;
        let full = self.law.is_none() && !self.flows.backlog(i).has_room(self.station_limit, &p);
        // Algorithm 1: when the limit is reached, the head of the longest queue is dropped.
        while !full && !self.flows.total().has_room(self.limit, &p) && self.flows.total().packets > 0 {
            self.flows.shorten_longest(1, sink);
        }
        if full || !self.flows.total().has_room(self.limit, &p) {
            sink.drop(p, DropReason::Full);
            return;
        }
        match (&self.law, self.drain) {
            (Some(law), Some(most)) if law.shallow.selects(&p) => {
                let queue = self.flows.push(cx, i, p);
                self.flows.mark_late(queue, i, link.below(i as u32), most, sink);
            }
            (Some(_), _) => _ = self.flows.push(cx, i, p),
            (None, _) => self.flows.push_unhashed(i, p),
        }
        let rate = self.slow_rate;
        if let Some(station) = self.station(i) {
            station.slow.get_or_insert_with(|| is_slow(link, i, rate));
        }
        self.list(i);
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        let i = self.turn(cx.now, None, sink)?;
        self.pop(cx.now, i, sink)
    }

    fn backlog(&self) -> Backlog {
        self.flows.total()
    }

    fn marks_below(&mut self) -> Option<BurstMarks> {
        self.law.as_mut()?.shallow.marks_below()
    }

    fn hears_air(&self) -> bool {
        !self.turns
    }

    fn on_air(&mut self, report: &AirReport) {
        let used = i64::try_from(report.airtime.as_nanos()).unwrap_or(i64::MAX);
        let most = self.most_debt;
        if let Some(station) = self.station(report.station as usize) {
            station.deficit = station.deficit.saturating_sub(used).max(-most);
        }
    }

    fn by_receiver(&mut self) -> Option<&mut dyn ByReceiver> {
        Some(self)
    }
}

impl ByReceiver for Airtime {
    fn serve(&mut self, cx: &mut Cx, _: &dyn Link, below: &mut dyn Below, sink: &mut Sink) -> Option<u32> {
        let i = self.turn(cx.now, Some(below), sink)?;
        let bytes = self.hand_over(cx.now, i, below, sink);
        if self.excess > 0 && bytes > 0 {
            self.flows.mark_excess(i, self.excess.saturating_mul(bytes), sink);
        }
        Some(i as u32)
    }

    /// The station is treated as if a packet for it arrived, as in the paper's ath9k (`ath_tx_queue_tid`).
    fn hold(&mut self, link: &dyn Link, p: &Packet) {
        self.list(link.neighbour(p) as usize);
    }

    fn join(&mut self, cx: &mut Cx, _: &dyn Link, receiver: u32, below: &mut dyn Below, sink: &mut Sink) {
        _ = self.hand_over(cx.now, receiver as usize, below, sink);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::*;
    use super::*;
    use crate::Rng;
    use crate::registry::Value;
    use proptest::prelude::*;
    use rand::SeedableRng as _;

    fn report(station: u32, up: bool, us: u64) -> AirReport {
        AirReport {
            now: Time::ZERO,
            station,
            up,
            airtime: Span::from_micros(us),
            success: true,
            bytes: 1500,
            waiting: 0,
        }
    }

    /// Both stations always have a packet. A report follows each sent packet. Returns the airtime of each station in
    /// us.
    fn airtime(q: &mut dyn Qdisc, us: [u64; 3], packets: usize) -> [u64; 3] {
        let mut bench = Bench::default();
        let mut used = [0; 3];
        for _ in 0..packets {
            (1..3).for_each(|to| bench.push(q, packet(to, 1500)));
            let to = bench.pop(q).unwrap().flow.0;
            q.on_air(&report(to, false, us[to as usize]));
            used[to as usize] += us[to as usize];
            bench.sink.dropped.clear();
        }
        used
    }

    /// With its acknowledgment, a packet of 1500 bytes takes about 2100 us at 6 Mb/s and about 310 us at 54 Mb/s. The
    /// airtimes are equal within one frame of the slow station plus one quantum.
    #[test]
    fn a_slow_and_a_fast_station_get_the_same_airtime() {
        let [_, slow, fast] = airtime(&mut *made(build, PARAMS, &[]), [0, 2100, 310], 20_000);
        assert!(slow.abs_diff(fast) <= 2100 + 300, "{slow} {fast}");
    }

    #[test]
    fn weights_two_to_one_give_twice_the_airtime() {
        let [_, heavy, light] =
            airtime(&mut *made(build, PARAMS, &[("weights", weights(&[("sta.1", 2.0)]))]), [0, 2100, 310], 20_000);
        assert!(heavy.abs_diff(2 * light) <= 2 * 2100 + 600, "{heavy} {light}");
    }

    /// Frames sent by a station and failed attempts count. Station 1 sends as much airtime as it receives, so it
    /// receives half as much as station 2.
    #[test]
    fn what_a_station_sends_is_charged() {
        let mut q = made(build, PARAMS, &[]);
        let mut bench = Bench::default();
        let mut got = [0u32; 3];
        for _ in 0..9000 {
            (1..3).for_each(|to| bench.push(&mut *q, packet(to, 1500)));
            let to = bench.pop(&mut *q).unwrap().flow.0;
            q.on_air(&report(to, false, 310));
            if to == 1 {
                q.on_air(&AirReport { success: false, ..report(1, true, 310) });
            }
            got[to as usize] += 1;
        }
        assert!(got[1].abs_diff(3000) <= 2, "{got:?}");
    }

    /// Room for packets to each station, and a packet that waits below.
    #[derive(Default)]
    struct Pit {
        room: [u64; 4],
        again: [bool; 4],
        got: u64,
    }

    impl Below for Pit {
        fn holds(&self, receiver: u32) -> bool {
            self.again[receiver as usize]
        }
        fn has_room(&self, receiver: u32) -> bool {
            self.got < self.room[receiver as usize]
        }
        fn put(&mut self, _: Packet, _: &mut Sink) {
            self.got += 1;
        }
    }

    /// Three stations with packets enough. Returns station and packets of each turn; a turn takes `us` for each packet.
    fn turns(q: &mut dyn Qdisc, room: [u64; 4], us: [u64; 4], n: usize) -> Vec<(u32, u64)> {
        let mut bench = Bench::default();
        (0..200).for_each(|i| bench.push(q, packet(1 + i % 3, 1500)));
        let mut rng = Rng::seed_from_u64(1);
        let mut turn = || {
            let mut pit = Pit { room, ..Pit::default() };
            let cx = &mut Cx { now: Time::ZERO, rng: &mut rng };
            let to = q.by_receiver().unwrap().serve(cx, &Stations, &mut pit, &mut Sink::default())?;
            if q.hears_air() {
                q.on_air(&report(to, false, us[to as usize] * pit.got));
            }
            Some((to, pit.got))
        };
        core::iter::from_fn(&mut turn).take(n).collect()
    }

    /// The first station needs 20 times the airtime per packet. By hand: a turn of station 1 takes 2000 us, one of the
    /// others 1000 us, so station 1 has every second turn of the others. The first turns are those of new stations.
    #[test]
    fn a_turn_fills_an_aggregate_and_costs_its_airtime() {
        let mut q = made(build, PARAMS, &[("quantum", Value::Time(Span::from_micros(1000)))]);
        let order = turns(&mut *q, [0, 1, 10, 10], [0, 2000, 100, 100], 8);
        assert_eq!(order, [(1, 1), (2, 10), (3, 10), (2, 10), (3, 10), (1, 1), (2, 10), (3, 10)]);
    }

    #[test]
    fn with_turns_each_station_sends_an_aggregate_after_the_other() {
        let mut q = made(build, PARAMS, &[("share", word("turns"))]);
        let order = turns(&mut *q, [0, 1, 10, 10], [0, 2000, 100, 100], 7);
        assert_eq!(order, [(1, 1), (2, 10), (3, 10), (1, 1), (2, 10), (3, 10), (1, 1)]);
        let weights = ("weights", weights(&[("sta.2", 2.0)]));
        let mut q = made(build, PARAMS, &[("share", word("turns")), weights]);
        let order = turns(&mut *q, [0, 1, 1, 1], [0; 4], 8);
        assert_eq!(order.iter().map(|turn| turn.0).collect::<Vec<_>>(), [1, 2, 2, 3, 1, 2, 2, 3]);
    }

    #[test]
    fn a_blocked_station_is_passed_over_and_keeps_its_packets() {
        let mut q = made(build, PARAMS, &[]);
        assert_eq!(turns(&mut *q, [0, 0, 2, 2], [0; 4], 3), [(2, 2), (2, 2), (2, 2)]);
        let waiting = q.backlog().packets;
        assert_eq!(turns(&mut *q, [0; 4], [0; 4], 3), []);
        assert_eq!((waiting, q.backlog().packets), (194, 394));
        assert!(turns(&mut *q, [0, 2, 0, 0], [0; 4], 3).iter().all(|turn| *turn == (1, 2)));
    }

    /// A station for which no packet waits here has a turn for what it has below, and only then.
    #[test]
    fn what_is_sent_again_needs_a_turn() {
        let (mut q, mut rng) = (made(build, PARAMS, &[]), Rng::seed_from_u64(1));
        let q = q.by_receiver().unwrap();
        let mut serve = |q: &mut dyn ByReceiver, again| {
            let cx = &mut Cx { now: Time::ZERO, rng: &mut rng };
            q.serve(cx, &Stations, &mut Pit { again, ..Pit::default() }, &mut Sink::default())
        };
        let both = [false, true, true, false];
        assert_eq!(serve(q, both), None);
        q.hold(&Stations, &packet(2, 1500));
        assert_eq!(serve(q, both), Some(2));
        assert_eq!(serve(q, [false; 4]), None);
    }

    /// The paper's sparse station: it goes once before the waiting stations. Without the option it goes after them. A
    /// frame takes 310 us and a turn gives 300 us, so each station sends one frame per turn. By hand: before the fifth
    /// packet the list is 2 (-20 us), 1 (280 us); station 2 gets its quantum and goes behind station 3.
    #[test]
    fn a_sparse_station_goes_first() {
        let order = |sparse| {
            let mut q = made(build, PARAMS, &[("sparse", Value::Bool(sparse))]);
            let mut bench = Bench::default();
            let mut order = Vec::new();
            for i in 0..8 {
                (1..3).for_each(|to| bench.push(&mut *q, packet(to, 1500)));
                if i == 4 {
                    (0..2).for_each(|_| bench.push(&mut *q, packet(3, 100)));
                }
                let to = bench.pop(&mut *q).unwrap().flow.0;
                q.on_air(&report(to, false, 310));
                order.push(to);
            }
            order
        };
        assert_eq!(order(true), [1, 2, 1, 2, 3, 1, 3, 2]);
        assert_eq!(order(false), [1, 2, 1, 2, 1, 3, 2, 1]);
    }

    /// Flow 1 goes to a station with 8 Mb/s, flow 2 to a station with 4 Mb/s. A packet leaves every 20 ms, the first
    /// after 60 ms. By hand: the wait is above 20 ms from 60 ms on. CoDel of the fast station drops at 160 and 260 ms
    /// (or marks, if permitted). CoDel of the slow station, with target 50 ms, first drops at 360 ms.
    #[test]
    fn a_slow_station_has_more_time() {
        let early = |to: u32| {
            let mut q = made(build, PARAMS, &[("slow_rate", Value::Rate(6_000_000))]);
            let mut bench = Bench::default();
            (0..100).for_each(|_| bench.push(&mut *q, packet(to, 1500)));
            (3..=18)
                .filter(|n| {
                    bench.now = Time::ZERO + Span::from_millis(20 * n);
                    let _ = bench.pop(&mut *q);
                    !core::mem::take(&mut bench.sink.dropped).is_empty()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!((early(1), early(2)), (alloc::vec![8, 13, 17], alloc::vec![18]));
    }

    /// Ten packets in each direction, all ECT(1) or all ECT(0). A turn takes four, two of each queue. One further
    /// aggregate takes two more of each, so that of the eight in each queue six are marked. The next turns mark nothing
    /// new.
    #[test]
    fn a_turn_marks_what_will_not_fit_into_the_next_ones() {
        let marks = |ecn, further| {
            let mut q = made(build, PARAMS, &[("ce_excess", Value::Integer(further))]);
            let (mut bench, mut rng) = (Bench::default(), Rng::seed_from_u64(1));
            for _ in 0..10 {
                let p = packet(1, 500).with_ecn(ecn);
                [p, p.reversed()].into_iter().for_each(|p| bench.push(&mut *q, p));
            }
            let mut turn = || {
                let mut pit = Pit { room: [0, 4, 0, 0], ..Pit::default() };
                let cx = &mut Cx { now: Time::ZERO, rng: &mut rng };
                q.by_receiver().unwrap().serve(cx, &Stations, &mut pit, &mut bench.sink);
                core::mem::take(&mut bench.sink.marked)
            };
            [turn(), turn(), turn()]
        };
        use crate::packet::Ecn::{Ect, Ect1};
        assert_eq!([marks(Ect1, 1), marks(Ect1, 3), marks(Ect1, 4)], [[12, 0, 0], [4, 0, 0], [0; 3]]);
        assert_eq!([marks(Ect1, 0), marks(Ect, 1)], [[0; 3]; 2]);
    }

    /// A turn every 10 ms takes four of 20 packets of 500 B: 200 kB/s. Then twelve wait, 30 ms; with `below` 2000 B
    /// more, 40 ms. Beside a queue with one packet the new one waits for that, too.
    #[test]
    fn an_arrival_that_will_wait_too_long_is_marked() {
        struct Over(u64);
        impl Link for Over {
            fn neighbour(&self, p: &Packet) -> u32 {
                Stations.neighbour(p)
            }
            fn exchange(&self, neighbour: u32, size: u32) -> Span {
                Stations.exchange(neighbour, size)
            }
            fn contention(&self, _: u32) -> Span {
                Span::ZERO
            }
            fn slot(&self) -> Span {
                Span::ZERO
            }
            fn below(&self, neighbour: u32) -> u64 {
                assert_eq!(neighbour, 1);
                self.0
            }
        }
        use crate::packet::Ecn::{self, Ce, Ect, Ect1};
        let arrives = |ms, ecn: Ecn, below, beside| {
            let set = [("ce_drain", Value::Time(Span::from_millis(ms))), ("ce_select", word("ect1"))];
            let mut q = made(build, PARAMS, &set);
            let (mut rng, mut sink) = (Rng::seed_from_u64(1), Sink::default());
            let p = packet(1, 500).with_ecn(ecn);
            let link = &Over(below);
            let mut push = |q: &mut Box<dyn Qdisc>, ms, p| {
                q.enqueue(&mut Cx { now: Time::ZERO + Span::from_millis(ms), rng: &mut rng }, link, p, &mut sink);
                core::mem::take(&mut sink.marked)
            };
            assert_eq!((0..20).map(|_| push(&mut q, 0, p)).sum::<u64>(), 0, "no rate is known");
            let mut rng = Rng::seed_from_u64(2);
            for turn in 0..2 {
                let mut pit = Pit { room: [0, 4, 0, 0], ..Pit::default() };
                let cx = &mut Cx { now: Time::ZERO + Span::from_millis(10 * turn), rng: &mut rng };
                q.by_receiver().unwrap().serve(cx, link, &mut pit, &mut Sink::default());
            }
            if beside {
                push(&mut q, 10, p.reversed().with_ecn(Ecn::NotEct));
            }
            push(&mut q, 10, p)
        };
        assert_eq!([29, 31].map(|ms| arrives(ms, Ect1, 0, false)), [1, 0]);
        assert_eq!([39, 41].map(|ms| arrives(ms, Ect1, 2000, false)), [1, 0]);
        assert_eq!([32, 33].map(|ms| arrives(ms, Ect1, 0, true)), [1, 0]);
        assert_eq!([Ect, Ce].map(|ecn| arrives(29, ecn, 0, false)), [0, 0]);
    }

    /// The share of marks if a station has a turn every `s` microseconds, which takes everything, and a packet arrives
    /// every 100 us.
    fn marks_of_bursts(s: u64, theta: u64, from: &str) -> f64 {
        let set = [("ce_threshold", Value::Time(Span::from_micros(theta))), ("ce_from", word(from))];
        let mut q = made(build, PARAMS, &set);
        let (mut bench, mut rng) = (Bench::default(), Rng::seed_from_u64(1));
        let (mut sent, mut pit) = (0, Pit { room: [0, u64::MAX, 0, 0], ..Pit::default() });
        for us in (0..2_000_000).step_by(50) {
            bench.now = Time::ZERO + Span::from_micros(us);
            if us % 100 == 50 {
                let mut p = packet(1, 500).with_ecn(crate::packet::Ecn::Ect1);
                p.queued = bench.now;
                bench.push(&mut *q, p);
                sent += 1;
            }
            if us % s == 0 {
                let cx = &mut Cx { now: bench.now, rng: &mut rng };
                q.by_receiver().unwrap().serve(cx, &Stations, &mut pit, &mut bench.sink);
            }
        }
        assert!(bench.sink.dropped.is_empty() && sent - pit.got < s / 100 + 1);
        bench.sink.marked as f64 / sent as f64
    }

    /// The law of bursts: the waits of smooth arrivals are uniform in 0..S, so a threshold marks 1 - threshold / S of
    /// the packets at any load. From the turn on, nobody waits.
    #[test]
    fn a_threshold_below_the_time_between_turns_marks_without_a_queue() {
        for (s, theta, share) in
            [(4000, 1000, 0.75), (5500, 1000, 0.818), (5500, 5500, 0.0), (20_000, 1000, 0.95), (20_000, 10_000, 0.5)]
        {
            let marks = marks_of_bursts(s, theta, "arrival");
            assert!((marks - share).abs() < 0.02, "{s} {theta}: {marks}");
            assert_eq!(marks_of_bursts(s, theta, "turn"), 0.0, "{s} {theta}");
        }
    }

    /// A turn every 4 ms takes 30 of the 40 packets that come: with each turn 10 more wait, and have had turns before.
    #[test]
    fn a_queue_that_stands_over_turns_is_marked_from_the_turn() {
        let set = [("ce_threshold", Value::Time(Span::from_millis(5))), ("ce_from", word("turn"))];
        let mut q = made(build, PARAMS, &set);
        let (mut bench, mut rng, mut marks) = (Bench::default(), Rng::seed_from_u64(1), Vec::new());
        for _ in 0..8 {
            for _ in 0..40 {
                let mut p = packet(1, 500).with_ecn(crate::packet::Ecn::Ect1);
                p.queued = bench.now;
                bench.push(&mut *q, p);
                bench.now += Span::from_micros(100);
            }
            let mut pit = Pit { room: [0, 30, 0, 0], ..Pit::default() };
            let cx = &mut Cx { now: bench.now, rng: &mut rng };
            assert_eq!(q.by_receiver().unwrap().serve(cx, &Stations, &mut pit, &mut bench.sink), Some(1));
            assert_eq!(pit.got, 30);
            marks.push(core::mem::take(&mut bench.sink.marked));
        }
        // Turn n takes the packets from 30 n - 30 on. Packet i had its first turn with number i / 40 + 1. It is marked
        // if that was two turns, 8 ms, ago: of turn 6 the packets below 160, of turn 7 those below 200.
        let want = [0, 0, 0, 0, 0, 10, 20, 30];
        assert_eq!(marks, want);
    }

    proptest! {
        #[test]
        fn packets_are_conserved_and_flows_keep_their_order(
            steps in steps(), sparse in any::<bool>(), fifo in any::<bool>(), flows in 1i64..20,
        ) {
            let inner = word(if fifo { "fifo" } else { "fq_codel" });
            let limit = Value::Amount(Amount::Packets(30));
            let with = [
                ("sparse", Value::Bool(sparse)), ("inner", inner), ("flows", Value::Integer(flows)), ("limit", limit),
                ("station_limit", Value::Amount(Amount::Bytes(10_000))),
            ];
            conserves(&mut *made(build, PARAMS, &with), &steps)?;
        }
    }
}
