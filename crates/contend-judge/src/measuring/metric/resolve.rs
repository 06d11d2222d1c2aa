//! From a syntax tree to an expression: resolves names of metrics and functions, and checks units and lists.

mod closed_form;

use super::entries::queue::QUEUES;
use super::entries::success;
use super::function::{FUNCTIONS, Function, Takes};
use super::{
    Aspect, Aspects, COUNT, Callee, Condition, Expr, Metric, MetricEntry, Period, SUM, Scope, Selection, metrics,
    reported,
};
use closed_form::{model_arguments, named_model};
use contend_core::Refusal;
use contend_experiment::names::remedy;
use contend_experiment::reading::expression::{
    Argument, Bracket, Dimension, NumberFunction, Operator, ParseError, Part, Syntax, error, literal, parse,
};
use contend_experiment::reading::model;
use std::ops::Range;

/// The allowed values, for the remedy when a value is missing.
const VALUE: &str = "a number, a metric such as `goodput.up`, or a function of a metric";

/// Trimmed means keep this percentage of the samples at least: a mean of fewer says nothing of most of them.
const LEAST_TRIM: u8 = 50;

/// Old names of metrics, with the new names.
const RENAMED: &[(&str, &str)] = &[
    ("enqueued", "offered"),
    ("snd_una", "acked"),
    ("ap.loss", "loss[ap]"),
    ("ap.dropped", "drops[ap]"),
    ("ap.queue.mean_packets", "queue.length[ap]"),
    ("ap.queue.mean_delay", "queue.delay[ap]"),
    ("ap.queue.p99_delay", "queue.delay.p99[ap]"),
];

/// Parses a whole text as one number.
pub(super) fn expression(text: &str) -> Result<Expr, ParseError> {
    let e = located(&parse(text, VALUE)?)?;
    one(&e)?;
    Ok(e.expr)
}

/// Parses a whole text as a number or a list.
pub(super) fn any(text: &str) -> Result<Expr, ParseError> {
    Ok(located(&parse(text, VALUE)?)?.expr)
}

/// Parses a whole text as a comparison of two numbers.
pub(super) fn condition(text: &str) -> Result<Condition, ParseError> {
    let tree = parse(text, VALUE)?;
    let Part::Comparison { left, relation, right, .. } = &tree.part else {
        let help = "write one of < <= > >= == != and a second value: `loss[ap] > 1%`";
        return Err(error(text.len()..text.len(), "a comparison is missing", help));
    };
    let (left, right) = (located(left)?, located(right)?);
    one(&left)?;
    one(&right)?;
    same(&left, &right)?;
    Ok(Condition { left: left.expr, relation: *relation, right: right.expr })
}

/// An expression with its place.
struct Located {
    expr: Expr,
    span: Range<usize>,
}

fn located(e: &Syntax<'_>) -> Result<Located, ParseError> {
    let span = e.span.clone();
    let expr = match &e.part {
        Part::Number(n) => Expr::Number(n.clone()),
        Part::Text(_) => {
            let help = "strings are only allowed in `model(...)` and `point(...)`, and between brackets";
            return Err(error(span, "a string is not a value", help));
        }
        Part::Comparison { relation_span, .. } => {
            let help = "count the members for which it holds: `count(goodput[up] < 0.3Mbps)`";
            return Err(error(relation_span.clone(), "a comparison is not a number", help));
        }
        Part::Name { path, brackets } => named(path, brackets, &span)?,
        Part::Minus(x) => Expr::Minus(Box::new(located(x)?.expr)),
        Part::Binary(operator, x, y) => {
            let (x, y) = (located(x)?, located(y)?);
            if matches!(operator, Operator::Add | Operator::Subtract) {
                same(&x, &y)?;
            }
            Expr::Binary(*operator, Box::new(x.expr), Box::new(y.expr))
        }
        Part::Call { name, name_span, arguments, close } => call(name, name_span, arguments, close)?,
    };
    Ok(Located { expr, span })
}

/// Refuses an expression that is certainly a list.
fn one(e: &Located) -> Result<(), ParseError> {
    if shape(&e.expr) == Shape::Many {
        return Err(error(
            e.span.clone(),
            format!("`{}` is a list, one number for each member", e.expr),
            "make it one number: mean(...), sum(...), min(...), max(...), jain(...), count(...)",
        ));
    }
    Ok(())
}

