//! Text to a syntax tree: a Pratt parser. Each node knows its place in the text; names have no meaning yet.

use super::token::{Token, tokens};
use super::{Number, Operator, ParseError, Relation, error};
use std::ops::Range;

/// Maximum length of a text in bytes.
const MAX_BYTES: usize = 4_096;
/// Maximum number of parts (numbers, names, operators, calls) of an expression.
const MAX_PARTS: usize = 256;
/// Maximum nesting of parentheses, signs and calls.
const MAX_DEPTH: usize = 48;

/// An expression with its place in the text.
#[derive(Clone, Debug)]
pub struct Syntax<'a> {
    /// The kind of expression.
    pub part: Part<'a>,
    /// The place in bytes.
    pub span: Range<usize>,
}

/// The kind of an expression, with its parts.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// `0.3Mbps`
    Number(Number),
    /// `"flow.1.count"`
    Text(&'a str),
    /// `goodput.up[10s..15s]`: words joined by dots, then brackets.
    Name {
        /// The words with their dots.
        path: &'a str,
        /// The brackets after the words.
        brackets: Vec<Bracket<'a>>,
    },
    /// `-x`
    Minus(Box<Syntax<'a>>),
    /// `x + y` or another operator.
    Binary(Operator, Box<Syntax<'a>>, Box<Syntax<'a>>),
    /// `x < y` or another relation; only allowed as the whole text or as an argument.
    Comparison {
        /// The left side.
        left: Box<Syntax<'a>>,
        /// The relation.
        relation: Relation,
        /// Place of the relation.
        relation_span: Range<usize>,
        /// The right side.
        right: Box<Syntax<'a>>,
    },
    /// `name(x, p = y)`
    Call {
        /// Name of the function.
        name: &'a str,
        /// Place of the name.
        name_span: Range<usize>,
        /// The arguments.
        arguments: Vec<Argument<'a>>,
        /// Place of the closing parenthesis.
        close: Range<usize>,
    },
}

/// A pair of brackets with its content.
#[derive(Clone, Debug)]
pub struct Bracket<'a> {
    /// The content.
    pub inside: &'a str,
    /// Place of the brackets and their content.
    pub span: Range<usize>,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument<'a> {
    /// The parameter's name and its place, if the argument is named.
    pub name: Option<(&'a str, Range<usize>)>,
    /// The value.
    pub value: Syntax<'a>,
    /// Place of the comma or parenthesis after the argument.
    pub end: Range<usize>,
}

impl Syntax<'_> {
    /// True if the expression is a zero, which fits any unit.
    pub fn is_zero(&self) -> bool {
        matches!(&self.part, Part::Number(n) if n.value == 0.0)
    }
}

