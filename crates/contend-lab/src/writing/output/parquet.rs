//! Parquet files: `flows.parquet` (one row for each run and flow) and `series.parquet` (one row for each run, each flow
//! or queue, and each instant).
//!
//! Column names contain the unit. TCP columns have the names of Linux' `tcp_info`, so that simulated, emulated and
//! kernel traces can be joined. The file's key-value metadata are `contend.schema`, `contend.version`,
//! `contend.experiment_hash`, `contend.title`, `contend.file`, `contend.command`. A row group holds 65,536 rows, so
//! that writing needs little memory; the library keeps about 10 kB for each row group until the file ends. Compression
//! is Snappy. We use the library's own column writers: the Arrow crates would double the build time.

use super::shape::{points, swept_keys, value_text};
use super::{Error, ReportContext, whole};
use crate::experiment::results::{Flow, FlowSeries, Outcome, Percentiles, QueueSeries, Run};
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

/// Schema of `flows.parquet`, as stored in its metadata.
pub const FLOWS_SCHEMA: &str = "contend/flows/1";
/// Schema of `series.parquet`, as stored in its metadata.
pub const SERIES_SCHEMA: &str = "contend/series/1";

/// Writes `flows.parquet`: one row for each run and flow.
pub fn write_flows(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    let groups = groups(&o.runs, |r| r.flows.len());
    write(o, ctx, FLOWS_SCHEMA, path, &flow_columns(&PointColumns::of(o)), &groups)
}

/// Writes `series.parquet`: one row for each run, flow and instant, and one for each run, queue and instant. The column
/// `entity` is `flow` or `queue`.
pub fn write_series(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    let groups = groups(&o.runs, |r| r.series.time_s.len() * (r.series.flows.len() + r.series.queues.len()));
    write(o, ctx, SERIES_SCHEMA, path, &series_columns(&PointColumns::of(o), &watched(o)), &groups)
}

/// One column: its name, and how to read its values in a row group. Only one column of a row group is in memory at a
/// time.
struct Column<'a> {
    name: String,
    read: Box<Reader<'a>>,
}

/// Reads the values of a column in the rows of a row group.
type Reader<'a> = dyn Fn(&[Rows<'_>]) -> Values + 'a;

impl<'a> Column<'a> {
    fn numbers(name: impl Into<String>, of: impl Fn(&Rows<'_>) -> Vec<Option<f64>> + 'a) -> Column<'a> {
        Column { name: name.into(), read: Box::new(move |group| Values::Number(group.iter().flat_map(&of).collect())) }
    }
    fn counts(name: impl Into<String>, of: impl Fn(&Rows<'_>) -> Vec<Option<i64>> + 'a) -> Column<'a> {
        Column { name: name.into(), read: Box::new(move |group| Values::Count(group.iter().flat_map(&of).collect())) }
    }
    fn texts(name: impl Into<String>, of: impl Fn(&Rows<'_>) -> Vec<Option<String>> + 'a) -> Column<'a> {
        Column { name: name.into(), read: Box::new(move |group| Values::Text(group.iter().flat_map(&of).collect())) }
    }
}

/// Values of a column; `None` is null.
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

/// A counter as Parquet's signed integer; null if it does not fit.
fn count(n: u64) -> Option<i64> {
    i64::try_from(n).ok()
}

/// The columns that identify the sweep point: one for each swept key, with a type that fits all its values.
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
    fn columns(&self) -> Vec<Column<'_>> {
        let column = |(key, kind): &'_ (String, ColumnKind)| {
            let (name, key) = (key.clone(), key.clone());
            match kind {
                ColumnKind::Number => {
                    Column::numbers(name, move |r| r.same(r.run.point.get(&key).and_then(Value::as_f64)))
                }
                ColumnKind::Count => {
                    Column::counts(name, move |r| r.same(r.run.point.get(&key).and_then(Value::as_i64)))
                }
                ColumnKind::Text => Column::texts(name, move |r| r.same(r.run.point.get(&key).map(value_text))),
            }
        };
        self.0.iter().map(column).collect()
    }
}

