//! Packets as bytes: IPv4 with TCP or UDP. Addresses are made from station and flow numbers. Checksums are correct for
//! a payload of zeros.
//!
//! Station number i has 02:00:00:00:xx:xx and 10.0.x.x. The wired host of flow i has 02:00:00:01:xx:xx and 10.1.x.x.
//! Both contain the number, in hexadecimal or as bytes. From number 65,536 on, the byte above these two is the third
//! one of the MAC address, and twice that byte is added to the second one of the IP address: there are addresses for
//! eight million stations. Data go to port 50001 + flow.

use contend_core::explicit::ACCECN;
use contend_core::{Body, Flags, Packet, Segment};
use contend_experiment::results::Run;
use contend_sim::wifi::{BROADCAST, FrameKind, StationId};
use std::collections::BTreeMap;

/// A MAC address.
pub(super) type Mac = [u8; 6];

/// A station's MAC address. The address of an access point is also the BSSID of its stations.
pub(super) fn mac_of(station: StationId) -> Mac {
    if station == BROADCAST {
        return [0xff; 6];
    }
    mac(station, 0)
}

/// The MAC address of a station (`kind` 0) or of the wired host of a flow (1).
fn mac(number: u32, kind: u8) -> Mac {
    let [_, top, hi, lo] = number.to_be_bytes();
    [0x02, 0, top, kind, hi, lo]
}

/// The IP address of a station (`kind` 0) or of the wired host of a flow (1).
fn ip(number: u32, kind: u8) -> [u8; 4] {
    let [_, top, hi, lo] = number.to_be_bytes();
    [10, top << 1 | kind, hi, lo]
}

/// A station's IP address.
pub(super) fn ip_of(station: StationId) -> [u8; 4] {
    if station == BROADCAST {
        return [0xff; 4];
    }
    ip(station, 0)
}

/// What a capture shows about one flow.
#[derive(Debug, Default)]
struct FlowFacts {
    /// The stations that send and receive the flow's data; `None` is a wired host.
    ends: [Option<StationId>; 2],
    /// Size of the largest IP packet; determines the announced MSS.
    largest: u32,
    /// Window scale of the data's sender and of its receiver.
    scale: [u8; 2],
    /// True if any segment carries SACK blocks.
    sack: bool,
}

/// The ends of each flow.
#[derive(Debug, Default)]
pub(super) struct Endpoints(BTreeMap<u32, FlowFacts>);

impl Endpoints {
    /// The ends of the flows of `run`; the packets of its frames show their TCP options.
    pub(super) fn of(run: &Run) -> Endpoints {
        let mut all = Endpoints::default();
        // Behind an access point are wired hosts.
        let station = |s: StationId| Some(s).filter(|s| !run.is_ap(*s));
        for (flow, ends) in (0..).zip(&run.detail.channel.ends) {
            let ends = ends.map(|ends| ends.map(station)).unwrap_or_default();
            all.0.insert(flow, FlowFacts { ends, ..FlowFacts::default() });
        }
        let data = run.detail.frames.iter().filter(|f| f.kind == FrameKind::Data).filter_map(|f| f.packet.as_ref());
        for p in data.chain(run.detail.channel.packets.iter().map(|p| &p.packet)) {
            let facts = all.0.entry(p.flow.0).or_default();
            facts.largest = facts.largest.max(p.size);
            if let Some(s) = p.tcp() {
                let scale = &mut facts.scale[end(p, true)];
                *scale = (*scale).max(s.window_scale.min(14));
                facts.sack |= !s.sack.is_empty();
            }
        }
        all
    }
    fn station(&self, p: &Packet, source: bool) -> Option<StationId> {
        self.0.get(&p.flow.0).and_then(|f| f.ends[end(p, source)])
    }
    /// MAC address of the packet's source (`source` is true) or destination.
    pub(super) fn mac(&self, p: &Packet, source: bool) -> Mac {
        self.station(p, source).map_or_else(|| mac(p.flow.0, 1), mac_of)
    }
    fn ip(&self, p: &Packet, source: bool) -> [u8; 4] {
        self.station(p, source).map_or_else(|| ip(p.flow.0, 1), ip_of)
    }
}

