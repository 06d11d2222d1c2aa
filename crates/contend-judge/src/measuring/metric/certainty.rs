//! How certain the value of an expression is: its range and its resolution.

use super::{Aspect, Callee, Expr, Metric, Unmeasured};
use contend_experiment::reading::expression::Operator;
use contend_experiment::results::Run;
use contend_experiment::stats::{Range, Reading};
use contend_sim::stats::Durations;

impl Expr {
    /// The range of values that the expression can have in any run.
    pub fn range(&self) -> Range {
        let first = |x: &[Expr]| x.first().map_or(Range::ALL, Expr::range);
        match self {
            Expr::Number(n) => Range { low: n.value, high: n.value },
            Expr::Metric(m) => m.entry.range,
            Expr::Minus(x) => Range { low: 0.0, high: 0.0 }.minus(x.range()),
            Expr::Binary(operator, x, y) => match operator {
                Operator::Add => x.range().plus(y.range()),
                Operator::Subtract => x.range().minus(y.range()),
                Operator::Multiply => x.range().times(y.range()),
                Operator::Divide => x.range().over(y.range()),
            },
            // The first of several values does not bound the others.
            Expr::Call(Callee::Numbers(f), x) if x.len() == 1 => (f.range)(first(x)),
            Expr::Call(Callee::Run(f), x) => (f.range)(first(x)),
            Expr::Call(..) | Expr::Comparison(_) | Expr::Text(_) | Expr::Absent => Range::ALL,
        }
    }

    /// The value in `run` with its maximum error: percentiles and trimmed means are read from a histogram.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn reading(&self, run: &Run) -> Result<Reading, Unmeasured> {
        let value = self.eval(run)?;
        // Shift each of them by its own error; the errors may add up.
        let far = |x: Result<f64, Unmeasured>| x.map_or(0.0, |x| (x - value).abs());
        let error = |k: usize| far(self.shifted(k, 1.0).eval(run)).max(far(self.shifted(k, -1.0).eval(run)));
        Ok(Reading { value, resolution: (0..self.of_distributions()).map(error).sum() })
    }

    /// Makes a reading of `value`, which a run has for the expression. The value is exact unless the expression is a
    /// single metric.
    pub fn noted(&self, value: f64) -> Reading {
        let resolution = match self {
            Expr::Metric(m) if m.sampling().histograms => match m.aspect {
                Aspect::Percentile(..) => resolution_s(value),
                // The histogram would tell a smaller error.
                Aspect::Trimmed(..) => Durations::trimmed_resolution_ms(value * 1e3) / 1e3,
                _ => 0.0,
            },
            _ => 0.0,
        };
        Reading { value, resolution }
    }

    /// The number of percentiles and trimmed means in the expression.
    fn of_distributions(&self) -> usize {
        let mut many = 0;
        self.visit(&mut |m| many += usize::from(m.is_of_distribution()));
        many
    }

    /// The expression with percentile or trimmed mean number `k` shifted by `shift` times its error.
    fn shifted(&self, k: usize, shift: f64) -> Expr {
        let (mut e, mut before) = (self.clone(), 0);
        e.change(&mut |m| {
            if let Aspect::Percentile(_, by) | Aspect::Trimmed(_, by) = &mut m.aspect {
                if before == k {
                    *by = shift;
                }
                before += 1;
            }
        });
        e
    }
}

impl Metric {
    /// True if the distribution of the samples is needed: for a percentile and a trimmed mean.
    pub(super) fn is_of_distribution(&self) -> bool {
        matches!(self.aspect, Aspect::Percentile(..) | Aspect::Trimmed(..))
    }
}

/// Maximum error in seconds of a percentile of `value` seconds that was read from a histogram.
pub(super) fn resolution_s(value: f64) -> f64 {
    Durations::resolution_ms(value * 1e3) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::metric::synthetic::example;

    #[test]
    fn shares_end_at_one_and_what_is_counted_begins_at_zero() {
        let range = |text: &str| {
            let r = Expr::parse_any(text).unwrap().range();
            (r.low, r.high)
        };
        let infinite = f64::INFINITY;
        for text in ["jain.up", "loss[ap]", "jain(goodput[up])", "mean(airtime[sta])", "1 - jain", "busy * jain"] {
            assert_eq!(range(text), (0.0, 1.0), "{text}");
        }
        for text in
            ["goodput.up", "rtt.p95", "goodput.up / goodput.down", "8 * drops", "std(goodput[up])", "sum(airtime[all])"]
        {
            assert_eq!(range(text), (0.0, infinite), "{text}");
        }
        assert_eq!(range("goodput.up - goodput.down"), (-infinite, infinite));
        assert_eq!(range("100 * loss[ap] + 1"), (1.0, 101.0));
        assert_eq!(range("-jain"), (-1.0, 0.0));
        assert_eq!(range("point(\"flow.1.count\")"), (-infinite, infinite));
    }

    #[test]
    fn a_percentile_is_as_exact_as_its_bucket_is_narrow_and_a_mean_is_exact() {
        let run = example();
        let resolution = |text: &str| Expr::parse(text).unwrap().reading(&run).unwrap().resolution;
        // Buckets around 20 ms are 256 us wide, buckets around 50 ms 512 us.
        assert!((resolution("rtt.p99[up.1]") - 256e-6).abs() < 1e-9);
        assert!((resolution("max(rtt.p99[up.1], rtt.p99[up.2])") - 512e-6).abs() < 1e-9);
        assert!((resolution("rtt.p99[up.1] + 2 * rtt.p99[up.2]") - (256e-6 + 2.0 * 512e-6)).abs() < 1e-9);
        for exact in ["rtt.mean", "fct.p95", "goodput.up", "jain"] {
            assert_eq!(resolution(exact), 0.0, "{exact}");
        }
        // The two samples of `up.1`, 10 and 20 ms, of which 1.9 count: half of a bucket of 128 us, and of the 0.9 of a
        // bucket of 256 us all but 0.45. Together with 30, 40 and 50 ms 4.75 count.
        let of_two = (0.064 + 0.9 * 0.256 * (1.0 - 0.45)) / 1.9 * 1e-3;
        assert!((resolution("rtt.trim95[up.1]") - of_two).abs() < 1e-9, "{}", resolution("rtt.trim95[up.1]"));
        let all = (0.064 + 0.128 + 0.128 + 0.256 + 0.75 * 0.512 * (1.0 - 0.375)) / 4.75 * 1e-3;
        assert!((resolution("rtt.trim95.up") - all).abs() < 1e-9, "{}", resolution("rtt.trim95.up"));
        assert!((resolution("rtt.trim95.up + 2 * rtt.p99[up.2]") - (all + 2.0 * 512e-6)).abs() < 1e-9);
        assert_eq!(resolution("fct.trim95"), 0.0);
        let noted = |text: &str, value| Expr::parse(text).unwrap().noted(value).resolution;
        assert!((noted("rtt.p99", 0.02) - 256e-6).abs() < 1e-9);
        assert!((noted("rtt.trim95", 0.02) - (0.02 / 64.0 + 1e-6)).abs() < 1e-9);
        assert_eq!(noted("fct.trim95", 0.02), 0.0);
        assert_eq!(
            (noted("fct.p95", 0.02), noted("rtt.mean", 0.02), noted("queue.delay.p99[ap]", 0.0)),
            (0.0, 0.0, 0.0)
        );
    }
}
