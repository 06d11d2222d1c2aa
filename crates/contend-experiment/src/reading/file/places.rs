//! Names of places: stations, wired nodes, access points; and how flows and links name their ends.

use super::error::FileError;
use super::reader::Val;
use crate::names::suggest;
use contend_sim::scenario::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Words that cannot be names of places.
const RESERVED: &[&str] = &["station", ONLY_AP, "random"];
/// The name of an access point without a name.
const ONLY_AP: &str = "ap";

/// All places of the file by name.
#[derive(Default)]
pub(crate) struct Places {
    single: BTreeMap<String, Place>,
    /// Stations with a `count`: the number of the first station, and how many there are.
    groups: BTreeMap<String, (usize, usize)>,
    links: BTreeSet<String>,
}

/// The end of a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// At its own wired host.
    Server,
    /// At its own station.
    Station,
    /// At a named place.
    At(Place),
    /// At a station that is drawn at random in each run.
    Random,
}

impl Places {
    /// Adds a place with `name`.
    pub fn add(&mut self, name: &Val, place: Place) -> Result<String, FileError> {
        let text = self.check(name)?;
        self.single.insert(text.into(), place);
        Ok(text.into())
    }

    /// Adds `count` stations with the name `name`; the first has the number `first`.
    pub fn add_group(&mut self, name: &Val, first: usize, count: usize) -> Result<String, FileError> {
        let text = self.check(name)?;
        self.groups.insert(text.into(), (first, count));
        Ok(text.into())
    }

