//! `contend list`, `contend explain` and `contend model`.

use super::{Bench, SMALL, call, workspace};
use serde_json::Value;

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
fn listed_names(list: &str) -> Vec<&str> {
    list.lines()
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .collect()
}

#[test]
fn list_is_one_page_with_the_names_of_every_family() {
    let page = call(&workspace(), &["list"]).with(0).out;
    assert!(page.lines().count() <= 60, "{page}");
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
    assert!(examples.ends_with(bench.contend(&["new"]).with(0).out.as_str()), "{examples}");
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

fn rows(args: &[&str]) -> Vec<Value> {
    let o = call(&workspace(), args).with(0).object();
    assert_eq!(o["schema"], "contend/model/1");
    o["rows"].as_array().unwrap().clone()
}

#[test]
fn bianchi_as_json_has_a_row_for_each_number_of_stations() {
    let rows = rows(&["model", "bianchi", "--json", "--stations", "1,2..4,10"]);
    let of = |key: &str| rows.iter().map(|r| r[key].as_f64().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("stations"), [1.0, 2.0, 3.0, 4.0, 10.0]);
    let p = of("collision_probability");
    assert!(p[0] == 0.0 && p.windows(2).all(|w| w[0] < w[1]), "{p:?}");
    // One station alone: 1500 B in 342 us and 7.5 slots of 9 us on average.
    assert!((of("throughput_bps")[0] / (12_000.0 / (342.0 + 7.5 * 9.0) * 1e6) - 1.0).abs() < 1e-3);
    assert!(rows.iter().all(|r| ["tau", "drop_probability", "service_us"].iter().all(|k| r[k].is_number())));
    let table = call(&workspace(), &["model", "bianchi"]).with(0).out;
    assert!(table.lines().all(|l| l.chars().count() <= 110) && table.contains("collision p"), "{table}");
}

#[test]
fn the_cycle_times_are_those_of_the_three_parameter_sets() {
    // Keceli, Inan, Ayanoglu 2008, spec S2.3: slot and CWmin, then DATA-DATA, DATA-ACK and ACK-ACK in us.
    let sets: [(&[&str], [f64; 3]); 3] = [
        (&["--set", "slot=20us"], [961.70, 745.70, 504.46]),
        (&["--set", "slot=9us"], [809.99, 593.99, 352.75]),
        (&["--set", "slot=20us", "--set", "cwmin=31"], [1100.62, 884.62, 655.56]),
    ];
    for (set, expected) in sets {
        let rows = rows(&[&["model", "cycle-time", "--json"], set].concat());
        let m2 = &rows[0];
        let ours = ["data_data_us", "data_ack_us", "ack_ack_us"].map(|k| m2[k].as_f64().unwrap());
        for (ours, theirs) in ours.iter().zip(expected) {
            assert!((ours / theirs - 1.0).abs() < 0.01, "{set:?}: {ours} against {theirs}");
        }
    }
}

#[test]
fn windows_and_buffers_are_those_of_the_paper() {
    // Keceli, Inan, Ayanoglu 2008, spec 2T and S6: LD 50 ms, 20 us slots.
    let of = |args: &[&str], key: &str| {
        rows(&[&["model"], args, &["--json", "--set", "slot=20us"]].concat())
            .iter()
            .map(|r| r[key].as_f64().unwrap())
            .collect::<Vec<_>>()
    };
    let near = |got: Vec<f64>, want: &[f64], by: f64| {
        assert!(got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() <= by), "{got:?} {want:?}")
    };
    near(of(&["fcwa", "--up", "5,10,15"], "window_packets"), &[23.52, 11.76, 7.84], 0.0051);
    near(
        of(&["fcwa", "--up", "5,10,15", "--down", "5", "--ack", "2"], "window_packets"),
        &[29.70, 22.38, 18.01],
        0.0051,
    );
    near(of(&["fcwa", "--up", "7", "--down", "7"], "fixed_window_packets"), &[7.0], 0.0);
    near(of(&["buffer", "--up", "1,5,10"], "buffer_packets"), &[-51.0, 285.0, 705.0], 0.51);
    assert_eq!(of(&["buffer", "--up", "1..2"], "buffer_whole_packets")[0], 1.0);
    for model in ["fcwa", "buffer"] {
        let table = call(&workspace(), &["model", model]).with(0).out;
        assert!(table.lines().count() > 15 && table.lines().all(|l| l.chars().count() <= 110), "{table}");
        let bad = |args: &[&str]| call(&workspace(), &[&["model", model], args].concat()).with(2);
        bad(&["--up", "1..3", "--down", "1,2"]).says(&["--up has 3 numbers, but --down has 2", "the same length"]);
        bad(&["--up", "0"]).says(&["at least one flow"]);
        bad(&["--delay", "50"]).says(&["50ms"]);
        bad(&["--ack", "0"]).says(&["1..=1000"]);
    }
    call(&workspace(), &["model", "fcwa", "--buffer", "100"]).with(2).says(&["100p"]);
}

