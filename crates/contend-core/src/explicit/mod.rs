//! Explicit congestion control: routers tell senders how fast to send.
//!
//! A sender writes an [`Explicit`] header into its data packets, the queues on the path change the header, the receiver
//! returns it in its acknowledgments, and the sender's controller obeys. Queues do not change acknowledgments, so the
//! return path may differ from the forward path (Barreto 2012 §5.2). Each protocol has a kind of header with its own
//! meaning of the fields.

use crate::packet::{Explicit, Packet};

pub mod rcp;
pub mod wcp;
pub mod winf;
pub mod xcp;
pub mod xcp_b;

/// XCP. `throughput` is the sender's. `change` is the change of throughput for this packet in bytes per second: the
/// sender's request, which queues lower.
pub const XCP: u8 = 1;
/// RCP. `throughput` is the rate that the path allows in bytes per second: [`UNLIMITED`] at the sender, lowered by
/// queues. `change` is not used.
pub const RCP: u8 = 2;
/// RCP's REF packet: a header without data, sent only to learn the rate. Its acknowledgment is not a duplicate.
pub const RCP_PROBE: u8 = 3;
/// WCP. `throughput` is the control interval of the path in microseconds, which queues raise. `change` holds the mark
/// for the sender and the notice of the node that sends the frame, see [`wcp`].
pub const WCP: u8 = 4;

/// The option of accurate ECN (RFC 9768 §3.2.3), which queues do not change: payload bytes that arrived with ECT(1) in
/// `rtt_us`, with CE in `throughput`, and with ECT(0) in `change`, modulo 2^24.
pub const ACCECN: u8 = 5;

/// The rate of RCP's header before any queue has lowered it.
pub const UNLIMITED: u32 = u32::MAX;

/// The explicit header of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFormat {
    /// The kind of header, 1 to 15: [`Packet::explicit_kind`].
    pub kind: u8,
    /// Its size on the air or wire in bytes, in every packet of both directions.
    pub bytes: u32,
}

/// The feedback that a receiver returns: the headers of the data packets that the next acknowledgment covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// Kind of the header; 0: nothing to return.
    kind: u8,
    header: Explicit,
}

impl Echo {
    /// A data packet with an explicit header arrived. Changes of XCP add up until they are returned
    /// (draft-falk-xcp-spec §3.3), and a mark of WCP stays. Otherwise the newest header counts.
    pub fn arrived(&mut self, p: &Packet) {
        let mut header = p.explicit;
        match (self.kind, p.explicit_kind()) {
            (XCP, XCP) => header.change = header.change.saturating_add(self.header.change),
            (WCP, WCP) => header = wcp::joined(header, self.header),
            _ => {}
        }
        *self = Echo { kind: p.explicit_kind(), header };
    }

    /// Writes the header into `ack`, an acknowledgment that is about to leave.
    #[inline]
    pub fn answer(&mut self, ack: &mut Packet) {
        if self.kind != 0 {
            ack.set_explicit(self.kind, self.header);
            *self = Echo::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, FlowId};
    use crate::time::Time;

    fn packet(kind: u8, change: i32) -> Packet {
        let mut p = Packet::new(FlowId(0), 1500, Time::ZERO, Body::Udp { seq: 0 });
        p.set_explicit(kind, Explicit { rtt_us: 1, throughput: 2, change });
        p
    }

    fn answer(headers: &[(u8, i32)]) -> (u8, i32) {
        let mut echo = Echo::default();
        headers.iter().for_each(|&(kind, change)| echo.arrived(&packet(kind, change)));
        let mut ack = packet(0, 0);
        echo.answer(&mut ack);
        let mut next = packet(0, 0);
        echo.answer(&mut next);
        assert_eq!(next.explicit_kind(), 0, "a header is returned once");
        (ack.explicit_kind(), ack.explicit.change)
    }

    #[test]
    fn changes_of_xcp_add_up_and_rates_of_rcp_do_not() {
        assert_eq!(answer(&[(XCP, 5), (XCP, -7)]), (XCP, -2));
        assert_eq!(answer(&[(XCP, i32::MAX), (XCP, 1)]), (XCP, i32::MAX));
        assert_eq!(answer(&[(RCP, 5), (RCP_PROBE, 7)]), (RCP_PROBE, 7));
        assert_eq!(answer(&[]).0, 0);
    }

    #[test]
    fn a_mark_of_wcp_stays_until_it_is_returned() {
        let mark = wcp::marked(Explicit::default()).change;
        assert_eq!(answer(&[(WCP, mark), (WCP, 0)]), (WCP, mark));
        assert_eq!(answer(&[(WCP, 0), (WCP, 0)]), (WCP, 0));
    }
}
