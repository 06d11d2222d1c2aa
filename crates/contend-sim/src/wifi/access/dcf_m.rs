//! 802.11-M: DCF whose draws are shifted, so that a station that has just sent waits longer.
//!
//! A probe of short-term fairness, "not intended for the real world": the shift requires the number of contenders.

use super::dcf::Backoff;
use super::{Access, Draw, Reads, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
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
pub const FORMULAS: &[Line] = &[
    symbol("CW", "contention window; `cwmin` at first"),
    symbol("N", "stations that have a frame to send, at least 1"),
    symbol("b_0", "draw of DCF, in slots"),
    symbol("b", "backoff, in slots"),
    on("a draw"),
    eq("CW ← min(2 · CW + 1, cwmax)", "IEEE 802.11-2016 §10.3.3")
        .when("the attempt failed and the frame is tried again"),
    eq("CW ← cwmin", "").when("it succeeded, or the frame is given up"),
    step("`b_0` is drawn uniformly from 0 to `CW`", ""),
    eq("b = b_0 + ⌊per_contender · N⌋", "Starzetz 2006 §8.2").when("`after = every`, or after a success"),
    eq("b = b_0", "").when("otherwise"),
    on("all else"),
    step("as in dcf", ""),
];

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
