//! Closed forms of saturated stations (Bianchi), of two stations exactly, of cycle times (Medepalli and Tobagi) and of
//! windows and buffers of an access point (Keceli 2008).

use super::{Model, Parameter, model, optional, required, said, whole};
use crate::reading::expression::Dimension;
use contend_theory::bianchi::{self, Saturation};
use contend_theory::cycle_time::Cycle;
use contend_theory::fcwa::Mix;
use contend_theory::two_station::{self, BusySlot, TwoStation};
use contend_theory::{Backoff, SlotTimes};

const BIANCHI: &str = "Bianchi 2000, with the limit on attempts of Bianchi, Tinnirello 2005";
const CHAIN: &str = "own derivation: the Markov chain of both stations' backoff, embedded at the ends of transmissions";

pub(super) const MODELS: &[Model] = &[
    model("bianchi.throughput", Dimension::Rate, "bit/s of n saturated stations together", BIANCHI, &SATURATED, |a| {
        Ok(saturation(a)?.throughput_bps)
    }),
    model(
        "bianchi.collision_probability",
        Dimension::Number,
        "share of attempts that collide among n saturated stations",
        BIANCHI,
        &CONTENDING,
        |a| Ok(said(bianchi::fixed_point(&backoff(&a[1..])?, whole("n", a[0])?))?.1),
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
        |a| Ok(said(bianchi::fixed_point(&backoff(&a[1..])?, whole("n", a[0])?))?.0),
    ),
    model(
        "bianchi.drop_probability",
        Dimension::Number,
        "share of the packets of n saturated stations that are given up after the last attempt",
        BIANCHI,
        &SATURATED,
        |a| Ok(saturation(a)?.drop),
    ),
    model(
        "two_station.throughput",
        Dimension::Rate,
        "bit/s of two saturated stations together, exactly",
        CHAIN,
        &PAIR,
        |a| said(pair(a)?.throughput_bps(&times(a)?)),
    ),
    model(
        "two_station.collision_probability",
        Dimension::Number,
        "share of attempts that collide between two saturated stations, exactly",
        CHAIN,
        &PAIR_ALONE,
        |a| Ok(said(two_station::solve(&backoff(a)?, busy(a[3])))?.p),
    ),
    model(
        "cycle_time",
        Dimension::Time,
        "mean time in which access point and station succeed once each",
        "Keceli, Inan, Ayanoglu 2008 §III-B eqs. 7-9, after Medepalli, Tobagi 2005; form M2",
        &CYCLE,
        cycle,
    ),
    model(
        "fcwa.window",
        Dimension::Packets,
        "largest window that does not overflow the access point's queue",
        "Keceli, Inan, Ayanoglu 2008 §III eqs. 4, 6",
        &WINDOW,
        |a| said(mix(&a[2..])?.window(a[0], a[1])),
    ),
    model(
        "fcwa.buffer",
        Dimension::Packets,
        "queue of the access point that flows of this window need, below 0 when none",
        "Keceli, Inan, Ayanoglu 2008 §III eq. 10",
        &BUFFER,
        |a| said(mix(&a[2..])?.buffer(a[0], a[1])),
    ),
];

const N: Parameter = required("n", Dimension::Number, "number of saturated stations");
const SLOT: Parameter = required("slot", Dimension::Time, "slot time");
const TS: Parameter = required("ts", Dimension::Time, "channel time of a success, DIFS included");
const TC: Parameter = required("tc", Dimension::Time, "channel time of a collision, DIFS included");
const PAYLOAD: Parameter = required("payload", Dimension::Bytes, "payload of a packet");
const CWMIN: Parameter = optional("cwmin", Dimension::Number, 15.0, "CWmin");
const CWMAX: Parameter = optional("cwmax", Dimension::Number, 1023.0, "CWmax");
const ATTEMPTS: Parameter = optional("attempts", Dimension::Number, 7.0, "most attempts of a frame; 0 without a limit");
const COUNTED: Parameter =
    optional("counted", Dimension::Number, 0.0, "1 when a busy slot counts, 0 when counters are frozen");

const SATURATED: [Parameter; 8] = [N, SLOT, TS, TC, PAYLOAD, CWMIN, CWMAX, ATTEMPTS];
const CONTENDING: [Parameter; 4] = [N, CWMIN, CWMAX, ATTEMPTS];
const PAIR: [Parameter; 8] = [COUNTED, SLOT, TS, TC, PAYLOAD, CWMIN, CWMAX, ATTEMPTS];
const PAIR_ALONE: [Parameter; 4] = [CWMIN, CWMAX, ATTEMPTS, COUNTED];
const UP: Parameter = required("n_up", Dimension::Number, "uploads");
const DOWN: Parameter = required("n_down", Dimension::Number, "downloads");
const B: Parameter = optional("b", Dimension::Number, 1.0, "data packets per TCP ACK");
const TS_DATA: Parameter = required("ts_data", Dimension::Time, "exchange of a data packet, DIFS included");
const TS_ACK: Parameter = required("ts_ack", Dimension::Time, "exchange of a TCP ACK, DIFS included");
const DELAY: Parameter = required("delay", Dimension::Time, "LD, one-way delay of the wired side");
const CYCLE: [Parameter; 9] = [UP, DOWN, B, SLOT, TS_DATA, TS_ACK, CWMIN, CWMAX, ATTEMPTS];
const WINDOW: [Parameter; 11] = [
    DELAY,
    required("buffer", Dimension::Packets, "BS_AP, packets that may wait at the access point"),
    UP,
    DOWN,
    B,
    SLOT,
    TS_DATA,
    TS_ACK,
    CWMIN,
    CWMAX,
    ATTEMPTS,
];
const BUFFER: [Parameter; 11] = [
    DELAY,
    required("window", Dimension::Packets, "window of each flow"),
    UP,
    DOWN,
    B,
    SLOT,
    TS_DATA,
    TS_ACK,
    CWMIN,
    CWMAX,
    ATTEMPTS,
];

fn backoff(a: &[f64]) -> Result<Backoff, String> {
    let attempts = whole("attempts", a[2])?;
    Ok(Backoff {
        cw_min: whole("cwmin", a[0])?,
        cw_max: whole("cwmax", a[1])?,
        attempts: (attempts > 0).then_some(attempts),
    })
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
