//! One point of an experiment, ready to run: a network, or nothing but contention.

use contend_sim::scenario::Scenario;
use contend_sim::wifi::SaturatedSpec;

/// One point of an experiment, ready to run, with the names the results are told in.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The network; its seed is 0 and for the caller to set.
    pub scenario: Scenario,
    /// The file's `[[flow]]` tables by number: the name of each group.
    pub groups: Vec<String>,
    /// Where each flow of the scenario comes from, in the same order.
    pub members: Vec<Member>,
}

/// A flow as a member of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Number of its `[[flow]]` table, from 0.
    pub group: usize,
    /// Which member of the group it is, from 1.
    pub k: usize,
    /// How many there are.
    pub n: usize,
    /// Which way its data go.
    pub direction: Direction,
}

/// Which way a flow's data go, seen from the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From a station to the wired side.
    Up,
    /// From the wired side to a station.
    Down,
    /// From station to station.
    Local,
    /// Over wires only.
    Wired,
}

impl Direction {
    /// Its name in results and selectors.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Local => "local",
            Direction::Wired => "wired",
        }
    }
}

/// Contention at one point of a file.
#[derive(Clone, Debug)]
pub(crate) struct Contended {
    /// The stations; the seed is 0 and for the caller to set.
    pub spec: SaturatedSpec,
    /// Successes of a run that are measured.
    pub successes: u64,
    /// Successes before them that are not.
    pub warmup: u64,
}
