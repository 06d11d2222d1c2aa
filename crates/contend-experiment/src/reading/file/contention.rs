//! `[contention]`: stations that always have a frame to send. There is no network.

use super::alone;
use super::choice::{choice, objection};
use super::error::{FileError, Source};
use super::network::params;
use super::reader::{ReadContext, Val};
use super::tree::Node;
use super::wifi::read_busy_slot;
use crate::point::Contended;
use crate::reading::roster::ACCESS;
use contend_sim::wifi::access::{Category, Scheduling, Setting};
use contend_sim::wifi::phy::Standard;
use contend_sim::wifi::{ContenderSpec, SaturatedSpec};

/// Maximum number of stations.
const MOST_STATIONS: u64 = 65_535;
/// Maximum number of successes in a run; each takes four bytes.
const MOST_SUCCESSES: u64 = 1_000_000_000;

/// Reads `[contention]` in `tree`.
pub(crate) fn resolve(source: &Source, tree: &Node) -> Result<Contended, FileError> {
    let params = params(source, tree)?;
    let cx = ReadContext::new(source, &params);
    let mut f = alone(cx, tree, "contention", "[contention]", "{ stations = 10, rule = \"dcf\" }")?.table()?;
    let n = f.need("stations", "10")?.integer(1..=MOST_STATIONS)?;
    let successes = f.read_or("successes", 1_000_000, |v| v.integer(1..=MOST_SUCCESSES))?;
    let warmup = f.read_or("warmup", 0, |v| v.integer(0..=MOST_SUCCESSES))?;
    let busy_slot = read_busy_slot(&mut f)?;
    let cw_min = f.read_or("cwmin", 31, |v| v.integer(0..=32_767))? as u32;
    let cw_max = f.read_or("cwmax", 1023, |v| match v.integer(0..=32_767)? {
        max if max < u64::from(cw_min) => {
            Err(v.error(format!("is {max}, less than cwmin = {cw_min}"), "write a larger cwmax"))
        }
        max => Ok(max),
    })? as u32;
    let collision = f.read_or("collision", 68.0, |v| match v.number()? {
        slots if (1.0..=1e6).contains(&slots) && slots > 1.0 => Ok(slots),
        _ => Err(v.error(
            "must be more than one slot and at most 1e6",
            "write the duration of a collision in slots; 68 for 1500 B in 802.11b",
        )),
    })?;
    let bytes = f.read_or("packet", 1500, |v| v.bytes(1..=65_535))? as u32;
    let noise = f.read_or("noise", 0.0, |v| match v.share()? {
        p if (0.0..1.0).contains(&p) => Ok(p),
        _ => Err(v.error("must be below 100%", "write less than 100%")),
    })?;
    let rule = f.need("rule", "\"dcf\"")?;
    let given = f.get("categories");
    let categories = match &given {
        None => vec![Category::Be],
        Some(v) => {
            let known = Category::ALL.map(|c| (c.name(), c));
            let mut all = v
                .list("the categories in which each station has something to send, [\"vo\", \"be\"]")?
                .map(|c| c.word(&known))
                .collect::<Result<Vec<_>, _>>()?;
            let many = all.len();
            all.sort_unstable_by_key(|c| *c as u32);
            all.dedup();
            if all.is_empty() || all.len() < many {
                return Err(v.error("must name at least one category, each only once", "write [\"vo\", \"be\"]"));
            }
            all
        }
    };
    f.finish()?;
    let setting = Setting {
        cw_min,
        cw_max,
        rank: 0,
        stations: n as u32,
        collision,
        slower: 1.0,
        standard: Standard::B,
        category: Category::Be,
    };
    let mut contenders = Vec::with_capacity(n as usize);
    for k in 1..=n {
        let v = Val { cx: ReadContext { member: Some((k as usize, n as usize)), ..cx }, ..rule.clone() };
        let rule = choice(&v, ACCESS.all(), "access rule")?;
        let station = k as u32 - 1;
        let built = (rule.entry.build)(&rule.args, setting.member(station, n as u32));
        let several = built.as_ref().is_ok_and(|r| r.scheduling() == Scheduling::AfterBackoff);
        objection(&v, rule.entry.name, built)?;
        if let (Some(given), false) = (&given, several) {
            return Err(given.error(
                format!("needs a rule with categories that contend separately, and {} has none", rule.entry.name),
                "write rule = \"edca\", or remove it",
            ));
        }
        for &category in &categories {
            // A station with a single category is not named after the category.
            let name = if categories.len() == 1 { format!("sta{k}") } else { format!("{}.{k}", category.name()) };
            contenders.push(ContenderSpec { name, rule: rule.clone(), station, category });
        }
    }
    Ok(Contended { spec: SaturatedSpec { seed: 0, contenders, setting, busy_slot, bytes, noise }, successes, warmup })
}
