//! `contend model`.

use super::catalogue::listed_names;
use super::{call, workspace};
use serde_json::Value;

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
fn prague_shares_a_coupled_queue_as_the_specification_says() {
    // Spec L5: q_C 15 ms, q_L 0.5 ms, k 2; against Reno and CUBIC, without and with a target of 25 ms.
    let of = |target: &str, key: &str| {
        rows(&["model", "l4s", "--json", "--rtt", "10ms,20ms,80ms", "--marks", "10%", "--target", target])
            .iter()
            .map(|r| (r[key].as_f64().unwrap() * 100.0).round() / 100.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("0s", "to_reno"), [1.95, 1.40, 0.97]);
    assert_eq!(of("0s", "to_cubic"), [1.42, 1.02, 0.70]);
    assert_eq!(of("25ms", "to_reno"), [0.82, 1.15, 0.97]);
    assert_eq!(of("25ms", "to_cubic"), [0.60, 0.83, 0.70]);
    // W = 2 (1 - p) / p at 25 ms and above, and R / T of it below.
    assert_eq!(of("25ms", "window_even_packets"), [7.2, 14.4, 18.0]);
    assert_eq!(of("25ms", "to_first"), [1.0, 1.0, 0.31]);
    let table = call(&workspace(), &["model", "l4s"]).with(0).out;
    assert!(table.lines().count() == 19 && table.lines().all(|l| l.chars().count() <= 110), "{table}");
    call(&workspace(), &["model", "l4s", "--marks", "0"]).with(2).says(&["--marks", "out of range"]);
    call(&workspace(), &["model", "l4s", "--rtt", "10"]).with(2).says(&["--rtt"]);
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
        "l4s",
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
    model(&["--standard", "802.11ax"]).says(&["802.11ax has aggregates", "contend model ppdu", "bianchi.throughput"]);
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
