//! The tables of an outcome: typed columns that are read in groups of rows, for Parquet files and for Arrow.
//!
//! Columns have the names and base units of `field.rs`. A swept key has a column of its own: numbers if all its values
//! are numbers or quantities of one kind (in base units), otherwise labels. A group holds 65,536 rows at most, and one
//! column of a group is in memory at a time.

use super::field::{
    AIR, DATA_AT, DataInstant, ESTIMATE, FLOW, FLOW_AT, Field, Instant, QUEUE, QUEUE_AT, RUN, Read, unit,
};
use super::shape::{points, swept_keys, value_text};
use contend_experiment::reading::expression::{Dimension, Quantity};
use contend_experiment::results::{
    Air, Columns, Kept, ObservedStation, ObserverSeries, Outcome, PointKey, QueueSample, Run, Summary, SweptValue, Word,
};
use contend_judge::judging::compare::Difference;
use contend_judge::measuring::metric::Expr;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A table of an outcome.
pub struct Table<'a> {
    schema: &'static str,
    headings: Vec<Heading>,
    groups: usize,
    read: Box<dyn Fn(usize, usize) -> Values + 'a>,
}

/// The heading of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The name, as in all outputs.
    pub name: String,
    /// The unit, `1` for counts and shares; `None` for texts.
    pub unit: Option<&'static str>,
    /// What the values are.
    pub kind: Kind,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Whole numbers.
    Count,
    /// Words, or the labels of tables.
    Text,
    /// True or false.
    Flag,
}

/// Values of a column; `None` is null.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Whole numbers.
    Count(Vec<Option<i64>>),
    /// Texts.
    Text(Vec<Option<String>>),
    /// True or false.
    Flag(Vec<Option<bool>>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Number(v) => v.len(),
            Values::Count(v) => v.len(),
            Values::Text(v) => v.len(),
            Values::Flag(v) => v.len(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Values::Number(_) => Kind::Number,
            Values::Count(_) => Kind::Count,
            Values::Text(_) => Kind::Text,
            Values::Flag(_) => Kind::Flag,
        }
    }
}

impl<'a> Table<'a> {
    fn new<B: 'a>(schema: &'static str, columns: Vec<Column<'a, B>>, groups: Vec<Vec<B>>) -> Table<'a> {
        let heading =
            |c: &Column<'a, B>| Heading { name: c.name.clone(), unit: c.unit.map(unit), kind: (c.read)(&[]).kind() };
        Table {
            schema,
            headings: columns.iter().map(heading).collect(),
            groups: groups.len(),
            read: Box::new(move |group, column| (columns[column].read)(&groups[group])),
        }
    }

    /// The columns.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// The number of groups of rows.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        (0..self.groups).map(|group| self.read(group, 0).len()).sum()
    }

    /// The values of a column in a group. Both numbers count from 0.
    ///
    /// # Panics
    /// When there is no such group or column.
    pub fn read(&self, group: usize, column: usize) -> Values {
        (self.read)(group, column)
    }

    /// What a reader must know beside the columns: the form of the table, its origin, and the units.
    pub fn metadata(&self, o: &Outcome, command: &str) -> Vec<(String, String)> {
        let units: BTreeMap<&str, &str> =
            self.headings.iter().filter_map(|h| Some((h.name.as_str(), h.unit?))).collect();
        // Cannot fail: all keys are strings.
        let units = serde_json::to_string(&units).unwrap_or_default();
        let all = [
            ("contend.schema", self.schema),
            ("contend.units", &units),
            ("contend.version", o.version),
            ("contend.title", &o.title),
            ("contend.file", &o.file),
            ("contend.command", command),
        ];
        all.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec()
    }
}

