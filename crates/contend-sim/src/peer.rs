//! How the parts of a world name each other: numbers of nodes and wires, and where a packet is handed over.

/// Index of a node in its [`World`](crate::world::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Index of a wire in its [`World`](crate::world::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId(pub u32);

/// Which of a node's attachments a packet comes in at; what the numbers mean is the node's affair.
pub type Port = u32;

/// Where a packet is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// At this port of this node.
    Node(NodeId, Port),
    /// At the near end of this wire.
    Wire(WireId),
}