    fn check<'a>(&self, name: &Val<'a>) -> Result<&'a str, FileError> {
        let text = valid_name(name)?;
        if RESERVED.contains(&text) {
            return Err(name.error(format!("cannot be \"{text}\", which is a word of the file"), "choose another name"));
        }
        if self.taken(text) {
            return Err(name.error(
                format!("is used twice: \"{text}\""),
                "give each access point, station, node and link its own name",
            ));
        }
        Ok(text)
    }

    fn taken(&self, text: &str) -> bool {
        self.single.contains_key(text) || self.groups.contains_key(text) || self.links.contains(text)
    }

    /// Adds a link with `name`; without a name, the link is named after its ends.
    pub fn add_link(&mut self, name: Option<&Val>, from: &str, to: &str) -> Result<String, FileError> {
        let name = match name {
            Some(name) => self.check(name)?.to_string(),
            None => {
                let (base, mut name, mut i) = (format!("{from}-{to}"), format!("{from}-{to}"), 2);
                while self.taken(&name) {
                    name = format!("{base}-{i}");
                    i += 1;
                }
                name
            }
        };
        self.links.insert(name.clone());
        Ok(name)
    }

    fn names(&self) -> Vec<&str> {
        ["server", "station"]
            .into_iter()
            .chain(self.single.keys().chain(self.groups.keys()).map(String::as_str))
            .collect()
    }

    /// The end that `val` names, for the current member.
    pub fn end(&self, val: &Val, cell: bool) -> Result<End, FileError> {
        let val = val.pick()?;
        let text = val.text()?;
        if let Some(place) = self.single.get(text) {
            return Ok(End::At(*place));
        }
        if let "server" | "station" = text {
            return match cell {
                true => Ok(if text == "server" { End::Server } else { End::Station }),
                false => Err(val.error(
                    format!("is \"{text}\", but the file has no [wifi]"),
                    "add [wifi] standard = \"802.11g\", or name the ends with [[node]] and [[link]]",
                )),
            };
        }
        if random_among(text).is_some() {
            return Ok(End::Random);
        }
        let (first, low, high) = self.members(&val, text)?;
        let k = val.cx.member.map_or(1, |(k, _)| k);
        match (high + 1).checked_sub(low) {
            Some(len) if len > 0 => Ok(End::At(Place::Station(first + low - 1 + (k - 1) % len))),
            _ => Err(val.error(
                format!("names stations, but there are none: \"{text}\""),
                format!("write a larger count for `{}`", text.split('[').next().unwrap_or(text)),
            )),
        }
    }

    /// True if `val` names a group of stations that has no members.
    pub fn is_empty(&self, val: &Val) -> bool {
        let name = val.pick().and_then(|v| v.text().map(str::to_owned));
        name.is_ok_and(|name| self.groups.get(&name).is_some_and(|(_, count)| *count == 0))
    }

    /// The members of a group that `text` names: the number of the group's first station, and the first and last
    /// member, from 1.
    fn members(&self, val: &Val, text: &str) -> Result<(usize, usize, usize), FileError> {
        let (name, slice) = match text.split_once('[') {
            Some((name, slice)) => (name, slice.strip_suffix(']')),
            None => match text.rsplit_once('.') {
                Some((name, k)) if self.groups.contains_key(name) => (name, Some(k)),
                _ => (text, None),
            },
        };
        let unknown =
            || val.error(format!("names an unknown station or node: \"{text}\""), suggest(name, self.names()));
        let &(first, count) = self.groups.get(name).ok_or_else(unknown)?;
        let (low, high) = match slice {
            None if text.contains('[') => {
                return Err(val.error(format!("cannot be \"{text}\""), format!("write \"{name}[1..{count}]\"")));
            }
            None => (1, count),
            Some(slice) => {
                let (low, high) = slice.split_once("..").unwrap_or((slice, slice));
                match (low.trim().parse::<usize>(), high.trim().parse::<usize>()) {
                    (Ok(low), Ok(high)) if 1 <= low && low <= high && high <= count => (low, high),
                    _ => {
                        return Err(val.error(
                            format!("names stations that do not exist: \"{text}\""),
                            format!("`{name}` has members 1 to {count}: write \"{name}[1..{count}]\""),
                        ));
                    }
                }
            }
        };
        Ok((first, low, high))
    }

    /// All places on the air that `val` names: a station, an access point, or members of a group.
    pub fn on_air(&self, val: &Val) -> Result<Vec<Place>, FileError> {
        self.named_on_air(val, val.text()?)
    }

    fn named_on_air(&self, val: &Val, text: &str) -> Result<Vec<Place>, FileError> {
        match self.single.get(text) {
            Some(Place::Node(_)) => Err(val.error(
                format!("names a wired node: \"{text}\""),
                "name a [[station]], or some of its members: \"sta[1..4]\"",
            )),
            Some(place) => Ok(vec![*place]),
            None => {
                let (first, low, high) = self.members(val, text)?;
                Ok((low..=high).map(|k| Place::Station(first + k - 1)).collect())
            }
        }
    }

    /// The stations from which each run draws one, if `val` is "random" or "random(GROUP)".
    pub fn random(&self, val: &Val) -> Result<Option<Vec<Place>>, FileError> {
        let val = val.pick()?;
        random_among(val.text()?).map(|set| self.candidates(&val, set)).transpose()
    }

    fn candidates(&self, val: &Val, set: Option<&str>) -> Result<Vec<Place>, FileError> {
        let mut all = match set {
            Some(name) => self.named_on_air(val, name)?,
            None => {
                let single = self.single.values().copied();
                let grouped = self.groups.values().flat_map(|&(first, n)| (first..first + n).map(Place::Station));
                single.chain(grouped).collect()
            }
        };
        all.retain(|place| matches!(place, Place::Station(_)));
        all.sort_unstable();
        if all.len() < 2 {
            return Err(val.error(
                "draws one of two or more stations, but there are fewer",
                "add [[station]] name = \"sta\", count = 10",
            ));
        }
        Ok(all)
    }

    /// The place at one end of a link.
    pub fn link_end(&self, val: &Val) -> Result<Place, FileError> {
        let text = val.text()?;
        match self.single.get(text) {
            Some(Place::Station(_)) => Err(val.error(
                format!("names a station: \"{text}\""),
                "a wire ends at a [[node]] or at an access point, like \"ap\"",
            )),
            Some(place) => Ok(*place),
            None => {
                let nodes =
                    self.single.iter().filter(|(_, p)| !matches!(p, Place::Station(_))).map(|(name, _)| name.as_str());
                Err(val.error(format!("names an unknown node: \"{text}\""), suggest(text, nodes)))
            }
        }
    }

    /// Adds the only access point.
    pub fn add_ap(&mut self) {
        self.single.insert(ONLY_AP.into(), Place::Ap(0));
    }

    /// Adds the access point number `i` with `name`.
    pub fn add_named_ap(&mut self, name: &Val, i: usize) -> Result<String, FileError> {
        if name.text()? == ONLY_AP && !self.taken(ONLY_AP) {
            self.single.insert(ONLY_AP.into(), Place::Ap(i));
            return Ok(ONLY_AP.into());
        }
        self.add(name, Place::Ap(i))
    }

    /// The number of the access point that `val` names.
    pub fn ap(&self, val: &Val) -> Result<usize, FileError> {
        let text = val.text()?;
        if let Some(Place::Ap(i)) = self.single.get(text) {
            return Ok(*i);
        }
        let names = self.single.iter().filter(|(_, p)| matches!(p, Place::Ap(_))).map(|(name, _)| name.as_str());
        Err(val.error(format!("names an unknown access point: \"{text}\""), suggest(text, names)))
    }
}

/// What a run draws from if `text` is "random", all stations, or "random(GROUP)".
fn random_among(text: &str) -> Option<Option<&str>> {
    let rest = text.strip_prefix("random")?;
    if rest.is_empty() {
        return Some(None);
    }
    Some(Some(rest.strip_prefix('(')?.strip_suffix(')')?.trim()))
}

/// Checks a name: streams, selectors and file names must be able to contain it.
pub(crate) fn valid_name<'a>(val: &Val<'a>) -> Result<&'a str, FileError> {
    let text = val.text()?;
    let good = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || text.chars().count() > 64 || !text.chars().all(good) || !text.starts_with(char::is_alphabetic)
    {
        return Err(val.error(
            format!("cannot be \"{text}\""),
            "a name has up to 64 letters, digits, - and _, and begins with a letter",
        ));
    }
    Ok(text)
}
