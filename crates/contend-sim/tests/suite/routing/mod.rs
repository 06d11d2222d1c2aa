//! Routing agents in networks of ideal links.

mod aodv;
mod dsdv;
mod laws;
mod network;
