//! Frames on the air: recorded in the trace of the run, and kept if a log asks for them.

use crate::mobility::Point;
use crate::trace::Trace;
use crate::wifi::frame::{Frame, FrameOutcome, InFrame, More};
use crate::wifi::ids::Category;
use crate::wifi::medium::phy::BLOCK_ACK_BYTES;
use crate::wifi::sender::mac::{InService, Mac};
use crate::wifi::sender::plan::{Content, Part, PartKind, Plan};
use contend_core::Time;

/// Frames kept for a capture or the report's timeline.
#[derive(Debug)]
pub struct FrameLog {
    /// Frames that start in `from..to` are kept.
    from: Time,
    to: Time,
    /// The most frames kept, with the packets of aggregates.
    limit: usize,
    frames: Vec<Frame>,
    packets: Vec<InFrame>,
    bitmaps: Vec<u8>,
    missed: u64,
}

/// A part of an exchange while it is on the air.
pub(super) struct OnAir<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) part: &'a Part,
    /// The sender of the burst of the plan; `None` for a CF-End, which follows when the burst is no longer in service.
    pub(super) mac: Option<&'a Mac>,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) outcome: FrameOutcome,
    /// Where its transmitter was when it began; `None` in a cell.
    pub(super) origin: Option<Point>,
}

impl FrameLog {
    /// A log of up to `limit` frames, or packets of aggregates, that start in `from..to`.
    pub fn new(from: Time, to: Time, limit: usize) -> FrameLog {
        FrameLog { from, to, limit, frames: Vec::new(), packets: Vec::new(), bitmaps: Vec::new(), missed: 0 }
    }

    /// The frames kept, in the order in which they were recorded: by exchange, and in an exchange by start.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The packets of frames with several packets, see [`More::Packets`].
    pub fn packets(&self) -> &[InFrame] {
        &self.packets
    }

    /// The bitmaps of block acknowledgments, see [`More::Bitmap`].
    pub fn bitmaps(&self) -> &[u8] {
        &self.bitmaps
    }

    /// Frames inside the interval that exceeded the limit.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Keeps the frame if it starts inside the interval and the limit is not reached.
    #[cold]
    fn keep(&mut self, on_air: &OnAir<'_>) {
        if on_air.start < self.from || on_air.start >= self.to {
            return;
        }
        if self.frames.len() + self.packets.len() >= self.limit {
            self.missed += 1;
            return;
        }
        let more = self.more(on_air);
        self.frames.push(Frame { more, ..on_air.frame() });
    }

    /// Keeps what else a capture shows of the frame.
    fn more(&mut self, on_air: &OnAir<'_>) -> More {
        let Some(store) = on_air.mac.and_then(Mac::store) else { return More::Nothing };
        let Some(service) = on_air.service() else { return More::Nothing };
        if let (PartKind::Action, Content::Action(addba)) = (on_air.part.kind, service.burst.content) {
            return More::Addba(addba);
        }
        match (on_air.part.kind, service.burst.content) {
            (PartKind::Data, Content::Aggregate(..) | Content::Together(_)) => {
                let from = self.packets.len() as u32;
                self.packets.extend(store.on_air());
                More::Packets(from, self.packets.len() as u32)
            }
            (PartKind::BlockAck, _) => {
                let from = self.bitmaps.len();
                let bytes = on_air.plan.bytes(PartKind::BlockAck) - BLOCK_ACK_BYTES;
                self.bitmaps.resize(from + bytes as usize, 0);
                store.bitmap(&mut self.bitmaps[from..]);
                More::Bitmap(from as u32, self.bitmaps.len() as u32)
            }
            _ => More::Nothing,
        }
    }
}

impl<'a> OnAir<'a> {
    /// Records it in `trace`, and keeps it if there is a log.
    #[inline(always)]
    pub(super) fn record(&self, trace: &mut Trace, log: &mut Option<FrameLog>) {
        let (from, to) = self.plan.ends(self.part);
        let (outcome, kind) = (self.outcome as u64, self.part.kind.frame() as u64);
        // The fourth bit of the kind has its place beside the outcome, which has two.
        let kind = (kind & 7) << 4 | (kind & 8) >> 1;
        let what = 1 << 7 | u64::from(from) << 8 | u64::from(to) << 32 | outcome | kind;
        trace.record(self.start, what, self.end.as_nanos());
        if let Some(log) = log {
            log.keep(self);
        }
    }

    /// The burst of the plan.
    fn service(&self) -> Option<&'a InService> {
        self.mac.and_then(Mac::in_service)
    }

    /// All that a capture shows of it.
    fn frame(&self) -> Frame {
        let ((from, to), service) = (self.plan.ends(self.part), self.service());
        let data = if self.part.kind == PartKind::Data { service } else { None };
        Frame {
            start: self.start,
            end: self.end,
            from,
            to,
            kind: self.part.kind.frame(),
            category: service.map_or(Category::Be, |s| s.category),
            outcome: self.outcome,
            rate: self.plan.format(self.part.kind).bps,
            mode: self.plan.format(self.part.kind).mode(),
            retry: service.map_or(0, |s| s.attempt),
            sequence: service.map_or(0, |s| s.sequence),
            duration: self.plan.nav(self.part),
            bytes: self.plan.bytes(self.part.kind),
            packet: data.map(|s| s.packet),
            more: More::Nothing,
            origin: self.origin,
        }
    }
}
