//! The constants of a channel, durations and rates, and the present rate of each sender.

use super::plan::{Burst, Content, PartKind, Plan};
use super::timing::{RateNumber, RateTable, Room, Timing};
use crate::wifi::frame::MAX_PACKET;
use crate::wifi::ids::{BROADCAST, StationId};
use crate::wifi::medium::error_model::{Coding, ErrorModel};
use crate::wifi::medium::phy::ppdu::DELIMITER;
use crate::wifi::medium::phy::{DataRate, Format, LONGEST_PPDU, Mode, Phy};
use crate::wifi::spec::{Aggregation, Bitmap, CellSpec, StationSpec};
use contend_core::Refusal;
use contend_core::Span;
use contend_core::observe;
use contend_core::rate_control::{self, Rate, RateControl, RateId};
use contend_core::registry::Choice;
use contend_theory::bianchi;
use contend_theory::dcf::{Backoff, SlotTimes};
use std::cell::{Cell, OnceCell};

/// The largest number of saturated contenders in the model; more contenders change little.
const CONTENDERS: u32 = 64;
/// The packet size in the exchanges of the model, in bytes.
const MODEL_PACKET: u32 = 1500;
/// Bytes of the headers of a packet in an A-MSDU.
const PACKET_HEADER: u32 = 22;

/// What the rate controls of a channel choose from.
#[derive(Debug)]
pub(crate) struct Choices {
    control: Choice<rate_control::Build>,
    rates: Vec<Rate>,
    /// By [`RateId`].
    numbers: Vec<RateNumber>,
    /// The rate that the file gives.
    given: RateId,
    slowest: RateNumber,
}

impl Choices {
    /// The slowest rate, of equal ones that with the fewest streams.
    pub(crate) fn slowest(&self) -> RateNumber {
        self.slowest
    }

    /// The rate number of `id`.
    pub(crate) fn number(&self, id: RateId) -> RateNumber {
        self.numbers[usize::from(id)]
    }

    /// The rate with this number.
    pub(crate) fn id(&self, number: RateNumber) -> Option<RateId> {
        self.numbers.iter().position(|n| *n == number).map(|id| id as RateId)
    }
}

/// The constants of a cell's air, and the present rates.
#[derive(Debug)]
pub(crate) struct Air {
    timing: Timing,
    /// DIFS.
    difs: Span,
    /// By [`RateNumber`].
    rates: Vec<RateTable>,
    /// For each station, the present rate of its channel: of frames from it, and to it from an access point. Without a
    /// rate control it is always the one that the file gives.
    present: Vec<Cell<RateNumber>>,
    /// How each station aggregates.
    aggregation: Vec<Option<Aggregation>>,
    /// For each station, what its rate controls choose from; empty if there are none.
    choices: Vec<Option<Choices>>,
    /// The codings of all frames that an error model may see.
    codings: Vec<Coding>,
    errors: Option<Box<dyn ErrorModel>>,
    /// The lowest basic rate, that of broadcasts and action frames, if there are any.
    lowest: RateNumber,
    /// For each rate, the same MCS at 20 MHz; empty if no station asks at 20 MHz.
    narrow: Vec<RateNumber>,
    /// Number of access points; they have the first numbers.
    aps: u32,
    /// [`Air::contention`] for 0, 1, ... contenders, computed when it is first asked for.
    contention: OnceCell<Vec<Span>>,
}

