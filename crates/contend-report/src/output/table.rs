//! The table on the terminal: one row for each sweep point, each mean with its interval. Below the table: how the
//! numbers were measured.

use super::ReportContext;
use super::grid::{Grid, Paint, WIDTH, wrapped};
use super::shape::{
    around, column_texts, estimate, fixed, jain_flows, main_metrics, percentile, point_columns, point_text, points,
    runs_of, seeds_text, summary_of, unit_of,
};
use super::tally::tags;
use crate::output::shape::InText as _;
use contend_experiment::echo::{WORD, echo};
use contend_experiment::reading::expression::WrittenUnit;
use contend_experiment::reading::file::{Origin, Verdict};
use contend_experiment::results::{
    Carried, CheckResult, ClaimResult, Flow, Interrupted, Look, Measured, Outcome, PointKey, Run, SearchResult,
    Summary, packet_loss,
};
use contend_experiment::stats::{self, Range};
use contend_judge::judging::check::{MET, NOT_DECIDED, NOT_MET};

/// The summary for a terminal of `width` columns, with ANSI colours if `colour` is true. It shows the main metrics and
/// the groups of flows of each sweep point, how the numbers were measured, and the claims.
pub fn summary_table(o: &Outcome, ctx: &ReportContext, colour: bool, width: usize) -> String {
    let paint = Paint(colour);
    let text = |text: &str| wrapped(text, width.min(WIDTH), 0) + "\n";
    let points = points(o);
    let mut out = paint.bold(&text(&o.title));
    if !ctx.cite.is_empty() {
        out += &paint.dim(&text(&ctx.cite));
    }
    if o.runs.is_empty() && o.summary.is_empty() {
        return out + "no run finished\n";
    }
    let (keys, same) = telling(&points);
    if !same.is_empty() {
        out += &paint.dim(&text(&format!("with {same}")));
    }
    out.push('\n');
    out += &point_rows(o, &points, &keys).render(paint, width);
    let groups = group_rows(o, &points[..points.len().min(MOST_POINTS)]);
    if !groups.rows.is_empty() {
        out.push('\n');
        out += &groups.render(paint, width);
        if points.len() > MOST_POINTS {
            let left = points.len() - MOST_POINTS;
            out += &paint
                .dim(&text(&format!("flows at {left} more points: in the report, or by --show 'delay.p95[NAME]'")));
        }
    }
    let opened = opened_rows(o);
    if !opened.rows.is_empty() {
        out.push('\n');
        out += &opened.render(paint, width);
    }
    out.push('\n');
    out += &paint.dim(&text(&method(o, ctx)));
    for caution in cautions(o) {
        out += &paint.with("33", &text(&caution));
    }
    for found in &o.search {
        out += &text(&search_text(found));
    }
    if !o.checks.is_empty() {
        out.push('\n');
        out += &check_rows(&o.checks, paint).render(paint, width);
        out += &advice(o).map_or(String::new(), |advice| paint.with("33", &text(&advice)));
    }
    if !o.claims.is_empty() {
        out.push('\n');
        out += &claim_rows(&o.claims, paint).render(paint, width);
        let tags = tags(&o.claims);
        if !tags.is_empty() {
            out += &paint.dim(&text(&tags));
        }
    }
    out
}

/// How the means were computed: number of seeds, warm-up, method.
pub(super) fn method(o: &Outcome, ctx: &ReportContext) -> String {
    let contention = o.runs.iter().all(|r| r.contending.is_some());
    if !contention && o.runs.iter().all(|r| r.sim_s == 0.0) {
        return "closed forms: nothing is simulated, nothing is random\n".to_owned();
    }
    let n = o
        .summary
        .iter()
        .map(|s| s.n)
        .max()
        .unwrap_or(0)
        .max(runs_of(o, points(o).first().unwrap_or(&PointKey::new())).len());
    let least = o.seeds.iter().map(|p| p.n).min().filter(|least| *least < n);
    let count = least.map_or_else(|| n.to_string(), |least| format!("{least} to {n}"));
    let seeds = if ctx.seeds.is_empty() { seeds_text(o) } else { ctx.seeds.clone() };
    let how = match n {
        1 => format!("1 seed: no interval (seed {seeds})"),
        _ => {
            let coarse = by_bucket(o);
            let coarse = if coarse.is_empty() { coarse } else { format!("; {coarse}") };
            format!("n = {count} seeds ({seeds}), mean over seeds ± half width of the 95 % Student interval{coarse}")
        }
    };
    if contention {
        let successes = o.runs.first().and_then(|r| r.air.as_ref()).map_or(0, |air| air.successes);
        return format!("{how}; {successes} successes of each run\n");
    }
    let runs: Vec<&Run> = o.runs.iter().collect();
    let jain = match main_metrics(o).contains(&"jain") {
        true => format!("; jain is of {}", jain_flows(&runs)),
        false => String::new(),
    };
    // An emulation may end with its program.
    let emulated = o.runs.first().filter(|r| r.emulation.is_some() || ctx.duration_s <= 0.0);
    let sim_s = emulated.map_or(ctx.duration_s, |r| (r.sim_s * 1e3).round() / 1e3);
    format!("{how}; {sim_s} s simulated, the first {} s cut (warm-up){jain}\n", ctx.warmup_s)
}

