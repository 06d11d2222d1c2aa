//! `contend model fcwa` and `contend model buffer`: windows for a queue, and queues for a window (Keceli 2008 §III).

use super::{Cell, Counts, Times, answer, invalid, list, quantity};
use crate::Done;
use crate::cmd::wrong;
use contend_lab::reading::expression::{Dimension, Quantity};
use contend_theory::cycle_time::{Cycle, Pairs};
use contend_theory::fcwa::{Mix, fixed_window};
use miette::Result;

/// The flows of a cell.
#[derive(Debug, clap::Args)]
pub(super) struct Flows {
    /// Numbers of uploads: a number, a list like 0,5,10 or a range like 1..15
    #[arg(long, default_value = "1..15", value_parser = flows)]
    up: Counts,
    /// Numbers of downloads; lists of equal length go pairwise, one number goes with all (default: as many as uploads)
    #[arg(long, value_parser = flows)]
    down: Option<Counts>,
    /// Data packets per TCP ACK
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    ack: u32,
    /// LD, one-way delay of the wired side
    #[arg(long, default_value = "50ms")]
    delay: String,
    #[command(flatten)]
    cell: Cell,
}

fn flows(s: &str) -> Result<Counts, String> {
    list(s, 0, "flows")
}

/// Packets, as in `100p`.
pub(super) fn packets(s: &str) -> Result<u32, String> {
    match Quantity::parse(s) {
        Ok(q) if q.unit == Dimension::Packets && q.value.fract() == 0.0 && (0.0..=1e9).contains(&q.value) => {
            Ok(q.value as u32)
        }
        _ => Err("write a whole number of packets like 100p".into()),
    }
}

/// One row of a table.
struct Row {
    up: u32,
    down: u32,
    mix: Mix,
    /// With the cycle time of form M1.
    m1: Mix,
}

/// The cell's times, LD in microseconds, and a row for each pair of counts.
fn rows(f: &Flows) -> Result<(Times, f64, Vec<Row>)> {
    let t = f.cell.times()?;
    let delay = quantity::span(&f.delay).map_err(|e| wrong(format!("--delay: {e}"), "write a duration like 50ms"))?;
    let (up, down) = (&f.up.0, f.down.as_ref().map_or(&f.up.0, |d| &d.0));
    let n = up.len().max(down.len());
    if [up.len(), down.len()].iter().any(|&l| l != n && l != 1) {
        let what = format!("--up has {} numbers and --down {}", up.len(), down.len());
        return Err(wrong(what, "give both the same length, so that they go pairwise, or one of them a single number"));
    }
    let pairs = |c: Result<Cycle, _>| c.and_then(|c: Cycle| c.pairs(t.slot_us, t.data_us, t.ack_us)).map_err(invalid);
    let (m2, m1) = (pairs(Cycle::m2(&t.backoff))?, pairs(Cycle::m1(&t.backoff))?);
    let at = |of: &[u32], i: usize| of.get(i).or(of.first()).copied().unwrap_or(0);
    let mut rows = Vec::with_capacity(n);
    for i in 0..n {
        let (up, down) = (at(up, i), at(down, i));
        let mix = |p: &Pairs| -> Result<Mix> {
            let (n_up, n_down, b) = (f64::from(up), f64::from(down), f64::from(f.ack));
            Ok(Mix { n_up, n_down, b, ct_ap: p.ct_ap(n_up, n_down, b).map_err(invalid)? })
        };
        rows.push(Row { up, down, mix: mix(&m2)?, m1: mix(&m1)? });
    }
    Ok((t, delay.as_nanos() as f64 / 1e3, rows))
}

fn head(f: &Flows, t: &Times, more: &str) -> String {
    let acks =
        if f.ack == 1 { "each packet acknowledged".to_owned() } else { format!("one ACK for {} packets", f.ack) };
    format!("{}, {acks}, LD {}, {more}\n", t.title, f.delay)
}

pub(super) fn windows(f: &Flows, buffer: u32) -> Result<Done> {
    let (t, delay, rows) = rows(f)?;
    let mut out = head(f, &t, &format!("buffer of {buffer} packets"));
    out += &format!(
        "{:>5} {:>5} {:>10} {:>12} {:>9} {:>7} {:>9} {:>7} {:>10}\n",
        "up", "down", "CT_AP ms", "CT_flow ms", "W_lim", "whole", "with M1", "BS/n", "Mb/s (IP)"
    );
    let mut json = Vec::new();
    for r in &rows {
        let ct_flow = r.mix.ct_flow().map_err(invalid)?;
        let window = r.mix.window(delay, buffer.into()).map_err(invalid)?;
        let m1 = r.m1.window(delay, buffer.into()).map_err(invalid)?;
        let fixed = fixed_window(r.up.saturating_add(r.down), buffer);
        let whole = (window.floor() as u64).max(1);
        // Bits per microsecond are Mb/s.
        let mbps = r.mix.throughput(t.payload_bits).map_err(invalid)?;
        out += &format!(
            "{:>5} {:>5} {:>10.4} {:>12.3} {window:>9.2} {whole:>7} {m1:>9.2} {fixed:>7} {mbps:>10.2}\n",
            r.up,
            r.down,
            r.mix.ct_ap / 1e3,
            ct_flow / 1e3
        );
        json.push(serde_json::json!({"up": r.up, "down": r.down, "ct_ap_us": r.mix.ct_ap, "ct_flow_us": ct_flow, "window_packets": window,
            "window_whole_packets": whole, "window_m1_packets": m1, "fixed_window_packets": fixed, "throughput_bps": mbps * 1e6}));
    }
    out += "W_lim: largest window with which the access point's queue does not overflow (cycle time by M2; M1 beside \
        it).\n";
    out += "BS/n: the fixed rule of Pilosof and others. Mb/s: all flows with W_lim.\n";
    answer(&f.cell.printed, "fcwa", &out, json)
}

pub(super) fn buffers(f: &Flows, window: u32) -> Result<Done> {
    let (t, delay, rows) = rows(f)?;
    let mut out = head(f, &t, &format!("windows of {window} packets"));
    out +=
        &format!("{:>5} {:>5} {:>10} {:>12} {:>11} {:>7}\n", "up", "down", "CT_AP ms", "CT_flow ms", "BS_AP", "whole");
    let mut json = Vec::new();
    for r in &rows {
        let ct_flow = r.mix.ct_flow().map_err(invalid)?;
        let buffer = r.mix.buffer(delay, window.into()).map_err(invalid)?;
        let whole = (buffer.ceil() as u64).max(1);
        out += &format!(
            "{:>5} {:>5} {:>10.4} {:>12.3} {buffer:>11.2} {whole:>7}\n",
            r.up,
            r.down,
            r.mix.ct_ap / 1e3,
            ct_flow / 1e3
        );
        json.push(serde_json::json!({"up": r.up, "down": r.down, "ct_ap_us": r.mix.ct_ap, "ct_flow_us": ct_flow, "buffer_packets": buffer,
            "buffer_whole_packets": whole}));
    }
    out +=
        "BS_AP: smallest queue of the access point that does not overflow; below 0 the windows do not fill the path.\n";
    answer(&f.cell.printed, "buffer", &out, json)
}
