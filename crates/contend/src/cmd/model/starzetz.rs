//! `contend model hash` and `backoff-cost`: contention without memory as a calculator (Starzetz 2006 §8.1).

use super::numbers::{Numbers, number, numbers, share, shares};
use super::{Counts, Printed, answer, counts, invalid, list};
use crate::Done;
use crate::cmd::wrong;
use contend_theory::backoff_cost::{Costs, Optimum, Sum};
use contend_theory::backoff_density;
use contend_theory::effective_window::{Measured, Standing, beside, reference, window_of};
use contend_theory::hash_table::{contention, with_errors};
use contend_theory::slots::{Family, Slots};
use miette::Result;
use serde_json::json;

fn sizes(s: &str) -> Result<Counts, String> {
    list(s, 1, "slots")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Dist {
    /// The same probability in every slot
    Uniform,
    /// HASH1's ramp
    Hash1,
}

impl Dist {
    fn family(self) -> Family {
        match self {
            Dist::Uniform => Family::Uniform,
            Dist::Hash1 => Family::Hash1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Dist::Uniform => "uniform",
            Dist::Hash1 => "hash1",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Hash {
    /// N, numbers of stations: a list like 2,5,10 or a range like 2..10
    #[arg(long, default_value = "2,3,4,5,10,20,50", value_parser = counts)]
    stations: Counts,
    /// C, slots of the window: a list or a range
    #[arg(long, visible_alias = "cw", default_value = "32", value_parser = sizes, conflicts_with_all = ["weights", "collisions"])]
    slots: Counts,
    /// How a station draws its slot
    #[arg(long, value_enum, default_value_t = Dist::Uniform)]
    dist: Dist,
    /// Probabilities of the slots in place of --slots and --dist, as a list in proportion like 4,3,2,1
    #[arg(long, value_parser = numbers, conflicts_with = "dist")]
    weights: Option<Numbers>,
    /// p_c, share of cycles that end in a collision: asks for the window. One for all, or one for each number of
    /// stations
    #[arg(long, value_parser = shares, conflicts_with = "weights")]
    collisions: Option<Numbers>,
    /// Measured mean of empty slots before a success, to be held against H: one, or one for each number of stations
    #[arg(long, value_parser = numbers, requires = "collisions", requires = "collision_wait", conflicts_with = "dist")]
    success_wait: Option<Numbers>,
    /// The same before a collision
    #[arg(long, value_parser = numbers, requires = "success_wait")]
    collision_wait: Option<Numbers>,
    /// Waits that differ by no more than so many slots count as equal
    #[arg(long, default_value = "0", value_parser = number)]
    within: f64,
    /// Share of all frames that channel errors spoil
    #[arg(long, default_value = "0", value_parser = share)]
    spoilt: f64,
    #[command(flatten)]
    printed: Printed,
}

pub(super) fn hash(a: &Hash) -> Result<Done> {
    match &a.collisions {
        Some(rates) => windows(a, rates),
        None => tables(a),
    }
}

fn wait(x: Option<f64>) -> String {
    x.map_or("-".to_owned(), |x| format!("{x:.3}"))
}

fn tables(a: &Hash) -> Result<Done> {
    let all: Vec<(u32, Slots)> = match &a.weights {
        Some(w) => vec![(w.0.len() as u32, Slots::of(&w.0).map_err(invalid)?)],
        None => {
            a.slots.0.iter().map(|c| Ok((*c, a.dist.family().slots(*c)?))).collect::<Result<_, _>>().map_err(invalid)?
        }
    };
    let name = if a.weights.is_some() { "given" } else { a.dist.name() };
    let mut out = format!("Stations that draw a slot in every cycle and forget it, slots {name}\n");
    out += &format!(
        "{:>8} {:>7} {:>12} {:>10} {:>12} {:>9} {:>9}\n",
        "stations", "slots", "collision p", "R", "observed p", "W_T", "W_C"
    );
    let mut rows = Vec::new();
    for (c, slots) in &all {
        for &n in &a.stations.0 {
            let h = contention(slots, n).map_err(invalid)?;
            let observed = with_errors(h.collision, a.spoilt).map_err(invalid)?;
            let (t, w, ratio) = (wait(h.success_wait), wait(h.collision_wait), h.ratio());
            out += &format!("{n:>8} {c:>7} {:>12.6} {ratio:>10.6} {observed:>12.6} {t:>9} {w:>9}\n", h.collision);
            rows.push(json!({"stations": n, "slots": c, "dist": name, "collision_probability": h.collision, "collisions_over_successes": ratio,
                "observed_probability": observed, "success_wait_slots": h.success_wait, "collision_wait_slots": h.collision_wait}));
        }
    }
    out += "collision p: share of cycles. R: collisions over successes. observed p: with frames that the channel \
        spoils.\n";
    out += "W_T, W_C: mean empty slots before a success and before a collision.\n";
    answer(&a.printed, "hash", &out, rows)
}

/// As many of `given` as there are numbers of stations: each its own, or one for all.
fn paired(key: &str, given: &Numbers, stations: usize) -> Result<Vec<f64>> {
    match given.0.as_slice() {
        [one] => Ok(vec![*one; stations]),
        all if all.len() == stations => Ok(all.to_vec()),
        all => Err(wrong(
            format!("--{key} has {} numbers and --stations {stations}", all.len()),
            "write one, or lists of the same length",
        )),
    }
}

fn windows(a: &Hash, rates: &Numbers) -> Result<Done> {
    let stations = &a.stations.0;
    let rates = paired("collisions", rates, stations.len())?;
    let measured = match (&a.success_wait, &a.collision_wait) {
        (Some(t), Some(w)) => {
            Some((paired("success-wait", t, stations.len())?, paired("collision-wait", w, stations.len())?))
        }
        _ => None,
    };
    let mut out = format!("Window in which stations that forget collide as often, slots {}\n", a.dist.name());
    out += &format!(
        "{:>8} {:>12} {:>11} {:>10} {:>9} {:>9} {:>9}\n",
        "stations", "collision p", "R", "window", "W_T of H", "W_C of H", "than H"
    );
    let mut rows = Vec::new();
    for (i, (&n, &p)) in stations.iter().zip(&rates).enumerate() {
        let window = window_of(a.dist.family(), n, p).map_err(invalid)?;
        let h = reference(n, window_of(Family::Uniform, n, p).map_err(invalid)?).map_err(invalid)?;
        let standing = match &measured {
            Some((t, w)) => {
                let of = |v: &[f64]| v.get(i).copied().unwrap_or_default();
                let measured = Measured { collision: p, success_wait: of(t), collision_wait: of(w) };
                Some(word(beside(n, &measured, a.within).map_err(invalid)?.standing))
            }
            None => None,
        };
        let ratio = h.ratio();
        let (t, w) = (wait(h.success_wait), wait(h.collision_wait));
        out += &format!("{n:>8} {p:>12.6} {ratio:>11.6} {window:>10.3} {t:>9} {w:>9} {:>9}\n", standing.unwrap_or("-"));
        rows.push(json!({"stations": n, "collision_probability": p, "dist": a.dist.name(), "window_slots": window,
            "h_success_wait_slots": h.success_wait, "h_collision_wait_slots": h.collision_wait, "standing": standing}));
    }
    out += "W_T, W_C of H: mean empty slots before a success and a collision with uniform slots at this rate of \
        collisions.\n";
    out += "than H: better when both measured waits are shorter, worse when both are longer, else mixed or same.\n";
    answer(&a.printed, "hash", &out, rows)
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Better => "better",
        Standing::Worse => "worse",
        Standing::Mixed => "mixed",
        Standing::Same => "same",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Collision i + T slots, success i slots (eqs. 8.9, 8.10)
    Slots,
    /// Eq. 8.15: times in windows, a collision as likely as its density
    Density,
    /// Eq. 8.18: the same, and waiting before a collision is free
    DensityWithoutWait,
    /// Collisions alone, each 1
    Collisions,
}

#[derive(Debug, clap::Args)]
pub(super) struct BackoffCost {
    /// N, numbers of stations: a list like 2,5,10 or a range like 2..50
    #[arg(long, default_value = "2,3,5,10,20,50", value_parser = counts)]
    stations: Counts,
    /// C, slots of the window: a list or a range
    #[arg(long, default_value = "32", value_parser = sizes)]
    slots: Counts,
    /// T, time a collision costs: in slots, or in windows with --form density
    #[arg(long, default_value = "68", value_parser = number)]
    cost: f64,
    /// What costs
    #[arg(long, value_enum, default_value_t = Form::Slots)]
    form: Form,
    /// Wasted time with the compact sum of eq. 8.20 as printed (the optimum is that of the expanded one)
    #[arg(long)]
    as_printed: bool,
    /// Waste of each success, collisions before it included, in place of each cycle
    #[arg(long, conflicts_with = "as_printed")]
    per_success: bool,
    /// Print the density of the first case at so many points of the window instead
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=10_001))]
    points: Option<u32>,
    #[command(flatten)]
    printed: Printed,
}

impl BackoffCost {
    fn costs(&self, slots: u32) -> Result<Costs> {
        match self.form {
            Form::Slots => Costs::slots(slots, self.cost),
            Form::Density => Costs::density(slots, self.cost),
            Form::DensityWithoutWait => Costs::density_without_wait(slots, self.cost),
            Form::Collisions => Costs::collisions(slots),
        }
        .map_err(invalid)
    }

    fn optimum(&self, costs: &Costs, stations: u32) -> Result<Optimum> {
        if self.per_success { costs.optimum_per_success(stations) } else { costs.optimum(stations) }.map_err(invalid)
    }
}

pub(super) fn backoff_cost(a: &BackoffCost) -> Result<Done> {
    if let Some(points) = a.points {
        return density(a, points);
    }
    let sum = if a.as_printed { Sum::Printed } else { Sum::Expanded };
    let mut out = format!("Cheapest distribution of backoffs, T {}\n", a.cost);
    out += &format!(
        "{:>8} {:>6} {:>11} {:>11} {:>11} {:>11} {:>8} {:>8} {:>8}\n",
        "stations", "slots", "least", "uniform", "hash1", "collision p", "p first", "middle", "last"
    );
    let mut rows = Vec::new();
    for &c in &a.slots.0 {
        let costs = a.costs(c)?;
        let (uniform, ramp) = (Slots::uniform(c).map_err(invalid)?, Slots::hash1(c).map_err(invalid)?);
        for &n in &a.stations.0 {
            let best = a.optimum(&costs, n)?;
            let wasted = |slots: &Slots| -> Result<f64> {
                let part = if a.per_success { contention(slots, n).map_err(invalid)?.success } else { 1.0 };
                Ok(costs.wasted(slots, n, sum).map_err(invalid)? / part)
            };
            let (least, of_uniform, of_ramp) = (wasted(&best.slots)?, wasted(&uniform)?, wasted(&ramp)?);
            let p = contention(&best.slots, n).map_err(invalid)?.collision;
            let at = |i: u32| best.slots.probabilities().get(i as usize).copied().unwrap_or(0.0) * f64::from(c);
            let (first, middle, last) = (at(0), at(c / 2), at(c - 1));
            out += &format!(
                "{n:>8} {c:>6} {least:>11.5} {of_uniform:>11.5} {of_ramp:>11.5} {p:>11.6} {first:>8.4} {middle:>8.4} \
                    {last:>8.4}\n"
            );
            rows.push(json!({"stations": n, "slots": c, "cost": a.cost, "least": least, "uniform": of_uniform, "hash1": of_ramp, "collision_probability": p,
                "density_first": first, "density_middle": middle, "density_last": last}));
        }
    }
    out += "least, uniform, hash1: time wasted in a cycle (or for a success), in the unit of T.\n";
    out += "collision p, p: of the cheapest; p is the probability of the slot times slots.\n";
    answer(&a.printed, "backoff-cost", &out, rows)
}

fn density(a: &BackoffCost, points: u32) -> Result<Done> {
    let (n, c) = (a.stations.0.first().copied().unwrap_or(2), a.slots.0.first().copied().unwrap_or(1));
    let best = a.optimum(&a.costs(c)?, n)?;
    // The source's solutions are those of two stations in continuous time.
    let continuous = |t: f64| match a.form {
        Form::Density if n == 2 && !a.per_success => backoff_density::with_wait(a.cost, t).map(|x| Some(x.pdf)),
        Form::DensityWithoutWait if n == 2 && !a.per_success => {
            backoff_density::without_wait(a.cost, t).map(|x| Some(x.pdf))
        }
        _ => Ok(None),
    };
    let mut out = format!("Cheapest distribution of backoffs, {n} stations, {c} slots, T {}\n", a.cost);
    out += &format!("{:>8} {:>7} {:>10} {:>10}\n", "t", "slot", "density", "continuous");
    let mut rows = Vec::new();
    for k in 0..points {
        let t = f64::from(k) / f64::from(points - 1);
        let slot = ((t * f64::from(c)) as u32).min(c - 1);
        let p = best.slots.probabilities().get(slot as usize).copied().unwrap_or(0.0) * f64::from(c);
        let there = continuous(t).map_err(invalid)?;
        out += &format!("{t:>8.4} {slot:>7} {p:>10.5} {:>10}\n", there.map_or("-".to_owned(), |x| format!("{x:.5}")));
        rows.push(json!({"stations": n, "slots": c, "cost": a.cost, "t": t, "slot": slot, "density": p, "continuous_density": there}));
    }
    out += "density: probability of the slot times slots. continuous: two stations, eq. 8.17 or 8.19.\n";
    answer(&a.printed, "backoff-cost", &out, rows)
}
