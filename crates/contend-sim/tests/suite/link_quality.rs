//! Errors at an SNR and rate control in networks: against the error model, the best fixed rate, and laws that always
//! hold.

use crate::common::*;
use contend_core::rate_control;
use contend_core::registry::{Choice, Entry, Value};
use contend_core::{Cx, Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::error_model::{self, Coding};
use contend_sim::wifi::phy::{DataRate, Family, Mode, Phy, Preamble, Standard};
use contend_sim::wifi::{FrameKind, access, fading};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// 802.11ac, 80 MHz, one stream.
fn vht(mcs: u8) -> DataRate {
    DataRate::Mcs(Mode::new(Family::Vht, 80, 1, mcs).unwrap())
}

/// Downloads of more than the air carries, one for each station, at these SNRs.
fn downloads(snrs: &[f64], mcs: u8, aggregation: Option<Aggregation>, control: Option<&str>) -> Scenario {
    let n = snrs.len();
    let phy = Phy::new(Standard::Ac, Preamble::Long);
    let (nodes, links) = hosts(n, Span::ZERO);
    let mut cell = cell(phy, MAC, n, 6_000_000);
    cell.aps[0].station.queue = fifo(500);
    cell.error_model = Some(nist());
    for (s, snr) in cell.stations.iter_mut().zip(snrs) {
        s.rate = vht(mcs);
        let rate_control = control.map(|name| choose(rate_control::REGISTRY, name, &[]));
        s.channel = ChannelSpec { rate_control, snr: Some(*snr), fading: None };
    }
    let rate = 600_000_000 / n as u64;
    let flows = (0..n).map(|i| cbr(format!("down.{i}"), Place::Node(i), Place::Station(i), rate)).collect();
    let mut s = Scenario { seed: 1, cell: Some(cell), nodes, links, flows };
    for link in &mut s.links {
        link.forward.rate = WireRate::Constant(1_000_000_000);
    }
    aggregating(s, aggregation)
}

fn nist() -> ErrorModelSpec {
    ErrorModelSpec { model: choose(error_model::REGISTRY, "nist", &[]), table: None }
}

/// Packets received in the second half of a run.
fn goodput(s: &Scenario, seconds: f64) -> u64 {
    let mut net = Net::new(s).unwrap();
    net.run_until(at(seconds / 2.0));
    let before: u64 = (0..net.flows()).map(|i| net.received(i).packets).sum();
    net.run_until(at(seconds));
    (0..net.flows()).map(|i| net.received(i).packets).sum::<u64>() - before
}

const AMPDU: Aggregation = Aggregation { bytes: 1_048_575, ..AGGREGATION };

#[test]
fn mpdus_are_lost_as_the_error_model_says() {
    let setting = error_model::Setting { table: None, codings: &[] };
    let model = (nist().model.entry.build)(&nist().model.args, &setting).unwrap();
    for (mcs, snr) in [(0, 3.7), (4, 16.2), (8, 28.0)] {
        // 1,500 B of IP, 8 B of LLC/SNAP, 30 B of MAC header and FCS.
        let per = model.per(snr, Coding::MCS[usize::from(mcs)], 1538);
        let s = downloads(&[snr], mcs, Some(AMPDU), None);
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(4.0));
        let [sent, _] = net.bss().unwrap().mpdus(0).unwrap();
        let loss = 1.0 - sent.acked as f64 / sent.sent as f64;
        let deviation = (per * (1.0 - per) / sent.sent as f64).sqrt();
        assert!((0.02..0.95).contains(&per), "{per}");
        // The answers are far more robust. 4 standard deviations.
        assert!((loss - per).abs() < 4.0 * deviation, "MCS {mcs} at {snr} dB: {loss}, not {per}");
    }
}

