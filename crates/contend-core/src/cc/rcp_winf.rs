//! RCP-Winf's sender: RCP that never sends faster than its node's air can carry.
//!
//! - An observer of the sender's node measures the capacity C_winf, the upper limit of the rate (eq. 5.12).
//! - `gap` chooses the gap between packets: packet size / rate, as in RCP, or payload / rate, as eq. 5.14 is printed.
//!   With the payload, packets leave faster than the rate, because their headers do not count.
//! - `correction`: the thesis corrects the available bandwidth for contention (§5.4). It runs RCP-Winf with this
//!   correction, although RCP-Winf does not use the available bandwidth. Here the correction reduces C_winf.
//! - Before the observer's first sample the sender works like RCP's.

use super::rcp::{DESIRED, Rcp, WINDOW};
use super::{Ack, Controller, Needs, Response, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::observe::{Correction, Local};
use crate::packet::Explicit;
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Barreto 2012 §5.3.2, §5.4, eq. 5.12 to 5.14";
/// What it does.
pub const SUMMARY: &str = "RCP's sender with the capacity of its node's air as the upper limit of its rate.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::HEADER.default("12B"),
    DESIRED,
    WINDOW,
    Param::word(
        "gap",
        &["packet", "payload"],
        "bytes that the gap between packets counts. packet: with headers; payload: M, as eq. 5.14 is printed",
    )
    .default("packet"),
    Correction::PARAM,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("R", "the rate that the queues of the path allow, in byte/s of IP packets"),
    symbol("C_winf", "capacity of the link, from the observer of the sender's node, in byte/s"),
    symbol(
        "P",
        "what contention takes: 0 with `correction = off`, C_extra (eq. 5.19) with `overhead`, the share of the node's \
            own attempts that failed with `failures`",
    ),
    symbol("M", "payload of a full packet, in bytes"),
    symbol("H", "its headers, in bytes"),
    symbol("r", "pacing rate, in byte/s of payload"),
    symbol("T_pacing", "gap between two full packets"),
    symbol("T_RTT", "smoothed round-trip time"),
    symbol("W", "cwnd: the window, in packets"),
    on("a packet is about to leave"),
    step(
        "the header carries `T_RTT` and asks for `desired`; the queues lower it to their own rate",
        "Barreto 2012 §5.3.2",
    ),
    on("every ACK with a header, which returns `R`"),
    eq("R ← min(R, (1 − P) · C_winf)", "Barreto 2012 eq. 5.12, §5.4").when("the observer has an estimate"),
    eq("W = max(1, ⌈window_100 / 100 · R · T_RTT / (M + H)⌉)", "Barreto 2012 eq. 5.13"),
    eq("r = R · M / (M + H)", "Barreto 2012 eq. 5.14, with headers").when("`gap = packet`"),
    eq("r = R", "Barreto 2012 eq. 5.14").when("`gap = payload`"),
    eq("T_pacing = M / r", ""),
    on("a loss, a mark or a timeout"),
    step("`r` and `W` stay; lost segments are sent again at the rate `r`", "Dukkipati 2007"),
];

/// Builds the controller.
///
/// # Errors
/// If `header` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(RcpWinf {
        rcp: Rcp::new(args)?,
        payload: args.word("gap") == "payload",
        correction: Correction::new(args.word("correction")),
    }))
}

#[derive(Debug)]
struct RcpWinf {
    rcp: Rcp,
    /// True if the gap counts the payload only.
    payload: bool,
    correction: Correction,
}

impl RcpWinf {
    /// The capacity in bytes per second, corrected for contention.
    fn limit(&self, local: Local) -> Option<u64> {
        Local { available: local.capacity, told: None, ..local }.corrected(self.correction).available
    }
}

impl Controller for RcpWinf {
    fn needs(&self) -> Needs {
        Needs { air: true, ..self.rcp.needs() }
    }

    fn header(&self, w: &Window, srtt_us: u32) -> Explicit {
        self.rcp.header(w, srtt_us)
    }

    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let Some(mut h) = ack.explicit else { return };
        if let Some(limit) = w.local.and_then(|l| self.limit(l)) {
            // Eq. 5.12.
            h.throughput = h.throughput.min(u32::try_from(limit).unwrap_or(u32::MAX));
        }
        self.rcp.on_every_ack(cx, w, &Ack { explicit: Some(h), ..*ack });
        if self.payload {
            // Eq. 5.14.
            w.pacing_rate = u64::from(h.throughput).max(1);
        }
    }

    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        self.rcp.on_congestion(cx, w, ack, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::registry::{Amount, Value};
    use crate::time::Time;
    use rand::SeedableRng as _;

    /// Pacing rate and window of a sender whose path allows `allowed` bytes per second, in packets of 1000 B of payload
    /// and 40 B of headers, with a round trip of 100 ms.
    fn obeys(gap: &str, correction: &str, allowed: u32, local: Option<Local>) -> (u64, u32) {
        let mut args = Args::default();
        args.set("header", Value::Amount(Amount::Bytes(12)));
        args.set("desired", Value::Rate(0));
        args.set("window_100", Value::Integer(100));
        args.set("gap", Value::Word(gap.into()));
        args.set("correction", Value::Word(correction.into()));
        let mut cc = build(&args).unwrap();
        assert!(cc.needs().air && cc.needs().full_control);
        let mut w = Window { local, ..Window::default() };
        let explicit = Some(Explicit { throughput: allowed, ..Explicit::default() });
        let cx = &mut Cx { now: Time::ZERO, rng: &mut Rng::seed_from_u64(1) };
        cc.on_every_ack(cx, &mut w, &Ack { explicit, srtt_us: 100_000, ..Ack::default() });
        (w.pacing_rate, w.cwnd)
    }

    const LOCAL: Local = Local {
        capacity: Some(520_000),
        available: Some(1),
        told: None,
        updated: Time::ZERO,
        backoff: crate::Span::ZERO,
        overhead_q20: 1 << 18,
        failed_q20: 1 << 19,
    };

    #[test]
    fn the_rate_is_at_most_the_capacity_of_the_air() {
        // 520 kB/s are 500 packets of 1040 B in a second, 50 in a round trip.
        assert_eq!(obeys("packet", "off", 1_040_000, Some(LOCAL)), (500_000, 50));
        assert_eq!(obeys("packet", "off", 260_000, Some(LOCAL)), (250_000, 25));
    }

    #[test]
    fn as_printed_the_gap_counts_only_the_payload() {
        assert_eq!(obeys("payload", "off", 1_040_000, Some(LOCAL)), (520_000, 50));
    }

    #[test]
    fn a_correction_shortens_the_capacity() {
        assert_eq!(obeys("packet", "overhead", 1_040_000, Some(LOCAL)), (375_000, 38));
        assert_eq!(obeys("packet", "failures", 1_040_000, Some(LOCAL)), (250_000, 25));
    }

    #[test]
    fn without_an_estimate_the_sender_is_one_of_rcp() {
        for local in [None, Some(Local::default())] {
            assert_eq!(obeys("packet", "overhead", 1_040_000, local), (1_000_000, 100));
        }
    }
}