impl Air {
    /// The air of `spec`.
    ///
    /// # Errors
    /// If the PHY does not have a rate, or an algorithm refuses its parameters. The text names the station.
    pub(crate) fn new(spec: &CellSpec) -> Result<Air, Refusal> {
        let timing = Timing::new(spec)?;
        let phy = &spec.phy;
        let mut air = Air {
            timing,
            difs: phy.difs(),
            rates: Vec::new(),
            present: Vec::new(),
            aggregation: spec.members().map(|s| s.aggregation).collect(),
            choices: Vec::new(),
            codings: Vec::new(),
            errors: None,
            lowest: 0,
            narrow: Vec::new(),
            aps: spec.aps.len() as u32,
            contention: OnceCell::new(),
        };
        for s in spec.members() {
            let number =
                air.add(phy, s.rate).ok_or_else(|| format!("{}: the standard does not have {:?}", s.name, s.rate))?;
            air.present.push(Cell::new(number));
        }
        if spec.members().any(|s| s.channel.rate_control.is_some()) {
            air.choices = spec.members().map(|s| air.choices_of(phy, s)).collect();
        }
        if let Some(model) = &spec.error_model {
            air.codings = air.all_codings(spec)?;
            air.errors = Some(model.build(&air.codings)?);
        }
        for (i, (s, choices)) in (0..).zip(spec.members().zip(&air.choices)) {
            choices.as_ref().map_or(Ok(()), |c| air.build(c, (i, i)).map(drop)).map_err(|e| e.of(&s.name))?;
        }
        if spec.field.is_some() || negotiates(spec) {
            air.lowest = air.rates.len() as RateNumber;
            air.rates.push(RateTable::new(phy, phy.lowest_basic(), &air.timing));
        }
        if spec.members().any(|s| s.aggregation.is_some_and(|a| a.asks_at_20_mhz)) {
            air.narrow = air.all_narrow(spec)?;
        }
        Ok(air)
    }

    /// For each rate, the number of the same MCS at 20 MHz; of the next lower one if that has none.
    fn all_narrow(&mut self, spec: &CellSpec) -> Result<Vec<RateNumber>, Refusal> {
        if spec.error_model.is_some() || !self.choices.is_empty() {
            let what = "a request at 20 MHz goes with neither a rate control nor an error model";
            return Err(Refusal::new(what, "write request_width = \"data\", or remove rate_control and error_model"));
        }
        let formats: Vec<Format> = self.rates.iter().map(|table| table.rate).collect();
        let same = |mode: Mode| {
            let at_20 = |mcs| Mode { width: 20, mcs, ..mode }.checked().ok();
            (0..=mode.mcs).rev().find_map(at_20).unwrap_or(mode)
        };
        let number = |(i, format): (RateNumber, Format)| match format.mode() {
            Some(mode) => self.add(&spec.phy, DataRate::Mcs(same(mode))).unwrap_or(i),
            None => i,
        };
        Ok((0..).zip(formats).map(number).collect())
    }

    /// The number of a rate, which is added if it is new; `None` if the PHY does not have it.
    fn add(&mut self, phy: &Phy, rate: DataRate) -> Option<RateNumber> {
        let rate = phy.format(rate)?;
        let known = self.rates.iter().position(|t| t.rate == rate);
        let number = known.unwrap_or(self.rates.len()) as RateNumber;
        if known.is_none() {
            self.rates.push(RateTable::new(phy, rate, &self.timing));
        }
        Some(number)
    }

    /// What the rate controls of the channel of `s` choose from; `None` if it has a fixed rate.
    fn choices_of(&mut self, phy: &Phy, s: &StationSpec) -> Option<Choices> {
        let control = s.channel.rate_control.clone()?;
        let (mut rates, mut numbers) = (Vec::new(), Vec::new());
        for rate in candidates(phy, s.rate) {
            let Some(number) = self.add(phy, rate) else { continue };
            let streams = if let DataRate::Mcs(mode) = rate { mode.streams } else { 1 };
            rates.push(Rate { bps: self.table(number).rate.bps, streams, group: streams });
            numbers.push(number);
        }
        let given = self.add(phy, s.rate).and_then(|n| numbers.iter().position(|other| *other == n)).unwrap_or(0);
        let slowest = rates.iter().zip(&numbers).min_by_key(|(r, _)| (r.bps, r.streams)).map_or(0, |(_, n)| *n);
        Some(Choices { control, rates, numbers, given: given as RateId, slowest })
    }

    /// The codings of all frames on channels.
    fn all_codings(&self, spec: &CellSpec) -> Result<Vec<Coding>, Refusal> {
        let mut all = Vec::new();
        let action = negotiates(spec).then(|| spec.phy.lowest_basic());
        for (i, s) in spec.members().enumerate().skip(spec.aps.len()) {
            let own = [self.present[i].get()];
            let numbers = self.choices.get(i).and_then(Option::as_ref).map_or(&own[..], |c| &c.numbers[..]);
            let of_data = numbers.iter().map(|n| self.table(*n)).flat_map(|t| [t.rate, t.answer, t.control]);
            for format in of_data.chain(action) {
                let coding = format.coding().ok_or_else(|| {
                    let mbps = format.bps as f64 / 1e6;
                    Refusal::new(
                        format!("{}: no error model knows DSSS and CCK, as at {mbps} Mb/s", s.name),
                        "use rates of OFDM",
                    )
                })?;
                if !all.contains(&coding) {
                    all.push(coding);
                }
            }
        }
        Ok(all)
    }

