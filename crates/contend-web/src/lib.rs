//! contend in a browser. A page asks one question in JSON and gets one answer in JSON (`Asked`):
//!
//! 1. `room(n)` is the address of `n` bytes, for the UTF-8 text of the question;
//! 2. `ask()` answers it; 1 if the answer says what is wrong;
//! 3. the answer is the `answer_len()` bytes at `answer_at()`, until the next question.
//!
//! The page gives two functions, in the module `host`: `progress(done, planned)` is called after each run, and `now()`
//! is a clock in milliseconds. After a panic the answer has its message, and the module must not be asked again.

use contend_experiment::reading::error::Error;
use contend_experiment::reading::file::Experiment;
use contend_experiment::results::{PointKey, Run};
use contend_experiment::size::CaptureWindow;
use contend_explain::{explained, flowing, key_at};
use contend_judge::execute::{Options, Shard, Workshop, execute, shard};
use contend_page::session::{Numbers, Session, Settings, told};
use contend_report::journal::Records;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;

/// An experiment file, and what belongs to it.
#[derive(Deserialize)]
struct Given {
    name: String,
    text: String,
    /// Settings before those of the page.
    #[serde(default)]
    sets: Settings,
    /// Texts of the files that it names, by path.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// A question.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
enum Asked {
    /// What the page shows first.
    First { given: Given },
    /// How many runs there are with these settings.
    Plan { given: Given, settings: Settings },
    /// The records of a part of these runs: that with this number of so many.
    Part { given: Given, settings: Settings, number: u32, of: u32 },
    /// The report of these runs, some of which have records.
    Run {
        given: Given,
        settings: Settings,
        #[serde(default)]
        records: Vec<String>,
    },
    /// The dial of a key.
    Dial { given: Given, settings: Settings, key: String },
    /// The experiment file with these settings.
    File { given: Given, settings: Settings },
    /// What `contend explain` says about what stands at a place in the text of a file, in bytes; `null` if nothing.
    Explain { text: String, at: usize },
    /// What one result has more or less than another.
    Compare { pinned: Numbers, now: Numbers },
}

#[cfg(target_family = "wasm")]
mod host {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        pub(super) safe fn progress(done: u32, planned: u32);
        pub(super) safe fn now() -> f64;
    }
}

/// No page: the crate is compiled for its lints only.
#[cfg(not(target_family = "wasm"))]
mod host {
    pub(super) fn progress(_: u32, _: u32) {}
    pub(super) fn now() -> f64 {
        0.0
    }
}

/// One run after another, with the clock of the page.
struct Worker {
    records: Records,
    /// True if others need the records of the runs that are made here.
    keeps: bool,
}

impl Workshop for Worker {
    fn wall_s(&self) -> f64 {
        host::now() / 1e3
    }

    fn earlier(&self, point: &PointKey, overlay: &PointKey, seed: u64) -> Option<Run> {
        self.records.earlier(point, overlay, seed)
    }

    fn keep(&self, point: &PointKey, overlay: &PointKey, run: &Run) {
        if self.keeps {
            self.records.keep(point, overlay, run);
        }
    }
}

thread_local! {
    static QUESTION: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
    /// The files that the experiment of the question names.
    static FILES: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

fn file(path: &str, longest: u64) -> io::Result<String> {
    let found = FILES.with_borrow(|all| all.get(path).cloned());
    let text = found.ok_or_else(|| io::Error::other("this page does not have it"))?;
    if text.len() as u64 > longest {
        return Err(io::Error::other(format!("it is longer than {} MB", longest >> 20)));
    }
    Ok(text)
}

fn options(worker: &Worker, capture: Option<CaptureWindow>) -> Options<'_> {
    let progress = &|done, planned| host::progress(done as u32, planned as u32);
    Options { workshop: worker, series: true, capture, progress, ..Options::default() }
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|e| e.to_string())
}

fn answer(question: &[u8]) -> Result<String, String> {
    let told = |why: Error| told(&why);
    let open = |given: Given| -> Result<Session, String> {
        FILES.set(given.files);
        Ok(Session::of(given.name, given.text, given.sets, file))
    };
    let ready = |given: Given, settings: &Settings| -> Result<Experiment, String> {
        let ready = open(given)?.ready(settings, &AtomicBool::new(false));
        ready.map_err(|e| told(e.into()))?.ok_or("stopped".into())
    };
    match serde_json::from_slice(question).map_err(|e| e.to_string())? {
        Asked::First { given } => json(&open(given)?.first().map_err(told)?),
        Asked::Plan { given, settings } => {
            let e = ready(given, &settings)?;
            json(&(e.needs.len() * e.seeds.len()))
        }
        Asked::Part { given, settings, number, of } => {
            let e = ready(given, &settings)?;
            let worker = Worker { records: Records::default(), keeps: true };
            shard(&e, Shard { number, of }, &options(&worker, None)).map_err(told)?;
            json(&worker.records.made())
        }
        Asked::Run { given, settings, records } => {
            let e = ready(given, &settings)?;
            let worker = Worker { records: Records::of(&records).map_err(|e| e.to_string())?, keeps: false };
            let report = Session::report(&e, &|e, capture| execute(e, &options(&worker, Some(capture))));
            json(&report.map_err(told)?.ok_or("stopped")?)
        }
        Asked::Dial { given, settings, key } => json(&open(given)?.dial(&key, &settings).map_err(told)?),
        Asked::File { given, settings } => json(&open(given)?.file(&settings).map_err(told)?),
        Asked::Explain { text, at } => {
            let found = key_at(&text, at).and_then(|name| explained(&name, &[]).ok());
            json(&found.map(|text| flowing(&text)))
        }
        Asked::Compare { pinned, now } => json(&pinned.compare(&now).map_err(told)?),
    }
}

/// Room for a question of `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    QUESTION.with_borrow_mut(|question| {
        question.clear();
        question.resize(len, 0);
        question.as_mut_ptr()
    })
}

/// Answers the question. 1 if the answer says what is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u32 {
    std::panic::set_hook(Box::new(|info| ANSWER.with(|a| *a.borrow_mut() = info.to_string())));
    let (wrong, text) = match answer(&QUESTION.take()) {
        Ok(text) => (0, text),
        Err(text) => (1, text),
    };
    ANSWER.set(text);
    wrong
}

/// The address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    ANSWER.with_borrow(|a| a.as_ptr())
}

/// The length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_len() -> usize {
    ANSWER.with_borrow(String::len)
}
