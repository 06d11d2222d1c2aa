//! Text to a tree: a Pratt parser that knows the place of every part, and nothing of what names mean.

use super::token::{Token, tokens};
use super::{Number, Operator, ParseError, Relation, error};
use std::ops::Range;

/// Longest text accepted, in bytes.
const MAX_BYTES: usize = 4_096;
/// Most parts (numbers, names, operators, calls) of an expression.
const MAX_PARTS: usize = 256;
/// Deepest nesting of parentheses, signs and calls.
const MAX_DEPTH: usize = 48;

/// An expression, and where it stands in its text.
#[derive(Clone, Debug)]
pub struct Syntax<'a> {
    /// What it is.
    pub part: Part<'a>,
    /// Its bytes.
    pub span: Range<usize>,
}

/// What an expression is made of.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// `0.3Mbps`
    Number(Number),
    /// `"flow.1.count"`
    Text(&'a str),
    /// `goodput.up[10s..15s]`: words joined by dots, and the brackets behind them.
    Name {
        /// The words.
        path: &'a str,
        /// What stands in each pair of brackets.
        brackets: Vec<Bracket<'a>>,
    },
    /// `-x`
    Minus(Box<Syntax<'a>>),
    /// `x + y` and the like.
    Binary(Operator, Box<Syntax<'a>>, Box<Syntax<'a>>),
    /// `x < y` and the like; only as the whole text or as an argument.
    Comparison {
        /// The left side.
        left: Box<Syntax<'a>>,
        /// How the sides compare.
        relation: Relation,
        /// Where the relation stands.
        relation_span: Range<usize>,
        /// The right side.
        right: Box<Syntax<'a>>,
    },
    /// `name(x, p = y)`
    Call {
        /// The function.
        name: &'a str,
        /// Where its name stands.
        name_span: Range<usize>,
        /// Its arguments.
        arguments: Vec<Argument<'a>>,
        /// Where the closing parenthesis stands.
        close: Range<usize>,
    },
}

/// What stands between brackets.
#[derive(Clone, Debug)]
pub struct Bracket<'a> {
    /// Without the brackets.
    pub inside: &'a str,
    /// With them.
    pub span: Range<usize>,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument<'a> {
    /// Its parameter's name, where it is given, and where that stands.
    pub name: Option<(&'a str, Range<usize>)>,
    /// Its value.
    pub value: Syntax<'a>,
    /// Where the comma or the parenthesis behind it stands.
    pub end: Range<usize>,
}

impl Syntax<'_> {
    /// True if it is a zero, which has every unit.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(&self.part, Part::Number(n) if n.value == 0.0)
    }
}

/// Reads `text`; `value` names what a value can be, for the remedy where one is missing.
///
/// # Errors
/// With the place and the remedy, when the text is no expression.
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

    /// Where the next token is, or the end of the text.
    fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(_, s)| s.clone())
    }

    fn here(&self, message: impl Into<String>, help: impl Into<String>) -> ParseError {
        error(self.span(), message, help)
    }

    /// Takes the next token when it is `t`.
    fn take(&mut self, t: &Token<'_>) -> bool {
        let found = self.peek() == Some(t);
        self.at += usize::from(found);
        found
    }

    /// Takes a closing parenthesis and says where it is.
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

    /// The error about a token where an expression could have ended.
    fn unexpected(&self) -> ParseError {
        match self.peek() {
            Some(Token::Relation(_)) => self.here(
                "a comparison is no number",
                "count the members for which it holds: `count(goodput[up] < 0.3Mbps)`",
            ),
            Some(Token::Bracket(_)) => self.here(
                "brackets select from a metric, and nothing else",
                "put them behind the metric's name: `mean(goodput[up][10s..15s])`",
            ),
            Some(Token::Assign) => {
                self.here("`=` is no comparison", "write `==`; names of arguments belong in `model(...)`")
            }
            Some(Token::Close) => self.here("this parenthesis closes nothing", "remove it"),
            Some(Token::Comma) => self.here("a comma parts the arguments of a call, and nothing else", "remove it"),
            _ => self.here("an operator is missing before this", "write one of + - * / between two values"),
        }
    }

    /// An expression, or two and how they compare.
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

    /// Operands and operators that bind more strongly than `power`.
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
                // Binds more strongly than any operator.
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
                "a text is no value",
                "texts name the argument of `model(...)` and `point(...)`, or stand between brackets",
            )),
            _ => Err(self.here("a value is missing before this", format!("write {}", self.value))),
        }
    }

    /// A name; its path is behind.
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

    /// A call; its name and opening parenthesis are behind.
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
