//! Rust, C on the host and C in the kernel compute the same bits: over the vectors in `vectors/cc/`, and over 200,000
//! random steps of each controller with random parameters.

use crate::common::controller::run;
use crate::common::{Reach, each_vector, varied};
use crate::skip;
use contend_bpf::twin::TWINS;
use contend_bpf::{Twin, load};
use contend_core::cc::{
    Ack, Build, CaState, Cause, Controller, Needs, RateSample, Response, SSTHRESH_INFINITE, Signal, Window,
};
use contend_core::registry::{Args, Entry, Value};
use contend_core::{Cx, Rng, Span, Time};
use libbpf_rs::{Object, ProgramInput, ProgramMut};
use rand::{RngExt as _, SeedableRng as _};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// The bytes of `struct step` in `c/step.h`.
const STEP: usize = 168;
const WINDOW: usize = 16;
const ACK: usize = WINDOW + 72;
const SIGNAL: usize = ACK + 48;
const RESPONSE: usize = SIGNAL + 16;

/// One step, as the C text lays it out.
struct Step([u8; STEP]);

impl Step {
    fn new(what: u64, now: Time, w: &Window) -> Step {
        let mut s = Step([0; STEP]);
        s.0[..8].copy_from_slice(&what.to_ne_bytes());
        s.0[8..16].copy_from_slice(&now.as_nanos().to_ne_bytes());
        s.words(
            WINDOW,
            &[
                w.cwnd,
                w.cwnd_cnt,
                w.ssthresh,
                w.extra,
                w.inflight,
                w.delivered,
                w.sent,
                w.reduce_from,
                w.rwnd,
                w.mss,
                w.tick_ns,
            ],
        );
        s.0[WINDOW + 44] = w.limited.into();
        s.0[WINDOW + 45] = w.state as u8;
        for (i, long) in [w.pacing_rate, w.snd_una, w.snd_nxt].into_iter().enumerate() {
            s.0[WINDOW + 48 + 8 * i..][..8].copy_from_slice(&long.to_ne_bytes());
        }
        s
    }
    fn words(&mut self, at: usize, words: &[u32]) {
        for (i, word) in words.iter().enumerate() {
            self.0[at + 4 * i..][..4].copy_from_slice(&word.to_ne_bytes());
        }
    }
    fn word(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().unwrap())
    }
    fn ack(mut self, a: &Ack) -> Step {
        self.words(
            ACK,
            &[
                a.acked,
                a.delivered,
                a.sacked,
                a.rtt_us.unwrap_or(0),
                a.srtt_us,
                a.rttvar_us,
                a.min_rtt_us,
                a.tsval.unwrap_or(0),
                a.ce,
            ],
        );
        let flags = [a.dup, a.ece, a.rtt_us.is_some(), a.tsval.is_some(), a.rate.app_limited];
        self.0[ACK + 36..ACK + 41].copy_from_slice(&flags.map(u8::from));
        self
    }
    fn signal(mut self, why: Signal, ack: Option<&Ack>) -> Step {
        let (why, nth, marked) = match why {
            Signal::Loss { marked, .. } => (0, 0, marked),
            Signal::Timeout { nth, marked, .. } => (1, nth, marked),
            Signal::Ecn => (2, 0, false),
            Signal::Local => (3, 0, false),
        };
        self.words(SIGNAL, &[why, nth, ack.map_or(0, |a| a.srtt_us)]);
        self.0[SIGNAL + 12] = marked.into();
        self
    }
    /// What a controller leaves behind: windows, pacing, and its answer to a signal.
    fn left(&self) -> (u32, u32, u32, u64, u32, u32, u32) {
        let pacing = u64::from_ne_bytes(self.0[WINDOW + 48..WINDOW + 56].try_into().unwrap());
        let w = |i: usize| self.word(WINDOW + 4 * i);
        let r = |i: usize| self.word(RESPONSE + 4 * i);
        (w(0), w(1), w(2), pacing, r(0), r(1), r(2))
    }
    /// Puts in what a controller has left behind.
    fn read(&mut self, w: &Window, answer: Option<Response>) {
        self.words(WINDOW, &[w.cwnd, w.cwnd_cnt, w.ssthresh]);
        self.0[WINDOW + 48..WINDOW + 56].copy_from_slice(&w.pacing_rate.to_ne_bytes());
        if let Some(r) = answer {
            self.words(RESPONSE, &[r.ssthresh, r.cwnd, (r.cause == Cause::Error).into()]);
        }
    }
    fn response(&self) -> Response {
        let cause = if self.word(RESPONSE + 8) > 0 { Cause::Error } else { Cause::Congestion };
        Response { ssthresh: self.word(RESPONSE), cwnd: self.word(RESPONSE + 4), cause }
    }
    /// Takes over what a controller may change.
    fn write(&self, w: &mut Window) {
        (w.cwnd, w.cwnd_cnt, w.ssthresh, w.pacing_rate, ..) = self.left();
    }
}

