//! A small SVG writer for the report's figures. The plotters crate writes fixed colours into its SVG. Our SVG must
//! follow the reader's light or dark scheme, have hover texts, and be small. Colours are classes (`s0`, `s1`, ...) of
//! the style sheet.

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

/// A drawing with axes; marks are positioned by values, not by pixels.
#[derive(Debug)]
pub(super) struct Plot {
    x: Scale,
    y: Scale,
    labels: [String; 2],
    width: f64,
    height: f64,
    /// Width of the margins, which hold the texts of the vertical axis and of levels.
    left: f64,
    right: f64,
    /// True if the names along the horizontal axis are too long to stand side by side.
    slanted: bool,
    marks: String,
    /// Boxes of dots and tags: left, top, right, bottom. A tag keeps clear of them.
    taken: Vec<[f64; 4]>,
}

/// A value and its interval.
pub(super) type Extent = (f64, Option<(f64, f64)>);

const TOP: f64 = 18.0;
/// Distance of slanted names, at which they do not touch.
const SLANTED: f64 = 20.0;
/// Maximum number of characters of a name below the horizontal and beside the vertical axis.
const NAME: usize = 16;
const ROW: usize = 28;

/// About the width of a text on an axis; system fonts differ by some percent.
fn width(text: &str) -> f64 {
    6.8 * text.chars().count() as f64
}

impl Plot {
    /// An empty plot of the default size; the labels name quantity and unit.
    pub(super) fn new(x: Scale, x_label: &str, y: Scale, y_label: &str) -> Plot {
        let texts = y.ticks(5.0, 0.0).into_iter().map(|(_, text)| width(&shortened(&text, ROW)));
        Plot {
            left: 30.0 + texts.fold(20.0, f64::max),
            right: 14.0,
            x,
            y,
            labels: [x_label.into(), y_label.into()],
            width: 540.0,
            height: 290.0,
            slanted: false,
            marks: String::new(),
            taken: Vec::new(),
        }
        .fitted()
    }
    /// Makes the plot as wide as the page.
    pub(super) fn wide(mut self) -> Plot {
        self.width = 1100.0;
        self.fitted()
    }
    /// Makes room at the right for the names of levels.
    pub(super) fn levelled(mut self) -> Plot {
        self.right = 48.0;
        self.fitted()
    }
    /// Slants the names along the horizontal axis if they do not fit side by side.
    fn fitted(mut self) -> Plot {
        if let Scale::Names(names) = &self.x {
            let place = self.across() / names.len().max(1) as f64;
            let slanted = names.iter().any(|name| width(name) + 6.0 > place);
            self.height += 30.0 * (f64::from(u8::from(slanted)) - f64::from(u8::from(self.slanted)));
            self.slanted = slanted;
        }
        self
    }
    /// Width between the margins.
    fn across(&self) -> f64 {
        self.width - self.left - self.right
    }
    /// Changes the height.
    pub(super) fn tall(mut self, height: f64) -> Plot {
        self.height = height;
        self
    }
    fn bottom(&self) -> f64 {
        if self.slanted { 76.0 } else { 44.0 }
    }
    fn px(&self, v: f64) -> f64 {
        self.left + self.x.place(v) * self.across()
    }
    fn py(&self, v: f64) -> f64 {
        self.height - self.bottom() - self.y.place(v) * (self.height - self.bottom() - TOP)
    }

