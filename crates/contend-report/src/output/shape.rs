//! Helpers that the writers share: sweep points in order, groups of flows, units of metrics, means with their
//! intervals.

use contend_experiment::reading::expression::Dimension;
pub use contend_experiment::results::point_text;
use contend_experiment::results::{Outcome, PointKey, Run, Summary, SweptValue, columns, distinct};
use contend_experiment::stats::{Estimate, Range, Reading};
use contend_judge::measuring::metric::Expr;
use contend_sim::stats::Durations;

/// The sweep points, in the order of the runs.
pub(super) fn points(o: &Outcome) -> Vec<PointKey> {
    distinct(o.runs.iter().map(|r| &r.point).chain(o.summary.iter().map(|s| &s.point))).into_iter().cloned().collect()
}

/// The runs of one point, in the order of the outcome.
pub(super) fn runs_of<'a>(o: &'a Outcome, point: &PointKey) -> Vec<&'a Run> {
    o.runs.iter().filter(|r| r.point == *point).collect()
}

/// The swept keys, in the order of the file.
pub(super) fn swept_keys(points: &[PointKey]) -> Vec<String> {
    let mut keys: Vec<(usize, &String)> = Vec::new();
    for (key, value) in points.iter().flatten() {
        if keys.iter().all(|(_, known)| *known != key) {
            keys.push((value.place(), key));
        }
    }
    keys.sort_by_key(|(place, _)| *place);
    keys.into_iter().map(|(_, key)| key.clone()).collect()
}

/// The columns of a table that tell the points apart: swept keys, and the rows of a `zip` that have labels.
pub(super) fn point_columns(points: &[PointKey]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in points.iter().flat_map(columns) {
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The text of a point in each of these columns; empty where it has none.
pub(super) fn column_texts(point: &PointKey, names: &[String]) -> Vec<String> {
    let texts = columns(point);
    let text = |name: &String| texts.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone());
    names.iter().map(|name| text(name).unwrap_or_default()).collect()
}

/// The texts of the columns of a point, without their names.
pub(super) fn point_name(point: &PointKey) -> String {
    columns(point).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

/// The text that stands for a value of a swept key.
pub(super) fn value_text(v: &SweptValue) -> String {
    v.text()
}

/// The point as command-line options.
pub(super) fn point_options(p: &PointKey) -> String {
    p.iter().map(|(k, v)| format!(" --set '{k}={}'", v.setting())).collect()
}

/// The seeds of all runs: `1..5` when they are consecutive.
pub(crate) fn seeds_text(o: &Outcome) -> String {
    let mut seeds: Vec<u64> = o.runs.iter().map(|r| r.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    match (seeds.first(), seeds.last()) {
        (Some(a), Some(b)) if a == b => a.to_string(),
        (Some(a), Some(b)) if b - a + 1 == seeds.len() as u64 => format!("{a}..{b}"),
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    }
}

/// The estimate from exact values of a number in `range`; without values the mean is NaN.
pub(super) fn estimate(values: &[f64], range: Range) -> Estimate {
    let exact: Vec<_> = values.iter().map(|value| Reading { value: *value, resolution: 0.0 }).collect();
    estimate_of(&exact, range)
}

/// The estimate from percentiles in seconds, which were read from histograms.
pub(super) fn percentile(values: &[f64]) -> Estimate {
    let read = |s: &f64| Reading { value: *s, resolution: Durations::resolution_ms(*s * 1e3) / 1e3 };
    estimate_of(&values.iter().map(read).collect::<Vec<_>>(), Range::FROM_ZERO)
}

fn estimate_of(readings: &[Reading], range: Range) -> Estimate {
    let none = Estimate { n: 0, mean: f64::NAN, ci95: None, interval: None, by_resolution: false };
    Estimate::of_readings(readings, range).unwrap_or(none)
}

/// An estimate as tables and figures show it.
pub(super) trait InText {
    /// `12.34 ± 0.05`: mean and interval times `scale`, with at most this many decimals, and no more than two
    /// significant digits of the interval. Without an interval the text is the mean only.
    fn text(&self, scale: f64, decimals: usize) -> String;

    /// The mean and the interval of [`InText::text`]; `None` without a mean.
    fn parts(&self, scale: f64, decimals: usize) -> Option<(String, Option<String>)>;

    /// The mean and the ends of the interval, all times `scale`.
    fn scaled(&self, scale: f64) -> (f64, Option<(f64, f64)>);
}

impl InText for Estimate {
    fn text(&self, scale: f64, decimals: usize) -> String {
        match self.parts(scale, decimals) {
            Some((mean, Some(around))) => format!("{mean} {around}"),
            Some((mean, None)) => mean,
            None => "–".into(),
        }
    }

    fn parts(&self, scale: f64, decimals: usize) -> Option<(String, Option<String>)> {
        if !self.mean.is_finite() {
            return None;
        }
        let decimals = match self.interval.map(|(low, high)| (high - low) / 2.0 * scale) {
            Some(half) if half > 0.0 => decimals.min((1.0 - libm::floor(libm::log10(half))).max(0.0) as usize),
            _ => decimals,
        };
        let around = around(self.mean, self.interval, |x| fixed(x * scale, decimals));
        Some((fixed(self.mean * scale, decimals), around))
    }

    fn scaled(&self, scale: f64) -> (f64, Option<(f64, f64)>) {
        (self.mean * scale, self.interval.map(|(a, b)| (a * scale, b * scale)))
    }
}

/// How far an interval goes from its mean: `± 0.05`, or `+0.01 −0.05` where it is cut at a bound.
pub(super) fn around(mean: f64, interval: Option<(f64, f64)>, shown: impl Fn(f64) -> String) -> Option<String> {
    let (low, high) = interval?;
    let (below, above) = (shown(mean - low), shown(high - mean));
    Some(if below == above { format!("± {above}") } else { format!("+{above} −{below}") })
}

/// A number with this many decimals. A number that rounds to zero has no sign.
pub(super) fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(positive) if positive.bytes().all(|b| matches!(b, b'0' | b'.')) => positive.to_owned(),
        _ => text,
    }
}

/// The mean of a metric at a point: from the summary, or computed from the point's runs if `metric` is another
/// expression.
pub(super) fn summary_of(o: &Outcome, point: &PointKey, metric: &str) -> Option<Estimate> {
    if let Some(s) = o.summary.iter().find(|s| s.metric == metric && s.point == *point) {
        let &Summary { n, mean, ci95, interval, by_resolution, .. } = s;
        return Some(Estimate { n, mean, ci95, interval, by_resolution });
    }
    let expression = Expr::parse(metric).ok()?;
    let readings: Vec<_> = runs_of(o, point).into_iter().filter_map(|r| expression.reading(r).ok()).collect();
    Estimate::of_readings(&readings, expression.range())
}

/// All metrics of the summary, in the order of appearance.
pub(super) fn metrics(o: &Outcome) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for s in &o.summary {
        if !all.contains(&s.metric.as_str()) {
            all.push(&s.metric);
        }
    }
    all
}

