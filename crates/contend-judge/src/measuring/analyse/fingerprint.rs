//! The fingerprint of a transmitter's backoff: a histogram, slot by slot, of the times between frames.
//!
//! Starzetz 2006 §6.4.1: one station sends frames of one length as fast as it can, and no other station sends. The time
//! from the start of a frame to the start of the next is a constant exchange plus the backoff. The histogram has one
//! peak for each backoff, one slot apart. If all backoffs are equally likely, all peaks have the same mass.
//!
//! Differences from the source: a time counts only if both frames have the usual length and rate, the second is not a
//! retry, and no frame is missing or from another station between them. Uniformity is tested by chi-square (which the
//! source proposes in §6.5), independence by two additional tests.

use super::exchange::Exchange;
use super::independence::{ChiSquare, Lags, lags, pairs};
use super::{Address, CapturedFrames, Seen};
use std::collections::BTreeMap;
use std::fmt;

/// The expected behaviour of a card, and the significance level.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A slot in nanoseconds.
    pub slot_ns: u64,
    /// Number of slots that should be equally likely: CWmin + 1.
    pub slots: u32,
    /// Position of the peak without backoff.
    pub first: First,
    /// Probability that a conforming card is refused, over all tests together.
    pub alpha: f64,
    /// Duration of an exchange, as far as it is known.
    pub exchange: Exchange,
}

/// Position of the peak without backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The first peak in the histogram. Wrong only if the card never draws 0.
    Found,
    /// The computed duration of an exchange.
    Computed,
    /// This many nanoseconds.
    Given(u64),
}

/// The times between frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Number of data frames of the station.
    pub frames: usize,
    /// Nanoseconds from each frame to the next; `None` if this time does not show a backoff.
    pub between_ns: Vec<Option<u64>>,
    /// Gaps that end in a retry, or start or end with a corrupted frame.
    pub retries: usize,
    /// Gaps in which another station sent.
    pub disturbed: usize,
    /// Gaps between frames with other lengths or rates.
    pub other: usize,
    /// Gaps in which the capture misses a frame.
    pub missed: usize,
    /// Length of the usual frame (MPDU) in bytes.
    pub bytes: u32,
    /// Rate of the usual frame in bits per second, if known.
    pub rate_bps: Option<u64>,
}

/// The gaps between the data frames of `station`.
pub fn gaps(capture: &CapturedFrames, station: Address) -> Gaps {
    let own = |f: &Seen| f.from == Some(station) && f.data;
    let mut kinds: BTreeMap<(u32, Option<u64>), usize> = BTreeMap::new();
    for f in capture.frames.iter().filter(|f| own(f) && !f.corrupted) {
        *kinds.entry((f.bytes, f.rate_bps)).or_default() += 1;
    }
    let usual = kinds.iter().max_by_key(|(_, n)| **n).map_or((0, None), |(k, _)| *k);
    let mut all = Gaps { bytes: usual.0, rate_bps: usual.1, ..Gaps::default() };
    let (mut last, mut disturbed): (Option<&Seen>, bool) = (None, false);
    for f in &capture.frames {
        if !own(f) {
            disturbed = true;
            continue;
        }
        all.frames += 1;
        if let Some(before) = last {
            let is_usual = |f: &Seen| (f.bytes, f.rate_bps) == usual;
            let follows = |a: u16, b: u16| b == (a + 1) % 4096;
            let reason = if f.retry || f.corrupted || before.corrupted {
                Some(&mut all.retries)
            } else if disturbed {
                Some(&mut all.disturbed)
            } else if !is_usual(f) || !is_usual(before) {
                Some(&mut all.other)
            } else if before.sequence.zip(f.sequence).is_some_and(|(a, b)| !follows(a, b)) {
                Some(&mut all.missed)
            } else {
                None
            };
            let used = reason.is_none();
            reason.into_iter().for_each(|n| *n += 1);
            all.between_ns.push(used.then(|| f.at_ns.saturating_sub(before.at_ns)));
        }
        (last, disturbed) = (Some(f), false);
    }
    all
}

