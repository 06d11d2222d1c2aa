//! Synthetic runs for tests.

use contend_core::Span;
use contend_experiment::results::{
    Air, Backlog, Drops, EstimateSeries, Flow, FlowSample, Held, Kept, KeptSeries, Losses, Percentiles, PointKey,
    Queue, QueueSample, Run, Series, Taken, Wait, Ways,
};
use contend_sim::stats::Durations;
use std::collections::BTreeMap;

/// An empty run of 20 s.
pub(crate) fn empty(seed: u64) -> Run {
    Run { seed, sim_s: 20.0, ..Run::of_model(&PointKey::new(), BTreeMap::new(), BTreeMap::new()) }
}

/// A flow with a goodput of `goodput` bit/s.
pub(crate) fn flow(name: &str, direction: &'static str, goodput: f64) -> Flow {
    Flow {
        name: name.into(),
        group: name.split('.').next().unwrap_or(name).into(),
        direction,
        tcp: "newreno".into(),
        greedy: true,
        goodput_bps: goodput,
        throughput_bps: goodput * 1.1,
        sent: 100,
        retransmitted: 5,
        timeouts: Some(2),
        entered: 200,
        arrived: 190,
        arrived_ce: 4,
        delivered_ce: Some(3),
        losses: Some(Losses {
            congestion: Taken { congestion: 9, error: 1 },
            error: Taken { congestion: 2, error: 6 },
            nothing: Taken { congestion: 1, error: 0 },
        }),
        rtt_s: Percentiles::default(),
        delay_s: Percentiles::default(),
        completion_s: None,
        completions_s: vec![],
        unfinished: 0,
        rtt: Durations::new(),
        delay: Durations::new(),
    }
}

/// A histogram of these milliseconds.
pub(crate) fn durations(ms: &[u64]) -> Durations {
    let mut d = Durations::new();
    ms.iter().for_each(|m| d.record(Span::from_millis(*m)));
    d
}

/// A queue that was offered 200 packets and dropped these: data, ACKs, SYNs, datagrams.
pub(crate) fn queue(name: &str, dropped: [u64; 4], delays_ms: &[u64]) -> Queue {
    Queue {
        name: name.into(),
        offered: 200,
        taken: 150,
        waiting: Held::default(),
        drops: Drops::from_kinds(dropped),
        marked: 3,
        marked_l4s: 1,
        marked_classic: 2,
        filtered: 5,
        made: 2,
        lost: 4,
        excess_losses: 1.5,
        queue: Backlog { length: 42.5, delay_s: Percentiles::default() },
        delay: durations(delays_ms),
    }
}

/// Numbers of the access point and of `sta1`.
fn ways(from: [f64; 2], to: [f64; 2]) -> Ways {
    let named = |[ap, sta]: [f64; 2]| [("ap".to_owned(), ap), ("sta1".to_owned(), sta)].into();
    Ways { from: named(from), to: named(to) }
}

