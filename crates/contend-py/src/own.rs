//! Algorithms in Python: a class with the methods of a trait of contend, used in files by its name.
//!
//! Each object of such a class is behind a Rust value of the trait. A call lends it the context, window or packet as
//! Python objects and takes back what it changed. An exception ends the run: it is kept, no Python is called any more,
//! and the call that made the runs raises it.

mod access;
mod controller;
mod qdisc;

use crate::error;
use contend_core::registry::{Args, Entry, Param, Unit};
use contend_core::{Cx, Refusal, Rng};
use contend_lab::reading::expression::{Dimension, Quantity};
use contend_lab::reading::file::keys::Family;
use contend_lab::reading::roster::{ACCESS, CONTROLLERS, QDISCS, Roster};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rand::RngExt as _;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Own algorithms of a family that a process can have at a time.
const MOST: usize = 64;

/// A function for each place of a family: a registry holds plain functions, so each own algorithm needs one.
macro_rules! builders {
    ($build:ident: $($at:literal)*) => { [$($build::<$at>),*] };
    ($build:ident) => {
        $crate::own::builders!($build: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
            30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
    };
}
use builders;

/// The classes of a family, each at the place of its builder.
struct Classes(Mutex<Vec<Class>>);

/// A class with its name and its parameters in files.
struct Class {
    name: &'static str,
    params: &'static [Param],
    class: Py<PyType>,
}

impl Classes {
    const fn new() -> Classes {
        Classes(Mutex::new(Vec::new()))
    }

    /// Adds the class to this family: to `roster`, with the function of its place among `builders`. The place is that
    /// of an earlier class of its name, or a new one; a class that `roster` refuses takes none.
    fn enrol<B: Copy>(
        &self,
        said: &Said,
        class: Bound<'_, PyType>,
        builders: &[B; MOST],
        roster: &Roster<B>,
    ) -> PyResult<()> {
        let mut all = locked(&self.0);
        let Said { name, summary, cite, params } = *said;
        let at = all.iter().position(|c| c.name == name).unwrap_or(all.len());
        let Some(build) = builders.get(at).copied() else {
            return Err(PyValueError::new_err(format!("a process can have {MOST} own algorithms of a family")));
        };
        let added = roster.add(Entry { name, cite, summary, params, formulas: &[], facts: &[], build });
        added.map_err(|e| error::plain(&e.what, Some(&e.remedy)))?;
        let this = Class { name, params, class: class.unbind() };
        match all.get_mut(at) {
            Some(earlier) => *earlier = this,
            None => all.push(this),
        }
        Ok(())
    }

    /// An object of the class at `place` with its parameters as attributes, and `cell` if there is one. `__init__` is
    /// called last, so it may use them.
    fn made<'py>(
        &self,
        py: Python<'py>,
        place: usize,
        args: &Args,
        cell: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = locked(&self.0).get(place).map(|c| (c.name, c.params, c.class.clone_ref(py).into_bound(py)));
        let (name, params, class) = known.ok_or_else(|| PyValueError::new_err("there is no such class"))?;
        locked(&MADE).insert(name);
        let object = class.call_method1("__new__", (&class,))?;
        for p in params {
            match p.unit {
                Unit::Integer => object.setattr(p.name, args.integer(p.name))?,
                Unit::Time => object.setattr(p.name, args.time(p.name).as_secs_f64())?,
                Unit::Rate => object.setattr(p.name, args.rate(p.name))?,
                Unit::Bool => object.setattr(p.name, args.flag(p.name))?,
                _ => object.setattr(p.name, args.number(p.name))?,
            }
        }
        if let Some(cell) = cell {
            object.setattr("cell", cell)?;
        }
        object.call_method0("__init__")?;
        Ok(object)
    }
}

