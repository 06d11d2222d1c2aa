//! The command `contend`, as a library, because the Python package has it too: `contend run`, `emulate`, `watch`,
//! `live`, `page`, `new`, `compare`, `reproduce`, `evaluate`, `list`, `explain`, `reference`, `model`, `analyse`,
//! `proxy`, `tool`, `report`, `plot`, `deploy`, `doctor`, `notices`, `completions`.
//!
//! Exit status: 0 done; 1 a claim has another verdict than its file records; 2 the file or the call is wrong;
//! 3 internal error; 130 stopped by Ctrl-C.
//!
//! After Ctrl-C (or SIGTERM) the command stops its runs, prints the finished ones and writes their results folder.
//! Shells expect status 130 from an interrupted program, so a loop over files stops too. A second Ctrl-C ends the
//! command at once.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod cmd;

pub use cmd::catalogue::{explained, listed};
pub use cmd::model::{Described, Kind, Setting, calculate, described};

use clap::{Parser, Subcommand};
use contend_lab::echo::{REMEDY, SENTENCE, echo};
use contend_lab::execute;
use contend_lab::reading::file::FileError;
use miette::Report;
use std::ffi::OsString;
use std::io::{IsTerminal, Write as _};
use std::sync::OnceLock;

/// What happens to TCP when it contends for the air, and what to change.
///
/// Describe a network in a file, run it, and read goodput, fairness, queues and airtime with
/// confidence intervals:
///
///     contend run hotspot
#[derive(Debug, Parser)]
#[command(name = "contend", version, verbatim_doc_comment, arg_required_else_help = true, after_help = STATUS)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

const STATUS: &str = "\
First steps:
  contend run hotspot                run an example; its report is results/hotspot/report.html
  contend new hotspot > my.toml      a copy of it to change; then: contend run my.toml
  contend new                        all examples
  contend explain newreno            an algorithm, its parameters and its source

Exit status: 0 done; 1 a claim has another verdict than its file records; 2 the file or the call is
wrong; 3 internal error; 130 stopped by Ctrl-C, finished runs are kept.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run experiment files: every sweep point with every seed, on all cores
    Run(cmd::run::Args),
    #[cfg(target_os = "linux")]
    /// Run a file in real time with the TCP of this machine's kernel: real programs over the simulated network
    Emulate(cmd::emulate::Args),
    /// Join the runs of `contend run --shard`, made anywhere, to the results of one call
    Merge(cmd::merge::Args),
    /// Run a file, and again whenever it is saved
    Watch(cmd::watch::Args),
    /// Show a file on a page of the browser, with sliders; each change runs it
    Live(cmd::live::Args),
    /// Write a page with a file and contend in it: its readers need a browser and nothing else
    Page(cmd::page::Args),
    /// Print an example, an experiment file that comes with contend; without a name, list them
    New(cmd::new::Args),
    /// Compare two files or results folders, or the points of a sweep: differences with intervals, paired by seed
    Compare(cmd::compare::Args),
    /// Run the papers' experiments and compare each claim with the measured value
    Reproduce(cmd::reproduce::Args),
    /// Put a congestion controller or an access point through the tests of the field: RFC 9743, RFC 7928, TR-398
    Evaluate(cmd::evaluate::Args),
    /// List algorithms by family, metrics, functions, closed forms, output formats and experiments
    List(cmd::catalogue::ListArgs),
    /// Explain one name: what it does, where it comes from, its parameters with units and defaults
    Explain(cmd::catalogue::ExplainArgs),
    /// Write the reference of this version into a folder: pages in Markdown, and a JSON schema for editors
    Reference(cmd::catalogue::ReferenceArgs),
    /// Compute closed forms: throughput, windows, queues, stability
    Model(cmd::model::Args),
    /// Analyse captures: the backoff of one card, or the access of two stations to the air
    Analyse(cmd::analyse::Args),
    /// Relay TCP connections by a sender with another congestion control, rate or segment size
    #[cfg(target_os = "linux")]
    Proxy(cmd::proxy::Args),
    /// Measure on a real network with the tools of the papers: cbr, htbench, ap-buffer, monitor
    #[cfg(target_os = "linux")]
    Tool(cmd::tool::Args),
    /// Rebuild the HTML report of a results folder
    Report(cmd::report::Args),
    /// Write one figure of a file or a results folder as SVG, PNG or PDF, for a paper or slides
    Plot(Box<cmd::plot::Args>),
    /// Load a congestion controller or a control block into this machine's kernel, and take it out again
    Deploy(cmd::deploy::Args),
    /// Check this machine: cores, memory, optional tools and how to install them
    Doctor(cmd::doctor::Args),
    /// Print the licences of contend and of the libraries inside
    Notices,
    /// Print a completion script for your shell: names of algorithms, keys, metrics, examples and files
    #[command(
        after_help = "Examples:\n  source <(contend completions bash)          for this shell\n  contend completions \
            zsh > ~/.zfunc/_contend  for every new shell"
    )]
    Completions {
        /// The shell
        #[arg(value_parser = cmd::complete::shells())]
        shell: String,
    },
}

/// How a command ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The command did everything.
    Well,
    /// The verdict of a claim differs from the recorded one, or a check is not met.
    Unmet,
    /// Ctrl-C stopped the command before all runs were finished.
    Stopped,
    /// A program that the command ran ended with this status.
    Program(u8),
}

