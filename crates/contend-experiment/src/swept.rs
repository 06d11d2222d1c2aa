//! Values of swept keys and sweep points, and how they are shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

/// A sweep point: key path -> value, as written in the file.
pub type PointKey = BTreeMap<String, SweptValue>;

/// A value of a swept key, and its label if the file gives one. Labels do not count in comparisons and in JSON.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SweptValue {
    value: Value,
    #[serde(skip)]
    label: Option<String>,
}

impl SweptValue {
    /// This value with another label.
    pub fn labelled(self, label: Option<String>) -> SweptValue {
        SweptValue { label, ..self }
    }

    /// The label that the file gives.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The text that stands for the value in tables and figures: the label of the file, otherwise a short form.
    pub fn text(&self) -> String {
        self.label.clone().unwrap_or_else(|| short(&self.value))
    }

    /// The value as `--set` takes it: TOML, or a text without quotes.
    pub fn setting(&self) -> String {
        match &self.value {
            Value::String(text) if text.trim() == text && text.parse::<toml_edit::Value>().is_err() => text.clone(),
            other => toml(other),
        }
    }
}

impl<V: Into<Value>> From<V> for SweptValue {
    fn from(value: V) -> SweptValue {
        SweptValue { value: value.into(), label: None }
    }
}

/// The value as in JSON.
impl Display for SweptValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl Deref for SweptValue {
    type Target = Value;
    fn deref(&self) -> &Value {
        &self.value
    }
}

impl PartialEq for SweptValue {
    fn eq(&self, other: &SweptValue) -> bool {
        self.value == other.value
    }
}

impl PartialEq<Value> for SweptValue {
    fn eq(&self, other: &Value) -> bool {
        self.value == *other
    }
}

/// A value in TOML, on one line.
fn toml(v: &Value) -> String {
    match v {
        Value::Null => "\"\"".to_owned(),
        Value::Array(list) => format!("[{}]", list.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let entry = |(key, value): (&String, &Value)| format!("{} = {}", toml_edit::Key::new(key), toml(value));
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        // Numbers, and texts with JSON's escapes, are the same in TOML.
        other => other.to_string(),
    }
}

/// `fifo 1000p` for `{ kind = "fifo", limit = "1000p" }`, `fcwa oracle` for `{ kind = "fcwa", oracle = true }`, `red
/// min_th=5 max_th=15` when there is more than one parameter. Strings have no quotes.
fn short(v: &Value) -> String {
    let table = match v {
        Value::String(text) => return text.clone(),
        Value::Object(table) => table,
        other => return other.to_string(),
    };
    let kind = table.get("kind").map(short);
    let parameters = || table.iter().filter(|(k, _)| *k != "kind");
    let alone = kind.is_some() && parameters().count() == 1;
    let parameter = |(k, v): (&String, &Value)| match v {
        Value::Bool(true) => k.clone(),
        Value::Bool(false) => format!("no {k}"),
        Value::Object(_) => format!("{k}=({})", short(v)),
        _ if alone => short(v),
        _ => format!("{k}={}", short(v)),
    };
    kind.into_iter().chain(parameters().map(parameter)).collect::<Vec<_>>().join(" ")
}

/// A point as text, `flow.1.count = 2, ap.queue = fifo`; empty when nothing is swept.
pub fn point_text(p: &PointKey) -> String {
    p.iter().map(|(k, v)| format!("{k} = {}", v.text())).collect::<Vec<_>>().join(", ")
}

/// Each of `points` once, in the order of its first appearance.
pub fn distinct<'a>(points: impl IntoIterator<Item = &'a PointKey>) -> Vec<&'a PointKey> {
    let mut all = Vec::new();
    for point in points {
        if !all.contains(&point) {
            all.push(point);
        }
    }
    all
}

/// The labels of a file: swept key -> each labelled value with its label. JSON results have them beside the values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labels(BTreeMap<String, Vec<Labelled>>);

/// A value and its label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Labelled {
    value: Value,
    label: String,
}

impl Labels {
    /// The labels that `points` have.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a PointKey>) -> Labels {
        let mut all: BTreeMap<String, Vec<Labelled>> = BTreeMap::new();
        for (key, v) in points.into_iter().flatten() {
            let Some(label) = v.label() else { continue };
            let known = all.entry(key.clone()).or_default();
            if known.iter().all(|l| l.value != **v) {
                known.push(Labelled { value: v.value.clone(), label: label.to_owned() });
            }
        }
        Labels(all)
    }

    /// True if no value has a label.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives the values of `point` their labels.
    pub fn give(&self, point: &mut PointKey) {
        for (key, v) in point {
            let label = self.0.get(key).and_then(|all| all.iter().find(|l| l.value == v.value));
            v.label = label.map(|l| l.label.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_of_the_file_has_a_short_text() {
        let text = |v: Value| SweptValue::from(v).text();
        assert_eq!(text(json!({"kind": "fifo", "limit": "1000p"})), "fifo 1000p");
        assert_eq!(text(json!({"kind": "fcwa", "oracle": true})), "fcwa oracle");
        assert_eq!(text(json!({"kind": "red", "min_th": 5, "max_th": 15})), "red max_th=15 min_th=5");
        assert_eq!(text(json!({"cc": {"kind": "reno", "count": "acks"}})), "cc=(reno acks)");
        assert_eq!(text(json!(["a", 1])), "[\"a\",1]");
    }

    #[test]
    fn a_label_is_shown_but_neither_compared_nor_written() {
        let plain = SweptValue::from(json!({"kind": "fifo", "limit": "1000p"}));
        let deep = plain.clone().labelled(Some("deep".into()));
        assert_eq!((deep.text().as_str(), deep == plain, json!(deep) == json!(plain)), ("deep", true, true));
        let mut point = PointKey::from([("ap.queue".to_owned(), deep), ("k".to_owned(), 1.into())]);
        assert_eq!(point_text(&point), "ap.queue = deep, k = 1");
        // Results that are read from JSON get their labels back.
        let labels = Labels::of([&point]);
        let mut read: PointKey = serde_json::from_value(json!(point)).unwrap();
        assert_eq!(point_text(&read), "ap.queue = fifo 1000p, k = 1");
        serde_json::from_value::<Labels>(json!(labels)).unwrap().give(&mut read);
        assert_eq!(point_text(&read), "ap.queue = deep, k = 1");
        point.retain(|key, _| key == "k");
        assert!(Labels::of([&point]).is_empty() && !labels.is_empty());
    }
}
