//! The keys of the file itself and of the tables that describe a network, a model or contention.

use super::Default::{Required, Value, Words};
use super::aggregation::{AMPDU_KINDS, AMSDU_KINDS, AQL_KEY, OWN_AMPDU, OWN_AMSDU, OWN_MAC_QUEUE};
use super::common::{COUNT, LOSS, NONE, QUEUE};
use super::flow::FLOW;
use super::judging::{CHECK, CLAIM, FIGURE, PROGRAM, READINGS, SEARCH, TEST};
use super::wire::{LINK, WIRE};
use super::{Family, Key, Kind, Table, key, word};

/// The keys before the tables, and the tables themselves.
#[rustfmt::skip]
pub static FILE: Table = Table {
    heading: "the file",
    doc: "An experiment: what the network is, what is varied, what must hold and what is drawn. The keys come before \
        the tables.",
    has_members: false,
    keys: &[
        key("title", &[Kind::Text], Words("the name of the file"), "\"Two uploads starve ten downloads\"",
            "One line that names the experiment."),
        key("cite", &[Kind::Text], Value("\"\""), "\"Keceli, Inan, Ayanoglu 2008, Fig. 4\"",
            "The paper and figure that the experiment repeats."),
        key("notes", &[Kind::Text], Value("\"\""), "\"The paper does not state the window.\"",
            "Remarks of the author; the report shows them."),
        key("dials", &[Kind::List(&Kind::KeyPath)], Words("only parameters and swept keys"),
            "[\"ap.queue\", \"flow.0.count\"]",
            "Keys that `contend live` shows as dials besides `[param]` and `[sweep]`."),
        key("duration", &[Kind::PositiveTime], Words("must be given for a network, and only for a network"),
            "\"70s\"", "Simulated time of a run, warm-up included."),
        key("warmup", &[Kind::Time], Value("\"0s\""), "\"10s\"",
            "Time at the beginning of a run that is not measured; shorter than `duration`."),
        key("seeds", &[Kind::Form("1..5", "each whole number of the range"), Kind::Form("7", "one seed"),
            Kind::List(&Kind::Whole(0, u64::MAX)), Kind::Table(&SEEDS)], Value("\"1\""), "\"1..5\"",
            "One run of each point for each seed."),
        key("decide", &[Kind::Whole(2, 100_000), Kind::Table(&DECIDE)],
            Words("undecided claims and checks get no more seeds"), "200",
            "Undecided claims and checks get more seeds, up to this number at each point; also --decide."),
        key("sample", &[Kind::PositiveTime], Words("1s in the report; metrics that need a time series must have it"),
            "\"100ms\"", "Step of the time series."),
        key("show", &[Kind::Expression, Kind::List(&Kind::Expression)],
            Words("goodput, fairness, round-trip time and loss"), "[\"delay.p99[call]\", \"goodput[up]\"]",
            "Metrics that the tables show. Of a metric that is a list, its mean."),
        key("stack", &[Kind::Word(&[
                word("linux", "That of a Linux of today: CUBIC in its integers (`form = \"linux\"`) with its HyStart, \
                    slow start without a limit (`abc = 0`), delayed and quick acknowledgments, SACK with RACK and tail \
                    loss probes, timestamps, a timeout of 200 ms at least, TCP Small Queues in stations."),
                word("rfc", "That of the RFCs and of ns-2: NewReno, an acknowledgment for each segment, slow start by \
                    RFC 5681, the recovery of the variant, a timeout of 1 s at least."),
            ])], Value("\"linux\""), "\"rfc\"", "Whose TCP is meant where a flow says nothing."),
        key("wifi", &[Kind::Table(&WIFI)], Words("no cell: wires only"), "{ standard = \"802.11g\" }",
            "An IEEE 802.11 cell with its timing and its rules."),
        key("field", &[Kind::Table(&FIELD)], Words("a cell, in which all stations hear each other"),
            "{ range = \"250m\", sense = \"550m\" }", "Stations at positions, of which not all hear each other."),
        key("wall", &[Kind::Tables(&WALL)], Words("no walls"),
            "[{ from = [\"5m\", \"0m\"], to = [\"5m\", \"8m\"], loss = \"5dB\" }]",
            "Walls of a [field], which weaken the frames that cross them."),
        key("ap", &[Kind::Table(&AP), Kind::Tables(&AP)],
            Words("an access point with the rule of [wifi]; none in a [field]"), "{ queue = \"fq_codel\" }",
            "The access point. `ap` is also its name in [[link]] and in metrics. In a [field] there may be several: \
            write [[ap]] for each."),
        key("station", &[Kind::Tables(&STATION)], Words("only the stations that flows create"),
            "[{ name = \"slow\", rate = \"6Mbps\" }]", "Stations with names."),
        key("flow", &[Kind::Tables(&FLOW)], Words("at least one must be given for a network"),
            "[{ from = \"server\", to = \"station\", tcp = \"cubic\" }]", "Data from one place to another."),
        key("wire", &[Kind::Table(&WIRE)], Words("a wire of 1 ms for each flow, with 100 Mb/s before 802.11n"),
            "{ delay = \"20ms\" }",
            "The link between the access point and the server of each flow."),
        key("link", &[Kind::Tables(&LINK)], Words("only the wires that flows create"),
            "[{ from = \"router\", to = \"ap\" }]",
            "Cables between two nodes, or between a node and the access point."),
        key("node", &[Kind::Tables(&NODE)], Words("only the hosts that flows create"), "[{ name = \"router\" }]",
            "Wired hosts and routers."),
        key("param", &[Kind::Map("of names and numbers", &[Kind::Quantity, Kind::Text])], Words("no names"),
            "{ rounds = 5 }", "Named numbers for expressions like \"= 2 * rounds\", for `case` and for sweeps. A \
            number may use those before it, or be the name of one. A parameter of a `case` may be a word."),
        key("contention", &[Kind::Table(&CONTENTION)], Words("a network is simulated"),
            "{ stations = 10, rule = \"dcf\" }", "Saturated stations without a network."),
        key("model", &[Kind::Table(&MODEL)], Words("a network is simulated"),
            "{ name = \"padhye.rate\", p = 0.01, rtt = \"100ms\", t0 = \"1s\" }",
            "Closed forms instead of a simulation."),
        key("sweep", &[Kind::Table(&SWEEP)], Words("one point"), "{ \"flow.0.window\" = [\"1p\", \"2p\"] }",
            "Key paths with the values to try; each combination is a point."),
        key("claim", &[Kind::Tables(&CLAIM)], Words("none"),
            "[{ id = \"H3\", metric = \"jain\", expect = { at_least = 0.9 } }]",
            "Statements of a paper, each with the recorded verdict."),
        key("readings", &[READINGS], Words("none"), "{ winf = { printed = { \"flow.0.window\" = \"1p\" } } }",
            "Ways to read the paper that several claims share."),
        key("check", &[Kind::Tables(&CHECK)], Words("none"),
            "[{ what = \"fair\", metric = \"jain\", expect = { at_least = 0.9 } }]",
            "Targets of yours, answered with met or not met."),
        key("figure", &[Kind::Tables(&FIGURE)], Words("the figures of every report"),
            "[{ x = \"flow\", y = \"goodput\" }]",
            "Charts in the report."),
        key("test", &[Kind::Table(&TEST)], Words("no test of a suite"), "{ fidelity = \"adapted\" }",
            "What the file is as a test of a suite, for `contend evaluate`."),
        key("search", &[Kind::Table(&SEARCH)], Words("none"),
            "{ key = \"flow.0.packet\", from = \"500B\", to = \"600B\", until = \"jain > 0.5\" }",
            "Finds the value of a key at which a condition begins to hold."),
        key("program", &[Kind::Tables(&PROGRAM)], Words("none"),
            "[{ in = \"server\", run = \"iperf3 -s\" }]",
            "Programs that `contend emulate` starts in hosts."),
    ],
};

