//! The experiment file: its text becomes a typed [`Experiment`], and each point of its sweep a [`Resolved`] network.
//!
//! First the text becomes a [`tree`] of values with their places, and `--set` sets key paths in it (`apply_sets`). For
//! each point, `Experiment::at` sets those of the sweep and of the claim's overlay, and chooses the values that depend
//! on `[param]` (`cases.rs`). `network::resolve` then reads that tree from the beginning, table by table and member by
//! member. So each rule is written once and applies to settings, points and overlays alike. Every error is a
//! [`FileError`] with file, line, key and remedy.
//!
//! # Names
//! A `[[flow]]` with a `count` has members `<name>.<k>`, with k from 1. A flow without `count` is called `<name>`.
//! Without `name`, a flow is named after its direction (`down`, `up`, `local`, `wired`); if several flows would have
//! the same name, the number of the table follows (`down0`, `down2`). Stations, hosts and wires that a flow creates are
//! named after the flow: `down.3.sta`, `down.3.server`, `down.3.wire` (`.peer` for the second station of a local flow).
//! `[[station]]` follows the same rule as `[[flow]]`. No name depends on the count of another table, so random streams
//! do not change when a count is swept.
//!
//! [`keys`] is the table of all keys with their units, ranges and defaults.
//!
//! A variant is a pair of controller and recovery. `tahoe`, `reno`, `newreno` and `sack` are the controller `reno` with
//! that recovery. `cubic` is `cubic` with `sack`; `bbr` and `bbr3` use `rack`; `tcp_d` is `tcp_d` with `reno`. The name
//! of any other controller means this controller with `newreno`. A `tcp` table starts from the variant `kind`; without
//! `kind`, from the variant with the name of its `cc`; otherwise from `newreno`. `cc` and `recovery` without their own
//! `kind` set parameters of this variant.

mod aggregation;
mod cases;
mod channel;
mod channels;
mod choice;
pub mod claim;
mod contention;
mod data_rate;
pub mod dial;
pub mod error;
mod family;
mod field;
mod flow;
mod judge;
pub mod keys;
mod meaning;
mod model;
mod naming;
pub mod need;
mod network;
mod passing;
mod places;
mod program;
mod quoted;
mod reach;
mod reader;
pub mod schema;
mod seeds;
mod site;
mod sweep;
mod table_names;
mod tcp;
pub mod test;
mod traces;
pub mod tree;
mod wifi;
mod wire_rate;

pub use claim::{
    Along, Bound, Check, Claim, Decide, Each, Expect, Figure, Log, Origin, Reading, Requirement, Search, Shown, Until,
    Verdict, When,
};
pub use error::{FileError, Source, Spot};
pub use meaning::Absent;
pub use need::{Need, needs};
pub use program::ProgramSpec;
pub use traces::{Files, Traces};
pub use tree::{Overlay, pieces};

use crate::point::{Contended, Resolved};
use crate::results::{PointKey, SweptValue};
use crate::size::Size;
use crate::stats::CONFIDENCE;
use contend_core::Span;
pub use quoted::misread;

use judge::Judge;
use meaning::Paths;
pub use model::Modelled;
use reader::{Fields, ReadContext, Val};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use sweep::Sweep;
use test::{SUBJECT, Test};
use tree::{Node, NodeKind};

/// Points that are tried before the next look whether the call was stopped.
const AT_ONCE: usize = 256;

/// Calls a function with each number below a bound, in any order and on any threads. This crate has none itself.
pub type Spread = fn(usize, &(dyn Fn(usize) + Sync));

/// All numbers, one after the other.
pub const IN_ORDER: Spread = |n, each| (0..n).for_each(each);

