//! The language of metrics, on a synthetic run.

use super::synthetic::{empty, example, flow, queue};
use super::*;
use contend_experiment::reading::model::models;
use contend_experiment::results::{ObservedStation, ObserverSeries, Radio};
use proptest::prelude::*;

fn value(text: &str) -> f64 {
    let e = Expr::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    e.eval(&example()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[track_caller]
fn is(text: &str, want: f64) {
    let got = value(text);
    assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "{text}: {got}, not {want}");
}

fn refused(text: &str) -> ParseError {
    match Expr::parse(text) {
        Ok(e) => panic!("{text} was read as {e}"),
        Err(e) => e,
    }
}

fn unmeasured(text: &str) -> Unmeasured {
    match Expr::parse(text).unwrap().eval(&example()) {
        Ok(x) => panic!("{text} is {x}"),
        Err(e) => e,
    }
}

#[test]
fn arithmetic_binds_as_usual() {
    is("1 + 2 * 3", 7.0);
    is("(1 + 2) * 3", 9.0);
    is("8 / 4 / 2", 1.0);
    is("8 - 4 - 2", 2.0);
    is("8 - (4 - 2)", 6.0);
    is("-2 * 3 + 10", 4.0);
    is("2 * -3", -6.0);
    is("- - 2", 2.0);
}

#[test]
fn numbers_have_units() {
    is("0.3Mbps", 3e5);
    is("54Mbps / 6Mbps", 9.0);
    is("15ms + 1s", 1.015);
    is("20us", 2e-5);
    is("1%", 0.01);
    is("100p", 100.0);
    is("10kB", 1e4);
    is("1e3 + 2.5E-1", 1000.25);
}

#[test]
fn a_point_takes_flows_together() {
    is("goodput", 7.6e6);
    is("goodput.total", 7.6e6);
    is("goodput.up", 5.1e6);
    is("goodput.down", 2e6);
    is("goodput.local", 0.0);
    is("goodput.probe", 5e5);
    is("goodput.up.3", 1e5);
    is("goodput.up / goodput.down", 2.55);
    is("throughput.down", 2.2e6);
    is("sent.down", 200.0);
    is("retransmitted.up / sent.up", 0.05);
    is("timeouts", 12.0);
}

#[test]
fn brackets_make_a_list() {
    is("mean(goodput[up])", 1.7e6);
    is("min(goodput[all])", 1e5);
    is("max(goodput[all])", 3e6);
    is("sum(goodput[up])", 5.1e6);
    is("std(goodput[down])", 0.0);
    is("quantile(goodput[up], 0.5)", 2e6);
    is("quantile(goodput[up], 50%)", 2e6);
    is("jain(goodput[down])", 1.0);
    is("count(goodput[up])", 3.0);
    is("count(goodput[local])", 0.0);
    is("goodput[up.3]", 1e5);
    is("goodput[\"up.3\"]", 1e5);
    is("goodput[ probe ]", 5e5);
}

#[test]
fn count_counts_the_members_for_which_a_comparison_holds() {
    is("count(goodput[up] < 0.3Mbps)", 1.0);
    is("count(goodput[up] <= 2Mbps)", 2.0);
    is("count(goodput[up] > 0.3Mbps)", 2.0);
    is("count(goodput[up] >= 3Mbps)", 1.0);
    is("count(goodput[up] == 2Mbps)", 1.0);
    is("count(goodput[up] != 2Mbps)", 2.0);
    is("count(1Mbps < goodput[up])", 2.0);
    is("count(goodput[up] > mean(goodput[up])) / count(goodput[up])", 2.0 / 3.0);
}

#[test]
fn lists_go_member_by_member_and_numbers_with_every_member() {
    is("sum(goodput[up] / goodput.up)", 1.0);
    is("mean(throughput[up] / goodput[up])", 1.1);
    is("max(-goodput[up])", -1e5);
    is("mean(goodput[up] / goodput[probe])", 3.4);
    is("max(goodput.up, goodput.down, 1kbps)", 5.1e6);
    assert!(
        matches!(unmeasured("sum(goodput[up] - goodput[down])"), Unmeasured::Wrong(s) if s.what.contains("3 and 2"))
    );
}

/// The example's uploads: 1 kB/s until 10 s; then the first has 4 kB/s. The series has a sample every half second until
/// 20 s.
#[test]
fn a_share_goes_section_by_section() {
    is("share(goodput.up > 17kbps, 5s)", 0.5);
    is("share(goodput.up > 17kbps, 8s)", 0.5);
    is("share(goodput.up > 15kbps, 1s)", 1.0);
    // 32, 32, 56, 80, 80 against 40 kb/s.
    is("1 - share(2 * goodput.up <= goodput.up[12s..13s], 4s)", 0.6);
    assert!(matches!(unmeasured("share(goodput.up > 17kbps, 30s)"), Unmeasured::Undefined(_)));
    for text in [
        "share(goodput.up > 1Mbps, 5s)",
        "max(share(goodput.up > 1Mbps, 5s), 0.5)",
        "1 - 2 * share(goodput.up > 1Mbps, 5s)",
    ] {
        assert!(Expr::parse(text).unwrap().sampling().every_second, "{text}");
    }
}

#[test]
fn what_varies_is_listed_section_by_section() {
    // A tenth of a hundred packets a second is marked until 15 s, a fifth after that.
    is("marked[ap][5s..7s] / offered[ap][5s..7s]", 0.1);
    is("max(every(marked[ap] / offered[ap], 5s))", 0.2);
    is("mean(every(goodput.up, 5s))", 28_000.0);
    is("count(every(goodput.up, 1s))", 20.0);
    // 16 kb/s in each second until 10 s, 40 kb/s in each second after that.
    is("max(every(goodput.up, 1s)) - min(every(goodput.up, 1s))", 24_000.0);
    let e = Expr::parse("every(goodput[up], 1s)").unwrap_err().to_string();
    assert!(e.contains("is a list"), "{e}");
    assert!(Expr::parse("std(every(queue.length[ap], 1s))").unwrap().sampling().series);
}

#[test]
fn losses_go_by_what_they_were_and_what_they_were_taken_for() {
    // Each of the six flows has 10 drops (9 taken for congestion), 8 errors (6 taken for errors), and 1 packet that was
    // not lost.
    is("losses[up.1]", 19.0);
    is("losses.congestion.up", 30.0);
    is("losses.error[up.1] - losses.nothing[up.1]", 7.0);
    is("taken_for.error.up / sent.up", 21.0 / 300.0);
    is("taken_for.congestion[up.1]", 12.0);
    is("recognised.congestion[up.1]", 9.0);
    is("recognised.error[up.1]", 6.0);
    is("accuracy.congestion", 0.9);
    is("accuracy.error.down", 0.75);
    let e = Expr::parse("accuracy.up").unwrap_err().to_string();
    assert!(e.contains("accuracy.congestion"), "{e}");
}

#[test]
fn queues_and_stations_go_by_name() {
    is("queue.length[ap]", 42.5);
    is("drops[ap]", 10.0);
    is("drops.ack[ap]", 7.0);
    is("drops.syn[ap]", 0.0);
    is("drops", 11.0);
    is("drops.data", 4.0);
    is("loss[ap]", 0.05);
    is("loss", 11.0 / 600.0);
    is("marked[ap] + lost[ap] + offered[ap]", 207.0);
    is("10 * filtered[ap] + made[ap]", 52.0);
    is("sum(drops[sta])", 1.0);
    is("count(drops[sta])", 2.0);
    is("airtime.from[ap]", 0.4);
    is("airtime.from.sta", 0.3);
    is("max(airtime.from[sta])", 0.2);
    is("airtime.from", 0.7);
    is("airtime.to[ap]", 0.3);
    is("airtime.to.sta", 0.4);
    is("max(airtime.to[sta])", 0.25);
    // A frame between a station and the access point counts once for both together.
    is("airtime[sta1]", 0.45);
    is("airtime.sta", 0.7);
    is("airtime[ap]", 0.7);
    is("airtime", 0.7);
    // Two significant digits: exact within one percent.
    assert!((value("queue.delay[ap]") - 0.010).abs() < 1e-4);
    assert!((value("queue.delay.p99[ap]") - 0.015).abs() < 1.5e-4);
}

#[test]
fn durations_are_pooled_over_the_samples_of_all_flows() {
    // Flow 1 has 10 and 20 ms, flow 2 has 30, 40 and 50 ms: the mean of the samples is 30 ms, that of the flows' means
    // 27.5 ms.
    assert!((value("rtt.up") - 0.030).abs() < 3e-4);
    assert!((value("rtt.mean") - 0.030).abs() < 3e-4);
    assert!((value("mean(rtt[up.1]) + mean(rtt[up.2])") - 0.055).abs() < 5e-4);
    assert!((value("rtt.p50") - 0.030).abs() < 3e-4);
    assert!((value("rtt.p99.up") - 0.050).abs() < 5e-4);
    is("fct", 3.0);
    is("fct.p50", 3.0);
    is("fct.down.2", 5.0);
    is("completed", 3.0);
    is("max(completed[down])", 2.0);
    // 10 of the 200 packets of each flow are missing.
    is("packet_loss.up", 0.05);
    is("sum(packet_loss[up.1])", 0.05);
}

#[test]
fn what_was_not_measured_is_undefined_and_not_zero() {
    for text in [
        "rtt[up.3]",
        "delay",
        "fct.up",
        "mean(goodput[local])",
        "jain.local",
        "goodput.up / goodput.local",
        "std(goodput[probe])",
        "quantile(goodput[local], 0.5)",
    ] {
        assert!(matches!(unmeasured(text), Unmeasured::Undefined(_)), "{text}");
    }
    let wire = empty(1);
    assert!(matches!(Expr::parse("collisions").unwrap().eval(&wire), Err(Unmeasured::Undefined(_))));
}

#[test]
fn flows_stand_for_their_own_stations() {
    let mut run = example();
    let air = run.air.as_mut().unwrap();
    air.airtime.from = [("ap", 0.4), ("up.1.sta", 0.1), ("up.2.sta", 0.2)].map(|(n, x)| (n.to_owned(), x)).into();
    air.airtime.to = [("ap", 0.3), ("up.1.sta", 0.15), ("up.2.sta", 0.25)].map(|(n, x)| (n.to_owned(), x)).into();
    run.flows = vec![flow("up.1", "up", 1e6), flow("up.2", "up", 1e6)];
    let at = |run: &Run, text: &str| Expr::parse(text).unwrap().eval(run);
    assert!((at(&run, "airtime.from[up.2]").unwrap() - 0.2).abs() < 1e-12);
    for (text, value) in [("airtime.from.up", 0.3), ("airtime.to.up", 0.4), ("airtime.up", 0.7)] {
        assert!((at(&run, text).unwrap() - value).abs() < 1e-12, "{text}");
    }
    assert!((at(&run, "max(airtime.from[up])").unwrap() - 0.2).abs() < 1e-12);
    // One of the flows belongs to a station with a name.
    run.flows.push(flow("up.3", "up", 1e6));
    let Err(Unmeasured::Wrong(why)) = at(&run, "airtime.from.up") else { panic!() };
    assert!(why.to_string().contains("the flow up.3 has no station of its own; name a station: "), "{why}");
}

#[test]
fn the_frames_of_an_access_point_include_those_of_its_own_stations() {
    let mut run = example();
    run.stations = ["left", "right", "sta.1", "sta.2"].map(str::to_owned).to_vec();
    run.bss = vec![0, 1, 0, 1];
    run.queues = vec![queue("left", [3, 0, 0, 0], &[]), queue("right", [1, 0, 0, 0], &[])];
    let air = run.air.as_mut().unwrap();
    let named = |shares: [f64; 4]| run.stations.iter().cloned().zip(shares).collect();
    (air.airtime.from, air.airtime.to) = (named([0.4, 0.2, 0.1, 0.05]), named([0.1, 0.05, 0.4, 0.2]));
    let at = |text: &str| Expr::parse(text).unwrap().eval(&run).unwrap();
    for (text, value) in [("airtime[left]", 0.5), ("airtime[right]", 0.25), ("airtime.sta", 0.75), ("airtime", 0.75)] {
        assert!((at(text) - value).abs() < 1e-12, "{text}");
    }
    // What a run reports of its access point it reports of each.
    let reported = standard(&run);
    assert_eq!((reported["drops[left]"], reported["drops[right]"]), (3.0, 1.0));
    assert!(!reported.contains_key("drops[ap]"));
}

#[test]
fn what_is_not_there_is_named_with_the_nearest() {
    assert!(matches!(unmeasured("goodput[dwon.1]"), Unmeasured::Wrong(s) if s.to_string().contains("`down.1`")));
    assert!(matches!(unmeasured("drops[pa]"), Unmeasured::Wrong(s) if s.to_string().contains("ap")));
    assert!(matches!(unmeasured("airtime[sta9]"), Unmeasured::Wrong(s) if s.to_string().contains("sta1")));
    assert!(matches!(unmeasured("ledger.paylod"), Unmeasured::Wrong(s) if s.to_string().contains("payload")));
    assert!(
        matches!(unmeasured("point(\"flow.2.count\")"), Unmeasured::Wrong(s) if s.to_string().contains("flow.1.count"))
    );
}

#[test]
fn the_cell_has_its_numbers_and_its_ledger() {
    is("collisions / frames", 0.05);
    is("rivals", 1.5);
    is("collision_probability", 0.1);
    is("retry_drops", 1.0);
    is("busy", 0.75);
    is("ledger.idle + ledger.payload", 0.75);
}

#[test]
fn stations_of_a_field_have_shares_and_drops_and_those_of_a_cell_have_none() {
    let mut run = example();
    let of = |a, b| BTreeMap::from([("ap".to_owned(), a), ("sta1".to_owned(), b)]);
    let air = run.air.as_mut().unwrap();
    air.radio = Some(Radio { sends: of(0.25, 0.5), idle: of(0.75, 0.0), ..Radio::default() });
    air.routing_drops = Some([("no_route", 3), ("ttl", 4)].into());
    let at = |text: &str| Expr::parse(text).unwrap().eval(&run).unwrap();
    assert_eq!([at("radio.sends[sta1]"), at("radio.idle[ap]"), at("radio.hears[ap]")], [0.5, 0.75, 0.0]);
    assert_eq!([at("routing_drops"), at("routing_drops.ttl"), at("routing_drops.loop")], [7.0, 4.0, 0.0]);
    // The third station of the example has no radio: the mean is over the stations that are asked for.
    assert_eq!(at("mean(radio.sends[all])"), 0.25);
    for text in ["radio.idle[sta1]", "routing_drops"] {
        assert!(
            matches!(unmeasured(text), Unmeasured::Wrong(s) if s.to_string().contains("needs a [field]")),
            "{text}"
        );
    }
}

#[test]
fn a_window_counts_between_two_instants() {
    is("goodput.up[4s..6s]", 16e3);
    is("goodput.up[12s..14s]", 40e3);
    is("goodput[up.1][12s..14s]", 32e3);
    is("goodput[up.1][9.5s..10.5s]", 20e3);
    is("max(goodput[up][12s..14s])", 32e3);
    is("throughput.up.1[4s..6s]", 16e3);
    is("retransmitted[up.1][0s..20s]", 4.0);
    is("jain.up[0s..5s]", 2.0 / 3.0);
    // `jain` leaves out the flow with a rate of its own, unless it is named or alone.
    let index = |rates: &[f64]| {
        rates.iter().sum::<f64>().powi(2) / (rates.len() as f64 * rates.iter().map(|x| x * x).sum::<f64>())
    };
    is("jain", index(&[3.0, 2.0, 0.1, 1.0, 1.0]));
    is("jain.all", index(&[3.0, 2.0, 0.1, 1.0, 1.0, 0.5]));
    is("jain.total", index(&[3.0, 2.0, 0.1, 1.0, 1.0, 0.5]));
    is("jain(goodput[all])", index(&[3.0, 2.0, 0.1, 1.0, 1.0, 0.5]));
    is("jain.wired", 1.0);
    is("jain.probe", 1.0);
    is("jain[0s..5s]", 2.0 / 5.0);
    is("jain.all[0s..5s]", 2.0 / 6.0);
    is("acked[up.1][0s..5s]", 5000.0);
    is("acked[up.1][5s..6.5s]", 0.0);
}

#[test]
fn a_path_is_averaged_over_time() {
    is("cwnd[up.2]", 20.0);
    is("cwnd[up.1][10s..15s]", 10.0);
    is("cwnd[up.1][10s..20s]", 20.0);
    is("cwnd.up.1[14s..16s]", 20.0);
    is("srtt[up.1][0s..10s]", 0.02);
    is("ssthresh[up.1]", 64.0);
    // The queue has one packet for each elapsed second, in steps of one: 4 and 5 between 4 s and 6 s.
    is("queue.length[ap][4s..6s]", 4.5);
}

#[test]
fn a_stall_is_the_longest_time_without_progress() {
    is("stall[up.1][0s..20s]", 1.5);
    is("stall[up.1][0s..6s]", 1.0);
    is("stall[up.1][8s..20s]", 0.0);
    is("stall[up.2][8s..20s]", 12.0);
    is("stall.up[8s..20s]", 12.0);
}

#[test]
fn short_term_fairness_is_the_mean_of_the_index_over_seconds() {
    // up.1 : up.2 : up.3 are 1 : 1 : 0 in ten windows and 4 : 1 : 0 in ten.
    is("jain.short.up", (10.0 * 4.0 / 6.0 + 10.0 * 25.0 / 51.0) / 20.0);
    // Over the whole run the same flows give another index.
    is("jain.up[0s..20s]", 70.0 * 70.0 / (3.0 * (50.0 * 50.0 + 20.0 * 20.0)));
}

#[test]
fn an_instant_that_was_not_sampled_is_an_error() {
    assert!(matches!(unmeasured("goodput.up[4.25s..6s]"), Unmeasured::Wrong(s) if s.to_string().contains("4.25s")));
    assert!(
        matches!(unmeasured("goodput.up[4s..60s]"), Unmeasured::Wrong(s) if s.what.contains("the run ends at 20s"))
    );
    let mut bare = example();
    bare.detail.series = Default::default();
    assert!(
        matches!(Expr::parse("cwnd[up.1]").unwrap().eval(&bare), Err(Unmeasured::Wrong(s)) if s.what.contains("series"))
    );
    assert!(matches!(Expr::parse("jain.short").unwrap().eval(&bare), Err(Unmeasured::Undefined(_))));
    // Samples at only some seconds, for a time window, do not allow a mean over all seconds.
    let mut few = example();
    few.detail.series.time_s.truncate(7);
    assert!(matches!(Expr::parse("jain.short").unwrap().eval(&few), Err(Unmeasured::Undefined(_))));
}

#[test]
fn the_sweep_can_be_asked() {
    is("point(\"flow.1.count\") + 1", 3.0);
    is("queue.length[ap] / point(\"ap.queue.limit\")", 0.425);
}

#[test]
fn closed_forms_can_be_asked() {
    // Spec jersey.md section 8: 14.071 packets at 1 %.
    assert!((value("model(\"padhye.square_root_window\", 1%)") - 14.071).abs() < 1e-3);
    // Spec jersey.md section 8: 825 kb/s of 8000-bit packets.
    let padhye = value("model(\"padhye.rate\", p = 1%, rtt = 96.2ms, t0 = 1s, window = 20p) * 8");
    assert!((padhye - 825.0).abs() < 1.0, "{padhye}");
    // Keceli 2008, spec 2T and S6: 5 + 5 flows, set B.
    let of = "n_up = 5, n_down = 5, slot = 20us, ts_data = 364us, ts_ack = 148us)";
    assert!((value(&format!("model(\"fcwa.window\", delay = 50ms, buffer = 100p, {of}")) - 23.52).abs() < 0.0051);
    assert!((value(&format!("model(\"fcwa.buffer\", delay = 50ms, window = 42p, {of}")) - 285.0).abs() < 0.51);
    // Spec keceli.md S2.4, set B: 0.7394 ms.
    let cycle = value("model(\"cycle_time\", n_up = 5, n_down = 5, slot = 20us, ts_data = 364us, ts_ack = 148us)");
    assert!((cycle - 0.7394e-3).abs() < 1e-6, "{cycle}");
    // Spec keceli.md S2.2: p = 0.104622 for two stations, attempts without limit (its own program gives 0.1046206).
    let p = value("model(\"bianchi.collision_probability\", 2, attempts = 0)");
    assert!((p - 0.104_622).abs() < 2e-6, "{p}");
    // One station: payload over success and mean backoff, (1500*8 bit) / (364 us + 7.5 * 20 us).
    let one = value("model(\"bianchi.throughput\", n = 1, slot = 20us, ts = 364us, tc = 364us, payload = 1500B)");
    assert!((one - 12_000.0 / 514e-6).abs() < 1.0, "{one}");
}

#[test]
fn every_model_can_be_asked_with_its_defaults() {
    for m in models() {
        let one = |p: &Parameter| {
            let value = match p.name {
                "p" | "pc" | "pw" | "q" => "1%".to_owned(),
                // One station never collides, and one slot has one order.
                "n" | "slots" => "2".to_owned(),
                _ => format!("1{}", p.unit.base()),
            };
            format!(", {} = {value}", p.name)
        };
        let arguments: String = m.parameters.iter().filter(|p| p.default.is_none()).map(one).collect();
        let text = format!("model(\"{}\"{arguments})", m.name);
        let e = Expr::parse(&text).unwrap();
        assert!(e.eval(&example()).is_ok(), "{text}");
        assert_eq!(e.dimension(), Some(m.unit));
    }
}

#[test]
fn errors_say_where_and_what_to_write() {
    let at = |text: &str, place: &str, help: &str| {
        let e = refused(text);
        assert_eq!(&text[e.span.clone()], place, "{text}: {e}");
        assert!(e.help.contains(help), "{text}: {e}");
    };
    at("1 + godput.up", "godput.up", "`goodput.up`");
    at("queue.dealy[ap]", "queue.dealy", "`queue.delay`");
    at("enqueued[ap]", "enqueued", "`offered`");
    at("1 - ap.loss", "ap.loss", "`loss[ap]`");
    at("snd_una[up][10s..15s]", "snd_una", "`acked`");
    at("meen(goodput[up])", "meen", "`mean`");
    at("mean(goodput.up)", "goodput.up", "mean(goodput[up])");
    at("count(goodput < 1Mbps)", "goodput", "count(goodput[all])");
    at("goodput[up] / 2", "goodput[up] / 2", "mean(...)");
    at("goodput.up + 15ms", "15ms", "0.3Mbps");
    at("count(goodput[up] < 300000)", "300000", "0.3Mbps");
    at("rtt.mean - 3", "3", "15ms");
    at("0.3 Mbps", "0.3 Mbps", "`0.3Mbps`");
    at("0.3Mbp", "Mbp", "Mbps");
    at("goodput.up > 3Mbps", ">", "count(");
    at("(1 + 2", "", "");
    at("1 + 2)", ")", "remove");
    at("1 2", "2", "+ - * /");
    at("", "", "goodput.up");
    at("1 +", "", "goodput.up");
    at("rtt[up.1][1s..2s]", "rtt[up.1][1s..2s]", "srtt");
    at("acked[up.1]", "acked[up.1]", "[10s..15s]");
    at("goodput.up[5..6]", "[5..6]", "units");
    at("goodput.up[6s..5s]", "[6s..5s]", "earlier");
    at("goodput.up[1s..2s][3s..4s]", "[3s..4s]", "one");
    at("goodput.up[up]", "[up]", "once");
    at("goodput[]", "[]", "[up]");
    at("goodput[up", "[up", "]");
    at("queue.length", "queue.length", "queue.length[ap]");
    at("ledger", "ledger", "ledger.idle");
    at("busy.up", "busy.up", "`busy` alone");
    at("jain[up]", "jain[up]", "jain.up");
    at("rtt.p100", "rtt.p100", "p95");
    at("quantile(goodput[up], 2)", "2", "0.95");
    at("share(goodput.up, 5s)", ",", "share(goodput");
    at("share(goodput[up] > 1Mbps, 5s)", "goodput[up]", "mean(");
    at("share(timeouts.up > 1, 5s)", "timeouts.up", "goodput");
    at("share(goodput.up > 1Mbps, 500ms)", "500ms", "5s");
    at("model(\"bianchy.throughput\", n = 1)", "\"bianchy.throughput\"", "bianchi.throughput");
    at("model(\"cycle_time\", n_op = 1)", "n_op", "n_up");
    at("model(\"padhye.square_root_window\")", "\"padhye.square_root_window\"", "p = ...");
    at("model(\"padhye.square_root_window\", 1s)", "1s", "percentage");
    at("model(\"padhye.square_root_window\", 1%, p = 1%)", "p", "remove");
    at("goodput.up × 2", "×", "+ - * /");
    at("\"abc", "\"abc", "\"");
    at("1e999", "1e999", "1e308");
    at("goodput.up = 2", "=", "`==`");
    at("fingerprint[sta1]", "fingerprint[sta1]", "fingerprint.conformant[sta1]");
    at("fingerprint.slots", "fingerprint.slots", "fingerprint.slots[sta1]");
    at("interarrival", "interarrival", "interarrival.first[sta1]");
    at("jain(successes, 100)", "successes, 100", "jain(successes[up], 100)");
    at("jain(successes[up], 2.5)", "successes[up], 2.5", "jain(successes[up], 100)");
    at("jain(goodput[up], 100)", "100", "0.3Mbps");
}

#[test]
fn a_condition_compares_two_numbers_of_one_unit() {
    let c = Condition::parse("loss[ap] > 1%").unwrap();
    assert_eq!((c.relation, c.to_string().as_str()), (Relation::Greater, "loss[ap] > 1%"));
    assert!(Condition::parse("loss[ap]").unwrap_err().help.contains("> 1%"));
    assert!(Condition::parse("queue.delay[ap] > 1%").is_err());
    assert!(Condition::parse("goodput[up] > 1Mbps").is_err());
    assert!(Condition::parse("1 < 2 < 3").is_err());
}

#[test]
fn a_runner_learns_what_to_sample() {
    let s = |text: &str| Expr::parse(text).unwrap().sampling();
    let seconds = |list: &[u64]| list.iter().map(|s| Time::from_nanos(s * 1_000_000_000)).collect::<Vec<_>>();
    assert_eq!(s("goodput.up"), Sampling::default());
    assert_eq!(
        s("goodput.up[10s..15s] / goodput.up[5s..10s]"),
        Sampling { instants: seconds(&[5, 10, 15]), ..Sampling::default() }
    );
    assert_eq!(instants(&Expr::parse("count(goodput[up][1s..2s] < goodput.up[2s..3s])").unwrap()), seconds(&[1, 2, 3]));
    assert!(s("jain.short.up").every_second && !s("jain.up").every_second);
    assert!(s("stall[up.1][1s..2s]").series && s("cwnd[up.1]").series && s("queue.length[ap][1s..2s]").series);
    assert!(!s("queue.length[ap]").series);
    assert_eq!(s("jain(successes[up], 9)"), Sampling { successes: true, ..Sampling::default() });
    assert_eq!(
        s("interarrival.last[sta1] - interarrival.first[sta1]"),
        Sampling { frames: true, ..Sampling::default() }
    );
    assert!(s("fingerprint.conformant[sta1]").frames);
    let mut all = s("jain.short");
    all.add(s("goodput.up[1500ms..9s]"));
    let within = all.within(contend_core::Span::from_millis(2_500));
    assert_eq!(within, [0, 1_000, 1_500, 2_000].map(|ms| Time::from_nanos(ms * 1_000_000)));
}

#[test]
fn standard_metrics_are_expressions_with_a_unit() {
    for name in reported() {
        let by_name = Expr::parse(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(by_name.to_string(), name);
        assert!(by_name.dimension().is_some(), "{name}");
    }
}

#[test]
fn a_run_tells_the_standard_metrics_it_has() {
    let m = standard(&example());
    assert_eq!(m["goodput.up"], 5.1e6);
    assert_eq!(m["queue.length[ap]"], 42.5);
    assert_eq!(m["drops[ap]"], 10.0);
    assert!((m["jain.up"] - 5.1e6 * 5.1e6 / (3.0 * (9e12 + 4e12 + 1e10))).abs() < 1e-12);
    assert!(m.contains_key("jain.short") && m.contains_key("rtt.p95"));
    // No one-way delay was measured.
    assert!(!m.contains_key("delay.mean"));
    let mut wire = empty(1);
    wire.flows = vec![flow("a", "wired", 1e6)];
    let m = standard(&wire);
    assert_eq!((m["goodput.total"], m["goodput.up"], m["jain"]), (1e6, 0.0, 1.0));
    assert!(!m.contains_key("collisions") && !m.contains_key("jain.up") && !m.contains_key("drops[ap]"));
}

#[test]
fn a_run_knows_when_it_had_settled() {
    // The goodput of the example changes in its middle, too late to detect that the run settles.
    let mut run = example();
    assert_eq!(settled(&run), None);
    // 9 kB in each of the first five seconds, 1 kB after.
    let delivered = |k: u64| 500 * k + 4_000 * k.min(10);
    for samples in &mut run.detail.series.flows {
        for (k, bytes) in samples.delivered_bytes.iter_mut().enumerate() {
            *bytes = delivered(k as u64);
        }
    }
    assert_eq!(settled(&run), Some(5.0));
    run.detail.series.time_s.pop();
    assert_eq!(settled(&run), None);
}

#[test]
fn a_summary_is_the_mean_over_the_seeds_of_a_point() {
    let run = |seed: u64, point: i64, x: f64| {
        let mut r = empty(seed);
        r.point = [("k".to_owned(), point.into())].into();
        r.metrics = [("jain".to_owned(), x)].into();
        r
    };
    let s = summarise(&[run(1, 7, 1.0), run(1, 3, 5.0), run(2, 7, 3.0)]);
    assert_eq!(s.len(), 2);
    assert_eq!((s[0].n, s[0].mean, s[0].point["k"].clone()), (2, 2.0, 7.into()));
    // t(1) = 12.706, standard error 1.
    assert!((s[0].ci95.unwrap() - 12.706).abs() < 1e-3);
    assert_eq!((s[1].n, s[1].mean, s[1].ci95), (1, 5.0, None));
}

#[test]
fn names_that_are_no_plain_words_are_quoted() {
    let e = Expr::parse("goodput[\"my flow]\"]").unwrap();
    assert_eq!(e.to_string(), "goodput[\"my flow]\"]");
    assert_eq!(Expr::parse(&e.to_string()), Ok(e));
}

#[test]
fn deep_and_long_texts_are_refused_and_not_followed() {
    for text in ["(".repeat(4_000), "-".repeat(4_000), "mean(".repeat(800), "1+".repeat(2_000) + "1", " ".repeat(5_000)]
    {
        assert!(Expr::parse(&text).is_err());
    }
    let long = vec!["1"; 200].join("+");
    assert_eq!(Expr::parse(&long).unwrap().eval(&empty(1)), Ok(200.0));
}

/// Expressions that parse, as text: operators at random between values.
fn texts() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "1",
        "2.5",
        "1e-3",
        "0.5%",
        "busy",
        "jain.up",
        "loss[ap]",
        "mean(goodput[up])/1kbps",
        "count(goodput[all] < 0.3Mbps)",
        "max(1, 2, busy)",
        "quantile(jain.up * fct[all] / 1s, 0.9)",
        "point(\"flow.1.count\")",
        "model(\"padhye.square_root_window\", p = 1%)",
        "jersey.ratio",
        "jersey.ratio(q = 1%) / jersey.ratio",
        "goodput.up[1s..2s] / 1Mbps",
        "cwnd[\"a b\"][1s..2.5s]",
        "rtt.p95 / 15ms",
        "count(goodput[up])",
        "drops[ap]",
        "drops.ack[sta1]",
        "jain.short",
        "jain(successes[up], 10 * 3)",
        "jain(successes[sta][1s..2s], point(\"flow.1.count\"))",
        "ledger.idle",
    ]);
    let leaf = value.prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", " - ", " / "]), inner.clone())
                .prop_map(|(a, op, b)| format!("{a}{op}{b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.prop_map(|a| format!("-({a})")),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _ = Expr::parse(&text);
        let _ = Condition::parse(&text);
        let _ = contend_experiment::reading::expression::literal(&text);
        let _ = contend_experiment::reading::expression::evaluate(&text, &|_| None);
    }

    #[test]
    fn no_row_of_tokens_makes_parser_or_evaluation_panic(tokens in prop::collection::vec(prop::sample::select(vec![
        "goodput", "rtt", ".", "up", "[", "]", "[up]", "[1s..2s]", "..", "1", "1s", "%", "(", ")", ",", "+", "-", "*",
        "/", "<", "==", "=", "\"", "mean(", "count(",
        "quantile(", "model(", "\"cycle_time\"", "point(", "n_up", "é", " ", "e", "1e", "jain", "p95", "drops.ack",
        "successes[up]",
    ]), 0..24)) {
        let text = tokens.concat();
        for cut in (0..=text.len()).filter(|i| text.is_char_boundary(*i)) {
            match Expr::parse(&text[..cut]) {
                Ok(e) => { let _ = e.eval(&example()); }
                Err(e) => prop_assert!(text.get(e.span.clone()).is_some(), "{e:?}"),
            }
        }
    }

    #[test]
    fn what_is_printed_parses_back_to_the_same(text in texts()) {
        // Some texts are refused because of their units; the others must print correctly.
        if let Ok(e) = Expr::parse(&text) {
            let printed = e.to_string();
            let again = Expr::parse(&printed);
            prop_assert_eq!(again.as_ref(), Ok(&e), "{} -> {}", text, printed);
            prop_assert_eq!(again.unwrap().eval(&example()).is_ok(), e.eval(&example()).is_ok());
        }
    }
}

