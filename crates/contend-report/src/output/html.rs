//! The report: one page that opens from disk without network, in light or dark, with all figures and their data.
//!
//! Figures are SVG, so the page is readable without scripts. The script draws the timeline of the air, moves maps,
//! switches between sweep points, and saves figures as SVG and PNG. Each figure has its numbers as a CSV link, and the
//! command that draws it again.

mod against;
mod air;
mod chart;
mod charts;
mod compare;
mod course;
mod frames;
mod ink;
mod lines;
mod map;
mod own;
mod paper;
mod scorecard;
mod series;
mod svg;
mod sweep;

use super::shape::{
    column_texts, estimate, main_metrics, metrics, percentile, point_columns, point_options, point_text, points,
    runs_of, seeds_text, summary_of, unit_of,
};
use super::table::{
    advice, answer_sign, cautions, checked_text, look_text, measured_text, method, not_the_papers, search_text,
    verdict_sign,
};
use super::{Error, ReportContext, atomically, table, tags};
use crate::output::shape::InText as _;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use contend_experiment::results::{ClaimResult, Flow, Outcome, PointKey, Run};
use contend_experiment::stats::{Estimate, Range};
use contend_judge::judging::check::{MET, NOT_MET};
use ink::class;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use svg::escaped;

pub use chart::{Chart, Wish, all_charts, by_unit, charts_of, panels};
pub use compare::write_comparison_page;
pub use frames::{LEAD, NoAir, air_chart};
pub use ink::Paper;
pub use map::{map_csv, map_file};
pub use paper::{Chapter, write_paper};
pub use scorecard::{scorecard_page, test_figures};

/// Maximum number of points with flows, series and delays on the page; the Parquet files have all points.
const DETAILED: usize = 24;
/// Maximum number of flows in a point's table.
const LISTED: usize = 200;

/// Writes the report page of `o` to `path`.
pub fn write_report(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    let page = report_page(o, ctx);
    atomically(path, |w| w.write_all(page.as_bytes()))
}

/// One figure with its data.
struct Figure {
    title: String,
    /// What the figure shows, and of how many runs.
    caption: String,
    plot: svg::Plot,
    /// Style and name of each curve.
    legend: Vec<(usize, String)>,
    /// The numbers of the figure.
    csv: String,
    /// The command that draws the figure again; empty if it is the command of the whole report.
    command: String,
    /// True if the figure is as wide as the page.
    wide: bool,
}

/// The style of a direction of traffic, the same in all figures.
fn direction_style(direction: &str) -> usize {
    match direction {
        "down" => 0,
        "up" => 1,
        "wired" => 2,
        _ => 3,
    }
}

/// The report page of `o`.
pub fn report_page(o: &Outcome, ctx: &ReportContext) -> String {
    let points = points(o);
    let command = if ctx.command.is_empty() { format!("contend run {}", o.file) } else { ctx.command.clone() };
    let mut body = head(o, ctx);
    let mut results = cautioned(o);
    results += &(summary(o, &points) + &format!("<p class=\"method\">{}</p>", escaped(method(o, ctx).trim_end())));
    for found in &o.search {
        // Text between backquotes is code.
        let pieces = search_text(found).split('`').enumerate().fold(String::new(), |out, (i, piece)| match i % 2 {
            0 => out + &escaped(piece),
            _ => out + "<code>" + &escaped(piece) + "</code>",
        });
        let _ = write!(results, "<p class=\"method\">{pieces}</p>");
    }
    body += &section("Results", &(results + &all_metrics(o, &points)));
    if !o.checks.is_empty() {
        body += &section("Checks", &checks(o));
    }
    if !o.claims.is_empty() {
        body += &section("Claims", &claims(o));
    }
    let own: String = own::figures(o, ctx).iter().map(|f| f.html(&command)).collect();
    if !own.is_empty() {
        body += &section("Figures", &format!("<div class=\"figures\">{own}</div>"));
    }
    let sweep: String = sweep::main(o, &points).iter().map(|f| f.html(&command)).collect();
    if !sweep.is_empty() {
        body += &section("Along the sweep", &format!("<div class=\"figures\">{sweep}</div>"));
    }
    body += &details(o, ctx, &points, &command);
    if let Some(f) = charts::ledger(o, &points) {
        body += &section("Airtime", &format!("<div class=\"figures\">{}</div>", f.html(&command)));
    }
    if let Some(run) = o.runs.iter().find(|r| !r.detail.frames.is_empty()) {
        let again = redraw(&command, &run.point, &run.seed.to_string());
        body += &section("The air, frame by frame", &air::timeline(run, &again));
    }
    body += &foot(o, ctx, &command);
    document(&o.title, o.version, &body, REPORT_SCRIPT)
}

