//! The specification of a channel: timing, options, access points and stations.

use super::access::{self, BusySlot};
use super::client::Client;
use super::ids::StationId;
use super::medium::error_model::{self, Coding, ErrorModel, PerTable};
use super::medium::phy::{DataRate, LONGEST_PPDU, Phy};
use super::medium::walls::Wall;
use super::medium::{fading, propagation};
use crate::loss;
use crate::mobility::{self, Area, Movement, Point};
use crate::routing;
use contend_core::Refusal;
use contend_core::registry::{Choice, Fact};
use contend_core::{Span, Time, ap, observe, qdisc, rate_control};
use std::sync::Arc;

/// The access points and stations of one channel.
#[derive(Clone, Debug)]
pub struct CellSpec {
    /// Timing and rates.
    pub phy: Phy,
    /// Medium-access options and limits.
    pub mac: MacSpec,
    /// The access points. A cell has one; a field may have several, or none.
    pub aps: Vec<ApSpec>,
    /// The stations.
    pub stations: Vec<StationSpec>,
    /// Where the stations are; `None` if all stations hear each other.
    pub field: Option<FieldSpec>,
    /// What frames are lost at an SNR; `None` if none is.
    pub error_model: Option<ErrorModelSpec>,
}

/// An error model.
#[derive(Clone, Debug)]
pub struct ErrorModelSpec {
    /// The model.
    pub model: Choice<error_model::Build>,
    /// The table that the file names, if it names one.
    pub table: Option<Arc<PerTable>>,
}

impl ErrorModelSpec {
    /// The model for stations with these codings.
    ///
    /// # Errors
    /// If it does not know one of them.
    pub(crate) fn build(&self, codings: &[Coding]) -> Result<Box<dyn ErrorModel>, Refusal> {
        let setting = error_model::Setting { table: self.table.clone(), codings };
        (self.model.entry.build)(&self.model.args, &setting)
    }
}

/// The quality of a station's channel, in both directions, and the control of its rates.
#[derive(Clone, Debug, Default)]
pub struct ChannelSpec {
    /// What chooses the rates of data; `None`: they are fixed.
    pub rate_control: Option<Choice<rate_control::Build>>,
    /// The SNR in dB. `None`: in a field it follows from the distance, in a cell no frame is lost by it.
    pub snr: Option<f64>,
    /// How the SNR changes with time; `None`: not at all.
    pub fading: Option<Choice<fading::Build>>,
}

/// Stations at positions, of which not all hear each other.
#[derive(Clone, Debug)]
pub struct FieldSpec {
    /// Where each access point and station is, by [number](super::StationId).
    pub sites: Vec<Site>,
    /// The number in [`CellSpec::aps`] of each station's access point; empty if all have the first one, or none.
    pub association: Vec<usize>,
    /// The channel of each access point; empty if all are on one. Stations are on that of their access point.
    pub channels: Vec<u32>,
    /// What arrives of frames of other channels; `None`: nothing.
    pub adjacent: Option<Adjacent>,
    /// The ground that stations never leave; infinite if they do not move.
    pub area: Area,
    /// Who hears whom, whatever the distance; `None` if distances decide.
    pub links: Option<Vec<FieldLink>>,
    /// A frame is decoded up to this distance, in metres.
    pub range: f64,
    /// A frame is sensed, and disturbs others, up to this distance in metres; not below `range`.
    pub sense: f64,
    /// How the power falls with the distance.
    pub propagation: Choice<propagation::Build>,
    /// What weakens frames between positions.
    pub walls: Vec<Wall>,
    /// The random part of the path loss, if there is one.
    pub shadowing: Option<Shadowing>,
    /// Which of several frames at one receiver is decoded.
    pub capture: Capture,
    /// Transmitted power of all stations in dBm, for the SNR.
    pub tx_power: f64,
    /// Noise figure of all receivers in dB, for the SNR.
    pub noise_figure: f64,
    /// True if frames travel with the speed of light; otherwise they arrive at once.
    pub propagation_delay: bool,
    /// True if the reservation of an RTS lapses when no frame follows (IEEE 802.11-2016 §10.3.2.4).
    pub nav_reset: bool,
    /// True if Duration fields are rounded to whole microseconds, half up (ns-2).
    pub nav_rounding: bool,
    /// True if the slots that have passed are counted in seconds in floating point (ns-2).
    pub slot_rounding: bool,
    /// What a station demands of its medium before it answers an RTS.
    pub cts: CtsRule,
    /// How stations route; `None`: stations send to their access point, and access points to their stations.
    pub routing: Option<Choice<routing::Build>>,
    /// True if a station asks for the address of a neighbour before it sends the first packet there.
    pub arp: bool,
    /// True if routing messages go before all other packets in an interface queue.
    pub routing_priority: bool,
    /// The time that a packet needs from the network layer to the queue of a station, and from its receiver to the
    /// network layer.
    pub link_delay: Span,
    /// True if the note of observers makes each ACK longer; otherwise it travels out of band.
    pub notes_on_air: bool,
    /// True if frames that do not corrupt another one lower its SNR while they overlap.
    pub sinr: bool,
}

