//! What the medium is: the PHY and its tables, propagation, walls, fading, errors, reservations. It knows no station.
//! What is on the air, and who contends for it, is in `network/cell.rs` and `network/field.rs`.

pub mod error_model;
pub mod fading;
pub(crate) mod nav;
pub mod phy;
pub mod propagation;
pub mod spectrum;
pub mod walls;
