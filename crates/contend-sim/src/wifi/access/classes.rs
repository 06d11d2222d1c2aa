//! One window for all, steered as in Idle Sense; a class of service is a distribution over it.

use super::idle_sense::{self, SharedWindow};
use super::pdf::Shape;
use super::{Access, Category, Draw, Residue, Scheduling, Seen, Setting};
use contend_core::Cx;
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

/// Makes one.
///
/// # Errors
/// When all weights are 0, or the cell has no best number of idle slots.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, String> {
    let classes = ["vo", "vi", "bk"].iter().any(|name| !args.numbers(name).is_empty());
    // The station is refused as a whole.
    Category::ALL.iter().try_for_each(|c| Shape::new(args.numbers(key(*c))).map(drop))?;
    Ok(Box::new(Classes {
        shape: Shape::new(args.numbers(key(cell.category)))?,
        window: SharedWindow::new(args, cell)?,
        classes,
    }))
}

/// Where a class's distribution is written.
fn key(category: Category) -> &'static str {
    if category == Category::Be { "weights" } else { category.name() }
}

/// A class's distribution over the common window.
#[derive(Debug)]
struct Classes {
    shape: Shape,
    window: SharedWindow,
    /// True if stations have several.
    classes: bool,
}

impl Access for Classes {
    fn draw(&mut self, cx: &mut Cx, _: Draw, seen: &Seen) -> u32 {
        let slots = self.window.steered(seen.channel);
        ((self.shape.draw(cx) * f64::from(slots)) as u32).min(slots - 1)
    }
    fn residue(&self) -> Residue {
        Residue::Redraw
    }
    fn scheduling(&self) -> Scheduling {
        // Starzetz 2006 §8.3: on an internal tie the lower class is delayed (b), and draws again as it does in every
        // cycle, which is (a).
        if self.classes { Scheduling::AfterBackoff } else { Scheduling::One }
    }
}
