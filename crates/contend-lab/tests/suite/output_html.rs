//! The report page in a real browser. Without Chromium the browser tests are skipped.

use crate::common::{SMALL, Shape, context, needs, outcome, point, program};
use contend_lab::experiment::map::MapSeries;
use contend_lab::experiment::results::{PointKey, SweptValue};
use contend_lab::reading::file::{Along, Log};
use contend_lab::writing::output::{Chapter, FigureSpec, write_paper, write_report};
use std::path::Path;
use std::process::Command;

fn report(shape: Shape, path: &Path) -> String {
    write_report(&outcome(shape), &context(shape), path).unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// The page after its script ran, and what the browser logged.
fn opened(path: &Path, more: &[&str]) -> Option<(String, String)> {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|n| program(n)) else {
        needs::skip("chromium", "report pages in a browser");
        return None;
    };
    let profile = tempfile::tempdir().unwrap();
    let quiet = [
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ];
    let out = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--v=0",
            "--virtual-time-budget=4000",
        ])
        .args(quiet)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .args(["--dump-dom", &format!("file://{}", path.display())])
        .output()
        .unwrap();
    Some((String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned()))
}

fn data(page: &str, name: &str) -> Option<f64> {
    let at = page.find(&format!("{name}=\""))? + name.len() + 2;
    page[at..].split('"').next()?.parse().ok()
}

#[test]
fn the_page_opens_without_a_console_error_and_draws_100_000_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let page = report(Shape { frames: 100_000, ..SMALL }, &path);
    println!("page: {} kB", page.len() / 1_000);
    let Some((dom, log)) = opened(&path, &[]) else { return };
    let complaints: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert_eq!(data(&dom, "data-frames"), Some(100_000.0), "the timeline was not drawn");
    println!("100,000 frames drawn in {} ms", data(&dom, "data-draw-all-ms").unwrap());
    assert!(dom.contains("frames in "), "the view in single frames was not drawn");
}

#[test]
fn the_page_needs_no_network_and_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(SMALL, &folder.path().join("report.html"));
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("&lt;b&gt;This is not bold.&lt;/b&gt;"));
    // Nothing is admitted but the page's own style and script, by their digests.
    let policy = page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    assert_eq!((policy.matches("'sha256-").count(), page.matches(" style=").count()), (3, 0));
}

#[test]
fn every_flow_has_its_transfers_where_there_are_any() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    assert!(!report(SMALL, &path).contains("<th>unfinished</th>"));
    let mut o = outcome(SMALL);
    for run in &mut o.runs {
        (run.flows[0].completions_s, run.flows[0].unfinished) = (vec![0.5; 123], 77);
    }
    write_report(&o, &context(SMALL), &path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let (_, table) = page.split_once("<summary>Every flow</summary>").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    let rows: Vec<&str> = table.split("<tr>").filter(|row| row.contains("<td")).collect();
    assert!(table.contains("<th>completed</th><th>unfinished</th>"));
    assert!(rows[0].contains("<td>123 <") && rows[0].contains("<td>77 <"), "{}", rows[0]);
    // A flow without transfers has a dash in both.
    assert!(rows[1].trim_end().ends_with("<td>–</td><td>–</td></tr>"), "{}", rows[1]);
}

#[test]
fn every_figure_has_its_data_its_command_and_its_interval() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(SMALL, &folder.path().join("report.html"));
    let figures: Vec<&str> = page.split("<figure").skip(1).map(|f| f.split("</figure>").next().unwrap()).collect();
    // Goodput, Jain, loss and RTT along the sweep, the file's own, the ledger and the timeline; eight of each point.
    assert!(figures.len() >= 4 + 8 * 5, "{}", figures.len());
    for f in &figures {
        let title = f.split("<h3>").nth(1).and_then(|t| t.split('<').next()).unwrap_or("the air");
        assert!(f.contains("href=\"data:text/csv") || f.contains("air-csv"), "{title} has no data");
        assert!(f.contains("contend run papers/keceli-2008/fig4.toml"), "{title} has no command");
        assert!(f.contains("--seeds"), "{title} has no seed");
    }
    let bars = figures.iter().find(|f| f.contains("<h3>Goodput of each flow</h3>")).unwrap();
    assert_eq!(bars.matches("class=\"bar\"").count(), bars.matches("class=\"err\"").count());
    let sweep = figures.iter().find(|f| f.contains("<h3>goodput along flow.1.count</h3>")).unwrap();
    assert_eq!(sweep.matches("class=\"dot\"").count(), 15);
    assert_eq!(sweep.matches("class=\"err\"").count(), 15);
}

