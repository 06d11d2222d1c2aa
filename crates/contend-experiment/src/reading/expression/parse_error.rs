//! The error when a text is not an expression.

use std::fmt;
use std::ops::Range;

/// Why a text is not an expression, with the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The error message.
    pub message: String,
    /// The remedy; may be empty.
    pub help: String,
    /// The wrong part of the text, in bytes.
    pub span: Range<usize>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.span.start)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

impl std::error::Error for ParseError {}

/// An error about the bytes `span`.
pub fn error(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> ParseError {
    ParseError { message: message.into(), help: help.into(), span }
}
