//! The laws of a store, and its batches by hand.

use super::*;
use contend_core::{Body, FlowId};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

const SPEC: Aggregation = Aggregation {
    bytes: 65_535,
    msdu: 0,
    mpdus: 64,
    window: 64,
    duration: Span::from_micros(5484),
    density: Span::ZERO,
    reorder: Span::ZERO,
    limit: 1000,
    hw_queue: 1,
    lifetime: Span::ZERO,
    lifetime_below: false,
    attempts: None,
    asks: true,
    asks_at_20_mhz: false,
    addba: Span::ZERO,
};

const HEADERS: Headers = Headers { mpdu: 38, llc: 8 };

/// So many bytes without spacing.
fn room(most: u32) -> Room {
    Room { most, spacing: 0 }
}

fn packet(to: StationId, number: u64) -> Packet {
    Packet::new(FlowId(to), 1500, Time::from_nanos(number), Body::Udp { seq: number })
        .toward(to)
        .queued_at(Time::from_nanos(number))
}

fn filled(spec: Aggregation, to: StationId, packets: u64) -> Store {
    let mut store = Store::new(spec.limit, HEADERS, 7);
    (0..packets)
        .for_each(|n| store.put(&packet(to, n), (to, Time::from_nanos(n)), Time::from_nanos(n), Span::ZERO, |_| spec));
    store
}

fn take(store: &mut Store) -> Option<Batch> {
    let batch = make(store)?;
    store.begin(batch.id);
    Some(batch)
}

/// Makes a batch without sending it.
fn make(store: &mut Store) -> Option<Batch> {
    store.take(Time::from_nanos(1_000_000), |_| room(u32::MAX), |_| {})
}

/// A batch to receiver 1 of the first line.
fn batch(number: u32, mpdus: u32, packets: u32, bytes: u32, psdu: u32) -> Batch {
    let next = psdu.next_multiple_of(4) + DELIMITER;
    Batch { id: BatchId { line: 0, number }, to: 1, mpdus, packets, bytes, psdu, bitmap: Bitmap::Of64, next }
}

/// All packets that the receiver passes on now.
fn passed(store: &mut Store) -> Vec<u64> {
    let mut all = vec![];
    let mut delivered = 0;
    let mut passed = store.pass_on(&mut delivered);
    while let Some((_, p)) = passed.next() {
        let Body::Udp { seq } = p.body else { panic!() };
        all.push(seq);
    }
    all
}

#[test]
fn a_batch_has_the_bytes_of_its_mpdus_with_delimiters_and_padding() {
    // 1,500 B of IP, 8 B of LLC/SNAP, 30 B of MAC header and FCS: subframes of 1,544 B, the last without padding.
    assert_eq!(take(&mut filled(SPEC, 1, 10)), Some(batch(1, 10, 10, 15_000, 1544 * 9 + 1542)));
}

#[test]
fn bytes_mpdus_window_and_duration_end_a_batch() {
    let mpdus = |spec| take(&mut filled(spec, 1, 200)).unwrap().mpdus;
    assert_eq!(mpdus(SPEC), 42, "65,535 B");
    assert_eq!(mpdus(Aggregation { bytes: 1_000_000, ..SPEC }), 64, "window");
    assert_eq!(mpdus(Aggregation { mpdus: 16, ..SPEC }), 16);
    let mut store = filled(SPEC, 1, 200);
    assert_eq!(store.take(Time::ZERO, |_| room(1544 * 5), |_| {}).unwrap().mpdus, 5);
}

#[test]
fn what_is_missing_goes_first_and_holds_the_window() {
    let mut store = filled(Aggregation { bytes: 1 << 20, ..SPEC }, 1, 100);
    assert_eq!(take(&mut store).unwrap().mpdus, 64);
    let mut n = 0;
    assert_eq!(
        store.arrive(|_, _| {
            n += 1;
            n == 11
        }),
        63
    );
    assert_eq!(passed(&mut store), (0..10).collect::<Vec<_>>());
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    // The window begins at number 10, which is missing: of 64 MPDUs 53 are there, and 10 new ones fit.
    assert_eq!(take(&mut store).unwrap().mpdus, 11);
    assert_eq!(store.arrive(|_, _| false), 11);
    assert_eq!(passed(&mut store), (10..74).collect::<Vec<_>>());
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    assert_eq!(take(&mut store).unwrap().mpdus, 26);
}

