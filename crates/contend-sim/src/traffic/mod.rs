//! Traffic sources: what a flow has to send, and when.

use contend_core::Refusal;
use contend_core::registry::{Amount, Args, Fact, Param};
use contend_core::{Cx, Span, Time};
use std::fmt::Debug;

mod on_off;

/// Builds a source from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args) -> Result<Box<dyn Source>, Refusal>;

contend_core::registry!(
    Build; bulk [Fact::Greedy], cbr, poisson, exponential, pareto, files, web [Fact::Closed], sessions [Fact::Greedy],
    voip, video, token_bucket,
);

/// One write of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppWrite {
    /// The time of the write.
    pub at: Time,
    /// How many payload bytes: written to the connection (TCP), or one datagram (UDP; 0 for the flow's full packet).
    /// `u64::MAX` is more than a run can send.
    pub bytes: u64,
    /// The time at which the application withdraws the data that the connection has not yet sent. The next write is not
    /// earlier. [`Time::NEVER`] for a datagram.
    pub until: Time,
}

impl AppWrite {
    /// The next write is known only when everything written before is acknowledged.
    pub const AFTER_THE_LAST: AppWrite = AppWrite { at: Time::NEVER, bytes: 0, until: Time::NEVER };

    /// A write that is never withdrawn.
    pub fn new(at: Time, bytes: u64) -> AppWrite {
        AppWrite { at, bytes, until: Time::NEVER }
    }
}

/// A source of writes, in order of time.
pub trait Source: Debug + Send {
    /// The next write after the last one given. The first call comes at the flow's start with `cx.now` that instant.
    /// `full` is the payload of a full packet of the flow in bytes. `None`: nothing more, ever.
    /// [`AppWrite::AFTER_THE_LAST`]: the next call comes when everything written is acknowledged, with `cx.now` that
    /// instant. Only a source with [`Fact::Closed`] returns it.
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite>;
}

/// The parameter `packet` of every source that writes packets of one size.
const PACKET: Param =
    Param::amount("packet", "payload of a packet; 0B: the flow's full packet").default("0B").range(0.0, 65_535.0);

/// The parameter `packet` in bytes.
fn packet(args: &Args) -> Result<u64, Refusal> {
    match args.amount("packet") {
        Amount::Bytes(n) => Ok(n),
        Amount::Packets(_) => Err(Refusal::new("packet counts bytes", "write packet = \"120B\"")),
    }
}

/// The time between two packets of `bytes` payload (0: `full`) at `rate` bits per second. It is never zero, so that
/// time always advances.
fn gap(bytes: u64, full: u32, rate: u64) -> Span {
    let payload = if bytes == 0 { u64::from(full) } else { bytes };
    Span::of_bits(8 * payload, rate).max(Span::from_nanos(1))
}

/// Helpers for the tests of several sources.
#[cfg(test)]
mod testing {
    use super::*;
    use contend_core::registry::Value;

    pub(super) use crate::testing::args;

    /// The writes before `end` of a source that starts at `start`, with full packets of 1000 bytes, each complete at
    /// once. Panics if a write is earlier than the one before.
    pub(super) fn writes(s: &mut dyn Source, seed: u64, start: Time, end: Time) -> Vec<AppWrite> {
        let mut rng = crate::rng::stream(seed, "flow0", "arrivals");
        let (mut all, mut now) = (Vec::new(), start);
        while let Some(w) = s.next(&mut Cx { now, rng: &mut rng }, 1000) {
            if w == AppWrite::AFTER_THE_LAST {
                continue;
            }
            assert!(w.at >= now, "writes come in order of time");
            if w.at >= end {
                break;
            }
            now = w.at;
            all.push(w);
        }
        all
    }

    /// Mean rate in bits per second of `writes` over `over`; a write of 0 bytes is a full packet.
    pub(super) fn rate(writes: &[AppWrite], over: Span) -> f64 {
        writes.iter().map(|w| if w.bytes == 0 { 8000.0 } else { 8.0 * w.bytes as f64 }).sum::<f64>()
            / over.as_secs_f64()
    }

    #[test]
    fn every_source_repeats_itself_for_a_seed_and_differs_for_another() {
        let v = |n: &str, v: Value| (n.to_string(), v);
        let second = Value::Time(Span::from_secs(1));
        let rate = Value::Rate(1_000_000);
        let all = [
            v("rate", rate.clone()),
            v("random", Value::Number(1.0)),
            v("gap", second.clone()),
            v("call", second.clone()),
            v("timer", second.clone()),
            v("think", second.clone()),
        ];
        let more = [
            v("on", second.clone()),
            v("off", second),
            v("shape", Value::Number(1.5)),
            v("sources", Value::Integer(5)),
            v("fps", Value::Number(30.0)),
        ];
        let files = [
            v("size", Value::Amount(Amount::Packets(3))),
            v("count", Value::Integer(0)),
            v("law", Value::Word("exponential".into())),
        ];
        for e in REGISTRY.iter().filter(|e| e.name != "bulk") {
            let mut a = Args::default();
            for (n, value) in all.iter().chain(&more).chain(&files) {
                if let Some(p) = e.params.iter().find(|p| p.name == *n) {
                    a.set(p.name, value.clone());
                }
            }
            if e.params.iter().any(|p| p.name == "packet") {
                a.set("packet", Value::Amount(Amount::Bytes(500)));
            }
            let run = |seed| writes(&mut *(e.build)(&a).unwrap(), seed, Time::ZERO, Time::ZERO + Span::from_secs(20));
            assert_eq!(run(1), run(1), "{}", e.name);
            assert_ne!(run(1), run(2), "{}", e.name);
        }
    }
}
