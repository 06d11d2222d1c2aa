//! The tests of this crate from outside, as one program: a program for each file would compile `common` and link the
//! crate each time. A new file needs its `mod` here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

extern crate alloc;

mod ap_laws;
mod ap_vectors;
mod cc_laws;
mod common;
mod estimate;
mod facts;
mod marking;
mod observe_laws;
mod qdisc_laws;
mod qdisc_vectors;
mod rate_control_laws;
mod rate_laws;
mod tcp_d;
mod vectors;

// The recipes of CONTRIBUTING.md name them by `crate::`, as an algorithm in src does.
use contend_core::{Cx, Refusal, formulas, packet, registry};
