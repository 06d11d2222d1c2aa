//! `contend model`: the closed forms as a calculator.

mod fcwa;
mod jersey;
mod numbers;
mod starzetz;

use super::{print, wrong};
use crate::Done;
use clap::Subcommand;
use contend_lab::reading::expression::quantity;
use contend_sim::wifi::phy::{ACK_BYTES, Phy, Preamble, Standard};
use contend_theory::bianchi::saturation;
use contend_theory::cycle_time::Cycle;
use contend_theory::two_station::{self, BusySlot};
use contend_theory::{Backoff, SlotTimes};
use miette::Result;

const EXAMPLES: &str = "\
Examples:
  contend model bianchi --stations 1..10 --standard 802.11b
  contend model bianchi --stations 5,50 --endless --json
  contend model cycle-time --set slot=20us --set cwmin=31
  contend model fcwa --up 5 --down 5 --ack 1 --delay 50ms --buffer 100p --set slot=20us
  contend model buffer --up 1..15 --window 42p --set slot=20us
  contend model jersey --wireless 0.1%,1%,10% --rtt 100ms --delay 95ms
  contend model padhye --loss 0.5%,1% --rtt 96.2ms --ack 2 --window 20p
  contend model aiad --sources 1..20 --queue 10ms --format json
  contend model gaiad --sources 5,50 --alpha 2 --beta 1
  contend model hash --stations 2..10 --slots 32,1024 --dist hash1
  contend model hash --stations 5,10 --collisions 9.7%,16.3% --success-wait 2.16 --collision-wait 2.23
  contend model backoff-cost --stations 2..50 --slots 32 --cost 68 --format csv";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    calculator: Calculator,
}

#[derive(Debug, Subcommand)]
enum Calculator {
    /// Saturation throughput and collision probability of n stations (Bianchi 2000, with a limit on attempts)
    Bianchi {
        /// Numbers of stations: a list like 1,2,5 or a range like 1..10
        #[arg(long, default_value = "1,2,5,10,20,50", value_parser = counts)]
        stations: Counts,
        /// Retry without end, as Bianchi's paper has it
        #[arg(long)]
        endless: bool,
        #[command(flatten)]
        cell: Cell,
    },
    /// Largest windows that do not overflow the access point's queue (Keceli 2008 eqs. 2-9)
    Fcwa {
        #[command(flatten)]
        flows: fcwa::Flows,
        /// BS_AP, packets that may wait at the access point
        #[arg(long, default_value = "100p", value_parser = fcwa::packets)]
        buffer: u32,
    },
    /// Queue of the access point that given windows need (Keceli 2008 eq. 10)
    Buffer {
        #[command(flatten)]
        flows: fcwa::Flows,
        /// Window of each flow
        #[arg(long, default_value = "42p", value_parser = fcwa::packets)]
        window: u32,
    },
    /// Rates of Reno and TCP-Jersey and what telling link errors from congestion gains them (Jersey 2005 eqs.
    /// 8.21-8.29)
    Jersey(jersey::Jersey),
    /// Rate of a TCP Reno flow that loses packets at random (Padhye 1998; Jersey 2005 eqs. 2.2-2.4)
    Padhye(jersey::Padhye),
    /// Whether sources that fall back to their achievable rate settle at a bottleneck (Jersey 2005 chapter 6)
    Aiad(jersey::AiadArgs),
    /// The same for sources that set a rate, with any delays (Jersey 2005 chapter 9)
    Gaiad(jersey::GaiadArgs),
    /// Collisions and waits of stations that draw a slot and forget it, and the window of a rate of collisions
    /// (Starzetz 2006 §8.1.1)
    Hash(starzetz::Hash),
    /// Channel time that backoffs waste, and the distribution that wastes least (Starzetz 2006 §8.1.2)
    BackoffCost(starzetz::BackoffCost),
    /// Mean cycle time of two saturated stations by frame types (Medepalli and Tobagi; the block under FCWA)
    CycleTime {
        #[command(flatten)]
        cell: Cell,
    },
}

/// The calculators, with what they say of themselves and their options.
pub(super) fn calculators() -> Vec<clap::Command> {
    Calculator::augment_subcommands(clap::Command::new("model"))
        .get_subcommands()
        .filter(|c| c.get_name() != "help")
        .cloned()
        .collect()
}