#[test]
fn a_missed_answer_is_asked_for_and_nothing_is_sent_twice() {
    let mut store = filled(SPEC, 1, 5);
    take(&mut store);
    assert_eq!(store.arrive(|_, _| false), 5);
    assert_eq!(passed(&mut store).len(), 5);
    store.end(Time::ZERO, End::NotAnswered, false, |_, _| panic!());
    assert_eq!(take(&mut store), Some(batch(0, 0, 0, 0, 0)));
    store.arrive(|_, _| panic!());
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    assert_eq!((take(&mut store), store.carrying(), store.unsettled), (None, 0, 0));
}

#[test]
fn without_requests_the_data_are_sent_again_and_passed_on_once() {
    let mut store = filled(Aggregation { asks: false, ..SPEC }, 1, 5);
    take(&mut store);
    store.arrive(|_, _| false);
    assert_eq!(passed(&mut store).len(), 5);
    store.end(Time::ZERO, End::NotAnswered, false, |_, _| panic!());
    assert_eq!(take(&mut store).unwrap().mpdus, 5);
    store.arrive(|_, _| false);
    assert!(passed(&mut store).is_empty());
}

#[test]
fn a_receiver_that_waits_for_what_was_given_up_is_told() {
    let mut store = filled(Aggregation { attempts: Some(1), ..SPEC }, 1, 3);
    take(&mut store);
    let mut n = 0;
    store.arrive(|_, _| {
        n += 1;
        n == 1
    });
    assert!(passed(&mut store).is_empty());
    let mut gone = vec![];
    store.end(Time::ZERO, End::Answered, false, |p, fate| gone.push((p.sent, fate)));
    assert_eq!(gone, [(Time::ZERO, Fate::GivenUp { received: false })]);
    assert_eq!(take(&mut store), Some(batch(0, 0, 0, 0, 0)));
    store.arrive(|_, _| panic!());
    assert_eq!(passed(&mut store), [1, 2]);
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    assert_eq!((take(&mut store), store.carrying()), (None, 0));
}

#[test]
fn the_receiver_whose_packet_was_taken_first_is_served() {
    let mut store = Store::new(SPEC.limit, HEADERS, 7);
    for (to, n) in [(2, 5), (1, 6), (2, 7), (3, 1)] {
        store.put(&packet(to, n), (to, Time::from_nanos(n)), Time::ZERO, Span::ZERO, |_| SPEC);
    }
    let mut order = vec![];
    while let Some(batch) = take(&mut store) {
        order.push((batch.to, batch.mpdus));
        store.arrive(|_, _| false);
        passed(&mut store);
        store.end(Time::ZERO, End::Answered, false, |_, _| {});
    }
    assert_eq!(order, [(2, 2), (1, 1), (3, 1)]);
}

#[test]
fn packets_that_waited_too_long_are_given_up() {
    let mut store = filled(Aggregation { lifetime: Span::from_micros(500), ..SPEC }, 1, 3);
    let mut gone = 0;
    assert_eq!(store.take(Time::from_nanos(600_000), |_| room(u32::MAX), |_| gone += 1), None);
    assert_eq!((gone, store.carrying(), store.unsettled), (3, 0, 0));
}

