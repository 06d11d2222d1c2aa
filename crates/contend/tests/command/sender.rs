//! `contend analyse sender` on captures: known numbers for each link type, captures of simulated runs, damaged files.

use super::Bench;
use contend_lab::measuring::analyse::packets;
use contend_tools::monitor::capture::Connections;
use serde_json::{Value, json};

const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN: u8 = 1;

/// Ports of the sender and of the receiver.
const PORTS: [u16; 2] = [40_000, 5201];

/// A segment of the sender (0) or of the receiver (1).
#[derive(Clone)]
struct Tcp {
    us: u64,
    from: usize,
    /// Relative to the number of the SYN.
    seq: u32,
    ack: u32,
    flags: u8,
    len: usize,
    options: Vec<u8>,
}

/// Numbers of the two SYNs: the sender's numbers wrap.
const INITIAL: [u32; 2] = [0xffff_f000, 77];

fn segment(us: u64, from: usize, [seq, ack]: [u32; 2], flags: u8, len: usize) -> Tcp {
    Tcp { us, from, seq, ack, flags, len, options: vec![] }
}

fn data(us: u64, from: u32, len: usize) -> Tcp {
    segment(us, 0, [from + 1, 1], ACK, len)
}

/// An ACK for all bytes before `ack`, with SACK blocks.
fn answer(us: u64, ack: u32, sack: &[[u32; 2]]) -> Tcp {
    let mut s = segment(us, 1, [1, ack + 1], ACK, 0);
    if !sack.is_empty() {
        s.options = vec![1, 1, 5, 2 + 8 * sack.len() as u8];
        s.options.extend(sack.iter().flatten().flat_map(|n| (INITIAL[0].wrapping_add(n + 1)).to_be_bytes()));
    }
    s
}

/// A loss that SACK repairs, a timeout, a super-segment of three segments.
fn connection() -> Vec<Tcp> {
    let mss = vec![2, 4, 5, 0xb4]; // 1460
    vec![
        Tcp { options: mss.clone(), ..segment(0, 0, [0, 0], SYN, 0) },
        Tcp { options: mss, ..segment(20_000, 1, [0, 1], SYN | ACK, 0) },
        segment(20_100, 0, [1, 1], ACK, 0),
        data(20_200, 0, 1000),
        data(20_300, 1000, 1000),
        data(20_400, 2000, 1000),
        data(20_500, 3000, 1000),
        answer(40_200, 1000, &[]),
        answer(40_300, 1000, &[[2000, 3000]]),
        answer(40_400, 1000, &[[2000, 4000]]),
        data(40_500, 1000, 1000),
        answer(60_200, 4000, &[]),
        data(61_000, 4000, 1000),
        data(361_000, 4000, 1000),
        answer(381_200, 5000, &[]),
        data(400_000, 5000, 4380),
        answer(420_200, 9380, &[]),
        segment(421_000, 0, [9381, 1], FIN | ACK, 0),
        segment(441_000, 1, [1, 9382], FIN | ACK, 0),
    ]
}

/// The IP packet, without its payload.
fn packet(s: &Tcp, six: bool) -> Vec<u8> {
    let number = |n: u32, end: usize| INITIAL[end].wrapping_add(n).to_be_bytes();
    let mut tcp = [PORTS[s.from].to_be_bytes(), PORTS[1 - s.from].to_be_bytes()].concat();
    tcp.extend(number(s.seq, s.from));
    tcp.extend(if s.flags & ACK == 0 { [0; 4] } else { number(s.ack, 1 - s.from) });
    tcp.extend([((20 + s.options.len()) as u8 / 4) << 4, s.flags, 1, 0, 0, 0, 0, 0]);
    tcp.extend(&s.options);
    let length = (tcp.len() + s.len) as u16;
    let mut ip = if six {
        let [a, b] = [[0xfd; 16], [0xfe; 16]];
        let ends = if s.from == 0 { [a, b] } else { [b, a] };
        [&[0x60, 0, 0, 0][..], &length.to_be_bytes(), &[6, 64], &ends.concat()].concat()
    } else {
        let host = |end: usize| [10, 0, 0, end as u8 + 1];
        let total = (length + 20).to_be_bytes();
        [&[0x45, 0][..], &total, &[0, 1, 0x40, 0, 64, 6, 0, 0], &host(s.from), &host(1 - s.from)].concat()
    };
    ip.extend(tcp);
    ip
}

/// What a link type puts before a packet.
type Link = fn(&Tcp, bool) -> Vec<u8>;

