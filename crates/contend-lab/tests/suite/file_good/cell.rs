//! The words of `[wifi]`, `[ap]` and `[[station]]`.

use super::{CELL, first, read, set, station_names};
use contend_core::Span;
use contend_lab::experiment::point::Direction;
use contend_sim::scenario::Place;
use contend_sim::wifi::phy::{DataRate, Family, Fec, Mode};

/// A station has what `[wifi]` says, unless it says something else; the standard of its own starts anew.
#[test]
fn stations_take_the_mode_of_the_cell_or_their_own() {
    let r = first(&read(
        "duration = \"1s\"\n[wifi]\nstandard = \"802.11ax\"\nwidth = \"80MHz\"\nmcs = 9\nfec = \"bcc\"\n\
         packet_padding = \"16us\"\n[[station]]\nname = \"same\"\n[[station]]\nname = \"slow\"\nmcs = [2]\n\
         width = \"20MHz\"\n[[station]]\nname = \"far\"\nextended_range = true\n[[station]]\nname = \"n\"\n\
         standard = \"802.11n\"\nmcs = 15\n[[station]]\nname = \"a\"\nstandard = \"802.11a\"\n\
         [[flow]]\nfrom = \"same\"\nto = \"server\"\nudp = { rate = \"1Mbps\" }\n",
    ));
    let rates: Vec<DataRate> = r.scenario.cell.iter().flat_map(|c| &c.stations).map(|s| s.rate).collect();
    let mode = |family, width, streams, mcs| Mode::new(family, width, streams, mcs).unwrap();
    let same = Mode { fec: Fec::Bcc, padding: 16, ..mode(Family::He, 80, 1, 9) };
    let slow = Mode { width: 20, mcs: 2, ..same };
    let modes = [same, slow, mode(Family::HeExtended, 20, 1, 2), mode(Family::Ht, 20, 2, 7)].map(DataRate::Mcs);
    assert_eq!(rates, [&modes[..], &[DataRate::Legacy(54_000_000)]].concat());
}

#[test]
fn stations_have_names_and_slices() {
    let r = first(&read(&format!(
        "{CELL}[[station]]\nname = \"sta\"\ncount = 6\nrate = [\"54Mbps\", \"6Mbps\"]\n[[station]]\nname = \"slow\"\n\
            rate = \"1Mbps\"\n\
         [[flow]]\ncount = 5\nfrom = \"server\"\nto = \"sta[3..6]\"\ntcp = \"reno\"\n[[flow]]\nfrom = \"slow\"\nto = \
         \"sta.2\"\ntcp = \"reno\"\n[[flow]]\ncount = 3\nfrom = [\"slow\", \"sta[1]\"]\nto = \"server\"\ntcp = \
         \"reno\"\n"
    )));
    assert_eq!(station_names(&r), ["sta.1", "sta.2", "sta.3", "sta.4", "sta.5", "sta.6", "slow"]);
    let rates: Vec<DataRate> = r.scenario.cell.iter().flat_map(|c| &c.stations).map(|s| s.rate).collect();
    assert_eq!(rates, [54, 6, 54, 6, 54, 6, 1].map(|mbps| DataRate::Legacy(mbps * 1_000_000)));
    let to: Vec<Place> = r.scenario.flows.iter().take(5).map(|f| f.to).collect();
    assert_eq!(to, [2, 3, 4, 5, 2].map(Place::Station), "members go round the slice");
    assert_eq!(
        (r.scenario.flows[5].from, r.scenario.flows[5].to, r.members[5].direction),
        (Place::Station(6), Place::Station(1), Direction::Local)
    );
    assert_eq!([6, 7, 8].map(|i| r.scenario.flows[i].from), [6, 0, 6].map(Place::Station));
    assert_eq!(r.groups, ["down", "local", "up"]);
}

