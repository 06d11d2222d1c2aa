//! The map of a field: stations, who hears whom, the ways of packets, who is hidden from whom, and what each station
//! does. The figure shows the first instant. The page's script moves it with a slider, and shows what a chosen station
//! hears.

use super::chart::Wish;
use super::ink::{Ink, LETTER};
use super::svg::{SAMPLE, width};
use super::{class, csv_link, escaped, how};
use crate::output::csv::quoted;
use crate::output::table::significant;
use contend_experiment::map::{Course, Hidden, MapSeries, MapWall, hidden};
use contend_experiment::results::Run;
use contend_sim::wifi::StationId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Width of the drawing, its margin, and its least and greatest height, in pixels.
const WIDTH: f64 = 1100.0;
const MARGIN: f64 = 50.0;
const HEIGHTS: (f64, f64) = (170.0, 640.0);
/// With more stations they are dots without rings and names.
const RINGS: usize = 150;
/// How far links that are only sensed, and those between hidden stations, bend to one side and the other, as shares of
/// their length. So they do not cover each other where stations are in a row. A longer one bends as one of this length.
const SENSES: f64 = 0.16;
const HIDDEN: f64 = -0.24;
const HIGHEST: f64 = 400.0;
/// Number of styles of ways.
const STYLES: usize = 8;
/// Maximum number of rows of the table of hidden stations.
const LISTED: usize = 100;

/// What a station does: a word, and the class of its part of the ring.
const PARTS: [(&str, &str); 5] = [
    ("sends", "r-sends"),
    ("receives", "r-receives"),
    ("hears others", "r-hears"),
    ("blocked", "r-blocked"),
    ("idle", "r-idle"),
];

/// The map of a run, if its stations have positions or links.
pub(super) fn figure(run: &Run, command: &str) -> Option<String> {
    let map = run.detail.series.map.as_ref()?;
    let scale = Scale::of(map, WIDTH, HEIGHTS.1)?;
    let hidden = hidden_over_time(map);
    let instants = instants(map, &hidden);
    let slider = match &instants[..] {
        [first, _, ..] => format!(
            "<p class=\"pick script\"><label>Time <input type=\"range\" min=\"0\" max=\"{}\" value=\"0\"></label> \
             <output>{first} s</output></p>\n",
            instants.len() - 1
        ),
        _ => String::new(),
    };
    let cut = if map.cut { " Some links or ways are left out: there are too many." } else { "" };
    let table = hidden.first().map_or(String::new(), |(_, pairs)| table(run, pairs));
    let data = data(run, map, &hidden, &instants, &scale).to_string().replace('<', "\\u003c");
    Some(format!(
        "<figure class=\"wide map\"{}>\n<h3>Map</h3>\n<p class=\"legend\">{}</p>\n{slider}<div \
         class=\"plot\">{}</div>\n<p class=\"said script\" aria-live=\"polite\"></p>\n{table}<figcaption>Seed {}. \
         The ring of a station shows what it does in the measured time. Acknowledgments take the ways of the data \
         back.{cut}<span class=\"tools\">{} {}</span></figcaption>\n<script \
         type=\"application/json\">{data}</script>\n</figure>\n",
        if map.positions.len() > 1 { " data-moves=\"1\"" } else { "" },
        legend(run, map),
        svg_of(run, map, &hidden, &scale),
        run.seed,
        csv_link("Map", &csv(run, map)),
        how(command),
    ))
}