/// Runs the command with these arguments, of which the first is the name of the program, and returns its exit status.
/// It prints on the standard output and standard error of this process, and Ctrl-C stops it.
pub fn command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // A process makes one call; of several, the first stands in what they write.
    let _ = CALL.set(arguments.clone());
    if let Some(status) = cmd::complete::answer(<Args as clap::CommandFactory>::command, &arguments) {
        return status;
    }
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(e) => return refused(&e),
    };
    // A panic is an internal error: its own exit status, after the usual message.
    let ended = std::panic::catch_unwind(|| go(args.command));
    if let Ok(Err(e)) = &ended {
        let _ = writeln!(std::io::stderr(), "{}", message(e, std::io::stderr().is_terminal()).trim_end());
    }
    if ended.is_err() {
        cmd::say(
            "contend: this is a defect of contend, not an error in your file; please report it with the file and the \
                message above",
        );
    }
    // A program in another language does not empty this buffer at its end.
    let _ = std::io::stdout().flush();
    status(&ended)
}

/// The arguments of the call.
static CALL: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says why there are no arguments to act on, and returns the exit status: 2 if they are wrong, 0 after `--help` and
/// the like.
fn refused(e: &clap::Error) -> u8 {
    let text = e.render().to_string();
    if text.starts_with(ERROR) {
        let shown: String = in_our_style(&text).lines().map(|line| echo(line, SENTENCE) + "\n").collect();
        let _ = write!(std::io::stderr(), "{shown}");
    } else {
        // As everywhere, a reader that closes the pipe early is not an error.
        let _ = e.print();
    }
    let _ = std::io::stdout().flush();
    e.exit_code().try_into().unwrap_or(2)
}

/// The beginning of every message about wrong arguments.
const ERROR: &str = "error: ";

/// The message about wrong arguments like all other messages: `contend: ...`, and `  help: ...`.
fn in_our_style(text: &str) -> String {
    let line = |line: &str| match (line.strip_prefix(ERROR), line.strip_prefix("For more information, ")) {
        (Some(message), _) => format!("contend: {message}\n"),
        (_, Some(remedy)) => format!("  help: {remedy}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().filter(|l| !l.trim().is_empty()).map(line).collect()
}

/// The exit status of a command.
fn status(ended: &std::thread::Result<Result<Done, Report>>) -> u8 {
    match ended {
        Ok(Ok(Done::Well)) => 0,
        Ok(Ok(Done::Unmet)) => 1,
        Ok(Ok(Done::Stopped)) => 130,
        Ok(Ok(Done::Program(status))) => *status,
        Ok(Err(_)) => 2,
        Err(_) => 3,
    }
}

fn go(command: Command) -> Result<Done, Report> {
    match command {
        Command::Run(a) => cmd::run::run(&a),
        #[cfg(target_os = "linux")]
        Command::Emulate(a) => cmd::emulate::run(a),
        Command::Watch(a) => cmd::watch::run(a),
        Command::Live(a) => cmd::live::run(a),
        Command::Page(a) => cmd::page::run(&a),
        Command::New(a) => cmd::new::run(&a),
        Command::Compare(a) => cmd::compare::run(&a),
        Command::Merge(a) => cmd::merge::run(&a),
        Command::Reproduce(a) => cmd::reproduce::run(&a),
        Command::Evaluate(a) => cmd::evaluate::run(&a),
        Command::List(a) => cmd::catalogue::list(&a),
        Command::Explain(a) => cmd::catalogue::explain(&a),
        Command::Reference(a) => cmd::catalogue::reference(&a, &<Args as clap::CommandFactory>::command()),
        Command::Model(a) => cmd::model::run(&a),
        Command::Analyse(a) => cmd::analyse::run(&a),
        #[cfg(target_os = "linux")]
        Command::Proxy(a) => cmd::proxy::run(&a),
        #[cfg(target_os = "linux")]
        Command::Tool(a) => cmd::tool::run(&a),
        Command::Report(a) => cmd::report::run(&a),
        Command::Plot(a) => cmd::plot::run(&a),
        Command::Deploy(a) => cmd::deploy::run(&a),
        Command::Doctor(a) => cmd::doctor::run(&a),
        Command::Notices => cmd::notices::run(),
        Command::Completions { shell } => {
            cmd::print(&String::from_utf8_lossy(&cmd::complete::script(&shell)))?;
            Ok(Done::Well)
        }
    }
}

/// The text of an error: the place, the message and the remedy.
fn message(e: &Report, terminal: bool) -> String {
    let in_file = e.downcast_ref::<FileError>().or_else(|| match e.downcast_ref::<execute::Error>() {
        Some(execute::Error::File(f)) => Some(f),
        _ => None,
    });
    match in_file {
        // An error without a marked line needs the plain form, which names the file.
        Some(f) => f.render(terminal && f.line_column().is_some()),
        None => {
            let help = e.help().map(|help| format!("\n  help: {}", echo(&help.to_string(), REMEDY)));
            format!("contend: {}{}", echo(&e.to_string(), SENTENCE), help.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_is_well_formed() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn every_way_to_end_has_its_exit_status() {
        assert_eq!(
            [Done::Well, Done::Unmet, Done::Stopped, Done::Program(7)].map(|d| status(&Ok(Ok(d)))),
            [0, 1, 130, 7]
        );
        assert_eq!(status(&Ok(Err(cmd::wrong("no", "yes")))), 2);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let panicked = std::panic::catch_unwind(|| -> Result<Done, Report> { panic!("a sum overflowed") });
        std::panic::set_hook(hook);
        assert_eq!(status(&panicked), 3);
    }

    #[test]
    fn a_message_names_place_and_remedy() {
        let error =
            contend_lab::reading::file::parse("f.toml", "duration = \"70s\"\nseeds = \"5..1\"", &[]).unwrap_err();
        let text = message(&error.into(), false);
        assert!(text.starts_with("f.toml:2:9: ") && text.contains("help: "), "{text}");
        assert_eq!(message(&cmd::wrong("what", "do this"), true), "contend: what\n  help: do this");
    }
}