fn kind(six: bool) -> [u8; 2] {
    if six { [0x86, 0xdd] } else { [8, 0] }
}

/// IEEE 802.11: to the access point with ToDS, from it with FromDS; LLC and SNAP.
fn dot11(s: &Tcp, six: bool) -> Vec<u8> {
    let [station, ap, host] = [2, 3, 4].map(|n| [2, 0, 0, 0, 0, n]);
    let (ds, addresses) = if s.from == 0 { (1, [ap, station, host]) } else { (2, [station, ap, host]) };
    let number = ((s.us / 100) as u16 % 4096) << 4;
    [&[8, ds, 0, 0][..], &addresses.concat(), &number.to_le_bytes(), &[0xaa, 0xaa, 3, 0, 0, 0], &kind(six)].concat()
}

/// Link types with their numbers.
const LINKS: [(u32, &str, Link); 9] = [
    (1, "Ethernet", |_, six| [&[2; 12][..], &kind(six)].concat()),
    (1, "two VLAN tags", |_, six| [&[2; 12][..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7], &kind(six)].concat()),
    (113, "Linux cooked v1", |s, six| [&[0, 4 * (1 - s.from as u8)][..], &[0; 12], &kind(six)].concat()),
    (276, "Linux cooked v2", |s, six| {
        [&kind(six)[..], &[0, 0, 0, 0, 0, 3, 0, 1, 4 * (1 - s.from as u8), 6], &[0; 8]].concat()
    }),
    (101, "raw IP", |_, _| vec![]),
    (0, "BSD loopback", |_, _| vec![2, 0, 0, 0]),
    (105, "802.11", dot11),
    (127, "radiotap", |s, six| [&[0, 0, 8, 0, 0, 0, 0, 0][..], &dot11(s, six)].concat()),
    // Flags: the FCS is wrong. Only what fits to an open connection is used.
    (127, "radiotap", |s, six| {
        let flags = if s.us == 40_500 && !six { 0x40 } else { 0 };
        [&[0, 0, 9, 0, 2, 0, 0, 0, flags][..], &dot11(s, six)].concat()
    }),
];

/// A record: microseconds, stored bytes, length on the medium.
type Record = (u64, Vec<u8>, usize);

fn records(all: &[Tcp], link: Link, six: bool) -> Vec<Record> {
    let one = |s: &Tcp| {
        let mut bytes = [link(s, six), packet(s, six)].concat();
        if !six {
            // RFC 1071, so that the header is right also in a damaged frame.
            let start = link(s, six).len();
            let sum: u32 = bytes[start..start + 20].chunks(2).map(|p| u32::from(p[0]) << 8 | u32::from(p[1])).sum();
            let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
            bytes[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
        }
        let whole = bytes.len() + s.len;
        (s.us, bytes, whole)
    };
    all.iter().map(one).collect()
}

/// A classic capture from second 1,700,000,000 on.
fn pcap(link: u32, records: &[Record], big: bool) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    // Big-endian files have nanoseconds here.
    let mut out = word(if big { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
    out.extend([word(0x0004_0002), word(0), word(0), word(128), word(link)].concat());
    for (us, bytes, whole) in records {
        let part = (us % 1_000_000) as u32 * if big { 1000 } else { 1 };
        let head = [1_700_000_000 + (us / 1_000_000) as u32, part, bytes.len() as u32, *whole as u32];
        out.extend(head.map(word).concat());
        out.extend(bytes);
    }
    out
}

/// A pcapng section with one interface, in microseconds.
fn pcapng(link: u32, records: &[Record]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len().next_multiple_of(4) + 12) as u32;
        let padding = vec![0; body.len().wrapping_neg() % 4];
        [&kind.to_le_bytes()[..], &length.to_le_bytes(), body, &padding, &length.to_le_bytes()].concat()
    };
    let mut out = block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    out.extend(block(1, &[link.to_le_bytes(), [0; 4]].concat()));
    for (us, bytes, whole) in records {
        let t = us + 1_700_000_000_000_000;
        let head = [0, (t >> 32) as u32, t as u32, bytes.len() as u32, *whole as u32];
        out.extend(block(6, &[head.map(u32::to_le_bytes).concat(), bytes.clone()].concat()));
    }
    out
}

fn analysed(bench: &Bench, capture: &[u8]) -> Value {
    bench.file("host.pcap", capture);
    bench.contend(&["analyse", "sender", "host.pcap", "--format", "json"]).with(0).object()
}

