//! `contend list`: the families on one page, or one family with a phrase for each name.

use super::own::{calculators, outputs};
use crate::Done;
use crate::cmd::{new, print};
use clap::builder::PossibleValuesParser;
use contend_explain::models::closed_forms;
use contend_explain::{everything, functions};
use contend_lab::built;
use contend_lab::echo::{SENTENCE, echo};
use contend_lab::folder::files_below;
use contend_lab::measuring::metric::metrics;
use contend_lab::reading::file::keys::{keys, variants};
use contend_lab::writing::output::{WIDTH, wrapped};
use miette::Result;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  contend list                  the names of all families
  contend list controllers      one family, with a phrase for each name
  contend list variants         the values of `tcp` in a flow
  contend list metrics          quantities for claims, figures and searches
  contend list keys             the keys of an experiment file
  contend list models           closed forms: calculators, and values for expressions
  contend list experiments      the experiment files of this folder; without any, those inside contend";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// The family to list; without it, the names of all families
    #[arg(value_parser = PossibleValuesParser::new(FAMILIES.iter().copied().chain([EXPERIMENTS])))]
    what: Option<String>,
}

/// The names of [`families`].
const FAMILIES: [&str; 22] = [
    "controllers",
    "estimators",
    "observers",
    "recoveries",
    "qdiscs",
    "controls",
    "access",
    "clients",
    "traffic",
    "loss",
    "propagation",
    "mobility",
    "routing",
    "rate_controls",
    "error_models",
    "fading",
    "variants",
    "metrics",
    "functions",
    MODELS,
    "formats",
    KEYS,
];

/// The calculators and the closed forms, of which the page of all families names the first.
const MODELS: &str = "models";

/// The keys of an experiment file. They are too many for the page of all families.
const KEYS: &str = "keys";

/// The experiment files of this folder; they are no family, because `contend explain` does not explain them.
const EXPERIMENTS: &str = "experiments";

/// Names of one kind.
struct Family {
    name: &'static str,
    /// Each name with a phrase that distinguishes it from the other names.
    entries: Vec<(String, String)>,
}

/// All families, in the order of the lists.
fn families() -> Vec<Family> {
    let mut all: Vec<Family> = Vec::new();
    let mut add = |family: &'static str, name: &str, text: &str| {
        if all.last().is_none_or(|f| f.name != family) {
            all.push(Family { name: family, entries: Vec::new() });
        }
        // Several functions may share a name: the list shows the first.
        if let Some(f) = all.last_mut().filter(|f| f.entries.iter().all(|e| e.0 != name)) {
            f.entries.push((name.to_owned(), phrase(text).to_owned()));
        }
    };
    everything().iter().for_each(|a| add(a.family.name(), a.name, a.summary));
    variants().iter().for_each(|v| add("variants", v.name, &v.doc));
    metrics().for_each(|m| add("metrics", m.name, m.doc));
    functions().for_each(|f| add("functions", f.name, f.doc));
    calculators().chain(closed_forms()).for_each(|m| add(MODELS, &m.name, &m.summary));
    outputs().for_each(|f| add("formats", &f.name, &f.summary));
    keys().iter().for_each(|(path, _, key)| add(KEYS, path, key.doc));
    all
}

/// The names of each family with a phrase for each, as `contend list FAMILY` shows them.
pub fn listed() -> Vec<(&'static str, Vec<(String, String)>)> {
    families().into_iter().map(|f| (f.name, f.entries)).collect()
}

/// The text up to its first colon, semicolon or full stop.
pub(super) fn phrase(text: &str) -> &str {
    let first = |text, end| str::split_once(text, end).map_or(text, |(first, _)| first);
    [": ", "; ", ". "].into_iter().fold(text, first).trim_end_matches('.')
}

pub fn list(args: &ListArgs) -> Result<Done> {
    let text = match args.what.as_deref() {
        None => page(&families()),
        Some(EXPERIMENTS) => experiments(),
        Some(what) => families().iter().filter(|f| f.name == what).map(long).collect(),
    };
    print(&text)?;
    Ok(Done::Well)
}

