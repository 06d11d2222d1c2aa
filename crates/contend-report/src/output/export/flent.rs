//! Time series of each run as a data file of flent, which plots it like a measurement.
//!
//! Format: version 4 of the data files of flent 2.x (`flent/resultset.py`): gzip, one JSON object with `metadata`,
//! `x_values`, `results` (a value for each x) and `raw_values`. The test is the one of flent whose series fit:
//! `tcp_ndown`, `tcp_nup`, or `rrul_var` with uploads and downloads. flent computes sums and means of series while it
//! measures, so they are written here.

use super::{Export, Step, named, run_text};
use contend_experiment::results::{Outcome, Run};
use contend_experiment::stats::jain;
use flate2::Compression;
use flate2::read::GzEncoder;
use serde_json::{Map, Value, json};
use std::io::Read as _;

pub(super) const EXPORT: Export = Export {
    name: "flent",
    summary: "the time series of each run as a data file of flent (.flent.gz)",
    sampled: true,
    write: |_, o, sink| {
        for (name, run) in named(o) {
            let path = format!("{name}.flent.gz");
            let text = data(o, run, &path).to_string();
            let mut file = vec![];
            // Bytes in memory can always be read.
            let _ = GzEncoder::new(text.as_bytes(), Compression::default()).read_to_end(&mut file);
            sink(&path, &file)?;
        }
        Ok(())
    },
};

/// The clock of a run starts here: the same run gives the same file.
const START: &str = "1970-01-01T00:00:00.000000Z";

/// A flow and its series.
struct Series {
    /// Its name in flent: `TCP upload::1`.
    name: String,
    /// Index of the flow.
    flow: usize,
    /// Mb/s in each step.
    rate: Vec<f64>,
}

/// The data file of a run, whose path is `path`.
fn data(o: &Outcome, run: &Run, path: &str) -> Value {
    let steps = Step::all(run);
    let all = |protocol, way| series(run, &steps, protocol, way);
    let (up, down) = (all("TCP", "upload"), all("TCP", "download"));
    let udp: Vec<Series> = ["upload", "download"].into_iter().flat_map(|way| all("UDP", way)).collect();
    let (test, streams, ping) = match (up.len(), down.len()) {
        (n, 0) => ("tcp_nup", json!({ "upload_streams": n.to_string() }), "Ping (ms) ICMP"),
        (0, n) => ("tcp_ndown", json!({ "download_streams": n.to_string() }), "Ping (ms) ICMP"),
        (n, m) => {
            // The streams of this test have names, which would not be numbers by default.
            let labels: Vec<String> = (1..=n.max(m)).map(|label| label.to_string()).collect();
            let streams = json!({ "bidir_streams": n.max(m).to_string(), "labels": labels.join(",") });
            ("rrul_var", streams, "Ping (ms)::ICMP")
        }
    };
    let rtt = round_trip(run, &steps);
    let mut results = Map::new();
    for (way, some) in [("upload", &up), ("download", &down)].into_iter().filter(|(_, some)| !some.is_empty()) {
        let (sums, fairness) = together(&some.iter().collect::<Vec<_>>(), steps.len());
        let mean = sums.iter().map(|sum| sum / some.len() as f64).collect::<Vec<_>>();
        results.insert(format!("TCP {way} sum"), json!(sums));
        results.insert(format!("TCP {way} avg"), json!(mean));
        results.insert(format!("TCP {way} fairness"), json!(fairness));
    }
    if !up.is_empty() && !down.is_empty() {
        let totals = together(&up.iter().chain(&down).collect::<Vec<_>>(), steps.len()).0;
        results.insert("TCP totals".into(), json!(totals));
        results.insert("Ping (ms) avg".into(), json!(rtt));
    }
    if !up.is_empty() || !down.is_empty() {
        results.insert(ping.into(), json!(rtt));
    }
    let (mut meta, mut raw) = (Map::new(), Map::new());
    meta.insert(ping.into(), json!({ "UNITS": "ms", "COMMENT": "mean smoothed round-trip time of the TCP flows" }));
    for s in up.iter().chain(&down).chain(&udp) {
        let Some(flow) = run.flows.get(s.flow) else { continue };
        results.insert(s.name.clone(), json!(s.rate));
        raw.insert(s.name.clone(), json!(raw_values(run, s, &steps)));
        let about = json!({
            "UNITS": "Mbits/s",
            "MEAN_VALUE": flow.goodput_bps / 1e6,
            "FLOW": flow.name,
            "CONG_CONTROL": flow.tcp,
            "TCP_RETRANSMIT": flow.retransmitted,
        });
        meta.insert(s.name.clone(), about);
    }
    let step = steps.first().map_or(0.0, |s| s.seconds());
    json!({
        "version": 4,
        "metadata": {
            "NAME": test,
            "TITLE": format!("{}, {}", o.title, run_text(run)),
            "NOTE": format!("contend {}, {}, digest {}", o.version, o.file, run.digest),
            "TIME": START,
            "T0": START,
            "LENGTH": run.sim_s,
            "TOTAL_LENGTH": run.sim_s,
            "STEP_SIZE": step,
            "HOST": "contend",
            "HOSTS": ["contend"],
            "LOCAL_HOST": "contend",
            "IP_VERSION": 4,
            "TEST_PARAMETERS": streams,
            "DATA_FILENAME": path,
            "SERIES_META": meta,
        },
        "x_values": steps.iter().map(|s| s.time.1).collect::<Vec<_>>(),
        "results": results,
        "raw_values": raw,
    })
}

