//! What hosts may send, whatever it is: every packet enters or is refused with a reason, and the network carries on.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contend_core::{Span, Time};
use contend_emu::border::Border;
use contend_emu::bytes::Refused;
use contend_emu::plan::Plan;
use contend_lab::reading::file::{Overlay, parse};
use contend_sim::net::Net;
use proptest::prelude::*;

/// A network with everything that reads or changes headers: FCWA, an ACK filter and FQ-CoDel.
const FILE: &str = include_str!("../../../fuzz/fuzz_targets/packets.toml");

fn network() -> (Net, Border) {
    of_file(FILE, false)
}

/// The network of a file. `l4s`: its senders are for L4S, as `prague` is, which few kernels have.
fn of_file(text: &str, l4s: bool) -> (Net, Border) {
    let e = parse("two.toml", text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let resolved = e.scenario(&e.points[0], &Overlay::default()).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let mut plan = Plan::new(&resolved.scenario, &resolved.members).unwrap();
    plan.flows.iter_mut().for_each(|f| f.l4s = l4s);
    plan.hosts.iter_mut().for_each(|h| h.l4s = l4s);
    let net = Net::with_outside(&resolved.scenario, &plan.outside).unwrap();
    let border = Border::new(&plan, &net);
    (net, border)
}

/// A packet of host `from` to host `to`, as a kernel would write it; `body` is what follows the IP header.
fn ipv4(from: u8, to: u8, protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut b = vec![0x45, 0];
    b.extend((20 + body.len() as u16).to_be_bytes());
    b.extend([0, 1, 0, 0, 64, protocol, 0, 0, 10, 77, 0, from + 1, 10, 77, 0, to + 1]);
    b.extend(body);
    b
}

/// A TCP segment with any numbers, options and flags, to a port of the file or another.
fn tcp() -> impl Strategy<Value = Vec<u8>> {
    let options = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..10),
        Just(vec![1, 1, 8]),
        Just(vec![2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 14]),
        Just(vec![1, 1, 5, 34]),
        Just([&[1, 1, 5, 26][..], &[0xff; 24]].concat()),
        Just(vec![3, 0, 0, 0]),
    ];
    let port = prop_oneof![Just(20_000_u16), Just(20_001), any::<u16>()];
    (port.clone(), port, any::<[u32; 2]>(), any::<[u16; 2]>(), options, 0..1500_usize).prop_map(
        |(sport, dport, [seq, ack], [flags, window], options, payload)| {
            let words = options.len().div_ceil(4);
            let mut b = [sport.to_be_bytes(), dport.to_be_bytes()].concat();
            b.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
            b.extend([(5 + words as u8) << 4, flags as u8]);
            b.extend(window.to_be_bytes());
            b.extend([0; 4]);
            b.extend(options);
            b.resize(20 + 4 * words + payload, 0);
            b
        },
    )
}

