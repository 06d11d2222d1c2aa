//! HASH1: in every cycle all stations draw again, early slots more often than late slots.

use super::{Access, Draw, Reads, Residue, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, symbol};
use contend_core::registry::{Args, Param};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.2, eq. 8.21; A and B by the matching rule of the specification's S5";
/// What it does.
pub const SUMMARY: &str = "Draws with a falling density from a window of A + B N slots (HASH1); every station draws in \
    every cycle, N is the number of contenders, and the density falls linearly to zero. No residual and no exponential \
    backoff.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::number("window", "window in slots; 0: A + B N").default("0").range(0.0, 1e6).symbol("CW"),
    Param::number("base", "slots of the window for any number of contenders")
        .default("6.4")
        .range(0.0, 1e6)
        .symbol("A"),
    Param::number("per_contender", "slots of the window per contender").default("12.35").range(0.0, 1e4).symbol("B"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("N", "stations that have a frame to send, at least 1"),
    symbol("W", "slots of the window"),
    symbol("u", "drawn uniformly from 0 to 1"),
    symbol("t", "place in the window, from 0 to 1, with the density `2 · (1 − t)`"),
    symbol("b", "backoff, in slots"),
    on("each cycle, after a busy period"),
    eq("W = CW", "Starzetz 2006 §8.2").when("`CW > 0`"),
    eq("W = A + B · N", "").when("`CW = 0`; it is rounded"),
    eq("t = 1 − √(u)", "eq. 8.21"),
    eq("b = ⌊t · W⌋", ""),
];

/// Builds the access rule.
///
/// # Errors
/// When the window has less than one slot.
pub fn build(args: &Args, _: Setting) -> Result<Box<dyn Access>, Refusal> {
    let rule =
        Hash1 { window: args.number("window"), base: args.number("base"), per_contender: args.number("per_contender") };
    if rule.window(1) < 1.0 {
        return Err(Refusal::new(
            "the window has less than one slot",
            "write a window of at least 1, or a larger base or per_contender",
        ));
    }
    Ok(Box::new(rule))
}

/// A linearly falling density, drawn from in every cycle.
#[derive(Debug)]
struct Hash1 {
    window: f64,
    base: f64,
    per_contender: f64,
}

impl Hash1 {
    fn window(&self, contenders: u32) -> f64 {
        if self.window > 0.0 {
            self.window
        } else {
            libm::round(self.base + self.per_contender * f64::from(contenders.max(1)))
        }
    }
}

impl Access for Hash1 {
    fn draw(&mut self, cx: &mut Cx, _: Draw, seen: &Seen) -> u32 {
        // Starzetz 2006 eq. 8.21: p(t) is proportional to 1 - t, so t = 1 - sqrt(1 - u). If u is uniform in [0, 1), 1 -
        // u is uniform in (0, 1].
        let u = 1.0 - cx.rng.random::<f64>();
        ((1.0 - libm::sqrt(u)) * self.window(seen.contenders)) as u32
    }
    fn reads(&self) -> Reads {
        Reads::Contenders
    }
    fn whole_cell(&self) -> bool {
        true
    }
    fn residue(&self) -> Residue {
        Residue::Redraw
    }
}
