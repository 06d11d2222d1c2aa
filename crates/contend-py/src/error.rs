//! Errors of contend as Python exceptions: what is wrong, the place, and the remedy.

use contend_lab::execute;
use contend_lab::reading::file::FileError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    contend,
    Error,
    PyValueError,
    "What is wrong with a file, a setting or a call.\n\nThe text has the place, the message and the remedy. They are \
     also attributes: `file`, `line`, `column` (from 1, or None), `message`, `remedy` (or None)."
);

/// An error about a place of a file or a setting.
pub(crate) fn in_file(err: &FileError) -> PyErr {
    let remedy = err.remedy().map(in_python);
    let text = match (err.remedy(), &remedy) {
        (Some(before), Some(now)) => err.render(false).replace(before, now),
        _ => err.render(false),
    };
    raised(text, &err.to_string(), Some(err.file()), err.line_column(), remedy.as_deref())
}

/// An error about the call.
pub(crate) fn plain(message: &str, remedy: Option<&str>) -> PyErr {
    let remedy = remedy.map(in_python);
    let help = remedy.as_ref().map_or_else(String::new, |remedy| format!("\n  help: {remedy}"));
    raised(format!("{message}{help}"), message, None, None, remedy.as_deref())
}

/// A remedy with arguments in the place of the command's options: `--set warmup=0s` is `set={"warmup": "0s"}`.
fn in_python(remedy: &str) -> String {
    let mut words = remedy.split(' ').peekable();
    let mut out: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        let argument = ["set", "sweep", "seeds", "show", "decide"]
            .into_iter()
            .find(|name| word.trim_end_matches([',', ';']).strip_prefix("--") == Some(name));
        let next = words.peek().copied().unwrap_or_default();
        match (argument, next.split_once('=')) {
            // A text of the shell.
            (Some(_), _) if next.starts_with('\'') => out.push(word.to_owned()),
            (Some(name @ ("set" | "sweep")), Some((key, value))) => {
                out.push(format!("{name}={{\"{key}\": \"{value}\"}}"));
                words.next();
            }
            (Some("seeds"), _) if next.starts_with(|c: char| c.is_ascii_digit()) => {
                out.push(format!("seeds=\"{next}\""));
                words.next();
            }
            (Some(name), _) => out.push(word.replacen(&format!("--{name}"), &format!("{name}="), 1)),
            (None, _) => out.push(word.to_owned()),
        }
    }
    out.join(" ")
}

/// Why an experiment could not be run.
pub(crate) fn of_run(err: &execute::Error) -> PyErr {
    match err {
        execute::Error::File(err) => in_file(err),
        execute::Error::Refused { what, remedy } => plain(what, remedy.as_deref()),
        execute::Error::Machine(what) => plain(what, None),
    }
}

fn raised(
    text: String,
    message: &str,
    file: Option<&str>,
    place: Option<(usize, usize)>,
    remedy: Option<&str>,
) -> PyErr {
    let err = Error::new_err(text.trim_end().to_owned());
    let set = |py: Python<'_>| -> PyResult<()> {
        let value = err.value(py);
        value.setattr("message", message)?;
        value.setattr("file", file)?;
        value.setattr("line", place.map(|p| p.0))?;
        value.setattr("column", place.map(|p| p.1))?;
        value.setattr("remedy", remedy)
    };
    Python::attach(set).err().unwrap_or(err)
}
