//! FCWA, fair congestion window assignment: each flow gets the largest window with which the access point's queue never
//! overflows.
//!
//! Keceli, Inan, Ayanoglu, "Fair and Efficient TCP Access in the IEEE 802.11 Infrastructure BSS", 2008, §III.
//!
//! Differences from the paper, which gives the windows and only outlines how to enforce them:
//! - W_lim is multiplied by `margin` (1 in the paper) and rounded down to whole segments, but not below `minimum`.
//! - `mode = "oracle"` takes delays, b and segment sizes from the run, as the paper's own evaluation does. `mode =
//!   "estimated"` measures all three.
//! - Estimate of 2 LD for an upload: the time from a segment to the acknowledgment of exactly this segment's end. Two
//!   segments in a row are timed, because an ACK for two never ends with the first that it released.
//! - Estimate of 2 LD for a download: the time from an acknowledgment that moves the right edge to the first data
//!   beyond the old edge. This is correct for a sender limited by the window. Retransmitted data give no sample. Before
//!   the first sample, 2 LD is 0.
//! - Estimate of b: the number of segments per acknowledgment, rounded to 1 or 2.
//! - Estimate of the segment size: the largest segment seen.
//! - All flows share one b: the rounded mean over active flows.
//! - `ct = "measured"` takes the mean time between two successes of the access point between which its queue was never
//!   empty.
//! - Windows are written only into acknowledgments, in the window unit of each acknowledgment. A window is rounded up
//!   if rounding down would cut off the last segment. (With the shift alone, as in the outline, 5 segments become 4 if
//!   they are not a whole number of units.)
//! - A deployed access point learns the window unit from the handshake and must not change flows whose handshake it has
//!   not seen: the written value could mean 2^14 times as much. It must also correct the checksum (RFC 1624).

use super::path::{Cycle, Path};
use super::window::{self, Flows};
use super::{Control, CycleModel, Facts, FlowFacts, Pass, Side};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::{FlowId, Packet};
use crate::qdisc::AirReport;
use crate::registry::{Amount, Args, Param};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;

/// Source of the algorithm.
pub const CITE: &str = "Keceli, Inan, Ayanoglu 2008 §III, eqs. 2-9";
/// What it does.
pub const SUMMARY: &str = "Lowers advertised windows so that path and queue are full; each TCP flow gets the largest \
    window with which the queue never overflows.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "mode",
        &["oracle", "estimated"],
        "source of delays, b and segment sizes. oracle: the run's own values; estimated: measurement",
    )
    .default("oracle"),
    Param::word(
        "ct",
        &["model", "measured"],
        "source of the cycle time CT_AP. model: the model of two saturated stations; measured: measurement",
    )
    .default("model"),
    Param::word(
        "model",
        &["m2", "m1"],
        "model of the cycle time. m2: frozen backoff (cycle form); m1: Bianchi's renewal form",
    )
    .default("m2"),
    Param::word(
        "ld",
        &["mean", "min"],
        "how delay samples are averaged. mean: exponentially, with weight 1/8; min: their minimum over 10 to 20 s",
    )
    .default("mean"),
    Param::number("margin", "factor on the window limit; 0.95 costs no throughput and avoids rare drops")
        .default("1")
        .range(0.0, 1.0),
    Param::integer("minimum", "minimum window in segments; 2 is better with delayed acknowledgments")
        .default("1")
        .range(1.0, 1e6),
    Param::amount("data_size", "IP size of a data packet in the model").default("1500B").range(40.0, 2296.0),
    Param::amount("ack_size", "IP size of an acknowledgment in the model").default("40B").range(40.0, 2296.0),
    window::BUFFER,
    window::ACTIVE,
    window::UPDATE,
    window::KEEP_EDGE,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n_up", "active uploads: those with data in the last `T_active`"),
    symbol("n_down", "active downloads"),
    symbol("b_i", "data packets per ACK of flow `i`"),
    symbol("i", "a flow"),
    symbol("b", "mean of the `b_i` of the active flows, rounded, at least 1"),
    symbol("P_AP", "share of data in what the access point sends"),
    symbol("P_STA", "share of data in what the stations send"),
    symbol("CT_DD", "cycle time of the model if the access point and the station send data"),
    symbol("CT_DA", "if the access point sends data and the station an ACK"),
    symbol("CT_AD", "if the access point sends an ACK and the station data"),
    symbol("CT_AA", "if both send ACKs"),
    symbol("CT_AP", "mean time between two successes of the access point"),
    symbol("CT_flow", "time in which the access point sends once for each flow"),
    symbol("RTT_i", "2 LD: round-trip time of the wired path of flow `i`"),
    symbol("x", "a sample of what is measured"),
    symbol("W_i", "window of flow `i`, in segments"),
    symbol("MSS_i", "payload of a segment of flow `i`, in bytes"),
    symbol("rwnd", "advertised window, in bytes"),
    on("an update, every `T_update` and when a flow becomes active"),
    eq("P_AP = n_down / (n_up / b + n_down)", "Keceli, Inan, Ayanoglu 2008 eq. 8"),
    eq("P_STA = n_up / (n_down / b + n_up)", "eq. 9"),
    eq(
        "CT_AP = P_AP · (P_STA · CT_DD + (1 − P_STA) · CT_DA) + (1 − P_AP) · (P_STA · CT_AD + (1 − P_STA) · CT_AA)",
        "eq. 7",
    ),
    eq("CT_flow = (n_up / b + n_down) · CT_AP", "eq. 5"),
    on("the next packet of a flow"),
    eq("W_i ← max(minimum, ⌊margin · (RTT_i / CT_flow + BS_AP / (n_up / b + n_down))⌋)", "eq. 6"),
    on("an ACK of the flow"),
    eq("rwnd ← min(rwnd, W_i · MSS_i)", "§III"),
    step("with `keep_edge` it does not take back what was offered before", "RFC 9293 §3.8.6"),
    on("a success of the access point, with `ct = measured`"),
    eq("CT_AP ← CT_AP + (x − CT_AP) / 128", "§III-C")
        .when("its queue has not been empty since its last success, which was `x` ago"),
    on("a sample of the path, with `mode = estimated`"),
    eq("RTT_i ← RTT_i + (x − RTT_i) / 8", "§III-C").when(
        "`ld = mean`; `x` is the time from data of an upload to their ACK, or from an ACK to the data of a download \
            that it releases",
    ),
    step("`RTT_i` is the least `x` of the last 10 to 20 s", "").when("`ld = min`"),
    eq("b_i ← b_i + (min(2, max(1, x)) − b_i) / 8", "").when("an ACK covers `x ≤ 4` new segments"),
];

