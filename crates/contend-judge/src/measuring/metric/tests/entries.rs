//! Closed forms, estimates and observers, and the entries of metrics.

use super::*;
use contend_experiment::reading::model::models;
use contend_experiment::results::{DataSample, DataSeries, ObservedStation, ObserverSeries, Run};

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

/// `sta1` sends 10 MPDUs each half second at 100 Mb/s and MCS 3, after 10 s at 50 Mb/s and MCS 1; half of those arrive.
/// Each is for `ap`.
#[test]
fn rates_of_data_over_a_time_window() {
    let mut run = example();
    let sample = |k: u64| {
        let late = k.saturating_sub(20);
        let (early, late) = (10 * (k - late), 10 * late);
        let sent = early + late;
        DataSample {
            sent,
            acked: early + late / 2,
            kbps: 100_000 * early + 50_000 * late,
            with_mcs: sent,
            mcs: 3 * early + late,
        }
    };
    let series = || (0..=40).map(sample).collect::<DataSeries>();
    let none = || (0..=40).map(|_| DataSample::default()).collect::<DataSeries>();
    let eval = |run: &Run, text: &str| Expr::parse(text).unwrap().eval(run);
    let refused = eval(&run, "mean_rate[sta1][5s..8s]").unwrap_err().to_string();
    assert!(refused.contains("only a network with a rate control"), "{refused}");
    run.detail.series.data = vec![[none(), series()], [series(), none()], [none(), none()]];
    let is = |text: &str, want: f64| assert_eq!(eval(&run, text).unwrap(), want, "{text}");
    is("mean_rate[sta1][5s..8s]", 100e6);
    is("mean_rate[sta1][9s..11s]", 75e6);
    is("mean_rate.to[ap][12s..20s]", 50e6);
    is("mean_mcs.sta[9s..11s]", 2.0);
    is("mpdus[sta1][9s..11s]", 40.0);
    is("mpdu_loss[sta1][12s..20s]", 0.5);
    is("mpdu_attempts[sta1][12s..20s]", 2.0);
    let none = eval(&run, "mean_rate[sta2][5s..8s]").unwrap_err().to_string();
    assert!(none.contains("there is no such MPDU"), "{none}");
    assert!(Expr::parse("mean_rate[sta1][5s..8s]").unwrap().sampling().series);
    assert!(!Expr::parse("mean_rate[sta1]").unwrap().sampling().series);
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
    let contributing = include_str!("../../../../../../CONTRIBUTING.md");
    let recipe = contributing.split_once("### A metric").and_then(|(_, r)| r.split_once("```rust")).unwrap().1;
    let recipe = recipe.split_once("```").unwrap().0;
    assert!(plain(include_str!("../entries/toy.rs")).contains(&plain(recipe)), "entries/toy.rs has not\n{recipe}");
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

#[test]
fn each_use_of_a_metric_is_an_expression_of_its_own() {
    let members = [("FLOW", "web"), ("STATION", "sta1"), ("QUEUE", "sta1"), ("NAME", "idle")];
    for m in metrics() {
        let uses = m.uses();
        assert!(!uses.is_empty(), "{}", m.name);
        for (form, gives) in uses {
            let text = members.iter().fold(form.clone(), |text, (noun, member)| text.replace(noun, member));
            let window = if m.period == Period::Window && !text.ends_with(')') { "[10s..15s]" } else { "" };
            let parsed = Expr::parse_any(&format!("{text}{window}"));
            assert!(parsed.is_ok() && !gives.is_empty(), "{form}: {:?}", parsed.err());
        }
    }
}
