//! Experiment files, and the files that they name, from the disk.

pub use contend_experiment::reading::file::*;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads the file at `path`, with these settings (`--set`). What may also be the name of an example goes through
/// [`crate::opening`].
///
/// # Errors
/// When the file cannot be read or is invalid.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Experiment, FileError> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&name, &text, overrides),
        Err(e) => {
            let source = Source { path: name, text: String::new(), sets: vec![] };
            Err(FileError::new(
                &source,
                &Spot::None,
                format!("the file cannot be read: {e}"),
                "give the path of an experiment file; `contend list experiments` shows those that come with contend",
            ))
        }
    }
}

/// Like [`load`], for a text in memory; `name` is its name in errors. It hides the `parse` of contend-experiment, which
/// reads no files.
///
/// # Errors
/// When the text is invalid, or a file that it names cannot be read.
pub fn parse(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Experiment, FileError> {
    parse_with(name, text, overrides, from_disk)
}

/// Like [`parse`], but no point is tried yet, as in [`read_with`].
///
/// # Errors
/// As [`read_with`].
pub fn read(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Experiment, FileError> {
    read_with(name, text, overrides, from_disk)
}

/// The text of the file at `path`, as [`Files`] says.
///
/// # Errors
/// When it is no file, too long, or no text.
pub fn from_disk(path: &str, longest: u64) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(io::Error::other(format!("it is longer than {} MB", longest >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wire that follows `trace`, and one that carries the acknowledgments.
    fn following(trace: &str) -> String {
        format!(
            "duration = \"300ms\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
            [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = {{ trace = \"{trace}\" }}\nreverse = {{ rate = \"10Mbps\" }}\n\
            [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n"
        )
    }

    #[test]
    fn a_trace_that_cannot_be_used_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(at("down.csv"), "time,rate\n0,10Mbps\n1,fast\n").unwrap();
        let error = |trace: &str| parse(&at("t.toml"), &following(trace), &[]).unwrap_err().render(false);
        let wrong = error("down.csv");
        let place = format!("{}:3:1: the trace of `link.0.rate.trace`: \"fast\" is not a rate", at("down.csv"));
        assert!(wrong.starts_with(&place) && wrong.contains("help: write time,rate in each line"), "{wrong}");
        for (trace, message) in [
            ("../down.csv", "must be a path in the folder of the experiment file, not \"../down.csv\""),
            ("/etc/passwd", "must be a path in the folder"),
            ("", "must be a path in the folder"),
            ("nothing.trace", "names a trace that cannot be read"),
            (".", "it is not a file"),
        ] {
            let wrong = error(trace);
            assert!(wrong.contains("t.toml:9:18: `link.0.rate.trace` ") && wrong.contains(message), "{wrong}");
            assert!(wrong.contains("help: "), "{wrong}");
        }
    }
}