const WINDOWS: &[Kind] = &[Kind::Whole(0, 32_767)];
const ACCESS: &[Kind] = &[Kind::Algorithm(Family::Access)];
const DECIBELS: Kind = Kind::Form("25dB", "-20dB to 100dB, or an expression");
const RATE_CONTROL: &[Kind] = &[Kind::Algorithm(Family::RateControls)];
const FADING: &[Kind] = &[Kind::Algorithm(Family::Fading)];
#[rustfmt::skip]
const BUSY_SLOT: Key = key("busy_slot", &[Kind::Word(&[
        word("frozen", "A busy slot does not count as a backoff slot, as in IEEE 802.11."),
        word("counted", "A busy slot counts as one backoff slot, as in Bianchi's model."),
    ])], Value("\"frozen\""), "\"counted\"", "Whether a busy slot counts as a backoff slot.");

const STANDARDS: &[Kind] = &[Kind::Word(&[
    word("802.11", "IEEE 802.11-1997, DSSS: 1 and 2 Mbps."),
    word("802.11b", "IEEE 802.11b-1999, CCK: 1 to 11 Mbps."),
    word("802.11g", "IEEE 802.11g-2003, OFDM at 2.4 GHz: 6 to 54 Mbps."),
    word("802.11a", "IEEE 802.11a-1999, OFDM at 5 GHz: 6 to 54 Mbps."),
    word("802.11n", "IEEE 802.11n-2009, HT: up to 40 MHz, 4 streams and 600 Mbps."),
    word("802.11ac", "IEEE 802.11ac-2013, VHT at 5 GHz: up to 160 MHz, 8 streams and 6.9 Gbps."),
    word("802.11ax", "IEEE 802.11ax-2021, HE for one user: up to 160 MHz, 8 streams and 9.6 Gbps."),
    word("802.11be", "IEEE 802.11be-2024, EHT for one user on one link: up to 320 MHz, 8 streams and 23 Gbps."),
])];
#[rustfmt::skip]
const WIDTH: Key = key("width", &[Kind::Word(&[
        word("20MHz", "Every standard."),
        word("40MHz", "From 802.11n on."),
        word("80MHz", "From 802.11ac on, not at 2.4 GHz."),
        word("160MHz", "From 802.11ac on, not at 2.4 GHz."),
        word("320MHz", "802.11be at 6 GHz."),
    ])], Words("that of [wifi]"), "\"80MHz\"", "Width of the channel of data frames, from 802.11n on.");
#[rustfmt::skip]
const STREAMS: Key = key("streams", &[Kind::Whole(1, 8)], Words("that of [wifi]"), "2",
    "Spatial streams, from 802.11n on; there at most 4.");
#[rustfmt::skip]
const MCS: Key = key("mcs", &[Kind::Whole(0, 31)], Words("that of [wifi]"), "7",
    "Modulation and code rate: 0 to 7 in 802.11n, to 9 in 802.11ac, to 11 in 802.11ax and to 13 in 802.11be. In \
        802.11n 8 to 31 count the streams too: 15 is 7 with two streams.");
#[rustfmt::skip]
const GUARD: Key = key("guard", &[Kind::PositiveTime], Words("that of [wifi]"), "\"1600ns\"",
    "Guard interval: 400ns or 800ns in 802.11n and 802.11ac; 800ns, 1600ns or 3200ns from 802.11ax on.");
