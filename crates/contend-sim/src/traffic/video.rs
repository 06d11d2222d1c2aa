//! Frames of a video: one at each tick of its clock, with a random size, cut into packets.

use super::{AppWrite, Source, packet};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Rng, Span, Time};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "buffered video of IEEE 802.11-14/0571r12 (evaluation methodology of 802.11ax), appendix 2: 30 \
    frames a second, Weibull with shape 0.8099 and a scale of 6950 B for each 2 Mb/s. With that scale the mean is 93.7 \
    % of the nominal rate, so rate = \"3.747Mbps\" is its video of 4 Mb/s";
/// What it does.
pub const SUMMARY: &str = "Video frames at equal distances, with sizes from a Weibull distribution; each frame is cut \
    into packets, which are written in one instant, or over a part of the time to the next frame. The mean size of a \
    frame is rate / fps, whatever the shape.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "mean payload bits per second").range(100.0, 1e12),
    Param::number("fps", "frames per second").default("30").range(0.01, 1e4),
    Param::number(
        "shape",
        "shape of the Weibull distribution of sizes: 1 is exponential, less has more small and more very large frames",
    )
    .default("0.8099")
    .range(0.3, 100.0),
    Param::amount(
        "packet",
        "largest payload of a packet; 0B: the flow's full packet. The last packet of a frame has \
        the rest",
    )
    .default("0B")
    .range(0.0, 65_535.0),
    Param::fraction(
        "spread",
        "share of the time between two frames over which the packets of a frame are written, at equal distances",
    )
    .default("0")
    .range(0.0, 1.0),
    Param::fraction(
        "random",
        "delay of the first frame: drawn uniformly from 0 to this share of the time between two frames",
    )
    .default("0")
    .range(0.0, 1.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// When `packet` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    let fps = args.number("fps");
    Ok(Box::new(Video {
        sizes: Weibull::of_mean(args.rate("rate") as f64 / fps / 8.0, args.number("shape")),
        interval: 1.0 / fps,
        packet: packet(args)?,
        spread: args.number("spread"),
        random: args.number("random"),
        first: None,
        frames: 0,
        frame: Frame::default(),
    }))
}

/// The Weibull distribution: P(more than x) = exp(-(x / scale)^shape).
#[derive(Clone, Copy, Debug)]
struct Weibull {
    scale: f64,
    shape: f64,
}

impl Weibull {
    fn of_mean(mean: f64, shape: f64) -> Weibull {
        // mean = scale Γ(1 + 1 / shape)
        Weibull { scale: mean / libm::tgamma(1.0 + 1.0 / shape), shape }
    }

    /// The value that a draw exceeds with the probability 1 - `p`; `p` is below 1.
    fn quantile(self, p: f64) -> f64 {
        self.scale * libm::pow(-libm::log(1.0 - p), 1.0 / self.shape)
    }

    fn draw(self, rng: &mut Rng) -> f64 {
        self.quantile(rng.random::<f64>())
    }
}

/// A camera and its encoder.
#[derive(Debug)]
struct Video {
    /// Of frames, in bytes.
    sizes: Weibull,
    /// Seconds between two frames.
    interval: f64,
    /// Largest payload of a packet in bytes; 0: the flow's full packet.
    packet: u64,
    /// Shares of the interval.
    spread: f64,
    random: f64,
    /// When the first frame is written; `None` before the start.
    first: Option<Time>,
    /// Frames that have begun.
    frames: u64,
    frame: Frame,
}

/// The present frame.
#[derive(Debug, Default)]
struct Frame {
    /// Seconds from the first frame.
    at: f64,
    /// Its packets, and how many of them are written.
    packets: u64,
    written: u64,
    /// Bytes that are not yet written.
    left: u64,
}

