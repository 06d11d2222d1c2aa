//! Routes with the fewest hops, for all stations at once.

use super::Station;
use std::collections::{BTreeMap, VecDeque};

/// Next hops with the fewest hops to some destinations. Of equal routes, each station takes the neighbour with the
/// lowest number; the whole route is then the first in lexicographic order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// For each destination: for each station its distance in hops and its next hop.
    to: BTreeMap<Station, Vec<Option<Hop>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hop {
    distance: u32,
    next: Station,
}

impl Shortest {
    /// The routes to `destinations`. `links[i]` lists the stations that station `i` can send to; a link that does not
    /// have its reverse is not used, because frames need their ACKs. Each destination takes O(stations + links).
    pub fn new(links: &[Vec<Station>], destinations: impl IntoIterator<Item = Station>) -> Shortest {
        let mut sorted = links.to_vec();
        for list in &mut sorted {
            list.sort_unstable();
            list.dedup();
        }
        let has = |from: Station, to: Station| sorted.get(from as usize).is_some_and(|l| l.binary_search(&to).is_ok());
        let mutual =
            |(a, list): (usize, &Vec<Station>)| list.iter().copied().filter(|&b| has(b, a as Station)).collect();
        let neighbours: Vec<Vec<Station>> = sorted.iter().enumerate().map(mutual).collect();
        let to = destinations.into_iter().filter(|d| (*d as usize) < links.len());
        Shortest { to: to.map(|d| (d, tree(&neighbours, d))).collect() }
    }

    /// The next hop of a packet at `from` for `to`; `None` if there is no route, or if `to` is no destination in use.
    pub fn next(&self, from: Station, to: Station) -> Option<Station> {
        self.hop(from, to).map(|h| h.next)
    }

    /// Hops from `from` to `to`.
    pub fn hops(&self, from: Station, to: Station) -> Option<u32> {
        self.hop(from, to).map(|h| h.distance)
    }

    fn hop(&self, from: Station, to: Station) -> Option<Hop> {
        *self.to.get(&to)?.get(from as usize)?
    }
}

/// Breadth-first search from the destination.
fn tree(neighbours: &[Vec<Station>], destination: Station) -> Vec<Option<Hop>> {
    let mut reached: Vec<Option<Hop>> = vec![None; neighbours.len()];
    reached[destination as usize] = Some(Hop { distance: 0, next: destination });
    let mut queue = VecDeque::from([destination]);
    while let Some(station) = queue.pop_front() {
        let distance = reached[station as usize].map_or(0, |h| h.distance) + 1;
        for &n in &neighbours[station as usize] {
            match &mut reached[n as usize] {
                Some(hop) if hop.distance == distance => hop.next = hop.next.min(station),
                Some(_) => {}
                empty => {
                    *empty = Some(Hop { distance, next: station });
                    queue.push_back(n);
                }
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The links of a square grid: neighbours in a row and in a column.
    fn grid(side: u32) -> Vec<Vec<Station>> {
        let near = |i: u32, j: u32| (i % side).abs_diff(j % side) + (i / side).abs_diff(j / side) == 1;
        (0..side * side).map(|i| (0..side * side).filter(|&j| near(i, j)).collect()).collect()
    }

    #[test]
    fn every_route_of_a_grid_has_as_many_hops_as_rows_and_columns_lie_between() {
        let (side, all) = (5, 0..25);
        let routes = Shortest::new(&grid(side), all.clone());
        for from in all.clone() {
            for to in all.clone() {
                let (dx, dy) = ((from % side).abs_diff(to % side), (from / side).abs_diff(to / side));
                assert_eq!(routes.hops(from, to), Some(dx + dy));
                let next = routes.next(from, to).unwrap();
                if from != to {
                    assert_eq!(routes.hops(next, to), Some(dx + dy - 1), "each hop comes nearer");
                }
            }
        }
    }

    #[test]
    fn of_equal_routes_the_neighbour_with_the_lowest_number_is_taken() {
        // 0 - {3, 1, 2} - 4, listed in disorder and twice.
        let links = vec![vec![3, 1, 2, 1], vec![4, 0], vec![4, 0], vec![4, 0], vec![2, 3, 1]];
        let routes = Shortest::new(&links, [4, 0]);
        assert_eq!((routes.next(0, 4), routes.next(4, 0)), (Some(1), Some(1)));
    }

    #[test]
    fn islands_one_way_links_and_unused_destinations_have_no_route() {
        let links = vec![vec![1, 2], vec![0], vec![], vec![4], vec![3, 9]];
        let routes = Shortest::new(&links, [0, 1, 2, 3, 77]);
        assert_eq!((routes.next(0, 1), routes.next(1, 0)), (Some(1), Some(0)));
        assert_eq!((routes.next(0, 2), routes.next(0, 3), routes.next(3, 4)), (None, None, None));
        assert_eq!((routes.next(0, 77), routes.next(99, 0)), (None, None));
    }
}
