//! Kinds of value that several tables have.

use super::Default::Words;
use super::{Family, Key, Kind, Word, key, word};

pub(super) const QUEUE: &[Kind] = &[Kind::Algorithm(Family::Qdiscs)];
pub(super) const LOSS: &[Kind] = &[Kind::Word(NONE), Kind::Algorithm(Family::Loss)];
pub(super) const NONE: &[Word] = &[word("none", "Nothing.")];
#[rustfmt::skip]
pub(super) const COUNT: Key = key("count", &[Kind::Whole(0, 100_000)], Words("one member, called NAME"), "10",
    "Number of members, called NAME.1, NAME.2, ...; 0 switches all off.");

/// The words that name a place without a table in the file.
pub(super) const PLACES: &[Word] = &[
    word("server", "A wired host behind the access point that only this flow uses."),
    word("station", "A station that only this flow uses."),
    word("random", "A station that each seed draws anew: any, or with \"random(GROUP)\" a member of a group."),
];
