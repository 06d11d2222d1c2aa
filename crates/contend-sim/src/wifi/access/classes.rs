//! One window for all stations, adapted as in Idle Sense. A class of service is a distribution over this window.

use super::idle_sense::{self, SharedWindow};
use super::pdf::Shape;
use super::{Access, Category, Draw, Reads, Residue, Scheduling, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param, Unit};

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.3 (proposal)";
/// What it does.
pub const SUMMARY: &str = "Classes that draw from different distributions over one window; all stations share this \
    window, which adapts as in Idle Sense to keep collisions rare. In every cycle each class draws a slot; if two \
    classes of a station draw the same slot, the higher one sends. No residual backoff.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::new("weights", Unit::Numbers, "distribution over the window, as weights of equal parts of it; []: uniform")
        .default("[]")
        .range(0.0, 1e12),
    Param::new(
        "vo",
        Unit::Numbers,
        "distribution of voice, if stations have classes; `weights` is then that of best effort",
    )
    .default("[]")
    .range(0.0, 1e12)
    .makes_categories(),
    Param::new("vi", Unit::Numbers, "distribution of video, if stations have classes")
        .default("[]")
        .range(0.0, 1e12)
        .makes_categories(),
    Param::new("bk", Unit::Numbers, "distribution of background, if stations have classes")
        .default("[]")
        .range(0.0, 1e12)
        .makes_categories(),
    idle_sense::TARGET,
    idle_sense::ALPHA,
    idle_sense::EPSILON,
    idle_sense::TRANSMISSIONS,
    idle_sense::BETA,
    idle_sense::GAMMA,
    idle_sense::TIME_FAIR,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("CW", "window in slots, common to all classes: `CW · f` of idle_sense, rounded, at least 1"),
    symbol("f", "highest rate of the cell by that of the station; 1 without `time_fair`"),
    symbol("K", "number of the weights of the class"),
    symbol("g_k", "weight of part `k`, from 1"),
    symbol("G_k", "sum of the weights up to part `k`"),
    symbol("G", "sum of all weights"),
    symbol("k", "the part that is drawn: the first with `G_k > u · G`"),
    symbol("u", "drawn uniformly from 0 to 1"),
    symbol("x", "place in the window, from 0 to 1"),
    symbol("b", "backoff, in slots"),
    on("each cycle, after a busy period"),
    step("`CW` adapts to the idle slots as in idle_sense", "Starzetz 2006 §8.3"),
    eq("x = (k − (G_k − u · G) / g_k) / K", ""),
    eq("x = u", "").when("the class has no weights"),
    eq("b = ⌊x · CW⌋", ""),
    step("the highest class with the least `b` of its station sends; a lower one draws again as in every cycle", "")
        .when("the station has classes: `vo`, `vi` or `bk` is given"),
];

/// Builds the access rule.
///
/// # Errors
/// When all weights are 0, or the cell has no best number of idle slots.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let classes = ["vo", "vi", "bk"].iter().any(|name| !args.numbers(name).is_empty());
    // All distributions are checked, not only this class's: an error in one of them is an error of the station.
    Category::ALL.iter().try_for_each(|c| Shape::new(args.numbers(key(*c))).map(drop))?;
    Ok(Box::new(Classes {
        shape: Shape::new(args.numbers(key(cell.category)))?,
        window: SharedWindow::new(args, cell)?,
        classes,
    }))
}

/// The parameter with the distribution of `category`.
fn key(category: Category) -> &'static str {
    if category == Category::Be { "weights" } else { category.name() }
}

/// The distribution of one class over the common window.
#[derive(Debug)]
struct Classes {
    shape: Shape,
    window: SharedWindow,
    /// True if stations have several classes.
    classes: bool,
}

impl Access for Classes {
    fn draw(&mut self, cx: &mut Cx, _: Draw, seen: &Seen) -> u32 {
        let slots = self.window.steered(seen.channel);
        ((self.shape.draw(cx) * f64::from(slots)) as u32).min(slots - 1)
    }
    fn reads(&self) -> Reads {
        Reads::Channel
    }
    fn residue(&self) -> Residue {
        Residue::Redraw
    }
    fn scheduling(&self) -> Scheduling {
        // Starzetz 2006 §8.3: on an internal collision the lower class is delayed (b). It draws again as in every cycle
        // (a).
        if self.classes { Scheduling::AfterBackoff } else { Scheduling::One }
    }
}
