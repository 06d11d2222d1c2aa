//! `contend live`: an experiment on a page of the browser, which runs anew with every change.

use super::common::Common;
use super::run::{settings_of, stop_on_ctrl_c};
use super::{common, complete, refused, say, wrong};
use crate::Done;
use contend_lab::opening;
use contend_lab::reading::file::from_disk;
use contend_page::session::Session;
use miette::Result;
use std::io::ErrorKind;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  contend live hotspot                          open the address that it prints
  contend live my.toml --seeds 1..5             each change runs five seeds
  contend live hotspot --set ap.queue=fq_codel  another value to begin with

The page has a slider or a choice for each parameter and each swept key of the file, and for any key that
you add. Only this machine can open it, with the token in its address. Nothing is written; the page hands
out the experiment file of its values.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The experiment file, or the name of an example
    #[arg(value_name = "FILE", add = complete::files())]
    file: PathBuf,
    /// Seeds of each run, like 1..5
    #[arg(long, default_value = "1")]
    seeds: String,
    /// Set a key of the file, like wifi.slot=20us; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", add = complete::settings())]
    set: Vec<String>,
    /// Try several values of a key, like ap.queue=fifo,fq_codel
    #[arg(long = "sweep", value_name = "KEY=VALUE,...", add = complete::settings())]
    sweep: Vec<String>,
    /// Runs at the same time, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = common::jobs)]
    jobs: Option<u16>,
    /// Port of the page (default: any free one)
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

pub fn run(args: Args) -> Result<Done> {
    let common =
        Common { seeds: Some(args.seeds), set: args.set, sweep: args.sweep, ..Common::plain(args.jobs, false) };
    let text = opening::text(&args.file).map_err(refused)?;
    let sets = settings_of(&text, &common)?;
    let stop = stop_on_ctrl_c();
    let name = args.file.display().to_string();
    let Some(session) = Session::new(name, text, sets, from_disk, &stop)? else {
        return Ok(Done::Stopped);
    };
    let ready = |address: &str| {
        // Scripts read the address from standard output.
        let _ = super::print(&format!("{address}\n"));
        say("contend: open this address in a browser on this machine; Ctrl-C ends");
    };
    let jobs = args.jobs.map_or(0, usize::from);
    contend_live::serve(session, jobs, args.port, connections(), &stop, ready).map_err(|e| match e.kind() {
        ErrorKind::AddrInUse => {
            wrong(format!("port {} is taken by another program", args.port), "choose another --port, or none")
        }
        ErrorKind::PermissionDenied => {
            wrong(format!("port {} needs more rights", args.port), "choose a --port from 1024 on, or none")
        }
        _ => wrong(format!("the page cannot be served: {e}"), "`contend run` writes a report without a server"),
    })?;
    Ok(Done::Well)
}

/// How many connections the page may have at a time.
#[cfg(target_os = "linux")]
fn connections() -> usize {
    use contend_tools::descriptors::{OTHERS, raised};
    let possible = raised(contend_live::CONNECTIONS + OTHERS).map_or(0, |limit| limit.saturating_sub(OTHERS));
    possible.clamp(1, contend_live::CONNECTIONS)
}

/// How many connections the page may have at a time: every system has descriptors for so many.
#[cfg(not(target_os = "linux"))]
fn connections() -> usize {
    200
}
