//! Properties that hold for every loss pattern, and the one closed form that describes a single Reno flow.

use super::bench::{Bench, Script, at, flow, flow_with, ms, with};
use super::recovery;
use super::spec::{EcnEcho, Handshake};
use crate::rng;
use contend_core::registry::Amount;
use contend_core::{Time, cc};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_transfer_completes_with_every_byte_once_whatever_is_lost(
        seed in 0u64..1_000_000,
        recovery in prop::sample::select(recovery::REGISTRY.iter().map(|e| e.name).collect::<Vec<_>>()),
        cc in prop::sample::select(cc::REGISTRY.iter().map(|e| e.name).collect::<Vec<_>>()),
        jitter in prop::option::of(1u64..40),
        (data, ack) in (0.0..0.3f64, 0.0..0.3f64),
        (size, window, per_ack) in (1u64..200_000, 1u64..60, 1u32..3),
        (handshake, stamps, limited, ecn, pacing) in any::<(bool, bool, bool, bool, bool)>(),
    ) {
        let mut spec = flow_with(cc, recovery, &[]);
        spec.size = Some(size);
        let spec = with(spec, |t| {
            t.window = Amount::Packets(window);
            t.ack = per_ack;
            t.handshake = if handshake { Handshake::Tcp } else { Handshake::None };
            t.timestamps = stamps.then(|| ms(1));
            t.limited_transmit = limited;
            t.pacing = pacing;
            t.ecn = if ecn { EcnEcho::Latch } else { EcnEcho::Off };
            t.rto.max = ms(2_000);
        });
        let script = || Script {
            delay: ms(10),
            mark: vec![7, 30, 31],
            loss: Some((data, ack, rng::stream(seed, "pipe", "loss"))),
            jitter: jitter.map(|most| (ms(most), rng::stream(seed, "pipe", "jitter"))),
            ..Script::default()
        };
        let mut b = Bench::seeded(seed, &spec, script());
        let mut t = 0;
        while b.sender().completed().is_none() {
            t += 1_000;
            prop_assert!(t < 4_000_000, "stalled: {:?}", b.sender().sender_state());
            b.world.run_until(at(t));
            prop_assert!(b.cwnd() >= 1);
        }
        let (s, r) = (b.sender().sent().unwrap(), b.receiver().received().unwrap());
        prop_assert_eq!((r.delivered_bytes, s.acked_bytes), (size, size));
        prop_assert_eq!(s.packets - s.retransmitted, size.div_ceil(if stamps { 988 } else { 1000 }));
        prop_assert!(r.packets <= s.packets);
        // Nothing happens after the end, and the same run gives the same digest.
        b.world.run_until(at(t + 100_000));
        let mut again = Bench::seeded(seed, &spec, script());
        again.world.run_until(at(t + 100_000));
        prop_assert_eq!(b.world.trace.digest(), again.world.trace.digest());
        prop_assert_eq!(b.sender().sent().unwrap().packets, s.packets);
    }
}

/// spec/jersey.md claim C3: sqrt(2 (1 - p) / p) segments on average, within 15 %.
#[test]
fn a_single_reno_flow_has_the_window_of_the_square_root_law() {
    for recovery in ["reno", "newreno", "sack"] {
        let p = 1e-3;
        let script =
            Script { delay: ms(50), loss: Some((p, 0.0, rng::stream(3, "pipe", "loss"))), ..Script::default() };
        let mut b = Bench::seeded(3, &flow(recovery), script).without_log();
        b.world.run_until(at(10_000));
        let (mut sum, mut n) = (0.0, 0.0);
        for t in 1..20_000 {
            b.world.run_until(Time::from_nanos(10_000_000_000 + t * 100_000_000));
            sum += f64::from(b.cwnd());
            n += 1.0;
        }
        let (mean, law) = (sum / n, (2.0 * (1.0 - p) / p).sqrt());
        assert!((mean / law - 1.0).abs() < 0.15, "{recovery}: {mean} against {law}");
    }
}
