//! The JSON schema of experiment files, for editors: names, values, defaults and explanations while one types.
//!
//! The schema accepts whatever the reader accepts. It refuses wrong names and wrong forms, but not everything that the
//! reader refuses: keys that contradict each other, or names of places that do not exist.

use super::keys::{Algorithm, Default, FILE, Family, Key, Kind, Table, Word, tables, variants};
use super::tree::read_setting;
use crate::reading::model::models;
use contend_core::qdisc::{ACK_FILTER, ACK_FILTER_DOC};
use contend_core::registry::{Param, Unit};
use serde_json::{Map, Value, json};

/// A number as the reader reads it.
const NUMBER: &str = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?";

/// The schema (JSON Schema, draft 2020-12).
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for t in tables().into_iter().filter(|t| t.heading != FILE.heading) {
        definitions.insert(id(t), table(t));
    }
    for (name, units) in QUANTITIES {
        let pattern = format!(r"^\s*{NUMBER}\s*({units})\s*$");
        definitions.insert(name.to_owned(), json!({ "type": "string", "pattern": pattern }));
    }
    definitions.insert(EXPRESSION.to_owned(), json!({ "type": "string", "pattern": r"^\s*=" }));
    definitions.insert(
        CASE.to_owned(),
        json!({
            "type": "object",
            "description": "Depends on a parameter: { case = \"std\", n = \"802.11n\", else = \"802.11ac\" }.",
            "properties": { "case": { "type": "string", "description": "The name of the parameter in [param]." } },
            "required": ["case"],
        }),
    );
    for family in Family::ALL {
        definitions.insert(family.name().to_owned(), algorithms(family));
    }
    let mut file = table(&FILE);
    if let Some(object) = file.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!("contend experiment"));
        object.insert(
            "anyOf".to_owned(),
            json!([
                { "required": ["duration", "flow"] },
                { "required": ["model"] },
                { "required": ["contention"] },
                { "required": ["test"], "properties": { "test": { "required": ["missing"] } } },
            ]),
        );
        object.insert("$defs".to_owned(), Value::Object(definitions));
    }
    file
}

