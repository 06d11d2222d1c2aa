//! Captures: the frames of a run as pcapng with radiotap headers, for Wireshark and similar tools.
//!
//! There is one interface with link type 127 and nanosecond time stamps. The time of a frame is the first nanosecond of
//! its preamble, counted from the start of the run. Frames that collided or were corrupted carry radiotap's bad-FCS
//! flag and a comment. In a field each frame has a comment with the position of its transmitter. An FCS is stored (and
//! announced) only if the frame is stored completely and arrived. Each MPDU of an A-MPDU is a packet of its own, with
//! the time of the A-MPDU and radiotap's A-MPDU status. Of packets that share an MPDU all but the last are stored
//! completely. A MAC retry repeats its packet. Wireshark's TCP
//! analysis therefore reports retransmissions that TCP did not make; `-o wlan.retransmitted:FALSE` avoids this. We use
//! no crate: four kinds of block take forty lines, and we need exact control of length fields.
//!
//! Format: draft-ietf-opsawg-pcapng §4, radiotap.org "defined fields".

use super::flow_bytes::{Endpoints, Mac, ip_of, mac_of, write_packet};
use super::message_bytes::write_message;
use contend_core::Packet;
use contend_experiment::results::Run;
use contend_sim::wifi::phy::{Band, Family, Fec, Mode};
use contend_sim::wifi::{Addba, BROADCAST, Frame, FrameKind, FrameOutcome, InFrame, More};
use std::io::{self, Write};

/// Options of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureFormat {
    /// Number of payload bytes (all zeros) to store for each packet; the original length is always correct.
    pub payload: usize,
    /// The frequency band; the radiotap headers name its first usual channel.
    pub band: Band,
    /// True if data frames have a QoS Control field.
    pub qos: bool,
}

impl Default for CaptureFormat {
    fn default() -> CaptureFormat {
        CaptureFormat { payload: 0, band: Band::Ghz2, qos: false }
    }
}

/// Writes the frames of `run` as one pcapng section, ordered by start time.
pub fn write_pcapng(run: &Run, capture: CaptureFormat, mut w: impl Write) -> io::Result<()> {
    let shown = Shown { run, ends: Endpoints::of(run), capture };
    section_header(&mut w)?;
    interface(&mut w)?;
    names(run, &mut w)?;
    let mut order: Vec<&Frame> = run.detail.frames.iter().collect();
    order.sort_by_key(|f| (f.start, f.from));
    let mut bytes = Vec::with_capacity(256);
    for (number, frame) in (0..).zip(order) {
        let packets = run.detail.channel.packets(frame);
        if packets.is_empty() {
            shown.write(&Mpdu { frame: *frame, together: &[], ampdu: None }, &mut bytes, &mut w)?;
        }
        let mpdus = || packets.chunk_by(|a, b| a.sequence == b.sequence);
        let count = mpdus().count();
        for (i, together) in mpdus().enumerate() {
            let Some(first) = together.first() else { continue };
            let InFrame { sequence, retry, bytes: size, received, packet } = *first;
            let outcome = match frame.outcome {
                FrameOutcome::Received if !received => FrameOutcome::Errored,
                outcome => outcome,
            };
            let frame = Frame { sequence, retry, bytes: size, outcome, packet: Some(packet), ..*frame };
            let ampdu = (count > 1).then_some((number, i + 1 == count));
            shown.write(&Mpdu { frame, together, ampdu }, &mut bytes, &mut w)?;
        }
    }
    w.flush()
}

/// Writes the body of an ADDBA request or response (802.11-2020 §9.6.4.2, §9.6.4.3): immediate block acknowledgment,
/// without a time after which the agreement ends.
fn addba_body(addba: &Addba, tid: u8, out: &mut Vec<u8>) {
    let Addba { is_response, amsdu, window, first } = *addba;
    // The category of block acknowledgments, the action, and a dialog token.
    out.extend([3, u8::from(is_response), tid + 1]);
    if is_response {
        out.extend([0, 0]);
    }
    // §9.4.1.13: A-MSDUs, immediate, the traffic identifier, the low bits of the size of the window.
    let parameters = u16::from(amsdu) | 1 << 1 | u16::from(tid) << 2 | (window & 0x3ff) << 6;
    out.extend(parameters.to_le_bytes());
    out.extend([0, 0]);
    if !is_response {
        out.extend((first << 4).to_le_bytes());
    }
    if window > 0x3ff {
        // ADDBA Extension (§9.4.2.138), with the high bits of the size (802.11be-2024).
        out.extend([159, 1, (window >> 10 << 5) as u8]);
    }
}

