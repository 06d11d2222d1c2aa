//! The formulas of an algorithm as `contend explain` and the reference print them.
//!
//! Each algorithm file has a constant `FORMULAS`: the symbols, then for each event what happens, in the order of the
//! code. A formula is plain text that reads on a terminal; the reference makes MathML of it. Its grammar:
//!
//! - Names: letters and digits, also Greek ones, with a subscript after `_`: `W`, `RTT_min`, `x_{i,k}`. A name before
//!   `(` is a function, before `[` a sequence.
//! - Operators: `+ − · / ^`, relations `= ← ≤ ≥ < > ≈ ≠ ∈`, `−` also as a sign. `a · b / c` is one fraction.
//! - Groups: `(x)`, `|x|`, `⌊x⌋`, `⌈x⌉`, `√(x)`, `Σ_i (x)`, `{a, b}`.
//! - `"..."` are words.

/// A line of an algorithm's formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// What a symbol of the formulas means, with its unit. Parameters need none: they are symbols too.
    Symbol {
        /// The symbol.
        symbol: &'static str,
        /// The meaning.
        meaning: &'static str,
    },
    /// The event that the lines below it belong to: "an ACK that acknowledges data".
    On(&'static str),
    /// What then happens.
    Rule(Rule),
}

/// A formula, or a step in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The formula in the grammar of this module; in words if `is_math` is false. Words may have formulas between
    /// backticks.
    pub text: &'static str,
    /// True for a formula, false for words.
    pub is_math: bool,
    /// The condition, in words that may have formulas between backticks; empty if there is none.
    pub when: &'static str,
    /// The place in the source; empty if it is that of the rule before.
    pub cite: &'static str,
}

/// What `symbol` means.
pub const fn symbol(symbol: &'static str, meaning: &'static str) -> Line {
    Line::Symbol { symbol, meaning }
}

/// The event of the rules that follow.
pub const fn on(event: &'static str) -> Line {
    Line::On(event)
}

/// A formula and its place in the source.
pub const fn eq(text: &'static str, cite: &'static str) -> Line {
    Line::Rule(Rule { text, is_math: true, when: "", cite })
}

/// A step in words and its place in the source.
pub const fn step(text: &'static str, cite: &'static str) -> Line {
    Line::Rule(Rule { text, is_math: false, when: "", cite })
}

impl Line {
    /// The same rule under a condition. A symbol or an event has none.
    #[must_use]
    pub const fn when(mut self, when: &'static str) -> Line {
        if let Line::Rule(rule) = &mut self {
            rule.when = when;
        }
        self
    }
}
