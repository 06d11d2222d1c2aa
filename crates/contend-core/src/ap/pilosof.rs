//! The fixed window rule of Pilosof and others: all flows get an equal share of the access point's buffer.
//!
//! - The rule lowers the advertised window of an acknowledgment if it is larger than the share. Flows are counted as in
//!   `fcwa`.
//! - The rule uses neither delays nor delayed acknowledgments. The packets in flight never exceed the buffer size,
//!   whatever the path can hold.

use super::window::{self, Flows};
use super::{Control, Facts, Pass, Side};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Pilosof, Ramjee, Raz, Shavitt, Sinha, Infocom 2003, as Keceli, Inan, Ayanoglu 2008 §III-E \
    compares with it; Starzetz 2006 §9.4";
/// What it does.
pub const SUMMARY: &str =
    "Equal shares of the buffer for all TCP flows; advertised windows are lowered to these shares.";
/// Parameters.
pub const PARAMS: &[Param] = &[window::BUFFER, window::ACTIVE, window::UPDATE, window::KEEP_EDGE];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n_up", "active uploads: those with data in the last `T_active`"),
    symbol("n_down", "active downloads"),
    symbol("W", "window of each flow, in segments"),
    symbol("MSS", "largest payload of the flow so far, in bytes"),
    symbol("rwnd", "advertised window, in bytes"),
    on("an ACK"),
    eq("W = max(1, ⌊BS_AP / (n_up + n_down)⌋)", "Keceli, Inan, Ayanoglu 2008 §III-E"),
    eq("rwnd ← min(rwnd, W · MSS)", ""),
    step("with `keep_edge` it does not take back what was offered before", "RFC 9293 §3.8.6"),
];

/// The control block.
#[derive(Debug)]
pub struct Pilosof {
    flows: Flows<()>,
    /// BS_AP in packets.
    buffer: u64,
    keep_edge: bool,
}

/// Builds the control block.
///
/// # Errors
/// If neither the parameters nor the queue give the buffer size in packets.
pub fn build(args: &Args, facts: &Facts) -> Result<Box<dyn Control>, Refusal> {
    Ok(Box::new(Pilosof {
        flows: Flows::new(args),
        buffer: window::buffer(args, facts)?,
        keep_edge: args.flag("keep_edge"),
    }))
}

impl Control for Pilosof {
    fn on_packet(&mut self, cx: &mut Cx, from: Side, mut p: Packet, out: &mut Pass) {
        self.flows.see(cx.now, from, &p, || ());
        let (up, down) = self.flows.counts();
        let (flow, reverse) = (p.flow, p.is_reverse());
        if reverse && let (Some(seg), Some(f)) = (p.tcp_mut(), self.flows.get(flow)) {
            // Keceli 2008 §III-E: BS_AP / n, here in whole segments. Before the first data of a flow its segment size
            // is unknown, so the window is not changed.
            let segments = if f.mss > 0 { (self.buffer / u64::from(up + down).max(1)).max(1) } else { u64::MAX };
            window::rewrite(seg, segments, f.mss, &mut f.edge, self.keep_edge);
        }
        out.packets.push((from, p));
    }
}
