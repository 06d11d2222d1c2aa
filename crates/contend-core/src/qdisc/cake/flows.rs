//! The flow queues of a tin: found by a set-associative hash, and served by deficit round robin, sparse flows first.
//!
//! Linux, `net/sched/sch_cake.c`: `cake_hash`, `cake_get_flow_quantum`, and the lists of `cake_enqueue` and
//! `cake_dequeue`. A ninth flow of a set shares a queue, which is then reserved for it; the flow before it may get
//! another queue, and so lose its order.

use super::super::lane::Lane;
use super::super::{Backlog, happens};
use super::cobalt::Cobalt;
use crate::Rng;
use crate::packet::Packet;
use crate::time::Time;
use alloc::vec::Vec;

/// `CAKE_QUEUES`: queues of a tin, and entries of its table of hosts.
const QUEUES: usize = 1024;
/// `CAKE_SET_WAYS`: queues of which a flow may have any.
const WAYS: usize = 8;

/// What the queues isolate from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Isolation {
    pub(super) flows: bool,
    pub(super) sources: bool,
    pub(super) destinations: bool,
}

impl Isolation {
    /// The words of the parameter `flow_mode`.
    pub(super) const WORDS: &'static [&'static str] =
        &["flowblind", "srchost", "dsthost", "hosts", "flows", "dual_srchost", "dual_dsthost", "triple"];

    pub(super) fn new(word: &str) -> Isolation {
        let dual = matches!(word, "dual_srchost" | "dual_dsthost" | "triple");
        Isolation {
            flows: dual || word == "flows",
            sources: matches!(word, "srchost" | "hosts" | "dual_srchost" | "triple"),
            destinations: matches!(word, "dsthost" | "hosts" | "dual_dsthost" | "triple"),
        }
    }
    /// Bulk flows share what their host gets: by source, by destination (`cake_dsrc`, `cake_ddst`).
    fn shares(self) -> [bool; 2] {
        [self.flows && self.sources, self.flows && self.destinations]
    }
    /// Of these hashes of a flow, its source and its destination, the one that selects the queue.
    fn key(self, hashes: Hashes) -> u64 {
        if self.flows {
            return hashes.flow;
        }
        let [source, destination] = hashes.hosts;
        (if self.sources { source } else { 0 }) ^ (if self.destinations { destination } else { 0 })
    }
}

/// The hashes of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hashes {
    pub(super) flow: u64,
    /// Of the source and of the destination.
    pub(super) hosts: [u64; 2],
}

/// Where a queue is (`CAKE_SET_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// In no list: it is empty, and its state is at rest.
    #[default]
    None,
    /// In the list of new flows.
    Sparse,
    /// Counted as sparse, but in the list of old flows: it was empty when its quantum was used up.
    SparseWait,
    /// In the list of old flows.
    Bulk,
    /// Empty; its COBALT state decays.
    Decaying,
}

/// The queue of one flow.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) packets: Lane,
    pub(super) cobalt: Cobalt,
    /// Bytes that the queue may still send in this round.
    pub(super) deficit: i64,
    /// The key for which it is reserved.
    tag: u64,
    /// Entries of its source and its destination in the table of hosts.
    hosts: [usize; 2],
    set: Set,
}

/// One entry of the table of hosts, for sources or for destinations.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u64,
    /// Its bulk flows.
    bulk: u32,
}

/// The lists of a tin, by their positions behind the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    New,
    Old,
    Decaying,
}

/// The queues of a tin. They exist from the first packet on.
#[derive(Debug)]
pub(super) struct Flows {
    isolation: Isolation,
    queues: Vec<Flow>,
    /// Sources and destinations.
    hosts: [Vec<Host>; 2],
    /// The queue before and behind each in its list; the heads of the three rings follow.
    links: Vec<[usize; 2]>,
    /// Bytes that a flow of an idle host may send per round.
    pub(super) quantum: u64,
    sparse: u32,
    bulk: u32,
    waiting: Backlog,
}

/// The entries that `hash` may have, its own first.
fn ways(hash: u64) -> impl Iterator<Item = usize> {
    let own = (hash % QUEUES as u64) as usize;
    let inner = own % WAYS;
    (0..WAYS).map(move |i| own - inner + (inner + i) % WAYS)
}

impl Flows {
    pub(super) fn new(isolation: Isolation) -> Flows {
        Flows {
            isolation,
            queues: Vec::new(),
            hosts: [Vec::new(), Vec::new()],
            links: Vec::new(),
            quantum: 0,
            sparse: 0,
            bulk: 0,
            waiting: Backlog::default(),
        }
    }

