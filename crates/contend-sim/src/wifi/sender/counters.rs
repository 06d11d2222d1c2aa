//! Counters of a channel.

/// Counters of one transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Exchanges tried.
    pub attempts: u64,
    /// Exchanges that ended with an ACK.
    pub acked: u64,
    /// Exchanges that began together with another station's; in a field, those that other frames corrupted or that the
    /// receiver did not answer.
    pub collided: u64,
    /// Exchanges in which the medium corrupted a frame (data, RTS, or the answer).
    pub errored: u64,
    /// Internal collisions that this category lost: its backoff ended together with that of a higher category of the
    /// same station.
    pub internal: u64,
    /// Packets dropped after the last retry.
    pub retry_drops: u64,
    /// Dropped packets that their receiver had received: only the ACK was lost.
    pub dropped_after_delivery: u64,
    /// Packets that their receiver passed on.
    pub delivered: u64,
    /// Packets that went back to routing: given up, or taken out of the queue.
    pub returned: u64,
    /// Those of `returned` that were given up.
    pub given_back: u64,
    /// Broadcasts sent.
    pub broadcasts: u64,
    /// Beacons sent; they count as nothing else.
    pub beacons: u64,
}

impl StationCounters {
    /// Sum of two sets of counters.
    pub(crate) fn plus(self, other: StationCounters) -> StationCounters {
        StationCounters {
            attempts: self.attempts + other.attempts,
            acked: self.acked + other.acked,
            collided: self.collided + other.collided,
            errored: self.errored + other.errored,
            internal: self.internal + other.internal,
            retry_drops: self.retry_drops + other.retry_drops,
            dropped_after_delivery: self.dropped_after_delivery + other.dropped_after_delivery,
            delivered: self.delivered + other.delivered,
            returned: self.returned + other.returned,
            given_back: self.given_back + other.given_back,
            broadcasts: self.broadcasts + other.broadcasts,
            beacons: self.beacons + other.beacons,
        }
    }
}

/// The contenders of the access point, counted at every start of a transmission while the access point has a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rivals {
    /// Number of such starts.
    pub starts: u64,
    /// Stations that had a frame, summed over these starts.
    pub stations: u64,
}

/// Number of idle slots before transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Starts with one sender, and starts with several senders.
    pub starts: [u64; 2],
    /// Idle slots before these starts.
    pub slots: [u64; 2],
}
