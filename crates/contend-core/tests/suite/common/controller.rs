//! Runs a controller over a text in the form of `vectors/cc/README.md`. The twins in `contend-bpf` use it too.

use super::{ack, each_line, option, time};
use contend_core::cc::{Ack, Build, CaState, Cause, Controller, RateSample, SSTHRESH_INFINITE, Signal, Window};
use contend_core::observe::Local;
use contend_core::registry::Entry;
use contend_core::{Cx, Rng, Span, Time};
use rand::SeedableRng as _;

/// Runs `entry` over `text` from `file`; panics at the first window that differs.
pub fn run(entry: &Entry<Build>, text: &str, file: &str) {
    let mut w = Window::default();
    let mut cc = None;
    let mut rng = Rng::seed_from_u64(1);
    each_line(entry, text, file, |place, args, words, want| match words {
        ["start", "cwnd", cwnd, "ssthresh", ssthresh] => {
            (w.cwnd, w.ssthresh) = (cwnd.parse().unwrap(), threshold(ssthresh))
        }
        ["start", "tick", tick] => w.tick_ns = time(tick).as_nanos() as u32,
        ["start", "capacity", capacity, "available", available] => {
            let (capacity, available) = (capacity.parse().ok(), available.parse().ok());
            w.local = Some(Local { capacity, available, ..Local::default() });
        }
        [at, input @ ..] => {
            let cc = cc.get_or_insert_with(|| {
                let mut cc = (entry.build)(args).unwrap();
                cc.on_start(&mut w);
                cc
            });
            let mut cx = Cx { now: Time::ZERO + time(at), rng: &mut rng };
            step(cc.as_mut(), &mut cx, &mut w, input).unwrap_or_else(|| panic!("{place}: cannot be read"));
            let want: Vec<&str> = want.split_whitespace().collect();
            let [_, cwnd, _, ssthresh, pacing @ ..] = want.as_slice() else { panic!("{place}: what must follow?") };
            assert_eq!((w.cwnd, w.ssthresh), (cwnd.parse().unwrap(), threshold(ssthresh)), "{place}");
            if let [_, rate] = pacing {
                assert_eq!(w.pacing_rate / 1000, rate.parse::<u64>().unwrap(), "{place}");
            }
        }
        [] => {}
    });
}

/// Passes one line to the controller as the sender does.
fn step(cc: &mut dyn Controller, cx: &mut Cx, w: &mut Window, input: &[&str]) -> Option<()> {
    let word = |name| option(input, name);
    let number = |name| word(name).map(|n| n.parse().unwrap());
    let has = |word| input.contains(&word);
    w.reduce_from = number("flight").unwrap_or(0);
    w.inflight = number("inflight").unwrap_or(0);
    w.sent = number("sent").unwrap_or(w.sent);
    w.extra = number("extra").unwrap_or(0);
    w.state = word("state").map_or(CaState::Open, |s| if s == "loss" { CaState::Loss } else { CaState::Recovery });
    let (bw, over) = word("bw")
        .map_or((0, 0), |s| s.split_once('/').map(|(n, t)| (n.parse().unwrap(), time(t).as_micros() as u32)).unwrap());
    let rate = RateSample {
        delivered: bw,
        prior_delivered: number("prior").unwrap_or(0),
        interval_us: over,
        losses: number("losses").unwrap_or(0),
        lost: number("lost").unwrap_or(0),
        tx_in_flight: number("tx").unwrap_or(0),
        ce: number("ce").unwrap_or(0),
        prior_in_flight: number("before").unwrap_or(w.inflight),
        app_limited: has("app_limited"),
        ..RateSample::default()
    };
    let ack = Ack { rate, ..ack(input)? };
    let truth = if has("error") { Some(Cause::Error) } else { has("congestion").then_some(Cause::Congestion) };
    let why = match *input.first()? {
        "ack" | "dup" => {
            let full = cc.needs().full_control;
            let every = word("every").map_or(Span::ZERO, time);
            for _ in 0..number("times").unwrap_or(1) {
                w.delivered += ack.delivered;
                cc.on_every_ack(cx, w, &ack);
                // In recovery the window does not grow.
                if full || !(ack.dup || w.state == CaState::Recovery) {
                    cc.on_ack(cx, w, &ack);
                }
                cx.now += every;
            }
            return Some(());
        }
        "lost" => {
            cc.on_lost(cx, w, &RateSample { tx_in_flight: number("tx")?, lost: input.get(1)?.parse().ok()?, ..rate });
            return Some(());
        }
        "restart" => {
            cc.on_restart(w, cx.now, time(input.get(1)?));
            return Some(());
        }
        "recovered" => {
            cc.on_recovered(cx, w);
            return Some(());
        }
        "undo" => {
            w.cwnd = number("cwnd").unwrap_or(w.cwnd);
            w.ssthresh = number("ssthresh").unwrap_or(w.ssthresh);
            cc.on_undo(w);
            return Some(());
        }
        "loss" => Signal::Loss { seq: word("seq").map_or(0, |n| n.parse().unwrap()), marked: ack.ece, truth },
        "ecn" => Signal::Ecn,
        "local" => Signal::Local,
        "timeout" => Signal::Timeout { nth: input.get(1)?.parse().ok()?, marked: ack.ece, truth },
        _ => return None,
    };
    let r = cc.on_congestion(cx, w, Some(&ack), why);
    if r.cause == Cause::Congestion {
        w.cwnd_cnt = 0;
    }
    (w.cwnd, w.ssthresh) = (r.cwnd, r.ssthresh);
    Some(())
}

fn threshold(text: &str) -> u32 {
    if text == "inf" { SSTHRESH_INFINITE } else { text.parse().unwrap() }
}
