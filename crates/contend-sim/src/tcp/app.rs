//! The application of a sending end: a traffic source with a start, a stop and a total size.

use super::spec::{EndsSpec, Start};
use crate::rng;
use crate::traffic::{AppWrite, Source};
use contend_core::Refusal;
use contend_core::{Cx, Rng, Span, Time};
use rand::RngExt as _;
use std::collections::VecDeque;

/// Number of completed transfers whose times are kept.
const TRANSFERS: usize = 10_000;

/// The data that a flow has to send, write by write.
#[derive(Debug)]
pub struct App {
    source: Box<dyn Source>,
    rng: Rng,
    /// Payload of a full packet in bytes.
    full: u32,
    start: Time,
    stop: Time,
    /// Number of bytes that may still be written; `None` for no limit.
    left: Option<u64>,
    next: Option<AppWrite>,
    /// When written data that are not yet sent are withdrawn.
    until: Time,
    stage: Stage,
    /// [`App::due`], which is asked for at each packet.
    deadline: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    /// The source has ended or the size limit is reached: there is no further write.
    Ended,
    /// The stop time has passed.
    Stopped,
}

/// An action of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Writes this number of bytes; `u64::MAX` is more than a run can send.
    Write(u64),
    /// Withdraws the data that are not yet sent.
    TakeBack,
}

impl App {
    /// The application of the flow `name`. Full packets of the flow carry `full` bytes. The error is that of the
    /// source.
    pub fn new(seed: u64, name: &str, spec: &EndsSpec, full: u32) -> Result<App, Refusal> {
        let source = (spec.traffic.entry.build)(&spec.traffic.args)?;
        let start = match spec.start {
            Start::At(t) => t,
            Start::Uniform(from, to) if from < to => {
                Time::from_nanos(rng::stream(seed, name, "start").random_range(from.as_nanos()..to.as_nanos()))
            }
            Start::Uniform(from, _) => from,
        };
        let rng = rng::stream(seed, name, "arrivals");
        let mut app = App {
            source,
            rng,
            full,
            start,
            stop: spec.stop.unwrap_or(Time::NEVER),
            left: spec.size,
            next: None,
            until: Time::NEVER,
            stage: Stage::Waiting,
            deadline: Time::NEVER,
        };
        app.deadline = app.due();
        Ok(app)
    }

    /// When the flow starts.
    pub fn start(&self) -> Time {
        self.start
    }

    /// When to poll next.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// When the next action is due.
    fn due(&self) -> Time {
        match self.stage {
            Stage::Waiting => self.start.min(self.stop),
            Stage::Running => self.next.map_or(Time::NEVER, |w| w.at).min(self.until).min(self.stop),
            // The stop time still withdraws data that are written and not yet sent.
            Stage::Ended => self.until.min(self.stop),
            Stage::Stopped => Time::NEVER,
        }
    }

    /// True if the source has given its last write, or the size limit is reached. False if only the stop time has
    /// passed.
    pub fn ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// The next action that is due by `now`; `None` if there is no further one.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Does> {
        if now < self.deadline {
            return None;
        }
        let does = self.act(now);
        self.deadline = self.due();
        does
    }

    #[inline(always)]
    fn act(&mut self, now: Time) -> Option<Does> {
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

    /// Everything that was written is acknowledged at `now`. A source that waits for this gives its next write, which
    /// changes the [deadline](Self::deadline).
    pub fn completed(&mut self, now: Time) {
        if self.waits() {
            self.pull(now);
            self.deadline = self.due();
        }
    }

    /// True if the next write waits for [`completed`](Self::completed).
    pub fn waits(&self) -> bool {
        self.stage == Stage::Running && self.next == Some(AppWrite::AFTER_THE_LAST)
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

/// The writes of a flow as transfers. A transfer is complete when its last byte is acknowledged.
#[derive(Debug, Default)]
pub struct Transfers {
    /// The transfers that are not complete: their end in the connection, and when they were offered.
    open: VecDeque<(u64, Time)>,
    done: Vec<(Time, Span)>,
}

impl Transfers {
    /// Adds a write at `now` whose last byte is before `end`.
    pub fn offer(&mut self, end: u64, now: Time) {
        self.open.push_back((end, now));
    }

    /// Withdraws everything from byte `end` on.
    pub fn cut(&mut self, end: u64) {
        while self.open.back().is_some_and(|&(e, _)| e > end) {
            self.open.pop_back();
        }
    }

    /// Every byte before `ack` is acknowledged at `now`. True if this completes the last open transfer.
    pub fn acknowledged(&mut self, ack: u64, now: Time) -> bool {
        let mut completes = false;
        while let Some(&(end, at)) = self.open.front()
            && end <= ack
        {
            self.open.pop_front();
            completes = true;
            if self.done.len() < TRANSFERS {
                self.done.push((at, now.since(at)));
            }
        }
        completes && self.open.is_empty()
    }

    /// The first 10,000 completed transfers, in order: when each was offered, and the time until it was acknowledged.
    pub fn finished(&self) -> &[(Time, Span)] {
        &self.done
    }

    /// The number of transfers that were offered and are not complete.
    pub fn unfinished(&self) -> u64 {
        self.open.len() as u64
    }
}
