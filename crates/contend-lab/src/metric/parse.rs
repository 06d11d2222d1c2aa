//! Text to expression: a Pratt parser with byte ranges in its errors, then a check of units and of "number or list".

use super::entries::success;
use super::lex::{Token, quantity, tokens};
use super::{
    Aspect, Aspects, Condition, Expr, Function, Metric, MetricEntry, Number, Operator, Period, Relation, Scope,
    Selection, Windowed, metrics, reported,
};
use crate::expression::Dimension;
use crate::model::{MODELS, Model};
use crate::names::remedy;
use std::fmt;
use std::ops::Range;

/// Longest text accepted, in bytes.
pub const MAX_BYTES: usize = 4_096;
/// Most parts (numbers, metrics, operators, calls) of an expression.
pub const MAX_PARTS: usize = 256;
/// Deepest nesting of parentheses, signs and calls.
const MAX_DEPTH: usize = 48;

/// Why a text is no expression: where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// What to write instead; may be empty.
    pub help: String,
    /// The bytes of the text that are meant.
    pub span: Range<usize>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.span.start)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

impl std::error::Error for ParseError {}

/// Parses a whole text as one number.
pub(super) fn expression(text: &str) -> Result<Expr, ParseError> {
    let mut p = Parser::new(text)?;
    let e = p.binary(0)?;
    p.end()?;
    p.one(&e)?;
    Ok(e.expr)
}

/// Parses a whole text as a number or a list.
pub(super) fn any(text: &str) -> Result<Expr, ParseError> {
    let mut p = Parser::new(text)?;
    let e = p.binary(0)?;
    p.end()?;
    Ok(e.expr)
}

/// Parses a whole text as a comparison of two numbers.
pub(super) fn condition(text: &str) -> Result<Condition, ParseError> {
    let mut p = Parser::new(text)?;
    let left = p.binary(0)?;
    let Some(relation) = p.relation() else {
        return Err(
            p.here("there is no comparison", "write one of < <= > >= == != and what to compare with: `loss[ap] > 1%`")
        );
    };
    let right = p.binary(0)?;
    p.end()?;
    p.one(&left)?;
    p.one(&right)?;
    same(&left, &right)?;
    Ok(Condition { left: left.expr, relation, right: right.expr })
}

/// An expression and where it stands.
struct Part {
    expr: Expr,
    span: Range<usize>,
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Range<usize>)>,
    at: usize,
    end: usize,
    depth: usize,
}

