//! The fixed window rule of Pilosof and others: the buffer of the access point divided evenly among all flows.
//!
//! - The window is what an acknowledgment advertises, lowered where it is larger; flows are counted as in `fcwa`.
//! - Neither delays nor delayed acknowledgments enter: at most the buffer's worth of packets is under way, whatever the
//!   path holds.

use super::window::{self, Flows};
use super::{Control, Facts, Pass, Side};
use crate::Cx;
use crate::packet::Packet;
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::string::String;

/// Source.
pub const CITE: &str = "Pilosof, Ramjee, Raz, Shavitt, Sinha, Infocom 2003, as Keceli, Inan, Ayanoglu 2008 §III-E \
    compares with it; Starzetz 2006 §9.4";
/// What it does.
pub const SUMMARY: &str = "Even shares of the buffer: lowers the advertised windows of all TCP flows to it.";
/// Parameters.
pub const PARAMS: &[Param] = &[window::BUFFER, window::ACTIVE, window::UPDATE, window::KEEP_EDGE];

/// The block.
#[derive(Debug)]
pub struct Pilosof {
    flows: Flows<()>,
    /// BS_AP in packets.
    buffer: u64,
    keep_edge: bool,
}

/// Makes one.
///
/// # Errors
/// When neither the parameters nor the queue say how many packets may wait.
pub fn build(args: &Args, facts: &Facts) -> Result<Box<dyn Control>, String> {
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
            // Keceli 2008 §III-E: BS_AP / n, here in whole segments. Before a flow's first data their size is not
            // known, and its window stays.
            let segments = if f.mss > 0 { (self.buffer / u64::from(up + down).max(1)).max(1) } else { u64::MAX };
            window::rewrite(seg, segments, f.mss, &mut f.edge, self.keep_edge);
        }
        out.packets.push((from, p));
    }
}