/// The verdict on a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No test finds that slots are unequally likely or not independent.
    Conformant,
    /// Some slots are never or very rarely drawn.
    MissingSlots,
    /// All slots are drawn, but not equally often.
    Uneven,
    /// All slots are drawn equally often, but backoffs depend on earlier backoffs.
    NotIndependent,
    /// The window has another size.
    AnotherCwMin,
    /// The traffic source, not the medium, determines the gaps: no backoff is visible.
    ConstrainedSource,
    /// The times are too coarse for slots of this length.
    Blurred,
    /// Too few frames for a verdict.
    TooFewFrames,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Conformant => "conformant",
            Verdict::MissingSlots => "missing slots",
            Verdict::Uneven => "uneven",
            Verdict::NotIndependent => "not independent",
            Verdict::AnotherCwMin => "another CWmin",
            Verdict::ConstrainedSource => "constrained source",
            Verdict::Blurred => "blurred",
            Verdict::TooFewFrames => "too few frames",
        })
    }
}

/// A transmitter's fingerprint.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    /// The gaps of the capture.
    pub gaps: Gaps,
    /// Number of gaps in use.
    pub used: u64,
    /// Number of gaps by whole microseconds.
    pub histogram_us: BTreeMap<u64, u64>,
    /// Peaks of the histogram: groups of microseconds, more than half a slot apart, with at least a thousandth of the
    /// gaps. Each peak has the mean of its gaps in nanoseconds and their number.
    pub peaks: Vec<(f64, u64)>,
    /// A slot in nanoseconds.
    pub slot_ns: u64,
    /// Position of the peak without backoff in nanoseconds: found, computed or given.
    pub first_ns: u64,
    /// Duration of an exchange by the standard's tables; `None` if the rate is unknown.
    pub exchange_ns: Option<u64>,
    /// How well the gaps fit a grid of slots: 1 exactly, 0 not at all. It is the length of the mean direction of the
    /// gaps modulo a slot.
    pub sharpness: f64,
    /// Size in slots of the smallest window, a power of two, that holds 95 % of the gaps; `None` if there is none up to
    /// 1024.
    pub window: Option<u32>,
    /// Number of draws of each expected slot.
    pub counts: Vec<u64>,
    /// Share of gaps outside the expected slots.
    pub outside: f64,
    /// Slots that are drawn less than a tenth as often as expected.
    pub missing: Vec<u32>,
    /// Mean backoff in slots, over the gaps inside the window.
    pub mean_slots: f64,
    /// Chi-square test of uniformity.
    pub even: Option<ChiSquare>,
    /// Serial correlation of the backoffs.
    pub lags: Option<Lags>,
    /// Chi-square test of neighbouring backoffs.
    pub pairs: Option<ChiSquare>,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in words, with the reasons.
    pub words: String,
}

/// Minimum number of gaps for each slot. If twenty are expected, fewer than two occur by chance once in 50 million.
const LEAST_PER_SLOT: u64 = 20;
/// Share of gaps that a window must hold.
const HELD: f64 = 0.95;
/// Number of slots of the largest window in the search: CWmax + 1.
const LARGEST: u32 = 1024;
/// Below this sharpness, slots cannot be distinguished: at a Gaussian error of 0.27 slots, 6 % of the gaps are in the
/// wrong slot.
const SHARP: f64 = 0.25;

/// Computes the fingerprint of `station`.
pub fn fingerprint(capture: &CapturedFrames, station: Address, s: &Settings) -> Fingerprint {
    of_gaps(gaps(capture, station), s)
}

