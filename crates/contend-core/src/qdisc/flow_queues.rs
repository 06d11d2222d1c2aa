//! Flow queues under CoDel, selected by hash and served by deficit round robin, new queues first. `fq_codel` and
//! `airtime` share this file.
//!
//! Several groups share the queues, and each group has its own turns; in `airtime` a group is a station. Source:
//! Høiland-Jørgensen et al. 2017, "Ending the Anomaly", Algorithms 1 and 2. With one group the result is RFC 8290. If
//! the hash of a flow selects a queue in use by another group, the flow uses the one unhashed queue of its own group.
//! While the unhashed queue is in use, flows that begin use it too. Otherwise a flow could have packets in two queues
//! and lose its order.

use super::codel::{At, Codel, Law};
use super::lane::Lane;
use super::shallow::{Drain, Shallow, Turns};
use super::{Backlog, Sink};
use crate::Cx;
use crate::packet::{Ecn, Packet};
use crate::time::{Span, Time};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use rand::RngExt as _;

/// The queues, and the order of their turns.
#[derive(Debug)]
pub struct FlowQueues {
    /// The hashed queues, then one unhashed queue for each group.
    queues: Vec<Queue>,
    /// Number of hashed queues.
    hashes: usize,
    /// Bytes that a queue may send per round.
    quantum: i64,
    hash: FlowHash,
    groups: Vec<Group>,
    total: Backlog,
}

/// The queue of one flow, or of all flows with the same hash.
#[derive(Debug, Default)]
struct Queue {
    packets: Lane,
    codel: Codel,
    /// Bytes that the queue may still send in this round.
    credits: i64,
    /// The group that uses the queue.
    group: Option<usize>,
    /// True if the queue has not been served since it got its credits.
    waits_for_turn: bool,
    turns: Turns,
}

/// The active queues of a group, by number.
#[derive(Debug, Default)]
struct Group {
    /// Queues that have become active and have not yet used a quantum.
    new: VecDeque<usize>,
    /// The other active queues.
    old: VecDeque<usize>,
    waiting: Backlog,
    /// The turns of the group, if the caller gives turns ([`FlowQueues::begin_turn`]).
    turns: Option<Turns>,
    /// How fast the group is served, if the caller [measures](FlowQueues::measure) it.
    drain: Option<Drain>,
}

/// The mixing function of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The hash of flows at one queue, with a random perturbation (RFC 8290 §4.1). The number of the flow stands for ports
/// and protocol.
#[derive(Debug)]
pub(super) struct FlowHash {
    /// The number of the network ([`super::Site::network`]).
    network: u64,
    perturbation: Option<u64>,
}

impl FlowHash {
    pub(super) fn new(network: u64) -> FlowHash {
        FlowHash { network, perturbation: None }
    }
    /// The perturbation, drawn when it is first needed.
    pub(super) fn key(&mut self, cx: &mut Cx) -> u64 {
        let network = self.network;
        *self.perturbation.get_or_insert_with(|| mix(cx.rng.random::<u64>() ^ mix(network)))
    }
    /// The hash of the flow and direction of `p`.
    pub(super) fn of_flow(key: u64, p: &Packet) -> u64 {
        let ends = u64::from(p.src.0) << 32 | u64::from(p.dst.0);
        let flow = u64::from(p.flow.0) << 1 | u64::from(p.is_reverse());
        mix(mix(key ^ ends) ^ flow)
    }
    /// The hash of a host.
    pub(super) fn of_host(key: u64, host: u32) -> u64 {
        mix(key ^ mix(u64::from(host)))
    }
}

impl FlowQueues {
    /// `hashes` empty queues, each of which may send `quantum` bytes per round, in the network with this number.
    pub fn new(hashes: usize, quantum: u64, network: u64) -> FlowQueues {
        let queues = core::iter::repeat_with(Queue::default).take(hashes).collect();
        FlowQueues {
            queues,
            hashes,
            quantum: i64::try_from(quantum).unwrap_or(i64::MAX),
            hash: FlowHash::new(network),
            groups: Vec::new(),
            total: Backlog::default(),
        }
    }

    /// The backlog of all groups.
    pub fn total(&self) -> Backlog {
        self.total
    }
    /// The backlog of `group`.
    pub fn backlog(&self, group: usize) -> Backlog {
        self.groups.get(group).map_or(Backlog::default(), |g| g.waiting)
    }

