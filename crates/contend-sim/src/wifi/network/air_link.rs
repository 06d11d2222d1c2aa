//! How the queue discipline of a station sees the air.

use super::observers::Observers;
use crate::wifi::ids::{BROADCAST, StationId};
use crate::wifi::sender::air::Air;
use contend_core::observe::Local;
use contend_core::qdisc::Link;
use contend_core::{Packet, Span, Time};

/// The air as the discipline of a station sees it.
pub(super) struct AirLink<'a> {
    pub(super) now: Time,
    pub(super) air: &'a Air,
    pub(super) observers: &'a Observers,
    pub(super) station: StationId,
}

impl Link for AirLink<'_> {
    fn neighbour(&self, p: &Packet) -> u32 {
        // Disciplines keep lists by neighbour. No neighbour has the station's own number.
        if p.next_hop == BROADCAST { self.station } else { p.next_hop }
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
    fn local(&self) -> Option<Local> {
        self.observers.local(self.station, self.now)
    }
}
