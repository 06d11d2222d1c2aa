//! Closed forms of saturated stations (Bianchi), of two stations exactly, of cycle times (Medepalli and Tobagi), and of
//! the windows and queues of an access point (Keceli 2008).

use super::{LONGEST, Model, Parameter, model, whole};
use crate::reading::expression::Dimension;
use contend_theory::Invalid;
use contend_theory::bianchi::{self, STATIONS_LIMIT, Saturation};
use contend_theory::cycle_time::Cycle;
use contend_theory::dcf::{ATTEMPTS_LIMIT, CW_LIMIT};
use contend_theory::fcwa::{Mix, fixed_window};
use contend_theory::two_station::{self, BusySlot, TwoStation};
use contend_theory::{Backoff, SlotTimes};

const BIANCHI: &str = "Bianchi 2000, with the limit on attempts of Bianchi, Tinnirello 2005";
const CHAIN: &str = "own derivation: the Markov chain of both stations' backoff, embedded at the ends of transmissions";

pub(super) const MODELS: &[Model] = &[
    model(
        "bianchi.throughput",
        Dimension::Rate,
        "total throughput of n saturated stations",
        BIANCHI,
        &SATURATED,
        |a| Ok(saturation(a)?.throughput_bps),
    ),
    model(
        "bianchi.collision_probability",
        Dimension::Number,
        "share of attempts that collide among n saturated stations",
        BIANCHI,
        &CONTENDING,
        |a| Ok(bianchi::fixed_point(&backoff(&a[1..]), whole(a[0]))?.1),
    ),
    model(
        "bianchi.service_time",
        Dimension::Time,
        "mean time of a packet at the head of one of n saturated stations",
        BIANCHI,
        &SATURATED,
        |a| Ok(saturation(a)?.service_us / 1e6),
    ),
    model(
        "bianchi.tau",
        Dimension::Number,
        "probability that one of n saturated stations transmits in a slot",
        BIANCHI,
        &CONTENDING,
        |a| Ok(bianchi::fixed_point(&backoff(&a[1..]), whole(a[0]))?.0),
    ),
    model(
        "bianchi.drop_probability",
        Dimension::Number,
        "share of the packets of n saturated stations that are dropped after the last attempt",
        BIANCHI,
        &SATURATED,
        |a| Ok(saturation(a)?.drop),
    ),
    model(
        "two_station.throughput",
        Dimension::Rate,
        "total throughput of two saturated stations, exact",
        CHAIN,
        &PAIR,
        |a| pair(&a[5..], a[0])?.throughput_bps(&times(a)),
    )
    .slow(),
    model(
        "two_station.collision_probability",
        Dimension::Number,
        "share of attempts that collide between two saturated stations, exact",
        CHAIN,
        &PAIR_ALONE,
        |a| Ok(pair(a, a[3])?.p),
    )
    .slow(),
    model(
        "cycle_time",
        Dimension::Time,
        "mean time in which access point and station succeed once each",
        "Keceli, Inan, Ayanoglu 2008 §III-B eqs. 7-9, after Medepalli, Tobagi 2005",
        &CELL,
        cycle_time,
    ),
    model(
        "cycle_time.pair",
        Dimension::Time,
        "mean time in which each of two saturated stations succeeds once",
        "Keceli, Inan, Ayanoglu 2008 §III-B, after Medepalli, Tobagi 2005",
        &TWO,
        |a| cycle(&a[3..], a[6])?.time(a[0], a[1], a[2]),
    ),
    model(
        "fcwa.window",
        Dimension::Packets,
        "largest window that does not overflow the access point's queue",
        "Keceli, Inan, Ayanoglu 2008 §III eqs. 4, 6",
        &WINDOW,
        |a| mix(&a[2..])?.window(a[0], a[1]),
    ),
    model(
        "fcwa.buffer",
        Dimension::Packets,
        "queue of the access point that flows with this window need, below 0 if they need none",
        "Keceli, Inan, Ayanoglu 2008 §III eq. 10",
        &BUFFER,
        |a| mix(&a[2..])?.buffer(a[0], a[1]),
    ),
    model(
        "fcwa.flow_time",
        Dimension::Time,
        "CT_flow, mean time between two data packets of a flow",
        "Keceli, Inan, Ayanoglu 2008 §III eqs. 3, 5",
        &CELL,
        |a| mix(a)?.ct_flow(),
    ),
    model(
        "fcwa.throughput",
        Dimension::Rate,
        "total throughput of all flows, each with the largest window that does not overflow the queue",
        "Keceli, Inan, Ayanoglu 2008 §III eqs. 3, 5",
        &THROUGHPUT,
        |a| mix(&a[1..])?.throughput(a[0] * 8.0),
    ),
    model(
        "fcwa.fixed_window",
        Dimension::Packets,
        "window of one flow if all share the access point's queue equally, at least one packet: the fixed rule",
        "Pilosof, Ramjee, Raz, Shavitt, Sinha 2003",
        &[FLOWS, BUFFER_SIZE],
        |a| Ok(fixed_window(whole(a[0]), whole(a[1])).into()),
    ),
];

