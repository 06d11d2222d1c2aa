//! The gain of a source that distinguishes congestion losses from errors of a wireless link, with imperfect accuracy.
//!
//! Jersey 2005 §8.4.2, eqs. 8.25-8.29, for the equilibrium rates of [`crate::fluid`].
//!
//! Differences from the source: none. The source itself warns: the fluid models have neither timeouts nor slow start,
//! so gains by large factors are trends, not predictions.

use crate::Invalid;
use crate::fluid::{Path, Rest, jersey, reno};
use crate::invalid::{invalid, probability};

/// Shares of packets lost, by cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// p_c, share lost to congestion.
    pub congestion: f64,
    /// p_w, share lost to errors of the wireless link.
    pub wireless: f64,
}

impl Losses {
    /// p, the share lost to both causes together. Returns an error unless it is a probability.
    pub fn together(&self) -> Result<f64, Invalid> {
        let (c, w) = (probability("congestion", self.congestion)?, probability("wireless", self.wireless)?);
        // Jersey 2005 eq. 8.25.
        if c + w > 1.0 { Err(invalid("congestion + wireless", c + w, "at most 1")) } else { Ok(c + w) }
    }
}

/// Shares of losses whose cause is recognised correctly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// A_c, share of congestion losses recognised.
    pub congestion: f64,
    /// A_w, share of wireless losses recognised.
    pub wireless: f64,
}

impl Accuracy {
    /// Every cause is recognised.
    pub const PERFECT: Accuracy = Accuracy { congestion: 1.0, wireless: 1.0 };
    /// No differentiator: every loss counts as congestion.
    pub const NONE: Accuracy = Accuracy { congestion: 1.0, wireless: 0.0 };

    /// p̂, the share of packets whose loss the source treats as congestion. Errors: see [`Losses::together`]; also an
    /// error for accuracies outside 0..=1.
    pub fn answered(&self, losses: &Losses) -> Result<f64, Invalid> {
        losses.together()?;
        let (c, w) = (
            probability("accuracy of congestion", self.congestion)?,
            probability("accuracy of wireless", self.wireless)?,
        );
        // Jersey 2005 eq. 8.26.
        Ok(c * losses.congestion + (1.0 - w) * losses.wireless)
    }
}

/// Δ_AIMD, the relative gain in Reno's rate from a differentiator. Returns an error if no loss is treated as
/// congestion.
pub fn reno_gain(losses: &Losses, accuracy: &Accuracy, path: &Path) -> Result<f64, Invalid> {
    // Jersey 2005 eq. 8.27.
    gain(reno(accuracy.answered(losses)?, path)?, reno(losses.together()?, path)?)
}

/// Δ_AIAD, the relative gain in Jersey's rate from a differentiator. Errors: see [`reno_gain`].
pub fn jersey_gain(losses: &Losses, accuracy: &Accuracy, path: &Path) -> Result<f64, Invalid> {
    // Jersey 2005 eq. 8.28.
    gain(jersey(accuracy.answered(losses)?, path)?, jersey(losses.together()?, path)?)
}

/// The relative gain of Jersey with a differentiator over Reno with a differentiator of accuracy `reno_accuracy`.
/// Errors: see [`reno_gain`].
pub fn advantage(losses: &Losses, accuracy: &Accuracy, reno_accuracy: &Accuracy, path: &Path) -> Result<f64, Invalid> {
    // Jersey 2005 eq. 8.29: equal accuracies are Fig. 8.8, solid; no differentiator for Reno is Fig. 8.8, dashed.
    gain(jersey(accuracy.answered(losses)?, path)?, reno(reno_accuracy.answered(losses)?, path)?)
}

