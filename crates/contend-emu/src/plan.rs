//! Which hosts an experiment has, their names and addresses, and what their kernels must be told.

use crate::host::HostSpec;
use crate::netlink::Metrics;
use crate::ties::Known;
use contend_core::Refusal;
use contend_core::Span;
use contend_core::cc::deployed_name;
use contend_core::packet::Ecn;
use contend_core::registry::{Amount, Value};
use contend_lab::experiment::point::Member;
use contend_sim::net::{QueueAt, queues_passed};
use contend_sim::scenario::{EcnEcho, FlowSpec, Outside, Place, Scenario, TcpSpec, Transport, UdpSpec};
use contend_sim::tcp::SegmentFormat;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

/// The most hosts of one emulation.
pub const MOST: usize = 1000;
/// The port of the first flow's receiver; the others follow.
const PORT: u16 = 20_000;
/// What the addresses of all hosts begin with, and its length in bits.
const NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 77, 0, 0), 16);
/// Payload of a segment of today.
const SEGMENT: u32 = 1448;
/// Protocol number.
pub(crate) const TCP: u8 = 6;
const UDP: u8 = 17;

/// A host outside the simulated network.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name in the file.
    pub name: String,
    /// A short name: `sta0`, `server0`, ...
    pub short: String,
    /// Where it is.
    pub place: Place,
    /// Its address.
    pub ip: Ipv4Addr,
    /// The host that `server` means here: the other end of its first flow.
    pub peer: usize,
    /// True if the TCP of its programs carries ECT(1).
    pub l4s: bool,
}

/// The part of an experiment that is outside.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The hosts.
    pub hosts: Vec<Host>,
    /// What the network is told of them.
    pub outside: Outside,
    /// The flows between them.
    pub flows: Vec<Known>,
    /// The least round-trip time of these flows, as wires give it.
    pub min_rtt: Span,
}

impl Plan {
    /// The plan for `scenario`. The flows marked `emulate = "kernel"` are outside; if none is, all are.
    ///
    /// # Errors
    /// When the kernel cannot carry a flow as the file describes it; the text says what to do.
    pub fn new(scenario: &Scenario, members: &[Member]) -> Result<Plan, Refusal> {
        let is_outside = outside(members);
        let chosen =
            || scenario.flows.iter().zip(&is_outside).enumerate().filter(|(_, (_, o))| **o).map(|(i, (f, _))| (i, f));
        let mut places: Vec<Place> = Vec::new();
        let mut known = BTreeMap::new();
        for place in chosen().flat_map(|(_, f)| [f.from, f.to]) {
            known.entry(place).or_insert_with(|| {
                places.push(place);
                places.len() - 1
            });
        }
        if places.len() > MOST {
            return Err(Refusal::new(
                format!("the file has {} hosts, and an emulation at most {MOST}", places.len()),
                "write emulate = \"kernel\" into the flows \
                    whose hosts shall be real",
            ));
        }
        let mut flows = Vec::new();
        for (i, f) in chosen() {
            check(f)?;
            let window = match &f.ends.transport {
                Transport::Tcp(t) => SegmentFormat::new(f.ends.packet, t)?.window,
                Transport::Udp(_) => u32::MAX,
            };
            flows.push(Known {
                flow: i as u32,
                from: known[&f.from],
                to: known[&f.to],
                port: PORT + i as u16 % (u16::MAX - PORT),
                protocol: if matches!(f.ends.transport, Transport::Tcp(_)) { TCP } else { UDP },
                sealed: matches!(&f.ends.transport, Transport::Tcp(t) if t.encrypted.is_some()),
                l4s: tcp_of(f).is_some_and(is_l4s),
                window,
            });
        }
        let peer = |host: usize| {
            let of = flows.iter().find_map(|f: &Known| match host {
                h if h == f.from => Some(f.to),
                h if h == f.to => Some(f.from),
                _ => None,
            });
            of.unwrap_or(host)
        };
        let hosts = places.iter().enumerate().map(|(i, place)| {
            let (name, short) = names(scenario, *place);
            let [high, low] = (i as u16 + 1).to_be_bytes();
            Host { name, short, place: *place, ip: Ipv4Addr::new(10, 77, high, low), peer: peer(i), l4s: false }
        });
        let hosts = hosts.collect();
        let min_rtt = min_rtt(scenario, &is_outside)?;
        let mut plan = Plan { hosts, outside: Outside { flows: is_outside, hosts: places }, flows, min_rtt };
        for i in 0..plan.hosts.len() {
            plan.hosts[i].l4s = plan.default_of(scenario, i).is_some_and(is_l4s);
        }
        Ok(plan)
    }

