//! Programs that run in hosts.

use crate::host::Asking;
use contend_core::Refusal;
use contend_core::Time;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A program that runs in a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name of the host; `None`: the first station.
    pub host: Option<String>,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// When it starts.
    pub start: Time,
}

impl Program {
    /// `text` for `sh`, in `host` at `start`.
    pub fn of_shell(host: Option<String>, text: &str, start: Time) -> Program {
        Program { host, words: SHELL.iter().map(|&word| word.to_owned()).chain([text.to_owned()]).collect(), start }
    }

    /// The name of the program, if this machine lacks it. Of a text for `sh` it is the first word; what begins with
    /// an assignment, a quote or an expansion is not judged.
    pub fn missing(&self) -> Option<&str> {
        let name = match self.words.as_slice() {
            [sh, c, text] if [sh, c] == SHELL => text.split_ascii_whitespace().next()?,
            words => words.first()?,
        };
        let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._+-".contains(&b));
        let mut probe = Command::new("sh");
        probe.args(["-c", "command -v -- \"$1\"", "sh", name]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut lacks = || probe.stderr(Stdio::null()).status().is_ok_and(|status| !status.success());
        (is_plain && lacks()).then_some(name)
    }
}

/// What stands before a text for the shell.
const SHELL: [&str; 2] = ["sh", "-c"];

/// A program that ended by itself, and not well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its number in the order of their starts, from 1.
    pub number: usize,
    /// What was run.
    pub text: String,
    /// How it ended.
    pub status: i32,
}

/// The programs of a run. Dropping it waits for all of them; their hosts must be gone.
#[derive(Debug)]
pub struct Programs {
    stop: Arc<AtomicBool>,
    /// How the command ended.
    ended: Arc<Mutex<Option<ExitStatus>>>,
    threads: Vec<JoinHandle<()>>,
}

/// A program that cannot be started ends with this status, as in a shell.
const NOT_FOUND: i32 = 127;

impl Programs {
    /// Starts `programs`, each in its host at its time, and `command`, which has the terminal. What programs print goes
    /// into files in `logs`; those that fail come into `failed` when the hosts are gone.
    ///
    /// # Errors
    /// When no thread can be made.
    pub fn start(
        asking: &Asking,
        mut programs: Vec<(usize, Program)>,
        command: Option<(usize, Program)>,
        logs: Option<PathBuf>,
        failed: Arc<Mutex<Vec<Failed>>>,
    ) -> Result<Programs, Refusal> {
        programs.sort_by_key(|(_, p)| p.start);
        let (stop, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let mut threads = Vec::new();
        let (of_programs, stopped) = (asking.clone(), Arc::clone(&stop));
        let start = move || {
            let (mut passed, mut children) = (Time::ZERO, Vec::new());
            for (number, (host, p)) in programs.into_iter().enumerate() {
                if !wait(p.start.since(passed).as_nanos(), &stopped) {
                    break;
                }
                passed = p.start;
                let log = logs.as_deref().map(|folder| folder.join(format!("program-{}.log", number + 1)));
                let words = p.words.clone();
                match of_programs.at(host, move || background(&words, log.as_deref())) {
                    Ok(child) => children.push((number + 1, p, child)),
                    Err(e) => eprintln!("contend: {} cannot be started: {e}", p.words.join(" ")),
                }
            }
            // The PID namespace ends only when all its processes are waited for. What ends with it has no status.
            for (number, p, mut child) in children {
                let status = child.wait().ok().and_then(|ended| ended.code()).filter(|status| *status != 0);
                if let (Some(status), Ok(mut failed)) = (status, failed.lock()) {
                    let text = p.words.last().cloned().unwrap_or_default();
                    failed.push(Failed { number, text, status });
                }
            }
        };
        let thread = |name: &str, f: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.into()).spawn(f).map_err(|e| format!("no thread: {e}"))
        };
        threads.push(thread("programs", Box::new(start))?);
        if let Some((host, p)) = command {
            let (asking, ended, stopped) = (asking.clone(), Arc::clone(&ended), Arc::clone(&stop));
            let run = move || {
                if !wait(p.start.as_nanos(), &stopped) {
                    return;
                }
                let words = p.words.clone();
                let child = asking.at(host, move || command_of(&words).spawn());
                let status = child.and_then(|mut child| child.wait()).unwrap_or_else(|e| {
                    eprintln!("contend: {} cannot be started: {e}", p.words.join(" "));
                    ExitStatus::from_raw(NOT_FOUND << 8)
                });
                if let Ok(mut ended) = ended.lock() {
                    *ended = Some(status);
                }
            };
            threads.push(thread("command", Box::new(run))?);
        }
        Ok(Programs { stop, ended, threads })
    }

    /// How the command ended, if it has.
    pub fn ended(&self) -> Option<ExitStatus> {
        *self.ended.lock().ok()?
    }

    /// Starts no more programs.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Waits so many nanoseconds; returns false if `stop` was set before.
fn wait(mut ns: u64, stop: &AtomicBool) -> bool {
    const STEP: u64 = 20_000_000;
    while ns > 0 && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_nanos(ns.min(STEP)));
        ns -= ns.min(STEP);
    }
    !stop.load(Ordering::Relaxed)
}

fn command_of(words: &[String]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    command.args(words);
    command
}

/// Starts a program that has no terminal: Ctrl-C does not reach it.
fn background(words: &[String], log: Option<&Path>) -> io::Result<Child> {
    let output = log.map(File::create).transpose()?;
    let mut command = command_of(words);
    command.stdin(Stdio::null()).process_group(0);
    match output {
        Some(file) => command.stderr(file.try_clone()?).stdout(file),
        None => command.stdout(Stdio::null()).stderr(Stdio::null()),
    };
    command.spawn()
}
