//! Access rules in Python.

use super::controller::fields;
use super::{Classes, PyCx, builders, called, refused};
use contend_core::registry::Args;
use contend_core::{Cx, Refusal, Span};
use contend_sim::wifi::access::{self, Access, Busy, Draw, Reads, Residue, Seen, Setting};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

pub(super) static CLASSES: Classes = Classes::new();
pub(super) static BUILDERS: [access::Build; super::MOST] = builders!(build);

fn build<const AT: usize>(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let made = |py: Python<'_>| -> PyResult<Own> {
        let known = Bound::new(py, PyCell(cell))?.into_any();
        let object = CLASSES.made(py, AT, args, Some(known))?;
        let word = |method: &str, words: &[&str]| -> PyResult<usize> {
            let answer: String = object.call_method0(method)?.extract()?;
            words.iter().position(|w| *w == answer).ok_or_else(|| {
                PyValueError::new_err(format!("{method} returned {answer:?}; use one of {}", words.join(", ")))
            })
        };
        let residue = [Residue::Keep, Residue::Redraw][word("residue", &["keep", "redraw"])?];
        let busy = [Busy::Cell, Busy::Frozen, Busy::Boundary][word("busy", &["cell", "frozen", "boundary"])?];
        let reads = [Reads::Nothing, Reads::Contenders, Reads::Channel];
        let reads = reads[word("reads", &["nothing", "contenders", "channel"])?];
        let txop: f64 = object.call_method0("txop")?.extract()?;
        Ok(Own {
            residue,
            busy,
            reads,
            aifsn: object.call_method0("aifsn")?.extract()?,
            txop: Span::from_secs_f64(txop.max(0.0)),
            whole_cell: object.call_method0("whole_cell")?.extract()?,
            usual: cell.cw_min,
            heard: 0,
            cx: PyCx::lent(py)?,
            object: object.unbind(),
        })
    };
    Ok(Box::new(refused(Python::attach(made))?))
}

/// A rule in Python. What does not change during a run is read once.
#[derive(Debug)]
struct Own {
    object: Py<PyAny>,
    cx: Py<PyCx>,
    residue: Residue,
    busy: Busy,
    reads: Reads,
    aifsn: Option<u32>,
    txop: Span,
    whole_cell: bool,
    /// The answer after an exception.
    usual: u32,
    /// Busy periods that the rule was told of.
    heard: u64,
}

/// Most slots of a backoff.
const MOST_SLOTS: u32 = 1_000_000;

impl Access for Own {
    fn draw(&mut self, cx: &mut Cx, why: Draw, seen: &Seen) -> u32 {
        let usual = self.usual;
        called(usual, |py| {
            let busy = seen.channel.busy();
            let from = self.heard.max(busy.saturating_sub(access::Channel::MEMORY));
            let heard = if self.reads == Reads::Channel {
                (from..busy).map(|k| seen.channel.idle(k)).collect()
            } else {
                Vec::new()
            };
            self.heard = busy;
            let contenders = (self.reads == Reads::Contenders).then_some(seen.contenders);
            let seen = PySeen { contenders, bytes: seen.bytes, busy_counts: seen.busy_counts, heard };
            self.cx.borrow_mut(py).take(cx);
            let arguments = (&self.cx, PyDraw(why), seen);
            let slots: u32 = self.object.call_method1(py, intern!(py, "draw"), arguments)?.extract(py)?;
            self.cx.borrow(py).give(cx);
            if slots > MOST_SLOTS {
                return Err(PyValueError::new_err(format!("draw returned {slots} slots; at most {MOST_SLOTS}")));
            }
            Ok(slots)
        })
    }

    fn residue(&self) -> Residue {
        self.residue
    }

    fn aifsn(&self) -> Option<u32> {
        self.aifsn
    }

    fn txop(&self) -> Span {
        self.txop
    }

    fn busy(&self) -> Busy {
        self.busy
    }

    fn reads(&self) -> Reads {
        self.reads
    }

    fn whole_cell(&self) -> bool {
        self.whole_cell
    }
}

/// What a rule knows of its station and its cell.
#[pyclass(name = "Cell", module = "contend", frozen)]
pub(crate) struct PyCell(Setting);

fields! {
    PyCell {
        /// Smallest contention window: a draw is from 0 to CW.
        cw_min: u32 = |s| s.cw_min,
        /// Largest contention window.
        cw_max: u32 = |s| s.cw_max,
        /// The station's number among all that contend, from 0.
        rank: u32 = |s| s.rank,
        /// Number of stations, with or without data to send.
        stations: u32 = |s| s.stations,
        /// Duration of a collision in slots.
        collision: f64 = |s| s.collision,
        /// The highest rate of the cell divided by the rate of the station.
        slower: f64 = |s| s.slower,
    }
}

/// Why a backoff is drawn.
#[pyclass(name = "Draw", module = "contend", frozen)]
pub(crate) struct PyDraw(Draw);

fields! {
    PyDraw {
        /// "arrival", "success", "failure", "dropped", or "cycle" (another station was first; only if `residue` is
        /// "redraw").
        kind: &'static str = |d| match d {
            Draw::Arrival => "arrival",
            Draw::Success => "success",
            Draw::Failure => "failure",
            Draw::Dropped => "dropped",
            Draw::Cycle(_) => "cycle",
        },
        /// Of a cycle: the slots that had passed; otherwise 0.
        slots: u32 = |d| if let Draw::Cycle(slots) = d { *slots } else { 0 },
    }
}

/// What a station can know when it draws.
#[pyclass(name = "Seen", module = "contend", frozen, get_all)]
pub(crate) struct PySeen {
    /// Number of stations that have a frame to send, if `reads` is "contenders"; otherwise None. No real station knows
    /// it.
    contenders: Option<u32>,
    /// Size of the IP packet that waits, in bytes; 0 if none waits.
    bytes: u32,
    /// True if a busy slot counts as one slot of this station's backoff.
    busy_counts: bool,
    /// If `reads` is "channel": the idle slots before each busy period since the last draw, at most 4096.
    heard: Vec<u32>,
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyCell>()?;
    m.add_class::<PyDraw>()?;
    m.add_class::<PySeen>()
}
