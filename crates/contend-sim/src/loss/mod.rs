//! Losses of a channel: packets on a wire, frames on the air.

use contend_core::Refusal;
use contend_core::registry::Args;
use contend_core::{Cx, FlowId, Packet};
use std::fmt::Debug;

/// Builds a loss process from its parameters. The error names the wrong parameter and a valid value. `flow` maps the
/// name of a flow to its number.
pub type Build = fn(&Args, flow: &dyn Fn(&str) -> Option<FlowId>) -> Result<Box<dyn Loss>, Refusal>;

contend_core::registry!(Build; bernoulli, per, ber, gilbert_elliott, script);

/// A loss process. It is asked once for every packet or frame, in order of time.
pub trait Loss: Debug + Send {
    /// True if a packet or frame of `bytes` (on the air: the whole MPDU) that is on the channel now is lost. `packet`
    /// is the packet that it carries; `None` for a control frame.
    fn lost(&mut self, cx: &mut Cx, bytes: u32, packet: Option<&Packet>) -> bool;
    /// True if the process never loses anything. The caller may then skip it.
    fn never(&self) -> bool {
        false
    }
}

/// Helpers for the tests of several loss processes.
#[cfg(test)]
mod testing {
    use super::*;
    use crate::rng::stream;
    use contend_core::{Body, Time};

    pub(super) use crate::testing::args;

    /// Maps the flow "f" to number 0.
    pub(super) fn some(name: &str) -> Option<FlowId> {
        (name == "f").then_some(FlowId(0))
    }

    /// A datagram of flow 0.
    pub(super) fn packet(size: u32) -> Packet {
        Packet::new(FlowId(0), size, Time::ZERO, Body::Udp { seq: 0 })
    }

    /// The share of `n` packets that is lost; the i-th packet has `size(i)` bytes, all at time 0.
    pub(super) fn rate(l: &mut dyn Loss, n: u32, size: impl Fn(u32) -> u32) -> f64 {
        let mut rng = stream(1, "wire", "loss");
        let mut lost = 0;
        for i in 0..n {
            lost += u32::from(l.lost(&mut Cx { now: Time::ZERO, rng: &mut rng }, size(i), Some(&packet(size(i)))));
        }
        f64::from(lost) / f64::from(n)
    }
}