/// The names of all families.
fn page(families: &[Family]) -> String {
    let mut out = String::new();
    for f in families {
        let names: Vec<&str> = f.entries.iter().map(|e| e.0.as_str()).collect();
        let text = match f.name {
            KEYS => format!("{} keys of an experiment file: flow.window, wifi.slot, ...", names.len()),
            MODELS => {
                let (forms, others): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| name.contains('.'));
                format!(
                    "{}, and {} functions for expressions: padhye.rate, l4s.window, ...",
                    others.join(", "),
                    forms.len()
                )
            }
            _ => names.join(", "),
        };
        out += &format!("{:<12} {}\n", f.name, wrapped(&text, WIDTH, 13));
    }
    out + "\
\n\
contend list qdiscs            one family, with a phrase for each name\n\
contend explain fq_codel       one name: what it does, its source, parameters, units and defaults\n\
contend new                    the examples: experiments to run and to copy\n"
}

/// One family with a phrase for each name.
fn long(f: &Family) -> String {
    let widest = f.entries.iter().map(|e| e.0.chars().count()).max().unwrap_or_default();
    let line = |(name, text): &(String, String)| format!("  {name:<widest$}  {}\n", wrapped(text, WIDTH, widest + 4));
    format!("{}\n{}", f.name, f.entries.iter().map(line).collect::<String>())
}

/// The experiment files of this folder, or the examples if there are none.
fn experiments() -> String {
    let mut out = format!("{EXPERIMENTS}\n");
    let mut files = Vec::new();
    for folder in ["experiments", "papers"].map(Path::new) {
        match files_below(folder) {
            Ok(below) => files.extend(below),
            Err(too_large) => out += &format!("  {too_large}: name one of its files to run it\n"),
        }
    }
    for file in &files {
        let title = contend_lab::reading::file::load(file, &[])
            .map_or_else(|_| "(cannot be read: `contend run` shows the error)".into(), |e| e.title);
        let (file, title) = (echo(&file.display().to_string(), SENTENCE), echo(&title, SENTENCE));
        out += &format!("  {file}\n      {title}\n");
    }
    if files.is_empty() {
        out += &format!("  none: ./experiments and ./papers hold no experiment file\n\nexamples\n{}", new::list());
        out += "\npapers, inside contend: `contend reproduce PAPER`, `contend run PAPER/EXPERIMENT`\n";
        for file in built::experiments() {
            out += &format!("  {}\n", file.name);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_phrase_ends_before_the_details() {
        assert_eq!(phrase("A rule: it does much; and more. Really."), "A rule");
        assert_eq!(phrase("All there is, here."), "All there is, here");
    }

    #[test]
    fn every_family_can_be_asked_for() {
        assert_eq!(families().iter().map(|f| f.name).collect::<Vec<_>>(), FAMILIES);
    }

    #[test]
    fn a_phrase_tells_a_name_from_its_neighbours() {
        for f in families().iter().filter(|f| f.name != KEYS) {
            let phrases: BTreeSet<String> = f.entries.iter().map(|e| e.1.to_lowercase()).collect();
            assert_eq!(phrases.len(), f.entries.len(), "two phrases are equal:\n{}", long(f));
        }
    }

    #[test]
    fn the_page_of_all_families_fits_a_screen_and_a_name_has_two_lines_at_most() {
        let families = families();
        let page = page(&families);
        assert!(page.lines().count() <= 50, "{} lines", page.lines().count());
        for f in &families {
            assert!(page.lines().any(|l| l.starts_with(&format!("{} ", f.name))), "{}", f.name);
            let long = long(f);
            assert!(long.lines().count() <= 1 + 2 * f.entries.len(), "{long}");
            assert!(page.lines().chain(long.lines()).all(|l| l.chars().count() <= WIDTH), "{page}{long}");
        }
    }
}
