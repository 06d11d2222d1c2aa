//! A small SVG writer for the report's figures. The plotters crate writes fixed colours into its SVG. Our SVG must
//! follow the reader's light or dark scheme, have hover texts, and be small. Colours are classes (`s0`, `s1`, ...) of
//! the style sheet.

use super::ink::{GREY, Ink, LETTER, Paper, STYLES, class, hatching};
use crate::output::table::significant;
use std::fmt::Write;

/// Escapes text for HTML and SVG.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The range and layout of an axis.
#[derive(Clone, Debug)]
pub(super) enum Scale {
    /// Linear from `.0` to `.1`.
    Linear(f64, f64),
    /// Logarithmic; both ends are above zero.
    Log(f64, f64),
    /// One place for each name.
    Names(Vec<String>),
}

impl Scale {
    /// From zero to the next tick above `max`.
    pub(super) fn from_zero(max: f64) -> Scale {
        let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
        let step = step(max, 5.0);
        Scale::Linear(0.0, libm::ceil(max / step - 1e-9) * step)
    }
    /// From the tick below `min` to the tick above `max`, including zero.
    pub(super) fn with_zero(min: f64, max: f64) -> Scale {
        if min.is_nan() || min >= 0.0 {
            return Scale::from_zero(max);
        }
        let max = max.max(0.0);
        let step = step(max - min, 5.0);
        Scale::Linear(libm::floor(min / step + 1e-9) * step, libm::ceil(max / step - 1e-9) * step)
    }
    /// Logarithmic from the 1, 2 or 5 times a power of ten below `low` to the one above `high`, which are above zero.
    pub(super) fn log(low: f64, high: f64) -> Scale {
        let power = |v: f64| libm::pow(10.0, libm::floor(libm::log10(v) + 1e-9));
        let below = |v: f64| [5.0, 2.0, 1.0].map(|s| s * power(v)).into_iter().find(|s| *s <= v * 1.000_001);
        let above = |v: f64| [1.0, 2.0, 5.0, 10.0].map(|s| s * power(v)).into_iter().find(|s| *s >= v * 0.999_999);
        match (low > 0.0 && high.is_finite()).then(|| below(low).zip(above(high))).flatten() {
            Some((a, b)) if a < b => Scale::Log(a, b),
            Some((a, _)) => Scale::Log(a / 2.0, a * 2.0),
            None => Scale::Log(1.0, 10.0),
        }
    }
    /// Linear from the tick below `low` to the tick above `high`; zero need not be on it.
    pub(super) fn around(low: f64, high: f64) -> Scale {
        if !(high - low).is_finite() {
            return Scale::Linear(0.0, 1.0);
        }
        let step = step((high - low).max(high.abs() * 1e-3), 6.0);
        let (a, b) = (libm::floor(low / step + 1e-9), libm::ceil(high / step - 1e-9));
        if a < b { Scale::Linear(a * step, b * step) } else { Scale::Linear((a - 1.0) * step, (a + 1.0) * step) }
    }
    /// The first and the last value of the axis.
    pub(super) fn ends(&self) -> (f64, f64) {
        match self {
            Scale::Linear(a, b) | Scale::Log(a, b) => (*a, *b),
            Scale::Names(names) => (0.0, names.len() as f64),
        }
    }
    /// True if the axis has a place for the value.
    pub(super) fn shows(&self, v: f64) -> bool {
        v.is_finite() && (v > 0.0 || !matches!(self, Scale::Log(..)))
    }
    /// Position of a value on the axis, from 0 to 1.
    fn place(&self, v: f64) -> f64 {
        match self {
            Scale::Linear(a, b) => (v - a) / (b - a),
            Scale::Log(a, b) => libm::log(v.max(*a) / a) / libm::log(b / a),
            Scale::Names(names) => (v + 0.5) / names.len().max(1) as f64,
        }
    }
    /// About `n` round values with their text; the scale may require fewer or more. Names have at least the distance
    /// `apart`, a share of the axis.
    fn ticks(&self, n: f64, apart: f64) -> Vec<(f64, String)> {
        match self {
            Scale::Linear(a, b) => {
                let step = step(b - a, n);
                let decimals = (-libm::floor(libm::log10(step) + 1e-9)).max(0.0) as usize;
                let first = libm::ceil(a / step - 1e-9) as i64;
                let last = libm::floor(b / step + 1e-9) as i64;
                (first..=last).map(|i| (i as f64 * step, format!("{:.decimals$}", i as f64 * step))).collect()
            }
            Scale::Log(a, b) => {
                let decades = libm::floor(libm::log10(*a)) as i32..=libm::ceil(libm::log10(*b)) as i32;
                let wide = b / a > 300.0;
                let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let all = decades.flat_map(|d| steps.iter().map(move |s| s * libm::pow(10.0, f64::from(d))));
                all.filter(|v| v >= a && v <= b).map(|v| (v, significant(v, 1))).collect()
            }
            Scale::Names(names) => {
                let every = libm::ceil(names.len() as f64 * apart).max(1.0) as usize;
                names.iter().enumerate().step_by(every).map(|(i, n)| (i as f64, n.clone())).collect()
            }
        }
    }
}

/// A step of 1, 2 or 5 times a power of ten that divides `range` into about `n` parts.
fn step(range: f64, n: f64) -> f64 {
    let raw = (range / n).abs().max(1e-12);
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    let lead = raw / power;
    power
        * if lead <= 1.0 {
            1.0
        } else if lead <= 2.0 {
            2.0
        } else if lead <= 5.0 {
            5.0
        } else {
            10.0
        }
}

/// A figure: axes with their labels, and marks that are positioned by values, not by pixels. The page and the files of
/// `contend plot` are drawn from the same plot: see [`Plot::on_page`] and [`Plot::in_file`].
#[derive(Clone, Debug)]
pub(super) struct Plot {
    /// Accessible name.
    name: String,
    x: Scale,
    y: Scale,
    labels: [String; 2],
    /// True if the plot is as wide as the page.
    wide: bool,
    /// The height of the plot on the page, if it has its own.
    tall: Option<f64>,
    /// True if there are names of levels at the right.
    levelled: bool,
    marks: Vec<Mark>,
}

/// A value and its interval.
pub(super) type Extent = (f64, Option<(f64, f64)>);

