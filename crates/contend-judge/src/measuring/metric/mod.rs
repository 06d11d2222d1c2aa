//! The language of metrics, used by claims, figures and searches.
//!
//! `goodput.up / goodput.down`, `count(goodput[up] < 0.3Mbps)`, `jain.up[10s..60s]`, `quantile(fct[all], 0.9)`. An
//! expression consists of numbers with units, `+ - * /`, a few functions, closed forms (`model`), values of the sweep
//! (`point`) and the [`metrics`]. There are no variables and no loops.
//!
//! - `goodput`, `goodput.total`: one number for all flows together: a sum, or for durations the mean of all samples.
//! - `goodput.up`: the same for the flows of a direction (`up`, `down`, `local`, `wired`), a group, or one flow.
//! - `goodput[up]`, `goodput[all]`: a list, one number for each flow.
//! - `goodput[down.3]`, `goodput["down.3"]`: a list with one member, which can be used as a number.
//! - `goodput.up[10s..15s]`, `goodput[up][10s..15s]`: the same between two instants of the run. Instants are counted
//!   from the start of the run, before the warm-up.
//! - `queue.delay[ap]`, `drops.ack[ap]`, `airtime[sta3]`: a queue or station by its name. `sta` means all of `sta1`,
//!   `sta2`, ...; `ftp` means all of `ftp1.1`, `ftp2.1`, ...
//! - `share(goodput[up.1] >= 10Mbps, 5s)`: the share of sections of 5 s, after the warm-up, in which the comparison
//!   holds.
//! - `until(goodput[up.1] >= 10Mbps, 5s)`: the time from the end of the warm-up to the first of these sections.
//! - `every(marked[ap] / offered[ap], 5s)`: a list: the value in each of these sections. `std(every(goodput.up, 1s))`
//!   is its standard deviation.
//! - `estimate.are[f][14s..16s]`, `estimate.are.max[f]`: the rate that an estimator reports for a flow: its mean over
//!   time, or `.min`, `.max`, `.std` of its samples.
//! - `interarrival.first[sta1]`, `fingerprint.slots[sta1]`: times between a station's frames, and properties of its
//!   backoff.
//! - `rtt.p95`, `rtt.p95[up]`: a percentile instead of the mean; `rtt.trim95`: the mean of the lowest 95 % of the
//!   samples; `rtt.sum`, `rtt.count`: of the samples.
//! - `jain(successes[up], 100)`: the mean of Jain's index over all windows of 100 successes of the stations. `down`:
//!   successes of the access point, by receiver; `all`: also successes of the access point.
//! - `self_correlation(successes[up], 15)`: how often the station of a success is among the next 15 successes (p_s of
//!   Starzetz 2006 §8.2).
//!
//! Values are in base units: bits per second, seconds, bytes, packets, and shares of 1. [`Expr::parse`] checks units,
//! and lists against numbers, before anything runs. [`Expr::eval`] reports what a run lacks.

mod axis;
mod certainty;
mod entries;
mod entry;
mod eval;
mod function;
mod reading;
mod resolve;

#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;

pub(crate) use entries::fingerprint;
pub use entries::{metric, metrics};
pub use entry::{Aspects, MetricEntry, Period, Selection, Subject};
pub(crate) use eval::Values;
pub use eval::{Misfit, Unmeasured};
pub use function::{FUNCTIONS, Function, Takes};

use contend_core::Time;
use contend_experiment::reading::expression::{Dimension, Number, NumberFunction, Operator, ParseError, Relation};
use contend_experiment::reading::file::Shown;
use contend_experiment::reading::model::{Model, Parameter};
use contend_experiment::results::{Run, Summary, by_point};
use contend_experiment::stats::{self, Estimate};
use std::collections::BTreeMap;
use std::fmt;

/// A parsed expression. [`fmt::Display`] writes a text that parses to the same expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Number(Number),
    /// A string in quotes; only as an argument.
    Text(String),
    /// A metric of the run.
    Metric(Metric),
    /// `-x`.
    Minus(Box<Expr>),
    /// `x + y` or another operator. A list and a number: for each member. Two lists: member by member.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `x < y`; only as an argument.
    Comparison(Box<Condition>),
    /// A call; the arguments are in the order of the parameters.
    Call(Callee, Vec<Expr>),
    /// A missing argument of a closed form: the file's `[model]` or its default gives the value.
    Absent,
}

