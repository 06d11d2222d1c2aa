//! A UDP source of constant or stepped rate, and its sink (Starzetz 2006 §6.3.1, `cbr` 1.20).
//!
//! Differences from the document's program, of which only the options and their effect are printed: the format of its
//! packets is ours; the peak rate has its own option (the text names a second bucket, the list of options none); the
//! sink counts each sender separately, with losses.

mod bucket;
mod packet;
mod sink;
mod source;

pub use packet::{LARGEST, LEAST};
pub use sink::{Heard, Listening, receive};
pub use source::{Pings, Sent, Settings, Sweep, Total, send};
