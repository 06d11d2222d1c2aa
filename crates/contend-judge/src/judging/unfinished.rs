//! Transfers that were not complete when the run ended: `fct` does not count them, so its values may be too low.

use crate::measuring::metric::Expr;
use contend_experiment::reading::file::Experiment;
use contend_experiment::results::Run;

/// The share of unfinished transfers from which on they are worth a warning: the last transfer of a long series may be
/// under way at any end.
const WORTH: f64 = 0.01;

/// A warning if `show`, a claim or a check of `e` reads `fct` of flows of which some transfers in `runs` were not
/// complete.
pub(crate) fn warning(e: &Experiment, runs: &[Run]) -> Option<String> {
    let shown = e.show.iter().map(|s| &s.metric);
    let judged = e.claims.iter().map(|c| &c.requirement.metric).chain(e.checks.iter().map(|c| &c.requirement.metric));
    let read: Vec<Expr> = shown.chain(judged).filter_map(|text| Expr::parse_any(text).ok()).collect();
    let (of, completed, open) = read.iter().flat_map(|e| e.transfers(runs)).max_by(|(_, c, o), (_, d, p)| {
        let share = |completed: &f64, open: &f64| open / (completed + open).max(1.0);
        share(c, o).total_cmp(&share(d, p))
    })?;
    let all = completed + open;
    (open > WORTH * all).then(|| {
        format!(
            "{completed} of {all} transfers were complete when the runs ended, and `{of}` is of these alone: with the \
                others it may be longer. A longer duration, or a stop of the flows before the end, lets them finish"
        )
    })
}
