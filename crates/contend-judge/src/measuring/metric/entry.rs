//! An entry of the table of metrics. Parser, evaluation, `contend list`, `contend explain`, the metrics of every run,
//! and the remedies for misspelt names all read the table. A new metric is a new entry.

use super::{Metric, Sampling, Unmeasured, Values};
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::Run;
use contend_experiment::stats::Range;
use std::cell::Cell;

/// A metric: a row of the table.
#[derive(Debug)]
pub struct MetricEntry {
    /// Name in expressions.
    pub name: &'static str,
    /// Description, in a sentence.
    pub doc: &'static str,
    /// What else a reader of its numbers must know, in sentences; mostly empty.
    pub note: &'static str,
    /// Unit.
    pub unit: Dimension,
    /// The kind of object that has the metric.
    pub subject: &'static Subject,
    /// The times for which it can be computed.
    pub period: Period,
    /// Words that may or must follow the name.
    pub aspects: Aspects,
    /// How members can be selected.
    pub selection: Selection,
    /// A correct way to write the metric, if the name alone is not.
    pub example: Option<&'static str>,
    /// True if it is a value at an instant, such as a congestion window; false if it is a count over an interval.
    pub is_level: bool,
    /// Range of possible values.
    pub range: Range,
    /// True if it is an index of fairness, from 0 to 1.
    pub is_index: bool,
    /// True if runs of `[contention]` have it, too.
    pub in_contention: bool,
    /// The expressions of this metric that every run of a network reports.
    pub reported: &'static [&'static str],
    /// The expressions that every run of `[contention]` reports.
    pub reported_in_contention: &'static [&'static str],
    /// Adds what a run must sample for the metric. The instants of a time window are added elsewhere.
    pub(super) needs: fn(&Metric, &mut Sampling),
    /// How the metric is read from a run.
    pub(super) read: Read,
}

/// A question to a run: a metric for some members together.
pub(super) struct Asked<'a> {
    pub(super) metric: &'a Metric,
    pub(super) run: &'a Run,
    /// Indices of the members in the names of the metric's subject.
    pub(super) members: &'a [usize],
    /// Set when the entry reads the metric's time window.
    pub(super) windowed: &'a Cell<bool>,
}

/// How a metric is read from a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read {
    /// The value of the selected members taken together.
    Members(fn(&Asked<'_>) -> Result<f64, Unmeasured>),
    /// One number or a list; the entry selects the members itself.
    Own(fn(&Metric, &Run) -> Result<Values, Unmeasured>),
}

/// The kind of object that has a metric: flows, queues, stations, the cell.
#[derive(Debug)]
pub struct Subject {
    /// Name of one object in messages.
    pub noun: &'static str,
    /// How metrics of this subject are written, and what each form gives; `NAME` is the name of the metric.
    pub uses: &'static [(&'static str, &'static str)],
    /// A member for examples; empty when there are no members.
    pub member: &'static str,
    /// Words that select several members. `all` and `total` always select all members, even if they are not listed
    /// here.
    pub groups: &'static [&'static str],
    /// The names of its members in a run.
    pub(super) names: for<'r> fn(&'r Run) -> Vec<&'r str>,
    /// The members that one of `groups` selects in a run.
    pub(super) group: fn(&str, &Run) -> Vec<usize>,
    /// True if only runs with a cell have this subject.
    pub(super) needs_cell: bool,
}

/// The times for which a metric can be computed.
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

/// Words that may or must follow a metric's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspects {
    /// Nothing.
    None,
    /// `.mean` (the default), a percentile from `.p01` to `.p99`, a trimmed mean from `.trim50` to `.trim99`, `.sum` or
    /// `.count`: the metric has samples.
    Samples,
    /// One of these words may follow.
    Optional(&'static [&'static str]),
    /// One of these words must follow.
    Required(&'static [&'static str]),
    /// A name that depends on the run must follow; with its noun, `an account`.
    Named(&'static str),
    /// A name that depends on the run must follow, then optionally `.min`, `.max` or `.std`; with its noun, `an
    /// estimator`.
    NamedSeries(&'static str),
}

/// How a metric's members may be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Optional: after a dot (together) or in brackets (each).
    Free,
    /// After a dot or in brackets; mandatory, because a number without it would have no meaning.
    Needed,
    /// In brackets only.
    Each,
    /// Optional, after a dot only: the metric is one number for several members.
    Together,
}

/// Subjects are equal if their names are equal.
impl PartialEq for Subject {
    fn eq(&self, other: &Subject) -> bool {
        self.noun == other.noun
    }
}

