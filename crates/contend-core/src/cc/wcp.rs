//! WCP's sender: a rate that grows by a constant and is cut when a node on the path has marked a packet.
//!
//! - The control interval is the longest round-trip time in the neighbourhoods that the flow crosses. Queues of kind
//!   `wcp` write it into the header.
//! - The thesis gives alpha = 0.1 without a unit. `increase = "interval"`: alpha segments per control interval in each
//!   control interval, spread over the acknowledgments (r += alpha / T). `"ack"`: alpha segments per second for each
//!   acknowledged segment; the growth is then proportional to the rate.
//! - The rate is cut at most once in a control interval. The thesis does not print the factor.
//! - The first rate is the initial window in each control interval.
//! - The window only bounds the data in flight, see `rcp.rs`. Losses change neither rate nor window: WCP reacts to
//!   marks. Lost segments are retransmitted at the rate.
//! - The thesis also sets the channel utilisation `util_` = 0.7. It belongs to WCPCap, which estimates capacity and is
//!   not run.

use super::rcp::WINDOW;
use super::{Ack, Controller, Needs, Response, Signal, Window, header_bytes};
use crate::Cx;
use crate::Refusal;
use crate::explicit::{HeaderFormat, WCP, wcp};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Explicit;
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Rangwala, Jindal, Jang, Psounis, Govindan 2008, as Barreto 2012 §2.3.2, §3.3.6 has it";
/// What it does.
pub const SUMMARY: &str = "Additive increase of the rate, and a cut when a neighbourhood on the path is congested.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::HEADER.default("12B"),
    Param::integer("alpha_1024", "additive increase in 1024ths of a segment (0.1)").default("102").range(1.0, 1e6),
    Param::word(
        "increase",
        &["interval", "ack"],
        "unit of alpha. interval: segments per control interval, in each control interval; ack: segments per second, \
            for each acknowledged segment",
    )
    .default("interval"),
    Param::integer("decrease_1024", "factor of a cut in 1024ths (one half)").default("512").range(1.0, 1023.0),
    Param::rate("least", "least rate of payload").default("10kbps").range(8.0, 1e9),
    WINDOW,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("r", "the sender's rate, which paces the flow, in byte/s of payload"),
    symbol("M", "payload of a segment, in bytes"),
    symbol("T", "control interval: the longest round-trip time of the neighbourhoods on the path, at least `T_RTT`"),
    symbol("T_RTT", "smoothed round-trip time"),
    symbol("α", "`alpha_1024 / 1024` segments; with `increase = ack` per second"),
    symbol("n", "segments that the ACK shows to have arrived"),
    symbol("W", "cwnd: the window, in segments"),
    on("a packet is about to leave"),
    step(
        "the header carries `T_RTT`; queues raise it to that of their neighbourhood, and mark it if that is congested",
        "Barreto 2012 §2.3.2",
    ),
    on("every ACK with a header, after the first round-trip sample"),
    eq("r = W · M / T", "our choice").when("it is the first: `W` is the initial window"),
    eq("r ← r + α · n · M^2 / (r · T^2)", "Barreto 2012 §2.3.2, §3.3.6")
        .when("it is not marked, and `increase = interval`"),
    eq("r ← r + α · n · M", "").when("it is not marked, and `increase = ack`"),
    eq("r ← r · decrease_1024 / 1024", "").when("it is marked, and the last cut is at least the `T` of that time ago"),
    eq("r ← max(least, r)", "our choice"),
    eq("W = max(1, ⌈window_100 / 100 · r · T_RTT / M⌉)", "our choice, as RCP"),
    on("a loss, an ECN mark or a timeout"),
    step("`r` and `W` stay; lost segments are sent again at the rate `r`", "Barreto 2012 §2.3.2"),
];

/// Builds the controller.
///
/// # Errors
/// If `header` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let whole = |name| args.integer(name).max(1) as u64;
    Ok(Box::new(Wcp {
        header: header_bytes(args)?,
        alpha_1024: whole("alpha_1024"),
        per_ack: args.word("increase") == "ack",
        decrease_1024: whole("decrease_1024").min(1023),
        least_q10: (args.rate("least") / 8).max(1) << FRACTION_BITS,
        window_100: whole("window_100"),
        rate_q10: 0,
        next_cut: Time::ZERO,
    }))
}

/// A fraction of a byte per second, as a power of two.
const FRACTION_BITS: u32 = 10;
/// The greatest rate: 17 Gb/s.
const MOST_Q10: u64 = (1 << 31) << FRACTION_BITS;

#[derive(Debug)]
struct Wcp {
    /// Size of the header in bytes.
    header: u32,
    alpha_1024: u64,
    /// True if alpha is segments per second for each acknowledged segment.
    per_ack: bool,
    decrease_1024: u64,
    least_q10: u64,
    /// Window in percent of rate x round-trip time.
    window_100: u64,
    /// The rate in bytes of payload per second; 0 before the first feedback.
    rate_q10: u64,
    /// When the rate may be cut again.
    next_cut: Time,
}

impl Wcp {
    /// By how much the rate grows for `n` acknowledged segments.
    fn growth_q10(&self, n: u32, mss: u64, interval_us: u64) -> u64 {
        let (alpha, n, mss) = (u128::from(self.alpha_1024), u128::from(n), u128::from(mss));
        let growth = if self.per_ack {
            alpha * n * mss
        } else {
            // alpha M / T in each interval T, in which r T / M segments are acknowledged.
            let rate = u128::from((self.rate_q10 >> FRACTION_BITS).max(1));
            let interval = u128::from(interval_us);
            alpha * n * mss * mss * 1_000_000_000_000 / (rate * interval * interval)
        };
        u64::try_from(growth).unwrap_or(u64::MAX)
    }
}

impl Controller for Wcp {
    fn needs(&self) -> Needs {
        let explicit = Some(HeaderFormat { kind: WCP, bytes: self.header });
        Needs { explicit, full_control: true, full_gaps: true, ..Needs::default() }
    }

    fn header(&self, _: &Window, srtt_us: u32) -> Explicit {
        Explicit { rtt_us: srtt_us, throughput: srtt_us, change: 0 }
    }

    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let Some(h) = ack.explicit.filter(|_| ack.srtt_us > 0) else { return };
        let (interval_us, mss) = (u64::from(h.throughput.max(ack.srtt_us)), u64::from(w.mss.max(1)));
        if self.rate_q10 == 0 {
            self.rate_q10 = (u64::from(w.cwnd) * mss * 1_000_000 / interval_us) << FRACTION_BITS;
        }
        if !wcp::is_marked(&h) {
            let n = if ack.delivered > 0 { ack.delivered } else { ack.acked };
            self.rate_q10 = self.rate_q10.saturating_add(self.growth_q10(n, mss, interval_us));
        } else if cx.now >= self.next_cut {
            self.rate_q10 = self.rate_q10 / 1024 * self.decrease_1024;
            self.next_cut = cx.now + Span::from_micros(interval_us);
        }
        self.rate_q10 = self.rate_q10.clamp(self.least_q10, MOST_Q10);
        w.pacing_rate = (self.rate_q10 >> FRACTION_BITS).max(1);
        let bytes = (w.pacing_rate * u64::from(ack.srtt_us) / 1_000_000).saturating_mul(self.window_100) / 100;
        w.cwnd = bytes.div_ceil(mss).clamp(1, 1 << 30) as u32;
    }

    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, _: Signal) -> Response {
        Response::keep(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Wcp>() <= 104, "{}", size_of::<Wcp>());
    }
}
