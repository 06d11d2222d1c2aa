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
    /// PLCP preamble and header of a data frame.
    preamble: Span,
    /// A whole data frame, and the bits of its IP packet alone, by size of that packet in bytes.
    data: Vec<(Span, Span)>,
    pub(super) answer: Rate,
    pub(super) ack: Span,
    pub(super) ack_timeout: Span,
    /// Rate of RTS and CTS, and how long they are on the air at it.
    pub(super) control: Rate,
    pub(super) rts: Span,
    pub(super) cts: Span,
    pub(super) cts_timeout: Span,
}

impl Timing {
    /// What goes before a data frame with an IP packet of `size` bytes.
    #[inline]
    pub(super) fn protection_of(&self, size: u32) -> Protection {
        if size + self.overhead > self.rts_threshold { Protection::RtsCts } else { self.protection }
    }
}

impl RateTable {
    /// A data frame that carries an IP packet of `bytes`, at most [`MAX_PACKET`].
    #[inline]
    pub(super) fn data(&self, bytes: u32) -> Airtime {
        Airtime { preamble: self.preamble, total: self.data[bytes as usize].0 }
    }

    /// The bits alone of an IP packet of `bytes`, at most [`MAX_PACKET`].
    #[inline]
    pub(super) fn payload(&self, bytes: u32) -> Span {
        self.data[bytes as usize].1
    }

    pub(super) fn new(phy: &Phy, rate: Rate, t: &Timing) -> RateTable {
        let answer = phy.response_rate(rate);
        // RTS and CTS go at the rate of answers, unless they protect.
        let control = if t.protection == Protection::None { answer } else { t.protection_rate };
        RateTable {
            rate,
            preamble: phy.airtime(rate, 0).preamble,
            data: (0..=MAX_PACKET)
                .map(|ip| (phy.airtime(rate, phy.mpdu(ip)).total, Span::of_bits(u64::from(ip) * 8, rate.bps)))
                .collect(),
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
