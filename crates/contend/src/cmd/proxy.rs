//! `contend proxy`: relays TCP connections by a TCP sender of one's choice.

use super::real::{self, Format, VERSION};
use super::{refused, say, wrong};
use crate::Done;
use clap::ValueEnum;
use contend_tools::address::{self, Network};
use contend_tools::proxy::{Proxy, Settings};
use contend_tools::tcp::Sending;
use miette::Result;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  contend proxy --listen :8080 --to 10.0.0.2:80 --cc reno
  contend proxy --listen :8080 --to server:80 --rate 10Mbps --mss 536B --format json
  contend proxy --listen 0.0.0.0:8080 --allow 192.168.1.0/24 --to 10.0.0.2:80

Clients connect to the proxy instead of to the target. The proxy serves this machine only, unless --allow
names other clients. Ctrl-C lets open connections end for --grace; a second Ctrl-C cuts them.
docs/tools.md explains each figure.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where clients connect: :8080 is port 8080 of 127.0.0.1
    #[arg(long, value_name = "[ADDRESS]:PORT")]
    listen: String,
    /// The one target, to which every connection goes
    #[arg(long, value_name = "HOST:PORT")]
    to: String,
    /// Clients that are served besides those of this machine: an address, a network like 192.168.1.0/24, or any; may be
    /// given several times
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<String>,
    /// Congestion control of the proxy's senders, by the kernel's name (default: the system's)
    #[arg(long, value_name = "NAME")]
    cc: Option<String>,
    /// Highest rate of each connection, paced by the kernel (SO_MAX_PACING_RATE)
    #[arg(long, value_name = "RATE", value_parser = real::rate)]
    rate: Option<u64>,
    /// Largest segment (TCP_MAXSEG)
    #[arg(long, value_name = "BYTES", value_parser = real::bytes)]
    mss: Option<usize>,
    /// The senders to which --cc, --rate and --mss apply
    #[arg(long, value_enum, default_value_t = Towards::Target)]
    towards: Towards,
    /// The most that waits for one end of a connection; then its sender is held back
    #[arg(long, value_name = "BYTES", value_parser = real::bytes, default_value = "256kB")]
    buffer: usize,
    /// The kernel's memory for data in each direction of each socket; it bounds the window, too (default: it grows as
    /// the kernel sees fit, on a fast path to several MB)
    #[arg(long, value_name = "BYTES", value_parser = real::bytes)]
    kernel_buffer: Option<usize>,
    /// The most connections at one time; further clients wait (default: 10000, or what ulimit -n allows)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: Option<u32>,
    /// How long an address of the target is tried
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "10s")]
    connect_within: Duration,
    /// A connection on which nothing has moved for so long is reset
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "3600s")]
    idle: Duration,
    /// How long open connections may go on after Ctrl-C
    #[arg(long, value_name = "TIME", value_parser = real::duration, default_value = "5s")]
    grace: Duration,
    /// End by itself after this time (default: at Ctrl-C)
    #[arg(long, value_name = "TIME", value_parser = real::some_time)]
    duration: Option<Duration>,
    /// What to print on standard output at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Which of the proxy's two senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Towards {
    /// Data for the target
    Target,
    /// Data for the clients
    Clients,
    /// Both
    Both,
}

pub fn run(args: &Args) -> Result<Done> {
    let listen = address::listening(&args.listen).map_err(refused)?;
    let mut allow = Vec::new();
    for text in &args.allow {
        match text.as_str() {
            "any" => allow.extend(Network::any()),
            _ => allow.push(Network::parse(text).map_err(refused)?),
        }
    }
    if !listen.ip().is_loopback() && allow.is_empty() {
        return Err(wrong(
            format!(
                "the proxy listens on {}, which other machines reach, but nothing says who may use it",
                listen.ip()
            ),
            "name the clients: --allow 192.168.1.0/24 (or --allow any, behind a firewall)",
        ));
    }
    let plain = Sending {
        // What was not sent yet waits in the proxy's buffer, not in a second one of the kernel.
        unsent: Some(u32::try_from(args.buffer).unwrap_or(u32::MAX)),
        kernel_buffer: args.kernel_buffer,
        ..Sending::default()
    };
    let asked = Sending {
        congestion: args.cc.clone(),
        segment: args.mss.map(|m| m as u32),
        rate_bps: args.rate,
        ..plain.clone()
    };
    let given = |to: bool| if to { asked.clone() } else { plain.clone() };
    let proxy = Proxy::open(Settings {
        listen,
        to: address::resolve(&args.to).map_err(refused)?,
        allow,
        to_target: given(args.towards != Towards::Clients),
        to_clients: given(args.towards != Towards::Target),
        buffer: args.buffer,
        connections: args.connections.map(|n| n as usize),
        connect_within: args.connect_within,
        idle: args.idle,
        grace: args.grace,
        duration: args.duration,
    })
    .map_err(refused)?;
    let stop = real::stop_on_ctrl_c()?;
    say(&format!(
        "contend: relaying {} to {}; up to {} connections at once, which buffer up to {:.0} MB; Ctrl-C ends it",
        proxy.address().map_err(refused)?,
        args.to,
        proxy.most(),
        (2 * proxy.most() * args.buffer) as f64 / 1e6
    ));
    let totals = proxy.run(&stop, &mut |what| say(&format!("contend: {what}"))).map_err(refused)?;
    args.format.print(|| totals.table(), || totals.to_json(VERSION))?;
    Ok(if stop.asked() { Done::Stopped } else { Done::Well })
}
