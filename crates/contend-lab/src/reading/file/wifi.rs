//! `[wifi]`: timing, options of medium access, and defaults of the stations.

use super::channel::{read_channel, read_error_model};
use super::choice::{choice, default_choice, objection};
use super::data_rate::{band, data_rate, legacy_rate, standard};
use super::error::FileError;
use super::reader::{Fields, Val};
use super::traces::Traces;
use super::tree::NodeKind;
use crate::names::suggest;
use contend_core::Span;
use contend_core::qdisc;
use contend_core::registry::{Amount, Choice, Unit};
use contend_sim::loss;
use contend_sim::scenario::{
    AfterCollision, Aggregation, AirtimeLimit, BusySlot, ChannelSpec, ErrorModelSpec, IdleAccess, MacSpec, StationSpec,
};
use contend_sim::wifi::access::{self, Setting};
use contend_sim::wifi::phy::{Band, Durations, LONGEST_PPDU, Phy, Preamble, Protection, Standard};
use std::collections::BTreeSet;

/// A cell without its stations.
pub(crate) struct Wifi {
    pub phy: Phy,
    pub mac: MacSpec,
    /// Default queue of a station.
    pub queue: Choice<qdisc::Build>,
    /// Default loss of a station.
    pub loss: Option<Choice<loss::Build>>,
    /// Default access rule of a station.
    pub access: Choice<access::Build>,
    /// Default quality of a channel and control of its rates.
    pub channel: ChannelSpec,
    /// The error model that the file gives.
    pub error_model: Option<ErrorModelSpec>,
}

impl Wifi {
    /// Reads `[wifi]`. `losses` collects loss processes, which are checked when the flows have names. `traces` are the
    /// files that the experiment names.
    pub fn read<'a>(val: &Val<'a>, losses: &mut Vec<Loss<'a>>, traces: &Traces) -> Result<Wifi, FileError> {
        let mut f = val.table()?;
        let standard = standard(&f.need("standard", "\"802.11g\"")?)?;
        let preamble =
            f.read_or("preamble", Preamble::Long, |v| v.word(&[("long", Preamble::Long), ("short", Preamble::Short)]))?;
        let mut phy = Phy::in_band(standard, band(&mut f, standard)?, preamble);
        read_phy(&mut phy, &mut f)?;
        let mac = read_mac(&mut f, &phy)?;
        phy.data = data_rate(&mut f, standard, &phy, None)?;
        let queue = read_queue(&mut f)?.map_or_else(|| default_choice(f.cx, qdisc::REGISTRY, "fifo", &[]), Ok)?;
        let loss = f.get("loss").map_or(Ok(None), |v| read_loss(v, losses))?;
        let access = f
            .read("access", |v| read_access(&v, &phy))?
            .map_or_else(|| default_choice(f.cx, access::REGISTRY, "dcf", &[]), Ok)?;
        let channel = read_channel(&mut f, &ChannelSpec::default())?;
        let error_model = f.read("error_model", |v| read_error_model(&v, traces))?;
        f.finish()?;
        Ok(Wifi { phy, mac, queue, loss, access, channel, error_model })
    }
}