    /// The codings of all frames that an error model may see.
    pub(crate) fn codings(&self) -> &[Coding] {
        &self.codings
    }

    /// What the rate controls between two stations choose from; `None` if the rate is fixed.
    pub(crate) fn choices(&self, from: StationId, to: StationId) -> Option<&Choices> {
        self.choices.get(self.channel(from, to) as usize)?.as_ref()
    }

    /// A rate control of one station toward another that chooses from `choices`.
    pub(crate) fn build(
        &self,
        choices: &Choices,
        ends: (StationId, StationId),
    ) -> Result<Box<dyn RateControl>, Refusal> {
        let Choices { control, rates, numbers, given, .. } = choices;
        let bytes = self.timing.limits.protection.overhead + MODEL_PACKET;
        let number = |id: RateId| numbers[usize::from(id)];
        let per = |id: RateId, snr: f64| self.per(&self.table(number(id)).rate, bytes, snr);
        let goodput = |id: RateId, snr: f64| self.goodput(ends, number(id), snr);
        let setting = rate_control::Setting { rates, given: *given, per: &per, goodput: &goodput };
        (control.entry.build)(&control.args, &setting)
    }

    /// The probability that an MPDU of `bytes` in this format is lost at `snr`; 0 without an error model.
    fn per(&self, format: &Format, bytes: u32, snr: f64) -> f64 {
        self.errors.as_ref().zip(format.coding()).map_or(0.0, |(model, coding)| model.per(snr, coding, bytes))
    }

    /// The packets of 1500 B in a second that arrive from one station at another at this rate and `snr`. The sender
    /// always sends the largest aggregate, and no other station sends. The time of an attempt has the mean of the
    /// backoffs that follow from the failures, and those of its failures have the length of an answer.
    fn goodput(&self, (from, to): (StationId, StationId), rate: RateNumber, snr: f64) -> f64 {
        let (table, agreed) = (self.table(rate), self.agreed(from, to));
        let rule = &self.timing.limits.protection;
        let header = MODEL_PACKET + PACKET_HEADER;
        let together = (agreed.msdu / header).max(1);
        let mpdu = rule.overhead + if together > 1 { together * header } else { MODEL_PACKET };
        let Room { most, spacing } = self.room((from, to), rate, Span::ZERO);
        let each = (mpdu.next_multiple_of(4) + DELIMITER).max(spacing);
        let mpdus = (most.min(agreed.bytes) / each).clamp(1, agreed.mpdus);
        let (content, protection) = match (mpdus, together) {
            (1, 1) => (Content::Packet, rule.of(MODEL_PACKET)),
            (1, _) => (Content::Together(mpdu), rule.of_psdu(mpdu)),
            _ => {
                let psdu = mpdus * each;
                (Content::Aggregate(psdu, Bitmap::of(agreed.window)), rule.of_psdu(psdu))
            }
        };
        let burst = Burst { from, to, bytes: MODEL_PACKET, content, protection, rate, reserves: Span::ZERO };
        let plan = Plan::new(&burst, &self.timing, table);
        let others = plan.parts().filter(|p| !matches!(p.kind, PartKind::Data | PartKind::CtsToSelf));
        let heard: f64 = others.map(|p| 1.0 - self.per(plan.format(p.kind), plan.bytes(p.kind), snr)).product();
        let arrive = 1.0 - self.per(&table.rate, mpdu, snr);
        let fails = 1.0 - heard * (1.0 - libm::pow(1.0 - arrive, f64::from(mpdus)));
        let seconds = (self.difs + plan.duration()).as_secs_f64() + self.mean_backoff(fails);
        heard * arrive * f64::from(mpdus * together) / seconds
    }

    /// The mean backoff in seconds before an attempt, if attempts fail with this probability.
    fn mean_backoff(&self, fails: f64) -> f64 {
        let (setting, mut weight, mut slots, mut all) = (&self.timing.setting, 1.0, 0.0, 0.0);
        let mut window = setting.cw_min;
        for _ in 0..self.timing.limits.short {
            (slots, all) = (slots + weight * f64::from(window) / 2.0, all + weight);
            (weight, window) = (weight * fails, (2 * window + 1).min(setting.cw_max));
        }
        slots / all * self.timing.slot.as_secs_f64()
    }

