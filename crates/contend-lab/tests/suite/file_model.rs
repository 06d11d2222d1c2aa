//! Files about closed forms: `[model]` in place of a network.

use contend_core::Span;
use contend_lab::execute::{Options, execute};
use contend_lab::experiment::results::Outcome;
use contend_lab::judging::claim;
use contend_lab::reading::file::parse;

const GOOD: &str = r#"[param]
trip = "50ms"
[model]
name = ["jersey.gain", "jersey.reno_gain"]
pc   = 1e-4
pw   = "1%"
aw   = 1
rtt  = "= trip"
d    = "2ms"
[sweep]
"model.pw" = [0.01, 0.1]
[[claim]]
id     = "over"
metric = "jersey.gain"
over   = { "model.aw" = 0.5 }
expect = { at_least = 2 }
[[claim]]
id     = "other argument"
metric = "jersey.gain / jersey.gain(aw = 0.5)"
expect = { at_least = 2 }
"#;

fn outcome(text: &str, sets: &[(String, String)]) -> Outcome {
    let e = parse("t.toml", text, sets).unwrap_or_else(|e| panic!("{}", e.render(false)));
    execute(&e, &Options { jobs: 1, series: true, ..Options::default() }).unwrap().outcome
}

/// What `GOOD` with `from` replaced by `to` is refused with, when it is read or when its claims are checked.
fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let read = parse("t.toml", &GOOD.replacen(from, to, 1), &[]).and_then(|e| claim::validate(&e));
    read.map_or_else(|e| e.render(false), |_| "(no error)".into())
}

#[test]
fn every_point_has_the_values_of_its_arguments_and_no_time() {
    let o = outcome(GOOD, &[("seeds".into(), "1..3".into())]);
    // Jersey 2005, spec section 8: p_c = 1e-4, A_w = 1 and 0.5, 50 ms and 2 ms.
    let near = |got: f64, want: f64| assert!((got - want).abs() < 2e-4 * want, "{got} {want}");
    near(o.runs[0].metrics["jersey.gain"], 9.1026);
    near(o.runs[0].metrics["jersey.reno_gain"], 9.1005);
    near(o.runs[1].metrics["jersey.gain"], 32.4196);
    assert_eq!(o.claims.len(), 2);
    for c in &o.claims {
        near(c.measured.points[0].mean * 0.4110, 9.1026);
        near(c.measured.points[1].mean * 0.4538, 32.4196);
    }
    assert_eq!((o.runs.len(), o.runs[0].sim_s, o.runs[0].events), (2, 0.0, 0));
    assert_eq!(parse("t.toml", GOOD, &[]).unwrap().duration, Span::ZERO);
}

#[test]
fn a_search_finds_where_a_model_crosses_a_value() {
    let search = "[search]\nkey = \"model.aw\"\nfrom = 0.0\nto = 0.99\nuntil = \"jersey.reno_gain >= 0.4108\"\n";
    let o = outcome(&GOOD.replace("[sweep]\n\"model.pw\" = [0.01, 0.1]\n", search), &[]);
    assert!((o.search[0].first_with.unwrap() - 0.5).abs() < 2e-3, "{:?}", o.search);
}

