//! `contend analyse`: measures in captures how stations contend for the air, and in captures and traces how
//! TCP senders do.

use super::{print, print_by, refused, wrong};
use crate::Done;
use clap::Subcommand;
use contend_core::Refusal;
use contend_lab::echo::{SENTENCE, echo};
use contend_lab::measuring::analyse::access::{self, Access};
use contend_lab::measuring::analyse::exchange::Exchange;
use contend_lab::measuring::analyse::fingerprint::{self, Fingerprint, First, Verdict};
use contend_lab::measuring::analyse::{Address, CapturedFrames, packets};
use contend_lab::reading::expression::quantity;
use contend_sim::wifi::phy::{Phy, Preamble, Standard};
use contend_tools::monitor::capture::{Connections, Line};
use contend_tools::monitor::summary::{self, Sender};
use miette::{Report, Result};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  contend analyse fingerprint card.pcap                         the busiest sender, 802.11b
  contend analyse fingerprint card.pcap --station 02:00:00:00:00:01 --rate 11Mbps
  contend analyse fingerprint air.pcapng --standard 802.11g --format json
  contend analyse fingerprint results/e1-fingerprint            the air.pcapng from run --capture
  contend analyse access both.pcap --stations best,ef --interval 10s
  contend analyse sender trace.csv                              what contend tool monitor recorded
  contend analyse sender host.pcap                              from tcpdump -w host.pcap tcp
  contend analyse sender host.pcap --flow :5201 --format csv --events > strip.csv
  contend analyse sender results/upload                         the air.pcapng from run --capture

A fingerprint needs a capture in which one saturated station sends and no other station does, with
10,000 frames or more. docs/guide-fingerprint.md explains how to capture and what each verdict means.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Backoffs of one transmitter, counted by slots: do they conform to the standard? (Starzetz 2006 §6.4.1)
    Fingerprint(FingerprintArgs),
    /// Packets of two stations: does each win the air equally often while both have packets to send? (Starzetz 2006
    /// §6.4.2)
    Access(AccessArgs),
    /// Captures of tcpdump, or traces of `contend tool monitor`: how often each TCP sender sends, its window, silences
    /// and errors (Arai et al. 2008 §III.B)
    Sender(SenderArgs),
}

/// The cell in which the capture was made.
#[derive(Debug, clap::Args)]
struct Cell {
    /// 802.11, 802.11b, 802.11a or 802.11g
    #[arg(long, default_value = "802.11b")]
    standard: String,
    /// Rate of the station's data frames (default: the rate in the capture)
    #[arg(long)]
    rate: Option<String>,
    /// Preamble of DSSS frames
    #[arg(long, value_parser = ["long", "short"], default_value = "long")]
    preamble: String,
    /// Basic rates, a list like 1Mbps,2Mbps; an ACK uses the highest of them that is not above the rate of its frame
    /// (default: the standard's)
    #[arg(long)]
    basic: Option<String>,
    /// Size of the station's IP packets in bytes (default: the size in the capture)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=2304))]
    bytes: Option<u32>,
    /// Length of a slot (default: the standard's)
    #[arg(long)]
    slot: Option<String>,
    /// Slots that should be drawn equally often, CWmin + 1 (default: the standard's)
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1024))]
    slots: Option<u32>,
}

#[derive(Debug, clap::Args)]
struct FingerprintArgs {
    /// Captures (pcap or pcapng), or results folders with an air.pcapng
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Address or name of the transmitter (default: the transmitter with the most data frames)
    #[arg(long, value_name = "MAC|NAME")]
    station: Option<String>,
    #[command(flatten)]
    cell: Cell,
    /// Position of the peak of backoff 0 (default: with --rate, the duration of an exchange; otherwise the first peak
    /// found)
    #[arg(long, value_name = "TIME")]
    first: Option<String>,
    /// Significance level: the probability with which a test rejects a card that conforms
    #[arg(long, default_value_t = 0.001, value_parser = share)]
    alpha: f64,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, clap::Args)]
