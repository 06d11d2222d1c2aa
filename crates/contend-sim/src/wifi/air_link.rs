//! How the queue discipline of a station sees the air.

use super::StationId;
use super::air::Air;
use contend_core::qdisc::Link;
use contend_core::{Packet, Span};

/// The air as the discipline of a station sees it.
pub(super) struct AirLink<'a> {
    pub(super) air: &'a Air,
    pub(super) station: StationId,
}

impl Link for AirLink<'_> {
    fn neighbour(&self, p: &Packet) -> u32 {
        p.next_hop
    }
    fn exchange(&self, neighbour: u32, bytes: u32) -> Span {
        self.air.exchange(if self.air.is_ap(self.station) { neighbour } else { self.station }, bytes)
    }
    fn contention(&self, contenders: u32) -> Span {
        self.air.contention(contenders)
    }
    fn slot(&self) -> Span {
        self.air.timing().slot
    }
}