#[test]
fn wifi_words_reach_the_phy_and_the_mac() {
    let r = first(&read(
        "duration = \"1s\"\n[wifi]\nstandard = \"802.11g\"\nbasic = [\"12Mbps\", \"6Mbps\"]\nsifs = \"16us\"\ncwmin = \
            31\ncwmax = 63\nretry_short = 4\nretry_long = 2\nrts_threshold = \"500B\"\n\
         txop_protection = \"multiple\"\npreamble_detection = \"3us\"\n\
         busy_slot = \"counted\"\nidle_access = \"draw\"\nafter_collision = \"difs\"\nsignal_extension = \"0s\"\n\
         ack_timeout = \"75us\"\neifs = \"90us\"\ndifs = \"40us\"\nllc = \"0B\"\nprotection = \"cts-to-self\"\n\
         protection_rate = \"11Mbps\"\n\
         access = { kind = \"dcf\", cwmin = 7 }\nloss = { kind = \"per\", p = \"1%\" }\n[[station]]\nname = \"a\"\n\
         loss = \"none\"\n[[station]]\nname = \"b\"\n[[flow]]\nfrom = \"a\"\nto = \"server\"\ntcp = \"reno\"\n",
    ));
    let cell = r.scenario.cell.unwrap();
    assert_eq!(
        (cell.phy.basic.as_slice(), cell.phy.sifs, cell.phy.cw_min, cell.phy.cw_max, cell.phy.llc),
        ([6_000_000, 12_000_000].as_slice(), Span::from_micros(16), 31, 63, 0)
    );
    assert_eq!(
        (cell.phy.difs, cell.phy.eifs, cell.phy.ack_timeout),
        (Some(Span::from_micros(40)), Some(Span::from_micros(90)), Some(Span::from_micros(75)))
    );
    assert_eq!((cell.phy.signal_extension, cell.phy.protection_rate), (Span::ZERO, 11_000_000));
    assert_eq!((cell.mac.retry_short, cell.mac.retry_long, cell.mac.rts_threshold), (4, 2, 500));
    assert_eq!(
        format!(
            "{:?} {:?} {:?} {:?}",
            cell.mac.txop_protection, cell.mac.busy_slot, cell.mac.idle_access, cell.mac.after_collision
        ),
        "Multiple Counted Draw Difs"
    );
    assert_eq!(cell.mac.preamble_detection, Span::from_micros(3));
    assert_eq!((cell.aps[0].station.access.args.integer("cwmin"), cell.aps[0].station.queue.entry.name), (7, "fifo"));
    assert!(cell.stations[0].loss.is_none() && cell.stations[1].loss.is_some() && cell.aps[0].station.loss.is_none());
}

#[test]
fn edca_takes_a_table_for_each_category_and_a_flow_names_its_own() {
    let text = "title = \"t\"\nduration = \"9s\"\n[wifi]\nstandard = \"802.11g\"\naccess = { kind = \"edca\", vo = { \
        cwmin = 1, txop = \"2ms\" } }\n\
                [[flow]]\ncount = 2\nfrom = \"station\"\nto = \"server\"\ntcp = \"newreno\"\nac = [\"vo\", \"bk\"]\n\
                [[flow]]\nname = \"rest\"\nfrom = \"station\"\nto = \"server\"\ntcp = \"newreno\"\n";
    for (e, cwmin) in [(read(text), 1), (set(text, &[("wifi.access.vo.cwmin", "2")]), 2)] {
        let s = first(&e).scenario;
        assert_eq!(s.flows.iter().map(|f| f.category.name()).collect::<Vec<_>>(), ["vo", "bk", "be"]);
        let cell = s.cell.unwrap();
        let vo = cell.aps[0].station.access.args.group("vo").unwrap();
        assert_eq!((vo.integer("cwmin"), vo.time("txop"), vo.get("aifsn")), (cwmin, Span::from_millis(2), None));
        assert_eq!(cell.stations[0].access.args, cell.aps[0].station.access.args);
    }
}

#[test]
fn control_blocks_keep_the_order_of_the_file() {
    let flow = "[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";
    for (given, want) in [
        ("\"none\"", &[][..]),
        ("\"accf\"", &["accf"]),
        ("{ kind = \"fcwa\", margin = 0.5 }", &["fcwa"]),
        ("[{ kind = \"rate_limiter\" }, \"accf\", { kind = \"pilosof\" }]", &["rate_limiter", "accf", "pilosof"]),
    ] {
        let r = first(&read(&format!("{CELL}[ap]\ncontrol = {given}\n{flow}")));
        let names: Vec<&str> = r.scenario.cell.iter().flat_map(|c| &c.aps[0].control).map(|c| c.entry.name).collect();
        assert_eq!(names, want, "{given}");
    }
}
