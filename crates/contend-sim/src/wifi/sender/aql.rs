//! The airtime queue limit of Linux (AQL): how much airtime the packets below a queue may need.
//!
//! mac80211 (`ieee80211_txq_airtime_check`, Yan and Høiland-Jørgensen 2019) estimates the airtime of each packet that
//! leaves a queue, and takes it back when the packet has been sent. A queue gives no packet to a receiver for which too
//! much airtime is pending, so that packets wait where CoDel and airtime fairness act.

use crate::wifi::ids::Category;
use crate::wifi::medium::phy::{Family, Format};
use crate::wifi::spec::AirtimeLimit;
use contend_core::Span;

/// The pending airtime of one station, and its limits.
#[derive(Debug)]
pub(crate) struct Aql {
    limit: AirtimeLimit,
    /// For all receivers and categories.
    pending: Span,
}

impl Aql {
    /// Limits of a station for which nothing is pending.
    pub(crate) fn new(limit: AirtimeLimit) -> Aql {
        Aql { limit, pending: Span::ZERO }
    }

    /// True if another packet may leave a queue for a receiver for which `pending` is pending in this category.
    pub(crate) fn allows(&self, pending: Span) -> bool {
        pending < self.limit.low || (self.pending < self.limit.total && pending < self.limit.high)
    }

    /// A packet of so much airtime leaves a queue.
    pub(crate) fn take(&mut self, airtime: Span) {
        self.pending += airtime;
    }

    /// Packets of so much airtime have been sent or given up.
    pub(crate) fn release(&mut self, airtime: Span) {
        self.pending = self.pending.saturating_sub(airtime);
    }
}

/// Bytes that mac80211 adds to an IP packet.
const HEADER: u64 = 38;

/// The airtime that mac80211 expects of an IP packet of `bytes` in this format and category
/// (`ieee80211_calc_expected_tx_airtime`). Packets with MCS, except voice, have a share of the overhead of an A-MPDU,
/// whose number of packets is guessed from the rate.
pub(crate) fn expected(format: &Format, category: Category, bytes: u32) -> Span {
    let ns = |bytes: u64| (8_000_000_000 * bytes).div_ceil(format.bps.max(1));
    let data = ns(u64::from(bytes) + HEADER);
    let overhead = match format.mode() {
        None => format.airtime(0).preamble.as_nanos(),
        Some(mode) => {
            // `ieee80211_get_rate_duration`: 36 us and 4 us for each stream.
            let overhead = 36_000 + 4_000 * u64::from(mode.streams);
            let is_he = matches!(mode.family, Family::He | Family::Eht);
            let shift = match ns(1024) {
                _ if category == Category::Vo => 0,
                400_001.. => 1,
                250_001.. => 2,
                150_001.. => 3,
                70_001.. => 4,
                20_001.. => 5,
                _ if is_he => 6,
                _ => 5,
            };
            overhead >> shift
        }
    };
    Span::from_nanos((data + overhead).max(4_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::medium::phy::{DataRate, Mode, Phy, Preamble, Standard};

    /// By hand: 1,538 B at 65 Mb/s take 189.3 us; 16 packets (126 us for 1,024 B) share 40 us. At 600.5
    /// Mb/s, 20.5 us and 40 us / 64. At 6.5 Mb/s 1892.9 us and half of 40 us.
    #[test]
    fn the_overhead_is_shared_by_more_packets_at_higher_rates() {
        let expected = |standard, family, width, mcs, category| {
            let phy = Phy::new(standard, Preamble::Long);
            let format = phy.format(DataRate::Mcs(Mode::new(family, width, 1, mcs).unwrap())).unwrap();
            (expected(&format, category, 1500).as_nanos() as f64 / 100.0).round() / 10.0
        };
        assert_eq!(expected(Standard::N, Family::Ht, 20, 7, Category::Be), 191.8);
        assert_eq!(expected(Standard::N, Family::Ht, 20, 7, Category::Vo), 229.3);
        assert_eq!(expected(Standard::N, Family::Ht, 20, 0, Category::Be), 1912.9);
        assert_eq!(expected(Standard::Ax, Family::He, 80, 11, Category::Be), 21.1);
    }

    #[test]
    fn a_receiver_may_use_the_high_limit_while_little_is_pending_for_all() {
        let ms = Span::from_millis;
        let mut aql = Aql::new(AirtimeLimit { low: ms(5), high: ms(12), total: ms(24) });
        aql.take(ms(23));
        assert_eq!([4, 5, 11, 12].map(|n| aql.allows(ms(n))), [true, true, true, false]);
        aql.take(ms(1));
        assert_eq!([4, 5, 11, 12].map(|n| aql.allows(ms(n))), [true, false, false, false]);
        aql.release(ms(24));
        assert!(aql.allows(ms(11)));
    }
}