#[rustfmt::skip]
const FEC: Key = key("fec", &[Kind::Word(&[
        word("bcc", "Convolutional code: tail bits."),
        word("ldpc", "Low-density parity-check code: no tail bits, and an extra symbol in some short frames."),
    ])], Words("that of [wifi]"), "\"ldpc\"",
    "Error-correcting code. From 802.11ax on, the standard requires ldpc above 20 MHz, MCS 9 or 4 streams.");
#[rustfmt::skip]
const PACKET_PADDING: Key = key("packet_padding", &[Kind::Time], Words("that of [wifi]"), "\"16us\"",
    "Nominal packet padding from 802.11ax on: 0us, 8us, 16us, in 802.11be also 20us. Frames end with a packet \
        extension of up to this time.");
#[rustfmt::skip]
const EXTENDED_RANGE: Key = key("extended_range", &[Kind::Flag], Words("that of [wifi]"), "true",
    "Whether data frames have the extended range format of 802.11ax (HE ER SU): 20 MHz, one stream, MCS 0 to 2.");

#[rustfmt::skip]
static WIFI: Table = Table {
    heading: "[wifi]",
    doc: "An IEEE 802.11 cell: all stations hear each other and the access point. Values that the file does not give \
        are those of the standard.",
    has_members: false,
    keys: &[
        key("standard", STANDARDS, Required, "\"802.11g\"", "The standard, which gives timing and rates."),
        key("band", &[Kind::Word(&[
                word("2.4GHz", "SIFS of 10 us, and a signal extension of 6 us after OFDM frames."),
                word("5GHz", "SIFS of 16 us."),
                word("6GHz", "As 5 GHz; 802.11ax and 802.11be."),
            ])], Words("that of the standard, and 5GHz from 802.11n on"), "\"5GHz\"", "The frequency band."),
        key("rate", &[Kind::Rate], Words("the standard's highest"), "\"24Mbps\"",
            "Data rate of stations and access point up to 802.11g; one of the standard's rates."),
        Key { default: Words("\"20MHz\" from 802.11n on"), ..WIDTH },
        Key { default: Words("1 from 802.11n on"), ..STREAMS },
        Key { default: Words("the highest at this width and number of streams, from 802.11n on"), ..MCS },
        Key { default: Words("\"800ns\" from 802.11n on"), ..GUARD },
        Key { default: Words("\"ldpc\" where the standard requires it, else \"bcc\""), ..FEC },
        Key { default: Words("\"0us\""), ..PACKET_PADDING },
        Key { default: Words("false"), ..EXTENDED_RANGE },
        key("basic", &[Kind::Rate, Kind::List(&Kind::Rate)], Words("the standard's"), "[\"6Mbps\", \"12Mbps\"]",
            "Basic rates, used for ACK and CTS."),
        key("access", ACCESS, Value("\"dcf\""), "\"edca\"", "Rule of medium access of stations and access point."),
        key("queue", QUEUE, Value("{ kind = \"fifo\", limit = \"100p\" }"), "{ kind = \"fifo\", limit = \"50p\" }",
            "Queue of each station."),
        key("loss", LOSS, Value("\"none\""), "{ kind = \"bernoulli\", p = \"1%\" }",
            "Loss on the air of each station, besides collisions."),
        key("rate_control", RATE_CONTROL, Value("\"fixed\""), "\"minstrel_ht\"",
            "What chooses the rates of a station and of the access point's frames to it: all MCS at `width` and \
                `guard` with up to `streams`; without MCS all rates of OFDM, or of DSSS and CCK."),
        key("snr", &[DECIBELS], Words("no errors; in a [field] with `error_model` that of the distance"),
            "\"25dB\"", "SNR of the channel of each station, in both directions: what an error model reads."),
        key("error_model", &[Kind::Algorithm(Family::ErrorModels)], Words("\"nist\" with `snr`, else none"),
            "\"nist\"",
            "How many MPDUs are lost at an SNR. In a [field] it makes the SNR of each frame follow from distance, \
                `tx_power` and `noise_figure`. The model `table` has a `file`."),
        key("fading", FADING, Value("\"none\""), "{ kind = \"rayleigh\" }",
            "How the SNR of the channel of each station changes with time."),
        key("preamble", &[Kind::Word(&[
                word("long", "The preamble and header of 192 us."),
                word("short", "The preamble and header of 96 us."),
            ])], Value("\"long\""), "\"short\"", "Preamble of DSSS and CCK frames."),
        key("durations", &[Kind::Word(&[
                word("standard", "As in IEEE 802.11; DSSS and CCK frames end with a whole microsecond."),
                word("exact", "DSSS and CCK frames end with their last bit, as in ns-2."),
                word("ns3", "Frames with MCS last as long as in ns-3.44, which departs from the standard."),
            ])], Value("\"standard\""), "\"exact\"", "How the durations of frames are computed."),
        key("slot", &[Kind::PositiveTime], Words("the standard's"), "\"9us\"", "Slot time."),
        key("sifs", &[Kind::PositiveTime], Words("the standard's"), "\"10us\"", "Short inter-frame space."),
        key("difs", &[Kind::PositiveTime], Words("SIFS plus two slots"), "\"50us\"", "DCF inter-frame space."),
        key("eifs", &[Kind::PositiveTime], Words("computed: SIFS, DIFS and an ACK at the lowest basic rate"),
            "\"364us\"", "Extended inter-frame space, after a frame that was not decoded."),
        key("ack_timeout", &[Kind::PositiveTime], Words("computed: SIFS, slot and the ACK's preamble"), "\"300us\"",
            "Time that a sender waits for an ACK."),
        key("signal_extension", &[Kind::Time], Words("6 us from 802.11g on at 2.4 GHz, else none"), "\"6us\"",
            "Idle time after each OFDM frame at 2.4 GHz, with or without MCS."),
        key("llc", &[Kind::Bytes(0, 64)], Value("\"8B\""), "\"0B\"", "Bytes of LLC/SNAP before each IP packet."),
        key("cwmin", WINDOWS, Words("the standard's"), "31", "Smallest contention window, in slots."),
        key("cwmax", WINDOWS, Words("the standard's"), "1023", "Largest contention window, in slots."),
        key("retry_short", &[Kind::Whole(1, 255)], Value("7"), "7",
            "Attempts of a frame without RTS before it is dropped."),
        key("retry_long", &[Kind::Whole(1, 255)], Value("4"), "4",
            "Attempts of a frame with RTS before it is dropped."),
        key("rts_threshold", &[Kind::Word(&[word("never", "No RTS.")]), Kind::Bytes(0, 65_535)], Value("\"never\""),
            "\"500B\"", "Smallest packet that is sent with RTS."),
        key("txop_protection", &[Kind::Word(&[
                word("single", "The Duration field of a frame covers its exchange, and the gap before the next one."),
                word("multiple", "It covers the rest of the TXOP, as in ns-3; a holder that has nothing more to send \
                    ends the TXOP with a CF-End, if there is time for one."),
            ])], Value("\"single\""), "\"multiple\"",
            "What the frames of a TXOP with a limit reserve (IEEE 802.11-2020 9.2.5.2)."),
        key("preamble_detection", &[Kind::Time], Value("\"0us\""), "\"4us\"",
            "Time from the start of a frame until other stations sense it, shorter than a slot: those whose backoffs \
                end within it collide although their slots are not aligned. 4us in ns-3; not in a [field]."),
        key("ampdu", AMPDU_KINDS, Words("{} from 802.11n on, \"off\" before"), "{ missed = \"request\" }",
            "Frames with several packets (A-MPDU) and block acknowledgments; from 802.11n on."),
        key("amsdu", AMSDU_KINDS, Value("\"off\""), "\"7935B\"",
            "Most bytes of an A-MSDU: packets that share an MPDU, in an A-MPDU or alone; from 802.11n on. At most \
                7935B in 802.11n, where A-MPDUs have 4065B, and in 802.11ax at 2.4 GHz; elsewhere 11398B."),
        key("mac_queue", &[Kind::Amount], Words("two windows, at least \"128p\", with ampdu or amsdu"), "\"500p\"",
            "Packets below a queue of a sender, for all its receivers: they have been put into A-MPDUs, or wait for \
                it. A sender with categories has so many below the queue of each. Needs `ampdu` or `amsdu`."),
        key("protection", &[Kind::Word(&[
                word("none", "No protection."),
                word("cts-to-self", "The sender sends a CTS to itself before each such frame."),
                word("rts-cts", "RTS and CTS are sent before each such frame."),
            ])], Value("\"none\""), "\"cts-to-self\"",
            "Frames that keep older stations silent during frames that they cannot decode: in 802.11g all frames, in \
                later standards those with MCS."),
        key("protection_rate", &[Kind::Rate], Words("\"11Mbps\" in 802.11g, \"24Mbps\" in later standards"),
            "\"5.5Mbps\"", "Rate of the frames that protect; needs `protection`."),
        BUSY_SLOT,
        key("idle_access", &[Kind::Word(&[
                word("immediate", "The station sends after DIFS without backoff, as in IEEE 802.11."),
                word("draw", "The station draws a backoff first."),
            ])], Value("\"immediate\""), "\"draw\"", "How a packet is sent that arrives while the medium is idle."),
        key("after_collision", &[Kind::Word(&[
                word("eifs", "Stations that did not send wait EIFS, as in IEEE 802.11."),
                word("eifs_all", "As eifs; of the stations whose frames collided, those with the shorter frames also \
                    wait EIFS, as in ns-2."),
                word("eifs_nav", "The NAV is set for EIFS, and the usual inter-frame space follows, as in ns-2; only \
                    in a [field]."),
                word("difs", "All stations wait the usual inter-frame space."),
            ])], Value("\"eifs\""), "\"difs\"", "Inter-frame space after a collision."),
    ],
};

