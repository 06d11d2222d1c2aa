//! A network of ideal links for the tests of routing agents: each station sends its frames one after another, each
//! takes a fixed time, and arrives wherever there is a link at its end. There is no contention.

use crate::common::choose;
use contend_core::registry::Value;
use contend_core::{Address, Body, Cx, FlowId, Packet, Rng, Span, Time};
use contend_sim::rng::stream;
use contend_sim::routing::{Action, Actions, REGISTRY, Routed, Routing, RoutingDrop, Setting, Shortest, Station};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The links of a chain of `n` stations.
pub fn chain(n: u32) -> Vec<Vec<Station>> {
    (0..n).map(|i| [i.checked_sub(1), Some(i + 1).filter(|j| *j < n)].into_iter().flatten().collect()).collect()
}

/// The links of a square grid with `side * side` stations: neighbours in a row and in a column.
pub fn grid(side: u32) -> Vec<Vec<Station>> {
    let near = |i: u32, j: u32| (i % side).abs_diff(j % side) + (i / side).abs_diff(j / side) == 1;
    (0..side * side).map(|i| (0..side * side).filter(|&j| near(i, j)).collect()).collect()
}

/// Mean and standard deviation.
fn spread(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let squares: f64 = x.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (x.len() - 1) as f64).sqrt())
}

/// Compares the mean of `ours` with the mean and the standard deviation of `runs` runs of ns-2: their distance is below
/// three standard errors.
pub fn compare(what: &str, ours: &[f64], (mean, sd): (f64, f64), runs: u32) {
    let (own, own_sd) = spread(ours);
    let error = (own_sd * own_sd / ours.len() as f64 + sd * sd / f64::from(runs)).sqrt();
    println!("{what}: ours {own:.3} (sd {own_sd:.3}), ns-2 {mean:.3} (sd {sd:.3}), {:.1} errors", (own - mean) / error);
    assert!((own - mean).abs() < 3.0 * error, "{what}: {own} against {mean}, standard error {error}");
}

#[derive(Clone, Debug)]
enum Frame {
    Packet(Routed),
    Message(Vec<u8>),
}

struct Node {
    agent: Box<dyn Routing>,
    rng: Rng,
    /// Frames with their next hops; the first is being sent.
    queue: VecDeque<(Option<Station>, Frame)>,
    /// The end of the first frame.
    sent: Time,
}

