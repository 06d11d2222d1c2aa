//! Two saturated stations under DCF, exactly: the Markov chain of their backoff, embedded at the ends of transmissions.
//!
//! Own derivation, without decoupling. After a collision both stations draw anew: state (stage, stage). After a success
//! the winner draws in stage 0, and the waiter keeps its residual backoff: state (stage of the waiter, its remaining
//! slots). The future depends on nothing else. A waiting time never grows, so one sweep from long to short waiting
//! times follows all waits to their end. Sweeps are repeated until the distribution is stationary.
//!
//! Differences from Bianchi's chain (IEEE JSAC 18(3), 2000), which has the same backoff rule if the busy slot counts:
//! - There are only two stations, but the chain has their joint states. p may differ between stages.
//! - Packets are dropped after `attempts` attempts, and both rules for the busy slot are available.

use crate::Invalid;
use crate::dcf::{Backoff, SlotTimes};
use crate::invalid::invalid;

/// The largest chain accepted, in waiting states (the sum of all window sizes).
pub const STATES_LIMIT: usize = 1 << 18;
/// The largest number of states computed in the search for the stationary distribution. Ordinary backoff laws need less
/// than 1 in 10^4 of it.
const WORK_LIMIT: usize = 1 << 30;

/// The effect on a station's backoff while the other station transmits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusySlot {
    /// The backoff is frozen (IEEE 802.11 DCF). A station that draws 0 after its own success transmits again before the
    /// other station can.
    Frozen,
    /// The transmission also counts as one slot of the backoff (EDCA; Bianchi's model).
    Counted,
}

/// How two saturated stations share the channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoStation {
    /// p, probability that an attempt collides.
    pub p: f64,
    /// Probability that a transmission (of one station or both) is a collision.
    pub collision: f64,
    /// Mean number of idle slots before a transmission.
    pub idle_slots: f64,
    /// Probability that a packet is dropped after its last attempt.
    pub drop: f64,
}

impl TwoStation {
    /// Throughput of both stations together, bit/s. Errors: see [`SlotTimes::check`].
    pub fn throughput_bps(&self, times: &SlotTimes) -> Result<f64, Invalid> {
        let success = 1.0 - self.collision;
        Ok(success * times.payload_bits / self.transmission_us(times)? * 1e6)
    }

    /// Mean time a packet spends at the head of its station, until success or drop, µs. Errors: see
    /// [`SlotTimes::check`].
    pub fn service_us(&self, times: &SlotTimes) -> Result<f64, Invalid> {
        // drop = drops / (drops + successes), hence drops + successes = successes / (1 - drop). The two stations share
        // these packets.
        let finished = (1.0 - self.collision) / (1.0 - self.drop);
        Ok(2.0 * self.transmission_us(times)? / finished)
    }

    /// Mean time from the end of one transmission to the end of the next, µs. Errors: see [`SlotTimes::check`].
    pub fn transmission_us(&self, times: &SlotTimes) -> Result<f64, Invalid> {
        times.check()?;
        Ok(self.idle_slots * times.slot_us + (1.0 - self.collision) * times.ts_us + self.collision * times.tc_us)
    }
}

/// Solves the chain to about 1e-11. Returns an error unless `cw_min` >= 1 and the windows add up to at most
/// [`STATES_LIMIT`].
///
/// For CW 15/1023 and 7 attempts the solution takes less than a millisecond. It takes seconds if the channel rarely
/// passes from one station to the other (`cw_min` 1 or 2 with hundreds of attempts). Such a chain may not converge;
/// `solve` then returns an error.
pub fn solve(backoff: &Backoff, busy: BusySlot) -> Result<TwoStation, Invalid> {
    let windows: Vec<usize> = backoff.windows()?.iter().map(|&w| w as usize).collect();
    if windows[0] < 2 {
        return Err(invalid("cw_min", backoff.cw_min, "at least 1: a winner that always draws 0 never lets go"));
    }
    let states: usize = windows.iter().sum();
    if states > STATES_LIMIT {
        return Err(invalid(
            "cw_max",
            backoff.cw_max,
            "smaller, or attempts fewer: the windows add up to more than 262144 slots",
        ));
    }
    let mut chain = Chain::new(windows, backoff.attempts.is_some(), busy);
    let mut last = f64::INFINITY;
    for _ in 0..WORK_LIMIT / states {
        let change = chain.sweep();
        // The search ends when only rounding errors are left: the change is negligible, or it is small and no longer
        // falls.
        if change < 1e-13 || (change < 1e-11 && change >= last) {
            return Ok(chain.summary());
        }
        last = change;
    }
    Err(Invalid {
        what: "backoff",
        why: "makes a chain that converges too slowly; use fewer attempts or a larger cw_min".into(),
    })
}