/// Of five MPDUs the second and the fourth are lost at 1 ms, and the second again at 2 ms. The receiver waits 100 ms
/// for the second and passes the third on, with the fourth and the fifth. The second comes at 102 ms, too late: it is
/// acknowledged, and lost.
#[test]
fn a_receiver_waits_no_longer_than_its_timeout() {
    let ms = |n: u64| Time::from_nanos(n * 1_000_000);
    let mut store = filled(Aggregation { reorder: Span::from_millis(100), ..SPEC }, 1, 5);
    let round = |store: &mut Store, now, lost: &[u64]| {
        take(store).unwrap();
        store.arrive(|_, p| lost.contains(&p.sent.as_nanos()));
        let got = passed(store);
        let until = store.hold(now);
        let mut gone = vec![];
        let all = store.end(now, End::Answered, false, |p, fate| gone.push((p.sent.as_nanos(), fate))).unwrap().1;
        (got, until, all.acked, gone)
    };
    assert_eq!(round(&mut store, ms(1), &[1, 3]), (vec![0], ms(101), 3, vec![]));
    assert_eq!(round(&mut store, ms(2), &[1]), (vec![], ms(101), 1, vec![]));
    let late = |store: &mut Store, now| {
        std::iter::from_fn(|| store.pass_late(now).map(|(_, p)| p.sent.as_nanos())).collect::<Vec<_>>()
    };
    assert_eq!((late(&mut store, ms(100)), store.waits_until()), (vec![], ms(101)));
    // The one that arrived at 2 ms is the next after the third: nothing is missing before it.
    assert_eq!((late(&mut store, ms(101)), store.waits_until()), (vec![2, 3, 4], Time::NEVER));
    assert_eq!(store.carrying(), 1);
    let gone = vec![(1, Fate::GivenUp { received: false })];
    assert_eq!(round(&mut store, ms(102), &[]), (vec![], Time::NEVER, 1, gone));
    assert_eq!((store.carrying(), store.unsettled, store.lines[0].is_empty()), (0, 0, true));
}

/// Three packets that were queued at 0, 1 and 2 ns come into the store at 400 us. With lifetimes of 500 us that count
/// from there they are sent at 900 us, and given up a nanosecond later.
#[test]
fn lifetimes_may_count_from_the_store() {
    for (at, gone) in [(900_000, 0), (900_001, 3)] {
        let spec = Aggregation { lifetime: Span::from_micros(500), lifetime_below: true, ..SPEC };
        let mut store = Store::new(10, HEADERS, 7);
        for n in 0..3 {
            store.put(&packet(1, n), (1, Time::from_nanos(n)), Time::from_nanos(400_000), Span::ZERO, |_| spec);
        }
        let mut dropped = 0;
        let batch = store.take(Time::from_nanos(at), |_| room(u32::MAX), |_| dropped += 1);
        assert_eq!((batch.map_or(0, |b| b.packets), dropped), (3 - gone, gone));
    }
}

/// 5 packets of 1,500 B: subframes of 1,522 B, padded to 1,524 B except the last, and 30 B of header and FCS.
#[test]
fn packets_share_an_mpdu_up_to_the_bytes_of_an_amsdu() {
    let spec = Aggregation { msdu: 7935, bytes: 20_000, ..SPEC };
    let mut store = filled(spec, 1, 100);
    let mpdu = 30 + 4 * 1524 + 1522;
    let whole = 4 + mpdu;
    // Two such MPDUs and one of three packets fill the A-MPDU.
    let expected = batch(1, 3, 13, 19_500, 2 * whole + 4 + 30 + 2 * 1524 + 1522);
    assert_eq!(take(&mut store), Some(expected));
    let mut sizes = vec![];
    store.arrive(|bytes, p| {
        sizes.push((bytes, p.sent.as_nanos()));
        sizes.len() == 2
    });
    assert_eq!(sizes, [(mpdu, 0), (mpdu, 5), (30 + 2 * 1524 + 1522, 10)]);
    // A lost MPDU loses its packets, and goes out again as it was.
    assert_eq!(passed(&mut store), (0..5).collect::<Vec<_>>());
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    assert_eq!(take(&mut store).map(|b| (b.mpdus, b.packets)), Some((3, 13)));
    assert_eq!(store.first(BatchId { line: 0, number: 2 }).map(|(p, n)| (p.sent.as_nanos(), n)), Some((5, 1)));
    store.arrive(|_, _| false);
    assert_eq!(passed(&mut store), (5..21).collect::<Vec<_>>());
}

