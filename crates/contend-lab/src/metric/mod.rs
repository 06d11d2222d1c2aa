//! The language of metrics: what claims, figures and searches say about a run.
//!
//! `goodput.up / goodput.down`, `count(goodput[up] < 0.3Mbps)`, `jain.up[10s..60s]`, `quantile(fct[all], 0.9)`. There
//! are numbers with units, `+ - * /`, a few functions, closed forms (`model`), the values of the sweep (`point`) and
//! the [`metrics`]; no variables, no loops.
//!
//! | written | is |
//! | --- | --- |
//! | `goodput`, `goodput.total` | one number for all flows together: a sum, or for durations the mean over all samples |
//! | `goodput.up` | the same for the flows of a direction (`up`, `down`, `local`, `wired`), a group or one flow |
//! | `goodput[up]`, `goodput[all]` | a list, one number for each flow |
//! | `goodput[down.3]`, `goodput["down.3"]` | a list of one, which serves as a number |
//! | `goodput.up[10s..15s]`, `goodput[up][10s..15s]` | the same between two instants of the run, counted from its start, the warm-up included |
//! | `queue.delay[ap]`, `drops.ack[ap]`, `airtime[sta3]` | a queue or station by its name; `sta` means all of `sta1`, `sta2`, ..., `ftp` all of `ftp1.1`, `ftp2.1`, ... |
//! | `share(goodput[up.1] >= 10Mbps, 5s)` | the share of the sections of 5 s, from the end of the warm-up on, in which it holds |
//! | `every(marked[ap] / enqueued[ap], 5s)` | a list: its value in each of these sections; `std(every(goodput.up, 1s))` is how much it varies |
//! | `estimate.are[f][14s..16s]`, `estimate.are.max[f]` | what an estimator that watches a flow says: mean over time, or `.min`, `.max`, `.std` of its samples |
//! | `interarrival.first[sta1]`, `fingerprint.slots[sta1]` | times between a station's frames, and what they say of its backoff |
//! | `rtt.p95`, `rtt.p95[up]` | a percentile instead of the mean |
//! | `jain(successes[up], 100)` | the mean of Jain's index over all windows of 100 successes of the stations (`down`: to them; `all`: the access point too) |
//! | `self_correlation(successes[up], 15)` | how often the station of a success is among the next 15 (p_s of Starzetz 2006 §8.2) |
//!
//! Values are in base units: bits per second, seconds, bytes, packets, and shares of 1. [`Expr::parse`] checks units
//! and whether a number or a list is meant, before anything runs; [`Expr::eval`] finds what a run lacks.

mod axis;
mod entries;
mod entry;
mod eval;
mod lex;
mod parse;
mod reading;

#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;

pub(crate) use entries::fingerprint;
pub use entry::{Aspects, MetricEntry, Period, Selection, Subject, metric, metrics};
pub use eval::Unmeasured;
pub(crate) use eval::Values;
pub use lex::quantity;
pub use parse::ParseError;

use crate::expression::Dimension;
use crate::model::{Model, Parameter};
use crate::results::{Run, Summary};
use crate::stats::{self, Estimate};
use contend_core::Time;
use std::collections::BTreeMap;
use std::fmt;

/// A parsed expression. [`fmt::Display`] writes one that parses back to the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Number(Number),
    /// A metric of the run.
    Metric(Metric),
    /// `-x`.
    Minus(Box<Expr>),
    /// `x + y` and the like; between a list and a number, for each member; between two lists, member by member.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A function of one list, or of several numbers.
    Call(Function, Vec<Expr>),
    /// `quantile(x, q)`.
    Quantile(Box<Expr>, Box<Expr>),
    /// `jain(successes[up], 100)`, `self_correlation(successes[up], 15)`: what windows of so many successes show,
    /// averaged over all positions.
    Sliding(Windowed, Box<Expr>, Box<Expr>),
    /// `count(x)`: how many members the list has.
    Length(Box<Expr>),
    /// `count(x < y)`: for how many members the comparison holds.
    Count(Box<Condition>),
    /// `share(x >= y, 5s)`: the share of the sections of this length, from the end of the warm-up on, in which the
    /// comparison holds.
    Share(Box<Condition>, Number),
    /// `every(x, 5s)`: a list, its value in each of these sections.
    Every(Box<Expr>, Number),
    /// `point("flow.1.count")`: the value that the sweep gives this key.
    Point(String),
    /// `model("bianchi.throughput", n = 5, ...)`: a closed form, its arguments in the order of [`Model::parameters`].
    /// Those that the file's `[model]` gives may be missing: `jersey.gain`, `jersey.gain(aw = 0)`.
    Model(&'static Model, Vec<Option<Expr>>),
}

