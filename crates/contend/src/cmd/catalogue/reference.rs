//! `contend reference`: the reference as pages in Markdown, and the JSON schema of experiment files. Everything comes
//! from the tables that the program itself reads.

use super::own::calculators;
use super::suites::suites_page;
use crate::Done;
use crate::cmd::{print, wrong};
use contend_core::registry::{Param, Unit};
use contend_explain::markdown::{cell, prose};
use contend_explain::words::WORDS;
use contend_explain::{Call, everything, formulas, functions, meaning, models, unit};
use contend_lab::measuring::metric::{MetricEntry, metrics};
use contend_lab::reading::examples;
use contend_lab::reading::file::keys::{Algorithm, Default, Family, Key, NAMES, Table, tables, variants};
use contend_lab::reading::file::schema::schema;
use contend_lab::writing::output;
use miette::Result;
use serde_json::{Value, json};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  contend reference docs        pages in Markdown, and docs/experiment.schema.json
  contend explain ap.queue      one name, on the terminal

An editor with TOML support (taplo, Even Better TOML) completes and checks a file whose first line is
  #:schema docs/experiment.schema.json";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ReferenceArgs {
    /// The folder to write to; it is made if it is missing
    folder: PathBuf,
}

/// Writes the reference of the command `contend`.
pub fn reference(args: &ReferenceArgs, contend: &clap::Command) -> Result<Done> {
    let refused = |e: std::io::Error| {
        wrong(format!("{} cannot be written: {e}", args.folder.display()), "name a folder that you may write to")
    };
    std::fs::create_dir_all(&args.folder).map_err(refused)?;
    let pages = pages(contend);
    for (name, text) in &pages {
        std::fs::write(args.folder.join(name), text).map_err(refused)?;
    }
    print(&format!("{} files in {}; begin with README.md\n", pages.len(), args.folder.display()))?;
    Ok(Done::Well)
}

/// Every file of the reference: name and text.
fn pages(contend: &clap::Command) -> Vec<(String, String)> {
    let mut all = vec![
        ("file.md".to_owned(), "Experiment file", file()),
        ("variants.md".to_owned(), "TCP variants", named_variants()),
    ];
    for family in Family::ALL {
        all.push((format!("{}.md", family.name()), title(family), algorithms(family)));
    }
    all.push(("metrics.md".to_owned(), "Metrics", metrics_page()));
    all.push(("functions.md".to_owned(), "Functions", functions().map(|f| function(&f)).collect()));
    all.push(("models.md".to_owned(), "Closed forms", models_page()));
    all.push(("words.md".to_owned(), "Words of the field", words_page()));
    all.push(("results.md".to_owned(), "Names of results", results()));
    all.push(("suites.md".to_owned(), "Suites", suites_page()));
    all.push(("command.md".to_owned(), "Command", command(contend)));
    let index: String = all.iter().map(|(name, title, _)| format!("- [{title}]({name})\n")).collect();
    let readme = format!(
        "# Reference\n\nEvery name that contend knows. The program wrote these pages from its own tables: `contend \
            reference FOLDER`.\n\n{index}- [experiment.schema.json](experiment.schema.json): the JSON schema of \
            experiment files, for editors. With taplo (Even Better TOML in VS Code), write as the first line of a \
            file: `#:schema` and the path of the schema.\n"
    );
    let mut files: Vec<(String, String)> =
        all.into_iter().map(|(name, title, text)| (name, format!("# {title}\n\n{text}"))).collect();
    files.push(("README.md".to_owned(), readme));
    files.push(("experiment.schema.json".to_owned(), lines(&schema())));
    files.into_iter().map(|(name, text)| (name, text.trim_end().to_owned() + "\n")).collect()
}

/// JSON text with a line for each key of the file, and for each definition.
fn lines(schema: &Value) -> String {
    let object = |value: &Value, depth: usize, member: &dyn Fn(&str, &Value) -> String| {
        let indent = " ".repeat(2 * depth);
        let all =
            value.as_object().into_iter().flatten().map(|(k, v)| format!("{indent}{}: {}", json!(k), member(k, v)));
        format!("{{\n{}\n{}}}", all.collect::<Vec<_>>().join(",\n"), " ".repeat(2 * depth - 2))
    };
    let plain = |_: &str, v: &Value| v.to_string();
    object(schema, 1, &|key, value| match key {
        "properties" | "$defs" => object(value, 2, &plain),
        _ => value.to_string(),
    })
}

fn title(family: Family) -> &'static str {
    match family {
        Family::Controllers => "Congestion controllers",
        Family::Estimators => "Bandwidth estimators",
        Family::Observers => "Observers of the air",
        Family::Recoveries => "Loss recoveries",
        Family::Qdiscs => "Queue disciplines",
        Family::Controls => "Control blocks of the access point",
        Family::Access => "Rules of medium access",
        Family::Clients => "Kinds of client",
        Family::Traffic => "Traffic sources",
        Family::Loss => "Loss processes",
        Family::Propagation => "Propagation models",
        Family::Mobility => "Movements of stations",
        Family::Routing => "Routing protocols",
        Family::RateControls => "Rate controls",
        Family::ErrorModels => "Error models",
        Family::Fading => "Fading",
    }
}

