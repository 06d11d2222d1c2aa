//! Expressions along the horizontal axis of a figure: over time, or flow by flow.

use super::entries::FLOWS;
use super::{Aspect, Callee, Expr, Metric, Period, Scope, Unmeasured, reading};
use contend_experiment::reading::expression::{Dimension, Number, Yields, literal};
use contend_experiment::results::Run;

impl Expr {
    /// The first metric that exists only for the whole measured interval. A metric with its own time window does not
    /// count: it is a constant level in the figure.
    pub fn timeless(&self) -> Option<&Metric> {
        let mut first = None;
        self.visit(&mut |m| {
            let whole = m.window.is_none() && (m.entry.period == Period::Run || m.aspect == Aspect::Word("short"));
            first = first.or(whole.then_some(m));
        });
        first
    }

    /// True if the expression is read at instants (a congestion window, a queue length), false if it is counted over an
    /// interval (a rate).
    pub fn instantaneous(&self) -> bool {
        let mut all = true;
        self.visit(&mut |m| {
            all &= m.window.is_some() || m.entry.is_level;
        });
        all
    }

    /// True if the expression is an index of fairness, from 0 to 1.
    pub fn is_index(&self) -> bool {
        match self {
            Expr::Metric(m) => m.entry.is_index,
            Expr::Call(Callee::Numbers(f), _) => f.yields == Yields::Index,
            Expr::Call(Callee::Run(f), _) => f.yields == Yields::Index,
            _ => false,
        }
    }

    /// The expression between two instants, in seconds since the start of the run. A metric with its own window keeps
    /// it.
    pub fn between(&self, from_s: f64, to_s: f64) -> Expr {
        let instant = |value: f64| Number { value, unit: Dimension::Time, text: format!("{value}s") };
        let mut e = self.clone();
        e.change(&mut |m| {
            if m.window.is_none() {
                m.window = Some((instant(from_s), instant(to_s)));
            }
        });
        e
    }

    /// The expression with `value`, a number or a quantity, in place of `point(key)`.
    pub fn with_point(&self, key: &str, value: &serde_json::Value) -> Expr {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let Some(number) = literal(&text) else { return self.clone() };
        let mut e = self.clone();
        e.replace(&mut |e| {
            if let Expr::Call(Callee::Run(f), arguments) = e
                && f.name == "point"
                && matches!(arguments.as_slice(), [Expr::Text(k)] if k == key)
            {
                *e = Expr::Number(number.clone());
            }
        });
        e
    }

    /// The expression for each flow: `goodput` becomes `goodput[all]`. A metric that names flows is unchanged.
    pub fn each_flow(&self) -> Expr {
        let mut e = self.clone();
        e.change(&mut |m| {
            if *m.entry.subject == FLOWS && m.scope == Scope::All {
                m.scope = Scope::Each("all".to_owned());
            }
        });
        e
    }

    /// True if the expression is a list: one number for each flow, queue or station.
    pub fn is_list(&self) -> bool {
        self.list().is_some()
    }

    /// The names of the members in `run`, in the order of [`Expr::values`]; `None` when the expression is one number.
    ///
    /// # Errors
    /// When the run has no member with the name in the expression.
    pub fn members(&self, run: &Run) -> Result<Option<Vec<String>>, Unmeasured> {
        self.list().map(|m| reading::members(m, run)).transpose()
    }

    /// The metric that gives the list its members.
    fn list(&self) -> Option<&Metric> {
        match self {
            Expr::Metric(m) => matches!(m.scope, Scope::Each(_)).then_some(m),
            Expr::Minus(x) => x.list(),
            Expr::Binary(_, x, y) => x.list().or_else(|| y.list()),
            _ => None,
        }
    }

    /// Calls `f` for each metric in the expression; `f` may change it.
    pub(super) fn change(&mut self, f: &mut dyn FnMut(&mut Metric)) {
        self.replace(&mut |e| {
            if let Expr::Metric(m) = e {
                f(m);
            }
        });
    }

    /// Calls `f` for each part of the expression, and last for the expression itself; `f` may replace it.
    fn replace(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Number(_) | Expr::Text(_) | Expr::Metric(_) | Expr::Absent => {}
            Expr::Minus(x) => x.replace(f),
            Expr::Binary(_, x, y) => {
                x.replace(f);
                y.replace(f);
            }
            Expr::Comparison(c) => {
                c.left.replace(f);
                c.right.replace(f);
            }
            Expr::Call(_, arguments) => arguments.iter_mut().for_each(|x| x.replace(f)),
        }
        f(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::metric::synthetic::example;

    fn read(text: &str) -> Expr {
        Expr::parse_any(text).unwrap()
    }

    #[test]
    fn a_metric_of_the_whole_run_has_no_course_and_one_with_a_window_is_a_level() {
        let timeless = |text: &str| read(text).timeless().map(ToString::to_string);
        assert_eq!(timeless("goodput.up / goodput.down + cwnd.up"), None);
        assert_eq!(timeless("goodput.up / mean(rtt.p95[up])"), Some("rtt.p95[up]".into()));
        assert_eq!(timeless("jain.short"), Some("jain.short".into()));
        assert_eq!(timeless("goodput.up[1s..2s] + goodput.down"), None);
    }

    #[test]
    fn a_course_is_the_expression_in_one_window_after_the_other() {
        let run = example();
        let at = |text: &str, from: f64, to: f64| read(text).between(from, to).eval(&run).unwrap();
        // 1 kB/s until 10 s and 4 kB/s after that; the other upload always has 1 kB/s.
        assert_eq!((at("goodput.up", 4.0, 5.0), at("goodput.up", 12.0, 13.0)), (16_000.0, 40_000.0));
        assert_eq!((at("cwnd[up.1]", 14.0, 14.5), at("cwnd[up.1]", 15.0, 15.5)), (10.0, 30.0));
        assert_eq!(at("goodput.up / goodput.up[0s..10s]", 12.0, 13.0), 2.5);
    }

    #[test]
    fn a_value_of_the_figures_own_takes_the_place_of_its_name() {
        let e = read("jain(successes[up], 3 * point(\"window\")) + point(\"flow.1.count\")");
        assert_eq!(e.with_point("window", &20.into()), read("jain(successes[up], 3 * 20) + point(\"flow.1.count\")"));
        assert_eq!(
            read("goodput.up[1s..2s] / point(\"r\")").with_point("r", &"2Mbps".into()).eval(&example()).unwrap(),
            16_000.0 / 2e6
        );
        assert_eq!(e.with_point("widnow", &20.into()), e);
        assert!(
            read("jain.short").is_index() && read("jain(successes[up], 5)").is_index() && !read("jain / 2").is_index()
        );
    }

    #[test]
    fn members_are_named_in_the_order_of_the_values() {
        let run = example();
        let named = |e: Expr| (e.members(&run).unwrap().unwrap_or_default().join(" "), e.values(&run).unwrap().len());
        assert_eq!(named(read("goodput[up]")), ("up.1 up.2 up.3".into(), 3));
        assert_eq!(named(read("8 * -queue.length[sta]")), ("sta1 sta2".into(), 2));
        assert_eq!(named(read("goodput").each_flow()), ("up.1 up.2 up.3 down.1 down.2 probe".into(), 6));
        assert!(!read("mean(goodput[up])").each_flow().is_list() && !read("goodput.up").each_flow().is_list());
    }
}
