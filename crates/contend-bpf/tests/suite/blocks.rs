//! The tc programs decide as the Rust blocks do, packet by packet, in the kernel's test runs.

use crate::common::{PlainLink, defaults};
use crate::skip;
use contend_bpf::block::Block;
use contend_bpf::tc;
use contend_core::ap::{self, Facts, Pass, Side};
use contend_core::packet::Ecn;
use contend_core::qdisc::{self, Site};
use contend_core::registry::{Amount, Value, find};
use contend_core::{Body, Cx, Flags, FlowId, Packet, Rng, Segment, Span, Time};
use libbpf_rs::{Object, ProgramInput};
use rand::{RngExt as _, SeedableRng as _};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

const NEEDS: &[&str] = &["privileges", "BTF", "clsact"];
const FACTS: Facts = Facts { buffer: None, flows: &[], cycle_time: &|_, _, _| Span::ZERO };
const SYN: u8 = 2;
const ACK: u8 = 16;

/// A TCP packet on Ethernet, over IPv4 or IPv6.
#[derive(Clone, Default)]
struct Frame {
    six: bool,
    flow: u16,
    /// True for the direction that acknowledges.
    back: bool,
    flags: u8,
    seq: u32,
    ack: u32,
    window: u16,
    /// Window scale in a SYN.
    scale: Option<u8>,
    sack: bool,
    /// The counter of accurate ECN: the flags AE, CWR and ECE.
    ace: u8,
    payload: usize,
}

