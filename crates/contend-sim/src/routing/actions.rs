//! What a routing agent wants done.

use super::{Packet, Station};

/// What a routing agent wants done, in order. The buffer is reused: no call allocates once it has grown.
///
/// The caller takes actions until there are none. An action may cause further calls that append to the same buffer.
#[derive(Debug, Default)]
pub struct Actions {
    list: Vec<Action>,
    /// How many of `list` were taken.
    taken: usize,
    /// The bytes of all messages in `list`.
    bytes: Vec<u8>,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Put the packet into the interface queue, to `next`.
    Send {
        /// The packet.
        packet: Packet,
        /// The next hop.
        next: Station,
    },
    /// Put a routing message into the interface queue.
    Message(Message),
    /// The packet goes no further.
    Drop {
        /// The packet.
        packet: Packet,
        /// Why.
        reason: RoutingDrop,
    },
    /// Take all packets for this next hop out of the interface queue and report each of them as failed.
    Purge {
        /// The next hop.
        next: Station,
    },
}

/// A routing message; its bytes are in the [`Actions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The receiver; `None`: a broadcast.
    pub next: Option<Station>,
    /// Size of the IP packet in bytes, as it counts on the air.
    pub size: u32,
    /// The kind, for counting and for captures.
    pub kind: &'static str,
    start: usize,
    end: usize,
}

/// Why a packet was dropped by routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoutingDrop {
    /// There is no route.
    NoRoute,
    /// It was forwarded too often.
    Ttl,
    /// It came back to its source.
    Loop,
    /// Too many packets wait for a route.
    BufferFull,
    /// It waited too long for a route.
    BufferTimeout,
    /// The MAC gave it up.
    LinkFailed,
    /// A newer packet took its place while the address of the next hop was asked for.
    Unresolved,
}

impl RoutingDrop {
    /// Every reason, in the order of its index `reason as usize`.
    pub const ALL: [RoutingDrop; 7] = [
        RoutingDrop::NoRoute,
        RoutingDrop::Ttl,
        RoutingDrop::Loop,
        RoutingDrop::BufferFull,
        RoutingDrop::BufferTimeout,
        RoutingDrop::LinkFailed,
        RoutingDrop::Unresolved,
    ];

    /// The word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            RoutingDrop::NoRoute => "no_route",
            RoutingDrop::Ttl => "ttl",
            RoutingDrop::Loop => "loop",
            RoutingDrop::BufferFull => "buffer_full",
            RoutingDrop::BufferTimeout => "buffer_timeout",
            RoutingDrop::LinkFailed => "link_failed",
            RoutingDrop::Unresolved => "unresolved",
        }
    }
}

impl Actions {
    /// The next action; `None` when all are done.
    pub fn take(&mut self) -> Option<Action> {
        let action = self.list.get(self.taken).copied();
        if action.is_some() {
            self.taken += 1;
        } else {
            self.list.clear();
            self.bytes.clear();
            self.taken = 0;
        }
        action
    }
    /// The bytes of a message that was taken, valid until [`Actions::take`] has returned `None`.
    pub fn bytes(&self, m: &Message) -> &[u8] {
        self.bytes.get(m.start..m.end).unwrap_or_default()
    }

    pub(super) fn send(&mut self, packet: Packet, next: Station) {
        self.list.push(Action::Send { packet, next });
    }
    pub(super) fn drop(&mut self, packet: Packet, reason: RoutingDrop) {
        self.list.push(Action::Drop { packet, reason });
    }
    pub(super) fn purge(&mut self, next: Station) {
        self.list.push(Action::Purge { next });
    }
    pub(super) fn message(&mut self, next: Option<Station>, size: u32, kind: &'static str, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.list.push(Action::Message(Message { next, size, kind, start, end: self.bytes.len() }));
    }
}