fn read_phy(phy: &mut Phy, f: &mut Fields) -> Result<(), FileError> {
    let durations = [("standard", Durations::Standard), ("exact", Durations::Exact), ("ns3", Durations::Ns3)];
    phy.durations = f.read_or("durations", Durations::Standard, |v| match v.word(&durations)? {
        Durations::Ns3 if phy.standard.family().is_none() => {
            Err(v
                .error("is \"ns3\", which changes frames with MCS only", "remove it, or write standard = \"802.11ax\""))
        }
        durations => Ok(durations),
    })?;
    phy.slot = f.read_or("slot", phy.slot, |v| v.positive_span())?;
    phy.sifs = f.read_or("sifs", phy.sifs, |v| v.positive_span())?;
    phy.difs = f.read("difs", |v| v.positive_span())?;
    phy.eifs = f.read("eifs", |v| v.positive_span())?;
    phy.ack_timeout = f.read("ack_timeout", |v| v.positive_span())?;
    phy.signal_extension = f.read_or("signal_extension", phy.signal_extension, |v| v.span())?;
    phy.llc = f.read_or("llc", phy.llc, |v| Ok(v.bytes(0..=64)? as u32))?;
    if phy.difs.is_some_and(|d| d < phy.sifs) {
        return Err(f.error(
            "has a difs shorter than sifs: data would be sent before the acknowledgment",
            "write a longer difs",
        ));
    }

    let cwmin = f.get("cwmin");
    phy.cw_min = cwmin.as_ref().map_or(Ok(phy.cw_min), |v| Ok(v.integer(0..=32_767)? as u32))?;
    let cwmax = f.get("cwmax");
    phy.cw_max = cwmax.as_ref().map_or(Ok(phy.cw_max), |v| Ok(v.integer(0..=32_767)? as u32))?;
    if phy.cw_min > phy.cw_max {
        let message = format!("makes cwmin {} larger than cwmax {}", phy.cw_min, phy.cw_max);
        return Err(cwmin
            .or(cwmax)
            .map_or_else(|| f.error(&message, ""), |v| v.error(&message, "write a smaller cwmin or a larger cwmax")));
    }

    if let Some(v) = f.get("basic") {
        let mut basic = match v.node.kind {
            NodeKind::List(_) => v
                .list("[\"6Mbps\", \"12Mbps\"]")?
                .map(|v| legacy_rate(&v, phy.standard, phy.band))
                .collect::<Result<Vec<u64>, _>>()?,
            _ => vec![legacy_rate(&v, phy.standard, phy.band)?],
        };
        basic.sort_unstable();
        basic.dedup();
        if basic.is_empty() {
            return Err(v.error("is an empty list", "write at least one rate"));
        }
        phy.basic = basic;
    }
    let protections =
        [("none", Protection::None), ("cts-to-self", Protection::CtsToSelf), ("rts-cts", Protection::RtsCts)];
    phy.protection = f.read_or("protection", phy.protection, |v| {
        let protection = v.word(&protections)?;
        if protection != Protection::None && phy.standard < Standard::G {
            return Err(v.error(
                "is for 802.11g and later standards, beside older stations",
                "remove it, or write standard = \"802.11g\"",
            ));
        }
        Ok(protection)
    })?;
    phy.protection_rate = f.read_or("protection_rate", phy.protection_rate, |v| {
        if phy.protection == Protection::None {
            return Err(v.error(
                "has no meaning without protection",
                "write protection = \"cts-to-self\" or \"rts-cts\", or remove it",
            ));
        }
        legacy_rate(&v, phy.standard, phy.band)
    })?;
    Ok(())
}

fn read_mac(f: &mut Fields, phy: &Phy) -> Result<MacSpec, FileError> {
    let retry_short = f.read_or("retry_short", 7, |v| v.integer(1..=255))? as u32;
    Ok(MacSpec {
        retry_short,
        retry_long: f.read_or("retry_long", 4, |v| v.integer(1..=255))? as u32,
        rts_threshold: f.read_or("rts_threshold", u32::MAX, |v| {
            if phy.protection == Protection::RtsCts {
                return Err(v.error(
                    "has no meaning with protection = \"rts-cts\", which sends an RTS before every frame",
                    "remove one of the two",
                ));
            }
            if matches!(&v.node.kind, NodeKind::Text(t) if t == "never") {
                Ok(u32::MAX)
            } else {
                Ok(v.bytes(0..=65_535)? as u32)
            }
        })?,
        busy_slot: read_busy_slot(f)?,
        idle_access: f.read_or("idle_access", IdleAccess::Immediate, |v| {
            v.word(&[("immediate", IdleAccess::Immediate), ("draw", IdleAccess::Draw)])
        })?,
        aggregation: read_aggregation(f, phy, retry_short)?,
        after_collision: f.read_or("after_collision", AfterCollision::Eifs, |v| {
            v.word(&[
                ("eifs", AfterCollision::Eifs),
                ("eifs_all", AfterCollision::EifsAll),
                ("eifs_nav", AfterCollision::EifsNav),
                ("difs", AfterCollision::Difs),
            ])
        })?,
    })
}

