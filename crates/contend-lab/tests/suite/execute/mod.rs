//! Whole experiments, from the file's text to runs, statistics and verdicts.

mod ack_filter;
mod alpha;
mod attempts;
mod cake;
mod claims;
mod defaults;
mod lab;
mod more_seeds;
mod phase;
mod think;
mod unfinished;
mod video;
mod window_limit;

use crate::contributing;
use contend_lab::execute::{self, Options};
use contend_lab::experiment::results::Interrupted;
use contend_lab::reading::file;
use lab::{Call, SMALL, digests, execute, mean, wire};
use serde_json::json;
use std::sync::atomic::AtomicBool;

#[test]
fn serial_and_parallel_runs_have_the_same_digests_and_numbers() {
    let sweep = "\n[sweep]\n\"flow.1.count\" = [0, 1, 3]\n";
    let text = format!("{SMALL}{sweep}");
    let serial = Call::new(&text).jobs(1).outcome();
    for jobs in [2, 7] {
        let parallel = Call::new(&text).jobs(jobs).outcome();
        assert_eq!(digests(&serial), digests(&parallel), "{jobs} jobs");
        assert_eq!(json!(serial.summary), json!(parallel.summary));
    }
    let order: Vec<(u64, u64)> =
        serial.runs.iter().map(|r| (r.point["flow.1.count"].as_u64().unwrap(), r.seed)).collect();
    assert_eq!(order, [(0, 1), (0, 2), (1, 1), (1, 2), (3, 1), (3, 2)]);
}

#[test]
fn equal_seeds_give_equal_runs_and_other_seeds_other_runs() {
    let (one, two) = (execute(SMALL), execute(SMALL));
    assert_eq!(digests(&one), digests(&two));
    assert_ne!(one.runs[0].digest, one.runs[1].digest);
    let flows = |o: &contend_lab::experiment::results::Outcome| {
        json!(o.runs.iter().map(|r| (&r.flows, &r.queues, &r.air)).collect::<Vec<_>>())
    };
    assert_eq!(flows(&one), flows(&two));
}

#[test]
fn three_wires_in_a_row_carry_a_flow_the_same_in_both_directions() {
    // From b to a the wires have falling numbers: the middle one was joined to both of its neighbours.
    let links = [("h0", "r0", "5Mbps"), ("r0", "r1", "2Mbps"), ("r1", "h1", "10Mbps")]
        .map(|(from, to, rate)| {
            format!(
                "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\nqueue = {{ kind = \"fifo\", limit \
                = \"20p\" }}\n"
            )
        })
        .concat();
    let nodes = [("h0", "host"), ("r0", "router"), ("r1", "router"), ("h1", "host")]
        .map(|(name, kind)| format!("[[node]]\nname = \"{name}\"\nkind = \"{kind}\"\n"))
        .concat();
    // Falling and rising numbers carry the same flow where the rates along the path are the same.
    let mirrored = links.replace("5Mbps", "x").replace("10Mbps", "5Mbps").replace('x', "10Mbps");
    let run = |links: &str, from: &str, to: &str| {
        let flow = "tcp = \"newreno\"\nwindow = \"60p\"\n";
        let text = format!(
            "duration = \"5s\"\n{nodes}{links}[[flow]]\nname = \"f\"\nfrom = \"{from}\"\nto = \"{to}\"\n{flow}"
        );
        json!(execute(&text).runs[0].flows[0])
    };
    assert_eq!(run(&links, "h0", "h1"), run(&mirrored, "h1", "h0"));
}

#[test]
fn measuring_changes_nothing_in_a_run() {
    let plain = execute(SMALL);
    for text in [
        SMALL.replace("sample   = \"100ms\"", ""),
        SMALL.replace("100ms", "7ms"),
        SMALL.replace("warmup   = \"1s\"", "warmup = \"2.5s\""),
    ] {
        assert_eq!(digests(&plain), digests(&execute(&text)));
    }
    assert_eq!(digests(&plain), digests(&Call::new(SMALL).detail().capture("1s", "2s").outcome()));
}

