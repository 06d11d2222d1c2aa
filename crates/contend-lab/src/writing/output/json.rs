//! One JSON object, schema `contend/run/1`.

use super::Format;
use crate::experiment::results::Outcome;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "json",
    summary: "all results as one JSON object",
    file: "summary.json",
    can_follow: true,
    write: |o, w| write_json(o, w),
};

/// Writes the outcome as one JSON object, schema `contend/run/1`. Undefined numbers become `null`.
pub fn write_json(o: &Outcome, mut w: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut w, o)?;
    writeln!(w)
}
