//! Captures as tshark sees them. Without tshark these tests are skipped.

use crate::common::{SMALL, Shape, needs, outcome};
use contend_core::{Body, FlowId, Span, Time};
use contend_lab::experiment::results::Run;
use contend_lab::experiment::size::{CaptureWindow, Measure};
use contend_lab::reading::file::{Overlay, parse};
use contend_lab::running::network;
use contend_lab::writing::output::{CaptureFormat, write_pcapng};
use contend_sim::wifi::phy::{Band, Family, Mode, QOS_CONTROL};
use contend_sim::wifi::{BROADCAST, Frame, FrameKind, FrameOutcome as Fate};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

fn captured(run: &Run, capture: CaptureFormat) -> Option<tempfile::NamedTempFile> {
    if needs::without(&["tshark"], "captures as tshark sees them") {
        return None;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    write_pcapng(run, capture, std::io::BufWriter::new(file.reopen().unwrap())).unwrap();
    Some(file)
}

fn tshark(file: &Path, arguments: &[&str]) -> String {
    let out = Command::new("tshark").arg("-r").arg(file).arg("-n").args(arguments).output().unwrap();
    let complaints = String::from_utf8_lossy(&out.stderr)
        .lines()
        .filter(|l| !l.starts_with("Running as user"))
        .collect::<Vec<_>>()
        .join("\n");
    assert!(out.status.success() && complaints.is_empty(), "{complaints}");
    String::from_utf8(out.stdout).unwrap()
}

fn one_run(frames: usize) -> Run {
    outcome(Shape { uploads: &[3], seeds: 1, frames, ..SMALL }).runs.remove(0)
}

/// A number or truth value as one version of tshark or another prints it.
fn number(text: &str) -> u64 {
    match (text, text.strip_prefix("0x")) {
        ("True", _) => 1,
        ("False", _) => 0,
        (_, Some(hex)) => u64::from_str_radix(hex, 16).unwrap(),
        _ => text.parse().unwrap(),
    }
}

/// Expert information that only tells what TCP did.
fn tells_losses(message: &str) -> bool {
    ["retransmission", "Duplicate ACK", "Previous segment", "Out-Of-Order", "ACKed segment"]
        .iter()
        .any(|known| message.contains(known))
}

#[test]
fn no_frame_is_malformed_and_all_warnings_are_about_losses() {
    let run = one_run(4_000);
    for payload in [0, 64, 65_535] {
        let Some(file) = captured(&run, CaptureFormat { payload, ..CaptureFormat::default() }) else { return };
        assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed"]), "");
        let experts = tshark(
            file.path(),
            &[
                "-Y",
                "_ws.expert.severity >= 0x600000",
                "-T",
                "fields",
                "-e",
                "_ws.expert.message",
                "-E",
                "aggregator=|",
            ],
        );
        let strange: Vec<&str> = experts
            .lines()
            .flat_map(|l| l.split('|'))
            .filter(|m| !tells_losses(m) && !m.contains("Connection"))
            .collect();
        assert!(strange.is_empty(), "payload {payload}: {strange:?}");
    }
}

#[test]
fn frames_with_mcs_name_it_and_have_a_qos_header() {
    let mut run = one_run(300);
    let modes = [(Family::Ht, 40, 2, 7), (Family::Vht, 80, 2, 8), (Family::He, 80, 1, 11)];
    let modes = modes.map(|(family, width, streams, mcs)| Mode::new(family, width, streams, mcs).unwrap());
    for (f, mode) in run.detail.frames.iter_mut().filter(|f| f.kind == FrameKind::Data).zip(modes.iter().cycle()) {
        (f.mode, f.bytes) = (Some(*mode), f.bytes + QOS_CONTROL);
    }
    let Some(file) = captured(&run, CaptureFormat { qos: true, ..CaptureFormat::default() }) else { return };
    assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed"]), "");
    let all = run.detail.frames.iter().filter(|f| f.kind == FrameKind::Data).count();
    let count =
        |filter: &str| tshark(file.path(), &["-Y", filter, "-T", "fields", "-e", "frame.number"]).lines().count();
    assert_eq!(count("wlan.fc.type_subtype == 0x28"), all, "QoS data");
    let filters = [
        "radiotap.mcs.index == 15 && radiotap.mcs.bw == 1",
        "radiotap.vht.mcs.0 == 8 && radiotap.vht.nss.0 == 2 && radiotap.vht.bw == 4",
        "radiotap.he.data_3.data_mcs == 11 && radiotap.he.data_5.data_bw_ru_allocation == 2",
    ];
    for (i, filter) in filters.into_iter().enumerate() {
        assert_eq!(count(filter), (all + 2 - i) / 3, "{filter}");
    }
}

#[test]
fn times_lengths_and_addresses_are_those_of_the_frames() {
    let run = one_run(2_000);
    let Some(file) = captured(&run, CaptureFormat::default()) else { return };
    let fields = [
        "frame.time_epoch",
        "frame.len",
        "wlan.fc.type_subtype",
        "wlan.fc.retry",
        "wlan.ra",
        "wlan.duration",
        "radiotap.flags.badfcs",
        "radiotap.datarate",
    ];
    let text = tshark(
        file.path(),
        &[&["-T", "fields"][..], &fields.iter().flat_map(|f| ["-e", f]).collect::<Vec<_>>()].concat(),
    );
    assert_eq!(text.lines().count(), run.detail.frames.len());
    let mut frames: Vec<_> = run.detail.frames.iter().collect();
    frames.sort_by_key(|f| (f.start, f.from));
    for (line, f) in text.lines().zip(frames) {
        let v: Vec<&str> = line.split('\t').collect();
        assert_eq!(v[0], format!("{}.{:09}", f.start.as_nanos() / 1_000_000_000, f.start.as_nanos() % 1_000_000_000));
        // Radiotap's 22 bytes; the FCS is left out where the frame is cut or did not arrive.
        let cut = f.outcome != Fate::Received
            || f.packet.is_some_and(|p| p.tcp().is_some_and(|s| s.len > 0))
            || (f.kind == FrameKind::Data && f.packet.is_none());
        assert_eq!(v[1].parse::<u32>().unwrap(), 22 + f.bytes - if cut { 4 } else { 0 }, "{f:?}");
        assert_eq!(number(v[2]), if f.kind == FrameKind::Ack { 0x1d } else { 0x20 });
        assert_eq!(number(v[3]), u64::from(f.retry > 0));
        assert_eq!(v[4], format!("02:00:00:00:00:{:02x}", f.to));
        assert_eq!(v[5].parse::<u64>().unwrap(), f.duration.as_micros());
        assert_eq!(number(v[6]), u64::from(f.outcome != Fate::Received));
        assert_eq!(v[7].parse::<f64>().unwrap() * 1e6, f.rate as f64);
    }
}

#[test]
fn a_cf_end_is_for_all_and_reserves_nothing() {
    let mut run = one_run(300);
    let acks = || run.detail.frames.iter().filter(|f| f.kind == FrameKind::Ack).copied();
    let ends = acks().map(|f| {
        let (from, to) = (f.to, BROADCAST);
        let (start, end) = (f.end + Span::from_micros(10), f.end + Span::from_micros(38));
        Frame { kind: FrameKind::CfEnd, from, to, start, end, bytes: 20, duration: Span::ZERO, ..f }
    });
    let ends: Vec<Frame> = ends.collect();
    run.detail.frames.extend(&ends);
    let Some(file) = captured(&run, CaptureFormat::default()) else { return };
    assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed"]), "");
    let fields = ["wlan.ra", "wlan.bssid", "wlan.duration", "wlan.fcs.status", "frame.len"];
    let fields: Vec<&str> = fields.iter().flat_map(|f| ["-e", f]).collect();
    let check = ["-o", "wlan.check_checksum:TRUE", "-Y", "wlan.fc.type_subtype == 0x1e", "-T", "fields"];
    let text = tshark(file.path(), &[&check[..], &fields].concat());
    let expected = ends.iter().map(|f| format!("ff:ff:ff:ff:ff:ff\t02:00:00:00:00:{:02x}\t0\t1\t42", f.from));
    assert_eq!(text.lines().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn a_beacon_is_a_management_frame_for_all() {
    let mut run = one_run(300);
    let acks = || run.detail.frames.iter().filter(|f| f.kind == FrameKind::Ack).copied();
    let beacon = |f: Frame| {
        let (to, start, end) = (BROADCAST, f.end + Span::from_micros(50), f.end + Span::from_micros(348));
        Frame { kind: FrameKind::Beacon, from: 0, to, start, end, bytes: 200, duration: Span::ZERO, sequence: 7, ..f }
    };
    let beacons: Vec<Frame> = acks().map(beacon).collect();
    run.detail.frames.extend(&beacons);
    let Some(file) = captured(&run, CaptureFormat::default()) else { return };
    assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed"]), "");
    let fields = ["wlan.ra", "wlan.bssid", "wlan.seq", "wlan.duration", "frame.len"];
    let fields: Vec<&str> = fields.iter().flat_map(|f| ["-e", f]).collect();
    let beacons_only = ["-Y", "wlan.fc.type == 0 && wlan.fc.subtype == 8", "-T", "fields"];
    let text = tshark(file.path(), &[&beacons_only[..], &fields].concat());
    // 22 bytes of radiotap and the 200 of the beacon, less its FCS: a frame that is cut is stored without.
    let expected = beacons.iter().map(|_| "ff:ff:ff:ff:ff:ff\t02:00:00:00:00:00\t7\t0\t218");
    assert_eq!(text.lines().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn every_checksum_of_a_whole_capture_is_right() {
    let run = one_run(1_500);
    let Some(file) = captured(&run, CaptureFormat { payload: 65_535, band: Band::Ghz5, qos: false }) else { return };
    let check = [
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "wlan.check_checksum:TRUE",
        "-o",
        "wlan.check_fcs:TRUE",
    ];
    let fields = [
        "-T",
        "fields",
        "-e",
        "ip.checksum.status",
        "-e",
        "tcp.checksum.status",
        "-e",
        "wlan.fcs.status",
        "-e",
        "radiotap.channel.freq",
    ];
    let text = tshark(file.path(), &[&check[..], &fields].concat());
    let (mut tcp, mut fcs) = (0, 0);
    for line in text.lines() {
        let v: Vec<&str> = line.split('\t').collect();
        assert!(["", "1"].contains(&v[0]) && ["", "1"].contains(&v[1]) && ["", "1", "2"].contains(&v[2]), "{line}");
        assert_eq!(v[3], "5180");
        tcp += usize::from(v[1] == "1");
        fcs += usize::from(v[2] == "1");
    }
    assert!(tcp > 500, "{tcp}");
    assert_eq!(fcs, run.detail.frames.iter().filter(|f| f.outcome == Fate::Received).count());
}

#[test]
fn tcp_options_and_retransmissions_are_recognised() {
    let run = one_run(4_000);
    let Some(file) = captured(&run, CaptureFormat::default()) else { return };
    let syn = tshark(
        file.path(),
        &[
            "-Y",
            "tcp.flags.syn == 1",
            "-T",
            "fields",
            "-e",
            "tcp.options.mss_val",
            "-e",
            "tcp.options.wscale.shift",
            "-e",
            "tcp.options.sack_perm",
        ],
    );
    assert!(syn.lines().count() >= 2 * run.flows.len());
    assert!(syn.lines().all(|l| l.starts_with("1460\t2\t")), "{syn}");
    let sacks = tshark(file.path(), &["-Y", "tcp.options.sack.count >= 1", "-T", "fields", "-e", "frame.number"])
        .lines()
        .count();
    assert!(sacks > 10, "{sacks}");
    // MAC retries are told apart, so that what TCP retransmitted is what Wireshark calls a retransmission.
    let seen =
        ["-o", "wlan.retransmitted:FALSE", "-Y", "tcp.analysis.retransmission", "-T", "fields", "-e", "frame.number"];
    let again = run
        .detail
        .frames
        .iter()
        .filter(|f| f.retry == 0 && f.packet.is_some_and(|p| p.tcp().is_some_and(|s| s.copy > 0)))
        .count();
    assert_eq!(tshark(file.path(), &seen).lines().count(), again);
}

#[test]
fn no_port_is_taken_for_another_protocol() {
    let mut run = one_run(50);
    let data = *run.detail.frames.iter().find(|f| f.packet.is_some_and(|p| p.size == 1_500)).unwrap();
    run.detail.frames.clear();
    run.detail.channel.ends = vec![Some([0, 1]); 4_000];
    for flow in 0..4_000 {
        for body in [data.packet.unwrap().body, Body::Udp { seq: 3 }] {
            let start = data.start + Span::from_micros(400) * run.detail.frames.len() as u64;
            let mut packet = data.packet.unwrap().with_body(body);
            packet.flow = FlowId(flow);
            run.detail.frames.push(Frame { start, packet: Some(packet), ..data });
        }
    }
    for payload in [0, 64] {
        let Some(file) = captured(&run, CaptureFormat { payload, ..CaptureFormat::default() }) else { return };
        let protocols = tshark(file.path(), &["-T", "fields", "-e", "frame.protocols"]);
        let mut others: Vec<&str> = protocols
            .lines()
            .filter(|l| !l.ends_with("ip:tcp") && !l.ends_with("ip:udp") && !l.ends_with(":data"))
            .collect();
        others.dedup();
        assert!(others.is_empty(), "{others:?}");
        assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed"]), "");
    }
}

/// A chain of three stations with AODV and ARP, of which the first sends to the last.
const CHAIN: &str = "duration = \"3s\"\n[wifi]\nstandard = \"802.11b\"\nrate = \"2Mbps\"\n\
    [field]\nrange = \"250m\"\nsense = \"550m\"\nrouting = { kind = \"aodv\", sizes = \"rfc\" }\narp = true\n\
    [[station]]\nname = \"sta\"\ncount = 3\nposition = [\"= 200m * k\", \"50m\"]\n\
    [[flow]]\nfrom = \"sta.1\"\nto = \"sta.3\"\nudp = { rate = \"100kbps\", packet = \"500B\" }\n";

/// The run of [`CHAIN`] with all its frames.
fn chain() -> Run {
    run_of(CHAIN)
}

/// The run of this file with all its frames.
fn run_of(text: &str) -> Run {
    let e = parse("t.toml", text, &[]).unwrap();
    let resolved = e.scenario(&e.points[0], &Overlay::default()).unwrap();
    let end = Time::ZERO + e.duration;
    let capture = Some(CaptureWindow { from: Time::ZERO, to: end, limit: 10_000 });
    let measure = Measure { duration: e.duration, capture, ..Measure::default() };
    network::run(&resolved, &e.points[0], 1, &measure, &network::Simulated, &AtomicBool::new(false)).unwrap().unwrap()
}

/// A fifth of the MPDUs is lost; two packets share an MPDU.
const AGGREGATES: &str = "duration = \"60ms\"\n[wifi]\nstandard = \"802.11ax\"\nwidth = \"80MHz\"\nmcs = 7\n\
    ampdu = { window = 64, missed = \"request\" }\namsdu = \"3839B\"\n\
    [[station]]\nname = \"sta\"\nloss = { kind = \"per\", p = \"20%\" }\n\
    [[flow]]\nfrom = \"sta\"\nto = \"server\"\nudp = { rate = \"400Mbps\" }\n\
    [[flow]]\nfrom = \"server\"\nto = \"sta\"\nudp = { rate = \"100Mbps\" }\n";

#[test]
fn each_mpdu_of_an_aggregate_is_a_packet_and_the_bitmap_says_which_are_lost() {
    for (standard, field, window, bytes) in [
        ("802.11ax", "radiotap.he.data_3.data_mcs", 64, 8),
        ("802.11ax", "radiotap.he.data_3.data_mcs", 256, 32),
        ("802.11ac", "radiotap.vht.mcs.0", 64, 8),
        ("802.11n", "radiotap.mcs.index", 64, 8),
        ("802.11be", "radiotap.tlv.type", 256, 32),
    ] {
        let text = AGGREGATES.replace("802.11ax", standard).replace("window = 64", &format!("window = {window}"));
        let text = if standard == "802.11n" { text.replace("80MHz", "40MHz") } else { text };
        let run = run_of(&text);
        let Some(file) = captured(&run, CaptureFormat { qos: true, band: Band::Ghz5, ..CaptureFormat::default() })
        else {
            return;
        };
        assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed"]), "", "{standard}");
        let columns = [
            "wlan.fc.type_subtype",
            "wlan.seq",
            "radiotap.flags.badfcs",
            "radiotap.ampdu.reference",
            "radiotap.ampdu.flags.last",
            "wlan.fixed.ssc.sequence",
            "wlan.ba.bm",
            "wlan_aggregate.a_mdsu.length",
            field,
        ];
        let names = columns.iter().flat_map(|c| ["-e", c]).collect::<Vec<_>>();
        let text = tshark(file.path(), &[&["-T", "fields", "-E", "occurrence=a"][..], &names].concat());
        // Number of each MPDU of the latest A-MPDU, and whether it was lost; empty after a request.
        let (mut reference, mut sent) = (u64::MAX, vec![]);
        let (mut aggregates, mut answers, mut lost, mut shared) = (0, 0, 0, 0);
        for line in text.lines() {
            let v: Vec<&str> = line.split('\t').collect();
            match number(v[0]) {
                0x28 => {
                    assert!(!v[8].is_empty(), "{line}");
                    shared += u32::from(v[7].contains(','));
                    if !v[3].is_empty() {
                        if std::mem::replace(&mut reference, number(v[3])) != reference {
                            sent.clear();
                        }
                        sent.push((number(v[1]), number(v[2]) == 1));
                        aggregates += number(v[4]);
                    }
                }
                0x19 => {
                    let (first, bitmap) = (number(v[5]), v[6].replace(':', ""));
                    let byte = |i: usize| u8::from_str_radix(&bitmap[2 * i..2 * i + 2], 16).unwrap();
                    assert_eq!(bitmap.len(), 2 * bytes);
                    for (seq, is_lost) in sent.drain(..) {
                        let place = (seq.wrapping_sub(first) & 0xfff) as usize;
                        assert_eq!(byte(place / 8) >> (place % 8) & 1, u8::from(!is_lost), "{line}");
                        lost += u32::from(is_lost);
                    }
                    answers += 1;
                }
                0x18 => sent.clear(),
                _ => {}
            }
        }
        assert!(aggregates > 10 && answers > 10 && lost > 20 && shared > 100, "{aggregates} {answers} {lost}");
    }
}

/// The station asks for uploads, the access point for downloads, each once: a window of 64, and of 1024 with its
/// extension.
#[test]
fn an_agreement_is_a_pair_of_action_frames() {
    for (standard, window, bytes, extension) in [("802.11ax", 64, 37, ""), ("802.11be", 1024, 40, "159")] {
        let ampdu = format!("window = {window}, addba = \"1s\"");
        let text = AGGREGATES.replace("802.11ax", standard).replace("window = 64", &ampdu).replace("20%", "0%");
        let run = run_of(&text);
        let Some(file) = captured(&run, CaptureFormat { qos: true, band: Band::Ghz5, ..CaptureFormat::default() })
        else {
            return;
        };
        assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed"]), "", "{standard}");
        let columns = [
            "wlan.sa",
            "wlan.fixed.action_code",
            "wlan.fixed.baparams.policy",
            "wlan.fixed.baparams.amsdu",
            "wlan.fixed.baparams.tid",
            "wlan.fixed.baparams.buffersize",
            "wlan.fcs.status",
            "wlan.tag.number",
            "frame.len",
        ];
        let columns: Vec<&str> = columns.iter().flat_map(|c| ["-e", c]).collect();
        let check = ["-o", "wlan.check_checksum:TRUE", "-Y", "wlan.fc.type_subtype == 0x0d", "-T", "fields"];
        let text = tshark(file.path(), &[&check[..], &columns].concat());
        // Without its FCS a frame was not received.
        let whole = text.lines().filter(|l| l.ends_with(&format!("\t{}", bytes + 22)));
        let mut lines: Vec<String> = whole.map(|l| l.replace("True", "1").replace("0x", "")).collect();
        lines.sort();
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(from, action)| {
            let low = window % 1024;
            format!("02:00:00:00:00:0{from}\t0{action}\t1\t1\t0000\t{low}\t1\t{extension}\t{}", bytes + 22)
        });
        assert_eq!(lines, all, "{standard}");
    }
}

#[test]
fn each_frame_of_a_field_says_where_its_transmitter_was() {
    let run = chain();
    let Some(file) = captured(&run, CaptureFormat::default()) else { return };
    let text = tshark(file.path(), &["-T", "fields", "-e", "frame.comment"]);
    assert_eq!(text.lines().count(), run.detail.frames.len());
    let mut frames: Vec<_> = run.detail.frames.iter().collect();
    frames.sort_by_key(|f| (f.start, f.from));
    for (line, f) in text.lines().zip(frames) {
        let place = format!("from sta.{} at ({}.00m, 50.00m)", f.from + 1, 200 * (f.from + 1));
        assert!(line.ends_with(&place), "{line} does not end with {place}");
    }
    assert!(text.starts_with("rreq, from sta.1 at "), "{text}");
}

#[test]
fn messages_of_stations_are_read_by_the_dissectors_of_their_standards() {
    let run = chain();
    let Some(file) = captured(&run, CaptureFormat { payload: 65_535, ..CaptureFormat::default() }) else { return };
    assert_eq!(tshark(file.path(), &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000"]), "");
    let fields = |filter: &str, names: &[&str]| {
        let names = names.iter().flat_map(|n| ["-e", n]).collect::<Vec<_>>();
        tshark(file.path(), &[&["-Y", filter, "-T", "fields"][..], &names].concat())
    };
    // Station 0 looks for station 2: it asks all, station 1 asks on, and station 2 answers.
    let asked = fields("aodv.type == 1", &["wlan.ra", "ip.dst", "aodv.dest_ip", "aodv.orig_ip"]);
    let asked: Vec<&str> = asked.lines().collect();
    assert!(asked.len() >= 2, "{asked:?}");
    assert!(asked.iter().all(|l| *l == "ff:ff:ff:ff:ff:ff\t255.255.255.255\t10.0.0.2\t10.0.0.0"), "{asked:?}");
    let answered = fields("aodv.type == 2 && wlan.ra == 02:00:00:00:00:00", &["ip.src", "aodv.dest_ip"]);
    assert!(answered.lines().all(|l| l == "10.0.0.1\t10.0.0.2") && !answered.is_empty(), "{answered}");
    let resolved = fields("arp.opcode == 1", &["wlan.ra", "arp.src.proto_ipv4"]);
    assert!(resolved.lines().all(|l| l.starts_with("ff:ff:ff:ff:ff:ff\t10.0.0.")) && !resolved.is_empty());
    // Data pass three stations and keep the addresses of their ends.
    let data = fields("udp.dstport == 50001", &["wlan.ta", "ip.src", "ip.dst", "wlan.fc.ds"]);
    let hops: BTreeSet<&str> = data.lines().collect();
    let ends = |ta: u8| format!("02:00:00:00:00:0{ta}\t10.0.0.0\t10.0.0.2\t0x00");
    assert_eq!(hops, [ends(0), ends(1)].iter().map(String::as_str).collect());
}
