//! The durations of a cell, computed once from its PHY tables and options.

use crate::wifi::access::Setting;
use crate::wifi::frame::MAX_PACKET;
use crate::wifi::medium::phy::{
    ACK_BYTES, Airtime, BLOCK_ACK_BYTES, CTS_BYTES, Format, LONGEST_PPDU, Phy, Protection, REQUEST_BYTES, RTS_BYTES,
};
use crate::wifi::spec::{AfterCollision, Bitmap, CellSpec, TxopProtection};
use contend_core::Refusal;
use contend_core::Span;
use std::cell::Cell;

/// Bytes of the note of an observer (Barreto 2012 leaves the size open).
const NOTE_BYTES: u32 = 4;

/// The durations of a cell that do not depend on the data rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) slot: Span,
    pub(crate) sifs: Span,
    /// The time that a station waits in addition to DIFS after a frame that it could not decode.
    pub(crate) eifs_more: Span,
    /// The same for a station whose own frame collided and whose timeout expired before the end of the longest frame.
    pub(crate) short_collider_more: Span,
    /// True if these waits are a NAV, during which a station does not answer an RTS.
    pub(crate) eifs_is_nav: bool,
    pub(crate) limits: Limits,
    pub(crate) protection_rate: Format,
    /// The format of a CF-End and of beacons, which are for all: the lowest basic rate.
    pub(crate) lowest: Format,
    /// Bytes of an ACK with its note, if notes are on the air.
    pub(crate) ack_bytes: u32,
    pub(crate) setting: Setting,
}

/// The number of a rate in a cell.
pub(crate) type RateNumber = u16;

/// One rate in use, with every duration that depends on it.
#[derive(Debug)]
pub(crate) struct RateTable {
    pub(crate) rate: Format,
    /// PLCP preamble and header of a data frame.
    preamble: Span,
    /// True if older stations cannot decode the data frame, so that protection is for it: in a cell of 802.11g every
    /// frame, in later standards frames with MCS.
    pub(crate) is_protected: bool,
    /// For each size of the IP packet in bytes, the duration of the data frame, and of the bits of the IP packet alone.
    data: Vec<(Span, Span)>,
    /// The size of the PSDU that was asked for last, and its duration. One aggregate is asked for several times, and
    /// saturated stations send many of one size.
    last: Cell<(u32, Airtime)>,
    pub(crate) answer: Format,
    pub(crate) ack: Span,
    pub(crate) ack_timeout: Span,
    /// A request for a block acknowledgment.
    pub(crate) request: Airtime,
    /// By [`Bitmap`].
    pub(crate) block_ack: [Span; 4],
    /// Most bytes of a PSDU in the longest PPDU.
    pub(crate) most: u32,
    /// Format of RTS and CTS, and their durations.
    pub(crate) control: Format,
    pub(crate) rts: Span,
    pub(crate) cts: Span,
    pub(crate) cts_timeout: Span,
}

impl Timing {
    /// The durations of the cell of `spec`.
    ///
    /// # Errors
    /// If the PHY does not have the rate of protection frames.
    pub(crate) fn new(spec: &CellSpec) -> Result<Timing, Refusal> {
        let (phy, mac) = (&spec.phy, &spec.mac);
        let protection_rate = match phy.protection {
            Protection::None => phy.lowest_basic(),
            _ => phy
                .rate(phy.protection_rate)
                .ok_or_else(|| format!("protection_rate: the standard has no rate of {} bit/s", phy.protection_rate))?,
        };
        let protection =
            ProtectionRule { rts_threshold: mac.rts_threshold, overhead: phy.mpdu(0), otherwise: phy.protection };
        Ok(Timing {
            slot: phy.slot,
            sifs: phy.sifs,
            eifs_more: match mac.after_collision {
                AfterCollision::Eifs | AfterCollision::EifsAll => phy.eifs().saturating_sub(phy.difs()),
                AfterCollision::EifsNav => phy.eifs(),
                AfterCollision::Difs => Span::ZERO,
            },
            short_collider_more: match mac.after_collision {
                AfterCollision::EifsAll => phy.eifs().saturating_sub(phy.difs()),
                AfterCollision::EifsNav => phy.eifs(),
                AfterCollision::Eifs | AfterCollision::Difs => Span::ZERO,
            },
            eifs_is_nav: mac.after_collision == AfterCollision::EifsNav,
            limits: Limits {
                short: mac.retry_short.max(1),
                long: mac.retry_long.max(1),
                protection,
                txop_protection: mac.txop_protection,
            },
            protection_rate,
            lowest: phy.lowest_basic(),
            ack_bytes: ACK_BYTES + if spec.field.as_ref().is_some_and(|f| f.notes_on_air) { NOTE_BYTES } else { 0 },
            setting: Setting::of(phy).member(0, spec.members().count() as u32),
        })
    }
}

