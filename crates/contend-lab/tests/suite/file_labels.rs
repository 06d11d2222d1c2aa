//! Labels of swept values in experiment files.

use contend_lab::experiment::results::point_text;
use contend_lab::reading::file::{Experiment, parse};
use serde_json::json;

const FILE: &str = r#"duration = "1s"
[wifi]
standard = "802.11g"
[[flow]]
count = 3
from = "server"
to = "station"
tcp = "newreno"
[sweep]
"#;
const QUEUES: &str = "\"ap.queue\" = { values = [{ kind = \"fifo\", limit = \"1000p\" }, \"fq_codel\"], labels = \
    [\"deep buffer\", \"fair\"] }\n";

fn read(more: &str, sets: &[(&str, &str)]) -> Result<Experiment, String> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    parse("t.toml", &format!("{FILE}{more}"), &sets).map_err(|e| e.render(false))
}

fn texts(more: &str, sets: &[(&str, &str)]) -> Vec<String> {
    let e = read(more, sets).unwrap_or_else(|e| panic!("{e}"));
    e.points.iter().map(point_text).collect()
}

#[test]
fn a_label_names_a_value_and_the_value_stays_the_same() {
    let deep = ["ap.queue = deep buffer", "ap.queue = fair"];
    assert_eq!(texts(QUEUES, &[]), deep);
    // As a table of its own, and with dots.
    let own = QUEUES.replace("\"ap.queue\" = { ", "[sweep.ap.queue]\n").replace(" labels", "\nlabels");
    assert_eq!(texts(&own.replace("],\n", "]\n").replace(" }\n", "\n"), &[]), deep);
    let plain = QUEUES.replace("{ values = ", "").replace(", labels = [\"deep buffer\", \"fair\"] }", "");
    let (labelled, plain) = (read(QUEUES, &[]).unwrap(), read(&plain, &[]).unwrap());
    assert_eq!((&labelled.points, json!(labelled.points)), (&plain.points, json!(plain.points)));
    assert_eq!(point_text(&plain.points[0]), "ap.queue = fifo 1000p");
}

#[test]
fn a_label_stands_for_its_value_wherever_a_value_is_given() {
    let claim = |rest: &str| {
        let text = format!("{QUEUES}[[claim]]\nid = \"a\"\nmetric = \"jain\"\n{rest}\n");
        read(&text, &[]).unwrap_or_else(|e| panic!("{e}")).claims.remove(0).requirement
    };
    let fifo = json!({ "kind": "fifo", "limit": "1000p" });
    let when = claim("expect = { at_least = 0 }\nwhen = { \"ap.queue\" = \"deep buffer\" }").when;
    assert_eq!(json!(when), json!({ "ap.queue": [fifo] }));
    for word in ["over", "less"] {
        let other = claim(&format!("expect = {{ at_least = 0 }}\n{word} = {{ \"ap.queue\" = \"deep buffer\" }}"));
        assert_eq!(json!(other.other().unwrap().settings()), json!({ "ap.queue": fifo }));
    }
    let order = claim("expect = { order = [\"fair\", \"deep buffer\"], along = \"ap.queue\" }");
    assert_eq!(contend_lab::judging::claim::expected(&order), "fair > deep buffer along ap.queue");
    // The command line.
    assert_eq!(texts(QUEUES, &[("ap.queue", "deep buffer")]), ["ap.queue = deep buffer"]);
    assert_eq!(texts(QUEUES, &[("ap.queue", "fq_codel")]), ["ap.queue = fair"]);
    assert_eq!(texts(QUEUES, &[("sweep.ap.queue", "fair,codel")]), ["ap.queue = fair", "ap.queue = codel"]);
    assert_eq!(read(QUEUES, &[("ap.queue", "deep buffer")]).unwrap().points, read(QUEUES, &[]).unwrap().points[..1]);
}

#[test]
fn paired_keys_may_repeat_a_value_with_its_label() {
    let keys = "\"flow.0.count\" = { values = [1, 1, 2], labels = [\"one\", \"one\", \"two\"] }\n\
        \"wifi.slot\" = [\"9us\", \"20us\", \"9us\"]\nzip = [[\"flow.0.count\", \"wifi.slot\"]]\n";
    let three = [("one", "9us"), ("one", "20us"), ("two", "9us")];
    let three = three.map(|(label, slot)| format!("flow.0.count = {label}, wifi.slot = {slot}"));
    assert_eq!(texts(keys, &[]), three);
}

