//! CUBIC (body to come).
use super::Controller;
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::string::String;
/// Source.
pub const CITE: &str = "RFC 9438";
/// Summary.
pub const SUMMARY: &str = "";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Builds one.
pub fn build(a: &Args) -> Result<Box<dyn Controller>, String> {
    super::reno::build(a)
}
