//! Networks that a program steps, with agents in them that do what the program says: reinforcement learning, control,
//! or a policy by hand.
//!
//! An [`Agent`] is a place in the algorithms of contend: a sender's window, a queue's limit, a station's contention
//! window. Files name it like any other algorithm (`agent_window`, ...), after [`install`]. [`Episodes`] holds several
//! networks of one experiment and steps them together. The same seed and actions give the same episode, to the bit.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod agent;
mod control;
mod episode;
mod post;
mod queue;
mod rule;
mod sender;

pub use agent::{AGENTS, Agent, install};
pub use episode::{Episodes, Stepped};
