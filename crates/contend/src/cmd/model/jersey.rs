//! `contend model jersey`, `padhye`, `aiad` and `gaiad`: the closed forms of Jersey 2005 as calculators.

use super::numbers::{Numbers, number, seconds, share, shares};
use super::{Printed, answer, invalid, list};
use crate::Done;
use crate::cmd::wrong;
use contend_theory::aiad::{Aiad, Losses, Motion};
use contend_theory::differentiator::{self, Accuracy};
use contend_theory::fluid::{self, Path};
use contend_theory::gaiad::{self, Delays, Form, Gaiad};
use contend_theory::hayes::Hayes;
use contend_theory::marking::Marking;
use contend_theory::padhye;
use miette::Result;
use serde_json::json;

fn sources(s: &str) -> Result<super::Counts, String> {
    list(s, 1, "sources")
}

#[derive(Debug, clap::Args)]
pub(super) struct Jersey {
    /// p_w, shares of packets that the wireless link loses: one or a list
    #[arg(long, default_value = "0.1%,1%,5%,10%", value_parser = shares)]
    wireless: Numbers,
    /// p_c, share of packets that congestion loses
    #[arg(long, default_value = "0.01%", value_parser = share)]
    congestion: f64,
    /// A_w, share of the wireless losses that are told from congestion: one or a list
    #[arg(long, default_value = "0,0.5,0.9,1", value_parser = shares)]
    accuracy: Numbers,
    /// A_c, share of the congestion losses that are recognised
    #[arg(long, default_value = "1", value_parser = share)]
    accuracy_congestion: f64,
    /// τ, round-trip time
    #[arg(long, default_value = "50ms", value_parser = seconds)]
    rtt: f64,
    /// d, round-trip time without queues
    #[arg(long, default_value = "2ms", value_parser = seconds)]
    delay: f64,
    #[command(flatten)]
    printed: Printed,
}

pub(super) fn jersey(a: &Jersey) -> Result<Done> {
    let path = Path { rtt_s: a.rtt, delay_s: a.delay };
    let eta = path.eta().map_err(invalid)?;
    let mut out =
        format!("Reno and TCP-Jersey as fluids, p_c {}, A_c {}, d/rtt {eta:.4}\n", a.congestion, a.accuracy_congestion);
    out += &format!(
        "{:>8} {:>6} {:>10} {:>11} {:>11} {:>10} {:>10} {:>11} {:>11}\n",
        "p_w", "A_w", "answered", "Reno pkt/s", "Jersey", "gain Reno", "gain J.", "J. over R.", "over plain"
    );
    let mut rows = Vec::new();
    for &wireless in &a.wireless.0 {
        for &accuracy in &a.accuracy.0 {
            let losses = differentiator::Losses { congestion: a.congestion, wireless };
            let told = Accuracy { congestion: a.accuracy_congestion, wireless: accuracy };
            let answered = told.answered(&losses).map_err(invalid)?;
            let (r, j) =
                (fluid::reno(answered, &path).map_err(invalid)?, fluid::jersey(answered, &path).map_err(invalid)?);
            let gain_r = differentiator::reno_gain(&losses, &told, &path).map_err(invalid)?;
            let gain_j = differentiator::jersey_gain(&losses, &told, &path).map_err(invalid)?;
            let over = differentiator::advantage(&losses, &told, &told, &path).map_err(invalid)?;
            let plain = differentiator::advantage(&losses, &told, &Accuracy::NONE, &path).map_err(invalid)?;
            out += &format!(
                "{wireless:>8} {accuracy:>6} {answered:>10.6} {:>11.2} {:>11.2} {gain_r:>10.4} {gain_j:>10.4} \
                    {over:>11.4} {plain:>11.4}\n",
                r.rate_pps, j.rate_pps
            );
            rows.push(json!({"wireless_loss": wireless, "congestion_loss": a.congestion, "accuracy_wireless": accuracy,
                "accuracy_congestion": a.accuracy_congestion, "answered_loss": answered, "reno_pps": r.rate_pps, "jersey_pps": j.rate_pps,
                "reno_window_packets": r.window, "jersey_window_packets": j.window, "reno_gain": gain_r, "jersey_gain": gain_j,
                "jersey_over_reno": over, "jersey_over_plain_reno": plain}));
        }
    }
    out += "gain: over the same source without a differentiator (eqs. 8.27, 8.28). J. over R.: Jersey over Reno with\n";
    out += "the same differentiator (eq. 8.29); over plain: over Reno without one. No timeouts, no slow start:\n";
    out += "gains by tens of folds are trends, not predictions.\n";
    answer(&a.printed, "jersey", &out, rows)
}

#[derive(Debug, clap::Args)]
pub(super) struct Padhye {
    /// Shares of packets that begin a loss: one or a list
    #[arg(long, default_value = "0.01%,0.1%,0.5%,1%,5%,10%", value_parser = shares)]
    loss: Numbers,
    /// RTT, mean round-trip time
    #[arg(long, default_value = "100ms", value_parser = seconds)]
    rtt: f64,
    /// T0, length of the first timeout
    #[arg(long, default_value = "1s", value_parser = seconds)]
    timeout: f64,
    /// Data packets per ACK: 1, or 2 with delayed ACKs
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    ack: u32,
    /// Window limit, like 20p (default: none)
    #[arg(long, value_parser = super::fcwa::packets)]
    window: Option<u32>,
    /// Size of a packet in bytes
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    packet: u32,
    #[command(flatten)]
    printed: Printed,
}

