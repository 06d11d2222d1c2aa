//! What the medium is: the PHY and its tables, propagation, fading, errors, reservations. It knows no station.

pub mod error_model;
pub mod fading;
pub(crate) mod nav;
pub mod phy;
pub mod propagation;
