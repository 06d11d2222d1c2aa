//! Messages to the kernel's routing socket (rtnetlink(7)): a link goes up and gets a pace, a route with metrics is
//! added.

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd as _, OwnedFd};

const NEW_LINK: u16 = 16;
const NEW_ROUTE: u16 = 24;
const NEW_QDISC: u16 = 36;
/// Request, acknowledge; for a route also: create, replace.
const REQUEST: u16 = 0x1 | 0x4;
const CREATE: u16 = 0x400 | 0x100;

/// The metrics of a route to one host: what its connections start with. `None`: the kernel's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The largest window that is advertised to the host, in bytes.
    pub window: Option<u32>,
    /// Initial window in segments.
    pub initial_window: Option<u32>,
    /// The least retransmission timeout in milliseconds.
    pub min_rto_ms: Option<u32>,
    /// Congestion control. A namespace's own default is limited to what the machine allows to everybody; a route's is
    /// not.
    pub congestion: Option<String>,
}

/// The routing socket of the thread's network namespace.
#[derive(Debug)]
pub(crate) struct Netlink(OwnedFd);

impl Netlink {
    pub(crate) fn open() -> io::Result<Netlink> {
        let flags = SockFlag::SOCK_CLOEXEC;
        Ok(Netlink(socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?))
    }

    /// Brings the device with this index up.
    pub(crate) fn up(&self, index: u32) -> io::Result<()> {
        const UP: u32 = 1;
        let mut body = vec![0; 4];
        body.extend(index.to_ne_bytes());
        body.extend(UP.to_ne_bytes());
        body.extend(UP.to_ne_bytes());
        self.ask(NEW_LINK, REQUEST, &body)
    }

    /// Gives the device with this index a token bucket (tc-tbf(8)) of `rate_bps`, with a burst of a millisecond: what
    /// waits for it counts as not sent for the sockets that wrote it.
    pub(crate) fn pace(&self, index: u32, rate_bps: u64) -> io::Result<()> {
        const ROOT: u32 = u32::MAX;
        const ETHERNET: u8 = 1;
        const LIMIT: u32 = 30_000_000;
        let rate = rate_bps / 8;
        let burst = u32::try_from(rate / 1000).unwrap_or(u32::MAX).clamp(3_000, 4_000_000);
        // tc_ratespec: the rate as far as 32 bits go, without a rate table.
        let spec = |rate: u32| [vec![0, ETHERNET], vec![0; 6], rate.to_ne_bytes().to_vec()].concat();
        let mut parameters = [spec(u32::try_from(rate).unwrap_or(u32::MAX)), spec(0)].concat();
        [LIMIT, 0, 0].iter().for_each(|n| parameters.extend(n.to_ne_bytes()));
        let mut inner = Vec::new();
        attribute(&mut inner, 1, &parameters);
        attribute(&mut inner, 4, &rate.to_ne_bytes());
        attribute(&mut inner, 6, &burst.to_ne_bytes());
        let mut body = vec![0; 4];
        [index, 0, ROOT, 0].iter().for_each(|n| body.extend(n.to_ne_bytes()));
        attribute(&mut body, 1, b"tbf\0");
        attribute(&mut body, 2, &inner);
        self.ask(NEW_QDISC, REQUEST | CREATE, &body)
    }

    /// Adds a route to the addresses that begin with the first `bits` of `to`, over the device with this index.
    pub(crate) fn route(&self, to: Ipv4Addr, bits: u8, index: u32, metrics: &Metrics) -> io::Result<()> {
        // Family, length of the destination in bits; main table, static, scope of the link, unicast.
        let mut body = vec![2, bits, 0, 0, 254, 4, 253, 1, 0, 0, 0, 0];
        attribute(&mut body, 1, &to.octets());
        attribute(&mut body, 4, &index.to_ne_bytes());
        let mut inner = Vec::new();
        // RTAX_LOCK: the kernel uses the least timeout of a locked metric only.
        let locked = metrics.min_rto_ms.map(|_| 1 << 13);
        for (kind, value) in [(1, locked), (3, metrics.window), (11, metrics.initial_window), (13, metrics.min_rto_ms)]
        {
            if let Some(value) = value {
                attribute(&mut inner, kind, &u32::to_ne_bytes(value));
            }
        }
        if let Some(name) = &metrics.congestion {
            attribute(&mut inner, 16, &[name.as_bytes(), &[0]].concat());
        }
        attribute(&mut body, 8, &inner);
        self.ask(NEW_ROUTE, REQUEST | CREATE, &body)
    }

    fn ask(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let mut message = (16 + body.len() as u32).to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        send(self.0.as_raw_fd(), &message, MsgFlags::empty())?;
        let mut answer = [0; 4096];
        let n = recv(self.0.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        // The answer is an error message; its number is 0 for success, otherwise negative.
        match answer.get(16..20).filter(|_| n >= 20).and_then(|b| b.try_into().ok()).map(i32::from_ne_bytes) {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(error.saturating_neg())),
            None => Err(io::Error::other("the kernel's answer is too short")),
        }
    }
}

/// Adds an attribute of `kind`, padded to four bytes.
fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend((4 + value.len() as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}
