//! Messages about positions that make a run pointless.

use contend_core::Span;
use contend_lab::reading::file::{Overlay, parse};
use contend_sim::scenario::{Place, Scenario};

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
fn a_packet_leaves_room_for_the_header_of_the_routing_protocol() {
    let with = |header: &str, packet: &str| {
        let routing = format!("routing = {{ kind = \"aodv\", ip_header = \"{header}\" }}");
        pair(&routing, "200m", "") + &format!("packet = \"{packet}\"\n")
    };
    assert_eq!(message(&with("0B", "2296B")) + &message(&with("20B", "2276B")), "");
    says(&with("20B", "2277B"), &["flow.0.packet", "too large for an 802.11 frame: 2277B", "at most 2276B"]);
}

#[test]
fn each_member_of_a_station_may_have_its_own_pair() {
    let three = |list: &str| {
        let c = format!("[[station]]\nname = \"c\"\ncount = 3\nposition = [{list}]\n[[flow]]");
        pair("", "900m", "").replacen("[[flow]]", &c, 1)
    };
    let (near, far) = ("[\"225m\", \"0m\"], [\"450m\", \"0m\"]", "[\"675m\", \"0m\"]");
    assert_eq!(message(&three(&format!("{near}, {far}"))), "");
    says(&three(&format!("{near}, \"675m\"")), &["station.2.position", "a pair like"]);
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

#[test]
fn a_field_senses_frames_at_once() {
    says(&pair("", "200m", "preamble_detection = \"4us\""), &["wifi.preamble_detection", "is for a cell"]);
    let cell = "duration = \"1s\"\n[wifi]\nstandard = \"802.11g\"\npreamble_detection = \"8us\"\n[[flow]]\n\
                from = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";
    assert_eq!(message(cell), "");
    says(&cell.replace("8us", "9us"), &["wifi.preamble_detection", "not shorter than a slot", "4us"]);
}

#[test]
fn aggregates_are_not_for_fields_with_broadcasts() {
    let grid = "grid = { columns = 3, spacing = \"200m\" }";
    let modern = |field: &str| {
        let wifi = "standard = \"802.11n\"\nampdu = {}";
        mobile(field, grid, "m[1]", "m[2..6]").replace("standard = \"802.11b\"", wifi)
    };
    assert_eq!(message(&modern("routing = \"static\"")), "");
    says(&modern("routing = \"aodv\""), &["`field` has routing messages", "write \"off\" for both"]);
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

// ---- several access points ----

/// The access points `left` and `right`, 400 m apart, the station `a` at `x` with `more` keys, a station `b` beside
/// `right`, and a flow.
fn two_aps(x: &str, more: &str, flow: &str) -> String {
    format!(
        "duration = \"1s\"\nwifi = {{ standard = \"802.11b\" }}\nfield = {{}}\n\
         [[ap]]\nname = \"left\"\nposition = [\"0m\", \"0m\"]\n\
         [[ap]]\nname = \"right\"\nposition = [\"400m\", \"0m\"]\n\
         [[station]]\nname = \"a\"\nposition = [\"{x}\", \"10m\"]\n{more}\n\
         [[station]]\nname = \"b\"\nposition = [\"420m\", \"0m\"]\n\
         [[flow]]\n{flow}\ntcp = \"newreno\"\n"
    )
}

const UP: &str = "from = \"a\"\nto = \"server\"";
const ACROSS: &str = "from = \"a\"\nto = \"b\"";

/// The scenario of a good file.
fn scenario(text: &str) -> Scenario {
    let e = parse("t.toml", text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
    e.scenario(&e.points[0], &Overlay::default()).unwrap().scenario
}

/// The names of the places at the ends of each link.
fn links(s: &Scenario) -> Vec<(String, Place, Place)> {
    s.links.iter().map(|l| (l.name.clone(), l.from, l.to)).collect()
}

#[test]
fn a_station_has_the_access_point_that_it_names_or_the_strongest() {
    let of_a = |x: &str, more: &str| scenario(&two_aps(x, more, UP)).cell.unwrap().ap_of(0);
    assert_eq!((of_a("199m", ""), of_a("201m", "")), (0, 1));
    assert_eq!((of_a("199m", "ap = \"right\""), of_a("201m", "ap = \"left\"")), (1, 0));
    // The links that the file gives decide: decoded before sensed only, then by the loss.
    let by_links = |links: &str| {
        let file =
            two_aps("201m", "", UP).replace("field = {}", &format!("[field]\nlinks = [{links}, [\"right\", \"b\"]]"));
        scenario(&file).cell.unwrap().ap_of(0)
    };
    let weak = "{ from = \"right\", to = \"a\", loss = \"3dB\" }";
    assert_eq!(by_links(&format!("[\"left\", \"a\"], {weak}")), 0);
    assert_eq!(by_links(&format!("{{ from = \"left\", to = \"a\", decode = false }}, {weak}")), 1);
    let moves = "mobility = \"random_waypoint\"";
    let drawn = two_aps("1m", "", UP).replace("position = [\"1m\", \"10m\"]", moves);
    let drawn = drawn.replace("field = {}", "field = { area = [\"500m\", \"500m\"] }");
    says(&drawn, &["station.0.mobility", "no position before the run", "ap = \"left\""]);
    assert_eq!(message(&drawn.replace(moves, &format!("{moves}\nap = \"right\""))), "");
    // At the same distance the first one.
    assert_eq!(of_a("200m", ""), 0);
    // All signals are as strong: the nearest one.
    let flat = two_aps("201m", "", UP).replace("field = {}", "field = { propagation = \"range\" }");
    assert_eq!(scenario(&flat).cell.unwrap().ap_of(0), 1);
}

#[test]
fn the_server_of_a_flow_is_behind_the_access_point_of_its_station() {
    for (x, ap) in [("100m", 0), ("300m", 1)] {
        let s = scenario(&two_aps(x, "", UP));
        assert_eq!(links(&s), [("up.wire".to_owned(), Place::Node(0), Place::Ap(ap))]);
    }
    let file = two_aps("100m", "", "from = \"server\"\nto = \"h\"") + "[[node]]\nname = \"h\"\n";
    says(&file, &["flow.0.from", "the other end names no single station", "[[node]]"]);
}

#[test]
fn a_wire_joins_two_access_points_unless_the_file_does() {
    let across = two_aps("100m", "", ACROSS);
    let wire = |from, to| ("left-right".to_owned(), Place::Ap(from), Place::Ap(to));
    assert_eq!(links(&scenario(&across)), [wire(0, 1)]);
    // A second flow uses the same wire.
    let twice = format!("{across}[[flow]]\nfrom = \"b\"\nto = \"a\"\ntcp = \"newreno\"\n");
    assert_eq!(links(&scenario(&twice)), [wire(0, 1)]);
    let forward = |file: &str| scenario(file).links[0].forward.delay;
    assert_eq!(forward(&across), Span::from_millis(1));
    assert_eq!(forward(&format!("{across}[wire]\ndelay = \"5ms\"\n")), Span::from_millis(5));
    let router = "[[node]]\nname = \"r\"\nkind = \"router\"\n[[link]]\nfrom = \"left\"\nto = \"r\"\n";
    says(&format!("{across}{router}"), &["has no path to the other end", "[[link]]"]);
    let whole = format!("{across}{router}[[link]]\nfrom = \"r\"\nto = \"right\"\n");
    assert_eq!(links(&scenario(&whole)).len(), 2);
    // A run draws the ends: any two stations may have to reach each other.
    let drawn = two_aps("100m", "", "from = \"random\"\nto = \"random\"");
    assert_eq!(links(&scenario(&drawn)), [wire(0, 1)]);
    says(&format!("{drawn}{router}"), &["has no path to the other end"]);
    // Stations that forward packets need no wire.
    let forwarding = across.replace("field = {}", "field = { routing = \"static\", range = \"500m\" }");
    assert_eq!(links(&scenario(&forwarding)), []);
}

#[test]
fn one_access_point_of_a_list_is_the_access_point() {
    let one = two_aps("100m", "", UP).replace("[[ap]]\nname = \"right\"\nposition = [\"400m\", \"0m\"]\n", "");
    let short = one.replace("[[ap]]\nname = \"left\"\n", "[ap]\n");
    let listed = one.replace("\"left\"", "\"ap\"");
    assert_ne!(short, listed);
    assert_eq!(format!("{:?}", scenario(&short)), format!("{:?}", scenario(&listed)));
}

#[test]
fn access_points_that_do_not_fit_are_refused() {
    let good = two_aps("100m", "", UP);
    assert_eq!(message(&good), "");
    says(
        &two_aps("100m", "ap = \"lefd\"", UP),
        &["station.0.ap", "unknown access point: \"lefd\"", "did you mean `left`?"],
    );
    says(&two_aps("100m", "ap = \"b\"", UP), &["station.0.ap", "unknown access point: \"b\""]);
    says(&good.replace("\"right\"", "\"left\""), &["ap.1.name", "is used twice: \"left\""]);
    says(&good.replace("\"right\"", "\"a\""), &["station.0.name", "is used twice: \"a\""]);
    says(
        &two_aps("100m", "ap = \"right\"", UP),
        &["flow.0.from", "\"a\", which is 300.2m from its access point \"right\"", "decoded up to 250m"],
    );
    says(&good.replace("field = {}\n", ""), &["`ap` is a list of access points", "write [ap], or add [field]"]);
    says(&good.replacen("[[ap]]", "[ap]", 1), &["duplicate key", "two brackets"]);
    says(&good.replacen("name = \"left\"\n", "", 1), &["ap.0", "name = \"left\""]);
    says(&good.replacen("position = [\"0m\", \"0m\"]\n", "", 1), &["ap.0", "has no position"]);
    let alone = pair("", "200m", "").replacen("[[station]]", "[ap]\nname = \"x\"\n[[station]]", 1);
    says(&alone, &["ap.name", "is for several access points", "write [[ap]]"]);
    says(&pair("routing = \"infrastructure\"", "200m", ""), &["field.routing", "needs an access point", "\"static\""]);
}

#[test]
fn access_points_have_a_channel_each() {
    let on = |left: &str, right: &str| {
        let file = two_aps("100m", "", UP).replacen("[\"0m\", \"0m\"]", &format!("[\"0m\", \"0m\"]\n{left}"), 1);
        file.replacen("[\"400m\", \"0m\"]", &format!("[\"400m\", \"0m\"]\n{right}"), 1)
    };
    let field = |file: &str| scenario(file).cell.unwrap().field.unwrap();
    let two = field(&on("channel = 1", "channel = 6"));
    let channels: Vec<_> = (0..4).map(|station| two.channel(station)).collect();
    assert_eq!(channels, [Some(1), Some(6), Some(1), Some(6)], "stations are on that of their access point");
    assert_eq!(format!("{:?}", field(&on("channel = 6", "channel = 6"))), format!("{:?}", field(&on("", ""))));
    says(&on("channel = 6", ""), &["ap.1", "has no channel", "for each, or none"]);
    says(&on("channel = 36", "channel = 1"), &["ap.0.channel", "no channel of the 2.4GHz band", "1, 6 and 11"]);
    says(&on("channel = 1", "channel = 5"), &["ap.1.channel", "is 5, which overlaps 1", "20 MHz"]);
    let wide = |standard: &str, left: u32, right: u32| {
        let file = on(&format!("channel = {left}"), &format!("channel = {right}"));
        file.replace("standard = \"802.11b\"", standard)
    };
    for (standard, left, right, good) in [
        ("standard = \"802.11ac\"", 36, 40, true),
        ("standard = \"802.11ac\", width = \"40MHz\"", 36, 40, false),
        ("standard = \"802.11ac\", width = \"40MHz\"", 36, 44, true),
        ("standard = \"802.11ac\", width = \"80MHz\"", 36, 48, false),
        ("standard = \"802.11ac\", width = \"80MHz\"", 48, 52, true),
        ("standard = \"802.11ac\", width = \"160MHz\"", 149, 153, false),
        ("standard = \"802.11ax\", band = \"6GHz\", width = \"160MHz\"", 1, 33, true),
        ("standard = \"802.11n\", band = \"2.4GHz\", width = \"40MHz\"", 1, 9, false),
    ] {
        assert_eq!(message(&wide(standard, left, right)).is_empty(), good, "{standard}: {left} and {right}");
    }
    says(&wide("standard = \"802.11ac\"", 37, 36), &["ap.0.channel", "is 37, no channel of the 5GHz band"]);
    let forwards = on("channel = 1", "channel = 6").replace("field = {}", "field = { routing = \"static\" }");
    says(&forwards, &["ap.1.channel", "stations forward packets"]);
    let cell = "duration = \"1s\"\nwifi = { standard = \"802.11b\" }\nap = { channel = 6 }\n\
        [[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";
    says(cell, &["ap.channel", "is for a field"]);
    says(
        &on("channel = 1", "channel = 6").replace("\"802.11b\"", "\"802.11b\", access = \"tcf\""),
        &["different channels", "`tcf` needs a cell"],
    );
}

#[test]
fn channels_overlap_by_a_mask_or_a_list() {
    let on = |left: u32, right: u32, field: &str| {
        let file =
            two_aps("100m", "", UP).replacen("[\"0m\", \"0m\"]", &format!("[\"0m\", \"0m\"]\nchannel = {left}"), 1);
        let file = file.replacen("[\"400m\", \"0m\"]", &format!("[\"400m\", \"0m\"]\nchannel = {right}"), 1);
        file.replace("field = {}", &format!("field = {{ {field} }}"))
    };
    let overlaps = |left, right, field: &str| {
        let read = scenario(&on(left, right, field)).cell.unwrap().field.unwrap();
        read.adjacent.map(|a| (a.overlaps, a.energy))
    };
    let list = "adjacent = [\"1dB\", \"2dB\", \"3.5dB\"]";
    assert_eq!(overlaps(1, 4, list), Some((vec![([1, 4], 3.5)], -62.0)));
    assert_eq!(overlaps(4, 2, list), Some((vec![([4, 2], 2.0)], -62.0)));
    assert_eq!(overlaps(1, 5, list), None, "beyond the list nothing arrives");
    assert_eq!(overlaps(6, 6, list), None);
    assert_eq!(overlaps(1, 6, "adjacent = \"none\", energy = \"-70dBm\""), None);
    // 1.117 dB by hand, see `wifi/medium/spectrum.rs`; 802.11g has OFDM.
    let (mask, energy) = overlaps(2, 1, "adjacent = \"mask\", energy = \"-70dBm\"").unwrap();
    assert!(mask.len() == 1 && (mask[0].1 - 1.117).abs() < 0.01 && energy == -70.0, "{mask:?}");
    let wide = |left, right| {
        let file = on(left, right, "adjacent = [\"20dB\"], propagation = \"log_distance\"");
        file.replace("standard = \"802.11b\"", "standard = \"802.11ac\", width = \"80MHz\"")
    };
    let next = scenario(&wide(36, 52)).cell.unwrap().field.unwrap().adjacent.unwrap();
    assert_eq!(next.overlaps, [([36, 52], 20.0)], "the next channel of 80 MHz");
    assert_eq!(scenario(&wide(36, 100)).cell.unwrap().field.unwrap().adjacent, None);
    says(&wide(36, 40), &["ap.1.channel", "overlaps 36", "at 80 MHz"]);
    says(&on(1, 4, ""), &["ap.1.channel", "overlaps 1", "field.adjacent = \"mask\""]);
    says(&on(1, 4, "adjacent = \"ofdm\""), &["field.adjacent", "mask, none"]);
    says(&on(1, 4, "adjacent = []"), &["field.adjacent", "has no loss"]);
    says(&on(1, 4, "adjacent = [\"-1dB\"]"), &["field.adjacent", "0dB"]);
    says(&on(1, 6, "energy = \"-62dBm\""), &["field.energy", "adjacent = \"mask\""]);
    says(&on(1, 6, "adjacent = \"mask\", propagation = \"range\""), &["field.adjacent", "none falls", "log_distance"]);
    says(
        &two_aps("100m", "", UP).replace("field = {}", "field = { adjacent = \"mask\" }"),
        &["field.adjacent", "channel"],
    );
    let given = on(1, 6, "adjacent = \"mask\", links = [[\"left\", \"a\"], [\"right\", \"b\"]]");
    says(&given, &["field.adjacent", "field.links"]);
    // The power of frames counts, so that it can be set.
    assert_eq!(message(&on(1, 6, "adjacent = \"mask\", tx_power = \"20dBm\"")), "");
}

#[test]
fn walls_weaken_what_a_station_hears() {
    let walls = |loss: &str| {
        format!(
            "[[wall]]\nfrom = [\"150m\", \"0m\"]\nto = [\"150m\", \"500m\"]\nloss = \"{loss}\"\n\n\
             [[station]]\nname = \"a\""
        )
    };
    let with = |x: &str, loss: &str| two_aps(x, "", UP).replacen("[[station]]\nname = \"a\"", &walls(loss), 1);
    // At 160 m, beyond a wall, the other access point is stronger: 40 log10(240 / 160) = 7.0 dB.
    let of_a = |loss: &str| scenario(&with("160m", loss)).cell.unwrap().ap_of(0);
    assert_eq!((of_a("6.9dB"), of_a("7.1dB")), (0, 1));
    let named = |loss: &str| with("160m", loss).replacen("name = \"a\"", "name = \"a\"\nap = \"left\"", 1);
    // The range of 250 m is 40 log10(250 / 160) = 7.8 dB farther.
    assert_eq!(message(&named("7.6dB")), "");
    says(
        &named("7.9dB"),
        &["flow.0.from", "which is 160.3m from its access point", "250m where no wall is in the way"],
    );
    let flat = with("160m", "3dB").replace("field = {}", "field = { propagation = \"range\" }");
    says(&flat, &["wall.0", "weakens nothing", "propagation = \"range\"", "log_distance"]);
    let given = with("160m", "3dB").replace("field = {}", "[field]\nlinks = [[\"left\", \"a\"], [\"right\", \"b\"]]");
    says(&given, &["wall.0", "field.links gives"]);
    says(&with("160m", "-3dB"), &["wall.0.loss", "0dB"]);
    says(&with("160m", "3dB").replace("\"500m\"", "\"0m\""), &["wall.0.to", "is also the beginning"]);
    let cell = "duration = \"1s\"\nwifi = { standard = \"802.11b\" }\n[[wall]]\nfrom = [\"0m\", \"0m\"]\n\
        to = [\"0m\", \"9m\"]\nloss = \"3dB\"\n[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";
    says(cell, &["wall.0", "is for a field"]);
}

#[test]
fn stations_that_roam_need_a_field_with_positions_and_several_access_points() {
    let with = |roam: &str| two_aps("100m", &format!("roam = {roam}"), UP);
    let site = |file: &str| scenario(file).cell.unwrap().field.unwrap().sites[2].clone();
    let default = site(&with("{}")).roam.unwrap();
    let written = "{ threshold = \"-70dBm\", hysteresis = \"8dB\", interval = \"102.4ms\", scan = \"60ms\", \
        retry = \"30s\", gap = \"50ms\", waiting = \"lost\" }";
    assert_eq!(format!("{:?}", site(&with(written)).roam.unwrap()), format!("{default:?}"));
    assert!(site(&with("{ waiting = \"forwarded\" }")).roam.unwrap().forwards && !default.forwards);
    assert!(site(&with("\"none\"")).roam.is_none());
    says(&with("\"always\""), &["station.0.roam"]);
    says(&with("{ threshold = \"-151dBm\" }"), &["station.0.roam.threshold", "-150dBm"]);
    says(&with("{ hysteresis = \"-1dB\" }"), &["station.0.roam.hysteresis", "0dB"]);
    says(&with("{ interval = \"900us\" }"), &["station.0.roam.interval", "shorter than a millisecond"]);
    says(&with("{ retry = \"0s\" }"), &["station.0.roam.retry"]);
    says(&with("{ treshold = \"-70dBm\" }"), &["station.0.roam", "did you mean `threshold`"]);
    let field = |field: &str| with("{}").replace("field = {}", &format!("field = {{ {field} }}"));
    says(&field("propagation = \"range\""), &["station.0.roam", "compares powers", "log_distance"]);
    says(&field("routing = \"static\""), &["station.0.roam", "stations forward packets", "field.routing"]);
    let given = "links = [[\"left\", \"a\"], [\"right\", \"b\"]]";
    says(&field(given), &["station.0.roam", "compares powers", "field.links gives who hears whom"]);
    let one = with("{}").replace("[[ap]]\nname = \"right\"\nposition = [\"400m\", \"0m\"]\n", "");
    says(&one, &["station.0.roam", "there is only one", "add another [[ap]]"]);
    assert_eq!(message(&one.replace("roam = {}", "roam = \"none\"")), "");
    let cell = "duration = \"1s\"\nwifi = { standard = \"802.11b\" }\n[[station]]\nname = \"a\"\nroam = {}\n\
        [[flow]]\nfrom = \"server\"\nto = \"a\"\ntcp = \"newreno\"\n";
    says(cell, &["station.0.roam", "is for a field"]);
}

#[test]
fn key_paths_name_access_points() {
    let file = two_aps("100m", "", UP);
    let with = |key: &str, value: &str| {
        parse("t.toml", &file, &[(key.to_owned(), value.to_owned())]).map_err(|e| e.render(false))
    };
    let queue = |key: &str| {
        let e = with(key, "fq_codel").unwrap_or_else(|e| panic!("{e}"));
        let s = e.scenario(&e.points[0], &Overlay::default()).unwrap().scenario;
        s.cell.unwrap().aps.iter().map(|ap| ap.station.queue.entry.name).collect::<Vec<_>>()
    };
    assert_eq!(queue("ap.right.queue"), ["fifo", "fq_codel"]);
    assert_eq!(queue("ap.0.queue"), ["fq_codel", "fifo"]);
    let unknown = with("ap.rigth.queue", "fq_codel").map(drop).unwrap_err();
    assert!(unknown.contains("no [[ap]] has the name or number `rigth`") && unknown.contains("right"), "{unknown}");
}

#[test]
fn observers_stand_in_the_field_or_at_a_station() {
    let observed = |field: &str, station: &str| {
        pair(field, "200m", "").replacen(
            "position = [\"0m\", \"0m\"]",
            &format!("position = [\"0m\", \"0m\"]\n{station}"),
            1,
        )
    };
    for (field, station, want) in [
        ("observe = [\"rt_winf\"]", "", [vec!["rt_winf"], vec!["rt_winf"]]),
        ("", "observe = [\"idle_gap\"]", [vec!["idle_gap"], vec![]]),
        ("observe = [\"rt_winf\"]", "observe = []", [vec![], vec!["rt_winf"]]),
        (
            "observe = [\"rt-winf\", { kind = \"rt_winf\", cap_def = \"literal\", name = \"printed\" }]",
            "observe = [\"adhoc_probe\"]",
            [vec!["adhoc_probe"], vec!["rt_winf", "printed"]],
        ),
    ] {
        let e = parse("t.toml", &observed(field, station), &[]).unwrap();
        let cell = e.scenario(&e.points[0], &Overlay::default()).unwrap().scenario.cell.unwrap();
        let names = |i: usize| cell.stations[i].observe.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        assert_eq!([names(0), names(1)], want);
    }
    says(&observed("observe = [\"rtwinf\"]", ""), &["field.observe.0", "unknown observer", "rt_winf"]);
    says(&observed("observe = [\"are\"]", ""), &["`are` is a bandwidth estimator: write estimate = [\"are\"]"]);
    says(&observed("observe = [\"rt_winf\", \"rt_winf\"]", ""), &["is the second observer called \"rt_winf\""]);
    let packets = "observe = [{ kind = \"rt_winf\", min_sample = \"1p\" }]";
    says(&observed(packets, ""), &["cannot use rt_winf", "min_sample"]);
    let cell = "duration = \"1s\"\n[wifi]\nstandard = \"802.11b\"\n[ap]\nobserve = [\"rt_winf\"]\n[[flow]]\n\
                from = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";
    says(cell, &["ap.observe", "needs a field"]);
}

#[test]
fn a_sender_that_reads_the_air_needs_an_observer() {
    let tcp_ap = |field: &str| {
        let cc = "tcp = { cc = { kind = \"tcp_ap\", bandwidth = \"air\" } }";
        pair(field, "200m", "").replacen("tcp = \"newreno\"", cc, 1)
    };
    assert_eq!(message(&tcp_ap("observe = [\"rt_winf\"]")), "");
    says(
        &tcp_ap(""),
        &["flow.0.from", "no observer of the air, but the controller \"tcp_ap\"", "observe = [\"rt_winf\"]"],
    );
}

/// By hand, with a path loss of 46.6777 dB at 1 m and 30 dB for each factor of ten: from 16 dBm to -82 dBm are 98 dB,
/// of which 51.3223 dB come from the distance: 10^(51.3223 / 30) m.
#[test]
fn a_sense_in_dbm_is_the_distance_at_which_this_power_arrives() {
    let sense = |more: &str| {
        let text = pair(&format!("range = \"40m\"\npropagation = \"log_distance\"\n{more}"), "30m", "");
        let e = parse("t.toml", &text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        e.scenario(&e.points[0], &Overlay::default()).unwrap().scenario.cell.unwrap().field.unwrap().sense
    };
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a}, not {b}");
    near(sense("sense = \"-82dBm\""), 51.37399431626418);
    near(sense("sense = \"-82dBm\"\ntx_power = \"20dBm\""), 69.83556749877076);
    near(sense(""), 88.0);
    let loud = |sense: &str, more: &str| pair(&format!("sense = \"{sense}\"\n{more}"), "200m", "");
    says(&loud("-40dBm", ""), &["field.sense", "before the range of 250m"]);
    says(
        &loud("-149dBm", "propagation = { kind = \"log_distance\", exponent = 1 }"),
        &["field.sense", "is sensed everywhere"],
    );
    says(&loud("29dBm", ""), &["field.sense", "is sensed nowhere", "16 dBm"]);
    says(&loud("-82dBm", "propagation = \"range\""), &["field.sense", "in which no power falls"]);
    says(&loud("-82 dB", ""), &["field.sense"]);
    says(&pair("tx_power = \"20dBm\"", "200m", ""), &["field.tx_power", "gives an SNR, which no error model reads"]);
    says(&pair("sinr = true", "200m", ""), &["field.sinr", "lowers an SNR, which no error model reads"]);
}
