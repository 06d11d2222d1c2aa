//! SVG as PNG and as PDF, with the fonts of this machine.

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;
use svg2pdf::{ConversionOptions, PageOptions};

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine has no font at all, so a picture would have no letters.
    #[error("this machine has no fonts")]
    NoFonts,
    /// The machine lacks the font.
    #[error("this machine has no font {0:?}")]
    NoSuchFont(String),
    /// The picture has more pixels than memory should hold, or none.
    #[error("a picture of {0} x {1} pixels is not possible")]
    Size(u32, u32),
    /// A library failed.
    #[error("the figure cannot be converted: {0}")]
    Library(String),
}

/// Maximum number of pixels in each direction.
const PIXELS: u32 = 10_000;

/// `svg` with its letters from the fonts of this machine; `font` (may be empty) must be one of them.
fn tree(svg: &str, font: &str) -> Result<Tree, Error> {
    let mut options = Options { dpi: 72.0, ..Options::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_system_fonts();
    let families = || fonts.faces().flat_map(|face| &face.families).map(|(name, _)| name.as_str());
    if !font.is_empty() && !families().any(|name| name.eq_ignore_ascii_case(font)) {
        return Err(Error::NoSuchFont(font.to_owned()));
    }
    let usual = ["DejaVu Sans", "Verdana", "Arial", "Helvetica", "Liberation Sans", "Noto Sans"];
    let found = usual.into_iter().find(|name| families().any(|family| family == *name)).map(str::to_owned);
    let Some(sans) = found.or_else(|| families().next().map(str::to_owned)) else { return Err(Error::NoFonts) };
    fonts.set_sans_serif_family(&sans);
    options.font_family = sans;
    Tree::from_str(svg, &options).map_err(|err| Error::Library(err.to_string()))
}

/// `svg` as a PNG of `dpi` pixels for each inch.
///
/// # Errors
/// When the machine lacks the font, or when the picture would be too large.
pub fn png(svg: &str, font: &str, dpi: f64) -> Result<Vec<u8>, Error> {
    let tree = tree(svg, font)?;
    // A length in the file is in points.
    let scale = (dpi / 72.0) as f32;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|pt| (pt * scale).round() as u32);
    let possible = width.max(height) <= PIXELS;
    let mut drawn = possible.then(|| Pixmap::new(width, height)).flatten().ok_or(Error::Size(width, height))?;
    drawn.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut drawn.as_mut());
    drawn.encode_png().map_err(|err| Error::Library(err.to_string()))
}

/// `svg` as a PDF of one page; letters stay text.
///
/// # Errors
/// When the machine lacks the font.
pub fn pdf(svg: &str, font: &str) -> Result<Vec<u8>, Error> {
    let tree = tree(svg, font)?;
    let page = PageOptions { dpi: 72.0 };
    svg2pdf::to_pdf(&tree, ConversionOptions::default(), page).map_err(|err| Error::Library(err.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"72pt\" height=\"36pt\" viewBox=\"0 0 144 72\" \
        font-family=\"sans-serif\"><rect width=\"144\" height=\"72\" fill=\"#0072b2\"/><text x=\"9\" y=\"50\" \
        font-size=\"40\">m</text></svg>";

    #[test]
    fn a_picture_has_the_size_of_its_file_and_an_unknown_font_is_refused() {
        let png = match png(SVG, "", 300.0) {
            Err(Error::NoFonts) => return,
            png => png.unwrap(),
        };
        let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((size(16), size(20)), (300, 150));
        let pdf = pdf(SVG, "").unwrap();
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.starts_with("%PDF") && text.contains("[0 0 72 36]") && text.contains("/Font"), "{text}");
        assert!(matches!(super::png(SVG, "No Such Font", 300.0), Err(Error::NoSuchFont(_))));
        assert!(matches!(super::png(SVG, "", 1e6), Err(Error::Size(..))));
    }
}