/// Mean and interval of each metric at each sweep point: one row for each.
pub fn summary(o: &Outcome) -> Table<'_> {
    fn number<'a>(
        name: &str,
        unit: Option<Dimension>,
        of: impl Fn(&Summary) -> Option<f64> + 'a,
    ) -> Column<'a, &'a Summary> {
        Column::new(name, unit, move |group: &[&Summary]| Values::Number(group.iter().map(|s| of(s)).collect()))
    }
    fn text<'a>(name: &str, of: impl Fn(&Summary) -> String + 'a) -> Column<'a, &'a Summary> {
        Column::new(name, None, move |group: &[&Summary]| Values::Text(group.iter().map(|s| Some(of(s))).collect()))
    }
    let mut all = PointColumns::of(o).columns();
    all.push(text("metric", |s| s.metric.clone()));
    all.push(text("unit", |s| dimension(&s.metric).map_or("", unit).to_owned()));
    all.push(Column::new("n", Some(Dimension::Number), |group: &[&Summary]| {
        Values::Count(group.iter().map(|s| count(s.n as u64)).collect())
    }));
    all.push(number("mean", None, |s| Some(s.mean).filter(|x| !x.is_nan())));
    all.push(number("ci95", None, |s| s.ci95));
    all.push(number("low", None, |s| s.interval.map(|i| i.0)));
    all.push(number("high", None, |s| s.interval.map(|i| i.1)));
    Table::new("contend/summary/2", all, vec![o.summary.iter().collect()])
}

/// The differences of a comparison: one row for each pair of points and each metric. `o` is the second side.
pub fn differences<'a>(o: &Outcome, all: &'a [Difference]) -> Table<'a> {
    type Rows<'a> = Column<'a, &'a Difference>;
    fn number<'a>(name: &str, of: fn(&Difference) -> Option<f64>) -> Rows<'a> {
        Column::numbers(name, None, move |d: &&Difference| vec![of(d)])
    }
    fn text<'a>(name: &str, of: fn(&Difference) -> Option<String>) -> Rows<'a> {
        Column::texts(name, move |d: &&Difference| vec![of(d)])
    }
    fn number_of_seeds<'a>(name: &str, of: fn(&Difference) -> usize) -> Rows<'a> {
        Column::new(name, Some(Dimension::Number), move |group: &[&Difference]| {
            Values::Count(group.iter().map(|d| count(of(d) as u64)).collect())
        })
    }
    fn interval(d: &Difference) -> Option<(f64, f64)> {
        d.estimate()?.interval
    }
    let mut columns = PointColumns::of(o).columns();
    columns.extend([
        text("metric", |d| Some(d.metric.clone())),
        text("unit", |d| Some(dimension(&d.metric).map_or("", unit).to_owned())),
        number_of_seeds("n", |d| d.n),
        number_of_seeds("unpaired", |d| d.unpaired),
        number("a", |d| d.a),
        number("b", |d| d.b),
        number("difference", |d| d.difference),
        number("ci95", |d| d.ci95),
        number("low", |d| interval(d).map(|i| i.0)),
        number("high", |d| interval(d).map(|i| i.1)),
        Column::numbers("relative", Some(Dimension::Number), |d: &&Difference| vec![d.relative]),
        Column::numbers("worth", Some(Dimension::Number), |d: &&Difference| vec![d.worth]),
        text("b_has", |d| Some(d.answer().to_owned())),
        text("missing", |d| d.missing.clone()),
    ]);
    Table::new("contend/differences/1", columns, vec![all.iter().collect()])
}

/// The runs: one row for each, with all its metrics.
pub fn runs(o: &Outcome) -> Table<'_> {
    let names: BTreeSet<&str> = o.runs.iter().flat_map(|r| r.metrics.keys()).map(String::as_str).collect();
    let metric = |name: &'_ str| {
        let of = name.to_owned();
        Column::numbers(name, dimension(name), move |r: &Rows<'_>| {
            r.same(r.run.metrics.get(&of).copied().filter(|x| !x.is_nan()))
        })
    };
    let of_run = RUN.iter().filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.runs(each)));
    let all = PointColumns::of(o).columns().into_iter().chain(of_run).chain(names.into_iter().map(metric));
    Table::new("contend/runs/2", all.collect(), groups(&o.runs, |_| 1))
}

/// The flows: one row for each run and flow.
pub fn flows(o: &Outcome) -> Table<'_> {
    let of_flow = FLOW.iter().filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.items(|run| &run.flows, each)));
    Table::new("contend/flows/2", identified(o).chain(of_flow).collect(), groups(&o.runs, |r| r.flows.len()))
}

/// The queues: one row for each run and queue.
pub fn queues(o: &Outcome) -> Table<'_> {
    let of_queue = QUEUE.iter().filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.items(|run| &run.queues, each)));
    Table::new("contend/queues/2", identified(o).chain(of_queue).collect(), groups(&o.runs, |r| r.queues.len()))
}

