//! Captures of cards whose backoff is known: what a fingerprint finds, how often it errs, and that no bytes make it
//! panic.

use crate::common::Dice;
use contend_core::registry::{Args, Value};
use contend_core::{Cx, Time};
use contend_lab::measuring::analyse::access;
use contend_lab::measuring::analyse::exchange::Exchange;
use contend_lab::measuring::analyse::fingerprint::{Fingerprint, First, Gaps, Settings, Verdict, fingerprint, of_gaps};
use contend_lab::measuring::analyse::{Address, CapturedFrames, Seen};
use contend_sim::wifi::access::{Channel, Draw, REGISTRY, Seen as Heard, Setting};
use contend_sim::wifi::phy::{Phy, Preamble, Standard};
use proptest::prelude::*;

/// 50 + 192 + 792 + 10 + 248 us: 1088 B at 11 Mb/s, long preamble, ACK at 2 Mb/s.
const EXCHANGE_NS: u64 = 1_292_000;
const SLOT_NS: u64 = 20_000;

fn settings(alpha: f64) -> Settings {
    let exchange = Exchange { phy: Phy::new(Standard::B, Preamble::Long), rate: None, bytes: None };
    Settings { slot_ns: SLOT_NS, slots: 32, first: First::Found, alpha, exchange }
}

