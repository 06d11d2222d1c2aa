//! Hand vectors of the arithmetic, which the vectors of `vectors/cc/prague` cannot show to the last bit.

use super::*;
use crate::Rng;
use crate::registry::Value;
use crate::time::Span;
use alloc::string::ToString;
use alloc::vec::Vec;
use rand::{RngExt as _, SeedableRng as _};

/// A segment.
const S: u64 = ONE_Q20;

/// A controller with its defaults, and its window.
struct Flow {
    p: Prague,
    w: Window,
    now: Time,
    rng: Rng,
    srtt_us: u32,
}

impl Flow {
    fn new(set: &[(&'static str, Value)]) -> Flow {
        let mut args = Args::default();
        for (name, text) in
            [("start", "halve"), ("grow", "one"), ("independence", "rate"), ("gate", "round"), ("fallback", "off")]
        {
            args.set(name, Value::Word(text.to_string()));
        }
        for (name, n) in [("g_shift", 4), ("transition", 0), ("min_cwnd", 2), ("wobble", 0)] {
            args.set(name, Value::Integer(n));
        }
        args.set("target", Value::Time(Span::from_millis(25)));
        args.set("max_scaled_rtt", Value::Time(Span::from_millis(100)));
        args.set("step", Value::Bool(true));
        set.iter().for_each(|(name, value)| args.set(name, value.clone()));
        let mut w = Window { cwnd: 10, ssthresh: 5, mss: 1448, ..Window::default() };
        let mut p = Prague::new(&args.strict());
        p.on_start(&mut w);
        Flow { p, w, now: Time::ZERO, rng: Rng::seed_from_u64(1), srtt_us: 25_000 }
    }

    /// The same with this window, in segments and 2^-20 of a segment.
    fn at(mut self, frac_q20: u64) -> Flow {
        self.p.frac_q20 = frac_q20;
        self.w.cwnd = self.p.wanted();
        self
    }

    /// An acknowledgment of `delivered` segments of which `ce` are reported as marked, with half of the window in
    /// flight at least. Every one ends a round trip.
    fn ack(&mut self, delivered: u32, ce: u32) {
        self.w.delivered += delivered;
        self.w.inflight = self.w.inflight.max(self.w.cwnd.div_ceil(2));
        let ack = Ack { acked: delivered, delivered, ce, ece: ce > 0, srtt_us: self.srtt_us, ..Ack::default() };
        let mut cx = Cx { now: self.now, rng: &mut self.rng };
        self.p.on_every_ack(&mut cx, &mut self.w, &ack);
        self.p.on_ack(&mut cx, &mut self.w, &ack);
    }

    fn signal(&mut self, why: Signal) {
        let r = self.p.on_congestion(&mut Cx { now: self.now, rng: &mut self.rng }, &self.w, None, why);
        (self.w.cwnd, self.w.ssthresh) = (r.cwnd, r.ssthresh);
    }
}

/// Words of a parameter.
fn word(text: &str) -> Value {
    Value::Word(text.to_string())
}

const LOSS: Signal = Signal::Loss { seq: 0, marked: false, truth: None };

#[test]
fn the_increase_shrinks_with_the_square_of_the_round_trip() {
    // P1: 2^20 (R / 25 ms)^2.
    let f = Flow::new(&[]);
    let of = |us| f.p.additive_increase(us);
    assert_eq!([5_000, 10_000, 24_999, 30_000].map(of), [41_943, 167_772, 1_048_492, 1_048_576]);
    // Without a sample, above the longest scaled round trip, before the transition, and without independence.
    assert_eq!(of(0), 1 << 20);
    let ai = |set: &[(&'static str, Value)]| Flow::new(set).p.additive_increase(10_000);
    assert_eq!(ai(&[("max_scaled_rtt", Value::Time(Span::from_millis(9)))]), 1 << 20);
    assert_eq!(ai(&[("transition", Value::Integer(4))]), 1 << 20);
    assert_eq!(ai(&[("independence", word("none"))]), 1 << 20);
}

#[test]
fn an_unmarked_segment_adds_its_share_of_the_increase() {
    // P2 to P7: the window in segments, the increase, unmarked segments of one ACK, and what they add.
    let table = [
        (10, 1 << 20, 1, 104_858),
        (10, 1 << 20, 2, 209_715),
        (100, 1 << 20, 1, 10_486),
        (20, 167_772, 1, 8_389),
        (20, 1_678, 1, 84),
        (400_000, 419, 1, 1),
    ];
    for (segments, ai, n, more) in table {
        let mut f = Flow::new(&[]).at(segments * S);
        f.p.ai_q20 = ai;
        f.p.increase(&mut f.w, 10_000, n);
        assert_eq!(f.p.frac_q20 - segments * S, more, "{segments} {ai} {n}");
    }
    // A window below one segment grows as one segment does.
    let mut f = Flow::new(&[]).at(1);
    f.w.ssthresh = 2;
    f.p.increase(&mut f.w, 25_000, 1);
    assert_eq!(f.p.frac_q20, S + 1);
}

#[test]
fn alpha_takes_a_sixteenth_of_each_period_and_loses_no_remainder() {
    // P8 to P11: marked segments of 20, then A and alpha.
    let mut f = Flow::new(&[("independence", word("none"))]);
    f.p.saw_ce = true;
    for (marked, scaled, alpha) in
        [(1, 838_860, 0.003125), (2, 2_464_153, 0.009180), (0, 2_310_144, 0.008606), (20, 18_942_976, 0.070568)]
    {
        f.ack(20, marked);
        assert_eq!(f.p.alpha_scaled_q24, scaled);
        assert!((f.p.share_q24() as f64 / ONE_Q24 as f64 - alpha).abs() < 5e-7, "{}", f.p.share_q24());
    }
    // P12: three periods without a mark after an alpha of 1.
    let mut f = Flow::new(&[("independence", word("none")), ("start", word("one"))]);
    f.p.saw_ce = true;
    assert_eq!(f.p.alpha_scaled_q24, 1 << 28);
    let alphas: Vec<f64> = (0..3)
        .map(|_| {
            f.ack(20, 0);
            (f.p.share_q24() as f64 / ONE_Q24 as f64 * 1e6).round() / 1e6
        })
        .collect();
    assert_eq!(alphas, [0.9375, 0.878906, 0.823975]);
    // More marks than segments, as with marks on pure ACKs, are a share of 1 at most.
    f.ack(1, 7);
    assert!(f.p.share_q24() <= ONE_Q24);
}

#[test]
fn alpha_waits_for_the_first_mark() {
    let mut f = Flow::new(&[("start", word("one"))]);
    f.ack(20, 0);
    assert_eq!(f.p.share_q24(), ONE_Q24);
}

#[test]
fn a_mark_takes_half_of_alpha() {
    // P13 to P15: A, window before, window after.
    let table = [
        (838_860, 40 * S, 41_877_505),
        (838_860, 100 * S, 104_693_762),
        (1 << 28, 40 * S, 20 * S),
        (1 << 27, 40 * S, 30 * S),
    ];
    for (scaled, before, after) in table {
        let mut f = Flow::new(&[("transition", Value::Integer(4))]).at(before);
        f.p.alpha_scaled_q24 = scaled;
        f.signal(Signal::Ecn);
        // The window follows only with the acknowledgments.
        assert_eq!((f.p.frac_q20, f.w.cwnd), (after, before.div_ceil(S) as u32));
        f.ack(0, 0);
        assert_eq!(f.w.cwnd, before.div_ceil(S) as u32 - u32::from(after.div_ceil(S) < before.div_ceil(S)));
    }
}

#[test]
fn the_first_mark_ends_slow_start_at_half_of_the_window() {
    // P16: alpha is 0, so that the reduction takes nothing, and the halving all.
    let mut f = Flow::new(&[]).at(33 * S);
    f.w.ssthresh = super::super::SSTHRESH_INFINITE;
    f.signal(Signal::Ecn);
    assert_eq!(f.p.frac_q20, 33 * S);
    f.ack(1, 1);
    assert_eq!((f.p.frac_q20, f.p.wanted(), f.w.cwnd, f.w.ssthresh), (17_301_504, 17, 32, 32));
    f.ack(1, 1);
    assert_eq!((f.w.cwnd, f.w.ssthresh), (31, 31));
    // An unmarked segment in the same ACK opens the half, not the whole: 16.5 + 1 / 16.5.
    let mut f = Flow::new(&[]).at(33 * S);
    f.w.ssthresh = super::super::SSTHRESH_INFINITE;
    f.ack(2, 1);
    assert_eq!((f.p.frac_q20, f.w.cwnd, f.w.ssthresh), (17_301_504 + 63_550, 32, 32));
}

#[test]
fn a_loss_halves_the_window_which_then_waits_for_the_end_of_the_recovery() {
    // P17.
    let mut f = Flow::new(&[]).at(33 * S + S / 2);
    f.signal(LOSS);
    assert_eq!((f.p.frac_q20, f.w.cwnd), (17_563_648, 34));
    f.w.state = CaState::Recovery;
    for cwnd in [33, 32, 31] {
        f.ack(1, 0);
        assert_eq!((f.p.frac_q20, f.w.cwnd, f.w.ssthresh), (17_563_648, cwnd, cwnd));
    }
    f.w.state = CaState::Open;
    f.ack(1, 0);
    assert!(f.p.frac_q20 > 17_563_648);
    // A recovery that was not needed gives everything back, once.
    f.signal(LOSS);
    f.w.cwnd = 9;
    f.w.ssthresh = 9;
    f.p.on_undo(&mut f.w);
    assert!(f.p.frac_q20 > 17_563_648 && f.w.cwnd == 17 && f.w.ssthresh == 30, "{:?}", f.w);
    f.p.frac_q20 = S;
    f.p.on_undo(&mut f.w);
    assert_eq!(f.p.frac_q20, S);
}

#[test]
fn a_timeout_restarts_with_half_of_the_window_as_threshold() {
    let mut f = Flow::new(&[]).at(33 * S + S / 2);
    f.signal(Signal::Timeout { nth: 1, marked: false, truth: None });
    assert_eq!((f.p.frac_q20, f.w.cwnd, f.w.ssthresh), (17_563_648, 1, 16));
    // The same segment again.
    f.signal(Signal::Timeout { nth: 2, marked: false, truth: None });
    assert_eq!((f.p.frac_q20, f.w.cwnd, f.w.ssthresh), (17_563_648, 1, 16));
    // Step by step, also with `step = false`.
    f.p.step = false;
    f.w.state = CaState::Loss;
    f.ack(1, 0);
    assert_eq!(f.w.cwnd, 2);
}

/// P18: a reduction at 0, then an ACK with a mark each millisecond of a path of 8 ms. The times in ms of the next
/// reductions.
fn reductions(gate: &str) -> Vec<u64> {
    let mut f = Flow::new(&[("gate", word(gate))]).at(1000 * S);
    f.srtt_us = 8_000;
    f.now = Time::ZERO + Span::from_secs(1);
    (f.p.saw_ce, f.p.alpha_scaled_q24) = (true, 1 << 20);
    let (mut reduced_at, mut seen) = (0, Vec::new());
    for ms in 0..60 {
        // What was sent 8 ms ago is acknowledged.
        (f.w.snd_una, f.w.snd_nxt) = (ms, ms + 8);
        let before = f.p.cwr_at_us;
        // As the sender: once in a window of data.
        if f.w.snd_una >= reduced_at {
            f.signal(Signal::Ecn);
            reduced_at = f.w.snd_nxt;
        }
        f.ack(1, 1);
        if f.p.cwr_at_us != before {
            seen.push(ms);
        }
        f.now += Span::from_millis(1);
    }
    seen
}

#[test]
fn a_reduction_waits_for_the_target_and_with_the_gate_of_linux_for_whole_round_trips() {
    assert_eq!(reductions("round"), [0, 32]);
    assert_eq!(reductions("mark"), [0, 25, 50]);
}

#[test]
fn drops_by_the_senders_own_queue_reduce_once_in_a_window_of_data() {
    let mut f = Flow::new(&[("start", word("one")), ("independence", word("none"))]).at(40 * S);
    (f.w.snd_una, f.w.snd_nxt) = (10, 50);
    f.signal(Signal::Local);
    f.signal(Signal::Local);
    assert_eq!(f.p.frac_q20, 20 * S);
    f.w.snd_una = 50;
    f.signal(Signal::Local);
    assert_eq!(f.p.frac_q20, 10 * S);
}

#[test]
fn the_pacer_sends_a_window_in_a_round_trip() {
    // P19: 20 segments of 1448 B in 10 ms.
    let mut f = Flow::new(&[]).at(20 * S);
    f.srtt_us = 10_000;
    f.ack(0, 0);
    assert_eq!(f.w.pacing_rate, 2_896_000);
    // What is in flight, if it is more; twice as much in the first half of slow start.
    f.w.inflight = 30;
    f.ack(0, 0);
    assert_eq!(f.w.pacing_rate, 4_344_000);
    f.w.ssthresh = 42;
    f.ack(0, 0);
    assert_eq!(f.w.pacing_rate, 8_688_000);
    // 4/128 up in the first half of 25 ms, down in the second.
    let mut f = Flow::new(&[("wobble", Value::Integer(4))]).at(20 * S);
    f.srtt_us = 10_000;
    f.now += Span::from_micros(12_499);
    f.ack(0, 0);
    assert_eq!(f.w.pacing_rate, 2_896_000 + 90_500);
    f.now += Span::from_micros(1);
    f.ack(0, 0);
    assert_eq!(f.w.pacing_rate, 2_896_000 - 90_500);
}

#[test]
fn growth_by_the_queue_waits_for_clean_periods() {
    // 100 segments in 10 ms: 1 ms holds 10 segments. 14.48 MB/s add 7 periods to 7.
    let mut f = Flow::new(&[("grow", word("queue")), ("independence", word("none"))]).at(100 * S);
    f.srtt_us = 10_000;
    f.ack(0, 0);
    f.ack(1, 1);
    f.p.frac_q20 = 100 * S;
    assert_eq!((f.w.pacing_rate, f.p.wait), (7_240_000, 14));
    (0..14).for_each(|_| f.ack(0, 0));
    assert_eq!(f.p.wait, 0);
    f.ack(1, 0);
    assert_eq!(f.p.frac_q20, 100 * S + 104_858);
    // A loss waits for the half that it took: 14.48 MB/s are 5000 segments of half a second, 125 in 25 ms.
    f.ack(0, 0);
    f.signal(LOSS);
    assert_eq!((f.w.pacing_rate, f.p.wait), (14_480_000, 125));
}

#[test]
fn a_classic_queue_takes_its_part_only_when_it_may() {
    for (fallback, left) in [("off", 40 * S), ("detect", 40 * S), ("act", 27 * S + S / 2)] {
        let mut f = Flow::new(&[("fallback", word(fallback))]).at(40 * S);
        f.p.saw_ce = true;
        // A round-trip time between 20 and 60 ms.
        for n in 0..4000 {
            let rtt_us = Some(if n % 2 == 0 { 20_000 } else { 60_000 });
            f.p.on_every_ack(
                &mut Cx { now: f.now, rng: &mut f.rng },
                &mut f.w,
                &Ack { rtt_us, min_rtt_us: 20_000, ..Ack::default() },
            );
        }
        for _ in 0..10 {
            f.p.end_period(0, &f.w, &Ack { min_rtt_us: 20_000, ..Ack::default() });
        }
        f.now += Span::from_millis(25);
        f.signal(Signal::Ecn);
        assert_eq!(f.p.frac_q20, left, "{fallback}");
    }
}

#[test]
fn the_application_limits_the_growth_and_the_pacer_does_not() {
    let mut f = Flow::new(&[]).at(10 * S);
    let ack = |app_limited| {
        let mut ack = Ack { acked: 1, delivered: 1, srtt_us: 25_000, ..Ack::default() };
        ack.rate.app_limited = app_limited;
        ack
    };
    (f.w.limited, f.w.inflight) = (false, 4);
    f.p.on_ack(&mut Cx { now: f.now, rng: &mut f.rng }, &mut f.w, &ack(true));
    assert_eq!(f.p.frac_q20, 10 * S);
    f.p.on_ack(&mut Cx { now: f.now, rng: &mut f.rng }, &mut f.w, &ack(false));
    assert_eq!(f.p.frac_q20, 10 * S + 104_858);
    // The acknowledged segment and those in flight are less than half of the window: the queue of the own station holds
    // the sender, for example.
    f.w.inflight = 3;
    f.p.on_ack(&mut Cx { now: f.now, rng: &mut f.rng }, &mut f.w, &ack(false));
    assert_eq!(f.p.frac_q20, 10 * S + 104_858);
}

/// Marks without end leave a thousandth of a segment. Two segments in 25 ms are sent all the same, and after a timeout
/// one.
#[test]
fn the_smallest_window_is_paced() {
    let mut f = Flow::new(&[]).at(S / 1000);
    (f.w.inflight, f.w.ssthresh) = (0, 2);
    for (cwnd, rate) in [(2, 115_840), (1, 57_920)] {
        f.w.cwnd = cwnd;
        f.p.set_pacing(0, &mut f.w, 25_000);
        assert_eq!(f.w.pacing_rate, rate);
    }
}

/// P20: the mean window over 10^5 ACKs when a share `p` is marked: every 1 / p-th segment, or each by a dice. It begins
/// at rest: with marks in even distances there are several windows at which it rests.
fn mean_window(p: f64, rtt_us: u32, gate: &str, dice: bool) -> f64 {
    let mut f = Flow::new(&[("gate", word(gate))]).at(18 * S);
    (f.p.saw_ce, f.p.alpha_scaled_q24) = (true, (p * 16.0 * ONE_Q24 as f64) as u32);
    (f.srtt_us, f.now) = (rtt_us, Time::ZERO + Span::from_secs(1));
    let (mut rng, mut sum, mut due, mut reduced_at) = (Rng::seed_from_u64(11), 0.0, 0.0, 0);
    let acks = 100_000;
    for n in 0..acks + 2000 {
        let w = f.p.frac_q20 as f64 / S as f64;
        f.now += Span::from_nanos((f64::from(rtt_us) * 1e3 / w.max(1.0)) as u64);
        f.w.snd_una += 1;
        f.w.snd_nxt = f.w.snd_nxt.max(f.w.snd_una + u64::from(f.w.cwnd));
        due += p;
        let marked = if dice { rng.random_bool(p) } else { due >= 1.0 };
        due -= if due >= 1.0 { 1.0 } else { 0.0 };
        if marked && f.w.snd_una > reduced_at {
            f.signal(Signal::Ecn);
            reduced_at = f.w.snd_nxt;
        }
        f.ack(1, u32::from(marked));
        if n >= 2000 {
            sum += w;
        }
    }
    sum / f64::from(acks)
}

#[test]
fn marks_in_even_distances_give_the_law_and_independent_ones_more() {
    // The law 2 (1 - p) / p is 18, and 18.8 because two marks come in 20 segments, a little more than a round trip.
    // With independent marks a reduction waits for a mark after the target: 25.2 by p W = (1 - p) + sqrt((1 - p)^2 + 2
    // (1 - p)).
    let window = |dice| mean_window(0.1, 25_000, "mark", dice);
    assert!((18.5..19.0).contains(&window(false)), "{}", window(false));
    assert!((24.0..25.5).contains(&window(true)), "{}", window(true));
    // With the gate of Linux a reduction also waits for the end of a round trip: at 20 ms up to 40 ms.
    let round = mean_window(0.1, 20_000, "round", true) / mean_window(0.1, 20_000, "mark", true);
    assert!((1.08..1.25).contains(&round), "{round}");
}