/// The keys of a place in a field.
#[rustfmt::skip]
const POSITION: Key = key("position", &[Kind::Word(&[
        word("random", "A uniform point of the area, which each seed draws anew."),
    ]), Kind::List(&Kind::Length)], Words("must be given in a [field], unless the station moves or links are given"),
    "[\"100m\", \"500m\"]", "The place in a [field]: metres to the east and to the north; the first if it moves.");

/// The observers of a station, access point or field.
#[rustfmt::skip]
const OBSERVE: Key = key("observe", &[Kind::List(&Kind::Algorithm(Family::Observers))],
    Words("that of [field]; there none"),
    "[\"rt_winf\", { kind = \"rt_winf\", cap_def = \"literal\", name = \"printed\" }]",
    "Observers of the air, only in a [field]. The queue of the station and the senders there read the first one. \
        `name` tells two of a kind apart.");

#[rustfmt::skip]
static GRID: Table = Table {
    heading: "grid",
    doc: "The places of the members of a [[station]] in rows.",
    has_members: true,
    keys: &[
        key("columns", &[Kind::Whole(1, 100_000)], Required, "4", "Members in a row."),
        key("spacing", &[Kind::Length], Required, "\"200m\"", "Distance between neighbours in a row and in a column."),
        key("at", &[Kind::List(&Kind::Length)], Words("(0m, 0m)"), "[\"100m\", \"100m\"]",
            "Place of the first member."),
    ],
};