/// Metrics are equal if their names are equal.
impl PartialEq for MetricEntry {
    fn eq(&self, other: &MetricEntry) -> bool {
        self.name == other.name
    }
}

impl MetricEntry {
    /// A count or a share over the measured interval.
    pub(super) const fn new(
        name: &'static str,
        unit: Dimension,
        subject: &'static Subject,
        doc: &'static str,
        read: fn(&Asked<'_>) -> Result<f64, Unmeasured>,
    ) -> MetricEntry {
        MetricEntry::read(name, unit, subject, doc, Read::Members(read))
    }

    /// Like [`MetricEntry::new`], but the entry selects the members itself.
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
            note: "",
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

    pub(super) const fn note(self, note: &'static str) -> MetricEntry {
        MetricEntry { note, ..self }
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

    /// Marks the metric as a share, from 0 to 1.
    pub(super) const fn share(self) -> MetricEntry {
        MetricEntry { range: Range::SHARE, ..self }
    }

    pub(super) const fn index(self) -> MetricEntry {
        MetricEntry { is_index: true, ..self.share() }
    }

    pub(super) const fn in_contention(self) -> MetricEntry {
        MetricEntry { in_contention: true, ..self }
    }

    pub(super) const fn reported(self, reported: &'static [&'static str]) -> MetricEntry {
        MetricEntry { reported, ..self }
    }

    pub(super) const fn reported_in_contention(self, reported_in_contention: &'static [&'static str]) -> MetricEntry {
        MetricEntry { reported_in_contention, ..self }
    }

    pub(super) const fn needs(self, needs: fn(&Metric, &mut Sampling)) -> MetricEntry {
        MetricEntry { needs, ..self }
    }

    /// The forms in which the metric is written, each with what it gives.
    pub fn uses(&self) -> Vec<(String, &'static str)> {
        let name = match self.aspects {
            Aspects::Required(words) => format!("{}.{}", self.name, words.first().unwrap_or(&"")),
            Aspects::Named(_) | Aspects::NamedSeries(_) => format!("{}.NAME", self.name),
            Aspects::None | Aspects::Samples | Aspects::Optional(_) => self.name.to_owned(),
        };
        let fits = |form: &str| match self.selection {
            Selection::Free => true,
            Selection::Needed => form != "NAME",
            Selection::Each => form.contains('['),
            Selection::Together => !form.contains('['),
        };
        let fitting = self.subject.uses.iter().filter(|(form, _)| fits(form));
        fitting.map(|(form, gives)| (form.replace("NAME", &name), *gives)).collect()
    }

    /// How the metric is written, in a sentence.
    pub fn usage(&self) -> String {
        self.uses().iter().map(|(form, gives)| format!("{form} ({gives})")).collect::<Vec<_>>().join(", ")
    }

    /// Words that may or must follow the name, in a sentence; `None` without such words.
    pub fn aspects_in_words(&self) -> Option<String> {
        let name = self.name;
        let dotted = |words: &[&str]| words.iter().map(|w| format!("{name}.{w}")).collect::<Vec<_>>().join(", ");
        match self.aspects {
            Aspects::None => None,
            Aspects::Samples => {
                let percentiles = format!("{name}.p50, {name}.p95 or another percentile from p01 to p99");
                let totals = format!("{name}.sum and {name}.count of the samples, 0 without them");
                let trimmed = format!(
                    "{name}.trim95 or another trimmed mean from trim50 to trim99, of the lowest 95 % of the samples"
                );
                Some(format!("{name}.mean (the default), {percentiles}; {trimmed}; {totals}"))
            }
            Aspects::Optional(words) => Some(format!("{name} alone, or {}", dotted(words))),
            Aspects::Required(words) => Some(format!("one of {}", dotted(words))),
            Aspects::Named(noun) => Some(format!("{name}.NAME, where NAME is {noun}")),
            Aspects::NamedSeries(noun) => Some(format!(
                "{name}.NAME, where NAME is {noun}: mean over time; {name}.NAME.min, .max, .std: of the samples"
            )),
        }
    }

    /// The times for which the metric can be computed, in a phrase.
    pub fn period_in_words(&self) -> &'static str {
        match self.period {
            Period::Run => "the measured interval",
            Period::RunOrWindow => "the measured interval, or a time window: [10s..15s] after the metric",
            Period::Window => "a time window: [10s..15s] after the metric",
            Period::Series => {
                "the time series (needs `sample`), all of it or a time window: [10s..15s] after the metric"
            }
        }
    }
}