/// Where the C text runs.
#[derive(Debug)]
enum Place {
    Host(Child),
    Kernel(Box<Object>),
}

impl Place {
    fn step(&mut self, s: &mut Step) {
        match self {
            Place::Host(child) => {
                child.stdin.as_mut().unwrap().write_all(&s.0).unwrap();
                child.stdout.as_mut().unwrap().read_exact(&mut s.0).unwrap();
            }
            Place::Kernel(object) => {
                let step = object.progs_mut().find(|p| p.name() == "step").unwrap();
                run_once(&step, s);
            }
        }
    }
}

impl Place {
    /// All steps from the start on, which is with this window.
    fn all(&mut self, start: &Window, mut steps: Vec<Step>) -> Vec<Step> {
        self.step(&mut Step::new(0, Time::ZERO, start));
        match self {
            Place::Host(child) => {
                let input = child.stdin.as_mut().unwrap();
                let output = child.stdout.as_mut().unwrap();
                let bytes: Vec<u8> = steps.iter().flat_map(|s| s.0).collect();
                std::thread::scope(|scope| {
                    scope.spawn(|| input.write_all(&bytes).unwrap());
                    steps.iter_mut().for_each(|s| output.read_exact(&mut s.0).unwrap());
                });
            }
            Place::Kernel(object) => {
                let step = object.progs_mut().find(|p| p.name() == "step").unwrap();
                for s in &mut steps {
                    run_once(&step, s);
                }
            }
        }
        steps
    }
}

fn run_once(step: &ProgramMut, s: &mut Step) {
    let input = ProgramInput { context_in: Some(&mut s.0), ..ProgramInput::default() };
    assert_eq!(step.test_run(input).unwrap().return_value, 0);
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Place::Host(child) = self {
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success(), "undefined behaviour in the C text");
        }
    }
}

/// A controller that runs as C, and whether it has full control.
#[derive(Debug)]
struct InC(Place, bool);

impl InC {
    fn of(place: fn(&Twin, &Args) -> Place, twin: &Twin, args: &Args) -> Box<dyn Controller> {
        let full_control = (twin.entry().build)(args).unwrap().needs().full_control;
        Box::new(InC(place(twin, args), full_control))
    }
}

impl Controller for InC {
    fn needs(&self) -> Needs {
        Needs { full_control: self.1, ..Needs::default() }
    }
    fn on_start(&mut self, w: &mut Window) {
        self.0.step(&mut Step::new(0, Time::ZERO, w));
    }
    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let mut s = Step::new(1, cx.now, w).ack(ack);
        self.0.step(&mut s);
        s.write(w);
    }
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let mut s = Step::new(2, cx.now, w).ack(ack);
        self.0.step(&mut s);
        s.write(w);
    }
    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        let mut s = Step::new(3, cx.now, w).signal(why, ack);
        self.0.step(&mut s);
        s.response()
    }
    fn on_recovered(&mut self, cx: &mut Cx, w: &mut Window) {
        let mut s = Step::new(5, cx.now, w);
        self.0.step(&mut s);
        s.write(w);
    }
    fn on_undo(&mut self, w: &mut Window) {
        let mut s = Step::new(6, Time::ZERO, w);
        self.0.step(&mut s);
        s.write(w);
    }
    fn on_restart(&mut self, w: &mut Window, now: Time, _: Span) {
        let mut s = Step::new(4, now, w);
        self.0.step(&mut s);
        s.write(w);
    }
}

