//! Each flow of each run as iperf3 prints it with `-J`.
//!
//! Format: the JSON output of iperf3 3.12, one file as of one client with one stream. The warm-up is what iperf3 omits
//! (`-O`): its intervals say `omitted`, and times count from its end.

use super::{Export, Step, file_name, named, run_text};
use contend_experiment::reading::file::{Experiment, Overlay};
use contend_experiment::results::{Flow, FlowSeries, Outcome, Run};
use contend_sim::scenario::Transport;
use contend_sim::tcp::SegmentFormat;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) const EXPORT: Export = Export {
    name: "iperf3",
    summary: "each flow of each run as JSON like that of iperf3 -J",
    sampled: true,
    write: |e, o, sink| {
        for (folder, run) in named(o) {
            let (sizes, mut taken) = (segment_sizes(e, run), BTreeSet::new());
            for (i, flow) in run.flows.iter().enumerate() {
                let one = Test::new(o, run, i, sizes.get(i).copied().unwrap_or(0));
                let text = format!("{:#}\n", one.json());
                sink(&format!("{folder}/{}.json", file_name(&flow.name, &mut taken)), text.as_bytes())?;
            }
        }
        Ok(())
    },
};

/// Payload of a full segment of each flow in bytes; 0 for datagrams.
fn segment_sizes(e: &Experiment, run: &Run) -> Vec<u32> {
    let flows = e.scenario(&run.point, &Overlay::default()).map_or_else(|_| vec![], |r| r.scenario.flows);
    let size = |ends: &contend_sim::scenario::EndsSpec| match &ends.transport {
        Transport::Tcp(tcp) => SegmentFormat::new(ends.packet, tcp).map_or(0, |format| format.mss),
        Transport::Udp(_) => 0,
    };
    flows.iter().map(|f| size(&f.ends)).collect()
}

/// One flow of one run, as a test of iperf3.
struct Test<'a> {
    outcome: &'a Outcome,
    run: &'a Run,
    flow: &'a Flow,
    samples: Option<&'a FlowSeries>,
    /// The number of its socket.
    socket: usize,
    /// Payload of a full segment in bytes.
    mss: u32,
    steps: Vec<Step>,
}