/// One packet of a capture.
struct Mpdu<'a> {
    /// The frame, with this MPDU alone.
    frame: Frame,
    /// Its packets, if it is of a frame with several.
    together: &'a [InFrame],
    /// In an A-MPDU: the number of the A-MPDU, and true if the MPDU is the last.
    ampdu: Option<(u32, bool)>,
}

/// What is shown of a run's frames.
struct Shown<'a> {
    run: &'a Run,
    ends: Endpoints,
    capture: CaptureFormat,
}

// 802.11-2016 §9.2.4.1: the frame control field, protocol version 0.
const DATA: u8 = 0x08;
const ACK: u8 = 0xd4;
const CTS: u8 = 0xc4;
const RTS: u8 = 0xb4;
const BLOCK_ACK: u8 = 0x94;
const REQUEST: u8 = 0x84;
const CF_END: u8 = 0xe4;
const BEACON: u8 = 0x80;
const ACTION: u8 = 0xd0;
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
/// The BSSID of stations without an access point.
const AD_HOC: Mac = [0x02, 0, 0, 2, 0, 0];
/// The subtype bit of data frames with a QoS Control field.
const QOS: u8 = 0x80;
/// Length of the radiotap header with time, flags, rate and channel.
const RADIOTAP: usize = 22;
/// IEEE 802a: "local experimental" EtherType, for data frames without a packet.
const EXPERIMENTAL: [u8; 2] = [0x88, 0xb5];

