//! Reads `[[claim]]`, `[[check]]`, `[[figure]]` and `[search]`.

use super::claim::{
    Along, Bound, Check, Claim, Each, Expect, Figure, Log, Origin, Reading, Requirement, Search, Shown, Verdict, When,
};
use super::error::{FileError, Spot};
use super::reader::{Fields, Val};
use super::sweep::Sweep;
use super::tree::{Node, NodeKind, Overlay, flatten};
use crate::names::remedy;
use crate::reading::expression::{Quantity, WrittenUnit, numbers};
use crate::results::SweptValue;

/// Largest distance from the value of `near`, as a share of it, if the file does not say `within`.
const TOLERANCE: f64 = 0.1;

/// Context of claims, checks and figures.
pub(crate) struct Judge<'a> {
    pub sweep: &'a Sweep,
    /// Keys that the command line sets or sweeps, with the number of each table. Claims may select values of these keys
    /// that do not exist.
    pub set: Vec<Vec<String>>,
    /// The tables of `[readings]` by name, in the file's order.
    pub readings: Vec<(String, Vec<(String, Overlay)>)>,
}

/// Reads `verdict`: a word, or a table with the verdict of each of `readings`, in their order.
fn verdicts(val: &Val, readings: &[(String, Overlay)]) -> Result<Vec<Verdict>, FileError> {
    let words = Verdict::ALL.map(|v| (v.name(), v));
    if val.node.entries().is_none() {
        return Ok(vec![val.word(&words)?]);
    }
    let given: Vec<_> = val.table()?.all().collect();
    let names = || readings.iter().map(|(name, _)| name.as_str());
    if let Some((entry, v)) = given.iter().find(|(entry, _)| !names().any(|name| name == entry.key)) {
        return Err(v.error("is no reading of this claim", remedy(&entry.key, names())));
    }
    let of = |name: &str| match given.iter().find(|(entry, _)| entry.key == name) {
        Some((_, v)) => v.word(&words),
        None => Err(val.error(format!("has no verdict under \"{name}\""), format!("add {name} = \"reproduced\""))),
    };
    let all = names().map(of).collect::<Result<Vec<_>, _>>()?;
    if all.is_empty() {
        return Err(val.error("has no verdict", "write verdict = \"reproduced\""));
    }
    Ok(all)
}

