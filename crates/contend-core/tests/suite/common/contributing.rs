//! The recipes of `CONTRIBUTING.md`. Tests compile and run their code, so that the text stays correct.

use std::path::Path;

/// The code blocks of the recipe under the heading `### <heading>`, in order: language and text, without list
/// indentation.
pub fn recipe(heading: &str) -> Vec<(String, String)> {
    let text = text();
    let section = text.split("\n### ").find(|s| s.starts_with(&format!("{heading}\n")));
    let section = section.unwrap_or_else(|| panic!("CONTRIBUTING.md has no recipe \"{heading}\""));
    let mut blocks = vec![];
    let mut open: Option<(String, usize, Vec<&str>)> = None;
    for line in section.lines() {
        let fence = line.trim_start().strip_prefix("```");
        match (open.as_mut(), fence) {
            (None, Some(language)) => open = Some((language.into(), line.len() - line.trim_start().len(), vec![])),
            (Some((_, _, lines)), None) => lines.push(line),
            (Some(_), Some(_)) => {
                let (language, indent, lines) = open.take().unwrap();
                let lines: Vec<&str> = lines.iter().map(|l| l.get(indent..).unwrap_or("")).collect();
                blocks.push((language, lines.join("\n") + "\n"));
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The headings of the recipes with Rust or TOML code.
#[allow(dead_code, reason = "the tests of contend-lab use it")]
pub fn recipes_with_code() -> Vec<String> {
    let headings = text().split("\n### ").skip(1).map(|s| s.lines().next().unwrap().to_owned()).collect::<Vec<_>>();
    let has_code = |h: &String| recipe(h).iter().any(|(language, _)| language == "rust" || language == "toml");
    headings.into_iter().filter(has_code).collect()
}

/// Checks that the recipe contains `file` word for word. Returns the other blocks.
pub fn shows(heading: &str, file: &str) -> Vec<String> {
    let (code, others): (Vec<_>, Vec<_>) = recipe(heading).into_iter().partition(|(language, _)| language == "rust");
    let [(_, code)] = code.as_slice() else { panic!("\"{heading}\" has {} blocks of Rust", code.len()) };
    assert_eq!(code, file, "the recipe \"{heading}\" of CONTRIBUTING.md, and the file that the test compiles");
    others.into_iter().map(|(_, text)| text).collect()
}

fn text() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md")).unwrap()
}
