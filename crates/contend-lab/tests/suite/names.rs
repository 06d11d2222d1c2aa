//! Each number of the results has one name and one unit, in all outputs.

use crate::common::{SMALL, context, outcome};
use contend_lab::execute::{Options, execute};
use contend_lab::experiment::results::Outcome;
use contend_lab::reading::file::parse;
use contend_lab::writing::output::{names, write_csv, write_flows, write_json, write_series};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn json(o: &Outcome) -> Value {
    let mut text = Vec::new();
    write_json(o, &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The names of one table; `NAME` stands for a word of the run.
fn table(of: &str) -> BTreeSet<String> {
    names().into_iter().find(|n| n.of == of).unwrap().rows.into_iter().map(|r| r.name.into_owned()).collect()
}

/// The names below `v`: keys, joined by dots where objects nest. A list is a number of several values.
fn flat(v: &Value, before: &str, all: &mut BTreeSet<String>) {
    match v {
        Value::Object(map) => map
            .iter()
            .for_each(|(k, v)| flat(v, &format!("{before}{}{k}", if before.is_empty() { "" } else { "." }), all)),
        _ => drop(all.insert(before.to_owned())),
    }
}

fn keys(v: &Value) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    flat(v, "", &mut all);
    all
}

/// The name with `NAME` for a word that depends on the run.
fn general(name: &str) -> String {
    let word = ["ledger", "routing_drops"].into_iter().find(|n| name.starts_with(&format!("{n}.")));
    word.map_or_else(|| name.to_owned(), |n| format!("{n}.NAME"))
}

#[test]
fn the_json_has_the_names_of_the_table_and_no_others() {
    let mut o = outcome(SMALL);
    o.runs[0].flows[0].completions_s = vec![1.0];
    o.runs[0].flows[0].unfinished = 1;
    let o = json(&o);
    let run = &o["runs"][0];
    // The number of transfers is the length of `fct`.
    let flow: BTreeSet<String> = table("flow").into_iter().filter(|n| n != "completed").collect();
    assert_eq!(keys(&run["flows"][0]), flow);
    assert_eq!(keys(&run["queues"][0]), table("queue"));
    assert_eq!(keys(&run["transmitters"][0]), table("transmitter"));
    let mut air = run["air"].clone();
    assert_eq!(air["airtime"]["from"]["ap"], air["airtime"]["to"]["ap"]);
    drop(air.as_object_mut().unwrap().remove("airtime"));
    let radio = air.as_object_mut().unwrap().remove("radio").unwrap();
    let accounts = radio.as_object().unwrap().keys().map(|account| format!("radio.{account}"));
    assert_eq!(accounts.chain(["name".into()]).collect::<BTreeSet<_>>(), table("station of a field"));
    let roaming = air.as_object_mut().unwrap().remove("roaming").unwrap();
    let roaming = roaming.as_object().unwrap().values().next().unwrap();
    let of_roaming = keys(roaming).into_iter().filter(|n| n != "access_points").chain(["name".into()]);
    assert_eq!(of_roaming.collect::<BTreeSet<_>>(), table("station that roams"));
    for way in ["of", "to"] {
        let names = table(&format!("data {way} a station"));
        let metrics = names.iter().filter_map(|n| n.split_once('.')).map(|n| n.0);
        metrics.for_each(|n| drop(air.as_object_mut().unwrap().remove(n)));
    }
    let air: BTreeSet<String> = keys(&air).iter().map(|k| general(k)).collect();
    assert_eq!(air, table("air"));
    let objects = ["point", "metrics", "flows", "queues", "transmitters", "air"];
    let of_run: BTreeSet<String> = run.as_object().unwrap().keys().cloned().collect();
    assert_eq!(of_run, table("run").into_iter().chain(objects.map(String::from)).collect());
    // Each number has a unit.
    let units = o["units"].as_object().unwrap();
    for name in table("flow").iter().chain(&table("queue")).chain(&table("transmitter")).chain(&air) {
        let text = ["name", "group", "direction", "tcp", "ledger.NAME", "routing_drops.NAME"].contains(&name.as_str());
        assert!(text != units.contains_key(name), "{name}");
    }
    let unit = |name: &str| units[name].as_str().unwrap();
    assert_eq!([unit("rtt.p95"), unit("goodput.up"), unit("loss[ap]"), unit("ledger.idle")], ["s", "bps", "1", "1"]);
    assert_eq!([unit("radio.idle"), unit("routing_drops.ttl")], ["1", "p"]);
    assert_eq!([unit("roams"), unit("away")], ["1", "s"]);
}

#[test]
fn the_csv_has_the_names_of_the_table_and_no_others() {
    let (mut o, mut bytes) = (outcome(SMALL), Vec::new());
    o.runs[0].flows[0].completions_s = vec![1.0];
    o.runs[0].flows[0].unfinished = 1;
    write_csv(&o, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    for scope in ["run", "flow", "queue", "transmitter", "air", "station"] {
        let rows = text.lines().map(|l| l.split(',').collect::<Vec<_>>()).filter(|l| l[2] == scope);
        let written = rows.map(|l| general(l[4]));
        let mut of_table = table(scope);
        if scope == "station" {
            for of in ["station of a field", "station that roams", "data of a station", "data to a station"] {
                of_table.extend(table(of));
            }
        }
        // Columns of their own, and texts.
        for name in ["seed", "digest", "name", "group", "direction", "tcp"] {
            of_table.remove(name);
        }
        if scope == "run" {
            of_table.extend(o.runs[0].metrics.keys().cloned());
        }
        assert_eq!(written.collect::<BTreeSet<_>>(), of_table, "{scope}");
    }
}

fn columns(path: &Path) -> BTreeSet<String> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    reader.metadata().file_metadata().schema_descr().columns().iter().map(|c| c.name().to_owned()).collect()
}

#[test]
fn parquet_files_have_the_names_of_the_table_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let (flows, series) = (folder.path().join("flows.parquet"), folder.path().join("series.parquet"));
    write_flows(&outcome(SMALL), &context(SMALL), &flows).unwrap();
    write_series(&outcome(SMALL), &context(SMALL), &series).unwrap();
    let with = |tables: &[&str], more: &[&str]| -> BTreeSet<String> {
        let named = tables.iter().flat_map(|t| table(t)).filter(|n| n != "fct");
        named.chain(more.iter().map(|n| (*n).to_owned())).collect()
    };
    assert_eq!(columns(&flows), with(&["flow"], &["flow.1.count", "seed", "digest"]));
    let series_tables = ["instant", "flow at an instant", "queue at an instant"];
    assert_eq!(columns(&series), with(&series_tables, &["flow.1.count", "seed"]));
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md")
}

