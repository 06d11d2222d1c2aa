//! The tests of this crate from outside, as one program: a program for each file would link the crate each time.
//! A new file needs its `mod` here.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../../ci/needs.rs"]
mod needs;
mod proxy;
mod tools;
