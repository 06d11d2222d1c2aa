//! Claims judged by runs: every word of their grammar, on flows whose rates are known beforehand.

use super::lab::{Call, SMALL, execute, wire};
use contend_lab::experiment::results::ClaimResult;

/// A constant stream at 1, 2 and 4 Mb/s, judged by these claims.
fn judged(claims: &str) -> Vec<ClaimResult> {
    let sweep = "[sweep]\n\"flow.0.udp.rate\" = [\"1Mbps\", \"2Mbps\", \"4Mbps\"]\n";
    execute(&wire("seeds = \"1..2\"", "udp = { rate = \"1Mbps\", packet = \"1028B\" }", &format!("{sweep}{claims}")))
        .claims
}

fn claim(rest: &str) -> String {
    format!("[[claim]]\nid = \"c\"\nmetric = \"goodput.total\"\n{rest}\n")
}

/// The verdict on one claim, and what was measured.
#[track_caller]
fn verdict(rest: &str) -> (String, f64) {
    let results = judged(&claim(rest));
    let [one] = results.as_slice() else { panic!("{results:#?}") };
    (one.verdict.clone(), one.measured.value.unwrap())
}

#[track_caller]
fn holds(rest: &str) -> f64 {
    let (verdict, measured) = verdict(rest);
    assert_eq!(verdict, "reproduced", "measured {measured}");
    measured
}

#[track_caller]
fn fails(rest: &str) -> f64 {
    let (verdict, measured) = verdict(rest);
    assert_eq!(verdict, "not reproduced", "measured {measured}");
    measured
}

fn near(x: f64, y: f64) -> bool {
    (x / y - 1.0).abs() < 2e-3
}

#[test]
fn bounds_hold_or_fail_at_the_selected_points() {
    let at =
        |rate: &str, expect: &str| format!("when = {{ \"flow.0.udp.rate\" = \"{rate}\" }}\nexpect = {{ {expect} }}");
    assert!(near(holds(&at("2Mbps", "near = \"2Mbps\", within = \"1%\"")), 2e6));
    assert!(near(fails(&at("2Mbps", "near = \"2.1Mbps\", within = \"1%\"")), 2e6));
    holds(&at("2Mbps", "near = \"2.1Mbps\", within = \"200kbps\""));
    // The tolerance is 10 % unless the file says another.
    holds(&at("2Mbps", "near = \"2.2Mbps\""));
    fails(&at("2Mbps", "near = \"2.3Mbps\""));
    holds(&at("4Mbps", "between = [\"3.9Mbps\", \"4.1Mbps\"]"));
    holds(&at("4Mbps", "at_least = \"3.9Mbps\""));
    fails(&at("4Mbps", "at_most = \"3.9Mbps\""));
}

#[test]
fn each_says_how_points_are_taken_together() {
    let each = |each: &str, expect: &str| format!("each = \"{each}\"\nexpect = {{ {expect} }}");
    // 1, 2 and 4 Mb/s: the point that decides is the one nearest to failing, or to holding.
    assert!(near(holds(&each("every", "at_least = \"900kbps\"")), 1e6));
    assert!(near(fails(&each("every", "at_least = \"1.5Mbps\"")), 1e6));
    assert!(near(holds(&each("any", "at_least = \"3Mbps\"")), 4e6));
    assert!(near(fails(&each("any", "at_least = \"5Mbps\"")), 4e6));
    assert!(near(holds(&each("mean", "near = \"2.333Mbps\", within = \"1%\"")), 7e6 / 3.0));
}

#[test]
fn over_divides_by_another_point_or_another_setting_seed_by_seed() {
    let over = |over: &str, near: f64| {
        format!(
            "when = {{ \"flow.0.udp.rate\" = \"4Mbps\" }}\nover = {{ {over} }}\nexpect = {{ near = {near}, within = \
                \"1%\" }}"
        )
    };
    holds(&over("\"flow.0.udp.rate\" = \"1Mbps\"", 4.0));
    // A value that is not a point of the sweep is run for the claim only.
    holds(&over("\"flow.0.udp.rate\" = \"8Mbps\"", 0.5));
    // 3 Mb/s of wire carry 3000/1028 Mb/s of payload.
    holds(&over("\"link.0.rate\" = \"3Mbps\"", 4.0 / (3.0 * 1000.0 / 1028.0)));
}

