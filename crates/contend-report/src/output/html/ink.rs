//! The looks of figures: styles of lines, and colours, dashes and fonts of files.

/// Number of curve styles in the style sheet; further curves repeat them.
pub(super) const STYLES: usize = 16;
/// The first of three greys; they come after the curve styles.
pub(super) const GREY: usize = 16;
/// Number of greys.
pub(super) const GREYS: usize = 3;

/// The CSS class of a style.
pub(super) fn class(style: usize) -> String {
    format!("s{}", if style < GREY + 3 { style } else { style % STYLES })
}

/// Size of the letters of an axis.
pub(super) const LETTER: f64 = 11.5;

/// The colours of curves: those of the style sheet on a light page.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#b85f93", "#c98a00", "#3f9fd6", "#24272d", "#8a7f00"];

/// How a file is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Paper {
    /// Width in points (1/72 inch); `None` for the figure's own.
    pub width_pt: Option<f64>,
    /// Height in points; `None` for the figure's own.
    pub height_pt: Option<f64>,
    /// Size of the letters in points.
    pub size_pt: f64,
    /// The font; empty for the usual one without serifs.
    pub font: String,
    /// True for shades of grey: dashes and markers tell lines apart, and hatching tells bars apart.
    pub grey: bool,
}

impl Default for Paper {
    fn default() -> Paper {
        Paper { width_pt: None, height_pt: None, size_pt: 8.0, font: String::new(), grey: false }
    }
}

impl Paper {
    pub(super) fn family(&self) -> String {
        let usual = "'DejaVu Sans', Verdana, Arial, Helvetica, sans-serif";
        if self.font.is_empty() { usual.to_owned() } else { format!("'{}', {usual}", self.font.replace('\'', "")) }
    }

    /// The colour of lines and dots of a style.
    fn stroke(&self, style: usize) -> &'static str {
        const SHADES: [&str; 8] =
            ["#000000", "#5a5a5a", "#000000", "#7a7a7a", "#333333", "#6a6a6a", "#000000", "#5a5a5a"];
        match style.checked_sub(GREY) {
            Some(grey @ 0..3) if self.grey => ["#737373", "#a3a3a3", "#c8c8c8"][grey],
            Some(grey @ 0..3) => ["#6e7480", "#989da6", "#c3c6cb"][grey],
            _ if self.grey => SHADES[style % 8],
            _ => COLOURS[style % 8],
        }
    }

    /// The fill of bars of a style: a colour, or in grey a pattern of [`hatching`].
    fn fill(&self, style: usize) -> String {
        match plain(style) {
            Some(shade) if self.grey => shade.to_owned(),
            None if self.grey && style < GREY => format!("url(#h{style})"),
            _ => self.stroke(style).to_owned(),
        }
    }

    /// The dashes of a line of a style.
    fn dashes(&self, style: usize) -> &'static str {
        const DASHES: [&str; 8] = ["", "7 3", "2 2.5", "9 3 2 3", "13 4", "5 2 1.5 2 1.5 2", "1 3.5", "12 2 3 2"];
        match style % STYLES {
            s if self.grey => DASHES[s % 8],
            0..8 => "",
            _ => "6 4",
        }
    }
}

/// The plain shade of bars of a style in grey, if it has one. Tiles of a pattern would show their seams.
fn plain(style: usize) -> Option<&'static str> {
    match style {
        0 => Some("#404040"),
        8 => Some("#f0f0f0"),
        _ => None,
    }
}

/// The pattern of bars of a style in grey: lines and dots, which differ also where a copy has lost its shades. Lines of
/// styles from 8 on are thick.
pub(super) fn hatching(style: usize) -> String {
    let lines = match style % 8 {
        1 => "M-1.5 1.5l3-3M0 6l6-6M4.5 7.5l3-3",
        2 => "M0 1.5h6M0 4.5h6",
        3 => "M-1.5 4.5l3 3M0 0l6 6M4.5-1.5l3 3",
        4 => "M0 6l6-6M0 0l6 6",
        5 => "M1.5 .75v1.5M4.5 3.75v1.5",
        6 => "M1.5 0v6M4.5 0v6",
        _ => "M3 0v6M0 3h6",
    };
    let width = match (style % 8, style / 8) {
        (5, 0) => 1.5,
        (5, _) => 2.6,
        (_, 0) => 0.8,
        _ => 1.7,
    };
    format!(
        "<pattern id=\"h{style}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" \
            height=\"6\" \
            fill=\"#ffffff\"/><path d=\"{lines}\" stroke=\"#000000\" stroke-width=\"{width}\" fill=\"none\"/></pattern>"
    )
}

/// Where the looks of a mark are: in the style sheet of the page, or in its own attributes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ink<'a> {
    Page,
    File(&'a Paper),
}

