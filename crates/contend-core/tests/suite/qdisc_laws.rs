//! Laws of every queue discipline: packets are conserved, the packets of a flow keep their order, nothing panics.

use crate::common::{PlainLink, Reach, What, defaults, make, number, packet, varied};
use contend_core::qdisc::{AirReport, Backlog, Below, Build, DropReason, Link, Qdisc, REGISTRY, Sink};
use contend_core::registry::{Amount, Args, Entry, Unit, Value};
use contend_core::{Body, Cx, Ecn, Packet, Rng, Segment, Span, Time};
use proptest::prelude::*;
use rand::SeedableRng as _;
use std::collections::{BTreeMap, BTreeSet};

/// An event, used with the time since the previous event.
#[derive(Clone, Debug)]
enum Event {
    In { flow: u32, size: u32, ect: bool },
    Out,
}

/// Mostly bursts of packets. Pauses are up to `long` nanoseconds.
fn events(long: u64) -> impl Strategy<Value = Vec<(u64, Event)>> {
    let after = prop_oneof![3 => Just(0u64), 6 => 0u64..20_000_000, 1 => 0..long];
    let size = prop_oneof![4 => Just(1500u32), 1 => 1u32..=65_535];
    let arrival = (0u32..6, size, any::<bool>()).prop_map(|(flow, size, ect)| Event::In { flow, size, ect });
    prop::collection::vec((after, prop_oneof![3 => arrival, 2 => Just(Event::Out)]), 1..400)
}

/// An entry and its parameters: a short queue, and arbitrary words, switches, times and numbers (as positions in their
/// ranges).
fn setting() -> impl Strategy<Value = (usize, Args)> {
    let some = prop::collection::vec(prop::option::of(0.0f64..1.0), 32);
    (0..REGISTRY.len(), prop::option::of(1u64..40), some).prop_map(|(i, limit, some)| {
        let entry = &REGISTRY[i];
        let mut args = varied(entry, some, &Reach { number: 100.0, time: 4.0, integer: |_| 10.0 });
        if let Some(n) = limit.filter(|_| entry.params.iter().any(|p| p.name == "limit")) {
            args.set("limit", Value::Amount(Amount::Packets(n)));
        }
        (i, args)
    })
}

/// A discipline with a record of its packets.
struct Watched {
    qdisc: Box<dyn Qdisc>,
    rng: Rng,
    now: Time,
    sink: Sink,
    offered: BTreeMap<u32, u64>,
    inside: Backlog,
    early: u64,
    /// Flows whose first waiting packet has partly left.
    parts: BTreeSet<u32>,
    /// The last packet of each flow that has left.
    last: BTreeMap<u32, u64>,
    /// Replaces the content of packets: `None`, datagrams, or sealed segments.
    cover: Option<fn(u64, Packet) -> Packet>,
    /// Every packet that was dropped, by flow and number.
    gone: Vec<(u32, u64)>,
    /// Packets that wait, by flow.
    waiting: BTreeMap<u32, u64>,
    /// True if packets with different ECN fields have different queues. All packets of a flow then have the same.
    splits: bool,
    /// True if packets of a flow may overtake each other: queue protection diverts some of them (RFC 9957 §5).
    diverts: bool,
}

impl Watched {
    fn new(entry: &Entry<Build>, args: &Args) -> Option<Watched> {
        // Some combinations of parameters are refused with a message.
        let qdisc = make(entry, args).map_err(|e| assert!(!e.to_string().is_empty())).ok()?;
        let rng = Rng::seed_from_u64(7);
        let (now, sink) = (Time::ZERO, Sink::default());
        Some(Watched {
            qdisc,
            rng,
            now,
            sink,
            offered: BTreeMap::new(),
            inside: Backlog::default(),
            early: 0,
            parts: BTreeSet::new(),
            last: BTreeMap::new(),
            cover: None,
            gone: Vec::new(),
            waiting: BTreeMap::new(),
            splits: entry.name == "dualpi2",
            diverts: args.get("protection") == Some(&Value::Bool(true)),
        })
    }

