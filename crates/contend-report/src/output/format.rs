//! Formats in which results are written for other programs.

use super::{csv, json};
use contend_experiment::results::Outcome;
use std::io::{self, Write};

/// A format: a word of `--format`, and a file in the results folder.
#[derive(Debug)]
pub struct Format {
    /// The word that `--format` takes.
    pub name: &'static str,
    /// The content, in a phrase.
    pub summary: &'static str,
    /// Name of the file in the results folder.
    pub file: &'static str,
    /// True if several outcomes can be written one after another: a reader can still separate them.
    pub can_follow: bool,
    /// Writes the outcome.
    pub write: fn(&Outcome, &mut dyn Write) -> io::Result<()>,
}

/// All formats.
pub const FORMATS: &[Format] = &[
    json::FORMAT,
    csv::FORMAT,
    #[cfg(test)]
    super::toy::FORMAT,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn formats_have_words_and_files_of_their_own() {
        let words: BTreeSet<&str> = FORMATS.iter().map(|f| f.name).collect();
        let files: BTreeSet<&str> = FORMATS.iter().map(|f| f.file).collect();
        assert_eq!((words.len(), files.len()), (FORMATS.len(), FORMATS.len()));
    }

    #[test]
    fn the_recipe_for_an_output_format_compiles() {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let contributing = include_str!("../../../../CONTRIBUTING.md");
        let recipe =
            contributing.split_once("### An output format").and_then(|(_, r)| r.split_once("```rust")).unwrap().1;
        let recipe = recipe.split_once("```").unwrap().0;
        assert_eq!(plain(include_str!("toy.rs")), plain(recipe));
    }
}
