//! Reno with a window of at most a quarter of the hops: the largest window with which packets of one flow do not
//! disturb each other on a chain.
//!
//! - Fu et al. derive W = h/4 for an interference range of twice the transmission range. Rounded up, at least `least`.
//! - The hop count is that of the last acknowledged data packet. Before the first acknowledgment there is no limit.

use super::reno::{COUNT, Reno};
use super::slow_start::ABC;
use super::{Ack, CWND, Controller, Response, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Fu, Zerfos, Luo, Lu, Zhang, Gerla 2003";
/// What it does.
pub const SUMMARY: &str = "Reno with a window of at most a quarter of the hops; for paths of many wireless hops.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("reuse", "hops for each segment of the window").default("4").range(1.0, 255.0),
    Param::integer("least", "smallest limit in segments").default("1").range(1.0, 1000.0),
    ABC,
    COUNT,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    symbol("h", "links of the path of the data packet that the ACK answers"),
    on("an ACK of new data"),
    step("`W` grows as with reno", "RFC 5681 eq. 2 and 3"),
    eq("W ← min(W, max(least, ⌈h / reuse⌉))", "Fu et al. 2003"),
    on("a loss, a mark or a timeout"),
    step(
        "`W` and the threshold change as with reno; the limit counts again from the next ACK of new data on",
        "RFC 5681 §3.1",
    ),
];

/// Builds the controller.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let whole = |name| u32::try_from(args.integer(name)).unwrap_or(1).max(1);
    Ok(Box::new(HopLimit { reno: Reno::new(args), reuse: whole("reuse"), least: whole("least") }))
}

#[derive(Debug)]
struct HopLimit {
    reno: Reno,
    /// Hops for each segment.
    reuse: u32,
    /// Segments.
    least: u32,
}

impl Controller for HopLimit {
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.reno.on_ack(cx, w, ack);
        let links = u32::from(ack.hops) + 1;
        w.cwnd = w.cwnd.min(links.div_ceil(self.reuse).max(self.least));
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        self.reno.on_congestion(cx, w, ack, why)
    }
}
