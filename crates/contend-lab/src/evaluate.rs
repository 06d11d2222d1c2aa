//! A subject in the tests of a suite: which of them apply, with which settings they run, and what they say.

use crate::nearest;
use crate::opening;
use crate::reading::file::keys::{Family, variants};
use crate::reading::file::test::{Feature, SUBJECT, Tier};
use crate::reading::file::{self, Experiment};
use crate::suites::{Suite, TestFile};
use contend_core::Refusal;
use contend_experiment::reading::command::command_line;
use contend_experiment::reading::error::Error;
use contend_experiment::results::{Executed, SweptValue};
use contend_experiment::stats::CONFIDENCE;
use contend_report::output::scorecard::{Scorecard, Subject as Named, TestCard, TestVerdict};
use contend_report::output::{ReportContext, test_figures};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The thing under test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What it is.
    pub kind: Kind,
    /// Its name as typed.
    pub name: String,
    /// The value that tests set: of a controller that of `tcp`, of a queue that of `queue`, of an access point `[ap]`.
    value: Value,
    /// Keys of `[wifi]` of an access point, which hold at all points.
    wifi: Map<String, Value>,
    /// What else the file of an access point has, which says nothing here.
    pub ignored: Vec<String>,
}

/// What a subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A congestion controller, with its recovery: `--cc`.
    Controller,
    /// A queue discipline: `--ap`.
    Queue,
    /// A whole access point: `--ap-file`.
    AccessPoint,
}

/// The keys of `[wifi]` that belong to an access point under test.
const OF_ACCESS_POINT: [&str; 5] = ["access", "ampdu", "amsdu", "mac_queue", "rate_control"];

impl Kind {
    /// The option that names the subject.
    pub const fn option(self) -> &'static str {
        match self {
            Kind::Controller => "cc",
            Kind::Queue => "ap",
            Kind::AccessPoint => "ap-file",
        }
    }

    /// The kind of its suites.
    pub const fn suite(self) -> &'static str {
        match self {
            Kind::Controller => "cc",
            Kind::Queue | Kind::AccessPoint => "ap",
        }
    }
}

impl Subject {
    /// The controller or variant that `text` names, perhaps with parameters: `cubic { beta_1024 = 600 }`.
    ///
    /// # Errors
    /// When there is no such controller, or when a parameter is wrong.
    pub fn controller(text: &str) -> Result<Subject, Refusal> {
        let known: Vec<&str> = variants().iter().map(|v| v.name).collect();
        let value =
            named(text, &known, |cc| json!({ "cc": cc })).map_err(|no| or_of(Family::Qdiscs, text, no, "--ap"))?;
        // Some controllers read the air of their station.
        probe(text, FIELD, &[("flow.0.tcp".to_owned(), setting(&value))])?;
        Ok(Subject { kind: Kind::Controller, name: text.trim().to_owned(), value, wifi: Map::new(), ignored: vec![] })
    }

    /// The queue discipline that `text` names, perhaps with parameters.
    ///
    /// # Errors
    /// As [`Subject::controller`].
    pub fn queue(text: &str) -> Result<Subject, Refusal> {
        let algorithms = Family::Qdiscs.algorithms();
        let known: Vec<&str> = algorithms.iter().map(|a| a.name).collect();
        let value = named(text, &known, Value::from).map_err(|no| or_of(Family::Controllers, text, no, "--cc"))?;
        probe(text, CELL, &[("ap.queue".to_owned(), setting(&value))])?;
        Ok(Subject { kind: Kind::Queue, name: text.trim().to_owned(), value, wifi: Map::new(), ignored: vec![] })
    }

    /// The access point that the file `name` with this text describes: its `[ap]`, and what of `[wifi]` belongs to it.
    ///
    /// # Errors
    /// When the text is no TOML or has no `[ap]`.
    pub fn access_point(name: &str, text: &str) -> Result<Subject, Error> {
        let all = file::test::tables(name, text)?;
        let Some(value @ Value::Object(_)) = all.get("ap") else {
            let remedy = "write [ap] with queue = \"fq_codel\" and whatever else it has";
            return Err(Refusal::new(format!("{name} has no table [ap]"), remedy).into());
        };
        let wifi = all.get("wifi").and_then(Value::as_object).cloned().unwrap_or_default();
        let (wifi, others): (Vec<_>, Vec<_>) =
            wifi.into_iter().partition(|(key, _)| OF_ACCESS_POINT.contains(&key.as_str()));
        let silent = ["ap", "wifi", "title", "cite", "notes"];
        let tables = all.as_object().into_iter().flat_map(Map::keys).filter(|key| !silent.contains(&key.as_str()));
        let ignored = others.into_iter().map(|(key, _)| format!("wifi.{key}")).chain(tables.cloned()).collect();
        let (name, value, wifi) = (name.to_owned(), value.clone(), wifi.into_iter().collect());
        let subject = Subject { kind: Kind::AccessPoint, name, value, wifi, ignored };
        let sets = [vec![("ap".to_owned(), setting(&subject.value))], subject.of_wifi()].concat();
        probe(&subject.name, MODERN, &sets)?;
        Ok(subject)
    }

