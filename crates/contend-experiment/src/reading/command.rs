//! The command that makes the runs of an experiment.

use super::file::Experiment;

/// The command line that makes the runs of `e`.
pub fn command_line(e: &Experiment) -> String {
    let options = e.source.options().flat_map(|(option, value)| [option.to_owned(), quoted(value)]);
    let words: Vec<String> = ["contend run".to_owned(), quoted(&e.source.path)].into_iter().chain(options).collect();
    words.join(" ")
}

/// One argument, quoted for a shell if necessary.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::examples::Example;
    use crate::reading::file::read_with;

    #[test]
    fn a_command_line_can_be_typed_again() {
        assert_eq!(
            ["run", "ap.queue.limit=400p", "flow.0.count=[5, 50]", "it's", ""].map(quoted).join(" "),
            r"run ap.queue.limit=400p 'flow.0.count=[5, 50]' 'it'\''s' ''"
        );
    }

    #[test]
    fn an_experiment_has_the_command_line_that_makes_it() {
        let sets = [("seeds", "1..2"), ("sweep.ap.queue.kind", "fifo,red"), ("flow.0.tcp", "{ kind = \"cubic\" }")];
        let sets = sets.map(|(k, v)| (k.to_owned(), v.to_owned()));
        let e = read_with("hotspot", Example::named("hotspot").unwrap().text, &sets, |_, _| unreachable!()).unwrap();
        assert_eq!(
            command_line(&e),
            "contend run hotspot --seeds 1..2 --sweep ap.queue.kind=fifo,red --set 'flow.0.tcp={ kind = \"cubic\" }'"
        );
    }
}
