//! Laws of every rate control, for bursts and answers of any kind.

use crate::common::{Reach, defaults, varied};
use contend_core::rate_control::{REGISTRY, Rate, RateId, Report, Setting};
use contend_core::{Cx, Rng, Span, Time};
use proptest::prelude::*;
use rand::SeedableRng as _;

/// What happens to one burst: pause, MPDUs, share that arrives in each attempt, attempts, SNR.
type Fate = (u64, u16, f64, u32, f64);

fn fate() -> impl Strategy<Value = Fate> {
    let pause = prop_oneof![9 => 0_u64..5_000, 1 => 0_u64..10_000_000];
    let share = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
    (pause, 1_u16..=256, share, 1_u32..12, prop_oneof![9 => -10.0..60.0_f64, 1 => Just(f64::NEG_INFINITY)])
}

fn table() -> impl Strategy<Value = Vec<Rate>> {
    let rate =
        (1_u64..1_000, 1_u8..5).prop_map(|(mbps, streams)| Rate { bps: mbps * 1_000_000, streams, group: streams });
    prop::collection::vec(rate, 1..40)
}

/// The rates of all attempts.
fn run(
    entry: &'static contend_core::registry::Entry<contend_core::rate_control::Build>,
    args: &contend_core::registry::Args,
    rates: &[Rate],
    fates: &[Fate],
) -> Vec<RateId> {
    let per = |id: RateId, snr: f64| if snr > f64::from(id) { 0.0 } else { 1.0 };
    let given = (rates.len() / 2) as RateId;
    let mut control = (entry.build)(args, &Setting { rates, given, per: &per, goodput: &|_, _| 0.0 }).unwrap();
    let (mut rng, mut now, mut used) = (Rng::seed_from_u64(1), Time::ZERO, vec![]);
    for (pause, mpdus, share, attempts, snr) in fates {
        now += Span::from_micros(*pause);
        let chain = control.choose(&mut Cx { now, rng: &mut rng });
        for k in 0..*attempts {
            let rate = chain.rate(k);
            used.push(rate);
            now += Span::from_micros(300);
            let mpdus = if chain.trial { 1 } else { *mpdus };
            let acked = (f64::from(mpdus) * share) as u16;
            let dropped = if k + 1 == *attempts { mpdus - acked } else { 0 };
            let snr = (acked > 0).then_some(*snr);
            control.sent(&mut Cx { now, rng: &mut rng }, &Report { rate, mpdus, acked, dropped, snr });
            if acked > 0 {
                break;
            }
        }
    }
    used
}

proptest! {
    /// The rates are in the table, and the same for the same input.
    #[test]
    fn rates_are_in_the_table_and_repeat(
        rates in table(),
        fates in prop::collection::vec(fate(), 1..200),
        some in prop::collection::vec(prop::option::of(0.0..1.0_f64), 16),
    ) {
        let reach = Reach { number: 4.0, time: 4.0, integer: |n| n as f64 * 4.0 };
        for entry in REGISTRY {
            for args in [defaults(entry), varied(entry, some.clone(), &reach)] {
                let used = run(entry, &args, &rates, &fates);
                prop_assert!(used.iter().all(|id| usize::from(*id) < rates.len()), "{}: {used:?}", entry.name);
                prop_assert_eq!(&used, &run(entry, &args, &rates, &fates), "{}", entry.name);
            }
        }
    }

    /// A station with one rate has no choice.
    #[test]
    fn one_rate_is_always_used(fates in prop::collection::vec(fate(), 1..50)) {
        let rates = [Rate { bps: 6_500_000, streams: 1, group: 0 }];
        for entry in REGISTRY {
            prop_assert!(run(entry, &defaults(entry), &rates, &fates).iter().all(|id| *id == 0), "{}", entry.name);
        }
    }
}
