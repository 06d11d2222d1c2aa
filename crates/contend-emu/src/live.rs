//! The emulator: one thread lets the world run to the present, writes out what has left, sleeps until the next deadline
//! or packet, and hands in what has come.
//!
//! The kernel's receive path runs inside our write to a device, so the TCP stacks need no scheduling of their own.

use crate::border::Border;
use crate::bulk::Bulk;
use crate::host::Hosts;
use crate::losses::Losses;
use crate::offload::{Burst, Segments};
use crate::plan::Plan;
use crate::programs::{Failed, Program, Programs};
use crate::record::{FOLDER, Recorder};
use crate::verdict::{Late, judged};
use crate::wait::{LONGEST, RealTime, Waiter};
use crate::watch::Watch;
use contend_core::Refusal;
use contend_core::{Packet, Span, Time};
use contend_lab::experiment::point::Member;
use contend_lab::experiment::results::Emulation;
use contend_lab::running::network::{Advanced, Beginning, Driver, Engine};
use contend_sim::net::Net;
use contend_sim::scenario::Scenario;
use nix::sys::mman::{MlockAllFlags, mlockall, munlockall};
use std::any::Any;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tun_rs::SyncDevice;

/// Writes of a host, each of at most 64 kB, that are read from its device before the others have their turn.
const TURN: usize = 4;
/// How often a sender of the kernel is searched that is not known yet.
const SEARCH: Span = Span::from_millis(100);
/// After Ctrl-C a command has so much time to end by itself.
const GRACE: Span = Span::from_secs(1);

/// The engine that runs experiments with real hosts, in real time.
#[derive(Debug, Default)]
pub struct Emulate {
    /// Programs beside the command.
    programs: Vec<Program>,
    /// The run ends with this program, which has the terminal. Without it, or with `flows`, the flows of the file have
    /// senders of our own.
    command: Option<Program>,
    /// The folder for recordings, if they are kept.
    record: Mutex<Option<PathBuf>>,
    /// True if the thread runs with ordinary priority although it could have more.
    ordinary: bool,
    /// True if the flows of the file send beside a command.
    flows: bool,
    /// Brings controllers into the kernel that it does not have.
    controllers: Option<Controllers>,
    /// How often a run is made at most; 0 is once.
    attempts: u32,
    ended: Arc<Mutex<Option<ExitStatus>>>,
    failed: Arc<Mutex<Vec<Failed>>>,
}

/// Brings the controllers of a network into the kernel, for as long as its result lives.
pub type Controllers = fn(&Scenario, &[Member]) -> Result<Box<dyn Any>, Refusal>;

impl Emulate {
    /// An engine with these programs, and a command whose end is the end of the run.
    pub fn new(programs: Vec<Program>, command: Option<Program>) -> Emulate {
        Emulate { programs, command, ..Emulate::default() }
    }

    /// With `ordinary`, the thread keeps its priority although the machine would allow more.
    #[must_use]
    pub fn with_ordinary_priority(self, ordinary: bool) -> Emulate {
        Emulate { ordinary, ..self }
    }

    /// With `flows`, the flows of the file send beside the command too.
    #[must_use]
    pub fn with_flows(self, flows: bool) -> Emulate {
        Emulate { flows, ..self }
    }

    /// With `controllers`, which is called before each run: what it returns is dropped after the run.
    #[must_use]
    pub fn with_controllers(self, controllers: Controllers) -> Emulate {
        Emulate { controllers: Some(controllers), ..self }
    }

    /// A run that is not faithful is made again, up to `attempts` times in all.
    #[must_use]
    pub fn with_attempts(self, attempts: u32) -> Emulate {
        Emulate { attempts, ..self }
    }

    /// How the command ended.
    pub fn ended(&self) -> Option<ExitStatus> {
        *self.ended.lock().ok()?
    }

    /// The programs beside the command that failed, of all runs so far.
    pub fn failed(&self) -> Vec<Failed> {
        self.failed.lock().map(|failed| failed.clone()).unwrap_or_default()
    }
}

impl Engine for Emulate {
    fn keep_in(&self, folder: &Path) {
        if let Ok(mut record) = self.record.lock() {
            *record = Some(folder.join(FOLDER));
        }
    }

    fn attempts(&self) -> u32 {
        self.attempts.max(1)
    }

