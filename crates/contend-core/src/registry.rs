//! One list per family of algorithms. The list gives the module declarations and the table used by files, the command
//! line and the documentation.
//!
//! Every algorithm file exports `CITE`, `SUMMARY`, `PARAMS`, `FORMULAS` and `build`. `registry!` turns the list of file
//! names into `mod` declarations and `REGISTRY`. A new algorithm is one file and one word. Properties that other code
//! must know follow its name as [`Fact`]s; no code compares names.

use crate::Refusal;
use crate::formulas::Line;
use crate::time::{Span, Time};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One algorithm of a family.
#[derive(Debug)]
pub struct Entry<B: 'static> {
    /// The name, the same in file, registry, TOML and command line.
    pub name: &'static str,
    /// The source: paper or RFC, and section.
    pub cite: &'static str,
    /// A description in one or two sentences. Lists show only its first phrase, up to `: `, `; ` or `. `: this phrase
    /// must distinguish the entry from the other entries of its family.
    pub summary: &'static str,
    /// The parameters, in the order of the explanation.
    pub params: &'static [Param],
    /// What the algorithm does, as formulas.
    pub formulas: &'static [Line],
    /// The properties of the algorithm that code outside its file may use.
    pub facts: &'static [Fact],
    /// Builds the algorithm from a full set of parameters.
    pub build: B,
}

impl<B> Entry<B> {
    /// True if `fact` holds for the algorithm, whatever its parameters are.
    pub fn has(&self, fact: Fact) -> bool {
        self.facts.contains(&fact)
    }
    /// What is in the [file](Fact::File) that the algorithm reads; `None` if it reads none.
    pub fn file(&self) -> Option<&'static str> {
        self.facts.iter().find_map(|f| f.file())
    }
    /// How much may wait in all: the sum of the parameters that [limit the queue](Param::limits_queue). `None` if there
    /// are none, or if they have different units.
    pub fn limit(&self, args: &Args) -> Option<Amount> {
        let limits = self.params.iter().filter(|p| p.role == Role::Limit).map(|p| args.amount(p.name));
        limits.map(Some).reduce(|a, b| a?.plus(b?))?
    }
    /// True if the rule gives each category a queue: if a parameter that [makes categories](Param::makes_categories) is
    /// not empty.
    pub fn has_categories(&self, args: &Args) -> bool {
        let empty = |value: &Value| matches!(value, Value::Numbers(n) if n.is_empty());
        let mut makers = self.params.iter().filter(|p| p.role == Role::Categories);
        makers.any(|p| args.get(p.name).is_some_and(|value| !empty(value)))
    }
}

/// A property of an algorithm that code outside its file may use before the algorithm is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// It changes nothing during a run: a station does not move, rates and routes stay those of the start, an SNR stays
    /// that of the file.
    Constant,
    /// A FIFO that drops only the packets that exceed its [limit](Entry::limit).
    DropTail,
    /// A traffic source that has more to send than any network carries, so that the network alone decides the rate.
    /// Every other source has a rate of its own.
    Greedy,
    /// A traffic source whose next write waits until the last one is acknowledged. Datagrams cannot carry it.
    Closed,
    /// It reads the file that the key `file` names. The text describes the file.
    File(&'static str),
    /// It works only in a network that provides this.
    Needs(Need),
    /// It provides what other algorithms need.
    Gives(Need),
}

impl Fact {
    /// Every fact of an algorithm with these `facts` and `params`. A fact that is returned with a parameter holds under
    /// that condition on its value.
    pub fn all(facts: &[Fact], params: &'static [Param]) -> impl Iterator<Item = (Fact, Option<Condition>)> {
        let of = |p: &'static Param| match p.role {
            Role::Makes { fact, also } => Some((fact, Some(Condition { param: p, also }))),
            _ => None,
        };
        facts.iter().map(|&fact| (fact, None)).chain(params.iter().filter_map(of))
    }
    /// The text of [`Fact::File`].
    pub fn file(self) -> Option<&'static str> {
        if let Fact::File(text) = self { Some(text) } else { None }
    }
}

/// The condition under which a parameter makes a fact: a flag is true, a time is below the largest allowed.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// The parameter.
    pub param: &'static Param,
    /// Another parameter must have this word too.
    pub also: Option<(&'static str, &'static str)>,
}

