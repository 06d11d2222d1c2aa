//! How the queue discipline of a station sees the air.

use super::air::Air;
use super::bridge::{Bridge, Exit};
use super::{AP, StationId};
use contend_core::qdisc::Link;
use contend_core::{Packet, Span};

/// The air as the discipline of a station sees it.
pub(super) struct AirLink<'a> {
    pub(super) air: &'a Air,
    pub(super) bridge: &'a Bridge,
    pub(super) station: StationId,
}

impl Link for AirLink<'_> {
    fn neighbour(&self, p: &Packet) -> u32 {
        match self.station {
            AP => match self.bridge.exit(p) {
                Some(Exit::Air { station, .. }) => station,
                Some(Exit::Wire(_)) | None => 0,
            },
            _ => AP,
        }
    }
    fn exchange(&self, neighbour: u32, bytes: u32) -> Span {
        self.air.exchange(if self.station == AP { neighbour } else { self.station }, bytes)
    }
    fn contention(&self, contenders: u32) -> Span {
        self.air.contention(contenders)
    }
    fn slot(&self) -> Span {
        self.air.timing().slot
    }
}
