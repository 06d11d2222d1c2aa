//! Which flow a real packet belongs to, and its headers as the simulator has them.
//!
//! A flow of the file is known by the host and port of its receiver. Every other pair of ports opens a flow of its own;
//! its number is used again after it has closed.

use crate::bytes::{Headers, Refused, Tcp};
use contend_core::packet::{Flags, Sack};
use contend_core::{Address, Body, FlowId, Packet, Segment, Span, Time};
use contend_sim::net::addresses;
use std::collections::BTreeMap;

/// The most flows, beside those of the file, that are open at the same time.
pub const MOST: usize = 4096;
/// A flow without packets for this long is closed.
const IDLE: Span = Span::from_secs(60);
/// A connection that both ends have closed is kept for this long, for its last acknowledgments.
const CLOSING: Span = Span::from_secs(1);
/// How many flows are looked at, to find one that is closed, when another one opens. Two are enough: the search goes
/// round before the number of flows has doubled.
const LOOKS: usize = 2;
/// RST (RFC 9293 §3.1).
const RST: Flags = Flags(0x04);

/// A flow of the file whose ends are hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its number.
    pub flow: u32,
    /// The host that sends its data.
    pub from: usize,
    /// The host that receives them.
    pub to: usize,
    /// The receiver's port.
    pub port: u16,
    /// Protocol number.
    pub protocol: u8,
    /// True if nobody on the path may read its segments.
    pub sealed: bool,
    /// True if its data carry ECT(1).
    pub l4s: bool,
    /// The largest window that its receiver may advertise, in bytes.
    pub window: u32,
}

/// What the flows that a host opens have in common: protocol, both hosts, and the port that they go to (0: the protocol
/// has none).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Opening {
    /// Protocol number.
    pub protocol: u8,
    /// The host that opened them.
    pub from: usize,
    /// The other host.
    pub to: usize,
    /// Its port.
    pub port: u16,
}

/// The ends of a flow: hosts and ports, the host with the smaller number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    protocol: u8,
    ends: [(usize, u16); 2],
}

/// All flows that hosts have opened.
#[derive(Debug)]
pub struct Ties {
    known: Vec<Known>,
    /// Known flows by protocol, receiver and port.
    served: BTreeMap<(u8, usize, u16), usize>,
    known_states: Vec<Tie>,
    open: BTreeMap<Key, usize>,
    /// By number, beginning after the flows of the file.
    slots: Vec<(Key, Tie)>,
    /// Where the search for a closed flow goes on.
    cursor: usize,
    /// Number of flows of the file.
    first: u32,
    /// The address of the first host.
    hosts: Address,
}

/// What is known of a flow.
#[derive(Clone, Debug, Default)]
struct Tie {
    /// From the first end to the second, and back.
    ways: [Way; 2],
    last: Time,
    /// When it was closed.
    closed: Option<Time>,
    /// The way of the packet that opened it.
    opener: usize,
    /// True if it has negotiated accurate ECN.
    accurate: bool,
}

/// One direction of a flow.
#[derive(Clone, Debug, Default)]
struct Way {
    /// The sequence number of the SYN.
    base: Option<u32>,
    /// The byte after the last one sent.
    next: u64,
    /// Shift of the sender's window scale option.
    scale: Option<u8>,
    /// How often the segments that were retransmitted were repeated, by first byte, from the last acknowledgment on.
    copies: BTreeMap<u64, u8>,
    /// Payload bytes sent.
    carried: u64,
    /// Datagrams sent.
    datagrams: u64,
    /// The bytes of the last acknowledgment sent.
    acknowledgment: u32,
    fin: bool,
}

/// A packet for the simulator, without payload number.
#[derive(Clone, Copy, Debug)]
pub struct Tied {
    /// The packet.
    pub packet: Packet,
    /// True if it opened a flow whose number may have been used before.
    pub opened: bool,
    /// True if its connection has negotiated accurate ECN.
    pub accurate: bool,
    /// Whether the file has it carry ECT(1); `None` if it is of no flow of the file.
    pub l4s: Option<bool>,
}