#[test]
fn a_run_that_keeps_detail_has_series_and_histograms_and_one_that_does_not_has_the_same_numbers() {
    let (bare, full) = (execute(SMALL), Call::new(SMALL).detail().capture("1s", "2s").outcome());
    assert!(bare.runs.iter().all(|r| r.detail.series.time_s.is_empty()
        && r.detail.frames.is_empty()
        && r.flows.iter().all(|f| !f.rtt.has_buckets())));
    assert!(full.runs.iter().all(|r| r.detail.series.time_s.len() == 31 && r.flows.iter().all(|f| !f.rtt.is_empty())));
    assert!(
        !full.runs[0].detail.frames.is_empty() && full.runs[1].detail.frames.is_empty(),
        "frames are those of the first run"
    );
    let numbers = |o: &contend_lab::experiment::results::Outcome| {
        json!(o.runs.iter().map(|r| (&r.flows, &r.queues)).collect::<Vec<_>>())
    };
    assert_eq!(numbers(&bare), numbers(&full));
}

#[test]
fn metrics_of_frames_leave_digests_and_captured_frames_as_they_are() {
    let asks = "\n[[claim]]\nid = \"c\"\npaper = \"p\"\nmetric = \"interarrival.first[ap]\"\nexpect = { at_least = \
        \"1us\" }\n";
    let text = format!("{SMALL}{asks}");
    let (plain, looked) = (
        Call::new(SMALL).detail().capture("1s", "2s").outcome(),
        Call::new(&text).detail().capture("1s", "2s").outcome(),
    );
    assert_eq!(digests(&plain), digests(&looked));
    let frames = |o: &contend_lab::experiment::results::Outcome| {
        o.runs
            .iter()
            .map(|r| (r.detail.frames.len(), r.detail.frames.first().map(|f| f.start), r.frames_missed))
            .collect::<Vec<_>>()
    };
    assert!(frames(&plain)[0].0 > 100);
    assert_eq!(frames(&plain), frames(&looked));
    assert!(
        looked.runs.iter().all(|r| r.metrics["interarrival.first[ap]"] > 0.0)
            && plain.runs[0].metrics.keys().all(|k| !k.starts_with("interarrival"))
    );
    // Without a results folder they are not kept.
    assert!(execute(&text).runs.iter().all(|r| r.detail.frames.is_empty() && r.frames_missed == 0));
}

/// Two downloads and two uploads through a short buffer, so that every control block has an effect.
const HIDDEN: &str = r#"
duration = "5s"
seeds    = "1..2"
[wifi]
standard = "802.11g"
rate     = "54Mbps"
basic    = "6Mbps"
[ap]
queue   = { kind = "fifo", limit = "30p" }
control = "none"
[[flow]]
count = 2
from  = "server"
to    = "station"
tcp   = { kind = "cubic", rto = { min = "200ms" } }
ack   = 2
delay = "10ms"
encrypted = false
[[flow]]
count = 2
from  = "station"
to    = "server"
tcp   = { kind = "cubic", rto = { min = "200ms" } }
ack   = 2
delay = "10ms"
encrypted = false
"#;

#[test]
fn encryption_without_added_bytes_only_disables_control_blocks() {
    let run = |encrypted: bool, control: &str| {
        let text = HIDDEN.replace("encrypted = false", if encrypted { "encrypted = true" } else { "" });
        let out = Call::new(&text).set("ap.control", control).outcome();
        out.runs.iter().map(|r| r.digest.clone()).collect::<Vec<_>>()
    };
    let plain = run(false, "none");
    assert_eq!(plain, run(true, "none"));
    for control in ["fcwa", "pilosof", "accf", "ack_thinning", "rate_limiter"] {
        assert_ne!(plain, run(false, control), "{control} does something");
        assert_eq!(plain, run(true, control), "{control} sees nothing");
    }
}

