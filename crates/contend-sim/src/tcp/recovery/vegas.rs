//! The retransmissions of Vegas. On a duplicate ACK, Vegas checks the age of the first unacknowledged segment; it does
//! not count duplicates.
//!
//! - Options choose between the rules of Brakmo and Peterson and those of ns-2. `backs_off` (ns-2) doubles the
//!   retransmission timeout with each early retransmission. `samples = "last"` (ns-2) counts the wait for a repair as a
//!   round trip. `stays_inflated` is a fault of ns-2: a window that duplicates inflated before a retransmission stays
//!   so if no duplicate follows. `growth = "spread"` of the controller is that of both. The defaults are the rules of
//!   Brakmo and Peterson, except `growth`: its default is that of Linux.
//! - Not modelled: ns-2 keeps its counters of transmissions in a ring, and does not clear the counters of an
//!   acknowledgment that passes the end of the ring. It then takes some segments as sent twice: they give no sample,
//!   and a reduction by half.
//! - The fine timeout is that of ns-2: (SRTT + 2 RTTVAR) 17/16, from samples without the granularity of the
//!   retransmission timer. A retransmission lengthens it by an eighth, the second retransmission of the same segment
//!   doubles it, and the next sample undoes both.
//! - The first two ACKs of new data after a retransmission check the age again, and retransmit without a further
//!   reduction.
//! - The third duplicate ACK retransmits as in Reno: the first ACK of new data ends the episode.
//! - The window is reduced only for a segment that was sent after the last reduction.

use super::{DUPTHRESH, Duplicates, Enter, Forced, GUARD, HALVE_FROM, Options, Phase, Recovery, SenderView, Verdict};
use crate::tcp::rtt::smooth;
use crate::tcp::scoreboard::Scoreboard;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};
use contend_core::{Span, Time};

/// Where it comes from.
pub const CITE: &str = "Brakmo and Peterson 1995 §3.1; constants of ns-2";
/// What it does.
pub const SUMMARY: &str = "Retransmits at a duplicate ACK if the segment is older than a fine timeout; the next two \
    ACKs of new data check the age again.";
/// Its parameters.
pub const PARAMS: &[Param] = &[
    DUPTHRESH,
    HALVE_FROM.default("min(cwnd, rwnd)"),
    GUARD,
    Param::flag(
        "backs_off",
        "true if each early retransmission also doubles the retransmission timeout, as in ns-2; false: only the expiry \
            of that timeout does (Brakmo and Peterson)",
    )
    .default("false"),
    Param::word(
        "samples",
        &["karn", "last"],
        "which acknowledgments measure a round trip for the fine timeout. karn: those of segments that were all sent \
            once; last: those whose last segment was sent once, so that the wait for a repair counts (ns-2)",
    )
    .default("karn"),
    Param::flag(
        "stays_inflated",
        "true if the window keeps the inflation by the duplicates before a retransmission, unless more duplicates \
            follow (a fault of ns-2); false: the next acknowledgment of new data ends it",
    )
    .default("false"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("SRTT", "smoothed round-trip time, of `samples`"),
    symbol("RTTVAR", "its mean deviation"),
    symbol("f", "factor of the fine timeout; 1 after each new sample"),
    symbol("F", "fine timeout"),
    symbol("age", "time since the first unacknowledged segment was last sent"),
    symbol("n", "duplicate ACKs since the last ACK of new data, outside an episode"),
    symbol("k", "ACKs of new data that still check the age"),
    symbol("o", "segments that are outstanding"),
    symbol("extra", "segments by which duplicates inflate the window"),
    on("a duplicate ACK, or an ACK of new data with `k > 0`"),
    eq("F = 17 / 16 · (SRTT + 2 · RTTVAR) · f", "Brakmo and Peterson 1995 §3.1; ns-2"),
    on("a duplicate ACK"),
    step("the first segment is sent again", "")
        .when("`age ≥ F`, or it is the `dupthresh`-th outside an episode; outside one, `guard` must permit it"),
    eq("k ← min(2, o)", "").when("it is sent again"),
    eq("f ← 2 · f", "ns-2").when("it is sent again, and not for the first time; at most 65536"),
    eq("f ← f + f / 8", "").when("it is sent again for the first time"),
    step("the controller reduces the window", "Brakmo and Peterson 1995 §3.1")
        .when("it is sent again, and was last sent after the last reduction"),
    step("the retransmission timeout doubles", "ns-2").when("it is sent again, with `backs_off`"),
    step("an episode begins; `extra` is the number of duplicates so far", "").when("it is sent again"),
    eq("extra ← extra + 1", "RFC 5681 §3.2 step 4").when("it is not, in an episode"),
    eq("extra ← min(n, dupthresh − 1)", "RFC 3042").when("it is not, outside an episode, and limited transmit is on"),
    on("an ACK of new data"),
    step("`extra` becomes part of the window", "ns-2")
        .when("`stays_inflated`, and the segment was sent again once and no duplicate came since"),
    step("`extra ← 0`, `n ← 0`, and the episode ends", "RFC 5681 §3.2 step 6"),
    step("the first segment is sent again, without a reduction; `k ← k − 1`", "Brakmo and Peterson 1995 §3.1")
        .when("`k > 0` and `age ≥ F`"),
    step("`k ← 0`; the controller may open the window if there was no episode", "").when("otherwise"),
    on("a timeout"),
    step("all that is outstanding is sent again; `extra ← 0`, `k ← 0`", ""),
];

/// Factor of a fine timeout that is not lengthened, in 2^-16.
const ONE_Q16: u64 = 1 << 16;

#[derive(Debug)]
struct Vegas {
    dups: Duplicates,
    extra: u32,
    /// Number of ACKs of new data that must still check the age of the first segment.
    worried: u32,
    /// When the window was last reduced.
    reduced: Option<Time>,
    /// The factor by which retransmissions lengthen the fine timeout, and the smoothed round-trip time to which it
    /// applies.
    backoff_q16: u64,
    at: Option<(Span, Span)>,
    backs_off: bool,
    /// True if inflation may stay.
    stays_inflated: bool,
    /// True if the inflation stays with the next acknowledgment of new data: the first segment was sent again once, and
    /// no duplicate came since.
    staying: bool,
    /// True if the fine timeout has samples of its own: `samples = "last"`.
    own_samples: bool,
    /// Smoothed round-trip time and mean deviation of these samples, in nanoseconds.
    smoothed: Option<(u64, u64)>,
}

/// Builds the recovery.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, Refusal> {
    Ok(Box::new(Vegas {
        dups: Duplicates::new(args),
        extra: 0,
        worried: 0,
        reduced: None,
        backoff_q16: ONE_Q16,
        at: None,
        backs_off: args.flag("backs_off"),
        stays_inflated: args.flag("stays_inflated"),
        staying: false,
        own_samples: args.word("samples") == "last",
        smoothed: None,
    }))
}

