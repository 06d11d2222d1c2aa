//! Results on disk and on the terminal: tables, files, reports, the results folder, and the journal.

pub mod disk;
pub mod folder;
pub mod journal;
pub mod output;
pub mod validation;
