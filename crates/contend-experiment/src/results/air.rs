//! The air of a run.

use super::Word;
use super::words::{floats, optional_words, words};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The air of a run's cell.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Air {
    /// Data frames sent (attempts).
    pub frames: u64,
    /// Data frames that were acknowledged.
    pub successes: u64,
    /// Collisions; each has two or more stations.
    pub collisions: u64,
    /// Share of attempts that collided.
    pub collision_probability: f64,
    /// Packets dropped after the last retry.
    pub retry_drops: u64,
    /// Mean number of stations with a frame at the start of a transmission, while the access point has a frame too.
    pub rivals: f64,
    /// Mean number of idle slots before a transmission.
    pub wait: Wait,
    /// Share of time with at least one transmission on the air; in a field, around a station, on average.
    pub busy: f64,
    /// Share of time of the frames that each station sent or got, while they were on the air alone: data, MAC ACKs, RTS
    /// and CTS, errored frames.
    pub airtime: Ways,
    /// MPDUs with data. This and the next three are there with aggregates, rate controls or error models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpdus: Option<Ways>,
    /// Share of these MPDUs that were not acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpdu_loss: Option<Ways>,
    /// Their mean rate in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rate: Option<Ways>,
    /// Their mean MCS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_mcs: Option<Ways>,
    /// The ledger: each account's share of time; the shares sum to 1. In a field, the mean over stations.
    #[serde(deserialize_with = "words")]
    pub ledger: BTreeMap<Word, f64>,
    /// In a field, the ledger of each station; not there in a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<Radio>,
    /// In a field, the packets that stations could not forward, by reason; not there in a cell.
    #[serde(default, deserialize_with = "optional_words", skip_serializing_if = "Option::is_none")]
    pub routing_drops: Option<BTreeMap<Word, u64>>,
    /// The stations of a field that may change their access points, by name; not there if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roaming: Option<BTreeMap<String, Roaming>>,
}

/// How a station changed its access point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roaming {
    /// Changes after the warm-up.
    pub roams: u64,
    /// Seconds after the warm-up in which it scanned or changed: it had no access point that it could reach.
    #[serde(rename = "away")]
    pub away_s: f64,
    /// Its access points from the start of the run on, each with the second since when.
    pub access_points: Vec<(f64, String)>,
}

/// What the radio of each station of a field does: shares of time, by station. Those of a station sum to 1.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Radio {
    /// It transmits.
    pub sends: BTreeMap<String, f64>,
    /// A frame for its station, or for all, arrives, and nothing has corrupted it so far.
    pub receives: BTreeMap<String, f64>,
    /// It senses other frames, corrupted ones among them.
    pub hears: BTreeMap<String, f64>,
    /// It senses nothing, but its station must not send.
    pub blocked: BTreeMap<String, f64>,
    /// The medium around it is free.
    pub idle: BTreeMap<String, f64>,
}

impl Radio {
    /// The accounts and their names.
    pub fn accounts(&self) -> [(Word, &BTreeMap<String, f64>); 5] {
        [
            ("sends", &self.sends),
            ("receives", &self.receives),
            ("hears", &self.hears),
            ("blocked", &self.blocked),
            ("idle", &self.idle),
        ]
    }
}

/// Mean number of idle slots before a transmission.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Wait {
    /// Before a transmission of one station.
    pub success: f64,
    /// Before a collision.
    pub collision: f64,
}

/// A number for the frames of each station.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ways {
    /// The frames that the station sent.
    #[serde(deserialize_with = "floats")]
    pub from: BTreeMap<String, f64>,
    /// The frames that were sent to it.
    #[serde(deserialize_with = "floats")]
    pub to: BTreeMap<String, f64>,
}
