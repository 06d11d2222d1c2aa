//! A window that never changes.

use super::{Ack, Controller, Response, Signal, Window};
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Args, Param};
use crate::{Cx, Refusal};
use alloc::boxed::Box;

/// Source.
pub const CITE: &str = "where it comes from";
/// What it does.
pub const SUMMARY: &str = "What it does, in one sentence.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::integer("segments", "window in segments").default("10").range(1.0, 1e6)];
/// Its formulas, which `contend explain` prints.
pub const FORMULAS: &[Line] = &[
    symbol("W", "cwnd: the window, in segments"),
    on("an ACK of new data, or a congestion signal"),
    eq("W ← segments", "where it stands"),
];

/// Builds the controller.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(FixedWindow { segments: args.integer("segments").clamp(1, 1_000_000) as u32 }))
}

#[derive(Debug)]
struct FixedWindow {
    /// Segments.
    segments: u32,
}

impl Controller for FixedWindow {
    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, _: &Ack) {
        w.cwnd = self.segments;
    }
    fn on_congestion(&mut self, _: &mut Cx, _: &Window, _: Option<&Ack>, _: Signal) -> Response {
        Response::to(self.segments)
    }
}
