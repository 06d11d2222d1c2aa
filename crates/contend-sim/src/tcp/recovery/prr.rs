//! Proportional rate reduction: how much a fast recovery may send per arrived segment (RFC 9937, which replaces RFC
//! 6937; Linux's `tcp_cwnd_reduction`).
//!
//! While the data in the network exceed the window that the controller has set for the episode, sending is reduced in
//! proportion to arrivals. The flight then ends at that window, without a silence of half a round trip. Below that
//! window, one segment is sent per arrived segment. One more is sent for an acknowledgment that advances and shows no
//! further loss (the slow start reduction bound, on a "safe ACK").
//!
//! - PRR counts segments, not bytes.
//! - The target is the window in the controller's response. For controllers that halve, this is the threshold.
//! - An acknowledgment that shows no new arrival changes nothing, as in Linux.

/// One episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prr {
    /// Segments sent and not arrived when the episode began (`RecoverFS`), at least 1.
    flight: u32,
    /// Segments that arrived in the episode (`prr_delivered`).
    delivered: u32,
    /// Segments sent in the episode (`prr_out`).
    out: u32,
    /// Segments that may be in the network until the next acknowledgment (the RFC's `cwnd`).
    window: u32,
}

impl Prr {
    /// Begins an episode. `flight` is the number of segments that had not arrived before the acknowledgment that began
    /// the episode; `in_flight` segments are taken to be in the network.
    pub fn new(flight: u32, in_flight: u32) -> Prr {
        // RFC 9937 §6.2: the first retransmission is sent at once.
        Prr { flight: flight.max(1), delivered: 0, out: 0, window: in_flight.saturating_add(1) }
    }

    /// Processes an acknowledgment, including the one that began the episode. It shows that `delivered` segments
    /// arrived, and leaves `in_flight` in the network; the target is `target`. `safe` is true if it covers new data and
    /// shows no further loss.
    pub fn on_ack(&mut self, delivered: u32, safe: bool, in_flight: u32, target: u32) {
        if delivered == 0 {
            return;
        }
        self.delivered = self.delivered.saturating_add(delivered);
        let due = if in_flight > target {
            // Proportional: the share of the target that corresponds to the arrived share of the flight.
            let share = (u64::from(self.delivered) * u64::from(target)).div_ceil(u64::from(self.flight));
            u32::try_from(share).unwrap_or(u32::MAX).saturating_sub(self.out)
        } else {
            // Sends one segment per arrival, and makes up for segments that were not sent before.
            self.delivered
                .saturating_sub(self.out)
                .max(delivered)
                .saturating_add(u32::from(safe))
                .min(target - in_flight)
        };
        self.window = in_flight.saturating_add(due.max(u32::from(self.out == 0)));
    }

    /// A segment is sent, for the first time or again.
    pub fn sent(&mut self) {
        self.out = self.out.saturating_add(1);
    }

    /// Number of segments that may be in the network.
    pub fn window(&self) -> u32 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of RFC 6937 §3: the first `lost` of 20 segments are lost, and each arrival is acknowledged. Limited
    /// transmit sends two new segments for the first two acknowledgments. At the third, 22 have been sent, the target
    /// is half of the flight, and recovery begins. Returns, from the third acknowledgment on, the number in the network
    /// and the number sent.
    fn example(lost: u32, safe: bool) -> Vec<(u32, u32)> {
        let mut pipe = 22 - 2 - lost;
        let mut prr = Prr::new(22, pipe);
        (3..=20 - lost)
            .map(|_| {
                let before = pipe - 1;
                prr.on_ack(1, safe, before, 11);
                pipe = prr.window();
                (before..pipe).for_each(|_| prr.sent());
                (before, pipe - before)
            })
            .collect()
    }

    #[test]
    fn one_loss_of_twenty_spreads_the_halving_over_the_round_trip() {
        // The row "sent" of RFC 6937's first figure: R, then a new segment for every other acknowledgment and for each
        // of the last two.
        let sent: Vec<u32> = example(1, false).iter().map(|s| s.1).collect();
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn a_burst_of_losses_is_repaired_as_the_bound_allows() {
        // RFC 6937's second figure, fifteen segments lost: first PRR-CRB, then PRR-SSRB, which RFC 9937 limits to safe
        // acknowledgments.
        assert_eq!(example(15, false), [(4, 1), (4, 1), (4, 1)]);
        assert_eq!(example(15, true), [(4, 2), (5, 2), (6, 2)]);
    }

    #[test]
    fn what_was_not_sent_catches_up_and_the_first_retransmission_always_goes() {
        let mut prr = Prr::new(10, 4);
        assert_eq!(prr.window(), 5);
        // More is in the network than the target, and the proportional part is almost zero: one segment may still be
        // sent, until one has been sent.
        prr.on_ack(1, false, 9, 0);
        assert_eq!(prr.window(), 10);
        prr.sent();
        prr.on_ack(1, false, 9, 0);
        assert_eq!(prr.window(), 9);
        // Five more segments arrive, and one has been sent: six are due. The target is 8 and 3 are in the network, so
        // there is room for five.
        prr.on_ack(5, false, 3, 8);
        assert_eq!(prr.window(), 8);
        // No new arrival: no change.
        prr.on_ack(0, true, 2, 8);
        assert_eq!(prr.window(), 8);
    }

    proptest! {
        #[test]
        fn a_flight_ends_at_its_target_and_never_sends_more_than_arrives(
            flight in 2u32..500, lost in 1u32..50, target in 1u32..500,
        ) {
            // RFC 9937 §8: with few losses the flight ends exactly at the target. Apart from the first retransmission,
            // no more segments are sent than arrive.
            let (lost, target) = (lost.min(flight - 1), target.min(flight));
            let mut pipe = flight - lost;
            let mut prr = Prr::new(flight, pipe);
            for arrived in 1..=flight - lost {
                prr.on_ack(1, false, pipe - 1, target);
                (pipe - 1..prr.window()).for_each(|_| prr.sent());
                pipe = prr.window();
                prop_assert!(prr.out <= arrived, "{prr:?}");
            }
            if target <= flight - lost {
                prop_assert!(pipe.abs_diff(target) <= 1, "{prr:?} {target}");
            }
        }
    }
}
