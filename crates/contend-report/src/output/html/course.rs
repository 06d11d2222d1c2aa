//! Figures of means over seeds as functions of time.

use super::Figure;
use super::ink::STYLES;
use super::lines::{Head, Panel, called, explained, groups, heads, left_out, legend, not_positive, telling, vertical};
use super::series::{SINGLE, against_time, slow_and_fine};
use crate::output::csv::quoted;
use crate::output::shape::{estimate, runs_of, unit_of};
use contend_experiment::results::{Outcome, PointKey, Run};
use contend_experiment::stats::{self, Range};
use contend_judge::measuring::metric::{Expr, Unmeasured};
use std::fmt::Write;

/// One curve over time.
struct Course {
    name: String,
    style: usize,
    /// In order of time.
    moments: Vec<Moment>,
}

/// The value between two instants, in base units.
struct Moment {
    from_s: f64,
    to_s: f64,
    /// Number of values behind `value`.
    n: usize,
    /// Not finite if the value does not exist.
    value: f64,
    /// Lower and upper end of the band around the value.
    band: Option<(f64, f64)>,
}

/// All curves of a figure.
#[derive(Default)]
struct Courses {
    all: Vec<Course>,
    /// The largest number of runs in a mean.
    seeds: usize,
    /// True if a list had too many members to draw them one by one.
    bundled: bool,
    /// Why an expression has no value.
    trouble: Option<String>,
}

/// Metrics of one unit over time: a line for each metric and point; for a list, a line for each member.
pub(super) fn over_time(
    o: &Outcome,
    panel: Panel,
    by: Option<&str>,
    metrics: &[&str],
    log_y: bool,
    title: &str,
    warmup_s: f64,
) -> Figure {
    let scale = unit_of(metrics.first().copied().unwrap_or_default()).scale;
    let frame = courses(o, panel.frame, by, metrics);
    let courses = courses(o, panel.points, by, metrics);
    let shown = courses.all.get(..STYLES).unwrap_or(&courses.all);
    let moments = || shown.iter().flat_map(|c| &c.moments).filter(|m| m.value.is_finite());
    let framed = || moments().chain(frame.all.iter().flat_map(|c| &c.moments).filter(|m| m.value.is_finite()));
    let top = framed().fold(0.0, |top: f64, m| top.max(m.value));
    // Few seeds make wide bands. The axis fits the lines; bands are cut off at its end.
    let upper = framed().filter_map(|m| m.band).map(|band| band.1.min(1.5 * top));
    let axis = vertical(metrics, framed().map(|m| m.value).chain(upper).map(|v| v * scale), log_y);
    let hidden = moments().filter(|m| !axis.shows(m.value)).count();
    let (floor, ceiling) = axis.ends();
    let within = |y: f64| (y * scale).max(floor).min(ceiling);
    let span = framed().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), m| (a.min(m.from_s), b.max(m.to_s)));
    let mut plot = against_time(if span.0 < span.1 { span } else { (0.0, 1.0) }, warmup_s, axis, &called(metrics).1);
    for c in shown {
        // Where values are missing, line and band are interrupted.
        for stretch in c.moments.split(|m| m.band.is_none()) {
            plot.band(
                c.style,
                &stretch
                    .iter()
                    .filter_map(|m| m.band.map(|(a, b)| (m.middle(), within(a), within(b))))
                    .collect::<Vec<_>>(),
            );
        }
    }
    for c in shown {
        plot.line(c.style, &c.moments.iter().map(|m| (m.middle(), m.value * scale)).collect::<Vec<_>>(), &c.name);
    }
    let mut caption = match courses.seeds {
        0 => "No time series was kept of these runs.".to_owned(),
        1 => "One run: no interval.".to_owned(),
        n => format!("Mean over {n} seeds; band: 95 % Student interval."),
    };
    if courses.bundled {
        caption += " For a list with many members: the line is the median, the band the middle 80 % of the members.";
    }
    Figure {
        title: title.to_owned(),
        plot: plot.named(title),
        legend: legend(shown.iter().map(|c| (c.style, c.name.clone()))),
        csv: csv(&courses.all),
        caption: explained(by, caption, courses.trouble) + &left_out(courses.all.len()) + &not_positive(hidden),
        command: String::new(),
        wide: false,
    }
}

