//! `contend model`: the closed forms as a calculator.

mod ampdu;
mod barreto;
mod fcwa;
mod jersey;
mod l4s;
mod numbers;
mod one;
mod ppdu;
mod starzetz;

use super::{print, wrong};
use crate::Done;
use clap::{ArgAction, ArgMatches, FromArgMatches, Subcommand};
use contend_core::Refusal;
use contend_lab::reading::expression::quantity;
use contend_lab::reading::model::{models, named};
use contend_sim::wifi::phy::{ACK_BYTES, Phy, Preamble, Standard};
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
  contend model hash --stations 5 --collisions 9.7% --success-wait 2.16 --collision-wait 2.23
  contend model backoff-cost --stations 2..50 --slots 32 --cost 68 --format csv
  contend model rt-winf --packet 1500,300 --rate 11Mbps
  contend model hops --hops 1..8 --packet 1500 --rate 2Mbps --overhead 34 --propagation 667ns --link-layer 25us
  contend model ppdu --standard 802.11ax --width 80MHz --streams 2 --mcs 9 --guard 800ns --psdu 65535B
  contend model bianchi.throughput --n 1..10 --slot 9us --ts 159.6us --tc 159.6us --payload 1472B
  contend model ampdu --rate 144.4Mbps,144.4Mbps,7.2Mbps --aggregate 4.47,5.08,1.89
  contend model l4s --rtt 10ms,20ms,80ms --marks 1%,10%

Every closed form of `contend list models` is a calculator too. A list makes a table:
  contend model padhye.rate --p 0.1%,1%,10% --rtt 100ms --t0 1s
  contend model fcwa.window --help";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    chosen: Chosen,
    #[command(flatten)]
    printed: Printed,
}

/// The chosen model: a calculator with a table of its own, or one closed form by its name.
#[derive(Debug)]
enum Chosen {
    Table(Calculator),
    One(one::One),
}

impl Subcommand for Chosen {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        Calculator::augment_subcommands(command).subcommands(models().map(one::command))
    }
    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Chosen::augment_subcommands(command)
    }
    fn has_subcommand(name: &str) -> bool {
        Calculator::has_subcommand(name) || named(name).is_some()
    }
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Chosen, clap::Error> {
        match matches.subcommand().and_then(|(name, inner)| Some((named(name)?, inner))) {
            Some((model, inner)) => Ok(Chosen::One(one::One::read(model, inner))),
            None => Calculator::from_arg_matches(matches).map(Chosen::Table),
        }
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Chosen::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Subcommand)]
enum Calculator {
    /// Saturation throughput and collision probability of n stations (Bianchi 2000, with a limit on attempts)
    ///
    /// For 802.11n, ac, ax and be the closed form is `bianchi.throughput`, which takes times instead of a standard:
    /// --ts and --tc are the duration of a frame or an aggregate (`contend model ppdu`) with SIFS, its acknowledgment
    /// and DIFS; --payload is that of the whole aggregate.
    Bianchi {
        /// Numbers of stations: a list like 1,2,5 or a range like 1..10
        #[arg(long, default_value = "1,2,5,10,20,50", value_parser = counts)]
        stations: Counts,
        /// Retry without limit, as in Bianchi's paper
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
    /// Rates of Reno and TCP-Jersey, and their gain if they can tell link errors from congestion (Jersey 2005 eqs.
    /// 8.21-8.29)
    Jersey(jersey::Jersey),
    /// Rate of a TCP Reno flow that loses packets at random (Padhye 1998; Jersey 2005 eqs. 2.2-2.4)
    Padhye(jersey::Padhye),
    /// Whether sources that fall back to their achievable rate settle at a bottleneck (Jersey 2005 chapter 6)
    Aiad(jersey::AiadArgs),
    /// Whether sources that set a rate settle at a bottleneck, with any delays (Jersey 2005 chapter 9)
    Gaiad(jersey::GaiadArgs),
    /// Collisions and waits of stations that draw a new slot in every cycle, and the window for a given share of
    /// collisions (Starzetz 2006 §8.1.1)
    Hash(starzetz::Hash),
    /// Channel time that backoffs waste, and the distribution of backoffs that wastes least (Starzetz 2006 §8.1.2)
    BackoffCost(starzetz::BackoffCost),
    /// What rt-Winf measures on one link: capacity, available bandwidth, and the limit TH_80211b (Barreto 2012 §4.3)
    RtWinf(barreto::RtWinf),
    /// Delay of one packet over a chain of idle stations, hop by hop (IEEE 802.11-2016 §10.3.4; DCF without backoff)
    Hops(barreto::Hops),
    /// How long a frame of 802.11n, ac, ax or be lasts: preamble, symbols, duration and data rate (IEEE 802.11-2020 §19
    /// and §21, 802.11ax-2021 §27, 802.11be-2024 §36)
    Ppdu(ppdu::Ppdu),
    /// Rates of stations with aggregated frames, with one queue for all and with airtime fairness (Høiland-Jørgensen et
    /// al. 2017 §2.2)
    Ampdu(ampdu::Ampdu),
    /// Windows and rates of TCP Prague under marks, and its share beside another Prague flow, Reno and CUBIC behind a
    /// coupled queue (RFC 9331, RFC 9332)
    L4s(l4s::L4s),
    /// Mean time in which two saturated stations succeed once each, by frame types (Medepalli and Tobagi; used by FCWA)
    CycleTime {
        #[command(flatten)]
        cell: Cell,
    },
}

/// The calculators, with their help texts and options.
pub(super) fn calculators() -> Vec<clap::Command> {
    Calculator::augment_subcommands(clap::Command::new("model"))
        .get_subcommands()
        .filter(|c| c.get_name() != "help")
        .cloned()
        .collect()
}

/// The cell for which a model is computed.
#[derive(Debug, clap::Args)]
struct Cell {
    /// 802.11, 802.11b, 802.11a or 802.11g
    #[arg(long, default_value = "802.11g")]
    standard: String,
    /// Data rate (default: the standard's highest)
    #[arg(long)]
    rate: Option<String>,
    /// Basic rate, used for ACKs if the data rate permits it (default: 6Mbps for 802.11g, otherwise the standard's
    /// lowest)
    #[arg(long)]
    basic: Option<String>,
    /// Size of an IP packet in bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u32).range(1..=2296))]
    packet: u32,
    /// Replace a value of the PHY tables: slot, sifs, cwmin, cwmax or signal_extension, as in --set slot=20us
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Largest number of attempts for a frame
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=255))]
    attempts: u32,
}

