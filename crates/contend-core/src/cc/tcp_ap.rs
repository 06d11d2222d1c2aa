//! TCP-AP: NewReno's window, paced by the estimated delay of a packet over four hops. With rt-Winf's bandwidth it is
//! TCP-AP-Winf, and with the contention factor of the path also WE TCP-AP.
//!
//! - The queueing delay of a hop is t_q = (RTT/h - (S_data + S_ACK)/b) / 2, and the delay over four hops is FHD =
//!   4 (t_q + S_data/b) (eqs. 2.26, 2.27). The thesis prints S_data - S_ACK; eqs. 2.23 to 2.25 give the sum (spec U5,
//!   `sign`).
//! - The pacing law is not printed. As in the authors' ns-2 agent, the gap is (1 + 2 d) times the smoothed delay, where
//!   d is the mean absolute deviation of the last samples over their mean, or their coefficient of variation (eq.
//!   2.28).
//! - As in the agent: a queueing delay above `delaybound` is replaced by its running average, with weight 1/2; a delay
//!   that is not above 0 or not below `delaybound` is no sample; a path shorter than four hops is paced by one hop; a
//!   duplicate acknowledgment stops pacing until the next acknowledgment of new data.
//! - Unlike the agent: no sample for a retransmitted segment (RFC 6298 §3); the hop count is that of the data packet,
//!   not that of its acknowledgment; timeouts double. `rto = { backoff_after = 1000 }` keeps them as in the agent.
//! - `bandwidth = "air"`: t_q by the capacity C_Winf of the sender's node, S_data by its available bandwidth AB_Winf
//!   (eqs. 6.1, 6.2), which may be corrected for contention. AB_Winf counts as at least one segment per second.
//! - `path_factor`: on a path with NP - 1 > 4 the delay is longer by R = 1 + 1/NP (Algorithm 1). R falls to 1 as the
//!   path grows (spec U6).
//!
//! State: 4 bytes for each sample of `history` and about 150 bytes.