#[test]
fn the_models_of_jersey_are_those_of_its_specification() {
    let of = |args: &[&str], key: &str| {
        rows(&[&["model"], args, &["--format", "json"]].concat()).iter().map(|r| r[key].clone()).collect::<Vec<_>>()
    };
    let near = |got: Vec<Value>, want: &[f64], by: f64| {
        let got: Vec<f64> = got.iter().map(|x| x.as_f64().unwrap()).collect();
        assert!(got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() <= by), "{got:?} {want:?}");
    };
    // Jersey 2005, spec section 8.
    let path: &[&str] = &["jersey", "--wireless", "1%", "--accuracy", "50%,0.9,1"];
    near(of(path, "reno_gain"), &[0.4108, 2.0439, 9.1005], 5.1e-5);
    near(of(path, "jersey_gain"), &[0.4110, 2.0445, 9.1026], 5.1e-5);
    near(
        of(
            &[
                "jersey",
                "--wireless",
                "0",
                "--congestion",
                "1%",
                "--accuracy",
                "1",
                "--rtt",
                "100ms",
                "--delay",
                "95ms",
            ],
            "jersey_pps",
        ),
        &[407.91],
        0.0051,
    );
    let path: &[&str] = &[
        "padhye",
        "--loss",
        "0.5%,1%,5%,10%,0.1%",
        "--rtt",
        "96.2ms",
        "--timeout",
        "300ms",
        "--ack",
        "2",
        "--window",
        "20p",
    ];
    near(of(path, "rate_bps"), &[984e3, 673e3, 234e3, 118e3, 1663e3], 510.0);
    // If only the excess rate is lost, a single source oscillates with the queue of a path.
    assert_eq!(of(&["aiad", "--sources", "1,200"], "settles"), [false, true]);
    assert_eq!(of(&["gaiad", "--sources", "10,50"], "simulated_unequal_delays"), [true, false]);
    assert_eq!(of(&["gaiad", "--sources", "10,50"], "settles"), [true, false]);
    for model in ["jersey", "padhye", "aiad", "gaiad"] {
        let table = call(&workspace(), &["model", model]).with(0).out;
        assert!(table.lines().count() > 7 && table.lines().all(|l| l.chars().count() <= 110), "{table}");
    }
    let bad = |args: &[&str], says: &[&str]| {
        call(&workspace(), &[&["model"], args].concat()).with(2).says(says);
    };
    bad(&["jersey", "--wireless", "2"], &["between 0 and 1"]);
    bad(&["jersey", "--delay", "60ms"], &["--delay is 0.06, but must be at most --rtt"]);
    bad(&["jersey", "--rtt", "50"], &["50ms"]);
    bad(&["padhye", "--loss", "few"], &["few", "0.1%,1%"]);
    bad(&["padhye", "--loss", "0"], &["--loss is out of range: 0", "write a value from 0.000000000001 to 1"]);
    bad(&["aiad", "--capacity", "2Mbps"], &["a rate", "number"]);
    bad(&["gaiad", "--beta", "1.5"], &["--beta is out of range: 1.5", "write a value from 0.000001 to 1"]);
    bad(&["gaiad", "--sources", "101"], &["--sources is out of range: 101", "write a whole number from 1 to 100"]);
}

