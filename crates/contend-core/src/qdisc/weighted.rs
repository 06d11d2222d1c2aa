//! One queue per class, served by WF2Q+. `wf2q` and `elf` share this file.

use super::lane::{Lane, limit};
use super::virtual_time::{Head, Update, VirtualTime};
use super::{Backlog, Below, DropReason, Sink};
use crate::Refusal;
use crate::packet::Packet;
use crate::registry::{Amount, Args};
use alloc::vec::Vec;

/// Classes with one queue each.
#[derive(Debug)]
pub struct Weighted {
    time: VirtualTime,
    lanes: Vec<Lane>,
    waiting: Backlog,
    limit: Amount,
    class_limit: Amount,
}

impl Weighted {
    /// Starts without classes. The limits are the parameters `limit` and `class_limit`.
    ///
    /// # Errors
    /// If a limit has no room for one packet.
    pub fn new(args: &Args, update: Update) -> Result<Weighted, Refusal> {
        let (limit, class_limit) = (limit(args, "limit")?, limit(args, "class_limit")?);
        Ok(Weighted {
            time: VirtualTime::new(update),
            lanes: Vec::new(),
            waiting: Backlog::default(),
            limit,
            class_limit,
        })
    }

    /// Appends `p` to `class`, or drops it if the total or the class has no room. Calls `head` if `p` becomes the first
    /// packet of its class.
    pub fn enqueue(&mut self, class: usize, p: Packet, head: impl FnOnce(&Packet) -> Head, sink: &mut Sink) {
        if class >= self.lanes.len() {
            self.lanes.resize_with(class + 1, Lane::default);
        }
        let Some(lane) = self
            .lanes
            .get_mut(class)
            .filter(|l| self.waiting.has_room(self.limit, &p) && l.backlog().has_room(self.class_limit, &p))
        else {
            sink.drop(p, DropReason::Full);
            return;
        };
        if lane.front().is_none() && !self.time.is_held(class) {
            self.time.arrive(class, head(&p));
        }
        self.waiting.add(&p);
        lane.push(p);
    }

    /// The packet that has its turn. Calls `head` for the packet behind it.
    pub fn dequeue(&mut self, head: impl FnOnce(&Packet) -> Head) -> Option<Packet> {
        let class = self.time.select()?;
        let lane = self.lanes.get_mut(class)?;
        let p = lane.pop()?;
        self.waiting.remove(&p);
        self.time.served(class, None, lane.front().map(head));
        Some(p)
    }

    /// As [`ByReceiver::serve`](super::ByReceiver::serve), if each class is a receiver.
    pub fn serve(&mut self, head: impl Fn(&Packet) -> Head, below: &mut dyn Below, sink: &mut Sink) -> Option<u32> {
        let Weighted { time, lanes, waiting, .. } = self;
        let class = time.turn(&*below, |c| lanes.get(c).is_some_and(|l| l.front().is_some()))?;
        let lane = lanes.get_mut(class)?;
        let mut cost = None;
        while below.has_room(class as u32)
            && let Some(p) = lane.pop()
        {
            waiting.remove(&p);
            cost = Some(cost.unwrap_or(0.0) + head(&p).cost);
            below.put(p, sink);
        }
        time.served(class, cost, lane.front().map(head));
        Some(class as u32)
    }

    /// As [`ByReceiver::hold`](super::ByReceiver::hold). A turn in which no packet leaves the queue costs `head`.
    pub fn hold(&mut self, class: usize, head: Head) {
        if class >= self.lanes.len() {
            self.lanes.resize_with(class + 1, Lane::default);
        }
        if !self.waits(class) {
            self.time.hold(class, head);
        }
    }

    /// As [`ByReceiver::join`](super::ByReceiver::join), if each class is a receiver.
    pub fn join(&mut self, class: usize, head: impl Fn(&Packet) -> Head, below: &mut dyn Below, sink: &mut Sink) {
        let Some(lane) = self.lanes.get_mut(class) else { return };
        let mut cost = None;
        while below.has_room(class as u32)
            && let Some(p) = lane.pop()
        {
            self.waiting.remove(&p);
            cost = Some(cost.unwrap_or(0.0) + head(&p).cost);
            below.put(p, sink);
        }
        if let Some(cost) = cost {
            self.time.joined(class, cost, lane.front().map(head));
        }
    }

    /// True if packets of `class` wait.
    pub fn waits(&self, class: usize) -> bool {
        self.lanes.get(class).is_some_and(|l| l.front().is_some())
    }

    /// Removes `class` from the sharing. No packet of `class` may wait.
    pub fn forget(&mut self, class: usize) {
        self.time.forget(class);
    }

    /// The packets that wait.
    pub fn backlog(&self) -> Backlog {
        self.waiting
    }
}
