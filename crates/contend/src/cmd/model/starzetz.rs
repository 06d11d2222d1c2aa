//! `contend model hash` and `backoff-cost`: calculators for contention without memory (Starzetz 2006 §8.1).

use super::numbers::{Numbers, number, numbers, share, shares};
use super::{Answer, Counts, Given, counts, list, value};
use crate::cmd::wrong;
use contend_core::Refusal;
use contend_theory::hash_table;
use contend_theory::slots::Slots;
use miette::Result;
use serde_json::json;

fn sizes(s: &str) -> Result<Counts, Refusal> {
    list(s, 1, "slots")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Dist {
    /// The same probability in every slot
    Uniform,
    /// The ramp of HASH1
    Hash1,
}

impl Dist {
    /// The distribution as an argument of closed forms.
    fn ramp(self) -> Given<'static> {
        ("ramp", "--dist", f64::from(u8::from(self == Dist::Hash1)))
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
    #[arg(
        long, visible_alias = "cw", default_value = "32", value_parser = sizes,
        conflicts_with_all = ["weights", "collisions"],
    )]
    slots: Counts,
    /// Distribution from which a station draws its slot
    #[arg(long, value_enum, default_value_t = Dist::Uniform)]
    dist: Dist,
    /// Relative probabilities of the slots, like 4,3,2,1; replaces --slots and --dist
    #[arg(long, value_parser = numbers, conflicts_with = "dist")]
    weights: Option<Numbers>,
    /// p_c, share of cycles that end in a collision: compute the window that gives this share. One value for all, or
    /// one for each number of stations
    #[arg(long, value_parser = shares, conflicts_with = "weights")]
    collisions: Option<Numbers>,
    /// Measured mean number of empty slots before a success, to compare with uniform slots (H): one value for all, or
    /// one for each number of stations
    #[arg(long, value_parser = numbers, requires = "collisions", requires = "collision_wait", conflicts_with = "dist")]
    success_wait: Option<Numbers>,
    /// Measured mean number of empty slots before a collision, in the same form
    #[arg(long, value_parser = numbers, requires = "success_wait")]
    collision_wait: Option<Numbers>,
    /// Waits that differ by at most this many slots count as equal
    #[arg(long, default_value = "0", value_parser = number)]
    within: f64,
    /// Share of frames lost to channel errors
    #[arg(long, default_value = "0", value_parser = share)]
    corrupted: f64,
}

pub(super) fn hash(a: &Hash) -> Result<Answer> {
    match &a.collisions {
        Some(rates) => windows(a, rates),
        None => tables(a),
    }
}

fn wait(x: Option<f64>) -> String {
    x.map_or("-".to_owned(), |x| format!("{x:.3}"))
}

/// Contention among stations without memory: each station draws a new slot in every cycle.
struct Drawn {
    collision: f64,
    ratio: f64,
    /// `None` if no cycle succeeds.
    success_wait: Option<f64>,
    /// `None` if no cycle collides.
    collision_wait: Option<f64>,
}

impl Drawn {
    /// Computes the values by closed forms.
    fn of(case: &[Given]) -> Result<Drawn> {
        let collision = value("hash.collision", case)?;
        let wait = |exists: bool, model| if exists { value(model, case).map(Some) } else { Ok(None) };
        Ok(Drawn {
            collision,
            ratio: value("hash.ratio", case)?,
            success_wait: wait(collision < 1.0, "hash.success_wait")?,
            collision_wait: wait(collision > 0.0, "hash.collision_wait")?,
        })
    }

    /// Computes the values for any distribution. A closed form takes numbers only, so the list of weights is passed to
    /// `contend_theory` directly.
    fn of_weights(weights: &[f64], stations: u32) -> Result<Drawn> {
        let drawn = Slots::of(weights).and_then(|slots| hash_table::contention(&slots, stations));
        let drawn = drawn.map_err(|e| wrong(e, "write relative probabilities, like --weights 4,3,2,1"))?;
        let (success_wait, collision_wait) = (drawn.success_wait, drawn.collision_wait);
        Ok(Drawn { collision: drawn.collision, ratio: drawn.ratio(), success_wait, collision_wait })
    }
}

fn tables(a: &Hash) -> Result<Answer> {
    let (name, sizes) = match &a.weights {
        Some(weights) => ("given", vec![weights.0.len() as u32]),
        None => (a.dist.name(), a.slots.0.clone()),
    };
    let mut out = format!("Stations without memory draw a new slot in every cycle, distribution {name}\n");
    out += &format!(
        "{:>8} {:>7} {:>12} {:>10} {:>12} {:>9} {:>9}\n",
        "stations", "slots", "collision p", "R", "observed p", "W_T", "W_C"
    );
    let mut rows = Vec::new();
    for c in &sizes {
        for &n in &a.stations.0 {
            let h = match &a.weights {
                Some(weights) => Drawn::of_weights(&weights.0, n)?,
                None => Drawn::of(&[("n", "--stations", n.into()), ("slots", "--slots", (*c).into()), a.dist.ramp()])?,
            };
            let corrupted = [("collision", "--weights", h.collision), ("corrupted", "--corrupted", a.corrupted)];
            let observed = value("hash.observed", &corrupted)?;
            let (t, w, ratio) = (wait(h.success_wait), wait(h.collision_wait), h.ratio);
            out += &format!("{n:>8} {c:>7} {:>12.6} {ratio:>10.6} {observed:>12.6} {t:>9} {w:>9}\n", h.collision);
            rows.push(json!({
                "stations": n, "slots": c, "dist": name, "collision_probability": h.collision,
                "collisions_over_successes": ratio,
                "observed_probability": observed, "success_wait_slots": h.success_wait,
                "collision_wait_slots": h.collision_wait}));
        }
    }
    out += "collision p: share of cycles that end in a collision. R: collisions per success. observed p: share of\n";
    out += "cycles that look like collisions, with channel errors. W_T, W_C: mean number of empty slots before a\n";
    out += "success and before a collision.\n";
    Ok(Answer::new("hash", out, rows))
}

