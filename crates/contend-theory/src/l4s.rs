//! L4S: where TCP Prague settles under marks, and how it shares a coupled queue with classic flows.
//!
//! Prague after RFC 9331 and Linux's tcp_prague.c 0.7; the balance of growth and reductions is our derivation. The
//! coupling is that of RFC 9332, with the window constants of its appendix; the steps are Alizadeh et al. 2010 §3.3
//! (DCTCP). Windows are in packets, rates in packets per second.
//!
//! - A flow whose round-trip time is below the target behaves as if it were the target. A target of 0 is Prague without
//!   this rule.
//! - The laws hold for a share of marks that does not follow the flow's own queue, except those of steps.
//! - The law of independent marks holds within 5 % up to a share of 0.1; at 0.3 it is 8 % too high.
//! - Even marks come only at multiples of their distance. Where the distance does not divide the target, the flow may
//!   rest at more than one window, up to 1.3 times that of the law.
//! - Linux asks for reductions only once in a round trip, and so waits for up to another round trip when the target is
//!   not a whole number of them. That is not in the laws: with independent marks and round trips of 10, 20 and 25 ms,
//!   it raises the windows to 1.42, 1.64 and 1.38 times the law of even marks instead of 1.37 to 1.40.

use crate::Invalid;
use crate::invalid::{invalid, not_negative, positive, probability};

/// The constant of Reno's window, c / sqrt(p) (RFC 9332 appendix).
pub const RENO: f64 = 1.22;
/// The constant of CUBIC's window where it grows like Reno (RFC 9332 appendix).
pub const CUBIC: f64 = 1.68;

/// How marks are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// At equal distances of 1 / p packets. A reduction never waits for a mark.
    Even,
    /// Each packet is marked independently. A reduction waits for the first mark after the target.
    Independent,
}

/// A path of a Prague flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// R, round-trip time with its queues, in seconds.
    pub rtt_s: f64,
    /// T, reference round-trip time of the flow, in seconds; 0 if the flow has none.
    pub target_s: f64,
}

impl Path {
    /// The round-trip time as which the flow behaves, in seconds: max(R, T).
    pub fn virtual_rtt(&self) -> Result<f64, Invalid> {
        Ok(positive("rtt", self.rtt_s)?.max(not_negative("target", self.target_s)?))
    }

    /// Rate of a flow of which a share 0 < `p` <= 1 is marked. The window is this times the round-trip time.
    pub fn rate(&self, p: f64, marks: Marks) -> Result<f64, Invalid> {
        if positive("p", p)? > 1.0 {
            return Err(invalid("p", p, "at most 1"));
        }
        // In a virtual round trip of k = p W marks, unmarked packets add 1 - p and a reduction takes p W / 2.
        let marks_of_a_window = match marks {
            Marks::Even => 2.0 * (1.0 - p),
            // Reductions are W + 1 / p packets apart, so that each takes what (1 - p) (1 + 1 / k) has added:
            // k / 2 = (1 - p) (1 + 1 / k).
            Marks::Independent => (1.0 - p) + ((1.0 - p).powi(2) + 2.0 * (1.0 - p)).sqrt(),
        };
        Ok(marks_of_a_window / p / self.virtual_rtt()?)
    }
}

/// Window of a classic flow of constant `c` when a share 0 < `p` <= 1 is marked or lost: c / sqrt(p).
pub fn classic_window(p: f64, c: f64) -> Result<f64, Invalid> {
    if positive("p", p)? > 1.0 {
        return Err(invalid("p", p, "at most 1"));
    }
    Ok(positive("c", c)? / p.sqrt())
}

/// A coupled queue (RFC 9332) with an L4S and a classic flow, both long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coupling {
    /// R, round-trip time of both flows without queues, in seconds.
    pub rtt_s: f64,
    /// T of the L4S flow, in seconds; 0 if it has none.
    pub target_s: f64,
    /// q_C, delay of the classic queue, in seconds.
    pub classic_delay_s: f64,
    /// q_L, delay of the L4S queue, in seconds.
    pub l4s_delay_s: f64,
    /// k: the L4S flow is marked with k p', the classic one with the square of p'.
    pub k: f64,
    /// c of the classic flow.
    pub c: f64,
    /// The marks of the L4S flow.
    pub marks: Marks,
}

