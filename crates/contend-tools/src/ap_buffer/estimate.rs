//! From numbers and times of the packets of a burst to the size of the queue.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// A packet that arrived: its number, and when it was sent and received, each by the clock of its own end, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    pub number: u32,
    pub sent_s: f64,
    pub received_s: f64,
}

/// What one burst says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The first missing number: so many packets were accepted before the first loss. The document's value.
    pub naive: u32,
    /// The rate of the burst without its first tenth, in packets per second.
    pub in_pps: f64,
    /// The rate at which packets came through while the queue was full, in packets per second.
    pub out_pps: f64,
    /// Packets that the queue holds: naive x (1 - out / in).
    pub packets: f64,
    /// Of the numbers after the first loss, the part that arrived. In a steady overflow it is out / in.
    pub survivors: f64,
}

/// How a burst ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trial {
    /// The queue overflowed.
    Good(Estimate),
    /// Nothing was lost: the queue holds the burst, or the source was too slow to fill it.
    NoLoss,
    /// Too few packets arrived, or none after the first loss, so the rate of the full queue is unknown.
    TooShort,
    /// The receiving socket itself lost packets: the first loss may be its own.
    Overrun,
    /// The source paused: it sent more slowly than the queue was served.
    SlowSource,
}

impl Trial {
    /// The word of results.
    pub fn word(self) -> &'static str {
        match self {
            Trial::Good(_) => "good",
            Trial::NoLoss => "no loss",
            Trial::TooShort => "too short",
            Trial::Overrun => "receiver overrun",
            Trial::SlowSource => "slow source",
        }
    }
}

/// Packets that are needed for the rate at which the queue is served.
const ENOUGH: usize = 20;

/// The estimate of a burst of `packets` packets; `arrivals` in the order of arrival.
pub(super) fn estimate(packets: u32, arrivals: &[Arrival]) -> Trial {
    let mut seen = vec![false; packets as usize];
    for a in arrivals {
        if let Some(s) = seen.get_mut(a.number as usize) {
            *s = true;
        }
    }
    let Some(naive) = seen.iter().position(|s| !s) else { return Trial::NoLoss };
    let after = arrivals.iter().filter(|a| a.number as usize > naive).count();
    // The queue is served without a pause from the first packet to the last one, because the burst comes in faster. The
    // second half of the arrivals is free of what happens at the start; in a long burst it left the queue while it was
    // full.
    let late = &arrivals[arrivals.len() / 2..];
    // The source's own buffer takes the first packets at once; later ones are sent when the interface has taken others.
    let steady = || arrivals.iter().filter(|a| a.number >= packets / 10);
    let ends = (steady().min_by_key(|a| a.number), steady().max_by_key(|a| a.number), late.first(), late.last());
    let (Some(first), Some(last), Some(a), Some(b)) = ends else { return Trial::TooShort };
    let (sending, receiving) = (last.sent_s - first.sent_s, b.received_s - a.received_s);
    if after == 0 || late.len() < ENOUGH || sending <= 0.0 || receiving <= 0.0 {
        return Trial::TooShort;
    }
    let in_pps = f64::from(last.number - first.number) / sending;
    let out_pps = (late.len() - 1) as f64 / receiving;
    // Rates that differ by less than the measurement can tell.
    if out_pps >= 0.99 * in_pps {
        return Trial::SlowSource;
    }
    Trial::Good(Estimate {
        naive: naive as u32,
        in_pps,
        out_pps,
        packets: naive as f64 * (1.0 - out_pps / in_pps),
        survivors: after as f64 / (last.number as usize - naive) as f64,
    })
}

/// What all bursts say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The bursts in their order.
    pub trials: Vec<Trial>,
    /// Payload of the packets, in bytes.
    pub payload: usize,
}

/// The middle value, and the smallest and largest.
fn spread(mut values: Vec<f64>) -> Option<(f64, f64, f64)> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let (&least, &most) = (values.first()?, values.last()?);
    Some(((values[(n - 1) / 2] + values[n / 2]) / 2.0, least, most))
}

impl Report {
    fn good(&self) -> impl Iterator<Item = &Estimate> {
        self.trials.iter().filter_map(|t| if let Trial::Good(e) = t { Some(e) } else { None })
    }

    /// Packets that the queue holds: median, smallest, largest of the good trials; `None` if there is none.
    pub fn packets(&self) -> Option<(f64, f64, f64)> {
        spread(self.good().map(|e| e.packets).collect())
    }

    /// The naive values: median, smallest, largest of the good trials.
    pub fn naive(&self) -> Option<(f64, f64, f64)> {
        spread(self.good().map(|e| f64::from(e.naive)).collect())
    }

