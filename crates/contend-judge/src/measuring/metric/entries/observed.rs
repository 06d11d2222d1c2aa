//! Metrics of the stations with observers of the air: what the observers report, and what really happened there.

use super::estimate::together;
use crate::measuring::metric::entry::{Asked, Aspects, MetricEntry, Period, Selection, Subject};
use crate::measuring::metric::{Aspect, Unmeasured};
use contend_core::Refusal;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::{ObservedStation, ObserverSeries};

/// Stations and access points of a field.
static STATIONS: Subject = Subject {
    noun: "station",
    uses: &[("NAME[STATION]", "a station")],
    member: "a",
    groups: &[],
    names: |run| run.stations.iter().map(String::as_str).collect(),
    group: |_, _| vec![],
    needs_cell: true,
};

pub(super) const METRICS: &[MetricEntry] = &[
    of(
        "observed.capacity",
        Dimension::Rate,
        "capacity of the link that an observer of the station reports, by the observer's name: \
            `observed.capacity.rt_winf[a]`, mean over time; with `.min`, `.max` or `.std`: of its samples",
        |a| observed(a, |o| &o.capacity_bps),
    )
    .aspects(Aspects::NamedSeries("an observer"))
    .example("observed.capacity.rt_winf[a]` or `observed.capacity.rt_winf.std[a][14s..16s]"),
    of(
        "observed.available",
        Dimension::Rate,
        "available bandwidth of the link that an observer of the station reports, like `observed.capacity`",
        |a| observed(a, |o| &o.available_bps),
    )
    .aspects(Aspects::NamedSeries("an observer"))
    .example("observed.available.rt_winf[a]"),
    of(
        "link.capacity",
        Dimension::Rate,
        "capacity that the station really reached: bits of its own acknowledged IP packets, divided by the time of its \
            attempts with inter-frame space and backoff; needs an observer there",
        |a| {
            let (bytes, ns) = (grown(a, |s| &s.acked_bytes)?, grown(a, |s| &s.contended_ns)?);
            if ns == 0.0 { Err(a.undefined("nothing was sent")) } else { Ok(8e9 * bytes / ns) }
        },
    )
    .example("link.capacity[a]"),
    of(
        "link.idle",
        Dimension::Number,
        "share of time in which the station neither sent nor sensed a frame; needs an observer there",
        |a| {
            let range = a.series()?;
            Ok(grown(a, |s| &s.idle_ns)? / 1e9 / (range.to - range.from) / a.members.len().max(1) as f64)
        },
    )
    .example("link.idle[a]")
    .share(),
];

const fn of(
    name: &'static str,
    unit: Dimension,
    doc: &'static str,
    read: fn(&Asked<'_>) -> Result<f64, Unmeasured>,
) -> MetricEntry {
    MetricEntry::new(name, unit, &STATIONS, doc, read).over(Period::Series).selected(Selection::Needed).level()
}

/// The series of station number `i`.
fn station<'a>(a: &Asked<'a>, i: usize) -> Result<&'a ObservedStation, Unmeasured> {
    a.run.detail.series.observed.iter().find(|s| s.station == i).ok_or_else(|| {
        let name = a.run.stations.get(i).map_or("", String::as_str);
        Unmeasured::wrong(Refusal::new(
            format!("`{}`: station `{name}` has no observer", a.metric),
            "write observe = [\"rt_winf\"] in its table or in [field]",
        ))
    })
}

/// The increase of a counter of the selected stations.
fn grown(a: &Asked<'_>, of: fn(&ObservedStation) -> &Vec<u64>) -> Result<f64, Unmeasured> {
    let range = a.series()?;
    let one = |&i: &usize| {
        let samples = of(station(a, i)?);
        let at = |k: usize| samples.get(k).copied().ok_or_else(|| a.unsampled());
        Ok(at(range.last)?.saturating_sub(at(range.first)?) as f64)
    };
    a.members.iter().map(one).sum()
}

/// What an observer of the selected stations reports. For several stations it is the mean; with `.min` or `.max` it is
/// the smallest or largest.
fn observed(a: &Asked<'_>, of: fn(&ObserverSeries) -> &Vec<Option<u64>>) -> Result<f64, Unmeasured> {
    let Aspect::Named(name, made) = &a.metric.aspect else {
        return Err(Unmeasured::wrong(format!("`{}` needs the name of an observer", a.metric)));
    };
    let range = a.series()?;
    let mut values = vec![];
    for &i in a.members {
        let at = station(a, i)?;
        let Some(o) = at.observers.iter().find(|o| o.name == *name) else {
            let known: Vec<&str> = at.observers.iter().map(|o| o.name.as_str()).collect();
            let known = known.join(", ");
            return Err(Unmeasured::wrong(Refusal::new(
                format!("`{}`: the station has no observer `{name}`", a.metric),
                format!("its observers: {known}"),
            )));
        };
        let of = |k: usize| of(o).get(k).copied().flatten().map(|rate| rate as f64);
        let samples = || (range.first..=range.last).map(of).collect::<Option<Vec<f64>>>();
        let value = match made {
            None => range.mean(&a.run.detail.series.time_s, of),
            Some(made) => samples().and_then(|s| (made.of)(&s)),
        };
        values.push(value.ok_or_else(|| a.undefined("the observer had no estimate at some instants"))?);
    }
    together(*made, &values).ok_or_else(|| a.undefined("there is no such station"))
}