    fn enter(&mut self, flow: u32, size: u32, ect: bool) {
        let n = self.offered.entry(flow).or_default();
        *n += 1;
        let what = [What::Data, What::Ack, What::Udp][flow as usize % 3];
        let ecn = match (self.splits, ect) {
            (true, _) => [Ecn::NotEct, Ecn::Ect1, Ecn::Ect, Ecn::Ect1][flow as usize % 4],
            (false, true) => [Ecn::Ect, Ecn::Ect1][*n as usize % 2],
            (false, false) => Ecn::NotEct,
        };
        let mut p = packet(flow, *n, what, size, ecn, self.now);
        p = self.cover.map_or(p, |cover| cover(*n, p));
        self.inside.packets += 1;
        self.inside.bytes += u64::from(size);
        *self.waiting.entry(flow).or_default() += 1;
        self.qdisc.enqueue(&mut Cx { now: self.now, rng: &mut self.rng }, &PlainLink, p, &mut self.sink);
        self.settle();
    }

    fn leave(&mut self) -> Option<Packet> {
        let p = self.qdisc.dequeue(&mut Cx { now: self.now, rng: &mut self.rng }, &PlainLink, &mut self.sink);
        let made = std::mem::take(&mut self.sink.made);
        if let Some(p) = &p {
            self.left(p, made);
        }
        self.settle();
        p
    }

    /// `p` has left, and `made` packets were created.
    fn left(&mut self, p: &Packet, made: u64) {
        // A created packet is the first part of a packet that still waits: its bytes are added, and its number occurs
        // again.
        self.inside.packets += made;
        self.inside.bytes += made * u64::from(p.size);
        *self.waiting.entry(p.flow.0).or_default() += made;
        self.forget(p);
        let again = if made > 0 { !self.parts.insert(p.flow.0) } else { self.parts.remove(&p.flow.0) };
        let last = self.last.insert(p.flow.0, number(p));
        assert!(
            self.diverts || last < Some(number(p)) || (again && last == Some(number(p))),
            "flow {}: {} after {last:?}",
            p.flow.0,
            number(p)
        );
    }

    fn forget(&mut self, p: &Packet) {
        *self.waiting.entry(p.flow.0).or_default() -= 1;
        self.inside.packets -= 1;
        self.inside.bytes -= u64::from(p.size);
    }

    /// offered + made = out + dropped + filtered + waiting.
    fn settle(&mut self) {
        let mut sink = std::mem::take(&mut self.sink);
        self.inside.packets += sink.made;
        for (p, why) in sink.dropped.drain(..) {
            self.forget(&p);
            self.gone.push((p.flow.0, number(&p)));
            self.early += u64::from(why == DropReason::Early);
        }
        assert_eq!(self.qdisc.backlog(), self.inside);
    }

    /// Gives a turn. Returns the receiver and its packets; `None` also if the discipline gives no turns.
    fn turn(&mut self, below: &mut Air) -> Option<(u32, Vec<Packet>)> {
        let cx = &mut Cx { now: self.now, rng: &mut self.rng };
        let to = self.qdisc.by_receiver()?.serve(cx, &PlainLink, below, &mut self.sink);
        let got = std::mem::take(&mut below.got);
        got.iter().for_each(|(p, made)| self.left(p, *made));
        self.settle();
        Some((to?, got.into_iter().map(|(p, _)| p).collect()))
    }

