//! A recorded run once more, without hosts: the same packets enter at the same times.

use crate::border::Border;
use crate::plan::Plan;
use crate::record::{Entry, FOLDER, Recording};
use contend_core::Refusal;
use contend_core::Time;
use contend_lab::experiment::results::Emulation;
use contend_lab::running::network::{Advanced, Beginning, Driver, Engine};
use contend_sim::net::Net;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The engine that repeats the runs of a results folder.
#[derive(Clone, Debug)]
pub struct Replay {
    folder: PathBuf,
}

impl Replay {
    /// Repeats the runs of the results folder `folder`.
    pub fn of(folder: PathBuf) -> Replay {
        Replay { folder }
    }
}

impl Engine for Replay {
    fn begin(&self, run: &Beginning<'_>) -> Result<(Net, Box<dyn Driver>), Refusal> {
        let recording = Recording::of(&self.folder.join(FOLDER), run.point, run.scenario.seed)?;
        let plan = Plan::new(run.scenario, run.members)?;
        let net = Net::with_outside(run.scenario, &plan.outside)?;
        let border = Border::new(&plan, &net);
        Ok((net, Box::new(Replaying { recording, border, hosts: plan.hosts.len(), next: None })))
    }
}

struct Replaying {
    recording: Recording,
    border: Border,
    hosts: usize,
    /// The entry that was read and is not yet due.
    next: Option<Entry>,
}

impl Driver for Replaying {
    fn advance(&mut self, net: &mut Net, to: Time, stop: &AtomicBool) -> Result<Advanced, Refusal> {
        let mut left = Vec::new();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(Advanced::Stopped);
            }
            let entry = match self.next.take() {
                Some(entry) => entry,
                None => self.recording.read(self.hosts)?,
            };
            match entry {
                Entry::End(at) if at < to => {
                    net.run_until(at);
                    return Ok(Advanced::Ended);
                }
                Entry::Packet { at, host, whole, ref bytes } if at <= to => {
                    let _ = self.border.enter(net, at, host, bytes, whole);
                    net.take_left(&mut left);
                }
                later => {
                    self.next = Some(later);
                    net.run_until(to);
                    return Ok(Advanced::There);
                }
            }
        }
    }

    fn finish(&mut self, _: &mut Net) -> Result<Option<Emulation>, Refusal> {
        Ok(None)
    }
}
