//! `contend plot`: figures as files, their looks, and wrong calls.

use super::{Bench, SMALL};

fn swept() -> String {
    format!("{SMALL}\n[sweep]\n\"flow.1.count\" = [1, 2, 3]\n")
}

#[test]
fn the_figures_of_a_file_and_of_its_results_are_the_same() {
    let bench = Bench::with("f.toml", SMALL);
    let of_file = bench.contend(&["plot", "f.toml"]).with(0).out;
    assert!(of_file.starts_with("   1  ") && of_file.contains("Goodput of each flow\n"), "{of_file}");
    let flows = of_file.lines().find(|l| l.contains("Goodput of each flow")).unwrap();
    let number = flows.split_whitespace().next().unwrap();
    bench.contend(&["plot", "f.toml", "--figure", number, "-o", "file.svg"]).with(0).says(&["file.svg"]);
    assert!(!bench.path("results").exists(), "a plot writes no results");
    bench.contend(&["run", "f.toml"]).with(0);
    assert_eq!(bench.contend(&["plot", "results/f"]).with(0).out, of_file);
    bench.contend(&["plot", "results/f", "--figure", number, "-o", "folder.svg"]).with(0);
    let svg = bench.read("file.svg");
    assert_eq!(svg, bench.read("folder.svg"));
    // The file needs no style sheet, and each bar has its value and interval.
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" ") && !svg.contains("class="), "{svg}");
    assert_eq!((svg.matches("<title>").count(), svg.matches(" ± ").count()), (3, 3), "{svg}");
    // Numbers that are not those of the folder are not drawn.
    let summary = bench.read("results/f/summary.json").replacen("\"digest\": \"", "\"digest\": \"0", 1);
    let summary =
        if summary.contains("\"digest\": \"0") { summary } else { summary.replacen("digest\":\"", "digest\":\"0", 1) };
    bench.file("results/f/summary.json", summary);
    bench.contend(&["plot", "results/f", "-o", "other.svg"]).with(2).says(&["digest", "contend plot"]);
    assert!(!bench.path("other.svg").exists());
}

#[test]
fn a_figure_has_the_size_the_font_the_colours_and_the_words_of_the_call() {
    let bench = Bench::with("f.toml", &swept());
    let draw = |more: &[&str]| {
        bench
            .contend(&[&["plot", "f.toml", "--metric", "goodput.up, goodput.down", "-o", "a.svg"], more].concat())
            .with(0);
        bench.read("a.svg")
    };
    let colour = draw(&[]);
    assert!(colour.contains("#0072b2") && colour.contains("#d55e00") && !colour.contains("bold"), "{colour}");
    assert!(colour.contains(">flow.1.count</text>") && colour.contains(">goodput.up</text>"), "{colour}");
    let grey = draw(&["--palette", "grey"]);
    assert!(!grey.contains("#0072b2") && grey.contains("stroke-dasharray=\"7 3\""), "{grey}");
    let words = ["--title", "Up & down", "--x-label", "uploads", "--y-label", "Goodput [Mb/s]"];
    let own = draw(
        &[&words[..], &["--width", "8.5cm", "--height", "50mm", "--font", "Some Serif", "--size", "10pt"]].concat(),
    );
    assert!(own.contains("width=\"240.94pt\" height=\"141.73pt\""), "{own}");
    for text in [">Up &amp; down</text>", ">uploads</text>", ">Goodput [Mb/s]</text>", "font-family=\"'Some Serif', "] {
        assert!(own.contains(text), "no {text} in {own}");
    }
    let log = draw(&["--log", "xy"]);
    assert!(log.contains(">5</text>") && log != colour, "{log}");
}

#[test]
fn pictures_are_png_and_pdf_of_the_size_of_the_call() {
    let bench = Bench::with("f.toml", SMALL);
    let file = |name: &str| bench.contend(&["plot", "f.toml", "--quiet", "--width", "8.5cm", "-o", name]);
    let first = file("a.png");
    if first.err.contains("no fonts") {
        return;
    }
    first.with(0);
    let png = std::fs::read(bench.path("a.png")).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1004, "8.5 cm with 300 pixels for each inch");
    file("a.pdf").with(0);
    assert!(std::fs::read(bench.path("a.pdf")).unwrap().starts_with(b"%PDF-"));
    bench
        .contend(&["plot", "f.toml", "-o", "b.png", "--font", "No Such Font"])
        .with(2)
        .says(&["no font \"No Such Font\"", "fc-list"]);
}