/// How a result is printed.
#[derive(Debug, clap::Args)]
struct Printed {
    /// What to print on standard output
    #[arg(long, global = true, value_enum, default_value_t = Shape::Table)]
    format: Shape,
    /// The same as --format json
    #[arg(long, global = true)]
    json: bool,
}

/// What a calculator found.
struct Answer {
    model: &'static str,
    /// The result for a reader.
    table: String,
    /// The result for a program: flat objects.
    rows: Vec<serde_json::Value>,
}

impl Answer {
    fn new(model: &'static str, table: String, rows: Vec<serde_json::Value>) -> Answer {
        Answer { model, table, rows }
    }

    fn print(&self, printed: &Printed) -> Result<()> {
        match if printed.json { Shape::Json } else { printed.format } {
            Shape::Table => print(&self.table),
            Shape::Json => {
                let all = serde_json::json!({"schema": "contend/model/1", "model": self.model, "rows": self.rows});
                print(&format!("{all}\n"))
            }
            Shape::Csv => print(&csv(&self.rows)),
        }
    }
}

/// CSV: a line of names, then a line for each row. Spaces separate the values of a list.
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
    /// One JSON object
    Json,
    /// A line of names and a line for each row
    Csv,
}

/// A list of counts.
#[derive(Clone, Debug)]
struct Counts(Vec<u32>);

/// Largest number of stations, and of rows in a table.
const MOST: u32 = 100_000;

fn counts(s: &str) -> Result<Counts, Refusal> {
    list(s, 1, "stations")
}

