//! The tables of keys against the reader.

use super::super::parse_with;
use super::super::reader::asked;
use super::super::tree::{self, NodeKind};
use super::*;
use crate::reading::file::{About, Experiment, Overlay, Source};
use std::collections::BTreeSet;

/// Files that have every table between them, so that reading asks for every key.
const FILES: [&str; 17] = [
    r#"duration = "70s"
dials = ["wifi.slot"]
sample = "1s"
[test]
fidelity = "adapted"
[wifi]
standard = "802.11g"
protection = "cts-to-self"
[ap]
queue = "fifo"
beacon = {}
[wire]
rate = { schedule = [["0s", "10Mbps"]] }
reverse = { delay = "3ms", rate = { schedule = [["0s", "10Mbps"]] } }
[[station]]
name = "slow"
[[node]]
name = "h"
[[node]]
name = "router"
kind = "router"
[[link]]
from = "h"
to = "router"
reverse = { delay = "3ms" }
[[link]]
from = "router"
to = "ap"
rate = { schedule = [["0s", "10Mbps"]] }
reverse = { rate = { schedule = [["0s", "10Mbps"]] } }
[[flow]]
from = "slow"
to = "server"
tcp = { kind = "newreno", rto = { min = "1s" } }
[[flow]]
from = "h"
to = "station"
udp = { rate = "1Mbps" }
[sweep]
"flow.0.window" = ["1p", "2p"]
"wifi.slot" = ["9us", "20us"]
"flow.0.count" = [1, 2]
[[claim]]
id = "a"
metric = "jain"
expect = { increasing = true, along = "flow.0.window" }
[[check]]
what = "fair"
metric = "jain"
expect = { near = 1, within = "10%" }
[[figure]]
x = "flow.0.window"
y = "jain"
[search]
key = "flow.0.packet"
from = "500B"
to = "600B"
until = "jain > 0.5"
"#,
    "duration = \"70s\"\ndecide = { seeds = 20 }\nwifi = { standard = \"802.11g\" }\n[sweep]\n\
        \"flow.0.window\" = [\"1p\", \"2p\"]\n\
        [[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = { kind = \"newreno\" }\n\
        [[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 0.5 }\n\
        [[figure]]\nx = \"window\"\ny = \"jain\"\nvalues = [1]\n",
    "[contention]\nstations = 2\nrule = \"edca\"\n",
    "[model]\nname = \"padhye.rate\"\np = 0.01\nrtt = \"100ms\"\nt0 = \"1s\"\n",
    "duration = \"70s\"\nseeds = { until = \"5%\", of = \"jain\" }\nwifi = { standard = \"802.11b\" }\n\
        [[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n[sweep]\n\
        \"flow.0.window\" = [\"1p\", \"2p\"]\n\
        \"flow.0.count\" = [1, 2]\n\
        zip = [{ keys = [\"flow.0.window\", \"flow.0.count\"], name = \"home\", labels = [\"a\", \"b\"] }]\n\
        [[check]]\nwhat = \"fair\"\nmetric = \"jain\"\nexpect = { at_least = 0.5 }\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11b\" }\n[[flow]]\nfrom = \"server\"\nto = \"station\"\n\
        udp = {}\ntraffic = { kind = \"poisson\", rate = \"1Mbps\" }\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11b\" }\n[field]\ncapture = { ratio = \"10dB\" }\n[ap]\n\
        position = [\"0m\", \"0m\"]\n[[station]]\nname = \"a\"\nposition = [\"100m\", \"0m\"]\n\
        [[flow]]\nfrom = \"server\"\nto = \"a\"\ntcp = \"newreno\"\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11b\" }\n[field]\narea = [\"1000m\", \"1000m\"]\n\
        routing = \"aodv\"\nshadowing = { deviation = \"6dB\" }\n\
        [[station]]\nname = \"a\"\ncount = 4\ngrid = { columns = 2, spacing = \"200m\" }\n\
        [[flow]]\nfrom = \"a.1\"\nto = \"a.4\"\ntcp = \"newreno\"\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11b\" }\n[[field.links]]\nfrom = \"a\"\nto = \"b\"\n\
        [[field.links]]\nfrom = \"c\"\nto = \"b\"\n[[field.links]]\nfrom = \"a\"\nto = \"c\"\n\
        [[station]]\nname = \"a\"\n[[station]]\nname = \"b\"\n[[station]]\nname = \"c\"\n\
        [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11b\" }\n[[flow]]\nfrom = \"server\"\nto = \"station\"\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11b\" }\n[[flow]]\nfrom = \"server\"\nto = \"station\"\n\
        udp = { rate = \"1Mbps\", cc = \"rcp\" }\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11b\" }\nfield = {}\n[[ap]]\nname = \"left\"\n\
        position = [\"0m\", \"0m\"]\nchannel = 1\n[[ap]]\nname = \"right\"\nposition = [\"200m\", \"0m\"]\n\
        channel = 6\n\
        [[station]]\nname = \"a\"\nposition = [\"150m\", \"0m\"]\n\
        [[flow]]\nfrom = \"server\"\nto = \"a\"\ntcp = \"newreno\"\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11ax\", ampdu = \"off\" }\n[[station]]\nname = \"a\"\n\
        [[flow]]\nfrom = \"server\"\nto = \"a\"\ntcp = \"newreno\"\n",
    "duration = \"70s\"\nwifi = { standard = \"802.11n\", ampdu = {}, amsdu = \"3839B\" }\n\
        ap = { ampdu = {}, aql = {} }\n[[station]]\nname = \"a\"\nampdu = {}\naql = {}\n\
        [[flow]]\nfrom = \"a\"\nto = \"server\"\ntcp = { kind = \"newreno\", tsq = {}, \
        echo = \"accurate\", accecn = {} }\n\
        [[program]]\nin = \"server\"\nrun = \"ls\"\n",
    r#"duration = "70s"
[wifi]
standard = "802.11a"
error_model = "nist"
[field]
range = "50m"
[[wall]]
from = ["5m", "5m"]
to = ["5m", "9m"]
loss = "5dB"
[ap]
position = ["0m", "0m"]
[[station]]
name = "a"
position = ["10m", "0m"]
[[flow]]
from = "a"
to = "server"
tcp = "newreno"
"#,
    r#"duration = "70s"
wifi = { standard = "802.11a" }
field = { range = "50m", propagation = "log_distance" }
[[ap]]
name = "left"
position = ["0m", "0m"]
[[ap]]
name = "right"
position = ["40m", "0m"]
[[station]]
name = "a"
position = ["10m", "0m"]
roam = {}
[[flow]]
from = "a"
to = "server"
tcp = "newreno"
"#,
    r#"duration = "70s"
wifi = { standard = "802.11g" }
field = { adjacent = "mask" }
[[ap]]
name = "left"
position = ["0m", "0m"]
channel = 1
[[ap]]
name = "right"
position = ["40m", "0m"]
channel = 3
[[station]]
name = "a"
position = ["10m", "0m"]
[[flow]]
from = "a"
to = "server"
tcp = "newreno"
"#,
];

