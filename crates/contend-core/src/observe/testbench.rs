//! Frame sequences made by hand, for tests: exchanges of 1500 B at 11 Mb/s with the times of spec S1.

use super::{ExchangeOutcome, HeardFrame, Kind, Note, Observer, OwnExchange, Radio};
use crate::time::{Span, Time};

/// 802.11b with long preambles, 11 Mb/s, basic rate 1 Mb/s.
pub(super) const LINK: Radio = Radio {
    rate: 1_375_000,
    sifs: us(10),
    difs: us(50),
    mean_backoff: us(310),
    rts: us(352),
    cts: us(304),
    ack: us(304),
};

/// DIFS and mean backoff: the pause before an exchange on a saturated link.
pub(super) const SATURATED_GAP: Span = us(360);

/// Duration of a data frame of 1500 B: 192 us + 1536 B at 11 Mb/s.
pub(super) const DATA: Span = Span::from_nanos(1_309_091);
pub(super) const BYTES: u32 = 1500;

pub(super) const fn us(n: u64) -> Span {
    Span::from_micros(n)
}

/// The node is number 1; it sends to node 2 or receives from it. Nodes 8 and 9 are others.
const ME: u32 = 1;
const PEER: u32 = 2;

/// The air around a node.
pub(super) struct Air {
    pub now: Time,
    /// Bytes and duration of data frames.
    pub data: (u32, Span),
}

impl Air {
    pub(super) fn new() -> Air {
        Air { now: Time::from_nanos(1_000_000_000), data: (BYTES, DATA) }
    }

    /// Time passes; the node hears a frame.
    pub(super) fn frame(&mut self, o: &mut dyn Observer, kind: Kind, from: u32, to: u32, note: Option<Note>) {
        let sifs = LINK.sifs;
        let (lasts, duration) = match kind {
            Kind::Rts => (LINK.rts, sifs * 3 + LINK.cts + self.data.1 + LINK.ack),
            Kind::Cts => (LINK.cts, sifs * 2 + self.data.1 + LINK.ack),
            Kind::Data => (self.data.1, sifs + LINK.ack),
            Kind::Ack => (LINK.ack, Span::ZERO),
        };
        let start = self.now;
        self.now = start + lasts;
        let bytes = if kind == Kind::Data { self.data.0 } else { 0 };
        let (end, me) = (self.now, ME);
        o.heard(&HeardFrame { kind, from, to, me, start, end, duration, bytes, decoded: true, note, packet: None });
    }

    /// The node sends a packet after `gap`, which begins with the inter-frame space; the ACK carries `note`.
    pub(super) fn send(&mut self, o: &mut dyn Observer, gap: Span, note: Option<Note>) {
        let began = self.now;
        self.now += gap + LINK.rts + LINK.sifs;
        self.frame(o, Kind::Cts, PEER, ME, None);
        let data = self.now + LINK.sifs;
        self.now = data + self.data.1 + LINK.sifs;
        self.frame(o, Kind::Ack, PEER, ME, note);
        self.exchange(o, began, gap, data, 1, ExchangeOutcome::Acked);
    }

    /// The node sends an RTS that nobody answers.
    pub(super) fn fail(&mut self, o: &mut dyn Observer, gap: Span, attempt: u32) {
        let began = self.now;
        self.now += gap + LINK.rts + us(334);
        let end = self.now;
        self.exchange(o, began, gap, end, attempt, ExchangeOutcome::NoCts);
    }

    /// Reports an exchange of the node that ends now.
    pub(super) fn exchange(
        &mut self,
        o: &mut dyn Observer,
        began: Time,
        gap: Span,
        data: Time,
        attempt: u32,
        outcome: ExchangeOutcome,
    ) {
        let (bytes, data_time) = self.data;
        let backoff = gap.saturating_sub(LINK.difs);
        let end = self.now;
        o.sent(&OwnExchange { bytes, attempt, protected: true, outcome, began, backoff, data, data_time, end });
    }

    /// The node receives a packet after `gap`, and acknowledges it. Returns the note of its ACK.
    pub(super) fn receive(&mut self, o: &mut dyn Observer, gap: Span) -> Option<Note> {
        self.now += gap;
        self.frame(o, Kind::Rts, PEER, ME, None);
        self.now += LINK.sifs + LINK.cts + LINK.sifs;
        self.frame(o, Kind::Data, PEER, ME, None);
        let note = o.note(self.now);
        self.now += LINK.sifs + LINK.ack;
        note
    }

    /// The node overhears an exchange of others after `gap`.
    pub(super) fn overhear(&mut self, o: &mut dyn Observer, gap: Span) {
        self.now += gap;
        self.frame(o, Kind::Rts, 8, 9, None);
        self.now += LINK.sifs;
        self.frame(o, Kind::Cts, 9, 8, None);
        self.now += LINK.sifs;
        self.frame(o, Kind::Data, 8, 9, None);
        self.now += LINK.sifs;
        self.frame(o, Kind::Ack, 9, 8, None);
    }

    /// The node hears only the receiver of an exchange.
    pub(super) fn overhear_hidden(&mut self, o: &mut dyn Observer, gap: Span) {
        self.now += gap + LINK.rts + LINK.sifs;
        self.frame(o, Kind::Cts, 9, 8, None);
        self.now += LINK.sifs + self.data.1 + LINK.sifs;
        self.frame(o, Kind::Ack, 9, 8, None);
    }
}
