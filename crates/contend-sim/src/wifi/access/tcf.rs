//! TCF, described as a hash: each station has a place in a round, and saturated stations never collide.

use super::{Access, Draw, Reads, Residue, Seen, Setting};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, symbol};
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Starzetz 2006 §8.1.1: TCF as H(i, j) = (i + j) mod N";
/// What it does.
pub const SUMMARY: &str = "Stations take turns, as in TDM; station i waits (i + j) mod N slots in cycle j, so \
    saturated stations never collide.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::integer("stations", "places in a round; 0: one for each station of the cell")
    .default("0")
    .range(0.0, 65_535.0)
    .symbol("N")];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("i", "number of the station, from 0"),
    symbol("j", "number of the cycle: busy periods so far"),
    symbol("b", "backoff, in slots"),
    on("each cycle, after a busy period"),
    eq("b = mod(i + j, N)", "Starzetz 2006 §8.1.1"),
];

/// Builds the access rule.
///
/// # Errors
/// When there are fewer places than stations.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    let places = match args.integer("stations") as u32 {
        0 => cell.stations,
        n if n < cell.stations => {
            return Err(Refusal::new(
                format!("stations = {n} leaves some of the {} stations without a place", cell.stations),
                format!("write {} or more", cell.stations),
            ));
        }
        n => n,
    };
    Ok(Box::new(Tcf { rank: cell.rank, places: places.max(1) }))
}

/// A station's place in a round.
#[derive(Debug)]
struct Tcf {
    rank: u32,
    places: u32,
}

impl Access for Tcf {
    fn draw(&mut self, _: &mut Cx, _: Draw, seen: &Seen) -> u32 {
        // Every station counts the same busy periods, so all stations agree on the cycle.
        ((u64::from(self.rank) + seen.channel.busy()) % u64::from(self.places)) as u32
    }
    fn reads(&self) -> Reads {
        Reads::Channel
    }
    fn whole_cell(&self) -> bool {
        true
    }
    fn residue(&self) -> Residue {
        Residue::Redraw
    }
}
