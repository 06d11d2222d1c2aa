//! What DCTCP and Prague keep of the marks, beside the marks of the whole run.

use super::lab::Call;

/// A transfer over a wire of 100 Mb/s and a round trip of 20 ms, whose queue marks for L4S.
const ONE: &str = r#"duration = "30s"
warmup = "10s"
seeds = "1"
sample = "100ms"
show = ["alpha.f", "arrived_ce.f", "goodput.f"]
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "neck"
from = "a"
to = "b"
rate = "100Mbps"
delay = "10ms"
queue = "dualpi2"
[[flow]]
name = "f"
from = "a"
to = "b"
tcp = "prague"
"#;

#[test]
fn alpha_is_the_share_of_marks() {
    let senders = [
        ("\"prague\"", false),
        (r#"{ kind = "prague", accecn = { option = false } }"#, false),
        (r#"{ kind = "dctcp", ect = "ect1", recovery = { kind = "rack", prr_cwr = false } }"#, false),
        // A reduction over a round trip makes rounds shorter, by up to half of alpha.
        (r#"{ kind = "dctcp", ect = "ect1" }"#, true),
    ];
    for (tcp, shortens) in senders {
        // Without the option an acknowledgment of eight unmarked segments is read as eight marks (`wrap = "safe"`).
        for ack in ["1", "2", "7"] {
            let o = Call::new(ONE).set("flow.0.tcp", tcp).set("flow.0.ack", ack).outcome();
            let m = &o.runs[0].metrics;
            let share = m["arrived_ce.f"] / (m["goodput.f"] * 20.0 / 8.0 / 1460.0);
            assert!(share > 0.02, "{tcp}, {ack}: {share} of the packets have marks");
            let alpha = m["alpha.f"];
            // Alpha is a mean over rounds, the share one over packets; rounds differ little in a window of 170 packets.
            let off = (alpha / share - 1.0).abs();
            let most = if shortens { 0.02 + alpha / 2.0 } else { 0.03 };
            assert!(off < most, "{tcp}, {ack}: {alpha}, but {share} of the packets have marks");
        }
    }
}