#[test]
fn a_wrong_call_says_what_to_write_instead() {
    let bench = Bench::with("f.toml", SMALL);
    bench.file("flat", "");
    for (args, texts) in [
        (&["--metric", "godput.up", "-o", "a.svg"][..], &["--metric godput.up", "`godput", "help: "][..]),
        (&["--metric", "jain", "--x", "nokey", "-o", "a.svg"], &["`nokey`", "flow, time, or a metric"]),
        (&["--metric", "jain", "--by", "nokey", "-o", "a.svg"], &["--by names a key that is not swept: `nokey`"]),
        (&["--metric", "jain"], &["-o figure.svg"]),
        (&["--figure", "0", "-o", "a.svg"], &["there is no figure 0", "contend plot f.toml"]),
        (&["--figure", "99", "-o", "a.svg"], &["there is no figure 99: there are ", "contend plot f.toml"]),
        (&["-o", "a.gif"], &["a.gif: the ending must be .svg, .png or .pdf", "-o a.svg"]),
        (&["--metric", "jain", "--by", "a,b,c", "-o", "a.svg"], &["--by has 3 keys", "name the key of the lines"]),
        (&["-o", "flat/a.svg"], &["flat", "name a file in a folder that can be written"]),
        (&["-o", "a.svg", "--width", "8"], &["write a length like 8.5cm"]),
        (&["-o", "a.svg", "--size", "0pt"], &["write a size like 8pt"]),
    ] {
        let ended = bench.contend(&[&["plot", "f.toml"], args].concat()).with(2).says(texts);
        assert_eq!(ended.err.matches("contend: ").count(), 1, "{}", ended.err);
    }
    assert!(!bench.path("a.svg").exists());
    bench.contend(&["plot", "."]).with(2).says(&["is not a results folder"]);
    bench.contend(&["run", "f.toml"]).with(0);
    bench.contend(&["plot", "results/f", "--seeds", "1"]).with(2).says(&["settings change nothing", "run.toml"]);
}

#[test]
fn bars_in_grey_are_hatched() {
    let bench = Bench::with("f.toml", &format!("{SMALL}\n[sweep]\n\"ap.queue\" = [\"fifo\", \"fq_codel\"]\n"));
    let call = ["plot", "f.toml", "--seeds", "1", "--metric", "goodput.up, goodput.down", "-o", "a.svg"];
    bench.contend(&[&call[..], &["--palette", "grey"]].concat()).with(0);
    let grey = bench.read("a.svg");
    for pattern in ["<pattern id=\"h1\"", "fill=\"url(#h1)\""] {
        assert!(grey.contains(pattern), "no {pattern} in {grey}");
    }
    bench.contend(&call).with(0);
    assert!(!bench.read("a.svg").contains("pattern"));
}

#[test]
fn a_second_key_makes_panels_in_one_file() {
    let bench = Bench::with("f.toml", &format!("{}\"ap.queue\" = [\"fifo\", \"fq_codel\"]\n", swept()));
    let call = ["plot", "f.toml", "--seeds", "1", "--metric", "goodput.up, jain", "--x", "flow.1.count"];
    bench
        .contend(&[&call[..], &["--by", "flow.0.count,ap.queue", "-o", "a.svg"]].concat())
        .with(2)
        .says(&["--by names a key"]);
    let sweep = ["--sweep", "flow.0.count=1,2", "--width", "15cm"];
    bench.contend(&[&call[..], &sweep, &["--by", "flow.0.count,ap.queue", "-o", "a.svg"]].concat()).with(0);
    let svg = bench.read("a.svg");
    assert_eq!(svg.matches("<svg ").count(), 3, "two panels: {svg}");
    assert!(svg.contains("width=\"425.20pt\"") && !svg.contains(">jain</text>"), "the first unit: {svg}");
    for title in [">ap.queue = fifo</text>", ">ap.queue = fq_codel</text>"] {
        assert!(svg.contains(title), "no {title} in {svg}");
    }
}