impl FieldSpec {
    /// The channel of the station with this [number](super::StationId); `None` if all are on one.
    pub fn channel(&self, station: usize) -> Option<u32> {
        let of = |i: usize| self.association.get(i).copied().unwrap_or(0);
        let ap = station.checked_sub(self.channels.len()).map_or(station, of);
        self.channels.get(ap).copied()
    }
}

/// What stations notice of frames of other channels: their energy.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjacent {
    /// Pairs of channels, and how many decibels a frame of one of them loses at a receiver of the other. Channels that
    /// are in no pair do not overlap.
    pub overlaps: Vec<([u32; 2], f64)>,
    /// The medium is busy while frames of other channels arrive with at least this power together, in dBm.
    pub energy: f64,
}

/// Where a station of a field is, and when.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its position, at the start if it moves; `None` if its mobility draws the position or needs none.
    pub position: Option<Point>,
    /// How it moves.
    pub mobility: Choice<mobility::Build>,
    /// The movement file, if there is one, and its number in the file.
    pub movement: Option<(Arc<Movement>, u32)>,
    /// When it is off: it hears nobody, and nobody hears it. Pairs of beginning and end.
    pub off: Vec<(Time, Time)>,
    /// How it changes its access point; `None`: it keeps the first one.
    pub roam: Option<RoamSpec>,
}

/// When and how a station changes its access point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoamSpec {
    /// It looks for another access point when the mean power of its own is below this, in dBm.
    pub threshold: f64,
    /// How much stronger than its own the other one must be, in dB.
    pub hysteresis: f64,
    /// From one look at the power of its access point to the next.
    pub interval: Span,
    /// How long a scan takes. Meanwhile the station neither sends nor receives.
    pub scan: Span,
    /// From a scan that finds nothing better to the next look.
    pub retry: Span,
    /// From the end of a scan until the station has its new access point. It still neither sends nor receives.
    pub gap: Span,
    /// True if packets that wait in the old access point go to the new one; otherwise they are lost.
    pub forwards: bool,
}

impl Site {
    /// The position of a station that neither moves nor is ever off, if it is known before the run.
    pub fn fixed(&self) -> Option<Point> {
        self.position.filter(|_| self.mobility.entry.has(Fact::Constant) && self.off.is_empty())
    }
}

/// A link of a field whose links are given: how frames of one station arrive at another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldLink {
    /// The transmitter.
    pub from: StationId,
    /// The station that senses its frames.
    pub to: StationId,
    /// True if it decodes them.
    pub decodes: bool,
    /// Received power as a share of the transmitted power; only ratios count.
    pub gain: f64,
    /// The time that a frame needs to arrive.
    pub delay: Span,
}

impl FieldLink {
    /// The link from one station to another; `links` are in the order of their ends.
    pub fn between(links: &[FieldLink], from: usize, to: usize) -> Option<&FieldLink> {
        let found = links.binary_search_by_key(&(from, to), |l| (l.from as usize, l.to as usize));
        found.ok().and_then(|i| links.get(i))
    }
}

/// Log-normal shadowing: a normal variable in decibels that is added to the path loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// Standard deviation in decibels. Draws beyond three of them are cut.
    pub deviation: f64,
    /// True if each frame has its own at each receiver (ns-2); otherwise each pair of stations has one for ever.
    pub each_frame: bool,
}

/// Which of several frames at one receiver is decoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capture {
    /// A frame is decoded if its power is this many times that of the others; infinite if frames that overlap are
    /// always lost.
    pub ratio: f64,
    /// True if a later frame that is strong enough is decoded; otherwise only the first of the frames can be.
    pub later: bool,
    /// True if the powers of the other frames add up; otherwise each is compared alone.
    pub adds_up: bool,
}

impl Capture {
    /// Frames that overlap are lost.
    pub const NONE: Capture = Capture { ratio: f64::INFINITY, later: false, adds_up: false };
}

/// What a station demands of its medium before it answers an RTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtsRule {
    /// Its NAV has ended when the RTS ends (the standard).
    Nav,
    /// Its NAV has ended and it senses nothing when it would start to send. The same holds for data after a CTS (ns-2).
    Idle,
}

/// The beacons of an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeaconSpec {
    /// From one beacon to the next.
    pub interval: Span,
    /// Bytes of the whole frame, with MAC header and FCS.
    pub bytes: u32,
    /// When the first is due; `None`: at a random time in the first interval.
    pub offset: Option<Span>,
}