/// The error about the bytes `span`.
pub(super) fn error(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> ParseError {
    ParseError { message: message.into(), help: help.into(), span }
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Parser<'a>, ParseError> {
        if text.len() > MAX_BYTES {
            return Err(error(
                0..text.len(),
                format!("the expression is longer than {MAX_BYTES} bytes"),
                "split it into several claims",
            ));
        }
        let tokens = tokens(text)?;
        if tokens.len() > 2 * MAX_PARTS {
            return Err(error(
                0..text.len(),
                format!("the expression has more than {MAX_PARTS} parts"),
                "split it into several claims",
            ));
        }
        Ok(Parser { tokens, at: 0, end: text.len(), depth: 0 })
    }

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

    fn expect(&mut self, t: &Token<'_>, what: &str) -> Result<usize, ParseError> {
        let end = self.span().end;
        if self.take(t) { Ok(end) } else { Err(self.here(format!("{what} is missing here"), "")) }
    }

    fn end(&self) -> Result<(), ParseError> {
        match self.peek() {
            None => Ok(()),
            Some(Token::Relation(_)) => Err(self.here(
                "a comparison is no number",
                "count the members for which it holds: `count(goodput[up] < 0.3Mbps)`",
            )),
            Some(Token::Bracket(_)) => Err(self.here(
                "brackets select from a metric, and nothing else",
                "put them behind the metric's name: `mean(goodput[up][10s..15s])`",
            )),
            Some(Token::Assign) => {
                Err(self.here("`=` is no comparison", "write `==`; names of arguments belong in `model(...)`"))
            }
            Some(Token::Close) => Err(self.here("this parenthesis closes nothing", "remove it")),
            Some(_) => Err(self.here("an operator is missing before this", "write one of + - * / between two values")),
        }
    }

    fn relation(&mut self) -> Option<Relation> {
        match self.peek() {
            Some(Token::Relation(r)) => {
                let r = *r;
                self.at += 1;
                Some(r)
            }
            _ => None,
        }
    }

    /// Refuses what is certainly a list.
    fn one(&self, part: &Part) -> Result<(), ParseError> {
        if shape(&part.expr) == Shape::Many {
            return Err(error(
                part.span.clone(),
                format!("`{}` is a list, one number for each member", part.expr),
                "make it one number: mean(...), sum(...), min(...), max(...), jain(...), count(...)",
            ));
        }
        Ok(())
    }

    /// Operands and operators that bind more strongly than `power`.
    fn binary(&mut self, power: u8) -> Result<Part, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                self.here(format!("the expression is nested deeper than {MAX_DEPTH} levels"), "use fewer parentheses")
            );
        }
        let mut left = self.operand()?;
        while let Some(&Token::Operator(op)) = self.peek() {
            if op.power() <= power {
                break;
            }
            self.at += 1;
            let right = self.binary(op.power())?;
            if matches!(op, Operator::Add | Operator::Subtract) {
                same(&left, &right)?;
            }
            let span = left.span.start..right.span.end;
            left = Part { expr: Expr::Binary(op, Box::new(left.expr), Box::new(right.expr)), span };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Part, ParseError> {
        let span = self.span();
        let Some(token) = self.peek().cloned() else {
            return Err(self.here(
                "a value is missing here",
                "write a number, a metric such as `goodput.up`, or a function of one",
            ));
        };
        match token {
            Token::Number(n) => {
                self.at += 1;
                Ok(Part { expr: Expr::Number(n), span })
            }
            Token::Operator(Operator::Subtract) => {
                self.at += 1;
                // Binds more strongly than any operator.
                let x = self.binary(u8::MAX)?;
                Ok(Part { span: span.start..x.span.end, expr: Expr::Minus(Box::new(x.expr)) })
            }
            Token::Open => {
                self.at += 1;
                let x = self.binary(0)?;
                if matches!(self.peek(), Some(Token::Relation(_))) {
                    self.end()?;
                }
                let end = self.expect(&Token::Close, "a closing parenthesis")?;
                Ok(Part { span: span.start..end, expr: x.expr })
            }
            Token::Path(path) => {
                self.at += 1;
                if self.take(&Token::Open) { self.call(path, span) } else { self.metric(path, span) }
            }
            Token::Text(_) => Err(self.here(
                "a text is no value",
                "texts name the argument of `model(...)` and `point(...)`, or stand between brackets",
            )),
            _ => Err(self.here(
                "a value is missing before this",
                "write a number, a metric such as `goodput.up`, or a function of one",
            )),
        }
    }

    /// A function; its name and opening parenthesis are behind.
    fn call(&mut self, name: &str, name_span: Range<usize>) -> Result<Part, ParseError> {
        let expr = match name {
            "count" => self.count()?,
            "share" => self.share()?,
            "every" => self.every()?,
            "self_correlation" => self.over(Windowed::SelfCorrelation)?,
            "quantile" => {
                let x = self.binary(0)?;
                let x = self.list("quantile", x)?;
                self.expect(&Token::Comma, "a comma and the quantile, `quantile(goodput[up], 0.1)`,")?;
                let q = self.binary(0)?;
                match &q.expr {
                    Expr::Number(n) if (0.0..=1.0).contains(&n.value) && n.unit == Dimension::Number => {}
                    _ => {
                        return Err(error(
                            q.span,
                            "a quantile is a number from 0 to 1",
                            "write `quantile(x, 0.95)` or `quantile(x, 95%)`",
                        ));
                    }
                }
                Expr::Quantile(Box::new(x.expr), Box::new(q.expr))
            }
            "point" => Expr::Point(self.text("a key of the sweep in quotes: `point(\"flow.1.count\")`")?.to_owned()),
            "model" => self.model()?,
            _ => {
                if let Some(&(_, function)) = Function::ALL.iter().find(|(n, _)| *n == name) {
                    self.function(function, self.at)?
                } else if let Some(model) = MODELS.iter().find(|m| m.name == name) {
                    Expr::Model(model, self.model_arguments(model, true)?)
                } else {
                    let names = Function::ALL.iter().map(|(n, _)| *n).chain([
                        "count",
                        "every",
                        "share",
                        "quantile",
                        "self_correlation",
                        "point",
                        "model",
                    ]);
                    return Err(error(name_span, format!("there is no function `{name}`"), remedy(name, names)));
                }
            }
        };
        let end = self.expect(&Token::Close, "a closing parenthesis")?;
        Ok(Part { expr, span: name_span.start..end })
    }

    /// Refuses what is certainly one number.
    fn list(&self, function: &str, x: Part) -> Result<Part, ParseError> {
        if shape(&x.expr) != Shape::One {
            return Ok(x);
        }
        let help = match &x.expr {
            Expr::Metric(m) if m.entry.selection == Selection::Free && m.entry.subject.groups.contains(&"total") => {
                let name = if let Scope::Together(name) = &m.scope { name } else { "all" };
                let each = Metric { scope: Scope::Each(name.to_owned()), ..m.clone() };
                format!("brackets keep the flows apart: `{function}({each})`")
            }
            _ => "brackets make a list: `goodput[up]`, `goodput[all]`".to_owned(),
        };
        Err(error(x.span.clone(), format!("{function}(...) needs a list, and `{}` is one number", x.expr), help))
    }

    /// One list, or several values.
    fn arguments(&mut self, function: &str) -> Result<Vec<Expr>, ParseError> {
        let mut before = self.binary(0)?;
        if self.peek() != Some(&Token::Comma) {
            return Ok(vec![self.list(function, before)?.expr]);
        }
        let mut all = vec![];
        while self.take(&Token::Comma) {
            let next = self.binary(0)?;
            same(&before, &next)?;
            all.push(std::mem::replace(&mut before, next).expr);
        }
        all.push(before.expr);
        Ok(all)
    }

    /// A function of a list, or Jain's index over windows of successes: then a length follows, which is no measurement.
    fn function(&mut self, function: Function, start: usize) -> Result<Expr, ParseError> {
        let list = self.arguments(function.name())?;
        match list.as_slice() {
            [Expr::Metric(m), length]
                if function == Function::Jain && success::has_sequence(m) && !length.measures() =>
            {
                self.windowed(Windowed::Jain, list, start)
            }
            _ => Ok(Expr::Call(function, list)),
        }
    }

    /// `self_correlation(successes[up], 15)`.
    fn over(&mut self, what: Windowed) -> Result<Expr, ParseError> {
        let start = self.at;
        let of = self.binary(0)?.expr;
        self.expect(&Token::Comma, &format!("a comma and a number of successes, `{}`,", what.example()))?;
        let length = self.binary(0)?.expr;
        self.windowed(what, vec![of, length], start)
    }

    /// `list`, successes by station and a length, which began at token `start`.
    fn windowed(&mut self, what: Windowed, mut list: Vec<Expr>, start: usize) -> Result<Expr, ParseError> {
        let span = self.tokens.get(start).map_or(0, |t| t.1.start)..self.span().start;
        let help = format!("write `{}`", what.example());
        match list.as_slice() {
            [Expr::Metric(m), _] if success::has_sequence(m) && matches!(m.scope, Scope::All | Scope::Together(_)) => {
                Err(error(
                    span,
                    format!("`{m}` is one number, and windows go over the successes of each station"),
                    help,
                ))
            }
            [_, Expr::Number(n)] if !(n.value >= 1.0 && n.value.fract() == 0.0) => {
                Err(error(span, "a window has a whole number of successes", help))
            }
            [Expr::Metric(m), length] if success::has_sequence(m) && !length.measures() => {
                let length = list.pop().map(Box::new);
                let of = list.pop().map(Box::new);
                of.zip(length)
                    .map(|(of, length)| Expr::Sliding(what, of, length))
                    .ok_or_else(|| self.here("a value is missing here", ""))
            }
            _ => Err(error(
                span,
                format!("{}(...) takes the successes of stations and how many of them to look at", what.name()),
                help,
            )),
        }
    }

    fn count(&mut self) -> Result<Expr, ParseError> {
        let mut left = self.binary(0)?;
        let Some(relation) = self.relation() else {
            return Ok(Expr::Length(Box::new(self.list("count", left)?.expr)));
        };
        let right = self.binary(0)?;
        same(&left, &right)?;
        if shape(&right.expr) == Shape::One {
            left = self.list("count", left)?;
        }
        Ok(Expr::Count(Box::new(Condition { left: left.expr, relation, right: right.expr })))
    }

    fn share(&mut self) -> Result<Expr, ParseError> {
        let left = self.binary(0)?;
        let Some(relation) = self.relation() else {
            return Err(self.here("a comparison is missing here", "write `share(goodput[up.1] >= 10Mbps, 5s)`"));
        };
        let right = self.binary(0)?;
        same(&left, &right)?;
        sectioned("share", "compares", &left)?;
        sectioned("share", "compares", &right)?;
        let section = self.section("share(goodput[up.1] >= 10Mbps, 5s)")?;
        Ok(Expr::Share(Box::new(Condition { left: left.expr, relation, right: right.expr }), section))
    }

    fn every(&mut self) -> Result<Expr, ParseError> {
        let x = self.binary(0)?;
        sectioned("every", "lists", &x)?;
        let section = self.section("every(goodput.up, 5s)")?;
        Ok(Expr::Every(Box::new(x.expr), section))
    }

    /// The length of a section, after a comma.
    fn section(&mut self, example: &str) -> Result<Number, ParseError> {
        self.expect(&Token::Comma, &format!("a comma and the length of a section, `{example}`,"))?;
        let section = self.binary(0)?;
        match section.expr {
            Expr::Number(n) if n.unit == Dimension::Time && n.value >= 1.0 && n.value.fract() == 0.0 => Ok(n),
            _ => Err(error(section.span, "a section is a whole number of seconds", "write `5s`")),
        }
    }

    fn text(&mut self, what: &str) -> Result<&'a str, ParseError> {
        match self.peek() {
            Some(Token::Text(t)) => {
                let t = *t;
                self.at += 1;
                Ok(t)
            }
            _ => Err(self.here("a text is missing here", format!("write {what}"))),
        }
    }

    fn model(&mut self) -> Result<Expr, ParseError> {
        let span = self.span();
        let name = self.text("the model's name in quotes: `model(\"bianchi.throughput\", n = 5, ...)`")?;
        let Some(model) = MODELS.iter().find(|m| m.name == name) else {
            return Err(error(
                span,
                format!("there is no model `{name}`"),
                remedy(name, MODELS.iter().map(|m| m.name)),
            ));
        };
        let arguments = self.model_arguments(model, false)?;
        let missing: Vec<_> = model
            .parameters
            .iter()
            .zip(&arguments)
            .filter(|(p, a)| p.default.is_none() && a.is_none())
            .map(|(p, _)| p.name)
            .collect();
        if !missing.is_empty() {
            return Err(error(
                span,
                format!("`{name}` needs {} too", missing.join(", ")),
                format!("write `{} = ...`", missing[0]),
            ));
        }
        Ok(Expr::Model(model, arguments))
    }

    /// The arguments of `model`; the first one stands without a comma before it when nothing else does (`bare`).
    fn model_arguments(&mut self, model: &'static Model, bare: bool) -> Result<Vec<Option<Expr>>, ParseError> {
        let name = model.name;
        let mut arguments: Vec<Option<Expr>> = vec![None; model.parameters.len()];
        let (mut position, mut first) = (0, bare && self.peek() != Some(&Token::Close));
        while std::mem::take(&mut first) || self.take(&Token::Comma) {
            let span = self.span();
            let named = match (self.peek(), self.tokens.get(self.at + 1)) {
                (Some(Token::Path(p)), Some((Token::Assign, _))) => Some(*p),
                _ => None,
            };
            let index = match named {
                Some(name) => {
                    self.at += 2;
                    model.parameters.iter().position(|p| p.name == name)
                }
                None => Some(position).filter(|i| *i < model.parameters.len()),
            };
            let Some(index) = index else {
                let list: Vec<_> = model.parameters.iter().map(|p| p.name).collect();
                let message = named.map_or(format!("`{name}` has {} parameters", list.len()), |n| {
                    format!("`{name}` has no parameter `{n}`")
                });
                return Err(error(span, message, format!("they are {}", list.join(", "))));
            };
            position = index + 1;
            let x = self.binary(0)?;
            self.one(&x)?;
            let p = &model.parameters[index];
            if let Some(unit) = dimension(&x.expr).filter(|u| !fits(*u, p.unit) && !zero(&x.expr)) {
                return Err(error(
                    x.span,
                    format!("{} is {}, not {}", p.name, p.unit.noun(), unit.noun()),
                    unit_help(p.unit),
                ));
            }
            if arguments[index].replace(x.expr).is_some() {
                return Err(error(span, format!("{} is given twice", p.name), "remove one"));
            }
        }
        Ok(arguments)
    }

    /// A metric; its path is behind.
    fn metric(&mut self, path: &str, span: Range<usize>) -> Result<Part, ParseError> {
        let mut end = span.end;
        // A name that is reported stands for its expression, even where it begins as a metric does.
        if let Some((_, text)) = reported().find(|(name, text)| *name == path && *text != path) {
            return Ok(Part { expr: expression(text)?, span });
        }
        let Some((entry, aspect, rest)) = split(path) else {
            if let Some(model) = MODELS.iter().find(|m| m.name == path) {
                return Ok(Part { expr: Expr::Model(model, vec![None; model.parameters.len()]), span });
            }
            let names = metrics().map(|m| m.name).chain(reported().map(|r| r.0));
            return Err(error(span, format!("there is no metric `{path}`"), remedy(path, names)));
        };
        let mut scope = if rest.is_empty() { Scope::All } else { Scope::Together(rest.to_owned()) };
        let mut window = None;
        while let Some(Token::Bracket(inside)) = self.peek().cloned() {
            let here = self.span();
            let quoted = inside.strip_prefix('"').and_then(|s| s.strip_suffix('"'));
            match (quoted, inside.split_once("..")) {
                (None, Some((a, b))) if window.is_none() => window = Some(read_window(a, b, here.clone())?),
                (None, Some(_)) => return Err(error(here, "there are two time windows", "leave one")),
                (name, _) => {
                    let name = name.unwrap_or(inside);
                    if name.is_empty() {
                        return Err(error(
                            here,
                            "the brackets are empty",
                            "name what is meant: `[up]`, `[all]`, `[ap]`",
                        ));
                    }
                    if scope != Scope::All || window.is_some() {
                        return Err(error(
                            here,
                            format!("`{path}` has its selection already"),
                            "select once: `goodput.up` for the sum, `goodput[up]` for the list",
                        ));
                    }
                    scope = Scope::Each(name.to_owned());
                }
            }
            end = here.end;
            self.at += 1;
        }
        let metric = Metric { entry, aspect, scope, window };
        let span = span.start..end;
        if let Some((message, help)) = refuse(&metric) {
            return Err(error(span, message, help));
        }
        Ok(Part { expr: Expr::Metric(metric), span })
    }
}

