//! Numbers with units, and arithmetic on them: `15ms`, `= 10ms + 2ms*(k-1)`.

use contend_core::Span;
use std::fmt;

/// Longest time a file may speak of, in seconds: 11 days.
pub(crate) const LONGEST: f64 = 1e6;
/// Highest rate, in bits per second.
pub(crate) const FASTEST: f64 = 1e12;

/// A number in the base unit of its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// In seconds, bits per second, bytes, packets or metres; a percentage is a plain number (`1%` is 0.01).
    pub value: f64,
    /// What it measures.
    pub unit: Dimension,
}

/// What a quantity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Nothing: a plain number.
    Number,
    /// A duration.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Metres.
    Length,
}

/// Every unit: its name, what it measures, and how many of the base unit it is (a factor and a divisor, so that `0.1us`
/// is exact).
const UNITS: &[(&str, Dimension, f64, f64)] = &[
    ("s", Dimension::Time, 1.0, 1.0),
    ("ms", Dimension::Time, 1.0, 1e3),
    ("us", Dimension::Time, 1.0, 1e6),
    ("ns", Dimension::Time, 1.0, 1e9),
    ("bps", Dimension::Rate, 1.0, 1.0),
    ("kbps", Dimension::Rate, 1e3, 1.0),
    ("Mbps", Dimension::Rate, 1e6, 1.0),
    ("Gbps", Dimension::Rate, 1e9, 1.0),
    ("B", Dimension::Bytes, 1.0, 1.0),
    ("kB", Dimension::Bytes, 1e3, 1.0),
    ("MB", Dimension::Bytes, 1e6, 1.0),
    ("p", Dimension::Packets, 1.0, 1.0),
    ("m", Dimension::Length, 1.0, 1.0),
    ("%", Dimension::Number, 1.0, 100.0),
];

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum NotAQuantity {
    /// It does not begin with a number.
    NoNumber,
    /// It is a number alone.
    NoUnit(f64),
    /// The number is followed by this, which is no unit.
    NoSuchUnit(String),
}

impl Dimension {
    /// Whether values of the two can be added and compared: packets are plain counts.
    pub fn adds_to(self, other: Dimension) -> bool {
        let plain = |d| if d == Dimension::Packets { Dimension::Number } else { d };
        plain(self) == plain(other)
    }

    /// All of them.
    pub const ALL: [Dimension; 6] =
        [Dimension::Number, Dimension::Time, Dimension::Rate, Dimension::Bytes, Dimension::Packets, Dimension::Length];

    /// The unit that [`Quantity::value`] is in, as a file writes it.
    pub const fn base(self) -> &'static str {
        match self {
            Dimension::Number => "",
            Dimension::Time => "s",
            Dimension::Rate => "bps",
            Dimension::Bytes => "B",
            Dimension::Packets => "p",
            Dimension::Length => "m",
        }
    }

    /// What a message calls it.
    pub const fn noun(self) -> &'static str {
        match self {
            Dimension::Number => "a plain number",
            Dimension::Time => "a duration",
            Dimension::Rate => "a rate",
            Dimension::Bytes => "a number of bytes",
            Dimension::Packets => "a number of packets",
            Dimension::Length => "a length",
        }
    }

    /// The names of its units, for a message.
    pub fn units(self) -> String {
        UNITS.iter().filter(|u| u.1 == self).map(|u| u.0).collect::<Vec<_>>().join(", ")
    }
}

impl Quantity {
    /// A plain number.
    pub const fn number(value: f64) -> Quantity {
        Quantity { value, unit: Dimension::Number }
    }

    /// Reads `15ms`, `54 Mbps`, `1%`.
    ///
    /// # Errors
    /// When the text is anything else, a number without a unit included.
    pub fn parse(text: &str) -> Result<Quantity, NotAQuantity> {
        let text = text.trim();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let len = text.len() - digits.len() + number_length(digits);
        let (number, unit) = text.split_at(len);
        let value: f64 = number.parse().map_err(|_| NotAQuantity::NoNumber)?;
        match unit.trim_start() {
            "" => Err(NotAQuantity::NoUnit(value)),
            unit => Quantity::of(value, unit).ok_or_else(|| NotAQuantity::NoSuchUnit(unit.into())),
        }
    }

