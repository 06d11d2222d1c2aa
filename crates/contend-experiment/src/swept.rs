//! Values of swept keys and sweep points, and how they are shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

/// A sweep point: key path -> value, as written in the file.
pub type PointKey = BTreeMap<String, SweptValue>;

/// A value of a swept key, its label if the file gives one, and the place of its key in the file. Only the value counts
/// in comparisons and in JSON.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SweptValue {
    value: Value,
    #[serde(skip)]
    label: Option<String>,
    /// The row of a `zip` to which the value belongs, if the rows have labels.
    #[serde(skip)]
    row: Option<Box<Row>>,
    /// The place of the key among the swept keys of the file.
    #[serde(skip)]
    place: usize,
}

/// A row of a `zip` whose rows have labels.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    /// What the rows are: the head of their column.
    name: String,
    label: String,
}

impl SweptValue {
    /// This value with another label.
    pub fn labelled(self, label: Option<String>) -> SweptValue {
        SweptValue { label, ..self }
    }

    /// This value as that of a key which is number `place` of the swept keys.
    pub fn at(self, place: usize) -> SweptValue {
        SweptValue { place, ..self }
    }

    /// This value in the row `label` of a `zip` whose rows are called `name`.
    pub fn in_row(self, name: &str, label: &str) -> SweptValue {
        SweptValue { row: Some(Box::new(Row { name: name.to_owned(), label: label.to_owned() })), ..self }
    }

    /// The place of the key among the swept keys.
    pub fn place(&self) -> usize {
        self.place
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
        SweptValue { value: value.into(), label: None, row: None, place: 0 }
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
/// min_th=5 max_th=15` when there is more than one parameter, `{}` for a table without keys. Strings have no quotes.
fn short(v: &Value) -> String {
    let table = match v {
        Value::String(text) => return text.clone(),
        Value::Object(table) if !table.is_empty() => table,
        other => return other.to_string(),
    };
    let kind = table.get("kind").map(short);
    let parameters = || table.iter().filter(|(k, _)| *k != "kind");
    let alone = kind.is_some() && parameters().count() == 1;
    let parameter = |(k, v): (&String, &Value)| match v {
        Value::Bool(true) => k.clone(),
        Value::Bool(false) => format!("no {k}"),
        Value::Object(inner) if !inner.is_empty() => format!("{k}=({})", short(v)),
        _ if alone => short(v),
        _ => format!("{k}={}", short(v)),
    };
    kind.into_iter().chain(parameters().map(parameter)).collect::<Vec<_>>().join(" ")
}

/// A point as text, `flow.1.count = 2, ap.queue = fifo`; empty when nothing is swept.
pub fn point_text(p: &PointKey) -> String {
    columns(p).iter().map(|(k, text)| format!("{k} = {text}")).collect::<Vec<_>>().join(", ")
}

/// The columns that tell a point in a table, each with its text, in the order of the file: a swept key with its value,
/// or the name of the rows of a `zip` with a label.
pub fn columns(p: &PointKey) -> Vec<(&str, String)> {
    let mut keys: Vec<(&String, &SweptValue)> = p.iter().collect();
    keys.sort_by_key(|(_, v)| v.place);
    let mut all: Vec<(&str, String)> = vec![];
    for (key, value) in keys {
        let (name, text) = match &value.row {
            Some(row) => (row.name.as_str(), row.label.clone()),
            None => (key.as_str(), value.text()),
        };
        if all.iter().all(|(known, _)| *known != name) {
            all.push((name, text));
        }
    }
    all
}

/// Each of `points` once, in the order of its first appearance.
pub fn distinct<'a>(points: impl IntoIterator<Item = &'a PointKey>) -> Vec<&'a PointKey> {
    by_point(points, |point| point).into_iter().map(|(point, _)| point).collect()
}

/// The items of each point, in the order of the points' first appearance. The cost grows with the number of items, not
/// with its square.
pub fn by_point<'a, T>(
    items: impl IntoIterator<Item = &'a T>,
    point: impl Fn(&'a T) -> &'a PointKey,
) -> Vec<(&'a PointKey, Vec<&'a T>)> {
    let (mut all, mut places): (Vec<(&PointKey, Vec<&T>)>, _) = (vec![], BTreeMap::new());
    for item in items {
        let point = point(item);
        let text: String = point.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        let place = *places.entry(text).or_insert(all.len());
        if place == all.len() {
            all.push((point, vec![]));
        }
        all[place].1.push(item);
    }
    all
}

/// The labels of a file: swept key -> each labelled value with its label. JSON results have them beside the values. The
/// labels of the rows of a `zip` have the name of the rows in place of the key, and an object of keys as their value.
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
        let mut add = |key: &str, value: Value, label: &str| {
            let known = all.entry(key.to_owned()).or_default();
            if known.iter().all(|l| l.value != value) {
                known.push(Labelled { value, label: label.to_owned() });
            }
        };
        for point in points {
            for (key, v) in point {
                if let Some(label) = v.label() {
                    add(key, v.value.clone(), label);
                }
                let Some(row) = &v.row else { continue };
                let of_row = point.iter().filter(|(_, other)| other.row == v.row);
                add(&row.name, of_row.map(|(k, v)| (k.clone(), v.value.clone())).collect(), &row.label);
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
        for (key, v) in &mut *point {
            let label = self.0.get(key).and_then(|all| all.iter().find(|l| l.value == v.value));
            v.label = label.map(|l| l.label.clone());
        }
        for (name, all) in &self.0 {
            // The name of rows is no key of a point.
            if point.contains_key(name) {
                continue;
            }
            for Labelled { value, label } in all {
                let Value::Object(row) = value else { continue };
                if row.iter().all(|(k, v)| point.get(k).is_some_and(|p| p == v)) {
                    let of_row = point.iter_mut().filter(|(k, _)| row.contains_key(*k));
                    of_row.for_each(|(_, v)| *v = std::mem::take(v).in_row(name, label));
                }
            }
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
        assert_eq!([text(json!({})), text(json!({"addba": {}}))], ["{}", "addba={}"]);
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

    #[test]
    fn the_label_of_a_row_stands_for_all_its_keys_and_columns_are_in_the_order_of_the_file() {
        let of = |v: u32, place: usize| SweptValue::from(v).at(place);
        let row = |v: u32, place: usize| of(v, place).in_row("home", "old");
        let point: PointKey = [("z", of(1, 0)), ("b", row(5, 1)), ("a", row(7, 2))].map(|(k, v)| (k.into(), v)).into();
        assert_eq!(point_text(&point), "z = 1, home = old");
        let labels = json!(Labels::of([&point]));
        assert_eq!(labels, json!({"home": [{"value": {"a": 7, "b": 5}, "label": "old"}]}));
        let labels: Labels = serde_json::from_value(labels).unwrap();
        let read = |a: u32| {
            let mut read: PointKey = serde_json::from_value(json!({"z": 1, "a": a, "b": 5})).unwrap();
            labels.give(&mut read);
            point_text(&read)
        };
        // A read point has no places.
        assert_eq!((read(7).as_str(), read(8).as_str()), ("home = old, z = 1", "a = 8, b = 5, z = 1"));
    }
}
