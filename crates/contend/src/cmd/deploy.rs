//! `contend deploy`: loads an algorithm into this machine's kernel, says what is loaded, takes it out.
//!
//! A loaded program belongs to the process that deployed it: when this process ends, for whatever reason, the program
//! is taken out.

use super::{print, refused, wrong};
use crate::Done;
use clap::Subcommand;
use contend_bpf::{Block, Capability, Twin};
use contend_core::registry::Args as Parameters;
use contend_lab::experiment::results::PointKey;
use contend_lab::reading::expression::quantity;
use contend_lab::reading::file::{Overlay, parse};
use contend_sim::scenario::{EndsSpec, Transport};
use miette::Result;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  contend deploy cc reno --for 10s            the name contend_reno exists for ten seconds
  contend deploy cc tcp_d --set k=0           with a parameter; Ctrl-C takes it out
  iperf3 -c HOST -C contend_tcp_d             a program that uses it, meanwhile
  contend deploy status                       what is loaded, and by which process
  contend deploy remove tcp_d                 take it out
  contend deploy cc reno --recipe             the commands that do the same without contend
  contend deploy fcwa --dev wlan0 --set segments=28 --for 1m
                                              an access point that offers no flow more than 28 segments
  contend deploy cc prague                    L4S, if both ends use contend_prague
  contend deploy ect1 --dev eth0              meanwhile its data leave eth0 with ECT(1)
  contend deploy ce_threshold --dev eth1 --set rate=50000000
                                              at a shaper of 50 Mb/s: CE on what will wait longer than 1 ms

Nothing here changes the machine's default congestion control. docs/deploy.md tells what runs in the kernel, what is
proved about it, and how to try it safely.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Register a congestion controller, as contend_NAME, until Ctrl-C
    Cc(Controller),
    /// At an access point: no TCP flow is offered a window of more than some segments
    Fcwa(AtDevice),
    /// At an access point: only every d-th acknowledgment of an upload goes out to the air
    #[command(name = "ack_thinning")]
    AckThinning(AtDevice),
    /// At an access point: no acknowledgment goes out while an older one of its flow waits in the queue
    #[command(name = "ack_filter")]
    AckFilter(AtDevice),
    /// At a bottleneck: packets with ECT(1) get CE that will wait longer than a threshold
    #[command(name = "ce_threshold")]
    CeThreshold(AtDevice),
    /// At a sender: data packets of contend_prague leave with ECT(1), as L4S needs it
    Ect1(AtDevice),
    /// List what is loaded, the process that holds it, and how often the kernel called it
    Status,
    /// Take out what is loaded
    Remove {
        /// Only this, like reno (default: everything of contend)
        name: Option<String>,
    },
    /// Wait for the end of the process that deployed, and take its filters out
    #[command(hide = true)]
    Guard { numbers: Vec<u32> },
}