/// A list of numbers of `what`, each at least `least`.
fn list(s: &str, least: u32, what: &str) -> Result<Counts, Refusal> {
    let remedy = "write a list like 1,2,5 or a range like 1..10";
    let number = |t: &str| match t.trim().parse::<u32>() {
        Ok(n) if (least..=MOST).contains(&n) => Ok(n),
        Ok(_) => Err(Refusal::new(format!("the number of {what} must be from {least} to {MOST}"), remedy)),
        Err(_) => Err(Refusal::new(format!("`{t}` is not a number of {what}"), remedy)),
    };
    let mut all = Vec::new();
    for part in s.split(',') {
        match part.split_once("..") {
            Some((a, b)) => match (number(a)?, number(b)?) {
                (a, b) if a > b => return Err(Refusal::new(format!("the range {a}..{b} is empty"), remedy)),
                (a, b) => all.extend(a..=b),
            },
            None => all.push(number(part)?),
        }
        if all.len() > MOST as usize {
            return Err(Refusal::new(format!("the list makes more than {MOST} rows"), remedy));
        }
    }
    Ok(Counts(all))
}

/// The properties of a cell that closed forms need, in base units.
struct Times {
    /// `802.11g at 54 Mb/s, 1500 B packets`.
    title: String,
    cw_min: u32,
    cw_max: u32,
    slot: f64,
    /// Duration of the exchange of a data packet, DIFS included.
    data: f64,
    /// Duration of the exchange of a 40-byte TCP ACK, DIFS included.
    ack: f64,
}

impl Cell {
    fn times(&self) -> Result<Times> {
        let standard = Standard::legacy().find(|(n, _)| *n == self.standard);
        let Some((_, standard)) = standard else {
            let names: Vec<&str> = Standard::legacy().map(|(n, _)| n).collect();
            let names = names.join(", ");
            return Err(if Standard::ALL.iter().any(|(n, _)| *n == self.standard) {
                wrong(
                    format!("{} has aggregates, which this model does not know", self.standard),
                    format!(
                        "write one of {names}; or take the duration of an aggregate from `contend model ppdu`, and \
                            give it to a closed form that takes times, like `contend model bianchi.throughput --ts` or \
                            `contend model cycle_time`"
                    ),
                )
            } else {
                wrong(format!("there is no standard `{}`", self.standard), format!("write one of {names}"))
            });
        };
        let mut phy = Phy::new(standard, Preamble::Long);
        for s in &self.set {
            let Some((key, value)) = s.split_once('=') else {
                return Err(wrong(format!("--set {s}: there is no `=`"), "write --set slot=20us"));
            };
            let span = || {
                quantity::span(value).map_err(|e| wrong(format!("--set {s}: {}", e.what), "write a duration like 20us"))
            };
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
                        format!("--set {key}: the key is unknown to `contend model`"),
                        "use slot, sifs, signal_extension, cwmin or cwmax",
                    ));
                }
            }
        }
        let mbps = |bps: u64| bps as f64 / 1e6;
        let all = standard.rates(phy.band);
        let rate = |text: &str| {
            let bps = quantity::rate(text).map_err(|e| wrong(e.what, "write a rate like 54Mbps"))?;
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
        let lowest = if standard == Standard::G { Some(&6_000_000) } else { all.first() };
        let basic = self.basic.as_deref().map_or_else(|| known(lowest), rate)?;
        phy.basic = vec![basic.bps];
        let answer = phy.response_rate(data);
        let tail = phy.sifs + answer.airtime(ACK_BYTES).total + phy.difs();
        let exchange = |ip: u32| (data.airtime(phy.mpdu(ip)).total + tail).as_secs_f64();
        Ok(Times {
            title: format!("{} at {} Mb/s, {} B packets", self.standard, mbps(data.bps), self.packet),
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            slot: phy.slot.as_secs_f64(),
            data: exchange(self.packet),
            ack: exchange(40),
        })
    }

    /// The arguments for the slot and the backoff. `attempts` is 0 if a frame may be sent without limit.
    fn backoff(&self, t: &Times, attempts: u32) -> [Given<'static>; 4] {
        [
            ("slot", "--set slot", t.slot),
            ("cwmin", "--set cwmin", t.cw_min.into()),
            ("cwmax", "--set cwmax", t.cw_max.into()),
            ("attempts", "--attempts", attempts.into()),
        ]
    }
}

pub fn run(args: &Args) -> Result<Done> {
    args.chosen.answer()?.print(&args.printed)?;
    Ok(Done::Well)
}

impl Chosen {
    fn answer(&self) -> Result<Answer> {
        match self {
            Chosen::Table(calculator) => calculator.answer(),
            Chosen::One(one) => one::answer(one),
        }
    }
}