/// The metrics that tables show, if a run has them.
const MAIN: [&str; 6] = ["goodput.up", "goodput.down", "goodput.total", "jain", "rtt.p95", "loss[ap]"];

/// The metrics that the file shows. By default those of [`MAIN`] that the runs report, or some others if there is none.
/// The goodput of a direction is shown if a flow has this direction; their sum if flows have several.
pub(super) fn main_metrics(o: &Outcome) -> Vec<&str> {
    if !o.show.is_empty() {
        return o.show.iter().map(String::as_str).collect();
    }
    let has = |direction: &str| o.runs.iter().flat_map(|r| &r.flows).any(|f| f.direction == direction);
    let applies = |m: &&str| match m.strip_prefix("goodput.") {
        Some("total") => !(has("up") ^ has("down")) || has("local") || has("wired"),
        Some(direction) => has(direction),
        None => true,
    };
    let reported = |m: &&str| o.summary.iter().any(|s| s.metric == **m);
    let main: Vec<&str> = MAIN.into_iter().filter(reported).filter(applies).collect();
    if main.is_empty() { metrics(o).into_iter().take(6).collect() } else { main }
}

/// The flows of which `jain` is the index, in words.
pub(super) fn jain_flows(runs: &[&Run]) -> String {
    let (mut competing, mut others) = (Vec::new(), Vec::new());
    for run in runs {
        let all: Vec<usize> = (0..run.flows.len()).collect();
        let chosen = run.competing(&all);
        for (i, flow) in run.flows.iter().enumerate() {
            let groups = if chosen.contains(&i) { &mut competing } else { &mut others };
            if !groups.contains(&flow.group.as_str()) {
                groups.push(&flow.group);
            }
        }
    }
    match others.as_slice() {
        [] => "all flows".to_owned(),
        _ => format!("the flows {} (not {}: a rate of their own)", competing.join(", "), others.join(", ")),
    }
}

/// The unit in which a metric is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    /// Factor for the value.
    pub scale: f64,
    /// Name of the unit after scaling; empty for a pure number.
    pub name: &'static str,
    /// Decimals in tables.
    pub decimals: usize,
}

