//! The tests of this crate from outside, as one program: a program for each file would compile `common` and link the
//! crate each time. A new file needs its `mod` here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod analyse;
mod claims;
mod common;
#[allow(dead_code, reason = "this crate uses a part")]
#[path = "../../../contend-core/tests/suite/common/contributing.rs"]
mod contributing;
mod execute;
mod file_bad;
mod file_contention;
mod file_field;
mod file_fuzz;
mod file_good;
mod file_labels;
mod file_model;
mod file_names;
mod file_settings;
mod file_silent;
mod names;
mod output;
mod output_export;
mod output_html;
mod output_pcapng;
mod run_fuzz;
mod run_words;
mod suites;
