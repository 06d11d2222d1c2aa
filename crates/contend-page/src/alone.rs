//! A page that opens from disk, with experiments and contend in it: the reader needs nothing but a browser.

use crate::parts::{Page, Parts};
use crate::session::{Report, Settings};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use contend_experiment::reading::file::Experiment;
use contend_report::output::report_sources;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// contend for browsers, compressed with gzip: the crate contend-web, made by its `build.sh`. `None` if this program
/// was built without the feature `module`.
pub const MODULE: Option<&[u8]> = {
    #[cfg(feature = "module")]
    let module = Some(include_bytes!("../module/contend_web.wasm.gz") as &[u8]);
    #[cfg(not(feature = "module"))]
    let module = None;
    module
};

const HOST: &str = include_str!("../page/alone.js");
const WORKER: &str = include_str!("../page/worker.js");

/// An experiment of a page.
#[derive(Debug, Serialize)]
pub struct Given {
    /// Its file's name, in messages and downloads.
    pub name: String,
    /// Its title, in the menu.
    pub title: String,
    /// The text of the file.
    pub text: String,
    /// Settings before those of the page.
    pub sets: Settings,
    /// The texts of the files that it names, by path.
    pub files: BTreeMap<String, String>,
    /// The report of these settings, which the page shows first. Without it, the page makes its own.
    pub made: Option<Report>,
}

impl Given {
    /// The experiment `e`, all points of which were tried, with a report of its own settings.
    pub fn of(e: &Experiment, made: Option<Report>) -> Given {
        let sets = e.source.sets.iter().filter_map(|set| set.split_once('='));
        let folder = Path::new(&e.source.path).parent().unwrap_or(Path::new(""));
        let path = |file: String| folder.join(file).display().to_string();
        Given {
            name: e.source.path.clone(),
            title: e.title.clone(),
            text: e.source.text.clone(),
            sets: sets.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            files: e.traces.read().into_iter().map(|(file, text)| (path(file), text.to_string())).collect(),
            made,
        }
    }
}

#[derive(Serialize)]
struct Data<'a> {
    experiments: &'a [Given],
}

/// The page of these experiments; it opens with the first one. `module` is [`MODULE`].
pub fn page(experiments: &[Given], module: &[u8]) -> Page {
    let element = |id: &str, text: &str| format!("<script type=\"text/plain\" id=\"{id}\">{text}</script>\n");
    let elements = element("worker", WORKER) + &element("module", &BASE64_STANDARD.encode(module));
    let (styles, script) = report_sources();
    let scripts = format!("{script} 'wasm-unsafe-eval'");
    let policy = [styles.as_str(), scripts.as_str(), "; worker-src blob:"];
    Parts { host: HOST, data: &Data { experiments }, elements: &elements, policy }.page()
}
