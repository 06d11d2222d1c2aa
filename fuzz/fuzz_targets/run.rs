//! An experiment file that is read is also run, for a few simulated milliseconds: it yields numbers or an error with a
//! message.
#![no_main]

use contend_lab::execute::{Options, execute};
use contend_lab::reading::file::parse;
use libfuzzer_sys::fuzz_target;
use std::sync::atomic::AtomicBool;

/// What is laid over every file, so that it is short.
const SHORT: [(&str, &str); 4] = [("duration", "20ms"), ("warmup", "1ms"), ("seeds", "1"), ("sample", "5ms")];

fuzz_target!(|text: &str| {
    let sets: Vec<(String, String)> = SHORT.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let Ok(e) = parse("fuzz.toml", text, &sets) else { return };
    if e.points.len() > 4 {
        return;
    }
    let options = Options {
        jobs: 1,
        series: true,
        capture: None,
        journal: None,
        stop: &AtomicBool::new(false),
        progress: &|_, _| {},
    };
    match execute(&e, &options) {
        Ok(done) => assert!(done.outcome.runs.iter().all(|run| run.digest.len() == 16)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
