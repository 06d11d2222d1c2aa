//! Losses of a channel: packets on a wire, frames on the air.

use contend_core::Refusal;
use contend_core::registry::Args;
use contend_core::{Cx, FlowId, Packet, Rng, Time};
use rand::RngExt as _;
use std::fmt::Debug;

/// Builds a loss process from its parameters. The error names the wrong parameter and a valid value. `flow` maps the
/// name of a flow to its number.
pub type Build = fn(&Args, flow: &dyn Fn(&str) -> Option<FlowId>) -> Result<Box<dyn Loss>, Refusal>;

contend_core::registry!(Build; bernoulli, per, ber, gilbert_elliott, script);

/// A loss process. It is asked once for every packet or frame, in order of time.
pub trait Loss: Debug + Send {
    /// The probability that a packet or frame of `bytes` (on the air: the whole MPDU) that is on the channel now is
    /// lost. `packet` is the packet that it carries; `None` for a control frame. `cx` draws what the probability
    /// depends on, like the state of the channel.
    fn probability(&mut self, cx: &mut Cx, bytes: u32, packet: Option<&Packet>) -> f64;
    /// True if the process never loses anything. The caller may then skip it.
    fn never(&self) -> bool {
        false
    }
}

/// A loss process with its random numbers.
#[derive(Debug)]
pub(crate) struct Losses {
    process: Box<dyn Loss>,
    rng: Rng,
    excess: f64,
}

impl Losses {
    /// The losses that `process` draws from `rng`.
    pub(crate) fn new(process: Box<dyn Loss>, rng: Rng) -> Losses {
        Losses { process, rng, excess: 0.0 }
    }

    /// True if the packet or frame is lost; see [`Loss::probability`].
    pub(crate) fn lost(&mut self, now: Time, bytes: u32, packet: Option<&Packet>) -> bool {
        let p = self.process.probability(&mut Cx { now, rng: &mut self.rng }, bytes, packet);
        // What is certain takes no random number: acknowledgments that cannot be lost do not change the losses of data.
        let lost = p >= 1.0 || (p > 0.0 && self.rng.random::<f64>() < p);
        self.excess += f64::from(u8::from(lost)) - p;
        lost
    }

    /// How many more were lost until now than the probabilities say: the sum of 1 - p over the lost ones and of -p over
    /// the others. Its mean over many seeds is 0, whatever the senders do.
    pub(crate) fn excess(&self) -> f64 {
        self.excess
    }
}

/// Helpers for the tests of several loss processes.
#[cfg(test)]
mod testing {
    use super::*;
    use crate::rng::stream;
    use contend_core::Body;

    pub(super) use crate::testing::args;

    /// Maps the flow "f" to number 0.
    pub(super) fn some(name: &str) -> Option<FlowId> {
        (name == "f").then_some(FlowId(0))
    }

    /// A datagram of flow 0.
    pub(super) fn packet(size: u32) -> Packet {
        Packet::new(FlowId(0), size, Time::ZERO, Body::Udp { seq: 0 })
    }

    /// A process that draws from the stream of `seed`.
    pub(super) fn drawing(process: Box<dyn Loss>, seed: u64) -> Losses {
        Losses::new(process, stream(seed, "wire", "loss"))
    }

    /// The share of `n` packets that is lost; the i-th packet has `size(i)` bytes, all at time 0.
    pub(super) fn rate(process: Box<dyn Loss>, n: u32, size: impl Fn(u32) -> u32) -> f64 {
        let mut losses = drawing(process, 1);
        let lost = (0..n).filter(|i| losses.lost(Time::ZERO, size(*i), Some(&packet(size(*i))))).count();
        lost as f64 / f64::from(n)
    }
}