/// The called function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Callee {
    /// A function of plain numbers: `mean(goodput[up])`.
    Numbers(&'static NumberFunction),
    /// A function that looks into the run: `share(goodput.up > 1Mbps, 5s)`.
    Run(&'static Function),
    /// A closed form: `model("bianchi.throughput", n = 5, ...)`. If the file's `[model]` gives the arguments, the name
    /// is sufficient: `jersey.gain`, `jersey.gain(aw = 0)`.
    Model(&'static Model),
}

/// A metric with its aspect, its members and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The entry of the table.
    pub entry: &'static MetricEntry,
    /// The aspect.
    pub aspect: Aspect,
    /// The flows, queues or stations.
    pub scope: Scope,
    /// Start and end, counted from the start of the run; `None` for the measured interval.
    pub window: Option<(Number, Number)>,
}

/// The aspect of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Aspect {
    /// The only aspect, or the mean.
    Plain,
    /// `.mean`, written explicitly.
    Mean,
    /// `.p95`: a percentile. The second number shifts the reading by so many bucket widths; it is 0 except when the
    /// error of an expression is computed.
    Percentile(u8, f64),
    /// `.trim95`: the mean of the lowest samples, so many percent of all. The second number shifts the reading by so
    /// many times its maximum error, as that of a percentile.
    Trimmed(u8, f64),
    /// `.ack`, `.error`, `.short`: a word of the metric.
    Word(&'static str),
    /// `ledger.idle`, `estimate.are.max`: a name that depends on the run, and a function of its samples; `None` for the
    /// mean over time.
    Named(String, Option<&'static NumberFunction>),
}

/// The selected flows, queues or stations, together or one by one.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    /// All members, as one number.
    All,
    /// `.up`: these members, as one number.
    Together(String),
    /// `[up]`: these members, as a list.
    Each(String),
}

/// A comparison: an argument of a function, or the condition of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The left side.
    pub left: Expr,
    /// The relation of the sides.
    pub relation: Relation,
    /// The right side.
    pub right: Expr,
}

/// What a run must sample so that an expression can be evaluated after the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampling {
    /// Instants that need a sample, in ascending order.
    pub instants: Vec<Time>,
    /// True if every whole second needs a sample.
    pub every_second: bool,
    /// True if the values between the instants count (a mean window, a stall): sample with the file's `sample` step.
    pub series: bool,
    /// True if histograms of round-trip times and delays are needed.
    pub histograms: bool,
    /// True if the successes on the air are needed.
    pub successes: bool,
    /// True if the frames on the air are needed when a run ends.
    pub frames: bool,
}

impl Sampling {
    /// Adds what `other` needs.
    pub fn add(&mut self, other: Sampling) {
        self.instants.extend(other.instants);
        self.instants.sort_unstable();
        self.instants.dedup();
        self.every_second |= other.every_second;
        self.series |= other.series;
        self.histograms |= other.histograms;
        self.successes |= other.successes;
        self.frames |= other.frames;
    }

