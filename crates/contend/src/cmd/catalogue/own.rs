//! What the command has besides experiment files: the calculators of `contend model` that print a table of their own,
//! and the words of `--format` and `--export`.

use crate::cmd::common::formats;
use crate::cmd::model;
use crate::cmd::run::exports;
use clap::{Arg, ArgAction};
use contend_explain::models::{head, parameter};
use contend_explain::{Item, entry};

/// All names that only the command has.
pub(super) fn items() -> Vec<Item> {
    calculators().chain(outputs()).collect()
}

/// The calculators.
pub(super) fn calculators() -> impl Iterator<Item = Item> {
    model::calculators().into_iter().map(|c| Item {
        name: c.get_name().to_owned(),
        summary: about(&c).0,
        text: calculator(&c),
    })
}

/// The words of `--format`, then those of `--export`.
pub(super) fn outputs() -> impl Iterator<Item = Item> {
    let item = |option: &str, name: &str, doc: String| {
        let usage = format!("contend run FILE --{option} {name}");
        let text = entry(name, "formats", &doc, &[("Use", &usage)]);
        Item { name: name.to_owned(), summary: doc, text }
    };
    let formats = formats().map(move |(name, doc)| item("format", name, doc));
    formats.chain(exports().map(move |(name, doc)| item("export", name, doc.to_owned())))
}

/// What a calculator computes, and its source. The help text gives the source in brackets.
fn about(c: &clap::Command) -> (String, String) {
    let text = c.get_about().map(ToString::to_string).unwrap_or_default();
    match text.trim_end_matches(')').split_once(" (") {
        Some((what, source)) => (what.to_owned(), source.to_owned()),
        None => (text, String::new()),
    }
}

fn calculator(c: &clap::Command) -> String {
    let (what, source) = about(c);
    let name = c.get_name();
    let mut out = head(name, &what, &source, &format!("contend model {name}; examples: contend model --help"));
    out += "\n  Parameters:\n";
    // All calculators have the same options for printing.
    for a in c.get_arguments().filter(|a| !["help", "format", "json"].contains(&a.get_id().as_str())) {
        let help = a.get_help().map(ToString::to_string).unwrap_or_default();
        out += &parameter(&format!("--{}", a.get_long().unwrap_or_default()), &help, &given(a));
    }
    out
}

/// Whether an option may be omitted or repeated, and its default.
fn given(a: &Arg) -> String {
    let defaults: Vec<_> = a.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    match a.get_action() {
        ArgAction::SetTrue => "a switch, default off".to_owned(),
        ArgAction::Append => "may be given several times".to_owned(),
        _ if defaults.is_empty() => "optional".to_owned(),
        _ => format!("default {}", defaults.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_calculator_names_its_source_and_each_parameter_what_it_is() {
        for i in calculators() {
            let text = i.text;
            let source = text.split_once("  Source: ").unwrap().1.lines().next().unwrap();
            assert!(source.len() > 9, "{text}");
            assert!(!text.lines().any(|l| l.trim().is_empty() && l.len() > 8), "{text}");
        }
    }
}
