//! TCP Small Queues: what a sender has in the queue of its own station.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use contend_core::cc;
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::tcp::recovery;
use contend_sim::wifi::phy::Family;

/// Stations of 802.11ac, 80 MHz, each with an upload, which aggregate if `aggregates`.
fn uploads(n: usize, tsq: Option<SmallQueue>, aggregates: bool, seed: u64) -> Scenario {
    let tcp = TcpSpec {
        cc: choose(cc::REGISTRY, "cubic", &[]),
        recovery: choose(recovery::REGISTRY, "sack", &[]),
        sack: true,
        window: contend_core::registry::Amount::Packets(2000),
        tsq,
        ..newreno()
    };
    let mut s = with_rate(down_up(0, n, tcp, phy_g(), MAC, seed), modern(Family::Vht, 80, 1, 7));
    for f in &mut s.flows {
        f.ends.start = Start::At(at(0.01));
    }
    s.links.iter_mut().for_each(|link| link.reverse.rate = WireRate::Constant(1_000_000_000));
    s.cell.as_mut().unwrap().stations.iter_mut().for_each(|s| s.queue = fifo(1000));
    if aggregates { aggregating(s, Aggregation { bytes: 1_048_575, limit: 128, ..AGGREGATION }) } else { s }
}

/// mac80211: 2^-7 s.
const MAC80211: SmallQueue = SmallQueue { shift: 7, most: 1 << 20 };

/// The mean of what is below the senders of `s` between 2 s and 4 s, queue and store together, in packets for each
/// station, the largest queue, and the payload that they sent by then in bytes.
fn below(s: &Scenario) -> (f64, u64, u64) {
    let mut net = Net::new(s).unwrap();
    let (mut sum, mut most, mut samples) = (0, 0, 0);
    let n = s.flows.len();
    for ms in 2000..4000 {
        net.run_until(at(f64::from(ms) / 1000.0));
        for station in 1..=n {
            let waiting = net.waiting(station);
            sum += waiting + net.transmitter(station).carrying;
            most = most.max(waiting);
        }
        samples += n as u64;
    }
    (sum as f64 / samples as f64, most, (0..n).map(|i| net.sent(i).acked_bytes).sum())
}

/// Nothing is lost, so that Linux's pacing rate stays at two windows per round trip: the limit is twice what the flow
/// sends in 7.8 ms. Without it the queue has what the window permits. The goodput is the same.
#[test]
fn the_queue_of_a_station_is_bounded_and_the_goodput_is_the_same() {
    let (mean, most, bytes) = below(&uploads(1, Some(MAC80211), true, 1));
    let (mean_off, most_off, bytes_off) = below(&uploads(1, None, true, 1));
    println!("{mean:.0} packets, at most {most}, {bytes} B; off {mean_off:.0}, {most_off}, {bytes_off} B");
    let rate = bytes as f64 / 4.0;
    let limit = 2.0 * rate / 128.0 / 1460.0;
    assert!(mean < limit + 1.0, "{mean} packets of {limit}");
    assert!(most_off > 800 && mean_off > 3.0 * mean, "{most_off}, {mean_off}");
    assert!(bytes as f64 > 0.97 * bytes_off as f64, "{bytes} B of {bytes_off}");
}

/// With the shift of 10 (2 ms) a station with aggregates of 5 ms starves: why mac80211 sets 7.
#[test]
fn the_usual_limit_of_linux_is_too_small_for_aggregates() {
    let goodput = |shift| below(&uploads(1, Some(SmallQueue { shift, ..MAC80211 }), true, 1)).2 as f64;
    let (short, long) = (goodput(10), goodput(7));
    println!("{:.2}", short / long);
    assert!(short < 0.8 * long, "{short} of {long}");
}

/// Several uploads, and stations without aggregates: losses, retries and dropped packets are all told, so that no sender
/// stalls, and the laws hold.
#[test]
fn no_sender_stalls_with_losses_and_full_queues() {
    for seed in 0..8u64 {
        let mut s = uploads(3, Some(SmallQueue { shift: 7 + seed as u32 % 4, ..MAC80211 }), seed % 2 == 0, seed);
        let cell = s.cell.as_mut().unwrap();
        cell.mac.retry_short = 1 + seed as u32 % 3;
        for station in &mut cell.stations {
            station.loss = loss("bernoulli", &[("p", contend_core::registry::Value::Number(0.2))]);
            station.queue = fifo(2 + 10 * (seed % 3));
            if let Some(a) = &mut station.aggregation {
                (a.attempts, a.lifetime) = (Some(2), Span::from_millis(20));
            }
        }
        law::all_hold(&s, &[at(0.5), at(2.0)]);
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(6.0));
        let before: Vec<u64> = (0..3).map(|i| net.received(i).packets).collect();
        net.run_until(at(20.0));
        for (i, before) in before.iter().enumerate() {
            assert!(net.received(i).packets > before + 20, "seed {seed}, flow {i}: {before}");
        }
    }
}

/// A limit that is never reached changes nothing.
#[test]
fn a_limit_that_is_never_reached_gives_the_same_digest() {
    let digest = |tsq| {
        let mut net = Net::new(&uploads(2, tsq, true, 3)).unwrap();
        net.run_until(Time::ZERO + Span::from_secs_f64(1.0));
        net.world.trace.digest()
    };
    assert_eq!(digest(Some(SmallQueue { shift: 0, most: 1 << 40 })), digest(None));
}
