//! Segments of one burst pass a TUN device in one call (segmentation and receive offload), as they do with a network
//! card.
//!
//! What a host gets of one aggregate reaches its stack as few large segments, and its program reads them all before
//! it acknowledges. With one call for each packet, the number of acknowledgments would be a matter of how fast this
//! machine wakes up programs.

use std::io;
use tun_rs::{GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

/// What one call carries at most: a header of the device, and a packet as large as IPv4 allows.
const LARGEST: usize = VIRTIO_NET_HDR_LEN + 65_535;
/// Segments of one large packet at most. The kernel's smallest segment has 48 bytes of payload.
const MOST: usize = 1_400;
/// Bytes of a segment at most.
const SEGMENT: usize = crate::bytes::MTU + 100;

/// Packets for one host that left the network in one instant.
#[derive(Default)]
pub struct Burst {
    /// The first `len` are used, each with room for the header of the device before its packet and for what joins it.
    packets: Vec<Vec<u8>>,
    len: usize,
    table: GROTable,
}

impl Burst {
    /// Adds a packet.
    pub fn push(&mut self, packet: &[u8]) {
        if self.len == self.packets.len() {
            self.packets.push(Vec::with_capacity(LARGEST + VIRTIO_NET_HDR_LEN));
        }
        let buffer = &mut self.packets[self.len];
        buffer.clear();
        buffer.extend([0; VIRTIO_NET_HDR_LEN]);
        buffer.extend(packet);
        self.len += 1;
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes the packets to `device`, neighbours of one connection together. The burst is empty then.
    ///
    /// # Errors
    /// When the device takes no more; some of the packets may have been written.
    pub fn write(&mut self, device: &SyncDevice) -> io::Result<()> {
        let packets = &mut self.packets[..std::mem::take(&mut self.len)];
        match packets {
            [] => Ok(()),
            [one] => device.send(one).map(|_| ()),
            many => device.send_multiple(&mut self.table, many, VIRTIO_NET_HDR_LEN).map(|_| ()),
        }
    }
}

impl std::fmt::Debug for Burst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Burst").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Reads what a host sends, and takes large packets apart.
#[derive(Debug)]
pub struct Segments {
    whole: Vec<u8>,
    segments: Vec<Vec<u8>>,
    sizes: Vec<usize>,
}

impl Default for Segments {
    fn default() -> Segments {
        Segments { whole: vec![0; LARGEST], segments: vec![vec![0; SEGMENT]; MOST], sizes: vec![0; MOST] }
    }
}

impl Segments {
    /// The next packets of `device`: one, or the segments of a large one.
    ///
    /// # Errors
    /// Those of the device; it would block if it has none.
    pub fn read(&mut self, device: &SyncDevice) -> io::Result<impl Iterator<Item = &[u8]>> {
        let n = device.recv_multiple(&mut self.whole, &mut self.segments, &mut self.sizes, 0)?;
        Ok(self.segments.iter().zip(&self.sizes).take(n).map(|(segment, size)| &segment[..*size]))
    }
}
