//! Messages about positions that make a run pointless.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contend_lab::reading::file::{Overlay, parse};

/// A station `a` at the left edge, `b` at `x`, and a flow from one to the other.
fn pair(field: &str, x: &str, more: &str) -> String {
    format!(
        "duration = \"1s\"\n[wifi]\nstandard = \"802.11b\"\n{more}\n[field]\narea = [\"2000m\", \"2000m\"]\n{field}\n\
         [[station]]\nname = \"a\"\nposition = [\"0m\", \"0m\"]\n[[station]]\nname = \"b\"\n\
         position = [\"{x}\", \"0m\"]\n[[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n"
    )
}

/// The message about `text`, empty if the file is good.
fn message(text: &str) -> String {
    let read = parse("t.toml", text, &[]).and_then(|e| e.scenario(&e.points[0], &Overlay::default()).map(|_| ()));
    read.err().map_or(String::new(), |e| e.render(false))
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    let got = message(text);
    for part in parts {
        assert!(got.contains(part), "{got:?} does not say {part:?}");
    }
}

#[test]
fn two_stations_on_one_spot_are_refused() {
    says(&pair("", "0m", ""), &["station.1.position", "puts \"b\" at (0m, 0m), where \"a\" is", "move one of them"]);
}

#[test]
fn a_flow_without_a_route_names_the_nearest_gap() {
    assert_eq!(message(&pair("", "250m", "")), "");
    says(
        &pair("", "250.5m", ""),
        &["flow.0.from", "has no route", "nearest gap is 250.5m, from \"a\" to \"b\"", "decoded up to 250m"],
    );
    // A chain with a gap in the middle, and a third station far away: the gap is between the two nearest.
    let three = "[[station]]\nname = \"c\"\ncount = 3\nposition = [\"= 200m * k\", \"0m\"]\n[[flow]]";
    let chain = pair("", "900.5m", "").replacen("[[flow]]", three, 1);
    says(&chain, &["nearest gap is 300.5m, from \"c.3\" to \"b\""]);
}

#[test]
fn a_station_out_of_reach_of_its_access_point_is_refused() {
    let with_ap = |x: &str, routing: &str| {
        pair(routing, x, "").replacen("[[station]]", "[ap]\nposition = [\"0m\", \"100m\"]\n[[station]]", 1)
    };
    assert_eq!(message(&with_ap("200m", "")), "");
    says(&with_ap("240m", ""), &["\"b\", which is 260.0m from its access point", "field.routing = \"static\""]);
    assert_eq!(message(&with_ap("240m", "routing = \"static\"")), "");
}

#[test]
fn rules_that_need_a_cell_are_refused_where_stations_are_out_of_range() {
    let rule = "access = { kind = \"hash1\" }";
    let three = "[[station]]\nname = \"c\"\nposition = [\"400m\", \"0m\"]\n[[flow]]";
    assert_eq!(message(&pair("", "200m", rule)), "");
    let chain = pair("", "200m", rule).replacen("[[flow]]", three, 1);
    says(&chain, &["like \"a\" and \"c\", but `hash1` needs a cell", "use another access rule"]);
    assert_eq!(message(&chain.replace("hash1", "dcf")), "");
}

#[test]
fn eifs_as_a_nav_needs_a_field() {
    let nav = "after_collision = \"eifs_nav\"";
    assert_eq!(message(&pair("", "200m", nav)), "");
    let cell = "duration = \"1s\"\n[wifi]\nstandard = \"802.11b\"\nafter_collision = \"eifs_nav\"\n[[flow]]\n\
                from = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";
    says(cell, &["wifi.after_collision", "is for a field", "write \"eifs\""]);
}
