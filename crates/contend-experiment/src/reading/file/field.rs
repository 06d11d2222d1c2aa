//! `[field]`: the medium with positions.

use super::channel::level;
use super::choice::{NamedList, choice, default_choice, named_list, objection};
use super::error::FileError;
use super::places::Places;
use super::reader::{Fields, Val};
use super::tree::NodeKind;
use contend_core::Span;
use contend_core::observe::{self, Radio};
use contend_core::registry::{Amount, Choice, Value};
use contend_sim::routing;
use contend_sim::scenario::{
    Adjacent, Area, Capture, CtsRule, FieldLink, FieldSpec, Place, Point, Shadowing, Site, Wall,
};
use contend_sim::wifi::{StationId, propagation};
use std::collections::BTreeMap;

/// Largest distance in a field, in metres.
const FARTHEST: f64 = 1e6;

/// `[field]` without the stations.
pub(crate) struct Field<'a> {
    /// The area in which stations move; infinite without `area`.
    pub area: Area,
    /// The links that the file gives.
    links: Option<Val<'a>>,
    /// What arrives of frames of other channels, and from which power in dBm on it makes the medium busy.
    adjacent: Option<(Val<'a>, f64)>,
    range: f64,
    sense: f64,
    propagation: Choice<propagation::Build>,
    walls: Vec<Wall>,
    shadowing: Option<Shadowing>,
    capture: Capture,
    tx_power: f64,
    noise_figure: f64,
    propagation_delay: bool,
    nav_reset: bool,
    nav_rounding: bool,
    slot_rounding: bool,
    cts: CtsRule,
    /// `Some(None)`: through the access points.
    routing: Option<Option<Choice<routing::Build>>>,
    /// Routes that never change.
    usual: Choice<routing::Build>,
    arp: bool,
    routing_priority: bool,
    link_delay: Span,
    notes_on_air: bool,
    sinr: bool,
    /// The observers of stations that name none.
    pub observe: NamedList<observe::Build>,
}