    /// Appends `p` to the queue of its flow in `group`. Returns the number of the queue.
    pub fn push(&mut self, cx: &mut Cx, group: usize, p: Packet) -> usize {
        let i = self.classify(cx, &p);
        let user = |i: usize| self.queues.get(i).and_then(|q| q.group);
        // Høiland-Jørgensen et al. 2017, Algorithm 1: a queue of another station is not shared.
        if user(i).unwrap_or(group) != group || (user(i).is_none() && user(self.hashes + group).is_some()) {
            self.push_unhashed(group, p);
            self.hashes + group
        } else {
            self.append(group, i, p);
            i
        }
    }

    /// Appends `p` to the unhashed queue of `group`.
    pub fn push_unhashed(&mut self, group: usize, p: Packet) {
        self.append(group, self.hashes + group, p);
    }

    fn append(&mut self, group: usize, i: usize, p: Packet) {
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, Group::default);
            self.queues.resize_with(self.hashes + group + 1, Queue::default);
        }
        let (Some(queue), Some(g)) = (self.queues.get_mut(i), self.groups.get_mut(group)) else { return };
        self.total.add(&p);
        g.waiting.add(&p);
        queue.packets.push(p);
        // RFC 8290 §4.1: a queue that was not active is new and gets a quantum of credits.
        if queue.group.is_none() {
            queue.group = Some(group);
            queue.credits = self.quantum;
            queue.waits_for_turn = true;
            g.new.push_back(i);
        }
    }

    /// A turn of `group` begins. If this is never called for a group, each of its queues has turns of its own, by the
    /// round robin.
    pub fn begin_turn(&mut self, group: usize, now: Time, shallow: &Shallow) {
        if let Some(g) = self.groups.get_mut(group) {
            g.turns.get_or_insert_default().begin(now, shallow);
        }
    }

    /// A turn of `group` begins, from which on its rate is measured.
    pub fn measure(&mut self, group: usize, now: Time) {
        if let Some(g) = self.groups.get_mut(group) {
            g.drain.get_or_insert_default().begin(now);
        }
    }

    /// Marks the packet that came last into this queue of `group` if it will wait longer than `most`: for `below` bytes
    /// that have left, and for what is before it in its queue, with the turns of the other queues between.
    pub fn mark_late(&mut self, queue: usize, group: usize, below: u64, most: Span, sink: &mut Sink) {
        let Some(g) = self.groups.get(group) else { return };
        let Some(drain) = g.drain else { return };
        let waits = |i: &&usize| self.queues.get(**i).is_some_and(|q| q.packets.front().is_some());
        let active = g.new.iter().chain(&g.old).filter(waits).count() as u64;
        let Some(lane) = self.queues.get_mut(queue).map(|q| &mut q.packets) else { return };
        let (waiting, lane_bytes) = (g.waiting.bytes, lane.backlog().bytes);
        if let Some(p) = lane.back_mut() {
            let size = u64::from(p.size);
            let before = (active * (lane_bytes - size)).min(waiting - size);
            if drain.time(before + below) > most {
                sink.mark(p);
            }
        }
    }

    /// Marks the ECT(1) packets of `group` that are not among its next `bytes`. Its queues share these bytes equally.
    pub fn mark_excess(&mut self, group: usize, bytes: u64, sink: &mut Sink) {
        let Some(g) = self.groups.get(group).filter(|g| g.waiting.bytes > bytes) else { return };
        let active = || g.new.iter().chain(&g.old).copied();
        let waits = |i: &usize| self.queues.get(*i).is_some_and(|q| q.packets.front().is_some());
        let share = bytes / active().filter(waits).count().max(1) as u64;
        for i in active() {
            let mut before = 0;
            for p in self.queues.get_mut(i).into_iter().flat_map(|q| q.packets.iter_mut()) {
                if before >= share && p.ecn() == Ecn::Ect1 {
                    sink.mark(p);
                }
                before += u64::from(p.size);
            }
        }
    }

    // RFC 8290 §4.1: selects the queue by a hash of the 5-tuple.
    fn classify(&mut self, cx: &mut Cx, p: &Packet) -> usize {
        let hash = FlowHash::of_flow(self.hash.key(cx), p);
        ((u128::from(hash) * self.hashes as u128) >> 64) as usize
    }

    /// The packet of `group` to send at `now`. With a `law`, CoDel may drop packets into `sink`. CoDel does not drop
    /// the last bytes of the group; if `alone` is true, only the backlog of the packet's own queue counts.
    pub fn pop(&mut self, group: usize, now: Time, law: Option<&Law>, alone: bool, sink: &mut Sink) -> Option<Packet> {
        // RFC 8290 §4.2.
        let g = self.groups.get_mut(group)?;
        loop {
            let is_new = !g.new.is_empty();
            let list = if is_new { &mut g.new } else { &mut g.old };
            let i = *list.front()?;
            let queue = self.queues.get_mut(i)?;
            if queue.credits <= 0 {
                queue.credits += self.quantum;
                queue.waits_for_turn = true;
                list.pop_front();
                g.old.push_back(i);
                continue;
            }
            let before = queue.packets.backlog();
            let packet = match law {
                Some(law) => {
                    let others = if alone { 0 } else { g.waiting.bytes - before.bytes };
                    if core::mem::take(&mut queue.waits_for_turn) && g.turns.is_none() {
                        queue.turns.begin(now, &law.shallow);
                    }
                    let at = At { now, others, turns: g.turns.as_ref().unwrap_or(&queue.turns) };
                    queue.codel.dequeue(law, at, &mut queue.packets, sink)
                }
                None => queue.packets.pop(),
            };
            let after = queue.packets.backlog();
            self.total = self.total - before + after;
            g.waiting = g.waiting - before + after;
            if let Some(p) = packet {
                queue.credits -= i64::from(p.size);
                if let Some(drain) = &mut g.drain {
                    drain.served(p.size, g.waiting.packets > 0);
                }
                return Some(p);
            }
            // An empty new queue moves to the old list once. Otherwise one flow could have the first turn again and
            // again (§4.2).
            list.pop_front();
            if is_new {
                g.old.push_back(i);
            } else {
                queue.group = None;
            }
        }
    }

    /// Drops half of the packets, but at most `most`, from the head of the queue with the most bytes. Searches the
    /// active queues.
    pub fn shorten_longest(&mut self, most: u64, sink: &mut Sink) {
        let active = self.groups.iter().flat_map(|g| g.new.iter().chain(&g.old));
        let length = |i: usize| self.queues.get(i).map(|q| q.packets.backlog()).map(|b| (b.bytes, b.packets));
        let Some(&i) = active.max_by_key(|i| (length(**i), **i)) else { return };
        let Some(queue) = self.queues.get_mut(i) else { return };
        let Some(g) = queue.group.and_then(|g| self.groups.get_mut(g)) else { return };
        let half = queue.packets.backlog().packets.div_ceil(2);
        for _ in 0..half.min(most) {
            if let Some(p) = queue.packets.pop() {
                self.total.remove(&p);
                g.waiting.remove(&p);
                sink.drop(p, super::DropReason::Full);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Address;
    use crate::qdisc::testbench::packet;
    use crate::{Cx, Rng};
    use alloc::collections::BTreeSet;
    use rand::SeedableRng as _;

    /// The seeds for which these two flows of a network have the same of 1024 queues. Random streams are those of a
    /// queue with one name: the same in every network.
    fn colliding(network: u64, flows: [u32; 2], seeds: core::ops::Range<u64>) -> BTreeSet<u64> {
        let of_flow = |flow: u32| {
            let mut p = packet(flow, 1500);
            (p.src, p.dst) = (Address(2 * flow), Address(2 * flow + 1));
            p
        };
        let collide = |seed: &u64| {
            let mut cx = Cx { now: Time::ZERO, rng: &mut Rng::seed_from_u64(*seed) };
            let mut queues = FlowQueues::new(1024, 1514, network);
            let [a, b] = flows.map(|flow| queues.classify(&mut cx, &of_flow(flow)));
            a == b
        };
        seeds.filter(collide).collect()
    }

    #[test]
    fn one_pair_of_flows_in_1024_collides_and_with_other_seeds_in_another_network() {
        let pairs = [[0, 1], [0, 2], [1, 2], [3, 17], [250, 999]];
        let all: BTreeSet<BTreeSet<u64>> = (0..20).map(|n| colliding(mix(n), [0, 1], 0..1000)).collect();
        // Networks without a collision are alike; 1000 seeds have none with probability 0.38.
        assert!(all.len() > 8, "{} networks of 20 differ", all.len());
        let mut chi_square = 0.0;
        for pair in pairs {
            let found: usize = (0..20).map(|n| colliding(mix(n), pair, 0..1000).len()).sum();
            let expected = 20_000.0 / 1024.0;
            chi_square += (found as f64 - expected).powi(2) / expected;
        }
        // Five counts of rare events: the 0.999 quantile of chi-square with five degrees of freedom.
        assert!(chi_square < 20.5, "{chi_square}");
    }
}