    /// Packets that the windows of the flows allow under way: data, and an acknowledgment for each.
    pub fn under_way(&self) -> u64 {
        let of = |f: &&Known| f.protocol == TCP;
        self.flows.iter().filter(of).map(|f| 2 * u64::from(f.window.div_ceil(SEGMENT))).sum()
    }

    /// The host called `name`.
    pub fn host(&self, name: &str) -> Option<usize> {
        let by_name = self.hosts.iter().position(|h| h.name == name || h.short == name);
        by_name.or_else(|| if name == "server" { self.hosts.first().map(|_| self.server(0)) } else { None })
    }

    /// The error about a name that no host has.
    pub fn no_host(&self, name: &str) -> Refusal {
        let known: Vec<&str> = self.hosts.iter().map(|h| h.name.as_str()).take(20).collect();
        Refusal::new(format!("there is no host \"{name}\""), format!("the hosts are {}", known.join(", ")))
    }

    /// The first station; without a station, the first host.
    pub fn first_station(&self) -> usize {
        self.hosts.iter().position(|h| is_station(h.place)).unwrap_or(0)
    }

    /// What `server` means at `host`: its peer, if that is no station; otherwise the first host that is no station.
    fn server(&self, host: usize) -> usize {
        let wired = |i: &usize| self.hosts.get(*i).is_some_and(|h| !is_station(h.place));
        let peer = self.hosts.get(host).map_or(host, |h| h.peer);
        [host, peer].into_iter().find(wired).or_else(|| (0..self.hosts.len()).find(wired)).unwrap_or(peer)
    }

    /// Hosts, addresses and names, one host a line.
    pub fn text(&self) -> String {
        let wide = self.hosts.iter().map(|h| h.name.len()).max().unwrap_or(0);
        let line = |h: &Host| format!("  {:wide$}  {:<9} {}\n", h.name, h.short, h.ip);
        self.hosts.iter().map(line).collect()
    }

    /// What the kernel is told to make the hosts.
    pub fn specs(&self, scenario: &Scenario) -> Vec<HostSpec> {
        (0..self.hosts.len()).map(|i| self.spec(scenario, i)).collect()
    }

