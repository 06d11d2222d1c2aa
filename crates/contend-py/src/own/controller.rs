//! Congestion controllers in Python.

use super::{Classes, PyCx, builders, called, has, refused};
use contend_core::cc::{Ack, CaState, Cause, Controller, Needs, RateSample, Response, Signal, Window};
use contend_core::registry::Args;
use contend_core::{Cx, Refusal, Span, Time, cc};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

pub(super) static CLASSES: Classes = Classes::new();
pub(super) static BUILDERS: [cc::Build; super::MOST] = builders!(build);

fn build<const AT: usize>(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let made = |py: Python<'_>| -> PyResult<Own> {
        let object = CLASSES.made(py, AT, args, None)?;
        let needs = object.call_method0("needs")?.extract::<PyNeeds>()?.0;
        let own = |method| has(&object, method);
        Ok(Own {
            every_ack: own("on_every_ack")?,
            lost: own("on_lost")?,
            recovered: own("on_recovered")?,
            undo: own("on_undo")?,
            restart: own("on_restart")?,
            needs,
            cx: PyCx::lent(py)?,
            window: Py::new(py, PyWindow(Window::default()))?,
            object: object.unbind(),
        })
    };
    Ok(Box::new(refused(Python::attach(made))?))
}

/// A controller in Python.
#[derive(Debug)]
struct Own {
    object: Py<PyAny>,
    needs: Needs,
    /// The objects that calls lend.
    cx: Py<PyCx>,
    window: Py<PyWindow>,
    /// Methods that the class has.
    every_ack: bool,
    lost: bool,
    recovered: bool,
    undo: bool,
    restart: bool,
}

impl Own {
    /// Lends context and window to `call`, and takes back what it changed.
    fn lend<T>(
        &self,
        py: Python<'_>,
        cx: Option<&mut Cx<'_>>,
        w: &mut Window,
        call: impl FnOnce(&Py<PyAny>, &Py<PyCx>, &Py<PyWindow>) -> PyResult<T>,
    ) -> PyResult<T> {
        if let Some(cx) = &cx {
            self.cx.borrow_mut(py).take(cx);
        }
        self.window.borrow_mut(py).0 = *w;
        let answer = call(&self.object, &self.cx, &self.window)?;
        if let Some(cx) = cx {
            self.cx.borrow(py).give(cx);
        }
        let changed = self.window.borrow(py).0;
        if changed.cwnd == 0 {
            return Err(PyValueError::new_err("cwnd is 0: a window has at least 1 segment"));
        }
        *w = changed;
        Ok(answer)
    }
}

