//! The command: `contend run`, `reproduce`, `list`, `explain`, `model`, `report`, `doctor`.
//!
//! Exit status: 0 done; 1 a claim does not hold as recorded; 2 the file or the call is wrong; 3 internal error. Ctrl-C keeps the finished runs.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod cmd;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// What happens to TCP when it contends for the air, and what to change.
///
/// Describe a network in a file, run it, and read goodput, fairness, queues and airtime with confidence intervals:
///
///     contend run experiments/hotspot.toml
#[derive(Debug, Parser)]
#[command(name = "contend", version, verbatim_doc_comment, propagate_version = true, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run experiment files: every sweep point with every seed, on all cores
    Run(cmd::run::Args),
    /// Run the papers' experiments and compare each claim with what is measured
    Reproduce(cmd::reproduce::Args),
    /// Show what there is: controllers, recoveries, queue disciplines, access rules, traffic, loss processes, experiments
    List(cmd::catalogue::ListArgs),
    /// Explain one algorithm: what it does, where it comes from, its parameters with units and defaults
    Explain(cmd::catalogue::ExplainArgs),
    /// Closed forms as a calculator
    Model(cmd::model::Args),
    /// Rebuild the HTML report of a results folder
    Report(cmd::report::Args),
    /// Say what this machine can do, what is missing, and how to get it
    Doctor,
    /// Print a completion script for your shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
}

/// How a command ended, when it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// All is well.
    Well,
    /// A claim's verdict is not the recorded one.
    ClaimDiffers,
}

fn main() -> ExitCode {
    // A panic is an internal error: its own exit status, after the usual message.
    match std::panic::catch_unwind(go) {
        Ok(code) => code,
        Err(_) => {
            eprintln!("contend: this is a mistake in contend itself, not in your file; please report it with the file and the message above");
            ExitCode::from(3)
        }
    }
}

fn go() -> ExitCode {
    let args = Args::parse();
    let done = match args.command {
        Command::Run(a) => cmd::run::run(&a),
        Command::Reproduce(a) => cmd::reproduce::run(&a),
        Command::List(a) => cmd::catalogue::list(&a),
        Command::Explain(a) => cmd::catalogue::explain(&a),
        Command::Model(a) => cmd::model::run(&a),
        Command::Report(a) => cmd::report::run(&a),
        Command::Doctor => cmd::doctor::run(),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut <Args as clap::CommandFactory>::command(), "contend", &mut std::io::stdout());
            Ok(Done::Well)
        }
    };
    match done {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::ClaimDiffers) => ExitCode::from(1),
        Err(e) => {
            eprintln!("{e:?}");
            ExitCode::from(2)
        }
    }
}
