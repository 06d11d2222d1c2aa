//! Good files: the values that the words of a file set.

mod cell;
mod flow;

use contend_core::registry::{Amount, Value};
use contend_core::{Span, Time};
use contend_lab::experiment::point::{Direction, Resolved};
use contend_lab::reading::expression::Quantity;
use contend_lab::reading::file::{Along, Each, Expect, Experiment, Log, Overlay, Verdict, load, parse};
use contend_sim::scenario::{Place, Start, TcpSpec, Transport, WireRate};
use serde_json::json;

const HEAD: &str = "duration = \"70s\"\nwarmup = \"10s\"\n";
const CELL: &str = "duration = \"70s\"\n[wifi]\nstandard = \"802.11g\"\n";

fn read(text: &str) -> Experiment {
    parse("dir/t.toml", text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)))
}

fn set(text: &str, sets: &[(&str, &str)]) -> Experiment {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    parse("dir/t.toml", text, &sets).unwrap_or_else(|e| panic!("{}", e.render(false)))
}

fn first(e: &Experiment) -> Resolved {
    e.scenario(&e.points[0], &Overlay::default()).unwrap()
}

fn tcp(r: &Resolved, flow: usize) -> &TcpSpec {
    match &r.scenario.flows[flow].ends.transport {
        Transport::Tcp(spec) => spec,
        Transport::Udp(_) => panic!("flow {flow} is udp"),
    }
}

fn flow_names(r: &Resolved) -> Vec<&str> {
    r.scenario.flows.iter().map(|f| f.name.as_str()).collect()
}

fn station_names(r: &Resolved) -> Vec<&str> {
    r.scenario.cell.iter().flat_map(|c| &c.stations).map(|s| s.name.as_str()).collect()
}

/// An example with the most common words.
const EXAMPLE: &str = r#"
title    = "Two uploads starve ten downloads"
cite     = "Keceli, Inan, Ayanoglu 2008, Fig. 4"
duration = "70s"
warmup   = "10s"
seeds    = "1..5"

[wifi]
standard = "802.11g"            # 802.11, 802.11b, 802.11a, 802.11g (later n, ac, ax)
rate     = "54Mbps"
basic    = "6Mbps"
slot     = "20us"               # any table value can be overridden
access   = "dcf"

[ap]
queue = { kind = "fifo", limit = "100p" }

[[flow]]
count = 10
from  = "server"                # server -> station: a download
to    = "station"
tcp   = "newreno"
delay = "15ms"                  # one-way, wired side
window = "42p"
start = "uniform(0s, 2s)"

[[flow]]
count = 2
from  = "station"
to    = "server"
tcp   = "newreno"
delay = "15ms"
window = "42p"

[sweep]
"flow.1.count" = [0, 1, 2, 4, 6, 8, 10]

[[claim]]
id     = "H3"
paper  = "2 uploads 9.62 Mb/s in total, 10 downloads 6.09 Mb/s"
when   = { "flow.1.count" = 2 }
metric = "goodput.up / goodput.down"
expect = { between = [1.2, 2.2] }
"#;

#[test]
fn the_example_of_the_design_is_read_whole() {
    let e = read(EXAMPLE);
    assert_eq!(
        (e.title.as_str(), e.duration, e.warmup, e.sample),
        ("Two uploads starve ten downloads", Span::from_secs(70), Span::from_secs(10), None)
    );
    assert_eq!(e.seeds, [1, 2, 3, 4, 5]);
    assert_eq!(e.points.len(), 7);
    assert_eq!(json!(e.points[2]), json!({"flow.1.count": 2}));

    let r = e.scenario(&e.points[2], &Overlay::default()).unwrap();
    let cell = r.scenario.cell.as_ref().unwrap();
    assert_eq!(
        (cell.phy.slot, cell.phy.basic.as_slice(), cell.phy.cw_min),
        (Span::from_micros(20), [6_000_000].as_slice(), 15)
    );
    assert_eq!((cell.stations.len(), r.scenario.nodes.len(), r.scenario.links.len()), (12, 12, 12));
    assert_eq!(cell.aps[0].station.queue.args.get("limit"), Some(&Value::Amount(Amount::Packets(100))));
    assert_eq!(cell.stations[3].name, "down.4.sta");
    assert_eq!(r.groups, ["down", "up"]);
    assert_eq!(flow_names(&r)[8..], ["down.9", "down.10", "up.1", "up.2"]);
    let up = &r.scenario.flows[11];
    assert_eq!((up.from, up.to, r.members[11].direction), (Place::Station(11), Place::Node(11), Direction::Up));
    assert_eq!((r.members[11].group, r.members[11].k, r.members[11].n), (1, 2, 2));
    assert_eq!(r.scenario.flows[0].ends.start, Start::Uniform(Time::ZERO, Time::from_nanos(2_000_000_000)));
    let wire = &r.scenario.links[11];
    assert_eq!(
        (wire.name.as_str(), wire.to, wire.forward.rate.clone(), wire.forward.delay),
        ("up.2.wire", Place::Ap(0), WireRate::Constant(100_000_000), Span::from_millis(15))
    );
    assert_eq!(tcp(&r, 0).window, Amount::Packets(42));

    let claim = &e.claims[0];
    assert_eq!(
        (claim.id.as_str(), claim.requirement.metric.as_str(), claim.requirement.each, claim.verdict),
        ("H3", "goodput.up / goodput.down", Each::Every, Verdict::Reproduced)
    );
    assert_eq!(claim.requirement.expect, Expect::Between(Quantity::number(1.2), Quantity::number(2.2)));
    assert_eq!(
        e.points.iter().filter(|p| claim.requirement.when.iter().all(|(key, values)| values.contains(&p[key]))).count(),
        1
    );
}

