//! The timeline of the air: frames packed into columns of integers; the page's script draws them on a canvas.
//!
//! Layout: little endian, `n` frames in order of their start. Columns: gap since the previous start (u32, ns), shape
//! (u16), transmitter (u16), receiver (u16), sequence number (u16), flow (u16), fate (u8: outcome in bits 0-1, TCP
//! retransmission in bit 2, attempt in bits 3-7). A frame takes fifteen bytes. A shape is a combination that many
//! frames share: kind, rate, length, airtime, Duration field, kind of packet. If there are A-MPDUs, a second
//! text has numbers of 16 bits: for each A-MPDU the number of its frame (the low half first), the number of its MPDUs,
//! and for each of these its bytes, with the highest bit set if it was received.

use super::{escaped, how};
use crate::output::shape::point_text;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use contend_experiment::results::Run;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome, InFrame, StationId};
use serde_json::json;
use std::collections::BTreeMap;

/// Maximum number of frames in a page (three megabytes).
const FRAMES: usize = 150_000;

/// Maximum number of MPDUs in a page (one megabyte); A-MPDUs beyond are drawn as one frame.
const MPDUS: usize = 400_000;

/// Kind, rate, bytes, airtime and Duration field in nanoseconds, kind of packet.
type Shape = (u8, u64, u32, u64, u64, u8);

/// The timeline of a run's frames.
pub(super) fn timeline(run: &Run, command: &str) -> String {
    let mut frames: Vec<&Frame> = run.detail.frames.iter().collect();
    frames.sort_by_key(|f| (f.start, f.from));
    let Packed { columns, shapes, gaps, n } = packed(&frames);
    let mpdus = mpdus(frames.iter().take(n).map(|f| run.detail.channel.packets(f)));
    let mpdus = if mpdus.is_empty() {
        String::new()
    } else {
        format!("<script type=\"text/plain\" id=\"air-mpdus\">{}</script>\n", BASE64_STANDARD.encode(mpdus))
    };
    let first = frames.first().map_or(0, |f| f.start.as_nanos());
    let stations: Vec<String> = (0..run.stations.len() as u32).map(|i| name_of(run, i)).collect();
    let meta = json!({
        "n": n,
        "first_ns": first,
        "gaps": gaps,
        "shapes": shapes,
        "stations": stations,
        "flows": run.flows.iter().map(|f| &f.name).collect::<Vec<_>>(),
    });
    let all = run.detail.frames.len() as u64 + run.frames_missed;
    let part = if (n as u64) < all { format!("the first {n} of {all}") } else { n.to_string() };
    let point = if run.point.is_empty() { String::new() } else { format!(" at {}", point_text(&run.point)) };
    let legend: String = Look::ALL
        .iter()
        .map(|look| format!("<span class=\"k-{}\"><i></i>{}</span>", look.class(), look.name()))
        .collect();
    let [plus, minus, left, right, home, next] =
        [("+", "+"), ("-", "−"), ("ArrowLeft", "←"), ("ArrowRight", "→"), ("Home", "Home"), ("C", "C")]
            .map(|(key, sign)| format!("<button type=\"button\" data-key=\"{key}\"><kbd>{sign}</kbd></button>"));
    format!(
        "<figure class=\"wide script\" id=\"air\">\n<p class=\"legend\">{legend}</p>\n\
         <div class=\"stage\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"Timeline of {n} frames on the \
         air\"></canvas><div class=\"tip\" hidden></div></div>\n\
         <p class=\"keys\"><span>{plus}{minus} zoom, or Ctrl and wheel</span><span>{left}{right} move, or drag</span>\
         <span>{home} everything</span><span>{next} next collision</span><span class=\"where\"></span></p>\n\
         <figcaption>Seed {}{}: {part} frames. One lane for each transmitter. In overview, height is the square \
         root of the share of time on the air.\
         <span class=\"tools\"><a href=\"#air\" id=\"air-csv\">CSV of the frames in view</a> {}</span></figcaption>\n\
         <script type=\"application/json\" id=\"air-meta\">{}</script>\n<script type=\"text/plain\" \
         id=\"air-data\">{}</script>\n{mpdus}</figure>\n",
        run.seed,
        escaped(&point),
        how(command),
        meta.to_string().replace('<', "\\u003c"),
        BASE64_STANDARD.encode(&columns),
    )
}

