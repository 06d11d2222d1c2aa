//! `contend tool`: what the papers measured with, on real networks.

mod ap_buffer;
mod cbr;
mod htbench;
mod monitor;

use crate::Done;
use clap::Subcommand;
use contend_core::Refusal;
use miette::Result;

#[derive(Debug, clap::Args)]
#[command(after_help = "docs/tools.md has an example of each tool, and what each figure means.")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// UDP at a constant or stepped rate, with round-trip times: source and sink (Starzetz 2006 §6.3.1)
    Cbr(cbr::Args),
    /// HTTP transfers of several classes, and how the volume of each grows: client and server (Starzetz 2006 §6.3.2)
    Htbench(htbench::Args),
    /// How many packets the queue of an access point holds (Arai et al. 2008 §III.A)
    ApBuffer(ap_buffer::Args),
    /// Records windows and errors of this machine's TCP senders (Arai et al. 2008 §II.C)
    Monitor(monitor::Args),
}

pub fn run(args: &Args) -> Result<Done> {
    match &args.what {
        What::Cbr(a) => cbr::run(a),
        What::Htbench(a) => htbench::run(a),
        What::ApBuffer(a) => ap_buffer::run(a),
        What::Monitor(a) => monitor::run(a),
    }
}

/// Ended by Ctrl-C, or by itself.
fn ended(stop: &contend_tools::Stop) -> Done {
    if stop.asked() { Done::Stopped } else { Done::Well }
}

/// A share of packets: `10%`, above 0 % and up to 100 %.
fn share(text: &str) -> Result<f64, Refusal> {
    let percent = text.strip_suffix('%').and_then(|n| n.trim().parse::<f64>().ok());
    let share = percent.map(|p| p / 100.0).filter(|s| *s > 0.0 && *s <= 1.0);
    share.ok_or_else(|| "write a share above 0% and up to 100%, like 10%".into())
}
