//! The packets of one station: its flows take turns, one packet per turn.

use super::Backlog;
use super::lane::Lane;
use crate::packet::{FlowId, Packet};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// One queue for each flow and direction with waiting packets, served round robin.
#[derive(Debug, Default)]
pub struct Turns {
    lane_of: BTreeMap<(FlowId, bool), usize>,
    lanes: Vec<Lane>,
    /// Queues that no flow uses.
    free: Vec<usize>,
    /// Queues with waiting packets; the next one is first.
    turn: VecDeque<usize>,
    waiting: Backlog,
}

impl Turns {
    /// Appends `p` to its flow.
    pub fn push(&mut self, p: Packet) {
        let (lanes, free) = (&mut self.lanes, &mut self.free);
        let i = *self.lane_of.entry((p.flow, p.is_reverse())).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                lanes.push(Lane::default());
                lanes.len() - 1
            })
        });
        let Some(lane) = self.lanes.get_mut(i) else { return };
        if lane.front().is_none() {
            self.turn.push_back(i);
        }
        self.waiting.add(&p);
        lane.push(p);
    }

    /// The packet that has its turn. Arrivals do not change it; only `pop` and `pass` do.
    pub fn front(&self) -> Option<&Packet> {
        self.lanes.get(*self.turn.front()?)?.front()
    }

    /// Removes that packet. Its flow moves to the end if it has more packets.
    pub fn pop(&mut self) -> Option<Packet> {
        let i = self.turn.pop_front()?;
        let lane = self.lanes.get_mut(i)?;
        let p = lane.pop()?;
        self.waiting.remove(&p);
        if lane.front().is_some() {
            self.turn.push_back(i);
        } else {
            self.lane_of.remove(&(p.flow, p.is_reverse()));
            self.free.push(i);
        }
        Some(p)
    }

    /// The packets that wait.
    pub fn backlog(&self) -> Backlog {
        self.waiting
    }

    /// Gives the turn to the next flow, as if a packet had been removed.
    pub fn pass(&mut self) {
        if !self.turn.is_empty() {
            self.turn.rotate_left(1);
        }
    }
}
