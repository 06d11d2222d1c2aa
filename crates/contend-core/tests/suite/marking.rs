//! Step responses of the marking disciplines: the share of marked packets is compared with the closed form of the law.
//!
//! Packets of 1000 B, each 1 ms of link time, arrive at equal intervals with a given load. One packet is removed per
//! arrival, so that the queue length stays constant.

use crate::common::{PlainLink, What, defaults, make, packet, value};
use contend_core::qdisc::{Qdisc, REGISTRY, Sink};
use contend_core::{Cx, Ecn, Rng, Span, Time};
use rand::SeedableRng as _;

/// A discipline with a constant stream of packets.
struct Step {
    qdisc: Box<dyn Qdisc>,
    rng: Rng,
    sink: Sink,
    now: Time,
    sent: u64,
}

impl Step {
    fn new(name: &str, set: &[(&str, &str)]) -> Step {
        let entry = REGISTRY.iter().find(|e| e.name == name).unwrap();
        let mut args = defaults(entry);
        for (key, text) in set {
            let p = entry.params.iter().find(|p| p.name == *key).unwrap();
            args.set(p.name, value(p, text));
        }
        let rng = Rng::seed_from_u64(11);
        Step { qdisc: make(entry, &args).unwrap(), rng, sink: Sink::default(), now: Time::ZERO, sent: 0 }
    }

    /// Offers `n` packets at `load` while `waiting` packets wait. Returns the number of marked packets.
    fn run(&mut self, n: u64, load: f64, waiting: u64) -> u64 {
        self.sink.marked = 0;
        let gap = Span::from_secs_f64(0.001 / load);
        for _ in 0..n {
            let mut cx = Cx { now: self.now, rng: &mut self.rng };
            while self.qdisc.backlog().packets > waiting {
                self.qdisc.dequeue(&mut cx, &PlainLink, &mut self.sink).unwrap();
            }
            self.sent += 1;
            self.qdisc.enqueue(
                &mut cx,
                &PlainLink,
                packet(0, self.sent, What::Data, 1000, Ecn::Ect, self.now),
                &mut self.sink,
            );
            self.now += gap;
        }
        std::mem::take(&mut self.sink.marked)
    }
}

/// Checks that `marked` of `n` agrees with an average probability `p`, within five standard deviations.
fn near(marked: u64, n: u64, p: f64) {
    let (x, mean) = (marked as f64, n as f64 * p);
    assert!((x - mean).abs() < 5.0 * (mean * (1.0 - p)).sqrt() + 2.0, "{marked} of {n}, not {mean}");
}

#[test]
fn vcrr_rises_by_a_tenth_a_second_for_ten_percent_too_much_and_falls_again() {
    for rate in ["count", "trapezoid", "tsw", "csfq"] {
        let mut s = Step::new("vcrr", &[("gamma", "1"), ("rate", rate)]);
        // The rate estimate needs a start-up time.
        assert_eq!(s.run(1_000, 1.0, 5), 0, "{rate}");
        // Eq. 8.35: p(t) = 0.1 t; from 0 to 5 s its mean is 0.25.
        near(s.run(5_500, 1.1, 5), 5_500, 0.25);
        // At a load of nine tenths the probability falls at the same rate.
        near(s.run(4_500, 0.9, 5), 4_500, 0.25);
        s.run(900, 0.9, 5);
        assert_eq!(s.run(900, 0.9, 5), 0, "{rate}");
    }
}

#[test]
fn vcrr_aims_at_gamma_not_at_one() {
    // Load 1 with gamma = 0.95 exceeds the target by 1/0.95 - 1: p(t) = 0.05263 t.
    near(Step::new("vcrr", &[]).run(10_000, 1.0, 5), 10_000, 0.263);
}

#[test]
fn pi_integrates_the_distance_from_its_reference() {
    // (a - b) per packet and computation: 20 above the reference, 100 times per second, 4e-4 (b = 0.9996 a). p(t) = 0.8
    // t after a first step of a 20 = 0.02.
    let set = [("a", "0.001"), ("b", "0.0006"), ("frequency", "100"), ("reference", "20p")];
    // At the first computation the previous queue is empty: a 20 + b 20 = 0.032. Then 100 x 20 x 4e-4 = 0.8 per second
    // for one second.
    near(Step::new("pi", &set).run(1_000, 1.0, 40), 1_000, 0.032 + 0.4);
}

#[test]
fn rem_marks_with_a_probability_exponential_in_its_price() {
    // The queue is 10 above the reference, and there is no excess rate. The price grows by 0.5 x 0.1 x 10 per 10 ms,
    // that is 50 per second; p = 1 - phi^-price.
    let set = [("phi", "1.01"), ("gamma", "0.5"), ("reference", "10p")];
    let mut s = Step::new("rem", &set);
    s.run(1_000, 1.0, 20);
    let k = 50.0 * libm::log(1.01);
    // From 1 s to 2 s, minus the effect of the empty queue in the first interval: 1 - (mean of exp(-k t)).
    let mean = 1.0 - (libm::exp(-k * 0.98) - libm::exp(-k * 1.98)) / k;
    near(s.run(1_000, 1.0, 20), 1_000, mean);
}

