//! The parts of a wire behind its queue, and the trace.

use super::ring::Ring;
use super::transmitter::Transmitter;
use crate::stats::QueueMeter;
use crate::trace::Trace;

/// The parts of a wire behind its queue, and the trace, for one call.
pub(super) struct Line<'a> {
    pub transmitter: &'a mut Transmitter,
    pub ring: &'a mut Ring,
    pub meter: &'a mut QueueMeter,
    pub trace: &'a mut Trace,
}
