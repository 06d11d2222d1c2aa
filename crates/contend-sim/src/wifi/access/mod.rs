//! Medium-access rules: when a station may try.

use contend_core::registry::Args;
use contend_core::{Cx, Span};
use std::fmt::Debug;

/// What the PHY and the file say about contention, for a rule to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Smallest contention window (aCWmin): a draw is from 0..=CW.
    pub cw_min: u32,
    /// Largest contention window (aCWmax).
    pub cw_max: u32,
}

/// Makes a rule from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args, Bounds) -> Result<Box<dyn Access>, String>;

contend_core::registry!(Build; dcf);

/// A medium-access rule, one for each station.
pub trait Access: Debug + Send {
    /// Draws the backoff, in slots, that precedes the station's next attempt.
    fn draw(&mut self, cx: &mut Cx, why: Draw) -> u32;
    /// Slots after SIFS for which the medium must be idle before backoff counts (AIFSN); `None` for the cell's DIFS.
    fn aifsn(&self) -> Option<u32> {
        None
    }
    /// How long it may hold the medium once it has won it, frame after frame a SIFS apart; zero for one frame.
    fn txop(&self) -> Span {
        Span::ZERO
    }
}

/// Why a backoff is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// A packet found the medium busy and no backoff pending.
    Arrival,
    /// The last attempt was acknowledged.
    Success,
    /// The last attempt was not acknowledged and the frame is tried again.
    Failure,
    /// The last attempt was not acknowledged and the frame is given up.
    Dropped,
}