#[test]
fn a_perfect_channel_changes_nothing() {
    for aggregation in [None, Some(AMPDU)] {
        let good = downloads(&[70.0, 90.0], 7, aggregation, None);
        let mut none = good.clone();
        let cell = none.cell.as_mut().unwrap();
        cell.error_model = None;
        cell.stations.iter_mut().for_each(|s| s.channel = ChannelSpec::default());
        let mut fixed = none.clone();
        for s in &mut fixed.cell.as_mut().unwrap().stations {
            s.channel.rate_control = Some(choose(rate_control::REGISTRY, "fixed", &[]));
        }
        let digest = |s: &Scenario| {
            let mut net = Net::new(s).unwrap();
            net.run_until(at(0.5));
            net.world.trace.digest()
        };
        assert_eq!([digest(&good), digest(&fixed)], [digest(&none); 2]);
    }
}

/// Each attempt at a packet without aggregation has the rate that its chain gives it.
#[test]
fn a_control_without_aggregates_acts_on_single_packets() {
    let share = |name| goodput(&downloads(&[18.0], 9, None, Some(name)), 2.0) as f64;
    let best = (0..=9).map(|mcs| goodput(&downloads(&[18.0], mcs, None, None), 2.0)).max().unwrap() as f64;
    for (name, least) in [("minstrel_ht", 0.9), ("ideal", 0.9), ("thompson", 0.9), ("aarf", 0.8)] {
        assert!(share(name) > least * best, "{name}: {} of {best}", share(name));
    }
}

#[test]
fn minstrel_has_nine_tenths_of_the_best_fixed_rate() {
    for snr in [6.0, 8.0, 14.0, 20.0, 35.0] {
        let best = (0..=9).map(|mcs| goodput(&downloads(&[snr], mcs, Some(AMPDU), None), 2.0)).max().unwrap();
        let got = goodput(&downloads(&[snr], 0, Some(AMPDU), Some("minstrel_ht")), 2.0);
        assert!(got as f64 > 0.9 * best as f64, "{snr} dB: {got} of {best}");
    }
}

/// `thompson` begins at MCS 9, whose requests have 24 Mb/s: at 8 dB they are lost. While a sender asks it sends no
/// data, so that no control could learn this. With a second receiver the failures are not in a row.
#[test]
fn a_request_that_is_lost_at_the_rate_of_the_data_does_not_stop_the_sender() {
    let fixed = |mcs| goodput(&downloads(&[8.0], mcs, Some(AMPDU), None), 2.0);
    let sent = goodput(&downloads(&[8.0], 4, Some(AMPDU), Some("thompson")), 2.0);
    let best = (0..10).map(fixed).max().unwrap();
    assert!(sent as f64 > 0.8 * best as f64, "{sent}, {best}");
    let mut net = Net::new(&downloads(&[8.0, 40.0], 4, Some(AMPDU), Some("thompson"))).unwrap();
    net.run_until(at(2.0));
    let far = net.received(0).packets;
    assert!(far > 1000, "{far}");
}

#[test]
fn each_receiver_has_its_own_rate() {
    let s = downloads(&[8.0, 35.0], 0, Some(AMPDU), Some("ideal"));
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(1.0));
    let mean = |station| {
        let [_, to] = net.bss().unwrap().mpdus(station).unwrap();
        to.mcs as f64 / to.sent as f64
    };
    // NIST loses 10 % of 1,500 B at 7.3 dB with MCS 1, at 10.3 dB with MCS 2, and at 31.3 dB with MCS 9.
    assert!((mean(1) - 1.0).abs() < 0.2 && mean(2) > 8.8, "{} {}", mean(1), mean(2));
}

