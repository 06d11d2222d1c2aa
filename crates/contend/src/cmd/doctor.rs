//! `contend doctor`: checks this machine: cores, memory, optional tools and how to install them.

use crate::Done;
use contend_bpf::Capability;
use contend_bpf::capability::capabilities;
use contend_page::alone;
use miette::Result;
use serde_json::json;
use std::process::Command;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to print
    #[arg(long, value_enum, default_value_t = Shape::Table)]
    format: Shape,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Shape {
    /// A line for each check
    Table,
    /// One JSON object
    Json,
}

/// A check of this machine.
#[derive(Debug)]
struct Check {
    what: String,
    ok: bool,
    /// What there is, or what is missing with its remedy.
    text: String,
}

pub fn run(args: &Args) -> Result<Done> {
    let checks = checks();
    let version = env!("CARGO_PKG_VERSION");
    match args.format {
        Shape::Table => {
            let line =
                |c: &Check| format!("  {} {:<20} {}\n", if c.ok { "ok     " } else { "missing" }, c.what, c.text);
            super::print(&format!("contend {version}\n{}", checks.iter().map(line).collect::<String>()))?;
        }
        Shape::Json => {
            let of = |c: &Check| json!({ "what": c.what, "ok": c.ok, "text": c.text });
            let checks: Vec<_> = checks.iter().map(of).collect();
            super::print(&format!("{}\n", json!({ "version": version, "checks": checks })))?;
        }
    }
    Ok(Done::Well)
}

/// All checks.
fn checks() -> Vec<Check> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = Vec::new();
    let mut line = |what: &str, ok: bool, good: &str, bad: &str| {
        all.push(Check { what: what.to_owned(), ok, text: if ok { good } else { bad }.to_owned() });
    };
    line("cores", true, &format!("{cores}: runs use all cores unless --jobs gives another number"), "");
    line("memory", true, &memory(), "");
    line("privileges", true, "none needed: every user can simulate", "");
    line(
        "checks in release",
        cfg!(debug_assertions) || overflow_checked(),
        "overflow checks are on",
        "build with the workspace's own profile: cargo build --release",
    );
    line(
        "pages",
        alone::MODULE.is_some(),
        "contend page writes pages that run in a browser",
        "for contend page: build with the feature `pages`, which is a default",
    );
    #[cfg(target_os = "linux")]
    for need in real_networks() {
        match need.found {
            Ok(found) => line(need.what, true, &found, ""),
            Err(missing) => line(need.what, false, "", &missing.to_string()),
        }
    }
    for (tool, version, why, package) in [
        ("tshark", "--version", "reads and checks the captures contend writes", "tshark"),
        ("chromium", "--version", "opens report pages in the tests", "chromium"),
        ("valgrind", "--version", "counts instructions in benchmarks", "valgrind"),
        ("ping", "-V", "measures round trips between hosts of contend emulate", "iputils-ping"),
        ("ip", "-V", "makes networks between namespaces, for contend tool and the tests", "iproute2"),
    ] {
        let found = Command::new(tool).arg(version).output().ok().filter(|o| o.status.success());
        let version =
            found.as_ref().map(|o| String::from_utf8_lossy(&o.stdout).lines().next().unwrap_or_default().to_owned());
        line(
            tool,
            found.is_some(),
            version.as_deref().unwrap_or_default(),
            &format!("optional: {why}; on Debian: apt-get install {package}"),
        );
    }
    for (need, mut capability) in capabilities() {
        if need == "accurate ECN" && matches!(capability, Capability::Ok) {
            capability = super::deploy::accurate_ecn();
        }
        let (ok, text) = match capability {
            Capability::Ok => (true, "contend deploy can use it".into()),
            Capability::Missing(why) => (false, format!("for contend deploy: {why}")),
        };
        line(&format!("deploy: {need}"), ok, &text, &text);
    }
    all
}

/// What a command on real networks needs: what there is, or what is missing with its remedy.
#[cfg(target_os = "linux")]
struct Need {
    what: &'static str,
    found: Result<String, contend_core::Refusal>,
}

/// What `contend proxy`, `contend tool` and `contend emulate` need.
#[cfg(target_os = "linux")]
fn real_networks() -> Vec<Need> {
    use contend_core::Refusal;
    use contend_tools::{proxy, sock_diag::SockDiag};
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let congestion: Result<String, Refusal> =
        std::fs::read_to_string(list).map_err(|e| format!("contend proxy: {list}: {e}").into());
    let tools = [
        Need {
            what: "sock_diag",
            found: SockDiag::open()
                .map(|_| "contend tool monitor can watch TCP senders".to_owned())
                .map_err(|e| e.of("contend tool monitor")),
        },
        Need {
            what: "TCP of the kernel",
            found: congestion.map(|names| format!("contend proxy --cc takes {}", names.trim().replace(' ', ", "))),
        },
        Need {
            what: "file descriptors",
            found: proxy::room(None).map(|n| format!("contend proxy holds {n} connections at once")),
        },
    ];
    let emulation = contend_emu::needs::all().map(|n| Need { what: n.what, found: n.found });
    tools.into_iter().chain(emulation).collect()
}

fn memory() -> String {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = info
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"))
        .and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    free.map_or("unknown".into(), |kb| format!("{} MB available; a run of 200 stations needs less than 50", kb / 1000))
}

/// True if an arithmetic overflow panics in this build.
fn overflow_checked() -> bool {
    let big = std::hint::black_box(u8::MAX);
    std::panic::set_hook(Box::new(|_| {}));
    let panics = std::panic::catch_unwind(|| std::hint::black_box(big + 1)).is_err();
    let _ = std::panic::take_hook();
    panics
}
