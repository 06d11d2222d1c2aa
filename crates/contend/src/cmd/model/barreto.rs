//! `contend model rt-winf` and `hops`: calculators for many hops (Barreto 2012).

use super::numbers::{Numbers, numbers, rates, seconds};
use super::{Answer, Counts, Given, list, micro, value};
use contend_core::Refusal;
use miette::Result;
use serde_json::json;

fn sizes(s: &str) -> Result<Counts, Refusal> {
    list(s, 1, "bytes")
}

fn links(s: &str) -> Result<Counts, Refusal> {
    list(s, 1, "hops")
}

/// The frames of 802.11b with a long preamble.
#[derive(Debug, clap::Args)]
pub(super) struct Frames {
    /// Sizes of IP packets in bytes: a list or a range
    #[arg(long, default_value = "1500,1000,300", value_parser = sizes)]
    packet: Counts,
    /// Rates of data frames: one or a list
    #[arg(long, default_value = "11Mbps,5.5Mbps", value_parser = rates)]
    rate: Numbers,
    /// Rate of RTS, CTS and ACK
    #[arg(long, default_value = "1Mbps", value_parser = rates)]
    basic: Numbers,
    /// Bytes that the MAC adds to a packet (ns-2: 34)
    #[arg(long, default_value = "36", value_parser = numbers)]
    overhead: Numbers,
    /// Round the bytes of a frame up to whole microseconds, as the standard does
    #[arg(long)]
    whole: bool,
}

impl Frames {
    /// The arguments of closed forms, for one size and rate.
    fn case(&self, packet: u32, rate: f64) -> Vec<Given<'static>> {
        let first = |n: &Numbers| n.0.first().copied().unwrap_or_default();
        vec![
            ("packet", "--packet", packet.into()),
            ("data_rate", "--rate", rate),
            ("basic", "--basic", first(&self.basic)),
            ("overhead", "--overhead", first(&self.overhead)),
            ("whole", "--whole", f64::from(u8::from(self.whole))),
        ]
    }

    /// Every pair of rate and size.
    fn cases(&self) -> impl Iterator<Item = (f64, u32)> {
        self.rate.0.iter().flat_map(|&rate| self.packet.0.iter().map(move |&packet| (rate, packet)))
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct RtWinf {
    #[command(flatten)]
    frames: Frames,
    /// Mean backoff
    #[arg(long, default_value = "310us", value_parser = seconds)]
    backoff: f64,
}

pub(super) fn rt_winf(a: &RtWinf) -> Result<Answer> {
    let mut out = String::from("rt-Winf on one link of 802.11b with RTS/CTS, in Mb/s; times in us\n");
    out += &format!(
        "{:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8} {:>7} {:>7}\n",
        "rate",
        "bytes",
        "C_S",
        "C_R",
        "probe",
        "cycle",
        "TH",
        "TH(3)",
        "NAV_RTS",
        "NAV_CTS",
        "cycle us",
        "AB(CTS)",
        "AB(RTS)"
    );
    let mut rows = Vec::new();
    for (rate, packet) in a.frames.cases() {
        let case = a.frames.case(packet, rate);
        let of = |model: &str, more: &[Given<'static>]| value(model, &[&case[..], more].concat());
        let backoff = ("backoff", "--backoff", a.backoff);
        let with = |model: &str, name: &'static str, x: f64| of(model, &[backoff, (name, "", x)]);
        let capacity = |form: f64| with("rt_winf.capacity", "form", form);
        let [sender, receiver, probe, cycle] = [capacity(0.0)?, capacity(1.0)?, capacity(2.0)?, capacity(3.0)?];
        let (th, th3) = (with("rt_winf.limit", "sifs_count", 1.0)?, with("rt_winf.limit", "sifs_count", 3.0)?);
        let nav = |rts: f64| of("rt_winf.reserved", &[("rts", "", rts)]).map(micro);
        let (nav_cts, nav_rts) = (nav(0.0)?, nav(1.0)?);
        let cycle_us = micro(of("rt_winf.cycle", &[backoff])?);
        let (ab_cts, ab_rts) = (with("rt_winf.available", "rts", 0.0)?, with("rt_winf.available", "rts", 1.0)?);
        let overhead = of("rt_winf.overhead", &[backoff])?;
        let mbps = |bps: f64| format!("{:.2}", bps / 1e6);
        out += &format!(
            "{:>6} {packet:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {nav_rts:>8.1} {nav_cts:>8.1} \
                {cycle_us:>8.1} {:>7} {:>7}\n",
            rate / 1e6,
            mbps(sender),
            mbps(receiver),
            mbps(probe),
            mbps(cycle),
            mbps(th),
            mbps(th3),
            mbps(ab_cts),
            mbps(ab_rts)
        );
        rows.push(json!({
            "rate_bps": rate, "packet_bytes": packet, "capacity_sender_bps": sender, "capacity_receiver_bps": receiver,
            "capacity_probe_bps": probe, "capacity_cycle_bps": cycle, "limit_bps": th, "limit_three_sifs_bps": th3,
            "nav_rts_us": nav_rts, "nav_cts_us": nav_cts, "cycle_us": cycle_us, "available_cts_bps": ab_cts,
            "available_rts_bps": ab_rts, "overhead": overhead}));
    }
    out += "C_S, C_R, probe: capacity as printed (eqs. 4.3, 4.6, 4.14). cycle: repaired. TH: TH_80211b with the one\n";
    out += "SIFS that is printed, and with three. AB: available bandwidth of the saturated link, as printed.\n";
    Ok(Answer::new("rt-winf", out, rows))
}

#[derive(Debug, clap::Args)]
pub(super) struct Hops {
    #[command(flatten)]
    frames: Frames,
    /// Numbers of hops: a list or a range
    #[arg(long, default_value = "1..8", value_parser = links)]
    hops: Counts,
    /// RTS and CTS precede the data
    #[arg(long)]
    rts: bool,
    /// Propagation delay of a hop
    #[arg(long, default_value = "0s", value_parser = seconds)]
    propagation: f64,
    /// Mean backoff of a hop
    #[arg(long, default_value = "0s", value_parser = seconds)]
    backoff: f64,
    /// Delay of the link layer at each end (ns-2: 25us)
    #[arg(long, default_value = "0s", value_parser = seconds)]
    link_layer: f64,
}

pub(super) fn hops(a: &Hops) -> Result<Answer> {
    let mut out = String::from("Delay of one packet over a chain of idle hops of 802.11b\n");
    out += &format!("{:>6} {:>6} {:>5} {:>14}\n", "rate", "bytes", "hops", "delay us");
    let mut rows = Vec::new();
    for (rate, packet) in a.frames.cases() {
        for &hops in &a.hops.0 {
            let more = [
                ("hops", "--hops", hops.into()),
                ("protected", "--rts", f64::from(u8::from(a.rts))),
                ("propagation", "--propagation", a.propagation),
                ("backoff", "--backoff", a.backoff),
                ("link_layer", "--link-layer", a.link_layer),
            ];
            let us = micro(value("hops.delay", &[a.frames.case(packet, rate), more.to_vec()].concat())?);
            out += &format!("{:>6} {packet:>6} {hops:>5} {us:>14.3}\n", rate / 1e6);
            rows.push(json!({"rate_bps": rate, "packet_bytes": packet, "hops": hops, "delay_us": us}));
        }
    }
    Ok(Answer::new("hops", out, rows))
}