    /// The object of `--format json`.
    pub fn to_json(&self, version: &str) -> Value {
        let three = |x: Option<(f64, f64, f64)>| x.map(|(m, a, b)| json!({"median": m, "min": a, "max": b}));
        let trial = |t: &Trial| match t {
            Trial::Good(e) => json!({"verdict": t.word(), "packets": e.packets, "naive": e.naive, "in_pps": e.in_pps,
                "out_pps": e.out_pps, "survivors": e.survivors}),
            _ => json!({"verdict": t.word()}),
        };
        json!({
            "schema": "contend/ap-buffer/1",
            "version": version,
            "payload_bytes": self.payload,
            "packets": three(self.packets()),
            "naive": three(self.naive()),
            "trials": self.trials.iter().map(trial).collect::<Vec<_>>(),
        })
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut out = format!(
            "  {:>5} {:>9} {:>7} {:>10} {:>10} {:>10}\n",
            "trial", "packets", "naive", "in /s", "out /s", "survivors"
        );
        for (k, t) in self.trials.iter().enumerate() {
            let _ = match t {
                Trial::Good(e) => writeln!(
                    out,
                    "  {:>5} {:>9.1} {:>7} {:>10.1} {:>10.1} {:>8.2} %",
                    k + 1,
                    e.packets,
                    e.naive,
                    e.in_pps,
                    e.out_pps,
                    100.0 * e.survivors
                ),
                _ => writeln!(out, "  {:>5} {}", k + 1, t.word()),
            };
        }
        let _ = match (self.packets(), self.naive()) {
            (Some(b), Some(n)) => writeln!(
                out,
                "  the queue holds {:.0} packets (median; {:.0} to {:.0}); without correction {:.0} ({:.0} to {:.0})",
                b.0, b.1, b.2, n.0, n.1, n.2
            ),
            _ => writeln!(out, "  no trial tells the size of the queue"),
        };
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A burst into a queue of `limit` packets with one in service: `every_in` and `every_out` seconds between packets.
    fn burst(packets: u32, limit: usize, every_in: f64, every_out: f64) -> Vec<Arrival> {
        let mut departures: Vec<f64> = Vec::new();
        let mut out = Vec::new();
        for number in 0..packets {
            let now = f64::from(number) * every_in;
            let inside = departures.iter().filter(|d| **d > now).count();
            // The packet in service has left the queue.
            if inside.saturating_sub(1) >= limit {
                continue;
            }
            let leaves = departures.last().copied().unwrap_or(0.0).max(now) + every_out;
            departures.push(leaves);
            out.push(Arrival { number, sent_s: 100.0 + now, received_s: leaves });
        }
        out
    }

    #[test]
    fn the_document_s_network_has_300_packets_and_not_429() {
        // T5: 8127 packets/s in, 2442 out.
        for (limit, naive) in [(300, 429.0), (100, 143.0)] {
            let Trial::Good(e) = estimate(3000, &burst(3000, limit, 1.0 / 8127.0, 1.0 / 2442.0)) else { panic!() };
            // The packet in service, and one that leaves during the step, are not of the queue.
            assert!((e.packets - limit as f64).abs() <= 2.0, "{e:?}");
            assert!((f64::from(e.naive) - naive).abs() <= 3.0, "{e:?}");
            assert!((e.survivors - 2442.0 / 8127.0).abs() < 0.01, "{e:?}");
        }
    }

    #[test]
    fn a_burst_of_a_fast_interface_leaves_few_survivors_and_still_tells() {
        let Trial::Good(e) = estimate(1500, &burst(1500, 100, 1.0 / 130e3, 1.0 / 2480.0)) else { panic!() };
        assert!((e.packets - 100.0).abs() <= 2.0, "{e:?}");
    }

    #[test]
    fn a_buffer_at_the_source_does_not_raise_the_rate_of_the_burst() {
        let mut all = burst(3000, 100, 1.0 / 8127.0, 1.0 / 2442.0);
        // The first 16 packets wait in the source's own buffer, and each packet is stamped 16 packets early.
        all.iter_mut().for_each(|a| a.sent_s = 100.0 + f64::from(a.number.saturating_sub(16)) / 8127.0);
        let Trial::Good(e) = estimate(3000, &all) else { panic!() };
        assert!((e.packets - 100.0).abs() <= 2.0, "{e:?}");
    }

    #[test]
    fn a_burst_that_says_nothing_is_no_estimate() {
        assert_eq!(estimate(200, &burst(200, 300, 1e-4, 4e-4)), Trial::NoLoss);
        assert_eq!(estimate(10, &[]), Trial::TooShort);
        assert_eq!(estimate(60, &burst(60, 20, 1e-4, 4e-4)), Trial::TooShort);
        // Lost on the way, and nothing after it: no queue overflowed.
        assert_eq!(estimate(200, &burst(199, 300, 1e-4, 4e-4)), Trial::TooShort);
        let mut random_loss = burst(3000, 5000, 1e-3, 5e-4);
        random_loss.remove(100);
        assert_eq!(estimate(3000, &random_loss), Trial::SlowSource);
    }

    #[test]
    fn the_middle_of_ten_is_between_the_fifth_and_the_sixth() {
        assert_eq!(spread((1..=10).map(f64::from).collect()), Some((5.5, 1.0, 10.0)));
        assert_eq!((spread(vec![7.0]), spread(vec![])), (Some((7.0, 7.0, 7.0)), None));
    }
}
