//! Measurements of an access point: the path of each flow and its own access to the air. `fcwa` uses these estimates
//! (Keceli 2008 §III-C).

use super::FlowFacts;
use super::window::Flow;
use crate::packet::Segment;
use crate::time::{Span, Time};

/// Weight of a new sample of 2 LD and b.
const WEIGHT: f64 = 1.0 / 8.0;
/// Weight of a new cycle: the mean covers about 128 cycles, a tenth of a second.
const CYCLE_WEIGHT: f64 = 1.0 / 128.0;
/// The minimum time for which a minimum of 2 LD is kept.
const MIN_WINDOW: Span = Span::from_secs(10);
/// An ACK that covers more segments than this gives no sample of b.
const MOST_PER_ACK: f64 = 4.0;

/// The time between successes of an access point whose queue is never empty.
#[derive(Debug, Default)]
pub(super) struct Cycle {
    /// Time of the last success, if packets waited after it.
    last: Option<Time>,
    /// Mean in seconds.
    pub(super) mean: Option<f64>,
}

impl Cycle {
    pub(super) fn success(&mut self, now: Time, waiting: bool) {
        if let Some(last) = self.last {
            average(&mut self.mean, now.since(last).as_secs_f64(), CYCLE_WEIGHT);
        }
        self.last = waiting.then_some(now);
    }
}

/// Estimates for the path of one flow.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// W_i in segments, and the number of the update that computed it.
    pub(super) segments: u64,
    pub(super) generation: u64,
    /// MSS; `None` if it must be measured.
    pub(super) mss: Option<u32>,
    /// Mean of 2 LD in seconds.
    mean: Option<f64>,
    /// Minimum of 2 LD in seconds in the current [`MIN_WINDOW`] and in the one before, and the start of the current
    /// one.
    least: [Option<f64>; 2],
    since: Time,
    /// Data packets per ACK.
    b: Option<f64>,
    /// The running sample: the byte that ends the sample, and the start time.
    pending: Option<(u64, Time)>,
    /// For an upload, the same of the segment after it: of two in a row, an ACK for each second one ends with one.
    second: Option<(u64, Time)>,
    /// The end of the highest data seen so far.
    end: u64,
    /// The highest ACK seen.
    ack: Option<u64>,
}

impl Path {
    pub(super) fn new(told: Option<&FlowFacts>) -> Path {
        let Some(f) = told else { return Path::default() };
        let two_ld = Some(2.0 * f.delay.as_secs_f64());
        Path { mss: Some(f.mss), mean: two_ld, least: [two_ld; 2], b: Some(f64::from(f.ack.max(1))), ..Path::default() }
    }

    pub(super) fn two_ld(&self, least: bool) -> f64 {
        match self.least {
            [Some(a), Some(b)] if least => a.min(b),
            [Some(a), None] | [None, Some(a)] if least => a,
            _ => self.mean.unwrap_or(0.0),
        }
    }

    pub(super) fn b(&self) -> f64 {
        self.b.unwrap_or(1.0)
    }

    fn sample(&mut self, now: Time, since: Time) {
        let s = now.since(since).as_secs_f64();
        average(&mut self.mean, s, WEIGHT);
        if now.since(self.since) > MIN_WINDOW {
            (self.least, self.since) = ([None, self.least[0]], now);
        }
        self.least[0] = Some(self.least[0].map_or(s, |l| l.min(s)));
        self.give_up();
    }

    /// Ends the running sample.
    fn give_up(&mut self) {
        (self.pending, self.second) = (None, None);
    }
}

impl Flow<Path> {
    /// Updates the estimates of delay and b from `seg`. `edge` is the right edge before `seg`.
    pub(super) fn measure(&mut self, now: Time, seg: &Segment, reverse: bool, edge: u64) {
        let path = &mut self.more;
        if !reverse && seg.len > 0 {
            let end = seg.seq + u64::from(seg.len);
            if seg.seq < path.end {
                // Karn: retransmitted data give no delay sample.
                path.give_up();
            } else {
                path.end = end;
                match path.pending {
                    // Keceli 2008 §III-C: for an upload, from data to their ACK.
                    None if self.up => path.pending = Some((end, now)),
                    Some((first, _)) if self.up && seg.seq == first && path.second.is_none() => {
                        path.second = Some((end, now));
                    }
                    // For a download, from an ACK to the data that it releases.
                    Some((edge, since)) if !self.up && end > edge => path.sample(now, since),
                    _ => {}
                }
            }
        } else if reverse {
            match path.pending {
                // An ACK that covers more data was not triggered by this segment. With b > 1 it may have waited for
                // another segment or for a timer.
                Some((end, _)) if self.up && seg.ack >= end => {
                    let mut timed = [path.pending, path.second].into_iter().flatten();
                    match timed.find(|(end, _)| *end == seg.ack) {
                        Some((_, since)) => path.sample(now, since),
                        None => path.give_up(),
                    }
                }
                None if !self.up && edge > 0 && self.edge > edge => path.pending = Some((edge, now)),
                _ => {}
            }
            if let Some(before) = path.ack
                && seg.ack > before
                && self.mss > 0
            {
                let covered = (seg.ack - before) as f64 / f64::from(self.mss);
                if covered <= MOST_PER_ACK {
                    // Keceli 2008 §III-C: b from the numbers of consecutive ACKs.
                    average(&mut path.b, covered.clamp(1.0, 2.0), WEIGHT);
                }
            }
            path.ack = Some(path.ack.map_or(seg.ack, |a| a.max(seg.ack)));
        }
    }
}

