//! The keys of `[[flow]]` and of the tables in it.

use super::Default::{Required, Value, Words};
use super::common::{COUNT, PLACES};
use super::{Family, Kind, Table, key, word};

#[rustfmt::skip]
pub(super) static FLOW: Table = Table {
    heading: "[[flow]]",
    doc: "Data from one place to another: a TCP connection, or datagrams. With `count` it has members, each with its \
        own connection; any value may be a list, whose values the members take in turn, or an expression with `k` and \
        `n`.",
    has_members: true,
    keys: &[
        key("name", &[Kind::Text], Words("the direction: \"down\", \"up\", \"local\" or \"wired\""), "\"call\"",
            "The name in metrics and results."),
        COUNT,
        key("from", &[Kind::Word(PLACES), Kind::Text], Required, "\"server\"",
            "The place where the data begin: a word, or the name of a station or node: \"slow\", \"sta[3..6]\"."),
        key("to", &[Kind::Word(PLACES), Kind::Text], Required, "\"station\"",
            "The place where the data end, like `from`."),
        key("tcp", &[Kind::Variant, Kind::Table(&TCP)], Words("none; a flow has either `tcp` or `udp`"), "\"cubic\"",
            "TCP variant, or a table of TCP settings."),
        key("udp", &[Kind::Table(&UDP)], Words("none; a flow has either `tcp` or `udp`"), "{ rate = \"1Mbps\" }",
            "Datagrams instead of TCP."),
        key("traffic", &[Kind::Algorithm(Family::Traffic)], Words("\"bulk\", or \"cbr\" with the rate of `udp`"),
            "{ kind = \"poisson\", rate = \"1Mbps\" }", "Traffic source: when the application sends how much."),
        key("size", &[Kind::Amount], Words("unlimited"), "\"1MB\"",
            "Amount of data that the flow transfers; a packet counts as the payload of a full segment."),
        key("start", &[Kind::Time, Kind::Form("uniform(0s, 2s)", "a random time between two limits"),
            Kind::Form("stagger(0s, 1s)", "start of the first member, and time from one member to the next")],
            Value("\"0s\""), "\"uniform(0s, 2s)\"", "When the flow begins."),
        key("stop", &[Kind::Time], Words("the end of the run"), "\"60s\"",
            "Time after which the flow sends no more data."),
        key("delay", &[Kind::Time], Words("that of [wire]"), "\"15ms\"",
            "Propagation time in one direction of the flow's own wire; one end must be \"server\"."),
        key("packet", &[Kind::Bytes(29, 65_535)], Value("\"1500B\""), "\"600B\"",
            "Size of a full IP packet with all headers; at most 2296 B on the air."),
        key("window", &[Kind::Amount],
            Words("3 MiB, or \"1000p\" with `stack = \"rfc\"`; \"65535B\" without window scaling"), "\"42p\"",
            "Receiver's window; a packet counts as the payload of a full segment."),
        key("ack", &[Kind::Segments(1, 1000)], Words("2; 1 with `stack = \"rfc\"`"), "2",
            "Segments per acknowledgment."),
        key("ack_delay", &[Kind::PositiveTime], Words("\"40ms\"; \"100ms\" with `stack = \"rfc\"`"), "\"40ms\"",
            "Longest time by which an acknowledgment is delayed."),
        key("quick_acks", &[Kind::Segments(0, 1000)], Words("16; 0 with `stack = \"rfc\"`"), "16",
            "Segments at the start, and after a duplicate, that are each acknowledged at once whatever `ack` says; \
            Linux has 16, and at most the packets of half the window."),
        key("gro", &[Kind::Flag], Words("true; false with `stack = \"rfc\"`"), "false",
            "Generic receive offload of Linux: data that comes in one aggregate, and so in one instant, is \
            acknowledged together. Without it, `ack` counts each packet of the aggregate."),
        key("autotuning", &[Kind::Flag], Words("true; false with `stack = \"rfc\"`"), "false",
            "Whether the receiver's window opens from 64 KiB to `window` as the program reads, like Linux's \
            (`tcp_moderate_rcvbuf`). While it opens, each segment is acknowledged at once."),
        key("ac", &[Kind::Word(&[
                word("bk", "Background, the category with the lowest priority."),
                word("be", "Best effort."),
                word("vi", "Video."),
                word("vo", "Voice, the category with the highest priority."),
            ])], Value("\"be\""), "\"vo\"",
            "Access category of IEEE 802.11e. Its DSCP chooses the tin of a `cake` queue."),
        key("overhead", &[Kind::Time, Kind::Form("uniform(0s, 1ms)", "a random time for each packet")],
            Value("\"0s\""), "\"uniform(0s, 1ms)\"",
            "Time that the sending host needs for each packet. A random time removes phase effects."),
        key("emulate", &[Kind::Word(&[word("kernel", "Its ends are real hosts; other flows are simulated.")])],
            Words("if no flow has it, all ends are real"), "\"kernel\"",
            "Who carries the flow under `contend emulate`; other commands simulate it."),
        key("encrypted", &[Kind::Flag, Kind::Bytes(0, 1000)], Value("false"), "\"60B\"",
            "Whether the TCP header is encrypted on the path; or the bytes that encryption adds to each packet."),
        key("estimate", &[Kind::List(&Kind::Algorithm(Family::Estimators))], Words("none"),
            "[\"are\", { kind = \"are\", filter = 2, name = \"are2\" }]",
            "Bandwidth estimators that observe the flow and change nothing. `name` tells two of a kind apart."),
    ],
};

