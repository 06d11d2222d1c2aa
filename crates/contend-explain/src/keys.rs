//! What a file accepts besides the names of algorithms: tables and keys, words that are values, TCP variants, and the
//! parameters of algorithms and models.

use crate::{default, entry, unit};
use contend_core::registry::{Param, Unit};
use contend_experiment::reading::file::keys::{
    Algorithm, Key, NAMES, RESERVED, Table, keys, settable, tables, variants,
};
use contend_experiment::reading::model::models;
use contend_report::output::{WIDTH, wrapped};

/// Every name that [`explained`] can explain with these algorithms, except key paths.
pub(crate) fn names(algorithms: &[Algorithm]) -> Vec<&'static str> {
    let parameters = algorithms.iter().flat_map(|a| a.params).flat_map(with_members);
    let mut all: Vec<&'static str> = parameters.flat_map(|p| std::iter::once(p.name).chain(words_of(p))).collect();
    all.extend(variants().iter().map(|v| v.name));
    all.extend(keys().iter().flat_map(|k| std::iter::once(k.2.name).chain(k.2.words().map(|w| w.name))));
    all.extend(NAMES.iter().map(|w| w.name));
    all.extend(models().flat_map(|m| m.parameters).map(|p| p.name));
    all
}

/// The explanations of `name` as a variant, a table, a key or its path, a word of the file, or a parameter of one of
/// `algorithms`. If `is_brief`, parameters are named without their meaning.
pub(crate) fn explained(name: &str, algorithms: &[Algorithm], is_brief: bool) -> Vec<String> {
    let plain = name.trim_start_matches('[').trim_end_matches(']');
    let mut out: Vec<String> = variants()
        .into_iter()
        .filter(|v| v.name == name)
        .map(|v| {
            let usage = format!("tcp = \"{0}\" or tcp = {{ kind = \"{0}\", ... }} in a [[flow]]", v.name);
            entry(v.name, "variants", &v.doc, &[("Use", &usage)])
        })
        .collect();
    out.extend(tables().into_iter().filter(|t| t.heading.trim_matches(['[', ']']) == plain).map(table));
    let named = |(path, _, key): &(String, &Table, &Key)| key.name == plain && (plain == name || path == plain);
    out.extend(keys().into_iter().filter(|k| named(k) && !is_heading(k.2)).map(at_path));
    if plain == name {
        out.extend(path(name, algorithms));
        out.extend(values(name));
        let meant = NAMES.iter().filter(|w| w.name == name);
        out.extend(meant.map(|w| entry(w.name, "names", w.doc, &[("Use", "in expressions of a file: \"= 2 * k\"")])));
        let parameters = parameters(name, algorithms, is_brief);
        if !parameters.is_empty() {
            out.push(format!("{name} (parameters)\n\n{}", parameters.concat()));
        }
    }
    if out.is_empty() && RESERVED.iter().any(|r| *r == plain || r.rsplit('.').next() == Some(plain)) {
        out.push(entry(plain, "keys", "Reserved for a later version of contend.", &[]));
    }
    out
}

/// True if the key is a table with a heading: `[wifi]`. The table is explained instead.
fn is_heading(key: &Key) -> bool {
    key.table().is_some_and(|t| t.heading.trim_matches(['[', ']']) == key.name)
}

