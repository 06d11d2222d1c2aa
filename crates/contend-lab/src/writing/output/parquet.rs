//! Parquet files: `flows.parquet` (one row a run and flow) and `series.parquet` (one row a run, flow or queue, and
//! instant).
//!
//! Units are in the column names, TCP columns carry the names of Linux' `tcp_info`, so that simulated, emulated and
//! kernel traces can be joined. Key-values of the file: `contend.schema`, `contend.version`, `contend.experiment_hash`,
//! `contend.title`, `contend.file`, `contend.command`. A row group holds rows of one run, 65,536 at most, so that
//! writing needs little memory. Snappy, and the library's own column writers: the Arrow crates would double the build.

use super::shape::{points, swept_keys, value_text};
use super::{Error, ReportContext, whole};
use crate::experiment::results::{Flow, FlowSeries, Outcome, Percentiles, PointKey, QueueSeries, Run};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Schema of `flows.parquet`, as its metadata name it.
pub const FLOWS_SCHEMA: &str = "contend/flows/1";
/// Schema of `series.parquet`, as its metadata name it.
pub const SERIES_SCHEMA: &str = "contend/series/1";

/// Writes `flows.parquet`: one row a run and flow.
pub fn write_flows(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    let head = PointColumns::of(o);
    let groups = o.runs.iter().filter(|r| !r.flows.is_empty());
    write(o, ctx, FLOWS_SCHEMA, path, &flow_columns(&head, None), groups.map(|run| flow_columns(&head, Some(run))))
}

/// Writes `series.parquet`: one row a run, flow and instant, and one a run, queue and instant; `entity` tells them
/// apart.
pub fn write_series(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    let head = PointColumns::of(o);
    let watched = watched(o);
    let groups = o.runs.iter().flat_map(Rows::groups);
    let layout = series_columns(&head, None, &watched);
    write(o, ctx, SERIES_SCHEMA, path, &layout, groups.map(|rows| series_columns(&head, Some(&rows), &watched)))
}

/// One column: its name, and its values in one row group.
struct Column {
    name: String,
    values: Values,
}

/// Values of a column; `None` is a null.
enum Values {
    Number(Vec<Option<f64>>),
    Count(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
}

impl Values {
    fn physical(&self) -> (Physical, ConvertedType) {
        match self {
            Values::Number(_) => (Physical::DOUBLE, ConvertedType::NONE),
            Values::Count(_) => (Physical::INT64, ConvertedType::NONE),
            Values::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        }
    }
}

/// A counter as Parquet's signed integer; what does not fit (no counter does) is a null.
fn count(n: u64) -> Option<i64> {
    i64::try_from(n).ok()
}

/// The columns that say which point: one a swept key, of a type that fits all its values.
struct PointColumns(Vec<(String, ColumnKind)>);

#[derive(Clone, Copy)]
enum ColumnKind {
    Number,
    Count,
    Text,
}

impl PointColumns {
    fn of(o: &Outcome) -> PointColumns {
        let points = points(o);
        let kind = |key: &str| {
            let values = || points.iter().filter_map(|p| p.get(key));
            if values().all(Value::is_i64) {
                ColumnKind::Count
            } else if values().all(Value::is_number) {
                ColumnKind::Number
            } else {
                ColumnKind::Text
            }
        };
        PointColumns(swept_keys(&points).into_iter().map(|key| (key.clone(), kind(&key))).collect())
    }
    /// The same point `rows` times over.
    fn columns(&self, point: Option<&PointKey>, rows: usize) -> Vec<Column> {
        let column = |(key, kind): &(String, ColumnKind)| {
            let value = point.and_then(|p| p.get(key));
            let values = match kind {
                ColumnKind::Number => Values::Number(vec![value.and_then(Value::as_f64); rows]),
                ColumnKind::Count => Values::Count(vec![value.and_then(Value::as_i64); rows]),
                ColumnKind::Text => Values::Text(vec![value.map(value_text); rows]),
            };
            Column { name: key.clone(), values }
        };
        self.0.iter().map(column).collect()
    }
}

fn flow_columns(head: &PointColumns, run: Option<&Run>) -> Vec<Column> {
    let flows: &[Flow] = run.map_or(&[], |r| &r.flows);
    let number = |name: &str, of: &dyn Fn(&Flow) -> Option<f64>| Column {
        name: name.into(),
        values: Values::Number(flows.iter().map(of).collect()),
    };
    let counter = |name: &str, of: &dyn Fn(&Flow) -> u64| Column {
        name: name.into(),
        values: Values::Count(flows.iter().map(|f| count(of(f))).collect()),
    };
    let text = |name: &str, of: &dyn Fn(&Flow) -> String| Column {
        name: name.into(),
        values: Values::Text(flows.iter().map(|f| Some(of(f))).collect()),
    };
    let us = |of: fn(&Percentiles) -> Option<f64>, p: &Percentiles| of(p).map(|ms| ms * 1e3);

    let mut all = head.columns(run.map(|r| &r.point), flows.len());
    all.extend([
        counter("seed", &|_| run.map_or(0, |r| r.seed)),
        text("digest", &|_| run.map_or_else(String::new, |r| r.digest.clone())),
        text("flow", &|f| f.name.clone()),
        text("direction", &|f| f.direction.to_owned()),
        text("tcp", &|f| f.tcp.clone()),
        number("goodput_bps", &|f| Some(f.goodput_bps)),
        number("throughput_bps", &|f| Some(f.throughput_bps)),
        counter("segs_out", &|f| f.sent),
        counter("total_retrans", &|f| f.retransmitted),
        counter("timeouts", &|f| f.timeouts),
    ]);
    type Quantile = (&'static str, fn(&Percentiles) -> Option<f64>);
    let quantiles: [Quantile; 4] = [("mean", |p| p.mean), ("p50", |p| p.p50), ("p95", |p| p.p95), ("p99", |p| p.p99)];
    all.extend(quantiles.iter().map(|(q, of)| number(&format!("rtt_{q}_us"), &|f| us(*of, &f.rtt_ms))));
    all.extend(quantiles.iter().map(|(q, of)| number(&format!("delay_{q}_us"), &|f| us(*of, &f.delay_ms))));
    all.push(number("completed_s", &|f| f.completed_s));
    all.push(counter("completions", &|f| f.completions_s.len() as u64));
    all
}

/// Rows of a row group at most: what is in memory of a file beside the runs.
const ROWS: usize = 1 << 16;

/// Rows of the series of a run: all instants of each flow, then of each queue.
struct Rows<'a> {
    run: &'a Run,
    range: Range<usize>,
}

impl<'a> Rows<'a> {
    /// All rows of a run in groups of at most [`ROWS`].
    fn groups(run: &'a Run) -> impl Iterator<Item = Rows<'a>> {
        let all = run.series.time_s.len() * (run.series.flows.len() + run.series.queues.len());
        (0..all).step_by(ROWS).map(move |from| Rows { run, range: from..all.min(from + ROWS) })
    }

    /// For each row its flow or (counted behind all flows) queue, and its instant.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let many = self.run.series.time_s.len().max(1);
        self.range.clone().map(move |row| (row / many, row % many))
    }