/// What a TUN device may give: a packet, perhaps with some bytes changed or cut off, or any bytes.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        4 => (Just(6_u8), tcp()),
        1 => (Just(17), prop::collection::vec(any::<u8>(), 0..300)),
        1 => (any::<u8>(), prop::collection::vec(any::<u8>(), 0..60)),
    ];
    let sound = (0..4_u8, 0..4_u8, body).prop_map(|(from, to, (protocol, body))| ipv4(from, to, protocol, &body));
    let corrupted = (sound.clone(), prop::collection::vec((0..60_usize, any::<u8>()), 1..4), 0..80_usize).prop_map(
        |(mut b, changed, cut)| {
            for (at, value) in changed {
                b.get_mut(at).into_iter().for_each(|byte| *byte = value);
            }
            b.truncate(b.len().saturating_sub(cut));
            b
        },
    );
    let v6 = prop::collection::vec(any::<u8>(), 39..2000).prop_map(|rest| [&[0x60], &rest[..]].concat());
    let jumbo = (1501..9000_usize).prop_map(|n| ipv4(0, 1, 17, &vec![0; n - 20]));
    let fragment = (sound.clone(), 1..0x3fff_u16).prop_map(|(mut b, bits)| {
        b[6..8].copy_from_slice(&bits.to_be_bytes());
        b
    });
    prop_oneof![
        6 => sound,
        3 => corrupted,
        1 => v6,
        1 => jumbo,
        1 => fragment,
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_packet_of_a_host_enters_or_is_refused_and_counted(
        packets in prop::collection::vec((0..4_usize, packet(), 0..20_000_u64), 1..200),
    ) {
        let (mut net, mut border) = network();
        let (mut now, mut left) = (Time::ZERO, Vec::new());
        for (from, b, us) in &packets {
            now += Span::from_micros(*us);
            let before = border.tally.clone();
            match border.enter(&mut net, now, *from, b, b.len()) {
                Ok(()) => prop_assert_eq!(border.tally.entered, before.entered + 1),
                Err(why) => prop_assert_eq!(border.tally.refused[why as usize], before.refused[why as usize] + 1),
            }
            net.take_left(&mut left);
            for (_, p) in &left {
                if let Some(host) = border.leave(p) {
                    // What leaves can be read, and goes to the host of its address.
                    let bytes = border.packet();
                    let h = contend_emu::bytes::read(bytes, bytes.len()).unwrap();
                    prop_assert_eq!(h.dst.octets(), [10, 77, 0, host as u8 + 1]);
                }
            }
        }
        let refused: u64 = border.tally.refused.iter().sum();
        prop_assert_eq!(border.tally.entered + refused, packets.len() as u64);
        prop_assert_eq!(border.tally.overwritten, 0);
        net.run_until(now + Span::from_secs(1));
        let opened = border.opened(&mut net);
        let flows: u64 = opened.iter().map(|o| o.connections).sum();
        prop_assert!(flows <= border.tally.entered);
    }
}

#[test]
fn ipv6_jumbo_packets_and_fragments_have_their_own_counts() {
    let (mut net, mut border) = network();
    let mut v6 = vec![0; 60];
    v6[0] = 0x60;
    let mut fragment = ipv4(0, 1, 17, &[0; 100]);
    fragment[6] = 0x20;
    let jumbo = ipv4(0, 1, 17, &[0; 3000]);
    for b in [&v6, &jumbo, &fragment, &fragment] {
        border.enter(&mut net, Time::ZERO, 0, b, b.len()).unwrap_err();
    }
    let of = |why: Refused| border.tally.refused[why as usize];
    assert_eq!([of(Refused::NotIpv4), of(Refused::TooLong), of(Refused::Fragment)], [1, 1, 2]);
}

#[test]
fn what_programs_open_is_told_by_service_in_both_directions() {
    let (mut net, mut border) = network();
    let mut left = Vec::new();
    let datagram = |ports: [u16; 2], n: usize| {
        let mut b = [ports[0].to_be_bytes(), ports[1].to_be_bytes(), (8 + n as u16).to_be_bytes(), [0; 2]].concat();
        b.resize(8 + n, 0);
        b
    };
    // Two questions of the second host to port 53 of the first, from different ports, and one answer of 500 bytes.
    for (from, ports, n) in [(1, [4000, 53], 100), (1, [4001, 53], 100), (0, [53, 4000], 500)] {
        let b = ipv4(from, 1 - from, 17, &datagram(ports, n));
        let now = net.world.now() + Span::from_millis(50);
        border.enter(&mut net, now, from.into(), &b, b.len()).unwrap();
    }
    let end = net.world.now() + Span::from_millis(50);
    net.run_until(end);
    net.take_left(&mut left);
    assert_eq!(left.len(), 3);
    let opened = border.opened(&mut net);
    let [row] = &opened[..] else { panic!("{opened:?}") };
    assert_eq!((row.protocol.as_str(), row.port, row.connections), ("udp", 53, 2));
    assert_eq!((row.there.bytes, row.back.bytes), (200, 500));
    // A wire of 1 ms, and a frame of less than one.
    assert!((0.001..0.002).contains(&row.back.delay_s.p50.unwrap()), "{row:?}");
}

