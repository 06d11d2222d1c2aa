//! The recipe of `CONTRIBUTING.md` for an access rule, compiled and run.

/// The rule that the recipe adds, in a registry of its own.
#[path = ""]
mod rules {
    pub(crate) use contend_sim::wifi::access::*;
    contend_core::registry!(Build; constant);
}

use crate::common::law::all_hold;
use crate::common::*;
use crate::contributing;
use contend_core::registry::{Value, find};
use contend_sim::net::Net;

#[test]
fn the_recipe_for_an_access_rule_compiles_and_its_stations_contend() {
    assert!(contributing::shows("An access rule", include_str!("constant.rs")).is_empty());
    assert!(find(rules::REGISTRY, "constant").is_some());
    let collided = |cw: i64| {
        let mut s = saturated(phy_g(), MAC, 5, 54_000_000, 1);
        let cell = s.cell.as_mut().unwrap();
        let rule = choose(rules::REGISTRY, "constant", &[("cw", Value::Integer(cw))]);
        cell.stations.iter_mut().for_each(|station| station.access = rule.clone());
        assert!(all_hold(&s, &[at(0.3), at(1.0)]) > 100);
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(1.0));
        net.bss().unwrap().collisions()
    };
    // A larger window, fewer collisions.
    let [narrow, wide] = [15, 255].map(collided);
    assert!(wide > 0 && wide * 4 < narrow, "{narrow} and {wide} collisions");
}
