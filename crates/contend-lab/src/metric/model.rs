//! Closed forms that a claim can hold a run against: `model("bianchi.throughput", n = 5, ...)`.
//!
//! Arguments and results are in this language's base units; `contend-theory` counts in microseconds.

use crate::file::Dimension;
use contend_theory::bianchi::{self, Saturation};
use contend_theory::cycle_time::Cycle;
use contend_theory::fcwa::Mix;
use contend_theory::padhye::{self, Path};
use contend_theory::two_station::{self, BusySlot, TwoStation};
use contend_theory::{Backoff, Invalid, SlotTimes};

/// A closed form by name.
#[derive(Debug)]
pub struct Model {
    /// Its name in expressions.
    pub name: &'static str,
    /// What it predicts, and from where.
    pub doc: &'static str,
    /// What it takes, in the order in which unnamed arguments are counted.
    pub parameters: &'static [Parameter],
    /// What it yields.
    pub unit: Dimension,
    run: fn(&[f64]) -> Result<f64, String>,
}

/// One argument of a [`Model`].
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it measures.
    pub unit: Dimension,
    /// Its value when it is not given; without one it must be.
    pub default: Option<f64>,
}

/// Every closed form.
pub const MODELS: &[Model] = &[
    Model {
        name: "bianchi.throughput",
        doc: "bit/s of n saturated stations together; Bianchi 2000, attempts = 0 without a limit",
        parameters: &SATURATED,
        unit: Dimension::Rate,
        run: |a| Ok(saturation(a)?.throughput_bps),
    },
    Model {
        name: "bianchi.collision_probability",
        doc: "share of attempts that collide among n saturated stations; Bianchi 2000",
        parameters: &CONTENDING,
        unit: Dimension::Number,
        run: |a| Ok(said(bianchi::fixed_point(&backoff(&a[1..])?, whole("n", a[0])?))?.1),
    },
    Model {
        name: "bianchi.service_time",
        doc: "mean time of a packet at the head of one of n saturated stations; Bianchi 2000",
        parameters: &SATURATED,
        unit: Dimension::Time,
        run: |a| Ok(saturation(a)?.service_us / 1e6),
    },
    Model {
        name: "two_station.throughput",
        doc: "bit/s of two saturated stations together, exactly; counted = 1 when a busy slot counts",
        parameters: &PAIR,
        unit: Dimension::Rate,
        run: |a| said(pair(a)?.throughput_bps(&times(a)?)),
    },
    Model {
        name: "two_station.collision_probability",
        doc: "share of attempts that collide between two saturated stations, exactly",
        parameters: &PAIR_ALONE,
        unit: Dimension::Number,
        run: |a| Ok(said(two_station::solve(&backoff(a)?, busy(a[3])))?.p),
    },
    Model {
        name: "cycle_time",
        doc: "mean time in which access point and station succeed once each; Keceli 2008 eqs. 7-9, M2",
        parameters: &CYCLE,
        unit: Dimension::Time,
        run: cycle,
    },
    Model {
        name: "fcwa.window",
        doc: "largest window that does not overflow the access point's queue; Keceli 2008 eqs. 4, 6",
        parameters: &WINDOW,
        unit: Dimension::Packets,
        run: |a| said(mix(&a[2..])?.window(a[0], a[1])),
    },
    Model {
        name: "fcwa.buffer",
        doc: "queue of the access point that flows of this window need, below 0 when none; Keceli 2008 eq. 10",
        parameters: &BUFFER,
        unit: Dimension::Packets,
        run: |a| said(mix(&a[2..])?.buffer(a[0], a[1])),
    },
    Model {
        name: "padhye.rate",
        doc: "packets per second of a Reno flow; Padhye 1998 eq. 30, window = 0 without a limit",
        parameters: &PATH,
        unit: Dimension::Number,
        run: padhye_rate,
    },
    Model {
        name: "padhye.square_root_window",
        doc: "mean window of a flow that loses each packet with probability p; Jersey 2005 eq. 2.2",
        parameters: &[required("p", Dimension::Number)],
        unit: Dimension::Packets,
        run: |a| said(padhye::square_root_window(a[0])),
    },
];

const fn required(name: &'static str, unit: Dimension) -> Parameter {
    Parameter { name, unit, default: None }
}

const fn optional(name: &'static str, unit: Dimension, value: f64) -> Parameter {
    Parameter { name, unit, default: Some(value) }
}

