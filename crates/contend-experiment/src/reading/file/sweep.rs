//! `[sweep]`: key paths with their values; their combinations are the points.
//!
//! Points have the key paths as `[sweep]` writes them, with names or numbers of tables. Paths are compared with
//! numbers.
//!
//! The values of a key may have labels: `"ap.queue" = { values = [...], labels = [...] }`. A label stands for its value
//! wherever a value of the key is given. The value labelled `subject` may equal another one: then one point has both
//! labels.
//!
//! So may the rows of a `zip`: `{ keys = [...], name = "home", labels = [...] }`. Tables and figures then show one
//! column `home` with a label in place of the keys.

use super::Settings;
use super::claim::Along;
use super::error::{FileError, Source, Spot};
use super::reader::Val;
use super::table_names::TableNames;
use super::test::SUBJECT;
use super::tree::{Node, NodeKind, Overlay, VALUES, at_key, flatten, split_path};
use crate::names::suggest;
use crate::reading::expression::Quantity;
use crate::results::{PointKey, SweptValue};
use std::collections::BTreeSet;

/// Maximum number of points of a sweep.
const MOST_POINTS: usize = 100_000;
/// Keys that are the same at every point.
const FIXED: &[&str] = &[
    "title", "cite", "notes", "dials", "duration", "warmup", "seeds", "decide", "sample", "show", "sweep", "search",
    "claim", "check", "figure", "program", "test",
];

/// The sweep of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    axes: Vec<Axis>,
    /// The names that key paths may use.
    names: TableNames,
}

/// Keys that change together: a single key, or the keys of a `zip`.
#[derive(Clone, Debug)]
struct Axis {
    keys: Vec<Key>,
    rows: Option<Rows>,
}

/// The labels of the rows of a `zip`.
#[derive(Clone, Debug)]
struct Rows {
    /// What the rows are.
    name: String,
    /// One for each row of the file.
    labels: Vec<String>,
}

#[derive(Clone, Debug)]
struct Key {
    /// As in the file.
    path: String,
    /// With the number of each table.
    numbered: Vec<String>,
    site: Spot,
    values: Vec<Labelled>,
    /// The values that the file gives.
    of_file: Vec<Labelled>,
}

/// One of the values of a key.
#[derive(Clone, Debug)]
struct Labelled {
    node: Node,
    label: Option<String>,
}

impl Labelled {
    /// The value as points have it.
    fn swept(&self) -> SweptValue {
        SweptValue::from(self.node.to_json()).labelled(self.label.clone())
    }

    /// The label, or the value as in JSON.
    fn shown(&self) -> String {
        self.label.as_ref().map_or_else(|| self.node.to_json().to_string(), |label| format!("{label:?}"))
    }
}

impl Key {
    /// The value of the file with this label. Settings of the command line may have removed it from the sweep.
    fn labelled(&self, node: &Node) -> Option<&Labelled> {
        let NodeKind::Text(text) = &node.kind else { return None };
        self.of_file.iter().find(|c| c.label.as_ref() == Some(text))
    }

    /// The node that `node` stands for: a label is replaced by its value.
    fn unlabelled<'n>(&'n self, node: &'n Node) -> &'n Node {
        self.labelled(node).map_or(node, |c| &c.node)
    }

    /// Its values in these rows of the file.
    fn in_rows(&self, rows: &[usize]) -> Vec<&Node> {
        rows.iter().filter_map(|&row| Some(&self.of_file.get(row)?.node)).collect()
    }

    /// The value of the sweep that `node` means, by its label or by the value itself.
    fn choice(&self, node: &Node) -> Option<&Labelled> {
        let wanted = meaning(self.unlabelled(node));
        self.values.iter().find(|c| meaning(&c.node) == wanted)
    }

    /// A value of the command line, with its label if the file has this value.
    fn given(&self, node: &Node) -> Labelled {
        let node = self.unlabelled(node);
        let known = self.of_file.iter().find(|c| meaning(&c.node) == meaning(node));
        Labelled { node: node.clone(), label: known.and_then(|c| c.label.clone()) }
    }
}