    /// The TCP of host `i` where the file says nothing: as it sends itself, or as others send in its direction; if
    /// nobody does, as its own flows do in the other one.
    fn default_of<'s>(&self, scenario: &'s Scenario, i: usize) -> Option<&'s TcpSpec> {
        let host = self.hosts.get(i)?;
        let tcp = |f: &Known| tcp_of(scenario.flows.get(f.flow as usize)?);
        let same_way =
            |f: &Known| self.hosts.get(f.from).is_some_and(|h| is_station(h.place) == is_station(host.place));
        let sends = self.flows.iter().filter(|f| f.from == i).find_map(tcp);
        sends
            .or_else(|| self.flows.iter().filter(|f| same_way(f)).find_map(tcp))
            .or_else(|| self.flows.iter().filter(|f| f.to == i).find_map(tcp))
    }

    fn spec(&self, scenario: &Scenario, i: usize) -> HostSpec {
        let host = &self.hosts[i];
        let mut names = "127.0.0.1 localhost\n".to_owned();
        for h in &self.hosts {
            let _ = writeln!(names, "{} {} {}", h.ip, h.name, h.short);
        }
        let _ = writeln!(names, "{} server", self.hosts[self.server(i)].ip);
        let ends_here = self.flows.iter().filter(|f| f.from == i || f.to == i);
        let own: Vec<_> = ends_here.filter_map(|f| Some((f, tcp_of(scenario.flows.get(f.flow as usize)?)?))).collect();
        let any = |has: fn(&TcpSpec) -> bool| u8::from(own.iter().any(|(_, t)| has(t))).to_string();
        let mut settings: Vec<(String, String)> = [
            // What one connection learned must not change the next.
            ("tcp_no_metrics_save", "1".to_owned()),
            ("tcp_sack", any(|t| t.sack)),
            ("tcp_timestamps", any(|t| t.timestamps.is_some())),
            ("tcp_window_scaling", any(|t| t.window_scaling)),
            ("tcp_ecn", any(|t| t.ecn != EcnEcho::Off)),
        ]
        .map(|(key, value)| (format!("net/ipv4/{key}"), value))
        .into();
        if own.is_empty() {
            settings.truncate(1);
        }
        let mut routes: BTreeMap<usize, Metrics> = BTreeMap::new();
        let mut most = 6 << 20;
        for (f, t) in &own {
            let metrics = routes.entry(if f.from == i { f.to } else { f.from }).or_default();
            if f.from == i {
                metrics.congestion = Some(congestion_control(t));
                metrics.initial_window = Some(t.initial_window);
                metrics.min_rto_ms = Some(t.rto.min.as_micros() as u32 / 1000);
            } else {
                // So the window scale fits; the border holds the limit.
                metrics.window = Some(f.window);
                most = most.max(4 * u64::from(f.window));
            }
        }
        // The second value is Linux's: a receiver's window opens from there (`autotuning`).
        settings.push(("net/ipv4/tcp_rmem".into(), format!("4096 131072 {most}")));
        // What programs open beside the flows of the file: a browser's uploads are no other TCP than its downloads.
        let congestion = self.default_of(scenario, i).map(congestion_control);
        routes
            .values_mut()
            .for_each(|metrics| metrics.congestion = metrics.congestion.take().or_else(|| congestion.clone()));
        let mut routes: Vec<_> = routes.into_iter().map(|(to, metrics)| (self.hosts[to].ip, 32, metrics)).collect();
        routes.push((NETWORK.0, NETWORK.1, Metrics { congestion: congestion.clone(), ..Metrics::default() }));
        if host.l4s
            && let Some(name) = &congestion
        {
            // A listening socket asks for accurate ECN by its own controller, not by that of a route.
            settings.push(("net/ipv4/tcp_congestion_control".into(), name.clone()));
        }
        let pace = pace(scenario, host.place);
        HostSpec { name: host.name.clone(), ip: host.ip, names, settings, routes, pace }
    }
}

/// The rate of the only wire of a host, if the queue before it is so long that it stands for the host's own: a real
/// interface takes no more than it sends. A shorter queue is part of the network, and has to fill.
fn pace(scenario: &Scenario, place: Place) -> Option<u64> {
    // The default of wires.
    const LONG: u64 = 10_000;
    let ends = scenario.links.iter().filter_map(|l| {
        let forward = (l.from == place).then_some(&l.forward);
        forward.or((l.to == place).then_some(&l.reverse))
    });
    let mut wires = ends.filter(|_| !is_station(place));
    let (wire, None) = (wires.next()?, wires.next()) else { return None };
    let is_long = matches!(wire.queue.args.get("limit"), Some(Value::Amount(Amount::Packets(n))) if *n >= LONG);
    wire.rate.constant().filter(|_| is_long && wire.queue.entry.name == "fifo")
}

/// The TCP of a flow of the file, if it has one.
fn tcp_of(f: &FlowSpec) -> Option<&TcpSpec> {
    match &f.ends.transport {
        Transport::Tcp(t) => Some(t),
        Transport::Udp(_) => None,
    }
}

/// True if the data of `t` carry ECT(1).
fn is_l4s(t: &TcpSpec) -> bool {
    t.ecn.accurate().is_some() && t.ect == Ecn::Ect1
}

/// What decides the direction of a flow.
fn is_station(place: Place) -> bool {
    matches!(place, Place::Station(_))
}