    pub(super) fn waiting(&self) -> Backlog {
        self.waiting
    }
    /// True if a queue is sparse or bulk.
    pub(super) fn are_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }
    /// Number of bulk flows.
    pub(super) fn bulk(&self) -> u64 {
        u64::from(self.bulk)
    }
    pub(super) fn get_mut(&mut self, i: usize) -> Option<&mut Flow> {
        self.queues.get_mut(i)
    }

    // ---- lists ----

    /// Takes `i` out of its list, if it is in one, and appends it to `list`, if one is given.
    fn chain(&mut self, i: usize, list: Option<List>) {
        let [before, behind] = self.links[i];
        (self.links[before][1], self.links[behind][0]) = (behind, before);
        self.links[i] = [i, i];
        if let Some(list) = list {
            let head = QUEUES + list as usize;
            let last = self.links[head][0];
            self.links[i] = [last, head];
            (self.links[last][1], self.links[head][0]) = (i, i);
        }
    }
    fn first(&self, list: List) -> Option<usize> {
        self.links.get(QUEUES + list as usize).map(|link| link[1]).filter(|i| *i < QUEUES)
    }

    // ---- hosts ----

    /// Queue `i` has become a bulk flow of its hosts (true), or ceases to be one.
    fn count_host(&mut self, i: usize, more: bool) {
        for (side, _) in self.isolation.shares().into_iter().enumerate().filter(|(_, shares)| *shares) {
            let host = &mut self.hosts[side][self.queues[i].hosts[side]];
            host.bulk = if more { host.bulk + 1 } else { host.bulk.saturating_sub(1) };
        }
    }

    /// The bytes of a turn of queue `i`: the quantum, divided by the bulk flows of the busier of its hosts. The rest of
    /// the division is given at random.
    fn turn(&self, i: usize, rng: &mut Rng) -> i64 {
        let load =
            |(side, shares): (usize, bool)| if shares { self.hosts[side][self.queues[i].hosts[side]].bulk } else { 0 };
        let load = self.isolation.shares().into_iter().enumerate().map(load).max().unwrap_or(0);
        let load = u64::from(load.max(1));
        (self.quantum / load) as i64 + i64::from(happens((self.quantum % load) as f64 / load as f64, rng))
    }

    // ---- a packet comes ----

    /// The queue for a packet with these hashes.
    fn find(&mut self, hashes: Hashes) -> usize {
        if self.queues.is_empty() {
            self.queues.resize_with(QUEUES, Flow::default);
            self.hosts = self.hosts.each_ref().map(|_| alloc::vec![Host::default(); QUEUES]);
            self.links = (0..QUEUES + 3).map(|i| [i, i]).collect();
        }
        let key = self.isolation.key(hashes);
        let own = (key % QUEUES as u64) as usize;
        let rests = |i: &usize| self.queues[*i].set == Set::None;
        let mine = |i: &usize| self.queues[*i].tag == key;
        if mine(&own) && !rests(&own) {
            return own;
        }
        let found = ways(key).find(mine).or_else(|| ways(key).find(rests));
        let i = found.unwrap_or(own);
        // A queue keeps its hosts while it is in use. Without a free one, flows share a queue, and the last has its own
        // hosts.
        if found.is_none() && self.queues[i].set == Set::Bulk {
            self.count_host(i, false);
        }
        self.queues[i].tag = key;
        if found.is_none() || self.queues[i].set == Set::None {
            for (side, shares) in self.isolation.shares().into_iter().enumerate() {
                if shares {
                    self.queues[i].hosts[side] = self.find_host(side, hashes.hosts[side]);
                }
            }
            if self.queues[i].set == Set::Bulk {
                self.count_host(i, true);
            }
        }
        i
    }

    /// The entry of a host; another's if all that it may have are in use.
    fn find_host(&mut self, side: usize, hash: u64) -> usize {
        let table = &mut self.hosts[side];
        let found = ways(hash).find(|i| table[*i].tag == hash).or_else(|| ways(hash).find(|i| table[*i].bulk == 0));
        let i = found.unwrap_or((hash % QUEUES as u64) as usize);
        table[i].tag = hash;
        i
    }

    /// Appends `p`.
    pub(super) fn push(&mut self, p: Packet, hashes: Hashes, rng: &mut Rng) {
        let i = self.find(hashes);
        self.waiting.add(&p);
        self.queues[i].packets.push(p);
        match self.queues[i].set {
            Set::None | Set::Decaying => {
                self.chain(i, Some(List::New));
                self.queues[i].set = Set::Sparse;
                self.sparse += 1;
                self.queues[i].deficit = self.turn(i, rng);
            }
            Set::SparseWait => {
                self.sparse -= 1;
                self.becomes_bulk(i);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn becomes_bulk(&mut self, i: usize) {
        self.queues[i].set = Set::Bulk;
        self.bulk += 1;
        self.count_host(i, true);
    }

    // ---- a packet leaves ----

    /// The queue whose turn it is. `decaying`: a queue whose state decays goes first; it is asked once per packet.
    pub(super) fn next(&mut self, decaying: &mut bool, rng: &mut Rng) -> Option<usize> {
        loop {
            let early = self.first(List::Decaying).filter(|_| core::mem::take(decaying));
            let busy = || self.first(List::New).or_else(|| self.first(List::Old));
            let i = early.or_else(busy).or_else(|| self.first(List::Decaying))?;
            *decaying = false;
            if self.queues[i].deficit > 0 {
                return Some(i);
            }
            // Who has used up its quantum is bulk. An empty queue waits in the same list for its next turn.
            if self.queues[i].set == Set::Sparse {
                if self.queues[i].packets.backlog().packets > 0 {
                    self.sparse -= 1;
                    self.becomes_bulk(i);
                } else {
                    self.queues[i].set = Set::SparseWait;
                }
            }
            self.queues[i].deficit += self.turn(i, rng);
            self.chain(i, Some(List::Old));
        }
    }

    /// Takes the first packet of queue `i`.
    pub(super) fn pop(&mut self, i: usize) -> Option<Packet> {
        let p = self.queues.get_mut(i)?.packets.pop()?;
        self.waiting.remove(&p);
        Some(p)
    }

    /// Queue `i` had a turn and was empty: its state decays, or it rests.
    pub(super) fn retire(&mut self, i: usize, now: Time) {
        match self.queues[i].set {
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Bulk => {
                self.bulk -= 1;
                self.count_host(i, false);
            }
            Set::None | Set::Decaying => {}
        }
        let decays = self.queues[i].cobalt.is_active(now);
        self.queues[i].set = if decays { Set::Decaying } else { Set::None };
        self.chain(i, decays.then_some(List::Decaying));
    }

    /// The queue with the most bytes, and its bytes.
    pub(super) fn longest(&self) -> Option<(u64, usize)> {
        let ring = |list| {
            let next = move |i: &usize| Some(self.links[*i][1]).filter(|i| *i < QUEUES);
            core::iter::successors(self.first(list), next)
        };
        ring(List::New).chain(ring(List::Old)).map(|i| (self.queues[i].packets.backlog().bytes, i)).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::testbench::packet;
    use rand::SeedableRng as _;

    fn flows(word: &str) -> Flows {
        let mut flows = Flows::new(Isolation::new(word));
        flows.quantum = 1514;
        flows
    }
    fn of_flow(flow: u64) -> Hashes {
        Hashes { flow, hosts: [0; 2] }
    }

    /// Keys 5, 1029, 2053, ... select queue 5 of 1024. The set of queue 5 is 0 to 7; its own comes first, then 6, 7, 0,
    /// ... A ninth flow shares queue 5. When queue 6 is empty and at rest, it is free for the ninth.
    #[test]
    fn eight_flows_with_one_hash_have_eight_queues() {
        let (mut q, mut rng) = (flows("flows"), Rng::seed_from_u64(1));
        let key = |n: u64| of_flow(5 + 1024 * n);
        for n in 0..8 {
            q.push(packet(n as u32, 100), key(n), &mut rng);
        }
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|n| q.find(key(n))), [5, 6, 7, 0, 1, 2, 3, 4]);
        assert_eq!((q.find(key(8)), q.find(of_flow(8))), (5, 8));
        assert!(q.pop(6).is_some());
        assert_eq!((q.find(key(8)), q.find(key(1))), (5, 6));
        q.retire(6, Time::ZERO);
        assert_eq!(q.find(key(9)), 6);
    }

    /// What the keys of each mode tell apart: flows, sources, destinations.
    #[test]
    fn modes_select_what_is_isolated() {
        let base = Hashes { flow: 1, hosts: [16, 32] };
        let others =
            [Hashes { flow: 2, ..base }, Hashes { hosts: [17, 32], ..base }, Hashes { hosts: [16, 33], ..base }];
        let apart = Isolation::WORDS.iter().map(|word| {
            let isolation = Isolation::new(word);
            others.map(|other| isolation.key(other) != isolation.key(base))
        });
        let (none, flow) = ([false; 3], [true, false, false]);
        let hosts = [[false, true, false], [false, false, true], [false, true, true]];
        assert!(apart.eq([none, hosts[0], hosts[1], hosts[2], flow, flow, flow, flow]));
    }

    /// Three bulk flows of one source divide 1514 B: 504 B, and with probability 2/3 one more.
    #[test]
    fn a_hosts_bulk_flows_divide_the_quantum() {
        let (mut q, mut rng) = (flows("dual_srchost"), Rng::seed_from_u64(1));
        for n in 0..3 {
            q.push(packet(n, 100), Hashes { flow: u64::from(n), hosts: [7, u64::from(n)] }, &mut rng);
            q.chain(n as usize, Some(List::Old));
            q.becomes_bulk(n as usize);
        }
        let sum: i64 = (0..30_000).map(|_| q.turn(0, &mut rng)).sum();
        // Standard deviation of the mean: 0.47 / sqrt(30000) = 0.0027.
        let mean = sum as f64 / 30_000.0;
        assert!((mean - 1514.0 / 3.0).abs() < 0.01, "{mean}");
        q.retire(1, Time::ZERO);
        q.retire(2, Time::ZERO);
        assert_eq!(q.turn(0, &mut rng), 1514);
    }
}