#[test]
fn the_models_of_starzetz_are_those_of_its_specification() {
    let of = |args: &[&str], key: &str| {
        rows(&[&["model"], args, &["--json"]].concat()).iter().map(|r| r[key].clone()).collect::<Vec<_>>()
    };
    let near = |got: Vec<Value>, want: &[f64], by: f64| {
        let got: Vec<f64> = got.iter().map(|x| x.as_f64().unwrap()).collect();
        assert!(got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() <= by), "{got:?} {want:?}");
    };
    // Two stations collide once in C cycles; four slots in proportion 7, 5, 3, 1 are HASH1's, 84/256.
    near(of(&["hash", "--stations", "2", "--slots", "4,32"], "collision_probability"), &[0.25, 0.03125], 1e-12);
    near(of(&["hash", "--stations", "2", "--weights", "7,5,3,1"], "collision_probability"), &[0.328125], 1e-12);
    near(
        of(&["hash", "--stations", "2", "--dist", "hash1", "--cw", "4", "--corrupted", "50%"], "observed_probability"),
        &[0.6640625],
        1e-12,
    );
    // Starzetz 2006, spec E11 to E14 and S5.
    let measured: &[&str] = &[
        "hash",
        "--stations",
        "5,10",
        "--collisions",
        "9.7%,16.3%",
        "--success-wait",
        "3.50,2.16",
        "--collision-wait",
        "3.89,2.23",
    ];
    near(of(measured, "window_slots"), &[25.06, 29.2], 0.2);
    assert_eq!(of(measured, "standing"), ["better", "mixed"]);
    near(
        of(&["hash", "--stations", "15", "--dist", "hash1", "--collisions", "0.07404"], "window_slots"),
        &[191.0],
        0.1,
    );
    // Spec S4, T = 4.
    let density: &[&str] =
        &["backoff-cost", "--stations", "2", "--slots", "4000", "--cost", "4", "--form", "density", "--points", "6"];
    near(of(density, "continuous_density"), &[1.1979, 1.0988, 1.0187, 0.9544, 0.9035, 0.8638], 5.1e-5);
    near(of(density, "density"), &[1.1979, 1.0988, 1.0187, 0.9544, 0.9035, 0.8638], 2e-4);
    near(
        of(&["backoff-cost", "--stations", "2", "--slots", "7", "--form", "collisions"], "least"),
        &[1.0 / 7.0],
        1e-12,
    );
    assert!(of(&["backoff-cost", "--per-success"], "least")[0].as_f64() > of(&["backoff-cost"], "least")[0].as_f64());
    for model in ["hash", "backoff-cost"] {
        let table = call(&workspace(), &["model", model]).with(0).out;
        assert!(table.lines().count() > 7 && table.lines().all(|l| l.chars().count() <= 110), "{table}");
    }
    let bad = |args: &[&str], says: &[&str]| {
        call(&workspace(), &[&["model"], args].concat()).with(2).says(says);
    };
    bad(&["hash", "--slots", "0"], &["slots", "from 1 to"]);
    bad(&["hash", "--stations", "1", "--collisions", "3%"], &["--stations is out of range: 1", "from 2"]);
    bad(&["hash", "--stations", "2..4", "--collisions", "3%,4%"], &["--collisions has 2 values, but --stations has 3"]);
    bad(&["hash", "--collisions", "3%", "--success-wait", "4"], &["--collision-wait"]);
    bad(&["hash", "--collisions", "0"], &["collision", "at least"]);
    bad(&["hash", "--weights", "1,-1"], &["weight", "not below 0"]);
    bad(&["backoff-cost", "--cost", "0"], &["--cost is out of range: 0", "write a value from 0.000001"]);
    bad(&["backoff-cost", "--slots", "1", "--per-success"], &["enough for successes"]);
}

#[test]
fn every_closed_form_is_a_calculator() {
    // Jersey 2005, spec section 8: 14.071 packets at 1 %.
    let of = |args: &[&str]| rows(&[&["model"], args, &["--json"]].concat());
    let windows = of(&["padhye.square_root_window", "--p", "1%,0.5"]);
    assert!((windows[0]["value"].as_f64().unwrap() - 14.071).abs() < 1e-3, "{windows:?}");
    assert_eq!(windows[1]["p"], 0.5);
    // The last parameter changes from row to row; both calculators agree.
    let grid = of(&["hash.collision", "--n", "2..3", "--slots", "4,32"]);
    let table = of(&["hash", "--stations", "2..3", "--slots", "4,32"]);
    assert_eq!(grid.iter().map(|r| r["slots"].as_f64().unwrap()).collect::<Vec<_>>(), [4.0, 32.0, 4.0, 32.0]);
    assert_eq!(
        [&grid[0]["value"], &grid[1]["value"]],
        [&table[0]["collision_probability"], &table[2]["collision_probability"]]
    );
    let out = call(&workspace(), &["model", "hash.collision", "--n", "2..3", "--slots", "32"]).with(0).out;
    let head =
        "hash.collision: share of cycles of n stations in a table of slots that end in a collision\nslots 32, ramp 0\n";
    assert!(out.starts_with(head) && out.contains("           2      0.0312500\n"), "{out}");
    let csv = call(
        &workspace(),
        &["model", "cycle_time.pair", "--slot", "20us", "--ts_x", "364us", "--ts_y", "364us,148us", "--format", "csv"],
    );
    assert_eq!(csv.with(0).out.lines().count(), 3);
    let listed = call(&workspace(), &["list", "models"]).with(0).out;
    let names = listed_names(&listed);
    assert!(names.len() > 70, "{listed}");
    for name in names {
        let help = call(&workspace(), &["model", name, "--help"]).with(0).out;
        assert!(help.contains("Usage: contend model") && help.lines().all(|l| l.chars().count() <= 100), "{help}");
    }
}