impl Condition {
    /// True if the condition holds for `args`.
    pub fn holds(&self, args: &Args) -> bool {
        let own = match self.param.unit {
            Unit::Time => args.time(self.param.name).as_secs_f64() < self.param.range.1,
            _ => args.flag(self.param.name),
        };
        own && self.also.is_none_or(|(other, word)| args.word(other) == word)
    }
}

impl core::fmt::Display for Condition {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.param.unit {
            Unit::Time => write!(f, "{} is below {} s", self.param.name, self.param.range.1)?,
            _ => write!(f, "{} = true", self.param.name)?,
        }
        self.also.map_or(Ok(()), |(other, word)| write!(f, " and {other} = \"{word}\""))
    }
}

/// What an algorithm requires from the network around it, because it has no effect otherwise. [`crate::cc::Needs`] is
/// what a controller requires from its own sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A queue that marks packets whose transport supports ECN (RFC 3168).
    Marks,
    /// A queue that answers XCP headers.
    Xcp,
    /// A queue that answers RCP headers.
    Rcp,
    /// A queue that answers WCP headers.
    Wcp,
    /// A channel with an SNR, given or from positions. No algorithm gives it.
    Snr,
    /// A channel on which the rate decides how much is lost.
    Errors,
}

impl Need {
    /// Every need.
    pub const ALL: [Need; 6] = [Need::Marks, Need::Xcp, Need::Rcp, Need::Wcp, Need::Snr, Need::Errors];

    /// What is needed, with its article.
    pub const fn noun(self) -> &'static str {
        match self {
            Need::Marks => "a queue that marks packets (ECN)",
            Need::Xcp => "a queue that answers XCP headers",
            Need::Rcp => "a queue that answers RCP headers",
            Need::Wcp => "a queue that answers WCP headers",
            Need::Snr => "a channel with an SNR",
            Need::Errors => "an error model, by which faster rates lose more",
        }
    }
}

/// One parameter of an algorithm.
#[derive(Debug, PartialEq)]
pub struct Param {
    /// The key in the file.
    pub name: &'static str,
    /// The symbol of the source for it; empty if formulas use its name.
    pub symbol: &'static str,
    /// A description in one sentence.
    pub doc: &'static str,
    /// The kind of value.
    pub unit: Unit,
    /// The default, written as in a file; `None` if the parameter is mandatory.
    pub default: Option<&'static str>,
    /// Smallest and largest value allowed, in base units (seconds, bits per second, bytes or packets, a fraction of 1);
    /// (0, 0) when the unit has no range. Infinite where an algorithm in Python has no bound.
    pub range: (f64, f64),
    /// The use of the value by other code before the algorithm is built.
    pub role: Role,
}

/// The use of a parameter's value by other code before the algorithm is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    Private,
    /// How much may wait in a discipline, or in a part of it: [`Entry::limit`].
    Limit,
    /// Whether an access rule gives each category a queue: [`Entry::has_categories`].
    Categories,
    /// That the algorithm has this fact if the value fulfils the [`Condition`]: [`Choice::has`].
    Makes {
        /// The fact.
        fact: Fact,
        /// [`Condition::also`].
        also: Option<(&'static str, &'static str)>,
    },
    /// Nothing, and the value has no meaning unless the parameter `other` is given too.
    Beside {
        /// The other parameter.
        other: &'static str,
        /// What happens without it.
        without: &'static str,
        /// What to write.
        remedy: &'static str,
    },
}