impl Shown<'_> {
    /// Writes `mpdu`; `bytes` is a buffer.
    fn write(&self, mpdu: &Mpdu<'_>, bytes: &mut Vec<u8>, w: &mut impl Write) -> io::Result<()> {
        bytes.clear();
        let original = self.stored(mpdu, bytes);
        packet(self.run, &mpdu.frame, bytes, original, w)
    }

    /// Appends the stored part of `mpdu` (with radiotap) and returns the full length.
    fn stored(&self, mpdu: &Mpdu<'_>, out: &mut Vec<u8>) -> usize {
        let (f, capture) = (&mpdu.frame, self.capture);
        let radiotap = radiotap(f, capture.band, mpdu.ampdu);
        out.extend(&radiotap);
        // Duration field in microseconds, rounded up (802.11-2016 §9.2.5.1), at most 32,767.
        let duration = f.duration.as_nanos().div_ceil(1_000).min(32_767) as u16;
        let control = |out: &mut Vec<u8>, first: u8, second: u8| {
            out.extend([first, second]);
            out.extend(duration.to_le_bytes());
        };
        let retry = if f.retry > 0 { RETRY } else { 0 };
        let mut cut = 0;
        match f.kind {
            FrameKind::Ack | FrameKind::Cts => {
                control(out, if f.kind == FrameKind::Ack { ACK } else { CTS }, 0);
                out.extend(mac_of(f.to));
            }
            FrameKind::Rts => {
                control(out, RTS, retry);
                out.extend(mac_of(f.to));
                out.extend(mac_of(f.from));
            }
            FrameKind::CfEnd => {
                // 802.11-2020 §9.3.1.6: the second address is the BSSID, or the transmitter's.
                control(out, CF_END, 0);
                out.extend(mac_of(f.to));
                out.extend(mac_of(f.from));
            }
            FrameKind::Beacon => {
                // 802.11-2020 §9.3.3.2: the third address is the BSSID. The time stamp follows; the rest is cut.
                control(out, BEACON, 0);
                out.extend(mac_of(f.to));
                out.extend(mac_of(f.from));
                out.extend(mac_of(f.from));
                out.extend((f.sequence << 4).to_le_bytes());
                out.extend((f.start.as_nanos() / 1_000).to_le_bytes());
                cut = (f.bytes as usize + radiotap.len()).saturating_sub(out.len() + 4);
            }
            FrameKind::Action => {
                control(out, ACTION, retry);
                out.extend(mac_of(f.to));
                out.extend(mac_of(f.from));
                out.extend(mac_of(if self.run.is_ap(f.to) { f.to } else { f.from }));
                out.extend((f.sequence << 4).to_le_bytes());
                if let More::Addba(addba) = f.more {
                    addba_body(&addba, f.category.tid(), out);
                }
            }
            FrameKind::BlockAck | FrameKind::Request => {
                control(out, if f.kind == FrameKind::BlockAck { BLOCK_ACK } else { REQUEST }, 0);
                out.extend(mac_of(f.to));
                out.extend(mac_of(f.from));
                // Compressed, of the traffic identifier in the highest bits (802.11-2016 §9.3.1.8.3), then the number
                // of the first MPDU. In place of a fragment number is the length of the bitmap (802.11ax-2021 table
                // 9-30a, 802.11be-2024).
                let bitmap = self.run.detail.channel.bitmap(f);
                let length: u16 = match bitmap.len() {
                    0..=8 => 0,
                    9..=32 => 4,
                    33..=64 => 8,
                    _ => 10,
                };
                out.extend([0x04, f.category.tid() << 4]);
                out.extend((f.sequence << 4 | length).to_le_bytes());
                out.extend(bitmap);
                cut = (f.bytes as usize + radiotap.len()).saturating_sub(out.len() + 4);
            }
            FrameKind::Data => {
                let payload = self.data(mpdu, retry, &control, out);
                let kept = payload.min(capture.payload);
                out.resize(out.len() + kept, 0);
                cut = payload - kept;
            }
        }
        let whole = cut == 0 && f.outcome == FrameOutcome::Received;
        if whole {
            // The frame check sequence (802.11-2016 §9.2.4.8) is Ethernet's CRC-32.
            let fcs = crc32fast::hash(&out[radiotap.len()..]);
            out.extend(fcs.to_le_bytes());
            out[FLAGS] |= HAS_FCS;
        }
        out.len() + cut
    }

    /// Writes the MAC header of a data frame and what is in it, and returns the number of bytes of payload that follow.
    fn data(&self, mpdu: &Mpdu<'_>, retry: u8, control: &dyn Fn(&mut Vec<u8>, u8, u8), out: &mut Vec<u8>) -> usize {
        let (f, capture, header) = (&mpdu.frame, self.capture, out.len());
        let far = |bssid: Mac, source: bool| f.packet.as_ref().map_or(bssid, |p| self.ends.mac(p, source));
        // 802.11-2016 §9.3.2.1, table 9-26: ToDS and FromDS determine the meaning of the addresses.
        let (to, from) = (mac_of(f.to), mac_of(f.from));
        let shares = mpdu.together.len() > 1;
        let (ds, a3): (u8, Mac) = match (self.run.is_ap(f.from), self.run.is_ap(f.to)) {
            _ if f.to == BROADCAST => (0, AD_HOC),
            // The addresses of packets that share an MPDU are in front of each.
            (true, _) if shares => (FROM_DS, from),
            (false, true) if shares => (TO_DS, to),
            (true, _) => (FROM_DS, far(from, true)),
            (false, true) => (TO_DS, far(to, false)),
            (false, false) => (0, AD_HOC),
        };
        control(out, if capture.qos { DATA | QOS } else { DATA }, ds | retry);
        out.extend(to);
        out.extend(from);
        out.extend(a3);
        out.extend((f.sequence << 4).to_le_bytes());
        if capture.qos {
            // §9.2.4.5: traffic identifier, normal ACK, and whether packets share the MPDU.
            out.extend([f.category.tid() | u8::from(shares) << 7, 0]);
        }
        if let [before @ .., last] = mpdu.together
            && shares
        {
            before.iter().for_each(|p| self.subframe(&p.packet, out));
            self.subframe_header(&last.packet, out);
        }
        // LLC and SNAP (RFC 1042).
        out.extend(LLC_SNAP);
        let last = mpdu.together.last().map(|p| p.packet).or(f.packet);
        match &last {
            Some(p) if p.is_message() => match self.run.detail.channel.messages.get(&p.payload) {
                Some(m) => {
                    write_message(m, (f.from, f.to), p.size as usize, out);
                    0
                }
                None => experimental(f, header, out),
            },
            Some(p) => {
                out.extend([0x08, 0x00]);
                write_packet(p, &self.ends, out)
            }
            None => experimental(f, header, out),
        }
    }

    /// Appends `p` as a subframe of an A-MSDU that is not the last.
    fn subframe(&self, p: &Packet, out: &mut Vec<u8>) {
        let start = out.len();
        self.subframe_header(p, out);
        out.extend(LLC_SNAP);
        out.extend([0x08, 0x00]);
        let payload = write_packet(p, &self.ends, out);
        out.resize(out.len() + payload, 0);
        out.resize(start + (out.len() - start).next_multiple_of(4), 0);
    }

    /// Appends destination, source and length of `p` (802.11-2016 §9.3.2.2.2).
    fn subframe_header(&self, p: &Packet, out: &mut Vec<u8>) {
        out.extend(self.ends.mac(p, false));
        out.extend(self.ends.mac(p, true));
        out.extend((p.size as u16 + 8).to_be_bytes());
    }
}