/// Index of the packet's source or destination in [`FlowFacts::ends`]: 0 sends the data, 1 receives the data.
fn end(p: &Packet, source: bool) -> usize {
    usize::from(p.is_reverse() == source)
}

/// Initial sequence number of one end of a flow. Any fixed number is suitable if the two ends differ.
fn initial(flow: u32, end: usize) -> u32 {
    flow.wrapping_mul(2).wrapping_add(end as u32 + 1).wrapping_mul(0x9e37_79b1)
}

fn port(flow: u32, end: usize) -> u16 {
    // The receiver of the data listens on 50001 and above; the sender's port counts down from the top. Wireshark
    // decodes forty ports in 5001..6500 as other protocols (SIP, XMPP, ...) and would try to decode the zeros. These
    // two ranges are free.
    let flow = (flow % 4_000) as u16;
    if end == 1 { 50_001 + flow } else { 65_535 - flow }
}

/// Appends the headers of `p` and returns the length of the payload after them.
pub(super) fn write_packet(p: &Packet, ends: &Endpoints, out: &mut Vec<u8>) -> usize {
    let (src, dst) = (ends.ip(p, true), ends.ip(p, false));
    let (protocol, identification, mut transport, payload) = match &p.body {
        Body::Tcp(s) if !p.is_sealed() => (6, 0, tcp(p, s, ends), s.len as usize),
        // A tunnel over UDP; the inner packet is left out.
        Body::Tcp(_) => (17, 0, udp(p), (p.size as usize).saturating_sub(28)),
        Body::Udp { seq } => (17, *seq as u16, udp(p), (p.size as usize).saturating_sub(28)),
    };
    let length = transport.len() + payload;
    // RFC 9293 §3.1 and RFC 768: the checksum covers the pseudo header, the header and the payload. The payload is
    // zeros and adds nothing.
    let mut pseudo = [src, dst].concat();
    pseudo.extend([0, protocol]);
    pseudo.extend((length as u16).to_be_bytes());
    let at = if protocol == 6 { 16 } else { 6 };
    let sum = checksum(&[&pseudo, &transport]);
    // RFC 768: a UDP checksum of zero is sent as all ones.
    let sum = if protocol == 17 && sum == 0 { 0xffff } else { sum };
    transport[at..at + 2].copy_from_slice(&sum.to_be_bytes());

    out.extend(IpHeader { ecn: p.ecn() as u8, identification, ttl: 64, protocol, src, dst, length }.bytes());
    out.extend(transport);
    payload
}

/// An IPv4 header without options.
pub(super) struct IpHeader {
    pub(super) ecn: u8,
    pub(super) identification: u16,
    pub(super) ttl: u8,
    pub(super) protocol: u8,
    pub(super) src: [u8; 4],
    pub(super) dst: [u8; 4],
    /// Bytes after the header.
    pub(super) length: usize,
}

impl IpHeader {
    /// RFC 791 §3.1, with "don't fragment".
    pub(super) fn bytes(&self) -> [u8; 20] {
        let [length, id] = [(20 + self.length) as u16, self.identification].map(u16::to_be_bytes);
        let mut ip = [0; 20];
        ip[..2].copy_from_slice(&[0x45, self.ecn]);
        ip[2..4].copy_from_slice(&length);
        ip[4..6].copy_from_slice(&id);
        ip[6..10].copy_from_slice(&[0x40, 0, self.ttl, self.protocol]);
        ip[12..16].copy_from_slice(&self.src);
        ip[16..].copy_from_slice(&self.dst);
        let [high, low] = checksum(&[&ip]).to_be_bytes();
        (ip[10], ip[11]) = (high, low);
        ip
    }
}

