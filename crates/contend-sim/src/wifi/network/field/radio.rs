//! The receiver and the carrier sense of one station of a field.

use super::FlightId;
use super::book::{Book, Doing};
use super::links::Hearer;
use crate::wifi::ids::Contender;
use crate::wifi::medium::nav::Nav;
use crate::wifi::sender::mac::Failure;
use crate::wifi::sender::plan::{Answer, PartKind};
use crate::wifi::spec::Capture;
use contend_core::{Span, Time};

/// One station's radio. It fills four cache lines, because in a large field it is seldom in the first cache.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Radio {
    /// True while it transmits.
    pub(super) sends: bool,
    /// When it last stopped transmitting.
    pub(super) stopped: Time,
    /// The frames that arrive with enough power to be sensed.
    arriving: Vec<Arriving>,
    /// True if the frames of other channels that arrive have enough power together to make the medium busy.
    energy: bool,
    /// What only some fields count.
    more: Option<Box<More>>,
    /// The frame on which it is locked.
    reception: Option<Reception>,
    /// True while it transmits or senses a frame.
    pub(super) busy: bool,
    /// When the medium around it was last busy.
    pub(super) quiet: Time,
    /// Until when others have reserved the medium.
    pub(super) nav: Nav,
    /// What it heard last that it could not decode.
    pub(super) unclear: Unclear,
    /// Its exchange as the sender.
    pub(super) own: Option<Own>,
    /// The frame that it sends a SIFS later, and the contender whose exchange the frame belongs to.
    pub(super) answer: Option<(Contender, PartKind)>,
    /// What it has done so far.
    pub(super) book: Book,
}

/// What a radio keeps in fields with other channels, or with errors by the power of other frames.
#[derive(Debug, Default)]
struct More {
    /// The frames of other channels that arrive, and their power.
    foreign: Vec<(FlightId, f64)>,
    /// The power of the other frames from each of these instants on, since the radio locked on the latest frame; `None`
    /// if it does not count.
    overlap: Option<Vec<(Time, f64)>>,
}

/// What a station heard in a busy period and could not decode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unclear {
    /// Nothing.
    #[default]
    Nothing,
    /// The rest of a frame whose beginning it missed.
    Energy,
    /// A frame.
    Frame,
}

/// An exchange at its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) who: Contender,
    /// When the exchange began, and when its sender won the medium.
    pub(super) start: Time,
    pub(super) won: Time,
    /// When its data frame began, once it did.
    pub(super) data: Option<Time>,
    /// When the wait for an answer to its last frame ends.
    pub(super) over: Time,
    /// Why the exchange failed, once it did. The sender acts on it when the medium around it is idle.
    pub(super) failed: Option<Failed>,
}

/// A failed exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed {
    pub(super) missing: Answer,
    pub(super) why: Failure,
    /// From the start of the exchange to the end of the wait.
    pub(super) airtime: Span,
    /// True once the queues have been told of the attempt.
    pub(super) reported: bool,
}

/// A frame that arrives.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    flight: FlightId,
    gain: f64,
    /// True if it is so weak beside a frame that is being decoded that it does no harm.
    harmless: bool,
}

/// The frame on which a radio is locked.
#[derive(Clone, Copy, Debug)]
struct Reception {
    flight: FlightId,
    gain: f64,
    ends: Time,
    /// True if it is for this station or for all.
    is_own: bool,
    /// How it would be received if it ended now: never [`Received::Harmless`].
    so_far: Received,
}

/// How a frame that has arrived was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// It was decoded.
    Decoded,
    /// The radio tried and failed.
    Garbled,
    /// The radio missed its beginning: it was transmitting.
    Missed,
    /// It was too weak to matter beside another frame.
    Harmless,
}

impl Radio {
    /// A radio that hears nothing. `overlaps`: the power of frames that overlap counts.
    pub(super) fn new(overlaps: bool) -> Radio {
        let more = || Box::new(More { foreign: Vec::new(), overlap: Some(Vec::new()) });
        Radio { more: overlaps.then(more), ..Radio::default() }
    }

    /// The power of the other frames, from each of these instants on, while the frame arrived that has just ended and
    /// on which the radio was locked; `None` if it does not count.
    pub(super) fn overlap(&self) -> Option<&[(Time, f64)]> {
        self.more.as_ref()?.overlap.as_deref()
    }

