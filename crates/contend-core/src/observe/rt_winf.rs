//! rt-Winf: capacity and available bandwidth of a link from the frames on the air, without probes.
//!
//! The capacity is a packet divided by the time of its exchange. The available bandwidth is the capacity times the
//! share of time that no exchange takes. A node measures in three roles: as sender, as receiver and as onlooker.
//!
//! The printed equations contradict the thesis's own claims (spec U1). Every reading is a parameter, and the defaults
//! are the repaired ones. The thesis as printed is `cap_def = "literal"`, `busy_def = "nav"`, `busy_scope = "own"`,
//! `min_sample = "0B"`, `window = "0s"`, `smallest = "previous"`.
//!
//! - Literal capacity: eqs. 4.3, 4.6 and 4.8, or 4.14 with `mode = "probe"`. It leaves out DIFS, backoff, RTS and CTS,
//!   so it is above what a link can carry. `cycle` takes the whole cycle: DIFS, backoff, all attempts. For packets of
//!   others the backoff is a mean one.
//! - Busy time by Duration fields (`nav`) leaves 2 to 3 Mb/s of a saturated link of 11 Mb/s. `nav_ifs` adds DIFS, a
//!   mean backoff and the frames before the Duration field begins. `carrier` adds up the frames themselves, also those
//!   that were not decoded and broadcasts; overlapping frames count once.
//! - `mode = "probe"` needs no RTS/CTS: every acknowledged data frame is a sample, and busy time is the time from the
//!   start of the data to the end of the ACK. Eq. 4.15 is read as (1 - sum T_Transfer / T_Total) C. The thesis's four
//!   probes before a transmission are an ordinary flow of four packets.
//! - A sample replaces the last one of its role. The thesis keeps the smaller capacity of several roles. Small frames
//!   then lower it, so `min_sample` sets the smallest packet that counts.

use super::effort::Effort;
use super::local::{Local, ONE, scale};
use super::transactions::{Role, Transactions, Transfer};
use super::{HeardFrame, Note, Observer, OwnExchange, Radio};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Amount, Args, Param};
use crate::time::Time;
use alloc::boxed::Box;
use counting::{Book, Count, Counting, Scope};

mod counting;

