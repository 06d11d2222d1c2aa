//! Pictures of one run, which need it again: the frames on the air, and the map. The command and Python draw them.

use crate::reading::expression::quantity;
use crate::reading::file::{Experiment, Overlay};
use contend_core::{Refusal, Time};
use contend_experiment::results::Outcome;
use contend_experiment::size::CaptureWindow;
use contend_report::output::{Chart, LEAD, NoAir, air_chart};

/// Reads an interval of time.
///
/// # Errors
/// When it is none, or empty.
pub fn interval(text: &str) -> Result<(Time, Time), Refusal> {
    let remedy = "write an interval like 10s..10.5s";
    let (a, b) = text.split_once("..").ok_or(remedy)?;
    let at = |t: &str| quantity::span(t).map(|s| Time::ZERO + s).map_err(|e| Refusal::new(e.what, remedy));
    let (from, to) = (at(a)?, at(b)?);
    if from < to { Ok((from, to)) } else { Err(Refusal::new("the interval is empty", remedy)) }
}

/// Leaves the first point with its first seed, and nothing that is judged of several runs.
pub fn first_run_only(e: &mut Experiment) {
    e.points.truncate(1);
    e.seeds.truncate(1);
    (e.until, e.decide) = (None, None);
    e.claims.clear();
    e.checks.clear();
}

/// The frames that a run must keep for the picture of the air from `from` to `to`.
///
/// # Errors
/// When the run of `e` ends before.
pub fn air_frames(e: &Experiment, from: Time, to: Time) -> Result<CaptureWindow, Refusal> {
    if from >= Time::ZERO + e.duration {
        let end = e.duration.as_secs_f64();
        let what = format!("it begins at {} s, but the run ends at {end} s", from.as_secs_f64());
        return Err(Refusal::new(what, "give an earlier interval"));
    }
    Ok(CaptureWindow::new(Time::ZERO + from.since(Time::ZERO).saturating_sub(LEAD), to))
}

/// The frames on the air from `from` to `to` in the first run, which kept those of [`air_frames`].
///
/// # Errors
/// When there is no cell, no frame, or too many.
pub fn air(e: &Experiment, outcome: &Outcome, from: Time, to: Time) -> Result<Chart, Refusal> {
    let run = outcome.runs.first();
    let found = run.and_then(|run| Some((run, e.scenario(&run.point, &Overlay::default()).ok()?.scenario.cell?)));
    let Some((run, cell)) = found else {
        return Err(Refusal::new("there is no cell, so that nothing is on the air", "draw another figure"));
    };
    air_chart(run, &cell, from, to).map_err(|err| {
        let remedy = match err {
            NoAir::Empty => "give another interval, in which stations send",
            NoAir::Frames(_) | NoAir::Lanes(_) => "give a shorter interval, like 2s..2.002s",
        };
        Refusal::new(err.to_string(), remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_two_times_in_order() {
        assert!(interval("1s..1500ms").is_ok());
        for bad in ["1s", "1..2", "2s..1s", "1s..1s", "..", "a..b", "1s..2s..3s", "-1s..1s", "1s..1e30s"] {
            assert!(interval(bad).is_err_and(|e| e.to_string().contains("10s..10.5s")), "{bad}");
        }
    }
}
