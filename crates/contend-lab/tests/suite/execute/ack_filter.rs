//! The ACK filter as a stage in front of any discipline.

use super::lab::execute;

/// Six uploads, whose acknowledgments wait at the access point, with this queue there.
fn uploads(queue: &str, seeds: u32) -> contend_lab::experiment::results::Outcome {
    execute(&format!(
        "duration = \"8s\"\nwarmup = \"2s\"\nseeds = {:?}\n[wifi]\nstandard = \"802.11g\"\n[ap]\n\
            queue = {queue}\n[[flow]]\n\
            name = \"up\"\n\
            count = 6\nfrom = \"station\"\nto = \"server\"\ntcp = \"newreno\"\n",
        (1..=seeds).collect::<Vec<_>>()
    ))
}

#[test]
fn it_stands_in_front_of_any_discipline_and_keeps_its_parameters() {
    for (kind, more) in [("fq_codel", ""), ("fifo", ", limit = \"40p\""), ("airtime", ""), ("red", ""), ("pie", "")] {
        let [plain, filtered] = ["", ", ack_filter = true"].map(|filter| {
            // The gain with PIE is a half per cent, and runs differ by one.
            let o = uploads(&format!("{{ kind = \"{kind}\"{more}{filter} }}"), 20);
            let ap = o.runs[0].queues.iter().find(|q| q.name == "ap").unwrap();
            (ap.filtered, o.runs.iter().map(|r| r.metrics["goodput.up"]).sum::<f64>() / 20.0)
        });
        assert_eq!(plain.0, 0, "{kind}");
        assert!(filtered.0 > 100, "{kind}: {}", filtered.0);
        // Fewer acknowledgments leave more of the air to data.
        assert!(filtered.1 > plain.1, "{kind}: {} and {} b/s", filtered.1, plain.1);
    }
}

#[test]
fn in_front_of_a_fifo_it_is_the_discipline_ack_filter() {
    let [stage, own] =
        ["{ kind = \"fifo\", limit = \"50p\", ack_filter = true }", "{ kind = \"ack_filter\", limit = \"50p\" }"]
            .map(|queue| uploads(queue, 1).runs[0].digest.clone());
    assert_eq!(stage, own);
}