/// The air: one row for each run that has a cell or a field. Each account of the ledger is a column.
pub fn air(o: &Outcome) -> Table<'_> {
    let of_air = AIR.iter().flat_map(|f| match f.read {
        Read::Each(read) => spread(o, f, move |air| Some(read(air)), |x| *x),
        Read::Counts(read) => spread(o, f, read, |n| *n as f64),
        _ => Column::of(f, |r: &Rows<'_>, each| r.airs(each)).into_iter().collect(),
    });
    Table::new(
        "contend/air/2",
        identified(o).chain(of_air).collect(),
        groups(&o.runs, |r| usize::from(r.air.is_some())),
    )
}

/// The time series: one row for each run, flow and instant, and one for each run, queue and instant. The column `scope`
/// is `flow` or `queue`.
pub fn series(o: &Outcome) -> Table<'_> {
    let rows = |r: &Run| r.detail.series.time_s.len() * (r.detail.series.flows.len() + r.detail.series.queues.len());
    Table::new("contend/series/2", series_columns(o), groups(&o.runs, rows))
}

/// A column for each word that an entry has in any run.
fn spread<'a, V: 'a>(
    o: &Outcome,
    field: &Field<Air>,
    read: impl Fn(&Air) -> Option<&BTreeMap<Word, V>> + Copy + 'a,
    value: fn(&V) -> f64,
) -> Vec<Column<'a, Rows<'a>>> {
    let words: BTreeSet<Word> =
        o.runs.iter().filter_map(|r| read(r.air.as_ref()?)).flat_map(BTreeMap::keys).copied().collect();
    let column = |word: Word| {
        Column::numbers(format!("{}.{word}", field.name), field.unit, move |r: &Rows<'_>| {
            r.same(r.run.air.as_ref().and_then(read).and_then(|all| all.get(word)).map(value))
        })
    };
    words.into_iter().map(column).collect()
}

/// The dimension of a metric.
fn dimension(name: &str) -> Option<Dimension> {
    Expr::parse_any(name).ok().and_then(|metric| metric.dimension())
}

/// One column: its name, its unit, and how to read its values in a group of `B`.
struct Column<'a, B> {
    name: String,
    unit: Option<Dimension>,
    read: Box<Reader<'a, B>>,
}

/// Reads the values of a column in a group.
type Reader<'a, B> = dyn Fn(&[B]) -> Values + 'a;

/// Passes the object of each row on; `None` where a row has none.
type Each<B, T> = fn(&B, &mut dyn FnMut(Option<&T>));

impl<'a, B> Column<'a, B> {
    fn new(name: impl Into<String>, unit: Option<Dimension>, read: impl Fn(&[B]) -> Values + 'a) -> Column<'a, B> {
        Column { name: name.into(), unit, read: Box::new(read) }
    }

    fn texts(name: impl Into<String>, of: impl Fn(&B) -> Vec<Option<String>> + 'a) -> Column<'a, B> {
        Column::new(name, None, move |group| Values::Text(group.iter().flat_map(&of).collect()))
    }

    fn numbers(
        name: impl Into<String>,
        unit: Option<Dimension>,
        of: impl Fn(&B) -> Vec<Option<f64>> + 'a,
    ) -> Column<'a, B> {
        Column::new(name, unit, move |group| Values::Number(group.iter().flat_map(&of).collect()))
    }

    /// The column of an entry; `None` if the entry is a list.
    fn of<T: 'static>(field: &'static Field<T>, each: Each<B, T>) -> Option<Column<'a, B>>
    where
        B: 'a,
    {
        fn all<B, T, V>(group: &[B], each: Each<B, T>, read: impl Fn(&T) -> Option<V>) -> Vec<Option<V>> {
            let mut values = Vec::new();
            group.iter().for_each(|r| each(r, &mut |t| values.push(t.and_then(&read))));
            values
        }
        let column = |read: Box<Reader<'a, B>>| Some(Column { name: field.name.into(), unit: field.unit, read });
        match field.read {
            Read::Number(read) => column(Box::new(move |g| Values::Number(all(g, each, read)))),
            Read::Count(read) => column(Box::new(move |g| Values::Count(all(g, each, |t| read(t).and_then(count))))),
            Read::NonZero(read) => column(Box::new(move |g| Values::Count(all(g, each, |t| count(read(t)))))),
            Read::Text(read) => column(Box::new(move |g| Values::Text(all(g, each, |t| Some(read(t).to_owned()))))),
            Read::Flag(read) => column(Box::new(move |g| Values::Flag(all(g, each, |t| Some(read(t)))))),
            Read::List(_) | Read::Each(_) | Read::Counts(_) => None,
        }
    }
}

