//! DCF without residual backoff: a station that did not win draws again from the remaining part of its window.

use super::dcf::Backoff;
use super::{Access, Draw, Residue, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.1.2, last paragraph";
/// What it does.
pub const SUMMARY: &str = "The collisions and waits of DCF, without residual backoff; in each cycle every station \
    draws uniformly from its own window. The window shrinks by the slots waited, and is DCF's after an attempt. The \
    order in which stations win differs from DCF.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("cwmin", "minimum contention window; 0: the cell's").default("0").range(0.0, 32_767.0),
    Param::integer("cwmax", "maximum contention window; 0: the cell's").default("0").range(0.0, 32_767.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("CW", "contention window; `cwmin` at first"),
    symbol("S", "slots of the window that is left"),
    symbol("m", "slots that the station waited until another was first"),
    symbol("l", "1 if another was first and busy slots do not count, otherwise 0"),
    symbol("b", "backoff, in slots"),
    on("a draw after an attempt of its own, or for a packet that finds the medium busy"),
    eq("CW ← min(2 · CW + 1, cwmax)", "IEEE 802.11-2016 §10.3.3").when("it failed and the frame is tried again"),
    eq("CW ← cwmin", "").when("it succeeded, or the frame is given up"),
    eq("S ← CW + 1", "Starzetz 2006 §8.1.2"),
    on("a draw after another station was first"),
    eq("S ← max(l + 1, S − m)", ""),
    on("both"),
    step("`b` is drawn uniformly from `l` to `S − 1`", ""),
];

/// Builds the access rule. A window of 0 takes the cell's value.
///
/// # Errors
/// When `cwmin` is larger than `cwmax`.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    Ok(Box::new(ResidualWindow { backoff: Backoff::new(args, cell)?, slots: 1 }))
}

/// DCF with windows that shrink by the slots waited.
#[derive(Debug)]
struct ResidualWindow {
    backoff: Backoff,
    /// Number of slots in the remaining window.
    slots: u32,
}

impl Access for ResidualWindow {
    fn draw(&mut self, cx: &mut Cx, why: Draw, seen: &Seen) -> u32 {
        // A station that did not win has at least one slot left. If busy slots count, the busy slot takes this slot.
        let (slots, least) = match why {
            Draw::Cycle(waited) => (self.slots.saturating_sub(waited), u32::from(!seen.busy_counts)),
            _ => (self.backoff.window(why) + 1, 0),
        };
        self.slots = slots.max(least + 1);
        cx.rng.random_range(least..self.slots)
    }
    fn residue(&self) -> Residue {
        Residue::Redraw
    }
}
