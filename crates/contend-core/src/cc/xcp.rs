//! XCP: the queues on the path say by how much the window changes.
//!
//! - The window is counted in whole segments. The fraction of a segment is kept beside it. A change of one byte per
//!   second for one microsecond is a millionth of a byte.
//! - A loss halves the window, and a timeout leaves one segment, as in ns-2's `TCP/Reno/XCP`. Nothing but feedback
//!   opens the window.
//! - The header counts payload, as in ns-2: throughput is window x segment / round-trip time.
//! - A path without XCP queues returns the request, so a flow soon sends at the rate that it desires.

use super::{Ack, CWND, Controller, HALVED, Needs, Response, Signal, Window, header_bytes, reno};
use crate::Cx;
use crate::Refusal;
use crate::explicit::{HeaderFormat, XCP};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Explicit;
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Katabi, Handley, Rohrs 2002; Barreto 2012 §2.3.3.1; ns-2 TCP/Reno/XCP";
/// What it does.
pub const SUMMARY: &str = "The window follows the feedback of queues of kind xcp; a loss halves it.";
/// Parameters.
pub const PARAMS: &[Param] = &[super::HEADER.default("20B"), DESIRED];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    symbol("W_r", "the receiver's window, in segments"),
    symbol("M", "payload of a segment, in bytes"),
    symbol("T_RTT", "smoothed round-trip time"),
    symbol("TH", "the sender's throughput, in byte/s"),
    symbol("Δ_1", "change of the throughput that a packet asks for, in byte/s"),
    symbol("Δ_2", "change that the ACK returns, in byte/s"),
    HALVED,
    on("a packet is about to leave"),
    eq("TH = min(W, W_r) · M / T_RTT", "Barreto 2012 §2.3.3.1; ns-2"),
    eq("Δ_1 = (C_desired − TH) / (TH · T_RTT / M)", "Barreto 2012 eq. 2.18"),
    step(
        "the header carries `T_RTT`, `TH` and `Δ_1`, and nothing before the first round-trip sample; the queues lower \
            `Δ_1`",
        "Katabi et al. 2002",
    ),
    on("every ACK with a header, which returns `Δ_2`"),
    eq("W ← max(1, W + Δ_2 · T_RTT / M)", "Barreto 2012 eq. 2.19"),
    on("a loss without a timeout, or a mark"),
    eq("W ← min(W, max(2, F / 2))", "ns-2 TCP/Reno/XCP"),
    on("a timeout"),
    eq("W ← 1", "ns-2 TCP/Reno/XCP"),
];

pub(super) const DESIRED: Param = Param::rate("desired", "throughput that the sender asks for")
    .symbol("C_desired")
    .default("10Gbps")
    .range(1e3, 17e9);

/// A fraction of a byte, as a power of two.
const FRACTION_BITS: u32 = 10;
/// The largest window in segments.
const MOST: i64 = 1 << 30;

/// Builds the controller.
///
/// # Errors
/// If `header` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Xcp::new(args)?))
}

#[derive(Debug)]
pub(super) struct Xcp {
    /// Size of the header in bytes.
    header: u32,
    /// C_desired in bytes per second.
    desired: u64,
    /// The fraction of a segment that belongs to the window, in bytes.
    rest_q10: i64,
}

impl Xcp {
    pub(super) fn new(args: &Args) -> Result<Xcp, Refusal> {
        Ok(Xcp { header: header_bytes(args)?, desired: args.rate("desired") / 8, rest_q10: 0 })
    }

    /// C_desired in bytes per second.
    pub(super) fn desired(&self) -> u64 {
        self.desired
    }
}

impl Controller for Xcp {
    fn needs(&self) -> Needs {
        Needs { explicit: Some(HeaderFormat { kind: XCP, bytes: self.header }), ..Needs::default() }
    }

    fn header(&self, w: &Window, srtt_us: u32) -> Explicit {
        if srtt_us == 0 {
            return Explicit::default();
        }
        let segments = u64::from(w.cwnd.min(w.rwnd).max(1));
        let throughput = segments.saturating_mul(u64::from(w.mss) * 1_000_000) / u64::from(srtt_us);
        // Barreto 2012 eq. 2.18: the change wanted, divided by the packets of a round trip.
        let wanted = (self.desired as i64 - i64::try_from(throughput).unwrap_or(i64::MAX)) / segments as i64;
        Explicit {
            rtt_us: srtt_us,
            throughput: u32::try_from(throughput).unwrap_or(u32::MAX).max(1),
            change: wanted.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        }
    }

    fn on_every_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        let Some(h) = ack.explicit else { return };
        // Eq. 2.19: change x round-trip time, in bytes; 2^10 / 10^6 = 16 / 15625.
        let bytes_q10 = i64::from(h.change).saturating_mul(ack.srtt_us.into()).saturating_mul(16).div_euclid(15_625);
        let segment = i64::from(w.mss.max(1)) << FRACTION_BITS;
        let rest = self.rest_q10.saturating_add(bytes_q10);
        let cwnd = i64::from(w.cwnd).saturating_add(rest.div_euclid(segment));
        self.rest_q10 = if cwnd < 1 { 0 } else { rest.rem_euclid(segment) };
        w.cwnd = cwnd.clamp(1, MOST) as u32;
    }

    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        self.rest_q10 = 0;
        reno::answer(w, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Xcp>() <= 104, "{}", size_of::<Xcp>());
    }

    #[test]
    fn the_header_says_what_the_flow_sends_and_asks_for_the_rest() {
        let xcp = Xcp { header: 20, desired: 1_000_000, rest_q10: 0 };
        // 50 segments of 1000 B in 100 ms are 500 kB/s; the other 500 kB/s, by 50 packets.
        let w = Window { cwnd: 50, ..Window::default() };
        assert_eq!(xcp.header(&w, 100_000), Explicit { rtt_us: 100_000, throughput: 500_000, change: 10_000 });
        assert_eq!(xcp.header(&Window { cwnd: 200, ..w }, 100_000).change, -5_000);
        assert_eq!(xcp.header(&w, 0), Explicit::default());
    }
}