#[test]
fn a_closed_form_refuses_arguments_outside_their_ranges() {
    let bad = |args: &[&str], says: &[&str]| {
        call(&workspace(), &[&["model"], args].concat()).with(2).says(says);
    };
    bad(&["padhye.rate", "--p", "1%"], &["--rtt", "--t0"]);
    bad(&["hash.window", "--n", "1", "--collision", "3%"], &["--n", "is out of range: 1; write a whole number from 2"]);
    bad(&["hash.window", "--n", "2.5", "--collision", "3%"], &["--n", "is not a whole number: 2.5"]);
    bad(
        &["hash.window", "--n", "2", "--collision", "2"],
        &["--collision", "is out of range: 2; write a value from 0 to 1"],
    );
    bad(&["hash.window", "--n", "2", "--collision", "3ms"], &["must be a plain number, but 0.003s is a duration"]);
    bad(&["hash.window", "--n", "2", "--collision", "few"], &["`few` is not a number"]);
    bad(&["hash.windwo", "--n", "2"], &["hash.windwo", "hash.window"]);
    bad(&["hash.collision", "--n", "1..1000", "--slots", "1..1000"], &["1000000 rows"]);
}

#[test]
fn the_models_of_barreto_are_those_of_its_specification() {
    let of = |args: &[&str]| rows(&[&["model"], args, &["--json"]].concat());
    let near = |row: &Value, key: &str, want: f64, by: f64| {
        assert!((row[key].as_f64().unwrap() - want).abs() <= by, "{key}: {row} {want}");
    };
    let link = &of(&["rt-winf", "--packet", "1500", "--rate", "11Mbps"])[0];
    for (key, mbps) in [
        ("capacity_sender_bps", 7.44),
        ("capacity_receiver_bps", 7.49),
        ("capacity_probe_bps", 7.39),
        ("capacity_cycle_bps", 4.51),
        ("limit_bps", 4.55),
        ("limit_three_sifs_bps", 4.51),
        ("available_cts_bps", 2.87),
        ("available_rts_bps", 2.00),
    ] {
        near(link, key, mbps * 1e6, 5_500.0);
    }
    near(link, "overhead", 0.150, 5e-4);
    // ns-2 2.35: 2 Mb/s, 1500 B, 7 hops; the next hop adds 6692.667 us.
    let ns2 = ["--overhead", "34", "--propagation", "667ns", "--link-layer", "25us"];
    let chain = of(&[&["hops", "--packet", "1500", "--rate", "2Mbps"], &ns2[..]].concat());
    assert_eq!(chain.len(), 8);
    near(&chain[0], "delay_us", 6_428.667, 0.01);
    near(&chain[7], "delay_us", 6_428.667 + 7.0 * 6_692.667, 0.01);
}

/// Høiland-Jørgensen et al. 2017, Table 1, rows that the model computes, in Mb/s.
#[test]
fn the_model_of_aggregates_gives_the_table_of_its_paper() {
    let table = |aggregates: &str| rows(&["model", "ampdu", "--aggregate", aggregates, "--json"]);
    let mbps = |rows: &[Value], key: &str| -> Vec<f64> {
        rows.iter().map(|r| (r[key].as_f64().unwrap() / 1e5).round() / 10.0).collect()
    };
    let (fifo, fair) = (table("4.47,5.08,1.89"), table("18.44,18.52,1.89"));
    assert_eq!(mbps(&fifo, "base_bps"), [97.3, 101.1, 6.5]);
    assert_eq!(mbps(&fair, "base_bps"), [126.7, 126.8, 6.5]);
    let shares: Vec<f64> = fifo.iter().map(|r| (r["fifo_share"].as_f64().unwrap() * 100.0).round()).collect();
    assert_eq!(shares, [10.0, 11.0, 79.0]);
    assert_eq!(mbps(&fair, "fair_bps"), [42.2, 42.3, 2.2]);
    let one = call(&workspace(), &["model", "ampdu", "--rate", "1Mbps,2Mbps", "--aggregate", "1,2,3"]).with(2);
    one.says(&["--rate has 2 values, but --aggregate has 3", "one value for all stations"]);
}