#[test]
fn encryption_takes_its_bytes_from_the_payload_and_adds_them_to_acknowledgments() {
    let run = |encrypted: &str| {
        let out = Call::new(&HIDDEN.replace("encrypted = false", encrypted)).set("flow.1.count", "0").outcome();
        out.runs.iter().map(|r| mean(r, "goodput.down")).sum::<f64>()
    };
    // 1448 B of payload in 1500 B, and 1388: 0.9586 by the data alone. Acknowledgments of 112 instead of 52 B take
    // three symbols more, 12 of about 900 us for two data.
    let ratio = run("encrypted = \"60B\"") / run("");
    assert!((0.93..0.9586).contains(&ratio), "{ratio}");
}

#[test]
fn the_successes_are_kept_if_a_claim_needs_them_and_nothing_else_changes() {
    let claim =
        |metric: &str| format!("{SMALL}\n[[claim]]\nid = \"C\"\nmetric = '{metric}'\nexpect = {{ at_least = 0 }}\n");
    let plain = execute(SMALL);
    let kept = execute(&claim("jain(successes[all], 50) + jain(successes[down], 50)"));
    assert_eq!(digests(&plain), digests(&kept));
    assert!(plain.runs.iter().all(|r| r.detail.successes.is_none()));
    for run in &kept.runs {
        let of = |text: &str| contend_lab::measuring::metric::Expr::parse_any(text).unwrap().values(run).unwrap();
        let air = run.air.as_ref().unwrap();
        // In this cell frames fail by colliding only: what did not collide was acknowledged, but for an exchange that
        // spans an end of the measured interval.
        let alone = air.frames as f64 * (1.0 - air.collision_probability);
        assert!((of("successes")[0] - alone).abs() < 1.5, "{} and {alone}", of("successes")[0]);
        assert_eq!(of("successes[all]").len(), 4);
        assert_eq!(of("successes[all]").iter().sum::<f64>(), of("successes")[0]);
        assert_eq!(of("successes[down]").iter().sum::<f64>(), of("successes[ap]")[0]);
    }
    // The two halves of the measured interval add up to the whole.
    let parts = execute(&claim("successes[ap][1s..2s] + successes[ap][2s..3s] - successes[ap]"));
    assert_eq!(parts.claims[0].measured.value, Some(0.0));
    let shares = execute(&claim("share(jain(successes[down], 20) > 0.1, 1s)"));
    assert_eq!(shares.claims[0].measured.value, Some(1.0));
}

#[test]
fn frames_that_do_not_fit_a_capture_are_counted() {
    let call = || Call::new(SMALL).set("seeds", "1").capture("1s", "2s");
    let (all, some) = (call().outcome(), call().frames(100).outcome());
    let (all, some) = (&all.runs[0], &some.runs[0]);
    assert_eq!(
        (all.frames_missed, some.detail.frames.len(), some.frames_missed),
        (0, 100, all.detail.frames.len() as u64 - 100)
    );
    assert_eq!((&json!(all)["frames_missed"], &json!(some)["frames_missed"]), (&json!(0), &json!(some.frames_missed)));
}

/// Two separate links: Poisson datagrams on one, a swept number of flows on the other.
const APART: &str = r#"duration = "10s"
seeds = "1..3"
sample = "1ms"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
from = "a"
to = "b"
rate = "infinite"
delay = "1ms"
[[node]]
name = "c"
[[node]]
name = "d"
[[link]]
from = "c"
to = "d"
rate = "10Mbps"
delay = "1ms"
loss = { kind = "bernoulli", p = "1%" }
[[flow]]
name = "telnet"
count = 2
from = "a"
to = "b"
udp = { packet = "100B" }
traffic = { kind = "poisson", rate = "100kbps" }
[[flow]]
name = "bulk"
count = 1
from = "c"
to = "d"
tcp = "newreno"
start = "uniform(0s, 1s)"
[sweep]
"flow.1.count" = [0, 1, 4]
"#;

