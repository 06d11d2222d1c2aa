//! Laws of every observer, for frames in any order that time permits.

use crate::common::defaults;
use contend_core::observe::{
    BROADCAST, ExchangeOutcome, HeardFrame, Kind, Note, Observer, OwnExchange, REGISTRY, Radio,
};
use contend_core::{Body, FlowId, Packet, Span, Time};
use proptest::prelude::*;

fn us(n: u64) -> Span {
    Span::from_micros(n)
}

fn radio() -> Radio {
    let (rate, sifs, difs, mean_backoff) = (1_375_000, us(10), us(50), us(310));
    Radio { rate, sifs, difs, mean_backoff, rts: us(352), cts: us(304), ack: us(304) }
}

/// A report: what, the pause before it, its length, its Duration field, two nodes, a size.
type Report = (u8, u64, u64, u64, (u32, u32), u32);

fn report() -> impl Strategy<Value = Report> {
    let node = || prop_oneof![0_u32..4, Just(BROADCAST)];
    (0_u8..12, 0_u64..3_000, 0_u64..3_000, 0_u64..40_000, (node(), node()), 0_u32..3_000)
}

/// Time passes by pause and length; the observer gets the report.
fn tell(o: &mut dyn Observer, now: &mut Time, seq: u64, (what, pause, length, nav, (from, to), bytes): Report) {
    let start = *now + us(pause);
    *now = start + us(length);
    let end = *now;
    if what < 9 {
        let kind = [Kind::Rts, Kind::Cts, Kind::Data, Kind::Ack][usize::from(what) % 4];
        let p = Packet::new(FlowId(from), bytes, Time::ZERO, Body::Udp { seq });
        let note = Note { capacity: bytes * 1000, available: what.is_multiple_of(2).then_some(bytes * 500) };
        let (duration, note) = (us(nav), (kind == Kind::Ack).then_some(note));
        let (decoded, packet) = (what < 8, Some(&p));
        o.heard(&HeardFrame { kind, from, to, me: 1, start, end, duration, bytes, decoded, note, packet });
    } else {
        let outcome = [ExchangeOutcome::Acked, ExchangeOutcome::NoCts, ExchangeOutcome::NoAck][usize::from(what) - 9];
        let (attempt, protected) = (1 + bytes % 4, from < 2);
        let (began, backoff, data, data_time) = (start, us(pause), start + us(length / 2), us(length / 3));
        o.sent(&OwnExchange { bytes, attempt, protected, outcome, began, backoff, data, data_time, end });
    }
}

proptest! {
    #[test]
    fn available_is_at_most_the_capacity_and_shares_are_shares(reports in prop::collection::vec(report(), 1..200)) {
        for entry in REGISTRY {
            let mut o = (entry.build)(&defaults(entry), &radio()).unwrap();
            let mut now = Time::ZERO;
            for (seq, r) in (0..).zip(&reports) {
                tell(&mut *o, &mut now, seq, *r);
                let l = o.local(now);
                prop_assert!(l.available.is_none_or(|a| a <= l.capacity.unwrap()), "{} {l:?}", entry.name);
                prop_assert!(l.overhead_q20 <= 1 << 20 && l.failed_q20 <= 1 << 20, "{} {l:?}", entry.name);
                // Asking does not change the answer.
                prop_assert_eq!(l, o.local(now));
                // Silence longer than the window frees the air.
                let later = o.local(now + us(20_000_000));
                prop_assert!(later.available.is_none() || later.available == later.capacity, "{} {l:?}", entry.name);
            }
        }
    }
}
