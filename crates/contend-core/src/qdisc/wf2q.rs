//! Weighted fair queueing with a cost function, by WF2Q+ (Starzetz 2006 §9.2.1; Bennett and Zhang 1997).
//!
//! The cost of a packet replaces its length: bytes give the original algorithm, a constant gives weighted round robin,
//! airtime gives shares of time.
//!
//! Differences from the document:
//! - Weighted round robin: the printed cost w_i gives plain round robin, because the cost is divided by w_i. `cost =
//!   "packets"` is the constant 1.
//! - Virtual time: see [`virtual_time`](super::virtual_time).

use super::lane::{Cost, Weights};
use super::virtual_time::{Head, Update};
use super::weighted::Weighted;
use super::{Args, Backlog, Below, ByReceiver, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::recent::Recent;
use crate::registry::{Param, Unit};
use crate::time::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Starzetz 2006, §9.2.1 (generalised WFQ); Bennett and Zhang 1997 (WF2Q+)";
/// What it does.
pub const SUMMARY: &str = "Weighted fair queueing (WF2Q+) over stations or flows; a cost function says what is \
    shared: bytes, packets or airtime.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "classes",
        &["station", "flow"],
        "which packets share a queue. station: packets to one station; flow: packets of one flow",
    )
    .default("station"),
    Param::word(
        "cost",
        Cost::WORDS,
        "what is shared by weight. bytes: bytes; packets: packets; airtime: the airtime of the exchanges",
    )
    .default("bytes"),
    WEIGHTS,
    Param::amount("class_limit", "maximum backlog of one class").default("10p").range(1.0, 1e9),
    LIMIT,
    UPDATE,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("V", "virtual time, in cost by weight; 0 at first"),
    symbol("S_i", "virtual start of the first packet of class `i`"),
    symbol("F_i", "virtual finish of it, or of the last packet if none waits"),
    symbol("i", "a class: a station, or a direction of a flow (`classes`)"),
    symbol("L_i", "cost of the first packet: its bytes, 1, or the airtime of its exchange (`cost`)"),
    symbol("L", "cost of the packet that left"),
    symbol("w_i", "weight of the class: that of its station (`weights`), otherwise 1"),
    symbol("w_j", "weight of any class that is known, waiting or not"),
    on("an arrival"),
    step("the packet is dropped", "Starzetz 2006 §9.2.1").when("`limit`, or `class_limit` for its class, has no room"),
    eq("S_i ← max(V, F_i)", "").when("the class was empty"),
    eq("F_i ← S_i + L_i / w_i", "").when("the class was empty"),
    on("the transmitter is free"),
    eq("V ← max(V, min_i(S_i))", "Bennett and Zhang 1997, WF2Q+").when("no waiting class has `S_i ≤ V`"),
    step("of the classes with `S_i ≤ V`, that with the smallest `F_i` sends its first packet", ""),
    step("the packets of an aggregate count as one, with the sum of their costs", ""),
    eq("S_i ← F_i", "Starzetz 2006 §9.2.1").when("a packet of the class still waits"),
    eq("F_i ← S_i + L_i / w_i", "").when("a packet still waits; `update = printed` has `L` in place of `L_i`"),
    eq("V ← V + L / Σ_j (w_j)", "Bennett and Zhang 1997").when("`update = standard`"),
    eq("V ← max(V + L · w_i / Σ_j (w_j), S_i)", "Starzetz 2006 §9.2.1").when("`update = printed`"),
];

/// The parameter `weights`.
pub(super) const WEIGHTS: Param =
    Param::new("weights", Unit::Weights, "weight of each named station; other stations have weight 1")
        .default("[]")
        .range(1e-6, 1e6);
/// The parameter `limit`.
pub(super) const LIMIT: Param =
    Param::amount("limit", "maximum backlog of all classes; the packet in service is not counted")
        .default("500p")
        .range(1.0, 1e9)
        .limits_queue();
/// The parameter `update`.
pub(super) const UPDATE: Param = Param::word(
    "update",
    &["standard", "printed"],
    "how virtual time advances. standard: as in WF2Q+; printed: as the document prints it",
)
.default("standard");

/// The value of [`UPDATE`].
pub(super) fn update(args: &Args) -> Update {
    if args.word("update") == "printed" { Update::Printed } else { Update::Standard }
}

/// Builds the discipline.
///
/// # Errors
/// If a limit has no room for one packet, or a weight belongs to no neighbour or is not above 0.
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Wf2q {
        places: (args.word("classes") == "flow").then(Places::default),
        cost: Cost::new(args),
        weights: Weights::new(args, site)?,
        classes: Weighted::new(args, update(args))?,
    }))
}

/// WF2Q+ over stations or flows.
#[derive(Debug)]
pub struct Wf2q {
    /// Classes of flows; `None` if the classes are stations.
    places: Option<Places>,
    cost: Cost,
    weights: Weights,
    classes: Weighted,
}

impl Qdisc for Wf2q {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        let class = match &mut self.places {
            Some(places) => places.class(cx.now, &p, &mut self.classes),
            None => link.neighbour(&p) as usize,
        };
        let (cost, weights) = (self.cost, &self.weights);
        self.classes.enqueue(class, p, |p| head(cost, weights, link, p), sink);
    }

    fn dequeue(&mut self, _: &mut Cx, link: &dyn Link, _: &mut Sink) -> Option<Packet> {
        let (cost, weights) = (self.cost, &self.weights);
        self.classes.dequeue(|p| head(cost, weights, link, p))
    }

    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }

    fn by_receiver(&mut self) -> Option<&mut dyn ByReceiver> {
        self.places.is_none().then_some(self)
    }
}

