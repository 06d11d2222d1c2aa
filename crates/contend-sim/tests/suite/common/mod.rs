//! Scenarios written in code, for tests.

pub mod every;
pub mod law;

use contend_core::registry::{Amount, Args, Choice, Entry, Param, Unit, Value, find};
use contend_core::{Ecn, Span, Time, cc, qdisc};
use contend_sim::scenario::*;
use contend_sim::tcp::recovery;
use contend_sim::wifi::access::{self, Category};
use contend_sim::wifi::phy::{DataRate, Family, LONGEST_PPDU, Mode, Phy, Preamble, Standard};
use contend_sim::wifi::propagation;
use contend_sim::{loss, mobility, traffic};

/// A member of a family with its defaults, several of them replaced.
pub fn choose<B>(family: &'static [Entry<B>], name: &str, with: &[(&'static str, Value)]) -> Choice<B> {
    let entry = find(family, name).unwrap_or_else(|| panic!("no {name}"));
    let mut args = Args::default();
    for p in entry.params {
        if let Some(v) = default(p) {
            args.set(p.name, v);
        }
    }
    for (n, v) in with {
        assert!(entry.params.iter().any(|p| p.name == *n), "{name} has no parameter {n}");
        args.set(n, v.clone());
    }
    Choice { entry, args }
}

