//! Every word of a claim, on synthetic runs.

use super::*;
use crate::measuring::metric::synthetic::{empty, flow};
use contend_experiment::reading::file::need::needed;
use contend_experiment::reading::file::{self, Origin, Spot};
use serde_json::{Value, json};

fn number(value: f64) -> Quantity {
    Quantity { value, unit: Dimension::Number }
}

fn mbps(value: f64) -> Quantity {
    Quantity { value: value * 1e6, unit: Dimension::Rate }
}

fn claim(metric: &str, expect: Expect) -> Claim {
    Claim {
        id: "T".into(),
        paper: String::new(),
        source: Origin::Paper,
        requirement: Requirement {
            metric: metric.into(),
            metric_site: Spot::None,
            over: None,
            less: None,
            when: Default::default(),
            each: Each::Every,
            pool: false,
            expect,
            unit: None,
        },
        verdict: Verdict::Reproduced,
        reason: String::new(),
        readings: vec![],
    }
}

fn reading(name: &str, settings: Overlay) -> file::Reading {
    file::Reading { name: name.into(), settings, verdict: Verdict::Reproduced }
}

/// The claim with a changed requirement.
fn changed(mut c: Claim, change: impl FnOnce(&mut Requirement)) -> Claim {
    change(&mut c.requirement);
    c
}

fn source() -> Source {
    Source { path: "t.toml".into(), text: String::new(), sets: vec![] }
}

fn point(entries: &[(&str, Value)]) -> PointKey {
    entries.iter().map(|(k, v)| ((*k).to_owned(), v.clone().into())).collect()
}

fn overlay(entries: &[(&str, Value)]) -> Overlay {
    Overlay::of(entries.iter().map(|(k, v)| ((*k).to_owned(), v.clone())))
}

/// Values of `goodput.up` in bit/s at points that differ in the key `k`, one value for each seed from 1; also for
/// overlays on these points.
#[derive(Default)]
struct World {
    points: Vec<PointKey>,
    runs: Vec<(Need, Vec<Run>)>,
}

impl World {
    fn runs_of(values: &[f64], p: &PointKey) -> Vec<Run> {
        let run = |(i, x): (usize, &f64)| Run {
            point: p.clone(),
            flows: vec![flow("up.1", "up", *x), flow("down.1", "down", 1e6)],
            ..empty(i as u64 + 1)
        };
        values.iter().enumerate().map(run).collect()
    }

    fn at(mut self, p: &[(&str, Value)], values: &[f64]) -> World {
        let p = point(p);
        self.runs.push((Need { point: p.clone(), overlay: Overlay::default() }, World::runs_of(values, &p)));
        self.points.push(p);
        self
    }

    fn with(mut self, p: &[(&str, Value)], o: &[(&str, Value)], values: &[f64]) -> World {
        let p = point(p);
        self.runs.push((Need { point: p.clone(), overlay: overlay(o) }, World::runs_of(values, &p)));
        self
    }

    /// Points k = 0, 1, 2, ... with these values.
    fn along(values: &[&[f64]]) -> World {
        values.iter().enumerate().fold(World::default(), |w, (k, v)| w.at(&[("k", json!(k))], v))
    }

    fn judge(&self, c: &Claim) -> Judged {
        self.try_judge(c).unwrap()
    }

    fn try_judge(&self, c: &Claim) -> Result<Judged, FileError> {
        // Every need asked for was announced.
        let announced: Vec<String> = needed(&self.points, std::slice::from_ref(c), &[]).iter().map(Need::key).collect();
        let runs = |need: &Need| {
            assert!(announced.contains(&need.key()), "{} was not announced", need.key());
            self.runs.iter().filter(|(n, _)| n == need).flat_map(|(_, r)| r).collect()
        };
        judged(&source(), &self.points, c, &runs, None)
    }

    fn verdict(&self, c: &Claim) -> String {
        let j = self.judge(c);
        assert_eq!(j.results.len(), 1, "{:?}", j.notes);
        j.results[0].verdict.clone()
    }
}

fn one(values: &[f64]) -> World {
    World::default().at(&[], values)
}

const GOODPUT: &str = "goodput.up / 1Mbps";

#[test]
fn between_is_reproduced_inside_and_not_outside_and_undecided_across() {
    let c = claim(GOODPUT, Expect::Between(number(1.2), number(2.2)));
    assert_eq!(one(&[1.5e6, 1.6e6, 1.7e6]).verdict(&c), "reproduced");
    assert_eq!(one(&[2.5e6, 2.6e6, 2.7e6]).verdict(&c), "not reproduced");
    assert_eq!(one(&[0.5e6, 0.6e6, 0.7e6]).verdict(&c), "not reproduced");
    assert_eq!(one(&[2.1e6, 2.2e6, 2.3e6]).verdict(&c), "undecided");
    // The mean is inside, but the interval is not: t(1) = 12.7.
    assert_eq!(one(&[1.6e6, 1.8e6]).verdict(&c), "undecided");
}

