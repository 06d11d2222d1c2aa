//! The pages of docs/tutorial: every command is run, and what it prints is compared with the page. The files of
//! docs/coming-from.md are run, too, and so are the calls of the other documents, with short runs.
//!
//! A block of `toml NAME` writes the file NAME, and one of `toml NAME +` adds to it. In a block of `console`, a line
//! that begins with `$` is a command; the lines up to the next one are its standard output. A picture of docs/plots is
//! the file with its name that a command of its page writes. `CONTEND_BLESS=1` writes the outputs into the pages, and
//! the pictures. So does a test of the pictures of exchanges on the air.

use super::{Bench, sample, workspace};
use std::process::Command;

/// The pages, in the order in which a reader meets them. The solutions begin with the last file of step 6.
const PAGES: [&str; 10] = [
    "1-one-download",
    "2-who-gets-what",
    "3-how-sure",
    "4-where-packets-wait",
    "5-a-sweep",
    "6-two-remedies",
    "7-a-conclusion",
    "8-wifi-6",
    "9-live",
    "solutions",
];

/// What `line` prints on standard output in the folder of `bench`.
fn output(bench: &Bench, line: &str) -> String {
    let contend = assert_cmd::cargo::cargo_bin!("contend");
    let path = format!("{}:{}", contend.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let run = Command::new("bash").args(["-c", line]).current_dir(bench.path("")).env("PATH", path).output().unwrap();
    String::from_utf8(run.stdout).unwrap()
}

/// The page as it would be if each command were followed by what it prints now.
fn as_run(bench: &Bench, page: &str) -> String {
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        if let Some(name) = line.strip_prefix("```toml ") {
            let mut text = String::new();
            while let Some(line) = lines.next_if(|l| !l.starts_with("```")) {
                text += &format!("{line}\n");
                out += &format!("{line}\n");
            }
            match name.strip_suffix(" +") {
                Some(name) => bench.file(name, bench.read(name) + "\n" + &text),
                None => bench.file(name, text),
            }
        } else if line == "```console" {
            while let Some(command) = lines.next_if(|l| l.starts_with("$ ")) {
                while lines.next_if(|l| !l.starts_with("$ ") && !l.starts_with("```")).is_some() {}
                out += &format!("{command}\n{}\n", output(bench, &command[2..]).trim_end());
            }
        }
    }
    out
}

/// Compares each picture of docs/plots in `page` with the file of its name that a command of the page wrote.
fn pictures_are_those_of_the_commands(bench: &Bench, page: &str) {
    for (at, before) in page.match_indices("](../plots/") {
        let name = page[at + before.len()..].split(')').next().unwrap();
        let [docs, here] = [workspace().join("docs/plots").join(name), bench.path(name)];
        if std::env::var_os("CONTEND_BLESS").is_some() {
            std::fs::copy(&here, &docs).unwrap();
        }
        let same = std::fs::read(&docs).unwrap() == std::fs::read(&here).unwrap();
        assert!(same, "docs/plots/{name} is not what its command draws: CONTEND_BLESS=1 writes it");
    }
}

#[test]
fn every_command_of_the_tutorial_prints_what_its_page_shows() {
    if super::needs::without(&["bash"], "commands of the tutorial") {
        return;
    }
    let bench = Bench::new();
    let path = |page: &str| format!("docs/tutorial/{page}.md");
    // Each page begins with the files of those before it, and the last ones take longest.
    let of_sample = PAGES.iter().rposition(|page| sample::is_changed(&path(page))).map_or(2, |last| last + 1);
    let pages = if sample::step() == 1 { PAGES.len() } else { of_sample };
    for page in &PAGES[..pages] {
        let path = workspace().join(path(page));
        let written = std::fs::read_to_string(&path).unwrap();
        let run = as_run(&bench, &written);
        if std::env::var_os("CONTEND_BLESS").is_some() {
            std::fs::write(&path, &run).unwrap();
        } else if let Some((shown, printed)) =
            written.lines().zip(run.lines()).find(|(shown, printed)| shown != printed)
        {
            panic!(
                "docs/tutorial/{page}.md shows\n  {shown}\nbut contend prints\n  {printed}\nCONTEND_BLESS=1 writes it"
            );
        }
        assert_eq!(run.lines().count(), std::fs::read_to_string(&path).unwrap().lines().count(), "{page}");
        pictures_are_those_of_the_commands(&bench, &written);
    }
    let coming = std::fs::read_to_string(workspace().join("docs/coming-from.md")).unwrap();
    for file in coming.split("```toml\n").skip(1) {
        bench.file("coming.toml", file.split("```").next().unwrap());
        bench.contend(&["run", "coming.toml", "--seeds", "1", "--no-results", "--quiet"]).with(0);
    }
}

