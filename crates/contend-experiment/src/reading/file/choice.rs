//! Reads an algorithm: its name and its parameters, checked against the registry entry. All families use this code.

use super::error::{FileError, Spot};
use super::family::Family;
use super::reader::{ReadContext, Val};
use super::tree::{Node, NodeKind, read_setting};
use crate::names::suggest;
use crate::reading::expression::{Dimension, Quantity};
use contend_core::Refusal;
use contend_core::registry::{Amount, Args, Choice, DropRule, Entry, Param, Role, Unit, Value, find};
use contend_core::{Span, Time};

/// Reads `"fifo"` or `{ kind = "fifo", limit = "100p" }`; `noun` is the kind of algorithm for messages.
pub(crate) fn choice<B: 'static>(val: &Val, family: &'static [Entry<B>], noun: &str) -> Result<Choice<B>, FileError> {
    Ok(named(val, family, noun, None, &[])?.0)
}

/// Like [`choice`], with two additions: a table without `kind` means the algorithm `usual`; and one key may belong to
/// the file instead of the algorithm. Returns the value of this key if it is there.
pub(crate) fn named<'a, B: 'static>(
    val: &Val<'a>,
    family: &'static [Entry<B>],
    noun: &str,
    usual: Option<&str>,
    own: &[&'static str],
) -> Result<(Choice<B>, Option<Val<'a>>), FileError> {
    let val = val.pick()?;
    if let NodeKind::Text(name) = &val.node.kind {
        let entry = entry(&val, name, family, noun)?;
        return Ok((Choice { entry, args: defaults(&val, entry.name, entry.params)? }, None));
    }
    let example = usual.or(family.first().map(|e| e.name)).unwrap_or_default();
    let mut fields = val.described(example)?;
    let entry = match (fields.get("kind"), usual) {
        (None, Some(usual)) => entry(&val, usual, family, noun)?,
        (Some(kind), _) => entry(&kind, kind.text()?, family, noun)?,
        (None, None) => {
            let kind = fields.need("kind", &format!("\"{example}\""))?;
            entry(&kind, kind.text()?, family, noun)?
        }
    };
    let mut args = Args::default();
    let given: Vec<Option<Val>> = entry.params.iter().map(|param| fields.get(param.name)).collect();
    let own = own.iter().find_map(|&key| fields.get(key));
    fields.finish()?;
    for (param, v) in entry.params.iter().zip(given) {
        args.set(param.name, v.map_or_else(|| default(&val, entry.name, param), |v| parameter(&v, param))?);
    }
    check_beside(&val, entry.params)?;
    Ok((Choice { entry, args }, own))
}

/// Refuses a parameter that has no meaning without another one, if that one is not given.
fn check_beside(val: &Val, params: &[Param]) -> Result<(), FileError> {
    let given = |key: &str| val.node.get(key).is_some();
    for param in params.iter().filter(|p| given(p.name)) {
        if let Role::Beside { other, without, remedy } = param.role
            && !given(other)
        {
            return Err(val.error(format!("has `{}` and no `{other}`: {without}", param.name), remedy));
        }
    }
    Ok(())
}

/// Refuses the key `file` of an algorithm that reads no file.
pub(crate) fn check_file<B>(
    file: Option<&Val>,
    entry: &Entry<B>,
    family: &'static [Entry<B>],
) -> Result<(), FileError> {
    let Some(file) = file.filter(|_| entry.file().is_none()) else { return Ok(()) };
    let reader = family.iter().find(|e| e.file().is_some()).map_or(entry.name, |e| e.name);
    Err(file.error(format!("has no meaning for {}", entry.name), format!("write kind = \"{reader}\"")))
}

/// Several algorithms of one family, each with its name in the results.
pub(crate) type NamedList<B> = Vec<(String, Choice<B>)>;

/// Checks an algorithm, given its place in the file.
type Check<'c, B> = dyn Fn(&Val, &Choice<B>) -> Result<(), FileError> + 'c;

/// Reads a list of algorithms: a name or a table for each. A table has a `name` if its kind alone is ambiguous. `shape`
/// is an example of a list; `check` is called for each algorithm.
pub(crate) fn named_list<B: 'static>(
    v: &Val,
    family: &'static [Entry<B>],
    noun: &str,
    shape: &str,
    check: &Check<'_, B>,
) -> Result<NamedList<B>, FileError> {
    let mut all: NamedList<B> = vec![];
    for item in v.list(shape)? {
        let (choice, own) = named(&item, family, noun, None, &["name"])?;
        check(&item, &choice)?;
        let name = own.as_ref().map_or(Ok(choice.entry.name), |n| n.text())?;
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(own
                .as_ref()
                .unwrap_or(&item)
                .error(format!("is not a valid name of an {noun}: \"{name}\""), "use letters, digits and _"));
        }
        if all.iter().any(|(n, _)| n == name) {
            return Err(
                item.error(format!("is the second {noun} called \"{name}\""), format!("give it its own name: {shape}"))
            );
        }
        all.push((name.to_owned(), choice));
    }
    Ok(all)
}

