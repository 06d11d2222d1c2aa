//! Laws of every congestion controller, for any events: the window is at least one segment, the threshold at least two,
//! nothing overflows, and the flow moves again when the path is clean.

use crate::common::{Reach, varied};
use contend_core::cc::{Ack, Build, CaState, Cause, Controller, REGISTRY, Response, SSTHRESH_INFINITE, Signal, Window};
use contend_core::registry::{Args, Entry};
use contend_core::{Cx, Rng, Span, Time};
use proptest::prelude::*;
use rand::SeedableRng as _;

/// An event of a flow.
#[derive(Clone, Debug)]
enum Event {
    /// A cumulative acknowledgment of `segments` of the segments in flight.
    Ack {
        segments: u32,
        rtt_us: Option<u32>,
        ece: bool,
        tsval: Option<u32>,
    },
    Dup {
        ece: bool,
    },
    Signal {
        kind: u8,
        nth: u32,
        marked: bool,
        truth: u8,
    },
    Restart {
        idle_us: u64,
    },
    Undo,
    /// A reduction is complete.
    Recovered,
    /// The receiver's window, and whether the congestion window limits sending.
    Limits {
        rwnd: u32,
        limited: bool,
    },
}

/// Events with the time since the previous event. Times and numbers are realistic if `sane`, otherwise arbitrary.
fn events(sane: bool) -> BoxedStrategy<Vec<(u64, Event)>> {
    let (rtts, gaps) =
        if sane { (1_000..2_000_000u32, 0..500_000_000u64) } else { (0..u32::MAX, 0..20_000_000_000_000) };
    let rtt = prop_oneof![4 => (1_000u32..200_000).prop_map(Some), 1 => Just(None), 2 => rtts.prop_map(Some)];
    let segments = prop_oneof![6 => 1u32..3, 2 => 1u32..100, 1 => 1u32..if sane { 100 } else { u32::MAX }];
    let after = prop_oneof![1 => Just(0u64), 6 => 10_000u64..20_000_000, 1 => gaps];
    let ack = (segments, rtt, any::<bool>(), prop::option::of(any::<u32>()))
        .prop_map(|(segments, rtt_us, ece, tsval)| Event::Ack { segments, rtt_us, ece, tsval });
    let signal = (0u8..4, 1u32..40, any::<bool>(), 0u8..3).prop_map(|(kind, nth, marked, truth)| Event::Signal {
        kind,
        nth,
        marked,
        truth,
    });
    let limits = (1u32..if sane { 10_000 } else { u32::MAX }, any::<bool>())
        .prop_map(|(rwnd, limited)| Event::Limits { rwnd, limited });
    let event = prop_oneof![
        12 => ack,
        4 => any::<bool>().prop_map(|ece| Event::Dup { ece }),
        3 => signal,
        1 => (0u64..10_000_000).prop_map(|idle_us| Event::Restart { idle_us }),
        1 => Just(Event::Undo),
        1 => Just(Event::Recovered),
        1 => limits,
    ];
    prop::collection::vec((after, event), 1..300).boxed()
}

/// An entry and its parameters: arbitrary words and switches, numbers near their defaults.
fn setting() -> impl Strategy<Value = (usize, Args)> {
    let some = prop::collection::vec(prop::option::of(0.0f64..1.0), 32);
    (0..REGISTRY.len(), some).prop_map(|(i, some)| {
        let entry = &REGISTRY[i];
        let args =
            varied(entry, some, &Reach { number: 2.0, time: 2.0, integer: |default| (default as f64 + 1.0) * 2.0 });
        (i, args)
    })
}

/// A controller with a minimal sender. The data in flight follow the window.
struct Flow {
    name: &'static str,
    cc: Box<dyn Controller>,
    w: Window,
    rng: Rng,
    now: Time,
    /// Segment numbers: the first unacknowledged segment, the next one to send, and the end of the round trip.
    una: u64,
    nxt: u64,
    round_end: u64,
    srtt_us: u32,
    min_rtt_us: u32,
    paced: bool,
    /// True if the parameters select a printed rule by which a signal may open the window.
    opens: bool,
}