/// The map of `run` at its first instant as the text of an SVG file; `None` if its stations have neither positions nor
/// links.
pub fn map_file(run: &Run, wish: &Wish) -> Option<String> {
    let map = run.detail.series.map.as_ref()?;
    let paper = &wish.paper;
    let unit_pt = paper.size_pt / LETTER;
    let width = paper.width_pt.unwrap_or(482.0) / unit_pt;
    let legend = legend_in_file(run, map, width, Ink::File(paper));
    let top = legend.1 + if wish.title.is_some() { 20.0 } else { 0.0 };
    let tallest = paper.height_pt.map_or(HEIGHTS.1, |pt| (pt / unit_pt - top).max(2.0 * MARGIN + 1.0));
    let scale = Scale::of(map, width, tallest)?;
    let height = paper.height_pt.map_or(scale.height + top, |pt| pt / unit_pt);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.2}pt\" height=\"{:.2}pt\" viewBox=\"0 0 {width:.1} \
         {height:.1}\" role=\"img\" aria-label=\"Map of {} stations\" font-family=\"{}\" \
         font-size=\"{LETTER}\">\n<rect \
         width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#ffffff\"/>",
        width * unit_pt,
        height * unit_pt,
        run.stations.len(),
        escaped(&paper.family()),
    );
    if let Some(title) = &wish.title {
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"15\" text-anchor=\"middle\" font-size=\"13\" font-weight=\"bold\" \
             fill=\"#1b1d22\">{}</text>",
            width / 2.0,
            escaped(title)
        );
    }
    let _ = write!(out, "<g transform=\"translate(0 {:.1})\">{}</g>", top - legend.1, legend.0);
    let drawn = drawing(run, map, &hidden_over_time(map), &scale, Ink::File(paper));
    Some(out + &format!("<g transform=\"translate(0 {top:.1})\">\n{drawn}</g></svg>\n"))
}

/// The numbers of the map of `run` as CSV.
pub fn map_csv(run: &Run) -> Option<String> {
    run.detail.series.map.as_ref().map(|map| csv(run, map))
}

/// The legend of a file, and its height.
fn legend_in_file(run: &Run, map: &MapSeries, across: f64, ink: Ink) -> (String, f64) {
    let (mut out, mut x, mut y) = (String::new(), 10.0, 11.0);
    for (look, style, text) in legend_items(run, map) {
        let needs = SAMPLE + 6.0 + width(&text) + 12.0;
        if x > 10.0 && x + needs > across {
            (x, y) = (10.0, y + 16.0);
        }
        let mark = ink.of(&look, style);
        out += &if look.starts_with("ring") {
            format!("<path {mark} d=\"M{:.1} {y:.1}h12\"/>", x + SAMPLE - 14.0)
        } else {
            format!("<path {mark} d=\"M{x:.1} {y:.1}h{SAMPLE}\"/>")
        };
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#1b1d22\">{}</text>",
            x + SAMPLE + 5.0,
            y + 4.0,
            escaped(&text)
        );
        x += needs;
    }
    (out, y + 9.0)
}

/// The first instant as an `<svg>` element of the page.
fn svg_of(run: &Run, map: &MapSeries, hidden: &Course<Vec<Hidden>>, scale: &Scale) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"group\" aria-label=\"Map of {} stations\">\n{}</svg>",
        scale.height,
        run.stations.len(),
        drawing(run, map, hidden, scale, Ink::Page)
    )
}