    /// All instants at which a run of this length must be sampled, in ascending order, including whole seconds if they
    /// are needed.
    pub fn within(&self, duration: contend_core::Span) -> Vec<Time> {
        let end = Time::ZERO.saturating_add(duration);
        let seconds = if self.every_second { duration.as_nanos() / 1_000_000_000 } else { 0 };
        let whole = (0..=seconds).filter(|_| self.every_second).map(|s| Time::from_nanos(s * 1_000_000_000));
        let mut all: Vec<Time> = whole.chain(self.instants.iter().copied().filter(|t| *t <= end)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Expr {
    /// Parses `text`, which must give one number for each run.
    ///
    /// # Errors
    /// When the text is not an expression, mixes units, or is a list; with the place and the remedy.
    pub fn parse(text: &str) -> Result<Expr, ParseError> {
        resolve::expression(text)
    }

    /// Parses a metric of `show`: a list stands for the mean of its members.
    ///
    /// # Errors
    /// As [`Expr::parse`].
    pub fn of_show(text: &str) -> Result<Expr, ParseError> {
        let e = Expr::parse_any(text)?;
        if e.is_list() { Expr::parse(&format!("mean({text})")) } else { Expr::parse(text) }
    }

    /// Like [`Expr::parse`], but a list is accepted, too.
    ///
    /// # Errors
    /// When the text is not an expression.
    pub fn parse_any(text: &str) -> Result<Expr, ParseError> {
        resolve::any(text)
    }

    /// The value in `run` in base units; always finite.
    ///
    /// # Errors
    /// When the run has no object with this name, lacks a necessary sample, or when the number does not exist.
    pub fn eval(&self, run: &Run) -> Result<f64, Unmeasured> {
        eval::number(self, run)
    }

    /// The members of a list in `run`; for a single number, that number. They may be infinite or NaN.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn values(&self, run: &Run) -> Result<Vec<f64>, Unmeasured> {
        eval::list(self, run)
    }

    /// Refuses the expression if no run with the members of `names` has a value of it, whatever happens in the run;
    /// with `one`, also if it is a list there.
    ///
    /// # Errors
    /// When it names what the network does not have, or is a list where one number is needed.
    pub fn fits(&self, names: &Run, one: bool) -> Result<(), Misfit> {
        eval::fits(self, names, one)
    }

    /// True if only a network tells whether it has what the expression names, and whether a name is one member or a
    /// list.
    pub fn depends_on_names(&self) -> bool {
        let anywhere = |m: &Metric| match &m.scope {
            Scope::All => true,
            Scope::Together(name) => m.entry.subject.groups.contains(&name.as_str()),
            Scope::Each(_) => false,
        };
        self.unlike(anywhere).is_some()
    }

    /// The dimension; `None` when it is unknown (a product of two units, a value of the sweep).
    pub fn dimension(&self) -> Option<Dimension> {
        resolve::dimension(self)
    }

    /// The first closed form with a missing argument that `given` does not provide either, and that argument.
    pub fn lacking(&self, given: impl Fn(&str) -> bool) -> Option<(&'static Model, &'static Parameter)> {
        let mut first = None;
        self.walk(&mut |e| {
            if let Expr::Call(Callee::Model(model), list) = e {
                let lacking = model
                    .parameters
                    .iter()
                    .zip(list)
                    .find(|(p, x)| **x == Expr::Absent && p.default.is_none() && !given(p.name));
                first = first.or(lacking.map(|(p, _)| (*model, p)));
            }
        });
        first
    }

    /// The first metric of a network in the expression.
    pub fn measured(&self) -> Option<&Metric> {
        let mut first = None;
        self.visit(&mut |m| first = first.or(Some(m)));
        first
    }

    /// The first metric for which `like` is false.
    pub fn unlike(&self, like: impl Fn(&Metric) -> bool) -> Option<&Metric> {
        let mut first = None;
        self.visit(&mut |m| first = first.or(Some(m).filter(|m| !like(m))));
        first
    }

    /// What a run must sample for the expression.
    pub fn sampling(&self) -> Sampling {
        let mut all = Sampling::default();
        self.walk(&mut |e| match e {
            Expr::Metric(m) => all.add(m.sampling()),
            // Sections are whole seconds; in each section a metric is read between two instants.
            Expr::Call(Callee::Run(f), _) if f.in_sections => {
                all.every_second = true;
                e.between(0.0, 1.0).visit(&mut |m| all.add(Sampling { instants: vec![], ..m.sampling() }));
            }
            _ => {}
        });
        all
    }

    /// For each `fct` in the expression: its text, and how many transfers of its flows were complete and how many were
    /// not when `runs` ended.
    pub(crate) fn transfers(&self, runs: &[Run]) -> Vec<(String, f64, f64)> {
        let mut all = vec![];
        self.visit(&mut |m| {
            let counted = |name: &str| {
                let entry = metric(name)?;
                let counts =
                    Expr::Metric(Metric { entry, aspect: Aspect::Plain, scope: m.scope.clone(), window: None });
                Some(runs.iter().filter_map(|run| counts.values(run).ok()).flatten().sum::<f64>())
            };
            if m.entry.name == "fct"
                && let (Some(completed), Some(open)) = (counted("completed"), counted("unfinished"))
            {
                all.push((m.to_string(), completed, open));
            }
        });
        all
    }

    /// True if the expression contains a metric.
    fn measures(&self) -> bool {
        let mut any = false;
        self.visit(&mut |_| any = true);
        any
    }

    /// Calls `f` for each metric in the expression.
    fn visit<'a>(&'a self, f: &mut dyn FnMut(&'a Metric)) {
        self.walk(&mut |e| {
            if let Expr::Metric(m) = e {
                f(m);
            }
        });
    }

    /// Calls `f` for the expression and for each expression in it.
    fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        match self {
            Expr::Number(_) | Expr::Text(_) | Expr::Metric(_) | Expr::Absent => {}
            Expr::Minus(x) => x.walk(f),
            Expr::Binary(_, x, y) => {
                x.walk(f);
                y.walk(f);
            }
            Expr::Comparison(c) => {
                c.left.walk(f);
                c.right.walk(f);
            }
            Expr::Call(_, arguments) => arguments.iter().for_each(|x| x.walk(f)),
        }
    }
}

impl Condition {
    /// Parses `text`: two expressions with a comparison between them.
    ///
    /// # Errors
    /// As [`Expr::parse`], and when there is no comparison.
    pub fn parse(text: &str) -> Result<Condition, ParseError> {
        resolve::condition(text)
    }

