//! `contend model fcwa` and `contend model buffer`: the window for a given queue, and the queue for a given window
//! (Keceli 2008 §III).

use super::{Answer, Cell, Counts, Given, Times, list, micro, quantity, value};
use crate::cmd::{refused, wrong};
use contend_core::Refusal;
use contend_lab::reading::expression::{Dimension, Quantity};
use miette::Result;

/// The flows of a cell.
#[derive(Debug, clap::Args)]
pub(super) struct Flows {
    /// Numbers of uploads: a number, a list like 0,5,10 or a range like 1..15
    #[arg(long, default_value = "1..15", value_parser = flows)]
    up: Counts,
    /// Numbers of downloads (default: as many as uploads). Lists of equal length are combined pairwise; a single number
    /// is combined with each number of the other list
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

fn flows(s: &str) -> Result<Counts, Refusal> {
    list(s, 0, "flows")
}

/// Packets, as in `100p`.
pub(super) fn packets(s: &str) -> Result<u32, Refusal> {
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
    /// The arguments of the closed forms.
    case: Vec<Given<'static>>,
    /// CT_AP and CT_flow, in microseconds.
    cycle: f64,
    flow: f64,
}

/// The cell's times, and a row for each pair of counts.
fn rows(f: &Flows) -> Result<(Times, Vec<Row>)> {
    let t = f.cell.times()?;
    let delay = quantity::span(&f.delay).map_err(|e| refused(e.of("--delay")))?;
    let (up, down) = (&f.up.0, f.down.as_ref().map_or(&f.up.0, |d| &d.0));
    let n = up.len().max(down.len());
    if [up.len(), down.len()].iter().any(|&l| l != n && l != 1) {
        let what = format!("--up has {} numbers, but --down has {}", up.len(), down.len());
        return Err(wrong(what, "give both lists the same length, or give one of them a single number"));
    }
    let at = |of: &[u32], i: usize| of.get(i).or(of.first()).copied().unwrap_or(0);
    let mut rows = Vec::with_capacity(n);
    for i in 0..n {
        let (up, down) = (at(up, i), at(down, i));
        let mut case = f.cell.backoff(&t, f.cell.attempts).to_vec();
        case.extend([("n_up", "--up", up.into()), ("n_down", "--down", down.into()), ("b", "--ack", f.ack.into())]);
        case.extend([("ts_data", "--packet", t.data), ("ts_ack", "--rate", t.ack)]);
        case.push(("delay", "--delay", delay.as_secs_f64()));
        let (cycle, flow) = (micro(value("cycle_time", &case)?), micro(value("fcwa.flow_time", &case)?));
        rows.push(Row { up, down, case, cycle, flow });
    }
    Ok((t, rows))
}

fn head(f: &Flows, t: &Times, more: &str) -> String {
    let acks = if f.ack == 1 { "one ACK for each packet".to_owned() } else { format!("one ACK for {} packets", f.ack) };
    format!("{}, {acks}, LD {}, {more}\n", t.title, f.delay)
}

pub(super) fn windows(f: &Flows, buffer: u32) -> Result<Answer> {
    let (t, rows) = rows(f)?;
    let mut out = head(f, &t, &format!("buffer of {buffer} packets"));
    out += &format!(
        "{:>5} {:>5} {:>10} {:>12} {:>9} {:>7} {:>9} {:>7} {:>10}\n",
        "up", "down", "CT_AP ms", "CT_flow ms", "W_lim", "whole", "with M1", "BS/n", "Mb/s (IP)"
    );
    let mut json = Vec::new();
    for r in &rows {
        let more = |more: &[Given<'static>]| [&r.case, more].concat();
        let waiting = ("buffer", "--buffer", f64::from(buffer));
        let window = value("fcwa.window", &more(&[waiting]))?;
        let m1 = value("fcwa.window", &more(&[waiting, ("form", "", 1.0)]))?;
        let flows = ("n", "--up", f64::from(r.up) + f64::from(r.down));
        let fixed = value("fcwa.fixed_window", &[flows, waiting])?;
        let whole = (window.floor() as u64).max(1);
        let bps = value("fcwa.throughput", &more(&[("payload", "--packet", f.cell.packet.into())]))?;
        out += &format!(
            "{:>5} {:>5} {:>10.4} {:>12.3} {window:>9.2} {whole:>7} {m1:>9.2} {fixed:>7} {:>10.2}\n",
            r.up,
            r.down,
            r.cycle / 1e3,
            r.flow / 1e3,
            bps / 1e6
        );
        json.push(serde_json::json!({
            "up": r.up, "down": r.down, "ct_ap_us": r.cycle, "ct_flow_us": r.flow, "window_packets": window,
            "window_whole_packets": whole, "window_m1_packets": m1, "fixed_window_packets": fixed as u64,
            "throughput_bps": bps}));
    }
    out += "W_lim: largest window with which the access point's queue does not overflow (cycle time by M2).\n";
    out += "with M1: W_lim with the cycle time by M1. BS/n: fixed rule of Pilosof et al. Mb/s: all flows, W_lim.\n";
    Ok(Answer::new("fcwa", out, json))
}

pub(super) fn buffers(f: &Flows, window: u32) -> Result<Answer> {
    let (t, rows) = rows(f)?;
    let mut out = head(f, &t, &format!("windows of {window} packets"));
    out +=
        &format!("{:>5} {:>5} {:>10} {:>12} {:>11} {:>7}\n", "up", "down", "CT_AP ms", "CT_flow ms", "BS_AP", "whole");
    let mut json = Vec::new();
    for r in &rows {
        let filling = [("window", "--window", f64::from(window))];
        let buffer = value("fcwa.buffer", &[&r.case[..], &filling].concat())?;
        let whole = (buffer.ceil() as u64).max(1);
        out += &format!(
            "{:>5} {:>5} {:>10.4} {:>12.3} {buffer:>11.2} {whole:>7}\n",
            r.up,
            r.down,
            r.cycle / 1e3,
            r.flow / 1e3
        );
        json.push(serde_json::json!({
            "up": r.up, "down": r.down, "ct_ap_us": r.cycle, "ct_flow_us": r.flow, "buffer_packets": buffer,
            "buffer_whole_packets": whole}));
    }
    out +=
        "BS_AP: smallest queue of the access point that does not overflow; below 0 if windows do not fill the path.\n";
    Ok(Answer::new("buffer", out, json))
}