/// An access point.
#[derive(Clone, Debug)]
pub struct ApSpec {
    /// Its own station.
    pub station: StationSpec,
    /// Its beacons; `None`: it sends none.
    pub beacon: Option<BeaconSpec>,
    /// Its control blocks, in the order in which packets pass them before the queue.
    pub control: Vec<Choice<ap::Build>>,
}

impl CellSpec {
    /// True if each station has a routing agent. Routes that never change need none.
    pub fn has_agents(&self) -> bool {
        let routed = self.field.as_ref().and_then(|f| f.routing.as_ref().map(|r| (r.entry, f.arp)));
        routed.is_some_and(|(routing, arp)| !routing.has(Fact::Constant) || arp)
    }

    /// The number in [`CellSpec::aps`] of the access point of the station number `i` in [`CellSpec::stations`].
    pub fn ap_of(&self, i: usize) -> usize {
        self.field.as_ref().and_then(|f| f.association.get(i)).copied().unwrap_or(0)
    }

    /// The access points, then the stations, in the order of their [numbers](super::StationId).
    pub fn members(&self) -> impl Iterator<Item = &StationSpec> {
        self.aps.iter().map(|ap| &ap.station).chain(&self.stations)
    }
}

/// Medium access options of the whole cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacSpec {
    /// Attempts of a frame not longer than the RTS threshold, and of an RTS (dot11ShortRetryLimit).
    pub retry_short: u32,
    /// Attempts of a frame longer than the RTS threshold, counted once its RTS was answered (dot11LongRetryLimit).
    pub retry_long: u32,
    /// An MPDU longer than this many bytes is preceded by RTS/CTS; `u32::MAX` for never.
    pub rts_threshold: u32,
    /// What the frames of a transmission opportunity reserve.
    pub txop_protection: TxopProtection,
    /// From the start of a frame until other stations sense it; shorter than a slot. Zero: they sense it at once. Not
    /// for a field.
    pub preamble_detection: Span,
    /// Whether a slot in which the medium becomes busy counts as one slot of backoff.
    pub busy_slot: BusySlot,
    /// What a station does with a frame that finds the medium idle for long enough.
    pub idle_access: IdleAccess,
    /// What stations wait after a collision.
    pub after_collision: AfterCollision,
}

/// What the Duration fields of a transmission opportunity with a limit reserve (IEEE 802.11-2020 §9.2.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxopProtection {
    /// The exchange, and what follows of it (single protection).
    Single,
    /// The rest of the opportunity (multiple protection). A holder that has nothing more to send in it ends it with a
    /// CF-End, if there is time for one (§10.23.2.10).
    Multiple,
}

/// How a station aggregates, as sender and as receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Most bytes of an A-MPDU.
    pub bytes: u32,
    /// Most bytes of an A-MSDU: packets that share an MPDU; 0: each packet has its own.
    pub msdu: u32,
    /// Most MPDUs of an A-MPDU.
    pub mpdus: u32,
    /// Most MPDUs under way: the window of the block acknowledgment.
    pub window: u32,
    /// The longest PPDU.
    pub duration: Span,
    /// As a receiver: the shortest time from the beginning of an MPDU in an A-MPDU to that of the next (minimum MPDU
    /// start spacing); [`Span::ZERO`]: none.
    pub density: Span,
    /// As a receiver: how long an MPDU waits for those before it that are missing; [`Span::ZERO`]: until its sender
    /// gives them up.
    pub reorder: Span,
    /// Most packets below a queue, for all receivers together.
    pub limit: u32,
    /// Most aggregates that are made before they are sent, with the one that contends; 0: that one takes more packets
    /// until it is sent.
    pub hw_queue: u32,
    /// An MPDU is given up when its packet has waited for this long; [`Span::ZERO`]: never.
    pub lifetime: Span,
    /// True if the lifetime counts since the packet left its queue; otherwise since it was queued.
    pub lifetime_below: bool,
    /// An MPDU is given up when it was sent this often; `None`: never.
    pub attempts: Option<u32>,
    /// True if the sender asks for a block acknowledgment that it missed; otherwise it sends the data again.
    pub asks: bool,
    /// True if it asks at 20 MHz. Data that follow in the same transmission opportunity are then no wider (IEEE
    /// 802.11-2020 §10.23.2.8).
    pub asks_at_20_mhz: bool,
    /// After how long without an ADDBA response it repeats its ADDBA request (IEEE 802.11-2020 §10.25.2);
    /// [`Span::ZERO`]: A-MPDUs need no agreement.
    pub addba: Span,
}

