//! The handshake of a sender.

use super::{Connection, Sender};
use crate::tcp::Io;
use crate::tcp::spec::{EcnEcho, Handshake};
use contend_core::{Ecn, Flags, Packet, Segment, Span, Time};

impl Sender {
    /// Sends a SYN, the first if `copy` is 0, and starts its timer.
    pub(super) fn syn(&mut self, copy: u8, io: &mut Io<'_, '_>) {
        self.connection = Connection::SynSent(copy);
        self.timer = io.now.saturating_add(self.rtt.rto());
        self.last_sent = io.now;
        // An ECN-setup SYN (RFC 3168 §6.1.1), or one that asks for accurate ECN (RFC 9768 §3.1.1).
        let flags = match self.ecn {
            EcnEcho::Off => Flags::SYN,
            EcnEcho::Latch | EcnEcho::PerPacket => Flags::SYN.with(Flags::ECE).with(Flags::CWR),
            EcnEcho::Accurate(_) => Flags::SYN.with(Flags::ACE),
        };
        let s = Segment { flags, copy, ..self.header(io.now) };
        self.emit(self.format.syn, io.now, Ecn::NotEct, s, io);
    }

    /// Reads from the flags of the SYN-ACK which ECN the other end has.
    fn agree(&mut self, flags: Flags) {
        self.ecn = match (self.ecn, flags.ace()) {
            // RFC 9768 §3.1.2, table 2: the other end has classic ECN only. ECT(1) needs a count of marks (RFC 9331
            // §4.2), so a sender of ECT(1) then sends without ECN.
            (EcnEcho::Accurate(_), 0b001 | 0b101) if self.ect.0 != Ecn::Ect1 => EcnEcho::Latch,
            (EcnEcho::Accurate(_), 0b000 | 0b001 | 0b101 | 0b111) => EcnEcho::Off,
            (EcnEcho::Accurate(how), _) => EcnEcho::Accurate(how),
            // RFC 3168 §6.1.1: without an ECN-setup SYN-ACK, no packet is ECN-capable.
            _ if !flags.has(Flags::ECE) || flags.has(Flags::CWR) => EcnEcho::Off,
            (classic, _) => classic,
        };
        if !matches!(self.ecn, EcnEcho::Accurate(_)) {
            self.accurate = None;
        }
    }

    /// Takes the SYN-ACK `s`, which came in `p`. The SYN was sent again `copies` times.
    pub(super) fn established(&mut self, copies: u8, p: &Packet, s: &Segment, io: &mut Io<'_, '_>) {
        self.connection = Connection::Established;
        self.timer = Time::NEVER;
        // The answer to an opening segment carries no window in ns-2. If it set one, the next ACK would change it, and
        // so be no duplicate (RFC 5681 §2).
        if self.handshake == Handshake::Tcp {
            self.advertised(s.window);
        }
        self.agree(s.flags);
        if copies == 0 {
            self.sample(io.now.since(self.last_sent), io.now, s);
        } else if self.handshake == Handshake::Segment {
            // The threshold after a timeout of one segment (RFC 5681 eq. 4). The timeout stays backed off (Karn).
            (self.w.cwnd, self.w.ssthresh) = (1, 2);
        } else {
            // RFC 5681 §3.1: after a lost SYN the initial window is one segment. RFC 6298 §5.7: the timeout is then 3
            // s.
            self.w.cwnd = 1;
            self.rtt.restart(Span::from_secs(3));
        }
        if p.explicit_kind() != 0 {
            self.allowed(p, io.now);
        }
        if self.handshake == Handshake::Tcp {
            self.control(1, io);
        }
        self.transmit(io);
    }
}