#[test]
fn a_single_seed_is_judged_by_its_value() {
    let c = claim(GOODPUT, Expect::Between(number(1.2), number(2.2)));
    let r = one(&[2.2e6]).judge(&c).results.remove(0);
    assert_eq!((r.verdict.as_str(), r.measured.value, r.measured.ci95), ("reproduced", Some(2.2), None));
    assert_eq!(one(&[2.21e6]).verdict(&c), "not reproduced");
}

#[test]
fn at_least_and_at_most_have_one_bound() {
    let least = claim("goodput.up", Expect::AtLeast(mbps(1.0)));
    assert_eq!(one(&[1.3e6, 1.35e6, 1.4e6]).verdict(&least), "reproduced");
    assert_eq!(one(&[0.7e6, 0.8e6, 0.75e6]).verdict(&least), "not reproduced");
    assert_eq!(one(&[0.9e6, 1.2e6]).verdict(&least), "undecided");
    let most = claim("goodput.up", Expect::AtMost(mbps(1.0)));
    assert_eq!(one(&[1.1e6, 1.2e6, 1.15e6]).verdict(&most), "not reproduced");
    assert_eq!(one(&[0.7e6, 0.8e6, 0.75e6]).verdict(&most), "reproduced");
}

#[test]
fn near_takes_a_share_or_an_amount() {
    let share = claim("goodput.up", Expect::Near { value: mbps(2.0), within: number(0.1), relative: true });
    assert_eq!(one(&[2.19e6]).verdict(&share), "reproduced");
    assert_eq!(one(&[2.21e6]).verdict(&share), "not reproduced");
    let amount = claim("goodput.up", Expect::Near { value: mbps(2.0), within: mbps(0.1), relative: false });
    assert_eq!(one(&[2.09e6]).verdict(&amount), "reproduced");
    assert_eq!(one(&[1.89e6]).verdict(&amount), "not reproduced");
}

#[test]
fn expectations_are_told_in_words() {
    let said = |e: Expect| expected(&claim("goodput.up", e).requirement);
    assert_eq!(said(Expect::Between(number(1.2), number(2.2))), "1.2..2.2");
    assert_eq!(said(Expect::AtLeast(number(0.99))), ">= 0.99");
    assert_eq!(said(Expect::AtMost(Quantity { value: 0.3, unit: Dimension::Time })), "<= 300ms");
    assert_eq!(said(Expect::Near { value: mbps(9.62), within: number(0.05), relative: true }), "9.62Mbps ± 5 %");
    assert_eq!(said(Expect::Near { value: mbps(1.0), within: mbps(0.3), relative: false }), "1Mbps ± 300kbps");
    assert_eq!(said(Expect::Increasing { along: "flow.1.count".into() }), "increasing along flow.1.count");
    assert_eq!(
        said(Expect::Order { values: vec!["jersey".into(), "reno".into()], along: "flow.0.tcp".into() }),
        "jersey > reno along flow.0.tcp"
    );
    let any = changed(claim("goodput.up", Expect::AtLeast(number(1.0))), |r| r.each = Each::Any);
    assert_eq!(expected(&any.requirement), ">= 1 (any)");
}

#[test]
fn each_says_how_points_are_taken_together() {
    let with = |each: Each| changed(claim(GOODPUT, Expect::AtLeast(number(2.0))), |r| r.each = each);
    let split = World::along(&[&[1.0e6, 1.1e6, 1.2e6], &[5.0e6, 5.1e6, 5.2e6]]);
    assert_eq!(split.verdict(&with(Each::Every)), "not reproduced");
    assert_eq!(split.verdict(&with(Each::Any)), "reproduced");
    assert_eq!(split.verdict(&with(Each::Mean)), "reproduced");
    let low = World::along(&[&[1.0e6, 1.1e6, 1.2e6], &[1.5e6, 1.6e6, 1.7e6]]);
    assert_eq!(low.verdict(&with(Each::Any)), "not reproduced");
    assert_eq!(low.verdict(&with(Each::Mean)), "not reproduced");
    let vague = World::along(&[&[1.0e6, 3.0e6], &[5.0e6, 5.1e6, 5.2e6]]);
    assert_eq!(vague.verdict(&with(Each::Every)), "undecided");
    assert_eq!(vague.verdict(&with(Each::Any)), "reproduced");
}

#[test]
fn keys_that_the_sweep_zips_with_the_sequence_do_not_split_it() {
    let c = claim(GOODPUT, Expect::Increasing { along: "k".into() });
    let at = |w: World, k: u64, columns: u64, to: &str, x: f64| {
        w.at(&[("k", json!(k)), ("columns", json!(columns)), ("to", json!(to))], &[x])
    };
    // Columns follow k; `to` does not, and splits: "a" grows, "b" falls.
    let grows = at(at(at(World::default(), 5, 2, "a", 1e6), 9, 3, "a", 2e6), 12, 3, "a", 3e6);
    assert_eq!(grows.verdict(&c), "reproduced");
    let both = at(at(at(grows, 5, 2, "b", 3e6), 9, 3, "b", 2e6), 12, 3, "b", 1e6);
    assert_eq!(both.verdict(&c), "not reproduced");
}