#[test]
fn without_a_sweep_there_is_one_point() {
    let e = read(&format!("{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"reno\"\n"));
    assert_eq!(e.points.len(), 1);
    assert_eq!((e.title.as_str(), e.seeds.as_slice()), ("t", [1].as_slice()), "title and seeds have defaults");
}

#[test]
fn names_do_not_move_when_a_count_is_swept() {
    let flow =
        |from: &str, to: &str| format!("[[flow]]\ncount = 1\nfrom = \"{from}\"\nto = \"{to}\"\ntcp = \"reno\"\n");
    let text = format!(
        "{CELL}{}{}{}[sweep]\n\"flow.0.count\" = [0, 1, 3]\n",
        flow("server", "station"),
        flow("server", "station"),
        flow("station", "server")
    );
    let e = read(&text);
    for point in &e.points {
        let r = e.scenario(point, &Overlay::default()).unwrap();
        assert_eq!(r.groups, ["down0", "down1", "up"]);
        let rest = r.scenario.flows.len() - 2;
        assert_eq!(flow_names(&r)[rest..], ["down1.1", "up.1"]);
        assert_eq!(station_names(&r)[rest..], ["down1.1.sta", "up.1.sta"]);
    }
}

#[test]
fn a_dumbbell_needs_no_cell() {
    let e = read(&format!(
        "{HEAD}[[node]]\nname = \"server\"\n[[node]]\nname = \"r\"\nkind = \"router\"\n[[node]]\nname = \"d\"\n\
         [[link]]\nfrom = \"server\"\nto = \"r\"\nrate = \"10Mbps\"\ndelay = \"45ms\"\n\
         [[link]]\nname = \"hop\"\nfrom = \"r\"\nto = \"d\"\nrate = \"2Mbps\"\nqueue = {{ kind = \"fifo\", limit = \
         \"20p\" }}\nloss = {{ kind = \"bernoulli\", p = \"1%\" }}\nreverse = {{ loss = \"none\", delay = \"2ms\" }}\n\
         [[flow]]\nfrom = \"server\"\nto = \"d\"\ntcp = \"newreno\"\npacket = \"1000B\"\n[sweep]\n\"link.1.loss.p\" = \
         [\"0.1%\", 0.01]\n"
    ));
    let r = e.scenario(&e.points[1], &Overlay::default()).unwrap();
    assert!(r.scenario.cell.is_none());
    assert_eq!((r.groups.as_slice(), r.members[0].direction), (["wired".to_string()].as_slice(), Direction::Wired));
    let [first, hop] = r.scenario.links.as_slice() else { panic!() };
    assert_eq!(
        (first.name.as_str(), first.forward.queue.args.amount("limit"), first.reverse.delay),
        ("server-r", Amount::Packets(10_000), Span::from_millis(45))
    );
    assert_eq!(
        (hop.name.as_str(), hop.forward.delay, hop.reverse.delay, hop.reverse.rate.clone()),
        ("hop", Span::from_millis(1), Span::from_millis(2), WireRate::Constant(2_000_000))
    );
    assert_eq!(hop.forward.loss.as_ref().map(|l| l.args.number("p")), Some(0.01));
    assert!(hop.reverse.loss.is_none());
    assert_eq!(hop.reverse.queue.args.amount("limit"), Amount::Packets(20));
}