/// Source of the algorithm.
pub const CITE: &str = "Barreto 2012 §4.3";
/// What it does.
pub const SUMMARY: &str = "Capacity from the time of overheard exchanges, available bandwidth from the time that \
    Duration fields reserve: rt-Winf.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word("mode", &["rts", "probe"], "rts: samples need CTS and ACK; probe: data and ACK suffice").default("rts"),
    Param::word(
        "cap_def",
        &["literal", "cycle"],
        "time of a packet. literal: as printed (eqs. 4.3, 4.6, 4.8, 4.14); cycle: with DIFS, backoff, RTS and CTS",
    )
    .default("cycle"),
    Param::word(
        "busy_def",
        &["nav", "nav_ifs", "carrier"],
        "busy time. nav: Duration fields, as printed; nav_ifs: also DIFS, mean backoff and the frames before; carrier: \
            every frame that is sensed",
    )
    .default("nav_ifs"),
    Param::word(
        "busy_scope",
        &["own", "all"],
        "own: each role counts only its own exchanges; all: one count of the exchanges of all roles",
    )
    .default("all"),
    Param::amount("min_sample", "smallest packet that gives a capacity").default("1000B").range(0.0, 65_535.0),
    Param::time("window", "sliding window of the busy time; 0s: since the beginning").default("10s").range(0.0, 1e6),
    Param::word(
        "smallest",
        &["off", "previous", "all"],
        "smaller capacity of several roles. off: not taken; previous: the onlooker's, if that was the node's previous \
            role (eqs. 4.11, 4.12); all: the smallest of all roles that have a sample",
    )
    .default("all"),
    Param::word(
        "role",
        &["last", "sender", "receiver", "onlooker"],
        "role whose values the node gives to others. last: that of the last sample; sender, receiver, onlooker: this",
    )
    .default("last"),
    Param::flag(
        "cooperate",
        "the receiver's ACK carries its capacity, and the sender takes the smaller one (eq. 4.13)",
    )
    .default("true"),
    Param::word(
        "note",
        &["capacity", "both"],
        "what this ACK carries. capacity: only that; both: also the available bandwidth, and the sender takes the \
            smaller of each (§5.4)",
    )
    .default("capacity"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("S", "bytes of the IP packets of a data frame"),
    symbol("T_CTS", "when the CTS ended"),
    symbol("T_RTS", "when the RTS ended"),
    symbol("T_DATA", "when the data frame ended"),
    symbol("T_start", "when the data frame began"),
    symbol(
        "T_0",
        "when its sender began to contend, for its first attempt; for the data of others `T_DIFS + T_bo` before the \
            first frame that was heard",
    ),
    symbol("T_ACK", "when the ACK ended, or, as receiver, will end"),
    symbol("T_SIFS", "SIFS"),
    symbol("T_DIFS", "DIFS"),
    symbol("T_bo", "mean backoff of a first attempt"),
    symbol("D_RTS", "duration of an RTS"),
    symbol("D_CTS", "duration of a CTS"),
    symbol("NAV", "the Duration field of an RTS or CTS"),
    symbol("T_Busy", "busy time in `window`; with `busy_scope = own` of each role"),
    symbol("T_Total", "time that `window` covers; with `window = 0` from the first transaction to the end of the last"),
    symbol("C", "capacity of the link, of each role, in byte/s; the rate of the PHY before the first sample"),
    symbol("C_O", "the last sample as onlooker"),
    symbol("C_Rx", "capacity that the receiver's ACK carried"),
    symbol("AB", "available bandwidth of the link, in byte/s"),
    symbol("T_backoff", "backoff of a packet of the node over all its attempts"),
    symbol("T_m", "time between two packets of the node"),
    symbol("C_extra", "share of this time that DIFS and backoff take"),
    symbol("p", "share of the node's own attempts that failed"),
    on("an RTS to the node or one that it overhears, a CTS to it, an overheard CTS without its RTS; with `mode = rts`"),
    eq("T_Busy ← T_Busy + NAV", "Barreto 2012 eq. 4.5, 4.7, 4.9, 4.10").when("`busy_def = nav`"),
    eq("T_Busy ← T_Busy + T_DIFS + T_bo + D_RTS + NAV", "our choice").when("`busy_def = nav_ifs`, and it is an RTS"),
    eq("T_Busy ← T_Busy + T_DIFS + T_bo + D_RTS + T_SIFS + D_CTS + NAV", "")
        .when("`busy_def = nav_ifs`, and it is a CTS"),
    on("every frame that the node senses or sends, with `busy_def = carrier`"),
    step("its duration is added to `T_Busy`; where frames overlap the time counts once", "our choice"),
    on("data that are acknowledged, or addressed to the node"),
    eq("T_Busy ← T_Busy + T_ACK − T_start", "Barreto 2012 eq. 4.15").when("`mode = probe` and `busy_def = nav`"),
    eq("T_Busy ← T_Busy + T_DIFS + T_bo + T_ACK − T_start", "our choice")
        .when("`mode = probe` and `busy_def = nav_ifs`"),
    step("the next lines need `S ≥ min_sample`, and that the node heard the frames whose times they use", "our choice"),
    eq("C = S / (T_ACK − T_0)", "our choice").when("`cap_def = cycle`"),
    eq("C = S / (T_ACK − T_start)", "Barreto 2012 eq. 4.14").when("`cap_def = literal` and `mode = probe`"),
    eq("C = S / (T_DATA − T_RTS − 3 · T_SIFS)", "Barreto 2012 eq. 4.6")
        .when("`cap_def = literal` and `mode = rts`, as receiver"),
    eq("C = S / (T_ACK − T_CTS − 2 · T_SIFS)", "Barreto 2012 eq. 4.3, 4.8")
        .when("`cap_def = literal` and `mode = rts`, otherwise"),
    eq("C ← min(C, C_O)", "Barreto 2012 eq. 4.11, 4.12")
        .when("`smallest = previous`, and the sample before was an onlooker's"),
    step("`C` becomes the smallest of the last samples of all roles", "our choice").when("`smallest = all`"),
    eq("C ← min(C, C_Rx)", "Barreto 2012 eq. 4.13").when("`cooperate`, and the ACK carried it"),
    on("an exchange of the node itself ends"),
    eq("p ← p + (1 − p) / 16", "our choice")
        .when("no CTS answered the RTS, or without RTS no ACK the data; the first is `p` itself"),
    eq("p ← p − p / 16", "").when("otherwise"),
    eq("T_m = 2 · T_DIFS + 3 · T_SIFS + T_backoff + D_RTS + D_CTS + (T_DATA − T_start)", "Barreto 2012 eq. 5.20")
        .when("acknowledged; without RTS `2 · T_DIFS + T_SIFS + T_backoff + (T_DATA − T_start)`"),
    eq("C_extra = (T_DIFS + T_backoff) / T_m", "Barreto 2012 eq. 5.19").when("acknowledged"),
    on("a sender or a queue asks; an ACK carries `C` (with `note = both` also `AB`) as receiver"),
    eq("AB = C · (1 − T_Busy / T_Total)", "Barreto 2012 eq. 4.5, 4.7, 4.9, 4.10"),
    step("`C` and `AB` are those of the `role`", "our choice"),
];

