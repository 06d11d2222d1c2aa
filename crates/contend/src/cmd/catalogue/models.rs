//! Closed forms in `contend list` and `contend explain`: first the calculators of `contend model` that print a table of
//! their own, then every entry of the table of closed forms.

use crate::cmd::model;
use clap::{Arg, ArgAction};
use contend_lab::reading::expression::Dimension;
use contend_lab::reading::model::{Model, Parameter, models};
use contend_lab::writing::output::{WIDTH, wrapped};

/// One entry of the family `models`.
pub(super) struct Item {
    pub(super) name: String,
    /// One sentence.
    pub(super) summary: String,
    /// The full explanation.
    pub(super) text: String,
}

/// The calculators, then the closed forms.
pub(super) fn items() -> Vec<Item> {
    let calculators = model::calculators().into_iter().map(|c| Item {
        name: c.get_name().to_owned(),
        summary: about(&c).0,
        text: calculator(&c),
    });
    let values = models().map(|m| Item { name: m.name.to_owned(), summary: m.doc.to_owned(), text: value(m) });
    calculators.chain(values).collect()
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

fn value(m: &Model) -> String {
    let required: String =
        m.parameters.iter().filter(|p| p.default.is_none()).map(|p| format!(", {} = ...", p.name)).collect();
    let usage =
        format!("model(\"{0}\"{required}) in expressions; name = \"{0}\" in [model]; contend model {0} --help", m.name);
    let mut out = head(m.name, m.doc, m.cite, &usage);
    out += &format!("  Value:  {}\n\n  Parameters:\n", measure(m.unit));
    for p in m.parameters {
        let default = p.default.map_or("must be given".to_owned(), |d| format!("default {d}{}", p.unit.base()));
        out += &parameter(p.name, p.doc, &format!("{} .. {} {}, {default}", p.range.0, p.range.1, unit(p)));
    }
    out
}

fn head(name: &str, what: &str, source: &str, usage: &str) -> String {
    format!(
        "{name} (models)\n\n  {}\n\n  Source: {}\n  Use:    {}\n",
        wrapped(what, WIDTH, 2),
        wrapped(source, WIDTH, 10),
        wrapped(usage, WIDTH, 10)
    )
}

fn parameter(name: &str, what: &str, given: &str) -> String {
    format!("    {name:<16} {}\n    {:<16} {}\n", wrapped(what, WIDTH, 21), "", wrapped(given, WIDTH, 21))
}

/// `a duration (s)`, or `a plain number`.
pub(super) fn measure(unit: Dimension) -> String {
    if unit.base().is_empty() { unit.noun().to_owned() } else { format!("{} ({})", unit.noun(), unit.base()) }
}

/// The unit of a range, in the same form as for the parameters of algorithms.
fn unit(p: &Parameter) -> String {
    match p.unit.base() {
        "" if p.is_whole => "(whole number)".to_owned(),
        "" => "(number)".to_owned(),
        base => format!("{base}, written like \"{}\"", p.example()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_names_its_source_and_each_parameter_what_it_is() {
        for i in items() {
            let text = i.text;
            let source = text.split_once("  Source: ").unwrap().1.lines().next().unwrap();
            assert!(source.len() > 9, "{text}");
            assert!(!text.lines().any(|l| l.trim().is_empty() && l.len() > 8), "{text}");
        }
        for m in models() {
            assert!(!m.parameters.is_empty() && m.parameters.iter().all(|p| !p.doc.is_empty()), "{}", m.name);
        }
    }
}