struct AccessArgs {
    /// A capture (pcap or pcapng), or a results folder with an air.pcapng
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Addresses or names of two transmitters, like ap,sta1 (default: the two with the most data frames)
    #[arg(long, value_name = "A,B")]
    stations: Option<String>,
    /// Length of the intervals in which packets are counted
    #[arg(long, value_name = "TIME", default_value = "1s")]
    interval: String,
    #[command(flatten)]
    cell: Cell,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, clap::Args)]
struct SenderArgs {
    /// A capture (pcap or pcapng) of the sending host, a results folder with an air.pcapng, or a file that `contend
    /// tool monitor` wrote
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only connections whose name (own address>address of the peer) contains this
    #[arg(long, value_name = "TEXT")]
    flow: Option<String>,
    /// With a capture and --format csv: one line for each event of each sender, to plot when it sends and what answers
    #[arg(long)]
    events: bool,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table
    Table,
    /// One JSON object; with several files, one object for each, one after another
    Json,
    /// One line for each slot, interval or sender; for one file at a time
    Csv,
}

fn share(text: &str) -> Result<f64, Refusal> {
    text.parse()
        .ok()
        .filter(|x| (1e-12..0.5).contains(x))
        .ok_or_else(|| "write a number between 1e-12 and 0.5, like 0.001".into())
}

/// A duration above 0.
fn time(name: &str, text: &str) -> Result<u64> {
    let span = quantity::span(text)
        .map_err(|e| wrong(format!("--{name} {text}: {}", e.what), "write a duration with its unit, like 20us"))?;
    if span.is_zero() {
        Err(wrong(format!("--{name} {text}: the duration is 0"), "write a duration above 0, like 20us"))
    } else {
        Ok(span.as_nanos())
    }
}

impl Cell {
    fn exchange(&self) -> Result<Exchange> {
        let Some((_, standard)) = Standard::legacy().find(|(n, _)| *n == self.standard) else {
            let names: Vec<&str> = Standard::legacy().map(|(n, _)| n).collect();
            return Err(wrong(
                format!("there is no standard `{}`", self.standard),
                format!("write one of {}", names.join(", ")),
            ));
        };
        let mut phy = Phy::new(standard, if self.preamble == "short" { Preamble::Short } else { Preamble::Long });
        let rate = |phy: &Phy, text: &str| {
            let bps = quantity::rate(text.trim()).map_err(|e| wrong(e.what, "write a rate like 11Mbps"))?;
            let list = || phy.rates().iter().map(|b| format!("{}Mbps", *b as f64 / 1e6)).collect::<Vec<_>>().join(", ");
            phy.rate(bps).ok_or_else(|| {
                wrong(format!("{} has no rate of {text}", self.standard), format!("write one of {}", list()))
            })
        };
        if let Some(basic) = &self.basic {
            phy.basic = basic.split(',').map(|t| rate(&phy, t).map(|r| r.bps)).collect::<Result<_>>()?;
            phy.basic.sort_unstable();
        }
        if let Some(slot) = &self.slot {
            phy.slot = contend_core::Span::from_nanos(time("slot", slot)?);
        }
        let rate = self.rate.as_deref().map(|t| rate(&phy, t)).transpose()?;
        Ok(Exchange { bytes: self.bytes.map(|b| phy.mpdu(b)), rate, phy })
    }

    fn slots(&self, phy: &Phy) -> u32 {
        self.slots.unwrap_or(phy.cw_min + 1)
    }
}

pub fn run(args: &Args) -> Result<Done> {
    match &args.what {
        What::Fingerprint(a) => fingerprints(a),
        What::Access(a) => compare(a),
        What::Sender(a) => senders(a),
    }
}

/// The error about the file at `path`.
fn about(path: &Path) -> impl Fn(Refusal) -> Report {
    move |why| refused(why.of(path.display()))
}

/// Opens the capture at `path`. If `path` is a results folder, the capture in it.
fn open(path: &Path) -> Result<(PathBuf, File)> {
    let inside = path.join("air.pcapng");
    let file = if path.is_dir() { inside.as_path() } else { path };
    if path.is_dir() && !file.is_file() {
        return Err(wrong(
            format!("{} has no air.pcapng", path.display()),
            "let the run write one: contend run FILE --capture 1s..60s",
        ));
    }
    let opened = File::open(file).map_err(|e| {
        wrong(format!("{} cannot be read: {e}", file.display()), "give the path of a capture, or of a results folder")
    })?;
    Ok((file.to_owned(), opened))
}