/// Builds the observer.
///
/// # Errors
/// If `min_sample` is a number of packets.
pub fn build(args: &Args, radio: &Radio) -> Result<Box<dyn Observer>, Refusal> {
    let Amount::Bytes(min_sample) = args.amount("min_sample") else {
        return Err(Refusal::new("min_sample is a number of packets", "write bytes, like \"1000B\""));
    };
    let count = match args.word("busy_def") {
        "nav" => Count::Nav,
        "carrier" => Count::Carrier,
        _ => Count::NavIfs,
    };
    let probes = args.word("mode") == "probe";
    let book = if probes { Book::Transfers } else { Book::Reservations };
    let scope = if args.word("busy_scope") == "all" { Scope::All } else { Scope::Role };
    Ok(Box::new(RtWinf {
        radio: *radio,
        probes,
        cycle: args.word("cap_def") == "cycle",
        min_sample: u32::try_from(min_sample).unwrap_or(u32::MAX),
        smallest: match args.word("smallest") {
            "off" => Smallest::Off,
            "previous" => Smallest::Previous,
            _ => Smallest::All,
        },
        publish: match args.word("role") {
            "sender" => Some(Role::Sender),
            "receiver" => Some(Role::Receiver),
            "onlooker" => Some(Role::Onlooker),
            _ => None,
        },
        cooperate: args.flag("cooperate"),
        tells: args.word("note") == "both",
        transactions: Transactions::new(*radio),
        effort: Effort::default(),
        counting: Counting::new(*radio, count, book, scope, args.time("window")),
        sampled: [None; 3],
        offered: [None; 3],
        last: None,
        told: None,
        updated: Time::ZERO,
    }))
}

/// Which capacities are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Smallest {
    Off,
    Previous,
    All,
}

#[derive(Debug)]
struct RtWinf {
    radio: Radio,
    /// True in probe mode.
    probes: bool,
    cycle: bool,
    min_sample: u32,
    smallest: Smallest,
    /// The role whose values are published; `None`: that of the last sample.
    publish: Option<Role>,
    cooperate: bool,
    /// True if the note has the available bandwidth too.
    tells: bool,
    transactions: Transactions,
    effort: Effort,
    counting: Counting,
    /// Last sample of each role in bytes per second.
    sampled: [Option<u64>; 3],
    /// The same after the comparison with other roles and the note.
    offered: [Option<u64>; 3],
    /// Role of the last sample.
    last: Option<Role>,
    /// Available bandwidth of the last receiver in bytes per second.
    told: Option<u64>,
    updated: Time,
}