/// A number as it was written, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// In the base unit of `unit`.
    pub value: f64,
    /// What it measures.
    pub unit: Dimension,
    /// As written, `0.3Mbps`.
    pub text: String,
}

/// A metric: which, of what, when.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Which.
    pub entry: &'static MetricEntry,
    /// Which aspect of it.
    pub aspect: Aspect,
    /// Of which flows, queues or stations.
    pub scope: Scope,
    /// From when to when, in time since the start of the run; the measured interval when absent.
    pub window: Option<(Number, Number)>,
}

/// Which aspect of a metric is meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Aspect {
    /// The only one, or the mean.
    Plain,
    /// `.mean`, written out.
    Mean,
    /// `.p95`: a percentile.
    Percentile(u8),
    /// `.ack`, `.error`, `.short`: a word that the metric has.
    Word(&'static str),
    /// `ledger.idle`, `estimate.are.max`: a name that only the run knows, and what is made of its samples.
    Named(String, Function),
}

/// Which flows, queues or stations are meant, and whether together or one by one.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    /// All, as one number.
    All,
    /// `.up`: these, as one number.
    Together(String),
    /// `[up]`: these, as a list.
    Each(String),
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A function of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Arithmetic mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Sample standard deviation.
    Std,
    /// The sum; 0 of nothing.
    Sum,
    /// Jain's index, see [`crate::stats::jain`].
    Jain,
}

/// What windows over a sequence of successes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windowed {
    /// Jain's index of how often each station is in the window.
    Jain,
    /// Whether the station that succeeded before the window is in it (Starzetz 2006 §8.2: p_s).
    SelfCorrelation,
}

impl Windowed {
    /// Its name in expressions.
    pub const fn name(self) -> &'static str {
        match self {
            Windowed::Jain => "jain",
            Windowed::SelfCorrelation => "self_correlation",
        }
    }

    /// How it is written.
    fn example(self) -> String {
        format!("{}(successes[up], 100)", self.name())
    }
}

/// A comparison: inside `count`, and as what a search waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The left side.
    pub left: Expr,
    /// How the sides compare.
    pub relation: Relation,
    /// The right side.
    pub right: Expr,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl Relation {
    /// Whether it holds between `x` and `y`; never for a NaN except [`Relation::Unequal`].
    pub fn holds(self, x: f64, y: f64) -> bool {
        match self {
            Relation::Less => x < y,
            Relation::AtMost => x <= y,
            Relation::Greater => x > y,
            Relation::AtLeast => x >= y,
            Relation::Equal => x == y,
            Relation::Unequal => x != y,
        }
    }
}

