//! The file as a tree of values with their places; settings and overlays change this tree.

use super::error::{FileError, Source, Spot};
use super::table_names::TableNames;
use crate::names::suggest;
use crate::results::PointKey;
use contend_core::Refusal;
use std::collections::BTreeMap;
use toml_edit::{Item, Key, TableLike, Value};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub site: Spot,
    pub kind: NodeKind,
}

/// The value.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// A table made by a dotted key, `a.b = 1`. In tables of key paths, `a.b` is a single path.
    Dotted(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub site: Spot,
    pub value: Node,
}

impl Node {
    /// The entries of a table.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.kind {
            NodeKind::Table(entries) | NodeKind::Dotted(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of `key`, in a table.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|e| e.key == key).map(|e| &e.value)
    }

    /// The value at the key path `path`, with the numbers of tables.
    pub fn at(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(self, |node, part| match &node.kind {
            NodeKind::List(list) => list.get(part.parse::<usize>().ok()?),
            _ => node.get(part),
        })
    }

    /// The name of this kind of value in messages.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            NodeKind::Bool(_) => "true or false",
            NodeKind::Integer(_) | NodeKind::Float(_) => "a bare number",
            NodeKind::Text(_) => "a string",
            NodeKind::List(_) => "a list",
            NodeKind::Table(_) | NodeKind::Dotted(_) => "a table",
        }
    }

    /// The value without its place.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.kind {
            NodeKind::Bool(b) => (*b).into(),
            NodeKind::Integer(i) => (*i).into(),
            NodeKind::Float(x) => (*x).into(),
            NodeKind::Text(s) => s.as_str().into(),
            NodeKind::List(list) => list.iter().map(Node::to_json).collect(),
            NodeKind::Table(entries) | NodeKind::Dotted(entries) => {
                serde_json::Value::Object(entries.iter().map(|e| (e.key.clone(), e.value.to_json())).collect())
            }
        }
    }

    /// A value without a place. `null` becomes an empty string, which no key accepts.
    pub fn from_json(value: &serde_json::Value) -> Node {
        let kind = match value {
            serde_json::Value::Null => NodeKind::Text(String::new()),
            serde_json::Value::Bool(b) => NodeKind::Bool(*b),
            serde_json::Value::Number(n) => {
                n.as_i64().map_or_else(|| NodeKind::Float(n.as_f64().unwrap_or(f64::NAN)), NodeKind::Integer)
            }
            serde_json::Value::String(s) => NodeKind::Text(s.clone()),
            serde_json::Value::Array(list) => NodeKind::List(list.iter().map(Node::from_json).collect()),
            serde_json::Value::Object(map) => NodeKind::Table(
                map.iter()
                    .map(|(key, value)| Entry { key: key.clone(), site: Spot::None, value: Node::from_json(value) })
                    .collect(),
            ),
        };
        Node { site: Spot::None, kind }
    }

    /// Sets the key path `path` of a whole file to `value`, like [`Node::set`]. A `[param]` must exist already: no
    /// expression would use a new one.
    pub fn lay(&mut self, path: &[String], at: &Spot, value: Node) -> Result<(), Refusal> {
        if let [table, name, ..] = path
            && table == "param"
            && self.get("param").and_then(|params| params.get(name)).is_none()
        {
            let there = self.get("param").and_then(Node::entries).unwrap_or_default();
            let remedy = match there {
                [] => format!("add it to the file: [param] {name} = ..., and use it in an expression"),
                _ => suggest(name, there.iter().map(|e| e.key.as_str())),
            };
            return Err(Refusal::new("[param] of the file has no such key", remedy));
        }
        self.set(path, at, value)
    }

    /// Sets the key path `path` (written at `at`) to `value`. Missing tables are created. A string on the way becomes a
    /// table of that kind: `tcp = "reno"` is `tcp = { kind = "reno" }`.
    pub fn set(&mut self, path: &[String], at: &Spot, value: Node) -> Result<(), Refusal> {
        let Some((key, rest)) = path.split_first() else {
            *self = value;
            return Ok(());
        };
        if let NodeKind::Text(kind) = &self.kind {
            let kind = Node { site: self.site.clone(), kind: NodeKind::Text(kind.clone()) };
            self.kind = NodeKind::Table(vec![Entry { key: "kind".into(), site: self.site.clone(), value: kind }]);
        }
        match &mut self.kind {
            NodeKind::Table(entries) | NodeKind::Dotted(entries) => {
                if let Some(entry) = entries.iter_mut().find(|e| e.key == *key) {
                    entry.site = at.clone();
                    return entry.value.set(rest, at, value);
                }
                if let Some(Entry { value: Node { kind: NodeKind::Text(name), .. }, .. }) =
                    entries.iter().find(|e| e.key == CASE)
                {
                    let help = format!("set param.{name}, or the whole value");
                    return Err(Refusal::new(format!("the value depends on `{name}`"), help));
                }
                let mut child = Node { site: at.clone(), kind: NodeKind::Table(vec![]) };
                child.set(rest, at, value)?;
                entries.push(Entry { key: key.clone(), site: at.clone(), value: child });
                Ok(())
            }
            NodeKind::List(list) => {
                let len = list.len();
                match key.parse::<usize>().ok().and_then(|i| list.get_mut(i)) {
                    Some(item) => item.set(rest, at, value),
                    None if len == 0 => Err(Refusal::new("the list is empty", "add the table to the file")),
                    None => Err(Refusal::new(
                        format!("the list has no member `{key}`"),
                        match len {
                            1 => "write 0, the number of its only member".to_owned(),
                            _ => format!("write the number of a member, from 0 to {}", len - 1),
                        },
                    )),
                }
            }
            _ => Err(Refusal::new(format!("there is no key `{key}` in {}", self.kind_name()), "shorten the key path")),
        }
    }
}

