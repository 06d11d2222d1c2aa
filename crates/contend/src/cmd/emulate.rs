//! `contend emulate`: an experiment in real time, with the TCP of this machine's kernel.

use super::common::{Common, Printed};
use super::job::{Job, Performed, command_line};
use super::run::{judged, load, print, say_changed, stop_on_ctrl_c};
use super::{complete, say, wrong};
use crate::{Done, message};
use contend_core::Refusal;
use contend_core::Time;
use contend_emu::host;
use contend_emu::live::Emulate;
use contend_emu::plan::Plan;
use contend_emu::programs::Program;
use contend_lab::experiment::point::Member;
use contend_lab::experiment::results::Emulation;
use contend_lab::reading::file::{About, Experiment, Overlay, ProgramSpec};
use contend_lab::writing::output::ReportContext;
use contend_sim::scenario::Scenario;
use miette::Result;
use std::any::Any;
use std::io::IsTerminal as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;

const EXAMPLES: &str = "\
Examples:
  contend emulate hotspot --duration 30s           each flow of the file over real TCP
  contend emulate hotspot -- ping -c 5 server      a program in the first station
  contend emulate hotspot --in sta0 -- curl http://server/
  contend emulate hotspot --shell sta0             a shell; names of hosts resolve
  contend emulate hotspot --with-flows -- ping server    the flows of the file send beside it
  contend emulate hotspot --dry-run                hosts, addresses and programs
  contend run --replay results/hotspot             the same run again, without hosts

Only the first seed runs unless --seeds gives more. docs/emulate.md tells how true it is.

Exit status: that of PROGRAM if it fails (127: this machine has no such program; 128 and the number of
the signal that ended it). Otherwise 0 faithful; 1 LATE: the machine was too slow to be believed, or
a [[program]] failed, or a claim has another verdict than its file records; 2 the file or the call is
wrong, or the machine refuses something; 3 internal error; 130 stopped by Ctrl-C, and what was
measured until then is kept.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The experiment file, or the name of an example
    #[arg(value_name = "FILE", add = complete::files())]
    file: PathBuf,
    #[command(flatten)]
    common: Common,
    /// How long the run lasts, like 30s; with a program, after how long it ends at the latest (default: an hour)
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,
    /// The host in which the program runs, like sta0 (default: the first station)
    #[arg(long = "in", value_name = "HOST", requires = "program")]
    host: Option<String>,
    /// Run a shell in this host, like sta0
    #[arg(long, value_name = "HOST", conflicts_with_all = ["host", "program"])]
    shell: Option<String>,
    /// Write the frames of the first run in this interval, like 10s..10.5s, to air.pcapng
    #[arg(long, value_name = "FROM..TO", value_parser = contend_lab::pictures::interval, conflicts_with = "no_results")]
    capture: Option<(Time, Time)>,
    /// Print hosts, addresses, flows and programs, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep ordinary priority, although the machine would allow more
    #[arg(long)]
    ordinary: bool,
    /// Let the flows of the file send too, beside the program
    #[arg(long)]
    with_flows: bool,
    /// Make a run that is not faithful again, up to this number of times in all
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100),
        conflicts_with_all = ["program", "shell"])]
    attempts: u32,
    /// A program to run, with its arguments; the run ends with it, and the flows of the file send nothing unless
    /// --with-flows
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

