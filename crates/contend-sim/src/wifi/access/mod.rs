//! Access rules: when a station may try to send.
//!
//! A rule gets the outcome of its own last attempt ([`Draw`]) and what a station can have heard on the channel
//! ([`Seen`]). It returns a number of slots. A rule is called only when its station draws. It reads what has happened
//! since its last call from a history that all stations share.

mod setting;

pub use super::ids::Category;
pub use setting::Setting;

use contend_core::Refusal;
use contend_core::registry::Args;
use contend_core::{Cx, Span};
use std::fmt::Debug;

/// Builds a rule from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args, Setting) -> Result<Box<dyn Access>, Refusal>;

contend_core::registry!(
    Build; dcf, edca, dcf_m, idle_sense, hash, hash1, pdf, residual_window, tcf, dfs, permutation, classes,
);

/// An access rule, one for each station.
pub trait Access: Debug + Send {
    /// Draws the backoff, in slots, that precedes the station's next attempt.
    fn draw(&mut self, cx: &mut Cx, why: Draw, seen: &Seen) -> u32;
    /// What happens to a backoff if the medium becomes busy before it ends.
    fn residue(&self) -> Residue {
        Residue::Keep
    }
    /// The number of slots after SIFS for which the medium must be idle before backoff counts (AIFSN); `None` for DIFS.
    fn aifsn(&self) -> Option<u32> {
        None
    }
    /// How long a station may send frames, a SIFS apart, after it has won the medium; zero for one frame.
    fn txop(&self) -> Span {
        Span::ZERO
    }
    /// Whether a busy slot counts as backoff.
    fn busy(&self) -> Busy {
        Busy::Cell
    }
    /// What it reads of [`Seen`] besides its own attempts.
    fn reads(&self) -> Reads {
        Reads::Nothing
    }
    /// True if all stations must count the same events, so that it holds only where each hears all others.
    fn whole_cell(&self) -> bool {
        false
    }
    /// Whether its station has categories, and when the category is chosen. With [`Scheduling::AfterBackoff`] each
    /// category has a rule of its own ([`Setting::category`]).
    fn scheduling(&self) -> Scheduling {
        Scheduling::One
    }
}

/// What a rule reads of [`Seen`] besides its own attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing.
    Nothing,
    /// [`Seen::contenders`].
    Contenders,
    /// [`Seen::channel`].
    Channel,
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
    /// As the option of the cell says ([`BusySlot`]).
    Cell,
    /// No, independent of the cell.
    Frozen,
    /// Counts only if this station's own IFS has already elapsed (EDCA, IEEE 802.11-2016 §10.22.2.4).
    Boundary,
}

impl Busy {
    /// True if a busy slot counts where the cell says `cell`, for a station that has reached a slot boundary of its
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
    /// No categories: one queue, one backoff.
    One,
    /// Schedule after backoff: each category contends. If several backoffs end together, the highest category sends.
    AfterBackoff,
    /// Schedule before backoff: one queue for each category, and one backoff. The packet is chosen when the MAC becomes
    /// free.
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
    /// Another station was first, after this number of slots of the backoff (including the busy slot if busy slots
    /// count). Only for a rule that keeps no residual backoff.
    Cycle(u32),
}

/// What happens to the residual backoff when another station was first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residue {
    /// It is kept for the next time.
    Keep,
    /// It is discarded, and the station draws again with [`Draw::Cycle`].
    Redraw,
}

/// How a contender counts its backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackoffRules {
    /// Its inter-frame space.
    pub ifs: Span,
    /// What happens to the residual backoff.
    pub residue: Residue,
    /// Whether a busy slot counts.
    pub busy: Busy,
}

/// What a station can know when it draws.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Number of stations that have a frame to send, including the sender on the air. No real station knows this
    /// number; it is for rules that are defined with it.
    pub contenders: u32,
    /// Size of the IP packet that waits, in bytes; 0 if none waits.
    pub bytes: u32,
    /// True if a busy slot counts as one slot of this station's backoff.
    pub busy_counts: bool,
    /// The history of the channel.
    pub channel: &'a Channel,
}

/// The history that all stations hear: the number of idle slots before each busy period.
#[derive(Clone, Debug)]
pub struct Channel {
    busy: u64,
    /// By number of the busy period, modulo the length.
    idle: Box<[u32]>,
}

impl Channel {
    /// Busy periods that are remembered.
    pub const MEMORY: u64 = 4096;

    /// An empty history.
    pub fn new() -> Channel {
        Channel { busy: 0, idle: vec![0; Channel::MEMORY as usize].into() }
    }

    /// Busy periods that have begun so far.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Idle slots before busy period number `k`, counted from 0; 0 if the period is forgotten or has not begun.
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