/// The cell a model is worked out for.
#[derive(Debug, clap::Args)]
struct Cell {
    /// 802.11, 802.11b, 802.11a or 802.11g
    #[arg(long, default_value = "802.11g")]
    standard: String,
    /// Data rate (default: the standard's highest)
    #[arg(long)]
    rate: Option<String>,
    /// Rate of ACKs, as far as they may be sent at it (default: the standard's lowest of its own kind, 6Mbps for
    /// 802.11g)
    #[arg(long)]
    basic: Option<String>,
    /// Size of an IP packet in bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u32).range(1..=2296))]
    packet: u32,
    /// A value of the PHY tables to replace: slot, sifs, cwmin, cwmax or signal_extension, as in --set slot=20us
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Most attempts of a frame
    #[arg(long, default_value_t = 7)]
    attempts: u32,
    #[command(flatten)]
    printed: Printed,
}

/// How an answer is printed.
#[derive(Debug, clap::Args)]
struct Printed {
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Shape::Table)]
    format: Shape,
    /// The same as --format json
    #[arg(long)]
    json: bool,
}

/// Prints what a model answers: `table`, or its rows as flat objects.
fn answer(printed: &Printed, model: &str, table: &str, rows: Vec<serde_json::Value>) -> Result<Done> {
    match if printed.json { Shape::Json } else { printed.format } {
        Shape::Table => print(table)?,
        Shape::Json => {
            print(&format!("{}\n", serde_json::json!({"schema": "contend/model/1", "model": model, "rows": rows})))?
        }
        Shape::Csv => print(&csv(&rows))?,
    }
    Ok(Done::Well)
}