fn read(text: &str, sets: &[(&str, &str)]) -> Result<Experiment, String> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    // The trace of an example lies in `tests/`.
    parse_with("tests/t.toml", text, &sets, |path, _| std::fs::read_to_string(path)).map_err(|e| e.render(false))
}

/// A key path with the number of each table in the file `text`: `flow.0.tcp`.
fn numbered(path: &str, text: &str) -> String {
    let numbered = |part: &str| match part {
        "ap" if !text.contains("[[ap]]") => part.to_owned(),
        "ap" | "station" | "wall" | "flow" | "link" | "node" | "claim" | "check" | "figure" | "program" => {
            format!("{part}.0")
        }
        _ => part.to_owned(),
    };
    if let Some(rest) = path.strip_prefix("field.links.") {
        return format!("field.links.0.{rest}");
    }
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    rest.map_or(head.to_owned(), |rest| format!("{}.{rest}", numbered(head)))
}

/// The results of setting `path` to `value` in each file.
fn tried(path: &str, value: &str) -> Vec<Result<Experiment, String>> {
    FILES.iter().map(|text| read(text, &[(&numbered(path, text), value)])).collect()
}

#[test]
fn the_reader_asks_for_these_keys_and_no_others() {
    FILES.iter().for_each(|text| drop(read(text, &[])));
    let mut known: BTreeSet<String> = keys().into_iter().map(|k| k.0).collect();
    known.extend(RESERVED.iter().map(|&k| k.to_owned()));
    let free: Vec<String> = keys().into_iter().filter(|k| k.2.family().is_some()).map(|k| k.0 + ".").collect();
    let of_an_algorithm = |path: &String| free.iter().any(|f| path.starts_with(f));
    let of_a_model = |path: &String| path.starts_with("model.") && path != "model.name";
    let asked: BTreeSet<String> =
        asked::all_keys().into_iter().filter(|k| !of_an_algorithm(k) && !of_a_model(k)).collect();
    // The sweep reads its keys directly.
    known.remove("sweep.zip");
    let difference: Vec<&String> = asked.symmetric_difference(&known).collect();
    assert!(difference.is_empty(), "{difference:?}");
}

