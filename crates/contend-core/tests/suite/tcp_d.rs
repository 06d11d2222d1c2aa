//! Compares TCP-D in integers with its equations in real numbers (Starzetz 2006 §10.2, eq. 10.3 to 10.5), over random
//! streams of acknowledgments.

use crate::common::defaults;
use contend_core::cc::{Ack, Controller, REGISTRY, Signal, Window};
use contend_core::registry::{Args, Value};
use contend_core::{Cx, Rng, Span, Time};
use proptest::prelude::*;
use rand::SeedableRng as _;

/// The parameters of one comparison, in the order of [`Real`].
#[derive(Clone, Copy, Debug)]
struct Setting {
    growth: u32,
    q: u32,
    epsilon: u32,
    k: u32,
    running: bool,
    waits: bool,
}

/// The equations, in segments and seconds.
struct Real {
    s: Setting,
    cw: f64,
    inc: f64,
    b: f64,
    cold: bool,
    reduce_left: f64,
    start: f64,
    start_cw: f64,
    start_b: f64,
    acked: f64,
}

/// The result of a step of the equations.
enum Said {
    Clear,
    /// The change of the rate is within rounding, so rounding decides the sign of xi.
    Close,
}

impl Real {
    fn target(&self) -> f64 {
        if self.s.k == 0 { self.start_cw } else { self.start_cw.min(f64::from(self.s.k)) }
    }

    fn init(&mut self, now: f64) {
        (self.start, self.start_cw, self.start_b, self.acked) = (now, self.cw, self.b, 0.0);
    }

    fn ack(&mut self, now: f64, acked: f64) -> Said {
        self.acked += acked;
        self.reduce_left -= acked;
        self.cw += acked
            * match (self.cold, self.s.running) {
                (true, _) => f64::from(self.s.growth) / 1e3,
                (false, true) => 1.0 / self.cw,
                (false, false) => self.inc,
            };
        // Near a whole number, rounding decides whether the target is exceeded. Targets without rounding are an
        // exception: k, if the window is clearly larger, and the initial window.
        let exact = (self.s.k > 0 && self.start_cw > f64::from(self.s.k) + 1e-3) || self.start_cw == 2.0;
        if !exact && (self.acked - self.target()).abs() < 1e-3 {
            return Said::Close;
        }
        if self.acked <= self.target() {
            return Said::Clear;
        }
        let epsilon = f64::from(self.s.epsilon) / 1e3;
        self.b = epsilon * self.b + (1.0 - epsilon) * self.acked / (now - self.start);
        let (db, dcw) = (self.b - self.start_b, self.cw - self.start_cw);
        if db.abs() < 1e-4 * self.b || dcw.abs() < 1e-3 || self.reduce_left.abs() < 1e-3 {
            return Said::Close;
        }
        if db < 0.0 && dcw > 0.0 && !(self.s.waits && self.reduce_left > 0.0) {
            self.cut((self.cw * (db / dcw).abs() / self.b).min(f64::from(self.s.q) / 1e3));
            self.cold = false;
        }
        self.init(now);
        Said::Clear
    }

    fn cut(&mut self, q: f64) {
        self.cw = (self.cw * (1.0 - q)).max(self.cw.min(2.0));
        self.inc = 1.0 / self.cw;
    }

    fn loss(&mut self) -> Said {
        if self.reduce_left != 0.0 && self.reduce_left.abs() < 1e-3 {
            return Said::Close;
        }
        if self.reduce_left <= 0.0 {
            self.cut(f64::from(self.s.q) / 1e3);
            self.reduce_left = self.cw;
        }
        Said::Clear
    }

    fn timeout(&mut self, now: f64) {
        (self.cw, self.cold, self.reduce_left) = (2.0, true, 0.0);
        self.init(now);
    }
}

fn controller(s: Setting) -> Box<dyn Controller> {
    let entry = REGISTRY.iter().find(|e| e.name == "tcp_d").unwrap();
    let mut args: Args = defaults(entry);
    for (name, v) in [("growth_1000", s.growth), ("q_1000", s.q), ("epsilon_1000", s.epsilon), ("k", s.k)] {
        args.set(name, Value::Integer(v.into()));
    }
    args.set("increase", Value::Word(if s.running { "running" } else { "constant" }.into()));
    args.set("xi_waits", Value::Bool(s.waits));
    (entry.build)(&args).unwrap()
}

fn settings() -> impl Strategy<Value = Setting> {
    let epsilon = prop_oneof![Just(0u32), Just(500), Just(900), Just(950)];
    (200u32..1000, 50u32..500, epsilon, prop_oneof![Just(0u32), 2u32..20], any::<bool>(), any::<bool>())
        .prop_map(|(growth, q, epsilon, k, running, waits)| Setting { growth, q, epsilon, k, running, waits })
}

/// Acknowledgments of a number of segments after a number of microseconds. Zero segments: a loss, or sometimes a
/// timeout.
fn stream() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let acked = prop_oneof![1 => Just(0u32), 12 => Just(1), 12 => Just(2), 2 => 3u32..6];
    prop::collection::vec((300u64..20_000, acked, prop::bool::weighted(0.2)), 1..600)
}

/// The largest permitted difference of the windows in segments after all steps. Each step drops at most 2^-20 of a
/// segment per acknowledged segment, and the same of each rate. q multiplies the error of a rate by CW / dCW; a
/// reduction multiplies it by the window.
const BOUND: f64 = 0.01;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_integers_are_the_equations_but_for_their_rounding(s in settings(), steps in stream()) {
        let mut cc = controller(s);
        let mut rng = Rng::seed_from_u64(1);
        let mut w = Window { cwnd: 2, ..Window::default() };
        let mut real =
            Real {
                s, cw: 2.0, inc: 1.0, b: 0.0, cold: true, reduce_left: 0.0, start: 0.0, start_cw: 2.0, start_b: 0.0,
                acked: 0.0,
            };
        let mut us = 0;
        for (i, (gap, acked, late)) in steps.into_iter().enumerate() {
            us += gap;
            let now = us as f64 / 1e6;
            let cx = &mut Cx { now: Time::ZERO + Span::from_micros(us), rng: &mut rng };
            if acked > 0 || i == 0 {
                let ack = Ack { acked: acked.max(1), rtt_us: (i == 0).then_some(gap as u32), ..Ack::default() };
                cc.on_every_ack(cx, &mut w, &ack);
                cc.on_ack(cx, &mut w, &ack);
                if let Said::Close = real.ack(now, f64::from(ack.acked)) {
                    return Ok(());
                }
            } else {
                let why = if late { Signal::Timeout {
                    nth: 1, marked: false, truth: None,
                } } else { Signal::Loss { seq: 0, marked: false, truth: None } };
                w.cwnd = cc.on_congestion(cx, &w, None, why).cwnd;
                if late {
                    real.timeout(now);
                } else if let Said::Close = real.loss() {
                    return Ok(());
                }
            }
            prop_assert!(
                f64::from(w.cwnd) <= real.cw + BOUND && f64::from(w.cwnd) > real.cw - 1.0 - BOUND,
                "step {}: a window of {} for {}", i, w.cwnd, real.cw
            );
        }
    }
}
