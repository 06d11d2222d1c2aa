//! Durations of PPDUs with MCS: compared with the formulas of the standard and with ns-3, and by hand.

use contend_core::Span;
use contend_sim::wifi::phy::*;

const VECTORS: &str = include_str!("../../../../vectors/ppdu/durations.csv");

fn mode(family: Family, width: u16, streams: u8, mcs: u8) -> Mode {
    Mode::new(family, width, streams, mcs).unwrap()
}

fn ns(mode: Mode, psdu: u32) -> u64 {
    McsTiming::new(mode, Span::ZERO).airtime(psdu).total.as_nanos()
}

/// Calls `f` with each row: format, band, width, streams, MCS, guard interval, and (PSDU bytes, IEEE, ns-3).
fn rows(mut f: impl FnMut(&str, Band, [u64; 4], [u64; 3])) {
    for line in VECTORS.lines().filter(|l| !l.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        let band = Band::ALL.iter().find(|b| b.0 == fields[1]).unwrap().1;
        let numbers: Vec<u64> = fields[2..6].iter().map(|n| n.parse().unwrap()).collect();
        for one in fields[6].split(' ') {
            let values: Vec<u64> = one.split(':').map(|n| n.parse().unwrap()).collect();
            f(fields[0], band, numbers[..].try_into().unwrap(), [values[0], values[1], *values.last().unwrap()]);
        }
    }
}

/// One row has a mode that VHT excludes (160 MHz, three streams, MCS 9): ns-3 permits it, and the formulas hold.
#[test]
fn every_duration_is_that_of_the_standard_or_of_ns_3() {
    let mut compared = 0;
    rows(|format, band, [width, streams, mcs, guard], [psdu, ieee, ns3]| {
        let phy = Phy::in_band(Standard::N, band, Preamble::Long);
        let formats = match [Family::Ht, Family::Vht, Family::He].into_iter().find(|f| f.name() == format) {
            None => [phy.rate(mcs * 1_000_000).unwrap(); 2],
            Some(family) => {
                let (width, streams, mcs) = (width as u16, streams as u8, mcs as u8);
                let (guard, fec, padding) = (Span::from_nanos(guard), Fec::Bcc, 0);
                let mode = Mode { family, width, streams, mcs, guard, fec, padding };
                [McsTiming::new, McsTiming::of_ns3].map(|new| Format::of_mcs(new(mode, phy.signal_extension)))
            }
        };
        let total = formats.map(|f| f.airtime(psdu as u32).total.as_nanos());
        assert_eq!(total, [ieee, ns3], "{format} {band:?} {width} {streams} {mcs} {guard} {psdu}");
        compared += 1;
    });
    assert_eq!(compared, 1748);
}

/// The highest rates that the standards claim.
#[test]
fn the_highest_rates_are_those_of_the_standards() {
    let highest = |family, width, streams, guard| {
        let fastest = mode(family, width, streams, 0).fastest();
        let bps = McsTiming::new(Mode { guard: Span::from_nanos(guard), ..fastest }, Span::ZERO).bps();
        (bps as f64 / 1e5).round() / 10.0
    };
    assert_eq!(highest(Family::Ht, 40, 4, 400), 600.0);
    assert_eq!(highest(Family::Ht, 20, 2, 400), 144.4);
    assert_eq!(highest(Family::Vht, 160, 8, 400), 6933.3);
    assert_eq!(highest(Family::He, 160, 8, 800), 9607.8);
    assert_eq!(highest(Family::Eht, 320, 8, 800), 23_058.8);
}

/// By hand. HT MCS 0, 82 B: 672 bits are 26 symbols, 1352 coded bits; 1944 - 1352 - 300 = 292 of 972 parity bits are
/// punctured, and 300 < 1.2 x 292 bits shortened: 27 symbols. 73 B: 600 bits are 24 symbols, 1248 coded bits, which a
/// word of 1296 bits fills without puncturing. HE 40 MHz MCS 0, 82 B: 3 symbols, 702 data bits, 1404 coded bits, 270
/// punctured and 270 shortened: 4 symbols, of which the last has one segment: 4 us with padding 16.
#[test]
fn a_short_psdu_with_ldpc_has_an_extra_symbol() {
    let ldpc = |family, width| Mode { fec: Fec::Ldpc, ..mode(family, width, 1, 0) };
    let ht = |psdu| ns(ldpc(Family::Ht, 20), psdu);
    assert_eq!([ht(82), ht(73)], [36_000 + 27 * 4_000, 36_000 + 24 * 4_000]);
    let he = ldpc(Family::He, 40);
    assert_eq!(ns(he, 82), 43_200 + 4 * 13_600);
    assert_eq!(ns(Mode { padding: 16, ..he }, 82), 43_200 + 4 * 13_600 + 4_000);
    assert_eq!(ns(Mode { fec: Fec::Bcc, ..he }, 82), 43_200 + 3 * 13_600);
}

