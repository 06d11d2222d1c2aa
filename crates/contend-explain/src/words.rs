//! Words that users type and that no file has: what contend calls them, or that it does not have them.

use contend_report::output::{WIDTH, wrapped};

/// A word of the field.
#[derive(Debug)]
pub struct Word {
    /// As users write it, in lower case without `-` and `_`; the first is shown.
    pub names: &'static [&'static str],
    /// What it is here.
    pub text: &'static str,
    /// Names to explain further.
    pub see: &'static [&'static str],
    /// The page that tells more; empty if there is none.
    pub page: &'static str,
}

const fn word(
    names: &'static [&'static str],
    text: &'static str,
    see: &'static [&'static str],
    page: &'static str,
) -> Word {
    Word { names, text, see, page }
}

/// All words.
pub const WORDS: &[Word] = &[
    word(
        &["rts", "rts/cts", "rtscts", "cts", "rtsthreshold"],
        "RTS and CTS reserve the medium before a packet. `wifi.rts_threshold` is the smallest packet that is sent with \
            them.",
        &["wifi.rts_threshold", "wifi.retry_long", "field.cts"],
        "docs/model/cell.md",
    ),
    word(
        &["latency", "onewaydelay", "owd"],
        "The metric `delay` is the time of a packet from the sender to the receiver, `rtt` a round trip as the sender \
            measures it, `queue.delay` the wait in a queue.",
        &["delay", "rtt", "queue.delay"],
        "docs/model/measuring.md",
    ),
    word(
        &["ping", "icmp"],
        "A small datagram flow (`udp = {}` with `traffic = \"cbr\"`) measures what a ping would; `contend emulate FILE \
            -- ping server` runs the real one.",
        &["cbr", "delay"],
        "docs/emulate.md",
    ),
    word(
        &["cca", "carriersense", "energydetection", "nav"],
        "In a cell everybody hears everybody. In a `[field]` a station senses frames within `sense`; reservations \
            (NAV) are kept.",
        &["field.sense", "field.range", "field.nav_reset"],
        "docs/model/field.md",
    ),
    word(
        &["txop", "txoplimit"],
        "How long a station may hold the medium after it won: the parameter `txop` of the access rules `edca` and \
            `dcf`.",
        &["txop", "edca", "wifi.txop_protection"],
        "docs/model/edca.md",
    ),
    word(
        &["hidden", "hiddennode", "hiddenstation", "hiddenterminal"],
        "Stations that do not hear each other need a `[field]`, with positions or with links; `contend new hidden` is \
            an example. contend notes the pairs that are hidden.",
        &["field", "field.sense", "wifi.rts_threshold"],
        "docs/model/field.md",
    ),
    word(
        &["ofdma", "mumimo", "bsscolour", "bsscolor", "spatialreuse", "mlo", "multilink", "trigger", "twt"],
        "Not modelled: OFDMA, MU-MIMO, BSS colour, several links and target wake times. 802.11ax and 802.11be have \
            frames for one user at a time here.",
        &["wifi.standard", "wifi.ampdu"],
        "docs/model/limits.md",
    ),
    word(
        &["quic", "http3"],
        "An encrypted transport: `encrypted` hides a flow's headers from queues and control blocks, and adds its \
            bytes. Its congestion control is that of `tcp`.",
        &["flow.encrypted"],
        "docs/model/tcp.md",
    ),
    word(
        &["wmm", "wme", "qos", "80211e", "dscp", "category", "accesscategory"],
        "WMM is EDCA of IEEE 802.11e: `access = \"edca\"`, and `ac` of a flow names its category.",
        &["edca", "flow.ac"],
        "docs/model/edca.md",
    ),
    word(
        &["airtime", "airtimefairness", "atf"],
        "The queue discipline `airtime` gives stations equal time on the air; the metric `airtime` is the share that \
            each had.",
        &[],
        "docs/guide-access-point.md",
    ),
    word(
        &["beacon", "beacons"],
        "Beacons are off by default: `beacon` of an access point turns them on.",
        &["ap.beacon"],
        "docs/model/access-point.md",
    ),
    word(
        &["rssi", "signal", "signalstrength", "pathloss"],
        "The received power follows from `tx_power`, `propagation`, walls and shadowing of a `[field]`; `wifi.snr` \
            sets the SNR of a station directly.",
        &["wifi.snr", "field.propagation", "field.tx_power"],
        "docs/model/field.md",
    ),
    word(
        &["bufferbloat", "bloat", "aqm"],
        "Too much waits in a queue. `contend new bufferbloat` is an example; disciplines against it are `fq_codel`, \
            `cake`, `codel`, `pie`, `airtime`.",
        &["fq_codel", "cake", "queue.delay"],
        "docs/guide-access-point.md",
    ),
    word(
        &["wifi4", "80211n", "ht"],
        "802.11n, HT: `standard = \"802.11n\"`.",
        &["802.11n", "wifi.mcs", "wifi.ampdu"],
        "docs/model/phy.md",
    ),
    word(
        &["wifi5", "80211ac", "vht"],
        "802.11ac, VHT: `standard = \"802.11ac\"`.",
        &["802.11ac", "wifi.mcs", "wifi.ampdu"],
        "docs/model/phy.md",
    ),
    word(
        &["wifi6", "wifi6e", "80211ax", "he"],
        "802.11ax, HE for one user: `standard = \"802.11ax\"`; `contend new home-wifi6` is an example.",
        &["802.11ax", "wifi.mcs", "wifi.ampdu"],
        "docs/guide-wifi-6.md",
    ),
    word(
        &["wifi7", "80211be", "eht"],
        "802.11be, EHT for one user on one link: `standard = \"802.11be\"`.",
        &["802.11be", "wifi.mcs", "wifi.ampdu"],
        "docs/model/phy.md",
    ),
    word(
        &["aggregation", "blockack", "ba", "mpdu"],
        "A-MPDUs (`wifi.ampdu`) are on from 802.11n on, with block acknowledgments; `wifi.amsdu` puts packets into \
            one MPDU.",
        &["wifi.ampdu", "wifi.amsdu", "mpdus"],
        "docs/model/cell.md",
    ),
    word(
        &["minstrel"],
        "`minstrel_ht` is Linux's rate control for 802.11n and later. Minstrel for older rates is not here; `aarf` and \
            `onoe` choose among these.",
        &["minstrel_ht", "aarf", "onoe", "wifi.rate_control"],
        "docs/model/rate-control.md",
    ),
    word(
        &["video", "videocall", "videoconference", "conference"],
        "A video call is a flow of datagrams: `udp = { rate = \"1.5Mbps\", packet = \"1200B\" }`; what its users \
            notice is `delay.p95` and `packet_loss`. `contend new home-wifi6` has one; the traffic `video` has frames \
            of random size, `voip` makes telephone calls.",
        &["flow.udp", "video", "voip", "delay", "packet_loss"],
        "docs/model/traffic-and-loss.md",
    ),
    word(
        &["bbr2", "bbrv3", "bbrv1"],
        "`bbr` is version 1 as in Linux, `bbr3` version 3; version 2 is not here.",
        &["bbr", "bbr3"],
        "docs/model/controllers.md",
    ),
    word(
        &["l4s", "dualpi2", "accecn"],
        "L4S: `prague` is the sender, `dualpi2` the queue, echo = \"accurate\" the feedback; docs/guide-l4s.md says \
            what they give on Wi-Fi. `contend model l4s` has the closed forms.",
        &["prague", "dctcp"],
        "docs/guide-l4s.md",
    ),
    word(
        &["ecn", "mark", "ce"],
        "A queue that marks packets instead of dropping them, and a sender that answers marks (`dctcp`, `jersey`, \
            `bbr3` with `ecn`, ...). The metric `marked` counts them.",
        &["flow.tcp.echo", "dctcp", "red", "fq_codel", "marked"],
        "docs/model/queues.md",
    ),
    word(
        &["roaming", "handover", "handoff", "80211r"],
        "A station that changes its access point: `roam` of a `[[station]]` in a `[field]` with several `[[ap]]`.",
        &["station.roam"],
        "docs/model/field.md",
    ),
    word(
        &["bandwidth", "speed"],
        "`rate` of the air or of a wire is what it can carry; `goodput` is what applications received per second, \
            `throughput` counts IP bytes.",
        &["goodput", "throughput", "wifi.rate"],
        "docs/units.md",
    ),
    word(
        &["jitter", "delayvariation"],
        "The spread of `delay`: `delay.p99 - delay.p50`, or `std(delay)` in an expression.",
        &["delay", "std"],
        "docs/model/measuring.md",
    ),
    word(
        &["fairness", "jainsindex", "jainindex"],
        "Jain's index of the goodput of flows is the metric `jain`; `min(goodput[up]) / max(goodput[up])` is another \
            measure.",
        &["jain"],
        "docs/model/measuring.md",
    ),
    word(
        &["cwnd", "congestionwindow"],
        "The metric `cwnd` is the sender's congestion window in segments.",
        &[],
        "docs/model/tcp.md",
    ),
    word(
        &["mesh", "adhoc", "multihop", "manet"],
        "Stations that forward for each other: a `[field]` with `routing`; `contend new mesh` is an example.",
        &["field.routing", "aodv", "dsdv"],
        "docs/guide-mesh.md",
    ),
    word(
        &["iperf", "iperf3", "netperf", "flent"],
        "`contend run FILE --format iperf3` (or `flent`) prints results in that form; `contend emulate FILE -- iperf3 \
            ...` runs the real program.",
        &[],
        "docs/emulate.md",
    ),
];