/// What has to be sampled during a run, so that an expression can be evaluated afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampling {
    /// Instants at which there must be a sample, in ascending order.
    pub instants: Vec<Time>,
    /// Whether there must be a sample at every whole second.
    pub every_second: bool,
    /// Whether the path between the instants counts (a mean window, a stall): sample with the file's `sample` step.
    pub series: bool,
    /// Whether the histograms of round-trip times and delays are looked into.
    pub histograms: bool,
    /// Whether it must be known who succeeds on the air.
    pub successes: bool,
    /// Whether the frames on the air are looked at when a run ends.
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

    /// Every instant at which a run of this length has to be sampled, in ascending order, whole seconds included when
    /// they are needed.
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
    /// Reads `text`, which must be one number for each run.
    ///
    /// # Errors
    /// With the place and the remedy, when it is no expression, mixes units, or stands for a list.
    pub fn parse(text: &str) -> Result<Expr, ParseError> {
        parse::expression(text)
    }

    /// As [`Expr::parse`], but a list is accepted too.
    ///
    /// # Errors
    /// When the text is no expression.
    pub fn parse_any(text: &str) -> Result<Expr, ParseError> {
        parse::any(text)
    }

    /// Its value in `run`, in base units; always finite.
    ///
    /// # Errors
    /// When the run has nothing of that name, was not sampled when it had to be, or the number does not exist.
    pub fn eval(&self, run: &Run) -> Result<f64, Unmeasured> {
        eval::number(self, run)
    }

    /// The members of a list in `run`; of a number, the number alone. They need not be finite.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn values(&self, run: &Run) -> Result<Vec<f64>, Unmeasured> {
        eval::list(self, run)
    }

    /// What it measures; `None` when that cannot be told (a product of two units, a value of the sweep).
    pub fn dimension(&self) -> Option<Dimension> {
        parse::dimension(self)
    }

    /// The first closed form in it that lacks an argument which `given` does not know either, and that argument.
    pub fn lacking(&self, given: impl Fn(&str) -> bool) -> Option<(&'static Model, &'static Parameter)> {
        let mut first = None;
        self.walk(&mut |e| {
            if let Expr::Model(model, list) = e {
                let lacking = model
                    .parameters
                    .iter()
                    .zip(list)
                    .find(|(p, x)| x.is_none() && p.default.is_none() && !given(p.name));
                first = first.or(lacking.map(|(p, _)| (*model, p)));
            }
        });
        first
    }

    /// The first metric of a network in it.
    pub fn measured(&self) -> Option<&Metric> {
        let mut first = None;
        self.visit(&mut |m| first = first.or(Some(m)));
        first
    }

    /// The first metric in it that is not like that.
    pub fn unlike(&self, like: impl Fn(&Metric) -> bool) -> Option<&Metric> {
        let mut first = None;
        self.visit(&mut |m| first = first.or(Some(m).filter(|m| !like(m))));
        first
    }

    /// What a runner has to sample for it.
    pub fn sampling(&self) -> Sampling {
        let mut all = Sampling::default();
        self.walk(&mut |e| match e {
            Expr::Metric(m) => all.add(m.sampling()),
            // Sections are whole seconds; in each, a metric is read between two instants.
            Expr::Share(..) | Expr::Every(..) => {
                all.every_second = true;
                e.between(0.0, 1.0).visit(&mut |m| all.add(Sampling { instants: vec![], ..m.sampling() }));
            }
            _ => {}
        });
        all
    }

    /// Whether there is a metric in it.
    fn measures(&self) -> bool {
        let mut any = false;
        self.visit(&mut |_| any = true);
        any
    }

    /// Calls `f` for every metric in it.
    fn visit<'a>(&'a self, f: &mut dyn FnMut(&'a Metric)) {
        self.walk(&mut |e| {
            if let Expr::Metric(m) = e {
                f(m);
            }
        });
    }

    /// Calls `f` for it and every expression in it.
    fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        match self {
            Expr::Number(_) | Expr::Point(_) | Expr::Metric(_) => {}
            Expr::Minus(x) | Expr::Length(x) | Expr::Every(x, _) => x.walk(f),
            Expr::Binary(_, x, y) | Expr::Quantile(x, y) | Expr::Sliding(_, x, y) => {
                x.walk(f);
                y.walk(f);
            }
            Expr::Call(_, list) => list.iter().for_each(|x| x.walk(f)),
            Expr::Count(c) | Expr::Share(c, _) => {
                c.left.walk(f);
                c.right.walk(f);
            }
            Expr::Model(_, list) => list.iter().flatten().for_each(|x| x.walk(f)),
        }
    }
}

impl Condition {
    /// Reads `text`: an expression, a comparison, an expression.
    ///
    /// # Errors
    /// As [`Expr::parse`], and when there is no comparison.
    pub fn parse(text: &str) -> Result<Condition, ParseError> {
        parse::condition(text)
    }

    /// What a runner has to sample for it.
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

/// The instants at which `expr` needs a sample, in ascending order.
pub fn instants(expr: &Expr) -> Vec<Time> {
    expr.sampling().instants
}

/// Every expression that runs report, with the name it is reported under; the names can be used in expressions.
pub fn reported() -> impl Iterator<Item = (&'static str, &'static str)> {
    metrics().flat_map(|m| m.reported.iter().chain(m.reported_in_contention)).copied()
}

/// The metrics that `run` reports, by name, in base units. What does not exist (a round-trip time of datagrams, the
/// collisions of a wire) is left out.
pub fn standard(run: &Run) -> BTreeMap<String, f64> {
    let value = |text: &str| Expr::parse(text).ok()?.eval(run).ok();
    let of = |m: &MetricEntry| if run.contending.is_some() { m.reported_in_contention } else { m.reported };
    metrics().flat_map(of).filter_map(|(name, text)| Some(((*name).to_owned(), value(text)?))).collect()
}

/// Where MSER-5 ([`crate::stats::mser5`]) puts the end of the warm-up of `run`, in seconds from its start: by the
/// goodput of all flows in each second, the warm-up cut off in the file included. To be compared with that cut.
///
/// `None` when the run was not sampled at every second, is shorter than 20 s, or had not settled by its middle.
pub fn settled(run: &Run) -> Option<f64> {
    Some(stats::mser5(&reading::by_second(run)?)? as f64)
}

/// Mean and interval of every number in [`Run::metrics`], for each point in the order in which it first appears.
///
/// A metric that some runs of a point lack has a smaller `n`.
pub fn summarise(runs: &[Run]) -> Vec<Summary> {
    let mut points: Vec<&Run> = vec![];
    for run in runs {
        if !points.iter().any(|p| p.point == run.point) {
            points.push(run);
        }
    }
    let mut out = vec![];
    for first in points {
        let mut samples: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (name, value) in runs.iter().filter(|r| r.point == first.point).flat_map(|r| &r.metrics) {
            samples.entry(name).or_default().push(*value);
        }
        out.extend(samples.into_iter().filter_map(|(metric, values)| {
            let e = Estimate::of(&values)?;
            Some(Summary { point: first.point.clone(), metric: metric.to_owned(), n: e.n, mean: e.mean, ci95: e.ci95 })
        }));
    }
    out
}

impl Operator {
    fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        }
    }
    /// How strongly it binds.
    fn power(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide => 2,
        }
    }
}

