//! Attaches control blocks to an interface, as tc filters of its `clsact`.
//!
//! The kernel keeps a filter when the process that attached it ends. So a second process, the guard, waits for this end
//! and then takes out the filters, and `clsact` if it was added for them.

use crate::block::Block;
use crate::capability;
use crate::load::{self, number};
use contend_core::Refusal;
use libbpf_rs::{MapCore as _, MapFlags, Object, Program, TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHook, TcHookBuilder};
use std::fmt;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};

/// A block at an interface. Dropping it takes it out.
#[derive(Debug)]
pub struct Attached {
    block: &'static Block,
    object: Object,
    place: Place,
    guard: Child,
}

/// What the packets met: each count of [`Block::counts`] with its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed([(&'static str, u64); 3]);

impl Passed {
    pub(crate) fn of(block: &Block, bytes: &[u8]) -> Passed {
        Passed(std::array::from_fn(|i| (block.counts[i], number(bytes, i))))
    }
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Passed([(first, a), (second, b), (third, c)]) = self;
        write!(f, "{first}: {a}, {second}: {b}, {third}: {c}")
    }
}

/// The filters of one deployment, and what takes them out.
#[derive(Clone, Copy, Debug)]
struct Place {
    device: i32,
    priority: u32,
    /// True if `clsact` was added for them.
    added: bool,
    /// Numbers of the programs for what leaves and for what comes in; 0: none.
    programs: [u32; 2],
}

const POINTS: [TcAttachPoint; 2] = [TC_EGRESS, TC_INGRESS];

/// Loads a block with its settings, without attaching it.
///
/// # Errors
/// If the kernel refuses it.
pub fn load(block: &Block, settings: &[u8]) -> Result<Object, Refusal> {
    load::load(load::open_object(block.object, block.name, settings)?, block.name)
}

/// Attaches a block to `device`. `guard` starts this program as the guard: it must call [`guard`] with the arguments
/// that are added to it.
///
/// # Errors
/// If privileges, the interface or a feature of the kernel is missing. Then nothing has changed.
pub fn deploy(block: &'static Block, settings: &[u8], device: &str, mut guard: Command) -> Result<Attached, Refusal> {
    capability::require(&["privileges", "BTF", "clsact"])?;
    let index = nix::net::if_::if_nametoindex(device)
        .map_err(|_| Refusal::new(format!("there is no interface {device:?}"), "ip link lists the interfaces"))?;
    let object = load(block, settings)?;
    let id = |name: &str| {
        let program = object.progs().find(|p| p.name() == name);
        program.and_then(|p| Program::id_from_fd(p.as_fd()).ok()).unwrap_or(0)
    };
    let place = Place {
        device: index as i32,
        priority: 0xc000 | (std::process::id() & 0x3fff),
        added: !has_clsact(device)?,
        programs: [id(block.egress.0), block.ingress.map_or(0, |i| id(i.0))],
    };
    let numbers = [index, place.priority, place.added.into(), place.programs[0], place.programs[1]];
    let guard = guard
        .args(numbers.map(|n| n.to_string()))
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|e| Refusal::new(format!("the guard does not start: {e}"), "nothing has changed"))?;
    // From here on dropping takes everything out.
    let attached = Attached { block, object, place, guard };
    let failed = |e: libbpf_rs::Error| {
        Refusal::new(
            format!("{} cannot be attached to {device}: {e}", block.name),
            "nothing has changed; `tc filter show dev` lists what is there",
        )
    };
    for (n, (name, _)) in [Some(block.egress), block.ingress].into_iter().flatten().enumerate() {
        let program = attached.object.progs().find(|p| p.name() == name);
        let program =
            program.ok_or_else(|| Refusal::new(format!("the object has no {name}"), "rebuild it: ci.sh bpf"))?;
        let mut hook = place.hook(program.as_fd(), n);
        if place.added && n == 0 {
            hook.create().map_err(failed)?;
        }
        hook.attach().map_err(failed)?;
    }
    Ok(attached)
}

impl Attached {
    /// What the packets met so far.
    pub fn passed(&self) -> Passed {
        let map = self.object.maps().find(|m| m.name().to_string_lossy().starts_with("calls_"));
        let bytes = map.and_then(|m| m.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten()).unwrap_or_default();
        Passed::of(self.block, &bytes)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
        // If somebody has ended the guard.
        self.place.clear();
    }
}

impl Place {
    fn hook(&self, program: std::os::fd::BorrowedFd<'_>, n: usize) -> TcHook {
        TcHookBuilder::new(program).ifindex(self.device).handle(1).priority(self.priority).hook(POINTS[n])
    }

    /// Takes out the filters if they are still those of this deployment.
    fn clear(&self) {
        let any = std::io::stdin();
        for (n, id) in self.programs.into_iter().enumerate() {
            let mut hook = self.hook(any.as_fd(), n);
            if id > 0 && hook.query().is_ok_and(|there| there == id) {
                let _ = hook.detach();
            }
        }
        if self.added && !has_filters(self.device) {
            let mut all = self.hook(any.as_fd(), 0);
            let _ = all.attach_point(TC_EGRESS | TC_INGRESS).destroy();
        }
    }
}

/// The guard: waits until standard input ends, which is when the process that deployed has ended, and clears.
///
/// # Errors
/// If the numbers are not those that [`deploy`] adds.
pub fn guard(numbers: &[u32]) -> Result<(), Refusal> {
    let &[device, priority, added, egress, ingress] = numbers else {
        return Err(Refusal::new("these are not the numbers of a guard", "contend deploy starts it by itself"));
    };
    let place = Place { device: device as i32, priority, added: added > 0, programs: [egress, ingress] };
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    place.clear();
    Ok(())
}

/// What `tc` prints.
fn tc(args: &[&str]) -> Result<String, Refusal> {
    let missing = |_| Refusal::new("the program tc is not there", "install iproute2");
    let out = Command::new("tc").args(args).stdin(Stdio::null()).output().map_err(missing)?;
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn has_clsact(device: &str) -> Result<bool, Refusal> {
    Ok(tc(&["qdisc", "show", "dev", device])?.contains("qdisc clsact "))
}

/// True if there is a filter, or if it is not known.
fn has_filters(device: i32) -> bool {
    let Ok(interfaces) = nix::net::if_::if_nameindex() else { return true };
    let name = interfaces.iter().find(|i| i.index() as i32 == device).map(|i| i.name().to_string_lossy().into_owned());
    name.is_none_or(|name| {
        ["egress", "ingress"]
            .iter()
            .any(|side| tc(&["filter", "show", "dev", &name, side]).is_ok_and(|t| !t.is_empty()))
    })
}
