//! Claims and verdicts of several experiments as Markdown; this makes `docs/validation.md`.

mod first_page;

use crate::output::{by_claim, measured_text, not_the_papers, under, wrapped};
use contend_experiment::results::{Measured, Outcome};
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
        text += "| claim | says | expected | measured | from the paper's number | verdict |\n\
            | --- | --- | --- | --- | --- | --- |\n";
        for (i, c) in by_claim(&o.claims).flat_map(|readings| readings.iter().enumerate()) {
            let reading = c.reading.as_ref().map_or(String::new(), |r| format!(" ({r})"));
            let source = not_the_papers(c).map_or_else(String::new, |source| format!(" *{source}*"));
            let cells = [
                format!("{}{reading}{source}", c.id),
                if i > 0 { "as above".into() } else { c.paper.clone() },
                c.measured.expected.clone(),
                measured_text(c),
                distance(&c.measured),
                c.verdict.clone(),
            ];
            text += &format!("| {} |\n", cells.map(|c| c.replace('|', "\\|")).join(" | "));
        }
        for readings in by_claim(&o.claims) {
            let (first, under) = (&readings[0], under(readings));
            let under = if under.is_empty() || first.reason.is_empty() { under } else { format!("{under}. ") };
            if !(under.is_empty() && first.reason.is_empty()) {
                text += &format!("\n{}\n", wrapped(&format!("{}: {under}{}", first.id, first.reason), COLUMNS, 0));
            }
        }
    }
    text
}

/// How far the measured value is from the number that the paper prints: in percent of it, and in widths of the 95 %
/// interval. Empty if the claim has no such number.
fn distance(m: &Measured) -> String {
    let Some((stated, value)) = m.stated.zip(m.value) else { return String::new() };
    let difference = value - stated;
    let percent = if stated == 0.0 { String::new() } else { format!("{:+.1} %", difference / stated.abs() * 100.0) };
    let width = m.interval.map(|(low, high)| high - low).filter(|width| *width > 0.0);
    let widths = width.map_or_else(String::new, |width| format!("{:.1} widths", difference.abs() / width));
    [percent, widths].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
