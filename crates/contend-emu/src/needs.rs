//! What this machine allows of an emulation, and the remedy for what it does not.

use contend_core::Refusal;
use std::fs::OpenOptions;
use std::process::{Command, Stdio};

/// One thing that an emulation needs.
#[derive(Clone, Debug)]
pub struct Need {
    /// What it is, in a word or two.
    pub what: &'static str,
    /// What it gives, or what is missing and how to get it.
    pub found: Result<String, Refusal>,
}

/// All needs.
pub fn all() -> [Need; 3] {
    [namespaces(), tun(), real_time()]
}

/// The first need without which no emulation runs, as a text; `None`: it can run.
pub fn missing() -> Option<String> {
    [namespaces(), tun()].into_iter().find_map(|n| Some(format!("{}: {}", n.what, n.found.err()?)))
}

fn namespaces() -> Need {
    let root = nix::unistd::geteuid().is_root();
    let mut words = vec!["--net", "--mount", "--pid", "--fork", "true"];
    if !root {
        words.splice(..0, ["--user", "--map-root-user"]);
    }
    let missing = (!runs("unshare", &words)).then(|| {
        let remedy = "sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 \
            user.max_user_namespaces=10000";
        let remedy = if root { "allow CAP_SYS_ADMIN in this container" } else { remedy };
        Refusal::new("optional: hosts of contend emulate", format!("run it as root, or {remedy}"))
    });
    Need { what: "namespaces", found: missing.map_or_else(|| Ok("contend emulate can make hosts".into()), Err) }
}

fn tun() -> Need {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let missing = opened.err().map(|e| {
        Refusal::new(
            format!("optional: devices of contend emulate: {e}"),
            "modprobe tun, and chmod 0666 /dev/net/tun for all users",
        )
    });
    Need { what: "/dev/net/tun", found: missing.map_or_else(|| Ok("contend emulate can make its devices".into()), Err) }
}

fn real_time() -> Need {
    let missing = (!runs("chrt", &["-R", "-f", "1", "true"])).then(|| {
        Refusal::new(
            "optional: real-time priority makes contend emulate punctual",
            "run it as root, or add `YOU - rtprio 60` to \
            /etc/security/limits.conf and log in again",
        )
    });
    Need {
        what: "SCHED_FIFO",
        found: missing.map_or_else(|| Ok("contend emulate gets real-time priority".into()), Err),
    }
}

/// True if the program runs and succeeds.
fn runs(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}
