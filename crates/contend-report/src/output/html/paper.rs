//! The page of a paper: the verdicts counted, the claims that are not reproduced, then every experiment with its
//! figures and claims.

use super::super::shape::points;
use super::super::{Error, ReportContext, Tally, beside_earlier, by_claim, whose};
use super::svg::escaped;
use super::{Figure, cautioned, charts, claim, claims, claims_table, document, method, own, runs_of, sweep, verdict};
use contend_experiment::reading::file::{Origin, Verdict};
use contend_experiment::results::{ClaimResult, Outcome};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// One experiment on the page of its paper. It holds text only, so that the runs can be dropped.
#[derive(Debug)]
pub struct Chapter {
    name: String,
    title: String,
    tally: Tally,
    /// Number of claims with another verdict than the recorded one.
    differ: usize,
    /// For each source, the claims that are not reproduced: their number and the rows of their table.
    failures: [(usize, String); Origin::ALL.len()],
    html: String,
}

impl Chapter {
    /// The experiment `name` of a paper. A folder `name` beside the paper's page holds its results and its own page.
    ///
    /// The figures are those of the file's `[[figure]]` tables. Without such tables they are the main metrics along the
    /// sweep; without a sweep, the flows.
    pub fn new(name: &str, o: &Outcome, ctx: &ReportContext) -> Chapter {
        Chapter {
            name: name.to_owned(),
            title: o.title.clone(),
            tally: Tally::of([o]),
            differ: o.claims.iter().filter(|c| !c.as_recorded).count(),
            failures: Origin::ALL.map(|origin| failures(name, o, origin)),
            html: chapter(name, o, ctx),
        }
    }
}

