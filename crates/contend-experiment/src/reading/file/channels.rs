//! The channels of access points: `channel` of each `[[ap]]`.

use super::error::FileError;
use super::field::Field;
use super::reader::Val;
use super::wifi::Wifi;
use contend_sim::wifi::phy::{Band, DataRate};

/// Reads the channels of these access points. Empty if all are on one channel.
pub(crate) fn channels(aps: &[Val], wifi: Option<&Wifi>, field: Option<&Field>) -> Result<Vec<u32>, FileError> {
    let all: Vec<Option<Val>> = aps.iter().map(|ap| Ok(ap.table()?.get("channel"))).collect::<Result<_, _>>()?;
    let Some(first) = all.iter().flatten().next() else { return Ok(vec![]) };
    let (Some(wifi), Some(field)) = (wifi, field) else {
        let help = "add [field] range = \"250m\", or remove it";
        return Err(first.error("is for a field, but in a cell all stations hear each other", help));
    };
    let (band, width) = (wifi.phy.band, if let DataRate::Mcs(mode) = wifi.phy.data { mode.width } else { 20 });
    let mut read: Vec<u32> = vec![];
    for (ap, channel) in aps.iter().zip(&all) {
        let Some(v) = channel else {
            return Err(ap.error("has no channel, but another access point has", "write a channel for each, or none"));
        };
        let number = v.integer(1..=233)? as u32;
        if first_of_block(band, number).is_none() {
            return Err(v.error(format!("is {number}, no channel of the {} band", band.name()), numbers(band)));
        }
        if let Some(other) = read.iter().find(|other| overlap(band, width, **other, number)) {
            return Err(v.error(
                format!("is {number}, which overlaps {other} of another access point at {width} MHz"),
                format!("write {other}, or a channel that does not overlap it"),
            ));
        }
        if field.forwards() && read.iter().any(|other| *other != number) {
            let help = "write one channel for all, or remove field.routing";
            return Err(v.error("differs from another, but stations forward packets for each other", help));
        }
        read.push(number);
    }
    // All on one channel: the same as without the key.
    if read.windows(2).all(|pair| pair.first() == pair.last()) { Ok(vec![]) } else { Ok(read) }
}

/// The first channel of the block of neighbouring channels in which `number` is; `None` if there is no such channel.
fn first_of_block(band: Band, number: u32) -> Option<u32> {
    let blocks: &[(u32, u32)] = match band {
        Band::Ghz2 => return (1..=14).contains(&number).then_some(1),
        Band::Ghz5 => &[(36, 64), (100, 144), (149, 177)],
        Band::Ghz6 => &[(1, 233)],
    };
    let (first, _) = blocks.iter().find(|(first, last)| (*first..=*last).contains(&number))?;
    (number - first).is_multiple_of(4).then_some(*first)
}

/// True if these two channels differ and have frequencies in common at so many megahertz. At 2.4 GHz neighbouring
/// numbers are 5 MHz apart and a channel lies around its number. In the other bands the channels of 20 MHz are bonded
/// in pairs, fours, and so on (IEEE 802.11-2020 Annex E).
fn overlap(band: Band, width: u16, a: u32, b: u32) -> bool {
    let megahertz = u32::from(width);
    let share = match band {
        Band::Ghz2 => a.abs_diff(b) * 5 < megahertz + 5,
        Band::Ghz5 | Band::Ghz6 => {
            let bonded =
                |number: u32| first_of_block(band, number).map(|first| (first, (number - first) * 5 / megahertz));
            bonded(a) == bonded(b)
        }
    };
    a != b && share
}

/// The channels of a band, as a remedy.
fn numbers(band: Band) -> &'static str {
    match band {
        Band::Ghz2 => "write a number from 1 to 14; 1, 6 and 11 do not overlap",
        Band::Ghz5 => "write a number like 36, 52, 100 or 149: they do not overlap up to 80 MHz",
        Band::Ghz6 => "write a number like 1, 33 or 65: they do not overlap up to 160 MHz",
    }
}
