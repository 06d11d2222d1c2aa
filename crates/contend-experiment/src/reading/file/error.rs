//! Errors in a file: what is wrong, the place, and the remedy.

use crate::echo::{REMEDY, SENTENCE, echo, is_unseen};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;

/// The texts that errors point into: the file and the settings of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's path, as the user wrote it.
    pub path: String,
    /// The file's text.
    pub text: String,
    /// All settings of the command line, as `key=value`; `--sweep KEY=VALUES` is `sweep.KEY=VALUES`.
    pub sets: Vec<String>,
}

impl Source {
    /// The options of `contend run` that make the settings, each with its value.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.sets.iter().map(|set| {
            let (name, value, _) = option(set);
            (name, value)
        })
    }

    /// True if a setting changes what is simulated, and not only how often or what is shown.
    pub fn has_changes(&self) -> bool {
        let is_judged = |value: &str| ["claim=", "check="].iter().any(|key| value.starts_with(key));
        self.options().any(|(option, value)| match option {
            "--set" => !is_judged(value),
            option => option == "--sweep",
        })
    }
}

/// A spot in a [`Source`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Spot {
    /// No spot: the program created the value.
    #[default]
    None,
    /// These bytes of the file.
    File(Range<usize>),
    /// These bytes of this `--set`, counted from 0.
    Set(usize, Range<usize>),
}

/// Maximum width of messages on a terminal, in columns.
const WIDTH: usize = 100;
/// Longest line of a file that is shown with an error, in bytes.
const LONGEST_LINE: usize = 400;

/// An error in an experiment file. [`fmt::Display`] gives the message only, [`FileError::render`] everything.
#[derive(Clone, Debug)]
pub struct FileError(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    message: String,
    help: Option<String>,
    code: NamedSource<String>,
    /// True if `code` is an option of the command line, false if `code` is the file.
    is_option: bool,
    /// Marked places, each with a label. The first place gives the line of the error.
    labels: Vec<(Range<usize>, String)>,
}

impl FileError {
    /// An error about the value at `site`. `message` names the key; `help` is the remedy and may be empty. Both are
    /// shown on one line of bounded length ([`echo`]), even if they quote the file.
    pub fn new(source: &Source, site: &Spot, message: impl Into<String>, help: impl Into<String>) -> FileError {
        FileError::with_label(source, site, message, "here", help)
    }

    /// Like [`FileError::new`]; the marked text has the label `label`.
    pub fn with_label(
        source: &Source,
        site: &Spot,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> FileError {
        let (name, text, labels) = match site {
            Spot::None => (source.path.clone(), source.text.clone(), vec![]),
            Spot::File(range) => (source.path.clone(), source.text.clone(), vec![(range.clone(), label.into())]),
            Spot::Set(i, range) => {
                let (option, text, skipped) = option(source.sets.get(*i).map_or("", String::as_str));
                let range = range.start.saturating_sub(skipped)..range.end.saturating_sub(skipped);
                (option.into(), text.into(), vec![(range, label.into())])
            }
        };
        let is_option = matches!(site, Spot::Set(..));
        let help = Some(echo(&help.into(), REMEDY)).filter(|h| !h.is_empty());
        let message = echo(&message.into(), SENTENCE);
        FileError(Box::new(Inner { message, help, code: NamedSource::new(name, text), labels, is_option }))
    }

    /// Marks a second place in the same text; a place in another text is ignored.
    pub fn and(mut self, site: &Spot, label: impl Into<String>) -> FileError {
        match site {
            Spot::File(range) if !self.0.is_option => self.0.labels.push((range.clone(), label.into())),
            _ => {}
        }
        self
    }

    /// Says that the error occurs only at `point` of the sweep.
    pub fn at(mut self, point: &str) -> FileError {
        self.0.message += &format!(" (at {})", echo(point, SENTENCE));
        self
    }

    /// The first byte of the first marked place, if that place is in the file.
    pub fn byte(&self) -> Option<usize> {
        self.0.labels.first().filter(|_| !self.0.is_option).map(|(range, _)| range.start)
    }

    /// The file with the error, or the option of the command line.
    pub fn file(&self) -> &str {
        self.0.code.name()
    }

    /// Line and column of the first marked place, counted from 1.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let (range, _) = self.0.labels.first()?;
        let before = self.0.code.inner().get(..range.start)?;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Some((before.matches('\n').count() + 1, before.get(line_start..)?.chars().count() + 1))
    }

    /// The remedy.
    pub fn remedy(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The complete message. On a terminal it shows the marked lines in colour; otherwise it is `file:line:column:
    /// message` and a `help:` line.
    pub fn render(&self, terminal: bool) -> String {
        let mut out = String::new();
        if terminal
            && self.can_be_drawn()
            && GraphicalReportHandler::new_themed(GraphicalTheme::unicode())
                .with_width(WIDTH)
                .render_report(&mut out, self)
                .is_ok()
        {
            return out;
        }
        out.clear();
        out += &echo(self.file(), SENTENCE);
        if let Some((line, column)) = self.line_column() {
            out += &format!(":{line}:{column}");
        }
        out += &format!(": {self}\n");
        if let Some(help) = &self.0.help {
            out += &format!("  help: {help}\n");
        }
        out
    }
}

/// The option that made a setting, its text, and the number of bytes of the setting before this text. Some keys have
/// their own option.
fn option(set: &str) -> (&'static str, &str, usize) {
    const OWN: [(&str, &str); 4] =
        [("--seeds", "seeds="), ("--decide", "decide="), ("--show", "show="), ("--sweep", "sweep.")];
    let own = OWN.iter().find_map(|(option, key)| Some((*option, set.strip_prefix(key)?, key.len())));
    own.unwrap_or(("--set", set, 0))
}

impl FileError {
    /// True if the lines around the marked places can be printed on a terminal unchanged.
    fn can_be_drawn(&self) -> bool {
        let text = self.0.code.inner();
        let fits = |line: &str| line.len() <= LONGEST_LINE && !line.contains(|c| c != '\t' && is_unseen(c));
        let shown = |range: &Range<usize>| {
            let before = text.get(..range.start).unwrap_or_default();
            let first = before.matches('\n').count().saturating_sub(1);
            let count = text.get(range.clone()).unwrap_or_default().matches('\n').count() + 3;
            text.lines().skip(first).take(count).all(fits)
        };
        !self.file().contains(is_unseen) && self.0.labels.iter().all(|(range, _)| shown(range))
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for FileError {}

impl Diagnostic for FileError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.0.labels.is_empty()).then_some(&self.0.code as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(
            self.0.labels.iter().map(|(range, label)| LabeledSpan::new_with_span(Some(label.clone()), range.clone())),
        ))
    }
}
