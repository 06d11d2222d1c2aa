//! The table, JSON, CSV and Parquet writers.

use crate::common::{SMALL, Shape, context, needs, outcome};
use contend_lab::experiment::results::Columns as _;
use contend_lab::experiment::results::{Interrupted, Outcome, Run};
use contend_lab::writing::output::columns::{self, Values};
use contend_lab::writing::output::{
    atomically, summary_table, write_csv, write_flows, write_json, write_report, write_series,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::BTreeSet;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The width of a very wide terminal.
const WIDE: usize = 1_000;
const ONE_POINT: Shape = Shape { uploads: &[2], frames: 0, ..SMALL };

#[test]
fn the_table_has_a_row_for_each_point_and_an_interval_for_each_mean() {
    let table = summary_table(&outcome(SMALL), &context(SMALL), false, WIDE);
    println!("{table}");
    let rows: Vec<&str> = table.lines().skip_while(|l| !l.starts_with("flow.1.count")).skip(2).take(5).collect();
    assert_eq!(
        rows.iter().map(|r| r.split_whitespace().next().unwrap()).collect::<Vec<_>>(),
        ["0", "1", "2", "4", "6"]
    );
    assert!(rows.iter().all(|r| r.matches(" ± ").count() == 6), "{table}");
    assert!(table.contains("goodput.total [Mb/s]") && table.contains("rtt.p95 [ms]"));
    assert!(table.contains("`loss[ap] < 0.01` holds from ap.queue.limit = 84 on (it does not hold at 83)"), "{table}");
    assert!(
        table.contains("n = 5 seeds (1..5)")
            && table.contains("95 % Student interval")
            && table.contains("first 10 s cut")
    );
    assert!(!table.contains('\x1b'));
}

#[test]
fn one_point_shows_its_groups_of_flows() {
    let table = summary_table(&outcome(ONE_POINT), &context(ONE_POINT), false, WIDE);
    println!("{table}");
    assert!(table.lines().any(|l| l.starts_with("down (newreno)  6 ") && l.matches(" ± ").count() == 6), "{table}");
    assert!(table.lines().any(|l| l.starts_with("up (newreno)    2 ")), "{table}");
}

#[test]
fn one_seed_says_that_there_is_no_interval() {
    let shape = Shape { seeds: 1, ..ONE_POINT };
    let table = summary_table(&outcome(shape), &context(shape), false, WIDE);
    assert!(table.contains("1 seed: no interval"), "{table}");
    assert!(!table.lines().take_while(|l| !l.starts_with("claim")).any(|l| l.contains('±')), "{table}");
}

#[test]
fn verdicts_differ_by_sign_and_word_and_a_verdict_other_than_recorded_is_marked() {
    let table = summary_table(&outcome(SMALL), &context(SMALL), true, WIDE);
    for text in [
        "✓ reproduced",
        "✗ not reproduced (recorded: reproduced)",
        "? undecided",
        "≠ contradiction",
        "H6 (printed)",
        "H5 [specification]",
        "[specification]: It follows from how contend reads the paper.",
        "\x1b[32m",
    ] {
        assert!(table.contains(text), "{text}\n{table}");
    }
}

#[test]
fn the_table_fits_its_width_and_is_complete_in_a_narrow_one() {
    for (shape, width) in [SMALL, ONE_POINT].into_iter().flat_map(|s| [100, 80, 60].map(|w| (s, w))) {
        let mut o = outcome(shape);
        o.claims[0].paper = "long words of a paper ".repeat(20);
        let table = summary_table(&o, &context(shape), false, width);
        println!("{table}");
        for line in table.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(o.claims[0].paper.trim())
                && words.contains("the buffer here also holds the frame in service"),
            "{table}"
        );
        let intervals = |t: &str| t.matches(" ± ").count();
        assert_eq!(intervals(&words), intervals(&summary_table(&o, &context(shape), false, WIDE)), "{table}");
    }
}

fn json(o: &Outcome) -> Vec<u8> {
    let mut text = Vec::new();
    write_json(o, &mut text).unwrap();
    text
}

#[test]
fn an_interruption_is_told_in_table_and_json() {
    let o = Outcome { interrupted: Some(Interrupted { finished: 25, missing: 5 }), ..outcome(SMALL) };
    assert!(summary_table(&o, &context(SMALL), false, WIDE).contains("\nstopped early: 25 of 30 runs are finished; "));
    let v: serde_json::Value = serde_json::from_slice(&json(&o)).unwrap();
    assert_eq!(v["interrupted"], serde_json::json!({"finished": 25, "missing": 5}));
}

