//! The client: transfers of all classes at the same time, until so many requests are done.

use super::plan::Plan;
use super::transfer::{RANDOM, Sample, Step, Transfer};
use crate::{Result, Stop, clock, udp};
use contend_core::Refusal;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::os::fd::AsFd as _;
use std::time::Duration;

/// A request that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Index of its class.
    pub class: usize,
    /// Its number, counted from 0 over all classes.
    pub number: u64,
    /// Seconds from the start of the client to its end.
    pub at_s: f64,
    /// Seconds from the establishment of its connection to its end.
    pub seconds: f64,
    /// Bytes of its body.
    pub volume: u64,
    /// Why it has failed.
    pub failed: Option<String>,
}

/// What a client did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Requests in the order of their ends.
    pub done: Vec<Done>,
    /// Transfers that were under way at the end, and dropped.
    pub dropped: usize,
    /// Seconds from the start to the end.
    pub seconds: f64,
}

/// How soon a class tries again after a failure.
const AGAIN: Duration = Duration::from_millis(100);

/// Runs until the requests are done, or `stop` is asked. `sample` gets the class, the number of the request and a
/// sample.
///
/// # Errors
/// When the start packet cannot be waited for.
pub fn run(plan: &Plan, stop: &Stop, sample: &mut dyn FnMut(usize, u64, Sample)) -> Result<Report> {
    if plan.total == 0 || plan.classes.is_empty() {
        return Err(Refusal::new("there is nothing to do", "write a total of at least 1, and at least one class"));
    }
    let mut rng = Pcg64Mcg::seed_from_u64(plan.seed);
    // Memory is touched before the first transfer.
    let random: Vec<u8> = (0..RANDOM).map(|_| rng.random()).collect();
    let mut scratch = vec![1_u8; 64 * 1024];
    if let Some(at) = plan.wait {
        let socket = udp::receiver(at)?;
        while !stop.asked() && !udp::wait(&socket, false, stop, Duration::from_secs(3600)).readable {}
    }
    let begun = clock::monotonic();
    let mut report = Report::default();
    let mut number = 0;
    // Places of transfers that are to be begun, and when.
    let mut free: Vec<(usize, Duration)> = Vec::new();
    for (class, c) in plan.classes.iter().enumerate() {
        free.extend((0..c.concurrency).map(|_| (class, begun)));
    }
    let mut open: Vec<Transfer> = Vec::new();
    while report.done.len() < plan.total as usize && !stop.asked() {
        let now = clock::monotonic();
        let (ready, later) = free.into_iter().partition(|(_, at)| *at <= now);
        free = later;
        for (class, _) in ready {
            match Transfer::begin(class, number, &plan.classes[class]) {
                Ok(t) => open.push(t),
                Err(why) => {
                    let at_s = (now - begun).as_secs_f64();
                    report.done.push(Done {
                        class,
                        number,
                        at_s,
                        seconds: 0.0,
                        volume: 0,
                        failed: Some(why.to_string()),
                    });
                    free.push((class, now + AGAIN));
                }
            }
            number += 1;
        }
        let mut order = wait(&open, plan, stop, now);
        // The permutation scheduler: a random order in each cycle.
        for k in (1..order.len()).rev() {
            order.swap(k, rng.random_range(0..=k));
        }
        let mut ended = Vec::new();
        for k in order {
            let t = &mut open[k];
            let of = &plan.classes[t.class];
            let (class, n) = (t.class, t.number);
            match t.serve(of, &random, &mut scratch, plan.every, &mut |s| sample(class, n, s)) {
                Step::On => {}
                Step::Complete => ended.push((k, None)),
                Step::Failed(why) => ended.push((k, Some(why))),
            }
        }
        let now = clock::monotonic();
        for (k, t) in open.iter_mut().enumerate() {
            let of = &plan.classes[t.class];
            let (class, n) = (t.class, t.number);
            if ended.iter().any(|e| e.0 == k) {
                continue;
            }
            if t.due_in(of, now) == Some(Duration::ZERO) {
                t.sample(of, plan.every, false, &mut |s| sample(class, n, s));
            }
            if now >= t.moved + plan.patience {
                ended.push((k, Some(format!("nothing moved for {} s", plan.patience.as_secs_f64()))));
            }
        }
        ended.sort_by_key(|e| std::cmp::Reverse(e.0));
        for (k, failed) in ended {
            let t = open.swap_remove(k);
            if (report.done.len() as u64) < plan.total {
                report.done.push(Done {
                    class: t.class,
                    number: t.number,
                    at_s: (now - begun).as_secs_f64(),
                    seconds: t.seconds(now),
                    volume: t.volume,
                    failed: failed.clone(),
                });
            }
            free.push((t.class, if failed.is_some() { now + AGAIN } else { now }));
        }
    }
    report.dropped = open.len();
    report.seconds = (clock::monotonic() - begun).as_secs_f64();
    Ok(report)
}

