//! Queue disciplines in Python.

use super::controller::fields;
use super::{Classes, PyCx, builders, called, has, refused};
use contend_core::packet::{Body, Ecn, Flags, Packet};
use contend_core::qdisc::{self, AirReport, Backlog, DropReason, Link, Qdisc, Sink, Site};
use contend_core::registry::Args;
use contend_core::{Cx, Refusal, Span, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::BTreeSet;

pub(super) static CLASSES: Classes = Classes::new();
pub(super) static BUILDERS: [qdisc::Build; super::MOST] = builders!(build);

fn build<const AT: usize>(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let made = |py: Python<'_>| -> PyResult<Own> {
        let object = CLASSES.made(py, AT, args, None)?;
        Ok(Own {
            hears_air: has(&object, "on_air")?,
            has_deadline: has(&object, "next_deadline")?,
            cx: PyCx::lent(py)?,
            sink: Py::new(py, PySink::default())?,
            object: object.unbind(),
            backlog: Backlog::default(),
            waiting: BTreeSet::new(),
            packets: 0,
            deadline: Time::NEVER,
        })
    };
    Ok(Box::new(refused(Python::attach(made))?))
}

/// A discipline in Python.
#[derive(Debug)]
struct Own {
    object: Py<PyAny>,
    cx: Py<PyCx>,
    sink: Py<PySink>,
    hears_air: bool,
    has_deadline: bool,
    backlog: Backlog,
    /// Numbers of the packets that wait.
    waiting: BTreeSet<u64>,
    /// Packets offered so far.
    packets: u64,
    deadline: Time,
}

impl Own {
    /// Lends context and sink to `call`, and carries out what it did with packets.
    fn lend<T>(
        &mut self,
        py: Python<'_>,
        cx: &mut Cx<'_>,
        sink: &mut Sink,
        call: impl FnOnce(&Py<PyAny>, &Py<PyCx>, &Py<PySink>) -> PyResult<T>,
    ) -> PyResult<T> {
        self.cx.borrow_mut(py).take(cx);
        let answer = call(&self.object, &self.cx, &self.sink)?;
        self.cx.borrow(py).give(cx);
        let PySink { dropped, marked, marked_l4s } = std::mem::take(&mut *self.sink.borrow_mut(py));
        sink.marked += marked;
        sink.marked_l4s += marked_l4s;
        for (packet, why) in dropped {
            sink.drop(self.leaves(py, &packet, "a packet was dropped that does not wait here")?, why);
        }
        if self.has_deadline {
            let at: Option<f64> = self.object.call_method0(py, intern!(py, "next_deadline"))?.extract(py)?;
            self.deadline = at.map_or(Time::NEVER, |s| Time::ZERO + Span::from_secs_f64(s.max(0.0)));
        }
        Ok(answer)
    }

    /// `packet` waits no more. Each packet that was offered leaves or is dropped once.
    fn leaves(&mut self, py: Python<'_>, packet: &Py<PyPacket>, otherwise: &str) -> PyResult<Packet> {
        let of = packet.borrow(py);
        if !self.waiting.remove(&of.number) {
            let what = format!("{otherwise}: each packet leaves or is dropped once");
            return Err(PyValueError::new_err(what));
        }
        self.backlog.remove(&of.packet);
        Ok(of.packet)
    }
}

impl Qdisc for Own {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        self.packets += 1;
        let number = self.packets;
        self.waiting.insert(number);
        self.backlog.add(&p);
        let neighbour = link.neighbour(&p);
        let exchange = link.exchange(neighbour, p.size);
        let slot = link.slot();
        called((), |py| {
            let packet = Py::new(py, PyPacket { packet: p, number, neighbour, exchange })?;
            self.lend(py, cx, sink, |object, cx, sink| {
                object.call_method1(py, intern!(py, "enqueue"), (cx, PyLink { slot }, packet, sink)).map(drop)
            })
        });
    }

    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        let slot = link.slot();
        called(None, |py| {
            let answer = self.lend(py, cx, sink, |object, cx, sink| {
                object.call_method1(py, intern!(py, "dequeue"), (cx, PyLink { slot }, sink))
            })?;
            if answer.is_none(py) {
                if self.backlog.packets > 0 && self.deadline == Time::NEVER {
                    return Err(PyValueError::new_err(format!(
                        "dequeue returned None although {} packets wait; a discipline that holds packets back has \
                            a method next_deadline",
                        self.backlog.packets
                    )));
                }
                return Ok(None);
            }
            let Ok(packet) = answer.cast_bound::<PyPacket>(py) else {
                let what = answer.bind(py).repr()?;
                return Err(PyTypeError::new_err(format!("dequeue must return a packet or None, not {what}")));
            };
            self.leaves(py, &packet.clone().unbind(), "dequeue returned a packet that does not wait here").map(Some)
        })
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn next_deadline(&self) -> Time {
        self.deadline
    }

    fn on_air(&mut self, report: &AirReport) {
        called((), |py| self.object.call_method1(py, intern!(py, "on_air"), (PyAirReport(*report),)).map(drop));
    }

    fn hears_air(&self) -> bool {
        self.hears_air
    }
}

/// A packet in a queue.
#[pyclass(name = "Packet", module = "contend")]
pub(crate) struct PyPacket {
    packet: Packet,
    number: u64,
    neighbour: u32,
    exchange: Span,
}

impl PyPacket {
    fn tcp(&self) -> Option<&contend_core::packet::Segment> {
        self.packet.tcp()
    }
}

