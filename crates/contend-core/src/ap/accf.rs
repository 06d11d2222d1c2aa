//! ACCF, acknowledgment congestion control and filtering: an upload receives acknowledgments no faster than the average
//! download receives data.
//!
//! Keceli, Inan, Ayanoglu, "Fair and Efficient TCP Access in the IEEE 802.11 Infrastructure BSS", 2008, §IV. ACCF holds
//! at most one acknowledgment per upload, the newest. A timer releases it after the time in which a download receives
//! as many segments as the acknowledgment will trigger. An acknowledgment that is already late came in a burst; ACCF
//! waits a short time for the rest of the burst. Data of downloads and all packets from the air pass unchanged.
//!
//! Differences from the paper, which leaves these points open:
//! - `num_cum` counts segments, not acknowledgments. A partial segment counts as one.
//! - The shape of gamma and the filter of the measurement are parameters.
//! - An acknowledgment passes at once if it acknowledges no new data, carries SACK blocks, a flag other than ACK, or
//!   payload, or is the first of its flow. If it acknowledges new data, it counts as passed for `num_cum` and t_buf.
//! - Without a measured download, all acknowledgments pass at once, or (`fallback`) are held to the mean pace of
//!   uploads.
//! - A late acknowledgment passes at once if its own flow has no measurement yet.

use super::{Control, Facts, Pass, Side};
use crate::Cx;
use crate::Refusal;
use crate::filtered::{ACCECN, Filtered, Left};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::{Flags, FlowId, Packet};
use crate::qdisc::DropReason;
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;

/// Source of the algorithm.
pub const CITE: &str = "Keceli, Inan, Ayanoglu 2008 §IV";
/// What it does.
pub const SUMMARY: &str = "Acknowledges uploads at the pace of the downloads: holds the newest acknowledgment of each \
    upload until the downloads have received as many segments, and filters the older ones.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::number(
        "alpha",
        "a download counts only if the time between its packets is less than alpha times that of the fastest download",
    )
    .default("1.5")
    .range(0.0, 1e6)
    .symbol("α"),
    Param::number("beta", "time to wait for the rest of a burst, in mean times between the flow's acknowledgments")
        .default("2")
        .range(0.0, 1e6)
        .symbol("β"),
    Param::number("gamma_min", "minimum weight of the holding time, for flows whose window seems small")
        .default("0.5")
        .range(0.0, 1.0)
        .symbol("γ_min"),
    Param::integer("num_thresh", "segments per acknowledgment from which the weight is 1")
        .default("10")
        .range(0.0, 1e6),
    Param::word(
        "gamma",
        &["linear", "step", "ratio"],
        "weight below num_thresh. linear: rises linearly from gamma_min; step: gamma_min; ratio: segments / \
            num_thresh, at least gamma_min",
    )
    .default("linear"),
    Param::time("period", "time between two measurements of the rates").default("500ms").range(1e-2, 1e3).symbol("T_m"),
    Param::number("weight", "weight of a new measurement in the mean").default("0.25").range(0.0, 1.0).symbol("w"),
    Param::time("idle", "a flow that is silent for longer is forgotten")
        .default("2s")
        .range(1e-2, 1e3)
        .symbol("T_idle"),
    Param::flag(
        "flush",
        "true if a held acknowledgment is sent before one that passes at once, so that the order is kept",
    )
    .default("true"),
    Param::word(
        "fallback",
        &["pass", "uplink"],
        "what happens when there are no downloads. pass: acknowledgments pass at once; uplink: the mean upload takes \
            the place of the mean download",
    )
    .default("pass"),
    ACCECN,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol(
        "I_j",
        "AvgInt: mean time between the packets of flow `j`: data of a download, acknowledgments of an upload",
    ),
    symbol("j", "a flow"),
    symbol("n", "such packets in the last `T_m`"),
    symbol("c_j", "segments per acknowledgment of an upload, measured in the same way"),
    symbol("A", "AvgDataInt: time between the data of the mean download"),
    symbol("a", "number of the acknowledgment"),
    symbol("a_p", "number of the last acknowledgment of the flow that passed"),
    symbol("t_buf", "time since it passed"),
    symbol("MSS", "largest payload of the flow so far, in bytes"),
    symbol("num", "num_cum: segments that the acknowledgment releases"),
    symbol("g", "γ(num), weight of the holding time"),
    symbol("D", "time until the acknowledgment is due"),
    symbol("h", "time for which it is held"),
    on("the end of each `T_m`"),
    eq("I_j ← I_j + w · (T_m / n − I_j)", "Keceli, Inan, Ayanoglu 2008 §IV")
        .when("`n > 0`; the first sample is the mean"),
    eq("I_j ← I_j + w · (max(I_j, T_m) − I_j)", "").when("`n = 0`"),
    step("the flow is forgotten", "").when("it was silent for more than `T_idle` and nothing of it is held"),
    step("`A` is the mean of `I_j` over the downloads with `I_j < α · min_j(I_j)`", ""),
    step("`A` is the mean of `I_j / c_j` over the uploads", "").when("there is no download, and `fallback = uplink`"),
    on("an acknowledgment of an upload arrives from the wire"),
    step("it passes at once, with `flush` after the held one", "")
        .when("it acknowledges nothing new, has SACK blocks, payload or a flag but ACK, or is the first of its flow"),
    eq("num = ⌈(a − a_p) / MSS⌉", "").when("otherwise"),
    step("it replaces the one that is held, and stops its timer", ""),
    eq("g = 1", "").when("`num ≥ num_thresh`"),
    eq("g = γ_min + (1 − γ_min) · (num − 1) / (num_thresh − 1)", "").when("`num < num_thresh` and `gamma = linear`"),
    eq("g = γ_min", "").when("`num < num_thresh` and `gamma = step`"),
    eq("g = max(γ_min, num / num_thresh)", "").when("`num < num_thresh` and `gamma = ratio`"),
    eq("D = g · num · A − t_buf", ""),
    eq("h = D", "").when("`D ≥ 0`"),
    eq("h = β · I_j", "").when("`D + β · I_j < 0`; 0 if there is no `I_j`"),
    eq("h = 0", "").when("`D < 0 ≤ D + β · I_j`, or there is no `A`"),
    step("it passes after `h`, if no other has replaced it", ""),
];