#[rustfmt::skip]
static TCP: Table = Table {
    heading: "tcp of a [[flow]]",
    doc: "The settings of a TCP connection. They start from the variant `kind`; without it, from the variant with the \
        name of `cc`; otherwise from cubic, or with `stack = \"rfc\"` from newreno.",
    has_members: true,
    keys: &[
        key("kind", &[Kind::Variant], Words("the variant with the name of `cc`, or cubic"), "\"westwood+\"",
            "The variant from which the table starts."),
        key("cc", &[Kind::Usual(Family::Controllers)], Words("that of the variant"),
            "{ kind = \"cubic\", beta_1024 = 600 }",
            "Congestion controller."),
        key("recovery", &[Kind::Usual(Family::Recoveries)],
            Words("rack, or that which gives the variant its name; with `stack = \"rfc\"` that of the variant"),
            "\"sack\"", "Loss recovery."),
        key("handshake", &[Kind::Flag, Kind::Word(&[
                word("segment", "A first segment without data opens the connection, as in ns-2."),
            ])], Value("true"), "false", "Whether the connection begins with SYN and SYN-ACK."),
        key("initial_window", &[Kind::Segments(1, 100_000)], Words("\"10p\" (RFC 6928); \"2p\" for tcp_d"), "\"3p\"",
            "Congestion window at the start."),
        key("initial_ssthresh", &[Kind::Segments(1, 1_000_000_000)], Words("none"), "\"20p\"",
            "Slow-start threshold at the start."),
        key("sack", &[Kind::Flag], Words("true if the recovery reads SACK blocks"), "true",
            "Whether the receiver sends SACK blocks (RFC 2018)."),
        key("timestamps", &[Kind::Flag, Kind::PositiveTime],
            Words("\"1ms\"; \"1us\" for variants that measure rates by timestamps; with `stack = \"rfc\"` off but for \
                these and cubic, dctcp, bbr and bbr3"),
            "\"1us\"", "Whether segments carry timestamps (RFC 7323), or the tick of their clock."),
        key("window_scaling", &[Kind::Flag], Value("true"), "false",
            "Whether the window scale option is used, for windows above 65535 B (RFC 7323)."),
        key("echo", &[Kind::Word(&[
                word("off", "The connection does not use ECN."),
                word("latch", "Every ACK after a mark echoes it until the sender answers (RFC 3168)."),
                word("per_packet", "Each ACK echoes the marks of its own segments (RFC 8257)."),
                word("accurate", "Both ends count marks (accurate ECN, RFC 9768)."),
            ])], Words("\"off\"; \"latch\" for jersey, \"per_packet\" for dctcp, \"accurate\" for prague"), "\"latch\"",
            "How congestion marks are echoed."),
        key("accecn", &[Kind::Table(&ACCECN)], Words("{}"), "{ option = false }",
            "How the ends count marks; with `echo = \"accurate\"`."),
        key("ect", &[Kind::Word(&[
                word("ect0", "ECT(0): a mark is answered as a loss (RFC 3168)."),
                word("ect1", "ECT(1): a mark is answered a little, and queues for L4S mark early (RFC 9331)."),
            ])], Words("\"ect0\"; \"ect1\" for prague"), "\"ect1\"", "The ECN field of data packets, with `echo`."),
        key("ect_all", &[Kind::Flag], Words("true with `ect = \"ect1\"`, otherwise false"), "true",
            "Whether retransmissions have this ECN field, too; RFC 3168 §6.1.5 forbids it for ECT(0)."),
        key("limited_transmit", &[Kind::Flag], Value("true"), "false",
            "Whether the first two duplicate ACKs release new segments (RFC 3042)."),
        key("pacing", &[Kind::Flag], Value("false"), "true", "Whether segments are spread over the round-trip time."),
        key("tsq", &[Kind::Word(&[word("off", "As much as the windows permit.")]), Kind::Table(&TSQ)],
            Words("{} for senders at stations; \"off\" with `stack = \"rfc\"`"), "{}",
            "TCP Small Queues of Linux: how much of the connection may be in the queue of the sender's own station; \
            only for senders at stations."),
        key("rto", &[Kind::Table(&RTO)], Words("that of the stack"), "{ min = \"200ms\" }",
            "Retransmission timeout (RFC 6298)."),
    ],
};