    fn begin(&self, run: &Beginning<'_>) -> Result<(Net, Box<dyn Driver>), Refusal> {
        let controllers = self.controllers.map(|load| load(run.scenario, run.members)).transpose()?;
        let plan = Plan::new(run.scenario, run.members)?;
        let net = Net::with_outside(run.scenario, &plan.outside)?;
        let (hosts, devices) = Hosts::new(plan.specs(run.scenario))?;
        let sends = self.command.is_none() || self.flows;
        let bulk = sends.then(|| Bulk::new(&plan, run.scenario, hosts.asking())).transpose()?;
        let host = |p: &Program| match &p.host {
            None => Ok(plan.first_station()),
            Some(name) => plan.host(name).ok_or_else(|| plan.no_host(name)),
        };
        let programs = self.programs.iter().map(|p| Ok((host(p)?, p.clone()))).collect::<Result<Vec<_>, Refusal>>()?;
        let command = self.command.as_ref().map(|p| Ok::<_, Refusal>((host(p)?, p.clone()))).transpose()?;
        let waiter = Waiter::new().map_err(|e| format!("no timer: {e}"))?;
        for (i, device) in devices.iter().enumerate() {
            waiter.watch(device, i).map_err(|e| format!("no event for a TUN device: {e}"))?;
        }
        let folder = self.record.lock().map(|f| f.clone()).unwrap_or_default();
        let recorder = folder.as_ref().map(|folder| {
            Recorder::begin(folder, run.point, run.scenario.seed)
                .map_err(|e| format!("{}: the recording cannot be written: {e}", folder.display()))
        });
        let border = Border::new(&plan, &net);
        let live = Live {
            border,
            min_rtt: plan.min_rtt,
            watch: Watch::new(&plan, hosts.asking()),
            next_search: Time::ZERO,
            recorder: recorder.transpose()?,
            logs: folder.and_then(|f| Some(f.parent()?.to_path_buf())),
            pending: Some((programs, command)),
            has_command: self.command.is_some(),
            stopped: None,
            ended: Arc::clone(&self.ended),
            failed: Arc::clone(&self.failed),
            bulk,
            waiter,
            devices,
            hosts,
            programs: None,
            _controllers: controllers,
            real_time: None,
            ordinary: self.ordinary,
            late: Late::default(),
            entry: Late::default(),
            wake: Late::default(),
            gap: Late::default(),
            polled: Time::ZERO,
            left: Vec::new(),
            burst: Burst::default(),
            segments: Segments::default(),
            ready: Vec::new(),
            losses: Losses::default(),
        };
        Ok((net, Box::new(live)))
    }
}

/// Programs with the numbers of their hosts, and the command.
type Pending = (Vec<(usize, Program)>, Option<(usize, Program)>);

/// A run in real time.
struct Live {
    border: Border,
    watch: Watch,
    next_search: Time,
    min_rtt: Span,
    recorder: Option<Recorder>,
    /// The folder for what programs print.
    logs: Option<PathBuf>,
    /// What starts with the run.
    pending: Option<Pending>,
    /// True if the run ends with a command. Ctrl-C then ends the command first.
    has_command: bool,
    /// When Ctrl-C came.
    stopped: Option<Time>,
    ended: Arc<Mutex<Option<ExitStatus>>>,
    failed: Arc<Mutex<Vec<Failed>>>,
    bulk: Option<Bulk>,
    waiter: Waiter,
    devices: Vec<SyncDevice>,
    hosts: Hosts,
    /// What has started. It ends after the hosts, in which it runs.
    programs: Option<Programs>,
    real_time: Option<RealTime>,
    ordinary: bool,
    /// How late packets left.
    late: Late,
    /// How late packets entered.
    entry: Late,
    /// How late the thread woke up.
    wake: Late,
    /// Time between two looks at the devices.
    gap: Late,
    /// When the devices were looked at last.
    polled: Time,
    left: Vec<(Time, Packet)>,
    burst: Burst,
    segments: Segments,
    ready: Vec<usize>,
    /// What devices did not take.
    losses: Losses,
    /// Controllers that the kernel has for this run; they end after the hosts.
    _controllers: Option<Box<dyn Any>>,
}

impl Live {
    /// The clock begins.
    fn start(&mut self) -> Result<(), Refusal> {
        if nix::unistd::geteuid().is_root() {
            // A page that is not in memory would cost milliseconds. Without the right to it the verdict speaks.
            let _ = mlockall(MlockAllFlags::MCL_CURRENT);
        }
        let (programs, command) = self.pending.take().unwrap_or_default();
        self.real_time = (!self.ordinary).then(RealTime::new);
        self.waiter.restart();
        let (asking, logs, failed) = (self.hosts.asking(), self.logs.take(), Arc::clone(&self.failed));
        self.programs = Some(Programs::start(asking, programs, command, logs, failed)?);
        Ok(())
    }