/// The default of a parameter, if it has one.
pub fn default(p: &Param) -> Option<Value> {
    let text = p.default?;
    let number = || {
        text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%')
            .parse::<f64>()
            .unwrap_or_else(|_| panic!("{}: {text}", p.name))
    };
    let scale = |units: &[(&str, f64)]| units.iter().find(|(u, _)| text.ends_with(u)).map_or(1.0, |(_, f)| *f);
    Some(match p.unit {
        Unit::Number => Value::Number(number()),
        Unit::Fraction => Value::Number(number() * scale(&[("%", 0.01)])),
        Unit::Integer => Value::Integer(number() as i64),
        Unit::Time => Value::Time(Span::from_secs_f64(number() * scale(&[("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)]))),
        Unit::Rate => Value::Rate((number() * scale(&[("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3)])) as u64),
        Unit::Amount if text.ends_with('p') => Value::Amount(Amount::Packets(number() as u64)),
        Unit::Amount => Value::Amount(Amount::Bytes((number() * scale(&[("kB", 1e3), ("MB", 1e6)])) as u64)),
        Unit::Bool => Value::Bool(text == "true"),
        Unit::Word(_) => Value::Word(text.into()),
        Unit::Schedule => Value::Schedule(vec![]),
        Unit::Intervals => Value::Intervals(vec![]),
        Unit::Drops => Value::Drops(vec![]),
        Unit::Weights => Value::Weights(vec![]),
        Unit::Numbers => Value::Numbers(vec![]),
        Unit::Group(_) => Value::Group(Args::default()),
    })
}

/// A drop-tail queue of `n` packets.
pub fn fifo(n: u64) -> Choice<qdisc::Build> {
    choose(qdisc::REGISTRY, "fifo", &[("limit", Value::Amount(Amount::Packets(n)))])
}

/// 802.11g at 54 Mb/s, 6 Mb/s control.
pub fn phy_g() -> Phy {
    let mut phy = Phy::new(Standard::G, Preamble::Long);
    phy.basic = vec![6_000_000];
    phy
}

/// The options of the standard.
pub const MAC: MacSpec = MacSpec {
    retry_short: 7,
    retry_long: 4,
    rts_threshold: u32::MAX,
    txop_protection: TxopProtection::Single,
    preamble_detection: Span::ZERO,
    busy_slot: BusySlot::Frozen,
    idle_access: IdleAccess::Immediate,
    after_collision: AfterCollision::Eifs,
};

/// The limits of 802.11n, without lifetime or limit of attempts.
pub const AGGREGATION: Aggregation = Aggregation {
    msdu: 0,
    bytes: 65_535,
    mpdus: 64,
    window: 64,
    duration: LONGEST_PPDU,
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

/// A station.
pub fn station(name: String, rate: u64) -> StationSpec {
    let access = choose(access::REGISTRY, "dcf", &[]);
    StationSpec {
        client: None,
        aggregation: None,
        aql: None,
        name,
        rate: rate.into(),
        queue: fifo(100),
        loss: None,
        access,
        observe: vec![],
        channel: ChannelSpec::default(),
    }
}

/// An 802.11n, ac, ax or be PHY at 5 GHz, and one of its rates.
pub fn modern(family: Family, width: u16, streams: u8, mcs: u8) -> (Phy, DataRate) {
    let standard = match family {
        Family::Ht => Standard::N,
        Family::Vht => Standard::Ac,
        Family::He | Family::HeExtended => Standard::Ax,
        Family::Eht => Standard::Be,
    };
    (Phy::new(standard, Preamble::Long), DataRate::Mcs(Mode::new(family, width, streams, mcs).unwrap()))
}

/// The same cell with this PHY, every member at `rate`.
pub fn with_rate(mut s: Scenario, (phy, rate): (Phy, DataRate)) -> Scenario {
    let cell = s.cell.as_mut().unwrap();
    cell.phy = phy;
    cell.aps.iter_mut().map(|ap| &mut ap.station).chain(&mut cell.stations).for_each(|s| s.rate = rate);
    s
}

/// The same network, in which all stations aggregate like this.
pub fn aggregating(mut s: Scenario, spec: impl Into<Option<Aggregation>>) -> Scenario {
    let (cell, spec) = (s.cell.as_mut().unwrap(), spec.into());
    cell.aps.iter_mut().map(|ap| &mut ap.station).chain(&mut cell.stations).for_each(|s| s.aggregation = spec);
    s
}

/// A cell of `n` stations at `rate`.
pub fn cell(phy: Phy, mac: MacSpec, n: usize, rate: u64) -> CellSpec {
    CellSpec {
        phy,
        mac,
        aps: vec![ApSpec { station: station("ap".into(), rate), beacon: None, control: vec![] }],
        stations: (0..n).map(|i| station(format!("sta{i}"), rate)).collect(),
        field: None,
        error_model: None,
    }
}

/// Stations at these positions in metres, the access points first, with a range of 250 m and a sense range of 550 m.
pub fn field(positions: Vec<Point>) -> FieldSpec {
    let site = |position| Site {
        position: Some(position),
        mobility: choose(mobility::REGISTRY, "fixed", &[]),
        movement: None,
        off: vec![],
        roam: None,
    };
    FieldSpec {
        sites: positions.into_iter().map(site).collect(),
        area: Area::INFINITE,
        links: None,
        walls: vec![],
        shadowing: None,
        association: vec![],
        channels: vec![],
        adjacent: None,
        range: 250.0,
        sense: 550.0,
        propagation: choose(propagation::REGISTRY, "range", &[]),
        capture: Capture::NONE,
        tx_power: 16.0,
        noise_figure: 7.0,
        propagation_delay: false,
        nav_reset: true,
        nav_rounding: false,
        slot_rounding: false,
        cts: CtsRule::Nav,
        routing: None,
        arp: false,
        routing_priority: false,
        link_delay: Span::ZERO,
        notes_on_air: false,
        sinr: false,
    }
}

/// A wire of 100 Mb/s.
pub fn wire(delay: Span) -> WireSpec {
    WireSpec { rate: WireRate::Constant(100_000_000), delay, queue: fifo(10_000), loss: None }
}

/// A host for each flow, linked to the access point with `delay`.
pub fn hosts(n: usize, delay: Span) -> (Vec<NodeSpec>, Vec<LinkSpec>) {
    let nodes = (0..n).map(|i| NodeSpec { name: format!("host{i}"), router: false }).collect();
    let links = (0..n)
        .map(|i| LinkSpec {
            name: format!("wire{i}"),
            from: Place::Node(i),
            to: Place::Ap(0),
            forward: wire(delay),
            reverse: wire(delay),
        })
        .collect();
    (nodes, links)
}

/// NewReno with ns-2's options.
pub fn newreno() -> TcpSpec {
    TcpSpec {
        name: "newreno".into(),
        cc: choose(cc::REGISTRY, "reno", &[]),
        recovery: choose(recovery::REGISTRY, "newreno", &[]),
        window: Amount::Packets(42),
        ack: 1,
        ack_delay: Span::from_millis(100),
        quick_acks: 0,
        gro: false,
        autotuning: false,
        handshake: Handshake::None,
        initial_window: 2,
        initial_ssthresh: None,
        sack: false,
        timestamps: None,
        encrypted: None,
        window_scaling: true,
        ecn: EcnEcho::Off,
        ect: Ecn::Ect,
        ect_all: false,
        limited_transmit: false,
        pacing: false,
        tsq: None,
        rto: RtoSpec {
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            initial: Span::from_secs(3),
            granularity: Span::from_millis(10),
            backoff_after: 1,
            one_sample: false,
            keeps_backoff: false,
        },
        estimates: vec![],
    }
}

/// A TCP flow of unlimited data.
pub fn bulk(name: String, from: Place, to: Place, tcp: TcpSpec, start: Start) -> FlowSpec {
    let traffic = choose(traffic::REGISTRY, "bulk", &[]);
    let transport = Transport::Tcp(Box::new(tcp));
    let ends = EndsSpec { packet: 1500, transport, traffic, start, stop: None, size: None, overhead: None };
    FlowSpec { name, from, to, random: [None, None], category: Category::Be, ends }
}

/// From `low` to `high` microseconds.
pub fn between(low: u64, high: u64) -> UniformSpan {
    UniformSpan { low: Span::from_micros(low), high: Span::from_micros(high) }
}

/// A UDP flow of constant rate.
pub fn cbr(name: String, from: Place, to: Place, rate: u64) -> FlowSpec {
    let traffic = choose(traffic::REGISTRY, "cbr", &[("rate", Value::Rate(rate))]);
    let start = Start::Uniform(Time::ZERO, Time::from_nanos(10_000_000));
    let ends = EndsSpec {
        packet: 1500,
        transport: Transport::Udp(UdpSpec::default()),
        traffic,
        start,
        stop: None,
        size: None,
        overhead: None,
    };
    FlowSpec { name, from, to, random: [None, None], category: Category::Be, ends }
}

/// `n` stations that together send 80 Mb/s of UDP to their wired hosts.
pub fn saturated(phy: Phy, mac: MacSpec, n: usize, rate: u64, seed: u64) -> Scenario {
    let (nodes, links) = hosts(n, Span::ZERO);
    let flows =
        (0..n).map(|i| cbr(format!("up.{i}"), Place::Station(i), Place::Node(i), 80_000_000 / n as u64)).collect();
    Scenario { seed, cell: Some(cell(phy, mac, n, rate)), nodes, links, flows }
}

/// `down` downloads and `up` uploads, as in the reference runs.
pub fn down_up(down: usize, up: usize, tcp: TcpSpec, phy: Phy, mac: MacSpec, seed: u64) -> Scenario {
    let n = down + up;
    let (nodes, links) = hosts(n, Span::from_millis(1));
    let start = Start::Uniform(Time::from_nanos(1_000_000_000), Time::from_nanos(2_000_000_000));
    let flows = (0..n)
        .map(|i| {
            let (name, from, to) = if i < down {
                ("down", Place::Node(i), Place::Station(i))
            } else {
                ("up", Place::Station(i), Place::Node(i))
            };
            bulk(format!("{name}.{i}"), from, to, tcp.clone(), start)
        })
        .collect();
    Scenario { seed, cell: Some(cell(phy, mac, n, 54_000_000)), nodes, links, flows }
}

/// Instant `s` seconds after the start.
pub fn at(s: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(s)
}

/// A loss process.
pub fn loss(name: &str, with: &[(&'static str, Value)]) -> Option<Choice<loss::Build>> {
    Some(choose(loss::REGISTRY, name, with))
}
