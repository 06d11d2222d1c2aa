//! Closed forms: what expressions hold a run against (`model("bianchi.throughput", n = 5, ...)`), and what `[model]`
//! names.
//!
//! In a file about a `[model]` its name alone is the same with the arguments of that table, and `jersey.gain(aw = 0)`
//! with all but one of them.
//!
//! Arguments and results are in this language's base units; `contend-theory` counts in microseconds.

mod jersey;
mod starzetz;

use crate::expression::Dimension;
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
    /// What it predicts, in a sentence.
    pub doc: &'static str,
    /// Where it comes from.
    pub cite: &'static str,
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
    /// What it is, in a phrase.
    pub doc: &'static str,
    /// What it measures.
    pub unit: Dimension,
    /// Its value when it is not given; without one it must be.
    pub default: Option<f64>,
}

const BIANCHI: &str = "Bianchi 2000, with the limit on attempts of Bianchi, Tinnirello 2005";
const CHAIN: &str = "own derivation: the Markov chain of both stations' backoff, embedded at the ends of transmissions";

/// Every closed form.
pub const MODELS: &[Model] = &[
    Model {
        name: "bianchi.throughput",
        doc: "bit/s of n saturated stations together",
        cite: BIANCHI,
        parameters: &SATURATED,
        unit: Dimension::Rate,
        run: |a| Ok(saturation(a)?.throughput_bps),
    },
    Model {
        name: "bianchi.collision_probability",
        doc: "share of attempts that collide among n saturated stations",
        cite: BIANCHI,
        parameters: &CONTENDING,
        unit: Dimension::Number,
        run: |a| Ok(said(bianchi::fixed_point(&backoff(&a[1..])?, whole("n", a[0])?))?.1),
    },
    Model {
        name: "bianchi.service_time",
        doc: "mean time of a packet at the head of one of n saturated stations",
        cite: BIANCHI,
        parameters: &SATURATED,
        unit: Dimension::Time,
        run: |a| Ok(saturation(a)?.service_us / 1e6),
    },
    Model {
        name: "two_station.throughput",
        doc: "bit/s of two saturated stations together, exactly",
        cite: CHAIN,
        parameters: &PAIR,
        unit: Dimension::Rate,
        run: |a| said(pair(a)?.throughput_bps(&times(a)?)),
    },
    Model {
        name: "two_station.collision_probability",
        doc: "share of attempts that collide between two saturated stations, exactly",
        cite: CHAIN,
        parameters: &PAIR_ALONE,
        unit: Dimension::Number,
        run: |a| Ok(said(two_station::solve(&backoff(a)?, busy(a[3])))?.p),
    },
    Model {
        name: "cycle_time",
        doc: "mean time in which access point and station succeed once each",
        cite: "Keceli, Inan, Ayanoglu 2008 §III-B eqs. 7-9, after Medepalli, Tobagi 2005; form M2",
        parameters: &CYCLE,
        unit: Dimension::Time,
        run: cycle,
    },
    Model {
        name: "fcwa.window",
        doc: "largest window that does not overflow the access point's queue",
        cite: "Keceli, Inan, Ayanoglu 2008 §III eqs. 4, 6",
        parameters: &WINDOW,
        unit: Dimension::Packets,
        run: |a| said(mix(&a[2..])?.window(a[0], a[1])),
    },
    Model {
        name: "fcwa.buffer",
        doc: "queue of the access point that flows of this window need, below 0 when none",
        cite: "Keceli, Inan, Ayanoglu 2008 §III eq. 10",
        parameters: &BUFFER,
        unit: Dimension::Packets,
        run: |a| said(mix(&a[2..])?.buffer(a[0], a[1])),
    },
    Model {
        name: "padhye.rate",
        doc: "packets per second of a Reno flow",
        cite: "Padhye, Firoiu, Towsley, Kurose 1998 eq. 30; Jersey 2005 eq. 2.4",
        parameters: &PATH,
        unit: Dimension::Number,
        run: padhye_rate,
    },
    Model {
        name: "padhye.square_root_window",
        doc: "mean window of a flow that loses each packet with probability p",
        cite: "Mathis, Semke, Mahdavi, Ott 1997, as Jersey 2005 eq. 2.2 has it",
        parameters: &[required("p", Dimension::Number, "share of packets lost")],
        unit: Dimension::Packets,
        run: |a| said(padhye::square_root_window(a[0])),
    },
    Model {
        name: "padhye.square_root_rate",
        doc: "packets per second of a flow that loses each packet with probability p, without timeouts",
        cite: "Mathis, Semke, Mahdavi, Ott 1997, as Jersey 2005 eq. 2.3 has it",
        parameters: &[
            required("p", Dimension::Number, "share of packets lost"),
            required("rtt", Dimension::Time, "RTT, mean round-trip time"),
        ],
        unit: Dimension::Number,
        run: |a| said(padhye::square_root_rate(a[0], a[1])),
    },
    Model {
        name: "jersey.reno_rate",
        doc: "packets per second at which Reno as a fluid rests",
        cite: "Jersey 2005 eq. 8.21",
        parameters: &jersey::RENO_RATE,
        unit: Dimension::Number,
        run: jersey::reno_rate,
    },
    Model {
        name: "jersey.rate",
        doc: "packets per second at which TCP-Jersey as a fluid rests",
        cite: "Jersey 2005 eq. 8.22",
        parameters: &jersey::RATE,
        unit: Dimension::Number,
        run: jersey::rate,
    },
    Model {
        name: "jersey.ratio",
        doc: "rate of Reno over that of TCP-Jersey, both as fluids at rest",
        cite: "Jersey 2005 eq. 8.23",
        parameters: &jersey::RATIO,
        unit: Dimension::Number,
        run: jersey::ratio,
    },
    Model {
        name: "jersey.reno_gain",
        doc: "what Reno gains from telling losses of the link from those of congestion, as a share",
        cite: "Jersey 2005 eq. 8.27",
        parameters: &jersey::RENO_GAIN,
        unit: Dimension::Number,
        run: jersey::reno_gain,
    },
    Model {
        name: "jersey.gain",
        doc: "what TCP-Jersey gains from telling losses of the link from those of congestion, as a share",
        cite: "Jersey 2005 eq. 8.28",
        parameters: &jersey::GAIN,
        unit: Dimension::Number,
        run: jersey::gain,
    },
    Model {
        name: "jersey.advantage",
        doc: "by what share TCP-Jersey is faster than Reno, both with the same differentiator",
        cite: "Jersey 2005 eq. 8.29",
        parameters: &jersey::GAIN,
        unit: Dimension::Number,
        run: jersey::advantage,
    },
    Model {
        name: "jersey.advantage_over_plain",
        doc: "by what share TCP-Jersey with a differentiator is faster than Reno without",
        cite: "Jersey 2005 Fig. 8.8",
        parameters: &jersey::GAIN,
        unit: Dimension::Number,
        run: jersey::advantage_over_plain,
    },
    Model {
        name: "aiad.load",
        doc: "load at which n AIAD sources rest, over the capacity",
        cite: "Jersey 2005 eq. 6.11",
        parameters: &jersey::AIAD,
        unit: Dimension::Number,
        run: jersey::load,
    },
    Model {
        name: "aiad.queue_bound",
        doc: "queueing delay below which AIAD certainly settles",
        cite: "Jersey 2005 eqs. 6.14, 6.16 at the real rest",
        parameters: &jersey::AIAD_BOUND,
        unit: Dimension::Time,
        run: jersey::queue_bound,
    },
    Model {
        name: "aiad.alpha_eta",
        doc: "alpha d/(d + dq), to be below aiad.alpha_eta_bound",
        cite: "Jersey 2005 eq. 6.15",
        parameters: &jersey::AIAD,
        unit: Dimension::Number,
        run: jersey::alpha_eta,
    },
    Model {
        name: "aiad.alpha_eta_bound",
        doc: "what alpha d/(d + dq) must be below",
        cite: "Jersey 2005 eq. 6.15 at the real rest",
        parameters: &jersey::AIAD_BOUND,
        unit: Dimension::Number,
        run: jersey::alpha_eta_bound,
    },
    Model {
        name: "aiad.bounded",
        doc: "1 when both conditions for settling hold at the real rest, else 0",
        cite: "Jersey 2005 eqs. 6.15, 6.16",
        parameters: &jersey::AIAD_BOUND,
        unit: Dimension::Number,
        run: jersey::bounded,
    },
    Model {
        name: "aiad.growth",
        doc: "exponent by which a small departure grows in each round trip, below 0 when AIAD settles",
        cite: "Jersey 2005 eq. 6.13",
        parameters: &jersey::AIAD,
        unit: Dimension::Number,
        run: jersey::growth,
    },
    Model {
        name: "aiad.settles",
        doc: "1 when the integrated AIAD system settles from a small departure, else 0",
        cite: "Jersey 2005 eq. 6.11",
        parameters: &jersey::AIAD,
        unit: Dimension::Number,
        run: jersey::settles,
    },
    Model {
        name: "gaiad.rate",
        doc: "packets per step at which each of n GAIAD sources rests",
        cite: "Jersey 2005 eq. 9.17",
        parameters: &jersey::GAIAD,
        unit: Dimension::Number,
        run: jersey::gaiad_rate,
    },
    Model {
        name: "gaiad.share",
        doc: "share of packets marked where n GAIAD sources rest",
        cite: "Jersey 2005 eq. 9.17",
        parameters: &jersey::GAIAD,
        unit: Dimension::Number,
        run: jersey::gaiad_share,
    },
    Model {
        name: "gaiad.eigenvalue",
        doc: "eigenvalue of the larger size, between -1 and 1 when GAIAD settles",
        cite: "Jersey 2005 eqs. 9.24-9.27 with the true derivatives",
        parameters: &jersey::GAIAD,
        unit: Dimension::Number,
        run: jersey::eigenvalue,
    },
    Model {
        name: "gaiad.eigenvalue_as_printed",
        doc: "the eigenvalue of the larger size with the derivatives as printed",
        cite: "Jersey 2005 eqs. 9.21, 9.22",
        parameters: &jersey::GAIAD,
        unit: Dimension::Number,
        run: jersey::eigenvalue_as_printed,
    },
    Model {
        name: "gaiad.stable",
        doc: "1 when theorem 9.3 calls GAIAD stable, else 0",
        cite: "Jersey 2005 eq. 9.27 with the true derivatives",
        parameters: &jersey::GAIAD,
        unit: Dimension::Number,
        run: jersey::stable,
    },
    Model {
        name: "gaiad.stable_as_printed",
        doc: "what theorem 9.3 says with the derivatives as printed, 1 or 0",
        cite: "Jersey 2005 eqs. 9.21, 9.22, 9.27",
        parameters: &jersey::GAIAD,
        unit: Dimension::Number,
        run: jersey::stable_as_printed,
    },
    Model {
        name: "gaiad.settles",
        doc: "1 when simulated GAIAD sources with unequal or equal delays settle, else 0",
        cite: "Jersey 2005 eq. 9.12",
        parameters: &jersey::GAIAD_COURSE,
        unit: Dimension::Number,
        run: jersey::gaiad_settles,
    },
    Model {
        name: "hash.collision",
        doc: "share of cycles of n stations in a table of slots that end in a collision",
        cite: "Starzetz 2006 §8.1.1",
        parameters: &starzetz::TABLE,
        unit: Dimension::Number,
        run: starzetz::collision,
    },
    Model {
        name: "hash.ratio",
        doc: "collisions over successes of n stations in a table of slots",
        cite: "Starzetz 2006 §8.1.1",
        parameters: &starzetz::TABLE,
        unit: Dimension::Number,
        run: starzetz::ratio,
    },
    Model {
        name: "hash.success_wait",
        doc: "mean empty slots before a success of n stations in a table of slots",
        cite: "Starzetz 2006 §8.1.1",
        parameters: &starzetz::TABLE,
        unit: Dimension::Number,
        run: starzetz::success_wait,
    },
    Model {
        name: "hash.collision_wait",
        doc: "mean empty slots before a collision of n stations in a table of slots",
        cite: "Starzetz 2006 §8.1.1",
        parameters: &starzetz::TABLE,
        unit: Dimension::Number,
        run: starzetz::collision_wait,
    },
    Model {
        name: "hash.window",
        doc: "slots in which n stations collide in this share of cycles: the effective contention window",
        cite: "Starzetz 2006 §8.1.1",
        parameters: &starzetz::WINDOW,
        unit: Dimension::Number,
        run: starzetz::window,
    },
    Model {
        name: "hash.equal_success_wait",
        doc: "mean empty slots before a success of H that collides in this share of cycles",
        cite: "Starzetz 2006 §8.1.1",
        parameters: &starzetz::EQUAL,
        unit: Dimension::Number,
        run: starzetz::equal_success_wait,
    },
    Model {
        name: "hash.equal_collision_wait",
        doc: "mean empty slots before a collision of H that collides in this share of cycles",
        cite: "Starzetz 2006 §8.1.1",
        parameters: &starzetz::EQUAL,
        unit: Dimension::Number,
        run: starzetz::equal_collision_wait,
    },
    Model {
        name: "hash.observed",
        doc: "share of cycles that look like collisions when channel errors spoil a share of all frames",
        cite: "Starzetz 2006 §11.1, a reading",
        parameters: &starzetz::OBSERVED,
        unit: Dimension::Number,
        run: starzetz::observed,
    },
    Model {
        name: "hash.self_correlation",
        doc: "probability that a station without memory sends again within the next j successes",
        cite: "Starzetz 2006 §8.2",
        parameters: &starzetz::AHEAD,
        unit: Dimension::Number,
        run: starzetz::memoryless,
    },
    Model {
        name: "hash.jain",
        doc: "mean of Jain's index of n stations without memory over w successes",
        cite: "Starzetz 2006 §8.2",
        parameters: &starzetz::JAIN,
        unit: Dimension::Number,
        run: starzetz::jain,
    },
    Model {
        name: "tcf.self_correlation",
        doc: "probability that a station that takes turns sends again within the next j successes",
        cite: "Starzetz 2006 §8.2",
        parameters: &starzetz::AHEAD,
        unit: Dimension::Number,
        run: starzetz::tcf,
    },
    Model {
        name: "contention_fit",
        doc: "mean empty slots before a frame of n stations of 802.11b",
        cite: "Starzetz 2006 eq. 9.3",
        parameters: &starzetz::FIT,
        unit: Dimension::Number,
        run: starzetz::fit,
    },
    Model {
        name: "permutation.unequal",
        doc: "probability that two stations whose orders never collide share at least as unequally",
        cite: "Starzetz 2006 §8.1.2",
        parameters: &starzetz::UNEQUAL,
        unit: Dimension::Number,
        run: starzetz::unequal,
    },
    Model {
        name: "backoff_cost.density",
        doc: "density at t of the cheapest backoff of two stations",
        cite: "Starzetz 2006 eq. 8.17",
        parameters: &starzetz::DENSITY,
        unit: Dimension::Number,
        run: starzetz::with_wait,
    },
    Model {
        name: "backoff_cost.density_without_wait",
        doc: "density at t of the cheapest backoff of two stations when waiting before a collision is free",
        cite: "Starzetz 2006 eq. 8.19",
        parameters: &starzetz::DENSITY,
        unit: Dimension::Number,
        run: starzetz::without_wait,
    },
    Model {
        name: "backoff_cost.optimal_density",
        doc: "density at t of the cheapest backoff of n stations over slots",
        cite: "Starzetz 2006 eqs. 8.9, 8.10, 8.15, 8.18",
        parameters: &starzetz::OPTIMAL,
        unit: Dimension::Number,
        run: starzetz::optimal_density,
    },
    Model {
        name: "backoff_cost.least",
        doc: "what the cheapest backoff of n stations over slots wastes a cycle",
        cite: "Starzetz 2006 eqs. 8.9, 8.20",
        parameters: &starzetz::WASTED,
        unit: Dimension::Number,
        run: starzetz::least,
    },
    Model {
        name: "backoff_cost.least_per_success",
        doc: "what the cheapest backoff for each success wastes for it, collisions before it included",
        cite: "Starzetz 2006 §8.1.2, for a success instead of a cycle",
        parameters: &starzetz::PER_SUCCESS,
        unit: Dimension::Number,
        run: starzetz::least_per_success,
    },
    Model {
        name: "backoff_cost.uniform",
        doc: "what backoffs alike in all slots waste a cycle",
        cite: "Starzetz 2006 eqs. 8.9, 8.20",
        parameters: &starzetz::WASTED,
        unit: Dimension::Number,
        run: starzetz::uniform,
    },
    Model {
        name: "backoff_cost.hash1",
        doc: "what HASH1's ramp wastes a cycle",
        cite: "Starzetz 2006 eqs. 8.9, 8.20",
        parameters: &starzetz::WASTED,
        unit: Dimension::Number,
        run: starzetz::hash1,
    },
];

