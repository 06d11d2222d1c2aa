//! Who hears whom.

use super::super::propagation::Propagation;
use super::super::spec::FieldSpec;
use super::super::{LIGHT, StationId};
use crate::mobility::{Point, Squares};
use contend_core::Span;

/// A station that hears another.
#[derive(Clone, Copy, Debug)]
pub(in crate::wifi) struct Hearer {
    /// The station.
    pub(in crate::wifi) station: StationId,
    /// True if the power suffices to decode a frame.
    pub(in crate::wifi) decodes: bool,
    /// Received power as a share of the transmitted power.
    pub(in crate::wifi) gain: f64,
    /// The time that a frame needs to arrive.
    pub(in crate::wifi) delay: Span,
}

/// For each station, the stations that hear it, the nearest first.
#[derive(Debug)]
pub(in crate::wifi) struct Links(Vec<Vec<Hearer>>);

impl Links {
    /// The links between stations at fixed positions.
    ///
    /// The stations are sorted into squares as wide as the sense range, so that the time grows with the number of
    /// links and not with the square of the number of stations.
    pub(in crate::wifi) fn new(spec: &FieldSpec, model: &dyn Propagation) -> Links {
        let squares = Squares::new(&spec.positions, spec.sense);
        let hearers = |(from, &p): (StationId, &Point)| {
            let hearer = |station: StationId| {
                let d = p.distance(*spec.positions.get(station as usize)?);
                let delay = if spec.propagation_delay {
                    Span::from_nanos((d / LIGHT * 1e9).round() as u64)
                } else {
                    Span::ZERO
                };
                let heard = Hearer { station, decodes: d <= spec.range, gain: model.gain(d), delay };
                (station != from && d <= spec.sense).then_some(heard)
            };
            let mut all: Vec<Hearer> = squares.near(p).filter_map(hearer).collect();
            all.sort_by_key(|h| (h.delay, h.station));
            all
        };
        Links((0..).zip(&spec.positions).map(hearers).collect())
    }

    /// The stations that hear `from`, the nearest first.
    #[inline]
    pub(in crate::wifi) fn of(&self, from: StationId) -> &[Hearer] {
        &self.0[from as usize]
    }

    /// Number of stations.
    pub(in crate::wifi) fn stations(&self) -> usize {
        self.0.len()
    }

    /// True if every station decodes every other.
    pub(in crate::wifi) fn all_hear_all(&self) -> bool {
        let others = self.0.len().saturating_sub(1);
        self.0.iter().all(|hearers| hearers.iter().filter(|h| h.decodes).count() == others)
    }
}
