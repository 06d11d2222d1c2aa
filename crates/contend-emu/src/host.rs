//! Hosts: a network namespace with a TUN device each, in which programs run.
//!
//! One thread, the keeper, owns all namespaces. It enters that of a host, makes there what is needed (a device, a
//! socket, a process), and goes on. All processes are in one PID namespace. Its first process reads a pipe from
//! contend: when contend ends, in whatever way, the pipe closes, the first process ends, and the kernel ends all
//! others. Namespaces and mounts go with the last process that uses them.

use crate::bytes::MTU;
use crate::netlink::{Metrics, Netlink};
use contend_core::Refusal;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Packets that a device holds until the emulator reads them. The kernel's 500 are less than a window of today, and
/// what is above is lost; a pointer for each is all that more cost.
const QUEUE: u32 = 20_000;

/// What a host needs.
#[derive(Clone, Debug)]
pub struct HostSpec {
    /// Its name.
    pub name: String,
    /// Its address.
    pub ip: Ipv4Addr,
    /// The text of its /etc/hosts.
    pub names: String,
    /// Settings below /proc/sys, like `net/ipv4/tcp_sack`, and their values.
    pub settings: Vec<(String, String)>,
    /// Routes with metrics: to the addresses that begin with so many bits of an address.
    pub routes: Vec<(Ipv4Addr, u8, Metrics)>,
    /// Bits per second of its network interface, if it is a wire's.
    pub pace: Option<u64>,
}

/// Where a host lives.
#[derive(Debug)]
struct Namespaces {
    net: File,
    mount: File,
}

/// What the keeper works with.
#[derive(Debug)]
pub struct Keeper {
    hosts: Vec<Namespaces>,
    /// Where contend was called: programs run there.
    folder: Option<PathBuf>,
    /// The first process of the PID namespace.
    first: Child,
}

/// What the keeper is asked to do; `None`: to end.
type Task = Option<Box<dyn FnOnce(&mut Keeper) + Send>>;

/// Asks the keeper, from any thread.
#[derive(Clone, Debug)]
pub struct Asking(mpsc::Sender<Task>);

/// All hosts. Dropping it ends all their processes and removes them.
#[derive(Debug)]
pub struct Hosts {
    asking: Asking,
    thread: Option<JoinHandle<()>>,
}

/// Without root, makes contend root in a user namespace of its own, where it may make the others. The process must have
/// one thread.
///
/// # Errors
/// When the machine does not allow it; the text has the remedy.
pub fn become_root() -> Result<(), Refusal> {
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    if user.is_root() {
        return Ok(());
    }
    let refused = |what: &str, e: &dyn std::fmt::Display| {
        Refusal::new(
            format!("{what}: {e}"),
            "run contend as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 \
                kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=10000",
        )
    };
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|e| refused("no user namespace", &e))?;
    for (file, text) in
        [("setgroups", "deny".to_owned()), ("uid_map", format!("0 {user} 1")), ("gid_map", format!("0 {group} 1"))]
    {
        fs::write(format!("/proc/self/{file}"), text).map_err(|e| refused(&format!("/proc/self/{file}"), &e))?;
    }
    Ok(())
}

impl Hosts {
    /// Makes the hosts, and returns them with their devices in the same order.
    ///
    /// # Errors
    /// When the machine refuses something; the text names it and the remedy.
    pub fn new(specs: Vec<HostSpec>) -> Result<(Hosts, Vec<SyncDevice>), Refusal> {
        let (tasks, todo) = mpsc::channel::<Task>();
        let (made, ready) = mpsc::channel();
        let keep = move || {
            let keeper = Keeper::new(&specs);
            let mut keeper = match keeper {
                Ok((keeper, devices)) => {
                    let _ = made.send(Ok(devices));
                    keeper
                }
                Err(e) => {
                    let _ = made.send(Err(e));
                    return;
                }
            };
            while let Ok(Some(task)) = todo.recv() {
                task(&mut keeper);
            }
            keeper.end();
        };
        let thread = std::thread::Builder::new().name("keeper".into()).spawn(keep).map_err(|e| e.to_string())?;
        let devices = ready.recv().map_err(|_| "the thread that makes the hosts has ended".to_owned())??;
        Ok((Hosts { asking: Asking(tasks), thread: Some(thread) }, devices))
    }

    /// What other threads ask with.
    pub fn asking(&self) -> &Asking {
        &self.asking
    }
}