/// The C text of `twin` on the host. Undefined behaviour ends it.
fn host(twin: &Twin, args: &Args) -> Place {
    static BUILT: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let program = format!("{}/twin-{}", env!("CARGO_TARGET_TMPDIR"), twin.name);
    let mut built = BUILT.lock().unwrap();
    if !built.contains(&twin.name) {
        let compiled = Command::new("cc")
            .args(["-O1", "-Wall", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", &program])
            .args([format!("-DCC={}", twin.name), format!("-DHEADER=\"cc/{}.h\"", twin.name), "host.c".into()])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/c"))
            .status();
        assert!(compiled.unwrap().success());
        built.push(twin.name);
    }
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&twin.settings(args).unwrap()).unwrap();
    Place::Host(child)
}

/// The C text of `twin` in the kernel: the object that is deployed.
fn kernel(twin: &Twin, args: &Args) -> Place {
    Place::Kernel(Box::new(load::load(load::open(twin, args).unwrap(), twin.name).unwrap()))
}

/// A function for each twin, because a registry holds plain functions.
macro_rules! builds {
    ($make:ident) => {
        [
            |a| Ok(InC::of($make, &TWINS[0], a)),
            |a| Ok(InC::of($make, &TWINS[1], a)),
            |a| Ok(InC::of($make, &TWINS[2], a)),
            |a| Ok(InC::of($make, &TWINS[3], a)),
            |a| Ok(InC::of($make, &TWINS[4], a)),
            |a| Ok(InC::of($make, &TWINS[5], a)),
        ]
    };
}

fn follow_their_vectors(builds: [Build; TWINS.len()]) {
    for (twin, build) in TWINS.iter().zip(builds) {
        let entry = Entry { build, ..*twin.entry() };
        each_vector("cc", &[entry], |entry, text, file| {
            // What Linux lacks.
            let lacks = twin.name == "westwood" && !text.contains("form linux");
            if !lacks && !text.contains("reaction every") && !text.contains("hystart") {
                run(entry, text, file);
            }
        });
    }
}

#[test]
fn the_c_text_follows_the_vectors_on_the_host() {
    if !skip::needs::without(&["cc"], "the C text of controllers on the host") {
        follow_their_vectors(builds!(host));
    }
}

#[test]
fn the_c_text_follows_the_vectors_in_the_kernel() {
    if !skip::without(&["privileges", "BTF", "struct_ops"]) {
        follow_their_vectors(builds!(kernel));
    }
}

/// Random steps through the Rust form: each with what the controller left behind.
struct Walk {
    cc: Box<dyn Controller>,
    w: Window,
    now: Time,
    rng: Rng,
    /// True if the controller may be asked by `on_restart`.
    restarts: bool,
    /// True if it may be told of a reduction that was not needed, and is not asked at the end of a recovery.
    undoes: bool,
}

impl Walk {
    fn new(twin: &Twin, args: &Args, seed: u64) -> Walk {
        let mut rng = Rng::seed_from_u64(seed);
        let mut w = Window {
            cwnd: rng.random_range(1..100),
            ssthresh: if rng.random() { SSTHRESH_INFINITE } else { rng.random_range(2..200) },
            mss: rng.random_range(200..2000),
            tick_ns: if rng.random() { 1_000_000 } else { 0 },
            ..Window::default()
        };
        let mut cc = (twin.entry().build)(args).unwrap();
        cc.on_start(&mut w);
        let now = Time::from_nanos(rng.random_range(0..1 << 40));
        Walk { cc, w, now, rng, restarts: twin.name == "tcp_d", undoes: twin.name == "prague" }
    }

    /// What happens next, and then the same with the answer.
    fn step(&mut self) -> (Step, Step) {
        let (w, rng) = (&mut self.w, &mut self.rng);
        let gap = match rng.random_range(0..20) {
            0 => 0,
            1 => rng.random_range(0..5_000_000_000),
            _ => rng.random_range(0..20_000_000),
        };
        self.now = self.now.saturating_add(Span::from_nanos(gap));
        w.inflight = rng.random_range(0..=w.cwnd.min(1 << 24) + 3);
        w.sent = w.sent.wrapping_add(rng.random_range(0..4));
        w.reduce_from = if rng.random() { w.cwnd } else { w.inflight };
        w.rwnd = if rng.random() { u32::MAX } else { rng.random_range(1..1000) };
        w.extra = rng.random_range(0..4);
        w.limited = rng.random();
        w.state = match rng.random_range(0..20) {
            0..5 => CaState::Recovery,
            5 => CaState::Loss,
            _ => CaState::Open,
        };
        w.snd_nxt += rng.random_range(0..20_000);
        w.snd_una = if rng.random() { w.snd_una } else { rng.random_range(w.snd_una..=w.snd_nxt) };
        let ce = if rng.random_range(0..4) == 0 { rng.random_range(0..4) } else { 0 };
        let app_limited = rng.random_range(0..4) == 0;
        let (min, rtt) = (rng.random_range(1..200_000), rng.random_range(1_000..300_000));
        let dup = rng.random_range(0..5) == 0;
        let acked = match rng.random_range(0..40) {
            _ if dup => 0,
            0 => rng.random(),
            1..4 => rng.random_range(0..100),
            _ => rng.random_range(1..3),
        };
        let ack = Ack {
            acked,
            delivered: if rng.random() { acked } else { rng.random_range(0..4) },
            dup,
            sacked: rng.random_range(0..2),
            rtt_us: rng.random::<bool>().then_some(rtt),
            srtt_us: if rng.random_range(0..10) == 0 { rng.random() } else { rtt },
            rttvar_us: rng.random_range(0..100_000),
            min_rtt_us: min,
            ece: rng.random(),
            tsval: rng.random::<bool>().then(|| {
                let ms = (self.now.as_micros() / 1000) as u32;
                if rng.random_range(0..30) == 0 { rng.random() } else { ms }
            }),
            ce,
            rate: RateSample { app_limited, ..RateSample::default() },
            ..Ack::default()
        };
        w.delivered = w.delivered.wrapping_add(ack.delivered);
        let (what, marked) = (rng.random_range(0..100), rng.random());
        let why = match rng.random_range(0..4) {
            0 => Signal::Timeout { nth: rng.random_range(1..4), marked, truth: None },
            1 => Signal::Ecn,
            2 => Signal::Local,
            _ => Signal::Loss { seq: 0, marked, truth: None },
        };
        let cx = &mut Cx { now: self.now, rng };
        let before = *w;
        let given = match what {
            0..46 => Step::new(1, self.now, &before).ack(&ack),
            46..92 => Step::new(2, self.now, &before).ack(&ack),
            92..98 => Step::new(3, self.now, &before).signal(why, Some(&ack)),
            98 => Step::new(if self.undoes { 6 } else { 5 }, self.now, &before),
            _ => Step::new(4, self.now, &before),
        };
        let mut answer = None;
        match what {
            0..46 => self.cc.on_every_ack(cx, w, &ack),
            46..92 => self.cc.on_ack(cx, w, &ack),
            92..98 => answer = Some(self.cc.on_congestion(cx, w, Some(&ack), why)),
            98 if self.undoes => self.cc.on_undo(w),
            98 => self.cc.on_recovered(cx, w),
            _ if self.restarts => self.cc.on_restart(w, self.now, Span::from_secs(1)),
            _ => {}
        }
        let mut expected = Step(given.0);
        expected.read(w, answer);
        if let Some(r) = answer {
            (w.cwnd, w.ssthresh) = (r.cwnd, r.ssthresh);
        }
        // A window of many millions would leave nothing to see.
        w.cwnd = if w.cwnd > 1 << 22 { self.rng.random_range(1..1000) } else { w.cwnd };
        (given, expected)
    }
}

/// Steps and settings in all, for each controller.
const STEPS: usize = 200_000;
const SETTINGS: u64 = 20;

fn computes_the_same(make: fn(&Twin, &Args) -> Place) {
    for twin in TWINS {
        let mut rng = Rng::seed_from_u64(16);
        let mut signals = 0;
        for seed in 0..SETTINGS {
            let args = loop {
                let some = (0..32).map(|_| rng.random::<bool>().then(|| rng.random())).collect();
                let reach = Reach { number: 2.0, time: 2.0, integer: |n| (n as f64 + 1.0) * 2.0 };
                let mut args = varied(twin.entry(), some, &reach);
                if twin.name == "tcp_av" {
                    args.set("rate", Value::Rate(rng.random_range(0..200_000_000) * rng.random_range(0..2)));
                }
                if twin.settings(&args).is_ok() {
                    break args;
                }
            };
            let mut walk = Walk::new(twin, &args, seed);
            let start = walk.w;
            let (given, expected): (Vec<Step>, Vec<Step>) = (0..STEPS / SETTINGS as usize).map(|_| walk.step()).unzip();
            signals += given.iter().filter(|s| s.0[0] == 3).count();
            let computed = make(twin, &args).all(&start, given);
            for (n, (c, rust)) in computed.iter().zip(&expected).enumerate() {
                assert_eq!(c.left(), rust.left(), "{} with {args:?}, seed {seed}, step {n}", twin.name);
            }
        }
        assert!(signals > STEPS / 20, "{signals}");
    }
}

#[test]
fn the_c_text_computes_what_rust_computes_on_the_host() {
    if !skip::needs::without(&["cc"], "the C text of controllers on the host") {
        computes_the_same(host);
    }
}

#[test]
fn the_c_text_computes_what_rust_computes_in_the_kernel() {
    if !skip::without(&["privileges", "BTF", "struct_ops"]) {
        computes_the_same(kernel);
    }
}
