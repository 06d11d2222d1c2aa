//! Dials: the keys of a file that `contend live` can change, with their bounds.

use super::cases::ELSE;
use super::data_rate::mbps;
use super::keys::Kind;
use super::meaning::{Absent, Paths};
use super::tree::{CASE, Node, NodeKind, read_setting};
use super::{About, Experiment};
use crate::reading::expression::{Quantity, WrittenUnit};
use crate::results::SweptValue;
use contend_core::Refusal;
use contend_sim::wifi::phy::{Band, Standard};
use serde::Serialize;

/// A key that the user of the page can change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dial {
    /// The key path, as `--set` takes it.
    pub key: String,
    /// The value in the file, as `--set` takes it; `None`: all values of a swept key, or the default of a missing key.
    pub value: Option<String>,
    /// What holds without the key, if the file does not have it.
    pub absent: Option<Absent>,
    /// What the key means.
    pub doc: String,
    /// The kind of control.
    pub turn: Turn,
}

/// The kind of control that changes a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Turn {
    /// A number with a unit, between two bounds.
    Range {
        /// The smallest number.
        low: f64,
        /// The largest number.
        high: f64,
        /// The present number.
        at: f64,
        /// The unit that follows the number; may be empty.
        unit: &'static str,
        /// True if only whole numbers are values.
        whole: bool,
        /// True if the scale of the slider is logarithmic; otherwise it is linear.
        log: bool,
    },
    /// One of some values: their texts, and what `--set` takes.
    Choice {
        /// The values.
        options: Vec<Named>,
    },
    /// Any value, as it is written in a file.
    Text,
}

/// A value with the text that stands for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// The text.
    pub text: String,
    /// The value, as `--set` takes it.
    pub value: String,
}

impl From<SweptValue> for Named {
    fn from(value: SweptValue) -> Named {
        Named { text: value.text(), value: value.setting() }
    }
}

/// A slider goes from the value divided by this factor to the value multiplied by it.
const REACH: f64 = 10.0;

impl Experiment {
    /// The swept keys, in the order of the file.
    pub fn swept(&self) -> impl Iterator<Item = &str> {
        self.sweep.of_file().map(|(path, _)| path)
    }

    /// The dials of the parameters, of the swept keys and of the keys that `dials` names, in the order of the file, of
    /// the duration and of the seeds.
    pub fn dials(&self) -> Vec<Dial> {
        let params = self.network.get("param").and_then(Node::entries).unwrap_or_default();
        let swept: Vec<_> = self.sweep.of_file().collect();
        let mut dials: Vec<Dial> = params
            .iter()
            .map(|e| (format!("param.{}", e.key), e))
            .filter(|(key, _)| swept.iter().all(|(path, _)| path != key))
            .map(|(key, param)| {
                let value = SweptValue::from(param.value.to_json());
                let turn = self.cases_of(&param.key, &value).or_else(|| range(&value, &[])).unwrap_or(Turn::Text);
                let doc = "A parameter of the file.".into();
                Dial { key, value: Some(value.setting()), absent: None, doc, turn }
            })
            .collect();
        dials.extend(swept.into_iter().map(|(path, values)| {
            let meaning = self.paths().meaning(path);
            let doc = meaning.map_or_else(|_| "A key that the file sweeps.".into(), |m| m.doc().to_owned());
            // A setting of the call may have fixed the key.
            let mut of_points: Vec<&SweptValue> = self.points.iter().filter_map(|point| point.get(path)).collect();
            of_points.dedup();
            let value = if let [only] = of_points.as_slice() { Some((*only).clone()) } else { None };
            let turn = Turn::Choice { options: with(values.into_iter().map(Named::from).collect(), value.as_ref()) };
            Dial { key: path.to_owned(), value: value.map(|v| v.setting()), absent: None, doc, turn }
        }));
        let others: &[&str] = match self.about() {
            About::Network => &["duration", "seeds"],
            About::Contention => &["seeds"],
            About::Model => &[],
        };
        for key in self.dialled.iter().map(String::as_str).chain(others.iter().copied()) {
            if dials.iter().all(|d| d.key != key) {
                // A setting of the call may have chosen another algorithm, which has no such parameter.
                dials.extend(self.dial_of(key).ok());
            }
        }
        dials
    }

