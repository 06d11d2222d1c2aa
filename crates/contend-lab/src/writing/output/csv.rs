//! CSV (RFC 4180) in tidy form: one number in each row. A data frame can filter and pivot it without knowledge of
//! contend.
//!
//! Columns: one for each swept key, then `seed, scope, name, metric, value`. Scope is `run` (name empty), `flow`,
//! `queue`, `transmitter` or `air`. For `air`, the name is a station for `airtime` and `airtime_to`, and an account for
//! `ledger`. An unknown value is an empty field. No crate is needed: quoting takes five lines.

use super::Format;
use super::shape::{points, swept_keys, value_text};
use crate::experiment::results::{Held, Outcome, Percentiles, Run};
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    summary: "every number of every run, one number on each line",
    file: "results.csv",
    can_follow: false,
    write: |o, w| write_csv(o, w),
};

/// Writes a header and all numbers of all runs, one number in each row.
pub fn write_csv(o: &Outcome, mut w: impl Write) -> io::Result<()> {
    let keys = swept_keys(&points(o));
    let header: Vec<String> =
        keys.iter().map(|k| quoted(k)).chain(["seed", "scope", "name", "metric", "value"].map(String::from)).collect();
    writeln!(w, "{}", header.join(","))?;
    for run in &o.runs {
        let mut prefix: String =
            keys.iter().map(|k| run.point.get(k).map(|v| quoted(&value_text(v))).unwrap_or_default() + ",").collect();
        prefix.push_str(&run.seed.to_string());
        write_run(run, |scope, name, metric, value: Option<f64>| {
            let value = value.filter(|v| v.is_finite()).map(|v| v.to_string()).unwrap_or_default();
            writeln!(w, "{prefix},{scope},{},{},{value}", quoted(name), quoted(metric))
        })?;
    }
    Ok(())
}

/// Calls `row(scope, name, metric, value)` for each number of a run.
fn write_run(run: &Run, mut row: impl FnMut(&str, &str, &str, Option<f64>) -> io::Result<()>) -> io::Result<()> {
    row("run", "", "events", Some(run.events as f64))?;
    row("run", "", "wall_s", Some(run.wall_s))?;
    row("run", "", "sim_s", Some(run.sim_s))?;
    for (metric, value) in &run.metrics {
        row("run", "", metric, Some(*value))?;
    }
    for f in &run.flows {
        let mut flow = |metric: &str, value: Option<f64>| row("flow", &f.name, metric, value);
        flow("greedy", Some(f64::from(u8::from(f.greedy))))?;
        flow("goodput_bps", Some(f.goodput_bps))?;
        flow("throughput_bps", Some(f.throughput_bps))?;
        flow("sent", Some(f.sent as f64))?;
        flow("retransmitted", Some(f.retransmitted as f64))?;
        flow("timeouts", Some(f.timeouts as f64))?;
        flow("entered", Some(f.entered as f64))?;
        flow("arrived", Some(f.arrived as f64))?;
        percentiles("rtt_ms", &f.rtt_ms, &mut flow)?;
        percentiles("delay_ms", &f.delay_ms, &mut flow)?;
        flow("completed_s", f.completed_s)?;
        for c in &f.completions_s {
            flow("completion_s", Some(*c))?;
        }
    }
    for q in &run.queues {
        let mut queue = |metric: &str, value: Option<f64>| row("queue", &q.name, metric, value);
        queue("offered", Some(q.offered as f64))?;
        queue("taken", Some(q.taken as f64))?;
        held("waiting", &q.waiting, &mut queue)?;
        queue("dropped", Some(q.dropped as f64))?;
        for (kind, n) in &q.dropped_by_kind {
            queue(&format!("dropped.{kind}"), Some(*n as f64))?;
        }
        queue("marked", Some(q.marked as f64))?;
        queue("filtered", Some(q.filtered as f64))?;
        queue("made", Some(q.made as f64))?;
        queue("lost", Some(q.lost as f64))?;
        queue("mean_packets", Some(q.mean_packets))?;
        queue("mean_delay_ms", q.mean_delay_ms)?;
        percentiles("delay_ms", &q.delay_ms, &mut queue)?;
    }
    for t in &run.transmitters {
        let mut transmitter = |metric: &str, value: Option<f64>| row("transmitter", &t.name, metric, value);
        transmitter("taken", Some(t.taken as f64))?;
        transmitter("delivered", Some(t.delivered as f64))?;
        transmitter("lost", Some(t.lost as f64))?;
        held("carrying", &t.carrying, &mut transmitter)?;
    }
    if let Some(a) = &run.air {
        row("air", "", "frames", Some(a.frames as f64))?;
        row("air", "", "collisions", Some(a.collisions as f64))?;
        row("air", "", "rivals", Some(a.rivals))?;
        row("air", "", "collision_probability", Some(a.collision_probability))?;
        row("air", "", "retry_drops", Some(a.retry_drops as f64))?;
        row("air", "", "busy", Some(a.busy))?;
        for (station, share) in &a.airtime {
            row("air", station, "airtime", Some(*share))?;
        }
        for (station, share) in &a.airtime_to {
            row("air", station, "airtime_to", Some(*share))?;
        }
        for (account, share) in &a.ledger {
            row("air", account, "ledger", Some(*share))?;
        }
    }
    Ok(())
}

fn held(stem: &str, h: &Held, row: &mut impl FnMut(&str, Option<f64>) -> io::Result<()>) -> io::Result<()> {
    row(&format!("{stem}.start"), Some(h.start as f64))?;
    row(&format!("{stem}.end"), Some(h.end as f64))
}

fn percentiles(
    stem: &str,
    p: &Percentiles,
    row: &mut impl FnMut(&str, Option<f64>) -> io::Result<()>,
) -> io::Result<()> {
    for (name, value) in [("mean", p.mean), ("p50", p.p50), ("p95", p.p95), ("p99", p.p99)] {
        row(&format!("{stem}.{name}"), value)?;
    }
    Ok(())
}

/// Quotes a field as RFC 4180 §2 requires: if it contains a comma, a quote or a line break. Inner quotes are doubled.
pub(super) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_field_with_a_comma_or_a_quote_is_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"so\""), "\"say \"\"so\"\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
    }
}