/// Parses a TOML text into a tree.
pub(crate) fn read(source: &Source) -> Result<Node, FileError> {
    let document = toml_edit::Document::parse(source.text.as_str()).map_err(|e| {
        let site = e.span().map_or(Spot::None, |span| Spot::File(on_text(&source.text, span)));
        let remedy = if e.message().starts_with("duplicate key") {
            "write it once; tables of which there are several have two brackets, like [[flow]] and [[ap]]"
        } else {
            "write strings in double quotes and tables in [brackets]; see https://toml.io"
        };
        FileError::new(source, &site, format!("this is not TOML: {}", e.message()), remedy)
    })?;
    let place = |span: Option<std::ops::Range<usize>>| span.map_or(Spot::None, Spot::File);
    table(document.as_table(), false, Spot::None, &place)
        .map_err(|site| FileError::new(source, &site, "an experiment cannot use a date", "write a string or a number"))
}

/// Refuses control characters except line breaks and tabs: texts of the file are shown on terminals, in tables and on
/// pages, where control characters have effects.
pub(crate) fn check_texts(tree: &Node, source: &Source) -> Result<(), FileError> {
    let refuse = |site: &Spot, c: char| {
        let message = format!("a text has the control character U+{:04X}", u32::from(c));
        Err(FileError::new(source, site, message, "remove it"))
    };
    match &tree.kind {
        NodeKind::Text(text) => match text.chars().find(|c| c.is_control() && !['\n', '\r', '\t'].contains(c)) {
            Some(c) => refuse(&tree.site, c),
            None => Ok(()),
        },
        NodeKind::List(list) => list.iter().try_for_each(|node| check_texts(node, source)),
        NodeKind::Table(entries) | NodeKind::Dotted(entries) => {
            entries.iter().try_for_each(|e| match e.key.chars().find(|c| c.is_control()) {
                Some(c) => refuse(&e.site, c),
                None => check_texts(&e.value, source),
            })
        }
        NodeKind::Bool(_) | NodeKind::Integer(_) | NodeKind::Float(_) => Ok(()),
    }
}