#[test]
fn a_warning_is_told_in_table_json_and_report() {
    let o = Outcome { warnings: vec!["all is the <same>".into()], ..outcome(SMALL) };
    assert!(summary_table(&o, &context(SMALL), false, WIDE).contains("\nwarning: all is the <same>\n"));
    let v: serde_json::Value = serde_json::from_slice(&json(&o)).unwrap();
    assert_eq!(v["warnings"], serde_json::json!(["all is the <same>"]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    write_report(&o, &context(SMALL), &path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("<p class=\"caution\">warning: all is the &lt;same&gt;</p>"));
}

#[test]
fn json_is_one_object_of_the_schema() {
    let v: serde_json::Value = serde_json::from_slice(&json(&outcome(SMALL))).unwrap();
    assert_eq!(v["schema"], "contend/run/2");
    assert_eq!((&v["interrupted"], &v["warnings"]), (&serde_json::Value::Null, &serde_json::json!([])));
    assert_eq!(v["runs"].as_array().unwrap().len(), 25);
    assert!(v["runs"][0].get("frames").is_none());
}

#[test]
fn csv_has_seven_columns_and_a_row_a_number() {
    let mut bytes = Vec::new();
    write_csv(&outcome(SMALL), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("flow.1.count,seed,scope,name,metric,value,unit"));
    assert!(lines.clone().all(|l| l.split(',').count() == 7));
    assert_eq!(lines.clone().filter(|l| l.contains(",run,,jain,")).count(), 25);
    for row in ["flow,up.5,entered,30000,p", "queue,ap,waiting.end,20,p", "transmitter,ap,carrying.start,1,p"] {
        assert_eq!(lines.clone().filter(|l| *l == format!("6,5,{row}")).count(), 1, "{row}");
    }
    assert_eq!(lines.filter(|l| l.starts_with("6,5,flow,up.5,goodput,")).count(), 1);
}

#[test]
fn flows_are_read_back_from_parquet_with_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/flows.parquet");
    let o = outcome(SMALL);
    write_flows(&o, &context(SMALL), &path).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let meta = reader.metadata().file_metadata();
    let value = |key: &str| {
        meta.key_value_metadata().unwrap().iter().find(|kv| kv.key == key).and_then(|kv| kv.value.clone()).unwrap()
    };
    assert_eq!(value("contend.schema"), "contend/flows/2");
    assert_eq!(value("contend.version"), "0.1.0");
    assert_eq!(meta.num_rows(), o.runs.iter().map(|r| r.flows.len() as i64).sum::<i64>());
    let first = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
    let f = &o.runs[0].flows[0];
    assert_eq!((first.get_long(0).unwrap(), first.get_long(1).unwrap()), (0, 1));
    assert_eq!(first.get_string(3).unwrap(), &f.name);
    let names: Vec<&str> = meta.schema_descr().columns().iter().map(|c| c.name()).collect();
    let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
    assert_eq!((first.get_string(4).unwrap(), first.get_bool(at("greedy")).unwrap()), (&f.group, true));
    assert_eq!(first.get_double(at("goodput")).unwrap(), f.goodput_bps);
    assert_eq!(first.get_double(at("rtt.p95")).ok(), f.rtt_s.p95);
    assert!(first.is_null(at("completion")).unwrap());
    let units: serde_json::Value = serde_json::from_str(&value("contend.units")).unwrap();
    assert_eq!((&units["goodput"], &units["delay.mean"]), (&"bps".into(), &"s".into()));
}

#[test]
fn every_table_has_as_many_values_in_each_column_as_rows() {
    let o = outcome(SMALL);
    let runs = o.runs.len();
    let sum = |of: fn(&Run) -> usize| o.runs.iter().map(of).sum::<usize>();
    let all = [
        (columns::summary(&o), o.summary.len()),
        (columns::runs(&o), runs),
        (columns::flows(&o), sum(|r| r.flows.len())),
        (columns::queues(&o), sum(|r| r.queues.len())),
        (columns::air(&o), sum(|r| usize::from(r.air.is_some()))),
        (
            columns::series(&o),
            sum(|r| r.detail.series.time_s.len() * (r.detail.series.flows.len() + r.detail.series.queues.len())),
        ),
    ];
    for (table, rows) in &all {
        let names: BTreeSet<&str> = table.headings().iter().map(|h| h.name.as_str()).collect();
        assert_eq!(names.len(), table.headings().len(), "{names:?}");
        assert!(*rows > 0 && names.len() > 5, "{names:?}");
        for (i, heading) in table.headings().iter().enumerate() {
            let count = |group| match table.read(group, i) {
                Values::Number(v) => v.len(),
                Values::Count(v) => v.len(),
                Values::Text(v) => v.len(),
                Values::Flag(v) => v.len(),
            };
            assert_eq!((0..table.groups()).map(count).sum::<usize>(), *rows, "{}", heading.name);
        }
    }
    let summary = &all[0].0;
    let at = |name: &str| summary.headings().iter().position(|h| h.name == name).unwrap();
    let first = &o.summary[0];
    match (summary.read(0, at("metric")), summary.read(0, at("mean"))) {
        (Values::Text(names), Values::Number(means)) => {
            assert_eq!((names[0].as_ref(), means[0]), (Some(&first.metric), Some(first.mean)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_long_series_is_written_in_row_groups_that_need_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.parquet");
    let shape = Shape { seeds: 1, seconds: 1500, ..ONE_POINT };
    let o = outcome(shape);
    write_series(&o, &context(shape), &path).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let rows: Vec<i64> = (0..reader.num_row_groups()).map(|i| reader.metadata().row_group(i).num_rows()).collect();
    assert_eq!(rows, [65_536, 65_536, 15_001 * 9 - 2 * 65_536]);
    // The second group continues where the first group ended.
    let names: Vec<&str> =
        reader.metadata().file_metadata().schema_descr().columns().iter().map(|c| c.name()).collect();
    let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let row = reader.get_row_iter(None).unwrap().nth(65_536).unwrap().unwrap();
    let (flow, k) = (65_536 / 15_001, 65_536 % 15_001);
    assert_eq!(row.get_string(at("name")).unwrap(), &o.runs[0].flows[flow].name);
    let bytes = &o.runs[0].detail.series.flows[flow].delivered_bytes;
    let rate = (bytes[k] - bytes[k - 1]) as f64 * 80.0;
    assert!((row.get_double(at("goodput")).unwrap() / rate - 1.0).abs() < 1e-6);
}

#[test]
fn series_hold_every_instant_of_flows_and_queues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.parquet");
    let o = outcome(ONE_POINT);
    write_series(&o, &context(ONE_POINT), &path).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let per_run = 601 * (8 + 1);
    assert_eq!(reader.metadata().file_metadata().num_rows(), per_run * 5);
    let names: Vec<&str> =
        reader.metadata().file_metadata().schema_descr().columns().iter().map(|c| c.name()).collect();
    let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).take(per_run as usize).collect();
    let sample = o.runs[0].detail.series.flows[0].get(30).unwrap();
    assert_eq!(rows[30].get_long(at("cwnd")).unwrap(), i64::from(sample.snd_cwnd));
    assert_eq!(rows[30].get_double(at("srtt")).unwrap(), f64::from(sample.srtt_us) / 1e6);
    let before = o.runs[0].detail.series.flows[0].delivered_bytes[29];
    assert!(
        (rows[30].get_double(at("goodput")).unwrap() - (sample.delivered_bytes - before) as f64 * 80.0).abs() < 1.0
    );
    assert!(rows[0].is_null(at("goodput")).unwrap(), "the first instant has no rate");
    let queue = &rows[8 * 601 + 5];
    assert_eq!(queue.get_string(at("scope")).unwrap(), "queue");
    assert_eq!(queue.get_long(at("queue.length")).unwrap(), o.runs[0].detail.series.queues[0].packets[5] as i64);
    assert!(queue.is_null(at("cwnd")).unwrap());
}

#[test]
fn pyarrow_reads_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import sys, pyarrow.parquet as p\nfor f in sys.argv[1:]:\n  t = p.read_table(f)\n  \
        print(t.num_rows, t.schema.metadata[b'contend.schema'].decode(), t.schema.field('seed').type)";
    // Debian has no package of it; the environment that `./ci.sh python` makes has it.
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or("target".into());
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(target).join("python/bin/python");
    let has = |python: &PathBuf| {
        Command::new(python).args(["-c", "import pyarrow.parquet"]).output().is_ok_and(|o| o.status.success())
    };
    let Some(python) = ["python3".into(), made].into_iter().find(has) else {
        needs::skip("pyarrow", "flows.parquet and series.parquet as pyarrow reads them");
        return;
    };
    let (flows, series) = (folder.path().join("flows.parquet"), folder.path().join("series.parquet"));
    write_flows(&outcome(ONE_POINT), &context(ONE_POINT), &flows).unwrap();
    write_series(&outcome(ONE_POINT), &context(ONE_POINT), &series).unwrap();
    let out = Command::new(python).args(["-c", script]).args([flows, series]).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(
        text.trim(),
        "40 contend/flows/2 int64\n27045 contend/series/2 int64",
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn a_failed_write_leaves_the_old_file_and_no_litter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.json");
    atomically(&path, |w| w.write_all(b"old")).unwrap();
    let failed = atomically(&path, |w| w.write_all(b"half").and(Err(Error::other("disk full")))).unwrap_err();
    assert_eq!(failed.to_string(), format!("cannot write {}: disk full", path.display()));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