/// Waits until a transfer is ready, or a sample is due. Returns the ready ones.
fn wait(open: &[Transfer], plan: &Plan, stop: &Stop, now: Duration) -> Vec<usize> {
    let due = open.iter().filter_map(|t| t.due_in(&plan.classes[t.class], now)).min();
    let at_most = due.unwrap_or(AGAIN).min(AGAIN);
    let mut fds: Vec<PollFd> = open
        .iter()
        .map(|t| PollFd::new(t.socket.as_fd(), if t.writes() { PollFlags::POLLOUT } else { PollFlags::POLLIN }))
        .collect();
    fds.push(PollFd::new(stop.as_fd(), PollFlags::POLLIN));
    let _ = ppoll(&mut fds, Some(TimeSpec::from_duration(at_most)), None);
    (0..open.len()).filter(|k| fds[*k].revents().is_some_and(|r| !r.is_empty())).collect()
}

impl Report {
    /// The requests of a class that succeeded.
    fn good(&self, class: usize) -> impl Iterator<Item = &Done> {
        self.done.iter().filter(move |d| d.class == class && d.failed.is_none())
    }

    /// Requests that failed.
    pub fn failed(&self) -> usize {
        self.done.iter().filter(|d| d.failed.is_some()).count()
    }

    /// The object of `--format json`.
    pub fn to_json(&self, plan: &Plan, version: &str) -> Value {
        let rate = |d: &Done| if d.seconds > 0.0 { d.volume as f64 * 8.0 / d.seconds } else { 0.0 };
        let done = |d: &Done| {
            json!({"class": plan.classes[d.class].name, "request": d.number, "at_s": d.at_s, "seconds": d.seconds,
                "bytes": d.volume, "rate_bps": rate(d), "failed": d.failed})
        };
        json!({
            "schema": "contend/htbench/1",
            "version": version,
            "seconds": self.seconds,
            "dropped": self.dropped,
            "requests": self.done.iter().map(done).collect::<Vec<_>>(),
        })
    }

    /// The table.
    pub fn table(&self, plan: &Plan) -> String {
        let mut out = format!(
            "  {:<16} {:>8} {:>7} {:>10} {:>10} {:>10} {:>10}\n",
            "class", "requests", "failed", "MB", "mean s", "mean Mb/s", "least Mb/s"
        );
        for (k, c) in plan.classes.iter().enumerate() {
            let good: Vec<&Done> = self.good(k).collect();
            let failed = self.done.iter().filter(|d| d.class == k && d.failed.is_some()).count();
            let n = good.len().max(1) as f64;
            // The sum of nothing is -0.0.
            let sum = |all: &mut dyn Iterator<Item = f64>| all.fold(0.0, |a, b| a + b);
            let rates: Vec<f64> =
                good.iter().filter(|d| d.seconds > 0.0).map(|d| d.volume as f64 * 8e-6 / d.seconds).collect();
            let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let _ = writeln!(
                out,
                "  {:<16} {:>8} {failed:>7} {:>10.3} {:>10.3} {:>10.3} {:>10.3}",
                c.name,
                good.len(),
                sum(&mut good.iter().map(|d| d.volume as f64)) / 1e6,
                sum(&mut good.iter().map(|d| d.seconds)) / n,
                sum(&mut rates.iter().copied()) / rates.len().max(1) as f64,
                if least.is_finite() { least } else { 0.0 }
            );
        }
        let _ = writeln!(
            out,
            "  {} requests in {:.3} s; {} transfers were under way at the end and are dropped",
            self.done.len(),
            self.seconds,
            self.dropped
        );
        for why in self.done.iter().filter_map(|d| d.failed.as_deref()).take(1) {
            let _ = writeln!(out, "  the first failure: {why}");
        }
        out
    }
}
