//! From a name to an experiment: the text of a file or an example, and the settings of a call.

use crate::built::{self, Built};
use crate::folder::files_below;
use crate::judging::claim;
use crate::nearest;
use crate::reading::examples::{self, Example};
use crate::reading::file::{self, Experiment, FileError, Spread};
use contend_core::Refusal;
pub use contend_experiment::reading::command::{command_line, quoted};
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Tries points on all cores. The threads end with the call: a process that is forked afterwards, as those of Python's
/// pools are, would wait for ever for the threads of a pool.
const ON_ALL_CORES: Spread = |n, each| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // A thread costs as much as some points.
    let part = n.div_ceil(cores).max(16);
    std::thread::scope(|s| {
        for from in (part..n).step_by(part) {
            s.spawn(move || (from..n.min(from + part)).for_each(each));
        }
        (0..n.min(part)).for_each(each);
    });
};

/// Longest file that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// The experiment of a text from `name`, with the settings `sets` (key and value). Those in the head of a run.toml are
/// among them only if the caller puts them there ([`folder::settings`](crate::writing::folder::settings)).
///
/// # Errors
/// When the text describes no valid experiment.
pub fn experiment(name: &str, text: &str, sets: &[(String, String)]) -> Result<Experiment, FileError> {
    let mut e = file::read(name, text, sets)?;
    e.try_points(&AtomicBool::new(false), ON_ALL_CORES)?;
    claim::validate(&e)?;
    Ok(e)
}

/// Like [`experiment`]; `None` if `stop` was set before all points were tried.
///
/// # Errors
/// As [`experiment`].
pub fn experiment_until(
    name: &str,
    text: &str,
    sets: &[(String, String)],
    stop: &AtomicBool,
) -> Result<Option<Experiment>, FileError> {
    let mut e = file::read(name, text, sets)?;
    if !e.try_points(stop, ON_ALL_CORES)? {
        return Ok(None);
    }
    claim::validate(&e)?;
    Ok(Some(e))
}

/// The experiment with the points of part `number` of `of` ([`Experiment::keep_part`]). No other network is built.
///
/// # Errors
/// As [`experiment`].
pub fn part(
    name: &str,
    text: &str,
    sets: &[(String, String)],
    number: usize,
    of: usize,
) -> Result<Experiment, FileError> {
    let mut e = file::read(name, text, sets)?;
    e.keep_part(number, of);
    e.try_points(&AtomicBool::new(false), ON_ALL_CORES)?;
    claim::validate(&e)?;
    Ok(e)
}

/// The number of sweep points of a text. No network is built.
///
/// # Errors
/// When the text is invalid at every point.
pub fn points(name: &str, text: &str, sets: &[(String, String)]) -> Result<usize, FileError> {
    file::read(name, text, sets).map(|e| e.points.len())
}

/// The text of the experiment file at `path`. If there is nothing at `path`, it may be the name of an example or of a
/// paper's experiment.
///
/// # Errors
/// When there is neither; the remedy says what to give instead.
pub fn text(path: &Path) -> Result<String, Refusal> {
    if path.symlink_metadata().is_err_and(|err| err.kind() == ErrorKind::NotFound) {
        return path.to_str().and_then(inside).map(str::to_owned).ok_or_else(|| nothing_at(path));
    }
    let name = path.display();
    if path.is_dir() {
        let remedy = "give the path of an experiment file; `contend list experiments` shows some";
        let inside = files_below(path)
            .map_err(|too_large| Refusal::new(format!("{name} is a folder, and {too_large}"), remedy))?;
        let (count, many) = (inside.len(), if inside.len() == 1 { "" } else { "s" });
        return Err(Refusal::new(
            format!("{name} is a folder, not an experiment file; it contains {count} TOML file{many}"),
            inside.first().map_or(remedy.to_owned(), |f| format!("name the files to run, like {}", f.display())),
        ));
    }
    let mut bytes = Vec::new();
    if let Err(err) = std::fs::File::open(path).and_then(|f| f.take(LONGEST + 1).read_to_end(&mut bytes)) {
        return Err(Refusal::new(
            format!("{name} cannot be read: {err}"),
            "give the path of an experiment file; `contend list experiments` shows some",
        ));
    }
    if bytes.len() as u64 > LONGEST {
        return Err(Refusal::new(
            format!("{name} is longer than {} MB", LONGEST >> 20),
            "experiment files are short texts; did you mean another file?",
        ));
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(Refusal::new(
            format!("{name} is empty"),
            "copy an existing experiment file and change it; `contend list experiments` shows some",
        )),
        Ok(text) => Ok(text),
        Err(err) => {
            let at = err.utf8_error().valid_up_to();
            let line = err.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1;
            Err(Refusal::new(
                format!("{name}:{line}: the text is not valid UTF-8"),
                "save the file as UTF-8; `iconv -f latin1 -t utf-8` converts an older text",
            ))
        }
    }
}

/// The text of the example or the paper's experiment with this name, from inside the program.
pub fn inside(name: &str) -> Option<&'static str> {
    Example::named(name).map(|s| s.text).or_else(|| Built::named(name).map(|f| f.text))
}

/// The error about a path at which there is no file and which names no example.
fn nothing_at(path: &Path) -> Refusal {
    let folders = ["experiments", "papers"].map(|folder| files_below(Path::new(folder)).unwrap_or_default());
    let files = folders.concat().into_iter().map(|file| file.display().to_string());
    let files: Vec<String> = files.chain(built::experiments().map(|f| f.name.to_owned())).collect();
    let examples: Vec<&str> = examples::ALL.iter().map(|s| s.name).collect();
    let (asked, stem) = (path.to_string_lossy(), path.file_stem().unwrap_or_default().to_string_lossy());
    let near = Example::named(&stem)
        .map(|s| s.name)
        .or_else(|| nearest(&asked, examples.iter().copied().chain(files.iter().map(String::as_str))))
        .map_or(String::new(), |name| format!("did you mean `{name}`? "));
    Refusal::new(
        format!("{asked} cannot be read: there is no such file, and no example has this name"),
        format!(
            "{near}`contend list experiments` shows the files of this folder; the examples are {}",
            examples.join(", ")
        ),
    )
}