#[test]
fn a_swept_count_leaves_the_arrivals_of_other_flows_alone() {
    let o = Call::new(APART).detail().outcome();
    // When each datagram arrived, to a millisecond, by point and seed.
    let arrivals = |point: usize, seed: usize, flow: usize| -> Vec<u64> {
        o.runs[point * 3 + seed].detail.series.flows[flow].received_bytes.clone()
    };
    for seed in 0..3 {
        for flow in 0..2 {
            assert!(arrivals(0, seed, flow).last().unwrap() > &0);
            assert_eq!(arrivals(0, seed, flow), arrivals(1, seed, flow));
            assert_eq!(arrivals(0, seed, flow), arrivals(2, seed, flow));
        }
        assert_ne!(arrivals(0, seed, 0), arrivals(0, seed, 1), "each member has a stream of its own");
    }
    assert_ne!(arrivals(0, 0, 0), arrivals(0, 1, 0), "each seed has streams of its own");
}

/// Segments that wait for a lost one when the warm-up ends are delivered after it: goodput and throughput count them
/// there.
#[test]
fn goodput_is_never_above_throughput() {
    let file = wire("seeds = \"1..20\"\nwarmup = \"500ms\"", "tcp = \"newreno\"", "");
    let lossy = "{ kind = \"bernoulli\", p = 0.02 }";
    let set = [("duration", "1s"), ("link.0.rate", "10Mbps"), ("link.0.delay", "50ms"), ("link.0.loss", lossy)];
    let o = set.iter().fold(Call::new(&file), |call, (key, value)| call.set(key, value)).outcome();
    assert!(o.runs.iter().any(|r| r.flows[0].retransmitted > 0));
    for run in &o.runs {
        let f = &run.flows[0];
        assert!(f.goodput_bps <= f.throughput_bps, "seed {}: {} {}", run.seed, f.goodput_bps, f.throughput_bps);
    }
}

#[test]
fn a_greedy_session_takes_all_and_gives_it_back() {
    let flow = "tcp = \"newreno\"\ntraffic = { kind = \"sessions\", on = \"4s\", off = \"6s\" }";
    let call = Call::new(&wire("sample = \"100ms\"", flow, "")).set("duration", "400s").set("link.0.rate", "10Mbps");
    let o = call.detail().outcome();
    let times = &o.runs[0].detail.series.time_s;
    let bytes = &o.runs[0].detail.series.flows[0].received_bytes;
    let rates = times
        .windows(2)
        .zip(bytes.windows(2))
        .map(|(t, b)| (b[1] - b[0]) as f64 * 8.0 / (t[1] - t[0]))
        .collect::<Vec<_>>();
    let (full, none) = (rates.iter().filter(|r| **r > 9.9e6).count(), rates.iter().filter(|r| **r == 0.0).count());
    // About forty sessions. In each section the flow has the whole link or nothing, except where a session begins or
    // ends. It is on for two fifths of the time (standard deviation of a tenth).
    assert!(full + none > rates.len() * 9 / 10, "{full} full, {none} silent of {}", rates.len());
    assert!((0.2..0.6).contains(&(full as f64 / rates.len() as f64)), "{full}");
}

#[test]
fn members_of_a_larger_group_draw_as_those_of_a_smaller_one() {
    let more = execute(&APART.replace("count = 2", "count = 5"));
    let sent = |o: &contend_lab::experiment::results::Outcome, run: usize, flow: usize| {
        (o.runs[run].flows[flow].name.clone(), o.runs[run].flows[flow].sent)
    };
    let few = execute(APART);
    for run in 0..9 {
        assert_eq!([sent(&few, run, 0), sent(&few, run, 1)], [sent(&more, run, 0), sent(&more, run, 1)]);
    }
}