impl Ties {
    /// No flow is open. The file has `flows` flows; those in `known` may be opened by hosts. `hosts` is the address of
    /// the first host.
    pub fn new(flows: usize, known: Vec<Known>, hosts: Address) -> Ties {
        let served = known.iter().enumerate().map(|(i, k)| ((k.protocol, k.to, k.port), i)).collect();
        Ties {
            served,
            known_states: vec![Tie::default(); known.len()],
            known,
            open: BTreeMap::new(),
            slots: Vec::new(),
            cursor: 0,
            first: flows as u32,
            hosts,
        }
    }

    /// Which host opened `flow`, and for what; `None` if it is a flow of the file.
    pub fn opening(&self, flow: FlowId) -> Option<Opening> {
        let (key, tie) = self.slots.get(flow.0.checked_sub(self.first)? as usize)?;
        let [(from, _), (to, port)] = if tie.opener == 0 { key.ends } else { [key.ends[1], key.ends[0]] };
        Some(Opening { protocol: key.protocol, from, to, port: if matches!(key.protocol, 6 | 17) { port } else { 0 } })
    }

    /// Number of flows, beside those of the file, that were ever open at the same time.
    pub fn most_open(&self) -> usize {
        self.slots.len()
    }

    /// The packet with headers `h` that host `from` sends to host `to` at `now`.
    ///
    /// # Errors
    /// [`Refused::Flows`] when too many flows are open.
    pub fn packet(&mut self, now: Time, from: usize, to: usize, h: &Headers) -> Result<Tied, Refused> {
        let [sport, dport] = h.ports;
        let served = |at, port, peer| {
            let i = *self.served.get(&(h.protocol, at, port))?;
            self.known.get(i).filter(|k| k.from == peer).map(|_| i)
        };
        let known = match (served(to, dport, from), served(from, sport, to)) {
            (Some(i), _) => Some((i, 0)),
            (None, Some(i)) => Some((i, 1)),
            (None, None) => None,
        };
        if let Some((i, way)) = known {
            let (k, tie) = (self.known[i], &mut self.known_states[i]);
            let [a, b] = addresses(k.flow as usize);
            let (src, dst) = if way == 0 { (a, b) } else { (b, a) };
            let mut packet = tie.packet(now, FlowId(k.flow), way, h).between(src, dst);
            if way == 1 {
                packet.set_reverse();
            }
            packet.set_sealed(k.sealed);
            return Ok(Tied { packet, opened: false, accurate: tie.accurate, l4s: Some(k.l4s && way == 0) });
        }
        let (a, b) = ((from, sport), (to, dport));
        let way = usize::from(a > b);
        let key = Key { protocol: h.protocol, ends: if way == 0 { [a, b] } else { [b, a] } };
        let (slot, opened) = match self.open.get(&key) {
            Some(&slot) => (slot, false),
            None => (self.open(now, key, way).ok_or(Refused::Flows)?, true),
        };
        let tie = &mut self.slots[slot].1;
        let host = |i: usize| Address(self.hosts.0 + i as u32);
        let flow = FlowId(self.first + slot as u32);
        let mut packet = tie.packet(now, flow, way, h).between(host(from), host(to));
        // The data direction is the one that has carried more.
        let [with, against] = [tie.ways[way].carried, tie.ways[1 - way].carried];
        if with < against || with == against && way != tie.opener {
            packet.set_reverse();
        }
        Ok(Tied { packet, opened, accurate: tie.accurate, l4s: None })
    }

    /// The bytes of the last acknowledgment that the sender of `p` sent, for one that the network made.
    pub fn acknowledgment_like(&self, p: &Packet) -> Option<u32> {
        let tie = match p.flow.0.checked_sub(self.first) {
            Some(slot) => &self.slots.get(slot as usize)?.1,
            None => &self.known_states[self.known.iter().position(|k| k.flow == p.flow.0)?],
        };
        Some(tie.ways[usize::from(p.src > p.dst)].acknowledgment).filter(|number| *number != 0)
    }

