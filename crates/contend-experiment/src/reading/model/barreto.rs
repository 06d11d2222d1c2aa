//! Closed forms of many hops: what rt-Winf measures, the delay of a packet over idle hops, the pacing of TCP-AP, and
//! where RCP settles (Barreto 2012).

use super::{LONGEST, Model, Parameter, model, whole};
use crate::reading::expression::Dimension;
use contend_theory::Invalid;
use contend_theory::dsss::{Dsss, Exchange};
use contend_theory::hops::{self, Hop};
use contend_theory::rcp::{self, Step};
use contend_theory::rt_winf::{self, Capacity};
use contend_theory::tcp_ap::{self, Path};

pub(super) const MODELS: &[Model] = &[
    model(
        "rt_winf.capacity",
        Dimension::Rate,
        "capacity that rt-Winf measures on one idle link",
        "Barreto 2012 eqs. 4.3, 4.6, 4.14; spec U1",
        &CAPACITY,
        |a| rt_winf::capacity(&exchange(a)?, capacity(a[9]), a[8] * 1e6),
    ),
    model(
        "rt_winf.available",
        Dimension::Rate,
        "available bandwidth that rt-Winf measures on one saturated link by the Duration fields; not 0",
        "Barreto 2012 eqs. 4.5, 4.7; spec U1",
        &AVAILABLE,
        available,
    ),
    model(
        "rt_winf.limit",
        Dimension::Rate,
        "TH_80211b, maximum throughput of one sender with RTS/CTS",
        "Barreto 2012 eqs. 4.16, 4.17",
        &LIMIT,
        |a| rt_winf::limit(&exchange(a)?, a[9], a[8] * 1e6),
    ),
    model(
        "rt_winf.reserved",
        Dimension::Time,
        "Duration field of the CTS or RTS of an exchange",
        "IEEE 802.11-2016 §9.2.5",
        &RESERVED,
        |a| exchange(a).map(|e| if a[8] == 0.0 { e.nav_cts_us() } else { e.nav_rts_us() } / 1e6),
    ),
    model(
        "rt_winf.cycle",
        Dimension::Time,
        "an RTS/CTS exchange with the DIFS and the backoff before it",
        "IEEE 802.11-2016 §10.3",
        &CYCLE,
        |a| exchange(a).map(|e| e.cycle_us(a[8] * 1e6) / 1e6),
    ),
    model(
        "rt_winf.overhead",
        Dimension::Number,
        "C_extra, share of the time between two packets that DIFS and backoff take",
        "Barreto 2012 eqs. 5.19, 5.20",
        &CYCLE,
        |a| rt_winf::overhead(&exchange(a)?, a[8] * 1e6),
    ),
    model(
        "hops.delay",
        Dimension::Time,
        "delay of one packet over a chain of idle hops",
        "IEEE 802.11-2016 §10.3; all 144 cases of ns-2 agree",
        &HOPS,
        delay,
    ),
    model(
        "tcp_ap.delay",
        Dimension::Time,
        "FHD, delay over four hops by which TCP-AP paces",
        "Barreto 2012 eqs. 2.26, 2.27, 6.1, 6.2; spec U5",
        &FOUR_HOPS,
        |a| Ok(tcp_ap::four_hop_us(&path(a), a[6] != 0.0)? / 1e6),
    ),
    model(
        "tcp_ap.contention",
        Dimension::Number,
        "R, factor by which WE TCP-AP lengthens the delay of TCP-AP",
        "Barreto 2012 eqs. 6.3-6.5; spec U6",
        &[Parameter::whole("nodes", 1.0, 1e6, "NP, nodes of the path with both ends")],
        |a| tcp_ap::contention(whole(a[0])),
    ),
    model(
        "rcp.rest_rate",
        Dimension::Rate,
        "rate of each of n long flows under RCP at rest",
        "Barreto 2012 eq. 2.21; Dukkipati 2008",
        &[
            RCP_CAPACITY,
            Parameter::whole("n", 1.0, 1e9, "flows"),
            Parameter::number("utilisation", 1e-6, 1.0, "eta or C_w, target utilisation").default(0.95),
        ],
        |a| rcp::rest_rate(a[0], a[2], whole(a[1])),
    ),
    model(
        "rcp.factor",
        Dimension::Number,
        "factor by which an RCP router changes its rate in one step",
        "Barreto 2012 eqs. 2.22, 5.15; with load = capacity the printed RCP-Winf (spec U4)",
        &[
            RCP_CAPACITY,
            Parameter::new("load", Dimension::Rate, 0.0, 1e12, "y, rate of the packets that arrive"),
            Parameter::new("queue", Dimension::Bytes, 0.0, 1e12, "q, bytes that wait").default(0.0),
            Parameter::time("rtt", "d, mean round-trip time"),
            Parameter::time("interval", "T, time since the last step"),
            Parameter::number("alpha", 0.0, 100.0, "gain of the spare capacity").default(0.4),
            Parameter::number("beta", 0.0, 100.0, "gain of the queue").default(0.4),
            Parameter::number("utilisation", 1e-6, 1.0, "eta or C_w, target utilisation").default(0.95),
        ],
        factor,
    ),
];

const RCP_CAPACITY: Parameter = Parameter::new("capacity", Dimension::Rate, 1.0, 1e12, "C, capacity of the link");
const BACKOFF: Parameter =
    Parameter::new("backoff", Dimension::Time, 0.0, LONGEST, "mean backoff; half of CWmin = 31 by default")
        .default(310e-6);
const RTS: Parameter = Parameter::switch("rts", 0.0, "0: CTS; 1: RTS");

