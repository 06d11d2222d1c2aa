//! The name at a place in the text of an experiment file: what an editor explains under its cursor.
//!
//! A scanner and not a parser: while it is written, the text is wrong most of the time. What is not closed ends where
//! the next key or heading begins.

use crate::keys::with_members;
use crate::knows;
use contend_core::registry::{Param, Unit};
use contend_experiment::reading::file::keys::{Algorithm, FILE, Key, Kind, RESERVED, Table, keys};

/// The name that a reader of the TOML text `text` wants explained whose cursor is at byte `at`, as
/// [`explained`](crate::explained) takes it:
///
/// - on a key or its `=`, the path of the key without numbers and names of tables: `ap.queue.limit`, `flow.tcp`. If
///   nothing has this path, the longest beginning of it that is known (`ap.queue` for its `kind`), else its last name;
/// - on a heading, the table: `[[flow]]`;
/// - on a text that is an algorithm, a variant, a closed form or a word of its key, or a key path: that name.
///
/// `None` in comments and everywhere else. Any text and any place will do.
pub fn key_at(text: &str, at: usize) -> Option<String> {
    let tokens = tokens(text);
    let mut scan = Scan { text, at, tokens: &tokens, names: Names { keys: keys() }, heading: vec![], open: vec![] };
    scan.name()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A name or number without quotes.
    Bare,
    /// A text in quotes.
    Quoted,
    /// One of `[]{}=.,`.
    Sign(u8),
    Newline,
    Comment,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    what: What,
    /// The bytes of the text.
    start: usize,
    end: usize,
}

impl Token {
    fn is(self, sign: u8) -> bool {
        self.what == What::Sign(sign)
    }

    fn is_name(self) -> bool {
        matches!(self.what, What::Bare | What::Quoted)
    }
}

/// The pieces of a text. They begin and end beside ASCII characters or the ends of the text.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut all = vec![];
    let mut start = 0;
    while let Some(&first) = bytes.get(start) {
        let rest = &bytes[start..];
        let until = |is_end: fn(&u8) -> bool| rest.iter().position(is_end).unwrap_or(rest.len());
        let (what, length) = match first {
            b'\n' => (What::Newline, 1),
            b' ' | b'\t' | b'\r' => {
                start += 1;
                continue;
            }
            b'#' => (What::Comment, until(|b| *b == b'\n')),
            b'"' | b'\'' => (What::Quoted, quoted(rest, first)),
            b'[' | b']' | b'{' | b'}' | b'=' | b'.' | b',' => (What::Sign(first), 1),
            _ => (What::Bare, until(|b| b" \t\r\n#\"'[]{}=.,".contains(b))),
        };
        all.push(Token { what, start, end: start + length });
        start += length;
    }
    all
}