/// The name of a station in the timeline.
pub(super) fn name_of(run: &Run, station: StationId) -> String {
    if run.access_points().count() == 1 && run.is_ap(station) {
        return "access point".to_owned();
    }
    run.stations.get(station as usize).cloned().unwrap_or_default()
}

/// How a frame is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    Data,
    TcpAck,
    Ack,
    Other,
    Collided,
    Errored,
}

impl Look {
    pub(super) const ALL: [Look; 6] = [Look::Data, Look::TcpAck, Look::Ack, Look::Other, Look::Collided, Look::Errored];

    pub(super) fn name(self) -> &'static str {
        ["data", "TCP ACK, SYN", "MAC ACK", "RTS, CTS", "collided", "corrupted"][self as usize]
    }

    fn class(self) -> &'static str {
        ["data", "tcpack", "ack", "rts", "collided", "errored"][self as usize]
    }

    /// The style of figures with the colour of the class.
    pub(super) fn style(self) -> usize {
        [0, 5, 2, 3, 1, 4][self as usize]
    }
}

/// The look of a frame, as timeline.js chooses it.
pub(super) fn look(f: &Frame) -> Look {
    match (f.outcome, f.kind) {
        (FrameOutcome::Collided, _) => Look::Collided,
        (FrameOutcome::Errored, _) => Look::Errored,
        (_, FrameKind::Ack | FrameKind::BlockAck) => Look::Ack,
        (_, FrameKind::Data) => match f.packet.map(|p| p.kind() as u8) {
            Some(1 | 2) => Look::TcpAck,
            _ => Look::Data,
        },
        _ => Look::Other,
    }
}

/// The MPDUs of frames, whose packets these are, as the page stores them.
fn mpdus<'a>(frames: impl Iterator<Item = &'a [InFrame]>) -> Vec<u8> {
    let mut words: Vec<u16> = Vec::new();
    for (i, packets) in (0u32..).zip(frames) {
        let all = || packets.chunk_by(|a, b| a.sequence == b.sequence).filter_map(<[InFrame]>::first);
        let count = all().count();
        if count < 2 {
            continue;
        }
        if words.len() + count > MPDUS {
            break;
        }
        words.extend([i as u16, (i >> 16) as u16, count as u16]);
        words.extend(all().map(|m| m.bytes.min(0x7fff) as u16 | u16::from(m.received) << 15));
    }
    words.into_iter().flat_map(u16::to_le_bytes).collect()
}

/// The frames as the page stores them.
struct Packed {
    columns: Vec<u8>,
    shapes: Vec<Shape>,
    /// Gaps too long for 32 bits: index of the frame, and length of the gap.
    gaps: Vec<(usize, u64)>,
    /// Number of frames.
    n: usize,
}

