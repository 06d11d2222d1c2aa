//! Messages about positions that make a run pointless.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contend_lab::reading::file::{Overlay, parse};
use contend_sim::scenario::Place;

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

/// Stations of a field of 1000 m x 1000 m with these keys, and a flow between two of them.
fn mobile(field: &str, station: &str, from: &str, to: &str) -> String {
    format!(
        "duration = \"1s\"\n[wifi]\nstandard = \"802.11b\"\n[field]\n{field}\n[[station]]\nname = \"m\"\ncount = 6\n\
         {station}\n[[flow]]\ncount = 3\nfrom = \"{from}\"\nto = \"{to}\"\ntcp = \"newreno\"\n"
    )
}

const AREA: &str = "area = [\"1000m\", \"1000m\"]\nrouting = \"aodv\"";

#[test]
fn stations_that_move_need_an_area_and_routes_that_follow() {
    let waypoint = "mobility = \"random_waypoint\"";
    assert_eq!(message(&mobile(AREA, waypoint, "m", "m[2..6]")), "");
    says(&mobile("routing = \"aodv\"", waypoint, "m", "m[2..6]"), &["station.0.mobility", "no area", "field.area"]);
    says(
        &mobile("area = [\"1000m\", \"1000m\"]", waypoint, "m", "m[2..6]"),
        &["station.0.mobility", "keeps the routes of the start", "\"aodv\" or \"dsdv\""],
    );
    let still = "position = \"random\"";
    assert_eq!(message(&mobile("area = [\"500m\", \"500m\"]", still, "m", "m[2..6]")), "");
    says(&mobile("", still, "m", "m[2..6]"), &["station.0.position", "no area"]);
    says(&mobile(AREA, "", "m", "m[2..6]"), &["has no position", "add position"]);
    let grid = "grid = { columns = 3, spacing = \"200m\" }";
    let off = "off = [[\"100ms\", \"200ms\"], [\"= 300ms * k\", \"5s\"]]";
    assert_eq!(message(&mobile(AREA, &format!("{grid}\n{off}"), "m", "m[2..6]")), "");
    says(
        &mobile(AREA, &format!("{grid}\noff = [[\"2s\", \"1s\"]]"), "m", "m[2..6]"),
        &["station.0.off.0.1", "not after"],
    );
    let rule = mobile(AREA, "mobility = \"random_waypoint\"\naccess = { kind = \"hash1\" }", "m", "m[2..6]");
    says(&rule, &["`hash1` needs a cell"]);
    let cell = pair("", "100m", "").replace("[field]\narea = [\"2000m\", \"2000m\"]", "").replace("\n\n", "\n");
    says(&cell, &["position", "is for a field"]);
}

#[test]
fn a_movement_file_is_read_and_its_errors_name_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let moves = |text: &str| {
        std::fs::write(folder.path().join("moves.tcl"), text).unwrap();
        let file = mobile(AREA, "mobility = { kind = \"trace\", file = \"moves.tcl\" }", "m", "m[2..6]");
        let path = folder.path().join("t.toml").display().to_string();
        let read = parse(&path, &file, &[]).and_then(|e| e.scenario(&e.points[0], &Overlay::default()).map(|_| ()));
        read.err().map_or(String::new(), |e| e.render(false))
    };
    let mut good = String::new();
    for i in 0..6 {
        good += &format!("$node_({i}) set X_ {i}00\n$node_({i}) set Y_ 5\n");
    }
    assert_eq!(moves(&good), "");
    let jump = moves(&format!("{good}$node_(2) set X_ 7\n"));
    assert!(jump.contains("line 13") && jump.contains("node 2 jumps"), "{jump}");
    let missing = moves(good.split("$node_(5)").next().unwrap());
    assert!(missing.contains("no position of node 5"), "{missing}");
    let outside = moves(&format!("{good}$ns_ at 1.0 \"$node_(3) setdest 50 1000.5 10\"\n"));
    assert!(outside.contains("line 13") && outside.contains("larger area"), "{outside}");
    let none = mobile(AREA, "mobility = { kind = \"trace\", file = \"nowhere.tcl\" }", "m", "m[2..6]");
    says(&none, &["station.0.mobility.file", "cannot be read"]);
    says(&mobile(AREA, "mobility = \"trace\"", "m", "m[2..6]"), &["needs a movement file"]);
    says(
        &mobile(AREA, "mobility = { kind = \"random_waypoint\", file = \"moves.tcl\" }", "m", "m[2..6]"),
        &["has no meaning for random_waypoint"],
    );
}

/// Each seed draws the ends anew; they never coincide, and a sweep of seeds meets all stations.
#[test]
fn random_ends_are_drawn_by_each_seed() {
    let grid = "grid = { columns = 3, spacing = \"200m\" }";
    for (from, to) in [("m", "random(m)"), ("random", "random"), ("random(m[1..2])", "random(m[2..3])")] {
        let e = parse("t.toml", &mobile("", grid, from, to), &[]).unwrap();
        let resolved = e.scenario(&e.points[0], &Overlay::default()).unwrap();
        let mut met = std::collections::BTreeSet::new();
        for seed in 1..=100 {
            let drawn = resolved.scenario.with_seed(seed);
            assert_eq!(format!("{drawn:?}"), format!("{:?}", resolved.scenario.with_seed(seed)));
            for (k, f) in drawn.flows.iter().enumerate() {
                assert!(f.from != f.to && (from != "m" || f.from == Place::Station(k)));
                met.insert(f.to);
            }
        }
        let want = if to.contains("2..3") { 2 } else { 6 };
        assert_eq!(met.len(), want, "{from} {to}");
    }
    let far = "grid = { columns = 3, spacing = \"300m\" }";
    says(&mobile("", far, "m", "random"), &["no route", "nearest gap is 300.0m"]);
    let one = mobile("", grid, "m", "random").replace("count = 6", "count = 1");
    says(&one, &["draws one of two or more stations"]);
    says(&mobile("", grid, "m", "random(x)"), &["unknown station or node", "m"]);
}

#[test]
fn links_replace_positions() {
    let with = |links: &str| mobile(&format!("links = {links}"), "", "m[1..2]", "m[3]");
    assert_eq!(message(&with("[[\"m\", \"m\"]]")), "");
    assert_eq!(message(&with("[[\"m[1..2]\", \"m[4]\"], { from = \"m.4\", to = \"m.3\", loss = \"20dB\" }]")), "");
    says(&with("[[\"m[1..2]\", \"m[4]\"]]"), &["no route from \"m.1\" to \"m.3\" over field.links"]);
    says(&with("[{ from = \"m\", to = \"m\", both = true, decode = false }]"), &["no route"]);
    says(&with("[[\"m\"]]"), &["must name two stations"]);
    says(&with("[[\"m\", \"x\"]]"), &["field.links.0.1", "unknown station"]);
    says(&mobile("links = [[\"m\", \"m\"]]", "mobility = \"random_waypoint\"", "m", "m[2..3]"), &["remove `mobility`"]);
    let shadowed = |how: &str| mobile(how, "grid = { columns = 3, spacing = \"200m\" }", "m", "m[2..6]");
    assert_eq!(message(&shadowed("shadowing = { deviation = \"4dB\", draw = \"frame\" }")), "");
    says(&shadowed("shadowing = \"4\""), &["field.shadowing", "write \"6dB\""]);
    says(&shadowed("shadowing = \"30dB\""), &["from \"0dB\" to \"20dB\""]);
    says(&shadowed("shadowing = \"6dB\"\npropagation = \"range\""), &["field.shadowing", "log_distance"]);
}