/// The figures with this title on the page of the small outcome, its points also told apart by `ap.queue`, when the
/// file asks for one.
fn asked(along: Along, by: Option<&str>, metrics: &[&str]) -> Vec<String> {
    asked_with(along, Log::default(), [by, None], metrics)
}

/// Like [`asked`], with logarithmic axes and the key of panels.
fn asked_with(along: Along, log: Log, by: [Option<&str>; 2], metrics: &[&str]) -> Vec<String> {
    let mut o = outcome(SMALL);
    let queue = |up: Option<&SweptValue>| if up.and_then(|u| u.as_u64()) < Some(2) { "fifo" } else { "codel" };
    let told = |p: &mut PointKey| drop(p.insert("ap.queue".into(), queue(p.get("flow.1.count")).into()));
    o.runs.iter_mut().for_each(|r| told(&mut r.point));
    o.summary.iter_mut().for_each(|s| told(&mut s.point));
    let mut points: Vec<_> = SMALL.uploads.iter().map(|up| point(SMALL, *up)).collect();
    points.iter_mut().for_each(told);
    let metrics = metrics.iter().map(|m| (*m).to_owned()).collect();
    let [by, panels] = by.map(|key| key.map(str::to_owned));
    let figure = FigureSpec { title: "Asked for".into(), along, log, by, panels, metrics, points };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    write_report(&o, &contend_lab::writing::output::ReportContext { figures: vec![figure], ..context(SMALL) }, &path)
        .unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    page.split("<figure")
        .filter_map(|f| f.split("</figure>").next())
        .filter(|f| f.contains("<h3>Asked for"))
        .map(str::to_owned)
        .collect()
}

fn legend(figure: &str) -> Vec<&str> {
    figure.split("<i></i>").skip(1).map(|t| t.split('<').next().unwrap()).collect()
}

#[test]
fn a_figure_by_a_key_has_a_line_for_each_value_with_its_interval() {
    let figures = asked(Along::Key("flow.1.count".into()), Some("ap.queue"), &["goodput.down"]);
    let [f] = figures.as_slice() else { panic!("{}", figures.len()) };
    assert_eq!(legend(f), ["fifo", "codel"]);
    assert_eq!(
        (f.matches("class=\"line\"").count(), f.matches("class=\"dot\"").count(), f.matches("class=\"err\"").count()),
        (2, 5, 5)
    );
    assert!(f.contains("By ap.queue. Mean over 5 seeds; bars: 95 % Student interval."));
}

/// The numbers and names along the axes of a figure.
fn ticks(figure: &str) -> Vec<String> {
    let texts = figure.split("<text").skip(1).filter_map(|t| t.split(['>', '<']).nth(1));
    texts.map(str::to_owned).collect()
}

#[test]
fn a_second_key_makes_panels_with_equal_axes() {
    let along = || Along::Metric("goodput.total".into());
    for by in [[Some("flow.1.count"), Some("ap.queue")], [Some("flow.1.count"), None]] {
        for (along, log) in [(along(), Log::default()), (Along::Flow, Log::default())] {
            let figures = asked_with(along, log, by, &["goodput.total"]);
            match (by[1], figures.as_slice()) {
                (Some(_), [fifo, codel]) => {
                    assert!(fifo.contains("<h3>Asked for, ap.queue = fifo</h3>"), "{fifo}");
                    assert!(codel.contains("<h3>Asked for, ap.queue = codel</h3>"), "{codel}");
                    assert_eq!((legend(fifo), legend(codel)), (vec!["0", "1"], vec!["2", "4", "6"]));
                    assert_eq!(ticks(fifo), ticks(codel));
                }
                (None, [_]) => {}
                _ => panic!("{by:?}: {} figures", figures.len()),
            }
        }
    }
}

#[test]
fn names_along_the_axis_have_bars_and_two_metrics_a_style_each() {
    let figures = asked(Along::Key("ap.queue".into()), Some("flow.1.count"), &["goodput.down", "goodput.up"]);
    let [f] = figures.as_slice() else { panic!("{}", figures.len()) };
    assert_eq!(
        (f.matches("class=\"bar\"").count(), f.matches("class=\"err\"").count(), f.matches("class=\"line\"").count()),
        (10, 10, 0)
    );
    assert_eq!(legend(f)[..2], ["goodput.down, 0", "goodput.up, 0"]);
    assert!(f.contains("class=\"s4\"") && f.contains("class=\"s12\""), "full and dashed in the same colour");
}

