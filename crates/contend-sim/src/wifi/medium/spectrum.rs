//! How much of a frame arrives at a receiver that is tuned to another channel.
//!
//! The method is the interference factor of Mishra, Shrivastava, Banerjee and Arbaugh, "Partially overlapped channels
//! not considered harmful", SIGMETRICS 2006: the part of the transmitted spectrum that passes the filter of the
//! receiver. Spectrum and filter both have the shape of the transmit mask of the standard, which is the most that a
//! transmitter may send. Where a mask bounds only the noise floor, far from the channel, it counts as nothing.

use super::phy::{Band, DataRate, Phy, Standard};

/// The spectrum of a frame, symmetric around the centre of its channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spectrum {
    /// DSSS and CCK.
    Dsss,
    /// OFDM in a channel of so many megahertz.
    Ofdm(u16),
}

/// Steps of the integral, in megahertz.
const STEP: f64 = 0.05;
/// A loss in decibels from which on nothing arrives.
const NOTHING: f64 = 60.0;

impl Spectrum {
    /// The spectrum of the data frames of a PHY.
    pub fn of(phy: &Phy) -> Spectrum {
        match phy.data {
            DataRate::Mcs(mode) => Spectrum::Ofdm(mode.width),
            DataRate::Legacy(_) if matches!(phy.standard, Standard::Dsss | Standard::B) => Spectrum::Dsss,
            DataRate::Legacy(_) => Spectrum::Ofdm(20),
        }
    }

    /// The power density so many megahertz from the centre, as a share of that at the centre.
    fn density(self, offset: f64) -> f64 {
        let f = offset.abs();
        let decibels = match self {
            // IEEE 802.11-2020 §15.4.5.5 and §16.3.7.4: -30 dBr from 11 MHz to 22 MHz.
            Spectrum::Dsss if f < 11.0 => 0.0,
            Spectrum::Dsss if f < 22.0 => -30.0,
            Spectrum::Dsss => return 0.0,
            // IEEE 802.11-2020 §17.3.9.3, and §21.3.17.1 for wide channels: straight lines in decibels between 0 dBr
            // 1 MHz inside the edge of the channel, -20 dBr 1 MHz outside, -28 dBr at its width, -40 dBr at 1.5 times
            // that. The masks of 802.11ax and be differ from it by half a megahertz at the edges.
            Spectrum::Ofdm(width) => {
                let width = f64::from(width);
                let corners =
                    [(width / 2.0 - 1.0, 0.0), (width / 2.0 + 1.0, -20.0), (width, -28.0), (1.5 * width, -40.0)];
                let Some(next) = corners.iter().position(|(at, _)| f < *at) else { return 0.0 };
                match next.checked_sub(1).map(|last| (corners[last], corners[next])) {
                    None => 0.0,
                    Some(((from, high), (to, low))) => high + (low - high) * (f - from) / (to - from),
                }
            }
        };
        libm::pow(10.0, decibels / 10.0)
    }

    /// The power of a frame that passes the filter of a receiver whose channel is so many megahertz away.
    fn passes(self, megahertz: f64) -> f64 {
        let reach = match self {
            Spectrum::Dsss => 22.0,
            Spectrum::Ofdm(width) => 1.5 * f64::from(width),
        };
        let steps = (2.0 * reach / STEP).round() as u32;
        let at = |i: u32| -reach + (f64::from(i) + 0.5) * STEP;
        (0..steps).map(|i| self.density(at(i)) * self.density(at(i) - megahertz)).sum()
    }

    /// What a frame loses, in decibels, on the way to a receiver whose channel has its centre so many megahertz away.
    /// `None` if nothing arrives: 60 dB or more.
    pub fn loss(self, megahertz: f64) -> Option<f64> {
        let share = self.passes(megahertz) / self.passes(0.0);
        let loss = -10.0 * libm::log10(share);
        (loss < NOTHING).then_some(loss.max(0.0))
    }
}

/// The centre of channel 14 of 2.4 GHz, in megahertz above channel 0; the others are 5 MHz apart.
const FOURTEEN: f64 = 77.0;

