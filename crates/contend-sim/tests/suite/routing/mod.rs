//! Routing agents in networks of ideal links.
#![allow(clippy::unwrap_used, clippy::panic)]

mod aodv;
#[path = "../common/mod.rs"]
mod common;
mod dsdv;
mod laws;
mod network;
