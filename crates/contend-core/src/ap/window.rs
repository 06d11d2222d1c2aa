//! Common parts of the blocks that assign windows: the table of flows with their activity, and the rewriting of
//! advertised windows.

use super::{Facts, Side};
use crate::Refusal;
use crate::packet::{Flags, FlowId, Packet, Segment};
use crate::registry::{Amount, Args, Param};
use crate::time::{Span, Time};
use alloc::collections::BTreeMap;

/// A flow is forgotten after this many T_active of silence.
const FORGET: u64 = 30;

/// BS_AP.
pub(super) const BUFFER: Param =
    Param::amount("buffer", "packets that may wait at the access point; 0p: the limit of its queue")
        .default("0p")
        .range(0.0, 1e9)
        .symbol("BS_AP");
/// T_active.
pub(super) const ACTIVE: Param = Param::time("active", "a flow is active for this time after its last data")
    .default("2s")
    .range(1e-3, 1e6)
    .symbol("T_active");
/// T_update.
pub(super) const UPDATE: Param =
    Param::time("update", "time between two removals of inactive flows; a flow that becomes active counts at once")
        .default("1s")
        .range(1e-3, 1e6)
        .symbol("T_update");
/// True if the right edge must not move back.
pub(super) const KEEP_EDGE: Param = Param::flag(
    "keep_edge",
    "true if an offered window is never taken back: when the limit falls, acknowledgments close the window (RFC 9293 \
        §3.8.6)",
)
.default("true");

/// BS_AP from `args`, otherwise from the queue.
pub(super) fn buffer(args: &Args, facts: &Facts) -> Result<u64, Refusal> {
    match (args.amount("buffer"), facts.buffer) {
        (Amount::Packets(0), Some(n)) => Ok(n),
        (Amount::Packets(0), None) => Err(Refusal::new(
            "the queue of the access point has no limit in packets",
            "write the buffer, like buffer = \"100p\"",
        )),
        (Amount::Packets(n), _) => Ok(n),
        (Amount::Bytes(_), _) => Err(Refusal::new("buffer counts packets", "write buffer = \"100p\"")),
    }
}

/// The flows that an access point has seen. `M` is the additional state that a block keeps per flow.
#[derive(Debug)]
pub(super) struct Flows<M> {
    flows: BTreeMap<FlowId, Flow<M>>,
    active: Span,
    update: Span,
    next: Time,
    /// n_up and n_down: active flows of each direction.
    up: u32,
    down: u32,
}

/// State of one flow.
#[derive(Debug, Default)]
pub(super) struct Flow<M> {
    /// True if the flow is an upload.
    pub(super) up: bool,
    /// Payload of the largest segment so far in bytes; 0 before the first segment.
    pub(super) mss: u32,
    /// The right edge: the furthest byte that the receiver has offered to the sender.
    pub(super) edge: u64,
    /// Additional state of the block.
    pub(super) more: M,
    active: bool,
    /// Time of the last payload.
    last: Time,
}

impl<M> Flows<M> {
    /// Builds the table from `args`.
    pub(super) fn new(args: &Args) -> Flows<M> {
        Flows {
            flows: BTreeMap::new(),
            active: args.time("active"),
            update: args.time("update"),
            next: Time::ZERO,
            up: 0,
            down: 0,
        }
    }

    /// Records a packet. `more` builds the additional state of a new flow. Returns true if the windows must be
    /// recomputed: T_update has passed, or a flow has become active.
    pub(super) fn see(&mut self, now: Time, from: Side, p: &Packet, more: impl FnOnce() -> M) -> bool {
        let Some(seg) = p.tcp() else { return false };
        let due = now >= self.next;
        if due {
            self.next = now.saturating_add(self.update);
            self.expire(now);
        }
        let up = (from == Side::Air) != p.is_reverse();
        let f = self.flows.entry(p.flow).or_insert_with(|| Flow {
            up,
            mss: 0,
            edge: 0,
            more: more(),
            active: false,
            last: now,
        });
        if p.is_reverse() || seg.len == 0 {
            return due;
        }
        f.last = now;
        f.mss = f.mss.max(seg.len);
        if f.active {
            return due;
        }
        f.active = true;
        *(if f.up { &mut self.up } else { &mut self.down }) += 1;
        true
    }

    /// Marks flows as inactive after T_active of silence, and removes flows after a longer silence.
    fn expire(&mut self, now: Time) {
        let (up, down, active) = (&mut self.up, &mut self.down, self.active);
        self.flows.retain(|_, f| {
            let silent = now.since(f.last);
            if f.active && silent > active {
                f.active = false;
                *(if f.up { &mut *up } else { &mut *down }) -= 1;
            }
            silent.as_nanos() <= active.as_nanos().saturating_mul(FORGET)
        });
    }

