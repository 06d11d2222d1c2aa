//! State that a node on the path keeps for each flow until the flow is silent: soft state, as RFC 3449 §5.2.1 requires
//! for ACK filtering.
//!
//! A node does not see the end of every connection, so state must expire by itself. Each flow is checked once per
//! [`IDLE`], in order of time, when a packet of any flow arrives. A packet costs one check on average, and there is no
//! search.

use crate::packet::FlowId;
use crate::time::{Span, Time};
use alloc::collections::{BTreeMap, VecDeque};

/// A flow is forgotten after a silence of this time to twice this time. It is longer than the wait of a sender between
/// two timeouts (60 s, RFC 6298 §2.5), with room for several lost retransmissions.
pub const IDLE: Span = Span::from_secs(240);

/// A value `V` for each recently seen flow.
#[derive(Debug)]
pub struct Recent<V> {
    /// The value and the time of the last packet.
    flows: BTreeMap<FlowId, (V, Time)>,
    /// The time of the next check for silence: one entry per flow, in order.
    looks: VecDeque<(Time, FlowId)>,
}

impl<V> Default for Recent<V> {
    fn default() -> Recent<V> {
        Recent { flows: BTreeMap::new(), looks: VecDeque::new() }
    }
}

impl<V> Recent<V> {
    /// Records a packet of `flow` at `now`. `new` builds the value of an unknown flow.
    pub fn see(&mut self, now: Time, flow: FlowId, new: impl FnOnce() -> V) -> &mut V {
        let looks = &mut self.looks;
        let (v, last) = self.flows.entry(flow).or_insert_with(|| {
            looks.push_back((now.saturating_add(IDLE), flow));
            (new(), now)
        });
        *last = now;
        v
    }

    /// Forgets one flow that is silent at `now` and not `needed`, and returns its value; `None` if there is no such
    /// flow. Call it until it returns `None`.
    pub fn forget(&mut self, now: Time, needed: impl Fn(&V) -> bool) -> Option<V> {
        while let Some(&(_, flow)) = self.looks.front().filter(|(at, _)| *at <= now) {
            self.looks.pop_front();
            if self.flows.get(&flow).is_some_and(|(v, last)| now.since(*last) < IDLE || needed(v)) {
                self.looks.push_back((now.saturating_add(IDLE), flow));
            } else if let Some((v, _)) = self.flows.remove(&flow) {
                return Some(v);
            }
        }
        None
    }

    /// The value of `flow`.
    pub fn get(&self, flow: FlowId) -> Option<&V> {
        self.flows.get(&flow).map(|(v, _)| v)
    }
    /// The mutable value of `flow`.
    pub fn get_mut(&mut self, flow: FlowId) -> Option<&mut V> {
        self.flows.get_mut(&flow).map(|(v, _)| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flow 1 sends once, flow 2 every 100 s, flow 3 is needed. By hand: checks at 240, 480, 720 s; flow 1 is forgotten
    /// at the first packet at 240 s or later.
    #[test]
    fn silent_flows_are_forgotten_and_others_are_not() {
        let mut r = Recent::default();
        let at = |s| Time::ZERO + Span::from_secs(s);
        for flow in 1..4 {
            assert_eq!(*r.see(at(0), FlowId(flow), || flow), flow);
        }
        let mut gone = alloc::vec![];
        for s in [100, 200, 239, 240, 300, 400, 500] {
            r.see(at(s), FlowId(2), || 0);
            while let Some(v) = r.forget(at(s), |v| *v == 3) {
                gone.push((s, v));
            }
        }
        assert_eq!(gone, [(240, 1)]);
        assert_eq!([1, 2, 3].map(|f| r.get(FlowId(f)).copied()), [None, Some(2), Some(3)]);
        // Once the flow is not needed it is forgotten, and starts again as new.
        assert_eq!((r.forget(at(800), |_| false), r.forget(at(800), |_| false)), (Some(2), Some(3)));
        assert_eq!((*r.see(at(801), FlowId(3), || 7), r.looks.len(), r.flows.len()), (7, 1, 1));
    }
}