/// The first instant.
fn drawing(run: &Run, map: &MapSeries, hidden: &Course<Vec<Hidden>>, scale: &Scale, ink: Ink) -> String {
    let metres = at_first(&map.positions);
    let place = |s: StationId| scale.place(metres.get(s as usize).copied().unwrap_or_default());
    let line = |(a, b): (StationId, StationId), bend: f64| {
        let ((ax, ay), (bx, by)) = (place(a), place(b));
        let (dx, dy) = (bx - ax, by - ay);
        let up = bend * (HIGHEST / libm::hypot(dx, dy).max(1.0)).min(1.0);
        let (x, y) = ((ax + bx) / 2.0 + up * dy, (ay + by) / 2.0 - up * dx);
        format!("M{ax:.1} {ay:.1}Q{x:.1} {y:.1} {bx:.1} {by:.1}")
    };
    let links = undirected(at_first(&map.links));
    let of_kind = |decodes: bool, bend: f64| {
        links.iter().filter(|l| *l.1 == decodes).map(|l| line(*l.0, bend)).collect::<String>()
    };
    let pairs: BTreeMap<_, ()> = at_first(hidden).iter().map(|h| (h.pair, ())).collect();
    let mut out = format!(
        "{}<path {} d=\"{}\"/><path {} d=\"{}\"/><path {} d=\"{}\"/>\n",
        walls(map, scale, ink),
        ink.of("l-senses", 0),
        of_kind(false, SENSES),
        ink.of("l-decodes", 0),
        of_kind(true, 0.0),
        ink.of("l-hidden", 0),
        pairs.into_keys().map(|pair| line(pair, HIDDEN)).collect::<String>(),
    );
    for (flow, way) in at_first(&map.routes).iter().enumerate() {
        let points: Vec<String> = way.iter().map(|s| place(*s)).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let d = if points.is_empty() { String::new() } else { format!("M{}", points.join("L")) };
        let name = run.flows.get(flow).map_or("", |f| &f.name);
        let _ = writeln!(
            out,
            "<path {} d=\"{d}\"><title>{}</title></path>",
            ink.of(&format!("way {}", class(flow % STYLES)), flow % STYLES),
            escaped(name)
        );
    }
    let (bar, text) = if map.is_graph { scale.no_bar() } else { scale.bar(ink) };
    let mut taken = vec![text];
    let rings = run.stations.len() <= RINGS;
    let mut nodes = String::new();
    for (n, name) in run.stations.iter().enumerate() {
        let (x, y) = place(n as StationId);
        let at = metres.get(n).copied().filter(|_| !map.is_graph);
        let about = escaped(&described(run, n, at));
        let _ = write!(
            nodes,
            "<g {}transform=\"translate({x:.1} {y:.1})\"{}><title>{about}</title><circle {} r=\"{}\"/>",
            if let Ink::Page = ink { "class=\"node\" " } else { "" },
            match ink {
                Ink::Page => format!(
                    " role=\"button\" tabindex=\"{}\" aria-pressed=\"false\" aria-label=\"{about}\"",
                    if n == 0 { 0 } else { -1 }
                ),
                Ink::File(_) => String::new(),
            },
            ink.of("disc", 0),
            if rings { 10 } else { 4 },
        );
        if rings {
            let text = if label_fits(&mut taken, name, (x, y)) { escaped(name) } else { String::new() };
            let _ = write!(nodes, "{}<text {} y=\"-16\">{text}</text>", ring(run, name, ink), ink.of("mid", 0));
        }
        nodes += "</g>\n";
    }
    out + &losses(map, &place, &mut taken, ink) + &nodes + &bar
}

/// The walls.
fn walls(map: &MapSeries, scale: &Scale, ink: Ink) -> String {
    let wall = |&(from, to, loss): &MapWall| {
        let ((ax, ay), (bx, by)) = (scale.place(from), scale.place(to));
        let loss = significant(loss, 3);
        let look = ink.of("l-wall", 0);
        format!("<path {look} d=\"M{ax:.1} {ay:.1}L{bx:.1} {by:.1}\"><title>{loss} dB</title></path>")
    };
    map.walls.iter().map(wall).collect()
}

/// What links lose, on each link where there is room. Of both directions the first counts.
fn losses(map: &MapSeries, place: &dyn Fn(StationId) -> (f64, f64), taken: &mut Vec<[f64; 4]>, ink: Ink) -> String {
    let mut all: BTreeMap<_, f64> = BTreeMap::new();
    for &(a, b, loss) in &map.losses {
        all.entry((a.min(b), a.max(b))).or_insert(loss);
    }
    if all.is_empty() || all.len() > LISTED {
        return String::new();
    }
    let text = |((a, b), loss): ((StationId, StationId), f64)| {
        let ((ax, ay), (bx, by)) = (place(a), place(b));
        let text = format!("{} dB", significant(loss, 3));
        let mut places = [0.5, 0.4, 0.6, 0.3, 0.7].iter().map(|t| (ax + t * (bx - ax), ay + t * (by - ay)));
        // The text of a station is 16 pixels above it, that of a link is on it.
        let (x, y) = places.find(|(x, y)| label_fits(taken, &text, (*x, y + 20.0)))?;
        Some(format!("<text {} x=\"{x:.1}\" y=\"{:.1}\">{text}</text>", ink.of("mid", 0), y + 4.0))
    };
    let open = if let Ink::Page = ink { "<g class=\"losses\">" } else { "<g>" };
    format!("{open}{}</g>\n", all.into_iter().filter_map(text).collect::<String>())
}