impl Frame {
    fn bytes(&self) -> Vec<u8> {
        let mut options = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        if let Some(scale) = self.scale {
            options.extend([2, 4, 5, 0xb4, 1, 3, 3, scale]);
        }
        if self.sack {
            options.extend([1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 9]);
        }
        let length = 20 + options.len();
        let (mut ports, mut ends) = ([self.flow, 80], [[1u8; 4], [2; 4]]);
        if self.back {
            ports.reverse();
            ends.reverse();
        }
        let mut tcp = vec![];
        ports.iter().for_each(|p| tcp.extend(p.to_be_bytes()));
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([(length as u8 / 4) << 4 | self.ace >> 2, self.flags | (self.ace & 3) << 6]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(options);
        tcp.extend(std::iter::repeat_n(0x5a, self.payload));
        let mut ip = if self.six {
            let mut ip = vec![0x60, 0, 0, 0];
            ip.extend((tcp.len() as u16).to_be_bytes());
            ip.extend([6, 64]);
            ends.iter().for_each(|e| ip.extend([*e; 4].concat()));
            ip
        } else {
            let mut ip = vec![0x45, 0];
            ip.extend((20 + tcp.len() as u16).to_be_bytes());
            ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
            ends.iter().for_each(|e| ip.extend(e));
            ip
        };
        let sum = checksum(&ip, &tcp);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        let mut frame = vec![2; 12];
        frame.extend(if self.six { [0x86, 0xdd] } else { [8, 0] });
        frame.append(&mut ip);
        frame.append(&mut tcp);
        frame
    }
}

/// The checksum of a TCP segment whose own is 0, or 0 if its own is right (RFC 9293 §3.1).
fn checksum(ip: &[u8], tcp: &[u8]) -> u16 {
    let ends = if ip.len() == 40 { &ip[8..] } else { &ip[12..] };
    let mut sum: u64 =
        ends.chunks(2).chain(tcp.chunks(2)).map(|c| u64::from(c[0]) << 8 | u64::from(*c.get(1).unwrap_or(&0))).sum();
    sum += 6 + tcp.len() as u64;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Gives a frame to a program. Returns whether it passes, and how it leaves.
fn offer(object: &mut Object, program: &str, frame: &[u8]) -> (bool, Vec<u8>) {
    let mut out = vec![0; frame.len() + 64];
    let run = object.progs_mut().find(|p| p.name() == program).unwrap();
    let input = ProgramInput { data_in: Some(frame), data_out: Some(&mut out), ..ProgramInput::default() };
    let result = run.test_run(input).unwrap();
    let verdict = result.return_value as i32;
    assert!(verdict == -1 || verdict == 2, "{verdict}");
    out.truncate(frame.len());
    (verdict == -1, out)
}

#[test]
fn fcwa_writes_the_windows_that_rust_writes_and_the_checksums_stay_right() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("fcwa").unwrap();
    let mut rng = Rng::seed_from_u64(1);
    let (mut lowered, mut kept) = (0, 0);
    for case in 0..16u16 {
        let (segments, keep) = (rng.random_range(1..80u64), rng.random::<bool>());
        let set = [format!("segments={segments}"), format!("keep_edge={}", u8::from(keep))];
        let mut object = tc::load(block, &block.settings(&set).unwrap()).unwrap();
        let (scale, mss) = (rng.random_range(0..=14u8), rng.random_range(200..1460usize));
        let base = Frame { six: case % 2 > 0, flow: case, ..Frame::default() };
        // The end that acknowledges opens, or is opened to; in one case of eight the other end does not scale.
        let (opens, scales) = (rng.random::<bool>(), rng.random_range(0..8) > 0);
        let other = scales.then_some(7);
        for (back, flags) in [(opens, SYN), (!opens, SYN | ACK)] {
            // A SYN with ACK offers a scale only if the SYN did.
            let own = if back { Some(scale).filter(|_| scales || flags == SYN) } else { other };
            let syn = Frame { back, flags, scale: own, window: 65_000, ..base.clone() }.bytes();
            assert_eq!(offer(&mut object, "contend_fcwa", &syn), (true, syn));
        }
        let shift = if scales { scale } else { 0 };
        let data = Frame { flags: ACK, payload: mss, window: 100, ..base.clone() }.bytes();
        // No data of the other direction: its window stays.
        assert_eq!(offer(&mut object, "contend_fcwa", &data), (true, data));

        let first: u32 = rng.random();
        let mut at = (1u64 << 32) + u64::from(first);
        // With one flow Pilosof's window is the buffer.
        let entry = find(ap::REGISTRY, "pilosof").unwrap();
        let mut args = defaults(entry);
        args.set("buffer", Value::Amount(Amount::Packets(segments)));
        args.set("keep_edge", Value::Bool(keep));
        let mut rust = (entry.build)(&args, &FACTS).unwrap();
        let cx = &mut Cx { now: Time::ZERO, rng: &mut Rng::seed_from_u64(0) };
        let seg = Segment { len: mss as u32, flags: Flags::ACK, ..Segment::default() };
        let data = Packet::new(FlowId(0), 40 + mss as u32, Time::ZERO, Body::Tcp(seg));
        rust.on_packet(cx, Side::Wire, data, &mut Pass::default());
        for _ in 0..250 {
            at += rng.random_range(0..3) * mss as u64;
            let ack = Frame {
                back: true,
                flags: ACK,
                ack: at as u32,
                window: rng.random_range(0..u16::MAX),
                sack: rng.random(),
                ..base.clone()
            };
            let mut seg = Segment {
                ack: at,
                window: u32::from(ack.window) << shift,
                window_scale: shift,
                flags: Flags::ACK,
                ..Segment::default()
            };
            let was = seg.window;
            let ack_packet = Packet::new(FlowId(0), 40, Time::ZERO, Body::Tcp(seg)).reversed();
            let mut passed = Pass::default();
            rust.on_packet(cx, Side::Air, ack_packet, &mut passed);
            seg = *passed.packets[0].1.tcp().unwrap();
            let (passes, out) = offer(&mut object, "contend_fcwa", &ack.bytes());
            let tcp = if ack.six { 54 } else { 34 };
            let field = u16::from_be_bytes([out[tcp + 14], out[tcp + 15]]);
            assert!(passes);
            assert_eq!(u32::from(field) << shift, seg.window, "case {case}: {segments} of {mss}, scale {shift}");
            assert_eq!(checksum(&out[14..tcp], &out[tcp..]), 0);
            lowered += u32::from(seg.window < was);
            kept += u32::from(seg.window == was);
        }
    }
    assert!(lowered > 500 && kept > 50, "{lowered} {kept}");
}

#[test]
fn ect1_leaves_packets_of_other_sockets_alone() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("ect1").unwrap();
    let mut object = tc::load(block, &block.settings(&["mark=1".into()]).unwrap()).unwrap();
    for six in [false, true] {
        for ecn in 0..4u8 {
            let mut frame = Frame { six, flags: ACK, payload: 100, ..Frame::default() }.bytes();
            frame[15] |= if six { ecn << 4 } else { ecn };
            assert_eq!(offer(&mut object, "contend_ect1", &frame), (true, frame));
        }
    }
}

