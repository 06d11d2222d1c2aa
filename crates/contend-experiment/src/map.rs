//! The map of a field over time, and which stations are hidden from each other.

use contend_sim::mobility::Point;
use contend_sim::wifi::{Map, MapLink, StationId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Maximum number of instants of a map.
pub const MOST_INSTANTS: usize = 100;
/// Maximum number of links that a map keeps in all, and of stations on its ways.
const MOST_LINKS: usize = 200_000;

/// The losses of more links are not kept.
const MOST_LOSSES: usize = 200;

/// Values at the instants, in seconds, from which they hold.
pub type Course<T> = Vec<(f64, T)>;

/// The ends of a wall in metres, and what it loses in decibels.
pub type MapWall = ((f64, f64), (f64, f64), f64);

/// The map of a field over time. What does not change is there once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapSeries {
    /// Metres to the right and up, by station.
    pub positions: Course<Vec<(f64, f64)>>,
    /// Transmitter, the station that senses it, and true if it decodes.
    pub links: Course<Vec<(StationId, StationId, bool)>>,
    /// The stations that the data of each flow pass.
    pub routes: Course<Vec<Vec<StationId>>>,
    /// The walls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<MapWall>,
    /// True if the file gives links and no positions: those of the map are a drawing of the links, by hops.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_graph: bool,
    /// Links of the file with a loss: transmitter, receiver, decibels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<(StationId, StationId, f64)>,
    /// True if there were more links or ways than a map keeps.
    pub cut: bool,
}

impl MapSeries {
    /// Adds the map at an instant.
    pub fn add(&mut self, time_s: f64, map: Map) {
        let room = |kept: usize, more: usize| kept + more <= MOST_LINKS;
        let kept: usize = self.links.iter().map(|(_, l)| l.len()).sum();
        let passed: usize = self.routes.iter().flat_map(|(_, r)| r).map(Vec::len).sum();
        if !room(kept, map.links.len()) || !room(passed, map.routes.iter().map(Vec::len).sum()) {
            self.cut = true;
            return;
        }
        if self.positions.is_empty() {
            let place = |p: Point| (p.x, p.y);
            self.walls = map.walls.iter().map(|w| (place(w.from), place(w.to), w.loss)).collect();
            self.is_graph = map.positions.is_empty();
            self.losses = if map.losses.len() <= MOST_LOSSES { map.losses } else { vec![] };
            if self.is_graph && map.stations > 0 {
                self.positions.push((time_s, by_hops(map.stations, &map.links)));
            }
        }
        if !self.is_graph {
            turn(&mut self.positions, time_s, map.positions.into_iter().map(|p| (p.x, p.y)).collect());
        }
        turn(&mut self.links, time_s, map.links.into_iter().map(|l| (l.from, l.to, l.decodes)).collect());
        turn(&mut self.routes, time_s, map.routes);
    }

    /// Upper bound on its memory in bytes, for so many stations and flows.
    pub fn memory(stations: u64, flows: u64) -> u64 {
        let instants = MOST_INSTANTS as u64;
        let kept = |each: u64| instants.saturating_mul(each).min(MOST_LINKS as u64);
        let links = kept(stations.saturating_mul(stations.saturating_sub(1))) * size_of::<MapLink>() as u64;
        let passed = kept(stations.saturating_mul(flows)) * size_of::<StationId>() as u64;
        instants * (16 * stations + 24 * flows) + links + passed
    }
}

/// Places for stations of which only links are known: a column for each number of hops from the first station, and one
/// for those that are not reached. Every other place of a column is shifted, so that links within it can be seen.
fn by_hops(stations: usize, links: &[MapLink]) -> Vec<(f64, f64)> {
    let mut hops: Vec<Option<usize>> = vec![None; stations];
    let mut columns = vec![vec![0]];
    hops[0] = Some(0);
    while let Some(last) = columns.last().filter(|column| !column.is_empty()) {
        let mut next: Vec<usize> = vec![];
        for l in links.iter().filter(|l| last.contains(&(l.from as usize))) {
            let to = l.to as usize;
            if hops[to].is_none() {
                hops[to] = Some(columns.len());
                next.push(to);
            }
        }
        next.sort_unstable();
        columns.push(next);
    }
    columns.pop();
    columns.push((0..hops.len()).filter(|s| hops[*s].is_none()).collect());
    let mut places = vec![(0.0, 0.0); hops.len()];
    for (x, column) in columns.iter().enumerate() {
        for (i, station) in column.iter().enumerate() {
            let middle = (column.len() - 1) as f64 / 2.0;
            places[*station] = (2.0 * x as f64 + 0.4 * (i % 2) as f64, middle - i as f64);
        }
    }
    places
}