#[test]
fn the_window_counts_mpdus() {
    let spec = Aggregation { msdu: 3839, window: 3, bytes: 1 << 20, ..SPEC };
    assert_eq!(take(&mut filled(spec, 1, 100)).map(|b| (b.mpdus, b.packets)), Some((3, 6)));
    // A receiver whose PSDUs have no room for more gets one packet.
    let mut store = filled(spec, 1, 100);
    assert_eq!(store.take(Time::ZERO, |_| room(0), |_| {}).map(|b| (b.mpdus, b.packets)), Some((1, 1)));
}

/// Without an agreement each batch has one MPDU. The request is repeated after the timeout, and not while it is on the
/// air.
#[test]
fn without_an_agreement_mpdus_are_sent_alone() {
    let (ms, at) = (Span::from_millis, |ms: u64| Time::from_nanos(ms * 1_000_000));
    let mut store = filled(Aggregation { addba: ms(10), msdu: 4000, ..SPEC }, 1, 40);
    let mut asked = vec![];
    for now in [0, 5, 100, 104, 109, 110] {
        let batch = take(&mut store).unwrap();
        assert_eq!((batch.mpdus, batch.packets), (1, 2));
        asked.push(store.lacks_agreement(batch.id, at(now)).map(|a| (a.window, a.amsdu, a.first)));
        store.arrive(|_, _| false);
        passed(&mut store);
        store.end(at(now), End::Answered, false, |_, _| panic!());
        if now == 5 {
            store.asked(1, at(100));
        }
    }
    assert_eq!(asked, [Some((64, true, 0)), None, None, None, None, Some((64, true, 5))]);
    store.agree(1);
    assert_eq!(take(&mut store).map(|b| (b.mpdus, b.packets)), Some((14, 28)));
    // Another receiver needs its own; one that takes one MPDU at a time needs none.
    for (to, mpdus, asks) in [(2, 64, true), (3, 1, false)] {
        let spec = Aggregation { addba: ms(10), mpdus, ..SPEC };
        let mut store = filled(spec, to, 2);
        let batch = take(&mut store).unwrap();
        assert_eq!((batch.mpdus, store.lacks_agreement(batch.id, at(0)).is_some()), (1, asks));
    }
}

/// A receiver that is gone has forgotten the agreement. One whose request waits is not asked twice.
#[test]
fn an_agreement_ends_with_a_receiver_that_is_gone() {
    let spec = Aggregation { addba: Span::from_secs(1), ..SPEC };
    let mut store = filled(spec, 1, 10);
    store.agree(1);
    store.part(1);
    assert_eq!(store.lines[0].agreement, Agreement::Missing(Time::ZERO));
    let mut store = filled(spec, 1, 10);
    let batch = take(&mut store).unwrap();
    assert!(store.lacks_agreement(batch.id, Time::ZERO).is_some());
    store.part(1);
    assert_eq!(store.lines[0].agreement, Agreement::Missing(Time::NEVER));
    let mut store = filled(SPEC, 1, 10);
    store.part(1);
    assert_eq!(store.lines[0].agreement, Agreement::Made);
}

/// What waits alone needs no agreement.
#[test]
fn one_packet_asks_for_nothing() {
    let mut store = filled(Aggregation { addba: Span::from_secs(1), ..SPEC }, 1, 1);
    let batch = take(&mut store).unwrap();
    assert_eq!(store.lacks_agreement(batch.id, Time::ZERO), None);
}