impl Sweep {
    /// Reads `[sweep]`. A key that the command line sweeps is added, or has these values. A key that the command line
    /// sets has only this value, or the values of this list.
    pub fn read(val: &Val, names: TableNames, settings: &Settings) -> Result<Sweep, FileError> {
        val.table()?;
        let mut keys: Vec<Key> = vec![];
        let mut zip = None;
        let mut sweep = Sweep { axes: vec![], names };
        for (path, site, node) in flatten(val.node.entries().unwrap_or_default(), true) {
            if path == "zip" {
                zip = Some(node);
                continue;
            }
            let at = Val { path: format!("sweep.\"{path}\""), node, ..val.clone() };
            let (path, numbered) = sweep.read_key(&at, site, &path)?;
            if let Some(first) = keys.iter().find(|k| k.numbered == numbered) {
                return Err(FileError::new(
                    val.cx.source,
                    site,
                    format!("`sweep` has the key `{path}` twice"),
                    "remove one of the two",
                )
                .and(&first.site, "first"));
            }
            let values = choices(&at)?;
            keys.push(Key { path, numbered, site: site.clone(), of_file: values.clone(), values });
        }
        for (path, site, values) in &settings.swept {
            let (path, numbered) = sweep.read_key(val, site, path)?;
            if values.is_empty() {
                return Err(FileError::new(
                    val.cx.source,
                    site,
                    format!("`sweep.\"{path}\"` is an empty list"),
                    "write at least one value",
                ));
            }
            match keys.iter_mut().find(|k| k.numbered == numbered) {
                Some(key) => {
                    let values = values.iter().map(|node| key.given(node)).collect();
                    (key.site, key.values) = (site.clone(), values);
                }
                None => {
                    let values = values.iter().map(|node| Labelled { node: node.clone(), label: None }).collect();
                    keys.push(Key { path, numbered, site: site.clone(), values, of_file: vec![] });
                }
            }
        }
        sweep.axes = sweep.zipped(val, keys, zip)?;
        sweep.axes.iter_mut().for_each(Axis::join_subject);
        for axis in &sweep.axes {
            // A paired key may repeat a value if its partner has another value there.
            let mut seen = BTreeSet::new();
            let step = |i: usize| axis.keys.iter().filter_map(move |k| Some(&k.values.get(i)?.node));
            let Some(twice) = (0..axis.len()).find(|&i| !seen.insert(step(i).map(meaning).collect::<Vec<_>>())) else {
                continue;
            };
            let names: Vec<String> = axis.keys.iter().map(|k| format!("`sweep.\"{}\"`", k.path)).collect();
            let values: Vec<String> = step(twice).map(|v| v.to_json().to_string()).collect();
            let message = format!("{} has the value {} twice", names.join(" with "), values.join(" with "));
            let site = step(twice).next().map_or(&val.node.site, |v| &v.site);
            return Err(FileError::new(val.cx.source, site, message, "remove one of the two"));
        }
        for (path, value) in &settings.fixed {
            if let Some(key) = sweep.keys().find(|k| path.len() > k.numbered.len() && path.starts_with(&k.numbered)) {
                let message = format!("`{}` changes nothing: each point replaces `{}`", path.join("."), key.path);
                let help = format!("set the whole: --set '{}={{ kind = \"...\", ... }}'", key.path);
                return Err(FileError::new(val.cx.source, &value.site, message, help));
            }
            sweep.fix(path, value);
        }
        let points = sweep.axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.len()));
        match points {
            Some(n) if n <= MOST_POINTS => Ok(sweep),
            _ => Err(val.error(
                format!("makes more than {MOST_POINTS} points"),
                "use fewer values, or pair keys with zip = [[\"...\", \"...\"]]",
            )),
        }
    }

    /// Restricts `path` to `value`, or to the values of a list.
    fn fix(&mut self, path: &[String], value: &Node) {
        let Some(axis) = self.axes.iter_mut().find(|a| a.keys.iter().any(|k| k.numbered == path)) else { return };
        let alone = axis.keys.len() == 1;
        for key in axis.keys.iter_mut().filter(|k| k.numbered == path) {
            key.values = match &value.kind {
                NodeKind::List(list) if alone && !list.is_empty() => list.iter().map(|node| key.given(node)).collect(),
                _ if alone => vec![key.given(value)],
                _ => vec![key.given(value); key.values.len()],
            };
        }
    }

    /// What settings did to the sweep: which keys are still swept at the `points`, and what a name dropped.
    pub fn remarks(&self, settings: &Settings, points: usize) -> Vec<String> {
        let touches = |path: &[String]| self.keys().any(|k| k.numbered.starts_with(path));
        let set = settings.fixed.iter().filter(|(path, _)| touches(path)).map(|(path, _)| path.join("."));
        let set = set.collect::<Vec<_>>().join(", ");
        // A point replaces a swept key, so nothing of the file's own value is dropped.
        let dropped = settings.replaced.iter().filter(|(path, _)| !touches(path)).map(|(_, said)| said.clone());
        let varies =
            |k: &&Key| k.values.iter().any(|c| k.values.first().is_some_and(|f| meaning(&f.node) != meaning(&c.node)));
        let swept: Vec<&str> = self.keys().filter(varies).map(|k| k.path.as_str()).collect();
        let still =
            if swept.is_empty() { "no key is swept".to_owned() } else { format!("still swept: {}", swept.join(", ")) };
        let runs = if points == 1 { "1 point runs".to_owned() } else { format!("{points} points run") };
        (!set.is_empty()).then(|| format!("--set {set}: {runs}; {still}")).into_iter().chain(dropped).collect()
    }

    /// All points; the first key changes slowest. Without a sweep there is one point without keys.
    pub fn points(&self) -> Vec<PointKey> {
        let mut points = vec![PointKey::new()];
        for axis in &self.axes {
            let with_row = |point: &PointKey, i: usize| {
                let mut point = point.clone();
                let row = axis.label(i);
                point.extend(axis.keys.iter().filter_map(|k| {
                    let place = self.keys().position(|other| other.path == k.path).unwrap_or_default();
                    let value = k.values.get(i)?.swept().at(place);
                    Some((k.path.clone(), row.map_or(value.clone(), |(name, label)| value.in_row(name, label))))
                }));
                point
            };
            points = points.iter().flat_map(|p| (0..axis.len()).map(move |i| with_row(p, i))).collect();
        }
        points.dedup();
        points
    }

    /// The names that key paths may use.
    pub fn names(&self) -> &TableNames {
        &self.names
    }

    /// The swept keys, each with the values that the file gives.
    pub fn of_file(&self) -> impl Iterator<Item = (&str, Vec<SweptValue>)> {
        self.keys().map(|k| (k.path.as_str(), k.of_file.iter().map(Labelled::swept).collect()))
    }

    /// The overlay of a point; values from the file keep their places.
    pub fn overlay(&self, point: &PointKey) -> Overlay {
        Overlay::placed(point.iter().map(|(path, value)| {
            let key = self.key(path);
            let node = key
                .and_then(|k| k.values.iter().find(|c| *value == c.node.to_json()))
                .map(|c| c.node.clone())
                .unwrap_or_else(|| Node::from_json(value));
            (path.clone(), key.map_or(Spot::None, |k| k.site.clone()), node)
        }))
    }

    fn key(&self, path: &str) -> Option<&Key> {
        self.keys().find(|k| k.path == path)
    }

    /// Checks that `text` is the path of a swept key.
    pub fn swept(&self, at: &Val, text: &str) -> Result<String, FileError> {
        let path = self.numbered(at, &at.node.site, text)?;
        let known = self.keys().map(|k| k.path.as_str());
        let unknown = || at.error(format!("names a key that is not swept: `{text}`"), suggest(text, known));
        self.keys().find(|k| k.numbered == path).map(|key| key.path.clone()).ok_or_else(unknown)
    }

    /// Reads the horizontal axis of a figure: a swept key, `flow`, `time`, or else the text of a metric.
    pub fn axis(&self, at: &Val, text: &str) -> Along {
        match text {
            "flow" => Along::Flow,
            "time" => Along::Time,
            _ => self.swept(at, text).map_or_else(|_| Along::Metric(text.to_owned()), Along::Key),
        }
    }

    /// The values of the swept key `path`, as points have them.
    pub fn values_of(&self, path: &str) -> Vec<SweptValue> {
        self.key(path).map_or_else(Vec::new, |k| k.values.iter().map(Labelled::swept).collect())
    }

    /// The key path `text` with the number of each table; empty if `text` is not a key path.
    pub fn numbered(&self, at: &Val, site: &Spot, text: &str) -> Result<Vec<String>, FileError> {
        let path = split_path(text).unwrap_or_default();
        self.names.numbered(&path).map_err(|no| at_key(at.cx.source, site, text, no))
    }

    /// A key path of the network, as `[sweep]` writes it; otherwise with the number of each table.
    pub fn key_path(&self, at: &Val, site: &Spot, text: &str) -> Result<String, FileError> {
        let (_, path) = self.read_key(at, site, text)?;
        Ok(self.keys().find(|k| k.numbered == path).map_or_else(|| path.join("."), |k| k.path.clone()))
    }

    /// A key path of the network in its plain form, and with the number of each table.
    fn read_key(&self, at: &Val, site: &Spot, text: &str) -> Result<(String, Vec<String>), FileError> {
        let error = |message: String, help: &str| FileError::new(at.cx.source, site, message, help);
        let Some(path) = split_path(text) else {
            return Err(error(
                format!("`{text}` is not a key path"),
                "write it like \"flow.0.count\" or \"wifi.slot\"",
            ));
        };
        match path.first() {
            Some(head) if FIXED.contains(&head.as_str()) => Err(error(
                format!("`{head}` is the same at every point"),
                "vary a key of the network, like \"flow.0.count\" or \"wifi.slot\"",
            )),
            _ => Ok((path.join("."), self.numbered(at, site, text)?)),
        }
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.axes.iter().flat_map(|a| &a.keys)
    }

    /// Applies the settings of `overlay` to `tree`.
    pub fn apply(&self, overlay: &Overlay, tree: &mut Node, source: &Source) -> Result<(), FileError> {
        overlay.apply(tree, &self.names, source)
    }

    /// The value of the swept key `path` that has the label `node` or equals it, as written in points; `None` if there
    /// is none.
    pub fn value(&self, path: &str, node: &Node) -> Option<SweptValue> {
        self.key(path)?.choice(node).map(Labelled::swept)
    }

    /// The values of the other keys of a `zip`, if the values that `named` gives to keys of this `zip` occur together
    /// in one row only.
    pub fn joined(&self, named: &[(String, Spot, Node)]) -> Vec<(String, Spot, Node)> {
        let mut all = vec![];
        for axis in &self.axes {
            let value = |key: &Key| named.iter().find(|(path, ..)| *path == key.path).map(|(_, _, node)| meaning(node));
            let (given, others): (Vec<&Key>, Vec<&Key>) = axis.keys.iter().partition(|k| value(k).is_some());
            let has = |k: &Key, row: usize| k.values.get(row).map(|c| meaning(&c.node)) == value(k);
            let mut rows = (0..axis.len()).filter(|&row| !given.is_empty() && given.iter().all(|k| has(k, row)));
            let (Some(row), None) = (rows.next(), rows.next()) else { continue };
            let of_row = |k: &Key| Some((k.path.clone(), k.site.clone(), k.values.get(row)?.node.clone()));
            all.extend(others.into_iter().filter_map(of_row));
        }
        all
    }

    /// The keys of the `zip` whose rows are called `name`, each with its values in the rows that `labels` name; `None`
    /// if no rows are called so. The rows are those of the file, as labels of values are.
    pub fn rows<'s>(&'s self, at: &Val, name: &str, labels: &[&Node]) -> Result<Option<KeyValues<'s>>, FileError> {
        let named = |a: &&Axis| a.rows.as_ref().is_some_and(|r| r.name == name);
        self.axes.iter().find(named).map(|axis| axis.named(at, labels)).transpose()
    }

    /// The key of the `zip` whose rows are called `name` that has another value in each row, so that it stands for the
    /// rows; `None` if no rows are called so.
    pub fn key_of_rows(&self, at: &Val, name: &str) -> Result<Option<String>, FileError> {
        let Some(axis) = self.axes.iter().find(|a| a.rows.as_ref().is_some_and(|r| r.name == name)) else {
            return Ok(None);
        };
        let tells = |k: &&Key| {
            let all: BTreeSet<String> = k.of_file.iter().map(|c| meaning(&c.node)).collect();
            all.len() == k.of_file.len()
        };
        let none = || at.error(format!("names rows of which no key has another value in each: `{name}`"), "name a key");
        axis.keys.iter().find(tells).map(|k| Some(k.path.clone())).ok_or_else(none)
    }

    /// The value of the key `path` that `node` stands for: of a swept key, a label is replaced by its value.
    pub fn unlabelled(&self, path: &str, node: &Node) -> Node {
        self.key(path).map_or(node, |k| k.unlabelled(node)).clone()
    }

    /// True if this byte of the file belongs to a key or a value of the sweep.
    pub fn covers(&self, byte: usize) -> bool {
        let inside = |site: &Spot| matches!(site, Spot::File(range) if range.contains(&byte));
        self.keys().any(|k| inside(&k.site) || k.values.iter().any(|c| inside(&c.node.site)))
    }

    /// The values of the swept key `path`, for a message.
    pub fn values(&self, path: &str) -> String {
        self.key(path).map_or(String::new(), |k| k.values.iter().map(Labelled::shown).collect::<Vec<_>>().join(", "))
    }

    /// Groups the keys into axes: the keys of a `zip` form one axis.
    fn zipped(&self, val: &Val, keys: Vec<Key>, zip: Option<&Node>) -> Result<Vec<Axis>, FileError> {
        let mut axes: Vec<Axis> = keys.into_iter().map(|k| Axis { keys: vec![k], rows: None }).collect();
        let Some(node) = zip else { return Ok(axes) };
        const SHAPE: &str = "lists of keys that advance together, [[\"flow.0.count\", \"flow.1.count\"]]";
        for group in (Val { path: "sweep.zip".into(), node, ..val.clone() }).list(SHAPE)? {
            let mut joined: Option<usize> = None;
            let labelled = match group.node.entries() {
                Some(_) => Some(Rows::read(&group, &axes)?),
                None => None,
            };
            let names = labelled.as_ref().map_or_else(|| group.clone(), |(names, ..)| names.clone());
            for name in names.list(SHAPE)? {
                let text = name.text()?;
                let path = self.numbered(&name, &name.node.site, text)?;
                let Some(i) = axes.iter().position(|a| a.keys.iter().any(|k| k.numbered == path)) else {
                    return Err(name.error(
                        format!("names a key that [sweep] does not have: `{text}`"),
                        suggest(text, axes.iter().flat_map(|a| &a.keys).map(|k| k.path.as_str())),
                    ));
                };
                let Some(j) = joined else {
                    joined = Some(i);
                    continue;
                };
                if i == j || axes.get(i).is_none_or(|a| a.keys.len() > 1) {
                    return Err(name.error(format!("names `{text}` twice"), "name each key once"));
                }
                let axis = axes.remove(i);
                let j = if i < j { j - 1 } else { j };
                joined = Some(j);
                if let Some(first) = axes.get_mut(j) {
                    if first.len() != axis.len() {
                        return Err(name.error(
                            format!("pairs lists of different length: {} and {} values", first.len(), axis.len()),
                            "give both keys the same number of values",
                        ));
                    }
                    first.keys.extend(axis.keys);
                }
            }
            let (Some((_, labels, rows)), Some(axis)) = (labelled, joined.and_then(|j| axes.get_mut(j))) else {
                continue;
            };
            if rows.labels.len() != axis.len() {
                return Err(labels.error(
                    format!("has {} labels for {} rows", rows.labels.len(), axis.len()),
                    "write one label for each row, in the same order",
                ));
            }
            axis.rows = Some(rows);
        }
        Ok(axes)
    }
}

