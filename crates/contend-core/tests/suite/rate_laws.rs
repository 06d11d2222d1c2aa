//! Laws of every controller that needs rate samples, for arbitrary samples: a window of at least one segment, no
//! overflow, and a pacing rate that stays above zero once it is set.

use crate::common::defaults;
use contend_core::cc::{Ack, CaState, REGISTRY, RateSample, Signal, Window};
use contend_core::{Cx, Rng, Span, Time};
use proptest::prelude::*;
use rand::SeedableRng as _;

/// Small numbers and the largest ones.
fn any_count() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..200, 1 => any::<u32>()]
}

proptest! {
    #[test]
    fn no_sample_stalls_or_overflows(
        ops in prop::collection::vec((
            0u8..12, any_count(), any_count(), any_count(), prop::option::of(any_count()), any::<(bool, bool)>(),
            0u64..8_000_000,
        ), 1..200),
        mss in 1u32..65_000,
    ) {
        for entry in REGISTRY {
            let mut cc = (entry.build)(&defaults(entry)).unwrap();
            if !cc.needs().rate {
                continue;
            }
            let (mut rng, mut now) = (Rng::seed_from_u64(1), Time::ZERO);
            let mut w = Window { cwnd: 10, mss, ..Window::default() };
            for &(op, a, b, c, rtt, (app_limited, lost), wait) in &ops {
                now += Span::from_micros(wait);
                let mut cx = Cx { now, rng: &mut rng };
                let rate = RateSample {
                    delivered: a,
                    prior_delivered: w.delivered.wrapping_sub(b),
                    interval_us: c,
                    losses: if lost { a / 2 } else { 0 },
                    lost: if lost { b } else { 0 },
                    tx_in_flight: b,
                    prior_in_flight: c,
                    app_limited,
                    ..RateSample::default()
                };
                w.inflight = c;
                w.limited = lost;
                let why = match op {
                    0 => Some(Signal::Loss { seq: 0, marked: false, truth: None }),
                    1 => Some(Signal::Timeout { nth: 1, marked: false, truth: None }),
                    2 => Some(Signal::Ecn),
                    _ => None,
                };
                if let Some(why) = why {
                    let r = cc.on_congestion(&mut cx, &w, None, why);
                    (w.cwnd, w.ssthresh) = (r.cwnd, r.ssthresh);
                    w.state = if op == 0 { CaState::Recovery } else { CaState::Loss };
                } else if op == 3 {
                    cc.on_lost(&mut cx, &mut w, &rate);
                } else if op == 4 {
                    cc.on_restart(&mut w, now, Span::from_micros(wait));
                } else {
                    w.delivered = w.delivered.wrapping_add(a);
                    w.state = if lost { w.state } else { CaState::Open };
                    cc.on_ack(
                        &mut cx, &mut w,
                        &Ack { delivered: a, rtt_us: rtt, srtt_us: rtt.unwrap_or(0), rate, ..Ack::default() },
                    );
                    prop_assert!(w.pacing_rate > 0 || rtt.is_none_or(|r| r == 0), "{}", entry.name);
                }
                prop_assert!(w.cwnd >= 1, "{}", entry.name);
            }
        }
    }
}
