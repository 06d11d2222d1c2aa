//! What a network must have before it can run.

use super::super::error::FileError;
use super::super::field::Field;
use super::super::reader::Val;
use super::{Builder, MOST};
use contend_sim::scenario::{Place, Transport};
use std::collections::BTreeSet;

/// Checks how many stations and flows these tables make, before any of them exists: a hundred thousand take seconds.
/// What cannot be read here is reported when its table is read.
pub(super) fn check_counts(stations: &[Val], flows: &[Val]) -> Result<(), FileError> {
    let count = |v: &Val| v.table().ok()?.read("count", |v| v.integer(0..=MOST)).ok()?;
    let too_many = |v: &Val, what: &str| v.error(format!("makes more than {MOST} {what}"), "write a smaller count");
    let (mut all_stations, mut all_flows) = (0, 0);
    for v in stations {
        all_stations += count(v).unwrap_or(1);
        if all_stations > MOST {
            return Err(too_many(v, "stations"));
        }
    }
    for v in flows {
        let n = count(v).unwrap_or(1);
        all_flows += n;
        if all_flows > MOST {
            return Err(too_many(v, "flows"));
        }
        let Ok(mut f) = v.table() else { continue };
        for end in ["from", "to"].into_iter().filter_map(|key| f.get(key)) {
            // Of a list, each member has its own end: those stations are counted when they are made.
            all_stations += if end.text().is_ok_and(|text| text == "station") { n } else { 0 };
            if all_stations > MOST {
                return Err(too_many(&end, "stations"));
            }
        }
    }
    Ok(())
}

impl<'a> Builder<'a> {
    /// Checks that there is an observer at the station of each sender that reads an estimate of the air.
    pub(super) fn check_observers(&self) -> Result<(), FileError> {
        for (flow, at) in self.flows.iter().zip(&self.from) {
            let cc = match &flow.ends.transport {
                Transport::Tcp(tcp) => &tcp.cc,
                Transport::Udp(udp) => match &udp.control {
                    Some(control) => &control.cc,
                    None => continue,
                },
            };
            let needs = (cc.entry.build)(&cc.args).is_ok_and(|cc| cc.needs().air);
            let observed = |place: &Place| match *place {
                Place::Station(i) => self.stations.get(i).is_some_and(|s| !s.observe.is_empty()),
                _ => false,
            };
            let from = flow.random[0].as_deref().unwrap_or(std::slice::from_ref(&flow.from));
            if needs && !from.iter().all(observed) {
                return Err(at.error(
                    format!("has no observer of the air, but the controller \"{}\" reads one", cc.entry.name),
                    "add observe = [\"rt_winf\"] to [field]; the flow must begin at a station of the field",
                ));
            }
        }
        Ok(())
    }

    /// Checks that every flow has a path from one end to the other.
    pub(super) fn check_routes(&self) -> Result<(), FileError> {
        // Union-find: first the access points, each with its stations, then the nodes; `root` returns the
        // representative of a connected part.
        let aps = self.aps.len().max(1);
        let vertex = |place| match place {
            Place::Ap(i) => i,
            Place::Station(_) => self.ap_of(place).unwrap_or(0),
            Place::Node(i) => aps + i,
        };
        let forwards = self.field.as_ref().is_some_and(Field::forwards);
        let mut part: Vec<usize> = (0..aps + self.nodes.len()).collect();
        fn root(part: &mut [usize], mut v: usize) -> usize {
            while let Some(&up) = part.get(v).filter(|&&up| up != v) {
                // Path halving.
                let next = part.get(up).copied().unwrap_or(up);
                if let Some(p) = part.get_mut(v) {
                    *p = next;
                }
                v = up;
            }
            v
        }
        for link in &self.links {
            let (a, b) = (root(&mut part, vertex(link.from)), root(&mut part, vertex(link.to)));
            if let Some(p) = part.get_mut(a) {
                *p = b;
            }
        }
        for (flow, from) in self.flows.iter().zip(&self.from) {
            let ends = flow.candidates().concat();
            let over_air = forwards && ends.iter().all(|p| matches!(p, Place::Station(_)));
            let parts: BTreeSet<usize> = ends.iter().map(|place| root(&mut part, vertex(*place))).collect();
            if !over_air && parts.len() > 1 {
                return Err(
                    from.error("has no path to the other end of the flow", "connect the two with [[link]] tables")
                );
            }
        }
        Ok(())
    }
}