/// The length of the quoted text at the beginning of `rest`. A text on one line ends at the end of the line at the
/// latest.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let is_long = rest.starts_with(&[quote; 3]);
    let mut at = if is_long { 3 } else { 1 };
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' if quote == b'"' && rest.get(at + 1).is_some_and(|b| *b != b'\n' || is_long) => at += 2,
            b'\n' if !is_long => return at,
            _ if byte == quote && !is_long => return at + 1,
            // Up to two quotes may stand before the three that close.
            _ if byte == quote && rest[at..].starts_with(&[quote; 3]) && rest.get(at + 3) != Some(&quote) => {
                return at + 3;
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// A table or list that is not closed yet.
struct Open {
    /// The sign that closes it.
    close: u8,
    /// The path of the key whose value it is or is in.
    path: Vec<String>,
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    tokens: &'a [Token],
    names: Names,
    /// The path of the last heading.
    heading: Vec<String>,
    open: Vec<Open>,
}

impl Scan<'_> {
    fn name(&mut self) -> Option<String> {
        // Where a key or heading may begin.
        let mut is_key = true;
        // The key whose value comes.
        let mut path = vec![];
        let mut i = 0;
        while let Some(&token) = self.tokens.get(i).filter(|t| t.start <= self.at) {
            i += 1;
            let is_here = self.at <= token.end;
            let in_table = self.open.last().is_none_or(|o| o.close == b'}');
            match token.what {
                What::Comment if is_here => return None,
                What::Newline => {
                    if self.is_unclosed(i) {
                        self.open.clear();
                    }
                    is_key |= self.open.is_empty();
                }
                What::Sign(b'[') if is_key && self.open.is_empty() => {
                    let end = self.heading_end(i - 1);
                    let (parts, _) = self.parts_of(i - 1, end);
                    if self.tokens[i - 1..end].last().is_some_and(|last| self.at <= last.end) {
                        let brackets = if self.tokens.get(i).is_some_and(|t| t.is(b'[')) { 2 } else { 1 };
                        let (left, right) = ("[".repeat(brackets), "]".repeat(brackets));
                        let heading = format!("{left}{}{right}", parts.join("."));
                        return Some(heading)
                            .filter(|h| !parts.is_empty() && knows(h))
                            .or_else(|| self.names.named(&parts));
                    }
                    self.heading = parts;
                    is_key = false;
                    i = end;
                }
                What::Bare | What::Quoted if is_key && in_table => {
                    let mut end = i;
                    while self.tokens.get(end).is_some_and(|t| t.is_name() || t.is(b'.')) {
                        end += 1;
                    }
                    let (own, is_quoted) = self.parts_of(i - 1, end);
                    path = self.names.joined(self.open.last().map_or(&self.heading, |o| &o.path), own, is_quoted);
                    let equals = self.tokens.get(end).filter(|t| t.is(b'='));
                    let last = equals.map_or(self.tokens[end - 1].end, |t| t.start);
                    if self.at <= last {
                        return self.names.named(&path);
                    }
                    i = end + usize::from(equals.is_some());
                    is_key = false;
                }
                What::Quoted if is_here => return self.names.value(&path, self.content(token)),
                What::Sign(open @ (b'[' | b'{')) => {
                    let close = if open == b'[' { b']' } else { b'}' };
                    self.open.push(Open { close, path: path.clone() });
                    is_key = open == b'{';
                }
                What::Sign(close @ (b']' | b'}')) => {
                    if let Some(at) = self.open.iter().rposition(|o| o.close == close) {
                        path.clone_from(&self.open[at].path);
                        self.open.truncate(at);
                    }
                    is_key = false;
                }
                What::Sign(b',') => is_key = !self.open.is_empty() && in_table,
                _ => {}
            }
        }
        None
    }

    /// The text of a name, without its quotes.
    fn content(&self, token: Token) -> &str {
        let text = self.text.get(token.start..token.end).unwrap_or_default();
        if token.what == What::Quoted { text.trim_matches(['"', '\'']) } else { text }
    }

    /// The names in some tokens, split at dots, and whether one of them is quoted.
    fn parts_of(&self, from: usize, to: usize) -> (Vec<String>, bool) {
        let names = || self.tokens[from..to].iter().filter(|t| t.is_name());
        let parts = names().flat_map(|t| self.content(*t).split('.')).filter(|p| !p.trim().is_empty());
        (parts.map(str::to_owned).collect(), names().any(|t| t.what == What::Quoted))
    }

    /// The token after the heading that begins with the token `from`.
    fn heading_end(&self, from: usize) -> usize {
        let rest = &self.tokens[from..];
        let is_inside = |t: &&Token| t.is_name() || t.is(b'.') || t.is(b'[');
        let inside = rest.iter().take_while(is_inside).count();
        from + inside + rest[inside..].iter().take(2).take_while(|t| t.is(b']')).count()
    }

    /// True if what is open was left open: after the newline before the token `next`, a key or heading begins that
    /// cannot be inside.
    fn is_unclosed(&self, next: usize) -> bool {
        let Some(open) = self.open.last() else { return false };
        let is_blank = |t: &&Token| matches!(t.what, What::Newline | What::Comment);
        let rest = &self.tokens[next.min(self.tokens.len())..];
        let rest = &rest[rest.iter().take_while(is_blank).count()..];
        let keys = rest.iter().take_while(|t| t.is_name() || t.is(b'.')).count();
        if keys > 0 && rest.get(keys).is_some_and(|t| t.is(b'=')) {
            let before = self.tokens[..next].iter().rev().find(|t| !is_blank(t));
            return open.close == b']' || !before.is_some_and(|t| t.is(b'{') || t.is(b','));
        }
        // A list in a list looks like a heading. A heading has the name of a table.
        let name = rest.iter().find(|t| !t.is(b'[')).filter(|t| t.what == What::Bare).map(|t| self.content(*t));
        let is_table = |k: &Key| k.table().is_some() || k.kinds.iter().any(|kind| matches!(kind, Kind::Map(..)));
        rest.first().is_some_and(|t| t.is(b'[')) && FILE.keys.iter().any(|k| is_table(k) && Some(k.name) == name)
    }
}