/// A sender and a receiver of a test.
#[derive(Clone, Copy, Default)]
struct Ends {
    /// The first byte that is not acknowledged, the next one to send, and the right edge.
    una: u64,
    next: u64,
    edge: u64,
}

#[test]
fn the_windows_that_the_c_text_measures_are_those_of_rust() {
    let program = format!("{}/fcwa", env!("CARGO_TARGET_TMPDIR"));
    let compiled = Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", &program])
        .arg("fcwa_host.c")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/c/ap"))
        .status();
    assert!(compiled.unwrap().success());
    let block = Block::find("fcwa").unwrap();
    let (mut same, mut other, mut windows) = (0, 0, std::collections::BTreeSet::new());
    for case in 0..8u64 {
        let mut rng = Rng::seed_from_u64(case);
        let (buffer, least, margin) = (rng.random_range(20..300u64), case % 2, rng.random_range(800..=1000u64));
        // Times between data and acknowledgments, in us.
        let pace = [200, 2_000, 20_000][case as usize % 3];
        let set = ["segments=0", "keep_edge=0", &format!("buffer={buffer}"), &format!("least_delay={least}")];
        let set = set.into_iter().map(str::to_owned).chain([format!("margin={margin}")]).collect::<Vec<_>>();
        let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(&block.settings(&set).unwrap()).unwrap();
        let entry = find(ap::REGISTRY, "fcwa").unwrap();
        let mut args = defaults(entry);
        args.set("mode", Value::Word("estimated".into()));
        args.set("ld", Value::Word((if least > 0 { "min" } else { "mean" }).into()));
        args.set("buffer", Value::Amount(Amount::Packets(buffer)));
        args.set("margin", Value::Number(margin as f64 / 1000.0));
        args.set("keep_edge", Value::Bool(false));
        // The defaults of the block.
        let facts = Facts {
            cycle_time: &|_, down, up| match (down > 1000, up > 1000) {
                (true, true) => Span::from_nanos(809_985),
                (false, false) => Span::from_nanos(352_747),
                _ => Span::from_nanos(593_985),
            },
            ..FACTS
        };
        let mut rust = (entry.build)(&args, &facts).unwrap();
        let (mss, mut now) = (1460u64, Time::ZERO);
        let mut all = [Ends { una: 1 << 32, next: 1 << 32, edge: 0 }; 6];
        for _ in 0..20_000 {
            now += Span::from_micros(rng.random_range(0..pace));
            if rng.random_range(0..4000) == 0 {
                // Everybody is silent for longer than T_active.
                now += Span::from_secs(3);
            }
            let flow = rng.random_range(0..all.len());
            let (up, ends) = (flow % 2 == 0, &mut all[flow]);
            let sends = ends.next == ends.una || ends.next + mss <= ends.edge && rng.random::<bool>();
            let again = sends && ends.next > ends.una && rng.random_range(0..50) == 0;
            let seq = if again { ends.una } else { ends.next };
            let mut seg = Segment { flags: Flags::ACK, ..Segment::default() };
            let before = ends.edge;
            let side = if up == sends { Side::Air } else { Side::Wire };
            if sends {
                (seg.seq, seg.len) = (seq, mss as u32);
                ends.next = ends.next.max(seq + mss);
            } else {
                let most = ((ends.next - ends.una) / mss).min(if rng.random_range(0..20) == 0 { 9 } else { 2 });
                ends.una += most * mss;
                (seg.ack, seg.window) = (ends.una, 1 << 29);
            }
            let p = Packet::new(FlowId(flow as u32), 40 + seg.len, now, Body::Tcp(seg));
            let mut passed = Pass::default();
            let cx = &mut Cx { now, rng: &mut Rng::seed_from_u64(0) };
            rust.on_packet(cx, side, if sends { p } else { p.reversed() }, &mut passed);
            let window = u64::from(passed.packets[0].1.tcp().unwrap().window);
            if !sends {
                ends.edge = ends.edge.max(seg.ack + window);
            }
            let words = [
                now.as_nanos(),
                flow as u64,
                up.into(),
                (!sends).into(),
                seq,
                seg.len.into(),
                seg.ack,
                before,
                ends.edge,
                mss,
            ];
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
            child.stdin.as_mut().unwrap().write_all(&bytes).unwrap();
            let mut answer = [0; 8];
            child.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
            if !sends && window < 1 << 29 {
                let (want, got) = (window / mss, u64::from_ne_bytes(answer));
                assert!(want.abs_diff(got) <= 1, "case {case}, {now}: Rust {want}, C {got}");
                if want == got {
                    same += 1
                } else {
                    other += 1
                }
                windows.insert(want);
            }
        }
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success(), "undefined behaviour in the C text");
    }
    // Floats of Rust and integers of C are rounded down to whole segments.
    assert!(same > 50_000 && other < same / 500 && windows.len() > 50, "{same} {other} {windows:?}");
}

