//! Readings of a running network.

use super::Net;
use super::build::addresses;
use crate::gate::{Gate, Meter};
use crate::link::Wire;
use crate::peer::WireId;
use crate::scenario::{Scenario, StationSpec};
use crate::stats::{Durations, QueueMeter, ReceiverCounters, SenderCounters, TransmitterCounters};
use crate::tcp::SenderState;
use crate::tcp::end::End;
use crate::wifi::access::Category;
use crate::wifi::bss::Bss;
use crate::wifi::client::Client;
use crate::wifi::counters::StationCounters;
use crate::wifi::ledger::Ledger;
use crate::wifi::{FrameLog, Map, Roams, StationId};
use contend_core::{FlowId, Span, Time};

impl Net {
    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.ends.len() / 2
    }

    /// True if the sending end of `flow` is simulated; otherwise what only a sender knows is 0 in [`Net::sent`].
    pub fn is_sender_simulated(&self, flow: usize) -> bool {
        self.sender_of(flow).is_some()
    }

    /// Expiries of the retransmission timer of `flow`; `None` for a sender outside that nobody has asked.
    pub fn timeouts(&self, flow: usize) -> Option<u64> {
        match self.sender_of(flow) {
            Some(_) => Some(self.sent(flow).timeouts),
            None => self.meter_of(flow)?.timeouts,
        }
    }

    /// Segments of `flow` that acknowledgments reported as marked, as [`Net::timeouts`].
    pub fn delivered_ce(&self, flow: usize) -> Option<u64> {
        match self.sender_of(flow) {
            Some(_) => Some(self.sent(flow).delivered_ce),
            None => self.meter_of(flow)?.delivered_ce,
        }
    }

    /// Counters of the sending end of `flow`.
    pub fn sent(&self, flow: usize) -> SenderCounters {
        let outside = || self.meter_of(flow).map(|m| m.there().sent);
        self.sender_of(flow).and_then(End::sent).or_else(outside).unwrap_or_default()
    }

    /// Counters of the receiving end of `flow`.
    pub fn received(&self, flow: usize) -> ReceiverCounters {
        let outside = || self.meter_of(flow).map(|m| m.there().received);
        self.receiver_of(flow).and_then(End::received).or_else(outside).unwrap_or_default()
    }

    /// Packets of `flow` that its sending host still works on.
    pub fn held(&self, flow: usize) -> u64 {
        self.sender_of(flow).map_or(0, End::held)
    }

    /// Packets that both ends of `flow` handed to the network, of every kind.
    pub fn entered(&self, flow: usize) -> u64 {
        self.ends_of(flow).map(End::entered).sum::<u64>() + self.meter_of(flow).map_or(0, |m| m.entered)
    }

    /// Packets that arrived at both ends of `flow`, of every kind.
    pub fn arrived(&self, flow: usize) -> u64 {
        self.ends_of(flow).map(End::arrived).sum::<u64>() + self.meter_of(flow).map_or(0, |m| m.arrived)
    }

    /// The state of the sending end of `flow`; `None` for UDP, and if nothing outside reads it.
    pub fn sender(&self, flow: usize) -> Option<SenderState> {
        self.sender_of(flow).and_then(End::sender_state).or_else(|| self.meter_of(flow)?.state)
    }

    /// The share of marks and the score of the queue that the controller of `flow` keeps now: alpha of DCTCP and
    /// Prague, and the score of Prague's detector.
    pub fn marks(&self, flow: usize) -> [Option<f64>; 2] {
        self.sender_of(flow).map_or([None; 2], End::marks)
    }

    /// The probability of the law of queue number `i`; `None` without such a law.
    pub fn probability(&mut self, i: usize) -> Option<f64> {
        match i.checked_sub(self.stations.len()) {
            None => self.world.node_mut::<Bss>(self.cell?)?.probability(i),
            Some(w) => self.world.wires().get(w)?.probability(),
        }
    }

    /// The present values of the estimators of `flow`, in bytes per second.
    pub fn estimates(&self, flow: usize) -> Vec<u64> {
        self.sender_of(flow).map_or_else(Vec::new, |s| s.estimates(self.world.now()))
    }

    /// Round-trip samples of `flow`.
    pub fn rtt(&self, flow: usize) -> Option<&Durations> {
        self.sender_of(flow).and_then(End::rtt).or_else(|| Some(&self.meter_of(flow)?.there().rtt))
    }

    /// One-way delays of `flow`'s data.
    pub fn delay(&self, flow: usize) -> Option<&Durations> {
        self.receiver_of(flow).and_then(End::one_way_delay).or_else(|| Some(&self.meter_of(flow)?.there().delay))
    }

    /// For each finished transfer of `flow`, when it was offered and how long it took.
    pub fn transfers(&self, flow: usize) -> &[(Time, Span)] {
        self.sender_of(flow).map_or(&[], End::transfers)
    }

    /// The number of transfers of `flow` that have begun and are not complete.
    pub fn unfinished(&self, flow: usize) -> u64 {
        self.sender_of(flow).map_or(0, End::unfinished)
    }

    /// The time from the start of `flow` until all its data were acknowledged; `None` before, or if the flow has no
    /// end.
    pub fn completed(&self, flow: usize) -> Option<Span> {
        self.sender_of(flow).and_then(End::completed)
    }

    /// The access point and its stations, if there is a cell.
    pub fn bss(&self) -> Option<&Bss> {
        self.cell.and_then(|id| self.world.node(id))
    }

    /// True if the stations are in a field, so that not all hear each other.
    pub fn is_field(&self) -> bool {
        self.bss().is_some_and(Bss::is_field)
    }

    /// Names of the cell's stations by [`StationId`]; empty without a cell.
    pub fn stations(&self) -> &[String] {
        &self.stations
    }

    /// The ledger of the air at this time.
    pub fn ledger(&self) -> Option<Ledger> {
        self.bss().map(|c| c.ledger(self.world.now()))
    }

    /// The kept frames; `None` if frames are not kept or there is no cell.
    pub fn frames(&self) -> Option<&FrameLog> {
        self.bss().and_then(Bss::frames)
    }

    /// The stations where the data of `flow` enter the air and leave it; `None` if they are never on the air.
    pub fn on_air(&self, flow: usize) -> Option<[StationId; 2]> {
        let [sender, receiver] = addresses(flow).map(|a| self.bss()?.station_of(a));
        Some([sender?, receiver?])
    }

    /// The map of the field at this time; `None` without a field.
    pub fn map(&mut self) -> Option<Map> {
        let ends: Vec<_> = (0..self.flows()).map(|flow| self.on_air(flow)).collect();
        let now = self.world.now();
        self.world.node_mut::<Bss>(self.cell?)?.map(now, &ends)
    }

    /// Counters of station `who`.
    pub fn station(&self, who: StationId) -> StationCounters {
        self.bss().and_then(|c| c.counters(who)).unwrap_or_default()
    }

    /// How station `who` has roamed so far; `None` if it keeps its access point.
    pub fn roams(&self, who: StationId) -> Option<Roams> {
        self.bss()?.roams(who, self.world.now())
    }

    /// Names of all queues in the order of their numbers: the access points, the stations, the directions of links, the
    /// control blocks of each access point, and one extra entry for each category that is not best effort. All control
    /// blocks of an access point together count as one queue, which holds their packets. The queue of best effort has
    /// the station's name. With routing agents `routing` follows the control blocks: what the agents hold.
    pub fn queues(&self) -> impl Iterator<Item = &str> {
        let queues = self.stations.iter().map(String::as_str).chain(self.wires.iter().map(String::as_str));
        queues
            .chain(self.controlled.iter().map(|(_, name)| name.as_str()))
            .chain(self.routed.then_some("routing"))
            .chain(self.category_queue_names.iter().map(String::as_str))
    }

    /// The meter of queue number `i` at this time.
    pub fn meter(&mut self, i: usize) -> Option<&mut QueueMeter> {
        self.queue(i).map(|(meter, _)| meter)
    }

    /// Packets that wait in queue number `i`. The queue itself counts them, not its meter.
    pub fn waiting(&mut self, i: usize) -> u64 {
        self.queue(i).map_or(0, |(_, waiting)| waiting)
    }

    fn queue(&mut self, i: usize) -> Option<(&mut QueueMeter, u64)> {
        let now = self.world.now();
        match i.checked_sub(self.stations.len()) {
            None => self.world.node_mut::<Bss>(self.cell?)?.queue(i),
            Some(w) if w < self.wires.len() => Some(self.world.wire_mut(WireId(w as u32))?.queue(now)),
            Some(w) => {
                let (bss, w) = (self.world.node_mut::<Bss>(self.cell?)?, w - self.wires.len());
                let others = w - self.controlled.len().min(w);
                match self.controlled.get(w) {
                    Some(&(ap, _)) => bss.control_queue(ap),
                    None if self.routed && others == 0 => bss.routing_queue(),
                    None => bss.queue(self.stations.len() + others - usize::from(self.routed)),
                }
            }
        }
    }

    /// Names of all transmitters, in the order of their numbers: the access points, the stations, the wires. In a field
    /// `routing` follows: what is between the network layers of stations and their queues.
    pub fn transmitters(&self) -> impl Iterator<Item = &str> {
        let all = self.stations.iter().chain(&self.wires).map(String::as_str);
        all.chain(self.is_field().then_some("routing"))
    }

    /// What became of the packets that transmitter number `i` took from its queues.
    pub fn transmitter(&mut self, i: usize) -> TransmitterCounters {
        let now = self.world.now();
        let counters = match i.checked_sub(self.stations.len()) {
            None => self.bss().and_then(|bss| bss.transmitter(i as StationId, now)),
            Some(w) if w < self.wires.len() => self.world.wire_mut(WireId(w as u32)).map(|wire| wire.transmitter(now)),
            Some(_) => self.bss().map(Bss::routing),
        };
        counters.unwrap_or_default()
    }

    /// The rate in bits per second of transmitter number `i`, if it is a wire of constant, finite rate.
    pub fn wire_rate(&self, i: usize) -> Option<u64> {
        self.world.wires().get(i.checked_sub(self.stations.len())?)?.rate()
    }

    /// Packets that the wire behind queue number `i` lost, by kind; 0 for the queues of a cell.
    pub fn lost(&self, i: usize) -> [u64; 4] {
        let wire = i.checked_sub(self.stations.len()).and_then(|w| self.world.wires().get(w));
        wire.map_or([0; 4], |w| *w.lost())
    }

    /// How many more frames or packets were lost so far than their probabilities say: on the channel of a station, in
    /// both directions, or on the wire behind queue number `i`. Its mean over many seeds is 0.
    pub fn excess_losses(&self, i: usize) -> f64 {
        match i.checked_sub(self.stations.len()) {
            None => self.bss().map_or(0.0, |bss| bss.excess_losses(i as StationId)),
            Some(w) => self.world.wires().get(w).map_or(0.0, Wire::excess_losses),
        }
    }

    /// Every direction of every link.
    pub fn wires(&self) -> impl Iterator<Item = &Wire> {
        self.world.wires().iter()
    }

    /// The wire called `name` (`<link>` or `<link>.reverse`).
    pub fn wire(&self, name: &str) -> Option<&Wire> {
        self.wires.iter().zip(self.world.wires()).find(|(n, _)| *n == name).map(|(_, w)| w)
    }

    fn ends_of(&self, flow: usize) -> impl Iterator<Item = &End> {
        [self.sender_of(flow), self.receiver_of(flow)].into_iter().flatten()
    }

    fn sender_of(&self, flow: usize) -> Option<&End> {
        self.world.node(*self.ends.get(2 * flow)?)
    }

    fn receiver_of(&self, flow: usize) -> Option<&End> {
        self.world.node(*self.ends.get(2 * flow + 1)?)
    }

    /// The meter of a flow that is outside.
    fn meter_of(&self, flow: usize) -> Option<&Meter> {
        let gate = self.gate.filter(|gate| self.ends.get(2 * flow) == Some(gate))?;
        self.world.node::<Gate>(gate)?.meter(FlowId(flow as u32))
    }
}

/// The number of queues of the network of `spec`: the number of names that [`Net::queues`] would return.
pub fn queue_count(spec: &Scenario) -> usize {
    let wires = 2 * spec.links.len();
    let Some(cell) = &spec.cell else { return wires };
    let queues = |s: &StationSpec| if s.access.has_categories() { Category::ALL.len() } else { 1 };
    let cables = cell.stations.iter().filter(|s| matches!(s.client, Some(Client::Converter(_)))).count();
    let on_air: usize = cell.members().map(queues).sum();
    let controlled = cell.aps.iter().filter(|ap| !ap.control.is_empty()).count();
    on_air + wires + 2 * cables + controlled + usize::from(cell.has_agents())
}
