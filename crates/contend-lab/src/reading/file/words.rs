//! All words of an experiment file except names of algorithms, metrics and models: keys, and values that are words.
//! `contend explain` shows them. A test checks that every word that the reader knows is listed here.

pub use super::tcp::{NamedVariant, variants};

/// A key of a table, or a word that is a value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The place of the word: `[wifi]`, `a claim's expect`, `the value of wifi.preamble`.
    pub place: &'static str,
    /// The word.
    pub name: &'static str,
    /// The meaning, in a sentence.
    pub doc: &'static str,
}

const fn word(place: &'static str, name: &'static str, doc: &'static str) -> Word {
    Word { place, name, doc }
}

const FILE: &str = "the file, before its tables";
const TABLE: &str = "the file, as a table";
const WIFI: &str = "[wifi]";
const STATION: &str = "[[station]]";
const FLOW: &str = "[[flow]]";
const TCP: &str = "the tcp table of a [[flow]]";
const RTO: &str = "tcp.rto of a [[flow]]";
const WIRE: &str = "[wire], [[link]] and their reverse";
const CONTENTION: &str = "[contention]";
const CLAIM: &str = "[[claim]]";
const CHECK: &str = "[[check]]";
const REQUIREMENT: &str = "[[claim]] and [[check]]";
const EXPECT: &str = "expect of a [[claim]] or [[check]]";
const FIGURE: &str = "[[figure]]";
const SEARCH: &str = "[search]";

