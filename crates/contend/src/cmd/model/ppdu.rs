//! `contend model ppdu`: how long a PPDU with MCS lasts.

use super::numbers::split;
use super::{Answer, Counts, MOST, list};
use crate::cmd::wrong;
use contend_core::{Refusal, Span};
use contend_lab::reading::expression::{Dimension, Quantity, quantity};
use contend_sim::wifi::phy::{
    Band, Family, Fec, Format, LONGEST_PPDU, McsTiming, Mode, NoMode, Phy, Preamble, Standard,
};
use miette::Result;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(super) struct Ppdu {
    /// 802.11n, 802.11ac, 802.11ax or 802.11be
    #[arg(long, default_value = "802.11ax")]
    standard: String,
    /// 2.4GHz, 5GHz or 6GHz
    #[arg(long, default_value = "5GHz")]
    band: String,
    /// Channel widths: one or a list
    #[arg(long, default_value = "20MHz", value_parser = widths)]
    width: Counts,
    /// Numbers of spatial streams: a list or a range
    #[arg(long, default_value = "1", value_parser = streams)]
    streams: Counts,
    /// MCS of one stream: a list or a range
    #[arg(long, default_value = "0..13", value_parser = mcs)]
    mcs: Counts,
    /// Guard intervals: one or a list
    #[arg(long, default_value = "800ns", value_parser = guards)]
    guard: Guards,
    /// Sizes of the PSDU: a list or a range, in bytes
    #[arg(long, default_value = "1500B", value_parser = sizes)]
    psdu: Counts,
    /// bcc or ldpc (default: ldpc where the standard requires it, otherwise bcc)
    #[arg(long, value_parser = code)]
    fec: Option<Fec>,
    /// Nominal packet padding of the receiver
    #[arg(long, default_value = "0us", value_parser = padding)]
    packet_padding: u8,
    /// The extended range format of 802.11ax
    #[arg(long)]
    extended_range: bool,
    /// The durations of ns-3.44 instead of the standard's
    #[arg(long)]
    ns3: bool,
}

fn widths(s: &str) -> Result<Counts, Refusal> {
    list(&s.replace("MHz", ""), 1, "MHz")
        .map_err(|Refusal { what, remedy }| Refusal::new(what, format!("{remedy}; the unit is MHz")))
}

fn streams(s: &str) -> Result<Counts, Refusal> {
    list(s, 1, "streams")
}

fn mcs(s: &str) -> Result<Counts, Refusal> {
    list(s, 0, "MCS")
}

/// Guard intervals.
#[derive(Clone, Debug)]
struct Guards(Vec<Span>);

fn guards(s: &str) -> Result<Guards, Refusal> {
    let one = |t: &str| quantity::span(t).map_err(|e| Refusal::new(e.what, "write a guard interval like 800ns"));
    split(s, one).map(Guards)
}

fn padding(s: &str) -> Result<u8, Refusal> {
    let span = quantity::span(s).map_err(|e| Refusal::new(e.what, "write a padding like 16us"))?;
    Ok(u8::try_from(span.as_nanos().div_ceil(1000)).unwrap_or(u8::MAX))
}

fn code(s: &str) -> Result<Fec, Refusal> {
    match s {
        "bcc" => Ok(Fec::Bcc),
        "ldpc" => Ok(Fec::Ldpc),
        _ => Err("write bcc or ldpc".into()),
    }
}

/// The largest PSDU of any format in bytes (802.11be: an A-MPDU).
const LARGEST: f64 = 15_523_200.0;

fn sizes(s: &str) -> Result<Counts, Refusal> {
    let remedy = "write bytes like 65535B, a list like 82B,1542B or a range like 1500..1600";
    let bytes = |t: &str| match Quantity::parse(t) {
        Ok(q) => Some(q.value).filter(|_| q.unit == Dimension::Bytes),
        Err(_) => t.parse::<f64>().ok(),
    };
    let one = |t: &str| match bytes(t.trim()) {
        Some(b) if (1.0..=LARGEST).contains(&b) && b.fract() == 0.0 => Ok(b as u32),
        Some(_) => Err(Refusal::new(format!("{t} is not from 1 to {LARGEST} bytes"), remedy)),
        None => Err(Refusal::new(format!("`{t}` is not a number of bytes"), remedy)),
    };
    let part = |t: &str| match t.split_once("..") {
        Some((a, b)) => match (one(a)?, one(b)?) {
            (a, b) if a <= b && b - a < MOST => Ok((a..=b).collect()),
            (a, b) => Err(Refusal::new(format!("the range {a}..{b} is empty or has more than {MOST} sizes"), remedy)),
        },
        None => Ok(vec![one(t)?]),
    };
    split(s, part).map(|parts| Counts(parts.concat()))
}