impl Flow {
    fn new(entry: &Entry<Build>, args: &Args, w: Window) -> Option<Flow> {
        // Some combinations of parameters are refused with a message.
        let cc = (entry.build)(args).map_err(|e| assert!(!e.to_string().is_empty())).ok()?;
        let rng = Rng::seed_from_u64(7);
        // Xu 2005 §5.5 and appendix B to the letter.
        let opens = entry.name == "jersey" && args.word("rate_control") != "clamp";
        let mut flow = Flow {
            name: entry.name,
            cc,
            w,
            rng,
            now: Time::ZERO,
            una: 0,
            nxt: 0,
            round_end: 0,
            srtt_us: 0,
            min_rtt_us: 0,
            paced: false,
            opens,
        };
        flow.send();
        Some(flow)
    }

    /// Sends as much as the windows permit.
    fn send(&mut self) {
        let nxt = self.nxt.max(self.una + u64::from(self.w.cwnd.min(self.w.rwnd).max(1)));
        self.w.sent = self.w.sent.wrapping_add((nxt - self.nxt) as u32);
        self.nxt = nxt;
        self.w.inflight = u32::try_from(self.nxt - self.una).unwrap_or(u32::MAX);
        (self.w.snd_una, self.w.snd_nxt) = (self.una * u64::from(self.w.mss), self.nxt * u64::from(self.w.mss));
        // TCP-AP does not pace after a duplicate.
        self.paced |= self.w.pacing_rate > 0 && self.name != "tcp_ap";
        assert!(self.w.cwnd >= 1, "{}: a window of nothing", self.name);
        assert!(!self.paced || self.w.pacing_rate > 0, "{}: paced, and now not", self.name);
    }

    /// Passes an acknowledgment to the controller as the sender does: always to `on_every_ack`, and to `on_ack` outside
    /// recovery.
    fn ack(&mut self, mut ack: Ack) {
        self.una += u64::from(ack.acked);
        self.nxt = self.nxt.max(self.una);
        if let Some(rtt) = ack.rtt_us {
            self.srtt_us = if self.srtt_us == 0 { rtt } else { self.srtt_us - self.srtt_us / 8 + rtt / 8 };
            self.min_rtt_us = if self.min_rtt_us == 0 { rtt } else { self.min_rtt_us.min(rtt) };
        }
        ack.round_start = ack.acked > 0 && self.una > self.round_end;
        if ack.round_start {
            self.round_end = self.nxt;
        }
        (ack.srtt_us, ack.rttvar_us, ack.min_rtt_us) = (self.srtt_us, self.srtt_us / 4, self.min_rtt_us);
        ack.delivered = ack.acked.max(u32::from(ack.dup));
        // A path without queues that change the explicit header returns it as it was sent.
        ack.explicit = self.cc.needs().explicit.map(|_| self.cc.header(&self.w, self.srtt_us));
        self.w.inflight = u32::try_from(self.nxt - self.una).unwrap_or(u32::MAX);
        let cx = &mut Cx { now: self.now, rng: &mut self.rng };
        self.cc.on_every_ack(cx, &mut self.w, &ack);
        if ack.acked > 0 && (self.w.limited || self.cc.needs().grow_when_unlimited) {
            self.cc.on_ack(cx, &mut self.w, &ack);
        }
        self.send();
    }

    fn signal(&mut self, why: Signal, ece: bool) {
        self.w.reduce_from = self.w.inflight;
        let ack = Ack { ece, srtt_us: self.srtt_us, min_rtt_us: self.min_rtt_us, ..Ack::default() };
        let ack = if matches!(why, Signal::Loss { .. } | Signal::Ecn) { Some(&ack) } else { None };
        let was = self.w;
        let r: Response = self.cc.on_congestion(&mut Cx { now: self.now, rng: &mut self.rng }, &self.w, ack, why);
        assert!(r.cwnd >= 1, "{}: {why:?} leaves no window", self.name);
        // RFC 5681 §3.1 eq. 4, or the old threshold.
        assert!(
            r.ssthresh >= 2 || r.ssthresh == was.ssthresh,
            "{}: {why:?} leaves a threshold of {}",
            self.name,
            r.ssthresh
        );
        assert!(
            self.opens || r.cwnd <= was.cwnd.max(2),
            "{}: {why:?} opens the window from {} to {}",
            self.name,
            was.cwnd,
            r.cwnd
        );
        (self.w.cwnd, self.w.ssthresh) = (r.cwnd, r.ssthresh);
        if r.cause == Cause::Congestion {
            self.w.cwnd_cnt = 0;
        }
        self.w.state = if matches!(why, Signal::Timeout { .. }) { CaState::Loss } else { CaState::Open };
        self.send();
    }