#[test]
fn runs_for_claims_alone_are_not_among_the_results() {
    let text = claim("over = { \"link.0.rate\" = \"3Mbps\" }\nexpect = { at_least = 0.5 }");
    let sweep = "[sweep]\n\"flow.0.udp.rate\" = [\"1Mbps\", \"2Mbps\"]\n";
    let o = execute(&wire("seeds = \"1..2\"", "udp = { rate = \"1Mbps\" }", &format!("{sweep}{text}")));
    assert_eq!((o.runs.len(), o.claims[0].measured.points.len()), (4, 2));
}

#[test]
fn sequences_rise_fall_and_stand_in_order() {
    let along = |what: &str| format!("expect = {{ {what}, along = \"flow.0.udp.rate\" }}");
    assert!(near(holds(&along("increasing = true")), 3e6));
    fails(&along("decreasing = true"));
    assert!(near(holds(&along("order = [\"4Mbps\", \"2Mbps\", \"1Mbps\"]")), 1e6));
    fails(&along("order = [\"2Mbps\", \"4Mbps\", \"1Mbps\"]"));
    let two = "when = { \"flow.0.udp.rate\" = [\"1Mbps\", \"4Mbps\"] }\n".to_owned() + &along("increasing = true");
    holds(&two);
}

#[test]
fn each_reading_is_judged_and_readings_may_contradict_each_other() {
    let at = "when = { \"flow.0.udp.rate\" = \"4Mbps\" }\nexpect = { at_least = \"3Mbps\" }\n";
    let reading =
        "reading = { printed = { \"link.0.rate\" = \"2Mbps\" }, repaired = { \"link.0.rate\" = \"20Mbps\" } }\n";
    let verdicts = |more: &str| {
        let results = judged(&claim(&format!("{at}{reading}{more}")));
        results.into_iter().map(|c| (c.reading.unwrap(), c.verdict, c.as_recorded)).collect::<Vec<_>>()
    };
    let of = |name: &str, verdict: &str, as_recorded| (name.to_owned(), verdict.to_owned(), as_recorded);
    assert_eq!(verdicts(""), [of("printed", "not reproduced", false), of("repaired", "reproduced", true)]);
    let recorded = verdicts("verdict = \"contradiction\"\nreason = \"the figure needs a faster link than the table\"");
    assert_eq!(recorded, [of("printed", "contradiction", true), of("repaired", "contradiction", true)]);
    let recorded = verdicts("verdict = { repaired = \"reproduced\", printed = \"not reproduced\" }\nreason = \"slow\"");
    assert_eq!(recorded, [of("printed", "not reproduced", true), of("repaired", "reproduced", true)]);
    // The same readings, shared by claims, as values of a swept key.
    let shared = "[readings]\nrates = { slow = { \"flow.0.udp.rate\" = \"1Mbps\" }, fast = { \"flow.0.udp.rate\" = \
                  \"4Mbps\" } }\n";
    let results = judged(&format!("{shared}{}", claim(&format!("{at}reading = \"rates\""))));
    let seen: Vec<_> = results.iter().map(|c| (c.reading.as_deref().unwrap(), c.verdict.as_str())).collect();
    assert_eq!(seen, [("slow", "not reproduced"), ("fast", "reproduced")]);
}

#[test]
fn the_mean_delay_of_packets_is_the_sum_over_their_number() {
    let claim = "[[claim]]\nid = \"c\"\nmetric = \"delay.sum / delay.count / delay\"\nexpect = { near = 1, \
                 within = 1e-9 }\n[[claim]]\nid = \"n\"\nmetric = \"delay.count\"\nexpect = { at_least = 100 }\n";
    assert!(judged(claim).iter().all(|c| c.verdict == "reproduced"));
}

#[test]
fn a_run_is_compared_with_the_recorded_verdict() {
    let failing = "expect = { at_least = \"5Mbps\" }";
    let one = &judged(&claim(failing))[0];
    assert_eq!((one.verdict.as_str(), one.recorded.as_str(), one.as_recorded), ("not reproduced", "reproduced", false));
    let one = &judged(&claim(&format!("{failing}\nverdict = \"not reproduced\"\nreason = \"the wire is slow\"")))[0];
    assert_eq!((one.as_recorded, one.reason.as_str()), (true, "the wire is slow"));
}