#[test]
fn the_point_that_decides_is_the_one_reported() {
    let w = World::along(&[&[2.1e6], &[5e6], &[3e6]]);
    let r = |each: Each| {
        w.judge(&changed(claim(GOODPUT, Expect::AtLeast(number(2.0))), |r| r.each = each)).results.remove(0)
    };
    assert_eq!(r(Each::Every).measured.value, Some(2.1));
    assert_eq!(r(Each::Any).measured.value, Some(5.0));
    assert!((r(Each::Mean).measured.value.unwrap() - 10.1 / 3.0).abs() < 1e-12);
    let points = r(Each::Every).measured.points;
    assert_eq!(points.iter().map(|p| p.mean).collect::<Vec<_>>(), [2.1, 5.0, 3.0]);
    assert_eq!(*points[1].point["k"], 1);
}

#[test]
fn the_mean_over_points_is_taken_seed_by_seed() {
    // The points change in opposite directions: their mean is the same for every seed.
    let w = World::along(&[&[1e6, 2e6, 3e6], &[3e6, 2e6, 1e6]]);
    let r = w
        .judge(&changed(claim(GOODPUT, Expect::Between(number(1.9), number(2.1))), |r| r.each = Each::Mean))
        .results
        .remove(0);
    assert_eq!((r.verdict.as_str(), r.measured.value, r.measured.ci95), ("reproduced", Some(2.0), Some(0.0)));
}

#[test]
fn when_leaves_the_points_it_names() {
    let mut c = claim(GOODPUT, Expect::AtLeast(number(2.0)));
    let w = World::along(&[&[1e6], &[3e6], &[4e6]]);
    assert_eq!(w.verdict(&c), "not reproduced");
    c.requirement.when = [("k".to_owned(), vec![1.into(), 2.0.into()])].into();
    assert_eq!(w.verdict(&c), "reproduced");
    c.requirement.when = [("k".to_owned(), vec![9.into()])].into();
    assert!(w.try_judge(&c).unwrap_err().to_string().contains("`when`"));
}

#[test]
fn over_is_the_mean_of_ratios_paired_by_seed() {
    // Every seed gains exactly 40 %, although seeds differ by a factor of 3: only pairing shows it.
    let w = one(&[1.4e6, 2.8e6, 4.2e6]).with(&[], &[("ap.control", json!("pilosof"))], &[1e6, 2e6, 3e6]);
    let c = changed(claim("goodput.up", Expect::Between(number(1.35), number(1.5))), |r| {
        r.over = Some(overlay(&[("ap.control", json!("pilosof"))]))
    });
    let r = w.judge(&c).results.remove(0);
    assert_eq!(r.verdict, "reproduced");
    assert!((r.measured.value.unwrap() - 1.4).abs() < 1e-12 && r.measured.ci95.unwrap() < 1e-12);
    assert!(r.measured.points[0].metric.contains("pilosof"));
    let worse = one(&[1.1e6, 2.2e6, 3.3e6]).with(&[], &[("ap.control", json!("pilosof"))], &[1e6, 2e6, 3e6]);
    assert_eq!(worse.verdict(&c), "not reproduced");
}

#[test]
fn a_pooled_ratio_is_the_ratio_of_the_means() {
    let w = one(&[1e6, 3e6, 9e6]).with(&[], &[("a", json!(1))], &[2e6, 2e6]);
    let value = |pool: bool| {
        let c = changed(claim("goodput.up", Expect::AtMost(number(3.0))), |r| {
            r.over = Some(overlay(&[("a", json!(1))]));
            r.pool = pool;
        });
        let m = w.judge(&c).results.remove(0).measured;
        (m.value.unwrap(), m.points[0].n)
    };
    // (1 + 3) / (2 + 2); the third seed has no partner.
    assert_eq!(value(true), (1.0, 2));
    let w = one(&[1e6, 3e6]).with(&[], &[("a", json!(1))], &[1e6, 0.0]);
    let judged = |pool: bool| {
        let c = changed(claim("goodput.up", Expect::AtMost(number(9.0))), |r| {
            r.over = Some(overlay(&[("a", json!(1))]));
            r.pool = pool;
        });
        w.judge(&c).results.remove(0).measured.value
    };
    // A seed with nothing below counts when the means are divided.
    assert_eq!((judged(true), judged(false)), (Some(4.0), None));
}

#[test]
fn seeds_without_a_partner_are_left_out() {
    let w = one(&[2e6, 2e6, 9e6]).with(&[], &[("a", json!(1))], &[1e6, 1e6]);
    let c = changed(claim("goodput.up", Expect::Between(number(1.9), number(2.1))), |r| {
        r.over = Some(overlay(&[("a", json!(1))]))
    });
    let r = w.judge(&c).results.remove(0);
    assert_eq!((r.verdict.as_str(), r.measured.value, r.measured.points[0].n), ("reproduced", Some(2.0), 2));
}

