//! The keys about aggregation of `[wifi]`, `[ap]` and `[[station]]`.

use super::Default::{Value, Words};
use super::{Key, Kind, Table, Word, key, word};

#[rustfmt::skip]
static AMPDU: Table = Table {
    heading: "wifi.ampdu",
    doc: "How stations aggregate. An empty table has the limits of the standard; that of a station or access point has \
        those of [wifi].",
    has_members: false,
    keys: &[
        key("bytes", &[Kind::Bytes(1, 15_523_200)],
            Words("the standard's: 65535 B in 802.11n, 1048575 B in ac, 6500631 B in ax, 15523200 B in be"),
            "\"65535B\"", "Most bytes of an A-MPDU."),
        key("mpdus", &[Kind::Whole(1, 1024)], Words("the window"), "16", "Most packets of an A-MPDU."),
        key("duration", &[Kind::PositiveTime], Words("\"5.484ms\""), "\"4ms\"",
            "An A-MPDU ends where the PPDU would last longer; at most 5.484 ms."),
        key("window", &[Kind::Whole(1, 1024)], Words("64 in 802.11n and ac, 256 in ax, 1024 in be"), "64",
            "Packets that may be under way to one receiver: the window of the block acknowledgment."),
        key("density", &[Kind::Time], Words("\"0us\""), "\"8us\"",
            "Minimum MPDU start spacing: the shortest time from the beginning of an MPDU to that of the next in an \
                A-MPDU that this station takes: 0, 0.25, 0.5, 1, 2, 4, 8 or 16 us. Empty delimiters fill the rest."),
        key("reorder_timeout", &[Kind::Word(&[word("never", "It waits until the sender gives it up.")]),
                Kind::PositiveTime], Words("\"never\""), "\"100ms\"",
            "How long a packet that this station has received waits for those before it that are missing; 100ms as in \
                mac80211 of Linux. What comes later is acknowledged and dropped: it counts as given up."),
        key("hw_queue", &[Kind::Whole(0, 64)], Words("1"), "2",
            "A-MPDUs that are made before they are sent, the one that contends included: packets that come later are \
                not added to them. 2 as in ath9k of Linux; 1: an A-MPDU is made when it begins to contend; 0: when it \
                is sent, as in ns-3 (a queue that gives turns to receivers chooses the receiver before)."),
        key("attempts", &[Kind::Word(&[word("never", "It is never given up.")]), Kind::Whole(1, 255)], Words("7"),
            "\"never\"", "Attempts of a packet before it is given up."),
        key("lifetime", &[Kind::Word(&[word("never", "It is never given up.")]), Kind::PositiveTime],
            Words("\"never\""), "\"500ms\"", "A packet is given up when it has waited for this long."),
        key("lifetime_from", &[Kind::Word(&[
                word("queue", "From the time at which the packet came into its queue."),
                word("store", "From the time at which it left the queue for an aggregate, as in ns-3."),
            ])], Words("\"queue\""), "\"store\"", "From when `lifetime` counts."),
        key("msdu_limit", &[Kind::Word(&[
                word("standard", "In 802.11n an MPDU of an A-MPDU has at most 4095 B: 4065 B of A-MSDU."),
                word("ns3", "As large as an A-MSDU alone: 7935 B in 802.11n. ns-3 does not check the 4095 B."),
            ])], Words("\"standard\""), "\"ns3\"", "Most bytes of an A-MSDU in an A-MPDU; a bound of `amsdu`."),
        key("missed", &[Kind::Word(&[
                word("data", "The sender sends the packets again."),
                word("request", "The sender asks for the block acknowledgment first, as in ns-3."),
            ])], Words("\"data\""), "\"request\"", "What follows a block acknowledgment that did not come."),
        key("request_width", &[Kind::Word(&[
                word("data", "That of the data: it is sent as a duplicate in each 20 MHz."),
                word("20MHz", "20 MHz, as in ns-3: data that follow in the same TXOP are no wider."),
            ])], Words("\"data\""), "\"20MHz\"",
            "Width of the request of `missed`; 20MHz goes with neither `rate_control` nor `error_model`."),
        key("addba", &[Kind::Word(&[word("off", "A-MPDUs need no agreement.")]), Kind::PositiveTime], Words("\"off\""),
            "\"1s\"",
            "A-MPDUs to a receiver need an agreement for each category: an ADDBA request and its response. The sender \
                repeats the request when no response has come for this long: 1s in Linux, 1ms in ns-3."),
    ],
};

pub(super) const AMPDU_KINDS: &[Kind] =
    &[Kind::Word(&[word("off", "Each frame carries one packet.")]), Kind::Table(&AMPDU)];
pub(super) const AMSDU_KINDS: &[Kind] =
    &[Kind::Word(&[word("off", "Each MPDU carries one packet.")]), Kind::Bytes(1, 11_398)];

/// Aggregation of one station.
#[rustfmt::skip]
pub(super) const OWN_AMPDU: Key = key("ampdu", AMPDU_KINDS,
    Words("that of [wifi], as far as the station's standard has it"), "{}",
    "A-MPDUs that this station sends and takes. Between two stations an A-MPDU has at most the bytes and the window of \
        both, and `density` and `reorder_timeout` of the receiver; all other limits are the sender's. Missing keys are \
        those of [wifi].");
#[rustfmt::skip]
pub(super) const OWN_AMSDU: Key = key("amsdu", AMSDU_KINDS,
    Words("that of [wifi], as far as the station's standard has it"), "\"off\"",
    "Most bytes of an A-MSDU that this station sends and takes.");
#[rustfmt::skip]
pub(super) const OWN_MAC_QUEUE: Key = key("mac_queue", &[Kind::Amount], Words("that of [wifi]"), "\"500p\"",
    "Packets below a queue of this station; needs `ampdu` or `amsdu`.");

const AQL_KINDS: &[Kind] = &[Kind::Word(NO_LIMIT), Kind::Table(&AQL)];
const NO_LIMIT: &[Word] = &[word("off", "There is no limit.")];

#[rustfmt::skip]
pub(super) const AQL_KEY: Key = key("aql", AQL_KINDS, Value("\"off\""), "{}",
    "The airtime queue limit of Linux: the packets that are below the queue, and not yet acknowledged, may need so \
        much airtime; needs `ampdu` or `amsdu`.");

#[rustfmt::skip]
static AQL: Table = Table {
    heading: "aql of [ap] or [[station]]",
    doc: "The airtime queue limit. An empty table has the limits of Linux. A queue that gives turns to receivers \
        (`airtime`, `vfq`, ...) has the limits of each receiver; the packets of another queue count as those of one.",
    has_members: false,
    keys: &[
        key("low", &[Kind::PositiveTime], Value("\"5ms\""), "\"2ms\"",
            "Airtime of the packets to one receiver, in one category, that may always be below the queue."),
        key("high", &[Kind::PositiveTime], Value("\"12ms\""), "\"20ms\"",
            "The same while the packets to all receivers need less than `total`."),
        key("total", &[Kind::PositiveTime], Value("\"24ms\""), "\"8ms\"",
            "Airtime of the packets to all receivers above which each has only `low`."),
    ],
};
