//! EDCA: a station has four categories. Each category has a queue and a backoff.
//!
//! If the backoffs of several categories of one station end in the same instant, the cell sends the frame of the
//! highest category. The lower categories behave as after a collision, but use no airtime.

use super::dcf::Backoff;
use super::{Access, Busy, Category, Draw, Scheduling, Seen, Setting};
use crate::wifi::medium::phy::Standard;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param, Unit};
use contend_core::{Cx, Span};

/// Source.
pub const CITE: &str =
    "IEEE 802.11-2016 §10.22.2 and Table 9-137; IEEE 802.11e-2005 §7.3.2.29; scheduling: Starzetz 2006 §8.3, Fig. 8.12";
/// What it does.
pub const SUMMARY: &str = "Four categories in each station (EDCA): voice, video, best effort and background. They \
    differ in inter-frame space, window and TXOP limit. A flow's `ac` is the category of its packets.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "scheduling",
        &["sab", "sbb"],
        "scheduling after or before backoff. sab: each category contends separately, and the highest wins an internal \
            collision; sbb: one backoff as in DCF, for the packet of the highest category that waits when the MAC \
            becomes free",
    )
    .default("sab")
    .makes_categories(),
    Param::word(
        "table",
        &["802.11e", "802.11-2016"],
        "default parameters, which differ only in TXOP limits. 802.11e: best effort and background have none; \
            802.11-2016: they have 2528 us, with DSSS 3264 us",
    )
    .default("802.11e"),
    Param::word(
        "busy_slot",
        &["counted", "frozen"],
        "whether the slot in which another station begins to send counts as backoff. counted: it does, as in the \
            standard; frozen: it does not (sab only)",
    )
    .default("counted"),
    Param::new("vo", Unit::Group(CATEGORY), "parameters of voice that differ from the table (sab only)").default("{}"),
    Param::new("vi", Unit::Group(CATEGORY), "parameters of video that differ from the table (sab only)").default("{}"),
    Param::new("be", Unit::Group(CATEGORY), "parameters of best effort that differ from the table (sab only)")
        .default("{}"),
    Param::new("bk", Unit::Group(CATEGORY), "parameters of background that differ from the table (sab only)")
        .default("{}"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("aCWmin", "smallest contention window of the cell"),
    symbol("aCWmax", "largest contention window of the cell"),
    symbol("CW_min", "smallest window of the category"),
    symbol("CW_max", "largest window of the category"),
    symbol("AIFSN", "slots of its inter-frame space: 2 for vo and vi, 3 for be, 7 for bk"),
    symbol("AIFS", "its inter-frame space"),
    symbol("SIFS", "short inter-frame space"),
    symbol("slot", "duration of a slot"),
    symbol("CW", "contention window; `CW_min` at first"),
    symbol("b", "backoff, in slots"),
    on("the start, for what the file leaves open"),
    step(
        "`CW_min = max(1, ⌊(aCWmin + 1) / 4⌋) − 1`, `CW_max = max(1, ⌊(aCWmin + 1) / 2⌋) − 1` for vo",
        "IEEE 802.11-2016 Table 9-137",
    ),
    step("`CW_min = max(1, ⌊(aCWmin + 1) / 2⌋) − 1`, `CW_max = aCWmin` for vi", ""),
    step("`CW_min = aCWmin`, `CW_max = aCWmax` for be and bk", ""),
    step(
        "TXOP of vo and vi: 1504 and 3008 µs, 3264 and 6016 µs with DSSS; be and bk: one frame",
        "IEEE 802.11e-2005 §7.3.2.29",
    )
    .when("`table` is 802.11e"),
    step(
        "TXOP of vo, vi, be and bk: 2080, 4096, 2528 and 2528 µs; with DSSS 3264, 6016, 3264 and 3264 µs",
        "IEEE 802.11-2016 Table 9-137",
    )
    .when("`table` is 802.11-2016"),
    eq("AIFS = SIFS + AIFSN · slot", "§10.22.2.4"),
    on("an attempt of the category has ended, or a packet finds the medium busy and no backoff runs"),
    eq("CW ← min(2 · CW + 1, CW_max)", "§10.22.2.2").when("the attempt failed and the frame is tried again"),
    eq("CW ← CW_min", "").when("it succeeded, or the frame is given up"),
    step("`b` is drawn uniformly from 0 to `CW`", ""),
    on("a slot, after the medium was idle for `AIFS`"),
    eq("b ← b − 1", "§10.22.2.4").when("`b > 0`; with `busy_slot = counted` also in the slot in which another begins"),
    step("the highest category with `b = 0` sends; a lower one behaves as after a failure", "Starzetz 2006 §8.3"),
    step("it may send more frames, a SIFS apart, for the time of its TXOP", "IEEE 802.11-2016 §10.22.2.8"),
    on("a draw with `scheduling = sbb`"),
    step(
        "one backoff as in dcf serves all; the highest category that waits gives the packet when the MAC becomes free",
        "Starzetz 2006 §8.3",
    ),
];

