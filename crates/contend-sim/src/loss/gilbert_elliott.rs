//! Two-state correlated loss: the channel alternates between good and bad.
//!
//! With `clock = "time"` the channel changes in continuous time, even if nothing is sent. The next period is drawn when
//! a query passes the end of the present one. The periods have a random generator of their own, which is split off at
//! the first query. The sequence of good and bad periods is therefore the same for every sender (common random
//! numbers). The transition probability between queries would be equally exact, but would not have this property. The
//! cost is one logarithm for each period and none for each packet.
//!
//! With `clock = "packet"` the channel takes one step of a Markov chain after each packet.

use super::Loss;
use crate::rng::exponential;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, FlowId, Packet, Rng, Time};
use rand::{RngExt as _, SeedableRng as _};

/// Source.
pub const CITE: &str = "Gilbert 1960, Elliott 1963; Jersey thesis 2005 §7.4.1 eqs 7.2-7.6";
/// What it does.
pub const SUMMARY: &str = "A channel that alternates between a good and a bad state; each state has its loss rate. The \
    times in a state are exponential, or a chain moves with each packet.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "clock",
        &["time", "packet"],
        "what moves the channel. time: time (good, bad); packet: packets (p_gb, p_bg)",
    )
    .default("time"),
    Param::time("good", "mean time in the good state, 1/P_GB (clock = \"time\")").default("0s").range(0.0, 1e6),
    Param::time("bad", "mean time in the bad state, 1/P_BG (clock = \"time\")").default("0s").range(0.0, 1e6),
    Param::fraction("p_gb", "probability that the channel turns bad after a packet (clock = \"packet\")")
        .default("0")
        .range(0.0, 1.0),
    Param::fraction("p_bg", "probability that the channel turns good after a packet (clock = \"packet\")")
        .default("0")
        .range(0.0, 1.0),
    Param::fraction("e_good", "probability of loss in the good state").default("0").range(0.0, 1.0),
    Param::fraction("e_bad", "probability of loss in the bad state").default("1").range(0.0, 1.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Minimum mean time in a state, in seconds: a run of a minute then needs less than a million draws.
const SHORTEST: f64 = 1e-4;

/// Builds the loss process.
///
/// # Errors
/// When the parameters of the chosen clock are missing.
pub fn build(args: &Args, _: &dyn Fn(&str) -> Option<FlowId>) -> Result<Box<dyn Loss>, Refusal> {
    let (clock, p_bad) = if args.word("clock") == "packet" {
        let (p_gb, p_bg) = (args.number("p_gb"), args.number("p_bg"));
        if p_gb <= 0.0 || p_bg <= 0.0 {
            return Err(Refusal::new(
                "clock = \"packet\" needs p_gb and p_bg above 0",
                "write p_gb = \"1%\", p_bg = \"20%\"",
            ));
        }
        (Clock::Packet { p_gb, p_bg }, p_gb / (p_gb + p_bg))
    } else {
        let (good, bad) = (args.time("good").as_secs_f64(), args.time("bad").as_secs_f64());
        if good < SHORTEST || bad < SHORTEST {
            return Err(Refusal::new(
                "good and bad are mean times of at least 100us",
                "write good = \"1s\", bad = \"20ms\"",
            ));
        }
        // Jersey eqs 7.2-7.4: the stationary share of the bad state is E[T_B] / (E[T_G] + E[T_B]).
        (Clock::Time { mean: [good, bad], until: Time::ZERO }, bad / (good + bad))
    };
    let error = [args.number("e_good"), args.number("e_bad")];
    Ok(Box::new(GilbertElliott { clock, p_bad, error, channel: None, bad: false }))
}

/// A two-state channel.
#[derive(Debug)]
struct GilbertElliott {
    clock: Clock,
    /// Stationary probability of the bad state, in which the channel starts.
    p_bad: f64,
    /// Loss probability in the good and in the bad state.
    error: [f64; 2],
    /// The generator that moves the channel. It is separate from the generator that decides losses; `None` before the
    /// first query.
    channel: Option<Rng>,
    bad: bool,
}

/// What moves the channel.
#[derive(Debug)]
enum Clock {
    /// The channel leaves the present state at `until`; `mean` seconds in the good and in the bad state.
    Time { mean: [f64; 2], until: Time },
    /// One step of the chain per packet.
    Packet { p_gb: f64, p_bg: f64 },
}

impl Loss for GilbertElliott {
    fn probability(&mut self, cx: &mut Cx, _: u32, _: Option<&Packet>) -> f64 {
        let first = self.channel.is_none();
        let rng = self.channel.get_or_insert_with(|| Rng::from_rng(cx.rng));
        if first {
            self.bad = rng.random::<f64>() < self.p_bad;
        }
        match &mut self.clock {
            Clock::Time { mean, until } => {
                // The end of a period is drawn when the period begins. The initial state of the run lasts from time 0.
                if first {
                    *until = Time::ZERO.saturating_add(exponential(rng, mean[usize::from(self.bad)]));
                }
                while *until <= cx.now {
                    self.bad = !self.bad;
                    *until = until.saturating_add(exponential(rng, mean[usize::from(self.bad)]));
                }
            }
            Clock::Packet { p_gb, p_bg } => {
                if !first && rng.random::<f64>() < if self.bad { *p_bg } else { *p_gb } {
                    self.bad = !self.bad;
                }
            }
        }
        self.error[usize::from(self.bad)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, drawing, packet, rate, some};
    use super::*;
    use contend_core::Span;
    use contend_core::registry::Value;

    fn timed(good: Span, bad: Span, e_good: f64, e_bad: f64) -> Box<dyn Loss> {
        let e = [("e_good", Value::Number(e_good)), ("e_bad", Value::Number(e_bad))];
        build(&args(PARAMS, &[&[("good", Value::Time(good)), ("bad", Value::Time(bad))], &e[..]].concat()), &some)
            .unwrap()
    }

    fn stepped(p_gb: f64, p_bg: f64) -> Box<dyn Loss> {
        let v = [
            ("clock", Value::Word("packet".into())),
            ("p_gb", Value::Number(p_gb)),
            ("p_bg", Value::Number(p_bg)),
            ("e_bad", Value::Number(1.0)),
        ];
        build(&args(PARAMS, &v), &some).unwrap()
    }

    /// For each of `n` packets, `gap` apart: true if it is lost.
    fn fates(l: Box<dyn Loss>, n: u64, gap: Span) -> Vec<bool> {
        let mut losses = drawing(l, 7);
        (0..n).map(|i| losses.lost(Time::ZERO + gap * i, 1500, Some(&packet(1500)))).collect()
    }

    fn share(f: &[bool]) -> f64 {
        f.iter().filter(|&&x| x).count() as f64 / f.len() as f64
    }

    /// Mean length of the runs of losses.
    fn burst(f: &[bool]) -> f64 {
        let runs = f.iter().zip(std::iter::once(&false).chain(f)).filter(|&(&now, &before)| now && !before).count();
        f.iter().filter(|&&x| x).count() as f64 / runs as f64
    }

    /// Jersey eqs 7.2-7.6 with e_G = 0, e_B = 1: 20 ms / (380 ms + 20 ms) = 5 %, for any spacing of the packets.
    #[test]
    fn the_share_lost_in_time_is_bad_over_good_plus_bad() {
        for gap in [Span::from_millis(1), Span::from_millis(7), Span::from_secs(1)] {
            let got = share(&fates(timed(Span::from_millis(380), Span::from_millis(20), 0.0, 1.0), 400_000, gap));
            assert!((got - 0.05).abs() < 0.003, "{gap}: {got}");
        }
    }

    /// Sampled every `h`, a period of mean 1/b ends between two samples with probability pi_G (1 - e^-(a+b)h): the
    /// geometric distribution of the chain.
    #[test]
    fn the_mean_burst_in_time_is_that_of_the_sampled_two_state_chain() {
        let f = fates(timed(Span::from_millis(380), Span::from_millis(20), 0.0, 1.0), 2_000_000, Span::from_millis(5));
        let leave = 0.95 * (1.0 - libm::exp(-(5.0 / 380.0 + 5.0 / 20.0)));
        assert!((burst(&f) * leave - 1.0).abs() < 0.02, "{} against {}", burst(&f), 1.0 / leave);
    }

    #[test]
    fn each_state_loses_with_its_own_probability() {
        let got = share(&fates(
            timed(Span::from_millis(30), Span::from_millis(10), 0.01, 0.41),
            400_000,
            Span::from_millis(9),
        ));
        assert!((got - (0.75 * 0.01 + 0.25 * 0.41)).abs() < 0.003, "{got}");
    }

    #[test]
    fn per_packet_the_share_is_pgb_over_both_and_the_burst_is_one_over_pbg() {
        let f = fates(stepped(0.02, 0.25), 4_000_000, Span::ZERO);
        assert!((share(&f) - 0.02 / 0.27).abs() < 0.002, "{}", share(&f));
        // 74,000 geometric bursts of variance 12: one standard deviation is 0.0127.
        assert!((burst(&f) - 4.0).abs() < 3.0 * 0.0127, "{}", burst(&f));
    }

    #[test]
    fn the_channel_starts_in_its_stationary_state() {
        let first = |seed: u64| {
            [timed(Span::from_secs(3), Span::from_secs(1), 0.0, 1.0), stepped(0.1, 0.3)]
                .map(|l| drawing(l, seed).lost(Time::ZERO, 1500, None))
        };
        let got: Vec<_> = (0..8000).map(first).collect();
        for k in 0..2 {
            let n = got.iter().filter(|f| f[k]).count();
            assert!((1880..=2120).contains(&n), "{n} of 8000");
        }
    }

    #[test]
    fn the_bad_periods_are_the_same_whoever_sends() {
        let (good, bad) = (Span::from_millis(50), Span::from_millis(20));
        let dense = fates(timed(good, bad, 0.0, 1.0), 12_000, Span::from_millis(1));
        let sparse = fates(timed(good, bad, 0.0, 1.0), 1_000, Span::from_millis(12));
        assert!(sparse.iter().enumerate().all(|(i, &x)| x == dense[12 * i]));
    }

    #[test]
    fn missing_parameters_are_named() {
        assert!(build(&args(PARAMS, &[]), &some).unwrap_err().to_string().contains("good"));
        assert!(
            build(&args(PARAMS, &[("clock", Value::Word("packet".into()))]), &some)
                .unwrap_err()
                .to_string()
                .contains("p_gb")
        );
        assert_eq!(rate(timed(Span::from_secs(1), Span::from_secs(1), 0.0, 0.0), 100, |_| 1500), 0.0);
    }
}