/// Which percentiles and trimmed means of the tables do not have Student's interval, and what they have; empty if there
/// are none.
fn by_bucket(o: &Outcome) -> String {
    let points = points(o);
    let mut names: Vec<&str> = main_metrics(o)
        .into_iter()
        .filter(|m| points.iter().any(|p| summary_of(o, p, m).is_some_and(|e| e.by_resolution)))
        .collect();
    let delays: [(&str, DelayOf); 3] =
        [("delay.p50", |f| f.delay_s.p50), ("delay.p95", |f| f.delay_s.p95), ("delay.p99", |f| f.delay_s.p99)];
    for (name, of) in delays {
        let coarse = |p: &PointKey| {
            let runs = runs_of(o, p);
            groups_of(&runs).iter().any(|group| percentile(&group_means(&runs, group, of)).by_resolution)
        };
        if !names.contains(&name) && points.iter().take(MOST_POINTS).any(coarse) {
            names.push(name);
        }
    }
    match names.iter().any(|name| name.contains(".trim")) {
        _ if names.is_empty() => String::new(),
        true => format!("of {} {RESOLUTION}", names.join(", ")),
        false => format!("of {} {BUCKET}", names.join(", ")),
    }
}

/// What stands in place of Student's interval where a trimmed mean may be among the numbers.
pub(super) const RESOLUTION: &str = "± the resolution of the histogram where that is more";

/// What stands in place of Student's interval of a percentile.
pub(super) const BUCKET: &str = "± the width of a bucket of the histogram where that is more";

/// Reads a percentile of a flow's delays.
type DelayOf = fn(&Flow) -> Option<f64>;

/// The groups of flows of these runs, in order of appearance.
fn groups_of<'a>(runs: &[&'a Run]) -> Vec<&'a str> {
    let mut groups: Vec<&str> = Vec::new();
    for f in runs.iter().flat_map(|r| &r.flows) {
        if !groups.contains(&f.group.as_str()) {
            groups.push(&f.group);
        }
    }
    groups
}

/// For each run the mean over the flows of a group. A flow or run without values is left out.
fn group_means(runs: &[&Run], group: &str, of: fn(&Flow) -> Option<f64>) -> Vec<f64> {
    let mean = |r: &&Run| stats::mean(&r.flows.iter().filter(|f| f.group == group).filter_map(of).collect::<Vec<_>>());
    runs.iter().filter_map(mean).collect()
}

/// What a reader must know before using the numbers: missing runs, and the warnings.
pub(super) fn cautions(o: &Outcome) -> impl Iterator<Item = String> {
    o.interrupted.iter().map(interrupted_text).chain(o.warnings.iter().map(|w| format!("warning: {w}")))
}

/// A sentence that says how many runs are missing.
fn interrupted_text(i: &Interrupted) -> String {
    format!(
        "stopped early: {} of {} runs are finished; all numbers and verdicts are from these runs",
        i.finished,
        i.finished + i.missing
    )
}

/// The columns that tell the points apart, and the texts of those that have the same text at every point.
fn telling(points: &[PointKey]) -> (Vec<String>, String) {
    let all = point_columns(points);
    let texts: Vec<Vec<String>> = points.iter().map(|point| column_texts(point, &all)).collect();
    let (mut keys, mut same) = (Vec::new(), Vec::new());
    for (i, key) in all.into_iter().enumerate() {
        let mut values = texts.iter().filter_map(|row| row.get(i));
        match values.next() {
            Some(first) if values.all(|value| value == first) => same.push(format!("{key} = {first}")),
            _ => keys.push(key),
        }
    }
    (keys, same.join(", "))
}

