//! IdleGap: the PHY's rate times the share of time that no exchange takes.
//!
//! - Busy time is the time reserved by the Duration fields of RTS and CTS, in any role (eqs. 2.10 to 2.12). Without
//!   RTS/CTS the busy time is zero.
//! - The capacity is the rate of the 802.11 header, not a measurement.

use super::busy::Busy;
use super::effort::Effort;
use super::local::{Local, ONE, scale};
use super::transactions::Transactions;
use super::{HeardFrame, Observer, OwnExchange, Radio};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::Time;
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Lee et al. 2005, as Barreto 2012 §2.2.2 has it";
/// What it does.
pub const SUMMARY: &str = "PHY rate times the share of time that no Duration field reserves: IdleGap.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::time("window", "sliding window of the busy time; 0s: since the beginning").default("10s").range(0.0, 1e6)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("NAV", "the Duration field of an RTS or CTS"),
    symbol("T_Busy", "busy time in `window`"),
    symbol(
        "T_Elapsed",
        "time that `window` covers; with `window = 0` from the first transaction to the end of the last",
    ),
    symbol("R_data", "rate of the node's data frames, in byte/s"),
    symbol("R_idle", "share of time that is idle"),
    symbol("AB", "available bandwidth of the link, in byte/s"),
    on("an RTS to the node or one that it overhears, a CTS to it, an overheard CTS without its RTS"),
    eq("T_Busy ← T_Busy + NAV", "Barreto 2012 eq. 2.11"),
    on("a sender or a queue asks"),
    eq("R_idle = 1 − T_Busy / T_Elapsed", "Barreto 2012 eq. 2.12"),
    eq("AB = R_idle · R_data", "Barreto 2012 eq. 2.10"),
    step("the capacity is `R_data`; what contention takes is measured as with rt_winf", "Barreto 2012 §2.2.2"),
];

/// Builds the observer.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, radio: &Radio) -> Result<Box<dyn Observer>, Refusal> {
    Ok(Box::new(IdleGap {
        radio: *radio,
        transactions: Transactions::new(*radio),
        effort: Effort::default(),
        busy: Busy::new(args.time("window")),
        updated: Time::ZERO,
    }))
}

#[derive(Debug)]
struct IdleGap {
    radio: Radio,
    transactions: Transactions,
    effort: Effort,
    busy: Busy,
    updated: Time,
}

impl Observer for IdleGap {
    fn heard(&mut self, f: &HeardFrame<'_>) {
        if f.decoded
            && let (Some(r), _) = self.transactions.heard(f)
        {
            self.busy.book(r.nav, r.start, r.until);
            self.updated = f.end;
        }
    }

    fn sent(&mut self, x: &OwnExchange) {
        self.effort.sent(x, &self.radio);
        self.transactions.sent(x);
    }

    fn local(&self, now: Time) -> Local {
        let rate = self.radio.rate;
        self.effort.in_local(Local {
            capacity: Some(rate),
            available: Some(scale(rate, self.busy.free_q20(now), ONE)),
            updated: self.updated,
            ..Local::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Air, LINK, SATURATED_GAP};
    use super::*;
    use crate::time::Span;

    fn idle_gap() -> Box<dyn Observer> {
        let mut args = Args::default();
        args.set("window", crate::registry::Value::Time(Span::from_secs(10)));
        build(&args, &LINK).unwrap()
    }

    #[test]
    fn a_saturated_link_looks_as_free_as_the_rts_leaves_it() {
        let (mut o, mut air) = (idle_gap(), Air::new());
        for _ in 0..2000 {
            air.overhear(&mut *o, SATURATED_GAP);
        }
        // NAV_RTS is 1947 us of a cycle of 2659 us: 27 % of 11 Mb/s.
        let free = o.local(air.now).available.unwrap() as f64 * 8.0 / 11e6;
        assert!((free - (1.0 - 1947.09 / 2659.09)).abs() < 0.002, "{free}");
        assert_eq!(o.local(air.now).capacity, Some(1_375_000));
    }

    #[test]
    fn an_idle_link_is_free() {
        assert_eq!(idle_gap().local(Time::from_nanos(5)).available, Some(1_375_000));
    }
}
