//! The keys of `[wire]` and `[[link]]`.

use super::Default::{Required, Value, Words};
use super::common::{LOSS, QUEUE};
use super::{Key, Kind, Table, key, word};

const WIRE_RATES: &[Kind] = &[
    Kind::Rate,
    Kind::Word(&[word("infinite", "Packets take no time to send: the wire only delays them.")]),
    Kind::Table(&CHANGING_RATE),
];
#[rustfmt::skip]
const WIRE_RATE: Key = key("rate", WIRE_RATES, Words("\"100Mbps\"; \"infinite\" beside a cell of 802.11n and later"),
    "\"10Mbps\"",
    "Data rate in each direction: constant, or a table for a rate that changes.");
const WIRE_DELAY: Key =
    key("delay", &[Kind::Time], Value("\"1ms\""), "\"15ms\"", "Propagation time in each direction.");
#[rustfmt::skip]
const WIRE_QUEUE: Key = key("queue", QUEUE, Value("{ kind = \"fifo\", limit = \"10000p\" }"),
    "{ kind = \"fifo\", limit = \"20p\" }", "Queue discipline at each end.");
const WIRE_LOSS: Key =
    key("loss", LOSS, Value("\"none\""), "{ kind = \"bernoulli\", p = \"1%\" }", "Loss in each direction.");

#[rustfmt::skip]
static CHANGING_RATE: Table = Table {
    heading: "rate of a wire",
    doc: "A rate that changes while the network runs; `trace` or `schedule`.",
    has_members: false,
    keys: &[
        key("trace", &[Kind::Text], Words("none"), "\"uplink.trace\"",
            "A file beside the experiment file or in a folder below: a mahimahi trace, with a whole number of \
                milliseconds in each line at which 1500 B may leave, or a table of times and rates (CSV). \
                docs/model/links.md describes both."),
        key("schedule", &[Kind::List(&Kind::List(&Kind::Quantity))], Words("none"),
            "[[\"0s\", \"10Mbps\"], [\"5s\", \"2Mbps\"]]",
            "Times and rates. Each rate holds until the next time, the last one to the end of the run."),
    ],
};

#[rustfmt::skip]
pub(super) static WIRE: Table = Table {
    heading: "[wire]",
    doc: "The link between the access point and the server of each flow. Each flow has its own.",
    has_members: true,
    keys: &[
        WIRE_RATE,
        WIRE_DELAY,
        WIRE_QUEUE,
        WIRE_LOSS,
        key("reverse", &[Kind::Table(&WIRE_REVERSE)], Words("as the direction from `from` to `to`"),
            "{ rate = \"1Mbps\" }",
            "Keys of the direction from the station that differ."),
    ],
};

#[rustfmt::skip]
pub(super) static LINK: Table = Table {
    heading: "[[link]]",
    doc: "A cable between two nodes, or between a node and the access point.",
    has_members: false,
    keys: &[
        key("name", &[Kind::Text], Words("the ends: \"router-ap\""), "\"uplink\"", "The name in metrics and results."),
        key("from", &[Kind::Text], Required, "\"router\"", "The end where the link begins: a [[node]] or \"ap\"."),
        key("to", &[Kind::Text], Required, "\"ap\"", "The other end."),
        WIRE_RATE,
        WIRE_DELAY,
        WIRE_QUEUE,
        WIRE_LOSS,
        key("reverse", &[Kind::Table(&LINK_REVERSE)], Words("as the direction from `from` to `to`"),
            "{ rate = \"1Mbps\" }",
            "Keys of the direction from `to` to `from` that differ."),
    ],
};

/// The keys of the reverse direction. A missing key has the value of the other direction.
const REVERSE: &[Key] = &[
    Key { default: Words("as in the other direction"), ..WIRE_RATE },
    Key { default: Words("as in the other direction"), ..WIRE_DELAY },
    Key { default: Words("as in the other direction"), ..WIRE_QUEUE },
    Key { default: Words("as in the other direction, with its own random numbers"), ..WIRE_LOSS },
];

#[rustfmt::skip]
static WIRE_REVERSE: Table = Table {
    heading: "reverse of [wire]",
    doc: "What differs in the direction from the station to the server.",
    has_members: true,
    keys: REVERSE,
};

#[rustfmt::skip]
static LINK_REVERSE: Table = Table {
    heading: "reverse of a [[link]]",
    doc: "What differs in the direction from `to` to `from`.",
    has_members: false,
    keys: REVERSE,
};