/// Parameters of an access rule; those left out have their defaults.
type Parameters<'a> = &'a [(&'static str, Value)];

/// `n` backoffs that a card with this access rule draws when it is alone.
fn draws(rule: &str, with: Parameters, seed: u64, n: usize) -> Vec<u32> {
    let entry = REGISTRY.iter().find(|e| e.name == rule).unwrap();
    let mut args = Args::default();
    with.iter().for_each(|(name, value)| args.set(name, value.clone()));
    let setting = Setting::of(&Phy::new(Standard::B, Preamble::Long));
    let mut card = (entry.build)(&args, setting).unwrap();
    let mut rng = contend_sim::rng::stream(seed, "card", "backoff");
    let channel = Channel::new();
    let heard = Heard { contenders: 1, bytes: 1052, busy_counts: false, channel: &channel };
    (0..n).map(|_| card.draw(&mut Cx { now: Time::ZERO, rng: &mut rng }, Draw::Success, &heard)).collect()
}

/// The gaps of these backoffs in nanoseconds; each timestamp is late by a value of `late`.
fn gaps(backoffs: &[u32], mut late: impl FnMut() -> u64) -> Gaps {
    let between_ns = backoffs.iter().map(|b| Some(EXCHANGE_NS + u64::from(*b) * SLOT_NS + late())).collect();
    Gaps { frames: backoffs.len() + 1, between_ns, bytes: 1088, rate_bps: Some(11_000_000), ..Gaps::default() }
}

fn of(backoffs: &[u32]) -> Fingerprint {
    of_gaps(gaps(backoffs, || 0), &settings(0.001))
}

fn weights(of: impl Fn(u32) -> f64) -> [(&'static str, Value); 1] {
    [("weights", Value::Numbers((0..32).map(of).collect()))]
}

#[test]
fn a_card_that_conforms_passes_and_each_fault_is_named_at_a_hundred_thousand_frames_and_at_a_million() {
    let ramp = weights(|k| 1.0 + f64::from(k) / 310.0);
    let two_missing = weights(|k| if k == 3 || k == 31 { 0.0 } else { 1.0 });
    let rare = weights(|k| if k == 17 { 0.05 } else { 1.0 });
    let cycle = [("sequence", Value::Numbers((0..32).map(f64::from).collect()))];
    let cards: [(&str, Parameters, Verdict); 8] = [
        ("dcf", &[], Verdict::Conformant),
        ("pdf", &two_missing, Verdict::MissingSlots),
        ("pdf", &rare, Verdict::MissingSlots),
        ("pdf", &ramp, Verdict::Uneven),
        ("dcf", &[("cwmin", Value::Integer(15))], Verdict::AnotherCwMin),
        ("dcf", &[("cwmin", Value::Integer(63))], Verdict::AnotherCwMin),
        ("permutation", &cycle, Verdict::NotIndependent),
        ("permutation", &[], Verdict::NotIndependent),
    ];
    for n in [100_000, 1_000_000] {
        for (rule, with, verdict) in &cards {
            let f = of(&draws(rule, with, 1, n));
            assert_eq!(f.verdict, *verdict, "{rule} {with:?}: {}", f.words);
            assert_eq!(f.first_ns, EXCHANGE_NS, "{rule} {with:?}");
        }
        let f = of(&draws("pdf", &two_missing, 2, n));
        assert_eq!((f.missing.as_slice(), f.peaks.len()), (&[3, 31][..], 30), "{}", f.words);
        assert!(f.words.contains("slots 3, 31"), "{}", f.words);
        // A ramp from 1 to 1.1: its mean backoff is that of its weights.
        let (sum, mean) = (0..32)
            .map(|k| (1.0 + f64::from(k) / 310.0, f64::from(k)))
            .fold((0.0, 0.0), |a, (w, k)| (a.0 + w, a.1 + w * k));
        let f = of(&draws("pdf", &ramp, 3, n));
        assert!((f.mean_slots - mean / sum).abs() < 4.0 * 9.23 / (n as f64).sqrt(), "{}", f.mean_slots);
    }
}

#[test]
fn a_conforming_card_is_rejected_as_often_as_the_significance_level_says() {
    // 400 cards at 5 %: by Bonferroni at most 20 are rejected on average, and more than 37 once in ten thousand times.
    let refused = (0..400)
        .filter(|seed| {
            of_gaps(gaps(&draws("dcf", &[], *seed, 6_000), || 0), &settings(0.05)).verdict != Verdict::Conformant
        })
        .count();
    assert!((5..=37).contains(&refused), "{refused}");
    // At the default of 0.1 %, more than 4 of 400 cards are rejected once in a thousand times.
    let refused =
        (0..400).filter(|seed| of(&draws("dcf", &[], 1_000 + *seed, 6_000)).verdict != Verdict::Conformant).count();
    assert!(refused <= 4, "{refused}");
}

#[test]
fn times_late_by_less_than_a_slot_change_nothing_and_coarse_times_are_reported() {
    let backoffs = draws("dcf", &[], 5, 100_000);
    let mut dice = Dice::new(1);
    // Each time is late by up to 3 us, so a gap is up to 3 us too long or too short.
    let mut last = 0;
    let f = of_gaps(
        gaps(&backoffs, || {
            let now = dice.below(3_000);
            let gap = 3_000 + now - last;
            last = now;
            gap
        }),
        &settings(0.001),
    );
    assert_eq!(f.verdict, Verdict::Conformant, "{}", f.words);
    assert!(f.sharpness > 0.9 && f.sharpness < 1.0);
    // A clock with a tick of 100 us does not resolve slots of 20 us.
    let mut at = 0_u64;
    let coarse: Vec<u64> =
        backoffs.iter().map(|b| EXCHANGE_NS + u64::from(*b) * SLOT_NS + dice.below(100_000)).collect();
    let between_ns = coarse
        .iter()
        .map(|g| {
            let before = at / 100_000 * 100_000;
            at += g;
            Some(at / 100_000 * 100_000 - before + dice.below(20_000))
        })
        .collect();
    let f = of_gaps(Gaps { between_ns, ..gaps(&[], || 0) }, &settings(0.001));
    assert_eq!(f.verdict, Verdict::Blurred, "{}", f.words);
}

#[test]
fn a_card_that_never_draws_zero_is_found_if_the_exchange_is_known() {
    let no_nought = weights(|k| if k == 0 { 0.0 } else { 1.0 });
    let backoffs = draws("pdf", &no_nought, 1, 50_000);
    assert_eq!(of(&backoffs).missing, [31], "its first peak is taken for 0");
    for first in [First::Computed, First::Given(EXCHANGE_NS)] {
        let f = of_gaps(gaps(&backoffs, || 0), &Settings { first, ..settings(0.001) });
        assert_eq!((f.verdict, f.missing.as_slice()), (Verdict::MissingSlots, &[0][..]), "{}", f.words);
    }
}

#[test]
fn a_source_that_is_not_saturated_is_not_taken_for_a_card() {
    let between = |gaps_us: &dyn Fn(u64) -> u64| {
        let between_ns = (0..10_000).map(|k| Some(gaps_us(k) * 1_000)).collect();
        of_gaps(Gaps { between_ns, ..gaps(&[], || 0) }, &settings(0.001))
    };
    // Gaps that are the sum of twelve draws from 0 to 3 ms lie on no grid.
    let random = |k: u64| {
        let mut dice = Dice::new(k);
        1_292 + (0..12).map(|_| dice.below(3_000)).sum::<u64>()
    };
    let f = between(&|_| 46_875);
    assert_eq!(
        (f.verdict, f.peaks.as_slice()),
        (Verdict::ConstrainedSource, &[(46_875_000.0, 10_000)][..]),
        "{}",
        f.words
    );
    let f = between(&|k| if k % 3 == 0 { 40_000 } else { 50_000 });
    assert_eq!((f.verdict, f.peaks.len()), (Verdict::ConstrainedSource, 2), "{}", f.words);
    assert_eq!(between(&random).verdict, Verdict::ConstrainedSource, "{}", between(&random).words);
    // The source is backlogged most of the time, but not always.
    let backoffs = draws("dcf", &[], 1, 10_000);
    let f = between(&|k| {
        if k % 5 == 0 {
            30_000 + 977 * (k % 100)
        } else {
            (EXCHANGE_NS + u64::from(backoffs[k as usize]) * SLOT_NS) / 1_000
        }
    });
    assert_eq!(f.verdict, Verdict::ConstrainedSource, "{}", f.words);
}

#[test]
fn too_few_gaps_say_nothing() {
    let f = of(&draws("dcf", &[], 1, 639));
    assert_eq!((f.verdict, of(&[]).verdict), (Verdict::TooFewFrames, Verdict::TooFewFrames));
    assert!(f.words.contains("639") && f.words.contains("640"), "{}", f.words);
    assert_eq!(of(&draws("dcf", &[], 1, 640)).verdict, Verdict::Conformant);
}

const CARD: Address = Address::Mac([2, 0, 0, 0, 0, 1]);
const OTHER: Address = Address::Mac([2, 0, 0, 0, 0, 2]);

fn frame(at_us: u64, from: Address, sequence: u16) -> Seen {
    let (rate_bps, packet, sequence) = (Some(11_000_000), Some(1052), Some(sequence));
    Seen {
        at_ns: at_us * 1_000,
        from: Some(from),
        bytes: 1088,
        packet,
        rate_bps,
        retry: false,
        sequence,
        corrupted: false,
        data: true,
        ip: None,
        down: false,
    }
}

#[test]
fn gaps_without_information_on_backoff_are_skipped_and_counted() {
    let card = |at, sequence| frame(at, CARD, sequence);
    let frames = vec![
        card(0, 4094),
        card(1_300, 4095),
        card(2_600, 0),
        Seen { retry: true, ..card(4_900, 0) },
        card(6_200, 1),
        card(9_000, 3),
        frame(9_500, OTHER, 9),
        card(12_000, 4),
        Seen { bytes: 90, ..card(13_000, 5) },
        card(14_000, 6),
        Seen { corrupted: true, ..card(15_000, 7) },
        card(16_000, 7),
    ];
    let g = contend_lab::measuring::analyse::fingerprint::gaps(
        &CapturedFrames { frames, ..CapturedFrames::default() },
        CARD,
    );
    let us = |g: u64| Some(g * 1_000);
    assert_eq!(g.between_ns, [us(1_300), us(1_300), None, us(1_300), None, None, None, None, None, None]);
    assert_eq!((g.frames, g.retries, g.missed, g.disturbed, g.other), (11, 3, 1, 1, 2));
}

#[test]
fn backoffs_among_others_are_no_fair_sample() {
    let mut frames = Vec::new();
    let mut at = 0;
    for (i, b) in draws("dcf", &[], 1, 20_000).iter().enumerate() {
        at += 1_292 + u64::from(*b) * 20;
        frames.push(frame(at, CARD, i as u16 % 4096));
        if i % 3 == 0 {
            frames.push(frame(at + 1, OTHER, 0));
        }
    }
    let f = fingerprint(&CapturedFrames { frames, ..CapturedFrames::default() }, CARD, &settings(0.001));
    assert!(f.verdict == Verdict::TooFewFrames && f.words.contains("alone"), "{}", f.words);
}

#[test]
fn equal_and_unequal_access_of_two_stations_are_distinguished() {
    // Residual backoff in slots, the other's window of 32 slots and the card's of so many; a tie is drawn again. A
    // pause of 100 ms now and then.
    let found = |window: u64| {
        let mut dice = Dice::new(window);
        let (mut at, mut card, mut other) = (0, 1, 2);
        let frames = (0..20_000).map(|i| {
            while card == other {
                (card, other) = (dice.below(window), dice.below(32));
            }
            let idle = card.min(other);
            at += 1_292 + 20 * idle + if i % 1_000 == 0 { 100_000 } else { 0 };
            let won = card < other;
            (card, other) = if won { (dice.below(window), other - idle) } else { (card - idle, dice.below(32)) };
            frame(at, if won { CARD } else { OTHER }, 0)
        });
        let capture = CapturedFrames { frames: frames.collect(), ..CapturedFrames::default() };
        let s = access::Settings { interval_ns: 1_000_000_000, slots: 32, exchange: settings(0.1).exchange };
        access::access(&capture, [CARD, OTHER], &s).unwrap()
    };
    let equal = found(32);
    assert!(equal.p.unwrap() > 0.001, "{equal:?}");
    assert_eq!(equal.parts.iter().map(|p| p.packets).sum::<u64>(), 20_000);
    assert!(equal.parts.iter().all(|p| p.per_interval.iter().sum::<u64>() == p.packets));
    // Twenty pauses of 100 ms belong to neither station.
    assert!(equal.both_s < equal.span_s - 1.9 && equal.both_s > 0.9 * (equal.span_s - 2.0), "{equal:?}");
    assert!(found(24).p.unwrap() < 1e-6);
}

// ---- files ----

/// A classic capture of these frames, each with the time in nanoseconds.
fn pcap(big: bool, nano: bool, link: u32, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let u32s = |x: u32| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let u16s = |x: u16| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut out = u32s(if nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
    out.extend([u16s(2), u16s(4)].concat());
    out.extend([u32s(0), u32s(0), u32s(60), u32s(link)].concat());
    for (ns, bytes) in frames {
        let fraction = ns % 1_000_000_000 / if nano { 1 } else { 1_000 };
        let kept = &bytes[..bytes.len().min(60)];
        out.extend(
            [
                u32s((ns / 1_000_000_000) as u32),
                u32s(fraction as u32),
                u32s(kept.len() as u32),
                u32s(bytes.len() as u32),
            ]
            .concat(),
        );
        out.extend(kept);
    }
    out
}

fn ip(source: u8) -> Vec<u8> {
    let mut packet = vec![0; 1052];
    packet[..20].copy_from_slice(&[0x45, 0, 0x04, 0x1c, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 1, 0, 0]);
    packet
}

fn ethernet(source: u8) -> Vec<u8> {
    [vec![2, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, source, 8, 0], ip(source)].concat()
}

/// An 802.11 data frame to the access point, without its FCS.
fn dot11(source: u8, retry: bool, sequence: u16) -> Vec<u8> {
    let head = [0x08, 1 | if retry { 8 } else { 0 }, 0, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, source, 2, 0, 0, 1, 0, 0];
    [&head[..], &(sequence << 4).to_le_bytes(), &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &ip(source)].concat()
}

/// With a radiotap header of TSFT, flags and rate behind a second word of presence.
fn radiotap(tsft_us: u64, flags: u8, frame: &[u8]) -> Vec<u8> {
    // 8 B, the second word, 4 B of padding, TSFT, flags, rate: 26 B.
    let head =
        [&[0, 0, 26, 0][..], &0x8000_0007_u32.to_le_bytes(), &[0; 4], &[0; 4], &tsft_us.to_le_bytes(), &[flags, 22]]
            .concat();
    [head, frame.to_vec()].concat()
}

/// The times of an even card's frames in microseconds.
fn times(n: usize) -> Vec<u64> {
    let mut at = 1_000_000_000_000;
    draws("dcf", &[], 7, n)
        .iter()
        .map(|b| {
            at += 1_292 + 20 * u64::from(*b);
            at
        })
        .collect()
}

#[test]
fn every_kind_of_capture_gives_the_same_fingerprint() {
    let times = times(3_000);
    let each = |frame: &dyn Fn(usize, u64) -> Vec<u8>, shift: u64| {
        times.iter().enumerate().map(|(i, t)| (t * 1_000 + shift * (i as u64 % 3), frame(i, *t))).collect::<Vec<_>>()
    };
    let plain = each(&|_, _| ethernet(1), 0);
    let raw = each(&|_, _| ip(1), 0);
    let wifi = each(&|i, _| dot11(1, false, i as u16 % 4096), 0);
    // The clock of the capturing system is useless here, so the clock of the receiver is used. The FCS is stored as
    // four more bytes.
    let tapped = each(&|i, t| radiotap(t, 0x10, &[dot11(1, false, i as u16 % 4096), vec![0; 4]].concat()), 5_000_000);
    let mut cases = vec![
        ("raw IP", pcap(false, true, 101, &raw)),
        ("802.11", pcap(false, false, 105, &wifi)),
        ("radiotap", pcap(true, true, 127, &tapped)),
    ];
    for (big, nano) in [(false, false), (false, true), (true, false), (true, true)] {
        cases.push(("Ethernet", pcap(big, nano, 1, &plain)));
    }
    for (name, bytes) in cases {
        let capture = CapturedFrames::read(&bytes[..]).unwrap_or_else(|p| panic!("{name}: {p}"));
        assert_eq!((capture.frames.len(), capture.tsft), (3_000, name == "radiotap"), "{name}");
        let station = capture.station(None).unwrap();
        assert_eq!(station, if name == "raw IP" { Address::Ip4([10, 0, 0, 1]) } else { CARD }, "{name}");
        let f = fingerprint(&capture, station, &settings(0.001));
        assert_eq!(
            (f.verdict, f.first_ns, f.gaps.bytes, f.used),
            (Verdict::Conformant, EXCHANGE_NS, 1088, 2_999),
            "{name}: {}",
            f.words
        );
        assert_eq!(f.gaps.rate_bps.is_some(), name == "radiotap");
    }
}

/// A pcapng block.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (body.len().next_multiple_of(4) + 12) as u32;
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), body, &padding, &length.to_le_bytes()].concat()
}

#[test]
fn times_of_pcapng_have_the_resolution_and_the_offset_that_their_interface_says() {
    let section = block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    let option = |code: u16, value: &[u8]| {
        [
            &code.to_le_bytes()[..],
            &(value.len() as u16).to_le_bytes(),
            value,
            &vec![0; value.len().next_multiple_of(4) - value.len()],
        ]
        .concat()
    };
    let interface = |options: Vec<u8>| block(1, &[&[1, 0, 0, 0, 0, 0, 0, 0][..], &options].concat());
    let packet = |on: u32, units: u64| {
        let bytes = ethernet(1);
        let head = [on, (units >> 32) as u32, units as u32, 60, bytes.len() as u32].map(u32::to_le_bytes).concat();
        block(6, &[head, bytes[..60].to_vec()].concat())
    };
    // Microseconds by default; 2^10 to a second; nanoseconds from 100 s on.
    let interfaces = [
        interface(vec![]),
        interface(option(9, &[0x8a])),
        interface([option(9, &[9]), option(14, &100_u64.to_le_bytes())].concat()),
    ];
    let packets = [packet(0, 2_000_000), packet(1, 3 * 1024 + 512), packet(2, 5)];
    let names = block(4, &[&1_u16.to_le_bytes()[..], &[9, 0], &[10, 0, 0, 1], b"card\0", &[0; 3], &[0; 4]].concat());
    let capture =
        CapturedFrames::read(&[section.clone(), interfaces.concat(), names, packets.concat()].concat()[..]).unwrap();
    assert_eq!(
        capture.frames.iter().map(|f| f.at_ns).collect::<Vec<_>>(),
        [2_000_000_000, 3_500_000_000, 100_000_000_005]
    );
    assert_eq!((capture.station(Some("card")), capture.label(CARD)), (Ok(CARD), "card [02:00:00:00:00:01]".to_owned()));
    // A packet of an interface that the file does not describe.
    assert!(CapturedFrames::read(&[section, packet(0, 1)].concat()[..]).unwrap_err().what.contains("damaged"));
}

#[test]
fn every_error_about_a_capture_names_the_remedy() {
    let whole = pcap(false, false, 1, &[(5, ethernet(1)), (9, ethernet(1))]);
    let says = |bytes: &[u8], what: &str| {
        let p = CapturedFrames::read(bytes).unwrap_err();
        assert!(p.what.contains(what) && !p.remedy.is_empty(), "{p:?}");
    };
    says(b"", "empty");
    says(b"title = \"x\"", "not a capture");
    says(&[0x1f, 0x8b, 8, 0, 0], "compressed");
    for cut in [10, 30, whole.len() - 1] {
        says(&whole[..cut], "truncated");
    }
    says(&whole[..24], "no packets");
    says(&pcap(false, false, 113, &[(5, ethernet(1))]), "link type is 113");
    says(&pcap(false, false, 127, &[(5, vec![0; 4])]), "no frame");
    let endless = [&whole[..24], &[0; 8], &[0xff; 8]].concat();
    says(&endless, "too long");
    let p = CapturedFrames::read(&whole[..]).unwrap().station(Some("02:00:00:00:00:77")).unwrap_err();
    assert!(p.what.contains("02:00:00:00:00:77") && p.remedy.contains("02:00:00:00:00:01 (2 frames)"), "{p:?}");
}

fn analysed(bytes: &[u8]) {
    if let Ok(capture) = CapturedFrames::read(bytes) {
        for first in [First::Found, First::Computed, First::Given(u64::MAX)] {
            for a in capture.transmitters().iter().take(3) {
                let f = fingerprint(&capture, a.0, &Settings { first, ..settings(0.001) });
                assert!(!f.words.is_empty());
            }
        }
        if let [a, b, ..] = capture.transmitters().as_slice() {
            let s = access::Settings { interval_ns: 1_000_000_000, slots: 32, exchange: settings(0.1).exchange };
            let _ = access::access(&capture, [a.0, b.0], &s);
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), magic in 0usize..5) {
        let magics: [&[u8]; 5] = [
            &[0xd4, 0xc3, 0xb2, 0xa1], &[0xa1, 0xb2, 0x3c, 0x4d], &[0x0a, 0x0d, 0x0d, 0x0a],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a], &[],
        ];
        analysed(&[magics[magic], &bytes].concat());
    }

    /// Captures that were good, with bytes changed and their end cut off.
    #[test]
    fn no_damage_makes_it_panic(
        kind in 0usize..4, changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut: prop::sample::Index, whole: bool,
    ) {
        let frames: Vec<(u64, Vec<u8>)> = (0..40u64)
            .map(|i| {
                let (source, sequence) = ((i % 3) as u8, i as u16);
                let bytes = match kind {
                    0 => ethernet(source),
                    1 => dot11(source, i % 7 == 0, sequence),
                    2 => radiotap(i * 1_300, (i % 5) as u8 * 16, &dot11(source, false, sequence)),
                    _ => ip(source),
                };
                (i * 1_300_000, bytes)
            })
            .collect();
        let mut bytes = pcap(kind == 1, kind == 2, [1, 105, 127, 101][kind], &frames);
        for (at, to) in changes {
            let at = at.index(bytes.len());
            bytes[at] = to;
        }
        let end = if whole { bytes.len() } else { cut.index(bytes.len()) };
        analysed(&bytes[..end]);
    }
}
