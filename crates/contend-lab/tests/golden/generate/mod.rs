//! Small networks, made by number: the text of an experiment file for each.
//!
//! The text of a network depends on its number, on this file and on `values.rs` only: the random numbers come from
//! SplitMix64 (Steele, Lea, Flood 2014), and the lists are literal. A change of a list changes all networks and so all
//! golden values: what is new in contend gets networks of its own, with higher numbers.

pub(crate) mod values;

use std::fmt::Write as _;
use values::{
    ACCESS, ACK_CONTROLS, AMPDU, CAKES, CAPTURES, CLIENTS, CONTROLS, EDCA, ESTIMATES, LOSSES, MODES, NARROW, OPENINGS,
    PROPAGATIONS, PROTECTED, QUEUES, RATE_CONTROLS, RECOVERIES, ROUTINGS, SCALABLE, SHALLOW, STANDARDS, TCP_KEYS,
    TCP_TRAFFIC, TRAFFIC, VARIANTS,
};

/// SplitMix64.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub(crate) fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }
    /// True in so many percent of all draws.
    fn percent(&mut self, p: u64) -> bool {
        self.next() % 100 < p
    }
    /// Writes `key = value` with one of `values` in so many percent of all draws.
    fn maybe(&mut self, p: u64, out: &mut String, key: &str, values: &[&'static str]) {
        if self.percent(p) {
            writeln!(out, "{key} = {}", self.pick(values)).unwrap();
        }
    }
}

/// Number of networks, all of which are frozen.
pub(crate) const NETWORKS: u64 = 3232;
/// Networks from this number on are fields.
pub(crate) const FIRST_FIELD: u64 = 2000;
/// Networks from this number on are cells of 802.11n and later.
pub(crate) const FIRST_MODERN: u64 = 2400;

/// Networks from this number on have stations of several standards, and channels with an SNR.
pub(crate) const FIRST_MIXED: u64 = 2800;
/// Networks from this number on have CAKE in their queues, and protect their TXOPs.
pub(crate) const FIRST_SHAPED: u64 = 2900;
/// Networks from this number on are of every kind, with the TCP of Linux where their flows say nothing.
pub(crate) const FIRST_LINUX: u64 = 3000;
/// Networks from this number on have queues that mark for L4S, and accurate ECN.
pub(crate) const FIRST_L4S: u64 = 3100;
/// Networks from this number on have queues that protect others from flows with long queues.
pub(crate) const FIRST_PROTECTED: u64 = 3200;

/// The text of network `number`.
pub(crate) fn network(number: u64) -> String {
    let d = &mut Draws(number.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(11));
    let stack = if number >= FIRST_LINUX { "linux" } else { "rfc" };
    let mut t = format!("stack = \"{stack}\"\nduration = \"{}ms\"\nseeds = \"{number}\"\n", 200 + 100 * d.below(5));
    d.maybe(40, &mut t, "warmup", &["\"50ms\"", "\"123457us\""]);
    if number >= FIRST_L4S {
        l4s(d, &mut t, if number >= FIRST_PROTECTED { PROTECTED } else { SHALLOW });
        return t;
    }
    let number = if number >= FIRST_LINUX { d.below(FIRST_LINUX as usize) as u64 } else { number };
    if number >= FIRST_SHAPED {
        shaped(d, &mut t);
    } else if number >= FIRST_MIXED {
        mixed(d, &mut t);
    } else if number >= FIRST_MODERN {
        modern(d, &mut t);
    } else if number >= FIRST_FIELD {
        field(d, &mut t);
    } else if d.percent(80) {
        cell(d, &mut t);
    } else {
        wires(d, &mut t);
    }
    t
}