#[test]
fn the_reader_accepts_these_words_and_no_others() {
    FILES.iter().for_each(|text| drop(read(text, &[("flow.0.ac", "vo"), ("contention.categories", "[\"vo\"]")])));
    let asked = asked::all_words();
    for (path, word) in &asked {
        if let Some((_, _, key)) = keys().into_iter().find(|k| k.0 == *path) {
            assert!(key.words().any(|w| w.name == word), "{path}: \"{word}\" is missing");
        }
    }
    for (path, _, key) in keys() {
        for word in key.words().filter(|_| asked.iter().any(|a| a.0 == path)) {
            assert!(asked.contains(&(path.clone(), word.name.to_owned())), "{path}: \"{}\" is unknown", word.name);
        }
    }
}

/// What an example needs beside it: key path, and settings made before.
const COMPANIONS: &[(&str, &[(&str, &str)])] = &[
    ("decide.readings", &[("decide.seeds", "20")]),
    ("seeds.until", &[("seeds.of", "jain")]),
    ("station.position", &[("ap.position", "[\"100m\", \"400m\"]")]),
    ("ap.position", &[("station.0.position", "[\"100m\", \"400m\"]")]),
    ("seeds.of", &[("seeds.until", "2%")]),
    ("seeds.at_most", &[("seeds.until", "2%"), ("seeds.of", "jain")]),
    ("seeds.from", &[("seeds.until", "2%"), ("seeds.of", "jain")]),
    ("link", &[("node", "[{ name = \"router\", kind = \"router\" }]")]),
    ("link.from", &[("link", "[{ from = \"h\", to = \"ap\" }]"), ("flow.1.from", "server")]),
    ("node.name", &[("link", "[]"), ("node", "[{ name = \"h\" }]"), ("flow.1.from", "server")]),
    ("node.kind", &[("flow.1.from", "server")]),
    ("figure.by", &[("figure.0.x", "wifi.slot")]),
    ("figure.values", &[("figure.0.x", "window")]),
    ("search.from", &[("search.key", "flow.0.window"), ("search.to", "100p")]),
    ("search.to", &[("search.key", "flow.0.window"), ("search.from", "1p")]),
    ("check.bound", &[("check.0.why", "by a law")]),
    ("expect.within", &[("expect.near", "1.5")]),
    ("expect.near", &[("expect.within", "\"10%\"")]),
    ("expect.increasing", &[("expect.along", "\"flow.0.window\"")]),
    ("expect.decreasing", &[("expect.along", "\"flow.0.window\"")]),
    ("expect.order", &[("expect.along", "\"flow.0.window\"")]),
    ("expect.along", &[("expect.increasing", "true")]),
];

/// The results of reading each file with the example of a key.
fn with_example(path: &str, key: &Key) -> Vec<Result<Experiment, String>> {
    // An expectation has no other keys than its own.
    let (path, example, short) = match path.rsplit_once('.') {
        Some((table, name)) if table.ends_with("expect") => {
            let also = COMPANIONS.iter().filter(|c| c.0 == format!("expect.{name}")).flat_map(|c| c.1);
            let also: String = also.map(|(k, v)| format!(", {} = {v}", k.replace("expect.", ""))).collect();
            (table, format!("{{ {name} = {}{also} }}", key.example), "")
        }
        _ => (path, key.example.to_owned(), path),
    };
    let sets: Vec<(&str, &str)> = COMPANIONS.iter().filter(|c| c.0 == short).flat_map(|c| c.1).copied().collect();
    let with = |text: &&str| {
        let path = numbered(path, text);
        read(text, &[sets.as_slice(), &[(&path, &example)]].concat())
    };
    FILES.iter().map(with).collect()
}