/// The value at the first instant.
fn at_first<T>(course: &Course<Vec<T>>) -> &[T] {
    course.first().map_or(&[], |(_, value)| value)
}

/// Links without direction, true if one of the two decodes the other.
fn undirected(links: &[(StationId, StationId, bool)]) -> BTreeMap<(StationId, StationId), bool> {
    let mut all = BTreeMap::new();
    for &(a, b, decodes) in links {
        *all.entry((a.min(b), a.max(b))).or_insert(false) |= decodes;
    }
    all
}

/// Who is hidden from whom whenever links or ways change.
fn hidden_over_time(map: &MapSeries) -> Course<Vec<Hidden>> {
    let mut times: Vec<f64> = map.links.iter().map(|(t, _)| *t).chain(map.routes.iter().map(|(t, _)| *t)).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let mut all: Course<Vec<Hidden>> = vec![];
    for time in times {
        let found = match (known(&map.links, time), known(&map.routes, time)) {
            (Some(links), Some(routes)) => hidden(links, routes),
            _ => vec![],
        };
        if all.last().is_none_or(|(_, before)| *before != found) {
            all.push((time, found));
        }
    }
    all
}

/// The value that holds at `time`.
fn known<T>(course: &Course<T>, time: f64) -> Option<&T> {
    course.iter().rev().find(|(from, _)| *from <= time).map(|(_, value)| value)
}

