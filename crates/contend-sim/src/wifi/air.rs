//! The constants of a cell's air: durations and rates.

use super::exchange::{Burst, Content, Plan};
use super::spec::CellSpec;
use super::timing::{RateNumber, RateTable, Timing};
use super::{BROADCAST, MAX_PACKET, StationId};
use contend_core::Span;
use contend_core::observe;
use contend_theory::bianchi;
use contend_theory::dcf::{Backoff, SlotTimes};
use std::cell::OnceCell;

/// The largest number of saturated contenders in the model; more contenders change little.
const CONTENDERS: u32 = 64;
/// The packet size in the exchanges of the model, in bytes.
const MODEL_PACKET: u32 = 1500;

/// The constants of a cell's air.
#[derive(Debug)]
pub(super) struct Air {
    timing: Timing,
    /// DIFS.
    difs: Span,
    /// By [`RateNumber`].
    rates: Vec<RateTable>,
    /// For each station, the rate that the file gives it: for frames from it, and to it from an access point.
    given: Vec<RateNumber>,
    /// The rate of broadcasts, if there are any.
    broadcast: RateNumber,
    /// Number of access points; they have the first numbers.
    aps: u32,
    /// [`Air::contention`] for 0, 1, ... contenders, computed when it is first asked for.
    contention: OnceCell<Vec<Span>>,
}

impl Air {
    /// The air of `spec`.
    ///
    /// # Errors
    /// If the PHY does not have a rate. The text names the station.
    pub(super) fn new(spec: &CellSpec) -> Result<Air, String> {
        let timing = Timing::new(spec)?;
        let phy = &spec.phy;
        let mut air = Air {
            timing,
            difs: phy.difs(),
            rates: Vec::new(),
            given: Vec::new(),
            broadcast: 0,
            aps: spec.aps.len() as u32,
            contention: OnceCell::new(),
        };
        for s in spec.members() {
            let rate =
                phy.format(s.rate).ok_or_else(|| format!("{}: the standard does not have {:?}", s.name, s.rate))?;
            let known = air.rates.iter().position(|t| t.rate == rate);
            if known.is_none() {
                air.rates.push(RateTable::new(phy, rate, &air.timing));
            }
            air.given.push(known.unwrap_or(air.rates.len() - 1) as RateNumber);
        }
        if spec.field.is_some() {
            air.broadcast = air.rates.len() as RateNumber;
            air.rates.push(RateTable::new(phy, phy.lowest_basic(), &air.timing));
        }
        Ok(air)
    }

    /// The durations that do not depend on the rate.
    #[inline]
    pub(super) fn timing(&self) -> &Timing {
        &self.timing
    }

    /// True if `station` is an access point.
    #[inline]
    pub(super) fn is_ap(&self, station: StationId) -> bool {
        station < self.aps
    }

    /// The station whose channel `burst` uses: its sender, or its receiver if the sender is an access point.
    #[inline]
    pub(super) fn channel_of(&self, burst: &Burst) -> StationId {
        if self.is_ap(burst.from) { burst.to } else { burst.from }
    }

    /// The rate that the file gives to data from one station to another, or to all.
    #[inline]
    pub(super) fn given_rate(&self, from: StationId, to: StationId) -> RateNumber {
        if to == BROADCAST { self.broadcast } else { self.given[if self.is_ap(from) { to } else { from } as usize] }
    }

    /// The durations at a rate.
    #[inline]
    fn table(&self, rate: RateNumber) -> &RateTable {
        &self.rates[rate as usize]
    }

    /// What an observer of `station` knows of its PHY and MAC, at the rate that the file gives the station.
    pub(super) fn radio(&self, station: StationId) -> observe::Radio {
        let (timing, rates) = (&self.timing, self.table(self.given[station as usize]));
        observe::Radio {
            rate: rates.rate.bps / 8,
            sifs: timing.sifs,
            difs: self.difs,
            mean_backoff: timing.slot * u64::from(timing.setting.cw_min) / 2,
            rts: rates.rts,
            cts: rates.cts,
            ack: rates.ack,
        }
    }

    /// DIFS and the whole exchange of an IP packet of `bytes` on the channel of `station`, at the rate that the file
    /// gives the station.
    pub(super) fn exchange(&self, station: StationId, bytes: u32) -> Span {
        let bytes = bytes.min(MAX_PACKET);
        let protection = self.timing.limits.protection.of(bytes);
        let rate = self.given[station as usize];
        let burst = Burst { from: station, to: station, bytes, content: Content::Packet, protection, rate };
        self.difs + self.plan(&burst).duration()
    }

    /// Most bytes of a PSDU at this rate.
    pub(super) fn most_bytes(&self, rate: RateNumber) -> u32 {
        self.table(rate).most
    }

    /// The plan of an exchange of `burst`.
    #[inline(always)]
    pub(super) fn plan(&self, burst: &Burst) -> Plan<'_> {
        Plan::new(burst, &self.timing, self.table(burst.rate))
    }

    /// The time that backoff and collisions take for each success when `contenders` stations are saturated.
    pub(super) fn contention(&self, contenders: u32) -> Span {
        let model = self.contention.get_or_init(|| self.model());
        model.get(contenders.min(CONTENDERS) as usize).copied().unwrap_or(Span::ZERO)
    }

    /// The mean time for each success that n saturated stations spend on backoff and collisions.
    fn model(&self) -> Vec<Span> {
        let us = |s: Span| s.as_nanos() as f64 / 1e3;
        let backoff = Backoff {
            cw_min: self.timing.setting.cw_min,
            cw_max: self.timing.setting.cw_max,
            attempts: Some(self.timing.limits.short),
        };
        let Some(table) = self.rates.first() else { return vec![Span::ZERO] };
        let data = self.difs + table.data(MODEL_PACKET).total + self.timing.sifs + table.ack;
        let times = SlotTimes { slot_us: us(self.timing.slot), ts_us: us(data), tc_us: us(data), payload_bits: 8.0 };
        let lost = |n| {
            let s = bianchi::saturation(&backoff, &times, n).ok()?;
            // For each success: the idle slots and the collisions that it takes on average.
            Some((s.idle_slots * times.slot_us + (1.0 - s.p_s) * times.tc_us) / s.p_s)
        };
        // The parameters of a cell are always valid for the model.
        (0..=CONTENDERS).map(|n| Span::from_secs_f64(lost(n.max(1)).unwrap_or(0.0) / 1e6)).collect()
    }
}