/// Pages with pictures that a call of `contend plot` on the same page makes from a file of docs/plots.
const PICTURED: [&str; 3] = ["model/cell.md", "model/access-point.md", "guide-wifi-6.md"];

#[test]
fn the_pictures_of_the_model_are_what_their_calls_draw() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(workspace().join("docs"), bench.path("docs")).unwrap();
    for page in PICTURED {
        let text = std::fs::read_to_string(workspace().join("docs").join(page)).unwrap();
        let all: Vec<String> = calls(&text).into_iter().filter(|c| c.contains(" docs/plots/")).collect();
        assert!(!all.is_empty(), "docs/{page} has no call for its picture");
        for call in all {
            let words: Vec<&str> = call.split(' ').skip(1).collect();
            let name = *words.last().unwrap();
            assert!(text.contains(&format!("plots/{name})")), "docs/{page} does not show {name}");
            bench.contend(&words).with(0);
            let docs = workspace().join("docs/plots").join(name);
            if std::env::var_os("CONTEND_BLESS").is_some() {
                std::fs::write(&docs, bench.read(name)).unwrap();
            }
            let same = std::fs::read_to_string(&docs).is_ok_and(|shown| shown == bench.read(name));
            assert!(same, "docs/plots/{name} is not what its call draws: CONTEND_BLESS=1 writes it");
        }
    }
}

/// Calls that need captures, results of earlier calls, another machine, namespaces, the feature `bpf`, or minutes.
const NOT_RUN: [&str; 15] = [
    "--shard",
    "contend merge",
    "card.pcap",
    "both.pcap",
    "results/fifo",
    "contend reproduce",
    "contend evaluate",
    "contend: ",
    "contend proxy",
    "contend tool",
    "contend deploy",
    "contend emulate",
    "contend live",
    "contend plot results/",
    "--replay",
];

/// The calls in the blocks of a document, on one line each and without remarks.
fn calls(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let (mut all, mut is_shell) = (Vec::new(), false);
    for line in joined.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_shell = ["console", "sh"].contains(&language);
        } else if is_shell {
            let call = line.trim_start_matches("$ ").replace("target/release/contend", "contend");
            let call = call.split("  #").next().unwrap().trim().to_owned();
            if call.starts_with("contend ") && !NOT_RUN.iter().any(|no| call.contains(no)) {
                all.push(call);
            }
        }
    }
    all
}

#[test]
fn the_calls_of_the_documents_can_be_made() {
    if super::needs::without(&["bash"], "calls of the documents") {
        return;
    }
    let bench = Bench::new();
    for folder in ["experiments", "papers", "docs"] {
        std::os::unix::fs::symlink(workspace().join(folder), bench.path(folder)).unwrap();
    }
    bench.file("my.toml", std::fs::read_to_string(workspace().join("experiments/hotspot.toml")).unwrap());
    let contend = assert_cmd::cargo::cargo_bin!("contend").display().to_string();
    let mut found = 0;
    let guides = std::fs::read_dir(workspace().join("docs")).unwrap().map(|e| e.unwrap().path());
    let model = std::fs::read_dir(workspace().join("docs/model")).unwrap().map(|e| e.unwrap().path());
    let readme = std::iter::once(workspace().join("README.md"));
    for file in readme.chain(guides).chain(model).filter(|f| f.extension().is_some_and(|e| e == "md")) {
        let changed = sample::is_changed(file.strip_prefix(workspace()).unwrap().to_str().unwrap());
        for call in calls(&std::fs::read_to_string(&file).unwrap()) {
            found += 1;
            if found % sample::step() > 0 && !changed {
                continue;
            }
            // One seed below replaces the call's own.
            let mut words = call.split(' ');
            let mut line = String::new();
            while let Some(word) = words.next() {
                match word {
                    "--seeds" => drop(words.next()),
                    word => line = format!("{line} {word}"),
                }
            }
            let mut line = line.replacen("contend", &contend, 1);
            // A closed form has neither time nor random numbers.
            let in_time = !call.contains("docs/plots/fcwa.toml");
            if in_time && ["run", "compare", "plot"].iter().any(|c| call.starts_with(&format!("contend {c}"))) {
                line += " --seeds 1 --set duration=6s --set warmup=500ms";
            }
            if call.starts_with("contend run") && !call.contains("--no-results") {
                line += " --no-results";
            }
            let ended = Command::new("bash").args(["-c", &line]).current_dir(bench.path("")).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert!(matches!(ended.status.code(), Some(0 | 1)), "{}: {call}\n{said}", file.display());
        }
    }
    assert!(found > 20, "only {found} calls were found");
}