    /// A number of each flow at each instant; nothing for queues.
    fn of_flows<T>(&self, of: impl Fn(&FlowSeries, usize) -> Option<T>) -> Vec<Option<T>> {
        self.places().map(|(i, k)| self.run.series.flows.get(i).and_then(|f| of(f, k))).collect()
    }

    /// A number of each queue at each instant; nothing for flows.
    fn of_queues(&self, of: fn(&QueueSeries) -> &Vec<u64>) -> Vec<Option<i64>> {
        let queue = |i: usize| self.run.series.queues.get(i.checked_sub(self.run.series.flows.len())?);
        self.places().map(|(i, k)| of(queue(i)?).get(k).copied().and_then(count)).collect()
    }

    /// Bits per second of each flow since the instant before, by a counter of bytes.
    fn rate(&self, of: fn(&FlowSeries) -> &Vec<u64>) -> Vec<Option<f64>> {
        let time = &self.run.series.time_s;
        self.of_flows(|f, k| {
            let before = k.checked_sub(1)?;
            let (t, t0, now, then) = (time.get(k)?, time.get(before)?, of(f).get(k)?, of(f).get(before)?);
            (t > t0).then(|| now.saturating_sub(*then) as f64 * 8.0 / (t - t0))
        })
    }

    /// What an estimator of each flow says.
    fn estimate(&self, name: &str) -> Vec<Option<f64>> {
        let of = |(i, k): (usize, usize)| {
            let of_flow = self.run.series.estimates.iter().find(|e| e.flow == i && e.name == name)?;
            of_flow.rate_bps.get(k).map(|r| *r as f64)
        };
        self.places().map(of).collect()
    }
}

/// Names of all estimates in all runs, each once.
fn watched(o: &Outcome) -> Vec<&str> {
    let all: BTreeSet<&str> = o.runs.iter().flat_map(|r| &r.series.estimates).map(|e| e.name.as_str()).collect();
    all.into_iter().collect()
}

/// The name of flow `i`, or behind all flows of a queue.
fn member(run: &Run, i: usize) -> Option<&str> {
    let queue = || run.queues.get(i.checked_sub(run.flows.len())?).map(|q| q.name.as_str());
    run.flows.get(i).map(|f| f.name.as_str()).or_else(queue)
}

fn series_columns(head: &PointColumns, rows: Option<&Rows<'_>>, watched: &[&str]) -> Vec<Column> {
    let many = rows.map_or(0, |r| r.range.len());
    let text = |of: &dyn Fn(&Run, usize) -> Option<&str>| {
        let of_row = |r: &Rows<'_>| r.places().map(|(i, _)| of(r.run, i).map(str::to_owned)).collect();
        Values::Text(rows.map_or_else(Vec::new, of_row))
    };
    let number = |of: &dyn Fn(&Rows<'_>) -> Vec<Option<f64>>| Values::Number(rows.map_or_else(Vec::new, of));
    let counter = |of: &dyn Fn(&Rows<'_>) -> Vec<Option<i64>>| Values::Count(rows.map_or_else(Vec::new, of));
    let bytes =
        |of: fn(&FlowSeries) -> &Vec<u64>| counter(&move |r| r.of_flows(|f, k| of(f).get(k).copied().and_then(count)));
    let state =
        |of: fn(&FlowSeries) -> &Vec<u32>| counter(&move |r| r.of_flows(|f, k| of(f).get(k).copied().map(i64::from)));
    let queue = |of: fn(&QueueSeries) -> &Vec<u64>| counter(&move |r| r.of_queues(of));
    let time = |r: &Rows<'_>| r.places().map(|(_, k)| r.run.series.time_s.get(k).copied()).collect();

    let mut all = head.columns(rows.map(|r| &r.run.point), many);
    let seed = Values::Count(vec![rows.and_then(|r| count(r.run.seed)); many]);
    let columns = [
        ("seed", seed),
        ("entity", text(&|run, i| Some(if i < run.flows.len() { "flow" } else { "queue" }))),
        ("name", text(&member)),
        ("time_s", number(&time)),
        ("goodput_bps", number(&|r| r.rate(|f| &f.delivered_bytes))),
        ("throughput_bps", number(&|r| r.rate(|f| &f.received_bytes))),
        ("delivered_bytes", bytes(|f| &f.delivered_bytes)),
        ("received_bytes", bytes(|f| &f.received_bytes)),
        ("snd_cwnd", state(|f| &f.snd_cwnd)),
        ("snd_ssthresh", state(|f| &f.snd_ssthresh)),
        ("srtt_us", state(|f| &f.srtt_us)),
        ("rttvar_us", state(|f| &f.rttvar_us)),
        ("retrans", bytes(|f| &f.retrans)),
        ("snd_una_bytes", bytes(|f| &f.snd_una_bytes)),
        ("queue_packets", queue(|q| &q.packets)),
        ("queue_offered", queue(|q| &q.offered)),
        ("queue_marked", queue(|q| &q.marked)),
        ("queue_dropped", queue(|q| &q.dropped)),
    ];
    all.extend(columns.into_iter().map(|(name, values)| Column { name: name.into(), values }));
    let estimates = watched.iter().map(|name| (format!("estimate_{name}_bps"), number(&|r| r.estimate(name))));
    all.extend(estimates.map(|(name, values)| Column { name, values }));
    all
}

/// Writes one file: `layout` gives names and types, each of `groups` a row group.
fn write(
    o: &Outcome,
    ctx: &ReportContext,
    schema: &str,
    path: &Path,
    layout: &[Column],
    groups: impl Iterator<Item = Vec<Column>>,
) -> Result<(), Error> {
    whole(path, |w| {
        let failed = |source| Error::Parquet { path: path.to_path_buf(), source };
        let metadata = [
            ("contend.schema", schema),
            ("contend.version", o.version),
            ("contend.experiment_hash", &ctx.experiment_hash),
            ("contend.title", &o.title),
            ("contend.file", &o.file),
            ("contend.command", &ctx.command),
        ];
        let metadata = metadata.map(|(k, v)| KeyValue::new(k.to_owned(), v.to_owned())).to_vec();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("contend {}", o.version));
        let properties = Arc::new(properties.set_key_value_metadata(Some(metadata)).build());
        let mut file = SerializedFileWriter::new(w, message(layout).map_err(failed)?, properties).map_err(failed)?;
        for columns in groups {
            write_group(&mut file, &columns).map_err(failed)?;
        }
        file.close().map(drop).map_err(failed)
    })
}

fn message(layout: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let field = |c: &Column| {
        let (physical, converted) = c.values.physical();
        Type::primitive_type_builder(&c.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted)
            .build()
            .map(Arc::new)
    };
    let fields = layout.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("contend").with_fields(fields).build()?))
}

fn write_group<W: Write + Send>(file: &mut SerializedFileWriter<W>, columns: &[Column]) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for column in columns {
        match &column.values {
            Values::Number(v) => write_column::<DoubleType, _>(&mut group, v.iter().copied())?,
            Values::Count(v) => write_column::<Int64Type, _>(&mut group, v.iter().copied())?,
            Values::Text(v) => {
                write_column::<ByteArrayType, _>(&mut group, v.iter().map(|t| t.as_deref().map(ByteArray::from)))?
            }
        }
    }
    group.close().map(drop)
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) -> Result<(), ParquetError> {
    // Definition level 1: there is a value; 0: a null.
    let levels: Vec<i16> = values.clone().map(|v| i16::from(v.is_some())).collect();
    let present: Vec<T::T> = values.flatten().collect();
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".into()));
    };
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}
