//! One experiment of a call: it is run, and its results folder is written.

use super::common::Common;
use super::{say, wrong};
use contend_core::Time;
use contend_lab::execute::{self, Options, Shard, Simulated, execute};
use contend_lab::experiment::results::Executed;
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::opening::quoted;
use contend_lab::reading::file::Experiment;
use contend_lab::running::advice;
use contend_lab::running::network::Engine;
use contend_lab::writing::folder::{self, Draft, Extra, ResumeError};
use contend_lab::writing::journal::{Header, Journal};
use contend_lab::writing::output::{Export, ReportContext};
use indicatif::{ProgressBar, ProgressStyle};
use miette::{Report, Result};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// One experiment to run, and where its results go.
pub struct Job<'a> {
    pub e: &'a Experiment,
    pub common: &'a Common,
    pub stop: &'a AtomicBool,
    /// Builds the networks and advances their time.
    pub engine: &'a dyn Engine,
    /// The interval of `--capture`, if given.
    pub capture: Option<(Time, Time)>,
    /// The formats of `--export`.
    pub exports: &'a [&'static Export],
    /// The text on the progress bar.
    pub name: String,
    /// The results folder; `None` if no results are written.
    pub folder: Option<PathBuf>,
    /// True if the complete folder keeps its journal because the call has another experiment to run.
    pub keep_journal: bool,
}

/// The result of a job.
pub struct Performed {
    pub executed: Executed,
    /// Why the results folder could not be written.
    pub unwritten: Option<Report>,
}

impl<'a> Job<'a> {
    /// Runs `e` and writes nothing.
    pub fn new(e: &'a Experiment, common: &'a Common, stop: &'a AtomicBool, name: String) -> Job<'a> {
        Job {
            e,
            common,
            stop,
            engine: &Simulated,
            capture: None,
            exports: &[],
            name,
            folder: None,
            keep_journal: false,
        }
    }

    /// Checks that the results folder can be written. With `resume`, returns the unfinished folder of an earlier call.
    ///
    /// # Errors
    /// When the folder cannot be written, or when the unfinished folder belongs to another experiment.
    pub fn prepare(&self, resume: bool) -> Result<Option<Draft>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let header = self.header();
        if resume {
            match self.resume()? {
                Some(draft) => return Ok(Some(draft)),
                None => say(&format!(
                    "contend: {}: there is nothing to resume; all runs start from the beginning",
                    self.name
                )),
            }
        }
        Draft::begin(folder, header).map(|_| None).map_err(unwritable)
    }