/// Parses `text`. `value` describes the values that are allowed, for the remedy when a value is missing.
///
/// # Errors
/// When the text is not an expression; with the place and the remedy.
pub fn parse<'a>(text: &'a str, value: &'a str) -> Result<Syntax<'a>, ParseError> {
    if text.len() > MAX_BYTES {
        let message = format!("the expression is longer than {MAX_BYTES} bytes");
        return Err(error(0..text.len(), message, "split it into several"));
    }
    let tokens = tokens(text)?;
    if tokens.len() > 2 * MAX_PARTS {
        let message = format!("the expression has more than {MAX_PARTS} parts");
        return Err(error(0..text.len(), message, "split it into several"));
    }
    let mut p = Parser { tokens, at: 0, end: text.len(), depth: 0, value };
    let e = p.comparison()?;
    p.end()?;
    Ok(e)
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Range<usize>)>,
    at: usize,
    end: usize,
    depth: usize,
    value: &'a str,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at).map(|(t, _)| t)
    }

    /// Place of the next token, or of the end of the text.
    fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(_, s)| s.clone())
    }

    fn here(&self, message: impl Into<String>, help: impl Into<String>) -> ParseError {
        error(self.span(), message, help)
    }

    /// Consumes the next token if it is `t`.
    fn take(&mut self, t: &Token<'_>) -> bool {
        let found = self.peek() == Some(t);
        self.at += usize::from(found);
        found
    }

    /// Consumes a closing parenthesis and returns its place.
    fn close(&mut self) -> Result<Range<usize>, ParseError> {
        let span = self.span();
        if self.take(&Token::Close) {
            Ok(span)
        } else if matches!(self.peek(), Some(Token::Relation(_) | Token::Assign | Token::Bracket(_))) {
            Err(self.unexpected())
        } else {
            Err(self.here("a closing parenthesis is missing here", ""))
        }
    }

    fn end(&self) -> Result<(), ParseError> {
        if self.peek().is_none() { Ok(()) } else { Err(self.unexpected()) }
    }

    /// The error about a token after a complete expression.
    fn unexpected(&self) -> ParseError {
        match self.peek() {
            Some(Token::Relation(_)) => self.here(
                "a comparison is not a number",
                "count the members for which it holds: `count(goodput[up] < 0.3Mbps)`",
            ),
            Some(Token::Bracket(_)) => self.here(
                "brackets are only allowed after the name of a metric",
                "write them after the metric's name: `mean(goodput[up][10s..15s])`",
            ),
            Some(Token::Assign) => {
                self.here("`=` does not compare", "write `==`; names of arguments belong in `model(...)`")
            }
            Some(Token::Close) => self.here("this parenthesis has no opening parenthesis", "remove it"),
            Some(Token::Comma) => self.here("a comma is only allowed between the arguments of a call", "remove it"),
            _ => self.here("an operator is missing before this", "write one of + - * / between two values"),
        }
    }

    /// An expression, or a comparison of two.
    fn comparison(&mut self) -> Result<Syntax<'a>, ParseError> {
        let left = self.binary(0)?;
        let Some(&Token::Relation(relation)) = self.peek() else { return Ok(left) };
        let relation_span = self.span();
        self.at += 1;
        let right = self.binary(0)?;
        let span = left.span.start..right.span.end;
        let part = Part::Comparison { left: Box::new(left), relation, relation_span, right: Box::new(right) };
        Ok(Syntax { part, span })
    }

    /// An expression; operators that bind no stronger than `power` are left for the caller.
    fn binary(&mut self, power: u8) -> Result<Syntax<'a>, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                self.here(format!("the expression is nested deeper than {MAX_DEPTH} levels"), "use fewer parentheses")
            );
        }
        let mut left = self.operand()?;
        while let Some(&Token::Operator(operator)) = self.peek() {
            if operator.power() <= power {
                break;
            }
            self.at += 1;
            let right = self.binary(operator.power())?;
            let span = left.span.start..right.span.end;
            left = Syntax { part: Part::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Syntax<'a>, ParseError> {
        let span = self.span();
        let Some(token) = self.peek().cloned() else {
            return Err(self.here("a value is missing here", format!("write {}", self.value)));
        };
        match token {
            Token::Number(n) => {
                self.at += 1;
                Ok(Syntax { part: Part::Number(n), span })
            }
            Token::Operator(Operator::Subtract) => {
                self.at += 1;
                // A sign binds stronger than any operator.
                let x = self.binary(u8::MAX)?;
                Ok(Syntax { span: span.start..x.span.end, part: Part::Minus(Box::new(x)) })
            }
            Token::Open => {
                self.at += 1;
                let x = self.binary(0)?;
                let close = self.close()?;
                Ok(Syntax { span: span.start..close.end, ..x })
            }
            Token::Path(path) => {
                self.at += 1;
                if self.take(&Token::Open) { self.call(path, span) } else { Ok(self.name(path, span)) }
            }
            Token::Text(_) => Err(self.here(
                "a string is not a value",
                "strings are only allowed in `model(...)` and `point(...)`, and between brackets",
            )),
            _ => Err(self.here("a value is missing before this", format!("write {}", self.value))),
        }
    }

    /// A name; its path is already consumed.
    fn name(&mut self, path: &'a str, span: Range<usize>) -> Syntax<'a> {
        let (mut brackets, mut end) = (vec![], span.end);
        while let Some(&Token::Bracket(inside)) = self.peek() {
            let span = self.span();
            end = span.end;
            brackets.push(Bracket { inside, span });
            self.at += 1;
        }
        Syntax { part: Part::Name { path, brackets }, span: span.start..end }
    }

    /// A call; its name and opening parenthesis are already consumed.
    fn call(&mut self, name: &'a str, name_span: Range<usize>) -> Result<Syntax<'a>, ParseError> {
        let mut arguments: Vec<Argument<'a>> = vec![];
        while self.peek() != Some(&Token::Close) || !arguments.is_empty() {
            arguments.push(self.argument()?);
            if !self.take(&Token::Comma) {
                break;
            }
        }
        let close = self.close()?;
        let span = name_span.start..close.end;
        Ok(Syntax { part: Part::Call { name, name_span, arguments, close }, span })
    }

    fn argument(&mut self) -> Result<Argument<'a>, ParseError> {
        let name = match (self.peek(), self.tokens.get(self.at + 1)) {
            (Some(Token::Path(name)), Some((Token::Assign, _))) => Some((*name, self.span())),
            _ => None,
        };
        self.at += if name.is_some() { 2 } else { 0 };
        let value = match self.peek() {
            Some(Token::Text(text)) => {
                let e = Syntax { part: Part::Text(text), span: self.span() };
                self.at += 1;
                e
            }
            _ => self.comparison()?,
        };
        Ok(Argument { name, value, end: self.span() })
    }
}
