//! Random waypoint: a station goes straight to a uniform point at a uniform speed, pauses, and begins again.
//!
//! The plain start (a uniform point, then a pause) is not the state to which the model tends: slow legs last longer,
//! so the mean speed decays for minutes (Yoon, Liu, Noble 2003), and stations gather in the middle. With
//! `start = "stationary"` the first state is drawn from the limit, and a run needs no warm-up.

use super::{Area, Mobility, Point, Setting};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Rng, Span, Time};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Johnson, Maltz 1996; ns-2's setdest; stationary start: Navidi, Camp: Stationary Distributions \
    for the Random Waypoint Mobility Model, IEEE Trans. Mobile Computing 3(1), 2004";
/// What it does.
pub const SUMMARY: &str = "Goes straight to a uniform point of the area at a uniform speed, pauses, and begins again.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::number("slowest", "lowest speed of a leg in metres per second").default("10").range(0.001, 1000.0),
    Param::number("fastest", "highest speed of a leg in metres per second").default("30").range(0.001, 1000.0),
    Param::time("pause", "time at each point").default("2s").range(0.0, 1e6),
    Param::word(
        "start",
        &["uniform", "stationary"],
        "uniform: at the station's position or, if it has none, at a uniform point, with a pause first; stationary: \
            in the state to which the model tends",
    )
    .default("uniform"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Shortest side of the area in metres: shorter legs would be too many.
const SHORTEST_SIDE: f64 = 1.0;

/// Builds the mobility.
///
/// # Errors
/// When the speeds are in the wrong order, the area is too small, or the position contradicts `start`.
pub fn build(args: &Args, setting: Setting) -> Result<Box<dyn Mobility>, Refusal> {
    let Setting { area, start, mut rng, .. } = setting;
    let speed = [args.number("slowest"), args.number("fastest")];
    if speed[0] > speed[1] {
        return Err(Refusal::new(
            "slowest is above fastest",
            format!("write slowest = {}, fastest = {}", speed[1], speed[0]),
        ));
    }
    if area.width.is_infinite() || area.height.is_infinite() {
        return Err(Refusal::new("there is no area to move in", "write field.area = [\"1000m\", \"1000m\"]"));
    }
    if area.width < SHORTEST_SIDE || area.height < SHORTEST_SIDE {
        return Err(Refusal::new(
            "the area is too small to move in",
            format!("write sides of at least {SHORTEST_SIDE} m"),
        ));
    }
    if start.is_some_and(|p| !area.contains(p)) {
        return Err(Refusal::new(
            format!("the position is outside the area of {} m x {} m", area.width, area.height),
            "move it",
        ));
    }
    let law = Law { area, speed, pause: args.time("pause") };
    let leg = match (args.word("start"), start) {
        ("stationary", Some(_)) => {
            return Err(Refusal::new(
                "a stationary start draws its own position",
                "remove `position`, or write start = \"uniform\"",
            ));
        }
        ("stationary", None) => law.stationary(&mut rng),
        (_, given) => law.rest(given.unwrap_or_else(|| area.uniform(&mut rng)), law.pause),
    };
    Ok(Box::new(RandomWaypoint { law, rng, leg }))
}

/// A station between its points.
#[derive(Debug)]
struct RandomWaypoint {
    law: Law,
    rng: Rng,
    leg: Leg,
}

/// How legs are drawn.
#[derive(Debug)]
struct Law {
    area: Area,
    /// Lowest and highest speed in metres per second.
    speed: [f64; 2],
    pause: Span,
}

/// A straight way and the pause at its end.
#[derive(Clone, Copy, Debug)]
struct Leg {
    from: Point,
    to: Point,
    departs: Time,
    arrives: Time,
    /// The nanoseconds in between.
    taken: f64,
    /// The end of the pause, after `departs`.
    ends: Time,
}

impl Law {
    /// A stay of `pause` from the start of the run.
    fn rest(&self, at: Point, pause: Span) -> Leg {
        let (start, ends) = (Time::ZERO, Time::ZERO.saturating_add(pause));
        Leg { from: at, to: at, departs: start, arrives: start, taken: 0.0, ends }
    }

    /// A way that begins at `departs`. It takes a nanosecond at least, so that time always advances.
    fn way(&self, from: Point, to: Point, speed: f64, departs: Time) -> Leg {
        let taken = Span::from_secs_f64(from.distance(to) / speed).max(Span::from_nanos(1));
        let arrives = departs.saturating_add(taken);
        let ends = arrives.saturating_add(self.pause);
        Leg { from, to, departs, arrives, taken: (arrives - departs).as_nanos() as f64, ends }
    }

    /// The leg after one that ended at `from`.
    fn next(&self, rng: &mut Rng, from: Point, departs: Time) -> Leg {
        let to = self.area.uniform(rng);
        let [low, high] = self.speed;
        self.way(from, to, low + (high - low) * rng.random::<f64>(), departs)
    }

    /// The leg in which a station is that has moved forever.
    fn stationary(&self, rng: &mut Rng) -> Leg {
        let [low, high] = self.speed;
        // Navidi, Camp 2004 §4: the share of time at rest is E[pause] / (E[pause] + E[length] E[1/speed]).
        let slowness = if high > low { libm::log(high / low) / (high - low) } else { 1.0 / low };
        let pause = self.pause.as_secs_f64();
        if rng.random::<f64>() * (pause + mean_length(self.area) * slowness) < pause {
            // What remains of a constant pause is uniform, and its place too.
            let left = Span::from_secs_f64(rng.random::<f64>() * pause);
            return self.rest(self.area.uniform(rng), left);
        }
        // §3: a leg is met with a probability in proportion to its length (drawn by rejection) and to 1/speed (drawn
        // by inversion); the share of it that is done is uniform.
        let longest = libm::hypot(self.area.width, self.area.height);
        let (from, to) = loop {
            let ends = (self.area.uniform(rng), self.area.uniform(rng));
            if rng.random::<f64>() * longest < ends.0.distance(ends.1) {
                break ends;
            }
        };
        let speed = low * libm::pow(high / low, rng.random::<f64>());
        self.way(from.towards(to, rng.random::<f64>()), to, speed, Time::ZERO)
    }
}

/// The mean distance of two uniform points of a rectangle, in metres (Ghosh 1951).
fn mean_length(area: Area) -> f64 {
    let (a, b) = (area.width, area.height);
    let d = libm::hypot(a, b);
    let (aa, bb) = (a * a, b * b);
    let curved = bb / a * libm::acosh(d / b) + aa / b * libm::acosh(d / a);
    (a * aa / bb + b * bb / aa + d * (3.0 - aa / bb - bb / aa) + 2.5 * curved) / 15.0
}

impl Mobility for RandomWaypoint {
    fn position(&mut self, at: Time) -> Point {
        while self.leg.ends <= at {
            self.leg = self.law.next(&mut self.rng, self.leg.to, self.leg.ends);
        }
        let Leg { from, to, departs, arrives, taken, .. } = self.leg;
        if at >= arrives {
            return to;
        }
        from.towards(to, at.since(departs).as_nanos() as f64 / taken)
    }
    fn fastest(&self) -> f64 {
        self.law.speed[1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, square};
    use super::*;
    use contend_core::registry::Value;

    fn made(seed: u64, k: u32, low: f64, high: f64, pause: Span, start: &str) -> Box<dyn Mobility> {
        let values = [
            ("slowest", Value::Number(low)),
            ("fastest", Value::Number(high)),
            ("pause", Value::Time(pause)),
            ("start", Value::Word(start.into())),
        ];
        build(&args(PARAMS, &values), square(seed, k)).unwrap()
    }

    fn at(s: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(s)
    }

    /// Mean speed of 4000 stations around `t`, in metres per second, from the way of a millisecond.
    fn mean_speed(low: f64, high: f64, pause: Span, start: &str, t: f64) -> f64 {
        let of = |k| {
            let mut m = made(7, k, low, high, pause, start);
            m.position(at(t)).distance(m.position(at(t + 0.001))) / 0.001
        };
        (0..4000).map(of).sum::<f64>() / 4000.0
    }

    /// Mean speed in the limit: E[L] / (E[L] E[1/V] + pause), with E[L] = 521.405 m in a square of 1000 m.
    fn limit(low: f64, high: f64, pause: f64) -> f64 {
        521.405 / (521.405 * libm::log(high / low) / (high - low) + pause)
    }

    #[test]
    fn the_mean_distance_of_two_points_is_that_of_the_books() {
        // Unit square: 0.521405...; a rectangle of 1 x 2: 0.804...; a thin one: a third of its length.
        let of = |width, height| mean_length(Area { width, height });
        assert!((of(1.0, 1.0) - 0.521_405).abs() < 1e-6);
        assert!((of(1.0, 2.0) - of(2.0, 1.0)).abs() < 1e-12);
        assert!((of(300.0, 1.0) - 100.0).abs() < 0.01);
    }

    #[test]
    fn a_stationary_start_has_the_mean_speed_of_the_limit_at_all_times() {
        for (low, high, pause) in [(10.0, 30.0, 2), (1.0, 30.0, 0), (1.0, 19.0, 50)] {
            let want = limit(low, high, pause as f64);
            for t in [0.0, 3.0, 30.0, 300.0] {
                let got = mean_speed(low, high, Span::from_secs(pause), "stationary", t);
                // Four standard errors: a speed lies in 0..high, so its deviation is at most high / 2.
                assert!(
                    (got - want).abs() < 4.0 * high / 2.0 / 63.0,
                    "{low}..{high} pause {pause} at {t}: {got}, {want}"
                );
            }
        }
    }

    #[test]
    fn the_plain_start_decays_to_the_limit() {
        // Without a pause it begins at the mean of the drawn speeds, 15.5 m/s; the limit is 8.53 m/s.
        let first = mean_speed(1.0, 30.0, Span::ZERO, "uniform", 0.001);
        let late = mean_speed(1.0, 30.0, Span::ZERO, "uniform", 3000.0);
        assert!((first - 15.5).abs() < 0.6, "{first}");
        assert!((late - limit(1.0, 30.0, 0.0)).abs() < 0.6, "{late}");
    }

    /// Bettstetter et al.: without a pause the stationary density falls to zero at the border.
    #[test]
    fn stations_of_a_stationary_start_gather_in_the_middle_as_much_at_first_as_later() {
        let inside = |t: f64| {
            let middle = |k: &u32| {
                let p = made(3, *k, 10.0, 30.0, Span::ZERO, "stationary").position(at(t));
                (250.0..750.0).contains(&p.x) && (250.0..750.0).contains(&p.y)
            };
            (0..8000).filter(middle).count() as f64 / 8000.0
        };
        let (first, later) = (inside(0.0), inside(200.0));
        // A quarter of the area has far more than a quarter of the stations.
        assert!(first > 0.4 && (first - later).abs() < 4.0 * 0.0078, "{first} {later}");
    }

    #[test]
    fn a_station_never_leaves_the_area_nor_exceeds_its_speed() {
        for start in ["uniform", "stationary"] {
            let mut m = made(1, 5, 10.0, 30.0, Span::from_secs(2), start);
            let area = square(1, 5).area;
            let mut last = m.position(Time::ZERO);
            for i in 1..40_000_u64 {
                let p = m.position(Time::ZERO + Span::from_millis(50) * i);
                assert!(area.contains(p) && p.distance(last) <= m.fastest() * 0.05 + 1e-6, "{p:?}");
                last = p;
            }
        }
    }

    #[test]
    fn positions_do_not_depend_on_how_often_they_are_asked_for() {
        let mut often = made(1, 2, 1.0, 9.0, Span::from_secs(1), "uniform");
        for i in 0..10_000_u64 {
            often.position(Time::ZERO + Span::from_millis(37) * i);
        }
        let late = at(600.0);
        assert_eq!(often.position(late), made(1, 2, 1.0, 9.0, Span::from_secs(1), "uniform").position(late));
    }

    #[test]
    fn contradictions_are_refused_with_a_remedy() {
        let values = |low, high, start: &str| {
            [
                ("slowest", Value::Number(low)),
                ("fastest", Value::Number(high)),
                ("pause", Value::Time(Span::ZERO)),
                ("start", Value::Word(start.into())),
            ]
        };
        let refusal = |v: &[(&str, Value)], s| build(&args(PARAMS, v), s).unwrap_err();
        assert!(refusal(&values(9.0, 3.0, "uniform"), square(1, 0)).to_string().contains("slowest = 3, fastest = 9"));
        let given = Setting { start: Some(Point { x: 5.0, y: 5.0 }), ..square(1, 0) };
        assert!(refusal(&values(1.0, 3.0, "stationary"), given).to_string().contains("remove `position`"));
        let outside = Setting { start: Some(Point { x: 5.0, y: -5.0 }), ..square(1, 0) };
        assert!(refusal(&values(1.0, 3.0, "uniform"), outside).to_string().contains("outside"));
        let thin = Setting { area: Area { width: 100.0, height: 0.5 }, ..square(1, 0) };
        assert!(refusal(&values(1.0, 3.0, "uniform"), thin).to_string().contains("at least 1 m"));
    }
}
