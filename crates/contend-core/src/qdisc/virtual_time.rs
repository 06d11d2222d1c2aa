//! Virtual time for classes that share a transmitter by weight: the arithmetic of WF2Q+, without the packets.
//!
//! Bennett and Zhang 1997, "Hierarchical packet fair queueing algorithms". With costs instead of lengths: Starzetz 2006
//! §9.2.1. Each waiting class has a virtual start and a virtual finish of its first packet. Among the classes whose
//! start is not after the virtual time V, the class with the earliest finish is served.
//!
//! A turn may serve several packets of a class, which leave in one aggregate: they count as one packet whose cost is
//! the sum of their costs.
//!
//! Differences from the document:
//! - V grows by cost / (sum of weights), and is raised to the earliest start of the waiting classes. The document
//!   prints cost x weight of the class / (sum of weights), raised to the next start of the served class, and computes
//!   the next finish with the cost of the previous packet ([`Update::Printed`]).
//! - The sum is over all classes that are not [forgotten](VirtualTime::forget), waiting or not, as in WF2Q+. The
//!   document does not say.
//! - Of classes with the same finish, the one with the lowest number goes first. The document has no rule.

use super::{Below, can_serve};
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Starts and V with a smaller relative difference differ only by rounding.
const ROUNDING: f64 = 1e-12;

/// The rule by which virtual time advances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// As in WF2Q+.
    #[default]
    Standard,
    /// As printed in the document.
    Printed,
}

/// Weight and cost for the first packet of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Weight of the class, above 0.
    pub weight: f64,
    /// Cost of the packet, above 0, in a unit common to all classes.
    pub cost: f64,
}

/// The classes and their order of service: O(log n) per packet.
#[derive(Debug, Default)]
pub struct VirtualTime {
    update: Update,
    /// V, in cost per weight.
    now: f64,
    /// Sum of the weights of all known classes.
    weight: f64,
    classes: Vec<Class>,
    /// Waiting classes that have started, by finish.
    started: BinaryHeap<Key>,
    /// Waiting classes that start later, by start.
    later: BinaryHeap<Key>,
    /// Classes without a waiting packet that need a turn.
    held: Vec<usize>,
    /// The class of the last turn and what it was charged, if no packet had left in it.
    ahead: Option<(usize, f64)>,
    /// For [`VirtualTime::turn`].
    passed_over: Vec<usize>,
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
    /// No class waits.
    pub fn new(update: Update) -> VirtualTime {
        VirtualTime { update, ..VirtualTime::default() }
    }

    /// V.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Virtual start and finish of the first packet of `class`, or of its last packet if none waits.
    pub fn span(&self, class: usize) -> (f64, f64) {
        self.classes.get(class).map_or((0.0, 0.0), |c| (c.start, c.finish))
    }

    /// `class` was empty and now has a first packet.
    pub fn arrive(&mut self, class: usize, head: Head) {
        if class >= self.classes.len() {
            self.classes.resize(class + 1, STRANGER);
        }
        let finish = self.classes.get(class).map_or(0.0, |c| c.finish);
        // Starzetz §9.2.1: v_start := max(V, v_end); v_end := v_start + f(head) / w.
        self.wait(class, head, finish.max(self.now), head.cost);
        self.settle();
    }

    /// The class to serve next. The caller must remove its packet and then call [`VirtualTime::served`].
    pub fn select(&mut self) -> Option<usize> {
        self.started.pop().map(|k| k.class)
    }

    /// The class to serve next, if each class is a receiver: of those that `below` can serve. `waits` is true for a
    /// class with waiting packets. The caller must then call [`VirtualTime::served`].
    pub fn turn(&mut self, below: &dyn Below, waits: impl Fn(usize) -> bool) -> Option<usize> {
        let is_over = |c: usize| !waits(c) && !below.holds(c as u32);
        loop {
            let class = self.select_from(|c| is_over(c) || can_serve(below, c as u32, waits(c)))?;
            self.held.retain(|c| *c != class);
            if !is_over(class) {
                return Some(class);
            }
        }
    }

    /// Queues `class`, which has no waiting packet, for a turn. If no packet leaves in this turn, `head` is charged.
    pub fn hold(&mut self, class: usize, head: Head) {
        if !self.is_held(class) {
            self.held.push(class);
            self.arrive(class, head);
        }
    }

    /// True if `class` needs a turn for which no packet had to wait. It has its place already when a packet arrives.
    pub fn is_held(&self, class: usize) -> bool {
        self.held.contains(&class)
    }

    /// The first class of which `can_be_served` is true; the others keep their places.
    fn select_from(&mut self, mut can_be_served: impl FnMut(usize) -> bool) -> Option<usize> {
        // A class that has not started is served if no class that has started can be.
        while let Some(class) = self.started.pop().or_else(|| self.later.pop()).map(|k| k.class) {
            if can_be_served(class) {
                self.put_back();
                return Some(class);
            }
            self.passed_over.push(class);
        }
        self.put_back();
        self.settle();
        None
    }

