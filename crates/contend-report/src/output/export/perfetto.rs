//! The frames on the air in the trace event format of Chrome and Perfetto: one track for each station.
//!
//! Format: "Trace Event Format" (Duffy, Chromium project): complete events `X` with `ts` and `dur` in microseconds,
//! `thread_name` as metadata. Opens at ui.perfetto.dev and in chrome://tracing.

use super::{Export, named};
use contend_core::Span;
use contend_experiment::results::Run;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome, StationId};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) const EXPORT: Export = Export {
    name: "perfetto",
    summary: "the frames on the air for Perfetto and Chrome, a track for each station",
    sampled: false,
    write: |_, o, sink| {
        // Only the first run keeps its frames.
        let kept = named(o).into_iter().find(|(_, run)| !run.detail.frames.is_empty());
        kept.map_or(Ok(()), |(name, run)| sink(&format!("{name}.json"), trace(run).as_bytes()))
    },
};

/// The trace of a run, one event in each line.
fn trace(run: &Run) -> String {
    let mut frames: Vec<&Frame> = run.detail.frames.iter().collect();
    frames.sort_by_key(|f| (f.start, f.from));
    let tracks = (0..).zip(&run.stations).map(|(id, name)| track(id, name));
    let air = json!({ "ph": "M", "pid": 1, "name": "process_name", "args": { "name": "air" } });
    let events = std::iter::once(air).chain(tracks).chain(frames.into_iter().map(|f| frame(f, run)));
    let mut text = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (i, event) in events.enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{event}", if i == 0 { "" } else { ",\n" });
    }
    text += "\n]}\n";
    text
}

/// The track of a station; the access point is first.
fn track(id: StationId, name: &str) -> Value {
    json!({ "ph": "M", "pid": 1, "tid": id + 1, "name": "thread_name", "args": { "name": name } })
}

/// One frame.
fn frame(f: &Frame, run: &Run) -> Value {
    let us = |span: Span| span.as_nanos() as f64 / 1e3;
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
    let flow = f.packet.and_then(|p| run.flows.get(p.flow.0 as usize)).map(|flow| &flow.name);
    let name = flow.map_or_else(|| kind.to_owned(), |flow| format!("{kind} {flow}"));
    json!({
        "ph": "X",
        "pid": 1,
        "tid": f.from + 1,
        "ts": us(Span::from_nanos(f.start.as_nanos())),
        "dur": us(f.end.since(f.start)),
        "name": name,
        "cat": outcome,
        "args": {
            "kind": kind,
            "outcome": outcome,
            "to": run.stations.get(f.to as usize),
            "bytes": f.bytes,
            "rate_bps": f.rate,
            "retry": f.retry,
            "sequence": f.sequence,
            "flow": flow,
        },
    })
}