#[rustfmt::skip]
static FIELD: Table = Table {
    heading: "[field]",
    doc: "Stations at positions. A frame is heard, and disturbs others, only near its transmitter. Without [ap] all \
        stations are equal and forward packets for each other.",
    has_members: false,
    keys: &[
        key("area", &[Kind::List(&Kind::Length)], Words("no limit"), "[\"1000m\", \"1000m\"]",
            "Width and height; all stations are inside."),
        key("range", &[Kind::Length], Value("\"250m\""), "\"250m\"", "A frame is decoded up to this distance."),
        key("sense", &[Kind::Length, Kind::Form("-82dBm",
            "the power that arrives there, by `tx_power` and `propagation`")], Words("2.2 times `range`"), "\"550m\"",
            "A frame is sensed, and disturbs others, up to this distance."),
        key("propagation", &[Kind::Algorithm(Family::Propagation)], Value("\"two_ray\""),
            "{ kind = \"log_distance\", exponent = 3.5 }",
            "How the power falls with the distance; for `capture` and `error_model`."),
        key("capture", &[Kind::Word(&[word("none", "Frames that overlap at a receiver are lost.")]),
            Kind::Form("10dB", "the first frame is decoded if it is this much stronger than each later one"),
            Kind::Table(&CAPTURE)], Value("\"10dB\""), "\"none\"",
            "Which frame is decoded when several overlap at a receiver."),
        key("adjacent", &[Kind::Word(&[
                word("none", "No frame of another channel is heard; channels that overlap are refused."),
                word("mask", "What passes of the spectrum, by the transmit mask of the standard."),
            ]), Kind::List(&Kind::Form("10dB", "0dB to 200dB: what a frame loses on the way into the next channel, the \
                one after that, and so on; beyond the list nothing arrives"))], Value("\"none\""),
            "[\"1.1dB\", \"2.6dB\", \"5dB\", \"10dB\", \"31dB\"]",
            "What arrives of frames of other channels: energy, which makes the medium busy from `energy` on, and \
                interference. Needs a `channel` of each [[ap]]. At 2.4 GHz the next channel is 5 MHz away, \
                otherwise the width of data frames."),
        key("energy", &[Kind::Form("-62dBm", "-150dBm to 30dBm")], Value("\"-62dBm\""), "\"-70dBm\"",
            "The medium is busy while frames of other channels arrive with this power together (IEEE 802.11-2020 \
                17.3.10.6); needs `adjacent`."),
        key("tx_power", &[Kind::Form("16dBm", "-50dBm to 60dBm")], Value("\"16dBm\""), "\"20dBm\"",
            "Transmitted power of all stations, for the SNR, for a `sense` in dBm and for `energy`; needs an \
                `error_model`, such a `sense`, or `adjacent`."),
        key("noise_figure", &[Kind::Form("7dB", "0dB to 50dB")], Value("\"7dB\""), "\"6dB\"",
            "Noise of all receivers beyond -174 dBm/Hz, for the SNR; needs an `error_model`."),
        key("shadowing", &[Kind::Form("6dB", "the standard deviation; each pair of stations has its own value"),
            Kind::Table(&SHADOWING)], Words("none"), "{ deviation = \"4dB\", draw = \"frame\" }",
            "A random part of the path loss. `range` and `sense` are then the distances without it."),
        key("links", &[Kind::List(&Kind::List(&Kind::Text)), Kind::Tables(&FIELD_LINK)], Words("those of distances"),
            "[[\"a\", \"b\"], [\"b\", \"c\"]]",
            "Who hears whom, instead of distances: pairs that decode each other, or tables. Stations without a link \
                do not hear each other at all, and need no position."),
        key("propagation_delay", &[Kind::Flag], Value("true"), "false",
            "Whether frames travel with the speed of light; otherwise they arrive at once."),
        key("nav_reset", &[Kind::Flag], Value("true"), "false",
            "Whether the reservation of an RTS lapses if no frame follows (IEEE 802.11-2016 10.3.2.4); not in ns-2."),
        key("nav_rounding", &[Kind::Flag], Value("false"), "true",
            "Whether Duration fields are rounded to whole microseconds, half up, as in ns-2."),
        key("slot_rounding", &[Kind::Flag], Value("false"), "true",
            "Whether a pausing backoff counts its slots in seconds in floating point, as in ns-2: one that ends at the \
                instant when a frame arrives is lost in about half of the cases."),
        key("cts", &[Kind::Word(&[
                word("nav", "A station answers an RTS if no other exchange has reserved the medium (IEEE 802.11)."),
                word("idle", "It must sense nothing, and no NAV may be set, when it would send the CTS; so must the \
                    sender when it would send the data after it; as in ns-2."),
            ])], Value("\"nav\""), "\"idle\"", "When a station answers an RTS."),
        key("routing", &[Kind::Word(&[
                word("infrastructure", "Stations send to the access point, which sends on."),
            ]), Kind::Algorithm(Family::Routing)], Words("infrastructure with [ap], else static"),
            "{ kind = \"aodv\", lifetime = \"5s\" }", "How packets find their way."),
        key("arp", &[Kind::Flag], Value("false"), "true",
            "Whether a station asks for a neighbour's address before it sends the first packet there, as in ns-2."),
        key("routing_priority", &[Kind::Flag], Value("false"), "true",
            "Whether routing messages go before all other packets in the queue of a station, as in ns-2."),
        key("link_delay", &[Kind::Time], Value("\"0s\""), "\"25us\"",
            "Time that a packet needs to the queue of its station, and from a receiver upwards; 25us in ns-2."),
        key("observe", &[Kind::List(&Kind::Algorithm(Family::Observers))], Words("none"), "[\"rt_winf\"]",
            "Observers of the air at stations and access points that name none."),
        key("notes_on_air", &[Kind::Flag], Value("false"), "true",
            "Whether the note of an observer makes every ACK 4 B longer; otherwise it travels out of band."),
        key("sinr", &[Kind::Flag], Value("false"), "true",
            "Whether frames that are too weak to corrupt another one (`capture`) lower the SNR of each MPDU that they \
                overlap; needs an `error_model`."),
    ],
};

