//! Bad files: each gives one message that names the file, the line, the key and the remedy.

mod cell;
mod flow;
mod judging;
mod mode;
mod top;

use contend_lab::reading::file::keys::{Family, variants};
use contend_lab::reading::file::parse;

/// A good file; cases change a line of it or add to it.
const GOOD: &str = r#"title = "t"
duration = "70s"
warmup = "10s"

[wifi]
standard = "802.11g"

[[station]]
name = "slow"
count = 3

[[flow]]
count = 2
from = "server"
to = "station"
tcp = "newreno"

[sweep]
"flow.0.count" = [1, 2]
"#;

/// The message for `GOOD` with `from` replaced by `to`.
fn message(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    match parse("t.toml", &GOOD.replacen(from, to, 1), &[]) {
        Ok(_) => "(no error)\n".into(),
        Err(e) => e.render(false),
    }
}

/// The first line of the message and the remedy for a setting of the good file.
fn set(key: &str, value: &str) -> String {
    parse("t.toml", GOOD, &[(key.into(), value.into())]).map_or_else(|e| e.render(false), |_| "(no error)".into())
}

/// What is replaced, by what, and what the message then is. Names in braces stand for the lists of the registries.
type Case = (&'static str, &'static str, &'static str);

/// `expected` with the names of each family in place of `{qdiscs}` and the like.
fn with_lists(expected: &str) -> String {
    let names = |family: Family| family.algorithms().iter().map(|a| a.name).collect::<Vec<_>>().join(", ");
    let variants = || variants().iter().map(|v| v.name).collect::<Vec<_>>().join(", ");
    let lists: [(&str, &dyn Fn() -> String); 4] = [
        ("{access}", &|| names(Family::Access)),
        ("{qdiscs}", &|| names(Family::Qdiscs)),
        ("{controls}", &|| names(Family::Controls)),
        ("{variants}", &variants),
    ];
    lists.iter().fold(expected.to_owned(), |text, (name, list)| match text.contains(name) {
        true => text.replace(name, &list()),
        false => text,
    })
}

fn each_has_its_message(cases: &[Case]) {
    let mut wrong = String::new();
    for (from, to, expected) in cases {
        let got = message(from, to);
        if got.trim_end() != with_lists(expected) {
            wrong += &format!("    ({from:?}, {to:?}, {:?}),\n", got.trim_end());
        }
    }
    assert!(wrong.is_empty(), "these messages are not as expected; if they should be so, CASES has to say:\n{wrong}");
}

#[test]
fn the_good_file_is_good() {
    assert_eq!(message("title", "title"), "(no error)\n");
}

#[test]
fn an_error_in_an_expression_marks_the_wrong_word() {
    let wrong = "delay = \"= 10ms + 2ms*(j-1)\"";
    assert_eq!(
        message("from = \"server\"", &format!("{wrong}\nfrom = \"server\"")),
        "t.toml:14:24: `flow.0.delay` cannot be computed: there is no `j`\n  help: allowed names: k, n\n"
    );
    let claim = |metric: &str| {
        let text = format!("{GOOD}[[claim]]\nid = \"a\"\nmetric = {metric}\nexpect = {{ at_least = 1 }}\n");
        let e = parse("t.toml", &text, &[]).unwrap();
        contend_lab::judging::claim::validate(&e).map_or_else(|e| e.render(true), |_| "(no error)".into())
    };
    let drawn = claim("\"point(\\\"flow.0.count\\\") * godput.down\"");
    let lines: Vec<&str> = drawn.lines().collect();
    let at = lines.iter().position(|l| l.contains("godput.down")).map(|i| i + 1);
    let (source, marks) = at.and_then(|i| lines.get(i..=i + 1)).map(|l| (l[0], l[1])).unwrap();
    let column = |line: &str, what: &str| line.find(what).map(|i| line[..i].chars().count());
    assert_eq!(column(marks, "─"), column(source, "godput"), "{drawn}");
    let set = |value: &str| parse("t.toml", GOOD, &[("flow.0.delay".into(), value.into())]).unwrap_err().render(false);
    assert!(set("= 10ms + xyz").starts_with("--set:1:23: `flow.0.delay` cannot be computed: there is no `xyz`"));
}

#[test]
fn wrong_seeds_of_the_command_line_are_shown_at_their_option() {
    let seeds = |value: &str| parse("t.toml", GOOD, &[("seeds".into(), value.into())]).unwrap_err().render(false);
    assert!(seeds("5..1").starts_with("--seeds:1:1: `seeds` is empty"), "{}", seeds("5..1"));
}