#[test]
fn the_traffic_of_a_flow_does_not_depend_on_other_flows() {
    let text = SMALL.replacen(
        "[ap]",
        "[[flow]]\nname = \"telnet\"\ncount = 3\nfrom = \"station\"\nto = \"server\"\nudp = { packet = \"200B\" }\n\
         traffic = { kind = \"poisson\", rate = \"200kbps\" }\n[ap]",
        1,
    );
    let o = execute(&format!("{text}\n[sweep]\n\"flow.2.count\" = [0, 1, 4]\n"));
    let sent = |point: usize, seed: usize| -> Vec<u64> {
        o.runs[point * 2 + seed].flows.iter().filter(|f| f.name.starts_with("telnet")).map(|f| f.sent).collect()
    };
    for seed in 0..2 {
        assert!(sent(0, seed).iter().all(|n| *n > 100));
        assert_eq!(sent(0, seed), sent(1, seed));
        assert_eq!(sent(0, seed), sent(2, seed));
    }
}

#[test]
fn the_warm_up_is_cut_to_the_packet() {
    // 1000 B of payload every 8 ms, from 0.1 s after the beginning; a warm-up that does not fall on a packet.
    for (start, warmup) in [("0s", "0s"), ("0s", "5s"), ("100ms", "5003ms"), ("4900ms", "5s")] {
        let flow = format!("udp = {{ rate = \"1Mbps\", packet = \"1028B\" }}\nstart = \"{start}\"");
        let o = execute(&wire(&format!("warmup = \"{warmup}\""), &flow, ""));
        let f = &o.runs[0].flows[0];
        assert!((f.goodput_bps / 1e6 - 1.0).abs() < 1e-3, "start {start}, warm-up {warmup}: {} bit/s", f.goodput_bps);
        assert!((f.throughput_bps / 1.028e6 - 1.0).abs() < 1e-3);
    }
    // Events of the warm-up do not count.
    let o = execute(&wire("warmup = \"5s\"", "udp = { rate = \"1Mbps\" }\nstop = \"4s\"", ""));
    let f = &o.runs[0].flows[0];
    assert_eq!((f.goodput_bps, f.sent, f.delay_s.mean, o.runs[0].queues[0].offered), (0.0, 0, None, 0));
    let json = serde_json::to_value(f).unwrap();
    assert!(["mean", "p50", "p95", "p99"].iter().all(|p| json["rtt"][p].is_null() && json["delay"][p].is_null()));
}

#[test]
fn a_time_window_measures_its_own_time_only() {
    let flow = "udp = { packet = \"1028B\" }\ntraffic = { kind = \"cbr\", schedule = [[\"2s\", \"4s\", \"2Mbps\"], \
        [\"10s\", \"15s\", \"4Mbps\"]] }";
    let claim = |id: &str, metric: &str, expect: &str| {
        format!("[[claim]]\nid = \"{id}\"\nmetric = \"{metric}\"\nexpect = {{ {expect} }}\n")
    };
    let claims = [
        claim("inside", "goodput.total[2s..4s]", "near = \"2Mbps\", within = \"1%\""),
        claim("across", "goodput.total[3s..5s]", "near = \"1Mbps\", within = \"1%\""),
        claim("silence", "goodput.total[5s..9s]", "at_most = \"0Mbps\""),
        claim("between", "goodput.total[10.5s..14.25s]", "near = \"4Mbps\", within = \"1%\""),
        claim("ratio", "goodput.total[11s..14s] / goodput.total[2s..4s]", "near = 2, within = \"1%\""),
        // 1000 B of payload in a packet.
        claim("sent", "sent.total[2s..4s]", "near = \"500p\", within = \"1%\""),
        claim("sent in all", "sent.total[1s..16s] / sent.total", "near = 1, within = \"0.001%\""),
    ];
    let o = execute(&wire("", flow, &claims.concat()));
    assert!(o.claims.len() == 7 && o.claims.iter().all(|c| c.verdict == "reproduced"), "{:#?}", o.claims);
}