/// The current approximation of the stationary distribution.
struct Chain {
    /// W_j, the window of each stage, slots.
    windows: Vec<usize>,
    /// True if a failed attempt in the last stage drops the packet and the next stage is the first. Otherwise the
    /// station stays in the last stage.
    limited: bool,
    /// The number of slots by which a busy slot decrements the waiter's backoff: 0 or 1.
    shift: usize,
    /// `both[i][j]`: probability that both stations draw anew, in stages i and j.
    both: Vec<Vec<f64>>,
    /// `wait[j][r]`: probability that the winner draws anew in stage 0 and the other station waits in stage j with r
    /// slots left.
    wait: Vec<Vec<f64>>,
}

impl Chain {
    fn new(windows: Vec<usize>, limited: bool, busy: BusySlot) -> Chain {
        Chain {
            both: vec![vec![1.0; windows.len()]; windows.len()],
            wait: windows.iter().map(|&w| vec![0.0; w]).collect(),
            shift: usize::from(busy == BusySlot::Counted),
            windows,
            limited,
        }
    }

    /// The stage that follows a failed attempt in stage `j`.
    fn after(&self, j: usize) -> usize {
        match (j + 1 < self.windows.len(), self.limited) {
            (true, _) => j + 1,
            (false, true) => 0,
            (false, false) => j,
        }
    }

    /// Recomputes every probability once from the others. Returns the total change.
    fn sweep(&mut self) -> f64 {
        let mut change = self.collide();
        for j in (0..self.windows.len()).rev() {
            change += self.wait_in(j);
        }
        let total: f64 = self.both.iter().chain(&self.wait).flatten().sum();
        for x in self.both.iter_mut().chain(&mut self.wait).flatten() {
            *x /= total;
        }
        change / total
    }

    /// Recomputes the probabilities of the states that follow a collision.
    fn collide(&mut self) -> f64 {
        let w = &self.windows;
        let mut next = vec![vec![0.0; w.len()]; w.len()];
        for i in 0..w.len() {
            for j in 0..w.len() {
                // Both stations drew the same number.
                next[self.after(i)][self.after(j)] += self.both[i][j] / w[i].max(w[j]) as f64;
            }
            // The winner drew the number of slots that the waiter had left.
            let caught: f64 = self.wait[i][..w[0]].iter().sum();
            next[self.after(0)][self.after(i)] += caught / w[0] as f64;
        }
        let change = next.iter().flatten().zip(self.both.iter().flatten());
        let change = change.map(|(a, b)| (a - b).abs()).sum();
        self.both = next;
        change
    }

    /// Recomputes the probabilities of the states in which a station waits in stage `j`.
    fn wait_in(&mut self, j: usize) -> f64 {
        let w = self.windows.as_slice();
        // The weight of "this station drew in stage j, the other in stage i", and its sums, starting at the longest
        // window.
        let against = (0..w.len()).map(|i| (self.both[i][j] + self.both[j][i]) / (w[i] as f64 * w[j] as f64));
        let mut longer: Vec<f64> = against.collect();
        for i in (1..w.len()).rev() {
            longer[i - 1] += longer[i];
        }
        // The last winner draws d slots more than the other station has left. The last winner then waits, in stage 0.
        let overtaken = match j {
            0 => self.overtaken(),
            _ => Vec::new(),
        };
        let first = w[0];
        let wait = &mut self.wait[j];
        let (mut change, mut stage, mut drawn, mut ahead) = (0.0, 0, 0.0, 0.0);
        // d: the winner's lead over the waiter in slots, at least one. The waiter then has d - shift slots left.
        for d in (1..w[j]).rev() {
            let left = d - self.shift;
            // The number of pairs of draws that differ by d is min(W_i, W_j - d). It grows by one as d falls, up to the
            // winner's window.
            while stage < w.len() && w[stage] < w[j] - d {
                stage += 1;
            }
            drawn += longer.get(stage).unwrap_or(&0.0);
            // The same station won again with a draw below W_0, and the waiter had d slots more than this draw (sum in
            // `ahead`). If the busy slot does not count, a draw of 0 leaves the state unchanged; `stay` removes it from
            // the balance.
            ahead += wait.get(left + 1).unwrap_or(&0.0) - wait.get(d + first).unwrap_or(&0.0);
            let inflow = drawn + ahead / first as f64 + overtaken.get(d).unwrap_or(&0.0);
            let stay = (1 - self.shift) as f64 / first as f64;
            let now = inflow / (1.0 - stay);
            change += (now - wait[left]).abs();
            wait[left] = now;
        }
        change
    }