#[test]
fn fcwa_leaves_flows_alone_whose_handshake_it_has_not_seen() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("fcwa").unwrap();
    let mut object = tc::load(block, &block.settings(&["segments=2".into()]).unwrap()).unwrap();
    let base = Frame { flow: 5, flags: ACK, window: 60_000, ..Frame::default() };
    let mut same = |frame: Frame| {
        let bytes = frame.bytes();
        offer(&mut object, "contend_fcwa", &bytes) == (true, bytes)
    };
    assert!(same(Frame { payload: 1000, ..base.clone() }) && same(Frame { back: true, ack: 1000, ..base.clone() }));
    // Only the SYN of the end that acknowledges: it may scale, or not.
    assert!(same(Frame { back: true, flags: SYN, scale: Some(7), ..base.clone() }));
    assert!(same(Frame { payload: 1000, ..base.clone() }) && same(Frame { back: true, ack: 1000, ..base.clone() }));
    assert!(same(Frame { flags: SYN | ACK, scale: Some(7), ..base.clone() }));
    assert!(same(Frame { payload: 1000, ..base.clone() }) && !same(Frame { back: true, ack: 1000, ..base }));
}

#[test]
fn ack_thinning_passes_at_once_what_rust_passes_at_once() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("ack_thinning").unwrap();
    let entry = find(ap::REGISTRY, "ack_thinning").unwrap();
    for (d, accecn) in (1..6).flat_map(|d| [(d, "pass"), (d, "blind")]) {
        let mut object = tc::load(block, &block.settings(&[format!("d={d}"), how(accecn)]).unwrap()).unwrap();
        let mut args = defaults(entry);
        args.set("d", Value::Integer(d));
        args.set("accecn", Value::Word(accecn.into()));
        args.set("hold", Value::Time(Span::from_secs(1000)));
        let mut rust = (entry.build)(&args, &FACTS).unwrap();
        let mut rng = Rng::seed_from_u64(d as u64);
        let cx = &mut Cx { now: Time::ZERO, rng: &mut Rng::seed_from_u64(0) };
        let mut at = [1000u32; 4];
        for flow in 0..4 {
            let base = Frame { flow, ..Frame::default() };
            offer(&mut object, "contend_thinning", &Frame { back: true, flags: SYN | ACK, ..base.clone() }.bytes());
            // Data far ahead: a later acknowledgment must come.
            let far = Frame { flags: ACK, seq: 1_000_000_000, payload: 100, ..base };
            assert!(offer(&mut object, "contend_learn", &far.bytes()).0);
        }
        let mut dropped = 0;
        for _ in 0..2000 {
            let flow = rng.random_range(0..4u16);
            let ack = &mut at[usize::from(flow)];
            *ack += 500 * rng.random_range(0..4u32);
            let (sack, counts) = (rng.random_range(0..10) == 0, rng.random_range(0..20) == 0);
            let ace = if counts { rng.random_range(1..8) } else { 0 };
            let frame = Frame { flow, back: true, flags: ACK, ace, ack: *ack, sack, ..Frame::default() };
            let mut seg = Segment { ack: u64::from(*ack), flags: Flags::ACK.with_ace(ace), ..Segment::default() };
            if sack {
                seg.sack.push(1, 9);
            }
            let p = Packet::new(FlowId(flow.into()), 40, Time::ZERO, Body::Tcp(seg)).reversed();
            let mut out = Pass::default();
            rust.on_packet(cx, Side::Wire, p, &mut out);
            let at_once = out.packets.last().is_some_and(|(_, q)| *q == p);
            let (passes, bytes) = offer(&mut object, "contend_thinning", &frame.bytes());
            assert_eq!(passes, at_once, "d = {d}, {accecn}, flow {flow}, ack {ack}");
            assert!(!passes || bytes == frame.bytes());
            dropped += u32::from(!passes);
        }
        assert_eq!(dropped > 300, d > 1, "{dropped}");
    }
}