    /// The durations that do not depend on the rate.
    #[inline]
    pub(crate) fn timing(&self) -> &Timing {
        &self.timing
    }

    /// True if `station` is an access point.
    #[inline]
    pub(crate) fn is_ap(&self, station: StationId) -> bool {
        station < self.aps
    }

    /// The station whose channel `burst` uses: its sender, or its receiver if the sender is an access point.
    #[inline]
    pub(crate) fn channel_of(&self, burst: &Burst) -> StationId {
        self.channel(burst.from, burst.to)
    }

    /// The station whose channel lies between two stations.
    #[inline]
    pub(crate) fn channel(&self, from: StationId, to: StationId) -> StationId {
        if self.is_ap(from) { to } else { from }
    }

    /// The present rate of data from one station to another, or to all.
    #[inline]
    pub(crate) fn rate(&self, from: StationId, to: StationId) -> RateNumber {
        if to == BROADCAST { self.lowest } else { self.present[self.channel(from, to) as usize].get() }
    }

    /// The rate of action frames.
    pub(crate) fn lowest(&self) -> RateNumber {
        self.lowest
    }

    /// From now on data from one station to another has this rate.
    pub(crate) fn use_rate(&self, from: StationId, to: StationId, rate: RateNumber) {
        self.present[self.channel(from, to) as usize].set(rate);
    }

    /// The format of data from one station to another at the present rate.
    pub(crate) fn format_to(&self, from: StationId, to: StationId) -> &Format {
        self.format(self.rate(from, to))
    }

    /// True if `station` asks for block acknowledgments at 20 MHz.
    pub(crate) fn asks_at_20_mhz(&self, station: StationId) -> bool {
        self.aggregation.get(station as usize).copied().flatten().is_some_and(|a| a.asks_at_20_mhz)
    }

    /// The same MCS as that of `rate`, no wider than 20 MHz.
    pub(crate) fn narrow(&self, rate: RateNumber) -> RateNumber {
        self.narrow.get(rate as usize).copied().unwrap_or(rate)
    }

    /// The durations at a rate.
    #[inline]
    fn table(&self, rate: RateNumber) -> &RateTable {
        &self.rates[rate as usize]
    }

    /// The format of data at a rate.
    pub(crate) fn format(&self, rate: RateNumber) -> &Format {
        &self.table(rate).rate
    }

    /// What an observer of `station` knows of its PHY and MAC, at the present rate.
    pub(crate) fn radio(&self, station: StationId) -> observe::Radio {
        let (timing, rates) = (&self.timing, self.table(self.present[station as usize].get()));
        observe::Radio {
            rate: rates.rate.bps / 8,
            sifs: timing.sifs,
            difs: self.difs,
            mean_backoff: timing.slot * u64::from(timing.setting.cw_min) / 2,
            rts: rates.rts,
            cts: rates.cts,
            ack: rates.ack,
        }
    }

    /// DIFS and the whole exchange of an IP packet of `bytes` on the channel of `station` at its present rate.
    pub(crate) fn exchange(&self, station: StationId, bytes: u32) -> Span {
        let bytes = bytes.min(MAX_PACKET);
        let protection = self.timing.limits.protection.of(bytes);
        let rate = self.present[station as usize].get();
        let (content, reserves) = (Content::Packet, Span::ZERO);
        let burst = Burst { from: station, to: station, bytes, content, protection, rate, reserves };
        self.difs + self.plan(&burst).duration()
    }

    /// How `from`, which aggregates, sends packets to `to`.
    pub(crate) fn agreed(&self, from: StationId, to: StationId) -> Aggregation {
        let of = |station: StationId| self.aggregation.get(station as usize).and_then(Option::as_ref);
        of(from).map_or(Aggregation::ONE_MPDU, |own| own.toward(of(to)))
    }

