//! Parquet files: `flows.parquet` (one row a run and flow) and `series.parquet` (one row a run, flow or queue, and
//! instant).
//!
//! Units are in the column names, TCP columns carry the names of Linux' `tcp_info`, so that simulated, emulated and
//! kernel traces can be joined. Key-values of the file: `contend.schema`, `contend.version`, `contend.experiment_hash`,
//! `contend.title`, `contend.file`, `contend.command`. One row group a run, Snappy, and the library's own column
//! writers: the Arrow crates would double the build.

use super::shape::{points, swept_keys, value_text};
use super::{Error, ReportContext, whole};
use crate::results::{Flow, Outcome, Percentiles, PointKey, Run};
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
    let groups = o.runs.iter().filter(|r| !r.series.time_s.is_empty());
    let watched = watched(o);
    write(
        o,
        ctx,
        SERIES_SCHEMA,
        path,
        &series_columns(&head, None, &watched),
        groups.map(|run| series_columns(&head, Some(run), &watched)),
    )
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
struct PointColumns(Vec<(String, Kind)>);

#[derive(Clone, Copy)]
enum Kind {
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
                Kind::Count
            } else if values().all(Value::is_number) {
                Kind::Number
            } else {
                Kind::Text
            }
        };
        PointColumns(swept_keys(&points).into_iter().map(|key| (key.clone(), kind(&key))).collect())
    }
    /// The same point `rows` times over.
    fn columns(&self, point: Option<&PointKey>, rows: usize) -> Vec<Column> {
        let column = |(key, kind): &(String, Kind)| {
            let value = point.and_then(|p| p.get(key));
            let values = match kind {
                Kind::Number => Values::Number(vec![value.and_then(Value::as_f64); rows]),
                Kind::Count => Values::Count(vec![value.and_then(Value::as_i64); rows]),
                Kind::Text => Values::Text(vec![value.map(value_text); rows]),
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

/// Names of all estimates in all runs, each once.
fn watched(o: &Outcome) -> Vec<&str> {
    let all: BTreeSet<&str> = o.runs.iter().flat_map(|r| &r.series.estimates).map(|e| e.name.as_str()).collect();
    all.into_iter().collect()
}

/// One estimate of all flows of a run, then nothing for each queue.
fn estimate_column(name: &str, run: Option<&Run>) -> Column {
    let mut rates = Vec::new();
    if let Some(run) = run {
        let many = run.series.time_s.len();
        for i in 0..run.flows.len() {
            let of_flow = run.series.estimates.iter().find(|e| e.flow == i && e.name == name);
            rates.extend((0..many).map(|k| of_flow.and_then(|e| e.rate_bps.get(k)).map(|r| *r as f64)));
        }
        rates.resize(rates.len() + many * run.queues.len(), None);
    }
    Column { name: format!("estimate_{name}_bps"), values: Values::Number(rates) }
}

fn series_columns(head: &PointColumns, run: Option<&Run>, watched: &[&str]) -> Vec<Column> {
    let mut entity = Vec::new();
    let mut name = Vec::new();
    let mut time = Vec::new();
    let mut rates: [Vec<Option<f64>>; 2] = Default::default();
    let mut counts: [Vec<Option<i64>>; 12] = Default::default();
    if let Some(run) = run {
        for (flow, samples) in run.flows.iter().zip(&run.series.flows) {
            let mut before: Option<(f64, u64, u64)> = None;
            for (t, s) in run.series.time_s.iter().zip(samples) {
                entity.push(Some("flow".to_owned()));
                name.push(Some(flow.name.clone()));
                time.push(Some(*t));
                let (t0, delivered0, received0) = before.unwrap_or((*t, 0, 0));
                let rate = |now: u64, then: u64| (*t > t0).then(|| now.saturating_sub(then) as f64 * 8.0 / (t - t0));
                rates[0].push(rate(s.delivered_bytes, delivered0));
                rates[1].push(rate(s.received_bytes, received0));
                before = Some((*t, s.delivered_bytes, s.received_bytes));
                let values = [
                    count(s.delivered_bytes),
                    count(s.received_bytes),
                    Some(i64::from(s.snd_cwnd)),
                    Some(i64::from(s.snd_ssthresh)),
                    Some(i64::from(s.srtt_us)),
                    Some(i64::from(s.rttvar_us)),
                    count(s.retrans),
                    count(s.snd_una_bytes),
                    None,
                    None,
                    None,
                    None,
                ];
                counts.iter_mut().zip(values).for_each(|(column, v)| column.push(v));
            }
        }
        for (queue, samples) in run.queues.iter().zip(&run.series.queues) {
            for (t, n) in run.series.time_s.iter().zip(samples) {
                entity.push(Some("queue".to_owned()));
                name.push(Some(queue.name.clone()));
                time.push(Some(*t));
                rates.iter_mut().for_each(|column| column.push(None));
                counts[..8].iter_mut().for_each(|column| column.push(None));
                let values = [n.packets, n.enqueued, n.marked, n.dropped];
                counts[8..].iter_mut().zip(values).for_each(|(column, v)| column.push(count(v)));
            }
        }
    }
    let rows = time.len();
    let mut all = head.columns(run.map(|r| &r.point), rows);
    all.push(Column { name: "seed".into(), values: Values::Count(vec![run.and_then(|r| count(r.seed)); rows]) });
    all.push(Column { name: "entity".into(), values: Values::Text(entity) });
    all.push(Column { name: "name".into(), values: Values::Text(name) });
    all.push(Column { name: "time_s".into(), values: Values::Number(time) });
    let names = ["goodput_bps", "throughput_bps"];
    all.extend(
        names.into_iter().zip(rates).map(|(name, values)| Column { name: name.into(), values: Values::Number(values) }),
    );
    let names = [
        "delivered_bytes",
        "received_bytes",
        "snd_cwnd",
        "snd_ssthresh",
        "srtt_us",
        "rttvar_us",
        "retrans",
        "snd_una_bytes",
        "queue_packets",
        "queue_enqueued",
        "queue_marked",
        "queue_dropped",
    ];
    all.extend(
        names.into_iter().zip(counts).map(|(name, values)| Column { name: name.into(), values: Values::Count(values) }),
    );
    all.extend(watched.iter().map(|name| estimate_column(name, run)));
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