/// Parameters of a category. Those that the file leaves out take the value of the table.
const CATEGORY: &[Param] = &[
    Param::integer("aifsn", "slots after SIFS that must be idle before a slot counts").range(1.0, 15.0),
    Param::integer("cwmin", "minimum contention window").range(0.0, 32_767.0),
    Param::integer("cwmax", "maximum contention window").range(0.0, 32_767.0),
    Param::time(
        "txop",
        "time for which the category may send several frames after it won the medium once; 0us: one frame",
    )
    .range(0.0, 0.1),
];

/// Builds the category that `cell` names.
///
/// # Errors
/// When a category's `cwmin` is larger than its `cwmax`, or a category has parameters where they have no effect.
pub fn build(args: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    if args.word("scheduling") == "sbb" {
        if let Some(c) = Category::ALL.iter().find(|c| args.group(c.name()).is_some_and(|g| *g != Args::default())) {
            return Err(Refusal::new(
                format!(
                    "{} has no parameters with scheduling = \"sbb\", where one backoff serves all categories",
                    c.name()
                ),
                "remove it",
            ));
        }
        let backoff = Backoff::new(&Args::default(), cell)?;
        return Ok(Box::new(Edca {
            backoff,
            aifsn: None,
            txop: Span::ZERO,
            busy: Busy::Cell,
            scheduling: Scheduling::BeforeBackoff,
        }));
    }
    // All four categories are checked, not only this one: an error in one of them is an error of the station.
    Category::ALL.iter().try_for_each(|c| Set::of(*c, args, &cell).map(drop))?;
    let set = Set::of(cell.category, args, &cell)?;
    let backoff = Backoff::new(&Args::default(), Setting { cw_min: set.cw_min, cw_max: set.cw_max, ..cell })?;
    let busy = if args.word("busy_slot") == "frozen" { Busy::Frozen } else { Busy::Boundary };
    Ok(Box::new(Edca { backoff, aifsn: Some(set.aifsn), txop: set.txop, busy, scheduling: Scheduling::AfterBackoff }))
}

/// Parameters of one category.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Set {
    aifsn: u32,
    cw_min: u32,
    cw_max: u32,
    txop: Span,
}

impl Set {
    /// Parameters of `category`: those of the file, and the table's defaults for the others.
    fn of(category: Category, args: &Args, cell: &Setting) -> Result<Set, Refusal> {
        let default = Set::default(category, args.word("table") == "802.11-2016", cell);
        let empty = Args::default();
        let given = args.group(category.name()).unwrap_or(&empty);
        let or = |name: &str, default: u32| given.get(name).map_or(default, |_| given.integer(name) as u32);
        let txop = given.get("txop").map_or(default.txop, |_| given.time("txop"));
        let set = Set {
            aifsn: or("aifsn", default.aifsn),
            cw_min: or("cwmin", default.cw_min),
            cw_max: or("cwmax", default.cw_max),
            txop,
        };
        if set.cw_min > set.cw_max {
            return Err(Refusal::new(
                format!("{}: cwmin = {} is larger than cwmax = {}", category.name(), set.cw_min, set.cw_max),
                "write a smaller cwmin or a larger cwmax",
            ));
        }
        Ok(set)
    }

