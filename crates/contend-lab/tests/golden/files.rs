//! The experiments of the repository. Each runs once: in its short form, three seeds at most, whose verdicts are
//! judged; or, where that takes long, in a brief form. The verdicts of those are judged when the golden value is
//! written and recorded with what they depend on: the text of the file and the golden value. Runs are deterministic, so
//! what has not changed has the verdicts that it had.

use super::golden::{self, sample};
use super::{canon, run};
use contend_lab::experiment::results::Outcome;
use contend_lab::judging::check::NOT_MET;
use contend_lab::reading::file;
use contend_lab::reproduce::{SHORT_SEEDS, is_shortened};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files whose short form takes more than two seconds of CPU time, and the settings that make them brief. They run
/// with seed 1; that their verdicts hold is recorded in `verdicts.txt`.
const BRIEF: &[(&str, &[(&str, &str)])] = &[
    ("experiments/buffer-size.toml", &[("duration", "7s"), ("warmup", "1200ms")]),
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
    ("experiments/home-wifi6.toml", &[("duration", "6s"), ("warmup", "1500ms")]),
    ("experiments/house.toml", &[("duration", "3s"), ("warmup", "1s")]),
    ("experiments/l4s-home.toml", &[("duration", "8s"), ("warmup", "2s")]),
    ("experiments/l4s/wifi-bursts.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("experiments/l4s/wifi-category.toml", &[("duration", "8s"), ("warmup", "1s")]),
    ("experiments/l4s/wifi-cell.toml", &[]),
    ("experiments/l4s/wifi-download.toml", &[("duration", "2500ms"), ("warmup", "500ms")]),
    ("experiments/l4s/wifi-hidden.toml", &[]),
    ("experiments/l4s/wifi-mixed.toml", &[("duration", "4s"), ("warmup", "1s")]),
    ("experiments/l4s/wifi-rates.toml", &[("duration", "10s"), ("warmup", "1s")]),
    ("experiments/l4s/wifi-slow-station.toml", &[("duration", "8s"), ("warmup", "1s")]),
    ("experiments/l4s/wifi-steps.toml", &[("duration", "10s"), ("warmup", "4s")]),
    ("experiments/l4s/wifi-uploads.toml", &[("duration", "5s"), ("warmup", "1s")]),
    ("experiments/l4s/wire-bursts.toml", &[]),
    ("experiments/l4s/wire-classic.toml", &[("duration", "5s"), ("warmup", "2s")]),
    ("experiments/l4s/wire-feedback.toml", &[("duration", "5s"), ("warmup", "2s")]),
    ("experiments/l4s/wire-fifo.toml", &[("duration", "30s"), ("warmup", "10s")]),
    ("experiments/l4s/wire-fq.toml", &[("duration", "12s"), ("warmup", "2s")]),
    ("experiments/l4s/wire-grid.toml", &[("duration", "4s"), ("warmup", "2s")]),
    ("experiments/l4s/wire-one-queue.toml", &[("duration", "12s"), ("warmup", "2s")]),
    ("experiments/l4s/wire-same.toml", &[("duration", "5s"), ("warmup", "2s")]),
    ("experiments/l4s/wire-steps.toml", &[]),
    ("experiments/l4s/wire-unequal.toml", &[("duration", "5s"), ("warmup", "2s")]),
    ("experiments/l4s/wire-video.toml", &[("duration", "20s"), ("warmup", "5s")]),
    ("experiments/mesh.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("experiments/neighbours.toml", &[("duration", "4s"), ("warmup", "1s")]),
    ("experiments/office-ac.toml", &[("duration", "3s"), ("warmup", "1s")]),
    ("experiments/phase-effects.toml", &[("duration", "40s"), ("warmup", "5s")]),
    ("experiments/range.toml", &[("duration", "700ms"), ("warmup", "300ms")]),
    ("experiments/roaming.toml", &[]),
    ("experiments/stadium-ax.toml", &[("duration", "21s"), ("warmup", "5s")]),
    ("experiments/uplink-starvation.toml", &[("duration", "16s"), ("warmup", "3s")]),
    ("experiments/validation/modern-distance.toml", &[("duration", "1500ms"), ("warmup", "500ms")]),
    ("experiments/validation/modern-n1.toml", &[("duration", "500ms"), ("warmup", "100ms")]),
    ("experiments/validation/modern-n2.toml", &[]),
    ("experiments/validation/multihop-grid.toml", &[("duration", "106s")]),
    ("experiments/validation/multihop-mesh.toml", &[("duration", "20s")]),
    ("experiments/validation/multihop-mobile.toml", &[("duration", "24s")]),
    ("experiments/validation/multihop-pairs.toml", &[("duration", "12s"), ("warmup", "3s")]),
    ("experiments/validation/multihop-routing.toml", &[("duration", "120s"), ("warmup", "110s")]),
    ("experiments/validation/multihop-tcp.toml", &[("duration", "16s"), ("warmup", "4s")]),
    ("experiments/validation/multihop-udp.toml", &[("duration", "12s"), ("warmup", "3s")]),
    ("experiments/validation/multihop-vegas.toml", &[("duration", "20s")]),
    ("experiments/validation/ns3-dctcp.toml", &[("duration", "15s"), ("warmup", "5s")]),
    ("experiments/validation/rcp-parking.toml", &[]),
    ("experiments/validation/wcp-bottlenecks.toml", &[("duration", "30s"), ("warmup", "10s")]),
    ("experiments/validation/xcp-parking.toml", &[]),
    ("experiments/wifi-6/ideas.toml", &[("duration", "2s"), ("warmup", "500ms")]),
    ("experiments/wifi-6/networks.toml", &[("duration", "1200ms"), ("warmup", "200ms")]),
    ("papers/anomaly-2017/e2-udp.toml", &[("duration", "5s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e3-tcp.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e5-thirty.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/anomaly-2017/e6-call.toml", &[("duration", "4s"), ("warmup", "1s")]),
    ("papers/arai-2009/e0-ten-uploads.toml", &[("duration", "16s"), ("warmup", "700ms")]),
    ("papers/arai-2009/e2-effective-bandwidth.toml", &[("duration", "18s"), ("warmup", "800ms")]),
    ("papers/arai-2009/e3-mixed-clients.toml", &[("duration", "25s"), ("warmup", "1s")]),
    ("papers/arai-2009/e4-why-converters-differ.toml", &[("duration", "10s"), ("warmup", "400ms")]),
    ("papers/arai-2009/e5-three-flows.toml", &[("duration", "12s"), ("warmup", "2s")]),
    ("papers/arai-2009/e6-five-flows.toml", &[("duration", "12s"), ("warmup", "2s")]),
    ("papers/arai-2009/e7-one-of-seven.toml", &[("duration", "12s"), ("warmup", "2s")]),
    ("papers/barreto-2012/e0-room.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/barreto-2012/e3a-mesh-16.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e3a-tcp-ap.toml", &[("duration", "120s")]),
    ("papers/barreto-2012/e3a-three-mobiles.toml", &[("duration", "120s")]),
    ("papers/barreto-2012/e3a-xcp.toml", &[("duration", "40s")]),
    ("papers/barreto-2012/e3b-mesh-sizes.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e3b-sixteen-nodes.toml", &[("duration", "40s")]),
    ("papers/barreto-2012/e3b-xcp-b.toml", &[("duration", "40s")]),
    ("papers/barreto-2012/e3c-ad-hoc.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e3c-tcp-ap-xcp-b.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e4-b-available.toml", &[("duration", "6s"), ("warmup", "1s")]),
    ("papers/barreto-2012/e4-d-flows.toml", &[("duration", "16s"), ("warmup", "10s")]),
    ("papers/barreto-2012/e5c-mesh-voip.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e5c-three-mobiles.toml", &[("duration", "120s")]),
    ("papers/barreto-2012/e5c-xcp-b.toml", &[("duration", "40s")]),
    ("papers/barreto-2012/e5d-building.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5e-building-cbr.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5e-xcp-winf.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5h-ad-hoc-voip.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e5h-xcp-b.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e5i-collision-correction.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5i-speed.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5i-speed-rcp.toml", &[("duration", "25s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/e5j-utility.toml", &[]),
    ("papers/barreto-2012/e6f-voip-background.toml", &[("duration", "12s")]),
    ("papers/barreto-2012/e6g-chain.toml", &[("duration", "15s"), ("warmup", "2s")]),
    ("papers/barreto-2012/h15-mesh-and-building.toml", &[("duration", "20s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/barreto-2012/h15-xcp-winf.toml", &[("duration", "20s"), ("flow.0.start", "uniform(0s, 5s)")]),
    ("papers/jersey-2005/ablation-2-gamma.toml", &[("duration", "14s"), ("warmup", "1200ms")]),
    ("papers/jersey-2005/ablation-3-control-interval.toml", &[("duration", "5s"), ("warmup", "400ms")]),
    ("papers/jersey-2005/beyond-2-cell.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("papers/jersey-2005/beyond-3-both.toml", &[("duration", "5s"), ("warmup", "500ms")]),
    ("papers/jersey-2005/e14-fairness-kappa-phi.toml", &[("duration", "14s"), ("warmup", "1400ms")]),
    ("papers/jersey-2005/e19-correlated-loss.toml", &[("duration", "5s")]),
    ("papers/jersey-2005/e20-marking.toml", &[("duration", "12s"), ("warmup", "1s")]),
    ("papers/jersey-2005/e24-three-flows.toml", &[]),
    ("papers/jersey-2005/e26-perfect.toml", &[("duration", "7s"), ("warmup", "600ms")]),
    ("papers/jersey-2005/e27-gaiad-delays.toml", &[("model.n", "[2, 10]"), ("model.steps", "[1, 7]")]),
    ("papers/jersey-2005/e4-queue-weight.toml", &[("duration", "12s"), ("warmup", "2s")]),
    ("papers/jersey-2005/e8-fairness.toml", &[("duration", "4s"), ("warmup", "200ms")]),
    ("papers/jersey-2005/e9-friendliness.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("papers/keceli-2008/a1-basic.toml", &[("duration", "2500ms"), ("warmup", "200ms")]),
    ("papers/keceli-2008/a2-delayed-acks.toml", &[]),
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
    ("papers/starzetz-2006/e30-six-tcp-d.toml", &[]),
    ("papers/starzetz-2006/e30-timeouts.toml", &[]),
    ("papers/starzetz-2006/e31-reno-against-tcp-d.toml", &[]),
    ("papers/starzetz-2006/e32-tcp-d-against-reno.toml", &[]),
    ("papers/starzetz-2006/e33-tcp-d-against-vegas.toml", &[]),
];

#[test]
fn experiments_give_what_they_gave_and_their_verdicts_hold() {
    let files = all();
    let gone: Vec<&str> = BRIEF.iter().map(|(file, _)| *file).filter(|f| !files.iter().any(|g| g == f)).collect();
    assert!(gone.is_empty(), "there is no such file: {gone:?}");
    let in_sample = |i: usize, file: &str| i.is_multiple_of(sample::step()) || sample::is_changed(file);
    let files: Vec<String> = (0..).zip(files).filter(|(i, f)| in_sample(*i, f)).map(|(_, f)| f).collect();
    let recorded = golden::read("verdicts.txt");
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|s| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            s.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A file that cannot be run must not end the others, which may have taken minutes.
                    let broken = |_| Look { wrong: vec![format!("  {file}: no result")], ..Look::default() };
                    let it = std::panic::catch_unwind(|| look(file, &recorded)).unwrap_or_else(broken);
                    seen.lock().unwrap().insert(file, it);
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    let wrong: Vec<&str> = seen.values().flat_map(|l| l.wrong.iter().map(String::as_str)).collect();
    assert!(wrong.is_empty(), "verdicts are not those that the files record:\n{}", wrong.join("\n"));
    golden::compare("files.txt", &seen.values().map(|l| l.line.clone()).collect::<Vec<_>>());
    golden::compare("verdicts.txt", &seen.values().map(|l| l.proof.clone()).collect::<Vec<_>>());
}

/// What a run of a file shows.
#[derive(Default)]
struct Look {
    /// Its golden line.
    line: String,
    /// Its line of `verdicts.txt`.
    proof: String,
    /// Verdicts that differ from those that the file records.
    wrong: Vec<String>,
}

/// Runs `file` in its form. The verdicts of a brief form are judged, in the short form, when golden values are written
/// and `recorded` does not have them.
fn look(file: &str, recorded: &str) -> Look {
    let text = std::fs::read_to_string(golden::root().join(file)).unwrap();
    let prove = |line: &str| format!("{file} {:016x}", golden::fnv(format!("{line}\n{text}").as_bytes()));
    let Some((_, settings)) = BRIEF.iter().find(|(f, _)| *f == file) else {
        let outcome = short(file, &text, 1);
        let line = line(file, &outcome);
        return Look { proof: prove(&line), line, wrong: wrong(file, &outcome) };
    };
    let sets = [("seeds", "1")].iter().chain(*settings).map(|(k, v)| ((*k).into(), (*v).into())).collect::<Vec<_>>();
    let line = line(file, &run::outcome(&path(file), &text, &sets, 1));
    let mut it = Look { proof: prove(&line), line, wrong: vec![] };
    if golden::blessed() && !recorded.lines().any(|l| l == it.proof) {
        if !is_judged(file) {
            it.wrong = wrong(file, &short(file, &text, 0));
        }
        // At once, so that a later file with another verdict costs no more than itself.
        if it.wrong.is_empty() {
            golden::append("verdicts.txt", &it.proof);
        }
    }
    it
}

/// True if the caller says that `contend run` has just judged this text in its whole form: where the short form would
/// take hours, the whole one need not run for it again.
fn is_judged(file: &str) -> bool {
    std::env::var("CONTEND_JUDGED").is_ok_and(|files| files.split_whitespace().any(|f| f == file))
}

/// The short form of a file, as `contend reproduce --short` runs it, with `jobs` runs at the same time; 0 for one on
/// each core.
fn short(file: &str, text: &str, jobs: usize) -> Outcome {
    let few = file::parse(&path(file), text, &[]).is_ok_and(|e| !is_shortened(&e));
    let sets: &[(String, String)] = if few { &[] } else { &[("seeds".into(), SHORT_SEEDS.into())] };
    run::outcome(&path(file), text, sets, jobs)
}

/// Movement files lie beside the experiment.
pub(super) fn path(file: &str) -> String {
    golden::root().join(file).display().to_string()
}

fn line(file: &str, outcome: &Outcome) -> String {
    format!("{file} {}", canon::line(outcome))
}

/// The claims of an outcome whose verdict differs from the record, and the checks that are not met: with
/// few seeds a check may be undecided.
fn wrong(file: &str, outcome: &Outcome) -> Vec<String> {
    let claims = outcome.claims.iter().filter(|c| !c.as_recorded);
    let claims = claims.map(|c| format!("  {file}: claim {}: {}, recorded: {}", c.id, c.verdict, c.recorded));
    let checks = outcome.checks.iter().filter(|c| c.answer == NOT_MET);
    claims.chain(checks.map(|c| format!("  {file}: check {}: {}", c.what, c.answer))).collect()
}

/// Every experiment file, by its path from the root of the repository, in order.
pub(super) fn all() -> Vec<String> {
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
        if entry.file_name() == "emulated" {
            // Their verdicts are those of a kernel.
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            below(&path, files);
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
}