    /// `value` of the unit called `unit`.
    fn of(value: f64, unit: &str) -> Option<Quantity> {
        UNITS
            .iter()
            .find(|u| u.0 == unit)
            .map(|&(_, unit, factor, divisor)| Quantity { value: value * factor / divisor, unit })
    }

    /// As a file could write it: a number, or a string with the base unit.
    pub fn to_json(self) -> serde_json::Value {
        match self.unit {
            Dimension::Number if self.value.fract() == 0.0 && self.value.abs() < 9e15 => {
                serde_json::Value::from(self.value as i64)
            }
            Dimension::Number => serde_json::Value::from(self.value),
            _ => serde_json::Value::from(self.to_string()),
        }
    }
}

/// With its base unit, as a file could write it.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, self.unit.base())
    }
}

/// A duration, as the command line takes it.
///
/// # Errors
/// A message when the text is no duration, or longer than a file may name.
pub fn span(text: &str) -> Result<Span, String> {
    only(text, Dimension::Time, LONGEST).map(Span::from_secs_f64)
}

/// A rate in bits per second, as the command line takes it.
///
/// # Errors
/// A message when the text is no rate, or higher than a file may name.
pub fn rate(text: &str) -> Result<u64, String> {
    only(text, Dimension::Rate, FASTEST).map(|bps| bps.round() as u64)
}

fn only(text: &str, unit: Dimension, most: f64) -> Result<f64, String> {
    match Quantity::parse(text) {
        Ok(q) if q.unit == unit && (0.0..=most).contains(&q.value) => Ok(q.value),
        Ok(q) if q.unit == unit => Err(format!("{text} is not between 0 and {}", Quantity { value: most, unit })),
        Ok(q) => Err(format!("{text} is {}, not {}", q.unit.noun(), unit.noun())),
        Err(NotAQuantity::NoUnit(x)) => Err(format!("{x} of what? Units are {}", unit.units())),
        Err(NotAQuantity::NoSuchUnit(word)) => Err(format!("there is no unit `{word}`; units are {}", unit.units())),
        Err(NotAQuantity::NoNumber) => Err(format!("`{text}` is no quantity")),
    }
}

/// The unit of one of these kinds that `word` was most probably meant to be: `Mb` is `Mbps` where a rate is wanted, and
/// `MB` where bytes are.
pub(crate) fn nearest_unit(word: &str, kinds: &[Dimension]) -> Option<&'static str> {
    let plain = word.replace("bit/s", "bps").replace("b/s", "bps").replace("bit", "b").replace(['µ', 'μ'], "u");
    let units = || UNITS.iter().filter(|u| kinds.contains(&u.1)).map(|u| u.0);
    let begins = |unit: &str| unit.get(..plain.len()).is_some_and(|start| start.eq_ignore_ascii_case(&plain));
    let nearly = || crate::names::nearest(word, units().filter(|u| u.chars().next() == word.chars().next()));
    units()
        .find(|u| u.starts_with(&plain))
        .or_else(|| units().find(|u| u.eq_ignore_ascii_case(&plain)))
        .or_else(|| units().find(|u| begins(u)))
        .or_else(nearly)
}

/// How many bytes at the start of `text` are an unsigned decimal number, with an exponent or without.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text.get(from..).map_or(0, |t| t.bytes().take_while(u8::is_ascii_digit).count());
    let mut len = digits(0);
    if text.get(len..).is_some_and(|t| t.starts_with('.')) {
        len += 1 + digits(len + 1);
    }
    let exponent = text
        .get(len..)
        .and_then(|t| t.strip_prefix(['e', 'E']))
        .map_or("", |t| t.strip_prefix(['-', '+']).unwrap_or(t));
    if len > 0 && exponent.starts_with(|c: char| c.is_ascii_digit()) {
        let start = text.len() - exponent.len();
        len = start + digits(start);
    }
    len
}

/// The value of `text`, an expression with `+ - * /`, brackets, `min max floor`, units, and the names that `lookup`
/// knows.
///
/// # Errors
/// A message for the one who wrote it.
pub(crate) fn evaluate(text: &str, lookup: &dyn Fn(&str) -> Option<Quantity>) -> Result<Quantity, String> {
    let mut parser = Parser { rest: text.trim(), lookup, depth: 0 };
    let value = parser.sum()?;
    match parser.rest.chars().next() {
        Some(c) => Err(format!("`{c}` is not expected here")),
        None if value.value.is_finite() => Ok(value),
        None => Err("the result is no number (a division by zero?)".into()),
    }
}

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;

