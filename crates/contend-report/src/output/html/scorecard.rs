//! The page of a scorecard: the subject, a row for each check, and a section for each test with its figures.

use super::super::ReportContext;
use super::super::scorecard::{Row, Scorecard, TestCard, TestVerdict, alternative, rows};
use super::svg::escaped;
use super::{cautioned, document, own};
use crate::output::table::{checked_text, look_text};
use contend_experiment::results::Outcome;
use std::fmt::Write as _;

/// The figures of the `[[figure]]` tables of a test, and what makes its results doubtful, as HTML.
pub fn test_figures(o: &Outcome, ctx: &ReportContext) -> String {
    let html: String = own::figures(o, ctx).iter().map(|f| f.html(&ctx.command)).collect();
    let html = if html.is_empty() { html } else { format!("<div class=\"figures\">{html}</div>\n") };
    cautioned(o) + &html
}

/// The page of `card`, with everything in it; `date` is that of the call, `confidence` that of the intervals.
pub fn scorecard_page(card: &Scorecard, date: &str, confidence: f64) -> String {
    let title = format!("{} under suite {}", card.subject.name, card.suite);
    let mut body = format!(
        "<header>\n<p class=\"brand\">contend scorecard</p>\n<h1>{}</h1>\n<p class=\"cite\">subject <code>{}</code> · \
         suite {} · {date}</p>\n</header>\n<ul class=\"strip\">\n",
        escaped(&title),
        escaped(&card.subject.text()),
        escaped(&card.suite),
    );
    for verdict in TestVerdict::ALL.into_iter().filter(|v| card.count(*v) > 0) {
        let _ = writeln!(body, "<li><strong>{}</strong> {}</li>", card.count(verdict), verdict_html(verdict, ""));
    }
    body += "</ul>\n<p class=\"method\">Tests by verdict. There is no total: the tests weigh differently, and how much \
             is for people to say (RFC 9743, section 5).</p>\n";
    body += &format!("<section id=\"checks\">\n<h2>Checks</h2>\n{}", table(card));
    let _ = writeln!(body, "<p class=\"method\">{}</p>\n</section>", escaped(&card.chance(confidence)));
    card.tests.iter().filter(|t| t.outcome.is_some()).for_each(|t| body += &section(card, t));
    body += &idle(card);
    let cite = [card.citation(date), card.bibtex(date)].map(|text| format!("<pre>{}</pre>", escaped(text.trim_end())));
    let _ = writeln!(body, "<section id=\"cite\">\n<h2>How to cite</h2>\n{}\n</section>", cite.concat());
    let _ = writeln!(
        body,
        "<footer><dl><dt>command</dt><dd><code>{}</code></dd><dt>contend</dt><dd><code>{}</code></dd><dt>suite</dt>\
         <dd><code>{} sha256 {}</code></dd></dl></footer>",
        escaped(&card.command),
        env!("CARGO_PKG_VERSION"),
        escaped(&card.suite),
        card.digest
    );
    let script = concat!(include_str!("page.js"), include_str!("scorecard.js"));
    document(&title, env!("CARGO_PKG_VERSION"), &body, script)
}

/// A verdict with its sign and colour; `word` in the place of its name unless empty.
fn verdict_html(verdict: TestVerdict, word: &str) -> String {
    let (class, sign) = match verdict {
        TestVerdict::Pass => ("reproduced", "✓"),
        TestVerdict::Fail => ("not-reproduced", "✗"),
        TestVerdict::NotDecided => ("undecided", "?"),
        TestVerdict::Shown | TestVerdict::NotApplicable | TestVerdict::NotSimulated => ("idle", "·"),
    };
    let word = if word.is_empty() { verdict.name() } else { word };
    format!("<span class=\"verdict {class}\"><b>{sign}</b> {}</span>", escaped(word))
}

