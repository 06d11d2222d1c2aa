//! The page of a paper: a table of the verdicts, then every experiment with its figures and claims.

use super::super::shape::points;
use super::super::{Error, ReportContext, beside_earlier};
use super::svg::escaped;
use super::{Figure, cautioned, charts, claims, document, method, own, runs_of, sweep};
use crate::experiment::results::Outcome;
use crate::reading::file::Verdict;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// One experiment on the page of its paper. It holds text only, so that the runs can be dropped.
#[derive(Debug)]
pub struct Chapter {
    name: String,
    title: String,
    /// Number of claims with each verdict of [`Verdict::ALL`].
    verdicts: [usize; 4],
    /// Number of claims with another verdict than the recorded one.
    differ: usize,
    html: String,
}

impl Chapter {
    /// The experiment `name` of a paper. A folder `name` beside the paper's page holds its results and its own page.
    ///
    /// The figures are those of the file's `[[figure]]` tables. Without such tables they are the main metrics along the
    /// sweep; without a sweep, the flows.
    pub fn new(name: &str, o: &Outcome, ctx: &ReportContext) -> Chapter {
        let count = |v: Verdict| o.claims.iter().filter(|c| c.verdict == v.name()).count();
        Chapter {
            name: name.to_owned(),
            title: o.title.clone(),
            verdicts: Verdict::ALL.map(count),
            differ: o.claims.iter().filter(|c| !c.as_recorded).count(),
            html: chapter(name, o, ctx),
        }
    }
}

fn chapter(name: &str, o: &Outcome, ctx: &ReportContext) -> String {
    let points = points(o);
    let mut out = format!("<section id=\"{0}\">\n<h2>{1}</h2>\n<p class=\"cite\">", escaped(name), escaped(&o.title));
    if !ctx.cite.is_empty() {
        let _ = write!(out, "{} · ", escaped(&ctx.cite));
    }
    let _ = writeln!(
        out,
        "<code>{}</code> · <a href=\"{}/report.html\">full report</a></p>",
        escaped(&o.file),
        address(name)
    );
    out += &cautioned(o);
    let figures: Vec<Figure> = match own::figures(o, ctx) {
        asked if !asked.is_empty() => asked,
        _ => match sweep::main(o, &points) {
            along if !along.is_empty() => along,
            _ => points.first().and_then(|p| charts::flow_bars(&runs_of(o, p), &ctx.command)).into_iter().collect(),
        },
    };
    if !figures.is_empty() {
        let html: String = figures.iter().map(|f| f.html(&ctx.command)).collect();
        let _ = writeln!(out, "<div class=\"figures\">{html}</div>");
    }
    out += &if o.claims.is_empty() {
        "<p class=\"pm\">This experiment has no claims.</p>\n".to_owned()
    } else {
        claims(o)
    };
    let _ = writeln!(out, "<p class=\"method\">{}</p>\n</section>", escaped(method(o, ctx).trim_end()));
    out
}

/// `name` as a relative URL.
fn address(name: &str) -> String {
    let mut out = String::new();
    for b in name.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => out.push(char::from(b)),
            _ => drop(write!(out, "%{b:02X}")),
        }
    }
    out
}

/// Writes the page of the paper `paper` to `path`; `command` is the command line of the call. An earlier page is moved
/// aside; returns the path to which it was moved.
///
/// # Errors
/// When the file cannot be written.
pub fn write_paper(paper: &str, command: &str, chapters: &[Chapter], path: &Path) -> Result<Option<PathBuf>, Error> {
    let page = page(paper, command, chapters);
    beside_earlier(path, |w| w.write_all(page.as_bytes()))
}

fn page(paper: &str, command: &str, chapters: &[Chapter]) -> String {
    let mut body =
        format!("<header>\n<p class=\"brand\">contend report of a paper</p>\n<h1>{}</h1>\n</header>\n", escaped(paper));
    body += "<section>\n<h2>Verdicts</h2>\n<div class=\"scroll\"><table class=\"numbers\">\n<thead><tr><th \
        class=\"key\">experiment</th><th class=\"key\"></th><th>claims</th>";
    for v in Verdict::ALL {
        let _ = write!(body, "<th>{}</th>", v.name());
    }
    body += "<th>not as recorded</th></tr></thead>\n<tbody>\n";
    let row = |name: String, title: &str, verdicts: [usize; 4], differ: usize| {
        let cells: String =
            [verdicts.iter().sum()].iter().chain(&verdicts).chain([&differ]).map(|n| format!("<td>{n}</td>")).collect();
        format!("<tr><td class=\"key\">{name}</td><td class=\"key\">{}</td>{cells}</tr>\n", escaped(title))
    };
    let mut all = ([0; 4], 0);
    for c in chapters {
        body +=
            &row(format!("<a href=\"#{}\">{}</a>", address(&c.name), escaped(&c.name)), &c.title, c.verdicts, c.differ);
        all.0.iter_mut().zip(c.verdicts).for_each(|(sum, n)| *sum += n);
        all.1 += c.differ;
    }
    body += &row("all".into(), "", all.0, all.1);
    body += "</tbody></table></div>\n<p class=\"method\">reproduced: measured inside the expected range; not \
        reproduced: outside, with the reason; contradiction: the \
             paper's own statements disagree; undecided: more seeds are needed. Ranges were chosen from the paper \
             before the runs.</p>\n</section>\n";
    chapters.iter().for_each(|c| body += &c.html);
    let _ = writeln!(
        body,
        "<footer><dl><dt>command</dt><dd><code>{}</code></dd><dt>contend</dt><dd><code>{}</code></dd></dl></footer>",
        escaped(command),
        env!("CARGO_PKG_VERSION")
    );
    document(paper, env!("CARGO_PKG_VERSION"), &body, "")
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_address_holds_any_name() {
        assert_eq!(super::address("sub/m1-downloads"), "sub/m1-downloads");
        assert_eq!(super::address("a b\"ä"), "a%20b%22%C3%A4");
    }
}