impl Ink<'_> {
    /// The ground of a text `across` wide within a bar, centred at `x` and `y`: letters on hatching are hard to read.
    pub(super) fn ground(self, across: f64, x: f64, y: f64) -> String {
        let Ink::File(paper) = self else { return String::new() };
        if !paper.grey {
            return String::new();
        }
        format!(
            "<rect fill=\"#ffffff\" x=\"{:.1}\" y=\"{:.1}\" width=\"{across:.1}\" height=\"14\"/>",
            x - across / 2.0,
            y - 7.0
        )
    }

    /// As [`Ink::ground`], but in colour too, where it has the colour of the bar.
    pub(super) fn ground_of(self, style: usize, across: f64, x: f64, y: f64) -> String {
        match self {
            Ink::File(paper) if !paper.grey => format!(
                "<rect fill=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{across:.1}\" height=\"14\"/>",
                paper.fill(style),
                x - across / 2.0,
                y - 7.0
            ),
            _ => self.ground(across, x, y),
        }
    }

    /// The attributes of a mark of this class and style.
    pub(super) fn of(self, class: &str, style: usize) -> String {
        let Ink::File(paper) = self else { return format!("class=\"{class}\"") };
        let colour = paper.stroke(style);
        let outline = if paper.grey { "#000000" } else { "#ffffff" };
        match class {
            "grid" => "stroke=\"#e0e0e0\" stroke-width=\"0.9\" fill=\"none\"".into(),
            "axis" => "stroke=\"#5c626d\" stroke-width=\"1\" fill=\"none\"".into(),
            "line" => {
                let dashes = match paper.dashes(style) {
                    "" => String::new(),
                    dashes => format!(" stroke-dasharray=\"{dashes}\""),
                };
                format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.7\" stroke-linejoin=\"round\"{dashes}")
            }
            "band" => format!("fill=\"{colour}\" fill-opacity=\"0.16\""),
            // Dashes repeat from style 8 on; the fill of the markers does not.
            "dot" if paper.grey && (style / 4 + style / 8) % 2 == 1 => {
                format!("fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.3\"")
            }
            "dot" => format!("fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.8\""),
            "bar" | "bar piece" => {
                let faint = if !paper.grey && (8..GREY).contains(&style) { " fill-opacity=\"0.6\"" } else { "" };
                let width = if paper.grey || class == "bar piece" { 0.8 } else { 0.0 };
                format!("fill=\"{}\" stroke=\"{outline}\" stroke-width=\"{width}\"{faint}", paper.fill(style))
            }
            "bare" => format!("fill=\"{}\"", paper.fill(style)),
            "disc" => "fill=\"#ffffff\" stroke=\"#5c626d\"".into(),
            "l-senses" => "fill=\"none\" stroke=\"#a9adb5\" stroke-dasharray=\"2 5\"".into(),
            "l-decodes" => "fill=\"none\" stroke=\"#6e7480\"".into(),
            "l-hidden" => {
                let colour = if paper.grey { "#000000" } else { "#b34700" };
                format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"7 4\"")
            }
            "l-wall" => "fill=\"none\" stroke=\"#1b1d22\" stroke-width=\"4\" stroke-linecap=\"round\" \
                stroke-opacity=\"0.55\""
                .into(),
            "mid" => format!(
                "text-anchor=\"middle\" font-size=\"{LETTER}\" fill=\"#1b1d22\" stroke=\"#ffffff\" stroke-width=\"3\" \
                    stroke-linejoin=\"round\" paint-order=\"stroke\""
            ),
            way if way.starts_with("way ") => {
                let dashes = match paper.dashes(style) {
                    "" => String::new(),
                    dashes => format!(" stroke-dasharray=\"{dashes}\""),
                };
                format!(
                    "fill=\"none\" stroke=\"{colour}\" stroke-width=\"3.4\" stroke-linejoin=\"round\" \
                        stroke-opacity=\"0.75\"{dashes}"
                )
            }
            ring if ring.starts_with("ring ") => {
                let colour = match (ring, paper.grey) {
                    ("ring r-sends", false) => "#d55e00",
                    ("ring r-receives", false) => "#0072b2",
                    ("ring r-hears", false) => "#3f9fd6",
                    ("ring r-blocked", false) => "#989da6",
                    (_, false) => "#e4e5e3",
                    ("ring r-sends", true) => "#000000",
                    ("ring r-receives", true) => "#606060",
                    ("ring r-hears", true) => "#9a9a9a",
                    ("ring r-blocked", true) => "#c8c8c8",
                    (_, true) => "#ececec",
                };
                format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"6\"")
            }
            "err" => "fill=\"none\" stroke=\"#1b1d22\" stroke-width=\"1.2\"".into(),
            "level" => "fill=\"none\" stroke=\"#5c626d\" stroke-width=\"1\" stroke-dasharray=\"5 4\"".into(),
            "cut" => "fill=\"#5c626d\" fill-opacity=\"0.1\"".into(),
            "in" => {
                // In grey the text has a white ground: see `Ink::ground`.
                let ink = if paper.grey { "#000000" } else { "#ffffff" };
                format!("text-anchor=\"middle\" font-size=\"11\" font-weight=\"bold\" fill=\"{ink}\"")
            }
            "note" => "font-size=\"11\" fill=\"#40454e\"".into(),
            text => {
                let size = if text.starts_with("label") { 12.0 } else { LETTER };
                let anchor = if text.ends_with("end") { "end" } else { "middle" };
                format!("text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"#1b1d22\"")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hatchings_of_all_styles_differ() {
        let looks = |style| hatching(style).split_once("width").map(|(_, rest)| rest.to_owned());
        let all: std::collections::BTreeSet<_> = (0..GREY).filter(|s| plain(*s).is_none()).map(looks).collect();
        assert_eq!(all.len(), GREY - 2);
    }

    #[test]
    fn files_have_the_colours_of_the_page() {
        let light: Vec<String> = COLOURS.iter().enumerate().map(|(i, c)| format!("--c{i}: {c};")).collect();
        assert!(include_str!("report.css").contains(&light.join(" ")));
    }
}