/// Refuses an expression that is certainly one number.
fn list(function: &str, x: Located) -> Result<Located, ParseError> {
    if shape(&x.expr) != Shape::One {
        return Ok(x);
    }
    let help = match &x.expr {
        Expr::Metric(m) if m.entry.selection == Selection::Free && m.entry.subject.groups.contains(&"total") => {
            let name = if let Scope::Together(name) = &m.scope { name } else { "all" };
            let each = Metric { scope: Scope::Each(name.to_owned()), ..m.clone() };
            format!("with brackets each flow has its own number: `{function}({each})`")
        }
        _ => "brackets make a list: `goodput[up]`, `goodput[all]`".to_owned(),
    };
    Err(error(x.span, format!("{function}(...) needs a list, but `{}` is one number", x.expr), help))
}

/// Resolves a call of a function or a closed form.
fn call(
    name: &str,
    name_span: &Range<usize>,
    arguments: &[Argument<'_>],
    close: &Range<usize>,
) -> Result<Expr, ParseError> {
    if name == "model" {
        return named_model(arguments, close);
    }
    if let Some(model) = model::named(name) {
        return Ok(Expr::Call(Callee::Model(model), model_arguments(model, arguments)?));
    }
    let numbers = NumberFunction::named(name);
    let suits = |f: &&Function| f.name == name && (f.suits)(arguments);
    // If the arguments suit no function of this name, the error describes the last of these functions.
    let function = FUNCTIONS.iter().find(suits).or_else(|| FUNCTIONS.iter().rfind(|f| f.name == name));
    if function.is_none() && numbers.is_none() {
        let names = contend_experiment::reading::expression::FUNCTIONS
            .iter()
            .map(|f| f.name)
            .chain(FUNCTIONS.iter().map(|f| f.name));
        return Err(error(name_span.clone(), format!("there is no function `{name}`"), remedy(name, names)));
    }
    if let Some((name, span)) = arguments.iter().find_map(|a| a.name.as_ref()) {
        let help = "write the value alone; a comparison is `==`, and names of arguments belong in `model(...)`";
        return Err(error(span.clone(), format!("there is no parameter `{name}`"), help));
    }
    match (numbers, function) {
        (Some(numbers), None) => function_of_numbers(numbers, arguments, close),
        (Some(numbers), Some(f)) if !(f.suits)(arguments) => function_of_numbers(numbers, arguments, close),
        (_, Some(f)) => function_of_run(f, arguments, close),
        (None, None) => Err(error(name_span.clone(), format!("there is no function `{name}`"), "")),
    }
}

/// Resolves a function of one list, or of several values.
fn function_of_numbers(
    f: &'static NumberFunction,
    arguments: &[Argument<'_>],
    close: &Range<usize>,
) -> Result<Expr, ParseError> {
    let mut given = arguments.iter().map(|a| located(&a.value)).collect::<Result<Vec<_>, _>>()?;
    match (f.values, given.as_slice()) {
        (_, []) => return Err(error(close.clone(), "a value is missing before this", format!("write {VALUE}"))),
        (Some(1), [x]) if dimension(&x.expr).is_none_or(|d| d == Dimension::Number) => one(x)?,
        (Some(_), [x, ..]) => {
            let message = format!("`{}` takes one plain number", f.name);
            return Err(error(x.span.clone(), message, "divide by a unit: `floor(x / 1ms)`"));
        }
        (None, [_]) => given = given.into_iter().map(|x| list(f.name, x)).collect::<Result<_, _>>()?,
        (None, several) => {
            several.windows(2).try_for_each(|w| if let [a, b] = w { same(a, b) } else { Ok(()) })?;
        }
    }
    Ok(Expr::Call(Callee::Numbers(f), given.into_iter().map(|x| x.expr).collect()))
}

/// Resolves a function with its own parameters.
fn function_of_run(f: &'static Function, arguments: &[Argument<'_>], close: &Range<usize>) -> Result<Expr, ParseError> {
    let help = || format!("write `{}`", f.usage);
    let mut given = vec![];
    for (i, takes) in f.takes.iter().enumerate() {
        let Some(a) = arguments.get(i) else {
            return Err(error(close.clone(), format!("{} is missing here", takes.noun()), help()));
        };
        given.push(argument(f, *takes, a)?);
    }
    if let Some(a) = arguments.get(f.takes.len()) {
        return Err(error(a.value.span.clone(), format!("{}(...) has no parameter for this", f.name), help()));
    }
    if let (Some(Takes::Successes), Some(first), Some(last)) = (f.takes.first(), arguments.first(), arguments.last()) {
        windowed(f, &given, first.value.span.start..last.value.span.end)?;
    }
    Ok(Expr::Call(Callee::Run(f), given))
}

/// Resolves the argument `a` of `f`; `takes` is its kind.
fn argument(f: &Function, takes: Takes, a: &Argument<'_>) -> Result<Expr, ParseError> {
    let span = || a.value.span.clone();
    let usage = || format!("write `{}`", f.usage);
    Ok(match takes {
        Takes::Text => match &a.value.part {
            Part::Text(text) => Expr::Text((*text).to_owned()),
            _ => return Err(error(span(), "a string is missing here", usage())),
        },
        Takes::List => list(f.name, located(&a.value)?)?.expr,
        Takes::Successes | Takes::Count => located(&a.value)?.expr,
        Takes::Share => match located(&a.value)?.expr {
            Expr::Number(n) if (0.0..=1.0).contains(&n.value) && n.unit == Dimension::Number => Expr::Number(n),
            _ => {
                let help = "write `quantile(x, 0.95)` or `quantile(x, 95%)`";
                return Err(error(span(), "a quantile is a number from 0 to 1", help));
            }
        },
        Takes::Section => match located(&a.value)?.expr {
            Expr::Number(n) if n.unit == Dimension::Time && n.value >= 1.0 && n.value.fract() == 0.0 => Expr::Number(n),
            _ => return Err(error(span(), "a section is a whole number of seconds", "write `5s`")),
        },
        Takes::InSections => {
            let x = located(&a.value)?;
            sectioned(f.name, "lists", &x)?;
            varies(&[&x])?;
            x.expr
        }
        Takes::ListComparison | Takes::ComparisonInSections => {
            let Part::Comparison { left, relation, right, .. } = &a.value.part else {
                return Err(error(a.end.clone(), "a comparison is missing here", usage()));
            };
            let (mut left, right) = (located(left)?, located(right)?);
            same(&left, &right)?;
            if takes == Takes::ComparisonInSections {
                sectioned(f.name, "compares", &left)?;
                sectioned(f.name, "compares", &right)?;
                varies(&[&left, &right])?;
            } else if shape(&right.expr) == Shape::One {
                left = list(f.name, left)?;
            }
            Expr::Comparison(Box::new(Condition { left: left.expr, relation: *relation, right: right.expr }))
        }
    })
}

/// Refuses arguments other than the successes of stations and a number of successes.
fn windowed(f: &Function, given: &[Expr], span: Range<usize>) -> Result<(), ParseError> {
    let help = format!("write `{}`", f.usage);
    match given {
        [Expr::Metric(m), _] if success::has_sequence(m) && matches!(m.scope, Scope::All | Scope::Together(_)) => {
            let message = format!("`{m}` is one number, but windows need the successes of each station");
            Err(error(span, message, help))
        }
        [_, Expr::Number(n)] if !(n.value >= 1.0 && n.value.fract() == 0.0) => {
            Err(error(span, "a window has a whole number of successes", help))
        }
        [Expr::Metric(m), length] if success::has_sequence(m) && !length.measures() => Ok(()),
        _ => {
            let message =
                format!("{}(...) takes the successes of stations and the number of successes in a window", f.name);
            Err(error(span, message, help))
        }
    }
}

/// Resolves a metric, or a closed form with the arguments of the file's `[model]`.
fn named(path: &str, brackets: &[Bracket<'_>], span: &Range<usize>) -> Result<Expr, ParseError> {
    let unbracketed = |e: Expr| match brackets.first() {
        None => Ok(e),
        Some(b) => Err(error(
            b.span.clone(),
            "brackets are only allowed after the name of a metric",
            "write them after the metric's name: `mean(goodput[up][10s..15s])`",
        )),
    };
    let Some((entry, aspect, rest)) = split(path) else {
        if let Some(model) = model::named(path) {
            return unbracketed(Expr::Call(Callee::Model(model), vec![Expr::Absent; model.parameters.len()]));
        }
        let names = metrics().map(|m| m.name).chain(reported());
        let help = match RENAMED.iter().find(|(old, _)| *old == path) {
            Some((_, new)) => format!("its new name is `{new}`"),
            None => remedy(path, names),
        };
        let span = span.start..span.start + path.len();
        return Err(error(span, format!("there is no metric `{path}`"), help));
    };
    let mut scope = if rest.is_empty() { Scope::All } else { Scope::Together(rest.to_owned()) };
    let mut window = None;
    for Bracket { inside, span } in brackets {
        let here = span.clone();
        let quoted = inside.strip_prefix('"').and_then(|s| s.strip_suffix('"'));
        match (quoted, inside.split_once("..")) {
            (None, Some((a, b))) if window.is_none() => window = Some(read_window(a, b, here)?),
            (None, Some(_)) => return Err(error(here, "there are two time windows", "remove one")),
            (name, _) => {
                let name = name.unwrap_or(inside);
                if name.is_empty() {
                    let help = "write a selection: `[up]`, `[all]`, `[ap]`";
                    return Err(error(here, "the brackets are empty", help));
                }
                if scope != Scope::All || window.is_some() {
                    if let Scope::Together(first) = &scope
                        && let Some(no) = no_percentile(entry, first)
                    {
                        return Err(error(here, no.what, &no.remedy));
                    }
                    let selected = match &scope {
                        Scope::Together(first) => format!("`{path}` already selects `{first}`"),
                        _ => format!("`{path}` already has a selection or a time window"),
                    };
                    return Err(error(
                        here,
                        selected,
                        "select once: `goodput.up` for the sum, `goodput[up]` for the list",
                    ));
                }
                scope = Scope::Each(name.to_owned());
            }
        }
    }
    let metric = Metric { entry, aspect, scope, window };
    match refuse(&metric) {
        Some(Refusal { what, remedy }) => Err(error(span.clone(), what, remedy)),
        None => Ok(Expr::Metric(metric)),
    }
}

/// The metric at the start of `path`, its aspect, and the rest of the path.
pub(super) fn split(path: &str) -> Option<(&'static MetricEntry, Aspect, &str)> {
    let after = |m: &MetricEntry| match path.strip_prefix(m.name)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    };
    let (entry, rest) = metrics().filter_map(|m| Some((m, after(m)?))).max_by_key(|(m, _)| m.name.len())?;
    let (head, tail) = rest.split_once('.').unwrap_or((rest, ""));
    let two_digits = |prefix: &str| head.strip_prefix(prefix).filter(|d| d.len() == 2)?.parse::<u8>().ok();
    let percentile = || two_digits("p").map(|p| Aspect::Percentile(p, 0.0));
    let trimmed = || two_digits("trim").filter(|p| *p >= LEAST_TRIM).map(|p| Aspect::Trimmed(p, 0.0));
    let found = match entry.aspects {
        Aspects::Samples if head == "mean" => Some((Aspect::Mean, tail)),
        Aspects::Samples => match [SUM, COUNT].into_iter().find(|word| *word == head) {
            Some(word) => Some((Aspect::Word(word), tail)),
            None => percentile().or_else(trimmed).map(|aspect| (aspect, tail)),
        },
        Aspects::Optional(words) | Aspects::Required(words) => {
            words.iter().find(|w| **w == head).map(|w| (Aspect::Word(w), tail))
        }
        Aspects::Named(_) if !head.is_empty() => Some((Aspect::Named(head.to_owned(), None), tail)),
        Aspects::NamedSeries(_) if !head.is_empty() => {
            let (made, after) = tail.split_once('.').unwrap_or((tail, ""));
            let made = NumberFunction::named(made).filter(|f| ["mean", "min", "max", "std"].contains(&f.name));
            let after = if made.is_some() { after } else { tail };
            Some((Aspect::Named(head.to_owned(), made.filter(|f| f.name != "mean")), after))
        }
        Aspects::None | Aspects::Named(_) | Aspects::NamedSeries(_) => None,
    };
    let (aspect, rest) = found.unwrap_or((Aspect::Plain, rest));
    Some((entry, aspect, rest))
}

/// The refusal if `m` uses something that the metric does not support.
fn refuse(m: &Metric) -> Option<Refusal> {
    let (entry, name) = (m.entry, m.entry.name);
    let example = |otherwise: String| format!("write `{}`", entry.example.map_or(otherwise, str::to_owned));
    let member = entry.subject.member;
    match (entry.period, &m.window) {
        (Period::Run, Some(_)) => {
            let list: Vec<&str> = metrics().filter(|m| m.period != Period::Run).map(|m| m.name).collect();
            return Some(Refusal::new(
                format!("`{name}` has no time window"),
                format!("metrics with a time window are {}", list.join(", ")),
            ));
        }
        (Period::Window, None) => {
            return Some(Refusal::new(
                format!("`{name}` needs a time window"),
                example(format!("{name}[{member}][10s..15s]")),
            ));
        }
        (Period::RunOrWindow, Some(_)) if m.aspect == Aspect::Word("short") => {
            return Some(Refusal::new(
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
                let help = format!("{}; the words are {}", example(format!("{name}.{first}")), words.join(", "));
                return Some(Refusal::new(format!("`{name}` must be followed by one of its words"), help));
            }
            Aspects::Named(noun) | Aspects::NamedSeries(noun) => {
                return Some(Refusal::new(format!("`{name}` needs {noun}"), example(format!("{name}.NAME"))));
            }
            _ => {}
        }
    }
    if member.is_empty() && m.scope != Scope::All {
        return Some(Refusal::new(
            format!("`{name}` is a metric of the whole {}", entry.subject.noun),
            format!("write `{name}` alone"),
        ));
    }
    let noun = entry.subject.noun;
    match (entry.selection, &m.scope) {
        (Selection::Needed, Scope::All) => {
            Some(Refusal::new(format!("`{name}` of which {noun}?"), format!("select it: `{name}[{member}]`")))
        }
        (Selection::Each, Scope::All | Scope::Together(_)) => {
            let alone = Metric { scope: Scope::Each(member.to_owned()), ..m.clone() }.to_string();
            let help = if m.aspect == Aspect::Plain { entry.example.map_or(alone, str::to_owned) } else { alone };
            Some(Refusal::new(format!("`{name}` of which {noun}?"), format!("select it in brackets: `{help}`")))
        }
        (Selection::Together, Scope::Each(_)) => Some(Refusal::new(
            format!("`{name}` is one number for several flows"),
            format!("write `{name}.up`, or `{name}(goodput[up])`"),
        )),
        (_, Scope::Together(rest)) => no_percentile(entry, rest).or_else(|| no_direction(m, rest)),
        _ => None,
    }
}

/// The refusal if `m` selects queues by a direction. Flows have one, queues do not: `lost.down` would be what the
/// stations called `down` lost on the way up.
fn no_direction(m: &Metric, rest: &str) -> Option<Refusal> {
    let downwards = match rest {
        "down" => true,
        "up" => false,
        _ => return None,
    };
    let at = |name: &str| Metric { scope: Scope::Each(name.to_owned()), ..m.clone() };
    let of_stations = at(rest);
    // Who looks for losses means drops, too.
    let of_ap = match m.entry.name {
        "lost" => "`drops[ap]` (its queue dropped them), `lost[ap]` (lost after it)".to_owned(),
        _ => format!("`{}`", at("ap")),
    };
    let remedy = if downwards {
        format!(
            "the packets on the way down wait at the access point: {of_ap}. The share of them that did not arrive is \
                `packet_loss.down`. Queues of stations called `down`: `{of_stations}`"
        )
    } else {
        format!(
            "the packets on the way up wait at their stations: `{of_stations}` if these are called `up`. The share of \
                them that did not arrive is `packet_loss.up`; the access point: {of_ap}"
        )
    };
    let what = format!("`{}` is a metric of queues, which have no direction", m.entry.name);
    (m.entry.subject == &QUEUES).then(|| Refusal::new(what, remedy))
}

/// The refusal if `rest`, after the name of a metric with samples, begins with a percentile or a trimmed mean that it
/// does not have.
fn no_percentile(entry: &MetricEntry, rest: &str) -> Option<Refusal> {
    if entry.aspects != Aspects::Samples {
        return None;
    }
    let (head, name) = (rest.split('.').next()?, entry.name);
    let is_number = |prefix: &str| {
        head.strip_prefix(prefix).is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    };
    if is_number("p") {
        return Some(Refusal::new(format!("`{name}` has the percentiles p01 to p99"), format!("write `{name}.p95`")));
    }
    let what = || format!("`{name}` has the trimmed means trim{LEAST_TRIM} to trim99");
    is_number("trim").then(|| Refusal::new(what(), format!("write `{name}.trim95`")))
}

/// Refuses an expression without its own value in each section.
fn sectioned(name: &str, does: &str, e: &Located) -> Result<(), ParseError> {
    let (e, span) = (&e.expr, &e.span);
    if shape(e) == Shape::Many {
        return Err(error(
            span.clone(),
            format!("{name}(...) {does} numbers, but `{e}` is a list"),
            "select one flow, or write mean(...)",
        ));
    }
    match e.timeless() {
        Some(m) => {
            let help = "use a metric that can be measured in a section, such as goodput";
            Err(error(span.clone(), format!("`{m}` is measured over the whole run only"), help))
        }
        None => Ok(()),
    }
}

/// Refuses expressions that have the same value in each section, because each of their metrics has its own window.
fn varies(all: &[&Located]) -> Result<(), ParseError> {
    let mut is_constant = true;
    for x in all {
        x.expr.visit(&mut |m| is_constant &= m.window.is_some());
    }
    if is_constant {
        let (from, to) = (&all[0].span, &all[all.len() - 1].span);
        let message = "this has the same value in each section, which are those of the whole run after the warm-up";
        return Err(error(from.start..to.end, message, "remove the window, or use it without sections"));
    }
    Ok(())
}

fn read_window(
    a: &str,
    b: &str,
    span: Range<usize>,
) -> Result<
    (contend_experiment::reading::expression::Number, contend_experiment::reading::expression::Number),
    ParseError,
> {
    match (literal(a.trim()), literal(b.trim())) {
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
        _ => Err(error(
            span,
            "this is not a time window",
            "write two instants of the run with their units: `[10s..15s]`",
        )),
    }
}

/// Refuses values that cannot be added or compared.
fn same(a: &Located, b: &Located) -> Result<(), ParseError> {
    match (dimension(&a.expr), dimension(&b.expr)) {
        (Some(x), Some(y)) if !x.adds_to(y) && !zero(&a.expr) && !zero(&b.expr) => {
            let (span, want) = if x == Dimension::Number { (a.span.clone(), y) } else { (b.span.clone(), x) };
            Err(error(span, format!("`{}` is {}, but `{}` is {}", a.expr, x.noun(), b.expr, y.noun()), unit_help(want)))
        }
        _ => Ok(()),
    }
}

fn zero(e: &Expr) -> bool {
    matches!(e, Expr::Number(n) if n.value == 0.0)
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

/// The shape of an expression: a number or a list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    One,
    /// Only the run decides: the name may belong to one member or to a group.
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
        Expr::Call(Callee::Run(f), _) if f.is_list => Shape::Many,
        _ => Shape::One,
    }
}

/// The dimension of an expression; `None` when it is unknown.
pub(super) fn dimension(e: &Expr) -> Option<Dimension> {
    match e {
        Expr::Number(n) => Some(n.unit),
        Expr::Metric(m) => Some(m.unit()),
        Expr::Minus(x) => dimension(x),
        Expr::Binary(operator, x, y) => {
            let (a, b) = (dimension(x)?, dimension(y)?);
            match operator {
                Operator::Add | Operator::Subtract if zero(x) => Some(b),
                Operator::Add | Operator::Subtract if zero(y) => Some(a),
                _ => operator.unit(a, b),
            }
        }
        Expr::Call(callee, arguments) => {
            let first = || arguments.first().and_then(dimension);
            match callee {
                Callee::Numbers(f) => f.yields.unit(first()),
                Callee::Run(f) => f.yields.unit(first()),
                Callee::Model(model) => Some(model.unit),
            }
        }
        Expr::Comparison(_) | Expr::Text(_) | Expr::Absent => None,
    }
}