impl Vegas {
    /// True if the first unacknowledged segment is older than the fine timeout.
    fn expired(&mut self, v: &SenderView, board: &Scoreboard) -> bool {
        let rtt = if self.own_samples {
            self.smoothed.map(|(srtt, rttvar)| (Span::from_nanos(srtt), Span::from_nanos(rttvar)))
        } else {
            v.rtt
        };
        if rtt != self.at {
            (self.at, self.backoff_q16) = (rtt, ONE_Q16);
        }
        let (Some((srtt, rttvar)), Some(head)) = (rtt, board.head()) else { return false };
        let fine = u128::from(srtt.as_nanos() + 2 * rttvar.as_nanos()) * 17 / 16 * u128::from(self.backoff_q16)
            / u128::from(ONE_Q16);
        u128::from(v.now.since(head.sent).as_nanos()) >= fine
    }

    /// An ACK of new data.
    fn advanced(&mut self, v: &SenderView, board: &Scoreboard) -> Verdict {
        let fast = self.dups.phase == Phase::Fast;
        let keep_extra = std::mem::take(&mut self.staying);
        self.extra = 0;
        self.dups.advance(v);
        let worried = std::mem::take(&mut self.worried);
        if worried > 0 && self.expired(v, board) {
            self.worried = worried - 1;
            // Duplicates that still come report nothing new: they inflate the window, and cause no retransmission.
            self.dups.enter(v, Phase::Fast);
            return Verdict { send: Some(Forced::Head), keep_extra, ..Verdict::default() };
        }
        Verdict { grow: !fast, keep_extra, ..Verdict::default() }
    }

    /// Sends the first segment again.
    fn again(&mut self, v: &SenderView, board: &Scoreboard, arrived: u32) -> Verdict {
        let Some(head) = board.head() else { return Verdict::default() };
        self.worried = board.outstanding().min(2);
        self.backoff_q16 = if head.copies > 0 { self.backoff_q16 * 2 } else { self.backoff_q16 + self.backoff_q16 / 8 }
            .min(ONE_Q16 << 16);
        // ns-2 then counts three duplicates, and ends the inflation only above three.
        self.staying = self.stays_inflated && head.copies == 0;
        self.dups.enter(v, Phase::Fast);
        self.extra = arrived;
        let due = self.reduced.is_none_or(|r| r < head.sent);
        if due {
            self.reduced = Some(v.now);
        }
        Verdict {
            enter: due.then_some(Enter::Base),
            send: Some(Forced::Head),
            extra: self.extra,
            back_off: self.backs_off,
            ..Verdict::default()
        }
    }
}

impl Recovery for Vegas {
    fn on_ack(&mut self, v: &SenderView, board: &mut Scoreboard) -> Verdict {
        if let (true, Some(sent)) = (self.own_samples, v.last_sent) {
            self.smoothed = Some(smooth(self.smoothed, v.now.since(sent).as_nanos()));
        }
        if v.advanced {
            return self.advanced(v, board);
        }
        let fast = self.dups.phase == Phase::Fast;
        if !v.dup {
            return Verdict { extra: self.extra, ..Verdict::default() };
        }
        let expired = self.expired(v, board);
        if fast {
            let arrived = self.extra.saturating_add(1);
            if expired {
                return self.again(v, board, arrived);
            }
            self.extra = arrived;
            self.staying = false;
            return Verdict { extra: arrived, ..Verdict::default() };
        }
        let arrived = self.dups.count.saturating_add(1);
        let guarded = self.dups.guarded && v.una <= self.dups.recover;
        match self.dups.outside(v) {
            Err(_) if expired && !guarded => self.again(v, board, arrived),
            Err(limited) => {
                self.extra = limited;
                Verdict { extra: limited, ..Verdict::default() }
            }
            Ok(()) => self.again(v, board, arrived),
        }
    }

    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard) {
        board.lose_all();
        self.extra = 0;
        self.staying = false;
        self.worried = 0;
        self.reduced = Some(v.now);
        self.dups.enter(v, Phase::Loss);
    }

    fn options(&self) -> Options {
        self.dups.options
    }

    fn phase(&self) -> Phase {
        self.dups.phase
    }
}
