//! Exports: the names that the other tools use, and the values of the run itself.

use contend_core::{Span, Time};
use contend_lab::execute::{Options, execute};
use contend_lab::experiment::results::{Outcome, Run};
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::reading::file::parse;
use contend_lab::writing::output::EXPORTS;
use contend_lab::writing::output::export::write_export;
use contend_sim::wifi::{FrameKind, FrameOutcome};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

const FILE: &str = r#"title = "Both ways"
duration = "3s"
warmup = "1s"
seeds = "1..2"
sample = "250ms"
[wifi]
standard = "802.11g"
[ap]
queue = { kind = "fifo", limit = "20p" }
[[flow]]
name = "web"
count = 2
from = "server"
to = "station"
tcp = "newreno"
[[flow]]
name = "backup"
from = "station"
to = "server"
tcp = "cubic"
[[flow]]
name = "call"
from = "server"
to = "station"
udp = { rate = "500kbps", packet = "200B" }
[sweep]
"ap.queue.limit" = ["20p", "60p"]
"#;

/// The outcome of `text`, and a folder with the files of the export `name`.
fn exported(text: &str, name: &str) -> (Outcome, tempfile::TempDir) {
    let e = parse("t.toml", text, &[]).unwrap();
    let window =
        CaptureWindow { from: Time::ZERO + Span::from_secs(1), to: Time::from_nanos(1_100_000_000), limit: 9999 };
    let options = Options { jobs: 1, series: true, capture: Some(window), ..Options::default() };
    let outcome = execute(&e, &options).unwrap().outcome;
    let folder = tempfile::tempdir().unwrap();
    let export = EXPORTS.iter().find(|x| x.name == name).unwrap();
    write_export(export, &e, &outcome, folder.path()).unwrap();
    (outcome, folder)
}