/// One mark of a plot. A `title` is the hover text, without which the mark is no place for the keyboard.
#[derive(Clone, Debug)]
enum Mark {
    Line { style: usize, points: Vec<(f64, f64)>, title: String },
    Band { style: usize, points: Vec<(f64, f64, f64)> },
    Dot { style: usize, x: Extent, y: Extent, title: String },
    Tag { x: f64, y: f64, text: String },
    Bar { style: usize, x: f64, slot: (usize, usize), y: Extent, title: String },
    Piece { style: usize, row: f64, ends: (f64, f64), interval: Option<(f64, f64)>, title: String, text: String },
    Shade { from: f64, to: f64, text: String },
    Level { y: f64, words: [String; 2] },
    Upright { x: f64 },
    Frame { style: usize, row: f64, ends: (f64, f64), parts: Vec<(f64, f64, bool)>, title: String, words: Vec<String> },
    Space { row: f64, ends: (f64, f64), word: String },
    Backoff { style: usize, row: f64, ends: (f64, f64), slots: u64, title: String },
}

impl Mark {
    /// The style of a mark of the legend.
    fn style(&self) -> Option<usize> {
        match self {
            Mark::Line { style, .. } | Mark::Dot { style, .. } | Mark::Bar { style, .. } => Some(*style),
            _ => None,
        }
    }
}

impl Plot {
    /// An empty plot of the default size; the labels name quantity and unit.
    pub(super) fn new(x: Scale, x_label: &str, y: Scale, y_label: &str) -> Plot {
        Plot {
            name: String::new(),
            x,
            y,
            labels: [x_label.into(), y_label.into()],
            wide: false,
            tall: None,
            levelled: false,
            marks: Vec::new(),
        }
    }
    /// Makes the plot as wide as the page.
    pub(super) fn wide(self) -> Plot {
        Plot { wide: true, ..self }
    }
    /// Makes room at the right for the names of levels.
    pub(super) fn levelled(self) -> Plot {
        Plot { levelled: true, ..self }
    }
    /// Changes the height on the page.
    pub(super) fn tall(self, height: f64) -> Plot {
        Plot { tall: Some(height), ..self }
    }
    /// Gives the plot its accessible name.
    pub(super) fn named(self, name: &str) -> Plot {
        Plot { name: name.to_owned(), ..self }
    }
    /// The labels of both axes.
    pub(super) fn labels(&self) -> &[String; 2] {
        &self.labels
    }
    /// Changes the labels of the axes; `None` keeps a label.
    pub(super) fn labelled(self, x: Option<&str>, y: Option<&str>) -> Plot {
        let [own_x, own_y] = self.labels;
        let labels = [x.map_or(own_x, str::to_owned), y.map_or(own_y, str::to_owned)];
        Plot { labels, ..self }
    }
    /// Makes the axes of numbers logarithmic. Bars become dots, because a bar begins at zero. An axis without a value
    /// above zero stays as it is.
    pub(super) fn logarithmic(mut self, log_x: bool, log_y: bool) -> Plot {
        let ends = |(mean, interval): &Extent| {
            let (low, high) = interval.unwrap_or((*mean, *mean));
            // An interval that reaches zero does not stretch a logarithmic axis.
            [if low < mean / 10.0 { *mean } else { low }, high]
        };
        let (mut across, mut up) = (vec![], vec![]);
        for mark in &self.marks {
            match mark {
                Mark::Line { points, .. } => {
                    across.extend(points.iter().map(|p| p.0));
                    up.extend(points.iter().map(|p| p.1));
                }
                Mark::Dot { x, y, .. } => {
                    across.extend(ends(x));
                    up.extend(ends(y));
                }
                Mark::Bar { y, .. } => up.extend(ends(y)),
                Mark::Piece { .. } => return self,
                _ => {}
            }
        }
        let scale = |values: &[f64]| {
            let above = || values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
            above().next()?;
            Some(Scale::log(above().fold(f64::INFINITY, f64::min), above().fold(0.0, f64::max)))
        };
        if log_x && !matches!(self.x, Scale::Names(_)) {
            self.x = scale(&across).unwrap_or(self.x);
        }
        if log_y && !matches!(self.y, Scale::Names(_)) {
            self.y = scale(&up).unwrap_or(self.y);
            for mark in &mut self.marks {
                if let Mark::Bar { style, x, slot, y, title } = mark {
                    let beside = 0.72 * ((slot.0 as f64 + 0.5) / slot.1.max(1) as f64 - 0.5);
                    *mark = Mark::Dot { style: *style, x: (*x + beside, None), y: *y, title: std::mem::take(title) };
                }
            }
        }
        self
    }

    /// A line through points; undefined values interrupt it.
    pub(super) fn line(&mut self, style: usize, points: &[(f64, f64)], title: &str) {
        self.marks.push(Mark::Line { style, points: points.to_vec(), title: title.to_owned() });
    }
    /// The area between two lines.
    pub(super) fn band(&mut self, style: usize, points: &[(f64, f64, f64)]) {
        if !points.is_empty() {
            self.marks.push(Mark::Band { style, points: points.to_vec() });
        }
    }
    /// A dot with its error bars. The shape depends on the style, so that lines differ in more than colour.
    pub(super) fn dot(&mut self, style: usize, x: Extent, y: Extent, title: &str) {
        self.marks.push(Mark::Dot { style, x, y, title: title.to_owned() });
    }
    /// A word beside the dot at `x`, `y`, where it covers no dot and no other word; without such a place, nothing.
    pub(super) fn tag(&mut self, x: f64, y: f64, text: &str) {
        if !text.is_empty() {
            self.marks.push(Mark::Tag { x, y, text: text.to_owned() });
        }
    }
    /// A bar from zero with its error bar: number `slot.0` of `slot.1` bars side by side at `x`.
    pub(super) fn bar(&mut self, style: usize, x: f64, slot: (usize, usize), y: Extent, title: &str) {
        self.marks.push(Mark::Bar { style, x, slot, y, title: title.to_owned() });
    }
    /// A piece of the horizontal bar in row `row`, between `from` and `to`, with an error bar at its end.
    pub(super) fn piece(
        &mut self,
        style: usize,
        row: f64,
        ends: (f64, f64),
        interval: Option<(f64, f64)>,
        title: &str,
        text: &str,
    ) {
        self.marks.push(Mark::Piece { style, row, ends, interval, title: title.to_owned(), text: text.to_owned() });
    }
    /// A shaded part of the horizontal axis with a word at its top.
    pub(super) fn shade(&mut self, from: f64, to: f64, text: &str) {
        self.marks.push(Mark::Shade { from, to, text: text.to_owned() });
    }
    /// A dashed horizontal line with its words beside the plot, one on each line.
    pub(super) fn level(&mut self, y: f64, words: [&str; 2]) {
        self.marks.push(Mark::Level { y, words: words.map(str::to_owned) });
    }
    /// A dashed vertical line.
    pub(super) fn upright(&mut self, x: f64) {
        self.marks.push(Mark::Upright { x });
    }

