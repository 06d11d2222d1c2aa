//! What a claim must say before anything runs.

use super::{meant, plain, same_value, sequence};
use crate::experiment::results::PointKey;
use crate::measuring::metric::{Condition, Expr, Period, Sampling, metrics};
use crate::reading::expression::{Dimension, ParseError, Quantity};
use crate::reading::file::{About, Along, Claim, Expect, Experiment, FileError, Site, Source, Verdict, misread};
use contend_core::Time;
use serde_json::Value;
use std::ops::Range;

/// Why a claim cannot be judged at the points there are.
pub(super) struct Inapplicable {
    pub(super) message: String,
    pub(super) help: String,
}

/// Checks what the file module leaves as text, and says what has to be sampled in every run.
///
/// Claims whose points, or windows, the settings of the command line took away are left out; [`super::judge`] says so.
///
/// # Errors
/// When an expression of a claim, a figure or the search cannot be read or drawn, a bound has another unit than its
/// metric, a claim is about no point, or speaks of a time that the run does not reach or of a series that the file does
/// not ask for.
pub fn check(e: &Experiment) -> Result<Sampling, FileError> {
    let mut all = Sampling::default();
    let changed = !e.source.sets.is_empty();
    for claim in &e.claims {
        let metric = sound(&e.source, claim)?;
        suits(e, &claim.metric_site, &claim.metric, [&metric])?;
        let sampling = metric.sampling();
        if let Err(no) = applies(&e.points, claim).and_then(|()| reaches(e, claim, &sampling)) {
            if changed {
                continue;
            }
            return Err(FileError::new(
                &e.source,
                &claim.metric_site,
                format!("claim {}: {}", claim.id, no.message),
                no.help,
            ));
        }
        all.add(sampling);
    }
    for figure in &e.figures {
        for (y, site) in figure.y.iter().zip(&figure.y_sites) {
            if let Ok(shown) = Expr::parse_any(y) {
                suits(e, site, y, [&shown])?;
            }
            all.add(drawn(&figure.x, y).map_err(|err| misread(&e.source, site, y, &err))?);
        }
    }
    if let Some(search) = &e.search {
        let condition = Condition::parse(&search.until)
            .map_err(|err| misread(&e.source, &search.until_site, &search.until, &err))?;
        suits(e, &search.until_site, &search.until, [&condition.left, &condition.right])?;
        all.add(condition.sampling());
    }
    Ok(all)
}

/// Refuses the metrics of a network in a file about something else, and closed forms without their arguments.
fn suits<'a>(
    e: &Experiment,
    site: &Site,
    text: &str,
    all: impl IntoIterator<Item = &'a Expr>,
) -> Result<(), FileError> {
    let given = e.model_arguments();
    for expr in all {
        let wrong = |name: &str, message, help| {
            Err(misread(&e.source, site, text, &ParseError { message, help, span: word(text, name) }))
        };
        let about = e.about();
        if let Some(m) = expr.measured().filter(|_| about == About::Model) {
            return wrong(
                m.entry.name,
                format!("`{m}` is measured in a network, and the file is about a [model]"),
                "name a model: `jersey.gain`".into(),
            );
        }
        if let Some(m) =
            expr.unlike(|m| m.window.is_none() && m.entry.in_contention).filter(|_| about == About::Contention)
        {
            let list: Vec<&str> = metrics().filter(|m| m.in_contention).map(|m| m.name).collect();
            return wrong(
                m.entry.name,
                format!("`{m}` is measured in a network, and the file is about [contention]"),
                format!("there are {}", list.join(", ")),
            );
        }
        if let Some((model, p)) = expr.lacking(|name| given.contains(name)) {
            let help = format!("write `{} = ...` between its parentheses, or in the file's [model]", p.name);
            return wrong(model.name, format!("`{}` needs {}", model.name, p.name), help);
        }
    }
    Ok(())
}

/// The place of the word `name` in an expression; all of the expression if it does not occur.
fn word(text: &str, name: &str) -> Range<usize> {
    let begins = |at: &usize| {
        let before = text.get(..*at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || "._".contains(c))
    };
    let start = text.match_indices(name).map(|(at, _)| at).find(begins);
    start.map_or(0..text.len(), |at| at..at + name.len())
}

/// What has to be sampled so that a figure can show `y` along `x`.
fn drawn(x: &Along, y: &str) -> Result<Sampling, ParseError> {
    match x {
        Along::Key(_) => Ok(Expr::parse(y)?.sampling()),
        Along::Own(name, values) => {
            let e = Expr::parse(y)?;
            let mut all = Sampling::default();
            for value in values {
                let at = e.with_point(name, value);
                if at == e {
                    let help = format!("write point(\"{name}\") where the value belongs");
                    return Err(ParseError {
                        message: format!("`{y}` is the same for every value of `{name}`"),
                        help,
                        span: 0..y.len(),
                    });
                }
                // What a number cannot be, it cannot be in its place either.
                all.add(Expr::parse(&at.to_string()).map_err(|err| ParseError { span: 0..y.len(), ..err })?.sampling());
            }
            Ok(all)
        }
        Along::Flow => {
            let e = Expr::parse_any(y)?;
            if !e.each_flow().is_list() {
                let help =
                    "write a metric of flows without a selection, `goodput`, or with a list, `goodput[up]`".into();
                return Err(ParseError {
                    message: format!("`{y}` is one number, not one for each flow"),
                    help,
                    span: 0..y.len(),
                });
            }
            Ok(e.sampling())
        }
        Along::Time => {
            let e = Expr::parse_any(y)?;
            if let Some(m) = e.timeless() {
                let courses: Vec<&str> = metrics().filter(|m| m.period != Period::Run).map(|m| m.name).collect();
                return Err(ParseError {
                    message: format!("`{m}` is one number for the whole run and has no course over time"),
                    help: format!("over time there are {}; or put a swept key on `x`", courses.join(", ")),
                    span: word(y, m.entry.name),
                });
            }
            // A course is drawn of the runs whose series the results folder keeps: a figure alone asks for no more.
            Ok(Sampling { series: false, ..e.sampling() })
        }
    }
}