#[test]
fn less_is_the_mean_of_differences_paired_by_seed() {
    // Every seed gains exactly 0.4 Mb/s, although seeds differ by a factor of 3.
    let w = one(&[1.4e6, 2.4e6, 3.4e6]).with(&[], &[("a", json!(1))], &[1e6, 2e6, 3e6]);
    let c = changed(claim("goodput.up", Expect::Between(mbps(0.3), mbps(0.5))), |r| {
        r.less = Some(overlay(&[("a", json!(1))]))
    });
    let r = w.judge(&c).results.remove(0);
    assert_eq!((r.verdict.as_str(), r.measured.value, r.measured.ci95), ("reproduced", Some(4e5), Some(0.0)));
    assert!(r.measured.points[0].metric.contains("less a = 1"), "{}", r.measured.points[0].metric);
}

#[test]
fn over_another_value_of_the_sweep_is_that_point_and_no_further_run() {
    let tcp = |t: &str| [("flow.0.tcp", json!(t)), ("p", json!("1%"))].map(|(k, v)| (k, v));
    let w = World::default().at(&tcp("jersey"), &[1.85e6]).at(&tcp("reno"), &[1e6]);
    let c = changed(claim("goodput.up", Expect::AtLeast(number(1.5))), |r| {
        r.over = Some(overlay(&[("flow.0.tcp", json!("reno"))]));
        r.when = [("flow.0.tcp".to_owned(), vec!["jersey".into()])].into();
    });
    assert_eq!(needed(&w.points, std::slice::from_ref(&c), &[]).len(), 2);
    assert_eq!(w.judge(&c).results[0].measured.value, Some(1.85));
    // If another setting is not swept, that setting is an overlay on the point.
    let n = Need::of(&w.points, &w.points[0], &overlay(&[("flow.0.tcp", json!("reno")), ("wifi.slot", json!("9us"))]));
    assert_eq!((n.point, n.overlay), (w.points[1].clone(), overlay(&[("wifi.slot", json!("9us"))])));
    // A value that the sweep does not have remains a setting.
    let o = overlay(&[("flow.0.tcp", json!("vegas"))]);
    assert_eq!(Need::of(&w.points, &w.points[0], &o), Need { point: w.points[0].clone(), overlay: o });
}

#[test]
fn needs_are_all_points_and_every_overlay_once() {
    let points = World::along(&[&[], &[], &[]]).points;
    let over = changed(claim("goodput.up", Expect::AtLeast(number(1.0))), |r| {
        r.over = Some(overlay(&[("ap.control", json!("none"))]))
    });
    let one_point = changed(over.clone(), |r| r.when = [("k".to_owned(), vec![1.into()])].into());
    let readings = Claim {
        readings: [("a", 1), ("b", 2)].map(|(name, x)| reading(name, overlay(&[("x", json!(x))]))).into(),
        ..one_point.clone()
    };
    let count = |claims: &[Claim]| needed(&points, claims, &[]).len();
    assert_eq!(count(&[]), 3);
    assert_eq!(count(std::slice::from_ref(&over)), 6);
    assert_eq!(count(&[over.clone(), over.clone(), one_point.clone()]), 6);
    assert_eq!(count(std::slice::from_ref(&one_point)), 4);
    // Each reading, with and without the overlay of `over`.
    assert_eq!(count(std::slice::from_ref(&readings)), 7);
    assert_eq!(
        needed(&points, &[over], &[])[..3],
        points.iter().map(|p| Need { point: p.clone(), overlay: Overlay::default() }).collect::<Vec<_>>()[..]
    );
}

#[test]
fn increasing_and_decreasing_follow_the_key_by_its_number() {
    let up = claim("goodput.up", Expect::Increasing { along: "k".into() });
    let down = claim("goodput.up", Expect::Decreasing { along: "k".into() });
    let rising = World::along(&[&[1e6, 1.1e6, 1.2e6], &[2e6, 2.1e6, 2.2e6], &[4e6, 4.1e6, 4.2e6]]);
    assert_eq!(rising.verdict(&up), "reproduced");
    assert_eq!(rising.verdict(&down), "not reproduced");
    let r = rising.judge(&up).results.remove(0);
    assert!((r.measured.value.unwrap() - 3e6).abs() < 1e-6);
    // Units are respected, and the order in the file is not.
    let delays = World::default()
        .at(&[("k", json!("1s"))], &[9e6])
        .at(&[("k", json!("20ms"))], &[3e6])
        .at(&[("k", json!("500us"))], &[1e6]);
    assert_eq!(delays.verdict(&up), "reproduced");
    assert_eq!(delays.verdict(&down), "not reproduced");
}

#[test]
fn one_step_the_wrong_way_is_enough() {
    let up = claim("goodput.up", Expect::Increasing { along: "k".into() });
    let dip = World::along(&[&[1e6, 1.1e6, 1.2e6], &[3e6, 3.1e6, 3.2e6], &[2e6, 2.1e6, 2.2e6], &[4e6, 4.1e6, 4.2e6]]);
    assert_eq!(dip.verdict(&up), "not reproduced");
}