impl Judge<'_> {
    /// Reads one `[[claim]]`.
    pub fn claim(&self, val: &Val) -> Result<Claim, FileError> {
        let mut f = val.table()?;
        let id = f.need("id", "\"H1\"")?;
        let id = match id.text()? {
            text if text.trim().is_empty() => return Err(id.error("is empty", "write id = \"H1\"")),
            text => text.to_string(),
        };
        let requirement = self.requirement(&mut f)?;
        let settings = match f.get("reading") {
            Some(v) => self.readings(&v)?,
            None => vec![],
        };
        let verdicts = f.get("verdict").map_or(Ok(vec![Verdict::default()]), |v| verdicts(&v, &settings))?;
        let verdict = verdicts[0];
        let readings = settings.into_iter().enumerate().map(|(i, (name, settings))| {
            // A single word is that of all readings.
            Reading { name, settings, verdict: *verdicts.get(i).unwrap_or(&verdict) }
        });
        let readings = readings.collect();
        let reason = f.read_or("reason", "", |v| v.text())?.to_string();
        let source = f.read_or("source", Origin::default(), |v| v.word(&Origin::ALL.map(|o| (o.name(), o))))?;
        let failed = verdicts.iter().find(|v| **v != Verdict::Reproduced);
        if let Some(verdict) = failed
            && reason.trim().is_empty()
        {
            return Err(f.error(
                format!("is recorded as \"{}\" but has no reason", verdict.name()),
                "write reason = \"why the paper's value is not met\"",
            ));
        }
        let claim = Claim {
            id,
            paper: f.read_or("paper", "", |v| v.text())?.to_string(),
            source,
            requirement,
            verdict,
            reason,
            readings,
        };
        f.finish()?;
        Ok(claim)
    }

    /// Reads the readings of a claim: a table of them, or the name of one of `[readings]`.
    fn readings(&self, val: &Val) -> Result<Vec<(String, Overlay)>, FileError> {
        let NodeKind::Text(name) = &val.node.kind else { return self.named_readings(val) };
        match self.readings.iter().find(|(set, _)| set == name) {
            Some((_, readings)) => Ok(readings.clone()),
            None => Err(val.error(
                format!("names readings that do not exist: \"{name}\""),
                remedy(name, self.readings.iter().map(|(set, _)| set.as_str())),
            )),
        }
    }

    /// Reads a table of readings. It has at least one.
    pub fn named_readings(&self, val: &Val) -> Result<Vec<(String, Overlay)>, FileError> {
        let all = val.table()?.all().map(|(entry, v)| Ok((entry.key.clone(), self.overlay(&v)?)));
        let all = all.collect::<Result<Vec<_>, FileError>>()?;
        if all.is_empty() {
            return Err(val.error("has no reading", "write { printed = { \"flow.0.window\" = \"1p\" } }"));
        }
        Ok(all)
    }

    /// Reads one `[[check]]`.
    pub fn check(&self, val: &Val) -> Result<Check, FileError> {
        let mut f = val.table()?;
        let what = f.need("what", "\"calls below 30 ms\"")?;
        let what = match what.text()? {
            text if text.trim().is_empty() => return Err(what.error("is empty", "say in words what must hold")),
            text => text.to_string(),
        };
        let id = f.read("id", |v| match v.text()? {
            text if text.trim().is_empty() => Err(v.error("is empty", "write a word, id = \"delay\"")),
            text => Ok(text.to_owned()),
        })?;
        let bound = f.read("bound", |v| v.word(&Bound::ALL.map(|b| (b.name(), b))))?;
        let why = f.read_or("why", "", |v| v.text())?.to_owned();
        if let Some(bound @ (Bound::Derived | Bound::Ours)) = bound
            && why.trim().is_empty()
        {
            let message = format!("has bound = \"{}\" without `why`", bound.name());
            return Err(f.error(message, "say in one sentence why the bound is this number: why = \"...\""));
        }
        let informative = f.read_or("informative", false, |v| v.flag())?;
        let check = Check { what, id, bound, why, informative, requirement: self.requirement(&mut f)? };
        f.finish()?;
        Ok(check)
    }

    /// Reads the keys of a table that say what must hold.
    fn requirement(&self, f: &mut Fields) -> Result<Requirement, FileError> {
        let metric = f.need("metric", "\"goodput.total\"")?;
        let expect = f.need("expect", "{ between = [1.2, 2.2] }")?;
        let requirement = Requirement {
            metric: expression(&metric)?,
            metric_site: metric.node.site.clone(),
            over: f.read("over", |v| self.overlay(&v))?,
            less: f.read("less", |v| self.overlay(&v))?,
            when: f.get("when").map_or(Ok(When::new()), |v| self.when(&v))?,
            each: f.read_or("each", Each::default(), |v| {
                v.word(&[("every", Each::Every), ("mean", Each::Mean), ("any", Each::Any)])
            })?,
            pool: f.read_or("pool", false, |v| v.flag())?,
            expect: self.expect(&expect)?,
            unit: bound_unit(expect.node),
        };
        if requirement.over.is_some() && requirement.less.is_some() {
            return Err(f.error(
                "has `over` and `less`",
                "write `over` for the ratio to another point, or `less` for the difference from it",
            ));
        }
        if requirement.pool && requirement.less.is_some() {
            return Err(f.error("has `pool` beside `less`", "remove `pool`: a mean of differences needs none"));
        }
        Ok(requirement)
    }

    fn expect(&self, val: &Val) -> Result<Expect, FileError> {
        let mut f = val.table()?;
        const KINDS: [&str; 7] = ["between", "at_least", "at_most", "near", "increasing", "decreasing", "order"];
        let mut given: Vec<(&str, Val)> = KINDS.into_iter().filter_map(|kind| f.get(kind).map(|v| (kind, v))).collect();
        let (within, along) = (f.get("within"), f.get("along"));
        let help = "write one of between = [1.2, 2.2], at_least = 0.9, at_most = \"10ms\", near = 1.5, perhaps with \
                    within = \"5%\", \
                    increasing = true or decreasing = true with along = \"flow.0.count\", order = [\"a\", \"b\"] with \
                    along";
        let (Some((kind, v)), None) = (given.pop(), given.pop()) else {
            f.finish()?;
            return Err(val.error("must have exactly one expectation", help));
        };
        if let (Some(within), true) = (&within, kind != "near") {
            return Err(within.error("belongs to near", help));
        }
        if let (Some(along), true) = (&along, !matches!(kind, "increasing" | "decreasing" | "order")) {
            return Err(along.error("belongs to increasing, decreasing or order", help));
        }
        let along = |f: &Fields| match &along {
            Some(v) => match self.sweep.key_of_rows(v, v.text()?)? {
                Some(key) => Ok(key),
                None => self.sweep.swept(v, v.text()?),
            },
            None => Err(f.error(
                format!("needs `along` for {kind}"),
                "name the swept key along which the metric moves: along = \"flow.0.count\"",
            )),
        };
        let expect = match kind {
            "between" => match v.list("[low, high]")?.collect::<Vec<_>>().as_slice() {
                [low, high] => {
                    let (low, high) = (low.any()?, same_unit(high, low.any()?)?);
                    if low.value > high.value {
                        return Err(v.error("has its lower end above its upper end", "write [low, high]"));
                    }
                    Expect::Between(low, high)
                }
                _ => return Err(v.error("must have two values", "write [low, high]")),
            },
            "at_least" => Expect::AtLeast(v.any()?),
            "at_most" => Expect::AtMost(v.any()?),
            "near" => {
                let value = v.any()?;
                let (distance, relative) = match within {
                    None => (TOLERANCE, true),
                    Some(within) => tolerance(&within, value)?,
                };
                let within = if relative { Quantity::number(distance) } else { Quantity { value: distance, ..value } };
                Expect::Near { value, within, relative }
            }
            "order" => {
                let named = f.get("along").map_or(Ok(""), |v| v.text())?.to_owned();
                let along = along(&f)?;
                // Of a row, its value of the key along which the points lie.
                let meant = |item: &Val| -> Result<Option<SweptValue>, FileError> {
                    let node = match self.sweep.rows(item, &named, &[item.node])? {
                        Some(keys) => {
                            keys.into_iter().find(|(key, _)| *key == along).and_then(|(_, of)| of.first().copied())
                        }
                        None => Some(item.node),
                    };
                    Ok(node.and_then(|node| self.sweep.value(&along, node)))
                };
                let known = |item: Val| match meant(&item)? {
                    Some(value) => Ok(value),
                    None if self.is_set(&item, &along)? => Ok(item.node.to_json().into()),
                    None => Err(item.error(
                        format!("is not a value of the sweep: {}", item.node.to_json()),
                        format!("values of {along}: {}", self.sweep.values(&along)),
                    )),
                };
                let values = v
                    .list("values of the swept key, the value with the largest metric first")?
                    .map(known)
                    .collect::<Result<Vec<_>, _>>()?;
                if values.len() < 2 {
                    return Err(v.error("must have two values or more", "name the value with the largest metric first"));
                }
                Expect::Order { values, along }
            }
            _ if !v.flag()? => return Err(v.error("is false", "remove it, or write true")),
            "increasing" => Expect::Increasing { along: along(&f)? },
            _ => Expect::Decreasing { along: along(&f)? },
        };
        f.finish()?;
        Ok(expect)
    }

    /// True if the command line sets the key `path`, a part of its value, the table that holds it, or the whole sweep.
    fn is_set(&self, at: &Val, path: &str) -> Result<bool, FileError> {
        let path = self.sweep.numbered(at, &at.node.site, path)?;
        let overlaps =
            |set: &Vec<String>| set.first().is_some_and(|s| s == "sweep") || set.iter().zip(&path).all(|(a, b)| a == b);
        Ok(self.set.iter().any(overlaps))
    }

    fn when(&self, val: &Val) -> Result<When, FileError> {
        val.table()?;
        let mut named = vec![];
        for (path, _, node) in flatten(val.node.entries().unwrap_or_default(), false) {
            let at = Val { path: format!("{}.\"{path}\"", val.path), node, ..val.clone() };
            let wanted = match &node.kind {
                NodeKind::List(list) => list.iter().collect(),
                _ => vec![node],
            };
            match self.sweep.rows(&at, &path, &wanted)? {
                Some(keys) => named.extend(keys.into_iter().map(|(key, values)| (at.clone(), key.to_owned(), values))),
                None => named.push((at, path, wanted)),
            }
        }
        let mut when = When::new();
        for (at, path, wanted) in named {
            let key = match self.sweep.swept(&at, &path) {
                Ok(key) => key,
                Err(_) if self.is_set(&at, &path)? => continue,
                Err(e) => return Err(e),
            };
            let mut values = vec![];
            for node in wanted {
                match self.sweep.value(&key, node) {
                    Some(value) => values.push(value),
                    None if self.is_set(&at, &path)? => {}
                    None => {
                        let at = Val { node, ..at.clone() };
                        return Err(at.error(
                            format!("is not a value of the sweep: {}", node.to_json()),
                            format!("values of {key}: {}", self.sweep.values(&key)),
                        ));
                    }
                }
            }
            if when.contains_key(&key) {
                return Err(at.error(format!("restricts {key} twice"), "name the row or its keys, not both"));
            }
            when.insert(key, values);
        }
        Ok(when)
    }

    /// The axis `x` of a figure with its own `values`.
    fn own_axis(&self, x: &Val, values: &Val) -> Result<Along, FileError> {
        let name = x.text()?;
        if matches!(name, "flow" | "time") || self.sweep.swept(x, name).is_ok() {
            return Err(values.error(
                format!("cannot be used in a figure over `{name}`"),
                "remove them, or write a new name as `x`, \"window\", and use point(\"window\") in `y`",
            ));
        }
        let list = values
            .list("numbers or quantities, [1, 2, 4]")?
            .map(|v| v.any().map(|_| v.node.to_json()))
            .collect::<Result<Vec<_>, _>>()?;
        if list.is_empty() {
            return Err(values.error("is an empty list", "write the values along `x`, [1, 2, 4]"));
        }
        Ok(Along::Own(name.to_owned(), list))
    }

    /// Reads the logarithmic axes of a figure along `x`.
    fn log(&self, val: &Val, x: &Along, when: &When) -> Result<Log, FileError> {
        const Y: Log = Log { x: false, y: true };
        let log = val.word(&[("x", Log { x: true, y: false }), ("y", Y), ("xy", Log { x: true, y: true })])?;
        let values = match x {
            _ if !log.x => return Ok(log),
            Along::Metric(_) => return Ok(log),
            Along::Key(key) => when.get(key).cloned().unwrap_or_else(|| self.sweep.values_of(key)),
            Along::Own(_, values) => values.iter().cloned().map(SweptValue::from).collect(),
            Along::Flow | Along::Time => {
                return Err(val.error("makes the axis of flows or time logarithmic", "write log = \"y\""));
            }
        };
        match numbers(&values.iter().collect::<Vec<_>>()) {
            None => Err(val.error("makes an axis of names logarithmic", "write log = \"y\"")),
            Some((all, _)) if all.iter().any(|x| *x <= 0.0) => Err(val.error(
                "needs values above zero on a logarithmic axis",
                "select the other values with `when`, or write log = \"y\"",
            )),
            Some(_) => Ok(log),
        }
    }

    /// Reads one `[[figure]]`.
    pub fn figure(&self, val: &Val) -> Result<Figure, FileError> {
        let mut f = val.table()?;
        let y = f.need("y", "\"goodput.total\"")?;
        let x = f.need("x", "\"flow.0.count\", \"flow\" or \"time\"")?;
        let y: Vec<Val> = match y.node.kind {
            NodeKind::List(_) => y.list("expressions")?.collect(),
            _ => vec![y],
        };
        let by = f.get("by");
        let along = match f.get("values") {
            Some(values) => self.own_axis(&x, &values)?,
            None => self.sweep.axis(&x, x.text()?),
        };
        let when = f.get("when").map_or(Ok(When::new()), |v| self.when(&v))?;
        let keys = by.map_or(Ok(vec![]), |v| self.by(&v, &along))?;
        let figure = Figure {
            title: f.read_or("title", "", |v| v.text())?.to_string(),
            log: f.get("log").map_or(Ok(Log::default()), |v| self.log(&v, &along, &when))?,
            x: along,
            x_site: x.node.site.clone(),
            y: y.iter().map(expression).collect::<Result<_, _>>()?,
            y_sites: y.iter().map(|v| v.node.site.clone()).collect(),
            by: keys.first().cloned(),
            panels: keys.get(1).cloned(),
            when,
        };
        f.finish()?;
        Ok(figure)
    }

    /// Reads the keys of `by`: that of the lines, and that of the panels. None of them is the key along `x`.
    fn by(&self, val: &Val, x: &Along) -> Result<Vec<String>, FileError> {
        let given: Vec<Val> = match val.node.kind {
            NodeKind::List(_) => val.list("one or two swept keys")?.collect(),
            _ => vec![val.clone()],
        };
        if !(1..=2).contains(&given.len()) {
            return Err(val.error(
                format!("has {} keys", given.len()),
                "name the key of the lines, and if need be that of the panels: [\"ap.queue\", \"flow.0.count\"]",
            ));
        }
        let mut keys: Vec<String> = vec![];
        for v in &given {
            let key = self.sweep.swept(v, v.text()?)?;
            if matches!(x, Along::Key(x) if *x == key) {
                return Err(
                    v.error(format!("is the key along `x` too: `{key}`"), "name another swept key, or remove it")
                );
            }
            if keys.contains(&key) {
                return Err(v.error(format!("names `{key}` twice"), "name each key once"));
            }
            keys.push(key);
        }
        Ok(keys)
    }

    /// Reads a table of key paths and values.
    fn overlay(&self, val: &Val) -> Result<Overlay, FileError> {
        val.table()?;
        let mut placed: Vec<(String, Spot, Node)> = vec![];
        for (path, site, node) in flatten(val.node.entries().unwrap_or_default(), false) {
            let at = Val { path: format!("{}.\"{path}\"", val.path), node, ..val.clone() };
            let own: Vec<(String, Node)> = match self.sweep.rows(&at, &path, &[node])? {
                // The label of a row stands for all its keys.
                Some(keys) => {
                    keys.into_iter().filter_map(|(key, of)| Some((key.to_owned(), (*of.first()?).clone()))).collect()
                }
                None => {
                    let path = self.sweep.key_path(val, site, &path)?;
                    let node = self.sweep.unlabelled(&path, node);
                    vec![(path, node)]
                }
            };
            for (path, node) in own {
                if placed.iter().any(|(known, ..)| *known == path) {
                    return Err(at.error(format!("sets {path} twice"), "name the row or its keys, not both"));
                }
                placed.push((path, site.clone(), node));
            }
        }
        placed.extend(self.sweep.joined(&placed));
        Ok(Overlay::placed(placed))
    }
}

