//! Closed forms of flows that lose packets at random (Padhye 1998, Mathis 1997).

use super::{Model, Parameter, RAREST, model};
use crate::reading::expression::Dimension;
use contend_theory::Invalid;
use contend_theory::padhye::{self, Path};

pub(super) const MODELS: &[Model] = &[
    model(
        "padhye.rate",
        Dimension::Number,
        "packets per second of a Reno flow",
        "Padhye, Firoiu, Towsley, Kurose 1998 eq. 30; Jersey 2005 eq. 2.4",
        &PATH,
        padhye_rate,
    ),
    model(
        "padhye.square_root_window",
        Dimension::Packets,
        "mean window of a flow that loses each packet with probability p",
        "Mathis, Semke, Mahdavi, Ott 1997, as Jersey 2005 eq. 2.2 has it",
        &[LOST],
        |a| padhye::square_root_window(a[0]),
    ),
    model(
        "padhye.square_root_rate",
        Dimension::Number,
        "packets per second of a flow that loses each packet with probability p, without timeouts",
        "Mathis, Semke, Mahdavi, Ott 1997, as Jersey 2005 eq. 2.3 has it",
        &[LOST, RTT],
        |a| padhye::square_root_rate(a[0], a[1]),
    ),
];

const LOST: Parameter = Parameter::number("p", RAREST, 1.0, "share of packets lost");
const RTT: Parameter = Parameter::time("rtt", "RTT, mean round-trip time");
const PATH: [Parameter; 5] = [
    Parameter::share("p", "share of packets that begin a loss event"),
    RTT,
    Parameter::time("t0", "T0, length of the first timeout"),
    Parameter::number("b", 1.0, 1000.0, "data packets per ACK").default(1.0),
    Parameter::packets("window", "window limit; 0 for no limit").default(0.0),
];

fn padhye_rate(a: &[f64]) -> Result<f64, Invalid> {
    padhye::padhye(a[0], &Path { rtt_s: a[1], t0_s: a[2], b: a[3], window: (a[4] > 0.0).then_some(a[4]) })
}