#[pymethods]
impl PyPacket {
    /// Size of the IP packet in bytes.
    #[getter]
    fn size(&self) -> u32 {
        self.packet.size
    }
    /// Number of its flow in the network.
    #[getter]
    fn flow(&self) -> u32 {
        self.packet.flow.0
    }
    /// Number of the sender's address.
    #[getter]
    fn src(&self) -> u32 {
        self.packet.src.0
    }
    /// Number of the receiver's address.
    #[getter]
    fn dst(&self) -> u32 {
        self.packet.dst.0
    }
    /// When it left the sender, in seconds.
    #[getter]
    fn sent(&self) -> f64 {
        self.packet.sent.as_secs_f64()
    }
    /// When it entered this queue, in seconds.
    #[getter]
    fn queued(&self) -> f64 {
        self.packet.queued.as_secs_f64()
    }
    /// "not_ect", "ect" for ECT(0), "ect1" for ECT(1), or "ce".
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.packet.ecn() {
            Ecn::NotEct => "not_ect",
            Ecn::Ect1 => "ect1",
            Ecn::Ect => "ect",
            Ecn::Ce => "ce",
        }
    }
    /// The Differentiated Services code point of a real packet; 0: that of its flow.
    #[getter]
    fn dscp(&self) -> u8 {
        self.packet.dscp
    }
    /// The neighbour that receives it: a station of the cell, from 1 on; 0 if there is only one.
    #[getter]
    fn neighbour(&self) -> u32 {
        self.neighbour
    }
    /// How long its exchange with the neighbour occupies the medium, in seconds, without backoff and retries.
    #[getter]
    fn exchange(&self) -> f64 {
        self.exchange.as_secs_f64()
    }
    /// True for a packet of TCP that can be read, as opposed to UDP and to sealed packets.
    #[getter]
    fn is_tcp(&self) -> bool {
        self.tcp().is_some()
    }
    /// True for an acknowledgment without data.
    #[getter]
    fn is_ack(&self) -> bool {
        self.tcp().is_some_and(|s| s.len == 0 && s.flags.has(Flags::ACK) && !s.flags.has(Flags::SYN))
    }
    /// First byte of a TCP packet's payload, or the number of a datagram; None for a sealed packet.
    #[getter]
    fn seq(&self) -> Option<u64> {
        match self.packet.body {
            Body::Udp { seq } => Some(seq),
            Body::Tcp(_) => self.tcp().map(|s| s.seq),
        }
    }
    /// Next byte that a TCP packet expects; None for others.
    #[getter]
    fn ack(&self) -> Option<u64> {
        self.tcp().map(|s| s.ack)
    }
    /// Payload of a TCP packet in bytes; None for others.
    #[getter]
    fn len(&self) -> Option<u32> {
        self.tcp().map(|s| s.len)
    }
}

/// Where a discipline drops and marks packets.
#[pyclass(name = "Sink", module = "contend")]
#[derive(Debug, Default)]
pub(crate) struct PySink {
    dropped: Vec<(Py<PyPacket>, DropReason)>,
    marked: u64,
    /// How many of them had ECT(1).
    marked_l4s: u64,
}

#[pymethods]
impl PySink {
    /// Drops a packet: "full" (no room), "early" (a signal to the sender) or "filtered" (no loss: a later
    /// acknowledgment says the same).
    #[pyo3(signature = (packet, why="full"))]
    fn drop(&mut self, packet: Py<PyPacket>, why: &str) -> PyResult<()> {
        let why = match why {
            "full" => DropReason::Full,
            "early" => DropReason::Early,
            "filtered" => DropReason::Filtered,
            _ => {
                let text = format!("why is {why:?}; use \"full\", \"early\" or \"filtered\"");
                return Err(PyValueError::new_err(text));
            }
        };
        self.dropped.push((packet, why));
        Ok(())
    }

    /// Marks a packet as having met congestion, if its transport supports ECN. Returns true if it does.
    fn mark(&mut self, mut packet: PyRefMut<'_, PyPacket>) -> bool {
        let mut sink = Sink::default();
        let can = sink.mark(&mut packet.packet);
        self.marked += sink.marked;
        self.marked_l4s += sink.marked_l4s;
        can
    }
}

/// The transmitter of a queue.
#[pyclass(name = "Link", module = "contend", frozen)]
pub(crate) struct PyLink {
    slot: Span,
}

#[pymethods]
impl PyLink {
    /// A backoff slot in seconds; 0 on a wire.
    #[getter]
    fn slot(&self) -> f64 {
        self.slot.as_secs_f64()
    }
}

/// Report of one attempt on the air.
#[pyclass(name = "AirReport", module = "contend", frozen)]
pub(crate) struct PyAirReport(AirReport);

fields! {
    PyAirReport {
        /// The end of the attempt in seconds.
        now: f64 = |r| r.now.as_secs_f64(),
        /// The station, from 1.
        station: u32 = |r| r.station,
        /// True if the station sent, false if the access point sent.
        up: bool = |r| r.up,
        /// Time on the air in seconds, without inter-frame space and backoff.
        airtime: f64 = |r| r.airtime.as_secs_f64(),
        /// True if the attempt was acknowledged.
        success: bool = |r| r.success,
        /// IP bytes of its packets.
        bytes: u32 = |r| r.bytes,
        /// Number of packets that wait at the access point.
        waiting: u64 = |r| r.waiting,
    }
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyPacket>()?;
    m.add_class::<PySink>()?;
    m.add_class::<PyLink>()?;
    m.add_class::<PyAirReport>()
}
