//! The page of a comparison: the differences with their intervals as a plot, and the table.

use super::super::compare::{missing, pairs_text, row};
use super::super::shape::{point_columns, point_name, point_text, unit_of};
use super::super::{Error, beside_earlier};
use super::ink::GREY;
use super::svg::{Extent, Plot, Scale, escaped};
use super::{Figure, document, section};
use crate::output::csv::quoted;
use crate::output::shape::InText as _;
use contend_experiment::results::PointKey;
use contend_judge::judging::compare::{Comparison, Difference};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of rows in a figure; the table has all.
const ROWS: usize = 40;

/// Writes the page of the comparison `c` to `path`; `command` is the command line of the call. An earlier page is moved
/// aside; returns the path to which it was moved.
///
/// # Errors
/// When the file cannot be written.
pub fn write_comparison_page(c: &Comparison, command: &str, path: &Path) -> Result<Option<PathBuf>, Error> {
    let page = page(c, command);
    beside_earlier(path, |w| w.write_all(page.as_bytes()))
}

fn page(c: &Comparison, command: &str) -> String {
    let b = c.b.as_deref().unwrap_or("each of the points below");
    let mut body = format!(
        "<header>\n<p class=\"brand\">contend comparison</p>\n<h1>What B changes</h1>\n</header>\n\
         <dl class=\"sides\"><dt>A</dt><dd>{}</dd><dt>B</dt><dd>{}</dd></dl>\n",
        escaped(&c.a),
        escaped(b)
    );
    let figures: String = figures(c).iter().map(|f| f.html(command)).collect();
    body += &section("Differences", &format!("<div class=\"figures\">{figures}</div>"));
    let cautions: String =
        missing(c).iter().map(|text| format!("<p class=\"caution\">{}</p>\n", escaped(text))).collect();
    let method = format!("<p class=\"method\">{}</p>\n", escaped(&pairs_text(c)));
    body += &section("Numbers", &(table(c) + &cautions + &method));
    let _ = writeln!(
        body,
        "<footer><dl><dt>command</dt><dd><code>{}</code></dd><dt>contend</dt><dd><code>{}</code></dd></dl></footer>",
        escaped(command),
        escaped(c.version)
    );
    document(&format!("{} and {b}", c.a), c.version, &body, include_str!("page.js"))
}

/// With one point, all metrics as shares of A; with several, a figure for each metric in its unit, with a row for each
/// point.
fn figures(c: &Comparison) -> Vec<Figure> {
    let mut points: Vec<PointKey> = Vec::new();
    let mut metrics: Vec<&str> = Vec::new();
    for d in &c.differences {
        if !points.contains(&d.point) {
            points.push(d.point.clone());
        }
        if !metrics.contains(&d.metric.as_str()) {
            metrics.push(&d.metric);
        }
    }
    if let [_] = points.as_slice() {
        let rows: Vec<(String, Option<f64>, &Difference)> =
            c.differences.iter().map(|d| (d.metric.clone(), share(d), d)).collect();
        let caption = "Mean difference over the pairs, as a share of the mean of A; bars: 95 % Student interval.";
        return figure("B − A, as a share of A", "difference [% of A]", caption, &rows).into_iter().collect();
    }
    let keys = point_columns(&points).join(", ");
    let of = |metric: &&str| {
        let unit = unit_of(metric);
        let name = |d: &Difference| point_name(&d.point);
        let rows: Vec<(String, Option<f64>, &Difference)> =
            c.differences.iter().filter(|d| d.metric == **metric).map(|d| (name(d), Some(unit.scale), d)).collect();
        let label = if unit.name.is_empty() { "difference".into() } else { format!("difference [{}]", unit.name) };
        let caption =
            format!("A row for each point: {keys}. Mean difference over the pairs; bars: 95 % Student interval.");
        figure(&format!("{metric}, B − A"), &label, &caption, &rows)
    };
    metrics.iter().filter_map(of).collect()
}