#[test]
fn a_claim_that_names_one_key_of_a_pair_means_the_row() {
    let settings = |over: &str| {
        let text = format!(
            "\"flow.0.count\" = {{ values = [1, 2, 3], labels = [\"one\", \"two\", \"three\"] }}\n\
            \"wifi.slot\" = [\"9us\", \"20us\", \"9us\"]\n\"wifi.cwmin\" = [15, 31]\n\
            zip = [[\"flow.0.count\", \"wifi.slot\"]]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\n\
            expect = {{ at_least = 0 }}\nover = {{ {over} }}\n"
        );
        let claim = read(&text, &[]).unwrap_or_else(|e| panic!("{e}")).claims.remove(0);
        json!(claim.requirement.over.unwrap().settings())
    };
    assert_eq!(settings("\"flow.0.count\" = \"two\""), json!({ "flow.0.count": 2, "wifi.slot": "20us" }));
    assert_eq!(settings("\"wifi.slot\" = \"20us\""), json!({ "flow.0.count": 2, "wifi.slot": "20us" }));
    // Two rows have this slot, no row this number, and a row need not be that of the file.
    assert_eq!(settings("\"wifi.slot\" = \"9us\""), json!({ "wifi.slot": "9us" }));
    assert_eq!(settings("\"flow.0.count\" = 4"), json!({ "flow.0.count": 4 }));
    let both = "\"flow.0.count\" = 1, \"wifi.slot\" = \"20us\"";
    assert_eq!(settings(both), json!({ "flow.0.count": 1, "wifi.slot": "20us" }));
    assert_eq!(settings("\"wifi.cwmin\" = 31"), json!({ "wifi.cwmin": 31 }));
}

#[test]
fn labels_that_name_no_value_or_two_are_refused() {
    for (table, message) in [
        ("{ values = [1, 2], labels = [\"a\"] }", "has 1 labels for 2 values\n  help: write one label for each value"),
        ("{ values = [1, 2], labels = [\"a\", \" \"] }", "is empty or has several lines"),
        ("{ values = [1, 2], labels = [\"a\", \"b\\nc\"] }", "is empty or has several lines"),
        ("{ values = [1, 2], labels = [\"a\", 2] }", "must be a string"),
        ("{ values = [1, 2], labels = [\"a\", \"a\"] }", "does not tell the values apart: \"a\"\n  help: give each"),
        ("{ values = [1, 2], labels = \"a\" }", "must be a list"),
        ("{ values = [1, 2] }", "needs `labels`"),
        ("{ values = [], labels = [] }", "is an empty list"),
        ("{ values = [1, 2], labels = [\"a\", \"b\"], lables = 1 }", "there is no key"),
        ("{ labels = [\"a\", \"b\"] }", "there is no key `labels`"),
    ] {
        let e = read(&format!("\"flow.0.count\" = {table}\n"), &[]).map(|_| ()).unwrap_err();
        assert!(e.contains(message), "{table}: {e}");
    }
    let swapped =
        QUEUES.replace("\"fair\"] }", "\"fifo\"] }").replace("{ kind = \"fifo\", limit = \"1000p\" }", "\"fifo\"");
    let e = read(&swapped, &[]).map(|_| ()).unwrap_err();
    assert!(e.contains("is the label of one value and the text of another"), "{e}");
    let wrong = format!("{QUEUES}[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = {{ at_least = 0 }}\n");
    let e = read(&format!("{wrong}when = {{ \"ap.queue\" = \"deep\" }}\n"), &[]).map(|_| ()).unwrap_err();
    assert!(e.contains("values of ap.queue: \"deep buffer\", \"fair\""), "{e}");
}

#[test]
fn an_error_at_a_point_names_its_label() {
    let e = read("\"flow.0.window\" = { values = [\"8p\", \"0p\"], labels = [\"some\", \"none\"] }\n", &[]);
    let e = e.map(|_| ()).unwrap_err();
    // The error is in the sweep itself, at its own place.
    assert!(e.contains("t.toml:10"), "{e}");
    let keys = "\"flow.0.count\" = { values = [1, 5000], labels = [\"one\", \"crowd\"] }\n";
    let e = read(&keys.replace("5000", "500000"), &[]).map(|_| ()).unwrap_err();
    assert!(e.contains("crowd") || e.contains("t.toml:10"), "{e}");
}

/// A sweep in which two keys change together, in the order of the file against that of their names.
const ROWS: &str = "\"wifi.slot\" = [\"9us\", \"20us\"]\n\"flow.0.count\" = [1, 2]\n\
    \"ap.queue\" = [\"fifo\", \"red\"]\n\
    zip = [{ keys = [\"wifi.slot\", \"flow.0.count\"], name = \"home\", labels = [\"old\", \"new\"] }]\n";

#[test]
fn the_rows_of_a_zip_have_labels_which_stand_for_their_keys() {
    let of = |home: &str| ["fifo", "red"].map(|queue| format!("home = {home}, ap.queue = {queue}"));
    assert_eq!(texts(ROWS, &[]), [of("old"), of("new")].concat());
    // A setting that changes a row takes its label.
    let changed = texts(ROWS, &[("sweep.flow.0.count", "1,3")]);
    assert_eq!(changed[..2], of("old"));
    assert_eq!(changed[2], "wifi.slot = 20us, flow.0.count = 3, ap.queue = fifo");
}

