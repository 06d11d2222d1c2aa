//! Notes about claims and checks that are not judged.

/// Stands between what is not judged and the reason.
const SINGLE: &str = " is not judged: ";

/// Most claims that a note names.
const NAMED: usize = 3;

/// The note that the claim or check `what` is not judged.
pub(super) fn note(what: &str, reason: &str) -> String {
    format!("{what}{SINGLE}{reason}")
}

/// The notes, with one for all that are not judged for the same reason. It takes the place of the first of them.
pub(crate) fn together(notes: Vec<String>) -> Vec<String> {
    let reason = |note: &str| note.split_once(SINGLE).map(|(_, reason)| reason.to_owned());
    let mut all: Vec<Vec<String>> = Vec::new();
    for note in notes {
        match all.iter_mut().find(|group| reason(&note).is_some_and(|why| reason(&group[0]) == Some(why))) {
            Some(group) => group.push(note),
            None => all.push(vec![note]),
        }
    }
    all.into_iter().map(one_note).collect()
}

/// The note in place of several with the same reason.
fn one_note(mut group: Vec<String>) -> String {
    if group.len() == 1 {
        return group.remove(0);
    }
    let what = |note: &String| note.split_once(SINGLE).map_or_else(String::new, |(what, _)| what.to_owned());
    let reason = group[0].split_once(SINGLE).map_or("", |(_, reason)| reason);
    let named: Vec<String> = group.iter().take(NAMED).map(what).collect();
    let more = match group.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more} are not judged: {reason}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_judged_for_one_reason_is_one_note() {
        let mut notes = vec!["the divisor is 0".to_owned()];
        notes.extend(["a", "b", "c", "d", "e"].map(|name| note(&format!("claim {name}"), "no point")));
        notes.push(note("check f", "no run"));
        let expected = [
            "the divisor is 0",
            "claim a, claim b, claim c and 2 more are not judged: no point",
            "check f is not judged: no run",
        ];
        assert_eq!(together(notes), expected);
        assert_eq!(together(vec![]), Vec::<String>::new());
    }
}
