//! A user with a browser: a page, a think time after its last byte, the next page.

use super::{AppWrite, Source};
use crate::rng::exponential;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Amount, Args, Param};
use contend_core::{Cx, Span, Time};

/// Source.
pub const CITE: &str = "closed loop with think time, as in queueing networks with users at terminals; 3GPP2 C.R1002, \
    HTTP: exponential reading time of mean 30 s";
/// What it does.
pub const SUMMARY: &str = "A user with a browser: gets a page, reads it for a think time after its last byte, and gets \
    the next. The flow starts with a page; all pages use one connection.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::amount("size", "size of a page: bytes of payload, or full packets").range(1.0, 1e15),
    Param::time("think", "mean time from the acknowledgment of a page's last byte to the start of the next page")
        .default("30s")
        .range(0.0, 1e6),
    Param::word(
        "law",
        &["fixed", "exponential"],
        "how think times are distributed. fixed: all alike; exponential: at random",
    )
    .default("exponential"),
    Param::integer("count", "number of pages, 0: no end").default("0").range(0.0, 1e9),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(Web {
        size: args.amount("size"),
        think: args.time("think"),
        random: args.word("law") == "exponential",
        left: match args.integer("count") {
            0 => u64::MAX,
            n => n.unsigned_abs(),
        },
        stage: Stage::First,
    }))
}

/// One user.
#[derive(Debug)]
struct Web {
    size: Amount,
    /// Mean think time.
    think: Span,
    random: bool,
    /// Number of pages that have not begun.
    left: u64,
    stage: Stage,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The first page.
    First,
    /// A page whose predecessor is not complete.
    Waiting,
    /// A page whose predecessor is complete.
    Thinking,
}

impl Source for Web {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        if self.left == 0 {
            return None;
        }
        let think = match self.stage {
            Stage::First => Span::ZERO,
            Stage::Waiting => {
                self.stage = Stage::Thinking;
                return Some(AppWrite::AFTER_THE_LAST);
            }
            Stage::Thinking if self.random => exponential(cx.rng, self.think.as_secs_f64()),
            Stage::Thinking => self.think,
        };
        self.left -= 1;
        self.stage = Stage::Waiting;
        let bytes = match self.size {
            Amount::Bytes(n) => n,
            Amount::Packets(n) => n.saturating_mul(u64::from(full)),
        };
        let at = cx.now.saturating_add(think);
        (at < Time::NEVER).then_some(AppWrite::new(at, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::args;
    use super::*;
    use contend_core::registry::Value;

    /// The think time before each of `count` pages that take `page` each.
    fn thinks(law: &str, count: i64, page: Span) -> Vec<Span> {
        let v = [
            ("size", Value::Amount(Amount::Packets(2))),
            ("think", Value::Time(Span::from_millis(500))),
            ("law", Value::Word(law.into())),
            ("count", Value::Integer(count)),
        ];
        let mut s = build(&args(PARAMS, &v)).unwrap();
        let mut rng = crate::rng::stream(1, "flow0", "arrivals");
        let (mut now, mut all) = (Time::ZERO + Span::from_secs(1), vec![]);
        while let Some(w) = s.next(&mut Cx { now, rng: &mut rng }, 1000) {
            if w == AppWrite::AFTER_THE_LAST {
                now += page;
            } else {
                assert_eq!(w.bytes, 2000);
                all.push(w.at.since(now));
                now = w.at;
            }
        }
        all
    }

    #[test]
    fn the_think_time_begins_when_the_page_is_complete_and_the_first_page_does_not_wait() {
        let ms = Span::from_millis;
        for page in [ms(1), ms(70_000)] {
            assert_eq!(thinks("fixed", 3, page), [ms(0), ms(500), ms(500)]);
        }
    }

    #[test]
    fn exponential_think_times_have_their_mean() {
        let all = thinks("exponential", 20_001, Span::from_millis(3));
        let mean = all.iter().map(|t| t.as_secs_f64()).sum::<f64>() / 2e4;
        // One standard deviation is 0.7 %.
        assert!((mean / 0.5 - 1.0).abs() < 0.021, "{mean}");
    }
}
