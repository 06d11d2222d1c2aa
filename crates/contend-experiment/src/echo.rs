//! Text from outside (a file, the command line, a path), made safe for messages: one line of bounded length, without
//! control sequences of a terminal.

/// Maximum number of characters of an error message.
pub const SENTENCE: usize = 500;
/// Maximum number of characters of a remedy, which may list names.
pub const REMEDY: usize = 1500;
/// Maximum number of characters of a name or a word.
pub const WORD: usize = 80;

/// `text` on one line of about `most` characters. Control characters, and characters that change the direction of text,
/// become escapes (`\n`, `\u001b`). A longer text loses its middle.
pub fn echo(text: &str, most: usize) -> String {
    // Fast path: a text has at most as many characters as bytes.
    let length = if text.len() <= most { text.len() } else { text.chars().count() };
    if length <= most {
        return escaped(text);
    }
    let (first, last) = (most * 2 / 3, most / 3);
    let byte = |character: usize| text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (text.get(..byte(first)).unwrap_or(text), text.get(byte(length - last)..).unwrap_or(""));
    format!("{} [{} characters left out] {}", escaped(head), length - first - last, escaped(tail))
}

/// True if `c` is a control character, or changes how the characters after it are shown.
pub fn is_unseen(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            c if is_unseen(c) => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_an_escape() {
        assert_eq!(
            echo("two\nlines\tand \u{1b}[31mred\u{9b}2J\u{202e}", 80),
            r"two\nlines\tand \u001b[31mred\u009b2J\u202e"
        );
        assert_eq!(echo("Zürich 日本 ✓ \"quoted\" \\n", 80), "Zürich 日本 ✓ \"quoted\" \\n");
    }

    #[test]
    fn a_long_text_loses_its_middle() {
        assert_eq!(echo("abcdefghijkl", 12), "abcdefghijkl");
        assert_eq!(echo("abcdefghijklm", 12), "abcdefgh [1 characters left out] jklm");
        assert_eq!(echo(&"ü".repeat(12), 12), "ü".repeat(12));
        let long = echo(&"ü\n".repeat(5_000_000), 90);
        // 45 times `ü\n` (the escaped line break takes two characters), and the note between two spaces.
        assert!(long.contains(" [9999910 characters left out] "), "{long}");
        assert_eq!(long.chars().count(), 45 * 3 + " [9999910 characters left out] ".len());
    }
}