/// A counter as a signed integer, which all readers have; null if it does not fit.
fn count(n: u64) -> Option<i64> {
    i64::try_from(n).ok()
}

/// Rows that belong to one sweep point.
trait OfPoint {
    fn point(&self) -> &PointKey;
    /// The number of rows.
    fn rows(&self) -> usize;

    /// `value` for each row.
    fn same<T: Clone>(&self, value: T) -> Vec<T> {
        vec![value; self.rows()]
    }
}

impl OfPoint for &Summary {
    fn point(&self) -> &PointKey {
        &self.point
    }
    fn rows(&self) -> usize {
        1
    }
}

impl OfPoint for &Difference {
    fn point(&self) -> &PointKey {
        &self.point
    }
    fn rows(&self) -> usize {
        1
    }
}

impl OfPoint for Rows<'_> {
    fn point(&self) -> &PointKey {
        &self.run.point
    }
    fn rows(&self) -> usize {
        self.range.len()
    }
}

/// The columns that identify the sweep point: one for each swept key, with a type that fits all its values.
struct PointColumns(Vec<(String, Kind, Option<Dimension>)>);

impl PointColumns {
    fn of(o: &Outcome) -> PointColumns {
        let points = points(o);
        let kind = |key: &str| {
            let values = || points.iter().filter_map(|p| p.get(key));
            let dimension = values().next().and_then(|v| quantity(v)).map(|q| q.unit);
            if values().any(|v| v.label().is_some()) {
                (Kind::Text, None)
            } else if values().all(|v| v.is_i64()) {
                (Kind::Count, None)
            } else if values().all(|v| v.is_number()) {
                (Kind::Number, None)
            } else if dimension.is_some() && values().all(|v| quantity(v).map(|q| q.unit) == dimension) {
                (Kind::Number, dimension)
            } else if values().all(|v| v.is_boolean()) {
                (Kind::Flag, None)
            } else {
                (Kind::Text, None)
            }
        };
        let column = |key: String| {
            let (kind, dimension) = kind(&key);
            (key, kind, dimension)
        };
        PointColumns(swept_keys(&points).into_iter().map(column).collect())
    }

    fn columns<'a, B: OfPoint + 'a>(self) -> Vec<Column<'a, B>> {
        let column = |(name, kind, unit): (String, Kind, Option<Dimension>)| {
            let key = name.clone();
            let value = move |r: &B| -> Option<SweptValue> { r.point().get(&key).cloned() };
            match kind {
                Kind::Number => Column::numbers(name, unit, move |r: &B| r.same(value(r).as_deref().and_then(number))),
                Kind::Count => Column::new(name, None, move |group: &[B]| {
                    Values::Count(group.iter().flat_map(|r| r.same(value(r).and_then(|v| v.as_i64()))).collect())
                }),
                Kind::Flag => Column::new(name, None, move |group: &[B]| {
                    Values::Flag(group.iter().flat_map(|r| r.same(value(r).and_then(|v| v.as_bool()))).collect())
                }),
                Kind::Text => Column::texts(name, move |r: &B| r.same(value(r).as_ref().map(value_text))),
            }
        };
        self.0.into_iter().map(column).collect()
    }
}

/// The columns that identify a run: its point, seed and digest.
fn identified<'a>(o: &Outcome) -> impl Iterator<Item = Column<'a, Rows<'a>>> {
    let of_run = RUN
        .iter()
        .filter(|f| ["seed", "digest"].contains(&f.name))
        .filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.runs(each)));
    PointColumns::of(o).columns().into_iter().chain(of_run)
}

/// A swept value with a unit.
fn quantity(v: &Value) -> Option<Quantity> {
    Quantity::parse(v.as_str()?).ok()
}

/// A swept number, or a quantity in base units.
fn number(v: &Value) -> Option<f64> {
    v.as_f64().or_else(|| Some(quantity(v)?.value))
}

/// Maximum number of rows in a group; it bounds the memory that writing needs.
const ROWS: usize = 1 << 16;

