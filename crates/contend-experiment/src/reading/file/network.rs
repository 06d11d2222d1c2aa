//! Reads the tree of one point: a network and its flows.

mod access_points;

use self::access_points::{ap_tables, usual_ap};
use super::aggregation::{Aggregating, read_aql};
use super::channel::{check_errors, check_snr, read_channel};
use super::choice::{NamedList, choice, default_choice, objection};
use super::data_rate::{data_rate, station_standard};
use super::error::{FileError, Source};
use super::field::{Field, observers};
use super::flow::Draft;
use super::passing;
use super::places::{End, Places, valid_name};
use super::reach::Reach;
use super::reader::{Fields, ReadContext, Val};
use super::site::Sites;
use super::table_names::flow_names;
use super::tcp::check_small_queues;
use super::traces::Traces;
use super::tree::{Node, NodeKind};
use super::wifi::{Loss, Wifi, check_losses, check_weights, read_access, read_loss, read_queue};
use super::wire_rate::wire_rate;
use crate::point::{Direction, Member, Resolved};
use crate::reading::expression::Quantity;
use contend_core::registry::{Amount, Value};
use contend_core::{FlowId, Span, observe, qdisc};
use contend_sim::scenario::{
    AfterCollision, ApSpec, CellSpec, EndsSpec, FlowSpec, LinkSpec, NodeSpec, Place, Scenario, Site, StationSpec,
    Transport, WireRate, WireSpec,
};
use contend_sim::tcp::UDP_HEADERS;
use contend_sim::wifi::client::{self, Client};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of stations, and of flows, in a network.
pub(crate) const MOST: u64 = 100_000;
/// Default rate of a wire.
const WIRE_RATE: u64 = 100_000_000;
/// Default delay of a wire.
const WIRE_DELAY: Span = Span::from_millis(1);
/// Default queue of an Ethernet converter (Arai 2009, spec T8).
const BRIDGE_QUEUE: Value = Value::Amount(Amount::Packets(50));
/// Default queue of a wire. It is larger than the default window of a flow, so it seldom overflows.
const WIRE_QUEUE: Value = Value::Amount(Amount::Packets(10_000));
/// Largest IP packet that an 802.11 frame carries (aMSDUMaximumLength 2304 B less LLC/SNAP).
const LARGEST_ON_AIR: u32 = 2296;

