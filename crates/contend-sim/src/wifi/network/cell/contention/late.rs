//! Contenders that start before they sense another one.

use super::{Contention, Loner, State};
use crate::wifi::ids::Contender;
use contend_core::Time;
use std::cmp::Reverse;

/// A contender that starts before it senses another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LateStart {
    /// When it starts.
    pub at: Time,
    /// The contender.
    pub who: Contender,
    /// The slots of backoff that it had when it resumed; `None` if its packet arrived on an idle medium.
    pub slots: Option<u64>,
}

impl Contention {
    /// The contenders whose backoff ends before `sensed` are moved to `starts`: they start although another one may
    /// have started before them. To be called before [`Contention::turn_busy`].
    pub fn start_before(&mut self, sensed: Time, starts: &mut Vec<LateStart>) {
        for g in &mut self.groups {
            while let Some(&Reverse((expiry, who))) = g.heap.peek() {
                let slots = expiry.saturating_sub(g.clock);
                let at = g.resume + self.slot * slots;
                let member = self.state[who as usize] == State::Member(expiry);
                if member && at >= sensed {
                    break;
                }
                g.heap.pop();
                if member {
                    self.state[who as usize] = State::Sending;
                    self.waiting -= 1;
                    starts.push(LateStart { at, who, slots: Some(slots) });
                }
            }
        }
        let mut i = 0;
        while let Some(&l) = self.loners.get(i) {
            let at = l.resume + self.slot * l.slots;
            if l.waits && at < sensed {
                self.loners.swap_remove(i);
                self.state[l.who as usize] = State::Sending;
                self.waiting -= 1;
                starts.push(LateStart { at, who: l.who, slots: Some(l.slots) });
            } else {
                i += 1;
            }
        }
    }

    /// Slots of backoff that `start` has left if its station does not send because another category of it transmits
    /// from `from` on; `None` if it had no backoff.
    pub fn left(&self, start: &LateStart, from: Time) -> Option<u64> {
        let slots = start.slots?;
        Some(slots.saturating_sub(self.counted(start.who, start.at - self.slot * slots, from)))
    }

    /// The station of `who` transmits from `from` on, so that `who` counts nothing from then until the medium is sensed
    /// as busy at `until`. To be called before [`Contention::turn_busy`].
    pub fn pause(&mut self, who: Contender, from: Time, until: Time) {
        let (expiry, waits) = match self.state[who as usize] {
            State::Member(e) => (e, true),
            State::Silent(e) => (e, false),
            State::Loner => {
                let Some(i) = self.loners.iter().position(|l| l.who == who) else { return };
                let Loner { resume, slots, .. } = self.loners[i];
                self.loners[i].slots += self.uncounted(who, resume, slots, [from, until]);
                return;
            }
            State::Sending => return,
        };
        let g = self.of(who);
        let (resume, slots) = (g.resume, expiry.saturating_sub(g.clock));
        let more = self.uncounted(who, resume, slots, [from, until]);
        if more > 0 {
            // Its old place in the heap is no longer valid.
            self.join(who, slots + more, waits);
        }
    }

    /// Of a backoff of `slots` from `resume` on, which does not end before the first of two instants, the slots that
    /// would count between them.
    fn uncounted(&self, who: Contender, resume: Time, slots: u64, [from, until]: [Time; 2]) -> u64 {
        let is_over = resume + self.slot * slots <= from;
        if is_over { 0 } else { self.counted(who, resume, until) - self.counted(who, resume, from) }
    }
}