/// A value as in a file, or words about it.
fn default(d: Default) -> String {
    match d {
        Default::Required => "must be given".to_owned(),
        Default::Value(text) => format!("`{text}`").replace('|', "\\|"),
        Default::Words(text) => cell(text),
    }
}

/// The page of the experiment file.
fn file() -> String {
    let mut out =
        "A file is TOML. Every quantity is a text with its unit: `\"15ms\"`, `\"54Mbps\"`, `\"100p\"`. It may \
        be an expression: `\"= 10ms + 2ms * (k - 1)\"`. Any value of a network, a model or contention may depend on a \
        parameter of `[param]`: `standard = { case = \"std\", n = \"802.11n\", else = \"802.11ac\" }` is \
        \"802.11n\" if `std` is \"n\", and \"802.11ac\" for all other words and numbers. A wrong key, unit or value \
        is an error with place and remedy.\n"
            .to_owned();
    out += "\n| table | what it describes |\n| --- | --- |\n";
    let anchor = |t: &Table| {
        let kept = t.heading.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect::<String>()
    };
    for t in tables() {
        out += &format!("| [{}](#{}) | {} |\n", heading(t), anchor(t), cell(t.doc));
    }
    for t in tables() {
        out += &table(t);
    }
    out += "\n## Names in expressions\n\n| name | meaning |\n| --- | --- |\n";
    NAMES.iter().for_each(|w| out += &format!("| `{}` | {} |\n", w.name, cell(w.doc)));
    out
}

/// The heading of a table as text: brackets are no link.
fn heading(t: &Table) -> String {
    t.heading.replace('[', "\\[").replace(']', "\\]")
}

fn table(t: &Table) -> String {
    let members = if t.has_members { " A value may be a list, with one value for each member." } else { "" };
    let mut out = format!("\n## {}\n\n{}{members}\n\n", heading(t), prose(t.doc));
    out += "| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
    let row = |k: &Key| {
        let example = format!("`{} = {}`", k.name, k.example).replace('|', "\\|");
        let meaning = format!("{} Example: {example}", cell(k.doc));
        format!("| `{}` | {} | {} | {meaning} |\n", k.name, cell(&k.value_in_words()), default(k.default))
    };
    t.keys.iter().for_each(|k| out += &row(k));
    for k in t.keys.iter().filter(|k| k.words().next().is_some()) {
        out += &format!("\nValues of `{}`:\n\n", k.name);
        k.words().for_each(|w| out += &format!("- `{}`: {}\n", w.name, prose(w.doc)));
    }
    out
}

fn named_variants() -> String {
    let mut out = "A variant is a controller, a recovery and settings under one name: `tcp = \"NAME\"` in a \
        \\[\\[flow\\]\\], or `tcp = { kind = \"NAME\", ... }` with other settings. The table has what they are with \
        `stack = \"rfc\"`. Linux has timestamps in all, and RACK in those that are not named after their recovery.\n\n"
        .to_owned();
    out += "| variant | what it is |\n| --- | --- |\n";
    variants().iter().for_each(|v| out += &format!("| `{}` | {} |\n", v.name, cell(&v.doc)));
    out
}

fn algorithms(family: Family) -> String {
    let mut out = format!("A file selects one with `{}`.\n\n| name | what it does |\n| --- | --- |\n", family.usage());
    let all: Vec<Algorithm> = everything().into_iter().filter(|a| a.family == family).collect();
    all.iter().for_each(|a| out += &format!("| [{0}](#{0}) | {1} |\n", a.name, cell(super::list::phrase(a.summary))));
    for a in &all {
        out += &format!("\n## {}\n\n{}\n\nSource: {}.\n", a.name, prose(a.summary), prose(a.cite));
        for (label, what) in [("Needs", a.needs()), ("Gives", a.gives())] {
            if !what.is_empty() {
                out += &format!("\n{label}: {}.\n", prose(&what));
            }
        }
        out += &formulas::markdown(a);
        out += &parameters(a);
    }
    out
}