fn packed(frames: &[&Frame]) -> Packed {
    let mut shapes: Vec<Shape> = Vec::new();
    let mut index: BTreeMap<Shape, u16> = BTreeMap::new();
    let mut gaps = Vec::new();
    let mut starts: Vec<u8> = Vec::new();
    let mut words: [Vec<u8>; 5] = Default::default();
    let mut fates: Vec<u8> = Vec::new();
    let mut before = frames.first().map_or(0, |f| f.start.as_nanos());
    for f in frames.iter().take(FRAMES) {
        let kind = match f.kind {
            FrameKind::Data => 0,
            FrameKind::Ack => 1,
            FrameKind::Rts => 2,
            FrameKind::Cts => 3,
            FrameKind::BlockAck => 4,
            FrameKind::Request => 5,
            FrameKind::CfEnd => 6,
            FrameKind::Beacon => 7,
            FrameKind::Action => 8,
        };
        let shape = (
            kind,
            f.rate,
            f.bytes,
            f.end.since(f.start).as_nanos(),
            f.duration.as_nanos(),
            f.packet.map_or(9, |p| p.kind() as u8),
        );
        let id = match index.get(&shape) {
            Some(id) => *id,
            None => {
                // There are more shapes than 16 bits can number: the timeline ends here, and its caption says so.
                let Ok(id) = u16::try_from(shapes.len()) else { break };
                index.insert(shape, id);
                shapes.push(shape);
                id
            }
        };
        let gap = f.start.as_nanos() - before;
        before = f.start.as_nanos();
        let short = u32::try_from(gap).unwrap_or_else(|_| {
            gaps.push((fates.len(), gap));
            0
        });
        starts.extend(short.to_le_bytes());
        let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let values = [id, narrow(f.from), narrow(f.to), f.sequence, f.packet.map_or(u16::MAX, |p| narrow(p.flow.0))];
        words.iter_mut().zip(values).for_each(|(w, v)| w.extend(v.to_le_bytes()));
        let outcome = match f.outcome {
            FrameOutcome::Received => 0,
            FrameOutcome::Collided => 1,
            FrameOutcome::Errored => 2,
        };
        let again = f.packet.is_some_and(|p| p.segment().is_some_and(|s| s.copy > 0));
        fates.push(outcome | (u8::from(again) << 2) | (f.retry.min(31) << 3));
    }
    let n = fates.len();
    let columns = [&starts[..], &words.concat(), &fates].concat();
    Packed { columns, shapes, gaps, n }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::{Body, FlowId, Packet, Span, Time};
    use contend_sim::wifi::access::Category;

    /// The second of three frames is an A-MPDU: an MPDU of two packets that arrived, and one that did not.
    #[test]
    fn each_mpdu_has_its_bytes_and_its_fate() {
        let packet = Packet::new(FlowId(0), 1500, Time::ZERO, Body::Udp { seq: 0 });
        let mpdu = |sequence, bytes, received| InFrame { sequence, retry: 0, bytes, received, packet };
        let aggregate = [mpdu(7, 3076, true), mpdu(7, 3076, true), mpdu(8, 1538, false)];
        let frames: [&[InFrame]; 3] = [&[], &aggregate, &aggregate[2..]];
        let bytes = mpdus(frames.into_iter());
        let words: Vec<u16> = bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
        assert_eq!(words, [1, 0, 2, 3076 | 0x8000, 1538]);
    }

    #[test]
    fn frames_alike_share_a_shape_and_a_long_silence_is_kept() {
        let frame = |start: u64| Frame {
            start: Time::from_nanos(start),
            end: Time::from_nanos(start + 34_000),
            from: 1,
            to: 0,
            kind: FrameKind::Ack,
            category: Category::Be,
            outcome: FrameOutcome::Collided,
            rate: 24_000_000,
            mode: None,
            retry: 2,
            sequence: 0x0102,
            duration: Span::ZERO,
            bytes: 14,
            packet: None,
            more: contend_sim::wifi::More::Nothing,
            origin: None,
        };
        let frames = [frame(5), frame(1_000), frame(10_000_001_000)];
        let Packed { columns, shapes, gaps, n } = packed(&frames.iter().collect::<Vec<_>>());
        assert_eq!((columns.len(), shapes.len(), n), (45, 1, 3));
        assert_eq!(gaps, [(2, 10_000_000_000)]);
        assert_eq!(columns[4..8], 995u32.to_le_bytes());
        assert_eq!(columns[12 + 18..12 + 20], [0x02, 0x01], "sequence numbers are the fourth column of words");
        assert_eq!(columns[44], 1 | (2 << 3));
    }
}
