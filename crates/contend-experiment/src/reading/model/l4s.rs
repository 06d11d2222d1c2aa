//! Closed forms of L4S (RFC 9331, RFC 9332): Prague under marks, and beside classic flows.

use super::{LONGEST, Model, Parameter, RAREST, model};
use crate::reading::expression::Dimension;
use contend_theory::Invalid;
use contend_theory::l4s::{self, CUBIC, Coupling, Marks, Path, RENO};

const PRAGUE: &str = "RFC 9331; Linux tcp_prague.c 0.7; own derivation";

pub(super) const MODELS: &[Model] = &[
    model(
        "l4s.window",
        Dimension::Packets,
        "mean window of a Prague flow of whose packets a share p is marked",
        PRAGUE,
        &MARKED,
        |a| Ok(path(a[1], a[2]).rate(a[0], marks(a[3]))? * a[1]),
    ),
    model(
        "l4s.rate",
        Dimension::Number,
        "packets per second of a Prague flow of whose packets a share p is marked",
        PRAGUE,
        &MARKED,
        |a| path(a[1], a[2]).rate(a[0], marks(a[3])),
    ),
    model(
        "l4s.classic_window",
        Dimension::Packets,
        "mean window of a Reno or CUBIC flow of whose packets a share p is marked or lost",
        "RFC 9332 appendix",
        &[SHARE, CLASSIC],
        |a| l4s::classic_window(a[0], constant(a[1])),
    ),
    model(
        "l4s.coupling",
        Dimension::Number,
        "rate of a Prague flow over that of a classic flow behind a coupled queue (DualPI2)",
        "RFC 9332; own derivation",
        &[
            Parameter::time("rtt", "R, round-trip time without queues"),
            TARGET,
            Parameter::new("classic_delay", Dimension::Time, 0.0, LONGEST, "q_C, delay of the classic queue")
                .default(15e-3),
            Parameter::new("l4s_delay", Dimension::Time, 0.0, LONGEST, "q_L, delay of the L4S queue").default(0.5e-3),
            Parameter::number("k", 1e-3, 1e3, "k, coupling factor").default(2.0),
            CLASSIC,
            INDEPENDENT,
        ],
        coupling,
    ),
    model(
        "l4s.pair",
        Dimension::Number,
        "rate of the first of two Prague flows over that of the second, in one queue",
        PRAGUE,
        &[
            Parameter::time("rtt_1", "R_1, round-trip time of the first flow"),
            Parameter::time("rtt_2", "R_2, round-trip time of the second flow"),
            TARGET,
        ],
        |a| l4s::pair(&path(a[0], a[2]), &path(a[1], a[2])),
    ),
    model(
        "l4s.step_window",
        Dimension::Packets,
        "window of the only Prague or DCTCP flow at a step that marks a share p",
        STEP,
        &[SHARE],
        |a| l4s::step_window(a[0]),
    ),
    model(
        "l4s.sawtooth",
        Dimension::Packets,
        "height of the sawtooth of the only Prague or DCTCP flow at a step, which the queue must hold",
        STEP,
        &[Parameter::new("window", Dimension::Packets, 1e-3, 1e9, "W, mean window")],
        |a| l4s::sawtooth(a[0], l4s::step_share(a[0])?),
    ),
];

const STEP: &str = "Alizadeh et al. 2010 §3.3 (DCTCP)";
const SHARE: Parameter = Parameter::number("p", RAREST, 1.0, "share of packets marked");
const TARGET: Parameter =
    Parameter::new("target", Dimension::Time, 0.0, LONGEST, "T, reference round-trip time of Prague; 0s for none")
        .default(25e-3);
const INDEPENDENT: Parameter =
    Parameter::switch("independent", 0.0, "0: marks at equal distances; 1: independent ones");
const CLASSIC: Parameter = Parameter::switch("cubic", 0.0, "0: Reno; 1: CUBIC where it grows like Reno");
const MARKED: [Parameter; 4] = [SHARE, Parameter::time("rtt", "R, round-trip time"), TARGET, INDEPENDENT];

fn path(rtt_s: f64, target_s: f64) -> Path {
    Path { rtt_s, target_s }
}

fn marks(independent: f64) -> Marks {
    if independent == 0.0 { Marks::Even } else { Marks::Independent }
}

fn constant(cubic: f64) -> f64 {
    if cubic == 0.0 { RENO } else { CUBIC }
}

fn coupling(a: &[f64]) -> Result<f64, Invalid> {
    let (c, marks) = (constant(a[5]), marks(a[6]));
    Coupling { rtt_s: a[0], target_s: a[1], classic_delay_s: a[2], l4s_delay_s: a[3], k: a[4], c, marks }.ratio()
}