/// Computes the fingerprint from gaps.
pub fn of_gaps(gaps: Gaps, s: &Settings) -> Fingerprint {
    let slot = s.slot_ns.max(1);
    let slots = s.slots.clamp(1, LARGEST);
    let (known, exchange) = (s.exchange.knows(gaps.rate_bps), s.exchange.nanoseconds(gaps.bytes, gaps.rate_bps));
    let all: Vec<u64> = gaps.between_ns.iter().flatten().copied().collect();
    let (sharpness, phase) = grid(&all, slot);
    let fixed = match s.first {
        First::Found => None,
        First::Computed => Some(exchange),
        First::Given(ns) => Some(ns),
    };
    // Time at which cell 0 has its centre.
    let origin = fixed.unwrap_or(phase);
    let cell =
        |ns: u64| (i128::from(ns) - i128::from(origin) + i128::from(slot / 2)).div_euclid(i128::from(slot)) as i64;
    let mut cells: BTreeMap<i64, u64> = BTreeMap::new();
    for ns in &all {
        *cells.entry(cell(*ns)).or_default() += 1;
    }
    let window = window(&cells, all.len() as u64, fixed.map(|_| 0));
    let base = window.map_or(0, |w| w.1);
    let count = |k: u32| cells.get(&(base + i64::from(k))).copied().unwrap_or(0);
    let counts: Vec<u64> = (0..slots).map(count).collect();
    let inside: u64 = counts.iter().sum();
    let missing = (0..).zip(&counts).filter(|(_, c)| **c * u64::from(slots) * 10 < inside).map(|(k, _)| k).collect();
    let slot_of = |ns: u64| u32::try_from(cell(ns) - base).ok().filter(|k| *k < slots);
    let sequence: Vec<Option<u32>> = gaps.between_ns.iter().map(|g| g.and_then(slot_of)).collect();
    let mut histogram_us: BTreeMap<u64, u64> = BTreeMap::new();
    for ns in &all {
        *histogram_us.entry(ns / 1_000).or_default() += 1;
    }
    let mut f = Fingerprint {
        used: all.len() as u64,
        peaks: peaks(&all, slot),
        histogram_us,
        slot_ns: slot,
        first_ns: (i128::from(origin) + i128::from(base) * i128::from(slot)).try_into().unwrap_or(0),
        exchange_ns: known.then_some(exchange),
        sharpness,
        window: window.map(|w| w.0),
        outside: 1.0 - inside as f64 / all.len().max(1) as f64,
        mean_slots: (0_u64..).zip(&counts).map(|(k, c)| k * c).sum::<u64>() as f64 / inside.max(1) as f64,
        even: ChiSquare::even(&counts),
        lags: lags(&sequence, 2 * slots),
        pairs: pairs(&sequence, slots),
        missing,
        counts,
        gaps,
        verdict: Verdict::TooFewFrames,
        words: String::new(),
    };
    let whole: Vec<u64> = (0..f.window.unwrap_or(0)).map(count).collect();
    (f.verdict, f.words) = f.judge(s, slots, &whole);
    f
}

/// How well the gaps fit a grid of slots, and their offset within a slot: length and angle of the mean of exp(2 pi i
/// gap / slot).
fn grid(gaps: &[u64], slot: u64) -> (f64, u64) {
    let turn = 2.0 * std::f64::consts::PI / slot as f64;
    let (mut x, mut y) = (0.0, 0.0);
    for ns in gaps {
        let angle = (ns % slot) as f64 * turn;
        (x, y) = (x + libm::cos(angle), y + libm::sin(angle));
    }
    let length = (x * x + y * y).sqrt() / gaps.len().max(1) as f64;
    let phase = (libm::atan2(y, x) / turn).rem_euclid(slot as f64);
    (length, libm::round(phase) as u64 % slot)
}