/// The same network in a field with links of such a path loss that all SNRs are equal.
#[test]
fn a_field_with_the_same_snr_has_the_frames_of_a_cell() {
    let snr = 16.0;
    for (aggregation, control) in [(None, None), (Some(AMPDU), None), (Some(AMPDU), Some("thompson"))] {
        let mut cell = downloads(&[snr; 2], 4, aggregation, control);
        cell.flows.extend((0..2).map(|i| cbr(format!("up.{i}"), Place::Station(i), Place::Node(i), 50_000_000)));
        let mut other = cell.clone();
        let in_field = other.cell.as_mut().unwrap();
        in_field.stations.iter_mut().for_each(|s| s.channel.snr = None);
        let mut spec = field(vec![Point { x: 0.0, y: 0.0 }; 3]);
        // -174 dBm/Hz, 80 MHz, noise figure 7 dB.
        let noise = -174.0 + 10.0 * libm::log10(80e6) + 7.0;
        let loss = spec.tx_power - noise - snr;
        let link =
            |from, to| FieldLink { from, to, decodes: true, gain: libm::pow(10.0, -loss / 10.0), delay: Span::ZERO };
        let pairs = (0..3).flat_map(|a| (0..3).filter(move |b| a != *b).map(move |b| (a, b)));
        spec.links = Some(pairs.map(|(a, b)| link(a, b)).collect());
        in_field.field = Some(spec);
        let frames = |s: &Scenario| {
            let mut net = Net::new(s).unwrap();
            net.keep_frames(Time::ZERO, at(0.5), 1_000_000);
            net.run_until(at(0.5));
            let mut frames = net.frames().unwrap().frames().to_vec();
            frames.retain(|f| f.end < at(0.49));
            frames.sort_by_key(|f| (f.start, f.from));
            frames.iter().map(|f| (f.start, f.end, f.from, f.kind, f.outcome, f.rate)).collect::<Vec<_>>()
        };
        let (a, b) = (frames(&cell), frames(&other));
        let first = a.iter().zip(&b).position(|(a, b)| a != b);
        assert_eq!(first, None, "{:?} {:?}", first.map(|i| a[i]), first.map(|i| b[i]));
        assert!(a.len() > 100 && a.len() == b.len());
        assert!(a.iter().any(|f| f.3 == FrameKind::Data));
    }
}

#[test]
fn the_laws_hold_with_every_rate_control_and_fading() {
    for control in rate_control::REGISTRY {
        for process in fading::REGISTRY {
            for aggregation in [None, Some(Aggregation { attempts: Some(3), ..AMPDU })] {
                let mut s = downloads(&[12.0, 20.0, 30.0], 2, aggregation, Some(control.name));
                s.flows.push(cbr("up".into(), Place::Station(0), Place::Node(0), 20_000_000));
                for station in &mut s.cell.as_mut().unwrap().stations {
                    station.channel.fading = Some(choose(fading::REGISTRY, process.name, &[]));
                }
                let arrived = law::all_hold(&s, &[at(0.1), at(0.3)]);
                assert!(arrived > 0, "{} {}: {arrived}", control.name, process.name);
            }
        }
    }
}

#[test]
fn a_model_that_does_not_know_a_rate_is_refused() {
    let phy = Phy::new(Standard::G, Preamble::Long);
    let mut s = saturated(phy, MAC, 1, 11_000_000, 1);
    let cell = s.cell.as_mut().unwrap();
    cell.error_model = Some(nist());
    cell.stations[0].channel.snr = Some(20.0);
    assert!(Net::new(&s).unwrap_err().to_string().contains("no error model knows DSSS and CCK"));
}

/// A control of one rate that counts how often it is asked, and told.
#[derive(Debug)]
struct Counting;

static ASKED: AtomicU64 = AtomicU64::new(0);
static TOLD: AtomicU64 = AtomicU64::new(0);

impl rate_control::RateControl for Counting {
    fn choose(&mut self, _: &mut Cx) -> rate_control::Chain {
        ASKED.fetch_add(1, Relaxed);
        rate_control::Chain::all(7)
    }
    fn sent(&mut self, _: &mut Cx, _: &rate_control::Report) {
        TOLD.fetch_add(1, Relaxed);
    }
}

static COUNTING: Entry<rate_control::Build> = Entry {
    name: "counting",
    cite: "",
    summary: "",
    params: &[],
    formulas: &[],
    facts: &[],
    build: |_, _| Ok(Box::new(Counting)),
};

