//! Frame errors from the error rate of frames of one reference length: bit errors are independent, and the same at
//! every rate.

use super::Loss;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Amount, Args, Param};
use contend_core::{Cx, FlowId, Packet};

/// Source.
pub const CITE: &str = "Keceli 2008 (spec S12): P(L) = 1 - (1 - PER)^(L / 1528)";
/// What it does.
pub const SUMMARY: &str = "Loses a frame of L bytes with probability 1 - (1 - p)^(L / reference); independently of \
    other frames. Control frames can be lost too.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::fraction("p", "probability that a frame of the reference length is lost").range(0.0, 1.0),
    Param::amount("reference", "length for which p is given; 1528 B is a 1500-byte packet in its MPDU")
        .default("1528B")
        .range(1.0, 1e6),
    Param::word(
        "frames",
        &["all", "data"],
        "which frames can be lost. all: all; data: those that carry a packet, so not ACK, RTS and CTS",
    )
    .default("all"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the loss process.
///
/// # Errors
/// When `reference` is not in bytes.
pub fn build(args: &Args, _: &dyn Fn(&str) -> Option<FlowId>) -> Result<Box<dyn Loss>, Refusal> {
    let Amount::Bytes(reference) = args.amount("reference") else {
        return Err(Refusal::new("reference counts bytes", "write reference = \"1528B\""));
    };
    // Keceli spec S12, through logarithms: (1 - p)^(L / ref) = exp(L ln(1 - p) / ref), exact also for the smallest p.
    let per_byte = libm::log1p(-args.number("p")) / reference.max(1) as f64;
    Ok(Box::new(Errors::new(per_byte, args.word("frames") != "data")))
}

/// Independent errors: a frame of L bytes survives with probability exp(`per_byte` L).
#[derive(Debug)]
pub(super) struct Errors {
    /// Logarithm of the probability that a byte survives; not above 0.
    per_byte: f64,
    /// True if control frames can be lost too.
    control: bool,
    /// The last two lengths and their loss probabilities, newest first: most channels have two lengths of frames.
    known: [(u32, f64); 2],
}

impl Errors {
    pub(super) fn new(per_byte: f64, control: bool) -> Errors {
        Errors { per_byte, control, known: [(0, 0.0); 2] }
    }

    /// The probability that a frame of `bytes` is lost.
    fn of_length(&mut self, bytes: u32) -> f64 {
        if self.known[0].0 != bytes {
            self.known.swap(0, 1);
            if self.known[0].0 != bytes {
                self.known[0] = (bytes, -libm::expm1(f64::from(bytes) * self.per_byte));
            }
        }
        self.known[0].1
    }
}

impl Loss for Errors {
    fn probability(&mut self, _: &mut Cx, bytes: u32, packet: Option<&Packet>) -> f64 {
        if packet.is_some() || self.control { self.of_length(bytes) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, drawing, rate, some};
    use super::*;
    use contend_core::Time;
    use contend_core::registry::Value;

    fn per(p: f64) -> Errors {
        Errors::new(libm::log1p(-p) / 1528.0, true)
    }

    #[test]
    fn the_reference_length_has_the_rate_asked_for_and_two_of_them_square_the_survival() {
        for p in [1e-9, 0.001, 0.01, 0.5, 1.0] {
            assert!((per(p).of_length(1528) / p - 1.0).abs() < 1e-12);
            assert!((per(p).of_length(3056) / (2.0 * p - p * p) - 1.0).abs() < 1e-12);
        }
        assert_eq!(per(0.0).of_length(1528), 0.0);
    }

    /// 1 - 0.99^(14/1528) by hand: 14/1528 x 0.01005034 = 9.2084e-5, less half its square.
    #[test]
    fn an_acknowledgment_of_14_bytes_is_lost_one_time_in_eleven_thousand_at_1_percent() {
        assert!((per(0.01).of_length(14) - 9.208e-5).abs() < 1e-8);
    }

    #[test]
    fn alternating_lengths_keep_their_own_probabilities() {
        let mut e = per(0.1);
        let (long, short) = (e.of_length(1528), e.of_length(14));
        for _ in 0..3 {
            assert_eq!((e.of_length(1528), e.of_length(14), e.of_length(700) > short), (long, short, true));
        }
    }

    #[test]
    fn the_share_lost_is_the_probability() {
        let l = build(
            &args(PARAMS, &[("p", Value::Number(0.1)), ("reference", Value::Amount(Amount::Bytes(1528)))]),
            &some,
        )
        .unwrap();
        let got = rate(l, 100_000, |_| 764);
        assert!((got - (1.0 - 0.9f64.sqrt())).abs() < 3.0 * 7e-4, "{got}");
    }

    #[test]
    fn control_frames_pass_when_only_data_is_asked_for() {
        let a = |w: &str| {
            args(
                PARAMS,
                &[
                    ("p", Value::Number(1.0)),
                    ("reference", Value::Amount(Amount::Bytes(1528))),
                    ("frames", Value::Word(w.into())),
                ],
            )
        };
        assert!(!drawing(build(&a("data"), &some).unwrap(), 1).lost(Time::ZERO, 14, None));
        assert!(drawing(build(&a("all"), &some).unwrap(), 1).lost(Time::ZERO, 14, None));
    }

    #[test]
    fn a_reference_in_packets_is_refused() {
        let a = args(PARAMS, &[("reference", Value::Amount(Amount::Packets(1)))]);
        assert!(build(&a, &some).unwrap_err().to_string().contains("1528B"));
    }
}
