//! Metrics read from a run: from its totals, its histograms and its series.

use super::eval::{Unmeasured, Value};
use super::parse::DIRECTIONS;
use super::words::{Subject, What};
use super::{Aspect, Function, Metric, Scope, fingerprints, successes};
use crate::names::remedy;
use crate::results::{Flow, FlowSample, Losses, Queue, QueueSample, Run};
use crate::stats;
use contend_sim::stats::Durations;
use contend_theory::effective_window;
use contend_theory::slots::Family;

/// Instants that are closer than this count as the same: half a microsecond.
const SAME_INSTANT: f64 = 5e-7;

/// The value of `m` in `run`.
pub(super) fn metric(m: &Metric, run: &Run) -> Result<Value, Unmeasured> {
    match m.word.subject {
        Subject::Flows => {
            let chosen = match &m.scope {
                Scope::All => (0..run.flows.len()).collect(),
                Scope::Together(name) | Scope::Each(name) => flows(name, run)?,
            };
            match m.scope {
                Scope::Each(_) => {
                    Ok(Value::Many(chosen.iter().map(|i| of_flows(m, run, &[*i])).collect::<Result<_, _>>()?))
                }
                _ => of_flows(m, run, &chosen).map(Value::One),
            }
        }
        Subject::Queues => {
            let names: Vec<&str> = run.queues.iter().map(|q| q.name.as_str()).collect();
            each(m, &names, "queue", |chosen| of_queues(m, run, chosen))
        }
        Subject::Stations if m.word.what == What::Successes => successes::counted(m, run),
        Subject::Stations if matches!(m.word.what, What::Interarrival | What::Fingerprint) => {
            run.air.as_ref().ok_or_else(|| no_air(m))?;
            let names: Vec<&str> = run.stations.iter().map(String::as_str).collect();
            each(m, &names, "station", |chosen| fingerprints::of_station(m, run, &names, chosen))
        }
        Subject::Stations => {
            let air = run.air.as_ref().ok_or_else(|| no_air(m))?;
            let names: Vec<&str> = air.airtime.keys().map(String::as_str).collect();
            each(m, &names, "station", |chosen| {
                Ok(chosen.iter().filter_map(|i| air.airtime.get(*names.get(*i)?)).sum())
            })
        }
        Subject::Air => of_air(m, run).map(Value::One),
    }
}

/// The names of the members of `m` in `run`; none when it is one number.
pub(super) fn members(m: &Metric, run: &Run) -> Result<Vec<String>, Unmeasured> {
    let Scope::Each(name) = &m.scope else { return Ok(vec![]) };
    let (names, kind): (Vec<&str>, _) = match m.word.subject {
        Subject::Flows => {
            return Ok(flows(name, run)?.into_iter().filter_map(|i| Some(run.flows.get(i)?.name.clone())).collect());
        }
        Subject::Queues => (run.queues.iter().map(|q| q.name.as_str()).collect(), "queue"),
        Subject::Stations if m.word.what == What::Successes => return successes::members(m, name, run),
        Subject::Stations => {
            (run.air.as_ref().ok_or_else(|| no_air(m))?.airtime.keys().map(String::as_str).collect(), "station")
        }
        Subject::Air => return Ok(vec![]),
    };
    Ok(chosen(m, name, &names, kind)?.into_iter().filter_map(|i| Some((*names.get(i)?).to_owned())).collect())
}

/// Those of the queues or stations `names` that `name` means.
fn chosen(m: &Metric, name: &str, names: &[&str], kind: &str) -> Result<Vec<usize>, Unmeasured> {
    let list = if matches!(name, "all" | "total") { (0..names.len()).collect() } else { named(name, names) };
    if list.is_empty() {
        Err(Unmeasured::Wrong(format!("`{m}`: there is no {kind} `{name}`; {}", remedy(name, names.iter().copied()))))
    } else {
        Ok(list)
    }
}

