//! Transfers that are not complete when the run ends.

use super::lab::Call;
use contend_lab::experiment::results::Outcome;

/// One file of 125 kB each 100 ms over a wire of 1 Mb/s: a file takes at least 1 s, so that files wait for each other.
const SLOW: &str = r#"duration = "10s"
seeds = "1"
show = ["fct.p95[page]"]
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "w"
from = "a"
to = "b"
rate = "1Mbps"
delay = "5ms"
[[flow]]
name = "page"
from = "a"
to = "b"
tcp = "newreno"
traffic = { kind = "files", size = "125kB", gap = "100ms", count = 50 }
"#;

fn warning(o: &Outcome) -> Option<&String> {
    o.warnings.iter().find(|w| w.contains("transfers were complete"))
}

#[test]
fn what_began_is_complete_or_unfinished_and_a_shown_completion_time_says_so() {
    let o = Call::new(SLOW).outcome();
    let flow = &o.runs[0].flows[0];
    // All 50 files have begun within 5 s. With headers and slow start at most nine of them pass in 10 s.
    assert_eq!(flow.completions_s.len() as u64 + flow.unfinished, 50);
    assert!((1..10).contains(&flow.completions_s.len()), "{}", flow.completions_s.len());
    let said = warning(&o).unwrap();
    let expected = format!("{} of 50 transfers were complete when the runs ended", flow.completions_s.len());
    assert!(said.starts_with(&expected) && said.contains("`fct.p95[page]`"), "{said}");
    let json = serde_json::to_value(flow).unwrap();
    assert_eq!(json["unfinished"], flow.unfinished);
}

#[test]
fn without_unfinished_transfers_nothing_is_said_and_nothing_is_written() {
    let o = Call::new(SLOW).set("flow.0.traffic.count", "2").outcome();
    let flow = &o.runs[0].flows[0];
    assert_eq!((flow.completions_s.len(), flow.unfinished, warning(&o)), (2, 0, None));
    assert_eq!(serde_json::to_value(flow).unwrap().get("unfinished"), None);
    // Nothing reads a completion time.
    let o = Call::new(SLOW).set("show", "[\"goodput\"]").outcome();
    assert!(o.runs[0].flows[0].unfinished > 0 && warning(&o).is_none());
}