    fn happens(&mut self, after_ns: u64, event: &Event) {
        self.now = self.now.saturating_add(Span::from_nanos(after_ns));
        match *event {
            Event::Ack { segments, rtt_us, ece, tsval } => {
                let acked = segments.min(self.w.inflight).max(1);
                self.ack(Ack { acked, rtt_us, ece, tsval, ..Ack::default() });
            }
            Event::Dup { ece } => self.ack(Ack { dup: true, ece, ..Ack::default() }),
            Event::Signal { kind, nth, marked, truth } => {
                let truth = [None, Some(Cause::Congestion), Some(Cause::Error)][usize::from(truth)];
                let seq = self.w.snd_una;
                let why = [
                    Signal::Loss { seq, marked, truth },
                    Signal::Timeout { nth, marked, truth },
                    Signal::Ecn,
                    Signal::Local,
                ][usize::from(kind)];
                self.signal(why, marked);
            }
            Event::Restart { idle_us } => self.cc.on_restart(&mut self.w, self.now, Span::from_micros(idle_us)),
            Event::Undo => self.cc.on_undo(&mut self.w),
            Event::Recovered => {
                self.cc.on_recovered(&mut Cx { now: self.now, rng: &mut self.rng }, &mut self.w);
            }
            Event::Limits { rwnd, limited } => (self.w.rwnd, self.w.limited) = (rwnd, limited),
        }
        self.send();
    }

    /// `rounds` round trips of `rtt_us` without loss or mark. There is one acknowledgment per segment, at most `most`
    /// per round trip.
    fn clean(&mut self, rounds: u32, rtt_us: u32, most: u64) {
        (self.w.rwnd, self.w.limited, self.w.state) = (u32::MAX, true, CaState::Open);
        self.send();
        for _ in 0..rounds {
            let n = (self.nxt - self.una).clamp(1, most);
            // If more than `most` segments are in flight, the first acknowledgment covers the excess.
            let first = (self.nxt - self.una).saturating_sub(n - 1).max(1);
            for i in 0..n {
                self.now = self.now.saturating_add(Span::from_nanos(u64::from(rtt_us) * 1000 / n));
                let acked = if i == 0 { u32::try_from(first).unwrap_or(u32::MAX) } else { 1 };
                self.ack(Ack {
                    acked,
                    rtt_us: Some(rtt_us),
                    tsval: Some((self.now.as_nanos() / 1_000_000) as u32),
                    ..Ack::default()
                });
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn nothing_that_happens_takes_the_window_below_one_or_overflows(
        (i, args) in setting(),
        events in events(false),
        (
            cwnd, ssthresh,
        ) in (prop_oneof![Just(1u32), 1u32..100, 1u32..1_000_000], prop_oneof![Just(SSTHRESH_INFINITE), 1u32..1000]),
        (mss, tick_ns) in (1u32..9_000, prop_oneof![Just(0u32), Just(1_000_000), Just(1), Just(u32::MAX)]),
    ) {
        let w = Window { cwnd, ssthresh, mss, tick_ns, ..Window::default() };
        let Some(mut flow) = Flow::new(&REGISTRY[i], &args, w) else { return Ok(()) };
        for (after, event) in &events {
            flow.happens(*after, event);
        }
    }

    #[test]
    fn a_flow_moves_again_when_its_path_is_clean((i, args) in setting(), events in events(true), cwnd in 1u32..100) {
        let w = Window { cwnd, tick_ns: 1_000_000, ..Window::default() };
        let Some(mut flow) = Flow::new(&REGISTRY[i], &args, w) else { return Ok(()) };
        for (after, event) in &events {
            flow.happens(*after, event);
        }
        // On a path of one link, one segment is the limit of `hop_limit`. The window of WCP follows its rate, which may
        // grow by less than a segment in a round trip.
        let moves = if ["hop_limit", "wcp"].contains(&flow.name) { 1 } else { 2 };
        // The round trip is as short as any before, so a delay-based controller sees an empty path.
        let rtt = flow.min_rtt_us.clamp(1, 100_000);
        flow.clean(300, if rtt == 1 { 100_000 } else { rtt }, 64);
        prop_assert!(flow.w.cwnd >= moves, "{}: a window of {} after 300 clean round trips", flow.name, flow.w.cwnd);
        // No sequence of signals may stop the flow permanently.
        for nth in 1..10 {
            flow.signal(Signal::Timeout { nth, marked: false, truth: None }, false);
        }
        flow.clean(300, if rtt == 1 { 100_000 } else { rtt }, 64);
        prop_assert!(flow.w.cwnd >= moves, "{}: a window of {} after timeouts", flow.name, flow.w.cwnd);
    }
}
