//! DCF's binary exponential backoff: a uniform draw from a window that doubles after each failure.

use super::{Access, Draw, Seen, Setting};
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Span};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "IEEE 802.11-2016 §10.3.3 and §10.3.4.3; AIFSN and TXOP as in §10.22.2";
/// What it does.
pub const SUMMARY: &str = "Residual and exponential backoff of the standard (DCF); a backoff is drawn uniformly from \
    0..=CW. CW starts at CWmin, becomes 2 CW + 1 after each failure up to CWmax, and returns to CWmin after a success \
    or a drop.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("cwmin", "minimum contention window; 0: the cell's").default("0").range(0.0, 32_767.0),
    Param::integer("cwmax", "maximum contention window; 0: the cell's").default("0").range(0.0, 32_767.0),
    Param::integer(
        "aifsn",
        "slots after SIFS that must be idle before a slot counts, as in EDCA; 0: the cell's DIFS, which is 2 slots",
    )
    .default("0")
    .range(0.0, 15.0),
    Param::time(
        "txop",
        "time for which a station may send several frames after it won the medium once; 0us: one frame",
    )
    .default("0us")
    .range(0.0, 0.1),
    Param::word(
        "draw",
        &["inclusive", "exclusive"],
        "inclusive: from 0 to CW; exclusive: from 0 to CW - 1, as in ns-2",
    )
    .default("inclusive"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("CW", "contention window; `cwmin` at first"),
    symbol("b", "backoff, in slots"),
    symbol("IFS", "time for which the medium must be idle before slots count"),
    symbol("slot", "duration of a slot"),
    symbol("SIFS", "short inter-frame space"),
    symbol("DIFS", "`SIFS + 2 · slot`"),
    on("an attempt has ended, or a packet finds the medium busy and no backoff runs"),
    eq("CW ← min(2 · CW + 1, cwmax)", "IEEE 802.11-2016 §10.3.3")
        .when("the attempt failed and the frame is tried again"),
    eq("CW ← cwmin", "").when("it succeeded, or the frame is given up"),
    step("`b` is drawn uniformly from 0 to `CW`, with `draw = exclusive` to `CW − 1`", "§10.3.4.3"),
    on("a slot in which the medium is idle, after `IFS`"),
    eq("IFS = DIFS", "§10.3.4.3").when("`aifsn = 0`"),
    eq("IFS = SIFS + aifsn · slot", "§10.22.2.4").when("`aifsn > 0`"),
    eq("b ← b − 1", "§10.3.4.3").when("`b > 0`"),
    step("the station sends", "").when("`b = 0`"),
    step("it may send more frames, a SIFS apart, for the time `txop`", "§10.22.2.8").when("`txop > 0`"),
    on("the medium turns busy"),
    step("`b` stays for the next time", "§10.3.4.3"),
    eq("b ← b − 1", "").when("busy slots count in the cell"),
];

/// Builds the access rule. A parameter of 0 takes the cell's value.
///
/// # Errors
/// When `cwmin` is larger than `cwmax`.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let aifsn = Some(args.integer("aifsn") as u32).filter(|n| *n > 0);
    let backoff = Backoff { exclusive: args.word("draw") == "exclusive", ..Backoff::new(args, cell)? };
    Ok(Box::new(Dcf { backoff, aifsn, txop: args.time("txop") }))
}

/// The distributed coordination function.
#[derive(Debug)]
struct Dcf {
    backoff: Backoff,
    aifsn: Option<u32>,
    txop: Span,
}

impl Access for Dcf {
    fn draw(&mut self, cx: &mut Cx, why: Draw, _: &Seen) -> u32 {
        self.backoff.draw(cx, why)
    }
    fn aifsn(&self) -> Option<u32> {
        self.aifsn
    }
    fn txop(&self) -> Span {
        self.txop
    }
}

/// Binary exponential backoff.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    cw_min: u32,
    cw_max: u32,
    /// The present contention window CW.
    cw: u32,
    /// True if CW itself is never drawn.
    exclusive: bool,
}

impl Backoff {
    /// Windows from `cwmin` and `cwmax` of `args`; where these are 0, the cell's windows. The error names the wrong
    /// parameter.
    pub(super) fn new(args: &Args, cell: Setting) -> Result<Backoff, Refusal> {
        let or = |name: &str, default: u32| match args.integer(name) {
            0 => default,
            n => n as u32,
        };
        let (cw_min, cw_max) = (or("cwmin", cell.cw_min), or("cwmax", cell.cw_max));
        if cw_min > cw_max {
            return Err(Refusal::new(
                format!("cwmin = {cw_min} is larger than cwmax = {cw_max}"),
                "write a smaller cwmin",
            ));
        }
        Ok(Backoff { cw_min, cw_max, cw: cw_min, exclusive: false })
    }

    /// The contention window after `why`.
    pub(super) fn window(&mut self, why: Draw) -> u32 {
        // IEEE 802.11-2016 §10.3.3: CW takes the next value of the series after every failure and CWmin after a success
        // or when a limit is reached.
        self.cw = match why {
            Draw::Failure => (2 * self.cw + 1).min(self.cw_max),
            Draw::Success | Draw::Dropped => self.cw_min,
            Draw::Arrival | Draw::Cycle(_) => self.cw,
        };
        self.cw
    }

    /// A uniform draw from the contention window after `why`.
    pub(super) fn draw(&mut self, cx: &mut Cx, why: Draw) -> u32 {
        let cw = self.window(why);
        cx.rng.random_range(0..=cw.saturating_sub(u32::from(self.exclusive)))
    }
}
