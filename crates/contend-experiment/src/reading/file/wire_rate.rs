//! The rate of a wire: constant, by a table of times and rates, or by a trace of deliveries; in the file or beside it.

use super::error::{FileError, Source, Spot};
use super::reader::Val;
use super::traces::Traces;
use super::tree::NodeKind;
use crate::reading::expression::quantity::{FASTEST, LONGEST, NotAQuantity};
use crate::reading::expression::{Dimension, Quantity};
use contend_core::{Span, Time};
use contend_sim::scenario::{BadEntry, Deliveries, RateSteps, WireRate};
use std::sync::Arc;

/// Reads the `rate` of a wire.
pub(super) fn wire_rate(v: &Val, traces: &Traces) -> Result<WireRate, FileError> {
    let v = v.pick()?;
    match &v.node.kind {
        NodeKind::Text(t) if t == "infinite" => Ok(WireRate::Constant(0)),
        NodeKind::Table(_) | NodeKind::Dotted(_) => changing(&v, traces),
        _ => match v.rate()? {
            0 => Err(v.error("is zero", "write a rate like \"100Mbps\", or \"infinite\" for a wire with delay only")),
            bps => Ok(WireRate::Constant(bps)),
        },
    }
}

/// Reads `{ trace = "FILE" }` or `{ schedule = [[TIME, RATE], ...] }`.
fn changing(v: &Val, traces: &Traces) -> Result<WireRate, FileError> {
    let mut f = v.table()?;
    let (trace, schedule) = (f.get("trace"), f.get("schedule"));
    f.finish()?;
    match (trace, schedule) {
        (Some(trace), None) => {
            traces.rate(&trace, |file, text| rate(text).map_err(|e| e.in_file(file, text, &trace.path)))
        }
        (None, Some(schedule)) => self::schedule(&schedule),
        (Some(_), Some(schedule)) => Err(schedule.error("and `trace` give the rate twice", "remove one of the two")),
        (None, None) => Err(v.error("needs `trace` or `schedule`", "write { trace = \"FILE\" }")),
    }
}

fn schedule(v: &Val) -> Result<WireRate, FileError> {
    const SHAPE: &str = "[[\"0s\", \"10Mbps\"], [\"5s\", \"2Mbps\"]]: times and rates";
    let items: Vec<Val> = v.list(SHAPE)?.collect();
    let step = |item: &Val| match item.list(SHAPE)?.collect::<Vec<_>>().as_slice() {
        [time, rate] => Ok((time.time()?, rate.rate()?)),
        _ => Err(item.error("must have two values", format!("write {SHAPE}"))),
    };
    let steps = items.iter().map(step).collect::<Result<_, _>>()?;
    let wrong = |e: BadEntry| items.get(e.index).unwrap_or(v).error(e.message, e.remedy);
    RateSteps::new(steps).map(|steps| WireRate::Steps(Arc::new(steps))).map_err(wrong)
}

/// What is wrong in a line of a trace.
struct BadLine {
    /// Its number, from 0.
    line: usize,
    message: String,
    remedy: &'static str,
}

impl BadLine {
    /// The error about this line of the trace `file` with this `text`, which the key `key` names.
    fn in_file(self, file: &str, text: &str, key: &str) -> FileError {
        let source = Source { path: file.to_owned(), text: text.to_owned(), sets: vec![] };
        let start: usize = text.split_inclusive('\n').take(self.line).map(str::len).sum();
        let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
        let message = format!("the trace of `{key}`: {}", self.message);
        FileError::new(&source, &Spot::File(start..start + length), message, self.remedy)
    }
}

/// The rate of a trace: milliseconds of deliveries, or times and rates. Lines that are empty or begin with `#` are
/// skipped.
fn rate(text: &str) -> Result<WireRate, BadLine> {
    let lines = || text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
    let wrong = |line, message: String, remedy| BadLine { line, message, remedy };
    let place = |e: BadEntry, lines: &[usize]| {
        let line = lines.get(e.index).copied().unwrap_or(0);
        let entry = text.lines().nth(line).unwrap_or_default().trim();
        wrong(line, format!("\"{entry}\" {}", e.message), e.remedy)
    };
    let Some((_, first)) = lines().next() else { return Err(wrong(0, "there are no entries".to_owned(), TRACE)) };
    if fields(first).len() < 2 {
        let number = |(i, line): (usize, &str)| {
            let not = |_| wrong(i, format!("\"{}\" is not a whole number of milliseconds", line.trim()), TRACE);
            Ok((i, line.trim().parse::<u32>().map_err(not)?))
        };
        let (at, entries) = lines().map(number).collect::<Result<(Vec<_>, Vec<_>), _>>()?;
        return Deliveries::new(entries).map(|d| WireRate::Deliveries(Arc::new(d))).map_err(|e| place(e, &at));
    }
    let step = |(i, line): (usize, &str)| match fields(line).as_slice() {
        [time, rate] => {
            let seconds = value(time, Dimension::Time, LONGEST);
            let bps = value(rate, Dimension::Rate, FASTEST);
            let not = |text: &str, what| wrong(i, format!("\"{text}\" is not {what}"), TABLE);
            let seconds = seconds.ok_or_else(|| not(time, "a time of at most 1e6 s"))?;
            let bps = bps.ok_or_else(|| not(rate, "a rate of at most 1e12 bit/s"))?;
            Ok((i, (Time::ZERO + Span::from_secs_f64(seconds), bps.round() as u64)))
        }
        [_] => Err(wrong(i, "there is one value in this line, not two".into(), TABLE)),
        all => Err(wrong(i, format!("there are {} values in this line, not two", all.len()), TABLE)),
    };
    let heads = usize::from(HEADS.contains(&fields(first).as_slice()));
    let (at, steps) = lines().skip(heads).map(step).collect::<Result<(Vec<_>, Vec<_>), _>>()?;
    RateSteps::new(steps).map(|steps| WireRate::Steps(Arc::new(steps))).map_err(|e| place(e, &at))
}

