//! `contend list`, `contend explain`, `contend reference` and what tells about the program itself.

use super::{Bench, SMALL, call, workspace};

/// The families whose names `contend explain` explains, except the many keys of a file.
const FAMILIES: [&str; 20] = [
    "controllers",
    "estimators",
    "recoveries",
    "qdiscs",
    "controls",
    "access",
    "clients",
    "traffic",
    "loss",
    "propagation",
    "mobility",
    "routing",
    "rate_controls",
    "error_models",
    "fading",
    "variants",
    "metrics",
    "functions",
    "models",
    "formats",
];

/// The names of a list in which each begins a line after two spaces.
pub(crate) fn listed_names(list: &str) -> Vec<&str> {
    list.lines()
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .collect()
}

#[test]
fn list_is_one_page_with_the_names_of_every_family() {
    let page = call(&workspace(), &["list"]).with(0).out;
    assert!(page.lines().count() <= 50, "{page}");
    for family in FAMILIES {
        assert!(page.lines().any(|l| l.starts_with(&format!("{family} "))), "{family}: {page}");
    }
    let listed: Vec<&str> = page.split([',', ' ', '\n']).collect();
    for name in ["newreno", "cubic", "fifo", "dcf", "poisson", "bernoulli", "goodput", "jersey-enh", "padhye.rate"] {
        assert!(listed.contains(&name), "{name}: {page}");
    }
    for more in ["contend list qdiscs", "contend explain fq_codel", "contend new"] {
        assert!(page.contains(more), "{more}: {page}");
    }
    let one = call(&workspace(), &["list", "qdiscs"]).with(0);
    assert!(one.out.starts_with("qdiscs\n  fifo ") && !one.out.contains("cubic"), "{}", one.out);
    call(&workspace(), &["list", "qdisc"]).with(2).says(&["qdiscs"]);
}

#[test]
fn list_experiments_shows_the_files_of_this_folder_or_else_the_examples() {
    let files = call(&workspace(), &["list", "experiments"]).with(0).out;
    let names = listed_names(&files);
    assert!(names.contains(&"experiments/hotspot.toml"), "{files}");
    assert!(names.contains(&"papers/keceli-2008/m2-uploads.toml"), "{files}");
    assert!(!files.contains("cannot be read") && !files.contains("contend new"), "{files}");
    let bench = Bench::new();
    let examples = bench.contend(&["list", "experiments"]).with(0).out;
    for text in ["hold no experiment file", "  hotspot ", "Bufferbloat: ", "contend run hotspot", "contend new hotspot"]
    {
        assert!(examples.contains(text), "no `{text}` in: {examples}");
    }
    assert!(examples.contains(bench.contend(&["new"]).with(0).out.as_str()), "{examples}");
    assert!(examples.contains("  keceli-2008/m2-uploads\n"), "{examples}");
    bench.file("experiments/mine.toml", SMALL);
    let mine = bench.contend(&["list", "experiments"]).with(0).out;
    assert!(mine.contains("experiments/mine.toml") && !mine.contains("hotspot"), "{mine}");
}

#[test]
fn every_listed_name_can_be_explained_within_100_columns() {
    let mut seen = 0;
    for family in FAMILIES {
        let listed = call(&workspace(), &["list", family]).with(0).out;
        for name in listed_names(&listed) {
            let ended = call(&workspace(), &["explain", name]).with(0);
            assert!(ended.out.contains(&format!("{name} (")) && ended.out.contains("Use: "), "{}", ended.out);
            assert!(ended.out.lines().all(|l| l.chars().count() <= 100), "{}", ended.out);
            seen += 1;
        }
    }
    assert!(seen > 120, "{seen} names");
}