fn point_rows(o: &Outcome, points: &[PointKey], keys: &[String]) -> Grid {
    let metrics = main_metrics(o);
    let headed = |m: &&str| match unit_of(m).name {
        "" => (*m).to_owned(),
        unit => format!("{m} [{unit}]"),
    };
    // The number of seeds is a column if the results decided it.
    let counted = (!o.seeds.is_empty()).then(|| "seeds".to_owned());
    let head = keys.iter().cloned().chain(counted.clone()).chain(metrics.iter().map(headed));
    let mut grid = Grid::new(head.collect());
    (grid.names, grid.left) = (keys.len(), (0..keys.len()).collect());
    for point in points {
        let named = column_texts(point, keys).into_iter();
        let measured = metrics.iter().map(|m| {
            let unit = unit_of(m);
            summary_of(o, point, m).map_or_else(|| "–".into(), |s| s.text(unit.scale, unit.decimals))
        });
        let seeds = counted
            .iter()
            .map(|_| o.seeds.iter().find(|p| p.point == *point).map_or_else(|| "–".into(), |p| p.n.to_string()));
        grid.rows.push(named.chain(seeds).chain(measured).collect());
    }
    grid
}

/// Maximum number of points whose flows the terminal shows.
const MOST_POINTS: usize = 12;

/// For each point, one row for each `[[flow]]`: first the mean over its flows for each seed, then mean and interval
/// over the seeds.
fn group_rows(o: &Outcome, points: &[PointKey]) -> Grid {
    let head = [
        "flows",
        "n",
        "goodput each [Mb/s]",
        "together [Mb/s]",
        "delay.p50 [ms]",
        "delay.p95 [ms]",
        "delay.p99 [ms]",
        "lost [%]",
        "completed each",
        "fct.mean [s]",
        "fct.p95 [s]",
        "unfinished each",
    ];
    // Without a transfer, the columns about transfers say nothing.
    let any = |of: fn(&Flow) -> bool| o.runs.iter().flat_map(|r| &r.flows).any(of);
    let columns = match (any(|f| f.unfinished > 0), any(|f| !f.completions_s.is_empty())) {
        (true, _) => head.len(),
        (false, true) => head.len() - 1,
        (false, false) => head.len() - 4,
    };
    let at_points: Vec<Vec<Vec<String>>> = points.iter().map(|point| groups_at(&runs_of(o, point))).collect();
    // One flow has together what each has.
    let is_alone = |row: &Vec<String>| row.get(1).is_some_and(|n| n == "1");
    let all_alone = at_points.iter().flatten().all(is_alone);
    let shown = |cells: Vec<String>| -> Vec<String> {
        let kept = |(i, _): &(usize, String)| *i < columns && !(all_alone && *i == TOGETHER);
        cells.into_iter().enumerate().filter(kept).map(|(_, cell)| cell).collect()
    };
    let named = |name: &str| if all_alone { name.replace(" each", "") } else { name.to_owned() };
    let mut grid = Grid::new(shown(head.iter().map(|name| named(name)).collect()));
    for (point, rows) in points.iter().zip(at_points) {
        if !rows.is_empty() && points.len() > 1 {
            grid.rows.push(vec![point_text(point)]);
        }
        grid.rows.extend(rows.into_iter().map(|mut row| {
            if is_alone(&row)
                && let Some(cell) = row.get_mut(TOGETHER)
            {
                cell.clear();
            }
            shown(row)
        }));
    }
    grid
}

/// The column of [`group_rows`] with the goodput of all flows of a group.
const TOGETHER: usize = 3;

