//! Loads congestion controllers. The kernel keeps a controller registered as long as this process holds its link: when
//! the process ends, in whatever way, the name is gone. Connections that use it keep it until they close.

use crate::settings::SECTION;
use crate::{Twin, capability};
use contend_core::Refusal;
use contend_core::registry::Args;
use libbpf_rs::{Link, MapCore as _, MapFlags, Object, ObjectBuilder, OpenObject, PrintLevel};
use std::sync::{Mutex, PoisonError};

/// What libbpf and the kernel's verifier said about the last object.
static LOG: Mutex<String> = Mutex::new(String::new());

/// A program in the kernel. Dropping it takes it out.
#[derive(Debug)]
pub struct Deployment {
    // The link goes before the object.
    link: Link,
    object: Object,
    name: String,
}

/// How often the kernel called a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Acknowledgments.
    pub acks: u64,
    /// Acknowledgments that may open the window.
    pub growths: u64,
    /// Congestion signals.
    pub signals: u64,
}

impl Calls {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Calls {
        Calls { acks: number(bytes, 0), growths: number(bytes, 1), signals: number(bytes, 2) }
    }
}

/// Number `i` of a map's value; 0 if it has fewer.
pub(crate) fn number(bytes: &[u8], i: usize) -> u64 {
    bytes.get(8 * i..8 * i + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

/// Opens the object of `twin` with these parameters, without loading anything.
///
/// # Errors
/// If a parameter has a value that the kernel's form lacks, or the object is not valid.
pub fn open(twin: &Twin, args: &Args) -> Result<OpenObject, Refusal> {
    open_object(twin.object, twin.name, &twin.settings(args)?)
}

/// Opens an object with the settings that it was compiled with.
fn as_compiled(object: &[u8], name: &str) -> Result<OpenObject, Refusal> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let _ = libbpf_rs::set_print(Some((PrintLevel::Warn, |_, line| {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).push_str(&line);
    })));
    ObjectBuilder::default().open_memory(object).map_err(|e| refused("open", name, &e))
}

/// Opens an object and fills in its settings.
pub(crate) fn open_object(object: &[u8], name: &str, settings: &[u8]) -> Result<OpenObject, Refusal> {
    let mut object = as_compiled(object, name)?;
    let mut found = false;
    for mut map in object.maps_mut() {
        if map.name() == SECTION {
            map.set_initial_value(settings).map_err(|e| refused("set up", name, &e))?;
            found = true;
        }
    }
    if found { Ok(object) } else { Err(Refusal::new("the object has no settings", "rebuild it: ci.sh bpf")) }
}

/// Loads an open object, which `name` names in the error.
///
/// # Errors
/// If the kernel refuses a program or a map.
pub fn load(object: OpenObject, name: &str) -> Result<Object, Refusal> {
    object.load().map_err(|e| refused("load", name, &e))
}

/// Registers the controller under its [name in the kernel](Twin::kernel_name). Which connections use it is the system's
/// decision, which this does not change.
///
/// # Errors
/// If privileges or a feature of the kernel is missing, or the kernel refuses the program. Then nothing has changed.
pub fn deploy(twin: &Twin, args: &Args) -> Result<Deployment, Refusal> {
    capability::require(&["privileges", "BTF", "struct_ops"])?;
    if twin.accurate_ecn {
        capability::require(&["accurate ECN"])?;
    }
    let name = twin.kernel_name();
    if is_known(&name) {
        return Err(Refusal::new(
            format!("{name} is already deployed"),
            format!("take it out first: contend deploy remove {}", twin.name),
        ));
    }
    register(twin, open(twin, args)?, name)
}

/// True if the kernel has a controller of this name.
fn is_known(name: &str) -> bool {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    known.split_whitespace().any(|n| n == name)
}

/// Tries whether the kernel takes a controller that asks for accurate ECN: registers `prague` for an instant, unless it
/// is registered.
///
/// # Errors
/// If a capability is missing, or the kernel refuses the controller.
pub fn negotiates_accurate_ecn() -> Result<(), Refusal> {
    capability::require(&["privileges", "BTF", "struct_ops", "accurate ECN"])?;
    let twin = Twin::find("prague")?;
    let name = twin.kernel_name();
    if is_known(&name) {
        return Ok(());
    }
    register(twin, as_compiled(twin.object, twin.name)?, name).map(drop)
}

fn register(twin: &Twin, mut open: OpenObject, name: String) -> Result<Deployment, Refusal> {
    for mut program in open.progs_mut() {
        if program.name() == "step" {
            program.set_autoload(false);
        }
    }
    let mut object = load(open, &name)?;
    let link = object
        .maps_mut()
        .find(|m| m.name() == format!("contend_{}", twin.name).as_str())
        .ok_or_else(|| Refusal::new(format!("the object has no {name}"), "rebuild it: ci.sh bpf"))?
        .attach_struct_ops()
        .map_err(|e| {
            let why = refused("register", &name, &e);
            if twin.accurate_ecn { Refusal::new(why.what, capability::ACCURATE_ECN) } else { why }
        })?;
    Ok(Deployment { link, object, name })
}

impl Deployment {
    /// The name in the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How often the kernel called it so far.
    pub fn calls(&self) -> Calls {
        let calls = self.object.maps().find(|m| m.name().to_string_lossy().starts_with("calls_"));
        calls
            .and_then(|m| m.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten())
            .map_or(Calls::default(), |bytes| Calls::from_bytes(&bytes))
    }

    /// The number of its link, by which `bpftool link` shows it.
    pub fn link(&self) -> Option<u32> {
        self.link.info().ok().map(|i| i.id)
    }
}

fn refused(step: &str, name: &str, e: &libbpf_rs::Error) -> Refusal {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    // The verifier's reason is the line before its statistics.
    let lines: Vec<_> = log.lines().collect();
    let reason = lines.iter().position(|l| l.starts_with("processed ")).and_then(|n| lines.get(n.checked_sub(1)?));
    let reason = reason.map_or(String::new(), |r| format!(" ({r})"));
    if std::env::var_os("CONTEND_BPF_LOG").is_some() {
        eprintln!("{log}");
    }
    Refusal::new(
        format!("the kernel does not {step} {name}: {e}{reason}"),
        "nothing has changed; `contend doctor` says what is missing, CONTEND_BPF_LOG=1 prints the verifier's log",
    )
}
