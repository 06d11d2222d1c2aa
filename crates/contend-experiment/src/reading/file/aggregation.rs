//! `ampdu`, `amsdu`, `mac_queue` and `aql`: how a station aggregates.

use super::error::FileError;
use super::reader::{Fields, Val};
use super::tree::NodeKind;
use contend_core::Span;
use contend_core::registry::Amount;
use contend_sim::scenario::{Aggregation, AirtimeLimit};
use contend_sim::wifi::phy::{Band, LONGEST_PPDU, Phy, Standard};

/// The aggregation keys of a table, with the values inherited from `[wifi]`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aggregating {
    /// The limits of A-MPDUs, if there are any.
    ampdu: Option<Aggregation>,
    /// True if an A-MSDU in an A-MPDU may be as large as one alone.
    long_msdu: bool,
    /// Maximum size of an A-MSDU in bytes; 0: no A-MSDUs.
    msdu: u32,
    /// Maximum number of packets below a queue, if the file gives it.
    queue: Option<u32>,
}

/// The default number of packets below the queue is two windows, but at least this number.
const MAC_QUEUE: u32 = 128;

/// What is wrong with a key that only aggregates have.
const ALONE: &str = "has no meaning without aggregates";
const TOGETHER: &str = "write ampdu = {} from 802.11n on, or remove it";

impl Aggregating {
    /// Reads the keys of a station with this standard. Missing keys are inherited from `wifi`, as far as the standard
    /// supports them. Without `wifi` the keys are those of `[wifi]` itself: from 802.11n on, stations aggregate.
    pub(crate) fn read(
        f: &mut Fields,
        phy: &Phy,
        standard: Standard,
        wifi: Option<&Aggregating>,
    ) -> Result<Aggregating, FileError> {
        let wifi = wifi.copied().unwrap_or_else(|| Aggregating { ampdu: all(standard), ..Aggregating::default() });
        let usual = wifi.ampdu.zip(largest(standard)).map(|(a, (bytes, window))| Aggregation {
            bytes: a.bytes.min(bytes),
            mpdus: a.mpdus.min(window),
            window: a.window.min(window),
            ..a
        });
        let usual = (usual, wifi.long_msdu);
        let (ampdu, long_msdu) = f.read_or("ampdu", usual, |v| read_ampdu(&v, standard, usual))?;
        let most = largest_msdu(standard, phy.band, ampdu.is_some() && !long_msdu);
        let msdu = f.read_or("amsdu", wifi.msdu.min(most), |v| {
            if matches!(&v.node.kind, NodeKind::Text(t) if t == "off") {
                return Ok(0);
            }
            if most == 0 {
                return Err(v.error("needs 802.11n or a later standard", "write standard = \"802.11n\", or remove it"));
            }
            Ok(v.bytes(1..=most.into())? as u32)
        })?;
        let queue = f.read("mac_queue", |v| {
            if ampdu.is_none() && msdu == 0 {
                return Err(v.error(ALONE, TOGETHER));
            }
            match v.amount()? {
                Amount::Packets(n @ 1..=1_000_000) => Ok(n as u32),
                _ => Err(v.error("counts 1 to 1000000 packets", "write for example mac_queue = \"128p\"")),
            }
        })?;
        Ok(Aggregating { ampdu, long_msdu, msdu, queue: queue.or(wifi.queue) })
    }

    /// How the station aggregates; `None`: its frames carry one packet. Without A-MPDUs it sends an MPDU `attempts`
    /// times.
    pub(crate) fn of(&self, attempts: u32) -> Option<Aggregation> {
        let alone = Aggregation { attempts: Some(attempts), ..Aggregation::ONE_MPDU };
        let a = self.ampdu.or((self.msdu > 0).then_some(alone))?;
        // An A-MSDU holds so many packets of 1500 B.
        let usual = (2 * a.window).max(MAC_QUEUE) * (self.msdu / 1500).max(1);
        Some(Aggregation { msdu: self.msdu, limit: self.queue.unwrap_or(usual), ..a })
    }
}

/// A-MPDUs as large as the standard allows; `None` for older standards.
fn all(standard: Standard) -> Option<Aggregation> {
    let (bytes, window) = largest(standard)?;
    Some(Aggregation { bytes, mpdus: window, window, attempts: Some(7), ..Aggregation::ONE_MPDU })
}

/// The limits of IEEE 802.11-2020 §9.4.2.55.3 (HT), §9.4.2.157.2 (VHT), 802.11ax-2021 §9.4.2.248.2 and 802.11be-2024
/// §9.4.2.321.3: bytes of an A-MPDU, and MPDUs of a window. `None` for older standards.
fn largest(standard: Standard) -> Option<(u32, u32)> {
    match standard {
        Standard::Dsss | Standard::B | Standard::A | Standard::G => None,
        Standard::N => Some((65_535, 64)),
        Standard::Ac => Some((1_048_575, 64)),
        Standard::Ax => Some((6_500_631, 256)),
        Standard::Be => Some((15_523_200, 1024)),
    }
}