/// An IP packet and the PHY that carries it.
const AIR: [Parameter; 8] = [
    Parameter::new("packet", Dimension::Bytes, 1.0, 1e6, "S, size of the IP packet").default(1500.0),
    Parameter::new("data_rate", Dimension::Rate, 1e3, 1e12, "rate of data frames").default(11e6),
    Parameter::new("overhead", Dimension::Bytes, 0.0, 1e4, "bytes that the MAC adds (ns-2: 34)").default(36.0),
    Parameter::new("basic", Dimension::Rate, 1e3, 1e12, "rate of RTS, CTS and ACK").default(1e6),
    Parameter::new("preamble", Dimension::Time, 0.0, 1.0, "preamble and PLCP header").default(192e-6),
    Parameter::new("sifs", Dimension::Time, 0.0, 1.0, "SIFS").default(10e-6),
    Parameter::new("slot", Dimension::Time, 0.0, 1.0, "slot time").default(20e-6),
    Parameter::switch("whole", 0.0, "1: bytes take whole microseconds, as in the standard; 0: not rounded"),
];

/// [`AIR`], then `more`.
const fn on_air<const MORE: usize, const ALL: usize>(more: [Parameter; MORE]) -> [Parameter; ALL] {
    let mut all = [BACKOFF; ALL];
    let mut i = 0;
    while i < ALL {
        all[i] = if i < AIR.len() { AIR[i] } else { more[i - AIR.len()] };
        i += 1;
    }
    all
}

const FORM: Parameter = Parameter::whole(
    "form",
    0.0,
    3.0,
    "0: as a sender (eq. 4.3); 1: as a receiver (eq. 4.6); 2: by probes (eq. 4.14); 3: the whole cycle (repaired)",
)
.default(0.0);
const SIFS_COUNT: Parameter =
    Parameter::whole("sifs_count", 0.0, 3.0, "SIFS of the exchange: 1 as printed, 3 in reality").default(1.0);

const CAPACITY: [Parameter; 10] = on_air([BACKOFF, FORM]);
const AVAILABLE: [Parameter; 10] = on_air([BACKOFF, RTS]);
const LIMIT: [Parameter; 10] = on_air([BACKOFF, SIFS_COUNT]);
const RESERVED: [Parameter; 9] = on_air([RTS]);
const CYCLE: [Parameter; 9] = on_air([BACKOFF]);
const HOPS: [Parameter; 13] = on_air([
    Parameter::whole("hops", 1.0, 255.0, "h, links of the chain"),
    Parameter::switch("protected", 0.0, "1: RTS and CTS precede the data"),
    Parameter::new("propagation", Dimension::Time, 0.0, 1.0, "propagation delay of a hop").default(0.0),
    Parameter::new("backoff", Dimension::Time, 0.0, LONGEST, "mean backoff of a hop").default(0.0),
    Parameter::new("link_layer", Dimension::Time, 0.0, 1.0, "link layer at each end (ns-2: 25 us)").default(0.0),
]);

const FOUR_HOPS: [Parameter; 7] = [
    Parameter::time("rtt", "RTT, round-trip time"),
    Parameter::whole("hops", 1.0, 255.0, "h, links of the path"),
    Parameter::new("data", Dimension::Bytes, 1.0, 1e6, "S_data with all headers").default(1612.0),
    Parameter::new("ack", Dimension::Bytes, 1.0, 1e6, "S_ACK with all headers").default(112.0),
    Parameter::new("capacity", Dimension::Rate, 1.0, 1e12, "b (ll_bandwidth), or C_Winf").default(2e6),
    Parameter::new("available", Dimension::Rate, 1.0, 1e12, "b (ll_bandwidth), or AB_Winf").default(2e6),
    Parameter::switch("printed", 0.0, "0: sign from eqs. 2.23-2.25; 1: sign as printed in eqs. 2.26, 6.1"),
];

/// The arguments begin with those of [`AIR`].
fn exchange(a: &[f64]) -> Result<Exchange, Invalid> {
    let phy = Dsss {
        rate_bps: a[1],
        overhead_bytes: a[2],
        basic_bps: a[3],
        preamble_us: a[4] * 1e6,
        sifs_us: a[5] * 1e6,
        slot_us: a[6] * 1e6,
        whole_us: a[7] != 0.0,
    };
    phy.exchange(a[0])
}

fn capacity(form: f64) -> Capacity {
    match whole(form) {
        0 => Capacity::Sender,
        1 => Capacity::Receiver,
        2 => Capacity::Probe,
        _ => Capacity::Cycle,
    }
}

fn available(a: &[f64]) -> Result<f64, Invalid> {
    let (e, backoff, rts) = (exchange(a)?, a[8] * 1e6, a[9] != 0.0);
    let by = if rts { Capacity::Receiver } else { Capacity::Sender };
    Ok(rt_winf::capacity(&e, by, backoff)? * rt_winf::unreserved(&e, rts, backoff)?)
}

fn delay(a: &[f64]) -> Result<f64, Invalid> {
    let hop =
        Hop { rts: a[9] != 0.0, propagation_us: a[10] * 1e6, backoff_us: a[11] * 1e6, link_layer_us: a[12] * 1e6 };
    Ok(hops::one_packet(&exchange(a)?, &hop, whole(a[8]))? / 1e6)
}

fn path(a: &[f64]) -> Path {
    Path {
        rtt_us: a[0] * 1e6,
        hops: whole(a[1]),
        data_bits: a[2] * 8.0,
        ack_bits: a[3] * 8.0,
        capacity_bps: a[4],
        available_bps: a[5],
    }
}

fn factor(a: &[f64]) -> Result<f64, Invalid> {
    let step = Step {
        capacity: a[0],
        load: a[1],
        queue: a[2] * 8.0,
        rtt_s: a[3],
        interval_s: a[4],
        alpha: a[5],
        beta: a[6],
        utilisation: a[7],
    };
    step.factor()
}