impl Coupling {
    /// Rate of the L4S flow over that of the classic flow, for rare marks: (2 / (k c)) (R + q_C) / max(R + q_L, T) with
    /// even marks. It does not depend on the capacity.
    pub fn ratio(&self) -> Result<f64, Invalid> {
        positive("rtt", self.rtt_s)?;
        let classic_rtt = self.rtt_s + not_negative("classic_delay", self.classic_delay_s)?;
        let l4s_rtt_s = self.rtt_s + not_negative("l4s_delay", self.l4s_delay_s)?;
        let path = Path { rtt_s: l4s_rtt_s, target_s: self.target_s };
        // The windows of rare marks: 2 / (k p') and c / p'.
        let marks_of_a_window = match self.marks {
            Marks::Even => 2.0,
            Marks::Independent => 1.0 + 3.0_f64.sqrt(),
        };
        let windows = marks_of_a_window / (positive("k", self.k)? * positive("c", self.c)?);
        Ok(windows * classic_rtt / path.virtual_rtt()?)
    }
}

/// Rate of the first of two Prague flows over that of the second, in one queue.
pub fn pair(first: &Path, second: &Path) -> Result<f64, Invalid> {
    Ok(second.virtual_rtt()? / first.virtual_rtt()?)
}

/// Window of a flow that a step marks on and off, when a share 0 < `p` <= 1 is marked: 2 / p^2. A round trip of marks
/// ends each sawtooth.
pub fn step_window(p: f64) -> Result<f64, Invalid> {
    classic_window(p, 1.0).map(|root| 2.0 * root.powi(4))
}

/// Height of the sawtooth of a flow whose window and smoothed share of marks are `window` and `alpha`: alpha W / 2. A
/// step at a queue of at least as many packets keeps the link full.
pub fn sawtooth(window: f64, alpha: f64) -> Result<f64, Invalid> {
    Ok(positive("window", window)? * probability("alpha", alpha)? / 2.0)
}