#[test]
fn one_of_several_figures_says_which_it_is() {
    let bench = Bench::with("f.toml", &format!("{}\"ap.queue\" = [\"fifo\", \"fq_codel\"]\n", swept()));
    let call = ["plot", "f.toml", "--seeds", "1", "--metric", "goodput.up, jain", "--x", "flow.1.count"];
    let sweep = ["--sweep", "flow.0.count=1,2", "-o", "a.svg"];
    // Two units, and two values of a key that makes no lines.
    let draw = |more: &[&str]| bench.contend(&[&call[..], &sweep, &["--by", "ap.queue"], more].concat());
    let names = ["goodput.up", "jain"].map(|m| ["1", "2"].map(|n| format!("{m}, flow.0.count = {n}")));
    let first =
        draw(&[]).with(0).says(&["make 4 figures", "--figure N", "   2  jain along flow.1.count, flow.0.count = 1"]);
    assert_eq!(first.err.matches("along flow.1.count").count(), 4, "{}", first.err);
    assert!(bench.read("a.svg").contains(&format!(">{}</text>", names[0][0])), "{}", bench.read("a.svg"));
    let last = draw(&["--figure", "4"]).with(0);
    assert!(bench.read("a.svg").contains(&format!(">{}</text>", names[1][1])) && !last.err.contains("figures"));
    draw(&["--figure", "4", "--title", ""]).with(0);
    assert!(!bench.read("a.svg").contains("bold"));
    draw(&["--figure", "5"]).with(2).says(&["there is no figure 5: there are 4", "name one of: 1  goodput.up along"]);
    // Panels are one figure for each unit, with one legend.
    bench.contend(&[&call[..], &sweep, &["--by", "ap.queue,flow.0.count"]].concat()).with(0).says(&["make 2 figures"]);
    let panels = bench.read("a.svg");
    for once in [">fifo</text>", ">fq_codel</text>"] {
        assert_eq!(panels.matches(once).count(), 1, "{panels}");
    }
    // Without metrics the list is printed, and the first is drawn.
    bench.contend(&["plot", "f.toml", "--seeds", "1", "-o", "a.svg"]).with(0).says(&["figure 1 is drawn; --figure N"]);
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_runs() {
    let bench = Bench::with("f.toml", &SMALL.replace("duration = \"3s\"", "duration = \"900000s\""));
    bench.file("flat", "");
    bench.file("folder/a.svg/b", "");
    for output in ["flat/a.svg", "folder/a.svg"] {
        bench.contend(&["plot", "f.toml", "-o", output]).with(2).says(&[output, "name a file in a folder that can be"]);
    }
}

#[test]
fn the_air_of_an_interval_has_frames_spaces_and_backoff() {
    let bench = Bench::with("f.toml", SMALL);
    let air = ["plot", "f.toml", "--air", "2s..2.003s"];
    let csv = bench.contend(&air).with(0).out;
    let frames: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(frames.len() > 8, "{csv}");
    // 802.11g: SIFS 10 us, slot 9 us. The backoff and the space before it fill the time since the last frame.
    let number = |text: &str| text.parse::<u64>().unwrap();
    let mut waits = 0;
    for (i, f) in frames.iter().enumerate().filter(|(i, f)| *i > 0 && !f[10].is_empty()) {
        let start = number(f[0]);
        let idle = frames[..i].iter().filter(|b| number(b[0]) < start).map(|b| number(b[1])).max().unwrap_or_default();
        assert_eq!((start - idle, number(f[10])), (number(f[10]) + 9_000 * number(f[11]), 28_000), "{f:?}");
        waits += 1;
    }
    assert!(waits > 1, "{csv}");
    bench.contend(&[&air[..], &["-o", "a.svg", "--palette", "grey"]].concat()).with(0);
    let svg = bench.read("a.svg");
    for text in [">DIFS</text>", ">access point</text>", ">up.1.sta</text>", "time after 2 s [µs]", "<title>ACK to "] {
        assert!(svg.contains(text), "no {text} in {svg}");
    }
    let marks = svg.matches("<title>").count() - svg.matches("<title>backoff").count();
    let spaces = svg.matches("<title>DIFS").count() + svg.matches("<title>SIFS").count();
    assert_eq!(marks - spaces, frames.len(), "one mark for each frame");
    // Stations that are silent have a lane too.
    let short = ["plot", "f.toml", "--air", "2s..2.0002s"];
    let senders = bench.contend(&short).with(0).out;
    bench.contend(&[&short[..], &["-o", "short.svg"]].concat()).with(0);
    let (short, stations) = (bench.read("short.svg"), ["down.1.sta", "down.2.sta", "up.1.sta"]);
    assert!(stations.iter().any(|name| !senders.contains(&format!(",{name},"))), "nobody is silent: {senders}");
    assert!(stations.iter().all(|name| short.contains(&format!(">{name}</text>"))), "{short}");
    // The same run of a results folder is the same picture.
    bench.contend(&["run", "f.toml"]).with(0);
    bench.contend(&["plot", "results/f", "--air", "2s..2.003s", "-o", "b.svg", "--palette", "grey"]).with(0);
    assert_eq!(svg, bench.read("b.svg"));
    for (interval, texts) in [
        ("3s..4s", &["--air: it begins at 3 s", "earlier"][..]),
        ("0s..3s", &["a figure shows at most 400", "shorter"]),
        ("0s..1us", &["--air: no frame"]),
        ("2s", &["10s..10.5s"]),
    ] {
        let _ = bench.contend(&["plot", "f.toml", "--air", interval, "-o", "c.svg"]).with(2).says(texts);
    }
    assert!(!bench.path("c.svg").exists());
}

#[test]
fn an_aggregate_on_the_air_shows_its_mpdus() {
    let bench =
        Bench::with("a.toml", &std::fs::read_to_string(super::workspace().join("docs/plots/ampdu.toml")).unwrap());
    bench.contend(&["plot", "a.toml", "--air", "500.54ms..501.6ms", "-o", "a.svg"]).with(0);
    let svg = bench.read("a.svg");
    let data = svg.split("<title>A-MPDU of 8, ").nth(1).unwrap().split("</g>").next().unwrap();
    // The frame, its MPDUs, and the ground of its words.
    assert_eq!(data.matches("<rect ").count(), 1 + 8 + 1, "{data}");
    for word in [">RTS</text>", ">CTS</text>", ">BA</text>"] {
        assert!(svg.contains(word), "no {word} in {svg}");
    }
    // MPDUs that are narrower than their borders are one bar.
    bench.contend(&["plot", "a.toml", "--air", "500.54ms..550ms", "-o", "a.svg", "--palette", "grey"]).with(0);
    let svg = bench.read("a.svg");
    let data = svg.split("<title>A-MPDU of 8, ").nth(1).unwrap().split("</g>").next().unwrap();
    assert_eq!(data.matches("<rect ").count(), 1, "{data}");
}

#[test]
fn the_map_of_a_field_is_a_figure() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["plot", "f.toml", "--map", "-o", "a.svg"]).with(2).says(&["there is no map", "--map"]);
    let file = super::workspace().join("experiments/hidden.toml").display().to_string();
    let call = ["plot", &file, "--map", "--set", "duration=2s", "--set", "warmup=1s"];
    let csv = bench.contend(&call).with(0).out;
    assert!(csv.starts_with("station,x_m,y_m,sends,"), "{csv}");
    let draw = |more: &[&str]| {
        bench.contend(&[&call[..], &["-o", "a.svg"], more].concat()).with(0);
        bench.read("a.svg")
    };
    let colour = draw(&["--width", "12cm", "--title", "Who hears whom"]);
    assert!(colour.contains("width=\"340.16pt\"") && colour.contains(">Who hears whom</text>"), "{colour}");
    assert!(!colour.contains("class=") && !colour.contains("tabindex"), "a file has no style sheet: {colour}");
    for station in csv.lines().skip(1).map(|line| line.split(',').next().unwrap()) {
        assert!(colour.contains(&format!("<title>{station}")), "no {station} in {colour}");
    }
    assert!(colour.contains("#d55e00") && !draw(&["--palette", "grey"]).contains("#d55e00"));
}
