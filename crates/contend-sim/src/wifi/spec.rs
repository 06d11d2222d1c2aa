//! The specification of a channel: timing, options, access points and stations.

use super::access::{self, BusySlot};
use super::client::Client;
use super::phy::Phy;
use crate::loss;
use contend_core::registry::Choice;
use contend_core::{ap, qdisc};

/// The access points and stations of one channel.
#[derive(Clone, Debug)]
pub struct CellSpec {
    /// Timing and rates.
    pub phy: Phy,
    /// Medium-access options and limits.
    pub mac: MacSpec,
    /// The access points. A cell has one.
    pub aps: Vec<ApSpec>,
    /// The stations.
    pub stations: Vec<StationSpec>,
}

/// An access point.
#[derive(Clone, Debug)]
pub struct ApSpec {
    /// Its own station.
    pub station: StationSpec,
    /// Its control blocks, in the order in which packets pass them before the queue.
    pub control: Vec<Choice<ap::Build>>,
}

impl CellSpec {
    /// The access points, then the stations, in the order of their [numbers](super::StationId).
    pub fn members(&self) -> impl Iterator<Item = &StationSpec> {
        self.aps.iter().map(|ap| &ap.station).chain(&self.stations)
    }
}

/// Medium access options of the whole cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacSpec {
    /// Attempts of a frame not longer than the RTS threshold, and of an RTS (dot11ShortRetryLimit).
    pub retry_short: u32,
    /// Attempts of a frame longer than the RTS threshold, counted once its RTS was answered (dot11LongRetryLimit).
    pub retry_long: u32,
    /// An MPDU longer than this many bytes is preceded by RTS/CTS; `u32::MAX` for never.
    pub rts_threshold: u32,
    /// Whether a slot in which the medium becomes busy counts as one slot of backoff.
    pub busy_slot: BusySlot,
    /// What a station does with a frame that finds the medium idle for long enough.
    pub idle_access: IdleAccess,
    /// What stations wait after a collision.
    pub after_collision: AfterCollision,
}

/// What a station does with a frame that finds the medium idle for long enough and no backoff pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleAccess {
    /// It sends at once (the standard).
    Immediate,
    /// It still waits for the inter-frame space and a backoff (ns-2).
    Draw,
}

/// What bystanders wait after a frame they could not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCollision {
    /// Bystanders wait EIFS. A station whose frame collided and ended before the longest one waits DIFS: it has missed
    /// the beginning of the other frame, so that it receives no frame with an error (the standard).
    Eifs,
    /// Bystanders wait EIFS, and so does a station whose frame collided and whose timeout passed before the longest
    /// frame ended (ns-2).
    EifsAll,
    /// All wait DIFS (ns-3 when all transmissions start together).
    Difs,
}

/// The specification of a station or of the access point.
#[derive(Clone, Debug)]
pub struct StationSpec {
    /// The name. Random streams and results use it.
    pub name: String,
    /// Data rate in bits per second of frames it sends, and of frames the access point sends to it.
    pub rate: u64,
    /// Its queue.
    pub queue: Choice<qdisc::Build>,
    /// The losses of its channel, in both directions.
    pub loss: Option<Choice<loss::Build>>,
    /// Its access rule.
    pub access: Choice<access::Build>,
    /// What lies between its host and its MAC, besides the queue.
    pub client: Option<Client>,
}
