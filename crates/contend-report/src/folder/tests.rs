//! Each change to the file system is made to fail, once or from that change on. Results must then be complete or
//! absent, earlier results must be unchanged, and no finished run may be lost.

use super::{Draft, Extra, header, write};
use crate::disk::fault;
use crate::journal::{Journal, NAME};
use crate::output::{FORMATS, ReportContext};
use contend_core::Time;
use contend_experiment::reading::file::{Experiment, FileError, parse, parse_with};
use contend_experiment::results::Executed;
use contend_experiment::size::CaptureWindow;
use contend_judge::execute::{Bench, Options, Workshop, execute};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A cell that produces everything a journal can hold.
const FILE: &str = "duration = \"300ms\"\nwarmup = \"100ms\"\nseeds = \"1..3\"\nsample = \"20ms\"\n\
    [wifi]\nstandard = \"802.11g\"\nrate = \"54Mbps\"\nbasic = \"6Mbps\"\n[ap]\nqueue = \"fifo\"\n\
    [[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n\
    [[flow]]\nfrom = \"station\"\nto = \"server\"\nudp = { rate = \"1Mbps\" }\n\
    [[claim]]\nid = \"A\"\npaper = \"p\"\nmetric = \"jain(successes[all], 4)\"\nexpect = { at_least = 0 }\n";

fn frames() -> CaptureWindow {
    CaptureWindow { from: Time::ZERO, to: Time::from_nanos(120_000_000), limit: 1000 }
}

fn with_files(file: &Path, text: &str) -> Result<Experiment, FileError> {
    parse_with(&file.display().to_string(), text, &[], |path, _| fs::read_to_string(path))
}

fn executed(e: &Experiment, journal: Option<&Journal>) -> Executed {
    let workshop: &dyn Workshop = journal.map_or(&Bench, |journal| journal);
    let options = Options { workshop, series: true, capture: Some(frames()), ..Options::default() };
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
    write(e, &executed, &context, draft, Extra { capture: true, exports: &[] }).map(drop).map_err(|e| e.to_string())
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
            let mut back = journal.earlier(point, &Default::default(), run.seed).unwrap();
            back.wall_s = 0.0;
            back.detail.frames.clone_from(&run.detail.frames);
            back.detail.channel.clone_from(&run.detail.channel);
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

/// A wire that follows `trace`, and one that carries the acknowledgments.
fn following(trace: &str) -> String {
    format!(
        "duration = \"300ms\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
        [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = {{ trace = \"{trace}\" }}\nreverse = {{ rate = \"10Mbps\" }}\n\
        [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n"
    )
}

#[test]
fn a_results_folder_has_the_traces_that_repeat_its_runs() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("lte")).unwrap();
    fs::write(at("lte/down.trace"), "1\n2\n2\n5\n9\n").unwrap();
    let read = |file: &Path, text: &str| with_files(file, text).map_err(|e| e.render(false));
    let e = read(&at("t.toml"), &following("lte/down.trace")).unwrap();
    call(&e, &at("r"), false).unwrap();
    // Another trace in the same place: the results keep theirs, and unfinished runs do not go on with it.
    fs::write(at("lte/down.trace"), "3\n").unwrap();
    let other = read(&at("t.toml"), &following("lte/down.trace")).unwrap();
    let copy = at("r/run.toml");
    let again = read(&copy, &fs::read_to_string(&copy).unwrap()).unwrap();
    let digest = |e: &Experiment| executed(e, None).outcome.runs[0].digest.clone();
    assert_eq!(digest(&again), digest(&e));
    assert_ne!(digest(&other), digest(&e));
    assert_eq!(header(&e, String::new(), None).differs(&header(&again, String::new(), None)), None);
    let differs = header(&e, String::new(), None).differs(&header(&other, String::new(), None));
    assert_eq!(differs, Some("a trace of the experiment"));
    // A copy would replace one of the folder's own files.
    fs::write(at("summary.json"), "3\n").unwrap();
    fs::create_dir(at("run.toml")).unwrap();
    fs::write(at("run.toml/a.tcl"), "3\n").unwrap();
    for trace in ["summary.json", "./summary.json", "run.toml/a.tcl"] {
        let e = read(&at("t.toml"), &following(trace)).unwrap();
        let refused = call(&e, &at("s"), false).unwrap_err();
        assert!(refused.contains(&format!("{trace}: the results have a file of this name")), "{refused}");
        assert!(!at("s").exists());
    }
}