#[test]
fn what_is_fixed_ahead_does_not_change() {
    let mut store = filled(Aggregation { window: 20, mpdus: 8, attempts: Some(2), ..SPEC }, 1, 100);
    let [first, second, third] = [(); 3].map(|()| make(&mut store).unwrap());
    assert_eq!([first, second, third].map(|b| b.mpdus), [8, 8, 4]);
    // The window is full.
    assert!(!store.has_room_for(1, room(u32::MAX), &Batch::default()));
    assert_eq!((make(&mut store), store.holds(1)), (None, false));
    store.begin(first.id);
    store.arrive(|_, p| p.sent.as_nanos() == 3);
    assert_eq!(passed(&mut store), [0, 1, 2]);
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    // Number 3 is missing. It goes behind what is fixed, with the three packets for which the window has room.
    let fourth = make(&mut store).unwrap();
    store.begin(second.id);
    assert_eq!(store.on_air().map(|p| p.packet.sent.as_nanos()).collect::<Vec<_>>(), (8..16).collect::<Vec<_>>());
    store.arrive(|_, _| false);
    assert!(passed(&mut store).is_empty());
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    store.begin(third.id);
    store.arrive(|_, _| false);
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    store.begin(fourth.id);
    assert_eq!(store.on_air().map(|p| p.packet.sent.as_nanos()).collect::<Vec<_>>(), [3, 20, 21, 22]);
    store.arrive(|_, _| false);
    assert_eq!(passed(&mut store), (3..23).collect::<Vec<_>>());
}

#[test]
fn a_batch_made_again_has_no_new_packets_and_goes_before_what_is_fixed() {
    let mut store = filled(Aggregation { mpdus: 8, asks: false, ..SPEC }, 1, 100);
    let (first, second) = (make(&mut store).unwrap(), make(&mut store).unwrap());
    store.begin(first.id);
    store.end(Time::ZERO, End::NotAnswered, false, |_, _| panic!());
    // The rate is lower now: five MPDUs fit.
    let again = store.take_to(1, false, Time::ZERO, |_| room(5 * 1544), |_| panic!()).unwrap();
    let rest = store.take_to(1, false, Time::ZERO, |_| room(u32::MAX), |_| panic!()).unwrap();
    let mut sent = vec![];
    for batch in [again, second, rest] {
        store.begin(batch.id);
        sent.extend(store.on_air().map(|p| (p.packet.sent.as_nanos(), p.retry)));
        store.arrive(|_, _| false);
        store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    }
    let numbers = (0..5).map(|n| (n, 1)).chain((8..16).map(|n| (n, 0))).chain((5..8).map(|n| (n, 1)));
    assert_eq!(sent, numbers.collect::<Vec<_>>());
    assert_eq!(store.take_to(1, false, Time::ZERO, |_| room(u32::MAX), |_| panic!()), None);
}

#[test]
fn a_receiver_that_hears_nothing_is_not_asked_for_ever() {
    let mut store = filled(Aggregation { attempts: Some(2), bytes: 1 << 20, ..SPEC }, 1, 10_000);
    let (mut requests, mut data, mut given_up) = (0, 0, 0);
    for _ in 0..400 {
        let Some(batch) = take(&mut store) else { break };
        (requests, data) = (requests + u32::from(batch.mpdus == 0), data + u32::from(batch.mpdus > 0));
        store.end(Time::ZERO, End::NotAnswered, true, |_, _| given_up += 1);
        // What neither end needs is forgotten.
        assert!(store.lines[0].mpdus.len() <= 2 * SPEC.window as usize, "{}", store.lines[0].mpdus.len());
    }
    // 7 requests after the first batch, and then data alone: each 64 MPDUs twice.
    assert_eq!((requests, data), (7, 314));
    assert_eq!((given_up, store.unsettled, store.carrying()), (10_000, 0, 0));
}

