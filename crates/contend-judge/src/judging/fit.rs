//! Finds expressions that no run of their networks can have, before the first run: names of flows, queues and stations
//! that do not exist, and lists where one number is needed.

use super::claim::Need;
use crate::measuring::metric::{Condition, Expr, Misfit};
use crate::running::{contention, network};
use contend_core::Refusal;
use contend_experiment::reading::error::Error;
use contend_experiment::reading::file::need::{of_check, of_claim};
use contend_experiment::reading::file::{About, Along, Experiment, Figure, FileError, Requirement, Shown, Spot};
use contend_experiment::results::{PointKey, Run, point_text};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// An expression of the file, and the networks that it is read from.
struct Asked<'e> {
    expr: Expr,
    /// True if it must be one number.
    one: bool,
    /// Place in the file.
    site: &'e Spot,
    /// What asks, with a colon; empty if the place says it.
    owner: String,
    from: From<'e>,
    /// True if a network has all that the expression names.
    found: bool,
    /// What the first network lacks.
    missing: Option<Refusal>,
}

/// The networks that an expression is read from.
enum From<'e> {
    /// All of these needs ([`Need::key`]).
    All(BTreeSet<String>),
    /// The points that a figure shows, those that have it.
    Shown(&'e Figure),
    /// The points that have it.
    Points,
}

impl From<'_> {
    fn includes(&self, need: &Need) -> bool {
        let is_point = need.overlay.settings().is_empty();
        match self {
            From::All(keys) => keys.contains(&need.key()),
            From::Shown(figure) => is_point && figure.shows(&need.point),
            From::Points => is_point,
        }
    }
}

/// Refuses what no run of its networks can have. A claim or check must have a value in each of its networks; what is
/// shown, drawn or searched for, in one of them. If a setting changes the network, only expressions of settings are
/// refused: it may leave out what the file's own name. `stop` is looked at between networks.
///
/// # Errors
/// When an expression names what its networks lack, or is a list where one number is needed; when no network can be
/// built from a point.
pub(crate) fn validate(e: &Experiment, stop: &AtomicBool) -> Result<(), Error> {
    let mut asked = asked(e);
    let changed = e.source.has_changes();
    asked.retain(|a| a.expr.depends_on_names() && (!changed || matches!(a.site, Spot::Set(..))));
    for (need, _) in &e.needs {
        let mut here: Vec<&mut Asked> = asked.iter_mut().filter(|a| !a.is_settled() && a.from.includes(need)).collect();
        if here.is_empty() {
            continue;
        }
        let names = names(e, need)?;
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        for a in &mut here {
            match a.expr.fits(&names, a.one) {
                Ok(()) => a.found = true,
                Err(Misfit::Unknown(why)) if !matches!(a.from, From::All(_)) => {
                    a.missing.get_or_insert(why);
                }
                Err(Misfit::Unknown(why) | Misfit::List(why)) => return Err(a.refused(e, why, &need.point).into()),
            }
        }
    }
    match asked.into_iter().find_map(|mut a| Some((a.missing.take().filter(|_| !a.found)?, a))) {
        Some((why, a)) => Err(a.refused(e, why, &PointKey::new()).into()),
        None => Ok(()),
    }
}

impl Asked<'_> {
    /// True if further networks cannot change the answer.
    fn is_settled(&self) -> bool {
        self.found && !(self.one && self.expr.is_list())
    }

    fn refused(&self, e: &Experiment, why: Refusal, point: &PointKey) -> FileError {
        let at = if point.is_empty() { String::new() } else { format!(" (at {})", point_text(point)) };
        FileError::new(&e.source, self.site, format!("{}{}{at}", self.owner, why.what), why.remedy)
    }
}

/// All expressions of `e` that are read from runs.
fn asked(e: &Experiment) -> Vec<Asked<'_>> {
    let points = |n: Vec<Need>| From::All(n.iter().map(|need| e.key_of(need)).collect());
    let one =
        |expr, site, owner: String, from| Asked { expr, one: true, site, owner, from, found: false, missing: None };
    let required = |r: &'_ Requirement| Expr::parse(&r.metric).ok();
    let mut all = vec![];
    for c in &e.claims {
        let (r, owner) = (&c.requirement, format!("claim {}: ", c.id));
        all.extend(required(r).map(|x| one(x, &r.metric_site, owner, points(of_claim(&e.points, c)))));
    }
    for c in &e.checks {
        let (r, owner) = (&c.requirement, format!("check {}: ", c.what));
        all.extend(required(r).map(|x| one(x, &r.metric_site, owner, points(of_check(&e.points, c)))));
    }
    for Shown { metric, site } in &e.show {
        all.extend(Expr::of_show(metric).ok().map(|x| one(x, site, String::new(), From::Points)));
    }
    if let Some(until) = &e.until {
        let every = e.needs.iter().map(|(need, _)| need.key()).collect();
        let owner = "`seeds.of`: ".to_owned();
        all.extend(Expr::parse(&until.of).ok().map(|x| one(x, &until.of_site, owner, From::All(every))));
    }
    for f in &e.figures {
        let is_list = matches!(f.x, Along::Flow | Along::Time);
        for (y, site) in f.y.iter().zip(&f.y_sites) {
            let expr = if is_list { Expr::parse_any(y) } else { Expr::parse(y) };
            let drawn = expr.ok().map(|x| one(x, site, String::new(), From::Shown(f)));
            all.extend(drawn.map(|a| Asked { one: !is_list, ..a }));
        }
        if let Along::Metric(x) = &f.x {
            all.extend(Expr::parse(x).ok().map(|x| one(x, &f.x_site, String::new(), From::Shown(f))));
        }
    }
    if let Some(search) = &e.search {
        let sides = Condition::parse(&search.until).map(|c| [c.left, c.right]);
        let side = |x| one(x, &search.until_site, String::new(), From::Points);
        all.extend(sides.into_iter().flatten().map(side));
    }
    all
}

/// A run of `need` in which no time passes: it has the names of all members.
fn names(e: &Experiment, need: &Need) -> Result<Run, Error> {
    Ok(match e.about() {
        About::Network => network::names(&e.scenario(&need.point, &need.overlay)?, &need.point)?,
        About::Contention => contention::names(&e.contended(&need.point, &need.overlay)?, &need.point),
        About::Model => Run::of_model(&need.point, Default::default(), Default::default()),
    })
}