fn udp(p: &Packet) -> Vec<u8> {
    let mut out = ports(p);
    out.extend((p.size.saturating_sub(20).max(8) as u16).to_be_bytes());
    out.extend([0, 0]);
    out
}

/// Source and destination port.
fn ports(p: &Packet) -> Vec<u8> {
    [end(p, true), end(p, false)].map(|e| port(p.flow.0, e).to_be_bytes()).concat()
}

fn tcp(p: &Packet, s: &Segment, ends: &Endpoints) -> Vec<u8> {
    let none = FlowFacts::default();
    let facts = ends.0.get(&p.flow.0).unwrap_or(&none);
    let theirs = initial(p.flow.0, end(p, false));
    let ack = if s.flags.has(Flags::ACK) { theirs.wrapping_add(s.ack as u32) } else { 0 };
    let syn = s.flags.has(Flags::SYN);
    let mut options = options(s, facts, syn.then(|| facts.scale[end(p, true)]), ack);
    if p.explicit_kind() == ACCECN {
        count_bytes(p, &mut options);
    }
    // The packet may have more room for options than needed: fill it with "no operation".
    let room = (p.size as usize).saturating_sub(40 + s.len as usize).min(40) / 4 * 4;
    options.resize(options.len().max(room), 1);
    // RFC 7323 §2.2: the window of a SYN is never scaled.
    let window = if syn { s.window } else { s.window >> s.window_scale.min(14) };

    let mut out = ports(p);
    out.extend(initial(p.flow.0, end(p, true)).wrapping_add(s.seq as u32).to_be_bytes());
    out.extend(ack.to_be_bytes());
    // Data offset in words, and AE.
    out.push((((20 + options.len()) / 4) << 4) as u8 | u8::from(s.flags.has(Flags::AE)));
    out.push(s.flags.0 & !Flags::AE.0);
    out.extend((window.min(65_535) as u16).to_be_bytes());
    out.extend([0, 0, 0, 0]);
    out.extend(options);
    out
}