/// LLC and SNAP up to the EtherType (RFC 1042).
const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// Appends the type of a data frame whose content is unknown, and returns the length of this content.
fn experimental(f: &Frame, radiotap: usize, out: &mut Vec<u8>) -> usize {
    out.extend(EXPERIMENTAL);
    (f.bytes as usize).saturating_sub(out.len() - radiotap + 4)
}

/// Place of the flags in the radiotap header, and the flag of a frame whose FCS is stored.
const FLAGS: usize = 16;
const HAS_FCS: u8 = 0x10;

/// The radiotap header: TSFT, Flags, Rate, Channel, MCS, A-MPDU status, VHT, HE or EHT, in this order, each aligned to
/// the size of its numbers. `ampdu`: the number of the A-MPDU, and true for its last MPDU.
fn radiotap(f: &Frame, band: Band, ampdu: Option<(u32, bool)>) -> Vec<u8> {
    let rate = u8::try_from(f.rate / 500_000).ok().filter(|r| *r > 0 && f.mode.is_none());
    let (mode_bit, mode) = f.mode.map_or((0, vec![]), mode_field);
    let present: u32 =
        1 | 1 << 1 | u32::from(rate.is_some()) << 2 | 1 << 3 | u32::from(ampdu.is_some()) << AMPDU | mode_bit;
    let flags = if f.outcome == FrameOutcome::Received { 0 } else { 0x40 };
    // Channels 6, 36 and 5.
    let frequency: u16 = match band {
        Band::Ghz2 => 2437,
        Band::Ghz5 => 5180,
        Band::Ghz6 => 5975,
    };
    // DSSS and CCK have these four rates; all other rates are OFDM.
    let modulation = if matches!(f.rate, 1_000_000 | 2_000_000 | 5_500_000 | 11_000_000) { 0x0020 } else { 0x0040 };
    let channel: u16 = modulation | if band == Band::Ghz2 { 0x0080 } else { 0x0100 };
    let mut header = Vec::with_capacity(RADIOTAP + mode.len() + 11);
    header.extend([0; 4]);
    header.extend(present.to_le_bytes());
    header.extend(f.start.as_micros().to_le_bytes());
    header.push(flags);
    // Without a rate the channel moves up to an even place; one byte of padding keeps the length.
    header.push(rate.unwrap_or(0));
    header.extend(frequency.to_le_bytes());
    header.extend(channel.to_le_bytes());
    let (before, after) = if mode_bit < 1 << AMPDU { (mode, vec![]) } else { (vec![], mode) };
    header.extend(before);
    if let Some((number, is_last)) = ampdu {
        header.resize(header.len().next_multiple_of(4), 0);
        header.extend(number.to_le_bytes());
        // The last MPDU is known; this is it; no delimiter CRC.
        header.extend((0x0004 | u16::from(is_last) << 3).to_le_bytes());
        header.extend([0, 0]);
    }
    header.extend(after);
    if let Some(mode) = f.mode.filter(|m| m.family == Family::Eht) {
        // A list of type, length and value, each aligned to four bytes from the beginning of the header.
        header.resize(header.len().next_multiple_of(4), 0);
        eht_fields(mode, &mut header);
    }
    let length = header.len() as u16;
    header[2..4].copy_from_slice(&length.to_le_bytes());
    header
}

