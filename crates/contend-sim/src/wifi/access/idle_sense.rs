//! Idle Sense: all stations adapt their windows towards the number of idle slots at which the channel carries the most.

use super::{Access, Channel, Draw, Reads, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};
use contend_theory::idle_sense::{Optimum, optimum};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Heusse, Rousseau, Guillier, Duda 2005, as Starzetz 2006 §8.2 uses it; constants by the \
    specification's S26, the paper itself is not among ours";
/// What it does.
pub const SUMMARY: &str = "Residual backoff from a window that adapts to the idle slots (Idle Sense); each station \
    changes its attempt rate by additive increase and multiplicative decrease, so that the idle slots between \
    transmissions meet a target. Or the window is the one at which this settles.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "window",
        &["aimd", "steady"],
        "aimd: the window adapts to what the station hears; steady: the window is 2 N / zeta - 1 for N contenders",
    )
    .default("aimd"),
    TARGET,
    ALPHA,
    EPSILON,
    TRANSMISSIONS,
    BETA,
    GAMMA,
    TIME_FAIR,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("T_c", "duration of a collision, in slots"),
    symbol("ζ", "attempts of all stations in a slot, at the best"),
    symbol("n_target", "`target`; if 0, the best for the cell"),
    symbol("n", "mean of the idle slots before a transmission, over the last `k` transmissions"),
    symbol("k", "transmissions that a decision counts; `transmissions` at first"),
    symbol("N", "stations that have a frame to send"),
    symbol("CW", "window in slots; that of the cell, CWmin + 1, at first"),
    symbol("f", "highest rate of the cell by that of the station; 1 without `time_fair`"),
    symbol("b", "backoff, in slots; it is kept while the medium is busy"),
    on("the start"),
    step("`ζ` is the solution of `1 − ζ = (1 − 1 / T_c) · exp(−ζ)`", "Heusse et al. 2005").when("`target = 0`"),
    eq("n_target = exp(−ζ) / (1 − exp(−ζ))", "").when("`target = 0`"),
    eq("ζ = ln(1 + 1 / n_target)", "").when("`target > 0`"),
    on("after `k` more transmissions, with `window = aimd`"),
    eq("CW ← α · CW", "§4").when("`n < n_target`"),
    eq("CW ← 2 · CW / (2 + ε · CW)", "").when("`n ≥ n_target`"),
    eq("CW ← min(10^6, max(1, CW))", ""),
    eq("k ← ⌊CW / γ⌋", "").when("`|n − n_target| < β` and `γ > 0`; at least 1, at most 2048"),
    eq("k ← transmissions", "").when("`|n − n_target| ≥ β` or `γ = 0`"),
    on("a draw"),
    eq("CW = 2 · N / ζ − 1", "Starzetz 2006 §8.2").when("`window = steady`"),
    step("`b` is drawn uniformly from 0 to `CW · f − 1`, with `CW · f` rounded and at least 1", ""),
];

/// Target for the mean number of idle slots.
pub(super) const TARGET: Param = Param::number(
    "target",
    "target for the idle slots between transmissions; 0: the best for the cell (5.68 for 802.11b)",
)
.default("0")
.range(0.0, 1e6);
/// Multiplicative decrease of the attempt rate.
pub(super) const ALPHA: Param = Param::number("alpha", "factor of the window when fewer slots are idle")
    .default("1.0666")
    .range(1.0, 10.0)
    .symbol("α");
/// Additive increase of the attempt rate.
pub(super) const EPSILON: Param = Param::number("epsilon", "increase of the attempt rate when more slots are idle")
    .default("0.001")
    .range(0.0, 1.0)
    .symbol("ε");
/// Samples per decision.
pub(super) const TRANSMISSIONS: Param =
    Param::integer("transmissions", "transmissions heard per decision").default("5").range(1.0, 4096.0);
/// What counts as near the target.
pub(super) const BETA: Param = Param::number(
    "beta",
    "distance from the target, in idle slots, within which more transmissions are heard per decision",
)
.default("0.75")
.range(0.0, 1e6)
.symbol("β");
/// More samples near the target.
pub(super) const GAMMA: Param = Param::number(
    "gamma",
    "near the target, window / gamma transmissions are heard per decision; 0: always the same number",
)
.default("4")
.range(0.0, 1e6)
.symbol("γ");
/// Windows in proportion to the rate.
pub(super) const TIME_FAIR: Param = Param::flag(
    "time_fair",
    "true if slower stations have larger windows in proportion, so that all get the same airtime",
)
.default("true");

