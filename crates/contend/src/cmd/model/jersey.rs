//! `contend model jersey`, `padhye`, `aiad` and `gaiad`: the closed forms of Jersey 2005 as calculators.

use super::numbers::{Numbers, number, seconds, share, shares};
use super::{Answer, Given, list, value};
use contend_core::Refusal;
use miette::Result;
use serde_json::json;

fn sources(s: &str) -> Result<super::Counts, Refusal> {
    list(s, 1, "sources")
}

#[derive(Debug, clap::Args)]
pub(super) struct Jersey {
    /// p_w, shares of packets lost on the wireless link: one or a list
    #[arg(long, default_value = "0.1%,1%,5%,10%", value_parser = shares)]
    wireless: Numbers,
    /// p_c, share of packets lost to congestion
    #[arg(long, default_value = "0.01%", value_parser = share)]
    congestion: f64,
    /// A_w, shares of the wireless losses that the differentiator recognises: one or a list
    #[arg(long, default_value = "0,0.5,0.9,1", value_parser = shares)]
    accuracy: Numbers,
    /// A_c, share of the congestion losses that the differentiator recognises
    #[arg(long, default_value = "1", value_parser = share)]
    accuracy_congestion: f64,
    /// τ, round-trip time
    #[arg(long, default_value = "50ms", value_parser = seconds)]
    rtt: f64,
    /// d, round-trip time without queues
    #[arg(long, default_value = "2ms", value_parser = seconds)]
    delay: f64,
}

pub(super) fn jersey(a: &Jersey) -> Result<Answer> {
    let mut out = format!(
        "Fluid models of Reno and TCP-Jersey, p_c {}, A_c {}, d/rtt {:.4}\n",
        a.congestion,
        a.accuracy_congestion,
        a.delay / a.rtt
    );
    out += &format!(
        "{:>8} {:>6} {:>10} {:>11} {:>11} {:>10} {:>10} {:>11} {:>11}\n",
        "p_w", "A_w", "answered", "Reno pkt/s", "Jersey", "gain Reno", "gain J.", "J. over R.", "over plain"
    );
    let mut rows = Vec::new();
    for &wireless in &a.wireless.0 {
        for &accuracy in &a.accuracy.0 {
            let shares = [
                ("pc", "--congestion", a.congestion),
                ("pw", "--wireless", wireless),
                ("aw", "--accuracy", accuracy),
                ("ac", "--accuracy-congestion", a.accuracy_congestion),
            ];
            let answered = value("jersey.answered", &shares)?;
            let rest = [
                ("q", "share of packets answered as congestion (from --congestion and --wireless)", answered),
                ("rtt", "--rtt", a.rtt),
                ("d", "--delay", a.delay),
            ];
            let case = [shares.as_slice(), &rest].concat();
            let (reno, jersey) = (value("jersey.reno_rate", &rest)?, value("jersey.rate", &rest)?);
            let windows = (value("jersey.reno_window", &rest)?, value("jersey.window", &rest)?);
            let (gain_r, gain_j) = (value("jersey.reno_gain", &shares)?, value("jersey.gain", &case)?);
            let (over, plain) = (value("jersey.advantage", &case)?, value("jersey.advantage_over_plain", &case)?);
            out += &format!(
                "{wireless:>8} {accuracy:>6} {answered:>10.6} {reno:>11.2} {jersey:>11.2} {gain_r:>10.4} \
                    {gain_j:>10.4} {over:>11.4} {plain:>11.4}\n"
            );
            rows.push(
                json!({"wireless_loss": wireless, "congestion_loss": a.congestion, "accuracy_wireless": accuracy,
                "accuracy_congestion": a.accuracy_congestion, "answered_loss": answered, "reno_pps": reno,
                "jersey_pps": jersey,
                "reno_window_packets": windows.0, "jersey_window_packets": windows.1, "reno_gain": gain_r,
                "jersey_gain": gain_j,
                "jersey_over_reno": over, "jersey_over_plain_reno": plain}),
            );
        }
    }
    out += "answered: share of packets whose loss the source answers as congestion. gain: gain of a source over the\n";
    out += "same source without a differentiator (eqs. 8.27, 8.28). J. over R.: gain of Jersey over Reno with the\n";
    out += "same differentiator (eq. 8.29). over plain: gain of Jersey over Reno without a differentiator.\n";
    out += "The models have no timeouts and no slow start: a gain above 10 shows a trend and is not a prediction.\n";
    Ok(Answer::new("jersey", out, rows))
}

