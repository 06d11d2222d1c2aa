//! RCP: the queues on the path say how fast to send.
//!
//! - The rate counts IP packets with their headers. The sender paces its payload so that packets leave at the rate.
//! - The window only bounds the data in flight: `window_100` percent of rate x round-trip time. At 100 it is eq. 5.13
//!   of the thesis; a larger one leaves the rate to the pacer.
//! - Losses change neither rate nor window. Lost segments are retransmitted at the rate.
//! - A SYN asks for the first rate. Without a handshake the initial window leaves at once.
//! - While the gap between two packets is longer than a round trip, the sender requests the rate with packets without
//!   data (REF).

use super::{Ack, Controller, Needs, Response, Signal, Window, header_bytes};
use crate::Cx;
use crate::Refusal;
use crate::explicit::{HeaderFormat, RCP, UNLIMITED};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Explicit;
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Dukkipati 2007; Barreto 2012 §2.3.3.2, eq. 5.13, 5.14";
/// What it does.
pub const SUMMARY: &str = "Paces at the rate that queues of kind rcp allow; losses do not change the rate.";
/// Parameters.
pub const PARAMS: &[Param] = &[super::HEADER.default("12B"), DESIRED, WINDOW];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("R", "the rate that the queues of the path allow, in byte/s of IP packets"),
    symbol("M", "payload of a full packet, in bytes"),
    symbol("H", "its headers, in bytes"),
    symbol("r", "pacing rate, in byte/s of payload"),
    symbol("T_pacing", "gap between two full packets"),
    symbol("T_RTT", "smoothed round-trip time"),
    symbol("W", "cwnd: the window, in packets"),
    on("a packet is about to leave"),
    step("the header carries `T_RTT` and asks for `desired`; the queues lower it to their own rate", "Dukkipati 2007"),
    on("every ACK with a header, which returns `R`"),
    eq("r = R · M / (M + H)", "Barreto 2012 eq. 5.14, with headers"),
    eq("T_pacing = M / r", "Barreto 2012 eq. 5.14"),
    eq("W = max(1, ⌈window_100 / 100 · R · T_RTT / (M + H)⌉)", "Barreto 2012 eq. 5.13"),
    on("a loss, a mark or a timeout"),
    step("`r` and `W` stay; lost segments are sent again at the rate `r`", "Dukkipati 2007"),
];

pub(super) const DESIRED: Param =
    Param::rate("desired", "rate that the sender asks for, headers included; 0bps: unlimited")
        .default("0bps")
        .range(0.0, 17e9);

pub(super) const WINDOW: Param =
    Param::integer("window_100", "window in percent of rate x round-trip time").default("200").range(100.0, 10_000.0);

/// Builds the controller.
///
/// # Errors
/// If `header` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Rcp::new(args)?))
}

#[derive(Debug)]
pub(super) struct Rcp {
    /// Size of the header in bytes.
    header: u32,
    /// The rate that the sender requests, in bytes per second.
    desired: u32,
    /// Window in percent of rate x round-trip time.
    window_100: u64,
}

impl Rcp {
    pub(super) fn new(args: &Args) -> Result<Rcp, Refusal> {
        let desired = match args.rate("desired") / 8 {
            0 => UNLIMITED,
            rate => u32::try_from(rate).unwrap_or(UNLIMITED),
        };
        let window_100 = args.integer("window_100").clamp(100, 10_000) as u64;
        Ok(Rcp { header: header_bytes(args)?, desired, window_100 })
    }
}

impl Controller for Rcp {
    fn needs(&self) -> Needs {
        let explicit = Some(HeaderFormat { kind: RCP, bytes: self.header });
        Needs { explicit, full_control: true, full_gaps: true, ..Needs::default() }
    }

    fn header(&self, _: &Window, srtt_us: u32) -> Explicit {
        Explicit { rtt_us: srtt_us, throughput: self.desired, change: 0 }
    }

    fn on_every_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        let Some(h) = ack.explicit else { return };
        let (rate, packet) = (u64::from(h.throughput), u64::from(w.mss) + u64::from(w.headers));
        w.pacing_rate = (rate * u64::from(w.mss) / packet.max(1)).max(1);
        // Barreto 2012 eq. 5.13.
        let bytes = (rate * u64::from(ack.srtt_us) / 1_000_000).saturating_mul(self.window_100) / 100;
        w.cwnd = bytes.div_ceil(packet.max(1)).clamp(1, 1 << 30) as u32;
    }

    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, _: Signal) -> Response {
        Response::keep(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Amount, Value};

    #[test]
    fn a_sender_asks_for_the_rate_that_it_desires() {
        let asked = |desired| {
            let mut args = Args::default();
            args.set("header", Value::Amount(Amount::Bytes(12)));
            args.set("window_100", Value::Integer(200));
            args.set("desired", Value::Rate(desired));
            build(&args).unwrap().header(&Window::default(), 100_000)
        };
        assert_eq!(asked(0), Explicit { rtt_us: 100_000, throughput: UNLIMITED, change: 0 });
        assert_eq!(asked(64_000).throughput, 8_000);
    }
}