/// The metric that `path` begins with, the aspect that follows, and what is left.
fn split(path: &str) -> Option<(&'static MetricEntry, Aspect, &str)> {
    let after = |m: &MetricEntry| match path.strip_prefix(m.name)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    };
    let (entry, rest) = metrics().filter_map(|m| Some((m, after(m)?))).max_by_key(|(m, _)| m.name.len())?;
    let (head, tail) = rest.split_once('.').unwrap_or((rest, ""));
    let percentile = || head.strip_prefix('p').filter(|d| d.len() == 2).and_then(|d| d.parse::<u8>().ok());
    let found = match entry.aspects {
        Aspects::Samples if head == "mean" => Some((Aspect::Mean, tail)),
        Aspects::Samples => percentile().map(|p| (Aspect::Percentile(p), tail)),
        Aspects::Optional(words) | Aspects::Required(words) => {
            words.iter().find(|w| **w == head).map(|w| (Aspect::Word(w), tail))
        }
        Aspects::Named(_) if !head.is_empty() => Some((Aspect::Named(head.to_owned(), Function::Mean), tail)),
        Aspects::NamedSeries(_) if !head.is_empty() => {
            let (made, after) = tail.split_once('.').unwrap_or((tail, ""));
            let made =
                [Function::Mean, Function::Min, Function::Max, Function::Std].into_iter().find(|f| f.name() == made);
            let after = if made.is_some() { after } else { tail };
            Some((Aspect::Named(head.to_owned(), made.unwrap_or(Function::Mean)), after))
        }
        Aspects::None | Aspects::Named(_) | Aspects::NamedSeries(_) => None,
    };
    let (aspect, rest) = found.unwrap_or((Aspect::Plain, rest));
    Some((entry, aspect, rest))
}

