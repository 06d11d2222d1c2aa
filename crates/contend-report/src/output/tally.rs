//! Claims counted by source and verdict. The claims of the paper itself come first; those of our specification and
//! those beyond the paper are counted apart.

use contend_experiment::reading::file::{Origin, Verdict};
use contend_experiment::results::ClaimResult;

/// The number of claims of each source with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: [[usize; Verdict::ALL.len()]; Origin::ALL.len()],
}

impl Tally {
    /// Counts these claims.
    pub fn of<'a>(claims: impl IntoIterator<Item = &'a ClaimResult>) -> Tally {
        let mut all = Tally::default();
        for c in claims {
            for (row, origin) in all.counts.iter_mut().zip(Origin::ALL) {
                for (n, verdict) in row.iter_mut().zip(Verdict::ALL) {
                    *n += usize::from(c.source == origin.name() && c.verdict == verdict.name());
                }
            }
        }
        all
    }

    /// The sum of several counts.
    pub fn sum(all: impl IntoIterator<Item = Tally>) -> Tally {
        let mut sum = Tally::default();
        for tally in all {
            let cells = sum.counts.iter_mut().flatten();
            cells.zip(tally.counts.iter().flatten()).for_each(|(sum, n)| *sum += n);
        }
        sum
    }

    /// The number of claims of `origin` with each verdict of [`Verdict::ALL`].
    pub fn verdicts(&self, origin: Origin) -> [usize; Verdict::ALL.len()] {
        let row = self.counts.iter().zip(Origin::ALL).find(|(_, o)| *o == origin);
        row.map_or([0; Verdict::ALL.len()], |(row, _)| *row)
    }

    /// The number of claims of `origin`.
    pub fn claims(&self, origin: Origin) -> usize {
        self.verdicts(origin).iter().sum()
    }

    /// The number of claims of `origin` that are reproduced.
    pub fn reproduced(&self, origin: Origin) -> usize {
        self.verdicts(origin).iter().zip(Verdict::ALL).filter(|(_, v)| *v == Verdict::Reproduced).map(|(n, _)| n).sum()
    }

    /// What stands beside the paper's own claims: `99 of 110 claims of our specification reproduced, 9 of 14 claims
    /// beyond the paper reproduced`. Empty if there is nothing.
    pub fn beside(&self) -> String {
        let of = |origin: Origin, whose: &str| {
            let (n, all) = (self.reproduced(origin), self.claims(origin));
            (all > 0).then(|| format!("{n} of {all} claims {whose} reproduced"))
        };
        let parts = [of(Origin::Specification, "of our specification"), of(Origin::Beyond, "beyond the paper")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