#[test]
fn a_metric_on_the_horizontal_axis_has_intervals_both_ways_and_the_values_of_the_key_beside_its_dots() {
    let x = || Along::Metric("goodput.total".into());
    let [f] = &asked(x(), Some("ap.queue"), &["goodput.down"])[..] else { panic!("one figure") };
    assert_eq!(legend(f), ["fifo", "codel"]);
    let counts = ["line", "dot", "err"].map(|class| f.matches(&format!("class=\"{class}\"")).count());
    assert_eq!(counts, [2, 5, 10], "two lines of five dots, each with two intervals");
    assert!(f.contains("goodput.total [Mb/s]") && f.contains("Lines join the values of flow.1.count."));
    let tags: Vec<&str> = f.split("class=\"note\"").skip(1).map(|t| t.split(['>', '<']).nth(1).unwrap()).collect();
    assert_eq!(tags, ["0", "1", "2", "4", "6"]);
}

#[test]
fn a_logarithmic_axis_leaves_out_zeros_and_says_so() {
    let log = Log { x: false, y: true };
    let f = asked_with(Along::Key("flow.1.count".into()), log, [None, None], &["goodput.up"]).concat();
    assert!(f.contains("One value is not above zero: a logarithmic axis has no place for it."), "{f}");
    assert_eq!(f.matches("class=\"dot\"").count(), 4, "no upload: no goodput");
    let names =
        asked_with(Along::Key("ap.queue".into()), log, [Some("flow.1.count"), None], &["goodput.down"]).concat();
    assert_eq!((names.matches("class=\"bar\"").count(), names.matches("class=\"dot\"").count()), (0, 5));
}

#[test]
fn values_of_the_figures_own_make_an_axis_without_further_runs() {
    let along = Along::Own("part".into(), vec![1.into(), 2.into(), 4.into()]);
    let figures = asked(along.clone(), Some("ap.queue"), &["count(goodput[all] < 1Mbps * point(\"part\"))"]);
    assert_eq!(figures.len(), 5, "one for each number of uploads");
    let f = figures.iter().find(|f| f.contains("flow.1.count = 4")).unwrap();
    assert_eq!(
        (f.matches("class=\"line\"").count(), f.matches("class=\"dot\"").count(), f.matches("class=\"err\"").count()),
        (1, 3, 3)
    );
    assert!(f.contains(">part<") && f.contains("Mean over 5 seeds"));
    let alone = asked(along, None, &["jain * point(\"part\")"]);
    let [f] = alone.as_slice() else { panic!("{}", alone.len()) };
    assert_eq!((f.matches("class=\"line\"").count(), f.matches("class=\"dot\"").count()), (5, 15));
}

#[test]
fn metrics_of_different_units_have_figures_of_their_own() {
    let titles = |f: &String| f.split("<h3>").nth(1).and_then(|t| t.split('<').next()).unwrap().to_owned();
    let figures = asked(Along::Key("flow.1.count".into()), None, &["goodput.down", "jain.down", "goodput.up"]);
    assert_eq!(figures.iter().map(titles).collect::<Vec<_>>(), ["Asked for, goodput", "Asked for, jain.down"]);
}

#[test]
fn keys_that_make_no_lines_have_a_figure_for_each_value() {
    let figures = asked(Along::Time, Some("ap.queue"), &["goodput.down"]);
    assert_eq!(figures.len(), 5, "one for each number of uploads");
    assert!(figures[1].contains("<h3>Asked for, flow.1.count = 1</h3>"));
}

#[test]
fn a_course_over_time_is_a_mean_over_seeds_with_its_band() {
    let figures = asked(Along::Time, None, &["goodput.down"]);
    let [f] = figures.as_slice() else { panic!("{}", figures.len()) };
    assert_eq!((f.matches("class=\"line\"").count(), f.matches("class=\"band\"").count()), (5, 5));
    assert_eq!(legend(f)[0], "flow.1.count = 0");
    assert!(
        f.contains("time [s]")
            && f.contains("goodput.down [Mb/s]")
            && f.contains("warm-up, cut")
            && f.contains("Mean over 5 seeds; band: 95 %")
    );
    let lists = asked(Along::Time, Some("flow.1.count"), &["cwnd[down]"]);
    assert_eq!(legend(&lists[0])[..2], ["down.0, 0", "down.1, 0"], "a list has a line for each member");
}