/// Constructors make a parameter that must be given and has no range, until [`Param::default`] and [`Param::range`].
impl Param {
    /// A parameter of `unit`.
    pub const fn new(name: &'static str, unit: Unit, doc: &'static str) -> Param {
        Param { name, symbol: "", doc, unit, default: None, range: (0.0, 0.0), role: Role::Private }
    }
    /// A plain number.
    pub const fn number(name: &'static str, doc: &'static str) -> Param {
        Param::new(name, Unit::Number, doc)
    }
    /// A whole number.
    pub const fn integer(name: &'static str, doc: &'static str) -> Param {
        Param::new(name, Unit::Integer, doc)
    }
    /// A duration; its range is in seconds.
    pub const fn time(name: &'static str, doc: &'static str) -> Param {
        Param::new(name, Unit::Time, doc)
    }
    /// A rate; its range is in bits per second.
    pub const fn rate(name: &'static str, doc: &'static str) -> Param {
        Param::new(name, Unit::Rate, doc)
    }
    /// An amount of queue; its range is in packets or bytes.
    pub const fn amount(name: &'static str, doc: &'static str) -> Param {
        Param::new(name, Unit::Amount, doc)
    }
    /// A probability or share.
    pub const fn fraction(name: &'static str, doc: &'static str) -> Param {
        Param::new(name, Unit::Fraction, doc)
    }
    /// `true` or `false`.
    pub const fn flag(name: &'static str, doc: &'static str) -> Param {
        Param::new(name, Unit::Bool, doc)
    }
    /// One of `words`.
    pub const fn word(name: &'static str, words: &'static [&'static str], doc: &'static str) -> Param {
        Param::new(name, Unit::Word(words), doc)
    }
    /// The same with a default, written as in a file.
    #[must_use]
    pub const fn default(mut self, text: &'static str) -> Param {
        self.default = Some(text);
        self
    }
    /// The same with the symbol that the source and the [formulas](crate::formulas) have for it.
    #[must_use]
    pub const fn symbol(mut self, symbol: &'static str) -> Param {
        self.symbol = symbol;
        self
    }
    /// The same with a smallest and a largest value.
    #[must_use]
    pub const fn range(mut self, least: f64, most: f64) -> Param {
        self.range = (least, most);
        self
    }
    /// The same as a limit of a discipline's backlog; for [`Unit::Amount`]. [`Entry::limit`] adds up such parameters.
    #[must_use]
    pub const fn limits_queue(mut self) -> Param {
        self.role = Role::Limit;
        self
    }
    /// The same for a flag or a time: if it is true, or below the largest time, the algorithm has `fact`.
    #[must_use]
    pub const fn makes(mut self, fact: Fact) -> Param {
        self.role = Role::Makes { fact, also: None };
        self
    }
    /// The same for a parameter that makes a fact: only if the parameter `other` has this word.
    #[must_use]
    pub const fn only_with(mut self, other: &'static str, word: &'static str) -> Param {
        if let Role::Makes { fact, .. } = self.role {
            self.role = Role::Makes { fact, also: Some((other, word)) };
        }
        self
    }
    /// The same for a value that has no meaning unless the parameter `other` is given too. `without` says what happens
    /// without it, `remedy` what to write.
    #[must_use]
    pub const fn beside(mut self, other: &'static str, without: &'static str, remedy: &'static str) -> Param {
        self.role = Role::Beside { other, without, remedy };
        self
    }
    /// The same for an access rule that gives each category a queue if the value is not empty.
    #[must_use]
    pub const fn makes_categories(mut self) -> Param {
        self.role = Role::Categories;
        self
    }
}

/// The kind of value of a parameter. It determines the form in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// A plain number.
    Number,
    /// A whole number.
    Integer,
    /// A duration, `"15ms"`.
    Time,
    /// A rate, `"54Mbps"`.
    Rate,
    /// An amount of queue, `"100p"` or `"150kB"`.
    Amount,
    /// A probability or share, `"1%"` or `0.01`.
    Fraction,
    /// `true` or `false`.
    Bool,
    /// One of the given words.
    Word(&'static [&'static str]),
    /// A list of rates with their times, `[["50s", "100s", "2Mbps"]]`.
    Schedule,
    /// A list of intervals, `[["400ms", "410ms"]]`.
    Intervals,
    /// A list of packets to drop, `[{ flow = "f", segment = 20, copy = 0 }]`.
    Drops,
    /// A positive number per name, `[["down.1.sta", 2], ["down.2.sta", 1]]`; `range` bounds the numbers.
    Weights,
    /// A list of numbers, `[4, 3, 2, 1]`; `range` bounds each.
    Numbers,
    /// A table of these parameters, `{ cwmin = 7 }`. Each parameter is optional.
    Group(&'static [Param]),
}

/// One packet of a [`Unit::Drops`] list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropRule {
    /// Name of the flow.
    pub flow: String,
    /// Number of the segment in the flow's data, from 0.
    pub segment: u64,
    /// Transmission number: 0 is the first transmission, 1 the first retransmission, and so on.
    pub copy: u8,
}

/// An amount of waiting data: packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of packets of any size.
    Packets(u64),
    /// A number of bytes, IP headers included.
    Bytes(u64),
}