/// The rows of [`group_rows`] for the runs of one point.
fn groups_at(runs: &[&Run]) -> Vec<Vec<String>> {
    let row = |group: &str| {
        let of_group = |f: &&Flow| f.group == group;
        let flows: Vec<Vec<&Flow>> = runs.iter().map(|r| r.flows.iter().filter(of_group).collect()).collect();
        let over_runs = |of: &dyn Fn(&[&Flow]) -> Option<f64>| flows.iter().filter_map(|f| of(f)).collect::<Vec<f64>>();
        let mean = |of: fn(&Flow) -> Option<f64>| group_means(runs, group, of);
        let completions = |flows: &[&Flow]| flows.iter().flat_map(|f| f.completions_s.clone()).collect::<Vec<f64>>();
        let exact = |values: &[f64]| estimate(values, Range::FROM_ZERO);
        // A flow without samples has no delay. A run in which no flow has samples is left out.
        let delay = |of: fn(&Flow) -> Option<f64>| percentile(&mean(of)).text(1e3, 2);
        let tcp = flows.iter().flatten().next().map_or("", |f| f.tcp.as_str());
        vec![
            format!("{group} ({tcp})"),
            flows.first().map_or(0, Vec::len).to_string(),
            exact(&mean(|f| Some(f.goodput_bps))).text(1e-6, 3) + &starved(&flows),
            exact(&over_runs(&|f| Some(f.iter().map(|f| f.goodput_bps).sum()))).text(1e-6, 3),
            delay(|f| f.delay_s.p50),
            delay(|f| f.delay_s.p95),
            delay(|f| f.delay_s.p99),
            estimate(&over_runs(&|f| packet_loss(f.iter().copied())), Range::SHARE).text(100.0, 3),
            exact(&mean(|f| Some(f.completions_s.len() as f64))).text(1.0, 1),
            exact(&over_runs(&|f| stats::mean(&completions(f)))).text(1.0, 3),
            exact(&over_runs(&|f| stats::quantile(&completions(f), 0.95))).text(1.0, 3),
            exact(&mean(|f| Some(f.unfinished as f64))).text(1.0, 1),
        ]
    };
    groups_of(runs).into_iter().map(row).collect()
}

/// The least goodput of a flow of the group, if that flow starves: the mean of the group hides it. `runs` has the flows
/// of each run.
fn starved(runs: &[Vec<&Flow>]) -> String {
    let least = starving_members(runs).into_iter().map(|s| s.goodput_bps).min_by(f64::total_cmp);
    least.map_or_else(String::new, |least| format!(", least {}", significant(least / 1e6, 2)))
}

/// A flow with a goodput below a tenth of the mean of its group, both as means over the runs.
pub(super) struct Starving {
    pub flow: String,
    pub group: String,
    pub goodput_bps: f64,
    pub mean_bps: f64,
}

/// The flows of these runs that starve, group by group.
pub(super) fn starving(runs: &[&Run]) -> Vec<Starving> {
    let of = |group: &&str| {
        let flows: Vec<Vec<&Flow>> =
            runs.iter().map(|r| r.flows.iter().filter(|f| f.group == *group).collect()).collect();
        starving_members(&flows)
    };
    groups_of(runs).iter().flat_map(of).collect()
}

/// The flows of one group that starve.
fn starving_members(runs: &[Vec<&Flow>]) -> Vec<Starving> {
    let members = runs.iter().map(Vec::len).max().unwrap_or(0);
    let of_member = |i: usize| {
        let flows: Vec<&Flow> = runs.iter().filter_map(|run| run.get(i)).copied().collect();
        let goodput = stats::mean(&flows.iter().map(|f| f.goodput_bps).collect::<Vec<f64>>())?;
        Some((*flows.first()?, goodput))
    };
    let each: Vec<(&Flow, f64)> = (0..members).filter_map(of_member).collect();
    let Some(mean_bps) = stats::mean(&each.iter().map(|e| e.1).collect::<Vec<f64>>()) else { return vec![] };
    let starves = each.into_iter().filter(|(_, goodput)| *goodput < 0.1 * mean_bps);
    starves
        .map(|(f, goodput_bps)| Starving { flow: f.name.clone(), group: f.group.clone(), goodput_bps, mean_bps })
        .collect()
}

/// For each emulated run, one row for each service that programs used beside the flows of the file.
fn opened_rows(o: &Outcome) -> Grid {
    let head = ["opened by programs", "n", "there [MB]", "delay.p50 [ms]", "back [MB]", "delay.p50 [ms]"];
    let mut grid = Grid::new(head.map(String::from).to_vec());
    for row in o.runs.iter().filter_map(|r| r.emulation.as_ref()).flat_map(|e| &e.opened) {
        let port = if row.port == 0 { String::new() } else { format!(":{}", row.port) };
        let carried = |c: &Carried| {
            let delay = c.delay_s.p50.map_or_else(|| "–".into(), |s| fixed(s * 1e3, 2));
            [fixed(c.bytes as f64 / 1e6, 3), delay]
        };
        let name = format!("{} {} -> {}{port}", row.protocol, row.from, row.to);
        let numbers = [&row.there, &row.back].map(carried).concat();
        grid.rows.push([name, row.connections.to_string()].into_iter().chain(numbers).collect());
    }
    grid
}

