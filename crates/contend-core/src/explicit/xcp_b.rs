//! XCP-b's arithmetic: spare capacity from the change of a queue's length, where the capacity is not known.
//!
//! While the link is busy, the queue grows by the arrivals that exceed the capacity. So its growth rate replaces y - C
//! of XCP. An empty queue shows only that the link is not fully used. Then a fixed amount of feedback is given.
//!
//! Rates are in bytes per second, times in seconds, queues in bytes.

/// The law of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blind {
    /// Feedback while the queue is empty, as a share of the buffer for each mean round-trip time (chi).
    pub chi: f64,
    /// Size of the buffer (Q_max).
    pub buffer: f64,
    /// The target length of the queue (kappa).
    pub target: f64,
    /// The link counts as idle only after the queue was empty for more than this many control intervals (late
    /// reaction).
    pub patience: u32,
    /// The queue at the end of the last interval.
    pub before: f64,
    /// Control intervals with an empty queue, in a row.
    pub empty: u32,
}

impl Blind {
    /// The change of the aggregate (F) at the end of a control interval: `queue` is the backlog, and `rtt` the mean
    /// round-trip time (d).
    pub fn change(&mut self, alpha: f64, beta: f64, queue: f64, rtt: f64) -> f64 {
        let moved = queue - core::mem::replace(&mut self.before, queue);
        let is_empty = queue == 0.0 && moved == 0.0;
        self.empty = if is_empty { self.empty.saturating_add(1) } else { 0 };
        if self.empty > self.patience {
            // Abrantes, Ricardo 2006: F = chi Q_max / d.
            self.chi * self.buffer / rtt
        } else {
            // F = -alpha (dq / d) - beta (q - kappa) / d.
            -(alpha * moved + beta * (queue - self.target)) / rtt
        }
    }

    /// True if further intervals with this `queue` change nothing.
    pub fn rests(&self, queue: f64) -> bool {
        self.before == queue && (queue > 0.0 || self.empty > self.patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Blind = Blind { chi: 0.2, buffer: 100_000.0, target: 0.0, patience: 0, before: 0.0, empty: 0 };

    /// The queue of a busy link grows by y - C, so the law is XCP's: -alpha (y - C) - beta q / d.
    #[test]
    fn on_a_busy_link_the_law_is_that_of_xcp() {
        let (capacity, rtt, mut queue) = (1e6, 0.1, 20_000.0);
        let mut law = Blind { before: queue, ..LAW };
        for input in [1.2e6, 1e6, 0.9e6] {
            queue += (input - capacity) * rtt;
            let xcp = 0.4 * (capacity - input) - 0.226 * queue / rtt;
            assert!((law.change(0.4, 0.226, queue, rtt) - xcp).abs() < 1e-6, "{input}");
        }
    }

    #[test]
    fn an_empty_queue_gives_out_a_share_of_the_buffer_after_the_patience() {
        let mut law = Blind { patience: 2, target: 5_000.0, ..LAW };
        let got: alloc::vec::Vec<f64> = (0..4).map(|_| law.change(0.4, 0.226, 0.0, 0.1)).collect();
        let toward_the_target = 0.226 * 5_000.0 / 0.1;
        assert_eq!(got, [toward_the_target, toward_the_target, 200_000.0, 200_000.0]);
        assert!(law.rests(0.0) && !LAW.rests(0.0));
        // A queue that has just emptied still moves.
        law.change(0.4, 0.226, 1_000.0, 0.1);
        assert!((law.change(0.4, 0.226, 0.0, 0.1) - (0.4 * 1_000.0 + 0.226 * 5_000.0) / 0.1).abs() < 1e-6);
    }

    /// One flow over a link of 1 MB/s, as a fluid whose rate changes by the feedback once in a round trip: the queue
    /// settles at its target, and never exceeds the buffer (chi <= 1 / (5 - alpha - beta)).
    #[test]
    fn a_fluid_comes_to_rest_at_the_target_and_never_overflows() {
        let (capacity, rtt, mut law) = (1e6, 0.1, Blind { target: 10_000.0, ..LAW });
        let (mut rate, mut queue, mut most) = (1e4f64, 0.0f64, 0.0f64);
        for _ in 0..2000 {
            queue = (queue + (rate - capacity) * rtt).max(0.0);
            most = most.max(queue);
            rate = (rate + law.change(0.4, 0.226, queue, rtt)).max(1e4);
        }
        assert!(most < law.buffer, "{most}");
        assert!((queue - law.target).abs() < 1.0 && (rate - capacity).abs() < 10.0, "{queue}, {rate}");
    }
}