/// The frames of the capture at `path`.
fn read(path: &Path) -> Result<CapturedFrames> {
    let (file, opened) = open(path)?;
    CapturedFrames::read(BufReader::with_capacity(1 << 16, opened)).map_err(about(&file))
}

fn fingerprints(args: &FingerprintArgs) -> Result<Done> {
    if args.format == Format::Csv && args.files.len() > 1 {
        return Err(wrong(
            format!("--format csv takes one file, but {} files are given", args.files.len()),
            "call contend once for each file, or use --format json",
        ));
    }
    let exchange = args.cell.exchange()?;
    let first = match &args.first {
        Some(t) => First::Given(time("first", t)?),
        None if exchange.rate.is_some() => First::Computed,
        None => First::Found,
    };
    let s = fingerprint::Settings {
        slot_ns: exchange.phy.slot.as_nanos(),
        slots: args.cell.slots(&exchange.phy),
        first,
        alpha: args.alpha,
        exchange,
    };
    // All files are read before anything is printed, so that an error in the last one is the only output.
    let mut out = String::new();
    for path in &args.files {
        let capture = read(path)?;
        let station = capture.station(args.station.as_deref()).map_err(about(path))?;
        let f = fingerprint::fingerprint(&capture, station, &s);
        let label = capture.label(station);
        match args.format {
            Format::Table => {
                if !out.is_empty() {
                    out.push('\n');
                }
                let _ = write!(out, "{}", table(path, &label, &capture, &f, &s));
            }
            Format::Json => out += &format!("{}\n", object(path, &capture, station, &f, &s)),
            Format::Csv => {
                out += "slot,from_us,count,share\n";
                for (k, c) in (0_u64..).zip(&f.counts) {
                    let _ = writeln!(
                        out,
                        "{k},{},{c},{:.6}",
                        us(f.first_ns as f64 + (k * f.slot_ns) as f64),
                        *c as f64 / f.used.max(1) as f64
                    );
                }
            }
        }
    }
    print(&out)?;
    Ok(Done::Well)
}

fn us(ns: f64) -> f64 {
    (ns / 100.0).round() / 10.0
}

