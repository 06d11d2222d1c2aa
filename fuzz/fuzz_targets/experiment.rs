//! The experiment file: any text, with a setting of the command line behind a NUL, is read or refused with a message.
#![no_main]

use contend_lab::judging::claim;
use contend_lab::reading::file::{Overlay, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (text, setting) = text.split_once('\0').unwrap_or((text, ""));
    let sets: Vec<(String, String)> =
        setting.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).into_iter().collect();
    match parse("fuzz.toml", text, &sets) {
        // A file that was accepted can be run at every point: its networks resolve.
        Ok(e) => {
            for point in e.points.iter().take(4) {
                assert!(e.scenario(point, &Overlay::default()).is_ok());
            }
            let _ = claim::validate(&e).map_err(|error| error.render(false));
        }
        Err(error) => assert!(!error.render(false).is_empty() && !error.render(true).is_empty()),
    }
});
