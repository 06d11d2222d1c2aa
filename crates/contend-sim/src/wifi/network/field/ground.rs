//! Where the stations of a field are.

use crate::mobility::{Mobility, Point, Setting, Squares};
use crate::rng;
use crate::wifi::ids::StationId;
use crate::wifi::spec::FieldSpec;
use contend_core::Refusal;
use contend_core::registry::Choice;
use contend_core::{Span, Time};

/// The positions of all stations, and who may be near whom.
#[derive(Debug)]
pub(super) struct Ground {
    stations: Vec<Box<dyn Mobility>>,
    /// The highest speed of a station, in metres per second.
    fastest: f64,
    /// Stations within this distance are near, in metres.
    reach: f64,
    /// Where the stations were when they were last sorted. A square is wider than `reach`, so that the sorting is good
    /// until a station may have moved by the difference.
    squares: Squares,
    /// Until when the sorting is good.
    until: Time,
}

/// How much wider than the reach a square is, if stations move.
const MARGIN: f64 = 0.25;

impl Ground {
    /// The stations with these names at the start of a run.
    ///
    /// # Errors
    /// If a mobility refuses its parameters. The text names the station.
    pub(super) fn new(seed: u64, spec: &FieldSpec, names: &[&str], reach: f64) -> Result<Ground, Refusal> {
        let stations = spec.sites.iter().zip(names).map(|(site, name)| {
            let Choice { entry, args } = &site.mobility;
            let setting = Setting {
                area: spec.area,
                start: site.position,
                movement: site.movement.clone(),
                rng: rng::stream(seed, name, "movement"),
            };
            (entry.build)(args, setting).map_err(|e| e.of(format_args!("{name}: mobility")))
        });
        let stations: Vec<Box<dyn Mobility>> = stations.collect::<Result<_, _>>()?;
        let fastest = stations.iter().map(|s| s.fastest()).fold(0.0, f64::max);
        let mut ground = Ground { stations, fastest, reach, squares: Squares::new(&[], reach), until: Time::ZERO };
        ground.sort(Time::ZERO);
        Ok(ground)
    }

    /// True if a station may move.
    pub(super) fn moves(&self) -> bool {
        self.fastest > 0.0
    }

    /// The position of `station` at `now`.
    pub(super) fn position(&mut self, now: Time, station: StationId) -> Point {
        self.stations[station as usize].position(now)
    }

    /// Puts into `near` all stations within the reach of `station` at `now`, and some others.
    pub(super) fn near(&mut self, now: Time, station: StationId, near: &mut Vec<StationId>) {
        if now >= self.until {
            self.sort(now);
        }
        let here = self.position(now, station);
        near.clear();
        self.squares.near(here).for_each(|points| near.extend_from_slice(points));
    }

    fn sort(&mut self, now: Time) {
        let points: Vec<Point> = self.stations.iter_mut().map(|s| s.position(now)).collect();
        let margin = if self.moves() { MARGIN * self.reach } else { 0.0 };
        self.squares = Squares::new(&points, self.reach + margin);
        self.until = match self.moves() {
            true => now.saturating_add(Span::from_secs_f64(margin / self.fastest)),
            false => Time::NEVER,
        };
    }
}
