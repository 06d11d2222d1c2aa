//! The costs of a node's own packets: backoff, and attempts that fail (Barreto 2012 §5.4, eqs. 5.19, 5.20).

use super::local::{Local, ONE};
use super::{ExchangeOutcome, OwnExchange, Radio};
use crate::time::Span;

/// A new attempt changes the share of failures by 1/2^4 of the difference. The thesis does not define the average.
const GAIN_SHIFT: u32 = 4;

/// The cost of a node's own packets.
#[derive(Debug, Default)]
pub(super) struct Effort {
    /// Backoff of the packet in service, over its attempts so far.
    backoff: Span,
    /// Backoff of the last packet that was acknowledged.
    done: Span,
    overhead_q20: u32,
    /// `None` before the first attempt.
    failed_q20: Option<u32>,
}

impl Effort {
    pub(super) fn sent(&mut self, x: &OwnExchange, radio: &Radio) {
        if x.outcome == ExchangeOutcome::Broadcast {
            return;
        }
        self.backoff = if x.attempt <= 1 { x.backoff } else { self.backoff + x.backoff };
        // With RTS, only the RTS contends: data that fail after a CTS were not hit by a sender that heard the CTS.
        let failed =
            if x.protected { x.outcome == ExchangeOutcome::NoCts } else { x.outcome == ExchangeOutcome::NoAck };
        let sample = if failed { ONE as i64 } else { 0 };
        let old = self.failed_q20.map_or(sample, i64::from);
        self.failed_q20 = Some((old + ((sample - old) >> GAIN_SHIFT)) as u32);
        if x.outcome == ExchangeOutcome::Acked {
            self.done = self.backoff;
            // Eq. 5.20, with the second DIFS and without the ACK, as printed. Without RTS/CTS one SIFS is left.
            let frames = if x.protected { radio.rts + radio.cts + radio.sifs * 2 } else { Span::ZERO };
            let between = radio.difs * 2 + radio.sifs + frames + self.backoff + x.data_time;
            let lost = u128::from((radio.difs + self.backoff).as_nanos()) << 20;
            self.overhead_q20 = lost.checked_div(u128::from(between.as_nanos())).unwrap_or(0) as u32;
        }
    }

    /// `local` with the backoff, the share of overhead and the share of failures measured here.
    pub(super) fn in_local(&self, local: Local) -> Local {
        let failed_q20 = self.failed_q20.unwrap_or(0);
        Local { backoff: self.done, overhead_q20: self.overhead_q20, failed_q20, ..local }
    }
}
