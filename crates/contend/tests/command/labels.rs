//! Labels of swept values in everything that a call prints and writes.

use super::{Bench, SMALL};

/// `SMALL` with two labelled queues, and a claim about them.
fn labelled() -> String {
    let sweep = r#"
[sweep]
"ap.queue" = { values = [{ kind = "fifo", limit = "50p" }, "codel"], labels = ["deep", "short"] }
[[claim]]
id     = "L"
metric = "goodput.total"
expect = { between = [0.1, 10] }
when   = { "ap.queue" = "short" }
over   = { "ap.queue" = "deep" }
"#;
    format!("{SMALL}{sweep}")
}

#[test]
fn a_label_is_the_same_everywhere() {
    let bench = Bench::with("f.toml", &labelled());
    let table = bench.contend(&["run", "f.toml"]).with(0).out;
    assert!(table.contains("deep") && table.contains("short") && !table.contains("50p"), "{table}");
    let page = bench.read("results/f/report.html");
    assert!(page.contains("ap.queue = deep") && !page.contains("fifo 50p"), "no label in the page");
    let csv = bench.read("results/f/results.csv");
    assert!(csv.contains("\ndeep,1,") && csv.contains("\nshort,2,") && !csv.contains("50p"));
    // JSON has the values, and the labels beside them.
    let o = bench.json("results/f/summary.json");
    assert_eq!(o["runs"][0]["point"]["ap.queue"]["limit"], "50p");
    assert_eq!(o["labels"]["ap.queue"][0]["label"], "deep");
    assert_eq!(o["labels"]["ap.queue"][1]["value"], "codel");
    assert_eq!(o["claims"][0]["points"][0]["metric"], "goodput.total over ap.queue = deep");
    // A comparison of folders, and of a file with a label on each side.
    let folders = bench.contend(&["compare", "results/f"]).with(0).out;
    assert!(folders.contains("f, ap.queue = deep") && folders.contains("ap.queue = short"), "{folders}");
    let sides = ["compare", "f.toml", "--a", "ap.queue=deep", "--b", "ap.queue=short", "--metric", "jain"];
    assert!(bench.contend(&sides).with(0).out.contains("ap.queue = short"));
    // The folder repeats its runs, and so does the report.
    let again = bench.contend(&["run", "results/f/run.toml", "--no-results"]).with(0).out;
    assert!(again.contains("deep") && !again.contains("50p"), "{again}");
    bench.contend(&["report", "results/f"]).with(0);
    assert!(bench.read("results/f/report.html").contains("ap.queue = deep"));
}