    /// The words for which cases of the file have values, if the parameter `name` selects by words, or selects among
    /// numbers and no case has a value for other numbers.
    fn cases_of(&self, name: &str, now: &SweptValue) -> Option<Turn> {
        let mut cases = Cases::default();
        cases.collect(&self.network, name);
        self.sweep.of_file().for_each(|(_, values)| {
            values.iter().for_each(|v| cases.collect(&Node::from_json(v), name));
        });
        let is_word = range(now, &[]).is_none();
        if cases.keys.is_empty() || (cases.any_other && !is_word) {
            return None;
        }
        let options = cases.keys.iter().map(|key| Named::from(SweptValue::from(read_setting(0, 0, key).to_json())));
        Some(Turn::Choice { options: with(options.collect(), Some(now)) })
    }

    /// The dial of any key; `path` is as `--set` takes it.
    ///
    /// # Errors
    /// When `path` is no key of this file.
    pub fn dial(&self, path: &str) -> Result<Dial, Refusal> {
        let path = path.trim();
        if let Some(dial) = self.dials().into_iter().find(|d| d.key == path) {
            return Ok(dial);
        }
        self.dial_of(path)
    }

    fn dial_of(&self, path: &str) -> Result<Dial, Refusal> {
        let meaning = self.paths().meaning(path)?;
        let set = match path {
            "duration" => Some(self.duration.to_string().into()),
            "warmup" => Some(self.warmup.to_string().into()),
            "seeds" => Some(read_setting(0, 0, &self.seeds_text()).to_json().into()),
            _ => self.paths().value(path).map(|node| SweptValue::from(node.to_json())),
        };
        let value = set.clone().or_else(|| meaning.usual().map(SweptValue::from));
        let options: Vec<Named> = meaning.names().into_iter().map(|n| Named::from(SweptValue::from(n))).collect();
        let rates = self.legacy_rates(path);
        let is_number = path != "seeds" && rates.is_empty();
        let number = value.as_ref().filter(|_| is_number).and_then(|v| range(v, meaning.kinds()));
        let turn = match number {
            Some(range) => range,
            None if !rates.is_empty() => Turn::Choice { options: with(rates, set.as_ref()) },
            None if options.is_empty() => Turn::Text,
            None => Turn::Choice { options: with(options, set.as_ref()) },
        };
        let absent = if set.is_none() { meaning.absent() } else { None };
        Ok(Dial { key: path.to_owned(), value: set.map(|v| v.setting()), absent, doc: meaning.doc().to_owned(), turn })
    }