/// A key at its path.
fn at_path((path, table, key): (String, &Table, &Key)) -> String {
    let usage = format!("in {}, or --set {}=...", table.heading, settable(&path));
    let example = format!("{} = {}", key.name, key.example);
    let value = key.value_in_words();
    let members = if table.has_members { "; or a list, one value for each member" } else { "" };
    let lines = [
        ("Value", format!("{value}{members}")),
        ("Default", key.default_in_words().to_owned()),
        ("Example", example),
        ("Use", usage),
    ];
    let mut out = entry(&path, "keys", key.doc, &lines.each_ref().map(|(what, text)| (*what, text.as_str())));
    let words: Vec<_> = key.words().collect();
    if !words.is_empty() {
        out += "\n  Words:\n";
        for w in words {
            out += &format!("    {:<16} {}\n", w.name, wrapped(w.doc, WIDTH, 21));
        }
    }
    // A table with a heading like [wifi] is explained by its own name.
    if let Some(t) = key.table().filter(|t| !t.heading.starts_with('[')) {
        out += "\n  Keys of the table:\n";
        for k in t.keys {
            let value = format!("{}; default: {}", k.value_in_words(), k.default_in_words());
            let (doc, value) = (wrapped(k.doc, WIDTH, 21), wrapped(&value, WIDTH, 21));
            out += &format!("    {:<16} {doc}\n    {:<16} {value}\n", k.name, "");
        }
    }
    out
}

/// A table with a phrase for each key.
fn table(t: &Table) -> String {
    let mut out = format!("{} (tables)\n\n  {}\n\n  Keys:\n", t.heading, wrapped(t.doc, WIDTH, 2));
    for key in t.keys {
        let value = format!("{}; default: {}", key.value_in_words(), key.default_in_words());
        let value = if key.default_in_words() == "must be given" { value.replace("default: ", "") } else { value };
        out += &format!(
            "    {:<16} {}\n    {:<16} {}\n",
            key.name,
            wrapped(key.doc, WIDTH, 21),
            "",
            wrapped(&value, WIDTH, 21)
        );
    }
    out
}

/// A key path, also with numbers of tables, or the path of a parameter of an algorithm: `ap.queue.limit`.
fn path(name: &str, algorithms: &[Algorithm]) -> Vec<String> {
    let parts: Vec<&str> = name.split('.').filter(|p| p.parse::<usize>().is_err()).collect();
    if !name.contains('.') {
        return vec![];
    }
    let plain = parts.join(".");
    let found: Vec<String> = keys().into_iter().filter(|k| k.0 == plain).map(at_path).collect();
    if !found.is_empty() {
        return found;
    }
    let Some((head, parameter)) = plain.rsplit_once('.') else { return vec![] };
    let family = keys().into_iter().find(|k| k.0 == head).and_then(|k| k.2.family());
    let of_family: Vec<Algorithm> = algorithms.iter().filter(|a| Some(a.family) == family).copied().collect();
    let found = parameters(parameter, &of_family, false);
    if found.is_empty() { vec![] } else { vec![format!("{plain} (parameters)\n\n{}", found.concat())] }
}

/// The keys that have `name` as a value.
fn values(name: &str) -> Vec<String> {
    let with = |k: &(String, &'static Table, &'static Key)| k.2.words().find(|w| w.name == name);
    let all = keys().into_iter().filter_map(|k| with(&k).map(|w| (k.0, w)));
    all.map(|(path, w)| entry(w.name, "values", w.doc, &[("Use", &format!("a value of {path}"))])).collect()
}

/// A paragraph for each algorithm or model that has a parameter `name` or a parameter with the value `name`; if
/// `is_brief`, it is a line without the meaning.
fn parameters(name: &str, algorithms: &[Algorithm], is_brief: bool) -> Vec<String> {
    let told = |what: String, meaning: String| {
        let text = if is_brief { format!("also {what}") } else { format!("{what}: {meaning}") };
        format!("  {}\n", wrapped(&text, WIDTH, 4))
    };
    let of_algorithms = algorithms.iter().flat_map(|a| a.params.iter().flat_map(with_members).map(move |p| (a, p)));
    let found = of_algorithms.filter_map(|(a, p)| {
        let whose = format!("{} ({})", a.name, a.family.name());
        if p.name == name {
            Some(told(format!("a parameter of {whose}"), format!("{}; {}, {}", p.doc, unit(p), default(a, p))))
        } else if words_of(p).any(|w| w == name) {
            Some(told(format!("a value of `{}` of {whose}", p.name), p.doc.to_owned()))
        } else {
            None
        }
    });
    let of_models = models().flat_map(|m| m.parameters.iter().map(move |p| (m, p)));
    let models = of_models
        .filter(|(_, p)| p.name == name)
        .map(|(m, p)| told(format!("a parameter of {} (models)", m.name), p.doc.to_owned()));
    found.chain(models).collect()
}