/// Maximum size of an A-MSDU in bytes; 0 in older standards. IEEE 802.11-2020 §9.4.2.55.2 (HT) and §9.4.2.157.2 (VHT:
/// MPDUs of 11454 B), 802.11ax-2021 §9.4.2.263 (6 GHz), 802.11be-2024 §9.4.2.321.2 (EHT, at 2.4 GHz too). In an A-MPDU
/// of HT an MPDU has 4095 B (§10.11).
fn largest_msdu(standard: Standard, band: Band, in_ampdu: bool) -> u32 {
    match (standard, band) {
        (Standard::Dsss | Standard::B | Standard::A | Standard::G, _) => 0,
        (Standard::N, _) if in_ampdu => 4_065,
        (Standard::N, _) | (Standard::Ax, Band::Ghz2) => 7_935,
        (Standard::Ac | Standard::Ax | Standard::Be, _) => 11_398,
    }
}

/// Reads `ampdu`: "off", or a table, whose missing keys have the values of `usual`. `None` if frames carry one packet.
/// With it [`Aggregating::long_msdu`].
fn read_ampdu(
    v: &Val,
    standard: Standard,
    (usual, long_msdu): (Option<Aggregation>, bool),
) -> Result<(Option<Aggregation>, bool), FileError> {
    if matches!(&v.node.kind, NodeKind::Text(t) if t == "off") {
        return Ok((None, long_msdu));
    }
    let Some(all) = all(standard) else {
        return Err(v.error("needs 802.11n or a later standard", "write standard = \"802.11n\", or remove it"));
    };
    let Aggregation { bytes, window, .. } = all;
    let usual = usual.unwrap_or(all);
    let mut f = v.table()?;
    let never = |v: &Val| matches!(&v.node.kind, NodeKind::Text(t) if t == "never");
    let own_window = f.read_or("window", usual.window, |v| Ok(v.integer(1..=window.into())? as u32))?;
    let aggregation =
        Aggregation {
            bytes: f.read_or("bytes", usual.bytes, |v| Ok(v.bytes(1..=bytes.into())? as u32))?,
            mpdus: f.read_or("mpdus", usual.mpdus.min(own_window), |v| Ok(v.integer(1..=own_window.into())? as u32))?,
            window: own_window,
            duration: f.read_or("duration", usual.duration, |v| {
                let d = v.positive_span()?;
                if d > LONGEST_PPDU {
                    return Err(v.error("is longer than a PPDU may last", "write at most \"5.484ms\""));
                }
                Ok(d)
            })?,
            density: f.read_or("density", usual.density, |v| {
                let d = v.span()?;
                if d.is_zero() || [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000].contains(&d.as_nanos()) {
                    return Ok(d);
                }
                Err(v.error("is no start spacing", "write 0us, 0.25us, 0.5us, 1us, 2us, 4us, 8us or 16us"))
            })?,
            reorder: f.read_or("reorder_timeout", usual.reorder, |v| {
                if never(&v) { Ok(Span::ZERO) } else { v.positive_span() }
            })?,
            hw_queue: f.read_or("hw_queue", usual.hw_queue, |v| Ok(v.integer(0..=64)? as u32))?,
            lifetime: f
                .read_or("lifetime", usual.lifetime, |v| if never(&v) { Ok(Span::ZERO) } else { v.positive_span() })?,
            lifetime_below: f
                .read_or("lifetime_from", usual.lifetime_below, |v| v.word(&[("queue", false), ("store", true)]))?,
            attempts: f.read_or("attempts", usual.attempts, |v| {
                if never(&v) { Ok(None) } else { Ok(Some(v.integer(1..=255)? as u32)) }
            })?,
            asks: f.read_or("missed", usual.asks, |v| v.word(&[("data", false), ("request", true)]))?,
            asks_at_20_mhz: f
                .read_or("request_width", usual.asks_at_20_mhz, |v| v.word(&[("data", false), ("20MHz", true)]))?,
            addba: f.read_or("addba", usual.addba, |v| {
                if matches!(&v.node.kind, NodeKind::Text(t) if t == "off") { Ok(Span::ZERO) } else { v.positive_span() }
            })?,
            ..usual
        };
    let long_msdu = f.read_or("msdu_limit", long_msdu, |v| v.word(&[("standard", false), ("ns3", true)]))?;
    f.finish()?;
    Ok((Some(aggregation), long_msdu))
}

/// Reads `aql` of a table: "off", or the limits, whose defaults are those of Linux.
pub(crate) fn read_aql(f: &mut Fields, aggregates: bool) -> Result<Option<AirtimeLimit>, FileError> {
    f.read_or("aql", None, |v| {
        if matches!(&v.node.kind, NodeKind::Text(t) if t == "off") {
            return Ok(None);
        }
        if !aggregates {
            return Err(v.error(ALONE, TOGETHER));
        }
        let mut f = v.table()?;
        // IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L, _H and IEEE80211_AQL_THRESHOLD of Linux.
        let mut of = |key, ms| f.read_or(key, Span::from_millis(ms), |v| v.positive_span());
        let limit = AirtimeLimit { low: of("low", 5)?, high: of("high", 12)?, total: of("total", 24)? };
        if limit.high < limit.low {
            return Err(v.error("has a `high` limit below the `low` one", "write a larger high, or a smaller low"));
        }
        f.finish()?;
        Ok(Some(limit))
    })
}
