//! Text to tokens, and numbers with units.

use super::quantity::{NotAQuantity, nearest_unit};
use super::{Dimension, Number, Operator, ParseError, Quantity, Relation, error};
use std::ops::Range;

/// One token of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A number with its unit.
    Number(Number),
    /// Words joined by dots.
    Path(&'a str),
    /// The content of quotes.
    Text(&'a str),
    /// The content of brackets.
    Bracket(&'a str),
    /// `<` or another relation.
    Relation(Relation),
    /// `+` or another operator.
    Operator(Operator),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `=`
    Assign,
}

/// Parses a single number with its unit: `15ms`, `0.3Mbps`, `1%`, `42p`, `7`.
pub fn literal(text: &str) -> Option<Number> {
    let (n, len) = number(text, 0).ok()??;
    (len == text.len()).then_some(n)
}

/// The number at the start of `text` and its length, if there is one. `at` is the position of `text`, for errors.
fn number(text: &str, at: usize) -> Result<Option<(Number, usize)>, ParseError> {
    let digits = |from: usize| text.get(from..).map_or(0, |t| t.bytes().take_while(u8::is_ascii_digit).count());
    let whole = digits(0);
    let mut len = whole;
    if text.get(len..).is_some_and(|t| t.starts_with('.')) && digits(len + 1) > 0 {
        len += 1 + digits(len + 1);
    }
    if len == 0 {
        return Ok(None);
    }
    if text.get(len..).is_some_and(|t| t.starts_with(['e', 'E'])) {
        let sign = usize::from(text.get(len + 1..).is_some_and(|t| t.starts_with(['+', '-'])));
        let power = digits(len + 1 + sign);
        len += if power > 0 { 1 + sign + power } else { 0 };
    }
    let tail = text.get(len..).unwrap_or_default();
    let unit = if tail.starts_with('%') {
        "%"
    } else {
        tail.get(..tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len())).unwrap_or_default()
    };
    let end = len + unit.len();
    let (value, dimension) = match Quantity::parse(text.get(..end).unwrap_or_default()) {
        Ok(q) => (q.value, q.unit),
        Err(NotAQuantity::NoUnit(value)) => (value, Dimension::Number),
        Err(NotAQuantity::NoNumber) => {
            return Err(error(at..at + end, "this is not a number", "write `0.5`, `3` or `1e-3`"));
        }
        Err(NotAQuantity::NoSuchUnit(unit)) => {
            let help = nearest_unit(&unit, &Dimension::ALL).map_or_else(
                || "units are s ms us ns, bps kbps Mbps Gbps, B kB MB, p, m, %".to_owned(),
                |u| format!("did you mean `{u}`?"),
            );
            return Err(error(at + len..at + end, format!("there is no unit `{unit}`"), help));
        }
    };
    if !value.is_finite() {
        return Err(error(at..at + end, "this number is too large", "write one below 1e308"));
    }
    Ok(Some((Number { value, unit: dimension, text: text.get(..end).unwrap_or_default().to_owned() }, end)))
}

/// All tokens of `text` with their places.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, Range<usize>)>, ParseError> {
    let mut out: Vec<(Token<'_>, Range<usize>)> = vec![];
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|t| t.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let two = |short: Relation, long: Relation| {
            if rest.get(1..2) == Some("=") { (Token::Relation(long), 2) } else { (Token::Relation(short), 1) }
        };
        let (token, len) = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '+' => (Token::Operator(Operator::Add), 1),
            '-' => (Token::Operator(Operator::Subtract), 1),
            '*' => (Token::Operator(Operator::Multiply), 1),
            '/' => (Token::Operator(Operator::Divide), 1),
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            ',' => (Token::Comma, 1),
            '<' => two(Relation::Less, Relation::AtMost),
            '>' => two(Relation::Greater, Relation::AtLeast),
            '=' if rest.starts_with("==") => (Token::Relation(Relation::Equal), 2),
            '=' => (Token::Assign, 1),
            '!' if rest.starts_with("!=") => (Token::Relation(Relation::Unequal), 2),
            '"' => {
                let inside = rest.get(1..).and_then(|t| Some(&t[..t.find('"')?]));
                let Some(inside) = inside else {
                    return Err(error(at..text.len(), "this string has no closing quote", "write `\"` at its end"));
                };
                (Token::Text(inside), inside.len() + 2)
            }
            '[' => {
                let Some(len) = bracket(rest) else {
                    return Err(error(
                        at..text.len(),
                        "this bracket is not closed",
                        "write `]` after the name or the time window",
                    ));
                };
                (Token::Bracket(rest.get(1..len - 1).unwrap_or_default().trim()), len)
            }
            _ if c.is_ascii_digit() || c == '.' => match number(rest, at)? {
                Some((n, len)) => (Token::Number(n), len),
                None => return Err(error(at..at + 1, "a digit is missing here", "write `0.5`")),
            },
            _ if c.is_ascii_alphabetic() || c == '_' => {
                let path = path(rest);
                // `15 ms`: a unit with a space before it.
                let bare = out.last().filter(|(t, _)| matches!(t, Token::Number(n) if n.unit == Dimension::Number));
                if let (Some((Token::Number(n), span)), true) = (bare, Quantity::parse(&format!("1{path}")).is_ok()) {
                    return Err(error(
                        span.start..at + path.len(),
                        "there is a space between a number and its unit",
                        format!("write `{}{path}`", n.text),
                    ));
                }
                (Token::Path(path), path.len())
            }
            ']' => return Err(error(at..at + 1, "this bracket has no opening bracket", "remove it")),
            _ => {
                return Err(error(
                    at..at + c.len_utf8(),
                    format!("`{c}` is not allowed here"),
                    "use numbers with units, names, + - * / and parentheses",
                ));
            }
        };
        out.push((token, at..at + len));
        at += len;
    }
    Ok(out)
}

/// Length of the bracket at the start of `text`, including both ends. A `]` between quotes does not close it.
fn bracket(text: &str) -> Option<usize> {
    let mut quoted = false;
    let end = text.bytes().position(|b| {
        quoted ^= b == b'"';
        b == b']' && !quoted
    })?;
    Some(end + 1)
}

/// The words joined by single dots at the start of `text`.
fn path(text: &str) -> &str {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let bytes = text.as_bytes();
    let mut len = 0;
    while bytes.get(len).is_some_and(|b| word(*b) || (*b == b'.' && bytes.get(len + 1).is_some_and(|n| word(*n)))) {
        len += 1;
    }
    text.get(..len).unwrap_or(text)
}