/// The value of a metric of queues or stations: `value` of those chosen together, or of each.
fn each(
    m: &Metric,
    names: &[&str],
    kind: &str,
    value: impl Fn(&[usize]) -> Result<f64, Unmeasured>,
) -> Result<Value, Unmeasured> {
    match &m.scope {
        Scope::All => value(&(0..names.len()).collect::<Vec<_>>()).map(Value::One),
        Scope::Together(name) => value(&chosen(m, name, names, kind)?).map(Value::One),
        Scope::Each(name) => {
            Ok(Value::Many(chosen(m, name, names, kind)?.iter().map(|i| value(&[*i])).collect::<Result<_, _>>()?))
        }
    }
}

/// Those of `names` that are `name`, or else all that add only numbers to it: `down.1`, `down.2`, ..., `sta1`, `sta2`,
/// ..., or `ftp1.1`, `ftp2.1`, ...
pub(super) fn named(name: &str, names: &[&str]) -> Vec<usize> {
    if let Some(i) = names.iter().position(|n| *n == name) {
        return vec![i];
    }
    let member = |n: &str| {
        n.strip_prefix(name)
            .map(|rest| rest.strip_prefix('.').unwrap_or(rest))
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    };
    names.iter().enumerate().filter(|(_, n)| member(n)).map(|(i, _)| i).collect()
}

/// The flows that `name` means: a direction (which may have none), a flow, or a group.
fn flows(name: &str, run: &Run) -> Result<Vec<usize>, Unmeasured> {
    if matches!(name, "all" | "total") {
        return Ok((0..run.flows.len()).collect());
    }
    if DIRECTIONS.contains(&name) {
        return Ok(run.flows.iter().enumerate().filter(|(_, f)| f.direction == name).map(|(i, _)| i).collect());
    }
    let names: Vec<&str> = run.flows.iter().map(|f| f.name.as_str()).collect();
    let chosen = named(name, &names);
    if chosen.is_empty() {
        let help = remedy(name, names.into_iter().chain(DIRECTIONS));
        return Err(Unmeasured::Wrong(format!("there is no flow, group of flows or direction `{name}`; {help}")));
    }
    Ok(chosen)
}

pub(super) fn no_air(m: &Metric) -> Unmeasured {
    Unmeasured::Undefined(format!("`{m}` needs a cell, and this network has none"))
}

/// The value for the flows `chosen`, taken together.
fn of_flows(m: &Metric, run: &Run, chosen: &[usize]) -> Result<f64, Unmeasured> {
    let members = || chosen.iter().filter_map(|i| run.flows.get(*i));
    let total = |f: fn(&Flow) -> f64| Ok(members().map(f).sum());
    let rate = |of: fn(&FlowSample) -> u64, whole: fn(&Flow) -> f64| match window(m, run)? {
        Some(w) => chosen.iter().map(|i| Ok(w.grown(run.series.flows.get(*i), of)? as f64 * 8.0 / w.length())).sum(),
        None => Ok(members().map(whole).sum()),
    };
    match m.word.what {
        What::Goodput => rate(|s| s.delivered_bytes, |f| f.goodput_bps),
        What::Throughput => rate(|s| s.received_bytes, |f| f.throughput_bps),
        What::Sent => total(|f| f.sent as f64),
        What::Timeouts => total(|f| f.timeouts as f64),
        What::Losses | What::TakenFor | What::Accuracy => losses(m, members().map(|f| f.losses)),
        What::Completed => total(|f| f.completions_s.len() as f64),
        What::Retransmitted => match window(m, run)? {
            Some(w) => chosen.iter().map(|i| Ok(w.grown(run.series.flows.get(*i), |s| s.retrans)? as f64)).sum(),
            None => total(|f| f.retransmitted as f64),
        },
        What::Rtt => durations(m, members().map(|f| &f.rtt)),
        What::Delay => durations(m, members().map(|f| &f.delay)),
        What::Fct => {
            let all: Vec<f64> = members().flat_map(|f| f.completions_s.iter().copied()).collect();
            let value = match m.aspect {
                Aspect::Percentile(p) => stats::quantile(&all, f64::from(p) / 100.0),
                _ => stats::mean(&all),
            };
            value.ok_or_else(|| Unmeasured::Undefined(format!("`{m}`: no transfer was completed")))
        }
        What::Jain => jain(m, run, chosen),
        What::Cwnd => over_time(m, run, chosen, |s| f64::from(s.snd_cwnd)),
        What::Ssthresh => over_time(m, run, chosen, |s| f64::from(s.snd_ssthresh)),
        What::Srtt => over_time(m, run, chosen, |s| f64::from(s.srtt_us) / 1e6),
        What::Estimate => estimate(m, run, chosen),
        What::Acked => match window(m, run)? {
            Some(w) => chosen.iter().map(|i| Ok(w.grown(run.series.flows.get(*i), |s| s.snd_una_bytes)? as f64)).sum(),
            None => Err(Unmeasured::Wrong(format!("`{m}` needs a time window"))),
        },
        What::Stall => {
            let w = path(m, run)?;
            let longest = |i: &usize| stall(&run.series.time_s, samples(run, *i)?, w);
            chosen.iter().map(longest).try_fold(0.0, |m: f64, x| Ok(m.max(x?)))
        }
        _ => Err(Unmeasured::Wrong(format!("`{m}` is no metric of a flow"))),
    }
}

