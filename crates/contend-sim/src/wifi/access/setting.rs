//! What a rule knows about its station and its cell when it is built.

use super::Category;
use crate::wifi::medium::phy::{DataRate, Format, Phy, Standard};

/// What a rule knows about its station and its cell when it is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Smallest contention window (aCWmin): a draw is from 0..=CW.
    pub cw_min: u32,
    /// Largest contention window (aCWmax).
    pub cw_max: u32,
    /// The station's number among all that contend, from 0.
    pub rank: u32,
    /// Number of stations, with or without data to send.
    pub stations: u32,
    /// Duration of a collision, in slots.
    pub collision: f64,
    /// The highest rate of the cell ([`Phy::fastest`]) divided by the rate of the station.
    pub slower: f64,
    /// The standard.
    pub standard: Standard,
    /// The category that the rule is for, if the station has categories.
    pub category: Category,
}

/// Size in bytes of the IP packet in [`Setting::collision`].
const PACKET: u32 = 1500;

impl Setting {
    /// The only station of a cell with this PHY. A collision takes a frame of 1500 B at the highest rate, and DIFS.
    pub fn of(phy: &Phy) -> Setting {
        let frame = phy.fastest().map_or(phy.slot, |rate| rate.airtime(rate.psdu(phy.mpdu(PACKET))).total);
        let collision = (frame + phy.difs()).as_nanos() as f64 / phy.slot.as_nanos().max(1) as f64;
        Setting {
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            rank: 0,
            stations: 1,
            collision,
            slower: 1.0,
            standard: phy.standard,
            category: Category::Be,
        }
    }

    /// The same for a station that sends at `rate`.
    pub fn at(self, phy: &Phy, rate: DataRate) -> Setting {
        let bps = |format: Option<Format>| format.map_or(1, |f| f.bps) as f64;
        Setting { slower: bps(phy.fastest()) / bps(phy.format(rate)), ..self }
    }

    /// The same for this category of the station.
    pub fn of_category(self, category: Category) -> Setting {
        Setting { category, ..self }
    }

    /// The same for station `rank` of `stations`.
    pub fn member(self, rank: u32, stations: u32) -> Setting {
        Setting { rank, stations, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::medium::phy::Preamble;

    /// Heusse et al. 2005 have T_c of about 68 slots for 802.11b: 192 us of preamble, 1534 to 1536 B at 11 Mb/s and 50
    /// us are 1358 us.
    #[test]
    fn a_collision_in_802_11b_takes_sixty_eight_slots() {
        let s = Setting::of(&Phy::new(Standard::B, Preamble::Long));
        assert!((67.5..68.5).contains(&s.collision), "{}", s.collision);
    }
}
