//! What is inside the program: the files of the folders `papers/` and `suites/` when it was built.

/// A file of a paper or of a suite.
#[derive(Clone, Copy, Debug)]
pub struct Built {
    /// Its path below `papers/` or `suites/` without the end: `keceli-2008/m1-downloads`, or `keceli-2008/README`.
    pub name: &'static str,
    is_read_me: bool,
    /// Its text.
    pub text: &'static str,
}

const PAPERS: &[Built] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));
const SUITES: &[Built] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// The experiments of the papers, sorted by name.
pub fn experiments() -> impl Iterator<Item = &'static Built> {
    PAPERS.iter().filter(|f| !f.is_read_me)
}

/// The tests of the suites, sorted by name: `cc-1/standard`.
pub fn tests() -> impl Iterator<Item = &'static Built> {
    SUITES.iter().filter(|f| !f.is_read_me)
}

impl Built {
    /// The experiment of a paper, or the test of a suite, called `name`.
    pub fn named(name: &str) -> Option<&'static Built> {
        experiments().chain(tests()).find(|f| f.name == name)
    }
}

/// What README.md of `paper` says; nothing if it has none.
pub fn read_me(paper: &str) -> &'static str {
    let file = PAPERS.iter().find(|f| f.is_read_me && f.name.strip_suffix("/README") == Some(paper));
    file.map_or("", |f| f.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_is_inside_with_its_paper() {
        let names: Vec<&str> = experiments().map(|f| f.name).collect();
        assert!(names.is_sorted() && names.contains(&"keceli-2008/m1-downloads"), "{names:?}");
        assert!(names.iter().all(|n| !read_me(n.split('/').next().unwrap()).is_empty()));
        assert!(Built::named("cc-1/standard").is_some_and(|f| f.text.contains("[test]")));
        assert!(Built::named("keceli-2008/README").is_none() && read_me("nosuch").is_empty());
    }
}