    /// n_up and n_down.
    pub(super) fn counts(&self) -> (u32, u32) {
        (self.up, self.down)
    }

    /// Active flows.
    pub(super) fn active(&self) -> impl Iterator<Item = &Flow<M>> {
        self.flows.values().filter(|f| f.active)
    }

    /// The flow of a packet that has been [recorded](Flows::see).
    pub(super) fn get(&mut self, flow: FlowId) -> Option<&mut Flow<M>> {
        self.flows.get_mut(&flow)
    }
}

/// Lowers the advertised window of `seg` to `segments` of `mss` bytes. Does nothing if the window is already lower or
/// `seg` is not an acknowledgment. `edge` is the right edge so far; with `keep` the window is not lowered below it.
pub(super) fn rewrite(seg: &mut Segment, segments: u64, mss: u32, edge: &mut u64, keep: bool) {
    if !seg.flags.has(Flags::ACK) {
        return;
    }
    // RFC 7323 §2.2, §2.3: the field counts units of 1 << scale; in a SYN it counts bytes.
    let unit = 1 << if seg.flags.has(Flags::SYN) { 0 } else { seg.window_scale.min(14) };
    let mss = u64::from(mss.max(1));
    let limit = segments.saturating_mul(mss).min(1 << 30);
    // Rounding down to units could cut off the last segment. Round up, unless this makes room for one more segment.
    let up = limit.next_multiple_of(unit);
    let mut window = if up < limit + mss { up } else { limit / unit * unit };
    if keep {
        // RFC 9293 §3.8.6 strongly discourages moving the right edge back. RFC 7323 §2.4 permits it by less than one
        // unit.
        window = window.max(edge.saturating_sub(seg.ack) / unit * unit);
    }
    seg.window = u32::try_from(window.max(unit)).map_or(seg.window, |w| w.min(seg.window));
    *edge = (*edge).max(seg.ack + u64::from(seg.window));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ack: u64, window: u32, window_scale: u8) -> Segment {
        Segment { ack, window, window_scale, flags: Flags::ACK, ..Segment::default() }
    }

    #[test]
    fn a_window_is_lowered_to_units_that_hold_the_segments_and_never_raised() {
        for (advertised, scale, segments, want) in [
            (60_000, 0, 10, 14_600),
            (60_000, 0, 69, 60_000),
            // 14 600 / 128 = 114.06: 115 units hold 10 segments, 114 would hold 9.
            (1_460_000, 7, 10, 14_720),
            // Units of 16 384 bytes: 2 units would hold 22 segments instead of 12; 1 unit holds 11.
            (1_460_000, 14, 12, 16_384),
            // Never less than one unit.
            (1_460_000, 14, 1, 16_384),
            (0, 7, 10, 0),
        ] {
            let mut s = ack(1000, advertised, scale);
            rewrite(&mut s, segments, 1_460, &mut 0, true);
            assert_eq!(s.window, want);
        }
    }

    #[test]
    fn the_window_of_a_syn_counts_bytes() {
        let mut s = Segment { flags: Flags::ACK.with(Flags::SYN), ..ack(1, 1_460_000, 14) };
        rewrite(&mut s, 11, 1_461, &mut 0, true);
        assert_eq!(s.window, 16_071);
    }

    #[test]
    fn a_falling_limit_lets_acknowledgments_close_the_window() {
        let mut edge = 0;
        // 10 000 bytes are offered; then the limit falls to 4 segments. After that, each acknowledgment covers 1000
        // bytes more.
        for (at, want) in [(0, 10_000), (1_000, 9_000), (1_000, 9_000), (5_000, 5_000), (6_000, 4_000), (7_000, 4_000)]
        {
            let mut s = ack(at, 60_000, 0);
            rewrite(&mut s, if at == 0 { 10 } else { 4 }, 1_000, &mut edge, true);
            assert_eq!(s.window, want);
        }
        assert_eq!(edge, 11_000);
        let mut s = ack(8_000, 60_000, 0);
        rewrite(&mut s, 1, 1_000, &mut edge, false);
        assert_eq!(s.window, 1_000);
    }

    #[test]
    fn units_wider_than_a_segment_do_not_keep_the_window_open() {
        let (mut edge, mut at, mut window) = (0, 0, u32::MAX);
        for _ in 0..200 {
            let mut s = ack(at, 1 << 20, 14);
            rewrite(&mut s, if at == 0 { 180 } else { 23 }, 1_460, &mut edge, true);
            window = s.window;
            at += 1_460;
        }
        // 23 segments are 33 580 bytes: 2 units, because 3 units would hold 33 segments.
        assert_eq!(window, 1 << 15);
    }
}