/// The factor that makes a difference a share of A in percent; `None` if A is zero.
fn share(d: &Difference) -> Option<f64> {
    d.a.filter(|a| *a != 0.0).map(|a| 100.0 / a.abs())
}

/// A dot with its interval in each row, on both sides of zero; `None` if nothing can be drawn. A row is a name, a
/// factor for the difference, and the difference.
fn figure(title: &str, label: &str, caption: &str, rows: &[(String, Option<f64>, &Difference)]) -> Option<Figure> {
    let shown: Vec<(&str, Extent, &Difference)> = rows
        .iter()
        .filter_map(|(name, factor, d)| Some((name.as_str(), d.estimate()?.scaled((*factor)?), *d)))
        .take(ROWS)
        .collect();
    if shown.is_empty() {
        return None;
    }
    let ends = shown.iter().flat_map(|(_, (mean, interval), _)| {
        let (low, high) = interval.unwrap_or((*mean, *mean));
        [low, high]
    });
    let (low, high) = super::lines::range(ends.chain([0.0]));
    // Rows are counted from the bottom; the first one is at the top.
    let names = shown.iter().rev().map(|(name, ..)| (*name).to_owned()).collect();
    let mut plot = Plot::new(Scale::around(low, high), label, Scale::Names(names), "")
        .wide()
        .tall(70.0 + 26.0 * shown.len().max(2) as f64);
    plot.upright(0.0);
    let mut legend: Vec<(usize, String)> = Vec::new();
    for (i, (name, extent, d)) in shown.iter().enumerate() {
        let (style, answer) = match d.answer() {
            "more" => (0, "B has more"),
            "less" => (1, "B has less"),
            other => (GREY, other),
        };
        if !legend.iter().any(|l| l.1 == answer) {
            legend.push((style, answer.to_owned()));
        }
        let cells = row(d);
        let title = format!("{name}\n{}: B − A = {}\nn = {}", cells[0], cells[3], d.n);
        plot.dot(style, *extent, ((shown.len() - 1 - i) as f64, None), &title);
    }
    let left = rows.len() - shown.len();
    let more = if left > 0 { format!(" {left} more rows are in the table only.") } else { String::new() };
    Some(Figure {
        title: title.into(),
        caption: format!("{caption}{more}"),
        plot: plot.named(title),
        legend,
        csv: csv(rows.iter().map(|r| r.2)),
        command: String::new(),
        wide: true,
    })
}

fn csv<'a>(all: impl Iterator<Item = &'a Difference>) -> String {
    let mut out = String::from("point,metric,n,a,b,difference,low,high\n");
    for d in all {
        let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        let (low, high) = d.estimate().and_then(|e| e.interval).unzip();
        let numbers = [d.a, d.b, d.difference, low, high].map(number).join(",");
        let _ = writeln!(out, "{},{},{},{numbers}", quoted(&point_text(&d.point)), quoted(&d.metric), d.n);
    }
    out
}

fn table(c: &Comparison) -> String {
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"numbers compared\">\n<thead><tr><th class=\"key\">metric</th>\
            <th>A</th><th>B</th><th>B − A</th><th>change</th><th class=\"key\">B has</th></tr></thead>\n<tbody>\n",
    );
    let mut last = None;
    for d in &c.differences {
        if !d.point.is_empty() && last != Some(&d.point) {
            let _ = writeln!(out, "<tr><th class=\"key\" colspan=\"6\">{}</th></tr>", escaped(&point_text(&d.point)));
        }
        last = Some(&d.point);
        let cells = row(d);
        let cell = |(i, text): (usize, &String)| match i {
            0 | 5 => format!("<td class=\"key\">{}</td>", escaped(text)),
            _ => format!("<td>{}</td>", escaped(text)),
        };
        let _ = writeln!(out, "<tr>{}</tr>", cells.iter().enumerate().map(cell).collect::<String>());
    }
    out + "</tbody></table></div>\n"
}