    /// Writes what has left the network.
    fn write_out(&mut self, net: &mut Net) {
        net.take_left(&mut self.left);
        let left = std::mem::take(&mut self.left);
        let mut burst = None;
        for (at, p) in &left {
            let Some(host) = self.border.leave(p) else { continue };
            if burst.is_some_and(|of| of != (host, *at)) {
                self.hand_over(burst);
            }
            burst = Some((host, *at));
            self.burst.push(self.border.packet());
        }
        self.hand_over(burst);
        self.left = left;
    }

    /// Hands the packets of the burst to the host for which they left, and says when they did.
    fn hand_over(&mut self, burst: Option<(usize, Time)>) {
        let Some((host, at)) = burst else { return };
        let Some(device) = self.devices.get(host) else { return };
        let packets = self.burst.len();
        // A host that takes no more loses the burst.
        if self.burst.write(device).is_err() {
            self.losses.received += packets as u64;
        }
        let late = self.waiter.now().since(at);
        (0..packets).for_each(|_| self.late.record(late));
    }

    /// Hands in what the hosts that are ready have sent, not after `to`. The thread should have been here at `due`.
    fn read_in(&mut self, net: &mut Net, to: Time, due: Time) -> Result<(), Refusal> {
        for i in 0..self.ready.len() {
            let host = self.ready[i];
            let Some(device) = self.devices.get(host) else { continue };
            for _ in 0..TURN {
                let segments = match self.segments.read(device) {
                    Ok(segments) => segments,
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => break,
                    Err(e) => return Err(format!("a TUN device cannot be read: {e}").into()),
                };
                let now = self.waiter.now();
                let at = now.min(to).max(net.world.now());
                for packet in segments {
                    self.entry.record(now.since(due));
                    if self.border.enter(net, at, host, packet, packet.len()).is_ok()
                        && let Some(recorder) = &mut self.recorder
                    {
                        recorder.entry(at, host, packet);
                    }
                }
            }
            self.write_out(net);
        }
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // Before the hosts end: nothing must start in them any more.
        self.programs.iter().for_each(Programs::stop);
    }
}

impl Driver for Live {
    fn advance(&mut self, net: &mut Net, to: Time, stop: &AtomicBool) -> Result<Advanced, Refusal> {
        if self.programs.is_none() {
            self.start()?;
        }
        loop {
            let now = self.waiter.now();
            net.world.advance(now.min(to));
            self.write_out(net);
            if let Some(bulk) = &self.bulk {
                bulk.tick(now);
            }
            if now >= self.next_search {
                self.next_search = now + SEARCH;
                self.watch.search(net);
            }
            if now >= to {
                net.run_until(to);
                self.watch.look(net);
                return Ok(Advanced::There);
            }
            if stop.load(Ordering::Relaxed) {
                self.stopped.get_or_insert(now);
            }
            let status = self.programs.as_ref().and_then(Programs::ended);
            let grace = if self.has_command { GRACE } else { Span::ZERO };
            if status.is_some() || self.stopped.is_some_and(|at| now.since(at) >= grace) {
                if let Ok(mut ended) = self.ended.lock() {
                    *ended = status;
                }
                let end = net.world.now();
                net.run_until(end);
                return Ok(Advanced::Ended);
            }
            let until = net.world.next_deadline().min(to).min(now + LONGEST);
            self.waiter.until(until, &mut self.ready).map_err(|e| format!("waiting failed: {e}"))?;
            // Right after the wait: otherwise work that follows would hide how long it took.
            let woken = self.waiter.now();
            if woken > until {
                self.wake.record(woken.since(until.max(now)));
            }
            self.gap.record(woken.since(self.polled));
            self.polled = woken;
            self.read_in(net, to, woken.min(until))?;
        }
    }

    fn finish(&mut self, net: &mut Net) -> Result<Option<Emulation>, Refusal> {
        let real_time = self.real_time.take().is_some_and(|r| r.is_granted());
        let _ = munlockall();
        if let Some(recorder) = self.recorder.take() {
            recorder.end(net.world.now()).map_err(|e| format!("the recording cannot be written: {e}"))?;
        }
        let e = Emulation {
            lateness_s: self.late.read(),
            entry_s: self.entry.read(),
            wake_s: self.wake.read(),
            gap_s: self.gap.read(),
            flows: self.border.flows() as u64,
            opened: self.border.opened(net),
            real_time,
            ..Emulation::default()
        };
        for host in 0..self.devices.len() {
            // A finished run is kept, though nobody knows then whether it is true.
            let unknown = Losses { unknown: 1, ..Losses::default() };
            self.losses += self.hosts.asking().at(host, Losses::read).unwrap_or(unknown);
        }
        Ok(Some(judged(e, &self.border.tally, &self.losses, self.min_rtt)))
    }
}