/// By hand. HE 20 MHz MCS 0, one stream, 117 bits a symbol, segments of 30 bits: 22 + 8 x 82 = 678 bits are 5 symbols
/// and 93 bits, four segments; 22 + 8 x 77 = 638 are 5 symbols and 53, two segments; T_PE by Table 27-46.
#[test]
fn the_packet_extension_follows_the_segments_of_the_last_symbol() {
    let he = mode(Family::He, 20, 1, 0);
    let more = |padding, psdu| ns(Mode { padding, ..he }, psdu) - ns(he, psdu);
    assert_eq!([0, 8, 16].map(|p| more(p, 82)), [0, 8_000, 16_000]);
    assert_eq!([0, 8, 16].map(|p| more(p, 77)), [0, 0, 8_000]);
    assert_eq!(ns(mode(Family::HeExtended, 20, 1, 0), 82) - ns(he, 82), 8_000, "HE-SIG-A twice");
}

/// By hand: 320 MHz, two streams, MCS 13: 78400 bits a symbol, 524296 bits are 6 symbols and 53896 bits, three segments
/// of 19680 bits; preamble 44 + 2 x 7.2 us.
#[test]
fn a_wide_eht_ppdu_takes_its_hand_value() {
    let eht = mode(Family::Eht, 320, 2, 13);
    assert_eq!(eht.fec, Fec::Ldpc);
    let timing = McsTiming::new(Mode { padding: 20, ..eht }, Span::ZERO);
    assert_eq!(timing.symbols(65_535), (7, 3));
    assert_eq!(timing.airtime(65_535).preamble, Span::from_nanos(58_400));
    assert_eq!(timing.airtime(65_535).total, Span::from_nanos(58_400 + 7 * 13_600 + 16_000));
}

/// Tables 21-30 to 21-61; Linux (minstrel_ht) has the same list.
#[test]
fn vht_excludes_ten_combinations() {
    let mut excluded = vec![];
    for width in [20, 40, 80, 160] {
        for streams in 1..=8 {
            for mcs in 0..=9 {
                if let Err(no) = Mode::new(Family::Vht, width, streams, mcs) {
                    excluded.push((width, streams, mcs, no.key));
                }
            }
        }
    }
    let twenty = [1, 2, 4, 5, 7, 8].map(|streams| (20, streams, 9, "mcs"));
    let wide = [(80, 3, 6, "mcs"), (80, 6, 9, "mcs"), (80, 7, 6, "mcs"), (160, 3, 9, "mcs")];
    assert_eq!(excluded, [twenty.as_slice(), &wide].concat());
}

/// In ns-3 an 802.11ax PPDU of 20 MHz, MCS 7 and one stream has at most 37 MPDUs of 1544 B.
#[test]
fn the_largest_psdu_fills_the_longest_ppdu() {
    let ax = Format::of_mcs(McsTiming::of_ns3(mode(Family::He, 20, 1, 7), Span::ZERO));
    assert_eq!(ax.largest_psdu(LONGEST_PPDU).unwrap() / 1544, 37);
    for family in [Family::Ht, Family::Vht, Family::He, Family::HeExtended, Family::Eht] {
        for (&(width, ..), fec) in family.widths().iter().flat_map(|w| [(w, Fec::Bcc), (w, Fec::Ldpc)]) {
            for &guard in family.guards() {
                let padding = *family.paddings().last().unwrap();
                let mode = Mode { fec, padding, guard: Span::from_nanos(guard), ..mode(family, width, 1, 1) };
                let timing = Format::of_mcs(McsTiming::new(mode, Span::from_micros(6)));
                let most = timing.largest_psdu(LONGEST_PPDU).unwrap();
                assert!(timing.airtime(most).total <= LONGEST_PPDU, "{mode:?}");
                assert!(timing.airtime(most + 1).total > LONGEST_PPDU, "{mode:?}");
                assert_eq!(timing.largest_psdu(Span::from_micros(20)), None);
            }
        }
    }
}

/// §10.7.6.5.2 and §10.7.10: the highest of 6, 12 and 24 Mb/s not above 6, 12, 18, 24, ... Mb/s for MCS 0, 1, 2, 3, ...
#[test]
fn the_rate_of_an_answer_follows_the_mcs() {
    let phy = Phy::new(Standard::Ax, Preamble::Long);
    let answer = |mcs| {
        let rate = phy.format(DataRate::Mcs(mode(Family::He, 80, 2, mcs))).unwrap();
        phy.response_rate(rate).bps / 1_000_000
    };
    assert_eq!([0, 1, 2, 3, 7, 11].map(answer), [6, 12, 12, 24, 24, 24]);
}
