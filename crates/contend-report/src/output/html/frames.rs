//! The air in an interval as a figure for a paper: one lane for each transmitter, its frames with their MPDUs, and the
//! inter-frame space and the backoff before an exchange. The page has the timeline of [`super::air`] instead, which
//! scripts move.

use super::air::{Look, look, name_of};
use super::chart::Chart;
use super::ink::GREY;
use super::svg::{Plot, Scale};
use super::{Figure, how_long};
use crate::output::csv::quoted;
use contend_core::packet::PacketKind;
use contend_core::{Span, Time};
use contend_experiment::results::Run;
use contend_sim::wifi::access::{Category, Setting};
use contend_sim::wifi::spec::CellSpec;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome, InFrame, StationId};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Maximum numbers of frames and lanes of a figure; more could not be told apart on paper.
const FRAMES: usize = 400;
const LANES: usize = 40;
/// In a cell of up to this many stations those that are silent have a lane too.
const WITH_SILENT: usize = 16;
/// This long before the interval frames are needed, to know since when the medium is idle.
pub const LEAD: Span = Span::from_millis(20);
/// The style of backoff.
const BACKOFF: usize = GREY + 2;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum NoAir {
    /// No frame is on the air.
    #[error("no frame is on the air in this interval")]
    Empty,
    /// More frames than a figure shows.
    #[error("{0} frames are on the air in this interval, and a figure shows at most {FRAMES}")]
    Frames(usize),
    /// More transmitters than a figure shows.
    #[error("{0} stations send in this interval, and a figure shows at most {LANES}")]
    Lanes(usize),
}

/// The frames of `run` from `from` to `to`, which were captured from [`LEAD`] earlier on. `cell` is the channel.
///
/// # Errors
/// When there is no frame, or too many of them.
pub fn air_chart(run: &Run, cell: &CellSpec, from: Time, to: Time) -> Result<Chart, NoAir> {
    let mut frames: Vec<&Frame> = run.detail.frames.iter().collect();
    frames.sort_by_key(|f| (f.start, f.from));
    let shown: Vec<(usize, &Frame)> =
        frames.iter().copied().enumerate().filter(|(_, f)| f.end > from && f.start < to).collect();
    let mut lanes: BTreeSet<StationId> = shown.iter().map(|(_, f)| f.from).collect();
    let members = cell.members().count();
    if members <= WITH_SILENT {
        lanes.extend(0..members as StationId);
    }
    let lanes: Vec<StationId> = lanes.into_iter().collect();
    match (shown.len(), lanes.len()) {
        (0, _) => return Err(NoAir::Empty),
        (n, _) if n > FRAMES => return Err(NoAir::Frames(n)),
        (_, n) if n > LANES => return Err(NoAir::Lanes(n)),
        _ => {}
    }
    // Rows are counted from the bottom; the first station is at the top.
    let row = |station| lanes.iter().rev().position(|lane| *lane == station).unwrap_or_default() as f64;
    let names = lanes.iter().rev().map(|lane| name_of(run, *lane)).collect();
    let length = to.since(from).as_secs_f64();
    let (unit, scale) = if length <= 5e-3 {
        ("µs", 1e6)
    } else if length <= 5.0 {
        ("ms", 1e3)
    } else {
        ("s", 1.0)
    };
    let place = |t: Time| (t.max(from).min(to).since(from).as_secs_f64()) * scale;
    let after = if from == Time::ZERO { String::new() } else { format!(" after {}", how_long(from.as_secs_f64())) };
    let mut plot =
        Plot::new(Scale::Linear(0.0, length * scale), &format!("time{after} [{unit}]"), Scale::Names(names), "")
            .wide()
            .tall(62.0 + 46.0 * lanes.len().max(2) as f64)
            .named("Frames on the air");
    let mut csv =
        String::from("start_ns,end_ns,from,to,kind,bytes,mpdus,rate_bps,retry,outcome,ifs_ns,backoff_slots\n");
    let (mut looks, mut waits) = (BTreeSet::new(), false);
    for &(i, f) in &shown {
        let kind = look(f);
        looks.insert(kind);
        let packets = run.detail.channel.packets(f);
        let mpdus: Vec<&InFrame> =
            packets.chunk_by(|a, b| a.sequence == b.sequence).filter_map(<[InFrame]>::first).collect();
        let words = words(f, mpdus.len());
        let receiver = name_of(run, f.to);
        let title = format!("{} to {receiver}, {}", words[0], outcome(f));
        let parts: Vec<_> = parts(f, &mpdus, cell)
            .into_iter()
            .filter(|(start, end, _)| *end > from && *start < to)
            .map(|(start, end, received)| (place(start), place(end), received))
            .collect();
        if kind == Look::Data && parts.iter().any(|(_, _, received)| !received) {
            looks.insert(Look::Errored);
        }
        plot.frame(kind.style(), row(f.from), (place(f.start), place(f.end)), &parts, &title, &words);
        let _ = writeln!(
            csv,
            "{},{},{},{},{},{},{},{},{},{},{}",
            f.start.as_nanos(),
            f.end.as_nanos(),
            quoted(&name_of(run, f.from)),
            quoted(&receiver),
            short(f.kind),
            f.bytes,
            mpdus.len().max(1),
            f.rate,
            f.retry,
            outcome(f),
            waited(&frames[..i], f, cell)
                .map_or_else(|| ",".to_owned(), |w| format!("{},{}", w.ifs.as_nanos(), w.slots)),
        );
    }
    // The words of frames come first: where there is no room, those of spaces are left out.
    for &(i, f) in &shown {
        let wait = waited(&frames[..i], f, cell);
        if let Some(wait) = &wait {
            let ends = [f.start - wait.backoff - wait.ifs, f.start - wait.backoff, f.start].map(place);
            plot.space(row(f.from), (ends[0], ends[1]), wait.name);
            waits |= wait.slots > 0 && f.start > from;
            let slots = format!("{} slot{}", wait.slots, if wait.slots == 1 { "" } else { "s" });
            plot.backoff(BACKOFF, row(f.from), (ends[1], ends[2]), wait.slots, &slots);
        } else if let Some(space) = answered(&frames[..i], f, cell) {
            plot.space(row(f.from), (place(f.start - space), place(f.start)), "SIFS");
        }
    }
    let mut legend: Vec<(usize, String)> = looks.iter().map(|l: &Look| (l.style(), l.name().to_owned())).collect();
    if waits {
        legend.push((BACKOFF, "backoff".to_owned()));
    }
    let figure = Figure {
        title: "The air, frame by frame".into(),
        caption: format!(
            "Seed {}. One lane for each station. Inter-frame space and backoff are those since the medium became \
                idle, of the station that sends next.",
            run.seed
        ),
        plot,
        legend,
        csv,
        command: String::new(),
        wide: true,
    };
    Ok(Chart::everywhere(figure))
}