/// Notes the value that holds from `time_s` on, if it is another than before.
fn turn<T: PartialEq>(course: &mut Course<T>, time_s: f64, value: T) {
    if course.last().is_none_or(|(_, last)| *last != value) {
        course.push((time_s, value));
    }
}

/// Two stations that do not sense each other, and a station at which their frames meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hidden {
    /// The two stations; the first has the lower number.
    pub pair: (StationId, StationId),
    /// One of the two sends to this station, which senses the other.
    pub at: StationId,
}

/// The stations that are hidden from each other while packets take these ways, and acknowledgments the same ways back.
pub fn hidden(links: &[(StationId, StationId, bool)], routes: &[Vec<StationId>]) -> Vec<Hidden> {
    let senses: BTreeSet<(StationId, StationId)> = links.iter().map(|(from, to, _)| (*from, *to)).collect();
    let there = routes.iter().flat_map(|way| way.windows(2)).filter_map(|hop| Some((*hop.first()?, *hop.last()?)));
    let hops: BTreeSet<(StationId, StationId)> = there.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    let senders: BTreeSet<StationId> = hops.iter().map(|(from, _)| *from).collect();
    let mut found = BTreeSet::new();
    for &(a, at) in hops.iter().filter(|hop| senses.contains(hop)) {
        for &b in senders.iter().filter(|b| **b != a && **b != at && senses.contains(&(**b, at))) {
            if !senses.contains(&(a, b)) && !senses.contains(&(b, a)) {
                found.insert(Hidden { pair: (a.min(b), a.max(b)), at });
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stations in a row, each sensing the next `reach`.
    fn row(n: StationId, reach: StationId) -> Vec<(StationId, StationId, bool)> {
        let link =
            |a: StationId, b: StationId| (a != b && a.abs_diff(b) <= reach).then_some((a, b, a.abs_diff(b) == 1));
        (0..n).flat_map(|a| (0..n).filter_map(move |b| link(a, b))).collect()
    }

    #[test]
    fn the_outer_two_of_three_are_hidden_at_the_middle_one_if_both_send() {
        let links = row(3, 1);
        let at_the_middle = [Hidden { pair: (0, 2), at: 1 }];
        assert_eq!(hidden(&links, &[vec![0, 1], vec![2, 1]]), at_the_middle);
        assert_eq!(hidden(&links, &[vec![0, 1, 2]]), at_the_middle, "acknowledgments come back");
        assert_eq!(hidden(&links, &[vec![0, 1]]), []);
        assert_eq!(hidden(&row(3, 2), &[vec![0, 1], vec![2, 1]]), [], "they sense each other");
    }

    #[test]
    fn in_a_chain_the_third_next_is_hidden_if_two_hops_are_sensed() {
        let found = hidden(&row(5, 2), &[vec![0, 1, 2, 3, 4]]);
        let expected = [((0, 3), 1), ((0, 3), 2), ((1, 4), 2), ((1, 4), 3)];
        assert_eq!(found, expected.map(|(pair, at)| Hidden { pair, at }));
    }

    /// A star with a chain behind its second leaf, and a station that nobody hears but 5.
    #[test]
    fn links_are_drawn_by_hops() {
        let link = |(from, to)| MapLink { from, to, decodes: true };
        let links: Vec<_> = [(0, 1), (0, 2), (1, 0), (2, 0), (2, 3), (3, 2), (5, 4)].map(link).into();
        let mut series = MapSeries::default();
        series.add(0.0, Map { stations: 6, links, losses: vec![(0, 1, 6.0)], ..Map::default() });
        let places = [(0.0, 0.0), (2.0, 0.5), (2.4, -0.5), (4.0, 0.0), (6.0, 0.5), (6.4, -0.5)];
        assert_eq!(series.positions, [(0.0, places.to_vec())]);
        assert!(series.is_graph && series.losses == [(0, 1, 6.0)]);
    }

    #[test]
    fn what_does_not_change_is_kept_once() {
        let map = |x: f64| Map {
            positions: vec![Point { x, y: 0.0 }],
            links: vec![MapLink { from: 0, to: 0, decodes: true }],
            routes: vec![vec![0]],
            ..Map::default()
        };
        let mut series = MapSeries::default();
        [(0.0, 1.0), (1.0, 1.0), (2.0, 5.0)].into_iter().for_each(|(t, x)| series.add(t, map(x)));
        assert_eq!(series.positions, [(0.0, vec![(1.0, 0.0)]), (2.0, vec![(5.0, 0.0)])]);
        assert_eq!((series.links.len(), series.routes.len(), series.cut), (1, 1, false));
    }
}