/// The bit of the A-MPDU status among the present fields.
const AMPDU: u32 = 20;

/// The bit of a list of fields with type and length (TLV), which is the last of the present fields.
const LIST: u32 = 28;

/// Appends U-SIG and EHT of a mode to a list of fields: its width; guard interval, coding, MCS and streams of the one
/// user (`ieee80211_radiotap.h` of Linux). Wireshark 4.0 knows the list, but not these two fields; 4.4 reads them.
fn eht_fields(mode: Mode, to: &mut Vec<u8>) {
    let width: u32 = match mode.width {
        20 => 0,
        40 => 1,
        80 => 2,
        160 => 3,
        _ => 4,
    };
    let guard: u32 = match mode.guard.as_nanos() {
        800 => 0,
        1600 => 1,
        _ => 2,
    };
    // U-SIG: what is known (version of the PHY, which is 0 for EHT, and width) and the width; values and their mask.
    let u_sig = [0x3 | width << 15, 0, 0];
    // EHT: what is known (guard interval), nine words of which the first has it, and a word for each user: known are
    // coding, MCS and streams, and the frame is for this user.
    let ldpc = u32::from(mode.fec == Fec::Ldpc);
    let user = 0x96 | ldpc << 19 | u32::from(mode.mcs) << 20 | u32::from(mode.streams - 1) << 24;
    let eht = [0x4, guard << 7, 0, 0, 0, 0, 0, 0, 0, 0, user];
    for (kind, words) in [(33u16, &u_sig[..]), (34, &eht)] {
        to.extend(kind.to_le_bytes());
        to.extend((4 * words.len() as u16).to_le_bytes());
        words.iter().for_each(|w| to.extend(w.to_le_bytes()));
    }
}

/// The radiotap field of a mode, and its bit among the present fields. For EHT see [`eht_fields`].
fn mode_field(mode: Mode) -> (u32, Vec<u8>) {
    let Mode { width, streams, mcs, .. } = mode;
    let (ldpc, ns) = (mode.fec == Fec::Ldpc, mode.guard.as_nanos());
    match mode.family {
        // MCS: what is known (all but STBC), flags, index.
        Family::Ht => {
            let flags = u8::from(width == 40) | u8::from(ns == 400) << 2 | u8::from(ldpc) << 4;
            (1 << 19, vec![0x1f, flags, mcs + 8 * (streams - 1)])
        }
        // VHT: known (guard interval, bandwidth), flags, bandwidth, MCS and streams of four users, coding, two more.
        Family::Vht => {
            let bandwidth = match width {
                20 => 0,
                40 => 1,
                80 => 4,
                _ => 11,
            };
            let short = u8::from(ns == 400) << 2;
            (1 << 21, vec![0x44, 0, short, bandwidth, mcs << 4 | streams, 0, 0, 0, ldpc.into(), 0, 0, 0])
        }
        // HE: six words; known are MCS, coding, bandwidth and guard interval.
        Family::He | Family::HeExtended => {
            let format = u16::from(mode.family == Family::HeExtended);
            let bandwidth = match width {
                20 => 0,
                40 => 1,
                80 => 2,
                _ => 3,
            };
            let guard = match ns {
                800 => 0,
                1600 => 1,
                _ => 2,
            };
            let words = [
                format | 0x40a0,
                0x0002,
                u16::from(mcs) << 8 | u16::from(ldpc) << 13,
                0,
                bandwidth | guard << 4,
                streams.into(),
            ];
            (1 << 23, words.into_iter().flat_map(u16::to_le_bytes).collect())
        }
        Family::Eht => (1 << LIST, vec![]),
    }
}