/// How a station waited before it began an exchange.
struct Wait {
    ifs: Span,
    name: &'static str,
    backoff: Span,
    slots: u64,
}

/// How the transmitter of `f` waited since the medium became idle. Known in a cell, where all stations hear `before`,
/// after a frame that was received: the inter-frame space and a whole number of slots, or else no wait at all.
fn waited(before: &[&Frame], f: &Frame, cell: &CellSpec) -> Option<Wait> {
    let last = before.iter().filter(|b| b.start < f.start).max_by_key(|b| b.end)?;
    let phy = &cell.phy;
    if f.origin.is_some() || last.outcome != FrameOutcome::Received || last.end > f.start {
        return None;
    }
    let gap = f.start.since(last.end);
    let (ifs, name) = match aifsn(f.from, f.category, cell) {
        Some(n) => (phy.sifs + phy.slot * u64::from(n), "AIFS"),
        None => (phy.difs(), "DIFS"),
    };
    let backoff = (gap >= ifs).then(|| gap - ifs)?;
    let slots = backoff.as_nanos() / phy.slot.as_nanos().max(1);
    let is_whole = phy.slot * slots == backoff && slots <= u64::from(phy.cw_max);
    is_whole.then_some(Wait { ifs, name, backoff, slots })
}

/// AIFSN of a station and category; `None` for a rule that waits DIFS.
fn aifsn(station: StationId, category: Category, cell: &CellSpec) -> Option<u32> {
    let spec = cell.members().nth(station as usize)?;
    let setting = Setting::of(&cell.phy).member(station, cell.members().count() as u32).of_category(category);
    (spec.access.entry.build)(&spec.access.args, setting).ok()?.aifsn()
}

/// SIFS, if `f` follows the frame before it after SIFS.
fn answered(before: &[&Frame], f: &Frame, cell: &CellSpec) -> Option<Span> {
    let last = before.iter().filter(|b| b.start < f.start).max_by_key(|b| b.end)?;
    (last.end < f.start && f.start.since(last.end) == cell.phy.sifs).then_some(cell.phy.sifs)
}

/// The MPDUs of an A-MPDU: begin, end, and true if received. They share the time after the preamble by their bytes.
fn parts(f: &Frame, mpdus: &[&InFrame], cell: &CellSpec) -> Vec<(Time, Time, bool)> {
    if mpdus.len() < 2 {
        return vec![];
    }
    let bytes: u64 = mpdus.iter().map(|m| u64::from(m.bytes)).sum();
    let nanos = |bytes: u64| (u128::from(bytes) * 8_000_000_000 / u128::from(f.rate.max(1))) as u64;
    let last = f.end - cell.phy.signal_extension;
    let body = nanos(bytes).min(last.since(f.start).as_nanos());
    let begin = last - Span::from_nanos(body);
    let mut before = 0;
    let place = |bytes: u64| begin + Span::from_nanos(nanos(bytes).min(body));
    mpdus
        .iter()
        .map(|m| {
            let start = place(before);
            before += u64::from(m.bytes);
            (start, place(before), m.received)
        })
        .collect()
}

fn short(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Data => "data",
        FrameKind::Ack => "ACK",
        FrameKind::Rts => "RTS",
        FrameKind::Cts => "CTS",
        FrameKind::BlockAck => "BA",
        FrameKind::Request => "BAR",
        FrameKind::CfEnd => "CF-End",
        FrameKind::Beacon => "beacon",
        FrameKind::Action => "ADDBA",
    }
}

/// What is written into a frame: the longest one that fits.
fn words(f: &Frame, mpdus: usize) -> Vec<String> {
    let carried = match f.packet.map(|p| p.kind()) {
        Some(PacketKind::Ack) => "TCP ACK",
        Some(PacketKind::Syn) => "TCP SYN",
        _ => short(f.kind),
    };
    match f.kind {
        FrameKind::Data if mpdus > 1 => {
            vec![format!("A-MPDU of {mpdus}, {} B", f.bytes), format!("{mpdus} MPDUs"), carried.to_owned()]
        }
        FrameKind::Data => vec![format!("{carried}, {} B", f.bytes), carried.to_owned()],
        _ => vec![short(f.kind).to_owned()],
    }
}

fn outcome(f: &Frame) -> &'static str {
    match f.outcome {
        FrameOutcome::Received => "received",
        FrameOutcome::Collided => "collided",
        FrameOutcome::Errored => "corrupted",
    }
}