/// Reads `show`: one metric or a list of metrics.
pub(crate) fn show(val: &Val) -> Result<Vec<Shown>, FileError> {
    let all: Vec<Val> = match val.node.kind {
        NodeKind::List(_) => val.list("metrics")?.collect(),
        _ => vec![val.clone()],
    };
    all.iter().map(|v| Ok(Shown { metric: expression(v)?, site: v.node.site.clone() })).collect()
}

/// Reads `[search]`.
pub(crate) fn search(val: &Val, sweep: &Sweep) -> Result<Search, FileError> {
    let mut f = val.table()?;
    let key = f.need("key", "\"flow.0.window\"")?;
    let from = f.need("from", "\"1p\"")?.any()?;
    let to = f.need("to", "\"100p\"")?;
    let to = same_unit(&to, from)?;
    let until = f.need("until", "\"jain >= 0.95\"")?;
    let search = Search {
        key: sweep.key_path(&key, &key.node.site, key.text()?)?,
        from,
        to,
        until: expression(&until)?,
        until_site: until.node.site.clone(),
    };
    if from.value == to.value {
        return Err(f.error("has nothing between from and to", "write two different values"));
    }
    f.finish()?;
    Ok(search)
}

/// The unit in which the bound of an `expect` is written.
fn bound_unit(expect: &Node) -> Option<WrittenUnit> {
    const BOUNDS: [&str; 4] = ["between", "at_least", "at_most", "near"];
    let given = expect.entries()?.iter().find(|e| BOUNDS.contains(&e.key.as_str()))?;
    let bound = match &given.value.kind {
        NodeKind::List(ends) => ends.first()?,
        _ => &given.value,
    };
    match &bound.kind {
        NodeKind::Text(text) => WrittenUnit::of(text),
        _ => None,
    }
}

fn expression(val: &Val) -> Result<String, FileError> {
    match val.text()? {
        t if t.trim().is_empty() => {
            Err(val.error("is empty", "write an expression like \"goodput.up / goodput.down\""))
        }
        t => Ok(t.into()),
    }
}

/// Reads `within` of `near = value`: the largest distance, and true if it is a share of the value.
fn tolerance(within: &Val, value: Quantity) -> Result<(f64, bool), FileError> {
    let relative = matches!(&within.node.kind, NodeKind::Text(t) if t.trim_end().ends_with('%'));
    let distance = if relative { within.share()? } else { same_unit(within, value)?.value };
    if distance < 0.0 {
        return Err(within.error("is negative", "write a distance, \"10%\""));
    }
    Ok((distance, relative))
}

fn same_unit(val: &Val, other: Quantity) -> Result<Quantity, FileError> {
    let q = val.any()?;
    if q.unit == other.unit {
        Ok(q)
    } else {
        Err(val.error(
            format!("is {}, but the other value is {}", q.unit.noun(), other.unit.noun()),
            "write both in the same kind of unit",
        ))
    }
}
