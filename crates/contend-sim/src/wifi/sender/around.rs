//! What a sender and its queues need from outside in one event.

use super::air::Air;
use super::aql::Aql;
use super::counters::StationCounters;
use super::plan::{Burst, Content};
use super::rates::{AttemptOutcome, Chosen, Mpdus, Rates};
use crate::trace::{Event, Trace};
use crate::wifi::ids::{BROADCAST, StationId};
use contend_core::qdisc::{Link, Sink};
use contend_core::{Packet, Time};

/// What a Mac and its queues need from outside.
pub(crate) struct Around<'a> {
    pub(crate) now: Time,
    pub(crate) air: &'a Air,
    /// The transmitter as the discipline sees it. The numbers of its neighbours are station numbers.
    pub(crate) link: &'a dyn Link,
    /// The sink for dropped packets, empty.
    pub(crate) sink: &'a mut Sink,
    pub(crate) trace: &'a mut Trace,
    pub(crate) extras: &'a mut Extras,
}

/// What only some channels keep of their stations. Apart from the rest, because every event of every channel pays for
/// what [`Around`] has.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Packets that Macs gave up, for the routing agents; `None`: without agents they are lost.
    pub(crate) returned: Option<Vec<Returned>>,
    /// The packets that have left their stations, for sources that count them; `None`: no source does.
    pub(crate) left: Option<Vec<Packet>>,
    /// The airtime that is pending at each station that has a limit; empty if none has.
    pub(crate) aql: Vec<Option<Aql>>,
    /// The rate controls of each station; empty if all rates are fixed.
    pub(crate) rates: Vec<Rates>,
    /// The MPDUs that each station has sent and that were sent to it; empty if they are not counted.
    pub(crate) mpdus: Vec<[Mpdus; 2]>,
}

/// A packet that a Mac gave up and hands back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Returned {
    pub(crate) station: StationId,
    /// The receiver that did not answer.
    pub(crate) next: StationId,
    pub(crate) packet: Packet,
    /// True if the receiver has the packet all the same.
    pub(crate) delivered: bool,
}

impl Extras {
    /// The airtime that is pending at `station`; `None` if it has no limit.
    pub(crate) fn aql(&self, station: StationId) -> Option<&Aql> {
        self.aql.get(station as usize)?.as_ref()
    }

    /// See [`Extras::aql`].
    pub(crate) fn aql_mut(&mut self, station: StationId) -> Option<&mut Aql> {
        self.aql.get_mut(station as usize)?.as_mut()
    }
}

impl Around<'_> {
    /// `p` has left the station: it was sent, dropped or given up.
    #[inline]
    pub(crate) fn leaves(&mut self, p: &Packet) {
        if let Some(left) = &mut self.extras.left {
            left.push(*p);
        }
    }

    /// The packets in the sink have left the station.
    #[inline]
    pub(crate) fn dropped(&mut self) {
        if let Some(left) = &mut self.extras.left {
            left.extend(self.sink.dropped.iter().map(|(p, _)| *p));
        }
    }

    /// An attempt of `burst` with data, or a request, has ended.
    #[inline]
    pub(crate) fn sent(&mut self, burst: &Burst, outcome: &AttemptOutcome) {
        if !self.extras.mpdus.is_empty() {
            self.count(burst, outcome);
        }
    }

    /// See [`Around::sent`].
    #[inline(never)]
    fn count(&mut self, burst: &Burst, outcome: &AttemptOutcome) {
        let &Burst { from, to, rate, content, .. } = burst;
        if to == BROADCAST {
            return;
        }
        if matches!(content, Content::Request(_)) {
            if let Some(rates) = self.extras.rates.get_mut(from as usize) {
                rates.asked(self.air, (from, to), outcome.answered, self.air.timing().limits.short);
            }
            return;
        }
        let format = self.air.format(rate);
        for (station, way) in [(from, 0), (to, 1)] {
            if let Some(mpdus) = self.extras.mpdus.get_mut(station as usize) {
                mpdus[way].count(format, outcome);
            }
        }
        if let Some(rates) = self.extras.rates.get_mut(from as usize) {
            rates.sent(self.now, self.air, (from, to), rate, outcome);
        }
    }
}

/// The rate of the next attempt from one station to another. A new chain begins after `most` failures.
#[inline]
pub(crate) fn rate(rates: &mut [Rates], now: Time, air: &Air, (from, to): (StationId, StationId), most: u32) -> Chosen {
    match rates.get_mut(from as usize) {
        Some(rates) if to != BROADCAST => rates.next(now, air, (from, to), most),
        _ => Chosen { rate: air.rate(from, to), alone: false },
    }
}

/// Counts `p`, which its sender gives up.
pub(crate) fn give_up(
    trace: &mut Trace,
    left: &mut Option<Vec<Packet>>,
    counters: &mut StationCounters,
    now: Time,
    p: &Packet,
    receiver_has_it: bool,
) {
    counters.retry_drops += 1;
    counters.dropped_after_delivery += u64::from(receiver_has_it);
    if !receiver_has_it {
        trace.packet(now, Event::Lost, p);
    }
    if let Some(left) = left {
        left.push(*p);
    }
}
