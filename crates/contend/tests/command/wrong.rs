//! A wrong file or a wrong call ends with exit status 2 and one message with place and remedy, and never with a panic.

use super::{Bench, Ended, SMALL};

/// Asserts exit status 2, nothing on standard output, and one message with these texts that tells what to do.
#[track_caller]
fn refused(ended: Ended, texts: &[&str]) {
    let ended = ended.with(2).says(texts);
    assert!(ended.out.is_empty(), "{}", ended.out);
    assert!(ended.err.contains("help: "), "no remedy in: {}", ended.err);
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
}

#[test]
fn a_file_that_is_none() {
    let bench = Bench::with("sub/f.toml", SMALL);
    refused(bench.contend(&["run", "nothing.toml"]), &["nothing.toml cannot be read", "contend list experiments"]);
    refused(bench.contend(&["run", "sub"]), &["sub is a folder", "it contains 1 TOML file", "sub/f.toml"]);
    std::fs::create_dir(bench.path("hollow")).unwrap();
    refused(bench.contend(&["run", "hollow"]), &["hollow is a folder", "0 TOML files", "contend list experiments"]);
    bench.file("empty.toml", "\n  \n");
    refused(bench.contend(&["run", "empty.toml"]), &["empty.toml is empty"]);
    bench.file("latin.toml", b"title = \"a\"\nnotes = \"Z\xfcrich\"\n");
    refused(bench.contend(&["run", "latin.toml"]), &["latin.toml:2: the text is not valid UTF-8", "iconv"]);
    bench.file("picture.png", [0x89, b'P', b'N', b'G', 0, 0xff]);
    refused(bench.contend(&["run", "picture.png"]), &["picture.png:1:"]);
    bench.file("nul.toml", "\0\0\0");
    refused(bench.contend(&["run", "nul.toml"]), &["nul.toml:1"]);
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_not_read_to_it() {
    refused(
        Bench::new().contend(&["run", "/dev/zero"]),
        &["/dev/zero is longer than 16 MB", "did you mean another file?"],
    );
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
    refused(bench.contend(&["run", "f.toml", "--jobs", "0"]), &["from 1 to 1024"]);
    refused(bench.contend(&["run", "f.toml", "--jobs", "100000"]), &["from 1 to 1024"]);
    refused(bench.contend(&["run", "f.toml", "--format", "xml"]), &["json"]);
    refused(bench.contend(&["run", "f.toml", "--capture", "1s"]), &["10s..10.5s"]);
    refused(bench.contend(&["run", "f.toml", "--capture", "1s..2s", "--no-results"]), &["--capture", "--no-results"]);
    refused(bench.contend(&["run", "f.toml", "--capture", "5s..6s"]), &["--capture begins at 5 s", "ends at 3 s"]);
    refused(bench.contend(&["run", "f.toml", "f.toml", "--format", "csv"]), &["--format csv", "2 files are given"]);
    refused(bench.contend(&["reproduce", "--papers", "papers"]), &["no experiment in papers", "--papers"]);
    refused(bench.contend(&["report", "."]), &["not a results folder", "run.toml"]);
    refused(bench.contend(&["completions", "tcsh"]), &["bash"]);
}

#[test]
fn an_unknown_paper_is_answered_with_the_nearest_name() {
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
fn no_file_name_leads_to_a_folder_outside_the_results() {
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
fn a_message_quotes_a_bounded_part_of_its_input() {
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
        refused(bench.contend(&["run", "f.toml"]), &[place, "a text has the control character U+00", "remove it"]);
    }
    bench.file("f.toml", SMALL);
    refused(bench.contend(&["run", "f.toml", "--set", "title=\x1b[31m"]), &["--set:1:7: ", "control character U+001B"]);
    bench.contend(&["run", "f.toml", "--set", "title=two\nlines", "--seeds", "1", "--no-results"]).with(0);
}

/// Wrong settings for a good file, each with a part of its message.
const WRONG_SETTINGS: &[(&str, &str)] = &[
    ("", "there is no `=`"),
    ("=", "is not a key path"),
    (".=1", "`.` is not a key path"),
    ("a..b=1", "`a..b` is not a key path"),
    ("wifi.slot", "there is no `=`"),
    ("wifi.slot=20", "has no unit: 20"),
    ("wifi.slot=0us", "`wifi.slot` is zero"),
    ("wifi.slot=[]", "`wifi.slot` takes one value, not a list"),
    ("wifi.standard=802.11z", "did you mean `802.11`?"),
    ("wifi.access={ kind = \"dcf\", cwmin = -1 }", "is out of range: -1"),
    ("wifi.cwmin=99999", "`wifi.cwmin` is too large"),
    ("wifi.loss={ kind = \"per\", p = nan }", "`wifi.loss.p` is not a finite number"),
    ("param.x=1", "[param] of the file has no such key"),
    ("ap.queue={ kind = \"fifo\", limit = \"1B\" }", "write limit = \"1500B\" or more"),
    ("ap.queue.limit=0p", "is out of range: 0p"),
    ("flow=1", "`flow` must be a list"),
    ("flow.0=1", "`flow.0` must be a table"),
    ("flow.9.count=1", "the list has no member `9`"),
    ("flow.0.count=1e9", "is too large: 1000000000"),
    ("flow.0.count=nan", "is not a finite number"),
    ("flow.0.count=inf", "is not a finite number"),
    ("flow.0.count=-0.5", "is negative: -0.5"),
    ("flow.0.count=1.5", "is not a whole number: 1.5"),
    ("flow.0.count=99999999999999999999999", "`flow.0.count` is too large"),
    ("flow.0.name=a/b", "`flow.0.name` cannot be \"a/b\""),
    ("flow.0.name=../x", "begins with a letter"),
    ("flow.0.name=\"a\\nb\"", "cannot be \"a\\nb\""),
    ("flow.0.delay=-1ms", "is negative: -0.001s"),
    ("flow.0.start=99s", "is too late for member 1"),
    ("flow.0.tcp={", "names an unknown TCP variant: \"{\""),
    ("flow.0.tcp.rto.min=199s", "has min 199s above max 120s"),
    ("flow.0.traffic={ kind = \"files\", gap = \"2s\" }", "has `gap` and no `count`"),
    ("duration=0s", "`duration` is zero"),
    ("duration=inf", "`duration` is not a finite number"),
    ("duration=2000000s", "write at most 1000000s"),
    ("warmup=3s", "nothing is left to measure"),
    ("sample=1ns", "makes more than 10000000 samples"),
    ("sample=9s", "write a shorter step"),
    ("seeds=-1", "`seeds` is negative: -1"),
    ("seeds=[1, 1]", "each only once"),
    ("title=3", "`title` must be a string"),
    ("claim=[{ id = \"\", metric = \"jain\", expect = { at_least = 0 } }]", "`claim.0.id` is empty"),
    ("claim=[{ id = \"a\", metric = \"jane\", expect = { at_least = 0 } }]", "did you mean `jain`"),
];

#[test]
fn every_wrong_setting_is_told_with_its_remedy() {
    let bench = Bench::with("f.toml", SMALL);
    for (setting, text) in WRONG_SETTINGS {
        // Seeds also have their own option.
        let option = if setting.starts_with("seeds=") { "--seeds" } else { "--set" };
        refused(bench.contend(&["run", "f.toml", "--set", setting]), &[option, text]);
    }
    assert!(!bench.path("results").exists());
}

/// Wrong calls, each with a part of its message.
const WRONG_CALLS: &[(&[&str], &str)] = &[
    (&["run", ""], "a value is required"),
    (&["run", "."], "it contains 3 TOML files"),
    (&["run", "f.toml/"], "f.toml/ cannot be read"),
    (&["run", "f.toml/x"], "f.toml/x cannot be read"),
    (&["run", "f.toml", "gone.toml"], "gone.toml cannot be read"),
    (&["run", "f.toml", "--out", ""], "a value is required"),
    (&["run", "f.toml", "--out", "f.toml"], "f.toml/f"),
    (&["run", "f.toml", "--seeds", ""], "`seeds` cannot be \"\""),
    (&["run", "f.toml", "--seeds", "5..1"], "is empty: \"5..1\""),
    (&["run", "f.toml", "--seeds", "1.."], "cannot be \"1..\""),
    (&["run", "f.toml", "--seeds", "1,2"], "cannot be \"1,2\""),
    (&["run", "f.toml", "--seeds", "18446744073709551616"], "`seeds` cannot be"),
    (&["run", "f.toml", "--seeds", "0..100000"], "has more than 100000 seeds"),
    (&["run", "f.toml", "--jobs", "-1"], "'-1'"),
    (&["run", "f.toml", "--jobs", "many"], "--jobs"),
    (&["run", "f.toml", "--capture", "2s..1s"], "the interval is empty"),
    (&["run", "f.toml", "--capture", ".."], "write an interval like 10s..10.5s"),
    (&["run", "f.toml", "--capture", "0s..1e99s"], "is not between 0 and 1000000s"),
    (&["run", "f.toml", "--nothing"], "--nothing"),
    (&["report", "f.toml"], "is not a results folder"),
    (&["report", "gone"], "is not a results folder"),
    (&["explain", ""], "contend list"),
    (&["explain", " "], "contend list"),
    (&["list", "nothing"], "controllers"),
    (&["new", ""], "hotspot"),
    (&["run", "hotspto"], "did you mean `hotspot`?"),
    (&["model", "bianchi", "--stations", "0"], "from 1 to 100000"),
    (&["model", "bianchi", "--stations", "1000000000"], "from 1 to 100000"),
    (&["model", "padhye", "--loss", "2"], "is not between 0 and 1"),
    (&["model", "padhye", "--loss", "nan"], "is not a number"),
    (&["analyse", "fingerprint", "f.toml"], "the file is not a capture"),
    (&["analyse", "fingerprint", "gone"], "gone cannot be read"),
    (&["reproduce", "--papers", "f.toml"], "there is no experiment in f.toml"),
    (&["reproduce", "--papers", "gone"], "there is no experiment in gone"),
    (&["reproduce", "", "--papers", "."], "no paper or experiment is called ``"),
    (&["reproduce", "p/simulated", "--papers", ".", "--emulated"], "`p/simulated` has no experiment in a folder"),
    (&["reproduce", "p/emulated/real", "--papers", "."], "add --emulated"),
    (&["run", "f.toml", "--shard", "0/4"], "3/100"),
    (&["run", "f.toml", "--shard", "5/4"], "3/100"),
    (&["merge", "gone"], "gone/run.toml cannot be read"),
    (&["merge", "f.toml", "--no-results"], "writes a results folder"),
    (&["completions", "none"], "bash"),
];

#[test]
fn every_wrong_call_has_a_message_with_a_remedy() {
    let bench = Bench::with("f.toml", SMALL);
    std::fs::create_dir_all(bench.path("p/emulated")).unwrap();
    for file in ["p/simulated.toml", "p/emulated/real.toml"] {
        std::fs::write(bench.path(file), SMALL).unwrap();
    }
    for (call, text) in WRONG_CALLS {
        refused(bench.contend(call), &[text]);
    }
    assert!(!bench.path("results").exists());
}

#[cfg(unix)]
#[test]
fn surroundings_that_are_poor_are_no_mistake() {
    if super::needs::without(&["bash"], "calls in poor surroundings") {
        return;
    }
    let bench = Bench::with("f.toml", SMALL);
    let contend = assert_cmd::cargo::cargo_bin!("contend");
    // The reader closes the pipe; there is no home folder and no usable terminal.
    let line = format!("env -i TERM=dumb {} list keys | head -1; exit ${{PIPESTATUS[0]}}", contend.display());
    let output = std::process::Command::new("bash").args(["-c", &line]).current_dir(bench.path("")).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    let run = std::process::Command::new(contend)
        .args(["run", "f.toml", "--seeds", "1"])
        .env_clear()
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn wrong_options_are_told_like_wrong_files() {
    let bench = Bench::with("f.toml", SMALL);
    let err = |call: &[&str]| bench.contend(call).with(2).err;
    assert_eq!(
        err(&["run", "f.toml", "--jobs", "x"]),
        "contend: invalid value 'x' for '--jobs <N>': write a whole number from 1 to 1024, the number of runs at the \
            same time\n  help: try '--help'.\n"
    );
    assert!(err(&["run", "f.toml", "--jobs", "0"]).contains("from 1 to 1024"));
    assert!(err(&["run", "f.toml", "--jbos", "1"]).starts_with("contend: unexpected argument '--jbos' found"));
    // The metrics of --show have their own place.
    refused(bench.contend(&["run", "f.toml", "--show", "godput.up"]), &["--show:1:", "did you mean `goodput.up`?"]);
}

#[test]
fn a_closed_form_names_its_options() {
    let bench = Bench::new();
    let err = bench.contend(&["model", "jersey", "--delay", "200ms", "--rtt", "100ms"]).with(2).err;
    assert!(err.contains("--delay is 0.2, but must be at most --rtt") && !err.contains("delay_s"), "{err}");
}