/// The claims of `origin` that are not reproduced under the reading that counts, the first: their number and rows.
fn failures(name: &str, o: &Outcome, origin: Origin) -> (usize, String) {
    let link = format!("<a href=\"#{}\">{}</a><br>", address(name), escaped(name));
    let failed = |c: &ClaimResult| c.verdict != Verdict::Reproduced.name();
    let claims = by_claim(&o.claims).filter(|readings| readings[0].source == origin.name() && failed(&readings[0]));
    let rows: Vec<String> =
        claims.map(|readings| readings.iter().filter(|c| failed(c)).map(|c| claim(c, &link)).collect()).collect();
    (rows.len(), rows.concat())
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

/// Writes the page of the paper in the folder `paper` to `path`; `about` is its README.md (may be empty), `command` the
/// command line of the call. An earlier page is moved aside; returns the path to which it was moved.
///
/// # Errors
/// When the file cannot be written.
pub fn write_paper(
    paper: &str,
    about: &str,
    command: &str,
    chapters: &[Chapter],
    path: &Path,
) -> Result<Option<PathBuf>, Error> {
    let page = page(paper, about, command, chapters);
    beside_earlier(path, |w| w.write_all(page.as_bytes()))
}

fn page(paper: &str, about: &str, command: &str, chapters: &[Chapter]) -> String {
    let (authors, text) = introduction(about);
    let title = if authors.is_empty() { paper } else { authors };
    let statements = sum(chapters).statements(Origin::Paper);
    let mut body = format!(
        "<header>\n<p class=\"brand\">contend report of a paper</p>\n<h1>{}</h1>\n<p class=\"cite\"><code>{}</code> · \
            {} experiments, {statements} statements of the paper</p>\n",
        escaped(title),
        escaped(paper),
        chapters.len(),
    );
    if !text.is_empty() {
        let _ = writeln!(body, "<p class=\"notes\">{}</p>", inline(&text));
    }
    body += "</header>\n";
    body += &(strip(chapters) + &navigation(chapters));
    body += &not_reproduced(chapters);
    body += &section("verdicts", "Verdicts", &verdicts(chapters));
    chapters.iter().for_each(|c| body += &c.html);
    let _ = writeln!(
        body,
        "<footer><dl><dt>command</dt><dd><code>{}</code></dd><dt>contend</dt><dd><code>{}</code></dd></dl></footer>",
        escaped(command),
        env!("CARGO_PKG_VERSION")
    );
    document(title, env!("CARGO_PKG_VERSION"), &body, include_str!("page.js"))
}

/// The tables of claims that are not reproduced, one for each source. Their headings have the counts of [`strip`].
fn not_reproduced(chapters: &[Chapter]) -> String {
    let all = sum(chapters);
    let mut out = String::new();
    for (i, origin) in Origin::ALL.into_iter().enumerate() {
        let claims: usize = chapters.iter().map(|c| c.failures[i].0).sum();
        let rows: String = chapters.iter().map(|c| c.failures[i].1.as_str()).collect();
        let statements = all.statements(origin);
        let failed = statements - all.reproduced(origin);
        if failed == 0 {
            continue;
        }
        let _ = write!(out, "<h3 id=\"{}\">{failed} of {statements} statements {}", failures_id(origin), whose(origin));
        // Several claims may judge the parts of one statement.
        if claims != failed {
            let _ = write!(out, ", in {claims} claims");
        }
        out += "</h3>\n";
        if origin != Origin::Paper {
            let tag = format!("[{}]: {} Counted apart from the paper's statements.", origin.name(), origin.meaning());
            let _ = writeln!(out, "<p class=\"method\">{}</p>", escaped(&tag));
        }
        out += &claims_table(&rows);
    }
    if out.is_empty() { out } else { section("failures", "What is not reproduced", &out) }
}

/// The id of the table of claims of `origin` that are not reproduced.
fn failures_id(origin: Origin) -> String {
    format!("failures-{}", origin.name())
}

/// The heading and the first paragraph of a README.md.
fn introduction(about: &str) -> (&str, String) {
    let (heading, rest) = about.split_once('\n').unwrap_or((about, ""));
    let paragraph = rest.trim_start().split("\n\n").next().unwrap_or_default();
    match heading.strip_prefix("# ") {
        Some(authors) => (authors.trim(), paragraph.lines().collect::<Vec<_>>().join(" ")),
        None => ("", String::new()),
    }
}

/// Markdown text of one paragraph as HTML: `*title*` is emphasised, text between backquotes is code.
fn inline(text: &str) -> String {
    let paired = |text: &str, mark: char, name: &str| {
        text.split(mark).enumerate().fold(String::new(), |out, (i, piece)| match i % 2 {
            0 => out + piece,
            _ => out + &format!("<{name}>{piece}</{name}>"),
        })
    };
    paired(&paired(&escaped(text), '*', "em"), '`', "code")
}

fn sum(chapters: &[Chapter]) -> Tally {
    Tally::sum(chapters.iter().map(|c| c.tally.clone()))
}

/// The number of the paper's statements with each verdict, in large letters. Below: those of other sources, with what
/// these are.
fn strip(chapters: &[Chapter]) -> String {
    let part = |(v, n): (Verdict, usize)| {
        let to = if v == Verdict::Reproduced || n == 0 { "verdicts".into() } else { failures_id(Origin::Paper) };
        format!("<li><a href=\"#{to}\"><strong>{n}</strong> {}</a></li>\n", verdict(v.name()))
    };
    let all = sum(chapters);
    let parts: String = Verdict::ALL.into_iter().zip(all.verdicts(Origin::Paper)).map(part).collect();
    let beside = match all.beside() {
        none if none.is_empty() => none,
        beside => {
            let apart = [Origin::Specification, Origin::Beyond].into_iter().filter(|o| all.statements(*o) > 0);
            let tags: String = apart.map(|o| format!(" [{}]: {}", o.name(), o.meaning())).collect();
            format!("<p class=\"method\">Counted apart: {beside}.{}</p>\n", escaped(&tags))
        }
    };
    format!("<h2>Statements of the paper</h2>\n<ul class=\"strip\">\n{parts}</ul>\n{beside}")
}

/// Links to the experiments; those with claims that are not reproduced have a sign and their number.
fn navigation(chapters: &[Chapter]) -> String {
    let link = |c: &Chapter| {
        let failed = c.tally.statements(Origin::Paper) - c.tally.reproduced(Origin::Paper);
        let failed = if failed > 0 { format!(" <b>✗ {failed}</b>") } else { String::new() };
        format!("<a href=\"#{}\" title=\"{}\">{}{failed}</a>\n", address(&c.name), escaped(&c.title), escaped(&c.name))
    };
    format!("<nav aria-label=\"Experiments\">\n{}</nav>\n", chapters.iter().map(link).collect::<String>())
}

fn section(id: &str, title: &str, content: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{content}</section>\n")
}

/// The table of verdicts: a row for each experiment. Verdicts that none has, and sources without statements, have no
/// column.
fn verdicts(chapters: &[Chapter]) -> String {
    let all = sum(chapters);
    let shown: Vec<usize> = (0..Verdict::ALL.len()).filter(|i| *i < 2 || all.verdicts(Origin::Paper)[*i] > 0).collect();
    let apart = [Origin::Specification, Origin::Beyond].into_iter().filter(|o| all.statements(*o) > 0);
    let apart: Vec<Origin> = apart.collect();
    let names = shown.iter().map(|i| Verdict::ALL[*i].name()).chain(apart.iter().map(|o| o.name()));
    let heads: String = names.map(|name| format!("<th>{name}</th>")).collect();
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"numbers\">\n<thead><tr><th class=\"key\">experiment</th><th \
            class=\"text\"></th><th>statements</th>{heads}<th>not as recorded</th></tr></thead>\n<tbody>\n",
    );
    let row = |name: String, title: &str, tally: &Tally, differ: usize| {
        let own = tally.verdicts(Origin::Paper);
        let counts = [own.iter().sum()].into_iter().chain(shown.iter().map(|i| own[*i])).map(|n: usize| n.to_string());
        let others = apart.iter().map(|o| match tally.share(*o) {
            none if none.is_empty() => "–".to_owned(),
            share => share,
        });
        let cells: String = counts.chain(others).chain([differ.to_string()]).map(|n| format!("<td>{n}</td>")).collect();
        format!("<tr><td class=\"key\">{name}</td><td class=\"text\">{}</td>{cells}</tr>\n", escaped(title))
    };
    for c in chapters {
        let link = format!("<a href=\"#{}\">{}</a>", address(&c.name), escaped(&c.name));
        out += &row(link, &c.title, &c.tally, c.differ);
    }
    out += &row("all".into(), "", &all, chapters.iter().map(|c| c.differ).sum());
    out + "</tbody></table></div>\n<p class=\"method\">reproduced: measured inside the expected range; not reproduced: \
        outside, with the reason; contradiction: the paper's own statements disagree; tie: neither side of a \
        comparison is ahead; undecided: more seeds are needed. A statement is a sentence of the paper; it counts \
        once, and its worst part decides. Specification, beyond: how many statements of our specification and beyond \
        the paper are reproduced; they are counted apart. Ranges are chosen from the text of the paper.</p>\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_address_holds_any_name() {
        assert_eq!(super::address("sub/m1-downloads"), "sub/m1-downloads");
        assert_eq!(super::address("a b\"ä"), "a%20b%22%C3%A4");
    }

    #[test]
    fn the_head_of_a_readme_is_the_head_of_the_page() {
        let (authors, text) = super::introduction("# Xu 2005\n\nK. Xu: *TCP & Jersey*,\nNJIT. `e1` is first.\n\n|\n");
        assert_eq!(authors, "Xu 2005");
        assert_eq!(super::inline(&text), "K. Xu: <em>TCP &amp; Jersey</em>, NJIT. <code>e1</code> is first.");
        assert_eq!(super::introduction(""), ("", String::new()));
    }
}
