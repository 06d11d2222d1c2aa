//! `[wifi]`: timing, options of medium access, and defaults of the stations.

use super::aggregation::Aggregating;
use super::channel::{read_channel, read_error_model};
use super::choice::{choice, default_choice, named, objection};
use super::data_rate::{band, data_rate, legacy_rate, standard};
use super::error::FileError;
use super::reader::{Fields, Val};
use super::traces::Traces;
use super::tree::NodeKind;
use crate::names::suggest;
use crate::reading::roster::{ACCESS, QDISCS};
use contend_core::registry::{Choice, Unit, Value};
use contend_core::{Span, qdisc};
use contend_sim::loss;
use contend_sim::scenario::{
    AfterCollision, BusySlot, ChannelSpec, ErrorModelSpec, IdleAccess, MacSpec, StationSpec, TxopProtection,
};
use contend_sim::wifi::access::{self, Setting};
use contend_sim::wifi::phy::{Durations, Phy, Preamble, Protection, Standard};
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
    /// Default aggregation of a station.
    pub aggregation: Aggregating,
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
        let aggregation = Aggregating::read(&mut f, &phy, standard, None)?;
        let queue = read_queue(&mut f)?.map_or_else(|| default_choice(f.cx, QDISCS.all(), "fifo", &[]), Ok)?;
        let loss = f.get("loss").map_or(Ok(None), |v| read_loss(v, losses))?;
        let access = f
            .read("access", |v| read_access(&v, &phy))?
            .map_or_else(|| default_choice(f.cx, ACCESS.all(), "dcf", &[]), Ok)?;
        let channel = read_channel(&mut f, &ChannelSpec::default())?;
        let error_model = f.read("error_model", |v| read_error_model(&v, traces))?;
        f.finish()?;
        Ok(Wifi { phy, mac, queue, loss, access, aggregation, channel, error_model })
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
    Ok(MacSpec {
        retry_short: f.read_or("retry_short", 7, |v| v.integer(1..=255))? as u32,
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
        txop_protection: f.read_or("txop_protection", TxopProtection::Single, |v| {
            v.word(&[("single", TxopProtection::Single), ("multiple", TxopProtection::Multiple)])
        })?,
        preamble_detection: f.read_or("preamble_detection", Span::ZERO, |v| {
            let time = v.span()?;
            if time >= phy.slot {
                return Err(v.error("is not shorter than a slot", "write for example \"4us\""));
            }
            Ok(time)
        })?,
        busy_slot: read_busy_slot(f)?,
        idle_access: f.read_or("idle_access", IdleAccess::Immediate, |v| {
            v.word(&[("immediate", IdleAccess::Immediate), ("draw", IdleAccess::Draw)])
        })?,
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

/// Reads how a busy slot counts.
pub(crate) fn read_busy_slot(f: &mut Fields) -> Result<BusySlot, FileError> {
    f.read_or("busy_slot", BusySlot::Frozen, |v| {
        v.word(&[("frozen", BusySlot::Frozen), ("counted", BusySlot::Counted)])
    })
}

/// Reads an access rule and checks that it suits the cell.
pub(crate) fn read_access(v: &Val, phy: &Phy) -> Result<Choice<access::Build>, FileError> {
    let access = choice(v, ACCESS.all(), "access rule")?;
    objection(v, access.entry.name, (access.entry.build)(&access.args, Setting::of(phy)))?;
    Ok(access)
}

/// Reads `queue` of a table; it cannot name stations.
pub(crate) fn read_queue(f: &mut Fields) -> Result<Option<Choice<qdisc::Build>>, FileError> {
    f.read("queue", |v| queue(&v, &qdisc::Site::ALONE))
}

/// Reads the access point's queue. Its stations are checked when all stations are known ([`check_weights`]).
pub(crate) fn read_ap_queue(f: &mut Fields) -> Result<Option<Choice<qdisc::Build>>, FileError> {
    f.read("queue", |v| queue(&v, &qdisc::Site::ANYBODY))
}

fn queue(v: &Val, site: &qdisc::Site) -> Result<Choice<qdisc::Build>, FileError> {
    let (mut queue, filters) = named(v, QDISCS.all(), "queue discipline", None, &[qdisc::ACK_FILTER])?;
    if let Some(filters) = filters {
        queue.args.set(qdisc::ACK_FILTER, Value::Bool(filters.flag()?));
    }
    objection(v, queue.entry.name, qdisc::queue(&queue, site))?;
    Ok(queue)
}

/// Checks that the stations which the queue of `ap` names exist.
pub(crate) fn check_weights(ap: &Val, stations: &[StationSpec]) -> Result<(), FileError> {
    let Some(queue) = ap.table()?.get("queue") else { return Ok(()) };
    let (choice, _) = named(&queue, QDISCS.all(), "queue discipline", None, &[qdisc::ACK_FILTER])?;
    let (queue, params) = (queue.pick()?, choice.entry.params);
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
