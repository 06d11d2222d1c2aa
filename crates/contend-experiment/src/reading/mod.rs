//! From text to plain types: experiment files, expressions with units, and the closed forms that both can use. Also the
//! experiment files inside the program.

pub mod command;
pub mod error;
pub mod examples;
pub mod expression;
pub mod file;
pub mod model;
pub mod roster;
