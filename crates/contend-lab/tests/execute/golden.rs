//! Digests of short runs of the experiments that come along, the same in debug and in release and on every machine.
//!
//! A digest that changes means that packets or frames go another way. When that is meant, write the table anew with
//! `CONTEND_BLESS=1 cargo test --release -p contend-lab --test execute golden` and say in the commit why it changed.

use super::lab::Call;
use std::fmt::Write as _;
use std::path::Path;

/// A file and the settings that make it short.
const GOLDEN: &[(&str, &[(&str, &str)])] = &[
    ("experiments/hotspot.toml", &[("duration", "3s"), ("warmup", "1s")]),
    ("experiments/office.toml", &[("duration", "7s"), ("warmup", "1s")]),
    ("experiments/uplink-starvation.toml", &[("duration", "3s"), ("warmup", "1s"), ("ap.queue.limit", "50p")]),
    ("experiments/saturation.toml", &[("duration", "1s"), ("warmup", "0s"), ("flow.0.count", "[1, 5, 40]")]),
    ("experiments/lossy-last-hop.toml", &[("duration", "20s"), ("warmup", "1s"), ("link.1.loss.p", "5%")]),
    ("experiments/bufferbloat.toml", &[("duration", "5s"), ("warmup", "1s")]),
    (
        "papers/keceli-2008/m3-downloads-against-uploads.toml",
        &[("duration", "3s"), ("warmup", "1s"), ("flow.1.count", "[0, 2]")],
    ),
    ("papers/jersey-2005/e1-multiple-loss.toml", &[]),
    ("papers/jersey-2005/e2-short-disconnection.toml", &[]),
];

/// The table as it should be, one line a run: file, point, digest.
fn table() -> String {
    let mut out = String::from("# CONTEND_BLESS=1 cargo test --release -p contend-lab --test execute golden\n");
    for (file, settings) in GOLDEN {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{file}: {e}"));
        let call =
            settings.iter().fold(Call::new(&text).named(file), |c, (key, value)| c.set(key, value)).set("seeds", "1");
        for run in &call.execute().outcome.runs {
            let point: Vec<String> = run.point.iter().map(|(k, v)| format!("{k}={v}")).collect();
            writeln!(out, "{file} {} {}", if point.is_empty() { "-".into() } else { point.join(",") }, run.digest)
                .unwrap();
        }
    }
    out
}

#[test]
fn golden_digests_are_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/execute/digests.txt");
    let now = table();
    if std::env::var_os("CONTEND_BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
        return;
    }
    let before = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<String> =
        now.lines().filter(|l| !before.lines().any(|b| b == *l)).map(|l| format!("  now: {l}")).collect();
    assert!(
        now == before,
        "runs differ from tests/execute/digests.txt; if that is meant, bless the table as its first line says\n{}",
        changed.join("\n")
    );
}