    /// The unfinished results folder of an earlier call, if there is one.
    ///
    /// # Errors
    /// As [`Job::prepare`].
    pub fn resume(&self) -> Result<Option<Draft>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        Draft::resume(folder, &self.header()).map_err(|err| match err {
            ResumeError::Output(err) => unwritable(err),
            err => err.into(),
        })
    }

    /// Tells the user about finished runs of an earlier call.
    pub fn say_unfinished(&self) {
        let left = self.folder.as_ref().and_then(|folder| folder::unfinished(folder, &self.header()));
        if let Some((folder, runs)) = left.filter(|_| !self.common.quiet) {
            say(&format!(
                "contend: {} holds {runs} finished runs of an interrupted call; --resume continues that call",
                folder.display()
            ));
        }
    }

    /// The header of the journal of this call.
    pub fn header(&self) -> Header {
        folder::header(self.e, command_line(), Some(self.frames()))
    }

    /// The frames of the first run that are kept.
    fn frames(&self) -> CaptureWindow {
        self.capture.map_or_else(|| CaptureWindow::timeline(self.e.warmup), |(from, to)| CaptureWindow::new(from, to))
    }

    /// Runs the experiment and writes the results folder. An unfinished folder `draft` is completed. Notes go to
    /// standard error.
    ///
    /// # Errors
    /// When no network can be built from the file, or when the folder cannot be created.
    pub fn perform(&self, draft: Option<Draft>) -> Result<Performed> {
        let mut draft = match (draft, &self.folder) {
            (None, Some(folder)) => Some(Draft::begin(folder, self.header()).map_err(unwritable)?),
            (draft, _) => draft,
        };
        if let Some(draft) = &draft {
            self.engine.keep_in(draft.path());
        }
        if self.keep_journal {
            draft.iter_mut().for_each(Draft::keep_journal);
        }
        if !self.common.quiet {
            let notes = advice::before_the_runs(self.e);
            self.e.remarks.iter().chain(&notes).for_each(|note| say(&format!("contend: {note}")));
        }
        let executed = match (self.execute(draft.is_some(), draft.as_ref().map(Draft::journal)), &draft) {
            (Err(err), Some(draft)) if draft.journal().runs() > 0 => {
                say(&format!("contend: {}; --resume continues from there", kept(draft.journal().runs(), draft.path())));
                return Err(err);
            }
            (executed, _) => executed?,
        };
        let runs = &executed.outcome.runs;
        let unwritten = draft.filter(|_| !runs.is_empty()).and_then(|draft| self.write(&executed, draft).err());
        if self.capture.is_some() && runs.first().is_none_or(|r| r.detail.frames.is_empty()) {
            say("contend: no frame was on the air in the interval of --capture");
        }
        if let Some(r) = runs.iter().find(|r| r.frames_missed > 0) {
            let (kept, all) = (r.detail.frames.len(), r.detail.frames.len() as u64 + r.frames_missed);
            let whose = if self.capture.is_some() { "air.pcapng holds" } else { "the report's timeline shows" };
            say(&format!(
                "contend: {whose} the first {kept} of {all} frames; give --capture a shorter interval to keep all"
            ));
        }
        match executed.outcome.interrupted {
            None => {}
            Some(i) if runs.is_empty() => say(&format!(
                "contend: stopped before the first of {} runs was finished; no results are written",
                i.missing
            )),
            Some(i) => say(&format!(
                "contend: stopped early: {} runs are missing; the results contain the finished runs only",
                i.missing
            )),
        }
        Ok(Performed { executed, unwritten })
    }

    /// True if the folder holds all runs of the shard that this call makes.
    pub fn has_shard(&self) -> bool {
        let fits = |folder: &PathBuf| {
            let (header, _) = Journal::look(folder).filter(|_| folder.join("run.toml").exists())?;
            self.header().differs(&header).is_none().then_some(())
        };
        self.folder.as_ref().and_then(fits).is_some()
    }

    /// Makes the runs of one shard and writes its folder; an unfinished folder `draft` is completed. False if the call
    /// was stopped before.
    ///
    /// # Errors
    /// As [`Job::perform`].
    pub fn shard(&self, shard: Shard, draft: Option<Draft>) -> Result<bool> {
        let Some(folder) = &self.folder else { return Ok(true) };
        let draft = match draft {
            Some(draft) => draft,
            None => Draft::begin(folder, self.header()).map_err(unwritable)?,
        };
        let path = draft.path().to_path_buf();
        let done = self.with_options(true, Some(draft.journal()), |o| execute::shard(self.e, shard, o));
        let done = done.inspect_err(|_| {
            say(&format!("contend: {}; --resume continues from there", kept(draft.journal().runs(), &path)));
        })?;
        let runs = draft.journal().runs();
        if let Some(failure) = draft.journal().failure() {
            return Err(wrong(failure, on_a_full_disk(runs, &path)));
        }
        if done.missing > 0 {
            let all = done.finished + done.missing;
            say(&format!("contend: stopped early: {} of {all} runs are missing; --resume makes them", done.missing));
            return Ok(false);
        }
        let context = ReportContext::of(self.e, draft.command().to_owned());
        let aside =
            folder::write_shard(self.e, &context, draft).map_err(|err| wrong(err, on_a_full_disk(runs, &path)))?;
        if !self.common.quiet {
            say_moved(aside.as_deref());
            say(&format!("contend: {}: {runs} runs, part {} of {}", folder.display(), shard.number, shard.of));
        }
        Ok(true)
    }

    /// What the results folder holds on request.
    fn extra(&self) -> Extra<'_> {
        Extra { capture: self.capture.is_some(), exports: self.exports }
    }

    /// Writes the results folder.
    fn write(&self, executed: &Executed, draft: Draft) -> Result<()> {
        let (path, finished) = (draft.path().to_path_buf(), draft.journal().runs());
        let failed = |err: &dyn std::fmt::Display| wrong(err, on_a_full_disk(finished, &path));
        if let Some(failure) = draft.journal().failure() {
            return Err(failed(&failure));
        }
        let context = ReportContext::of(self.e, draft.command().to_owned());
        let aside = folder::write(self.e, executed, &context, draft, self.extra()).map_err(|err| failed(&err))?;
        if !self.common.quiet {
            say_moved(aside.as_deref());
            if let Some(folder) = &self.folder {
                say(&format!("contend: {}", folder.join("report.html").display()));
            }
        }
        Ok(())
    }

    /// Runs the experiment with all details of a results folder, and writes nothing.
    ///
    /// # Errors
    /// When no network can be built from the file.
    pub fn repeat(&self) -> Result<Executed> {
        self.execute(true, None)
    }

    /// Runs the experiment. With `detail`, the result has everything that a results folder needs.
    fn execute(&self, detail: bool, journal: Option<&Journal>) -> Result<Executed> {
        let e = self.e;
        if let Some((from, _)) = self.capture.filter(|(from, _)| *from >= Time::ZERO + e.duration) {
            let end = Time::ZERO + e.duration;
            return Err(wrong(
                format!("--capture begins at {} s, but the run ends at {} s", from.as_secs_f64(), end.as_secs_f64()),
                "give an earlier interval",
            ));
        }
        let executed = self.with_options(detail, journal, |options| execute(e, options))?;
        for note in &executed.notes {
            say(&format!("contend: {note}"));
        }
        Ok(executed)
    }

    /// Calls `run` with the options of this job, and shows its progress.
    fn with_options<T>(
        &self,
        detail: bool,
        journal: Option<&Journal>,
        run: impl FnOnce(&Options<'_>) -> Result<T, execute::Error>,
    ) -> Result<T> {
        let bar = progress_bar(self.common.quiet, &self.name, "runs");
        let done = run(&Options {
            jobs: self.common.jobs.map_or(0, usize::from),
            series: detail,
            capture: detail.then(|| self.frames()),
            journal,
            engine: self.engine,
            stop: self.stop,
            progress: &|done, total| {
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            },
            ..Options::default()
        });
        bar.finish_and_clear();
        Ok(done?)
    }
}

