//! The formulas of an algorithm: as text for the terminal, as Markdown with MathML for the reference.

use crate::markdown::prose;
use contend_core::formulas::{Line, Rule};
use contend_core::registry::{Param, Unit};
use contend_experiment::reading::file::keys::Algorithm;
use contend_report::formula::{Formula, pieces};
use contend_report::output::{WIDTH, wrapped};

/// Upper case for the first letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The condition of a rule with the word that begins it; empty if there is none.
fn condition(rule: &Rule) -> String {
    match rule.when {
        "" => String::new(),
        when if when.starts_with("otherwise") => format!(", {when}"),
        when => format!(", if {when}"),
    }
}

/// For the terminal.
pub fn text(a: &Algorithm) -> String {
    if a.formulas.is_empty() {
        return String::new();
    }
    let mut out = "\n  Formulas:\n".to_owned();
    for line in a.formulas {
        match line {
            Line::Symbol { symbol, meaning } => {
                out += &format!("    {symbol:<16} {}\n", wrapped(&meaning.replace('`', ""), WIDTH, 21))
            }
            Line::On(event) => out += &format!("\n    {}:\n", wrapped(&sentence(&event.replace('`', "")), WIDTH, 4)),
            Line::Rule(rule) => {
                let cite = if rule.cite.is_empty() { String::new() } else { format!("  ({})", rule.cite) };
                let all = format!("{}{}{cite}", rule.text, condition(rule)).replace('`', "");
                out += &format!("      {}\n", wrapped(&all, WIDTH, 8));
            }
        }
    }
    out
}

/// For the reference.
pub fn markdown(a: &Algorithm) -> String {
    let mut out = String::new();
    let whole: Vec<&str> = names(a).collect();
    let math = |text: &str| Formula::parse(text).map_or_else(|_| prose(text), |f| f.mathml(&whole));
    let words = |text: &str| {
        let piece = |p: Result<&str, Formula>| p.map_or_else(|formula| formula.mathml(&whole), prose);
        pieces(text).unwrap_or_default().into_iter().map(piece).collect::<String>()
    };
    if a.formulas.iter().any(|l| matches!(l, Line::Symbol { .. })) {
        out += "\n| symbol | meaning |\n| --- | --- |\n";
    }
    for line in a.formulas {
        match line {
            Line::Symbol { symbol, meaning } => out += &format!("| {} | {} |\n", math(symbol), words(meaning)),
            Line::On(event) => out += &format!("\n{}:\n\n", sentence(&words(event))),
            Line::Rule(rule) => {
                let body = if rule.is_math { math(rule.text) } else { words(rule.text) };
                let cite = if rule.cite.is_empty() { String::new() } else { format!(" ({})", words(rule.cite)) };
                out += &format!("- {body}{}{cite}\n", words(&condition(rule)));
            }
        }
    }
    out
}

/// The names that formulas may have without an explanation: parameters, their symbols and words.
fn names(a: &Algorithm) -> impl Iterator<Item = &'static str> {
    let words = |p: &Param| if let Unit::Word(words) = p.unit { words } else { &[] };
    a.params.iter().flat_map(move |p| [p.name, p.symbol].into_iter().chain(words(p).iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::everything;
    use contend_core::Refusal;
    use contend_core::formulas::Line;
    use contend_experiment::reading::file::keys::{Algorithm, Family};
    use contend_report::formula::{Formula, pieces};

    /// What is wrong with the formulas of an algorithm: each must be readable, use only symbols that are explained or
    /// parameters, and stand under an event with a place in the source.
    fn faults(a: &Algorithm) -> Vec<String> {
        let mut known: Vec<&str> = names(a).collect();
        known.extend(
            a.formulas.iter().filter_map(|l| if let Line::Symbol { symbol, .. } = l { Some(*symbol) } else { None }),
        );
        let mut found = Vec::new();
        let mut check = |read: Result<Vec<Formula>, Refusal>, symbols_too: bool| match read {
            Err(e) => found.push(format!("{}: {}", a.name, e.what)),
            Ok(all) => {
                for symbol in all.iter().flat_map(Formula::symbols).filter(|_| symbols_too) {
                    if !known.iter().any(|k| k.replace(['{', '}'], "") == symbol) {
                        found.push(format!("{}: the symbol `{symbol}` is not explained", a.name));
                    }
                }
            }
        };
        let of_words = |text: &str| Ok(pieces(text)?.into_iter().filter_map(Result::err).collect());
        let one = |text: &str| Formula::parse(text).map(|f| vec![f]);
        for line in a.formulas {
            match line {
                Line::Symbol { symbol, meaning } => {
                    check(one(symbol), false);
                    check(of_words(meaning), true);
                }
                Line::On(event) => check(of_words(event), true),
                Line::Rule(rule) => {
                    check(if rule.is_math { one(rule.text) } else { of_words(rule.text) }, true);
                    check(of_words(rule.when), true);
                }
            }
        }
        let first = a.formulas.iter().find(|l| !matches!(l, Line::Symbol { .. }));
        if first.is_some_and(|l| !matches!(l, Line::On(_))) {
            found.push(format!("{}: the first rule belongs to no event", a.name));
        }
        let uncited =
            a.formulas.iter().find_map(|l| if let Line::Rule(r) = l { Some(r.cite.is_empty()) } else { None });
        if uncited == Some(true) {
            found.push(format!("{}: the first rule has no place in the source", a.name));
        }
        found
    }

    #[test]
    fn formulas_are_readable_and_their_symbols_explained() {
        let found: Vec<String> = everything().iter().flat_map(faults).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    /// Families whose algorithms are known by their formulas.
    const WITH_FORMULAS: [Family; 8] = [
        Family::Controllers,
        Family::Estimators,
        Family::Observers,
        Family::Qdiscs,
        Family::Controls,
        Family::Access,
        Family::RateControls,
        Family::Recoveries,
    ];

    #[test]
    fn every_algorithm_has_formulas() {
        let without = everything().into_iter().filter(|a| WITH_FORMULAS.contains(&a.family) && a.formulas.is_empty());
        let names: Vec<String> = without.map(|a| format!("{} ({})", a.name, a.family.name())).collect();
        assert!(names.is_empty(), "without formulas: {}", names.join(", "));
    }
}
