//! Virtual time for classes that share a transmitter by weight: the arithmetic of WF2Q+, without the packets.
//!
//! Bennett and Zhang 1997, "Hierarchical packet fair queueing algorithms"; with costs instead of lengths: Starzetz 2006
//! §9.2.1. Each class that waits has a virtual start and finish of its first packet; of the classes that have started
//! by the virtual time V, the one that finishes first is served.
//!
//! Differences from the document:
//! - V grows by cost / (sum of weights), and is lifted to the earliest start of those that wait. Printed is cost x
//!   weight of the class / (sum of weights), lifted to the next start of the class served, and a next finish worked out
//!   with the cost of the packet before ([`Update::Printed`]).
//! - The sum is over all classes that are not [forgotten](VirtualTime::forget), waiting or not, as in WF2Q+; the
//!   document does not say.
//! - Of classes that finish together the one with the lower number goes first; the document has no rule.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Starts and V that differ by less, relatively, differ by rounding only.
const ROUNDING: f64 = 1e-12;

/// How virtual time advances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// As WF2Q+ does.
    #[default]
    Standard,
    /// As the document prints it.
    Printed,
}

/// What the first packet of a class asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Weight of the class, above 0.
    pub weight: f64,
    /// Cost of the packet, above 0, in any unit that all classes share.
    pub cost: f64,
}

/// The classes, and whose turn it is: O(log n) for a packet.
#[derive(Debug, Default)]
pub struct VirtualTime {
    update: Update,
    /// V, in cost per weight.
    now: f64,
    /// Sum of the weights of all classes known.
    weight: f64,
    classes: Vec<Class>,
    /// Classes that wait and have started, by finish.
    started: BinaryHeap<Key>,
    /// Classes that wait and start later, by start.
    later: BinaryHeap<Key>,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    head: Head,
    start: f64,
    finish: f64,
    known: bool,
}

const STRANGER: Class = Class { head: Head { weight: 1.0, cost: 1.0 }, start: 0.0, finish: 0.0, known: false };

impl VirtualTime {
    /// Nobody waits.
    pub fn new(update: Update) -> VirtualTime {
        VirtualTime { update, ..VirtualTime::default() }
    }

    /// V.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Virtual start and finish of the first packet of `class`, or of its last one when none waits.
    pub fn span(&self, class: usize) -> (f64, f64) {
        self.classes.get(class).map_or((0.0, 0.0), |c| (c.start, c.finish))
    }

    /// `class`, of which nothing waited, now has a first packet.
    pub fn arrive(&mut self, class: usize, head: Head) {
        if class >= self.classes.len() {
            self.classes.resize(class + 1, STRANGER);
        }
        let finish = self.classes.get(class).map_or(0.0, |c| c.finish);
        // Starzetz §9.2.1: v_start := max(V, v_end); v_end := v_start + f(head) / w.
        self.wait(class, head, finish.max(self.now), head.cost);
        self.settle();
    }

    /// The class to serve next. Its packet must be taken, and [`VirtualTime::served`] told of it.
    pub fn select(&mut self) -> Option<usize> {
        self.started.pop().map(|k| k.class)
    }

    /// The first packet of `class`, which was just selected, is gone; `next` is the one behind it.
    pub fn served(&mut self, class: usize, next: Option<Head>) {
        let Some(&Class { head: Head { weight, cost }, start, finish, .. }) = self.classes.get(class) else { return };
        let sum = self.weight;
        if let Some(head) = next {
            // Starzetz §9.2.1: v_start := v_end; v_end := v_start + f(new head) / w.
            self.wait(class, head, finish, if self.update == Update::Printed { cost } else { head.cost });
        }
        self.now = match self.update {
            // Bennett and Zhang 1997: V := max(V + L / (sum of w), earliest start); the start is seen to by `settle`.
            Update::Standard => self.now + cost / sum,
            // Starzetz §9.2.1 as printed: V := max(V + L w_i / (sum of w), v_start_i).
            Update::Printed => (self.now + cost * weight / sum).max(if next.is_some() { finish } else { start }),
        };
        self.settle();
    }

    /// `class`, of which nothing waits, no longer counts among those that share.
    pub fn forget(&mut self, class: usize) {
        if let Some(c) = self.classes.get_mut(class).filter(|c| c.known) {
            c.known = false;
            self.weight -= c.head.weight;
        }
    }

    fn wait(&mut self, class: usize, head: Head, start: f64, length: f64) {
        let Some(c) = self.classes.get_mut(class) else { return };
        self.weight += head.weight - if c.known { c.head.weight } else { 0.0 };
        *c = Class { head, start, finish: start + length / head.weight, known: true };
        self.later.push(Key { tag: start, class });
    }

    /// Moves classes whose start has come to those that have started; lifts V to the earliest start when there would be
    /// none.
    fn settle(&mut self) {
        if self.started.is_empty()
            && let Some(first) = self.later.peek()
        {
            self.now = self.now.max(first.tag);
        }
        while let Some(class) = self.later.peek().filter(|k| k.tag <= self.now * (1.0 + ROUNDING)).map(|k| k.class) {
            self.later.pop();
            if let Some(c) = self.classes.get(class) {
                self.started.push(Key { tag: c.finish, class });
            }
        }
    }
}