/// A value of the command line: TOML, or a string without quotes. `start` is its position in the `--set` with number
/// `index`.
pub(crate) fn read_setting(index: usize, start: usize, text: &str) -> Node {
    let whole = Spot::Set(index, start..start + text.len());
    let place = |_: Option<std::ops::Range<usize>>| whole.clone();
    text.trim()
        .parse::<Value>()
        .ok()
        .and_then(|v| of_value(&v, &place).ok())
        .unwrap_or_else(|| Node { site: whole.clone(), kind: NodeKind::Text(text.trim().into()) })
}

/// The values of `--sweep KEY=a,b,c`: a list as in a file, or values as in [`read_setting`] with commas between them.
/// `1..5` stands for these five whole numbers.
pub(crate) fn read_values(index: usize, start: usize, text: &str) -> Result<Vec<Node>, Refusal> {
    if let NodeKind::List(list) = read_setting(index, start, text).kind {
        return Ok(list);
    }
    let mut values = vec![];
    for piece in pieces(text) {
        let at = start + piece.start;
        let piece = text.get(piece).unwrap_or_default();
        let ends = piece.split_once("..").map(|(low, high)| (low.trim().parse::<i64>(), high.trim().parse::<i64>()));
        match ends {
            Some((Ok(low), Ok(high))) if low > high => {
                return Err(Refusal::new(format!("the range {piece} is empty"), "write the smaller number first"));
            }
            Some((Ok(low), Ok(high))) if high.abs_diff(low) >= LONGEST_RANGE => {
                return Err(Refusal::new(
                    format!("the range {piece} has more than {LONGEST_RANGE} values"),
                    "use fewer values",
                ));
            }
            Some((Ok(low), Ok(high))) => {
                let site = Spot::Set(index, at..at + piece.len());
                values.extend((low..=high).map(|i| Node { site: site.clone(), kind: NodeKind::Integer(i) }));
            }
            _ if piece.trim().is_empty() => {
                return Err(Refusal::new("a value is missing", "write values with commas between them: 1,2,4"));
            }
            _ => values.push(read_setting(index, at, piece)),
        }
    }
    Ok(values)
}

/// Maximum number of values in a range of `--sweep`.
const LONGEST_RANGE: u64 = 100_000;

/// The parts of `text` between commas. Commas in quotes, parentheses, brackets and braces do not count.
pub fn pieces(text: &str) -> Vec<std::ops::Range<usize>> {
    let (mut all, mut start, mut depth, mut quote, mut escaped) = (vec![], 0, 0_usize, None, false);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(q), _) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                all.push(start..i);
                start = i + 1;
            }
            _ => {}
        }
    }
    all.push(start..text.len());
    all
}

/// Splits a key path, `wifi.slot` or `sweep."flow.1.count"`, into its parts.
pub(crate) fn split_path(path: &str) -> Option<Vec<String>> {
    Key::parse(path.trim()).ok().map(|keys| keys.iter().map(|k| k.get().to_string()).collect())
}

/// The entries of a table with their key paths. A dotted key is one path; with `deep`, keys of tables are, too, except
/// tables with the key [`VALUES`].
pub(crate) fn flatten(entries: &[Entry], deep: bool) -> Vec<(String, &Spot, &Node)> {
    let mut out = vec![];
    for entry in entries {
        match &entry.value.kind {
            _ if deep && entry.value.get(VALUES).is_some() => out.push((entry.key.clone(), &entry.site, &entry.value)),
            NodeKind::Table(_) if !deep => out.push((entry.key.clone(), &entry.site, &entry.value)),
            NodeKind::Dotted(inner) | NodeKind::Table(inner) => out.extend(
                flatten(inner, deep)
                    .into_iter()
                    .map(|(path, site, node)| (format!("{}.{path}", entry.key), site, node)),
            ),
            _ => out.push((entry.key.clone(), &entry.site, &entry.value)),
        }
    }
    out
}

/// The key of the parameter on which a value depends.
pub(crate) const CASE: &str = "case";
/// The key of the values of a swept key that is written as a table.
pub(crate) const VALUES: &str = "values";

