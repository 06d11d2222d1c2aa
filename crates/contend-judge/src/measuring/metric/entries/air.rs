//! Metrics of the cell: its air as a whole, and the airtime of each station.

use crate::measuring::metric::entry::{Asked, Aspects, MetricEntry, Period, Subject};
use crate::measuring::metric::reading::SampleRange;
use crate::measuring::metric::{Aspect, Unmeasured};
use contend_core::Refusal;
use contend_experiment::names::remedy;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::{Air, DataSample, Roaming, Run, Ways};
use contend_sim::routing::RoutingDrop;
use contend_sim::wifi::StationId;
use contend_theory::effective_window;
use contend_theory::slots::Family;
use std::collections::{BTreeMap, BTreeSet};

/// The cell as a whole; it has no members to select.
static CELL: Subject = Subject {
    noun: "cell",
    uses: &[("NAME", "the whole cell")],
    member: "",
    groups: &[],
    names: |_| vec![],
    group: |_, _| vec![],
    needs_cell: true,
};

/// Stations and access points, sorted by name.
static TRANSMITTERS: Subject = Subject {
    noun: "station",
    uses: &[
        ("NAME[ap]", "the access point"),
        ("NAME[STATION]", "a station, or a list with one number for each member of a table"),
        ("NAME.STATION", "all members of a table together"),
    ],
    member: "sta1",
    groups: &[],
    names: |run| run.air.iter().flat_map(|air| air.airtime.from.keys()).map(String::as_str).collect(),
    group: |_, _| vec![],
    needs_cell: true,
};

/// Stations that may change their access points.
static ROAMERS: Subject = Subject {
    noun: "station with `roam`",
    uses: &[
        ("NAME[STATION]", "a station, or a list with one number for each member of a table"),
        ("NAME.STATION", "all members of a table together"),
    ],
    member: "sta1",
    groups: &[],
    names: |run| {
        let roaming = run.air.iter().filter_map(|air| air.roaming.as_ref());
        roaming.flat_map(BTreeMap::keys).map(String::as_str).collect()
    },
    group: |_, _| vec![],
    needs_cell: true,
};