/// One value of `given` for each number of stations. A single value is repeated.
fn paired(key: &str, given: &Numbers, stations: usize) -> Result<Vec<f64>> {
    match given.0.as_slice() {
        [one] => Ok(vec![*one; stations]),
        all if all.len() == stations => Ok(all.to_vec()),
        all => Err(wrong(
            format!("--{key} has {} values, but --stations has {stations}", all.len()),
            "write one value, or lists of the same length",
        )),
    }
}

fn windows(a: &Hash, rates: &Numbers) -> Result<Answer> {
    let stations = &a.stations.0;
    let rates = paired("collisions", rates, stations.len())?;
    let measured = match (&a.success_wait, &a.collision_wait) {
        (Some(t), Some(w)) => {
            Some((paired("success-wait", t, stations.len())?, paired("collision-wait", w, stations.len())?))
        }
        _ => None,
    };
    let mut out = format!(
        "Window in which stations without memory collide in this share of cycles, distribution {}\n",
        a.dist.name()
    );
    out += &format!(
        "{:>8} {:>12} {:>11} {:>10} {:>9} {:>9} {:>9}\n",
        "stations", "collision p", "R", "window", "W_T of H", "W_C of H", "than H"
    );
    let mut rows = Vec::new();
    for (i, (&n, &p)) in stations.iter().zip(&rates).enumerate() {
        let case = [("n", "--stations", n.into()), ("collision", "--collisions", p)];
        let window = value("hash.window", &[&case[..], &[a.dist.ramp()]].concat())?;
        let (t, w) = (value("hash.equal_success_wait", &case)?, value("hash.equal_collision_wait", &case)?);
        let (success_wait, collision_wait) = ((p < 1.0).then_some(t), Some(w));
        let standing = match &measured {
            Some((t, w)) => {
                let of = |v: &[f64]| v.get(i).copied().unwrap_or_default();
                let measured = [
                    ("success_wait", "--success-wait", of(t)),
                    ("collision_wait", "--collision-wait", of(w)),
                    ("within", "--within", a.within),
                ];
                Some(word(value("hash.standing", &[&case[..], &measured].concat())?))
            }
            None => None,
        };
        // p = R/(R + 1).
        let ratio = p / (1.0 - p);
        let (t, w) = (wait(success_wait), wait(collision_wait));
        out += &format!("{n:>8} {p:>12.6} {ratio:>11.6} {window:>10.3} {t:>9} {w:>9} {:>9}\n", standing.unwrap_or("-"));
        rows.push(json!({"stations": n, "collision_probability": p, "dist": a.dist.name(), "window_slots": window,
            "h_success_wait_slots": success_wait, "h_collision_wait_slots": collision_wait, "standing": standing}));
    }
    out += "H: uniform slots with the same share of collisions. W_T, W_C of H: mean number of empty slots before a\n";
    out += "success and before a collision. than H: `better` if both measured waits are shorter, `worse` if both are\n";
    out += "longer, `same` or `mixed` otherwise.\n";
    Ok(Answer::new("hash", out, rows))
}

/// What a value of `hash.standing` means.
fn word(standing: f64) -> &'static str {
    ["same", "better", "worse", "mixed"].get(standing as usize).copied().unwrap_or("-")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A success after i slots costs i, a collision i + T (eqs. 8.9, 8.10)
    Slots,
    /// Times in windows, collisions by the density of the distribution (eq. 8.15)
    Density,
    /// As density, but waiting before a collision costs nothing (eq. 8.18)
    DensityWithoutWait,
    /// Each collision costs 1, waiting costs nothing
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
    /// T, cost of a collision: in slots, or in windows with --form density
    #[arg(long, default_value = "68", value_parser = number)]
    cost: f64,
    /// How costs are counted
    #[arg(long, value_enum, default_value_t = Form::Slots)]
    form: Form,
    /// Wasted time by the compact sum of eq. 8.20 as printed (the optimum is still that of the expanded sum)
    #[arg(long)]
    as_printed: bool,
    /// Wasted time per success, including the collisions before the success, instead of per cycle
    #[arg(long, conflicts_with = "as_printed")]
    per_success: bool,
    /// Instead of the table, print the density of the first case at this many points of the window
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=10_001))]
    points: Option<u32>,
}

