//! The equilibrium of senders and marking queues: the marking probability against the fluid model of Reno (Xu 2005 eq.
//! 8.21), and the queue or load against the law of each discipline. All settings come from the formulas here, not from
//! runs.
//!
//! Twenty long flows react to marks as in RFC 3168 §6.1.2. Eq. 8.21 is w^2 = 2 (1 - p) / p. For random marks it is
//! known which window this is: the mean of w per packet is 1.527 / sqrt(p), the mean over time is 1.31 / sqrt(p) (Ott,
//! Kemperman, Mathis 1996; Mathis, Semke, Mahdavi, Ott 1997 table 1), and the mean square over time is their product, 2
//! / p. So the fluid model describes the mean square window. Rate times round-trip time is the mean window, at which
//! there are 1 - 1.31^2 / 2 = 14 % fewer marks than in the fluid model. Both readings must agree within 10 %. Two
//! effects remain, calculated by hand for windows of 40: a mark within a round trip of a reduction causes no reduction
//! (5 % more marks), and half of a whole window is 0.75 segments too small (2 % fewer).

use crate::common::*;
use contend_core::registry::{Amount, Choice, Value};
use contend_core::{Span, Time, qdisc};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_theory::fluid::{self, Path};

/// Number of flows, and packets that the link carries per second: 64 Mb/s and 1000 B.
const N: usize = 20;
const C: f64 = 8000.0;

/// The measurements of an interval.
#[derive(Debug)]
struct Measured {
    /// Data packets sent per second by all flows.
    rate: f64,
    /// Mean round-trip time, s.
    rtt: f64,
    /// Packets waiting, mean over time.
    queue: f64,
    /// Share of packets marked.
    p: f64,
    /// Share of packets that made a sender reduce its window.
    answered: f64,
    /// Square of the windows, mean over time and flows.
    square: f64,
}

impl Measured {
    /// Mean window of each of `n` flows: packets in flight and waiting.
    fn window(&self, n: usize) -> f64 {
        self.rate * self.rtt / n as f64
    }
}

/// `n` flows over one bottleneck of `pps` packets per second with this discipline and this round-trip time without
/// queues, from `from` to `to` seconds.
fn settle(queue: Choice<qdisc::Build>, n: usize, pps: f64, rtt_ms: u64, from: f64, to: f64) -> Measured {
    let node = |name: &str, router| NodeSpec { name: name.into(), router };
    let link = |name: &str, a, b, rate, delay, queue| {
        let wire = |queue| WireSpec { rate: WireRate::Constant(rate), delay, queue, loss: None };
        LinkSpec {
            name: name.into(),
            from: Place::Node(a),
            to: Place::Node(b),
            forward: wire(queue),
            reverse: wire(fifo(100_000)),
        }
    };
    let links = vec![
        link("access", 0, 1, 10 * (pps * 8e3) as u64, Span::ZERO, fifo(100_000)),
        link("bottleneck", 1, 2, (pps * 8e3) as u64, Span::from_micros(500 * rtt_ms), queue),
    ];
    let mut tcp = newreno();
    (tcp.window, tcp.ecn, tcp.initial_ssthresh) = (Amount::Packets(10_000), EcnEcho::Latch, Some(20));
    let start = Start::Uniform(Time::ZERO, at(1.0));
    let flow = |i| {
        let flow = bulk(format!("f{i}"), Place::Node(0), Place::Node(2), tcp.clone(), start);
        FlowSpec { ends: EndsSpec { packet: 1000, ..flow.ends }, ..flow }
    };
    let nodes = vec![node("s", false), node("r", true), node("d", false)];
    let s = Scenario { seed: 1, cell: None, nodes, links, flows: (0..n).map(flow).collect() };
    let mut net = Net::new(&s).unwrap();
    let queue = net.queues().position(|q| q == "bottleneck").unwrap();
    let read = |net: &mut Net, t: f64| {
        net.run_until(at(t));
        let now = net.world.now();
        (net.meter(queue).unwrap().read(now), (0..n).map(|i| net.sent(i)).collect::<Vec<_>>())
    };
    let (q0, s0) = read(&mut net, from);
    net.clear_histograms();
    let (mut square, steps) = (0.0, (10.0 * (to - from)) as u32);
    for i in 1..steps {
        net.run_until(at(from + f64::from(i) / 10.0));
        square += (0..n).map(|i| f64::from(net.sender(i).unwrap().snd_cwnd)).map(|w| w * w).sum::<f64>();
    }
    let (q1, s1) = read(&mut net, to);
    let sum = |of: &dyn Fn(usize) -> u64| (0..n).map(of).sum::<u64>() as f64;
    let packets = sum(&|i| s1[i].packets - s0[i].packets);
    assert_eq!(
        (q1.drops() - q0.drops(), sum(&|i| s1[i].timeouts - s0[i].timeouts)),
        (0, 0.0),
        "losses and timeouts are no part of the model"
    );
    let marks = (q1.marked - q0.marked) as f64;
    Measured {
        rate: packets / (to - from),
        rtt: (0..n).map(|i| net.rtt(i).unwrap().mean_ms()).sum::<f64>() / n as f64 / 1e3,
        queue: (q1.packet_ns - q0.packet_ns) as f64 / 1e9 / (to - from),
        p: marks / (q1.offered - q0.offered) as f64,
        answered: sum(&|i| s1[i].ecn_reductions - s0[i].ecn_reductions) / packets,
        square: square / f64::from(steps - 1) / n as f64,
    }
}

