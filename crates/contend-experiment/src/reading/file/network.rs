//! Reads the tree of one point: a network and its flows.

mod access_points;
mod checks;
mod flows;
mod groups;
mod stations;
mod wires;

use self::access_points::{ap_tables, usual_ap};
use self::groups::Group;
pub(crate) use self::groups::direction;
use super::channel::check_errors;
use super::channels::channels;
use super::error::{FileError, Source};
use super::field::{Field, is_power};
use super::passing;
use super::places::Places;
use super::reach::Reach;
use super::reader::{ReadContext, Stack, Val};
use super::site::Sites;
use super::tcp::small_queues;
use super::traces::Traces;
use super::tree::{Node, NodeKind};
use super::wifi::{Loss, Wifi, check_losses, check_weights};
use crate::point::{Member, Resolved};
use crate::reading::expression::Quantity;
use contend_core::registry::{Amount, Value};
use contend_core::{FlowId, Span};
use contend_sim::scenario::{
    AfterCollision, ApSpec, CellSpec, FlowSpec, LinkSpec, NodeSpec, Place, Scenario, Site, StationSpec, WireRate,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of stations, and of flows, in a network.
pub(crate) const MOST: u64 = 100_000;
/// Default rate of a wire beside a cell without MCS, or without a cell.
const WIRE_RATE: WireRate = WireRate::Constant(100_000_000);
/// Default rate of a wire from 802.11n on: packets take no time.
const INFINITE: WireRate = WireRate::Constant(0);
/// Default delay of a wire.
const WIRE_DELAY: Span = Span::from_millis(1);
/// Default queue of an Ethernet converter (Arai 2008, spec T8).
const BRIDGE_QUEUE: Value = Value::Amount(Amount::Packets(50));
/// Default queue of a wire. It is larger than the default window of a flow, so it seldom overflows.
const WIRE_QUEUE: Value = Value::Amount(Amount::Packets(10_000));
/// Largest IP packet that an 802.11 frame carries (aMSDUMaximumLength 2304 B less LLC/SNAP).
const LARGEST_ON_AIR: u32 = 2296;

/// The network that `tree` describes, for a run of `duration`.
pub(crate) fn resolve(source: &Source, tree: &Node, duration: Span, traces: &Traces) -> Result<Resolved, FileError> {
    let params = params(source, tree)?;
    let mut cx = ReadContext::new(source, &params);
    let mut root = Val { cx, path: String::new(), node: tree }.table()?;
    cx.stack = root.read_or("stack", cx.stack, |v| v.word(&[("rfc", Stack::Rfc), ("linux", Stack::Linux)]))?;
    // All that is read from here on has the file's stack.
    root.cx = cx;
    root.get("param");
    let mut b = Builder::new(traces);
    let (wifi_at, field_at) = (root.get("wifi"), root.get("field"));
    let walls = tables(root.get("wall"), "[[wall]]")?;
    let wifi = b.medium(wifi_at.as_ref(), field_at.as_ref(), &walls)?;
    let aps = ap_tables(root.get("ap"), b.field.is_some())?;
    let nodes = tables(root.get("node"), "[[node]]")?;
    let stations = tables(root.get("station"), "[[station]]")?;
    let links = tables(root.get("link"), "[[link]]")?;
    let wire = root.get("wire");
    let flows = tables(root.get("flow"), "[[flow]]")?;
    checks::check_counts(&stations, &flows)?;
    b.access_points(cx, &aps, wifi.as_ref(), field_at.as_ref())?;
    for v in &nodes {
        b.node(v)?;
    }
    for v in &stations {
        match &wifi {
            Some(wifi) => b.stations(v, wifi)?,
            None => return Err(v.error("needs a cell", "add [wifi] standard = \"802.11g\"")),
        }
    }
    let field_links = b.field.as_ref().map_or(Ok(None), |f| f.links(b.aps.len(), &b.places))?;
    b.associate(field_links.as_deref())?;
    let channels = channels(&aps, wifi.as_ref(), b.field.as_ref())?;
    for v in &links {
        b.link(v)?;
    }
    if let Some(v) = &wire {
        if wifi.is_none() {
            return Err(
                v.error("is the wired side of a cell, but the file has no [wifi]", "write [[link]] tables instead")
            );
        }
        let f = Val { cx: ReadContext { member: Some((1, 1)), ..cx }, ..v.clone() }.table()?;
        b.wires(f, None, true)?;
    }
    if flows.is_empty() {
        return Err(root.error(
            "has no [[flow]]: nothing would be sent",
            "add [[flow]] with from = \"server\", to = \"station\", tcp = \"newreno\"; or write [contention] or \
                [model]",
        ));
    }
    root.finish()?;

    let groups = Group::read_all(&flows, &b.places, wifi.is_some(), duration)?;
    for group in &groups {
        b.flows(group, wifi.as_ref(), wire.as_ref(), duration)?;
    }
    if let (true, Some(group)) = (b.flows.is_empty(), groups.first()) {
        let count = group.val.table()?.get("count").unwrap_or_else(|| group.val.clone());
        let help = "write a count of at least 1 for one of the flows";
        return Err(count.error("leaves no flow: nothing would be sent", help));
    }
    let ids: BTreeMap<&str, FlowId> = b.flows.iter().zip(0u32..).map(|(f, i)| (f.name.as_str(), FlowId(i))).collect();
    check_losses(&b.losses, &|name| ids.get(name).copied())?;
    aps.iter().try_for_each(|ap| check_weights(ap, &b.stations))?;
    b.check_routes()?;
    b.check_observers()?;
    let (sites_at, sites): (Vec<Val>, Vec<Site>) = b.sites.all.into_iter().unzip();
    let association = b.association.iter().map(|ap| ap.unwrap_or(0)).collect();
    let field = b.field.take().map(|f| f.with(sites, b.aps.len(), association, channels, field_links));
    let cell = match (wifi, wifi_at) {
        (Some(Wifi { phy, mac, error_model, .. }), Some(at)) => {
            let cell = CellSpec { phy, mac, aps: b.aps, stations: b.stations, field, error_model: None };
            Some(check_errors(&at, error_model, cell)?)
        }
        _ => None,
    };
    if let (Some((cell, field)), Some(at)) = (cell.as_ref().and_then(|c| Some((c, c.field.as_ref()?))), &field_at) {
        Reach::new(cell, field, at, &sites_at)?.check(&b.flows, &b.from)?;
    }
    let mut scenario = Scenario { seed: 0, cell, nodes: b.nodes, links: b.links, flows: b.flows };
    small_queues(&mut scenario, &b.from, &b.asks_small_queue)?;
    passing::check(&Val { cx, path: String::new(), node: tree }, &scenario)?;
    Ok(Resolved { scenario, groups: groups.into_iter().map(|g| g.name).collect(), members: b.members })
}

/// Reads `[param]`; each number may use the numbers before it, and may be the name of one.
pub(crate) fn params(source: &Source, tree: &Node) -> Result<Vec<(String, Quantity)>, FileError> {
    let mut params = vec![];
    let Some(node) = tree.get("param") else { return Ok(params) };
    let none = Val { cx: ReadContext::new(source, &[]), path: "param".into(), node };
    for (entry, v) in none.table()?.all() {
        if !entry.key.starts_with(|c: char| c.is_ascii_alphabetic())
            || !entry.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            || entry.key == "k"
        {
            return Err(FileError::new(
                source,
                &entry.site,
                format!("`param.{}` cannot be the name of a number", entry.key),
                "use letters, digits and _; `k` is the number of a member",
            ));
        }
        let known = if let NodeKind::Text(name) = &v.node.kind { params.iter().find(|p| p.0 == *name) } else { None };
        let value = match known {
            Some(&(_, value)) => value,
            None => Val { cx: ReadContext::new(source, &params), ..v }.any()?,
        };
        params.push((entry.key.clone(), value));
    }
    Ok(params)
}

/// The tables of an array of tables.
fn tables<'a>(val: Option<Val<'a>>, name: &str) -> Result<Vec<Val<'a>>, FileError> {
    val.map_or(Ok(vec![]), |v| Ok(v.list(&format!("{name}, with two brackets"))?.collect()))
}

