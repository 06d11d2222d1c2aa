//! A channel with all of its stations: who hears whom, who sends next, and where packets go.

mod agents;
mod air_link;
pub mod bridge;
pub mod bss;
pub(super) mod cell;
mod field;
mod forwarding;
mod frame_log;
pub mod ledger;
mod map;
mod observers;
mod overlap;
mod reception;
mod roaming;
mod stations;
pub(super) mod successes;

pub use agents::{MessageFault, StationMessage};
pub use frame_log::FrameLog;
pub use map::{Map, MapLink};
pub use observers::Truth;
pub use roaming::Roams;
