//! Routes that never change.

use super::{Actions, Malformed, Routed, Routing, RoutingDrop, Setting, Shortest, Station};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Time};
use std::sync::Arc;

/// Source.
pub const CITE: &str = "none";
/// What it does.
pub const SUMMARY: &str = "Routes with the fewest hops, known from the start and never changed; no messages. Of equal \
    routes, each station takes the neighbour with the lowest number. A packet that the MAC gives up is dropped.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the agent.
///
/// # Errors
/// When stations move.
pub fn build(_: &Args, setting: &Setting) -> Result<Box<dyn Routing>, Refusal> {
    let Some(routes) = &setting.shortest else {
        return Err(Refusal::new(
            "static routes need stations that never move",
            "write routing = \"aodv\" or \"dsdv\"",
        ));
    };
    Ok(Box::new(Static { me: setting.me, routes: Arc::clone(routes) }))
}

#[derive(Debug)]
struct Static {
    me: Station,
    routes: Arc<Shortest>,
}

impl Routing for Static {
    fn forward(&mut self, _: &mut Cx, p: &Routed, acts: &mut Actions) {
        match self.next_hop(p.destination) {
            Some(next) => acts.send(p.packet, next),
            None => acts.drop(p.packet, RoutingDrop::NoRoute),
        }
    }
    fn message(&mut self, _: &mut Cx, _: Station, _: &[u8], _: &mut Actions) -> Result<(), Malformed> {
        Err(Malformed)
    }
    fn failed(&mut self, _: &mut Cx, _: Station, p: Option<&Routed>, acts: &mut Actions) {
        if let Some(p) = p {
            acts.drop(p.packet, RoutingDrop::LinkFailed);
        }
    }
    fn wake(&mut self, _: &mut Cx, _: &mut Actions) {}
    fn deadline(&self) -> Time {
        Time::NEVER
    }
    fn held(&self) -> usize {
        0
    }
    fn next_hop(&self, destination: Station) -> Option<Station> {
        self.routes.next(self.me, destination)
    }
}