/// The figures of [`connection`], by hand. Gaps between ACKs are 20, 20, 321 and 39 ms. In flight are 1 to 4 kB until
/// 20.5 ms, 4 kB until 40.2, 3 kB until 60.2, 1 kB in 61 to 381.2, 4380 B in 400 to 420.2. The smoothed round-trip time
/// is 20 ms, and 20 x 7/8 + 20.2/8 at the end.
fn figures(six: bool) -> Value {
    let [a, b] = if six {
        let [a, b] = ["fdfd", "fefe"].map(|x| [x; 8].join(":"));
        [format!("[{a}]:40000"), format!("[{b}]:5201")]
    } else {
        ["10.0.0.1:40000".to_owned(), "10.0.0.2:5201".to_owned()]
    };
    json!({
        "flow": format!("{a}>{b}"), "source": "capture", "cc": null, "from_s": 0.0, "seconds": 0.441,
        "goodput_bps": 170_159, "cwnd": null, "in_flight_bytes": {"mean": 1243, "max": 4380}, "rtt_max_us": 20_025,
        "segments_per_s": 22.676, "segments": 10, "mss_bytes": 1460, "mss_from": "handshake", "retransmitted": 2,
        "retransmitted_share": 0.2, "unseen_bytes": 0,
        "events": {"dupack_sack": 1, "local_congestion": null, "marked": 0, "timeout": 1},
        "longest_silence_s": 0.3, "ack_gap_s": {"p50": 0.039, "p95": 0.321, "p99": 0.321, "max": 0.321},
    })
}

#[test]
fn a_capture_has_the_figures_of_its_connection_whatever_the_link() {
    let bench = Bench::new();
    let same = |found: &Value, six: bool, name: &str| {
        assert_eq!(found["senders"], json!([figures(six)]), "{name}");
    };
    for (number, name, link) in LINKS {
        for six in [false, true] {
            let records = records(&connection(), link, six);
            let o = analysed(&bench, &pcap(number, &records, six));
            assert_eq!(o["began_s"], 1_700_000_000.0);
            same(&o, six, name);
            same(&analysed(&bench, &pcapng(number, &records)), six, name);
        }
    }
}

#[test]
fn a_packet_that_is_seen_twice_counts_once() {
    let bench = Bench::new();
    // On the interface "any": the packet at a bridge, then at its port. On the air: a MAC retry.
    let cooked = |_: &Tcp, six: bool| [&kind(six)[..], &[0, 0, 0, 0, 0, 9, 0, 1, 4, 6], &[0; 8]].concat();
    let retry = |s: &Tcp, six: bool| {
        let mut frame = dot11(s, six);
        frame[1] |= 8;
        frame
    };
    for (number, first, second) in [(276, LINKS[3].2, cooked as Link), (105, dot11 as Link, retry as Link)] {
        let [one, two] = [first, second].map(|link| records(&connection(), link, false));
        let both: Vec<Record> = one.into_iter().zip(two).flat_map(|(a, b)| [a, b]).collect();
        let o = analysed(&bench, &pcap(number, &both, false));
        let s = &o["senders"][0];
        assert_eq!(
            (&s["segments"], &s["retransmitted"], &s["events"]["dupack_sack"]),
            (&10.into(), &2.into(), &1.into())
        );
    }
}

#[test]
fn events_are_lines_for_a_plot() {
    let bench = Bench::new();
    bench.file("host.pcap", pcap(1, &records(&connection(), LINKS[0].2, false), false));
    let call = |extra: &[&str]| bench.contend(&[&["analyse", "sender", "host.pcap"], extra].concat());
    let strip = call(&["--format", "csv", "--events"]).with(0).out;
    let lines: Vec<&str> = strip.lines().collect();
    assert_eq!(lines[0], "t_s,flow,event,seq,bytes,in_flight_bytes");
    let of = |line: &str| line.replace("10.0.0.1:40000>10.0.0.2:5201,", "");
    let expected = "0.020200,data,0,1000,1000 0.020300,data,1000,1000,2000 0.020400,data,2000,1000,3000 \
        0.020500,data,3000,1000,4000 0.040200,ack,0,1000,3000 0.040300,sack,2000,1000,3000 \
        0.040400,sack,2000,2000,3000 0.040500,dupack_sack,1000,1000,3000 0.040500,retransmission,1000,1000,3000 \
        0.060200,ack,1000,3000,0 0.061000,data,4000,1000,1000 0.361000,timeout,4000,1000,1000 \
        0.361000,retransmission,4000,1000,1000 0.381200,ack,4000,1000,0 0.400000,data,5000,4380,4380 \
        0.420200,ack,5000,4380,0 0.421000,close,9380,0,0";
    assert_eq!(lines[1..].iter().map(|l| of(l)).collect::<Vec<_>>().join(" "), expected);
    assert_eq!(call(&["--format", "csv", "--events", "--flow", ":1>"]).with(0).out, "");
    // What is unknown is empty in the line, and a dash in the table.
    let csv = call(&["--format", "csv"]).with(0).out;
    assert!(csv.lines().nth(1).unwrap().contains(">10.0.0.2:5201,,0,0.441,170159,,10,2,1,,0,1,0.3,"), "{csv}");
    let table = call(&[]).with(0).out;
    for part in [
        "window         -\n",
        "in flight      1.2 kB on average, 4.4 kB at most",
        "- local_congestion",
        "20.000 % retransmitted, of 1460 B (handshake)",
    ] {
        assert!(table.contains(part), "no {part} in {table}");
    }
}