    /// What of `[wifi]` belongs to it, as settings.
    fn of_wifi(&self) -> Vec<(String, String)> {
        self.wifi.iter().map(|(key, value)| (format!("wifi.{key}"), setting(value))).collect()
    }

    /// The subject on a scorecard.
    fn named(&self) -> Named {
        let resolved = match self.kind {
            Kind::Controller => json!({ "tcp": self.value }),
            Kind::Queue => json!({ "queue": self.value }),
            Kind::AccessPoint => json!({ "ap": self.value, "wifi": self.wifi }),
        };
        Named { kind: self.kind.option(), name: self.name.clone(), resolved }
    }

    /// The value of the swept key `key`; `None` if the subject has nothing for it.
    fn value_at(&self, key: &str) -> Option<Value> {
        match (self.kind, key.rsplit('.').next().unwrap_or(key)) {
            (Kind::Controller, "tcp") | (Kind::Queue, "queue") | (Kind::AccessPoint, "ap") => Some(self.value.clone()),
            (Kind::Queue, "ap") => Some(json!({ "queue": self.value })),
            (Kind::AccessPoint, "queue") => self.value.get("queue").cloned(),
            _ => None,
        }
    }

    /// Why the test does not apply to this subject; `None` if it does.
    fn lacks(&self, test: &TestFile) -> Option<String> {
        test.head.test.needs.iter().find_map(|need| match need {
            Feature::Ecn => {
                let queue = self.value_at("queue")?;
                (!marks(&queue)).then(|| format!("{} does not mark packets", self.name))
            }
        })
    }
}

/// True if the discipline `queue`, as a file has it, marks packets.
fn marks(queue: &Value) -> bool {
    let name = queue.as_str().or_else(|| queue.get("kind")?.as_str()).unwrap_or_default();
    let all = Family::Qdiscs.algorithms();
    let parameter = all.iter().filter(|a| a.name == name).flat_map(|a| a.params).find(|p| p.name == "ecn");
    let set = queue.get("ecn").and_then(Value::as_bool);
    parameter.is_some_and(|p| set.unwrap_or(p.default == Some("true")))
}

/// The value that `text` describes: a name of `known`, a table, or a name with a table of its parameters, of which
/// `with` makes the value.
fn named(text: &str, known: &[&str], with: impl Fn(Map<String, Value>) -> Value) -> Result<Value, Refusal> {
    let text = text.trim();
    let (name, table) = text.find('{').map_or((text, ""), |at| text.split_at(at));
    let name = name.trim();
    if !known.contains(&name) && (!name.is_empty() || table.is_empty()) {
        let all = || format!("write one of: {}", known.join(", "));
        let remedy = nearest(name, known.iter().copied()).map_or_else(all, |near| format!("did you mean `{near}`?"));
        return Err(Refusal::new(format!("there is no `{name}`"), remedy));
    }
    if table.is_empty() {
        return Ok(name.into());
    }
    let Value::Object(mut parameters) = file::test::value(table) else {
        let what = format!("`{table}` is not a table");
        return Err(Refusal::new(what, "write parameters like cubic { beta_1024 = 600 }"));
    };
    if name.is_empty() {
        return Ok(parameters.into());
    }
    parameters.insert("kind".into(), name.into());
    Ok(with(parameters))
}

/// `no`, or what to write if the name in `text` is one of `family`, for which there is another option.
fn or_of(family: Family, text: &str, no: Refusal, option: &str) -> Refusal {
    let name = text.split('{').next().unwrap_or(text).trim();
    if family.algorithms().iter().all(|a| a.name != name) {
        return no;
    }
    Refusal::new(format!("`{name}` is a {}", family.noun()), format!("write {option} {name}"))
}

/// A field in which every controller can run.
const FIELD: &str = "duration = \"1s\"\nwifi = { standard = \"802.11b\" }\n[field]\nobserve = [\"rt_winf\"]\n\
    [[station]]\nname = \"a\"\nposition = [\"0m\", \"0m\"]\n[[station]]\nname = \"b\"\nposition = [\"9m\", \"0m\"]\n\
    [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n";