#[test]
fn a_claim_names_points_by_tables_as_the_sweep_does() {
    let x = read(&format!(
        "{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"reno\"\n[ap]\nqueue = \"fifo\"\n\
         [sweep]\n\"ap.queue\" = [\"codel\", {{ kind = \"fifo\", limit = \"60p\" }}]\n\
         [[claim]]\nid = \"a\"\nmetric = \"goodput\"\nwhen = {{ \"ap.queue\" = {{ kind = \"fifo\", limit = \"60p\" }} \
         }}\nexpect = {{ at_least = \"1bps\" }}\n"
    ));
    assert_eq!(x.claims[0].requirement.when["ap.queue"], [json!({ "kind": "fifo", "limit": "60p" })]);
}

#[test]
fn sweeps_make_the_product_and_zip_makes_pairs() {
    let e = read(&format!(
        "{CELL}[param]\nn = 1\n[[flow]]\ncount = \"= n\"\nfrom = \"server\"\nto = \"station\"\ntcp = \"reno\"\n\
         [sweep]\nwifi.slot = [\"9us\", \"20us\"]\n\"param.n\" = [1, 2]\n\"flow.0.window\" = [\"5p\", \"6p\"]\nzip = \
         [[\"param.n\", \"flow.0.window\"]]\n"
    ));
    let points: Vec<String> = e.points.iter().map(|p| json!(p).to_string()).collect();
    assert_eq!(
        points,
        [
            r#"{"flow.0.window":"5p","param.n":1,"wifi.slot":"9us"}"#,
            r#"{"flow.0.window":"6p","param.n":2,"wifi.slot":"9us"}"#,
            r#"{"flow.0.window":"5p","param.n":1,"wifi.slot":"20us"}"#,
            r#"{"flow.0.window":"6p","param.n":2,"wifi.slot":"20us"}"#
        ]
    );
    assert_eq!(e.scenario(&e.points[3], &Overlay::default()).unwrap().scenario.flows.len(), 2);
}

#[test]
fn a_setting_of_the_command_line_goes_before_the_file() {
    let e = set(
        EXAMPLE,
        &[
            ("wifi.slot", "9us"),
            ("flow.1.count", "4"),
            ("seeds", "7"),
            ("flow.0.tcp.rto.min", "300ms"),
            ("flow.0.tcp", "reno"),
            ("duration", "20s"),
        ],
    );
    assert_eq!(
        (e.points.len(), json!(e.points[0]), e.seeds.as_slice(), e.duration),
        (1, json!({"flow.1.count": 4}), [7].as_slice(), Span::from_secs(20))
    );
    let r = first(&e);
    assert_eq!(
        (r.scenario.flows.len(), tcp(&r, 0).name.as_str(), tcp(&r, 0).rto.min),
        (14, "reno", Span::from_millis(200)),
        "settings act in their order"
    );
    assert!(e.claims[0].requirement.when["flow.1.count"].is_empty(), "the claim's point is not run");
    assert_eq!(set(EXAMPLE, &[("flow.1.count", "[2, 3]")]).points.len(), 2);
}

#[test]
fn a_bad_setting_is_shown_at_its_place() {
    let error = |key: &str, value: &str| {
        parse("t.toml", EXAMPLE, &[(key.into(), value.into())]).err().map(|e| e.render(false)).unwrap_or_default()
    };
    assert_eq!(
        error("flow.0.cuont", "3"),
        "--set:1:1: there is no key `flow.0.cuont`\n  help: did you mean `count`? Write one of: name, count, from, to, \
            delay, udp, packet, tcp, window, ack, ack_delay, quick_acks, gro, autotuning, encrypted, estimate, \
            traffic, emulate, ac, overhead, start, stop, size\n"
    );
    assert_eq!(
        error("wifi.slot", "9"),
        "--set:1:11: `wifi.slot` has no unit: 9\n  help: write a duration like \"15ms\" (units: s, ms, us, \
            ns)\n"
    );
    assert_eq!(
        error("flow.9.count", "3"),
        "--set:1:1: `flow.9.count`: the list has no member `9`\n  help: write the number of a member, from 0 to 1\n"
    );
}