pub(super) fn padhye(a: &Padhye) -> Result<Done> {
    let path = padhye::Path { rtt_s: a.rtt, t0_s: a.timeout, b: a.ack.into(), window: a.window.map(f64::from) };
    let limit = a.window.map_or("no window limit".to_owned(), |w| format!("window of at most {w} packets"));
    let mut out = format!("RTT {} s, T0 {} s, one ACK for {} packets, {limit}\n", a.rtt, a.timeout, a.ack);
    out += &format!("{:>10} {:>12} {:>14} {:>12} {:>12}\n", "loss", "sqrt window", "sqrt pkt/s", "pkt/s", "Mb/s");
    let mut rows = Vec::new();
    for &p in &a.loss.0 {
        let window = padhye::square_root_window(p).map_err(invalid)?;
        let (root, rate) =
            (padhye::square_root_rate(p, a.rtt).map_err(invalid)?, padhye::padhye(p, &path).map_err(invalid)?);
        let bps = rate * f64::from(a.packet) * 8.0;
        out += &format!("{p:>10} {window:>12.3} {root:>14.2} {rate:>12.2} {:>12.4}\n", bps / 1e6);
        rows.push(json!({"loss": p, "square_root_window_packets": window, "square_root_pps": root, "rate_pps": rate, "rate_bps": bps}));
    }
    out += "sqrt: one ACK per packet, no timeouts, no limit (Jersey 2005 eqs. 2.2, 2.3); the last two: Padhye (eq. \
        2.4).\n";
    answer(&a.printed, "padhye", &out, rows)
}

#[derive(Debug, clap::Args)]
pub(super) struct AiadArgs {
    /// N, numbers of sources: a list like 1,2,5 or a range like 1..10
    #[arg(long, default_value = "1,2,5,10,20,50,100,200", value_parser = sources)]
    sources: super::Counts,
    /// C, capacity of the bottleneck, packets per second
    #[arg(long, default_value = "1000", value_parser = number)]
    capacity: f64,
    /// d, round-trip time without queues
    #[arg(long, default_value = "40ms", value_parser = seconds)]
    delay: f64,
    /// d_q, round-trip queueing delay
    #[arg(long, default_value = "40ms", value_parser = seconds)]
    queue: f64,
    /// α: 1 for the receiving rate φ, γ/ρ for the rate of acknowledgments κ (25 for 40-byte ACKs of 1000-byte packets)
    #[arg(long, default_value = "1", value_parser = number)]
    alpha: f64,
    /// Losses answer the load as (y/C)^k with this k; 0: what exceeds the capacity is lost
    #[arg(long, default_value_t = 0)]
    exponent: u32,
    #[command(flatten)]
    printed: Printed,
}

pub(super) fn aiad(a: &AiadArgs) -> Result<Done> {
    let marking = Marking::of(a.exponent).map_err(invalid)?;
    let mut out = format!("AIAD, C {} pkt/s, d {} s, d_q {} s, alpha {}\n", a.capacity, a.delay, a.queue, a.alpha);
    out += &format!(
        "{:>7} {:>9} {:>10} {:>8} {:>9} {:>10} {:>11} {:>11} {:>10} {:>9}\n",
        "sources", "load", "p0", "a.eta", "below", "d_q ms <", "printed <", "conditions", "growth", "settles"
    );
    let mut rows = Vec::new();
    for &n in &a.sources.0 {
        let case = Aiad { n, capacity_pps: a.capacity, delay_s: a.delay, queue_s: a.queue, alpha: a.alpha };
        let rest = case.rest(&marking).map_err(invalid)?;
        let load = rest.rate_pps / case.fair_pps().map_err(invalid)?;
        let together = Losses { slope: rest.losses.slope * f64::from(n), ..rest.losses };
        let real = case.at(&rest).map_err(invalid)?;
        let back = real.alpha * real.eta().map_err(invalid)?;
        let below = real.alpha_eta_bound(&together).map_err(invalid)?;
        let (bound, alone) =
            (real.queue_bound_s(&together).map_err(invalid)?, real.queue_bound_s(&rest.losses).map_err(invalid)?);
        let motions: &[Motion] = if n > 1 { &[Motion::Together, Motion::Apart] } else { &[Motion::Together] };
        let all = motions.iter().map(|m| case.hayes(&rest, *m)).collect::<Result<Vec<Hayes>, _>>().map_err(invalid)?;
        let growth = all.iter().map(Hayes::growth).fold(f64::NEG_INFINITY, f64::max);
        let hold: Vec<bool> = (0..3).map(|i| all.iter().all(|h| h.conditions().get(i) == Some(&true))).collect();
        let shown: Vec<&str> = hold.iter().map(|h| if *h { "yes" } else { "no" }).collect();
        let settles = if hold.iter().all(|h| *h) { "yes" } else { "no" };
        out += &format!(
            "{n:>7} {load:>9.4} {:>10.6} {back:>8.4} {below:>9.4} {:>10.3} {:>11.3} {:>11} {growth:>10.4} \
                {settles:>9}\n",
            rest.losses.share,
            bound * 1e3,
            alone * 1e3,
            shown.join(" ")
        );
        rows.push(json!({"sources": n, "load": load, "loss": rest.losses.share, "loss_slope": rest.losses.slope, "alpha_eta": back, "alpha_eta_bound": below,
            "queue_bound_s": bound, "queue_bound_alone_s": alone, "conditions": hold, "growth": growth, "settles": settles == "yes"}));
    }
    out += "load: rate at rest over the capacity. a.eta: alpha d/(d + d_q) over the load, to be below (eq. 6.15).\n";
    out += "d_q <: sufficient bound (eqs. 6.14, 6.16) with the slope of the losses that all sources make together;\n";
    out +=
        "printed <: with that of one source alone. conditions: lemma 6.1, for sources that move together and against\n";
    out += "each other. growth: exponent of a departure in each round trip.\n";
    answer(&a.printed, "aiad", &out, rows)
}

