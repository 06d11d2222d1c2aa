//! A contention window that never changes.

use super::{Access, Draw, Seen, Setting};
use contend_core::Cx;
use contend_core::registry::{Args, Param};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "where it comes from";
/// What it does.
pub const SUMMARY: &str = "What it does, in a sentence.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::integer("cw", "the contention window; 0 for the cell's CWmin").default("0").range(0.0, 32_767.0)];

/// Makes one.
///
/// # Errors
/// None: every value in range is good.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, String> {
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
