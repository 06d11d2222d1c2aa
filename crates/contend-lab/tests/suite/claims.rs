//! Claims of whole files: they are read and planned, and refused if they cannot be judged.

use contend_lab::judging::claim;
use contend_lab::reading::file::{self, Experiment};
use std::path::{Path, PathBuf};

fn experiment(sample: &str, metric: &str, rest: &str) -> Experiment {
    let text = format!(
        r#"title = "t"
duration = "20s"
seeds = "1..3"
{sample}
[wifi]
standard = "802.11g"
rate = "54Mbps"
basic = "6Mbps"
[[flow]]
count = 2
from = "server"
to = "station"
tcp = "newreno"
window = "42p"
delay = "1ms"
[sweep]
"flow.0.count" = [1, 2]
[[claim]]
id = "A"
metric = "{metric}"
{rest}
"#
    );
    file::parse("t.toml", &text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)))
}

const LEAST: &str = "expect = { at_least = \"1ms\" }";

#[test]
fn a_stall_needs_a_series_and_a_window_within_the_run() {
    let metric = "stall[down.1][2s..5s]";
    assert!(claim::validate(&experiment("sample = \"10ms\"", metric, LEAST)).unwrap().series);
    let none = claim::validate(&experiment("", metric, LEAST)).unwrap_err();
    assert!(none.remedy().unwrap().contains("sample = "), "{}", none.render(false));
    let late = claim::validate(&experiment("sample = \"10ms\"", "stall[down.1][2s..25s]", LEAST)).unwrap_err();
    assert!(late.to_string().contains("20s"), "{}", late.render(false));
}

#[test]
fn figures_and_searches_are_read_too() {
    let with = |more: &str| claim::validate(&experiment("", "rtt.p95", &format!("{LEAST}\n{more}")));
    assert!(with("[[figure]]\ntitle = \"f\"\nx = \"flow.0.count\"\ny = [\"goodput.down\", \"jain.down\"]").is_ok());
    let figure =
        with("[[figure]]\ntitle = \"f\"\nx = \"flow.0.count\"\ny = [\"goodput.down\", \"jian.down\"]").unwrap_err();
    assert!(figure.remedy().unwrap().contains("jain.down"), "{}", figure.render(false));
    // An `x` that is no swept key is a metric: one number for each point.
    assert!(with("[[figure]]\nx = \"sum(goodput[down])\"\ny = \"jain.down\"\nlog = \"xy\"").is_ok());
    let wrong = |x: &str| with(&format!("[[figure]]\nx = \"{x}\"\ny = \"jain.down\"")).unwrap_err();
    assert!(wrong("goodput[down]").to_string().contains("list"), "{}", wrong("goodput[down]").render(false));
    let misspelt = wrong("tiem");
    assert!(
        misspelt.to_string().contains("`x` of the figure is neither a swept key nor a metric: `tiem`"),
        "{misspelt}"
    );
    assert!(misspelt.remedy().unwrap().starts_with("did you mean `time`? Write one of: flow.0.count"));
    // A figure over the sweep needs one number. A figure over time draws a curve for each member of a list.
    assert!(with("[[figure]]\ntitle = \"f\"\nx = \"flow.0.count\"\ny = \"goodput[down]\"").is_err());
    assert!(with("[[figure]]\ntitle = \"f\"\nx = \"time\"\ny = \"goodput[down]\"").is_ok());
    assert!(with("[[figure]]\nx = \"flow\"\ny = [\"goodput\", \"goodput[down]\"]").is_ok());
    let one = with("[[figure]]\nx = \"flow\"\ny = \"goodput.down\"").unwrap_err();
    assert!(
        one.to_string().contains("one number for each flow") && one.remedy().unwrap().contains("goodput[up]"),
        "{}",
        one.render(false)
    );
    // The figure's own values are put into the expression, and each must be valid there.
    let own = |values: &str, y: &str| with(&format!("[[figure]]\nx = \"w\"\nvalues = {values}\ny = '{y}'"));
    assert!(own("[5, 50]", "jain(successes[down], 2 * point(\"w\"))").unwrap().successes);
    assert!(own("[\"1Mbps\", \"2Mbps\"]", "count(goodput[down] < point(\"w\"))").is_ok());
    assert!(own("[5, 50]", "jain(successes[down], 9)").unwrap_err().remedy().unwrap().contains("point(\"w\")"));
    assert!(own("[0.5]", "jain(successes[down], point(\"w\"))").unwrap_err().to_string().contains("whole number"));
    assert!(with("[search]\nkey = \"flow.0.window\"\nfrom = \"1p\"\nto = \"100p\"\nuntil = \"loss[ap] > 1%\"").is_ok());
    assert!(with("[search]\nkey = \"flow.0.window\"\nfrom = \"1p\"\nto = \"100p\"\nuntil = \"loss[ap]\"").is_err());
}