const fn required(name: &'static str, unit: Dimension, doc: &'static str) -> Parameter {
    Parameter { name, doc, unit, default: None }
}

const fn optional(name: &'static str, unit: Dimension, value: f64, doc: &'static str) -> Parameter {
    Parameter { name, doc, unit, default: Some(value) }
}

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
const PATH: [Parameter; 5] = [
    required("p", Dimension::Number, "share of packets that begin a loss"),
    required("rtt", Dimension::Time, "RTT, mean round-trip time"),
    required("t0", Dimension::Time, "T0, length of the first timeout"),
    optional("b", Dimension::Number, 1.0, "data packets per ACK"),
    optional("window", Dimension::Packets, 0.0, "window limit; 0 without one"),
];

impl Model {
    /// Whether a system is simulated for it, or an integral taken, which takes milliseconds and not microseconds.
    pub fn simulates(&self) -> bool {
        matches!(self.name, "aiad.settles" | "gaiad.settles" | "hash.jain")
    }

    /// Its value when `given` says the arguments, in base units; those it does not know have their defaults.
    ///
    /// # Errors
    /// When an argument without a default is missing, or one makes no sense, with its name.
    pub fn value_of(&self, given: impl Fn(&Parameter) -> Option<f64>) -> Result<f64, String> {
        let argument = |p: &Parameter| given(p).or(p.default).ok_or_else(|| format!("needs {}", p.name));
        (self.run)(&self.parameters.iter().map(argument).collect::<Result<Vec<_>, _>>()?)
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
    if x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&x) {
        Ok(x as u32)
    } else {
        Err(format!("{name}: is {x}, must be a whole number"))
    }
}

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

fn padhye_rate(a: &[f64]) -> Result<f64, String> {
    said(padhye::padhye(a[0], &Path { rtt_s: a[1], t0_s: a[2], b: a[3], window: (a[4] > 0.0).then_some(a[4]) }))
}
