//! The head of `run.toml`: version, command line, seeds and settings of the call, as comments before the experiment.

use crate::output::ReportContext;
use contend_experiment::reading::file::Experiment;

/// Start of the first line that [`repeatable`] writes.
const HEAD: &str = "# contend ";
/// Start of a line that holds one setting of the call.
const SETTING: &str = "# --set ";

/// The text of `e` after a head of comments with everything that is needed to repeat the call. `seeds` are those of the
/// runs.
pub fn repeatable(e: &Experiment, context: &ReportContext, seeds: &str, missing: usize) -> String {
    let settings: String = e.source.sets.iter().map(|s| format!("{SETTING}{}\n", on_one_line(s))).collect();
    let stopped = if missing > 0 { format!("# stopped early: {missing} runs are missing\n") } else { String::new() };
    let text = bare(&e.source.text);
    format!(
        "{HEAD}{}\n# {}\n# seeds {}\n{stopped}{settings}\n{text}",
        env!("CARGO_PKG_VERSION"),
        on_one_line(&context.command),
        if context.seeds.is_empty() { seeds } else { &context.seeds }
    )
}

/// The settings in the head that `repeatable` wrote; empty when `text` has no such head.
pub fn settings(text: &str) -> Vec<(String, String)> {
    let Some((head, _)) = split(text) else { return Vec::new() };
    let setting = |line: &str| {
        let written = line.strip_prefix(SETTING)?;
        let plain = serde_json::from_str::<String>(written).unwrap_or_else(|_| written.to_owned());
        plain.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))
    };
    head.lines().filter_map(setting).collect()
}

/// `text` without its head. A repeated repetition thus has one head, not two.
pub(super) fn bare(text: &str) -> &str {
    split(text).map_or(text, |(_, rest)| rest)
}

/// Splits a `run.toml` into its head and the experiment.
fn split(text: &str) -> Option<(&str, &str)> {
    let version = text.strip_prefix(HEAD)?.lines().next()?;
    (version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' '))
        .then(|| text.split_once("\n\n"))
        .flatten()
}

/// `text` unchanged if it fits on one line and reads back unchanged; otherwise as a JSON string.
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
        contend_experiment::reading::file::parse("t.toml", text, sets).unwrap()
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
        let text = repeatable(&e, &context, "", 2);
        assert_eq!(settings(&text), sets, "{text}");
        assert!(text.contains("stopped early: 2 runs"));
        let again = load(&text, &settings(&text));
        assert_eq!((again.seeds.clone(), again.notes.as_str()), (vec![3, 4], "two\nlines = \"of\" text"));
        // Repeating a repetition changes only the head.
        assert_eq!(bare(&repeatable(&again, &context, "", 0)), FILE);
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
}