/// Builds the access rule.
///
/// # Errors
/// When the cell has no best number of idle slots.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let steady = args.word("window") == "steady";
    Ok(Box::new(IdleSense { window: SharedWindow::new(args, cell)?, steady }))
}

/// Idle Sense.
#[derive(Debug)]
struct IdleSense {
    window: SharedWindow,
    steady: bool,
}

impl Access for IdleSense {
    fn draw(&mut self, cx: &mut Cx, _: Draw, seen: &Seen) -> u32 {
        let slots = if self.steady { self.window.steady(seen.contenders) } else { self.window.steered(seen.channel) };
        cx.rng.random_range(0..slots)
    }
    fn reads(&self) -> Reads {
        if self.steady { Reads::Contenders } else { Reads::Channel }
    }
}

/// A window that follows the idle slots that the station hears.
#[derive(Debug)]
pub(super) struct SharedWindow {
    best: Optimum,
    alpha: f64,
    epsilon: f64,
    transmissions: u64,
    beta: f64,
    gamma: f64,
    /// Factor of the window for a slow station.
    slower: f64,
    /// CW, in slots.
    cw: f64,
    /// The first busy period that no decision has counted.
    next: u64,
    /// Number of busy periods that the next decision counts.
    counts: u64,
}

/// Largest window that adaptation can reach.
const LARGEST: f64 = 1e6;

impl SharedWindow {
    /// A window with these parameters. The error names the parameter that does not fit.
    pub(super) fn new(args: &Args, cell: Setting) -> Result<SharedWindow, Refusal> {
        let best = match args.number("target") {
            0.0 => optimum(cell.collision).map_err(|e| {
                Refusal::new(
                    format!(
                        "a cell in which a collision takes {:.1} slots has no target of its own ({e})",
                        cell.collision
                    ),
                    "write one",
                )
            })?,
            idle_slots => Optimum { zeta: libm::log1p(1.0 / idle_slots), idle_slots },
        };
        let transmissions = args.integer("transmissions") as u64;
        Ok(SharedWindow {
            best,
            alpha: args.number("alpha"),
            epsilon: args.number("epsilon"),
            transmissions,
            beta: args.number("beta"),
            gamma: args.number("gamma"),
            slower: if args.flag("time_fair") { cell.slower.max(1.0) } else { 1.0 },
            cw: f64::from(cell.cw_min + 1),
            next: 0,
            counts: transmissions,
        })
    }

    /// Slots of the steady window for `contenders` stations.
    pub(super) fn steady(&self, contenders: u32) -> u32 {
        libm::round(self.best.window(contenders.max(1)) * self.slower).max(1.0) as u32
    }

    /// Slots of the window after all busy periods that were heard.
    pub(super) fn steered(&mut self, channel: &Channel) -> u32 {
        self.next = self.next.max(channel.busy().saturating_sub(Channel::MEMORY));
        while self.next + self.counts <= channel.busy() {
            let heard = (self.next..self.next + self.counts).map(|k| f64::from(channel.idle(k))).sum::<f64>()
                / self.counts as f64;
            self.next += self.counts;
            self.decide(heard);
        }
        (libm::round(self.cw * self.slower) as u32).max(1)
    }

    fn decide(&mut self, idle: f64) {
        // Heusse et al. 2005 §4: the attempt rate 2 / CW is divided by alpha, or raised by epsilon.
        self.cw = if idle < self.best.idle_slots {
            self.cw * self.alpha
        } else {
            2.0 * self.cw / (2.0 + self.epsilon * self.cw)
        };
        self.cw = self.cw.clamp(1.0, LARGEST);
        // Near the target a decision counts more busy periods, so that the window becomes steady.
        let near = (idle - self.best.idle_slots).abs() < self.beta;
        self.counts = if near && self.gamma > 0.0 { (self.cw / self.gamma) as u64 } else { self.transmissions }
            .clamp(1, Channel::MEMORY / 2);
    }
}