struct Parser<'a> {
    rest: &'a str,
    lookup: &'a dyn Fn(&str) -> Option<Quantity>,
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<Quantity, String> {
        let mut left = self.product()?;
        loop {
            let sign = match self.rest.chars().next() {
                Some('+') => 1.0,
                Some('-') => -1.0,
                _ => return Ok(left),
            };
            self.rest = self.rest.get(1..).unwrap_or("").trim_start();
            let right = self.product()?;
            same(left, right)?;
            left.value += sign * right.value;
        }
    }

    fn product(&mut self) -> Result<Quantity, String> {
        let mut left = self.factor()?;
        loop {
            if self.take('*') {
                let right = self.factor()?;
                let unit = match (left.unit, right.unit) {
                    (unit, Dimension::Number) | (Dimension::Number, unit) => unit,
                    (a, b) => return Err(format!("{} times {} is nothing a file can use", a.noun(), b.noun())),
                };
                left = Quantity { value: left.value * right.value, unit };
            } else if self.take('/') {
                let right = self.factor()?;
                let unit = match (left.unit, right.unit) {
                    (unit, Dimension::Number) => unit,
                    (a, b) if a == b => Dimension::Number,
                    (a, b) => return Err(format!("{} divided by {} is nothing a file can use", a.noun(), b.noun())),
                };
                left = Quantity { value: left.value / right.value, unit };
            } else {
                return Ok(left);
            }
        }
    }

    fn factor(&mut self) -> Result<Quantity, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".into());
        }
        let value = self.leaf();
        self.depth -= 1;
        value
    }

    fn leaf(&mut self) -> Result<Quantity, String> {
        if self.take('-') {
            let q = self.factor()?;
            return Ok(Quantity { value: -q.value, ..q });
        }
        if self.take('(') {
            let value = self.sum()?;
            return if self.take(')') { Ok(value) } else { Err("a bracket is not closed".into()) };
        }
        let len = number_length(self.rest);
        if len > 0 {
            let (number, rest) = self.rest.split_at(len);
            let unit = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '%').unwrap_or(rest.len());
            let (unit, rest) = rest.split_at(unit);
            self.rest = rest.trim_start();
            let value: f64 = number.parse().map_err(|_| format!("`{number}` is no number"))?;
            return if unit.is_empty() {
                Ok(Quantity::number(value))
            } else {
                Quantity::of(value, unit).ok_or_else(|| format!("there is no unit `{unit}`"))
            };
        }
        let len = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(len);
        if name.is_empty() {
            return Err(match rest.chars().next() {
                Some(c) => format!("`{c}` is not expected here"),
                None => "it ends too early".into(),
            });
        }
        self.rest = rest.trim_start();
        if self.take('(') {
            self.call(name)
        } else {
            (self.lookup)(name).ok_or_else(|| format!("there is no `{name}`"))
        }
    }

    fn call(&mut self, name: &str) -> Result<Quantity, String> {
        let first = self.sum()?;
        let mut value = first;
        let mut count = 1;
        while self.take(',') {
            let next = self.sum()?;
            same(first, next)?;
            value.value = if name == "min" { value.value.min(next.value) } else { value.value.max(next.value) };
            count += 1;
        }
        if !self.take(')') {
            return Err(format!("the bracket of `{name}(` is not closed"));
        }
        match (name, count, first.unit) {
            ("min" | "max", 2.., _) => Ok(value),
            ("floor", 1, Dimension::Number) => Ok(Quantity::number(first.value.floor())),
            ("min" | "max", ..) => Err(format!("`{name}` takes two values or more")),
            ("floor", ..) => Err("`floor` takes one plain number".into()),
            _ => Err(format!("there is no function `{name}`; there are min, max and floor")),
        }
    }
}

