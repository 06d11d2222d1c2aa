//! Each change to the file system is made to fail, once or from that change on. Results must then be complete or
//! absent, earlier results must be unchanged, and no finished run may be lost.

use super::{Draft, header, write};
use crate::execute::{Options, execute};
use crate::experiment::results::Executed;
use crate::experiment::size::CaptureWindow;
use crate::reading::file::{Experiment, parse};
use crate::writing::disk::fault;
use crate::writing::journal::{Journal, NAME};
use crate::writing::output::{FORMATS, ReportContext};
use contend_core::Time;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A cell that produces everything a journal can hold.
const FILE: &str = "duration = \"300ms\"\nwarmup = \"100ms\"\nseeds = \"1..3\"\nsample = \"20ms\"\n\
    [wifi]\nstandard = \"802.11g\"\nrate = \"54Mbps\"\nbasic = \"6Mbps\"\n[ap]\nqueue = \"fifo\"\n\
    [[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n\
    [[flow]]\nfrom = \"station\"\nto = \"server\"\nudp = { rate = \"1Mbps\" }\n\
    [[claim]]\nid = \"A\"\npaper = \"p\"\nmetric = \"jain(successes[all], 4)\"\nexpect = { at_least = 0 }\n";

fn frames() -> CaptureWindow {
    CaptureWindow { from: Time::ZERO, to: Time::from_nanos(120_000_000), limit: 1000 }
}

fn executed(e: &Experiment, journal: Option<&Journal>) -> Executed {
    let (stop, progress) = (AtomicBool::new(false), |_, _| {});
    let options = Options { jobs: 1, series: true, capture: Some(frames()), journal, stop: &stop, progress: &progress };
    let mut executed = execute(e, &options).unwrap();
    executed.outcome.runs.iter_mut().for_each(|r| r.wall_s = 0.0);
    executed
}

/// One call, as the command makes it; with `resume` it continues an earlier one. Fails if the folder was not written.
fn call(e: &Experiment, target: &Path, resume: bool) -> Result<(), String> {
    let header = header(e, "contend".into(), Some(frames()));
    let left = if resume { Draft::resume(target, &header).map_err(|e| e.to_string())? } else { None };
    let draft = left.map_or_else(|| Draft::begin(target, header), Ok).map_err(|e| e.to_string())?;
    let executed = executed(e, Some(draft.journal()));
    if let Some(failure) = draft.journal().failure() {
        return Err(failure);
    }
    let context = ReportContext::of(e, draft.command().to_owned());
    write(e, &executed, &context, draft, true).map(drop).map_err(|e| e.to_string())
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    let mut all: Vec<_> = entries
        .map(|e| {
            (e.file_name().into_string().unwrap(), if e.path().is_dir() { vec![] } else { fs::read(e.path()).unwrap() })
        })
        .collect();
    all.sort();
    all
}

fn names(folder: &Path) -> BTreeSet<String> {
    files(folder).into_iter().map(|f| f.0).collect()
}

#[test]
fn whichever_change_fails_earlier_results_stay_and_a_resumed_call_ends_as_an_undisturbed_one() {
    let e = parse("t.toml", FILE, &[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    call(&e, &dir.path().join("calm/t"), false).unwrap();
    let calm = files(&dir.path().join("calm/t"));
    // The formats, and five files that no `--format` prints.
    assert_eq!(calm.len(), FORMATS.len() + 5);
    for count in [1, u64::MAX] {
        let mut failures = 0;
        for skip in 0.. {
            let out = dir.path().join(format!("{count}-{skip}"));
            let target = out.join("t");
            fs::create_dir_all(&target).unwrap();
            fs::write(target.join("mine"), "kept").unwrap();
            let (done, failed) = fault::injected(&out, skip, count, || call(&e, &target, false));
            if done.is_ok() {
                assert_eq!(names(&out), BTreeSet::from(["t".into(), "t.1".into()]), "{count} {skip}");
                assert_eq!(files(&target), calm);
            } else {
                assert!(failed && fs::read_to_string(target.join("mine")).unwrap() == "kept", "{done:?}");
                assert!(
                    names(&out).is_subset(&BTreeSet::from(["t".into(), "t.unfinished-1".into()])),
                    "{count} {skip}"
                );
                call(&e, &target, true).unwrap();
                assert!(files(&target) == calm, "{count} {skip}: {:?}", names(&target));
                assert_eq!(fs::read_to_string(out.join("t.1/mine")).unwrap(), "kept");
            }
            if !failed {
                break;
            }
            failures += 1;
        }
        assert!(failures > 30, "{failures} changes failed");
    }
}

#[test]
fn a_journal_gives_back_what_it_was_given_up_to_the_byte_where_it_is_torn() {
    let e = parse("t.toml", FILE, &[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let header = header(&e, "contend".into(), Some(frames()));
    let draft = Draft::begin(&dir.path().join("t"), header).unwrap();
    let made = executed(&e, Some(draft.journal())).outcome;
    let point = &made.runs[0].point;
    let whole = fs::read(draft.path().join(NAME)).unwrap();
    let ends: Vec<usize> = whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
    assert_eq!(ends.len(), 4, "a header and three runs");
    let torn = dir.path().join("torn");
    fs::create_dir(&torn).unwrap();
    for end in (ends[0]..=whole.len()).step_by(97).chain(ends.iter().flat_map(|e| [e - 1, *e])) {
        fs::write(torn.join(NAME), &whole[..end]).unwrap();
        let journal = Journal::resume(&torn).unwrap().unwrap();
        assert_eq!(journal.runs(), ends[1..].iter().filter(|e| **e <= end).count(), "{end}");
        for (run, _) in made.runs.iter().zip(&ends[1..]).filter(|(_, e)| **e <= end) {
            let mut back = journal.take(point, &Default::default(), run.seed).unwrap();
            back.wall_s = 0.0;
            back.frames.clone_from(&run.frames);
            assert_eq!(format!("{back:?}"), format!("{run:?}"));
        }
    }
    // One changed bit is detected, too.
    for at in (ends[1]..ends[2]).step_by(61) {
        let mut bad = whole.clone();
        bad[at] ^= 1;
        fs::write(torn.join(NAME), &bad).unwrap();
        assert_eq!(Journal::resume(&torn).unwrap().unwrap().runs(), 1, "{at}");
    }
}

#[test]
fn a_journal_has_one_writer() {
    let e = parse("t.toml", FILE, &[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (target, header) = (dir.path().join("t"), header(&e, "contend".into(), None));
    let first = Draft::begin(&target, header.clone()).unwrap();
    assert!(Journal::look(first.path()).is_none() && Journal::resume(first.path()).unwrap().is_none());
    assert!(Draft::resume(&target, &header).unwrap().is_none());
    let second = Draft::begin(&target, header).unwrap();
    assert_ne!(first.path(), second.path());
    drop((first, second));
    assert!(names(dir.path()).is_empty(), "nothing is left of calls without a run");
}
