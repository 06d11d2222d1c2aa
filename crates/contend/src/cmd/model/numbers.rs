//! Parsers for the options of models: numbers, shares and durations.

use super::MOST;
use contend_core::Refusal;
use contend_lab::reading::expression::{Dimension, Quantity, quantity};

/// A list of plain numbers.
#[derive(Clone, Debug)]
pub(super) struct Numbers(pub(super) Vec<f64>);

/// The parts of a list that commas separate.
pub(super) fn split<T>(s: &str, one: impl FnMut(&str) -> Result<T, Refusal>) -> Result<Vec<T>, Refusal> {
    s.split(',').map(str::trim).map(one).collect()
}

/// Rates in bits per second.
pub(super) fn rates(s: &str) -> Result<Numbers, Refusal> {
    split(s, |t| quantity::rate(t).map(|bps| bps as f64).map_err(|e| Refusal::new(e.what, "write 11Mbps"))).map(Numbers)
}

pub(super) fn numbers(s: &str) -> Result<Numbers, Refusal> {
    let all = split(s, number)?;
    if all.len() > MOST as usize {
        Err(Refusal::new(format!("the list makes more than {MOST} rows"), "write a shorter list"))
    } else {
        Ok(Numbers(all))
    }
}

/// A plain number or a percentage.
pub(super) fn number(s: &str) -> Result<f64, Refusal> {
    match Quantity::parse(s) {
        Ok(q) if q.unit == Dimension::Number => Ok(q.value),
        Ok(q) => Err(Refusal::new(format!("{q} is {}", q.unit.noun()), "write a number like 0.01 or 1%")),
        Err(_) => s.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
            let remedy = "write a number like 0.01 or 1%, or a list like 0.1%,1%,10%";
            Refusal::new(format!("`{s}` is not a number"), remedy)
        }),
    }
}

/// A share, from 0 to 1.
pub(super) fn share(s: &str) -> Result<f64, Refusal> {
    number(s).and_then(|x| {
        if (0.0..=1.0).contains(&x) {
            Ok(x)
        } else {
            Err(Refusal::new(format!("{s} is not between 0 and 1"), "write a share like 0.01 or 1%"))
        }
    })
}

pub(super) fn shares(s: &str) -> Result<Numbers, Refusal> {
    let all = numbers(s)?;
    match all.0.iter().find(|x| !(0.0..=1.0).contains(*x)) {
        Some(x) => Err(Refusal::new(format!("{x} is not between 0 and 1"), "write shares like 0.1%,1%,10%")),
        None => Ok(all),
    }
}

/// Seconds, as in `50ms`.
pub(super) fn seconds(s: &str) -> Result<f64, Refusal> {
    quantity::span(s).map(|s| s.as_secs_f64())
}
