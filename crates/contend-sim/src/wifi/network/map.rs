//! The map of a field: where stations are, who hears whom, and which ways packets take.

use crate::mobility::Point;
use crate::wifi::ids::StationId;
use crate::wifi::medium::walls::Wall;

/// The map of a field at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Number of stations.
    pub stations: usize,
    /// By station; empty if the file gives links instead of positions.
    pub positions: Vec<Point>,
    /// What weakens frames between positions.
    pub walls: Vec<Wall>,
    /// Links that the file gives with a loss: transmitter, receiver, decibels.
    pub losses: Vec<(StationId, StationId, f64)>,
    /// By transmitter, then by distance.
    pub links: Vec<MapLink>,
    /// For each flow, the stations that its data pass. A way that ends early has no route from there. Empty if the flow
    /// is never on the air.
    pub routes: Vec<Vec<StationId>>,
}

/// A station that hears another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapLink {
    /// The transmitter.
    pub from: StationId,
    /// The station that senses it.
    pub to: StationId,
    /// True if it also decodes it.
    pub decodes: bool,
}