/// True if the class of `object` has a method of its own in the place of its base's.
fn has(object: &Bound<'_, PyAny>, method: &str) -> PyResult<bool> {
    object.getattr("_methods")?.contains(method)
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first exception of an own algorithm that nobody has raised yet.
static EXCEPTION: Mutex<Option<PyErr>> = Mutex::new(None);
/// True if there is one.
static FAILED: AtomicBool = AtomicBool::new(false);
/// The names of which objects were made since [`begin`].
static MADE: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
/// Calls so far, and the nanoseconds that they took.
static CALLS: AtomicU64 = AtomicU64::new(0);
static NANOS: AtomicU64 = AtomicU64::new(0);
/// The simulated time of the last call that has one, in nanoseconds.
static NOW: AtomicU64 = AtomicU64::new(0);
/// Held while runs with own algorithms are made: one call at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Calls Python, unless an own algorithm has failed. After an exception the answer is `instead`.
fn called<T>(instead: T, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    if FAILED.load(Ordering::Relaxed) {
        return instead;
    }
    #[allow(clippy::disallowed_methods, reason = "the price of Python is only reported")]
    let began = Instant::now();
    let answer = Python::attach(call);
    CALLS.fetch_add(1, Ordering::Relaxed);
    NANOS.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
    answer.unwrap_or_else(|err| {
        failed(err);
        instead
    })
}

/// Keeps the first exception, with a note of when it came (Python 3.11 and later).
fn failed(err: PyErr) {
    let at = NOW.load(Ordering::Relaxed) as f64 / 1e9;
    // An older Python has no notes.
    let _ = Python::attach(|py| {
        err.value(py).call_method1("add_note", (format!("at {at} s of the simulation"),)).map(drop)
    });
    locked(&EXCEPTION).get_or_insert(err);
    FAILED.store(true, Ordering::Relaxed);
}

/// The exception of an own algorithm that nobody has raised yet. Python is not called again before [`begin`].
pub(crate) fn exception() -> Option<PyErr> {
    locked(&EXCEPTION).take()
}

/// Forgets what was: own algorithms are called again.
pub(crate) fn begin() {
    locked(&EXCEPTION).take();
    locked(&MADE).clear();
    NOW.store(0, Ordering::Relaxed);
    FAILED.store(false, Ordering::Relaxed);
}

/// The own algorithms of which objects were made since [`begin`].
pub(crate) fn made() -> Vec<&'static str> {
    locked(&MADE).iter().copied().collect()
}

/// The turn to make runs with own algorithms.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    locked(&TURN)
}

/// Calls of own algorithms so far, and the seconds that they took.
pub(crate) fn price() -> (u64, f64) {
    (CALLS.load(Ordering::Relaxed), NANOS.load(Ordering::Relaxed) as f64 / 1e9)
}

/// An algorithm that cannot be built: the exception is kept, and the file is refused.
fn refused<T>(built: PyResult<T>) -> Result<T, Refusal> {
    built.map_err(|err| {
        let why = err.to_string();
        failed(err);
        Refusal::new(why, "mend the class")
    })
}

/// A parameter as the class declares it: name, meaning, default, smallest and largest value in base units.
type Declared = (String, String, Py<PyAny>, f64, f64);

/// A text for the rest of the program's life. A class is declared a few times in a session.
fn kept(text: String) -> &'static str {
    text.leak()
}

