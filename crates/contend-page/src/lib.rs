//! An experiment on a page: its dials, its runs, and its last reports.
//!
//! | module | what |
//! | --- | --- |
//! | [`session`] | the experiment: its dials, and the reports of its runs |
//! | [`parts`] | the page: one text with its style and its scripts |
//! | [`alone`] | a page that opens from disk, with the experiment and contend in it |
//!
//! `contend live` serves the page, and runs on this machine; a page from disk runs in its browser.
//!
//! No thread, no clock and no file: who calls brings them.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod alone;
pub mod parts;
pub mod session;
