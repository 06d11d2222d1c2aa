//! Parameters from text, as the vectors write them.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contend_core::Span;
use contend_core::registry::{Amount, Args, Entry, Param, Unit, Value};

/// The defaults of `entry`.
pub fn defaults<B>(entry: &Entry<B>) -> Args {
    let mut args = Args::default();
    entry.params.iter().filter_map(|p| Some((p, p.default?))).for_each(|(p, text)| args.set(p.name, value(p, text)));
    args
}

/// The value that `text` gives to `p`.
pub fn value(p: &Param, text: &str) -> Value {
    match p.unit {
        Unit::Integer => Value::Integer(text.parse().unwrap()),
        Unit::Number => Value::Number(text.parse().unwrap()),
        Unit::Time => Value::Time(span(text)),
        Unit::Rate => Value::Rate((1e6 * text.strip_suffix("Mbps").unwrap().parse::<f64>().unwrap()) as u64),
        Unit::Bool => Value::Bool(text == "true"),
        Unit::Word(words) if words.contains(&text) => Value::Word(text.into()),
        Unit::Amount => Value::Amount(amount(text)),
        Unit::Fraction => Value::Number(text.strip_suffix('%').map_or_else(|| text.parse().unwrap(), |t| t.parse::<f64>().unwrap() / 100.0)),
        _ => panic!("{}: cannot read `{text}`", p.name),
    }
}

pub fn amount(text: &str) -> Amount {
    if let Some(n) = text.strip_suffix('p') {
        return Amount::Packets(n.parse().unwrap());
    }
    match text.strip_suffix("kB") {
        Some(n) => Amount::Bytes(1_000 * n.parse::<u64>().unwrap()),
        None => Amount::Bytes(text.strip_suffix('B').unwrap().parse().unwrap()),
    }
}

pub fn span(text: &str) -> Span {
    let unit = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)].into_iter().find(|(u, _)| text.ends_with(u));
    let (unit, scale) = unit.unwrap_or_else(|| panic!("`{text}` has no unit of time"));
    let number: f64 = text.strip_suffix(unit).unwrap().parse().unwrap_or_else(|_| panic!("`{text}` is no time"));
    Span::from_secs_f64(number * scale)
}