    /// The rates of the standard, if `path` is the rate of a cell or a station without MCS.
    fn legacy_rates(&self, path: &str) -> Vec<Named> {
        let path = path.trim();
        let (Some((table, "rate")), Some(wifi)) = (path.rsplit_once('.'), self.network.get("wifi")) else {
            return vec![];
        };
        if table != "wifi" && !table.starts_with("station.") {
            return vec![];
        }
        let word = |node: Option<&Node>, key: &str| match node?.get(key).map(|n| &n.kind) {
            Some(NodeKind::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let named = |text: Option<String>| Standard::ALL.iter().find(|s| Some(s.0) == text.as_deref()).map(|s| s.1);
        let own = named(word(self.paths().value(table), "standard"));
        let Some(standard) = own.or_else(|| named(word(Some(wifi), "standard"))) else { return vec![] };
        let band = word(Some(wifi), "band").and_then(|text| Band::ALL.iter().find(|b| b.0 == text).map(|b| b.1));
        let Some(band) = band.or_else(|| standard.bands().first().copied()) else { return vec![] };
        let rates = if standard.family().is_none() { standard.rates(band) } else { &[] };
        rates.iter().map(|&bps| Named::from(SweptValue::from(mbps(bps)))).collect()
    }

    /// The key paths that this experiment has.
    fn paths(&self) -> Paths<'_> {
        Paths { network: &self.network, names: self.sweep.names() }
    }
}

/// `options`, with the present value before them if it is none of them.
fn with(mut options: Vec<Named>, now: Option<&SweptValue>) -> Vec<Named> {
    let new = now.cloned().map(Named::from).filter(|now| options.iter().all(|o| o.value != now.value));
    options.splice(0..0, new);
    options
}

/// The cases of a file that depend on one parameter.
#[derive(Default)]
struct Cases {
    /// The values of the parameter that they name, in the order of the file.
    keys: Vec<String>,
    /// True if one of them has a value for every other value of the parameter.
    any_other: bool,
}

impl Cases {
    fn collect(&mut self, node: &Node, name: &str) {
        let entries = node.entries().unwrap_or_default();
        if matches!(node.get(CASE).map(|of| &of.kind), Some(NodeKind::Text(of)) if of == name) {
            for key in entries.iter().map(|e| e.key.as_str()).filter(|key| *key != CASE) {
                if key == ELSE {
                    self.any_other = true;
                } else if !self.keys.iter().any(|k| k == key) {
                    self.keys.push(key.to_owned());
                }
            }
        }
        entries.iter().for_each(|e| self.collect(&e.value, name));
        if let NodeKind::List(list) = &node.kind {
            list.iter().for_each(|node| self.collect(node, name));
        }
    }
}

/// The range around a number or quantity; `None` for anything else.
fn range(value: &SweptValue, kinds: &[Kind]) -> Option<Turn> {
    let text = value.setting();
    let (at, unit) = match text.parse::<f64>() {
        Ok(number) => (number, WrittenUnit::PLAIN),
        Err(_) => {
            let unit = WrittenUnit::of(&text)?;
            (unit.count(Quantity::parse(&text).ok()?.value), unit)
        }
    };
    let bounds = kinds.iter().find_map(|kind| match kind {
        Kind::Whole(low, high) | Kind::Segments(low, high) => Some((*low as f64, *high as f64)),
        _ => None,
    });
    let is_share = unit.name == "%" || kinds.iter().any(|kind| matches!(kind, Kind::Share));
    let whole = bounds.is_some() || ["p", "B"].contains(&unit.name) || value.is_i64();
    let (mut low, mut high) = match at {
        _ if !at.is_finite() => return None,
        0.0 => (0.0, if is_share { unit.count(0.1) } else { REACH }),
        _ if at < 0.0 => (at * REACH, at / REACH),
        _ => (at / REACH, at * REACH),
    };
    if is_share {
        high = high.min(unit.count(1.0));
    }
    if whole {
        (low, high) = (low.floor().max(if at > 0.0 { 1.0 } else { low }), high.ceil());
    }
    // A count of none is worth a look.
    if kinds.iter().any(|kind| matches!(kind, Kind::Whole(0, most) if *most < u64::MAX)) && at > 0.0 {
        low = 0.0;
    }
    if let Some((least, most)) = bounds {
        (low, high) = (low.max(least), high.min(most));
    }
    Some(Turn::Range { low, high, at, unit: unit.name, whole, log: low > 0.0 })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const FILE: &str = "duration = \"2s\"\n[param]\nby = \"text\"\nwidth = 20\nfree = 3\n[wifi]\n\
        standard = \"802.11g\"\nslot = { case = \"by\", text = \"9us\", code = \"20us\" }\n\
        cwmin = { case = \"width\", 20 = 15, 40 = 31 }\ncwmax = { case = \"free\", 3 = 1023, else = 255 }\n\
        [ap]\nqueue = { kind = \"fifo\", limit = \"50p\" }\n[[flow]]\nfrom = \"server\"\nto = \"station\"\n\
        tcp = \"newreno\"\n[sweep]\n\"flow.0.count\" = [1, 2]\n";

    fn dials(dials: &str, sets: &[(&str, &str)]) -> Result<Vec<Dial>, String> {
        let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        parse("t.toml", &format!("dials = {dials}\n{FILE}"), &sets).map(|e| e.dials()).map_err(|e| e.render(false))
    }

    #[test]
    fn the_keys_that_a_file_names_are_dials_with_the_value_of_the_file() {
        let all = dials("[\"ap.queue.limit\", \"flow.down.window\", \"flow.0.count\", \"wifi.rts_threshold\"]", &[]);
        let all = all.unwrap();
        let keys: Vec<&str> = all.iter().map(|d| d.key.as_str()).collect();
        let expected = ["param.by", "param.width", "param.free", "flow.0.count", "ap.queue.limit", "flow.down.window"];
        assert_eq!(keys, [&expected[..], &["wifi.rts_threshold", "duration", "seeds"]].concat());
        // The file has a limit, but no window: what is shown is what holds.
        assert_eq!((all[4].value.as_deref(), &all[4].absent), (Some("50p"), &None));
        assert!(all[5].value.is_none() && all[5].absent.is_some(), "{:?}", all[5]);
        // A swept key has no value, and what the call sets is its value.
        assert_eq!((&all[3].value, &all[3].absent), (&None, &None));
        assert_eq!(dials("[]", &[("flow.0.count", "7")]).unwrap()[3].value.as_deref(), Some("7"));
    }

    #[test]
    fn a_rate_without_mcs_is_one_of_its_standard_and_a_count_may_be_none() {
        let all = dials("[\"wifi.rate\", \"flow.0.count\"]", &[("wifi.rate", "24Mbps")]).unwrap();
        let rate = all.iter().find(|d| d.key == "wifi.rate").unwrap();
        let Turn::Choice { options } = &rate.turn else { panic!("{rate:?}") };
        let texts: Vec<&str> = options.iter().map(|o| o.value.as_str()).collect();
        assert_eq!((texts.len(), texts[0], texts[11], rate.value.as_deref()), (12, "1Mbps", "54Mbps", Some("24Mbps")));
        let of = |value: i64, kinds| range(&SweptValue::from(value), kinds).unwrap();
        assert!(matches!(of(4, &[Kind::Whole(0, 9)]), Turn::Range { low: 0.0, high: 9.0, log: false, .. }));
        assert!(matches!(of(40, &[Kind::Whole(0, u64::MAX)]), Turn::Range { low: 4.0, log: true, .. }));
    }

    #[test]
    fn a_parameter_that_selects_is_a_choice() {
        let all = dials("[]", &[]).unwrap();
        let options = |dial: &Dial| match &dial.turn {
            Turn::Choice { options } => options.iter().map(|o| o.value.clone()).collect(),
            _ => vec![],
        };
        assert_eq!(options(&all[0]), ["text", "code"]);
        assert_eq!(options(&all[1]), ["20", "40"]);
        // The case has a value for every number.
        assert!(matches!(all[2].turn, Turn::Range { .. }));
    }

    #[test]
    fn a_dial_that_set_would_refuse_is_an_error_at_its_place() {
        for (key, what) in [
            ("ap.queue.lmit", "fifo has no parameter `lmit`\n  help: did you mean `limit`?"),
            ("flow.0.cuont", "there is no key `flow.0.cuont`\n  help: did you mean `flow.0.count`?"),
            ("flow.7.count", "the list has no member `7`"),
            ("flow.dwon.count", "did you mean `down`?"),
            ("param.bye", "[param] of the file has no such key\n  help: did you mean `by`?"),
            ("", "is not a key path"),
            ("wifi.slot.x", "there is no key `wifi.slot.x`"),
        ] {
            let why = dials(&format!("[\"wifi.cwmin\", \"{key}\"]"), &[]).unwrap_err();
            assert!(why.starts_with("t.toml:1:24: ") && why.contains(what), "{why}");
        }
        assert!(dials("\"ap.queue\"", &[]).unwrap_err().contains("write the list of keys"));
    }

    #[test]
    fn a_setting_of_the_call_makes_no_dial_of_the_file_wrong() {
        let all = dials("[\"ap.queue.limit\"]", &[("ap.queue", "cake")]);
        assert!(all.is_ok_and(|all| all.iter().all(|d| d.key != "ap.queue.limit")));
        let all = dials("[]", &[("dials", "[\"wifi.sifs\"]")]).unwrap();
        assert!(all.iter().any(|d| d.key == "wifi.sifs"));
        assert!(dials("[]", &[("dials", "[\"wifi.sfis\"]")]).unwrap_err().contains("did you mean `wifi.sifs`?"));
    }
}