/// A class in a heap; the smallest tag, then the smallest number, is the greatest.
#[derive(Clone, Copy, Debug)]
struct Key {
    tag: f64,
    class: usize,
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        other.tag.total_cmp(&self.tag).then(other.class.cmp(&self.class))
    }
}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Key {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    /// Packets of each class, served one after the other at a cost of 1 per unit of time.
    struct Server {
        time: VirtualTime,
        weights: Vec<f64>,
        queues: Vec<VecDeque<f64>>,
    }

    impl Server {
        fn new(weights: &[f64]) -> Server {
            Server {
                time: VirtualTime::new(Update::Standard),
                weights: weights.to_vec(),
                queues: alloc::vec![VecDeque::new(); weights.len()],
            }
        }
        fn push(&mut self, class: usize, cost: f64) {
            self.queues[class].push_back(cost);
            if self.queues[class].len() == 1 {
                self.time.arrive(class, Head { weight: self.weights[class], cost });
            }
        }
        fn pop(&mut self) -> Option<(usize, f64)> {
            let class = self.time.select()?;
            let cost = self.queues[class].pop_front()?;
            let weight = self.weights[class];
            self.time.served(class, self.queues[class].front().map(|&cost| Head { weight, cost }));
            Some((class, cost))
        }
    }

    /// Bennett and Zhang 1996, Fig. 1 to 3: one class of weight 1/2 with eleven packets, ten of 1/20 with one each. WFQ
    /// sends ten of the first in a row; WF2Q sends every other packet from the first.
    #[test]
    fn a_heavy_class_does_not_run_ahead() {
        let mut weights = alloc::vec![0.05; 11];
        weights[0] = 0.5;
        let mut s = Server::new(&weights);
        (0..11).for_each(|_| s.push(0, 1.0));
        (1..11).for_each(|i| s.push(i, 1.0));
        let order: Vec<bool> = core::iter::from_fn(|| s.pop()).map(|(class, _)| class == 0).collect();
        assert_eq!(order.len(), 21);
        assert!(order.iter().enumerate().all(|(i, &first)| first == (i % 2 == 0)), "{order:?}");
    }

    #[test]
    fn weights_two_to_one_give_twice_the_service() {
        let mut s = Server::new(&[2.0, 1.0]);
        (0..300).for_each(|i| s.push(i % 2, 1.0));
        let first = (0..90).filter(|_| s.pop().unwrap().0 == 0).count();
        assert_eq!(first, 60);
    }

    /// Two of three classes share what the third, forgotten, left: V grows by cost / 2, then by cost / 3 again.
    #[test]
    fn who_is_forgotten_does_not_count() {
        let mut s = Server::new(&[1.0; 3]);
        s.push(2, 1.0);
        s.pop();
        s.time.forget(2);
        (0..8).for_each(|i| s.push(i % 2, 6.0));
        let before = s.time.now();
        s.pop();
        assert!((s.time.now() - before - 3.0).abs() < 1e-9);
        s.push(2, 6.0);
        let before = s.time.now();
        s.pop();
        assert!((s.time.now() - before - 2.0).abs() < 1e-9);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        /// Starzetz S12, after Bennett and Zhang: while all wait, no class is more than one packet of the largest size
        /// behind GPS.
        #[test]
        fn no_class_lags_gps_by_more_than_one_packet(
            weights in prop::collection::vec(1u32..8, 1..7),
            packets in prop::collection::vec(1u32..=15, 1..300),
        ) {
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let sum: f64 = weights.iter().sum();
            let mut s = Server::new(&weights);
            let mut costs = packets.iter().cycle().map(|&c| f64::from(c));
            let mut served = alloc::vec![0.0; weights.len()];
            (0..weights.len()).for_each(|i| s.push(i, costs.next().unwrap()));
            for _ in 0..packets.len() {
                // The next packet of each class is there before the one in front of it goes.
                (0..weights.len()).for_each(|i| s.push(i, costs.next().unwrap()));
                let (class, cost) = s.pop().unwrap();
                served[class] += cost;
                let total: f64 = served.iter().sum();
                for (i, w) in weights.iter().enumerate() {
                    let lag = total * w / sum - served[i];
                    prop_assert!(lag <= 15.0 + 1e-6, "class {i} is {lag} behind");
                }
            }
        }

        /// From the moment a class begins to wait until it stops, it has its share of the work less one packet of the
        /// largest size, one of which may have been under way; whatever the others do. And the server never rests while
        /// a packet waits.
        #[test]
        fn a_class_that_waits_has_its_share_whatever_the_others_do(
            weights in prop::collection::vec(1u32..8, 1..7),
            arrivals in prop::collection::vec((0u32..8, 0usize..7, 1u32..=15), 1..300),
            gap in 1u32..4,
        ) {
            let n = weights.len();
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let sum: f64 = weights.iter().sum();
            let mut s = Server::new(&weights);
            // When each class began to wait, and what it had been served then.
            let mut since = alloc::vec![None; n];
            let mut served = alloc::vec![0.0; n];
            let (mut now, mut at) = (0.0, 0.0);
            let mut arrivals = arrivals.into_iter().map(|(wait, class, cost)| { at += f64::from(wait * gap); (at, class % n, f64::from(cost)) }).peekable();
            loop {
                while let Some((t, class, cost)) = arrivals.next_if(|a| a.0 <= now) {
                    s.push(class, cost);
                    since[class].get_or_insert((t, served[class]));
                }
                let waits = s.queues.iter().any(|q| !q.is_empty());
                let Some((class, cost)) = s.pop() else {
                    prop_assert!(!waits, "it rests though a packet waits");
                    let Some(a) = arrivals.peek() else { break };
                    now = a.0;
                    continue;
                };
                now += cost;
                served[class] += cost;
                for i in 0..n {
                    if let Some((from, had)) = since[i] {
                        let lag = (now - from) * weights[i] / sum - (served[i] - had);
                        prop_assert!(lag <= 2.0 * 15.0 + 1e-6, "class {i} is {lag} behind");
                    }
                    if s.queues[i].is_empty() {
                        since[i] = None;
                    }
                }
            }
        }
    }
}