/// The name of a table's definition.
fn id(table: &Table) -> String {
    table.heading.chars().filter(|c| !matches!(c, '[' | ']')).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn table(table: &Table) -> Value {
    let mut properties: Map<String, Value> = table.keys.iter().map(|k| (k.name.to_owned(), key(k, table))).collect();
    let required: Vec<&str> = table.keys.iter().filter(|k| k.default == Default::Required).map(|k| k.name).collect();
    let mut others = json!(false);
    match table.heading {
        // The arguments of all models.
        "[model]" => properties.extend(
            models()
                .flat_map(|m| m.parameters)
                .map(|p| (p.name.to_owned(), json!({ "description": p.doc, "anyOf": any_of(&[Kind::Quantity]) }))),
        ),
        // Key paths; with dots and without quotes, they are tables.
        "[sweep]" => others = json!({ "type": ["array", "object"] }),
        _ => {}
    }
    json!({
        "type": "object",
        "description": table.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": others,
    })
}

fn key(key: &Key, of: &Table) -> Value {
    let mut forms = any_of(key.kinds);
    if of.has_members {
        let items = one_of(forms.clone());
        forms.push(json!({ "type": "array", "items": items, "minItems": 1 }));
    }
    // A table stands alone: editors then name the place of an error inside it.
    let is_table = |kind: &Kind| matches!(kind, Kind::Table(_) | Kind::Tables(_));
    if !SAME_EVERYWHERE.contains(&of.heading) && !key.kinds.iter().all(is_table) {
        forms.push(reference(CASE));
    }
    let mut schema = one_of(forms);
    if let Some(object) = schema.as_object_mut() {
        let text = format!("{}\n\nDefault: {}.", key.doc, key.default_in_words());
        object.insert("description".to_owned(), json!(text));
        object.insert("examples".to_owned(), json!([value(key.example)]));
    }
    if let (Default::Value(text), Some(object)) = (key.default, schema.as_object_mut()) {
        object.insert("default".to_owned(), value(text));
    }
    schema
}

/// A value of one of these forms. A single form stands alone: editors then name the place of an error inside it.
fn one_of(mut forms: Vec<Value>) -> Value {
    match (forms.pop(), forms.is_empty()) {
        (Some(form), true) => form,
        (last, _) => json!({ "anyOf": forms.into_iter().chain(last).collect::<Vec<_>>() }),
    }
}

/// A value that is written as in a file.
fn value(text: &str) -> Value {
    read_setting(0, 0, text).to_json()
}

fn any_of(kinds: &[Kind]) -> Vec<Value> {
    let mut forms: Vec<Value> = kinds.iter().flat_map(kind).collect();
    // Any quantity may be an expression.
    let is_quantity = |kind: &Kind| {
        use Kind::*;
        matches!(
            kind,
            Number
                | Share
                | Whole(..)
                | Segments(..)
                | Time
                | PositiveTime
                | Length
                | Rate
                | Amount
                | Bytes(..)
                | Quantity
        )
    };
    if kinds.iter().any(is_quantity) {
        forms.push(reference(EXPRESSION));
    }
    forms
}

/// The forms of a value of this kind.
fn kind(kind: &Kind) -> Vec<Value> {
    match kind {
        Kind::Text | Kind::Expression | Kind::KeyPath => vec![json!({ "type": "string" })],
        Kind::Flag => vec![json!({ "type": "boolean" })],
        Kind::Number => vec![json!({ "type": "number" })],
        Kind::Share => vec![json!({ "type": "number" }), reference(PERCENT)],
        Kind::Whole(low, high) => vec![whole(*low, *high)],
        Kind::Segments(low, high) => vec![whole(*low, *high), reference(PACKETS)],
        Kind::Time | Kind::PositiveTime => vec![reference(TIME)],
        Kind::Length => vec![reference(LENGTH)],
        Kind::Rate => vec![reference(RATE)],
        Kind::Amount => vec![reference(AMOUNT)],
        Kind::Bytes(..) => vec![reference(BYTES)],
        Kind::Quantity => vec![json!({ "type": "number" }), reference(ANY)],
        Kind::Word(words) => vec![word(words)],
        Kind::Form(form, doc) => vec![json!({ "type": "string", "pattern": pattern(form), "description": doc })],
        Kind::Variant => {
            let all = variants();
            let names: Vec<&str> = all.iter().map(|v| v.name).collect();
            let docs: Vec<&str> = all.iter().map(|v| v.doc.as_str()).collect();
            vec![names_with_docs(&names, &docs)]
        }
        Kind::Model => {
            let names: Vec<&str> = models().map(|m| m.name).collect();
            let docs: Vec<&str> = models().map(|m| m.doc).collect();
            vec![names_with_docs(&names, &docs)]
        }
        Kind::Algorithm(family) | Kind::Usual(family) => vec![reference(family.name())],
        Kind::List(of) => {
            vec![json!({ "type": "array", "items": one_of(any_of(std::slice::from_ref(of))) })]
        }
        Kind::Table(table) => vec![reference(&id(table))],
        Kind::Tables(table) => vec![json!({ "type": "array", "items": reference(&id(table)) })],
        Kind::Map(_, []) => vec![json!({ "type": "object" })],
        Kind::Map(_, kinds) => {
            let forms: Vec<Value> = any_of(kinds).into_iter().chain([reference(CASE)]).collect();
            vec![json!({ "type": "object", "additionalProperties": { "anyOf": forms } })]
        }
    }
}

/// The definitions of texts with a unit: name and units.
const QUANTITIES: [(&str, &str); 8] = [
    (TIME, "s|ms|us|ns"),
    (RATE, "bps|kbps|Mbps|Gbps"),
    (LENGTH, "m"),
    (AMOUNT, "p|B|kB|MB"),
    (BYTES, "B|kB|MB"),
    (PACKETS, "p"),
    (PERCENT, "%"),
    (ANY, "s|ms|us|ns|bps|kbps|Mbps|Gbps|p|B|kB|MB|m|%"),
];
const TIME: &str = "a-duration";
const LENGTH: &str = "a-length";
const RATE: &str = "a-rate";
const AMOUNT: &str = "packets-or-bytes";
const BYTES: &str = "bytes";
const PACKETS: &str = "packets";
const PERCENT: &str = "percent";
const ANY: &str = "a-quantity";
/// The tables whose values are the same at every point.
const SAME_EVERYWHERE: [&str; 9] = [
    "the file",
    "seeds as a table",
    "[sweep]",
    "[[claim]]",
    "[[check]]",
    "expect of a [[claim]] or [[check]]",
    "[[figure]]",
    "[search]",
    "[[program]]",
];
/// The definition of a value that depends on a parameter.
const CASE: &str = "a-case";
/// The definition of an expression in place of a quantity.
const EXPRESSION: &str = "an-expression";

fn whole(low: u64, high: u64) -> Value {
    match high {
        u64::MAX => json!({ "type": "integer", "minimum": low }),
        _ => json!({ "type": "integer", "minimum": low, "maximum": high }),
    }
}

fn word(words: &[Word]) -> Value {
    let names: Vec<&str> = words.iter().map(|w| w.name).collect();
    let docs: Vec<&str> = words.iter().map(|w| w.doc).collect();
    names_with_docs(&names, &docs)
}

/// One of these names; editors that use taplo show the explanation of each.
fn names_with_docs(names: &[&str], docs: &[&str]) -> Value {
    json!({ "enum": names, "x-taplo": { "docs": { "enumValues": docs } } })
}

/// The pattern of a [`Kind::Form`]: numbers may differ, and what stands in parentheses.
fn pattern(form: &str) -> String {
    if let Some((name, _)) = form.split_once('(') {
        return format!(r"^\s*{name}\(.*\)\s*$");
    }
    let unit = form.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    if unit.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return format!(r"^\s*{NUMBER}\s*{unit}\s*$");
    }
    let numbers: Vec<&str> = form.split("..").map(|_| r"\s*\d+\s*").collect();
    format!("^{}$", numbers.join(r"\.\."))
}

