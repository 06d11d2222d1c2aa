//! Each word and each flag of each algorithm: a network with it runs, or is refused with a message. The fuzzers draw
//! few of them, and none beside routing messages.

use super::run_fuzz::{outcome, read};
use contend_core::registry::{Param, Unit};
use contend_core::{ap, cc, observe, qdisc, rate_control};
use contend_sim::tcp::recovery;
use contend_sim::wifi::access;
use contend_sim::{mobility, routing, traffic};
use std::panic::catch_unwind;
use std::sync::atomic::AtomicBool;

/// A cell whose access point has a wire. `{…}` stands for the lines of a table.
const CELL: &str = r#"
duration = "700ms"
warmup = "100ms"
seeds = "1"
[wifi]
{wifi}
[ap]
{ap}
[[station]]
name = "s"
count = 3
[[flow]]
from = "server"
to = "s.1"
{tcp}
[[flow]]
from = "s.2"
to = "server"
{tcp}
[[flow]]
from = "server"
to = "s.3"
{udp}
"#;

/// Six stations that hear some of the others. Their routes, their neighbours' addresses and their flows are all there.
const FIELD: &str = r#"
duration = "6s"
warmup = "3s"
seeds = "1"
[wifi]
standard = "802.11b"
rate = "11Mbps"
{wifi}
[field]
range = "250m"
sense = "500m"
arp = true
area = ["900m", "900m"]
{field}
[[station]]
name = "n"
count = 6
{station}
[[flow]]
from = "n.1"
to = "n.6"
{tcp}
[[flow]]
from = "n.2"
to = "n.5"
tcp = "cubic"
[[flow]]
from = "n.3"
to = "n.4"
udp = { rate = "300kbps" }
"#;

/// The lines of each table where no algorithm stands in their place.
const USUAL: [(&str, &str); 6] = [
    ("{wifi}", ""),
    ("{ap}", ""),
    ("{tcp}", "tcp = \"cubic\""),
    ("{udp}", "udp = { rate = \"2Mbps\" }"),
    ("{field}", "routing = \"dsdv\""),
    ("{station}", GRID),
];
const GRID: &str = "grid = { columns = 3, spacing = \"200m\", at = [\"100m\", \"100m\"] }";

/// `network` with these lines for its tables.
fn with(network: &str, lines: &[(&str, String)]) -> String {
    let text = lines.iter().fold(network.to_owned(), |text, (table, lines)| text.replace(table, lines));
    USUAL.iter().fold(text, |text, (table, lines)| text.replace(table, lines))
}

/// Each algorithm alone, and with each value of each of its words and flags.
fn each(all: impl Iterator<Item = (&'static str, &'static [Param])>) -> Vec<String> {
    let mut tables = Vec::new();
    for (name, params) in all {
        // Without a default; the capacity of a link has one in a cell only.
        let needed =
            params.iter().filter(|p| p.default.is_none() || p.name == "capacity").filter_map(|p| match p.unit {
                Unit::Rate => Some(format!(", {} = \"1Mbps\"", p.name)),
                Unit::Amount => Some(format!(", {} = \"20kB\"", p.name)),
                _ => None,
            });
        let needed: String = needed.collect();
        tables.push(format!("{{ kind = \"{name}\"{needed} }}"));
        for p in params {
            let values: Vec<String> = match p.unit {
                Unit::Bool => vec!["true".into(), "false".into()],
                Unit::Word(words) => words.iter().map(|word| format!("\"{word}\"")).collect(),
                _ => vec![],
            };
            let set = |value: &String| format!("{{ kind = \"{name}\"{needed}, {} = {value} }}", p.name);
            tables.extend(values.iter().map(set));
        }
    }
    tables
}

/// All networks.
fn networks() -> Vec<String> {
    let mut all = Vec::new();
    macro_rules! each {
        ($family:path) => {{
            use $family as family;
            each(family::REGISTRY.iter().map(|entry| (entry.name, entry.params)))
        }};
    }
    let legacy = |line: String| format!("standard = \"802.11g\"\n{line}");
    let ax = |line: &str| format!("standard = \"802.11ax\"\n{line}");
    for queue in each!(qdisc) {
        all.push(with(CELL, &[("{wifi}", ax("")), ("{ap}", format!("queue = {queue}"))]));
        // Senders whose headers the queue reads.
        for sender in ["xcp", "xcp_winf", "rcp", "rcp_winf", "wcp", "cubic"] {
            let reads = queue.contains(&format!("\"{sender}\"")) || sender == "cubic";
            if reads {
                let field = "routing = \"dsdv\"\nobserve = [\"rt_winf\"]".to_owned();
                let lines = [("{wifi}", format!("queue = {queue}")), ("{field}", field)];
                let tcp = ("{tcp}", format!("tcp = {{ cc = \"{sender}\" }}"));
                all.push(with(FIELD, &[&lines[..], &[tcp]].concat()));
            }
        }
    }
    for cc in each!(cc) {
        let tcp = || ("{tcp}", format!("tcp = {{ cc = {cc} }}"));
        all.push(with(CELL, &[("{wifi}", ax("")), tcp()]));
        let field = "routing = \"aodv\"\nobserve = [\"rt_winf\"]".to_owned();
        all.push(with(FIELD, &[tcp(), ("{field}", field)]));
    }
    for recovery in each!(recovery) {
        all.push(with(CELL, &[("{wifi}", ax("")), ("{tcp}", format!("tcp = {{ recovery = {recovery} }}"))]));
    }
    for access in each!(access) {
        all.push(with(CELL, &[("{wifi}", legacy(format!("access = {access}")))]));
    }
    for rates in each!(rate_control) {
        let channel = format!("rate_control = {rates}\nerror_model = \"nist\"\nsnr = \"20dB\"");
        all.push(with(CELL, &[("{wifi}", ax(&channel))]));
    }
    for control in each!(ap) {
        all.push(with(CELL, &[("{wifi}", legacy(String::new())), ("{ap}", format!("control = [{control}]"))]));
    }
    for traffic in each!(traffic) {
        all.push(with(CELL, &[("{wifi}", ax("")), ("{tcp}", format!("tcp = \"cubic\"\ntraffic = {traffic}"))]));
        all.push(with(CELL, &[("{wifi}", ax("")), ("{udp}", format!("udp = {{}}\ntraffic = {traffic}"))]));
    }
    for observer in each!(observe) {
        all.push(with(FIELD, &[("{field}", format!("routing = \"dsdv\"\nobserve = [{observer}]"))]));
    }
    for routing in each!(routing) {
        all.push(with(FIELD, &[("{field}", format!("routing = {routing}"))]));
    }
    for mobility in each!(mobility) {
        all.push(with(FIELD, &[("{station}", format!("mobility = {mobility}"))]));
    }
    all
}

/// True if `text` was run, false if it was refused.
fn runs(text: &str) -> bool {
    let done = read(text).and_then(|e| outcome(&e, &AtomicBool::new(false)));
    done.is_some_and(|done| done.runs.iter().all(|run| run.events > 0))
}

#[test]
fn each_word_and_flag_of_each_algorithm_runs_or_is_refused() {
    let all = networks();
    let ran = all.iter().filter(|text| catch_unwind(|| runs(text)).unwrap_or_else(|_| panic!("{text}"))).count();
    // Refused are words that need another key beside them.
    assert!(ran * 20 > all.len() * 19, "only {ran} of {} networks were run", all.len());
}
