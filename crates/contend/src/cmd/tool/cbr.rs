//! `contend tool cbr`: a UDP source and its sink.

use super::super::real::{self, Format, VERSION};
use super::super::{print, refused, say, wrong};
use super::{ended, share};
use crate::Done;
use clap::Subcommand;
use contend_tools::cbr::{self, Heard, Listening, Pings, Sent, Settings, Sweep};
use contend_tools::{address, cbr::LARGEST, cbr::LEAST};
use miette::Result;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  contend tool cbr receive --listen 0.0.0.0:7000                 on the machine that counts
  contend tool cbr send 10.0.0.2:7000 --rate 2Mbps               on the machine that sends
  contend tool cbr send 10.0.0.2:7000 --rate 64kbps --until 1024kbps --add 64kbps --step 60s --packet 64B
  contend tool cbr send 10.0.0.2:7000 --rate 1Mbps --rtt --rtt-file rtt.csv";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Send packets
    Send(SendArgs),
    /// Count packets, and answer pings
    Receive(ReceiveArgs),
}

#[derive(Debug, clap::Args)]
struct SendArgs {
    /// The sink
    #[arg(value_name = "HOST:PORT")]
    to: String,
    /// Average rate, of the payload unless --headers is given
    #[arg(long, value_name = "RATE", value_parser = real::rate)]
    rate: u64,
    /// Take the host's IPv6 address
    #[arg(short = '6', long)]
    ipv6: bool,
    /// The source's port (default: any)
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    source_port: u16,
    /// Payload of each packet
    #[arg(long, value_name = "BYTES", value_parser = real::bytes, default_value = "1472B")]
    packet: usize,
    /// Packets that may leave at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    burst: u32,
    /// Highest rate inside a burst (default: the interface's)
    #[arg(long, value_name = "RATE", value_parser = real::rate)]
    peak: Option<u64>,
    /// Count IP and UDP headers in all rates
    #[arg(long)]
    headers: bool,
    /// Raise the rate in steps up to this one
    #[arg(long, value_name = "RATE", value_parser = real::rate)]
    until: Option<u64>,
    /// How long each step lasts
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "60s", requires = "until")]
    step: Duration,
    /// Number of steps, the first rate among them
    #[arg(long, value_name = "N", requires = "until", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    steps: Option<u64>,
    /// What each step adds, in place of --steps
    #[arg(long, value_name = "RATE", requires = "until", conflicts_with = "steps", value_parser = real::rate)]
    add: Option<u64>,
    /// Measure round-trip times: some packets are pings, which the sink answers
    #[arg(long)]
    rtt: bool,
    /// The share of packets that are pings
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "10%", requires = "rtt")]
    rtt_share: f64,
    /// Choose pings at random, with this seed, instead of evenly
    #[arg(long, value_name = "SEED", requires = "rtt")]
    rtt_random: Option<u64>,
    /// Pings whose answers are waited for; older ones count as lost (default: those of two seconds)
    #[arg(long, value_name = "N", requires = "rtt", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rtt_depth: Option<u32>,
    /// Write every round-trip time to this file
    #[arg(long, value_name = "FILE", requires = "rtt")]
    rtt_file: Option<PathBuf>,
    /// End after this time (default: a sweep ends with its last step; otherwise Ctrl-C)
    #[arg(long, value_name = "TIME", value_parser = real::some_time)]
    duration: Option<Duration>,
    /// End after so many packets
    #[arg(long, value_name = "N")]
    packets: Option<u64>,
    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, clap::Args)]
struct ReceiveArgs {
    /// Where to listen: :7000 is port 7000 of 127.0.0.1
    #[arg(long, value_name = "[ADDRESS]:PORT")]
    listen: String,
    /// Count IP and UDP headers in all rates
    #[arg(long)]
    headers: bool,
    /// Leave pings unanswered
    #[arg(long)]
    no_answers: bool,
    /// End after this time (default: at Ctrl-C)
    #[arg(long, value_name = "TIME", value_parser = real::some_time)]
    duration: Option<Duration>,
    #[command(flatten)]
    shown: Shown,
}

/// How results are printed.
#[derive(Debug, clap::Args)]
struct Shown {
    /// Length of the intervals that are printed
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "1s")]
    every: Duration,
    /// Print no line with the names of the columns
    #[arg(long)]
    no_heading: bool,
    /// What to print on standard output: a line for each interval, or one JSON object at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Done> {
    match &args.what {
        What::Send(a) => send(a),
        What::Receive(a) => receive(a),
    }
}

fn sweep(a: &SendArgs) -> Result<Option<Sweep>> {
    let Some(until_bps) = a.until else { return Ok(None) };
    if until_bps <= a.rate {
        return Err(wrong("--until is not above --rate", "a sweep rises: write a higher rate"));
    }
    let add_bps = match (a.steps, a.add) {
        (Some(n), _) => (until_bps - a.rate) / (n - 1),
        (None, Some(add)) => add,
        (None, None) => return Err(wrong("a sweep needs its steps", "give --steps N or --add RATE")),
    };
    if add_bps == 0 {
        return Err(wrong("each step adds less than 1 bit/s", "take fewer steps, or a higher --until"));
    }
    Ok(Some(Sweep { until_bps, add_bps, step: a.step }))
}

