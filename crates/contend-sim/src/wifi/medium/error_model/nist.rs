//! Closed form: bit errors of the modulation, a hard-decision Viterbi decoder, and the union bound.
//!
//! 1. The modulation turns the SNR into the probability p that a coded bit is wrong.
//! 2. The decoder takes a wrong path at distance d with a probability of at most D^d, D = sqrt(4 p (1 - p)). The sum
//!    over all d, weighted with the information bits that are wrong on these paths, bounds the error of a data bit.
//! 3. An MPDU arrives if all its bits are right.
//!
//! Soft decisions need about 4 dB less: ns-3's own tables lose half of the MPDUs of MCS 4 at 12 dB, this bound at 16.

use super::{CodeRate, Coding, ErrorModel, Setting};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Miller 2003, Validation of 802.11a/UWB Coexistence Simulation (NIST); Pei, Henderson 2010; \
    ns-3 NistErrorRateModel";
/// What it does.
pub const SUMMARY: &str = "Closed form from the bit errors of the modulation: the union bound of a decoder with hard \
    decisions, as in ns-3's NistErrorRateModel.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the model.
///
/// # Errors
/// Never: it knows every coding.
pub fn build(_: &Args, _: &Setting<'_>) -> Result<Box<dyn ErrorModel>, Refusal> {
    Ok(Box::new(Nist))
}

#[derive(Debug)]
struct Nist;

impl ErrorModel for Nist {
    fn per(&self, snr: f64, coding: Coding, bytes: u32) -> f64 {
        let bit = decoded_bit_error(coded_bit_error(libm::pow(10.0, snr / 10.0), coding.bits), coding.code);
        if bit >= 1.0 {
            return 1.0;
        }
        -libm::expm1(8.0 * f64::from(bytes) * libm::log1p(-bit))
    }
}

/// The probability that a coded bit is wrong at `snr` (a ratio), with `bits` coded bits for each symbol.
fn coded_bit_error(snr: f64, bits: u8) -> f64 {
    match bits {
        1 => 0.5 * libm::erfc(libm::sqrt(snr)),
        2 => 0.5 * libm::erfc(libm::sqrt(snr / 2.0)),
        // Square M-QAM with a Gray code: M = side^2, of which each bit of an axis is one of log2(side).
        _ => {
            let side = f64::from(1_u32 << (bits / 2));
            let share = (side - 1.0) / (side * f64::from(bits / 2));
            share * libm::erfc(libm::sqrt(1.5 * snr / (side * side - 1.0)))
        }
    }
}

/// A punctured code: information bits of a period, smallest distance, step between distances, and for each distance
/// the information bits that are wrong on all paths at this distance.
struct Spectrum {
    period: f64,
    free: i32,
    step: i32,
    weights: &'static [f64],
}

/// The code (133, 171) of 802.11 with its puncturing. The weights are those of ns-3: 1/2, 2/3 and 3/4 from Frenger,
/// Orten, Ottosson, Svensson 1998, Multi-rate Convolutional Codes; 5/6 from Haccoun, Begin 1989, table V.
fn spectrum(code: CodeRate) -> Spectrum {
    match code {
        CodeRate::Half => Spectrum { period: 1.0, free: 10, step: 2, weights: HALF },
        CodeRate::TwoThirds => Spectrum { period: 2.0, free: 6, step: 1, weights: TWO_THIRDS },
        CodeRate::ThreeQuarters => Spectrum { period: 3.0, free: 5, step: 1, weights: THREE_QUARTERS },
        CodeRate::FiveSixths => Spectrum { period: 5.0, free: 4, step: 1, weights: FIVE_SIXTHS },
    }
}

const HALF: &[f64] = &[36.0, 211.0, 1404.0, 11633.0, 77433.0, 502690.0, 3322763.0, 21292910.0, 134365911.0];
const TWO_THIRDS: &[f64] = &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0, 117019.0, 498860.0, 2103891.0, 8784123.0];
const THREE_QUARTERS: &[f64] =
    &[42.0, 201.0, 1492.0, 10469.0, 62935.0, 379644.0, 2253373.0, 13073811.0, 75152755.0, 428005675.0];
const FIVE_SIXTHS: &[f64] =
    &[92.0, 528.0, 8694.0, 79453.0, 792114.0, 7375573.0, 67884974.0, 610875423.0, 5427275376.0, 47664215639.0];