#[test]
fn every_example_can_be_read() {
    let mut refused = vec![];
    // An option cannot set what is in a `zip`.
    for (path, _, key) in keys().into_iter().filter(|k| !k.0.starts_with("sweep.zip.")) {
        let tried = with_example(&path, key);
        let errors: Vec<String> = tried.iter().filter_map(|r| r.as_ref().err().cloned()).collect();
        if errors.len() == tried.len() {
            refused.push(format!("{path} = {}\n{}", key.example, errors.join("\n")));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

/// True if a file has the key: in the first table, if there are several.
fn has(text: &str, path: &str) -> bool {
    let source = Source { path: String::new(), text: text.into(), sets: vec![] };
    let file = tree::read(&source).unwrap();
    let found = numbered(path, text).split('.').try_fold(&file, |node, part| match &node.kind {
        NodeKind::List(list) => list.get(part.parse::<usize>().ok()?),
        _ => node.get(part),
    });
    found.is_some()
}

/// What a file says, without the places of its values.
fn shown(e: &Experiment) -> String {
    let (point, none) = (&e.points[0], Overlay::default());
    let described = match e.about() {
        About::Network => format!("{:?}", e.scenario(point, &none)),
        About::Model => format!("{:?}", e.modelled(point, &none)),
        About::Contention => format!("{:?}", e.contended(point, &none)),
    };
    let claims: Vec<_> = e.claims.iter().map(|c| (&c.paper, c.verdict, c.requirement.each)).collect();
    let checks: Vec<_> = e.checks.iter().map(|c| c.requirement.each).collect();
    format!("{:?} {described}", (&e.cite, &e.notes, e.warmup, &e.seeds, claims, checks))
}

#[test]
fn a_default_that_is_a_value_changes_nothing() {
    for (path, _, key) in keys() {
        let Default::Value(default) = key.default else { continue };
        let mut seen = 0;
        for (text, with) in FILES.iter().zip(tried(&path, default)).filter(|(text, _)| !has(text, &path)) {
            let (Ok(without), Ok(with)) = (read(text, &[]), with) else { continue };
            assert_eq!(shown(&without), shown(&with), "{path} = {default}");
            seen += 1;
        }
        assert!(seen > 0, "{path} = {default} is nowhere accepted");
    }
}

#[test]
fn values_outside_a_range_and_of_another_kind_are_refused() {
    let refused = |path: &str, value: &str| {
        for (i, result) in tried(path, value).into_iter().enumerate() {
            // `--seeds` has no effect on a model: the same call may run other files.
            assert!(path.starts_with("seeds") && i == 3 || result.is_err(), "{path} = {value} is accepted in file {i}");
        }
    };
    for (path, _, key) in keys() {
        for kind in key.kinds {
            let outside = |low: u64, high: u64, unit: &str| {
                let quoted = |x: u64| if unit.is_empty() { x.to_string() } else { format!("\"{x}{unit}\"") };
                low.checked_sub(1).into_iter().for_each(|x| refused(&path, &quoted(x)));
                if high < u64::MAX {
                    refused(&path, &quoted(high + 1));
                }
            };
            match kind {
                Kind::Whole(low, high) => outside(*low, *high, ""),
                Kind::Segments(low, high) => outside(*low, *high, "p"),
                Kind::Bytes(low, high) => outside(*low, *high, "B"),
                Kind::PositiveTime => refused(&path, "\"0s\""),
                _ => {}
            }
        }
        let accepts = |wanted: fn(&Kind) -> bool| key.kinds.iter().any(wanted);
        if !accepts(|k| matches!(k, Kind::Flag)) {
            refused(&path, "true");
        }
        if !accepts(|k| matches!(k, Kind::Text | Kind::Expression)) {
            refused(&path, "\"no such text\"");
        }
        if !accepts(|k| matches!(k, Kind::Table(_) | Kind::Map(..) | Kind::Algorithm(_) | Kind::Usual(_))) {
            refused(&path, "{ nothing = 1 }");
        }
    }
}

#[test]
fn every_variant_can_be_read() {
    let all = variants();
    for name in ["westwood+", "newreno", "jersey-orig", "bbr"] {
        assert!(all.iter().any(|v| v.name == name), "{name}");
    }
    // Some read the air of their station.
    let field = "duration = \"1s\"\n[wifi]\nstandard = \"802.11b\"\n[field]\nobserve = [\"rt_winf\"]\n[[station]]\n\
                 name = \"a\"\nposition = [\"0m\", \"0m\"]\n[[station]]\nname = \"b\"\nposition = [\"9m\", \"0m\"]\n\
                 [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n";
    for v in all {
        read(field, &[("flow.0.tcp", v.name)]).unwrap_or_else(|e| panic!("{}: {e}", v.name));
    }
}