pub(super) const METRICS: &[MetricEntry] = &[
    MetricEntry::new(
        "airtime",
        Dimension::Number,
        &TRANSMITTERS,
        "share of time of the frames that a station sends and of those sent to it, with ACK, RTS and CTS; collisions \
            belong to nobody. `airtime.from`: the frames that it sends; `airtime.to`: the frames sent to it",
        airtime,
    )
    .aspects(Aspects::Optional(&["from", "to"]))
    .example("airtime.to[sta1]")
    .share(),
    air("frames", "data frames sent, including retries", |a| Ok(a.air()?.frames as f64))
        .in_contention()
        .reported(&["frames"]),
    air("collisions", "collisions on the air, each of two or more stations", |a| Ok(a.air()?.collisions as f64))
        .in_contention()
        .reported(&["collisions"])
        .reported_in_contention(&["collisions"]),
    air("collision_rate", "collisions for each success", |a| {
        let air = a.air()?;
        match air.successes {
            0 => Err(a.undefined("there is no success")),
            successes => Ok(air.collisions as f64 / successes as f64),
        }
    })
    .in_contention()
    .reported_in_contention(&["collision_rate"]),
    air("collision_probability", "share of attempts that collided", |a| Ok(a.air()?.collision_probability))
        .note(
            "In a cell these are attempts that began in the same slot as another station's. In a `[field]` they are \
                those that other frames corrupted at the receiver, or that the receiver did not answer because it was \
                busy or had a reservation; all hops and access points are added, so that the number says little about \
                any one of them. There, `radio.blocked[STATION]` and `radio.hears[STATION]` say what a station waits \
                for, `mpdu_loss[STATION]` what it loses, `retry_drops` and `routing_drops.link_failed` what is lost \
                for good.",
        )
        .share()
        .in_contention()
        .reported(&["collision_probability"])
        .reported_in_contention(&["collision_probability"]),
    air("retry_drops", "packets dropped after the last retry", |a| Ok(a.air()?.retry_drops as f64))
        .reported(&["retry_drops"]),
    air(
        "rivals",
        "mean number of stations with a frame when a transmission starts and the access point has a frame",
        |a| Ok(a.air()?.rivals),
    ),
    air(
        "wait",
        "mean number of idle slots before a transmission: `wait.success` before one of a single station (W_T), \
            `wait.collision` before a collision (W_C)",
        |a| {
            let air = a.air()?;
            Ok(if a.metric.aspect == Aspect::Word("success") { air.wait.success } else { air.wait.collision })
        },
    )
    .aspects(Aspects::Required(&["success", "collision"]))
    .in_contention()
    .reported_in_contention(&["wait.success", "wait.collision"]),
    air(
        "effective_window",
        "effective contention window: number of slots from which as many stations, with uniform draws, would collide \
            as often (in a run of [contention])",
        effective_window,
    )
    .in_contention()
    .reported_in_contention(&["effective_window"]),
    air("busy", "share of time with at least one transmission on the air; in a field, around a station", |a| {
        Ok(a.air()?.busy)
    })
    .share()
    .reported(&["busy"]),
    data("mpdus", Dimension::Number, "MPDUs with data that a station sends, retransmissions included", |a| {
        match a.window()? {
            Some(range) => grown(a, range, |s| s.sent),
            None => mpdus(a, |air| air.mpdus.as_ref()).map(|(sent, _)| sent),
        }
    }),
    data(
        "mpdu_loss",
        Dimension::Number,
        "share of these MPDUs that are not acknowledged: lost by themselves, in a collision, or because the answer is \
            lost",
        loss,
    )
    .share(),
    data("mpdu_attempts", Dimension::Number, "MPDUs sent for each one that is acknowledged", |a| {
        let loss = loss(a)?;
        if loss < 1.0 { Ok(1.0 / (1.0 - loss)) } else { Err(a.undefined("no MPDU is acknowledged")) }
    }),
    data("mean_rate", Dimension::Rate, "mean rate of these MPDUs", |a| {
        mean(a, |air| air.mean_rate.as_ref(), |s| s.kbps * 1000, |s| s.sent)
    }),
    data("mean_mcs", Dimension::Number, "mean MCS of these MPDUs, of 0 to 13 whatever the number of streams", |a| {
        mean(a, |air| air.mean_mcs.as_ref(), |s| s.mcs, |s| s.with_mcs)
    }),
    MetricEntry::new(
        "radio",
        Dimension::Number,
        &TRANSMITTERS,
        "share of time in which a station of a field sends, receives a frame that is for it, hears others, is blocked \
            (inter-frame space, reservation, wait for an answer), or is idle; of several stations the mean",
        radio,
    )
    .aspects(Aspects::Required(&["sends", "receives", "hears", "blocked", "idle"]))
    .example("radio.hears[sta1]")
    .share(),
    MetricEntry::new(
        "roams",
        Dimension::Number,
        &ROAMERS,
        "changes of the access point of a station with `roam`; of several stations their sum",
        |a| Ok(roaming(a)?.map(|r| r.roams as f64).sum()),
    )
    .example("roams[sta1]"),
    MetricEntry::new(
        "away",
        Dimension::Time,
        &ROAMERS,
        "time in which a station with `roam` scanned or changed its access point, so that it neither sent nor \
            received; of several stations their sum",
        |a| Ok(roaming(a)?.map(|r| r.away_s).sum()),
    )
    .example("away[sta1]"),
    MetricEntry::new(
        "routing_drops",
        Dimension::Packets,
        &CELL,
        "packets that stations of a field dropped because they could not forward them; `routing_drops.no_route` and \
            others for one reason",
        routing_drops,
    )
    .aspects(Aspects::Optional(&REASONS))
    .reported(&["routing_drops"]),
    air("ledger", "share of time of one account: `ledger.idle`, ...", |a| account(a, a.air()?))
        .share()
        .aspects(Aspects::Named("an account"))
        .example("ledger.idle` or `ledger.payload"),
];