/// What a metric cannot be asked for, and what to write instead.
fn refuse(m: &Metric) -> Option<(String, String)> {
    let (entry, name) = (m.entry, m.entry.name);
    let example = |otherwise: String| format!("write `{}`", entry.example.map_or(otherwise, str::to_owned));
    let member = entry.subject.member;
    match (entry.period, &m.window) {
        (Period::Run, Some(_)) => {
            let list: Vec<&str> = metrics().filter(|m| m.period != Period::Run).map(|m| m.name).collect();
            return Some((format!("`{name}` has no time window"), format!("those with one are {}", list.join(", "))));
        }
        (Period::Window, None) => {
            return Some((format!("`{name}` needs a time window"), example(format!("{name}[{member}][10s..15s]"))));
        }
        (Period::RunOrWindow, Some(_)) if m.aspect == Aspect::Word("short") => {
            return Some((
                format!("`{name}.short` has no time window"),
                format!("write `{name}.up[10s..15s]` for the index over one window"),
            ));
        }
        _ => {}
    }
    if m.aspect == Aspect::Plain {
        match entry.aspects {
            Aspects::Required(words) => {
                let first = words.first().copied().unwrap_or_default();
                let help = format!("{}; there are {}", example(format!("{name}.{first}")), words.join(", "));
                return Some((format!("`{name}` needs one of its words behind it"), help));
            }
            Aspects::Named(noun) | Aspects::NamedSeries(noun) => {
                return Some((format!("`{name}` needs {noun}"), example(format!("{name}.NAME"))));
            }
            _ => {}
        }
    }
    if member.is_empty() && m.scope != Scope::All {
        return Some((
            format!("`{name}` belongs to the {} as a whole", entry.subject.noun),
            format!("write `{name}` alone"),
        ));
    }
    let noun = entry.subject.noun;
    match (entry.selection, &m.scope) {
        (Selection::Needed, Scope::All) => {
            Some((format!("`{name}` of which {noun}?"), format!("name it: `{name}[{member}]`")))
        }
        (Selection::Each, Scope::All | Scope::Together(_)) => {
            let alone = Metric { scope: Scope::Each(member.to_owned()), ..m.clone() }.to_string();
            let help = if m.aspect == Aspect::Plain { entry.example.map_or(alone, str::to_owned) } else { alone };
            Some((format!("`{name}` of which {noun}?"), format!("name it in brackets: `{help}`")))
        }
        (Selection::Together, Scope::Each(_)) => Some((
            format!("`{name}` is one number for several flows"),
            format!("write `{name}.up`, or `{name}(goodput[up])`"),
        )),
        (_, Scope::Together(rest))
            if entry.aspects == Aspects::Samples && rest.starts_with("p") && rest[1..].parse::<f64>().is_ok() =>
        {
            Some((format!("`{name}` has the percentiles p01 to p99"), format!("write `{name}.p95`")))
        }
        _ => None,
    }
}

