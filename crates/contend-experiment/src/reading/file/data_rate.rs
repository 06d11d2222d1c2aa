//! The rate of data frames in `[wifi]` and `[[station]]`: `rate` in standards without MCS; in later ones `width`,
//! `streams`, `mcs`, `guard` and what else decides the duration of a frame.

use super::error::FileError;
use super::reader::{Fields, Val};
use contend_core::Span;
use contend_sim::wifi::phy::{Band, DataRate, Family, Fec, McsTiming, Mode, Phy, Standard};

/// Channel widths in MHz.
const WIDTHS: [(&str, u16); 5] = [("20MHz", 20), ("40MHz", 40), ("80MHz", 80), ("160MHz", 160), ("320MHz", 320)];
/// Streams that an HT index counts in steps of eight (Tables 19-27 to 19-41).
const HT_STEP: u8 = 8;

/// Reads the standard.
pub(crate) fn standard(v: &Val) -> Result<Standard, FileError> {
    const ALIASES: [(&str, &[&str]); 4] = [
        ("802.11n", &["n", "wifi4", "ht"]),
        ("802.11ac", &["ac", "wifi5", "vht"]),
        ("802.11ax", &["ax", "wifi6", "wifi6e", "he"]),
        ("802.11be", &["be", "wifi7", "eht"]),
    ];
    let given = v.text()?.to_lowercase().replace([' ', '-', '_'], "");
    let short = given.trim_start_matches("ieee").trim_start_matches("802.11");
    match ALIASES.iter().find(|(name, names)| names.contains(&short) && v.text().ok() != Some(name)) {
        Some((name, _)) => Err(v.error("is a short name", format!("write \"{name}\""))),
        None => v.word(&Standard::ALL),
    }
}

/// Reads the band of `standard`.
pub(crate) fn band(f: &mut Fields, standard: Standard) -> Result<Band, FileError> {
    let bands = standard.bands();
    let default = bands.first().copied().unwrap_or(Band::Ghz5);
    f.read_or("band", default, |v| {
        let band = v.word(&Band::ALL)?;
        if bands.contains(&band) {
            return Ok(band);
        }
        let all: Vec<String> = bands.iter().map(|b| format!("\"{}\"", b.name())).collect();
        let message = format!("is {}, where {} does not work", band.name(), standard.name());
        Err(v.error(message, format!("write {}", all.join(" or "))))
    })
}

/// Reads the standard of a station: that of the cell, or an older one that works in the same band.
pub(crate) fn station_standard(f: &mut Fields, phy: &Phy) -> Result<Standard, FileError> {
    f.read_or("standard", phy.standard, |v| {
        let own = standard(&v)?;
        if own <= phy.standard && own.bands().contains(&phy.band) {
            return Ok(own);
        }
        let possible = |s: &(&str, Standard)| s.1 <= phy.standard && s.1.bands().contains(&phy.band);
        let all: Vec<&str> = Standard::ALL.iter().filter(|s| possible(s)).map(|s| s.0).collect();
        let message =
            format!("is {}, which cannot join a cell of {} at {}", own.name(), phy.standard.name(), phy.band.name());
        Err(v.error(message, format!("write one of: {}", all.join(", "))))
    })
}

/// Reads one of the rates of `standard` without MCS.
pub(crate) fn legacy_rate(v: &Val, standard: Standard, band: Band) -> Result<u64, FileError> {
    let (bps, rates) = (v.rate()?, standard.rates(band));
    if rates.contains(&bps) {
        return Ok(bps);
    }
    let all: Vec<String> = rates.iter().map(|&r| mbps(r)).collect();
    Err(v.error("is not a rate of this standard", format!("rates: {}", all.join(", "))))
}

/// `bps` as a file has it.
pub(crate) fn mbps(bps: u64) -> String {
    format!("{}Mbps", (bps as f64 / 1e5).round() / 10.0)
}

/// Reads the rate of data frames of a station with `standard` in the cell of `phy`. Missing keys have the values of
/// `default`, or else the highest possible values.
pub(crate) fn data_rate(
    f: &mut Fields,
    standard: Standard,
    phy: &Phy,
    default: Option<DataRate>,
) -> Result<DataRate, FileError> {
    let rate = f.get("rate");
    let given = Given::read(f);
    let Some(family) = standard.family() else {
        if let Some(v) = given.first() {
            let highest = standard.rates(phy.band).last().copied().unwrap_or_default();
            let message = format!("is for standards with MCS, and {} has rates", standard.name());
            let help = format!("write rate = \"{}\", or standard = \"802.11ax\"", mbps(highest));
            return Err(v.error(message, help));
        }
        let rates = standard.rates(phy.band);
        let default = default.unwrap_or(DataRate::Legacy(rates.last().copied().unwrap_or_default()));
        return rate.map_or(Ok(default), |v| legacy_rate(&v, standard, phy.band).map(DataRate::Legacy));
    };
    let cell = default.and_then(|d| if let DataRate::Mcs(mode) = d { Some(mode) } else { None });
    let mode = given.mode(f, family, cell, standard.widest(phy.band), phy.band)?;
    match rate {
        None => Ok(DataRate::Mcs(mode)),
        Some(v) => {
            let (bps, at) = (v.rate()?, |mcs| McsTiming::new(Mode { mcs, ..mode }, Span::ZERO).bps());
            let exists = |mcs: &u8| Mode { mcs: *mcs, ..mode }.checked().is_ok();
            let nearest = (0..=mode.family.highest_mcs()).filter(exists).min_by_key(|mcs| at(*mcs).abs_diff(bps));
            let nearest = nearest.unwrap_or(0);
            let message = format!("is for standards without MCS, and {} has MCS", standard.name());
            let mut help = format!("write mcs = {nearest} ({} here)", mbps(at(nearest)));
            if v.path.starts_with("station") {
                help +=
                    &format!(", or add standard = \"{}\"", if phy.band == Band::Ghz2 { "802.11g" } else { "802.11a" });
            }
            Err(v.error(message, help))
        }
    }
}