/// The share of marks of the only flow at a step: sqrt(2 / W), the inverse of [`step_window`]; 1 for small windows.
pub fn step_share(window: f64) -> Result<f64, Invalid> {
    Ok((2.0 / positive("window", window)?).sqrt().min(1.0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A path of milliseconds.
    fn path(rtt_ms: f64, target_ms: f64) -> Path {
        Path { rtt_s: rtt_ms / 1e3, target_s: target_ms / 1e3 }
    }

    fn near(got: f64, want: f64, by: f64) {
        assert!((got - want).abs() <= by, "{got} {want}");
    }

    #[test]
    fn even_marks_give_prague_a_megabit_times_one_over_p_minus_one() {
        // Spec L4.2: 0.96 (1 / p - 1) Mb/s with packets of 1500 B, at every round-trip time up to 25 ms.
        for (p, mbps) in [(0.75, 0.32), (0.82, 0.21), (0.95, 0.05), (0.5, 0.96)] {
            for rtt in [1.0, 10.0, 25.0] {
                near(path(rtt, 25.0).rate(p, Marks::Even).unwrap() * 12e-3, mbps, 0.005);
            }
        }
        // Above it, half the rate at twice the round-trip time; and without a target at every one.
        near(path(50.0, 25.0).rate(0.5, Marks::Even).unwrap() * 12e-3, 0.48, 0.005);
        near(path(10.0, 0.0).rate(0.1, Marks::Even).unwrap() * 10e-3, 18.0, 1e-9);
        // Spec P20: p = 0.1, 25 ms, 18 packets: 8.64 Mb/s.
        near(path(25.0, 25.0).rate(0.1, Marks::Even).unwrap() * 12e-3, 8.64, 1e-9);
    }

    #[test]
    fn independent_marks_give_more() {
        // Spec L5 and P20: 1.36 to 1.39 times, and a window between 24 and 25.5 at p = 0.1.
        for (p, least, most) in [(0.02, 1.36, 1.39), (0.1, 1.36, 1.40)] {
            let of = |marks| path(25.0, 25.0).rate(p, marks).unwrap();
            let factor = of(Marks::Independent) / of(Marks::Even);
            assert!((least..most).contains(&factor), "{factor}");
        }
        near(path(25.0, 25.0).rate(0.1, Marks::Independent).unwrap() * 25e-3, 25.16, 0.005);
    }

    /// Mean window of Prague's rules (reductions at the first mark after a window and the target) over `acks` packets.
    fn simulated(p: f64, rtt_s: f64, target_s: f64, acks: u32) -> f64 {
        let path = Path { rtt_s, target_s };
        let ai = (rtt_s / path.virtual_rtt().unwrap()).powi(2);
        let (mut w, mut alpha, mut random) = (2.0 / p * ai.sqrt(), p, 12_345_u64);
        let (mut now, mut cut_at, mut cut_end, mut alpha_at, mut sum) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let (mut marked, mut seen) = (0.0, 0.0);
        for n in 0..acks {
            // Xorshift.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let is_marked = (random >> 11) as f64 / (1_u64 << 53) as f64 <= p;
            now += rtt_s / w;
            let n = f64::from(n);
            (seen, marked) = (seen + 1.0, marked + f64::from(u8::from(is_marked)));
            if !is_marked {
                w += ai / w;
            } else if n >= cut_end && now - cut_at >= target_s {
                w -= w * alpha / 2.0;
                (cut_at, cut_end) = (now, n + w);
            }
            if now - alpha_at >= path.virtual_rtt().unwrap() {
                alpha += (marked / seen - alpha) / 16.0;
                (alpha_at, marked, seen) = (now, 0.0, 0.0);
            }
            sum += w;
        }
        sum / f64::from(acks)
    }

    #[test]
    fn the_law_of_independent_marks_is_that_of_the_rules() {
        for (p, rtt) in [(0.1, 25e-3), (0.1, 10e-3), (0.02, 25e-3), (0.02, 10e-3)] {
            let law = Path { rtt_s: rtt, target_s: 25e-3 }.rate(p, Marks::Independent).unwrap() * rtt;
            let got = simulated(p, rtt, 25e-3, 600_000);
            assert!((got / law - 1.0).abs() < 0.05, "{p} {rtt}: {got} {law}");
        }
    }

    #[test]
    fn a_coupled_queue_shares_as_the_table_of_the_spec() {
        // Spec L5, q_C = 15 ms, q_L = 0.5 ms, k = 2. R in ms; plain against Reno and CUBIC, with T against both.
        for (rtt, want) in
            [(10.0, [1.95, 1.42, 0.82, 0.60]), (20.0, [1.40, 1.02, 1.15, 0.83]), (80.0, [0.97, 0.70, 0.97, 0.70])]
        {
            let of = |target_ms: f64, c, marks| {
                let (rtt_s, target_s) = (rtt / 1e3, target_ms / 1e3);
                Coupling { rtt_s, target_s, classic_delay_s: 15e-3, l4s_delay_s: 0.5e-3, k: 2.0, c, marks }
                    .ratio()
                    .unwrap()
            };
            let even = |target, c| of(target, c, Marks::Even);
            let got = [even(0.0, RENO), even(0.0, CUBIC), even(25.0, RENO), even(25.0, CUBIC)];
            got.iter().zip(want).for_each(|(got, want)| near(*got, want, 0.0055));
            // Spec L5: the factor of independent marks, by Monte Carlo 1.38.
            near(of(0.0, CUBIC, Marks::Independent) / got[1], 1.37, 0.01);
        }
    }

    #[test]
    fn pairs_are_equal_up_to_the_target() {
        // Spec E2: 20/10, 80/20 and 160/10 ms give 1, 3.2 and 6.4; without a target 2, 4 and 16.
        for (long, short, with, without) in [(20.0, 10.0, 1.0, 2.0), (80.0, 20.0, 3.2, 4.0), (160.0, 10.0, 6.4, 16.0)] {
            near(pair(&path(short, 25.0), &path(long, 25.0)).unwrap(), with, 1e-9);
            near(pair(&path(short, 0.0), &path(long, 0.0)).unwrap(), without, 1e-9);
        }
    }

    #[test]
    fn a_step_needs_a_queue_of_half_the_root_of_twice_the_window() {
        // W = 200: a share of 0.1 is marked, and the sawtooth has 10 packets.
        near(step_share(200.0).unwrap(), 0.1, 1e-12);
        near(step_window(0.1).unwrap(), 200.0, 1e-9);
        near(sawtooth(200.0, step_share(200.0).unwrap()).unwrap(), 10.0, 1e-12);
        near(step_share(1.0).unwrap(), 1.0, 0.0);
        near(classic_window(0.01, RENO).unwrap(), 12.2, 1e-9);
    }

    #[test]
    fn impossible_arguments_are_errors() {
        assert_eq!(path(0.0, 25.0).rate(0.1, Marks::Even).unwrap_err().what, "rtt");
        assert_eq!(path(1.0, -1.0).rate(0.1, Marks::Even).unwrap_err().what, "target");
        assert_eq!(path(1.0, 1.0).rate(0.0, Marks::Even).unwrap_err().what, "p");
        assert_eq!(path(1.0, 1.0).rate(1.1, Marks::Even).unwrap_err().what, "p");
        assert_eq!(step_window(0.0).unwrap_err().what, "p");
        assert_eq!(sawtooth(1.0, 2.0).unwrap_err().what, "alpha");
    }
}
