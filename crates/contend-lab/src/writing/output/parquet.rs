//! Parquet files: `flows.parquet` (one row for each run and flow) and `series.parquet` (one row for each run, each flow
//! or queue, and each instant).
//!
//! Columns have the names and base units of `field.rs`. A swept key has a column of its own: numbers if all its values
//! are numbers or quantities of one kind (in base units), otherwise labels. The file's key-value metadata are
//! `contend.schema`, `contend.version`, `contend.title`, `contend.file`, `contend.command`,
//! and `contend.units` (a JSON object: column, unit). A row group holds 65,536 rows, so that writing needs little
//! memory; the library keeps about 10 kB for each row group until the file ends. Compression is Snappy. We use the
//! library's own column writers: the Arrow crates would double the build time.

use super::field::{ESTIMATE, FLOW, FLOW_AT, Field, Instant, QUEUE_AT, RUN, Read, unit};
use super::shape::{points, swept_keys, value_text};
use super::{Error, ReportContext, whole};
use crate::experiment::results::{
    Columns, Flow, ObservedStation, ObserverSeries, Outcome, QueueSample, Run, SweptValue,
};
use crate::reading::expression::{Dimension, Quantity};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Schema of `flows.parquet`, as stored in its metadata.
pub const FLOWS_SCHEMA: &str = "contend/flows/2";
/// Schema of `series.parquet`, as stored in its metadata.
pub const SERIES_SCHEMA: &str = "contend/series/2";

/// Writes `flows.parquet`: one row for each run and flow.
pub fn write_flows(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    let groups = groups(&o.runs, |r| r.flows.len());
    write(o, ctx, FLOWS_SCHEMA, path, &flow_columns(&PointColumns::of(o)), &groups)
}

/// Writes `series.parquet`: one row for each run, flow and instant, and one for each run, queue and instant. The column
/// `scope` is `flow` or `queue`.
pub fn write_series(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    let groups = groups(&o.runs, |r| r.series.time_s.len() * (r.series.flows.len() + r.series.queues.len()));
    write(o, ctx, SERIES_SCHEMA, path, &series_columns(&PointColumns::of(o), &watched(o), &observers(o)), &groups)
}

/// One column: its name, its unit, and how to read its values in a row group. Only one column of a row group is in
/// memory at a time.
struct Column<'a> {
    name: String,
    unit: Option<Dimension>,
    read: Box<Reader<'a>>,
}

/// Reads the values of a column in the rows of a row group.
type Reader<'a> = dyn Fn(&[Rows<'_>]) -> Values + 'a;

