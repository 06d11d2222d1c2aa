//! Common parts of the disciplines with many queues: a queue with its backlog, limits, and weights per station.

use super::{Backlog, Link, Site};
use crate::Refusal;
use crate::packet::Packet;
use crate::registry::{Amount, Args};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

/// The size in bytes of the packet for which every limit must have room.
const ONE_PACKET: u64 = 1500;

/// One FIFO queue.
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
    /// Removes the first packet.
    pub fn pop(&mut self) -> Option<Packet> {
        let p = self.queue.pop_front()?;
        self.waiting.remove(&p);
        Some(p)
    }
    /// Removes the first packet for which `is_wanted` is true.
    pub fn pop_first(&mut self, is_wanted: impl FnMut(&Packet) -> bool) -> Option<Packet> {
        let p = self.queue.remove(self.queue.iter().position(is_wanted)?)?;
        self.waiting.remove(&p);
        Some(p)
    }
    /// The packets in order.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.queue.iter()
    }
    /// The packets in order, to change what is not their size.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Packet> {
        self.queue.iter_mut()
    }
    /// The first packet.
    pub fn front(&self) -> Option<&Packet> {
        self.queue.front()
    }
    /// The last packet, to change what is not its size.
    pub fn back_mut(&mut self) -> Option<&mut Packet> {
        self.queue.back_mut()
    }
    /// The packets that wait.
    pub fn backlog(&self) -> Backlog {
        self.waiting
    }
}

/// The limit called `name`.
///
/// # Errors
/// If the limit has no room for one packet.
pub fn limit(args: &Args, name: &str) -> Result<Amount, Refusal> {
    match args.amount(name) {
        Amount::Bytes(n) if n < ONE_PACKET => Err(Refusal::new(
            format!("{name}: {n} bytes have no room for one packet of {ONE_PACKET} bytes"),
            "write packets, like \"10p\", or more \
                bytes",
        )),
        Amount::Packets(0) => Err(Refusal::new(format!("{name}: no packet fits"), "write at least \"1p\"")),
        good => Ok(good),
    }
}

/// Weights by neighbour.
#[derive(Debug, Default)]
pub struct Weights(Vec<Option<f64>>);

impl Weights {
    /// Reads the parameter `weights` of `args`.
    ///
    /// # Errors
    /// If a name belongs to no neighbour or occurs twice, or a weight is not above 0.
    pub fn new(args: &Args, site: &Site) -> Result<Weights, Refusal> {
        let mut weights = Weights::default();
        let given = args.weights("weights");
        for (i, (name, w)) in given.iter().enumerate() {
            let Some(n) = (site.neighbour)(name) else {
                return Err(Refusal::new(
                    format!("weights: station \"{name}\" cannot be reached from this queue"),
                    "only [ap] queue can give weights \
                        to the stations of its cell",
                ));
            };
            if !(*w > 0.0 && w.is_finite()) {
                return Err(Refusal::new(format!("weights: \"{name}\" has weight {w}"), "write a number above 0"));
            }
            if given.iter().take(i).any(|(other, _)| other == name) {
                return Err(Refusal::new(format!("weights: \"{name}\" is listed twice"), "remove one"));
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
    /// The weight of `neighbour`, if it is given.
    pub fn get(&self, neighbour: u32) -> Option<f64> {
        self.0.get(neighbour as usize).copied().flatten()
    }
}

/// The cost of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Its size in bytes: weighted fair queueing.
    #[default]
    Bytes,
    /// 1 per packet: weighted round robin.
    Packets,
    /// The time in which the link carries the packet, in ns: airtime fairness.
    Airtime,
}

impl Cost {
    /// The valid words of the parameter `cost`.
    pub const WORDS: &[&str] = &["bytes", "packets", "airtime"];

    /// Reads the parameter `cost` of `args`.
    pub fn new(args: &Args) -> Cost {
        match args.word("cost") {
            "packets" => Cost::Packets,
            "airtime" => Cost::Airtime,
            _ => Cost::Bytes,
        }
    }
    /// The cost of `p`. Starzetz 2006 §9.2.1: a cost must be positive, otherwise virtual time would not advance.
    pub fn of(self, link: &dyn Link, p: &Packet) -> f64 {
        match self {
            Cost::Bytes => f64::from(p.size.max(1)),
            Cost::Packets => 1.0,
            Cost::Airtime => link.exchange(link.neighbour(p), p.size).as_nanos().max(1) as f64,
        }
    }
}
