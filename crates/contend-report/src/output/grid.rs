//! Tables of texts on the terminal: columns, colours, and text that is wrapped.

use contend_judge::judging::check::{MET, NOT_MET};

/// Maximum width of running text; also the width of a table when the terminal's width is unknown.
pub const WIDTH: usize = 100;

/// A table of texts.
pub(super) struct Grid {
    head: Vec<String>,
    /// A row with a single text is a heading for the rows below it.
    pub(super) rows: Vec<Vec<String>>,
    /// Texts below each row; empty if no row has any.
    pub(super) under: Vec<Vec<String>>,
    /// Columns that are aligned left.
    pub(super) left: Vec<usize>,
    /// Number of leading columns that name a row.
    pub(super) names: usize,
}

impl Grid {
    pub(super) fn new(head: Vec<String>) -> Grid {
        Grid { head, rows: Vec::new(), under: Vec::new(), left: vec![0], names: 1 }
    }

    /// Renders the table. If it is wider than `width`, units move below the names. Columns that still do not fit are
    /// printed below as a further part, which repeats the names of the rows.
    pub(super) fn render(&self, paint: Paint, width: usize) -> String {
        let mut heads = vec![self.head.clone()];
        let mut widths = self.widths(&heads);
        if across(&widths) > width {
            let over = self.head.iter().map(|h| {
                h.split_once(" [")
                    .map_or((h.clone(), String::new()), |(name, unit)| (name.to_owned(), format!("[{unit}")))
            });
            let (names, units) = over.unzip();
            heads = vec![names, units];
            widths = self.widths(&heads);
        }
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for i in self.names.min(self.head.len().saturating_sub(1))..self.head.len() {
            let of = |columns: &[usize]| {
                across(&columns.iter().chain([&i]).filter_map(|c| widths.get(*c)).copied().collect::<Vec<_>>())
            };
            match parts.last_mut() {
                Some(part) if of(part) <= width => part.push(i),
                _ => parts.push((0..self.names.min(i)).chain([i]).collect()),
            }
        }
        let part = |(number, columns): (usize, &Vec<usize>)| {
            self.part(&heads, &widths, columns, paint, (number == 0).then_some(width))
        };
        parts.iter().enumerate().map(part).collect::<Vec<_>>().join("\n")
    }

    /// The width of each column with these heads.
    fn widths(&self, heads: &[Vec<String>]) -> Vec<usize> {
        let rows = || self.rows.iter().filter(|r| r.len() > 1).chain(heads);
        let width = |i: usize| rows().filter_map(|r| r.get(i)).map(|c| visible(c)).max().unwrap_or(0);
        (0..self.head.len()).map(width).collect()
    }

    /// Renders some columns; texts below the rows are wrapped to `under` columns.
    fn part(
        &self,
        heads: &[Vec<String>],
        widths: &[usize],
        columns: &[usize],
        paint: Paint,
        under: Option<usize>,
    ) -> String {
        let line = |cells: &[String]| {
            if let [heading] = cells {
                return paint.bold(&format!("{heading}\n"));
            }
            let mut out = String::new();
            for (nth, &i) in columns.iter().enumerate() {
                let (Some(cell), Some(width)) = (cells.get(i), widths.get(i)) else { continue };
                let pad = " ".repeat(width - visible(cell));
                out += if nth > 0 { "  " } else { "" };
                out += &if self.left.contains(&i) { format!("{cell}{pad}") } else { format!("{pad}{cell}") };
            }
            out.trim_end().to_owned() + "\n"
        };
        let shown: Vec<usize> = columns.iter().filter_map(|c| widths.get(*c)).copied().collect();
        let mut out: String = heads.iter().map(|h| line(h)).filter(|l| l != "\n").map(|l| paint.bold(&l)).collect();
        out += &paint.dim(&("─".repeat(across(&shown)) + "\n"));
        for (i, row) in self.rows.iter().enumerate() {
            out += &line(row);
            if let (Some(width), Some(texts)) = (under, self.under.get(i)) {
                for text in texts.iter().filter(|t| !t.is_empty()) {
                    out += &paint.dim(&format!("    {}\n", wrapped(text, width.min(WIDTH), 4)));
                }
            }
        }
        out
    }
}

/// The total width of columns with these widths.
fn across(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Wraps `text` to lines of at most `width` columns. All lines but the first are indented by `indent`.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let (mut out, mut column) = (String::new(), indent);
    for word in text.split_whitespace() {
        let long = word.chars().count();
        if column > indent && column + 1 + long > width {
            out += &format!("\n{}", " ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += long;
    }
    out
}

/// Width of a text on a terminal; ANSI sequences have no width.
fn visible(text: &str) -> usize {
    let mut n = 0;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '\x1b' => escaped = true,
            'm' if escaped => escaped = false,
            _ if escaped => {}
            _ => n += 1,
        }
    }
    n
}

/// True if ANSI colours are used.
#[derive(Clone, Copy)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn with(self, code: &str, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        // Keep the line break outside the colour, so that a pager does not colour the next line.
        let (body, end) = text.strip_suffix('\n').map_or((text, ""), |body| (body, "\n"));
        format!("\x1b[{code}m{body}\x1b[0m{end}")
    }
    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }
    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }
    pub(super) fn answer(self, answer: &str, text: &str) -> String {
        self.with(
            match answer {
                MET => "32",
                NOT_MET => "31",
                _ => "33",
            },
            text,
        )
    }
    pub(super) fn verdict(self, verdict: &str, text: &str) -> String {
        self.with(
            match verdict {
                "reproduced" => "32",
                "undecided" => "33",
                _ => "31",
            },
            text,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_only() {
        assert_eq!(wrapped("one two three", 9, 2), "one two\n  three");
        assert_eq!(wrapped("incomprehensibilities a", 9, 2), "incomprehensibilities\n  a");
        assert_eq!(wrapped("", 9, 2), "");
    }

    #[test]
    fn a_wide_table_puts_units_below_and_then_goes_on_below() {
        let mut grid = Grid::new(["key", "goodput [Mb/s]", "loss [%]", "jain"].map(String::from).to_vec());
        grid.rows.push(["a", "1.234", "0.5", "0.99"].map(String::from).to_vec());
        grid.under.push(vec!["a few words".into(), String::new()]);
        let render = |width| grid.render(Paint(false), width);
        assert_eq!(
            render(35),
            "key  goodput [Mb/s]  loss [%]  jain\n───────────────────────────────────\na             1.234       0.5  \
                0.99\n    a few words\n"
        );
        assert_eq!(
            render(34),
            "key  goodput  loss  jain\n      [Mb/s]   [%]\n────────────────────────\na      1.234   0.5  0.99\n    a \
                few words\n"
        );
        assert_eq!(
            render(18),
            "key  goodput  loss\n      [Mb/s]   [%]\n──────────────────\na      1.234   0.5\n    a few words\n\nkey  \
                jain\n─────────\na    0.99\n"
        );
        assert!(render(14).starts_with(
            "key  goodput\n      [Mb/s]\n────────────\na      1.234\n    a few\n    words\n\nkey  loss\n"
        ));
    }

    #[test]
    fn colours_take_no_width() {
        assert_eq!(visible("\x1b[32m✓ reproduced\x1b[0m"), visible("✓ reproduced"));
    }
}
