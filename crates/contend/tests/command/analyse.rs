//! `contend analyse`: verdicts on captures of simulated runs, and refused captures.

use super::Bench;

/// A saturated station alone.
const CARD: &str = r#"duration = "21s"
warmup = "1s"
seeds = "1"
[wifi]
standard = "802.11b"
rate = "11Mbps"
basic = ["1Mbps", "2Mbps"]
[[station]]
name = "card"
access = "dcf"
[[flow]]
from = "card"
to = "server"
udp = { rate = "8Mbps", packet = "1052B" }
"#;

/// A second one with short packets.
const SECOND: &str = "[[station]]\nname = \"ef\"\n[[flow]]\nfrom = \"ef\"\nto = \"server\"\nudp = { rate = \"2Mbps\", \
    packet = \"92B\" }\n";

fn run(bench: &Bench, set: &[&str]) {
    bench.contend(&[&["run", "card.toml", "--quiet", "--capture", "1s..21s"], set].concat()).with(0);
}

#[test]
fn a_simulated_run_has_the_fingerprint_of_its_access_rule() {
    let bench = Bench::with("card.toml", CARD);
    run(&bench, &[]);
    let o = bench.contend(&["analyse", "fingerprint", "results/card", "--format", "json"]).with(0).object();
    assert_eq!(
        (o["schema"].as_str(), o["verdict"].as_str(), o["name"].as_str()),
        (Some("contend/fingerprint/1"), Some("conformant"), Some("card")),
        "{o}"
    );
    // By hand: DIFS 50, 192 + 792 us of frame, SIFS 10, 248 us of ACK.
    assert_eq!((o["first_us"].as_f64(), o["exchange_us"].as_f64()), (Some(1292.0), Some(1292.0)));
    assert_eq!(o["slots"].as_array().unwrap().len(), 32);
    for extra in
        [&["--rate", "11Mbps"][..], &["--station", "card"], &["--station", "02:00:00:00:00:01"], &["--first", "1292us"]]
    {
        let ended = bench.contend(&[&["analyse", "fingerprint", "results/card/air.pcapng"], extra].concat()).with(0);
        assert!(ended.out.contains("conformant: 32 slots") && ended.out.contains("1292 us"), "{}", ended.out);
    }
    let csv = bench.contend(&["analyse", "fingerprint", "results/card", "--format", "csv"]).with(0).out;
    assert!(csv.starts_with("slot,from_us,count,share\n0,1292,") && csv.lines().count() == 33, "{csv}");
    run(&bench, &["--set", "station.0.access={ kind = \"dcf\", cwmin = 15 }"]);
    let both = bench.contend(&["analyse", "fingerprint", "results/card", "results/card.1"]).with(0).out;
    assert!(both.contains("another CWmin: 16 slots") && both.contains("conformant"), "{both}");
    run(&bench, &["--set", "flow.0.udp.rate=256kbps"]);
    let slow = bench.contend(&["analyse", "fingerprint", "results/card", "--slots", "16"]).with(0).out;
    assert!(slow.contains("too few frames") || slow.contains("constrained source"), "{slow}");
}

#[test]
fn the_shares_of_two_stations_are_counted_while_both_are_backlogged() {
    let bench = Bench::with("card.toml", &format!("{CARD}{SECOND}"));
    run(&bench, &[]);
    let call = |extra: &[&str]| {
        bench.contend(&[&["analyse", "access", "results/card", "--interval", "5s"], extra].concat()).with(0)
    };
    let o = call(&["--format", "json", "--stations", "card,ef"]).object();
    let of = |k: usize, what: &str| o["stations"][k][what].as_f64().unwrap();
    assert_eq!((o["schema"].as_str(), o["stations"][0]["name"].as_str()), (Some("contend/access/1"), Some("card")));
    // Both are saturated all the time, and neither gets 5 % more attempts than its half.
    assert!(o["both_backlogged_s"].as_f64().unwrap() > 0.9 * o["span_s"].as_f64().unwrap(), "{o}");
    let share = of(0, "attempts_both") / (of(0, "attempts_both") + of(1, "attempts_both"));
    assert!((share - 0.5).abs() < 0.025, "{share}");
    assert!(call(&[]).out.contains("binomial"));
    assert_eq!(call(&["--format", "csv"]).out.lines().count(), 1 + 4);
    let one = bench.contend(&["analyse", "fingerprint", "results/card"]).with(0).out;
    assert!(one.contains("too few frames: others send"), "{one}");
}

#[test]
fn a_file_that_is_not_a_capture_is_refused_with_one_message() {
    let bench = Bench::with("card.toml", CARD);
    run(&bench, &[]);
    let whole = std::fs::read(bench.path("results/card/air.pcapng")).unwrap();
    bench.file("cut.pcapng", &whole[..whole.len() - 7]);
    bench.file("empty.pcap", "");
    std::fs::create_dir(bench.path("folder")).unwrap();
    let refused = |args: &[&str], texts: &[&str]| {
        let ended = bench.contend(&[&["analyse"], args].concat()).with(2).says(texts);
        assert!(ended.out.is_empty() && !ended.err.contains("panicked"), "{}{}", ended.out, ended.err);
    };
    refused(&["fingerprint", "cut.pcapng"], &["cut.pcapng: ", "truncated", "help: "]);
    refused(&["fingerprint", "empty.pcap"], &["empty", "help: "]);
    refused(&["fingerprint", "card.toml"], &["not a capture", "help: "]);
    refused(&["fingerprint", "nothing.pcap"], &["nothing.pcap cannot be read", "help: "]);
    refused(&["fingerprint", "folder"], &["no air.pcapng", "--capture"]);
    refused(&["fingerprint", "results/card", "cut.pcapng"], &["cut.pcapng: ", "truncated"]);
    refused(&["fingerprint", "results/card", "--station", "crad"], &["`crad`", "card [02:00:00:00:00:01]"]);
    refused(&["fingerprint", "results/card", "--standard", "802.11z"], &["802.11z", "802.11b"]);
    refused(&["fingerprint", "results/card", "--rate", "10Mbps"], &["10Mbps", "11Mbps"]);
    refused(&["fingerprint", "results/card", "--slot", "20"], &["--slot 20", "20us"]);
    refused(&["fingerprint", "results/card", "--slot", "0us"], &["--slot 0us"]);
    refused(&["fingerprint", "results/card", "--alpha", "2"], &["0.001"]);
    refused(&["fingerprint", "results/card", "cut.pcapng", "--format", "csv"], &["one file"]);
    refused(&["access", "results/card"], &["1 station sends", "help: "]);
    refused(&["access", "results/card", "--stations", "card"], &["one station", "two"]);
    refused(&["access", "results/card", "--stations", "card,card"], &["twice"]);
    refused(&["access", "results/card", "--interval", "1"], &["--interval 1"]);
}
