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
    let mut all: Vec<(String, Option<(Vec<String>, String)>)> = Vec::new();
    for text in notes {
        let parts = text.split_once(SINGLE).map(|(what, reason)| (what.to_owned(), reason.to_owned()));
        let same = |reason: &String| {
            all.iter().position(|(_, known)| known.as_ref().is_some_and(|(_, other)| other == reason))
        };
        match parts {
            Some((what, reason)) => match same(&reason) {
                Some(i) => all[i].1.iter_mut().for_each(|(names, _)| names.push(what.clone())),
                None => all.push((text, Some((vec![what], reason)))),
            },
            None => all.push((text, None)),
        }
    }
    let joined = |(text, group): (String, Option<(Vec<String>, String)>)| match group {
        Some((names, reason)) if names.len() > 1 => {
            let mut named = names[..names.len().min(NAMED)].join(", ");
            if names.len() > NAMED {
                named += &format!(" and {} more", names.len() - NAMED);
            }
            format!("{named} are not judged: {reason}")
        }
        _ => text,
    };
    all.into_iter().map(joined).collect()
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