#[test]
fn a_receiver_that_is_heard_again_goes_on_behind_what_was_given_up() {
    let mut store = filled(Aggregation { attempts: Some(2), bytes: 1 << 20, ..SPEC }, 1, 200);
    // The first two of 64 arrive, then nothing for a while.
    take(&mut store);
    let mut n = 0;
    store.arrive(|_, _| {
        n += 1;
        n > 2
    });
    assert_eq!(passed(&mut store), [0, 1]);
    let mut lost = vec![];
    let mut fail = |store: &mut Store| {
        store.end(Time::ZERO, End::NotAnswered, true, |p, _| lost.push(p.sent.as_nanos()));
    };
    fail(&mut store);
    for _ in 0..7 {
        assert_eq!(take(&mut store).unwrap().mpdus, 0);
        fail(&mut store);
    }
    // The first 64 are sent once more and given up, and so are the next 64 after two attempts.
    for _ in 0..3 {
        assert_eq!(take(&mut store).unwrap().mpdus, 64);
        fail(&mut store);
    }
    assert_eq!(take(&mut store).unwrap().mpdus, 64);
    store.arrive(|_, _| false);
    assert_eq!(passed(&mut store), (128..192).collect::<Vec<_>>());
    store.end(Time::ZERO, End::Answered, false, |_, _| panic!());
    // It is asked again when an answer is missed.
    assert_eq!(take(&mut store).unwrap().mpdus, 8);
    store.end(Time::ZERO, End::NotAnswered, false, |_, _| panic!());
    assert_eq!(take(&mut store).unwrap().mpdus, 0);
}

proptest! {
    /// Whatever is lost, each packet is passed on once and in order, or given up; nothing stays behind. A batch goes on
    /// the air as it was made, however many were made before.
    #[test]
    fn nothing_is_lost_or_doubled(
        packets in 1u64..300,
        window in 1u32..80,
        attempts in prop::option::of(1u32..5),
        asks: bool,
        msdu in prop_oneof![Just(0), 1000u32..12_000],
        fixed in 1usize..5,
        again: bool,
        losses in prop::collection::vec(0u8..4, 1..40),
        answers in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        let mut store = filled(Aggregation { window, attempts, asks, msdu, ..SPEC }, 1, packets);
        let (mut got, mut lost, mut draws) = (vec![], vec![], (losses.iter().cycle(), answers.iter().cycle()));
        let (mut batches, mut seen) = (VecDeque::new(), BTreeSet::new());
        for step in 0..20_000 {
            while batches.len() < fixed && let Some(batch) = make(&mut store) {
                batches.push_back(batch);
            }
            let Some(batch) = batches.pop_front() else { break };
            store.begin(batch.id);
            let on_air: BTreeSet<u16> = store.on_air().map(|p| p.sequence).collect();
            prop_assert_eq!((on_air.len() as u32, store.on_air().count() as u32), (batch.mpdus, batch.packets));
            prop_assert_eq!(store.bytes_to(1), 1500 * u64::from(store.unsettled));
            let sent: Vec<Time> = store.on_air().map(|p| p.packet.sent).filter(|sent| seen.insert(*sent)).collect();
            prop_assert_eq!(store.unsent(batch.id).map(|p| p.sent).collect::<Vec<_>>(), sent);
            // After a while the air is good, so that the store empties.
            let fails = |d: &mut dyn Iterator<Item = &u8>| step < 200 && d.next() == Some(&0);
            let reached = store.arrive(|_, _| fails(&mut draws.0)) > 0 || batch.mpdus == 0;
            got.extend(passed(&mut store));
            let answered = reached && (step >= 200 || *draws.1.next().unwrap());
            let end = if answered { End::Answered } else { End::NotAnswered };
            let is_lost = |fate| fate == Fate::GivenUp { received: false };
            store.end(Time::ZERO, end, true, |p, fate| if is_lost(fate) { lost.push(p.sent.as_nanos()) });
            if again && !answered {
                let made = store.take_to(1, false, Time::ZERO, |_| room(u32::MAX), |p| lost.push(p.sent.as_nanos()));
                made.into_iter().for_each(|batch| batches.push_front(batch));
            }
        }
        prop_assert!(got.is_sorted());
        let mut all: Vec<u64> = got.iter().chain(&lost).copied().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..packets).collect::<Vec<_>>());
        prop_assert_eq!((store.carrying(), store.unsettled, store.lines[0].is_empty()), (0, 0, true));
    }
}
