//! How the parts of a world name each other: numbers of nodes and wires, and where a packet is handed over.

/// Index of a node in its [`World`](crate::world::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Index of a wire in its [`World`](crate::world::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId(pub u32);

/// The attachment of a node at which a packet comes in. Each node defines its own numbers.
pub type Port = u32;

/// Where a packet is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// At this port of this node.
    Node(NodeId, Port),
    /// At the near end of this wire.
    Wire(WireId),
}
