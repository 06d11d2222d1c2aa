//! `contend plot`: a figure of the report as a file of its own, for a paper or slides.
//!
//! As `contend report` does, it repeats the runs of a results folder: their digests must be those of summary.json.

use super::common::Common;
use super::job::Job;
use super::run::{self, settings_of};
use super::summary::Before;
use super::{complete, print, refused, say, wrong};
use crate::Done;
use contend_core::{Refusal, Time};
use contend_lab::experiment::results::Outcome;
use contend_lab::reading::file::Experiment;
use contend_lab::writing::output::{
    Chart, Paper, ReportContext, Wish, all_charts, atomically, by_unit, can_write, charts_of, map_csv, map_file,
    panels, write_json,
};
use contend_lab::{opening, pictures};
use miette::{IntoDiagnostic as _, Result};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  contend plot hotspot                                        the figures of the report with their numbers
  contend plot hotspot --figure 2 -o fairness.svg
  contend plot results/hotspot --figure 2 -o fairness.pdf --width 8.5cm --size 8pt
  contend plot bufferbloat --metric 'delay.p99[probe]' -o delay.png --palette grey --log y
  contend plot hotspot --air 2s..2.003s -o frames.svg
  contend plot mesh --map -o map.pdf --palette grey
  contend plot hotspot --metric goodput --x flow -o flows.svg --y-label 'Goodput [Mb/s]'

A file is run. A results folder keeps no histograms and no series of its runs, so its runs are repeated;
their digests must be those of summary.json. Letters of PNG and PDF are of a font of this machine.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A results folder, or an experiment file, which is run
    #[arg(value_name = "DIR|FILE", add = complete::files())]
    from: PathBuf,
    /// The number of the figure, also where --metric makes several; without it and without --metric, they are listed
    #[arg(long, value_name = "N")]
    figure: Option<usize>,
    /// Draw these metrics instead of a figure of the report, like 'goodput.up, goodput.down'; they have one unit
    #[arg(long, value_name = "METRICS", add = complete::metric_names())]
    metric: Option<String>,
    /// The horizontal axis of --metric: a swept key, a metric, flow or time (default: the first swept key, else flow)
    #[arg(long, value_name = "X", requires = "metric")]
    x: Option<String>,
    /// A swept key with a line for each value; with a second key, KEY,KEY, a panel for each value of that one
    #[arg(long, value_name = "KEYS", requires = "metric", value_delimiter = ',')]
    by: Vec<String>,
    /// Draw the frames on the air in this interval of the first run, like 2s..2.002s; without -o, print them as CSV
    #[arg(long, value_name = "FROM..TO", value_parser = pictures::interval)]
    #[arg(conflicts_with_all = ["figure", "metric", "log"])]
    air: Option<(Time, Time)>,
    /// Draw the map of the first run at its start; without --output, print the positions and shares of time as CSV
    #[arg(long, conflicts_with_all = ["figure", "metric", "log", "air", "x_label", "y_label"])]
    map: bool,
    /// The file to write; its ending is the format: .svg, .png or .pdf
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Width, like 8.5cm, 85mm, 3.35in or 240pt (default: 12cm, or 17cm for figures as wide as the report)
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    width: Option<f64>,
    /// Height (default: as fits the width)
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    height: Option<f64>,
    /// Font of the letters (default: DejaVu Sans, or another one without serifs)
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    font: String,
    /// Size of the letters, from 3pt to 40pt
    #[arg(long, value_name = "LENGTH", value_parser = letters, default_value = "8pt")]
    size: f64,
    /// Pixels of a PNG for each inch
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u16).range(30..=2400))]
    dpi: u16,
    /// Colours that colour-blind readers can tell apart, or grey for print without colour
    #[arg(long, value_enum, default_value = "colour")]
    palette: Palette,
    /// Title above the axes; '' is none (default: which of several figures it is, if there are several)
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Label of the horizontal axis, with its unit
    #[arg(long, value_name = "TEXT")]
    x_label: Option<String>,
    /// Label of the vertical axis, with its unit
    #[arg(long, value_name = "TEXT")]
    y_label: Option<String>,
    /// Logarithmic axes
    #[arg(long, value_name = "AXES", value_enum)]
    log: Option<LogAxes>,
    /// Seeds that replace those of the file, like 1..30 or 7
    #[arg(long)]
    seeds: Option<String>,
    /// Set a key of the file, like wifi.slot=20us; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", add = complete::settings())]
    set: Vec<String>,
    /// Try several values of a key, like flow.0.count=1..5
    #[arg(long = "sweep", value_name = "KEY=VALUE,...", add = complete::settings())]
    sweep: Vec<String>,
    /// Runs at the same time, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = super::common::jobs)]
    jobs: Option<u16>,
    /// Print only errors
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Palette {
    /// The palette of Okabe and Ito
    #[value(alias = "color")]
    Colour,
    /// Grey; lines differ by dashes and markers, bars by hatching
    #[value(alias = "gray")]
    Grey,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum LogAxes {
    /// The horizontal axis
    X,
    /// The vertical axis
    Y,
    /// Both
    Xy,
}

/// What a file holds, by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Svg,
    Png,
    Pdf,
}

