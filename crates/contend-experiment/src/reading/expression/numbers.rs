//! Values of a swept key as numbers on an axis.

use super::literal;
use crate::swept::SweptValue;

/// The values as numbers, and the unit of the first one. `None` unless all values are numbers, or all are quantities of
/// one dimension; `None` also if one has a label.
pub fn numbers<'a>(values: &[&'a SweptValue]) -> Option<(Vec<f64>, &'a str)> {
    if values.iter().any(|v| v.label().is_some()) {
        return None;
    }
    if let Some(plain) = values.iter().map(|v| v.as_f64()).collect::<Option<Vec<f64>>>() {
        return Some((plain, ""));
    }
    let unit = values.first()?.as_str()?.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-. ".contains(c));
    let one = literal(&format!("1{unit}"))?;
    let number = |v: &&SweptValue| literal(v.as_str()?).filter(|n| n.unit == one.unit).map(|n| n.value / one.value);
    Some((values.iter().map(number).collect::<Option<_>>()?, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(values: &Value) -> Option<(Vec<f64>, String)> {
        let values: Vec<SweptValue> = values.as_array().unwrap().iter().cloned().map(SweptValue::from).collect();
        numbers(&values.iter().collect::<Vec<_>>()).map(|(n, unit)| (n, unit.to_owned()))
    }

    #[test]
    fn quantities_of_one_kind_are_numbers_in_the_unit_of_the_first() {
        assert_eq!(read(&json!([1, 2.5])), Some((vec![1.0, 2.5], String::new())));
        assert_eq!(read(&json!(["5ms", "1s"])), Some((vec![5.0, 1000.0], "ms".into())));
        assert_eq!(read(&json!(["50p", "100p"])), Some((vec![50.0, 100.0], "p".into())));
        assert_eq!(read(&json!(["50%", "100%"])), Some((vec![50.0, 100.0], "%".into())));
        for names in [
            json!(["reno", "cubic"]),
            json!(["50p", "64kB"]),
            json!([1, "1ms"]),
            json!([true, false]),
            json!([{"kind": "fifo"}]),
        ] {
            assert_eq!(read(&names), None, "{names}");
        }
    }

    #[test]
    fn a_value_with_a_label_is_a_name() {
        let few = SweptValue::from(5).labelled(Some("few".into()));
        assert_eq!(numbers(&[&few, &50.into()]), None);
    }
}
