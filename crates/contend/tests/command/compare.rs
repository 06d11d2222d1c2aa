//! `contend compare`: pairs, differences, folders and files, errors.

use super::{Bench, SMALL};

/// The numbers of a comparison in JSON: metric, pairs, difference.
fn numbers(o: &serde_json::Value) -> Vec<(String, u64, f64)> {
    let one = |d: &serde_json::Value| {
        (d["metric"].as_str().unwrap().to_owned(), d["n"].as_u64().unwrap(), d["difference"].as_f64().unwrap())
    };
    o["differences"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_file_and_its_results_give_the_same_differences_as_the_runs_themselves() {
    let bench = Bench::with("f.toml", SMALL);
    let json = |args: &[&str]| {
        let o = bench.contend(&[&["compare"], args, &["--format", "json"]].concat()).with(0).object();
        assert_eq!(o["schema"], "contend/compare/2");
        numbers(&o)
    };
    let metrics = ["--metric", "goodput.up, jain"];
    let files = json(&[&["f.toml", "--b", "flow.1.count=2", "--seeds", "1..3"], &metrics[..]].concat());
    assert_eq!(files.iter().map(|(m, n, _)| (m.as_str(), *n)).collect::<Vec<_>>(), [("goodput.up", 3), ("jain", 3)]);
    for (out, set) in [("one", "flow.1.count=1"), ("two", "flow.1.count=2")] {
        bench.contend(&["run", "f.toml", "--seeds", "1..3", "--set", set, "--out", out]).with(0);
    }
    assert_eq!(json(&[&["one/f", "two/f"], &metrics[..]].concat()), files);
    // By hand: the mean of the differences by seed.
    let of = |folder: &str| {
        let o: serde_json::Value =
            serde_json::from_slice(&std::fs::read(bench.path(folder).join("summary.json")).unwrap()).unwrap();
        o["runs"].as_array().unwrap().iter().map(|r| r["metrics"]["jain"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    let (one, two) = (of("one/f"), of("two/f"));
    let mean = one.iter().zip(&two).map(|(a, b)| b - a).sum::<f64>() / 3.0;
    assert!((files[1].2 - mean).abs() < 1e-12, "{} {mean}", files[1].2);
}

#[test]
fn the_points_of_a_sweep_are_compared_with_the_first() {
    let bench = Bench::with("f.toml", &format!("{SMALL}\n[sweep]\n\"flow.1.count\" = [1, 2, 3]\n"));
    let ended = bench.contend(&["compare", "f.toml", "--metric", "goodput.up"]).with(0);
    for text in ["A f.toml, flow.1.count = 1", "flow.1.count = 2", "flow.1.count = 3", "B - A", " ± ", "n = 2 pairs"] {
        assert!(ended.out.contains(text), "no `{text}` in: {}", ended.out);
    }
    assert!(!bench.path("results").exists(), "a comparison writes no results");
}

/// Over a lossy link most of the deviation is how much was lost by chance; without losses there is nothing to remove.
#[test]
fn control_variates_shorten_the_intervals_over_lossy_links() {
    let bench = Bench::new();
    let args = ["compare", "lossy-last-hop", "--seeds", "1..12", "--set", "link.1.loss.p=1%", "--set", "duration=60s"];
    let more = ["--metric", "goodput.total", "--format", "json"];
    let of = |extra: &[&str]| -> Vec<serde_json::Value> {
        let ended = bench.contend(&[&args[..], &more, extra].concat()).with(0);
        let c: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        c["differences"].as_array().unwrap().clone()
    };
    let (plain, controlled) = (of(&[]), of(&["--control"]));
    assert_eq!((plain.len(), controlled.len()), (3, 3));
    for (plain, controlled) in plain.iter().zip(&controlled) {
        let number = |d: &serde_json::Value, name: &str| d[name].as_f64().unwrap();
        assert!(plain.get("worth").is_none() && number(controlled, "worth") > 1.1, "{controlled}");
        let both = number(plain, "ci95") + number(controlled, "ci95");
        assert!((number(plain, "difference") - number(controlled, "difference")).abs() < both, "{plain} {controlled}");
    }
    let ended = bench.contend(&[&args[..], &["--control"]].concat()).with(0);
    assert!(ended.out.contains("times as many seeds"), "{}", ended.out);
    let clean = ["compare", "hotspot", "--b", "ap.queue=codel", "--seeds", "1..3", "--control"];
    assert!(bench.contend(&clean).with(0).err.contains("--control changes nothing"));
}

#[test]
fn the_page_has_a_row_for_each_difference_and_the_numbers_of_the_table() {
    let bench = Bench::with("f.toml", &format!("{SMALL}\n[sweep]\n\"flow.1.count\" = [1, 2, 3]\n"));
    let page = |args: &[&str]| {
        bench.contend(&[&["compare", "f.toml", "--html", "page.html"], args].concat()).with(0);
        std::fs::read_to_string(bench.path("page.html")).unwrap()
    };
    let count = |page: &str| ["dot", "err"].map(|class| page.matches(&format!("class=\"{class}\"")).count());
    let points = page(&["--metric", "goodput.up, jain"]);
    assert!(points.contains("<h3>goodput.up, B − A</h3>") && points.contains("<h3>jain, B − A</h3>"));
    assert_eq!(count(&points), [4, 4], "two points beside the first, two metrics");
    assert!(points.contains("2 pairs of runs with the same seed") && points.contains("default-src 'none'"));
    // With one point and one seed: shares of A, without intervals.
    let one =
        page(&["--set", "flow.1.count=1", "--b", "ap.queue=codel", "--seeds", "1", "--metric", "goodput.up, jain"]);
    assert!(one.contains("as a share of A") && one.contains("one pair: no interval"));
    assert_eq!(count(&one), [2, 0]);
    assert!(bench.path("page.1.html").is_file(), "the earlier page is kept");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_remedy() {
    let bench = Bench::with("f.toml", SMALL);
    bench.file("g.toml", format!("{SMALL}\n[sweep]\n\"flow.1.count\" = [1, 2]\n"));
    bench.contend(&["run", "f.toml", "--seeds", "1"]).with(0);
    let refused = |args: &[&str], texts: &[&str]| {
        bench.contend(&[&["compare"], args].concat()).with(2).says(texts);
    };
    refused(&["f.toml"], &["nothing to compare it with", "--b ap.queue=fq_codel"]);
    refused(&["f.toml", "g.toml"], &["no sweep point in common", "[sweep]"]);
    refused(&["f.toml", "nothing.toml"], &["nothing.toml", "cannot be read"]);
    refused(&["results/f", "--b", "flow.1.count=2"], &["is a results folder", "results/f/run.toml"]);
    refused(&["f.toml", "f.toml", "--seeds", "1", "--metric", "goodput[nobody]"], &["nobody", "help: "]);
    refused(&["f.toml", "--b", "flow.1.cuont=2"], &["cuont", "count"]);
}
