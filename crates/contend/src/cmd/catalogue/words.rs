//! The words that a file accepts besides the names of algorithms: TCP variants, keys, values, and the parameters of
//! algorithms and models. Also the words of `--format`.

use super::{Item, formats, unit};
use contend_core::registry::{Param, Unit};
use contend_lab::reading::file::words::{WORDS, variants};
use contend_lab::reading::model::models;
use contend_lab::writing::output::{WIDTH, wrapped};

/// Every name that [`explained`] can explain with these algorithms.
pub(super) fn names(algorithms: &[Item]) -> Vec<&'static str> {
    let parameters = algorithms.iter().flat_map(|i| i.params).flat_map(with_members);
    let mut all: Vec<&'static str> = parameters.flat_map(|p| std::iter::once(p.name).chain(words_of(p))).collect();
    all.extend(variants().iter().map(|v| v.name));
    all.extend(WORDS.iter().map(|w| w.name));
    all.extend(models().flat_map(|m| m.parameters).map(|p| p.name));
    all.extend(formats().map(|f| f.0));
    all
}

/// The explanations of `name` as a variant, a word of the file, an output format, or a parameter of one of
/// `algorithms`.
pub(super) fn explained(name: &str, algorithms: &[Item]) -> Vec<String> {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let variants = variants().into_iter().filter(|v| v.name == name);
    let mut out: Vec<String> = variants
        .map(|v| {
            let usage = format!("tcp = \"{0}\" or tcp = {{ kind = \"{0}\", ... }} in a [[flow]]", v.name);
            entry(v.name, "variants", &v.doc, &usage)
        })
        .collect();
    out.extend(
        WORDS.iter().filter(|w| w.name == name).map(|w| entry(w.name, "words", w.doc, &format!("in {}", w.place))),
    );
    let formats = formats().filter(|f| f.0 == name);
    out.extend(formats.map(|(name, doc)| entry(name, "formats", &doc, &format!("contend run FILE --format {name}"))));
    let parameters = parameters(name, algorithms);
    if !parameters.is_empty() {
        out.push(format!("{name} (parameters)\n\n{}", parameters.concat()));
    }
    out
}

fn entry(name: &str, family: &str, doc: &str, usage: &str) -> String {
    format!("{name} ({family})\n\n  {}\n\n  Use:    {}\n", wrapped(doc, WIDTH, 2), wrapped(usage, WIDTH, 10))
}

/// A paragraph for each algorithm or model that has a parameter `name` or a parameter with the value `name`.
fn parameters(name: &str, algorithms: &[Item]) -> Vec<String> {
    let of = |p: &Param, whose: &str| {
        let default = p.default.map_or("must be given".to_owned(), |d| format!("default {d}"));
        let text = format!("of {whose}: {}; {}, {default}", p.doc, unit(p));
        format!("  {}\n", wrapped(&text, WIDTH, 4))
    };
    let of_algorithms = algorithms.iter().flat_map(|i| i.params.iter().flat_map(with_members).map(move |p| (i, p)));
    let found = of_algorithms.filter_map(|(i, p)| {
        let whose = format!("{} ({})", i.name, i.family);
        if p.name == name {
            Some(of(p, &whose))
        } else if words_of(p).any(|w| w == name) {
            Some(format!("  {}\n", wrapped(&format!("a value of `{}` of {whose}: {}", p.name, p.doc), WIDTH, 4)))
        } else {
            None
        }
    });
    let of_models = models().flat_map(|m| m.parameters.iter().map(move |p| (m, p)));
    let models = of_models
        .filter(|(_, p)| p.name == name)
        .map(|(m, p)| format!("  {}\n", wrapped(&format!("of {} (models): {}", m.name, p.doc), WIDTH, 4)));
    found.chain(models).collect()
}

/// A parameter and, if it is a table, the parameters in the table.
fn with_members(p: &'static Param) -> impl Iterator<Item = &'static Param> {
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

    #[test]
    fn every_word_of_a_file_and_every_format_is_explained() {
        let all = super::super::everything();
        let names = names(&all);
        assert!(names.len() > 400, "{}", names.len());
        for name in names {
            let texts = explained(name, &all);
            assert!(!texts.is_empty(), "{name}");
            for line in texts.iter().flat_map(|t| t.lines()) {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
        assert!(explained("[param]", &all)[0].starts_with("param (words)\n"));
        assert!(explained("[[flow]]", &all)[0].starts_with("flow (words)\n"));
        assert!(explained("limit", &all).concat().contains("of fifo (qdiscs): "));
        assert!(explained("nothing", &all).is_empty());
    }
}