    /// What a run must sample for the condition.
    pub fn sampling(&self) -> Sampling {
        let mut all = self.left.sampling();
        all.add(self.right.sampling());
        all
    }
}

impl Metric {
    fn sampling(&self) -> Sampling {
        let instants = self
            .window
            .iter()
            .flat_map(|(a, b)| [a, b])
            .map(|x| Time::ZERO.saturating_add(contend_core::Span::from_secs_f64(x.value)))
            .collect();
        let series = self.entry.period == Period::Series;
        let mut all = Sampling { instants, series, ..Sampling::default() };
        (self.entry.needs)(self, &mut all);
        all
    }
}

/// The metric at the start of a name: `rtt` of `rtt.p95`.
pub fn metric_at(name: &str) -> Option<&'static MetricEntry> {
    resolve::split(name).map(|(entry, ..)| entry)
}

/// The instants at which `expr` needs a sample, in ascending order.
pub fn instants(expr: &Expr) -> Vec<Time> {
    expr.sampling().instants
}

/// All expressions that runs report.
pub fn reported() -> impl Iterator<Item = &'static str> {
    metrics().flat_map(|m| m.reported.iter().chain(m.reported_in_contention)).copied()
}

/// The metrics that `run` reports, by name, in base units: those of the access point for each access point. Metrics
/// without a value (a round-trip time of datagrams, collisions on a wire) are left out.
pub fn standard(run: &Run) -> BTreeMap<String, f64> {
    let value = |text: String| Some((text.clone(), Expr::parse(&text).ok()?.eval(run).ok()?));
    let of = |m: &MetricEntry| if run.contending.is_some() { m.reported_in_contention } else { m.reported };
    let aps: Vec<&str> = run.access_points().collect();
    let each = |text: &&'static str| match text.strip_suffix("[ap]") {
        Some(metric) if !aps.is_empty() => aps.iter().map(|ap| format!("{metric}[{ap}]")).collect(),
        _ => vec![(*text).to_owned()],
    };
    metrics().flat_map(of).flat_map(each).filter_map(value).collect()
}

/// The value of a metric of `show` in `run`, in base units.
///
/// # Errors
/// When the run has no such value.
pub fn shown_in(shown: &Shown, run: &Run) -> Result<f64, Unmeasured> {
    Expr::of_show(&shown.metric).map_err(|e| Unmeasured::wrong(e.message))?.eval(run)
}

/// The end of the warm-up of `run` by [MSER-5](contend_experiment::stats::mser5), in seconds from the start of the run.
/// It is computed from the goodput of all flows in each second, including the warm-up of the file, and can be
/// compared with that warm-up.
///
/// `None` when the run was not sampled at every second, is shorter than 20 s, or does not settle in its first half.
pub fn settled(run: &Run) -> Option<f64> {
    Some(stats::mser5(&reading::by_second(run)?)? as f64)
}

