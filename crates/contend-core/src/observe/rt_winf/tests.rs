//! The table of spec S1, the rules of §4.3.1, and the readings of spec U1.

use super::super::testbench::{Air, DATA, LINK, SATURATED_GAP, us};
use super::super::{Correction, ExchangeOutcome, Kind, REGISTRY};
use super::*;
use crate::registry::{Value, find};
use crate::time::Span;

/// The thesis as printed, with changes.
fn literal(set: &[(&'static str, &str)]) -> Box<dyn Observer> {
    let mut args = Args::default();
    let words =
        [("mode", "rts"), ("cap_def", "literal"), ("busy_def", "nav"), ("busy_scope", "own"), ("smallest", "previous")];
    for (name, word) in words.iter().chain(&[("role", "last"), ("note", "capacity")]).chain(set) {
        args.set(name, Value::Word((*word).into()));
    }
    args.set("min_sample", Value::Amount(Amount::Bytes(0)));
    args.set("window", Value::Time(Span::ZERO));
    args.set("cooperate", Value::Bool(true));
    build(&args.strict(), &LINK).unwrap()
}

const REPAIRED: [(&str, &str); 4] =
    [("cap_def", "cycle"), ("busy_def", "nav_ifs"), ("busy_scope", "all"), ("smallest", "all")];

/// Capacity and available bandwidth in Mb/s.
fn mbps(o: &dyn Observer, now: Time) -> (f64, f64) {
    let l = o.local(now);
    (l.capacity.unwrap() as f64 * 8e-6, l.available.unwrap() as f64 * 8e-6)
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() < 0.006, "{got} {want}");
}

#[test]
fn literal_sender_has_the_row_of_the_table() {
    let (mut o, mut air) = (literal(&[]), Air::new());
    for _ in 0..10_000 {
        air.send(&mut *o, SATURATED_GAP, None);
    }
    let (c, ab) = mbps(&*o, air.now);
    close(c, 7.44);
    close(ab, 2.87);
}

#[test]
fn literal_receiver_has_the_row_of_the_table() {
    let (mut o, mut air) = (literal(&[]), Air::new());
    let mut note = None;
    for _ in 0..10_000 {
        note = air.receive(&mut *o, SATURATED_GAP);
    }
    let (c, ab) = mbps(&*o, air.now);
    close(c, 7.49);
    close(ab, 2.00);
    close(f64::from(note.unwrap().capacity) / 1e6, 7.49);
}

#[test]
fn literal_onlooker_uses_the_rts_or_the_cts() {
    let (mut o, mut air) = (literal(&[]), Air::new());
    for _ in 0..10_000 {
        air.overhear(&mut *o, SATURATED_GAP);
    }
    let (c, ab) = mbps(&*o, air.now);
    close(c, 7.44);
    // C_O (1 - NAV_RTS / cycle).
    close(ab, 7.439 * (1.0 - 1947.09 / 2659.09));
    // The sender is hidden: the CTS reserves, and without the data there is no capacity.
    let (mut o, mut air) = (literal(&[("role", "onlooker")]), Air::new());
    for _ in 0..10_000 {
        air.overhear_hidden(&mut *o, SATURATED_GAP);
    }
    let (c, ab) = mbps(&*o, air.now);
    close(c, 11.0);
    close(ab, 11.0 * (1.0 - 1633.09 / 2659.09));
}

#[test]
fn probe_mode_has_the_column_of_the_table_in_every_role() {
    let probe = || literal(&[("mode", "probe")]);
    let run = |each: fn(&mut Air, &mut dyn Observer)| {
        let (mut o, mut air) = (probe(), Air::new());
        for _ in 0..10_000 {
            each(&mut air, &mut *o);
        }
        mbps(&*o, air.now)
    };
    for (c, ab) in [
        run(|air, o| air.send(o, SATURATED_GAP, None)),
        run(|air, o| {
            air.receive(o, SATURATED_GAP);
        }),
        run(|air, o| air.overhear(o, SATURATED_GAP)),
    ] {
        close(c, 7.39);
        close(ab, 7.393 * (1.0 - 1623.09 / 2659.09));
    }
}

#[test]
fn repaired_capacity_is_below_the_limit_and_saturation_leaves_nothing() {
    let (mut o, mut air) = (literal(&REPAIRED), Air::new());
    for i in 0..9_000 {
        match i % 3 {
            0 => air.send(&mut *o, SATURATED_GAP, None),
            1 => {
                air.receive(&mut *o, SATURATED_GAP);
            }
            _ => air.overhear(&mut *o, SATURATED_GAP),
        }
        close(mbps(&*o, air.now).0, 4.51);
    }
    assert!(mbps(&*o, air.now).1 < 0.01);
}

#[test]
fn an_idle_link_is_available_at_its_capacity() {
    let (mut o, mut air) = (literal(&[]), Air::new());
    close(mbps(&*o, air.now).1, 11.0);
    // One packet in each second.
    for _ in 0..100 {
        air.send(&mut *o, us(1_000_000), None);
    }
    let (c, ab) = mbps(&*o, air.now);
    assert!(ab > 0.99 * c && ab < c, "{c} {ab}");
}

#[test]
fn neighbours_count_only_with_all_roles() {
    let load = |scope| {
        let (mut o, mut air) = (literal(&[("busy_scope", scope), ("role", "sender")]), Air::new());
        for _ in 0..1000 {
            air.overhear(&mut *o, SATURATED_GAP);
            air.send(&mut *o, SATURATED_GAP, None);
        }
        let (c, ab) = mbps(&*o, air.now);
        ab / c
    };
    // Of two cycles: the own CTS only, or also the neighbour's RTS.
    close(load("own"), 1.0 - 1633.09 / 5318.18);
    close(load("all"), 1.0 - (1633.09 + 1947.09) / 5318.18);
}

#[test]
fn the_carrier_counts_frames_that_were_not_decoded() {
    let (mut o, mut air) = (literal(&[("busy_def", "carrier"), ("busy_scope", "all")]), Air::new());
    for _ in 0..1000 {
        let start = air.now;
        air.now += us(500);
        let f = HeardFrame {
            kind: Kind::Data,
            from: 7,
            to: crate::observe::BROADCAST,
            me: 1,
            start,
            end: air.now,
            duration: Span::ZERO,
            bytes: 0,
            decoded: false,
            note: None,
            packet: None,
        };
        o.heard(&f);
        // A second frame that ends with the first.
        o.heard(&HeardFrame { start: start + us(100), ..f });
        air.now += us(500);
    }
    let (c, ab) = mbps(&*o, air.now);
    assert!((ab / c - 0.5).abs() < 0.001, "{c} {ab}");
    // Of a saturated exchange, IFS and backoff are idle.
    let (mut o, mut air) = (literal(&[("busy_def", "carrier"), ("busy_scope", "all")]), Air::new());
    for _ in 0..1000 {
        air.send(&mut *o, SATURATED_GAP, None);
    }
    let (c, ab) = mbps(&*o, air.now);
    close(ab / c, (360.0 + 30.0) / 2659.09);
}

#[test]
fn the_smaller_capacity_wins_by_the_rule() {
    // As a sender of 1500 B after overhearing 40 B, whose capacity is 0.58 Mb/s.
    let after = |smallest, note| {
        let (mut o, mut air) = (literal(&[("smallest", smallest)]), Air::new());
        air.data = (40, Span::from_nanos(192_000 + 76 * 8_000_000 / 11_000));
        air.overhear(&mut *o, us(360));
        air.data = (1500, DATA);
        air.send(&mut *o, us(360), note);
        let first = mbps(&*o, air.now).0;
        air.send(&mut *o, us(360), None);
        (first, mbps(&*o, air.now).0)
    };
    let near = |(a, b): (f64, f64), (x, y)| {
        close(a, x);
        close(b, y);
    };
    near(after("off", None), (7.44, 7.44));
    near(after("previous", None), (0.58, 7.44));
    near(after("all", None), (0.58, 0.58));
    // Eq. 4.13: the receiver's capacity in the ACK.
    near(after("off", Some(Note { capacity: 5_000_000, available: None })), (5.0, 7.44));
}

#[test]
fn the_note_may_carry_the_available_bandwidth_which_limits_a_corrected_sender() {
    let (mut o, mut air) = (literal(&[("note", "both")]), Air::new());
    // What a busy receiver tells: its capacity and what its air has left.
    let note = air.receive(&mut *o, us(360)).unwrap();
    assert!(note.available.is_some_and(|free| free < note.capacity), "{note:?}");
    air.send(&mut *o, us(360), Some(Note { capacity: 8_000_000, available: Some(800_000) }));
    let local = o.local(air.now);
    assert_eq!((local.told, local.corrected(Correction::Off).available), (Some(100_000), Some(100_000)));
    // Queues read the node's own value; an ACK without the value ends the limit.
    assert!(local.available > local.told);
    air.send(&mut *o, us(360), Some(Note { capacity: 8_000_000, available: None }));
    assert_eq!(o.local(air.now).told, None);
}

#[test]
fn small_packets_give_no_sample() {
    let mut args = Args::default();
    let entry = find(REGISTRY, "rt_winf").unwrap();
    for p in entry.params {
        let word = |w: &str| Value::Word(w.into());
        args.set(
            p.name,
            match p.name {
                "min_sample" => Value::Amount(Amount::Bytes(1000)),
                "window" => Value::Time(Span::from_secs(1)),
                "cooperate" => Value::Bool(false),
                _ => word(p.default.unwrap()),
            },
        );
    }
    let (mut o, mut air) = ((entry.build)(&args.strict(), &LINK).unwrap(), Air::new());
    air.data = (40, us(250));
    air.receive(&mut *o, us(360));
    assert_eq!((o.local(air.now).capacity, o.note(air.now)), (Some(LINK.rate), None));
    air.data = (1500, DATA);
    air.receive(&mut *o, us(360));
    close(mbps(&*o, air.now).0, 4.51);
    assert_eq!(o.note(air.now), None);
    // A window of 1 s forgets within 1 s.
    assert_eq!(mbps(&*o, air.now + us(1_100_000)).1, mbps(&*o, air.now).0);
}

#[test]
fn failed_attempts_lengthen_the_cycle_and_count_as_failures() {
    let (mut o, mut air) = (literal(&REPAIRED), Air::new());
    let began = air.now;
    air.fail(&mut *o, us(360), 1);
    let (start, gap) = (air.now, us(670));
    air.now += gap + LINK.rts + LINK.sifs;
    air.frame(&mut *o, Kind::Cts, 2, 1, None);
    let data = air.now + LINK.sifs;
    air.now = data + DATA + LINK.sifs;
    air.frame(&mut *o, Kind::Ack, 2, 1, None);
    air.exchange(&mut *o, start, gap, data, 2, ExchangeOutcome::Acked);
    close(mbps(&*o, air.now).0, 12_000.0 / air.now.since(began).as_micros() as f64);
    let local = o.local(air.now);
    assert_eq!(local.backoff, us(310 + 620));
    // Eqs. 5.19, 5.20.
    let share = (50.0 + 930.0) / (2.0 * 50.0 + 30.0 + 930.0 + 304.0 + 352.0 + 1309.09);
    close(f64::from(local.overhead_q20) / 1_048_576.0, share);
    assert!(local.failed_q20 > 0);
}

#[test]
fn the_share_of_ifs_and_backoff_is_that_of_the_specification() {
    let (mut o, mut air) = (literal(&[]), Air::new());
    air.send(&mut *o, SATURATED_GAP, None);
    close(f64::from(o.local(air.now).overhead_q20) / 1_048_576.0, 0.150);
    assert_eq!(o.local(air.now).failed_q20, 0);
}

#[test]
fn a_number_of_packets_is_no_size() {
    let mut args = Args::default();
    args.set("min_sample", Value::Amount(Amount::Packets(1)));
    assert!(build(&args, &LINK).unwrap_err().remedy.contains("1000B"));
}