    /// The standard's default for a category; `revised` selects 802.11-2016.
    fn default(category: Category, revised: bool, cell: &Setting) -> Set {
        let (least, most) = (cell.cw_min, cell.cw_max);
        let part = |n: u32| ((least + 1) / n).max(1) - 1;
        // IEEE 802.11-2016 Table 9-137: AC_VO (aCWmin + 1) / 4 - 1 to (aCWmin + 1) / 2 - 1, AC_VI from there to aCWmin,
        // AC_BE and AC_BK aCWmin to aCWmax.
        let (aifsn, cw_min, cw_max) = match category {
            Category::Vo => (2, part(4), part(2)),
            Category::Vi => (2, part(2), least),
            Category::Be => (3, least, most),
            Category::Bk => (7, least, most),
        };
        // The first of each pair is for DSSS and HR/DSSS, the second for OFDM and ERP. 802.11e-2005 and up to
        // 802.11-2012: none for AC_BE and AC_BK.
        let (dsss, ofdm) = match (category, revised) {
            (Category::Vo, false) => (3264, 1504),
            (Category::Vi, false) => (6016, 3008),
            (Category::Be | Category::Bk, false) => (0, 0),
            (Category::Vo, true) => (3264, 2080),
            (Category::Vi, true) => (6016, 4096),
            (Category::Be | Category::Bk, true) => (3264, 2528),
        };
        let us = if matches!(cell.standard, Standard::Dsss | Standard::B) { dsss } else { ofdm };
        Set { aifsn, cw_min, cw_max, txop: Span::from_micros(us) }
    }
}

/// One category of a station; with `sbb`, the only backoff of the station.
#[derive(Debug)]
struct Edca {
    backoff: Backoff,
    aifsn: Option<u32>,
    txop: Span,
    busy: Busy,
    scheduling: Scheduling,
}

impl Access for Edca {
    fn draw(&mut self, cx: &mut Cx, why: Draw, _: &Seen) -> u32 {
        self.backoff.draw(cx, why)
    }
    fn aifsn(&self) -> Option<u32> {
        self.aifsn
    }
    fn txop(&self) -> Span {
        self.txop
    }
    fn busy(&self) -> Busy {
        self.busy
    }
    fn scheduling(&self) -> Scheduling {
        self.scheduling
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::medium::phy::{Phy, Preamble};
    use contend_core::registry::Value;

    fn set(standard: Standard, category: Category, table: &str) -> (u32, u32, u32, u64) {
        let mut args = Args::default();
        args.set("table", Value::Word(table.into()));
        let s = Set::of(category, &args, &Setting::of(&Phy::new(standard, Preamble::Long))).unwrap();
        (s.aifsn, s.cw_min, s.cw_max, s.txop.as_nanos() / 1000)
    }

    /// Windows derived by hand from aCWmin 15 (OFDM, ERP) and 31 (DSSS), aCWmax 1023.
    #[test]
    fn defaults_are_those_of_the_tables() {
        use Category::{Be, Bk, Vi, Vo};
        let e = |s, c| set(s, c, "802.11e");
        assert_eq!(
            [Vo, Vi, Be, Bk].map(|c| e(Standard::G, c)),
            [(2, 3, 7, 1504), (2, 7, 15, 3008), (3, 15, 1023, 0), (7, 15, 1023, 0)]
        );
        assert_eq!(
            [Vo, Vi, Be, Bk].map(|c| e(Standard::B, c)),
            [(2, 7, 15, 3264), (2, 15, 31, 6016), (3, 31, 1023, 0), (7, 31, 1023, 0)]
        );
        assert_eq!([Vo, Vi, Be, Bk].map(|c| set(Standard::A, c, "802.11-2016").3), [2080, 4096, 2528, 2528]);
    }

    #[test]
    fn a_category_takes_what_the_file_says_and_the_table_s_rest() {
        let mut vo = Args::default();
        vo.set("cwmin", Value::Integer(0));
        vo.set("txop", Value::Time(Span::ZERO));
        let mut args = Args::default();
        args.set("vo", Value::Group(vo));
        let cell = Setting::of(&Phy::new(Standard::G, Preamble::Long));
        assert_eq!(Set::of(Category::Vo, &args, &cell), Ok(Set { aifsn: 2, cw_min: 0, cw_max: 7, txop: Span::ZERO }));
        let mut be = Args::default();
        be.set("cwmax", Value::Integer(7));
        args.set("be", Value::Group(be));
        // The error is the same for every category that is built.
        assert!(build(&args, cell).unwrap_err().to_string().starts_with("be: cwmin = 15 is larger than cwmax = 7"));
        args.set("scheduling", Value::Word("sbb".into()));
        assert!(
            build(&args, cell).unwrap_err().to_string().starts_with("vo has no parameters with scheduling = \"sbb\"")
        );
    }
}