#[test]
fn steps_are_paired_by_seed() {
    // The values differ far more between seeds than along the key.
    let up = claim("goodput.up", Expect::Increasing { along: "k".into() });
    assert_eq!(World::along(&[&[1e6, 5e6, 9e6], &[1.1e6, 5.1e6, 9.1e6]]).verdict(&up), "reproduced");
    assert_eq!(World::along(&[&[1e6, 5e6, 9e6], &[9.1e6, 1.1e6, 5.1e6]]).verdict(&up), "undecided");
}

#[test]
fn a_curve_that_has_reached_its_floor_still_falls_and_a_flat_one_does_not() {
    let down = claim("goodput.up", Expect::Decreasing { along: "k".into() });
    // Keceli's M3: 16.0, 10.9, 6.3, 0.04, 0.05 Mb/s.
    let floor =
        World::along(&[&[16.0e6, 16.1e6], &[10.9e6, 11.0e6], &[6.3e6, 6.4e6], &[0.04e6, 0.041e6], &[0.05e6, 0.051e6]]);
    assert_eq!(floor.verdict(&down), "reproduced");
    let bounce = World::along(&[&[16.0e6, 16.1e6], &[0.04e6, 0.041e6], &[2.0e6, 2.01e6]]);
    assert_eq!(bounce.verdict(&down), "not reproduced");
    assert_eq!(World::along(&[&[1e6], &[1e6], &[1e6]]).verdict(&down), "not reproduced");
    assert_eq!(World::along(&[&[1e6, 1.1e6], &[1.1e6, 1e6]]).verdict(&down), "undecided");
}

#[test]
fn points_that_differ_in_other_keys_are_sequences_of_their_own() {
    let w = |falls: f64| {
        let at = |w: World, b: i64, k: i64, x: f64| w.at(&[("b", json!(b)), ("k", json!(k))], &[x]);
        let w = at(at(World::default(), 1, 0, 5e6), 1, 1, 4e6);
        at(at(w, 2, 0, 9e6), 2, 1, falls)
    };
    let down = |each: Each| changed(claim("goodput.up", Expect::Decreasing { along: "k".into() }), |r| r.each = each);
    assert_eq!(w(8e6).verdict(&down(Each::Every)), "reproduced");
    assert_eq!(w(9.5e6).verdict(&down(Each::Every)), "not reproduced");
    assert_eq!(w(9.5e6).verdict(&down(Each::Any)), "reproduced");
    assert_eq!(w(9.5e6).verdict(&down(Each::Mean)), "reproduced");
    assert_eq!(w(11e6).verdict(&down(Each::Mean)), "not reproduced");
}

#[test]
fn order_names_the_largest_first() {
    let tcp = |t: &str| [("tcp", json!(t))];
    let w = World::default()
        .at(&tcp("reno"), &[1e6, 1.1e6])
        .at(&tcp("jersey"), &[3e6, 3.1e6])
        .at(&tcp("westwood"), &[2e6, 2.1e6]);
    let order = |names: &[&str]| {
        claim("goodput.up", Expect::Order { values: names.iter().map(|n| (*n).into()).collect(), along: "tcp".into() })
    };
    assert_eq!(w.verdict(&order(&["jersey", "westwood", "reno"])), "reproduced");
    assert_eq!(w.verdict(&order(&["jersey", "reno", "westwood"])), "not reproduced");
    assert_eq!(w.verdict(&order(&["jersey", "reno"])), "reproduced");
    let r = w.judge(&order(&["jersey", "westwood", "reno"])).results.remove(0);
    assert!((r.measured.value.unwrap() - 1e6).abs() < 1e-6, "the smallest lead");
    assert!(w.try_judge(&order(&["jersey", "vegas"])).unwrap_err().to_string().contains("vegas"));
    // Equal is not larger, and a noisy difference is undecided.
    let tie = World::default().at(&tcp("a"), &[1e6]).at(&tcp("b"), &[1e6]);
    assert_eq!(tie.verdict(&order(&["a", "b"])), "not reproduced");
    let noisy = World::default().at(&tcp("a"), &[1.2e6, 1.1e6]).at(&tcp("b"), &[1e6, 1.05e6]);
    assert_eq!(noisy.verdict(&order(&["a", "b"])), "undecided");
}

/// Readings "printed" and "repaired" with these values, recorded with these verdicts. At least 2 is expected.
fn two_readings(printed: f64, repaired: f64, recorded: [Verdict; 2]) -> Judged {
    let o = |name: &str| overlay(&[("echo", json!(name))]);
    let w = one(&[0.0]).with(&[], &[("echo", json!("latch"))], &[printed]).with(
        &[],
        &[("echo", json!("per_packet"))],
        &[repaired],
    );
    let c = Claim {
        readings: [("printed", "latch"), ("repaired", "per_packet")]
            .into_iter()
            .zip(recorded)
            .map(|((name, echo), verdict)| file::Reading { verdict, ..reading(name, o(echo)) })
            .collect(),
        verdict: recorded[0],
        reason: "because".into(),
        ..claim(GOODPUT, Expect::AtLeast(number(2.0)))
    };
    w.judge(&c)
}