#[rustfmt::skip]
static ACCECN: Table = Table {
    heading: "tcp.accecn of a [[flow]]",
    doc: "Accurate ECN (RFC 9768): the receiver counts the packets with CE, and each ACK carries the lowest three bits \
        of the count. An ACK of at most seven segments says exactly how many of them were marked.",
    has_members: true,
    keys: &[
        key("option", &[Kind::Flag], Value("true"), "false",
            "Whether ACKs carry the counts of bytes, too: 12 B, or 8 B beside two SACK blocks and timestamps. With it \
            ACKs of more segments are read right, at most two SACK blocks fit beside it, or three without \
            timestamps."),
        key("acks", &[Kind::Word(&[
                word("rfc", "At the first marked packet after an unmarked one, and when two marks wait (RFC 9768)."),
                word("linux", "At each packet with another ECN field than the one before, and when six marks wait."),
            ])], Value("\"rfc\""), "\"linux\"", "When marks are acknowledged at once."),
        key("wrap", &[Kind::Word(&[
                word("safe", "The most marks that agree with the three bits (RFC 9768 §3.2.2.5.2)."),
                word("thinned", "The fewest, if ACKs cover more than four segments in the mean (later Linux)."),
            ])], Value("\"safe\""), "\"thinned\"",
            "How many marks a sender without the option reads out of an ACK of more than seven segments."),
    ],
};

#[rustfmt::skip]
static TSQ: Table = Table {
    heading: "tcp.tsq of a [[flow]]",
    doc: "TCP Small Queues. The limit is the larger of two packets and what the pacing rate sends in 2^-shift seconds; \
        twice as much for a retransmission. With at most one packet that is not acknowledged a sender may always send.",
    has_members: true,
    keys: &[
        key("shift", &[Kind::Whole(0, 20)], Words("7"), "10",
            "7 (7.8 ms) as mac80211 sets it; 10 (1 ms) elsewhere in Linux (`sk_pacing_shift`)."),
        key("most", &[Kind::Bytes(1, 1 << 30)], Words("\"1048576B\""), "\"262144B\"",
            "The largest limit of a sender that does not pace (`tcp_limit_output_bytes`)."),
    ],
};

#[rustfmt::skip]
static RTO: Table = Table {
    heading: "tcp.rto of a [[flow]]",
    doc: "The retransmission timeout (RFC 6298).",
    has_members: true,
    keys: &[
        key("min", &[Kind::PositiveTime], Words("\"200ms\"; \"1s\" with `stack = \"rfc\"`"), "\"200ms\"",
            "Smallest timeout."),
        key("max", &[Kind::PositiveTime], Words("\"120s\"; \"60s\" with `stack = \"rfc\"`"), "\"120s\"",
            "Largest timeout."),
        key("initial", &[Kind::PositiveTime], Value("\"1s\""), "\"3s\"", "Timeout before the first sample."),
        key("granularity", &[Kind::PositiveTime], Value("\"1ms\""), "\"10ms\"",
            "Tick of the clock that measures round-trip times."),
        key("backoff_after", &[Kind::Whole(1, 1000)], Words("1; 3 for tcp_av"), "2",
            "The timeout doubles from this expiry on."),
        key("samples", &[Kind::Word(&[
                word("each", "Each acknowledgment gives a sample if it can."),
                word("one", "One segment is timed at a time, about one in a round trip, as in ns-2."),
            ])], Value("\"each\""), "\"one\"", "Which segments give round-trip times without timestamps."),
        key("backoff_until", &[Kind::Word(&[
                word("sample", "The next round-trip sample (RFC 6298)."),
                word("new", "The acknowledgment of data first sent after the timeout (ns-2 with timestamps)."),
            ])], Value("\"sample\""), "\"new\"", "What ends the doubling of the timeout."),
    ],
};

#[rustfmt::skip]
static UDP: Table = Table {
    heading: "udp of a [[flow]]",
    doc: "Datagrams at a constant rate; or `{}`, with a `traffic` source in the flow.",
    has_members: true,
    keys: &[
        key("rate", &[Kind::Rate], Words("that of the flow's `traffic`"), "\"1Mbps\"", "Payload per time."),
        key("packet", &[Kind::Bytes(29, 65_535)], Words("that of the flow: \"1500B\""), "\"1000B\"",
            "Size of an IP packet with all headers; in place of `packet` of the flow."),
        key("cc", &[Kind::Algorithm(Family::Controllers)], Words("none: the application alone decides the rate"),
            "{ kind = \"rcp\", header = \"12B\" }",
            "Explicit congestion control: the sender sends no faster than the network allows. The receiver returns a \
                packet for each `ack` datagrams, and at the latest after `ack_delay`."),
        key("ect", &[Kind::Word(&[
                word("ect0", "ECT(0), the field of classic senders."),
                word("ect1", "ECT(1), the field of L4S."),
            ])], Words("none: queues drop the datagrams where they would mark"), "\"ect1\"",
            "The ECN field of the datagrams. Queues mark them; the sender does not answer the marks."),
        key("average", &[Kind::Share], Value("1"), "\"10%\"",
            "Weight of a new rate in the receiver's exponential average of the rates that the network allows."),
    ],
};
