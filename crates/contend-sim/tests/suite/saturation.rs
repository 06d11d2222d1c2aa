//! Saturated DCF against an independent Monte Carlo that counts only slots and exchanges.

use crate::common::*;
use contend_sim::net::Net;
use contend_sim::scenario::{AfterCollision, Aggregation, BusySlot, MacSpec, Scenario};
use contend_sim::wifi::phy::{ACK_BYTES, Family, Phy, Preamble, Standard};
use contend_theory::{Backoff, SlotTimes, bianchi, two_station};
use rand::{RngExt as _, SeedableRng};

/// Simulated seconds of each check, and of the warm-up before it.
const SECONDS: f64 = 100.0;
const WARM_UP: f64 = 2.0;

/// Throughput in packets per second and collision probability per attempt of `n` saturated stations.
fn simulated(phy: &Phy, mac: MacSpec, n: usize, rate: u64, seed: u64) -> (f64, f64) {
    measured(&saturated(phy.clone(), mac, n, rate, seed), n)
}

/// Acknowledged bursts per second and collision probability per attempt of the first `n` stations of `s`.
fn measured(s: &Scenario, n: usize) -> (f64, f64) {
    let mut net = Net::new(s).unwrap();
    let read = |net: &Net| {
        let c = (1..=n as u32)
            .map(|i| net.station(i))
            .fold((0, 0, 0), |a, c| (a.0 + c.acked, a.1 + c.collided, a.2 + c.attempts));
        (c.0 as f64, c.1 as f64, c.2 as f64)
    };
    net.run_until(at(WARM_UP));
    let before = read(&net);
    net.run_until(at(WARM_UP + SECONDS));
    let after = read(&net);
    ((after.0 - before.0) / SECONDS, (after.1 - before.1) / (after.2 - before.2))
}

/// The same by an independent Monte Carlo: every station has the time from which it counts and its residual backoff.
fn monte_carlo(phy: &Phy, rule: AfterCollision, n: usize, rate: u64, seed: u64) -> (f64, f64) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let (slot, sifs, difs) = (phy.slot.as_nanos(), phy.sifs.as_nanos(), phy.difs().as_nanos());
    let data = phy.rate(rate).unwrap().airtime(phy.mpdu(1500)).total.as_nanos();
    let answer = phy.response_rate(phy.rate(rate).unwrap());
    let ack = answer.airtime(ACK_BYTES).total.as_nanos();
    let timeout = phy.ack_timeout(answer).as_nanos();
    let bystander = if rule == AfterCollision::Eifs { phy.eifs().as_nanos() } else { difs };
    let window = |stage: u32| ((u64::from(phy.cw_min) + 1) << stage).min(u64::from(phy.cw_max) + 1);
    let mut stage = vec![0; n];
    let mut left: Vec<u64> = (0..n).map(|_| rng.random_range(0..window(0))).collect();
    let mut resume = vec![0u64; n];
    let (mut now, mut done, mut tried, mut collided) = (0u64, 0u64, 0u64, 0u64);
    while now < (SECONDS * 1e9) as u64 {
        let start = (0..n).map(|i| resume[i] + left[i] * slot).min().unwrap();
        let senders: Vec<usize> = (0..n).filter(|&i| resume[i] + left[i] * slot == start).collect();
        for i in 0..n {
            left[i] -= start.saturating_sub(resume[i]) / slot;
        }
        tried += senders.len() as u64;
        let success = senders.len() == 1;
        now = start + data + if success { sifs + ack } else { 0 };
        resume.fill(now + if success { difs } else { bystander });
        for &i in &senders {
            if success {
                done += 1;
                stage[i] = 0;
            } else {
                collided += 1;
                resume[i] = now + timeout + difs;
                stage[i] = if stage[i] == 6 { 0 } else { stage[i] + 1 };
            }
            left[i] = rng.random_range(0..window(stage[i]));
        }
    }
    (done as f64 / (now as f64 / 1e9), collided as f64 / tried as f64)
}

fn mean(runs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let all: Vec<(f64, f64)> = runs.collect();
    let n = all.len() as f64;
    (all.iter().map(|r| r.0).sum::<f64>() / n, all.iter().map(|r| r.1).sum::<f64>() / n)
}

#[test]
fn frozen_dcf_agrees_with_the_monte_carlo_within_half_a_percent() {
    for rule in [AfterCollision::Eifs, AfterCollision::Difs] {
        for n in [1, 2, 5, 10, 20, 50] {
            let phy = phy_g();
            let mac = MacSpec { after_collision: rule, ..MAC };
            let ours = mean((1..=2).map(|s| simulated(&phy, mac, n, 54_000_000, s)));
            let theirs = mean((1..=2).map(|s| monte_carlo(&phy, rule, n, 54_000_000, s)));
            println!("{rule:?} n={n}: {ours:?} against {theirs:?}");
            assert!((ours.0 / theirs.0 - 1.0).abs() < 0.005, "{rule:?} n={n}: {ours:?} against {theirs:?}");
            assert!((ours.1 - theirs.1).abs() < 0.005, "{rule:?} n={n}: {ours:?} against {theirs:?}");
        }
    }
}