/// The names that a table of times and rates may begin with.
const HEADS: [&[&str]; 2] = [&["time", "rate"], &["time_s", "rate_bps"]];
const TABLE: &str = "write time,rate in each line, in seconds and bit/s or with units: 0,10000000 or 500ms,10Mbps";
const TRACE: &str =
    "write one whole number in each line: milliseconds at which 1500 B may leave; or a table of time,rate";

/// The fields of a line of a table.
fn fields(line: &str) -> Vec<&str> {
    if line.contains([',', ';', '\t']) {
        line.split([',', ';', '\t']).map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    }
}

/// The value of `text` in base units; a plain number is in base units.
fn value(text: &str, dimension: Dimension, most: f64) -> Option<f64> {
    let value = match Quantity::parse(text) {
        Ok(q) if q.unit == dimension => q.value,
        Err(NotAQuantity::NoUnit(x)) => x,
        _ => return None,
    };
    (0.0..=most).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(of: &[(u64, u64)]) -> WireRate {
        let steps = of.iter().map(|&(ms, bps)| (Time::ZERO + Span::from_millis(ms), bps)).collect();
        WireRate::Steps(Arc::new(RateSteps::new(steps).unwrap()))
    }

    #[test]
    fn a_trace_is_known_by_its_first_line() {
        let read = |text: &str| rate(text).map_err(|e| format!("{}: {}", e.line, e.message)).unwrap();
        let deliveries = |at: &[u32]| WireRate::Deliveries(Arc::new(Deliveries::new(at.to_vec()).unwrap()));
        assert_eq!(read("0\n5\n 5\n\n# the end\n12"), deliveries(&[0, 5, 5, 12]));
        let want = steps(&[(0, 10_000_000), (1500, 0), (2000, 2_000_000)]);
        for text in [
            "0,10000000\n1.5,0\n2,2e6\n",
            "time,rate\n0s,10Mbps\n1500ms,0bps\n2s,2000kbps",
            "# from a drive\ntime_s;rate_bps\n0; 10000000\n1.5; 0\n2; 2000000\n",
            "0\t10000000\r\n1.5\t0\r\n2\t2000000\r\n",
            "0 10Mbps\n1.5 0\n2 2Mbps",
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }

    #[test]
    fn a_bad_line_is_named() {
        let error = |text: &str| {
            let e = rate(text).err().unwrap();
            assert!(!e.remedy.is_empty());
            (e.line + 1, e.message)
        };
        let all = [
            ("", 1, "no entries"),
            ("# nothing\n\n", 1, "no entries"),
            ("1\n2.5\n", 2, "\"2.5\" is not a whole number of milliseconds"),
            ("1\n-2\n", 2, "\"-2\" is not a whole number"),
            ("5\n\n4\n", 3, "\"4\" is earlier than the entry before it"),
            ("0\n0\n", 2, "\"0\" is the last entry and not later than 0"),
            ("ms,Mbps\n0,10\n", 1, "\"ms\" is not a time"),
            ("0,10Mbps\n1,2ms\n", 2, "\"2ms\" is not a rate"),
            ("0,10Mbps\n1,-2\n", 2, "\"-2\" is not a rate"),
            ("0,10Mbps\n1,2,3\n", 2, "there are 3 values"),
            ("0,10Mbps\n1\n", 2, "there is one value in this line"),
            ("time,rate\n1,10Mbps\n", 2, "\"1,10Mbps\" is not at time 0"),
            ("time,rate\n0,10Mbps\n0,1\n", 3, "\"0,1\" is not later"),
            ("0,0\n", 1, "without a rate above zero"),
            ("time,rate\n", 1, "is not at time 0"),
            ("0,inf\n", 1, "\"inf\" is not a rate"),
        ];
        for (text, line, message) in all {
            let e = error(text);
            assert!(e.0 == line && e.1.contains(message), "{text:?}: {e:?}");
        }
    }
}
