//! What is deployed now, by whom, and how to take it out. The kernel's own lists are asked: there is no file of state.

use crate::Block;
use crate::load::Calls;
use crate::tc::Passed;
use crate::twin::{TWINS, Twin};
use contend_core::Refusal;
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore as _, MapFlags, MapHandle};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::Duration;

/// One deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// The name in contend, `reno` or `fcwa`.
    pub name: String,
    /// True for a congestion controller, false for a tc program.
    pub is_controller: bool,
    /// The process that holds it; `None` if there is none that this process may see.
    pub holder: Option<i32>,
    /// What it has counted so far.
    pub counts: Option<Counts>,
}

/// What a program counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// How often the kernel called a controller.
    Calls(Calls),
    /// What the packets met that passed a tc program.
    Passed(Passed),
}

/// Everything of contend that is in the kernel.
pub fn active() -> Vec<Active> {
    let held = held();
    let holder = |what: &str, id: u32| held.iter().find(|h| h.1 == what && h.2 == id).map(|h| h.0);
    let maps: Vec<(u32, String)> =
        MapInfoIter::default().map(|m| (m.id, m.name.to_string_lossy().into_owned())).collect();
    let mut all = Vec::new();
    for link in LinkInfoIter::default() {
        let LinkTypeInfo::StructOps(ops) = link.info else { continue };
        // The kernel keeps 15 letters of a map's name too.
        let map = maps.iter().find(|m| m.0 == ops.map_id);
        let twin = map.and_then(|m| TWINS.iter().find(|t| t.kernel_name() == m.1));
        if let Some(Twin { name, .. }) = twin {
            let counts = maps.iter().find(|m| m.1 == format!("calls_{name}"));
            all.push(Active {
                name: (*name).into(),
                is_controller: true,
                holder: holder("link_id", link.id),
                counts: counts.and_then(|m| value(m.0)).map(|bytes| Counts::Calls(Calls::from_bytes(&bytes))),
            });
        }
    }
    for program in ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true)) {
        if let Some(block) = Block::of_program(&program.name.to_string_lossy()) {
            let is_count = |id: &u32| maps.iter().any(|m| m.0 == *id && m.1.starts_with("calls_"));
            let count = program.map_ids.iter().copied().find(is_count);
            all.push(Active {
                name: block.name.into(),
                is_controller: false,
                holder: holder("prog_id", program.id),
                counts: count.and_then(value).map(|bytes| Counts::Passed(Passed::of(block, &bytes))),
            });
        }
    }
    all
}

/// Asks the processes that hold `name`, or everything if there is no name, to take it out, and waits until it is out.
///
/// # Errors
/// If nothing of this name is deployed, or a process does not answer within five seconds.
pub fn remove(name: Option<&str>) -> Result<Vec<Active>, Refusal> {
    let chosen = |a: &Active| name.is_none_or(|n| a.name == n);
    let before: Vec<_> = active().into_iter().filter(chosen).collect();
    if let (Some(name), []) = (name, &before[..]) {
        return Err(Refusal::new(
            format!("{name} is not deployed"),
            "contend deploy status lists what is; other users' deployments are visible to root only",
        ));
    }
    for pid in before.iter().filter_map(|a| a.holder) {
        // A process that has ended meanwhile has taken its programs out.
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
    for _ in 0..100 {
        if !active().iter().any(chosen) {
            return Ok(before);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(Refusal::new(
        "a deployment is still there",
        "end the process that holds it (contend deploy status): the kernel then takes it out",
    ))
}

/// The only value of a map of counters.
fn value(map: u32) -> Option<Vec<u8>> {
    MapHandle::from_map_id(map).ok()?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()?
}

/// The links and programs that the processes of this machine hold: process, `link_id` or `prog_id`, and number.
fn held() -> Vec<(i32, String, u32)> {
    let mut all = Vec::new();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|n| n.parse().ok()) else { continue };
        for file in std::fs::read_dir(process.path().join("fdinfo")).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(file.path()).unwrap_or_default();
            let entry = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse().ok());
            // A link names its program too.
            let (key, id) = match (entry("link_id:"), entry("prog_id:")) {
                (Some(id), _) => ("link_id", id),
                (None, Some(id)) => ("prog_id", id),
                _ => continue,
            };
            all.push((pid, key.to_owned(), id));
        }
    }
    all
}
