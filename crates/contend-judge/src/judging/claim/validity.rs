//! Validates claims, checks, figures, the search and the precision before anything runs.

use super::{meant, same_value, sequence};
use crate::measuring::metric::{Condition, Expr, Period, Sampling, metrics};
use contend_core::{Refusal, Time};
use contend_experiment::names::suggest;
use contend_experiment::reading::expression::{Dimension, Operator, ParseError, Quantity};
use contend_experiment::reading::file::{
    About, Along, Claim, Expect, Experiment, FileError, Requirement, Shown, Source, Spot, Verdict, misread,
};
use contend_experiment::results::{PointKey, SweptValue};
use std::ops::Range;

/// Why a requirement cannot be judged at the points of the sweep.
pub(super) struct Inapplicable {
    pub(super) message: String,
    pub(super) help: String,
}

impl Inapplicable {
    /// The error in the file.
    pub(super) fn of(self, source: &Source, requirement: &Requirement, owner: &str) -> FileError {
        FileError::new(source, &requirement.metric_site, format!("{owner}: {}", self.message), self.help)
    }
}

/// Checks the expressions that the file module keeps as text. Returns what every run must sample.
///
/// A claim or check is skipped if settings of the command line removed its points or its time window; its judge adds a
/// note.
///
/// # Errors
/// When an expression of `show`, a claim, a check, a figure or the search cannot be read or drawn; when a bound and its
/// metric have different units; when a claim or check has no point; when one needs a time after the end of the run, or
/// a series that the file does not sample.
pub fn validate(e: &Experiment) -> Result<Sampling, FileError> {
    let mut all = Sampling::default();
    let changed = !e.source.sets.is_empty();
    for claim in &e.claims {
        recorded(&e.source, claim)?;
    }
    let claimed = e.claims.iter().map(|c| (&c.requirement, format!("claim {}", c.id)));
    let checked = e.checks.iter().map(|c| (&c.requirement, format!("check {}", c.what)));
    for (required, owner) in claimed.chain(checked) {
        let metric = sound(&e.source, required, &owner)?;
        suits(e, &required.metric_site, &required.metric, [&metric])?;
        let sampling = metric.sampling();
        match applies(&e.points, required).and_then(|()| reaches(e, &required.metric, &sampling)) {
            Err(_) if changed => {}
            Err(no) => return Err(no.of(&e.source, required, &owner)),
            Ok(()) => all.add(sampling),
        }
    }
    for Shown { metric, site } in &e.show {
        let shown = Expr::of_show(metric).map_err(|err| misread(&e.source, site, metric, &err))?;
        suits(e, site, metric, [&shown])?;
        let sampling = shown.sampling();
        reaches(e, metric, &sampling).map_err(|no| FileError::new(&e.source, site, no.message, no.help))?;
        all.add(sampling);
    }
    if let Some(until) = &e.until {
        let metric = Expr::parse(&until.of).map_err(|err| misread(&e.source, &until.of_site, &until.of, &err))?;
        suits(e, &until.of_site, &until.of, [&metric])?;
        let sampling = metric.sampling();
        reaches(e, &until.of, &sampling)
            .map_err(|no| FileError::new(&e.source, &until.of_site, format!("`seeds.of`: {}", no.message), no.help))?;
        all.add(sampling);
    }
    for figure in &e.figures {
        for (y, site) in figure.y.iter().zip(&figure.y_sites) {
            if let Ok(shown) = Expr::parse_any(y) {
                suits(e, site, y, [&shown])?;
            }
            all.add(drawn(&figure.x, y).map_err(|err| misread(&e.source, site, y, &err))?);
        }
        if let Along::Metric(x) = &figure.x {
            let read = Expr::parse(x).map_err(|err| axis(e, &figure.x_site, x, &err))?;
            suits(e, &figure.x_site, x, [&read])?;
            all.add(read.sampling());
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

/// Refuses metrics of a network in a file about something else, and closed forms without their arguments.
fn suits<'a>(
    e: &Experiment,
    site: &Spot,
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
                format!("`{m}` is a metric of networks, but this file is about a [model]"),
                "name a model: `jersey.gain`".into(),
            );
        }
        if let Some(m) =
            expr.unlike(|m| m.window.is_none() && m.entry.in_contention).filter(|_| about == About::Contention)
        {
            let list: Vec<&str> = metrics().filter(|m| m.in_contention).map(|m| m.name).collect();
            return wrong(
                m.entry.name,
                format!("`{m}` is a metric of networks, but this file is about [contention]"),
                format!("use one of {}", list.join(", ")),
            );
        }
        if let Some((model, p)) = expr.lacking(|name| given.contains(name)) {
            let help = format!("write `{} = ...` between its parentheses, or in [model] of the file", p.name);
            return wrong(model.name, format!("`{}` needs {}", model.name, p.name), help);
        }
    }
    Ok(())
}