#[test]
fn claims_figures_and_search_are_read() {
    let e = read(&format!(
        "{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"reno\"\n[sweep]\n\"flow.0.tcp\" = [\"reno\", \
            \"cubic\"]\n\"flow.0.delay\" = [\"1ms\", \"10ms\"]\n\
         [[claim]]\nid = \"a\"\nmetric = \"x\"\nexpect = {{ near = \"10ms\", within = \"5%\" }}\neach = \"mean\"\n\
         when = {{ \"flow.0.delay\" = [\"0.01s\"] }}\nverdict = \"not reproduced\"\nreason = \"why\"\n\
         [[claim]]\nid = \"b\"\nmetric = \"x\"\nexpect = {{ decreasing = true, along = \"flow.0.delay\" }}\n\
         [[claim]]\nid = \"c\"\nmetric = \"x\"\nexpect = {{ order = [\"cubic\", \"reno\"], along = \"flow.0.tcp\" }}\n\
         [[figure]]\nx = \"flow.0.delay\"\ny = [\"goodput.down\", \"jain\"]\nby = \"flow.0.tcp\"\ntitle = \"F\"\n\
         [search]\nkey = \"flow.0.window\"\nfrom = \"1p\"\nto = \"200p\"\nuntil = \"drops > 0\"\n"
    ));
    assert_eq!(
        json!(e.claims[0].requirement.when),
        json!({"flow.0.delay": ["10ms"]}),
        "values are those of the points"
    );
    assert!(matches!(
        &e.claims[0].requirement.expect,
        Expect::Near { value, within, relative: true } if value.value == 0.01 && within.value == 0.05,
    ));
    assert_eq!(e.claims[1].requirement.expect, Expect::Decreasing { along: "flow.0.delay".into() });
    assert_eq!(
        e.claims[2].requirement.expect,
        Expect::Order { values: vec!["cubic".into(), "reno".into()], along: "flow.0.tcp".into() }
    );
    assert_eq!(
        (&e.figures[0].x, e.figures[0].y.len(), e.figures[0].by.as_deref()),
        (&Along::Key("flow.0.delay".into()), 2, Some("flow.0.tcp"))
    );
    let logs = read(&format!(
        "{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"reno\"\n\
         [[flow]]\nfrom = \"station\"\nto = \"server\"\ntcp = \"reno\"\n[sweep]\n\"flow.0.count\" = [0, 1, 2]\n\
         [[figure]]\nx = \"flow.0.count\"\ny = \"x\"\nlog = \"xy\"\nwhen = {{ \"flow.0.count\" = [1, 2] }}\n\
         [[figure]]\nx = \"delay.p95[down] * 2\"\ny = \"x\"\nlog = \"x\"\n"
    ));
    assert_eq!(logs.figures[0].log, Log { x: true, y: true }, "`when` leaves the zero out");
    assert_eq!(logs.figures[1].x, Along::Metric("delay.p95[down] * 2".into()));
    let search = e.search.as_ref().unwrap();
    let r = e.scenario(&e.points[0], &search.overlay(37.0)).unwrap();
    assert_eq!(tcp(&r, 0).window, Amount::Packets(37));
}

#[test]
fn a_terminal_sees_the_line_and_a_pipe_sees_plain_text() {
    let e = parse("t.toml", "duration = \"70\"\n", &[]).unwrap_err();
    let plain = e.render(false);
    assert_eq!(
        plain,
        "t.toml:1:12: `duration` has no unit: 70\n  help: write a duration like \"15ms\" (units: s, ms, us, \
            ns)\n"
    );
    let fancy = e.render(true);
    assert!(
        fancy.contains("t.toml:1:12") && fancy.contains("duration = \"70\"") && fancy.contains('\u{1b}'),
        "{fancy}"
    );
    assert_eq!((e.file(), e.line_column()), ("t.toml", Some((1, 12))));
}

/// Every experiment file of the repository.
#[test]
fn every_experiment_of_the_repository_is_valid() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("experiments"), root.join("papers")];
    let mut bad = String::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                bad += &load(&path, &[]).err().map(|e| e.render(false)).unwrap_or_default();
            }
        }
    }
    assert!(bad.is_empty(), "{bad}");
}

#[test]
fn thousands_of_stations_are_read() {
    let r = first(&read(&format!(
        "{CELL}[[flow]]\ncount = 5000\nfrom = \"server\"\nto = \"station\"\ntcp = \"cubic\"\ndelay = \"= 1ms*k\"\n\
            start = \"uniform(0s, 1s)\"\n"
    )));
    assert_eq!((r.scenario.flows.len(), r.scenario.links[4999].forward.delay), (5000, Span::from_secs(5)));
}

#[test]
fn a_misspelt_required_key_is_named_with_the_right_key() {
    for (wrong, right) in [("standart", "standard"), ("duraton", "duration"), ("form", "from")] {
        let good = "duration = \"10s\"\n[wifi]\nstandard = \"802.11g\"\n[[flow]]\nfrom = \"server\"\nto = \
            \"station\"\ntcp = \"reno\"\n";
        let bad = good.replacen(right, wrong, 1);
        let e = parse("t.toml", &bad, &[]).unwrap_err().render(false);
        assert!(e.contains(&format!("{wrong}`")) && e.contains(&format!("did you mean `{right}`?")), "{e}");
    }
}
