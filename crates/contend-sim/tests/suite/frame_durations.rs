//! The duration of every frame, for all standards, preambles, rates and sizes.

use crate::golden;
use contend_sim::wifi::phy::{Phy, Preamble, Standard};

/// Sizes of IP packets in bytes whose durations are in the golden file as plain values, for a person to check.
const PLAIN: [u32; 5] = [0, 40, 576, 1500, 2296];

#[test]
fn the_duration_of_every_frame_is_as_it_was() {
    let mut lines = vec![];
    for (name, standard) in Standard::legacy() {
        for (word, preamble) in [("long", Preamble::Long), ("short", Preamble::Short)] {
            let phy = Phy::new(standard, preamble);
            for &bps in phy.rates() {
                let rate = phy.rate(bps).unwrap();
                let ns = |mpdu: u32| rate.airtime(mpdu).total.as_nanos();
                // Every MPDU up to that of the largest packet. This includes the sizes of data, ACK, CTS and RTS.
                let all: Vec<String> = (0..=phy.mpdu(2296))
                    .map(|mpdu| format!("{} {}", rate.airtime(mpdu).preamble.as_nanos(), ns(mpdu)))
                    .collect();
                let hash = golden::fnv(all.join("\n").as_bytes());
                let plain: Vec<String> =
                    PLAIN.iter().map(|&ip| format!("{ip}B={}us", ns(phy.mpdu(ip)) as f64 / 1e3)).collect();
                lines.push(format!("{name} {word} {}Mbps {hash:016x} {}", bps as f64 / 1e6, plain.join(" ")));
            }
        }
    }
    golden::compare("durations.txt", &lines);
}