impl BackoffCost {
    /// The arguments of the closed forms.
    fn case(&self, stations: u32, slots: u32) -> Vec<Given<'static>> {
        let form = match self.form {
            Form::Slots => 0,
            Form::Density => 1,
            Form::DensityWithoutWait => 2,
            Form::Collisions => 3,
        };
        let one = |on: bool| f64::from(u8::from(on));
        vec![
            ("n", "--stations", stations.into()),
            ("slots", "--slots", slots.into()),
            ("cost", "--cost", self.cost),
            ("form", "--form", form.into()),
            ("printed", "--as-printed", one(self.as_printed)),
            ("per_success", "--per-success", one(self.per_success)),
        ]
    }
}

/// The density of the cheapest distribution of backoffs at `t`.
fn density_at(case: &[Given<'static>], t: f64) -> Result<f64> {
    value("backoff_cost.optimal_density", &[case, &[("t", "--points", t)]].concat())
}

pub(super) fn backoff_cost(a: &BackoffCost) -> Result<Answer> {
    if let Some(points) = a.points {
        return density(a, points);
    }
    let mut out = format!("Cheapest distribution of backoffs, T {}\n", a.cost);
    out += &format!(
        "{:>8} {:>6} {:>11} {:>11} {:>11} {:>11} {:>8} {:>8} {:>8}\n",
        "stations", "slots", "least", "uniform", "hash1", "collision p", "p first", "middle", "last"
    );
    let mut rows = Vec::new();
    for &c in &a.slots.0 {
        for &n in &a.stations.0 {
            let case = a.case(n, c);
            let least =
                value(if a.per_success { "backoff_cost.least_per_success" } else { "backoff_cost.least" }, &case)?;
            let wasted = |model: &str, ramp: f64| -> Result<f64> {
                // Cycles per success: one for each collision before the success, and one for the success.
                let cycles = if a.per_success {
                    1.0 + value("hash.ratio", &[&case[..], &[("ramp", "", ramp)]].concat())?
                } else {
                    1.0
                };
                Ok(value(model, &case)? * cycles)
            };
            let (of_uniform, of_ramp) = (wasted("backoff_cost.uniform", 0.0)?, wasted("backoff_cost.hash1", 1.0)?);
            let p = value("backoff_cost.optimal_collision", &case)?;
            let middle = (f64::from(c / 2) + 0.5) / f64::from(c);
            let (first, middle, last) = (density_at(&case, 0.0)?, density_at(&case, middle)?, density_at(&case, 1.0)?);
            out += &format!(
                "{n:>8} {c:>6} {least:>11.5} {of_uniform:>11.5} {of_ramp:>11.5} {p:>11.6} {first:>8.4} {middle:>8.4} \
                    {last:>8.4}\n"
            );
            rows.push(json!({
                "stations": n, "slots": c, "cost": a.cost, "least": least, "uniform": of_uniform, "hash1": of_ramp,
                "collision_probability": p,
                "density_first": first, "density_middle": middle, "density_last": last}));
        }
    }
    out += "least, uniform, hash1: time wasted per cycle (with --per-success per success), in the unit of T, by the\n";
    out += "cheapest distribution, by uniform slots and by HASH1. The other columns describe the cheapest\n";
    out += "distribution. p first, middle, last: probability of that slot times the number of slots.\n";
    Ok(Answer::new("backoff-cost", out, rows))
}

fn density(a: &BackoffCost, points: u32) -> Result<Answer> {
    let (n, c) = (a.stations.0.first().copied().unwrap_or(2), a.slots.0.first().copied().unwrap_or(1));
    let case = a.case(n, c);
    // The source solves only two stations in continuous time.
    let solution = match a.form {
        Form::Density if n == 2 && !a.per_success => Some("backoff_cost.density"),
        Form::DensityWithoutWait if n == 2 && !a.per_success => Some("backoff_cost.density_without_wait"),
        _ => None,
    };
    let mut out = format!("Cheapest distribution of backoffs, {n} stations, {c} slots, T {}\n", a.cost);
    out += &format!("{:>8} {:>7} {:>10} {:>10}\n", "t", "slot", "density", "continuous");
    let mut rows = Vec::new();
    for k in 0..points {
        let t = f64::from(k) / f64::from(points - 1);
        let slot = ((t * f64::from(c)) as u32).min(c - 1);
        let p = density_at(&case, t)?;
        let there = solution.map(|m| value(m, &[("cost", "--cost", a.cost), ("t", "--points", t)])).transpose()?;
        out += &format!("{t:>8.4} {slot:>7} {p:>10.5} {:>10}\n", there.map_or("-".to_owned(), |x| format!("{x:.5}")));
        rows.push(json!({
            "stations": n, "slots": c, "cost": a.cost, "t": t, "slot": slot, "density": p, "continuous_density": there,
        }));
    }
    out += "density: probability of the slot times the number of slots. continuous: solution for two stations in\n\
        continuous time (eq. 8.17 or 8.19).\n";
    Ok(Answer::new("backoff-cost", out, rows))
}