#[derive(Debug, clap::Args)]
pub(super) struct Padhye {
    /// p, shares of packets that begin a loss event: one or a list
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
}

pub(super) fn padhye(a: &Padhye) -> Result<Answer> {
    let limit = a.window.map_or("no window limit".to_owned(), |w| format!("window of at most {w} packets"));
    let mut out = format!("RTT {} s, T0 {} s, data packets per ACK {}, {limit}\n", a.rtt, a.timeout, a.ack);
    out += &format!("{:>10} {:>12} {:>14} {:>12} {:>12}\n", "loss", "sqrt window", "sqrt pkt/s", "pkt/s", "Mb/s");
    let mut rows = Vec::new();
    for &p in &a.loss.0 {
        let window = value("padhye.square_root_window", &[("p", "--loss", p)])?;
        let root = value("padhye.square_root_rate", &[("p", "--loss", p), ("rtt", "--rtt", a.rtt)])?;
        let limit = a.window.map_or(0.0, f64::from);
        let path = [
            ("p", "--loss", p),
            ("rtt", "--rtt", a.rtt),
            ("t0", "--timeout", a.timeout),
            ("b", "--ack", a.ack.into()),
            ("window", "--window", limit),
        ];
        let rate = value("padhye.rate", &path)?;
        let bps = rate * f64::from(a.packet) * 8.0;
        out += &format!("{p:>10} {window:>12.3} {root:>14.2} {rate:>12.2} {:>12.4}\n", bps / 1e6);
        rows.push(json!({
            "loss": p, "square_root_window_packets": window, "square_root_pps": root, "rate_pps": rate, "rate_bps": bps,
        }));
    }
    out += "sqrt: one ACK per packet, no timeouts, no window limit (Jersey 2005 eqs. 2.2, 2.3).\n";
    out += "Last two columns: Padhye's formula (Jersey 2005 eq. 2.4).\n";
    Ok(Answer::new("padhye", out, rows))
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
    /// α: 1 for the receiving rate φ, γ/ρ for the rate of acknowledgments κ (25 for 40-byte ACKs of 1000-byte
    /// packets)
    #[arg(long, default_value = "1", value_parser = number)]
    alpha: f64,
    /// k: a packet is lost with probability (y/C)^k at the total rate y; with 0, only the rate above C is lost
    #[arg(long, default_value_t = 0)]
    exponent: u32,
}

pub(super) fn aiad(a: &AiadArgs) -> Result<Answer> {
    let mut out = format!("AIAD, C {} pkt/s, d {} s, d_q {} s, alpha {}\n", a.capacity, a.delay, a.queue, a.alpha);
    out += &format!(
        "{:>7} {:>9} {:>10} {:>8} {:>9} {:>10} {:>11} {:>11} {:>10} {:>9}\n",
        "sources", "load", "p0", "a.eta", "a.eta <", "d_q ms <", "printed <", "conditions", "growth", "settles"
    );
    let mut rows = Vec::new();
    for &n in &a.sources.0 {
        let case = [
            ("n", "--sources", n.into()),
            ("capacity", "--capacity", a.capacity),
            ("d", "--delay", a.delay),
            ("dq", "--queue", a.queue),
            ("alpha", "--alpha", a.alpha),
            ("exponent", "--exponent", a.exponent.into()),
        ];
        let of = |model: &str, more: Given| value(model, &[&case[..], &[more]].concat());
        // The closed forms without this parameter ignore it.
        let together: Given = ("together", "", 1.0);
        let (load, loss, slope) =
            (of("aiad.load", together)?, of("aiad.loss", together)?, of("aiad.loss_slope", together)?);
        let (back, below) = (of("aiad.alpha_eta_at_rest", together)?, of("aiad.alpha_eta_bound", together)?);
        let (bound, alone) = (of("aiad.queue_bound", together)?, of("aiad.queue_bound", ("together", "", 0.0))?);
        let growth = of("aiad.growth", together)?;
        let holds = |which: u32| of("aiad.condition", ("which", "", which.into())).map(|x| x != 0.0);
        let hold = (1..=3).map(holds).collect::<Result<Vec<bool>>>()?;
        let shown: Vec<&str> = hold.iter().map(|h| if *h { "yes" } else { "no" }).collect();
        let settles = if hold.iter().all(|h| *h) { "yes" } else { "no" };
        out += &format!(
            "{n:>7} {load:>9.4} {loss:>10.6} {back:>8.4} {below:>9.4} {:>10.3} {:>11.3} {:>11} {growth:>10.4} \
                {settles:>9}\n",
            bound * 1e3,
            alone * 1e3,
            shown.join(" ")
        );
        rows.push(json!({
            "sources": n, "load": load, "loss": loss, "loss_slope": slope, "alpha_eta": back, "alpha_eta_bound": below,
            "queue_bound_s": bound, "queue_bound_alone_s": alone, "conditions": hold, "growth": growth,
            "settles": settles == "yes"}));
    }
    out += "load: equilibrium rate / C. p0: loss at equilibrium. a.eta: alpha d/(d + d_q) / load; a.eta <: its upper\n";
    out += "bound (eq. 6.15). d_q ms <: sufficient bound on d_q (eqs. 6.14, 6.16) with the loss slope of all sources\n";
    out += "together; printed <: the bound with the loss slope of one source, as printed. conditions: the three of\n";
    out += "lemma 6.1, each for all motions of the sources. growth: exponent by which a small deviation from\n";
    out += "equilibrium grows in each round trip.\n";
    Ok(Answer::new("aiad", out, rows))
}

