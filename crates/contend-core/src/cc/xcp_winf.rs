//! XCP-Winf's sender: XCP that requests at most the available bandwidth of its node's air.
//!
//! - An observer of the sender's node measures capacity C_winf and available bandwidth AB_winf. No packet asks for more
//!   than AB_winf.
//! - `throughput` chooses the rate from which eq. 5.1 counts: C_winf as printed, or the sender's own throughput as in
//!   XCP. As printed, the request does not depend on the sender's own throughput, and is negative if the sender desires
//!   less than the capacity.
//! - The thesis multiplies C_winf by 1000, a factor of units.
//! - Before the observer's first sample the sender works like XCP's.

use super::xcp::{DESIRED, Xcp};
use super::{Ack, CWND, Controller, Needs, Response, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::observe::Correction;
use crate::packet::Explicit;
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Barreto 2012 §5.3.1, §5.4, eq. 5.1, 5.19 to 5.21";
/// What it does.
pub const SUMMARY: &str = "XCP's sender that asks at most for the bandwidth that its node's air has left.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::HEADER.default("20B"),
    DESIRED,
    Param::word(
        "throughput",
        &["own", "capacity"],
        "rate from which eq. 5.1 counts. own: the sender's, as in XCP; capacity: C_winf, as printed",
    )
    .default("own"),
    Correction::PARAM,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    symbol("W_r", "the receiver's window, in segments"),
    symbol("M", "payload of a segment, in bytes"),
    symbol("T_RTT", "smoothed round-trip time"),
    symbol("TH", "the sender's throughput, in byte/s"),
    symbol("C_winf", "capacity of the link, from the observer of the sender's node, in byte/s"),
    symbol("AB_winf", "available bandwidth of the link, from the same observer, in byte/s"),
    symbol("AB_R", "the receiver's available bandwidth, if the last ACK frame carried it; otherwise ∞"),
    symbol(
        "P",
        "what contention takes: 0 with `correction = off`, C_extra (eq. 5.19) with `overhead`, the share of the node's \
            own attempts that failed with `failures`",
    ),
    symbol("AB", "available bandwidth after the correction, in byte/s"),
    symbol("TH_change", "change of the throughput that a packet asks for, in byte/s"),
    symbol("Δ_2", "change that the ACK returns, in byte/s"),
    on("a packet is about to leave"),
    eq("TH = min(W, W_r) · M / T_RTT", "Barreto 2012 §2.3.3.1"),
    eq("TH_change = (C_desired − TH) / (TH · T_RTT / M)", "Barreto 2012 eq. 2.18")
        .when("`throughput = own`, or the observer has no estimate"),
    eq("TH_change = (C_desired − C_winf) / (C_winf · T_RTT / M)", "Barreto 2012 eq. 5.1")
        .when("`throughput = capacity`"),
    eq("AB = min((1 − P) · AB_winf, AB_R)", "Barreto 2012 eq. 5.19 to 5.21"),
    eq("TH_change ← min(TH_change, AB)", "Barreto 2012 §5.3.1").when("the observer has an estimate"),
    step("the header carries `T_RTT`, `TH` and `TH_change`, and nothing before the first round-trip sample", ""),
    on("every ACK with a header, which returns `Δ_2`"),
    eq("W ← max(1, W + Δ_2 · T_RTT / M)", "Barreto 2012 eq. 2.19"),
    on("a loss, a mark or a timeout"),
    step("as with xcp", "ns-2 TCP/Reno/XCP"),
];

/// Builds the controller.
///
/// # Errors
/// If `header` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(XcpWinf {
        xcp: Xcp::new(args)?,
        printed: args.word("throughput") == "capacity",
        correction: Correction::new(args.word("correction")),
    }))
}

#[derive(Debug)]
struct XcpWinf {
    xcp: Xcp,
    /// True for the printed form of eq. 5.1.
    printed: bool,
    correction: Correction,
}

impl Controller for XcpWinf {
    fn needs(&self) -> Needs {
        Needs { air: true, ..self.xcp.needs() }
    }

    fn header(&self, w: &Window, srtt_us: u32) -> Explicit {
        let mut h = self.xcp.header(w, srtt_us);
        let Some(local) = w.local.filter(|_| srtt_us > 0).map(|l| l.corrected(self.correction)) else { return h };
        if let (true, Some(capacity)) = (self.printed, local.capacity) {
            // Eq. 5.1: (C_desired - C_winf) / (C_winf T_RTT / M).
            let segments_us = i128::from(capacity.max(1)) * i128::from(srtt_us);
            let spare = i128::from(self.xcp.desired()) - i128::from(capacity);
            let wanted = spare * i128::from(w.mss) * 1_000_000 / segments_us;
            h.change = wanted.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        }
        if let Some(available) = local.available {
            h.change = h.change.min(i32::try_from(available).unwrap_or(i32::MAX));
        }
        h
    }

    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.xcp.on_every_ack(cx, w, ack);
    }

    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        self.xcp.on_congestion(cx, w, ack, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::XCP;
    use crate::observe::Local;
    use crate::registry::{Amount, Value};

    /// A sender that desires 1375 kB/s (11 Mb/s).
    fn sender(throughput: &str, correction: &str) -> Box<dyn Controller> {
        let mut args = Args::default();
        args.set("header", Value::Amount(Amount::Bytes(20)));
        args.set("desired", Value::Rate(11_000_000));
        args.set("throughput", Value::Word(throughput.into()));
        args.set("correction", Value::Word(correction.into()));
        build(&args).unwrap()
    }

    /// 50 segments of 1000 B in 100 ms (500 kB/s) on an air of 550 kB/s of which `available` is left.
    fn asked(throughput: &str, correction: &str, available: u64) -> i32 {
        let local = Local {
            capacity: Some(550_000),
            available: Some(available),
            overhead_q20: 1 << 18,
            failed_q20: 1 << 19,
            ..Local::default()
        };
        let w = Window { cwnd: 50, local: Some(local), ..Window::default() };
        let h = sender(throughput, correction).header(&w, 100_000);
        assert_eq!((h.rtt_us, h.throughput), (100_000, 500_000), "as in XCP");
        h.change
    }

    #[test]
    fn eq_5_1_as_printed_counts_from_the_capacity() {
        // (1375 - 550) kB/s / (550 kB/s x 0.1 s / 1000 B = 55 packets) = 15 kB/s for each packet.
        assert_eq!(asked("capacity", "off", u64::MAX), 15_000);
        // (1375 - 500) kB/s / 50 packets.
        assert_eq!(asked("own", "off", u64::MAX), 17_500);
    }

    #[test]
    fn no_packet_asks_for_more_than_what_is_available() {
        for throughput in ["capacity", "own"] {
            assert_eq!(asked(throughput, "off", 4_000), 4_000);
            assert_eq!(asked(throughput, "overhead", 4_000), 3_000);
            assert_eq!(asked(throughput, "failures", 4_000), 2_000);
            assert_eq!(asked(throughput, "off", 0), 0);
        }
    }

    #[test]
    fn without_an_estimate_the_sender_is_one_of_xcp() {
        let w = Window { cwnd: 50, ..Window::default() };
        for throughput in ["capacity", "own"] {
            let s = sender(throughput, "off");
            assert_eq!(s.header(&w, 100_000).change, 17_500);
            assert_eq!(s.header(&Window { local: Some(Local::default()), ..w }, 100_000).change, 17_500);
            assert_eq!(s.header(&w, 0), Explicit::default());
            assert!(s.needs().air && s.needs().explicit.is_some_and(|h| h.kind == XCP));
        }
    }
}
