//! Forwarding tables of hosts and routers: where a packet goes next, by its destination address. Stations of the air
//! have `wifi/network/forwarding.rs`; an access point asks its `Bridge`.

use crate::peer::Peer;
use contend_core::Address;
use std::sync::Arc;

/// The next hop for each destination address. Copies share one array.
#[derive(Clone, Debug)]
pub struct ForwardingTable(Arc<[Option<Peer>]>);

impl ForwardingTable {
    /// The next hop to `dst`; `None` if `dst` cannot be reached from here.
    #[inline]
    pub fn next_hop(&self, dst: Address) -> Option<Peer> {
        *self.0.get(dst.0 as usize)?
    }
}

impl FromIterator<Option<Peer>> for ForwardingTable {
    /// The next hops to address 0, 1, 2, ...
    fn from_iter<I: IntoIterator<Item = Option<Peer>>>(hops: I) -> ForwardingTable {
        ForwardingTable(hops.into_iter().collect())
    }
}