/// The relative gain of `rate` over `base`. Returns an error if `base` is 0: the source treats every packet as lost.
fn gain(rate: Rest, base: Rest) -> Result<f64, Invalid> {
    match base.rate_pps {
        0.0 => Err(invalid("congestion + wireless", 1, "below 1, or no packet arrives")),
        base => Ok(rate.rate_pps / base - 1.0),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SHORT: Path = Path { rtt_s: 0.05, delay_s: 0.002 };
    const LONG: Path = Path { rtt_s: 0.5, delay_s: 0.1 };

    fn losses(congestion: f64, wireless: f64) -> Losses {
        Losses { congestion, wireless }
    }

    fn perfect_for_wireless(wireless: f64) -> Accuracy {
        Accuracy { congestion: 1.0, wireless }
    }

    #[test]
    fn gains_of_a_perfect_differentiator_have_the_table_of_the_spec() {
        // Spec section 8: p_c, then Reno / Jersey (50 ms, 2 ms) / Jersey (500 ms, 100 ms) for p_w = 1e-3, 1e-2, 5e-2,
        // 0.1.
        let table = [
            (1e-4, [[2.318, 2.318, 2.319], [9.101, 9.103, 9.113], [21.965, 21.988, 22.108], [32.350, 32.420, 32.764]]),
            (1e-3, [[0.415, 0.415, 0.415], [2.333, 2.334, 2.338], [6.327, 6.335, 6.373], [9.594, 9.616, 9.726]]),
            (1e-2, [[0.049, 0.049, 0.049], [0.421, 0.422, 0.423], [1.514, 1.516, 1.529], [2.498, 2.505, 2.541]]),
        ];
        for (p_c, row) in table {
            for (p_w, want) in [1e-3, 1e-2, 5e-2, 0.1].into_iter().zip(row) {
                let l = losses(p_c, p_w);
                let a = Accuracy::PERFECT;
                let got = [
                    reno_gain(&l, &a, &SHORT).unwrap(),
                    jersey_gain(&l, &a, &SHORT).unwrap(),
                    jersey_gain(&l, &a, &LONG).unwrap(),
                ];
                for (got, want) in got.iter().zip(want) {
                    assert!((got - want).abs() < 0.000_501, "p_c = {p_c}, p_w = {p_w}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn gains_by_accuracy_have_the_table_of_the_spec() {
        // Spec section 8: p_w for p_c = 1e-4, then Reno / Jersey (50 ms, 2 ms) for A_w = .25, .5, .75, .9, .95, .99, 1.
        let table = [
            (
                0.001,
                [0.1377, 0.3543, 0.7735, 1.3463, 1.7093, 2.1638, 2.3183],
                [0.1377, 0.3544, 0.7735, 1.3463, 1.7094, 2.1639, 2.3184],
            ),
            (
                0.01,
                [0.1543, 0.4108, 0.9784, 2.0439, 3.1225, 6.1418, 9.1005],
                [0.1543, 0.4110, 0.9787, 2.0445, 3.1233, 6.1433, 9.1026],
            ),
            (
                0.1,
                [0.1704, 0.4522, 1.0786, 2.3018, 3.6583, 9.0504, 32.3502],
                [0.1710, 0.4538, 1.0818, 2.3080, 3.6675, 9.0711, 32.4196],
            ),
        ];
        for (p_w, of_reno, of_jersey) in table {
            for (i, a_w) in [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0].into_iter().enumerate() {
                let (l, a) = (losses(1e-4, p_w), perfect_for_wireless(a_w));
                let got = [reno_gain(&l, &a, &SHORT).unwrap(), jersey_gain(&l, &a, &SHORT).unwrap()];
                for (got, want) in got.iter().zip([of_reno[i], of_jersey[i]]) {
                    assert!((got - want).abs() < 0.000_050_1, "p_w = {p_w}, A_w = {a_w}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn gains_by_congestion_have_the_table_of_the_spec() {
        // Spec section 8: p_c for p_w = 0.01, then Reno / Jersey (50 ms, 2 ms) for A_w = .5, .9, 1.
        let table = [
            (1e-4, [0.4108, 2.0439, 9.1005], [0.4110, 2.0445, 9.1026]),
            (1e-3, [0.3574, 1.3559, 2.3334], [0.3576, 1.3563, 2.3340]),
            (1e-2, [0.1576, 0.3546, 0.4214], [0.1578, 0.3548, 0.4217]),
        ];
        for (p_c, of_reno, of_jersey) in table {
            for (i, a_w) in [0.5, 0.9, 1.0].into_iter().enumerate() {
                let (l, a) = (losses(p_c, 0.01), perfect_for_wireless(a_w));
                let got = [reno_gain(&l, &a, &SHORT).unwrap(), jersey_gain(&l, &a, &SHORT).unwrap()];
                for (got, want) in got.iter().zip([of_reno[i], of_jersey[i]]) {
                    assert!((got - want).abs() < 0.000_050_1, "p_c = {p_c}, A_w = {a_w}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn without_a_differentiator_nothing_is_gained_and_jersey_beats_reno_only_on_paths_without_a_queue() {
        let l = losses(1e-3, 1e-2);
        assert_eq!(reno_gain(&l, &Accuracy::NONE, &SHORT).unwrap(), 0.0);
        assert_eq!(jersey_gain(&l, &Accuracy::NONE, &LONG).unwrap(), 0.0);
        // Spec, A4: -28 % at d/τ = 0.04, and +58 % or more from d/τ = 0.8 on (for small loss shares).
        for a_w in [0.0, 0.5, 1.0] {
            let a = perfect_for_wireless(a_w);
            let got = advantage(&l, &a, &a, &SHORT).unwrap();
            assert!((got + 0.28).abs() < 0.005, "{got}");
            let fast = Path { rtt_s: 0.1, delay_s: 0.08 };
            assert!(advantage(&l, &a, &a, &fast).unwrap() > 0.5);
        }
    }

    #[test]
    fn impossible_losses_are_errors() {
        let gain = |l: Losses, a: Accuracy| reno_gain(&l, &a, &SHORT).unwrap_err().what;
        assert_eq!(gain(losses(0.6, 0.6), Accuracy::NONE), "congestion + wireless");
        assert_eq!(gain(losses(-0.1, 0.6), Accuracy::NONE), "congestion");
        assert_eq!(gain(losses(0.1, 0.1), perfect_for_wireless(1.1)), "accuracy of wireless");
        assert_eq!(gain(losses(0.0, 0.1), Accuracy::PERFECT), "q");
    }
}
