//! The `[[flow]]` tables of a network and their names.

use super::super::error::FileError;
use super::super::flow::Draft;
use super::super::places::{End, Places, valid_name};
use super::super::reader::{Fields, ReadContext, Val};
use super::super::table_names::flow_names;
use super::MOST;
use crate::point::Direction;
use contend_core::Span;
use contend_sim::scenario::Place;
use std::collections::BTreeSet;

/// One `[[flow]]` table.
pub(super) struct Group<'a> {
    pub index: usize,
    pub val: Val<'a>,
    pub name: String,
    /// Number of members; `None` for a single member with the group's name.
    pub count: Option<u64>,
}

impl<'a> Group<'a> {
    /// Reads all groups and names them: by `name`, or by direction. If two names would be equal, the table's number
    /// follows.
    pub fn read_all(
        flows: &[Val<'a>],
        places: &Places,
        cell: bool,
        duration: Span,
    ) -> Result<Vec<Group<'a>>, FileError> {
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
            // A flow without members may name stations without members: a `count` leaves out both.
            let end = |v: &Val| match places.end(v, cell) {
                Err(_) if count == Some(0) && places.is_empty(v) => Ok(End::Station),
                end => end,
            };
            let direction = direction(end(&first.from)?, end(&first.to)?);
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
pub(super) fn member<'a>(val: &Val<'a>, k: u64, n: u64) -> Result<Fields<'a>, FileError> {
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
