//! Plain types: what is run, how much is measured of it, and what it yields.

pub mod judged;
pub mod map;
pub mod point;
pub mod results;
pub mod size;
pub mod swept;
