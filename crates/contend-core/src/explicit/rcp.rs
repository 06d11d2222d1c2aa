//! RCP's arithmetic: the rate that a queue allows to every flow.
//!
//! Rates are in bytes per second, times in seconds.

/// The measurements of a queue at an update of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Time since the last update (T_e).
    pub interval: f64,
    /// Moving average of the round-trip times (d_0).
    pub rtt: f64,
    /// Rate of the packets that arrived in the interval (y).
    pub input: f64,
    /// Bytes that wait (q).
    pub queue: f64,
}

/// The constants of the control law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Gain of the spare capacity (alpha).
    pub alpha: f64,
    /// Gain of the queue (beta).
    pub beta: f64,
    /// The least rate in packets per round trip.
    pub least: f64,
    /// Size in bytes of such a packet (MTU).
    pub mtu: f64,
}

impl Law {
    /// The next rate after `rate` on a link whose usable capacity is `target` (eta C).
    pub fn next(&self, rate: f64, target: f64, m: &Measured) -> f64 {
        // Barreto 2012 eq. 2.22, in the form of the code of RCP: N = C / R.
        let spare = self.alpha * (target - m.input) - self.beta * m.queue / m.rtt;
        let next = rate * (1.0 + m.interval / m.rtt * spare / target);
        // Eq. 5.16, 5.17.
        next.min(target).max(self.least * self.mtu / m.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Law = Law { alpha: 0.4, beta: 0.4, least: 0.01, mtu: 1500.0 };

    /// `n` flows that send at the rate of one round trip ago, in steps of a tenth of a round trip.
    fn settles(n: f64, target: f64, start: f64) -> (f64, f64) {
        let mut rates = alloc::vec![start; 10];
        let (mut rate, mut queue) = (start, 0.0);
        for i in 0..5000 {
            let input = n * rates[i % 10];
            queue = (queue + (input - target / 0.95) * 0.01_f64).max(0.0);
            rate = LAW.next(rate, target, &Measured { interval: 0.01, rtt: 0.1, input, queue });
            rates[i % 10] = rate;
        }
        (rate, queue)
    }

    /// The fixed point of the law: the input is the target, and nothing waits.
    #[test]
    fn the_rate_settles_at_the_target_divided_by_the_number_of_flows() {
        for n in [1.0, 2.0, 5.0, 50.0] {
            for start in [0.05, 0.9] {
                let (rate, queue) = settles(n, 1e6, start * 1e6);
                assert!((rate * n / 1e6 - 1.0).abs() < 1e-6 && queue < 1e-6, "{n} flows: {rate}, {queue}");
            }
        }
    }

    /// To first order, a deviation from the fixed point shrinks by alpha T / d_0 in each update.
    #[test]
    fn a_small_deviation_shrinks_by_alpha_t_over_d() {
        let (e, target, n) = (1e-4, 1e6, 4.0);
        let rate = target / n * (1.0 + e);
        let m = Measured { interval: 0.01, rtt: 0.1, input: n * rate, queue: 0.0 };
        let after = LAW.next(rate, target, &m) * n / target - 1.0;
        assert!((after / e - (1.0 - 0.4 * 0.1)).abs() < 1e-3, "{}", after / e);
    }

    #[test]
    fn the_rate_stays_between_its_floor_and_the_target() {
        let m = Measured { interval: 0.1, rtt: 0.1, input: 0.0, queue: 0.0 };
        assert_eq!(LAW.next(9e5, 1e6, &m), 1e6);
        assert_eq!(LAW.next(100.0, 1e6, &Measured { input: 1e7, ..m }), 150.0);
    }
}