/// A TXOP of 4 ms ends with an aggregate that does not fit into its rest and is made anew for the next one: the control
/// is asked once for it. Without errors and rivals each attempt has a chain of its own.
#[test]
fn a_control_is_asked_once_for_each_attempt_of_a_txop() {
    let mut s = downloads(&[60.0], 7, Some(AMPDU), Some("fixed"));
    let cell = s.cell.as_mut().unwrap();
    let fixed = choose(rate_control::REGISTRY, "fixed", &[]);
    cell.stations[0].channel.rate_control = Some(Choice { entry: &COUNTING, ..fixed });
    let txop = [("txop", Value::Time(Span::from_millis(4)))];
    cell.aps[0].station.access = choose(access::REGISTRY, "dcf", &txop);
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(2.0));
    let (asked, told) = (ASKED.load(Relaxed), TOLD.load(Relaxed));
    assert!(told > 500 && (told..=told + 1).contains(&asked), "asked {asked} times for {told} attempts");
}

/// Two pairs of stations whose senders do not hear each other. The frames of the first sender arrive at 25 dB; those of
/// the second arrive there with 16.814 dB less, so at 8.186 dB, which is 6.586 times the noise. Over such a frame the
/// ratio is 1 + 6.586 = 7.586 times lower: 25 - 8.8 = 16.2 dB, at which MCS 4 loses more than a quarter. The second
/// sender is on the air for most of the time.
#[test]
fn frames_too_weak_to_corrupt_another_lower_its_snr() {
    let loss_of = |sinr: bool| {
        let mut cell = cell(Phy::new(Standard::Ac, Preamble::Long), MAC, 4, 6_000_000);
        cell.aps.clear();
        cell.error_model = Some(nist());
        for (s, mcs) in cell.stations.iter_mut().zip([4, 4, 0, 0]) {
            s.rate = vht(mcs);
        }
        // 16 dBm, and the noise of 80 MHz with a noise figure of 7 dB.
        let noise = -174.0 + 10.0 * libm::log10(80e6) + 7.0;
        let near = 16.0 - noise - 25.0;
        let link = |from, to, loss: f64| FieldLink {
            from,
            to,
            decodes: true,
            gain: libm::pow(10.0, -loss / 10.0),
            delay: Span::ZERO,
        };
        let links =
            vec![link(0, 1, near), link(1, 0, near), link(2, 1, near + 16.814), link(2, 3, near), link(3, 2, near)];
        cell.field = Some(FieldSpec {
            links: Some(links),
            capture: Capture { ratio: 10.0, later: true, adds_up: false },
            routing: Some(choose(contend_sim::routing::REGISTRY, "static", &[])),
            sinr,
            ..field(vec![Point { x: 0.0, y: 0.0 }; 4])
        });
        let flow = |name: &str, from, to| cbr(name.into(), Place::Station(from), Place::Station(to), 200_000_000);
        let flows = vec![flow("a", 0, 1), flow("b", 2, 3)];
        let s = Scenario { seed: 1, cell: Some(cell), nodes: vec![], links: vec![], flows };
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(2.0));
        let [sent, _] = net.bss().unwrap().mpdus(0).unwrap();
        assert!(sent.sent > 5000, "{sent:?}");
        1.0 - sent.acked as f64 / sent.sent as f64
    };
    let setting = error_model::Setting { table: None, codings: &[] };
    let model = (nist().model.entry.build)(&nist().model.args, &setting).unwrap();
    let over = model.per(16.2, Coding::MCS[4], 1538);
    let (without, with) = (loss_of(false), loss_of(true));
    println!("loss {over:.4} over a frame; {without:.4} without, {with:.4} with sinr");
    assert!(without < 1e-3, "{without}");
    assert!(with > 0.4 * over && with < over, "{with}, {over} over a frame");
}