    /// A line through points; undefined values interrupt it.
    pub(super) fn line(&mut self, style: usize, points: &[(f64, f64)], title: &str) {
        let mut d = String::new();
        let mut last: Option<(i64, i64)> = None;
        for &(x, y) in points {
            if !self.x.shows(x) || !self.y.shows(y) {
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
        self.mark(style, title, &format!("<path class=\"line\" d=\"{d}\"/>"));
    }
    /// The area between two lines.
    pub(super) fn band(&mut self, style: usize, points: &[(f64, f64, f64)]) {
        let upper = points.iter().map(|p| (p.0, p.2));
        let lower = points.iter().rev().map(|p| (p.0, p.1));
        let corners: Vec<String> =
            upper.chain(lower).map(|(x, y)| format!("{:.1} {:.1}", self.px(x), self.py(y))).collect();
        if !corners.is_empty() {
            self.mark(style, "", &format!("<path class=\"band\" d=\"M{}Z\"/>", corners.join("L")));
        }
    }
    /// A dot with its error bars. The shape depends on the style, so that lines differ in more than colour.
    pub(super) fn dot(&mut self, style: usize, (x, across): Extent, (y, interval): Extent, title: &str) {
        if !self.x.shows(x) || !self.y.shows(y) {
            return;
        }
        let (cx, cy) = (self.px(x), self.py(y));
        self.taken.push([cx - 5.0, cy - 5.0, cx + 5.0, cy + 5.0]);
        let shape = match style % 4 {
            0 => format!("<circle class=\"dot\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\"/>"),
            1 => format!("<path class=\"dot\" d=\"M{:.1} {:.1}h7v7h-7Z\"/>", cx - 3.5, cy - 3.5),
            2 => format!("<path class=\"dot\" d=\"M{cx:.1} {:.1}l4.6 8h-9.2Z\"/>", cy - 5.0),
            _ => format!("<path class=\"dot\" d=\"M{cx:.1} {:.1}l5 5l-5 5l-5-5Z\"/>", cy - 5.0),
        };
        let whisker = interval.map(|ends| self.whisker(cx, ends, 3.0)).unwrap_or_default();
        let across = across.map(|ends| self.whisker_across(cy, ends, 3.0)).unwrap_or_default();
        self.mark(style, title, &(whisker + &across + &shape));
    }
    /// A word beside the dot at `x`, `y`, where it covers no dot and no other word; without such a place, nothing.
    pub(super) fn tag(&mut self, x: f64, y: f64, text: &str) {
        if text.is_empty() || !self.x.shows(x) || !self.y.shows(y) {
            return;
        }
        let (cx, cy, width) = (self.px(x), self.py(y), 7.0 * text.chars().count() as f64);
        let places = [(8.0, -5.0), (8.0, 15.0), (-8.0 - width, -5.0), (-8.0 - width, 15.0), (8.0, 4.0)];
        let boxes = places.map(|(dx, dy)| [cx + dx, cy + dy - 11.0, cx + dx + width, cy + dy + 3.0]);
        let inside = |b: &[f64; 4]| {
            b[0] >= self.left && b[2] <= self.width - self.right && b[1] >= 0.0 && b[3] <= self.height - self.bottom()
        };
        let apart = |b: &[f64; 4], c: &[f64; 4]| b[2] <= c[0] || c[2] <= b[0] || b[3] <= c[1] || c[3] <= b[1];
        let free = |b: &&[f64; 4]| inside(b) && self.taken.iter().all(|c| apart(b, c));
        let Some(found) = boxes.iter().find(free).copied() else { return };
        let _ = write!(
            self.marks,
            "<text class=\"note\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            found[0],
            found[3] - 3.0,
            escaped(text)
        );
        self.taken.push(found);
    }
    /// A bar from zero with its error bar: number `slot.0` of `slot.1` bars side by side at `x`.
    pub(super) fn bar(
        &mut self,
        style: usize,
        x: f64,
        slot: (usize, usize),
        (y, interval): (f64, Option<(f64, f64)>),
        title: &str,
    ) {
        let (number, all) = (slot.0 as f64, slot.1.max(1) as f64);
        let full = self.px(1.0) - self.px(0.0);
        let width = (full * 0.72 / all).clamp(1.0, 64.0);
        let cx = self.px(x) + (number - (all - 1.0) / 2.0) * width;
        let (end, zero) = (self.py(y), self.py(0.0));
        let top = end.min(zero);
        let whisker = interval.map(|ends| self.whisker(cx, ends, (width / 4.0).min(3.0))).unwrap_or_default();
        let shape = format!(
            "<rect class=\"bar\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            cx - width / 2.0,
            (zero - end).abs()
        );
        self.mark(style, title, &(shape + &whisker));
    }
    fn whisker(&self, cx: f64, (from, to): (f64, f64), cap: f64) -> String {
        let (low, high) = (self.py(from).min(self.height - self.bottom()), self.py(to).max(TOP - 6.0));
        let (left, wide) = (cx - cap, 2.0 * cap);
        format!(
            "<path class=\"err\" d=\"M{cx:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h{wide:.1}M{left:.1} \
                {high:.1}h{wide:.1}\"/>"
        )
    }
    fn whisker_across(&self, cy: f64, (from, to): (f64, f64), cap: f64) -> String {
        let (left, right) = (self.px(from).max(self.left), self.px(to).min(self.width - self.right));
        let (top, tall) = (cy - cap, 2.0 * cap);
        format!(
            "<path class=\"err\" d=\"M{left:.1} {cy:.1}H{right:.1}M{left:.1} {top:.1}v{tall:.1}M{right:.1} \
                {top:.1}v{tall:.1}\"/>"
        )
    }
    /// A piece of the horizontal bar in row `row`, between `from` and `to`, with an error bar at its end.
    pub(super) fn piece(
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
            "<rect class=\"bar piece\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            cy - half,
            (end - x).max(0.0),
            2.0 * half
        );
        if end - x > 7.0 * text.chars().count() as f64 + 6.0 {
            let _ = write!(
                shape,
                "<text class=\"in\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                (x + end) / 2.0,
                cy + 4.0,
                escaped(text)
            );
        }
        shape += &interval.map(|ends| self.whisker_across(cy, ends, 3.0)).unwrap_or_default();
        self.mark(style, title, &shape);
    }
    /// A shaded part of the horizontal axis with a word at its top.
    pub(super) fn shade(&mut self, from: f64, to: f64, text: &str) {
        let (a, b) = (self.px(from), self.px(to));
        let height = self.height - self.bottom() - TOP;
        let _ = write!(
            self.marks,
            "<rect class=\"cut\" x=\"{a:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
            b - a
        );
        let _ = write!(self.marks, "<text class=\"note\" x=\"{:.1}\" y=\"{}\">{}</text>", a, TOP - 5.0, escaped(text));
    }
    /// A dashed horizontal line with its words beside the plot, one on each line.
    pub(super) fn level(&mut self, y: f64, words: [&str; 2]) {
        let (at, left, right) = (self.py(y), self.left, self.width - self.right);
        let _ = write!(self.marks, "<path class=\"level\" d=\"M{left} {at:.1}H{}\"/>", right + 3.0);
        for (word, down) in words.iter().zip([-1.0, 11.0]) {
            let (x, y) = (right + 6.0, at + down);
            let _ = write!(self.marks, "<text class=\"note\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(word));
        }
    }
    /// A dashed vertical line.
    pub(super) fn upright(&mut self, x: f64) {
        let (at, floor) = (self.px(x), self.height - self.bottom());
        let _ = write!(self.marks, "<path class=\"level\" d=\"M{at:.1} {TOP}V{floor:.1}\"/>");
    }
    fn mark(&mut self, style: usize, title: &str, shape: &str) {
        let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(title)) };
        let _ = write!(self.marks, "<g class=\"{}\">{title}{shape}</g>", class(style));
    }