#[derive(Debug, clap::Args)]
pub(super) struct GaiadArgs {
    /// N, numbers of sources: a list like 1,2,5 or a range like 1..10
    #[arg(long, default_value = "1,2,5,10,20,50", value_parser = sources)]
    sources: super::Counts,
    /// α, packets that a source adds in each step
    #[arg(long, default_value = "1", value_parser = number)]
    alpha: f64,
    /// β, above 0 and at most 1
    #[arg(long, default_value = "0.5", value_parser = number)]
    beta: f64,
    /// C, capacity of the link, packets per step
    #[arg(long, default_value = "100", value_parser = number)]
    capacity: f64,
    /// k: a packet is marked with probability (y/C)^k at the total rate y; with 0, only the rate above C is marked
    #[arg(long, default_value_t = 4)]
    exponent: u32,
    /// Longest one-way delay in the simulation with unequal delays, in steps
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    steps: u32,
    /// Use the sign of eq. 9.12 as printed
    #[arg(long)]
    as_printed: bool,
}

pub(super) fn gaiad(a: &GaiadArgs) -> Result<Answer> {
    let mut out = format!(
        "GAIAD, alpha {}, beta {}, C {} packets per step{}\n",
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
        let case = [
            ("n", "--sources", n.into()),
            ("alpha", "--alpha", a.alpha),
            ("beta", "--beta", a.beta),
            ("capacity", "--capacity", a.capacity),
            ("exponent", "--exponent", a.exponent.into()),
            ("printed", "--as-printed", f64::from(u8::from(a.as_printed))),
        ];
        let (rate, marked) = (value("gaiad.rate", &case)?, value("gaiad.share", &case)?);
        let (apart, together) = (value("gaiad.eigenvalue_apart", &case)?, value("gaiad.eigenvalue_together", &case)?);
        let printed = value("gaiad.eigenvalue_together_as_printed", &case)?;
        let stable = value("gaiad.stable", &case)? != 0.0;
        let settles = |steps: u32, unequal: f64| -> Result<bool> {
            let delays = [("steps", "--steps", steps.into()), ("unequal", "", unequal)];
            Ok(value("gaiad.settles", &[&case[..], &delays].concat())? != 0.0)
        };
        let (none, unequal) = (settles(1, 0.0)?, settles(a.steps, 1.0)?);
        let word = |b: bool| if b { "yes" } else { "no" };
        out += &format!(
            "{n:>7} {rate:>12.4} {marked:>10.6} {apart:>9.4} {together:>10.4} {printed:>12.4} {:>8} {:>14} {:>15}\n",
            word(stable),
            word(none),
            word(unequal)
        );
        rows.push(json!({
            "sources": n, "rate_packets": rate, "marked": marked, "eigenvalue_apart": apart,
            "eigenvalue_together": together,
            "eigenvalue_together_as_printed": printed, "settles": stable, "simulated_without_delay": none,
            "simulated_unequal_delays": unequal}));
    }
    out += "g, g + N b: eigenvalues of the motion of sources against each other and of all sources together.\n";
    out += "settles: yes if both eigenvalues lie between -1 and 1 (theorem 9.3). as printed: g + N b with the\n";
    out += "derivative of eqs. 9.21 and 9.22. The last two columns are simulated (eq. 9.12): do the rates settle\n";
    out += "without delay, and with unequal delays? Unequal delays can stabilise an unstable system.\n";
    Ok(Answer::new("gaiad", out, rows))
}