pub fn run(args: Args) -> Result<Done> {
    let (e, common) = experiment(&args)?;
    let command = command(&args);
    let program = |p: &ProgramSpec| Program::of_shell(p.host.clone(), &p.run, p.start);
    let programs: Vec<Program> = e.programs.iter().map(program).collect();
    if args.dry_run {
        return dry_run(&e, &programs, command.as_ref());
    }
    let missing = |name: &str| wrong(format!("this machine has no program {name}"), "install it, or write its path");
    if let Some(name) = programs.iter().find_map(Program::missing) {
        return Err(missing(name));
    }
    if let Some(name) = command.as_ref().and_then(Program::missing) {
        say(&message(&missing(name), std::io::stderr().is_terminal()));
        return Ok(Done::Program(NOT_FOUND));
    }
    // Before any other thread: a process with threads cannot enter a user namespace.
    host::become_root().map_err(refused)?;
    let stop = stop_on_ctrl_c();
    let engine = Emulate::new(programs, command)
        .with_ordinary_priority(args.ordinary)
        .with_flows(args.with_flows)
        .with_attempts(args.attempts)
        .with_controllers(controllers);
    let folder = (!common.no_results).then(|| super::results_name(&args.file).map(|name| common.out.join(name)));
    let job = Job {
        engine: &engine,
        capture: args.capture,
        folder: folder.transpose()?,
        ..Job::new(&e, &common, &stop, args.file.display().to_string())
    };
    let draft = job.prepare(false)?;
    let Performed { executed, unwritten } = job.perform(draft)?;
    print(&executed, &ReportContext::of(&e, command_line()), &common)?;
    let done = judged(&executed, common.quiet);
    say_changed(&e, &executed, common.quiet);
    for of in executed.outcome.runs.iter().filter_map(|run| run.emulation.as_ref()) {
        if matches!(common.format, Printed::Table) && !common.quiet {
            super::print(&verdict(of))?;
        } else if !of.late.is_empty() {
            say(&format!("contend: LATE: {}", of.late));
        }
    }
    let broken = engine.failed();
    for p in &broken {
        say(&format!("contend: [[program]] {} failed with status {}: {}", p.number, p.status, p.text));
    }
    if let Some(err) = unwritten {
        return Err(err);
    }
    let late = executed.outcome.runs.iter().filter_map(|r| r.emulation.as_ref()).any(|of| !of.late.is_empty());
    if stop.load(Ordering::Relaxed) {
        return Ok(Done::Stopped);
    }
    if let Some(status) = engine.ended().filter(|status| !status.success()) {
        return Ok(Done::Program(of_shell(status)));
    }
    Ok(if done == Done::Well && (late || !broken.is_empty()) { Done::Unmet } else { done })
}

/// Deploys the controllers of a network that the kernel does not have, with the parameters of the file.
#[cfg(feature = "bpf")]
pub fn controllers(scenario: &Scenario, members: &[Member]) -> Result<Box<dyn Any>, Refusal> {
    let mut out: Vec<(&str, contend_core::registry::Args, contend_bpf::load::Deployment)> = vec![];
    for (flow, tcp) in contend_emu::plan::unknown_controllers(scenario, members) {
        let Ok(twin) = contend_bpf::Twin::find(tcp.cc.entry.name) else { continue };
        match out.iter().find(|(name, ..)| *name == twin.name) {
            Some((_, args, _)) if *args == tcp.cc.args => {}
            Some(_) => {
                return Err(Refusal::new(
                    format!("flow {flow} has another {} than the flow before it", twin.name),
                    "give both the same parameters: the kernel has each controller once",
                ));
            }
            None => out.push((twin.name, tcp.cc.args.clone(), contend_bpf::load::deploy(twin, &tcp.cc.args)?)),
        }
    }
    Ok(Box::new(out))
}

/// A contend without BPF brings nothing into the kernel.
#[cfg(not(feature = "bpf"))]
pub fn controllers(_: &Scenario, _: &[Member]) -> Result<Box<dyn Any>, Refusal> {
    Ok(Box::new(()))
}

/// The status of a program that this machine does not have, as in a shell.
const NOT_FOUND: u8 = 127;

/// How a shell says that a program ended: by its status, or by 128 and its signal.
fn of_shell(ended: ExitStatus) -> u8 {
    let by_signal = || ended.signal().map(|signal| 128 + signal);
    ended.code().or_else(by_signal).and_then(|status| u8::try_from(status).ok()).unwrap_or(1)
}

