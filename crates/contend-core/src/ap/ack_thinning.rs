//! Thinning of acknowledgments: only every d-th acknowledgment of a flow passes at once. The newest of the others
//! passes a little later.
//!
//! This is the simplest of the schemes in RFC 3449 §5.2. It shows the gain of a downlink that carries both data and
//! many acknowledgments.
//!
//! - Only acknowledgments to the air are thinned. An acknowledgment passes at once, after a held one, if it
//!   acknowledges no new data, or carries SACK blocks or flags.
//! - The timer starts with the first held acknowledgment: no acknowledgment is delayed longer than `hold`.

use super::{Control, Facts, Pass, Side};
use crate::Cx;
use crate::Refusal;
use crate::filtered::{ACCECN, Filtered, Left};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::{FlowId, Packet};
use crate::qdisc::DropReason;
use crate::recent::Recent;
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Source of the algorithm.
pub const CITE: &str = "RFC 3449 §5.2.1, ACK Filtering, here by count and with a limit on delay";
/// What it does.
pub const SUMMARY: &str = "Passes every d-th acknowledgment of a flow; of the others, the newest is held for a short \
    time, and older ones are filtered.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("d", "one of d acknowledgments passes at once; 1: all pass at once").default("2").range(1.0, 1e6),
    Param::time("hold", "maximum time for which an acknowledgment is held").default("10ms").range(1e-6, 1e3),
    ACCECN,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n", "acknowledgments of the flow since the last one that passed; 0 at first"),
    on("an acknowledgment from the wire"),
    step("the held one passes, then this one, and `n ← 0`", "RFC 3449 §5.2.1")
        .when("it acknowledges nothing new, or has SACK blocks, payload or a flag but ACK and what `accecn` allows"),
    step("the held one passes, and `n ← 0`", "RFC 9768 §3.3.3")
        .when("`accecn = count`, and since the last one that passed the counter has moved by 7, or 8 segments are new"),
    eq("n ← n + 1", "").when("otherwise"),
    step("it is held; the one held before is dropped", ""),
    step("it passes, and `n ← 0`", "").when("`n ≥ d`"),
    on("the end of `hold`, from the first that was held since one passed"),
    step("the held one passes, and `n ← 0`", ""),
];

/// The control block.
#[derive(Debug)]
pub struct AckThinning {
    /// d: of every d acknowledgments, one passes at once.
    every: u32,
    hold: Span,
    accecn: Filtered,
    flows: Recent<Flow>,
    /// Ends of the holding times. They are in order because all holding times are equal. An entry is stale if its
    /// acknowledgment has already passed.
    timers: VecDeque<(Time, FlowId)>,
    held: u64,
}

/// State of one flow.
#[derive(Debug, Default)]
struct Flow {
    highest: u64,
    /// Acknowledgments since the last one that passed.
    count: u32,
    /// The newest acknowledgment of these, and the latest time at which it passes.
    held: Option<(Packet, Time)>,
    /// The latest that passed.
    left: Left,
}

/// Builds the control block.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Facts) -> Result<Box<dyn Control>, Refusal> {
    let every = u32::try_from(args.integer("d")).unwrap_or(1).max(1);
    Ok(Box::new(AckThinning {
        every,
        hold: args.time("hold"),
        accecn: Filtered::new(args),
        flows: Recent::default(),
        timers: VecDeque::new(),
        held: 0,
    }))
}

impl Control for AckThinning {
    fn on_packet(&mut self, cx: &mut Cx, from: Side, p: Packet, out: &mut Pass) {
        if from != Side::Wire || !p.is_reverse() || p.tcp().is_none() {
            return out.packets.push((from, p));
        }
        while self.flows.forget(cx.now, |f| f.held.is_some()).is_some() {}
        let f = self.flows.see(cx.now, p.flow, Flow::default);
        let Some(new) = self.accecn.pure_ack(&p).filter(|s| s.ack > f.highest) else {
            self.held -= u64::from(f.pass(out));
            f.left = p.tcp().map_or(f.left, |s| f.left.then(s));
            return out.packets.push((from, p));
        };
        f.highest = new.ack;
        if f.held.is_some() && !self.accecn.may_replace(f.left, new) {
            self.held -= u64::from(f.pass(out));
        }
        f.count += 1;
        let due = match f.held.take() {
            Some((older, due)) => {
                out.sink.drop(older, DropReason::Filtered);
                due
            }
            None => {
                let due = cx.now.saturating_add(self.hold);
                self.timers.push_back((due, p.flow));
                self.held += 1;
                due
            }
        };
        f.held = Some((p, due));
        if f.count >= self.every {
            self.held -= u64::from(f.pass(out));
        }
        self.tidy();
    }

    fn on_wake(&mut self, cx: &mut Cx, out: &mut Pass) {
        while let Some(&(due, flow)) = self.timers.front()
            && due <= cx.now
        {
            self.timers.pop_front();
            if let Some(f) = self.flows.get_mut(flow)
                && f.held.is_some_and(|(_, d)| d <= due)
            {
                self.held -= u64::from(f.pass(out));
            }
        }
        self.tidy();
    }

    fn next_deadline(&self) -> Time {
        self.timers.front().map_or(Time::NEVER, |(due, _)| *due)
    }

    fn held(&self) -> u64 {
        self.held
    }
}

impl AckThinning {
    /// Removes stale timers from the front.
    fn tidy(&mut self) {
        while let Some((due, flow)) = self.timers.front()
            && self.flows.get(*flow).and_then(|f| f.held).is_none_or(|(_, d)| d != *due)
        {
            self.timers.pop_front();
        }
    }
}

impl Flow {
    /// Passes the held acknowledgment. Returns true if there was one.
    fn pass(&mut self, out: &mut Pass) -> bool {
        self.count = 0;
        let held = self.held.take();
        self.left = held.as_ref().and_then(|(p, _)| p.tcp()).map_or(self.left, |s| self.left.then(s));
        out.packets.extend(held.map(|(p, _)| (Side::Wire, p)));
        held.is_some()
    }
}