fn discipline(name: &str, set: &[(&'static str, f64)], amounts: &[(&'static str, u64)]) -> Choice<qdisc::Build> {
    let numbers = set.iter().map(|(k, v)| (*k, Value::Number(*v)));
    let amounts = amounts.iter().map(|(k, n)| (*k, Value::Amount(Amount::Packets(*n))));
    choose(qdisc::REGISTRY, name, &numbers.chain(amounts).collect::<Vec<_>>())
}

fn near(what: &str, got: f64, want: f64, within: f64) {
    assert!((got / want - 1.0).abs() <= within, "{what}: {got} against {want}");
}

/// Eq. 8.21 solved for the share of packets marked, at this square of the window.
fn of_the_fluid(square: f64) -> f64 {
    let p = 2.0 / (square + 2.0);
    let path = Path { rtt_s: 0.1, delay_s: 0.1 };
    assert!((fluid::reno(p, &path).unwrap().window / square.sqrt() - 1.0).abs() < 1e-9);
    p
}

/// The share of packets marked at random with this mean window over time (Mathis, Semke, Mahdavi, Ott 1997 table 1, an
/// ACK for each packet).
fn at_random(window: f64) -> f64 {
    1.31 * 1.31 / (window * window)
}

/// For disciplines that mark at random: checks that the share of marked packets keeps windows of about `w`.
fn balanced(m: &Measured, w: f64) {
    assert!((m.window(N) / w - 1.0).abs() < 0.2, "{m:?}");
    near(&format!("fluid, {m:?}"), m.p, of_the_fluid(m.square), 0.10);
    near(&format!("at random, {m:?}"), m.p, at_random(m.window(N)), 0.10);
}

/// Seconds before the measurement begins, and the end.
const SETTLED: f64 = 60.0;
const END: f64 = 240.0;

// The control loops, by Hollot, Misra, Towsley, Gong (INFOCOM 2001): the flows have a pole at z = 2 / (W R) = 0.5 /s
// for W = 40 and R = 100 ms. The queue has a pole at 1 / R = 10 /s. The gain of both from p to packets is C^2 / 2N =
// 1.6e6. The parameters below put a zero at z and the crossover at 0.5 to 1.5 /s, far below 1 / R.

#[test]
fn red_marks_by_its_line_and_the_flows_settle_on_it() {
    // p_b = 0.004 (q - 40) / 800. The distance between two marks is uniform over 1 .. 1/p_b packets, so the share of
    // marked packets is 2 / (1 + 1/p_b) (Floyd, Jacobson 1993 §7).
    let flags = [("ecn", Value::Bool(true)), ("ecn_above", Value::Word("mark".into()))];
    let mut red = discipline("red", &[("max_p", 0.004)], &[("limit", 4000), ("min_th", 40), ("max_th", 840)]);
    flags.into_iter().for_each(|(k, v)| red.args.set(k, v));
    let m = settle(red, N, C, 80, SETTLED, END);
    balanced(&m, 40.0);
    let base = 0.004 * (m.queue - 40.0) / 800.0;
    near(&format!("line, {m:?}"), m.p, 2.0 * base / (1.0 + base), 0.10);
}

#[test]
fn pi_holds_the_queue_at_its_reference() {
    // K = 4.7e-6 per second and packet gives a crossover at 1.5 /s. Then a, b = K (1/z +- T/2) with T = 1/170 s.
    let m = settle(
        discipline(
            "pi",
            &[("a", 9.414e-6), ("b", 9.386e-6), ("frequency", 170.0)],
            &[("limit", 4000), ("reference", 160)],
        ),
        N,
        C,
        80,
        SETTLED,
        END,
    );
    balanced(&m, 40.0);
    near(&format!("reference, {m:?}"), m.queue, 160.0, 0.10);
}

#[test]
fn rem_matches_the_rate_and_holds_the_queue_at_its_reference() {
    // gamma ln phi = 9.4e-6 and alpha / 10 ms = z give the gains of PI. At the equilibrium the queue is the reference,
    // and the arrival rate is the capacity.
    let m = settle(
        discipline(
            "rem",
            &[("alpha", 0.005), ("gamma", 0.0094), ("phi", 1.001)],
            &[("limit", 4000), ("reference", 160)],
        ),
        N,
        C,
        80,
        SETTLED,
        END,
    );
    balanced(&m, 40.0);
    near(&format!("reference, {m:?}"), m.queue, 160.0, 0.10);
    near(&format!("rate, {m:?}"), m.rate, C, 0.01);
}

