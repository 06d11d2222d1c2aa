//! Key paths name a table of the network by its number or by its name: `flow.0.count` or `flow.call.count`.

use crate::names::suggest;
use crate::point::Direction;
use contend_core::Refusal;
use std::collections::{BTreeMap, BTreeSet};

/// The name of each table, by kind of table and number. `None`: the table is incomplete.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableNames(BTreeMap<&'static str, Vec<Option<String>>>);

impl TableNames {
    /// These names, by kind of table.
    pub fn new(names: impl IntoIterator<Item = (&'static str, Vec<Option<String>>)>) -> TableNames {
        TableNames(names.into_iter().collect())
    }

    /// `path` with the number of a table in place of its name.
    pub fn numbered(&self, path: &[String]) -> Result<Vec<String>, Refusal> {
        let mut numbered = path.to_vec();
        let [kind, name, ..] = numbered.as_mut_slice() else { return Ok(numbered) };
        let names = self.0.get(kind.as_str()).map_or(&[][..], Vec::as_slice);
        let known = || names.iter().flatten().map(String::as_str);
        if name.parse::<usize>().is_ok() || known().next().is_none() {
            return Ok(numbered);
        }
        let mut with_name = (0..names.len()).filter(|i| names.get(*i).is_some_and(|n| n.as_ref() == Some(name)));
        match (with_name.next(), with_name.next()) {
            (Some(i), None) => *name = i.to_string(),
            (Some(i), Some(j)) => {
                return Err(Refusal::new(
                    format!("two [[{kind}]] tables are called `{name}`"),
                    format!("write the number of the table, `{kind}.{i}` or `{kind}.{j}`, or give each its own name"),
                ));
            }
            (None, _) => {
                return Err(Refusal::new(
                    format!("no [[{kind}]] has the name or number `{name}`"),
                    suggest(name, known()),
                ));
            }
        }
        Ok(numbered)
    }
}

/// The names of flows: their own, or that of their direction. If two names would be equal, the table's number follows.
/// `None`: the direction is unknown.
pub(crate) fn flow_names(flows: &[Option<(Option<String>, Direction)>]) -> Vec<Option<String>> {
    let own: BTreeSet<&str> = flows.iter().flatten().filter_map(|(name, _)| name.as_deref()).collect();
    let unnamed = |d: Direction| flows.iter().flatten().filter(|(name, other)| name.is_none() && *other == d).count();
    let name = |(i, flow): (usize, &Option<(Option<String>, Direction)>)| {
        let (name, direction) = flow.as_ref()?;
        Some(match name {
            Some(name) => name.clone(),
            None if unnamed(*direction) == 1 && !own.contains(direction.name()) => direction.name().to_owned(),
            None => format!("{}{i}", direction.name()),
        })
    };
    flows.iter().enumerate().map(name).collect()
}
