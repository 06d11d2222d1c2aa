//! The tests of this crate from outside, as one program: a program for each file would link the crate each time.
//! A new file needs its `mod` here.
#![cfg(feature = "bpf")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod blocks;
#[allow(dead_code, reason = "this crate uses a part")]
#[path = "../../../contend-core/tests/suite/common/mod.rs"]
mod common;
mod equal;
mod skip;