/// The network that `tree` describes, for a run of `duration`.
pub(crate) fn resolve(source: &Source, tree: &Node, duration: Span, traces: &Traces) -> Result<Resolved, FileError> {
    let params = params(source, tree)?;
    let cx = ReadContext { source, params: &params, member: None };
    let mut root = Val { cx, path: String::new(), node: tree }.table()?;
    root.get("param");
    let mut b = Builder::new(traces);
    let wifi_at = root.get("wifi");
    let wifi = root.read("wifi", |v| Wifi::read(&v, &mut b.losses, traces))?;
    let field_at = root.get("field");
    b.field = field_at.as_ref().map(Field::read).transpose()?;
    if let (Some(v), None) = (&field_at, &wifi) {
        return Err(v.error("needs a standard", "add [wifi] standard = \"802.11b\""));
    }
    b.has_snr = field_at.is_some() && wifi.as_ref().is_some_and(|w| w.error_model.is_some());
    if let (Some(v), false) = (&field_at, b.has_snr) {
        let mut f = v.table()?;
        if let Some(v) = f.get("tx_power").or_else(|| f.get("noise_figure")) {
            return Err(v.error("gives an SNR, which no error model reads", "add error_model = \"nist\" to [wifi]"));
        }
    }
    if let (Some(wifi), None, Some(v)) = (&wifi, &field_at, &wifi_at) {
        let after = v.table()?.get("after_collision").unwrap_or_else(|| v.clone());
        if wifi.mac.after_collision == AfterCollision::EifsNav {
            return Err(after.error("is for a field, where each station has its own NAV", "write \"eifs\""));
        }
    }
    let aps = ap_tables(root.get("ap"), b.field.is_some())?;
    match (&wifi, aps.first()) {
        (Some(wifi), Some(_)) => aps.iter().try_for_each(|ap| b.access_point(ap, wifi))?,
        // Stations of a field may do without an access point.
        (Some(_), None) if b.field.is_some() => {
            if let Some(v) = field_at.as_ref().filter(|_| b.field.as_ref().is_some_and(Field::needs_ap)) {
                let at = v.table()?.get("routing").unwrap_or_else(|| v.clone());
                return Err(at.error(
                    "needs an access point: stations would send to nobody else",
                    "add [ap] position = [\"100m\", \"500m\"], or write \"static\"",
                ));
            }
        }
        (Some(wifi), None) => {
            b.places.add_ap();
            b.aps.push(usual_ap(cx, wifi)?);
        }
        (None, Some(ap)) => {
            return Err(ap.error("needs a cell", "add [wifi] standard = \"802.11g\", or remove [ap]"));
        }
        (None, None) => b.places.add_ap(),
    }
    for v in tables(root.get("node"), "[[node]]")? {
        b.node(&v)?;
    }
    for v in tables(root.get("station"), "[[station]]")? {
        match &wifi {
            Some(wifi) => b.stations(&v, wifi)?,
            None => return Err(v.error("needs a cell", "add [wifi] standard = \"802.11g\"")),
        }
    }
    let field_links = b.field.as_ref().map_or(Ok(None), |f| f.links(b.aps.len(), &b.places))?;
    b.associate(field_links.as_deref())?;
    for v in tables(root.get("link"), "[[link]]")? {
        b.link(&v)?;
    }
    let wire = root.get("wire");
    if let Some(v) = &wire {
        if wifi.is_none() {
            return Err(
                v.error("is the wired side of a cell, but the file has no [wifi]", "write [[link]] tables instead")
            );
        }
        let f = Val { cx: ReadContext { member: Some((1, 1)), ..cx }, ..v.clone() }.table()?;
        b.wires(f, None, true)?;
    }
    let flows = tables(root.get("flow"), "[[flow]]")?;
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
    let field = b.field.take().map(|f| f.with(sites, b.aps.len(), association, field_links));
    let cell = match (wifi, wifi_at) {
        (Some(Wifi { phy, mac, error_model, .. }), Some(at)) => {
            let cell = CellSpec { phy, mac, aps: b.aps, stations: b.stations, field, error_model: None };
            Some(check_errors(&at, error_model, cell)?)
        }
        _ => None,
    };
    if let (Some((cell, field)), Some(at)) = (cell.as_ref().and_then(|c| Some((c, c.field.as_ref()?))), &field_at) {
        Reach { cell, field, at, sites: &sites_at }.check(&b.flows, &b.from)?;
    }
    let scenario = Scenario { seed: 0, cell, nodes: b.nodes, links: b.links, flows: b.flows };
    check_small_queues(&scenario, &b.from)?;
    passing::check(&Val { cx, path: String::new(), node: tree }, &scenario)?;
    Ok(Resolved { scenario, groups: groups.into_iter().map(|g| g.name).collect(), members: b.members })
}

/// Reads `[param]`; each number may use the numbers before it, and may be the name of one.
pub(crate) fn params(source: &Source, tree: &Node) -> Result<Vec<(String, Quantity)>, FileError> {
    let mut params = vec![];
    let Some(node) = tree.get("param") else { return Ok(params) };
    let none = Val { cx: ReadContext { source, params: &[], member: None }, path: "param".into(), node };
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
            None => Val { cx: ReadContext { source, params: &params, member: None }, ..v }.any()?,
        };
        params.push((entry.key.clone(), value));
    }
    Ok(params)
}

/// The tables of an array of tables.
fn tables<'a>(val: Option<Val<'a>>, name: &str) -> Result<Vec<Val<'a>>, FileError> {
    val.map_or(Ok(vec![]), |v| Ok(v.list(&format!("{name}, with two brackets"))?.collect()))
}

