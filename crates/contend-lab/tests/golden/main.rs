//! Golden values: the digest and hashes of all numbers of the experiments that come along, in a short form, and of
//! generated networks. See `vectors/golden/README.md`.
//! Not in `suite`: it takes longer than all other tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod balance;
mod canon;
mod files;
mod generate;
#[path = "../../../contend-sim/tests/suite/golden.rs"]
mod golden;
mod networks;
mod page;
mod run;
