//! Notes about claims and checks: what could not be measured, and what is not judged.

use std::fmt;

/// Most claims that a note names.
const NAMED: usize = 3;

/// A note about a claim or check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A sentence with its place.
    Said(String),
    /// A claim or check that is not judged.
    NotJudged {
        /// Its name, with `claim` or `check`.
        what: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Said(text) => f.write_str(text),
            Note::NotJudged { what, reason } => write!(f, "{what} is not judged: {reason}"),
        }
    }
}

/// The notes as texts: one for all that are not judged for the same reason, in place of the first of them.
pub(crate) fn together(notes: Vec<Note>) -> Vec<String> {
    let mut all: Vec<(Note, Vec<String>)> = Vec::new();
    for note in notes {
        let same = all.iter_mut().find(|(first, _)| match (first, &note) {
            (Note::NotJudged { reason: a, .. }, Note::NotJudged { reason: b, .. }) => a == b,
            _ => false,
        });
        match (same, note) {
            (Some((_, more)), Note::NotJudged { what, .. }) => more.push(what),
            (_, note) => all.push((note, vec![])),
        }
    }
    all.into_iter().map(|(first, more)| one_note(first, more)).collect()
}

/// The text of a note that stands for `more`, too.
fn one_note(first: Note, more: Vec<String>) -> String {
    match first {
        Note::NotJudged { what, reason } if !more.is_empty() => {
            let mut named = vec![what];
            let unnamed = more.len().saturating_sub(NAMED - 1);
            named.extend(more.into_iter().take(NAMED - 1));
            let rest = if unnamed > 0 { format!(" and {unnamed} more") } else { String::new() };
            format!("{}{rest} are not judged: {reason}", named.join(", "))
        }
        note => note.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_judged_for_one_reason_is_one_note() {
        let note = |what: String, reason: &str| Note::NotJudged { what, reason: reason.to_owned() };
        let mut notes = vec![Note::Said("the divisor is 0".to_owned())];
        notes.extend(["a", "b", "c", "d", "e"].map(|name| note(format!("claim {name}"), "no point")));
        notes.push(note("check f".to_owned(), "no run"));
        let expected = [
            "the divisor is 0",
            "claim a, claim b, claim c and 2 more are not judged: no point",
            "check f is not judged: no run",
        ];
        assert_eq!(together(notes), expected);
        assert_eq!(together(vec![]), Vec::<String>::new());
    }
}