    /// A frame in row `row`, with its MPDUs and whether each was received, and the longest of `words` that fits.
    pub(super) fn frame(
        &mut self,
        style: usize,
        row: f64,
        ends: (f64, f64),
        parts: &[(f64, f64, bool)],
        title: &str,
        words: &[String],
    ) {
        let (parts, words) = (parts.to_vec(), words.to_vec());
        self.marks.push(Mark::Frame { style, row, ends, parts, title: title.to_owned(), words });
    }
    /// An inter-frame space in row `row`.
    pub(super) fn space(&mut self, row: f64, ends: (f64, f64), word: &str) {
        self.marks.push(Mark::Space { row, ends, word: word.to_owned() });
    }
    /// A backoff in row `row`, with its slots.
    pub(super) fn backoff(&mut self, style: usize, row: f64, ends: (f64, f64), slots: u64, title: &str) {
        if slots > 0 {
            self.marks.push(Mark::Backoff { style, row, ends, slots, title: title.to_owned() });
        }
    }

    /// The drawing as an `<svg>` element of the page; its style sheet has the colours.
    pub(super) fn on_page(&self) -> String {
        let width = if self.wide { 1100.0 } else { 540.0 };
        let mut drawing = Drawing::new(self, Ink::Page, width, 0.0);
        drawing.height = self.tall.unwrap_or(290.0 + if drawing.slanted { 30.0 } else { 0.0 });
        let open = format!(
            "<svg viewBox=\"0 0 {width} {}\" role=\"img\" aria-label=\"{}\">",
            drawing.height,
            escaped(&self.name)
        );
        open + &drawing.drawn() + "</svg>"
    }

    /// The drawing as an SVG file of its own, with `title` and `legend` above the axes.
    pub(super) fn in_file(&self, paper: &Paper, title: Option<&str>, legend: &[(usize, String)]) -> String {
        // A unit is the size of the letters divided by 11.5, so that all lengths follow the letters.
        let unit_pt = paper.size_pt / LETTER;
        let width_pt = paper.width_pt.unwrap_or(if self.wide { 482.0 } else { 340.0 });
        let width = width_pt / unit_pt;
        let legend = Legend::new(legend, width);
        let title_height = if title.is_some() { 20.0 } else { 0.0 };
        let mut drawing = Drawing::new(self, Ink::File(paper), width, title_height + legend.height());
        let own = self.tall.unwrap_or((width * 0.56).clamp(170.0, 330.0) + if drawing.slanted { 30.0 } else { 0.0 });
        drawing.height = paper.height_pt.map_or(own + drawing.top - TOP, |pt| pt / unit_pt);
        let height = drawing.height;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.2}pt\" height=\"{:.2}pt\" viewBox=\"0 0 {width:.1} \
                {height:.1}\" role=\"img\" aria-label=\"{}\" font-family=\"{}\">\n<rect width=\"{width:.1}\" \
                height=\"{height:.1}\" fill=\"#ffffff\"/>",
            width * unit_pt,
            height * unit_pt,
            escaped(&self.name),
            escaped(&paper.family()),
        );
        if let Some(title) = title {
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"15\" text-anchor=\"middle\" font-size=\"13\" font-weight=\"bold\" \
                    fill=\"#1b1d22\">{}</text>",
                width / 2.0,
                escaped(&shortened(title, (width / 8.6) as usize))
            );
        }
        let drawn = legend.drawn(&drawing, title_height) + &drawing.drawn();
        let used = (0..GREY).filter(|style| drawn.contains(&format!("url(#h{style})")));
        let patterns: String = used.map(hatching).collect();
        if !patterns.is_empty() {
            let _ = write!(out, "<defs>{patterns}</defs>");
        }
        out + &drawn + "</svg>\n"
    }
}

/// Height of a legend above figures that are `across_pt` wide together.
pub(super) fn legend_height_pt(legend: &[(usize, String)], across_pt: f64, paper: &Paper) -> f64 {
    let unit_pt = paper.size_pt / LETTER;
    Legend::new(legend, across_pt / unit_pt).height() * unit_pt
}