/// The folders that a call makes for results folders in them. Those that are empty at the end are removed.
pub struct Parents(Vec<PathBuf>);

impl Parents {
    /// Those of the results folders `all` that are missing now.
    pub fn missing<'a>(all: impl IntoIterator<Item = &'a Path>) -> Parents {
        let above = |folder: &'a Path| folder.ancestors().skip(1).take_while(|path| !path.exists());
        let missing: BTreeSet<&Path> = all.into_iter().flat_map(above).collect();
        // A folder comes before those in it.
        Parents(missing.into_iter().map(Path::to_path_buf).collect())
    }
}

impl Drop for Parents {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // Folders with something in them stay.
            let _ = std::fs::remove_dir(path);
        }
    }
}

/// The error about a results folder that cannot be written.
pub fn unwritable(err: impl std::fmt::Display) -> Report {
    wrong(err, "name a writable folder with --out, or use --no-results")
}

/// Which runs are kept.
fn kept(runs: usize, folder: &Path) -> String {
    format!("{runs} finished runs are kept in {}", folder.display())
}

/// The remedy if the results cannot be written.
fn on_a_full_disk(runs: usize, folder: &Path) -> String {
    format!("{}; free some disk space and repeat the call with --resume", kept(runs, folder))
}

/// Tells the user where earlier results were moved to, if there were any.
pub fn say_moved(aside: Option<&Path>) {
    if let Some(aside) = aside {
        say(&format!("contend: earlier results are now in {}", aside.display()));
    }
}

/// The command line of this call, quoted for a shell.
pub fn command_line() -> String {
    std::iter::once("contend".to_owned())
        .chain(crate::CALL.get().into_iter().flatten().skip(1).map(|a| quoted(&a.to_string_lossy())))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A bar on standard error that counts `what`; none with `quiet`.
pub fn progress_bar(quiet: bool, name: &str, what: &str) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(1);
    // The library accepts this template. If it did not, its default would be used.
    let template = format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {what}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}