use super::reno::Reno;
use super::slow_start::ABC;
use super::{Ack, Controller, Needs, Response, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::observe::Correction;
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str =
    "ElRakabawy, Klemm, Lindemann 2005, as Barreto 2012 §2.3.4 has it; §6.3 for rt-Winf and WE TCP-AP";
/// What it does.
pub const SUMMARY: &str = "Paces NewReno's window by the delay of a packet over four hops; for paths of many wireless \
    hops.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("n_factor", "hops that one packet occupies: spatial reuse").default("4").range(1.0, 255.0),
    Param::time("rate_interval", "gap between segments before the first sample").default("50ms").range(1e-6, 1.0),
    Param::integer("history", "samples of which the deviation is computed").default("50").range(1.0, 1000.0),
    Param::time("delaybound", "longest delay that counts").default("500ms").range(1e-6, 1000.0),
    Param::integer("alpha_1024", "weight of the old average in 1024ths (0.7)").default("717").range(0.0, 1024.0),
    Param::rate("ll_bandwidth", "bandwidth of a link (the thesis: 2Mbps on a channel of 11Mbps)")
        .symbol("b")
        .default("2Mbps")
        .range(1000.0, 1e12),
    Param::integer("overhead", "bytes of all headers of a packet").default("112").range(0.0, 1000.0),
    Param::word(
        "short_path",
        &["one", "four"],
        "delay on a path of fewer than n_factor hops. one: of one hop (agent); four: of n_factor hops (text)",
    )
    .default("one"),
    Param::word("sign", &["derived", "printed"], "sign of S_ACK in t_q. derived: plus; printed: minus (U5)")
        .default("derived"),
    Param::word(
        "coefficient",
        &["adev", "cov"],
        "deviation of the samples. adev: mean absolute deviation / mean; cov: standard deviation / mean (eq. 2.28)",
    )
    .default("adev"),
    Param::word(
        "bandwidth",
        &["ll_bandwidth", "air"],
        "bandwidth of a hop. ll_bandwidth: the parameter of this name; air: capacity and available bandwidth that \
            an observer of the sender's node measures",
    )
    .default("ll_bandwidth"),
    Correction::PARAM,
    Param::word(
        "path_factor",
        &["off", "hops", "inner"],
        "WE TCP-AP's factor R. off: 1; hops: NP is hops + 1; inner: NP counts only the nodes between the ends",
    )
    .default("off"),
    ABC,
    super::reno::COUNT,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("h", "links of the path of the data packet that the ACK answers"),
    symbol("RTT", "round-trip sample"),
    symbol("M", "payload of a segment, in bytes"),
    symbol("S_data", "size of a data packet, in bytes"),
    symbol("S_ACK", "size of an acknowledgment, in bytes"),
    symbol("C", "capacity of a hop: `b`, or with `bandwidth = air` C_Winf of the observer, in byte/s"),
    symbol("AB", "bandwidth of a hop for the data: `b`, or with `bandwidth = air` AB_Winf of the observer, in byte/s"),
    symbol(
        "AB_R",
        "available bandwidth that the last ACK frame told, in byte/s; ∞ if none did, and with `bandwidth = \
            ll_bandwidth`",
    ),
    symbol(
        "P",
        "what contention takes: 0 with `correction = off` or `bandwidth = ll_bandwidth`, C_extra (eq. 5.19) with \
            `overhead`, the share of the node's own attempts that failed with `failures`",
    ),
    symbol("t_q", "queueing delay of a hop"),
    symbol("t_a", "its running average"),
    symbol("k", "hops whose delay counts"),
    symbol("FHD", "delay of a packet over `k` hops"),
    symbol("NP", "nodes of the path: `h + 1` with `path_factor = hops`, `h − 1` with `path_factor = inner`"),
    symbol("α", "`alpha_1024 / 1024`"),
    symbol("D", "smoothed delay"),
    symbol("x_i", "the last `N` values of `FHD`; `N` is at most `history`"),
    symbol("N", "number of these values"),
    symbol("m", "their mean"),
    symbol("d", "their deviation"),
    symbol("T", "gap between two segments"),
    on("the start of the connection"),
    eq("T = rate_interval", "the authors' ns-2 agent"),
    on("an ACK of new data, or one that is no duplicate"),
    step("without a round-trip sample only `T` is computed, from the old `D`", "the authors' ns-2 agent"),
    eq("S_data = M + overhead", ""),
    eq("S_ACK = overhead", ""),
    eq("AB ← max(M / \"1 s\", min((1 − P) · AB, AB_R))", "Barreto 2012 eq. 5.21, §6.3.1"),
    eq("t_q = (RTT / h − (S_data + S_ACK) / C) / 2", "Barreto 2012 eq. 2.23 to 2.26, 6.1").when("`sign = derived`"),
    eq("t_q = (RTT / h − (S_data − S_ACK) / C) / 2", "Barreto 2012 eq. 2.26, 6.1").when("`sign = printed`"),
    eq("t_q ← t_a", "the authors' ns-2 agent").when("`t_q > delaybound`"),
    eq("t_a ← (t_a + t_q) / 2", ""),
    eq("k = 1", "").when("`h < n_factor` and `short_path = one`"),
    eq("k = n_factor", "Barreto 2012 eq. 2.27").when("otherwise"),
    eq("FHD = k · (t_q + S_data / AB)", "Barreto 2012 eq. 2.27, 6.2"),
    eq("FHD ← (1 + 1 / NP) · FHD", "Barreto 2012 eq. 6.3 to 6.5").when("`NP − 1 > 4`, unless `path_factor = off`"),
    step("`FHD` is no sample unless it is above 0 and below `delaybound`", "the authors' ns-2 agent"),
    eq("D ← α · D + (1 − α) · FHD", "").when("it is not the first sample: that is `D` itself"),
    eq("d = Σ_i |x_i − m| / (N · m)", "").when("`coefficient = adev`"),
    eq("d = √(Σ_i ((x_i − m)^2) / (N − 1)) / m", "Barreto 2012 eq. 2.28").when("`coefficient = cov`"),
    eq("T = D · (1 + 2 · d)", "the authors' ns-2 agent"),
    step("then the window grows as with reno", "RFC 5681 §3.1"),
    on("a duplicate ACK"),
    step("nothing is paced until the next ACK that is no duplicate", "the authors' ns-2 agent"),
    on("a loss, a mark or a timeout"),
    step("the window changes as with reno", "RFC 5681 §3.1"),
];

/// Builds the controller.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let whole = |name| u32::try_from(args.integer(name)).unwrap_or(0);
    let history = whole("history").max(1) as usize;
    Ok(Box::new(TcpAp {
        reno: Reno::new(args),
        n_factor: whole("n_factor").max(1),
        rate_interval_us: args.time("rate_interval").as_micros().max(1),
        bound_us: i64::try_from(args.time("delaybound").as_micros()).unwrap_or(i64::MAX),
        alpha_1024: u64::from(whole("alpha_1024")).min(1024),
        bandwidth: (args.rate("ll_bandwidth") / 8).max(1),
        overhead: u64::from(whole("overhead")),
        short_by_one: args.word("short_path") == "one",
        printed: args.word("sign") == "printed",
        cov: args.word("coefficient") == "cov",
        air: args.word("bandwidth") == "air",
        correction: Correction::new(args.word("correction")),
        factor: match args.word("path_factor") {
            "hops" => Factor::Hops,
            "inner" => Factor::Inner,
            _ => Factor::Off,
        },
        queueing_us: 0,
        delay_us: 0,
        samples: Vec::with_capacity(history),
        history,
        next: 0,
        deviation_1024: 0,
    }))
}

/// Which nodes of the path the factor R counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    /// No factor.
    Off,
    /// All, with both ends.
    Hops,
    /// Those between the ends.
    Inner,
}