/// Losses found, what they were taken for, and how often rightly.
fn losses(m: &Metric, of: impl Iterator<Item = Losses> + Clone) -> Result<f64, Unmeasured> {
    let cause = if let Aspect::Kind(cause) = m.aspect { cause } else { "" };
    let sum = |f: fn(&Losses) -> u64| of.clone().map(|l| f(&l)).sum::<u64>() as f64;
    let was = |cause| match cause {
        "congestion" => sum(|l| l.congestion.congestion + l.congestion.error),
        "error" => sum(|l| l.error.congestion + l.error.error),
        _ => sum(|l| l.nothing.congestion + l.nothing.error),
    };
    Ok(match (m.word.what, cause) {
        (What::Losses, "") => was("congestion") + was("error") + was("nothing"),
        (What::Losses, cause) => was(cause),
        (What::TakenFor, "error") => sum(|l| l.congestion.error + l.error.error + l.nothing.error),
        (What::TakenFor, _) => sum(|l| l.congestion.congestion + l.error.congestion + l.nothing.congestion),
        (_, cause) if was(cause) == 0.0 => return Err(Unmeasured::Undefined(format!("`{m}`: no such loss was found"))),
        (_, "error") => sum(|l| l.error.error) / was("error"),
        (_, _) => sum(|l| l.congestion.congestion) / was("congestion"),
    })
}

/// Jain's index over the run, a window, or the mean over windows of a second.
fn jain(m: &Metric, run: &Run, chosen: &[usize]) -> Result<f64, Unmeasured> {
    let nothing = || Unmeasured::Undefined(format!("`{m}`: there is no such flow"));
    let over = |w: Window| {
        let bytes = chosen
            .iter()
            .map(|i| Ok(w.grown(run.series.flows.get(*i), |s| s.delivered_bytes)? as f64))
            .collect::<Result<Vec<_>, Unmeasured>>()?;
        stats::jain(&bytes).ok_or_else(nothing)
    };
    if m.aspect == Aspect::Short {
        let seconds = seconds(run);
        let indices = seconds.iter().map(|w| over(*w)).collect::<Result<Vec<_>, _>>()?;
        return stats::mean(&indices)
            .ok_or_else(|| Unmeasured::Undefined(format!("`{m}`: the series was not sampled at every second")));
    }
    match window(m, run)? {
        Some(w) => over(w),
        None => stats::jain(&chosen.iter().filter_map(|i| Some(run.flows.get(*i)?.goodput_bps)).collect::<Vec<_>>())
            .ok_or_else(nothing),
    }
}