/// Reads a length in points.
fn length(text: &str) -> Result<f64, Refusal> {
    points(text).filter(|pt| (30.0..=4000.0).contains(pt)).ok_or_else(|| {
        Refusal::new(
            format!("{text:?} is no length from 30pt to 4000pt"),
            "write a length like 8.5cm, 85mm, 3in or 240pt",
        )
    })
}

/// Reads a size of letters in points.
fn letters(text: &str) -> Result<f64, Refusal> {
    let size = points(text).filter(|pt| (3.0..=40.0).contains(pt));
    size.ok_or_else(|| Refusal::new(format!("{text:?} is no size from 3pt to 40pt"), "write a size like 8pt"))
}

fn points(text: &str) -> Option<f64> {
    let units = [("cm", 72.0 / 2.54), ("mm", 7.2 / 2.54), ("in", 72.0), ("pt", 1.0)];
    let (number, unit) = units.into_iter().find_map(|(name, pt)| Some((text.trim().strip_suffix(name)?, pt)))?;
    Some(number.trim().parse::<f64>().ok()? * unit)
}

pub fn run(args: &Args) -> Result<Done> {
    // What can be wrong is told before the runs.
    let kind = args.output.as_deref().map(kind).transpose()?;
    if args.output.is_none() && args.metric.is_some() {
        return Err(wrong("--metric draws a figure, but there is no file for it", "add a file: -o figure.svg"));
    }
    let is_folder = args.from.is_dir();
    let path = if is_folder { args.from.join("run.toml") } else { args.from.clone() };
    if is_folder && !path.is_file() {
        return Err(wrong(
            format!("{} is not a results folder: it has no run.toml", args.from.display()),
            "name a folder that `contend run` has written, or an experiment file",
        ));
    }
    if is_folder && (args.seeds.is_some() || !args.set.is_empty() || !args.sweep.is_empty()) {
        return Err(wrong(
            format!("{} is a results folder: its runs are made, and settings change nothing", args.from.display()),
            format!("give the file instead, or {} for the same runs with changes", path.display()),
        ));
    }
    let common = Common {
        seeds: args.seeds.clone(),
        set: args.set.clone(),
        sweep: args.sweep.clone(),
        // The figures need the series, which a call without results does not keep.
        no_results: false,
        ..Common::plain(args.jobs, args.quiet)
    };
    let mut e = experiment(args, &path, &common)?;
    let of_one_run = args.map || args.air.is_some();
    if of_one_run {
        pictures::first_run_only(&mut e);
    }
    if let Some(output) = &args.output {
        can_write(output).map_err(|err| unwritable(&err))?;
    }
    let before = if is_folder { Some(Before::read(&args.from)?) } else { None };
    let stop = run::stop_on_ctrl_c();
    let mut job = Job::new(&e, &common, &stop, args.from.display().to_string());
    if let Some((from, to)) = args.air {
        let frames = pictures::air_frames(&e, from, to).map_err(|err| of_air(&err))?;
        job.capture = Some((frames.from, frames.to));
    }
    let outcome = job.repeat()?.outcome;
    if let Some(before) = before.filter(|_| outcome.interrupted.is_none()) {
        if of_one_run { same_first(&args.from, &outcome, &path)? } else { same(&before, &outcome, &path)? }
    }
    if outcome.interrupted.is_some() {
        return Ok(Done::Stopped);
    }
    if let Some((from, to)) = args.air {
        let chart = pictures::air(&e, &outcome, from, to).map_err(|err| of_air(&err))?;
        match (&args.output, kind) {
            (Some(output), Some(kind)) => finish(&chart.svg(&wish(args)), args, output, kind)?,
            _ => print(chart.csv())?,
        }
        return Ok(Done::Well);
    }
    if args.map {
        let run = outcome.runs.first();
        let drawn = run.and_then(|run| map_file(run, &wish(args)).zip(map_csv(run)));
        let Some((svg, csv)) = drawn else {
            return Err(wrong(
                "there is no map: the stations of the file have neither positions nor links",
                "give them a `position`, or leave out --map",
            ));
        };
        match (&args.output, kind) {
            (Some(output), Some(kind)) => finish(&svg, args, output, kind)?,
            _ => print(&csv)?,
        }
        return Ok(Done::Well);
    }
    let mut context = ReportContext::of(&e, format!("contend run {}", path.display()));
    let charts = match context.figures.pop_if(|_| args.metric.is_some()) {
        Some(figure) => charts_of(&outcome, &context, figure),
        None => all_charts(&outcome, &context),
    };
    // Panels of one unit are one figure.
    let figures = match args.by.len() {
        2.. => by_unit(charts),
        _ => charts.into_iter().map(|chart| vec![chart]).collect(),
    };
    let listed = args.figure.is_none() && args.metric.is_none();
    let chosen = figures.get(args.figure.unwrap_or(1).wrapping_sub(1));
    let Some((chosen, chart)) = chosen.and_then(|charts| Some((charts, charts.first()?))) else {
        let titles = list(&figures);
        let remedy = if args.metric.is_some() {
            let titles: Vec<&str> = titles.lines().map(str::trim).collect();
            format!("name one of: {}", titles.join("; "))
        } else {
            format!("list the figures: contend plot {}", args.from.display())
        };
        return Err(match args.figure {
            Some(number) if !figures.is_empty() => {
                wrong(format!("there is no figure {number}: there are {}", figures.len()), remedy)
            }
            _ => wrong("the results have no figure", "name metrics: --metric 'goodput.up, goodput.down'"),
        });
    };
    if listed && !args.quiet {
        print(&list(&figures))?;
    }
    match (&args.output, kind) {
        (Some(path), Some(kind)) => {
            let svg = if args.by.len() > 1 { panels(chosen, &wish(args)) } else { chart.svg(&wish(args)) };
            if figures.len() > 1 && args.figure.is_none() && !args.quiet {
                which(&figures, listed).lines().for_each(say);
            }
            finish(&svg, args, path, kind)?;
        }
        _ if !listed => print(chart.csv())?,
        _ => {}
    }
    Ok(Done::Well)
}