    /// The classes that were passed over wait again.
    fn put_back(&mut self) {
        while let Some(class) = self.passed_over.pop() {
            self.later.push(Key { tag: self.classes.get(class).map_or(0.0, |c| c.start), class });
        }
    }

    /// The first packet of `class`, which was just selected, has left. `next` is the packet behind it. `cost` is the
    /// sum of the costs of the packets that left; `None` if only the announced packet left.
    pub fn served(&mut self, class: usize, cost: Option<f64>, next: Option<Head>) {
        let Some(c) = self.classes.get_mut(class) else { return };
        if let Some(cost) = cost {
            c.finish += (cost - c.head.cost) / c.head.weight;
            c.head.cost = cost;
        }
        let packets_left = cost.is_some();
        let Class { head: Head { weight, cost }, start, finish, .. } = *c;
        self.ahead = (!packets_left).then_some((class, cost));
        let sum = self.weight;
        if let Some(head) = next {
            // Starzetz §9.2.1: v_start := v_end; v_end := v_start + f(new head) / w.
            self.wait(class, head, finish, if self.update == Update::Printed { cost } else { head.cost });
        }
        self.now = match self.update {
            // Bennett and Zhang 1997: V := max(V + L / (sum of w), earliest start). `settle` applies the earliest
            // start.
            Update::Standard => self.now + cost / sum,
            // Starzetz §9.2.1 as printed: V := max(V + L w_i / (sum of w), v_start_i).
            Update::Printed => (self.now + cost * weight / sum).max(if next.is_some() { finish } else { start }),
        };
        self.settle();
    }

    /// Waiting packets of `class`, whose costs are `cost` in all, have left with its last turn, which is charged for
    /// them: all that follows starts so much later. A turn that was charged before a packet left is not charged
    /// again. `next` is the packet behind them.
    pub fn joined(&mut self, class: usize, cost: f64, next: Option<Head>) {
        let Some(c) = self.classes.get_mut(class).filter(|c| c.known) else { return };
        let ahead = self.ahead.take().filter(|(charged, _)| *charged == class);
        let cost = (cost - ahead.map_or(0.0, |(_, cost)| cost)).max(0.0);
        let (sum, start) = (self.weight, c.start + cost / c.head.weight);
        (c.start, c.finish) = (start, start);
        let held = c.head;
        self.started.retain(|k| k.class != class);
        self.later.retain(|k| k.class != class);
        if let Some(head) = next.or(self.is_held(class).then_some(held)) {
            self.wait(class, head, start, head.cost);
        }
        self.now += cost / sum;
        self.settle();
    }

    /// Removes `class` from the sharing. No packet of `class` may wait.
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

    /// Moves classes whose start has come to the started classes. If there would be no started class, raises V to the
    /// earliest start.
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

/// A class in a heap. The greatest entry is the one with the smallest tag; for equal tags, the smallest number.
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

    /// Packets of each class, served one after the other; a cost of 1 takes one unit of time.
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
            self.time.served(class, None, self.queues[class].front().map(|&cost| Head { weight, cost }));
            Some((class, cost))
        }
    }

    /// Bennett and Zhang 1996, Fig. 1 to 3: one class of weight 1/2 with eleven packets, and ten classes of weight 1/20
    /// with one packet each. WFQ sends ten packets of the first class in a row. WF2Q sends every second packet from the
    /// first class.
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

    /// The third class is forgotten, and the other two share: V grows by cost / 2. Later V grows by cost / 3 again.
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

    /// A turn of two packets that two more join is charged as one of four.
    #[test]
    fn packets_that_join_a_turn_are_charged_to_it() {
        let spans = |joins: bool| {
            let mut time = VirtualTime::new(Update::Standard);
            let head = Head { weight: 2.0, cost: 3.0 };
            time.arrive(0, head);
            time.arrive(1, head);
            assert_eq!(time.select(), Some(0));
            if joins {
                time.served(0, Some(6.0), Some(head));
                time.joined(0, 6.0, Some(head));
            } else {
                time.served(0, Some(12.0), Some(head));
            }
            let next = time.select();
            (time.span(0), time.now(), next)
        };
        // V: 12 / 4; the next packet of the class: from 12 / 2 to 15 / 2.
        assert_eq!(spans(false), ((6.0, 7.5), 3.0, Some(1)));
        assert_eq!(spans(true), spans(false));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        /// Starzetz S12, after Bennett and Zhang: while all classes wait, no class is more than one packet of the
        /// largest size behind GPS.
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
                // The next packet of each class arrives before the packet in front of it leaves.
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

        /// While a class waits, it gets its share of the work minus one packet of the largest size, regardless of the
        /// other classes. One such packet may be in service when the class begins to wait. The server never rests while
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
            // The time at which each class began to wait, and its received service at that time.
            let mut since = alloc::vec![None; n];
            let mut served = alloc::vec![0.0; n];
            let (mut now, mut at) = (0.0, 0.0);
            let mut arrivals = arrivals.into_iter().map(|(
                wait, class, cost,
            )| { at += f64::from(wait * gap); (at, class % n, f64::from(cost)) }).peekable();
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