#[test]
fn an_estimate_has_a_mean_over_time_and_extremes_and_spread_of_its_samples() {
    is("estimate.are[up.1][5s..10s]", 1_000.0);
    is("estimate.are.up.1[8s..12s]", 1_500.0);
    // Half a second of 9 kb/s in five seconds, the rest 2 kb/s.
    is("estimate.are[up.1][12s..17s]", 2_700.0);
    is("estimate.are.max[up.1][12s..17s]", 9_000.0);
    is("estimate.are.min.up.1[12s..17s]", 2_000.0);
    is("estimate.are.std[up.1][5s..9s]", 0.0);
    // Three samples, 2, 2 and 9 kb/s.
    is("estimate.are.std[up.1][14s..15s]", (49e6_f64 / 3.0).sqrt());
    is("estimate.are.max[up.1] / 1kbps", 9.0);
    assert_eq!(Expr::parse("estimate.are.max[up.1][1s..2s]").unwrap().to_string(), "estimate.are.max[up.1][1s..2s]");
    assert!(refused("estimate[up.1]").help.contains("estimate.are[f]"));
    let unknown = unmeasured("estimate.tsw[up.1]").to_string();
    assert!(unknown.contains("`up.1` has no estimator `tsw`") && unknown.ends_with("its estimators: are"), "{unknown}");
    assert!(
        matches!(unmeasured("estimate.are[up.2]"), Unmeasured::Wrong(s) if s.remedy.contains("estimate = [\"are\"]"))
    );
}

