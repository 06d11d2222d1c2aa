//! Mean and half width of the 95 % interval of each metric, separated by tabs.

use super::Format;
use crate::experiment::results::Outcome;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "tsv",
    summary: "mean and interval of each metric, separated by tabs",
    file: "summary.tsv",
    can_follow: false,
    write,
};

fn write(o: &Outcome, w: &mut dyn Write) -> io::Result<()> {
    for s in &o.summary {
        writeln!(w, "{}\t{}\t{}", s.metric, s.mean, s.ci95.unwrap_or(0.0))?;
    }
    Ok(())
}