/// Mean and interval of every number in [`Run::metrics`] for each point, in the order of the points' first runs.
///
/// A metric that some runs of a point lack has a smaller `n`.
pub fn summarise(runs: &[Run]) -> Vec<Summary> {
    let mut out = vec![];
    for (point, here) in by_point(runs, |r| &r.point) {
        let mut samples: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (name, value) in here.iter().flat_map(|r| &r.metrics) {
            samples.entry(name).or_default().push(*value);
        }
        out.extend(samples.into_iter().filter_map(|(metric, values)| {
            // Other names belong to closed forms and fingerprints, whose values are exact.
            let e = Expr::parse_any(metric).unwrap_or(Expr::Absent);
            let readings: Vec<_> = values.into_iter().map(|x| e.noted(x)).collect();
            Some(Summary::new(point.clone(), metric.to_owned(), Estimate::of_readings(&readings, e.range())?))
        }));
    }
    out
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.relation, self.right)
    }
}

/// `.sum`: the sum of a metric's samples.
const SUM: &str = "sum";
/// `.count`: the number of a metric's samples.
const COUNT: &str = "count";

impl Metric {
    /// The unit: that of the entry, or a plain number where samples are counted.
    fn unit(&self) -> Dimension {
        let is_count = self.entry.aspects == Aspects::Samples && self.aspect == Aspect::Word(COUNT);
        if is_count { Dimension::Number } else { self.entry.unit }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        match &self.aspect {
            Aspect::Plain => {}
            Aspect::Mean => f.write_str(".mean")?,
            Aspect::Percentile(p, _) => write!(f, ".p{p:02}")?,
            Aspect::Trimmed(p, _) => write!(f, ".trim{p}")?,
            Aspect::Word(word) => write!(f, ".{word}")?,
            Aspect::Named(name, None) => write!(f, ".{name}")?,
            Aspect::Named(name, Some(made)) => write!(f, ".{name}.{}", made.name)?,
        }
        match &self.scope {
            Scope::All => {}
            Scope::Together(name) => write!(f, ".{name}")?,
            Scope::Each(name)
                if name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) && !name.contains("..") =>
            {
                write!(f, "[{name}]")?
            }
            Scope::Each(name) => write!(f, "[\"{name}\"]")?,
        }
        match &self.window {
            Some((a, b)) => write!(f, "[{}..{}]", a.text, b.text),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Number(n) => f.write_str(&n.text),
            Expr::Text(text) => write!(f, "\"{text}\""),
            Expr::Metric(m) => write!(f, "{m}"),
            Expr::Minus(x) if matches!(**x, Expr::Binary(..)) => write!(f, "-({x})"),
            Expr::Minus(x) => write!(f, "-{x}"),
            Expr::Binary(op, x, y) => {
                // Operators are left-associative: only a right operand of equal binding power needs parentheses.
                let side = |e: &Expr, least: u8| match e {
                    Expr::Binary(inner, ..) if inner.power() < least => format!("({e})"),
                    _ => e.to_string(),
                };
                write!(f, "{} {} {}", side(x, op.power()), op.symbol(), side(y, op.power() + 1))
            }
            Expr::Comparison(c) => write!(f, "{c}"),
            Expr::Call(Callee::Numbers(NumberFunction { name, .. }), list)
            | Expr::Call(Callee::Run(Function { name, .. }), list) => {
                let list: Vec<String> = list.iter().map(Expr::to_string).collect();
                write!(f, "{name}({})", list.join(", "))
            }
            Expr::Call(Callee::Model(model), list) => {
                let all = || model.parameters.iter().zip(list);
                let given: Vec<String> =
                    all().filter(|(_, x)| **x != Expr::Absent).map(|(p, x)| format!("{} = {x}", p.name)).collect();
                let complete = all().all(|(p, x)| p.default.is_some() || *x != Expr::Absent);
                match (complete, given.is_empty()) {
                    (true, true) => write!(f, "model(\"{}\")", model.name),
                    (true, false) => write!(f, "model(\"{}\", {})", model.name, given.join(", ")),
                    (false, true) => f.write_str(model.name),
                    (false, false) => write!(f, "{}({})", model.name, given.join(", ")),
                }
            }
            Expr::Absent => Ok(()),
        }
    }
}