/// A network that runs.
pub struct Network {
    pub now: Time,
    pub links: Vec<Vec<Station>>,
    nodes: Vec<Node>,
    acts: Actions,
    /// Time of a frame.
    pub frame: Span,
    /// When each packet arrived, with its number and the hops that it took.
    pub arrived: Vec<(Time, u64, u8)>,
    /// Size of each packet that arrived.
    pub sizes: Vec<u32>,
    pub drops: BTreeMap<RoutingDrop, u64>,
    /// Messages sent, by kind: when, from where, and bytes on the air.
    pub messages: Vec<(Time, Station, &'static str, u32)>,
    pub malformed: u64,
    offered: u64,
}

impl Network {
    pub fn new(protocol: &str, values: &[(&'static str, Value)], links: &[Vec<Station>], seed: u64) -> Network {
        let choice = choose(REGISTRY, protocol, values);
        let args = choice.args.strict();
        let stations = links.len() as u32;
        let shortest = Some(Arc::new(Shortest::new(links, 0..stations)));
        let node = |me: Station| Node {
            agent: (choice.entry.build)(&args, &Setting { me, stations, shortest: shortest.clone() }).unwrap(),
            rng: stream(seed, &format!("sta{me}"), "routing"),
            queue: VecDeque::new(),
            sent: Time::NEVER,
        };
        Network {
            now: Time::ZERO,
            links: links.to_vec(),
            nodes: (0..stations).map(node).collect(),
            acts: Actions::default(),
            frame: Span::from_millis(1),
            arrived: vec![],
            sizes: vec![],
            drops: BTreeMap::new(),
            messages: vec![],
            malformed: 0,
            offered: 0,
        }
    }

    pub fn agent(&self, i: Station) -> &dyn Routing {
        &*self.nodes[i as usize].agent
    }

    /// Removes the links of `station`.
    pub fn isolate(&mut self, station: Station) {
        self.links[station as usize].clear();
        self.links.iter_mut().for_each(|l| l.retain(|s| *s != station));
    }

    /// A packet of 1000 B from `source` to `destination` now.
    pub fn offer(&mut self, source: Station, destination: Station) {
        self.enter(source, destination, 0);
    }

    /// A packet that its own source receives from the air.
    pub fn returns(&mut self, source: Station, destination: Station) {
        self.enter(source, destination, 2);
    }

    fn enter(&mut self, source: Station, destination: Station, hops: u8) {
        let mut packet = Packet::new(FlowId(0), 1000, self.now, Body::Udp { seq: self.offered })
            .between(Address(source), Address(destination));
        packet.hops = hops;
        self.offered += 1;
        self.call(source, |agent, cx, acts| agent.forward(cx, &Routed { packet, source, destination }, acts));
    }

    /// A message out of nowhere.
    pub fn inject(&mut self, to: Station, neighbour: Station, bytes: &[u8]) {
        let mut bad = false;
        self.call(to, |agent, cx, acts| bad = agent.message(cx, neighbour, bytes, acts).is_err());
        self.malformed += u64::from(bad);
    }

    /// Offers a packet each `step` until `end`.
    pub fn probe(&mut self, source: Station, destination: Station, step: Span, end: Time) {
        while self.now < end {
            self.offer(source, destination);
            self.run(self.now + step);
        }
    }

    /// Runs until `end`.
    pub fn run(&mut self, end: Time) {
        loop {
            let times = self.nodes.iter().map(|n| n.sent.min(n.agent.deadline().max(self.now)));
            let (i, at) = times.enumerate().min_by_key(|(_, t)| *t).unwrap();
            if at > end {
                break;
            }
            self.now = at;
            if self.nodes[i].sent <= at {
                self.frame_ends(i as Station);
            } else {
                self.call(i as Station, |agent, cx, acts| agent.wake(cx, acts));
            }
        }
        self.now = end;
        self.check();
    }

    /// Packets offered = arrived + dropped + held + queued.
    fn check(&self) {
        let is_packet = |f: &&(Option<Station>, Frame)| matches!(f.1, Frame::Packet(_));
        let queued: usize = self.nodes.iter().map(|n| n.queue.iter().filter(is_packet).count()).sum();
        let held: usize = self.nodes.iter().map(|n| n.agent.held()).sum();
        let dropped: u64 = self.drops.values().sum();
        assert_eq!(self.offered, self.arrived.len() as u64 + dropped + (queued + held) as u64, "{:?}", self.drops);
    }

    fn call(&mut self, i: Station, f: impl FnOnce(&mut dyn Routing, &mut Cx, &mut Actions)) {
        let node = &mut self.nodes[i as usize];
        f(&mut *node.agent, &mut Cx { now: self.now, rng: &mut node.rng }, &mut self.acts);
        while let Some(action) = self.acts.take() {
            let node = &mut self.nodes[i as usize];
            match action {
                Action::Send { packet, next } => {
                    let (source, destination) = (packet.src.0, packet.dst.0);
                    self.put(i, Some(next), Frame::Packet(Routed { packet, source, destination }));
                }
                Action::Message(m) => {
                    self.messages.push((self.now, i, m.kind, m.size));
                    let bytes = self.acts.bytes(&m).to_vec();
                    self.put(i, m.next, Frame::Message(bytes));
                }
                Action::Drop { reason, .. } => *self.drops.entry(reason).or_default() += 1,
                Action::Purge { next } => {
                    // The first frame is on the air.
                    let mut k = 1;
                    while k < node.queue.len() {
                        if let (Some(to), Frame::Packet(p)) = &node.queue[k]
                            && *to == next
                        {
                            let p = *p;
                            node.queue.remove(k);
                            let mut cx = Cx { now: self.now, rng: &mut node.rng };
                            node.agent.failed(&mut cx, next, Some(&p), &mut self.acts);
                        } else {
                            k += 1;
                        }
                    }
                }
            }
        }
    }

    fn put(&mut self, i: Station, next: Option<Station>, frame: Frame) {
        let node = &mut self.nodes[i as usize];
        if node.queue.is_empty() {
            node.sent = self.now + self.frame;
        }
        node.queue.push_back((next, frame));
    }

    fn frame_ends(&mut self, from: Station) {
        let now = self.now;
        let node = &mut self.nodes[from as usize];
        let (next, frame) = node.queue.pop_front().unwrap();
        node.sent = if node.queue.is_empty() { Time::NEVER } else { now + self.frame };
        let near = self.links[from as usize].clone();
        match (next, frame) {
            (Some(next), frame) if !near.contains(&next) => {
                let p = if let Frame::Packet(p) = &frame { Some(*p) } else { None };
                self.call(from, |agent, cx, acts| agent.failed(cx, next, p.as_ref(), acts));
            }
            (Some(next), Frame::Packet(p)) => self.receive(next, p),
            (next, Frame::Message(bytes)) => {
                for to in next.map_or(near, |n| vec![n]) {
                    self.inject(to, from, &bytes);
                }
            }
            (None, Frame::Packet(_)) => unreachable!("data packets have a next hop"),
        }
    }

    fn receive(&mut self, at: Station, mut p: Routed) {
        if p.destination == at {
            let Body::Udp { seq } = p.packet.body else { unreachable!() };
            self.sizes.push(p.packet.size);
            return self.arrived.push((self.now, seq, p.packet.hops + 1));
        }
        p.packet.hops += 1;
        self.call(at, |agent, cx, acts| agent.forward(cx, &p, acts));
    }
}