/// A name without case, hyphens, underscores and dots.
pub(crate) fn folded(name: &str) -> String {
    name.to_lowercase().replace(['-', '_', '.', ' '], "")
}

/// The explanation of a word; `None` if it is none.
pub(crate) fn explained(name: &str) -> Option<String> {
    let asked = folded(name);
    let w = WORDS.iter().find(|w| w.names.iter().any(|n| *n == asked))?;
    let mut out = format!("{name} (words)\n\n  {}\n", wrapped(&w.text.replace('`', ""), WIDTH, 2));
    let see: Vec<String> = w.see.iter().map(|s| format!("contend explain {s}")).collect();
    if !see.is_empty() || !w.page.is_empty() {
        out.push('\n');
    }
    if !see.is_empty() {
        out += &format!("  See:    {}\n", wrapped(&see.join("; "), WIDTH, 10));
    }
    if !w.page.is_empty() {
        out += &format!("  Page:   {}\n", w.page);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explained;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn words_lead_to_names_and_pages_that_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for w in WORDS {
            for see in w.see {
                assert!(explained(see, &[]).is_ok(), "{}: {see}", w.names[0]);
            }
            assert!(w.page.is_empty() || root.join(w.page).is_file(), "{}: {}", w.names[0], w.page);
        }
    }

    #[test]
    fn each_word_stands_once_and_can_be_found() {
        let mut seen = BTreeSet::new();
        for name in WORDS.iter().flat_map(|w| w.names) {
            assert_eq!(*name, name.to_lowercase(), "{name}");
            assert!(seen.insert(folded(name)), "{name} stands twice");
            assert!(super::explained(name).is_some(), "{name}");
        }
    }

    #[test]
    fn case_hyphens_and_dots_do_not_matter() {
        for (asked, first) in [("Jersey", "jersey (controllers)"), ("FQ-CoDel", "fq_codel (qdiscs)"), ("AQL", "aql")] {
            assert!(explained(asked, &[]).is_ok_and(|text| text.contains(first)), "{asked}");
        }
        assert!(explained("rts", &[]).is_ok_and(|text| text.starts_with("rts (words)")));
        assert!(explained("Wi-Fi 6", &[]).is_ok_and(|text| text.contains("802.11ax")));
    }

    #[test]
    fn a_part_of_names_shows_them() {
        let said = explained("rts_thresh", &[]).unwrap_or_else(|e| e.remedy);
        assert!(said.contains("rts_threshold"), "{said}");
    }
}