#[rustfmt::skip]
static SHADOWING: Table = Table {
    heading: "shadowing",
    doc: "A random part of the path loss: a normal variable in decibels, cut at three standard deviations.",
    has_members: false,
    keys: &[
        key("deviation", &[Kind::Form("6dB", "decibels, up to 20dB")], Required, "\"6dB\"",
            "Its standard deviation."),
        key("draw", &[Kind::Word(&[
                word("link", "Each pair of stations has one value for the whole run."),
                word("frame", "Each frame has its own value at each receiver, as in ns-2."),
            ])], Value("\"link\""), "\"frame\"", "When it is drawn."),
    ],
};

#[rustfmt::skip]
static FIELD_LINK: Table = Table {
    heading: "links",
    doc: "A link between two stations of a field. A later entry replaces an earlier one between the same stations.",
    has_members: false,
    keys: &[
        key("from", &[Kind::Text], Required, "\"a\"", "A station, or members of a group: \"sta[1..4]\"."),
        key("to", &[Kind::Text], Required, "\"b\"", "A station, or members of a group."),
        key("decode", &[Kind::Flag], Value("true"), "false", "Whether frames are decoded; otherwise only sensed."),
        key("loss", &[Kind::Form("70dB", "the path loss")], Value("\"0dB\""), "\"70dB\"",
            "The path loss, for `capture` and `error_model`; for `capture` only differences count."),
        key("delay", &[Kind::Time], Value("\"0s\""), "\"1us\"", "The time that a frame needs to arrive."),
        key("both", &[Kind::Flag], Value("true"), "false", "Whether the link goes both ways."),
    ],
};

#[rustfmt::skip]
static WALL: Table = Table {
    heading: "[[wall]]",
    doc: "A straight wall in a [field], seen from above. Each wall on the straight way between two stations adds its \
        loss to their path loss.",
    has_members: false,
    keys: &[
        key("from", &[Kind::List(&Kind::Length)], Required, "[\"5m\", \"0m\"]",
            "One end: metres to the east and to the north."),
        key("to", &[Kind::List(&Kind::Length)], Required, "[\"5m\", \"8m\"]", "The other end."),
        key("loss", &[Kind::Form("5dB", "0dB to 200dB, or an expression")], Required, "\"5dB\"",
            "What a frame loses that crosses it."),
    ],
};

#[rustfmt::skip]
static CAPTURE: Table = Table {
    heading: "capture",
    doc: "When a frame is decoded although others overlap it.",
    has_members: false,
    keys: &[
        key("ratio", &[Kind::Form("10dB", "a ratio of powers in decibels"), Kind::Number], Required, "\"10dB\"",
            "How much stronger the frame must be."),
        key("frame", &[Kind::Word(&[
                word("first", "Only the frame that began first can be decoded."),
                word("strongest", "A later frame that is strong enough is decoded instead."),
            ])], Value("\"first\""), "\"strongest\"", "Which frame can be decoded."),
        key("interference", &[Kind::Word(&[
                word("strongest", "Each other frame is compared alone."),
                word("sum", "The powers of the other frames add up."),
            ])], Value("\"strongest\""), "\"sum\"", "With what its power is compared."),
    ],
};

#[rustfmt::skip]
static AP: Table = Table {
    heading: "[ap]",
    doc: "The access point: its queue towards the stations, its control blocks and its access rule. With several, \
        each has an [[ap]] of its own.",
    has_members: false,
    keys: &[
        key("name", &[Kind::Text], Words("\"ap\"; must be given in [[ap]]"), "\"left\"",
            "The name in stations, links, metrics and results; only in [[ap]]."),
        key("queue", QUEUE, Value("{ kind = \"fifo\", limit = \"100p\" }"), "\"fq_codel\"",
            "Queue discipline. With `ack_filter = true` in its table a new acknowledgment replaces the waiting one of \
                its flow before any discipline sees it."),
        OWN_AMPDU,
        OWN_AMSDU,
        OWN_MAC_QUEUE,
        AQL_KEY,
        key("control", &[Kind::Word(NONE), Kind::Algorithm(Family::Controls),
            Kind::List(&Kind::Algorithm(Family::Controls))], Value("\"none\""), "[{ kind = \"fcwa\" }]",
            "Control blocks that see and may change packets, in the order in which packets pass them."),
        key("access", ACCESS, Words("that of [wifi]"), "{ kind = \"dcf\", cwmin = 15 }",
            "Rule of medium access of the access point."),
        key("beacon", &[Kind::Word(NONE), Kind::Table(&BEACON)], Value("\"none\""), "{}",
            "Its beacons: frames for all at the lowest basic rate, without acknowledgment."),
        POSITION,
        key("channel", &[Kind::Whole(1, 233)], Words("all access points are on one channel"), "36",
            "The channel of the access point and its stations, by its number in the band; needs a [field], and is \
                given to all access points or none. Stations on different channels do not hear each other, but for \
                `field.adjacent`."),
        OBSERVE,
    ],
};