#[derive(Debug)]
struct TcpAp {
    reno: Reno,
    n_factor: u32,
    rate_interval_us: u64,
    bound_us: i64,
    alpha_1024: u64,
    /// b in bytes per second.
    bandwidth: u64,
    /// Bytes of headers.
    overhead: u64,
    /// True if a short path is paced by the delay of one hop.
    short_by_one: bool,
    /// True for the printed sign.
    printed: bool,
    /// True for the coefficient of variation.
    cov: bool,
    /// True if an observer gives the bandwidth.
    air: bool,
    correction: Correction,
    factor: Factor,
    /// Running average of t_q in microseconds.
    queueing_us: i64,
    /// Smoothed delay in microseconds; 0 before the first sample.
    delay_us: u64,
    /// The last samples in microseconds, in no order.
    samples: Vec<u32>,
    history: usize,
    /// Place of the oldest sample once the history is full.
    next: usize,
    deviation_1024: u64,
}

impl Controller for TcpAp {
    fn on_start(&mut self, w: &mut Window) {
        self.pace(w);
    }

    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.reno.on_ack(cx, w, ack);
    }

    fn on_every_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        if ack.dup {
            w.pacing_rate = 0;
            return;
        }
        if let Some(rtt_us) = ack.rtt_us {
            self.measure(w, rtt_us, u32::from(ack.hops) + 1);
        }
        self.pace(w);
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        self.reno.on_congestion(cx, w, ack, why)
    }

    fn needs(&self) -> Needs {
        Needs { full_gaps: true, air: self.air, ..Needs::default() }
    }
}

impl TcpAp {
    /// Capacity and available bandwidth of a hop in bytes per second.
    fn bandwidths(&self, w: &Window) -> (u64, u64) {
        let local = w.local.filter(|_| self.air).map(|l| l.corrected(self.correction));
        let capacity = local.and_then(|l| l.capacity).unwrap_or(self.bandwidth);
        let available = local.and_then(|l| l.available).unwrap_or(capacity);
        (capacity.max(1), available.max(u64::from(w.mss)))
    }

    /// Takes a round-trip time of a path with `hops` links.
    fn measure(&mut self, w: &Window, rtt_us: u32, hops: u32) {
        let (capacity, available) = self.bandwidths(w);
        // The size of a packet that the agent takes: payload and headers; an acknowledgment has headers only.
        let (data, ack) = (u64::from(w.mss) + self.overhead, self.overhead);
        let time_ns = |bytes: u64, rate: u64| i64::try_from(bytes * 1_000_000_000 / rate).unwrap_or(i64::MAX / 4);
        let both = if self.printed { data.saturating_sub(ack) } else { data + ack };
        // Eq. 2.26, 6.1.
        let mut queueing = (i64::from(rtt_us) * 1000 / i64::from(hops) - time_ns(both, capacity)) / 2000;
        if queueing > self.bound_us {
            queueing = self.queueing_us;
        }
        self.queueing_us = (self.queueing_us + queueing) / 2;
        // Eq. 2.27, 6.2.
        let one_hop = queueing.saturating_add(time_ns(data, available) / 1000);
        let length = if hops < self.n_factor && self.short_by_one { 1 } else { self.n_factor };
        let delay = self.stretched(one_hop.saturating_mul(length.into()), hops);
        if delay <= 0 || delay >= self.bound_us {
            return;
        }
        let (sample, old) = (delay as u64, self.delay_us);
        self.delay_us =
            if old == 0 { sample } else { (self.alpha_1024 * old + (1024 - self.alpha_1024) * sample) / 1024 };
        self.keep(sample);
    }

    /// `delay` times R on a path with `hops` links (eqs. 6.3 to 6.5).
    fn stretched(&self, delay: i64, hops: u32) -> i64 {
        let nodes = match self.factor {
            Factor::Off => return delay,
            Factor::Hops => i64::from(hops) + 1,
            Factor::Inner => i64::from(hops) - 1,
        };
        if nodes - 1 <= 4 { delay } else { delay.saturating_mul(nodes + 1) / nodes }
    }

    /// Adds a sample, and computes the deviation of the history.
    fn keep(&mut self, sample_us: u64) {
        let sample = u32::try_from(sample_us).unwrap_or(u32::MAX);
        if self.samples.len() < self.history {
            self.samples.push(sample);
        } else {
            self.samples[self.next] = sample;
            self.next = (self.next + 1) % self.history;
        }
        let n = self.samples.len() as u64;
        let mean = self.samples.iter().map(|&x| u64::from(x)).sum::<u64>() / n;
        let apart = self.samples.iter().map(|&x| u64::from(x).abs_diff(mean));
        let deviation = if self.cov {
            // Eq. 2.28, with N - 1.
            let squares: u128 = apart.map(|d| u128::from(d) * u128::from(d)).sum();
            u64::try_from((squares / u128::from(n.max(2) - 1)).isqrt()).unwrap_or(u64::MAX)
        } else {
            apart.sum::<u64>() / n
        };
        self.deviation_1024 = deviation * 1024 / mean.max(1);
    }

    /// Sets the pacing rate.
    fn pace(&self, w: &mut Window) {
        let gap_us = match self.delay_us {
            0 => self.rate_interval_us,
            delay => (delay * (1024 + 2 * self.deviation_1024) / 1024).max(1),
        };
        w.pacing_rate = (u64::from(w.mss) * 1_000_000 / gap_us).max(1);
    }
}

#[cfg(test)]
mod tests;
