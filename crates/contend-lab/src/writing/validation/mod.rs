//! Claims and verdicts of several experiments as Markdown; this makes `docs/validation.md`.

mod first_page;

use crate::experiment::results::Outcome;
use crate::writing::output::{measured_text, wrapped};
use std::collections::BTreeSet;

/// Maximum length of a line of prose.
const COLUMNS: usize = 120;

/// One page with the verdicts, then a table for each experiment: each claim beside the measured value. `command` is the
/// command line that makes this text.
pub fn markdown(command: &str, outcomes: &[Outcome]) -> String {
    let mut text =
        format!("# Validation\n\nMade by `{command}`, contend {}; not written by hand.\n", env!("CARGO_PKG_VERSION"));
    text += &first_page::first_page(outcomes);
    for o in outcomes {
        let most = o.runs.iter().map(|r| r.seed).collect::<BTreeSet<_>>().len();
        let least = o.seeds.iter().map(|p| p.n).min().unwrap_or(most);
        let seeds = if least < most { format!("{least} to {most}") } else { most.to_string() };
        text += &format!("\n## {}\n\n`{}`, {seeds} seed{}\n\n", o.title, o.file, if most == 1 { "" } else { "s" });
        if o.claims.is_empty() {
            text += "Nothing is claimed; its figures are in the report.\n";
            continue;
        }
        text += "| claim | says | expected | measured | verdict |\n| --- | --- | --- | --- | --- |\n";
        for c in &o.claims {
            let reading = c.reading.as_ref().map_or(String::new(), |r| format!(" ({r})"));
            let cells = [
                format!("{}{reading}", c.id),
                c.paper.clone(),
                c.measured.expected.clone(),
                measured_text(c),
                c.verdict.clone(),
            ];
            text += &format!("| {} |\n", cells.map(|c| c.replace('|', "\\|")).join(" | "));
        }
        for c in o.claims.iter().filter(|c| !c.reason.is_empty()) {
            text += &format!("\n{}\n", wrapped(&format!("{}: {}", c.id, c.reason), COLUMNS, 0));
        }
    }
    text
}