/// Whether the run is long enough and sampled finely enough for a claim.
fn reaches(e: &Experiment, claim: &Claim, sampling: &Sampling) -> Result<(), Inapplicable> {
    if sampling.series && e.sample.is_none() {
        return Err(Inapplicable {
            message: format!("`{}` needs the time series of the runs", claim.metric),
            help: "write sample = \"10ms\", or the step you need, at the top of the file".into(),
        });
    }
    if sampling.instants.last().is_some_and(|t| *t > Time::ZERO.saturating_add(e.duration)) {
        return Err(Inapplicable {
            message: format!("the time window ends after the run, which lasts {}", e.duration),
            help: "end the window earlier, or make `duration` longer".into(),
        });
    }
    Ok(())
}

/// The metric of `claim`, when all that it says of itself fits together.
pub(super) fn sound(source: &Source, claim: &Claim) -> Result<Expr, FileError> {
    let metric = Expr::parse(&claim.metric).map_err(|e| misread(source, &claim.metric_site, &claim.metric, &e))?;
    let wrong = |message: String, help: String| {
        FileError::new(source, &claim.metric_site, format!("claim {}: {message}", claim.id), help)
    };
    if claim.verdict != Verdict::Reproduced && claim.reason.trim().is_empty() {
        return Err(wrong(
            format!("the recorded verdict is \"{}\" without a reason", claim.verdict.name()),
            "write reason = \"...\": it is printed beside the verdict".into(),
        ));
    }
    if claim.verdict == Verdict::Contradiction && claim.reading.len() < 2 {
        return Err(wrong(
            "a contradiction is between readings, and fewer than two are given".into(),
            "write reading = { printed = { ... }, repaired = { ... } }".into(),
        ));
    }
    let bounds = match &claim.expect {
        Expect::Increasing { .. } | Expect::Decreasing { .. } | Expect::Order { .. } => vec![],
        Expect::Between(a, b) => vec![*a, *b],
        Expect::AtLeast(a) | Expect::AtMost(a) | Expect::Near { value: a, relative: true, .. } => vec![*a],
        Expect::Near { value, within, .. } => vec![*value, *within],
    };
    if let Some((message, help)) = misfit(claim, &metric, &bounds) {
        return Err(wrong(message, help));
    }
    Ok(metric)
}

/// Whether the sweep has the points that `claim` is about.
pub(super) fn applies(points: &[PointKey], claim: &Claim) -> Result<(), Inapplicable> {
    let no = |message: String, help: String| Err(Inapplicable { message, help });
    let points = meant(claim, points);
    if points.is_empty() {
        return no("`when` names no point of the sweep".into(), "use values that the sweep gives these keys".into());
    }
    let (Expect::Increasing { along } | Expect::Decreasing { along } | Expect::Order { along, .. }) = &claim.expect
    else {
        return Ok(());
    };
    let groups = sequence::groups(along, &points);
    if groups.iter().any(|g| g.len() < 2) || groups.is_empty() {
        return no(
            format!("along `{along}` there are no two points to compare"),
            format!("sweep `{along}`, and let `when` leave two of its values"),
        );
    }
    if let Expect::Order { values, .. } = &claim.expect {
        let missing = |v: &&Value| groups.iter().any(|g| !g.iter().any(|(w, _)| same_value(v, w)));
        if let Some(v) = values.iter().find(missing) {
            return no(
                format!("`order` names {}, which `{along}` does not take at every point meant", plain(v)),
                "use values of the sweep".into(),
            );
        }
    }
    Ok(())
}

/// What is wrong with a bound in another unit than the metric's, and the remedy. Zero needs no unit; packets are plain
/// counts.
fn misfit(claim: &Claim, metric: &Expr, bounds: &[Quantity]) -> Option<(String, String)> {
    let count = |d| if d == Dimension::Packets { Dimension::Number } else { d };
    let unit = if claim.over.is_some() { Dimension::Number } else { metric.dimension()? };
    let q = bounds.iter().find(|q| q.value != 0.0 && count(q.unit) != count(unit))?;
    Some(match count(unit) {
        Dimension::Number => {
            (format!("the metric is a plain number, and {q} is not"), format!("write {} without a unit", q.value))
        }
        _ => (
            format!("the metric is {}, and {q} is {}", unit.noun(), q.unit.noun()),
            format!("write the bound as a text with its unit, for example \"{}{}\"", q.value, unit.base()),
        ),
    })
}