impl<'a> Field<'a> {
    /// Reads `[field]`, and each `[[wall]]` in it.
    pub fn read(val: &Val<'a>, walls: &[Val<'a>]) -> Result<Field<'a>, FileError> {
        let mut f = val.table()?;
        let area = f.read_or("area", Area::INFINITE, |v| area(&v))?;
        let links = f.get("links");
        let range = f.read_or("range", 250.0, |v| distance(&v))?;
        let tx_power = f.read_or("tx_power", 16.0, |v| level(&v, "dBm", (-50.0, 60.0)))?;
        let propagation = match f.get("propagation") {
            Some(v) => {
                let model = choice(&v, propagation::REGISTRY, "propagation model")?;
                objection(&v, model.entry.name, (model.entry.build)(&model.args))?;
                model
            }
            None => default_choice(f.cx, propagation::REGISTRY, "two_ray", &[])?,
        };
        let sense_at = f.get("sense");
        let sense = sense_at.as_ref().map_or(Ok(2.2 * range), |v| sensed(v, &propagation, tx_power))?;
        if let (Some(v), true) = (&sense_at, sense < range) {
            return Err(v.error(
                format!(
                    "ends at {sense:.4}m, before the range of {range}m: a station would decode frames that it does not \
                        sense"
                ),
                format!("write at least \"{range}m\""),
            ));
        }
        let shadowing_at = f.get("shadowing");
        let shadowing = shadowing_at.as_ref().map(shadowing).transpose()?.filter(|s| s.deviation > 0.0);
        let falls = (propagation.entry.build)(&propagation.args).is_ok_and(|model| model.reference().is_some());
        if let (Some(v), false) = (&shadowing_at, falls) {
            return Err(v.error(
                format!("has no meaning with propagation = \"{}\", in which no power falls", propagation.entry.name),
                "write propagation = { kind = \"log_distance\", exponent = 3 }",
            ));
        }
        if let Some(v) = walls.first().filter(|_| links.is_some() || !falls) {
            let (why, help) = match &links {
                Some(_) => ("field.links gives who hears whom".to_owned(), "write the loss of each link there"),
                None => (
                    format!("no power falls with propagation = \"{}\"", propagation.entry.name),
                    "write field.propagation = { kind = \"log_distance\", exponent = 3 }",
                ),
            };
            return Err(v.error(format!("weakens nothing: {why}"), help));
        }
        let adjacent = adjacent(&mut f, links.is_some(), &propagation, falls)?;
        let read = Field {
            area,
            links,
            adjacent,
            range,
            sense,
            propagation,
            walls: walls.iter().map(wall).collect::<Result<_, _>>()?,
            shadowing,
            capture: f.read_or("capture", Capture { ratio: 10.0, later: false, adds_up: false }, |v| capture(&v))?,
            tx_power,
            noise_figure: f.read_or("noise_figure", 7.0, |v| level(&v, "dB", (0.0, 50.0)))?,
            propagation_delay: f.read_or("propagation_delay", true, |v| v.flag())?,
            nav_reset: f.read_or("nav_reset", true, |v| v.flag())?,
            nav_rounding: f.read_or("nav_rounding", false, |v| v.flag())?,
            slot_rounding: f.read_or("slot_rounding", false, |v| v.flag())?,
            cts: f.read_or("cts", CtsRule::Nav, |v| v.word(&[("nav", CtsRule::Nav), ("idle", CtsRule::Idle)]))?,
            routing: f.read("routing", |v| match &v.node.kind {
                NodeKind::Text(t) if t == "infrastructure" => Ok(None),
                _ => choice(&v, routing::REGISTRY, "routing protocol").map(Some),
            })?,
            usual: default_choice(f.cx, routing::REGISTRY, "static", &[])?,
            arp: f.read_or("arp", false, |v| v.flag())?,
            routing_priority: f.read_or("routing_priority", false, |v| v.flag())?,
            link_delay: f.read_or("link_delay", Span::ZERO, |v| v.span())?,
            notes_on_air: f.read_or("notes_on_air", false, |v| v.flag())?,
            sinr: f.read_or("sinr", false, |v| v.flag())?,
            observe: f.read_or("observe", vec![], |v| observers(&v))?,
        };
        f.finish()?;
        Ok(read)
    }

    /// True if the file gives the links, so that stations need no positions.
    pub fn has_links(&self) -> bool {
        self.links.is_some()
    }

    /// What arrives of frames of other channels, and from which power in dBm on it makes the medium busy, if the file
    /// says it.
    pub fn adjacent(&self) -> Option<&(Val<'a>, f64)> {
        self.adjacent.as_ref()
    }

    /// How the power falls with the distance.
    pub fn propagation(&self) -> &Choice<propagation::Build> {
        &self.propagation
    }

    /// What weakens frames between positions.
    pub fn walls(&self) -> &[Wall] {
        &self.walls
    }

    /// True if stations may send to access points only.
    pub fn needs_ap(&self) -> bool {
        matches!(self.routing, Some(None))
    }

    /// True if stations forward packets although there are access points.
    pub fn forwards(&self) -> bool {
        matches!(self.routing, Some(Some(_)))
    }

    /// Why stations cannot change their access points in this field, and what helps; `None` if they can.
    pub fn keeps_access_points(&self) -> Option<(String, &'static str)> {
        let falls = (self.propagation.entry.build)(&self.propagation.args).is_ok_and(|m| m.reference().is_some());
        if self.links.is_some() {
            Some(("compares powers, but field.links gives who hears whom".into(), "remove it, or field.links"))
        } else if !falls {
            let what =
                format!("compares powers, but none falls with propagation = \"{}\"", self.propagation.entry.name);
            Some((what, "write field.propagation = { kind = \"log_distance\", exponent = 3 }"))
        } else if self.forwards() {
            Some(("changes the access point, but stations forward packets".into(), "remove it, or field.routing"))
        } else {
            None
        }
    }

    /// The links that the file gives between stations, of which the first `aps` are access points.
    pub fn links(&self, aps: usize, places: &Places) -> Result<Option<Vec<FieldLink>>, FileError> {
        self.links.as_ref().map(|v| links(v, aps, places)).transpose()
    }

    /// Bytes that the routing protocol adds to each data packet.
    pub fn header(&self) -> u32 {
        match self.routing.iter().flatten().find_map(|protocol| protocol.args.get("ip_header")) {
            Some(Value::Amount(Amount::Bytes(bytes))) => u32::try_from(*bytes).unwrap_or(u32::MAX),
            _ => 0,
        }
    }

    /// The field with stations at these sites, of which the first `aps` are access points. `association` has the access
    /// point of each station, `channels` the channel of each access point, and what arrives of other channels.
    pub fn with(
        self,
        sites: Vec<Site>,
        aps: usize,
        association: Vec<usize>,
        (channels, adjacent): (Vec<u32>, Option<Adjacent>),
        links: Option<Vec<FieldLink>>,
    ) -> FieldSpec {
        let usual = if aps > 0 { None } else { Some(self.usual) };
        FieldSpec {
            sites,
            association,
            channels,
            adjacent,
            area: self.area,
            links,
            range: self.range,
            sense: self.sense,
            propagation: self.propagation,
            walls: self.walls,
            shadowing: self.shadowing,
            capture: self.capture,
            tx_power: self.tx_power,
            noise_figure: self.noise_figure,
            propagation_delay: self.propagation_delay,
            nav_reset: self.nav_reset,
            nav_rounding: self.nav_rounding,
            slot_rounding: self.slot_rounding,
            cts: self.cts,
            routing: self.routing.unwrap_or(usual),
            arp: self.arp,
            routing_priority: self.routing_priority,
            link_delay: self.link_delay,
            notes_on_air: self.notes_on_air,
            sinr: self.sinr,
        }
    }
}