/// A cell in which every discipline can run.
const CELL: &str = "duration = \"1s\"\nwifi = { standard = \"802.11b\" }\nap = { queue = \"fifo\" }\n[[flow]]\n\
    from = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";

/// A cell of today, in which an access point can have everything.
const MODERN: &str = "duration = \"1s\"\nwifi = { standard = \"802.11ac\", access = \"edca\", ampdu = {} }\n[[flow]]\n\
    from = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";

/// Tries a subject in a network that suits all of its kind.
fn probe(name: &str, network: &str, sets: &[(String, String)]) -> Result<(), Refusal> {
    match file::parse("subject", network, sets) {
        Ok(_) => Ok(()),
        Err(no) => Err(Refusal::new(format!("{}: {no}", name.trim()), no.remedy().unwrap_or_default())),
    }
}

/// A value as `--set` takes it.
fn setting(value: &Value) -> String {
    SweptValue::from(value.clone()).setting()
}

/// How the tests run.
#[derive(Clone, Debug, Default)]
pub struct How {
    /// True for the tests of every tier, with up to 100 seeds.
    pub full: bool,
    /// True if all checks together are judged with 95 %: each by an interval of 1 - 5 %/m for m checks.
    pub strict: bool,
    /// Seeds that replace those of the files.
    pub seeds: Option<String>,
    /// More seeds for what is not decided, up to this number.
    pub decide: Option<String>,
}

/// Maximum number of seeds of a point, as the tests have it, and with [`How::full`].
const DEFAULT: &str = "20";
const FULL: &str = "100";

/// The tests of a suite with a subject, before they run.
#[derive(Debug)]
pub struct Evaluation {
    suite: Suite,
    subject: Subject,
    /// The tests to run, each with its number in the suite.
    pub to_run: Vec<(usize, Experiment)>,
    /// The cards of tests that do not run.
    idle: Vec<TestCard>,
    /// Number of tests that run with [`How::full`] only.
    pub left: usize,
    /// Confidence of the intervals that decide.
    pub confidence: f64,
}

impl Evaluation {
    /// The evaluation of `subject`. `what` names a suite in `folder` or inside the program (`cc-1`), or a test
    /// (`standard`, `cc-1/standard`); without it, all tests of the newest suite of this kind of subject.
    ///
    /// # Errors
    /// When there is no such suite or test, or when a file is wrong, or the subject in it.
    pub fn of(subject: Subject, what: Option<&str>, folder: Option<&Path>, how: &How) -> Result<Evaluation, Error> {
        let suite = Suite::named(what, folder, subject.kind.suite())?;
        let (mut to_run, mut cards, mut left) = (vec![], vec![], 0);
        for (i, test) in suite.tests.iter().enumerate() {
            match plan(test, &subject, how)? {
                Plan::Run(e) => to_run.push((i, *e)),
                Plan::Idle(verdict, reason) => cards.push(idle(test, verdict, reason)),
                Plan::Left if suite.tests.len() == 1 => {
                    let what = format!("{}/{} runs with all tiers only", suite.name, test.id);
                    return Err(Refusal::new(what, "add --full; in Python full=True").into());
                }
                Plan::Left => left += 1,
            }
        }
        let mut confidence = CONFIDENCE;
        if how.strict {
            let m = to_run.iter().map(|(_, e)| counted(e)).sum::<usize>().max(1);
            confidence = 1.0 - (1.0 - confidence) / m as f64;
            to_run.iter_mut().for_each(|(_, e)| e.check_confidence = confidence);
        }
        Ok(Evaluation { suite, subject, to_run, idle: cards, left, confidence })
    }

    /// The name of the suite.
    pub fn suite(&self) -> &str {
        &self.suite.name
    }

    /// The subject as typed.
    pub fn subject(&self) -> &str {
        &self.subject.name
    }

    /// The name of test number `i` of the suite.
    pub fn id(&self, i: usize) -> &str {
        self.suite.tests.get(i).map_or("", |t| &t.id)
    }

    /// True if the call named one test.
    pub fn is_single(&self) -> bool {
        self.suite.tests.len() == 1
    }

    /// The card of test number `i`, which was run.
    pub fn card(&self, i: usize, e: &Experiment, executed: Executed) -> Option<TestCard> {
        self.suite.tests.get(i).map(|test| card(test, e, executed))
    }