/// Adds the class `class` to the `family` under `name`.
#[pyfunction]
pub(crate) fn add(
    family: &str,
    name: String,
    summary: String,
    cite: String,
    params: Vec<Declared>,
    r#type: Bound<'_, PyType>,
) -> PyResult<()> {
    let (py, class) = (r#type.py(), r#type);
    let params = params.into_iter().map(|(name, doc, usual, least, most)| {
        let usual = usual.into_bound(py);
        param(name, doc, &usual, (least, most))
    });
    let params: &'static [Param] = Vec::leak(params.collect::<PyResult<Vec<Param>>>()?);
    let said = Said { name: kept(name), summary: kept(summary), cite: kept(cite), params };
    match family {
        "controllers" if is_a_variant(said.name) => {
            let what = format!("`{}` is a variant of TCP in contend", said.name);
            Err(error::plain(&what, Some("choose another name")))
        }
        "controllers" => controller::CLASSES.enrol(&said, class, &controller::BUILDERS, &CONTROLLERS),
        "qdiscs" => qdisc::CLASSES.enrol(&said, class, &qdisc::BUILDERS, &QDISCS),
        "access" => access::CLASSES.enrol(&said, class, &access::BUILDERS, &ACCESS),
        _ => Err(PyValueError::new_err(format!("there is no family {family:?} for own algorithms"))),
    }
}

/// What a class says of itself.
struct Said {
    name: &'static str,
    summary: &'static str,
    cite: &'static str,
    params: &'static [Param],
}

/// The parameter with this default: a number, `True`, or a text with a unit.
fn param(name: String, doc: String, usual: &Bound<'_, PyAny>, range: (f64, f64)) -> PyResult<Param> {
    let wrong = |what: &str| {
        let text = format!("the default of `{name}` {what}");
        error::plain(&text, Some("use True, 5, 0.7, or a text with a unit: \"15ms\", \"5Mbps\", \"1%\""))
    };
    let (unit, text) = if usual.is_instance_of::<pyo3::types::PyBool>() {
        (Unit::Bool, usual.extract::<bool>()?.to_string())
    } else if let Ok(n) = usual.extract::<i64>() {
        (Unit::Integer, n.to_string())
    } else if let Ok(x) = usual.extract::<f64>() {
        (Unit::Number, x.to_string())
    } else {
        let text: String = usual.extract().map_err(|_| wrong("is no number and no text"))?;
        let unit = match Quantity::parse(&text).map(|q| q.unit) {
            Ok(Dimension::Time) => Unit::Time,
            Ok(Dimension::Rate) => Unit::Rate,
            Ok(Dimension::Number) if text.ends_with('%') => Unit::Fraction,
            _ => return Err(wrong(&format!("is {text:?}, which is no time, rate or share"))),
        };
        (unit, text)
    };
    let range = if unit == Unit::Bool { (0.0, 0.0) } else { range };
    Ok(Param { default: Some(kept(text)), range, ..Param::new(kept(name.clone()), unit, kept(doc)) })
}

/// What an algorithm may know of its surroundings during a call.
#[pyclass(name = "Cx", module = "contend")]
pub(crate) struct PyCx {
    now_ns: u64,
    rng: Rng,
}

#[pymethods]
impl PyCx {
    /// The simulated time in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now_ns as f64 / 1e9
    }

    /// The simulated time in microseconds.
    #[getter]
    fn now_us(&self) -> u64 {
        self.now_ns / 1000
    }

    /// A number from 0 to 1 (exclusive) from the algorithm's own random stream, which the seed decides.
    fn random(&mut self) -> f64 {
        self.rng.random()
    }

    /// A whole number from 0 to `n` - 1.
    fn randrange(&mut self, n: u32) -> PyResult<u32> {
        if n == 0 {
            return Err(PyValueError::new_err("randrange needs at least one value"));
        }
        Ok(self.rng.random_range(0..n))
    }
}

impl PyCx {
    /// A context for an object. Calls bring it up to date.
    fn lent(py: Python<'_>) -> PyResult<Py<PyCx>> {
        use rand::SeedableRng as _;
        Py::new(py, PyCx { now_ns: 0, rng: Rng::seed_from_u64(0) })
    }

    /// Takes over time and random stream.
    fn take(&mut self, cx: &Cx<'_>) {
        self.now_ns = cx.now.as_nanos();
        NOW.store(self.now_ns, Ordering::Relaxed);
        self.rng = cx.rng.clone();
    }

    /// Gives the random stream back, as far as it was used.
    fn give(&self, cx: &mut Cx<'_>) {
        *cx.rng = self.rng.clone();
    }
}

/// The classes and functions of this module.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(add, m)?)?;
    m.add_class::<PyCx>()?;
    controller::register(m)?;
    qdisc::register(m)?;
    access::register(m)
}

/// True if `name` is that of a variant of TCP, which a file would find first.
fn is_a_variant(name: &str) -> bool {
    let own = Family::Controllers.algorithms().iter().any(|a| a.name == name);
    !own && contend_lab::reading::file::keys::variants().iter().any(|v| v.name == name)
}
