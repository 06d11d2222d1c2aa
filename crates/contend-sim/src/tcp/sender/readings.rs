//! What is read of a sender.

use super::Sender;
use crate::stats::{Durations, SenderCounters};
use crate::tcp::SenderState;
use crate::tcp::rtt::micros;
use contend_core::{Span, Time};

impl Sender {
    /// The sender's counters.
    pub fn sent(&self) -> SenderCounters {
        self.sent
    }

    /// Round-trip samples.
    pub fn rtt_samples(&self) -> &Durations {
        &self.samples
    }

    /// Clears the histogram of round-trip samples.
    pub fn clear_histograms(&mut self) {
        self.samples.clear();
    }

    /// A snapshot for time series.
    pub fn state(&self) -> SenderState {
        SenderState {
            snd_cwnd: self.w.cwnd,
            snd_ssthresh: self.w.ssthresh,
            srtt_us: self.rtt.srtt_us(),
            rttvar_us: self.rtt.rttvar_us(),
            rto_us: micros(self.rtt.rto()),
            bytes_acked: self.sent.acked_bytes,
            inflight: self.board.in_flight(),
            retrans: self.sent.retransmitted,
            ca_state: self.ca_state(),
        }
    }

    /// Its controller's share of marks and score of the queue, as far as it keeps them.
    pub fn marks(&self) -> [Option<f64>; 2] {
        let share = |n: u32, bits: u32| f64::from(n) / f64::from(1_u32 << bits);
        [self.cc.alpha_q24().map(|n| share(n, 24)), self.cc.score_q20().map(|n| share(n, 20))]
    }

    /// The values of its estimators at `now` in bytes per second, in the order of
    /// [`TcpSpec::estimates`](crate::tcp::spec::TcpSpec::estimates).
    pub fn estimates(&self, now: Time) -> impl Iterator<Item = u64> {
        self.watch.iter().map(move |e| e.rate(now))
    }

    /// Completed transfers, in order: when each was offered, and the time until it was acknowledged.
    pub fn transfers(&self) -> &[(Time, Span)] {
        self.transfers.finished()
    }

    /// The number of transfers that were offered and are not complete.
    pub fn unfinished(&self) -> u64 {
        self.transfers.unfinished()
    }

    /// Time from the start of the flow until its last byte was acknowledged; `None` if the flow is not complete.
    pub fn completed(&self) -> Option<Span> {
        self.completed
    }
}