/// Writes one block: type, length, body (padded to four bytes), length again.
fn block(kind: u32, body: &[u8], w: &mut impl Write) -> io::Result<()> {
    let padding = body.len().wrapping_neg() % 4;
    let length = u32::try_from(body.len() + padding + 12).map_err(io::Error::other)?;
    w.write_all(&kind.to_le_bytes())?;
    w.write_all(&length.to_le_bytes())?;
    w.write_all(body)?;
    w.write_all(&[0; 3][..padding])?;
    w.write_all(&length.to_le_bytes())
}

/// Appends an option, or a name record, which has the same form. Both are padded to four bytes.
fn option(code: u16, value: &[u8], to: &mut Vec<u8>) {
    to.extend(code.to_le_bytes());
    to.extend((value.len() as u16).to_le_bytes());
    to.extend(value);
    to.resize(to.len() + value.len().wrapping_neg() % 4, 0);
}

fn section_header(w: &mut impl Write) -> io::Result<()> {
    let mut body = Vec::new();
    body.extend(0x1a2b_3c4d_u32.to_le_bytes());
    body.extend(1u16.to_le_bytes());
    body.extend(0u16.to_le_bytes());
    body.extend((-1i64).to_le_bytes()); // length of the section: unspecified
    option(4, concat!("contend ", env!("CARGO_PKG_VERSION")).as_bytes(), &mut body); // shb_userappl
    option(0, &[], &mut body);
    block(0x0a0d_0d0a, &body, w)
}

fn interface(w: &mut impl Write) -> io::Result<()> {
    let mut body = Vec::new();
    body.extend(127u16.to_le_bytes()); // LINKTYPE_IEEE802_11_RADIOTAP
    body.extend(0u16.to_le_bytes());
    body.extend(0u32.to_le_bytes()); // snap length: unlimited; each frame is cut separately
    option(2, b"air", &mut body); // if_name
    option(9, &[9], &mut body); // if_tsresol: nanoseconds
    option(0, &[], &mut body);
    block(1, &body, w)
}

/// Maps the stations' IP addresses to names (name resolution block), so that Wireshark can show them.
fn names(run: &Run, w: &mut impl Write) -> io::Result<()> {
    let mut body = Vec::new();
    for (id, name) in (0..).zip(&run.stations).filter(|(id, _)| !run.is_ap(*id)) {
        let mut record = ip_of(id).to_vec();
        record.extend(name.bytes().filter(|b| *b != 0).take(255));
        record.push(0);
        option(1, &record, &mut body);
    }
    option(0, &[], &mut body);
    block(4, &body, w)
}

