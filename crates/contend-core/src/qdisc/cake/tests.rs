use super::cobalt::{Cobalt, Law};
use super::*;
use crate::packet::Ecn;
use crate::qdisc::testbench::{Bench, bytes as amount, conserves, packet, steps, word};
use crate::qdisc::testbench::{args, made};
use crate::registry::Value;
use proptest::prelude::*;
use rand::SeedableRng as _;

/// CAKE with these parameters.
fn cake(with: &[(&'static str, Value)]) -> Box<dyn Qdisc> {
    made(build, PARAMS, with)
}

/// CAKE that knows the ends of flow k, addresses 2k and 2k + 1: a source of its own, and destination and DSCP of the
/// list.
fn among(flows: &[(u32, u8)], with: &[(&'static str, Value)]) -> Box<dyn Qdisc> {
    let of = |(k, (host, dscp)): (usize, &(u32, u8))| [1000 + k as u32, *host].map(|host| End { host, dscp: *dscp });
    let ends: Arc<[End]> = flows.iter().enumerate().flat_map(of).collect();
    build(&args(PARAMS, with), &Site { ends: Some(&ends), ..Site::ALONE }).unwrap()
}

fn of_flow(flow: u32, size: u32) -> Packet {
    packet(flow, size).between(Address(2 * flow), Address(2 * flow + 1))
}

const fn at_us(us: u64) -> Time {
    Time::from_nanos(1000 * us)
}

/// COBALT has nothing to say for as long as a test lasts.
const PATIENT: (&str, Value) = ("rtt", Value::Time(Span::from_secs(100_000)));

fn mbps(n: u64) -> (&'static str, Value) {
    ("bandwidth", Value::Rate(n * 1_000_000))
}

/// All of `flows` flows always have packets of 1500 B. Returns the packets of each that leave by `until`.
fn saturated(q: &mut dyn Qdisc, flows: u32, until: Time, count: u64) -> Vec<u64> {
    let (mut bench, mut sent) = (Bench::default(), alloc::vec![0; flows as usize]);
    (0..20 * flows).for_each(|n| bench.push(q, of_flow(n % flows, 1500)));
    while sent.iter().sum::<u64>() < count {
        if let Some(p) = bench.pop(q) {
            sent[p.flow.0 as usize] += 1;
            bench.push(q, of_flow(p.flow.0, 1500));
        } else if q.next_deadline() < until {
            assert!(q.next_deadline() > bench.now);
            bench.now = q.next_deadline();
        } else {
            break;
        }
    }
    assert!(bench.sink.dropped.is_empty());
    sent
}

/// 400 packets wait, and one leaves at 0, 10, 20, ... ms. By hand: the first one has not waited, so the state is kept
/// until 100 ms. That of 10 ms is above 5 ms: the signal is due at 110 ms. The next are due after 100 ms / sqrt(2),
/// sqrt(3), ...: 180.7, 238.4, 288.4, 333.2, 374.0, 411.8, 447.1 ms. A drop is followed by a packet at once; a mark is
/// the packet.
#[test]
fn codel_signals_more_and_more_often() {
    for ecn in [Ecn::NotEct, Ecn::Ect] {
        let (mut q, mut bench) = (cake(&[]), Bench::default());
        (0..400).for_each(|_| bench.push(&mut *q, packet(1, 1500).with_ecn(ecn)));
        let signalled = |n: &u64| {
            bench.now = at_us(10_000 * n);
            assert!(bench.pop(&mut *q).is_some());
            let (dropped, marked) =
                (bench.sink.dropped.drain(..).count() as u64, core::mem::take(&mut bench.sink.marked));
            assert!(if ecn == Ecn::Ect { dropped } else { marked } == 0);
            dropped + marked == 1
        };
        assert_eq!((0..=45).filter(signalled).collect::<Vec<_>>(), [11, 19, 24, 29, 34, 38, 42, 45]);
    }
}

/// By hand, target 5 ms. The probability of BLUE rises by 1/256 at an overflow and falls by 1/4096 at an idle turn, if
/// the last step is more than 5 ms ago. An overflow alone counts as CoDel's first signal.
#[test]
fn blue_steps_once_per_target() {
    let law = Law { target: Span::from_millis(5), interval: Span::from_millis(100), mtu_time: Span::ZERO };
    let mut rng = crate::Rng::seed_from_u64(1);
    let share = |c: &Cobalt, rng: &mut crate::Rng| {
        let (now, mut sink) = (at_us(20_000), Sink::default());
        let drops = |_: &u32| {
            let (mut c, mut p) = (*c, packet(1, 100).queued_at(now));
            c.drops(&law, &mut Cx { now, rng }, &mut p, 0, &mut sink)
        };
        (0..100_000).filter(drops).count() as f64 / 1e5
    };
    let mut c = Cobalt::default();
    c.is_full(&law, at_us(0));
    c.is_full(&law, at_us(5000));
    // Standard deviation of a share: 0.0002 and less.
    assert!((share(&c, &mut rng) - 1.0 / 256.0).abs() < 0.001);
    c.is_full(&law, at_us(5001));
    assert!((share(&c, &mut rng) - 2.0 / 256.0).abs() < 0.001);
    c.is_empty(&law, at_us(10_001));
    assert!((share(&c, &mut rng) - 2.0 / 256.0).abs() < 0.001);
    for n in 1..=32 {
        assert!(c.is_active(at_us(10_001 + 5001 * (n - 1))));
        c.is_empty(&law, at_us(10_001 + 5001 * n));
    }
    assert_eq!(share(&c, &mut rng), 0.0);
    // CoDel's signal is forgotten at once, and the rest of the interval kept.
    assert!(!c.is_active(at_us(200_000)));
}

/// Four flows to one host and one flow to another: with fairness among destinations each host has a half, otherwise
/// each flow a fifth. A queue is at most a packet ahead.
#[test]
fn hosts_share_fairly_whatever_the_number_of_their_flows() {
    let to = [(1, 0), (1, 0), (1, 0), (1, 0), (2, 0)];
    for (mode, share) in [("flows", 200), ("dual_srchost", 200), ("dual_dsthost", 500), ("triple", 500)] {
        let mut q = among(&to, &[PATIENT, ("flow_mode", word(mode))]);
        let sent = saturated(&mut *q, 5, Time::NEVER, 1000);
        assert!(sent[4].abs_diff(share) <= 4, "{mode}: {sent:?}");
        assert!(sent[..4].iter().all(|n| n.abs_diff((1000 - share) / 4) <= 2), "{mode}: {sent:?}");
    }
    // One queue for each destination, one for each of the five sources, one for all.
    for (mode, share) in [("dsthost", 500), ("srchost", 200), ("hosts", 200), ("flowblind", 200)] {
        let sent = saturated(&mut *among(&to, &[PATIENT, ("flow_mode", word(mode))]), 5, Time::NEVER, 1000);
        assert!(sent[4].abs_diff(share) <= 4, "{mode}: {sent:?}");
    }
}

/// The k-th packet leaves after k times its length on the link: 1500 B, or 33 cells of 53 B with 44 B of overhead.
#[test]
fn the_shaper_holds_its_rate() {
    for (with, length) in [
        (alloc::vec![], 1500.0),
        (alloc::vec![("overhead", Value::Integer(44)), ("atm", word("atm"))], 1749.0),
        (alloc::vec![("overhead", Value::Integer(44)), ("atm", word("ptm"))], 1569.0),
    ] {
        for tins in Diffserv::WORDS {
            let with: Vec<_> = with.iter().cloned().chain([PATIENT, mbps(10), ("diffserv", word(tins))]).collect();
            let sent = saturated(&mut *cake(&with), 3, at_us(10_000_000), u64::MAX);
            let expected = 10.0 * 10e6 / 8.0 / length;
            let n = sent.iter().sum::<u64>() as f64;
            assert!((n / expected - 1.0).abs() < 1e-3, "{n} of {expected}");
        }
    }
}

/// The clock does not run while nothing waits, and asks for no call then.
#[test]
fn an_idle_shaper_saves_no_credit() {
    let (mut q, mut bench) = (cake(&[mbps(12)]), Bench::default());
    bench.now = at_us(5000);
    (0..3).for_each(|_| bench.push(&mut *q, packet(1, 1500)));
    let mut times = Vec::new();
    while q.backlog().packets > 0 {
        if bench.pop(&mut *q).is_some() {
            times.push(bench.now);
        } else {
            bench.now = q.next_deadline();
        }
    }
    assert_eq!((times, q.next_deadline()), ([5000, 6000, 7000].map(at_us).to_vec(), Time::NEVER));
}

/// 12 Mb/s: a packet takes 1 ms. The third packet makes the first drop at time 0. If it counts, the second packet to
/// leave would wait until 2 ms, but for the failsafe at two thirds of the rate.
#[test]
fn at_ingress_drops_count_up_to_a_third_of_the_rate() {
    for (ingress, second) in [(false, 1000), (true, 1500)] {
        let with = [mbps(12), ("memory", amount(3000)), ("ingress", Value::Bool(ingress))];
        let (mut q, mut bench) = (cake(&with), Bench::default());
        (0..3).for_each(|_| bench.push(&mut *q, packet(1, 1500)));
        assert_eq!(bench.sink.dropped.len(), 1);
        assert!(bench.pop(&mut *q).is_some() && bench.pop(&mut *q).is_none());
        assert_eq!(q.next_deadline(), at_us(second));
    }
}

/// By hand. Below its rate the higher tin goes first: voice has a quarter, video a half, bulk a sixteenth, best effort
/// the rest. Without a shaper the weights are 1024 : 64 : 512 : 256. Who is alone has everything.
#[test]
fn tins_share_a_loaded_link() {
    let (be, bk, vi, vo) = ((1, 0), (2, 8), (3, 34), (4, 46));
    let mode = ("diffserv", word("diffserv4"));
    let shares = |to: &[(u32, u8)], with: &[(&'static str, Value)]| {
        let mut q = among(to, with);
        let sent = saturated(&mut *q, to.len() as u32, Time::NEVER, 20_000);
        sent.into_iter().map(|n| n as f64 / 20_000.0).collect::<Vec<_>>()
    };
    let near = |got: Vec<f64>, want: &[f64]| {
        assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 0.002), "{got:?} {want:?}");
    };
    let shaped = [PATIENT, mbps(10), mode.clone()];
    near(shares(&[be, bk, vi, vo], &shaped), &[0.1875, 0.0625, 0.5, 0.25]);
    near(shares(&[be, bk], &shaped), &[0.9375, 0.0625]);
    near(shares(&[vo], &shaped), &[1.0]);
    near(shares(&[be, bk, vi, vo], &[PATIENT, mode]), &[1024.0, 64.0, 512.0, 256.0].map(|w| w / 1856.0));
    // Three tins: vi is best effort, by flow; vo has a quarter.
    near(shares(&[be, bk, vi, vo], &[PATIENT, mbps(10)]), &[0.34375, 0.0625, 0.34375, 0.25]);
}

/// EF of a real packet counts, not what its flow has: it leaves before the best effort that came first.
#[test]
fn a_packet_with_its_own_code_point_has_the_tin_of_this() {
    let first = |dscp: u8| {
        let mut q = among(&[(1, 0), (2, 0)], &[PATIENT, mbps(10)]);
        let mut bench = Bench::default();
        bench.push(&mut *q, of_flow(0, 1500));
        bench.push(&mut *q, of_flow(1, 200).with_dscp(dscp));
        bench.pop(&mut *q).unwrap().flow.0
    };
    assert_eq!([0, 46].map(first), [0, 1]);
}

/// Ten flows wait; a packet of another leaves as the next one.
#[test]
fn a_sparse_flow_waits_for_one_packet() {
    let (mut q, mut bench) = (cake(&[PATIENT, mbps(12)]), Bench::default());
    (0..1000).for_each(|n| bench.push(&mut *q, of_flow(n % 10, 1500)));
    let (mut arrived, mut waits) = (Time::ZERO, Vec::new());
    for n in 0..500 {
        bench.now = at_us(1000 * n);
        let p = bench.pop(&mut *q).unwrap();
        if p.flow.0 == 99 {
            waits.push((bench.now - arrived).as_micros());
        }
        // After the first round, all ten are bulk.
        if n > 20 && n % 50 == 0 {
            (arrived, bench.now) = (bench.now + Span::from_micros(100), bench.now + Span::from_micros(100));
            bench.push(&mut *q, of_flow(99, 200));
        }
    }
    assert_eq!(waits, [900; 9]);
}

/// The longest queue pays, from its head.
#[test]
fn the_memory_is_taken_from_the_longest_queue() {
    let (mut q, mut bench) = (cake(&[PATIENT, ("memory", amount(9000))]), Bench::default());
    let push = |bench: &mut Bench, q: &mut dyn Qdisc, flow, number, size| {
        let mut p = of_flow(flow, size);
        p.sent = Time::from_nanos(number);
        bench.push(q, p);
    };
    (0..5).for_each(|n| push(&mut bench, &mut *q, 1, n, 1500));
    push(&mut bench, &mut *q, 2, 0, 1500);
    assert!(bench.sink.dropped.is_empty());
    push(&mut bench, &mut *q, 2, 1, 1501);
    let gone: Vec<_> = bench.sink.dropped.drain(..).map(|(p, why)| (p.flow.0, p.sent.as_nanos(), why)).collect();
    assert_eq!(gone, [(1, 0, DropReason::Full), (1, 1, DropReason::Full)]);
    push(&mut bench, &mut *q, 3, 0, 9001);
    assert_eq!(bench.sink.dropped.drain(..).map(|(p, _)| p.flow.0).collect::<Vec<_>>(), [3]);
    assert!(!q.can_bypass());
}

/// By hand. 8 Mb/s are 1 MB/s, four times 100 ms of it 400 kB: the least is 4194304 B. 160 Mb/s: 8 MB. 1 Gb/s: 50 MB,
/// the most is 10240 packets of 1514 B.
#[test]
fn the_memory_follows_the_rate() {
    let of = |rate, memory| {
        let mut bench = Bench::default();
        let mut q =
            cake(&[PATIENT, ("rtt", Value::Time(Span::from_millis(100))), mbps(rate), ("memory", amount(memory))]);
        while bench.sink.dropped.is_empty() {
            bench.push(&mut *q, packet(1, 1000));
        }
        q.backlog().bytes
    };
    assert_eq!([of(8, 0), of(160, 0), of(1000, 0), of(0, 0)], [4_194_000, 8_000_000, 15_503_000, 15_503_000]);
    assert_eq!([of(8, 5000), of(0, 20_000_000)], [5000, 20_000_000]);
}

/// The shaper begins without limit and finds the rate of arrivals, 8 Mb/s, of which it gives 15/16.
#[test]
fn the_shaper_follows_arrivals() {
    let (mut q, mut bench) = (cake(&[PATIENT, ("autorate_ingress", Value::Bool(true))]), Bench::default());
    let mut late = 0;
    for ms in 1..10_000 {
        bench.now = at_us(1000 * ms);
        // In pairs: the pause behind a burst ends a measurement.
        (0..2 * (ms % 2)).for_each(|_| bench.push(&mut *q, packet(1, 1000)));
        while bench.pop(&mut *q).is_some() {
            late += u64::from(ms >= 5000);
        }
    }
    // 5 s with 1000 packets each, of which 15/16 leave.
    assert!((late as f64 / 4687.5 - 1.0).abs() < 0.02, "{late}");
}

proptest! {
    #[test]
    fn packets_are_conserved_and_flows_keep_their_order(
        steps in steps(), mode in 0..8usize, tins in 0..5usize, ingress in any::<bool>(), memory in 0u64..20_000,
    ) {
        let with = [
            ("flow_mode", word(Isolation::WORDS[mode])), ("diffserv", word(Diffserv::WORDS[tins])),
            ("ingress", Value::Bool(ingress)), ("memory", amount(memory)),
            ("rtt", Value::Time(Span::from_millis(5))),
        ];
        conserves(&mut *cake(&with), &steps)?;
    }
}
