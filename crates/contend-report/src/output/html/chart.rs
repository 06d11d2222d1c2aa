//! The figures of the report outside the page: files for a paper, and pictures in a notebook.

use super::charts::ledger;
use super::ink::Paper;
use super::{DETAILED, Figure, of_point, own, sweep};
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
        let plot = self.figure.plot.clone().labelled(wish.x_label.as_deref(), wish.y_label.as_deref());
        let plot = plot.logarithmic(wish.log_x, wish.log_y);
        plot.in_file(&wish.paper, wish.title.as_deref(), &self.figure.legend)
    }
}

/// All figures of the report, in its order, but for maps and the timeline of the air.
pub fn all_charts(o: &Outcome, ctx: &ReportContext) -> Vec<Chart> {
    let points = points(o);
    let everywhere = |figure| Chart { figure, at: String::new() };
    let mut all: Vec<Chart> = own::figures(o, ctx).into_iter().map(everywhere).collect();
    all.extend(sweep::main(o, &points).into_iter().map(everywhere));
    for p in points.iter().take(DETAILED) {
        let at = point_text(p);
        all.extend(of_point(o, ctx, p, "").into_iter().map(|figure| Chart { figure, at: at.clone() }));
    }
    all.extend(ledger(o, &points).map(everywhere));
    all
}

/// The charts of one `[[figure]]` that the file of `o` need not have: one for each unit and panel.
pub fn charts_of(o: &Outcome, ctx: &ReportContext, figure: FigureSpec) -> Vec<Chart> {
    let ctx = ReportContext { figures: vec![figure], ..ctx.clone() };
    own::figures(o, &ctx).into_iter().map(|figure| Chart { figure, at: String::new() }).collect()
}