fn table(path: &Path, label: &str, capture: &CapturedFrames, f: &Fingerprint, s: &fingerprint::Settings) -> String {
    let mut out = format!("{}: {label}\n", echo(&path.display().to_string(), SENTENCE));
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<14} {text}");
    };
    line("verdict", format!("{}: {}", f.verdict, f.words));
    let g = &f.gaps;
    let rate = g.rate_bps.map_or(String::new(), |r| format!(" at {} Mb/s", r as f64 / 1e6));
    let clock = if capture.tsft { "the receiver's clock (TSFT)" } else { "the capture's clock" };
    line("frames", format!("{} with data, most of {} B (MPDU){rate}; times by {clock}", g.frames, g.bytes));
    let unused: Vec<String> = [
        (g.retries, "end with a retry or with a damaged frame"),
        (g.disturbed, "contain a frame of another station"),
        (g.other, "end with a frame of another length or rate"),
        (g.missed, "contain a frame that the capture missed"),
    ]
    .iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, why)| format!("{n} {why}"))
    .collect();
    line(
        "gaps",
        format!(
            "{} used{}; mean {} us",
            f.used,
            if unused.is_empty() { String::new() } else { format!(", {}", unused.join(", ")) },
            us(f.mean_gap_ns())
        ),
    );
    if f.verdict == Verdict::TooFewFrames {
        return out;
    }
    let how = match s.first {
        First::Found => "the first peak found",
        First::Computed => "computed",
        First::Given(_) => "given",
    };
    let should =
        f.exchange_ns.map_or(String::new(), |e| format!("; an exchange takes {} us by the standard", us(e as f64)));
    line("first peak", format!("{} us, {how}{should}", us(f.first_ns as f64)));
    line(
        "grid",
        format!("slots of {} us, sharpness {:.3}; peaks: {}", us(f.slot_ns as f64), f.sharpness, f.peaks.len()),
    );
    line(
        "mean backoff",
        format!(
            "{:.2} slots, {} us (even: {:.2}); {:.2} % of the gaps outside the {} slots",
            f.mean_slots,
            us(f.mean_slots * f.slot_ns as f64),
            (f.counts.len() as f64 - 1.0) / 2.0,
            100.0 * f.outside,
            f.counts.len()
        ),
    );
    for (name, t) in f.tests() {
        let what = match name {
            "even" => "slots equally often",
            "lags" => "no serial correlation",
            _ => "neighbours independent",
        };
        line(
            name,
            t.map_or("not tested".into(), |t| {
                format!("{what}: chi-square {:.1} with {} degrees of freedom, p = {:.3e}", t.statistic, t.freedom, t.p)
            }),
        );
    }
    if let Some(l) = &f.lags {
        line(
            "correlation",
            format!("{:+.4} of neighbours; largest {:+.4} at lag {}", l.first, l.largest.0, l.largest.1),
        );
    }
    if f.verdict == Verdict::ConstrainedSource {
        let _ = writeln!(out, "  {:>10} {:>9} {:>8}", "peak us", "count", "share");
        for (at, n) in f.peaks.iter().take(64) {
            let _ = writeln!(out, "  {:>10.1} {n:>9} {:>8.5}", us(*at), *n as f64 / f.used as f64);
        }
        return out;
    }
    let most = f.counts.iter().copied().max().unwrap_or(0).max(1);
    let _ = writeln!(out, "  {:>5} {:>10} {:>9} {:>8}", "slot", "from us", "count", "share");
    for (k, c) in (0_u64..).zip(&f.counts) {
        let bar = "#".repeat((c * 40 / most) as usize);
        let row = format!(
            "  {k:>5} {:>10.1} {c:>9} {:>8.5} {bar}",
            us(f.first_ns as f64 + (k * f.slot_ns) as f64),
            *c as f64 / f.used as f64
        );
        let _ = writeln!(out, "{}", row.trim_end());
    }
    out
}

fn object(
    path: &Path,
    capture: &CapturedFrames,
    station: Address,
    f: &Fingerprint,
    s: &fingerprint::Settings,
) -> Value {
    let tests: serde_json::Map<String, Value> = f
        .tests()
        .into_iter()
        .map(|(n, t)| {
            (
                n.to_owned(),
                t.map_or(Value::Null, |t| json!({"chi_square": t.statistic, "freedom": t.freedom, "p": t.p})),
            )
        })
        .collect();
    let g = &f.gaps;
    json!({
        "schema": "contend/fingerprint/1",
        "version": env!("CARGO_PKG_VERSION"),
        "file": path.display().to_string(),
        "station": station.to_string(),
        "name": capture.names.get(&station),
        "verdict": f.verdict.to_string(),
        "words": f.words,
        "alpha": s.alpha,
        "frames": g.frames,
        "frame_bytes": g.bytes,
        "rate_bps": g.rate_bps,
        "clock": if capture.tsft { "tsft" } else { "capture" },
        "gaps": {"used": f.used, "retries": g.retries, "disturbed": g.disturbed, "other": g.other,
        "missed": g.missed, "mean_us": f.mean_gap_ns() / 1e3},
        "slot_us": f.slot_ns as f64 / 1e3,
        "first_us": f.first_ns as f64 / 1e3,
        "exchange_us": f.exchange_ns.map(|e| e as f64 / 1e3),
        "sharpness": f.sharpness,
        "window_slots": f.window,
        "slots": f.counts,
        "outside": f.outside,
        "missing": f.missing,
        "mean_backoff_slots": f.mean_slots,
        "tests": tests,
        "correlation": f.lags.as_ref().map(|l| json!({"neighbours": l.first, "largest": l.largest.0,
        "lag": l.largest.1})),
        "peaks_us": f.peaks.iter().map(|(at, n)| json!([at / 1e3, n])).collect::<Vec<_>>(),
        "histogram_us": f.histogram_us.iter().collect::<Vec<_>>(),
    })
}