/// RFC 9331 §4.1: ECT(1) is for connections whose ends count marks. What they negotiated is in the ACE bits of SYN-ACKs
/// (RFC 9768, table 2).
#[test]
fn data_for_l4s_carry_ect_1_once_accurate_ecn_is_negotiated() {
    /// A segment without options: ECN field, ports, flags with AE as bit 8, payload.
    fn segment(from: u8, to: u8, ecn: u8, ports: [u16; 2], seq: u32, flags: u16, payload: usize) -> Vec<u8> {
        let mut body = [ports[0].to_be_bytes(), ports[1].to_be_bytes()].concat();
        body.extend([seq.to_be_bytes(), 1_u32.to_be_bytes()].concat());
        body.extend((5_u16 << 12 | flags).to_be_bytes());
        body.extend([0xff, 0xff, 0, 0, 0, 0]);
        body.resize(20 + payload, 0);
        let mut b = ipv4(from, to, 6, &body);
        b[1] = ecn;
        b
    }
    const SYN: u16 = 0x02;
    const ACK: u16 = 0x10;
    const ACE_111: u16 = 0x1c0;
    const ACE_011: u16 = 0x0c0;
    const ACE_001: u16 = 0x040;
    /// The ECN fields of five packets of a connection as they arrive, whose SYN-ACK has `answer`.
    fn arrive(l4s: bool, port: u16, answer: u16) -> Vec<u8> {
        const FILE: &str = "duration = \"1s\"\n[wifi]\nstandard = \"802.11g\"\n[[flow]]\nname = \"data\"\n\
            from = \"server\"\nto = \"station\"\ntcp = \"reno\"\n";
        let (mut net, mut border) = of_file(FILE, l4s);
        let (there, back) = ([40_000, port], [port, 40_000]);
        let packets = [
            (0, segment(0, 1, 0, there, 0, SYN | ACE_111, 0)),
            (1, segment(1, 0, 0, back, 0, SYN | ACK | answer, 0)),
            (0, segment(0, 1, 2, there, 1, ACK, 1000)),
            (0, segment(0, 1, 0, there, 1001, ACK, 1000)),
            (1, segment(1, 0, 2, back, 1, ACK, 0)),
        ];
        let (mut left, mut seen) = (Vec::new(), Vec::new());
        for (i, (from, b)) in packets.iter().enumerate() {
            let at = Time::ZERO + Span::from_millis(50) * (i as u64 + 1);
            border.enter(&mut net, at, *from, b, b.len()).unwrap();
            net.run_until(at + Span::from_millis(49));
            net.take_left(&mut left);
            for (_, p) in &left {
                border.leave(p).unwrap();
                seen.push(border.packet()[1] & 3);
            }
        }
        seen
    }
    assert_eq!(arrive(true, 20_000, ACE_011), [0, 0, 1, 0, 2]);
    // The answer of classic ECN; a flow that is not for L4S.
    assert_eq!(arrive(true, 20_000, ACE_001), [0, 0, 2, 0, 2]);
    assert_eq!(arrive(false, 20_000, ACE_011), [0, 0, 2, 0, 2]);
    // What programs open, in both directions.
    assert_eq!(arrive(true, 80, ACE_011), [0, 0, 1, 0, 1]);
}

#[test]
fn accurate_ecn_is_refused_for_a_controller_that_does_not_ask_for_it() {
    let text = "duration = \"1s\"\n[wifi]\nstandard = \"802.11g\"\n[[flow]]\nname = \"data\"\nfrom = \"server\"\n\
        to = \"station\"\ntcp = { kind = \"reno\", echo = \"accurate\" }\n";
    let e = parse("f.toml", text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let resolved = e.scenario(&e.points[0], &Overlay::default()).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let error = Plan::new(&resolved.scenario, &resolved.members).unwrap_err();
    assert!(error.what.contains("flow data") && error.remedy.contains("latch"), "{error}");
}
