//! Key paths name a table by its number or by its name.

use contend_lab::reading::file::{Along, Experiment, FileError, Overlay, needs, parse};
use serde_json::json;

/// Flow 0 has a name, flows 1 and 2 are called `up1` and `up2`, and flow 3 is called `down`.
const FILE: &str = r#"
duration = "2s"
[wifi]
standard = "802.11g"
[[station]]
name = "sta1"
[[station]]
name = "sta2"
count = 2
[[node]]
name = "far"
[[link]]
from = "ap"
to = "far"
[[link]]
name = "other"
from = "ap"
to = "far"
[[flow]]
name = "call"
from = "far"
to = "sta1"
tcp = "reno"
[[flow]]
from = "station"
to = "server"
tcp = "reno"
[[flow]]
from = "sta2[1..2]"
to = "far"
tcp = "reno"
[[flow]]
from = "server"
to = "sta2.1"
tcp = "reno"
"#;

fn read(more: &str, sets: &[(&str, &str)]) -> Result<Experiment, FileError> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    parse("t.toml", &format!("{FILE}{more}"), &sets)
}

fn good(more: &str, sets: &[(&str, &str)]) -> Experiment {
    read(more, sets).unwrap_or_else(|e| panic!("{}", e.render(false)))
}

fn error(more: &str, sets: &[(&str, &str)]) -> String {
    read(more, sets).map(|_| String::new()).unwrap_or_else(|e| e.render(false))
}

/// All networks of an experiment, as text.
fn networks(e: &Experiment) -> Vec<String> {
    needs(e).iter().map(|n| format!("{:?}", e.scenario(&n.point, &n.overlay).unwrap().scenario)).collect()
}

#[test]
fn a_setting_by_name_is_the_setting_by_number() {
    for (name, number, value) in [
        ("flow.call.window", "flow.0.window", "7p"),
        ("flow.up1.count", "flow.1.count", "3"),
        ("flow.up2.tcp.echo", "flow.2.tcp.echo", "latch"),
        ("flow.down.delay", "flow.3.delay", "9ms"),
        ("station.sta1.rate", "station.0.rate", "6Mbps"),
        ("station.sta2.count", "station.1.count", "4"),
        ("link.ap-far.rate", "link.0.rate", "3Mbps"),
        ("link.other.loss", "link.1.loss", "{ kind = \"bernoulli\", p = \"1%\" }"),
    ] {
        let by_name = networks(&good("", &[(name, value)]));
        assert_eq!(by_name, networks(&good("", &[(number, value)])), "{name}");
        assert_ne!(by_name, networks(&good("", &[])), "{name}");
    }
    // A name that an earlier setting gives.
    let renamed = good("", &[("flow.down.name", "bulk"), ("flow.bulk.window", "7p")]);
    assert_eq!(networks(&renamed), networks(&good("", &[("flow.3.name", "bulk"), ("flow.3.window", "7p")])));
}

#[test]
fn a_sweep_by_name_makes_the_networks_of_the_sweep_by_number() {
    let sweep = |a: &str, b: &str| {
        format!("[sweep]\n\"flow.{a}.window\" = [\"2p\", \"4p\"]\nstation.{b}.rate = [\"6Mbps\", \"54Mbps\"]\n")
    };
    let e = good(&sweep("call", "sta1"), &[]);
    assert_eq!(networks(&e), networks(&good(&sweep("0", "0"), &[])));
    assert_eq!(json!(e.points[0]), json!({ "flow.call.window": "2p", "station.sta1.rate": "6Mbps" }));
    // A setting fixes the key, however the two are written.
    for key in ["flow.0.window", "flow.call.window"] {
        for name in ["call", "0"] {
            let fixed = good(&sweep(name, "sta1"), &[(key, "9p")]);
            assert_eq!(fixed.points.len(), 2, "{key}, {name}");
            assert_eq!(*fixed.points[0][&format!("flow.{name}.window")], "9p");
        }
    }
}

