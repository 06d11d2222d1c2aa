//! Runs every controller over the vectors in `vectors/cc/<name>/` (their format: `vectors/cc/README.md`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{defaults, time, value};
use contend_core::cc::{Ack, Controller, REGISTRY, SSTHRESH_INFINITE, Signal, Window};
use contend_core::registry::Entry;
use contend_core::{Cx, Rng, Time, cc};
use rand::SeedableRng as _;
use std::path::Path;

#[test]
fn every_controller_follows_its_vectors() {
    for entry in REGISTRY {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/cc").join(entry.name);
        let files: Vec<_> = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).map(|f| f.unwrap().path()).collect();
        assert!(!files.is_empty(), "{} has no vectors in {}", entry.name, dir.display());
        for file in files {
            run(entry, &std::fs::read_to_string(&file).unwrap(), &file.display().to_string());
        }
    }
}

fn run(entry: &Entry<cc::Build>, text: &str, file: &str) {
    let mut args = defaults(entry);
    let mut w = Window {
        cwnd: 1,
        cwnd_cnt: 0,
        ssthresh: SSTHRESH_INFINITE,
        pacing_rate: 0,
        extra: 0,
        inflight: 0,
        reduce_from: 0,
        rwnd: u32::MAX,
        mss: 1000,
        snd_una: 0,
        snd_nxt: 0,
        limited: true,
    };
    let mut cc = None;
    let mut rng = Rng::seed_from_u64(1);
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap().trim();
        let (input, want) = line.split_once("->").unwrap_or((line, ""));
        let words: Vec<&str> = input.split_whitespace().collect();
        match words.as_slice() {
            [] => continue,
            ["set", name, v] => {
                let p = entry.params.iter().find(|p| p.name == *name).unwrap_or_else(|| panic!("{file}:{}: no parameter {name}", n + 1));
                args.set(p.name, value(p, v));
            }
            ["start", "cwnd", cwnd, "ssthresh", ssthresh] => (w.cwnd, w.ssthresh) = (cwnd.parse().unwrap(), threshold(ssthresh)),
            [at, input @ ..] => {
                let cc = cc.get_or_insert_with(|| (entry.build)(&args).unwrap());
                let mut cx = Cx { now: Time::ZERO + time(at), rng: &mut rng };
                step(cc.as_mut(), &mut cx, &mut w, input).unwrap_or_else(|| panic!("{file}:{}: cannot read {line:?}", n + 1));
                let want: Vec<&str> = want.split_whitespace().collect();
                let [_, cwnd, _, ssthresh] = want.as_slice() else { panic!("{file}:{}: what must follow?", n + 1) };
                assert_eq!((w.cwnd, w.ssthresh), (cwnd.parse().unwrap(), threshold(ssthresh)), "{file}:{}: {line}", n + 1);
            }
        }
    }
}

fn step(cc: &mut dyn Controller, cx: &mut Cx, w: &mut Window, input: &[&str]) -> Option<()> {
    let option = |name| input.iter().position(|&x| x == name).and_then(|i| input.get(i + 1)).copied();
    w.reduce_from = option("flight").map_or(0, |f| f.parse().unwrap());
    let why = match *input.first()? {
        "ack" => {
            let rtt_us = option("rtt").map_or(0, |t| time(t).as_micros() as u32);
            let ack = Ack { acked: input.get(1)?.parse().ok()?, srtt_us: rtt_us, rtt_us: Some(rtt_us), ..Ack::default() };
            (0..option("times").map_or(1, |m| m.parse().unwrap())).for_each(|_| cc.on_ack(cx, w, &ack));
            return Some(());
        }
        "restart" => {
            cc.on_restart(w, cx.now, time(input.get(1)?));
            return Some(());
        }
        "loss" => Signal::Loss { seq: 0, marked: false },
        "ecn" => Signal::Ecn,
        "local" => Signal::Local,
        "timeout" => Signal::Timeout { nth: input.get(1)?.parse().ok()?, marked: false },
        _ => return None,
    };
    let r = cc.on_congestion(cx, w, None, why);
    (w.cwnd, w.ssthresh, w.cwnd_cnt) = (r.cwnd, r.ssthresh, 0);
    Some(())
}

fn threshold(text: &str) -> u32 {
    if text == "inf" { SSTHRESH_INFINITE } else { text.parse().unwrap() }
}
