//! Values that depend on `[param]`: `standard = { case = "std", n = "802.11n", else = "802.11ac" }`.
//!
//! A case may replace any value of a network, a model or contention. It selects the value whose key equals the value of
//! the named parameter, or the value of `else`. Such a parameter may be a word, which expressions do not know.

use super::error::{FileError, Source};
use super::tree::{CASE, Entry, Node, NodeKind};
use crate::names::suggest;
use std::collections::BTreeSet;

/// The key of the value for all other values of the parameter.
pub(crate) const ELSE: &str = "else";

/// The parameters that cases of a file name, also those in its swept values.
pub(crate) fn named(tree: &Node) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    collect(tree, &mut named);
    named
}

/// Replaces each case in `tree` by its value, and removes the words from `[param]`; `named` are the parameters of all
/// cases of the file.
pub(crate) fn resolve(tree: &mut Node, named: &BTreeSet<String>, source: &Source) -> Result<(), FileError> {
    let params = tree.get("param").and_then(Node::entries).unwrap_or_default().to_vec();
    Cases { source, params: &params }.replace(tree, "")?;
    if let NodeKind::Table(entries) = &mut tree.kind
        && let Some(Entry { value: Node { kind: NodeKind::Table(params), .. }, .. }) =
            entries.iter_mut().find(|e| e.key == "param")
    {
        params.retain(|p| !(named.contains(&p.key) && is_word(&p.value)));
    }
    Ok(())
}

/// Adds the parameters that cases in `node` name.
fn collect(node: &Node, named: &mut BTreeSet<String>) {
    if let Some(Node { kind: NodeKind::Text(name), .. }) = node.get(CASE) {
        named.insert(name.clone());
    }
    match &node.kind {
        NodeKind::Table(entries) | NodeKind::Dotted(entries) => entries.iter().for_each(|e| collect(&e.value, named)),
        NodeKind::List(list) => list.iter().for_each(|node| collect(node, named)),
        _ => {}
    }
}

/// True for a text that begins with a letter, which cannot be a quantity.
fn is_word(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Text(text) if text.trim_start().starts_with(|c: char| c.is_alphabetic()))
}

struct Cases<'a> {
    source: &'a Source,
    /// The entries of `[param]`.
    params: &'a [Entry],
}

impl Cases<'_> {
    fn replace(&self, node: &mut Node, path: &str) -> Result<(), FileError> {
        while node.get(CASE).is_some() {
            *node = self.value(node, path)?;
        }
        let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match &mut node.kind {
            NodeKind::Table(entries) | NodeKind::Dotted(entries) => {
                entries.iter_mut().try_for_each(|e| self.replace(&mut e.value, &inner(&e.key)))
            }
            NodeKind::List(list) => {
                list.iter_mut().enumerate().try_for_each(|(i, node)| self.replace(node, &inner(&i.to_string())))
            }
            _ => Ok(()),
        }
    }

    /// The value of a case.
    fn value(&self, node: &Node, path: &str) -> Result<Node, FileError> {
        let error = |at: &Node, message: String, help: String| {
            Err(FileError::new(self.source, &at.site, format!("`{path}` {message}"), help))
        };
        let Some(at @ Node { kind: NodeKind::Text(name), .. }) = node.get(CASE) else {
            return error(node, "has a case without the name of a parameter".into(), "write case = \"NAME\"".into());
        };
        let Some(param) = self.params.iter().find(|p| p.key == *name) else {
            let help = match self.params {
                [] => format!("add [param] {name} = ..."),
                _ => suggest(name, self.params.iter().map(|p| p.key.as_str())),
            };
            return error(at, format!("depends on `{name}`, which [param] does not have"), help);
        };
        let given = match &param.value.kind {
            NodeKind::Text(text) if !text.trim_start().starts_with('=') => text.clone(),
            NodeKind::Integer(_) | NodeKind::Float(_) => param.value.to_json().to_string(),
            _ => {
                let help = format!("write {name} = 1 or {name} = \"a\" in [param]");
                return error(at, format!("depends on `param.{name}`, which is no number or word"), help);
            }
        };
        let choices = || node.entries().unwrap_or_default().iter().filter(|e| e.key != CASE);
        let chosen = choices().find(|e| same(&e.key, &given)).or_else(|| choices().find(|e| e.key == ELSE));
        let Some(chosen) = chosen else {
            let keys: Vec<&str> = choices().map(|e| e.key.as_str()).collect();
            let help = format!("values are given for {}; add one for {given}, or `else`", keys.join(", "));
            return error(at, format!("has no value for {name} = {given}"), help);
        };
        Ok(chosen.value.clone())
    }
}

/// True if the two are the same text or the same number.
fn same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    a == b || number(a).is_some_and(|x| number(b) == Some(x))
}

#[cfg(test)]
mod tests {
    use super::super::tree::read;
    use super::*;
    use miette::Diagnostic as _;

    fn resolved(text: &str) -> Result<serde_json::Value, String> {
        let source = Source { path: "t.toml".into(), text: text.into(), sets: vec![] };
        let mut tree = read(&source).unwrap();
        let text = |e: FileError| format!("{e}; {}", e.help().map_or_else(String::new, |h| h.to_string()));
        let named = named(&tree);
        resolve(&mut tree, &named, &source).map(|()| tree.to_json()).map_err(text)
    }

    #[test]
    fn a_case_is_the_value_of_its_parameter() {
        let file = |std: &str, width: &str| {
            format!(
                "[param]\nstd = {std}\nwidth = {width}\n[wifi]\nstandard = {{ case = \"std\", n = \"802.11n\", ac = \
                 \"802.11ac\" }}\nampdu = {{ case = \"width\", 20 = \"off\", else = {{ case = \"std\", n = {{}}, else \
                 = [1] }} }}\n"
            )
        };
        let json = |text: &str| resolved(text).unwrap();
        assert_eq!(
            json(&file("\"n\"", "20")),
            serde_json::json!({"param": {"width": 20}, "wifi": {"standard": "802.11n", "ampdu": "off"}})
        );
        assert_eq!(json(&file("\"ac\"", "40.0"))["wifi"], serde_json::json!({"standard": "802.11ac", "ampdu": [1]}),);
        // 20 and 20.0 are one number.
        assert_eq!(json(&file("\"n\"", "20.0"))["wifi"]["ampdu"], "off");
    }

    #[test]
    fn a_case_without_a_value_says_what_there_is() {
        let why = |case: &str| resolved(&format!("[param]\nstd = \"be\"\nsum = \"= 1 + 1\"\n[wifi]\nslot = {case}\n"));
        let has = |case: &str, part: &str| {
            let why = why(case).unwrap_err();
            assert!(why.contains(part), "{why}");
        };
        has("{ case = \"std\", n = 1, ac = 2 }", "`wifi.slot` has no value for std = be");
        has("{ case = \"std\", n = 1, ac = 2 }", "values are given for n, ac; add one for be, or `else`");
        has("{ case = \"sdt\", n = 1 }", "did you mean `std`?");
        has("{ case = \"sum\", 2 = 1 }", "is no number or word");
        has("{ case = 1, n = 1 }", "write case = \"NAME\"");
    }
}