/// Mean or percentile in seconds of all samples of some histograms together.
fn durations<'a>(m: &Metric, parts: impl Iterator<Item = &'a Durations>) -> Result<f64, Unmeasured> {
    let mut all = Durations::new();
    parts.for_each(|d| all.merge(d));
    if all.is_empty() {
        return Err(Unmeasured::Undefined(format!("`{m}`: nothing was measured")));
    }
    Ok(match m.aspect {
        Aspect::Percentile(p) => all.quantile_ms(f64::from(p) / 100.0) / 1e3,
        _ => all.mean_ms() / 1e3,
    })
}

/// The value for the queues `chosen`, taken together.
fn of_queues(m: &Metric, run: &Run, chosen: &[usize]) -> Result<f64, Unmeasured> {
    let members = || chosen.iter().filter_map(|i| run.queues.get(*i));
    let total = |f: fn(&Queue) -> u64| members().map(f).sum::<u64>() as f64;
    let counted = |whole: fn(&Queue) -> u64, of: fn(&QueueSample) -> u64| match window(m, run)? {
        Some(w) => chosen.iter().map(|i| Ok(w.grown(run.series.queues.get(*i), of)? as f64)).sum(),
        None => Ok(total(whole)),
    };
    match m.word.what {
        What::Enqueued => counted(|q| q.enqueued, |s| s.enqueued),
        What::Marked => counted(|q| q.marked, |s| s.marked),
        What::Filtered => Ok(total(|q| q.filtered)),
        What::Made => Ok(total(|q| q.made)),
        What::Lost => Ok(total(|q| q.lost)),
        What::Drops => match m.aspect {
            Aspect::Kind(kind) => {
                Ok(members().map(|q| q.dropped_by_kind.get(kind).copied().unwrap_or(0)).sum::<u64>() as f64)
            }
            _ => Ok(total(|q| q.dropped)),
        },
        // Where nothing is offered, nothing is lost.
        What::Loss => Ok(total(|q| q.dropped) / total(|q| q.enqueued).max(1.0)),
        What::QueueDelay => durations(m, members().map(|q| &q.delay)),
        What::QueueLength if m.window.is_some() => {
            let w = path(m, run)?;
            let length = |i: &usize| {
                let series = run.series.queues.get(*i).ok_or_else(|| unsampled(m))?;
                w.mean(&run.series.time_s, |k| series.get(k).map(|n| n.packets as f64)).ok_or_else(|| unsampled(m))
            };
            chosen.iter().map(length).sum()
        }
        What::QueueLength => Ok(members().map(|q| q.mean_packets).sum()),
        _ => Err(Unmeasured::Wrong(format!("`{m}` is no metric of a queue"))),
    }
}

fn of_air(m: &Metric, run: &Run) -> Result<f64, Unmeasured> {
    let air = run.air.as_ref().ok_or_else(|| no_air(m))?;
    match (m.word.what, &m.aspect) {
        (What::Frames, _) => Ok(air.frames as f64),
        (What::Collisions, _) => Ok(air.collisions as f64),
        (What::CollisionProbability, _) => Ok(air.collision_probability),
        (What::RetryDrops, _) => Ok(air.retry_drops as f64),
        (What::Rivals, _) => Ok(air.rivals),
        (What::Wait, Aspect::Kind("success")) => Ok(air.success_wait),
        (What::Wait, Aspect::Kind(_)) => Ok(air.collision_wait),
        (What::EffectiveWindow, _) => {
            let n = run.contending.ok_or_else(|| {
                Unmeasured::Wrong(format!("`{m}` needs a run of [contention], where all contend all the time"))
            })?;
            let share = air.collisions as f64 / (air.collisions + air.successes).max(1) as f64;
            effective_window::window_of(Family::Uniform, n, share)
                .map_err(|e| Unmeasured::Undefined(format!("`{m}`: {e}")))
        }
        (What::Busy, _) => Ok(air.busy),
        (What::Ledger, Aspect::Account(account)) => {
            let help = || remedy(account, air.ledger.keys().copied());
            air.ledger
                .get(account.as_str())
                .copied()
                .ok_or_else(|| Unmeasured::Wrong(format!("the ledger has no account `{account}`; {}", help())))
        }
        _ => Err(Unmeasured::Wrong(format!("`{m}` is no metric of the cell"))),
    }
}