/// The keys of a file by their paths.
struct Names {
    keys: Vec<(String, &'static Table, &'static Key)>,
}

impl Names {
    fn key(&self, path: &[String]) -> Option<&'static Key> {
        let path = path.join(".");
        self.keys.iter().find(|k| k.0 == path).map(|k| k.2)
    }

    /// The longest beginning of `path` that is a key, and its length.
    fn nearest(&self, path: &[String]) -> Option<(&'static Key, usize)> {
        (1..=path.len()).rev().find_map(|n| self.key(&path[..n]).map(|key| (key, n)))
    }

    /// True if `path` is that of a key, or of a parameter of an algorithm or a closed form, that can be explained.
    fn knows(&self, path: &[String]) -> bool {
        let joined = path.join(".");
        let Some((last, head)) = path.split_last().filter(|(_, head)| !head.is_empty()) else { return knows(&joined) };
        // `explained` takes any path that ends with the name of a parameter of a closed form.
        let has = |a: &Algorithm| a.params.iter().flat_map(with_members).any(|p| p.name == last);
        let is_parameter = match self.key(head) {
            Some(key) => key.name == "model" || key.family().is_some_and(|f| f.algorithms().iter().any(has)),
            None => false,
        };
        (is_parameter || self.key(path).is_some() || RESERVED.contains(&joined.as_str())) && knows(&joined)
    }

    /// The longest beginning of `path` that can be explained, also when a list of `values` of a sweep is left out, or
    /// else its last name.
    fn named(&self, path: &[String]) -> Option<String> {
        let longest = |path: &[String]| (1..=path.len()).rev().find(|n| self.knows(&path[..*n]));
        let without: Vec<String> = path.iter().filter(|p| *p != "values").cloned().collect();
        let (with, plain) = (longest(path), longest(&without));
        match (with, plain) {
            (Some(n), plain) if plain.is_none_or(|plain| plain <= n) => Some(path[..n].join(".")),
            (_, Some(n)) => Some(without[..n].join(".")),
            _ => path.last().filter(|name| knows(name)).cloned(),
        }
    }

    /// True if the keys of the table at `path` are key paths of other tables, as in [sweep], or names of the file.
    fn is_free(&self, path: &[String]) -> bool {
        let is_map = |key: &Key| key.kinds.iter().any(|kind| matches!(kind, Kind::Map(..)));
        path.first().is_some_and(|p| p == "sweep") || self.nearest(path).is_some_and(|(key, _)| is_map(key))
    }

    /// The path of the key `own` in the table at `base`.
    fn joined(&self, base: &[String], own: Vec<String>, is_quoted: bool) -> Vec<String> {
        // A quoted name with dots is a path of the file wherever it stands.
        if own.len() > 1 && (is_quoted || self.is_free(base)) {
            return self.settable(own);
        }
        base.iter().cloned().chain(own).collect()
    }

    /// A key path as `--set` takes it, without numbers and names of tables: `flow.0.count` and `flow.call.count` are
    /// `flow.count`.
    fn settable(&self, path: Vec<String>) -> Vec<String> {
        let path: Vec<String> = path.into_iter().filter(|p| p.parse::<usize>().is_err()).collect();
        let anonymous: Vec<String> =
            path.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, part)| part.clone()).collect();
        // A flow may have the name of a key: of two paths, the one that is a key.
        let known = |path: &[String]| self.nearest(path).map_or((false, 0), |(_, n)| (n == path.len(), n));
        if known(&anonymous) > known(&path) { anonymous } else { path }
    }

    /// The name that the text `value` of the key at `path` is, if it is one.
    fn value(&self, path: &[String], value: &str) -> Option<String> {
        let (key, length) = self.nearest(path)?;
        if key.kinds.iter().any(|kind| matches!(innermost(kind), Kind::KeyPath)) {
            let parts = value.split('.').map(str::to_owned).collect();
            // A name without dots is that of a parameter.
            return self.named(&self.settable(parts)).filter(|_| value.contains('.'));
        }
        let algorithms = key.family().map(|family| family.algorithms()).unwrap_or_default();
        let own: Vec<&Param> = match path[length..].last() {
            Some(name) => {
                algorithms.iter().flat_map(|a| a.params).flat_map(with_members).filter(|p| p.name == name).collect()
            }
            None => vec![],
        };
        let is_value = if own.is_empty() {
            let is_model = key.kinds.iter().any(|kind| matches!(kind, Kind::Model));
            is_model || key.names().contains(&value)
        } else {
            own.iter().any(|p| matches!(p.unit, Unit::Word(words) if words.contains(&value)))
        };
        Some(value.to_owned()).filter(|v| is_value && knows(v))
    }
}