/// The names in `folder`.
fn names(folder: &Path) -> BTreeSet<String> {
    std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

fn unzipped(file: &[u8]) -> Vec<u8> {
    let mut content = vec![];
    flate2::read::GzDecoder::new(file).read_to_end(&mut content).unwrap();
    content
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn keys(v: &Value) -> Vec<&str> {
    v.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_data_file_of_flent_has_the_series_of_the_run() {
    let (o, folder) = exported(FILE, "flent");
    let path = folder.path().join("flent");
    assert_eq!(names(&path).len(), 4);
    let run = &o.runs[0];
    let file = std::fs::read(path.join("ap.queue.limit=20p,seed=1.flent.gz")).unwrap();
    let d: Value = serde_json::from_slice(&unzipped(&file)).unwrap();
    assert_eq!(keys(&d), ["metadata", "raw_values", "results", "version", "x_values"]);
    assert_eq!(d["version"], 4);
    let meta = &d["metadata"];
    let streams = json!({ "bidir_streams": "2", "labels": "1,2" });
    assert_eq!((&meta["NAME"], &meta["TEST_PARAMETERS"]), (&json!("rrul_var"), &streams));
    assert_eq!(meta["TITLE"], "Both ways, ap.queue.limit=20p,seed=1");
    assert_eq!((&meta["STEP_SIZE"], &meta["LENGTH"], &meta["TOTAL_LENGTH"]), (&json!(0.25), &json!(3.0), &json!(3.0)));
    assert_eq!(meta["T0"], "1970-01-01T00:00:00.000000Z");
    let x = numbers(&d["x_values"]);
    assert_eq!((x.len(), x[0], x[11]), (12, 0.25, 3.0));
    let series = [
        "Ping (ms) avg",
        "Ping (ms)::ICMP",
        "TCP download avg",
        "TCP download fairness",
        "TCP download sum",
        "TCP download::1",
        "TCP download::2",
        "TCP totals",
        "TCP upload avg",
        "TCP upload fairness",
        "TCP upload sum",
        "TCP upload::1",
        "UDP download::1",
    ];
    assert_eq!(keys(&d["results"]), series);
    assert!(series.iter().all(|s| d["results"][s].as_array().unwrap().len() == x.len()));
    // Each flow: what the receiver got in a step.
    let flows = [("TCP download::1", 0), ("TCP download::2", 1), ("TCP upload::1", 2), ("UDP download::1", 3)];
    for (name, i) in flows {
        let rates = numbers(&d["results"][name]);
        let (flow, samples) = (&run.flows[i], &run.detail.series.flows[i]);
        let total = rates.iter().sum::<f64>() * 0.25 * 1e6 / 8.0;
        assert!(close(total, *samples.delivered_bytes.last().unwrap() as f64), "{name}");
        // The warm-up takes the first four steps.
        let measured = rates[4..].iter().sum::<f64>() / 8.0 * 1e6;
        assert!(close(measured, flow.goodput_bps), "{name}");
        let about = &meta["SERIES_META"][name];
        assert_eq!((&about["FLOW"], &about["CONG_CONTROL"]), (&json!(flow.name), &json!(flow.tcp)));
        assert_eq!(about["TCP_RETRANSMIT"], flow.retransmitted);
        let raw = d["raw_values"][name].as_array().unwrap();
        assert!(raw.iter().zip(&x).all(|(r, x)| r["t"] == *x) && raw.len() == x.len());
        assert_eq!(raw[5]["val"], rates[5]);
        if flow.tcp != "udp" {
            let skip = samples.snd_cwnd.len() - x.len();
            assert_eq!(raw[11]["tcp_cwnd"], samples.snd_cwnd[11 + skip]);
            assert_eq!(raw[11]["tcp_rtt"], f64::from(samples.srtt_us[11 + skip]) / 1e3);
        }
    }
    let value = |name: &str, k: usize| d["results"][name][k].as_f64().unwrap();
    let at = |name| value(name, 4);
    let (a, b) = (at("TCP download::1"), at("TCP download::2"));
    assert!(close(at("TCP download sum"), a + b) && close(at("TCP download avg"), (a + b) / 2.0));
    assert!(close(at("TCP download fairness"), (a + b) * (a + b) / (2.0 * (a * a + b * b))));
    assert!(close(at("TCP totals"), a + b + at("TCP upload::1")));
    let rtt = (0..3).map(|i| f64::from(*run.detail.series.flows[i].srtt_us.last().unwrap())).sum::<f64>() / 3e3;
    assert!(close(value("Ping (ms)::ICMP", 11), rtt));
}

#[test]
fn flents_test_is_the_one_whose_series_there_are() {
    let only = |from: &str, to: &str| {
        format!(
            "duration = \"1s\"\nsample = \"250ms\"\nwifi = {{ standard = \"802.11g\" }}\n[[flow]]\ncount = 3\n\
            from = \"{from}\"\nto = \"{to}\"\ntcp = \"reno\"\n"
        )
    };
    for (from, to, test, parameter, way) in [
        ("server", "station", "tcp_ndown", "download_streams", "download"),
        ("station", "server", "tcp_nup", "upload_streams", "upload"),
    ] {
        let (_, folder) = exported(&only(from, to), "flent");
        let file = std::fs::read(folder.path().join("flent/seed=1.flent.gz")).unwrap();
        let d: Value = serde_json::from_slice(&unzipped(&file)).unwrap();
        assert_eq!((&d["metadata"]["NAME"], &d["metadata"]["TEST_PARAMETERS"][parameter]), (&json!(test), &json!("3")));
        let mut series: Vec<String> = ["avg", "fairness", "sum"].map(|s| format!("TCP {way} {s}")).to_vec();
        series.extend((1..=3).map(|n| format!("TCP {way}::{n}")));
        series.insert(0, "Ping (ms) ICMP".into());
        assert_eq!(keys(&d["results"]), series);
    }
}

/// The keys that iperf3 3.12 printed for a test with `-O 1`, without those that only a kernel has: `snd_wnd`,
/// `max_snd_wnd`, `pmtu` and `cpu_utilization_percent`.
#[test]
fn a_flow_is_written_as_iperf3_would() {
    let (o, folder) = exported(FILE, "iperf3");
    assert_eq!(names(&folder.path().join("iperf3")).len(), 4);
    let folder = folder.path().join("iperf3/ap.queue.limit=20p,seed=1");
    assert_eq!(names(&folder), ["backup.json", "call.json", "web.1.json", "web.2.json"].map(String::from).into());
    let read =
        |name: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap() };
    let sorted = |mut keys: Vec<&'static str>| {
        keys.sort_unstable();
        keys
    };
    let run: &Run = &o.runs[0];
    for (i, name, mss) in [(0, "web.1.json", 1448), (1, "web.2.json", 1448), (2, "backup.json", 1448)] {
        let (d, flow, samples) = (read(name), &run.flows[i], &run.detail.series.flows[i]);
        let test = &d["start"]["test_start"];
        assert_eq!((&test["protocol"], &test["num_streams"]), (&json!("TCP"), &json!(1)));
        assert_eq!((&test["omit"], &test["duration"]), (&json!(1.0), &json!(2.0)));
        assert_eq!(test["reverse"], u8::from(flow.direction == "down"));
        let intervals = d["intervals"].as_array().unwrap();
        assert_eq!(intervals.len(), 12);
        let of_sum = vec!["start", "end", "seconds", "bytes", "bits_per_second", "retransmits", "omitted", "sender"];
        let of_stream = [&of_sum[..], &["socket", "snd_cwnd", "rtt", "rttvar"]].concat();
        let skip = samples.snd_cwnd.len() - 12;
        let (mut bytes, mut again) = (0, 0);
        for (k, interval) in intervals.iter().enumerate() {
            let (sum, stream) = (&interval["sum"], &interval["streams"][0]);
            assert_eq!((keys(sum), keys(stream)), (sorted(of_sum.clone()), sorted(of_stream.clone())));
            assert_eq!(sum["omitted"], k < 4);
            let start = (if k < 4 { k } else { k - 4 }) as f64 * 0.25;
            assert_eq!((&sum["start"], &sum["end"]), (&json!(start), &json!(start + 0.25)));
            assert_eq!(stream["snd_cwnd"], samples.snd_cwnd[k + skip] * mss);
            assert_eq!(
                (&stream["rtt"], &stream["rttvar"]),
                (&json!(samples.srtt_us[k + skip]), &json!(samples.rttvar_us[k + skip]))
            );
            assert!(close(sum["bits_per_second"].as_f64().unwrap(), sum["bytes"].as_f64().unwrap() * 32.0));
            if k >= 4 {
                bytes += sum["bytes"].as_u64().unwrap();
                again += sum["retransmits"].as_u64().unwrap();
            }
        }
        let (end, acked) = (&d["end"], &samples.snd_una_bytes);
        assert_eq!(end["sum_sent"]["bytes"], bytes);
        assert_eq!(bytes, acked.last().unwrap() - acked[3 + skip]);
        assert_eq!((&end["sum_sent"]["retransmits"], again), (&json!(flow.retransmitted), flow.retransmitted));
        assert_eq!(end["sum_received"]["bits_per_second"], flow.goodput_bps);
        assert_eq!(end["sum_received"]["bytes"], (flow.goodput_bps / 4.0).round() as u64);
        assert_eq!(end["sender_tcp_congestion"], flow.tcp);
        let sender = &end["streams"][0]["sender"];
        let most = samples.snd_cwnd[4 + skip..].iter().max().unwrap() * mss;
        assert_eq!((&sender["max_snd_cwnd"], &sender["bytes"]), (&json!(most), &json!(bytes)));
        let rtt = &samples.srtt_us[4 + skip..];
        assert_eq!((&sender["min_rtt"], &sender["max_rtt"]), (&json!(rtt.iter().min()), &json!(rtt.iter().max())));
        assert_eq!(end["streams"][0]["receiver"]["bytes"], end["sum_received"]["bytes"]);
    }
    assert!(run.flows.iter().any(|f| f.retransmitted > 0), "something was retransmitted");
    let (d, call) = (read("call.json"), &run.flows[3]);
    assert_eq!(d["start"]["test_start"]["protocol"], "UDP");
    let sum = &d["end"]["sum"];
    let of_sum = ["start", "end", "seconds", "bytes", "bits_per_second", "jitter_ms", "lost_packets", "packets"];
    assert_eq!(keys(sum), sorted([&of_sum[..], &["lost_percent", "sender"]].concat()));
    assert_eq!((&sum["bits_per_second"], &sum["packets"]), (&json!(call.goodput_bps), &json!(call.sent)));
    let lost = call.entered - call.arrived;
    assert_eq!((&sum["lost_packets"], lost > 0), (&json!(lost), true));
    assert!(close(sum["lost_percent"].as_f64().unwrap(), 100.0 * lost as f64 / call.sent as f64));
    assert_eq!(sum["jitter_ms"], Value::Null);
}

#[test]
fn a_trace_of_perfetto_has_every_frame_on_the_track_of_its_station() {
    let (o, folder) = exported(FILE, "perfetto");
    let run = &o.runs[0];
    let path = folder.path().join("perfetto");
    assert_eq!(names(&path), ["ap.queue.limit=20p,seed=1.json".to_owned()].into());
    let text = std::fs::read_to_string(path.join("ap.queue.limit=20p,seed=1.json")).unwrap();
    let d: Value = serde_json::from_str(&text).unwrap();
    let events = d["traceEvents"].as_array().unwrap();
    let tracks: Vec<&Value> = events.iter().filter(|e| e["name"] == "thread_name").collect();
    let named: Vec<&str> = tracks.iter().map(|t| t["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(named, run.stations);
    let frames: Vec<&Value> = events.iter().filter(|e| e["ph"] == "X").collect();
    assert_eq!((frames.len(), frames.len() + tracks.len() + 1), (run.detail.frames.len(), events.len()));
    assert!(frames.len() > 100);
    let mut expected: Vec<_> = run.detail.frames.iter().collect();
    expected.sort_by_key(|f| (f.start, f.from));
    let mut free = vec![0.0; run.stations.len() + 1];
    for (e, f) in frames.iter().zip(expected) {
        let args = &e["args"];
        let kind = match f.kind {
            FrameKind::Data => "data",
            FrameKind::Ack => "ACK",
            FrameKind::Rts => "RTS",
            FrameKind::Cts => "CTS",
            FrameKind::BlockAck => "block ACK",
            FrameKind::Request => "block ACK request",
            FrameKind::CfEnd => "CF-End",
            FrameKind::Beacon => "beacon",
            FrameKind::Action => "ADDBA",
        };
        let outcome = match f.outcome {
            FrameOutcome::Received => "received",
            FrameOutcome::Collided => "collided",
            FrameOutcome::Errored => "errored",
        };
        assert_eq!((&args["kind"], &args["outcome"], &e["cat"]), (&json!(kind), &json!(outcome), &json!(outcome)));
        assert_eq!((&args["bytes"], &args["retry"]), (&json!(f.bytes), &json!(f.retry)));
        assert_eq!(args["to"], run.stations[f.to as usize]);
        let flow = f.packet.map(|p| &run.flows[p.flow.0 as usize].name);
        assert_eq!(args["flow"], json!(flow));
        assert_eq!(e["name"], flow.map_or(kind.to_owned(), |flow| format!("{kind} {flow}")));
        let (ts, dur) = (e["ts"].as_f64().unwrap(), e["dur"].as_f64().unwrap());
        assert_eq!((ts * 1e3).round() as u64, f.start.as_nanos());
        assert_eq!((dur * 1e3).round() as u64, f.end.since(f.start).as_nanos());
        // A station sends one frame at a time, so the events of a track do not overlap.
        let track = e["tid"].as_u64().unwrap() as usize;
        assert_eq!(track, f.from as usize + 1);
        assert!(ts >= free[track] - 1e-6, "{e}");
        free[track] = ts + dur;
    }
}