impl Controller for Own {
    fn on_start(&mut self, w: &mut Window) {
        called((), |py| self.lend(py, None, w, |o, _, w| o.call_method1(py, intern!(py, "on_start"), (w,)).map(drop)));
    }

    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        called((), |py| {
            self.lend(py, Some(cx), w, |object, cx, w| {
                object.call_method1(py, intern!(py, "on_ack"), (cx, w, PyAck(*ack))).map(drop)
            })
        });
    }

    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        if self.every_ack {
            called((), |py| {
                self.lend(py, Some(cx), w, |object, cx, w| {
                    object.call_method1(py, intern!(py, "on_every_ack"), (cx, w, PyAck(*ack))).map(drop)
                })
            });
        }
    }

    fn on_lost(&mut self, cx: &mut Cx, w: &mut Window, lost: &RateSample) {
        if self.lost {
            called((), |py| {
                self.lend(py, Some(cx), w, |object, cx, w| {
                    object.call_method1(py, intern!(py, "on_lost"), (cx, w, PyRateSample(*lost))).map(drop)
                })
            });
        }
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        let keep = Response::keep(w);
        called(keep, |py| {
            let mut window = *w;
            let answer = self.lend(py, Some(cx), &mut window, |object, cx, w| {
                let ack = ack.map(|a| PyAck(*a));
                object.call_method1(py, intern!(py, "on_congestion"), (cx, w, ack, PySignal(why)))
            })?;
            let Ok(response) = answer.extract::<PyResponse>(py) else {
                let what = answer.bind(py).repr()?;
                return Err(PyTypeError::new_err(format!("on_congestion must return a contend.Response, not {what}")));
            };
            Ok(response.0)
        })
    }

    fn on_recovered(&mut self, cx: &mut Cx, w: &mut Window) {
        if self.recovered {
            called((), |py| {
                self.lend(py, Some(cx), w, |object, cx, w| {
                    object.call_method1(py, intern!(py, "on_recovered"), (cx, w)).map(drop)
                })
            });
        }
    }

    fn on_undo(&mut self, w: &mut Window) {
        if self.undo {
            called((), |py| {
                self.lend(py, None, w, |object, _, w| object.call_method1(py, intern!(py, "on_undo"), (w,)).map(drop))
            });
        }
    }

    fn on_restart(&mut self, w: &mut Window, now: Time, idle: Span) {
        if self.restart {
            called((), |py| {
                self.lend(py, None, w, |object, _, w| {
                    let times = (w, now.as_secs_f64(), idle.as_secs_f64());
                    object.call_method1(py, intern!(py, "on_restart"), times).map(drop)
                })
            });
        }
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

/// Getters for fields of the wrapped value, each with its description, and other methods: a class has one such block.
macro_rules! fields {
    (
        $class:ident { $($(#[doc = $doc:literal])+ $field:ident: $type:ty = |$of:ident| $value:expr),* $(,)? }
        $($more:tt)*
    ) => {
        #[pymethods]
        impl $class {
            $($(#[doc = $doc])+ #[getter] fn $field(&self) -> $type { let $of = &self.0; $value })*
            $($more)*
        }
    };
}
pub(super) use fields;

/// The sender's window and the state around it. A controller writes `cwnd`, `cwnd_cnt`, `ssthresh`, `pacing_rate` and
/// `app_limited`, and reads the rest.
#[pyclass(name = "Window", module = "contend")]
pub(crate) struct PyWindow(Window);

fields! {
    PyWindow {
        /// Congestion window in segments, at least 1.
        cwnd: u32 = |w| w.cwnd,
        /// Acknowledged segments that have not yet increased `cwnd` by a whole segment.
        cwnd_cnt: u32 = |w| w.cwnd_cnt,
        /// Slow-start threshold in segments.
        ssthresh: u32 = |w| w.ssthresh,
        /// Pacing rate in payload bytes per second; 0: no pacing.
        pacing_rate: u64 = |w| w.pacing_rate,
        /// Rate samples count as limited by the application until `delivered` exceeds this value; 0: they are not.
        app_limited: u32 = |w| w.app_limited,
        /// Window inflation by duplicate ACKs, in segments.
        extra: u32 = |w| w.extra,
        /// Segments sent and neither acknowledged nor known to have left the network.
        inflight: u32 = |w| w.inflight,
        /// Segments known to have reached the receiver, modulo 2^32.
        delivered: u32 = |w| w.delivered,
        /// Data segments sent, retransmissions included, modulo 2^32.
        sent: u32 = |w| w.sent,
        /// The base of a reduction in segments, as the flow's recovery chooses it.
        reduce_from: u32 = |w| w.reduce_from,
        /// Receiver's window in segments.
        rwnd: u32 = |w| w.rwnd,
        /// Maximum segment size in payload bytes.
        mss: u32 = |w| w.mss,
        /// Headers of a full data packet in bytes.
        headers: u32 = |w| w.headers,
        /// First unacknowledged byte.
        snd_una: u64 = |w| w.snd_una,
        /// Next new byte to send.
        snd_nxt: u64 = |w| w.snd_nxt,
        /// True if the window limited sending when the segments that are now acknowledged were sent.
        limited: bool = |w| w.limited,
        /// Congestion state: "open", "disorder", "cwr", "recovery" or "loss".
        state: &'static str = |w| match w.state {
            CaState::Open => "open",
            CaState::Disorder => "disorder",
            CaState::Cwr => "cwr",
            CaState::Recovery => "recovery",
            CaState::Loss => "loss",
        },
        /// Tick of the peer's timestamp clock in nanoseconds; 0 if timestamps are off.
        tick_ns: u32 = |w| w.tick_ns,
        /// True below the threshold.
        in_slow_start: bool = |w| w.in_slow_start(),
    }

    #[setter]
    fn set_cwnd(&mut self, to: u32) {
        self.0.cwnd = to;
    }
    #[setter]
    fn set_cwnd_cnt(&mut self, to: u32) {
        self.0.cwnd_cnt = to;
    }
    #[setter]
    fn set_ssthresh(&mut self, to: u32) {
        self.0.ssthresh = to;
    }
    #[setter]
    fn set_pacing_rate(&mut self, to: u64) {
        self.0.pacing_rate = to;
    }
    #[setter]
    fn set_app_limited(&mut self, to: u32) {
        self.0.app_limited = to;
    }

    /// Slow start: one segment for each of `acked`, up to the threshold. Returns the segments left for congestion
    /// avoidance.
    fn slow_start(&mut self, acked: u32) -> u32 {
        self.0.slow_start(acked)
    }

    /// Additive increase: one segment for `per` acknowledged segments.
    fn additive_increase(&mut self, per: u32, acked: u32) {
        self.0.additive_increase(per, acked);
    }
}

/// One acknowledgment.
#[pyclass(name = "Ack", module = "contend", frozen)]
pub(crate) struct PyAck(Ack);

fields! {
    PyAck {
        /// Segments newly covered by the cumulative acknowledgment.
        acked: u32 = |a| a.acked,
        /// Segments known to have reached the receiver by this acknowledgment.
        delivered: u32 = |a| a.delivered,
        /// True if the acknowledgment is a duplicate.
        dup: bool = |a| a.dup,
        /// Segments newly selectively acknowledged.
        sacked: u32 = |a| a.sacked,
        /// Segments newly taken as lost.
        lost: u32 = |a| a.lost,
        /// Round-trip sample in microseconds, if there is one.
        rtt_us: Option<u32> = |a| a.rtt_us,
        /// Smoothed round-trip time in microseconds; 0 before the first sample.
        srtt_us: u32 = |a| a.srtt_us,
        /// Mean deviation of the round-trip time in microseconds.
        rttvar_us: u32 = |a| a.rttvar_us,
        /// Smallest round-trip sample so far in microseconds; 0 before the first.
        min_rtt_us: u32 = |a| a.min_rtt_us,
        /// True if the acknowledgment reports marks.
        ece: bool = |a| a.ece,
        /// Segments newly reported as marked.
        ce: u32 = |a| a.ce,
        /// The peer's timestamp value, if the option is in use.
        tsval: Option<u32> = |a| a.tsval,
        /// True if a round trip has passed since the last acknowledgment with this flag.
        round_start: bool = |a| a.round_start,
        /// Number of nodes that forwarded the data packet that caused this acknowledgment.
        hops: u8 = |a| a.hops,
        /// Delivery-rate sample, if the controller needs it (`Needs(rate=True)`).
        rate: PyRateSample = |a| PyRateSample(a.rate),
    }
}

/// A sample of the delivery rate.
#[pyclass(name = "RateSample", module = "contend", frozen)]
pub(crate) struct PyRateSample(RateSample);

fields! {
    PyRateSample {
        /// Segments delivered in the interval.
        delivered: u32 = |r| r.delivered,
        /// `Window.delivered` when the newest segment was sent, modulo 2^32.
        prior_delivered: u32 = |r| r.prior_delivered,
        /// Length of the interval in microseconds; 0: no sample.
        interval_us: u32 = |r| r.interval_us,
        /// Segments newly taken as lost by this acknowledgment.
        losses: u32 = |r| r.losses,
        /// Segments taken as lost since the newest segment was sent.
        lost: u32 = |r| r.lost,
        /// Segments in flight right after the newest segment was sent.
        tx_in_flight: u32 = |r| r.tx_in_flight,
        /// Segments in flight before this acknowledgment.
        prior_in_flight: u32 = |r| r.prior_in_flight,
        /// Segments of `delivered` whose acknowledgment carried ECE.
        ce: u32 = |r| r.ce,
        /// True if the application, not the window, limited sending when the newest segment was sent.
        app_limited: bool = |r| r.app_limited,
        /// True if the newest segment was a retransmission.
        retrans: bool = |r| r.retrans,
    }
}

/// Why a controller is asked for a reduction.
#[pyclass(name = "Signal", module = "contend", frozen)]
pub(crate) struct PySignal(Signal);

fields! {
    PySignal {
        /// "loss", "timeout", "ecn" or "local" (the sender's own queue dropped a packet).
        kind: &'static str = |s| match s {
            Signal::Loss { .. } => "loss",
            Signal::Timeout { .. } => "timeout",
            Signal::Ecn => "ecn",
            Signal::Local => "local",
        },
        /// Of a loss: the first byte of the lost segment; otherwise None.
        seq: Option<u64> = |s| match s {
            Signal::Loss { seq, .. } => Some(*seq),
            _ => None,
        },
        /// Of a loss or timeout: true if the last acknowledgment carried ECE.
        marked: bool = |s| matches!(s, Signal::Loss { marked: true, .. } | Signal::Timeout { marked: true, .. }),
        /// Of a timeout: the number of successive expiries, from 1; otherwise 0.
        nth: u32 = |s| match s {
            Signal::Timeout { nth, .. } => *nth,
            _ => 0,
        },
        /// The true cause, "congestion" or "error", which only an oracle knows; None if nothing was lost.
        truth: Option<&'static str> = |s| match s {
            Signal::Loss { truth, .. } | Signal::Timeout { truth, .. } => truth.map(|t| match t {
                Cause::Congestion => "congestion",
                Cause::Error => "error",
            }),
            _ => None,
        },
    }
}

/// A controller's answer to a signal: threshold and window in segments, and the cause that it assumes ("congestion" or
/// "error").
#[pyclass(name = "Response", module = "contend", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct PyResponse(Response);

fields! {
    PyResponse {
        /// The new threshold.
        ssthresh: u32 = |r| r.ssthresh,
        /// The new window.
        cwnd: u32 = |r| r.cwnd,
        /// The cause that the controller assumes.
        cause: &'static str = |r| match r.cause {
            Cause::Congestion => "congestion",
            Cause::Error => "error",
        },
    }

    #[new]
    #[pyo3(signature = (ssthresh, cwnd, cause="congestion"))]
    fn new(ssthresh: u32, cwnd: u32, cause: &str) -> PyResult<PyResponse> {
        let cause = match cause {
            "congestion" => Cause::Congestion,
            "error" => Cause::Error,
            _ => return Err(PyValueError::new_err(format!("cause is {cause:?}; use \"congestion\" or \"error\""))),
        };
        if cwnd == 0 {
            return Err(PyValueError::new_err("cwnd is 0: a window has at least 1 segment"));
        }
        Ok(PyResponse(Response { ssthresh, cwnd, cause }))
    }

    /// Threshold and window are `n`, at least 2.
    #[staticmethod]
    fn to(n: u32) -> PyResponse {
        PyResponse(Response::to(n))
    }

    /// The threshold is `n`, at least 2, and the window 1: after a timeout.
    #[staticmethod]
    fn restart(n: u32) -> PyResponse {
        PyResponse(Response::restart(n))
    }

    /// The threshold is `n`, at least 2; the window is not opened.
    #[staticmethod]
    fn clamp(n: u32, w: PyRef<'_, PyWindow>) -> PyResponse {
        PyResponse(Response::clamp(n, &w.0))
    }

    /// Threshold and window stay.
    #[staticmethod]
    fn keep(w: PyRef<'_, PyWindow>) -> PyResponse {
        PyResponse(Response::keep(&w.0))
    }
}

/// What a controller requires from the stack. Each is false unless it is given.
#[pyclass(name = "Needs", module = "contend", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct PyNeeds(Needs);

#[pymethods]
impl PyNeeds {
    #[new]
    #[pyo3(signature = (
        *, grow_when_unlimited=false, every_mark=false, full_control=false, rate=false, grow_when_marked=false,
        full_gaps=false
    ))]
    fn new(
        grow_when_unlimited: bool,
        every_mark: bool,
        full_control: bool,
        rate: bool,
        grow_when_marked: bool,
        full_gaps: bool,
    ) -> PyNeeds {
        PyNeeds(Needs {
            grow_when_unlimited,
            every_mark,
            full_control,
            rate,
            grow_when_marked,
            full_gaps,
            ..Needs::default()
        })
    }
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyWindow>()?;
    m.add_class::<PyAck>()?;
    m.add_class::<PyRateSample>()?;
    m.add_class::<PySignal>()?;
    m.add_class::<PyResponse>()?;
    m.add_class::<PyNeeds>()
}