#[test]
fn a_claim_may_name_rows_by_their_labels() {
    let rows = "\"wifi.slot\" = [\"9us\", \"20us\", \"9us\", \"20us\"]\n\"flow.0.count\" = [1, 2, 3, 3]\n\
        \"ap.queue\" = [\"fifo\", \"red\"]\n\
        zip = [{ keys = [\"wifi.slot\", \"flow.0.count\"], name = \"my home\",\n\
        labels = [\"a\", \"b\", \"c\", \"d\"] }]\n";
    let when = |table: &str, sets: &[(&str, &str)]| {
        let claim =
            format!("[[claim]]\nid = \"x\"\nmetric = \"jain\"\nexpect = {{ at_least = 0 }}\nwhen = {{ {table} }}\n");
        read(&format!("{rows}{claim}"), sets).map(|mut e| json!(e.claims.remove(0).requirement.when))
    };
    assert_eq!(when("\"my home\" = \"b\"", &[]), Ok(json!({ "flow.0.count": [2], "wifi.slot": ["20us"] })));
    let two = json!({ "ap.queue": ["red"], "flow.0.count": [1, 2], "wifi.slot": ["9us", "20us"] });
    assert_eq!(when("\"my home\" = [\"a\", \"b\"], \"ap.queue\" = \"red\"", &[]), Ok(two));
    // What a setting replaces counts no longer, as with keys and their values.
    let set = when("\"my home\" = \"b\"", &[("wifi.slot", "9us")]);
    assert_eq!(set, Ok(json!({ "flow.0.count": [2], "wifi.slot": [] })));
    assert_eq!(set, when("\"wifi.slot\" = \"20us\", \"flow.0.count\" = 2", &[("wifi.slot", "9us")]));
    let refused = |table: &str, why: &str| {
        let e = when(table, &[]).unwrap_err();
        assert!(e.contains(why), "{e}");
    };
    refused("\"my home\" = \"e\"", "is not the label of a row: \"e\"\n  help: labels: \"a\", \"b\", \"c\", \"d\"");
    refused("\"my home\" = 1", "is not the label of a row: 1");
    refused("\"my home\" = [\"a\", \"d\"]", "means the row \"c\" too");
    refused("\"my home\" = \"a\", \"wifi.slot\" = \"9us\"", "restricts wifi.slot twice");
    refused("home = \"a\"", "names a key that is not swept: `home`");
}

#[test]
fn rows_need_a_name_and_one_label_each() {
    let error = |from: &str, to: &str| read(&ROWS.replace(from, to), &[]).unwrap_err();
    assert!(error("[\"old\", \"new\"]", "[\"old\"]").contains("has 1 labels for 2 rows"));
    assert!(error("\"new\"]", "\"old\"]").contains("does not tell the rows apart"));
    assert!(error("\"home\"", "\"wifi.slot\"").contains("is not a name of rows"));
    assert!(error("name = \"home\", ", "").contains("name"));
    assert!(error("keys = [\"wifi.slot\"", "keys = [\"wifi.cwmin\"").contains("does not have"));
}

#[test]
fn a_row_may_be_named_where_its_keys_may() {
    let rows = "\"flow.0.count\" = [1, 2, 2]\n\"wifi.slot\" = [\"9us\", \"20us\", \"30us\"]\nzip = [{ keys = \
        [\"flow.0.count\", \"wifi.slot\"], name = \"home\", labels = [\"old\", \"new\", \"next\"] }]\n";
    let requirement = |rest: &str| {
        let text = format!("{rows}[[claim]]\nid = \"a\"\nmetric = \"jain\"\n{rest}\n");
        read(&text, &[]).map(|mut e| e.claims.remove(0).requirement)
    };
    for word in ["over", "less"] {
        let other = requirement(&format!("expect = {{ at_least = 0 }}\n{word} = {{ home = \"new\" }}")).unwrap();
        assert_eq!(json!(other.other().unwrap().settings()), json!({ "flow.0.count": 2, "wifi.slot": "20us" }));
    }
    let twice = requirement("expect = { at_least = 0 }\nover = { home = \"new\", \"wifi.slot\" = \"9us\" }");
    assert!(twice.is_err_and(|e| e.contains("name the row or its keys, not both")));
    let none = requirement("expect = { at_least = 0 }\nover = { home = \"none\" }");
    assert!(none.is_err_and(|e| e.contains("is not the label of a row") && e.contains("\"next\"")));
    // Along the rows: the slot tells them apart, the count does not.
    let order = requirement("expect = { order = [\"next\", \"old\"], along = \"home\" }").unwrap();
    assert_eq!(contend_lab::judging::claim::expected(&order), "30us > 9us along wifi.slot");
    let along = requirement("expect = { increasing = true, along = \"home\" }").unwrap();
    assert!(contend_lab::judging::claim::expected(&along).contains("wifi.slot"));
    // The command line.
    assert_eq!(texts(rows, &[("home", "new")]), ["home = new"]);
    assert_eq!(read(rows, &[("home", "new")]).unwrap().points, read(rows, &[]).unwrap().points[1..2]);
    assert!(read(rows, &[("home", "none")]).is_err_and(|e| e.contains("labels: \"old\", \"new\", \"next\"")));
}
