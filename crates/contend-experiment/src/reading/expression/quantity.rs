//! Numbers with units (`15ms`, `54Mbps`, `1%`), and the units of results of arithmetic.

use contend_core::{Refusal, Span};
use std::fmt;

/// Longest time allowed in a file, in seconds: 11 days.
pub const LONGEST: f64 = 1e6;
/// Highest rate allowed in a file, in bits per second.
pub const FASTEST: f64 = 1e12;

/// A number in the base unit of its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Value in seconds, bits per second, bytes, packets or metres. A percentage is a plain number (`1%` is 0.01).
    pub value: f64,
    /// Dimension of the quantity.
    pub unit: Dimension,
}

/// Dimension of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A plain number.
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

/// All units: name, dimension, and size in base units. The size is a factor and a divisor, so that `0.1us` is exact.
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

/// A unit as it is written in a file; results are shown in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenUnit {
    /// The name in files; empty for a plain number.
    pub name: &'static str,
    factor: f64,
    divisor: f64,
}

impl WrittenUnit {
    /// A plain number.
    pub const PLAIN: WrittenUnit = WrittenUnit { name: "", factor: 1.0, divisor: 1.0 };

    /// The unit of a quantity as it is written: `ms` of `30ms`. `None` for anything else.
    pub fn of(text: &str) -> Option<WrittenUnit> {
        Quantity::parse(text).ok()?;
        let unit = text.trim_start().trim_start_matches(['-', '+']);
        WrittenUnit::named(unit.get(number_length(unit)..)?.trim())
    }

    /// The unit of this name.
    pub fn named(name: &str) -> Option<WrittenUnit> {
        UNITS.iter().find(|u| u.0 == name).map(|&(name, _, factor, divisor)| WrittenUnit { name, factor, divisor })
    }

    /// The largest unit in which `value`, in base units, is at least 1; the base unit if there is none.
    pub fn fitting(dimension: Dimension, value: f64) -> WrittenUnit {
        let all = UNITS.iter().filter(|u| u.1 == dimension && dimension != Dimension::Number);
        let fits = |u: &&(&str, Dimension, f64, f64)| value.abs() >= u.2 / u.3;
        let (name, factor, divisor) = all
            .filter(fits)
            .max_by(|a, b| (a.2 / a.3).total_cmp(&(b.2 / b.3)))
            .map_or((dimension.base(), 1.0, 1.0), |u| (u.0, u.2, u.3));
        WrittenUnit { name, factor, divisor }
    }

    /// `value`, in base units, as a number of this unit.
    pub fn count(self, value: f64) -> f64 {
        value * self.divisor / self.factor
    }

    /// The name in results: `Mb/s` for `Mbps`.
    pub fn label(self) -> String {
        self.name.replace("bps", "b/s")
    }
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum NotAQuantity {
    /// The text does not begin with a number.
    NoNumber,
    /// The text is a number without a unit.
    NoUnit(f64),
    /// The text after the number is not a unit.
    NoSuchUnit(String),
}

impl Dimension {
    /// True if values of the two dimensions can be added and compared. Packets and plain numbers can: both are counts.
    pub fn adds_to(self, other: Dimension) -> bool {
        let plain = |d| if d == Dimension::Packets { Dimension::Number } else { d };
        plain(self) == plain(other)
    }

    /// The dimension of a sum; `None` when the values cannot be added. The sum of packets and a plain number is
    /// packets.
    pub fn plus(self, other: Dimension) -> Option<Dimension> {
        self.adds_to(other).then_some(if self == Dimension::Number { other } else { self })
    }

    /// The dimension of a product; `None` when it has none.
    pub fn times(self, other: Dimension) -> Option<Dimension> {
        match (self, other) {
            (Dimension::Number, unit) | (unit, Dimension::Number) => Some(unit),
            _ => None,
        }
    }

    /// The dimension of a quotient; `None` when it has none.
    pub fn divided_by(self, other: Dimension) -> Option<Dimension> {
        match (self, other) {
            (unit, Dimension::Number) => Some(unit),
            (a, b) => a.adds_to(b).then_some(Dimension::Number),
        }
    }

    /// All dimensions.
    pub const ALL: [Dimension; 6] =
        [Dimension::Number, Dimension::Time, Dimension::Rate, Dimension::Bytes, Dimension::Packets, Dimension::Length];

    /// The base unit, as written in a file.
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

    /// The name in messages.
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

    /// A value with its unit, for messages.
    pub const fn example(self) -> &'static str {
        match self {
            Dimension::Number => "0.01",
            Dimension::Time => "50ms",
            Dimension::Rate => "2Mbps",
            Dimension::Bytes => "1000B",
            Dimension::Packets => "20p",
            Dimension::Length => "10m",
        }
    }

    /// The names of all units of this dimension, for messages.
    pub fn units(self) -> String {
        UNITS.iter().filter(|u| u.1 == self).map(|u| u.0).collect::<Vec<_>>().join(", ")
    }
}

