//! A control block that passes every packet on.

use super::{Control, Facts, Pass, Side};
use crate::formulas::{Line, on, step};
use crate::packet::Packet;
use crate::registry::{Args, Param};
use crate::{Cx, Refusal};
use alloc::boxed::Box;

/// Source.
pub const CITE: &str = "where it comes from";
/// What it does.
pub const SUMMARY: &str = "What it does, in one sentence.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas, which `contend explain` prints.
pub const FORMULAS: &[Line] = &[on("a packet"), step("it goes on, unchanged", "where it stands")];

/// Builds the control block.
///
/// # Errors
/// Never: there are no parameters.
pub fn build(_: &Args, _: &Facts) -> Result<Box<dyn Control>, Refusal> {
    Ok(Box::new(Passing))
}

#[derive(Debug)]
struct Passing;

impl Control for Passing {
    fn on_packet(&mut self, _: &mut Cx, from: Side, p: Packet, out: &mut Pass) {
        out.packets.push((from, p));
    }
}