fn packet(run: &Run, f: &Frame, bytes: &[u8], original: usize, w: &mut impl Write) -> io::Result<()> {
    let mut body = Vec::with_capacity(bytes.len() + 48);
    let ns = f.start.as_nanos();
    body.extend(0u32.to_le_bytes());
    body.extend(((ns >> 32) as u32).to_le_bytes());
    body.extend((ns as u32).to_le_bytes());
    body.extend((bytes.len() as u32).to_le_bytes());
    body.extend((original as u32).to_le_bytes());
    body.extend(bytes);
    body.resize(body.len() + bytes.len().wrapping_neg() % 4, 0);
    let fate = match f.outcome {
        FrameOutcome::Received => None,
        FrameOutcome::Collided => Some("collided".to_owned()),
        FrameOutcome::Errored => Some("corrupted by the channel".to_owned()),
    };
    let name = run.stations.get(f.from as usize).map_or("", String::as_str);
    let origin = f.origin.map(|p| format!("from {name} at ({:.2}m, {:.2}m)", p.x, p.y));
    let message =
        f.packet.as_ref().filter(|p| p.is_message()).and_then(|p| run.detail.channel.messages.get(&p.payload));
    let kind = message.map(|m| m.kind.to_owned());
    let comments: Vec<String> = [kind, fate, origin].into_iter().flatten().collect();
    if !comments.is_empty() {
        option(1, comments.join(", ").as_bytes(), &mut body);
        option(0, &[], &mut body);
    }
    block(6, &body, w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use contend_core::{Span, Time};
    use contend_sim::wifi::access::Category;

    #[test]
    fn a_block_is_padded_to_four_bytes_and_says_its_length_twice() {
        let mut out = Vec::new();
        block(6, &[1, 2, 3, 4, 5], &mut out).unwrap();
        assert_eq!(out.len(), 20);
        assert_eq!(out[4..8], out[16..20]);
        assert_eq!(out[4], 20);
    }

    /// 320 MHz, MCS 13, two streams, 0.8 us, LDPC; the masks are those of `ieee80211_radiotap.h` of Linux.
    #[test]
    fn eht_names_width_guard_mcs_and_streams() {
        let mut bytes = vec![];
        let mode = Mode::new(Family::Eht, 320, 2, 13).unwrap();
        eht_fields(mode, &mut bytes);
        let words: Vec<u32> = bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        let [u_sig, common, 0, 0, eht, known, data @ .., user] = &words[..] else { panic!("{words:?}") };
        assert_eq!((*u_sig, *eht, data.len()), (33 | 12 << 16, 34 | 44 << 16, 9));
        assert_eq!((common & 0x3, common & 0x7000, (common & 0x3_8000) >> 15), (0x3, 0, 4));
        assert_eq!((*known, (data[0] & 0x180) >> 7, data[1..].iter().max()), (0x4, 0, Some(&0)));
        let (known, coding, mcs, streams) = (user & 0xff, user & 0x8_0000, user & 0xf0_0000, user & 0xf00_0000);
        assert_eq!((known, coding >> 19, mcs >> 20, streams >> 24), (0x96, u32::from(mode.fec == Fec::Ldpc), 13, 1));
    }

    /// Two access points, 0 and 1, with the stations 2 and 3. A data frame has ToDS or FromDS, and receiver,
    /// transmitter, and third address, which is the wired host of flow 0 or the BSSID.
    #[test]
    fn each_access_point_is_the_bssid_of_its_stations() {
        let frame = |from, to| Frame {
            start: Time::ZERO,
            end: Time::ZERO,
            from,
            to,
            kind: FrameKind::Data,
            category: Category::Be,
            outcome: FrameOutcome::Received,
            rate: 6_000_000,
            mode: None,
            retry: 0,
            sequence: 0,
            duration: Span::ZERO,
            bytes: 100,
            packet: None,
            more: More::Nothing,
            origin: None,
        };
        let header = |bss: &[u32], from, to| {
            let mut run = synthetic::empty(1);
            run.bss = bss.to_vec();
            let mut out = Vec::new();
            let shown = Shown { run: &run, ends: Endpoints::of(&run), capture: CaptureFormat::default() };
            shown.stored(&Mpdu { frame: frame(from, to), together: &[], ampdu: None }, &mut out);
            let mac = &out[RADIOTAP..];
            (mac[1], [&mac[4..10], &mac[10..16], &mac[16..22]].map(<[u8]>::to_vec))
        };
        let macs = |ids: [u32; 3]| ids.map(|id| mac_of(id).to_vec());
        let two = [0, 1, 0, 1];
        assert_eq!(header(&two, 1, 3), (FROM_DS, macs([3, 1, 1])));
        assert_eq!(header(&two, 3, 1), (TO_DS, macs([1, 3, 1])));
        assert_eq!(header(&two, 2, 0), (TO_DS, macs([0, 2, 0])));
        // Stations without an access point.
        let [to, from, _] = macs([2, 0, 0]);
        assert_eq!(header(&[], 0, 2), (0, [to, from, AD_HOC.to_vec()]));
    }
}