/// A range of a run's rows. In a table of flows or queues, each is a row. In a series, the rows are all instants of
/// each flow, then of each queue.
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
    fn runs(&self, each: &mut dyn FnMut(Option<&Run>)) {
        self.range.clone().for_each(|_| each(Some(self.run)));
    }

    /// For tables in which each row is one of `of`.
    fn items<T>(&self, of: fn(&Run) -> &Vec<T>, each: &mut dyn FnMut(Option<&T>)) {
        self.range.clone().for_each(|i| each(of(self.run).get(i)));
    }

    fn airs(&self, each: &mut dyn FnMut(Option<&Air>)) {
        self.range.clone().for_each(|_| each(self.run.air.as_ref()));
    }

    /// For each row: the index of its flow or queue (queues are numbered after the flows), and its instant.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let many = self.run.detail.series.time_s.len().max(1);
        self.range.clone().map(move |row| (row / many, row % many))
    }

    /// Each flow at each instant; nothing for queues.
    fn flows_at(&self, each: &mut dyn FnMut(Option<&Instant>)) {
        let time = &self.run.detail.series.time_s;
        self.places().for_each(|(i, k)| {
            let at = |k: usize| self.run.detail.series.flows.get(i).and_then(|f| f.get(k)).zip(time.get(k));
            let instant = at(k).map(|(now, t)| {
                let before = k.checked_sub(1).and_then(at).map(|(sample, earlier)| (sample, t - earlier));
                Instant { now, before }
            });
            each(instant.as_ref());
        });
    }

    /// Each queue at each instant; nothing for flows.
    fn queues_at(&self, each: &mut dyn FnMut(Option<&QueueSample>)) {
        let queue = |i: usize| self.run.detail.series.queues.get(i.checked_sub(self.run.detail.series.flows.len())?);
        self.places().for_each(|(i, k)| each(queue(i).and_then(|q| q.get(k)).as_ref()));
    }

    /// The data of the station of each row, the owner of its queue, at each instant.
    fn data_at(&self, each: &mut dyn FnMut(Option<&DataInstant>)) {
        let series = &self.run.detail.series;
        let at = |station: usize, k: usize| {
            let [from, to] = series.data.get(station)?;
            Some([from.get(k)?, to.get(k)?])
        };
        self.places().for_each(|(i, k)| {
            let instant = i.checked_sub(series.flows.len()).and_then(|station| {
                Some(DataInstant { now: at(station, k)?, before: k.checked_sub(1).and_then(|k| at(station, k)) })
            });
            each(instant.as_ref());
        });
    }

    /// What each flow, or each queue, keeps.
    fn kept(&self, what: Kept) -> Vec<Option<f64>> {
        let series = &self.run.detail.series;
        let first = if what == Kept::Probability { series.flows.len() } else { 0 };
        let members = series.kept.iter().filter(|s| s.what == what);
        self.of_members(members.map(|s| (first + s.of, &s.values)).collect(), |v| *v)
    }

    /// The rate that an estimator reports for each flow.
    fn estimate(&self, name: &str) -> Vec<Option<f64>> {
        let flows = self.run.detail.series.estimates.iter().filter(|e| e.name == name);
        self.of_members(flows.map(|e| (e.flow, &e.rate_bps)).collect(), |r| *r as f64)
    }

    /// The values of each row's member, of which some have a list with one value for each instant.
    fn of_members<T>(&self, lists: BTreeMap<usize, &Vec<T>>, number: fn(&T) -> f64) -> Vec<Option<f64>> {
        self.places().map(|(i, k)| lists.get(&i)?.get(k).map(number)).collect()
    }
}

/// A number of the observers of a station, in bits per second.
type Observed = fn(&ObserverSeries) -> &Vec<Option<u64>>;

/// A counter of a station with observers, and the factor that brings it to the unit of its column.
type Counted = fn(&ObservedStation) -> (&Vec<u64>, f64);

impl Rows<'_> {
    /// What the station of each row, the owner of its queue, has at an instant.
    fn observed(&self, of: &dyn Fn(&ObservedStation, usize) -> Option<f64>) -> Vec<Option<f64>> {
        let station = |i: usize| i.checked_sub(self.run.detail.series.flows.len());
        let at = |(i, k): (usize, usize)| {
            let station = station(i)?;
            of(self.run.detail.series.observed.iter().find(|s| s.station == station)?, k)
        };
        self.places().map(at).collect()
    }
}