/// Files of one width as one file, in rows of `abreast`, with `title` and the legend of `plots` above them.
pub(super) fn side_by_side(
    files: &[String],
    abreast: usize,
    title: Option<&str>,
    (plots, legend): (&[Plot], &[(usize, String)]),
    paper: &Paper,
) -> String {
    let unit_pt = paper.size_pt / LETTER;
    let sizes: Vec<(f64, f64)> = files.iter().map(|file| size(file)).collect();
    let wide = sizes.first().map_or(0.0, |s| s.0) * abreast as f64;
    let mut top = if title.is_some() { 22.0 * unit_pt } else { 0.0 };
    let mut inner = String::new();
    if let Some(title) = title {
        let _ = write!(
            inner,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{:.2}\" font-weight=\"bold\" \
                fill=\"#1b1d22\">{}</text>",
            wide / 2.0,
            15.0 * unit_pt,
            13.0 * unit_pt,
            escaped(title)
        );
    }
    if !legend.is_empty() {
        let across = wide / unit_pt;
        let legend = Legend::new(legend, across);
        let mut samples = String::new();
        for (k, row) in legend.rows.iter().enumerate() {
            for entry in row {
                // A line that only one panel has is drawn as that panel draws it.
                let shows = |plot: &&Plot| plot.marks.iter().any(|m| m.style() == Some(entry.1));
                let Some(plot) = plots.iter().find(shows).or(plots.first()) else { continue };
                let drawing = Drawing::new(plot, Ink::File(paper), across, 0.0);
                samples += &legend.entry(&drawing, k, entry, top / unit_pt);
            }
        }
        let used = (0..GREY).filter(|style| samples.contains(&format!("url(#h{style})")));
        let patterns: String = used.map(hatching).collect();
        let _ = write!(inner, "<g transform=\"scale({unit_pt:.4})\"><defs>{patterns}</defs>{samples}</g>");
        top += legend.height() * unit_pt;
    }
    for (row, sizes) in files.chunks(abreast).zip(sizes.chunks(abreast)) {
        for (i, file) in row.iter().enumerate() {
            let (wide, tall) = sizes[i];
            let rest = file.split_once(" viewBox=").map_or("", |(_, rest)| rest.trim_end());
            let _ = write!(
                inner,
                "\n<svg x=\"{:.2}\" y=\"{top:.2}\" width=\"{wide:.2}\" height=\"{tall:.2}\" viewBox={rest}",
                wide * i as f64
            );
        }
        top += sizes.iter().map(|s| s.1).fold(0.0, f64::max);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.2}pt\" height=\"{top:.2}pt\" viewBox=\"0 0 {wide:.2} \
            {top:.2}\" role=\"img\" font-family=\"{}\">\n<rect width=\"{wide:.2}\" height=\"{top:.2}\" \
            fill=\"#ffffff\"/>{inner}\n</svg>\n",
        escaped(&paper.family())
    )
}

/// Width and height of a file of [`Plot::in_file`] in points.
fn size(file: &str) -> (f64, f64) {
    let of = |name: &str| file.split_once(name)?.1.split_once("pt\"")?.0.parse().ok();
    (of(" width=\"").unwrap_or(0.0), of(" height=\"").unwrap_or(0.0))
}

const TOP: f64 = 18.0;
/// The style of an MPDU that was not received.
const LOST: usize = 4;
/// Distance of slanted names, at which they do not touch.
const SLANTED: f64 = 20.0;
/// Maximum number of characters of a name below the horizontal and beside the vertical axis.
const NAME: usize = 16;
const ROW: usize = 28;

/// About the width of a text on an axis; system fonts differ by some percent.
pub(super) fn width(text: &str) -> f64 {
    6.8 * text.chars().count() as f64
}

/// The names of the lines above the axes of a file, in rows.
struct Legend<'a> {
    rows: Vec<Vec<(f64, usize, &'a str)>>,
}

/// Width of the sample before a name, and height of a row.
pub(super) const SAMPLE: f64 = 26.0;
const LINE: f64 = 16.0;

impl<'a> Legend<'a> {
    fn new(names: &'a [(usize, String)], across: f64) -> Legend<'a> {
        let mut rows: Vec<Vec<(f64, usize, &str)>> = vec![];
        let mut at = f64::INFINITY;
        for (style, name) in names {
            let needs = SAMPLE + 6.0 + width(name) + 12.0;
            if at + needs > across {
                at = 10.0;
                rows.push(vec![]);
            }
            if let Some(row) = rows.last_mut() {
                row.push((at, *style, name.as_str()));
            }
            at += needs;
        }
        Legend { rows }
    }

    fn height(&self) -> f64 {
        if self.rows.is_empty() { 0.0 } else { LINE * self.rows.len() as f64 + 4.0 }
    }

    fn drawn(&self, drawing: &Drawing, from: f64) -> String {
        let mut out = String::new();
        for (k, row) in self.rows.iter().enumerate() {
            out.extend(row.iter().map(|entry| self.entry(drawing, k, entry, from)));
        }
        out
    }

    /// One name with its sample, in row `k`.
    fn entry(&self, drawing: &Drawing, k: usize, &(x, style, name): &(f64, usize, &str), from: f64) -> String {
        let y = from + LINE * k as f64 + 11.0;
        let mut out = drawing.sample(style, x, y);
        let room = ((drawing.width - x - SAMPLE - 10.0) / width("m")) as usize;
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LETTER}\" fill=\"#1b1d22\">{}</text>",
            x + SAMPLE + 5.0,
            y + 4.0,
            escaped(&shortened(name, room.max(4)))
        );
        out
    }
}

/// A plot while it is drawn at some size.
struct Drawing<'a> {
    plot: &'a Plot,
    ink: Ink<'a>,
    width: f64,
    height: f64,
    /// Widths of the margins, which hold the texts of the vertical axis and of levels.
    left: f64,
    right: f64,
    top: f64,
    /// True if the names along the horizontal axis are too long to stand side by side.
    slanted: bool,
    marks: String,
    /// Boxes of dots and tags: left, top, right, bottom. A tag keeps clear of them.
    taken: Vec<[f64; 4]>,
}