#[derive(Debug, clap::Args)]
pub(super) struct GaiadArgs {
    /// N, numbers of sources: a list like 1,2,5 or a range like 1..10
    #[arg(long, default_value = "1,2,5,10,20,50", value_parser = sources)]
    sources: super::Counts,
    /// α, what a source adds in each step, packets
    #[arg(long, default_value = "1", value_parser = number)]
    alpha: f64,
    /// β, above 0 and at most 1
    #[arg(long, default_value = "0.5", value_parser = number)]
    beta: f64,
    /// C, capacity of the link, packets per step
    #[arg(long, default_value = "100", value_parser = number)]
    capacity: f64,
    /// Packets are marked with probability (y/C)^k with this k; 0: what exceeds the capacity is marked
    #[arg(long, default_value_t = 4)]
    exponent: u32,
    /// Longest delay each way in the simulation beside the theorem, steps; the sources' delays differ
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    steps: u32,
    /// The sign of eq. 9.12 as printed
    #[arg(long)]
    as_printed: bool,
    #[command(flatten)]
    printed: Printed,
}

/// Most sources that are simulated.
const SIMULATED: u32 = 100;

pub(super) fn gaiad(a: &GaiadArgs) -> Result<Done> {
    let marking = Marking::of(a.exponent).map_err(invalid)?;
    if let Some(n) = a.sources.0.iter().find(|n| **n > SIMULATED) {
        return Err(wrong(format!("--sources {n}: at most {SIMULATED} are simulated"), "write smaller numbers"));
    }
    let form = if a.as_printed { Form::Printed } else { Form::Corrected };
    let mut out = format!(
        "GAIAD, alpha {}, beta {}, C {} packets a step{}\n",
        a.alpha,
        a.beta,
        a.capacity,
        if a.as_printed { ", as printed" } else { "" }
    );
    out += &format!(
        "{:>7} {:>12} {:>10} {:>9} {:>10} {:>12} {:>8} {:>14} {:>15}\n",
        "sources", "rate", "marked", "g", "g + N b", "as printed", "settles", "without delay", "unequal delays"
    );
    let mut rows = Vec::new();
    for &n in &a.sources.0 {
        let case = Gaiad { n, alpha: a.alpha, beta: a.beta, capacity: a.capacity, marking, form };
        let rest = case.rest().map_err(invalid)?;
        let [apart, together] = case.eigenvalues(&rest, case.bend(&rest));
        let printed = case.eigenvalues(&rest, case.bend_as_printed(&rest))[1];
        let stable = case.stable(&rest, case.bend(&rest));
        let none = case.settles(&vec![Delays { forward: 1, backward: 0 }; n as usize], 1e-6).map_err(invalid)?;
        let unequal = case.settles(&gaiad::unequal(n, a.steps), 1e-6).map_err(invalid)?;
        let word = |b: bool| if b { "yes" } else { "no" };
        out += &format!(
            "{n:>7} {:>12.4} {:>10.6} {apart:>9.4} {together:>10.4} {printed:>12.4} {:>8} {:>14} {:>15}\n",
            rest.rate,
            rest.share,
            word(stable),
            word(none),
            word(unequal)
        );
        rows.push(json!({"sources": n, "rate_packets": rest.rate, "marked": rest.share, "eigenvalue_apart": apart, "eigenvalue_together": together,
            "eigenvalue_together_as_printed": printed, "settles": stable, "simulated_without_delay": none, "simulated_unequal_delays": unequal}));
    }
    out +=
        "g, g + N b: eigenvalues, of sources against each other and together; both within 1: settles (theorem 9.3).\n";
    out += "as printed: g + N b with the derivative of eqs. 9.21 and 9.22. The last two columns are simulated (eq. \
        9.12);\n";
    out += "unequal delays can calm what does not settle without.\n";
    answer(&a.printed, "gaiad", &out, rows)
}