/// The name of the place in the file, and a short one.
fn names(scenario: &Scenario, place: Place) -> (String, String) {
    match place {
        Place::Station(i) => {
            let name = scenario.cell.as_ref().and_then(|c| c.stations.get(i)).map(|s| s.name.clone());
            (name.unwrap_or_default(), format!("sta{i}"))
        }
        Place::Node(i) => (scenario.nodes.get(i).map(|n| n.name.clone()).unwrap_or_default(), format!("server{i}")),
        Place::Ap(i) => (format!("ap{i}"), format!("ap{i}")),
    }
}

/// The congestion controls that the kernel has now.
fn available() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default()
}

/// The kernel's name of the congestion control: its own, or that of `contend deploy cc`, which comes second.
fn kernel_name(name: &str) -> Option<String> {
    let deployed = deployed_name(name);
    let available = available();
    let has = |wanted: &str| available.split_whitespace().any(|known| known == wanted);
    if has(name) { Some(name.to_owned()) } else { has(&deployed).then_some(deployed) }
}

/// The kernel's name of the congestion control of `t`.
pub fn congestion_control(t: &TcpSpec) -> String {
    kernel_name(t.cc.entry.name).unwrap_or_else(|| t.cc.entry.name.to_owned())
}

/// True for the flows that real hosts carry.
fn outside(members: &[Member]) -> Vec<bool> {
    let all = members.iter().all(|m| !m.kernel);
    members.iter().map(|m| all || m.kernel).collect()
}

/// The flows that real hosts carry and whose controller this kernel does not have, with their names.
pub fn unknown_controllers<'s>(scenario: &'s Scenario, members: &[Member]) -> Vec<(&'s str, &'s TcpSpec)> {
    let outside = outside(members);
    let flows = scenario.flows.iter().zip(outside).filter(|(_, outside)| *outside);
    let of_tcp = flows.filter_map(|(f, _)| Some((f.name.as_str(), tcp_of(f)?)));
    of_tcp.filter(|(_, t)| kernel_name(t.cc.entry.name).is_none()).collect()
}

/// The controller that asks the kernel for accurate ECN.
const ASKS: &str = "prague";

/// Checks that the kernel can carry `f`.
fn check(f: &FlowSpec) -> Result<(), Refusal> {
    let simulate = "or write emulate = \"kernel\" into other flows only, so that this one is simulated";
    match &f.ends.transport {
        Transport::Udp(UdpSpec { control: Some(_), .. }) => Err(Refusal::new(
            format!("flow {}: the kernel has no explicit congestion control for datagrams", f.name),
            format!("remove `cc` from udp, {simulate}"),
        )),
        Transport::Udp(_) => Ok(()),
        Transport::Tcp(t) => {
            let name = t.cc.entry.name;
            if t.ecn.accurate().is_some() && name != ASKS {
                return Err(Refusal::new(
                    format!(
                        "flow {}: kernels use accurate ECN for {ASKS} alone, and the file wants it for {name}",
                        f.name
                    ),
                    format!("write echo = \"latch\", which is classic ECN, {simulate}"),
                ));
            }
            if kernel_name(name).is_some() {
                return Ok(());
            }
            Err(Refusal::new(
                format!(
                    "flow {}: this kernel has no congestion control \"{name}\" (it has {})",
                    f.name,
                    available().trim()
                ),
                format!(
                    "load it (modprobe tcp_{name}, or contend deploy cc {name}), write one that it has, {simulate}"
                ),
            ))
        }
    }
}

/// The least sum of the wires' delays there and back, of all flows that are outside.
fn min_rtt(scenario: &Scenario, is_outside: &[bool]) -> Result<Span, Refusal> {
    let delay = |at: &QueueAt| match *at {
        QueueAt::Link { link, forward } => {
            scenario.links.get(link).map_or(Span::ZERO, |l| if forward { l.forward.delay } else { l.reverse.delay })
        }
        QueueAt::Ap(_) | QueueAt::Station(_) => Span::ZERO,
    };
    let paths = queues_passed(scenario)?;
    let own = paths.iter().zip(is_outside).filter(|(_, o)| **o).map(|(both, _)| both);
    let sum = |both: &[Vec<QueueAt>; 2]| both.iter().flatten().map(delay).fold(Span::ZERO, |a, b| a + b);
    Ok(own.map(sum).min().unwrap_or(Span::ZERO))
}