#[test]
fn explain_tells_source_parameters_units_and_defaults() {
    let ended = call(&workspace(), &["explain", "cubic"]).with(0);
    for text in ["cubic (controllers)", "RFC 9438", "beta_1024", "default 717", "1 .. 1023", "[[flow]]"] {
        assert!(ended.out.contains(text), "no `{text}` in: {}", ended.out);
    }
    // A name may be written with hyphens.
    assert_eq!(
        call(&workspace(), &["explain", "idle-sense"]).with(0).out,
        call(&workspace(), &["explain", "idle_sense"]).with(0).out
    );
    // A name of two families is explained in both.
    let both = call(&workspace(), &["explain", "reno"]).with(0);
    assert!(both.out.contains("reno (controllers)") && both.out.contains("reno (recoveries)"));
    let metric = call(&workspace(), &["explain", "goodput"]).with(0);
    assert!(
        metric.out.contains("goodput (metrics)") && metric.out.contains("bps") && metric.out.contains("goodput[up]"),
        "{}",
        metric.out
    );
}

#[test]
fn names_as_papers_and_users_write_them_lead_somewhere() {
    for (asked, says) in [
        ("TCP-Jersey", "jersey (controllers)"),
        ("tcp vegas", "vegas (controllers)"),
        ("minstrel", "contend explain minstrel_ht"),
        ("video call", "contend explain flow.udp"),
        ("rtt", "rtt.p95 may be below delay.p95"),
        ("collision_probability", "corrupted at the receiver"),
    ] {
        let out = call(&workspace(), &["explain", asked]).with(0).out.replace('`', "");
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains(says), "{asked}: {out}");
    }
}

#[test]
fn functions_are_explained_from_their_table() {
    let share = call(&workspace(), &["explain", "share"]).with(0).out;
    for text in ["share (functions)", "share(goodput[up.1] >= 10Mbps, 5s)", "the length of a section", "a plain number"]
    {
        assert!(share.contains(text), "no `{text}` in: {share}");
    }
    // A metric, a function of numbers and a function of successes have this name.
    let jain = call(&workspace(), &["explain", "jain"]).with(0).out;
    for text in ["jain (metrics)", "jain(list), jain(x, y, ...)", "jain(successes[up], 100)"] {
        assert!(jain.contains(text), "no `{text}` in: {jain}");
    }
    call(&workspace(), &["explain", "quantiel"]).with(2).says(&["did you mean `quantile`?"]);
}

#[test]
fn models_are_listed_and_explained_as_calculators_and_as_values_of_expressions() {
    let listed = call(&workspace(), &["list", "models"]).with(0).out;
    assert!(listed.starts_with("models\n  bianchi ") && !listed.contains("goodput"), "{listed}");
    for name in [
        "cycle-time",
        "fcwa",
        "buffer",
        "jersey",
        "padhye",
        "aiad",
        "gaiad",
        "padhye.rate",
        "jersey.gain",
        "bianchi.throughput",
    ] {
        assert!(listed.lines().any(|l| l.split_whitespace().next() == Some(name)), "{name}: {listed}");
    }
    let explain = |name: &str, texts: &[&str]| {
        let out = call(&workspace(), &["explain", name]).with(0).out;
        texts.iter().for_each(|t| assert!(out.contains(t), "no `{t}` in: {out}"));
    };
    explain(
        "padhye",
        &[
            "padhye (models)",
            "Source: Padhye 1998",
            "contend model padhye",
            "--timeout",
            "T0, length of the first timeout",
            "default 1s",
        ],
    );
    let use_of = "model(\"padhye.rate\", p = ..., rtt = ..., t0 = ...) in expressions";
    explain(
        "padhye.rate",
        &[
            "padhye.rate (models)",
            "eq. 30",
            use_of,
            "0.000000001 .. 1000000 s, written like \"50ms\", must be given",
            "0 .. 1000000000 p, written like \"20p\", default 0p",
            "contend model padhye.rate",
        ],
    );
    explain("bianchi.service_time", &["Bianchi 2000", "Value:  a duration (s)", "default 1023"]);
    // A name of two families.
    explain("jersey", &["jersey (controllers)", "jersey (models)", "eqs. 8.21-8.29"]);
    explain("fcwa", &["fcwa (controls)", "fcwa (models)", "--buffer", "default 100p"]);
    call(&workspace(), &["explain", "padye.rate"]).with(2).says(&["did you mean `padhye.rate`?"]);
    call(&workspace(), &["list", "model"]).with(2).says(&["models"]);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    call(&workspace(), &["explain", "newrneo"])
        .with(2)
        .says(&["the name `newrneo` is unknown", "did you mean `newreno`?"]);
    call(&workspace(), &["explain", "quite something else"]).with(2).says(&["contend list"]);
}