fn send(a: &SendArgs) -> Result<Done> {
    if !(LEAST..=LARGEST).contains(&a.packet) {
        return Err(wrong(
            format!("--packet {} B is not between {LEAST} B and {LARGEST} B", a.packet),
            "write a payload like 1472B; every packet carries its number and a time",
        ));
    }
    let found = address::resolve(&a.to).map_err(refused)?;
    let Some(&to) = found.iter().find(|to| !a.ipv6 || to.is_ipv6()) else {
        return Err(wrong(format!("{} has no IPv6 address", a.to), "leave out --ipv6"));
    };
    let pings = Pings { share: a.rtt_share, random: a.rtt_random, depth: a.rtt_depth.map(|d| d as usize) };
    let s = Settings {
        to,
        from_port: a.source_port,
        rate_bps: a.rate,
        peak_bps: a.peak,
        sweep: sweep(a)?,
        packet: a.packet,
        burst: a.burst as usize,
        with_headers: a.headers,
        every: a.shown.every,
        pings: a.rtt.then_some(pings),
        duration: a.duration,
        packets: a.packets,
    };
    let mut file = real::trace_file(a.rtt_file.as_deref())?;
    let mut unwritten = file.as_mut().and_then(|f| writeln!(f, "t_s,rtt_us").err());
    let stop = real::stop_on_ctrl_c()?;
    let table = a.shown.format == Format::Table;
    if table && !a.shown.no_heading {
        print(&format!(
            "{:>9} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>11}\n",
            "s", "asked Mb/s", "sent Mb/s", "packets", "answers", "least ms", "mean ms", "most ms", "sink Mb/s"
        ))?;
    }
    let mut intervals: Vec<Value> = Vec::new();
    let mut report = |i: &Sent| {
        if !table {
            intervals.push(json!({"at_s": i.at_s, "asked_bps": i.asked_bps, "sent_bps": i.sent_bps,
                "packets": i.packets, "refused": i.refused, "answers": i.answers, "rtt_min_s": i.rtt_min_s,
                "rtt_mean_s": i.rtt_mean_s, "rtt_max_s": i.rtt_max_s, "sink_bps": i.received_bps}));
            return;
        }
        let ms = |s: f64| if i.answers > 0 { format!("{:.3}", 1e3 * s) } else { "-".into() };
        let sink = i.received_bps.map_or("-".into(), |b| format!("{:.3}", b as f64 / 1e6));
        let _ = print(&format!(
            "{:>9.3} {:>10.3} {:>10.3} {:>8} {:>8} {:>8} {:>8} {:>8} {sink:>11}\n",
            i.at_s,
            i.asked_bps / 1e6,
            i.sent_bps / 1e6,
            i.packets,
            i.answers,
            ms(i.rtt_min_s),
            ms(i.rtt_mean_s),
            ms(i.rtt_max_s)
        ));
    };
    let mut sample = |t: f64, rtt: f64| {
        if let Some(f) = &mut file
            && unwritten.is_none()
        {
            unwritten = writeln!(f, "{t:.6},{:.1}", 1e6 * rtt).err();
        }
    };
    let total = cbr::send(&s, &stop, &mut report, &mut sample).map_err(refused)?;
    real::close(file, unwritten, a.rtt_file.as_deref())?;
    if total.refused > 0 {
        say(&format!("contend: {} packets were refused: nobody listens on {to}, or there is no route", total.refused));
    }
    a.shown.format.print(
        || {
            let pings =
                if a.rtt { format!(", {} of {} pings answered", total.answers, total.pings) } else { String::new() };
            format!("{} packets, {} B in {:.3} s{pings}\n", total.packets, total.bytes, total.seconds)
        },
        || {
            json!({"schema": "contend/cbr-send/1", "version": VERSION, "to": to.to_string(), "seconds": total.seconds,
            "packets": total.packets, "bytes": total.bytes, "refused": total.refused, "pings": total.pings,
            "answers": total.answers, "intervals": intervals})
        },
    )?;
    Ok(ended(&stop))
}

fn receive(a: &ReceiveArgs) -> Result<Done> {
    let s = Listening {
        at: address::listening(&a.listen).map_err(refused)?,
        every: a.shown.every,
        with_headers: a.headers,
        answers: !a.no_answers,
        duration: a.duration,
    };
    let stop = real::stop_on_ctrl_c()?;
    let table = a.shown.format == Format::Table;
    if table && !a.shown.no_heading {
        print(&format!("{:>9} {:>10} {:>8} {:>8} {}\n", "s", "Mb/s", "packets", "lost", "from"))?;
    }
    let object = |h: &Heard| {
        json!({"from": h.from.to_string(), "at_s": h.at_s, "rate_bps": h.rate_bps, "packets": h.packets,
            "bytes": h.bytes, "lost": h.lost})
    };
    let line =
        |h: &Heard| format!("{:>9.3} {:>10.3} {:>8} {:>8} {}\n", h.at_s, h.rate_bps / 1e6, h.packets, h.lost, h.from);
    let mut intervals = Vec::new();
    let mut report = |h: &Heard| {
        if table {
            let _ = print(&line(h));
        } else {
            intervals.push(object(h));
        }
    };
    let mut ready = |at| say(&format!("contend: listening on {at}; Ctrl-C ends it"));
    let sums = cbr::receive(&s, &stop, &mut ready, &mut report).map_err(refused)?;
    a.shown.format.print(
        || "in all:\n".to_owned() + &sums.iter().map(line).collect::<String>(),
        || {
            json!({"schema": "contend/cbr-receive/1", "version": VERSION, "intervals": intervals,
            "senders": sums.iter().map(object).collect::<Vec<_>>()})
        },
    )?;
    Ok(ended(&stop))
}