/// A line of names and one for each row; a list in a field is parted by spaces.
fn csv(rows: &[serde_json::Value]) -> String {
    let empty = serde_json::Map::new();
    let rows: Vec<_> = rows.iter().map(|r| r.as_object().unwrap_or(&empty)).collect();
    let names: Vec<&String> = rows.first().map(|r| r.keys().collect()).unwrap_or_default();
    let plain = |v: &serde_json::Value| match v {
        serde_json::Value::String(s) => s.clone(),
        serde_json::Value::Null => String::new(),
        v => v.to_string(),
    };
    let field = |v: Option<&serde_json::Value>| {
        let text = match v {
            Some(serde_json::Value::Array(a)) => a.iter().map(plain).collect::<Vec<_>>().join(" "),
            Some(v) => plain(v),
            None => String::new(),
        };
        if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    };
    let mut out = names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(",") + "\n";
    for r in rows {
        out += &(names.iter().map(|n| field(r.get(*n))).collect::<Vec<_>>().join(",") + "\n");
    }
    out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shape {
    /// A table
    Table,
    /// One JSON object and nothing else
    Json,
    /// A line of names and a line for each row
    Csv,
}

/// A list of counts.
#[derive(Clone, Debug)]
struct Counts(Vec<u32>);

/// Most stations, and most rows of a table.
const MOST: u32 = 100_000;

fn counts(s: &str) -> Result<Counts, String> {
    list(s, 1, "stations")
}

/// A list of numbers of `what`, each at least `least`.
fn list(s: &str, least: u32, what: &str) -> Result<Counts, String> {
    let remedy = "write a list like 1,2,5 or a range like 1..10";
    let number = |t: &str| match t.trim().parse::<u32>() {
        Ok(n) if (least..=MOST).contains(&n) => Ok(n),
        Ok(n) => Err(format!("{n} {what} are not between {least} and {MOST}")),
        Err(_) => Err(format!("`{t}` is not a number of {what}; {remedy}")),
    };
    let mut all = Vec::new();
    for part in s.split(',') {
        match part.split_once("..") {
            Some((a, b)) => match (number(a)?, number(b)?) {
                (a, b) if a > b => return Err(format!("the range {a}..{b} is empty; {remedy}")),
                (a, b) => all.extend(a..=b),
            },
            None => all.push(number(part)?),
        }
        if all.len() > MOST as usize {
            return Err(format!("more than {MOST} rows; {remedy}"));
        }
    }
    Ok(Counts(all))
}

/// Durations of a cell in microseconds.
struct Times {
    /// `802.11g at 54 Mb/s, 1500 B packets`.
    title: String,
    backoff: Backoff,
    slot_us: f64,
    /// Exchange of a data packet, DIFS included.
    data_us: f64,
    /// Exchange of a 40-byte TCP ACK.
    ack_us: f64,
    payload_bits: f64,
}

impl Cell {
    fn times(&self) -> Result<Times> {
        let standard = Standard::ALL.iter().find(|(n, _)| *n == self.standard);
        let Some((_, standard)) = standard else {
            let names: Vec<&str> = Standard::ALL.iter().map(|(n, _)| *n).collect();
            return Err(wrong(
                format!("there is no standard `{}`", self.standard),
                format!("write one of {}", names.join(", ")),
            ));
        };
        let mut phy = Phy::new(*standard, Preamble::Long);
        for s in &self.set {
            let Some((key, value)) = s.split_once('=') else {
                return Err(wrong(format!("--set {s}: there is no `=`"), "write --set slot=20us"));
            };
            let span =
                || quantity::span(value).map_err(|e| wrong(format!("--set {s}: {e}"), "write a duration like 20us"));
            let count = || {
                value
                    .parse::<u32>()
                    .map_err(|_| wrong(format!("--set {s}: not a whole number"), "write a number of slots like 15"))
            };
            match key {
                "slot" => phy.slot = span()?,
                "sifs" => phy.sifs = span()?,
                "signal_extension" => phy.signal_extension = span()?,
                "cwmin" => phy.cw_min = count()?,
                "cwmax" => phy.cw_max = count()?,
                _ => {
                    return Err(wrong(
                        format!("--set {key}: a model does not take this key"),
                        "use slot, sifs, signal_extension, cwmin or cwmax",
                    ));
                }
            }
        }
        let mbps = |bps: u64| bps as f64 / 1e6;
        let all = Phy::rates(*standard);
        let rate = |text: &str| {
            let bps = quantity::rate(text).map_err(|e| wrong(e, "write a rate like 54Mbps"))?;
            let list = || all.iter().map(|b| format!("{}Mbps", mbps(*b))).collect::<Vec<_>>().join(", ");
            phy.rate(bps).ok_or_else(|| {
                wrong(format!("{} has no rate of {text}", self.standard), format!("write one of {}", list()))
            })
        };
        let known = |bps: Option<&u64>| {
            bps.and_then(|b| phy.rate(*b))
                .ok_or_else(|| wrong("the standard has no rates", "choose another --standard"))
        };
        let data = self.rate.as_deref().map_or_else(|| known(all.last()), rate)?;
        let lowest = if *standard == Standard::G { Some(&6_000_000) } else { all.first() };
        let basic = self.basic.as_deref().map_or_else(|| known(lowest), rate)?;
        phy.basic = vec![basic.bps];
        let answer = phy.response_rate(data);
        let tail = phy.sifs + answer.airtime(ACK_BYTES).total + phy.difs();
        let us = |ip: u32| (data.airtime(phy.mpdu(ip)).total + tail).as_nanos() as f64 / 1e3;
        Ok(Times {
            title: format!("{} at {} Mb/s, {} B packets", self.standard, mbps(data.bps), self.packet),
            backoff: Backoff { cw_min: phy.cw_min, cw_max: phy.cw_max, attempts: Some(self.attempts) },
            slot_us: phy.slot.as_nanos() as f64 / 1e3,
            data_us: us(self.packet),
            ack_us: us(40),
            payload_bits: f64::from(self.packet) * 8.0,
        })
    }
}

pub fn run(args: &Args) -> Result<Done> {
    match &args.calculator {
        Calculator::Bianchi { stations, endless, cell } => bianchi(cell, &stations.0, *endless),
        Calculator::CycleTime { cell } => cycle_time(cell),
        Calculator::Fcwa { flows, buffer } => fcwa::windows(flows, *buffer),
        Calculator::Jersey(a) => jersey::jersey(a),
        Calculator::Padhye(a) => jersey::padhye(a),
        Calculator::Aiad(a) => jersey::aiad(a),
        Calculator::Gaiad(a) => jersey::gaiad(a),
        Calculator::Hash(a) => starzetz::hash(a),
        Calculator::BackoffCost(a) => starzetz::backoff_cost(a),
        Calculator::Buffer { flows, window } => fcwa::buffers(flows, *window),
    }
}

fn invalid(e: contend_theory::Invalid) -> miette::Report {
    wrong(e, "see contend model --help for what each value means")
}

/// What the closed form `model` of [`contend_lab::reading::model`] yields; `arguments` by their parameters' names, in base units.
fn value(model: &str, arguments: &[(&str, f64)]) -> Result<f64> {
    let remedy = "see contend model --help for what each value means";
    let known = contend_lab::reading::model::named(model)
        .ok_or_else(|| wrong(format!("there is no model `{model}`"), remedy))?;
    let given = |name: &str| arguments.iter().find(|a| a.0 == name).map(|a| a.1);
    known.value_of(|p| given(p.name)).map_err(|e| wrong(e, remedy))
}

fn bianchi(cell: &Cell, stations: &[u32], endless: bool) -> Result<Done> {
    let t = cell.times()?;
    let backoff = Backoff { attempts: if endless { None } else { t.backoff.attempts }, ..t.backoff };
    let times = SlotTimes { slot_us: t.slot_us, ts_us: t.data_us, tc_us: t.data_us, payload_bits: t.payload_bits };
    let mut rows = Vec::new();
    for &n in stations {
        rows.push((n, saturation(&backoff, &times, n).map_err(invalid)?));
    }
    let json = rows
            .iter()
            .map(|(n, s)| serde_json::json!({"stations": n, "tau": s.tau, "collision_probability": s.p, "throughput_bps": s.throughput_bps, "drop_probability": s.drop, "service_us": s.service_us}))
            .collect();
    let mut out = format!(
        "{}, exchange {:.1} us, slot {} us, CW {}..{}\n",
        t.title, t.data_us, t.slot_us, backoff.cw_min, backoff.cw_max
    );
    out += &format!(
        "{:>9} {:>9} {:>12} {:>14} {:>12} {:>12}\n",
        "stations", "tau", "collision p", "Mb/s (IP)", "drop p", "service ms"
    );
    for (n, s) in &rows {
        out += &format!(
            "{n:>9} {:>9.6} {:>12.4} {:>14.3} {:>12.2e} {:>12.3}\n",
            s.tau,
            s.p,
            s.throughput_bps / 1e6,
            s.drop,
            s.service_us / 1e3
        );
    }
    out += "Every counter goes down in busy slots too (busy_slot = \"counted\"); a collision takes as long as a \
        success.\n";
    answer(&cell.printed, "bianchi", &out, json)
}

fn cycle_time(cell: &Cell) -> Result<Done> {
    let t = cell.times()?;
    let forms = [
        ("M2, frozen counters (use this)", Cycle::m2(&t.backoff).map_err(invalid)?),
        ("M1, Bianchi's renewal form", Cycle::m1(&t.backoff).map_err(invalid)?),
        ("exact chain, frozen", Cycle::exact(&t.backoff, BusySlot::Frozen).map_err(invalid)?),
    ];
    let mut rows = Vec::new();
    for (name, c) in &forms {
        rows.push((*name, c.pairs(t.slot_us, t.data_us, t.ack_us).map_err(invalid)?));
    }
    let json =
        rows.iter().map(|(n, p)| serde_json::json!({"form": n, "data_data_us": p.data_data, "data_ack_us": p.data_ack, "ack_ack_us": p.ack_ack})).collect();
    let mut out = format!("{}: mean time in which each of two saturated stations succeeds once, in us\n", t.title);
    out += &format!("{:<34} {:>12} {:>12} {:>12}\n", "", "DATA-DATA", "DATA-ACK", "ACK-ACK");
    for (name, p) in &rows {
        out += &format!("{name:<34} {:>12.2} {:>12.2} {:>12.2}\n", p.data_data, p.data_ack, p.ack_ack);
    }
    let s = two_station::solve(&t.backoff, BusySlot::Frozen).map_err(invalid)?;
    out += &format!("Collision probability of an attempt (exact chain, frozen): {:.4}\n", s.p);
    answer(&cell.printed, "cycle-time", &out, json)
}