const REPORT_SCRIPT: &str =
    concat!(include_str!("html/page.js"), include_str!("html/map.js"), include_str!("html/timeline.js"));

/// The styles and the script of [`report_page`], as sources in a content security policy. A page that shows a report in
/// a frame by its text must admit them: the frame has its policy too.
pub fn report_sources() -> (String, String) {
    (format!("{} {}", source(STYLE), source(WITHOUT_SCRIPT)), source(REPORT_SCRIPT))
}

/// Missing runs and warnings, one paragraph each.
fn cautioned(o: &Outcome) -> String {
    cautions(o).fold(String::new(), |out, text| out + &format!("<p class=\"caution\">{}</p>\n", escaped(&text)))
}

/// Style where scripts do not run: all points are shown, and nothing that only a script can do.
const WITHOUT_SCRIPT: &str = ".point{display:block}.script{display:none}";

const STYLE: &str = include_str!("html/report.css");

/// An inline style or script as a source in a content security policy.
pub fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// A complete page without references to other files. Its Content-Security-Policy admits its own style and script and
/// nothing else.
fn document(title: &str, version: &str, body: &str, script: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
            content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src {} {}; \
         script-src {}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"generator\" content=\"contend {}\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n<noscript><style>{WITHOUT_SCRIPT}</style></noscript>\n</head>\n<body>\n<main>\n\
         {body}</main>\n<script>{script}</script>\n</body>\n</html>\n",
        source(STYLE),
        source(WITHOUT_SCRIPT),
        source(script),
        escaped(version),
        escaped(title),
    )
}

fn section(title: &str, content: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n{content}\n</section>\n", escaped(title))
}

fn head(o: &Outcome, ctx: &ReportContext) -> String {
    let mut out = format!("<header>\n<p class=\"brand\">contend report</p>\n<h1>{}</h1>\n", escaped(&o.title));
    if !ctx.cite.is_empty() {
        let _ = writeln!(out, "<p class=\"cite\">{}</p>", escaped(&ctx.cite));
    }
    for paragraph in ctx.notes.split("\n\n").filter(|p| !p.trim().is_empty()) {
        let _ = writeln!(out, "<p class=\"notes\">{}</p>", escaped(paragraph.trim()));
    }
    out + "</header>\n"
}