impl Observer for RtWinf {
    fn heard(&mut self, f: &HeardFrame<'_>) {
        self.counting.sensed(f);
        if !f.decoded {
            return;
        }
        let told = self.transactions.heard(f);
        if let Some(reserved) = &told.0 {
            self.counting.reserved(reserved);
        }
        if let Some(transfer) = &told.1 {
            self.transferred(transfer);
        }
    }

    fn sent(&mut self, x: &OwnExchange) {
        self.effort.sent(x, &self.radio);
        self.counting.sent(x);
        if let Some(t) = self.transactions.sent(x) {
            self.transferred(&t);
        }
    }

    fn note(&self, now: Time) -> Option<Note> {
        // 4 bytes, bit/s (spec G2).
        let bits = |bytes: u64| u32::try_from(bytes.saturating_mul(8)).unwrap_or(u32::MAX);
        let receiver = self.offered[Role::Receiver as usize].filter(|_| self.cooperate)?;
        let free = self.tells.then(|| scale(receiver, self.counting.free_q20(Role::Receiver, now), ONE));
        Some(Note { capacity: bits(receiver), available: free.map(bits) })
    }

    fn local(&self, now: Time) -> Local {
        let role = self.publish.or(self.last).unwrap_or(Role::Sender);
        // Spec G1: the PHY's rate before the first sample.
        let capacity = self.offered[role as usize].unwrap_or(self.radio.rate);
        self.effort.in_local(Local {
            capacity: Some(capacity),
            available: Some(scale(capacity, self.counting.free_q20(role, now), ONE)),
            told: self.told,
            updated: self.updated,
            ..Local::default()
        })
    }
}

impl RtWinf {
    fn transferred(&mut self, t: &Transfer) {
        self.counting.transferred(t);
        if t.bytes < self.min_sample {
            return;
        }
        let Some(sample) = self.capacity(t) else { return };
        let previous = self.last.replace(t.role);
        let role = t.role as usize;
        self.updated = t.ack;
        self.sampled[role] = Some(sample);
        let onlooker = self.sampled[Role::Onlooker as usize];
        let others = match self.smallest {
            Smallest::Off => None,
            Smallest::Previous => onlooker.filter(|_| previous == Some(Role::Onlooker)),
            Smallest::All => self.sampled.iter().copied().flatten().min(),
        };
        // Eq. 4.13.
        let note = t.note.filter(|_| self.cooperate);
        if t.role == Role::Sender {
            self.told = note.and_then(|n| n.available).map(|bits| u64::from(bits) / 8);
        }
        let note = note.map(|n| u64::from(n.capacity) / 8);
        self.offered[role] = [Some(sample), others, note].into_iter().flatten().min();
    }

    /// The capacity in bytes per second by one transfer; `None` if a frame that it needs was not heard.
    fn capacity(&self, t: &Transfer) -> Option<u64> {
        let sifs = self.radio.sifs;
        let time = match (self.cycle, self.probes, t.role) {
            (true, _, _) => t.ack.since(t.began),
            // Eq. 4.14.
            (false, true, _) => t.ack.since(t.data.0),
            // Eq. 4.6: three SIFS, although only two separate the RTS from the data.
            (false, false, Role::Receiver) => t.data.1.since(t.rts?).saturating_sub(sifs * 3),
            // Eqs. 4.3, 4.8.
            (false, false, _) => t.ack.since(t.cts?).saturating_sub(sifs * 2),
        };
        (u64::from(t.bytes) * 1_000_000_000).checked_div(time.as_nanos())
    }
}

#[cfg(test)]
mod tests;