    /// The acknowledgment `p` of its sender has the payload `number`.
    pub fn keep_acknowledgment(&mut self, p: &Packet, number: u32) {
        let tie = match p.flow.0.checked_sub(self.first) {
            Some(slot) => self.slots.get_mut(slot as usize).map(|(_, tie)| tie),
            None => self.known.iter().position(|k| k.flow == p.flow.0).map(|i| &mut self.known_states[i]),
        };
        if let Some(tie) = tie {
            tie.ways[usize::from(p.src > p.dst)].acknowledgment = number;
        }
    }

    /// A number for the flow `key`; `None` if all are in use.
    fn open(&mut self, now: Time, key: Key, opener: usize) -> Option<usize> {
        let tie = Tie { last: now, opener, ..Tie::default() };
        let slot = match self.closed(now) {
            Some(slot) => {
                self.open.remove(&self.slots[slot].0);
                self.slots[slot] = (key, tie);
                slot
            }
            None if self.slots.len() < MOST => {
                self.slots.push((key, tie));
                self.slots.len() - 1
            }
            None => return None,
        };
        self.open.insert(key, slot);
        Some(slot)
    }

    /// The number of a flow that has closed. While there may be more, only a few are looked at.
    fn closed(&mut self, now: Time) -> Option<usize> {
        let all = self.slots.len();
        let looks = if all < MOST { LOOKS.min(all) } else { all };
        for _ in 0..looks {
            let slot = self.cursor % all;
            self.cursor = slot + 1;
            if self.slots[slot].1.is_over(now) {
                return Some(slot);
            }
        }
        None
    }
}

impl Tie {
    /// True if no further packet is expected.
    fn is_over(&self, now: Time) -> bool {
        self.closed.is_some_and(|at| now.since(at) >= CLOSING) || now.since(self.last) >= IDLE
    }

    fn packet(&mut self, now: Time, flow: FlowId, way: usize, h: &Headers) -> Packet {
        self.last = now;
        let body = match &h.tcp {
            Some(tcp) => Body::Tcp(self.segment(now, way, tcp)),
            None => {
                let seq = self.ways[way].datagrams;
                self.ways[way].datagrams += 1;
                self.ways[way].carried += u64::from(h.size);
                Body::Udp { seq }
            }
        };
        Packet::new(flow, h.size, now, body).with_ecn(h.ecn).with_dscp(h.dscp)
    }

    fn segment(&mut self, now: Time, way: usize, tcp: &Tcp) -> Segment {
        let (syn, acks) = (tcp.flags.has(Flags::SYN), tcp.flags.has(Flags::ACK));
        if syn && !acks && self.ways[way].base.is_some_and(|base| base != tcp.seq) {
            // A new connection with the same ports.
            *self = Tie { last: now, opener: way, ..Tie::default() };
        }
        if syn && acks {
            // RFC 9768, table 2: the other answers are of classic ECN, of none, or a SYN's own flags come back.
            self.accurate = matches!(tcp.flags.ace(), 0b010 | 0b011 | 0b100 | 0b110);
        }
        let [with, against] = {
            let [a, b] = &mut self.ways;
            if way == 0 { [a, b] } else { [b, a] }
        };
        if syn {
            with.base = Some(tcp.seq);
            with.scale = tcp.window_scale;
        }
        // Without its SYN, a connection begins at its first segment.
        let base = *with.base.get_or_insert(tcp.seq.wrapping_sub(1));
        let seq = unwrap(tcp.seq.wrapping_sub(base), with.next);
        let ack = if acks {
            let base = *against.base.get_or_insert(tcp.ack.wrapping_sub(1));
            unwrap(tcp.ack.wrapping_sub(base), against.next)
        } else {
            0
        };
        // RFC 7323 §2.3: windows are scaled if both SYNs have the option; those of SYNs are not.
        let window_scale = if syn { 0 } else { with.scale.filter(|_| against.scale.is_some()).unwrap_or(0) };
        let mut sack = Sack::NONE;
        for [start, end] in tcp.sack.iter().take(usize::from(tcp.blocks)) {
            sack.push(start.wrapping_sub(tcp.ack), end.wrapping_sub(tcp.ack));
        }
        let end = seq + u64::from(tcp.len);
        let copy = if tcp.len > 0 && end <= with.next {
            let copy = with.copies.entry(seq).or_default();
            *copy = copy.saturating_add(1);
            *copy
        } else {
            0
        };
        with.next = with.next.max(end + u64::from(syn));
        with.carried += u64::from(tcp.len);
        if acks {
            against.copies = against.copies.split_off(&ack);
        }
        with.fin |= tcp.flags.has(Flags::FIN);
        if tcp.flags.has(RST) || with.fin && against.fin {
            self.closed = Some(now);
        }
        let [tsval, tsecr] = tcp.timestamps.unwrap_or_default();
        Segment {
            seq,
            ack,
            len: tcp.len,
            window: u32::from(tcp.window) << window_scale,
            tsval,
            tsecr,
            sack,
            flags: tcp.flags,
            window_scale,
            timestamps: tcp.timestamps.is_some(),
            copy,
        }
    }
}

