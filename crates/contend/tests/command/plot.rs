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
fn a_file_that_cannot_be_written_is_told_before_the_runs() {
    let bench = Bench::with("f.toml", &SMALL.replace("duration = \"3s\"", "duration = \"900000s\""));
    bench.file("flat", "");
    bench.file("folder/a.svg/b", "");
    for output in ["flat/a.svg", "folder/a.svg"] {
        bench.contend(&["plot", "f.toml", "-o", output]).with(2).says(&[output, "name a file in a folder that can be"]);
    }
}