/// Passes the object of each row on; `None` where a row has none.
type Each<T> = fn(&Rows<'_>, &mut dyn FnMut(Option<&T>));

impl<'a> Column<'a> {
    fn new(name: impl Into<String>, unit: Option<Dimension>, read: impl Fn(&[Rows<'_>]) -> Values + 'a) -> Column<'a> {
        Column { name: name.into(), unit, read: Box::new(read) }
    }

    fn texts(name: impl Into<String>, of: impl Fn(&Rows<'_>) -> Vec<Option<String>> + 'a) -> Column<'a> {
        Column::new(name, None, move |group| Values::Text(group.iter().flat_map(&of).collect()))
    }

    fn numbers(
        name: impl Into<String>,
        unit: Option<Dimension>,
        of: impl Fn(&Rows<'_>) -> Vec<Option<f64>> + 'a,
    ) -> Column<'a> {
        Column::new(name, unit, move |group| Values::Number(group.iter().flat_map(&of).collect()))
    }

    /// The column of an entry; `None` if the entry is a list.
    fn of<T: 'static>(field: &'static Field<T>, each: Each<T>) -> Option<Column<'a>> {
        fn all<T, V>(group: &[Rows<'_>], each: Each<T>, read: impl Fn(&T) -> Option<V>) -> Vec<Option<V>> {
            let mut values = Vec::with_capacity(group.iter().map(|r| r.range.len()).sum());
            group.iter().for_each(|r| each(r, &mut |t| values.push(t.and_then(&read))));
            values
        }
        let column = |read: Box<Reader<'a>>| Some(Column { name: field.name.into(), unit: field.unit, read });
        match field.read {
            Read::Number(read) => column(Box::new(move |g| Values::Number(all(g, each, read)))),
            Read::Count(read) => column(Box::new(move |g| Values::Count(all(g, each, |t| read(t).and_then(count))))),
            Read::Text(read) => column(Box::new(move |g| Values::Text(all(g, each, |t| Some(read(t).to_owned()))))),
            Read::Flag(read) => column(Box::new(move |g| Values::Flag(all(g, each, |t| Some(read(t)))))),
            Read::List(_) | Read::Each(_) | Read::Counts(_) => None,
        }
    }
}

/// Values of a column; `None` is null.
enum Values {
    Number(Vec<Option<f64>>),
    Count(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Flag(Vec<Option<bool>>),
}

impl Values {
    fn physical(&self) -> (Physical, ConvertedType) {
        match self {
            Values::Number(_) => (Physical::DOUBLE, ConvertedType::NONE),
            Values::Count(_) => (Physical::INT64, ConvertedType::NONE),
            Values::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Values::Flag(_) => (Physical::BOOLEAN, ConvertedType::NONE),
        }
    }
}

/// A counter as Parquet's signed integer; null if it does not fit.
fn count(n: u64) -> Option<i64> {
    i64::try_from(n).ok()
}

/// The columns that identify the sweep point: one for each swept key, with a type that fits all its values.
struct PointColumns(Vec<(String, Kind)>);

#[derive(Clone, Copy)]
enum Kind {
    /// Whole numbers.
    Count,
    /// Numbers, or quantities of this dimension.
    Number(Option<Dimension>),
    /// True or false.
    Flag,
    /// Words, or the labels of tables.
    Text,
}

impl PointColumns {
    fn of(o: &Outcome) -> PointColumns {
        let points = points(o);
        let kind = |key: &str| {
            let values = || points.iter().filter_map(|p| p.get(key));
            let dimension = values().next().and_then(|v| quantity(v)).map(|q| q.unit);
            if values().any(|v| v.label().is_some()) {
                Kind::Text
            } else if values().all(|v| v.is_i64()) {
                Kind::Count
            } else if values().all(|v| v.is_number()) {
                Kind::Number(None)
            } else if dimension.is_some() && values().all(|v| quantity(v).map(|q| q.unit) == dimension) {
                Kind::Number(dimension)
            } else if values().all(|v| v.is_boolean()) {
                Kind::Flag
            } else {
                Kind::Text
            }
        };
        PointColumns(swept_keys(&points).into_iter().map(|key| (key.clone(), kind(&key))).collect())
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let column = |(key, kind): &'_ (String, Kind)| {
            let (name, key) = (key.clone(), key.clone());
            let value = move |r: &Rows<'_>| -> Option<SweptValue> { r.run.point.get(&key).cloned() };
            match *kind {
                Kind::Number(unit) => {
                    Column::numbers(name, unit, move |r| r.same(value(r).as_deref().and_then(number)))
                }
                Kind::Count => Column::new(name, None, move |group| {
                    Values::Count(group.iter().flat_map(|r| r.same(value(r).and_then(|v| v.as_i64()))).collect())
                }),
                Kind::Flag => Column::new(name, None, move |group| {
                    Values::Flag(group.iter().flat_map(|r| r.same(value(r).and_then(|v| v.as_bool()))).collect())
                }),
                Kind::Text => Column::texts(name, move |r| r.same(value(r).as_ref().map(value_text))),
            }
        };
        self.0.iter().map(column).collect()
    }
}

/// A swept value with a unit.
fn quantity(v: &Value) -> Option<Quantity> {
    Quantity::parse(v.as_str()?).ok()
}

/// A swept number, or a quantity in base units.
fn number(v: &Value) -> Option<f64> {
    v.as_f64().or_else(|| Some(quantity(v)?.value))
}

fn flow_columns(head: &PointColumns) -> Vec<Column<'_>> {
    let of_run = RUN
        .iter()
        .filter(|f| ["seed", "digest"].contains(&f.name))
        .filter_map(|f| Column::of(f, |r, each| r.runs(each)));
    let of_flow = FLOW.iter().filter_map(|f| Column::of(f, |r, each| r.flows(each)));
    head.columns().into_iter().chain(of_run).chain(of_flow).collect()
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

    fn runs(&self, each: &mut dyn FnMut(Option<&Run>)) {
        self.range.clone().for_each(|_| each(Some(self.run)));
    }

    /// For tables in which each row is a flow.
    fn flows(&self, each: &mut dyn FnMut(Option<&Flow>)) {
        self.range.clone().for_each(|i| each(self.run.flows.get(i)));
    }

    /// For each row: the index of its flow or queue (queues are numbered after the flows), and its instant.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let many = self.run.series.time_s.len().max(1);
        self.range.clone().map(move |row| (row / many, row % many))
    }

    /// Each flow at each instant; nothing for queues.
    fn flows_at(&self, each: &mut dyn FnMut(Option<&Instant>)) {
        let time = &self.run.series.time_s;
        self.places().for_each(|(i, k)| {
            let at = |k: usize| self.run.series.flows.get(i).and_then(|f| f.get(k)).zip(time.get(k));
            let instant = at(k).map(|(now, t)| {
                let before = k.checked_sub(1).and_then(at).map(|(sample, earlier)| (sample, t - earlier));
                Instant { now, before }
            });
            each(instant.as_ref());
        });
    }

    /// Each queue at each instant; nothing for flows.
    fn queues_at(&self, each: &mut dyn FnMut(Option<&QueueSample>)) {
        let queue = |i: usize| self.run.series.queues.get(i.checked_sub(self.run.series.flows.len())?);
        self.places().for_each(|(i, k)| each(queue(i).and_then(|q| q.get(k)).as_ref()));
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

/// A number of the observers of a station, in bits per second.
type Observed = fn(&ObserverSeries) -> &Vec<Option<u64>>;

/// A counter of a station with observers, and the factor that brings it to the unit of its column.
type Counted = fn(&ObservedStation) -> (&Vec<u64>, f64);

impl Rows<'_> {
    /// What the station of each row, the owner of its queue, has at an instant.
    fn observed(&self, of: &dyn Fn(&ObservedStation, usize) -> Option<f64>) -> Vec<Option<f64>> {
        let station = |i: usize| i.checked_sub(self.run.series.flows.len());
        let at = |(i, k): (usize, usize)| {
            let station = station(i)?;
            of(self.run.series.observed.iter().find(|s| s.station == station)?, k)
        };
        self.places().map(at).collect()
    }
}

