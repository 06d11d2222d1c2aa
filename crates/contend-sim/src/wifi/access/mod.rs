//! Medium-access rules: when a station may try.
//!
//! A rule sees its own fate ([`Draw`]) and what anybody can have heard of the channel ([`Seen`]), and answers with a
//! number of slots. It is called only for the station that draws; what happened on the channel in between it catches up
//! with from a history that all share.

mod category;
mod setting;

pub use category::Category;
pub use setting::Setting;

use contend_core::registry::Args;
use contend_core::{Cx, Span};
use std::fmt::Debug;

/// Makes a rule from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args, Setting) -> Result<Box<dyn Access>, String>;

contend_core::registry!(Build; dcf, edca, dcf_m, idle_sense, hash, hash1, pdf, residual_window, tcf, dfs, permutation, classes);

/// A medium-access rule, one for each station.
pub trait Access: Debug + Send {
    /// Draws the backoff, in slots, that precedes the station's next attempt.
    fn draw(&mut self, cx: &mut Cx, why: Draw, seen: &Seen) -> u32;
    /// What becomes of a backoff when the medium turns busy before it has run out.
    fn residue(&self) -> Residue {
        Residue::Keep
    }
    /// Slots after SIFS for which the medium must be idle before backoff counts (AIFSN); `None` for the cell's DIFS.
    fn aifsn(&self) -> Option<u32> {
        None
    }
    /// How long it may hold the medium once it has won it, frame after frame a SIFS apart; zero for one frame.
    fn txop(&self) -> Span {
        Span::ZERO
    }
    /// Whether a busy slot counts as backoff.
    fn busy(&self) -> Busy {
        Busy::Cell
    }
    /// Whether its station has categories, and when a packet of one is chosen. With categories, one rule is built for
    /// each ([`Setting::category`]).
    fn scheduling(&self) -> Scheduling {
        Scheduling::One
    }
}

/// Whether a busy slot counts as backoff in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusySlot {
    /// No: the counter is frozen (DCF).
    Frozen,
    /// Yes: it goes down by one (EDCA; Bianchi's model).
    Counted,
}

/// Whether a slot in which the medium turns busy counts as backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// As the cell says ([`BusySlot`]).
    Cell,
    /// No, whatever the cell says.
    Frozen,
    /// Yes, when the station had reached a slot boundary of its own since the last busy period: whose inter-frame space
    /// is not over counts none (EDCA, IEEE 802.11-2016 §10.22.2.4).
    Boundary,
}

impl Busy {
    /// Whether a busy slot counts where the cell says `cell`, for a station that has reached a slot boundary of its
    /// own.
    pub fn counts(self, cell: BusySlot) -> bool {
        match self {
            Busy::Cell => cell == BusySlot::Counted,
            Busy::Frozen => false,
            Busy::Boundary => true,
        }
    }
}

/// Whether a station has categories, and when a packet of one is chosen (Starzetz 2006 §8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// It has none: one queue, one backoff.
    One,
    /// Schedule after backoff: each category contends, and of those whose backoff ends together the highest sends.
    AfterBackoff,
    /// Schedule before backoff: a queue for each category and one backoff, for the packet that was chosen when the MAC
    /// became free.
    BeforeBackoff,
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
    /// Somebody else was first, after so many slots of this backoff (the busy one among them where busy slots count):
    /// only for a rule that keeps no residue.
    Cycle(u32),
}

/// What becomes of slots that were not waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residue {
    /// They are waited next time (residual backoff).
    Keep,
    /// They are forgotten, and the station draws again with [`Draw::Cycle`].
    Redraw,
}

/// What a station can know when it draws.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Stations that have a frame to send, the one on the air among them. No real station knows it: it serves rules
    /// that are defined by it.
    pub contenders: u32,
    /// The IP packet that waits, in bytes; 0 when none does.
    pub bytes: u32,
    /// Whether a busy slot counts as one slot of this station's backoff.
    pub busy_counts: bool,
    /// What was heard.
    pub channel: &'a Channel,
}

/// What everybody hears: how many slots were idle before each busy period.
#[derive(Clone, Debug)]
pub struct Channel {
    busy: u64,
    /// By number of the busy period, modulo the length.
    idle: Box<[u32]>,
}

impl Channel {
    /// Busy periods that are remembered.
    pub const MEMORY: u64 = 4096;

    /// Nothing heard yet.
    pub fn new() -> Channel {
        Channel { busy: 0, idle: vec![0; Channel::MEMORY as usize].into() }
    }

    /// Busy periods that have begun so far.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Idle slots before busy period number `k`, counted from 0; 0 when it is forgotten or has not begun.
    pub fn idle(&self, k: u64) -> u32 {
        let remembered = k < self.busy && self.busy - k <= Channel::MEMORY;
        if remembered { self.idle.get((k % Channel::MEMORY) as usize).copied().unwrap_or(0) } else { 0 }
    }

    /// A busy period begins after `idle` idle slots.
    pub(super) fn turns_busy(&mut self, idle: u32) {
        if let Some(place) = self.idle.get_mut((self.busy % Channel::MEMORY) as usize) {
            *place = idle;
        }
        self.busy += 1;
    }
}

impl Default for Channel {
    fn default() -> Channel {
        Channel::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_remembers_the_last_busy_periods() {
        let mut c = Channel::new();
        (0..Channel::MEMORY as u32 + 3).for_each(|k| c.turns_busy(k));
        assert_eq!((c.busy(), c.idle(c.busy() - 1), c.idle(3)), (Channel::MEMORY + 3, Channel::MEMORY as u32 + 2, 3));
        // Forgotten, and not begun.
        assert_eq!((c.idle(2), c.idle(c.busy())), (0, 0));
    }
}
