//! Which frames the channel corrupts: loss processes, and errors at an SNR.
//!
//! The channel of a station is that between it and its access point, or its neighbours. Both directions have the same
//! losses and the same fading. A frame has one SNR, which is computed when it ends; each of its MPDUs fails for itself.
//! The SNR is the received power less the noise over the width of the data frames. Frames without MCS are sent at that
//! width too, as duplicates in each 20 MHz.

use super::overlap::Overlap;
use crate::loss::Losses;
use crate::rng;
use crate::wifi::ids::StationId;
use crate::wifi::medium::error_model::{Coding, ErrorModel, noise_floor};
use crate::wifi::medium::fading::Fading;
use crate::wifi::medium::phy::{DataRate, Format};
use crate::wifi::sender::air::Air;
use crate::wifi::spec::{CellSpec, ErrorModelSpec, StationSpec};
use contend_core::Refusal;
use contend_core::{Cx, FlowId, Packet, Rng, Time};
use rand::RngExt as _;

/// What decides whether frames arrive.
#[derive(Debug)]
pub(super) struct Reception {
    /// For each station, the loss process of its channel.
    losses: Vec<Option<Losses>>,
    /// `None` if no channel has an SNR.
    errors: Option<Box<Errors>>,
}

/// The errors of frames with an SNR.
#[derive(Debug)]
struct Errors {
    model: Box<dyn ErrorModel>,
    /// The error probabilities that were computed last, each at the place that its key gives.
    kept: Vec<(Key, f64)>,
    /// By station.
    channels: Vec<Option<Channel>>,
}

/// What an error probability depends on: the bits of the SNR, the coding, and the bytes of the MPDU.
type Key = (u64, Coding, u32);

/// The channel of a station.
#[derive(Debug)]
struct Channel {
    mean: Mean,
    fading: Option<(Box<dyn Fading>, Rng)>,
    /// Draws whether an MPDU is lost.
    rng: Rng,
    /// The SNR of the latest frame in dB.
    latest: f64,
    /// See [`Losses::excess`].
    excess: f64,
}

/// The SNR in dB without fading.
#[derive(Clone, Copy, Debug)]
enum Mean {
    /// The file gives it.
    Given(f64),
    /// The SNR of a frame that arrives with all of its power.
    Full(f64),
}

/// A frame that ends at its receiver.
pub(super) struct Ending<'a> {
    now: Time,
    losses: &'a mut Option<Losses>,
    errors: Option<Drawing<'a>>,
    /// The frames that lower its SNR.
    overlap: Option<Overlap<'a>>,
}

/// How the MPDUs of a frame are lost.
struct Drawing<'a> {
    model: &'a dyn ErrorModel,
    kept: &'a mut [(Key, f64)],
    rng: &'a mut Rng,
    excess: &'a mut f64,
    snr: f64,
    /// The SNR without fading.
    mean: f64,
    coding: Coding,
    /// The size of the latest MPDU in bytes, and its error probability.
    latest: (u32, f64),
}

/// Number of error probabilities that are kept; a power of two.
const KEPT: usize = 1024;

impl Reception {
    /// The channels of `spec`. `flow` maps the name of a flow to its number.
    ///
    /// # Errors
    /// If an algorithm refuses its parameters, or the error model does not know a rate. The text names the station.
    pub(super) fn new(
        seed: u64,
        spec: &CellSpec,
        air: &Air,
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Reception, Refusal> {
        let loss = |s: &StationSpec| match &s.loss {
            Some(c) => match (c.entry.build)(&c.args, flow) {
                Ok(loss) => Ok(Some(Losses::new(loss, rng::stream(seed, &s.name, "loss")))),
                Err(e) => Err(e.of(&s.name)),
            },
            None => Ok(None),
        };
        let losses = spec.members().map(loss).collect::<Result<_, _>>()?;
        let errors = spec.error_model.as_ref().map(|model| Errors::new(seed, spec, model, air).map(Box::new));
        Ok(Reception { losses, errors: errors.transpose()? })
    }

    /// True if the channel of `station` corrupts no frame.
    #[inline]
    pub(super) fn is_clean(&self, station: StationId) -> bool {
        self.errors.is_none() && self.losses[station as usize].is_none()
    }

    /// See [`super::bss::Bss::check_errors`].
    pub(super) fn check(spec: &CellSpec, air: &Air) -> Result<(), Refusal> {
        spec.error_model.as_ref().map_or(Ok(()), |model| Errors::new(0, spec, model, air).map(drop))
    }

    /// Number of stations.
    pub(super) fn stations(&self) -> usize {
        self.losses.len()
    }

    /// A frame of this format ends now on the channel of `station`. `gain`: the power with which it arrives, as a share
    /// of the transmitted power; in a cell, where it counts for nothing, 1.
    #[inline]
    pub(super) fn ends(&mut self, station: StationId, now: Time, format: &Format, gain: f64) -> Ending<'_> {
        let errors = self.errors.as_mut().and_then(|errors| errors.frame(station, now, format, gain));
        Ending { now, losses: &mut self.losses[station as usize], errors, overlap: None }
    }

    /// How many more MPDUs the channel of `station` corrupted so far than its probabilities say, in both directions.
    /// See [`Losses::excess`].
    pub(super) fn excess_losses(&self, station: StationId) -> f64 {
        let drawn = self.losses[station as usize].as_ref().map_or(0.0, Losses::excess);
        let errors = self.errors.as_ref().and_then(|errors| errors.channels[station as usize].as_ref());
        drawn + errors.map_or(0.0, |channel| channel.excess)
    }

