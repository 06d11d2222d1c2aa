//! `contend model l4s`: TCP Prague under marks, and beside classic flows behind a coupled queue.

use super::numbers::{Numbers, number, seconds, shares, split};
use super::{Answer, Given, value};
use contend_core::Refusal;
use miette::Result;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(super) struct L4s {
    /// R, round-trip times without queues: one or a list
    #[arg(long, default_value = "5ms,10ms,20ms,80ms", value_parser = times)]
    rtt: Numbers,
    /// p, shares of packets marked: one or a list
    #[arg(long, default_value = "2%,10%,50%", value_parser = shares)]
    marks: Numbers,
    /// T, reference round-trip time of Prague; 0s: none
    #[arg(long, default_value = "25ms", value_parser = seconds)]
    target: f64,
    /// q_C, delay of the classic queue
    #[arg(long, default_value = "15ms", value_parser = seconds)]
    classic_delay: f64,
    /// q_L, delay of the L4S queue
    #[arg(long, default_value = "500us", value_parser = seconds)]
    l4s_delay: f64,
    /// k, coupling factor of the queue
    #[arg(long, default_value = "2", value_parser = number)]
    coupling: f64,
    /// Size of a packet in bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    packet: u32,
}

/// Durations, as in `10ms,20ms`.
fn times(s: &str) -> Result<Numbers, Refusal> {
    split(s, seconds).map(Numbers)
}

pub(super) fn l4s(a: &L4s) -> Result<Answer> {
    let mut out = format!(
        "T {} ms, q_C {} ms, q_L {} ms, k {}, packets of {} B\n",
        a.target * 1e3,
        a.classic_delay * 1e3,
        a.l4s_delay * 1e3,
        a.coupling,
        a.packet
    );
    out += &format!(
        "{:>8} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "RTT ms", "marks", "W even", "Mb/s", "W indep.", "Mb/s", "to first", "to Reno", "to CUBIC", "sawtooth"
    );
    let bits = f64::from(a.packet) * 8.0;
    let target: Given = ("target", "--target", a.target);
    let mut rows = Vec::new();
    for &rtt in &a.rtt.0 {
        let first = a.rtt.0.first().copied().unwrap_or(rtt);
        let pair = value("l4s.pair", &[("rtt_1", "--rtt", rtt), ("rtt_2", "--rtt", first), target])?;
        let queue = [
            ("rtt", "--rtt", rtt),
            target,
            ("classic_delay", "--classic-delay", a.classic_delay),
            ("l4s_delay", "--l4s-delay", a.l4s_delay),
            ("k", "--coupling", a.coupling),
        ];
        let beside = |cubic| value("l4s.coupling", &[&queue[..], &[("cubic", "", cubic)]].concat());
        let (reno, cubic) = (beside(0.0)?, beside(1.0)?);
        for &p in &a.marks.0 {
            let case = [("p", "--marks", p), ("rtt", "--rtt", rtt), target];
            let of = |model, independent| value(model, &[&case[..], &[("independent", "", independent)]].concat());
            let windows = (of("l4s.window", 0.0)?, of("l4s.window", 1.0)?);
            let rates = (of("l4s.rate", 0.0)? * bits, of("l4s.rate", 1.0)? * bits);
            let step = value("l4s.step_window", &case[..1])?;
            let sawtooth = value("l4s.sawtooth", &[("window", "--marks", step)])?;
            out += &format!(
                "{:>8} {p:>7} {:>9.2} {:>9.3} {:>9.2} {:>9.3} {pair:>9.3} {reno:>9.3} {cubic:>9.3} {sawtooth:>9.2}\n",
                rtt * 1e3,
                windows.0,
                rates.0 / 1e6,
                windows.1,
                rates.1 / 1e6
            );
            rows.push(json!({
                "rtt_s": rtt, "marks": p, "window_even_packets": windows.0, "rate_even_bps": rates.0,
                "window_independent_packets": windows.1, "rate_independent_bps": rates.1, "to_first": pair,
                "to_reno": reno, "to_cubic": cubic, "step_window_packets": step, "sawtooth_packets": sawtooth,
            }));
        }
    }
    out += "even: marks at equal distances; indep.: each packet is marked independently (a dice). Mb/s: IP packets.\n";
    out += "to first: rate over that of a Prague flow with the first RTT in one queue. to Reno, to CUBIC: rate\n";
    out += "over that of such a flow with this RTT behind a coupled queue, for rare even marks; 1.37 times that for\n";
    out += "independent ones. sawtooth: packets that a step must let wait to keep the link full, if it marks this\n";
    out += "share.\n";
    Ok(Answer::new("l4s", out, rows))
}