impl Calculator {
    fn answer(&self) -> Result<Answer> {
        match self {
            Calculator::Bianchi { stations, endless, cell } => bianchi(cell, &stations.0, *endless),
            Calculator::CycleTime { cell } => cycle_time(cell),
            Calculator::Fcwa { flows, buffer } => fcwa::windows(flows, *buffer),
            Calculator::Jersey(a) => jersey::jersey(a),
            Calculator::Padhye(a) => jersey::padhye(a),
            Calculator::Aiad(a) => jersey::aiad(a),
            Calculator::Gaiad(a) => jersey::gaiad(a),
            Calculator::Hash(a) => starzetz::hash(a),
            Calculator::BackoffCost(a) => starzetz::backoff_cost(a),
            Calculator::RtWinf(a) => barreto::rt_winf(a),
            Calculator::Hops(a) => barreto::hops(a),
            Calculator::Ppdu(a) => ppdu::ppdu(a),
            Calculator::Ampdu(a) => ampdu::ampdu(a),
            Calculator::L4s(a) => l4s::l4s(a),
            Calculator::Buffer { flows, window } => fcwa::buffers(flows, *window),
        }
    }
}

/// A calculator of `contend model`, for callers in other languages.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// What it computes, and the source.
    pub doc: String,
    /// Its options.
    pub settings: Vec<Setting>,
}

/// An option of a calculator.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name, without the hyphens in front.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// The default as a user would write it; `None` if there is none.
    pub default: Option<String>,
    /// What it takes.
    pub kind: Kind,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: it is given or not.
    Flag,
    /// One text, which may be a list.
    Text,
    /// It may be given several times, each time with one text.
    Texts,
}

/// All calculators.
pub fn described() -> Vec<Described> {
    let setting = |a: &clap::Arg| Setting {
        name: a.get_long().unwrap_or_else(|| a.get_id().as_str()).to_owned(),
        doc: a.get_help().map(ToString::to_string).unwrap_or_default(),
        default: a.get_default_values().first().map(|v| v.to_string_lossy().into_owned()),
        kind: match a.get_action() {
            ArgAction::SetTrue => Kind::Flag,
            ArgAction::Append => Kind::Texts,
            _ => Kind::Text,
        },
    };
    let of = |c: &clap::Command| Described {
        name: c.get_name().to_owned(),
        doc: c.get_about().map(ToString::to_string).unwrap_or_default(),
        settings: c.get_arguments().filter(|a| a.get_id() != "help").map(setting).collect(),
    };
    calculators().iter().map(of).collect()
}

/// The rows that `contend model NAME` prints with `--format json`. `options` are as on the command line.
///
/// # Errors
/// When there is no such calculator, or an option is wrong.
pub fn calculate(name: &str, options: &[String]) -> Result<Vec<serde_json::Value>, Refusal> {
    let words = [name].into_iter().chain(options.iter().map(String::as_str));
    let command = Calculator::augment_subcommands(clap::Command::new("model").no_binary_name(true));
    let chosen = command.try_get_matches_from(words).and_then(|m| Calculator::from_arg_matches(&m));
    let chosen = chosen.map_err(|e| {
        let text = e.render().to_string();
        let mut lines = text.lines().map(|l| l.trim().trim_start_matches("error: ")).filter(|l| !l.is_empty());
        Refusal::new(lines.next().unwrap_or_default(), format!("`contend model {name} --help` shows the options"))
    })?;
    chosen.answer().map(|a| a.rows).map_err(|e| {
        let remedy = e.help().map(|h| h.to_string()).unwrap_or_default();
        Refusal::new(e.to_string(), remedy)
    })
}

/// An argument of a closed form: the parameter's name, the option that sets it, and the value in base units.
type Given<'a> = (&'a str, &'a str, f64);