#[test]
fn each_reading_is_judged_with_its_overlay() {
    let j = two_readings(1e6, 3e6, [Verdict::Reproduced; 2]);
    let all: Vec<_> = j
        .results
        .iter()
        .map(|r| (r.reading.as_deref().unwrap(), r.measured.value.unwrap(), r.verdict.as_str(), r.as_recorded))
        .collect();
    assert_eq!(all, [("printed", 1.0, "not reproduced", false), ("repaired", 3.0, "reproduced", true)]);
    // Each has its recorded verdict.
    let j = two_readings(1e6, 3e6, [Verdict::NotReproduced, Verdict::Reproduced]);
    assert!(j.results.iter().all(|r| r.as_recorded));
}

#[test]
fn a_contradiction_is_recorded_and_seen() {
    let seen = |j: &Judged| j.results.iter().map(|r| (r.verdict.clone(), r.as_recorded)).collect::<Vec<_>>();
    assert_eq!(seen(&two_readings(1e6, 3e6, [Verdict::Contradiction; 2])), vec![("contradiction".to_owned(), true); 2]);
    // If both readings agree, there is no contradiction, and the recorded verdict is wrong.
    assert_eq!(seen(&two_readings(3e6, 3e6, [Verdict::Contradiction; 2])), vec![("reproduced".to_owned(), false); 2]);
}

#[test]
fn a_reading_also_changes_what_over_divides_by() {
    let (echo, off) = (("echo", json!("latch")), ("control", json!("off")));
    let w = one(&[0.0]).with(&[], std::slice::from_ref(&echo), &[4e6]).with(&[], &[echo.clone(), off.clone()], &[2e6]);
    let c = changed(claim("goodput.up", Expect::AtLeast(number(1.9))), |r| r.over = Some(overlay(&[off])));
    let c = Claim { readings: vec![reading("r", overlay(&[echo]))], ..c };
    let r = w.judge(&c).results.remove(0);
    assert_eq!((r.measured.value, r.verdict.as_str(), r.reading.as_deref()), (Some(2.0), "reproduced", Some("r")));
}

#[test]
fn the_recorded_verdict_is_held_in_both_directions() {
    let base = claim(GOODPUT, Expect::AtLeast(number(2.0)));
    let bad = Claim {
        verdict: Verdict::NotReproduced,
        reason: "the paper's figure is for another buffer".into(),
        ..base.clone()
    };
    let as_recorded = |c: &Claim, x: f64| one(&[x]).judge(c).results[0].as_recorded;
    assert!(as_recorded(&base, 3e6) && !as_recorded(&base, 1e6));
    assert!(as_recorded(&bad, 1e6) && !as_recorded(&bad, 3e6));
    let r = one(&[1e6]).judge(&bad).results.remove(0);
    assert_eq!((r.recorded.as_str(), r.reason.as_str()), ("not reproduced", bad.reason.as_str()));
}

#[test]
fn a_comparison_without_a_winner_is_a_tie() {
    let off = ("control", json!("off"));
    let verdict = |expect: Expect, above: &[f64]| {
        let w = one(above).with(&[], std::slice::from_ref(&off), &vec![1e6; above.len()]);
        let c = changed(claim("goodput.up", expect), |r| r.over = Some(overlay(std::slice::from_ref(&off))));
        w.judge(&c).results.remove(0).verdict
    };
    // 1.000 ± 0.013: inside 1 ± 0.02, so more seeds would find nothing that matters.
    let equal = [0.992e6, 1.008e6, 0.99e6, 1.01e6];
    assert_eq!(verdict(Expect::AtLeast(number(1.0)), &equal), "tie");
    assert_eq!(verdict(Expect::AtMost(number(1.0)), &equal), "tie");
    // 1.000 ± 0.032: wider.
    assert_eq!(verdict(Expect::AtLeast(number(1.0)), &[0.98e6, 1.02e6, 0.98e6, 1.02e6]), "undecided");
    // 1.01, certainly above 1: ahead, if only by a little.
    assert_eq!(verdict(Expect::AtLeast(number(1.0)), &[1.01e6; 4]), "reproduced");
}

#[test]
fn a_value_on_its_bound_is_a_tie() {
    let off = ("control", json!("off"));
    let at = |expect: Expect, over: bool, above: &[f64]| {
        let w = one(above).with(&[], std::slice::from_ref(&off), &vec![1e6; above.len()]);
        let c = changed(claim("goodput.up", expect), |r| {
            r.over = over.then(|| overlay(std::slice::from_ref(&off)));
        });
        w.judge(&c).results.remove(0).verdict
    };
    // 1.500 ± 0.025, then 1.500 ± 0.055.
    let (narrow, wide) = ([1.488e6, 1.512e6, 1.485e6, 1.515e6], [1.47e6, 1.53e6, 1.47e6, 1.53e6]);
    for expect in [Expect::AtLeast(number(1.5)), Expect::Between(number(1.0), number(1.5))] {
        assert_eq!((at(expect.clone(), true, &narrow), at(expect, true, &wide)), ("tie".into(), "undecided".into()));
    }
    // Around 1.667 and a tenth of it.
    let near = |relative| Expect::Near {
        value: mbps(1.5 / 0.9),
        within: if relative { number(0.1) } else { mbps(0.15 / 0.9) },
        relative,
    };
    assert_eq!((at(near(true), false, &narrow), at(near(true), false, &wide)), ("tie".into(), "undecided".into()));
    // 2 % of a bound that is not a ratio says nothing.
    assert_eq!(at(near(false), false, &narrow), "undecided");
    assert_eq!(at(Expect::AtLeast(mbps(1.5)), false, &narrow), "undecided");
}

