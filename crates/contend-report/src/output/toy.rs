//! Mean and half width of the 95 % interval of each metric at each point, separated by tabs.

use super::Format;
use contend_experiment::results::Outcome;
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
        // The swept values, and nothing where there is one seed only.
        let point = serde_json::to_string(&s.point)?;
        let interval = s.ci95.map_or(String::new(), |half| half.to_string());
        writeln!(w, "{point}\t{}\t{}\t{interval}", s.metric, s.mean)?;
    }
    Ok(())
}
