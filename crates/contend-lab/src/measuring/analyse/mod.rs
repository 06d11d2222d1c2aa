//! Measuring from captures: what a transmitter's frames tell about how it contends for the air.
//!
//! [`CapturedFrames`] is what a capture file, or a run of our own, shows of the frames that contend. [`fingerprint`]
//! tests the backoff of one transmitter, [`access`] whether several get the air equally often. Capture files are
//! untrusted: any bytes yield frames or a [`Problem`].

pub mod access;
mod container;
mod dissect;
pub mod exchange;
pub mod fingerprint;
mod independence;

use crate::experiment::results::Run;
use contend_core::Time;
use contend_sim::wifi::{AP, Frame, FrameKind, FrameOutcome};
use dissect::What;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

/// Most frames of a capture that are looked at.
pub const MOST_FRAMES: usize = 20_000_000;

/// Why a capture cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Problem {
    /// What is wrong, as a sentence about the file: "it is truncated".
    pub what: String,
    /// What to do instead.
    pub remedy: String,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { what: what.into(), remedy: remedy.into() }
    }
}

/// Who sent a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// A MAC address.
    Mac([u8; 6]),
    /// An IPv4 address, where a capture has no link layer.
    Ip4([u8; 4]),
    /// An IPv6 address, likewise.
    Ip6([u8; 16]),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Mac(m) => f.write_str(&m.map(|b| format!("{b:02x}")).join(":")),
            Address::Ip4(a) => std::net::Ipv4Addr::from(*a).fmt(f),
            Address::Ip6(a) => std::net::Ipv6Addr::from(*a).fmt(f),
        }
    }
}

/// A frame that contended for the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When, in nanoseconds since any epoch; the same point of every frame.
    pub at_ns: u64,
    /// Who sent it; unknown when it cannot be read.
    pub from: Option<Address>,
    /// MPDU in bytes, FCS included (worked out from the packet where the capture has no 802.11 header).
    pub bytes: u32,
    /// The IP packet in bytes, when it can be seen.
    pub packet: Option<u32>,
    /// Its rate in bits per second, when the capture says it.
    pub rate_bps: Option<u64>,
    /// Whether it is a retransmission of the MAC.
    pub retry: bool,
    /// The MAC's sequence number.
    pub sequence: Option<u16>,
    /// Whether it was received with a wrong FCS: it collided, or the channel spoilt it.
    pub spoilt: bool,
    /// Whether it carries data.
    pub data: bool,
    /// Source of its IPv4 packet, when it can be seen.
    pub ip: Option<[u8; 4]>,
    /// Whether an access point sent it.
    pub down: bool,
}

/// What a capture shows.
#[derive(Clone, Debug, Default)]
pub struct CapturedFrames {
    /// Frames that contended, in order of time; answers (ACK, CTS) and other control frames are left out.
    pub frames: Vec<Seen>,
    /// Whether times are those of the receiver's own clock (radiotap's TSFT) and not of the capturing system.
    pub tsft: bool,
    /// Names of transmitters, as far as the capture gives them.
    pub names: BTreeMap<Address, String>,
}

impl CapturedFrames {
    /// Reads a capture file.
    ///
    /// # Errors
    /// When it is none, is damaged, or has a link type that is not read; with the remedy.
    pub fn read(r: impl Read) -> Result<CapturedFrames, Problem> {
        let mut frames: Vec<(Seen, Option<u64>)> = Vec::new();
        let (mut records, mut foreign) = (0_u64, None);
        let ips = container::read(r, &mut |record| {
            records += 1;
            match dissect::dissect(&record) {
                What::Frame(..) if frames.len() == MOST_FRAMES => {
                    return Err(Problem::new(
                        format!("it has more than {MOST_FRAMES} frames"),
                        "cut it: editcap -r FILE SHORTER 1-1000000",
                    ));
                }
                What::Frame(seen, tsft) => frames.push((seen, tsft)),
                What::Foreign(link) => foreign = Some(link),
                What::Control | What::Unreadable => {}
            }
            Ok(())
        })?;
        if frames.is_empty() {
            return Err(match foreign {
                Some(link) => Problem::new(
                    format!(
                        "its link type is {link}; read are radiotap (127), 802.11 (105), Ethernet (1) and raw IP (101)"
                    ),
                    "capture on the interface itself, in monitor mode for 802.11",
                ),
                None if records == 0 => Problem::new("it has no packets", "capture for longer"),
                None => Problem::new("it has no frame that contends", "capture data frames, not answers alone"),
            });
        }
        // One clock for all: the receiver's, where every frame has its time.
        let tsft = frames.iter().all(|(_, t)| t.is_some());
        let at = |(seen, t): (Seen, Option<u64>)| Seen { at_ns: t.filter(|_| tsft).unwrap_or(seen.at_ns), ..seen };
        let mut frames: Vec<Seen> = frames.into_iter().map(at).collect();
        frames.sort_by_key(|f| f.at_ns);
        let named = |f: &Seen| Some((f.from.filter(|_| !f.down)?, ips.get(&f.ip?)?.clone()));
        let mut names: BTreeMap<Address, String> = frames.iter().filter_map(named).collect();
        for f in frames.iter().filter(|f| f.down) {
            if let Some(a) = f.from {
                names.entry(a).or_insert_with(|| "ap".to_owned());
            }
        }
        Ok(CapturedFrames { frames, tsft, names })
    }