    /// The frames of other channels that arrive, and their power.
    #[inline]
    fn foreign(&self) -> &[(FlightId, f64)] {
        self.more.as_ref().map_or(&[], |more| &more.foreign)
    }

    /// The frames that arrive are others from `now` on.
    #[inline]
    fn keep_overlap(&mut self, now: Time) {
        if let (Some(more), Some(r)) = (&mut self.more, &self.reception)
            && let Some(overlap) = &mut more.overlap
        {
            let others = self.arriving.iter().filter(|a| a.flight != r.flight);
            overlap.push((now, others.map(|a| a.gain).sum::<f64>() + leaked(&more.foreign, true)));
        }
    }

    /// True if it takes part in an exchange that is not over.
    #[inline]
    pub(super) fn is_engaged(&self) -> bool {
        self.own.is_some() || self.answer.is_some()
    }

    /// True if it neither transmits nor senses anything now.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        !self.sends && self.arriving.is_empty() && !self.energy
    }

    /// It starts to transmit.
    pub(super) fn transmit(&mut self) {
        self.sends = true;
        if let Some(r) = &mut self.reception {
            r.so_far = Received::Missed;
        }
    }

    /// Books what it does from `now` on. How long a quiet radio's station is blocked is not known here.
    #[inline]
    pub(super) fn note(&mut self, now: Time) {
        let doing = match self.reception {
            _ if self.sends => Doing::Sends,
            Some(r) if r.is_own && r.so_far == Received::Decoded => Doing::Receives,
            _ if self.arriving.is_empty() && !self.energy => Doing::Quiet,
            _ => Doing::Hears,
        };
        self.book.turn(now, doing, Time::NEVER);
    }

    // ---- frames arrive ----

    /// The first bit of `flight` arrives `now`, whose last bit is sent at `end`. The hearer says how it arrives here.
    /// `is_own`: it is for this station or for all. Books it, and returns true if the frame is too weak beside another
    /// to do harm.
    ///
    /// A radio locks on the first frame. A frame that is weaker by the ratio of `capture` does no harm. Any other frame
    /// corrupts the first, and the radio stays locked on the one that ends last.
    #[inline(always)]
    pub(super) fn begins(
        &mut self,
        flight: FlightId,
        (now, end): (Time, Time),
        &Hearer { decodes, gain, delay, .. }: &Hearer,
        is_own: bool,
        capture: Capture,
    ) -> bool {
        let so_far = match decodes {
            _ if self.sends => Received::Missed,
            true => Received::Decoded,
            false => Received::Garbled,
        };
        // Each branch makes its own, in registers: a processor waits to read as a whole what was written in parts.
        let frame = || Reception { flight, gain, ends: end + delay, is_own, so_far };
        if !self.arriving.is_empty() || self.more.is_some() {
            let harmless = self.begins_beside(frame(), now, capture);
            self.note(now);
            return harmless;
        }
        // Nothing else arrives, as most often.
        self.arriving.push(Arriving { flight, gain, harmless: false });
        self.reception = Some(frame());
        if !self.sends {
            let doing = if is_own && decodes { Doing::Receives } else { Doing::Hears };
            self.book.turn(now, doing, Time::NEVER);
        }
        false
    }

    /// See [`Radio::begins`]; other frames arrive, too. `frame` is as if it were alone.
    #[inline(never)]
    fn begins_beside(&mut self, frame: Reception, now: Time, capture: Capture) -> bool {
        let Reception { flight, gain, ends, so_far, .. } = frame;
        let leaked = leaked(self.foreign(), capture.adds_up);
        let harmless = self.reception.is_some_and(|r| {
            let more = if capture.adds_up { self.besides(Some(r.flight), true) + leaked } else { 0.0 };
            r.gain >= capture.ratio * (gain + more)
        });
        let others = if harmless { 0.0 } else { self.besides(None, capture.adds_up) };
        self.arriving.push(Arriving { flight, gain, harmless });
        if harmless {
            self.keep_overlap(now);
            return true;
        }
        // A radio does not lock on a frame of another channel, so that a later frame can be decoded beside it.
        let free = others == 0.0 && (leaked == 0.0 || gain >= capture.ratio * leaked);
        let all = if capture.adds_up { others + leaked } else { others.max(leaked) };
        let wins = free || (capture.later && gain >= capture.ratio * all);
        let so_far = if wins || so_far == Received::Missed { so_far } else { Received::Garbled };
        match &mut self.reception {
            Some(r) if !wins && r.ends >= ends => {
                r.so_far = so_far;
                self.keep_overlap(now);
            }
            _ => self.lock(Reception { so_far, ..frame }, now),
        }
        false
    }

    /// The power of the frames that arrive besides `but`: of all together, or of the strongest that does harm.
    #[inline]
    fn besides(&self, but: Option<FlightId>, all: bool) -> f64 {
        let mut power = 0.0;
        for a in &self.arriving {
            if Some(a.flight) != but && (all || !a.harmless) {
                power = if all { power + a.gain } else { f64::max(power, a.gain) };
            }
        }
        power
    }

    /// It locks on a frame that arrives `now`.
    #[inline]
    fn lock(&mut self, on: Reception, now: Time) {
        self.reception = Some(on);
        if let Some(more) = &mut self.more {
            more.overlap.iter_mut().for_each(Vec::clear);
            self.keep_overlap(now);
        }
    }

    /// The first bit of `flight` of another channel arrives `now` with this power. The frame is nothing but energy: it
    /// makes the medium busy from a power of `energy` on, and corrupts the frame on which the radio is locked if that
    /// is not stronger by the ratio of `capture`. Returns true if the medium is busy with it.
    pub(super) fn leaks_in(
        &mut self,
        now: Time,
        (flight, gain): (FlightId, f64),
        capture: Capture,
        energy: f64,
    ) -> bool {
        self.more.get_or_insert_default().foreign.push((flight, gain));
        let all = leaked(self.foreign(), true);
        self.energy = all >= energy;
        if let Some(r) = &mut self.reception {
            let mut power = gain;
            if capture.adds_up {
                let others = self.arriving.iter().filter(|a| a.flight != r.flight).map(|a| a.gain);
                power = others.sum::<f64>() + all;
            }
            if r.so_far == Received::Decoded && r.gain < capture.ratio * power {
                r.so_far = Received::Garbled;
            }
            self.keep_overlap(now);
        }
        self.energy
    }

    /// The last bit of `flight` of another channel has arrived `now`. Returns true if the medium was busy with such
    /// frames until now.
    pub(super) fn leaks_out(&mut self, now: Time, flight: FlightId, energy: f64) -> bool {
        if let Some(more) = &mut self.more {
            more.foreign.retain(|(other, _)| *other != flight);
        }
        self.keep_overlap(now);
        let was = self.energy;
        self.energy = leaked(self.foreign(), true) >= energy;
        was
    }

    /// The last bit of `flight` has arrived `now`.
    #[inline(always)]
    pub(super) fn ends(&mut self, now: Time, flight: FlightId) -> Received {
        if let ([only], Some(r)) = (&self.arriving[..], self.reception)
            && only.flight == flight
            && r.flight == flight
        {
            // Nothing else arrives, as most often.
            self.arriving.clear();
            self.reception = None;
            return r.so_far;
        }
        self.ends_beside(now, flight)
    }

    /// See [`Radio::ends`]; other frames arrive, too.
    #[inline(never)]
    fn ends_beside(&mut self, now: Time, flight: FlightId) -> Received {
        let place = self.arriving.iter().position(|a| a.flight == flight);
        let harmless = place.is_some_and(|i| self.arriving.swap_remove(i).harmless);
        if self.reception.is_some_and(|r| r.flight != flight) {
            self.keep_overlap(now);
        }
        match self.reception {
            Some(r) if r.flight == flight => {
                self.reception = None;
                r.so_far
            }
            _ if harmless => Received::Harmless,
            // Another frame corrupted it, and lasts longer.
            Some(r) if r.so_far != Received::Missed => Received::Garbled,
            _ => Received::Missed,
        }
    }
}

/// The power of frames of other channels: of all together, or of the strongest.
#[inline]
fn leaked(foreign: &[(FlightId, f64)], all: bool) -> f64 {
    foreign.iter().map(|(_, gain)| *gain).fold(0.0, |sum, one| if all { sum + one } else { f64::max(sum, one) })
}