impl Function {
    /// Every function, with its name.
    pub const ALL: [(&'static str, Function); 6] = [
        ("mean", Function::Mean),
        ("min", Function::Min),
        ("max", Function::Max),
        ("std", Function::Std),
        ("sum", Function::Sum),
        ("jain", Function::Jain),
    ];
    /// Its value; `None` when there are too few members.
    pub fn of(self, members: &[f64]) -> Option<f64> {
        match self {
            Function::Mean => stats::mean(members),
            Function::Min => members.iter().copied().reduce(f64::min),
            Function::Max => members.iter().copied().reduce(f64::max),
            Function::Std => stats::deviation(members),
            Function::Sum => Some(members.iter().sum()),
            Function::Jain => stats::jain(members),
        }
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        Function::ALL.iter().find(|(_, f)| *f == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::Greater => ">",
            Relation::AtLeast => ">=",
            Relation::Equal => "==",
            Relation::Unequal => "!=",
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.relation, self.right)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        match &self.aspect {
            Aspect::Plain => {}
            Aspect::Mean => f.write_str(".mean")?,
            Aspect::Percentile(p) => write!(f, ".p{p:02}")?,
            Aspect::Word(word) => write!(f, ".{word}")?,
            Aspect::Named(name, Function::Mean) => write!(f, ".{name}")?,
            Aspect::Named(name, made) => write!(f, ".{name}.{}", made.name())?,
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
            Expr::Metric(m) => write!(f, "{m}"),
            Expr::Minus(x) if matches!(**x, Expr::Binary(..)) => write!(f, "-({x})"),
            Expr::Minus(x) => write!(f, "-{x}"),
            Expr::Binary(op, x, y) => {
                // Left-associative: an operand of the same strength needs parentheses on the right only.
                let side = |e: &Expr, least: u8| match e {
                    Expr::Binary(inner, ..) if inner.power() < least => format!("({e})"),
                    _ => e.to_string(),
                };
                write!(f, "{} {} {}", side(x, op.power()), op.symbol(), side(y, op.power() + 1))
            }
            Expr::Call(function, list) => {
                write!(f, "{}(", function.name())?;
                for (i, x) in list.iter().enumerate() {
                    write!(f, "{}{x}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Expr::Quantile(x, q) => write!(f, "quantile({x}, {q})"),
            Expr::Sliding(what, x, w) => write!(f, "{}({x}, {w})", what.name()),
            Expr::Length(x) => write!(f, "count({x})"),
            Expr::Count(c) => write!(f, "count({c})"),
            Expr::Share(c, section) => write!(f, "share({c}, {})", section.text),
            Expr::Every(x, section) => write!(f, "every({x}, {})", section.text),
            Expr::Point(key) => write!(f, "point(\"{key}\")"),
            Expr::Model(model, list) => {
                let given: Vec<String> = model
                    .parameters
                    .iter()
                    .zip(list)
                    .filter_map(|(p, x)| Some(format!("{} = {}", p.name, x.as_ref()?)))
                    .collect();
                let complete = model.parameters.iter().zip(list).all(|(p, x)| p.default.is_some() || x.is_some());
                match (complete, given.is_empty()) {
                    (true, true) => write!(f, "model(\"{}\")", model.name),
                    (true, false) => write!(f, "model(\"{}\", {})", model.name, given.join(", ")),
                    (false, true) => f.write_str(model.name),
                    (false, false) => write!(f, "{}({})", model.name, given.join(", ")),
                }
            }
        }
    }
}