/// The names of all observers in all runs, without duplicates.
fn observers(o: &Outcome) -> Vec<&str> {
    let stations = o.runs.iter().flat_map(|r| &r.series.observed);
    let all: BTreeSet<&str> = stations.flat_map(|s| &s.observers).map(|o| o.name.as_str()).collect();
    all.into_iter().collect()
}

/// The columns of the observers: what each reports, and what really happened at their stations.
fn observed_columns<'a>(observers: &'a [&str]) -> Vec<Column<'a>> {
    const REPORTED: [(&str, Observed); 2] =
        [("observed.capacity", |o| &o.capacity_bps), ("observed.available", |o| &o.available_bps)];
    const HAPPENED: [(&str, Dimension, Counted); 3] = [
        ("link.acked", Dimension::Bytes, |s| (&s.acked_bytes, 1.0)),
        ("link.contended", Dimension::Time, |s| (&s.contended_ns, 1e-9)),
        ("link.idle", Dimension::Time, |s| (&s.idle_ns, 1e-9)),
    ];
    let reported = |&name: &&'a str| {
        REPORTED.map(|(what, of)| {
            Column::numbers(format!("{what}.{name}"), Some(Dimension::Rate), move |r| {
                r.observed(&|s, k| {
                    let o = s.observers.iter().find(|o| o.name == name)?;
                    Some(of(o).get(k).copied().flatten()? as f64)
                })
            })
        })
    };
    let happened = |(name, unit, of): (&'static str, Dimension, Counted)| {
        Column::numbers(name, Some(unit), move |r| {
            r.observed(&|s, k| {
                let (samples, scale) = of(s);
                Some(*samples.get(k)? as f64 * scale)
            })
        })
    };
    let mut all: Vec<Column<'a>> = observers.iter().flat_map(reported).collect();
    if !observers.is_empty() {
        all.extend(HAPPENED.map(happened));
    }
    all
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

fn series_columns<'a>(head: &'a PointColumns, watched: &'a [&str], observers: &'a [&str]) -> Vec<Column<'a>> {
    type Texts = fn(&Run, usize) -> Option<&str>;
    let text = |name, of: Texts| {
        Column::texts(name, move |r| r.places().map(|(i, _)| of(r.run, i).map(str::to_owned)).collect())
    };
    let time = |r: &Rows<'_>| r.places().map(|(_, k)| r.run.series.time_s.get(k).copied()).collect();
    let estimate =
        |name: &'a &str| Column::numbers(format!("{ESTIMATE}.{name}"), Some(Dimension::Rate), |r| r.estimate(name));
    let mut all = head.columns();
    all.extend(RUN.iter().filter(|f| f.name == "seed").filter_map(|f| Column::of(f, |r, each| r.runs(each))));
    all.push(text("scope", |run, i| Some(if i < run.flows.len() { "flow" } else { "queue" })));
    all.push(text("name", member));
    all.push(Column::numbers("time", Some(Dimension::Time), time));
    all.extend(FLOW_AT.iter().filter_map(|f| Column::of(f, |r, each| r.flows_at(each))));
    all.extend(QUEUE_AT.iter().filter_map(|f| Column::of(f, |r, each| r.queues_at(each))));
    all.extend(watched.iter().map(estimate));
    all.extend(observed_columns(observers));
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
        let units: BTreeMap<&str, &str> =
            columns.iter().filter_map(|c| Some((c.name.as_str(), unit(c.unit?)))).collect();
        // Cannot fail: all keys are strings.
        let units = serde_json::to_string(&units).unwrap_or_default();
        let metadata = [
            ("contend.schema", schema),
            ("contend.units", &units),
            ("contend.version", o.version),
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
            Values::Flag(v) => write_column::<BoolType, _>(&mut to, v.iter().copied())?,
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
