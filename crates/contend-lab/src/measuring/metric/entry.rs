//! What an entry of the table of metrics says. Parser, evaluation, `contend list`, `contend explain`, the metrics that
//! every run reports and the remedies for misspelt names all read the table: adding a metric is adding an entry.

use super::{Metric, Sampling, Unmeasured, Values};
use crate::experiment::results::Run;
use crate::reading::expression::Dimension;
use crate::stats::Range;

/// A metric: a row of the table.
#[derive(Debug)]
pub struct MetricEntry {
    /// Its name in expressions.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// What it measures.
    pub unit: Dimension,
    /// What it is a property of.
    pub subject: &'static Subject,
    /// Over which time.
    pub period: Period,
    /// What may or must follow its name.
    pub aspects: Aspects,
    /// How its members may be selected.
    pub selection: Selection,
    /// One correct way to write it, where its name alone is not one.
    pub example: Option<&'static str>,
    /// True if it is a value at an instant, such as a congestion window, and not a count over an interval.
    pub is_level: bool,
    /// The values that it can have.
    pub range: Range,
    /// True if it is an index of fairness, from 0 to 1.
    pub is_index: bool,
    /// True if runs of `[contention]` have it too.
    pub in_contention: bool,
    /// The expressions of it that every run of a network reports, each with the name it is reported under.
    pub reported: &'static [(&'static str, &'static str)],
    /// The same for runs of `[contention]`.
    pub reported_in_contention: &'static [(&'static str, &'static str)],
    /// Adds what a run must sample for it; the instants of a time window need no mention.
    pub(super) needs: fn(&Metric, &mut Sampling),
    /// How it is read from a run.
    pub(super) read: Read,
}

/// What an entry reads: a metric in a run, for some members taken together.
pub(super) struct Asked<'a> {
    pub(super) metric: &'a Metric,
    pub(super) run: &'a Run,
    /// Places of the members in the names of the metric's subject.
    pub(super) members: &'a [usize],
}

/// How a metric is read from a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read {
    /// The value of the selected members taken together.
    Members(fn(&Asked<'_>) -> Result<f64, Unmeasured>),
    /// One number or a list, with a selection of its own.
    Own(fn(&Metric, &Run) -> Result<Values, Unmeasured>),
}

/// What metrics are a property of: flows, queues, stations, the cell.
#[derive(Debug)]
pub struct Subject {
    /// What a message calls one of them.
    pub noun: &'static str,
    /// How metrics of it are asked for, `NAME` in place of the metric's.
    pub usage: &'static str,
    /// A member that an example can name; empty when it has no members.
    pub member: &'static str,
    /// Words that select several members; `all` and `total` select all members whether they are listed or not.
    pub groups: &'static [&'static str],
    /// The names of its members in a run.
    pub(super) names: for<'r> fn(&'r Run) -> Vec<&'r str>,
    /// The members that one of `groups` selects in a run.
    pub(super) group: fn(&str, &Run) -> Vec<usize>,
    /// True if only runs with a cell have it.
    pub(super) needs_cell: bool,
}

/// Over which time a metric can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// The measured interval only.
    Run,
    /// The measured interval, or a time window.
    RunOrWindow,
    /// A time window only.
    Window,
    /// The samples of the time series: those of the measured interval, or of a time window.
    Series,
}

/// What may or must follow a metric's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspects {
    /// Nothing.
    None,
    /// `.mean`, the default, or a percentile from `.p01` to `.p99`: it is made of samples.
    Samples,
    /// One of these words may follow.
    Optional(&'static [&'static str]),
    /// One of these words must follow.
    Required(&'static [&'static str]),
    /// A name that only the run knows must follow; with its noun, `an account`.
    Named(&'static str),
    /// A name that only the run knows must follow, and `.min`, `.max` or `.std` may; with its noun, `an estimator`.
    NamedSeries(&'static str),
}

/// How a metric's members may be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Not at all, behind a dot (together) or in brackets (each).
    Free,
    /// Behind a dot or in brackets; without it the number would mean nothing.
    Needed,
    /// In brackets only.
    Each,
    /// Not at all or behind a dot: it is one number for several members.
    Together,
}

/// Subjects are the same when they are called the same.
impl PartialEq for Subject {
    fn eq(&self, other: &Subject) -> bool {
        self.noun == other.noun
    }
}

/// Metrics are the same when they have the same name.
impl PartialEq for MetricEntry {
    fn eq(&self, other: &MetricEntry) -> bool {
        self.name == other.name
    }
}

