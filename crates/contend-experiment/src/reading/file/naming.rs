//! The names of a file's tables.

use super::error::Source;
use super::network::{direction, params};
use super::places::Places;
use super::reader::{ReadContext, Val};
use super::table_names::{TableNames, flow_names};
use super::tree::{Node, NodeKind};
use contend_sim::scenario::Place;

/// The names of the tables in `tree`; a table without `name` has the automatic name that results show, like `down` or
/// `ap-router`. Errors are ignored here: they are reported when the network is read.
pub(crate) fn table_names(source: &Source, tree: &Node) -> TableNames {
    let params = params(source, tree).unwrap_or_default();
    let cx = ReadContext { member: Some((1, 1)), ..ReadContext::new(source, &params) };
    let tables = |kind: &str| {
        let list = match tree.get(kind).map(|node| &node.kind) {
            Some(NodeKind::List(list)) => list.as_slice(),
            _ => &[],
        };
        list.iter().map(move |node| Table { cx, node }).collect::<Vec<_>>()
    };
    let mut places = Places::default();
    let aps = tables("ap");
    if aps.is_empty() {
        places.add_ap();
    }
    for (i, table) in aps.iter().enumerate() {
        table.get("name").and_then(|name| places.add_named_ap(&name, i).ok());
    }
    let nodes = tables("node");
    for (i, table) in nodes.iter().enumerate() {
        table.get("name").and_then(|name| places.add(&name, Place::Node(i)).ok());
    }
    let stations = tables("station");
    for (i, table) in stations.iter().enumerate() {
        let Some(name) = table.get("name") else { continue };
        // Which members there are does not matter for names.
        let _ = match table.get("count") {
            None => places.add(&name, Place::Station(i)),
            Some(_) => places.add_group(&name, i, usize::MAX / 2),
        };
    }
    let link = |table: &Table| {
        let (from, to) = (table.text("from")?, table.text("to")?);
        places.add_link(table.get("name").as_ref(), &from, &to).ok().or_else(|| table.text("name"))
    };
    let links = tables("link").iter().map(link).collect();
    let cell = tree.get("wifi").is_some();
    let flow = |table: &Table| {
        let end = |key| places.end(&table.get(key)?, cell).ok();
        Some((table.text("name"), direction(end("from")?, end("to")?)))
    };
    let named = |tables: &[Table]| tables.iter().map(|t| t.text("name")).collect();
    let flows = tables("flow");
    let names = flow_names(&flows.iter().map(flow).collect::<Vec<_>>());
    let flows = flows.iter().zip(names).map(|(table, name)| name.or_else(|| table.text("name"))).collect();
    let others = [("ap", named(&aps)), ("station", named(&stations)), ("link", links), ("node", named(&nodes))];
    TableNames::new([("flow", flows)].into_iter().chain(others))
}

/// One table of the network.
struct Table<'a> {
    cx: ReadContext<'a>,
    node: &'a Node,
}

impl<'a> Table<'a> {
    fn get(&self, key: &str) -> Option<Val<'a>> {
        Some(Val { cx: self.cx, path: key.to_owned(), node: self.node.get(key)? })
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.text().ok().map(str::to_owned)
    }
}
