//! Observers in a field, against values by hand.

use crate::common::*;
use contend_core::observe;
use contend_core::registry::{Amount, Value};
use contend_core::{Span, cc};
use contend_sim::net::Net;
use contend_sim::routing;
use contend_sim::scenario::*;
use contend_sim::wifi::FrameKind;
use contend_sim::wifi::phy::{Phy, Preamble, Standard};

/// The frames of 802.11b at 11 Mb/s with long preambles in microseconds: a packet of 1500 B takes 192 + 8 x 1536 / 11,
/// rounded up. Answers are at 1 Mb/s.
const DATA: f64 = 1310.0;
const RTS: f64 = 352.0;
const CTS: f64 = 304.0;
const ACK: f64 = 304.0;
const SIFS: f64 = 10.0;
const DIFS: f64 = 50.0;
/// DIFS and a whole exchange, without backoff.
const EXCHANGE: f64 = DIFS + RTS + SIFS + CTS + SIFS + DATA + SIFS + ACK;
/// Half of CWmin = 31 slots of 20 us.
const BACKOFF: f64 = 310.0;

fn observer(name: &str, with: &[(&'static str, Value)]) -> (String, contend_core::registry::Choice<observe::Build>) {
    (name.to_owned(), choose(observe::REGISTRY, name, with))
}

fn word(w: &str) -> Value {
    Value::Word(w.into())
}

/// rt-Winf as printed; each role speaks for itself.
fn literal(role: &str) -> (String, contend_core::registry::Choice<observe::Build>) {
    let words =
        [("cap_def", "literal"), ("busy_def", "nav"), ("busy_scope", "own"), ("smallest", "off"), ("role", role)];
    let mut with: Vec<(&'static str, Value)> = words.iter().map(|(name, w)| (*name, word(w))).collect();
    with.push(("window", Value::Time(Span::ZERO)));
    with.push(("min_sample", Value::Amount(Amount::Bytes(0))));
    with.push(("cooperate", Value::Bool(false)));
    observer("rt_winf", &with)
}

/// Stations in a row, 200 m apart, of which the first sends to the second 1500 B datagrams at `rate` bits per second.
fn row(stations: usize, rate: u64) -> Scenario {
    let mut cell = cell(Phy::new(Standard::B, Preamble::Long), MAC, stations, 11_000_000);
    cell.aps.clear();
    cell.phy.basic = vec![1_000_000];
    cell.mac.rts_threshold = 0;
    let positions = (0..stations).map(|i| Point { x: 200.0 * i as f64, y: 0.0 }).collect();
    let routing = Some(choose(routing::REGISTRY, "static", &[]));
    cell.field = Some(FieldSpec { routing, ..field(positions) });
    let flows = vec![cbr("f".into(), Place::Station(0), Place::Station(1), rate)];
    Scenario { seed: 1, cell: Some(cell), nodes: vec![], links: vec![], flows }
}

fn observed(mut s: Scenario, by: &[(String, contend_core::registry::Choice<observe::Build>)]) -> Scenario {
    s.cell.as_mut().unwrap().stations.iter_mut().for_each(|station| station.observe = by.to_vec());
    s
}

/// Capacity and available bandwidth in Mb/s that the first observer of `station` reports, each the mean of readings
/// once every 10 ms from 10 s to 30 s.
fn means(s: &Scenario, station: u32) -> (f64, f64) {
    let (mut net, n) = (Net::new(s).unwrap(), 2000);
    let (mut capacity, mut available) = (0.0, 0.0);
    for i in 0..n {
        let now = at(10.0 + 0.01 * f64::from(i));
        net.run_until(now);
        let local = net.bss().unwrap().estimates(station, now).next().unwrap();
        capacity += local.capacity.unwrap() as f64 * 8e-6;
        available += local.available.unwrap() as f64 * 8e-6;
    }
    (capacity / f64::from(n), available / f64::from(n))
}

fn near(got: f64, want: f64, within: f64) {
    assert!((got / want - 1.0).abs() < within, "{got} {want}");
}

/// Barreto 2012 eqs. 4.3, 4.5: capacity 12,000 bit / (data + ACK), and of it what the NAV of the CTS leaves.
#[test]
fn one_saturated_pair_measures_the_printed_equations() {
    let s = observed(row(2, 8_000_000), &[literal("last")]);
    let cycle = EXCHANGE + BACKOFF;
    let (capacity, available) = means(&s, 0);
    near(capacity, 12_000.0 / (DATA + ACK), 1e-6);
    near(available, capacity * (1.0 - (SIFS + DATA + SIFS + ACK) / cycle), 0.005);
    // Eqs. 4.6, 4.7: the receiver subtracts three SIFS although there are two, and counts the NAV of the RTS.
    let (capacity, available) = means(&s, 1);
    near(capacity, 12_000.0 / (CTS + DATA - SIFS), 1e-6);
    near(available, capacity * (1.0 - (SIFS + CTS + SIFS + DATA + SIFS + ACK) / cycle), 0.005);
}

/// Of the whole cycle only the backoff is random, uniform over 0 to 31 slots: the mean of 12,000 / (exchange +
/// backoff).
#[test]
fn one_saturated_pair_measures_the_mean_of_the_whole_cycle() {
    let alone = [("role", word("sender")), ("smallest", word("off")), ("cooperate", Value::Bool(false))];
    let s = observed(row(2, 8_000_000), &[observer("rt_winf", &alone)]);
    let want = (0..32).map(|k| 12_000.0 / (EXCHANGE + 20.0 * f64::from(k))).sum::<f64>() / 32.0;
    let (capacity, available) = means(&s, 0);
    near(capacity, want, 0.005);
    // Mean backoff and DIFS count as busy, so that nothing is left but what the window's edges leave.
    assert!(available < 0.02 * capacity, "{available}");
}

#[test]
fn the_truth_of_a_saturated_pair_is_that_of_its_cycle() {
    let mut net = Net::new(&observed(row(3, 8_000_000), &[literal("last")])).unwrap();
    let truth = |net: &mut Net, station, seconds| {
        net.run_until(at(seconds));
        net.bss().unwrap().truth(station, at(seconds))
    };
    let (before, after) = (truth(&mut net, 0, 5.0), truth(&mut net, 0, 25.0));
    let (bits, us) = ((after.bytes - before.bytes) * 8, (after.contended - before.contended).as_micros());
    near(bits as f64 / us as f64, 12_000.0 / (EXCHANGE + BACKOFF), 0.005);
    // It contends all the time.
    near(us as f64, 20e6, 0.001);
    // Of some 7,500 backoffs the mean is within 2 %.
    near((after.idle - before.idle).as_secs_f64() / 20.0, (DIFS + 3.0 * SIFS + BACKOFF) / (EXCHANGE + BACKOFF), 0.02);
    // The third station hears only the second. It senses the first.
    let bystander = truth(&mut net, 2, 25.0);
    near(bystander.idle.as_secs_f64(), after.idle.as_secs_f64(), 0.001);
    assert_eq!(bystander.bytes, 0);
}

#[test]
fn idle_gap_reports_the_rate_that_no_reservation_takes() {
    let s = observed(row(2, 1_000_000), &[observer("idle_gap", &[])]);
    let (capacity, available) = means(&s, 0);
    near(capacity, 11.0, 1e-6);
    // 1 Mb/s of 1472 B payload: 84.9 packets each second, each with the NAV of its CTS.
    let packets = 1e6 / (8.0 * 1472.0);
    near(available, 11.0 * (1.0 - packets * (SIFS + DATA + SIFS + ACK) / 1e6), 0.005);
}

/// The bystander hears the receiver only: it knows no size, so no capacity beyond the PHY's rate.
#[test]
fn a_bystander_that_hears_the_receiver_only_counts_the_reservation_of_the_cts() {
    let s = observed(row(3, 1_000_000), &[literal("onlooker")]);
    let (capacity, available) = means(&s, 2);
    near(capacity, 11.0, 1e-6);
    let packets = 1e6 / (8.0 * 1472.0);
    near(available, 11.0 * (1.0 - packets * (SIFS + DATA + SIFS + ACK) / 1e6), 0.005);
}

/// With the whole cycle, the note is the receiver's estimate with a mean backoff. The sender never reports more.
#[test]
fn the_note_limits_the_sender_to_what_the_receiver_measured() {
    let s = observed(row(2, 8_000_000), &[observer("rt_winf", &[("role", word("sender")), ("smallest", word("off"))])]);
    let (mut net, mean) = (Net::new(&s).unwrap(), 12_000.0 / (EXCHANGE + BACKOFF));
    for i in 0..500 {
        let now = at(1.0 + 0.01 * f64::from(i));
        net.run_until(now);
        let local = net.bss().unwrap().estimates(0, now).next().unwrap();
        let capacity = local.capacity.unwrap() as f64 * 8e-6;
        assert!(capacity <= mean * 1.000_01, "{capacity} {mean}");
    }
}

#[test]
fn observers_that_nobody_reads_change_nothing() {
    let all = [observer("rt_winf", &[]), observer("idle_gap", &[]), observer("adhoc_probe", &[])];
    for protocol in ["static", "dsdv", "aodv"] {
        for rts_threshold in [0, u32::MAX] {
            let mut s = row(5, 600_000);
            let cell = s.cell.as_mut().unwrap();
            cell.mac.rts_threshold = rts_threshold;
            cell.field.as_mut().unwrap().routing = Some(choose(routing::REGISTRY, protocol, &[]));
            s.flows.push(bulk("g".into(), Place::Station(4), Place::Station(1), newreno(), Start::At(at(0.1))));
            let digest = |s: &Scenario| {
                let mut net = Net::new(s).unwrap();
                net.run_until(at(30.0));
                (net.world.trace.digest(), net.received(0).packets)
            };
            let alone = digest(&s);
            assert!(alone.1 > 0);
            assert_eq!(digest(&observed(s, &all)), alone, "{protocol} {rts_threshold}");
        }
    }
}

/// 4 B at 1 Mb/s are 32 us.
#[test]
fn a_note_on_the_air_makes_every_ack_longer() {
    let mut s = observed(row(2, 8_000_000), &[observer("rt_winf", &[])]);
    let field = s.cell.as_mut().unwrap().field.as_mut().unwrap();
    field.notes_on_air = true;
    let mut net = Net::new(&s).unwrap();
    net.keep_frames(at(0.0), at(20.0), 1_000_000);
    net.run_until(at(20.0));
    let frames = net.frames().unwrap().frames();
    let acks: Vec<_> = frames.iter().filter(|f| f.kind == FrameKind::Ack).collect();
    assert!(acks.iter().all(|f| f.bytes == 18 && f.end.since(f.start) == Span::from_micros(ACK as u64 + 32)));
    near(acks.len() as f64, 20e6 / (EXCHANGE + BACKOFF + 32.0), 0.005);
}

/// TCP-AP with the bandwidth of the air: without an observer it falls back on `ll_bandwidth`.
#[test]
fn senders_read_what_their_station_knows() {
    let run = |bandwidth: &str, by: &[_]| {
        let mut s = observed(row(5, 1_000), by);
        let set = [("bandwidth", word(bandwidth)), ("path_factor", word("hops"))];
        let tcp = TcpSpec { cc: choose(cc::REGISTRY, "tcp_ap", &set), ..newreno() };
        s.flows.push(bulk("g".into(), Place::Station(0), Place::Station(4), tcp, Start::At(at(0.1))));
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(30.0));
        (net.world.trace.digest(), net.received(1).packets)
    };
    let observers = [observer("rt_winf", &[])];
    let (plain, blind, air) = (run("ll_bandwidth", &observers), run("air", &[]), run("air", &observers));
    assert_eq!(plain, blind);
    assert!(air.0 != plain.0 && air.1 > 100, "{air:?} {plain:?}");
}