impl Source for Video {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        let first = match self.first {
            Some(first) => first,
            None => {
                let late = if self.random > 0.0 { self.random * cx.rng.random::<f64>() } else { 0.0 };
                cx.now.saturating_add(Span::from_secs_f64(late * self.interval))
            }
        };
        self.first = Some(first);
        let most = if self.packet == 0 { u64::from(full) } else { self.packet }.max(1);
        if self.frame.left == 0 {
            // A frame has a byte at least. Its time is counted from the first frame, so that roundings do not add up.
            let left = (libm::round(self.sizes.draw(cx.rng)) as u64).max(1);
            let at = self.frames as f64 * self.interval;
            self.frame = Frame { at, packets: left.div_ceil(most), written: 0, left };
            self.frames += 1;
        }
        let f = &mut self.frame;
        let late = self.spread * self.interval * (f.written as f64 / f.packets as f64);
        let at = first.saturating_add(Span::from_secs_f64(f.at + late));
        let bytes = most.min(f.left);
        f.written += 1;
        f.left -= bytes;
        (at < Time::NEVER).then_some(AppWrite::new(at, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, rate, writes};
    use super::*;
    use contend_core::registry::{Amount, Value};

    const SHAPE: f64 = 0.8099;

    /// Writes of 4 Mb/s at 30 frames a second, from 1 s on.
    fn video(more: &[(&str, Value)], seed: u64, seconds: u64) -> Vec<AppWrite> {
        let base = [
            ("rate", Value::Rate(4_000_000)),
            ("fps", Value::Number(30.0)),
            ("shape", Value::Number(SHAPE)),
            ("packet", Value::Amount(Amount::Bytes(0))),
            ("spread", Value::Number(0.0)),
            ("random", Value::Number(0.0)),
        ];
        let start = Time::ZERO + Span::from_secs(1);
        let mut source = build(&args(PARAMS, &[&base[..], more].concat())).unwrap();
        writes(&mut *source, seed, start, start + Span::from_secs(seconds))
    }

    /// Frames of writes without `spread`: when, and how large.
    fn frames(writes: &[AppWrite]) -> Vec<(Time, u64)> {
        let frame = |f: &[AppWrite]| (f[0].at, f.iter().map(|w| w.bytes).sum());
        writes.chunk_by(|a, b| a.at == b.at).map(frame).collect()
    }

    /// Appendix 2 of 11-14/0571r12: Mb/s and the scale in bytes. Γ(1 + 1 / 0.8099) = 1.12321, so 6950 B mean 7806 B,
    /// and 2 Mb/s are 8333 B: all its scales mean 93.7 % of its rates.
    #[test]
    fn the_scales_of_the_document_are_proportional_to_ours() {
        for (mbps, scale) in
            [(2.0, 6950.0), (4.0, 13_900.0), (6.0, 20_850.0), (8.0, 27_800.0), (10.0, 34_750.0), (15.6, 54_210.0)]
        {
            let ours = Weibull::of_mean(mbps * 1e6 / 30.0 / 8.0, SHAPE).scale;
            assert!((scale / ours - 0.93676).abs() < 1e-4, "{mbps}: {}", scale / ours);
            let same = Weibull::of_mean(0.93676 * mbps * 1e6 / 30.0 / 8.0, SHAPE).scale;
            assert!((same / scale - 1.0).abs() < 1e-4);
        }
        // Exponential: the scale is the mean. Rayleigh: Γ(1.5) = √π / 2.
        assert!((Weibull::of_mean(500.0, 1.0).scale - 500.0).abs() < 1e-9);
        assert!((Weibull::of_mean(500.0, 2.0).scale - 1000.0 / libm::sqrt(std::f64::consts::PI)).abs() < 1e-9);
    }

    #[test]
    fn the_mean_rate_is_the_rate() {
        // 30,000 frames: the deviation of a size is 1.24 of its mean, so one standard error is 0.7 %.
        for (shape, tolerance) in [(SHAPE, 0.022), (3.0, 0.006)] {
            let got = rate(&video(&[("shape", Value::Number(shape))], 1, 1000), Span::from_secs(1000));
            assert!((got / 4e6 - 1.0).abs() < tolerance, "{shape}: {got}");
        }
    }

    #[test]
    fn the_sizes_of_frames_have_the_quantiles_of_the_distribution() {
        let mut sizes: Vec<u64> = frames(&video(&[], 2, 1000)).into_iter().map(|f| f.1).collect();
        assert_eq!(sizes.len(), 30_000);
        sizes.sort_unstable();
        let scale = 4e6 / 30.0 / 8.0 / 1.123_21;
        for p in [0.05, 0.25, 0.5, 0.75, 0.95, 0.99] {
            let x = scale * libm::pow(-libm::log(1.0 - p), 1.0 / SHAPE);
            let below = sizes.partition_point(|s| (*s as f64) <= x) as f64 / 3e4;
            // Three standard errors, and the rounding to whole bytes.
            assert!((below - p).abs() < 3.0 * libm::sqrt(p * (1.0 - p) / 3e4) + 1e-4, "{p}: {below}");
        }
    }

    #[test]
    fn a_frame_comes_every_interval_in_full_packets_and_a_rest() {
        let w = video(&[], 3, 1000);
        let f = frames(&w);
        for (k, (at, bytes)) in (0..).zip(&f) {
            let exact = 1.0 + f64::from(k) / 30.0;
            assert!((at.as_secs_f64() - exact).abs() < 2e-9 && *bytes > 0, "{k}: {at}");
        }
        for packets in w.chunk_by(|a, b| a.at == b.at) {
            let (last, others) = packets.split_last().unwrap();
            assert!(others.iter().all(|p| p.bytes == 1000) && (1..=1000).contains(&last.bytes));
        }
        // Smaller packets are another cut of the same frames.
        let small = video(&[("packet", Value::Amount(Amount::Bytes(300)))], 3, 1000);
        assert!(small.len() > 2 * w.len() && frames(&small) == f);
    }

    #[test]
    fn packets_are_spread_at_equal_distances_over_a_share_of_the_interval() {
        let (w, spread) = (video(&[], 4, 100), video(&[("spread", Value::Number(0.5))], 4, 100));
        assert_eq!(spread.len(), w.len());
        let mut many = 0;
        for (frame, (at, _)) in spread.chunk_by(|a, b| b.at.since(a.at) < Span::from_millis(16)).zip(frames(&w)) {
            for (k, p) in frame.iter().enumerate() {
                let late = 0.5 / 30.0 * k as f64 / frame.len() as f64;
                assert!((p.at.since(at).as_secs_f64() - late).abs() < 2e-9);
            }
            many += usize::from(frame.len() > 10);
        }
        assert!(many > 100, "{many}");
    }

    #[test]
    fn a_random_start_is_late_by_less_than_an_interval() {
        let late = |seed| {
            let w = video(&[("random", Value::Number(1.0))], seed, 10);
            let f = frames(&w);
            assert!(f.windows(2).all(|f| (f[1].0.since(f[0].0).as_secs_f64() * 30.0 - 1.0).abs() < 1e-6));
            f[0].0.as_secs_f64() - 1.0
        };
        let all: Vec<f64> = (0..300).map(late).collect();
        assert!(all.iter().all(|l| *l < 1.0 / 30.0));
        // The mean of 300 draws has a standard error of 3.3 % of half an interval.
        assert!((all.iter().sum::<f64>() / 300.0 * 60.0 - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_seed_gives_the_same_frames_again_and_another_seed_others() {
        let of = |seed| frames(&video(&[], seed, 10));
        assert!(of(5) == of(5) && of(5) != of(6));
    }
}
