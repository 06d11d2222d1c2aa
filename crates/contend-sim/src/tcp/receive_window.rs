//! How wide a receiver opens its window: to the full width at once, or step by step as Linux does.
//!
//! Linux begins with 64 KiB. Each segment opens the window by two segments (`tcp_grow_window`), up to what the memory
//! of the connection holds; and this memory follows what the program read during the last round trip
//! (`tcp_rcv_space_adjust`, "dynamic right-sizing"). So the window is seldom a limit. But a receiver whose window opens
//! acknowledges each segment at once, which is most of slow start.
//!
//! Differences from Linux: five eighths of the memory are window, which is what packets of 1500 B in buffers of 2304 B
//! give; Linux measures the share.

use super::{SegmentFormat, ticks};
use contend_core::{Span, Time};

/// The most that a SYN can advertise (RFC 7323 §2.2).
const UNSCALED: u32 = 65_535;
/// Five eighths of the memory that a connection begins with: the second value of `tcp_rmem`, 128 KiB.
const FIRST: u32 = 81_920;
/// Segments that the first round trip is taken to bring: TCP_INIT_CWND.
const INITIAL: u32 = 10;
/// Shorter segments open nothing (`tcp_event_data_recv`).
const SHORT: u32 = 128;

/// The window of one receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    /// Bytes beyond the next expected one that the receiver takes.
    open: u32,
    /// Bytes for which it has memory; it opens up to them.
    memory: u32,
    /// The widest window.
    most: u32,
    mss: u32,
    /// The most bytes that were read in one round trip.
    read: u32,
    /// Where the measured round trip began: the next expected byte and the time.
    since: (u64, Time),
    /// Eight times the smoothed round-trip time in microseconds; 0 before the first sample.
    rtt: u64,
    /// The last echoed timestamp.
    echoed: u32,
    /// Without timestamps: the byte that ends the measured window, and the time of its beginning.
    width: Option<(u64, Time)>,
}

impl ReceiveWindow {
    /// A window of `format`; `autotuning`: it opens step by step.
    pub fn new(format: &SegmentFormat, autotuning: bool) -> ReceiveWindow {
        let (most, mss) = (format.window, format.mss);
        let (open, memory) = if autotuning { (most.min(UNSCALED), most.min(FIRST)) } else { (most, most) };
        let read = (INITIAL * mss).min(open).max(1);
        ReceiveWindow { open, memory, most, mss, read, since: (0, Time::ZERO), rtt: 0, echoed: 0, width: None }
    }

    /// Bytes beyond the next expected one that the receiver takes.
    pub fn bytes(&self) -> u32 {
        self.open
    }

    /// True if the window may become wider.
    pub fn grows(&self) -> bool {
        self.open < self.most
    }

    /// A segment of `len` bytes opens the window. False if it is as wide as the memory.
    pub fn opens(&mut self, len: u32) -> bool {
        let room = self.memory.saturating_sub(self.open);
        if room == 0 || len < SHORT {
            return false;
        }
        self.open += room.min(2 * self.mss.max(len));
        true
    }

    /// A full segment that arrives at `now` echoes the timestamp `tsecr`, of a clock of ticks of length `tick`.
    pub fn echo(&mut self, tsecr: u32, now: Time, tick: Span) {
        if tsecr == 0 || tsecr == self.echoed {
            return;
        }
        self.echoed = tsecr;
        let sample = u64::from(ticks(now, Some(tick)).wrapping_sub(tsecr).max(1)) * tick.as_nanos() / 1000;
        self.rtt = if self.rtt == 0 { 8 * sample } else { self.rtt - self.rtt / 8 + sample };
    }

    /// Measures how long a window of data takes, which is a round trip or longer: `next` is expected next at `now`.
    pub fn measure(&mut self, next: u64, now: Time) {
        if let Some((end, began)) = self.width {
            if next < end {
                return;
            }
            let sample = 8 * (now.since(began).as_nanos() / 1000).max(1);
            if self.rtt == 0 || sample < self.rtt {
                self.rtt = sample;
            }
        }
        self.width = Some((next + u64::from(self.open), now));
    }