#[rustfmt::skip]
static BEACON: Table = Table {
    heading: "ap.beacon",
    doc: "The beacons of an access point. They contend by its access rule, with EDCA as voice, with a backoff of their \
        own. A beacon that is due while the one before still waits is left out.",
    has_members: false,
    keys: &[
        key("interval", &[Kind::PositiveTime], Words("102.4 ms"), "\"204.8ms\"",
            "From one beacon to the next; at least 1 ms."),
        key("size", &[Kind::Bytes(40, 2332)], Words("200 B"), "\"300B\"",
            "Size of the whole frame, with MAC header and FCS."),
        key("offset", &[Kind::Time], Words("random within the first interval"), "\"0s\"",
            "When the first beacon is due."),
    ],
};

#[rustfmt::skip]
static STATION: Table = Table {
    heading: "[[station]]",
    doc: "One station, or `count` stations, with a name that flows can use. A flow whose end is \"station\" creates \
        its own instead.",
    has_members: true,
    keys: &[
        key("name", &[Kind::Text], Required, "\"slow\"", "The name in flows, metrics and results."),
        COUNT,
        key("ap", &[Kind::Text], Words("the one whose signal is strongest"), "\"left\"", "Its access point."),
        key("standard", STANDARDS, Words("that of [wifi]"), "\"802.11g\"",
            "The standard of the station: that of [wifi], or an older one of the same band."),
        key("rate", &[Kind::Rate], Words("that of [wifi]"), "\"6Mbps\"",
            "Data rate up to 802.11g; one of the standard's rates."),
        WIDTH,
        STREAMS,
        MCS,
        GUARD,
        FEC,
        PACKET_PADDING,
        EXTENDED_RANGE,
        key("queue", QUEUE, Words("that of [wifi]; 50 packets in an Ethernet converter"), "\"fq_codel\"",
            "Queue discipline."),
        OWN_AMPDU,
        OWN_AMSDU,
        OWN_MAC_QUEUE,
        AQL_KEY,
        key("loss", LOSS, Words("that of [wifi]"), "{ kind = \"bernoulli\", p = \"1%\" }",
            "Loss on the air, besides collisions."),
        key("access", ACCESS, Words("that of [wifi]"), "\"dcf\"", "Rule of medium access."),
        key("rate_control", RATE_CONTROL, Words("that of [wifi]"), "\"minstrel_ht\"",
            "What chooses the rates of the station and of the access point's frames to it."),
        key("snr", &[DECIBELS], Words("that of [wifi]"), "\"25dB\"", "SNR of its channel, in both directions."),
        key("fading", FADING, Words("that of [wifi]"), "{ kind = \"rayleigh\" }",
            "How the SNR of its channel changes with time."),
        POSITION,
        key("grid", &[Kind::Table(&GRID)], Words("no grid"), "{ columns = 4, spacing = \"200m\" }",
            "Members at the points of a grid, row by row, instead of `position`."),
        key("mobility", &[Kind::Algorithm(Family::Mobility)], Value("\"fixed\""),
            "{ kind = \"random_waypoint\", fastest = 20 }",
            "How it moves in a [field]. Stations with the same movement `file` are its nodes 0, 1, ... in order."),
        key("off", &[Kind::List(&Kind::List(&Kind::Time))], Words("never"), "[[\"50s\", \"150s\"]]",
            "When it is off in a [field]: nobody hears it, and it hears nobody. Pairs of beginning and end."),
        key("roam", &[Kind::Word(NONE), Kind::Table(&ROAM)], Value("\"none\""), "{ threshold = \"-75dBm\" }",
            "When and how it changes its access point in a [field] with several."),
        key("client", &[Kind::Algorithm(Family::Clients)], Words("none: the host's queue feeds the MAC"), "\"usb\"",
            "The client between the host and the MAC."),
        OBSERVE,
    ],
};

#[rustfmt::skip]
static ROAM: Table = Table {
    heading: "station.roam",
    doc: "How a station changes its access point. When the mean power of its own falls below `threshold` it scans, and \
        changes if another one is stronger by `hysteresis`. While it scans and changes it neither sends nor receives.",
    has_members: false,
    keys: &[
        key("threshold", &[Kind::Form("-70dBm", "-150dBm to 30dBm")], Words("-70 dBm, as Apple's iOS"),
            "\"-75dBm\"", "It scans when the mean power of its access point is below this."),
        key("hysteresis", &[Kind::Form("8dB", "0dB to 100dB")], Words("8 dB (Apple's iOS with traffic)"), "\"5dB\"",
            "How much stronger than its own another access point must be."),
        key("interval", &[Kind::PositiveTime], Words("102.4 ms, an interval of beacons"), "\"1s\"",
            "From one look at the power of its access point to the next; at least 1 ms."),
        key("scan", &[Kind::Time], Words("60 ms, for one other channel (mac80211 of Linux)"), "\"240ms\"",
            "How long a scan takes."),
        key("retry", &[Kind::PositiveTime], Words("30 s (the example of `bgscan` of wpa_supplicant)"), "\"5s\"",
            "From a scan that finds no better access point to the next look; at least 1 ms."),
        key("gap", &[Kind::Time], Words("50 ms, what 802.11r is made for"), "\"500ms\"",
            "From the end of a scan until it has the new access point."),
        key("waiting", &[Kind::Word(&[
                word("lost", "They are lost, as when Linux removes a station."),
                word("forwarded", "The old access point sends them to the new one."),
            ])], Words("\"lost\""), "\"forwarded\"",
            "What becomes of packets that wait in the old access point."),
    ],
};

