//! The words of the schema, and numbers that may be undefined.

use contend_sim::routing::RoutingDrop;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A word of the schema: a direction, an account of the ledger.
pub type Word = &'static str;

/// Every word that a [`Run`] may contain, beside the reasons of [`RoutingDrop`].
const WORDS: [Word; 19] = [
    "up",
    "down",
    "local",
    "wired",
    "ack",
    "idle",
    "ifs",
    "backoff",
    "collision",
    "preamble",
    "header",
    "payload",
    "rts_cts",
    "beacon",
    "errored",
    "sends",
    "receives",
    "hears",
    "blocked",
];

/// Reads a word of the schema.
pub(super) fn word<'de, D: Deserializer<'de>>(d: D) -> Result<Word, D::Error> {
    known(&String::deserialize(d)?)
}

/// Reads a map whose keys are words of the schema.
pub(super) fn words<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<BTreeMap<Word, T>, D::Error> {
    all_known(BTreeMap::deserialize(d)?)
}

/// As [`words`]; `null` is no map.
pub(super) fn optional_words<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    d: D,
) -> Result<Option<BTreeMap<Word, T>>, D::Error> {
    Option::deserialize(d)?.map(all_known).transpose()
}

fn all_known<T, E: serde::de::Error>(map: BTreeMap<String, T>) -> Result<BTreeMap<Word, T>, E> {
    map.into_iter().map(|(w, value)| Ok((known(&w)?, value))).collect()
}

fn known<E: serde::de::Error>(text: &str) -> Result<Word, E> {
    let found = WORDS.into_iter().chain(RoutingDrop::ALL.map(RoutingDrop::name)).find(|w| *w == text);
    found.ok_or_else(|| E::custom(format_args!("`{text}` is not a word of the schema")))
}

/// Reads a map of numbers; `null` means undefined (NaN).
pub(super) fn floats<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let read = BTreeMap::<String, Option<f64>>::deserialize(d)?;
    Ok(read.into_iter().map(|(name, x)| (name, x.unwrap_or(f64::NAN))).collect())
}