    /// Removes all waiting packets.
    fn drain(&mut self) {
        for _ in 0..10_000 {
            if self.leave().is_none() {
                if self.qdisc.backlog().packets == 0 {
                    return;
                }
                self.now = self.qdisc.next_deadline().max(self.now);
                assert!(self.now < Time::NEVER, "packets wait for ever");
            }
        }
        panic!("it does not become empty");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_and_flows_keep_their_order(
        (i, args) in setting(), events in events(3 * 86_400_000_000_000),
    ) {
        let Some(mut w) = Watched::new(&REGISTRY[i], &args) else { return Ok(()) };
        for (after, event) in events {
            w.now += Span::from_nanos(after);
            match event {
                Event::In { flow, size, ect } => w.enter(flow, size, ect),
                Event::Out => _ = w.leave(),
            }
        }
        w.drain();
    }

    #[test]
    fn a_sealed_segment_is_served_as_a_datagram_is((i, args) in setting(), events in events(60_000_000_000)) {
        let covers: [fn(u64, Packet) -> Packet; 2] = [
            |n, p| match p.body {
                Body::Tcp(s) => p.with_body(Body::Tcp(Segment { seq: n, ..s })).sealed(),
                Body::Udp { .. } => p,
            },
            |n, p| p.with_body(Body::Udp { seq: n }),
        ];
        let mut seen = Vec::new();
        for cover in covers {
            let Some(mut w) = Watched::new(&REGISTRY[i], &args) else { return Ok(()) };
            w.cover = Some(cover);
            let mut left = Vec::new();
            for (after, event) in &events {
                w.now += Span::from_nanos(*after);
                match *event {
                    Event::In { flow, size, ect } => w.enter(flow, size, ect),
                    Event::Out => left.push(w.leave().map(|p| (p.flow, number(&p), p.ecn()))),
                }
            }
            seen.push((left, w.gone, w.qdisc.backlog()));
        }
        prop_assert_eq!(&seen[0], &seen[1]);
    }

    #[test]
    fn who_has_no_target_drops_nothing_early((i, args) in setting(), events in events(600_000_000_000)) {
        let entry = &REGISTRY[i];
        let mut args = args;
        for p in entry.params {
            match p.name {
                "target" => args.set("target", Value::Time(Span::from_secs_f64(p.range.1))),
                // The target is a part of it.
                "rtt" if entry.name == "cake" => args.set("rtt", Value::Time(Span::from_secs_f64(p.range.1))),
                "drop" => args.set("drop", Value::Bool(false)),
                // After days of silence the estimated delay can jump by an hour. With beta = 100 such a jump exceeds
                // any target.
                "beta" if entry.name == "pie" => args.set("beta", Value::Number(1.25)),
                "min_th" | "max_th" if p.unit == Unit::Amount => {
                    args.set(p.name, Value::Amount(Amount::Packets(1_000_000_000)))
                }
                // With alpha near 0, PIE follows only the change of the delay and ignores the target.
                "alpha" if entry.name == "pie" => args.set("alpha", Value::Number(0.125)),
                "alpha" if entry.name == "dualpi2" => args.set("alpha", Value::Number(0.16)),
                _ => {}
            }
        }
        let Some(mut w) = Watched::new(entry, &args) else { return Ok(()) };
        for (after, event) in events {
            w.now += Span::from_nanos(after);
            match event {
                Event::In { flow, size, ect } => w.enter(flow, size, ect),
                Event::Out => _ = w.leave(),
            }
        }
        prop_assert_eq!((entry.name, w.early), (entry.name, 0));
    }
}

/// What a sender of aggregates holds, by receiver.
#[derive(Debug, Default)]
struct Air {
    /// Packets that still fit.
    room: [u32; 6],
    /// Packets that are to be retransmitted.
    again: [Option<Packet>; 6],
    /// Packets taken in this turn, each with the number of packets that were created for it.
    got: Vec<(Packet, u64)>,
}

impl Below for Air {
    fn holds(&self, receiver: u32) -> bool {
        self.again[receiver as usize].is_some()
    }
    fn has_room(&self, receiver: u32) -> bool {
        self.room[receiver as usize] > 0
    }
    fn put(&mut self, p: Packet, sink: &mut Sink) {
        self.room[p.flow.0 as usize] -= 1;
        self.got.push((p, std::mem::take(&mut sink.made)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever room receivers have and whatever is retransmitted: packets are conserved, a flow keeps its order, a
    /// turn serves one receiver that can use it, and there is a turn as long as a receiver can use one.
    #[test]
    fn turns_serve_receivers_that_can_use_them(
        (i, args) in setting(),
        events in events(10_000_000_000),
        rooms in prop::collection::vec(0u32..5, 1..40),
        fates in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        let Some(mut w) = Watched::new(&REGISTRY[i], &args) else { return Ok(()) };
        prop_assert!(w.qdisc.by_receiver().is_none() || !w.qdisc.can_bypass());
        let (mut rooms, mut fates) = (rooms.iter().cycle(), fates.iter().cycle());
        let mut below = Air::default();
        // In the end there is room for all, and nothing is retransmitted.
        let end = (0..3000).map(|_| (1_000_000, Event::Out));
        let n = events.len();
        for (step, (after, event)) in events.into_iter().chain(end).enumerate() {
            w.now += Span::from_nanos(after);
            if let Event::In { flow, size, ect } = event {
                w.enter(flow, size, ect);
                continue;
            }
            if w.qdisc.by_receiver().is_none() || (step >= n && w.inside.packets == 0) {
                break;
            }
            below.room = below.room.map(|_| if step < n { *rooms.next().unwrap() } else { 100 });
            let room = below.room;
            let can = [0, 1, 2, 3, 4, 5].map(|r| {
                let waits = w.waiting.get(&r).is_some_and(|n| *n > 0);
                below.holds(r) || (waits && below.has_room(r))
            });
            let Some((to, got)) = w.turn(&mut below) else {
                prop_assert!(!can.contains(&true));
                continue;
            };
            prop_assert!(can[to as usize]);
            prop_assert!(got.iter().all(|p| p.flow.0 == to) && got.len() as u32 <= room[to as usize]);
            let sent = below.again[to as usize].take().or(got.first().copied());
            prop_assert!(sent.is_some(), "a turn for nothing");
            let success = step >= n || *fates.next().unwrap();
            let (now, airtime) = (w.now, Span::from_millis(1));
            let report = AirReport { now, station: to, up: false, airtime, success, bytes: 1500, waiting: 0 };
            w.qdisc.on_air(&report);
            if !success {
                below.again[to as usize] = sent;
                let by_receiver = w.qdisc.by_receiver();
                by_receiver.into_iter().for_each(|q| q.hold(&PlainLink, sent.as_ref().unwrap()));
            }
        }
        if w.qdisc.by_receiver().is_some() {
            prop_assert_eq!(w.qdisc.backlog().packets, 0);
        }
    }
}

/// One transmitter with five stations.
struct Five;

impl Link for Five {
    fn neighbour(&self, p: &Packet) -> u32 {
        1 + p.flow.0 % 5
    }
    fn exchange(&self, _: u32, bytes: u32) -> Span {
        Span::from_micros(u64::from(bytes))
    }
    fn contention(&self, _: u32) -> Span {
        Span::ZERO
    }
    fn slot(&self) -> Span {
        Span::ZERO
    }
}

/// Many short flows, one per second, with data and acknowledgments. The state of a discipline, as shown by `Debug`, is
/// not larger after 4000 flows than after 1000.
#[test]
fn short_flows_leave_nothing_behind() {
    let mut settings: Vec<_> = REGISTRY.iter().map(|e| (e, defaults(e))).collect();
    let wf2q = REGISTRY.iter().find(|e| e.name == "wf2q").unwrap();
    let classes = wf2q.params.iter().find(|p| p.name == "classes").unwrap().name;
    settings.push((wf2q, defaults(wf2q)));
    settings.last_mut().unwrap().1.set(classes, Value::Word("flow".into()));
    for (entry, args) in settings {
        let (mut q, mut rng, mut sink) = (make(entry, &args).unwrap(), Rng::seed_from_u64(7), Sink::default());
        let mut kept = vec![];
        for flow in 0..4000 {
            let cx = &mut Cx { now: Time::ZERO + Span::from_secs(u64::from(flow)), rng: &mut rng };
            for n in 1..4 {
                for what in [What::Data, What::Ack] {
                    q.enqueue(cx, &Five, packet(flow, n, what, 1500, Ecn::NotEct, cx.now), &mut sink);
                }
            }
            while q.dequeue(cx, &Five, &mut sink).is_some() {}
            sink.dropped.clear();
            if flow % 1000 == 999 {
                kept.push(format!("{q:?}").len());
            }
        }
        // Larger numbers have more digits.
        assert!(kept[3] * 10 < kept[0] * 11, "{}: {kept:?}", entry.name);
    }
}

/// When enough packets arrive, the backlog reaches the limit that the discipline names, and never exceeds it. There are
/// so many flows that no limit of a part is lower.
#[test]
fn the_limit_that_a_discipline_names_is_reached_and_kept() {
    for entry in REGISTRY {
        let args = defaults(entry);
        let mut w = Watched::new(entry, &args).unwrap();
        let Some(limit) = entry.limit(&args).and_then(Amount::packets) else {
            // Its limit is in bytes, and follows the rate of its shaper.
            assert_eq!(entry.name, "cake");
            continue;
        };
        let mut most = 0;
        for i in 0..3 * limit as u32 {
            // Marks are not drops.
            w.enter(i % 1000, 100, true);
            most = most.max(w.inside.packets);
        }
        assert_eq!((entry.name, most), (entry.name, limit));
    }
}

/// Packets and bytes cannot be added.
#[test]
fn limits_of_different_units_are_no_limit_together() {
    let limit = |name: &str, set: &[(&str, Amount)]| {
        let entry = REGISTRY.iter().find(|e| e.name == name).unwrap();
        let mut args = defaults(entry);
        set.iter()
            .for_each(|(n, v)| args.set(entry.params.iter().find(|p| p.name == *n).unwrap().name, Value::Amount(*v)));
        entry.limit(&args)
    };
    let bytes = Amount::Bytes(150_000);
    assert_eq!(limit("directions", &[("data_limit", bytes)]), None);
    assert_eq!(limit("directions", &[("data_limit", bytes), ("ack_limit", bytes)]), Some(Amount::Bytes(300_000)));
    assert_eq!(limit("vfq", &[("queue_length", Amount::Packets(7))]), Some(Amount::Packets(107)));
    assert_eq!(limit("vfq", &[("queue_length", bytes)]), None);
}

/// Every combination that `build` refuses has its own message. All of them are listed here.
#[test]
fn bad_combinations_are_refused_in_words() {
    let refuse = |name: &str, set: &[(&str, Value)]| {
        let entry = REGISTRY.iter().find(|e| e.name == name).unwrap();
        let mut args = defaults(entry);
        for (n, v) in set {
            args.set(entry.params.iter().find(|p| p.name == *n).unwrap().name, v.clone());
        }
        make(entry, &args).unwrap_err().to_string()
    };
    let (p, b) = (|n| Value::Amount(Amount::Packets(n)), |n| Value::Amount(Amount::Bytes(n)));
    assert_eq!(
        refuse("red", &[("max_th", b(9000))]),
        "min_th and max_th have different units; write both in packets or both in bytes"
    );
    assert_eq!(
        refuse("red", &[("min_th", p(16))]),
        "min_th is above max_th; write a smaller min_th (max_th at least twice as large is usual)"
    );
    assert_eq!(refuse("codel", &[("mtu", p(1))]), "mtu = \"1p\" counts packets; write it in bytes, like \"1500B\"");
    assert_eq!(
        refuse("fq_codel", &[("classic_for_ect1", Value::Bool(false))]),
        "classic_for_ect1 = false without ce_threshold: nothing would signal ECT(1) packets; write a threshold too, \
            like ce_threshold = \"1ms\""
    );
    let units = "reference and limit have different units; write both in packets or both in bytes";
    assert_eq!(refuse("pi", &[("limit", b(9000))]), units);
    assert_eq!(
        refuse("pi", &[("a", Value::Number(1e-6))]),
        "a is below b, so the probability would move away from the reference; write a larger a"
    );
    assert_eq!(
        refuse("rem", &[("limit", b(9000))]),
        "REM counts packets, but limit or reference has another unit; write both like \"20p\""
    );
    assert_eq!(
        refuse("directions", &[("order", Value::Word("acks_first".into())), ("ack_weight", Value::Integer(2))]),
        "weights have no meaning when one queue is always served first; remove them, or write order = \"weights\""
    );
}

/// A packet that is marked already is not counted.
#[test]
fn a_sink_counts_marks_by_what_the_packet_was() {
    let mut sink = Sink::default();
    let can = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect, Ecn::Ce, Ecn::Ect1].map(|ecn| {
        let mut p = packet(0, 1, What::Data, 1500, ecn, Time::ZERO);
        sink.mark(&mut p) && p.ecn() == Ecn::Ce
    });
    assert_eq!(can, [false, true, true, true, true]);
    assert_eq!((sink.marked, sink.marked_l4s), (3, 2));
}

#[test]
fn a_sink_is_empty_only_without_anything_to_report() {
    assert!(Sink::default().is_empty());
    let mut dropped = Sink::default();
    dropped.drop(packet(0, 0, What::Data, 1500, Ecn::NotEct, Time::ZERO), DropReason::Full);
    let reports = [dropped, Sink { marked: 1, ..Sink::default() }, Sink { made: 1, ..Sink::default() }];
    assert!(reports.iter().all(|s| !s.is_empty()));
}
