//! Independent loss of packets. The probability does not depend on the size.

use super::Loss;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, FlowId, Packet};

/// Source.
pub const CITE: &str =
    "Jersey thesis 2005 §5.6.1: packets dropped independently with probability PER (a packet rate, not a bit rate)";
/// What it does.
pub const SUMMARY: &str = "Loses each packet with probability p; independently of size, time and other packets. \
    Control frames are not lost.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::fraction("p", "probability that a packet is lost").range(0.0, 1.0),
    Param::word(
        "on",
        &["all", "data", "ack"],
        "which packets can be lost. all: all; data: those in the flow's data direction; ack: those in the other \
            direction",
    )
    .default("all"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the loss process.
///
/// # Errors
/// Never: every probability in range is valid.
pub fn build(args: &Args, _: &dyn Fn(&str) -> Option<FlowId>) -> Result<Box<dyn Loss>, Refusal> {
    let only_reverse = match args.word("on") {
        "data" => Some(false),
        "ack" => Some(true),
        _ => None,
    };
    Ok(Box::new(Bernoulli { p: args.number("p"), only_reverse }))
}

/// Independent loss.
#[derive(Debug)]
struct Bernoulli {
    p: f64,
    /// The direction in which packets can be lost, as in [`Packet::reverse`]; `None` for both.
    only_reverse: Option<bool>,
}

impl Loss for Bernoulli {
    fn probability(&mut self, _: &mut Cx, _: u32, packet: Option<&Packet>) -> f64 {
        let can_be_lost = packet.is_some_and(|p| self.only_reverse.is_none_or(|r| r == p.is_reverse()));
        if can_be_lost { self.p } else { 0.0 }
    }

    fn never(&self) -> bool {
        self.p <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, drawing, packet, rate, some};
    use super::*;
    use contend_core::Time;
    use contend_core::registry::Value;

    fn made(p: f64, on: &str) -> Box<dyn Loss> {
        build(&args(PARAMS, &[("p", Value::Number(p)), ("on", Value::Word(on.into()))]), &some).unwrap()
    }

    #[test]
    fn the_share_lost_is_p() {
        let got = rate(made(0.02, "all"), 200_000, |_| 1500);
        // Three standard deviations of a binomial: sqrt(p q / n) = 3.1e-4.
        assert!((got - 0.02).abs() < 9.4e-4, "{got}");
    }

    #[test]
    fn p_0_loses_nothing_and_p_1_everything() {
        assert_eq!(rate(made(0.0, "all"), 1000, |_| 1500), 0.0);
        assert_eq!((made(0.0, "all").never(), made(1e-9, "all").never()), (true, false));
        assert_eq!(rate(made(1.0, "all"), 1000, |_| 1500), 1.0);
    }

    #[test]
    fn only_the_chosen_direction_is_lost_and_control_frames_pass() {
        let ack = packet(40).reversed();
        for (on, data_lost, ack_lost) in [("all", true, true), ("data", true, false), ("ack", false, true)] {
            let mut l = drawing(made(1.0, on), 1);
            assert_eq!(
                (l.lost(Time::ZERO, 1500, Some(&packet(1500))), l.lost(Time::ZERO, 40, Some(&ack))),
                (data_lost, ack_lost),
                "{on}"
            );
            assert!(!l.lost(Time::ZERO, 14, None));
        }
    }
}