    /// The room of a PSDU from one station, which aggregates, to another at this rate. Unless `limit` is zero, its
    /// exchange takes no longer.
    pub(crate) fn room(&self, (from, to): (StationId, StationId), rate: RateNumber, limit: Span) -> Room {
        let (rates, agreed) = (self.table(rate), self.agreed(from, to));
        let spacing = spacing(agreed.density, rates.rate.bps);
        if limit.is_zero() && agreed.duration == LONGEST_PPDU {
            return Room { most: rates.most, spacing };
        }
        let left = if limit.is_zero() {
            agreed.duration
        } else {
            let content = Content::Aggregate(0, Bitmap::of(agreed.window));
            let protection = self.timing.limits.protection.of_psdu(rates.most);
            let burst = Burst { from, to, bytes: 0, content, protection, rate, reserves: Span::ZERO };
            limit.saturating_sub(Plan::new(&burst, &self.timing, rates).duration_without_data()).min(agreed.duration)
        };
        Room { most: rates.rate.largest_psdu(left).unwrap_or(0).min(rates.most), spacing }
    }

    /// The plan of an exchange of `burst`.
    #[inline(always)]
    pub(crate) fn plan(&self, burst: &Burst) -> Plan<'_> {
        Plan::new(burst, &self.timing, self.table(burst.rate))
    }

    /// The time that backoff and collisions take for each success when `contenders` stations are saturated.
    pub(crate) fn contention(&self, contenders: u32) -> Span {
        let model = self.contention.get_or_init(|| self.model());
        model.get(contenders.min(CONTENDERS) as usize).copied().unwrap_or(Span::ZERO)
    }

    /// The mean time for each success that n saturated stations spend on backoff and collisions.
    fn model(&self) -> Vec<Span> {
        let us = |s: Span| s.as_nanos() as f64 / 1e3;
        let backoff = Backoff {
            cw_min: self.timing.setting.cw_min,
            cw_max: self.timing.setting.cw_max,
            attempts: Some(self.timing.limits.short),
        };
        let Some(table) = self.rates.first() else { return vec![Span::ZERO] };
        let data = self.difs + table.data(MODEL_PACKET).total + self.timing.sifs + table.ack;
        let times = SlotTimes { slot_us: us(self.timing.slot), ts_us: us(data), tc_us: us(data), payload_bits: 8.0 };
        let lost = |n| {
            let s = bianchi::saturation(&backoff, &times, n).ok()?;
            // For each success: the idle slots and the collisions that it takes on average.
            Some((s.idle_slots * times.slot_us + (1.0 - s.p_s) * times.tc_us) / s.p_s)
        };
        // The parameters of a cell are always valid for the model.
        (0..=CONTENDERS).map(|n| Span::from_secs_f64(lost(n.max(1)).unwrap_or(0.0) / 1e6)).collect()
    }
}

/// True if a station makes agreements before it sends A-MPDUs.
pub(crate) fn negotiates(spec: &CellSpec) -> bool {
    spec.members().any(|s| s.aggregation.is_some_and(|a| !a.addba.is_zero()))
}

/// Bytes that take `density` at `bps` bits per second, rounded up (IEEE 802.11-2020 §10.12.3).
fn spacing(density: Span, bps: u64) -> u32 {
    // 64 bits are enough: the densities of the standard end at 16 us, its rates below 2^35 bit/s.
    let bits = density.as_nanos().saturating_mul(bps);
    u32::try_from(bits.div_ceil(8_000_000_000)).unwrap_or(u32::MAX)
}

/// The rates from which a station with this rate may choose: all MCS at its width and guard interval with up to as many
/// streams; without MCS all rates of the same modulation, OFDM or not.
fn candidates(phy: &Phy, given: DataRate) -> Vec<DataRate> {
    match given {
        DataRate::Legacy(bps) => {
            let is_ofdm = |bps: u64| phy.rate(bps).is_some_and(Format::is_ofdm);
            phy.rates().iter().filter(|r| is_ofdm(**r) == is_ofdm(bps)).map(|r| DataRate::Legacy(*r)).collect()
        }
        DataRate::Mcs(mode) => {
            // A code that the file demands is that of all rates.
            let is_usual = mode.fec == mode.usual_fec();
            let of = |streams| (0..=mode.family.highest_mcs()).map(move |mcs| Mode { streams, mcs, ..mode });
            let with_code = |m: Mode| Mode { fec: if is_usual { m.usual_fec() } else { m.fec }, ..m };
            let all = (1..=mode.streams).flat_map(of).map(with_code);
            all.filter_map(|m| m.checked().ok()).map(DataRate::Mcs).collect()
        }
    }
}