impl Quantity {
    /// A plain number.
    pub const fn number(value: f64) -> Quantity {
        Quantity { value, unit: Dimension::Number }
    }

    /// Parses `15ms`, `54 Mbps`, `1%`.
    ///
    /// # Errors
    /// When the text is not a number with a unit.
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

    /// `value` in the unit `unit`.
    fn of(value: f64, unit: &str) -> Option<Quantity> {
        UNITS
            .iter()
            .find(|u| u.0 == unit)
            .map(|&(_, unit, factor, divisor)| Quantity { value: value * factor / divisor, unit })
    }

    /// As written in a file: a number, or a string with the base unit.
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

/// With the base unit, as written in a file.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, self.unit.base())
    }
}

/// Parses a duration of the command line.
///
/// # Errors
/// When the text is not a duration, or is too long.
pub fn span(text: &str) -> Result<Span, Refusal> {
    only(text, Dimension::Time, LONGEST).map(Span::from_secs_f64)
}

/// Parses a rate of the command line, in bits per second.
///
/// # Errors
/// When the text is not a rate, or is too high.
pub fn rate(text: &str) -> Result<u64, Refusal> {
    only(text, Dimension::Rate, FASTEST).map(|bps| bps.round() as u64)
}

/// Parses a number of bytes of the command line.
///
/// # Errors
/// When the text is not a number of bytes, or is more than `most`.
pub fn bytes(text: &str, most: u64) -> Result<u64, Refusal> {
    only(text, Dimension::Bytes, most as f64).map(|b| b.round() as u64)
}

fn only(text: &str, unit: Dimension, most: f64) -> Result<f64, Refusal> {
    let what = match Quantity::parse(text) {
        Ok(q) if q.unit == unit && (0.0..=most).contains(&q.value) => return Ok(q.value),
        Ok(q) if q.unit == unit => format!("{text} is not between 0 and {}", Quantity { value: most, unit }),
        Ok(q) => format!("{text} is {}, not {}", q.unit.noun(), unit.noun()),
        Err(NotAQuantity::NoUnit(x)) => format!("{x} has no unit; units are {}", unit.units()),
        Err(NotAQuantity::NoSuchUnit(word)) => format!("there is no unit `{word}`; units are {}", unit.units()),
        Err(NotAQuantity::NoNumber) => format!("`{text}` is not a quantity"),
    };
    Err(Refusal::new(what, format!("write {} like {}", unit.noun(), unit.example())))
}

/// The unit of one of these dimensions that is nearest to the misspelt `word`: `Mb` is `Mbps` if a rate is expected,
/// and `MB` if bytes are.
pub fn nearest_unit(word: &str, kinds: &[Dimension]) -> Option<&'static str> {
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

/// Length in bytes of the unsigned decimal number at the start of `text`, with or without an exponent.
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
    fn a_value_is_shown_in_the_unit_that_is_written() {
        let shown = |text: &str, value: f64| WrittenUnit::of(text).map(|u| (u.count(value), u.label()));
        assert_eq!(shown("30ms", 0.0241), Some((24.1, "ms".to_owned())));
        assert_eq!(shown(" 2 Mbps", 1.83e6), Some((1.83, "Mb/s".to_owned())));
        assert_eq!(shown("5%", 0.042), Some((4.2, "%".to_owned())));
        assert_eq!(shown("-1e3us", 0.25), Some((250_000.0, "us".to_owned())));
        assert_eq!([shown("5", 1.0), shown("fifo", 1.0), shown("= 2ms * k", 1.0)], [None, None, None]);
    }

    #[test]
    fn a_value_without_a_written_unit_has_the_largest_that_fits() {
        let fitting = |d, value| WrittenUnit::fitting(d, value).name;
        assert_eq!([fitting(Dimension::Rate, 3e5), fitting(Dimension::Rate, -2e6)], ["kbps", "Mbps"]);
        assert_eq!([fitting(Dimension::Time, 0.3), fitting(Dimension::Time, 0.0)], ["ms", "s"]);
        assert_eq!([fitting(Dimension::Number, 0.3), fitting(Dimension::Packets, 7.0)], ["", "p"]);
    }

    #[test]
    fn the_command_line_takes_durations_and_rates() {
        assert_eq!((span("20us"), rate("5.5Mbps")), (Ok(Span::from_micros(20)), Ok(5_500_000)));
        let said = |e: Option<Refusal>| e.map_or_else(String::new, |e| e.to_string());
        assert_eq!(
            [said(span("20").err()), said(rate("20us").err()), said(span("-1s").err())],
            [
                "20 has no unit; units are s, ms, us, ns; write a duration like 50ms",
                "20us is a duration, not a rate; write a rate like 2Mbps",
                "-1s is not between 0 and 1000000s; write a duration like 50ms",
            ]
        );
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
}