/// The algorithm `name` with its defaults, except for the parameters in `set`.
pub(crate) fn default_choice<B: 'static>(
    cx: ReadContext,
    family: &'static [Entry<B>],
    name: &'static str,
    set: &[(&'static str, Value)],
) -> Result<Choice<B>, FileError> {
    let node = Node { site: Spot::None, kind: NodeKind::Text(name.into()) };
    let mut choice = choice(&Val { cx, path: name.into(), node: &node }, family, "algorithm")?;
    for (name, value) in set {
        choice.args.set(name, value.clone());
    }
    Ok(choice)
}

/// The error that an algorithm reports when it is built from its parameters.
pub(crate) fn objection<T>(val: &Val, name: &str, built: Result<T, Refusal>) -> Result<T, FileError> {
    built.map_err(|Refusal { what, remedy }| val.error(format!("cannot use {name}: {what}"), remedy))
}

fn entry<B>(val: &Val, name: &str, family: &'static [Entry<B>], noun: &str) -> Result<&'static Entry<B>, FileError> {
    // `ts-are` means `ts_are`: in prose the name has a hyphen.
    find(family, name).or_else(|| find(family, &name.replace('-', "_"))).ok_or_else(|| {
        let help = elsewhere(name).unwrap_or_else(|| suggest(name, family.iter().map(|e| e.name)));
        val.error(format!("names an unknown {noun}: \"{name}\""), help)
    })
}

/// The remedy if `name` is an algorithm of another family.
fn elsewhere(name: &str) -> Option<String> {
    let mut all = Family::ALL.into_iter().flat_map(Family::algorithms);
    let other = all.find(|a| a.name == name)?;
    Some(format!("`{name}` is {}: write {}", other.family.noun(), other.usage()))
}

fn defaults(val: &Val, name: &str, params: &'static [Param]) -> Result<Args, FileError> {
    let mut args = Args::default();
    for param in params {
        args.set(param.name, default(val, name, param)?);
    }
    Ok(args)
}

fn default(val: &Val, name: &str, param: &Param) -> Result<Value, FileError> {
    let Some(text) = param.default else {
        return Err(val.error(
            format!("needs `{}` for {name}: {}", param.name, param.doc),
            format!("write {{ kind = \"{name}\", {} = {} }}", param.name, example(param)),
        ));
    };
    written(val, param, text)
}

/// The value of a parameter that the file does not have, as if the file said `text`.
pub(crate) fn written(val: &Val, param: &Param, text: &str) -> Result<Value, FileError> {
    let node = Node { site: Spot::None, ..read_setting(0, 0, text) };
    parameter(
        &Val { cx: ReadContext { member: None, ..val.cx }, path: format!("{}.{}", val.path, param.name), node: &node },
        param,
    )
}

fn example(param: &Param) -> String {
    let x = param.range.0;
    match param.unit {
        Unit::Number => format!("{}", if x > 0.0 { x } else { 1e-5 }),
        Unit::Integer => format!("{}", x.max(1.0)),
        Unit::Time => "\"100ms\"".into(),
        Unit::Rate => "\"1Mbps\"".into(),
        Unit::Amount => "\"100p\"".into(),
        Unit::Fraction => "\"1%\"".into(),
        Unit::Bool => "true".into(),
        Unit::Word(words) => format!("\"{}\"", words.first().unwrap_or(&"")),
        Unit::Schedule => "[[\"50s\", \"100s\", \"2Mbps\"]]".into(),
        Unit::Intervals => "[[\"1s\", \"2s\"]]".into(),
        Unit::Drops => "[{ flow = \"down\", segment = 20 }]".into(),
        Unit::Weights => "[[\"down.1.sta\", 2]]".into(),
        Unit::Numbers => "[4, 3, 2, 1]".into(),
        Unit::Group(of) => of.first().map_or_else(|| "{}".into(), |p| format!("{{ {} = {} }}", p.name, example(p))),
    }
}

/// The largest whole number that a floating-point number tells from its neighbours: 2^53.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The value of one parameter, checked against its range.
fn parameter(val: &Val, param: &Param) -> Result<Value, FileError> {
    let within = |x: f64, unit: Dimension| {
        if (param.range.0..=param.range.1).contains(&x) {
            return Ok(());
        }
        let show = |value| Quantity { value, unit };
        let (low, high) = param.range;
        // An algorithm in Python may leave a bound out.
        let help = match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("write a value from {} to {}", show(low), show(high)),
            (true, false) => format!("write at least {}", show(low)),
            (false, _) => format!("write at most {}", show(high)),
        };
        Err(val.error(format!("is out of range: {}", show(x)), help))
    };
    Ok(match param.unit {
        Unit::Number => {
            let x = val.number()?;
            within(x, Dimension::Number)?;
            Value::Number(x)
        }
        Unit::Fraction => {
            let x = val.share()?;
            within(x, Dimension::Number)?;
            Value::Number(x)
        }
        Unit::Integer => {
            let x = val.number()?;
            within(x, Dimension::Number)?;
            if x.fract() != 0.0 {
                return Err(val.error(format!("is not a whole number: {x}"), "round it"));
            }
            if x.abs() > LARGEST_INTEGER {
                return Err(val.error(format!("is too large: {x}"), format!("write at most {LARGEST_INTEGER}")));
            }
            Value::Integer(x as i64)
        }
        Unit::Time => {
            let span = val.span()?;
            within(span.as_secs_f64(), Dimension::Time)?;
            Value::Time(span)
        }
        Unit::Rate => {
            let bps = val.rate()?;
            within(bps as f64, Dimension::Rate)?;
            Value::Rate(bps)
        }
        Unit::Amount => {
            let amount = val.amount()?;
            match amount {
                Amount::Packets(n) => within(n as f64, Dimension::Packets)?,
                Amount::Bytes(n) => within(n as f64, Dimension::Bytes)?,
            }
            Value::Amount(amount)
        }
        Unit::Bool => Value::Bool(val.flag()?),
        Unit::Word(words) => {
            let pairs: Vec<(&str, &str)> = words.iter().map(|w| (*w, *w)).collect();
            Value::Word(val.word(&pairs)?.into())
        }
        Unit::Schedule => Value::Schedule(schedule(val)?),
        Unit::Intervals => Value::Intervals(intervals(val)?),
        Unit::Weights => {
            const SHAPE: &str = "[[\"down.1.sta\", 2], ...]: name, number";
            let read = |item: Val| match item.list(SHAPE)?.collect::<Vec<_>>().as_slice() {
                [name, weight] => {
                    let x = weight.number()?;
                    within(x, Dimension::Number)?;
                    Ok((name.text()?.to_string(), x))
                }
                _ => Err(item.error("must have two values", format!("write {SHAPE}"))),
            };
            Value::Weights(val.list(SHAPE)?.map(read).collect::<Result<_, _>>()?)
        }
        Unit::Numbers => {
            let read = |item: Val| {
                let x = item.number()?;
                within(x, Dimension::Number)?;
                Ok(x)
            };
            Value::Numbers(val.list("[4, 3, 2, 1]: numbers")?.map(read).collect::<Result<_, _>>()?)
        }
        Unit::Group(of) => {
            let mut fields = val.table()?;
            let given: Vec<(&Param, Val)> = of.iter().filter_map(|p| Some((p, fields.get(p.name)?))).collect();
            fields.finish()?;
            let mut args = Args::default();
            for (p, v) in given {
                args.set(p.name, parameter(&v, p)?);
            }
            Value::Group(args)
        }
        Unit::Drops => Value::Drops(drops(val)?),
    })
}

/// Reads rates, each with its beginning and its end.
fn schedule(val: &Val) -> Result<Vec<(Time, Time, u64)>, FileError> {
    const SHAPE: &str = "[[\"50s\", \"100s\", \"2Mbps\"], ...]: from, to, rate";
    let read = |item: Val| match item.list(SHAPE)?.collect::<Vec<_>>().as_slice() {
        [from, to, rate] => Ok((from.time()?, after(to, from.time()?)?, rate.rate()?)),
        _ => Err(item.error("must have three values", format!("write {SHAPE}"))),
    };
    val.list(SHAPE)?.map(read).collect()
}

/// Reads the segments that are dropped.
fn drops(val: &Val) -> Result<Vec<DropRule>, FileError> {
    let read = |item: Val| {
        let mut f = item.table()?;
        let flow = f.need("flow", "\"down\"")?.text()?.to_string();
        let segment = f.need("segment", "20")?.integer(0..=1_000_000_000_000)?;
        let copy = f.read_or("copy", 0, |v| v.integer(0..=255))? as u8;
        f.finish()?;
        Ok(DropRule { flow, segment, copy })
    };
    val.list("[{ flow = \"down\", segment = 20, copy = 0 }, ...]")?.map(read).collect()
}

/// Reads pairs of a beginning and an end.
pub(crate) fn intervals(val: &Val) -> Result<Vec<(Time, Time)>, FileError> {
    const SHAPE: &str = "[[\"400ms\", \"410ms\"], ...]: from, to";
    let read = |item: Val| match item.list(SHAPE)?.collect::<Vec<_>>().as_slice() {
        [from, to] => Ok((from.time()?, after(to, from.time()?)?)),
        _ => Err(item.error("must have two values", format!("write {SHAPE}"))),
    };
    val.list(SHAPE)?.map(read).collect()
}

/// The end of an interval that begins at `from`.
fn after(to: &Val, from: Time) -> Result<Time, FileError> {
    let time = to.time()?;
    if time.since(from) > Span::ZERO {
        Ok(time)
    } else {
        Err(to.error("is not after the beginning of its interval", "write a later time"))
    }
}
