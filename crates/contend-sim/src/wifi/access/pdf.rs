//! Any distribution over the window, with or without residual backoff and exponential backoff.

use super::dcf::Backoff;
use super::{Access, Draw, Residue, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, symbol};
use contend_core::registry::{Args, Param, Unit};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.2 (the switches of its contention simulator)";
/// What it does.
pub const SUMMARY: &str = "A backoff from any distribution over the window; the distribution is given as weights of \
    equal parts of the window. Residual and exponential backoff are options. Also models a card with missing slots or \
    a biased generator.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::new(
        "weights",
        Unit::Numbers,
        "how often each part of the window is drawn, from the first slot to the last, in proportion; []: uniformly",
    )
    .default("[]")
    .range(0.0, 1e12),
    Param::flag("residual", "true if a station keeps its residual backoff").default("false"),
    Param::flag("exponential", "true if the window doubles after each failure").default("false"),
    Param::integer("cwmin", "minimum contention window; 0: the cell's. A backoff is drawn from 0..=CW")
        .default("0")
        .range(0.0, 1e6),
    Param::integer("cwmax", "maximum contention window; 0: the cell's").default("0").range(0.0, 1e6),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("CW", "contention window; `cwmin` at first"),
    symbol("K", "number of the `weights`"),
    symbol("g_k", "weight of part `k`, from 1"),
    symbol("G_k", "sum of the weights up to part `k`"),
    symbol("G", "sum of all weights"),
    symbol("k", "the part that is drawn: the first with `G_k > u · G`"),
    symbol("u", "drawn uniformly from 0 to 1"),
    symbol("x", "place in the window, from 0 to 1"),
    symbol("b", "backoff, in slots"),
    on("a draw: after an attempt, and without `residual` after each busy period"),
    eq("CW ← min(2 · CW + 1, cwmax)", "IEEE 802.11-2016 §10.3.3")
        .when("`exponential`, the attempt failed and the frame is tried again"),
    eq("CW ← cwmin", "").when("the attempt succeeded, the frame is given up, or not `exponential`"),
    eq("x = (k − (G_k − u · G) / g_k) / K", "Starzetz 2006 §8.2"),
    eq("x = u", "").when("there are no weights"),
    eq("b = ⌊x · (CW + 1)⌋", ""),
];

/// Builds the access rule. A window of 0 takes the cell's value.
///
/// # Errors
/// When all weights are 0, or `cwmin` is larger than `cwmax`.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let cell = Setting { cw_max: cell.cw_max.max(args.integer("cwmin") as u32), ..cell };
    let (residual, exponential) = (args.flag("residual"), args.flag("exponential"));
    Ok(Box::new(Pdf {
        shape: Shape::new(args.numbers("weights"))?,
        backoff: Backoff::new(args, cell)?,
        residual,
        exponential,
    }))
}

/// A distribution over the window.
#[derive(Debug)]
struct Pdf {
    shape: Shape,
    backoff: Backoff,
    residual: bool,
    exponential: bool,
}

impl Access for Pdf {
    fn draw(&mut self, cx: &mut Cx, why: Draw, _: &Seen) -> u32 {
        let why = if self.exponential { why } else { Draw::Success };
        let slots = self.backoff.window(why) + 1;
        ((self.shape.draw(cx) * f64::from(slots)) as u32).min(slots - 1)
    }
    fn residue(&self) -> Residue {
        if self.residual { Residue::Keep } else { Residue::Redraw }
    }
}

/// A density over [0, 1) that is constant on each of several equal parts.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Sums of the weights up to and including each part; empty for the uniform density.
    sums: Vec<f64>,
}

impl Shape {
    /// The density with these weights of the parts. The error says what is wrong with the weights.
    pub(super) fn new(weights: &[f64]) -> Result<Shape, Refusal> {
        let sums: Vec<f64> = weights
            .iter()
            .scan(0.0, |sum, w| {
                *sum += w;
                Some(*sum)
            })
            .collect();
        match sums.last() {
            Some(&all) if all <= 0.0 => {
                Err(Refusal::new("all weights are 0", "write a positive weight for at least one part of the window"))
            }
            _ => Ok(Shape { sums }),
        }
    }

    /// A draw from [0, 1).
    pub(super) fn draw(&self, cx: &mut Cx) -> f64 {
        let u: f64 = cx.rng.random();
        let Some(all) = self.sums.last() else { return u };
        let x = u * all;
        let part = self.sums.partition_point(|s| *s <= x).min(self.sums.len() - 1);
        let below = part.checked_sub(1).and_then(|k| self.sums.get(k)).copied().unwrap_or(0.0);
        let weight = self.sums.get(part).copied().unwrap_or(x) - below;
        (part as f64 + if weight > 0.0 { (x - below) / weight } else { 0.0 }) / self.sums.len() as f64
    }
}
