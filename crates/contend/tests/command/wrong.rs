//! What is wrong with a file or a call: exit status 2, one message, its place and its remedy; never a panic.

use super::{Bench, Ended, SMALL};

/// Asserts exit status 2, nothing on standard output, and one message with these texts that tells what to do.
#[track_caller]
fn refused(ended: Ended, texts: &[&str]) {
    let ended = ended.with(2).says(texts);
    assert!(ended.out.is_empty(), "{}", ended.out);
    assert!(ended.err.contains("help: ") || ended.err.contains("For more information"), "no remedy in: {}", ended.err);
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
}

#[test]
fn a_file_that_is_none() {
    let bench = Bench::with("sub/f.toml", SMALL);
    refused(bench.contend(&["run", "nothing.toml"]), &["nothing.toml cannot be read", "contend list experiments"]);
    refused(bench.contend(&["run", "sub"]), &["sub is a folder", "1 TOML file below it", "sub/f.toml"]);
    std::fs::create_dir(bench.path("hollow")).unwrap();
    refused(bench.contend(&["run", "hollow"]), &["hollow is a folder", "0 TOML files", "contend list experiments"]);
    bench.file("empty.toml", "\n  \n");
    refused(bench.contend(&["run", "empty.toml"]), &["empty.toml is empty"]);
    bench.file("latin.toml", b"title = \"a\"\nnotes = \"Z\xfcrich\"\n");
    refused(bench.contend(&["run", "latin.toml"]), &["latin.toml:2: the text is not UTF-8", "iconv"]);
    bench.file("picture.png", [0x89, b'P', b'N', b'G', 0, 0xff]);
    refused(bench.contend(&["run", "picture.png"]), &["picture.png:1:"]);
    bench.file("nul.toml", "\0\0\0");
    refused(bench.contend(&["run", "nul.toml"]), &["nul.toml:1"]);
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_not_read_to_it() {
    refused(Bench::new().contend(&["run", "/dev/zero"]), &["/dev/zero is longer than 16 MB"]);
}

#[test]
fn a_mistake_in_the_file_is_shown_with_line_and_column() {
    let cases = [
        ("duration = \"3s\"", "duration = \"3\"", "f.toml:3:", "unit"),
        ("rate     =", "raet     =", "f.toml:10:", "rate"),
        ("delay  = \"5ms\"", "delay  = \"-5ms\"", "f.toml:21:", "delay"),
        ("limit = \"100p\"", "limit = \"100kg\"", "f.toml:14:", "limit"),
        ("count  = 2", "count  = 2000000", "f.toml:17:", "count"),
        ("warmup   = \"1s\"", "warmup   = \"9s\"", "f.toml:4:", "warmup"),
        ("[ap]", "[ap", "f.toml:13:", ""),
    ];
    let bench = Bench::new();
    for (good, bad, place, word) in cases {
        bench.file("f.toml", SMALL.replacen(good, bad, 1));
        let ended = bench.contend(&["run", "f.toml"]).with(2).says(&[place, word]);
        assert!(ended.out.is_empty() && !bench.path("results").exists(), "{bad}");
    }
}

#[test]
fn a_figure_that_cannot_be_drawn_is_refused_before_any_file_runs() {
    let bench = Bench::with("good.toml", SMALL);
    bench.file("f.toml", format!("{SMALL}[[figure]]\nx = \"time\"\ny = \"rtt.p95\"\n"));
    refused(bench.contend(&["run", "good.toml", "f.toml"]), &["f.toml:33:6:", "`rtt.p95`", "srtt"]);
    bench.file(
        "f.toml",
        format!(
            "{SMALL}[sweep]\n\"flow.0.count\" = [1, 2]\n[[figure]]\nx = \"time\"\ny = \"jain\"\nby = \"flow.0.cuont\"\n"
        ),
    );
    refused(bench.contend(&["run", "good.toml", "f.toml"]), &["f.toml:36:6:", "did you mean `flow.0.count`?"]);
    assert!(!bench.path("results").exists());
}

#[test]
fn a_setting_that_does_not_fit() {
    let bench = Bench::with("f.toml", SMALL);
    let set = |setting: &str| bench.contend(&["run", "f.toml", "--set", setting]);
    refused(set("wifi.slto=20us"), &["--set", "wifi.slto", "slot"]);
    refused(set("wifi.slot"), &["--set wifi.slot: there is no `=`"]);
    refused(set("wifi.slot=20"), &["wifi.slot", "unit"]);
    refused(set("=3"), &["--set"]);
    refused(set("flow.7.count=3"), &["flow.7"]);
    refused(set("flow.0.count=-1"), &["count"]);
    refused(bench.contend(&["run", "f.toml", "--seeds", "5..1"]), &["seeds"]);
    refused(bench.contend(&["run", "f.toml", "--seeds", "all"]), &["seeds", "1..5"]);
}

#[test]
fn a_call_that_does_not_fit() {
    let bench = Bench::with("f.toml", SMALL);
    refused(bench.contend(&["run"]), &["FILE"]);
    refused(bench.contend(&["rune", "f.toml"]), &["rune", "run"]);
    refused(bench.contend(&["run", "f.toml", "--jobs", "0"]), &["1..=1024"]);
    refused(bench.contend(&["run", "f.toml", "--jobs", "100000"]), &["1..=1024"]);
    refused(bench.contend(&["run", "f.toml", "--format", "xml"]), &["json"]);
    refused(bench.contend(&["run", "f.toml", "--capture", "1s"]), &["10s..10.5s"]);
    refused(bench.contend(&["run", "f.toml", "--capture", "1s..2s", "--no-results"]), &["--capture", "--no-results"]);
    refused(bench.contend(&["run", "f.toml", "--capture", "5s..6s"]), &["--capture begins at 5 s", "ends at 3 s"]);
    refused(bench.contend(&["run", "f.toml", "f.toml", "--format", "csv"]), &["--format csv", "2 are given"]);
    refused(bench.contend(&["reproduce"]), &["no papers in papers", "--papers"]);
    refused(bench.contend(&["report", "."]), &["no results folder", "run.toml"]);
    refused(bench.contend(&["completions", "tcsh"]), &["bash"]);
}

#[test]
fn a_paper_that_there_is_not_is_answered_with_the_nearest() {
    let bench = Bench::with("papers/smith-2001/a.toml", SMALL);
    refused(bench.contend(&["reproduce", "smith-2010"]), &["smith-2010", "did you mean `smith-2001`"]);
    refused(bench.contend(&["reproduce", "smith-2001/b"]), &["did you mean `smith-2001/a`"]);
    refused(bench.contend(&["reproduce", "--format", "csv"]), &["--format json"]);
}

#[test]
fn a_place_that_cannot_be_written() {
    let bench = Bench::with("f.toml", SMALL);
    bench.file("taken", "a file");
    let ended = bench.contend(&["run", "f.toml", "--out", "taken/inside"]).with(2).says(&["taken/inside", "--out"]);
    assert!(!ended.err.contains("panicked"));
    if std::path::Path::new("/dev/full").exists() {
        let contend = assert_cmd::cargo::cargo_bin!("contend");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(contend).args(["model", "bianchi"]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_sweep_beyond_the_bounds_is_refused_before_it_starts() {
    let bench = Bench::with("f.toml", SMALL);
    let ended = bench.contend(&["run", "f.toml", "--seeds", "1..100000", "--set", "flow.0.count=200"]);
    refused(ended, &["100000 runs", "GB", "split the sweep"]);
}

#[cfg(unix)]
#[test]
fn a_folder_is_searched_up_to_a_bound() {
    let bench = Bench::new();
    refused(
        bench.contend(&["run", "/"]),
        &["/ is a folder", "holds more than 10000", "give the path of an experiment"],
    );
    refused(bench.contend(&["reproduce", "--papers", "/"]), &["/ holds more than 10000", "--papers"]);
}

#[test]
fn the_name_of_a_file_does_not_lead_out_of_the_results() {
    let bench = Bench::new();
    for name in ["...toml", "..toml"] {
        bench.file(&format!("sub/{name}"), SMALL);
        bench.file(&format!("papers/smith-2001/{name}"), SMALL);
        let remedy = "rename the file";
        refused(bench.contend(&["run", &format!("sub/{name}"), "--out", "deep/down"]), &[name, remedy]);
        refused(bench.contend(&["reproduce", "--out", "deep/down"]), &[name, remedy]);
        assert!(!bench.path("deep").exists());
        std::fs::remove_file(bench.path(&format!("papers/smith-2001/{name}"))).unwrap();
    }
    bench.contend(&["run", "sub/...toml", "--no-results"]).with(2);
}

#[test]
fn a_message_repeats_a_bounded_part_of_what_it_is_about() {
    let bench = Bench::new();
    let long = "x".repeat(7_000_000);
    bench.file("value.toml", SMALL.replacen("newreno", &long, 1));
    bench.file("key.toml", format!("{long} = 1\n{SMALL}"));
    bench.file("papers/smith-2001/a.toml", SMALL);
    let mut calls: Vec<Vec<&str>> = ["value.toml", "key.toml"].map(|f| vec!["run", f]).into();
    let word = &long[..100_000];
    bench.file("f.toml", SMALL);
    let setting = format!("flow.0.tcp={word}");
    calls.extend([
        vec!["run", word],
        vec!["run", "f.toml", "--set", word],
        vec!["run", "f.toml", "--set", &setting],
        vec!["run", "f.toml", "--seeds", word],
        vec!["run", "f.toml", "--format", word],
        vec!["explain", word],
        vec!["reproduce", word],
        vec!["report", word],
        vec![word],
    ]);
    for call in calls {
        let ended = bench.contend(&call).with(2);
        assert!(ended.out.is_empty() && ended.err.len() < 4000, "{} bytes", ended.err.len());
        assert!(ended.err.contains("characters left out"), "{}", ended.err);
    }
}

#[test]
fn nothing_in_a_message_is_obeyed_by_a_terminal() {
    let bench = Bench::with("f.toml", SMALL);
    bench.file("papers/smith-2001/a.toml", SMALL);
    let red = "\x1b[31mred\u{9b}2J";
    for call in [
        vec!["run", red],
        vec!["run", "f.toml", "--format", red],
        vec!["explain", red],
        vec!["reproduce", red],
        vec!["report", red],
        vec![red],
    ] {
        let ended = bench.contend(&call).with(2).says(&["red\\u009b2J"]);
        assert!(!ended.err.contains(|c: char| c.is_control() && c != '\n'), "{:?}", ended.err);
    }
}

#[test]
fn a_text_that_a_terminal_would_obey_is_refused() {
    let bench = Bench::new();
    for (file, place) in [
        (SMALL.replacen("title    = \"", "title    = \"\\u001b[31m", 1), "f.toml:1:12: "),
        (format!("{SMALL}\n[[claim]]\nid = \"a\"\npaper = \"\\u009b2J\"\nmetric = \"jain\"\n"), "f.toml:34:9: "),
        (format!("{SMALL}\n[param]\n\"a\\u0007\" = 1\n"), "f.toml:33:1: "),
    ] {
        bench.file("f.toml", file);
        refused(bench.contend(&["run", "f.toml"]), &[place, "a text has the control character U+00", "leave it out"]);
    }
    bench.file("f.toml", SMALL);
    refused(bench.contend(&["run", "f.toml", "--set", "title=\x1b[31m"]), &["--set:1:7: ", "control character U+001B"]);
    bench.contend(&["run", "f.toml", "--set", "title=two\nlines", "--seeds", "1", "--no-results"]).with(0);
}