struct Builder<'a> {
    traces: &'a Traces,
    places: Places,
    nodes: Vec<NodeSpec>,
    links: Vec<LinkSpec>,
    aps: Vec<ApSpec>,
    stations: Vec<StationSpec>,
    /// The number of each station's access point, if the station names it or there are several.
    association: Vec<Option<usize>>,
    /// The access points at which a link of the file ends.
    linked: BTreeSet<usize>,
    /// The pairs of access points that are joined by a wire of their own.
    joined: BTreeSet<(usize, usize)>,
    flows: Vec<FlowSpec>,
    members: Vec<Member>,
    /// Place of each flow's `from`.
    from: Vec<Val<'a>>,
    /// True for each flow with `tcp.tsq`.
    asks_small_queue: Vec<bool>,
    losses: Vec<Loss<'a>>,
    /// The rate of wires that do not state theirs.
    wire_rate: WireRate,
    field: Option<Field<'a>>,
    /// True if each channel has an SNR that follows from the positions.
    has_snr: bool,
    /// Where access points and stations of a field are.
    sites: Sites<'a>,
}

impl<'a> Builder<'a> {
    fn new(traces: &'a Traces) -> Builder<'a> {
        Builder {
            traces,
            places: Places::default(),
            nodes: vec![],
            links: vec![],
            aps: vec![],
            stations: vec![],
            association: vec![],
            linked: BTreeSet::new(),
            joined: BTreeSet::new(),
            flows: vec![],
            members: vec![],
            from: vec![],
            asks_small_queue: vec![],
            losses: vec![],
            wire_rate: WIRE_RATE,
            field: None,
            has_snr: false,
            sites: Sites::default(),
        }
    }

    fn node(&mut self, v: &Val<'a>) -> Result<(), FileError> {
        let mut f = v.table()?;
        let name = f.need("name", "\"router\"")?;
        let router = f.read_or("kind", false, |v| match v.text()? {
            "proxy" => {
                Err(v.error("is reserved for a later version of contend: \"proxy\"", "write \"host\" or \"router\""))
            }
            _ => v.word(&[("host", false), ("router", true)]),
        })?;
        f.finish()?;
        let name = self.places.add(&name, Place::Node(self.nodes.len()))?;
        self.nodes.push(NodeSpec { name, router });
        Ok(())
    }

    /// Reads the air: `[wifi]`, `[field]` and each `[[wall]]`.
    fn medium(
        &mut self,
        wifi_at: Option<&Val<'a>>,
        field_at: Option<&Val<'a>>,
        walls: &[Val<'a>],
    ) -> Result<Option<Wifi>, FileError> {
        let wifi = wifi_at.map(|v| Wifi::read(v, &mut self.losses, self.traces)).transpose()?;
        if wifi.as_ref().is_some_and(|w| w.phy.standard.family().is_some()) {
            self.wire_rate = INFINITE;
        }
        self.field = field_at.map(|v| Field::read(v, walls)).transpose()?;
        if let (Some(v), None) = (walls.first(), field_at) {
            return Err(v.error(
                "is for a field, but in a cell all stations hear each other",
                "add [field] range = \"30m\" and positions, or remove it",
            ));
        }
        if let (Some(v), None) = (field_at, &wifi) {
            return Err(v.error("needs a standard", "add [wifi] standard = \"802.11b\""));
        }
        self.has_snr = field_at.is_some() && wifi.as_ref().is_some_and(|w| w.error_model.is_some());
        if let (Some(v), false) = (field_at, self.has_snr) {
            let mut f = v.table()?;
            let powers = self.field.as_ref().is_some_and(|field| field.adjacent().is_some());
            let senses_power = powers || f.get("sense").is_some_and(|v| is_power(&v));
            if let Some(v) = f.get("tx_power").filter(|_| !senses_power).or_else(|| f.get("noise_figure")) {
                return Err(v.error("gives an SNR, which no error model reads", "add error_model = \"nist\" to [wifi]"));
            }
            if let Some(v) = f.get("sinr") {
                return Err(
                    v.error("lowers an SNR, which no error model reads", "add error_model = \"nist\" to [wifi]")
                );
            }
        }
        if let (Some(wifi), Some(_), Some(v)) = (&wifi, field_at, wifi_at)
            && !wifi.mac.preamble_detection.is_zero()
        {
            let at = v.table()?.get("preamble_detection").unwrap_or_else(|| v.clone());
            return Err(at.error("is for a cell, in which all stations hear each other", "remove it, or [field]"));
        }
        if let (Some(wifi), None, Some(v)) = (&wifi, field_at, wifi_at) {
            let after = v.table()?.get("after_collision").unwrap_or_else(|| v.clone());
            if wifi.mac.after_collision == AfterCollision::EifsNav {
                return Err(after.error("is for a field, where each station has its own NAV", "write \"eifs\""));
            }
        }
        Ok(wifi)
    }

    /// Reads the access points. A cell has one even if the file does not name it.
    fn access_points(
        &mut self,
        cx: ReadContext<'a>,
        aps: &[Val<'a>],
        wifi: Option<&Wifi>,
        field_at: Option<&Val<'a>>,
    ) -> Result<(), FileError> {
        match (wifi, aps.first()) {
            (Some(wifi), Some(_)) => aps.iter().try_for_each(|ap| self.access_point(ap, wifi))?,
            // Stations of a field may do without an access point.
            (Some(_), None) if self.field.is_some() => {
                if let Some(v) = field_at.filter(|_| self.field.as_ref().is_some_and(Field::needs_ap)) {
                    let at = v.table()?.get("routing").unwrap_or_else(|| v.clone());
                    return Err(at.error(
                        "needs an access point: stations would send to nobody else",
                        "add [ap] position = [\"100m\", \"500m\"], or write \"static\"",
                    ));
                }
            }
            (Some(wifi), None) => {
                self.places.add_ap();
                self.aps.push(usual_ap(cx, wifi)?);
            }
            (None, Some(ap)) => {
                return Err(ap.error("needs a cell", "add [wifi] standard = \"802.11g\", or remove [ap]"));
            }
            (None, None) => self.places.add_ap(),
        }
        Ok(())
    }
}
