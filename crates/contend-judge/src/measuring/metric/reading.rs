//! Reads metrics from a run: selects members and samples; helpers that several entries share.

use super::certainty::resolution_s;
use super::entry::{Asked, Read, Subject};
use super::{Aspect, COUNT, Metric, Scope, Unmeasured, Values};
use contend_core::Refusal;
use contend_experiment::names::remedy;
use contend_experiment::reading::expression::Number;
use contend_experiment::results::{Air, Columns, Flow, FlowSample, FlowSeries, Queue, QueueSample, Run};
use contend_sim::stats::Durations;
use std::cell::Cell;

/// Two instants closer than this (half a microsecond) are equal.
const SAME_INSTANT: f64 = 5e-7;

/// The value of `m` in `run`.
pub(super) fn value(m: &Metric, run: &Run) -> Result<Values, Unmeasured> {
    let read = match m.entry.read {
        Read::Own(read) => return read(m, run),
        Read::Members(read) => read,
    };
    if m.entry.subject.needs_cell && run.air.is_none() {
        return Err(no_cell(m));
    }
    let members = selected(m, run)?;
    let of = |members: &[usize]| {
        let windowed = Cell::new(false);
        let value = read(&Asked { metric: m, run, members, windowed: &windowed })?;
        if m.window.is_some() && !windowed.get() {
            return Err(Unmeasured::wrong(format!("`{m}`: the metric is read from the whole run, not from a window")));
        }
        Ok(value)
    };
    match m.scope {
        Scope::Each(_) => members.iter().map(|i| of(&[*i])).collect::<Result<_, _>>().map(Values::Many),
        _ => of(&members).map(Values::One),
    }
}

/// The names of the members of `m` in `run`; empty when `m` is one number.
pub(super) fn members(m: &Metric, run: &Run) -> Result<Vec<String>, Unmeasured> {
    let Scope::Each(_) = m.scope else { return Ok(vec![]) };
    if m.entry.subject.needs_cell && run.air.is_none() {
        return Err(no_cell(m));
    }
    let names = (m.entry.subject.names)(run);
    Ok(selected(m, run)?.into_iter().filter_map(|i| Some((*names.get(i)?).to_owned())).collect())
}

/// How many members `m` has as a list in runs with the members of `names`; `None` when it is one number.
///
/// # Errors
/// When no such run has what `m` names, or when only the run tells.
pub(super) fn selection(m: &Metric, names: &Run) -> Result<Option<usize>, Unmeasured> {
    if let Read::Own(_) = m.entry.read {
        return Err(Unmeasured::Undefined(format!("`{m}` reads the run itself")));
    }
    if m.entry.subject.needs_cell && names.air.is_none() {
        return Err(no_cell(m));
    }
    let n = selected(m, names)?.len();
    Ok(matches!(m.scope, Scope::Each(_)).then_some(n))
}

/// The members that `m` selects, as indices into the names of its subject.
fn selected(m: &Metric, run: &Run) -> Result<Vec<usize>, Unmeasured> {
    let subject = m.entry.subject;
    match &m.scope {
        Scope::All => Ok((0..(subject.names)(run).len()).collect()),
        Scope::Together(name) | Scope::Each(name) => subject.select(m, name, run),
    }
}

impl Subject {
    /// The members that `name` selects; a group may be empty.
    pub(super) fn select(&self, m: &Metric, name: &str, run: &Run) -> Result<Vec<usize>, Unmeasured> {
        let names = (self.names)(run);
        let list = match name {
            "all" | "total" => (0..names.len()).collect(),
            _ if self.groups.contains(&name) => (self.group)(name, run),
            _ => named(name, &names),
        };
        if let (true, Some(own)) = (list.is_empty(), own_stations(name, run, &names)) {
            return own.map_err(|e| Unmeasured::wrong(e.of(format_args!("`{m}`"))));
        }
        if list.is_empty() && !self.groups.contains(&name) {
            let help = remedy(name, names.into_iter().chain(self.groups.iter().copied()));
            return Err(Unmeasured::wrong(Refusal::new(format!("`{m}`: there is no {} `{name}`", self.noun), help)));
        }
        Ok(list)
    }
}