#[test]
fn an_interval_across_the_bound_is_undecided() {
    // The bound is what two seeds measure as their mean: the interval lies on both sides of it.
    let text = SMALL.replacen("delay  = \"5ms\"", "delay  = \"5ms\"\nstart = \"uniform(0s, 2s)\"", 1);
    let free = execute(&format!("{text}\n{}", claim("expect = { at_least = \"1bps\" }")));
    let middle = free.claims[0].measured.value.unwrap();
    let o = execute(&format!("{text}\n{}", claim(&format!("expect = {{ at_least = \"{middle}bps\" }}"))));
    assert_eq!((o.claims[0].verdict.as_str(), o.claims[0].as_recorded), ("undecided", false));
    assert!(o.claims[0].measured.ci95.unwrap() > 0.0);
}

#[test]
fn claims_find_the_histograms_and_series_that_they_need() {
    let more = "[[claim]]\nid = \"a\"\nmetric = \"max(rtt.p95[down])\"\nexpect = { between = [\"10ms\", \"1s\"] }\n\
                [[claim]]\nid = \"b\"\nmetric = \"jain.short\"\nexpect = { between = [0.1, 1] }\n\
                [[claim]]\nid = \"c\"\nmetric = \"cwnd[up.1]\"\nexpect = { at_least = 1 }\n\
                [[claim]]\nid = \"d\"\nmetric = \"queue.delay.p50[ap]\"\nexpect = { at_most = \"1s\" }\n\
                [[claim]]\nid = \"e\"\nmetric = \"queue.length[ap][1s..2s]\"\nexpect = { at_most = 100 }\n";
    let mean = "[[claim]]\nid = \"f\"\nmetric = \"delay.sum / delay.count / delay.mean\"\nexpect = { near = 1, \
                within = 1e-9 }\n";
    let means = Call::new(&format!("{SMALL}{mean}")).set("seeds", "1").outcome();
    assert_eq!(means.claims[0].verdict.as_str(), "reproduced");
    assert!(means.runs.iter().all(|r| r.flows.iter().all(|f| !f.delay.has_buckets())), "a mean needs no buckets");
    for detail in [false, true] {
        let call = Call::new(&format!("{SMALL}{more}")).set("seeds", "1");
        let o = if detail { call.detail() } else { call }.outcome();
        let verdicts: Vec<&str> = o.claims.iter().map(|c| c.verdict.as_str()).collect();
        assert_eq!(verdicts, ["reproduced"; 5], "detail {detail}: {:#?}", o.claims);
    }
}

#[test]
fn a_setting_of_the_call_removes_a_claim_with_a_note() {
    let sweep = "[sweep]\n\"flow.0.udp.rate\" = [\"1Mbps\", \"2Mbps\"]\n";
    let text = wire(
        "",
        "udp = { rate = \"1Mbps\" }",
        &format!("{sweep}{}", claim("expect = { increasing = true, along = \"flow.0.udp.rate\" }")),
    );
    let executed = Call::new(&text).set("flow.0.udp.rate", "2Mbps").execute();
    assert!(executed.outcome.claims.is_empty());
    assert!(executed.notes.len() == 1 && executed.notes[0].contains("not judged"), "{:?}", executed.notes);
}

#[test]
fn a_trimmed_mean_is_judged_with_the_resolution_of_its_histogram() {
    let text =
        "[[claim]]\nid = \"c\"\nmetric = \"delay.trim95.total\"\nexpect = { near = \"1080us\", within = \"2%\" }";
    let udp = "udp = { rate = \"1Mbps\", packet = \"1028B\" }";
    let claims = execute(&wire("seeds = \"1..2\"", udp, text)).claims;
    let [c] = claims.as_slice() else { panic!("{claims:#?}") };
    // Each packet takes 1 ms and 82 us: it is in the bucket from 1072 to 1088 us, of which 95 % count.
    let (value, ci95) = (c.measured.value.unwrap() * 1e6, c.measured.ci95.unwrap() * 1e6);
    assert_eq!(c.verdict, "reproduced", "{value}");
    assert!((value - (1072.0 + 16.0 * 0.475)).abs() < 1e-6, "{value}");
    assert!((ci95 - 16.0 * (1.0 - 0.475)).abs() < 1e-6, "{ci95}");
}