impl MetricEntry {
    /// A metric of the measured interval that is a count or a share.
    pub(super) const fn new(
        name: &'static str,
        unit: Dimension,
        subject: &'static Subject,
        doc: &'static str,
        read: fn(&Asked<'_>) -> Result<f64, Unmeasured>,
    ) -> MetricEntry {
        MetricEntry::read(name, unit, subject, doc, Read::Members(read))
    }

    /// A metric with a selection of its own, otherwise alike.
    pub(super) const fn own(
        name: &'static str,
        unit: Dimension,
        subject: &'static Subject,
        doc: &'static str,
        read: fn(&Metric, &Run) -> Result<Values, Unmeasured>,
    ) -> MetricEntry {
        MetricEntry::read(name, unit, subject, doc, Read::Own(read))
    }

    const fn read(
        name: &'static str,
        unit: Dimension,
        subject: &'static Subject,
        doc: &'static str,
        read: Read,
    ) -> MetricEntry {
        MetricEntry {
            name,
            doc,
            unit,
            subject,
            period: Period::Run,
            aspects: Aspects::None,
            selection: Selection::Free,
            example: None,
            is_level: false,
            range: Range::FROM_ZERO,
            is_index: false,
            in_contention: false,
            reported: &[],
            reported_in_contention: &[],
            needs: |_, _| {},
            read,
        }
    }

    pub(super) const fn over(self, period: Period) -> MetricEntry {
        MetricEntry { period, ..self }
    }

    pub(super) const fn aspects(self, aspects: Aspects) -> MetricEntry {
        MetricEntry { aspects, ..self }
    }

    pub(super) const fn selected(self, selection: Selection) -> MetricEntry {
        MetricEntry { selection, ..self }
    }

    pub(super) const fn example(self, example: &'static str) -> MetricEntry {
        MetricEntry { example: Some(example), ..self }
    }

    pub(super) const fn level(self) -> MetricEntry {
        MetricEntry { is_level: true, ..self }
    }

    /// It is a share, from 0 to 1.
    pub(super) const fn share(self) -> MetricEntry {
        MetricEntry { range: Range::SHARE, ..self }
    }

    pub(super) const fn index(self) -> MetricEntry {
        MetricEntry { is_index: true, ..self.share() }
    }

    pub(super) const fn in_contention(self) -> MetricEntry {
        MetricEntry { in_contention: true, ..self }
    }

    pub(super) const fn reported(self, reported: &'static [(&'static str, &'static str)]) -> MetricEntry {
        MetricEntry { reported, ..self }
    }

    pub(super) const fn reported_in_contention(
        self,
        reported_in_contention: &'static [(&'static str, &'static str)],
    ) -> MetricEntry {
        MetricEntry { reported_in_contention, ..self }
    }

    pub(super) const fn needs(self, needs: fn(&Metric, &mut Sampling)) -> MetricEntry {
        MetricEntry { needs, ..self }
    }

    /// How it is asked for, in a sentence.
    pub fn usage(&self) -> String {
        self.subject.usage.replace("NAME", self.name)
    }

    /// What may or must follow its name, in a sentence; `None` when nothing does.
    pub fn aspects_in_words(&self) -> Option<String> {
        let name = self.name;
        let dotted = |words: &[&str]| words.iter().map(|w| format!("{name}.{w}")).collect::<Vec<_>>().join(", ");
        match self.aspects {
            Aspects::None => None,
            Aspects::Samples => Some(format!(
                "{name}.mean (the default), {name}.p50, {name}.p95 and every other percentile from p01 to p99"
            )),
            Aspects::Optional(words) => Some(format!("{name} alone, or {}", dotted(words))),
            Aspects::Required(words) => Some(format!("one of {}", dotted(words))),
            Aspects::Named(noun) => Some(format!("{name}.NAME with the name of {noun}")),
            Aspects::NamedSeries(noun) => Some(format!(
                "{name}.NAME with the name of {noun}: its mean over time; {name}.NAME.min, .max, .std of its samples"
            )),
        }
    }

    /// Over which time it can be asked for, in a phrase.
    pub fn period_in_words(&self) -> &'static str {
        match self.period {
            Period::Run => "the measured interval",
            Period::RunOrWindow => "the measured interval, or a window: [10s..15s] behind it",
            Period::Window => "a window: [10s..15s] behind it",
            Period::Series => "the time series (needs `sample`), whole or a window: [10s..15s] behind it",
        }
    }
}