    /// The frames of a run of our own, from `from` on; transmitters have the names of the run's stations.
    pub fn of_run(run: &Run, from: Time) -> CapturedFrames {
        let mut frames: Vec<Seen> =
            run.frames.iter().filter(|f| f.kind == FrameKind::Data && f.start >= from).map(seen).collect();
        frames.sort_by_key(|f| f.at_ns);
        let names = (0..).zip(&run.stations).map(|(id, name)| (address(id), name.clone())).collect();
        CapturedFrames { frames, tsft: false, names }
    }

    /// How many data frames each transmitter sent, the busiest first.
    pub fn transmitters(&self) -> Vec<(Address, usize)> {
        let mut counts: BTreeMap<Address, usize> = BTreeMap::new();
        for a in self.frames.iter().filter(|f| f.data && !f.spoilt).filter_map(|f| f.from) {
            *counts.entry(a).or_default() += 1;
        }
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_by_key(|(a, n)| (std::cmp::Reverse(*n), *a));
        all
    }

    /// A transmitter by address or name; without one, the busiest.
    ///
    /// # Errors
    /// When nobody of that name or address sent a data frame.
    pub fn station(&self, wanted: Option<&str>) -> Result<Address, Problem> {
        let all = self.transmitters();
        let label = |a: &Address| self.label(*a);
        let found = match wanted {
            None => all.first(),
            Some(w) => all
                .iter()
                .find(|(a, _)| a.to_string().eq_ignore_ascii_case(w) || self.names.get(a).is_some_and(|n| n == w)),
        };
        found.map(|(a, _)| *a).ok_or_else(|| match wanted {
            _ if all.is_empty() => Problem::new("it has no data frame", "capture while the station sends"),
            None => Problem::new("it has no data frame", "capture while the station sends"),
            Some(w) => {
                let some: Vec<String> = all.iter().take(8).map(|(a, n)| format!("{} ({n} frames)", label(a))).collect();
                Problem::new(
                    format!("no data frame in it is from `{w}`"),
                    format!("senders are {}{}", some.join(", "), if all.len() > 8 { ", ..." } else { "" }),
                )
            }
        })
    }

    /// Name and address of a transmitter, as they are printed.
    pub fn label(&self, a: Address) -> String {
        self.names.get(&a).map_or_else(|| a.to_string(), |n| format!("{n} [{a}]"))
    }
}

/// The address of a station of a run, as captures show it.
pub(crate) fn address(id: u32) -> Address {
    let [.., hi, lo] = id.to_be_bytes();
    Address::Mac([0x02, 0, 0, 0, hi, lo])
}

/// A frame of a run as a capture shows it.
fn seen(f: &Frame) -> Seen {
    Seen {
        at_ns: f.start.as_nanos(),
        from: Some(address(f.from)),
        bytes: f.bytes,
        packet: f.packet.map(|p| p.size),
        rate_bps: Some(f.rate),
        retry: f.retry > 0,
        sequence: Some(f.sequence),
        spoilt: f.outcome != FrameOutcome::Received,
        data: true,
        ip: None,
        down: f.from == AP,
    }
}