/// The 64-bit number that is `low` modulo 2^32 and nearest to `near`.
fn unwrap(low: u32, near: u64) -> u64 {
    let distance = low.wrapping_sub(near as u32) as i32;
    near.checked_add_signed(i64::from(distance)).unwrap_or(u64::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::packet::Ecn;

    fn headers(ports: [u16; 2], tcp: Tcp) -> Headers {
        let [src, dst] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Into::into);
        Headers { src, dst, size: 40 + tcp.len, ecn: Ecn::NotEct, dscp: 8, protocol: 6, ports, tcp: Some(tcp) }
    }

    fn tcp(seq: u32, ack: u32, len: u32, flags: u8) -> Tcp {
        Tcp { seq, ack, len, window: 100, flags: Flags(flags), ..Tcp::default() }
    }

    fn ties() -> Ties {
        let known =
            Known { flow: 1, from: 0, to: 1, port: 5001, protocol: 6, sealed: false, l4s: false, window: 65_535 };
        Ties::new(2, vec![known], Address(4))
    }

    #[test]
    fn numbers_are_unwrapped_from_the_syn_across_the_end_of_32_bits() {
        let mut t = ties();
        let syn = Tcp { window_scale: Some(7), ..tcp(u32::MAX - 2, 0, 0, 0x02) };
        let mut send = |from: usize, h: Headers| t.packet(Time::ZERO, from, 1 - from, &h).unwrap().packet;
        let p = send(0, headers([40_000, 5001], syn));
        let s = *p.segment().unwrap();
        assert_eq!((p.flow, p.src, p.dst, p.is_reverse()), (FlowId(1), Address(2), Address(3), false));
        assert_eq!((s.seq, s.window, p.dscp), (0, 100, 8));
        let p = send(1, headers([5001, 40_000], Tcp { window_scale: Some(2), ..tcp(9, u32::MAX - 1, 0, 0x12) }));
        assert_eq!((p.is_reverse(), p.segment().unwrap().seq, p.segment().unwrap().ack), (true, 0, 1));
        let s = *send(0, headers([40_000, 5001], tcp(u32::MAX - 1, 10, 1000, 0x10))).segment().unwrap();
        assert_eq!((s.seq, s.ack, s.window, s.copy), (1, 1, 100 << 7, 0));
        let s = *send(0, headers([40_000, 5001], tcp(998, 10, 1000, 0x10))).segment().unwrap();
        assert_eq!((s.seq, s.copy), (1001, 0));
        let s = *send(0, headers([40_000, 5001], tcp(u32::MAX - 1, 10, 1000, 0x10))).segment().unwrap();
        assert_eq!((s.seq, s.copy), (1, 1));
        let ack = Tcp { blocks: 1, sack: [[1998, 2998], [0; 2], [0; 2], [0; 2]], ..tcp(10, 998, 0, 0x10) };
        let s = *send(1, headers([5001, 40_000], ack)).segment().unwrap();
        assert_eq!((s.ack, s.window, s.sack.blocks()), (1001, 400, &[(1000, 2000)][..]));
    }

    #[test]
    fn other_ports_open_flows_of_their_own_and_data_decide_the_direction() {
        let mut t = ties();
        let mut send = |from: usize, h: Headers| t.packet(Time::ZERO, from, 1 - from, &h).unwrap();
        let syn = send(1, headers([50, 80], tcp(0, 0, 0, 0x02)));
        assert_eq!((syn.packet.flow, syn.opened, syn.packet.is_reverse()), (FlowId(2), true, false));
        assert_eq!((syn.packet.src, syn.packet.dst), (Address(5), Address(4)));
        let answer = send(0, headers([80, 50], tcp(0, 1, 0, 0x12)));
        assert_eq!((answer.packet.flow, answer.opened, answer.packet.is_reverse()), (FlowId(2), false, true));
        assert!(!send(1, headers([50, 80], tcp(1, 1, 100, 0x18))).packet.is_reverse());
        assert!(!send(0, headers([80, 50], tcp(1, 101, 1000, 0x18))).packet.is_reverse());
        assert!(send(1, headers([50, 80], tcp(101, 1001, 0, 0x10))).packet.is_reverse());
        assert_eq!(send(1, headers([51, 80], tcp(0, 0, 0, 0x02))).packet.flow, FlowId(3));
    }

    #[test]
    fn numbers_of_closed_flows_are_used_again_and_too_many_open_ones_are_refused() {
        let mut t = ties();
        let open = |t: &mut Ties, now, port| {
            t.packet(now, 0, 1, &headers([port, 80], tcp(0, 0, 0, 0x02))).map(|t| t.packet.flow.0)
        };
        for port in 0..MOST as u16 {
            assert_eq!(open(&mut t, Time::ZERO, port), Ok(2 + u32::from(port)));
        }
        assert_eq!(open(&mut t, Time::ZERO, 9000), Err(Refused::Flows));
        t.packet(Time::ZERO, 0, 1, &headers([77, 80], tcp(1, 0, 0, 0x04))).unwrap();
        assert_eq!(open(&mut t, Time::ZERO + Span::from_millis(999), 9000), Err(Refused::Flows));
        assert_eq!(open(&mut t, Time::ZERO + CLOSING, 9000), Ok(2 + 77));
        assert_eq!(open(&mut t, Time::ZERO + CLOSING, 9001), Err(Refused::Flows));
        assert_eq!(open(&mut t, Time::ZERO + IDLE, 9001), Ok(2 + 78));
        assert_eq!(t.most_open(), MOST);
    }

    /// Ten pings a second for ten minutes: 600 are younger than a minute.
    #[test]
    fn short_flows_need_no_more_numbers_than_are_open() {
        let mut t = ties();
        for n in 0..6000_u16 {
            let now = Time::ZERO + Span::from_millis(100) * u64::from(n);
            t.packet(now, 0, 1, &Headers { protocol: 1, tcp: None, ..headers([n, n], tcp(0, 0, 0, 0)) }).unwrap();
        }
        assert!((600..=1200).contains(&t.most_open()), "{}", t.most_open());
    }

    #[test]
    fn the_nearest_number_is_taken() {
        assert_eq!(unwrap(5, 0), 5);
        assert_eq!(unwrap(u32::MAX, 1 << 32), (1 << 32) - 1);
        assert_eq!(unwrap(3, (1 << 32) - 1), (1 << 32) + 3);
        assert_eq!(unwrap(u32::MAX, 0), u64::from(u32::MAX));
    }
}