/// The setting of the programs for a word of `accecn`.
fn how(accecn: &str) -> String {
    let words = ["pass", "count", "blind"];
    format!("accecn={}", words.iter().position(|w| *w == accecn).unwrap())
}

/// RFC 9768 §3.2.2.5: the sender reads the three bits right as long as at most seven marks are new. Random
/// acknowledgments of one or two segments, each of which may be marked, as with delayed acknowledgments.
#[test]
fn acknowledgments_that_pass_keep_the_counter_of_accurate_ecn_readable() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("ack_thinning").unwrap();
    let read = |accecn: &str, share: f64| {
        let mut object = tc::load(block, &block.settings(&["d=8".into(), how(accecn)]).unwrap()).unwrap();
        let mut rng = Rng::seed_from_u64((share * 1e3) as u64);
        let base = Frame { flow: 3, flags: ACK, ..Frame::default() };
        offer(&mut object, "contend_thinning", &Frame { back: true, flags: SYN | ACK, ..base.clone() }.bytes());
        offer(&mut object, "contend_learn", &Frame { seq: 1_000_000_000, payload: 100, ..base.clone() }.bytes());
        // The counter begins at 5 (RFC 9768 §3.2.2.1); an acknowledgment of the handshake passes.
        let (mut ack, mut marks, mut seen, mut dropped) = (1000_u32, 5_u32, 5_u32, 0);
        offer(&mut object, "contend_thinning", &Frame { back: true, ack, ace: 5, ..base.clone() }.bytes());
        for _ in 0..3000 {
            let segments = rng.random_range(1..=2);
            ack += 1448 * segments;
            marks += (0..segments).filter(|_| rng.random_bool(share)).count() as u32;
            let ace = (marks & 7) as u8;
            if offer(&mut object, "contend_thinning", &Frame { back: true, ack, ace, ..base.clone() }.bytes()).0 {
                seen += (u32::from(ace).wrapping_sub(seen)) & 7;
            } else {
                dropped += 1;
            }
        }
        (marks - seen, dropped)
    };
    for share in [0.0, 0.1, 0.5, 1.0] {
        let (lost, dropped) = read("count", share);
        // The last ones may be counted by the next acknowledgment.
        assert!(lost < 8 && dropped > 900, "{share}: {lost} marks lost, {dropped} dropped");
    }
    assert_eq!(read("pass", 1.0).0, 0);
    // One of eight passes, and twelve marks lie between two of them in the mean.
    assert!(read("blind", 1.0).0 > 1000);
}

