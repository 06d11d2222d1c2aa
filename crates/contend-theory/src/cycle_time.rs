//! Cycle time of an access point and one station, both saturated: the mean time in which each has one success.
//!
//! Keceli, Inan, Ayanoglu, "Fair and Efficient TCP Access in the IEEE 802.11 Infrastructure BSS", 2008, §III-B, eqs.
//! 7-9. The paper takes the cycle time from Medepalli and Tobagi, Globecom 2005.
//!
//! Differences from the paper:
//! - The paper does not print the cycle time of a pair. [`Cycle::m1`] and [`Cycle::m2`] are the two readings of spec
//!   S2.3 (M2 is the one to use). [`Cycle::exact`] needs no decoupling assumption.
//! - M2 computes p without a limit on attempts but E\[B\] with a limit, as spec S2.3 does. At the values of p that
//!   occur here, the difference is too small to see.

use crate::Invalid;
use crate::bianchi;
use crate::dcf::Backoff;
use crate::invalid::{invalid, not_negative, positive};
use crate::two_station::{self, BusySlot};

/// Idle slots and collisions in one cycle of two stations. A cycle also contains two successes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cycle {
    /// Idle slots per cycle.
    pub idle_slots: f64,
    /// Collisions (of both stations) per cycle.
    pub collisions: f64,
}

impl Cycle {
    /// M1: Bianchi's renewal form, in which a busy slot also decrements the backoff of the listener. The result has one
    /// idle slot less than [`Cycle::m2`]. Returns an error for `cw_max` = 0, because then every attempt collides.
    pub fn m1(backoff: &Backoff) -> Result<Cycle, Invalid> {
        let (tau, _) = bianchi::fixed_point(&endless(backoff), 2)?;
        if tau >= 1.0 {
            return Err(invalid("cw_max", backoff.cw_max, "at least 1: both stations always collide"));
        }
        // Keceli 2008 §III-B, spec S2.3 M1. A slot has on average 2τ(1-τ) successes, (1-τ)^2 idle slots and τ^2
        // collisions.
        Ok(Cycle { idle_slots: (1.0 - tau) / tau, collisions: tau / (1.0 - tau) })
    }

    /// M2: both stations count down at the same time, and a frozen counter loses no slot. Returns an error if
    /// `cw_max` is 0.
    pub fn m2(backoff: &Backoff) -> Result<Cycle, Invalid> {
        let (_, p) = bianchi::fixed_point(&endless(backoff), 2)?;
        if p >= 1.0 {
            return Err(invalid("cw_max", backoff.cw_max, "at least 1: both stations always collide"));
        }
        // Keceli 2008 §III-B, spec S2.3 M2. E[B] = sum p^j (W_j-1)/2 / (1-p^R) is the mean backoff per attempt. A
        // success takes 1/(1-p) attempts. Of these, p/(1-p) fail, each in a collision with an attempt of the other
        // station.
        Ok(Cycle { idle_slots: backoff.slots_per_attempt(p)? / (1.0 - p), collisions: p / (1.0 - p) })
    }

    /// The exact chain of two saturated stations. Errors: see [`two_station::solve`].
    pub fn exact(backoff: &Backoff, busy: BusySlot) -> Result<Cycle, Invalid> {
        let s = two_station::solve(backoff, busy)?;
        let transmissions = 2.0 / (1.0 - s.collision);
        Ok(Cycle { idle_slots: transmissions * s.idle_slots, collisions: transmissions * s.collision })
    }

    /// CT_{x,y} in the unit of the arguments. `slot` is an idle slot; `ts_x` and `ts_y` are the successful exchanges
    /// T_s of the two frame types. All three must be finite and above 0.
    pub fn time(&self, slot: f64, ts_x: f64, ts_y: f64) -> Result<f64, Invalid> {
        positive("slot", slot)?;
        positive("ts_x", ts_x)?;
        positive("ts_y", ts_y)?;
        // Spec S2.3: a collision lasts as long as a successful exchange of the longer frame.
        Ok(ts_x + ts_y + self.collisions * ts_x.max(ts_y) + self.idle_slots * slot)
    }