/// The shape of gamma below `num_thresh`.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Linear,
    Step,
    Ratio,
}

/// The control block.
#[derive(Debug)]
pub struct Accf {
    alpha: f64,
    beta: f64,
    gamma_min: f64,
    num_thresh: f64,
    shape: Shape,
    period: Span,
    weight: f64,
    idle: Span,
    flush: bool,
    uplink: bool,
    accecn: Filtered,
    flows: BTreeMap<FlowId, Flow>,
    /// Running timers, ordered by time.
    timers: BTreeSet<(Time, FlowId)>,
    /// End of the period being measured.
    period_end: Time,
    /// AvgDataInt in seconds; `None` if there is no download to measure.
    avg_data_int: Option<f64>,
}

/// State of one flow.
#[derive(Debug)]
struct Flow {
    /// True if the flow is an upload.
    up: bool,
    /// Payload of the largest segment so far in bytes; 0 before the first segment.
    mss: u32,
    /// Packets in this period: data packets of a download, acknowledgments of an upload.
    count: u32,
    /// AvgInt in seconds.
    avg_int: Option<f64>,
    /// Arrival time of the last counted packet.
    last: Time,
    /// Segments per acknowledgment, and (`mark`) the highest acknowledgment at the start of the period.
    per_ack: f64,
    mark: u64,
    /// The highest acknowledgment so far.
    highest: Option<u64>,
    /// The last acknowledgment that passed, and the time at which it passed.
    passed: u64,
    passed_at: Time,
    left: Left,
    /// buf: the held acknowledgment, and the end of its timer.
    held: Option<(Packet, Time)>,
}

