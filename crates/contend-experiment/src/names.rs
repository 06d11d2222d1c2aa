//! Remedies in error messages, mostly for misspelt names.

/// Maximum number of names in a remedy: more than any table has keys, fewer than a large network has stations.
const LISTED: usize = 64;

/// The nearest of `words` to the misspelt `word`; `None` if no word is near.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Skip words that are much shorter than `word`: they cannot be near, and the comparison would be slow.
    let best = words
        .into_iter()
        .filter(|w| word.len() <= 4 * w.len() + 16)
        .map(|w| (strsim::damerau_levenshtein(&word.to_lowercase(), &w.to_lowercase()), w))
        .min_by_key(|x| x.0)?;
    (best.0 <= 1 + word.chars().count() / 3).then_some(best.1)
}

/// The remedy for the unknown name `name`: the nearest of `names`, or else a list of them.
pub fn remedy<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.into_iter().collect();
    match nearest(name, all.iter().copied()) {
        Some(n) => format!("did you mean `{n}`?"),
        None if all.is_empty() => "remove it: no name is valid here".to_owned(),
        None => format!("write one of {}", list(&all)),
    }
}

/// The remedy for `word`, which is none of `words`: the nearest one, and all of them.
pub fn suggest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    let list = list(&words);
    match nearest(word, words) {
        _ if list.is_empty() => "remove it: no name is valid here".into(),
        Some(best) => format!("did you mean `{best}`? Write one of: {list}"),
        None => format!("write one of: {list}"),
    }
}

/// The first of `names`, and whether there are more.
fn list(names: &[&str]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    if names.len() > LISTED { format!("{shown}, ...") } else { shown }
}
