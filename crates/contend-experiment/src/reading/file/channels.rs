//! The channels of access points: `channel` of each `[[ap]]`, and what arrives of one on another: `field.adjacent`.

use super::channel::level;
use super::error::FileError;
use super::field::Field;
use super::reader::Val;
use super::tree::NodeKind;
use super::wifi::Wifi;
use contend_sim::scenario::Adjacent;
use contend_sim::wifi::phy::{Band, DataRate};
use contend_sim::wifi::spectrum::{Spectrum, centre};

/// Reads the channels of these access points, and what arrives of frames of one on another. No channels if all are on
/// one.
pub(crate) fn channels(
    aps: &[Val],
    wifi: Option<&Wifi>,
    field: Option<&Field>,
) -> Result<(Vec<u32>, Option<Adjacent>), FileError> {
    let all: Vec<Option<Val>> = aps.iter().map(|ap| Ok(ap.table()?.get("channel"))).collect::<Result<_, _>>()?;
    let adjacent = field.and_then(Field::adjacent);
    let Some(first) = all.iter().flatten().next() else {
        return match adjacent {
            None => Ok((vec![], None)),
            Some((v, _)) => {
                let help = "write a channel for each [[ap]], or remove it";
                Err(v.error("is what arrives of other channels, but no access point has a channel", help))
            }
        };
    };
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
        // With `adjacent` a channel of 2.4 GHz may overlap another in part. In other bands it would be the same one.
        let may = adjacent.is_some() && band == Band::Ghz2;
        if let Some(other) = read.iter().find(|other| !may && overlap(band, width, **other, number)) {
            let more = if band == Band::Ghz2 { "; with field.adjacent = \"mask\" channels may overlap" } else { "" };
            return Err(v.error(
                format!("is {number}, which overlaps {other} of another access point at {width} MHz"),
                format!("write {other}, or a channel that does not overlap it{more}"),
            ));
        }
        if field.forwards() && read.iter().any(|other| *other != number) {
            let help = "write one channel for all, or remove field.routing";
            return Err(v.error("differs from another, but stations forward packets for each other", help));
        }
        read.push(number);
    }
    let Some((v, energy)) = adjacent else { return Ok((several(read), None)) };
    let losses = losses(v)?;
    let spectrum = Spectrum::of(&wifi.phy);
    // From one channel to the next.
    let step = if band == Band::Ghz2 { 5.0 } else { f64::from(width) };
    let mut overlaps: Vec<([u32; 2], f64)> = vec![];
    for (i, &a) in read.iter().enumerate() {
        for &b in read.iter().take(i) {
            let at = |number| centre(band, number, first_of_block(band, number).unwrap_or(1), width);
            let apart = (at(a) - at(b)).abs();
            let loss = match &losses {
                None => spectrum.loss(apart),
                Some(list) => ((apart / step).round() as usize).checked_sub(1).and_then(|i| list.get(i)).copied(),
            };
            overlaps.extend(loss.filter(|_| a != b).map(|loss| ([b, a], loss)));
        }
    }
    overlaps.sort_unstable_by_key(|(pair, _)| *pair);
    overlaps.dedup_by_key(|(pair, _)| *pair);
    let read = several(read);
    let adjacent = (!overlaps.is_empty()).then_some(Adjacent { overlaps, energy: *energy });
    Ok((read, adjacent))
}

/// These channels. All on one is the same as without the key.
fn several(read: Vec<u32>) -> Vec<u32> {
    if read.windows(2).all(|pair| pair.first() == pair.last()) { vec![] } else { read }
}

/// Reads what a frame loses on the way into the next channel, the one after that, and so on: `field.adjacent`. `None`
/// if it follows from the mask of the standard.
fn losses(v: &Val) -> Result<Option<Vec<f64>>, FileError> {
    const SHAPE: &str = "\"mask\", or losses like [\"1.1dB\", \"3dB\", \"10dB\"]";
    if let NodeKind::Text(_) = &v.node.kind {
        return v.word(&[("mask", ()), ("none", ())]).map(|()| None);
    }
    let losses: Vec<f64> = v.list(SHAPE)?.map(|item| level(&item, "dB", (0.0, 200.0))).collect::<Result<_, _>>()?;
    if losses.is_empty() { Err(v.error("has no loss", format!("write {SHAPE}"))) } else { Ok(Some(losses)) }
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
