//! What a run has beside its numbers.

use super::series::Series;
use contend_sim::wifi::{Frame, InFrame, More, StationId, StationMessage, Success};
use std::collections::BTreeMap;

/// What a run has beside its numbers: too much for a journal. [`super::Run::drop_detail`] drops it.
#[derive(Debug, Default)]
pub struct Detail {
    /// Time series; empty without sampling.
    pub series: Series,
    /// Captured frames; empty without a capture.
    pub frames: Vec<Frame>,
    /// The successes on the air; absent unless a metric needs them.
    pub successes: Option<Successes>,
    /// What captures show beside frames and names.
    pub channel: Channel,
}

/// What captures show of a channel beside frames and names; empty without a capture.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    /// For each flow, the stations where its data enter the air and leave it; `None` if they are never on the air.
    pub ends: Vec<Option<[StationId; 2]>>,
    /// The messages of stations to each other in the captured frames, by [`contend_core::Packet::payload`].
    pub messages: BTreeMap<u32, StationMessage>,
    /// The packets of frames with several packets ([`More::Packets`]).
    pub packets: Vec<InFrame>,
    /// The bitmaps of block acknowledgments ([`More::Bitmap`]).
    pub bitmaps: Vec<u8>,
}

impl Channel {
    /// The packets of `f`, if it has several.
    pub fn packets(&self, f: &Frame) -> &[InFrame] {
        match f.more {
            More::Packets(from, to) => self.packets.get(from as usize..to as usize).unwrap_or_default(),
            More::Bitmap(..) | More::Addba(_) | More::Nothing => &[],
        }
    }

    /// The bitmap of `f`, if it is a block acknowledgment.
    pub fn bitmap(&self, f: &Frame) -> &[u8] {
        match f.more {
            More::Bitmap(from, to) => self.bitmaps.get(from as usize..to as usize).unwrap_or_default(),
            More::Packets(..) | More::Addba(_) | More::Nothing => &[],
        }
    }
}

/// The exchanges that ended with an ACK, since the start of the run.
#[derive(Debug, Default)]
pub struct Successes {
    /// All successes, in the order in which they end.
    pub sequence: Vec<Success>,
    /// Number of successes in the warm-up.
    pub warmup: usize,
}