    /// The SNR of the latest frame on the channel of `station` in dB; `None` if the channel has no SNR.
    #[inline]
    pub(super) fn snr(&self, station: StationId) -> Option<f64> {
        let errors = self.errors.as_ref()?;
        Some(errors.channels.get(station as usize)?.as_ref()?.latest)
    }
}

impl Errors {
    fn new(seed: u64, spec: &CellSpec, model: &ErrorModelSpec, air: &Air) -> Result<Errors, Refusal> {
        let channels = (0..).zip(spec.members()).map(|(station, s)| {
            // The access point has no channel of its own.
            let mean = if air.is_ap(station) { None } else { mean(spec, s)? };
            let Some(mean) = mean else { return Ok(None) };
            let fading = s.channel.fading.as_ref();
            let fading = fading.map(|c| (c.entry.build)(&c.args)).transpose().map_err(|e| e.of(&s.name))?;
            Ok(Some(Channel {
                mean,
                fading: fading.map(|process| (process, rng::stream(seed, &s.name, "fading"))),
                rng: rng::stream(seed, &s.name, "errors"),
                latest: f64::NEG_INFINITY,
                excess: 0.0,
            }))
        });
        let key = (0, Coding::MCS[0], 0);
        Ok(Errors {
            model: model.build(air.codings())?,
            kept: vec![(key, 1.0); KEPT],
            channels: channels.collect::<Result<_, Refusal>>()?,
        })
    }

    /// See [`Reception::ends`]; `None` if the frame cannot be corrupted.
    fn frame(&mut self, station: StationId, now: Time, format: &Format, gain: f64) -> Option<Drawing<'_>> {
        let channel = self.channels[station as usize].as_mut()?;
        let coding = format.coding()?;
        let mean = match channel.mean {
            Mean::Given(snr) => snr,
            Mean::Full(snr) => snr + 10.0 * libm::log10(gain),
        };
        let fade = channel.fading.as_mut().map_or(0.0, |(process, rng)| process.gain(&mut Cx { now, rng }));
        let snr = mean + fade;
        channel.latest = snr;
        let Errors { model, kept, .. } = self;
        Some(Drawing {
            model: &**model,
            kept,
            rng: &mut channel.rng,
            excess: &mut channel.excess,
            snr,
            mean,
            coding,
            latest: (0, 0.0),
        })
    }
}

/// The SNR of the channel of `s` without fading; `None` if it has none.
fn mean(spec: &CellSpec, s: &StationSpec) -> Result<Option<Mean>, Refusal> {
    if let Some(snr) = s.channel.snr {
        return Ok(Some(Mean::Given(snr)));
    }
    let Some(field) = &spec.field else { return Ok(None) };
    let width = if let DataRate::Mcs(mode) = s.rate { mode.width } else { 20 };
    let loss = match &field.links {
        Some(_) => 0.0,
        None => {
            let model = (field.propagation.entry.build)(&field.propagation.args)?;
            let none = || format!("field.propagation: \"{}\" has no path loss", field.propagation.entry.name);
            model.reference().ok_or_else(none)?
        }
    };
    Ok(Some(Mean::Full(field.tx_power - loss - noise_floor(f64::from(width), field.noise_figure))))
}

impl<'a> Ending<'a> {
    /// Other frames overlapped it.
    pub(super) fn overlap(&mut self, overlap: Overlap<'a>) {
        self.overlap = Some(overlap);
    }

    /// True if the channel corrupts an MPDU of `bytes`; `packet` as in [`Losses::lost`].
    #[inline]
    pub(super) fn corrupts(&mut self, bytes: u32, packet: Option<&Packet>) -> bool {
        let lost = match self.losses {
            Some(losses) => losses.lost(self.now, bytes, packet),
            None => false,
        };
        match &mut self.errors {
            Some(errors) => errors.corrupts(bytes, self.overlap.as_mut()) || lost,
            None => lost,
        }
    }
}

impl Drawing<'_> {
    fn corrupts(&mut self, bytes: u32, overlap: Option<&mut Overlap<'_>>) -> bool {
        if let Some(overlap) = overlap {
            self.latest = (0, self.per_of_overlapped(bytes, overlap));
        } else if bytes != self.latest.0 {
            self.latest = (bytes, self.per(bytes, self.snr));
        }
        let lost = self.rng.random::<f64>() < self.latest.1;
        *self.excess += f64::from(u8::from(lost)) - self.latest.1;
        lost
    }

    /// The error probability of the next MPDU, which has `bytes`, with other frames over it.
    #[cold]
    fn per_of_overlapped(&mut self, bytes: u32, overlap: &mut Overlap<'_>) -> f64 {
        let (times, snr) = (overlap.next(bytes), self.snr);
        let ratio = libm::pow(10.0, self.mean / 10.0);
        1.0 - overlap.arrives(times, ratio, |lower| 1.0 - self.per(bytes, snr - 10.0 * libm::log10(lower)))
    }

    /// The error probability of an MPDU of `bytes` at `snr`.
    fn per(&mut self, bytes: u32, snr: f64) -> f64 {
        let key = (snr.to_bits(), self.coding, bytes);
        let (data, coded) = self.coding.code.fraction();
        let code = u64::from(self.coding.bits) << 8 | u64::from(data << 4 | coded);
        let mixed = (key.0 ^ code << 32 ^ u64::from(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = &mut self.kept[(mixed >> 32) as usize % KEPT];
        if place.0 != key {
            *place = (key, self.model.per(snr, self.coding, bytes));
        }
        place.1
    }
}
