//! The observers of the stations of a field: what is reported to them, and what they know.
//!
//! Only stations with observers cost anything. Each observer of a station gets the same reports, as if it were alone:
//! with an ACK it gets the note of the observer of its own name at the other station. The first observer of a station
//! speaks for it: its estimate is what the station's queues and the senders behind it read.

use crate::wifi::ids::{Contender, StationId};
use crate::wifi::sender::air::Air;
use crate::wifi::spec::CellSpec;
use contend_core::Refusal;
use contend_core::observe::{self, ExchangeOutcome, HeardFrame, Kind, Local, Note, Observer, OwnExchange};
use contend_core::registry::Choice;
use contend_core::{Span, Time};

/// The observers of all stations.
#[derive(Debug, Default)]
pub(super) struct Observers {
    /// By station; empty if no station has an observer.
    each: Vec<Ears>,
    /// By contender; empty if no station has an observer.
    attempts: Vec<Attempt>,
}

/// The observers of one station.
#[derive(Debug, Default)]
struct Ears {
    all: Vec<Ear>,
    truth: Truth,
}

/// One observer.
#[derive(Debug)]
struct Ear {
    /// Stands for its name: observers of one name exchange notes.
    name: usize,
    observer: Box<dyn Observer>,
    /// What the last ACK of its station carried of it.
    note: Option<Note>,
}

/// What really happened at a station with an observer, since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Bytes of its own IP packets that were acknowledged.
    pub bytes: u64,
    /// The time of its attempts, from the start of contention to the ACK or to the end of the wait for it.
    pub contended: Span,
    /// The time in which it neither sent nor sensed a frame, from the ledger of its radio.
    pub idle: Span,
}

/// The attempt for which a contender contends.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// When it began to contend.
    since: Time,
    /// Slots of its backoff.
    slots: u64,
}

impl Observers {
    /// The observers of the stations of `spec`, which have `contenders` contenders.
    ///
    /// # Errors
    /// If an observer refuses its parameters. The text names the station.
    pub(super) fn new(spec: &CellSpec, air: &Air, contenders: usize) -> Result<Observers, Refusal> {
        if spec.members().all(|s| s.observe.is_empty()) {
            return Ok(Observers::default());
        }
        let (mut each, mut names) = (Vec::new(), Vec::new());
        for (station, s) in (0..).zip(spec.members()) {
            let radio = air.radio(station);
            let ear = |(called, o): &(String, Choice<observe::Build>)| {
                let name = names.iter().position(|n| n == called).unwrap_or(names.len());
                if name == names.len() {
                    names.push(called.clone());
                }
                Ok(Ear { name, observer: (o.entry.build)(&o.args, &radio)?, note: None })
            };
            let all: Result<Vec<Ear>, Refusal> = s.observe.iter().map(ear).collect();
            let all = all.map_err(|e| e.of(&s.name))?;
            each.push(Ears { all, truth: Truth::default() });
        }
        Ok(Observers { each, attempts: vec![Attempt::default(); contenders] })
    }

    /// True if `station` has an observer.
    #[inline]
    pub(super) fn listens(&self, station: StationId) -> bool {
        self.each.get(station as usize).is_some_and(|e| !e.all.is_empty())
    }

    /// The station `f.me` received or sensed `f`, whose note is not yet filled in.
    pub(super) fn heard(&mut self, f: &mut HeardFrame<'_>) {
        let (me, is_ack) = (f.me as usize, f.kind == Kind::Ack && f.decoded);
        for i in 0..self.each.get(me).map_or(0, |ears| ears.all.len()) {
            if is_ack {
                f.note = self.note(f.from, self.each[me].all[i].name);
            }
            self.each[me].all[i].observer.heard(f);
        }
        f.note = None;
    }

    /// `station` begins to send an ACK at `now`.
    #[inline]
    pub(super) fn acknowledges(&mut self, station: StationId, now: Time) {
        if let Some(ears) = self.each.get_mut(station as usize) {
            ears.all.iter_mut().for_each(|ear| ear.note = ear.observer.note(now));
        }
    }

    /// What the last ACK of `station` carried of its observer called `name`.
    fn note(&self, station: StationId, name: usize) -> Option<Note> {
        self.each.get(station as usize)?.all.iter().find(|ear| ear.name == name)?.note
    }

    /// `who` begins to contend at `now` for an attempt, with a backoff of `slots`; `None`: with the backoff that is
    /// pending.
    #[inline]
    pub(super) fn contends(&mut self, who: Contender, now: Time, slots: Option<u64>) {
        if let Some(a) = self.attempts.get_mut(who as usize) {
            (a.since, a.slots) = (now, slots.unwrap_or(a.slots));
        }
    }

    /// When `who` began to contend, and the slots of its backoff.
    pub(super) fn contention(&self, who: Contender) -> (Time, u64) {
        self.attempts.get(who as usize).map_or((Time::ZERO, 0), |a| (a.since, a.slots))
    }

    /// An exchange of `station` has ended.
    pub(super) fn sent(&mut self, station: StationId, x: &OwnExchange) {
        let Some(ears) = self.each.get_mut(station as usize) else { return };
        if x.outcome != ExchangeOutcome::Broadcast {
            ears.truth.contended += x.end.since(x.began);
            ears.truth.bytes += if x.outcome == ExchangeOutcome::Acked { u64::from(x.bytes) } else { 0 };
        }
        ears.all.iter_mut().for_each(|ear| ear.observer.sent(x));
    }

    /// What `station` knows of its air at `now`; `None` without an observer.
    pub(super) fn local(&self, station: StationId, now: Time) -> Option<Local> {
        self.each.get(station as usize)?.all.first().map(|ear| ear.observer.local(now))
    }

    /// The estimate of each observer of `station` at `now`.
    pub(super) fn estimates(&self, station: StationId, now: Time) -> impl Iterator<Item = Local> {
        self.each
            .get(station as usize)
            .into_iter()
            .flat_map(move |e| e.all.iter().map(move |ear| ear.observer.local(now)))
    }

    /// What really happened at `station`, whose radio was quiet for `idle`; nothing without an observer.
    pub(super) fn truth(&self, station: StationId, idle: Span) -> Truth {
        self.each.get(station as usize).map_or_else(Truth::default, |ears| Truth { idle, ..ears.truth })
    }
}
