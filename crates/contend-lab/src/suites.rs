//! Suites: folders of experiment files that test a subject, from `suites/` or from inside the program.

use crate::built;
use crate::folder::files_below;
use crate::nearest;
use crate::reading::file::FileError;
use crate::reading::file::test::{Head, head};
use contend_core::Refusal;
use contend_experiment::reading::error::Error;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A folder of tests.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name: `cc-1`.
    pub name: String,
    /// SHA-256 of its files, 64 hex digits ([`digest`]).
    pub digest: String,
    /// The tests, sorted by name.
    pub tests: Vec<TestFile>,
}

/// A test: an experiment file.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// Its name in the suite: `standard`.
    pub id: String,
    /// Its path, or `cc-1/standard` if it is inside the program.
    pub path: PathBuf,
    /// The text.
    pub text: String,
    /// What it says about itself.
    pub head: Head,
}

/// The names of the suites in `folder`, or of those inside the program, sorted.
pub fn names(folder: Option<&Path>) -> Vec<String> {
    let mut all: Vec<String> = match folder {
        Some(folder) => {
            let of = |entry: std::fs::DirEntry| entry.path().is_dir().then(|| entry.file_name().into_string().ok())?;
            std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(of).collect()
        }
        None => built::tests().filter_map(|f| f.name.split_once('/')).map(|(suite, _)| suite.to_owned()).collect(),
    };
    all.sort();
    all.dedup();
    all
}

/// The newest suite of a kind, `cc` or `ap`: the one with the largest number.
pub fn newest(folder: Option<&Path>, kind: &str) -> Option<String> {
    let number = |name: &String| name.strip_prefix(kind)?.strip_prefix('-')?.parse::<u32>().ok();
    names(folder).into_iter().filter(|name| number(name).is_some()).max_by_key(number)
}

impl Suite {
    /// The suite `name` in `folder`, or the one inside the program.
    ///
    /// # Errors
    /// When there is none, or when the head of a file is wrong.
    pub fn read(folder: Option<&Path>, name: &str) -> Result<Suite, Error> {
        let texts: BTreeMap<String, (PathBuf, String)> = match folder {
            Some(folder) => from_folder(&folder.join(name))?,
            None => {
                let own = built::tests().filter_map(|f| Some((f, f.name.strip_prefix(name)?.strip_prefix('/')?)));
                own.map(|(f, id)| (id.to_owned(), (PathBuf::from(f.name), f.text.to_owned()))).collect()
            }
        };
        if texts.is_empty() {
            let known = names(folder);
            if let Some(folder) = folder.filter(|_| known.iter().any(|n| n == name)) {
                let what = format!("{} has no experiment files", folder.join(name).display());
                return Err(Refusal::new(what, "put the tests of the suite there, *.toml").into());
            }
            let near = nearest(name, known.iter().map(String::as_str));
            let near = near.map_or_else(String::new, |n| format!("did you mean `{n}`? "));
            let all = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
            return Err(Refusal::new(format!("there is no suite `{name}`"), format!("{near}suites: {all}")).into());
        }
        let digest = digest(texts.iter().map(|(id, (_, text))| (id.as_str(), text.as_str())));
        let test = |(id, (path, text)): (String, (PathBuf, String))| -> Result<TestFile, FileError> {
            let head = head(&path.display().to_string(), &text)?;
            Ok(TestFile { id, path, text, head })
        };
        let tests = texts.into_iter().map(test).collect::<Result<_, _>>()?;
        Ok(Suite { name: name.to_owned(), digest, tests })
    }

    /// The suite that `what` names (`cc-1`), or the newest of `kind`; of a test (`standard`, `cc-1/standard`) it has
    /// this test only.
    ///
    /// # Errors
    /// When there is no such suite or test, or when the suite is of another kind.
    pub fn named(what: Option<&str>, folder: Option<&Path>, kind: &str) -> Result<Suite, Error> {
        let known = names(folder);
        let (suite, test) = match what.map(|w| (w, w.split_once('/'))) {
            Some((_, Some((suite, test)))) => (Some(suite.to_owned()), Some(test)),
            Some((suite, None)) if known.iter().any(|n| n == suite) || is_suite(suite) => {
                (Some(suite.to_owned()), None)
            }
            Some((test, None)) => (None, Some(test)),
            None => (None, None),
        };
        if let Some(folder) = folder.filter(|f| !f.is_dir()) {
            let what = format!("{} is no folder", folder.display());
            return Err(
                Refusal::new(what, "name the folder of suites; without --suites those inside contend run").into()
            );
        }
        let Some(name) = suite.or_else(|| newest(folder, kind)) else {
            let at = folder.map_or_else(String::new, |f| format!(" in {}", f.display()));
            let remedy = "name the folder of suites with --suites; without it, those inside contend run";
            return Err(Refusal::new(format!("there is no suite `{kind}-1`{at}"), remedy).into());
        };
        let suite = Suite::read(folder, &name)?;
        if !name.starts_with(&format!("{kind}-")) {
            let what = if kind == "cc" { "a congestion controller" } else { "an access point" };
            let remedy = format!("name another suite, or none; the names of suites for it begin with `{kind}-`");
            return Err(Refusal::new(format!("suite {name} is not for {what}"), remedy).into());
        }
        Ok(match test {
            Some(test) => suite.only(test)?,
            None => suite,
        })
    }

    /// Keeps the test that `what` names: `standard` or `cc-1/standard`.
    ///
    /// # Errors
    /// When there is none.
    pub fn only(mut self, what: &str) -> Result<Suite, Refusal> {
        let id = what.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('/')).unwrap_or(what);
        let near = nearest(id, self.tests.iter().map(|t| t.id.as_str())).map_or_else(
            || "`contend evaluate --list` shows them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let elsewhere = built::tests().find(|f| f.name.split_once('/').is_some_and(|(_, test)| test == id));
        let remedy = elsewhere.map_or(near, |f| format!("there is {}", f.name));
        self.tests.retain(|t| t.id == id);
        if self.tests.is_empty() {
            return Err(Refusal::new(format!("suite {} has no test `{what}`", self.name), remedy));
        }
        Ok(self)
    }
}

/// True if `name` is that of a numbered suite, whether or not there is one: `cc-2`.
fn is_suite(name: &str) -> bool {
    name.split_once('-').is_some_and(|(kind, n)| ["cc", "ap"].contains(&kind) && n.parse::<u32>().is_ok())
}

/// The files of a folder by name, each with its path and text.
fn from_folder(folder: &Path) -> Result<BTreeMap<String, (PathBuf, String)>, Error> {
    let files = files_below(folder)
        .map_err(|too_large| Refusal::new(too_large.to_string(), "name the folder of suites with --suites"))?;
    let mut all = BTreeMap::new();
    for path in files {
        let text = crate::opening::text(&path)?;
        all.insert(path.strip_prefix(folder).unwrap_or(&path).with_extension("").display().to_string(), (path, text));
    }
    Ok(all)
}

/// The digest of the files of a suite, sorted by name: SHA-256 over each name and its text, 64 hex digits. Lines that
/// are blank or a comment do not count.
pub fn digest<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut all = Sha256::new();
    for (name, text) in files {
        let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty() && !l.trim_start().starts_with('#'));
        for line in std::iter::once(name).chain(lines) {
            all.update(line);
            all.update("\n");
        }
    }
    all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