/// Finds `adjacent`, and reads `energy`. `given`: the file gives the links; `falls`: power falls with the distance.
fn adjacent<'a>(
    f: &mut Fields<'a>,
    given: bool,
    propagation: &Choice<propagation::Build>,
    falls: bool,
) -> Result<Option<(Val<'a>, f64)>, FileError> {
    /// IEEE 802.11-2020 §17.3.10.6: 20 dB above the power at which the lowest rate must be received.
    const ENERGY: f64 = -62.0;
    let energy_at = f.get("energy");
    let energy = energy_at.as_ref().map_or(Ok(ENERGY), |v| level(v, "dBm", (-150.0, 30.0)))?;
    let Some(v) = f.get("adjacent") else {
        let Some(v) = energy_at else { return Ok(None) };
        return Err(
            v.error("is the power of frames of other channels, of which none arrive", "add adjacent = \"mask\"")
        );
    };
    if matches!(&v.node.kind, NodeKind::Text(t) if t == "none") {
        return Ok(None);
    }
    if given {
        return Err(v.error("needs powers, but field.links gives who hears whom", "remove it, or field.links"));
    }
    if !falls {
        return Err(v.error(
            format!("needs powers, but none falls with propagation = \"{}\"", propagation.entry.name),
            "write propagation = { kind = \"log_distance\", exponent = 3 }",
        ));
    }
    Ok(Some((v, energy)))
}

/// Reads the observers of a station.
pub(crate) fn observers(v: &Val) -> Result<NamedList<observe::Build>, FileError> {
    const SHAPE: &str = "[\"rt_winf\", { kind = \"rt_winf\", cap_def = \"literal\", name = \"printed\" }]";
    /// Parameters do not depend on the radio.
    const ANY: Radio = Radio {
        rate: 1_375_000,
        sifs: Span::from_micros(10),
        difs: Span::from_micros(50),
        mean_backoff: Span::from_micros(310),
        rts: Span::from_micros(352),
        cts: Span::from_micros(304),
        ack: Span::from_micros(304),
    };
    named_list(v, observe::REGISTRY, "observer", SHAPE, &|item, choice| {
        objection(item, choice.entry.name, (choice.entry.build)(&choice.args, &ANY)).map(drop)
    })
}

/// Reads a distance above zero, in metres.
pub(super) fn distance(v: &Val) -> Result<f64, FileError> {
    let metres = v.length(FARTHEST)?;
    if metres > 0.0 { Ok(metres) } else { Err(v.error("is zero", "write a distance like \"250m\"")) }
}

