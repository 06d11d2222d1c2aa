//! The experiments of the repository, each in a form short enough for every test run.

use super::{canon, golden, run};
use std::path::{Path, PathBuf};

/// Files that take long, and the settings that make them short. Every file runs with seed 1 only.
const SHORT: &[(&str, &[(&str, &str)])] = &[
    ("experiments/benchmark/race.toml", &[("duration", "30s"), ("warmup", "4s")]),
    ("experiments/buffer-size.toml", &[("duration", "7s"), ("warmup", "1200ms")]),
    ("experiments/bad-hotspot.toml", &[("duration", "6s"), ("warmup", "2s")]),
    ("experiments/bufferbloat.toml", &[("duration", "7s"), ("warmup", "1200ms")]),
    ("experiments/chain.toml", &[("duration", "8s"), ("warmup", "2s")]),
    ("experiments/contention.toml", &[("contention.successes", "20000")]),
    ("experiments/control-blocks.toml", &[("duration", "6s"), ("warmup", "600ms")]),
    ("experiments/edca-voice.toml", &[("duration", "14s"), ("warmup", "2s")]),
    ("experiments/guide/buffers.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("experiments/guide/datagram-uploads.toml", &[("duration", "2500ms"), ("warmup", "300ms")]),
    ("experiments/guide/delays.toml", &[("duration", "2500ms"), ("warmup", "400ms")]),
    ("experiments/guide/encrypted.toml", &[("duration", "3s"), ("warmup", "400ms")]),
    ("experiments/guide/mixes.toml", &[("duration", "2500ms"), ("warmup", "250ms")]),
    ("experiments/guide/newreno.toml", &[("duration", "2500ms"), ("warmup", "400ms")]),
    ("experiments/guide/slow-station.toml", &[("duration", "5s"), ("warmup", "700ms")]),
    ("experiments/guide/stations.toml", &[("duration", "2500ms"), ("warmup", "250ms")]),
    ("experiments/hidden.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("experiments/home-wifi6.toml", &[("duration", "6s"), ("warmup", "1500ms")]),
    ("experiments/mesh.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("experiments/neighbours.toml", &[("duration", "4s"), ("warmup", "1s")]),
    ("experiments/office.toml", &[("duration", "30s"), ("warmup", "5s")]),
    ("experiments/office-ac.toml", &[("duration", "3s"), ("warmup", "1s")]),
    ("experiments/saturation.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("experiments/stadium-ax.toml", &[("duration", "21s"), ("warmup", "5s")]),
    ("experiments/uplink-starvation.toml", &[("duration", "16s"), ("warmup", "3s")]),
    ("experiments/validation/modern-distance.toml", &[("duration", "1500ms"), ("warmup", "500ms")]),
    ("experiments/validation/modern-n1.toml", &[("duration", "500ms"), ("warmup", "100ms")]),
    ("experiments/validation/ns2-b-down-up.toml", &[("duration", "18s"), ("warmup", "2500ms")]),
    ("experiments/validation/ns2-c-saturation.toml", &[("duration", "20s"), ("warmup", "3s")]),
    ("experiments/validation/ns3-a-uploads.toml", &[("duration", "50s"), ("warmup", "7s")]),
    ("experiments/validation/ns3-b-down-up.toml", &[("duration", "16s"), ("warmup", "2500ms")]),
    ("experiments/validation/ns3-c-saturation.toml", &[("duration", "16s"), ("warmup", "2500ms")]),
    ("experiments/wifi-6/ideas.toml", &[("duration", "2s"), ("warmup", "500ms")]),
    ("experiments/wifi-6/networks.toml", &[("duration", "1200ms"), ("warmup", "200ms")]),
    ("experiments/wifi-6/small-queues.toml", &[("duration", "3s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e2-udp.toml", &[("duration", "5s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e3-tcp.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e4-sparse.toml", &[("duration", "10s"), ("warmup", "2s")]),
    ("papers/anomaly-2017/e5-thirty.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e6-call.toml", &[("duration", "4s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e7-page.toml", &[("duration", "14s"), ("warmup", "2s")]),
    ("papers/arai-2009/e0-ten-uploads.toml", &[("duration", "16s"), ("warmup", "700ms")]),
    ("papers/arai-2009/e2-effective-bandwidth.toml", &[("duration", "18s"), ("warmup", "800ms")]),
    ("papers/arai-2009/e3-mixed-clients.toml", &[("duration", "25s"), ("warmup", "1s")]),
    ("papers/arai-2009/e4-why-converters-differ.toml", &[("duration", "10s"), ("warmup", "400ms")]),
    ("papers/barreto-2012/e0-room.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/barreto-2012/e3a-mesh-16.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e3b-mesh-sizes.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e3c-ad-hoc.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e4-b-available.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/barreto-2012/e4-c-mesh.toml", &[("duration", "13s"), ("warmup", "3s")]),
    ("papers/barreto-2012/e4-control.toml", &[("duration", "15s"), ("warmup", "3s")]),
    ("papers/barreto-2012/e4-d-flows.toml", &[("duration", "16s"), ("warmup", "10s")]),
    ("papers/barreto-2012/e5c-mesh-voip.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e5d-building.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5e-building-cbr.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5h-ad-hoc-voip.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e5i-collision-correction.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e6f-voip-background.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e6g-chain.toml", &[("duration", "15s"), ("warmup", "2s")]),
    ("papers/jersey-2005/ablation-1-queue-weight.toml", &[("duration", "90s"), ("warmup", "2s")]),
    ("papers/jersey-2005/ablation-2-gamma.toml", &[("duration", "14s"), ("warmup", "1200ms")]),
    ("papers/jersey-2005/ablation-3-control-interval.toml", &[("duration", "5s"), ("warmup", "400ms")]),
    ("papers/jersey-2005/ablation-4-timeouts.toml", &[("duration", "40s"), ("warmup", "2s")]),
    ("papers/jersey-2005/beyond-1-lossy-wire.toml", &[("duration", "20s"), ("warmup", "2s")]),
    ("papers/jersey-2005/beyond-2-cell.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("papers/jersey-2005/beyond-3-both.toml", &[("duration", "5s"), ("warmup", "500ms")]),
    ("papers/jersey-2005/e11-coexistence.toml", &[("duration", "60s"), ("warmup", "3s")]),
    ("papers/jersey-2005/e12-loss-classes.toml", &[("duration", "50s"), ("warmup", "1400ms")]),
    ("papers/jersey-2005/e14-fairness-kappa-phi.toml", &[("duration", "14s"), ("warmup", "1400ms")]),
    ("papers/jersey-2005/e19-correlated-loss.toml", &[("duration", "5s")]),
    ("papers/jersey-2005/e20-marking.toml", &[("duration", "12s"), ("warmup", "1s")]),
    ("papers/jersey-2005/e23-queue.toml", &[("duration", "70s"), ("warmup", "6s")]),
    ("papers/jersey-2005/e26-perfect.toml", &[("duration", "7s"), ("warmup", "600ms")]),
    ("papers/jersey-2005/e27-gaiad-delays.toml", &[("model.n", "[2, 10]"), ("model.steps", "[1, 7]")]),
    ("papers/jersey-2005/e5-goodput.toml", &[("duration", "20s"), ("warmup", "1s")]),
    ("papers/jersey-2005/e6-voip.toml", &[("duration", "12s"), ("warmup", "600ms")]),
    ("papers/jersey-2005/e8-fairness.toml", &[("duration", "4s"), ("warmup", "200ms")]),
    ("papers/jersey-2005/e9-friendliness.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("papers/keceli-2008/a1-basic.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("papers/keceli-2008/a3-channel-errors.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("papers/keceli-2008/a4-mixed-demand.toml", &[("duration", "20s"), ("warmup", "600ms")]),
    (
        "papers/keceli-2008/a5-short-flows.toml",
        &[("duration", "35s"), ("flow.2.start", "= 3s + 0.5s*(k-1)"), ("flow.3.start", "= 10s + 0.5s*(k-1)")],
    ),
    ("papers/keceli-2008/a6-mixed-windows.toml", &[("duration", "8s"), ("warmup", "250ms")]),
    ("papers/keceli-2008/f1-window-limits.toml", &[("duration", "5s"), ("warmup", "400ms")]),
    ("papers/keceli-2008/f2-unequal-delays.toml", &[("duration", "8s"), ("warmup", "700ms")]),
    ("papers/keceli-2008/f3-delayed-acks.toml", &[("duration", "5s"), ("warmup", "400ms")]),
    ("papers/keceli-2008/f4-buffer-size.toml", &[("duration", "16s"), ("warmup", "1600ms")]),
    ("papers/keceli-2008/f5-simulated-limit.toml", &[("duration", "25s"), ("warmup", "2500ms")]),
    ("papers/keceli-2008/m1-downloads.toml", &[("duration", "60s"), ("warmup", "6s")]),
    ("papers/keceli-2008/m2-uploads.toml", &[("duration", "70s"), ("warmup", "7s")]),
    ("papers/keceli-2008/m3-downloads-against-uploads.toml", &[("duration", "10s"), ("warmup", "1s")]),
    ("papers/starzetz-2006/beyond-1-access-under-tcp.toml", &[("duration", "2s"), ("warmup", "200ms")]),
    ("papers/starzetz-2006/beyond-2-slow-station.toml", &[("duration", "7s"), ("warmup", "700ms")]),
    ("papers/starzetz-2006/beyond-3-slow-station-saturated.toml", &[("duration", "4s"), ("warmup", "400ms")]),
    ("papers/starzetz-2006/e1-fingerprint.toml", &[("duration", "50s"), ("warmup", "300ms")]),
    ("papers/starzetz-2006/e11-effective-window.toml", &[("contention.successes", "60000")]),
    ("papers/starzetz-2006/e12-collision-rate.toml", &[("contention.successes", "50000")]),
    ("papers/starzetz-2006/e13-success-wait.toml", &[("contention.successes", "50000")]),
    ("papers/starzetz-2006/e14-collision-wait.toml", &[("contention.successes", "50000")]),
    ("papers/starzetz-2006/e15-short-term-fairness.toml", &[("duration", "20s"), ("warmup", "300ms")]),
    ("papers/starzetz-2006/e16-self-correlation.toml", &[("contention.successes", "160000")]),
    ("papers/starzetz-2006/e17-shifted-backoff.toml", &[("contention.successes", "120000")]),
    ("papers/starzetz-2006/e18-shrinking-window.toml", &[("contention.successes", "160000")]),
    ("papers/starzetz-2006/e3-equal-access.toml", &[("duration", "10s"), ("warmup", "200ms")]),
    ("papers/starzetz-2006/u1-busy-slot.toml", &[("contention.successes", "390000")]),
];

/// Files that are also run without optimisation, to see that debug and release agree.
const DEBUG: &[&str] = &["experiments/hotspot.toml", "papers/jersey-2005/e1-multiple-loss.toml"];

#[test]
fn experiments_give_what_they_gave() {
    let whole = !cfg!(debug_assertions);
    let files: Vec<String> = all().into_iter().filter(|f| whole || DEBUG.contains(&f.as_str())).collect();
    let short: Vec<&str> =
        SHORT.iter().map(|(file, _)| *file).filter(|f| whole && !files.iter().any(|g| g == f)).collect();
    assert!(short.is_empty(), "there is no such file: {short:?}");
    let lines: Vec<String> = files.iter().map(|file| line(file)).collect();
    golden::compare("files.txt", &lines, whole);
}

fn line(file: &str) -> String {
    // Movement files lie beside the experiment.
    let path = golden::root().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let settings = SHORT.iter().find(|(f, _)| *f == file).map_or(&[][..], |(_, settings)| settings);
    let sets: Vec<(String, String)> =
        [("seeds", "1")].iter().chain(settings).map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let outcome = run::outcome(&path.display().to_string(), &text, &sets, 0);
    format!("{file} {}", canon::line(&outcome))
}

/// Every experiment file, by its path from the root of the repository, in order.
fn all() -> Vec<String> {
    let mut files = vec![];
    ["experiments", "papers"].iter().for_each(|folder| below(Path::new(folder), &mut files));
    let mut names: Vec<String> = files.iter().map(|f| f.to_str().unwrap().to_owned()).collect();
    names.sort();
    assert!(names.len() > 100, "{} files", names.len());
    names
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(golden::root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            below(&path, files);
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
}
