//! Permutation codes: each station goes through its own permutation of the slots, and changes it after a collision.
//!
//! A negative result: such stations may end in a state in which one station wins three cycles of four.

use super::{Access, Draw, Residue, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param, Unit};
use rand::seq::SliceRandom as _;

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.1.2 (collision resolution by permutations)";
/// What it does.
pub const SUMMARY: &str = "Each station goes through its own permutation of a window's slots; after a collision the \
    station draws a new permutation. Collisions die out, but the stations' shares may stay very unequal.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("slots", "slots of the window; 0: the cell's CWmin + 1")
        .default("0")
        .range(0.0, 65_535.0)
        .symbol("C"),
    Param::new("sequence", Unit::Numbers, "first permutation; []: a random one").default("[]").range(0.0, 65_535.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("π", "slot at each place of the station's permutation of 0 to `C − 1`; first `sequence` or a random one"),
    symbol("m", "place, from 0"),
    symbol("L", "length of the permutation"),
    symbol("b", "backoff, in slots"),
    on("each cycle, after a busy period"),
    step("a new permutation is drawn, and `m ← 0`", "Starzetz 2006 §8.1.2").when("the station's own attempt failed"),
    eq("b = π[m]", ""),
    eq("m ← mod(m + 1, L)", ""),
];

/// Builds the access rule.
///
/// # Errors
/// When the sequence has a number that is not whole.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let given = args.numbers("sequence");
    if let Some(x) = given.iter().find(|x| x.fract() != 0.0) {
        return Err(Refusal::new(format!("the sequence has {x}, which is not a whole number"), "write whole slots"));
    }
    let slots = match args.integer("slots") as u32 {
        0 => cell.cw_min + 1,
        n => n,
    };
    let sequence: Vec<u32> =
        if given.is_empty() { (0..slots).collect() } else { given.iter().map(|x| *x as u32).collect() };
    Ok(Box::new(Permutation { sequence, next: 0, shuffled: !given.is_empty() }))
}

/// A station's permutation of the slots.
#[derive(Debug)]
struct Permutation {
    sequence: Vec<u32>,
    next: usize,
    /// True if the permutation is still the initial one.
    shuffled: bool,
}

impl Access for Permutation {
    fn draw(&mut self, cx: &mut Cx, why: Draw, _: &Seen) -> u32 {
        if why == Draw::Failure || !self.shuffled {
            self.sequence.shuffle(cx.rng);
            self.shuffled = true;
            self.next = 0;
        }
        let slot = self.sequence.get(self.next).copied().unwrap_or(0);
        self.next = (self.next + 1) % self.sequence.len().max(1);
        slot
    }
    fn residue(&self) -> Residue {
        Residue::Redraw
    }
}