    /// CT_{x,y} for x, y in {DATA, TCP ACK}, in the unit of the arguments. Errors: see [`Cycle::time`].
    pub fn pairs(&self, slot: f64, ts_data: f64, ts_ack: f64) -> Result<Pairs, Invalid> {
        Ok(Pairs {
            data_data: self.time(slot, ts_data, ts_data)?,
            data_ack: self.time(slot, ts_data, ts_ack)?,
            ack_ack: self.time(slot, ts_ack, ts_ack)?,
        })
    }
}

/// Cycle times CT_{x,y} by the frame types of the two stations. CT_{x,y} = CT_{y,x}.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pairs {
    /// Both send data.
    pub data_data: f64,
    /// One sends data, the other TCP ACKs.
    pub data_ack: f64,
    /// Both send TCP ACKs.
    pub ack_ack: f64,
}

impl Pairs {
    /// CT_AP, the mean cycle time of the access point, in the unit of the pairs. The cell has `n_up` uploads and
    /// `n_down` downloads; a TCP ACK covers `b` data packets. There must be at least one flow.
    pub fn ct_ap(&self, n_up: f64, n_down: f64, b: f64) -> Result<f64, Invalid> {
        not_negative("n_up", n_up)?;
        not_negative("n_down", n_down)?;
        positive("b", b)?;
        if n_up + n_down <= 0.0 {
            return Err(invalid("n_up + n_down", 0, "at least one flow"));
        }
        // Keceli 2008 eqs. 8, 9: `ap` and `station` are the shares of data frames in what the access point and the
        // station send.
        let ap = n_down / (n_up / b + n_down);
        let station = n_up / (n_down / b + n_up);
        // Keceli 2008 eq. 7: the frame types of access point and station are taken as independent.
        Ok(ap * station * self.data_data
            + (ap * (1.0 - station) + (1.0 - ap) * station) * self.data_ack
            + (1.0 - ap) * (1.0 - station) * self.ack_ack)
    }
}

