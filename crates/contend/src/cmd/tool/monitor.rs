//! `contend tool monitor`: records the TCP senders of this machine.

use super::super::real::{self, Format, VERSION};
use super::super::{refused, say, wrong};
use super::ended;
use crate::Done;
use contend_tools::monitor::{self, Settings};
use miette::Result;
use serde_json::json;
use std::io::Write as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  contend tool monitor trace.csv --port 5201 --duration 30s      all connections with this port
  contend analyse sender trace.csv                               what the trace says

Run it on the machine that sends. It needs no privileges.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to write, for `contend analyse sender`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only connections with this port at either end
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Only connections to this address
    #[arg(long, value_name = "ADDRESS")]
    peer: Option<IpAddr>,
    /// Time between two samples of a connection
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "10ms")]
    every: Duration,
    /// Time between two looks for new connections
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "20ms")]
    look: Duration,
    /// End after this time (default: at Ctrl-C)
    #[arg(long, value_name = "TIME", value_parser = real::some_time)]
    duration: Option<Duration>,
    /// What to print on standard output at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub fn run(a: &Args) -> Result<Done> {
    let peer = a.peer.map(|ip| ip.to_canonical());
    let s = Settings { peer, port: a.port, every: a.every, look: a.look, duration: a.duration };
    let file = real::trace_file(Some(&a.file))?;
    let Some(mut out) = file else { return Err(wrong("there is no file to write", "name one, like trace.csv")) };
    let stop = real::stop_on_ctrl_c()?;
    let counted = monitor::record(&s, &stop, &mut out).map_err(refused)?;
    let unwritten = out.flush().err();
    real::close(Some(out), unwritten, Some(&a.file))?;
    if counted.unwatched > 0 {
        say("contend: more than 1000 connections at once: some were not watched; choose with --port or --peer");
    }
    a.format.print(
        || {
            format!(
                "{}: {} connections, {} lines from {} samples\n",
                a.file.display(),
                counted.sockets,
                counted.lines,
                counted.samples
            )
        },
        || {
            json!({"schema": "contend/monitor/1", "version": VERSION, "file": a.file.display().to_string(),
            "connections": counted.sockets, "lines": counted.lines, "samples": counted.samples,
            "unwatched": counted.unwatched})
        },
    )?;
    Ok(ended(&stop))
}