#[test]
fn claims_figures_and_searches_may_write_a_key_differently_from_the_sweep() {
    let e = good(
        r#"
[sweep]
"flow.call.window" = ["2p", "4p"]
"flow.3.window" = ["2p", "4p"]
zip = [["flow.0.window", "flow.down.window"]]
[[claim]]
id = "a"
metric = "goodput.call"
when = { "flow.0.window" = "2p" }
over = { "flow.0.window" = "4p", "flow.down.window" = "4p", "flow.1.window" = "8p" }
expect = { at_least = 1 }
[[claim]]
id = "b"
metric = "goodput.call"
less = { "flow.up1.window" = "8p" }
when = { "flow.call.window" = "2p" }
expect = { at_least = 1 }
[[figure]]
x = "flow.down.window"
y = "goodput.call"
[search]
key = "flow.up1.window"
from = "1p"
to = "8p"
until = "drops > 0"
"#,
        &[],
    );
    assert_eq!(e.points.len(), 2);
    assert_eq!(json!(e.claims[0].requirement.when), json!({ "flow.call.window": ["2p"] }));
    assert_eq!(e.figures[0].x, Along::Key("flow.3.window".into()));
    assert_eq!(e.search.as_ref().unwrap().key, "flow.1.window");
    // Two points, the second with another window of flow 1, and the first with it.
    let needs = needs(&e);
    assert_eq!(needs.len(), 4);
    assert_eq!(json!(needs[2].overlay.settings()), json!({ "flow.1.window": "8p" }));
    assert_eq!((&needs[2].point, &needs[3].point), (&e.points[1], &e.points[0]));
}

#[test]
fn nested_keys_apply_in_their_order_however_they_are_written() {
    let e = good("[sweep]\n\"flow.call.tcp\" = [\"cubic\", \"sack\"]\n\"flow.0.tcp.echo\" = [\"latch\"]\n", &[]);
    let same = good("[sweep]\n\"flow.0.tcp\" = [\"cubic\", \"sack\"]\n\"flow.call.tcp.echo\" = [\"latch\"]\n", &[]);
    assert_eq!(networks(&e), networks(&same));
    let echo = |overlay| format!("{:?}", e.scenario(&e.points[0], &overlay).unwrap().scenario).contains("Latch");
    assert!(echo(Overlay::default()));
    assert!(!echo(Overlay::of([("flow.call.tcp".into(), "reno".into())])));
}

#[test]
fn a_wrong_name_is_an_error_with_the_nearest_one() {
    assert_eq!(
        error("", &[("flow.cal.count", "2")]),
        "--set:1:1: `flow.cal.count`: no [[flow]] has the name or number `cal`\n  help: did you mean `call`? Write one \
            of: call, up1, up2, down\n"
    );
    assert_eq!(
        error("[sweep]\n\"station.sta3.rate\" = [\"6Mbps\"]\n", &[]),
        "t.toml:37:1: `station.sta3.rate`: no [[station]] has the name or number `sta3`\n  help: did you mean `sta1`? \
            Write one of: sta1, sta2\n"
    );
    assert_eq!(
        error("[sweep]\nlink.far-ap.rate = [\"6Mbps\"]\n", &[]),
        "t.toml:37:13: `link.far-ap.rate`: no [[link]] has the name or number `far-ap`\n  help: write one of: ap-far, \
            other\n"
    );
    let claim = "[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 0 }\n";
    assert_eq!(
        error(&format!("{claim}over = {{ \"node.farr.kind\" = \"host\" }}\n"), &[]),
        "t.toml:40:10: `node.farr.kind`: no [[node]] has the name or number `farr`\n  help: did you mean `far`? Write \
            one of: far\n"
    );
}

#[test]
fn a_name_of_two_tables_is_an_error_that_tells_their_numbers() {
    let twice = "[[flow]]\nname = \"call\"\nfrom = \"server\"\nto = \"station\"\ntcp = \"reno\"\n";
    assert_eq!(
        error(twice, &[("flow.call.window", "2p")]),
        "--set:1:1: `flow.call.window`: two [[flow]] tables are called `call`\n  help: write the number of the table, \
            `flow.0` or `flow.4`, or give each its own name\n"
    );
}

#[test]
fn a_key_is_swept_once_whether_by_name_or_by_number() {
    let e = error("[sweep]\n\"flow.0.window\" = [\"2p\"]\n\"flow.call.window\" = [\"4p\"]\n", &[]);
    assert!(e.contains("`sweep` has the key `flow.call.window` twice"), "{e}");
}