/// The bound of the error of a data bit behind the decoder, at most 1; `p` is the error of a coded bit.
fn decoded_bit_error(p: f64, code: CodeRate) -> f64 {
    let s = spectrum(code);
    let d = libm::sqrt(4.0 * p * (1.0 - p));
    let power = |n: i32| (0..n).fold(1.0, |x, _| x * d);
    let step = power(s.step);
    let sum = s.weights.iter().rev().fold(0.0, |sum, weight| sum * step + weight);
    (power(s.free) * sum / (2.0 * s.period)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn per(snr: f64, mcs: usize, bytes: u32) -> f64 {
        Nist.per(snr, Coding::MCS[mcs], bytes)
    }

    /// vectors/error_model/nist.txt: MCS, bytes, SNR in dB and PER of ns-3.44.
    #[test]
    fn the_rates_are_those_of_ns3() {
        let rows = include_str!("../../../../../../vectors/error_model/nist.txt");
        let mut seen = 0;
        for row in rows.lines().filter(|l| !l.starts_with('#')) {
            let x: Vec<f64> = row.split_whitespace().map(|w| w.parse().unwrap()).collect();
            let got = per(x[2], x[0] as usize, x[1] as u32);
            assert!((got / x[3] - 1.0).abs() < 1e-5, "{row}: {got}");
            seen += 1;
        }
        assert_eq!(seen, 109);
    }

    /// Losses of MPDUs inside the aggregates of ns-3 runs (`mpdu_nack_share`), also at MCS 7 and 11 with code rate 5/6.
    /// The bound is two standard deviations of a share of 6,000 MPDUs.
    #[test]
    fn the_losses_of_simulated_aggregates_are_near() {
        for (mcs, snr, share) in [(4, 16.0, 0.5117), (4, 17.0, 0.0283), (7, 23.0, 0.6663), (11, 35.0, 0.4315)] {
            let got = per(snr, mcs, 1538);
            assert!((got - share).abs() < 0.013, "MCS {mcs} at {snr} dB: {got}, not {share}");
        }
    }

    #[test]
    fn errors_fall_with_the_snr_and_grow_with_the_mcs_and_the_size() {
        for snr in (-10..=50).map(f64::from) {
            for mcs in 0..Coding::MCS.len() {
                assert!(per(snr, mcs, 1500) >= per(snr + 1.0, mcs, 1500));
                assert!(per(snr, mcs, 300) <= per(snr, mcs, 1500));
                // MCS 2 (QPSK 3/4) and 3 (16-QAM 1/2) are near each other, but do not cross.
                assert!(mcs == 0 || per(snr, mcs, 1500) >= per(snr, mcs - 1, 1500), "{snr} dB, MCS {mcs}");
            }
        }
        assert_eq!(per(f64::NEG_INFINITY, 0, 14), 1.0);
        assert_eq!(per(f64::INFINITY, 13, 11_454), 0.0);
    }

    /// The information bits on wrong paths at each distance up to `most`, counted in the trellis of the code (133, 171)
    /// with the puncturing of IEEE 802.11-2020 §17.3.5.6 and §19.3.11.6: paths that leave the zero state at any place
    /// of the period, until they return to it.
    fn counted(keep: (&[bool], &[bool]), most: usize) -> Vec<f64> {
        let mut total = vec![0.0; most + 1];
        for phase in 0..keep.0.len() {
            // State and distance: number of paths, and their information bits.
            let mut paths = BTreeMap::from([((0_u32, 0_usize), (1.0, 0.0))]);
            for t in phase.. {
                let mut next: BTreeMap<(u32, usize), (f64, f64)> = BTreeMap::new();
                for ((state, distance), (number, bits)) in paths {
                    for bit in u32::from(t == phase)..2 {
                        let register = bit << 6 | state;
                        let odd = |taps: u32| (register & taps).count_ones() % 2 == 1;
                        let at = t % keep.0.len();
                        let weight = usize::from(odd(0o133) && keep.0[at]) + usize::from(odd(0o171) && keep.1[at]);
                        if distance + weight > most {
                            continue;
                        }
                        let e = next.entry((register >> 1, distance + weight)).or_default();
                        *e = (e.0 + number, e.1 + bits + f64::from(bit) * number);
                    }
                }
                for (d, sum) in total.iter_mut().enumerate() {
                    *sum += next.remove(&(0, d)).map_or(0.0, |e| e.1);
                }
                if next.is_empty() {
                    break;
                }
                paths = next;
            }
        }
        total
    }

    /// The first five terms are equal. Later ones of the printed tables are up to 0.3 % higher.
    #[test]
    fn the_spectra_are_those_of_the_code_of_802_11() {
        const Y: bool = true;
        const N: bool = false;
        let cases: [(CodeRate, &[bool], &[bool]); 4] = [
            (CodeRate::Half, &[Y], &[Y]),
            (CodeRate::TwoThirds, &[Y, Y], &[Y, N]),
            (CodeRate::ThreeQuarters, &[Y, Y, N], &[Y, N, Y]),
            (CodeRate::FiveSixths, &[Y, Y, N, Y, N], &[Y, N, Y, N, Y]),
        ];
        for (code, first, second) in cases {
            let s = spectrum(code);
            let most = (s.free + s.step * (s.weights.len() as i32 - 1)) as usize;
            let got: Vec<f64> = counted((first, second), most).into_iter().filter(|x| *x > 0.0).collect();
            assert_eq!(got.len(), s.weights.len(), "{code:?}");
            for (k, (got, printed)) in got.iter().zip(s.weights).enumerate() {
                let bound = if k < 4 { 0.0 } else { 0.003 };
                assert!((printed / got - 1.0).abs() <= bound, "{code:?}, term {k}: {got}, not {printed}");
            }
        }
    }
}
