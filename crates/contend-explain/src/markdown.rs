//! Texts in Markdown.

/// A text in Markdown, outside of code.
pub fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let plain = |t: &str| t.replace('&', "&amp;").replace('<', "&lt;").replace('*', "\\*").replace("[[", "\\[\\[");
    parts.map(|(i, t)| if i % 2 == 0 { plain(t) } else { format!("`{t}`") }).collect()
}

/// A cell of a table in Markdown.
pub fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|").replace('\n', " ")
}