/// The range of the word `name` in an expression; the whole expression if `name` does not occur.
fn word(text: &str, name: &str) -> Range<usize> {
    let begins = |at: &usize| {
        let before = text.get(..*at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || "._".contains(c))
    };
    let start = text.match_indices(name).map(|(at, _)| at).find(begins);
    start.map_or(0..text.len(), |at| at..at + name.len())
}

/// The error of a figure whose `x` is neither a swept key nor a metric. If it looks like a name, names are suggested.
fn axis(e: &Experiment, site: &Spot, x: &str, err: &ParseError) -> FileError {
    if !x.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) {
        return misread(&e.source, site, x, err);
    }
    let keys = e.points.first().into_iter().flat_map(|p| p.keys().map(String::as_str));
    let known: Vec<&str> = keys.chain(["flow", "time"]).collect();
    let message = format!("`x` of the figure is neither a swept key nor a metric: `{x}`");
    FileError::new(&e.source, site, message, suggest(x, known) + ", or a metric")
}

/// What a run must sample so that a figure can show `y` along `x`.
fn drawn(x: &Along, y: &str) -> Result<Sampling, ParseError> {
    match x {
        Along::Key(_) | Along::Metric(_) => Ok(Expr::parse(y)?.sampling()),
        Along::Own(name, values) => {
            let e = Expr::parse(y)?;
            let mut all = Sampling::default();
            for value in values {
                let at = e.with_point(name, value);
                if at == e {
                    let help = format!("write point(\"{name}\") in place of the number");
                    return Err(ParseError {
                        message: format!("`{y}` is the same for every value of `{name}`"),
                        help,
                        span: 0..y.len(),
                    });
                }
                // Parse again: the substituted value may be illegal there.
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
                    message: format!("`{y}` is a single number; this figure needs one number for each flow"),
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
                    message: format!("`{m}` is one number for the whole run, not a function of time"),
                    help: format!("use one of {}, or put a swept key on `x`", courses.join(", ")),
                    span: word(y, m.entry.name),
                });
            }
            // The results folder keeps the series of a run anyway, so a figure alone asks for no more of them.
            Ok(Sampling { series: false, ..e.sampling() })
        }
    }
}

/// Checks that the run is long enough and sampled finely enough for `metric`.
fn reaches(e: &Experiment, metric: &str, sampling: &Sampling) -> Result<(), Inapplicable> {
    if sampling.series && e.sample.is_none() {
        return Err(Inapplicable {
            message: format!("`{metric}` needs the time series of the runs"),
            help: "write sample = \"10ms\" (or another step) at the top of the file".into(),
        });
    }
    if sampling.instants.last().is_some_and(|t| *t > Time::ZERO.saturating_add(e.duration)) {
        return Err(Inapplicable {
            message: format!("the time window ends after the end of the run at {}", e.duration),
            help: "end the window earlier, or make `duration` longer".into(),
        });
    }
    Ok(())
}

/// Checks that a claim gives what its recorded verdict needs.
pub(super) fn recorded(source: &Source, claim: &Claim) -> Result<(), FileError> {
    let wrong = |message: String, help: String| {
        FileError::new(source, &claim.requirement.metric_site, format!("claim {}: {message}", claim.id), help)
    };
    if let Some(verdict) = claim.verdicts().find(|v| *v != Verdict::Reproduced)
        && claim.reason.trim().is_empty()
    {
        return Err(wrong(
            format!("the recorded verdict is \"{}\" without a reason", verdict.name()),
            "write reason = \"...\": it is printed beside the verdict".into(),
        ));
    }
    if claim.verdicts().any(|v| v == Verdict::Tie) && !claim.requirement.may_tie() {
        return Err(wrong(
            "only a comparison with another point, or a value near a number, can be a tie".into(),
            "write the other side as over = { ... }, and expect = { at_least = 1 }".into(),
        ));
    }
    if claim.verdict == Verdict::Contradiction && claim.readings.len() < 2 {
        return Err(wrong(
            "a contradiction needs at least two readings".into(),
            "write reading = { printed = { ... }, repaired = { ... } }".into(),
        ));
    }
    Ok(())
}

