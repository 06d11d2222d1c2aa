//! 802.11-M: DCF whose draws are shifted, so that a station that has just sent waits longer.
//!
//! A probe of short-term fairness, "not intended for the real world": the shift requires the number of contenders.

use super::dcf::Backoff;
use super::{Access, Draw, Reads, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.2, Figs 8.9-8.11";
/// What it does.
pub const SUMMARY: &str = "DCF with M slots added to each new backoff (802.11-M); M is twice the number of contenders.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("cwmin", "minimum contention window; 0: the cell's").default("0").range(0.0, 32_767.0),
    Param::integer("cwmax", "maximum contention window; 0: the cell's").default("0").range(0.0, 32_767.0),
    Param::number("per_contender", "slots added per contender").default("2").range(0.0, 1000.0),
    Param::word(
        "after",
        &["every", "success"],
        "which draws get the additional slots. every: all; success: only those after a success",
    )
    .default("every"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the access rule. A window of 0 takes the cell's value.
///
/// # Errors
/// When `cwmin` is larger than `cwmax`.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let every = args.word("after") == "every";
    Ok(Box::new(DcfM { backoff: Backoff::new(args, cell)?, per_contender: args.number("per_contender"), every }))
}

/// DCF with shifted draws.
#[derive(Debug)]
struct DcfM {
    backoff: Backoff,
    per_contender: f64,
    every: bool,
}

impl Access for DcfM {
    fn draw(&mut self, cx: &mut Cx, why: Draw, seen: &Seen) -> u32 {
        // The specification's U16b: the text shifts "each time a new value must be drawn". The collision rates are
        // closer to the source's when draws after failures are not shifted.
        let shift = if self.every || why == Draw::Success {
            self.per_contender * f64::from(seen.contenders.max(1))
        } else {
            0.0
        };
        self.backoff.draw(cx, why).saturating_add(shift as u32)
    }
    fn reads(&self) -> Reads {
        Reads::Contenders
    }
}
