//! Helpers for the tests of several families.

use contend_core::registry::{Args, Param, Value};

/// A set of parameters with these values; the names are taken from `params`.
pub(crate) fn args(params: &'static [Param], values: &[(&str, Value)]) -> Args {
    let mut a = Args::default();
    for (name, v) in values {
        a.set(params.iter().find(|p| p.name == *name).unwrap().name, v.clone());
    }
    a
}
