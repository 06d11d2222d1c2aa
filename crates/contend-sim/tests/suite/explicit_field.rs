//! Explicit congestion control in a field: WCP's neighbourhoods, and the senders of XCP-Winf and RCP-Winf.

use crate::common::law::packets_are_conserved;
use crate::common::*;
use contend_core::registry::{Amount, Choice, Value};
use contend_core::{Time, cc, observe, qdisc};
use contend_sim::net::Net;
use contend_sim::routing;
use contend_sim::scenario::*;
use contend_sim::tcp::recovery;
use contend_sim::wifi::phy::{Phy, Preamble, Standard};

/// The queues of all stations.
type Queue = Choice<qdisc::Build>;

/// Stations of 802.11b at 11 Mb/s with RTS/CTS at these positions in metres, with these queues.
fn stations(positions: &[(f64, f64)], sense: f64, queue: &Queue, flows: Vec<FlowSpec>) -> Scenario {
    let mut cell = cell(Phy::new(Standard::B, Preamble::Long), MAC, positions.len(), 11_000_000);
    cell.aps.clear();
    cell.phy.basic = vec![1_000_000];
    cell.mac.rts_threshold = 0;
    cell.stations.iter_mut().for_each(|s| s.queue = queue.clone());
    let routing = Some(choose(routing::REGISTRY, "static", &[]));
    let places = positions.iter().map(|&(x, y)| Point { x, y }).collect();
    cell.field = Some(FieldSpec { routing, sense, ..field(places) });
    Scenario { seed: 1, cell: Some(cell), nodes: vec![], links: vec![], flows }
}

/// Unlimited TCP data between stations.
fn connection(i: usize, from: usize, to: usize, cc: &str) -> FlowSpec {
    let tcp = TcpSpec {
        cc: choose(cc::REGISTRY, cc, &[]),
        recovery: choose(recovery::REGISTRY, "sack", &[]),
        sack: true,
        handshake: Handshake::Tcp,
        window: Amount::Packets(1_000),
        rto: RtoSpec { granularity: contend_core::Span::from_micros(1), ..newreno().rto },
        ..newreno()
    };
    let start = Start::At(Time::ZERO + contend_core::Span::from_millis(10 * i as u64));
    bulk(format!("f.{i}"), Place::Station(from), Place::Station(to), tcp, start)
}

fn word(w: &str) -> Value {
    Value::Word(w.into())
}

fn wcp(sharing: &str) -> Queue {
    choose(qdisc::REGISTRY, "wcp", &[("sharing", word(sharing)), ("limit", Value::Amount(Amount::Packets(50)))])
}

/// Three pairs side by side, 200 m apart. The pair in the middle hears both others, which do not hear each other.
fn flow_in_the_middle(cc: &str, queue: &Queue, seed: u64) -> Scenario {
    let positions: Vec<(f64, f64)> =
        (0..3).flat_map(|i| [(0.0, 200.0 * f64::from(i)), (100.0, 200.0 * f64::from(i))]).collect();
    let flows = (0..3).map(|i| connection(i, 2 * i, 2 * i + 1, cc)).collect();
    Scenario { seed, ..stations(&positions, 250.0, queue, flows) }
}

/// Payload in Mb/s of each flow from 20 to 80 s.
fn goodputs(s: &Scenario) -> Vec<f64> {
    let mut net = Net::new(s).unwrap();
    let payload = |net: &Net| (0..s.flows.len()).map(|i| net.received(i).delivered_bytes).collect::<Vec<_>>();
    net.run_until(at(20.0));
    let before = payload(&net);
    net.run_until(at(80.0));
    payload(&net).iter().zip(before).map(|(b, a)| (b - a) as f64 * 8e-6 / 60.0).collect()
}

fn jain(x: &[f64]) -> f64 {
    x.iter().sum::<f64>().powi(2) / (x.len() as f64 * x.iter().map(|x| x * x).sum::<f64>())
}

