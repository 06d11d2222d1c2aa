//! The hash-table model H: in every cycle all stations draw a slot of a table.

use super::{Access, Draw, Residue, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, on, step, symbol};
use contend_core::registry::{Args, Param};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.1.1, eqs. 8.1-8.4";
/// What it does.
pub const SUMMARY: &str = "A uniform draw from C slots in every cycle (reference model H); stations forget the rest of \
    a backoff. No residual and no exponential backoff.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::integer("slots", "number of slots; 0: the cell's CWmin + 1").default("0").range(0.0, 1e6).symbol("C")];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("b", "backoff, in slots"),
    on("each cycle, after a busy period"),
    step("`b` is drawn uniformly from 0 to `C − 1`; what is left of the old one is forgotten", "Starzetz 2006 §8.1.1"),
];

/// Builds the access rule.
///
/// # Errors
/// Never.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let slots = args.integer("slots") as u32;
    Ok(Box::new(Hash { slots: if slots == 0 { cell.cw_min + 1 } else { slots } }))
}

/// A uniform draw in every cycle.
#[derive(Debug)]
struct Hash {
    slots: u32,
}

impl Access for Hash {
    fn draw(&mut self, cx: &mut Cx, _: Draw, _: &Seen) -> u32 {
        cx.rng.random_range(0..self.slots)
    }
    fn residue(&self) -> Residue {
        Residue::Redraw
    }
}