/// The unit in which a metric is shown, from its name.
pub(super) fn unit_of(metric: &str) -> Unit {
    // An expression has the unit of its first metric only if it contains no division and no count.
    let plain = metric.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'[' | b']'));
    let stem = if plain { metric.split(['.', '[']).next().unwrap_or(metric) } else { "" };
    let dimension = || Expr::parse_any(metric).ok().and_then(|e| e.dimension());
    let (scale, name, decimals) = match stem {
        // How many samples there are.
        "rtt" | "delay" | "fct" if dimension() == Some(Dimension::Number) => (1.0, "", 1),
        "goodput" | "throughput" => (1e-6, "Mb/s", 3),
        "rtt" | "delay" | "srtt" => (1e3, "ms", 2),
        "fct" | "stall" => (1.0, "s", 3),
        "loss" | "packet_loss" => (100.0, "%", 3),
        "cwnd" | "ssthresh" => (1.0, "segments", 2),
        _ if metric.starts_with("queue.length") && plain => (1.0, "packets", 2),
        "busy" | "airtime" | "collision_probability" | "mpdu_loss" => (100.0, "%", 2),
        _ => match dimension() {
            Some(Dimension::Rate) => (1e-6, "Mb/s", 3),
            Some(Dimension::Time) => (1e3, "ms", 2),
            _ => (1.0, "", 4),
        },
    };
    Unit { scale, name, decimals }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::example;

    #[test]
    fn a_number_of_samples_has_no_unit() {
        assert_eq!((unit_of("rtt.count.up").name, unit_of("delay.count").scale), ("", 1.0));
        assert_eq!((unit_of("rtt.p95.up").name, unit_of("delay[up]").scale), ("ms", 1e3));
        assert_eq!((unit_of("queue.delay.count[ap]").name, unit_of("queue.delay.p95[ap]").name), ("", "ms"));
    }

    #[test]
    fn a_percentile_with_equal_samples_has_the_width_of_its_bucket() {
        let (equal, apart) = (percentile(&[0.1, 0.1, 0.1]), percentile(&[0.1, 0.2, 0.3]));
        assert!(equal.by_resolution && equal.ci95.unwrap() > 0.0 && !apart.by_resolution);
        assert!(!estimate(&[0.1, 0.1], Range::ALL).by_resolution, "exact values have no buckets");
    }

    #[test]
    fn the_student_interval_of_five_values_uses_2_776() {
        let of = |values: &[f64]| estimate(values, Range::ALL);
        let m = of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        // s = sqrt(2.5), t(0.975, 4) = 2.7764
        assert!((m.ci95.unwrap() - 2.7764 * (2.5_f64 / 5.0).sqrt()).abs() < 1e-3);
        assert_eq!(of(&[1.0]).ci95, None);
        assert_eq!(of(&[]).text(1.0, 2), "–");
        assert_eq!(of(&[-0.0]).text(1.0, 2), "0.00");
    }

    #[test]
    fn an_interval_that_is_cut_says_how_far_it_goes_on_each_side() {
        // 0.95 ± 0.635, of which 0.05 is left above.
        assert_eq!(estimate(&[0.9, 1.0], Range::SHARE).text(1.0, 2), "0.95 +0.05 −0.64");
        assert_eq!(estimate(&[0.9, 1.0], Range::ALL).text(1.0, 2), "0.95 ± 0.64");
        // Two runs agree: the interval is as wide as the histogram's bucket there.
        assert_eq!(percentile(&[0.02, 0.02]).text(1e3, 3), "20.00 ± 0.26");
    }

    #[test]
    fn no_more_digits_than_the_interval_has() {
        let text = |mean: f64, half: f64| {
            let interval = Some((mean - half, mean + half));
            Estimate { n: 5, mean, ci95: Some(half), interval, by_resolution: false }.text(1.0, 3)
        };
        let all = [text(636.2612, 8.19), text(19.2284, 0.0301), text(19.2284, 0.0), text(1234.5, 96.0)];
        assert_eq!(all, ["636.3 ± 8.2", "19.228 ± 0.030", "19.228 ± 0.000", "1234 ± 96"]);
    }

    #[test]
    fn units_follow_the_metric_but_not_a_quotient() {
        assert_eq!(
            (unit_of("goodput.up").name, unit_of("rtt.p95").name, unit_of("queue.delay[ap]").name),
            ("Mb/s", "ms", "ms")
        );
        assert_eq!((unit_of("goodput.up / goodput.down").name, unit_of("jain").name), ("", ""));
        assert_eq!((unit_of("goodput.up + goodput.down").name, unit_of("max(rtt.p95[up])").name), ("Mb/s", "ms"));
    }

    #[test]
    fn the_flows_of_jain_are_named_when_some_are_left_out() {
        let mut run = example();
        assert_eq!(jain_flows(&[&run]), "the flows up, down (not probe: a rate of their own)");
        run.flows.iter_mut().for_each(|f| f.greedy = false);
        assert_eq!(jain_flows(&[&run]), "all flows");
    }
}