#[derive(Debug, clap::Args)]
struct AtDevice {
    /// The interface: that of the access point to its stations, like wlan0; for ect1 that of the sender,
    /// for ce_threshold the one with the queue
    #[arg(long, value_name = "DEV")]
    dev: Option<String>,
    /// A parameter, like segments=28, d=3, least=4 or mark=100; a wrong one lists them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Controller {
    /// reno, jersey, tcp_d, tcp_av, westwood or prague
    name: String,
    /// A parameter of the controller, like k=0 (contend explain NAME)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// How long, or how without contend.
#[derive(Debug, clap::Args)]
struct How {
    /// Take it out after this time, like 10s
    #[arg(long = "for", value_name = "TIME")]
    until: Option<String>,
    /// Load nothing: print the commands that load it without contend
    #[arg(long)]
    recipe: bool,
    /// Load nothing: write the compiled program to this file
    #[arg(long, value_name = "FILE")]
    object: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Done> {
    match &args.what {
        What::Cc(c) => controller(c)?,
        What::Fcwa(a) => block("fcwa", a)?,
        What::AckThinning(a) => block("ack_thinning", a)?,
        What::AckFilter(a) => block("ack_filter", a)?,
        What::CeThreshold(a) => block("ce_threshold", a)?,
        What::Ect1(a) => block("ect1", a)?,
        What::Guard { numbers } => loaded::guard(numbers)?,
        What::Status => print(&loaded::status()?)?,
        What::Remove { name } => print(&loaded::remove(name.as_deref())?)?,
    }
    Ok(Done::Well)
}

/// Whether the kernel takes a controller that asks for accurate ECN: it is tried.
pub fn accurate_ecn() -> Capability {
    loaded::accurate_ecn().map_or_else(Capability::Missing, |()| Capability::Ok)
}

fn controller(c: &Controller) -> Result<()> {
    let twin = Twin::find(&c.name).map_err(refused)?;
    let parameters = parameters(twin, &c.set)?;
    let settings = twin.settings(&parameters).map_err(refused)?;
    let file = format!("{}.bpf.o", twin.name);
    if written(&c.how, twin.object, &settings)? {
        return Ok(());
    }
    if c.how.recipe {
        return print(&format!(
            "# As root, with bpftool of Linux 6.4 or later.\n\
             # The directory keeps the controller registered until `rm`.\n\
             contend deploy cc {name}{set} --object {file}\n\
             mount -t bpf bpf /sys/fs/bpf 2>/dev/null; mkdir -p /sys/fs/bpf/contend\n\
             bpftool struct_ops register {file} /sys/fs/bpf/contend\n\
             sysctl net.ipv4.tcp_available_congestion_control\n\
             # take it out\n\
             rm -r /sys/fs/bpf/contend\n",
            name = twin.name,
            set = as_options(&c.set),
        ));
    }
    loaded::controller(twin, &parameters, time(&c.how)?)
}

fn block(name: &str, a: &AtDevice) -> Result<()> {
    let block = Block::find(name).map_err(refused)?;
    let settings = block.settings(&a.set).map_err(refused)?;
    if written(&a.how, block.object, &settings)? {
        return Ok(());
    }
    let device = || {
        a.dev.as_deref().ok_or_else(|| {
            wrong("the interface is missing", format!("write contend deploy {name} --dev wlan0; ip link lists them"))
        })
    };
    if a.how.recipe {
        let dev = a.dev.as_deref().unwrap_or("DEV");
        let file = format!("{name}.bpf.o");
        let inside = block.ingress.map_or(String::new(), |(inside, _)| {
            format!("tc filter add dev {dev} ingress bpf da object-pinned /sys/fs/bpf/contend_{name}/{inside}\n")
        });
        let both = "Both directions have one copy of the program, so they share its table of flows.";
        return print(&format!(
            "# As root, with bpftool.{both}\n\
             contend deploy {name}{set} --object {file}\n\
             mount -t bpf bpf /sys/fs/bpf 2>/dev/null\n\
             bpftool prog loadall {file} /sys/fs/bpf/contend_{name} type tc\n\
             tc qdisc add dev {dev} clsact\n\
             tc filter add dev {dev} egress bpf da object-pinned /sys/fs/bpf/contend_{name}/{out}\n\
             {inside}\
             # take it out, with all other filters of clsact\n\
             tc qdisc del dev {dev} clsact; rm -r /sys/fs/bpf/contend_{name}\n",
            set = as_options(&a.set),
            both = if block.ingress.is_some() { format!(" {both}") } else { String::new() },
            out = block.egress.0,
        ));
    }
    loaded::block(block, &settings, device()?, time(&a.how)?)
}

/// The settings as options, with a space before each.
fn as_options(set: &[String]) -> String {
    set.iter().map(|s| format!(" --set {s}")).collect()
}

/// Writes the object with these settings to the file of `--object`. Returns true if the option was given.
fn written(how: &How, object: &[u8], settings: &[u8]) -> Result<bool> {
    let Some(path) = &how.object else { return Ok(false) };
    let object = contend_bpf::settings::written(object, settings).map_err(refused)?;
    std::fs::write(path, object).map_err(|e| {
        wrong(format!("{} cannot be written: {e}", path.display()), "name a file in a folder that you may write to")
    })?;
    Ok(true)
}

fn time(how: &How) -> Result<Option<std::time::Duration>> {
    let Some(text) = &how.until else { return Ok(None) };
    let span = quantity::span(text)
        .map_err(|e| wrong(format!("--for {text}: {}", e.what), "write it with its unit, like --for 10s"))?;
    Ok(Some(std::time::Duration::from_nanos(span.as_nanos())))
}

/// The parameters as an experiment file would have them: the same names, units, ranges and messages.
fn parameters(twin: &Twin, set: &[String]) -> Result<Parameters> {
    let text = format!(
        "title = \"deploy\"\nduration = \"1s\"\n[wifi]\nstandard = \"802.11g\"\n\
         [[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = {{ cc = {{ kind = \"{}\" }}, recovery = \"newreno\" }}\n",
        twin.name
    );
    let mut settings: Vec<(String, String)> = vec![];
    for s in set {
        let (key, value) = s
            .split_once('=')
            .ok_or_else(|| wrong(format!("--set {s} has no value"), format!("write --set {s}=VALUE")))?;
        settings.push((format!("flow.0.tcp.cc.{key}"), value.into()));
    }
    let experiment = parse("--set", &text, &settings)?;
    let none = Overlay::of(None);
    let point = experiment.points.first().cloned().unwrap_or_else(PointKey::default);
    let resolved = experiment.scenario(&point, &none)?;
    let flow = resolved.scenario.flows.into_iter().next();
    match flow.map(|f| f.ends) {
        Some(EndsSpec { transport: Transport::Tcp(tcp), .. }) => Ok(tcp.cc.args),
        _ => Err(wrong("the parameters cannot be read", "report this as a defect of contend")),
    }
}

/// The functions that need the feature `bpf`.
#[cfg(feature = "bpf")]
mod loaded {
    use super::refused;
    use crate::cmd::{print, say, wrong};
    use contend_bpf::active::Counts;
    use contend_bpf::{Block, Twin, active, capability, load, tc};
    use contend_core::Refusal;
    use contend_core::registry::Args;
    use miette::Result;
    use std::fmt::Write as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::Duration;