/// The same backoff law without a limit on attempts.
fn endless(backoff: &Backoff) -> Backoff {
    Backoff { attempts: None, ..*backoff }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// CWmin, slot, T_s(DATA) and T_s(TCP ACK) of spec S2.1; times in µs.
    struct Set(u32, f64, f64, f64);
    const A: Set = Set(15, 9.0, 342.0, 126.0);
    const B: Set = Set(15, 20.0, 364.0, 148.0);
    const C: Set = Set(31, 20.0, 364.0, 148.0);

    impl Set {
        fn law(&self) -> Backoff {
            Backoff { cw_min: self.0, cw_max: 1023, attempts: Some(7) }
        }

        fn pairs(&self, cycle: Result<Cycle, Invalid>) -> [f64; 3] {
            let p = cycle.unwrap().pairs(self.1, self.2, self.3).unwrap();
            [p.data_data, p.data_ack, p.ack_ack]
        }
    }

    fn all_within(got: [f64; 3], want: [f64; 3], tolerance: f64) {
        for (g, w) in got.iter().zip(want) {
            assert!((g - w).abs() <= tolerance, "{got:?} {want:?}");
        }
    }

    #[test]
    fn m2_has_the_table_of_the_spec() {
        let half = 0.005_001;
        all_within(A.pairs(Cycle::m2(&A.law())), [809.99, 593.99, 352.75], half);
        all_within(B.pairs(Cycle::m2(&B.law())), [961.70, 745.70, 504.46], half);
        all_within(C.pairs(Cycle::m2(&C.law())), [1100.62, 884.62, 655.56], half);
    }

    #[test]
    fn m1_has_the_table_of_the_spec() {
        let half = 0.005_001;
        all_within(A.pairs(Cycle::m1(&A.law())), [800.99, 584.99, 343.75], half);
        all_within(B.pairs(Cycle::m1(&B.law())), [941.70, 725.70, 484.46], half);
    }

    #[test]
    fn mean_backoff_and_collisions_have_the_values_of_the_spec() {
        let (b, c) = (Cycle::m2(&B.law()).unwrap(), Cycle::m2(&C.law()).unwrap());
        assert!((b.idle_slots - 9.558).abs() < 5e-4 && (c.idle_slots - 17.53).abs() < 5e-3);
        assert!((b.collisions - 0.11685).abs() < 5e-6);
        let m1 = Cycle::m1(&B.law()).unwrap();
        assert!((b.idle_slots - m1.idle_slots - 1.0).abs() < 1e-4);
    }

    #[test]
    fn the_exact_chain_has_the_monte_carlo_of_the_spec() {
        // The reference ran 0.6 million transmissions: about 0.1 % of noise.
        let exact = |s: &Set| s.pairs(Cycle::exact(&s.law(), BusySlot::Frozen));
        all_within(exact(&A), [812.8, 596.8, 354.1], 0.8);
        all_within(exact(&B), [965.2, 749.3, 506.5], 1.0);
        let cycle = Cycle::exact(&B.law(), BusySlot::Frozen).unwrap();
        assert!((cycle.idle_slots - 9.61).abs() < 0.02, "{cycle:?}");
        assert!((cycle.collisions - 0.1235).abs() < 0.001, "{cycle:?}");
    }

    #[test]
    fn m2_is_within_half_a_percent_of_the_exact_chain() {
        for set in [A, B, C] {
            let exact = set.pairs(Cycle::exact(&set.law(), BusySlot::Frozen));
            for (m2, exact) in set.pairs(Cycle::m2(&set.law())).iter().zip(exact) {
                assert!((m2 / exact - 1.0).abs() < 0.005, "{m2} {exact}");
            }
        }
    }

    #[test]
    fn ct_ap_has_the_tables_of_the_spec() {
        let ct = |s: &Set, up, down, b| {
            let pairs = Cycle::m2(&s.law()).unwrap().pairs(s.1, s.2, s.3).unwrap();
            pairs.ct_ap(up, down, b).unwrap() / 1000.0
        };
        // Spec S2.4 and §2T: n_up, n_down, b, then CT_AP in ms for sets A and B.
        for (up, down, b, in_a, in_b) in [
            (1.0, 1.0, 1.0, 0.5877, 0.7394),
            (15.0, 15.0, 1.0, 0.5877, 0.7394),
            (5.0, 5.0, 2.0, 0.6632, 0.8149),
            (10.0, 5.0, 2.0, 0.6563, 0.8080),
            (15.0, 5.0, 2.0, 0.6474, 0.7991),
            (5.0, 10.0, 2.0, 0.6563, 0.8080),
            (15.0, 10.0, 2.0, 0.6607, 0.8124),
        ] {
            assert!((ct(&A, up, down, b) - in_a).abs() < 5.1e-5);
            assert!((ct(&B, up, down, b) - in_b).abs() < 5.1e-5);
        }
        assert!((ct(&C, 1.0, 1.0, 1.0) - 0.8814).abs() < 5.1e-5);
    }

    #[test]
    fn one_direction_alone_has_data_one_way_and_acks_the_other() {
        let pairs = Cycle::m2(&B.law()).unwrap().pairs(20.0, 364.0, 148.0).unwrap();
        for b in [1.0, 2.0] {
            assert_eq!(pairs.ct_ap(4.0, 0.0, b).unwrap(), pairs.data_ack);
            assert_eq!(pairs.ct_ap(0.0, 4.0, b).unwrap(), pairs.data_ack);
        }
    }

    #[test]
    fn impossible_cycles_are_errors() {
        let law = Backoff { cw_min: 0, cw_max: 0, attempts: None };
        assert_eq!(Cycle::m1(&law).unwrap_err().what, "cw_max");
        assert_eq!(Cycle::m2(&law).unwrap_err().what, "cw_max");
        assert_eq!(Cycle::exact(&law, BusySlot::Frozen).unwrap_err().what, "cw_min");
        let cycle = Cycle::m2(&B.law()).unwrap();
        assert_eq!(cycle.time(0.0, 1.0, 1.0).unwrap_err().what, "slot");
        let pairs = cycle.pairs(20.0, 364.0, 148.0).unwrap();
        assert_eq!(pairs.ct_ap(0.0, 0.0, 1.0).unwrap_err().what, "n_up + n_down");
        assert_eq!(pairs.ct_ap(1.0, 1.0, 0.0).unwrap_err().what, "b");
    }
}