/// All instants at which something changes.
fn instants(map: &MapSeries, hidden: &Course<Vec<Hidden>>) -> Vec<f64> {
    fn of<T>(course: &Course<T>) -> impl Iterator<Item = f64> {
        course.iter().map(|(t, _)| *t)
    }
    let mut all: Vec<f64> = of(&map.positions).chain(of(&map.links)).chain(of(&map.routes)).chain(of(hidden)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// What the script draws: each course as a list of the instant's number and the value. Positions are tenths of a pixel.
fn data(run: &Run, map: &MapSeries, hidden: &Course<Vec<Hidden>>, instants: &[f64], scale: &Scale) -> Value {
    fn course<T>(course: &Course<Vec<T>>, instants: &[f64], flat: impl Fn(&T) -> Value) -> Vec<Value> {
        let number = |time: &f64| instants.iter().position(|t| t == time).unwrap_or_default();
        course.iter().map(|(t, values)| json!([number(t), values.iter().map(&flat).collect::<Vec<_>>()])).collect()
    }
    let tenths = |p: &(f64, f64)| {
        let (x, y) = scale.place(*p);
        json!([libm::round(x * 10.0), libm::round(y * 10.0)])
    };
    let links: Course<Vec<_>> =
        map.links.iter().map(|(t, l)| (*t, undirected(l).into_iter().collect::<Vec<_>>())).collect();
    json!({
        "names": run.stations,
        "time": instants,
        "positions": course(&map.positions, instants, tenths),
        "links": course(&links, instants, |((a, b), decodes)| json!([a, b, u8::from(*decodes)])),
        "hidden": course(hidden, instants, |h| json!([h.pair.0, h.pair.1, h.at])),
        "ways": course(&map.routes, instants, |way| json!(way)),
    })
}

/// The shares of what a station does; empty if they are unknown.
fn shares(run: &Run, name: &str) -> Vec<f64> {
    let radio = run.air.as_ref().and_then(|air| air.radio.as_ref());
    radio.map_or(vec![], |r| r.accounts().map(|(_, of)| of.get(name).copied().unwrap_or_default()).to_vec())
}

/// The ring of a station.
fn ring(run: &Run, name: &str, ink: Ink) -> String {
    let mut from = 0.0;
    PARTS.iter().zip(shares(run, name)).fold(String::new(), |mut out, ((_, class), share)| {
        let (length, rest) = (100.0 * share, 100.0 - 100.0 * share);
        if let (true, Ink::File(_)) = (length >= 0.05, ink) {
            // Not all programs know pathLength, or turn with a style sheet.
            let around = std::f64::consts::TAU * 10.0 / 100.0;
            let _ = write!(
                out,
                "<circle {} r=\"10\" transform=\"rotate(-90)\" stroke-dasharray=\"{:.2} {:.2}\" \
                 stroke-dashoffset=\"{:.2}\"/>",
                ink.of(&format!("ring {class}"), 0),
                length * around,
                rest * around,
                -from * around
            );
        } else if length >= 0.05 {
            let _ = write!(
                out,
                "<circle class=\"ring {class}\" r=\"10\" pathLength=\"100\" stroke-dasharray=\"{length:.1} {rest:.1}\" \
                 stroke-dashoffset=\"{:.1}\"/>",
                -from
            );
        }
        from += length;
        out
    })
}

/// Name, place and doings of a station, in a phrase.
fn described(run: &Run, n: usize, at: Option<(f64, f64)>) -> String {
    let name = run.stations.get(n).map_or("", String::as_str);
    let parts: Vec<String> = PARTS
        .iter()
        .zip(shares(run, name))
        .map(|((word, _), share)| format!("{word} {} %", significant(100.0 * share, 2)))
        .collect();
    let at = at.map_or(String::new(), |(x, y)| format!(" at ({} m, {} m)", significant(x, 4), significant(y, 4)));
    format!("{name}{at}: {}", parts.join(", "))
}

fn legend(run: &Run, map: &MapSeries) -> String {
    let shown = |(look, _, word): (String, usize, String)| {
        let class = look.strip_prefix("ring ").or(look.strip_prefix("way ")).unwrap_or(&look);
        format!("<span class=\"{class}\"><i></i>{}</span>", escaped(&word))
    };
    legend_items(run, map).map(shown).collect()
}

/// Class, style and text of what a map shows.
fn legend_items(run: &Run, map: &MapSeries) -> impl Iterator<Item = (String, usize, String)> {
    let parts = PARTS.map(|(word, class)| (format!("ring {class}"), 0, word.to_owned()));
    let links = [("l-decodes", "decodes"), ("l-senses", "senses only"), ("l-hidden", "hidden from each other")];
    let ways = at_first(&map.routes).iter().zip(&run.flows).enumerate().filter(|(_, (way, _))| !way.is_empty());
    let way = |(i, (_, f)): (usize, (_, &contend_experiment::results::Flow))| {
        (format!("way {}", class(i % STYLES)), i % STYLES, f.name.clone())
    };
    let ways: Vec<_> = ways.take(STYLES).map(way).collect();
    let wall = (!map.walls.is_empty()).then_some(("l-wall", "wall"));
    let links = links.into_iter().chain(wall).map(|(class, word)| (class.to_owned(), 0, word.to_owned()));
    parts.into_iter().chain(links).chain(ways)
}

/// The table of hidden stations, collapsed.
fn table(run: &Run, pairs: &[Hidden]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let name = |s: StationId| escaped(run.stations.get(s as usize).map_or("", String::as_str));
    let rows: String = pairs
        .iter()
        .take(LISTED)
        .map(|h| {
            let [a, b, at] = [h.pair.0, h.pair.1, h.at].map(name);
            format!("<tr><td class=\"key\">{a}</td><td class=\"key\">{b}</td><td class=\"key\">{at}</td></tr>\n")
        })
        .collect();
    let more = if pairs.len() > LISTED { format!(", the first {LISTED} of {}", pairs.len()) } else { String::new() };
    format!(
        "<details><summary>Hidden stations at the start{more}</summary><div class=\"scroll\"><table \
         class=\"numbers\">\n<thead><tr><th class=\"key\">station</th><th class=\"key\">does not sense</th><th \
         class=\"key\">their frames meet at</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n"
    )
}

/// Where each station is at the start, if it has a position, and what it does.
fn csv(run: &Run, map: &MapSeries) -> String {
    let mut out = String::from("station,x_m,y_m,sends,receives,hears,blocked,idle\n");
    for (name, (x, y)) in run.stations.iter().zip(at_first(&map.positions)) {
        let shares: Vec<String> = shares(run, name).iter().map(f64::to_string).collect();
        let at = if map.is_graph { ",".to_owned() } else { format!("{x},{y}") };
        let _ = writeln!(out, "{},{at},{}", quoted(name), shares.join(","));
    }
    out
}

/// True if the name of a station at `x`, `y` covers no other name; it is then taken.
fn label_fits(taken: &mut Vec<[f64; 4]>, name: &str, (x, y): (f64, f64)) -> bool {
    let half = 3.6 * name.chars().count() as f64;
    let own = [x - half, y - 28.0, x + half, y - 14.0];
    let apart = |o: &[f64; 4]| own[2] <= o[0] || o[2] <= own[0] || own[3] <= o[1] || o[3] <= own[1];
    let fits = taken.iter().all(apart);
    if fits {
        taken.push(own);
    }
    fits
}

/// From metres to pixels.
struct Scale {
    /// The least coordinates in metres.
    least: (f64, f64),
    /// Pixels of a metre.
    zoom: f64,
    /// Where the least coordinates are.
    left: f64,
    bottom: f64,
    height: f64,
}

impl Scale {
    /// All positions of the run fit into a drawing of this width, and at most this height.
    fn of(map: &MapSeries, width: f64, tallest: f64) -> Option<Scale> {
        let walls = || map.walls.iter().flat_map(|(from, to, _)| [from, to]);
        let all = || map.positions.iter().flat_map(|(_, p)| p).chain(walls());
        all().next()?;
        let ends = |of: fn(&(f64, f64)) -> f64| {
            all().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        };
        let ((x0, x1), (y0, y1)) = (ends(|p| p.0), ends(|p| p.1));
        let room = ((width - 2.0 * MARGIN).max(1.0), tallest - 2.0 * MARGIN);
        let zoom = (room.0 / (x1 - x0).max(1e-9)).min(room.1 / (y1 - y0).max(1e-9)).min(100.0);
        let (across, up) = ((x1 - x0) * zoom, (y1 - y0) * zoom);
        let height = (up + 2.0 * MARGIN).max(HEIGHTS.0.min(tallest));
        let bottom = height - (height - up) / 2.0;
        Some(Scale { least: (x0, y0), zoom, left: (width - across) / 2.0, bottom, height })
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + (x - self.least.0) * self.zoom, self.bottom - (y - self.least.1) * self.zoom)
    }

    /// In place of a length: there are none. And the box of the text.
    fn no_bar(&self) -> (String, [f64; 4]) {
        let (y, text) = (self.height - 8.0, "links of the file, by hops");
        (
            format!("<text x=\"12\" y=\"{y:.1}\">{text}</text>\n"),
            [8.0, y - 13.0, 12.0 + 7.0 * text.len() as f64, y + 5.0],
        )
    }

    /// A length in metres at the lower left, and the box of its text.
    fn bar(&self, ink: Ink) -> (String, [f64; 4]) {
        // The greatest 1, 2 or 5 times a power of ten that is not longer than 160 pixels.
        let most = 160.0 / self.zoom;
        let power = libm::pow(10.0, libm::floor(libm::log10(most)));
        let metres = [5.0, 2.0, 1.0].map(|n| n * power).into_iter().find(|m| *m <= most).unwrap_or(power);
        let (y, length) = (self.height - 8.0, metres * self.zoom);
        let text = format!("{} m", significant(metres, 1));
        let bar = format!(
            "<path {} d=\"M8 {:.1}v6h{length:.1}v-6\"/><text x=\"12\" y=\"{:.1}\">{text}</text>\n",
            ink.of("axis", 0),
            y - 6.0,
            y - 5.0
        );
        (bar, [8.0, y - 18.0, 12.0 + 7.0 * text.len() as f64, y])
    }
}
