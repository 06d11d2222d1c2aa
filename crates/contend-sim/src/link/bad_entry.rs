//! Why a wire cannot follow a table or trace.

/// An entry of a table or trace that no wire can follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// Its number, from 0.
    pub index: usize,
    /// What is wrong with it: "is earlier than the time before it".
    pub message: &'static str,
    /// What to write instead.
    pub remedy: &'static str,
}

impl BadEntry {
    pub(super) fn at(index: usize, message: &'static str, remedy: &'static str) -> BadEntry {
        BadEntry { index, message, remedy }
    }
}