/// Builds the control block.
///
/// # Errors
/// If a constant is outside its range.
pub fn build(args: &Args, _: &Facts) -> Result<Box<dyn Control>, Refusal> {
    let above_one = |name| match args.number(name) {
        x if x > 1.0 => Ok(x),
        x => Err(Refusal::new(format!("{name} = {x} is too small"), "write a number above 1")),
    };
    let share = |name| match args.number(name) {
        x if x > 0.0 && x <= 1.0 => Ok(x),
        x => Err(Refusal::new(format!("{name} = {x} is out of range"), "write a number above 0 and at most 1")),
    };
    let num_thresh = args.integer("num_thresh");
    if num_thresh < 2 {
        return Err(Refusal::new(format!("num_thresh = {num_thresh} is too small"), "write 2 or more"));
    }
    let period = args.time("period");
    Ok(Box::new(Accf {
        alpha: above_one("alpha")?,
        beta: above_one("beta")?,
        gamma_min: share("gamma_min")?,
        num_thresh: num_thresh as f64,
        shape: match args.word("gamma") {
            "step" => Shape::Step,
            "ratio" => Shape::Ratio,
            _ => Shape::Linear,
        },
        period,
        weight: share("weight")?,
        idle: args.time("idle"),
        flush: args.flag("flush"),
        uplink: args.word("fallback") == "uplink",
        accecn: Filtered::new(args),
        flows: BTreeMap::new(),
        timers: BTreeSet::new(),
        period_end: Time::ZERO + period,
        avg_data_int: None,
    }))
}

impl Control for Accf {
    fn on_packet(&mut self, cx: &mut Cx, from: Side, p: Packet, out: &mut Pass) {
        let now = cx.now;
        self.measure(now);
        let Some(seg) = p.tcp() else { return out.packets.push((from, p)) };
        let up = (from == Side::Air) != p.is_reverse();
        let f = self.flows.entry(p.flow).or_insert_with(|| Flow::new(up, now));
        if !p.is_reverse() {
            f.mss = f.mss.max(seg.len);
            if !f.up && seg.len > 0 {
                (f.count, f.last) = (f.count + 1, now);
            }
        }
        if !(p.is_reverse() && from == Side::Wire && f.up && seg.flags.has(Flags::ACK)) {
            return out.packets.push((from, p));
        }
        (f.count, f.last) = (f.count + 1, now);
        let new = f.highest.is_some_and(|h| seg.ack > h);
        let first = f.highest.is_none();
        f.highest = f.highest.max(Some(seg.ack));
        let pure = self.accecn.pure_ack(&p).is_some();
        if new && pure && f.held.is_some() && !self.accecn.may_replace(f.left, seg) {
            pass(&mut self.timers, f, p.flow, now, out);
        }
        if first || !new || !pure {
            // Keceli 2008 §IV: duplicates and acknowledgments with flags are not delayed.
            let ack = seg.ack;
            if self.flush {
                pass(&mut self.timers, f, p.flow, now, out);
            }
            if first {
                f.mark = ack;
            }
            f.left = f.left.then(seg);
            if first || new {
                (f.passed, f.passed_at) = (ack, now);
            }
            return out.packets.push((from, p));
        }
        // Keceli 2008 §IV: a newer acknowledgment replaces the held one. The held one is always the highest.
        let num = (seg.ack - f.passed).div_ceil(u64::from(f.mss.max(1))) as f64;
        if let Some((older, due)) = f.held.replace((p, Time::NEVER)) {
            self.timers.remove(&(due, p.flow));
            out.sink.drop(older, DropReason::Filtered);
        }
        let hold = match self.avg_data_int {
            None => 0.0,
            Some(avg) => {
                let d = gamma(self.shape, self.gamma_min, self.num_thresh, num) * num * avg
                    - now.since(f.passed_at).as_secs_f64();
                let burst = self.beta * f.avg_int.unwrap_or(0.0);
                // Keceli 2008 §IV: the acknowledgment is late by more than the duration of the rest of a burst. Wait
                // for that rest.
                if d >= 0.0 {
                    d
                } else if d + burst < 0.0 {
                    burst
                } else {
                    0.0
                }
            }
        };
        let due = now.saturating_add(Span::from_secs_f64(hold));
        if due <= now {
            pass(&mut self.timers, f, p.flow, now, out);
        } else {
            f.held = Some((p, due));
            self.timers.insert((due, p.flow));
        }
    }

