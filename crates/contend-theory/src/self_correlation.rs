//! Self-correlation p_s(j): the probability that a station that has just sent successfully succeeds again within the
//! next j successes.
//!
//! Starzetz 2006 §8.2, Figs 8.7, 8.8, 8.11. The curve of a memoryless method is the reference. Above it, successes of a
//! station attract each other; below it, they repel each other. The source draws the curve over j/(8 N).
//!
//! Differences from the source: the source says that a memoryless method needs no simulation, but gives no formula.

use crate::Invalid;
use crate::invalid::invalid;

/// Look-ahead in the source's figures, in successes per station.
pub const LOOK_AHEAD: u32 = 8;

/// p_s(j) of `stations` memoryless stations, for any distribution of slots. Each success belongs to each station with
/// equal probability. Returns an error if there is no station.
pub fn memoryless(stations: u32, j: u32) -> Result<f64, Invalid> {
    if stations == 0 {
        return Err(invalid("stations", 0, "at least one"));
    }
    if j == 0 {
        return Ok(0.0);
    }
    // p_s(j) = 1 - (1 - 1/N)^j.
    Ok(-libm::expm1(f64::from(j) * libm::log1p(-1.0 / f64::from(stations))))
}

/// p_s(j) of TCF, in which `stations` take turns: a step at j = N, which is 1/8 of the look-ahead. Returns an error if
/// there is no station.
pub fn tcf(stations: u32, j: u32) -> Result<f64, Invalid> {
    if stations == 0 {
        return Err(invalid("stations", 0, "at least one"));
    }
    Ok(f64::from(u8::from(j >= stations)))
}

/// The slot of station `i` in cycle `j` of TCF, written as a hash function. Returns an error if there is no station.
pub fn tcf_slot(stations: u32, i: u32, j: u64) -> Result<u32, Invalid> {
    // Starzetz 2006 §8.1.1: (i + j) mod N.
    let sum = u64::from(i).checked_add(j).and_then(|s| s.checked_rem(stations.into()));
    sum.map(|s| s as u32).ok_or_else(|| invalid("stations", stations, "at least one, and i + j below 2^64"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// p_s(1..=ahead) of a sequence of successes, by the source's definition.
    fn counted(sequence: &[u32], ahead: usize) -> Vec<f64> {
        let starts = sequence.len() - ahead;
        (1..=ahead)
            .map(|j| {
                (0..starts).filter(|k| sequence[k + 1..=k + j].contains(&sequence[*k])).count() as f64 / starts as f64
            })
            .collect()
    }

    #[test]
    fn a_memoryless_method_has_the_values_of_the_spec() {
        // Spec E16: N = 15, p_s(0.125) 0.644 and p_s(0.25) 0.874 (of HASH1, simulated). The first points are 1/15 and
        // 1/5.
        assert!((memoryless(15, 15).unwrap() - 0.644).abs() < 0.001);
        assert!((memoryless(15, 30).unwrap() - 0.874).abs() < 0.001);
        assert!((memoryless(15, 1).unwrap() - 1.0 / 15.0).abs() < 1e-15);
        assert_eq!((memoryless(5, 0).unwrap(), memoryless(1, 1).unwrap()), (0.0, 1.0));
    }

    #[test]
    fn every_sequence_of_three_stations_together_gives_the_closed_form() {
        // All 3^5 sequences of five successes, with equal probability: does the first station succeed again among the
        // next j?
        let (n, long) = (3_u32, 5);
        let mut sum = vec![0.0; long - 1];
        for code in 0..n.pow(long as u32) {
            let sequence: Vec<u32> = (0..long).scan(code, |k, _| Some((*k % n, *k /= n).0)).collect();
            counted(&sequence, long - 1)
                .iter()
                .zip(&mut sum)
                .for_each(|(x, s)| *s += x / f64::from(n.pow(long as u32)));
        }
        for (j, got) in sum.iter().enumerate() {
            assert!((got - memoryless(n, j as u32 + 1).unwrap()).abs() < 1e-12);
        }
    }

    #[test]
    fn stations_of_tcf_never_collide_and_come_again_after_n() {
        let n = 7;
        let winners: Vec<u32> = (0..200)
            .map(|j| {
                let at = |i: u32| tcf_slot(n, i, j).unwrap();
                let first = (0..n).min_by_key(|i| at(*i)).unwrap();
                assert_eq!((0..n).filter(|i| at(*i) == at(first)).count(), 1);
                first
            })
            .collect();
        for (j, got) in counted(&winners, (LOOK_AHEAD * n) as usize).iter().enumerate() {
            assert_eq!(*got, tcf(n, j as u32 + 1).unwrap());
        }
    }

    #[test]
    fn no_station_is_an_error() {
        assert_eq!(memoryless(0, 1).unwrap_err().what, "stations");
        assert_eq!(tcf(0, 1).unwrap_err().what, "stations");
        assert_eq!(tcf_slot(0, 0, 1).unwrap_err().what, "stations");
        assert_eq!(tcf_slot(3, 1, u64::MAX).unwrap_err().what, "stations");
    }
}