/// Keys of a sweep, each with some of its values.
pub type KeyValues<'s> = Vec<(&'s str, Vec<&'s Node>)>;

impl Axis {
    /// Each key with its values in the rows that `labels` name.
    fn named(&self, at: &Val, labels: &[&Node]) -> Result<KeyValues<'_>, FileError> {
        let all = self.rows.as_ref().map_or(&[][..], |rows| &rows.labels);
        let mut rows = vec![];
        for &node in labels {
            let names = |label: &String| matches!(&node.kind, NodeKind::Text(text) if text == label);
            let Some(row) = all.iter().position(names) else {
                let known: Vec<String> = all.iter().map(|label| format!("{label:?}")).collect();
                let message = format!("is not the label of a row: {}", node.to_json());
                return Err(Val { node, ..at.clone() }.error(message, format!("labels: {}", known.join(", "))));
            };
            rows.push(row);
        }
        let has = |k: &Key, row: usize| {
            let value = k.of_file.get(row).map(|c| meaning(&c.node));
            value.is_some_and(|value| k.in_rows(&rows).into_iter().any(|node| meaning(node) == value))
        };
        let mixed = |row: &usize| !rows.contains(row) && self.keys.iter().all(|k| has(k, *row));
        match (0..all.len()).find(mixed).and_then(|row| all.get(row)) {
            Some(label) => {
                let message = format!("means the row \"{label}\" too, which has a value of each of these rows");
                Err(at.error(message, "name one row"))
            }
            None => Ok(self.keys.iter().map(|k| (k.path.as_str(), k.in_rows(&rows))).collect()),
        }
    }

    /// Removes the rows of the subject that have the values of another row. Its label is a second name of that row.
    fn join_subject(&mut self) {
        let value = |k: &Key, row: usize| k.values.get(row).map(|c| meaning(&c.node));
        let is_subject = |c: &Labelled| c.label.as_deref() == Some(SUBJECT);
        let row_is_subject = |row: usize| self.keys.iter().filter_map(|k| k.values.get(row)).any(is_subject);
        let same = |a: usize, b: usize| self.keys.iter().all(|k| value(k, a) == value(k, b));
        let double =
            |&row: &usize| row_is_subject(row) && (0..self.len()).any(|other| other != row && same(row, other));
        let doubles: Vec<usize> = (0..self.len()).filter(double).collect();
        for key in &mut self.keys {
            doubles.iter().rev().for_each(|&row| drop(key.values.remove(row)));
        }
    }

    fn len(&self) -> usize {
        self.keys.first().map_or(0, |k| k.values.len())
    }

    /// The name of the rows and the label of row `i`, if the row is that of the file: settings may have changed it.
    fn label(&self, i: usize) -> Option<(&str, &str)> {
        let Rows { name, labels } = self.rows.as_ref()?;
        let same = |k: &Key| Some(meaning(&k.values.get(i)?.node) == meaning(&k.of_file.get(i)?.node));
        let is_of_file = self.keys.iter().all(|k| k.values.len() == labels.len() && same(k) == Some(true));
        if is_of_file {
            return Some((name, labels.get(i)?));
        }
        // A setting may have left one row, by its label or by its values.
        let is_row = |row: &usize| {
            let has = |k: &Key| Some(meaning(&k.values.get(i)?.node) == meaning(&k.of_file.get(*row)?.node));
            self.keys.iter().all(|k| has(k) == Some(true))
        };
        let mut rows = (0..labels.len()).filter(is_row);
        match (rows.next(), rows.next()) {
            (Some(row), None) => Some((name, labels.get(row)?)),
            _ => None,
        }
    }
}