/// One experiment: a network or closed forms, the sweep, and the claims.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The texts that errors refer to.
    pub source: Arc<Source>,
    /// Title on one line.
    pub title: String,
    /// The paper and figure; may be empty.
    pub cite: String,
    /// The author's notes; may be empty.
    pub notes: String,
    /// What the file is as a test of a suite; `None` if it is none.
    pub test: Option<Test>,
    /// The keys that `contend live` shows as dials, besides parameters and swept keys.
    dialled: Vec<String>,
    /// Simulated time of a run, including the warm-up; the same at every point, like the next three.
    pub duration: Span,
    /// Length of the warm-up, which is not measured.
    pub warmup: Span,
    /// Each point runs once with each seed.
    pub seeds: Vec<u64>,
    /// The number of seeds that the file asks for, if the command line replaces them.
    pub seeds_of_file: Option<usize>,
    /// When a point has enough seeds; `None`: each point has [`Experiment::seeds`].
    pub until: Option<Until>,
    /// How undecided claims and checks get more seeds.
    pub decide: Option<Decide>,
    /// Confidence of the intervals that decide checks; [`CONFIDENCE`] unless the caller asks for more.
    pub check_confidence: f64,
    /// Step of the time series; `None` without series.
    pub sample: Option<Span>,
    /// Points of the sweep in the file's order. Never empty: without a sweep there is one point without keys.
    pub points: Vec<PointKey>,
    /// The metrics that tables show; empty for the usual ones.
    pub show: Vec<Shown>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The checks.
    pub checks: Vec<Check>,
    /// The figures of the report.
    pub figures: Vec<Figure>,
    /// The programs of an emulation.
    pub programs: Vec<ProgramSpec>,
    /// The search for a threshold.
    pub search: Option<Search>,
    /// What the settings of the call do that may not have been meant: a sentence each, for standard error.
    pub remarks: Vec<String>,
    /// Every need of points and claims ([`needs`]), with the size of its results; empty until
    /// [`Experiment::try_points`].
    pub needs: Vec<(Need, Size)>,
    /// Needs with the network of another need: [`Need::key`] of both. They are not in `needs`.
    same: BTreeMap<String, String>,
    /// The parameters that cases name.
    cased: BTreeSet<String>,
    sweep: Sweep,
    /// The tables of the network, as in the file.
    network: Node,
    /// The traces that rates of wires name.
    pub traces: Arc<Traces>,
}

