//! What is counted on a channel.

/// What a transmitter did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Exchanges tried.
    pub attempts: u64,
    /// Of them, ended by an ACK.
    pub acked: u64,
    /// Of them, begun together with another station's.
    pub collided: u64,
    /// Of them, spoilt by the channel (data, RTS, or the answer).
    pub errored: u64,
    /// Times at which its backoff ended together with that of a higher category of the same station, which was sent
    /// instead.
    pub internal: u64,
    /// Packets given up after the last retry.
    pub retry_drops: u64,
    /// Of them, packets that had reached their receiver all the same: only the ACK was lost.
    pub dropped_after_delivery: u64,
    /// Packets handed on by their receiver.
    pub delivered: u64,
}

impl StationCounters {
    /// Both together.
    pub(super) fn plus(self, other: StationCounters) -> StationCounters {
        StationCounters {
            attempts: self.attempts + other.attempts,
            acked: self.acked + other.acked,
            collided: self.collided + other.collided,
            errored: self.errored + other.errored,
            internal: self.internal + other.internal,
            retry_drops: self.retry_drops + other.retry_drops,
            dropped_after_delivery: self.dropped_after_delivery + other.dropped_after_delivery,
            delivered: self.delivered + other.delivered,
        }
    }
}

/// With whom the access point contends, counted at every start of a transmission while it has a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rivals {
    /// Such starts.
    pub starts: u64,
    /// Stations that had a frame, over all of them.
    pub stations: u64,
}

/// How many slots were idle before transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Starts with one sender, and with several.
    pub starts: [u64; 2],
    /// Idle slots before them.
    pub slots: [u64; 2],
}