#[test]
fn an_expression_gives_each_member_its_own_value() {
    let flow = "count = 3\nudp = { rate = [\"80kbps\", \"160kbps\"], packet = \"1028B\" }\nstart = \"= 1ms*k\"";
    let text = wire("", flow, "[param]\nbase = \"10ms\"\n[sweep]\n\"param.base\" = [\"10ms\", \"30ms\"]\n");
    let o = execute(&text.replace("delay = \"1ms\"", "delay = \"= base + 2ms\""));
    let of = |run: usize| o.runs[run].flows.iter().map(|f| (f.goodput_bps / 1e3).round()).collect::<Vec<_>>();
    // A list is repeated from its beginning.
    assert_eq!((of(0), of(1)), (vec![80.0, 160.0, 80.0], vec![80.0, 160.0, 80.0]));
    // 12 ms and 32 ms of wire, 82 us to send 1028 B at 100 Mb/s.
    let delays: Vec<f64> = o.runs.iter().filter_map(|r| r.flows[0].delay_s.mean).collect();
    assert!((delays[0] - 0.01208).abs() < 150e-6 && (delays[1] - 0.03208).abs() < 300e-6, "{delays:?}");
    // In a cell every member has its own wire.
    let cell = SMALL.replacen("count  = 2", "count  = 3", 1).replacen(
        "delay  = \"5ms\"",
        "delay  = \"= 10ms + 20ms*(k-1)\"",
        1,
    );
    let o = execute(&format!("{cell}\n[sweep]\n\"flow.1.count\" = [0]\n"));
    let rtt: Vec<f64> = o.runs[0].flows.iter().filter_map(|f| f.rtt_s.p50).collect();
    assert!(rtt.windows(2).all(|w| w[1] - w[0] > 0.03 && w[1] - w[0] < 0.06), "{rtt:?}");
}

#[test]
fn a_sweep_may_go_over_lists_and_pairs() {
    let text = wire(
        "",
        "count = 2\nudp = { rate = \"80kbps\", packet = \"1028B\" }",
        "[sweep]\n\"flow.0.udp.rate\" = [[\"80kbps\", \"160kbps\"], \"240kbps\"]\n",
    );
    let o = execute(&text);
    let rates: Vec<Vec<f64>> =
        o.runs.iter().map(|r| r.flows.iter().map(|f| (f.goodput_bps / 1e3).round()).collect()).collect();
    assert_eq!(rates, [[80.0, 160.0], [240.0, 240.0]]);
    let zip = "[sweep]\n\"flow.0.count\" = [1, 2, 3]\n\"flow.0.udp.rate\" = [\"240kbps\", \"120kbps\", \"80kbps\"]\n\
        zip = [[\"flow.0.count\", \"flow.0.udp.rate\"]]\n";
    let o = execute(&wire("", "count = 2\nudp = { rate = \"80kbps\", packet = \"1028B\" }", zip));
    assert_eq!(o.runs.len(), 3);
    assert!(o.runs.iter().all(|r| (mean(r, "goodput.total") / 240e3 - 1.0).abs() < 0.01));
}

#[test]
fn a_search_finds_the_rate_at_which_a_queue_begins_to_drop() {
    // 10 Mb/s of wire carry 1000 B of payload in 1028 B of packet: 9.728 Mb/s.
    let text = wire("", "udp = { rate = \"1Mbps\", packet = \"1028B\" }", "")
        .replace("\"100Mbps\"", "\"10Mbps\"")
        .replace("limit = \"100p\"", "limit = \"5p\"");
    let search = "[search]\nkey = \"flow.0.udp.rate\"\nfrom = \"1Mbps\"\nto = \"20Mbps\"\nuntil = \"drops[w] > 0\"\n";
    let o = execute(&format!("{text}{search}"));
    assert_eq!((o.search.len(), o.search[0].key.as_str()), (1, "flow.0.udp.rate"));
    let (without, with) = (o.search[0].last_without.unwrap(), o.search[0].first_with.unwrap());
    assert!(without < with && with - without < 19e6 / 1000.0, "{without} {with}");
    assert!((with / 9.728e6 - 1.0).abs() < 0.005, "{with}");
    // The plain run is there beside it, and a point of a sweep has a threshold each.
    assert_eq!(o.runs.len(), 1);
    let two = execute(&format!("{text}{search}[sweep]\n\"link.0.rate\" = [\"5Mbps\", \"10Mbps\"]\n"));
    let found: Vec<f64> = two.search.iter().map(|s| s.first_with.unwrap()).collect();
    assert!((found[1] / found[0] - 2.0).abs() < 0.02, "{found:?}");
    let never = execute(&format!("{text}{}", search.replace("20Mbps", "2Mbps")));
    assert_eq!((never.search[0].first_with, never.search[0].last_without), (None, Some(2e6)));
}