#[test]
fn the_last_acknowledgment_of_the_data_always_passes() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("ack_thinning").unwrap();
    let mut object = tc::load(block, &block.settings(&["d=100".into()]).unwrap()).unwrap();
    let base = Frame { flow: 9, flags: ACK, ..Frame::default() };
    offer(&mut object, "contend_thinning", &Frame { back: true, flags: SYN | ACK, ..base.clone() }.bytes());
    for n in 0..50u32 {
        // Numbers that wrap.
        let seq = (n * 1000).wrapping_sub(20_000);
        assert!(offer(&mut object, "contend_learn", &Frame { seq, payload: 1000, ..base.clone() }.bytes()).0);
        let ack = |ack| Frame { back: true, ack, ..base.clone() }.bytes();
        assert!(!offer(&mut object, "contend_thinning", &ack(seq.wrapping_add(999))).0);
        assert!(offer(&mut object, "contend_thinning", &ack(seq.wrapping_add(1000))).0);
    }
}

#[test]
fn ack_filter_filters_where_the_discipline_replaces() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("ack_filter").unwrap();
    for accecn in ["pass", "blind"] {
        filters_where_the_discipline_replaces(block, accecn);
    }
}

fn filters_where_the_discipline_replaces(block: &Block, accecn: &str) {
    let object = tc::load(block, &block.settings(&[how(accecn)]).unwrap()).unwrap();
    let entry = find(qdisc::REGISTRY, "ack_filter").unwrap();
    let mut args = defaults(entry);
    args.set("limit", Value::Amount(Amount::Packets(1_000_000)));
    args.set("accecn", Value::Word(accecn.into()));
    let mut rust = (entry.build)(&args, &Site::ALONE).unwrap();
    let (mut rng, mut own) = (Rng::seed_from_u64(3), Rng::seed_from_u64(0));
    let cx = &mut Cx { now: Time::ZERO, rng: &mut own };
    let mut sink = qdisc::Sink::default();
    let (mut state, mut at, mut left, mut filtered) = ([[0u64; 6]; 3], [1000u64; 3], 0u64, 0);
    // Data far ahead.
    state.iter_mut().for_each(|s| s[1] = u64::MAX);
    for _ in 0..20_000 {
        if rng.random_range(0..3) == 0 {
            left += u64::from(rust.dequeue(cx, &PlainLink, &mut sink).is_some());
            continue;
        }
        let flow = rng.random_range(0..3usize);
        at[flow] += 500 * rng.random_range(0..3u64);
        let sack = rng.random_range(0..10) == 0;
        let ace = if rng.random_range(0..10) == 0 { rng.random_range(1..8u8) } else { 0 };
        let mut seg = Segment { ack: at[flow], flags: Flags::ACK.with_ace(ace), ..Segment::default() };
        if sack {
            seg.sack.push(1, 9);
        }
        let waiting = rust.backlog().packets;
        let p = Packet::new(FlowId(flow as u32), 40, Time::ZERO, Body::Tcp(seg)).reversed();
        rust.enqueue(cx, &PlainLink, p, &mut sink);
        let replaced = rust.backlog().packets == waiting;
        let here = left + waiting + 1;
        let pure = !sack && (ace == 0 || accecn == "blind");
        // `struct told` has two numbers of 32 bits.
        let told = u64::from(ace) | u64::from(pure) << 32;
        let words = [&state[flow][..], &[at[flow], told, here, left, 0]].concat();
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let step = object.progs_mut().find(|p| p.name() == "step").unwrap();
        let input = ProgramInput { context_in: Some(&mut bytes), ..ProgramInput::default() };
        step.test_run(input).unwrap();
        let word = |i: usize| u64::from_ne_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap());
        state[flow] = [0, 1, 2, 3, 4, 5].map(word);
        assert_eq!(word(10) == 0, replaced, "{accecn}, flow {flow}, ack {}", at[flow]);
        filtered += u32::from(replaced);
    }
    assert!(filtered > 2000, "{filtered}");
}