/// The table of main metrics, one row for each point.
fn summary(o: &Outcome, points: &[PointKey]) -> String {
    let keys = point_columns(points);
    let main = main_metrics(o);
    let mut out = String::from("<div class=\"scroll\"><table class=\"numbers\">\n<thead><tr>");
    for k in &keys {
        let _ = write!(out, "<th class=\"key\">{}</th>", breakable(k));
    }
    for m in &main {
        let _ = write!(out, "<th>{}</th>", headed(m));
    }
    out += "</tr></thead>\n<tbody>\n";
    for p in points {
        out += "<tr>";
        for text in column_texts(p, &keys) {
            let _ = write!(out, "<td class=\"key\">{}</td>", escaped(&text));
        }
        for m in &main {
            let _ = write!(out, "<td>{}</td>", mean_cell(m, summary_of(o, p, m)));
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

fn headed(metric: &str) -> String {
    match unit_of(metric).name {
        "" => breakable(metric),
        unit => format!("{} <span class=\"unit\">{unit}</span>", breakable(metric)),
    }
}

/// A name that may be broken after a dot or an underscore.
fn breakable(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>").replace('_', "_<wbr>")
}

fn mean_cell(metric: &str, mean: Option<Estimate>) -> String {
    let unit = unit_of(metric);
    mean.map_or_else(|| "–".into(), |m| cell(m, unit.scale, unit.decimals))
}

/// A mean and its interval in a cell of a table. Where all runs agree, the mean has no zeros at its end.
fn cell(m: Estimate, scale: f64, decimals: usize) -> String {
    let agree = m.interval.is_some_and(|(low, high)| low == high);
    let shown = |text: String| match (agree, text.contains('.')) {
        (true, true) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => text,
    };
    match m.parts(scale, decimals) {
        Some((mean, None)) => mean,
        Some((mean, Some(around))) => format!("{} <span class=\"pm\">{}</span>", shown(mean), shown(around)),
        None => "–".into(),
    }
}

/// Every metric at every point, collapsed.
fn all_metrics(o: &Outcome, points: &[PointKey]) -> String {
    let names = metrics(o);
    if names.is_empty() || points.is_empty() {
        return String::new();
    }
    let shown = &points[..points.len().min(DETAILED)];
    let mut out = String::from(
        "<details><summary>All metrics</summary><div class=\"scroll\"><table class=\"numbers\">\n<thead><tr><th \
            class=\"key\">metric</th>",
    );
    for p in shown {
        let text = if p.is_empty() { "mean".into() } else { point_text(p) };
        let _ = write!(out, "<th>{}</th>", escaped(&text));
    }
    out += "</tr></thead>\n<tbody>\n";
    let mut csv = String::from("metric,point,n,mean,low,high\n");
    for m in names {
        let _ = write!(out, "<tr><td class=\"key\">{}</td>", headed(m));
        for p in shown {
            let _ = write!(out, "<td>{}</td>", mean_cell(m, summary_of(o, p, m)));
        }
        out += "</tr>\n";
    }
    for s in &o.summary {
        let ends = s.interval.map_or_else(|| ",".to_owned(), |(low, high)| format!("{low},{high}"));
        let _ = writeln!(
            csv,
            "{},{},{},{},{ends}",
            super::csv::quoted(&s.metric),
            super::csv::quoted(&point_text(&s.point)),
            s.n,
            s.mean
        );
    }
    let link = csv_link("summary", &csv);
    out + &format!(
        "</tbody></table></div><p class=\"tools\">{link} <span>in base units: bits per second, seconds, \
            shares</span></p></details>\n"
    )
}

fn checks(o: &Outcome) -> String {
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"claims\">\n\
            <thead><tr><th>check</th><th>answer</th><th>measured</th><th>expected</th></tr></thead>\n<tbody>\n",
    );
    for c in &o.checks {
        // The colours of the answers are those of the verdicts.
        let class = match c.answer {
            MET => "reproduced",
            NOT_MET => "not-reproduced",
            _ => "undecided",
        };
        let look = look_text(c.measured.look);
        let look = if look.is_empty() { look } else { format!("<br><span class=\"pm\">{}</span>", escaped(&look)) };
        let _ = writeln!(
            out,
            "<tr><td class=\"key\">{}</td><td><span class=\"verdict {class}\"><b>{}</b> {}</span>{look}</td><td \
                class=\"num\">{}</td><td>{}</td></tr>",
            escaped(&c.what),
            answer_sign(c.answer),
            c.answer,
            escaped(&checked_text(c)),
            escaped(&c.measured.expected),
        );
    }
    out += "</tbody></table></div>\n";
    out + &advice(o).map_or(String::new(), |advice| format!("<p class=\"caution\">{}</p>\n", escaped(&advice)))
}

fn claims(o: &Outcome) -> String {
    claims_table(&o.claims.iter().map(|c| claim(c, "")).collect::<String>()) + &legend(&tags(&o.claims))
}

/// A legend below a table; nothing without text.
fn legend(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p class=\"method\">{}</p>\n", escaped(text)) }
}

