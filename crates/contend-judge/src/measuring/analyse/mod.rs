//! Analysis of captures: how a transmitter contends for the air, measured from its frames.
//!
//! [`CapturedFrames`] holds the contending frames of a capture file or of a simulated run. [`fingerprint`] tests the
//! backoff of one transmitter. [`access`] tests whether two transmitters get the air equally often. [`packets`] reads
//! the IP packets of any capture. Input is untrusted: any bytes give frames, packets or a [`Refusal`].

pub mod access;
mod container;
mod dissect;
pub mod exchange;
pub mod fingerprint;
mod independence;
pub mod packets;

use contend_core::{Refusal, Time};
use contend_experiment::results::Run;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome};
use dissect::What;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

/// Maximum number of frames of a capture.
pub const MOST_FRAMES: usize = 20_000_000;

/// The sender of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// A MAC address.
    Mac([u8; 6]),
    /// An IPv4 address, if the capture has no link layer.
    Ip4([u8; 4]),
    /// An IPv6 address, if the capture has no link layer.
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
    /// Time of the frame in nanoseconds since any epoch; the same point of each frame.
    pub at_ns: u64,
    /// Sender; unknown if it cannot be read.
    pub from: Option<Address>,
    /// Length of the MPDU in bytes, with FCS. If the capture has no 802.11 header, it is computed from the packet.
    pub bytes: u32,
    /// Length of the IP packet in bytes, if known.
    pub packet: Option<u32>,
    /// Rate in bits per second, if known.
    pub rate_bps: Option<u64>,
    /// True if the frame is a retransmission by the MAC.
    pub retry: bool,
    /// Sequence number of the MAC.
    pub sequence: Option<u16>,
    /// True if the FCS is wrong: the frame collided, or the channel corrupted it.
    pub corrupted: bool,
    /// True if the frame carries data.
    pub data: bool,
    /// Source address of the IPv4 packet, if known.
    pub ip: Option<[u8; 4]>,
    /// True if an access point sent the frame.
    pub down: bool,
}

/// The contending frames of a capture.
#[derive(Clone, Debug, Default)]
pub struct CapturedFrames {
    /// Frames that contended, in order of time. Answers (ACK, CTS) and other control frames are left out.
    pub frames: Vec<Seen>,
    /// True if times come from the receiver's own clock (radiotap's TSFT), false if they come from the capturing
    /// system.
    pub tsft: bool,
    /// Names of transmitters, if the capture has names.
    pub names: BTreeMap<Address, String>,
}

impl CapturedFrames {
    /// Reads a capture file.
    ///
    /// # Errors
    /// When the file is not a capture, is damaged, or has an unsupported link type; the error contains the remedy.
    pub fn read(r: impl Read) -> Result<CapturedFrames, Refusal> {
        let mut frames: Vec<(Seen, Option<u64>)> = Vec::new();
        let (mut records, mut foreign) = (0_u64, None);
        let ips = container::read(r, &mut |record| {
            records += 1;
            match dissect::dissect(&record) {
                What::Frame(..) if frames.len() == MOST_FRAMES => {
                    return Err(Refusal::new(
                        format!("the file has more than {MOST_FRAMES} frames"),
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
                Some(link) => Refusal::new(
                    format!(
                        "the link type is {link}; supported: radiotap (127), 802.11 (105), Ethernet (1), raw IP (101)"
                    ),
                    "capture on the interface itself, in monitor mode for 802.11",
                ),
                None if records == 0 => Refusal::new("the file has no packets", "capture for longer"),
                None => Refusal::new("the file has no frame that contends", "capture data frames, not only answers"),
            });
        }
        // All times must come from one clock: the receiver's, if every frame has such a time.
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

    /// The frames of a simulated run, from `from` on. Transmitters have the names of the run's stations.
    pub fn of_run(run: &Run, from: Time) -> CapturedFrames {
        let mut frames: Vec<Seen> = run
            .detail
            .frames
            .iter()
            .filter(|f| f.kind == FrameKind::Data && f.start >= from)
            .map(|f| seen(f, run))
            .collect();
        frames.sort_by_key(|f| f.at_ns);
        let names = (0..).zip(&run.stations).map(|(id, name)| (address(id), name.clone())).collect();
        CapturedFrames { frames, tsft: false, names }
    }

    /// The number of data frames of each transmitter, the busiest first.
    pub fn transmitters(&self) -> Vec<(Address, usize)> {
        let mut counts: BTreeMap<Address, usize> = BTreeMap::new();
        for a in self.frames.iter().filter(|f| f.data && !f.corrupted).filter_map(|f| f.from) {
            *counts.entry(a).or_default() += 1;
        }
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_by_key(|(a, n)| (std::cmp::Reverse(*n), *a));
        all
    }

    /// The transmitter with the address or name `wanted`; without `wanted`, the busiest.
    ///
    /// # Errors
    /// When no data frame has this sender.
    pub fn station(&self, wanted: Option<&str>) -> Result<Address, Refusal> {
        let all = self.transmitters();
        let label = |a: &Address| self.label(*a);
        let found = match wanted {
            None => all.first(),
            Some(w) => all
                .iter()
                .find(|(a, _)| a.to_string().eq_ignore_ascii_case(w) || self.names.get(a).is_some_and(|n| n == w)),
        };
        found.map(|(a, _)| *a).ok_or_else(|| match wanted {
            _ if all.is_empty() => Refusal::new("the file has no data frame", "capture while the station sends"),
            None => Refusal::new("it has no data frame", "capture while the station sends"),
            Some(w) => {
                let some: Vec<String> = all.iter().take(8).map(|(a, n)| format!("{} ({n} frames)", label(a))).collect();
                Refusal::new(
                    format!("the file has no data frame from `{w}`"),
                    format!("the senders are {}{}", some.join(", "), if all.len() > 8 { ", ..." } else { "" }),
                )
            }
        })
    }

    /// Name and address of a transmitter, as printed.
    pub fn label(&self, a: Address) -> String {
        self.names.get(&a).map_or_else(|| a.to_string(), |n| format!("{n} [{a}]"))
    }
}

/// The MAC address that captures use for a station of a run.
pub(crate) fn address(id: u32) -> Address {
    let [.., hi, lo] = id.to_be_bytes();
    Address::Mac([0x02, 0, 0, 0, hi, lo])
}

/// A frame of a run, as a capture shows it.
fn seen(f: &Frame, run: &Run) -> Seen {
    Seen {
        at_ns: f.start.as_nanos(),
        from: Some(address(f.from)),
        bytes: f.bytes,
        packet: f.packet.map(|p| p.size),
        rate_bps: Some(f.rate),
        retry: f.retry > 0,
        sequence: Some(f.sequence),
        corrupted: f.outcome != FrameOutcome::Received,
        data: true,
        ip: None,
        down: run.is_ap(f.from),
    }
}