impl Ppdu {
    /// The standard's family, and the PHY in the band.
    fn phy(&self) -> Result<(Family, Phy)> {
        let with_mcs = || Standard::ALL.into_iter().filter_map(|(name, s)| Some((name, s, s.family()?)));
        let Some((_, standard, family)) = with_mcs().find(|s| s.0 == self.standard) else {
            let names: Vec<&str> = with_mcs().map(|s| s.0).collect();
            let message = format!("there is no standard with MCS called `{}`", self.standard);
            return Err(wrong(message, format!("write one of {}", names.join(", "))));
        };
        let Some(&band) = standard.bands().iter().find(|b| b.name() == self.band) else {
            let names: Vec<&str> = standard.bands().iter().map(|b| Band::name(*b)).collect();
            let message = format!("{} does not work at {}", self.standard, self.band);
            return Err(wrong(message, format!("write one of {}", names.join(", "))));
        };
        let family = match family {
            Family::He if self.extended_range => Family::HeExtended,
            _ if self.extended_range => {
                return Err(wrong("--extended-range is for 802.11ax only", "remove it, or write --standard 802.11ax"));
            }
            other => other,
        };
        Ok((family, Phy::in_band(standard, band, Preamble::Long)))
    }

    /// All modes that the options name and the standard has; `Err` with the reason for one of the others.
    fn modes(&self, family: Family, phy: &Phy) -> Result<Vec<Mode>, NoMode> {
        let widest = phy.standard.widest(phy.band);
        let small = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
        let all = self.width.0.iter().flat_map(|&w| self.streams.0.iter().map(move |&s| (w, s)));
        let all = all.flat_map(|(w, s)| self.mcs.0.iter().map(move |&m| (w, s, m)));
        let all = all.flat_map(|(w, s, m)| self.guard.0.iter().map(move |&guard| (w, s, m, guard)));
        let mut missing = None;
        let mut modes = Vec::new();
        for (width, streams, mcs, guard) in all {
            let (width, streams, mcs) = (u16::try_from(width).unwrap_or(u16::MAX), small(streams), small(mcs));
            let padding = self.packet_padding;
            let plain = Mode { family, width, streams, mcs, guard, fec: Fec::Bcc, padding };
            let fec = self.fec.unwrap_or_else(|| plain.usual_fec());
            let mode = Mode { fec, ..plain };
            match mode.checked() {
                Ok(mode) if width <= widest => modes.push(mode),
                Ok(_) => {
                    let what = format!("is {width} MHz, which {} does not have at {}", self.standard, self.band);
                    let why = Refusal::new(what, format!("write width = \"{widest}MHz\""));
                    missing = Some(NoMode { key: "width", why });
                }
                Err(no) => missing = missing.or(Some(no)),
            }
        }
        match missing {
            Some(no) if modes.is_empty() => Err(no),
            _ => Ok(modes),
        }
    }
}

pub(super) fn ppdu(a: &Ppdu) -> Result<Answer> {
    let (family, phy) = a.phy()?;
    let lists = [&a.width, &a.streams, &a.mcs, &a.psdu].map(|list| list.0.len());
    if lists.into_iter().fold(a.guard.0.len(), usize::saturating_mul) > MOST as usize {
        return Err(wrong(format!("the lists make more than {MOST} rows"), "write shorter lists"));
    }
    let modes = a.modes(family, &phy).map_err(|no| {
        let option = |text: &str| text.replace(" = ", " ").replace("write ", "write --").replace("packet_", "packet-");
        wrong(format!("--{} {}", no.key.replace('_', "-"), no.why.what), option(&no.why.remedy).replace('"', ""))
    })?;
    let new = if a.ns3 { McsTiming::of_ns3 } else { McsTiming::new };
    let by = if a.ns3 { "ns-3.44" } else { "IEEE 802.11" };
    let mut out = format!("{} at {}, durations of {by}\n", a.standard, a.band);
    out += &format!(
        "{:>6} {:>7} {:>4} {:>6} {:>5} {:>9} {:>9} {:>12} {:>8} {:>12}\n",
        "MHz", "streams", "MCS", "GI ns", "FEC", "Mb/s", "PSDU B", "preamble ns", "symbols", "duration ns"
    );
    let (mut rows, mut long) = (Vec::new(), false);
    for mode in modes {
        let timing = new(mode, phy.signal_extension);
        for &psdu in &a.psdu.0 {
            let (airtime, symbols) = (timing.airtime(psdu), timing.symbols(psdu).0);
            let is_long = airtime.total > LONGEST_PPDU;
            long |= is_long;
            let (guard, bps) = (mode.guard.as_nanos(), timing.bps());
            let (preamble, total) = (airtime.preamble.as_nanos(), airtime.total.as_nanos());
            let fec = if mode.fec == Fec::Bcc { "bcc" } else { "ldpc" };
            out += &format!(
                "{:>6} {:>7} {:>4} {guard:>6} {fec:>5} {:>9.1} {psdu:>9} {preamble:>12} {symbols:>8} {total:>12}{}\n",
                mode.width,
                mode.streams,
                mode.mcs,
                bps as f64 / 1e6,
                if is_long { " *" } else { "" }
            );
            rows.push(json!({"standard": a.standard, "band": a.band, "width_mhz": mode.width,
                "streams": mode.streams, "mcs": mode.mcs, "guard_ns": guard, "fec": fec, "psdu_bytes": psdu,
                "rate_bps": bps, "preamble_ns": preamble, "symbols": symbols, "duration_ns": total,
                "largest_psdu_bytes": Format::of_mcs(timing).largest_psdu(LONGEST_PPDU)}));
        }
    }
    if long {
        out += &format!("*: longer than the longest PPDU, {} us.\n", LONGEST_PPDU.as_micros());
    }
    Ok(Answer::new("ppdu", out, rows))
}