#[test]
fn what_a_capture_without_handshake_or_answers_does_not_tell_is_unknown() {
    let bench = Bench::new();
    let ethernet = LINKS[0].2;
    // From the middle on: the largest segment in a usual packet is the unit.
    let o = analysed(&bench, &pcap(1, &records(&connection()[11..], ethernet, false), false));
    let s = &o["senders"][0];
    assert_eq!((&s["mss_bytes"], &s["mss_from"], &s["segments"]), (&1000.into(), &"largest".into(), &7.into()), "{s}");
    assert_eq!((&s["events"]["marked"], &s["goodput_bps"].is_null()), (&Value::Null, &false));
    // Only one direction.
    let alone: Vec<Tcp> = connection().into_iter().filter(|s| s.from == 0).collect();
    let s = &analysed(&bench, &pcap(1, &records(&alone, ethernet, false), false))["senders"][0];
    for unknown in ["goodput_bps", "in_flight_bytes", "rtt_max_us", "cwnd", "cc"] {
        assert!(s[unknown].is_null(), "{unknown} {s}");
    }
    assert_eq!(
        (&s["retransmitted"], &s["events"]["timeout"], &s["ack_gap_s"]["max"]),
        (&2.into(), &Value::Null, &Value::Null)
    );
    // The capture lost the second segment.
    let mut lossy = connection();
    lossy.remove(4);
    let s = &analysed(&bench, &pcap(1, &records(&lossy, ethernet, false), false))["senders"][0];
    assert_eq!((&s["unseen_bytes"], &s["retransmitted"]), (&1000.into(), &2.into()));
    // The same addresses again.
    let again = connection().into_iter().map(|s| Tcp { us: s.us + 1_000_000, ..s });
    let twice: Vec<Tcp> = connection().into_iter().chain(again).collect();
    let o = analysed(&bench, &pcap(1, &records(&twice, ethernet, false), false));
    let [a, b] = [0, 1].map(|i| &o["senders"][i]);
    assert_eq!((a["segments"].clone(), b["from_s"].as_f64()), (b["segments"].clone(), Some(1.0)));
}

#[test]
fn a_file_without_tcp_data_is_refused_with_a_remedy() {
    let bench = Bench::new();
    let whole = pcap(1, &records(&connection(), LINKS[0].2, false), false);
    bench.file("cut.pcap", &whole[..whole.len() - 7]);
    bench.file("none.pcap", &whole[..24]);
    bench.file("empty.pcap", "");
    bench.file("photo.png", [0x89, b'P', b'N', b'G', 13, 10, 26, 10]);
    bench.file("zip.pcap.gz", [0x1f, 0x8b, 8, 0, 0]);
    bench.file("arp.pcap", pcap(1, &[(0, [&[2; 12][..], &[8, 6], &[0; 28]].concat(), 42)], false));
    bench.file("usb.pcap", pcap(220, &[(0, vec![0; 64], 64)], false));
    bench.file("open.pcap", pcap(1, &records(&connection()[..3], LINKS[0].2, false), false));
    bench.file("notes.txt", "captured on Monday\n");
    let refused = |args: &[&str], texts: &[&str]| {
        let ended = bench.contend(&[&["analyse", "sender"], args].concat()).with(2).says(texts).says(&["help: "]);
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
    };
    refused(&["cut.pcap"], &["cut.pcap: ", "truncated", "editcap"]);
    refused(&["cut.pcap", "--format", "csv", "--events"], &["cut.pcap: ", "truncated"]);
    refused(&["none.pcap"], &["no packets"]);
    refused(&["empty.pcap"], &["empty"]);
    refused(&["photo.png"], &["not a capture"]);
    refused(&["zip.pcap.gz"], &["compressed", "gunzip"]);
    refused(&["arp.pcap"], &["no TCP", "tcpdump"]);
    refused(&["usb.pcap"], &["link type is 220", "Linux cooked (113, 276)"]);
    refused(&["open.pcap"], &["no TCP connection in the capture has data"]);
    refused(&["notes.txt"], &["no column `t_s`", "tcpdump"]);
    refused(&["nothing.pcap"], &["nothing.pcap cannot be read"]);
    refused(&["cut.pcap", "none.pcap"], &["one file, but 2 are given", "mergecap"]);
    refused(&["cut.pcap", "--events"], &["--format csv"]);
    refused(&["notes.txt", "--events", "--format", "csv"], &["notes.txt is not a capture"]);
}

