//! Reading any text gives an experiment or an error and never a panic, and a valid experiment can be run.

use contend_lab::reading::file::{Overlay, parse};
use proptest::prelude::*;

/// A file that uses most of the words.
const SEED: &str = r#"title = "t"
duration = "70s"
warmup = "10s"
seeds = "1..3"
sample = "1s"
[wifi]
standard = "802.11g"
rate = "54Mbps"
basic = ["6Mbps", "12Mbps"]
slot = "20us"
rts_threshold = "500B"
access = { kind = "dcf", cwmin = 15 }
loss = { kind = "per", p = "1%" }
[ap]
queue = { kind = "fifo", limit = "100p" }
[param]
n = 3
[[station]]
name = "sta"
count = "= n"
rate = ["54Mbps", "6Mbps"]
[[station]]
name = "slow"
[[node]]
name = "h"
[[node]]
name = "r"
kind = "router"
[[link]]
from = "h"
to = "r"
rate = "10Mbps"
delay = "45ms"
loss = { kind = "script", drop = [{ flow = "x", segment = 3 }], outage = [["1s", "2s"]] }
[[link]]
name = "l"
from = "r"
to = "ap"
reverse = { delay = "3ms", rate = "infinite" }
[wire]
rate = "100Mbps"
delay = "2ms"
[[flow]]
count = "= 2*n"
from = "server"
to = "sta[1..2]"
tcp = { kind = "newreno", initial_window = "2p", rto = { min = "200ms" }, timestamps = true }
delay = "= 10ms + 2ms*(k-1)"
window = "42p"
start = "stagger(0s, 1s)"
size = "31p"
[[flow]]
name = "x"
from = "h"
to = "slow"
tcp = ["cubic", "sack"]
start = "uniform(0s, 2s)"
stop = "50s"
[[flow]]
count = 2
from = "station"
to = "server"
udp = { rate = "1Mbps", packet = "1000B" }
[[flow]]
from = "station"
to = "station"
tcp = "tahoe"
traffic = { kind = "cbr", schedule = [["1s", "5s", "2Mbps"]] }
[sweep]
"flow.0.count" = [1, 2]
"param.n" = [2, 3]
zip = [["flow.0.count", "param.n"]]
[readings]
queues = { fair = { "ap.queue" = "fq_codel" } }
[[claim]]
id = "a"
paper = "p"
metric = "goodput.up"
when = { "param.n" = 2 }
over = { "ap.queue" = "fifo" }
expect = { near = "1Mbps", within = "5%" }
reading = { a = { "flow.0.tcp.echo" = "latch" }, b = { "ap.queue" = "fifo" } }
verdict = { a = "reproduced", b = "undecided" }
reason = "few seeds"
[[claim]]
id = "b"
reading = "queues"
metric = "jain"
expect = { increasing = true, along = "param.n" }
[[figure]]
x = "param.n"
y = ["jain", "goodput.up"]
[search]
key = "flow.0.window"
from = "1p"
to = "9p"
until = "drops > 0"
"#;

/// Stations at positions, with two access points.
const FIELD: &str = r#"duration = "10s"
[wifi]
standard = "802.11g"
[field]
area = ["1000m", "1000m"]
range = "95m"
sense = "200m"
propagation = { kind = "log_distance", exponent = 3 }
capture = { ratio = "10dB", frame = "strongest" }
routing = "infrastructure"
[param]
apart = 160
[[ap]]
name = "left"
position = ["200m", "0m"]
queue = "fq_codel"
control = "fcwa"
[[ap]]
name = "right"
position = ["= 200m + apart * 1m", "0m"]
[[station]]
name = "anna"
count = 3
ap = ["left", "right", "left"]
grid = { columns = 2, spacing = "20m", at = ["270m", "20m"] }
[[station]]
name = "ben"
position = ["290m", "0m"]
[[node]]
name = "h"
[[link]]
from = "left"
to = "h"
[[link]]
from = "right"
to = "h"
[wire]
delay = "2ms"
[[flow]]
count = 3
from = "server"
to = "anna"
tcp = "cubic"
[[flow]]
from = "ben"
to = "h"
tcp = "bbr"
[sweep]
"ap.left.queue" = ["fifo", "codel"]
"ap.1.access" = ["dcf", "edca"]
"param.apart" = [160, 150]
"#;