fn same(a: Quantity, b: Quantity) -> Result<(), String> {
    if a.unit == b.unit { Ok(()) } else { Err(format!("{} and {} do not go together", a.unit.noun(), b.unit.noun())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_base_units() {
        let read = |t: &str| Quantity::parse(t).map(|q| (q.value, q.unit));
        assert_eq!(read("15ms"), Ok((0.015, Dimension::Time)));
        assert_eq!(read("5.5 Mbps"), Ok((5.5e6, Dimension::Rate)));
        assert_eq!(read("7%"), Ok((0.07, Dimension::Number)));
        assert_eq!(read("1e3kB"), Ok((1e6, Dimension::Bytes)));
        assert_eq!(read("-42p"), Ok((-42.0, Dimension::Packets)));
        assert_eq!(read("15"), Err(NotAQuantity::NoUnit(15.0)));
        assert_eq!(read("15mbps"), Err(NotAQuantity::NoSuchUnit("mbps".into())));
        assert_eq!(
            [read("ms"), read(""), read("."), read("inf"), read("é")],
            [const { Err(NotAQuantity::NoNumber) }; 5]
        );
    }

    #[test]
    fn the_command_line_takes_durations_and_rates() {
        assert_eq!((span("20us"), rate("5.5Mbps")), (Ok(Span::from_micros(20)), Ok(5_500_000)));
        assert_eq!(span("20"), Err("20 of what? Units are s, ms, us, ns".into()));
        assert_eq!(rate("20us"), Err("20us is a duration, not a rate".into()));
        assert_eq!(span("-1s"), Err("-1s is not between 0 and 1000000s".into()));
    }

    #[test]
    fn a_wrong_unit_has_a_nearest_one() {
        let cases = [
            ("mbps", "Mbps"),
            ("Mbit/s", "Mbps"),
            ("Mbit", "Mbps"),
            ("Mb", "Mbps"),
            ("KB", "kB"),
            ("msec", "ms"),
            ("µs", "us"),
            ("pkt", "p"),
        ];
        cases.iter().for_each(|(word, unit)| assert_eq!(nearest_unit(word, &Dimension::ALL), Some(*unit), "{word}"));
    }

    #[test]
    fn the_nearest_unit_is_of_the_kind_that_is_wanted() {
        const AMOUNT: &[Dimension] = &[Dimension::Packets, Dimension::Bytes];
        let near = |word, kinds: &[Dimension]| nearest_unit(word, kinds);
        assert_eq!(
            [near("Mb", &[Dimension::Rate]), near("Mb", AMOUNT), near("Mb", &[Dimension::Time])],
            [Some("Mbps"), Some("MB"), None]
        );
        assert_eq!([near("mb", &[Dimension::Rate]), near("K", &[Dimension::Bytes])], [Some("Mbps"), Some("kB")]);
        assert_eq!(
            [near("b", &[Dimension::Rate]), near("b", AMOUNT), near("pkt", AMOUNT)],
            [Some("bps"), Some("B"), Some("p")]
        );
        assert_eq!([near("mps", &[Dimension::Time]), near("Mps", &[Dimension::Rate])], [Some("ms"), Some("Mbps")]);
        assert_eq!(near("x", &[Dimension::Number]), None, "a whole number has no unit");
    }

    #[test]
    fn expressions_keep_their_units() {
        let eval = |t: &str| evaluate(t, &|name| (name == "k").then_some(Quantity::number(3.0))).map(|q| q.to_string());
        assert_eq!(eval("10ms + 2ms*(k-1)").as_deref(), Ok("0.014s"));
        assert_eq!(eval("max(1, k, 2) / 2").as_deref(), Ok("1.5"));
        assert_eq!(eval("floor(10ms / 3ms)").as_deref(), Ok("3"));
        assert_eq!(eval("-k*2p - -8p").as_deref(), Ok("2p"));
        assert_eq!(eval("10ms + 2"), Err("a duration and a plain number do not go together".into()));
        assert_eq!(eval("1/0"), Err("the result is no number (a division by zero?)".into()));
        assert_eq!(eval("j"), Err("there is no `j`".into()));
        assert_eq!(eval("1 2"), Err("`2` is not expected here".into()));
        assert_eq!(eval("min(1)"), Err("`min` takes two values or more".into()));
        assert_eq!(eval(&"(".repeat(100_000)), Err("it is nested too deeply".into()));
        assert_eq!(eval(&"-".repeat(100_000)), Err("it is nested too deeply".into()));
    }
}
