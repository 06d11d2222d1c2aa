//! Packets are conserved, by the numbers of the results alone. `docs/units.md` has the equations.

use contend_lab::experiment::results::{Outcome, Run};

/// Checks the equations in every run of `o`.
pub(crate) fn holds(name: &str, o: &Outcome) {
    for run in &o.runs {
        for q in &run.queues {
            let came = q.offered + q.made + q.waiting.start;
            let went = q.taken + q.drops.total + q.filtered + q.waiting.end;
            assert_eq!(came, went, "{name}: {q:?}");
        }
        for t in &run.transmitters {
            let came = t.taken + t.carrying.start.cast_signed();
            let went = (t.delivered + t.lost + t.carrying.end).cast_signed();
            assert_eq!(came, went, "{name}: {t:?}");
        }
        whole_network(name, run);
    }
}

fn whole_network(name: &str, run: &Run) {
    let (mut came, mut went) = (0, 0);
    for f in &run.flows {
        came += f.entered;
        went += f.arrived;
    }
    for q in &run.queues {
        came += q.made + q.waiting.start;
        went += q.drops.total + q.filtered + q.waiting.end;
    }
    for t in &run.transmitters {
        came += t.carrying.start;
        went += t.lost + t.carrying.end;
    }
    assert_eq!(came, went, "{name}: the whole network, seed {}", run.seed);
}
