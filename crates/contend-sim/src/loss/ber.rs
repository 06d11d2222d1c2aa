//! Frame errors from a bit error rate: bit errors are independent, and one bit error corrupts the frame.

use super::Loss;
use super::per::Errors;
use contend_core::FlowId;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str =
    "independent bit errors, as in the BER-based error model of Keceli 2008 (spec S12): P(L) = 1 - (1 - BER)^(8 L)";
/// What it does.
pub const SUMMARY: &str = "Loses a frame of L bytes with probability 1 - (1 - ber)^(8 L); independently of other \
    frames. Control frames can be lost too.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::number("ber", "probability that a bit is received wrongly").range(0.0, 0.5)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the loss process.
///
/// # Errors
/// Never: every rate in range is valid.
pub fn build(args: &Args, _: &dyn Fn(&str) -> Option<FlowId>) -> Result<Box<dyn Loss>, Refusal> {
    Ok(Box::new(Errors::new(8.0 * libm::log1p(-args.number("ber")), true)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, rate, some};
    use super::*;
    use contend_core::registry::Value;

    /// By hand: 12000 bits at 1e-5 survive with probability e^-0.12 (to first order in the rate), so 11.308 % of such
    /// frames are lost, and 0.112 % of frames of 112 bits.
    #[test]
    fn the_share_lost_is_one_minus_the_chance_that_every_bit_survives() {
        for (bytes, want, sd) in [(1500, 0.113_080, 7.1e-4), (14, 0.001_119_4, 7.5e-5)] {
            let l = build(&args(PARAMS, &[("ber", Value::Number(1e-5))]), &some).unwrap();
            let got = rate(l, 200_000, |_| bytes);
            assert!((got - want).abs() < 3.0 * sd, "{bytes} B: {got}");
        }
    }
}