/// The indices of the names equal to `name`; if there are none, of the names that add only numbers to it: `down.1`,
/// `down.2`, ..., `sta1`, `sta2`, ..., or `ftp1.1`, `ftp2.1`, ...
fn named(name: &str, names: &[&str]) -> Vec<usize> {
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

/// The indices of the own stations of the flows that `name` selects, `down.1.sta` of `down.1`; `name` is a direction or
/// the name of a flow or of a group. An error if a flow has none. `None` if `name` selects no flow, or if `names`
/// are not those of stations.
fn own_stations(name: &str, run: &Run, names: &[&str]) -> Option<Result<Vec<usize>, Refusal>> {
    const OWN: &str = ".sta";
    let flows: Vec<&str> = run.flows.iter().map(|f| f.name.as_str()).collect();
    let of_name = named(name, &flows);
    let is_chosen = |(i, f): &(usize, &Flow)| *f.direction == *name || of_name.contains(i);
    let chosen: Vec<&str> = run.flows.iter().enumerate().filter(is_chosen).map(|(_, f)| f.name.as_str()).collect();
    if chosen.is_empty() || !names.iter().any(|n| n.ends_with(OWN)) {
        return None;
    }
    let station = |flow: &str| {
        let own = names.iter().position(|n| n.strip_suffix(OWN) == Some(flow));
        own.ok_or_else(|| {
            let help = remedy(name, names.iter().copied());
            Refusal::new(format!("the flow {flow} has no station of its own"), format!("name a station: {help}"))
        })
    };
    Some(chosen.into_iter().map(station).collect())
}

pub(super) fn no_cell(m: &Metric) -> Unmeasured {
    Unmeasured::Undefined(format!("`{m}` needs a cell, but this network has none"))
}

impl<'a> Asked<'a> {
    /// The names of all members.
    pub(super) fn names(&self) -> Vec<&'a str> {
        (self.metric.entry.subject.names)(self.run)
    }

    /// The error that the number does not exist, with the reason.
    pub(super) fn undefined(&self, why: impl std::fmt::Display) -> Unmeasured {
        Unmeasured::Undefined(format!("`{}`: {why}", self.metric))
    }

    /// The error that the metric needs a time series, but the run has none.
    pub(super) fn unsampled(&self) -> Unmeasured {
        unsampled(self.metric)
    }

    /// The air of the cell.
    pub(super) fn air(&self) -> Result<&'a Air, Unmeasured> {
        self.run.air.as_ref().ok_or_else(|| no_cell(self.metric))
    }

    /// The selected flows.
    pub(super) fn flows(&self) -> impl Iterator<Item = &'a Flow> + Clone {
        self.members.iter().filter_map(|i| self.run.flows.get(*i))
    }

    /// What only the senders of the selected flows know; an error if one of them is not simulated.
    pub(super) fn of_senders<T>(&self, value: fn(&Flow) -> Option<T>) -> Result<Vec<T>, Unmeasured> {
        let known = |f: &'a Flow| {
            value(f).ok_or_else(|| self.undefined(format!("{} has a real sender, which does not tell it", f.name)))
        };
        self.flows().map(known).collect()
    }

    /// The selected queues.
    pub(super) fn queues(&self) -> impl Iterator<Item = &'a Queue> + Clone {
        self.members.iter().filter_map(|i| self.run.queues.get(*i))
    }

    /// The samples in the metric's time window, if it has one.
    pub(super) fn window(&self) -> Result<Option<SampleRange>, Unmeasured> {
        self.windowed.set(true);
        window(self.metric, self.run)
    }

    /// The samples in the metric's time window, or else in the measured interval.
    pub(super) fn series(&self) -> Result<SampleRange, Unmeasured> {
        if let Some(range) = self.window()? {
            return Ok(range);
        }
        let times = &self.run.detail.series.time_s;
        let first = times.partition_point(|t| *t < self.run.warmup_s - SAME_INSTANT);
        match (times.get(first), times.last()) {
            (Some(from), Some(to)) if to > from => {
                Ok(SampleRange { first, last: times.len() - 1, from: *from, to: *to })
            }
            _ => Err(self.unsampled()),
        }
    }

    /// The series of a flow.
    pub(super) fn samples(&self, flow: usize) -> Result<&'a FlowSeries, Unmeasured> {
        self.run.detail.series.flows.get(flow).ok_or_else(|| {
            Unmeasured::wrong(Refusal::new(
                "there is no time series of this run",
                "set `sample`, for example sample = \"100ms\"",
            ))
        })
    }

    /// The increase of a counter of each selected flow.
    pub(super) fn grown(
        &self,
        range: SampleRange,
        of: fn(&FlowSample) -> u64,
    ) -> impl Iterator<Item = Result<f64, Unmeasured>> {
        self.members.iter().map(move |i| Ok(range.grown(self.run.detail.series.flows.get(*i), of)? as f64))
    }

    /// Bits per second of the selected flows together: the sum of their rates over the run, or from the increase of a
    /// byte counter in the window.
    pub(super) fn rate(&self, whole: fn(&Flow) -> f64, of: fn(&FlowSample) -> u64) -> Result<f64, Unmeasured> {
        match self.window()? {
            Some(range) => self.grown(range, of).map(|bytes| Ok(bytes? * 8.0 / range.length())).sum(),
            None => Ok(self.flows().map(whole).sum()),
        }
    }

    /// The sum of a counter of the selected flows over the window, or else over the measured interval: `whole` reads it
    /// of the run, `of` of a sample.
    pub(super) fn flow_count(&self, whole: fn(&Flow) -> u64, of: fn(&FlowSample) -> u64) -> Result<f64, Unmeasured> {
        match self.window()? {
            Some(range) => self.grown(range, of).sum(),
            None => Ok(self.flows().map(|f| whole(f) as f64).sum()),
        }
    }

    /// Mean, percentile, trimmed mean or sum in seconds of all samples of several histograms, or their number.
    pub(super) fn durations(&self, parts: impl Iterator<Item = &'a Durations>) -> Result<f64, Unmeasured> {
        let mut all = Durations::new();
        parts.for_each(|d| all.merge(d));
        let is_total = matches!(self.metric.aspect, Aspect::Word(_));
        if all.is_empty() && !is_total {
            return Err(self.undefined("there is no sample"));
        }
        Ok(match self.metric.aspect {
            Aspect::Word(COUNT) => all.len() as f64,
            Aspect::Word(_) => all.sum().as_secs_f64(),
            Aspect::Percentile(..) | Aspect::Trimmed(..) if !all.has_buckets() => {
                return Err(self.undefined("the distribution was not kept"));
            }
            Aspect::Percentile(p, shift) => {
                let value = all.quantile_ms(f64::from(p) / 100.0) / 1e3;
                value + shift * resolution_s(value)
            }
            Aspect::Trimmed(p, shift) => {
                let (mean, error) = all.trimmed_mean_ms(f64::from(p) / 100.0);
                (mean + shift * error) / 1e3
            }
            _ => all.mean_ms() / 1e3,
        })
    }

    /// The sum of a counter of the selected queues over the measured interval. It knows no window: see
    /// [`Asked::queue_count`].
    pub(super) fn queue_total(&self, f: fn(&Queue) -> u64) -> f64 {
        self.queues().map(f).sum::<u64>() as f64
    }

    /// The sum of a counter of the selected queues over the window, or else over the measured interval: `whole` reads
    /// it of the run, `of` of a sample.
    pub(super) fn queue_count(&self, whole: fn(&Queue) -> u64, of: fn(&QueueSample) -> u64) -> Result<f64, Unmeasured> {
        match self.window()? {
            Some(range) => {
                self.members.iter().map(|i| Ok(range.grown(self.run.detail.series.queues.get(*i), of)? as f64)).sum()
            }
            None => Ok(self.queue_total(whole)),
        }
    }
}

