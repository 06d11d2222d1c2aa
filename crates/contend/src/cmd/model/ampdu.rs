//! `contend model ampdu`: stations with aggregated frames behind one access point.

use super::numbers::{Numbers, numbers, rates, seconds};
use super::{Answer, value};
use crate::cmd::wrong;
use miette::Result;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(super) struct Ampdu {
    /// r, physical rates of the stations: one for all, or one for each
    #[arg(long, default_value = "144.4Mbps,144.4Mbps,7.2Mbps", value_parser = rates)]
    rate: Numbers,
    /// n, mean packets in an aggregate: one for all stations, or one for each
    #[arg(long, default_value = "18.44,18.52,1.89", value_parser = numbers)]
    aggregate: Numbers,
    /// l, size of an IP packet in bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    packet: u32,
    /// T_BO, mean backoff
    #[arg(long, default_value = "67.5us", value_parser = seconds)]
    backoff: f64,
}

/// One station.
struct Station {
    rate: f64,
    packets: f64,
    data: f64,
    base: f64,
}

pub(super) fn ampdu(a: &Ampdu) -> Result<Answer> {
    let (rates, packets) = (&a.rate.0, &a.aggregate.0);
    let n = rates.len().max(packets.len());
    if [rates.len(), packets.len()].iter().any(|&given| given != 1 && given != n) {
        let message = format!("--rate has {} values, but --aggregate has {}", rates.len(), packets.len());
        return Err(wrong(message, "write one value for all stations, or one for each"));
    }
    let mut stations = Vec::with_capacity(n);
    for (&rate, &packets) in rates.iter().cycle().zip(packets.iter().cycle()).take(n) {
        let case = [
            ("n", "--aggregate", packets),
            ("bytes", "--packet", a.packet.into()),
            ("phy_rate", "--rate", rate),
            ("backoff", "--backoff", a.backoff),
        ];
        let (data, base) = (value("ampdu.data_time", &case)?, value("ampdu.rate", &case)?);
        stations.push(Station { rate, packets, data, base });
    }
    let sum: f64 = stations.iter().map(|s| s.data).sum();
    let mut out = format!("{n} stations, packets of {} B, one at a time; rates in Mb/s\n", a.packet);
    out += &format!(
        "{:>7} {:>9} {:>9} {:>10} {:>9} {:>9} {:>10} {:>9} {:>10}\n",
        "station", "PHY rate", "packets", "T_data us", "base R", "FIFO T", "FIFO T R", "fair T", "fair T R"
    );
    let mut rows = Vec::new();
    let mut total = [0.0; 2];
    for (i, s) in stations.iter().enumerate() {
        let share = [s.data / sum, 1.0 / n as f64];
        let expected = share.map(|t| t * s.base);
        total = [total[0] + expected[0], total[1] + expected[1]];
        out += &format!(
            "{:>7} {:>9.1} {:>9.2} {:>10.1} {:>9.1} {:>8.1}% {:>10.1} {:>8.1}% {:>10.1}\n",
            i + 1,
            s.rate / 1e6,
            s.packets,
            s.data * 1e6,
            s.base / 1e6,
            share[0] * 1e2,
            expected[0] / 1e6,
            share[1] * 1e2,
            expected[1] / 1e6
        );
        rows.push(json!({"station": i + 1, "phy_bps": s.rate, "packets": s.packets, "data_s": s.data,
            "base_bps": s.base, "fifo_share": share[0], "fifo_bps": expected[0], "fair_share": share[1],
            "fair_bps": expected[1]}));
    }
    out += &format!("{:>7} {:>58.1} {:>20.1}\n", "all", total[0] / 1e6, total[1] / 1e6);
    out += "base R: rate of a station alone. FIFO: the air is shared by T_data, as aggregates alternate. fair: equal\n";
    out += "airtime. The mean aggregate is an input: with FIFO it is smaller (4.47, 5.08 and 1.89 in the paper).\n";
    Ok(Answer::new("ampdu", out, rows))
}
