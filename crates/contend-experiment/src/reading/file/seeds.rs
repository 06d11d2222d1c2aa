//! `seeds`: a list, or the precision that they must give.

use super::claim::{Decide, Until};
use super::error::{FileError, Spot};
use super::reader::Val;
use super::tree::NodeKind;
use std::collections::BTreeSet;

/// Maximum number of seeds of a point.
pub const MOST: u64 = 100_000;
/// Every point starts with this number of seeds if the file asks for a precision: an interval from fewer is too
/// uncertain to stop by it.
pub const FIRST: u64 = 5;
/// Default of `at_most`.
const AT_MOST: u64 = 200;

/// Reads `seeds`: the seeds with which every point starts, and when a point has enough.
pub fn seeds(val: &Val) -> Result<(Vec<u64>, Option<Until>), FileError> {
    if val.node.entries().is_none() {
        return Ok((list(val)?, None));
    }
    let mut f = val.table()?;
    let share = f.need("until", "\"2%\"")?;
    let until = match share.share()? {
        x if x > 0.0 && x < 1.0 => x,
        _ => {
            let help = "write the half width of the interval as a share of the mean, above 0% and below 100%";
            return Err(share.error("is out of range", help));
        }
    };
    let of = f.need("of", "\"goodput.total\"")?;
    let at_most = f.read_or("at_most", AT_MOST, |v| v.integer(FIRST..=MOST))?;
    let from = f.read_or("from", 1, |v| v.integer(0..=u64::from(u32::MAX)))?;
    let until = Until { share: until, of: of.text()?.to_owned(), of_site: of.node.site.clone(), at_most };
    f.finish()?;
    Ok(((from..from + FIRST).collect(), Some(until)))
}

/// Reads `decide`: a number of seeds, or a table.
pub fn decide(val: &Val) -> Result<Decide, FileError> {
    let most = |v: &Val| v.integer(2..=MOST);
    if val.node.entries().is_none() {
        return Ok(Decide { seeds: most(val)?, first_reading_only: false });
    }
    let mut f = val.table()?;
    let seeds = most(&f.need("seeds", "200")?)?;
    let first_reading_only = f.read_or("readings", false, |v| v.word(&[("all", false), ("first", true)]))?;
    f.finish()?;
    Ok(Decide { seeds, first_reading_only })
}

/// Reads `"1..5"`, `"7"` or `[1, 2, 3]`.
fn list(val: &Val) -> Result<Vec<u64>, FileError> {
    const HELP: &str = "write \"1..5\" for the seeds 1, 2, 3, 4 and 5, \"7\" for one, or a list";
    if let NodeKind::List(_) = val.node.kind {
        let seeds: Vec<u64> = val.list(HELP)?.map(|v| v.integer(0..=u64::MAX)).collect::<Result<_, _>>()?;
        let twice = seeds.iter().collect::<BTreeSet<_>>().len() < seeds.len();
        return if seeds.is_empty() || twice {
            Err(val.error("must have at least one seed, each only once", HELP))
        } else {
            Ok(seeds)
        };
    }
    if let (NodeKind::Integer(_), Spot::Set(..)) = (&val.node.kind, &val.node.site) {
        // `--seeds 7`: no quotes on the command line.
        return Ok(vec![val.integer(0..=u64::MAX)?]);
    }
    let text = val.text().map_err(|_| val.error(format!("must be a string, not {}", val.node.kind_name()), HELP))?;
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(first), Ok(last)) if first > last => Err(val.error(format!("is empty: \"{text}\""), HELP)),
        (Ok(first), Ok(last)) if last - first >= MOST => {
            Err(val.error(format!("has more than {MOST} seeds"), "use fewer"))
        }
        (Ok(first), Ok(last)) => Ok((first..=last).collect()),
        _ => Err(val.error(format!("cannot be \"{text}\""), HELP)),
    }
}