/// All words, by place.
pub const WORDS: &[Word] = &[
    word(FILE, "title", "One line that names the experiment; default: the name of the file."),
    word(FILE, "cite", "The paper and figure that the experiment repeats."),
    word(FILE, "notes", "Remarks of the author; the report shows them."),
    word(FILE, "duration", "Simulated time of a run, warm-up included, like \"70s\"."),
    word(FILE, "warmup", "Time at the beginning of a run that is not measured; default \"0s\"."),
    word(FILE, "seeds", "One run of each point for each seed: \"1..5\", \"7\" or a list; default \"1\"."),
    word(FILE, "sample", "Step of the time series, like \"100ms\"; default: no time series."),
    word(
        FILE,
        "show",
        "Metrics that the tables show, like [\"delay.p99[call]\", \"goodput[up]\"]; a list of flows gives their mean. \
            Default: goodput, fairness, round-trip time and loss.",
    ),
    word(TABLE, "wifi", "An IEEE 802.11 cell with its timing and its rules: [wifi]."),
    word(TABLE, "ap", "The access point: [ap]; also its name in [[link]] and in metrics."),
    word(
        TABLE,
        "station",
        "Stations with names: [[station]]. As the end of a flow: a station that only this flow uses.",
    ),
    word(TABLE, "flow", "Data from one place to another: [[flow]]. As `x` of a figure: one bar for each flow."),
    word(TABLE, "wire", "The link between the access point and the server of each flow: [wire]."),
    word(TABLE, "link", "A cable between two nodes, or between a node and the access point: [[link]]."),
    word(TABLE, "node", "A wired host or router: [[node]]."),
    word(TABLE, "param", "Named numbers for expressions like \"= 2 * n\" and for sweeps: [param]."),
    word(TABLE, "contention", "Saturated stations without a network: [contention]."),
    word(TABLE, "model", "Closed forms instead of a simulation: [model]; see `contend list models`."),
    word(TABLE, "sweep", "Key paths with the values to try: [sweep]; each combination is a point."),
    word(TABLE, "claim", "A statement to check, with the recorded verdict: [[claim]]."),
    word(TABLE, "check", "A target of yours, answered with met or not met: [[check]]."),
    word(TABLE, "figure", "A chart in the report: [[figure]]."),
    word(TABLE, "search", "Finds the value of a key at which a condition begins to hold: [search]."),
    word(TABLE, "field", "Reserved for a later version (stations with positions): [field]."),
    word("[sweep]", "zip", "Keys that change together: [[\"wifi.slot\", \"flow.0.count\"]]."),
    word(WIFI, "standard", "The standard that gives timing and rates: one of 802.11, 802.11b, 802.11g, 802.11a, ..."),
    word(WIFI, "preamble", "Preamble of DSSS and CCK frames: \"long\" or \"short\"."),
    word(WIFI, "slot", "Slot time; default: the standard's."),
    word(WIFI, "sifs", "Short inter-frame space; default: the standard's."),
    word(WIFI, "difs", "DCF inter-frame space; default: SIFS plus two slots."),
    word(WIFI, "eifs", "Extended inter-frame space after a frame that was not decoded; default: computed."),
    word(WIFI, "ack_timeout", "Time that a sender waits for an ACK; default: computed."),
    word(WIFI, "signal_extension", "Idle time after each OFDM frame of 802.11g; default: the standard's 6 us."),
    word(WIFI, "llc", "Bytes of LLC/SNAP before each IP packet; default \"8B\"."),
    word(WIFI, "cwmin", "Smallest contention window in slots; also of [contention]."),
    word(WIFI, "cwmax", "Largest contention window in slots; also of [contention]."),
    word(WIFI, "basic", "Basic rates, used for ACK and CTS: a rate or a list."),
    word(WIFI, "protection", "Frames that keep 802.11b stations silent while a station of 802.11g sends."),
    word(WIFI, "protection_rate", "Rate of the protection frames; default \"11Mbps\"."),
    word(WIFI, "retry_short", "Attempts of a frame without RTS before it is dropped; default 7."),
    word(WIFI, "retry_long", "Attempts of a frame after RTS before it is dropped; default 4."),
    word(WIFI, "rts_threshold", "Smallest packet size that is sent with RTS, or \"never\" (the default)."),
    word(WIFI, "busy_slot", "Does a busy slot count as a backoff slot? \"frozen\": no (default), \"counted\": yes."),
    word(WIFI, "idle_access", "How a packet is sent that arrives while the medium is idle: \"immediate\" or \"draw\"."),
    word(WIFI, "after_collision", "Inter-frame space after a collision: \"eifs\" (default), \"eifs_all\" or \"difs\"."),
    word("[wifi], [[station]] and wires", "rate", "Data rate of the station or wire, like \"54Mbps\"."),
    word("[ap], [wifi], [[station]] and wires", "queue", "Queue discipline; see `contend list qdiscs`."),
    word("[wifi], [[station]] and wires", "loss", "Loss process, or \"none\"; see `contend list loss`."),
    word("[ap], [wifi] and [[station]]", "access", "Rule of medium access; see `contend list access`."),
    word("[ap]", "control", "Control block, a list of control blocks, or \"none\"; see `contend list controls`."),
    word("tables and algorithms", "kind", "The algorithm, TCP variant or kind of [[node]] that a table describes."),
    word(
        "tables with members",
        "name",
        "The name in results and in other tables; in [model], the name of the closed form.",
    ),
    word("[[station]] and [[flow]]", "count", "Number of members; their names are NAME.1, NAME.2, ..."),
    word(STATION, "client", "The client between the host and the MAC of the station; see `contend list clients`."),
    word(STATION, "grid", "Reserved for a later version (stations with positions)."),
    word(STATION, "position", "Reserved for a later version (stations with positions)."),
    word(STATION, "mobility", "Reserved for a later version (stations that move)."),
    word("[[station]] and [[flow]]", "off", "Reserved for a later version."),
    word(WIRE, "delay", "Propagation time in one direction; in a [[flow]], the delay of the flow's own wire."),
    word(WIRE, "reverse", "Keys of the other direction of the wire that differ from this direction."),
    word(
        "[[flow]], [[link]] and [search]",
        "from",
        "The place where a flow or link begins, or the first value of a search.",
    ),
    word(
        "[[flow]], [[link]] and [search]",
        "to",
        "The place where a flow or link ends, or the last value of a search.",
    ),
    word(FLOW, "tcp", "TCP variant, or a table of TCP settings; see `contend list variants`."),
    word(FLOW, "udp", "Datagrams instead of TCP: { rate = \"1Mbps\", packet = \"1000B\" }."),
    word("[[flow]], udp and [contention]", "packet", "Size of a full IP packet; default \"1500B\"."),
    word(FLOW, "window", "Receiver's window; default \"1000p\"."),
    word(FLOW, "ack", "Segments per acknowledgment; default 1."),
    word(FLOW, "ack_delay", "Longest time by which an acknowledgment is delayed; default \"100ms\"."),
    word(
        FLOW,
        "encrypted",
        "True if the TCP header is encrypted on the path; a size is added to each packet. Default false.",
    ),
    word(FLOW, "estimate", "Bandwidth estimators that observe the flow; see `contend list estimators`."),
    word(FLOW, "traffic", "Traffic source: when the application sends how much; see `contend list traffic`."),
    word(FLOW, "ac", "Access category of IEEE 802.11e: \"bk\", \"be\", \"vi\" or \"vo\"."),
    word(
        FLOW,
        "overhead",
        "Time that the sending host needs for each packet: \"100us\" or \"uniform(0s, 1ms)\"; default \"0s\". A random \
            time removes phase effects.",
    ),
    word(FLOW, "start", "When the flow begins: \"5s\", \"uniform(0s, 2s)\" or \"stagger(0s, 1s)\"; default \"0s\"."),
    word(FLOW, "stop", "Time after which the flow sends no more data."),
    word(FLOW, "size", "Amount of data that the flow transfers, like \"31p\" or \"1MB\"; default: unlimited."),
    word(
        "start and overhead of a [[flow]]",
        "uniform",
        "A random time between two limits: uniform(0s, 2s); drawn for each member (start) or packet (overhead).",
    ),
    word(
        "start of a [[flow]]",
        "stagger",
        "Start of the first member, and time from one member to the next: stagger(0s, 1s).",
    ),
    word("from and to of a [[flow]]", "server", "A wired host behind the access point that only this flow uses."),
    word(TCP, "cc", "Congestion controller; see `contend list controllers`."),
    word(TCP, "recovery", "Loss recovery; see `contend list recoveries`."),
    word(TCP, "handshake", "True if the connection begins with SYN and SYN-ACK; default true."),
    word(TCP, "initial_window", "Congestion window at the start (RFC 6928); default \"10p\"."),
    word(TCP, "initial_ssthresh", "Slow-start threshold at the start; default: none."),
    word(TCP, "sack", "True if the receiver sends SACK blocks (RFC 2018)."),
    word(TCP, "timestamps", "True if segments carry timestamps (RFC 7323); or the tick of the timestamp clock."),
    word(
        TCP,
        "window_scaling",
        "True if the window scale option is used, for windows above 65535 B (RFC 7323); default true.",
    ),
    word(TCP, "echo", "How congestion marks are echoed: \"off\", \"latch\" (RFC 3168) or \"per_packet\"."),
    word(
        TCP,
        "limited_transmit",
        "True if the first two duplicate ACKs release new segments (RFC 3042); default true.",
    ),
    word(TCP, "pacing", "True if segments are spread over the round-trip time; default false."),
    word(TCP, "rto", "Retransmission timeout (RFC 6298): { min = \"200ms\", ... }."),
    word(RTO, "min", "Smallest timeout; default \"1s\". In expressions, the smallest value."),
    word(RTO, "max", "Largest timeout; default \"60s\". In expressions, the largest value."),
    word(RTO, "initial", "Timeout before the first sample; default \"1s\"."),
    word(RTO, "granularity", "Tick of the clock that measures round-trip times; default \"1ms\"."),
    word(RTO, "backoff_after", "The timeout doubles from this expiry on; default 1."),
    word(CONTENTION, "stations", "Number of stations that contend."),
    word(CONTENTION, "rule", "The access rule of the stations; see `contend list access`."),
    word(CONTENTION, "successes", "Successes that a run counts; default 1000000."),
    word(CONTENTION, "collision", "Slots that a collision takes; default 68."),
    word(CONTENTION, "noise", "Share of frames lost to errors, without a collision; default 0."),
    word(CONTENTION, "categories", "Access categories in which each station has a frame, for the rule edca."),
    word(CLAIM, "id", "The name of the claim, like \"H1\"; each claim has its own."),
    word(CLAIM, "paper", "The statement of the paper, in its own words."),
    word(REQUIREMENT, "metric", "The expression that is measured; see `contend list metrics`."),
    word(REQUIREMENT, "over", "Settings of another point; the metric is divided by its value there."),
    word(REQUIREMENT, "less", "Settings of another point; the value of the metric there is subtracted."),
    word(
        "[[claim]], [[check]] and [[figure]]",
        "when",
        "The points that count: swept keys with a value or a list of values.",
    ),
    word(
        REQUIREMENT,
        "each",
        "Where the expectation must hold: at \"every\" point (default), at \"any\" point, or for the \"mean\".",
    ),
    word(REQUIREMENT, "expect", "The expected range or order."),
    word(CHECK, "what", "The target in words, like \"calls below 30 ms\"."),
    word(CLAIM, "verdict", "The recorded verdict: \"reproduced\" (default), \"not reproduced\", ..."),
    word(CLAIM, "reason", "Why the verdict is not \"reproduced\"."),
    word(CLAIM, "reading", "Ways to read the paper: a name with settings for each."),
    word(EXPECT, "between", "The lower and the upper end: [1.2, 2.2]."),
    word(EXPECT, "at_least", "The smallest expected value."),
    word(EXPECT, "at_most", "The largest expected value."),
    word(EXPECT, "near", "The expected value; `within` gives the tolerance."),
    word(EXPECT, "within", "Largest distance from `near`: \"10%\", or an amount."),
    word(EXPECT, "increasing", "True if the metric grows along the swept key `along`."),
    word(EXPECT, "decreasing", "True if the metric falls along the swept key `along`."),
    word(EXPECT, "order", "Values of the swept key `along`; the value with the largest metric comes first."),
    word(EXPECT, "along", "The swept key along which the metric changes."),
    word(FIGURE, "x", "The horizontal axis: a swept key, \"flow\", \"time\", or a name with `values`."),
    word(FIGURE, "y", "An expression or a list of expressions."),
    word(FIGURE, "by", "A swept key; the figure has one line for each value."),
    word(FIGURE, "values", "Values along the axis `x`, if `x` is not a swept key."),
    word("x of a [[figure]]", "time", "The figure is drawn over time; needs `sample`."),
    word(SEARCH, "key", "The key that is varied, like \"flow.0.window\"."),
    word(SEARCH, "until", "The condition that must begin to hold, like \"jain >= 0.95\"."),
    word("wifi.standard", "802.11", "IEEE 802.11-1997, DSSS: 1 and 2 Mbps."),
    word("wifi.standard", "802.11b", "IEEE 802.11b-1999, CCK: 1 to 11 Mbps."),
    word("wifi.standard", "802.11g", "IEEE 802.11g-2003, OFDM at 2.4 GHz: 6 to 54 Mbps."),
    word("wifi.standard", "802.11a", "IEEE 802.11a-1999, OFDM at 5 GHz: 6 to 54 Mbps."),
    word("wifi.preamble", "long", "The preamble and header of 192 us; the default."),
    word("wifi.preamble", "short", "The preamble and header of 96 us."),
    word("wifi.protection, loss and control", "none", "No protection, loss process or control block."),
    word("wifi.protection", "cts-to-self", "The sender sends a CTS to itself before each OFDM frame."),
    word("wifi.protection", "rts-cts", "RTS and CTS are sent before each OFDM frame."),
    word("wifi.rts_threshold", "never", "No RTS; the default."),
    word("wifi.busy_slot", "frozen", "A busy slot does not count as a backoff slot, as in IEEE 802.11; the default."),
    word("wifi.busy_slot", "counted", "A busy slot counts as one backoff slot, as in Bianchi's model."),
    word(
        "wifi.idle_access",
        "immediate",
        "The station sends after DIFS without backoff, as in IEEE 802.11; the default.",
    ),
    word("wifi.idle_access", "draw", "The station draws a backoff first."),
    word("wifi.after_collision", "eifs", "Stations that did not send wait EIFS, as in IEEE 802.11; the default."),
    word(
        "wifi.after_collision",
        "eifs_all",
        "As eifs; of the stations whose frames collided, those with the shorter frames also wait EIFS, as in ns-2.",
    ),
    word("wifi.after_collision", "difs", "All stations wait the usual inter-frame space."),
    word("the rate of a wire", "infinite", "Packets take no time to send: the wire only delays them."),
    word("the kind of a [[node]]", "host", "Flows may begin or end at the node; the default."),
    word("the kind of a [[node]]", "router", "The node forwards packets; no flow ends there."),
    word("the kind of a [[node]]", "proxy", "Reserved for a later version."),
    word("tcp.echo", "latch", "Every ACK after a mark echoes it until the sender answers (RFC 3168)."),
    word("tcp.echo", "per_packet", "Each ACK echoes the marks of its own segments (RFC 8257)."),
    word("tcp.echo", "off", "The connection does not use ECN; the default."),
    word("the ac of a [[flow]]", "bk", "Background, the category with the lowest priority."),
    word("the ac of a [[flow]]", "be", "Best effort; the default."),
    word("the ac of a [[flow]]", "vi", "Video."),
    word("the ac of a [[flow]]", "vo", "Voice, the category with the highest priority."),
    word("each of a [[claim]]", "every", "The claim must hold at each point; the default."),
    word("each of a [[claim]]", "mean", "The claim must hold for the mean over the points."),
    word("each of a [[claim]]", "any", "The claim must hold at one point at least."),
    word("verdict of a [[claim]]", "reproduced", "The measured value is in the expected range."),
    word(
        "verdict of a [[claim]]",
        "not reproduced",
        "The measured value is outside the expected range; the file gives the reason.",
    ),
    word("verdict of a [[claim]]", "contradiction", "The paper's own statements contradict each other."),
    word("verdict of a [[claim]]", "undecided", "The interval crosses the bound: more seeds are needed."),
    word("lost packets of the loss process script", "drop", "Packets that are lost, by flow and segment."),
    word("lost packets of the loss process script", "segment", "Number of the segment, from 0."),
    word("lost packets of the loss process script", "copy", "The transmission to lose: 0 (default) is the first."),
    word("expressions", "k", "The number of a member of a [[flow]] or [[station]], from 1."),
    word("expressions", "n", "The number of members of a [[flow]] or [[station]]."),
    word("expressions", "floor", "The largest whole number that is at most x: floor(x)."),
];

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::reader::asked;
    use super::*;
    use contend_core::registry::{Entry, Param, Unit};
    use contend_core::{ap, cc, estimate, qdisc};
    use contend_sim::wifi::{access, client};
    use contend_sim::{loss, tcp, traffic};

    /// Files that have every table, so that reading asks for every key.
    const FILES: [&str; 3] = [
        r#"duration = "9s"
[wifi]
standard = "802.11g"
protection = "cts-to-self"
[ap]
queue = { kind = "fifo", limit = "100p" }
control = [{ kind = "fcwa" }]
[wire]
reverse = { delay = "3ms" }
[[station]]
name = "a"
client = "usb"
[[node]]
name = "h"
kind = "host"
[[link]]
from = "h"
to = "ap"
loss = { kind = "script", drop = [{ flow = "up", segment = 3 }] }
[[flow]]
from = "a"
to = "server"
tcp = { kind = "newreno", rto = { min = "1s" }, timestamps = "1us" }
estimate = ["are"]
[[flow]]
from = "h"
to = "station"
udp = { rate = "1Mbps" }
[sweep]
"flow.0.window" = ["1p", "2p"]
[[claim]]
id = "a"
metric = "jain"
expect = { increasing = true, along = "flow.0.window" }
[[check]]
what = "fair"
metric = "jain"
expect = { at_least = "90%" }
[[figure]]
x = "flow.0.window"
y = "jain"
[search]
key = "flow.0.packet"
from = "500B"
to = "600B"
until = "jain > 0.5"
"#,
        "[contention]\nstations = 2\nrule = \"edca\"\ncategories = [\"vo\", \"be\"]\n",
        "[model]\nname = \"padhye.rate\"\np = 0.01\nrtt = \"100ms\"\nt0 = \"1s\"\n",
    ];

    /// Words that the reader compares with texts directly.
    const OTHERS: [&str; 21] = [
        "kind", "zip", "none", "never", "infinite", "uniform", "stagger", "server", "station", "ap", "time", "flow",
        "k", "n", "min", "max", "floor", "field", "grid", "router", "proxy",
    ];

    fn parameters<B>(family: &'static [Entry<B>]) -> Vec<&'static str> {
        let members = |p: &'static Param| match p.unit {
            Unit::Group(of) => of,
            _ => &[],
        };
        let all = family.iter().flat_map(|e| e.params).flat_map(|p| std::iter::once(p).chain(members(p)));
        let words = |p: &'static Param| match p.unit {
            Unit::Word(words) => words,
            _ => &[],
        };
        all.flat_map(|p| std::iter::once(p.name).chain(words(p).iter().copied())).collect()
    }

    #[test]
    fn every_word_that_reading_asks_for_is_here() {
        for text in FILES {
            parse("t.toml", text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        }
        let mut known: Vec<&str> = WORDS.iter().map(|w| w.name).collect();
        OTHERS.iter().for_each(|w| assert!(known.contains(w), "{w}"));
        for families in [
            parameters(cc::REGISTRY),
            parameters(estimate::REGISTRY),
            parameters(qdisc::REGISTRY),
            parameters(ap::REGISTRY),
            parameters(tcp::recovery::REGISTRY),
            parameters(access::REGISTRY),
            parameters(client::REGISTRY),
            parameters(traffic::REGISTRY),
            parameters(loss::REGISTRY),
        ] {
            known.extend(families);
        }
        known.extend(crate::reading::model::models().flat_map(|m| m.parameters).map(|p| p.name));
        let asked = asked::all();
        assert!(asked.len() > 130, "{}", asked.len());
        let unknown: Vec<&String> = asked.iter().filter(|w| !known.contains(&w.as_str())).collect();
        assert!(unknown.is_empty(), "add them to WORDS: {unknown:?}");
    }

    #[test]
    fn every_variant_can_be_read() {
        let all = variants();
        for name in ["westwood+", "newreno", "jersey-orig", "bbr"] {
            assert!(all.iter().any(|v| v.name == name), "{name}");
        }
        for v in all {
            let text = format!(
                "duration = \"9s\"\n[wifi]\nstandard = \"802.11g\"\n[[flow]]\nfrom = \"station\"\n\
                    to = \"server\"\ntcp = \"{}\"\n",
                v.name
            );
            assert!(parse("t.toml", &text, &[]).is_ok(), "{}", v.name);
        }
    }
}
