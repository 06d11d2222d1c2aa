//! `contend tool ap-buffer`: the size of a queue, measured by bursts.

use super::super::real::{self, Format, VERSION};
use super::super::{refused, say, wrong};
use super::ended;
use crate::Done;
use clap::Subcommand;
use contend_tools::address;
use contend_tools::ap_buffer::{self, Burst, LEAST, Listening, PACKETS, Settings, TRIALS};
use miette::Result;
use serde_json::json;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  contend tool ap-buffer receive --listen 0.0.0.0:7001                    on the Wi-Fi station
  sudo chrt -R -f 10 contend tool ap-buffer send 192.168.1.7:7001         on a wired machine

The burst must reach the access point faster than it sends on, without a pause: chrt gives the source the
processor when it needs it. The sink prints the result.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Send bursts, as fast as the interface takes them
    Send(SendArgs),
    /// Receive bursts, and tell the size of the queue
    Receive(ReceiveArgs),
}

#[derive(Debug, clap::Args)]
struct SendArgs {
    /// The sink
    #[arg(value_name = "HOST:PORT")]
    to: String,
    /// Packets in a burst
    #[arg(long, value_name = "N", default_value_t = PACKETS)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    packets: u32,
    /// Payload of each packet; small ones show whether the queue counts packets or bytes
    #[arg(long, value_name = "BYTES", value_parser = real::bytes, default_value = "1472B")]
    payload: usize,
    /// Bursts
    #[arg(long, value_name = "N", default_value_t = TRIALS, value_parser = clap::value_parser!(u32).range(1..=1000))]
    trials: u32,
    /// Pause after a burst
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "2s")]
    quiet: Duration,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, clap::Args)]
struct ReceiveArgs {
    /// Where to listen: :7001 is port 7001 of 127.0.0.1
    #[arg(long, value_name = "[ADDRESS]:PORT")]
    listen: String,
    /// Bursts after which the result is printed
    #[arg(long, value_name = "N", default_value_t = TRIALS, value_parser = clap::value_parser!(u32).range(1..=1000))]
    trials: u32,
    /// A burst ends when nothing has come for so long; shorter than the pause of the source
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "1s")]
    silence: Duration,
    /// Give up when no packet has come for so long (default: waits)
    #[arg(long, value_name = "TIME", value_parser = real::some_time)]
    patience: Option<Duration>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Done> {
    match &args.what {
        What::Send(a) => send(a),
        What::Receive(a) => receive(a),
    }
}

fn send(a: &SendArgs) -> Result<Done> {
    if !(LEAST..=contend_tools::udp::MOST_PAYLOAD).contains(&a.payload) {
        return Err(wrong(
            format!("--payload {} B is not between {LEAST} B and {} B", a.payload, contend_tools::udp::MOST_PAYLOAD),
            "write a payload like 1472B; every packet carries its number and a time",
        ));
    }
    let to = address::resolve(&a.to).map_err(refused)?[0];
    if !contend_tools::clock::is_real_time() {
        say("contend: the source is not a real-time process, so the system may interrupt a burst; \
                sudo chrt -R -f 10 contend tool ap-buffer send ... prevents that");
    }
    let s = Settings { to, packets: a.packets, payload: a.payload, trials: a.trials, quiet: a.quiet };
    let stop = real::stop_on_ctrl_c()?;
    let line = |b: &Burst| {
        format!("{} packets at {:.0} packets/s; longest pause {:.0} us\n", a.packets, b.rate_pps, 1e6 * b.longest_gap_s)
    };
    let mut report = |b: &Burst| {
        if a.format == Format::Table {
            let _ = super::super::print(&line(b));
        }
    };
    let bursts = ap_buffer::send(&s, &stop, &mut report).map_err(refused)?;
    let object = |b: &Burst| json!({"rate_pps": b.rate_pps, "longest_pause_s": b.longest_gap_s});
    a.format.print(String::new, || {
        json!({"schema": "contend/ap-buffer-send/1", "version": VERSION, "to": to.to_string(), "packets": a.packets,
            "payload_bytes": a.payload, "bursts": bursts.iter().map(object).collect::<Vec<_>>()})
    })?;
    Ok(ended(&stop))
}

fn receive(a: &ReceiveArgs) -> Result<Done> {
    let at = address::listening(&a.listen).map_err(refused)?;
    let s = Listening { at, trials: a.trials, silence: a.silence, patience: a.patience };
    let stop = real::stop_on_ctrl_c()?;
    let mut ready = |at| say(&format!("contend: listening on {at}; it ends after {} bursts", a.trials));
    let mut seen = 0;
    let mut report = |trial: ap_buffer::Trial| {
        seen += 1;
        say(&format!("contend: burst {seen} of {}: {}", a.trials, trial.word()));
    };
    let found = ap_buffer::receive(&s, &stop, &mut ready, &mut report).map_err(refused)?;
    a.format.print(|| found.table(), || found.to_json(VERSION))?;
    // Without a good trial there is no size, which a script must see.
    Ok(match ended(&stop) {
        Done::Well if found.packets().is_none() => Done::Unmet,
        done => done,
    })
}