/// The retry limits of a sender, and the protection of its data frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most failures that count against the short limit (dot11ShortRetryLimit), at least 1.
    pub(crate) short: u32,
    /// Most failures that count against the long limit (dot11LongRetryLimit), at least 1.
    pub(crate) long: u32,
    pub(crate) protection: ProtectionRule,
    /// What its transmission opportunities reserve.
    pub(crate) txop_protection: TxopProtection,
}

/// The rule for the protection of data frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProtectionRule {
    /// An MPDU longer than this many bytes is preceded by RTS and CTS.
    pub(crate) rts_threshold: u32,
    /// Bytes of an MPDU without the IP packet.
    pub(crate) overhead: u32,
    /// The protection of other MPDUs.
    pub(crate) otherwise: Protection,
}

impl ProtectionRule {
    /// True if a frame with an IP packet of `size` bytes is longer than the RTS threshold.
    #[inline]
    pub(crate) fn is_long(&self, size: u32) -> bool {
        size + self.overhead > self.rts_threshold
    }

    /// The protection of an MPDU with several packets, or of an A-MPDU, of `psdu` bytes.
    #[inline]
    pub(crate) fn of_psdu(&self, psdu: u32) -> Protection {
        if psdu > self.rts_threshold { Protection::RtsCts } else { self.otherwise }
    }

    /// The protection of a data frame with an IP packet of `size` bytes.
    #[inline]
    pub(crate) fn of(&self, size: u32) -> Protection {
        if self.is_long(size) { Protection::RtsCts } else { self.otherwise }
    }
}

impl RateTable {
    /// A data frame that carries an IP packet of `bytes`, at most [`MAX_PACKET`].
    #[inline]
    pub(crate) fn data(&self, bytes: u32) -> Airtime {
        Airtime { preamble: self.preamble, total: self.data[bytes as usize].0 }
    }

    /// The duration of the bits of an IP packet of `bytes`, at most [`MAX_PACKET`].
    #[inline]
    pub(crate) fn payload(&self, bytes: u32) -> Span {
        self.data[bytes as usize].1
    }

    /// A data frame whose PSDU has `bytes`.
    #[inline]
    pub(crate) fn of_psdu(&self, bytes: u32) -> Airtime {
        let (last, airtime) = self.last.get();
        if last == bytes { airtime } else { self.of_another(bytes) }
    }

    #[inline(never)]
    fn of_another(&self, bytes: u32) -> Airtime {
        let airtime = self.rate.airtime(bytes);
        self.last.set((bytes, airtime));
        airtime
    }

    pub(crate) fn new(phy: &Phy, rate: Format, t: &Timing) -> RateTable {
        let (answer, empty) = (phy.response_rate(rate), rate.airtime(0));
        let is_newest = phy.standard.family().is_none() || rate.mode().is_some();
        // RTS and CTS use the rate of answers, unless they are protection.
        let control = if t.limits.protection.otherwise == Protection::None { answer } else { t.protection_rate };
        RateTable {
            rate,
            preamble: empty.preamble,
            last: Cell::new((0, empty)),
            is_protected: is_newest,
            data: (0..=MAX_PACKET).map(|ip| (rate.airtime(rate.psdu(phy.mpdu(ip))).total, rate.payload(ip))).collect(),
            answer,
            ack: answer.airtime(t.ack_bytes).total,
            ack_timeout: phy.ack_timeout(answer),
            request: control.airtime(REQUEST_BYTES),
            block_ack: Bitmap::ALL.map(|bitmap| answer.airtime(BLOCK_ACK_BYTES + bitmap.bytes()).total),
            most: rate.largest_psdu(LONGEST_PPDU).unwrap_or(0),
            control,
            rts: control.airtime(RTS_BYTES).total,
            cts: control.airtime(CTS_BYTES).total,
            cts_timeout: phy.ack_timeout(control),
        }
    }
}

/// What a PSDU has room for at its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Most bytes.
    pub(crate) most: u32,
    /// Fewest bytes from the beginning of an MPDU to that of the next: empty delimiters fill the rest; 0: any number.
    pub(crate) spacing: u32,
}
