//! Messages of stations to each other as bytes: ARP by RFC 826, AODV by RFC 3561 in UDP to port 654. Other messages,
//! and AODV's if ns-2's sizes leave no room for a UDP header, are the bytes of the simulator in IP with protocol 253
//! (for experiments, RFC 3692). Stations in messages have their IP addresses.

use super::flow_bytes::{IpHeader, ip_of, mac_of};
use contend_sim::routing::arp::ArpMessage;
use contend_sim::wifi::{StationId, StationMessage};

/// The EtherTypes of IPv4 and ARP.
const IP: [u8; 2] = [0x08, 0x00];
const ARP: [u8; 2] = [0x08, 0x06];
const UDP: u8 = 17;
const EXPERIMENT: u8 = 253;
/// AODV's port.
const AODV: u16 = 654;

/// Appends the EtherType and the bytes of a message, `size` bytes without the type, from `from` to `to`.
pub(super) fn write_message(
    StationMessage { kind, bytes: m }: &StationMessage,
    (from, to): (StationId, StationId),
    size: usize,
    out: &mut Vec<u8>,
) {
    let start = out.len() + IP.len();
    match (*kind, ArpMessage::read(m, StationId::MAX)) {
        ("arp", Ok(arp)) => {
            out.extend(ARP);
            // RFC 826: Ethernet, IPv4, the lengths of their addresses.
            out.extend([0, 1, 8, 0, 6, 4, 0, if arp.is_question { 1 } else { 2 }]);
            out.extend(mac_of(arp.sender));
            out.extend(ip_of(arp.sender));
            out.extend(if arp.is_question { [0; 6] } else { mac_of(arp.target) });
            out.extend(ip_of(arp.target));
        }
        _ => {
            out.extend(IP);
            let aodv = aodv(kind, m);
            let (ttl, udp) = (aodv.as_ref().map_or(1, |(ttl, _)| *ttl), aodv.filter(|(_, m)| 28 + m.len() <= size));
            let protocol = if udp.is_some() { UDP } else { EXPERIMENT };
            let (src, dst, length) = (ip_of(from), ip_of(to), size.saturating_sub(20));
            out.extend(IpHeader { ecn: 0, identification: 0, ttl, protocol, src, dst, length }.bytes());
            match udp {
                Some((_, m)) => {
                    // RFC 768; a checksum of zero: none.
                    out.extend([AODV, AODV, length as u16, 0].into_iter().flat_map(u16::to_be_bytes));
                    out.extend(m);
                }
                None => out.extend(m),
            }
        }
    }
    // The simulator may write fewer or more bytes than count on the air.
    out.resize(start + size, 0);
}

/// TTL and message of AODV, with IP addresses in place of numbers; `None` if it is no message of AODV.
fn aodv(kind: &str, m: &[u8]) -> Option<(u8, Vec<u8>)> {
    let (&ttl, message) = m.split_first()?;
    let mut message = message.to_vec();
    // RFC 3561 §5.1-5.3: where the addresses are.
    let places: Vec<usize> = match kind {
        "rreq" => vec![8, 16],
        "rrep" | "hello" => vec![4, 12],
        "rerr" => (4..message.len()).step_by(8).collect(),
        _ => return None,
    };
    for at in places {
        let word: &mut [u8; 4] = message.get_mut(at..)?.first_chunk_mut()?;
        *word = ip_of(StationId::from_be_bytes(*word));
    }
    Some((ttl, message))
}
