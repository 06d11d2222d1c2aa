//! Waiting for a packet or a point in time, with little lateness.

use contend_core::{Span, Time};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId as Clock, clock_gettime};
use std::io;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The number of the timer among the events; packets have that of their device.
const TIMER: u64 = u64::MAX;
/// Devices that one call reports.
const EVENTS: usize = 64;
/// Real-time priority of the thread, 1 to 99.
const PRIORITY: u32 = 50;

/// A clock that began at zero, and what wakes it up.
#[derive(Debug)]
pub struct Waiter {
    epoll: Epoll,
    timer: TimerFd,
    /// Zero on the machine's monotonic clock.
    zero: Duration,
    /// The time that the timer is set to.
    set: Time,
    events: Vec<EpollEvent>,
}

/// The machine's monotonic clock.
fn monotonic() -> Duration {
    clock_gettime(Clock::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

impl Waiter {
    /// A clock that shows zero now.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn new() -> io::Result<Waiter> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
        let events = vec![EpollEvent::empty(); EVENTS];
        Ok(Waiter { epoll, timer, zero: monotonic(), set: Time::NEVER, events })
    }

    /// Also wakes up when `device` can be read; it is reported as `number`.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn watch(&self, device: impl AsFd, number: usize) -> io::Result<()> {
        Ok(self.epoll.add(device, EpollEvent::new(EpollFlags::EPOLLIN, number as u64))?)
    }

    /// Sets the clock to zero.
    pub fn restart(&mut self) {
        (self.zero, self.set) = (monotonic(), Time::NEVER);
    }

    /// The time.
    pub fn now(&self) -> Time {
        Time::from_nanos(monotonic().saturating_sub(self.zero).as_nanos() as u64)
    }

    /// Waits until `at`, or until a device can be read; not at all if `at` has passed. Adds the devices that can be
    /// read to `ready`.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn until(&mut self, at: Time, ready: &mut Vec<usize>) -> io::Result<()> {
        ready.clear();
        let wait = at > self.now();
        if wait && at != self.set {
            let alarm = self.zero + Duration::from_nanos(at.as_nanos());
            self.timer.set(Expiration::OneShot(TimeSpec::from(alarm)), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
            self.set = at;
        }
        let timeout = if wait { EpollTimeout::NONE } else { EpollTimeout::ZERO };
        let n = match self.epoll.wait(&mut self.events, timeout) {
            Err(nix::Error::EINTR) => 0,
            n => n?,
        };
        for event in &self.events[..n] {
            match event.data() {
                // A timer that has fired stays readable until it is set again.
                TIMER => {}
                device => ready.push(device as usize),
            }
        }
        if !wait || self.now() >= self.set {
            self.set = Time::NEVER;
        }
        Ok(())
    }
}

/// Real-time scheduling of a thread, until it is dropped.
#[derive(Debug)]
pub struct RealTime(Option<u32>);

impl RealTime {
    /// Lets this thread run before all ordinary ones, as far as the machine allows. What it starts is ordinary
    /// (reset-on-fork): a process that inherited the priority could starve the machine.
    pub fn new() -> RealTime {
        let thread = nix::unistd::gettid().as_raw() as u32;
        RealTime(chrt(&["-R", "-f", "-p", &PRIORITY.to_string(), &thread.to_string()]).then_some(thread))
    }

    /// True if the machine has allowed it.
    pub fn is_granted(&self) -> bool {
        self.0.is_some()
    }
}

impl Default for RealTime {
    fn default() -> RealTime {
        RealTime::new()
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        if let Some(thread) = self.0 {
            chrt(&["-o", "-p", "0", &thread.to_string()]);
        }
    }
}

/// Runs chrt(1). There is no safe function for it.
fn chrt(arguments: &[&str]) -> bool {
    let mut chrt = Command::new("chrt");
    chrt.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    chrt.status().is_ok_and(|s| s.success())
}

/// How long the thread waits at most without looking at anything else.
pub const LONGEST: Span = Span::from_millis(10);