/// The centre of a channel in megahertz, above that of channel 0 of its band. `first` is the first channel of its
/// block of neighbouring channels, and `width` that of data frames.
pub fn centre(band: Band, number: u32, first: u32, width: u16) -> f64 {
    let (at, from, width) = (f64::from(number), f64::from(first), f64::from(width));
    match band {
        Band::Ghz2 if number == 14 => FOURTEEN,
        Band::Ghz2 => 5.0 * at,
        // Channels of 20 MHz are bonded in pairs, fours, and so on (IEEE 802.11-2020 Annex E).
        Band::Ghz5 | Band::Ghz6 => {
            let bonded = ((at - from) * 5.0 / width).floor();
            5.0 * from - 10.0 + (bonded + 0.5) * width
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, per MHz of density 1: a mask on itself passes 22 + 22 x 10^-6 = 22.0. At 5 MHz the middles share 17 MHz
    /// and each middle has 5 MHz in the other's skirt of 10^-3: 17.01 / 22, 1.117 dB. At 15 MHz they share 7 MHz, and
    /// have 11 MHz in the skirts: 7.022 / 22, 4.960 dB. At 25 MHz they share nothing, and have 8 MHz in the skirts:
    /// 0.016 / 22, 31.38 dB.
    #[test]
    fn the_loss_of_dsss_is_that_of_a_hand_calculation() {
        for (megahertz, want) in [(0.0, 0.0), (5.0, 1.117), (15.0, 4.960), (25.0, 31.38)] {
            let loss = Spectrum::Dsss.loss(megahertz).unwrap();
            assert!((loss - want).abs() < 0.01, "{megahertz} MHz: {loss} dB, not {want} dB");
        }
        // The middle of one, up to 11 MHz, is inside of the skirt of the other, from 35 - 22 = 13 MHz on.
        assert_eq!(Spectrum::Dsss.loss(35.0), None);
    }

    /// By hand, a channel of 20 MHz 20 MHz away: the middle of one, up to 9 MHz, is where the mask of the other falls
    /// from -20 dBr at 11 MHz to -28 dBr at 20 MHz and, from there to 29 MHz, to -28 - 12 x 0.9 = -38.8 dBr. A fall of
    /// s dB per MHz from a over l MHz has a (1 - 10^(-s l / 10)) 10 / (s ln 10). With s = 8 / 9, a = 10^-2, l = 9:
    /// 0.04111; with s = 1.2, a = 10^-2.8, l = 9: 0.00526. The two middles have both: 0.0927. Around 10 MHz both fall
    /// in 2 MHz: one by 10 (f - 9), the other rises as much, so that the product is 10^-2 over 2 MHz: 0.02. A mask on
    /// itself has 18 MHz and two falls of 20 dB in 2 MHz, squared: 2 x 10 / (20 ln 10) = 0.434. So -10 log10(0.113 /
    /// 18.43) = 22.1 dB, of which the skirts on both sides take less than 0.1 dB.
    #[test]
    fn the_loss_of_ofdm_is_that_of_a_hand_calculation() {
        let loss = Spectrum::Ofdm(20).loss(20.0).unwrap();
        assert!((loss - 22.1).abs() < 0.15, "{loss}");
        // The shape grows with the width, but for the edges of 2 MHz.
        let wide = Spectrum::Ofdm(80).loss(80.0).unwrap();
        assert!((wide - loss).abs() < 1.5, "{wide} {loss}");
        let losses: Vec<f64> = (0..9).map_while(|n| Spectrum::Ofdm(20).loss(5.0 * f64::from(n))).collect();
        assert!(losses.len() >= 8 && losses.is_sorted(), "{losses:?}");
        assert_eq!(Spectrum::Ofdm(20).loss(50.0), None);
    }

    #[test]
    fn centres_are_those_of_the_bonded_channels() {
        // 5000 MHz + 5 x 42, 58 and 155; 2407 MHz + 5 x 6, and 2484 MHz; 5950 MHz + 5 x 7 and 15.
        for (band, number, first, width, want) in [
            (Band::Ghz5, 44, 36, 80, 210.0),
            (Band::Ghz5, 52, 36, 80, 290.0),
            (Band::Ghz5, 161, 149, 80, 775.0),
            (Band::Ghz5, 40, 36, 20, 200.0),
            (Band::Ghz2, 6, 1, 20, 30.0),
            (Band::Ghz2, 14, 1, 20, 77.0),
            (Band::Ghz6, 5, 1, 80, 35.0),
            (Band::Ghz6, 1, 1, 160, 75.0),
        ] {
            assert_eq!(centre(band, number, first, width), want, "{number} at {width} MHz");
        }
    }
}