/// Reads `ampdu`, `amsdu` and `mac_queue`. A sender without A-MPDUs sends one MPDU `attempts` times.
fn read_aggregation(f: &mut Fields, phy: &Phy, attempts: u32) -> Result<Option<Aggregation>, FileError> {
    let ampdu = f.read("ampdu", |v| read_ampdu(&v, phy.standard))?.flatten();
    let msdu = f.read_or("amsdu", 0, |v| read_amsdu(&v, phy, ampdu.is_some()))?;
    let aggregation = match ampdu {
        None if msdu == 0 => None,
        ampdu => Some(Aggregation { msdu, ..ampdu.unwrap_or(Aggregation { attempts: Some(attempts), ..ONE_MPDU }) }),
    };
    let limit = f.read("mac_queue", |v| {
        if aggregation.is_none() {
            return Err(v.error("has no meaning without aggregates", "write ampdu = {}, or remove it"));
        }
        match v.amount()? {
            Amount::Packets(n @ 1..=1_000_000) => Ok(n as u32),
            _ => Err(v.error("counts 1 to 1000000 packets", "write for example mac_queue = \"128p\"")),
        }
    })?;
    // An A-MSDU holds so many packets of 1500 B.
    let packets = (msdu / 1500).max(1);
    Ok(aggregation.map(|a| Aggregation { limit: limit.unwrap_or(a.limit * packets), ..a }))
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

/// Reads `ampdu`: "off", or a table. `None` if frames carry one packet.
fn read_ampdu(v: &Val, standard: Standard) -> Result<Option<Aggregation>, FileError> {
    if matches!(&v.node.kind, NodeKind::Text(t) if t == "off") {
        return Ok(None);
    }
    let Some((bytes, window)) = largest(standard) else {
        return Err(v.error("needs 802.11n or a later standard", "write standard = \"802.11n\", or remove it"));
    };
    let mut f = v.table()?;
    let never = |v: &Val| matches!(&v.node.kind, NodeKind::Text(t) if t == "never");
    let window = f.read_or("window", window, |v| Ok(v.integer(1..=u64::from(window))? as u32))?;
    let aggregation = Aggregation {
        bytes: f.read_or("bytes", bytes, |v| Ok(v.bytes(1..=u64::from(bytes))? as u32))?,
        msdu: 0,
        mpdus: f.read_or("mpdus", window, |v| Ok(v.integer(1..=u64::from(window))? as u32))?,
        window,
        duration: f.read_or("duration", LONGEST_PPDU, |v| {
            let d = v.positive_span()?;
            if d > LONGEST_PPDU {
                return Err(v.error("is longer than a PPDU may last", "write at most \"5.484ms\""));
            }
            Ok(d)
        })?,
        limit: (2 * window).max(MAC_QUEUE),
        hw_queue: f.read_or("hw_queue", 1, |v| Ok(v.integer(0..=64)? as u32))?,
        lifetime: f.read_or("lifetime", Span::ZERO, |v| if never(&v) { Ok(Span::ZERO) } else { v.positive_span() })?,
        attempts: f.read_or("attempts", Some(7), |v| {
            if never(&v) { Ok(None) } else { Ok(Some(v.integer(1..=255)? as u32)) }
        })?,
        asks: f.read_or("missed", false, |v| v.word(&[("data", false), ("request", true)]))?,
    };
    f.finish()?;
    Ok(Some(aggregation))
}

/// Reads `amsdu`: "off", or the most bytes of an A-MSDU.
fn read_amsdu(v: &Val, phy: &Phy, in_ampdu: bool) -> Result<u32, FileError> {
    if matches!(&v.node.kind, NodeKind::Text(t) if t == "off") {
        return Ok(0);
    }
    // IEEE 802.11-2020 §9.4.2.55.2 (HT) and §9.4.2.157.2 (VHT: MPDUs of 11454 B), 802.11ax-2021 §9.4.2.263 (6 GHz),
    // 802.11be-2024 §9.4.2.321.2 (EHT, at 2.4 GHz too). In an A-MPDU of HT an MPDU has 4095 B (§10.11).
    let most = match (phy.standard, phy.band) {
        (Standard::Dsss | Standard::B | Standard::A | Standard::G, _) => {
            return Err(v.error("needs 802.11n or a later standard", "write standard = \"802.11n\", or remove it"));
        }
        (Standard::N, _) if in_ampdu => 4_065,
        (Standard::N, _) | (Standard::Ax, Band::Ghz2) => 7_935,
        (Standard::Ac | Standard::Ax | Standard::Be, _) => 11_398,
    };
    Ok(v.bytes(1..=most)? as u32)
}

/// A sender that sends one MPDU at a time.
const ONE_MPDU: Aggregation = Aggregation {
    bytes: u32::MAX,
    msdu: 0,
    mpdus: 1,
    window: 1,
    duration: LONGEST_PPDU,
    limit: MAC_QUEUE,
    hw_queue: 1,
    lifetime: Span::ZERO,
    attempts: None,
    asks: false,
};

/// Fewest packets below the queue, if the file does not say how many; else two windows.
const MAC_QUEUE: u32 = 128;

/// Reads how a busy slot counts.
pub(crate) fn read_busy_slot(f: &mut Fields) -> Result<BusySlot, FileError> {
    f.read_or("busy_slot", BusySlot::Frozen, |v| {
        v.word(&[("frozen", BusySlot::Frozen), ("counted", BusySlot::Counted)])
    })
}

/// Reads an access rule and checks that it suits the cell.
pub(crate) fn read_access(v: &Val, phy: &Phy) -> Result<Choice<access::Build>, FileError> {
    let access = choice(v, access::REGISTRY, "access rule")?;
    objection(v, access.entry.name, (access.entry.build)(&access.args, Setting::of(phy)))?;
    Ok(access)
}

/// Reads `aql` of a table: "off", or the limits, whose defaults are those of Linux.
pub(crate) fn read_aql(f: &mut Fields, mac: &MacSpec) -> Result<Option<AirtimeLimit>, FileError> {
    f.read_or("aql", None, |v| {
        if matches!(&v.node.kind, NodeKind::Text(t) if t == "off") {
            return Ok(None);
        }
        if mac.aggregation.is_none() {
            return Err(v.error("has no meaning without aggregates", "write ampdu = {} in [wifi], or remove it"));
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

/// Reads `queue` of a table; it cannot name stations.
pub(crate) fn read_queue(f: &mut Fields) -> Result<Option<Choice<qdisc::Build>>, FileError> {
    f.read("queue", |v| queue(&v, &qdisc::Site::ALONE))
}

/// A site at which every name is a known neighbour.
pub(crate) const ANYBODY: qdisc::Site<'static> = qdisc::Site { neighbour: &|_| Some(1) };

/// Reads the access point's queue. Its stations are checked when all stations are known ([`check_weights`]).
pub(crate) fn read_ap_queue(f: &mut Fields) -> Result<Option<Choice<qdisc::Build>>, FileError> {
    f.read("queue", |v| queue(&v, &ANYBODY))
}

fn queue(v: &Val, site: &qdisc::Site) -> Result<Choice<qdisc::Build>, FileError> {
    let queue = choice(v, qdisc::REGISTRY, "queue discipline")?;
    objection(v, queue.entry.name, (queue.entry.build)(&queue.args, site))?;
    Ok(queue)
}

/// Checks that the stations which the queue of `ap` names exist.
pub(crate) fn check_weights(ap: &Val, stations: &[StationSpec]) -> Result<(), FileError> {
    let Some(queue) = ap.table()?.get("queue") else { return Ok(()) };
    let (queue, params) = (queue.pick()?, choice(&queue, qdisc::REGISTRY, "queue discipline")?.entry.params);
    if matches!(queue.node.kind, NodeKind::Text(_)) {
        return Ok(());
    }
    let names: BTreeSet<&str> = stations.iter().map(|s| s.name.as_str()).collect();
    let mut fields = queue.table()?;
    for weights in params.iter().filter(|p| p.unit == Unit::Weights).filter_map(|p| fields.get(p.name)) {
        for pair in weights.list("pairs")? {
            if let Some(name) = pair.list("a pair")?.next()
                && !names.contains(name.text()?)
            {
                return Err(
                    name.error(format!("names an unknown station: \"{}\"", name.text()?), suggest(name.text()?, names))
                );
            }
        }
    }
    Ok(())
}

/// A loss process and its place in the file; it is checked when the flows have names.
pub(crate) type Loss<'a> = (Val<'a>, Choice<loss::Build>);

/// Reads a loss process; `"none"` means no loss.
pub(crate) fn read_loss<'a>(v: Val<'a>, losses: &mut Vec<Loss<'a>>) -> Result<Option<Choice<loss::Build>>, FileError> {
    if matches!(&v.pick()?.node.kind, NodeKind::Text(t) if t == "none") {
        return Ok(None);
    }
    let loss = choice(&v, loss::REGISTRY, "loss process")?;
    losses.push((v, loss.clone()));
    Ok(Some(loss))
}

/// Checks the loss processes against the flows.
pub(crate) fn check_losses(
    losses: &[Loss],
    flow: &dyn Fn(&str) -> Option<contend_core::FlowId>,
) -> Result<(), FileError> {
    losses
        .iter()
        .try_for_each(|(v, loss)| objection(v, loss.entry.name, (loss.entry.build)(&loss.args, flow).map(drop)))
}
