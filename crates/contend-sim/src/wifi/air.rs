//! What is fixed about a cell's air: durations, rates, where packets go; and how a queue discipline sees it.

use super::access::Category;
use super::bridge::{Bridge, Exit};
use super::cell::MAX_PACKET;
use super::exchange::{Burst, Plan};
use super::timing::{RateTable, Timing};
use super::{AP, StationId};
use crate::world::{NodeId, Peer};
use contend_core::qdisc::Link;
use contend_core::{Packet, Span};
use contend_theory::bianchi;
use contend_theory::dcf::{Backoff, SlotTimes};
use std::cell::OnceCell;

/// Saturated contenders up to which the model is asked; more change little.
const CONTENDERS: u32 = 64;
/// The packet of the model's exchanges, in bytes.
const MODEL_PACKET: u32 = 1500;

/// What is fixed about a cell's air.
#[derive(Debug)]
pub(super) struct Air {
    pub(super) timing: Timing,
    /// DIFS.
    pub(super) difs: Span,
    pub(super) rates: Vec<RateTable>,
    /// Index into `rates` of the frames that each station sends, and of those the access point sends to it.
    pub(super) rate_of: Vec<u32>,
    pub(super) bridge: Bridge,
    /// [`Link::contention`] for 0, 1, ... contenders, when first asked.
    pub(super) contention: OnceCell<Vec<Span>>,
}

impl Air {
    /// What the access point does with `p`.
    pub(super) fn exit(&self, p: &Packet) -> Option<Exit> {
        self.bridge.get(p.dst.0 as usize)?.exit
    }

    /// The node that sent `p`, when it is the host of a station.
    pub(super) fn sender(&self, p: &Packet) -> Option<NodeId> {
        match self.bridge.get(p.src.0 as usize)?.exit? {
            Exit::Air { host: Peer::Node(end, _), .. } => Some(end),
            Exit::Air { .. } | Exit::Wire(_) => None,
        }
    }

    /// The category of `p`, the same in both directions of a flow.
    pub(super) fn category(&self, p: &Packet) -> Category {
        self.bridge.get(p.dst.0 as usize).map_or_else(Category::default, |r| r.category)
    }

    /// The durations of frames between the access point and `station`.
    #[inline]
    pub(super) fn table(&self, station: StationId) -> &RateTable {
        &self.rates[self.rate_of[station as usize] as usize]
    }

    /// DIFS and the whole exchange of an IP packet of `bytes` between the access point and `station`.
    pub(super) fn exchange(&self, station: StationId, bytes: u32) -> Span {
        let bytes = bytes.min(MAX_PACKET);
        let burst = Burst { from: AP, to: station, bytes, protection: self.timing.protection_of(bytes) };
        self.difs + self.plan(&burst).duration()
    }

    /// The plan of an exchange of `burst`, whose sender or receiver is the access point.
    #[inline]
    pub(super) fn plan(&self, burst: &Burst) -> Plan {
        Plan::new(burst, &self.timing, self.table_of(burst))
    }

    /// The durations of the frames of `burst`.
    #[inline]
    pub(super) fn table_of(&self, burst: &Burst) -> &RateTable {
        self.table(if burst.from == AP { burst.to } else { burst.from })
    }

    /// Mean time per success that n saturated stations lose to backoff and collisions.
    fn model(&self) -> Vec<Span> {
        let us = |s: Span| s.as_nanos() as f64 / 1e3;
        let backoff = Backoff {
            cw_min: self.timing.setting.cw_min,
            cw_max: self.timing.setting.cw_max,
            attempts: Some(self.timing.retry_short),
        };
        let Some(table) = self.rates.first() else { return vec![Span::ZERO] };
        let data = self.difs + table.data(MODEL_PACKET).total + self.timing.sifs + table.ack;
        let times = SlotTimes { slot_us: us(self.timing.slot), ts_us: us(data), tc_us: us(data), payload_bits: 8.0 };
        let lost = |n| {
            let s = bianchi::saturation(&backoff, &times, n).ok()?;
            // For every success: its share of idle slots, and of the transmissions that collided.
            Some((s.idle_slots * times.slot_us + (1.0 - s.p_s) * times.tc_us) / s.p_s)
        };
        // Parameters of a cell are inside the model's range.
        (0..=CONTENDERS).map(|n| Span::from_secs_f64(lost(n.max(1)).unwrap_or(0.0) / 1e6)).collect()
    }
}

/// The air as the discipline of station `who` sees it.
pub(super) struct View<'a> {
    pub(super) air: &'a Air,
    pub(super) who: StationId,
}

impl Link for View<'_> {
    fn neighbour(&self, p: &Packet) -> u32 {
        match self.who {
            AP => match self.air.exit(p) {
                Some(Exit::Air { station, .. }) => station,
                Some(Exit::Wire(_)) | None => 0,
            },
            _ => 0,
        }
    }
    fn exchange(&self, neighbour: u32, bytes: u32) -> Span {
        self.air.exchange(if self.who == AP { neighbour } else { self.who }, bytes)
    }
    fn contention(&self, contenders: u32) -> Span {
        let model = self.air.contention.get_or_init(|| self.air.model());
        model.get(contenders.min(CONTENDERS) as usize).copied().unwrap_or(Span::ZERO)
    }
    fn slot(&self) -> Span {
        self.air.timing.slot
    }
}