/// The series of the flows of a protocol and a direction. Flows that are no downloads are uploads.
fn series(run: &Run, steps: &[Step], protocol: &str, way: &str) -> Vec<Series> {
    let flows = run
        .flows
        .iter()
        .enumerate()
        .filter(|(_, f)| (f.tcp == "udp") == (protocol == "UDP") && (f.direction == "down") == (way == "download"));
    let rate = |flow: usize| {
        let bytes = run.detail.series.flows.get(flow).map_or(&[][..], |f| &f.delivered_bytes);
        steps.iter().map(|s| 8e-6 * s.increase(bytes) as f64 / s.seconds()).collect()
    };
    let named = |(n, (flow, _)): (usize, (usize, _))| Series {
        name: format!("{protocol} {way}::{}", n + 1),
        flow,
        rate: rate(flow),
    };
    flows.enumerate().map(named).collect()
}

/// The sum and Jain's index of several series in each step; no index while nothing arrives.
fn together(all: &[&Series], steps: usize) -> (Vec<f64>, Vec<Option<f64>>) {
    let at = |k: usize| all.iter().filter_map(move |s| s.rate.get(k));
    let sums: Vec<f64> = (0..steps).map(|k| at(k).sum()).collect();
    // While nothing arrives there is nothing to share.
    let fairness = |(k, sum): (usize, &f64)| jain(&at(k).copied().collect::<Vec<_>>()).filter(|_| *sum > 0.0);
    let fairness = sums.iter().enumerate().map(fairness).collect();
    (sums, fairness)
}

/// The mean smoothed round-trip time of the TCP flows in milliseconds at the end of each step.
fn round_trip(run: &Run, steps: &[Step]) -> Vec<Option<f64>> {
    let at = |s: &Step| {
        let all = run.detail.series.flows.iter().filter_map(|f| f.srtt_us.get(s.end)).filter(|us| **us > 0);
        let (count, sum) = all.fold((0u32, 0.0), |(count, sum), us| (count + 1, sum + f64::from(*us)));
        (count > 0).then(|| sum / f64::from(count) / 1e3)
    };
    steps.iter().map(at).collect()
}

/// The samples of a flow, with the state of its sender as flent names it.
fn raw_values(run: &Run, s: &Series, steps: &[Step]) -> Vec<Value> {
    let samples = run.detail.series.flows.get(s.flow);
    let of = |(step, rate): (&Step, &f64)| {
        let mut value = json!({ "t": step.time.1, "dur": step.seconds(), "val": rate });
        if let (Some(f), Some(object)) = (samples, value.as_object_mut())
            && let (Some(cwnd), Some(us)) = (f.snd_cwnd.get(step.end), f.srtt_us.get(step.end))
            && *us > 0
        {
            object.insert("tcp_cwnd".into(), json!(cwnd));
            object.insert("tcp_rtt".into(), json!(f64::from(*us) / 1e3));
        }
        value
    };
    steps.iter().zip(&s.rate).map(of).collect()
}