#[test]
fn every_wrong_model_table_is_refused_with_its_place() {
    let says = |from: &str, to: &str, words: &[&str]| {
        let message = refused(from, to);
        assert!(words.iter().all(|w| message.contains(w)), "{from} -> {to}: {message}");
    };
    says("rtt ", "rt ", &["t.toml:8:1", "`model.rt`", "did you mean `rtt`"]);
    says("jersey.gain\"", "jersey.gian\"", &["t.toml:4:", "jersey.gian", "did you mean `jersey.gain`"]);
    says("[\"jersey.gain\", \"jersey.reno_gain\"]", "[]", &["t.toml:4:", "at least one model"]);
    says("name = [\"jersey.gain\", \"jersey.reno_gain\"]\n", "", &["`model` needs `name`", "jersey.gain"]);
    says("d    = \"2ms\"\n", "", &["`model` needs `d`", "d = \"50ms\""]);
    says("\"2ms\"", "2", &["t.toml:9:", "a duration", "plain number"]);
    says("\"2ms\"", "\"60ms\"", &["t.toml:3:", "delay_s", "at most rtt_s"]);
    says("[0.01, 0.1]", "[0.01, 2]", &["t.toml:11:21", "`model.pw` is out of range: 2", "from 0 to 1"]);
    says(
        "pc   = 1e-4",
        "pc   = \"150%\"",
        &["t.toml:5:8", "`model.pc` is out of range: 1.5", "write a value from 0 to 1"],
    );
    says("[param]", "duration = \"5s\"\n[param]", &["t.toml:1:", "`duration`", "neither time nor random numbers"]);
    says("[param]", "seeds = \"1..5\"\n[param]", &["`seeds`", "remove it"]);
    says("[sweep]", "[wifi]\nstandard = \"802.11g\"\n[sweep]", &["`wifi`", "[model]"]);
    says("\"jersey.gain\"\nover", "\"jain\"\nover", &["t.toml:14:", "`jain`", "a metric of networks"]);
    says("\"jersey.gain\"\nover", "\"jersey.ratio\"\nover", &["t.toml:14:", "`jersey.ratio` needs q"]);
    says("\"jersey.gain\", \"jersey.reno_gain\"", "\"jersey.gain\", \"fcwa.window\"", &["needs"]);
}

#[test]
fn an_argument_must_fit_every_model_that_takes_it() {
    let text = "[model]\nname = [\"hash.collision\", \"hash.window\"]\nn = 1\nslots = 4.5\ncollision = \"1%\"\n";
    let message = |text: &str| parse("t.toml", text, &[]).unwrap_err().render(false);
    assert_eq!(
        message(&text.replace("4.5", "4")),
        "t.toml:3:5: `model.n` is out of range: 1\n  help: write a whole number from 2 to 1000000\n"
    );
    assert_eq!(
        message(text),
        "t.toml:3:5: `model.n` is out of range: 1\n  help: write a whole number from 2 to 1000000\n"
    );
    assert_eq!(
        message(&text.replace("n = 1", "n = 2")),
        "t.toml:4:9: `model.slots` is not a whole number: 4.5\n  help: write a whole number from 1 to 1048576\n"
    );
}

#[test]
fn an_argument_in_an_expression_has_its_range() {
    let says = |metric: &str, place: &str, words: &str| {
        let text = format!(
            "[model]\nname = \"hash.collision\"\nn = 2\nslots = 4\n[[claim]]\nid = \"a\"\nmetric = {metric}\n\
                expect = {{ at_least = 0.5 }}\n"
        );
        let e = claim::validate(&parse("t.toml", &text, &[]).unwrap()).unwrap_err().render(false);
        assert!(e.starts_with(place) && e.contains(words), "{e}");
    };
    let range = "slots is out of range: 0\n  help: write a whole number from 1 to 1048576";
    says("\"hash.collision + hash.collision(slots = 0)\"", "t.toml:7:51: ", range);
    says("'model(\"hash.collision\", n = 2, slots = 1 - 1)'", "t.toml:7:50: ", range);
    says("\"model(\\\"hash.collision\\\", n = 2, slots = 1 - 1)\"", "t.toml:7:52: ", range);
}

#[test]
fn in_a_network_a_model_needs_all_its_arguments() {
    let text = "duration = \"1s\"\n[wifi]\nstandard = \"802.11g\"\n[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp \
        = \"reno\"\n\
                [[claim]]\nid = \"a\"\nmetric = \"jersey.ratio(q = 0.1)\"\nexpect = { at_least = 0.5 }\n";
    let e = claim::validate(&parse("t.toml", text, &[]).unwrap()).unwrap_err();
    assert!(e.to_string().contains("`jersey.ratio` needs eta"), "{}", e.render(false));
    claim::validate(&parse("t.toml", &text.replace("q = 0.1", "q = 0.1, eta = 1"), &[]).unwrap()).unwrap();
}