#[test]
fn a_figure_over_flows_has_a_bar_for_each() {
    let f = asked(Along::Flow, None, &["throughput"]).concat();
    // Six downloads at five points, and 0 + 1 + 2 + 4 + 6 uploads.
    assert_eq!((f.matches("class=\"bar\"").count(), f.matches("class=\"err\"").count()), (43, 43));
}

#[test]
fn the_timeline_says_how_many_frames_did_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    assert!(report(SMALL, &path).contains(": 4000 frames."));
    let mut o = outcome(SMALL);
    o.runs.iter_mut().filter(|r| !r.detail.frames.is_empty()).for_each(|r| r.frames_missed = 7);
    write_report(&o, &context(SMALL), &path).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains(": the first 4000 of 4007 frames."));
}

#[test]
fn the_page_of_a_paper_has_figures_claims_and_verdicts_of_every_experiment_and_opens_without_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let mut chapters = vec![Chapter::new("m3", &outcome(SMALL), &context(SMALL))];
    // An experiment at one point, without figures of its own, whose name is no address.
    let one = Shape { uploads: &[2], frames: 0, ..SMALL };
    let mut o = outcome(one);
    (o.title, o.claims) = ("Two & ten".into(), vec![]);
    chapters.push(Chapter::new(
        "odd name",
        &o,
        &contend_lab::writing::output::ReportContext { figures: vec![], ..context(one) },
    ));
    let about = "# Keceli, Inan, Ayanoglu 2008\n\nF. Keceli: *Fair & Efficient*.\n\n| file |\n";
    write_paper("keceli-2008", about, "contend reproduce keceli-2008", &chapters, &path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once("<section id=\"m3\">").unwrap();
    let (first, second) = rest.split_once("<section id=\"odd name\">").unwrap();
    assert!(
        head.contains("<h1>Keceli, Inan, Ayanoglu 2008</h1>")
            && head.contains("F. Keceli: <em>Fair &amp; Efficient</em>.")
    );
    assert!(head.contains("href=\"#m3\"") && head.contains("Two &amp; ten"));
    // The claims of the small outcome: their verdicts are counted, for the experiment and for all.
    let claims = outcome(SMALL).claims;
    let own: Vec<_> = claims.iter().filter(|c| c.source == "paper").collect();
    let mut counts = vec![own.len()];
    let verdicts = ["reproduced", "not reproduced", "contradiction", "tie", "undecided"];
    counts.extend(verdicts.map(|v| own.iter().filter(|c| c.verdict == v).count()));
    let differ = claims.iter().filter(|c| !c.as_recorded).count().to_string();
    // Statements, reproduced, not reproduced, and those of the other verdicts that occur; none is beyond the paper.
    let occur = counts.iter().enumerate().filter(|(i, n)| *i < 3 || **n > 0).map(|(_, n)| n.to_string());
    let cells: String = occur.chain(["0 of 1".into(), differ]).map(|n| format!("<td>{n}</td>")).collect();
    assert_eq!(head.matches(&cells).count(), 2, "{head}");
    assert!(first.contains("href=\"m3/report.html\"") && second.contains("href=\"odd%20name/report.html\""));
    for text in ["2 uploads 9.62 Mb/s in total", "1.2..2.2", "1.584", "not-reproduced"] {
        assert!(first.contains(text), "no `{text}`");
    }
    assert!(
        first.contains("<figure") && second.contains("<h3>Goodput of each flow</h3>") && second.contains("no claim")
    );
    assert!(own.len() + 1 == claims.len() && head.contains("0 of 1 statements of our specification reproduced"));
    assert!(first.contains("<td class=\"key\">H5<br><span class=\"pm\">[specification]</span></td>"));
    // The headings above the tables have the numbers of the large letters, each source its own, and a legend.
    let meaning = "[specification]: It follows from how contend reads the paper.";
    let failed = own.iter().filter(|c| c.verdict != "reproduced").count();
    assert!(head.contains(&format!("{failed} of {} statements of the paper</h3>", own.len())), "{head}");
    assert!(head.contains("1 of 1 statements of our specification</h3>") && !head.contains("[beyond]"), "{head}");
    assert!(head.matches(meaning).count() == 2 && first.contains(meaning));
    for (verdict, n) in verdicts.iter().zip(&counts[1..]) {
        let class = verdict.replace(' ', "-");
        assert!(head.contains(&format!("<strong>{n}</strong> <span class=\"verdict {class}\">")), "{verdict}");
    }
    let failures = head.split("What is not reproduced").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(
        failures.matches("<a href=\"#m3\">").count(),
        claims.iter().filter(|c| c.verdict != "reproduced").count()
    );
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let Some((dom, log)) = opened(&path, &[]) else { return };
    assert!(!log.contains("CONSOLE"), "{log}");
    assert!(dom.contains("<section id=\"odd name\">") && dom.contains("</footer>"));
}

