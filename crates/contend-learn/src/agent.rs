//! The kinds of agent.

use crate::post::Seen;
use crate::{control, queue, rule, sender};
use contend_core::Refusal;
use contend_lab::reading::roster;

/// A kind of agent.
#[derive(Debug)]
pub struct Agent {
    /// The short name: `window`.
    pub name: &'static str,
    /// The algorithm that a file names: `agent_window`.
    pub algorithm: &'static str,
    /// The end of the key that takes it: `tcp` of a flow, `queue` of the access point or a station, ...
    pub key: &'static str,
    /// The action: what it is, its unit, the usual smallest and largest value.
    pub action: (&'static str, &'static str, f64, f64),
    /// What the agent sees of a step: name and unit.
    pub sees: &'static [(&'static str, &'static str)],
    /// The values of `sees`, after a step of so many seconds.
    pub(crate) read: fn(&Seen, f64) -> Vec<f64>,
}

/// What senders see.
const SENDER: &[(&str, &str)] =
    &[("window", "p"), ("delivered", "bps"), ("rtt", "s"), ("least_rtt", "s"), ("lost", "1"), ("marked", "1")];

fn of_sender(s: &Seen, step: f64) -> Vec<f64> {
    vec![s.level, s.bytes as f64 * 8.0 / step, s.mean(), s.least, s.share(s.lost), s.share(s.marked)]
}

/// What queues see.
const QUEUE: &[(&str, &str)] =
    &[("waiting", "p"), ("offered", "p/s"), ("sent", "bps"), ("wait", "s"), ("dropped", "1"), ("marked", "1")];

fn of_queue(s: &Seen, step: f64) -> Vec<f64> {
    vec![s.level, s.came as f64 / step, s.bytes as f64 * 8.0 / step, s.mean(), s.share(s.lost), s.share(s.marked)]
}

/// All kinds of agent.
pub const AGENTS: &[Agent] = &[
    Agent {
        name: "window",
        algorithm: "agent_window",
        key: "tcp",
        action: ("congestion window", "p", 1.0, 1000.0),
        sees: SENDER,
        read: of_sender,
    },
    Agent {
        name: "rate",
        algorithm: "agent_rate",
        key: "tcp",
        action: ("pacing rate of the payload", "bps", 1e4, 1e8),
        sees: SENDER,
        read: of_sender,
    },
    Agent {
        name: "queue",
        algorithm: "agent_queue",
        key: "queue",
        action: ("limit of a FIFO", "p", 1.0, 1000.0),
        sees: QUEUE,
        read: of_queue,
    },
    Agent {
        name: "mark",
        algorithm: "agent_mark",
        key: "queue",
        action: ("probability of a mark, or of a drop without ECN", "1", 0.0, 1.0),
        sees: QUEUE,
        read: of_queue,
    },
    Agent {
        name: "access",
        algorithm: "agent_access",
        key: "access",
        action: ("contention window: a backoff is from 0 to it", "slots", 1.0, 1023.0),
        sees: &[("window", "slots"), ("attempts", "1/s"), ("failed", "1"), ("idle", "slots")],
        read: |s, step| vec![s.level, s.came as f64 / step, s.share(s.lost), s.mean()],
    },
    Agent {
        name: "fcwa",
        algorithm: "agent_fcwa",
        key: "control",
        action: ("FCWA's factor on the window limit", "1", 0.1, 1.0),
        sees: &[("margin", "1"), ("packets", "p/s"), ("passed", "bps")],
        read: |s, step| vec![s.level, s.came as f64 / step, s.bytes as f64 * 8.0 / step],
    },
];

/// Makes the agents known to experiment files of this process.
///
/// # Errors
/// When a name is taken.
pub fn install() -> Result<(), Refusal> {
    sender::entries().into_iter().try_for_each(|e| roster::CONTROLLERS.add(e))?;
    queue::entries().into_iter().try_for_each(|e| roster::QDISCS.add(e))?;
    roster::ACCESS.add(rule::entry())?;
    roster::CONTROLS.add(control::entry())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_reads_as_many_values_as_it_names() {
        for a in AGENTS {
            assert_eq!((a.read)(&Seen::default(), 0.1).len(), a.sees.len(), "{}", a.name);
            assert_eq!(a.algorithm, format!("agent_{}", a.name));
        }
    }
}