impl Rows {
    /// Reads a table of a `zip`: the list of its keys, that of its labels, and the rows.
    fn read<'v>(group: &Val<'v>, axes: &[Axis]) -> Result<(Val<'v>, Val<'v>, Rows), FileError> {
        let mut f = group.table()?;
        let keys = f.need("keys", "[\"flow.0.count\", \"flow.1.count\"]")?;
        let name = f.need("name", "\"home\"")?;
        let labels = f.need("labels", "[\"few\", \"many\"]")?;
        f.finish()?;
        let text = name.text()?;
        let is_word = text.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c)) && !text.trim().is_empty();
        if !is_word || axes.iter().flat_map(|a| &a.keys).any(|k| k.path == text) {
            return Err(
                name.error("is not a name of rows", "write one or a few words that no swept key has, like \"home\"")
            );
        }
        let clash = axes.iter().any(|a| a.rows.as_ref().is_some_and(|r| r.name == text));
        if clash {
            return Err(name.error(format!("is the name of two groups: \"{text}\""), "give each group its own name"));
        }
        let mut all: Vec<String> = vec![];
        for label in labels.list("one text for each row")? {
            let text = label.text()?;
            if text.trim().is_empty() || text.contains(['\n', '\r', '\t']) {
                return Err(label.error("is empty or has several lines", "write a few words on one line"));
            }
            if all.iter().any(|known| known == text) {
                return Err(label
                    .error(format!("does not tell the rows apart: \"{text}\""), "give each row a label of its own"));
            }
            all.push(text.to_owned());
        }
        Ok((keys, labels.clone(), Rows { name: text.to_owned(), labels: all }))
    }
}