/// The value of the closed form `model`. It may be infinite.
fn value(model: &str, arguments: &[Given]) -> Result<f64> {
    let remedy = format!("change the options; `contend explain {model}` explains its parameters");
    let known = named(model).ok_or_else(|| wrong(format!("there is no model `{model}`"), &remedy))?;
    let given = |name: &str| arguments.iter().find(|a| a.0 == name);
    for p in known.parameters {
        if let Some((_, option, x)) = given(p.name) {
            p.check(*x).map_err(|e| wrong(format!("{option} {}", e.what), e.remedy))?;
        }
    }
    // A closed form names its fields with their units: delay_s is the option --delay.
    let in_options = |why: &str| {
        let option = |word: &str| {
            let (field, after) = word.strip_suffix(',').map_or((word, ""), |field| (field, ","));
            let name = field.strip_suffix("_s").or_else(|| field.strip_suffix("_pps"))?;
            let of_field = |a: &&Given| a.0 == name || a.1.trim_start_matches('-') == name;
            arguments.iter().find(of_field).map(|a| format!("{}{after}", a.1))
        };
        why.split(' ').map(|word| option(word).unwrap_or_else(|| word.to_owned())).collect::<Vec<_>>().join(" ")
    };
    known
        .value_of(|p| given(p.name).map(|a| a.2))
        .map_err(|e| wrong(format!("{model}: {}", in_options(&e.what)), &remedy))
}

fn bianchi(cell: &Cell, stations: &[u32], endless: bool) -> Result<Answer> {
    let t = cell.times()?;
    let mut out = format!(
        "{}, exchange {:.1} us, slot {} us, CW {}..{}\n",
        t.title,
        t.data * 1e6,
        micro(t.slot),
        t.cw_min,
        t.cw_max
    );
    out += &format!(
        "{:>9} {:>9} {:>12} {:>14} {:>12} {:>12}\n",
        "stations", "tau", "collision p", "Mb/s (IP)", "drop p", "service ms"
    );
    let mut rows = Vec::new();
    for &n in stations {
        let mut case = cell.backoff(&t, if endless { 0 } else { cell.attempts }).to_vec();
        case.extend([("n", "--stations", n.into()), ("ts", "--packet", t.data), ("tc", "--packet", t.data)]);
        case.push(("payload", "--packet", cell.packet.into()));
        let of = |model| value(model, &case);
        let (tau, p) = (of("bianchi.tau")?, of("bianchi.collision_probability")?);
        let (bps, drop, service) =
            (of("bianchi.throughput")?, of("bianchi.drop_probability")?, of("bianchi.service_time")?);
        out += &format!("{n:>9} {tau:>9.6} {p:>12.4} {:>14.3} {drop:>12.2e} {:>12.3}\n", bps / 1e6, service * 1e3);
        rows.push(serde_json::json!({"stations": n, "tau": tau, "collision_probability": p, "throughput_bps": bps,
            "drop_probability": drop, "service_us": micro(service)}));
    }
    out += "Backoffs also count busy slots (busy_slot = \"counted\"). A collision takes as long as a success.\n";
    Ok(Answer::new("bianchi", out, rows))
}

/// Names of the cycle-time forms. The index is the argument `form` of the closed forms.
const FORMS: [&str; 3] = ["M2, frozen counters (use this)", "M1, Bianchi's renewal form", "exact chain, frozen"];

fn cycle_time(cell: &Cell) -> Result<Answer> {
    let t = cell.times()?;
    let backoff = cell.backoff(&t, cell.attempts);
    let mut out = format!("{}: mean time in which each of two saturated stations succeeds once, in us\n", t.title);
    out += &format!("{:<34} {:>12} {:>12} {:>12}\n", "", "DATA-DATA", "DATA-ACK", "ACK-ACK");
    let mut rows = Vec::new();
    for (form, name) in (0_u32..).zip(FORMS) {
        let pair = |x: f64, y: f64| {
            let case = [("ts_x", "--packet", x), ("ts_y", "--packet", y), ("form", "", form.into())];
            value("cycle_time.pair", &[&backoff[..], &case].concat()).map(micro)
        };
        let (both, mixed, acks) = (pair(t.data, t.data)?, pair(t.data, t.ack)?, pair(t.ack, t.ack)?);
        out += &format!("{name:<34} {both:>12.2} {mixed:>12.2} {acks:>12.2}\n");
        rows.push(serde_json::json!({"form": name, "data_data_us": both, "data_ack_us": mixed, "ack_ack_us": acks}));
    }
    let p = value("two_station.collision_probability", &backoff)?;
    out += &format!("Collision probability of an attempt (exact chain, frozen): {p:.4}\n");
    Ok(Answer::new("cycle-time", out, rows))
}

/// Converts seconds to microseconds and rounds to a picosecond, so that a decimal fraction given in microseconds is
/// printed unchanged.
fn micro(seconds: f64) -> f64 {
    (seconds * 1e12).round() / 1e6
}
