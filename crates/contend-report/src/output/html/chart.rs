//! The figures of the report outside the page: files for a paper, and pictures in a notebook.

use super::charts::ledger;
use super::ink::Paper;
use super::{DETAILED, Figure, of_point, own, svg, sweep};
use crate::output::shape::{point_text, points};
use crate::output::{FigureSpec, ReportContext};
use contend_experiment::results::Outcome;

/// A figure of the report with the sweep point that it shows.
pub struct Chart {
    figure: Figure,
    /// The point; empty if the figure shows several, or the only one.
    at: String,
}

/// How a chart is drawn where it differs from the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Size, font and colours.
    pub paper: Paper,
    /// The title above the axes; `None` for none.
    pub title: Option<String>,
    /// The label of the horizontal axis; `None` for that of the report.
    pub x_label: Option<String>,
    /// The label of the vertical axis; `None` for that of the report.
    pub y_label: Option<String>,
    /// True for a logarithmic horizontal axis.
    pub log_x: bool,
    /// True for a logarithmic vertical axis.
    pub log_y: bool,
}

impl Chart {
    /// A figure that is not of one point among several.
    pub(super) fn everywhere(figure: Figure) -> Chart {
        Chart { figure, at: String::new() }
    }

    /// The title, and the point that the chart shows.
    pub fn title(&self) -> String {
        if self.at.is_empty() { self.figure.title.clone() } else { format!("{}, {}", self.figure.title, self.at) }
    }

    /// What the chart shows, and of how many runs.
    pub fn caption(&self) -> &str {
        &self.figure.caption
    }

    /// The numbers of the chart as CSV.
    pub fn csv(&self) -> &str {
        &self.figure.csv
    }

    /// The chart as the text of an SVG file.
    pub fn svg(&self, wish: &Wish) -> String {
        self.drawn(wish, &wish.paper, wish.title.as_deref())
    }

    fn drawn(&self, wish: &Wish, paper: &Paper, title: Option<&str>) -> String {
        let plot = self.figure.plot.clone().labelled(wish.x_label.as_deref(), wish.y_label.as_deref());
        plot.logarithmic(wish.log_x, wish.log_y).in_file(paper, title, &self.figure.legend)
    }
}

/// Maximum number of panels side by side.
const ABREAST: usize = 3;

/// The panels among `charts`, which are of one `[[figure]]`, as the text of one SVG file: those of the first unit, each
/// with what tells it from the others above it. The width and the height are those of the whole.
pub fn panels(charts: &[Chart], wish: &Wish) -> String {
    let unit = |chart: &Chart| chart.figure.plot.labels()[1].clone();
    let shown: Vec<&Chart> = charts.iter().filter(|c| Some(unit(c)) == charts.first().map(unit)).collect();
    let across = shown.len().clamp(1, ABREAST);
    let down = shown.len().div_ceil(across).max(1);
    let whole = wish.paper.width_pt.unwrap_or(482.0);
    let paper = Paper {
        width_pt: Some(whole / across as f64),
        height_pt: wish.paper.height_pt.map(|pt| pt / down as f64),
        ..wish.paper.clone()
    };
    let titles: Vec<String> = shown.iter().map(|c| c.title()).collect();
    let own = titles.iter().map(|title| &title[shared(&titles)..]);
    let drawn: Vec<String> = shown.iter().zip(own).map(|(c, title)| c.drawn(wish, &paper, Some(title))).collect();
    svg::side_by_side(&drawn, across, wish.title.as_deref(), &wish.paper)
}

/// Bytes of the words with which all of these begin.
fn shared(titles: &[String]) -> usize {
    let Some(first) = titles.first() else { return 0 };
    let ends = first.match_indices(", ").map(|(at, comma)| at + comma.len());
    ends.filter(|end| titles.iter().all(|t| t.starts_with(&first[..*end]))).last().unwrap_or(0)
}

/// All figures of the report, in its order, but for maps and the timeline of the air.
pub fn all_charts(o: &Outcome, ctx: &ReportContext) -> Vec<Chart> {
    let points = points(o);
    let mut all: Vec<Chart> = own::figures(o, ctx).into_iter().map(Chart::everywhere).collect();
    all.extend(sweep::main(o, &points).into_iter().map(Chart::everywhere));
    for p in points.iter().take(DETAILED) {
        let at = point_text(p);
        all.extend(of_point(o, ctx, p, "").into_iter().map(|figure| Chart { figure, at: at.clone() }));
    }
    all.extend(ledger(o, &points).map(Chart::everywhere));
    all
}

/// The charts of one `[[figure]]` that the file of `o` need not have: one for each unit and panel.
pub fn charts_of(o: &Outcome, ctx: &ReportContext, figure: FigureSpec) -> Vec<Chart> {
    let ctx = ReportContext { figures: vec![figure], ..ctx.clone() };
    own::figures(o, &ctx).into_iter().map(Chart::everywhere).collect()
}
