//! The language of metrics, on a synthetic run.

mod entries;
mod language;

use super::synthetic::{empty, example, flow, queue};
use super::*;
use contend_experiment::results::Radio;

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

#[test]
fn what_no_run_with_these_members_has_does_not_fit() {
    let fits = |text: &str, one| Expr::parse_any(text).unwrap().fits(&example(), one);
    for text in ["goodput[up.1]", "mean(goodput[up] / goodput[probe])", "count(goodput[up] < goodput.down)", "jain"] {
        assert_eq!(fits(text, true), Ok(()), "{text}");
    }
    assert_eq!(fits("goodput[up] * goodput[probe]", false), Ok(()));
    for (text, says) in [
        ("goodput[up] * goodput[probe]", "is a list of 3 numbers"),
        ("-goodput[down]", "is a list of 2 numbers"),
        ("sum(goodput[up] - goodput[down])", "lists of 3 and 2 numbers"),
        ("count(goodput[up] < goodput[down])", "lists of 3 and 2 numbers"),
    ] {
        assert!(matches!(fits(text, true), Err(Misfit::List(why)) if why.what.contains(says)), "{text}");
    }
    for text in ["goodput[nobody]", "2 * goodput.nobody", "max(drops[nowhere], 1)"] {
        assert!(matches!(fits(text, false), Err(Misfit::Unknown(why)) if why.what.contains("there is no")), "{text}");
    }
    let named = |text: &str| Expr::parse_any(text).unwrap().depends_on_names();
    assert_eq!(["goodput.up", "jain", "goodput[up]", "goodput.nobody"].map(named), [false, false, true, true]);
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
fn the_time_until_something_holds_counts_from_the_warm_up() {
    is("until(goodput.up > 17kbps, 5s)", 10.0);
    // Sections from 0, 8 and, not whole, 16 s: the second has 16 kb/s for 2 s and 40 kb/s for 6 s.
    is("until(goodput.up > 17kbps, 8s)", 8.0);
    is("until(goodput.up > 15kbps, 1s)", 0.0);
    is("until(goodput.up > 1Mbps, 1s)", 20.0);
    assert!(matches!(unmeasured("until(goodput.up > 17kbps, 30s)"), Unmeasured::Undefined(_)));
    assert!(Expr::parse("until(goodput.up > 1Mbps, 5s)").unwrap().sampling().every_second);
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
    for constant in
        ["every(goodput.up[5s..9s], 1s)", "share(goodput.up[5s..9s] > 2 * goodput.up[0s..1s], 1s)", "every(2, 1s)"]
    {
        let e = Expr::parse(constant).unwrap_err().to_string();
        assert!(e.contains("the same value in each section"), "{constant}: {e}");
    }
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
    is("marked_l4s[ap] + 10 * marked_classic[ap]", 21.0);
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
    // 1, 3 and 5 s, of which one and a half count, or 2.85.
    is("fct.trim50", (1.0 + 0.5 * 3.0) / 1.5);
    is("fct.trim95.down", (1.0 + 3.0 + 0.85 * 5.0) / 2.85);
    is("max(fct.trim60[down])", 5.0);
    // 10, 20, 30, 40 and 50 ms in buckets of 128, 256 and 512 us.
    let of = |counted: &[(f64, f64)]| {
        counted.iter().map(|(n, ms)| n * ms).sum::<f64>() / counted.iter().map(|(n, _)| n).sum::<f64>() / 1e3
    };
    let five = of(&[(1.0, 10.0), (1.0, 20.0), (1.0, 30.0), (1.0, 40.0), (0.75, 50.0)]);
    assert!((value("rtt.trim95") - five).abs() < 2e-4, "{}", value("rtt.trim95"));
    assert!((value("rtt.trim80.up") - 0.025).abs() < 2e-4);
    assert!((value("rtt.trim50[up.2]") - of(&[(1.0, 30.0), (0.5, 40.0)])).abs() < 3e-4);
    assert!((value("queue.delay.trim75[ap]") - of(&[(1.0, 5.0), (0.5, 15.0)])).abs() < 1e-4);
    is("fct.down.2", 5.0);
    is("completed", 3.0);
    is("max(completed[down])", 2.0);
    is("unfinished", 2.0);
    is("unfinished.down.1", 0.0);
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
fn what_only_a_real_sender_knows_is_undefined() {
    let mut run = example();
    (run.flows[0].timeouts, run.flows[0].losses) = (None, None);
    let real = run.flows[0].name.clone();
    for text in ["timeouts", "losses", "losses.congestion", "accuracy.error"] {
        let e = Expr::parse(text).unwrap().eval(&run).unwrap_err();
        assert!(matches!(&e, Unmeasured::Undefined(why) if why.contains(&real)), "{text}: {e:?}");
    }
}

#[test]
fn without_packets_the_sum_of_delays_is_zero() {
    is("delay.count", 0.0);
    is("delay.sum", 0.0);
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
    // 20 samples in 10 s: 3 packets each and 2 retransmissions of `up.1`, 2 packets each of `up.2`.
    is("sent[up.1][5s..15s]", 62.0);
    is("sent.up[5s..15s]", 102.0);
    is("retransmitted[up.1][5s..15s] / sent[up.1][5s..15s]", 2.0 / 62.0);
    is("max(sent[all][0s..0.5s])", 3.0);
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
    is("first_retransmission.up", 5.0);
    is("first_retransmission[up.1][6s..20s]", 10.0);
    assert!(matches!(unmeasured("first_retransmission[up.2]"), Unmeasured::Undefined(_)));
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
