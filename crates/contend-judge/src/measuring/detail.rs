//! Which runs of a sweep keep their time series and histograms in memory.
//!
//! The numbers of every run are kept until the end: about half a kilobyte for each flow and queue. Series and
//! histograms need much more. A run keeps them in two cases:
//!
//! 1. A claim, a figure or a search needs them. Then all runs keep them, or the experiment is refused before it starts.
//!    Successes on the air are kept only in this case.
//! 2. The results folder shows them. The first seed of every point is served first, then the second seeds, and so on,
//!    up to [`MOST_DETAIL`] bytes. A note says how many runs were served.
//!
//! The estimate is an upper bound. It depends on the network only, so the choice is the same on every machine and for
//! every number of cores.

use crate::measuring::metric::{Sampling, fingerprint};
use contend_core::Refusal;
use contend_core::{Span, Time};
use contend_experiment::reading::error::Error;
use contend_experiment::reading::file::Need;
use contend_experiment::results::Run;
use contend_experiment::size::{CaptureWindow, MAX_QUEUE_SAMPLES, MAX_SAMPLES, Measure, Size};
use contend_sim::wifi::phy::Phy;

/// A page has 1 GiB for everything.
const IS_PAGE: bool = cfg!(target_family = "wasm");
/// Maximum memory for the series and histograms of all runs, in bytes.
pub const MOST_DETAIL: u64 = if IS_PAGE { 256 << 20 } else { 1 << 30 };
/// Maximum memory for the numbers of all runs, in bytes.
pub const MOST_NUMBERS: u64 = if IS_PAGE { 256 << 20 } else { 4 << 30 };
/// Maximum number of frames that a run keeps for its metrics; they are dropped when the run ends.
const MOST_FRAMES: usize = 2_000_000;
/// Maximum number of runs of an experiment.
pub const MOST_RUNS: u64 = 1_000_000;

/// Step of the time series if the file names none.
const SAMPLE: Span = Span::from_secs(1);
/// What is kept of a run in addition to its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// What claims, figures and the search need; often nothing.
    Needed,
    /// Everything that a results folder shows.
    All,
}

/// One run of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Index of the need.
    pub need: usize,
    /// The seed.
    pub seed: u64,
    /// What the run keeps.
    pub keep: Keep,
}

/// The details that an experiment asks for.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    /// What a run measures that keeps everything.
    all: Measure,
    /// What a run measures that keeps only what is needed.
    needed: Measure,
    /// True if claims, figures or the search need histograms.
    histograms: bool,
    /// True if a metric needs the frames of every run.
    frames: bool,
    /// True if a results folder is written.
    shown: bool,
}

impl Detail {
    /// For runs of length `duration` with warm-up `warmup`, and with a series every `sample` if it is given.
    pub fn new(sampling: Sampling, duration: Span, warmup: Span, sample: Option<Span>, shown: bool) -> Detail {
        let seconds = || (0..=duration.div_floor(SAMPLE)).map(|s| Time::ZERO + SAMPLE * s);
        let step = sample.unwrap_or(SAMPLE);
        let mut instants = sampling.instants;
        if sampling.every_second {
            instants.extend(seconds());
        }
        let needed = Measure {
            duration,
            warmup,
            sample: (sampling.series || sampling.every_second).then_some(step),
            instants,
            successes: sampling.successes,
            ..Measure::default()
        };
        let mut all = Measure { sample: Some(step), map: true, ..needed.clone() };
        // Jain's index per second in the report needs a sample at every full second. Very long runs omit it.
        if !sampling.every_second && duration.div_floor(SAMPLE) <= 100_000 {
            all.instants.extend(seconds());
        }
        Detail { all, needed, histograms: sampling.histograms, frames: sampling.frames, shown }
    }

    /// Like `self`, for runs of which the results folder shows the numbers only.
    pub fn unshown(&self) -> Detail {
        Detail { shown: false, ..self.clone() }
    }

