//! Numbers with units, and the language in which experiment files and metrics compute with them.

pub mod quantity;

pub use quantity::{Dimension, Quantity};