/// Objects whose keys depend on the experiment.
const FREE: [&str; 6] = ["units", "point", "metrics", "from", "to", "ledger"];

/// Compares the keys of two values. Of a list only the first element counts.
fn same(example: &Value, real: &Value, at: &str) {
    match (example, real) {
        (Value::Object(a), Value::Object(b)) => {
            let of = |m: &serde_json::Map<String, Value>| m.keys().cloned().collect::<BTreeSet<_>>();
            if FREE.contains(&at.rsplit('.').next().unwrap()) {
                let unknown: Vec<String> = of(a).difference(&of(b)).cloned().collect();
                assert!(unknown.is_empty() && !a.is_empty(), "{at}: {unknown:?}");
                return;
            }
            assert_eq!(of(a), of(b), "{at}");
            a.iter().for_each(|(k, v)| same(v, &b[k], &format!("{at}.{k}")));
        }
        (Value::Array(a), Value::Array(b)) => {
            if let (Some(a), Some(b)) = (a.first(), b.first()) {
                same(a, b, at);
            }
        }
        _ => {}
    }
}

#[test]
fn the_documented_example_has_the_keys_of_real_results() {
    let text = std::fs::read_to_string(document()).unwrap();
    let block = |language: &str| {
        let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let example: Value = serde_json::from_str(block("json")).unwrap();
    let e = parse("ex.toml", block("toml"), &[]).unwrap();
    let options = Options { jobs: 1, ..Options::default() };
    let real = json(&execute(&e, &options).unwrap().outcome);
    same(&example, &real, "");
    for key in ["schema", "title", "file"] {
        assert_eq!(example[key], real[key]);
    }
    assert_eq!(example["runs"][0]["digest"], real["runs"][0]["digest"]);
    for key in ["runs", "summary", "claims", "checks", "search"] {
        assert!(real[key].as_array().is_some_and(|a| !a.is_empty()), "{key}");
    }
    for (name, unit) in example["units"].as_object().unwrap() {
        assert_eq!(Some(unit), real["units"].get(name), "{name}");
    }
}
