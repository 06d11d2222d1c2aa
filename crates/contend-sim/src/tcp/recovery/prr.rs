//! Proportional rate reduction: how much a fast recovery may send for what arrives (RFC 9937, which follows RFC 6937;
//! Linux's `tcp_cwnd_reduction`).
//!
//! While more is in the network than the window that the controller has set for the episode, sending is cut in
//! proportion to what arrives, so that the flight ends at that window instead of falling silent for half a round trip.
//! Below it a segment leaves for each that arrives, and one more for an acknowledgment that goes ahead and shows no
//! further loss (the slow start reduction bound, on a "safe ACK").
//!
//! - Segments count, not bytes.
//! - The target is the window of the controller's answer, which is the threshold for those that halve.
//! - An acknowledgment that shows nothing new to have arrived changes nothing, as in Linux.

/// One episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prr {
    /// What had been sent and not arrived when it began (`RecoverFS`), in segments, at least 1.
    flight: u32,
    /// Arrived in it (`prr_delivered`).
    delivered: u32,
    /// SenderCounters in it (`prr_out`).
    out: u32,
    /// Segments that may be in the network until the next acknowledgment (the RFC's `cwnd`).
    window: u32,
}

impl Prr {
    /// An episode begins with `flight` segments sent that had not arrived before the acknowledgment that began it;
    /// `in_flight` are taken to be in the network.
    pub fn new(flight: u32, in_flight: u32) -> Prr {
        // RFC 9937 §6.2: the first retransmission goes at once.
        Prr { flight: flight.max(1), delivered: 0, out: 0, window: in_flight.saturating_add(1) }
    }

    /// An acknowledgment, that which began the episode too, showed `delivered` segments to have arrived and leaves
    /// `in_flight` in the network, where `target` are to be. `safe`: it covers new data and shows no further loss.
    pub fn on_ack(&mut self, delivered: u32, safe: bool, in_flight: u32, target: u32) {
        if delivered == 0 {
            return;
        }
        self.delivered = self.delivered.saturating_add(delivered);
        let due = if in_flight > target {
            // Proportional: as much of the target as has arrived of the flight.
            let share = (u64::from(self.delivered) * u64::from(target)).div_ceil(u64::from(self.flight));
            u32::try_from(share).unwrap_or(u32::MAX).saturating_sub(self.out)
        } else {
            // What arrives goes out again, and what was not sent before catches up.
            self.delivered
                .saturating_sub(self.out)
                .max(delivered)
                .saturating_add(u32::from(safe))
                .min(target - in_flight)
        };
        self.window = in_flight.saturating_add(due.max(u32::from(self.out == 0)));
    }

    /// A segment leaves, new or again.
    pub fn sent(&mut self) {
        self.out = self.out.saturating_add(1);
    }

    /// Segments that may be in the network.
    pub fn window(&self) -> u32 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of RFC 6937 §3: 20 segments of which the first `lost` are lost, an acknowledgment for each that
    /// arrives. Limited transmit sends two new ones for the first two; with the third, 22 have been sent, their half is
    /// the target, and recovery begins. Returns, for the third and each after it, what is in the network and what is
    /// sent then.
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
        // The row "sent" of RFC 6937's first figure: R, then a new one for every other acknowledgment, and for each of
        // the last two.
        let sent: Vec<u32> = example(1, false).iter().map(|s| s.1).collect();
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn a_burst_of_losses_is_repaired_as_the_bound_allows() {
        // RFC 6937's second figure, fifteen lost: what PRR-CRB sends, then what PRR-SSRB does, which RFC 9937 reserves
        // for safe acknowledgments.
        assert_eq!(example(15, false), [(4, 1), (4, 1), (4, 1)]);
        assert_eq!(example(15, true), [(4, 2), (5, 2), (6, 2)]);
    }

    #[test]
    fn what_was_not_sent_catches_up_and_the_first_retransmission_always_goes() {
        let mut prr = Prr::new(10, 4);
        assert_eq!(prr.window(), 5);
        // More in the network than the target, and next to nothing due: one all the same, until one has left.
        prr.on_ack(1, false, 9, 0);
        assert_eq!(prr.window(), 10);
        prr.sent();
        prr.on_ack(1, false, 9, 0);
        assert_eq!(prr.window(), 9);
        // Five more arrive with one sent: seven, less one, are due below the target of 8, where 3 are in the network;
        // there is room for five.
        prr.on_ack(5, false, 3, 8);
        assert_eq!(prr.window(), 8);
        // Nothing new: nothing changes.
        prr.on_ack(0, true, 2, 8);
        assert_eq!(prr.window(), 8);
    }

    proptest! {
        #[test]
        fn a_flight_ends_at_its_target_and_never_sends_more_than_arrives(flight in 2u32..500, lost in 1u32..50, target in 1u32..500) {
            // RFC 9937 §8: with few losses the flight ends exactly at the target; no more leaves than arrives, but for
            // the first.
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