/// The experiment of a text that names no files; `name` is its name in errors. The `--set` settings of the command line
/// are applied to it.
///
/// # Errors
/// When the text is invalid or names a file.
pub fn parse(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Experiment, FileError> {
    parse_with(name, text, overrides, |_, _| Err(io::Error::other("files cannot be read here")))
}

/// Like [`parse`]; `files` reads the files that the experiment names.
///
/// # Errors
/// When the text is invalid, or a file cannot be read.
pub fn parse_with(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
    files: Files,
) -> Result<Experiment, FileError> {
    let mut e = read_with(name, text, overrides, files)?;
    e.try_points(&AtomicBool::new(false), IN_ORDER)?;
    Ok(e)
}

/// Like [`parse_with`], but no point is tried yet: [`Experiment::try_points`] must follow before a run.
///
/// # Errors
/// When the text is invalid at every point.
pub fn read_with(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
    files: Files,
) -> Result<Experiment, FileError> {
    let sets = overrides.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let source = Arc::new(Source { path: name.into(), text: text.into(), sets });
    let mut tree = tree::read(&source)?;
    let seeds_of_file = tree.get("seeds").cloned();
    // A file is right or wrong whatever the call sets.
    let unset = tree.get("dials").map(|_| tree.clone());
    let settings = apply_sets(&mut tree, &source, overrides)?;
    tree::check_texts(&tree, &source)?;

    let cx = ReadContext::new(&source, &[]);
    let mut f = Val { cx, path: String::new(), node: &tree }.table()?;
    for key in NETWORK {
        f.get(key);
    }
    let stem = Path::new(name).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let title = f.read_or("title", stem.as_str(), |v| v.text())?.to_string();
    let cite = f.read_or("cite", "", |v| v.text())?.to_string();
    let notes = f.read_or("notes", "", |v| v.text())?.to_string();
    let dialled = f.read_or("dials", vec![], |v| {
        let of = unset.as_ref().filter(|_| !matches!(v.node.site, Spot::Set(..))).unwrap_or(&tree);
        dialled(&v, Paths { network: of, names: &naming::table_names(&source, of) })
    })?;
    let test = f.read("test", |v| Test::read(&v))?;
    if let Some(why) = test.as_ref().and_then(|t| t.missing.as_ref())
        && NETWORK.iter().all(|key| tree.get(key).is_none())
    {
        return Err(f.error(format!("cannot be simulated: {why}"), "`contend evaluate --list` shows what can"));
    }
    let about = About::of(&tree);
    no_time(&mut f, about)?;
    let duration = match about {
        About::Model | About::Contention => Span::ZERO,
        About::Network => f.need("duration", "\"70s\"")?.positive_span()?,
    };
    let warmup = f.read_or("warmup", Span::ZERO, |v| match v.span()? {
        w if w >= duration => Err(v.error(
            format!("is {w}, but the whole run is {duration}: nothing is left to measure"),
            "write a shorter warmup or a longer duration",
        )),
        w => Ok(w),
    })?;
    let mut remarks: Vec<String> = f.get("seeds").and_then(|v| one_seed(&v)).into_iter().collect();
    let (seeds, until) =
        f.get("seeds").filter(|_| about != About::Model).map_or(Ok((vec![1], None)), |v| seeds::seeds(&v))?;
    let replaced = seeds_of_file.filter(|_| overrides.iter().any(|(key, _)| key.trim() == "seeds"));
    let seeds_of_file =
        replaced.and_then(|node| seeds::seeds(&Val { cx, path: "seeds".into(), node: &node }).ok()).map(|s| s.0.len());
    // Seeds of the command line also replace `decide` of the file: they are exactly the seeds that run.
    let of_call = |v: &Val| seeds_of_file.is_none() || matches!(v.node.site, Spot::Set(..));
    let decide = f.read("decide", |v| Ok(Some(seeds::decide(&v)?).filter(|_| of_call(&v))))?.flatten();
    let sample = f.read("sample", |v| sample(&v, duration))?;
    let show = f.read_or("show", vec![], |v| judge::show(&v))?;
    let names = naming::table_names(&source, &tree);
    let no_sweep = Node { site: Spot::None, kind: NodeKind::Table(vec![]) };
    let sweep = f.get("sweep").unwrap_or_else(|| Val { cx, path: "sweep".into(), node: &no_sweep });
    let swept = settings.swept.iter().filter_map(|s| names.numbered(&tree::split_path(&s.0)?).ok());
    let set = settings.fixed.iter().map(|s| s.0.clone()).chain(swept).collect();
    let sweep = Sweep::read(&sweep, names, &settings)?;
    let mut judge = Judge { sweep: &sweep, set, readings: vec![] };
    if let Some(tables) = f.get("readings") {
        let tables = tables.table()?.all().map(|(entry, v)| Ok((entry.key.clone(), judge.named_readings(&v)?)));
        judge.readings = tables.collect::<Result<_, FileError>>()?;
    }
    let mut ids = BTreeSet::new();
    let claims = each(f.get("claim"), "[[claim]]", |v| match judge.claim(v)? {
        claim if ids.insert(claim.id.clone()) => Ok(claim),
        claim => {
            Err(v.error(format!("has the id of another claim: \"{}\"", claim.id), "give each [[claim]] its own id"))
        }
    })?;
    let checks = each(f.get("check"), "[[check]]", |v| judge.check(v))?;
    let figures = each(f.get("figure"), "[[figure]]", |v| judge.figure(v))?;
    let programs = each(f.get("program"), "[[program]]", ProgramSpec::read)?;
    let search = f.read("search", |v| judge::search(&v, &sweep))?;
    f.finish_or(elsewhere)?;

    let network = Node {
        site: tree.site.clone(),
        kind: NodeKind::Table(
            tree.entries().unwrap_or_default().iter().filter(|e| NETWORK.contains(&e.key.as_str())).cloned().collect(),
        ),
    };
    let points = sweep.points();
    remarks.extend(sweep.remarks(&settings, points.len()));
    Ok(Experiment {
        source: source.clone(),
        title,
        cite,
        notes,
        test,
        dialled,
        duration,
        warmup,
        seeds,
        seeds_of_file,
        until,
        decide,
        check_confidence: CONFIDENCE,
        sample,
        points,
        show,
        claims,
        checks,
        figures,
        programs,
        search,
        remarks,
        needs: vec![],
        same: BTreeMap::new(),
        cased: cases::named(&tree),
        sweep,
        network,
        traces: Arc::new(Traces::of(files)),
    })
}

/// The remedy for an unknown key at the top of the file that belongs into a table, whose head is probably missing.
fn elsewhere(key: &str) -> Option<String> {
    let inside = keys::keys().into_iter().find(|(path, ..)| path.split_once('.').is_some_and(|(_, k)| k == key));
    inside.map(|(path, ..)| format!("did you mean `{}`?", keys::settable(&path)))
}

/// Reads the step of the time series of a run of `duration`.
fn sample(v: &Val, duration: Span) -> Result<Span, FileError> {
    match v.positive_span()? {
        step if step > duration => {
            Err(v.error(format!("is {step}, but the whole run is {duration}"), "write a shorter step"))
        }
        step if duration.div_floor(step) > MOST_SAMPLES => {
            Err(v.error(format!("makes more than {MOST_SAMPLES} samples of a run"), "write a longer step"))
        }
        step => Ok(step),
    }
}

/// Reads `dials`: key paths as `--set` takes them.
fn dialled(v: &Val, paths: Paths) -> Result<Vec<String>, FileError> {
    let items = v.list("the list of keys, like [\"ap.queue\", \"flow.0.count\"]")?;
    items
        .map(|item| {
            let key = item.text()?.trim();
            paths.check(key).map_err(|no| tree::at_key(item.cx.source, &item.node.site, key, no))?;
            Ok(key.to_owned())
        })
        .collect()
}

/// The tables that describe a network; the other keys belong to the whole experiment.
const NETWORK: [&str; 13] =
    ["wifi", "ap", "station", "flow", "wire", "link", "node", "param", "contention", "model", "field", "wall", "stack"];
/// Maximum number of samples of a time series.
const MOST_SAMPLES: u64 = 10_000_000;

/// Settings of the command line.
#[derive(Default)]
struct Settings {
    /// Keys with one value: key path, with numbers of tables, and value.
    fixed: Vec<(Vec<String>, Node)>,
    /// Keys to sweep: key path, its place, and values.
    swept: Vec<(String, Spot, Vec<Node>)>,
    /// Tables of the file that a name has replaced: key path, with numbers of tables, and what is said about it.
    replaced: Vec<(Vec<String>, String)>,
}

/// Applies the settings of the command line to the file. Keys to sweep (`sweep.KEY`) are not part of the network.
fn apply_sets(tree: &mut Node, source: &Source, overrides: &[(String, String)]) -> Result<Settings, FileError> {
    let mut settings = Settings::default();
    for (i, (key, value)) in overrides.iter().enumerate() {
        let site = Spot::Set(i, 0..key.len());
        let path = tree::split_path(key).ok_or_else(|| {
            FileError::new(
                source,
                &site,
                format!("`{key}` is not a key path"),
                "write it like flow.0.count or wifi.slot",
            )
        })?;
        let wrong = |no| tree::at_key(source, &site, key, no);
        let names = naming::table_names(source, tree);
        if let [first, rest @ ..] = path.as_slice()
            && first == "sweep"
            && !rest.is_empty()
            && *rest != ["zip"]
        {
            let swept = rest.join(".");
            let wrong = |no| tree::at_key(source, &site, &swept, no);
            let numbered = names.numbered(&tree::split_path(&swept).unwrap_or_default()).map_err(wrong)?;
            let values = tree::read_values(i, key.len() + 1, value).map_err(wrong)?;
            values.iter().try_for_each(|node| tree::check_texts(node, source))?;
            // The later option wins. The head of a run.toml comes before the options of the call.
            settings.fixed.retain(|(path, _)| *path != numbered);
            settings.swept.push((swept, site, values));
            continue;
        }
        let node = tree::read_setting(i, key.len() + 1, value);
        if path == [SUBJECT] {
            test::put(tree, &node, source, &site)?;
            continue;
        }
        if let [name] = path.as_slice()
            && let Some(row) = row_of(tree, name, &node, source, &site)?
        {
            // The label of a row stands for all its keys.
            for (key, value) in row {
                let numbered = names.numbered(&tree::split_path(&key).unwrap_or_default()).map_err(wrong)?;
                tree.lay(&numbered, &site, value.clone()).map_err(wrong)?;
                settings.fixed.push((numbered, value));
            }
            continue;
        }
        let path = names.numbered(&path).map_err(wrong)?;
        let replaced = tree.at(&path).and_then(|old| dropped(key, old, &node));
        settings.replaced.extend(replaced.map(|said| (path.clone(), said)));
        tree.lay(&path, &site, node.clone()).map_err(wrong)?;
        settings.fixed.push((path, node));
    }
    Ok(settings)
}

/// The keys of the row with the label `label` of the `zip` whose rows are called `name`, each with its value; `None` if
/// no rows of the file are called so. Whether the `zip` is right is said when the sweep is read.
fn row_of(
    tree: &Node,
    name: &str,
    label: &Node,
    source: &Source,
    site: &Spot,
) -> Result<Option<Vec<(String, Node)>>, FileError> {
    let texts = |node: Option<&Node>| -> Vec<String> {
        let Some(NodeKind::List(all)) = node.map(|n| &n.kind) else { return vec![] };
        let text = |n: &Node| if let NodeKind::Text(text) = &n.kind { Some(text.clone()) } else { None };
        all.iter().filter_map(text).collect()
    };
    let Some(sweep) = tree.get("sweep") else { return Ok(None) };
    let Some(NodeKind::List(groups)) = sweep.get("zip").map(|n| &n.kind) else { return Ok(None) };
    let is_named = |group: &&Node| matches!(group.get("name").map(|n| &n.kind), Some(NodeKind::Text(t)) if t == name);
    let Some(group) = groups.iter().find(is_named) else { return Ok(None) };
    let labels = texts(group.get("labels"));
    let is_meant = |text: &String| matches!(&label.kind, NodeKind::Text(t) if t == text);
    let Some(row) = labels.iter().position(is_meant) else {
        let message = format!("`{name}` has no row with the label {}", label.to_json());
        let known = labels.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ");
        return Err(FileError::new(source, site, message, format!("labels: {known}")));
    };
    let swept = tree::flatten(sweep.entries().unwrap_or_default(), true);
    let value = |key: String| {
        let path = tree::split_path(&key);
        let (_, _, node) = swept.iter().find(|(known, ..)| tree::split_path(known) == path)?;
        let NodeKind::List(values) = &node.get(tree::VALUES).unwrap_or(node).kind else { return None };
        Some((key, values.get(row)?.clone()))
    };
    Ok(Some(texts(group.get("keys")).into_iter().filter_map(value).collect()))
}

/// The remark about the name `new` in place of the table `old`, with which parameters of the file go; `None` if none
/// does.
fn dropped(key: &str, old: &Node, new: &Node) -> Option<String> {
    let NodeKind::Text(name) = &new.kind else { return None };
    old.get("kind")?;
    let gone: Vec<&str> = old.entries()?.iter().map(|e| e.key.as_str()).filter(|key| *key != "kind").collect();
    (!gone.is_empty()).then(|| {
        format!("--set {key}={name} drops {} of the file; --set {key}.kind={name} keeps the rest", gone.join(", "))
    })
}

/// The remark about a single number after `--seeds`, which may be meant as how many.
fn one_seed(seeds: &Val) -> Option<String> {
    match (&seeds.node.kind, &seeds.node.site) {
        (NodeKind::Integer(n), Spot::Set(..)) if *n > 1 => {
            Some(format!("--seeds {n} is one seed, number {n}; --seeds 1..{n} runs {n} seeds"))
        }
        _ => None,
    }
}

/// What a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A network with flows.
    Network,
    /// Closed forms: `[model]`.
    Model,
    /// Contention without a network: `[contention]`.
    Contention,
}

