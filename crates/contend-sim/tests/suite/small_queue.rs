//! TCP Small Queues: what a sender has in the queue of its own station.

use crate::common::*;
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
        initial_ssthresh: Some(64),
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

/// What is below the only sender of a network.
struct Below {
    /// Packets in the queue and the store, the mean from 8 s to 10 s.
    mean: f64,
    /// The largest queue by then.
    most: u64,
    /// The mean of Linux's limit, in packets: 1.2 windows per round trip (congestion avoidance), for 2^-7 s.
    limit: f64,
    /// Payload that was acknowledged by 10 s.
    bytes: u64,
}

fn below(s: &Scenario) -> Below {
    let mut net = Net::new(s).unwrap();
    let (mut sum, mut most, mut limit) = (0, 0, 0.0);
    for ms in 8000..10_000 {
        net.run_until(at(f64::from(ms) / 1000.0));
        let (waiting, state) = (net.waiting(1), net.sender(0).unwrap());
        sum += waiting + net.transmitter(1).carrying;
        most = most.max(waiting);
        limit += 1.2 * f64::from(state.snd_cwnd) / (f64::from(state.srtt_us) / 1e6) / 128.0;
    }
    Below { mean: sum as f64 / 2000.0, most, limit: limit / 2000.0, bytes: net.sent(0).acked_bytes }
}

/// Without a limit and a threshold the queue has what the window permits. The goodput is the same.
#[test]
fn the_queue_of_a_station_is_bounded_and_the_goodput_is_the_same() {
    let limited = below(&uploads(1, Some(MAC80211), true, 1));
    let mut off = uploads(1, None, true, 1);
    let Transport::Tcp(tcp) = &mut off.flows[0].ends.transport else { panic!() };
    tcp.initial_ssthresh = None;
    let off = below(&off);
    println!("{:.0} of {:.0} packets; off {:.0}, at most {}", limited.mean, limited.limit, off.mean, off.most);
    assert!(limited.mean < limited.limit + 1.0 && limited.mean > 0.7 * limited.limit);
    assert!(off.mean > 2.0 * limited.mean);
    assert!(limited.bytes as f64 > 0.97 * off.bytes as f64, "{} B of {}", limited.bytes, off.bytes);
}

/// Several uploads, and stations without aggregates: senders hear of packets that were lost, dropped and given up, so
/// that none stalls, and the laws hold.
#[test]
fn no_sender_stalls_with_losses_and_full_queues() {
    for seed in 0..8u64 {
        let mut s = uploads(3, Some(SmallQueue { shift: 7 + seed as u32 % 4, ..MAC80211 }), seed % 2 == 0, seed);
        let cell = s.cell.as_mut().unwrap();
        cell.mac.retry_short = 1 + seed as u32 % 3;
        for station in &mut cell.stations {
            station.loss = loss("bernoulli", &[("p", contend_core::registry::Value::Number(0.05))]);
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
