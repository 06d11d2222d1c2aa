//! Examples: the experiment files of the folder `experiments/`, inside the program. So a copy of the program without
//! the repository has experiments to run and to change.

use super::file;

/// One example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The name of its file without `.toml`.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

/// The table of examples from the names of their files.
macro_rules! examples {
    ($($name:literal),* $(,)?) => {
        &[$(Example {
            name: $name,
            text: include_str!(concat!("../../../../experiments/", $name, ".toml")),
        }),*]
    };
}

/// All examples. The first one is the example of messages and help texts.
pub const ALL: &[Example] = examples![
    "hotspot",
    "uplink-starvation",
    "office",
    "bufferbloat",
    "buffer-size",
    "control-blocks",
    "edca-voice",
    "saturation",
    "lossy-last-hop",
    "phase-effects",
    "hidden",
    "neighbours",
    "house",
    "roaming",
    "range",
    "chain",
    "mesh",
    "bad-hotspot",
    "home-wifi6",
    "office-ac",
    "stadium-ax",
    "l4s-home",
    "contention",
];

impl Example {
    /// The example called `name`.
    pub fn named(name: &str) -> Option<&'static Example> {
        ALL.iter().find(|s| s.name == name)
    }

    /// Its title.
    pub fn title(&self) -> String {
        file::parse(self.name, self.text, &[]).map_or_else(|_| self.name.to_owned(), |e| e.title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_examples_are_the_files_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files: BTreeSet<String> = paths
            .filter(|p| p.extension().is_some_and(|e| e == "toml"))
            .map(|p| p.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        let table: BTreeSet<String> = ALL.iter().map(|s| s.name.to_owned()).collect();
        assert_eq!(table, files, "write the name of the file into ALL");
        assert_eq!(table.len(), ALL.len(), "a name twice");
    }

    #[test]
    fn every_example_is_an_experiment_with_a_title_of_its_own() {
        let titles: BTreeSet<String> = ALL
            .iter()
            .map(|s| {
                file::parse(s.name, s.text, &[]).unwrap();
                assert_ne!(s.title(), s.name);
                s.title()
            })
            .collect();
        assert_eq!(titles.len(), ALL.len());
        assert!(Example::named("hotspot").is_some() && Example::named("hotspot.toml").is_none());
    }
}
