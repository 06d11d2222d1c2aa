//! Durations of a cell, worked out once from its PHY tables and options.

use super::access::Setting;
use super::cell::MAX_PACKET;
use super::phy::{ACK_BYTES, Airtime, CTS_BYTES, Phy, Protection, RTS_BYTES, Rate};
use crate::scenario::IdleAccess;
use contend_core::Span;

/// Durations of the cell's own, worked out once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) slot: Span,
    pub(super) sifs: Span,
    /// How much longer than DIFS a station waits after a frame it could not decode.
    pub(super) eifs_more: Span,
    pub(super) idle_access: IdleAccess,
    pub(super) retry_short: u32,
    pub(super) retry_long: u32,
    pub(super) rts_threshold: u32,
    pub(super) overhead: u32,
    pub(super) protection: Protection,
    pub(super) protection_rate: Rate,
    pub(super) setting: Setting,
}

/// One rate in use, with every duration that depends on it.
#[derive(Debug)]
pub(super) struct RateTable {
    pub(super) rate: Rate,
    /// Data frame by size of the IP packet in bytes.
    pub(super) data: Vec<Airtime>,
    /// Its payload alone, by size of the IP packet in bytes.
    pub(super) payload: Vec<Span>,
    pub(super) answer: Rate,
    pub(super) ack: Span,
    pub(super) ack_timeout: Span,
    /// Protection that goes before OFDM frames: RTS and CTS airtime at the rate they are sent at.
    pub(super) control: Rate,
    pub(super) rts: Span,
    pub(super) cts: Span,
    pub(super) cts_timeout: Span,
}

impl Timing {
    /// Whether an IP packet of `size` bytes is preceded by RTS and CTS.
    pub(super) fn uses_rts(&self, size: u32) -> bool {
        size + self.overhead > self.rts_threshold || self.protection == Protection::RtsCts
    }
}

impl RateTable {
    /// What goes before a data frame of `bytes` at IP level: RTS and CTS, or CTS to oneself, with their spaces.
    pub(super) fn before(&self, t: &Timing, bytes: u32) -> Span {
        if t.uses_rts(bytes) {
            self.rts + t.sifs + self.cts + t.sifs
        } else if t.protection == Protection::CtsToSelf {
            self.cts + t.sifs
        } else {
            Span::ZERO
        }
    }

    pub(super) fn new(phy: &Phy, rate: Rate, t: &Timing) -> RateTable {
        let answer = phy.response_rate(rate);
        // RTS and CTS go at the rate of answers, unless they protect.
        let control = if t.protection == Protection::None { answer } else { t.protection_rate };
        RateTable {
            rate,
            data: (0..=MAX_PACKET).map(|ip| phy.airtime(rate, phy.mpdu(ip))).collect(),
            payload: (0..=MAX_PACKET).map(|ip| Span::of_bits(u64::from(ip) * 8, rate.bps)).collect(),
            answer,
            ack: phy.airtime(answer, ACK_BYTES).total,
            ack_timeout: phy.ack_timeout(answer),
            control,
            rts: phy.airtime(control, RTS_BYTES).total,
            cts: phy.airtime(control, CTS_BYTES).total,
            cts_timeout: phy.ack_timeout(control),
        }
    }
}