/// A range of samples in a series.
#[derive(Clone, Copy)]
pub(super) struct SampleRange {
    /// Index of the first sample.
    pub(super) first: usize,
    /// Index of the last sample.
    pub(super) last: usize,
    /// Time of the first sample in seconds.
    pub(super) from: f64,
    /// Time of the last sample in seconds.
    pub(super) to: f64,
}

impl SampleRange {
    /// Length in seconds.
    fn length(&self) -> f64 {
        self.to - self.from
    }

    /// The increase of a counter of `samples`.
    pub(super) fn grown<C: Columns>(&self, samples: Option<&C>, of: fn(&C::Sample) -> u64) -> Result<u64, Unmeasured> {
        match samples.map(|s| (s.get(self.first), s.get(self.last))) {
            Some((Some(a), Some(b))) => Ok(of(&b).saturating_sub(of(&a))),
            _ => Err(Unmeasured::wrong("the time series has fewer samples than instants")),
        }
    }

    /// Mean over time of a sampled value; each value holds until the next sample.
    pub(super) fn mean(&self, times: &[f64], value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        let mut sum = 0.0;
        for k in self.first..self.last {
            sum += value(k)? * (times.get(k + 1)? - times.get(k)?);
        }
        (self.length() > 0.0).then(|| sum / self.length())
    }
}

