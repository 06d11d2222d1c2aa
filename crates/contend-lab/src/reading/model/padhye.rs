//! Closed forms of flows that lose packets at random (Padhye 1998, Mathis 1997).

use super::{Model, Parameter, model, optional, required, said};
use crate::reading::expression::Dimension;
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
        &[required("p", Dimension::Number, "share of packets lost")],
        |a| said(padhye::square_root_window(a[0])),
    ),
    model(
        "padhye.square_root_rate",
        Dimension::Number,
        "packets per second of a flow that loses each packet with probability p, without timeouts",
        "Mathis, Semke, Mahdavi, Ott 1997, as Jersey 2005 eq. 2.3 has it",
        &[
            required("p", Dimension::Number, "share of packets lost"),
            required("rtt", Dimension::Time, "RTT, mean round-trip time"),
        ],
        |a| said(padhye::square_root_rate(a[0], a[1])),
    ),
];

const PATH: [Parameter; 5] = [
    required("p", Dimension::Number, "share of packets that begin a loss"),
    required("rtt", Dimension::Time, "RTT, mean round-trip time"),
    required("t0", Dimension::Time, "T0, length of the first timeout"),
    optional("b", Dimension::Number, 1.0, "data packets per ACK"),
    optional("window", Dimension::Packets, 0.0, "window limit; 0 without one"),
];

fn padhye_rate(a: &[f64]) -> Result<f64, String> {
    said(padhye::padhye(a[0], &Path { rtt_s: a[1], t0_s: a[2], b: a[3], window: (a[4] > 0.0).then_some(a[4]) }))
}