/// Refuses what has no value of its own in each section.
fn sectioned(name: &str, does: &str, part: &Part) -> Result<(), ParseError> {
    let e = &part.expr;
    if shape(e) == Shape::Many {
        return Err(error(
            part.span.clone(),
            format!("{name}(...) {does} numbers, and `{e}` is a list"),
            "name one flow, or write mean(...)",
        ));
    }
    match e.timeless() {
        Some(m) => {
            let help = "take what can be measured in a section, such as goodput";
            Err(error(part.span.clone(), format!("`{m}` is measured over the whole run only"), help))
        }
        None => Ok(()),
    }
}

fn read_window(a: &str, b: &str, span: Range<usize>) -> Result<(Number, Number), ParseError> {
    match (quantity(a.trim()), quantity(b.trim())) {
        (Some(a), Some(b)) if a.unit == Dimension::Time && b.unit == Dimension::Time => {
            if a.value < b.value && b.value <= 1e9 {
                Ok((a, b))
            } else {
                Err(error(
                    span,
                    format!("the window ends at {}, before it begins at {}", b.text, a.text),
                    "write the earlier instant first; at most 1e9 s",
                ))
            }
        }
        _ => Err(error(span, "this is no time window", "write two instants of the run with their units: `[10s..15s]`")),
    }
}