/// Reads the `client` of a station.
fn read_client(v: Val) -> Result<Client, FileError> {
    let client = choice(&v, client::REGISTRY, "kind of client")?;
    objection(&v, client.entry.name, (client.entry.build)(&client.args))
}

/// One `[[flow]]` table.
struct Group<'a> {
    index: usize,
    val: Val<'a>,
    name: String,
    /// Number of members; `None` for a single member with the group's name.
    count: Option<u64>,
}

impl<'a> Group<'a> {
    /// Reads all groups and names them: by `name`, or by direction. If two names would be equal, the table's number
    /// follows.
    fn read_all(flows: &[Val<'a>], places: &Places, cell: bool, duration: Span) -> Result<Vec<Group<'a>>, FileError> {
        let (mut groups, mut named, mut own) = (vec![], vec![], BTreeSet::new());
        for (index, val) in flows.iter().enumerate() {
            let mut f = val.table()?;
            let count = f.read("count", |v| v.integer(0..=MOST))?;
            let name = f.get("name");
            if let Some(name) = name.as_ref()
                && !own.insert(valid_name(name)?.to_string())
            {
                return Err(name.error("is used by two flows", "give each [[flow]] its own name"));
            }
            let first = Draft::read(member(val, 1, count.unwrap_or(1).max(1))?, duration)?;
            let direction = direction(places.end(&first.from, cell)?, places.end(&first.to, cell)?);
            name.as_ref().map_or(Ok(()), |name| not_another_group(name, direction))?;
            let name = name.map(|name| name.text().map(str::to_owned)).transpose()?;
            groups.push(Group { index, val: val.clone(), name: String::new(), count });
            named.push(Some((name, direction)));
        }
        for ((group, name), given) in groups.iter_mut().zip(flow_names(&named)).zip(&named) {
            group.name = name.unwrap_or_default();
            if given.as_ref().is_some_and(|(name, _)| name.is_none()) && own.contains(&group.name) {
                return Err(group
                    .val
                    .error(format!("needs a name: `{}` is that of another flow", group.name), "write name = \"...\""));
            }
        }
        Ok(groups)
    }
}

/// Refuses a name that metrics use for other flows: `goodput.total` means all flows, `goodput.up` all uploads.
fn not_another_group(name: &Val, direction: Direction) -> Result<(), FileError> {
    let text = name.text()?;
    let directions = [Direction::Up, Direction::Down, Direction::Local, Direction::Wired];
    let of_others = directions.iter().any(|d| *d != direction && d.name() == text);
    if ["all", "total"].contains(&text) || of_others {
        let message = format!("cannot be \"{text}\": metrics read `{text}` as {}", meaning(text));
        return Err(name.error(message, "choose another name"));
    }
    Ok(())
}

/// The flows that a metric selects by this name.
fn meaning(group: &str) -> &'static str {
    match group {
        "up" => "all uploads",
        "down" => "all downloads",
        "local" => "all flows from station to station",
        "wired" => "all flows on wires alone",
        _ => "all flows",
    }
}

/// The keys of `val` for its member k of n.
fn member<'a>(val: &Val<'a>, k: u64, n: u64) -> Result<Fields<'a>, FileError> {
    Val { cx: ReadContext { member: Some((k as usize, n as usize)), ..val.cx }, ..val.clone() }.table()
}

