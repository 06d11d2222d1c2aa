//! What hosts opened beside the flows of the file: one row for each service that they used.

use crate::ties::Opening;
use contend_core::FlowId;
use contend_lab::experiment::results::{Carried, Opened, Percentiles};
use contend_sim::gate::{Gate, Meter, Way};
use contend_sim::stats::Durations;
use std::collections::BTreeMap;

/// The most rows. A program that tries all ports would make one for each; what is further goes to port 0.
const MOST: usize = 256;

/// All services, and the one that each flow number belongs to now.
#[derive(Debug)]
pub(crate) struct Openings {
    /// The first flow number that is not of the file.
    first: u32,
    now: Vec<Opening>,
    all: BTreeMap<Opening, Service>,
}

#[derive(Debug, Default)]
struct Service {
    connections: u64,
    /// From the host that opened, and back.
    ways: [Sum; 2],
}

#[derive(Debug, Default)]
struct Sum {
    bytes: u64,
    delay: Durations,
}

impl Openings {
    pub(crate) fn new(first: u32) -> Openings {
        Openings { first, now: Vec::new(), all: BTreeMap::new() }
    }

    /// `flow` opens; `before` is the meter of the flow that had its number.
    pub(crate) fn opens(&mut self, flow: FlowId, opening: Opening, before: Meter) {
        let opening = match self.all.contains_key(&opening) || self.all.len() < MOST {
            true => opening,
            false => Opening { port: 0, ..opening },
        };
        self.all.entry(opening).or_default().connections += 1;
        let i = flow.0.saturating_sub(self.first) as usize;
        if i < self.now.len() {
            let was = std::mem::replace(&mut self.now[i], opening);
            self.add(was, &before);
        } else {
            self.now.push(opening);
        }
    }

    fn add(&mut self, opening: Opening, meter: &Meter) {
        let Some(service) = self.all.get_mut(&opening) else { return };
        // The meter counts from the host with the lower number.
        let ways = [meter.there(), meter.back()];
        let ways = if opening.from < opening.to { ways } else { [ways[1], ways[0]] };
        for (sum, Way { received, delay, .. }) in service.ways.iter_mut().zip(ways) {
            sum.bytes += received.delivered_bytes;
            sum.delay.merge(delay);
        }
    }

    /// All rows, when the run has ended.
    pub(crate) fn read(&mut self, gate: &Gate, hosts: &[String]) -> Vec<Opened> {
        for (i, opening) in (self.first..).zip(std::mem::take(&mut self.now)) {
            if let Some(meter) = gate.meter(FlowId(i)) {
                self.add(opening, meter);
            }
        }
        let name = |host: usize| hosts.get(host).cloned().unwrap_or_default();
        let carried = |s: &Sum| Carried { bytes: s.bytes, delay_s: Percentiles::from(&s.delay) };
        let row = |(o, s): (&Opening, &Service)| Opened {
            protocol: match o.protocol {
                1 => "icmp".into(),
                6 => "tcp".into(),
                17 => "udp".into(),
                other => format!("protocol {other}"),
            },
            from: name(o.from),
            to: name(o.to),
            port: o.port,
            connections: s.connections,
            there: carried(&s.ways[0]),
            back: carried(&s.ways[1]),
        };
        self.all.iter().map(row).collect()
    }
}