    pub fn controller(twin: &Twin, parameters: &Args, until: Option<Duration>) -> Result<()> {
        let stop = stop();
        let deployed = load::deploy(twin, parameters).map_err(refused)?;
        let name = deployed.name().to_owned();
        say(&format!("{name} is registered; a program uses it by its name: iperf3 -c HOST -C {name}"));
        wait(&stop, until);
        let calls = deployed.calls();
        drop(deployed);
        print(&format!(
            "{name} is taken out after {} acknowledgments, {} of them in reach of growth, and {} congestion signals\n",
            calls.acks, calls.growths, calls.signals
        ))
    }

    pub fn block(block: &'static Block, settings: &[u8], device: &str, until: Option<Duration>) -> Result<()> {
        let stop = stop();
        let own = std::env::current_exe()
            .map_err(|e| wrong(format!("contend does not find itself: {e}"), "call it by its path"))?;
        let mut guard = Command::new(own);
        // In a group of its own: Ctrl-C ends the process that waits, not its guard.
        guard.args(["deploy", "guard"]).process_group(0);
        let attached = tc::deploy(block, settings, device, guard).map_err(refused)?;
        let directions = if block.ingress.is_some() { "in both directions" } else { "for what leaves" };
        say(&format!("{} is at {device}, {directions}", block.name));
        wait(&stop, until);
        let passed = attached.passed();
        drop(attached);
        print(&format!("{} is taken out of {device}; {passed}\n", block.name))
    }

    pub fn accurate_ecn() -> std::result::Result<(), Refusal> {
        load::negotiates_accurate_ecn()
    }

    pub fn guard(numbers: &[u32]) -> Result<()> {
        tc::guard(numbers).map_err(refused)
    }

    pub fn status() -> Result<String> {
        capability::require(&["privileges"]).map_err(refused)?;
        let mut out = String::new();
        for a in active::active() {
            let name =
                if a.is_controller { Twin::find(&a.name).map_or(a.name.clone(), Twin::kernel_name) } else { a.name };
            let holder = a.holder.map_or("no process".into(), |pid| format!("process {pid}"));
            let counts = match a.counts {
                None => String::new(),
                Some(Counts::Calls(c)) => format!(", {} acknowledgments, {} congestion signals", c.acks, c.signals),
                Some(Counts::Passed(p)) => format!(", {p}"),
            };
            let _ = writeln!(out, "{name}: held by {holder}{counts}");
        }
        Ok(if out.is_empty() { "nothing of contend is deployed\n".into() } else { out })
    }

    pub fn remove(name: Option<&str>) -> Result<String> {
        capability::require(&["privileges"]).map_err(refused)?;
        let gone = active::remove(name).map_err(refused)?;
        let names: Vec<_> = gone.into_iter().map(|a| a.name).collect();
        Ok(if names.is_empty() {
            "nothing of contend was deployed\n".into()
        } else {
            format!("taken out: {}\n", names.join(", "))
        })
    }

    /// Ctrl-C and SIGTERM come here.
    fn stop() -> mpsc::Receiver<()> {
        let (tell, told) = mpsc::channel();
        let _ = ctrlc::set_handler(move || {
            let _ = tell.send(());
        });
        told
    }

    fn wait(stop: &mpsc::Receiver<()>, until: Option<Duration>) {
        match until {
            Some(time) => {
                let _ = stop.recv_timeout(time);
            }
            None => {
                let _ = stop.recv();
            }
        }
    }
}

/// The functions of a contend that was built without the feature `bpf`.
#[cfg(not(feature = "bpf"))]
mod loaded {
    use super::refused;
    use contend_bpf::{Block, Twin, capability};
    use contend_core::Refusal;
    use contend_core::registry::Args;
    use miette::Result;
    use std::time::Duration;

    pub fn accurate_ecn() -> std::result::Result<(), Refusal> {
        capability::require(&["bpf (build)"])?;
        Err(Refusal::new("nothing can be deployed", "build contend with --features bpf"))
    }
    fn lacking<T>() -> Result<T> {
        accurate_ecn().map_err(refused)?;
        Err(refused(Refusal::new("nothing can be deployed", "build contend with --features bpf")))
    }

    pub fn controller(_: &Twin, _: &Args, _: Option<Duration>) -> Result<()> {
        lacking()
    }
    pub fn block(_: &Block, _: &[u8], _: &str, _: Option<Duration>) -> Result<()> {
        lacking()
    }
    pub fn guard(_: &[u32]) -> Result<()> {
        lacking()
    }
    pub fn status() -> Result<String> {
        lacking()
    }
    pub fn remove(_: Option<&str>) -> Result<String> {
        lacking()
    }
}