/// Which of several figures is drawn, and how to have another.
fn which(figures: &[Vec<Chart>], listed: bool) -> String {
    if listed {
        return "contend: figure 1 is drawn; --figure N draws another".to_owned();
    }
    format!(
        "contend: these metrics make {} figures, one for each unit and each combination of the other keys. Figure 1 is \
            drawn; --figure N draws another:\n{}",
        figures.len(),
        list(figures).trim_end()
    )
}

/// The experiment at `path`. The figure of --metric is the last of its figures.
fn experiment(args: &Args, path: &Path, common: &Common) -> Result<Experiment> {
    let e = run::load(path, common)?;
    let Some(metric) = &args.metric else { return Ok(e) };
    let swept = e.points.iter().flat_map(|p| p.keys()).next();
    let x = args.x.as_deref().or(swept.map(String::as_str)).unwrap_or("flow");
    let metrics: Vec<String> = run::parts(metric).into_iter().map(|m| format!("{m:?}")).collect();
    let by = match args.by.iter().map(|key| key.trim()).collect::<Vec<_>>()[..] {
        [] => String::new(),
        [key] => format!("by = {key:?}\n"),
        ref keys => format!("by = {keys:?}\n"),
    };
    let text = opening::text(path).map_err(refused)?;
    let more = format!("\n[[figure]]\nx = {x:?}\ny = [{}]\n{by}", metrics.join(", "));
    let with = opening::experiment(&path.display().to_string(), &(text.clone() + &more), &settings_of(&text, common)?);
    with.map_err(|err| {
        // The place is in no file that the user knows.
        let remedy = err.remedy().unwrap_or("contend list metrics").to_owned();
        let by = |part: &str| format!("`figure.{}.by{part}`", e.figures.len());
        let what = ["", ".0", ".1"].iter().fold(err.to_string(), |what, part| what.replace(&by(part), "--by"));
        wrong(format!("--metric {metric} along {x}: {what}"), remedy)
    })
}

