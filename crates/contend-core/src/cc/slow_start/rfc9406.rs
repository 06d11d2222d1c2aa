//! HyStart++ (RFC 9406).
//!
//! A round lasts until data sent after its beginning are acknowledged. When the smallest round-trip time of a round
//! is clearly longer than that of the round before, conservative slow start begins: the window grows a quarter as
//! fast. If a shorter round-trip time shows that this was a mistake, slow start goes on; after five rounds it ends.
//! The limit L of RFC 9406 §4.2 for segments per acknowledgment is the parameter `abc`.

use super::super::{Ack, Window};
use super::slow_start;

/// Bounds of the rise of the round-trip time that begins conservative slow start, in microseconds (RFC 9406 §4.3).
const MIN_RTT_THRESH: u32 = 4_000;
const MAX_RTT_THRESH: u32 = 16_000;
/// The rise is the round-trip time divided by this number.
const MIN_RTT_DIVISOR: u32 = 8;
/// Samples that a round needs before it is judged.
const N_RTT_SAMPLE: u8 = 8;
/// How much slower the window grows in conservative slow start, and how many rounds that lasts.
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u8 = 5;

/// The state, with the RFC's names.
#[derive(Debug)]
pub(super) struct Rfc9406 {
    /// The round ends when a byte beyond this one is acknowledged.
    window_end: u64,
    /// Smallest round-trip time of the last round and of this one, in microseconds; `u32::MAX`: none.
    last_round_min_rtt: u32,
    current_round_min_rtt: u32,
    rtt_sample_count: u8,
    /// Conservative slow start, if it has begun.
    css: Option<Css>,
}

#[derive(Debug)]
struct Css {
    /// The round-trip time at its beginning, in microseconds.
    baseline_min_rtt: u32,
    /// Rounds so far; the one in which it began counts.
    rounds: u8,
    /// Acknowledged segments that have not yet made a whole segment of growth.
    acked: u32,
}

impl Default for Rfc9406 {
    fn default() -> Rfc9406 {
        Rfc9406 {
            window_end: 0,
            last_round_min_rtt: u32::MAX,
            current_round_min_rtt: u32::MAX,
            rtt_sample_count: 0,
            css: None,
        }
    }
}

impl Rfc9406 {
    /// As [`super::HyStart::slow_start`].
    pub(super) fn slow_start(&mut self, w: &mut Window, ack: &Ack, abc: u32) -> u32 {
        if w.snd_una > self.window_end {
            self.window_end = w.snd_nxt;
            self.last_round_min_rtt = self.current_round_min_rtt;
            self.current_round_min_rtt = u32::MAX;
            self.rtt_sample_count = 0;
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds > CSS_ROUNDS {
                    w.ssthresh = w.cwnd;
                    return ack.acked;
                }
            }
        }
        let left = match &mut self.css {
            None => slow_start(w, ack.acked, abc),
            Some(css) => {
                css.acked += ack.acked.min(abc);
                let grown = css.acked / CSS_GROWTH_DIVISOR;
                css.acked %= CSS_GROWTH_DIVISOR;
                w.slow_start(grown)
            }
        };
        if let Some(rtt) = ack.rtt_us {
            self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
            self.rtt_sample_count = self.rtt_sample_count.saturating_add(1);
            self.judge();
        }
        left
    }

    /// Enters conservative slow start, or leaves it, after a sample.
    fn judge(&mut self) {
        if self.rtt_sample_count < N_RTT_SAMPLE {
            return;
        }
        let (last, current) = (self.last_round_min_rtt, self.current_round_min_rtt);
        match &self.css {
            None if last != u32::MAX => {
                let rise = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if current >= last.saturating_add(rise) {
                    self.css = Some(Css { baseline_min_rtt: current, rounds: 1, acked: 0 });
                }
            }
            Some(css) if current < css.baseline_min_rtt => self.css = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One round: an acknowledgment for each segment of the window, all with this round-trip time. Returns the window.
    fn round(h: &mut Rfc9406, w: &mut Window, rtt_ms: u32) -> u32 {
        for _ in 0..w.cwnd {
            w.snd_una += 1000;
            let ack = Ack { acked: 1, rtt_us: Some(rtt_ms * 1000), ..Ack::default() };
            if w.in_slow_start() {
                h.slow_start(w, &ack, u32::MAX);
            }
            w.snd_nxt = w.snd_una + u64::from(w.cwnd) * 1000;
        }
        w.cwnd
    }

    fn start() -> (Rfc9406, Window) {
        (Rfc9406::default(), Window { cwnd: 16, snd_nxt: 16_000, ..Window::default() })
    }

    #[test]
    fn the_window_doubles_while_round_trips_stay() {
        let (mut h, mut w) = start();
        assert_eq!([40, 41, 44].map(|ms| round(&mut h, &mut w, ms)), [32, 64, 128]);
    }

    /// By hand: 45 ms, an eighth more than 40 ms, begin conservative slow start at the eighth sample. Of 64 segments, 8
    /// grow the window as before, 56 a quarter as fast; each further round grows it by a quarter. The fifth round is
    /// the last.
    #[test]
    fn longer_round_trips_begin_five_careful_rounds() {
        let (mut h, mut w) = start();
        assert_eq!([40, 40].map(|ms| round(&mut h, &mut w, ms)), [32, 64]);
        assert_eq!([45; 5].map(|ms| round(&mut h, &mut w, ms)), [86, 107, 134, 167, 209]);
        assert!(w.in_slow_start());
        assert_eq!((round(&mut h, &mut w, 45), w.ssthresh), (209, 209));
    }

    #[test]
    fn a_shorter_round_trip_takes_it_back() {
        let (mut h, mut w) = start();
        let _ = [40, 40, 45].map(|ms| round(&mut h, &mut w, ms));
        // By hand: 86 segments, of which the first seven still grow by a quarter; the eighth ends it.
        assert_eq!(round(&mut h, &mut w, 44), 86 + 2 + 78);
        assert!(h.css.is_none());
    }

    #[test]
    fn rises_below_4_ms_do_not_count_and_16_ms_always_do() {
        for (from, to, begins) in [(10, 13, false), (10, 14, true), (200, 215, false), (200, 216, true)] {
            let (mut h, mut w) = start();
            let _ = [from, to].map(|ms| round(&mut h, &mut w, ms));
            assert_eq!(h.css.is_some(), begins, "{from} {to}");
        }
    }
}
