//! One run of a `[contention]` file, without a network: a point and a seed become a [`Run`].

use contend_core::Refusal;
use contend_experiment::point::Contended;
use contend_experiment::results::{Air, Detail, PointKey, Run, Successes, Wait, Ways};
use contend_sim::wifi::{Saturated, SaturatedSpec, Tally};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of successes between two checks of `stop`.
const STRETCH: u64 = 100_000;

/// Runs `contended` with `seed`; `successes` is true if the run keeps who succeeded. `stop` is checked regularly: when
/// it is set, the run ends early and returns `Ok(None)`.
///
/// # Errors
/// When a rule refuses its parameters, or when no station succeeds any more.
pub(crate) fn run(
    contended: &Contended,
    point: &PointKey,
    seed: u64,
    successes: bool,
    stop: &AtomicBool,
) -> Result<Option<Run>, Refusal> {
    let spec = SaturatedSpec { seed, ..contended.spec.clone() };
    let mut all = Saturated::new(&spec)?;
    let end = contended.warmup + contended.successes;
    let mut base = Tally::default();
    let mut here = 0;
    while here < end {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let edge = if here < contended.warmup { contended.warmup } else { end };
        here = edge.min(here + STRETCH);
        all.run_until(here, successes);
        let t = all.tally();
        if t.successes < here {
            return Err(Refusal::new(
                "no station succeeded in a million contentions in a row: all attempts collide",
                "choose a rule with more \
                    slots, or fewer stations",
            ));
        }
        if here == contended.warmup {
            base = t;
        }
    }
    let last = all.tally();
    let since = |of: fn(&Tally) -> u64| of(&last) - of(&base);
    let mean = |sum: u64, n: u64| sum as f64 / n.max(1) as f64;
    let (won, collisions, attempts) = (since(|t| t.successes), since(|t| t.collisions), since(|t| t.attempts));
    let air = Air {
        frames: attempts,
        successes: won,
        collisions,
        collision_probability: mean(since(|t| t.collided), attempts),
        retry_drops: 0,
        rivals: 0.0,
        wait: Wait {
            success: mean(since(|t| t.success_slots), won),
            collision: mean(since(|t| t.collision_slots), collisions),
        },
        busy: 0.0,
        airtime: Ways::default(),
        mpdus: None,
        mpdu_loss: None,
        mean_rate: None,
        mean_mcs: None,
        ledger: BTreeMap::new(),
        radio: None,
        routing_drops: None,
        roaming: None,
    };
    let sequence = if successes { all.successes().to_vec() } else { vec![] };
    Ok(Some(Run {
        seed,
        digest: format!("{:016x}", all.digest()),
        events: last.cycles(),
        air: Some(air),
        detail: Detail {
            successes: successes.then_some(Successes { sequence, warmup: contended.warmup as usize }),
            ..Detail::default()
        },
        ..names(contended, point)
    }))
}

/// A run of `contended` in which no time passes: it has the names of all stations.
pub(crate) fn names(contended: &Contended, point: &PointKey) -> Run {
    let contenders = &contended.spec.contenders;
    Run {
        // Index 0 is the access point of a network.
        stations: std::iter::once(String::new()).chain(contenders.iter().map(|c| c.name.clone())).collect(),
        contending: Some(contenders.len() as u32),
        air: Some(Air::default()),
        ..Run::of_model(point, BTreeMap::new(), BTreeMap::new())
    }
}
