//! The tests of this crate from outside, as one program: a program for each file would compile `common` and link the
//! crate each time. A new file needs its `mod` here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod accurate_ecn;
mod aggregation;
mod bbr;
mod beacons;
mod cell;
mod client;
mod common;
#[allow(dead_code, reason = "this crate uses a part")]
#[path = "../../../contend-core/tests/suite/common/contributing.rs"]
mod contributing;
mod edca;
mod every_entry;
mod explicit;
mod explicit_field;
mod fcwa;
mod field;
mod frame_durations;
mod gate;
mod golden;
mod hidden;
mod laws;
mod link_quality;
mod marking;
mod mcs_cell;
mod mixed;
mod observers;
mod overhead;
mod ppdu;
mod rate_control;
mod rates;
mod recipes;
mod roaming;
mod routing;
mod saturated;
mod saturation;
mod small_queue;
mod strict_args;
