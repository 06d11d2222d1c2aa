//! What disciplines with many queues share: a queue that knows what waits in it, limits, and weights by station.

use super::{Backlog, Link, Site};
use crate::packet::Packet;
use crate::registry::{Amount, Args};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The packet that a limit in bytes must have room for, in bytes.
const ONE_PACKET: u64 = 1500;

/// One queue, first in first out.
#[derive(Debug, Default)]
pub struct Lane {
    queue: VecDeque<Packet>,
    waiting: Backlog,
}

impl Lane {
    /// Appends `p`.
    pub fn push(&mut self, p: Packet) {
        self.waiting.add(&p);
        self.queue.push_back(p);
    }
    /// Takes the first.
    pub fn pop(&mut self) -> Option<Packet> {
        let p = self.queue.pop_front()?;
        self.waiting.remove(&p);
        Some(p)
    }
    /// The first.
    pub fn front(&self) -> Option<&Packet> {
        self.queue.front()
    }
    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.waiting
    }
}

/// The limit called `name`.
///
/// # Errors
/// When it has no room for one packet.
pub fn limit(args: &Args, name: &str) -> Result<Amount, String> {
    match args.amount(name) {
        Amount::Bytes(n) if n < ONE_PACKET => Err(format!(
            "{name}: {n} bytes have no room for one packet of {ONE_PACKET} bytes; write packets, as \"10p\", or more \
                bytes"
        )),
        Amount::Packets(0) => Err(format!("{name}: no packet fits; write at least \"1p\"")),
        good => Ok(good),
    }
}

/// Weights by neighbour.
#[derive(Debug, Default)]
pub struct Weights(Vec<Option<f64>>);

impl Weights {
    /// The parameter `weights` of `args`.
    ///
    /// # Errors
    /// For a name that is no neighbour's or stands there twice, and a weight that is not above 0.
    pub fn new(args: &Args, site: &Site) -> Result<Weights, String> {
        let mut weights = Weights::default();
        let given = args.weights("weights");
        for (i, (name, w)) in given.iter().enumerate() {
            let Some(n) = (site.neighbour)(name) else {
                return Err(format!(
                    "weights: no station \"{name}\" is reached from here; only [ap] queue can weigh stations of its \
                        cell"
                ));
            };
            if !(*w > 0.0 && w.is_finite()) {
                return Err(format!("weights: \"{name}\" has the weight {w}; write a number above 0"));
            }
            if given.iter().take(i).any(|(other, _)| other == name) {
                return Err(format!("weights: \"{name}\" stands there twice; leave one out"));
            }
            let n = n as usize;
            if n >= weights.0.len() {
                weights.0.resize(n + 1, None);
            }
            if let Some(slot) = weights.0.get_mut(n) {
                *slot = Some(*w);
            }
        }
        Ok(weights)
    }
    /// The weight of `neighbour`, when it is given.
    pub fn get(&self, neighbour: u32) -> Option<f64> {
        self.0.get(neighbour as usize).copied().flatten()
    }
}

/// What a packet costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Its size in bytes: weighted fair queueing.
    #[default]
    Bytes,
    /// One: weighted round robin.
    Packets,
    /// The time in which the link carries it, in ns: fairness of time.
    Airtime,
}

impl Cost {
    /// The words of the parameter `cost`.
    pub const WORDS: &[&str] = &["bytes", "packets", "airtime"];

    /// The parameter `cost` of `args`.
    pub fn new(args: &Args) -> Cost {
        match args.word("cost") {
            "packets" => Cost::Packets,
            "airtime" => Cost::Airtime,
            _ => Cost::Bytes,
        }
    }
    /// What `p` costs. Starzetz 2006 §9.2.1: a cost is positive, or virtual time would not advance.
    pub fn of(self, link: &dyn Link, p: &Packet) -> f64 {
        match self {
            Cost::Bytes => f64::from(p.size.max(1)),
            Cost::Packets => 1.0,
            Cost::Airtime => link.exchange(link.neighbour(p), p.size).as_nanos().max(1) as f64,
        }
    }
}