/// The mean goodputs of three seeds.
fn mean(cc: &str, queue: &Queue) -> Vec<f64> {
    let all: Vec<Vec<f64>> = (1..=3).map(|seed| goodputs(&flow_in_the_middle(cc, queue, seed))).collect();
    (0..3).map(|i| all.iter().map(|g| g[i]).sum::<f64>() / 3.0).collect()
}

/// The medium around the middle pair is busy while one of the outer pairs sends, so TCP starves it. WCP's outer nodes
/// hear that the queue of the middle is congested, and slow down.
#[test]
fn wcp_shares_more_equally_than_tcp_with_a_flow_in_the_middle() {
    let tcp = mean("reno", &fifo(50));
    let (shared, oracle) = (mean("wcp", &wcp("overheard")), mean("wcp", &wcp("oracle")));
    for fair in [&shared, &oracle] {
        assert!(jain(fair) > jain(&tcp) && fair[1] > tcp[1], "TCP {tcp:?}, WCP {fair:?}");
    }
}

/// A chain of four hops: nothing disappears, equal runs are equal, and every way to share congestion is another run.
#[test]
fn wcp_on_a_chain_obeys_the_laws() {
    let positions: Vec<(f64, f64)> = (0..5).map(|i| (200.0 * f64::from(i), 0.0)).collect();
    let digests = ["overheard", "oracle", "none"].map(|sharing| {
        let s =
            stations(&positions, 550.0, &wcp(sharing), vec![connection(0, 0, 4, "wcp"), connection(1, 4, 0, "wcp")]);
        let run = || {
            let mut net = Net::new(&s).unwrap();
            for stop in [0.5, 5.0, 30.0] {
                net.run_until(at(stop));
                packets_are_conserved(&mut net);
            }
            assert!(net.received(0).packets > 100 && net.received(1).packets > 100);
            net.world.trace.digest()
        };
        assert_eq!(run(), run());
        run()
    });
    assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2], "{digests:?}");
}

/// A queue that listens changes nothing for packets without a header.
#[test]
fn other_flows_do_not_notice_the_queues_of_wcp() {
    let positions: Vec<(f64, f64)> = (0..4).map(|i| (200.0 * f64::from(i), 0.0)).collect();
    let digest = |queue: &Queue| {
        let mut net = Net::new(&stations(&positions, 550.0, queue, vec![connection(0, 0, 3, "reno")])).unwrap();
        net.run_until(at(10.0));
        net.world.trace.digest()
    };
    for sharing in ["overheard", "oracle", "none"] {
        assert_eq!(digest(&fifo(50)), digest(&wcp(sharing)), "{sharing}");
    }
}

/// Two stations. No queue says how fast to send: the path allows every rate, and XCP's request is granted. So RCP fills
/// the queue of its station, and RCP-Winf sends at the capacity that rt-Winf measures; XCP-Winf asks for no more than
/// what is available.
#[test]
fn without_queues_that_answer_the_air_limits_the_winf_senders() {
    let run = |cc: &str| {
        let mut s = stations(&[(0.0, 0.0), (200.0, 0.0)], 550.0, &fifo(50), vec![connection(0, 0, 1, cc)]);
        let observer = || vec![("rt_winf".to_owned(), choose(observe::REGISTRY, "rt_winf", &[]))];
        s.cell.as_mut().unwrap().stations.iter_mut().for_each(|station| station.observe = observer());
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(20.0));
        (net.sent(0).retransmitted, net.received(0).delivered_bytes as f64 * 8e-6 / 20.0)
    };
    for (base, winf) in [("rcp", "rcp_winf"), ("xcp", "xcp_winf")] {
        let (plain, limited) = (run(base), run(winf));
        assert!(limited.0 < plain.0 / 2, "{base}: {plain:?}, {winf}: {limited:?}");
        assert!(limited.1 > 0.8 * plain.1, "{base}: {plain:?}, {winf}: {limited:?}");
    }
}
