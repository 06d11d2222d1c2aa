//! The results folder: what a call found out, and enough to repeat it.
//!
//! `run.toml` is the experiment's text under a head of comments: version, command line, seeds, and the settings of the
//! call. A file with such a head is read with those settings, so `contend run results/hotspot/run.toml` makes the same
//! runs, bit by bit.

use super::{say, wrong};
use contend_lab::execute::Executed;
use contend_lab::file::{Experiment, Overlay};
use contend_lab::output::{self, Band, ReportContext};
use contend_sim::wifi::phy::Standard;
use miette::Result;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes everything about `executed` into `folder`; what was there before is moved aside.
///
/// # Errors
/// When the folder cannot be written.
pub fn write(
    e: &Experiment,
    executed: &Executed,
    context: &ReportContext,
    folder: &Path,
    capture: bool,
    quiet: bool,
) -> Result<()> {
    move_aside(folder, quiet)?;
    let o = &executed.outcome;
    let text = |name: &str, text: &str| output::atomically(&folder.join(name), |w| w.write_all(text.as_bytes()));
    let all = || -> Result<(), output::Error> {
        text("run.toml", &repeatable(e, context, o.interrupted.map_or(0, |i| i.missing)))?;
        text("summary.json", &(output::to_json(o) + "\n"))?;
        output::write_flows(o, context, &folder.join("flows.parquet"))?;
        output::write_series(o, context, &folder.join("series.parquet"))?;
        output::atomically(&folder.join("results.csv"), |w| output::write_csv(o, w))?;
        if capture && let Some(run) = o.runs.first() {
            output::atomically(&folder.join("air.pcapng"), |w| {
                output::write_pcapng(run, output::Capture { band: band(e), ..output::Capture::default() }, w)
            })?;
        }
        output::write_report(o, context, &folder.join("report.html"))
    };
    all().map_err(|err| wrong(err, "give a folder that can be written with --out, or --no-results"))?;
    if !quiet {
        say(&format!("contend: {}", folder.join("report.html").display()));
    }
    Ok(())
}

/// The band of the experiment's cell, for the channel that a capture names.
fn band(e: &Experiment) -> Band {
    let cell = e.points.first().and_then(|p| e.scenario(p, &Overlay::default()).ok()).and_then(|r| r.scenario.cell);
    if cell.is_some_and(|c| c.phy.standard == Standard::A) { Band::Ghz5 } else { Band::Ghz2 }
}

/// Gives what is at `path` another name, when there is something.
///
/// # Errors
/// When the system refuses.
pub fn move_aside(path: &Path, quiet: bool) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        let aside = aside(path);
        std::fs::rename(path, &aside).map_err(|err| {
            wrong(format!("{} cannot be moved aside: {err}", path.display()), "give another folder with --out")
        })?;
        if !quiet {
            say(&format!("contend: earlier results are now in {}", aside.display()));
        }
    }
    Ok(())
}

/// The first of `folder.1`, `folder.2`, ... that is not there yet; of a page, `report.1.html`.
fn aside(path: &Path) -> PathBuf {
    let page = path.extension().is_some_and(|e| e == "html");
    let numbered = |i: u64| {
        if page {
            return path.with_extension(format!("{i}.html"));
        }
        let mut name = path.as_os_str().to_os_string();
        name.push(format!(".{i}"));
        PathBuf::from(name)
    };
    (1..).map(numbered).find(|p| p.symlink_metadata().is_err()).unwrap_or_else(|| numbered(0))
}

/// How the first line of [`repeatable`] begins.
const HEAD: &str = "# contend ";
/// What stands before a setting of the call.
const SETTING: &str = "# --set ";

/// The text of `e` with everything that is needed to repeat it before it, as comments.
fn repeatable(e: &Experiment, context: &ReportContext, missing: usize) -> String {
    let settings: String = e.source.sets.iter().map(|s| format!("{SETTING}{}\n", on_one_line(s))).collect();
    let stopped = if missing > 0 { format!("# stopped early: {missing} runs are missing\n") } else { String::new() };
    let text = bare(&e.source.text);
    format!(
        "{HEAD}{}\n# {}\n# seeds {}\n{stopped}{settings}\n{text}",
        env!("CARGO_PKG_VERSION"),
        on_one_line(&context.command),
        context.seeds
    )
}

/// The settings in the head that [`repeatable`] wrote before a text; none when there is no such head.
pub fn settings(text: &str) -> Vec<(String, String)> {
    let Some((head, _)) = split(text) else { return Vec::new() };
    let setting = |line: &str| {
        let written = line.strip_prefix(SETTING)?;
        let plain = serde_json::from_str::<String>(written).unwrap_or_else(|_| written.to_owned());
        plain.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))
    };
    head.lines().filter_map(setting).collect()
}

/// `text` without a head: results of results have one head, not two.
fn bare(text: &str) -> &str {
    split(text).map_or(text, |(_, rest)| rest)
}

/// The head of a `run.toml` and the experiment under it.
fn split(text: &str) -> Option<(&str, &str)> {
    let version = text.strip_prefix(HEAD)?.lines().next()?;
    (version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' '))
        .then(|| text.split_once("\n\n"))
        .flatten()
}

/// `text`, as a JSON string when it would not stay on one line or not be read back as it is.
fn on_one_line(text: &str) -> String {
    if text.chars().any(char::is_control) || text.starts_with('"') {
        serde_json::Value::from(text).to_string()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "duration = \"2s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nfrom = \"a\"\nto \
        = \"b\"\n\
                        [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"reno\"\n";

    fn load(text: &str, sets: &[(String, String)]) -> Experiment {
        contend_lab::file::parse("t.toml", text, sets).unwrap()
    }

    #[test]
    fn settings_come_back_as_they_were_given() {
        let sets = [
            ("notes", "two\nlines = \"of\" text"),
            ("flow.0.window", "42p"),
            ("\"flow\".0.delay", "= 1ms"),
            ("seeds", "3..4"),
        ];
        let sets: Vec<(String, String)> =
            sets[..2].iter().chain(&sets[3..]).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let e = load(FILE, &sets);
        let context = ReportContext {
            command: "contend run t.toml --set 'notes=two\nlines'".into(),
            seeds: "3..4".into(),
            ..ReportContext::default()
        };
        let text = repeatable(&e, &context, 2);
        assert_eq!(settings(&text), sets, "{text}");
        assert!(text.contains("stopped early: 2 runs"));
        let again = load(&text, &settings(&text));
        assert_eq!((again.seeds.clone(), again.notes.as_str()), (vec![3, 4], "two\nlines = \"of\" text"));
        // Repeating a repetition changes nothing but the head.
        assert_eq!(bare(&repeatable(&again, &context, 0)), FILE);
    }

    #[test]
    fn comments_of_an_ordinary_file_are_no_settings() {
        for text in [
            "# contend runs this\n# --set wifi.slot=9us\n\n",
            "# --set wifi.slot=9us\n\n",
            "# contend 0.1.0\nduration = \"1s\"",
            "",
        ] {
            assert_eq!(settings(text), [], "{text}");
        }
    }

    #[test]
    fn what_is_moved_aside_keeps_its_whole_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("v1.2");
        assert_eq!(aside(&folder), dir.path().join("v1.2.1"));
        std::fs::create_dir(dir.path().join("v1.2.1")).unwrap();
        assert_eq!(aside(&folder), dir.path().join("v1.2.2"));
    }
}
