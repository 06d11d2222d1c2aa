//! IEEE 802.11: the timing tables, the access rules, and channels with their stations.
//!
//! Each part uses only those before it: identifiers (`ids`), what the medium is (`medium`), frames (`frame`), access
//! rules and clients, the specification of a channel (`spec`), one station's transmitting side (`sender`), all stations
//! together (`network`). [`Saturated`] runs access rules without a network.

pub mod access;
pub mod client;
mod frame;
mod ids;
mod medium;
mod network;
mod saturated;
mod sender;
pub mod spec;

pub use frame::{Addba, Frame, FrameKind, FrameOutcome, InFrame, MAX_PACKET, More};
pub use ids::{AP, BROADCAST, Contender, StationId};
pub use medium::{error_model, fading, phy, propagation, spectrum, walls};
pub use network::successes::Success;
pub use network::{FrameLog, Map, MapLink, MessageFault, Roams, StationMessage, Truth, bridge, bss, ledger};
pub use saturated::{ContenderSpec, Saturated, SaturatedSpec, Tally};
pub use sender::counters;
pub use sender::rates::Mpdus;