/// A sentence about the result of a search.
pub(super) fn search_text(s: &SearchResult) -> String {
    let at = if s.point.is_empty() { String::new() } else { format!("{}: ", point_text(&s.point)) };
    let value = |x: f64| significant(x, 6).parse().unwrap_or(x);
    match (s.first_with, s.last_without) {
        (Some(with), Some(without)) => {
            format!(
                "{at}`{}` holds from {} = {} on (it does not hold at {})",
                s.until,
                s.key,
                value(with),
                value(without)
            )
        }
        (Some(with), None) => {
            format!("{at}`{}` holds already at the first value, {} = {}", s.until, s.key, value(with))
        }
        (None, _) => format!("{at}`{}` does not hold at any value of {}", s.until, s.key),
    }
}

/// The measured value of a claim: `24.13 ± 0.21 ms`, or a dash.
pub fn measured_text(c: &ClaimResult) -> String {
    in_unit(c.measured.value, c.measured.interval, c.measured.unit)
}

/// The measured value of a check, as that of a claim.
pub fn checked_text(c: &CheckResult) -> String {
    in_unit(c.measured.value, c.measured.interval, c.measured.unit)
}

/// A value and its interval in one unit; large plain numbers in millions. The value has the decimals of its interval.
fn in_unit(measured: Option<f64>, interval: Option<(f64, f64)>, unit: &str) -> String {
    let unit = WrittenUnit::named(unit).unwrap_or(WrittenUnit::PLAIN);
    let Some(m) = measured else { return "–".into() };
    let (scale, name) = match unit.label() {
        plain if plain.is_empty() && m.abs() >= 1e5 => (1e6, "M".to_owned()),
        name => (1.0, name),
    };
    let count = |x: f64| unit.count(x) / scale;
    let width = |x: f64| significant(count(x), 2);
    let around = around(m, interval, width);
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let widths = interval.filter(|(low, high)| high > low).map(|(low, high)| [width(m - low), width(high - m)]);
    let value = match widths.and_then(|all| all.iter().map(|text| decimals(text)).max()) {
        Some(decimals) => fixed(count(m), decimals),
        None => significant(count(m), 4),
    };
    let name = if name.is_empty() { name } else { format!(" {name}") };
    around.map_or_else(|| format!("{value}{name} (no interval)"), |around| format!("{value} {around}{name}"))
}

/// What to do about checks that are not decided.
pub fn advice(o: &Outcome) -> Option<String> {
    let undecided = |c: &&CheckResult| c.answer == NOT_DECIDED && c.measured.value.is_some();
    let points = o.checks.iter().filter(undecided).flat_map(|c| &c.measured.points);
    let seeds = points.map(|p| p.n).max()?;
    Some(format!("not decided: the interval crosses the bound; run more seeds, for example --seeds 1..{}", 4 * seeds))
}

/// With how many seeds and which interval a claim or check was judged that got more seeds; empty for others.
pub fn look_text(look: Option<Look>) -> String {
    look.map_or(String::new(), |look| {
        format!(
            "look {} of {}: {} seeds, judged by the {} % interval",
            look.number,
            look.of,
            look.seeds,
            significant(look.confidence * 100.0, 4)
        )
    })
}

/// The id of a claim, and whose it is unless the paper's, on one line.
pub fn claim_text(c: &ClaimResult) -> String {
    let source = not_the_papers(c).map_or_else(String::new, |source| format!(" [{source}]"));
    format!("{}{source}", echo(&c.id, WORD))
}

/// The results of each claim, in the order of its readings; never empty.
pub fn by_claim(results: &[ClaimResult]) -> impl Iterator<Item = &[ClaimResult]> {
    results.chunk_by(|a, b| a.id == b.id)
}

/// Under which readings a claim has which verdict: `reproduced under A, B; not reproduced under C`. Empty if it has one
/// reading.
pub fn under(readings: &[ClaimResult]) -> String {
    if readings.len() < 2 {
        return String::new();
    }
    let of = |verdict: Verdict| {
        let names = readings.iter().filter(|c| c.verdict == verdict.name()).filter_map(|c| c.reading.as_deref());
        let names = names.map(|name| echo(name, WORD)).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("{} under {names}", verdict.name()))
    };
    Verdict::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

/// Whose claim it is, unless the paper states it.
pub(crate) fn not_the_papers(c: &ClaimResult) -> Option<&'static str> {
    (c.source != Origin::Paper.name()).then_some(c.source)
}

/// A symbol for a verdict, readable without colour.
pub(super) fn verdict_sign(verdict: &str) -> &'static str {
    match verdict {
        "reproduced" => "✓",
        "not reproduced" => "✗",
        "contradiction" => "≠",
        "tie" => "=",
        _ => "?",
    }
}

