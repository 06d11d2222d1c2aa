//! Metrics of the times between a station's frames. They are computed from the frames when a run ends; then the frames
//! are dropped.
//!
//! The values equal those of `contend analyse fingerprint` for a capture of the same run, with the cell's slot, CWmin
//! and exchange. They are stored in [`Run::metrics`], for example as `interarrival.first[sta1]`.

use crate::measuring::analyse::exchange::Exchange;
use crate::measuring::analyse::fingerprint::{Fingerprint, First, Settings, Verdict, fingerprint};
use crate::measuring::analyse::{CapturedFrames, address};
use crate::measuring::metric::entry::{Asked, Aspects, MetricEntry, Selection, Subject};
use crate::measuring::metric::{Aspect, Unmeasured};
use contend_core::Time;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::Run;
use contend_sim::wifi::phy::Phy;

/// Probability that a conforming station is refused.
const ALPHA: f64 = 0.001;

/// Stations of the cell by number; `ap` is one of them.
static STATIONS: Subject = Subject {
    noun: "station",
    uses: &[("NAME[ap]", "the access point"), ("NAME[STATION]", "a station")],
    member: "sta1",
    groups: &[],
    names: |run| run.stations.iter().map(String::as_str).collect(),
    group: |_, _| vec![],
    needs_cell: true,
};

pub(super) const METRICS: &[MetricEntry] = &[
    MetricEntry::new(
        "interarrival",
        Dimension::Time,
        &STATIONS,
        "time from a station's data frame to its next data frame, if no other station sends between them and neither \
            is a retry: the mean; `.first` and `.last`: the first and the last peak of the histogram, \
            `interarrival.first[sta1]`",
        of_station,
    )
    .aspects(Aspects::Optional(&["mean", "first", "last"]))
    .example("interarrival.first[sta1]")
    .selected(Selection::Each)
    .needs(|_, s| s.frames = true),
    MetricEntry::new(
        "fingerprint",
        Dimension::Number,
        &STATIONS,
        "properties of a station's backoff, from the histogram of `interarrival`: `.conformant` (1 or 0), `.slots` \
            (number of slots drawn), `.peaks`; p-values of the tests of uniformity (`.even`) and independence \
            (`.lags`, `.pairs`): `fingerprint.conformant[sta1]`",
        of_station,
    )
    .aspects(Aspects::Required(&["conformant", "slots", "peaks", "even", "lags", "pairs"]))
    .example("fingerprint.conformant[sta1]")
    .selected(Selection::Each)
    .needs(|_, s| s.frames = true),
];

/// Adds the values of every station of `run` with enough frames to the run's metrics.
pub(crate) fn note(run: &mut Run, phy: &Phy) {
    let capture = CapturedFrames::of_run(run, Time::ZERO + contend_core::Span::from_secs_f64(run.warmup_s));
    let exchange = Exchange { phy: phy.clone(), rate: None, bytes: None };
    let s =
        Settings { slot_ns: phy.slot.as_nanos(), slots: phy.cw_min + 1, first: First::Found, alpha: ALPHA, exchange };
    for (id, name) in (0..).zip(&run.stations) {
        let f = fingerprint(&capture, address(id), &s);
        let mut put = |key: &str, value: Option<f64>| {
            run.metrics.extend(value.filter(|v| v.is_finite()).map(|v| (format!("{key}[{name}]"), v)))
        };
        if f.used > 0 {
            times(&f).into_iter().for_each(|(what, value)| put(&format!("interarrival.{what}"), value));
            numbers(&f).into_iter().for_each(|(what, value)| put(&format!("fingerprint.{what}"), value));
        }
    }
}

/// The times in seconds.
fn times(f: &Fingerprint) -> [(&'static str, Option<f64>); 3] {
    let at = |peak: Option<&(f64, u64)>| peak.map(|p| p.0 / 1e9);
    [("mean", Some(f.mean_gap_ns() / 1e9)), ("first", at(f.peaks.first())), ("last", at(f.peaks.last()))]
}

fn numbers(f: &Fingerprint) -> [(&'static str, Option<f64>); 6] {
    let drawn = f.counts.len() - f.missing.len();
    let judged = f.verdict != Verdict::TooFewFrames;
    let [even, lags, pairs] = f.tests().map(|t| t.1.map(|t| t.p));
    [
        ("conformant", judged.then(|| f64::from(u8::from(f.verdict == Verdict::Conformant)))),
        ("slots", judged.then_some(drawn as f64)),
        ("peaks", Some(f.peaks.len() as f64)),
        ("even", even),
        ("lags", lags),
        ("pairs", pairs),
    ]
}

/// The value that [`note`] stored for the selected station.
fn of_station(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let entry = a.metric.entry.name;
    let [only] = a.members else {
        return Err(Unmeasured::wrong(format!("`{}` needs one station: `{entry}[sta1]`", a.metric)));
    };
    let what = if let Aspect::Word(what) = a.metric.aspect { what } else { "mean" };
    let name = a.names().get(*only).copied().unwrap_or_default();
    let found = a.run.metrics.get(&format!("{entry}.{what}[{name}]")).copied();
    found.ok_or_else(|| {
        a.undefined(format!("`{name}` sent too few frames without another station's frame between them"))
    })
}
