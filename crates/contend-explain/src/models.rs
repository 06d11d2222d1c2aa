//! Closed forms.

use crate::Item;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::reading::model::{Model, Parameter, models};
use contend_report::output::{WIDTH, wrapped};

/// Every entry of the table of closed forms.
pub fn closed_forms() -> impl Iterator<Item = Item> {
    models().map(|m| Item { name: m.name.to_owned(), summary: m.doc.to_owned(), text: text(m) })
}

/// The explanation of a closed form.
pub fn text(m: &Model) -> String {
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

/// The beginning of an explanation: what is computed, its source, and how it is used.
pub fn head(name: &str, what: &str, source: &str, usage: &str) -> String {
    format!(
        "{name} (models)\n\n  {}\n\n  Source: {}\n  Use:    {}\n",
        wrapped(what, WIDTH, 2),
        wrapped(source, WIDTH, 10),
        wrapped(usage, WIDTH, 10)
    )
}

/// A parameter with its meaning, and in which form it is given.
pub fn parameter(name: &str, what: &str, given: &str) -> String {
    format!("    {name:<16} {}\n    {:<16} {}\n", wrapped(what, WIDTH, 21), "", wrapped(given, WIDTH, 21))
}

/// `a duration (s)`, or `a plain number`.
pub fn measure(unit: Dimension) -> String {
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
        for i in closed_forms() {
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
