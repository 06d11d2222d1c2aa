//! TCP Reno's window and rate under random loss: the square-root law and Padhye's formula.
//!
//! Mathis, Semke, Mahdavi, Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR 27(3), 1997;
//! Padhye, Firoiu, Towsley, Kurose, "Modeling TCP Throughput: A Simple Model and its Empirical Validation", SIGCOMM
//! 1998. Both as printed in Jersey 2005 §2.2.3, eqs. 2.1-2.4. [`Bottleneck`] is Jersey 2005 §4.1: the windows at which
//! a queue is empty and full.
//!
//! Differences from the papers:
//! - The square-root window keeps the factor 1-p of Jersey's balance of growth and halving. Most texts print sqrt(2/p).
//! - Only Padhye's approximate form is here. It includes the cost of a timeout, but not the effect of the window limit
//!   on this cost.

use crate::Invalid;
use crate::invalid::{invalid, not_negative, positive, probability};

/// The parameters of Padhye's formula for one TCP flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// RTT, mean round-trip time, s.
    pub rtt_s: f64,
    /// T0, length of the first timeout, s.
    pub t0_s: f64,
    /// b, data packets covered by one ACK.
    pub b: f64,
    /// w_m, window limit, packets; `None`: no limit.
    pub window: Option<f64>,
}

/// Mean congestion window in packets. The receiver acknowledges every packet. Each packet is lost with probability
/// 0 < `p` <= 1.
pub fn square_root_window(p: f64) -> Result<f64, Invalid> {
    // Jersey 2005 eq. 2.1: each packet adds 1/w to the window with probability 1-p and removes w/2 with probability p.
    // Eq. 2.2 is the balance of both.
    lossy(p)?;
    Ok((2.0 * (1.0 - p) / p).sqrt())
}

/// Approximate rate in packets/s, if no timeout ever happens. The receiver acknowledges every packet. Each packet is
/// lost with probability 0 < `p` <= 1. The round-trip time is `rtt_s`.
pub fn square_root_rate(p: f64, rtt_s: f64) -> Result<f64, Invalid> {
    // Jersey 2005 eq. 2.3: sqrt(2/(p RTT^2)).
    lossy(p)?;
    Ok((2.0 / p).sqrt() / positive("rtt_s", rtt_s)?)
}

/// Send rate in packets/s with timeouts and window limit. `p` in 0..=1 is the probability that a packet starts a loss
/// event.
///
/// Without a window limit the rate for `p` = 0 is infinite: an error.
pub fn padhye(p: f64, path: &Path) -> Result<f64, Invalid> {
    probability("p", p)?;
    let rtt = positive("rtt_s", path.rtt_s)?;
    let t0 = positive("t0_s", path.t0_s)?;
    let b = positive("b", path.b)?;
    let limit = match path.window {
        Some(w) => positive("window", w)? / rtt,
        None => f64::INFINITY,
    };
    if p == 0.0 && path.window.is_none() {
        return Err(invalid("p", p, "above 0 when the window has no limit"));
    }
    // Jersey 2005 eq. 2.4, the approximate model of Padhye 1998.
    let recovery = rtt * (2.0 * b * p / 3.0).sqrt();
    let timeout = t0 * (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    Ok(limit.min(1.0 / (recovery + timeout)))
}

/// The slowest link of a path and the queue in front of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bottleneck {
    /// μ, rate of the link, packets/s.
    pub rate_pps: f64,
    /// B, queue limit, packets.
    pub buffer: f64,
    /// T, round-trip time without a queue, s.
    pub rtt_s: f64,
}

impl Bottleneck {
    /// W_max, the largest window in packets at which a flow loses nothing. `rate` and `buffer` are the flow's shares of
    /// μ and B; both are 1 for a flow that is alone.
    pub fn largest_window(&self, rate: f64, buffer: f64) -> Result<f64, Invalid> {
        // Jersey 2005 §4.1: W_max,i = (α_i μ) T + β_i B. The α of all flows sum to 1, and so do the β.
        Ok(probability("share of the rate", rate)? * self.filling()?
            + probability("share of the buffer", buffer)? * not_negative("buffer", self.buffer)?)
    }

