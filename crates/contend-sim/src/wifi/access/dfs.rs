//! DFS, distributed fair scheduling: a backoff in proportion to the packet's length divided by the station's weight.

use super::{Access, Draw, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Vaidya, Bahl, Gupta 2000, as Starzetz 2006 §7.2.1 reports it; scaling and mapping constants \
    are ours where that is silent";
/// What it does.
pub const SUMMARY: &str = "Backoff in proportion to packet length over weight; after a success, rho S L / w slots for \
    a packet of length L in a station of weight w. After a collision, the backoff is from a small window that doubles, \
    below the regular values.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::number("scale", "slots per byte").default("0.02").range(1e-6, 1000.0).symbol("S"),
    Param::number("weight", "weight of the station").default("0.1").range(1e-6, 1e6).symbol("w"),
    Param::fraction("spread", "rho is drawn uniformly from 1 - spread to 1 + spread").default("10%").range(0.0, 1.0),
    Param::integer("collision_window", "slots of the window after a first collision").default("4").range(1.0, 1024.0),
    Param::word(
        "mapping",
        &["linear", "exp", "sqrt"],
        "how large backoffs are compressed. linear: not at all; exp: exponentially; sqrt: by a square root",
    )
    .default("linear"),
    Param::number("threshold", "backoff in slots above which a backoff is compressed").default("80").range(1.0, 1e6),
    Param::number("range", "slots above the threshold that no compressed backoff reaches (exp only)")
        .default("1000")
        .range(1.0, 1e6),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("L", "size of the IP packet, in bytes"),
    symbol("ρ", "drawn uniformly from `1 − spread` to `1 + spread`"),
    symbol("x", "backoff before compression, in slots"),
    symbol("k", "failures of this frame in a row"),
    symbol("b", "backoff, in slots; it is kept while the medium is busy"),
    on("a draw after a failure"),
    step("`b` is drawn uniformly from 1 to `2^(min(k, 17) − 1) · collision_window`", "Starzetz 2006 §7.2.1"),
    on("any other draw"),
    eq("x = ρ · S · L / w", ""),
    eq("x ← threshold + range · (1 − exp(−(x − threshold) / range))", "").when("`mapping = exp` and `x > threshold`"),
    eq("x ← √(threshold · x)", "").when("`mapping = sqrt` and `x > threshold`"),
    eq("b = ⌊x⌋", ""),
];

/// Builds the access rule.
///
/// # Errors
/// Never.
pub fn build(args: &Args, _: Setting) -> Result<Box<dyn Access>, Refusal> {
    Ok(Box::new(Dfs {
        per_byte: args.number("scale") / args.number("weight"),
        spread: args.number("spread"),
        collision_window: args.integer("collision_window") as u32,
        mapping: match args.word("mapping") {
            "exp" => Mapping::Exponential,
            "sqrt" => Mapping::SquareRoot,
            _ => Mapping::Linear,
        },
        threshold: args.number("threshold"),
        range: args.number("range"),
        collisions: 0,
    }))
}

/// A backoff in proportion to length over weight.
#[derive(Debug)]
struct Dfs {
    per_byte: f64,
    spread: f64,
    collision_window: u32,
    mapping: Mapping,
    threshold: f64,
    range: f64,
    /// Collisions of the present frame.
    collisions: u32,
}

#[derive(Clone, Copy, Debug)]
enum Mapping {
    Linear,
    Exponential,
    SquareRoot,
}

impl Dfs {
    /// Compresses the backoff of `slots`; the order of backoffs is kept. At the threshold, the three mappings have the
    /// same value and nearly the same slope.
    fn map(&self, slots: f64) -> f64 {
        let above = slots - self.threshold;
        if above <= 0.0 {
            return slots;
        }
        match self.mapping {
            Mapping::Linear => slots,
            Mapping::Exponential => self.threshold + self.range * (1.0 - libm::exp(-above / self.range)),
            Mapping::SquareRoot => libm::sqrt(self.threshold * slots),
        }
    }
}

impl Access for Dfs {
    fn draw(&mut self, cx: &mut Cx, why: Draw, seen: &Seen) -> u32 {
        if why == Draw::Failure {
            self.collisions += 1;
            // Starzetz 2006 §7.2.1: after a collision, a small window that doubles, so that the station keeps its turn.
            let window = u64::from(self.collision_window) << (self.collisions - 1).min(16);
            return cx.rng.random_range(1..=window) as u32;
        }
        self.collisions = 0;
        // b = floor(rho S L / w), rho uniform on [0.9, 1.1].
        let rho = 1.0 + self.spread * (2.0 * cx.rng.random::<f64>() - 1.0);
        self.map(rho * self.per_byte * f64::from(seen.bytes)) as u32
    }
}