/// A number with `digits` significant digits; with an exponent only if it is very small or very large.
pub(super) fn significant(x: f64, digits: i32) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".into() } else { x.to_string() };
    }
    let magnitude = libm::floor(libm::log10(x.abs())) as i32;
    if !(-5..15).contains(&magnitude) {
        return format!("{x:.*e}", (digits - 1).max(0) as usize);
    }
    format!("{x:.*}", (digits - 1 - magnitude).clamp(0, 12) as usize)
}

/// A symbol for the answer to a check, readable without colour.
pub(super) fn answer_sign(answer: &str) -> &'static str {
    match answer {
        MET => "✓",
        NOT_MET => "✗",
        _ => "?",
    }
}

/// One row for each check.
fn check_rows(checks: &[CheckResult], paint: Paint) -> Grid {
    let mut grid = Grid::new(["check", "answer", "measured", "expected"].map(String::from).to_vec());
    for c in checks {
        let answer = paint.answer(c.answer, &format!("{} {}", answer_sign(c.answer), c.answer));
        grid.rows.push(vec![c.what.clone(), answer, checked_text(c), c.measured.expected.clone()]);
        grid.under.push(vec![measured_at(&c.measured), look_text(c.measured.look)]);
    }
    grid.left = vec![0, 1, 3];
    grid
}

/// The point of the measured value, if there are several and the value is that of one of them.
fn measured_at(m: &Measured) -> String {
    let of_value = |p: &&Summary| m.points.len() > 1 && Some(p.mean) == m.value;
    m.points.iter().find(of_value).map_or(String::new(), |p| format!("measured at {}", point_text(&p.point)))
}

/// One row for each claim. Below the row: the paper's statement, and the reason if the claim is not reproduced.
fn claim_rows(claims: &[ClaimResult], paint: Paint) -> Grid {
    let mut grid = Grid::new(["claim", "verdict", "measured", "expected"].map(String::from).to_vec());
    for c in claims {
        let reading = c.reading.as_ref().map_or_else(String::new, |r| format!(" ({})", echo(r, WORD)));
        let id = format!("{}{reading}", claim_text(c));
        let recorded = if c.as_recorded { String::new() } else { format!(" (recorded: {})", c.recorded) };
        let verdict = paint.verdict(&c.verdict, &format!("{} {}{recorded}", verdict_sign(&c.verdict), c.verdict));
        grid.rows.push(vec![id, verdict, measured_text(c), c.measured.expected.clone()]);
        grid.under.push(vec![c.paper.clone(), look_text(c.measured.look), c.reason.clone()]);
    }
    grid.left = vec![0, 1, 3];
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_significant_digits() {
        assert_eq!(significant(1.5801, 4), "1.580");
        assert_eq!(significant(0.031_4, 2), "0.031");
        assert_eq!(significant(15_790_000.0, 4), "15790000");
        assert_eq!(significant(0.0, 4), "0");
        assert_eq!(significant(1e-9, 2), "1.0e-9");
    }

    #[test]
    fn a_group_whose_mean_hides_a_starved_flow_says_so() {
        let flow = |goodput_bps: f64| Flow {
            goodput_bps,
            ..serde_json::from_value(serde_json::json!({
                "name": "up.1", "group": "up", "direction": "up", "tcp": "cubic", "greedy": true, "goodput": 0.0,
                "throughput": 0.0, "sent": 0, "retransmitted": 0, "timeouts": 0, "entered": 0, "arrived": 0,
                "losses": {
                    "congestion": { "congestion": 0, "error": 0 },
                    "error": { "congestion": 0, "error": 0 },
                    "nothing": { "congestion": 0, "error": 0 }
                },
                "rtt": {}, "delay": {}, "completion": null, "fct": []
            }))
            .unwrap()
        };
        let runs = [[64e6, 64e6, 4e3], [63e6, 65e6, 4e3]].map(|run| run.map(flow));
        let of = |members: usize| starved(&runs.each_ref().map(|run| run.iter().take(members).collect()));
        assert_eq!((of(3).as_str(), of(2).as_str()), (", least 0.0040", ""));
        let all = starving_members(&runs.each_ref().map(|run| run.iter().collect()));
        assert_eq!(all.iter().map(|s| (s.goodput_bps, s.mean_bps.round())).collect::<Vec<_>>(), [(4e3, 42_668_000.0)]);
    }
}