#[test]
fn vrc_holds_the_delay_at_its_reference() {
    // The zeros are at beta = 1/R and gamma = z, the crossover at alpha C / 2N = 0.5 /s. 20 ms are 160 packets.
    let m = settle(
        discipline("vrc", &[("alpha", 0.0025), ("beta", 10.0), ("gamma", 0.5)], &[("limit", 4000)]),
        N,
        C,
        80,
        SETTLED,
        END,
    );
    balanced(&m, 40.0);
    near(&format!("reference, {m:?}"), m.queue, 160.0, 0.10);
}

#[test]
fn vcrr_uses_gamma_of_the_link() {
    // The gain of the flows from p to the rate is W / 2R = 200 /s. With a gain of 0.002 the crossover is at 0.5 /s.
    let m = settle(discipline("vcrr", &[("gain", 0.002)], &[("limit", 4000)]), N, C, 105, SETTLED, END);
    balanced(&m, 40.0);
    near(&format!("utilisation, {m:?}"), m.rate, 0.95 * C, 0.02);
}

#[test]
fn vqr_uses_gamma_of_the_link() {
    // The zero is at a = z. With g = 0.004 the crossover is at 0.8 /s.
    let m = settle(discipline("vqr", &[("a", 0.5), ("g", 0.004)], &[("limit", 4000)]), N, C, 105, SETTLED, END);
    balanced(&m, 40.0);
    near(&format!("utilisation, {m:?}"), m.rate, 0.95 * C, 0.02);
}

#[test]
fn windows_of_16_are_balanced_too() {
    // The round-trip time is 42 ms. The gain keeps its distance to the bound 4 / (W^2 R).
    let m = settle(discipline("vcrr", &[("gain", 0.03)], &[("limit", 4000)]), N, C, 42, 30.0, 90.0);
    balanced(&m, 16.0);
}

// The next tests have one flow and a queue that marks at a threshold. The window is a sawtooth of equal teeth. A tooth
// that ends at the window W_m has W_m / 2 round trips and 3/8 W_m^2 packets. The mean window, rate times round-trip
// time, is sqrt(3/2) / sqrt(q), where q is the share of packets that make the sender reduce its window (Mathis, Semke,
// Mahdavi, Ott 1997 eq. 3).

/// The share of packets that make the sender reduce its window, at this mean window.
fn in_even_teeth(window: f64) -> f64 {
    1.5 / (window * window)
}

/// The share of packets marked if each tooth has one window of marked packets: S(W*, W* + 1) / S((W* + 1) / 2, W* + 1)
/// with S(a, b) = (b^2 - a^2) / 2 (Alizadeh et al., SIGCOMM 2010, §3.3, for a sender that halves its window).
fn one_window_of_a_tooth(w: f64) -> f64 {
    (2.0 * w + 1.0) / (0.75 * (w + 1.0) * (w + 1.0))
}

#[test]
fn queues_that_warn_at_a_threshold_mark_one_window_of_each_tooth() {
    // 1000 packets/s and 80 ms hold 80 packets. The queue exceeds half of its limit of 80 packets at a window of 80 +
    // 40 + 1 packets; the last one is in service.
    for (name, set) in [("cwaq", vec![("threshold", 0.5)]), ("cwpq", vec![("threshold", 0.5)])] {
        let mut queue = discipline(name, &set, &[("limit", 80)]);
        if name == "cwpq" {
            queue.args.set("interval", Value::Time(Span::from_millis(20)));
        }
        let m = settle(queue, 1, 1000.0, 80, 60.0, 400.0);
        near(&format!("{name}, {m:?}"), m.p, one_window_of_a_tooth(121.0), 0.10);
        near(&format!("{name}, answered, {m:?}"), m.answered, in_even_teeth(m.window(1)), 0.10);
    }
}

#[test]
fn avq_settles_at_gamma_and_marks_what_its_virtual_queue_cannot_take() {
    // 4000 packets/s and 150 ms hold 600 packets. A tooth ends at W_m = 4/3 x 0.6 x 600 = 480, so the real queue stays
    // empty, and packets keep the spacing of the link: each round trip has one burst of w packets, which lasts w / C.
    //
    // Let c be the virtual capacity divided by the capacity. During a burst the virtual queue grows by (1 - c) w. Over
    // a whole round trip it grows by w - 600 c. The window, and with it this growth, rises by one in each round trip.
    // When the window is k above 600 c, the peak of the virtual queue is 1 + 2 + ... + k + (1 - c) W_m. With k = 30 and
    // c = 0.75 this is 465 + 0.25 x 480 = 585, the limit. The first mark reduces the window one round trip later. In
    // this time the virtual queue cannot take k + 1 packets: these are the marks among the 3/8 W_m^2 packets of the
    // tooth.
    let m = settle(
        discipline("avq", &[("gamma", 0.6), ("alpha", 0.005)], &[("limit", 585)]),
        1,
        4000.0,
        150,
        1000.0,
        1400.0,
    );
    near(&format!("utilisation, {m:?}"), m.rate, 0.6 * 4000.0, 0.02);
    near(&format!("answered, {m:?}"), m.answered, in_even_teeth(m.window(1)), 0.10);
    near(&format!("marked, {m:?}"), m.p, 31.0 / (0.375 * 480.0 * 480.0), 0.10);
}