fn flow_columns(head: &PointColumns) -> Vec<Column<'_>> {
    let mut all = head.columns();
    all.extend([
        Column::counts("seed", |r| r.same(count(r.run.seed))),
        Column::texts("digest", |r| r.same(Some(r.run.digest.clone()))),
        Column::texts("flow", |r| r.flows(|f| Some(f.name.clone()))),
        Column::texts("direction", |r| r.flows(|f| Some(f.direction.to_owned()))),
        Column::texts("tcp", |r| r.flows(|f| Some(f.tcp.clone()))),
        Column::numbers("goodput_bps", |r| r.flows(|f| Some(f.goodput_bps))),
        Column::numbers("throughput_bps", |r| r.flows(|f| Some(f.throughput_bps))),
        Column::counts("segs_out", |r| r.flows(|f| count(f.sent))),
        Column::counts("total_retrans", |r| r.flows(|f| count(f.retransmitted))),
        Column::counts("timeouts", |r| r.flows(|f| count(f.timeouts))),
    ]);
    type Quantile = (&'static str, fn(&Percentiles) -> Option<f64>);
    let quantiles: [Quantile; 4] = [("mean", |p| p.mean), ("p50", |p| p.p50), ("p95", |p| p.p95), ("p99", |p| p.p99)];
    let us = |ms: Option<f64>| ms.map(|ms| ms * 1e3);
    for (q, of) in quantiles {
        all.push(Column::numbers(format!("rtt_{q}_us"), move |r| r.flows(|f| us(of(&f.rtt_ms)))));
    }
    for (q, of) in quantiles {
        all.push(Column::numbers(format!("delay_{q}_us"), move |r| r.flows(|f| us(of(&f.delay_ms)))));
    }
    all.push(Column::numbers("completed_s", |r| r.flows(|f| f.completed_s)));
    all.push(Column::counts("completions", |r| r.flows(|f| count(f.completions_s.len() as u64))));
    all
}

/// Maximum number of rows in a row group; it bounds the memory that writing needs.
const ROWS: usize = 1 << 16;

/// A range of a run's rows. In a series, the rows are all instants of each flow, then of each queue.
struct Rows<'a> {
    run: &'a Run,
    range: Range<usize>,
}

/// All rows of `runs` in groups of [`ROWS`]; `rows` returns the number of rows of a run.
fn groups(runs: &[Run], rows: fn(&Run) -> usize) -> Vec<Vec<Rows<'_>>> {
    let (mut all, mut group, mut room) = (Vec::new(), Vec::new(), ROWS);
    for run in runs {
        let (mut from, end) = (0, rows(run));
        while from < end {
            let range = from..end.min(from + room);
            (from, room) = (range.end, room - range.len());
            group.push(Rows { run, range });
            if room == 0 {
                all.push(std::mem::take(&mut group));
                room = ROWS;
            }
        }
    }
    all.push(group);
    all.retain(|group| !group.is_empty());
    all
}

impl Rows<'_> {
    /// `value` for each row.
    fn same<T: Clone>(&self, value: T) -> Vec<T> {
        vec![value; self.range.len()]
    }

    /// Applies `of` to each flow; for tables in which each row is a flow.
    fn flows<T>(&self, of: impl Fn(&Flow) -> T) -> Vec<T> {
        self.run.flows.iter().skip(self.range.start).take(self.range.len()).map(of).collect()
    }

    /// For each row: the index of its flow or queue (queues are numbered after the flows), and its instant.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let many = self.run.series.time_s.len().max(1);
        self.range.clone().map(move |row| (row / many, row % many))
    }

    /// A number of each flow at each instant; null for queues.
    fn of_flows<T>(&self, of: impl Fn(&FlowSeries, usize) -> Option<T>) -> Vec<Option<T>> {
        self.places().map(|(i, k)| self.run.series.flows.get(i).and_then(|f| of(f, k))).collect()
    }

    /// A number of each queue at each instant; null for flows.
    fn of_queues(&self, of: fn(&QueueSeries) -> &Vec<u64>) -> Vec<Option<i64>> {
        let queue = |i: usize| self.run.series.queues.get(i.checked_sub(self.run.series.flows.len())?);
        self.places().map(|(i, k)| of(queue(i)?).get(k).copied().and_then(count)).collect()
    }

    /// Bits per second of each flow since the previous instant, from a counter of bytes.
    fn rate(&self, of: fn(&FlowSeries) -> &Vec<u64>) -> Vec<Option<f64>> {
        let time = &self.run.series.time_s;
        self.of_flows(|f, k| {
            let before = k.checked_sub(1)?;
            let (t, t0, now, then) = (time.get(k)?, time.get(before)?, of(f).get(k)?, of(f).get(before)?);
            (t > t0).then(|| now.saturating_sub(*then) as f64 * 8.0 / (t - t0))
        })
    }

    /// The rate that an estimator reports for each flow.
    fn estimate(&self, name: &str) -> Vec<Option<f64>> {
        let of = |(i, k): (usize, usize)| {
            let of_flow = self.run.series.estimates.iter().find(|e| e.flow == i && e.name == name)?;
            of_flow.rate_bps.get(k).map(|r| *r as f64)
        };
        self.places().map(of).collect()
    }
}

