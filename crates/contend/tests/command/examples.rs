//! Examples: `contend new NAME` prints one, `contend run NAME` runs one, in a folder without the repository.

use super::{Bench, SMALL, results_files, workspace};

/// Options for a short run; the flows of some examples begin at 2 s.
const SHORT: [&str; 6] = ["--set", "duration=3s", "--set", "warmup=1s", "--seeds", "1"];

#[test]
fn a_example_is_printed_as_its_file_is() {
    let bench = Bench::new();
    let mut printed = 0;
    for entry in std::fs::read_dir(workspace().join("experiments")).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "toml") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(bench.contend(&["new", name]).with(0).out, text, "{name}");
            printed += 1;
        }
    }
    let list = bench.contend(&["new"]).with(0).out;
    assert_eq!(list.lines().filter(|l| l.starts_with("  ") && !l.starts_with("   ")).count(), printed, "{list}");
    assert!(list.lines().all(|l| l.chars().count() <= 100), "{list}");
}

#[test]
fn a_example_runs_in_an_empty_folder_as_its_file_does() {
    let bench = Bench::new();
    let by_name = bench.contend(&[&["run", "hotspot", "--format", "json"], &SHORT[..]].concat()).with(0).object();
    results_files().iter().for_each(|f| assert!(bench.path("results/hotspot").join(f).exists(), "{f}"));
    bench.file("experiments/hotspot.toml", bench.contend(&["new", "hotspot"]).with(0).out);
    let path = ["run", "experiments/hotspot.toml", "--format", "json", "--no-results"];
    let by_path = bench.contend(&[&path[..], &SHORT[..]].concat()).with(0).object();
    assert_eq!((&by_name["file"], &by_path["file"]), (&"hotspot".into(), &"experiments/hotspot.toml".into()));
    assert_eq!(by_name["title"], by_path["title"]);
    assert_eq!(by_name["runs"][0]["digest"], by_path["runs"][0]["digest"]);
    // Its results can be made again.
    let again = ["run", "results/hotspot/run.toml", "--format", "json", "--no-results"];
    assert_eq!(bench.contend(&again).with(0).object()["runs"][0]["digest"], by_name["runs"][0]["digest"]);
    bench.contend(&["report", "results/hotspot"]).with(0);
}

#[test]
fn a_file_with_the_name_of_a_example_comes_first() {
    let bench = Bench::with("hotspot", SMALL);
    let title = |bench: &Bench| {
        let call = ["run", "hotspot", "--format", "json", "--no-results"];
        bench.contend(&[&call[..], &SHORT[..]].concat()).with(0).object()["title"].as_str().unwrap().to_owned()
    };
    assert_ne!(title(&bench), title(&Bench::new()));
    bench.file("office/f.toml", SMALL);
    bench.contend(&["run", "office"]).with(2).says(&["office is a folder", "office/f.toml"]);
    // A mistake of the call that concerns the text names the example and the line.
    bench.contend(&["run", "saturation", "--set", "duration=1s"]).with(2).says(&["saturation:3:12:", "warmup"]);
}

#[test]
fn a_name_of_nothing_is_answered_with_the_nearest_example_or_file() {
    let bench = Bench::with("experiments/mine.toml", SMALL);
    let run = |what: &str, texts: &[&str]| {
        let ended = bench.contend(&["run", what]).with(2).says(texts);
        assert!(ended.out.is_empty() && !bench.path("results").exists(), "{what}");
    };
    run("hotspto", &["hotspto", "did you mean `hotspot`?", "contend list experiments", "bufferbloat"]);
    run("experiments/mien.toml", &["did you mean `experiments/mine.toml`?"]);
    run("experiments/hotspot.toml", &["did you mean `hotspot`?"]);
    run("quite-something-else", &["no example has this name", "the examples are hotspot, "]);
    bench.contend(&["new", "hotspto"]).with(2).says(&["hotspto", "did you mean `hotspot`"]);
    bench.contend(&["new", "no"]).with(2).says(&["bufferbloat", "phase-effects"]);
}