    /// What a run measures that keeps `keep`.
    pub fn measure(&self, keep: Keep) -> &Measure {
        if keep == Keep::All { &self.all } else { &self.needed }
    }

    /// The frames that a run must capture; `shown` are those that the caller asked for.
    pub fn captured(&self, shown: Option<CaptureWindow>) -> Option<CaptureWindow> {
        let end = Time::ZERO + self.needed.duration;
        if self.frames { Some(CaptureWindow { from: Time::ZERO, to: end, limit: MOST_FRAMES }) } else { shown }
    }

    /// Evaluates the metrics that need the frames of a finished run, then keeps only the frames of `shown`.
    pub fn look(&self, run: &mut Run, phy: Option<&Phy>, shown: Option<CaptureWindow>) {
        let Some(phy) = phy.filter(|_| self.frames) else { return };
        fingerprint::note(run, phy);
        let Some(c) = shown else {
            (run.detail.frames, run.frames_missed) = (Vec::new(), 0);
            return;
        };
        run.detail.frames.retain(|f| f.start >= c.from && f.start < c.to);
        run.frames_missed += run.detail.frames.len().saturating_sub(c.limit) as u64;
        run.detail.frames.truncate(c.limit);
        run.detail.frames.shrink_to_fit();
    }

    /// Upper bound on the memory of a run of this size that keeps `keep`, in bytes.
    pub fn memory(&self, keep: Keep, size: &Size) -> u64 {
        size.numbers().saturating_add(size.detail(self.measure(keep), keep == Keep::All || self.histograms))
    }

    /// Upper bound on the memory for what these runs of `needs` keep for the results folder alone, in bytes.
    pub fn shown(&self, needs: &[(Need, Size)], plan: &[Planned]) -> u64 {
        let shown = plan.iter().filter(|p| p.keep == Keep::All);
        shown.filter_map(|p| Some(self.more(&needs.get(p.need)?.1))).fold(0, u64::saturating_add)
    }

    /// Bytes that a run takes more if it keeps all than if it keeps what is needed.
    fn more(&self, size: &Size) -> u64 {
        self.memory(Keep::All, size).saturating_sub(self.memory(Keep::Needed, size))
    }

    /// Drops the details that the run does not keep.
    pub fn thin(&self, keep: Keep, run: &mut Run) {
        if keep == Keep::Needed && !self.histograms {
            run.drop_histograms();
        }
    }

