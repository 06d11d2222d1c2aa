//! `contend page`: the file that it writes, and wrong calls. What the page does in a browser: ci/page.py.

use super::{Bench, FAILS, SMALL};
use serde_json::Value;

/// What the host of a page has from the beginning.
fn data(page: &str) -> Value {
    let text = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_page_has_the_file_its_report_and_the_digest_of_run() {
    let hostile = SMALL.replacen("\"Three", "\"</script><script>x</script> Three", 1);
    let bench = Bench::with("f.toml", &format!("{hostile}{FAILS}"));
    bench.contend(&["page", "f.toml", "--seeds", "2..3"]).with(0).says(&["f.html", "MB"]);
    let page = bench.read("f.html");
    assert!(!bench.path("results").exists());
    let all = data(&page);
    let one = &all["experiments"][0];
    assert_eq!((all["experiments"].as_array().unwrap().len(), &one["name"]), (1, &"f.toml".into()));
    assert!(one["text"].as_str().unwrap().contains("</script><script>x") && !page.contains("<script>x"));
    let options = ["--seeds", "2..3", "--no-results", "--no-claims", "--format", "json", "--quiet"];
    let run = bench.contend(&[&["run", "f.toml"], &options[..]].concat()).with(0).out;
    let run: Value = serde_json::from_str(&run).unwrap();
    let made = &one["made"];
    assert_eq!((&made["digest"], &made["runs"]), (&run["runs"][0]["digest"], &2.into()));
    // Claims are not judged: they are about the values of the file.
    assert!(made["html"].as_str().unwrap().contains("<svg") && !made["html"].as_str().unwrap().contains("a gigabit"));
    // Nothing is loaded, and only what is in the page may run.
    let policy = page.split_once("Content-Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
    assert!(policy.starts_with("default-src 'none'") && policy.contains("worker-src blob:"), "{policy}");
    assert_eq!((policy.matches("'unsafe-inline'").count(), policy.matches("'unsafe-eval'").count()), (0, 0));
}

#[test]
fn a_page_has_the_files_that_its_experiment_names() {
    let follows = "duration = \"300ms\"\nseeds = \"1\"\ntitle = \"t\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
        [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = { trace = \"t/down.csv\" }\nreverse = { rate = \"10Mbps\" }\n\
        [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n";
    let bench = Bench::with("in/f.toml", follows);
    bench.file("in/t/down.csv", "time,rate\n0,10Mbps\n0.1,5Mbps\n");
    bench.contend(&["page", "in/f.toml", "-o", "p.html"]).with(0);
    let files = data(&bench.read("p.html"))["experiments"][0]["files"].clone();
    assert_eq!(files, serde_json::json!({ "in/t/down.csv": "time,rate\n0,10Mbps\n0.1,5Mbps\n" }));
}

#[test]
fn without_a_file_the_page_has_all_examples() {
    let bench = Bench::new();
    bench.contend(&["page", "-o", "play.html", "--quiet"]).with(0);
    let all = data(&bench.read("play.html"))["experiments"].as_array().unwrap().clone();
    let listed = bench.contend(&["new"]).with(0).out;
    let missing = |e: &&Value| !listed.contains(e["name"].as_str().unwrap());
    assert!(all.len() > 20 && all.iter().find(missing).is_none(), "{listed}");
    assert!(all.iter().all(|e| e["sets"] == serde_json::json!([["seeds", "1"]]) && e["title"] != ""));
    // The first one has its report, so that the page shows something at once.
    assert!(all[0]["made"].is_object() && all[1]["made"].is_null());
}

#[test]
fn a_wrong_call_writes_no_page() {
    let bench = Bench::with("f.toml", SMALL);
    bench.file("wrong.toml", "title = 5\n");
    bench.file("d/x", "");
    for (call, told) in [
        (vec!["page", "wrong.toml"], "wrong.toml:1:9"),
        (vec!["page", "nothing.toml"], "there is no such file"),
        (vec!["page", "f.toml", "-o", "d"], "d is a folder"),
        (vec!["page", "f.toml", "-o", "d/x/p.html"], "-o PATH"),
        (vec!["page", "f.toml", "--set", "flow.0.cuont=1"], "did you mean `count`"),
        (vec!["page", "--set", "flow.0.count=1"], "FILE"),
    ] {
        bench.contend(&call).with(2).says(&[told]);
    }
    assert!(
        !bench.path("wrong.html").exists() && !bench.path("f.html").exists() && !bench.path("contend.html").exists()
    );
}
