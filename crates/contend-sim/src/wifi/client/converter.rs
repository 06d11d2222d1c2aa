//! An Ethernet converter: the host sees a cable, and the air begins at its far end.

use super::{Client, Converter};
use contend_core::registry::{Args, Param, Unit};

/// Source.
pub const CITE: &str = "Arai 2009, section III-B (spec T8); PAUSE as in IEEE 802.3 annex 31B";
/// What it does.
pub const SUMMARY: &str = "An Ethernet converter: the host's network card sends by cable to a bridge whose queue \
    feeds the MAC; full, the bridge drops, or tells the card to pause before it is.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param {
        name: "rate",
        doc: "rate of the cable, each way",
        unit: Unit::Rate,
        default: Some("100Mbps"),
        range: (1e3, 1e12),
    },
    Param {
        name: "nic",
        doc: "what may wait in the host's network card",
        unit: Unit::Amount,
        default: Some("1000p"),
        range: (1.0, 1e9),
    },
    Param {
        name: "latency",
        doc: "what the bridge takes for a packet, each way",
        unit: Unit::Time,
        default: Some("0ms"),
        range: (0.0, 1.0),
    },
    Param {
        name: "mode",
        doc: "what a full bridge does: drop, or pause the card at `high` and let it go on at `low`",
        unit: Unit::Word(&["drop", "pause"]),
        default: Some("drop"),
        range: (0.0, 0.0),
    },
    Param {
        name: "high",
        doc: "share of the bridge's queue at which the card is paused",
        unit: Unit::Fraction,
        default: Some("90%"),
        range: (0.0, 1.0),
    },
    Param {
        name: "low",
        doc: "share of the bridge's queue at which it goes on",
        unit: Unit::Fraction,
        default: Some("50%"),
        range: (0.0, 1.0),
    },
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