/// Two samples of the series, by their numbers; their instants in seconds.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) first: usize,
    pub(super) last: usize,
    from: f64,
    to: f64,
}

impl Window {
    fn length(&self) -> f64 {
        self.to - self.from
    }

    /// By how much a counter of `samples` grew.
    fn grown<T>(&self, samples: Option<&Vec<T>>, of: fn(&T) -> u64) -> Result<u64, Unmeasured> {
        match samples.map(|s| (s.get(self.first), s.get(self.last))) {
            Some((Some(a), Some(b))) => Ok(of(b).saturating_sub(of(a))),
            _ => Err(Unmeasured::Wrong("the time series has fewer samples than instants".into())),
        }
    }

    /// Mean over time of a value that stays as it was sampled until the next sample.
    fn mean(&self, times: &[f64], value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        let mut sum = 0.0;
        for k in self.first..self.last {
            sum += value(k)? * (times.get(k + 1)? - times.get(k)?);
        }
        (self.length() > 0.0).then(|| sum / self.length())
    }
}

fn unsampled(m: &Metric) -> Unmeasured {
    Unmeasured::Wrong(format!("`{m}` needs the time series of the run; set `sample`, for example sample = \"100ms\""))
}

fn samples(run: &Run, flow: usize) -> Result<&[FlowSample], Unmeasured> {
    run.series.flows.get(flow).map(Vec::as_slice).ok_or_else(|| {
        Unmeasured::Wrong("there is no time series of this run; set `sample`, for example sample = \"100ms\"".into())
    })
}

/// The sample at `instant`.
fn sample_at(times: &[f64], instant: f64) -> Option<usize> {
    let near = times.partition_point(|t| *t < instant - SAME_INSTANT);
    times.get(near).filter(|t| **t <= instant + SAME_INSTANT).map(|_| near)
}

/// The window that `m` names.
pub(super) fn window(m: &Metric, run: &Run) -> Result<Option<Window>, Unmeasured> {
    let Some((a, b)) = &m.window else { return Ok(None) };
    let find = |n: &super::Number| {
        sample_at(&run.series.time_s, n.value).ok_or_else(|| {
            let reason = if n.value > run.sim_s + SAME_INSTANT {
                format!("the run ends at {}s", run.sim_s)
            } else {
                "there is no sample at that instant".to_owned()
            };
            Unmeasured::Wrong(format!("`{m}` asks for {}, but {reason}", n.text))
        })
    };
    Ok(Some(Window { first: find(a)?, last: find(b)?, from: a.value, to: b.value }))
}

/// The window that `m` names, or the measured interval.
fn path(m: &Metric, run: &Run) -> Result<Window, Unmeasured> {
    if let Some(w) = window(m, run)? {
        return Ok(w);
    }
    let times = &run.series.time_s;
    let first = times.partition_point(|t| *t < run.warmup_s - SAME_INSTANT);
    match (times.get(first), times.last()) {
        (Some(from), Some(to)) if to > from => Ok(Window { first, last: times.len() - 1, from: *from, to: *to }),
        _ => Err(unsampled(m)),
    }
}

/// The windows between whole seconds of the measured interval; none unless all of these were sampled.
fn seconds(run: &Run) -> Vec<Window> {
    windows(run, run.warmup_s).unwrap_or_default()
}

/// The windows between whole seconds from `from` on; `None` unless all of these were sampled.
fn windows(run: &Run, from: f64) -> Option<Vec<Window>> {
    let times = &run.series.time_s;
    let (from, to) = (libm::ceil(from - SAME_INSTANT).max(0.0), libm::floor(run.sim_s + SAME_INSTANT));
    let whole = |s: u64| {
        Some(Window {
            first: sample_at(times, s as f64)?,
            last: sample_at(times, (s + 1) as f64)?,
            from: s as f64,
            to: (s + 1) as f64,
        })
    };
    (from as u64..to as u64).map(whole).collect()
}