/// The names of all estimates in all runs, without duplicates.
fn watched(o: &Outcome) -> Vec<&str> {
    let all: BTreeSet<&str> = o.runs.iter().flat_map(|r| &r.series.estimates).map(|e| e.name.as_str()).collect();
    all.into_iter().collect()
}

/// The name of flow `i`; indices after the last flow are queues.
fn member(run: &Run, i: usize) -> Option<&str> {
    let queue = || run.queues.get(i.checked_sub(run.flows.len())?).map(|q| q.name.as_str());
    run.flows.get(i).map(|f| f.name.as_str()).or_else(queue)
}

fn series_columns<'a>(head: &'a PointColumns, watched: &'a [&str]) -> Vec<Column<'a>> {
    type Texts = fn(&Run, usize) -> Option<&str>;
    let text = |name, of: Texts| {
        Column::texts(name, move |r| r.places().map(|(i, _)| of(r.run, i).map(str::to_owned)).collect())
    };
    let bytes = |name, of: fn(&FlowSeries) -> &Vec<u64>| {
        Column::counts(name, move |r| r.of_flows(|f, k| of(f).get(k).copied().and_then(count)))
    };
    let state = |name, of: fn(&FlowSeries) -> &Vec<u32>| {
        Column::counts(name, move |r| r.of_flows(|f, k| of(f).get(k).copied().map(i64::from)))
    };
    let queue = |name, of: fn(&QueueSeries) -> &Vec<u64>| Column::counts(name, move |r| r.of_queues(of));

    let mut all = head.columns();
    all.extend([
        Column::counts("seed", |r| r.same(count(r.run.seed))),
        text("entity", |run, i| Some(if i < run.flows.len() { "flow" } else { "queue" })),
        text("name", member),
        Column::numbers("time_s", |r| r.places().map(|(_, k)| r.run.series.time_s.get(k).copied()).collect()),
        Column::numbers("goodput_bps", |r| r.rate(|f| &f.delivered_bytes)),
        Column::numbers("throughput_bps", |r| r.rate(|f| &f.received_bytes)),
        bytes("delivered_bytes", |f| &f.delivered_bytes),
        bytes("received_bytes", |f| &f.received_bytes),
        state("snd_cwnd", |f| &f.snd_cwnd),
        state("snd_ssthresh", |f| &f.snd_ssthresh),
        state("srtt_us", |f| &f.srtt_us),
        state("rttvar_us", |f| &f.rttvar_us),
        bytes("retrans", |f| &f.retrans),
        bytes("snd_una_bytes", |f| &f.snd_una_bytes),
        queue("queue_packets", |q| &q.packets),
        queue("queue_offered", |q| &q.offered),
        queue("queue_marked", |q| &q.marked),
        queue("queue_dropped", |q| &q.dropped),
    ]);
    all.extend(watched.iter().map(|name| Column::numbers(format!("estimate_{name}_bps"), |r| r.estimate(name))));
    all
}

/// Writes one file with these columns; each element of `groups` is a row group.
fn write(
    o: &Outcome,
    ctx: &ReportContext,
    schema: &str,
    path: &Path,
    columns: &[Column<'_>],
    groups: &[Vec<Rows<'_>>],
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
        let mut file = SerializedFileWriter::new(w, message(columns).map_err(failed)?, properties).map_err(failed)?;
        for group in groups {
            write_group(&mut file, columns, group).map_err(failed)?;
        }
        file.close().map(drop).map_err(failed)
    })
}

fn message(columns: &[Column<'_>]) -> Result<Arc<Type>, ParquetError> {
    let field = |c: &Column| {
        let (physical, converted) = (c.read)(&[]).physical();
        Type::primitive_type_builder(&c.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted)
            .build()
            .map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("contend").with_fields(fields).build()?))
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    columns: &[Column<'_>],
    group: &[Rows<'_>],
) -> Result<(), ParquetError> {
    let mut to = file.next_row_group()?;
    for column in columns {
        match &(column.read)(group) {
            Values::Number(v) => write_column::<DoubleType, _>(&mut to, v.iter().copied())?,
            Values::Count(v) => write_column::<Int64Type, _>(&mut to, v.iter().copied())?,
            Values::Text(v) => {
                write_column::<ByteArrayType, _>(&mut to, v.iter().map(|t| t.as_deref().map(ByteArray::from)))?
            }
        }
    }
    to.close().map(drop)
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) -> Result<(), ParquetError> {
    // Definition level 1: a value is present; 0: null.
    let levels: Vec<i16> = values.clone().map(|v| i16::from(v.is_some())).collect();
    let present: Vec<T::T> = values.flatten().collect();
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".into()));
    };
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}