    /// The scorecard with `tests`, the cards of those that were run; those that fail come first.
    pub fn scorecard(self, mut tests: Vec<TestCard>, command: String) -> Scorecard {
        tests.extend(self.idle);
        tests.sort_by(|a, b| a.verdict.cmp(&b.verdict).then_with(|| a.id.cmp(&b.id)));
        let subject = self.subject.named();
        Scorecard { suite: self.suite.name, digest: self.suite.digest, subject, command, tests }
    }
}

/// What becomes of a test.
enum Plan {
    /// It runs.
    Run(Box<Experiment>),
    /// It does not run, for this reason.
    Idle(TestVerdict, String),
    /// It belongs to another tier.
    Left,
}

/// What becomes of `test` with `subject`.
///
/// # Errors
/// When the file is wrong, or the subject in it.
fn plan(test: &TestFile, subject: &Subject, how: &How) -> Result<Plan, Error> {
    let head = &test.head;
    if let Some(why) = &head.test.missing {
        return Ok(Plan::Idle(TestVerdict::NotSimulated, why.clone()));
    }
    if head.test.tier == Tier::Full && !how.full {
        return Ok(Plan::Left);
    }
    let name = test.path.display().to_string();
    let Some((key, _)) = head.subjects.first() else {
        let what = format!("{name} has no value labelled `subject`");
        return Err(Refusal::new(what, "label one value of a key `tcp`, `queue` or `ap` in [sweep]").into());
    };
    let Some(value) = subject.value_at(key) else {
        let why = format!("{} has nothing for `{key}`", subject.name);
        return Ok(Plan::Idle(TestVerdict::NotApplicable, why));
    };
    if let Some(why) = subject.lacks(test) {
        return Ok(Plan::Idle(TestVerdict::NotApplicable, why));
    }
    if !head.judges_subject {
        let what = format!("{name} has no check about the subject");
        return Err(Refusal::new(what, "write when = { \"KEY\" = \"subject\" } in a [[check]]").into());
    }
    let mut of_call: Vec<(String, String)> = vec![];
    of_call.extend(how.seeds.iter().map(|seeds| ("seeds".to_owned(), seeds.clone())));
    // Other seeds do not change how many there are at most.
    let usual = || if how.full { Some(FULL) } else { how.seeds.as_ref().map(|_| DEFAULT) };
    let most = how.decide.clone().or_else(|| usual().map(str::to_owned));
    of_call.extend(most.map(|most| ("decide".to_owned(), most)));
    let mut sets = vec![(SUBJECT.to_owned(), setting(&value))];
    if key == "ap" {
        sets.extend(subject.of_wifi());
    }
    match opening::experiment(&name, &test.text, &[sets, of_call.clone()].concat()) {
        Ok(e) => Ok(Plan::Run(Box::new(e))),
        Err(no) => {
            // The subject is right, or it would have been refused. If the file is right too, its network does not suit
            // the subject.
            opening::experiment(&name, &test.text, &of_call)?;
            Ok(Plan::Idle(TestVerdict::NotApplicable, no.to_string()))
        }
    }
}

/// The number of checks of a test that count, alternatives together.
fn counted(e: &Experiment) -> usize {
    let counts = e.checks.iter().enumerate().filter(|(_, c)| !c.informative);
    let first = |(i, c): &(usize, &file::Check)| {
        c.id.is_none() || e.checks.iter().take(*i).all(|other| other.informative || other.id != c.id)
    };
    counts.filter(first).count()
}

/// The card of a test that was run.
fn card(test: &TestFile, e: &Experiment, executed: Executed) -> TestCard {
    let mut outcome = executed.outcome;
    let command = command_line(e);
    let figures = test_figures(&outcome, &ReportContext::of(e, command.clone()));
    let events = outcome.runs.iter().map(|r| r.events).sum();
    outcome.runs = vec![];
    TestCard {
        verdict: TestVerdict::of(&outcome.checks),
        command,
        events,
        figures,
        outcome: Some(outcome),
        ..idle(test, TestVerdict::Shown, String::new())
    }
}

/// The card of a test that was not run.
fn idle(test: &TestFile, verdict: TestVerdict, reason: String) -> TestCard {
    let head = &test.head;
    TestCard {
        id: test.id.clone(),
        title: head.title.clone(),
        cite: head.cite.clone(),
        notes: head.notes.clone(),
        fidelity: head.test.fidelity.name(),
        tier: head.test.tier.name(),
        verdict,
        reason,
        command: String::new(),
        events: 0,
        outcome: None,
        figures: String::new(),
    }
}