/// Moves `mean` towards `sample`. The first sample sets the mean.
fn average(mean: &mut Option<f64>, sample: f64, weight: f64) {
    *mean = Some(mean.map_or(sample, |m| m + weight * (sample - m)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_new_cycle_moves_the_mean_by_a_128th_and_only_between_successes_of_a_queue_that_is_never_empty() {
        let mut cycle = Cycle::default();
        [0, 10, 20].into_iter().for_each(|ms| cycle.success(at(ms), true));
        assert_eq!(cycle.mean, Some(0.010));
        // 138 ms are 128 ms more than the mean.
        cycle.success(at(158), false);
        assert!((cycle.mean.unwrap() - 0.011).abs() < 1e-12, "{:?}", cycle.mean);
        let before = cycle.mean;
        cycle.success(at(9_000), true);
        assert_eq!(cycle.mean, before, "nothing waited in between");
    }

    #[test]
    fn a_new_delay_moves_the_mean_by_an_eighth_and_the_minimum_lasts_ten_to_twenty_seconds() {
        let mut path = Path::default();
        assert_eq!((path.two_ld(false), path.two_ld(true), path.b()), (0.0, 0.0, 1.0));
        path.sample(at(80), at(0));
        path.sample(at(1_160), at(1_000));
        assert_eq!((path.two_ld(false), path.two_ld(true)), (0.090, 0.080));
        // After ten seconds a new window begins; the minimum of the one before still counts, and after it no more.
        path.sample(at(10_200), at(10_000));
        assert_eq!(path.two_ld(true), 0.080);
        path.sample(at(20_300), at(20_000));
        assert_eq!(path.two_ld(true), 0.200);
        // 90 ms, then 90 + (200 - 90) / 8 = 103.75 ms, then 103.75 + (300 - 103.75) / 8.
        assert!((path.two_ld(false) - 0.12828125).abs() < 1e-12, "{}", path.two_ld(false));
    }

    #[test]
    fn a_window_of_the_minimum_lasts_longer_than_ten_seconds() {
        let mut path = Path::default();
        path.sample(at(80), at(0));
        path.sample(at(10_000), at(9_800));
        path.sample(at(10_001), at(9_700));
        assert_eq!(path.two_ld(true), 0.080, "the second window begins after 10 s, with 301 ms");
        path.sample(at(20_001), at(19_701));
        assert_eq!(path.two_ld(true), 0.080);
        path.sample(at(20_002), at(19_602));
        assert_eq!(path.two_ld(true), 0.300);
    }

    /// Data of `len` bytes from `seq`, or an acknowledgment up to `ack`.
    fn segment(seq: u64, len: u32, ack: u64) -> Segment {
        Segment { seq, len, ack, ..Segment::default() }
    }

    /// An upload; each segment, with its time in ms and its direction, gives the mean of 2 LD after it.
    fn upload() -> impl FnMut(u64, bool, Segment) -> Option<f64> {
        let mut flow = Flow::<Path>::default();
        (flow.up, flow.mss) = (true, 1000);
        move |ms, reverse, seg| {
            flow.measure(at(ms), &seg, reverse, 0);
            flow.more.mean
        }
    }

    #[test]
    fn an_upload_is_measured_from_data_to_the_ack_that_covers_just_them() {
        let mut sees = upload();
        sees(0, false, segment(0, 1000, 0));
        // A segment without data, like a window update, is no retransmission.
        sees(1, false, segment(0, 0, 0));
        // An older ACK says nothing about these data.
        assert_eq!(sees(2, true, segment(0, 0, 500)), None);
        assert_eq!(sees(80, true, segment(0, 0, 1000)), Some(0.080));
        // An ACK of more data ends the measurement, whatever comes late.
        sees(100, false, segment(1000, 1000, 0));
        sees(101, false, segment(2000, 1000, 0));
        sees(102, false, segment(3000, 1000, 0));
        sees(150, true, segment(0, 0, 4000));
        assert_eq!(sees(260, true, segment(0, 0, 2000)), Some(0.080));
        // Two ACKs of two: the first segment after an ACK never ends one, but the second does.
        for n in 0..3 {
            let (at, seq) = (400 + 100 * n, 4000 + 2000 * n);
            sees(at, false, segment(seq, 1000, 0));
            sees(at + 10, false, segment(seq + 1000, 1000, 0));
            assert_eq!(sees(at + 90, true, segment(0, 0, seq + 2000)), Some(0.080));
        }
    }

    #[test]
    fn retransmitted_data_of_an_upload_give_no_sample() {
        let mut sees = upload();
        sees(300, false, segment(3000, 1000, 0));
        sees(310, false, segment(3000, 1000, 0));
        assert_eq!(sees(400, true, segment(0, 0, 4000)), None);
    }

    #[test]
    fn a_download_is_measured_from_an_ack_to_the_data_that_it_releases() {
        let mut flow = Flow::<Path>::default();
        (flow.mss, flow.edge) = (1000, 3000);
        // The ACK moves the right edge from 2000 to 3000.
        flow.measure(at(0), &segment(0, 0, 1000), true, 2000);
        flow.measure(at(10), &segment(1000, 1000, 0), false, 3000);
        assert_eq!(flow.more.mean, None, "data up to the old edge were allowed before");
        flow.measure(at(50), &segment(2000, 1000, 0), false, 3000);
        assert_eq!(flow.more.mean, Some(0.050));
    }
}
