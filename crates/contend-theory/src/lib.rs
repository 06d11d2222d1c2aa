//! Closed forms that the simulation is checked against.
//!
//! Each file is one model from one source. A model takes plain numbers (microseconds, slots, probabilities), never a
//! PHY table, and returns plain numbers. A model shares no code with the simulator: agreement between the two is
//! therefore independent evidence.
//!
//! | module | what it predicts | source |
//! | --- | --- | --- |
//! | [`bianchi`] | n saturated stations, decoupled | Bianchi 2000; Bianchi and Tinnirello 2005 |
//! | [`two_station`] | two saturated stations, exactly | own derivation |
//! | [`cycle_time`] | the mean time in which AP and station succeed once each | Keceli, Inan, Ayanoglu 2008 |
//! | [`fcwa`] | the window that an access point's queue holds, and the queue that a window needs | Keceli, Inan, Ayanoglu 2008 |
//! | [`ampdu`] | rates and airtime of stations with aggregated frames | Høiland-Jørgensen et al. 2017 |
//! | [`idle_sense`] | the attempt rate at which saturated stations carry the most | Heusse et al. 2005, as Starzetz 2006 reports it |
//! | [`padhye`] | TCP window and rate under random loss | Mathis et al. 1997; Padhye et al. 1998 |
//! | [`fluid`] | where Reno and TCP-Jersey settle, and how they get there | Xu 2005 (Jersey 2005) §8.3 to §8.4.1 |
//! | [`differentiator`] | what telling congestion from link errors gains | Jersey 2005 §8.4.2 |
//! | [`aiad`] | whether additive increase and adaptive decrease settles | Jersey 2005 chapter 6, appendix A |
//! | [`gaiad`] | the same law for rates instead of windows | Jersey 2005 chapter 9 |
//! | [`hash_table`] | collisions and waits of stations that draw a slot and forget it | Starzetz 2006 §8.1.1 |
//! | [`effective_window`] | the size of that table that collides as often as another method; better or worse than it | Starzetz 2006 §8.1.1, §8.2 |
//! | [`self_correlation`] | when such a station, or one of TCF, sends again | Starzetz 2006 §8.2 |
//! | [`window_fairness`] | Jain's index of such stations over a window of successes | Starzetz 2006 §8.2 |
//! | [`backoff_cost`] | the channel time that backoffs waste, and the distribution that wastes least | Starzetz 2006 §8.1.2; Tay et al. 2004 |
//! | [`backoff_density`] | the same for two stations in continuous time | Starzetz 2006 §8.1.2 |
//! | [`slot_classes`] | shares of classes of stations with distributions of their own | Starzetz 2006 §8.3 |
//! | [`dsss`] | durations of 802.11b frames and of an RTS/CTS exchange | IEEE 802.11-2016 §15, §16 |
//! | [`rt_winf`] | capacity and available bandwidth that rt-Winf measures, and the limit TH_80211b | Barreto 2012 §4.3, §4.4 |
//! | [`hops`] | the delay of one packet over a chain of idle hops | IEEE 802.11-2016 §10.3; compared with ns-2 |
//! | [`tcp_ap`] | the pacing delay of TCP-AP and WE TCP-AP | Barreto 2012 §2.3.4, §6.3 |
//! | [`rcp`] | where RCP settles | Barreto 2012 eqs. 2.21, 5.15; Dukkipati 2008 |
//! | [`l4s`] | where Prague settles under marks, and how it shares a coupled queue | RFC 9331, RFC 9332; own derivation |
//! | [`permutation`] | stations that go through fixed orders of the slots | Starzetz 2006 §8.1.2 |
//!
//! Tools of [`fluid`] to [`gaiad`]: [`delayed`] integrates differential equations with delays, [`hayes`] decides
//! whether a linear one is stable, and [`marking`] gives the loss as a function of the load. [`slots`] has
//! distributions over the slots of a window.

pub mod aiad;
pub mod ampdu;
pub mod backoff_cost;
pub mod backoff_density;
mod bessel;
pub mod bianchi;
pub mod cycle_time;
pub mod dcf;
pub mod delayed;
pub mod differentiator;
pub mod dsss;
pub mod effective_window;
pub mod fcwa;
pub mod fluid;
pub mod gaiad;
pub mod hash_table;
pub mod hayes;
pub mod hops;
pub mod idle_sense;
mod invalid;
pub mod l4s;
pub mod marking;
mod numbers;
pub mod padhye;
pub mod permutation;
pub mod rcp;
pub mod rt_winf;
pub mod self_correlation;
pub mod slot_classes;
pub mod slots;
pub mod tcp_ap;
pub mod two_station;
pub mod window_fairness;

pub use dcf::{Backoff, SlotTimes};
pub use invalid::Invalid;
