//! What can be deployed: congestion controllers, estimators, queue disciplines, and the plain data they work on.
//!
//! An algorithm here is arithmetic. It is given the time, the measurement and its random stream, and returns a
//! decision; it has no clock, does no I/O, writes no log and keeps nothing global. The same text therefore serves the
//! simulator, the emulator and, as the text a C twin is compared with, the kernel.
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;

pub mod ap;
pub mod cc;
pub mod estimate;
pub mod packet;
pub mod qdisc;
pub mod recent;
pub mod registry;
pub mod time;

pub use packet::{Address, Body, Ecn, Flags, FlowId, Packet, Sack, Segment};
pub use time::{Span, Time};

/// The generator behind every random stream: PCG XSL RR 128/64 (O'Neill 2014), a multiplicative congruential generator
/// with a permuted output.
pub type Rng = rand_pcg::Pcg64Mcg;

/// What an algorithm may know of its surroundings at the moment it is asked.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The present instant.
    pub now: Time,
    /// The caller's own random stream, for this purpose only.
    pub rng: &'a mut Rng,
}
