//! One JSON object, schema `contend/run/2`; `docs/json.md` describes it.

use super::Format;
use super::field::units;
use contend_experiment::results::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The schema of the object.
pub const SCHEMA: &str = "contend/run/2";

pub(super) const FORMAT: Format = Format {
    name: "json",
    summary: "all results as one JSON object",
    file: "summary.json",
    can_follow: true,
    write: |o, w| write_json(o, w),
};

/// An outcome as it is written: with its schema, and the unit of each name.
#[derive(Serialize)]
pub struct Document<'a> {
    schema: &'static str,
    units: BTreeMap<String, &'static str>,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

impl Document<'_> {
    /// The document of `o`.
    pub fn of(o: &Outcome) -> Document<'_> {
        Document { schema: SCHEMA, units: units(o), outcome: o }
    }
}

/// Writes the outcome as one JSON object. Undefined numbers become `null`.
pub fn write_json(o: &Outcome, mut w: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut w, &Document::of(o))?;
    writeln!(w)
}
