//! Closed forms of stations with aggregated frames (Høiland-Jørgensen et al. 2017).

use super::{LONGEST, Model, Parameter, model};
use crate::reading::expression::Dimension;
use contend_theory::ampdu::Aggregate;

const CITE: &str = "Høiland-Jørgensen, Kazior, Täht, Hurtig, Brunstrom 2017 §2.2";

pub(super) const MODELS: &[Model] = &[
    model(
        "ampdu.rate",
        Dimension::Rate,
        "base rate R(n, l, r) of a station with aggregates that has the air to itself",
        CITE,
        &AGGREGATE,
        |a| aggregate(a).rate(),
    ),
    model(
        "ampdu.data_time",
        Dimension::Time,
        "T_data, time of an aggregate on the air; its share of the sum of all stations is the airtime with FIFO",
        CITE,
        &AGGREGATE,
        |a| aggregate(a).data_time(),
    ),
    model(
        "ampdu.overhead",
        Dimension::Time,
        "T_oh, time around an aggregate: DIFS, SIFS, block acknowledgment and backoff",
        CITE,
        &AGGREGATE,
        |a| aggregate(a).overhead(),
    ),
];

const AGGREGATE: [Parameter; 4] = [
    Parameter::number("n", 1e-3, 1e6, "n, mean number of packets in an aggregate"),
    Parameter::new("bytes", Dimension::Bytes, 1.0, 65_535.0, "l, size of a packet").default(1500.0),
    Parameter::new("phy_rate", Dimension::Rate, 1.0, 1e12, "r, physical rate"),
    Parameter::new("backoff", Dimension::Time, 0.0, LONGEST, "T_BO, mean backoff").default(67.5e-6),
];

fn aggregate(a: &[f64]) -> Aggregate {
    Aggregate { packets: a[0], bytes: a[1], rate_bps: a[2], backoff_s: a[3] }
}