    /// μ T, the window in packets that fills the path and leaves the queue empty. A source may reduce its window to
    /// this value.
    pub fn filling(&self) -> Result<f64, Invalid> {
        // Little's law.
        Ok(positive("rate_pps", self.rate_pps)? * positive("rtt_s", self.rtt_s)?)
    }
}

fn lossy(p: f64) -> Result<f64, Invalid> {
    match probability("p", p)? {
        0.0 => Err(invalid("p", p, "above 0")),
        p => Ok(p),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn square_root_window_has_the_values_of_jersey() {
        for (p, w) in [(1e-4, 141.414), (1e-3, 44.699), (1e-2, 14.071), (0.1, 4.243)] {
            assert!((square_root_window(p).unwrap() - w).abs() < 5.1e-4, "{p}");
        }
    }

    #[test]
    fn square_root_rate_is_the_window_over_the_round_trip_when_loss_is_rare() {
        let (p, rtt) = (1e-4, 0.05);
        let ratio = square_root_rate(p, rtt).unwrap() * rtt / square_root_window(p).unwrap();
        assert!((ratio - 1.0).abs() < 1e-4);
    }

    #[test]
    fn padhye_has_the_values_of_jersey() {
        // MSS 8000 bit, RTT 96.2 ms, window 20; columns (T0, b); kb/s.
        let columns = [(0.3, 1.0), (1.0, 1.0), (1.0, 2.0), (0.3, 2.0)];
        let table = [
            (0.005, [1392.0, 1289.0, 912.0, 984.0]),
            (0.01, [952.0, 825.0, 583.0, 673.0]),
            (0.05, [330.0, 201.0, 142.0, 234.0]),
            (0.1, [167.0, 79.0, 56.0, 118.0]),
            (0.001, [1663.0; 4]),
            (0.0001, [1663.0; 4]),
            (0.0, [1663.0; 4]),
        ];
        for (p, row) in table {
            for ((t0_s, b), want) in columns.into_iter().zip(row) {
                let path = Path { rtt_s: 0.0962, t0_s, b, window: Some(20.0) };
                let kbps = padhye(p, &path).unwrap() * 8.0;
                assert!((kbps - want).abs() <= 0.51, "p = {p}, T0 = {t0_s}, b = {b}: {kbps} {want}");
            }
        }
    }

    #[test]
    fn the_windows_of_all_flows_fill_path_and_buffer() {
        // 2 Mb/s with packets of 1000 bytes, 40 ms, a queue of 50 packets: 10 packets on the path and 50 in the queue.
        let link = Bottleneck { rate_pps: 250.0, buffer: 50.0, rtt_s: 0.04 };
        assert_eq!((link.filling().unwrap(), link.largest_window(1.0, 1.0).unwrap()), (10.0, 60.0));
        let sum: f64 =
            [(0.2, 0.5), (0.3, 0.25), (0.5, 0.25)].iter().map(|(a, b)| link.largest_window(*a, *b).unwrap()).sum();
        assert!((sum - 60.0).abs() < 1e-9);
        assert_eq!(link.largest_window(1.1, 0.0).unwrap_err().what, "share of the rate");
        assert_eq!(Bottleneck { rtt_s: 0.0, ..link }.filling().unwrap_err().what, "rtt_s");
    }

    #[test]
    fn more_loss_never_sends_more() {
        let path = Path { rtt_s: 0.1, t0_s: 1.0, b: 2.0, window: None };
        let mut before = f64::INFINITY;
        for i in 1..=1000 {
            let rate = padhye(f64::from(i) / 1000.0, &path).unwrap();
            assert!(rate > 0.0 && rate < before);
            before = rate;
        }
    }

    #[test]
    fn impossible_paths_are_errors() {
        let path = Path { rtt_s: 0.1, t0_s: 1.0, b: 1.0, window: None };
        assert_eq!(padhye(0.0, &path).unwrap_err().what, "p");
        assert_eq!(padhye(-0.1, &path).unwrap_err().what, "p");
        let zero = Path { window: Some(0.0), ..path };
        assert_eq!(padhye(0.1, &zero).unwrap_err().what, "window");
        assert_eq!(square_root_window(0.0).unwrap_err().what, "p");
        assert_eq!(square_root_rate(0.1, -1.0).unwrap_err().what, "rtt_s");
    }
}