    /// The runs of `needs`, need by need, each need with its own `seeds`. Notes say if some runs keep no details, or if
    /// a step was lengthened.
    ///
    /// # Errors
    /// When there are too many runs, or when the details that claims need do not fit; the error contains the remedy.
    pub fn plan(
        &self,
        needs: &[(Need, Size)],
        seeds: &[Vec<u64>],
        limit: u64,
    ) -> Result<(Vec<Planned>, Vec<String>), Error> {
        let most = seeds.iter().map(Vec::len).max().unwrap_or(0);
        let count = seeds.iter().map(|seeds| seeds.len() as u64).sum::<u64>();
        if count > MOST_RUNS {
            return Err(too_large(
                format!(
                    "{} points with {most} seeds are {count} runs, but one call makes at most {MOST_RUNS}",
                    needs.len(),
                ),
                "use fewer values or seeds, or split the sweep with --set",
            ));
        }
        let sum = |of: &dyn Fn(&Size) -> u64| {
            let of_need = |((_, size), seeds): (&(Need, Size), &Vec<u64>)| of(size).saturating_mul(seeds.len() as u64);
            needs.iter().zip(seeds).map(of_need).fold(0, u64::saturating_add)
        };
        let numbers = sum(&Size::numbers);
        if numbers > MOST_NUMBERS {
            return Err(too_large(
                format!(
                    "the results of {count} runs may need {} of memory, but at most {} are allowed",
                    bytes(numbers),
                    bytes(MOST_NUMBERS)
                ),
                "use fewer values or seeds, or split the sweep with --set",
            ));
        }
        let needed = sum(&|s| s.detail(&self.needed, self.histograms));
        if needed > limit {
            return Err(too_large(
                format!(
                    "the time series, delays and successes that the claims of this file need may take {} in {count} \
                        runs, but at most {} are allowed",
                    bytes(needed),
                    bytes(limit)
                ),
                "make `sample` longer, `duration` shorter, use fewer values or seeds, or split the sweep with --set",
            ));
        }
        let (mut runs, mut first_of) = (Vec::new(), Vec::new());
        for (need, seeds) in seeds.iter().enumerate() {
            first_of.push(runs.len());
            runs.extend(seeds.iter().map(|seed| Planned { need, seed: *seed, keep: Keep::Needed }));
        }
        let mut left = limit - needed;
        let (mut kept, mut wanted) = (0, 0);
        for rank in 0..most {
            for (((n, size), seeds), first) in needs.iter().zip(seeds).zip(&first_of) {
                if !self.shown || !n.overlay.is_empty() || rank >= seeds.len() {
                    continue;
                }
                wanted += 1;
                // Stop at the first run that does not fit. Later, smaller runs are not tried: the rule stays simple.
                if kept + 1 == wanted && self.more(size) <= left {
                    (left, kept) = (left - self.more(size), kept + 1);
                    if let Some(run) = runs.get_mut(first + rank) {
                        run.keep = Keep::All;
                    }
                }
            }
        }
        let kept_note = (kept < wanted).then(|| {
            format!(
                "time series and delay distributions of {kept} of {wanted} runs are kept, the first seeds of each \
                    point first (at most {}); to keep all, make `sample` longer or use fewer seeds",
                bytes(limit)
            )
        });
        let notes = kept_note.into_iter().chain(self.lengthened(needs, &runs, &first_of)).collect();
        Ok((runs, notes))
    }

    /// The note if a sampled run has too many samples with the requested step.
    fn lengthened(&self, needs: &[(Need, Size)], runs: &[Planned], first_of: &[usize]) -> Option<String> {
        let times = |((_, size), first): (&(Need, Size), &usize)| {
            let keep = runs.get(*first).map_or(Keep::Needed, |r| r.keep);
            let m = self.measure(keep);
            let step = m.sample.filter(|s| !s.is_zero())?;
            Some((size.sampled.lengthened(m.duration, step), step))
        };
        let (times, step) = needs.iter().zip(first_of).filter_map(times).max()?;
        (times > 1).then(|| {
            format!(
                "a time series has at most {MAX_SAMPLES} samples of flows and {MAX_QUEUE_SAMPLES} of queues: the step \
                    is {} s, not {} s",
                (step * times).as_secs_f64(),
                step.as_secs_f64()
            )
        })
    }
}

fn too_large(what: String, remedy: &str) -> Error {
    Refusal::new(what, remedy).into()
}