    fn on_wake(&mut self, cx: &mut Cx, out: &mut Pass) {
        while let Some(&(due, flow)) = self.timers.first()
            && due <= cx.now
        {
            self.timers.pop_first();
            if let Some(f) = self.flows.get_mut(&flow) {
                pass(&mut self.timers, f, flow, cx.now, out);
            }
        }
    }

    fn next_deadline(&self) -> Time {
        self.timers.first().map_or(Time::NEVER, |(due, _)| *due)
    }

    fn held(&self) -> u64 {
        self.timers.len() as u64
    }
}

/// Passes the held acknowledgment of `f`, if there is one.
fn pass(timers: &mut BTreeSet<(Time, FlowId)>, f: &mut Flow, flow: FlowId, now: Time, out: &mut Pass) {
    if let Some((p, due)) = f.held.take() {
        timers.remove(&(due, flow));
        (f.passed, f.passed_at) = (p.tcp().map_or(f.passed, |s| s.ack.max(f.passed)), now);
        f.left = p.tcp().map_or(f.left, |s| f.left.then(s));
        out.packets.push((Side::Wire, p));
    }
}

/// Weight of the holding time of an acknowledgment that covers `num` segments.
fn gamma(shape: Shape, min: f64, thresh: f64, num: f64) -> f64 {
    if num >= thresh {
        return 1.0;
    }
    // The paper says only: from gamma_min to 1.
    match shape {
        Shape::Linear => min + (1.0 - min) * (num - 1.0) / (thresh - 1.0),
        Shape::Step => min,
        Shape::Ratio => (num / thresh).max(min),
    }
}

impl Flow {
    fn new(up: bool, now: Time) -> Flow {
        Flow {
            up,
            mss: 0,
            count: 0,
            avg_int: None,
            last: now,
            per_ack: 1.0,
            mark: 0,
            highest: None,
            passed: 0,
            passed_at: now,
            left: Left::default(),
            held: None,
        }
    }

    /// Updates the averages at the end of a period of `length` seconds.
    fn end_period(&mut self, length: f64, weight: f64) {
        if self.count == 0 {
            // No packet came: the mean interval is at least the period.
            self.avg_int = self.avg_int.map(|a| a + weight * (a.max(length) - a));
            return;
        }
        let (first, count) = (self.avg_int.is_none(), f64::from(self.count));
        let sample = length / count;
        self.avg_int = Some(self.avg_int.map_or(sample, |a| a + weight * (sample - a)));
        if let Some(h) = self.highest {
            let per_ack = ((h - self.mark) as f64 / (f64::from(self.mss.max(1)) * count)).max(1.0);
            self.per_ack += if first { 1.0 } else { weight } * (per_ack - self.per_ack);
            self.mark = h;
        }
        self.count = 0;
    }
}

impl Accf {
    /// Ends all periods that are over at `now`.
    fn measure(&mut self, now: Time) {
        while self.period_end <= now {
            let (end, length, weight, idle) = (self.period_end, self.period.as_secs_f64(), self.weight, self.idle);
            self.flows.retain(|_, f| {
                f.end_period(length, weight);
                f.held.is_some() || end.since(f.last) <= idle
            });
            // Without flows nothing changes: skip all periods until `now`.
            let periods = if self.flows.is_empty() { now.since(end).div_floor(self.period) + 1 } else { 1 };
            self.period_end = end + self.period * periods;
            self.avg_data_int = self.average();
        }
    }

    /// AvgDataInt.
    fn average(&self) -> Option<f64> {
        let of = |up| self.flows.values().filter(move |f| f.up == up);
        let down = || of(false).filter_map(|f| f.avg_int);
        let fastest = down().fold(f64::INFINITY, f64::min);
        // Keceli 2008 §IV: the mean over the downloads that are not much slower than the fastest.
        let counted = down().filter(|a| *a < self.alpha * fastest);
        // The paper does not define AvgDataInt for a cell without downloads. The seconds per acknowledged segment of
        // uploads are comparable with the seconds per segment of downloads.
        mean(counted)
            .or_else(|| self.uplink.then(|| mean(of(true).filter_map(|f| Some(f.avg_int? / f.per_ack)))).flatten())
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), x| (sum + x, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}
