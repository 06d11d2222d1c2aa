//! Ends a tool from outside: Ctrl-C, or a test.

use crate::Result;
use crate::error::of_system;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A request to stop, shared by the tool and whoever may stop it. The tool also waits for its file descriptor.
#[derive(Clone, Debug)]
pub struct Stop(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// How often the tool was asked.
    asked: AtomicU8,
    /// Readable from the first request on.
    wake: EventFd,
}

impl Stop {
    /// No request yet.
    ///
    /// # Errors
    /// When the process has no file descriptor left.
    pub fn new() -> Result<Stop> {
        let wake = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC);
        let wake = wake.map_err(|e| of_system("no event file descriptor can be made", e))?;
        Ok(Stop(Arc::new(Inner { asked: AtomicU8::new(0), wake })))
    }

    /// Asks the tool to stop. The second request says: at once.
    pub fn stop(&self) {
        self.0.asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| Some(n.saturating_add(1))).ok();
        let _ = self.0.wake.write(1);
    }

    /// True if the tool was asked to stop.
    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed) > 0
    }

    /// True if the tool was asked a second time.
    pub fn at_once(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed) > 1
    }

    /// Forgets that the descriptor is readable, so that a tool that ends slowly can wait for a second request.
    pub fn heard(&self) {
        let _ = self.0.wake.read();
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.wake.as_fd()
    }
}