/// Cycle times CT_{x,y} in seconds. First index: what the access point sends. Second index: what the station sends. 0
/// is data, 1 is a TCP ACK.
pub type Pairs = [[f64; 2]; 2];

/// CT_AP: the mean cycle time with `up` uploads and `down` downloads, at least one flow in total, and `b` data packets
/// per ACK.
pub fn ct_ap(pairs: &Pairs, up: f64, down: f64, b: f64) -> f64 {
    // Keceli 2008 eqs. 8, 9: the shares of data frames in what the access point and the stations send.
    let ap = down / (up / b + down);
    let station = up / (down / b + up);
    // Keceli 2008 eq. 7.
    let mean = |of: &[f64; 2]| station * of[0] + (1.0 - station) * of[1];
    ap * mean(&pairs[0]) + (1.0 - ap) * mean(&pairs[1])
}

/// W_lim in packets of a flow with a wired round trip of `two_ld` seconds. `per_round` = n_up / b + n_down.
pub fn window_limit(two_ld: f64, ct_ap: f64, buffer: f64, per_round: f64) -> f64 {
    // Keceli 2008 eqs. 5, 6 (eqs. 3, 4 for b = 1): the packets on the wire plus the flow's share of the buffer.
    two_ld / (per_round * ct_ap) + buffer / per_round
}

/// The control block.
#[derive(Debug)]
pub struct Fcwa {
    flows: Flows<Path>,
    /// Facts about each flow in `mode = "oracle"`.
    oracle: Option<BTreeMap<FlowId, FlowFacts>>,
    pairs: Pairs,
    /// CT_AP as measured; `None` if CT_AP is computed.
    measured: Option<Cycle>,
    /// True if 2 LD is the minimum of the samples instead of their mean.
    least: bool,
    /// BS_AP in packets.
    buffer: f64,
    margin: f64,
    minimum: u64,
    keep_edge: bool,
    /// n_up / b + n_down, packets that the access point sends per round; 0 without flows.
    per_round: f64,
    /// CT_AP in seconds.
    ct_ap: f64,
    /// Number of updates so far.
    generation: u64,
}

