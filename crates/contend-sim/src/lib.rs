//! The simulated world: event loop, 802.11 cell, wires, TCP hosts, traffic.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod deadlines;
pub mod forwarding;
pub mod gate;
pub mod link;
pub mod loss;
pub mod mobility;
pub mod net;
pub mod payloads;
pub mod peer;
pub mod rng;
pub mod routing;
pub mod scenario;
pub mod stats;
pub mod tcp;
#[cfg(test)]
mod testing;
pub mod trace;
pub mod traffic;
pub mod wifi;
pub mod world;
