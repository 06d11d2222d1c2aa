//! Frames that are sensed late: a station knows of a frame only when it has detected its preamble.
//!
//! IEEE 802.11-2020 §17.3.10.6: CCA finds a preamble of OFDM within 4 us (aCCATime). In ns-3 a PHY stays idle for 4 us
//! of a preamble (`PhyEntity::EndPreambleDetectionPeriod`). Contenders whose backoffs end within this time after a
//! first start transmit too, and collide with it. Where all count from the same instant, as after most exchanges, their
//! slots are aligned, and this changes nothing.
//!
//! The medium decides what happens when the first frame is sensed, at which time all that have started are known. So an
//! exchange costs no more wake-ups than without. An aggregate that takes packets until it is sent (`hw_queue = 0`)
//! takes them until it is sensed.

use super::contention::LateStart;
use super::{Activity, Cell};
use crate::wifi::access::Draw;
use crate::wifi::ids::Contender;
use crate::wifi::network::stations::Moment;
use contend_core::{Span, Time};

/// How frames are sensed late.
#[derive(Debug)]
pub(super) struct Late {
    /// From the start of a frame until it is sensed; shorter than a slot.
    detection: Span,
    /// The contenders that start before the first frame is sensed, the first one first.
    starts: Vec<LateStart>,
}

impl Late {
    /// Frames are sensed `detection` after their start.
    pub(super) fn new(detection: Span) -> Late {
        Late { detection, starts: Vec::new() }
    }

    /// True if frames are not sensed at once.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        !self.detection.is_zero()
    }

    /// When a frame is sensed that starts at `start`.
    #[inline]
    pub(super) fn sensed(&self, start: Time) -> Time {
        Time::from_nanos(start.as_nanos().saturating_add(self.detection.as_nanos()))
    }

    /// When a frame started that is sensed at `sensed`.
    pub(super) fn started(&self, sensed: Time) -> Time {
        sensed - self.detection
    }

    /// When `who` starts; `first` if all do together.
    pub(super) fn start(&self, who: Contender, first: Time) -> Time {
        self.starts.iter().find(|s| s.who == who).map_or(first, |s| s.at)
    }

    /// Contenders without backoff that have started and are not sensed.
    #[inline]
    pub(super) fn unsensed(&self, activity: Activity) -> usize {
        if matches!(activity, Activity::Unsensed(_)) { self.starts.len() } else { 0 }
    }
}

impl Cell {
    /// `who` starts without backoff at `now`.
    #[cold]
    pub(super) fn start_unsensed(&mut self, who: Contender, now: Time) {
        if self.activity == Activity::Idle {
            self.late.starts.clear();
            self.activity = Activity::Unsensed(self.late.sensed(self.contention.next_start().min(now)));
        }
        self.starting.clear();
        self.contention.send_at_once(who, &mut self.starting);
        self.starting.clear();
        self.late.starts.push(LateStart { at: now, who, slots: None });
    }

    /// The first frame is sensed now. Adds the contenders that have started to `self.starting`, and returns when the
    /// first one did.
    #[inline(never)]
    pub(super) fn sense_late(&mut self, moment: &mut Moment<'_, '_>) -> Time {
        let mut starts = std::mem::take(&mut self.late.starts);
        if self.activity == Activity::Idle {
            starts.clear();
        }
        self.activity = Activity::Idle;
        self.contention.start_before(moment.now, &mut starts);
        starts.sort_unstable();
        // A backoff that would end in the instant in which the frame is sensed has not ended.
        let until = moment.now - Span::from_nanos(1);
        let mut silent = Vec::new();
        if moment.stations.have_several() {
            let station = |s: &LateStart| moment.stations.station_of(s.who);
            for i in 0..starts.len() {
                // A station that transmits hears its own frame: its other categories wait.
                let start = starts[i];
                match starts[..i].iter().find(|s| station(s) == station(&start)) {
                    Some(own) if own.at < start.at => silent.push((start, own.at)),
                    Some(_) => {}
                    None => {
                        for who in moment.stations.contenders(station(&start)) {
                            self.contention.pause(who, start.at, until);
                        }
                    }
                }
            }
            starts.retain(|s| !silent.iter().any(|(other, _)| other == s));
        }
        self.contention.turn_busy(until, &mut self.starting, &mut self.again);
        self.starting.extend(starts.iter().map(|s| s.who));
        for (start, from) in silent {
            let who = start.who;
            let slots = match self.contention.left(&start, from) {
                Some(slots) => slots,
                None => moment.backoff(who, Draw::Arrival, self.heard(moment, who)),
            };
            self.contention.back_off(who, slots, true);
        }
        let first = starts.first().map_or(moment.now, |s| s.at);
        self.late.starts = starts;
        first
    }
}