fn courses(o: &Outcome, points: &[PointKey], by: Option<&str>, metrics: &[&str]) -> Courses {
    let groups = groups(points, &telling(points, None, by));
    let heads = heads(&groups, by, metrics).into_iter();
    let lines: Vec<(Expr, Head)> = heads.filter_map(|h| Some((Expr::parse_any(h.metric).ok()?, h))).collect();
    let (lists, fine) = (lines.iter().any(|(e, _)| e.is_list()), lines.iter().all(|(e, _)| e.instantaneous()));
    let mut out = Courses::default();
    for (e, Head { name, style, members: points, .. }) in &lines {
        let runs: Vec<&Run> =
            points.iter().flat_map(|p| runs_of(o, p)).filter(|r| r.detail.series.time_s.len() > 1).collect();
        let Some(time) = runs.first().map(|r| &r.detail.series.time_s) else { continue };
        let [slow, quick] = slow_and_fine(time);
        let instants = |(i, j): (usize, usize)| Some((*time.get(i)?, *time.get(j)?));
        let windows: Vec<(f64, f64)> = if fine { quick } else { slow }.into_iter().filter_map(instants).collect();
        out.seeds = out.seeds.max(runs.len());
        let bundle = match members(e, &runs, &windows) {
            Ok(bundle) => bundle,
            Err(why) => {
                out.trouble.get_or_insert_with(|| why.to_string());
                continue;
            }
        };
        out.bundled |= bundle.len() > SINGLE;
        let single = bundle.len() == 1;
        for (member, moments) in together(bundle, &windows, e.range()) {
            let name = match member {
                Some(member) if lines.len() == 1 => member,
                Some(member) if !single => format!("{member}, {name}"),
                _ => name.clone(),
            };
            out.all.push(Course { name, style: if lists { out.all.len() } else { *style }, moments });
        }
    }
    out
}

/// A member of a list, or a single number without a name; its values by window and run.
type Member = (Option<String>, Vec<Vec<f64>>);

fn members(e: &Expr, runs: &[&Run], windows: &[(f64, f64)]) -> Result<Vec<Member>, Unmeasured> {
    let Some(first) = runs.first() else { return Ok(Vec::new()) };
    let names: Vec<Option<String>> = match e.members(first)? {
        Some(names) => names.into_iter().map(Some).collect(),
        None => vec![None],
    };
    let mut all: Vec<Member> = names.into_iter().map(|name| (name, vec![Vec::new(); windows.len()])).collect();
    for (k, (from, to)) in windows.iter().enumerate() {
        let e = e.between(*from, *to);
        for run in runs {
            match e.values(run) {
                Ok(values) => {
                    for ((_, windows), x) in all.iter_mut().zip(values).filter(|(_, x)| x.is_finite()) {
                        windows.get_mut(k).into_iter().for_each(|w| w.push(x));
                    }
                }
                // No value at this moment: a gap in the curve.
                Err(Unmeasured::Undefined(_)) => {}
                Err(why) => return Err(why),
            }
        }
    }
    Ok(all)
}

/// Means over runs with their intervals. For many members: the median and the middle 80 % of all.
fn together(bundle: Vec<Member>, windows: &[(f64, f64)], range: Range) -> Vec<(Option<String>, Vec<Moment>)> {
    let moment = |(from_s, to_s): (f64, f64), n, value, band| Moment { from_s, to_s, n, value, band };
    if bundle.len() <= SINGLE {
        let mean = |(window, values): (&(f64, f64), Vec<f64>)| {
            let m = estimate(&values, range);
            moment(*window, m.n, m.mean, m.interval)
        };
        return bundle
            .into_iter()
            .map(|(name, values)| (name, windows.iter().zip(values).map(mean).collect()))
            .collect();
    }
    let median = |(k, window): (usize, &(f64, f64))| {
        let all: Vec<f64> = bundle.iter().filter_map(|b| b.1.get(k)).flatten().copied().collect();
        let at = |q: f64| stats::quantile(&all, q);
        moment(*window, all.len(), at(0.5).unwrap_or(f64::NAN), at(0.1).zip(at(0.9)))
    };
    vec![(None, windows.iter().enumerate().map(median).collect())]
}

fn csv(all: &[Course]) -> String {
    let mut out = String::from("from_s,to_s,line,n,mean,low,high\n");
    for c in all {
        for m in c.moments.iter().filter(|m| m.value.is_finite()) {
            let (low, high) = m.band.map_or_else(Default::default, |(low, high)| (low.to_string(), high.to_string()));
            let _ = writeln!(out, "{:.6},{:.6},{},{},{},{low},{high}", m.from_s, m.to_s, quoted(&c.name), m.n, m.value);
        }
    }
    out
}

impl Moment {
    fn middle(&self) -> f64 {
        (self.from_s + self.to_s) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_members_have_a_mean_each_and_many_their_median() {
        let bundle = |n: usize| {
            (1..=n).map(|i| (Some(format!("down.{i}")), vec![vec![i as f64, i as f64], Vec::new()])).collect()
        };
        let windows = [(0.0, 1.0), (1.0, 2.0)];
        let few = together(bundle(3), &windows, Range::ALL);
        assert_eq!((few.len(), few[2].1[0].value, few[2].1[0].band), (3, 3.0, Some((3.0, 3.0))));
        assert!(few[2].1[1].value.is_nan() && few[2].1[1].band.is_none(), "nothing in the second window");
        let many = together(bundle(21), &windows, Range::ALL);
        assert_eq!((many.len(), many[0].1[0].value, many[0].1[0].band), (1, 11.0, Some((3.0, 19.0))));
    }
}