impl Amount {
    /// The sum, if both have the same unit.
    pub fn plus(self, other: Amount) -> Option<Amount> {
        match (self, other) {
            (Amount::Packets(a), Amount::Packets(b)) => Some(Amount::Packets(a.saturating_add(b))),
            (Amount::Bytes(a), Amount::Bytes(b)) => Some(Amount::Bytes(a.saturating_add(b))),
            _ => None,
        }
    }
    /// The number, if the unit is packets.
    pub fn packets(self) -> Option<u64> {
        match self {
            Amount::Packets(n) => Some(n),
            Amount::Bytes(_) => None,
        }
    }
}

/// The value of a parameter, checked against its [`Param`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// [`Unit::Number`] and [`Unit::Fraction`].
    Number(f64),
    /// [`Unit::Integer`].
    Integer(i64),
    /// [`Unit::Time`].
    Time(Span),
    /// [`Unit::Rate`], in bits per second.
    Rate(u64),
    /// [`Unit::Amount`].
    Amount(Amount),
    /// [`Unit::Bool`].
    Bool(bool),
    /// [`Unit::Word`].
    Word(String),
    /// [`Unit::Schedule`]: from, to, bits per second.
    Schedule(Vec<(Time, Time, u64)>),
    /// [`Unit::Intervals`]: from, to.
    Intervals(Vec<(Time, Time)>),
    /// [`Unit::Drops`].
    Drops(Vec<DropRule>),
    /// [`Unit::Weights`].
    Weights(Vec<(String, f64)>),
    /// [`Unit::Numbers`].
    Numbers(Vec<f64>),
    /// [`Unit::Group`]. Only the parameters that were given are present.
    Group(Args),
}

/// Checks intervals of time, from and to: none is empty, and each begins after the one before has ended.
///
/// # Errors
/// The first interval for which this does not hold, as `what`, with `remedy`.
pub fn in_order(
    intervals: impl IntoIterator<Item = (Time, Time)>,
    what: &str,
    remedy: &'static str,
) -> Result<(), Refusal> {
    let mut last = Time::ZERO;
    for (from, to) in intervals {
        if from < last || to <= from {
            let wrong = format!("{what} {from} to {to} is empty or begins before the previous one ends");
            return Err(Refusal::new(wrong, remedy));
        }
        last = to;
    }
    Ok(())
}

/// A full set of parameters: every parameter of the algorithm, each with a value inside its range.
///
/// For a name or type that the [`Param`]s do not have, an accessor returns the zero of the type. A test builds every
/// registry entry with [`Args::strict`] arguments and so proves that no entry reads such a name or type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Args {
    values: Vec<(&'static str, Value)>,
    /// True if reading a missing name or type panics.
    strict: bool,
}