const N: Parameter = Parameter::whole("n", 1.0, STATIONS_LIMIT as f64, "number of saturated stations");
const SLOT: Parameter = Parameter::time("slot", "slot time");
const TS: Parameter = Parameter::time("ts", "channel time of a success, DIFS included");
const TC: Parameter = Parameter::time("tc", "channel time of a collision, DIFS included");
const PAYLOAD: Parameter = Parameter::new("payload", Dimension::Bytes, 1.0, 1e9, "payload of a packet");
const CWMIN: Parameter = Parameter::whole("cwmin", 0.0, CW_LIMIT as f64, "CWmin").default(15.0);
const CWMAX: Parameter = Parameter::whole("cwmax", 0.0, CW_LIMIT as f64, "CWmax").default(1023.0);
const ATTEMPTS: Parameter =
    Parameter::whole("attempts", 0.0, ATTEMPTS_LIMIT as f64, "largest number of attempts of a frame; 0 for no limit")
        .default(7.0);
const COUNTED: Parameter = Parameter::switch("counted", 0.0, "1 if a busy slot counts, 0 if counters are frozen");

const SATURATED: [Parameter; 8] = [N, SLOT, TS, TC, PAYLOAD, CWMIN, CWMAX, ATTEMPTS];
const CONTENDING: [Parameter; 4] = [N, CWMIN, CWMAX, ATTEMPTS];
const PAIR: [Parameter; 8] = [COUNTED, SLOT, TS, TC, PAYLOAD, CWMIN, CWMAX, ATTEMPTS];
const PAIR_ALONE: [Parameter; 4] = [CWMIN, CWMAX, ATTEMPTS, COUNTED];

const UP: Parameter = Parameter::number("n_up", 0.0, 1e6, "uploads");
const DOWN: Parameter = Parameter::number("n_down", 0.0, 1e6, "downloads");
const FLOWS: Parameter = Parameter::whole("n", 1.0, 2e6, "uploads and downloads together");
const B: Parameter = Parameter::number("b", 1.0, 1000.0, "data packets per TCP ACK").default(1.0);
const TS_DATA: Parameter = Parameter::time("ts_data", "exchange of a data packet, DIFS included");
const TS_ACK: Parameter = Parameter::time("ts_ack", "exchange of a TCP ACK, DIFS included");
const FORM: Parameter = Parameter::whole(
    "form",
    0.0,
    2.0,
    "0: M2, frozen counters; 1: M1, Bianchi's renewal form; 2: the exact chain, frozen counters",
)
.default(0.0);
const DELAY: Parameter = Parameter::new("delay", Dimension::Time, 0.0, LONGEST, "LD, one-way delay of the wired side");
const BUFFER_SIZE: Parameter = Parameter::packets("buffer", "BS_AP, packets that may wait at the access point");

const TWO: [Parameter; 7] = [
    SLOT,
    Parameter::time("ts_x", "exchange of one station's frame, DIFS included"),
    Parameter::time("ts_y", "exchange of the other station's frame, DIFS included"),
    CWMIN,
    CWMAX,
    ATTEMPTS,
    FORM,
];
const CELL: [Parameter; 10] = [UP, DOWN, B, SLOT, TS_DATA, TS_ACK, CWMIN, CWMAX, ATTEMPTS, FORM];
const WINDOW: [Parameter; 12] = in_a_cell([DELAY, BUFFER_SIZE]);
const BUFFER: [Parameter; 12] = in_a_cell([DELAY, Parameter::packets("window", "window of each flow")]);
const THROUGHPUT: [Parameter; 11] = in_a_cell([PAYLOAD]);

/// `first`, then the parameters of a cell.
const fn in_a_cell<const FIRST: usize, const ALL: usize>(first: [Parameter; FIRST]) -> [Parameter; ALL] {
    let mut all = [UP; ALL];
    let mut i = 0;
    while i < ALL {
        all[i] = if i < FIRST { first[i] } else { CELL[i - FIRST] };
        i += 1;
    }
    all
}

/// The arguments begin with cwmin, cwmax and attempts.
fn backoff(a: &[f64]) -> Backoff {
    let attempts = whole(a[2]);
    Backoff { cw_min: whole(a[0]), cw_max: whole(a[1]), attempts: (attempts > 0).then_some(attempts) }
}

/// slot, ts, tc, payload are the second to fifth argument wherever they occur.
fn times(a: &[f64]) -> SlotTimes {
    SlotTimes { slot_us: a[1] * 1e6, ts_us: a[2] * 1e6, tc_us: a[3] * 1e6, payload_bits: a[4] * 8.0 }
}

fn saturation(a: &[f64]) -> Result<Saturation, Invalid> {
    bianchi::saturation(&backoff(&a[5..]), &times(a), whole(a[0]))
}

fn pair(a: &[f64], counted: f64) -> Result<TwoStation, Invalid> {
    two_station::solve(&backoff(a), if counted == 0.0 { BusySlot::Frozen } else { BusySlot::Counted })
}

fn cycle(a: &[f64], form: f64) -> Result<Cycle, Invalid> {
    let backoff = backoff(a);
    match whole(form) {
        0 => Cycle::m2(&backoff),
        1 => Cycle::m1(&backoff),
        _ => Cycle::exact(&backoff, BusySlot::Frozen),
    }
}

/// The arguments are those of [`CELL`].
fn cycle_time(a: &[f64]) -> Result<f64, Invalid> {
    let pairs = cycle(&a[6..], a[9])?.pairs(a[3], a[4], a[5])?;
    pairs.ct_ap(a[0], a[1], a[2])
}

/// The arguments are those of [`CELL`].
fn mix(a: &[f64]) -> Result<Mix, Invalid> {
    Ok(Mix { n_up: a[0], n_down: a[1], b: a[2], ct_ap: cycle_time(a)? })
}