#[test]
fn avq_marks_what_its_virtual_capacity_does_not_carry() {
    // y = 1, gamma = 0.8, alpha = 0.1: the virtual capacity starts at 0.8 and falls by 0.1 (1 - 0.8) per second; p = 1
    // - C~/y (eq. 8.8).
    let set = [("gamma", "0.8"), ("alpha", "0.1"), ("limit", "20p")];
    let mut s = Step::new("avq", &set);
    // First the virtual queue fills: 20 packets, 0.2 per arrival.
    s.run(1_000, 1.0, 5);
    let marked = s.run(10_000, 1.0, 5) as f64;
    // C~ falls from 0.78 at 1 s to 0.58 at 11 s.
    assert!((marked - 10_000.0 * (1.0 - 0.68)).abs() < 100.0, "{marked}");
}

#[test]
fn avq_does_not_mark_below_the_utilisation_aimed_at() {
    assert_eq!(Step::new("avq", &[("gamma", "0.8")]).run(20_000, 0.75, 5), 0);
}

#[test]
fn vqr_adds_the_virtual_delay_to_the_excess() {
    // Load 1.1, gamma = 1: the virtual queue grows by 0.1 s per second; p(t) = 0.1 (10 x 0.1 t + 0.1) = 0.01 + 0.1 t.
    near(Step::new("vqr", &[("gamma", "1")]).run(5_500, 1.1, 5), 5_500, 0.26);
}

#[test]
fn vrc_has_a_part_for_each_of_rate_queue_and_integral() {
    // Queue 30 ms, reference 20 ms, no excess rate: p(t) = 0.5 (3 + 2) 10 ms + 0.5 x 3 x 2 x 10 ms t = 0.025 + 0.03 t.
    let set = [("alpha", "0.5"), ("beta", "3"), ("gamma", "2")];
    near(Step::new("vrc", &set).run(10_000, 1.0, 30), 10_000, 0.025 + 0.15);
}

#[test]
fn cwaq_marks_from_the_arrival_at_which_its_average_passes_the_threshold() {
    // The arrivals find 0, 1, 2, ... packets waiting. With w_q = 0.2 the average of a ramp of slope 1 has a lag of 4:
    // a_n = n - 4 + 4 0.8^n. The threshold is 100/3.
    let mut s = Step::new("cwaq", &[]);
    // a_n first exceeds 33.33 at n = 38 (38 - 4 = 34 is above, 37 - 4 = 33 is not): arrivals 38, 39, ..., counted from
    // 0.
    assert_eq!((s.run(38, 1.0, 1_000), s.run(10, 1.0, 1_000)), (0, 10));
    // From a constant 60 to an empty queue: 60 x 0.8^n is 48, 38.4, 30.7, so two more arrivals are marked.
    s.run(200, 1.0, 60);
    assert_eq!(s.run(10, 1.0, 0), 2);
}

#[test]
fn cwpq_marks_one_interval_after_a_queue_has_stood() {
    // 60 of 100 packets from the beginning. The interval 0..100 ms began empty; in 100..200 ms 60 packets waited
    // throughout. Arrivals are marked from 200 ms on.
    let mut s = Step::new("cwpq", &[]);
    assert_eq!([0, 1, 2, 3].map(|_| s.run(100, 1.0, 60)), [0, 0, 100, 100]);
    // The queue is empty from 400 ms on. It was still full in the interval 300..400 ms, but not in 400..500 ms.
    assert_eq!([0, 1].map(|_| s.run(100, 1.0, 0)), [100, 0]);
}

#[test]
fn red_marks_as_its_average_follows_a_step() {
    // The queue goes from 0 to 40. The average is 40 (1 - 0.998^n), with n counted from the middle of the rise of 40
    // arrivals, and p_b = 0.1 (avg - 10) / 40. The distance between marks is uniform in 1 .. 1/p_b packets, (1/p_b + 1)
    // / 2 on average (Floyd, Jacobson 1993 §7).
    let set = [("ecn", "true"), ("min_th", "10p"), ("max_th", "50p"), ("max_p", "10%"), ("limit", "100p")];
    let average = |n: u32| 40.0 * (1.0 - libm::pow(0.998, f64::from(n) - 20.0));
    let one = |n: u32| (0.1 * (average(n) - 10.0) / 40.0).max(0.0);
    let share =
        |from: u32, to: u32| (from..to).map(|n| 2.0 * one(n) / (1.0 + one(n))).sum::<f64>() / f64::from(to - from);
    let mut s = Step::new("red", &set);
    // The average exceeds 10 after 20 + 144 arrivals.
    assert_eq!(s.run(160, 1.0, 40), 0);
    near(s.run(840, 1.0, 40), 840, share(160, 1000));
    near(s.run(20_000, 1.0, 40), 20_000, share(1000, 21_000));
}