impl Args {
    /// Sets `name` to `value`, replacing an earlier value.
    pub fn set(&mut self, name: &'static str, value: Value) {
        match self.values.iter_mut().find(|(n, _)| *n == name) {
            Some((_, v)) => *v = value,
            None => self.values.push((name, value)),
        }
    }
    /// The same arguments for a test. An accessor panics where it would return the zero of the type, and [`Args::get`]
    /// panics where it would return `None`.
    pub fn strict(mut self) -> Args {
        self.strict = true;
        self
    }
    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let value = self.values.iter().find(|(n, _)| *n == name).map(|(_, v)| v);
        assert!(!self.strict || value.is_some(), "`{name}` is read, but it is no parameter");
        value
    }
    /// The value of an accessor if `name` is missing or has another type.
    fn absent<T>(&self, name: &str, zero: T) -> T {
        assert!(!self.strict, "`{name}` is read as a type that the parameter does not have");
        zero
    }
    /// A [`Unit::Number`] or [`Unit::Fraction`].
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Value::Number(x)) => *x,
            Some(Value::Integer(x)) => *x as f64,
            _ => self.absent(name, 0.0),
        }
    }
    /// A [`Unit::Integer`].
    pub fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Value::Integer(x)) => *x,
            _ => self.absent(name, 0),
        }
    }
    /// A [`Unit::Time`].
    pub fn time(&self, name: &str) -> Span {
        match self.get(name) {
            Some(Value::Time(x)) => *x,
            _ => self.absent(name, Span::ZERO),
        }
    }
    /// A [`Unit::Rate`] in bits per second.
    pub fn rate(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Rate(x)) => *x,
            _ => self.absent(name, 0),
        }
    }
    /// A [`Unit::Amount`].
    pub fn amount(&self, name: &str) -> Amount {
        match self.get(name) {
            Some(Value::Amount(x)) => *x,
            _ => self.absent(name, Amount::Packets(0)),
        }
    }
    /// A [`Unit::Bool`].
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(on)) => *on,
            _ => self.absent(name, false),
        }
    }
    /// A [`Unit::Word`].
    pub fn word(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Value::Word(w)) => w,
            _ => self.absent(name, ""),
        }
    }
    /// A [`Unit::Schedule`]: from, to, bits per second.
    pub fn schedule(&self, name: &str) -> &[(Time, Time, u64)] {
        match self.get(name) {
            Some(Value::Schedule(s)) => s,
            _ => self.absent(name, &[]),
        }
    }
    /// A [`Unit::Intervals`]: from, to.
    pub fn intervals(&self, name: &str) -> &[(Time, Time)] {
        match self.get(name) {
            Some(Value::Intervals(s)) => s,
            _ => self.absent(name, &[]),
        }
    }
    /// A [`Unit::Drops`].
    pub fn drops(&self, name: &str) -> &[DropRule] {
        match self.get(name) {
            Some(Value::Drops(d)) => d,
            _ => self.absent(name, &[]),
        }
    }
    /// A [`Unit::Weights`].
    pub fn weights(&self, name: &str) -> &[(String, f64)] {
        match self.get(name) {
            Some(Value::Weights(w)) => w,
            _ => self.absent(name, &[]),
        }
    }
    /// A [`Unit::Numbers`].
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.get(name) {
            Some(Value::Numbers(x)) => x,
            _ => self.absent(name, &[]),
        }
    }
    /// A [`Unit::Group`]; `None` if it was not given.
    pub fn group(&self, name: &str) -> Option<&Args> {
        match self.get(name) {
            Some(Value::Group(args)) => Some(args),
            _ => self.absent(name, None),
        }
    }
}

/// An algorithm chosen by name, with a full set of parameters.
#[derive(Debug)]
pub struct Choice<B: 'static> {
    /// The chosen algorithm.
    pub entry: &'static Entry<B>,
    /// The parameters of the algorithm.
    pub args: Args,
}

impl<B> Choice<B> {
    /// True if `fact` holds for the algorithm with its parameters.
    pub fn has(&self, fact: Fact) -> bool {
        Fact::all(self.entry.facts, self.entry.params)
            .any(|(f, when)| f == fact && when.is_none_or(|when| when.holds(&self.args)))
    }
    /// How much may wait in all, see [`Entry::limit`].
    pub fn limit(&self) -> Option<Amount> {
        self.entry.limit(&self.args)
    }
    /// True if the rule gives each category a queue.
    pub fn has_categories(&self) -> bool {
        self.entry.has_categories(&self.args)
    }
}

impl<B> Clone for Choice<B> {
    fn clone(&self) -> Self {
        Choice { entry: self.entry, args: self.args.clone() }
    }
}

/// The member of `family` with the name `name`.
pub fn find<B>(family: &'static [Entry<B>], name: &str) -> Option<&'static Entry<B>> {
    family.iter().find(|e| e.name == name)
}

/// The name of an entry from its module: `r#static`, which Rust needs for a keyword, is `static`.
pub const fn name_of(module: &'static str) -> &'static str {
    match module.as_bytes() {
        [b'r', b'#', ..] => module.split_at(2).1,
        _ => module,
    }
}

/// Declares the modules of a family and its table: `registry!(Build; reno, cubic);`. The [`Fact`]s of a member follow
/// its name: `registry!(Build; fifo [Fact::DropTail], codel);`.
#[macro_export]
macro_rules! registry {
    ($build:ty; $($name:ident $([$($fact:expr),+ $(,)?])?),* $(,)?) => {
        $(pub mod $name;)*
        /// Every member of this family.
        pub static REGISTRY: &[$crate::registry::Entry<$build>] = &[$(
            $crate::registry::Entry {
                name: $crate::registry::name_of(stringify!($name)),
                cite: $name::CITE,
                summary: $name::SUMMARY,
                params: $name::PARAMS,
                formulas: $name::FORMULAS,
                facts: &[$($($fact),+)?],
                build: $name::build,
            },
        )*];
    };
}