/// A span that marks at least one character of `text` and ends at a character boundary.
fn on_text(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let floor = |mut i: usize| {
        i = i.min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let start = floor(span.start);
    start..floor(span.end).max(start)
}

type Place<'a> = dyn Fn(Option<std::ops::Range<usize>>) -> Spot + 'a;

fn table(t: &dyn TableLike, dotted: bool, site: Spot, place: &Place) -> Result<Node, Spot> {
    let mut entries = vec![];
    for (key, item) in t.iter() {
        let key_site = place(t.key(key).and_then(Key::span).or_else(|| item.span()));
        let Some(value) = of_item(item, &key_site, place)? else { continue };
        entries.push(Entry { key: key.into(), site: key_site, value });
    }
    Ok(Node { site, kind: if dotted { NodeKind::Dotted(entries) } else { NodeKind::Table(entries) } })
}

/// `Ok(None)` if there is no value; `Err` with the place of a date.
fn of_item(item: &Item, key_site: &Spot, place: &Place) -> Result<Option<Node>, Spot> {
    Ok(Some(match item {
        Item::None => return Ok(None),
        Item::Value(v) => of_value(v, place)?,
        Item::Table(t) => {
            table(t, t.is_dotted(), t.span().map_or_else(|| key_site.clone(), |s| place(Some(s))), place)?
        }
        Item::ArrayOfTables(list) => {
            let nodes = list
                .iter()
                .map(|t| table(t, false, t.span().map_or_else(|| key_site.clone(), |s| place(Some(s))), place));
            Node { site: key_site.clone(), kind: NodeKind::List(nodes.collect::<Result<_, _>>()?) }
        }
    }))
}

fn of_value(value: &Value, place: &Place) -> Result<Node, Spot> {
    let site = place(value.span());
    let kind = match value {
        Value::String(s) => NodeKind::Text(s.value().clone()),
        Value::Integer(i) => NodeKind::Integer(*i.value()),
        Value::Float(x) => NodeKind::Float(*x.value()),
        Value::Boolean(b) => NodeKind::Bool(*b.value()),
        Value::Datetime(_) => return Err(site),
        Value::Array(list) => NodeKind::List(list.iter().map(|v| of_value(v, place)).collect::<Result<_, _>>()?),
        Value::InlineTable(t) => return table(t, t.is_dotted(), site, place),
    };
    Ok(Node { site, kind })
}

/// What is wrong with the key path `key`, at its place.
pub(crate) fn at_key(source: &Source, site: &Spot, key: &str, why: Refusal) -> FileError {
    FileError::new(source, site, format!("`{key}`: {}", why.what), why.remedy)
}

/// Settings that are applied to a file: key path -> value. Two overlays are equal if their settings are equal.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    settings: PointKey,
    nodes: BTreeMap<String, (Spot, Node)>,
}

impl PartialEq for Overlay {
    fn eq(&self, other: &Overlay) -> bool {
        self.settings == other.settings
    }
}

