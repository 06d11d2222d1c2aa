//! What happens when a route breaks: repair, and errors to the stations that use it.

use super::super::{Actions, Station};
use super::Aodv;
use super::message::{MOST_ERRORS, Message};
use super::table::{Route, State, is_newer};
use contend_core::Cx;

impl Aodv {
    /// RFC 3561 §6.11 (iii).
    pub(super) fn hear_error(&mut self, cx: &mut Cx, from: Station, lost: Vec<(Station, u32)>) {
        let mut further = lost;
        further.retain(|&(to, number)| {
            let older = |r: &&mut Route| r.next == from && r.number.is_none_or(|n| !is_newer(n, number));
            let Some(route) = self.table.up(to).filter(older) else { return false };
            route.breaks();
            route.number = Some(number);
            !std::mem::take(&mut route.precursors).is_empty()
        });
        if !further.is_empty() {
            self.tell_later(cx.now, cx.rng, Message::Error(further));
        }
    }

    /// All routes over `neighbour` are broken (RFC 3561 §6.11 (i)).
    pub(super) fn break_link(&mut self, neighbour: Station, acts: &mut Actions) {
        let mut lost = vec![];
        for (&to, route) in &mut self.table.routes {
            route.precursors.retain(|p| *p != neighbour);
            if route.is_up() && route.next == neighbour {
                route.breaks();
                let used = !std::mem::take(&mut route.precursors).is_empty();
                if used || !self.rules.only_precursors {
                    lost.push((to, route.number.unwrap_or(0)));
                }
            }
        }
        for part in lost.chunks(MOST_ERRORS) {
            self.tell(None, &Message::Error(part.to_vec()), acts);
        }
    }

    /// The search for a new route to `to` has had its time.
    pub(super) fn end_repair(&mut self, to: Station, acts: &mut Actions) {
        let Some(route) = self.table.routes.get_mut(&to).filter(|r| r.state == State::InRepair) else { return };
        route.state = State::Down;
        let used = !std::mem::take(&mut route.precursors).is_empty();
        if used || !self.rules.only_precursors {
            let lost = vec![(to, route.number.unwrap_or(0))];
            self.tell(None, &Message::Error(lost), acts);
        }
    }
}