/// A parameter and, if it is a table, the parameters in the table.
pub(crate) fn with_members(p: &'static Param) -> impl Iterator<Item = &'static Param> {
    let members: &[Param] = if let Unit::Group(of) = p.unit { of } else { &[] };
    std::iter::once(p).chain(members)
}

fn words_of(p: &Param) -> impl Iterator<Item = &'static str> + use<> {
    let words: &[&str] = if let Unit::Word(words) = p.unit { words } else { &[] };
    words.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// True if `doc` says what `word` means: `word: ...`, or `word, other: ...` for several words with one meaning.
    fn tells(doc: &str, word: &str) -> bool {
        let starts = doc.match_indices(word).map(|(at, _)| at);
        let ends = starts.filter(|at| !doc[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        ends.map(|at| doc[at + word.len()..].trim_start_matches('`')).any(|rest| {
            rest.starts_with(':')
                || rest.split_once(": ").is_some_and(|(others, _)| {
                    others.starts_with(", ") && others.split(", ").skip(1).all(|w| !w.contains(' '))
                })
        })
    }

    #[test]
    fn each_word_of_a_key_or_parameter_has_its_meaning() {
        let untold = |p: &'static Param| words_of(p).filter(move |w| !tells(p.doc, w)).map(move |w| (p.name, w));
        let all = crate::everything();
        let silent: Vec<_> = all.iter().flat_map(|a| a.params).flat_map(with_members).flat_map(untold).collect();
        assert!(silent.is_empty(), "{silent:?}");
        for (path, _, key) in keys() {
            assert!(key.words().all(|w| !w.doc.is_empty()), "{path}");
        }
    }

    #[test]
    fn a_key_whose_value_is_a_table_says_what_is_in_it() {
        let text = explained("ap.aql", &crate::everything(), false).concat();
        for key in ["low", "high", "total"] {
            assert!(text.lines().any(|l| l.starts_with(&format!("    {key} "))), "{text}");
        }
    }

    #[test]
    fn every_word_of_a_file_is_explained() {
        let all = crate::everything();
        let names = names(&all);
        assert!(names.len() > 400, "{}", names.len());
        let paths = keys();
        for name in names.into_iter().chain(paths.iter().map(|k| k.0.as_str())).chain(RESERVED.iter().copied()) {
            let texts = explained(name, &all, false);
            assert!(!texts.is_empty(), "{name}");
            for line in texts.iter().flat_map(|t| t.lines()) {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
        assert!(explained("[param]", &all, false).concat().starts_with("param (keys)\n"));
        assert!(explained("[[flow]]", &all, false)[0].starts_with("[[flow]] (tables)\n"));
        assert!(explained("limit", &all, false).concat().contains("of fifo (qdiscs): "));
        assert!(explained("nothing", &all, false).is_empty());
    }

    #[test]
    fn a_key_is_found_by_its_path_with_and_without_numbers() {
        let all = crate::everything();
        for path in ["flow.window", "flow.0.window"] {
            let text = explained(path, &all, false).concat();
            assert!(text.starts_with("flow.window (keys)\n") && text.contains("--set flow.0.window=..."), "{text}");
        }
        let limit = explained("ap.queue.limit", &all, false).concat();
        assert!(limit.contains("of fifo (qdiscs)") && !limit.contains("controls"), "{limit}");
        assert!(explained("slot", &all, false).concat().contains("--set wifi.slot=..."));
        assert!(explained("rto", &all, false).concat().contains("flow.tcp.rto (keys)"));
        assert!(explained("ap.nothing", &all, false).is_empty());
    }
}