fn compare(args: &AccessArgs) -> Result<Done> {
    let exchange = args.cell.exchange()?;
    let interval_ns = time("interval", &args.interval)?;
    let capture = read(&args.file)?;
    let pair = match &args.stations {
        Some(text) => {
            let Some((a, b)) = text.split_once(',') else {
                return Err(wrong(
                    format!("--stations {text} names one station"),
                    "name two, like --stations sta1,sta2",
                ));
            };
            let find = |name: &str| capture.station(Some(name.trim())).map_err(about(&args.file));
            [find(a)?, find(b)?]
        }
        None => match capture.transmitters().as_slice() {
            [a, b, ..] => [a.0, b.0],
            all => {
                return Err(wrong(
                    format!(
                        "{}: {} station sends data frames, but two stations are needed",
                        args.file.display(),
                        all.len()
                    ),
                    "capture while two stations send",
                ));
            }
        },
    };
    if pair[0] == pair[1] {
        return Err(wrong("--stations names the same station twice", "name two, like --stations sta1,sta2"));
    }
    let s = access::Settings { interval_ns, slots: args.cell.slots(&exchange.phy), exchange };
    let found = access::access(&capture, pair, &s).map_err(about(&args.file))?;
    let labels = pair.map(|a| capture.label(a));
    let share =
        |k: usize| found.parts[k].attempts as f64 / (found.parts[0].attempts + found.parts[1].attempts).max(1) as f64;
    let rows = || found.parts[0].per_interval.iter().zip(&found.parts[1].per_interval).enumerate();
    let step = interval_ns as f64 / 1e9;
    print(&match args.format {
        Format::Json => format!("{}\n", access_object(args, &capture, &found, step)),
        Format::Csv => {
            let mut out = "from_s,packets_a,packets_b\n".to_owned();
            for (i, (a, b)) in rows() {
                let _ = writeln!(out, "{},{a},{b}", i as f64 * step);
            }
            out
        }
        Format::Table => {
            let file = echo(&args.file.display().to_string(), SENTENCE);
            let mut out = format!("{file}: {} and {}\n", labels[0], labels[1]);
            let _ = writeln!(out, "  {:.3} s, both backlogged for {:.3} s", found.span_s, found.both_s);
            let _ =
                writeln!(out, "  {:<40} {:>9} {:>9} {:>9} {:>8}", "station", "packets", "per s", "attempts", "share");
            for (k, p) in found.parts.iter().enumerate() {
                let _ = writeln!(
                    out,
                    "  {:<40} {:>9} {:>9.1} {:>9} {:>8.4}",
                    labels[k],
                    p.packets,
                    p.packets as f64 / found.span_s.max(1e-9),
                    p.attempts,
                    share(k)
                );
            }
            out += &match found.p {
                Some(p) => format!(
                    "  attempts while both are backlogged: if shares are equal, p = {p:.3e} for this or more \
                        (binomial)\n"
                ),
                None => "  the two stations are never backlogged at the same time: equal access cannot be tested\n"
                    .to_owned(),
            };
            let _ = writeln!(out, "  {:>10} {:>9} {:>9}", "from s", "a", "b");
            for (i, (a, b)) in rows() {
                let _ = writeln!(out, "  {:>10.3} {a:>9} {b:>9}", i as f64 * step);
            }
            out
        }
    })?;
    Ok(Done::Well)
}

fn access_object(args: &AccessArgs, capture: &CapturedFrames, found: &Access, step: f64) -> Value {
    let part = |p: &access::Part| {
        json!({"station": p.station.to_string(), "name": capture.names.get(&p.station),
        "packets": p.packets, "attempts_both": p.attempts, "per_interval": p.per_interval})
    };
    json!({
        "schema": "contend/access/1",
        "version": env!("CARGO_PKG_VERSION"),
        "file": args.file.display().to_string(),
        "span_s": found.span_s,
        "both_backlogged_s": found.both_s,
        "interval_s": step,
        "stations": found.parts.iter().map(part).collect::<Vec<_>>(),
        "p_equal": found.p,
    })
}

