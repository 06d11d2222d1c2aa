//! Telephone calls over one flow: calls begin and end, and each alternates between talk spurts and pauses.

use super::on_off::{Law, OnOff};
use super::{AppWrite, Source, gap, packet};
use crate::rng::exponential;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Span, Time};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Jersey thesis 2005 §5.6.1 (spec 2D): 5 sources, calls 1 s apart and 8 s long, on/off 50/50, \
    96 kb/s; talk spurts as ns-2's default, 500 ms";
/// What it does.
pub const SUMMARY: &str = "Telephone calls on a few lines; calls arrive as a Poisson process, last for exponential \
    times, and are blocked if no line is free. Each call is an exponential on/off source.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("sources", "number of lines: calls that can be active at a time").default("5").range(1.0, 256.0),
    Param::time("gap", "mean time between two calls, including blocked calls").default("1s").range(1e-3, 1e6),
    Param::time("call", "mean duration of a call").default("8s").range(1e-3, 1e6),
    Param::time("on", "mean duration of a talk spurt").default("500ms").range(1e-3, 1e6),
    Param::time("off", "mean duration of a pause").default("500ms").range(0.0, 1e6),
    Param::rate("rate", "payload bits per second of a call in a talk spurt").default("96kbps").range(100.0, 1e12),
    super::PACKET.default("120B"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// When `packet` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(Pool::new(args)?))
}

/// A pool of lines.
#[derive(Debug)]
struct Pool {
    lines: usize,
    /// Mean time between calls, of a call, of a talk spurt and of a pause, in seconds.
    gap: f64,
    call: f64,
    on: f64,
    off: f64,
    rate: u64,
    bytes: u64,
    /// The active calls, at most `lines`.
    calls: Vec<Call>,
    /// When the next call arrives; `None` before the start.
    arrival: Option<Time>,
    offered: u64,
    blocked: u64,
}

/// An active call.
#[derive(Debug)]
struct Call {
    ends: Time,
    /// The next packet of the call. A packet after the end of the call is never sent.
    packet: Time,
    voice: OnOff,
}

impl Pool {
    fn new(args: &Args) -> Result<Pool, Refusal> {
        let secs = |name| args.time(name).as_secs_f64();
        let lines = args.integer("sources").clamp(1, 256) as usize;
        let (gap, call, on, off) = (secs("gap"), secs("call"), secs("on"), secs("off"));
        let (rate, bytes, calls) = (args.rate("rate"), packet(args)?, Vec::with_capacity(lines));
        Ok(Pool { lines, gap, call, on, off, rate, bytes, calls, arrival: None, offered: 0, blocked: 0 })
    }

    /// A call arrives at `at`.
    fn begin(&mut self, cx: &mut Cx, at: Time, spacing: Span) {
        self.offered += 1;
        self.calls.retain(|c| c.ends > at);
        if self.calls.len() == self.lines {
            self.blocked += 1;
            return;
        }
        let mut cx = Cx { now: at, rng: cx.rng };
        let ends = at.saturating_add(exponential(cx.rng, self.call));
        // A call begins in a talk spurt with the long-run probability of a talk spurt.
        let talks = cx.rng.random::<f64>() * (self.on + self.off) < self.on;
        let (on, off) = (Law::Exponential(self.on), Law::Exponential(self.off));
        let mut voice = if talks { OnOff::new(&mut cx, on, off) } else { OnOff::pausing(&mut cx, on, off) };
        let packet = voice.advance(&mut cx, spacing);
        self.calls.push(Call { ends, packet, voice });
    }
}

impl Source for Pool {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        let spacing = gap(self.bytes, full, self.rate);
        loop {
            let arrival = match self.arrival {
                Some(at) => at,
                None => cx.now.saturating_add(exponential(cx.rng, self.gap)),
            };
            self.arrival = Some(arrival);
            // At the same instant, an arriving call precedes packets, and the packet of the earlier call precedes the
            // others.
            let first = self.calls.iter_mut().filter(|c| c.packet < c.ends).min_by_key(|c| c.packet);
            match first {
                Some(c) if c.packet < arrival => {
                    let at = c.packet;
                    c.packet = c.voice.advance(cx, spacing);
                    return Some(AppWrite::new(at, self.bytes));
                }
                _ if arrival == Time::NEVER => return None,
                _ => {
                    self.begin(cx, arrival, spacing);
                    self.arrival = Some(arrival.saturating_add(exponential(cx.rng, self.gap)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, rate, writes};
    use super::*;
    use contend_core::registry::{Amount, Value};

    fn pool(sources: i64, call: u64) -> Pool {
        let t = |ms| Value::Time(Span::from_millis(ms));
        let v = [
            ("sources", Value::Integer(sources)),
            ("gap", t(1000)),
            ("call", t(call)),
            ("on", t(500)),
            ("off", t(500)),
        ];
        Pool::new(&args(
            PARAMS,
            &[&v[..], &[("rate", Value::Rate(96_000)), ("packet", Value::Amount(Amount::Bytes(120)))]].concat(),
        ))
        .unwrap()
    }

    /// Erlang B by hand for 8 erlang on 5 lines: (8^5/120) / (1 + 8 + 32 + 85.33 + 170.67 + 273.07) = 0.479.
    #[test]
    fn calls_are_blocked_as_often_as_erlang_b_says() {
        let mut p = pool(5, 8000);
        writes(&mut p, 1, Time::ZERO, Time::ZERO + Span::from_secs(40_000));
        let blocked = p.blocked as f64 / p.offered as f64;
        assert!((p.offered as f64 / 40_000.0 - 1.0).abs() < 0.015);
        assert!((blocked - 0.479).abs() < 0.015, "{blocked}");
    }

    /// 8 erlang x (1 - 0.479) = 4.17 calls, each sending 96 kb/s half of the time: 200 kb/s.
    #[test]
    fn the_mean_rate_is_that_of_the_busy_lines() {
        let over = Span::from_secs(20_000);
        let got = rate(&writes(&mut pool(5, 8000), 2, Time::ZERO, Time::ZERO + over), over);
        assert!((got / 200e3 - 1.0).abs() < 0.02, "{got}");
    }

    /// 120 B at 96 kb/s take 10 ms: at most 5 packets in any 10 ms.
    #[test]
    fn the_peak_is_all_lines_talking() {
        let w = writes(&mut pool(5, 8000), 3, Time::ZERO, Time::ZERO + Span::from_secs(2000));
        assert!(w.windows(6).all(|w| w[5].at - w[0].at >= Span::from_millis(10)) || w.len() < 6);
        assert!(w.iter().all(|w| w.bytes == 120));
    }
}
