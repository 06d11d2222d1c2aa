//! The figures of the report outside the page: files for a paper, and pictures in a notebook.

use super::charts::ledger;
use super::ink::Paper;
use super::svg::Plot;
use super::{DETAILED, Figure, of_point, own, svg, sweep};
use crate::output::shape::{point_text, points};
use crate::output::{FigureSpec, ReportContext};
use contend_experiment::results::Outcome;

/// A figure of the report with the sweep point that it shows.
pub struct Chart {
    figure: Figure,
    /// The point; empty if the figure shows several, or the only one.
    at: String,
    /// What the axes and the legend do not say: which of several figures it is. Empty if it is the only one.
    told: String,
}

/// How a chart is drawn where it differs from the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Size, font and colours.
    pub paper: Paper,
    /// The title above the axes, empty for none; `None` for what tells the chart from others.
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
        Chart::own((figure, String::new()))
    }

    /// A figure of the file, with what tells it from the others of its table.
    fn own((figure, told): (Figure, String)) -> Chart {
        Chart { figure, at: String::new(), told }
    }

    /// A name for the metrics of the vertical axis, with their unit.
    pub fn measured(&self) -> &str {
        &self.figure.plot.labels()[1]
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

    /// The chart as the text of an SVG file. Without a title of the call, a chart that is one of several says which.
    pub fn svg(&self, wish: &Wish) -> String {
        let title = wish.title.as_deref().unwrap_or(&self.told);
        self.drawn(wish, &wish.paper, Some(title).filter(|title| !title.is_empty()), &self.figure.legend)
    }

    fn drawn(&self, wish: &Wish, paper: &Paper, title: Option<&str>, legend: &[(usize, String)]) -> String {
        self.plot(wish).in_file(paper, title, legend)
    }

    fn plot(&self, wish: &Wish) -> Plot {
        let plot = self.figure.plot.clone().labelled(wish.x_label.as_deref(), wish.y_label.as_deref());
        plot.logarithmic(wish.log_x, wish.log_y)
    }
}

/// Maximum number of panels side by side.
const ABREAST: usize = 3;

/// Panels of one `[[figure]]`, as the text of one SVG file: each with what tells it from the others above it. The width
/// and the height are those of the whole. A legend that all panels share stands once.
pub fn panels(charts: &[Chart], wish: &Wish) -> String {
    let across = charts.len().clamp(1, ABREAST);
    let down = charts.len().div_ceil(across).max(1);
    let whole = wish.paper.width_pt.unwrap_or(482.0);
    let legend = common(charts);
    let head = legend.as_ref().map_or(0.0, |legend| svg::legend_height_pt(legend, whole, &wish.paper));
    let paper = Paper {
        width_pt: Some(whole / across as f64),
        height_pt: wish.paper.height_pt.map(|pt| (pt - head).max(0.0) / down as f64),
        ..wish.paper.clone()
    };
    let titles: Vec<String> = charts.iter().map(Chart::title).collect();
    let own = titles.iter().map(|title| &title[shared(&titles)..]);
    let drawn = charts
        .iter()
        .zip(own)
        .map(|(c, title)| c.drawn(wish, &paper, Some(title), if legend.is_some() { &[] } else { &c.figure.legend }));
    let drawn: Vec<String> = drawn.collect();
    let plots: Vec<Plot> = charts.iter().map(|c| c.plot(wish)).collect();
    let legend = legend.unwrap_or_default();
    svg::side_by_side(
        &drawn,
        across,
        wish.title.as_deref().filter(|title| !title.is_empty()),
        (&plots, &legend),
        &wish.paper,
    )
}

/// The legend of all these charts together; `None` if a style stands for two names, or a name for two styles.
fn common(charts: &[Chart]) -> Option<Vec<(usize, String)>> {
    let mut all: Vec<(usize, String)> = vec![];
    for entry in charts.iter().flat_map(|c| &c.figure.legend) {
        match all.iter().find(|(style, name)| *style == entry.0 || *name == entry.1) {
            Some(known) if known != entry => return None,
            Some(_) => {}
            None => all.push(entry.clone()),
        }
    }
    Some(all)
}

/// The charts of each unit, in order of appearance.
pub fn by_unit(charts: Vec<Chart>) -> Vec<Vec<Chart>> {
    let mut all: Vec<Vec<Chart>> = vec![];
    for chart in charts {
        match all.iter_mut().find(|of| of.iter().any(|c| c.measured() == chart.measured())) {
            Some(of) => of.push(chart),
            None => all.push(vec![chart]),
        }
    }
    all
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
    let mut all: Vec<Chart> = own::told(o, ctx).into_iter().map(Chart::own).collect();
    all.extend(sweep::main(o, &points).into_iter().map(Chart::everywhere));
    for p in points.iter().take(DETAILED) {
        let at = point_text(p);
        all.extend(of_point(o, ctx, p, "").into_iter().map(|figure| Chart {
            figure,
            at: at.clone(),
            told: at.clone(),
        }));
    }
    all.extend(ledger(o, &points).map(Chart::everywhere));
    all
}

/// The charts of one `[[figure]]` that the file of `o` need not have: one for each unit and panel.
pub fn charts_of(o: &Outcome, ctx: &ReportContext, figure: FigureSpec) -> Vec<Chart> {
    let ctx = ReportContext { figures: vec![figure], ..ctx.clone() };
    own::told(o, &ctx).into_iter().map(Chart::own).collect()
}