/// Stations that forward packets for each other.
const MESH: &str = r#"title = "f"
duration = "20s"
warmup = "1s"
seeds = "1..2"
[param]
hops = 3
cs = "550m"
[wifi]
standard = "802.11b"
rate = "11Mbps"
basic = "1Mbps"
llc = "6B"
durations = "exact"
rts_threshold = "0B"
ack_timeout = "318us"
idle_access = "draw"
after_collision = "eifs_nav"
access = { kind = "dcf", draw = "exclusive" }
queue = { kind = "xcp", limit = "50p", capacity = "2Mbps" }
[field]
area = ["2000m", "2000m"]
range = "250m"
sense = "= cs"
propagation = { kind = "log_distance", exponent = 3 }
capture = { ratio = "10dB", frame = "strongest", interference = "sum" }
propagation_delay = true
nav_reset = false
nav_rounding = true
slot_rounding = true
cts = "idle"
routing = { kind = "aodv", ip_header = "20B" }
arp = true
routing_priority = true
link_delay = "25us"
[[station]]
name = "first"
position = ["100m", "500m"]
[[station]]
name = "chain"
count = "= hops"
position = ["= 100m + 200m * k", "500m"]
[[station]]
name = "grid"
count = 4
grid = { columns = 2, spacing = "200m", at = ["100m", "700m"] }
queue = { kind = "fifo", limit = "50p" }
[[flow]]
from = "first"
to = "chain[3]"
tcp = { kind = "xcp", cc = { kind = "xcp", header = "20B" }, handshake = false }
window = "8p"
start = "uniform(1s, 2s)"
[[flow]]
count = 2
from = "grid[1..2]"
to = ["grid[4]", "first"]
udp = { rate = "100kbps", packet = "500B" }
[sweep]
zip = [["param.hops", "param.cs"]]
"param.hops" = [3, 4]
"param.cs" = ["550m", "250m"]
"#;

/// The files from which the others are made.
/// A cell with aggregates, whose values depend on parameters.
const MODERN: &str = r#"duration = "10s"
[param]
std = "ac"
limit = 16
explicit = 1
[wifi]
standard = { case = "std", n = "802.11n", ac = "802.11ac", else = "802.11ax" }
band = "5GHz"
width = { case = "std", n = "40MHz", else = "80MHz" }
mcs = 7
streams = 1
guard = "800ns"
fec = "bcc"
access = { kind = "edca", vo = { txop = { case = "limit", 16 = "2080us", else = "0us" } } }
rts_threshold = "3000B"
protection = "none"
mac_queue = "300p"
[wifi.ampdu]
bytes = { case = "limit", 16 = "24704B", 64 = "65535B" }
mpdus = 32
window = "= max(32, limit)"
attempts = "never"
lifetime = "500ms"
missed = { case = "explicit", 0 = "data", 1 = "request" }
hw_queue = 2
[ap]
aql = { low = "2ms", high = "8ms" }
[[station]]
name = "fast"
count = 2
[[station]]
name = "old"
standard = "802.11a"
rate = "6Mbps"
[[flow]]
count = 2
from = { case = "explicit", 1 = "fast", else = "server" }
to = { case = "explicit", 1 = "server", else = "fast" }
ac = ["vo", "be"]
udp = { rate = "400Mbps" }
[[flow]]
from = "server"
to = "old"
tcp = "cubic"
[sweep]
zip = [["param.std", "param.limit"]]
"param.std" = ["n", "ac", "ax"]
"param.limit" = [16, 16, 64]
"#;

const SEEDS: [&str; 4] = [SEED, FIELD, MESH, MODERN];

/// Values that are wrong in most places.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "9223372036854775807",
    "true",
    "\"\"",
    "\"0s\"",
    "\"1e300s\"",
    "\"-5ms\"",
    "\"= k/0\"",
    "\"= n\"",
    "\"= \"",
    "\"=(((((\"",
    "[]",
    "[[]]",
    "{}",
    "[1, [2]]",
    "\"none\"",
    "\"server\"",
    "\"station\"",
    "\"ap\"",
    "\"sta[0..9]\"",
    "\"sta[\"",
    "\"sta]\"",
    "\"sta[2..1]\"",
    "\"ünï\"",
    "\"1..\"",
    "\"..\"",
    "\"18446744073709551615..18446744073709551615\"",
    "1979-05-27",
    "{ kind = \"fifo\" }",
    "{ kind = 3 }",
    "\"uniform(1s)\"",
    "\"stagger(1s, 1000000s)\"",
    "\"uniform(=, )\"",
    "[\"= k\", \"1p\"]",
    "\"100000000000000p\"",
    "\"1000000s\"",
    "{ a.b.c = 1 }",
    "\"\\u0000\"",
    "\"0m\"",
    "\"-1m\"",
    "\"1e9m\"",
    "\"-3dB\"",
    "[\"0m\", \"0m\"]",
    "[\"1m\", \"= 1m/0\"]",
    "[[\"1m\", \"2m\"], [\"1m\", \"2m\"]]",
    "\"dsdv\"",
    "\"infrastructure\"",
    "{ case = \"std\", n = 1, else = \"off\" }",
    "{ case = \"limit\" }",
    "{ case = 3, else = { case = \"case\" } }",
    "\"802.11be\"",
    "\"320MHz\"",
    "\"off\"",
];