impl ByReceiver for Wf2q {
    fn serve(&mut self, _: &mut Cx, link: &dyn Link, below: &mut dyn Below, sink: &mut Sink) -> Option<u32> {
        let (cost, weights) = (self.cost, &self.weights);
        self.classes.serve(|p| head(cost, weights, link, p), below, sink)
    }

    fn hold(&mut self, link: &dyn Link, p: &Packet) {
        self.classes.hold(link.neighbour(p) as usize, head(self.cost, &self.weights, link, p));
    }

    fn join(&mut self, _: &mut Cx, link: &dyn Link, receiver: u32, below: &mut dyn Below, sink: &mut Sink) {
        let (cost, weights) = (self.cost, &self.weights);
        self.classes.join(receiver as usize, |p| head(cost, weights, link, p), below, sink);
    }
}

/// The weight of a flow is that of its station.
fn head(cost: Cost, weights: &Weights, link: &dyn Link, p: &Packet) -> Head {
    Head { weight: weights.get(link.neighbour(p)).unwrap_or(1.0), cost: cost.of(link, p) }
}

/// The classes of flows. Each known flow has a place, with one class per direction.
#[derive(Debug, Default)]
struct Places {
    of: Recent<usize>,
    free: Vec<usize>,
    /// Number of places so far.
    all: usize,
}

impl Places {
    /// The class of `p`. Forgets the classes of silent flows.
    fn class(&mut self, now: Time, p: &Packet, classes: &mut Weighted) -> usize {
        let pair = |place: usize| [2 * place, 2 * place + 1];
        while let Some(place) = self.of.forget(now, |place| pair(*place).iter().any(|c| classes.waits(*c))) {
            pair(place).iter().for_each(|c| classes.forget(*c));
            self.free.push(place);
        }
        let place = *self.of.see(now, p.flow, || {
            self.free.pop().unwrap_or_else(|| {
                self.all += 1;
                self.all - 1
            })
        });
        pair(place)[usize::from(p.is_reverse())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::*;
    use super::*;
    use proptest::prelude::*;

    fn shares(q: &mut dyn Qdisc, n: u32, packets: impl Fn(u32) -> Packet) -> [u32; 3] {
        let mut bench = Bench::default();
        let mut got = [0; 3];
        for _ in 0..n {
            // Every class always has a packet behind its first one.
            (1..3).for_each(|to| (0..2).for_each(|_| bench.push(q, packets(to))));
            got[bench.pop(q).unwrap().flow.0 as usize] += 1;
        }
        got
    }

    #[test]
    fn weights_two_to_one_give_twice_the_service() {
        let mut q = made(build, PARAMS, &[("weights", weights(&[("sta.2", 2.0)]))]);
        assert_eq!(shares(&mut *q, 90, |to| packet(to, 1500)), [0, 30, 60]);
    }

    /// Small packets of 100 bytes compete with packets of 200 bytes: by bytes, two for one are sent; by packets, one
    /// for one (Starzetz §9.2.1: the cost determines what is shared).
    #[test]
    fn the_cost_function_says_what_is_shared() {
        let run =
            |cost: &str| shares(&mut *made(build, PARAMS, &[("cost", word(cost))]), 90, |to| packet(to, 100 * to));
        assert_eq!((run("bytes"), run("packets")), ([0, 60, 30], [0, 45, 45]));
        // Station 2 has half the rate of station 1: a packet of 1500 B takes 2 x 1.5 ms.
        let run = |cost: &str| shares(&mut *made(build, PARAMS, &[("cost", word(cost))]), 90, |to| packet(to, 1500));
        assert_eq!((run("bytes"), run("airtime")), ([0, 45, 45], [0, 60, 30]));
    }

    #[test]
    fn bad_parameters_have_a_message_each() {
        let error = |name, value| refused(build, PARAMS, &[(name, value)]);
        assert_eq!(
            error("weights", weights(&[("sta.2", 0.0)])),
            "weights: \"sta.2\" has weight 0; write a number above 0"
        );
        assert_eq!(
            error("weights", weights(&[("sta.2", 1.0), ("sta.2", 2.0)])),
            "weights: \"sta.2\" is listed twice; remove one"
        );
        assert_eq!(
            error("weights", weights(&[("bob", 1.0)])),
            "weights: station \"bob\" cannot be reached from this queue; only [ap] queue can give weights to \
                the stations of its cell"
        );
        assert_eq!(
            error("class_limit", bytes(100)),
            "class_limit: 100 bytes have no room for one packet of 1500 bytes; write packets, like \"10p\", or more \
                bytes"
        );
    }

    proptest! {
        /// No packet disappears, no class exceeds its limit, the discipline sends as long as packets wait, and the
        /// packets of a flow keep their order.
        #[test]
        fn packets_are_conserved_and_flows_keep_their_order(
            steps in steps(), by_flow in any::<bool>(), printed in any::<bool>(),
        ) {
            let words = [
                ("classes", word(if by_flow { "flow" } else { "station" })),
                ("update", word(if printed { "printed" } else { "standard" })),
            ];
            conserves(&mut *made(build, PARAMS, &words), &steps)?;
        }
    }
}
