//! The algorithms that a file may name: those of contend, and those that a program around it adds at run time.

use contend_core::registry::{Entry, find};
use contend_core::{Refusal, ap, cc, qdisc};
use contend_sim::wifi::access;
use std::sync::{PoisonError, RwLock};

/// Congestion controllers.
pub static CONTROLLERS: Roster<cc::Build> = Roster::of(&cc::REGISTRY);
/// Queue disciplines.
pub static QDISCS: Roster<qdisc::Build> = Roster::of(&qdisc::REGISTRY);
/// Control blocks of the access point.
pub static CONTROLS: Roster<ap::Build> = Roster::of(&ap::REGISTRY);
/// Access rules.
pub static ACCESS: Roster<access::Build> = Roster::of(&access::REGISTRY);

/// A family that can be added to.
pub struct Roster<B: 'static> {
    built_in: &'static &'static [Entry<B>],
    /// With those that were added; `None` before the first.
    all: RwLock<Option<&'static [Entry<B>]>>,
}

impl<B: Copy> Roster<B> {
    const fn of(built_in: &'static &'static [Entry<B>]) -> Roster<B> {
        Roster { built_in, all: RwLock::new(None) }
    }

    /// All members: those of contend in the order of their registry, then those that were added.
    pub fn all(&self) -> &'static [Entry<B>] {
        self.all.read().unwrap_or_else(PoisonError::into_inner).unwrap_or(self.built_in)
    }

    /// Adds `entry`, or puts it in the place of an earlier one of its name. The entry stays until the program ends.
    ///
    /// # Errors
    /// When the name is that of a member of contend, or cannot be written in a file.
    pub fn add(&self, entry: Entry<B>) -> Result<(), Refusal> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !entry.name.starts_with(|c: char| c.is_ascii_lowercase()) || !entry.name.chars().all(plain) {
            let what = format!("`{}` cannot be the name of an algorithm", entry.name);
            return Err(Refusal::new(what, "use small letters, digits and `_`, like my_reno"));
        }
        if find(self.built_in, entry.name).is_some() {
            return Err(Refusal::new(format!("contend has `{}` already", entry.name), "choose another name"));
        }
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        let copy = |e: &Entry<B>| Entry { ..*e };
        let others = all.unwrap_or(self.built_in).iter().filter(|e| e.name != entry.name).map(copy);
        *all = Some(Vec::leak(others.chain([copy(&entry)]).collect()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::registry::Fact;

    #[test]
    fn what_is_added_is_found_by_its_name_and_replaces_itself_only() {
        let reno = find(CONTROLLERS.all(), "reno").unwrap();
        let own = |name, summary| Entry { name, summary, facts: &[Fact::Constant], ..*reno };
        CONTROLLERS.add(own("mine", "first")).unwrap();
        let first = find(CONTROLLERS.all(), "mine").unwrap();
        CONTROLLERS.add(own("mine", "second")).unwrap();
        assert_eq!((first.summary, find(CONTROLLERS.all(), "mine").unwrap().summary), ("first", "second"));
        assert_eq!(CONTROLLERS.all().len(), cc::REGISTRY.len() + 1);
        assert!(CONTROLLERS.add(own("reno", "")).unwrap_err().what.contains("already"));
        for name in ["", "Mine", "my-cc", "1st"] {
            assert!(CONTROLLERS.add(own(name, "")).unwrap_err().remedy.contains("my_reno"), "{name}");
        }
    }
}
