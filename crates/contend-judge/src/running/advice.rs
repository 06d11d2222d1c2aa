//! What a user may want to know before the first run.

mod hidden;
mod mac_queue;
mod needs;
mod unfilled;

use contend_experiment::reading::file::{About, Experiment, Overlay};
use contend_sim::scenario::Scenario;

/// Not more points of a sweep are looked at.
const MOST_POINTS: usize = 20;

/// Sentences about the networks of `e`, each with a remedy: hidden stations, algorithms without what they need, and
/// packets that wait where the discipline of a queue cannot reach them, and buffers that no window fills.
pub fn before_the_runs(e: &Experiment) -> Vec<String> {
    let (mut hidden, mut unmet, mut below, mut unfilled) = (None, needs::Unmet::default(), None, None);
    for s in scenarios(e) {
        hidden = hidden.or_else(|| hidden::stations(e, &s));
        unmet.look_at(&s);
        below = below.or_else(|| mac_queue::reaches_below(&s));
        unfilled = unfilled.or_else(|| unfilled::buffer(&s));
    }
    hidden.into_iter().chain(unmet.sentences()).chain(below).chain(unfilled).collect()
}

/// The networks of the first points, one after another: a large one takes much memory.
fn scenarios(e: &Experiment) -> impl Iterator<Item = Scenario> {
    let points = if e.about() == About::Network { e.points.as_slice() } else { &[] };
    points.iter().take(MOST_POINTS).filter_map(|p| Some(e.scenario(p, &Overlay::default()).ok()?.scenario))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::reading::file::parse;

    fn notes(wifi: &str, ap: &str, tcp: &str) -> Vec<String> {
        let text = format!(
            "duration = \"1s\"\n[wifi]\n{wifi}\n[ap]\n{ap}\n[[flow]]\nfrom = \"server\"\nto = \"station\"\n\
                tcp = \"{tcp}\"\n"
        );
        before_the_runs(&parse("t.toml", &text, &[]).unwrap())
    }

    #[test]
    fn a_sender_that_reads_marks_is_told_that_nothing_marks() {
        let g = "standard = \"802.11g\"";
        let over_fifo = notes(g, "", "jersey");
        assert_eq!(over_fifo.len(), 1, "{over_fifo:?}");
        assert!(over_fifo[0].starts_with("`jersey` needs a queue that marks packets (ECN), and there is none; "));
        assert!(over_fifo[0].contains("\"vcrr\"") && over_fifo[0].contains("{ kind = \"red\", ecn = true }"));
        assert!(notes(g, "queue = \"vcrr\"", "jersey").is_empty() && notes(g, "", "cubic").is_empty());
        assert!(notes(g, "queue = { kind = \"fq_codel\", ecn = false }", "dctcp")[0].starts_with("`dctcp` needs"));
        assert!(notes(g, "", "xcp")[0].starts_with("`xcp` needs a queue that answers XCP headers"));
        assert!(notes(g, "queue = \"xcp\"", "xcp").is_empty());
    }

    #[test]
    fn a_rate_control_is_told_that_no_rate_loses_more_than_another() {
        let ac = |more: &str| format!("standard = \"802.11ac\"\nrate_control = \"minstrel_ht\"\n{more}");
        assert!(notes(&ac(""), "", "cubic")[0].starts_with("`minstrel_ht` needs an error model"));
        assert!(notes(&ac("snr = \"25dB\"\nerror_model = \"nist\""), "", "cubic").is_empty());
    }

    #[test]
    fn a_discipline_above_a_deep_queue_of_the_mac_is_told() {
        let ax = "standard = \"802.11ax\"";
        let told = notes(ax, "queue = \"fq_codel\"", "cubic");
        assert!(told[0].starts_with("up to 512 packets of `ap` wait below `fq_codel`, in the MAC"), "{told:?}");
        for ap in ["", "queue = \"airtime\"", "queue = \"fq_codel\"\naql = {}"] {
            assert!(notes(ax, ap, "cubic").is_empty(), "{ap}");
        }
    }

    #[test]
    fn a_block_is_told_that_no_window_fills_its_buffer() {
        let of = |ap: &str| notes("standard = \"802.11g\"", ap, "cubic");
        for queue in ["fq_codel", "airtime"] {
            let told = of(&format!("queue = \"{queue}\"\ncontrol = \"fcwa\""));
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with("`fcwa` may fill the ") && told[0].contains(&format!("`{queue}` of `ap`")));
            assert!(told[0].ends_with("{ kind = \"fcwa\", buffer = \"100p\" }"), "{told:?}");
            let given = format!("queue = \"{queue}\"\ncontrol = {{ kind = \"fcwa\", buffer = \"100p\" }}");
            assert!(of(&given).is_empty() && of(&format!("queue = \"{queue}\"\ncontrol = \"accf\"")).is_empty());
        }
        assert!(of("control = \"fcwa\"").is_empty(), "a FIFO");
    }
}