fn parameters(a: &Algorithm) -> String {
    if a.params.is_empty() {
        return "\nIt has no parameters.\n".to_owned();
    }
    let mut out = "\n| parameter | value | default | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    let row = |name: &str, p: &Param| {
        let code = |text: &str| format!("`{text}`").replace('|', "\\|");
        let default = match a.default_of(p) {
            None => "must be given".to_owned(),
            Some((usual, None)) => code(usual),
            Some((usual, Some(rfc))) => format!("{}; {} with `stack = \"rfc\"`", code(usual), code(rfc)),
        };
        format!("| `{name}` | {} | {default} | {} |\n", cell(&unit(p)), cell(&meaning(p)))
    };
    let mut told: Option<&[Param]> = None;
    for p in a.params {
        out += &row(p.name, p);
        // Tables of the same kind in a row: their parameters are told once.
        let Unit::Group(of) = p.unit else {
            told = None;
            continue;
        };
        if told.replace(of) != Some(of) {
            of.iter().for_each(|q| out += &row(&format!("{}.{}", p.name, q.name), q));
        }
    }
    out
}

fn metrics_page() -> String {
    let mut out = "A metric is a quantity of a run. `NAME` or `NAME.total` is one number for all flows, `NAME.up` for \
        a group or flow, `NAME[up]` a list with a number for each flow; `[10s..15s]` after it limits the time. Values \
        are in base units.\n"
        .to_owned();
    for m in metrics() {
        out += &metric(m);
    }
    out
}

fn metric(m: &MetricEntry) -> String {
    let mut out = format!(
        "\n## {}\n\n{}\n\n- Use: {}\n- Value: {}\n- Over: {}\n",
        m.name,
        prose(m.doc),
        m.uses().iter().map(|(form, gives)| format!("`{form}` ({gives})")).collect::<Vec<_>>().join(", "),
        models::measure(m.unit),
        m.period_in_words()
    );
    if let Some(also) = m.aspects_in_words() {
        out += &format!("- Also: {}\n", prose(&also));
    }
    if !m.note.is_empty() {
        out += &format!("\n{}\n", prose(m.note));
    }
    out
}

fn function(f: &Call) -> String {
    format!(
        "## {}\n\n{}\n\n- Use: `{}`\n- Takes: {}\n- Value: {}\n\n",
        f.name,
        prose(f.doc),
        f.usage,
        prose(&f.takes),
        f.yields
    )
}

fn models_page() -> String {
    let mut out = "A closed form predicts a number without a simulation. `contend model NAME` computes it; \
        `model(\"NAME\", ...)` uses it in an expression, and `[model] name = \"NAME\"` makes an experiment of it.\n"
        .to_owned();
    for m in calculators().chain(models::closed_forms()) {
        let text = m.text.split_once("\n\n").map_or("", |(_, rest)| rest);
        out += &format!("\n## {}\n\n```text\n{}\n```\n", m.name, text.trim_end());
    }
    out
}

fn words_page() -> String {
    let mut out =
        "Words that users type and that no file has: what contend calls them, or that it does not have them. \
        `contend explain` ignores case, hyphens and dots.\n\n| words | here | see |\n| --- | --- | --- |\n"
            .to_owned();
    for w in WORDS {
        let see: Vec<String> = w.see.iter().map(|s| format!("`{s}`")).collect();
        let page = w.page.strip_prefix("docs/").map(|page| format!("[{page}](../{page})"));
        let see: Vec<String> = see.into_iter().chain(page).collect();
        out += &format!("| {} | {} | {} |\n", w.names.join(", "), cell(w.text), see.join(", "));
    }
    out
}

/// The names of JSON, CSV and Parquet.
fn results() -> String {
    let mut out = "JSON, CSV and Parquet have the same names, in base units; so have expressions, where a name is a \
        metric. Where a name has a dot, the JSON nests: `rtt.p95` is `.rtt.p95`. Rates and counts are of the measured \
        interval.\n"
        .to_owned();
    for names in output::names() {
        let mut heading = names.of.to_owned();
        heading.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
        out += &format!("\n## {heading}\n\n{}\n\n| name | unit | meaning |\n| --- | --- | --- |\n", prose(names.place));
        for row in names.rows {
            out += &format!("| `{}` | {} | {} |\n", row.name, row.unit.unwrap_or_default(), cell(row.doc));
        }
    }
    out
}

/// The help texts of all subcommands.
fn command(contend: &clap::Command) -> String {
    let mut contend = contend.clone();
    contend.build();
    let help = |c: &clap::Command| c.clone().render_long_help().to_string();
    let text = |c: &clap::Command| {
        let lines: Vec<String> = help(c).lines().map(|l| l.trim_end().to_owned()).collect();
        format!("```text\n{}\n```\n", lines.join("\n").trim_end())
    };
    let mut out = text(&contend);
    for c in contend.get_subcommands().filter(|c| c.get_name() != "help") {
        out += &format!("\n## contend {}\n\n{}", c.get_name(), text(c));
    }
    let examples: Vec<String> = examples::ALL.iter().map(|s| format!("`{}`", s.name)).collect();
    let formats: Vec<String> = output::FORMATS.iter().map(|f| format!("`{}`: {}", f.name, f.summary)).collect();
    out + &format!("\nExamples: {}. Formats: {}.\n", examples.join(", "), formats.join("; "))
}