/// In a FIFO of constant rate `ce_threshold` of CoDel, which looks at the head, marks all that the program marks at the
/// tail. What only CoDel marks was within the time of one packet, the one that was being sent.
#[test]
fn ce_threshold_marks_at_the_tail_what_codel_marks_at_the_head() {
    const RATE: u64 = 20_000_000;
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("ce_threshold").unwrap();
    let object = tc::load(block, &block.settings(&[format!("rate={RATE}"), "threshold=2000".into()]).unwrap()).unwrap();
    let program = |backlog: u64| {
        let mut bytes: Vec<u8> = [backlog, 0].iter().flat_map(|w| w.to_ne_bytes()).collect();
        let step = object.progs_mut().find(|p| p.name() == "step").unwrap();
        step.test_run(ProgramInput { context_in: Some(&mut bytes), ..ProgramInput::default() }).unwrap();
        bytes[8] == 1
    };
    let entry = find(qdisc::REGISTRY, "codel").unwrap();
    let mut args = defaults(entry);
    // CoDel itself never acts.
    args.set("target", Value::Time(Span::from_secs(1)));
    args.set("ce_threshold", Value::Time(Span::from_millis(2)));
    args.set("ce_select", Value::Word("ect1".into()));
    let mut rust = (entry.build)(&args, &Site::ALONE).unwrap();
    let (mut rng, mut own) = (Rng::seed_from_u64(1), Rng::seed_from_u64(0));
    let cx = &mut Cx { now: Time::ZERO, rng: &mut own };
    let mut sink = qdisc::Sink::default();
    let takes = |bytes: u64| Span::from_nanos(bytes * 8_000_000_000 / RATE);
    let (mut now, mut free) = (Time::ZERO, Time::ZERO);
    // What the program says of the packets that wait, and how long each was expected to wait.
    let mut told = std::collections::VecDeque::new();
    let (mut both, mut neither, mut one) = (0, 0, 0);
    for _ in 0..5000 {
        now += Span::from_nanos(rng.random_range(0..650_000));
        while free <= now && rust.backlog().packets > 0 {
            cx.now = free;
            let p = rust.dequeue(cx, &PlainLink, &mut sink).unwrap();
            free += takes(p.size.into());
            let (marks, expected): (bool, Span) = told.pop_front().unwrap();
            match (marks, p.ecn() == Ecn::Ce) {
                (true, true) => both += 1,
                (false, false) => neither += 1,
                (true, false) => panic!("the program marks a packet that waits {expected:?}, and CoDel does not"),
                (false, true) => {
                    one += 1;
                    assert!(expected + takes(1500) > Span::from_millis(2), "CoDel marks after {expected:?}");
                }
            }
        }
        free = free.max(now);
        let bytes = rust.backlog().bytes;
        told.push_back((program(bytes), takes(bytes)));
        cx.now = now;
        let size = rng.random_range(100..=1500);
        let mut p = Packet::new(FlowId(0), size, now, Body::Udp { seq: 0 }).with_ecn(Ecn::Ect1);
        p.queued = now;
        rust.enqueue(cx, &PlainLink, p, &mut sink);
    }
    assert!(both > 500 && neither > 500 && one > 50, "{both} {neither} {one}");
}

#[test]
fn ce_threshold_writes_ce_on_ect_1_alone_and_nothing_while_nothing_waits() {
    if skip::without(NEEDS) {
        return;
    }
    let block = Block::find("ce_threshold").unwrap();
    let mut object = tc::load(block, &block.settings(&["rate=1000000".into()]).unwrap()).unwrap();
    for six in [false, true] {
        for ecn in 0..4u8 {
            let mut frame = Frame { six, flags: ACK, payload: 100, ..Frame::default() }.bytes();
            frame[15] |= if six { ecn << 4 } else { ecn };
            // The device of a test run has an empty queue.
            assert_eq!(offer(&mut object, "contend_step", &frame), (true, frame));
        }
    }
}