#[test]
fn a_step_that_is_small_beside_its_values_is_a_tie() {
    let verdict = |metric: &str, expect: Expect, all: &[&[f64]]| World::along(all).verdict(&claim(metric, expect));
    let falls = || Expect::Decreasing { along: "k".into() };
    let order = || Expect::Order { values: vec![json!(0).into(), json!(1).into()], along: "k".into() };
    // Steps of 0.000 ± 0.013 Mb/s and of ± 0.06 from values of 1 Mb/s.
    let (level, narrow, wide) = ([1e6; 4], [0.992e6, 1.008e6, 0.99e6, 1.01e6], [0.96e6, 1.04e6, 0.96e6, 1.04e6]);
    for expect in [falls(), order()] {
        assert_eq!(verdict("goodput.up", expect.clone(), &[&level, &narrow]), "tie");
        assert_eq!(verdict("goodput.up", expect.clone(), &[&level, &wide]), "undecided");
        assert_eq!(verdict("goodput.up", expect.clone(), &[&level, &[0.995e6; 4]]), "reproduced");
        // What is equal in every run is not more.
        assert_eq!(verdict("goodput.up", expect, &[&level, &level]), "not reproduced");
    }
    // A fall with one such step is for and against nothing; one with a rise is wrong.
    assert_eq!(verdict("goodput.up", falls(), &[&[2e6; 4], &level, &narrow]), "tie");
    assert_eq!(verdict("goodput.up", falls(), &[&[2e6; 4], &level, &narrow, &[1.5e6; 4]]), "not reproduced");
    // 2 % of a share say nothing.
    let (one, other) = ([0.8e6, 0.82e6, 0.78e6, 0.8e6], [0.81e6, 0.8e6, 0.8e6, 0.79e6]);
    assert_eq!(verdict("jain", falls(), &[&one, &other]), "undecided");
}

#[test]
fn a_pooled_quotient_is_the_quotient_of_the_sums() {
    let judged = |pool: bool, values: &[f64]| {
        let c = claim("1Mbps / goodput.up", Expect::AtMost(number(2.0)));
        one(values).judge(&changed(c, |r| r.pool = pool))
    };
    let value = |pool: bool, values: &[f64]| judged(pool, values).results[0].measured.value;
    // (1 + 1) / (1 + 3) instead of the mean of 1 and 1/3.
    assert_eq!((value(true, &[1e6, 3e6]), value(false, &[1e6, 3e6])), (Some(0.5), Some(2.0 / 3.0)));
    // A run without any of what is divided by counts; without pooling it leaves no value.
    assert_eq!((value(true, &[0.0, 4e6]), value(false, &[0.0, 4e6])), (Some(0.5), None));
    assert_eq!(value(true, &[0.0, 0.0]), None);
    let empty = judged(true, &[0.0, 0.0]).notes;
    assert!(empty[0].to_string().contains("`goodput.up` is 0 in all runs"), "{empty:?}");
    // The interval is that of the ratio estimator: sqrt(sum (a - R b)^2 / (n (n - 1))) / mean(b), with t = 3.182.
    let m = judged(true, &[1e6, 2e6, 3e6, 4e6]).results.remove(0).measured;
    let residuals = [1.0, 2.0, 3.0, 4.0].map(|b| 1.0 - 0.4 * b);
    let error = (residuals.iter().map(|r| r * r).sum::<f64>() / 12.0).sqrt() / 2.5;
    assert!((m.value.unwrap() - 0.4).abs() < 1e-12 && (m.ci95.unwrap() - 3.182_446 * error).abs() < 1e-6, "{m:?}");
}

#[test]
fn a_pooled_quotient_with_over_is_pooled_on_both_sides() {
    // (1 + 1) / (1 + 3) over (1 + 1) / (0 + 2): the run with nothing counts.
    let w = one(&[1e6, 3e6]).with(&[], &[("a", json!(1))], &[0.0, 2e6]);
    let c = changed(claim("1Mbps / goodput.up", Expect::AtMost(number(2.0))), |r| {
        r.over = Some(overlay(&[("a", json!(1))]));
        r.pool = true;
    });
    let m = w.judge(&c).results.remove(0).measured;
    // 1 - 0.5 b stands for a seed above, 1 - 1 b below: 1, -1 (over 2) and 1, -1 (over 1), about the quotients.
    let (above, below) = ([0.75, 0.25], [2.0, 0.0]);
    let residuals = [0, 1].map(|i| (above[i] - 0.5 * below[i]) / 1.0);
    let deviation = ((residuals[0] * residuals[0] + residuals[1] * residuals[1]) / 2.0_f64).sqrt();
    assert_eq!(m.value, Some(0.5));
    assert!((m.ci95.unwrap() - 12.706_2 * deviation).abs() < 1e-3, "{m:?}");
}