pub(crate) fn direction(from: End, to: End) -> Direction {
    let on_air = |end| matches!(end, End::Station | End::Random | End::At(Place::Station(_)));
    match (on_air(from), on_air(to)) {
        (true, true) => Direction::Local,
        (true, false) => Direction::Up,
        (false, true) => Direction::Down,
        (false, false) => Direction::Wired,
    }
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
    /// The pairs of access points that a wire of their own joins.
    joined: BTreeSet<(usize, usize)>,
    flows: Vec<FlowSpec>,
    members: Vec<Member>,
    /// Place of each flow's `from`.
    from: Vec<Val<'a>>,
    losses: Vec<Loss<'a>>,
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
            losses: vec![],
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

    fn stations(&mut self, v: &Val<'a>, wifi: &Wifi) -> Result<(), FileError> {
        let mut f = v.table()?;
        let name = f.need("name", "\"slow\"")?;
        let count = f.read("count", |v| v.integer(0..=MOST))?;
        let first = self.stations.len();
        let group = match count {
            _ if name.text()? == "server" => {
                return Err(name.error(
                    "cannot be \"server\", which is the wired end of a flow",
                    "choose another name, like \"nas\"",
                ));
            }
            None => self.places.add(&name, Place::Station(first))?,
            Some(n) => self.places.add_group(&name, first, n as usize)?,
        };
        let n = count.unwrap_or(1);
        for k in 1..=n.max(1) {
            let mut f = member(v, k, n.max(1))?;
            let (_, _) = (f.get("name"), f.get("count"));
            let site = self.sites.all.len();
            self.sites.read(self.field.as_ref(), v, &mut f, Some(k as usize), self.traces)?;
            let ap = f.read("ap", |v| self.places.ap(&v))?;
            let losses = self.losses.len();
            let client = f.read("client", read_client)?;
            let standard = station_standard(&mut f, &wifi.phy)?;
            let like_cell = (standard == wifi.phy.standard).then_some(wifi.phy.data);
            let rate = data_rate(&mut f, standard, &wifi.phy, like_cell)?;
            let aggregation = Aggregating::read(&mut f, &wifi.phy, standard, Some(&wifi.aggregation))?;
            let aggregation = aggregation.of(wifi.mac.retry_short);
            let spec = StationSpec {
                name: if count.is_some() { format!("{group}.{k}") } else { group.clone() },
                rate,
                queue: match (read_queue(&mut f)?, &client) {
                    (Some(queue), _) => queue,
                    // The default queue of a converter is smaller than a host's.
                    (None, Some(Client::Converter(_))) => {
                        default_choice(f.cx, qdisc::REGISTRY, "fifo", &[("limit", BRIDGE_QUEUE)])?
                    }
                    (None, _) => wifi.queue.clone(),
                },
                aql: read_aql(&mut f, aggregation.is_some())?,
                aggregation,
                loss: f.get("loss").map_or(Ok(wifi.loss.clone()), |v| read_loss(v, &mut self.losses))?,
                access: f.read_or("access", wifi.access.clone(), |v| read_access(&v, &wifi.phy))?,
                channel: read_channel(&mut f, &wifi.channel)?,
                client,
                observe: self.observers(&mut f)?,
            };
            check_snr(&spec.channel, self.has_snr, &mut |key, message, help| {
                f.get(key).map_or_else(
                    || f.error(format!("has a channel whose {key} {message}"), help),
                    |v| v.error(message, help),
                )
            })?;
            f.finish()?;
            if n == 0 {
                self.losses.truncate(losses);
                self.sites.all.truncate(site);
                return Ok(());
            }
            self.add_station(v, spec, ap)?;
        }
        Ok(())
    }

    /// Reads the observers of a station or access point.
    fn observers(&self, f: &mut Fields<'a>) -> Result<NamedList<observe::Build>, FileError> {
        match (f.get("observe"), &self.field) {
            (Some(v), None) => Err(v.error("needs a field", "add [field] range = \"250m\", or remove `observe`")),
            (Some(v), Some(_)) => observers(&v),
            (None, field) => Ok(field.as_ref().map_or_else(Vec::new, |f| f.observe.clone())),
        }
    }

    fn add_station(&mut self, v: &Val, spec: StationSpec, ap: Option<usize>) -> Result<Place, FileError> {
        if self.stations.len() as u64 >= MOST {
            return Err(v.error(format!("makes more than {MOST} stations"), "write a smaller count"));
        }
        self.stations.push(spec);
        self.association.push(ap);
        Ok(Place::Station(self.stations.len() - 1))
    }

    fn link(&mut self, v: &Val<'a>) -> Result<(), FileError> {
        let mut f = v.table()?;
        let (from_at, to_at) = (f.need("from", "\"router\"")?, f.need("to", "\"ap\"")?);
        let (from, to) = (self.places.link_end(&from_at)?, self.places.link_end(&to_at)?);
        if from == to {
            return Err(to_at.error("is also the start of the link", "name two places"));
        }
        let name = f.get("name");
        let name = self.places.add_link(name.as_ref(), from_at.text()?, to_at.text()?)?;
        self.linked.extend([from, to].iter().filter_map(|p| if let Place::Ap(i) = p { Some(*i) } else { None }));
        let (forward, reverse) = self.wires(f, None, false)?;
        self.links.push(LinkSpec { name, from, to, forward, reverse });
        Ok(())
    }

    /// Reads both directions of a wire from `f`. Keys missing in `reverse` are as in the forward direction. `delay` has
    /// priority over the delay in `f`.
    fn wires(
        &mut self,
        mut f: Fields<'a>,
        delay: Option<&Val<'a>>,
        check_only: bool,
    ) -> Result<(WireSpec, WireSpec), FileError> {
        let losses = self.losses.len();
        let default = WireSpec {
            rate: WireRate::Constant(WIRE_RATE),
            delay: WIRE_DELAY,
            queue: default_choice(f.cx, qdisc::REGISTRY, "fifo", &[("limit", WIRE_QUEUE)])?,
            loss: None,
        };
        let mut forward = self.wire(&mut f, default)?;
        if let Some(delay) = delay {
            forward.delay = delay.span()?;
        }
        let reverse = match f.get("reverse") {
            Some(v) => {
                let mut f = v.table()?;
                let reverse = self.wire(&mut f, forward.clone())?;
                f.finish()?;
                reverse
            }
            None => forward.clone(),
        };
        f.finish()?;
        if check_only {
            self.losses.truncate(losses);
        }
        Ok((forward, reverse))
    }

    fn wire(&mut self, f: &mut Fields<'a>, default: WireSpec) -> Result<WireSpec, FileError> {
        Ok(WireSpec {
            rate: f.read_or("rate", default.rate, |v| wire_rate(&v, self.traces))?,
            delay: f.read_or("delay", default.delay, |v| v.span())?,
            queue: read_queue(f)?.unwrap_or(default.queue),
            loss: f.get("loss").map_or(Ok(default.loss), |v| read_loss(v, &mut self.losses))?,
        })
    }

    /// Creates every member of a flow, with its own stations, hosts and wires.
    fn flows(
        &mut self,
        group: &Group<'a>,
        wifi: Option<&Wifi>,
        wire: Option<&Val<'a>>,
        duration: Span,
    ) -> Result<(), FileError> {
        let n = group.count.unwrap_or(1);
        for k in 1..=n {
            if self.flows.len() as u64 >= MOST {
                return Err(group.val.error(format!("makes more than {MOST} flows"), "write a smaller count"));
            }
            let fields = member(&group.val, k, n)?;
            let cx = fields.cx;
            let draft = Draft::read(fields, duration)?;
            let name = if group.count.is_some() { format!("{}.{k}", group.name) } else { group.name.clone() };
            let ends = (self.places.end(&draft.from, wifi.is_some())?, self.places.end(&draft.to, wifi.is_some())?);
            let random = [self.places.random(&draft.from)?, self.places.random(&draft.to)?];
            if ends.0 == ends.1 && !matches!(ends.0, End::Station | End::Random) {
                return Err(draft.to.error("is also the start of the flow", "name two different places"));
            }
            let direction = direction(ends.0, ends.1);
            let largest = LARGEST_ON_AIR.saturating_sub(self.field.as_ref().map_or(0, Field::header));
            if let (Some(at), true) = (&draft.packet_at, direction != Direction::Wired && draft.packet > largest) {
                return Err(at.error(
                    format!("is too large for an 802.11 frame: {}B", draft.packet),
                    format!("write at most {largest}B"),
                ));
            }
            if let Some((at, bytes)) = &draft.datagram
                && direction != Direction::Wired
                && *bytes > u64::from(largest)
            {
                return Err(at.error(
                    format!("writes datagrams of {bytes}B with their headers: too large for an 802.11 frame"),
                    format!("write at most {}B of payload, or tcp instead of udp", largest - UDP_HEADERS),
                ));
            }
            if let (Some(delay), false) = (&draft.delay, ends.0 == End::Server || ends.1 == End::Server) {
                return Err(delay.error(
                    "is the delay of the wire to \"server\", but neither end is \"server\"",
                    "set the delay of a [[link]] instead",
                ));
            }
            let wire = match wire {
                Some(v) => Val { cx, ..v.clone() }.table()?,
                None => Fields::empty(&Val { path: "wire".into(), ..group.val.clone() }),
            };
            let wires = if ends.0 == End::Server || ends.1 == End::Server {
                Some(self.wires(wire, draft.delay.as_ref(), false)?)
            } else {
                let places = |end, random: &Option<Vec<Place>>| match end {
                    End::At(place) => vec![place],
                    _ => random.clone().unwrap_or_default(),
                };
                self.join([&places(ends.0, &random[0]), &places(ends.1, &random[1])], wire)?;
                None
            };
            let from = self.place(ends, &draft.from, &format!("{name}.sta"), &name, wifi, wires.as_ref())?;
            let to_name = if direction == Direction::Local { "peer" } else { "sta" };
            let back = (ends.1, ends.0);
            let to = self.place(back, &draft.to, &format!("{name}.{to_name}"), &name, wifi, wires.as_ref())?;
            let kernel = draft.kernel;
            self.members.push(Member { group: group.index, k: k as usize, n: n as usize, direction, kernel });
            self.from.push(draft.from);
            let Draft { packet, transport, category, traffic, start, stop, size, overhead, .. } = draft;
            let ends = EndsSpec { packet, transport, traffic, start, stop, size, overhead };
            self.flows.push(FlowSpec { name, from, to, random: random.map(|r| r.map(Into::into)), category, ends });
        }
        Ok(())
    }

    /// The place of the end `end` of the flow `flow`, whose other end is `other`.
    fn place(
        &mut self,
        (end, other): (End, End),
        at: &Val,
        station: &str,
        flow: &str,
        wifi: Option<&Wifi>,
        wires: Option<&(WireSpec, WireSpec)>,
    ) -> Result<Place, FileError> {
        match (end, wifi, wires) {
            (End::At(Place::Ap(_)), ..) => Err(at.error(
                "is an access point: a flow cannot end there",
                "write \"server\" for a host behind it, or \"station\"",
            )),
            (End::At(Place::Node(i)), ..) if self.nodes.get(i).is_some_and(|n| n.router) => Err(at.error(
                "is a router: a flow cannot end there",
                "name a host, or write kind = \"host\" in its [[node]]",
            )),
            (End::At(place), ..) => Ok(place),
            // A run draws another one.
            (End::Random, ..) => Ok(Place::Station(0)),
            (End::Station, Some(_), _) if self.field.is_some() => Err(at.error(
                "is \"station\", but in a [field] each station needs a position",
                "add [[station]] name = \"a\", position = [\"100m\", \"500m\"], and write its name",
            )),
            (End::Server, ..) if self.field.is_some() && self.aps.is_empty() => Err(at.error(
                "is \"server\", a host behind the access point, but the file has no [ap]",
                "add [ap] position = [\"100m\", \"500m\"], or name a station",
            )),
            (End::Server, ..) if self.aps.len() > 1 && !matches!(other, End::At(Place::Station(_))) => Err(at.error(
                "is \"server\", a host behind the station's access point, but the other end names no single station",
                "name a [[node]] that a [[link]] joins to an access point",
            )),
            (End::Station, Some(w), _) => {
                check_snr(&w.channel, self.has_snr, &mut |key, message, help| {
                    at.error(format!("makes a station with a channel whose {key} {message}"), help)
                })?;
                let spec = StationSpec {
                    name: station.into(),
                    rate: w.phy.data,
                    queue: w.queue.clone(),
                    aggregation: w.aggregation.of(w.mac.retry_short),
                    aql: None,
                    loss: w.loss.clone(),
                    access: w.access.clone(),
                    channel: w.channel.clone(),
                    client: None,
                    observe: vec![],
                };
                self.add_station(at, spec, None)
            }
            (End::Server, _, Some((forward, reverse))) => {
                let host = Place::Node(self.nodes.len());
                self.nodes.push(NodeSpec { name: format!("{flow}.server"), router: false });
                self.links.push(LinkSpec {
                    name: format!("{flow}.wire"),
                    from: host,
                    to: Place::Ap(if let End::At(place) = other { self.ap_of(place).unwrap_or(0) } else { 0 }),
                    forward: forward.clone(),
                    reverse: reverse.clone(),
                });
                Ok(host)
            }
            (End::Station | End::Server, ..) => Err(at.error("needs a cell", "add [wifi] standard = \"802.11g\"")),
        }
    }

    /// Checks that senders which read what their station knows of its air have an observer there.
    fn check_observers(&self) -> Result<(), FileError> {
        for (flow, at) in self.flows.iter().zip(&self.from) {
            let cc = match &flow.ends.transport {
                Transport::Tcp(tcp) => &tcp.cc,
                Transport::Udp(Some(control)) => &control.cc,
                Transport::Udp(None) => continue,
            };
            let needs = (cc.entry.build)(&cc.args).is_ok_and(|cc| cc.needs().air);
            let observed = |place: &Place| match *place {
                Place::Station(i) => self.stations.get(i).is_some_and(|s| !s.observe.is_empty()),
                _ => false,
            };
            let from = flow.random[0].as_deref().unwrap_or(std::slice::from_ref(&flow.from));
            if needs && !from.iter().all(observed) {
                return Err(at.error(
                    format!("has no observer of the air, but the controller \"{}\" reads one", cc.entry.name),
                    "add observe = [\"rt_winf\"] to [field]; the flow must begin at a station of the field",
                ));
            }
        }
        Ok(())
    }

    /// Checks that every flow has a path from one end to the other.
    fn check_routes(&self) -> Result<(), FileError> {
        // Union-find: first the access points, each with its stations, then the nodes; `root` returns the
        // representative of a connected part.
        let aps = self.aps.len().max(1);
        let vertex = |place| match place {
            Place::Ap(i) => i,
            Place::Station(_) => self.ap_of(place).unwrap_or(0),
            Place::Node(i) => aps + i,
        };
        let forwards = self.field.as_ref().is_some_and(Field::forwards);
        let mut part: Vec<usize> = (0..aps + self.nodes.len()).collect();
        fn root(part: &mut [usize], mut v: usize) -> usize {
            while let Some(&up) = part.get(v).filter(|&&up| up != v) {
                // Path halving.
                let next = part.get(up).copied().unwrap_or(up);
                if let Some(p) = part.get_mut(v) {
                    *p = next;
                }
                v = up;
            }
            v
        }
        for link in &self.links {
            let (a, b) = (root(&mut part, vertex(link.from)), root(&mut part, vertex(link.to)));
            if let Some(p) = part.get_mut(a) {
                *p = b;
            }
        }
        for (flow, from) in self.flows.iter().zip(&self.from) {
            let ends = flow.candidates().concat();
            let over_air = forwards && ends.iter().all(|p| matches!(p, Place::Station(_)));
            let parts: BTreeSet<usize> = ends.iter().map(|place| root(&mut part, vertex(*place))).collect();
            if !over_air && parts.len() > 1 {
                return Err(
                    from.error("has no path to the other end of the flow", "connect the two with [[link]] tables")
                );
            }
        }
        Ok(())
    }
}
