//! Finds the place of a part of a text inside its quotes, for errors in expressions.

use super::error::{FileError, Source, Spot};
use crate::reading::expression::ParseError;
use std::ops::Range;

/// The error `e` about the expression `text`, the value at `site`. It marks the wrong part of the expression.
pub fn misread(source: &Source, site: &Spot, text: &str, e: &ParseError) -> FileError {
    FileError::new(source, &part(source, site, text, e.span.clone()), e.message.clone(), e.help.clone())
}

/// The place of the bytes `span` of `text`, the value at `site`; `site` itself if that part cannot be found.
pub fn part(source: &Source, site: &Spot, text: &str, span: Range<usize>) -> Spot {
    let inside = |written: Option<&str>, start: usize| {
        let written = written?;
        let offsets = offsets(written).filter(|o| o.len() == text.len() + 1).or_else(|| bare(written, text))?;
        let (from, to) = (offsets.get(span.start)?, offsets.get(span.end)?);
        Some(start + from..start + to)
    };
    let found = match site {
        Spot::File(at) => inside(source.text.get(at.clone()), at.start).map(Spot::File),
        Spot::Set(i, at) => {
            let set = source.sets.get(*i);
            inside(set.and_then(|s| s.get(at.clone())), at.start).map(|at| Spot::Set(*i, at))
        }
        Spot::None => None,
    };
    found.unwrap_or_else(|| site.clone())
}

/// For a TOML string as written, with quotes: the start of each byte of its text, and the end of its text. `None` if
/// `written` is not a string.
fn offsets(written: &str) -> Option<Vec<usize>> {
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| written.starts_with(q))?;
    let end = written.len().checked_sub(quotes.len()).filter(|end| *end >= quotes.len())?;
    let mut at = quotes.len();
    if quotes.len() == 3 {
        // TOML ignores a line break right after the opening quotes.
        let rest = written.get(at..end)?;
        at += if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    }
    let mut starts = vec![];
    while at < end {
        let rest = written.get(at..end)?;
        let (bytes, length) = match rest.strip_prefix('\\') {
            Some(escaped) if quotes.starts_with('"') => escape(escaped).map(|(bytes, length)| (bytes, length + 1))?,
            _ => rest.chars().next().map(|c| (c.len_utf8(), c.len_utf8()))?,
        };
        // Every byte of an escaped character begins at the escape.
        starts.extend((0..bytes).map(|i| if bytes == length { at + i } else { at }));
        at += length;
    }
    starts.push(end);
    Some(starts)
}

/// The number of text bytes of an escape, and the escape's length; both without the backslash.
fn escape(escaped: &str) -> Option<(usize, usize)> {
    let code = |digits: usize| {
        let number = u32::from_str_radix(escaped.get(1..=digits)?, 16).ok()?;
        Some((char::from_u32(number)?.len_utf8(), digits + 1))
    };
    match escaped.chars().next()? {
        'x' => code(2),
        'u' => code(4),
        'U' => code(8),
        // A backslash at the end of a line removes all following white space.
        c if c.is_ascii_whitespace() => Some((0, escaped.len() - escaped.trim_ascii_start().len())),
        c => Some((1, c.len_utf8())),
    }
}

/// Like [`offsets`], for a text without quotes on the command line: it must occur exactly once in `written`.
fn bare(written: &str, text: &str) -> Option<Vec<usize>> {
    let mut found = written.match_indices(text);
    let start = found.next().filter(|_| !text.is_empty() && found.next().is_none())?.0;
    Some((start..=start + text.len()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The marked part of `written`, the value of a key, for the part `wanted` of the text `text`.
    fn marked<'a>(written: &'a str, text: &str, wanted: &str) -> &'a str {
        let source = Source { path: "t.toml".into(), text: written.into(), sets: vec![] };
        let start = text.find(wanted).unwrap();
        match part(&source, &Spot::File(0..written.len()), text, start..start + wanted.len()) {
            Spot::File(at) => &written[at],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_part_of_a_text_is_found_in_every_form_of_string() {
        assert_eq!(marked("\"jain + godput\"", "jain + godput", "godput"), "godput");
        assert_eq!(marked("'a\\b godput'", "a\\b godput", "godput"), "godput");
        assert_eq!(marked(r#""point(\"k\") + godput""#, "point(\"k\") + godput", "godput"), "godput");
        assert_eq!(marked(r#""point(\"k\")""#, "point(\"k\")", "\"k\""), r#"\"k\""#);
        assert_eq!(marked("\"\"\"\n  jain\n+ jian\"\"\"", "  jain\n+ jian", "jian"), "jian");
        assert_eq!(marked("\"\"\"jain \\\n   + jian\"\"\"", "jain + jian", "jian"), "jian");
        assert_eq!(marked(r#""caf\u00e9 + jian""#, "café + jian", "jian"), "jian");
        assert_eq!(marked(" jain + jian", "jain + jian", "jian"), "jian");
    }

    #[test]
    fn a_part_that_is_not_found_leaves_the_whole_value() {
        assert_eq!(marked("[\"a\", \"a\"]", "a", "a"), "[\"a\", \"a\"]");
        assert_eq!(marked(r#""\q""#, "xyz", "y"), r#""\q""#);
    }
}