/// TCP options, a multiple of four bytes and at most 40. `syn` is the window scale of a SYN; `None` for other segments.
fn options(s: &Segment, facts: &FlowFacts, syn: Option<u8>, ack: u32) -> Vec<u8> {
    const NOP: u8 = 1;
    let mut out = Vec::with_capacity(40);
    if let Some(scale) = syn {
        // RFC 9293 §3.7.1: the MSS does not count options.
        let mss = facts.largest.saturating_sub(40).clamp(536, 65_495) as u16;
        out.extend([2, 4]);
        out.extend(mss.to_be_bytes());
        if scale > 0 {
            out.extend([NOP, 3, 3, scale]);
        }
    }
    // "SACK permitted" replaces the padding before the timestamps, as in Linux: a SYN with all options has 60 bytes.
    let permitted = syn.is_some() && facts.sack;
    if permitted || s.timestamps {
        out.extend(if permitted { [4, 2] } else { [NOP, NOP] });
    }
    if permitted && !s.timestamps {
        out.extend([NOP, NOP]);
    }
    if s.timestamps {
        out.extend([8, 10]);
        out.extend(s.tsval.to_be_bytes());
        out.extend(s.tsecr.to_be_bytes());
    }
    // RFC 2018 §3: three blocks fit with timestamps, four without.
    let fit = (40 - out.len()).saturating_sub(4) / 8;
    let blocks = &s.sack.blocks()[..s.sack.blocks().len().min(fit)];
    if !blocks.is_empty() {
        out.extend([NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
        for (start, end) in blocks {
            out.extend(ack.wrapping_add(*start).to_be_bytes());
            out.extend(ack.wrapping_add(*end).to_be_bytes());
        }
    }
    out
}

/// Appends the option of accurate ECN with the counts of bytes, as many as `p` has room for: ECT(1) and CE, then ECT(0)
/// (RFC 9768 §3.2.3, kind 174).
fn count_bytes(p: &Packet, options: &mut Vec<u8>) {
    let room = (p.size as usize).saturating_sub(40 + options.len());
    let counts = if room >= 12 { 3 } else { 2 };
    options.extend([174, 2 + 3 * counts]);
    let all = [p.explicit.rtt_us, p.explicit.throughput, p.explicit.change as u32];
    all.iter().take(counts.into()).for_each(|n| options.extend(&n.to_be_bytes()[1..]));
    options.resize(options.len().next_multiple_of(4), 1);
}

/// The Internet checksum (RFC 1071) over `parts`; each part has an even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum: u32 = 0;
    for pair in parts.iter().flat_map(|p| p.chunks_exact(2)) {
        sum += u32::from(u16::from_be_bytes([pair[0], pair[1]]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::{FlowId, Sack, Time};
    use std::collections::BTreeSet;

    fn packet(size: u32, s: Segment) -> Packet {
        Packet::new(FlowId(0), size, Time::ZERO, Body::Tcp(s))
    }

    #[test]
    fn the_checksum_is_rfc_1071s() {
        // RFC 1071 §3, its example of eight bytes: the sum is ddf2.
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03], &[0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
    }

    #[test]
    fn each_station_and_each_host_has_addresses_of_its_own() {
        assert_eq!((mac_of(3), ip_of(3)), ([2, 0, 0, 0, 0, 3], [10, 0, 0, 3]));
        assert_eq!((mac(258, 1), ip(258, 1)), ([2, 0, 0, 1, 1, 2], [10, 1, 1, 2]));
        let numbers = || (0..300_000).step_by(7).chain([65_535, 65_536, (1 << 23) - 1]);
        let macs: BTreeSet<Mac> = numbers().flat_map(|n| [mac(n, 0), mac(n, 1)]).collect();
        let ips: BTreeSet<[u8; 4]> = numbers().flat_map(|n| [ip(n, 0), ip(n, 1)]).collect();
        let of = 2 * numbers().collect::<BTreeSet<u32>>().len();
        assert_eq!((macs.len(), ips.len()), (of, of));
    }

    #[test]
    fn headers_and_payload_fill_the_packets_size() {
        for (len, size) in [(1460, 1500), (1448, 1500), (0, 40), (0, 60)] {
            let s = Segment { len, timestamps: size == 1500 && len == 1448, flags: Flags::ACK, ..Segment::default() };
            let mut out = Vec::new();
            let payload = write_packet(&packet(size, s), &Endpoints::default(), &mut out);
            assert_eq!(out.len() + payload, size as usize);
            let mut out = Vec::new();
            let payload = write_packet(&packet(size, s).sealed(), &Endpoints::default(), &mut out);
            assert_eq!((out.len() + payload, out[9]), (size as usize, 17), "a datagram of the same size");
        }
    }

    #[test]
    fn three_blocks_fit_beside_timestamps_and_lie_above_the_acknowledgment() {
        let mut sack = Sack::NONE;
        for i in 1..5 {
            sack.push(i * 100, i * 100 + 50);
        }
        let s = Segment { sack, timestamps: true, flags: Flags::ACK, ..Segment::default() };
        let bytes = options(&s, &FlowFacts::default(), None, u32::MAX - 99);
        assert_eq!(bytes.len(), 40);
        assert_eq!(bytes[16..24], [0, 0, 0, 0, 0, 0, 0, 50], "edges wrap at 32 bits");
    }

    #[test]
    fn sequence_numbers_are_cut_to_32_bits() {
        let s = Segment { seq: 1 << 32 | 7, ..Segment::default() };
        let bytes = tcp(&packet(40, s), &s, &Endpoints::default());
        assert_eq!(bytes[4..8], initial(0, 0).wrapping_add(7).to_be_bytes());
    }
}