/// Refuses values that cannot be added or compared.
fn same(a: &Part, b: &Part) -> Result<(), ParseError> {
    match (dimension(&a.expr), dimension(&b.expr)) {
        (Some(x), Some(y)) if !fits(x, y) && !zero(&a.expr) && !zero(&b.expr) => {
            let (span, want) = if x == Dimension::Number { (a.span.clone(), y) } else { (b.span.clone(), x) };
            Err(error(span, format!("`{}` is {} and `{}` is {}", a.expr, x.noun(), b.expr, y.noun()), unit_help(want)))
        }
        _ => Ok(()),
    }
}

fn zero(e: &Expr) -> bool {
    matches!(e, Expr::Number(n) if n.value == 0.0)
}

/// Whether two units can be added: packets are plain counts.
fn fits(a: Dimension, b: Dimension) -> bool {
    a.adds_to(b)
}

fn unit_help(d: Dimension) -> &'static str {
    match d {
        Dimension::Number => "write a number without a unit, or a percentage",
        Dimension::Time => "write a time with its unit: `15ms`",
        Dimension::Rate => "write a rate with its unit: `0.3Mbps`",
        Dimension::Bytes => "write bytes with their unit: `10kB`",
        Dimension::Packets => "write a number of packets: `100p`",
        Dimension::Length => "write a length with its unit: `100m`",
    }
}