#[test]
fn what_cannot_be_pooled_or_tied_is_refused() {
    let no = |c: &Claim| recorded_or_sound(c).unwrap_err().to_string();
    let plain = claim("goodput.up", Expect::AtLeast(mbps(1.0)));
    let pooled = changed(plain.clone(), |r| r.pool = true);
    assert!(no(&pooled).contains("`pool` needs a quotient"), "{}", no(&pooled));
    let tied = Claim { verdict: Verdict::Tie, reason: "equal".into(), ..plain };
    assert!(no(&tied).contains("only a comparison"), "{}", no(&tied));
}

fn recorded_or_sound(c: &Claim) -> Result<(), FileError> {
    validity::recorded(&source(), c)?;
    validity::sound(&source(), &c.requirement, "claim T").map(drop)
}

#[test]
fn a_verdict_other_than_reproduced_needs_a_reason() {
    let c = Claim { verdict: Verdict::NotReproduced, ..claim(GOODPUT, Expect::AtLeast(number(2.0))) };
    assert!(one(&[1e6]).try_judge(&c).unwrap_err().remedy().unwrap().contains("reason"));
    let c = Claim { verdict: Verdict::Contradiction, reason: "x".into(), ..c };
    assert!(one(&[1e6]).try_judge(&c).unwrap_err().to_string().contains("readings"));
}

#[test]
fn what_cannot_be_measured_is_undecided_with_a_note() {
    let undefined = claim("jain.local", Expect::AtLeast(number(0.5)));
    let j = one(&[1e6]).judge(&undefined);
    assert_eq!((j.results[0].verdict.as_str(), j.results[0].measured.value), ("undecided", None));
    assert!(
        j.notes[0].to_string().contains("jain.local") && j.notes[0].to_string().contains("seed 1"),
        "{:?}",
        j.notes
    );
    let no_runs = World::default().at(&[], &[]);
    let j = no_runs.judge(&claim(GOODPUT, Expect::AtLeast(number(0.5))));
    assert_eq!((j.results[0].verdict.as_str(), j.notes.len()), ("undecided", 1));
    let zero = one(&[1e6]).with(&[], &[("a", json!(1))], &[0.0]);
    let j = zero.judge(&changed(claim("goodput.up", Expect::AtLeast(number(0.5))), |r| {
        r.over = Some(overlay(&[("a", json!(1))]))
    }));
    assert!(j.results[0].verdict == "undecided" && j.notes[0].to_string().contains("0"));
}

#[test]
fn a_metric_that_does_not_fit_the_runs_is_an_error() {
    let c = claim("goodput[up.7] / 1Mbps", Expect::AtLeast(number(0.5)));
    let e = one(&[1e6]).try_judge(&c).unwrap_err();
    assert!(e.to_string().contains("up.7") && e.remedy().unwrap().contains("up.1"), "{e}");
}

#[test]
fn a_bound_has_the_unit_of_its_metric() {
    let err = |metric: &str, expect: Expect| one(&[1e6]).try_judge(&claim(metric, expect)).unwrap_err();
    assert!(err("goodput.up", Expect::AtLeast(number(3.0))).remedy().unwrap().contains("3bps"));
    assert!(err(GOODPUT, Expect::AtLeast(mbps(3.0))).remedy().unwrap().contains("without a unit"));
    assert_eq!(one(&[1e6]).verdict(&claim("goodput.up", Expect::AtLeast(number(0.0)))), "reproduced");
    let ratio =
        changed(claim("goodput.up", Expect::AtLeast(mbps(1.0))), |r| r.over = Some(overlay(&[("a", json!(1))])));
    assert!(one(&[1e6]).try_judge(&ratio).is_err());
}

#[test]
fn an_error_in_a_metric_points_into_the_file() {
    let text = "[[claim]]\nmetric = \"1 + godput.up\"\n";
    let start = text.find("\"1 +").unwrap();
    let source = Source { path: "t.toml".into(), text: text.into(), sets: vec![] };
    let c = changed(claim("1 + godput.up", Expect::AtLeast(number(0.0))), |r| {
        r.metric_site = Spot::File(start..start + 15)
    });
    let e = judged(&source, &[point(&[])], &c, &|_| vec![], None).unwrap_err();
    assert_eq!(e.line_column(), Some((2, 15)));
    assert!(e.remedy().unwrap().contains("goodput.up"));
}

#[test]
fn a_claim_whose_points_the_command_line_removed_is_not_judged() {
    let settings = Source { sets: vec!["k=5".into()], ..source() };
    let c =
        changed(claim(GOODPUT, Expect::AtLeast(number(2.0))), |r| r.when = [("k".to_owned(), vec![9.into()])].into());
    let j = judged(&settings, &[point(&[("k", json!(5))])], &c, &|_| vec![], None).unwrap();
    assert!(j.results.is_empty() && j.notes[0].to_string().contains("not judged"));
}
