//! One point of an experiment, ready to run: a network or a `[contention]`.

use contend_sim::scenario::Scenario;
use contend_sim::wifi::SaturatedSpec;

/// A network at one point of an experiment, with the names that results use.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The network. The caller sets its seed, which is 0 here.
    pub scenario: Scenario,
    /// Name of each `[[flow]]` table, by number.
    pub groups: Vec<String>,
    /// The `[[flow]]` table of each flow, in the order of the scenario's flows.
    pub members: Vec<Member>,
}

/// A flow as a member of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Number of the `[[flow]]` table, from 0.
    pub group: usize,
    /// Number of the flow within the group, from 1.
    pub k: usize,
    /// Number of flows in the group.
    pub n: usize,
    /// Direction of the flow's data.
    pub direction: Direction,
    /// True if an emulation leaves its ends to real hosts (`emulate = "kernel"`).
    pub kernel: bool,
}

/// Direction of a flow's data, seen from the cell.
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
    /// The name in results and selectors.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Local => "local",
            Direction::Wired => "wired",
        }
    }
}

/// A `[contention]` at one point of a file, ready to run.
#[derive(Clone, Debug)]
pub struct Contended {
    /// The stations. The caller sets the seed, which is 0 here.
    pub spec: SaturatedSpec,
    /// Number of successes that are measured.
    pub successes: u64,
    /// Number of successes in the warm-up before them.
    pub warmup: u64,
}