/// True if `sense` is a power and not a distance.
pub(super) fn is_power(v: &Val) -> bool {
    matches!(&v.node.kind, NodeKind::Text(t) if t.trim_end().ends_with("dBm"))
}

/// Reads how far a frame is sensed: a distance, or the power in dBm down to which it is.
fn sensed(v: &Val, propagation: &Choice<propagation::Build>, tx_power: f64) -> Result<f64, FileError> {
    if !is_power(v) {
        return distance(v);
    }
    let threshold = level(v, "dBm", (-150.0, 30.0))?;
    let model = (propagation.entry.build)(&propagation.args).ok();
    let Some((reference, model)) = model.and_then(|model| Some((model.reference()?, model))) else {
        return Err(v.error(
            format!("has no meaning with propagation = \"{}\", in which no power falls", propagation.entry.name),
            "write a distance like \"550m\", or another propagation",
        ));
    };
    let arrives = |metres: f64| tx_power - reference + 10.0 * libm::log10(model.gain(metres)) >= threshold;
    let (mut near, mut far) = (0.0, FARTHEST);
    if !arrives(near) || arrives(far) {
        let what = if arrives(far) { "is sensed everywhere" } else { "is sensed nowhere" };
        return Err(v.error(
            format!("{what} with a transmitted power of {tx_power} dBm"),
            "write a power between that beside a transmitter and that far away, like \"-82dBm\", or `tx_power`",
        ));
    }
    // The power never grows with the distance: halve the interval until no number lies between its ends.
    while near < f64::midpoint(near, far) && f64::midpoint(near, far) < far {
        let middle = f64::midpoint(near, far);
        if arrives(middle) { near = middle } else { far = middle }
    }
    Ok(near)
}

/// Reads a pair of lengths: `["100m", "500m"]`.
pub(super) fn point(v: &Val) -> Result<Point, FileError> {
    let pair: Vec<Val> = v.list("a pair like [\"100m\", \"500m\"]")?.collect();
    match &pair[..] {
        [x, y] => Ok(Point { x: x.length(FARTHEST)?, y: y.length(FARTHEST)? }),
        _ => Err(v.error(format!("has {} values", pair.len()), "write a pair like [\"100m\", \"500m\"]")),
    }
}

/// Reads the sides of the area.
fn area(v: &Val) -> Result<Area, FileError> {
    let Point { x, y } = point(v)?;
    Ok(Area { width: x, height: y })
}

/// Reads a `[[wall]]`.
fn wall(v: &Val) -> Result<Wall, FileError> {
    let mut f = v.table()?;
    let (from_at, to_at) = (f.need("from", "[\"5m\", \"0m\"]")?, f.need("to", "[\"5m\", \"8m\"]")?);
    let (from, to) = (point(&from_at)?, point(&to_at)?);
    if from == to {
        return Err(to_at.error("is also the beginning of the wall", "write its other end"));
    }
    let loss = level(&f.need("loss", "\"5dB\"")?, "dB", (0.0, 200.0))?;
    f.finish()?;
    Ok(Wall { from, to, loss })
}

/// Reads the standard deviation of shadowing, `"6dB"`, or a table.
fn shadowing(v: &Val) -> Result<Shadowing, FileError> {
    const MOST: f64 = 20.0;
    let deviation = |v: &Val| match loss_in_decibels(v)? {
        db if (0.0..=MOST).contains(&db) => Ok(db),
        db => Err(v.error(format!("is {db}dB"), format!("write a standard deviation from \"0dB\" to \"{MOST}dB\""))),
    };
    if let NodeKind::Text(_) = &v.node.kind {
        return Ok(Shadowing { deviation: deviation(v)?, each_frame: false });
    }
    let mut f = v.table()?;
    let deviation = deviation(&f.need("deviation", "\"6dB\"")?)?;
    let each_frame = f.read_or("draw", false, |v| v.word(&[("link", false), ("frame", true)]))?;
    f.finish()?;
    Ok(Shadowing { deviation, each_frame })
}

