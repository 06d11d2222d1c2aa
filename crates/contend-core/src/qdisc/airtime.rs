//! Airtime fairness: stations take turns by the time they have used, measured on the air.
//!
//! Høiland-Jørgensen, Kazior, Täht, Hurtig, Brunstrom 2017, "Ending the Anomaly: Achieving Low Latency and Airtime Fairness in WiFi" (USENIX ATC), §3.2 and
//! Algorithm 3. A deficit round robin over stations: what the station's frames took of the air in either direction, failed attempts too, is taken from its
//! deficit, and a station whose deficit is used up waits for the others.
//!
//! Differences from the paper:
//! - a station's packets leave flow by flow in turn ([`Turns`]), where the paper has FQ-CoDel;
//! - a packet that finds no room is dropped, where the paper's system drops from the longest queue;
//! - a station's debt is bounded by `most_debt`: with nothing to receive it can send for any time, and would have to wait as long;
//! - weights: a station with weight w gets w quanta where another gets one (the paper has none).

use super::lane::{Weights, limit};
use super::turns::Turns;
use super::wf2q::WEIGHTS;
use super::{AirReport, Args, Backlog, Drop, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::packet::Packet;
use crate::registry::{Amount, Param, Unit};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

/// Source.
pub const CITE: &str = "Høiland-Jørgensen et al. 2017, \"Ending the Anomaly\" (USENIX ATC), Algorithm 3";
/// What it does.
pub const SUMMARY: &str = "Stations take turns by the airtime that their frames took in either direction: deficit round robin.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param { name: "quantum", doc: "airtime that a station gets for each turn", unit: Unit::Time, default: Some("300us"), range: (1e-6, 1.0) },
    Param {
        name: "sparse",
        doc: "whether a station that begins to wait goes before those that were waiting, for one turn",
        unit: Unit::Bool,
        default: Some("true"),
        range: (0.0, 1.0),
    },
    Param { name: "most_debt", doc: "most that a station may have used in advance", unit: Unit::Time, default: Some("100ms"), range: (1e-3, 1e3) },
    WEIGHTS,
    Param { name: "station_limit", doc: "most that may wait for one station", unit: Unit::Amount, default: Some("100p"), range: (1.0, 1e9) },
    Param {
        name: "limit",
        doc: "most that may wait in all; the frame the MAC is serving is not counted",
        unit: Unit::Amount,
        default: Some("1000p"),
        range: (1.0, 1e9),
    },
];

/// Makes one.
///
/// # Errors
/// For a limit without room for one packet, and for weights of nobody or not above 0.
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, String> {
    let ns = |name| i64::try_from(args.time(name).as_nanos()).unwrap_or(i64::MAX);
    Ok(Box::new(Airtime {
        quantum: ns("quantum").max(1),
        most_debt: ns("most_debt"),
        sparse: args.flag("sparse"),
        weights: Weights::new(args, site)?,
        station_limit: limit(args, "station_limit")?,
        limit: limit(args, "limit")?,
        stations: Vec::new(),
        fresh: VecDeque::new(),
        old: VecDeque::new(),
        waiting: Backlog::default(),
    }))
}

/// Stations in two rows: those that have just begun to wait, and the others.
#[derive(Debug)]
pub struct Airtime {
    /// In ns.
    quantum: i64,
    /// In ns.
    most_debt: i64,
    sparse: bool,
    weights: Weights,
    station_limit: Amount,
    limit: Amount,
    stations: Vec<Station>,
    fresh: VecDeque<usize>,
    old: VecDeque<usize>,
    waiting: Backlog,
}

#[derive(Debug)]
struct Station {
    /// What waits for it: any discipline, which may drop packets of its own accord.
    flows: Box<dyn Qdisc>,
    /// Airtime it may use before the others have their turn, in ns.
    deficit: i64,
    /// What it gets each turn, in ns.
    quantum: i64,
    /// Whether it stands in a row.
    listed: bool,
}

impl Airtime {
    fn station(&mut self, station: usize) -> Option<&mut Station> {
        while self.stations.len() <= station {
            let weight = self.weights.get(self.stations.len() as u32).unwrap_or(1.0);
            let quantum = ((self.quantum as f64 * weight) as i64).max(1);
            self.stations.push(Station { flows: Box::new(Turns::default()), deficit: quantum, quantum, listed: false });
        }
        self.stations.get_mut(station)
    }
}