impl<'a> Test<'a> {
    fn new(outcome: &'a Outcome, run: &'a Run, i: usize, mss: u32) -> Test<'a> {
        let (flow, samples) = (&run.flows[i], run.detail.series.flows.get(i));
        Test { outcome, run, flow, samples, socket: i + 1, mss, steps: Step::all(run) }
    }

    fn is_tcp(&self) -> bool {
        self.flow.tcp != "udp"
    }

    fn json(&self) -> Value {
        json!({
            "start": self.start(),
            "intervals": self.steps.iter().map(|s| self.interval(*s)).collect::<Vec<_>>(),
            "end": if self.is_tcp() { self.end_of_tcp() } else { self.end_of_udp() },
        })
    }

    fn start(&self) -> Value {
        let (run, flow) = (self.run, self.flow);
        json!({
            "connected": [{
                "socket": self.socket,
                "local_host": "contend",
                "local_port": 0,
                "remote_host": flow.name,
                "remote_port": 5201,
            }],
            "version": format!("contend {}", self.outcome.version),
            "system_info": format!("{}, {}", self.outcome.title, run_text(run)),
            "timestamp": { "time": "Thu, 01 Jan 1970 00:00:00 GMT", "timesecs": 0 },
            "connecting_to": { "host": flow.name, "port": 5201 },
            "cookie": run.digest,
            "tcp_mss_default": self.mss,
            "test_start": {
                "protocol": if self.is_tcp() { "TCP" } else { "UDP" },
                "num_streams": 1,
                "blksize": self.mss,
                "omit": run.warmup_s,
                "duration": self.seconds(),
                "bytes": 0,
                "blocks": 0,
                "reverse": u8::from(flow.direction == "down"),
                "tos": 0,
            },
        })
    }

    /// Length of the measured interval in seconds.
    fn seconds(&self) -> f64 {
        self.run.sim_s - self.run.warmup_s
    }

    /// True if a step lies, at least partly, in the warm-up.
    fn omitted(&self, s: Step) -> bool {
        s.time.0 < self.run.warmup_s
    }

    /// Bytes of a step: acknowledged to a TCP sender, or of datagrams that arrived.
    fn bytes(&self, s: Step) -> u64 {
        let counter =
            self.samples.map_or(&[][..], |f| if self.is_tcp() { &f.snd_una_bytes } else { &f.delivered_bytes });
        s.increase(counter)
    }

    fn retransmits(&self, s: Step) -> u64 {
        self.samples.map_or(0, |f| s.increase(&f.retrans))
    }

    fn interval(&self, s: Step) -> Value {
        let omitted = self.omitted(s);
        let from = if omitted { 0.0 } else { self.run.warmup_s };
        let mut sum = json!({
            "start": s.time.0 - from,
            "end": s.time.1 - from,
            "seconds": s.seconds(),
            "bytes": self.bytes(s),
            "bits_per_second": 8.0 * self.bytes(s) as f64 / s.seconds(),
        });
        if self.is_tcp() {
            add(&mut sum, json!({ "retransmits": self.retransmits(s) }));
        }
        let mut stream = json!({ "socket": self.socket });
        add(&mut stream, sum.clone());
        if let Some(f) = self.samples.filter(|_| self.is_tcp()) {
            let at = |column: &[u32]| column.get(s.end).copied().unwrap_or(0);
            add(
                &mut stream,
                json!({
                    "snd_cwnd": u64::from(at(&f.snd_cwnd)) * u64::from(self.mss),
                    "rtt": at(&f.srtt_us),
                    "rttvar": at(&f.rttvar_us),
                }),
            );
        }
        let last = json!({ "omitted": omitted, "sender": true });
        add(&mut sum, last.clone());
        add(&mut stream, last);
        json!({ "streams": [stream], "sum": sum })
    }

    fn end_of_tcp(&self) -> Value {
        let measured = || self.steps.iter().filter(|s| !self.omitted(**s));
        let seconds: f64 = measured().map(|s| s.seconds()).sum();
        let bytes: u64 = measured().map(|s| self.bytes(*s)).sum();
        let mut sent = sum(seconds, bytes, 8.0 * bytes as f64 / seconds.max(f64::MIN_POSITIVE));
        add(&mut sent, json!({ "retransmits": self.flow.retransmitted, "sender": true }));
        let mut received = sum(self.seconds(), self.received(), self.flow.goodput_bps);
        add(&mut received, json!({ "sender": true }));
        let values = |column: fn(&FlowSeries) -> &Vec<u32>| {
            let samples = self.samples.map_or(&[][..], |f| column(f));
            measured().filter_map(|s| samples.get(s.end).copied()).collect::<Vec<u32>>()
        };
        let rtt: Vec<u32> = values(|f| &f.srtt_us).into_iter().filter(|us| *us > 0).collect();
        let mean = rtt.iter().map(|us| u64::from(*us)).sum::<u64>() / rtt.len().max(1) as u64;
        let most = u64::from(values(|f| &f.snd_cwnd).into_iter().max().unwrap_or(0)) * u64::from(self.mss);
        let mut sender = json!({ "socket": self.socket });
        add(&mut sender, sent.clone());
        add(
            &mut sender,
            json!({
                "max_snd_cwnd": most,
                "max_rtt": rtt.iter().max().unwrap_or(&0),
                "min_rtt": rtt.iter().min().unwrap_or(&0),
                "mean_rtt": mean,
            }),
        );
        let mut receiver = json!({ "socket": self.socket });
        add(&mut receiver, received.clone());
        json!({
            "streams": [{ "sender": sender, "receiver": receiver }],
            "sum_sent": sent,
            "sum_received": received,
            "sender_tcp_congestion": self.flow.tcp,
            "receiver_tcp_congestion": self.flow.tcp,
        })
    }

    fn end_of_udp(&self) -> Value {
        let (sent, lost) = (self.flow.sent, self.flow.entered.saturating_sub(self.flow.arrived));
        let mut all = sum(self.seconds(), self.received(), self.flow.goodput_bps);
        add(
            &mut all,
            json!({
                "jitter_ms": null,
                "lost_packets": lost,
                "packets": sent,
                "lost_percent": if sent > 0 { 100.0 * lost as f64 / sent as f64 } else { 0.0 },
                "sender": true,
            }),
        );
        let mut stream = json!({ "socket": self.socket });
        add(&mut stream, all.clone());
        json!({ "streams": [{ "udp": stream }], "sum": all })
    }

    /// Payload that arrived in the measured interval, in bytes.
    fn received(&self) -> u64 {
        (self.flow.goodput_bps * self.seconds() / 8.0).round() as u64
    }
}

/// The keys that every sum has.
fn sum(seconds: f64, bytes: u64, bps: f64) -> Value {
    json!({ "start": 0, "end": seconds, "seconds": seconds, "bytes": bytes, "bits_per_second": bps })
}

/// Adds the keys of `more` to `object`.
fn add(object: &mut Value, more: Value) {
    if let (Value::Object(to), Value::Object(from)) = (object, more) {
        to.extend(from);
    }
}
