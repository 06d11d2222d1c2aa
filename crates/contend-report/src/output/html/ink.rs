//! The looks of figures: styles of lines, and colours, dashes and fonts of files.

/// Number of curve styles in the style sheet; further curves repeat them.
pub(super) const STYLES: usize = 16;
/// The first of three greys; they come after the curve styles.
pub(super) const GREY: usize = 16;

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
    /// True for shades of grey, in which dashes and markers tell lines apart.
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

    /// The colour of bars of a style.
    fn fill(&self, style: usize) -> &'static str {
        const SHADES: [&str; 8] =
            ["#6b6b6b", "#d0d0d0", "#999999", "#f2f2f2", "#808080", "#b8b8b8", "#5a5a5a", "#e2e2e2"];
        if self.grey && style < GREY { SHADES[style % 8] } else { self.stroke(style) }
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

/// Where the looks of a mark are: in the style sheet of the page, or in its own attributes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ink<'a> {
    Page,
    File(&'a Paper),
}

impl Ink<'_> {
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
            "dot" if paper.grey && style / 4 % 2 == 1 => {
                format!("fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.3\"")
            }
            "dot" => format!("fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.8\""),
            "bar" | "bar piece" => {
                let faint = if !paper.grey && (8..GREY).contains(&style) { " fill-opacity=\"0.6\"" } else { "" };
                let width = if paper.grey || class == "bar piece" { 0.8 } else { 0.0 };
                format!("fill=\"{}\" stroke=\"{outline}\" stroke-width=\"{width}\"{faint}", paper.fill(style))
            }
            "err" => "fill=\"none\" stroke=\"#1b1d22\" stroke-width=\"1.2\"".into(),
            "level" => "fill=\"none\" stroke=\"#5c626d\" stroke-width=\"1\" stroke-dasharray=\"5 4\"".into(),
            "cut" => "fill=\"#5c626d\" fill-opacity=\"0.1\"".into(),
            "in" => {
                let dark = !paper.grey || ["#6b6b6b", "#737373", "#808080", "#5a5a5a"].contains(&paper.fill(style));
                let ink = if dark { "#ffffff" } else { "#000000" };
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
    fn files_have_the_colours_of_the_page() {
        let light: Vec<String> = COLOURS.iter().enumerate().map(|(i, c)| format!("--c{i}: {c};")).collect();
        assert!(include_str!("report.css").contains(&light.join(" ")));
    }
}
