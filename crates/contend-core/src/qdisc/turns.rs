//! The packets of one station, flow by flow in turn, a packet each time.

use super::Backlog;
use super::lane::Lane;
use crate::packet::{FlowId, Packet};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// A queue for each flow and direction of which packets wait, served round robin.
#[derive(Debug, Default)]
pub struct Turns {
    lane_of: BTreeMap<(FlowId, bool), usize>,
    lanes: Vec<Lane>,
    /// Lanes of no flow.
    free: Vec<usize>,
    /// Lanes in which packets wait, the next first.
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

    /// The packet whose turn it is. It stays so until it is taken or passed over, whatever arrives.
    pub fn front(&self) -> Option<&Packet> {
        self.lanes.get(*self.turn.front()?)?.front()
    }

    /// Takes it; its flow goes to the end of the row when more of it waits.
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

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.waiting
    }

    /// The turn goes to the next flow, as if a packet had been taken.
    pub fn pass(&mut self) {
        if !self.turn.is_empty() {
            self.turn.rotate_left(1);
        }
    }
}