#[test]
fn doctor_tells_about_the_machine() {
    let ended = Bench::new().contend(&["doctor"]).with(0);
    let tools = ["tshark", "ping", "ip"];
    for text in ["cores", "memory", "privileges", "overflow checks are on", "sock_diag", "contend proxy --cc"]
        .iter()
        .chain(&tools)
    {
        assert!(ended.out.contains(text), "no `{text}` in: {}", ended.out);
    }
    let json = Bench::new().contend(&["doctor", "--format", "json"]).with(0).object();
    let checks = json["checks"].as_array().unwrap();
    assert_eq!(checks.len(), ended.out.lines().count() - 1);
    let cores = checks.iter().find(|c| c["what"] == "cores").unwrap();
    assert!(cores["ok"] == true && cores["text"].as_str().unwrap().contains("--jobs"), "{cores}");
}

#[test]
fn completions_are_a_script_that_bash_reads() {
    let script = call(&workspace(), &["completions", "bash"]).with(0).out;
    assert!(script.contains("_contend"), "{script}");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(call(&workspace(), &["completions", shell]).with(0).out.contains("contend"), "{shell}");
    }
    call(&workspace(), &["completions", "tcsh"]).with(2).says(&["bash", "fish"]);
    let bench = Bench::with("contend.bash", &script);
    if !super::needs::without(&["bash"], "completions as bash reads them") {
        let output = std::process::Command::new("bash").arg("-n").arg(bench.path("contend.bash")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_shell_completes_names_keys_values_and_files() {
    let completed = |line: &[&str]| {
        let contend = assert_cmd::cargo::cargo_bin!("contend");
        let mut call = std::process::Command::new(contend);
        call.env("CONTEND_COMPLETE", "fish").args(["--", "contend"]).args(line).current_dir(workspace());
        let output = call.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|l| l.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = [
        (vec!["explain", "cub"], vec!["cubic"]),
        (vec!["explain", "ap.q"], vec!["ap.queue"]),
        (vec!["explain", "padhye.r"], vec!["padhye.rate"]),
        (vec!["run", "experiments/hots"], vec!["experiments/hotspot.toml"]),
        (vec!["run", "hots"], vec!["hotspot"]),
        (vec!["run", "hotspot", "--set", "flow.0.wi"], vec!["flow.0.window="]),
        (vec!["run", "hotspot", "--set", "ap.queue=fq_c"], vec!["ap.queue=fq_codel"]),
        (
            vec!["run", "hotspot", "--set", "flow.3.tcp=westwood"],
            vec!["flow.3.tcp=westwood", "flow.3.tcp=westwood-nr", "flow.3.tcp=westwood+"],
        ),
        (vec!["run", "hotspot", "--sweep", "ap.queue=fifo,red"], vec!["ap.queue=fifo,red"]),
        (vec!["run", "hotspot", "--show", "jain,goodp"], vec!["jain,goodput"]),
        (vec!["compare", "hotspot", "--a", "wifi.busy_slot=c"], vec!["wifi.busy_slot=counted"]),
        (vec!["new", "hots"], vec!["hotspot"]),
        (vec!["list", "qd"], vec!["qdiscs"]),
    ];
    for (line, expected) in all {
        assert_eq!(completed(&line), expected, "{line:?}");
    }
}

#[test]
fn help_teaches_with_examples_and_exit_statuses() {
    let all = call(&workspace(), &["--help"]).with(0).out;
    assert!(all.contains("Exit status: 0 done; 1 a claim") && all.contains("130"), "{all}");
    for command in ["run", "new", "reproduce", "list", "explain", "reference", "model", "report", "completions"] {
        let help = call(&workspace(), &[command, "--help"]).with(0).out;
        assert!(help.contains("Examples:") && help.contains(&format!("contend {command}")), "{help}");
        assert!(help.lines().all(|l| l.chars().count() <= 100), "{help}");
    }
    call(&workspace(), &["--version"]).with(0);
    // Without a subcommand, the help is printed with the status of an error, so that a script notices it.
    assert!(call(&workspace(), &[]).with(2).err.contains("contend run hotspot"));
}

#[test]
fn notices_name_the_libraries_inside() {
    let out = call(&workspace(), &["notices"]).with(0).out;
    assert!(out.contains("MIT licence or the Apache License 2.0") && out.contains("\nclap ") && out.contains("rayon "));
}

#[test]
fn every_word_of_a_file_can_be_explained() {
    let explain = |name: &str, texts: &[&str]| {
        let out = call(&workspace(), &["explain", name]).with(0).out;
        texts.iter().for_each(|t| assert!(out.contains(t), "no `{t}` in: {out}"));
    };
    explain(
        "westwood+",
        &["westwood+ (variants)", "Controller westwood, filter = \"plus\", recovery newreno.", "tcp = \"westwood+\""],
    );
    explain("tahoe", &["tahoe (recoveries)", "tahoe (variants)"]);
    explain("802.11g", &["802.11g (values)", "a value of wifi.standard"]);
    explain("[param]", &["param (keys)"]);
    explain("be", &["be (values)", "Best effort"]);
    explain("latch", &["RFC 3168", "a value of flow.tcp.echo"]);
    explain("estimate", &["flow.estimate (keys)", "in [[flow]], or --set flow.0.estimate=..."]);
    explain(
        "flow.0.window",
        &["flow.window (keys)", "Value:   packets or bytes", "Default: 3 MiB", "Example: window = \"42p\""],
    );
    explain("[[flow]]", &["[[flow]] (tables)", "    window           Receiver's window"]);
    explain("ap.queue.limit", &["ap.queue.limit (parameters)", "of fifo (qdiscs): "]);
    call(&workspace(), &["explain", "flow.windwo"]).with(2).says(&["did you mean `flow.window`?"]);
    explain("limit", &["limit (parameters)", "of fifo (qdiscs): ", "of codel (qdiscs): "]);
    explain("plus", &["a value of `filter` of westwood (controllers)"]);
    explain("t0", &["of padhye.rate (models)"]);
    let keys = call(&workspace(), &["list", "keys"]).with(0).out;
    let names = listed_names(&keys);
    assert!(names.len() > 110 && names.contains(&"flow.tcp.rto.min"), "{keys}");
    for name in names.into_iter().filter(|name| name.contains('.')).step_by(10) {
        explain(name, &[&format!("{name} (keys)")]);
    }
}

#[test]
fn the_pages_of_the_reference_are_those_of_the_program() {
    let bench = Bench::new();
    bench.contend(&["reference", "here/too"]).with(0).out.contains("README.md");
    let docs = workspace().join("docs/reference");
    let names = |folder: &std::path::Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        entries.collect::<std::collections::BTreeSet<_>>()
    };
    let here = bench.path("here/too");
    if std::env::var_os("CONTEND_BLESS").is_some() {
        names(&docs).iter().for_each(|name| std::fs::remove_file(docs.join(name)).unwrap());
        for name in names(&here) {
            std::fs::copy(here.join(&name), docs.join(&name)).unwrap();
        }
    }
    assert_eq!(names(&docs), names(&here));
    for name in names(&here) {
        let [old, new] = [&docs, &here].map(|folder| std::fs::read_to_string(folder.join(&name)).unwrap());
        let different = old.lines().zip(new.lines()).find(|(old, new)| old != new);
        assert!(old == new, "docs/reference/{name} is old: run the tests with CONTEND_BLESS=1\n{different:?}");
    }
    // A folder that cannot be made.
    bench.file("taken", "");
    bench.contend(&["reference", "taken"]).with(2).says(&["taken cannot be written", "a folder that you may write to"]);
}