impl About {
    fn of(tree: &Node) -> About {
        if tree.get("model").is_some() {
            About::Model
        } else if tree.get("contention").is_some() {
            About::Contention
        } else {
            About::Network
        }
    }
}

/// The table `key` of a file about `what`; tables of a network are an error.
fn alone<'a>(
    cx: ReadContext<'a>,
    tree: &'a Node,
    key: &'static str,
    what: &str,
    example: &str,
) -> Result<Val<'a>, FileError> {
    let mut root = Val { cx, path: String::new(), node: tree }.table()?;
    root.get("param");
    let other = NETWORK.iter().filter(|k| ![key, "param"].contains(k)).find_map(|k| root.get(k));
    if let Some(v) = other {
        return Err(v.error(format!("belongs to a network, but this file is about {what}"), "remove one of the two"));
    }
    let table = root.need(key, example)?;
    root.finish()?;
    Ok(table)
}

/// Refuses keys that only a network has. `--seeds` is accepted for a model, but has no effect: the same call may run
/// other files.
fn no_time(f: &mut Fields, about: About) -> Result<(), FileError> {
    let (keys, why): (&[&'static str], _) = match about {
        About::Network => return Ok(()),
        About::Model => (
            &["duration", "warmup", "seeds", "sample"],
            "is for networks, but this file is about a [model], which has neither time nor random numbers",
        ),
        About::Contention => (
            &["duration", "warmup", "sample"],
            "is for networks, but this file is about [contention], which ends after its `successes`",
        ),
    };
    for &key in keys {
        match f.get(key) {
            Some(v) if key != "seeds" || !matches!(v.node.site, Spot::Set(..)) => {
                return Err(v.error(why, "remove it"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn each<T>(
    val: Option<Val>,
    name: &str,
    mut read: impl FnMut(&Val) -> Result<T, FileError>,
) -> Result<Vec<T>, FileError> {
    val.map_or(Ok(vec![]), |v| v.list(&format!("{name}, with two brackets"))?.map(|v| read(&v)).collect())
}

impl Experiment {
    /// The network at `point` with `overlay`.
    ///
    /// # Errors
    /// When a value of the point or the overlay is invalid. [`parse`] has already tried every point and every overlay
    /// of a claim.
    pub fn scenario(&self, point: &PointKey, overlay: &Overlay) -> Result<Resolved, FileError> {
        network::resolve(&self.source, &self.at(point, overlay)?, self.duration, &self.traces)
    }

    /// Seed number `rank` of a point, counted from 0. Further seeds follow the largest of [`Experiment::seeds`]. `None`
    /// after the largest number.
    pub fn seed(&self, rank: usize) -> Option<u64> {
        let further = rank.checked_sub(self.seeds.len());
        further.map_or_else(
            || self.seeds.get(rank).copied(),
            |k| self.seeds.iter().max()?.checked_add(1)?.checked_add(k as u64),
        )
    }

    /// The seeds as a file has them: `1..5`.
    pub fn seeds_text(&self) -> String {
        match (self.seeds.first(), self.seeds.last()) {
            (Some(a), Some(b)) if a < b && b - a + 1 == self.seeds.len() as u64 => format!("{a}..{b}"),
            _ => self.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
        }
    }

    /// What the file describes.
    pub fn about(&self) -> About {
        About::of(&self.network)
    }

    /// Names of the arguments of the file's `[model]` at every point: those of the table, and swept ones.
    pub fn model_arguments(&self) -> BTreeSet<String> {
        let table = self.network.get("model").and_then(Node::entries).unwrap_or_default().iter().map(|e| e.key.clone());
        let swept =
            self.points.iter().flat_map(PointKey::keys).filter_map(|key| key.strip_prefix("model.").map(str::to_owned));
        table.chain(swept).collect()
    }

    /// The closed forms at `point` with `overlay`.
    pub fn modelled(&self, point: &PointKey, overlay: &Overlay) -> Result<Modelled, FileError> {
        model::resolve(&self.source, &self.at(point, overlay)?)
    }

    /// The `[contention]` at `point` with `overlay`.
    pub fn contended(&self, point: &PointKey, overlay: &Overlay) -> Result<Contended, FileError> {
        contention::resolve(&self.source, &self.at(point, overlay)?)
    }

    /// The tables of the network or model at `point` with `overlay`.
    fn at(&self, point: &PointKey, overlay: &Overlay) -> Result<Node, FileError> {
        let mut tree = self.network.clone();
        self.sweep.apply(&self.sweep.overlay(point), &mut tree, &self.source)?;
        self.sweep.apply(overlay, &mut tree, &self.source)?;
        cases::resolve(&mut tree, &self.cased, &self.source)?;
        Ok(tree)
    }

    /// The size of the results at `point` with `overlay`. The network is resolved and dropped again.
    pub fn size(&self, point: &PointKey, overlay: &Overlay) -> Result<Size, FileError> {
        match self.about() {
            About::Network => self.scenario(point, overlay).map(|r| Size::of(&r.scenario)),
            About::Model => self.modelled(point, overlay).map(|_| Size::MODEL),
            About::Contention => self.contended(point, overlay).map(|c| Size::of_successes(c.warmup + c.successes)),
        }
    }

    /// Removes claims, checks and the search, with the runs that only they need.
    pub fn without_claims(&mut self) {
        (self.claims, self.checks, self.search) = (vec![], vec![], None);
        (self.until, self.decide) = (None, None);
        self.needs.retain(|(need, _)| need.overlay.settings().is_empty());
    }

    /// Keeps every `of`th point from point `number` on, counted from 1, before [`Experiment::try_points`]. What depends
    /// on all points goes: claims, checks and the search.
    pub fn keep_part(&mut self, number: usize, of: usize) {
        self.without_claims();
        let points = std::mem::take(&mut self.points);
        self.points = points.into_iter().skip(number.saturating_sub(1)).step_by(of.max(1)).collect();
    }

    /// Tries every point, every overlay of a claim at its points, and both ends of the search. Each network is dropped
    /// when its size is known: all networks of a large sweep would not fit into memory at once. False if `stop` was set
    /// before all were tried: large networks of many points take minutes. `spread` says on which threads.
    ///
    /// # Errors
    /// When a point is invalid.
    pub fn try_points(&mut self, stop: &AtomicBool, spread: Spread) -> Result<bool, FileError> {
        let stopped = || stop.load(Ordering::Relaxed);
        let (mut tried, mut same) = (vec![], BTreeMap::new());
        // The networks by their text, if some may be the same as others.
        let (all, mut networks) = (needs(self), BTreeMap::new());
        let have_overlays = all.iter().any(|need| !need.overlay.settings().is_empty());
        let network = |need: &Need| -> Result<Option<String>, FileError> {
            Ok(if have_overlays { Some(self.at(&need.point, &need.overlay)?.to_json().to_string()) } else { None })
        };
        let one =
            |need: &Need| -> Result<_, FileError> { Ok((self.tried(&need.point, &need.overlay)?, network(need)?)) };
        // The error is that of the first invalid point, whichever core is first.
        for some in all.chunks(AT_ONCE) {
            if stopped() {
                return Ok(false);
            }
            for (need, result) in some.iter().zip(spread_over(spread, some, one)) {
                let (size, network) = result?;
                if let Some(network) = network {
                    let first = networks.entry(network).or_insert_with(|| need.key());
                    if *first != need.key() && !need.overlay.settings().is_empty() {
                        same.insert(need.key(), first.clone());
                        continue;
                    }
                }
                tried.push((need.clone(), size));
            }
        }
        if let Some(search) = &self.search {
            for overlay in [search.from, search.to].map(|bound| search.overlay(bound.value)) {
                for some in self.points.chunks(AT_ONCE) {
                    if stopped() {
                        return Ok(false);
                    }
                    let sizes = spread_over(spread, some, |point| self.tried(point, &overlay));
                    sizes.into_iter().try_for_each(|size| size.map(drop))?;
                }
            }
        }
        (self.needs, self.same) = (tried, same);
        Ok(true)
    }

    /// [`Need::key`] of the need in [`Experiment::needs`] whose runs are those of `need`: settings may lead to a
    /// network that another need has already.
    pub fn key_of(&self, need: &Need) -> String {
        let key = need.key();
        self.same.get(&key).cloned().unwrap_or(key)
    }

    /// Tries the first point only.
    ///
    /// # Errors
    /// When this point is invalid.
    pub fn try_first(&self) -> Result<(), FileError> {
        self.points.first().map_or(Ok(()), |point| self.tried(point, &Overlay::default()).map(drop))
    }

    /// [`Experiment::size`]; an error names the point.
    fn tried(&self, point: &PointKey, overlay: &Overlay) -> Result<Size, FileError> {
        self.size(point, overlay).map_err(|e| self.at_point(e, point, overlay))
    }

    /// Adds the point to an error, unless the error is in the sweep itself or also occurs without the point.
    fn at_point(&self, error: FileError, point: &PointKey, overlay: &Overlay) -> FileError {
        let without = self.size(&PointKey::new(), overlay);
        if point.is_empty()
            || error.byte().is_some_and(|b| self.sweep.covers(b))
            || without.is_err_and(|e| e.to_string() == error.to_string())
        {
            return error;
        }
        let shown = |value: &SweptValue| value.label().map_or_else(|| value.to_string(), str::to_owned);
        let keys: Vec<String> = point.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect();
        error.at(&keys.join(", "))
    }
}

/// `of` each item, in the order of the items, by `spread`.
fn spread_over<T: Sync, R: Send + Sync>(spread: Spread, items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let places: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    spread(items.len(), &|i| {
        places[i].get_or_init(|| of(&items[i]));
    });
    places.into_iter().filter_map(OnceLock::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_that_is_needed_was_tried_once_and_measured() {
        let text = "duration = \"1s\"\n[wifi]\nstandard = \"802.11g\"\n[[flow]]\nfrom = \"server\"\nto = \"station\"\n\
            tcp = \"reno\"\n\
                    [sweep]\n\"flow.0.count\" = [1, 2, 4]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { \
                    at_least = 0.5 }\n\
                    over = { \"flow.0.count\" = 4, \"wifi.slot\" = \"20us\" }\n";
        let e = parse("t.toml", text, &[]).unwrap();
        let sizes = |n: Need| e.scenario(&n.point, &n.overlay).map(|r| (n, Size::of(&r.scenario))).unwrap();
        assert_eq!(e.needs, needs(&e).into_iter().map(sizes).collect::<Vec<_>>());
        // Three points, and an overlay of the last one with another slot, which all three are compared with.
        assert_eq!(e.needs.len(), 4);
        assert_eq!(e.needs[2].1, e.needs[3].1);
        assert_ne!(e.needs[0].1, e.needs[1].1);
    }

    #[test]
    fn readings_that_do_not_change_a_network_share_its_runs() {
        let text = "duration = \"1s\"\nparam = { by = \"text\" }\n[wifi]\nstandard = \"802.11g\"\n[[flow]]\nfrom = \
            \"server\"\nto = \"station\"\ntcp = \"reno\"\n[sweep]\n\"flow.0.tcp\" = [\"reno\", { kind = \"vegas\", cc \
            = { rounded = { case = \"by\", text = false, code = true } } }]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\n\
            expect = { at_least = 0.5 }\nreading = { text = {}, code = { \"param.by\" = \"code\" } }\n";
        let e = parse("t.toml", text, &[]).unwrap();
        // Reno's network is the same by text and by code.
        assert_eq!((e.needs.len(), e.same.len()), (3, 1));
        let by_code = Overlay::of([("param.by".to_owned(), "code".into())]);
        let keys = [0, 1].map(|i| e.key_of(&Need::of(&e.points, &e.points[i], &by_code)));
        assert_eq!(keys[0], e.needs[0].0.key());
        assert_eq!(keys[1], e.needs[2].0.key());
    }
}