/// Builds the control block.
///
/// # Errors
/// If a parameter is invalid, or if neither the parameters nor the queue give the buffer size in packets.
pub fn build(args: &Args, facts: &Facts) -> Result<Box<dyn Control>, Refusal> {
    Ok(Box::new(Fcwa::new(args, facts)?))
}

impl Fcwa {
    /// The block itself, as [`build`].
    ///
    /// # Errors
    /// As [`build`].
    pub fn new(args: &Args, facts: &Facts) -> Result<Fcwa, Refusal> {
        let margin = args.number("margin");
        if !(margin > 0.0 && margin <= 1.0) {
            let what = format!("margin = {margin} is out of range");
            return Err(Refusal::new(what, "write a number above 0 and at most 1"));
        }
        let bytes = |name| match args.amount(name) {
            Amount::Bytes(n) => Ok(u32::try_from(n).unwrap_or(u32::MAX)),
            Amount::Packets(_) => {
                Err(Refusal::new(format!("{name} counts bytes"), format!("write {name} = \"1500B\"")))
            }
        };
        let sizes = [bytes("data_size")?, bytes("ack_size")?];
        let model = if args.word("model") == "m1" { CycleModel::M1 } else { CycleModel::M2 };
        Ok(Fcwa {
            flows: Flows::new(args),
            oracle: (args.word("mode") != "estimated").then(|| facts.flows.iter().map(|f| (f.flow, *f)).collect()),
            pairs: sizes.map(|down| sizes.map(|up| (facts.cycle_time)(model, down, up).as_secs_f64())),
            measured: (args.word("ct") == "measured").then(Cycle::default),
            least: args.word("ld") == "min",
            buffer: window::buffer(args, facts)? as f64,
            margin,
            minimum: args.integer("minimum").max(1) as u64,
            keep_edge: args.flag("keep_edge"),
            per_round: 0.0,
            ct_ap: 0.0,
            generation: 0,
        })
    }

    /// Changes the factor on the window limit; windows follow with the next packet of each flow.
    pub fn set_margin(&mut self, margin: f64) {
        if margin != self.margin {
            self.margin = margin;
            self.generation += 1;
        }
    }

    /// Recomputes the values that all windows share.
    fn update(&mut self) {
        self.generation += 1;
        let (up, down) = self.flows.counts();
        if up + down == 0 {
            self.per_round = 0.0;
            return;
        }
        let sum: f64 = self.flows.active().map(|f| f.more.b()).sum();
        // Keceli 2008 §III-C assumes the same b for all flows.
        let b = libm::round(sum / f64::from(up + down)).max(1.0);
        self.per_round = f64::from(up) / b + f64::from(down);
        let measured = self.measured.as_ref().and_then(|c| c.mean);
        self.ct_ap = measured.unwrap_or_else(|| ct_ap(&self.pairs, up.into(), down.into(), b));
    }
}

impl Control for Fcwa {
    fn on_packet(&mut self, cx: &mut Cx, from: Side, mut p: Packet, out: &mut Pass) {
        let oracle = &self.oracle;
        if self.flows.see(cx.now, from, &p, || Path::new(oracle.as_ref().and_then(|o| o.get(&p.flow)))) {
            self.update();
        }
        let (flow, reverse) = (p.flow, p.is_reverse());
        if let (Some(seg), Some(f)) = (p.tcp_mut(), self.flows.get(flow)) {
            let before = f.edge;
            let mss = f.more.mss.unwrap_or(f.mss);
            let path = &mut f.more;
            if path.generation != self.generation && self.per_round > 0.0 {
                path.generation = self.generation;
                let w = self.margin * window_limit(path.two_ld(self.least), self.ct_ap, self.buffer, self.per_round);
                path.segments = (w as u64).max(self.minimum);
            }
            if reverse {
                // Before the first update the window is not lowered, but its right edge is recorded.
                let segments = if self.per_round > 0.0 && mss > 0 { path.segments } else { u64::MAX };
                window::rewrite(seg, segments, mss, &mut f.edge, self.keep_edge);
            }
            if self.oracle.is_none() {
                f.measure(cx.now, seg, reverse, before);
            }
        }
        out.packets.push((from, p));
    }

    fn on_air(&mut self, report: &AirReport) {
        if let Some(cycle) = &mut self.measured
            && !report.up
            && report.success
        {
            cycle.success(report.now, report.waiting > 0);
        }
    }

    fn hears_air(&self) -> bool {
        self.measured.is_some()
    }
}