#[test]
fn a_metric_without_a_time_series_is_refused_in_a_figure_over_time() {
    let over_time = |y: &str| {
        claim::validate(&experiment(
            "",
            "goodput.down",
            &format!("expect = {{ at_least = \"1bps\" }}\n[[figure]]\nx = \"time\"\ny = [{y}]"),
        ))
    };
    let error = over_time("\"cwnd.down\", \"srtt.down / rtt.p95\"").unwrap_err();
    let text = error.render(false);
    assert!(
        text.starts_with(
            "t.toml:24:32: `rtt.p95` is one number for the whole run, not a function of time\n  \
            help: use one of goodput, "
        ),
        "{text}"
    );
    assert!(over_time("\"jain.short\"").is_err() && over_time("\"drops[ap]\"").is_err());
    // Curves are drawn from the series of the results folder. Time windows need samples at their ends.
    let s = over_time("\"cwnd[down]\", \"goodput.down / goodput.down[5s..10s]\"").unwrap();
    assert!(!s.series && s.instants.len() == 2, "{s:?}");
}

#[test]
fn windows_and_seconds_are_announced() {
    let s =
        claim::validate(&experiment("", "goodput.down[5s..10s] * 1ms / goodput.down[10s..15s] * jain.short", LEAST))
            .unwrap();
    assert_eq!(s.instants.iter().map(|t| t.as_secs_f64()).collect::<Vec<_>>(), [5.0, 10.0, 15.0]);
    assert!(s.every_second && !s.series);
}

#[test]
fn the_plan_has_every_point_and_every_overlay_once() {
    let e = experiment("", "goodput.down", "over = { \"wifi.slot\" = \"20us\" }\nexpect = { at_least = 0.5 }");
    let needs = claim::needs(&e);
    assert_eq!(needs.len(), 4);
    assert!(needs[..2].iter().all(|n| n.overlay.is_empty()) && needs[2..].iter().all(|n| !n.overlay.is_empty()));
    for n in &needs {
        e.scenario(&n.point, &n.overlay).unwrap_or_else(|err| panic!("{}: {}", n.key(), err.render(false)));
    }
    // An overlay that leads to another point of the sweep needs nothing new.
    let e = experiment(
        "",
        "goodput.down",
        "when = { \"flow.0.count\" = 2 }\nover = { \"flow.0.count\" = 1 }\nexpect = { at_least = 0.5 }",
    );
    assert_eq!(claim::needs(&e).len(), 2);
}

#[test]
fn the_claims_of_every_file_of_the_repository_can_be_judged() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut waiting, mut files) = (vec![root.join("experiments"), root.join("papers")], Vec::<PathBuf>::new());
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.path() {
                p if p.is_dir() => waiting.push(p),
                p if p.extension().is_some_and(|x| x == "toml") => files.push(p),
                _ => {}
            }
        }
    }
    assert!(files.len() >= 5);
    for f in files {
        let e = file::load(&f, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        claim::validate(&e).unwrap_or_else(|e| panic!("{}", e.render(false)));
    }
}

#[test]
fn a_percentile_and_a_unit_that_do_not_fit_are_named() {
    let wrong = |metric: &str, rest: &str| claim::validate(&experiment("", metric, rest)).unwrap_err().render(false);
    for metric in ["delay.p999[down]", "delay.p999.down", "delay.p999"] {
        let wrong = wrong(metric, LEAST);
        assert!(wrong.contains("`delay` has the percentiles p01 to p99") && wrong.contains("delay.p95"), "{wrong}");
    }
    for metric in ["delay.trim49[down]", "delay.trim100"] {
        let wrong = wrong(metric, LEAST);
        assert!(wrong.contains("delay.trim95"), "{metric}: {wrong}");
    }
    let wrong = wrong("delay.p95", "expect = { at_most = \"30Mbps\" }");
    assert!(wrong.contains("help: the unit does not fit: write a duration, with a unit like s"), "{wrong}");
}