/// The smallest window, a power of two of cells, that holds [`HELD`] of `n` gaps, and its first cell. The first cell is
/// `from`; without `from`, it is the first cell of the fullest window with at least a tenth of the average count.
fn window(cells: &BTreeMap<i64, u64>, n: u64, from: Option<i64>) -> Option<(u32, i64)> {
    let enough = |held: u64| held > 0 && held as f64 >= HELD * n as f64;
    let list: Vec<(i64, u64)> = cells.iter().map(|(k, c)| (*k, *c)).collect();
    let mut size = 1;
    while size <= LARGEST {
        if let Some(first) = from {
            if enough(cells.range(first..first + i64::from(size)).map(|c| c.1).sum()) {
                return Some((size, first));
            }
        } else {
            // A sliding window over the cells.
            let (mut end, mut held) = (0, 0);
            let mut best: Option<(u64, i64)> = None;
            for (i, (first, c)) in list.iter().enumerate() {
                while let Some((_, more)) = list.get(end.max(i)).filter(|(k, _)| *k < first + i64::from(size)) {
                    (held, end) = (held + more, end.max(i) + 1);
                }
                let drawn = *c * u64::from(size) * 10 >= held;
                if drawn && best.is_none_or(|(most, _)| held > most) {
                    best = Some((held, *first));
                }
                held -= c;
            }
            if let Some((held, first)) = best.filter(|b| enough(b.0)) {
                debug_assert!(held <= n);
                return Some((size, first));
            }
        }
        size *= 2;
    }
    None
}

/// The peaks as [`Fingerprint::peaks`] describes them.
fn peaks(gaps: &[u64], slot: u64) -> Vec<(f64, u64)> {
    // For each microsecond: the number of gaps, and the sum of their remaining nanoseconds.
    let mut bins: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for ns in gaps {
        let bin = bins.entry(ns / 1_000).or_default();
        *bin = (bin.0 + 1, bin.1 + ns % 1_000);
    }
    let mut all: Vec<(f64, u64)> = Vec::new();
    let (mut sum, mut count, mut last) = (0.0, 0_u64, None);
    let apart = (slot / 2_000).max(1);
    let mut close = |sum: f64, count: u64| {
        if count > 0 && count as f64 * 1e3 >= gaps.len() as f64 {
            all.push((sum / count as f64, count));
        }
    };
    for (us, (c, above)) in bins {
        if last.is_some_and(|l| us - l > apart) {
            close(sum, count);
            (sum, count) = (0.0, 0);
        }
        (sum, count, last) = (sum + us as f64 * c as f64 * 1e3 + above as f64, count + c, Some(us));
    }
    close(sum, count);
    all
}

impl Fingerprint {
    /// Mean of all gaps in use, in nanoseconds.
    pub fn mean_gap_ns(&self) -> f64 {
        self.gaps.between_ns.iter().flatten().map(|g| *g as f64).sum::<f64>() / self.used.max(1) as f64
    }