/// Cells of the closed-form check: name, PHY, rate.
fn cells() -> Vec<(&'static str, Phy, u64)> {
    let basic = |mut phy: Phy, bps: u64| {
        phy.basic = vec![bps];
        phy
    };
    let g = phy_g();
    let mut set_b = g.clone();
    set_b.slot = contend_core::Span::from_micros(20);
    vec![
        ("802.11b", basic(Phy::new(Standard::B, Preamble::Long), 1_000_000), 11_000_000),
        ("802.11a", basic(Phy::new(Standard::A, Preamble::Long), 6_000_000), 54_000_000),
        ("802.11g", g, 54_000_000),
        ("set B", set_b, 54_000_000),
    ]
}

#[test]
fn counted_busy_slots_agree_with_the_finite_retry_model() {
    for (name, mut phy, rate) in cells() {
        // In the model all stations count together after a collision; an ACK timeout of EIFS - DIFS has the same effect
        // here.
        phy.ack_timeout = Some(phy.eifs() - phy.difs());
        let us = |s: contend_core::Span| s.as_nanos() as f64 / 1e3;
        let r = phy.rate(rate).unwrap();
        let data = us(r.airtime(phy.mpdu(1500)).total);
        let ack = us(phy.response_rate(r).airtime(ACK_BYTES).total);
        let backoff = Backoff { cw_min: phy.cw_min, cw_max: phy.cw_max, attempts: Some(7) };
        let tc = data + us(phy.eifs());
        for n in [1, 2, 5, 10, 20, 50] {
            let times = SlotTimes {
                slot_us: us(phy.slot),
                ts_us: data + us(phy.sifs) + ack + us(phy.difs()),
                tc_us: tc,
                payload_bits: 12_000.0,
            };
            let mac = MacSpec { busy_slot: BusySlot::Counted, ..MAC };
            let (pps, p) = mean((1..=4).map(|s| simulated(&phy, mac, n as usize, rate, s)));
            let (want, want_p) = if n == 2 {
                let s = two_station::solve(&backoff, two_station::BusySlot::Counted).unwrap();
                (s.throughput_bps(&times).unwrap(), s.p)
            } else {
                let s = bianchi::saturation(&backoff, &times, n).unwrap();
                (s.throughput_bps, s.p)
            };
            println!(
                "{name} n={n}: {:.3} Mb/s against {:.3} ({:+.2} %), p {p:.4} against {want_p:.4}",
                pps * 0.012,
                want / 1e6,
                (pps * 12_000.0 / want - 1.0) * 100.0
            );
            assert!((pps * 12_000.0 / want - 1.0).abs() < 0.01, "{name} n={n}: {} against {want}", pps * 12_000.0);
            if n != 1 {
                assert!((p / want_p - 1.0).abs() < 0.02, "{name} n={n}: p {p} against {want_p}");
            }
        }
    }
}

/// Bianchi's model with aggregates: the payload of a success is a whole burst, and a collision costs the PPDU or, with
/// RTS, the RTS. The window starts again after seven failures in a row, as in the model with seven attempts.
#[test]
fn aggregates_agree_with_the_finite_retry_model() {
    // 802.11ax, 20 MHz, MCS 4: 51.6 Mb/s. By hand, in microseconds: 43.2 and 13.6 for each 702 bits; 22 packets of
    // 1,500 B fill 5.484 ms.
    let (mut phy, rate) = modern(Family::He, 20, 1, 4);
    phy.ack_timeout = Some(phy.eifs() - phy.difs());
    let us = |s: contend_core::Span| s.as_nanos() as f64 / 1e3;
    let (sifs, difs, eifs, packets) = (16.0, 34.0, us(phy.eifs()), 22);
    let psdu = 1544 * (packets - 1) + 1542;
    let data = 43.2 + 13.6 * f64::from((16 + 8 * psdu + 6u32).div_ceil(702));
    // At 24 Mb/s: RTS of 20 B, CTS of 14 B, block acknowledgment of 32 B.
    let (rts, cts, answer) = (28.0, 28.0, 32.0);
    let backoff = Backoff { cw_min: phy.cw_min, cw_max: phy.cw_max, attempts: Some(7) };
    for (n, protected) in [(1, false), (5, false), (20, false), (50, false), (5, true), (20, true), (50, true)] {
        let before = if protected { rts + sifs + cts + sifs } else { 0.0 };
        let times = SlotTimes {
            slot_us: us(phy.slot),
            ts_us: before + data + sifs + answer + difs,
            tc_us: eifs + if protected { rts } else { data },
            payload_bits: f64::from(packets) * 12_000.0,
        };
        let spec = Aggregation { attempts: None, asks: false, ..AGGREGATION };
        let threshold = if protected { 0 } else { u32::MAX };
        let mac = MacSpec { busy_slot: BusySlot::Counted, rts_threshold: threshold, ..MAC };
        let alone = |seed| saturated(phy.clone(), mac, n, 54_000_000, seed);
        let cell = |seed| aggregating(with_rate(alone(seed), (phy.clone(), rate)), spec);
        let (bursts, p) = mean((1..=4).map(|seed| measured(&cell(seed), n)));
        let want = bianchi::saturation(&backoff, &times, n as u32).unwrap();
        let got = bursts * times.payload_bits;
        println!("n={n} RTS {protected}: {:.2} against {:.2} Mb/s, p {p:.4}", got / 1e6, want.throughput_bps / 1e6);
        assert!((got / want.throughput_bps - 1.0).abs() < 0.02, "n={n} RTS {protected}: {got} against {want:?}");
        assert!(n == 1 || (p / want.p - 1.0).abs() < 0.02, "n={n} RTS {protected}: p {p} against {want:?}");
    }
}