#[test]
fn the_seeds_are_good_files() {
    for (seed, points) in SEEDS.iter().zip([2, 8, 2, 3]) {
        let e = parse("t.toml", seed, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        assert_eq!(e.points.len(), points);
    }
}

/// Reads a text and, if it is valid, each of its points; otherwise renders the error.
fn survive(text: &str, sets: &[(String, String)]) {
    match parse("t.toml", text, sets) {
        Ok(e) => e.points.iter().for_each(|p| assert!(e.scenario(p, &Overlay::default()).is_ok(), "{text}")),
        Err(e) => {
            assert!(!e.render(false).is_empty() && !e.render(true).is_empty());
        }
    }
}

/// Keys of the settings that are tried.
const KEYS: &[&str] = &[
    "count",
    "from",
    "to",
    "tcp",
    "udp",
    "start",
    "size",
    "rate",
    "queue",
    "loss",
    "access",
    "kind",
    "n",
    "delay",
    "name",
    "ap",
    "position",
    "sense",
    "routing",
    "arp",
    "cts",
    "grid",
    "limit",
    "rto.min",
    "cc.beta",
    "expect",
    "when",
    "over",
    "window",
    "slot",
    "standard",
    "band",
    "width",
    "mcs",
    "streams",
    "guard",
    "ampdu",
    "ampdu.bytes",
    "ampdu.window",
    "ampdu.case",
    "ampdu.hw_queue",
    "aql",
    "mac_queue",
    "std",
    "ac",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// A file whose lines are dropped, doubled, moved or given other values.
    #[test]
    fn mutated_files_never_panic(
        seed in prop::sample::select(&SEEDS[..]),
        edits in prop::collection::vec((0usize..4, 0usize..200, 0usize..200), 1..5),
    ) {
        let mut lines: Vec<String> = seed.lines().map(str::to_string).collect();
        for (edit, at, with) in edits {
            let i = at % lines.len().max(1);
            match (edit, lines.get(i).cloned()) {
                (0, Some(_)) => drop(lines.remove(i)),
                (1, Some(line)) => lines.insert(with % lines.len(), line),
                (_, Some(line)) => if let Some((key, _)) = line.split_once('=') {
                    lines[i] = format!("{key}= {}", VALUES[with % VALUES.len()]);
                },
                (_, None) => {}
            }
        }
        survive(&lines.join("\n"), &[]);
    }

    /// Any value at any key path, from the command line.
    #[test]
    fn settings_never_panic(
        seed in prop::sample::select(&SEEDS[..]),
        table in "(wifi|ap|flow|station|field|link|node|wire|param|sweep|claim|seeds|duration)",
        index in "(\\.([0-4]|left))?",
        key in prop::option::of(prop::sample::select(KEYS)),
        at in 0usize..200,
    ) {
        let key = key.map_or(String::new(), |k| format!(".{k}"));
        survive(seed, &[(format!("{table}{index}{key}"), VALUES[at % VALUES.len()].trim_matches('"').to_string())]);
        survive(seed, &[(format!("{table}{index}{key}"), VALUES[at % VALUES.len()].to_string())]);
    }

    /// A file whose characters are changed, inserted or removed.
    #[test]
    fn garbled_text_never_panics(edits in prop::collection::vec(
        (any::<prop::sample::Index>(), any::<char>(), 0u8..3), 1..8,
    )) {
        let mut text: Vec<char> = SEED.chars().collect();
        for (at, c, edit) in edits {
            let i = at.index(text.len());
            match edit {
                0 => text[i] = c,
                1 => text.insert(i, c),
                _ => drop(text.remove(i)),
            }
        }
        survive(&text.into_iter().collect::<String>(), &[]);
    }

    /// Random text.
    #[test]
    fn noise_never_panics(text in ".{0,300}", key in ".{0,20}", value in ".{0,20}") {
        survive(&text, &[]);
        survive(SEED, &[(key, value)]);
    }
}
