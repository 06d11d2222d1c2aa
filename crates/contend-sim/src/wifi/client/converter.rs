//! An Ethernet converter: the host sees a cable. The bridge to the air is at the far end of the cable.

use super::{Client, Converter};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Arai 2008, section III-B (spec T8); PAUSE as in IEEE 802.3 annex 31B";
/// What it does.
pub const SUMMARY: &str = "An Ethernet converter, a bridge between the host's network card and the MAC; the bridge \
    drops packets when its queue is full, or pauses the card before the queue is full.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "rate of the cable, in each direction").default("100Mbps").range(1e3, 1e12),
    Param::amount("nic", "maximum backlog of the host's network card").default("1000p").range(1.0, 1e9),
    Param::time("latency", "time that the bridge takes for a packet, in each direction").default("0ms").range(0.0, 1.0),
    Param::word(
        "mode",
        &["drop", "pause"],
        "drop: a full bridge drops packets; pause: the bridge pauses the card at `high` and lets it continue at `low`",
    )
    .default("drop"),
    Param::fraction("high", "share of the bridge's queue at which the card is paused").default("90%").range(0.0, 1.0),
    Param::fraction("low", "share of the bridge's queue at which the card continues").default("50%").range(0.0, 1.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the client.
///
/// # Errors
/// When `low` is not below `high`.
pub fn build(args: &Args) -> Result<Client, Refusal> {
    let (high, low) = (args.number("high"), args.number("low"));
    if low >= high {
        return Err(Refusal::new("low is not below high", "write a smaller low"));
    }
    let pause = (args.word("mode") == "pause").then_some((high, low));
    Ok(Client::Converter(Converter {
        rate: args.rate("rate"),
        nic: args.amount("nic"),
        latency: args.time("latency"),
        pause,
    }))
}