/// Parses the metric of a requirement, and checks that its bounds have the metric's unit. `owner` is its claim or
/// check.
pub(super) fn sound(source: &Source, requirement: &Requirement, owner: &str) -> Result<Expr, FileError> {
    let Requirement { metric: text, metric_site: site, expect, .. } = requirement;
    let metric = Expr::parse(text).map_err(|e| misread(source, site, text, &e))?;
    let quotient = requirement.over.is_some() || matches!(metric, Expr::Binary(Operator::Divide, ..));
    if requirement.pool && !quotient {
        let message = format!("{owner}: `pool` needs a quotient, but the metric is `{text}`");
        let help = "write metric = \"a / b\", where a and b are counted in each run, or add `over`, or remove `pool`";
        return Err(FileError::new(source, site, message, help));
    }
    let bounds = match expect {
        Expect::Increasing { .. } | Expect::Decreasing { .. } | Expect::Order { .. } => vec![],
        Expect::Between(a, b) => vec![*a, *b],
        Expect::AtLeast(a) | Expect::AtMost(a) | Expect::Near { value: a, relative: true, .. } => vec![*a],
        Expect::Near { value, within, .. } => vec![*value, *within],
    };
    match misfit(requirement, &metric, &bounds) {
        Some(why) => Err(FileError::new(source, site, format!("{owner}: {}", why.what), why.remedy)),
        None => Ok(metric),
    }
}

/// Checks that the sweep has the points of a requirement.
pub(super) fn applies(points: &[PointKey], requirement: &Requirement) -> Result<(), Inapplicable> {
    let no = |message: String, help: String| Err(Inapplicable { message, help });
    let points = meant(requirement, points);
    if points.is_empty() {
        return no("`when` selects no point of the sweep".into(), "use values that the sweep gives these keys".into());
    }
    let (Expect::Increasing { along } | Expect::Decreasing { along } | Expect::Order { along, .. }) =
        &requirement.expect
    else {
        return Ok(());
    };
    let groups = sequence::groups(along, &points);
    if groups.iter().any(|g| g.len() < 2) || groups.is_empty() {
        return no(
            format!("a comparison along `{along}` needs two points"),
            format!("sweep `{along}`, and select at least two of its values with `when`"),
        );
    }
    if let Expect::Order { values, .. } = &requirement.expect {
        let missing = |v: &&SweptValue| groups.iter().any(|g| !g.iter().any(|(w, _)| same_value(v, w)));
        if let Some(v) = values.iter().find(missing) {
            return no(
                format!("`order` names {}, but `{along}` does not have this value at every selected point", v.text()),
                "use values of the sweep".into(),
            );
        }
    }
    Ok(())
}

/// The refusal if a bound and the metric have different units. Zero needs no unit; packets are plain
/// counts.
fn misfit(requirement: &Requirement, metric: &Expr, bounds: &[Quantity]) -> Option<Refusal> {
    let count = |d| if d == Dimension::Packets { Dimension::Number } else { d };
    let unit = if requirement.over.is_some() { Dimension::Number } else { metric.dimension()? };
    let q = bounds.iter().find(|q| q.value != 0.0 && count(q.unit) != count(unit))?;
    Some(match count(unit) {
        Dimension::Number => Refusal::new(
            format!("the metric is a plain number, but {q} has a unit"),
            format!("write {} without a unit", q.value),
        ),
        _ if q.unit != Dimension::Number => Refusal::new(
            format!("the metric is {}, but {q} is {}", unit.noun(), q.unit.noun()),
            format!("the unit does not fit: write {}, with a unit like {}", unit.noun(), unit.base()),
        ),
        _ => Refusal::new(
            format!("the metric is {}, but {q} is {}", unit.noun(), q.unit.noun()),
            format!("write the bound as a string with its unit, for example \"{}{}\"", q.value, unit.base()),
        ),
    })
}
