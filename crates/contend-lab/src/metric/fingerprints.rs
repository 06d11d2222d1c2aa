//! Metrics of the times between a station's frames: worked out when a run ends, from its frames, which then are let go.
//!
//! They are what `contend analyse fingerprint` says of the capture of the same run, with the cell's own slot, CWmin and
//! exchange; the numbers stand among the run's named numbers, as `interarrival.first[sta1]`.

use super::eval::Unmeasured;
use super::{Aspect, Metric};
use crate::analyse::exchange::Exchange;
use crate::analyse::fingerprint::{Fingerprint, First, Settings, Verdict, fingerprint};
use crate::analyse::{Capture, address};
use crate::results::Run;
use contend_core::Time;
use contend_sim::wifi::phy::Phy;

/// How often a card that conforms is refused by chance.
const ALPHA: f64 = 0.001;

/// What `interarrival` is asked for; plain, it is the mean.
pub(super) const TIMES: [&str; 3] = ["mean", "first", "last"];
/// What `fingerprint` is asked for.
pub(super) const NUMBERS: [&str; 6] = ["conformant", "slots", "peaks", "even", "lags", "pairs"];

/// Puts the numbers of every station of `run` that sent enough among its named numbers.
pub(crate) fn note(run: &mut Run, phy: &Phy) {
    let capture = Capture::of_run(run, Time::ZERO + contend_core::Span::from_secs_f64(run.warmup_s));
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

/// In seconds.
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

/// The value of `m` for the station that `chosen` of `names` is.
pub(super) fn of_station(m: &Metric, run: &Run, names: &[&str], chosen: &[usize]) -> Result<f64, Unmeasured> {
    let [only] = chosen else {
        return Err(Unmeasured::Wrong(format!("`{m}` is of one station; name it: `{}[sta1]`", m.word.name)));
    };
    let what = if let Aspect::Kind(what) = m.aspect { what } else { "mean" };
    let name = names.get(*only).copied().unwrap_or_default();
    let found = run.metrics.get(&format!("{}.{what}[{name}]", m.word.name));
    found.copied().ok_or_else(|| {
        Unmeasured::Undefined(format!("`{m}`: too few frames of `{name}` with nobody else's between them"))
    })
}
