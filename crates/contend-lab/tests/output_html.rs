//! The report page in a real browser. Without Chromium on the machine the browser tests say so and pass.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{SMALL, Shape, context, outcome, program};
use contend_lab::output::write_report;
use std::path::Path;
use std::process::Command;

fn report(shape: Shape, path: &Path) -> String {
    write_report(&outcome(shape), &context(shape), path).unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// The page after its script ran, and what the browser logged.
fn opened(path: &Path, more: &[&str]) -> Option<(String, String)> {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|n| program(n)) else {
        println!("SKIPPED: no Chromium is installed");
        return None;
    };
    let profile = tempfile::tempdir().unwrap();
    let quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
    let out = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=4000"])
        .args(quiet)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .args(["--dump-dom", &format!("file://{}", path.display())])
        .output()
        .unwrap();
    Some((String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned()))
}

fn data(page: &str, name: &str) -> Option<f64> {
    let at = page.find(&format!("{name}=\""))? + name.len() + 2;
    page[at..].split('"').next()?.parse().ok()
}

#[test]
fn the_page_opens_without_a_console_error_and_draws_100_000_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let page = report(Shape { frames: 100_000, ..SMALL }, &path);
    println!("page: {} kB", page.len() / 1_000);
    let Some((dom, log)) = opened(&path, &[]) else { return };
    let complaints: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert_eq!(data(&dom, "data-frames"), Some(100_000.0), "the timeline was not drawn");
    println!("100,000 frames drawn in {} ms", data(&dom, "data-draw-all-ms").unwrap());
    assert!(dom.contains("frames in "), "the view in single frames was not drawn");
}

#[test]
fn the_page_needs_no_network_and_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(SMALL, &folder.path().join("report.html"));
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("&lt;b&gt;This is not bold.&lt;/b&gt;"));
}

#[test]
fn every_figure_has_its_data_its_command_and_its_interval() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(SMALL, &folder.path().join("report.html"));
    let figures: Vec<&str> = page.split("<figure").skip(1).map(|f| f.split("</figure>").next().unwrap()).collect();
    // Goodput, Jain, loss and RTT along the sweep, the file's own, the ledger and the timeline; eight of each point.
    assert!(figures.len() >= 4 + 8 * 5, "{}", figures.len());
    for f in &figures {
        let title = f.split("<h3>").nth(1).and_then(|t| t.split('<').next()).unwrap_or("the air");
        assert!(f.contains("href=\"data:text/csv") || f.contains("air-csv"), "{title} has no data");
        assert!(f.contains("contend run papers/keceli-2008/fig4.toml"), "{title} has no command");
        assert!(f.contains("--seeds"), "{title} has no seed");
    }
    let bars = figures.iter().find(|f| f.contains("<h3>Goodput of each flow</h3>")).unwrap();
    assert_eq!(bars.matches("class=\"bar\"").count(), bars.matches("class=\"err\"").count());
    let sweep = figures.iter().find(|f| f.contains("<h3>goodput along flow.1.count</h3>")).unwrap();
    assert_eq!(sweep.matches("class=\"dot\"").count(), 15);
    assert_eq!(sweep.matches("class=\"err\"").count(), 15);
}

#[test]
fn one_seed_and_no_series_still_make_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let shape = Shape { uploads: &[1], seeds: 1, frames: 0, ..SMALL };
    let mut o = outcome(shape);
    o.runs.iter_mut().for_each(|r| r.series = Default::default());
    write_report(&o, &context(shape), &path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("1 seed: no interval") && !page.contains("class=\"err\""));
    let Some((_, log)) = opened(&path, &[]) else { return };
    assert!(!log.contains("CONSOLE"), "{log}");
}

#[test]
fn many_flows_are_shown_as_groups() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(Shape { uploads: &[40], downloads: 200, seeds: 2, frames: 0, seconds: 20 }, &folder.path().join("report.html"));
    assert!(page.contains("down (200 flows)") && page.contains("the middle 80 % of its flows"));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

/// Not a check: writes the pages that one looks at (`cargo test -p contend-lab --test output_html -- --ignored`).
#[test]
#[ignore = "writes example pages to the folder in CONTEND_PAGES"]
fn example_pages() {
    let Some(folder) = std::env::var_os("CONTEND_PAGES").map(std::path::PathBuf::from) else { return };
    report(Shape { frames: 100_000, ..SMALL }, &folder.join("sweep.html"));
    report(Shape { uploads: &[2], downloads: 10, frames: 3_000, ..SMALL }, &folder.join("point.html"));
    report(Shape { uploads: &[40], downloads: 200, seeds: 3, frames: 20_000, seconds: 20 }, &folder.join("many.html"));
}