const fn air(name: &'static str, doc: &'static str, read: fn(&Asked<'_>) -> Result<f64, Unmeasured>) -> MetricEntry {
    MetricEntry::new(name, Dimension::Number, &CELL, doc, read)
}

/// A metric of the data of stations.
const fn data(
    name: &'static str,
    unit: Dimension,
    doc: &'static str,
    read: fn(&Asked<'_>) -> Result<f64, Unmeasured>,
) -> MetricEntry {
    MetricEntry::new(name, unit, &TRANSMITTERS, doc, read)
        .aspects(Aspects::Optional(&["from", "to"]))
        .example(name)
        .over(Period::RunOrWindow)
        .needs(|m, s| s.series |= m.window.is_some())
}

/// The reasons of routing drops.
const REASONS: [&str; RoutingDrop::ALL.len()] = {
    let mut names = [""; RoutingDrop::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = RoutingDrop::ALL[i].name();
        i += 1;
    }
    names
};

/// The number of MPDUs of the selected stations, and the sum over them of `of`.
fn mpdus(a: &Asked<'_>, of: fn(&Air) -> Option<&Ways>) -> Result<(f64, f64), Unmeasured> {
    let (air, names) = (a.air()?, a.names());
    let Some(all) = &air.mpdus else {
        let help = "needs aggregates, a rate control or an SNR: write [wifi] ampdu = {}";
        return Err(Unmeasured::wrong(format!("`{}` {help}", a.metric)));
    };
    let way = |ways: &Ways, name: &str| match a.metric.aspect {
        Aspect::Word("to") => ways.to.get(name).copied(),
        _ => ways.from.get(name).copied(),
    };
    let (mut sent, mut sum) = (0.0, 0.0);
    for name in a.members.iter().filter_map(|i| names.get(*i)) {
        let n = way(all, name).unwrap_or_default();
        let of = of(air).and_then(|ways| way(ways, name));
        // Those without a value, like the MCS of older stations, do not count.
        if let Some(x) = of {
            (sent, sum) = (sent + n, sum + n * x)
        }
    }
    Ok((sent, sum))
}

/// The mean over the MPDUs of the selected stations: in a time window, the growth of `sum` over that of `number`.
fn mean(
    a: &Asked<'_>,
    whole: fn(&Air) -> Option<&Ways>,
    sum: fn(&DataSample) -> u64,
    number: fn(&DataSample) -> u64,
) -> Result<f64, Unmeasured> {
    let (number, sum) = match a.window()? {
        Some(range) => (grown(a, range, number)?, grown(a, range, sum)?),
        None => mpdus(a, whole)?,
    };
    if number > 0.0 { Ok(sum / number) } else { Err(a.undefined("there is no such MPDU")) }
}

/// The growth in a time window of a number for the data of the selected stations.
fn grown(a: &Asked<'_>, range: SampleRange, of: fn(&DataSample) -> u64) -> Result<f64, Unmeasured> {
    let (series, names) = (&a.run.detail.series.data, a.names());
    if series.is_empty() {
        let what = format!("`{}`: only a network with a rate control has it over a time window", a.metric);
        return Err(Unmeasured::wrong(Refusal::new(what, "remove the time window, or write a rate_control")));
    }
    let way = usize::from(a.metric.aspect == Aspect::Word("to"));
    let one = |name: &&str| {
        let station = a.run.stations.iter().position(|s| s == name);
        range.grown(station.and_then(|i| series.get(i)).map(|ways| &ways[way]), of)
    };
    a.members.iter().filter_map(|i| names.get(*i)).map(|name| Ok(one(name)? as f64)).sum()
}

/// The share of the MPDUs of the selected stations that was not acknowledged.
fn loss(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    mean(a, |air| air.mpdu_loss.as_ref(), |s| s.sent - s.acked, |s| s.sent)
}

/// The mean share of time of one account of the selected stations of a field.
fn radio(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let (air, names) = (a.air()?, a.names());
    let radio = air.radio.as_ref().ok_or_else(|| no_field(a))?;
    let asked = |account: &str| matches!(a.metric.aspect, Aspect::Word(word) if word == account);
    let of = radio.accounts().into_iter().find(|(account, _)| asked(account)).map(|(_, of)| of);
    let of = of.ok_or_else(|| no_field(a))?;
    let shares = a.members.iter().filter_map(|i| of.get(*names.get(*i)?));
    Ok(shares.sum::<f64>() / a.members.len().max(1) as f64)
}

fn routing_drops(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let drops = a.air()?.routing_drops.as_ref().ok_or_else(|| no_field(a))?;
    Ok(match &a.metric.aspect {
        Aspect::Word(reason) => drops.get(reason).copied().unwrap_or_default(),
        _ => drops.values().sum(),
    } as f64)
}

/// How the selected stations changed their access points.
fn roaming<'a>(a: &'a Asked<'_>) -> Result<impl Iterator<Item = &'a Roaming>, Unmeasured> {
    let (air, names) = (a.air()?, a.names());
    let Some(all) = &air.roaming else {
        return Err(Unmeasured::wrong(format!("`{}` needs a station with `roam`", a.metric)));
    };
    Ok(a.members.iter().filter_map(move |i| all.get(*names.get(*i)?)))
}

fn no_field(a: &Asked<'_>) -> Unmeasured {
    Unmeasured::wrong(format!("`{}` needs a [field]", a.metric))
}

/// The airtime of the selected stations together; each frame counts once.
fn airtime(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let (air, names) = (a.air()?, a.names());
    let members: Vec<&str> = a.members.iter().filter_map(|i| names.get(*i).copied()).collect();
    let sum = |of: &BTreeMap<String, f64>, list: &[&str]| list.iter().filter_map(|name| of.get(*name)).sum::<f64>();
    Ok(match a.metric.aspect {
        Aspect::Word("from") => sum(&air.airtime.from, &members),
        Aspect::Word("to") => sum(&air.airtime.to, &members),
        _ => {
            let ends = without_clients(a.run, members);
            sum(&air.airtime.from, &ends) + sum(&air.airtime.to, &ends)
        }
    })
}

/// The members whose access point is no other member: the frames of an access point include those of its stations.
fn without_clients<'a>(run: &'a Run, mut members: Vec<&'a str>) -> Vec<&'a str> {
    let aps: BTreeSet<&str> = run.access_points().filter(|ap| members.contains(ap)).collect();
    if !aps.is_empty() {
        let name = |id: StationId| run.stations.get(id as usize).map_or("", String::as_str);
        let pairs =
            run.stations.iter().zip(&run.bss).filter(|(own, ap)| *own != name(**ap) && aps.contains(name(**ap)));
        let clients: BTreeSet<&str> = pairs.map(|(own, _)| own.as_str()).collect();
        members.retain(|name| !clients.contains(name));
    }
    members
}

fn effective_window(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let air = a.air()?;
    let n = a.run.contending.ok_or_else(|| {
        Unmeasured::wrong(format!("`{}` needs a run of [contention], in which all stations always contend", a.metric))
    })?;
    let share = air.collisions as f64 / (air.collisions + air.successes).max(1) as f64;
    effective_window::window_of(Family::Uniform, n, share).map_err(|e| a.undefined(e))
}

fn account(a: &Asked<'_>, air: &Air) -> Result<f64, Unmeasured> {
    let Aspect::Named(account, _) = &a.metric.aspect else {
        return Err(Unmeasured::wrong(format!("`{}` needs the name of an account", a.metric)));
    };
    let help = || remedy(account, air.ledger.keys().copied());
    let found = air.ledger.get(account.as_str()).copied();
    found.ok_or_else(|| Unmeasured::wrong(Refusal::new(format!("the ledger has no account `{account}`"), help())))
}