/// The second station has one observer: it reports 1 Mb/s before 10 s, 2 Mb/s after that, and nothing about what is
/// available before 1 s. In each second the station gets 1 kB through in a tenth of the time, and half of its air is
/// idle.
#[test]
fn observers_and_the_truth_about_their_stations() {
    let mut run = example();
    run.stations = vec!["ap".into(), "a".into(), "b".into()];
    let at = |of: &dyn Fn(u64) -> u64| (0..=40).map(of).collect::<Vec<u64>>();
    let rates = |of: &dyn Fn(u64) -> Option<u64>| (0..=40).map(of).collect::<Vec<Option<u64>>>();
    run.detail.series.observed = vec![ObservedStation {
        station: 1,
        observers: vec![ObserverSeries {
            name: "rt_winf".into(),
            capacity_bps: rates(&|k| Some(if k < 20 { 1_000_000 } else { 2_000_000 })),
            available_bps: rates(&|k| (k >= 2).then_some(100_000 * k)),
        }],
        acked_bytes: at(&|k| 500 * k),
        contended_ns: at(&|k| 50_000_000 * k),
        idle_ns: at(&|k| 250_000_000 * k),
    }];
    let eval = |text: &str| Expr::parse(text).unwrap().eval(&run);
    let is = |text: &str, want: f64| assert!((eval(text).unwrap() - want).abs() <= 1e-9 * want, "{text}");
    is("observed.capacity.rt_winf[a]", 1.5e6);
    is("observed.capacity.rt_winf.max[a][0s..9s]", 1e6);
    is("observed.available.rt_winf[a][1s..2s]", 250e3);
    is("link.capacity[a]", 80e3);
    is("link.idle[a][3s..7s]", 0.5);
    let wrong = |text: &str, part: &str| {
        let message = eval(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    };
    wrong("observed.available.rt_winf[a][0s..2s]", "had no estimate at some instants");
    wrong("observed.capacity.idle_gap[a]", "its observers: rt_winf");
    wrong("link.idle[b]", "station `b` has no observer");
    assert!(refused("observed.capacity[a]").help.contains("observed.capacity.rt_winf[a]"));
    assert!(refused("link.idle").help.contains("link.idle[a]"));
}

/// The metric `toy` occurs in `entries/toy.rs` only.
#[test]
fn a_metric_is_added_by_its_entry_alone() {
    // The example's flows sent 50 packets each; the uploads retransmitted 2.5 of them.
    let once = value("sent.up") - value("retransmitted.up");
    assert!(once > 0.0);
    is("toy.up", once);
    is("sum(toy[up])", once);
    is("toy.up / 1p", once);
    let e = Expr::parse("toy.up").unwrap();
    assert_eq!(
        (e.dimension(), e.sampling(), e.to_string().as_str()),
        (Some(Dimension::Packets), Sampling::default(), "toy.up")
    );
    assert_eq!(standard(&example())["toy.up"], once);
    assert!(refused("toys").help.contains("`toy`"));
    assert!(refused("toy[up][1s..2s]").message.contains("no time window"));
    let entry = metric("toy").unwrap();
    assert!(metrics().any(|m| m == entry) && entry.usage().contains("toy[up]") && entry.aspects_in_words().is_none());
    assert_eq!(entry.period_in_words(), "the measured interval");
}

#[test]
fn the_recipe_for_a_metric_compiles_and_is_read() {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let contributing = include_str!("../../../../../CONTRIBUTING.md");
    let recipe = contributing.split_once("### A metric").and_then(|(_, r)| r.split_once("```rust")).unwrap().1;
    let recipe = recipe.split_once("```").unwrap().0;
    assert!(plain(include_str!("entries/toy.rs")).contains(&plain(recipe)), "entries/toy.rs has not\n{recipe}");
    is("undropped[ap]", value("offered[ap]") - value("drops[ap]"));
}

#[test]
fn entries_have_names_of_their_own_and_examples_that_are_read() {
    let names: Vec<&str> = metrics().map(|m| m.name).collect();
    for m in metrics() {
        assert_eq!(names.iter().filter(|n| **n == m.name).count(), 1, "{}", m.name);
        for example in m.example.into_iter().flat_map(|e| e.split("` or `")) {
            assert!(Expr::parse_any(example).is_ok(), "{example}");
        }
    }
}
