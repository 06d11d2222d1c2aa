//! Users who think between pages.

use super::lab::{Call, wire};
use contend_lab::experiment::results::Outcome;

/// Users who get pages of 12.5 kB over a wire of 1 Mb/s for 1000 s. One page takes more than 100 ms.
fn users(n: u32, think: &str, law: &str) -> Outcome {
    let flow = format!(
        "name = \"page\"\ncount = {n}\ntcp = \"newreno\"\ntraffic = {{ kind = \"web\", size = \"12500B\", think = \
         \"{think}\", law = \"{law}\" }}"
    );
    let text = wire("seeds = \"1..3\"", &flow, "").replace("100Mbps", "1Mbps");
    Call::new(&text).set("duration", "1000s").outcome()
}

#[test]
fn a_user_alone_has_cycles_of_a_transfer_and_a_think_time() {
    let fixed = users(1, "400ms", "fixed");
    for run in &fixed.runs {
        let page = &run.flows[0];
        let transfer = page.completions_s[9];
        assert!((0.1..0.2).contains(&transfer), "12.5 kB, headers and slow start: {transfer} s");
        // From the tenth on, all pages are alike. The last may be unfinished.
        let cycles = 1000.0 / (transfer + 0.4);
        let began = page.completions_s.len() as u64 + page.unfinished;
        assert!((began as f64 - cycles).abs() < 2.0, "{began} pages, {cycles} cycles");
    }
    for run in &users(1, "400ms", "exponential").runs {
        let page = &run.flows[0];
        let (n, transfer) = (page.completions_s.len() as f64, page.completions_s[9]);
        // The think time has a standard deviation of its mean, and so the cycle one of 400 ms. Three standard
        // deviations of the mean over n cycles.
        let cycle = 1000.0 / n;
        assert!((cycle - transfer - 0.4).abs() < 3.0 * 0.4 / n.sqrt(), "{cycle} s, transfer {transfer} s");
    }
}

#[test]
fn the_response_time_law_holds_for_many_users() {
    // N users with think time Z complete X pages a second: N = X (R + Z) with R the mean time of a page (Little's law).
    // A page needs the wire for more than 0.1 s: N users alone would have 20 * 0.18 pages a second, the wire carries
    // fewer than 10. Each user may have one page and one think time that are not complete.
    for (n, most) in [(2, 4.0), (20, 10.0), (60, 10.0)] {
        for run in &users(n, "400ms", "exponential").runs {
            let all: Vec<f64> = run.flows.iter().flat_map(|f| f.completions_s.iter().copied()).collect();
            let (rate, mean) = (all.len() as f64 / 1000.0, all.iter().sum::<f64>() / all.len() as f64);
            let users = rate * (mean + 0.4);
            let error = 3.0 * 0.4 * (all.len() as f64).sqrt() / 1000.0 + f64::from(n) * (mean + 0.4) / 1000.0;
            assert!((users - f64::from(n)).abs() < error, "{users} for {n} users, {error}");
            assert!(rate < most, "{rate} pages a second");
            assert!(run.flows.iter().all(|f| f.unfinished <= 1), "no page begins before the last has ended");
        }
    }
}

#[test]
fn no_time_to_think_is_a_page_after_the_other() {
    let o = users(1, "0s", "exponential");
    let page = &o.runs[0].flows[0];
    let cycles = 1000.0 / page.completions_s[9];
    assert!((page.completions_s.len() as f64 - cycles).abs() < 2.0 + 0.01 * cycles, "{cycles}");
}