impl<'a> Drawing<'a> {
    /// Without a height, and with `head` above the plot.
    fn new(plot: &'a Plot, ink: Ink<'a>, across: f64, head: f64) -> Drawing<'a> {
        let texts = plot.y.ticks(5.0, 0.0).into_iter().map(|(_, text)| width(&shortened(&text, ROW)));
        let right = if plot.levelled { 48.0 } else { 14.0 };
        let mut left = 30.0 + texts.fold(20.0, f64::max);
        let mut slanted = false;
        if let Scale::Names(names) = &plot.x {
            let place = (across - left - right) / names.len().max(1) as f64;
            slanted = names.iter().any(|name| width(name) + 6.0 > place);
            if let (true, Ink::File(_)) = (slanted, ink) {
                // Nothing reaches beyond the edge of a file: room for the slanted names at the left.
                let reach =
                    |(i, name): (usize, &String)| 0.78 * width(&shortened(name, NAME)) - (i as f64 + 0.5) * place;
                left = names.iter().enumerate().map(reach).fold(left, f64::max);
            }
        }
        let (width, top) = (across, TOP + head);
        Drawing { plot, ink, width, height: 0.0, left, right, top, slanted, marks: String::new(), taken: vec![] }
    }
    /// Width between the margins.
    fn across(&self) -> f64 {
        self.width - self.left - self.right
    }
    fn floor(&self) -> f64 {
        self.height - if self.slanted { 76.0 } else { 44.0 }
    }
    fn px(&self, v: f64) -> f64 {
        self.left + self.plot.x.place(v) * self.across()
    }
    fn py(&self, v: f64) -> f64 {
        self.floor() - self.plot.y.place(v) * (self.floor() - self.top)
    }
    fn shows(&self, x: f64, y: f64) -> bool {
        self.plot.x.shows(x) && self.plot.y.shows(y)
    }
    /// True if the lines of the file need markers to be told apart.
    fn marked(&self) -> bool {
        let lines = self.plot.marks.iter().filter(|m| matches!(m, Mark::Line { .. })).count();
        let dots = self.plot.marks.iter().any(|m| matches!(m, Mark::Dot { .. }));
        matches!(self.ink, Ink::File(Paper { grey: true, .. })) && lines > 1 && !dots
    }

    /// Line, marker or box of a style, as the legend shows it.
    fn sample(&self, style: usize, x: f64, y: f64) -> String {
        let of = |wanted: fn(&Mark) -> Option<usize>| self.plot.marks.iter().any(|m| wanted(m) == Some(style));
        let line = of(|m| if let Mark::Line { style, .. } = m { Some(*style % STYLES) } else { None });
        let dot = of(|m| if let Mark::Dot { style, .. } = m { Some(*style) } else { None });
        let mut out = String::new();
        if line {
            let _ = write!(out, "<path {} d=\"M{x:.1} {y:.1}h{SAMPLE}\"/>", self.ink.of("line", style));
        }
        if dot || line && self.marked() {
            out += &self.marker(style, x + SAMPLE / 2.0, y);
        }
        if !line && !dot {
            let (left, top) = (x + SAMPLE - 14.0, y - 5.0);
            let bar = self.ink.of("bar", style);
            let _ = write!(out, "<rect {bar} x=\"{left:.1}\" y=\"{top:.1}\" width=\"12\" height=\"10\"/>");
        }
        out
    }

    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { style, points, title } => self.line(*style, points, title),
            Mark::Band { style, points } => self.band(*style, points),
            Mark::Dot { style, x, y, title } => self.dot(*style, *x, *y, title),
            Mark::Tag { x, y, text } => self.tag(*x, *y, text),
            Mark::Bar { style, x, slot, y, title } => self.bar(*style, *x, *slot, *y, title),
            Mark::Piece { style, row, ends, interval, title, text } => {
                self.piece(*style, *row, *ends, *interval, title, text);
            }
            Mark::Shade { from, to, text } => self.shade(*from, *to, text),
            Mark::Level { y, words } => self.level(*y, words),
            Mark::Upright { x } => {
                let (at, floor, top) = (self.px(*x), self.floor(), self.top);
                let level = self.ink.of("level", 0);
                let _ = write!(self.marks, "<path {level} d=\"M{at:.1} {top}V{floor:.1}\"/>");
            }
            Mark::Frame { style, row, ends, parts, title, words } => {
                self.frame(*style, *row, *ends, parts, title, words);
            }
            Mark::Space { row, ends, word } => self.space(*row, *ends, word),
            Mark::Backoff { style, row, ends, slots, title } => self.backoff(*style, *row, *ends, *slots, title),
        }
    }
    /// Half the height of a frame.
    const FRAME: f64 = 10.0;
    /// Width of MPDUs from which on they have borders.
    const BORDERED: f64 = 4.0;
    /// Distance of words beside each other.
    const APART: f64 = 3.0;
    fn frame(
        &mut self,
        style: usize,
        row: f64,
        ends: (f64, f64),
        parts: &[(f64, f64, bool)],
        title: &str,
        words: &[String],
    ) {
        let (x, end, cy) = (self.px(ends.0), self.px(ends.1), self.py(row));
        let wide = (end - x).max(0.6);
        let (top, tall) = (cy - Self::FRAME, 2.0 * Self::FRAME);
        let rect = |look: &str, x: f64, wide: f64| {
            format!("<rect {look} x=\"{x:.2}\" y=\"{top:.1}\" width=\"{wide:.2}\" height=\"{tall:.1}\"/>")
        };
        let mut shape = rect(&self.ink.of("bar piece", style), x, wide);
        let parts: Vec<(f64, f64, bool)> =
            parts.iter().map(|(from, to, received)| (self.px(*from), self.px(*to), *received)).collect();
        // Borders of narrow MPDUs would fill the frame.
        let bordered = parts.iter().all(|(from, to, _)| to - from >= Self::BORDERED);
        let lost = if style == 0 { LOST } else { style };
        if bordered {
            for (from, to, received) in &parts {
                let look = self.ink.of("bar piece", if *received { style } else { lost });
                shape += &rect(&look, *from, to - from);
            }
        } else {
            // Those that were lost are drawn, neighbours as one.
            for run in parts.chunk_by(|a, b| a.2 == b.2).filter(|run| !run[0].2) {
                let (from, to) = (run[0].0, run[run.len() - 1].1);
                shape += &rect(&self.ink.of("bare", lost), from, to - from);
            }
        }
        self.taken.push([x, top, x + wide, top + tall]);
        let across = |word: &String| 7.0 * word.chars().count() as f64;
        let middle = x + wide / 2.0;
        match words.iter().find(|word| across(word) + 4.0 < wide) {
            Some(word) => {
                // MPDUs have lines between them, on which letters are hard to read.
                shape += &match parts.as_slice() {
                    [] => self.ink.ground(across(word) + 2.0, middle, cy),
                    _ => self.ink.ground_of(style, across(word) + 6.0, middle, cy),
                };
                let ink = self.ink.of("in", style);
                let _ = write!(shape, "<text {ink} x=\"{middle:.1}\" y=\"{:.1}\">{}</text>", cy + 4.0, escaped(word));
                self.group(style, title, &shape);
            }
            None => {
                self.group(style, title, &shape);
                if let Some(word) = words.last() {
                    self.above(middle, top, word);
                }
            }
        }
    }
    fn space(&mut self, row: f64, ends: (f64, f64), word: &str) {
        let (x, end, cy) = (self.px(ends.0), self.px(ends.1), self.py(row));
        if end - x < 0.8 {
            return;
        }
        let axis = self.ink.of("axis", 0);
        let _ = write!(
            self.marks,
            "<g><title>{word}</title><path {axis} d=\"M{x:.1} {cy:.1}H{end:.1}M{x:.1} {:.1}v6M{end:.1} {:.1}v6\"/></g>",
            cy - 3.0,
            cy - 3.0
        );
        let middle = (x + end) / 2.0;
        if !self.above(middle, cy - Self::FRAME, word) {
            self.above(middle, cy + Self::FRAME + 12.0, word);
        }
    }
    fn backoff(&mut self, style: usize, row: f64, ends: (f64, f64), slots: u64, title: &str) {
        let (x, end, floor) = (self.px(ends.0), self.px(ends.1), self.py(row) + Self::FRAME);
        let slot = (end - x) / slots as f64;
        let bar = self.ink.of("bar piece", style);
        // Slots that are narrower than that would be a blot.
        let boxes = if slot >= 2.5 { slots } else { 1 };
        let wide = (end - x) / boxes as f64;
        let mut shape = String::new();
        for i in 0..boxes {
            let _ = write!(
                shape,
                "<rect {bar} x=\"{:.2}\" y=\"{:.1}\" width=\"{wide:.2}\" height=\"{:.1}\"/>",
                x + wide * i as f64,
                floor - Self::FRAME,
                Self::FRAME
            );
        }
        self.group(style, &format!("backoff of {title}"), &shape);
        self.taken.push([x, floor - Self::FRAME, end, floor]);
        let middle = (x + end) / 2.0;
        if !self.above(middle, floor - Self::FRAME, title) {
            self.above(middle, floor - Self::FRAME, &slots.to_string());
        }
    }
    /// A word centred at `x` above `y`, where it covers nothing. False if there is no such place.
    fn above(&mut self, x: f64, y: f64, word: &str) -> bool {
        // Capitals are wide.
        let half = word.chars().map(|c| if c.is_ascii_uppercase() { 4.1 } else { 3.4 }).sum::<f64>();
        let own = [x - half, y - 11.0, x + half, y - 1.0];
        let apart = |c: &[f64; 4]| own[2] <= c[0] || c[2] <= own[0] || own[3] <= c[1] || c[3] <= own[1];
        let inside = own[0] >= self.left - 20.0 && own[2] <= self.width - 2.0;
        let fits = inside && self.taken.iter().all(apart);
        if fits {
            self.note(own[0], y - 3.0, word);
            self.taken.push([own[0] - Self::APART, own[1], own[2] + Self::APART, own[3]]);
        }
        fits
    }
    fn line(&mut self, style: usize, points: &[(f64, f64)], title: &str) {
        let mut d = String::new();
        let mut last: Option<(i64, i64)> = None;
        for &(x, y) in points {
            if !self.shows(x, y) {
                last = None;
                continue;
            }
            // Tenths of a pixel, relative to the previous point: half the bytes of absolute coordinates.
            let now = (libm::round(self.px(x) * 10.0) as i64, libm::round(self.py(y) * 10.0) as i64);
            match last {
                None => drop(write!(d, "M{} {}", tenth(now.0), tenth(now.1))),
                Some(was) if was == now => continue,
                Some(was) => drop(write!(d, "l{} {}", tenth(now.0 - was.0), tenth(now.1 - was.1))),
            }
            last = Some(now);
        }
        let mut shape = format!("<path {} d=\"{d}\"/>", self.ink.of("line", style));
        if self.marked() {
            // Six markers on each line, at other places than those of its neighbours.
            let (every, first) = (points.len().div_ceil(6).max(1), points.len() * (style % 4) / 24);
            for &(x, y) in points.iter().skip(first).step_by(every).filter(|(x, y)| self.shows(*x, *y)) {
                shape += &self.marker(style, self.px(x), self.py(y));
            }
        }
        self.group(style, title, &shape);
    }
    fn band(&mut self, style: usize, points: &[(f64, f64, f64)]) {
        let upper = points.iter().map(|p| (p.0, p.2));
        let lower = points.iter().rev().map(|p| (p.0, p.1));
        let corners: Vec<String> =
            upper.chain(lower).map(|(x, y)| format!("{:.1} {:.1}", self.px(x), self.py(y))).collect();
        self.group(style, "", &format!("<path {} d=\"M{}Z\"/>", self.ink.of("band", style), corners.join("L")));
    }
    fn marker(&self, style: usize, cx: f64, cy: f64) -> String {
        let dot = self.ink.of("dot", style);
        match style % 4 {
            0 => format!("<circle {dot} cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\"/>"),
            1 => format!("<path {dot} d=\"M{:.1} {:.1}h7v7h-7Z\"/>", cx - 3.5, cy - 3.5),
            2 => format!("<path {dot} d=\"M{cx:.1} {:.1}l4.6 8h-9.2Z\"/>", cy - 5.0),
            _ => format!("<path {dot} d=\"M{cx:.1} {:.1}l5 5l-5 5l-5-5Z\"/>", cy - 5.0),
        }
    }
    fn dot(&mut self, style: usize, (x, across): Extent, (y, interval): Extent, title: &str) {
        if !self.shows(x, y) {
            return;
        }
        let (cx, cy) = (self.px(x), self.py(y));
        self.taken.push([cx - 5.0, cy - 5.0, cx + 5.0, cy + 5.0]);
        let whisker = interval.map(|ends| self.whisker(cx, ends, 3.0)).unwrap_or_default();
        let across = across.map(|ends| self.whisker_across(cy, ends, 3.0)).unwrap_or_default();
        let shape = self.marker(style, cx, cy);
        self.group(style, title, &(whisker + &across + &shape));
    }
    fn tag(&mut self, x: f64, y: f64, text: &str) {
        if !self.shows(x, y) {
            return;
        }
        let (cx, cy, width) = (self.px(x), self.py(y), 7.0 * text.chars().count() as f64);
        let places = [(8.0, -5.0), (8.0, 15.0), (-8.0 - width, -5.0), (-8.0 - width, 15.0), (8.0, 4.0)];
        let boxes = places.map(|(dx, dy)| [cx + dx, cy + dy - 11.0, cx + dx + width, cy + dy + 3.0]);
        let inside = |b: &[f64; 4]| {
            b[0] >= self.left && b[2] <= self.width - self.right && b[1] >= self.top - TOP && b[3] <= self.floor()
        };
        let apart = |b: &[f64; 4], c: &[f64; 4]| b[2] <= c[0] || c[2] <= b[0] || b[3] <= c[1] || c[3] <= b[1];
        let free = |b: &&[f64; 4]| inside(b) && self.taken.iter().all(|c| apart(b, c));
        let Some(found) = boxes.iter().find(free).copied() else { return };
        self.note(found[0], found[3] - 3.0, text);
        self.taken.push(found);
    }
    fn note(&mut self, x: f64, y: f64, text: &str) {
        let note = self.ink.of("note", 0);
        let _ = write!(self.marks, "<text {note} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
    }
    fn bar(&mut self, style: usize, x: f64, slot: (usize, usize), (y, interval): Extent, title: &str) {
        let (number, all) = (slot.0 as f64, slot.1.max(1) as f64);
        let full = self.px(1.0) - self.px(0.0);
        let width = (full * 0.72 / all).clamp(1.0, 64.0);
        let cx = self.px(x) + (number - (all - 1.0) / 2.0) * width;
        let (end, zero) = (self.py(y), self.py(0.0));
        let top = end.min(zero);
        let whisker = interval.map(|ends| self.whisker(cx, ends, (width / 4.0).min(3.0))).unwrap_or_default();
        let shape = format!(
            "<rect {} x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            self.ink.of("bar", style),
            cx - width / 2.0,
            (zero - end).abs()
        );
        self.group(style, title, &(shape + &whisker));
    }
    fn whisker(&self, cx: f64, (from, to): (f64, f64), cap: f64) -> String {
        let (low, high) = (self.py(from).min(self.floor()), self.py(to).max(self.top - 6.0));
        let (left, wide) = (cx - cap, 2.0 * cap);
        format!(
            "<path {} d=\"M{cx:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h{wide:.1}M{left:.1} \
                {high:.1}h{wide:.1}\"/>",
            self.ink.of("err", 0)
        )
    }
    fn whisker_across(&self, cy: f64, (from, to): (f64, f64), cap: f64) -> String {
        let (left, right) = (self.px(from).max(self.left), self.px(to).min(self.width - self.right));
        let (top, tall) = (cy - cap, 2.0 * cap);
        format!(
            "<path {} d=\"M{left:.1} {cy:.1}H{right:.1}M{left:.1} {top:.1}v{tall:.1}M{right:.1} \
                {top:.1}v{tall:.1}\"/>",
            self.ink.of("err", 0)
        )
    }
    fn piece(
        &mut self,
        style: usize,
        row: f64,
        (from, to): (f64, f64),
        interval: Option<(f64, f64)>,
        title: &str,
        text: &str,
    ) {
        let half = ((self.py(0.0) - self.py(1.0)).abs() * 0.32).min(22.0);
        let (x, end, cy) = (self.px(from), self.px(to), self.py(row));
        let mut shape = format!(
            "<rect {} x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            self.ink.of("bar piece", style),
            cy - half,
            (end - x).max(0.0),
            2.0 * half
        );
        if end - x > 7.0 * text.chars().count() as f64 + 6.0 {
            shape += &self.ink.ground(7.0 * text.chars().count() as f64 + 2.0, (x + end) / 2.0, cy);
            let _ = write!(
                shape,
                "<text {} x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                self.ink.of("in", style),
                (x + end) / 2.0,
                cy + 4.0,
                escaped(text)
            );
        }
        shape += &interval.map(|ends| self.whisker_across(cy, ends, 3.0)).unwrap_or_default();
        self.group(style, title, &shape);
    }
    fn shade(&mut self, from: f64, to: f64, text: &str) {
        let (a, b) = (self.px(from), self.px(to));
        let height = self.floor() - self.top;
        let _ = write!(
            self.marks,
            "<rect {} x=\"{a:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
            self.ink.of("cut", 0),
            self.top,
            b - a
        );
        self.note(a, self.top - 5.0, text);
    }
    fn level(&mut self, y: f64, words: &[String; 2]) {
        let (at, left, right) = (self.py(y), self.left, self.width - self.right);
        let level = self.ink.of("level", 0);
        let _ = write!(self.marks, "<path {level} d=\"M{left} {at:.1}H{}\"/>", right + 3.0);
        for (word, down) in words.iter().zip([-1.0, 11.0]) {
            self.note(right + 6.0, at + down, word);
        }
    }
    fn group(&mut self, style: usize, title: &str, shape: &str) {
        let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(title)) };
        let open = if let Ink::Page = self.ink { format!("<g class=\"{}\">", class(style)) } else { "<g>".into() };
        let _ = write!(self.marks, "{open}{title}{shape}</g>");
    }

    /// Axes and marks.
    fn drawn(mut self) -> String {
        let (floor, left, right) = (self.floor(), self.left, self.width - self.right);
        let mut out = String::new();
        let mut grid = String::new();
        for (v, text) in self.plot.y.ticks(5.0, 0.0) {
            let y = self.py(v);
            if !matches!(self.plot.y, Scale::Names(_)) {
                let _ = write!(grid, "M{left} {y:.1}H{right}");
            }
            let _ = write!(
                out,
                "<text {} x=\"{}\" y=\"{:.1}\">{}</text>",
                self.ink.of("tick end", 0),
                left - 7.0,
                y + 4.0,
                escaped(&shortened(&text, ROW))
            );
        }
        let ticks = (self.across() / 60.0).min(7.0);
        for (v, text) in self.plot.x.ticks(ticks, if self.slanted { SLANTED / self.across() } else { 0.0 }) {
            let x = self.px(v);
            if self.slanted {
                let text = escaped(&shortened(&text, NAME));
                let _ = write!(
                    out,
                    "<text {} transform=\"translate({:.1} {:.1}) rotate(-40)\">{text}</text>",
                    self.ink.of("tick end", 0),
                    x + 4.0,
                    floor + 14.0
                );
            } else {
                let _ = write!(
                    out,
                    "<text {} x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                    self.ink.of("tick mid", 0),
                    floor + 17.0,
                    escaped(&text)
                );
            }
            let _ = write!(grid, "M{x:.1} {floor:.1}v4");
        }
        let [grid_ink, axis, label] = ["grid", "axis", "label mid"].map(|class| self.ink.of(class, 0));
        let _ = write!(out, "<path {grid_ink} d=\"{grid}\"/><path {axis} d=\"M{left} {floor:.1}H{right}\"/>");
        let [x_label, y_label] = &self.plot.labels;
        let _ = write!(
            out,
            "<text {label} x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            (left + right) / 2.0,
            self.height - 6.0,
            escaped(x_label)
        );
        // A label that is longer than the axis may use the height of the file.
        let (middle, room) = match self.ink {
            Ink::File(_) if width(y_label) > floor - self.top => (self.height / 2.0, self.height - 8.0),
            _ => ((self.top + floor) / 2.0, floor - self.top),
        };
        let _ = write!(
            out,
            "<text {label} transform=\"translate(13 {middle:.1}) rotate(-90)\">{}</text>",
            escaped(&shortened(y_label, (room / width("m")) as usize))
        );
        for mark in &self.plot.marks {
            self.mark(mark);
        }
        out + &self.marks
    }
}