/// The experiment of the call.
fn experiment(args: &Args) -> Result<(Experiment, Common)> {
    let has_program = !args.program.is_empty() || args.shell.is_some();
    // Runs in real time follow one after the other.
    let mut common = Common { jobs: Some(1), ..args.common.clone() };
    let mut set = |key: &str, value: &str| common.set.push(format!("{key}={value:?}"));
    match &args.duration {
        Some(duration) => set("duration", duration),
        None if has_program => set("duration", "3600s"),
        None => {}
    }
    if has_program {
        set("warmup", "0s");
    }
    let mut e = load(&args.file, &common)?;
    if common.seeds.is_none() {
        common.seeds = e.seeds.first().map(u64::to_string);
        e = load(&args.file, &common)?;
    }
    if e.about() != About::Network {
        return Err(wrong(
            format!("{} describes no network with hosts", args.file.display()),
            "give a file with [[flow]] tables",
        ));
    }
    if has_program {
        e.without_claims();
        // The flows of the file are silent, and its metrics may have no sample.
        e.show.clear();
        if e.points.len() > 1 {
            return Err(wrong(
                format!("{} has {} points, and a program runs at one", args.file.display(), e.points.len()),
                "choose one: --sweep KEY=VALUE with one value for each key of [sweep]",
            ));
        }
    }
    Ok((e, common))
}

fn command(args: &Args) -> Option<Program> {
    let shell = || std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let (host, words) = match &args.shell {
        Some(host) => (Some(host.clone()), vec![shell()]),
        None => (args.host.clone(), args.program.clone()),
    };
    (!words.is_empty()).then_some(Program { host, words, start: Time::ZERO })
}

fn dry_run(e: &Experiment, programs: &[Program], command: Option<&Program>) -> Result<Done> {
    for point in &e.points {
        let resolved = e.scenario(point, &Overlay::default())?;
        let scenario = resolved.scenario.with_seed(e.seeds.first().copied().unwrap_or(1));
        let _controllers = controllers(&scenario, &resolved.members).map_err(refused)?;
        let plan = Plan::new(&scenario, &resolved.members).map_err(refused)?;
        super::print(&format!("hosts\n{}", plan.text()))?;
        let name = |i: usize| plan.hosts.get(i).map_or("", |h| h.name.as_str());
        let mut text = "flows\n".to_owned();
        for (i, f) in scenario.flows.iter().enumerate() {
            match plan.flows.iter().find(|known| known.flow as usize == i) {
                Some(k) => {
                    text += &format!("  {}  {} -> {} port {}\n", f.name, name(k.from), name(k.to), k.port);
                }
                None => text += &format!("  {}  simulated\n", f.name),
            }
        }
        let all: Vec<&Program> = programs.iter().chain(command).collect();
        if !all.is_empty() {
            text += "programs\n";
        }
        for p in all {
            let host = p.host.as_deref().map_or(Some(plan.first_station()), |name| plan.host(name));
            let host = host.ok_or_else(|| refused(plan.no_host(p.host.as_deref().unwrap_or_default())))?;
            text += &format!("  {}  {} s  {}\n", name(host), p.start.as_secs_f64(), p.words.join(" "));
        }
        super::print(&text)?;
    }
    Ok(Done::Well)
}

/// The error when the machine or the plan refuses something.
fn refused(why: Refusal) -> miette::Report {
    match why.remedy.as_str() {
        "" => wrong(why.what, "`contend doctor` shows what this machine can do"),
        remedy => wrong(&why.what, remedy),
    }
}

/// The verdict as a line of text, and what was measured.
fn verdict(e: &Emulation) -> String {
    let ms = |s: f64| format!("{:.2}", s * 1e3);
    let again = if e.attempts > 1 { format!(" (attempt {})", e.attempts) } else { String::new() };
    let line = if e.late.is_empty() { format!("faithful{again}") } else { format!("LATE{again}: {}", e.late) };
    let refused: Vec<String> = e.refused.iter().map(|(why, n)| format!("{n} {why}")).collect();
    let refused = if refused.is_empty() { String::new() } else { format!("; refused: {}", refused.join(", ")) };
    let advice = if e.real_time || e.late.is_empty() {
        ""
    } else {
        "  without real-time priority; run as root, or allow it in /etc/security/limits.conf: YOU - rtprio 60\n"
    };
    format!(
        "{line}\n  {} packets in, {} out; late by {} ms (median), {} ms (99 %), {} ms (largest); devices read every {} \
            ms (99 %), {} ms (largest){refused}\n{advice}",
        e.entered,
        e.left,
        ms(e.lateness_s.p50),
        ms(e.lateness_s.p99),
        ms(e.lateness_s.max),
        ms(e.gap_s.p99),
        ms(e.gap_s.max),
    )
}