/// A station that sends through a wire that loses; its MAC has to repeat frames.
const UPLOAD: &str = r#"duration = "10s"
seeds = "1"
[wifi]
standard = "802.11g"
rate = "54Mbps"
loss = { kind = "bernoulli", p = "10%" }
[wire]
delay = "10ms"
loss = { kind = "bernoulli", p = "3%" }
[[station]]
name = "sta"
[[flow]]
name = "up"
from = "sta"
to = "server"
tcp = "reno"
"#;

#[test]
fn the_capture_of_a_simulated_sender_has_the_figures_of_the_run() {
    for (name, standard) in [("g", "802.11g"), ("n", "802.11n")] {
        let text = if name == "g" { UPLOAD.to_owned() } else { UPLOAD.replace("rate = \"54Mbps\"\n", "") };
        let bench = Bench::with("up.toml", &text.replace("802.11g", standard));
        let run = bench.contend(&["run", "up.toml", "--quiet", "--capture", "0s..10s", "--format", "csv"]).with(0).out;
        let figure = |metric: &str| -> f64 {
            let line = run.lines().find(|l| l.contains(&format!("flow,up,{metric},"))).unwrap();
            line.split(',').nth(4).unwrap().parse().unwrap()
        };
        let o = bench.contend(&["analyse", "sender", "results/up", "--format", "json"]).with(0).object();
        let s = &o["senders"][0];
        let of = |v: &Value| v.as_f64().unwrap();
        assert_eq!(o["senders"].as_array().unwrap().len(), 1, "{o}");
        // What waits in the station's queue at the end was not on the air.
        assert!((of(&s["segments"]) - figure("sent")).abs() <= 5.0, "{standard} {s} {run}");
        assert_eq!(of(&s["retransmitted"]), figure("retransmitted"), "{standard}");
        assert_eq!(of(&s["events"]["timeout"]), figure("timeouts"), "{standard}");
        assert!(of(&s["retransmitted"]) > 20.0);
        // The run counts what arrived, the capture what was acknowledged.
        assert!((of(&s["goodput_bps"]) / figure("goodput") - 1.0).abs() < 0.02, "{s} {run}");
    }
}

/// Everything that the command does with a capture.
fn read(capture: &[u8]) -> String {
    let mut connections = Connections::default();
    let mut text = String::new();
    let found = packets::read(capture, &mut |_, p| {
        connections.packet(p.at_ns, p.place, p.bytes, p.length, p.damaged, &mut |line| text += &line.csv())
    });
    if let Ok(all) = found.and_then(|()| connections.end()) {
        all.iter().for_each(|s| text += &(s.csv() + &s.table() + &s.to_json().to_string()));
    }
    text
}

#[test]
fn damaged_captures_never_panic() {
    // A linear congruential generator (Knuth, MMIX).
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut useful = 0;
    for (number, name, link) in LINKS {
        for six in [false, true] {
            let records = records(&connection(), link, six);
            for whole in [pcap(number, &records, six), pcapng(number, &records)] {
                assert!(!read(&whole).is_empty(), "{name}");
                for _ in 0..300 {
                    let mut damaged = whole.clone();
                    for _ in 0..=random(8) {
                        let at = random(damaged.len());
                        damaged[at] = [random(256) as u8, 0, 0xff, damaged[at] ^ 1 << random(8)][random(4)];
                    }
                    if random(4) == 0 {
                        damaged.truncate(random(whole.len()));
                    }
                    useful += usize::from(!read(&damaged).is_empty());
                }
            }
        }
    }
    assert!(useful > 3000, "most of the captures are still read: {useful}");
}