impl Qdisc for Airtime {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        let i = link.neighbour(&p) as usize;
        let (all, each, sparse) = (self.waiting.has_room(self.limit, &p), self.station_limit, self.sparse);
        let Some(station) = self.station(i).filter(|s| all && s.flows.backlog().has_room(each, &p)) else {
            sink.drop(p, Drop::Full);
            return;
        };
        let before = station.flows.backlog();
        station.flows.enqueue(cx, link, p, sink);
        let after = station.flows.backlog();
        let begins = !core::mem::replace(&mut station.listed, true);
        if begins {
            if sparse { &mut self.fresh } else { &mut self.old }.push_back(i);
        }
        self.waiting = self.waiting.changed(before, after);
    }

    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        // Algorithm 3. Each round of the loop hands out a quantum, which is airtime somebody has used, or ends a station's waiting.
        loop {
            let fresh = !self.fresh.is_empty();
            let row = if fresh { &mut self.fresh } else { &mut self.old };
            let i = *row.front()?;
            let station = self.stations.get_mut(i)?;
            if station.deficit <= 0 {
                station.deficit += station.quantum;
                row.pop_front();
                self.old.push_back(i);
                continue;
            }
            let before = station.flows.backlog();
            let packet = station.flows.dequeue(cx, link, sink);
            self.waiting = self.waiting.changed(before, station.flows.backlog());
            if packet.is_some() {
                return packet;
            }
            row.pop_front();
            // A station that was new stays for a turn among the old, or it would come back as new at once.
            if fresh {
                self.old.push_back(i);
            } else {
                station.listed = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.waiting
    }

    fn hears_air(&self) -> bool {
        true
    }

    fn on_air(&mut self, report: &AirReport) {
        let used = i64::try_from(report.airtime.as_nanos()).unwrap_or(i64::MAX);
        let most = self.most_debt;
        if let Some(station) = self.station(report.station as usize) {
            station.deficit = station.deficit.saturating_sub(used).max(-most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::*;
    use super::*;
    use crate::registry::Value;
    use crate::time::{Span, Time};
    use proptest::prelude::*;

    fn report(station: u32, up: bool, us: u64) -> AirReport {
        AirReport { now: Time::ZERO, station, up, airtime: Span::from_micros(us), success: true, bytes: 1500, waiting: 0 }
    }

    /// Both always have a packet; each sent packet is followed by its report. Returns the airtime of each in us.
    fn airtime(q: &mut dyn Qdisc, us: [u64; 3], packets: usize) -> [u64; 3] {
        let mut bench = Bench::default();
        let mut used = [0; 3];
        for _ in 0..packets {
            (1..3).for_each(|to| bench.push(q, packet(to, 1500)));
            let to = bench.pop(q).unwrap().flow.0;
            q.on_air(&report(to, false, us[to as usize]));
            used[to as usize] += us[to as usize];
            bench.sink.dropped.clear();
        }
        used
    }

    /// 1500 bytes at 6 Mb/s take about 2100 us with their acknowledgment, at 54 Mb/s about 310: equal airtime to a frame of the slow one and a quantum.
    #[test]
    fn a_slow_and_a_fast_station_get_the_same_airtime() {
        let [_, slow, fast] = airtime(&mut *made(build, PARAMS, &[]), [0, 2100, 310], 20_000);
        assert!(slow.abs_diff(fast) <= 2100 + 300, "{slow} {fast}");
    }

    #[test]
    fn weights_two_to_one_give_twice_the_airtime() {
        let [_, heavy, light] = airtime(&mut *made(build, PARAMS, &[("weights", weights(&[("sta.1", 2.0)]))]), [0, 2100, 310], 20_000);
        assert!(heavy.abs_diff(2 * light) <= 2 * 2100 + 600, "{heavy} {light}");
    }

    /// What a station sends counts, and failed attempts: station 1 sends as much again as it receives, so it receives half as much.
    #[test]
    fn what_a_station_sends_is_charged() {
        let mut q = made(build, PARAMS, &[]);
        let mut bench = Bench::default();
        let mut got = [0u32; 3];
        for _ in 0..9000 {
            (1..3).for_each(|to| bench.push(&mut *q, packet(to, 1500)));
            let to = bench.pop(&mut *q).unwrap().flow.0;
            q.on_air(&report(to, false, 310));
            if to == 1 {
                q.on_air(&AirReport { success: false, ..report(1, true, 310) });
            }
            got[to as usize] += 1;
        }
        assert!(got[1].abs_diff(3000) <= 2, "{got:?}");
    }

    /// The paper's sparse station: it goes before those that wait, once; without the option it goes after them. A frame takes 310 us, a turn gives 300, so
    /// each has a frame a turn. By hand: before the fifth packet the row is 2 (-20 us), 1 (280 us); 2 gets its quantum and goes behind 3.
    #[test]
    fn a_sparse_station_goes_first() {
        let order = |sparse| {
            let mut q = made(build, PARAMS, &[("sparse", Value::Bool(sparse))]);
            let mut bench = Bench::default();
            let mut order = Vec::new();
            for i in 0..8 {
                (1..3).for_each(|to| bench.push(&mut *q, packet(to, 1500)));
                if i == 4 {
                    (0..2).for_each(|_| bench.push(&mut *q, packet(3, 100)));
                }
                let to = bench.pop(&mut *q).unwrap().flow.0;
                q.on_air(&report(to, false, 310));
                order.push(to);
            }
            order
        };
        assert_eq!(order(true), [1, 2, 1, 2, 3, 1, 3, 2]);
        assert_eq!(order(false), [1, 2, 1, 2, 1, 3, 2, 1]);
    }

    proptest! {
        #[test]
        fn packets_are_conserved_and_flows_keep_their_order(steps in steps(), sparse in any::<bool>()) {
            conserves(&mut *made(build, PARAMS, &[("sparse", Value::Bool(sparse))]), &steps)?;
        }
    }
}