fn table(card: &Scorecard) -> String {
    let rows = rows(card);
    let mut out = String::from("<p class=\"pick script\" id=\"filters\">");
    for verdict in TestVerdict::ALL.into_iter().filter(|v| rows.iter().any(|r| r.verdict == *v)) {
        let n = rows.iter().filter(|r| r.verdict == verdict).count();
        let _ =
            write!(out, "<label><input type=\"checkbox\" value=\"{0}\" checked> {0} ({n})</label> ", verdict.name());
    }
    out += "</p>\n<div class=\"scroll\"><table class=\"claims\" id=\"scorecard\">\n<thead><tr><th>test</th>\
            <th>check</th><th>verdict</th><th>measured</th><th>bound</th><th>origin</th><th>source</th></tr></thead>\n<tbody>\n";
    rows.iter().for_each(|r| out += &row(r));
    out + "</tbody></table></div>\n"
}

fn row(r: &Row) -> String {
    let c = r.check;
    let mut below = vec![c.what.clone()];
    if !c.why.is_empty() {
        below.push(format!("Bound: {}", c.why));
    }
    below.extend(r.others.iter().map(|c| alternative(c)));
    below.extend(Some(look_text(c.measured.look)).filter(|text| !text.is_empty()));
    let below: Vec<String> = below.iter().map(|text| escaped(text)).collect();
    let verdict = r.verdict.name();
    format!(
        "<tr class=\"explained\" data-verdict=\"{verdict}\"><td class=\"key\"><a href=\"#{0}\">{0}</a></td><td>{1}</td>\
         <td>{2}</td><td class=\"num\">{3}</td><td>{4}</td><td>{5}</td><td>{6}</td></tr>\n<tr class=\"why\" \
         data-verdict=\"{verdict}\"><td></td><td colspan=\"6\">{7}</td></tr>\n",
        escaped(&r.test.id),
        escaped(&r.name),
        verdict_html(r.verdict, &r.word),
        escaped(&checked_text(c)),
        escaped(&c.measured.expected),
        escaped(c.bound.unwrap_or_default()),
        escaped(&r.test.cite),
        below.join("<br>"),
    )
}

fn section(card: &Scorecard, t: &TestCard) -> String {
    let notes = if t.notes.trim().is_empty() {
        String::new()
    } else {
        format!("<p class=\"notes\">{}</p>\n", escaped(&t.notes))
    };
    format!(
        "<section id=\"{}\">\n<h2>{} {}</h2>\n<p class=\"cite\"><code>{}/{}</code> · {} · {} · {}</p>\n{notes}{}<p \
         class=\"tools\">Run it: <code>{}</code></p>\n</section>\n",
        escaped(&t.id),
        escaped(&t.title),
        verdict_html(t.verdict, ""),
        escaped(&card.suite),
        escaped(&t.id),
        escaped(&t.cite),
        t.fidelity,
        if t.tier == "full" { "with --full only" } else { "always run" },
        t.figures,
        escaped(&t.command),
    )
}

/// The tests that were not run, with the reasons.
fn idle(card: &Scorecard) -> String {
    let mut out = String::new();
    for verdict in [TestVerdict::NotApplicable, TestVerdict::NotSimulated] {
        let rows: String = card
            .tests
            .iter()
            .filter(|t| t.verdict == verdict)
            .map(|t| {
                let [id, title, cite, reason] = [&t.id, &t.title, &t.cite, &t.reason].map(|text| escaped(text));
                format!("<tr><td class=\"key\">{id}</td><td>{title}</td><td>{cite}</td><td>{reason}</td></tr>\n")
            })
            .collect();
        if !rows.is_empty() {
            let _ = write!(
                out,
                "<section>\n<h2>{}</h2>\n<div class=\"scroll\"><table class=\"claims\">\n<thead><tr><th>test</th>\
                 <th></th><th>source</th><th>reason</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n</section>\n",
                verdict_html(verdict, "")
            );
        }
    }
    out
}