/// The keys of a mode, as a table has them.
struct Given<'a> {
    width: Option<Val<'a>>,
    streams: Option<Val<'a>>,
    mcs: Option<Val<'a>>,
    guard: Option<Val<'a>>,
    fec: Option<Val<'a>>,
    padding: Option<Val<'a>>,
    extended: Option<Val<'a>>,
}

impl<'a> Given<'a> {
    fn read(f: &mut Fields<'a>) -> Given<'a> {
        Given {
            width: f.get("width"),
            streams: f.get("streams"),
            mcs: f.get("mcs"),
            guard: f.get("guard"),
            fec: f.get("fec"),
            padding: f.get("packet_padding"),
            extended: f.get("extended_range"),
        }
    }

    /// One of the keys, if there is any.
    fn first(&self) -> Option<&Val<'a>> {
        let Given { width, streams, mcs, guard, fec, padding, extended } = self;
        [width, streams, mcs, guard, fec, padding, extended].into_iter().flatten().next()
    }

    /// The mode that the keys select. Missing keys have the values of `cell`, the mode of `[wifi]`.
    fn mode(&self, f: &Fields, family: Family, cell: Option<Mode>, widest: u16, band: Band) -> Result<Mode, FileError> {
        let family = self.family(cell.map_or(family, |c| c.family))?;
        let cell = cell.filter(|c| c.family == family);
        let width = match &self.width {
            None => cell.map_or(WIDTHS[0].1, |c| c.width),
            Some(v) => {
                let width = v.word(&WIDTHS)?;
                if width > widest && family.widths().iter().any(|w| w.0 == width) {
                    let message =
                        format!("is {width} MHz, which {} does not have at {}", family.standard(), band.name());
                    return Err(v.error(message, format!("write width = \"{widest}MHz\"")));
                }
                width
            }
        };
        let (streams, mcs) = self.streams_and_mcs(family)?;
        let guard = self.guard.as_ref().map(|v| v.positive_span()).transpose()?;
        let padding = self.padding.as_ref().map(|v| v.span()).transpose()?;
        let fec = self.fec.as_ref().map(|v| v.word(&[("bcc", Fec::Bcc), ("ldpc", Fec::Ldpc)])).transpose()?;
        let base = Mode {
            family,
            width,
            streams: streams.or(cell.map(|c| c.streams)).unwrap_or(1),
            mcs: 0,
            guard: guard.or(cell.map(|c| c.guard)).unwrap_or(Span::from_nanos(800)),
            fec: Fec::Bcc,
            padding: match padding {
                Some(span) => u8::try_from(span.as_nanos().div_ceil(1000)).unwrap_or(u8::MAX),
                None => cell.map_or(0, |c| c.padding),
            },
        };
        let mode = mcs.or(cell.map(|c| c.mcs)).map_or_else(|| base.fastest(), |mcs| Mode { mcs, ..base });
        // A code that [wifi] names is that of its stations too.
        let of_cell = cell.filter(|c| c.fec != c.usual_fec()).map(|c| c.fec);
        let fec = fec.or(of_cell).unwrap_or_else(|| mode.usual_fec());
        Mode { fec, ..mode }.checked().map_err(|no| {
            let at = match no.key {
                "width" => &self.width,
                "streams" => &self.streams,
                "guard" => &self.guard,
                "packet_padding" => &self.padding,
                _ => &self.mcs,
            };
            match at {
                Some(v) => v.error(no.why.what, no.why.remedy),
                None => f.error(format!("has a mode that does not exist: {} {}", no.key, no.why.what), no.why.remedy),
            }
        })
    }

    /// The family, with or without the extended range.
    fn family(&self, family: Family) -> Result<Family, FileError> {
        let Some(v) = &self.extended else { return Ok(family) };
        match (family, v.flag()?) {
            (Family::He | Family::HeExtended, true) => Ok(Family::HeExtended),
            (Family::He | Family::HeExtended, false) => Ok(Family::He),
            (_, true) => Err(v.error("is for 802.11ax only", "remove it, or write standard = \"802.11ax\"")),
            (other, false) => Ok(other),
        }
    }

    /// The streams and the MCS of one stream, as far as they are given. The index of HT counts the streams too.
    fn streams_and_mcs(&self, family: Family) -> Result<(Option<u8>, Option<u8>), FileError> {
        let streams = self.streams.as_ref().map(|v| v.integer(1..=8)).transpose()?.map(|n| n as u8);
        let Some(v) = &self.mcs else { return Ok((streams, None)) };
        let index = v.integer(0..=31)? as u8;
        if family != Family::Ht || index < HT_STEP {
            return Ok((streams, Some(index)));
        }
        let (counted, mcs) = (index / HT_STEP + 1, index % HT_STEP);
        match streams.filter(|s| *s != counted) {
            None => Ok((Some(counted), Some(mcs))),
            Some(other) => {
                let message = format!("is {index}, which has {counted} streams, but `streams` is {other}");
                let same = mcs + (other.min(Family::Ht.most_streams()) - 1) * HT_STEP;
                Err(v.error(message, format!("write mcs = {same}")))
            }
        }
    }
}