impl Aggregation {
    /// One MPDU at a time, with one packet.
    pub const ONE_MPDU: Aggregation = Aggregation {
        bytes: u32::MAX,
        msdu: 0,
        mpdus: 1,
        window: 1,
        duration: LONGEST_PPDU,
        density: Span::ZERO,
        reorder: Span::ZERO,
        limit: 1,
        hw_queue: 1,
        lifetime: Span::ZERO,
        lifetime_below: false,
        attempts: None,
        asks: false,
        asks_at_20_mhz: false,
        addba: Span::ZERO,
    };

    /// How packets are sent from a station with these limits to one with those of `receiver`; `None`: it takes one
    /// packet in each frame. Bytes and window are what both have, density and reordering are the receiver's,
    /// all else the sender's.
    pub(crate) fn toward(&self, receiver: Option<&Aggregation>) -> Aggregation {
        let (bytes, msdu, window) = receiver.map_or((0, 0, 1), |r| (r.bytes, r.msdu, r.window));
        let window = self.window.min(window);
        let mpdus = self.mpdus.min(window);
        let (density, reorder) = receiver.map_or((Span::ZERO, Span::ZERO), |r| (r.density, r.reorder));
        let (bytes, msdu) = (self.bytes.min(bytes), self.msdu.min(msdu));
        Aggregation { bytes, msdu, window, mpdus, density, reorder, ..*self }
    }
}

/// The bitmap of a block acknowledgment: a bit for each MPDU of the window (IEEE 802.11-2020 §9.3.1.8.2; 802.11ax: 64
/// or 256; 802.11be: up to 1024).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bitmap {
    /// Bits for 64 MPDUs.
    #[default]
    Of64,
    /// Bits for 256 MPDUs.
    Of256,
    /// Bits for 512 MPDUs.
    Of512,
    /// Bits for 1024 MPDUs.
    Of1024,
}

impl Bitmap {
    pub(crate) const ALL: [Bitmap; 4] = [Bitmap::Of64, Bitmap::Of256, Bitmap::Of512, Bitmap::Of1024];

    /// The smallest for a window of so many MPDUs.
    pub(crate) fn of(window: u32) -> Bitmap {
        match window {
            0..=64 => Bitmap::Of64,
            65..=256 => Bitmap::Of256,
            257..=512 => Bitmap::Of512,
            _ => Bitmap::Of1024,
        }
    }

    /// Its bytes.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Bitmap::Of64 => 8,
            Bitmap::Of256 => 32,
            Bitmap::Of512 => 64,
            Bitmap::Of1024 => 128,
        }
    }
}

/// What a station does with a frame that finds the medium idle for long enough and no backoff pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleAccess {
    /// It sends at once (the standard).
    Immediate,
    /// It still waits for the inter-frame space and a backoff (ns-2).
    Draw,
}

/// What bystanders wait after a frame they could not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCollision {
    /// Bystanders wait EIFS. A station whose frame collided and ended before the longest one waits DIFS: it has missed
    /// the beginning of the other frame, so that it receives no frame with an error (the standard).
    Eifs,
    /// Bystanders wait EIFS, and so does a station whose frame collided and whose timeout passed before the longest
    /// frame ended (ns-2).
    EifsAll,
    /// The NAV is set for EIFS, and the usual inter-frame space follows (ns-2 in a field).
    EifsNav,
    /// All wait DIFS (ns-3 when all transmissions start together).
    Difs,
}

/// The airtime queue limit of a transmitter (AQL of Linux): how much airtime the packets below its queues may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirtimeLimit {
    /// For one receiver in one category, always.
    pub low: Span,
    /// The same while less than `total` is pending.
    pub high: Span,
    /// For all receivers and categories.
    pub total: Span,
}

/// The specification of a station or of the access point.
#[derive(Clone, Debug)]
pub struct StationSpec {
    /// The name. Random streams and results use it.
    pub name: String,
    /// Rate of data frames that it sends, and of those that the access point sends to it.
    pub rate: DataRate,
    /// Its queue.
    pub queue: Choice<qdisc::Build>,
    /// How it aggregates; `None` if each of its frames, and each frame to it, carries one packet.
    pub aggregation: Option<Aggregation>,
    /// How much airtime may be pending below it, with aggregates; `None`: there is no limit.
    pub aql: Option<AirtimeLimit>,
    /// The losses of its channel, in both directions.
    pub loss: Option<Choice<loss::Build>>,
    /// The quality of its channel and the control of its rates. That of an access point is not used.
    pub channel: ChannelSpec,
    /// Its access rule.
    pub access: Choice<access::Build>,
    /// What lies between its host and its MAC, besides the queue.
    pub client: Option<Client>,
    /// Its observers of the air, each with its name in the results; only in a field.
    pub observe: Vec<(String, Choice<observe::Build>)>,
}
