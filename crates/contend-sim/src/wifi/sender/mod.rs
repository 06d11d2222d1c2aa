//! The transmitting side of one station: its queues, what it sends, at which rate, and how long that takes.

pub(crate) mod air;
pub(crate) mod aql;
pub(crate) mod around;
pub mod counters;
pub(crate) mod mac;
pub(crate) mod plan;
pub(crate) mod queues;
pub(crate) mod rates;
pub(crate) mod store;
pub(crate) mod timing;
