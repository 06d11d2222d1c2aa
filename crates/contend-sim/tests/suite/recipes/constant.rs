//! A contention window that never changes.

use super::{Access, Draw, Seen, Setting};
use contend_core::formulas::{Line, eq, on, symbol};
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Refusal};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "where it comes from";
/// What it does.
pub const SUMMARY: &str = "What it does, in one sentence.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::integer("cw", "contention window; 0: the cell's CWmin").default("0").range(0.0, 32_767.0)];
/// Its formulas, which `contend explain` prints.
pub const FORMULAS: &[Line] =
    &[symbol("b", "backoff, in slots"), on("a draw"), eq("b ← uniform(0, cw)", "where it stands")];

/// Builds the access rule.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let cw = args.integer("cw") as u32;
    Ok(Box::new(Constant { cw: if cw == 0 { cell.cw_min } else { cw } }))
}

#[derive(Debug)]
struct Constant {
    /// The largest number of slots that is drawn.
    cw: u32,
}

impl Access for Constant {
    fn draw(&mut self, cx: &mut Cx, _: Draw, _: &Seen) -> u32 {
        cx.rng.random_range(0..=self.cw)
    }
}