/// Reads the links between stations, of which the first `aps` are access points.
fn links(v: &Val, aps: usize, places: &Places) -> Result<Vec<FieldLink>, FileError> {
    const SHAPE: &str = "[[\"a\", \"b\"], { from = \"b\", to = \"c\", decode = false }]";
    let mut all: BTreeMap<(StationId, StationId), FieldLink> = BTreeMap::new();
    let number = |place: Place| match place {
        Place::Ap(i) => i,
        Place::Station(i) | Place::Node(i) => aps + i,
    };
    for item in v.list(SHAPE)? {
        let usual = FieldLink { from: 0, to: 0, decodes: true, gain: 1.0, delay: Span::ZERO };
        let (from, to, link, both) = if let NodeKind::List(_) = &item.node.kind {
            match &item.list(SHAPE)?.collect::<Vec<_>>()[..] {
                [from, to] => (from.clone(), to.clone(), usual, true),
                _ => return Err(item.error("must name two stations", format!("write {SHAPE}"))),
            }
        } else {
            let mut f = item.table()?;
            let (from, to) = (f.need("from", "\"a\"")?, f.need("to", "\"b\"")?);
            let decodes = f.read_or("decode", true, |v| v.flag())?;
            let loss = f.read_or("loss", 0.0, |v| loss_in_decibels(&v))?;
            let delay = f.read_or("delay", Span::ZERO, |v| v.span())?;
            let both = f.read_or("both", true, |v| v.flag())?;
            f.finish()?;
            (from, to, FieldLink { decodes, gain: libm::pow(10.0, -loss / 10.0), delay, ..usual }, both)
        };
        for a in places.on_air(&from)? {
            for b in places.on_air(&to)? {
                let (a, b) = (number(a) as StationId, number(b) as StationId);
                if a == b {
                    // A group that is linked with itself: each member with all others.
                    continue;
                }
                let ways = [Some((a, b)), both.then_some((b, a))];
                for (from, to) in ways.into_iter().flatten() {
                    all.insert((from, to), FieldLink { from, to, ..link });
                }
            }
        }
    }
    Ok(all.into_values().collect())
}

/// Reads what happens when frames overlap at a receiver: `"none"`, `"10dB"`, or a table.
fn capture(v: &Val) -> Result<Capture, FileError> {
    if let NodeKind::Text(text) = &v.node.kind {
        return Ok(match text.as_str() {
            "none" => Capture::NONE,
            _ => Capture { ratio: decibels(v)?, later: false, adds_up: false },
        });
    }
    let mut f = v.table()?;
    let ratio = decibels(&f.need("ratio", "\"10dB\"")?)?;
    let later = f.read_or("frame", false, |v| v.word(&[("first", false), ("strongest", true)]))?;
    let adds_up = f.read_or("interference", false, |v| v.word(&[("strongest", false), ("sum", true)]))?;
    f.finish()?;
    Ok(Capture { ratio, later, adds_up })
}

/// Reads a loss: `"6dB"`.
fn loss_in_decibels(v: &Val) -> Result<f64, FileError> {
    let text = v.text()?;
    match text.strip_suffix("dB").and_then(|n| n.trim().parse::<f64>().ok()) {
        Some(db) if (-100.0..=200.0).contains(&db) => Ok(db),
        _ => Err(v.error(format!("is not a loss from -100dB to 200dB: \"{text}\""), "write \"6dB\"")),
    }
}

/// Reads a ratio of powers: `"10dB"` or 10.
fn decibels(v: &Val) -> Result<f64, FileError> {
    let in_range = |ratio: f64| match (1.0..=1e10).contains(&ratio) {
        true => Ok(ratio),
        false => Err(v.error(format!("is a ratio of {ratio}"), "write a ratio from \"0dB\" to \"100dB\"")),
    };
    let NodeKind::Text(text) = &v.node.kind else { return in_range(v.number()?) };
    if text.trim_start().starts_with('=') {
        return in_range(v.number()?);
    }
    match text.strip_suffix("dB").and_then(|n| n.trim().parse::<f64>().ok()) {
        Some(db) => in_range(libm::pow(10.0, db / 10.0)),
        None => Err(v.error(format!("is not a ratio of powers: \"{text}\""), "write \"10dB\", or \"none\"")),
    }
}
