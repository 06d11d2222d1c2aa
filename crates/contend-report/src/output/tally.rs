//! Statements counted by source and verdict. Those of the paper itself come first; those of our specification and those
//! beyond the paper are counted apart.
//!
//! A statement is what one sentence of the paper says (the text of `paper`). Several claims may judge its parts: it is
//! reproduced if all of them are. Of a claim with several readings the first counts.

use super::by_claim;
use contend_experiment::reading::file::{Origin, Verdict};
use contend_experiment::results::{ClaimResult, Outcome};
use std::collections::BTreeMap;
use std::path::Path;

/// The statements of each source with their verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Source, folder of the paper and text of each statement; its verdict as the place in [`Verdict::ALL`].
    statements: BTreeMap<(usize, String, String), usize>,
}

/// Verdicts from best to worst. The worst part decides.
const ORDER: [Verdict; Verdict::ALL.len()] =
    [Verdict::Reproduced, Verdict::Tie, Verdict::Undecided, Verdict::NotReproduced, Verdict::Contradiction];

impl Tally {
    /// Counts the statements of these experiments.
    pub fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Tally {
        let mut all = Tally::default();
        for o in outcomes {
            all.count(&o.file, &o.claims);
        }
        all
    }

    /// Counts the claims of `file`.
    fn count(&mut self, file: &str, claims: &[ClaimResult]) {
        let folder = Path::new(file).parent().unwrap_or(Path::new("")).display().to_string();
        for c in by_claim(claims).map(|readings| &readings[0]) {
            let source = Origin::ALL.iter().position(|origin| origin.name() == c.source);
            let rank = ORDER.iter().position(|verdict| verdict.name() == c.verdict);
            if let (Some(source), Some(rank)) = (source, rank) {
                // Without the paper's words each claim is a statement.
                let text = if c.paper.is_empty() { format!("{file} {}", c.id) } else { c.paper.clone() };
                self.add((source, folder.clone(), text), rank);
            }
        }
    }

    /// The sum of several counts.
    pub fn sum(all: impl IntoIterator<Item = Tally>) -> Tally {
        let mut sum = Tally::default();
        for (statement, rank) in all.into_iter().flat_map(|tally| tally.statements) {
            sum.add(statement, rank);
        }
        sum
    }

    fn add(&mut self, statement: (usize, String, String), rank: usize) {
        let worst = self.statements.entry(statement).or_default();
        *worst = rank.max(*worst);
    }

    /// The number of statements of `origin` with each verdict of [`Verdict::ALL`].
    pub fn verdicts(&self, origin: Origin) -> [usize; Verdict::ALL.len()] {
        let of = |(source, ..): &(usize, String, String)| Origin::ALL[*source] == origin;
        Verdict::ALL.map(|v| self.statements.iter().filter(|(s, rank)| of(s) && ORDER[**rank] == v).count())
    }

    /// The number of statements of `origin`.
    pub fn statements(&self, origin: Origin) -> usize {
        self.verdicts(origin).iter().sum()
    }

    /// The number of statements of `origin` that are reproduced.
    pub fn reproduced(&self, origin: Origin) -> usize {
        self.verdicts(origin).iter().zip(Verdict::ALL).filter(|(_, v)| *v == Verdict::Reproduced).map(|(n, _)| n).sum()
    }

    /// How many statements of `origin` are reproduced: `3 of 5`; empty if there are none.
    pub fn share(&self, origin: Origin) -> String {
        match self.statements(origin) {
            0 => String::new(),
            all => format!("{} of {all}", self.reproduced(origin)),
        }
    }

    /// What stands beside the paper's own statements: `99 of 110 statements of our specification reproduced, 9 of 14
    /// statements beyond the paper reproduced`. Empty if there is nothing.
    pub fn beside(&self) -> String {
        let of = |origin: Origin| {
            let (n, all) = (self.reproduced(origin), self.statements(origin));
            (all > 0).then(|| format!("{n} of {all} statements {} reproduced", whose(origin)))
        };
        let parts = [of(Origin::Specification), of(Origin::Beyond)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Whose statements those of `origin` are.
pub fn whose(origin: Origin) -> &'static str {
    match origin {
        Origin::Paper => "of the paper",
        Origin::Specification => "of our specification",
        Origin::Beyond => "beyond the paper",
    }
}

/// What the tags of these claims mean, a sentence for each: `[specification]: It follows from how contend reads the
/// paper.` Empty if all claims are the paper's.
pub fn tags<'a>(claims: impl IntoIterator<Item = &'a ClaimResult>) -> String {
    let mut there = [false; Origin::ALL.len()];
    for c in claims {
        Origin::ALL.iter().zip(&mut there).for_each(|(origin, there)| *there |= origin.name() == c.source);
    }
    let tagged = Origin::ALL.into_iter().zip(there).filter(|(origin, there)| *there && *origin != Origin::Paper);
    let tags: Vec<String> = tagged.map(|(origin, _)| format!("[{}]: {}", origin.name(), origin.meaning())).collect();
    if tags.is_empty() { String::new() } else { tags.join(" ") + " Counted apart from the paper's statements." }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::results::Measured;

    /// The tally of a file with these claims: id, text and verdict.
    fn tally(file: &str, claims: &[(&str, &str, &str)]) -> Tally {
        let claim = |(id, paper, verdict): &(&str, &str, &str)| ClaimResult {
            id: (*id).into(),
            paper: (*paper).into(),
            source: Origin::Paper.name(),
            verdict: (*verdict).into(),
            recorded: (*verdict).into(),
            as_recorded: true,
            reason: String::new(),
            reading: None,
            measured: Measured {
                expected: String::new(),
                stated: None,
                value: None,
                ci95: None,
                interval: None,
                unit: "",
                look: None,
                points: vec![],
            },
        };
        let mut tally = Tally::default();
        tally.count(file, &claims.iter().map(claim).collect::<Vec<_>>());
        tally
    }

    #[test]
    fn a_statement_counts_once_and_its_worst_part_decides() {
        let one = tally(
            "papers/x/a.toml",
            &[
                ("A", "better and faster", "reproduced"),
                ("B", "better and faster", "not reproduced"),
                ("C", "fair", "reproduced"),
                // Further readings of C do not count.
                ("C", "fair", "not reproduced"),
                ("D", "", "undecided"),
            ],
        );
        let other = tally("papers/x/b.toml", &[("A", "fair", "reproduced"), ("D", "", "tie")]);
        let elsewhere = tally("papers/y/a.toml", &[("A", "fair", "contradiction")]);
        let tally = Tally::sum([one, other, elsewhere]);
        assert_eq!(tally.verdicts(Origin::Paper), [1, 1, 1, 1, 1]);
        assert_eq!((tally.statements(Origin::Paper), tally.reproduced(Origin::Paper)), (5, 1));
        assert_eq!(tally.beside(), "");
    }
}