fn unsampled(m: &Metric) -> Unmeasured {
    Unmeasured::wrong(Refusal::new(
        format!("`{m}` needs the time series of the run"),
        "set `sample`, for example sample = \"100ms\"",
    ))
}

/// The index of the sample at `instant`.
fn sample_at(times: &[f64], instant: f64) -> Option<usize> {
    let near = times.partition_point(|t| *t < instant - SAME_INSTANT);
    times.get(near).filter(|t| **t <= instant + SAME_INSTANT).map(|_| near)
}

/// The time window of `m`.
pub(super) fn window(m: &Metric, run: &Run) -> Result<Option<SampleRange>, Unmeasured> {
    let Some((a, b)) = &m.window else { return Ok(None) };
    let find = |n: &Number| {
        sample_at(&run.detail.series.time_s, n.value).ok_or_else(|| {
            let reason = if n.value > run.sim_s + SAME_INSTANT {
                format!("the run ends at {}s", run.sim_s)
            } else {
                "there is no sample at that instant".to_owned()
            };
            Unmeasured::wrong(format!("`{m}` asks for {}, but {reason}", n.text))
        })
    };
    Ok(Some(SampleRange { first: find(a)?, last: find(b)?, from: a.value, to: b.value }))
}

/// The windows between whole seconds of the measured interval; empty unless all of these seconds were sampled.
pub(super) fn seconds(run: &Run) -> Vec<SampleRange> {
    windows(run, run.warmup_s).unwrap_or_default()
}

/// The windows between whole seconds after `from`; `None` unless all of these seconds were sampled.
fn windows(run: &Run, from: f64) -> Option<Vec<SampleRange>> {
    let times = &run.detail.series.time_s;
    let (from, to) = (libm::ceil(from - SAME_INSTANT).max(0.0), libm::floor(run.sim_s + SAME_INSTANT));
    let whole = |s: u64| {
        Some(SampleRange {
            first: sample_at(times, s as f64)?,
            last: sample_at(times, (s + 1) as f64)?,
            from: s as f64,
            to: (s + 1) as f64,
        })
    };
    (from as u64..to as u64).map(whole).collect()
}

/// Bytes that all flows together delivered in each second of the run, including the warm-up; `None` unless all seconds
/// were sampled.
pub(super) fn by_second(run: &Run) -> Option<Vec<f64>> {
    let total = |w: &SampleRange| {
        (0..run.flows.len())
            .map(|i| Some(w.grown(run.detail.series.flows.get(i), |s| s.delivered_bytes).ok()? as f64))
            .sum::<Option<f64>>()
    };
    windows(run, 0.0)?.iter().map(total).collect()
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