/// The names of all observers in all runs, without duplicates.
fn observers(o: &Outcome) -> BTreeSet<&str> {
    let stations = o.runs.iter().flat_map(|r| &r.detail.series.observed);
    stations.flat_map(|s| &s.observers).map(|o| o.name.as_str()).collect()
}

/// The columns of the observers: what each reports, and what really happened at their stations.
fn observed_columns(o: &Outcome) -> Vec<Column<'_, Rows<'_>>> {
    const REPORTED: [(&str, Observed); 2] =
        [("observed.capacity", |o| &o.capacity_bps), ("observed.available", |o| &o.available_bps)];
    const HAPPENED: [(&str, Dimension, Counted); 3] = [
        ("link.acked", Dimension::Bytes, |s| (&s.acked_bytes, 1.0)),
        ("link.contended", Dimension::Time, |s| (&s.contended_ns, 1e-9)),
        ("link.idle", Dimension::Time, |s| (&s.idle_ns, 1e-9)),
    ];
    let observers = observers(o);
    if observers.is_empty() {
        return vec![];
    }
    let reported = |name| {
        REPORTED.map(|(what, of)| {
            Column::numbers(format!("{what}.{name}"), Some(Dimension::Rate), move |r: &Rows<'_>| {
                r.observed(&|s, k| {
                    let o = s.observers.iter().find(|o| o.name == name)?;
                    Some(of(o).get(k).copied().flatten()? as f64)
                })
            })
        })
    };
    let happened = HAPPENED.map(|(name, unit, of)| {
        Column::numbers(name, Some(unit), move |r: &Rows<'_>| {
            r.observed(&|s, k| {
                let (samples, scale) = of(s);
                Some(*samples.get(k)? as f64 * scale)
            })
        })
    });
    observers.into_iter().flat_map(reported).chain(happened).collect()
}

/// True if a controller or a queue of any run keeps this.
fn keeps(o: &Outcome, what: Kept) -> bool {
    o.runs.iter().any(|r| r.detail.series.kept.iter().any(|k| k.what == what))
}

/// The names of all estimates in all runs, without duplicates.
fn watched(o: &Outcome) -> BTreeSet<&str> {
    o.runs.iter().flat_map(|r| &r.detail.series.estimates).map(|e| e.name.as_str()).collect()
}

/// The name of flow `i`; indices after the last flow are queues.
fn member(run: &Run, i: usize) -> Option<&str> {
    let queue = || run.queues.get(i.checked_sub(run.flows.len())?).map(|q| q.name.as_str());
    run.flows.get(i).map(|f| f.name.as_str()).or_else(queue)
}

fn series_columns(o: &Outcome) -> Vec<Column<'_, Rows<'_>>> {
    type Texts = fn(&Run, usize) -> Option<&str>;
    fn text<'a>(name: &str, of: Texts) -> Column<'a, Rows<'a>> {
        Column::texts(name, move |r: &Rows<'_>| r.places().map(|(i, _)| of(r.run, i).map(str::to_owned)).collect())
    }
    let time = |r: &Rows<'_>| r.places().map(|(_, k)| r.run.detail.series.time_s.get(k).copied()).collect();
    let estimate = |name| {
        Column::numbers(format!("{ESTIMATE}.{name}"), Some(Dimension::Rate), move |r: &Rows<'_>| r.estimate(name))
    };
    let mut all = PointColumns::of(o).columns();
    let seed = RUN.iter().filter(|f| f.name == "seed");
    all.extend(seed.filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.runs(each))));
    all.push(text("scope", |run, i| Some(if i < run.flows.len() { "flow" } else { "queue" })));
    all.push(text("name", member));
    all.push(Column::numbers("time", Some(Dimension::Time), time));
    all.extend(FLOW_AT.iter().filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.flows_at(each))));
    all.extend(QUEUE_AT.iter().filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.queues_at(each))));
    if o.runs.iter().any(|r| !r.detail.series.data.is_empty()) {
        all.extend(DATA_AT.iter().filter_map(|f| Column::of(f, |r: &Rows<'_>, each| r.data_at(each))));
    }
    all.extend(
        Kept::ALL
            .into_iter()
            .filter(|what| keeps(o, *what))
            .map(|what| Column::numbers(what.name(), dimension(what.name()), move |r: &Rows<'_>| r.kept(what))),
    );
    all.extend(watched(o).into_iter().map(estimate));
    all.extend(observed_columns(o));
    all
}
