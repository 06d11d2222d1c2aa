//! The deployable part: congestion controllers, estimators, queue disciplines, and the plain data they work on.
//!
//! An algorithm here is arithmetic. Its inputs are the time, a measurement and its random stream; its output is a
//! decision. It has no clock, does no I/O, writes no log and has no global state. The same source therefore serves the
//! simulator and the emulator, and it is the reference for a C twin in the kernel.
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;

pub mod ap;
pub mod cc;
pub mod estimate;
pub mod explicit;
pub mod filtered;
pub mod formulas;
pub mod observe;
pub mod packet;
pub mod qdisc;
pub mod rate_control;
pub mod recent;
pub mod refusal;
pub mod registry;
pub mod time;
pub mod window;

pub use packet::{Address, Body, Ecn, Flags, FlowId, Packet, Sack, Segment};
pub use refusal::Refusal;
pub use time::{Span, Time};

/// The generator of every random stream: PCG XSL RR 128/64 (O'Neill 2014), a multiplicative congruential generator with
/// a permuted output.
pub type Rng = rand_pcg::Pcg64Mcg;

/// The context of a call: what an algorithm may know about its surroundings.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The current time.
    pub now: Time,
    /// The caller's own random stream, for this purpose only.
    pub rng: &'a mut Rng,
}