    /// The program has read all before `next`; `ahead` bytes beyond it have arrived, holes included. Once in a round
    /// trip the memory follows what was read.
    pub fn reads(&mut self, next: u64, ahead: u64, now: Time) {
        if self.rtt == 0 || now.since(self.since.1).as_nanos() / 1000 < self.rtt / 8 {
            return;
        }
        let (was, read) = (u64::from(self.read), next - self.since.0);
        self.since = (next, now);
        if read <= was {
            return;
        }
        // A sender in slow start doubles its rate, and what is measured is a round trip old.
        let wanted = 2 * read + 2 * (2 * read * (read - was) / was) + ahead;
        let most = u64::from(self.most);
        self.read = read.min(most) as u32;
        self.memory = self.memory.max(wanted.min(most) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(most: u32, autotuning: bool) -> ReceiveWindow {
        let format = SegmentFormat { mss: 1000, headers: 52, syn: 60, window: most, window_scale: 7, sealed: false };
        ReceiveWindow::new(&format, autotuning)
    }

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn without_autotuning_it_is_open_from_the_start() {
        let mut w = window(1 << 20, false);
        assert_eq!((w.bytes(), w.grows(), w.opens(1000)), (1 << 20, false, false));
    }

    #[test]
    fn each_segment_opens_it_by_two_up_to_the_memory() {
        let mut w = window(1 << 20, true);
        assert_eq!((w.bytes(), w.grows()), (65_535, true));
        assert!(!w.opens(127));
        let steps: Vec<u32> = (0..10).map(|_| if w.opens(1000) { w.bytes() } else { 0 }).collect();
        assert_eq!(steps, [67_535, 69_535, 71_535, 73_535, 75_535, 77_535, 79_535, 81_535, 81_920, 0]);
        // A file that asks for less gets less, and is not below the first window.
        let mut small = window(40_000, true);
        assert_eq!((small.bytes(), small.opens(1000)), (40_000, false));
    }

    /// By hand: 20,000 B in a round trip after 10,000 B: 2 x 20,000 and twice its growth, 40,000 x 10,000 / 10,000.
    #[test]
    fn the_memory_follows_what_was_read_in_a_round_trip() {
        let mut w = window(1 << 20, true);
        w.echo(5, ms(25), Span::from_millis(1));
        w.reads(20_000, 0, ms(19));
        assert_eq!(w.memory, 81_920);
        w.reads(20_000, 0, ms(20));
        assert_eq!((w.memory, w.read), (120_000, 20_000));
        // No more than before: the memory stays.
        w.reads(40_000, 0, ms(40));
        assert_eq!((w.memory, w.read), (120_000, 20_000));
        // The hole of a loss and all behind it need memory too.
        w.reads(64_000, 60_000, ms(60));
        assert_eq!((w.memory, w.read), (48_000 + 2 * 48_000 * 4_000 / 20_000 + 60_000, 24_000));
        w.reads(9_000_000, 0, ms(80));
        assert_eq!(w.memory, 1 << 20);
    }

    #[test]
    fn the_round_trip_is_that_of_echoed_timestamps_or_the_shortest_of_a_window() {
        let mut w = window(1 << 20, true);
        w.echo(7, ms(27), Span::from_millis(1));
        w.echo(7, ms(99), Span::from_millis(1));
        assert_eq!(w.rtt, 160_000);
        w.echo(8, ms(36), Span::from_millis(1));
        assert_eq!(w.rtt, 168_000);
        let mut w = window(1 << 20, true);
        w.measure(0, ms(0));
        w.measure(60_000, ms(10));
        assert_eq!(w.rtt, 0);
        w.measure(66_000, ms(30));
        assert_eq!(w.rtt, 240_000);
        w.measure(66_000 + 65_535, ms(90));
        assert_eq!(w.rtt, 240_000);
    }
}
