//! The application above a sending transport: a traffic source with a start, a stop and a total size.

use super::spec::{EndsSpec, Start};
use crate::rng;
use crate::traffic::{AppWrite, Source};
use contend_core::{Cx, Rng, Span, Time};
use rand::RngExt as _;
use std::collections::VecDeque;

/// Finished transfers that are remembered one by one.
const TRANSFERS: usize = 10_000;

/// What a flow has to send, write by write.
#[derive(Debug)]
pub struct App {
    source: Box<dyn Source>,
    rng: Rng,
    /// Payload of a full packet in bytes.
    full: u32,
    start: Time,
    stop: Time,
    /// Bytes that may still be written; `None` for no limit.
    left: Option<u64>,
    next: Option<AppWrite>,
    /// When what is written and not sent is taken back.
    until: Time,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    /// The source or the size limit came to its end: nothing more, ever.
    Ended,
    /// Silenced by the stop time.
    Stopped,
}

/// What the application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It writes so many bytes; `u64::MAX` is more than a run can send.
    Write(u64),
    /// It takes back what has not been sent.
    TakeBack,
}

impl App {
    /// The application of the flow `name`, whose full packets carry `full` bytes. The error is the source's own.
    pub fn new(seed: u64, name: &str, spec: &EndsSpec, full: u32) -> Result<App, String> {
        let source = (spec.traffic.entry.build)(&spec.traffic.args)?;
        let start = match spec.start {
            Start::At(t) => t,
            Start::Uniform(from, to) if from < to => {
                Time::from_nanos(rng::stream(seed, name, "start").random_range(from.as_nanos()..to.as_nanos()))
            }
            Start::Uniform(from, _) => from,
        };
        let rng = rng::stream(seed, name, "arrivals");
        Ok(App {
            source,
            rng,
            full,
            start,
            stop: spec.stop.unwrap_or(Time::NEVER),
            left: spec.size,
            next: None,
            until: Time::NEVER,
            stage: Stage::Waiting,
        })
    }

    /// When the flow begins.
    pub fn start(&self) -> Time {
        self.start
    }

    /// When to poll next.
    pub fn deadline(&self) -> Time {
        match self.stage {
            Stage::Waiting => self.start.min(self.stop),
            Stage::Running => self.next.map_or(Time::NEVER, |w| w.at).min(self.until).min(self.stop),
            // A stop still takes back what is written and unsent.
            Stage::Ended => self.until.min(self.stop),
            Stage::Stopped => Time::NEVER,
        }
    }

    /// True if the last write has been given, and not because of the stop time.
    pub fn ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// What the application does by `now`, one thing at a time until `None`.
    pub fn poll(&mut self, now: Time) -> Option<Does> {
        if now >= self.stop && self.stage != Stage::Stopped {
            self.stage = Stage::Stopped;
            return Some(Does::TakeBack);
        }
        if now >= self.until && self.stage != Stage::Stopped {
            self.until = Time::NEVER;
            return Some(Does::TakeBack);
        }
        if self.stage == Stage::Waiting && now >= self.start {
            self.stage = Stage::Running;
            self.pull(now);
        }
        if self.stage != Stage::Running {
            return None;
        }
        let w = self.next.filter(|w| w.at <= now)?;
        let wanted = if w.bytes == 0 { u64::from(self.full) } else { w.bytes };
        let bytes = self.left.map_or(wanted, |left| wanted.min(left));
        if let Some(left) = &mut self.left {
            *left -= bytes;
        }
        self.until = w.until;
        self.pull(now);
        Some(Does::Write(bytes))
    }

    fn pull(&mut self, now: Time) {
        self.next = match self.left {
            Some(0) => None,
            _ => self.source.next(&mut Cx { now, rng: &mut self.rng }, self.full),
        };
        if self.next.is_none() {
            self.stage = Stage::Ended;
        }
    }
}

/// The writes of a flow as transfers: each is finished when its last byte is acknowledged.
#[derive(Debug, Default)]
pub struct Transfers {
    /// Those not finished: their end in the connection, and when they were offered.
    open: VecDeque<(u64, Time)>,
    done: Vec<(Time, Span)>,
}

impl Transfers {
    /// A write at `now` whose last byte is before `end`.
    pub fn offer(&mut self, end: u64, now: Time) {
        self.open.push_back((end, now));
    }

    /// Everything from byte `end` on is taken back.
    pub fn cut(&mut self, end: u64) {
        while self.open.back().is_some_and(|&(e, _)| e > end) {
            self.open.pop_back();
        }
    }

    /// Every byte before `ack` is acknowledged at `now`.
    pub fn acknowledged(&mut self, ack: u64, now: Time) {
        while let Some(&(end, at)) = self.open.front()
            && end <= ack
        {
            self.open.pop_front();
            if self.done.len() < TRANSFERS {
                self.done.push((at, now.since(at)));
            }
        }
    }

    /// The first 10,000 that finished, in order: when offered, and how long until acknowledged.
    pub fn finished(&self) -> &[(Time, Span)] {
        &self.done
    }
}