/// The table of claims with these rows.
fn claims_table(rows: &str) -> String {
    format!(
        "<div class=\"scroll\"><table class=\"claims\">\n\
            <thead><tr><th>claim</th><th>verdict</th><th>measured</th><th>expected</th><th>the paper \
            says</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// A claim as a row of the table, and its reason as a row of its own below. `before` is HTML before its name.
fn claim(c: &ClaimResult, before: &str) -> String {
    let reading = c.reading.as_ref().map_or_else(String::new, |r| format!(" <span class=\"pm\">{}</span>", escaped(r)));
    let source = not_the_papers(c).map_or_else(String::new, |s| format!("<br><span class=\"pm\">[{s}]</span>"));
    let recorded = if c.as_recorded {
        String::new()
    } else {
        format!("<br><span class=\"pm\">recorded: {}</span>", escaped(&c.recorded))
    };
    let below = [c.reason.clone(), look_text(c.measured.look)];
    let below: Vec<String> = below.iter().filter(|text| !text.is_empty()).map(|text| escaped(text)).collect();
    let reason = match below.as_slice() {
        [] => String::new(),
        _ => format!("<tr class=\"why\"><td></td><td colspan=\"4\">{}</td></tr>\n", below.join("<br>")),
    };
    format!(
        "<tr{}><td class=\"key\">{before}{}{reading}{source}</td><td>{}{recorded}</td><td class=\"num\">{}</td>\
            <td>{}</td><td>{}</td></tr>\n{reason}",
        if reason.is_empty() { "" } else { " class=\"explained\"" },
        escaped(&c.id),
        verdict(&c.verdict),
        escaped(&measured_text(c)),
        escaped(&c.measured.expected),
        escaped(&c.paper),
    )
}

/// A verdict with its sign and colour.
fn verdict(name: &str) -> String {
    format!(
        "<span class=\"verdict {}\"><b>{}</b> {}</span>",
        escaped(&name.replace(' ', "-")),
        verdict_sign(name),
        escaped(name)
    )
}

/// The details of each point: flows, series, delays. One point is visible at a time.
fn details(o: &Outcome, ctx: &ReportContext, points: &[PointKey], command: &str) -> String {
    let shown = &points[..points.len().min(DETAILED)];
    if shown.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    if shown.len() > 1 {
        out += "<p class=\"pick script\"><label for=\"point\">Sweep point</label> <select id=\"point\">";
        for (i, p) in shown.iter().enumerate() {
            let _ = write!(out, "<option value=\"{i}\">{}</option>", escaped(&point_text(p)));
        }
        out += "</select>";
        if points.len() > shown.len() {
            let _ = write!(
                out,
                " <span class=\"pm\">the first {} of {} points; all are in flows.parquet and series.parquet</span>",
                shown.len(),
                points.len()
            );
        }
        out += "</p>\n";
    }
    for (i, p) in shown.iter().enumerate() {
        let runs = runs_of(o, p);
        let every = redraw(command, p, &if ctx.seeds.is_empty() { seeds_text(o) } else { ctx.seeds.clone() });
        let _ = writeln!(out, "<div class=\"point{}\" id=\"point-{i}\">", if i == 0 { " shown" } else { "" });
        if shown.len() > 1 {
            let _ = writeln!(out, "<noscript><h3>{}</h3></noscript>", escaped(&point_text(p)));
        }
        if let Some(seeds) = o.seeds.iter().find(|s| s.point == *p) {
            let _ = writeln!(out, "<p class=\"method\">{} seeds</p>", seeds.n);
        }
        let figures = of_point(o, ctx, p, command);
        let map = runs.iter().find_map(|r| map::figure(r, &redraw(command, p, &r.seed.to_string())));
        let html = map.unwrap_or_default() + &figures.iter().map(|f| f.html(&every)).collect::<String>();
        let _ = writeln!(out, "<div class=\"figures\">{html}</div>\n{}{}</div>", starving(&runs), flow_table(&runs));
    }
    section("Flows, queue and delay", &out)
}

/// The figures of the point `p`; `command` is that of the report.
fn of_point(o: &Outcome, ctx: &ReportContext, p: &PointKey, command: &str) -> Vec<Figure> {
    let runs = runs_of(o, p);
    let every = redraw(command, p, &if ctx.seeds.is_empty() { seeds_text(o) } else { ctx.seeds.clone() });
    let mut figures: Vec<Figure> = charts::flow_bars(&runs, &every).into_iter().collect();
    figures.extend(series::jain_over_time(&runs, ctx.warmup_s, &every));
    if let Some(run) = runs.iter().find(|r| r.detail.series.time_s.len() > 1) {
        figures.extend(series::over_time(run, ctx.warmup_s, &redraw(command, p, &run.seed.to_string())));
    }
    figures.extend(series::delays(&runs, &every));
    figures
}

/// The flows of a point that starve, with what they get and what their group gets on average.
fn starving(runs: &[&Run]) -> String {
    let all = table::starving(runs);
    if all.is_empty() {
        return String::new();
    }
    let one = |s: &table::Starving| {
        let [least, mean] = [s.goodput_bps, s.mean_bps].map(|bps| table::significant(bps / 1e6, 2));
        format!(
            "<li><b>{}</b>: {least} Mb/s; the mean of {} is {mean} Mb/s</li>\n",
            escaped(&s.flow),
            escaped(&s.group)
        )
    };
    let listed: String = all.iter().take(LISTED).map(one).collect();
    let more = if all.len() > LISTED { format!("<li>{} more</li>", all.len() - LISTED) } else { String::new() };
    format!(
        "<div class=\"caution starving\"><p>Flows that starve: {} with a goodput below 10 % of the mean of their \
            group.</p>\n<ul>{listed}{more}</ul></div>\n",
        all.len()
    )
}

/// Every flow of a point with its intervals, collapsed.
fn flow_table(runs: &[&Run]) -> String {
    let Some(first) = runs.first().filter(|r| !r.flows.is_empty()) else { return String::new() };
    let mut out = String::from(
        "<details><summary>Every flow</summary><div class=\"scroll\"><table class=\"numbers\">\n<thead><tr><th \
            class=\"key\">flow</th><th class=\"key\">TCP</th>",
    );
    out += "<th>goodput <span class=\"unit\">Mb/s</span></th><th>RTT median <span \
        class=\"unit\">ms</span></th><th>RTT p95 <span class=\"unit\">ms</span></th>";
    out += "<th>delay p95 <span \
        class=\"unit\">ms</span></th><th>sent</th><th>retransmitted</th><th>timeouts</th>";
    let transfers = runs.iter().flat_map(|r| &r.flows).any(has_transfers);
    if transfers {
        out += "<th>completed</th><th>unfinished</th>";
    }
    out += "</tr></thead>\n<tbody>\n";
    type Of = fn(&Flow) -> Option<f64>;
    type Kind = fn(&[f64]) -> Estimate;
    let exact: Kind = |values| estimate(values, Range::FROM_ZERO);
    let columns: [(Of, Kind, f64, usize); 9] = [
        (|f| Some(f.goodput_bps), exact, 1e-6, 3),
        (|f| f.rtt_s.p50, percentile, 1e3, 1),
        (|f| f.rtt_s.p95, percentile, 1e3, 1),
        (|f| f.delay_s.p95, percentile, 1e3, 1),
        (|f| Some(f.sent as f64), exact, 1.0, 0),
        (|f| Some(f.retransmitted as f64), exact, 1.0, 1),
        (|f| f.timeouts.map(|n| n as f64), exact, 1.0, 1),
        (|f| has_transfers(f).then_some(f.completions_s.len() as f64), exact, 1.0, 1),
        (|f| has_transfers(f).then_some(f.unfinished as f64), exact, 1.0, 1),
    ];
    let shown = columns.len() - if transfers { 0 } else { 2 };
    let mut coarse = false;
    for (i, flow) in first.flows.iter().enumerate().take(LISTED) {
        let _ = write!(
            out,
            "<tr><td class=\"key\">{}</td><td class=\"key\">{}</td>",
            escaped(&flow.name),
            escaped(&flow.tcp)
        );
        for (of, kind, scale, decimals) in columns.into_iter().take(shown) {
            let values: Vec<f64> = runs.iter().filter_map(|r| r.flows.get(i)).filter_map(of).collect();
            let shown = kind(&values);
            coarse |= shown.by_resolution;
            let _ = write!(out, "<td>{}</td>", cell(shown, scale, decimals));
        }
        out += "</tr>\n";
    }
    let more = if first.flows.len() > LISTED {
        format!("<p class=\"pm\">The first {LISTED} of {} flows.</p>", first.flows.len())
    } else {
        String::new()
    };
    let coarse = if coarse { format!("<p class=\"pm\">Of percentiles {}.</p>", table::BUCKET) } else { String::new() };
    out + "</tbody></table></div>" + &more + &coarse + "</details>\n"
}

/// True if transfers of the flow began.
fn has_transfers(f: &Flow) -> bool {
    f.unfinished > 0 || !f.completions_s.is_empty()
}

fn foot(o: &Outcome, ctx: &ReportContext, command: &str) -> String {
    let mut out = String::from("<footer><dl>");
    let events: u64 = o.runs.iter().map(|r| r.events).sum();
    let wall: f64 = o.runs.iter().map(|r| r.wall_s).sum();
    let rows = [
        ("file", o.file.clone()),
        ("command", command.to_owned()),
        ("runs", format!("{}, {events} events, {wall:.2} s of computing", o.runs.len())),
        ("seeds", seeds_text(o)),
        (
            "warm-up",
            if ctx.duration_s > 0.0 {
                format!("{} s of {} s cut", ctx.warmup_s, ctx.duration_s)
            } else {
                String::new()
            },
        ),
        ("contend", o.version.to_owned()),
        ("words", "docs/glossary.md".to_owned()),
    ];
    for (name, value) in rows.iter().filter(|r| !r.1.is_empty()) {
        let _ = write!(out, "<dt>{name}</dt><dd><code>{}</code></dd>", escaped(value));
    }
    out + "</dl></footer>\n"
}

/// Changes `command` so that it runs one point and these seeds only.
fn redraw(command: &str, point: &PointKey, seeds: &str) -> String {
    let mut words = command.split_whitespace();
    let mut out = String::new();
    while let Some(word) = words.next() {
        if word == "--seeds" {
            words.next();
        } else if !word.starts_with("--seeds=") {
            out += word;
            out.push(' ');
        }
    }
    format!("{}{} --seeds {seeds}", out.trim_end(), point_options(point))
}

impl Figure {
    fn html(&self, command: &str) -> String {
        let command = if self.command.is_empty() { command } else { &self.command };
        let mut legend = String::new();
        for (style, name) in &self.legend {
            let _ = write!(
                legend,
                "<button type=\"button\" class=\"{0}\" data-only=\"{0}\"><i></i>{1}</button>",
                class(*style),
                escaped(name)
            );
        }
        let legend = if self.legend.is_empty() { legend } else { format!("<p class=\"legend\">{legend}</p>") };
        format!(
            "<figure{}>\n<h3>{}</h3>\n{legend}\n<div class=\"plot\">{}</div>\n<figcaption>{}<span \
                class=\"tools\">{} {SAVE} {}</span></figcaption>\n</figure>\n",
            if self.wide { " class=\"wide\"" } else { "" },
            escaped(&self.title),
            self.plot.on_page(),
            escaped(&self.caption),
            csv_link(&self.title, &self.csv),
            how(command),
        )
    }
}

/// A time in seconds with the largest unit in which it is 1 or more: `2.001 s`, `10.5 ms`.
fn how_long(seconds: f64) -> String {
    let (scale, unit) = match seconds {
        1.0.. => (1.0, "s"),
        1e-3.. => (1e3, "ms"),
        _ => (1e6, "µs"),
    };
    let text = format!("{:.9}", seconds * scale);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The buttons that save a figure; the script of the page does it.
const SAVE: &str = "<button type=\"button\" class=\"script\" data-save=\"svg\">SVG</button> <button type=\"button\" \
    class=\"script\" data-save=\"png\">PNG</button>";

/// The command that draws a figure again, collapsed.
fn how(command: &str) -> String {
    format!("<details><summary>redraw</summary><code>{}</code></details>", escaped(command))
}

/// A link that saves `csv` in a file; the name of the file is made from `title`.
fn csv_link(title: &str, csv: &str) -> String {
    let name: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let mut data = String::with_capacity(csv.len() + csv.len() / 8);
    for b in csv.bytes() {
        match b {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b','
            | b'.'
            | b'-'
            | b'_'
            | b':'
            | b'='
            | b';'
            | b'/'
            | b'('
            | b')'
            | b'['
            | b']' => data.push(char::from(b)),
            _ => drop(write!(data, "%{b:02X}")),
        }
    }
    format!("<a download=\"{name}.csv\" href=\"data:text/csv;charset=utf-8,{data}\">CSV</a>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_figure_has_its_point_and_seed() {
        let point = PointKey::from([("flow.1.count".to_owned(), 2.into())]);
        assert_eq!(
            redraw("contend run a.toml --seeds 1..5 --jobs 2", &point, "3"),
            "contend run a.toml --jobs 2 --set 'flow.1.count=2' --seeds 3"
        );
        assert_eq!(redraw("contend run a.toml --seeds=1..5", &PointKey::new(), "1"), "contend run a.toml --seeds 1");
    }

    #[test]
    fn a_csv_link_holds_any_text() {
        assert_eq!(
            csv_link("A b", "x,\"y\"\n1 %"),
            "<a download=\"a-b.csv\" href=\"data:text/csv;charset=utf-8,x,%22y%22%0A1%20%25\">CSV</a>"
        );
    }
}