const N: Parameter = required("n", Dimension::Number);
const SLOT: Parameter = required("slot", Dimension::Time);
const TS: Parameter = required("ts", Dimension::Time);
const TC: Parameter = required("tc", Dimension::Time);
const PAYLOAD: Parameter = required("payload", Dimension::Bytes);
const CWMIN: Parameter = optional("cwmin", Dimension::Number, 15.0);
const CWMAX: Parameter = optional("cwmax", Dimension::Number, 1023.0);
const ATTEMPTS: Parameter = optional("attempts", Dimension::Number, 7.0);
const COUNTED: Parameter = optional("counted", Dimension::Number, 0.0);

const SATURATED: [Parameter; 8] = [N, SLOT, TS, TC, PAYLOAD, CWMIN, CWMAX, ATTEMPTS];
const CONTENDING: [Parameter; 4] = [N, CWMIN, CWMAX, ATTEMPTS];
const PAIR: [Parameter; 8] = [COUNTED, SLOT, TS, TC, PAYLOAD, CWMIN, CWMAX, ATTEMPTS];
const PAIR_ALONE: [Parameter; 4] = [CWMIN, CWMAX, ATTEMPTS, COUNTED];
const UP: Parameter = required("n_up", Dimension::Number);
const DOWN: Parameter = required("n_down", Dimension::Number);
const B: Parameter = optional("b", Dimension::Number, 1.0);
const TS_DATA: Parameter = required("ts_data", Dimension::Time);
const TS_ACK: Parameter = required("ts_ack", Dimension::Time);
const DELAY: Parameter = required("delay", Dimension::Time);
const CYCLE: [Parameter; 9] = [UP, DOWN, B, SLOT, TS_DATA, TS_ACK, CWMIN, CWMAX, ATTEMPTS];
const WINDOW: [Parameter; 11] = [DELAY, required("buffer", Dimension::Packets), UP, DOWN, B, SLOT, TS_DATA, TS_ACK, CWMIN, CWMAX, ATTEMPTS];
const BUFFER: [Parameter; 11] = [DELAY, required("window", Dimension::Packets), UP, DOWN, B, SLOT, TS_DATA, TS_ACK, CWMIN, CWMAX, ATTEMPTS];
const PATH: [Parameter; 5] = [
    required("p", Dimension::Number),
    required("rtt", Dimension::Time),
    required("t0", Dimension::Time),
    optional("b", Dimension::Number, 1.0),
    optional("window", Dimension::Packets, 0.0),
];

impl Model {
    /// Its value for one argument per parameter, defaults filled in.
    pub(super) fn value(&self, arguments: &[f64]) -> Result<f64, String> {
        if arguments.len() != self.parameters.len() {
            return Err(format!("`{}` takes {} arguments", self.name, self.parameters.len()));
        }
        (self.run)(arguments)
    }
}

/// Two models are the same when they have the same name.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.name == other.name
    }
}

fn said<T>(result: Result<T, Invalid>) -> Result<T, String> {
    result.map_err(|e| e.to_string())
}

fn whole(name: &str, x: f64) -> Result<u32, String> {
    if x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&x) { Ok(x as u32) } else { Err(format!("{name}: is {x}, must be a whole number")) }
}

fn backoff(a: &[f64]) -> Result<Backoff, String> {
    let attempts = whole("attempts", a[2])?;
    Ok(Backoff { cw_min: whole("cwmin", a[0])?, cw_max: whole("cwmax", a[1])?, attempts: (attempts > 0).then_some(attempts) })
}

/// slot, ts, tc, payload are the second to fifth argument wherever they occur.
fn times(a: &[f64]) -> Result<SlotTimes, String> {
    Ok(SlotTimes { slot_us: a[1] * 1e6, ts_us: a[2] * 1e6, tc_us: a[3] * 1e6, payload_bits: a[4] * 8.0 })
}

fn saturation(a: &[f64]) -> Result<Saturation, String> {
    said(bianchi::saturation(&backoff(&a[5..])?, &times(a)?, whole("n", a[0])?))
}

fn busy(counted: f64) -> BusySlot {
    if counted == 0.0 { BusySlot::Frozen } else { BusySlot::Counted }
}

fn pair(a: &[f64]) -> Result<TwoStation, String> {
    said(two_station::solve(&backoff(&a[5..])?, busy(a[0])))
}

fn cycle(a: &[f64]) -> Result<f64, String> {
    let pairs = said(said(Cycle::m2(&backoff(&a[6..])?))?.pairs(a[3], a[4], a[5]))?;
    said(pairs.ct_ap(a[0], a[1], a[2]))
}

fn mix(a: &[f64]) -> Result<Mix, String> {
    Ok(Mix { n_up: a[0], n_down: a[1], b: a[2], ct_ap: cycle(a)? })
}

fn padhye_rate(a: &[f64]) -> Result<f64, String> {
    said(padhye::padhye(a[0], &Path { rtt_s: a[1], t0_s: a[2], b: a[3], window: (a[4] > 0.0).then_some(a[4]) }))
}
