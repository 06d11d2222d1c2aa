//! An adapter in the host: the host itself contends for the air, and learns of a full queue.

use super::Client;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "Arai 2008, section III-B (spec T8)";
/// What it does.
pub const SUMMARY: &str = "A USB adapter, whose MAC takes packets from the host's own queue; TCP learns of a packet \
    that this queue refuses, and reduces its window (local device congestion, Linux's CWR).";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the client.
///
/// # Errors
/// Never.
pub fn build(_: &Args) -> Result<Client, Refusal> {
    Ok(Client::Usb)
}
