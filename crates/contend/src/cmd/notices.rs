//! `contend notices`: the licences of contend and of the libraries inside.

use super::print;
use crate::Done;
use miette::Result;

pub fn run() -> Result<Done> {
    print(include_str!("../../../../THIRD-PARTY.txt"))?;
    Ok(Done::Well)
}
