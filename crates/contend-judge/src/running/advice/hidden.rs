//! Stations that are hidden from each other.

use contend_experiment::map::hidden;
use contend_experiment::reading::file::Experiment;
use contend_sim::net::Net;
use contend_sim::routing::Shortest;
use contend_sim::scenario::Scenario;
use contend_sim::wifi::{Map, StationId};

/// Larger fields are not looked at.
const MOST_STATIONS: usize = 1000;
/// The key that says which frames have RTS.
const THRESHOLD: &str = "wifi.rts_threshold";

/// Stations that are hidden from each other at the start of a run, if no frame has an RTS: a sentence with a remedy.
/// `None` if there are none, or if the file itself sweeps the threshold.
pub(super) fn stations(e: &Experiment, s: &Scenario) -> Option<String> {
    if e.points.iter().any(|p| p.contains_key(THRESHOLD)) {
        return None;
    }
    hidden_in(&s.with_seed(*e.seeds.first()?))
}

fn hidden_in(s: &Scenario) -> Option<String> {
    let cell = s.cell.as_ref().filter(|c| c.field.is_some() && c.members().count() <= MOST_STATIONS)?;
    let longest = s.flows.iter().map(|f| cell.phy.mpdu(f.ends.packet)).max()?;
    if longest > cell.mac.rts_threshold {
        return None;
    }
    let mut net = Net::new(s).ok()?;
    // Who says which links there are knows who is hidden.
    let map = net.map().filter(|map| !map.positions.is_empty())?;
    let ways = if cell.has_agents() { shortest(&net, &map) } else { map.routes };
    let links: Vec<_> = map.links.iter().map(|l| (l.from, l.to, l.decodes)).collect();
    let found = hidden(&links, &ways);
    let first = found.first()?;
    let name = |station: StationId| net.stations().get(station as usize).map_or("", String::as_str);
    let mut pairs: Vec<_> = found.iter().map(|h| h.pair).collect();
    pairs.dedup();
    let others = match pairs.len() {
        1 => String::new(),
        2 => " (and one other pair)".to_owned(),
        n => format!(" (and {} other pairs)", n - 1),
    };
    Some(format!(
        "`{}` and `{}` are hidden from each other{others}: their frames meet at `{}`; try rts_threshold = \"0B\"",
        name(first.pair.0),
        name(first.pair.1),
        name(first.at)
    ))
}

/// The shortest ways of all flows: agents know none before the run.
fn shortest(net: &Net, map: &Map) -> Vec<Vec<StationId>> {
    let mut neighbours = vec![vec![]; map.positions.len()];
    for l in map.links.iter().filter(|l| l.decodes) {
        if let Some(list) = neighbours.get_mut(l.from as usize) {
            list.push(l.to);
        }
    }
    let ends: Vec<[StationId; 2]> = (0..net.flows()).filter_map(|flow| net.on_air(flow)).collect();
    let routes = Shortest::new(&neighbours, ends.iter().map(|[_, to]| *to));
    let way = |&[from, to]: &[StationId; 2]| {
        std::iter::successors(Some(from), |here| routes.next(*here, to).filter(|_| *here != to)).collect()
    };
    ends.iter().map(way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::reading::file::parse;

    /// Three stations in a row at this distance in metres, sensed up to 300 m; the outer two send to the middle one.
    fn note(metres: u32, more: &str) -> Option<String> {
        let station = |name: &str, x: u32| format!("[[station]]\nname = \"{name}\"\nposition = [\"{x}m\", \"0m\"]\n");
        let flow = |from: &str| format!("[[flow]]\nfrom = \"{from}\"\nto = \"b\"\nudp = {{ rate = \"1Mbps\" }}\n");
        let text = format!(
            "duration = \"1s\"\n[wifi]\nstandard = \"802.11b\"\n{more}\n[field]\nrange = \"250m\"\nsense = \"300m\"\n\
             {}{}{}{}{}",
            station("a", 0),
            station("b", metres),
            station("c", 2 * metres),
            flow("a"),
            flow("c")
        );
        let e = parse("t.toml", &text, &[]).unwrap();
        super::super::scenarios(&e).find_map(|s| stations(&e, &s))
    }

    #[test]
    fn hidden_senders_are_named_if_no_frame_has_an_rts() {
        let named = "`a` and `c` are hidden from each other: their frames meet at `b`; try rts_threshold = \"0B\"";
        assert_eq!(note(200, "").as_deref(), Some(named));
        assert_eq!(note(150, ""), None, "they sense each other");
        assert_eq!(note(200, "rts_threshold = \"0B\""), None);
    }
}
