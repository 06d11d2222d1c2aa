//! Transfers of finite size, one after the other, on one connection.

use super::{AppWrite, Source};
use crate::rng::exponential;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Amount, Args, Param};
use contend_core::{Cx, Time};

/// Source.
pub const CITE: &str =
    "Keceli 2008 (spec S13): short-lived flows of exactly 31 packets, 1+2+4+8+16, five rounds of slow start";
/// What it does.
pub const SUMMARY: &str = "Files of one size that start at fixed or exponential intervals; a file starts even if the \
    previous file is not complete.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::amount("size", "size of a file: bytes of payload, or full packets").default("31p").range(1.0, 1e15),
    Param::integer("count", "number of files, 0: no end; must be given if `gap` or `law` is given")
        .default("1")
        .range(0.0, 1e9),
    Param::time("gap", "time between the starts of two files; the mean time if law is exponential")
        .default("1s")
        .range(1e-6, 1e6)
        .beside("count", ONE_FILE, HOW_MANY),
    Param::word(
        "law",
        &["fixed", "exponential"],
        "how the gaps are distributed; the first file starts with the flow. fixed: all alike; exponential: at random",
    )
    .default("fixed")
    .beside("count", ONE_FILE, HOW_MANY),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// What `gap` and `law` do without `count`.
const ONE_FILE: &str = "one file is sent, and no file follows";
const HOW_MANY: &str = "write count = 20 for 20 files, or count = 0 for files without end";

/// Builds the source.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    let count = match args.integer("count") {
        0 => u64::MAX,
        n => n.unsigned_abs(),
    };
    let gap = args.time("gap").as_secs_f64();
    Ok(Box::new(Files {
        size: args.amount("size"),
        left: count,
        gap,
        random: args.word("law") == "exponential",
        last: None,
    }))
}

/// Files that start by a schedule.
#[derive(Debug)]
struct Files {
    size: Amount,
    /// Number of files that have not started.
    left: u64,
    /// Mean gap in seconds.
    gap: f64,
    random: bool,
    /// Start of the last file.
    last: Option<Time>,
}

impl Source for Files {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        self.left = self.left.checked_sub(1)?;
        let at = match self.last {
            None => cx.now,
            Some(last) if self.random => last.saturating_add(exponential(cx.rng, self.gap)),
            Some(last) => last.saturating_add(contend_core::Span::from_secs_f64(self.gap)),
        };
        self.last = Some(at);
        let bytes = match self.size {
            Amount::Bytes(n) => n,
            Amount::Packets(n) => n.saturating_mul(u64::from(full)),
        };
        (at < Time::NEVER).then_some(AppWrite::new(at, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, writes};
    use super::*;
    use contend_core::Span;
    use contend_core::registry::Value;

    fn made(size: Amount, count: i64, law: &str) -> Box<dyn Source> {
        let v = [
            ("size", Value::Amount(size)),
            ("count", Value::Integer(count)),
            ("gap", Value::Time(Span::from_millis(200))),
            ("law", Value::Word(law.into())),
        ];
        build(&args(PARAMS, &v)).unwrap()
    }

    #[test]
    fn so_many_files_of_that_size_start_at_equal_distances() {
        let ms = |n| Time::ZERO + Span::from_millis(n);
        for (size, bytes) in [(Amount::Packets(31), 31_000), (Amount::Bytes(150_000), 150_000)] {
            let got = writes(&mut *made(size, 3, "fixed"), 1, ms(50), Time::NEVER);
            assert_eq!(got, [50, 250, 450].map(|t| AppWrite::new(ms(t), bytes)));
        }
    }

    #[test]
    fn exponential_starts_have_the_mean_gap_and_the_first_is_at_once() {
        let w =
            writes(&mut *made(Amount::Packets(1), 0, "exponential"), 1, Time::ZERO, Time::ZERO + Span::from_secs(4000));
        assert_eq!(w[0].at, Time::ZERO);
        // 20,000 starts: one standard deviation is 0.7 %.
        assert!((w.len() as f64 / 20_000.0 - 1.0).abs() < 0.021, "{}", w.len());
    }
}