/// Bytes that all flows together delivered in each second of the run, the warm-up included; `None` unless it was
/// sampled at all of them.
pub(super) fn by_second(run: &Run) -> Option<Vec<f64>> {
    let total = |w: &Window| {
        (0..run.flows.len())
            .map(|i| Some(w.grown(run.series.flows.get(i), |s| s.delivered_bytes).ok()? as f64))
            .sum::<Option<f64>>()
    };
    windows(run, 0.0)?.iter().map(total).collect()
}

/// Mean over time of something sampled, and over flows.
fn over_time(m: &Metric, run: &Run, chosen: &[usize], of: fn(&FlowSample) -> f64) -> Result<f64, Unmeasured> {
    let w = path(m, run)?;
    let mut means = vec![];
    for i in chosen {
        let s = samples(run, *i)?;
        means.push(w.mean(&run.series.time_s, |k| s.get(k).map(of)).ok_or_else(|| unsampled(m))?);
    }
    stats::mean(&means).ok_or_else(|| Unmeasured::Undefined(format!("`{m}`: there is no such flow")))
}

/// What an estimator says in the window, of each flow, and the same of all of them: the mean for means and deviations.
fn estimate(m: &Metric, run: &Run, chosen: &[usize]) -> Result<f64, Unmeasured> {
    let Aspect::Estimate(name, made) = &m.aspect else {
        return Err(Unmeasured::Wrong(format!("`{m}` names no estimator")));
    };
    let w = path(m, run)?;
    let mut values = vec![];
    for i in chosen {
        let of_flow = || run.series.estimates.iter().filter(|e| e.flow == *i);
        let Some(e) = of_flow().find(|e| e.name == *name) else {
            let flow = run.flows.get(*i).map_or("", |f| f.name.as_str());
            let help = remedy(name, of_flow().map(|e| e.name.as_str()));
            return Err(Unmeasured::Wrong(format!(
                "`{m}`: flow `{flow}` is not watched by `{name}`; {help}; write estimate = [\"{name}\"] in its [[flow]]"
            )));
        };
        let of = |k: usize| e.rate_bps.get(k).map(|r| *r as f64);
        let samples = || (w.first..=w.last).map(of).collect::<Option<Vec<f64>>>();
        let value = match made {
            Function::Mean => w.mean(&run.series.time_s, of),
            made => samples().and_then(|s| made.of(&s)),
        };
        values.push(value.ok_or_else(|| unsampled(m))?);
    }
    let all = match made {
        Function::Min | Function::Max => *made,
        _ => Function::Mean,
    };
    all.of(&values).ok_or_else(|| Unmeasured::Undefined(format!("`{m}`: there is no such flow")))
}

/// The longest time in `w` between samples that show the same highest byte acknowledged.
fn stall(times: &[f64], samples: &[FlowSample], w: Window) -> Result<f64, Unmeasured> {
    let (mut longest, mut since) = (0.0_f64, w.from);
    let mut before = None;
    for (t, s) in times.iter().zip(samples).take(w.last + 1).skip(w.first) {
        if before != Some(s.snd_una_bytes) {
            (since, before) = (*t, Some(s.snd_una_bytes));
        }
        longest = longest.max(t - since);
    }
    Ok(longest)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_group_is_all_that_add_only_numbers_to_its_name() {
        let names = ["ftp1.1", "ftp1.2", "ftp2.1", "ftps", "ftp2.1.sta", "down.1"];
        assert_eq!(super::named("ftp", &names), [0, 1, 2]);
        assert_eq!(super::named("ftp1", &names), [0, 1]);
        assert_eq!(super::named("ftp2.1", &names), [2]);
        assert_eq!(super::named("down", &names), [5]);
    }
}