fn senders(args: &SenderArgs) -> Result<Done> {
    let path = match args.files.as_slice() {
        [path] => path,
        files => {
            return Err(wrong(
                format!("analyse sender takes one file, but {} are given", files.len()),
                "call contend once for each; parts of one capture can be joined: mergecap -F pcap -w whole.pcap FILES",
            ));
        }
    };
    if args.events && args.format != Format::Csv {
        return Err(wrong("--events prints lines of comma-separated values", "add --format csv"));
    }
    let (path, file) = open(path)?;
    let about = about(&path);
    let unreadable = |e: io::Error| {
        about(Refusal::new(format!("it cannot be read: {e}"), "give a capture, or a file of contend tool monitor"))
    };
    // Content decides: a trace is text, a capture begins with other bytes.
    let mut magic = Vec::new();
    (&file).take(4).read_to_end(&mut magic).map_err(unreadable)?;
    let trace = magic.is_ascii() && magic.first().is_some_and(u8::is_ascii_graphic);
    let whole = magic.as_slice().chain(BufReader::with_capacity(1 << 16, file));
    let wanted = |flow: &str| args.flow.as_ref().is_none_or(|text| flow.contains(text.as_str()));
    if args.events {
        if trace {
            return Err(wrong(
                format!("--events: {} is not a capture", path.display()),
                "give a capture; the lines of a trace are events already: its columns t_s and event",
            ));
        }
        strip(&path, whole, &wanted)?;
        return Ok(Done::Well);
    }
    let mut began_ns = None;
    let mut all =
        if trace { summary::read(whole) } else { captured(whole, &mut began_ns, &mut |_| Ok(())) }.map_err(&about)?;
    all.retain(|s| wanted(&s.flow));
    print(&match args.format {
        Format::Json => format!(
            "{}\n",
            json!({"schema": "contend/sender/1", "version": env!("CARGO_PKG_VERSION"),
                "file": path.display().to_string(),
                "began_s": began_ns.map(|ns| (ns as f64 / 1e3).round() / 1e6),
                "senders": all.iter().map(Sender::to_json).collect::<Vec<_>>()})
        ),
        Format::Table if all.is_empty() => "no connection\n".to_owned(),
        Format::Table => {
            let table = all.iter().map(Sender::table).collect::<Vec<_>>().join("\n");
            if trace { table } else { format!("{table}\n{UNKNOWN}\n") }
        }
        Format::Csv => Sender::csv_heading() + &all.iter().map(Sender::csv).collect::<String>(),
    })?;
    Ok(Done::Well)
}

/// What the table of a capture says about its dashes.
const UNKNOWN: &str = "\
-: a capture does not tell. It shows bytes in flight, not the window; and neither the congestion control
nor a full queue of the sender (local_congestion). contend tool monitor records these.";

/// The senders of a capture. `each` gets every event.
fn captured(
    capture: impl Read,
    began_ns: &mut Option<u64>,
    each: &mut dyn FnMut(Line<'_>) -> Result<(), Refusal>,
) -> Result<Vec<Sender>, Refusal> {
    let mut connections = Connections::default();
    packets::read(capture, &mut |began, p| {
        *began_ns = Some(began);
        let mut told = Ok(());
        let used = connections.packet(p.at_ns, p.place, p.bytes, p.length, p.damaged, &mut |line| {
            if told.is_ok() {
                told = each(line);
            }
        })?;
        told.map(|()| used)
    })?;
    connections.end()
}

/// Prints the events of the senders that are `wanted`, while the capture is read.
fn strip(path: &Path, capture: impl Read, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    let mut read = Ok(Vec::new());
    print_by(|out| {
        let (mut failed, mut heading) = (None, Line::HEADING);
        read = captured(capture, &mut None, &mut |line| {
            if !wanted(line.flow) {
                return Ok(());
            }
            let text = [std::mem::take(&mut heading), &line.csv()].concat();
            out.write_all(text.as_bytes()).map_err(|e| {
                failed = Some(e);
                Refusal::new("standard output is closed", "")
            })
        });
        match failed {
            Some(e) => {
                read = Ok(Vec::new());
                Err(e)
            }
            None => Ok(()),
        }
    })?;
    read.map(|_| ()).map_err(about(path))
}
