//! CSV (RFC 4180) in tidy form: one number in each row. A data frame can filter and pivot it without knowledge of
//! contend.
//!
//! Columns: one for each swept key, then `seed, scope, name, metric, value, unit`. Scope is `run` (name empty), `flow`,
//! `queue`, `transmitter`, `air` (name empty) or `station`; the metrics of each are in `field.rs`. An unknown value is
//! an empty field. No crate is needed: quoting takes five lines.

use super::Format;
use super::field::{
    AIR, DATA, FLOW, Field, QUEUE, RADIO, ROAMS, RUN, Read, STATION, Station, StationData, StationRadio, StationRoams,
    TRANSMITTER, metric_unit, unit,
};
use super::shape::{points, swept_keys, value_text};
use contend_experiment::results::{Outcome, Run};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    summary: "every number of every run, one number on each line",
    file: "results.csv",
    can_follow: false,
    write: |o, w| write_csv(o, w),
};

/// Writes a header and all numbers of all runs, one number in each row.
pub fn write_csv(o: &Outcome, mut w: impl Write) -> io::Result<()> {
    let keys = swept_keys(&points(o));
    let header: Vec<String> = keys
        .iter()
        .map(|k| quoted(k).into_owned())
        .chain(["seed", "scope", "name", "metric", "value", "unit"].map(String::from))
        .collect();
    writeln!(w, "{}", header.join(","))?;
    let metrics: BTreeSet<&String> = o.runs.iter().flat_map(|r| r.metrics.keys()).collect();
    let units = metrics.into_iter().map(|m| (m, metric_unit(m).unwrap_or_default())).collect();
    for run in &o.runs {
        let mut prefix: String = keys
            .iter()
            .map(|k| run.point.get(k).map(|v| quoted(&value_text(v)).into_owned()).unwrap_or_default() + ",")
            .collect();
        prefix.push_str(&run.seed.to_string());
        write_run(run, &units, |scope, name, metric, value: Option<f64>, unit| {
            let value = value.filter(|v| v.is_finite()).map(|v| v.to_string()).unwrap_or_default();
            writeln!(w, "{prefix},{scope},{},{},{value},{unit}", quoted(name), quoted(metric))
        })?;
    }
    Ok(())
}

/// Calls `row(scope, name, metric, value, unit)` for each number of a run.
fn write_run(
    run: &Run,
    units: &BTreeMap<&String, &str>,
    mut row: impl FnMut(&str, &str, &str, Option<f64>, &str) -> io::Result<()>,
) -> io::Result<()> {
    // The seed is a column.
    rows(&RUN[1..], run, |metric, value, unit| row("run", "", metric, value, unit))?;
    for (metric, value) in &run.metrics {
        row("run", "", metric, Some(*value), units.get(metric).copied().unwrap_or_default())?;
    }
    for f in &run.flows {
        rows(FLOW, f, |metric, value, unit| row("flow", &f.name, metric, value, unit))?;
    }
    for q in &run.queues {
        rows(QUEUE, q, |metric, value, unit| row("queue", &q.name, metric, value, unit))?;
    }
    for t in &run.transmitters {
        rows(TRANSMITTER, t, |metric, value, unit| row("transmitter", &t.name, metric, value, unit))?;
    }
    if let Some(air) = &run.air {
        rows(AIR, air, |metric, value, unit| row("air", "", metric, value, unit))?;
        for s in Station::all(air) {
            rows(STATION, &s, |metric, value, unit| row("station", &s.name, metric, value, unit))?;
        }
        for (fields, all) in DATA.into_iter().zip(StationData::all(air)) {
            for s in all {
                rows(fields, &s, |metric, value, unit| row("station", &s.name, metric, value, unit))?;
            }
        }
        for s in StationRadio::all(air) {
            rows(RADIO, &s, |metric, value, unit| row("station", &s.name, metric, value, unit))?;
        }
        for s in StationRoams::all(air) {
            rows(ROAMS, &s, |metric, value, unit| row("station", &s.name, metric, value, unit))?;
        }
    }
    Ok(())
}

/// Calls `row(metric, value, unit)` for each number of `of`.
fn rows<T>(
    fields: &[Field<T>],
    of: &T,
    mut row: impl FnMut(&str, Option<f64>, &str) -> io::Result<()>,
) -> io::Result<()> {
    for Field { name, unit: dimension, read, .. } in fields {
        let unit = dimension.map_or("", unit);
        match read {
            Read::Number(read) => row(name, read(of), unit),
            Read::Count(read) => row(name, read(of).map(|n| n as f64), unit),
            Read::NonZero(read) => match read(of) {
                0 => Ok(()),
                n => row(name, Some(n as f64), unit),
            },
            Read::Flag(read) => row(name, Some(f64::from(u8::from(read(of)))), unit),
            Read::List(read) => read(of).iter().try_for_each(|x| row(name, Some(*x), unit)),
            Read::Each(read) => {
                read(of).iter().try_for_each(|(word, x)| row(&format!("{name}.{word}"), Some(*x), unit))
            }
            Read::Counts(read) => read(of)
                .into_iter()
                .flatten()
                .try_for_each(|(word, n)| row(&format!("{name}.{word}"), Some(*n as f64), unit)),
            Read::Text(_) => Ok(()),
        }?;
    }
    Ok(())
}

/// Quotes a field as RFC 4180 §2 requires: if it contains a comma, a quote or a line break. Inner quotes are doubled.
pub(super) fn quoted(field: &str) -> Cow<'_, str> {
    if field.bytes().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_field_with_a_comma_or_a_quote_is_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"so\""), "\"say \"\"so\"\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
    }
}