/// By hand: 80 MHz, two streams, MCS 9: 13066 bits a symbol of 13.6 us; 524296 bits are 41 symbols after 50.4 us.
#[test]
fn the_duration_of_a_ppdu_is_that_of_the_standard() {
    let of = |args: &[&str]| rows(&[&["model", "ppdu", "--json"], args].concat());
    let wide = ["--standard", "802.11ax", "--band", "5GHz", "--width", "80MHz", "--streams", "2", "--mcs", "9"];
    let one = of(&[&wide[..], &["--guard", "800ns", "--psdu", "65535B"]].concat());
    let [row] = one.as_slice() else { panic!("{one:?}") };
    let number = |key: &str| row[key].as_u64().unwrap();
    assert_eq!([number("preamble_ns"), number("symbols"), number("duration_ns")], [50_400, 41, 50_400 + 41 * 13_600]);
    assert_eq!(number("rate_bps"), 960_735_294);
    let many = of(&["--standard", "802.11ac", "--mcs", "8..9", "--width", "20,40MHz", "--psdu", "82B,1500..1502"]);
    assert_eq!(many.len(), 3 * 4, "20 MHz has no MCS 9");
    let bad = |args: &[&str], says: &[&str]| {
        call(&workspace(), &[&["model", "ppdu"], args].concat()).with(2).says(says);
    };
    bad(&["--standard", "802.11ac", "--mcs", "9"], &["--mcs is 9, which 802.11ac does not have", "write --mcs 8"]);
    bad(&["--standard", "802.11g"], &["no standard with MCS called `802.11g`", "802.11n, 802.11ac"]);
    bad(&["--standard", "802.11ac", "--band", "2.4GHz"], &["802.11ac does not work at 2.4GHz", "5GHz"]);
    bad(&["--standard", "802.11be", "--width", "320MHz"], &["--width is 320 MHz", "write --width 160MHz"]);
    bad(&["--psdu", "0B"], &["0B is not from 1 to"]);
}

#[test]
fn every_model_prints_csv() {
    for model in [
        "bianchi",
        "cycle-time",
        "fcwa",
        "buffer",
        "jersey",
        "padhye",
        "aiad",
        "gaiad",
        "hash",
        "backoff-cost",
        "rt-winf",
        "hops",
        "ppdu",
        "ampdu",
    ] {
        let out = call(&workspace(), &["model", model, "--format", "csv"]).with(0).out;
        let width = out.lines().next().unwrap().split(',').count();
        assert!(width > 2 && out.lines().count() > 2, "{out}");
        // Fields with commas are quoted. Only the forms of the cycle time have commas.
        assert!(model == "cycle-time" || out.lines().all(|l| l.split(',').count() == width), "{out}");
    }
    let out =
        call(&workspace(), &["model", "hash", "--stations", "1,2", "--slots", "2", "--format", "csv"]).with(0).out;
    let names = "collision_probability,collision_wait_slots,collisions_over_successes,dist,observed_probability,slots,\
        stations,success_wait_slots";
    assert_eq!(out, format!("{names}\n0.0,,0.0,uniform,0.0,2,1,0.5\n0.5,0.5,1.0,uniform,0.5,2,2,0.0\n"));
}

#[test]
fn a_model_refuses_wrong_options_with_a_message() {
    let model = |args: &[&str]| call(&workspace(), &[&["model", "bianchi"], args].concat()).with(2);
    model(&["--stations", "0"]).says(&["from 1 to 100000"]);
    model(&["--stations", "5..1"]).says(&["empty", "1..10"]);
    model(&["--stations", "few"]).says(&["few", "1..10"]);
    model(&["--standard", "802.11z"]).says(&["802.11z", "802.11g"]);
    model(&["--standard", "802.11b", "--rate", "54Mbps"]).says(&["802.11b has no rate of 54Mbps", "5.5Mbps, 11Mbps"]);
    model(&["--rate", "54"]).says(&["54Mbps"]);
    model(&["--packet", "0"]).says(&["1..=2296"]);
    model(&["--set", "slot=20"]).says(&["20us"]);
    model(&["--set", "slto=20us"]).says(&["slto", "slot"]);
    model(&["--set", "cwmin=2000"]).says(&["cw_min"]);
    model(&["--set", "cwmax=4000000000"]).says(&["--set cwmax is out of range: 4000000000", "to 65535"]);
    model(&["--attempts", "0"]).says(&["attempts"]);
    for standard in ["802.11", "802.11b", "802.11a", "802.11g"] {
        call(&workspace(), &["model", "cycle-time", "--standard", standard]).with(0);
    }
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
        &["flow.window (keys)", "Value:   packets or bytes", "Default: \"1000p\"", "Example: window = \"42p\""],
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