/// Reads the values of a swept key: a list, or a table of values and labels.
fn choices(at: &Val) -> Result<Vec<Labelled>, FileError> {
    let list = |v: &Val| -> Result<Vec<Node>, FileError> {
        let values: Vec<Node> = v.list("the list of values to try, [1, 2, 4]")?.map(|v| v.node.clone()).collect();
        if values.is_empty() {
            return Err(v.error("is an empty list", "write at least one value, or remove the key"));
        }
        Ok(values)
    };
    if at.node.get(VALUES).is_none() {
        return Ok(list(at)?.into_iter().map(|node| Labelled { node, label: None }).collect());
    }
    let mut f = at.table()?;
    let values = list(&f.need(VALUES, "[1, 2, 4]")?)?;
    let labels = f.need("labels", "[\"few\", \"some\", \"many\"]")?;
    let given: Vec<Val> = labels.list("one text for each value")?.collect();
    f.finish()?;
    if given.len() != values.len() {
        return Err(labels.error(
            format!("has {} labels for {} values", given.len(), values.len()),
            "write one label for each value, in the same order",
        ));
    }
    let mut all: Vec<Labelled> = vec![];
    for (v, node) in given.iter().zip(&values) {
        let label = v.text()?;
        if label.trim().is_empty() || label.contains(['\n', '\r', '\t']) {
            return Err(v.error("is empty or has several lines", "write a few words on one line"));
        }
        // A key of a zip may have a value twice.
        let is_other = |c: &Labelled| c.label.as_deref() != Some(label);
        let may_equal = |c: &Labelled| is_other(c) && [Some(label), c.label.as_deref()].contains(&Some(SUBJECT));
        let clash = all.iter().any(|c| !may_equal(c) && is_other(c) == (meaning(&c.node) == meaning(node)));
        if clash {
            return Err(v.error(
                format!("does not tell the values apart: \"{label}\""),
                "give each value a label of its own; equal values have equal labels",
            ));
        }
        all.push(Labelled { node: node.clone(), label: Some(label.to_owned()) });
    }
    // A label stands for its value, so it must not be the text of another one.
    for (v, own) in given.iter().zip(&all) {
        let text = meaning(v.node);
        if all.iter().any(|c| meaning(&c.node) == text && meaning(&c.node) != meaning(&own.node)) {
            return Err(v.error("is the label of one value and the text of another", "choose another label"));
        }
    }
    Ok(all)
}

/// A normal form of a value: 2 and 2.0 give the same text, and so do "1s" and "1000ms".
fn meaning(node: &Node) -> String {
    let quantity = match &node.kind {
        NodeKind::Integer(i) => Some(Quantity::number(*i as f64)),
        NodeKind::Float(x) => Some(Quantity::number(*x)),
        NodeKind::Text(t) => Quantity::parse(t).ok(),
        _ => None,
    };
    quantity.map_or_else(|| node.to_json().to_string(), |q| q.to_string())
}