#[rustfmt::skip]
static NODE: Table = Table {
    heading: "[[node]]",
    doc: "A wired host or router with a name that flows and links can use.",
    has_members: false,
    keys: &[
        key("name", &[Kind::Text], Required, "\"router\"", "The name in flows, links and results."),
        key("kind", &[Kind::Word(&[
                word("host", "Flows may begin or end at the node."),
                word("router", "The node forwards packets; no flow ends there."),
            ])], Value("\"host\""), "\"router\"", "What the node does."),
    ],
};

#[rustfmt::skip]
static CONTENTION: Table = Table {
    heading: "[contention]",
    doc: "Stations that always have a frame to send, without a network: the access rule alone, in slots.",
    has_members: false,
    keys: &[
        key("stations", &[Kind::Whole(1, 65_535)], Required, "10", "Number of stations that contend."),
        key("rule", ACCESS, Required, "\"dcf\"", "The access rule of the stations."),
        key("successes", &[Kind::Whole(1, 1_000_000_000)], Value("1000000"), "5000", "Successes that a run counts."),
        key("warmup", &[Kind::Whole(0, 1_000_000_000)], Value("0"), "100",
            "Successes at the beginning that are not counted."),
        BUSY_SLOT,
        key("cwmin", WINDOWS, Value("31"), "15", "Smallest contention window, in slots."),
        key("cwmax", WINDOWS, Value("1023"), "255", "Largest contention window, in slots."),
        key("collision", &[Kind::Number], Value("68"), "40",
            "Slots that a collision takes, more than 1 and at most 1e6; 68 for 1500 B in 802.11b."),
        key("packet", &[Kind::Bytes(1, 65_535)], Value("\"1500B\""), "\"1000B\"", "Size of an IP packet."),
        key("noise", &[Kind::Share], Value("0"), "\"1%\"",
            "Share of frames lost to errors, without a collision; below 100%."),
        key("categories", &[Kind::List(&Kind::Word(&[
                word("bk", "Background."),
                word("be", "Best effort."),
                word("vi", "Video."),
                word("vo", "Voice."),
            ]))], Words("[\"be\"]"), "[\"vo\", \"be\"]",
            "Access categories in which each station has a frame; needs the rule edca."),
    ],
};

static SEEDS: Table = Table {
    heading: "seeds as a table",
    doc: "Each point starts with 5 seeds and gets more until the 95 % interval of a metric is narrow.",
    has_members: false,
    keys: &[
        key(
            "until",
            &[Kind::Share],
            Required,
            "\"2%\"",
            "Largest half width of the interval, as a share of the mean; above 0 and below 1.",
        ),
        key(
            "of",
            &[Kind::Expression],
            Required,
            "\"goodput.total\"",
            "The metric whose interval must be narrow at every point.",
        ),
        key("at_most", &[Kind::Whole(5, 100_000)], Value("200"), "50", "Maximum number of seeds of a point."),
        key("from", &[Kind::Whole(0, u32::MAX as u64)], Value("1"), "11", "The first seed."),
    ],
};

#[rustfmt::skip]
static DECIDE: Table = Table {
    heading: "decide as a table",
    doc: "Which undecided claims and checks get more seeds.",
    has_members: false,
    keys: &[
        key("seeds", &[Kind::Whole(2, 100_000)], Required, "200", "Up to this number at each point."),
        key("readings", &[Kind::Word(&[
                word("all", "Each undecided reading of a claim."),
                word("first", "Only the first reading, which counts: the others are judged once, by the seeds of the \
                    file."),
            ])], Value("\"all\""), "\"first\"", "Which readings of a claim."),
    ],
};

#[rustfmt::skip]
static MODEL: Table = Table {
    heading: "[model]",
    doc: "Closed forms instead of a simulation. The other keys are the arguments of the named models.",
    has_members: false,
    keys: &[key("name", &[Kind::Model, Kind::List(&Kind::Model)], Required, "\"padhye.rate\"",
        "The closed form, or several that share their arguments.")],
};

#[rustfmt::skip]
static SWEEP: Table = Table {
    heading: "[sweep]",
    doc: "Key paths, each with the list of values to try. All combinations are run; keys in a `zip` change together. A \
        table may be named instead of counted: \"flow.call.count\". A key may have labels, which tables and figures \
        show: { values = [\"10p\", \"1000p\"], labels = [\"shallow\", \"deep\"] }.",
    has_members: false,
    keys: &[key("zip", &[Kind::List(&Kind::List(&Kind::KeyPath)), Kind::Tables(&ZIP)], Words("all combinations"),
        "[[\"wifi.slot\", \"flow.0.count\"]]", "Keys that change together: lists of keys, or tables if the rows have \
            labels.")],
};

#[rustfmt::skip]
static ZIP: Table = Table {
    heading: "[[sweep.zip]]",
    doc: "Keys that change together, and labels for their rows. Tables and figures show one column with the labels in \
        place of the keys.",
    has_members: false,
    keys: &[
        key("keys", &[Kind::List(&Kind::KeyPath)], Required, "[\"wifi.slot\", \"flow.0.count\"]",
            "The keys, which [sweep] has; the first value of each is the first row."),
        key("name", &[Kind::Text], Required, "\"home\"", "What the rows are: the head of the column."),
        key("labels", &[Kind::List(&Kind::Text)], Required, "[\"old\", \"new\"]", "One label for each row."),
    ],
};