    /// The drawing as an `<svg>` element; `name` is its accessible name.
    pub(super) fn finish(self, name: &str) -> String {
        let (w, h) = (self.width, self.height);
        let (floor, left, right) = (h - self.bottom(), self.left, w - self.right);
        let mut out = format!("<svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{}\">", escaped(name));
        let mut grid = String::new();
        for (v, text) in self.y.ticks(5.0, 0.0) {
            let y = self.py(v);
            if !matches!(self.y, Scale::Names(_)) {
                let _ = write!(grid, "M{left} {y:.1}H{right}");
            }
            let _ = write!(
                out,
                "<text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                left - 7.0,
                y + 4.0,
                escaped(&shortened(&text, ROW))
            );
        }
        for (v, text) in self.x.ticks(7.0, if self.slanted { SLANTED / self.across() } else { 0.0 }) {
            let x = self.px(v);
            if self.slanted {
                let text = escaped(&shortened(&text, NAME));
                let _ = write!(
                    out,
                    "<text class=\"tick end\" transform=\"translate({:.1} {:.1}) rotate(-40)\">{text}</text>",
                    x + 4.0,
                    floor + 14.0
                );
            } else {
                let _ = write!(
                    out,
                    "<text class=\"tick mid\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                    floor + 17.0,
                    escaped(&text)
                );
            }
            let _ = write!(grid, "M{x:.1} {floor:.1}v4");
        }
        let _ =
            write!(out, "<path class=\"grid\" d=\"{grid}\"/><path class=\"axis\" d=\"M{left} {floor:.1}H{right}\"/>");
        let _ = write!(
            out,
            "<text class=\"label mid\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            (left + right) / 2.0,
            h - 6.0,
            escaped(&self.labels[0])
        );
        let _ = write!(
            out,
            "<text class=\"label mid\" transform=\"translate(13 {:.1}) rotate(-90)\">{}</text>",
            (TOP + floor) / 2.0,
            escaped(&shortened(&self.labels[1], ((floor - TOP) / width("m")) as usize))
        );
        out + &self.marks + "</svg>"
    }
}

/// Number of curve styles in the style sheet; further curves repeat them.
pub(super) const STYLES: usize = 16;
/// The first of three greys; they come after the curve styles.
pub(super) const GREY: usize = 16;

/// The CSS class of a style.
pub(super) fn class(style: usize) -> String {
    format!("s{}", if style < GREY + 3 { style } else { style % STYLES })
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
        assert_eq!(p.marks.matches('M').count(), 2);
    }
}