    /// `[d]`: probability that the winner's new draw exceeds the waiter's remaining slots by d, for d below W_0.
    fn overtaken(&self) -> Vec<f64> {
        let first = self.windows[0];
        let mut sums = vec![0.0; first];
        let mut sum = 0.0;
        for r in 0..first - 1 {
            sum += self.wait.iter().map(|w| w[r]).sum::<f64>() / first as f64;
            sums[first - 1 - r] = sum;
        }
        sums
    }

    fn summary(&self) -> TwoStation {
        let w = &self.windows;
        let collision: f64 = self.both.iter().flatten().sum();
        let mut idle_slots = 0.0;
        for (i, row) in self.both.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                // Mean of the smaller of two draws: sum over k >= 1 of P(both >= k).
                let both = (1..w[i].min(w[j])).map(|k| ((w[i] - k) * (w[j] - k)) as f64);
                idle_slots += x * both.sum::<f64>() / (w[i] * w[j]) as f64;
            }
        }
        for (r, x) in self.wait.iter().flat_map(|w| w.iter().enumerate()) {
            // The corresponding mean for a draw in stage 0 against r: sum over k = 1..=r of P(draw >= k).
            let m = r.min(w[0] - 1) as f64;
            idle_slots += x * (m - m * (m + 1.0) / (2.0 * w[0] as f64));
        }
        // After a collision, a station is in stage 0 only if its packet was dropped.
        let drops: f64 = match self.limited {
            true => self.both[0].iter().sum::<f64>() + self.both.iter().map(|b| b[0]).sum::<f64>(),
            false => 0.0,
        };
        TwoStation {
            p: 2.0 * collision / (1.0 + collision),
            collision,
            idle_slots,
            drop: drops / (drops + 1.0 - collision),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::bianchi;

    const RULES: [BusySlot; 2] = [BusySlot::Frozen, BusySlot::Counted];
    const LAW: Backoff = Backoff { cw_min: 15, cw_max: 1023, attempts: Some(7) };
    const TIMES: SlotTimes = SlotTimes { slot_us: 20.0, ts_us: 364.0, tc_us: 300.0, payload_bits: 12_000.0 };

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} {want}");
    }

    /// Simulates two counters slot by slot. Returns (p, idle slots per transmission, dropped share, throughput, service
    /// time).
    fn monte_carlo(law: &Backoff, busy: BusySlot, transmissions: u32) -> [f64; 5] {
        let windows = law.windows().unwrap();
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut draw = |stage: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 32) * u64::from(windows[stage])) >> 32
        };
        let (mut stage, mut left) = ([0usize; 2], [draw(0), draw(0)]);
        let (mut idle, mut hits, mut attempts, mut ok, mut dropped) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for _ in 0..transmissions {
            while left[0] > 0 && left[1] > 0 {
                left = [left[0] - 1, left[1] - 1];
                idle += 1.0;
            }
            let sends = [left[0] == 0, left[1] == 0];
            let collides = sends == [true, true];
            for k in 0..2 {
                if !sends[k] {
                    left[k] -= u64::from(busy == BusySlot::Counted);
                    continue;
                }
                attempts += 1.0;
                stage[k] += 1;
                if !collides {
                    ok += 1.0;
                    stage[k] = 0;
                } else {
                    hits += 1.0;
                    if stage[k] == windows.len() {
                        stage[k] = match law.attempts {
                            Some(_) => 0,
                            None => windows.len() - 1,
                        };
                        dropped += f64::from(u8::from(law.attempts.is_some()));
                    }
                }
                left[k] = draw(stage[k]);
            }
        }
        let time = idle * TIMES.slot_us + ok * TIMES.ts_us + hits / 2.0 * TIMES.tc_us;
        [
            hits / attempts,
            idle / f64::from(transmissions),
            dropped / (dropped + ok),
            ok * TIMES.payload_bits / time * 1e6,
            2.0 * time / (dropped + ok),
        ]
    }

    #[test]
    fn monte_carlo_agrees() {
        let laws = [
            LAW,
            Backoff { cw_min: 3, cw_max: 15, attempts: Some(4) },
            Backoff { cw_min: 1, cw_max: 10, attempts: None },
            Backoff { cw_min: 7, cw_max: 7, attempts: Some(2) },
        ];
        for law in laws {
            for busy in RULES {
                let s = solve(&law, busy).unwrap();
                let [p, idle, drop, bps, service] = monte_carlo(&law, busy, 1_000_000);
                near(s.p, p, 2e-3);
                near(s.idle_slots, idle, 0.006 * idle);
                near(s.drop, drop, 2e-3);
                near(s.throughput_bps(&TIMES).unwrap(), bps, 0.003 * bps);
                near(s.service_us(&TIMES).unwrap(), service, 0.003 * service);
            }
        }
    }

    #[test]
    fn the_reference_monte_carlo_agrees() {
        // reference/dcf_mc.py 2 16,...,1024 20 364 364 1000000, seeds 1 2 3 (frozen): p, Mb/s.
        let s = solve(&LAW, BusySlot::Frozen).unwrap();
        let times = SlotTimes { tc_us: 364.0, ..TIMES };
        near(s.p, (0.10956 + 0.11010 + 0.10974) / 3.0, 4e-4);
        let mean = (24.8745 + 24.8575 + 24.8682) / 3.0;
        near(s.throughput_bps(&times).unwrap() / 1e6, mean, 0.015);
    }

    #[test]
    fn windows_of_two_can_be_solved_by_hand() {
        for attempts in [None, Some(1)] {
            let law = Backoff { cw_min: 1, cw_max: 1, attempts };
            for (busy, idle) in RULES.into_iter().zip([0.375, 0.125]) {
                let s = solve(&law, busy).unwrap();
                near(s.p, 2.0 / 3.0, 1e-13);
                near(s.collision, 0.5, 1e-13);
                near(s.idle_slots, idle, 1e-13);
                near(s.drop, if attempts.is_some() { 2.0 / 3.0 } else { 0.0 }, 1e-13);
            }
        }
    }

    #[test]
    fn small_chains_have_their_rational_solutions() {
        // A separate program enumerated every pair of draws and solved the linear system in fractions. It gave the
        // collisions and idle slots per transmission and the dropped share.
        let two = Backoff { cw_min: 1, cw_max: 3, attempts: Some(2) };
        let three = Backoff { cw_min: 1, cw_max: 5, attempts: None };
        for (law, busy, want) in [
            (two, BusySlot::Frozen, [29.0 / 100.0, 193.0 / 400.0, 26.0 / 97.0]),
            (two, BusySlot::Counted, [231.0 / 592.0, 701.0 / 2368.0, 162.0 / 523.0]),
            (three, BusySlot::Frozen, [27.0 / 127.0, 325.0 / 508.0, 0.0]),
            (three, BusySlot::Counted, [5609.0 / 16463.0, 40917.0 / 82315.0, 0.0]),
        ] {
            let s = solve(&law, busy).unwrap();
            for (got, want) in [s.collision, s.idle_slots, s.drop].into_iter().zip(want) {
                near(got, want, 1e-12);
            }
        }
    }

    #[test]
    fn bianchi_is_exact_when_busy_slots_count_and_the_window_never_changes() {
        for cw in [1, 3, 15, 100, 1023] {
            for attempts in [None, Some(1), Some(3)] {
                let law = Backoff { cw_min: cw, cw_max: cw, attempts };
                let (exact, b) =
                    (solve(&law, BusySlot::Counted).unwrap(), bianchi::saturation(&law, &TIMES, 2).unwrap());
                near(exact.p, b.p, 1e-12);
                near(exact.idle_slots, b.idle_slots, 1e-9);
                let bps = exact.throughput_bps(&TIMES).unwrap();
                near(bps / b.throughput_bps, 1.0, 1e-11);
            }
        }
    }

    #[test]
    fn decoupling_costs_little_for_two_stations_when_busy_slots_count() {
        let (exact, b) = (solve(&LAW, BusySlot::Counted).unwrap(), bianchi::saturation(&LAW, &TIMES, 2).unwrap());
        near(exact.p, b.p, 0.01);
        near(exact.throughput_bps(&TIMES).unwrap() / b.throughput_bps, 1.0, 0.01);
    }

    #[test]
    fn every_law_converges() {
        for busy in RULES {
            for cw_min in [1, 2, 5, 31, 255] {
                for cw_max in [cw_min, 2 * cw_min, 1000 + cw_min] {
                    for attempts in [None, Some(1), Some(2), Some(12)] {
                        let s = solve(&Backoff { cw_min, cw_max, attempts }, busy).unwrap();
                        assert!(s.p > 0.0 && s.p < 1.0 && s.idle_slots > 0.0);
                        assert!(s.drop >= 0.0 && s.drop < 1.0);
                    }
                }
            }
        }
    }

    #[test]
    fn chains_without_an_answer_are_errors() {
        let zero = Backoff { cw_min: 0, ..LAW };
        let huge = Backoff { cw_max: 65_535, attempts: Some(255), ..LAW };
        for busy in RULES {
            assert_eq!(solve(&zero, busy).unwrap_err().what, "cw_min");
            assert_eq!(solve(&huge, busy).unwrap_err().what, "cw_max");
        }
        let s = solve(&LAW, BusySlot::Frozen).unwrap();
        let broken = SlotTimes { slot_us: -1.0, ..TIMES };
        assert_eq!(s.throughput_bps(&broken).unwrap_err().what, "slot_us");
    }
}