/// The run of most tests: three uploads (3, 2 and 0.1 Mb/s), two downloads (1 Mb/s each), one wired flow with a rate of
/// its own (0.5 Mb/s), three queues, a cell, and a series.
pub(crate) fn example() -> Run {
    let mut run = empty(1);
    let flows = [
        ("up.1", "up", 3e6),
        ("up.2", "up", 2e6),
        ("up.3", "up", 1e5),
        ("down.1", "down", 1e6),
        ("down.2", "down", 1e6),
        ("probe", "wired", 5e5),
    ];
    run.flows = flows.iter().map(|(n, d, g)| flow(n, d, *g)).collect();
    run.flows[5].greedy = false;
    run.flows[0].rtt = durations(&[10, 20]);
    run.flows[1].rtt = durations(&[30, 40, 50]);
    run.flows[3].completions_s = vec![1.0, 3.0];
    run.flows[4].completions_s = vec![5.0];
    run.flows[4].unfinished = 2;
    run.queues =
        vec![queue("ap", [3, 7, 0, 0], &[5, 15]), queue("sta1", [1, 0, 0, 0], &[]), queue("sta2", [0; 4], &[])];
    (run.stations, run.bss) = (["ap", "sta1", "sta2"].map(str::to_owned).to_vec(), vec![0, 0, 0]);
    run.point = [("flow.1.count".to_owned(), 2.into()), ("ap.queue.limit".to_owned(), "100p".into())].into();
    run.air = Some(Air {
        frames: 1000,
        collisions: 50,
        rivals: 1.5,
        successes: 900,
        wait: Wait { success: 4.0, collision: 3.0 },
        collision_probability: 0.1,
        retry_drops: 1,
        busy: 0.75,
        airtime: Ways {
            from: [("ap".to_owned(), 0.4), ("sta1".to_owned(), 0.2), ("sta2".to_owned(), 0.1)].into(),
            to: [("ap".to_owned(), 0.3), ("sta1".to_owned(), 0.25), ("sta2".to_owned(), 0.15)].into(),
        },
        mpdus: Some(ways([3000.0, 1000.0], [1000.0, 3000.0])),
        mpdu_loss: Some(ways([0.1, 0.5], [0.5, 0.1])),
        mean_rate: Some(ways([4e8, 8e8], [8e8, 4e8])),
        mean_mcs: Some(ways([5.0, 9.0], [9.0, 5.0])),
        ledger: [("idle", 0.25), ("payload", 0.5)].into(),
        radio: None,
        routing_drops: None,
        roaming: None,
    });
    series(&mut run);
    run
}

/// Samples every half second. `up.1` delivers 1 kB/s until 10 s and 4 kB/s after that; `up.2` always delivers 1 kB/s;
/// the other flows deliver nothing. `up.1` sends 3 packets for each sample and a retransmission for every tenth, `up.2`
/// sends 2. `up.1` has everything acknowledged at once, except for a pause from 5 s to 7 s. Its
/// window is 10 until 15 s and 30 after that. The AP queue holds one packet for each elapsed second. It is offered a
/// hundred packets a second; a tenth is marked, a fifth from 15 s on.
fn series(run: &mut Run) {
    let at = |k: u64| k as f64 / 2.0;
    let ap = |k: u64| QueueSample {
        packets: k / 2,
        offered: 50 * k,
        marked: if k < 30 { 5 * k } else { 10 * k - 150 },
        dropped: k,
    };
    // 1 kb/s until 10 s, 2 kb/s after that, 3 kb/s at the end, and 9 kb/s for one instant at 15 s.
    let are = (0..=40).map(|k| if k == 30 { 9_000 } else { 1_000 * (k / 20 + 1) });
    let idle = || (0..=40).map(|_| QueueSample::default()).collect();
    run.detail.series = Series {
        time_s: (0..=40).map(at).collect(),
        flows: vec![],
        queues: vec![(0..=40).map(ap).collect(), idle(), idle()],
        successes: vec![],
        estimates: vec![EstimateSeries { flow: 0, name: "are".into(), rate_bps: are.collect() }],
        observed: vec![],
        data: vec![],
        kept: vec![],
        map: None,
    };
    for what in Kept::ALL {
        let members = if what == Kept::Probability { run.queues.len() } else { run.flows.len() };
        let kept = |of| KeptSeries { what, of, values: vec![0.25; 41] };
        run.detail.series.kept.extend((0..members).map(kept));
    }
    let first = |k: u64| 500 * k + 1500 * k.saturating_sub(20);
    for i in 0..run.flows.len() {
        let sample = |k: u64| match i {
            0 => FlowSample {
                delivered_bytes: first(k),
                received_bytes: 2 * first(k),
                snd_cwnd: if k < 30 { 10 } else { 30 },
                snd_ssthresh: 64,
                srtt_us: 20_000,
                rttvar_us: 3_000,
                sent: 3 * k + k / 10,
                retrans: k / 10,
                snd_una_bytes: if (10..14).contains(&k) { first(10) } else { first(k) },
            },
            1 => FlowSample { delivered_bytes: 500 * k, snd_cwnd: 20, sent: 2 * k, ..FlowSample::default() },
            _ => FlowSample::default(),
        };
        run.detail.series.flows.push((0..=40).map(sample).collect());
    }
}