#[test]
fn a_stop_keeps_what_is_finished_and_counts_what_is_missing() {
    let executed = Call::new(SMALL).set("seeds", "1..40").jobs(1).stop_after(3).execute();
    assert_eq!(
        (executed.outcome.runs.len(), executed.outcome.interrupted),
        (3, Some(Interrupted { finished: 3, missing: 37 }))
    );
    let whole = Call::new(SMALL).set("seeds", "1..3").outcome();
    assert_eq!(digests(&executed.outcome), digests(&whole));
    // A stop within a search: the runs before it are kept.
    let search = "[search]\nkey = \"flow.0.udp.rate\"\nfrom = \"1Mbps\"\nto = \"20Mbps\"\nuntil = \"drops[w] > 0\"\n";
    let text = wire("", "udp = { rate = \"1Mbps\" }", search);
    let executed = Call::new(&text).jobs(1).stop_after(1).execute();
    assert_eq!((executed.outcome.runs.len(), executed.outcome.search.len()), (1, 0));
    assert_eq!(executed.outcome.interrupted, Some(Interrupted { finished: 1, missing: 1 }));
}

/// A call that is stopped before its first run has been planned all the same, and a plan that does not fit is an error.
#[test]
fn what_the_claims_of_the_papers_need_fits_into_memory() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let folder = |path: &std::path::Path| std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path());
    let files = folder(&root).filter(|p| p.is_dir()).flat_map(|p| folder(&p).collect::<Vec<_>>());
    let mut planned = 0;
    for path in files.filter(|p| p.extension().is_some_and(|e| e == "toml")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let e = file::parse(&path.display().to_string(), &text, &[]).unwrap();
        let options = Options { jobs: 1, series: true, stop: &AtomicBool::new(true), ..Options::default() };
        execute::execute(&e, &options).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
        planned += 1;
    }
    assert!(planned > 80, "{planned} files");
}

#[test]
fn the_wire_used_here_is_a_good_file() {
    assert!(file::parse("t.toml", &wire("", "tcp = \"reno\"", ""), &[]).is_ok());
}

#[test]
fn the_recipe_for_an_experiment_runs_and_its_claim_holds_as_recorded() {
    let blocks = contributing::recipe("An experiment");
    let [(language, text)] = blocks.as_slice() else { panic!("{} blocks", blocks.len()) };
    assert_eq!(language, "toml");
    let o = execute(text);
    assert_eq!((o.runs.len(), o.claims.len()), (10, 1));
    assert!(o.claims[0].as_recorded, "{:?}", o.claims[0]);
}

#[test]
fn the_recipe_for_a_closed_form_shows_an_entry_of_the_table() {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = plain(include_str!("../../../../contend-experiment/src/reading/model/padhye.rs"));
    let blocks = contributing::recipe("A closed form");
    let parts: Vec<String> = blocks.iter().flat_map(|(_, code)| code.split("\n\n")).map(plain).collect();
    assert!(parts.len() == 2 && parts.iter().all(|p| table.contains(p)), "{parts:?}");
}

#[test]
fn every_recipe_with_code_has_a_test() {
    // The tests of the first four are in contend-core (vectors) and contend-sim (recipes), those of a metric and of an
    // output format are beside the tables.
    let tested = [
        "A congestion controller",
        "A queue discipline",
        "A control block",
        "An access rule",
        "An experiment",
        "A metric",
        "A closed form",
        "An output format",
    ];
    assert_eq!(contributing::recipes_with_code(), tested);
}
