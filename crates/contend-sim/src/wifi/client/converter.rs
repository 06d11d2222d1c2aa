//! An Ethernet converter: the host sees a cable, and the air begins at its far end.

use super::{Client, Converter};
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Arai 2009, section III-B (spec T8); PAUSE as in IEEE 802.3 annex 31B";
/// What it does.
pub const SUMMARY: &str = "An Ethernet converter: the host's network card sends by cable to a bridge whose queue \
    feeds the MAC; full, the bridge drops, or tells the card to pause before it is.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "rate of the cable, each way").default("100Mbps").range(1e3, 1e12),
    Param::amount("nic", "what may wait in the host's network card").default("1000p").range(1.0, 1e9),
    Param::time("latency", "what the bridge takes for a packet, each way").default("0ms").range(0.0, 1.0),
    Param::word(
        "mode",
        &["drop", "pause"],
        "what a full bridge does: drop, or pause the card at `high` and let it go on at `low`",
    )
    .default("drop"),
    Param::fraction("high", "share of the bridge's queue at which the card is paused").default("90%").range(0.0, 1.0),
    Param::fraction("low", "share of the bridge's queue at which it goes on").default("50%").range(0.0, 1.0),
];

/// Makes one.
///
/// # Errors
/// When `low` is not below `high`.
pub fn build(args: &Args) -> Result<Client, String> {
    let (high, low) = (args.number("high"), args.number("low"));
    if low >= high {
        return Err("low is not below high; write a smaller low".into());
    }
    let pause = (args.word("mode") == "pause").then_some((high, low));
    Ok(Client::Converter(Converter {
        rate: args.rate("rate"),
        nic: args.amount("nic"),
        latency: args.time("latency"),
        pause,
    }))
}