/// A cell with stations of a table, stations of flows, and perhaps a network behind the access point.
fn cell(d: &mut Draws, t: &mut String) {
    let (standard, rates, basic) = STANDARDS[d.below(STANDARDS.len())];
    let rate = |d: &mut Draws| format!("\"{}Mbps\"", rates[d.below(rates.len())]);
    writeln!(t, "[wifi]\nstandard = \"{standard}\"\nrate = {}", rate(d)).unwrap();
    if d.percent(40) {
        writeln!(t, "basic = \"{}Mbps\"", basic[d.below(basic.len())]).unwrap();
    }
    d.maybe(30, t, "preamble", &["\"short\"", "\"long\""]);
    d.maybe(20, t, "slot", &["\"20us\"", "\"9us\""]);
    d.maybe(20, t, "cwmin", &["0", "3", "7", "15"]);
    d.maybe(10, t, "cwmax", &["31", "63"]);
    d.maybe(40, t, "retry_short", &["1", "2", "3"]);
    d.maybe(40, t, "retry_long", &["1", "2"]);
    d.maybe(20, t, "busy_slot", &["\"counted\""]);
    d.maybe(20, t, "idle_access", &["\"draw\""]);
    d.maybe(20, t, "after_collision", &["\"difs\""]);
    d.maybe(10, t, "ack_timeout", &["\"75us\"", "\"300us\""]);
    d.maybe(10, t, "eifs", &["\"90us\""]);
    d.maybe(10, t, "difs", &["\"50us\""]);
    d.maybe(10, t, "llc", &["\"0B\""]);
    d.maybe(10, t, "signal_extension", &["\"0s\""]);
    let protection = (standard == "802.11g" && d.percent(30)).then(|| d.pick(&["cts-to-self", "rts-cts"]));
    if let Some(word) = protection {
        writeln!(t, "protection = \"{word}\"").unwrap();
        d.maybe(50, t, "protection_rate", &["\"11Mbps\"", "\"1Mbps\""]);
    }
    if protection != Some("rts-cts") {
        d.maybe(30, t, "rts_threshold", &["\"0B\"", "\"500B\"", "\"1400B\"", "\"never\""]);
    }
    let categories = d.percent(25);
    let rules: &[&'static str] = if categories { EDCA } else { ACCESS };
    writeln!(t, "access = {}", d.pick(rules)).unwrap();
    d.maybe(40, t, "loss", LOSSES);
    d.maybe(30, t, "queue", QUEUES);
    writeln!(t, "[ap]\nqueue = {}", d.pick(QUEUES)).unwrap();
    if d.percent(35) {
        let (first, second) = (d.pick(CONTROLS), d.pick(CONTROLS));
        let value = if d.percent(30) { format!("[{first}, {second}]") } else { first.into() };
        writeln!(t, "control = {value}").unwrap();
    }
    let mut places = vec!["station".to_owned()];
    if d.percent(60) {
        writeln!(t, "[[station]]\nname = \"s\"\ncount = {}\nrate = [{}, {}]", 1 + d.below(4), rate(d), rate(d))
            .unwrap();
        places.push("s".into());
        let client = d.percent(60).then(|| d.pick(CLIENTS));
        if let Some(client) = client {
            writeln!(t, "client = {client}").unwrap();
        }
        if client.is_some_and(|c| c.contains("pause")) {
            // The bridge pauses the card when so many packets wait: its queue has a limit in packets.
            t.push_str("queue = { kind = \"fifo\", limit = \"8p\" }\n");
        } else {
            d.maybe(30, t, "queue", QUEUES);
        }
        d.maybe(40, t, "loss", LOSSES);
        if !categories {
            d.maybe(30, t, "access", ACCESS);
        }
    }
    writeln!(t, "[wire]\ndelay = \"{}us\"", [100, 1000, 1000, 5000, 20_000][d.below(5)]).unwrap();
    d.maybe(50, t, "rate", &["\"infinite\"", "\"10Mbps\"", "\"1Gbps\""]);
    d.maybe(30, t, "queue", QUEUES);
    d.maybe(15, t, "loss", LOSSES);
    let mut servers = vec!["server".to_owned()];
    if d.percent(20) {
        // A server behind a router, reached by a bottleneck.
        t.push_str("[[node]]\nname = \"far\"\n[[node]]\nname = \"r\"\nkind = \"router\"\n");
        link(d, t, "far", "r");
        link(d, t, "r", "ap");
        servers.push("far".into());
    }
    for i in 0..1 + d.below(3) {
        let (station, server) = (places[d.below(places.len())].clone(), servers[d.below(servers.len())].clone());
        let (from, to) = match d.below(8) {
            0..4 => (server, station),
            4..7 => (station, server),
            _ => ("station".into(), "station".into()),
        };
        flow(d, t, i, &from, &to, categories, from == "server" || to == "server");
    }
}

/// Stations at positions, of which each is in range of an earlier one; perhaps with an access point, which all are in
/// range of.
fn field(d: &mut Draws, t: &mut String) {
    let (standard, rates, basic) = STANDARDS[d.below(STANDARDS.len())];
    let rate = rates[d.below(rates.len())];
    writeln!(t, "[wifi]\nstandard = \"{standard}\"\nrate = \"{rate}Mbps\"").unwrap();
    if d.percent(70) {
        writeln!(t, "basic = \"{}Mbps\"", basic[d.below(basic.len())]).unwrap();
    }
    d.maybe(40, t, "retry_short", &["1", "2", "3"]);
    d.maybe(40, t, "retry_long", &["1", "2"]);
    d.maybe(20, t, "busy_slot", &["\"counted\""]);
    d.maybe(40, t, "idle_access", &["\"draw\""]);
    d.maybe(60, t, "after_collision", &["\"difs\"", "\"eifs_all\"", "\"eifs_nav\""]);
    d.maybe(10, t, "ack_timeout", &["\"318us\""]);
    d.maybe(20, t, "llc", &["\"6B\""]);
    d.maybe(20, t, "durations", &["\"exact\""]);
    d.maybe(50, t, "rts_threshold", &["\"0B\"", "\"500B\""]);
    // Two rules need a cell in which all hear all.
    let rules: Vec<&str> = ACCESS.iter().copied().filter(|r| !r.contains("tcf") && !r.contains("hash1")).collect();
    if d.percent(50) {
        writeln!(t, "access = {}", d.pick(&rules)).unwrap();
    }
    d.maybe(30, t, "loss", LOSSES);
    d.maybe(60, t, "queue", QUEUES);
    writeln!(t, "[field]\nrange = \"250m\"").unwrap();
    d.maybe(60, t, "sense", &["\"250m\"", "\"400m\"", "\"1000m\""]);
    d.maybe(60, t, "propagation", PROPAGATIONS);
    d.maybe(60, t, "capture", CAPTURES);
    d.maybe(40, t, "propagation_delay", &["false"]);
    d.maybe(40, t, "nav_reset", &["false"]);
    d.maybe(40, t, "nav_rounding", &["true"]);
    d.maybe(40, t, "cts", &["\"idle\""]);
    d.maybe(40, t, "link_delay", &["\"25us\""]);
    let has_ap = d.percent(25);
    d.maybe(if has_ap { 30 } else { 70 }, t, "routing", ROUTINGS);
    d.maybe(40, t, "arp", &["true"]);
    d.maybe(40, t, "routing_priority", &["true"]);
    let n = 2 + d.below(9);
    let mut places: Vec<(i64, i64)> = vec![];
    for i in 0..n {
        let (x, y) = if has_ap || i == 0 { (1000, 1000) } else { places[d.below(i)] };
        let mut step = || (40 + d.below(120) as i64) * if d.percent(50) { 1 } else { -1 };
        places.push((x + step(), y + step()));
    }
    if has_ap {
        writeln!(t, "[ap]\nposition = [\"1000m\", \"1000m\"]\nqueue = {}", d.pick(QUEUES)).unwrap();
        d.maybe(30, t, "control", CONTROLS);
    }
    let list: Vec<String> = places.iter().map(|(x, y)| format!("[\"{x}m\", \"{y}m\"]")).collect();
    writeln!(t, "[[station]]\nname = \"s\"\ncount = {n}\nposition = [{}]", list.join(", ")).unwrap();
    for i in 0..1 + d.below(4) {
        let from = d.below(n);
        let (from, to) = (format!("s[{}]", 1 + from), format!("s[{}]", 1 + (from + 1 + d.below(n - 1)) % n));
        match if has_ap { d.below(3) } else { 2 } {
            0 => flow(d, t, i, "server", &to, false, true),
            1 => flow(d, t, i, &from, "server", false, true),
            _ => flow(d, t, i, &from, &to, false, false),
        }
    }
    if t.contains("ip_header") {
        *t = t.replace("2296B", "2276B");
    }
}

/// A cell of 802.11n or later, most with aggregates; sometimes with stations of other modes and of 802.11a or g.
fn modern(d: &mut Draws, t: &mut String) {
    let [standard, band, width, streams, mcs, guard] = MODES[d.below(MODES.len())];
    writeln!(t, "[wifi]\nstandard = \"{standard}\"\nband = \"{band}\"\nwidth = \"{width}\"").unwrap();
    writeln!(t, "streams = {streams}\nmcs = {mcs}\nguard = \"{guard}\"").unwrap();
    d.maybe(20, t, "durations", &["\"ns3\"", "\"exact\""]);
    d.maybe(30, t, "retry_short", &["1", "2", "8"]);
    d.maybe(30, t, "rts_threshold", &["\"0B\"", "\"3000B\""]);
    d.maybe(30, t, "after_collision", &["\"difs\""]);
    d.maybe(20, t, "busy_slot", &["\"counted\""]);
    d.maybe(20, t, "amsdu", &["\"3839B\""]);
    if d.percent(80) {
        writeln!(t, "ampdu = {}", d.pick(AMPDU)).unwrap();
        d.maybe(40, t, "mac_queue", &["\"1p\"", "\"5p\"", "\"40p\"", "\"300p\""]);
    } else {
        t.push_str("ampdu = \"off\"\n");
    }
    let categories = d.percent(50);
    writeln!(t, "access = {}", d.pick(if categories { EDCA } else { ACCESS })).unwrap();
    d.maybe(50, t, "loss", LOSSES);
    d.maybe(30, t, "queue", QUEUES);
    writeln!(t, "[ap]\nqueue = {}", d.pick(QUEUES)).unwrap();
    d.maybe(25, t, "control", CONTROLS);
    let mut places = vec!["station".to_owned()];
    if d.percent(50) {
        writeln!(t, "[[station]]\nname = \"s\"\ncount = {}\nmcs = [{}, 0, 2]", 1 + d.below(4), mcs).unwrap();
        d.maybe(40, t, "loss", LOSSES);
        d.maybe(30, t, "queue", QUEUES);
        places.push("s".into());
    }
    if band != "6GHz" && d.percent(30) {
        let older = if band == "5GHz" { "802.11a" } else { "802.11g" };
        writeln!(t, "[[station]]\nname = \"old\"\nstandard = \"{older}\"\nrate = \"12Mbps\"").unwrap();
        places.push("old".into());
    }
    writeln!(t, "[wire]\ndelay = \"{}us\"\nrate = \"1Gbps\"", [100, 1000, 5000][d.below(3)]).unwrap();
    for i in 0..1 + d.below(4) {
        let station = places[d.below(places.len())].clone();
        let (from, to) = match d.below(8) {
            0..4 => ("server".to_owned(), station),
            4..7 => (station, "server".to_owned()),
            _ => (station, "station".to_owned()),
        };
        flow(d, t, i, &from, &to, categories, from == "server" || to == "server");
    }
}

/// A cell of 802.11ac or ax with stations of older standards, each with its own limits of aggregates; most have an SNR
/// and a rate control.
fn mixed(d: &mut Draws, t: &mut String) {
    let (standard, mcs) = [("802.11ac", 9), ("802.11ax", 11)][d.below(2)];
    writeln!(t, "[wifi]\nstandard = \"{standard}\"\nband = \"5GHz\"\nwidth = \"40MHz\"\nmcs = {}", d.below(mcs))
        .unwrap();
    d.maybe(50, t, "protection", &["\"cts-to-self\"", "\"rts-cts\""]);
    d.maybe(20, t, "amsdu", &["\"3839B\"", "\"11398B\""]);
    writeln!(t, "ampdu = {}", d.pick(AMPDU)).unwrap();
    let has_snr = d.percent(70);
    if has_snr {
        writeln!(t, "error_model = \"nist\"\nsnr = \"{}dB\"", 12 + d.below(25)).unwrap();
        d.maybe(40, t, "fading", &["\"rayleigh\"", "\"gilbert_elliott\""]);
    }
    // The first reads an SNR.
    d.maybe(60, t, "rate_control", &RATE_CONTROLS[usize::from(!has_snr)..]);
    let categories = d.percent(30);
    writeln!(t, "access = {}", d.pick(if categories { EDCA } else { &ACCESS[..2] })).unwrap();
    writeln!(t, "[ap]\nqueue = {}", d.pick(QUEUES)).unwrap();
    d.maybe(30, t, "aql", &["{}"]);
    d.maybe(20, t, "ampdu", &["{ hw_queue = 2 }", "{ window = 8, mpdus = 4 }"]);
    let mut places = vec!["station".to_owned()];
    for (name, own) in [("n", "802.11n"), ("old", "802.11a"), ("ac", "802.11ac")] {
        if d.percent(30) {
            continue;
        }
        writeln!(t, "[[station]]\nname = \"{name}\"\nstandard = \"{own}\"").unwrap();
        if name != "old" {
            d.maybe(
                40,
                t,
                "ampdu",
                &["{}", "\"off\"", "{ window = 16 }", "{ bytes = \"8191B\", window = 8, mpdus = 8 }"],
            );
            d.maybe(30, t, "amsdu", &["\"off\"", "\"3839B\""]);
        }
        if has_snr {
            d.maybe(50, t, "snr", &["\"9dB\"", "\"20dB\"", "\"35dB\""]);
        }
        d.maybe(30, t, "queue", QUEUES);
        places.push(name.into());
    }
    writeln!(t, "[wire]\ndelay = \"1ms\"\nrate = \"1Gbps\"").unwrap();
    for i in 0..1 + d.below(4) {
        let station = places[d.below(places.len())].clone();
        let (from, to) = if d.percent(60) { ("server", station.as_str()) } else { (station.as_str(), "server") };
        flow(d, t, i, from, to, categories, true);
    }
}

/// A cell, perhaps with aggregates, whose stations have TXOPs and whose queues shape: CAKE at the access point, and
/// perhaps at stations and on the wire.
fn shaped(d: &mut Draws, t: &mut String) {
    let aggregates = d.percent(60);
    let keys = if aggregates {
        "standard = \"802.11ax\"\nband = \"5GHz\"\nwidth = \"40MHz\"\nmcs = 4\nampdu = "
    } else {
        "standard = \"802.11g\"\nrate = \"36Mbps\"\nbasic = \"6Mbps\""
    };
    let ampdu = if d.percent(40) { NARROW } else { AMPDU };
    writeln!(t, "[wifi]\n{keys}{}", if aggregates { d.pick(ampdu) } else { "" }).unwrap();
    d.maybe(40, t, "preamble_detection", &["\"4us\"", "\"1us\""]);
    d.maybe(80, t, "txop_protection", &["\"single\"", "\"multiple\""]);
    d.maybe(50, t, "rts_threshold", &["\"0B\"", "\"1000B\"", "\"never\""]);
    d.maybe(40, t, "loss", LOSSES);
    let categories = d.percent(70);
    let rules = if categories { EDCA } else { &ACCESS[2..3] };
    writeln!(t, "access = {}", d.pick(rules)).unwrap();
    d.maybe(40, t, "queue", CAKES);
    writeln!(t, "[ap]\nqueue = {}", d.pick(CAKES)).unwrap();
    if aggregates {
        d.maybe(40, t, "aql", &["{}"]);
        d.maybe(40, t, "ampdu", &["{ hw_queue = 2 }", "{ hw_queue = 0 }"]);
    }
    writeln!(t, "[wire]\ndelay = \"{}ms\"\nrate = \"100Mbps\"", 1 + d.below(10)).unwrap();
    d.maybe(40, t, "queue", CAKES);
    for i in 0..2 + d.below(3) {
        let (from, to) = if d.percent(60) { ("server", "station") } else { ("station", "server") };
        if d.percent(30) {
            flow(d, t, i, from, to, categories, true);
            continue;
        }
        let name = ["a", "b", "c", "d"][i];
        writeln!(t, "[[flow]]\nname = \"{name}\"\ncount = {}\nfrom = \"{from}\"\nto = \"{to}\"", 1 + d.below(3))
            .unwrap();
        if categories {
            d.maybe(80, t, "ac", &["\"vo\"", "\"vi\"", "\"bk\"", "[\"be\", \"vo\"]"]);
        }
        let (variant, opening) = (d.pick(VARIANTS), d.pick(OPENINGS));
        writeln!(t, "tcp = {{ kind = \"{variant}\", {opening}, rto = {{ min = \"50ms\", initial = \"100ms\" }} }}")
            .unwrap();
    }
}

/// A cell, mostly with aggregates, whose queues mark for L4S and whose senders count marks.
fn l4s(d: &mut Draws, t: &mut String, queues: &[&'static str]) {
    let aggregates = d.percent(75);
    let keys = if aggregates {
        "standard = \"802.11ax\"\nband = \"5GHz\"\nwidth = \"40MHz\"\nmcs = 3\nampdu = "
    } else {
        "standard = \"802.11g\"\nrate = \"36Mbps\"\nbasic = \"6Mbps\""
    };
    writeln!(t, "[wifi]\n{keys}{}", if aggregates { d.pick(AMPDU) } else { "" }).unwrap();
    d.maybe(40, t, "loss", LOSSES);
    writeln!(t, "access = {}\n[ap]\nqueue = {}", d.pick(&ACCESS[..2]), d.pick(queues)).unwrap();
    d.maybe(40, t, "control", ACK_CONTROLS);
    if aggregates {
        d.maybe(40, t, "aql", &["{}"]);
        d.maybe(40, t, "ampdu", &["{ hw_queue = 2 }", "{ hw_queue = 0 }"]);
    }
    writeln!(t, "[[station]]\nname = \"s\"\ncount = {}", 1 + d.below(3)).unwrap();
    d.maybe(60, t, "queue", queues);
    writeln!(t, "[wire]\ndelay = \"{}ms\"\nrate = \"{}Mbps\"", 1 + d.below(10), [10, 50, 1000][d.below(3)]).unwrap();
    d.maybe(60, t, "queue", queues);
    d.maybe(20, t, "loss", LOSSES);
    for name in ["a", "b", "c"].into_iter().take(1 + d.below(3)) {
        let (from, to) = if d.percent(60) { ("server", "s") } else { ("s", "server") };
        writeln!(t, "[[flow]]\nname = \"{name}\"\ncount = {}\nfrom = \"{from}\"\nto = \"{to}\"", 1 + d.below(2))
            .unwrap();
        writeln!(t, "tcp = {}", d.pick(SCALABLE)).unwrap();
        d.maybe(50, t, "start", &["\"uniform(0s, 100ms)\"", "\"30ms\""]);
        d.maybe(40, t, "ack", &["1", "2", "8", "16"]);
        d.maybe(20, t, "size", &["\"20p\"", "\"300kB\""]);
    }
}

/// Two to four hosts on two routers.
fn wires(d: &mut Draws, t: &mut String) {
    for (name, kind) in [("h0", "host"), ("h1", "host"), ("r0", "router"), ("r1", "router")] {
        writeln!(t, "[[node]]\nname = \"{name}\"\nkind = \"{kind}\"").unwrap();
    }
    for (from, to) in [("h0", "r0"), ("r0", "r1"), ("r1", "h1")] {
        link(d, t, from, to);
    }
    for i in 0..1 + d.below(4) {
        let (from, to) = if d.percent(70) { ("h0", "h1") } else { ("h1", "h0") };
        flow(d, t, i, from, to, false, false);
    }
}

fn link(d: &mut Draws, t: &mut String, from: &str, to: &str) {
    writeln!(t, "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"").unwrap();
    d.maybe(80, t, "rate", &["\"2Mbps\"", "\"5Mbps\"", "\"10Mbps\"", "\"infinite\""]);
    d.maybe(70, t, "delay", &["\"1us\"", "\"1ms\"", "\"10ms\""]);
    d.maybe(60, t, "queue", QUEUES);
    d.maybe(30, t, "loss", LOSSES);
    d.maybe(20, t, "reverse", &[r#"{ rate = "1Mbps", queue = "fifo" }"#, r#"{ delay = "3ms", loss = "none" }"#]);
}

fn flow(d: &mut Draws, t: &mut String, i: usize, from: &str, to: &str, categories: bool, own_wire: bool) {
    let name = ["a", "b", "c", "d"][i];
    writeln!(t, "[[flow]]\nname = \"{name}\"\ncount = {}\nfrom = \"{from}\"\nto = \"{to}\"", 1 + d.below(4)).unwrap();
    d.maybe(25, t, "packet", &["\"200B\"", "\"576B\"", "\"1000B\"", "\"2296B\""]);
    // Without `start` flows begin in the same nanosecond, and constant rates stay in step.
    d.maybe(50, t, "start", &["\"uniform(0s, 100ms)\"", "\"stagger(0s, 7ms)\"", "\"30ms\""]);
    d.maybe(10, t, "stop", &["\"250ms\""]);
    if own_wire {
        d.maybe(20, t, "delay", &["\"= 1ms*k\"", "\"3ms\""]);
    }
    if categories {
        d.maybe(80, t, "ac", &["\"vo\"", "\"vi\"", "\"be\"", "\"bk\"", "[\"vo\", \"bk\"]", "[\"be\", \"bk\", \"vi\"]"]);
    }
    if d.percent(30) {
        writeln!(t, "udp = {{}}\ntraffic = {}", d.pick(TRAFFIC)).unwrap();
        return;
    }
    let estimate = d.percent(10).then(|| d.pick(ESTIMATES));
    if let Some(list) = estimate {
        writeln!(t, "estimate = {list}").unwrap();
    }
    let mut keys = vec![format!("kind = \"{}\"", d.pick(VARIANTS))];
    if d.percent(30) {
        keys.push(format!("recovery = {}", d.pick(RECOVERIES)));
    }
    for key in 0..2 {
        // Two halves of the list, so that no key is given twice.
        let half = TCP_KEYS.len() / 2;
        if d.percent(25) {
            let chosen = d.pick(&TCP_KEYS[key * half..(key + 1) * half]);
            keys.push(chosen.into());
        }
    }
    if d.percent(60) {
        keys.push("rto = { min = \"50ms\", initial = \"200ms\" }".into());
    }
    if estimate == Some(ESTIMATES[3]) {
        keys.push("timestamps = \"1us\"".into());
    }
    if d.percent(20) {
        let echo = d.pick(&["off", "latch", "per_packet"]);
        keys.push(format!("echo = \"{echo}\""));
    }
    writeln!(t, "tcp = {{ {} }}", keys.join(", ")).unwrap();
    d.maybe(25, t, "ack", &["2", "4"]);
    d.maybe(20, t, "ack_delay", &["\"5ms\"", "\"40ms\""]);
    d.maybe(20, t, "window", &["\"1p\"", "\"4p\"", "\"20p\"", "\"30kB\""]);
    d.maybe(10, t, "encrypted", &["true", "\"60B\""]);
    d.maybe(20, t, "size", &["\"1p\"", "\"20p\"", "\"100kB\""]);
    if d.percent(30) {
        let kinds = if d.percent(30) { TCP_TRAFFIC } else { TRAFFIC };
        writeln!(t, "traffic = {}", d.pick(kinds)).unwrap();
    }
}