impl Overlay {
    /// An overlay with these settings.
    pub fn of(settings: impl IntoIterator<Item = (String, serde_json::Value)>) -> Overlay {
        Overlay::placed(settings.into_iter().map(|(key, value)| (key, Spot::None, Node::from_json(&value))))
    }
    /// An overlay of settings that have places in the file: key path, its place, value.
    pub(crate) fn placed(settings: impl IntoIterator<Item = (String, Spot, Node)>) -> Overlay {
        let nodes: BTreeMap<_, _> = settings.into_iter().map(|(key, site, node)| (key, (site, node))).collect();
        Overlay { settings: nodes.iter().map(|(key, (_, node))| (key.clone(), node.to_json().into())).collect(), nodes }
    }
    /// The settings: key path -> value.
    pub fn settings(&self) -> &PointKey {
        &self.settings
    }
    /// This overlay followed by `other`. If both set a key, `other` wins.
    pub fn then(&self, other: &Overlay) -> Overlay {
        let mut both = self.clone();
        both.settings.extend(other.settings.clone());
        both.nodes.extend(other.nodes.clone());
        both
    }
    /// This overlay without the keys of `point`.
    pub(crate) fn without(&self, point: &PointKey) -> Overlay {
        let mut rest = self.clone();
        rest.settings.retain(|key, _| !point.contains_key(key));
        rest.nodes.retain(|key, _| !point.contains_key(key));
        rest
    }
    /// True if the overlay has no settings.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }
    /// Applies the settings to `tree`, whose tables have these names; shorter key paths first.
    pub(crate) fn apply(&self, tree: &mut Node, names: &TableNames, source: &Source) -> Result<(), FileError> {
        let mut numbered = BTreeMap::new();
        for (key, (site, node)) in &self.nodes {
            let path = split_path(key).ok_or_else(|| {
                FileError::new(
                    source,
                    site,
                    format!("`{key}` is not a key path"),
                    "write it like `flow.0.count` or `wifi.slot`",
                )
            })?;
            let path = names.numbered(&path).map_err(|no| at_key(source, site, key, no))?;
            numbered.insert(path, (key, site, node));
        }
        for (path, (key, site, node)) in numbered {
            tree.lay(&path, site, node.clone()).map_err(|no| at_key(source, site, key, no))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node {
        read(&Source { path: "t.toml".into(), text: text.into(), sets: vec![] }).unwrap()
    }

    #[test]
    fn values_know_their_place() {
        let text = "[wifi]\nslot = \"20us\"\n";
        let slot = tree(text).get("wifi").and_then(|w| w.get("slot")).cloned().unwrap();
        assert_eq!(slot.site, Spot::File(14..20));
    }

    #[test]
    fn an_overlay_makes_a_table_of_a_name() {
        let mut t = tree("[[flow]]\ntcp = \"newreno\"\n");
        let overlay = Overlay::of([("flow.0.tcp.echo".into(), "latch".into()), ("wifi.slot".into(), "9us".into())]);
        let source = Source { path: String::new(), text: String::new(), sets: vec![] };
        overlay.apply(&mut t, &TableNames::default(), &source).unwrap();
        assert_eq!(
            t.to_json(),
            serde_json::json!({"flow": [{"tcp": {"kind": "newreno", "echo": "latch"}}], "wifi": {"slot": "9us"}})
        );
    }

    #[test]
    fn settings_without_quotes_are_text() {
        assert_eq!(read_setting(0, 2, "20us").to_json(), "20us");
        assert_eq!(read_setting(0, 2, "20").to_json(), 20);
        assert_eq!(read_setting(0, 2, "{ kind = \"fifo\" }").to_json(), serde_json::json!({"kind": "fifo"}));
        assert_eq!(read_setting(0, 2, "1979-05-27").to_json(), "1979-05-27");
    }

    #[test]
    fn values_of_a_sweep_are_settings_between_commas() {
        let read =
            |text: &str| -> serde_json::Value { read_values(0, 2, text).unwrap().iter().map(Node::to_json).collect() };
        assert_eq!(read("fifo,fq_codel"), serde_json::json!(["fifo", "fq_codel"]));
        assert_eq!(read("1..3, 8"), serde_json::json!([1, 2, 3, 8]));
        assert_eq!(read("-1..1"), serde_json::json!([-1, 0, 1]));
        assert_eq!(read("[1, \"2p\"]"), serde_json::json!([1, "2p"]));
        assert_eq!(
            read(r#"{ kind = "fifo", limit = "10p" },'a,b',"c\",d",sta[3..6]"#),
            serde_json::json!([{"kind": "fifo", "limit": "10p"}, "a,b", "c\",d", "sta[3..6]"])
        );
        let sites = read_values(3, 2, "5ms,10ms").unwrap().into_iter().map(|v| v.site).collect::<Vec<_>>();
        assert_eq!(sites, [Spot::Set(3, 2..5), Spot::Set(3, 6..10)]);
        for (bad, message) in [("", "a value is missing"), ("1,,2", "a value is missing"), ("3..1", "3..1 is empty")] {
            assert!(read_values(0, 0, bad).unwrap_err().what.contains(message), "{bad}");
        }
        assert!(read_values(0, 0, "0..1000000").unwrap_err().what.contains("more than 100000 values"));
    }
}
