//! From text to plain types, with the files that an experiment names from the disk.

pub use contend_experiment::reading::*;

pub mod file;
