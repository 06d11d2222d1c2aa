//! Runs every controller over the vectors in `vectors/cc/<name>/` (format: `vectors/cc/README.md`).

use crate::common::controller::run;
use crate::common::{contributing, each_vector};
use contend_core::cc::REGISTRY;

#[test]
fn every_controller_follows_its_vectors() {
    each_vector("cc", REGISTRY, run);
}

/// The congestion controller of a recipe in `CONTRIBUTING.md`, in its own registry.
#[path = "recipes"]
mod recipes {
    pub(crate) use contend_core::cc::*;
    contend_core::registry!(Build; fixed_window);
}

#[test]
fn the_recipe_for_a_congestion_controller_compiles_and_follows_its_vector() {
    let others = contributing::shows("A congestion controller", include_str!("recipes/fixed_window.rs"));
    assert_eq!(others.len(), 1, "a vector");
    run(&recipes::REGISTRY[0], &others[0], "CONTRIBUTING.md");
}