    /// The three tests of uniformity and independence, by name.
    pub fn tests(&self) -> [(&'static str, Option<ChiSquare>); 3] {
        [("even", self.even), ("lags", self.lags.as_ref().map(|l| l.test)), ("pairs", self.pairs)]
    }

    /// The verdict and its text; `whole` holds the counts of all slots of the window found.
    fn judge(&self, s: &Settings, slots: u32, whole: &[u64]) -> (Verdict, String) {
        let us = |ns: f64| format!("{:.0} us", ns / 1e3);
        let needed = LEAST_PER_SLOT * u64::from(slots);
        if self.used < needed {
            let words = format!(
                "{} of {} gaps can be used, but {slots} slots need at least {needed}",
                self.used,
                self.gaps.between_ns.len()
            );
            return (Verdict::TooFewFrames, words);
        }
        if self.gaps.disturbed * 10 > self.gaps.between_ns.len() {
            // The remaining gaps have the shortest backoffs: longer backoffs let other stations send first. So they are
            // biased.
            let share = 100.0 * self.gaps.disturbed as f64 / self.gaps.between_ns.len() as f64;
            return (
                Verdict::TooFewFrames,
                format!(
                    "others send in {share:.0} % of the gaps, so the other gaps are biased: capture the station alone"
                ),
            );
        }
        // The gaps exceed any exchange and vary by a few slots at most: the station waited for its traffic source.
        let latest = self.exchange_ns.unwrap_or_else(|| s.exchange.nanoseconds(self.gaps.bytes, None));
        let late = self.first_ns > latest.saturating_add(u64::from(slots) * self.slot_ns);
        let drawn = whole.iter().filter(|c| **c * whole.len() as u64 * 10 >= self.used).count();
        let sparse = (drawn as u64) < 4 && whole.len() < slots as usize;
        let by_source = |why: String| {
            (Verdict::ConstrainedSource, format!("{why}: the traffic source, not the medium, determines the gaps"))
        };
        let Some(window) = self.window else {
            return by_source(format!(
                "no window of up to {LARGEST} slots holds 95 % of the gaps; the mean gap is {}",
                us(self.mean_gap_ns())
            ));
        };
        if late || (sparse && self.exchange_ns.is_none()) {
            let exchange =
                if late { format!(", but an exchange takes {} at most", us(latest as f64)) } else { String::new() };
            return by_source(format!("the gaps begin at {}{exchange}, and show no backoff", us(self.first_ns as f64)));
        }
        let spread = whole.iter().map(|c| (*c as f64 - self.used as f64 / f64::from(window)).powi(2)).sum::<f64>()
            / f64::from(window);
        let like_a_window = drawn * 4 >= whole.len() * 3 && spread.sqrt() < 0.5 * self.used as f64 / f64::from(window);
        if window > slots && !(like_a_window && self.sharpness >= SHARP) {
            return by_source(format!(
                "{:.1} % of the gaps are longer than the window of {slots} slots",
                100.0 * self.outside
            ));
        }
        if self.sharpness < SHARP {
            return (
                Verdict::Blurred,
                format!(
                    "the times do not fit a grid of {}: they are too coarse, or the slot has another length",
                    us(self.slot_ns as f64)
                ),
            );
        }
        if window != slots && window > 2 && like_a_window {
            return (Verdict::AnotherCwMin, format!("{window} slots instead of {slots}: CWmin is {}", window - 1));
        }
        if !self.missing.is_empty() {
            return (
                Verdict::MissingSlots,
                format!(
                    "slots {} of 0 to {} are drawn less than a tenth as often as expected",
                    list(&self.missing),
                    slots - 1
                ),
            );
        }
        self.by_tests(s.alpha, slots)
    }

    /// The verdict of the statistical tests, with false alarms at the rate `alpha` together, on backoffs in `slots`
    /// slots.
    fn by_tests(&self, alpha: f64, slots: u32) -> (Verdict, String) {
        // Bonferroni correction: three tests share the significance level.
        let each = alpha / 3.0;
        let refuses = |t: Option<ChiSquare>| t.filter(|t| t.p < each);
        if let Some(t) = refuses(self.even) {
            let most = self
                .counts
                .iter()
                .max()
                .zip(self.counts.iter().min())
                .map_or(1.0, |(a, b)| *a as f64 / (*b).max(1) as f64);
            return (
                Verdict::Uneven,
                format!(
                    "all {slots} slots are drawn, the most frequent {most:.2} times as often as the rarest (p = \
                        {:.2e})",
                    t.p
                ),
            );
        }
        if let Some(l) = self.lags.as_ref().filter(|l| l.test.p < each) {
            let (r, lag) = l.largest;
            return (
                Verdict::NotIndependent,
                format!(
                    "the histogram is uniform, but backoffs depend on each other: correlation {r:.2} at lag {lag} (p = \
                        {:.2e})",
                    l.test.p
                ),
            );
        }
        if let Some(t) = refuses(self.pairs) {
            return (
                Verdict::NotIndependent,
                format!("the histogram is uniform, but a backoff depends on the previous one (pairs: p = {:.2e})", t.p),
            );
        }
        (
            Verdict::Conformant,
            format!(
                "{slots} slots, drawn equally often and independently as far as {} gaps can tell (false alarms: {})",
                self.used, alpha
            ),
        )
    }
}

/// Formats numbers; consecutive numbers become a range: 3, 8..11.
fn list(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).filter_map(|run| Some((run.first()?, run.last()?)));
    runs.map(|(a, b)| if a == b { a.to_string() } else { format!("{a}..{b}") }).collect::<Vec<_>>().join(", ")
}