/// Three stations in a row, of which the outer two do not sense each other and send to the middle one. The last station
/// goes away after 5 s.
fn three_in_a_row() -> MapSeries {
    let links = |n: u32| (0..n).flat_map(|i| [(i, i + 1, true), (i + 1, i, true)]).collect::<Vec<_>>();
    MapSeries {
        positions: vec![
            (0.0, vec![(0.0, 0.0), (200.0, 0.0), (400.0, 0.0)]),
            (5.0, vec![(0.0, 0.0), (200.0, 0.0), (900.0, 300.0)]),
        ],
        links: vec![(0.0, links(2)), (5.0, links(1))],
        routes: vec![(0.0, vec![vec![0, 1], vec![2, 1]])],
        walls: vec![((100.0, -50.0), (100.0, 50.0), 12.0)],
        ..MapSeries::default()
    }
}

#[test]
fn the_map_of_a_field_has_its_stations_links_ways_and_hidden_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let shape = Shape { uploads: &[1], downloads: 1, frames: 0, ..SMALL };
    let mut o = outcome(shape);
    o.runs.iter_mut().for_each(|r| r.detail.series.map = Some(three_in_a_row()));
    write_report(&o, &context(shape), &path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let map = page.split("<figure class=\"wide map\"").nth(1).unwrap().split("</figure>").next().unwrap();
    let names = &o.runs[0].stations;
    assert_eq!((names.len(), map.matches("class=\"node\"").count(), map.matches("class=\"way ").count()), (3, 3, 2));
    // Each station does five things; half of the time it is idle.
    assert_eq!((map.matches("class=\"ring ").count(), map.matches("stroke-dasharray=\"50.0 50.0\"").count()), (15, 3));
    assert!(map.contains(&format!("{} at (400.0 m, 0 m): sends 12 %", names[2])), "{map}");
    assert_eq!(map.matches("<path class=\"l-wall\"").count(), 1);
    assert!(page.contains("<h3>Access point</h3>"), "of the stations that roam");
    let rows: Vec<&str> = map.split("<tr><td").skip(1).collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!([&names[0], &names[2], &names[1]].iter().all(|n| rows[0].contains(n.as_str())), "{rows:?}");
    assert!(map.contains("<output>0 s</output>") && map.contains("max=\"1\""), "one more instant");
    assert!(map.contains("\"hidden\":[[0,[[0,2,1]]],[1,[]]]"), "out of reach, the last station disturbs nobody: {map}");
    let Some((dom, log)) = opened(&path, &[]) else { return };
    assert!(!log.contains("CONSOLE"), "{log}");
    assert!(dom.contains("Choose a station with a click"), "the script has run");
}

#[test]
fn one_seed_and_no_series_still_make_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let shape = Shape { uploads: &[1], seeds: 1, frames: 0, ..SMALL };
    let mut o = outcome(shape);
    o.runs.iter_mut().for_each(|r| r.detail.series = Default::default());
    write_report(&o, &context(shape), &path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("1 seed: no interval") && !page.contains("class=\"err\""));
    let Some((_, log)) = opened(&path, &[]) else { return };
    assert!(!log.contains("CONSOLE"), "{log}");
}

#[test]
fn many_flows_are_shown_as_groups() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(
        Shape { uploads: &[40], downloads: 200, seeds: 2, frames: 0, seconds: 20 },
        &folder.path().join("report.html"),
    );
    assert!(page.contains("down (200 flows)") && page.contains("the middle 80 % of its flows"));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

/// Writes pages for a person to look at, and checks nothing:
/// `cargo test -p contend-lab --test suite output_html -- --ignored`.
#[test]
#[ignore = "writes example pages to the folder in CONTEND_PAGES"]
fn example_pages() {
    let Some(folder) = std::env::var_os("CONTEND_PAGES").map(std::path::PathBuf::from) else { return };
    report(Shape { frames: 100_000, ..SMALL }, &folder.join("sweep.html"));
    report(Shape { uploads: &[2], downloads: 10, frames: 3_000, ..SMALL }, &folder.join("point.html"));
    report(Shape { uploads: &[40], downloads: 200, seeds: 3, frames: 20_000, seconds: 20 }, &folder.join("many.html"));
}