/// Refuses a repeated first run that is not that of the folder.
fn same_first(folder: &Path, outcome: &Outcome, path: &Path) -> Result<()> {
    let summary = std::fs::read_to_string(folder.join("summary.json")).unwrap_or_default();
    match outcome.runs.iter().find(|run| !summary.contains(&run.digest)) {
        Some(run) => Err(wrong(
            format!("summary.json has no run with the digest {}: no figure is drawn", run.digest),
            format!("draw it from the file: contend plot {}", path.display()),
        )),
        None => Ok(()),
    }
}

/// Refuses repeated runs that are not those of the folder.
fn same(before: &Before, outcome: &Outcome, path: &Path) -> Result<()> {
    let mut now = Vec::new();
    write_json(outcome, &mut now).into_diagnostic()?;
    match before.differs(&serde_json::from_slice(&now).unwrap_or_default()) {
        Some(what) => Err(wrong(
            format!("{what}: no figure is drawn, because it would not show the numbers of the folder"),
            format!("draw it from the file: contend plot {}", path.display()),
        )),
        None => Ok(()),
    }
}

fn of_air(err: &Refusal) -> miette::Report {
    wrong(format!("--air: {}", err.what), &err.remedy)
}

/// The figures with their numbers. Panels are named by what they show together.
fn list(figures: &[Vec<Chart>]) -> String {
    let mut out = String::new();
    for (i, charts) in figures.iter().enumerate() {
        let title = match charts.as_slice() {
            [chart] => chart.title(),
            all => format!("{}, {} panels", all.first().map_or("", Chart::measured), all.len()),
        };
        let _ = writeln!(out, "{:>4}  {title}", i + 1);
    }
    out
}

/// The format of the file at `path`.
fn kind(path: &Path) -> Result<Kind> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "svg" => Ok(Kind::Svg),
        "png" | "pdf" if !cfg!(feature = "images") => Err(wrong(
            format!("{}: this contend was built without its feature `images`", path.display()),
            "write an .svg file, or build with the default features",
        )),
        "png" => Ok(Kind::Png),
        "pdf" => Ok(Kind::Pdf),
        _ => Err(wrong(
            format!("{}: the ending must be .svg, .png or .pdf", path.display()),
            format!("write for example -o {}", path.with_extension("svg").display()),
        )),
    }
}

fn unwritable(what: &dyn std::fmt::Display) -> miette::Report {
    wrong(what, "name a file in a folder that can be written")
}

fn wish(args: &Args) -> Wish {
    Wish {
        paper: Paper {
            width_pt: args.width,
            height_pt: args.height,
            size_pt: args.size,
            font: args.font.clone(),
            grey: args.palette == Palette::Grey,
        },
        title: args.title.clone(),
        x_label: args.x_label.clone(),
        y_label: args.y_label.clone(),
        log_x: matches!(args.log, Some(LogAxes::X | LogAxes::Xy)),
        log_y: matches!(args.log, Some(LogAxes::Y | LogAxes::Xy)),
    }
}

/// Writes the figure in the format of the file, and says so.
fn finish(svg: &str, args: &Args, path: &Path, kind: Kind) -> Result<()> {
    let bytes = match kind {
        Kind::Svg => svg.as_bytes().to_vec(),
        #[cfg(feature = "images")]
        Kind::Png => pictured(contend_lab::writing::output::image::png(svg, &args.font, f64::from(args.dpi)))?,
        #[cfg(feature = "images")]
        Kind::Pdf => pictured(contend_lab::writing::output::image::pdf(svg, &args.font))?,
        #[cfg(not(feature = "images"))]
        Kind::Png | Kind::Pdf => return Ok(()),
    };
    atomically(path, |w| w.write_all(&bytes)).map_err(|err| unwritable(&err))?;
    if !args.quiet {
        say(&format!("contend: {}", path.display()));
    }
    Ok(())
}

/// A picture, or the remedy if there is none.
#[cfg(feature = "images")]
fn pictured(picture: std::result::Result<Vec<u8>, contend_lab::writing::output::image::Error>) -> Result<Vec<u8>> {
    use contend_lab::writing::output::image::Error;
    picture.map_err(|err| {
        let remedy = match &err {
            Error::NoFonts => "install one, for example the package fonts-dejavu-core, or write an .svg file",
            Error::NoSuchFont(_) => "name a font that `fc-list : family` lists, or leave out --font",
            Error::Size(..) => "give a smaller --width, --height or --dpi",
            Error::Library(_) => "write an .svg file",
        };
        wrong(err, remedy)
    })
}