impl Asking {
    /// Runs `f` in the namespaces of host number `i`.
    ///
    /// # Errors
    /// When the namespaces cannot be entered, or that of `f`.
    pub fn at<T: Send + 'static>(&self, i: usize, f: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
        let gone = || io::Error::other("the hosts are gone");
        let (done, result) = mpsc::channel();
        let task = move |keeper: &mut Keeper| {
            let _ = done.send(keeper.enter(i).and_then(|()| f()));
        };
        self.0.send(Some(Box::new(task))).map_err(|_| gone())?;
        result.recv().map_err(|_| gone())?
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = self.asking.0.send(None);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The namespace `kind` of this thread.
fn namespace(kind: &str) -> io::Result<File> {
    File::open(format!("/proc/thread-self/ns/{kind}"))
}

impl Keeper {
    fn new(specs: &[HostSpec]) -> Result<(Keeper, Vec<SyncDevice>), Refusal> {
        let refused = |what: &'static str| {
            move |e: nix::Error| Refusal::new(format!("{what}: {e}"), "run contend as root, or see `contend doctor`")
        };
        unshare(CloneFlags::CLONE_NEWNS).map_err(refused("no mount namespace"))?;
        let none = None::<&str>;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).map_err(refused("private mounts"))?;
        unshare(CloneFlags::CLONE_NEWPID).map_err(refused("no PID namespace"))?;
        // It ends when the pipe closes. As the first process of its namespace it does not react to Ctrl-C.
        let first = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0).spawn();
        let first = first.map_err(|e| format!("cat, the first process of all hosts, cannot be started: {e}"))?;
        let mut keeper = Keeper { hosts: Vec::new(), folder: std::env::current_dir().ok(), first };
        let made = namespace("mnt")
            .map_err(|e| Refusal::from(e.to_string()))
            .and_then(|base| specs.iter().map(|spec| keeper.add(spec, &base)).collect::<Result<Vec<_>, _>>());
        match made {
            Ok(devices) => Ok((keeper, devices)),
            Err(e) => {
                keeper.end();
                Err(e)
            }
        }
    }

    /// Makes one more host. `base` is the mount namespace that it begins with.
    fn add(&mut self, spec: &HostSpec, base: &File) -> Result<SyncDevice, Refusal> {
        let failed = |what: &'static str| move |e: io::Error| format!("host {}: {what}: {e}", spec.name);
        let made = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            // Before any device is up: then no host sends a packet by itself.
            for name in ["all", "default"] {
                let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
            }
            namespace("net")
        };
        let net = made().map_err(failed("no network namespace"))?;
        let builder = DeviceBuilder::new().name("tun0").ipv4(spec.ip, 8, None).mtu(MTU as u16);
        // Segments of one burst pass together, as with a network card.
        let builder = builder.tx_queue_len(QUEUE).with(|linux| {
            linux.offload(true);
        });
        let device = builder.build_sync();
        let device = device.map_err(|e| {
            Refusal::new(
                format!("host {}: no TUN device: {e}", spec.name),
                "/dev/net/tun must exist (modprobe tun) and be yours to open (chmod 0666 \
                    /dev/net/tun)",
            )
        })?;
        device.set_nonblocking(true).map_err(failed("TUN device"))?;
        let route = || {
            let (netlink, tun) = (Netlink::open()?, nix::net::if_::if_nametoindex("tun0")?);
            netlink.up(nix::net::if_::if_nametoindex("lo")?)?;
            if let Some(rate) = spec.pace {
                // A kernel without the module hands packets over as they come.
                let _ = netlink.pace(tun, rate);
            }
            spec.routes.iter().try_for_each(|(to, bits, metrics)| netlink.route(*to, *bits, tun, metrics))
        };
        route().map_err(failed("routes"))?;
        for (key, value) in &spec.settings {
            fs::write(format!("/proc/sys/{key}"), value)
                .map_err(|e| format!("host {}: {key} = {value}: {e}", spec.name))?;
        }
        let mounts = || {
            setns(base, CloneFlags::CLONE_NEWNS)?;
            unshare(CloneFlags::CLONE_NEWNS)?;
            bind(&spec.names, Path::new("/etc/hosts"))?;
            // No name server of this machine can be reached: programs must not wait for its answer.
            let resolver = Path::new("/etc/resolv.conf");
            if resolver.exists() {
                bind("", resolver)?;
            }
            namespace("mnt")
        };
        let mount = mounts().map_err(failed("/etc/hosts, /etc/resolv.conf"))?;
        self.hosts.push(Namespaces { net, mount });
        Ok(device)
    }

    /// Enters the namespaces of host number `i`.
    fn enter(&self, i: usize) -> io::Result<()> {
        let host = self.hosts.get(i).ok_or_else(|| io::Error::other("there is no such host"))?;
        setns(&host.net, CloneFlags::CLONE_NEWNET)?;
        setns(&host.mount, CloneFlags::CLONE_NEWNS)?;
        // setns(2): the thread's working directory is now the root of the mount namespace.
        self.folder.iter().try_for_each(std::env::set_current_dir)
    }

    /// Ends all processes.
    fn end(&mut self) {
        drop(self.first.stdin.take());
        let _ = self.first.kill();
        let _ = self.first.wait();
    }
}

/// Lets `path` have the content `text` in this mount namespace. Nothing is left of it elsewhere.
fn bind(text: &str, path: &Path) -> io::Result<()> {
    let file = std::env::temp_dir().join(format!("contend-hosts-{}-{:?}", std::process::id(), nix::unistd::gettid()));
    fs::write(&file, text)?;
    let none = None::<&str>;
    let bound = mount(Some(&file), path, none, MsFlags::MS_BIND, none);
    fs::remove_file(&file)?;
    Ok(bound?)
}