/// Whether an expression is a number or a list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    One,
    /// The run decides: a name may be that of one or of a group.
    Either,
    Many,
}

fn shape(e: &Expr) -> Shape {
    match e {
        Expr::Metric(m) => match &m.scope {
            Scope::Each(name) if m.entry.subject.groups.contains(&name.as_str()) => Shape::Many,
            Scope::Each(_) => Shape::Either,
            _ => Shape::One,
        },
        Expr::Minus(x) => shape(x),
        Expr::Binary(_, x, y) => shape(x).max(shape(y)),
        Expr::Every(..) => Shape::Many,
        _ => Shape::One,
    }
}

/// What an expression measures; `None` when it cannot be told.
pub(super) fn dimension(e: &Expr) -> Option<Dimension> {
    match e {
        Expr::Number(n) => Some(n.unit),
        Expr::Metric(m) => Some(m.entry.unit),
        Expr::Minus(x) | Expr::Quantile(x, _) | Expr::Every(x, _) => dimension(x),
        Expr::Binary(Operator::Add | Operator::Subtract, x, y) => {
            let (a, b) = (dimension(x)?, dimension(y)?);
            Some(if zero(x) { b } else { a })
        }
        Expr::Binary(Operator::Multiply, x, y) => match (dimension(x)?, dimension(y)?) {
            (Dimension::Number, d) | (d, Dimension::Number) => Some(d),
            _ => None,
        },
        Expr::Binary(Operator::Divide, x, y) => match (dimension(x)?, dimension(y)?) {
            (d, Dimension::Number) => Some(d),
            (a, b) => fits(a, b).then_some(Dimension::Number),
        },
        Expr::Call(Function::Jain, _) | Expr::Sliding(..) | Expr::Length(_) | Expr::Count(_) | Expr::Share(..) => {
            Some(Dimension::Number)
        }
        Expr::Call(_, list) => dimension(list.first()?),
        Expr::Point(_) => None,
        Expr::Model(model, _) => Some(model.unit),
    }
}