/// The algorithms of a family: a name, or a table of `kind` and its parameters.
fn algorithms(family: Family) -> Value {
    let all = family.algorithms();
    let names: Vec<&str> = all.iter().map(|a| a.name).collect();
    let docs: Vec<&str> = all.iter().map(|a| a.summary).collect();
    let mut forms = vec![names_with_docs(&names, &docs)];
    // A name may have hyphens in place of underscores.
    let hyphenated: Vec<String> = names.iter().filter(|n| n.contains('_')).map(|n| n.replace('_', "-")).collect();
    if !hyphenated.is_empty() {
        forms.push(json!({ "enum": hyphenated }));
    }
    forms.extend(all.iter().map(|a| algorithm(family, a)));
    json!({ "anyOf": forms })
}

fn algorithm(family: Family, a: &Algorithm) -> Value {
    let mut properties: Map<String, Value> = a.params.iter().map(|p| (p.name.to_owned(), parameter(p))).collect();
    properties.insert("kind".to_owned(), json!({ "enum": [a.name, a.name.replace('_', "-")] }));
    if matches!(family, Family::Estimators | Family::Observers) {
        properties.insert("name".to_owned(), json!({ "type": "string", "description": "The name in the results." }));
    }
    if family == Family::Qdiscs {
        properties.insert(ACK_FILTER.to_owned(), json!({ "type": "boolean", "description": ACK_FILTER_DOC }));
    }
    if let Some(doc) = a.facts.iter().find_map(|f| f.file()) {
        properties.insert("file".to_owned(), json!({ "type": "string", "description": doc }));
    }
    // Without `kind`, a controller or recovery is that of the variant.
    let mut required = match family {
        Family::Controllers | Family::Recoveries => vec![],
        _ => vec!["kind"],
    };
    required.extend(a.params.iter().filter(|p| p.default.is_none()).map(|p| p.name));
    json!({
        "type": "object",
        "description": a.summary,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn parameter(p: &Param) -> Value {
    let mut forms = unit(p);
    let items = one_of(forms.clone());
    // A list has a value for each member.
    forms.push(json!({ "type": "array", "items": items, "minItems": 1 }));
    forms.push(reference(CASE));
    let mut schema = json!({ "description": p.doc, "anyOf": forms });
    if let (Some(text), Some(object)) = (p.default, schema.as_object_mut()) {
        object.insert("default".to_owned(), value(text));
    }
    schema
}

/// The forms of a value of a parameter.
fn unit(p: &Param) -> Vec<Value> {
    let (low, high) = p.range;
    let list =
        |of: Vec<Value>| json!({ "type": "array", "prefixItems": of, "minItems": of.len(), "maxItems": of.len() });
    let lists = |of: Vec<Value>| vec![json!({ "type": "array", "items": list(of) })];
    // JSON has no infinite numbers: an algorithm in Python may leave a bound out.
    let bounded = |kind: &str| {
        let bounds = [("minimum", low), ("maximum", high)].into_iter().filter(|(_, x)| x.is_finite());
        let bounds = bounds.map(|(name, x)| (name.to_owned(), json!(x)));
        Value::Object(std::iter::once(("type".to_owned(), json!(kind))).chain(bounds).collect())
    };
    let number = || bounded("number");
    let mut forms = match p.unit {
        Unit::Number => vec![number()],
        Unit::Fraction => vec![number(), reference(PERCENT)],
        Unit::Integer => vec![bounded("integer")],
        Unit::Time => vec![reference(TIME)],
        Unit::Rate => vec![reference(RATE)],
        Unit::Amount => vec![reference(AMOUNT)],
        Unit::Bool => return vec![json!({ "type": "boolean" })],
        Unit::Word(words) => return vec![json!({ "enum": words })],
        Unit::Schedule => return lists(vec![reference(TIME), reference(TIME), reference(RATE)]),
        Unit::Intervals => return lists(vec![reference(TIME), reference(TIME)]),
        Unit::Weights => return lists(vec![json!({ "type": "string" }), number()]),
        Unit::Numbers => return vec![json!({ "type": "array", "items": number() })],
        Unit::Drops => {
            return vec![json!({ "type": "array", "items": {
                "type": "object",
                "properties": {
                    "flow": { "type": "string", "description": "The name of the flow." },
                    "segment": { "type": "integer", "minimum": 0, "description": "Number of the segment, from 0." },
                    "copy": { "type": "integer", "minimum": 0, "maximum": 255, "default": 0,
                        "description": "The transmission to lose: 0 is the first." },
                },
                "required": ["flow", "segment"],
                "additionalProperties": false,
            } })];
        }
        Unit::Group(of) => {
            let properties: Map<String, Value> = of.iter().map(|p| (p.name.to_owned(), parameter(p))).collect();
            return vec![json!({ "type": "object", "properties": properties, "additionalProperties": false })];
        }
    };
    forms.push(reference(EXPRESSION));
    forms
}