/// Tenths as a number without a trailing zero.
fn tenth(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let (whole, tenth) = (n.abs() / 10, n.abs() % 10);
    if tenth == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{tenth}") }
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_with_the_digits_they_need() {
        let text = |s: Scale| s.ticks(5.0, 0.0).into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ");
        assert_eq!(text(Scale::from_zero(9.3)), "0 2 4 6 8 10");
        assert_eq!(text(Scale::Linear(0.0, 1.0)), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(text(Scale::Log(3.0, 120.0)), "5 10 20 50 100");
        assert_eq!(text(Scale::log(3.0, 120.0)), "2 5 10 20 50 100 200");
        assert_eq!(text(Scale::log(0.01, 1000.0)), "0.01 0.1 1 10 100 1000");
        assert_eq!(text(Scale::log(2.0, 2.0)), "1 2");
        assert_eq!(text(Scale::log(f64::INFINITY, f64::NEG_INFINITY)), "1 2 5 10", "no value");
        assert_eq!(text(Scale::around(21.3, 24.4)), "21 22 23 24 25");
        assert_eq!(text(Scale::around(5.0, 5.0)), "4.9990 4.9995 5.0000 5.0005 5.0010");
        assert_eq!(text(Scale::from_zero(f64::NAN)), "0.0 0.2 0.4 0.6 0.8 1.0");
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("<b>\"&\"</b>"), "&lt;b&gt;&quot;&amp;&quot;&lt;/b&gt;");
    }

    #[test]
    fn a_line_is_broken_at_undefined_values() {
        let mut p = Plot::new(Scale::Linear(0.0, 4.0), "", Scale::Linear(0.0, 1.0), "");
        p.line(0, &[(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 0.0), (4.0, 1.0)], "");
        let page = p.on_page();
        let line = page.split("class=\"line\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(line.matches('M').count(), 2);
    }

    fn bars_and_a_line() -> Plot {
        let names = ["down.number.ten", "up"].map(String::from).to_vec();
        let mut p = Plot::new(Scale::Names(names), "flow", Scale::from_zero(10.0), "goodput [Mb/s]").named("Flows");
        p.bar(0, 0.0, (0, 1), (8.0, Some((7.0, 9.0))), "down.1\n8 ± 1");
        p.bar(1, 1.0, (0, 1), (0.5, Some((0.0, 1.0))), "up.1\n0.5 ± 0.5");
        p
    }

    /// The values of an attribute of the elements that begin with `element`.
    fn values(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
        let of = |e: &str| e.split(&format!(" {attribute}=\"")).nth(1)?.split('"').next()?.parse().ok();
        svg.split(element).skip(1).map(|e| e.split('>').next().unwrap()).filter_map(of).collect()
    }

    #[test]
    fn page_and_file_are_of_one_model() {
        let p = bars_and_a_line();
        let (page, file) = (p.on_page(), p.in_file(&Paper::default(), None, &[]));
        for svg in [&page, &file] {
            assert_eq!(
                (svg.matches("<title>").count(), svg.matches("<rect").count()),
                (2, if svg == &page { 2 } else { 3 })
            );
        }
        assert!(page.contains("class=\"bar\"") && !page.contains('#'), "{page}");
        assert!(!file.contains("class=") && file.contains("#0072b2"), "{file}");
    }

    #[test]
    fn nothing_of_a_narrow_file_is_beyond_its_edge() {
        let legend = [(0, "a name of many characters, longer than the figure is wide".into()), (1, "up".into())];
        for width_pt in [90.0, 150.0, 240.0, 480.0] {
            let paper = Paper { width_pt: Some(width_pt), ..Paper::default() };
            let svg = bars_and_a_line().in_file(&paper, Some("A title that is too long for a narrow figure"), &legend);
            let across = width_pt * LETTER / 8.0;
            for x in values(&svg, "<rect", "x").into_iter().chain(values(&svg, "<text", "x")) {
                assert!((0.0..=across).contains(&x), "{x} of {across} in {svg}");
            }
            let height = values(&svg, "<rect", "height")[0];
            assert!(values(&svg, "<text", "y").into_iter().all(|y| (0.0..=height).contains(&y)), "{svg}");
        }
    }

    #[test]
    fn a_logarithmic_axis_has_dots_where_bars_were() {
        let svg = bars_and_a_line().logarithmic(true, true).in_file(&Paper::default(), None, &[]);
        assert!(svg.contains("<circle") && svg.contains(">0.5</text>"), "{svg}");
        assert_eq!(svg.matches("<rect").count(), 1, "only the paper: {svg}");
    }

    #[test]
    fn grey_lines_differ_by_dashes_and_markers() {
        let mut p = Plot::new(Scale::Linear(0.0, 9.0), "time [s]", Scale::from_zero(9.0), "y");
        for style in 0..8 {
            p.line(style, &(0..10).map(|i| (f64::from(i), style as f64)).collect::<Vec<_>>(), "");
        }
        let svg = p.in_file(&Paper { grey: true, ..Paper::default() }, None, &[]);
        let looks: std::collections::BTreeSet<&str> =
            svg.split("<g>").skip(1).map(|g| g.split(" d=").next().unwrap()).collect();
        assert_eq!(looks.len(), 8, "{looks:?}");
        assert!(svg.matches("<circle").count() > 4 && !svg.contains("#0072b2"), "{svg}");
    }
}