fn bytes(n: u64) -> String {
    if n >= 1 << 30 {
        format!("{:.1} GB", n as f64 / f64::from(1 << 30))
    } else {
        format!("{:.1} MB", n as f64 / f64::from(1 << 20))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::reading::file::Overlay;
    use contend_experiment::results::PointKey;
    use contend_experiment::size::{HISTOGRAM, Sampled};

    const SMALL: Size = Size {
        sampled: Sampled { flows: 10, queues: 21, estimates: 0, observed: 0, data: 0 },
        stations: 11,
        exchange: Span::from_micros(100),
        successes: 0,
        map: 0,
    };
    /// At most 124 samples (two lists of full seconds, and both ends) of 10 flows and 21 queues take 154 kB; 41
    /// histograms take 267 kB.
    const RUN: u64 = 124 * (8 + 560 + 672) + 41 * HISTOGRAM;

    fn needs(points: usize, overlaid: usize) -> Vec<(Need, Size)> {
        let point = |i: usize| PointKey::from([("flow.0.count".to_owned(), i.into())]);
        let over = Overlay::of([("ap.queue".to_owned(), "fifo".into())]);
        let plain = (0..points).map(|i| Need { point: point(i), overlay: Overlay::default() });
        plain
            .chain((0..overlaid).map(|i| Need { point: point(i), overlay: over.clone() }))
            .map(|n| (n, SMALL))
            .collect()
    }

    fn detail(sampling: Sampling, shown: bool) -> Detail {
        Detail::new(sampling, Span::from_secs(60), Span::ZERO, None, shown)
    }

    /// The same seeds for every need.
    fn each(needs: usize, seeds: &[u64]) -> Vec<Vec<u64>> {
        vec![seeds.to_vec(); needs]
    }

    fn kept(d: &Detail, needs: &[(Need, Size)], seeds: &[u64], limit: u64) -> (Vec<(usize, u64)>, Option<String>) {
        let (runs, mut notes) = d.plan(needs, &each(needs.len(), seeds), limit).unwrap();
        let note = notes.pop();
        assert!(notes.is_empty());
        assert_eq!(runs.len(), needs.len() * seeds.len());
        (runs.iter().filter(|r| r.keep == Keep::All).map(|r| (r.need, r.seed)).collect(), note)
    }

    #[test]
    fn every_point_keeps_its_first_seed_before_any_keeps_its_second() {
        let d = detail(Sampling::default(), true);
        let (all, none) = kept(&d, &needs(3, 1), &[7, 8], 6 * RUN);
        assert_eq!((all.len(), none), (6, None));
        let (some, note) = kept(&d, &needs(3, 1), &[7, 8], 5 * RUN - 1);
        assert_eq!(some, [(0, 7), (0, 8), (1, 7), (2, 7)]);
        assert!(note.unwrap().contains("4 of 6 runs"));
    }

    #[test]
    fn points_may_have_different_seeds() {
        let d = detail(Sampling::default(), true);
        let seeds = [vec![7], vec![], vec![7, 8, 9]];
        let (runs, notes) = d.plan(&needs(3, 0), &seeds, 3 * RUN).unwrap();
        let run = |need, seed, keep| Planned { need, seed, keep };
        assert_eq!(runs, [run(0, 7, Keep::All), run(2, 7, Keep::All), run(2, 8, Keep::All), run(2, 9, Keep::Needed)]);
        assert!(notes[0].contains("3 of 4 runs"), "{notes:?}");
    }

    #[test]
    fn what_only_the_results_folder_shows_is_added_up() {
        let needs = needs(1, 0);
        let shown = |sampling: Sampling, seeds: &[u64], limit: u64| {
            let d = detail(sampling, true);
            let (plan, _) = d.plan(&needs, &each(1, seeds), limit).unwrap();
            d.shown(&needs, &plan)
        };
        assert_eq!(shown(Sampling::default(), &[1, 2], 5 * RUN), 2 * RUN);
        assert_eq!(shown(Sampling::default(), &[1, 2], RUN), RUN);
        let histograms = Sampling { histograms: true, ..Sampling::default() };
        assert_eq!(shown(histograms, &[1], 5 * RUN), RUN - 41 * HISTOGRAM);
    }

    #[test]
    fn without_a_results_folder_nothing_is_kept_that_no_claim_needs() {
        let (none, note) = kept(&detail(Sampling::default(), false), &needs(3, 1), &[1, 2], u64::MAX);
        assert_eq!((none.len(), note), (0, None));
    }

    #[test]
    fn what_claims_need_comes_first_and_must_fit() {
        let d = detail(Sampling { histograms: true, ..Sampling::default() }, true);
        let hists = 41 * HISTOGRAM;
        // All eight runs need histograms; a series takes 154 kB more.
        let (some, _) = kept(&d, &needs(3, 1), &[1, 2], 8 * hists + (RUN - hists));
        assert_eq!(some, [(0, 1)]);
        let Err(Error::Refused { what, remedy: Some(remedy) }) = d.plan(&needs(3, 1), &each(4, &[1, 2]), 8 * hists - 1)
        else {
            panic!()
        };
        assert!(what.contains("8 runs") && remedy.contains("sample"), "{what}; {remedy}");
    }

    #[test]
    fn a_step_that_is_lengthened_is_said() {
        let with = |step| Detail::new(Sampling::default(), Span::from_secs(60), Span::ZERO, Some(step), true);
        // 600,000 steps of 10 flows are three times the limit of two million. Of 21 queues they are 3.15 times the
        // limit of four million.
        let (_, note) = kept(&with(Span::from_micros(100)), &needs(1, 0), &[1], u64::MAX);
        assert_eq!(
            note.unwrap(),
            "a time series has at most 2000000 samples of flows and 4000000 of queues: the step is 0.0004 s, not \
                0.0001 s"
        );
        assert_eq!(kept(&with(Span::from_millis(1)), &needs(1, 0), &[1], u64::MAX).1, None);
    }

    #[test]
    fn estimates_count_as_samples_and_must_fit() {
        let d = detail(Sampling { series: true, ..Sampling::default() }, false);
        // 60 steps, both ends and the instants of claims, of 20 estimates with 8 B each.
        let watched = |estimates| {
            vec![(needs(1, 0)[0].0.clone(), Size { sampled: Sampled { estimates, ..SMALL.sampled }, ..SMALL })]
        };
        let series = 63 * (8 + 560 + 672);
        assert!(d.plan(&watched(0), &each(1, &[1]), series).is_ok());
        assert!(d.plan(&watched(20), &each(1, &[1]), series + 63 * 160).is_ok());
        let Err(Error::Refused { what, remedy: Some(remedy) }) =
            d.plan(&watched(20), &each(1, &[1]), series + 63 * 160 - 1)
        else {
            panic!()
        };
        assert_eq!(
            what,
            "the time series, delays and successes that the claims of this file need may take 0.1 MB in 1 runs, but \
                at most 0.1 MB are allowed"
        );
        assert!(remedy.contains("make `sample` longer"), "{remedy}");
    }

    #[test]
    fn who_succeeded_takes_four_bytes_an_exchange_and_must_fit() {
        let d = detail(Sampling { successes: true, ..Sampling::default() }, false);
        // 60 s are at most 600,000 exchanges of 100 us.
        assert!(d.plan(&needs(1, 0), &each(1, &[1, 2]), 2 * 2_400_000).is_ok());
        let Err(Error::Refused { what, .. }) = d.plan(&needs(1, 0), &each(1, &[1, 2]), 2 * 2_400_000 - 1) else {
            panic!()
        };
        assert!(what.contains("successes"), "{what}");
        assert!(detail(Sampling::default(), false).plan(&needs(1, 0), &each(1, &[1, 2]), 0).is_ok());
    }

    #[test]
    fn too_many_runs_are_refused_before_the_first() {
        let d = detail(Sampling::default(), false);
        let seeds: Vec<u64> = (0..100_000).collect();
        let needs = |points, size| needs(points, 0).into_iter().map(|(n, _)| (n, size)).collect::<Vec<_>>();
        let sized =
            |flows, queues| Size { sampled: Sampled { flows, queues, estimates: 0, observed: 0, data: 0 }, ..SMALL };
        let (small, large) = (sized(1, 3), sized(5_000, 15_001));
        assert!(matches!(d.plan(&needs(11, small), &each(11, &seeds), u64::MAX), Err(Error::Refused { what, .. })
                if what.contains("1100000 runs")));
        assert!(
            matches!(d.plan(&needs(10, large), &each(10, &seeds[..100]), u64::MAX), Err(Error::Refused { what, .. })
                if what.contains("GB"))
        );
        assert!(d.plan(&needs(10, small), &each(10, &seeds[..100]), u64::MAX).is_ok());
    }
}