/// The kind of the values in lists of lists.
fn innermost(kind: &'static Kind) -> &'static Kind {
    if let Kind::List(of) = kind { innermost(of) } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explained;
    use contend_experiment::reading::examples;
    use proptest::prelude::*;

    /// The name at the cursor `|` of a text.
    fn at(text: &str) -> Option<String> {
        let place = text.find('|').unwrap();
        key_at(&text.replacen('|', "", 1), place)
    }

    /// Texts with the cursor `|`, and the name there; empty if there is none.
    fn expect(cases: &[(&str, &str)]) {
        for (text, name) in cases {
            assert_eq!(at(text).as_deref(), Some(*name).filter(|n| !n.is_empty()), "{text}");
        }
    }

    #[test]
    fn a_key_is_named_by_its_path() {
        expect(&[
            ("dura|tion = \"70s\"", "duration"),
            ("[wifi]\n|slot = 1", "wifi.slot"),
            ("[wifi]\nslot |= 1", "wifi.slot"),
            ("[wifi]\nslot = |1", ""),
            ("[wifi]\n|  slot = 1", ""),
            ("[[flow]]\n# a\ntcp.rto.m|in = \"1s\"", "flow.tcp.rto.min"),
            ("[[flow]]\ntcp.cc = { kind = \"cubic\", beta_1024| = 1 }", "flow.tcp.cc.beta_1024"),
            ("[flow.tcp.cc]\nbeta|_1024 = 1", "flow.tcp.cc.beta_1024"),
            ("[ap]\nqueue = { kind = \"codel\", li|mit = \"20p\" }", "ap.queue.limit"),
            ("[ap]\nqueue = {\n  kind = \"codel\",\n  li|mit = \"20p\" }", "ap.queue.limit"),
            ("[ap]\nqueue.lim|it = 1", "ap.queue.limit"),
            ("[[ap]]\ncontrol = [{ kind = \"fcwa\", mod|e = 1 }]", "ap.control.mode"),
            ("[[claim]]\nexpect = { betw|een = [1, 2] }", "claim.expect.between"),
        ]);
    }

    #[test]
    fn a_key_without_a_path_is_named_by_what_is_known_of_it() {
        expect(&[
            ("[ap]\nqueue = { ki|nd = \"codel\" }", "ap.queue"),
            ("[param]\nra|te = 5", "param"),
            ("[wi]\nslot| = 1", "slot"),
            ("noth|ing = 1", ""),
        ]);
    }

    #[test]
    fn a_quoted_path_is_a_path_of_the_file() {
        expect(&[
            ("[sweep]\n\"ap.qu|eue\" = [1]", "ap.queue"),
            ("[sweep]\nwifi.sl|ot = [1]", "wifi.slot"),
            ("[sweep]\nzi|p = []", "sweep.zip"),
            ("[sweep]\n\"flow.0.co|unt\" = [1]", "flow.count"),
            ("[sweep]\n\"flow.bulk.tc|p\" = [1]", "flow.tcp"),
            ("[sweep]\n\"flow.udp.co|unt\" = [1]", "flow.count"),
            ("[sweep]\n\"param.ho|ps\" = [1]", "param"),
            ("[sweep]\n\"ap.queue\" = { values = [{ kind = \"fifo\", li|mit = 1 }] }", "ap.queue.limit"),
            ("[[claim]]\nwhen = { \"flow.0.win|dow\" = \"1p\" }", "flow.window"),
            ("[[claim]]\nwhen = { hom|e = \"old\" }", "claim.when"),
        ]);
    }

    #[test]
    fn a_value_is_named_if_it_is_a_name() {
        expect(&[
            ("[ap]\nqueue = \"fq|_codel\"", "fq_codel"),
            ("[ap]\nqueue = { kind = \"co|del\" }", "codel"),
            ("[ap]\nqueue.kind = 'co|del'", "codel"),
            ("[[flow]]\ntcp = \"west|wood+\"", "westwood+"),
            ("[[flow]]\ntcp = { kind = \"cu|bic\" }", "cubic"),
            ("[[flow]]\ntcp.cc = { kind = \"cubic\", form = \"lin|ux\" }", "linux"),
            ("[[flow]]\nfrom = \"ser|ver\"", "server"),
            ("[[flow]]\nname = \"cu|bic\"", ""),
            ("[[flow]]\ntcp = \"fq_co|del\"", ""),
            ("[sweep]\n\"ap.queue\" = { values = [\"red\", \"co|del\"] }", "codel"),
            ("[model]\nname = \"padhye.|rate\"", "padhye.rate"),
            ("dials = [\"ap.queue\", \"flow.0.co|unt\"]", "flow.count"),
            ("title = \"\"\"\ncubic|\n[wifi]\n\"\"\"", ""),
        ]);
    }

    #[test]
    fn a_heading_is_its_table_and_a_comment_nothing() {
        expect(&[
            ("|[[flow]]", "[[flow]]"),
            ("[[fl|ow", "[[flow]]"),
            ("[wifi]|", "[wifi]"),
            ("[flow.t|cp]", "flow.tcp"),
            ("[wifi] # sl|ot = 1", ""),
            ("# [wi|fi]", ""),
            ("slot = \"#\" # |", ""),
            ("|", ""),
            ("[|", ""),
            ("[]|", ""),
        ]);
    }

    #[test]
    fn what_was_left_open_ends_at_the_next_key_or_heading() {
        expect(&[
            ("title = \"Two\n[wifi]\nsl|ot", "wifi.slot"),
            ("[ap]\nqueue = { kind = \"codel\"\nacc|ess = 1", "ap.access"),
            ("[ap]\ncontrol = [\"fcwa\",\nacc|ess = 1", "ap.access"),
            ("[ap]\nqueue = {\n[wifi]\nsl|ot = 1", "wifi.slot"),
            ("[ap]\ncontrol = [\n\n[[fl|ow]]", "[[flow]]"),
            ("[ap]\n= 3 }] , x\nqueue.lim|it", "ap.queue.limit"),
            ("show = [\n  [a],\n]\n[wifi]\nsl|ot = 1", "wifi.slot"),
        ]);
    }

    #[test]
    fn every_key_of_the_examples_leads_to_an_explanation() {
        let mut seen = 0;
        for example in examples::ALL {
            let mut start = 0;
            let mut is_prose = false;
            for line in example.text.split_inclusive('\n') {
                let key = line.split_once('=').map_or("", |(key, _)| key.trim_end());
                let is_key = !is_prose && !key.is_empty() && !key.starts_with(['#', ' ', '[']);
                if is_key || line.starts_with('[') {
                    let name = key_at(example.text, start).unwrap_or_else(|| panic!("{}: {line}", example.name));
                    assert!(explained(&name, &[]).is_ok(), "{}: {line}: {name}", example.name);
                    // All keys have a path but the author's names.
                    let own = key.trim_matches('"').rsplit('.').next().unwrap_or_default();
                    assert!(!is_key || name == "param" || name.rsplit('.').next() == Some(own), "{line}: {name}");
                    seen += 1;
                }
                is_prose ^= line.matches("\"\"\"").count() == 1;
                start += line.len();
            }
        }
        assert!(seen > 500, "{seen}");
    }

    #[test]
    fn no_place_of_an_example_is_a_panic() {
        let text = examples::Example::named("edca-voice").unwrap().text;
        for at in (0..text.len() + 3).step_by(11) {
            let _ = key_at(text, at);
            let _ = key_at(&text[..text.floor_char_boundary(at)], at);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn no_text_is_a_panic(
            text in "([\\[\\]{}=.,#\n\\\\ é]|\"|\"\"\"|'|'''|ap|queue|flow|sweep|\"ap.queue\"|kind|codel|0){0,40}",
            at in 0..90_usize,
        ) {
            if let Some(name) = key_at(&text, at) {
                prop_assert!(knows(&name), "{}", name);
            }
        }
    }
}
