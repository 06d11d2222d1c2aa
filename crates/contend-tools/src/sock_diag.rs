//! Asks the kernel about TCP sockets by NETLINK_SOCK_DIAG (Linux `inet_diag.h`), without privileges.
//!
//! [`SockDiag::all`] lists sockets, which takes the kernel some hundred microseconds. [`SockDiag::one`] asks about one
//! socket by its exact identity, which takes some microseconds.

use crate::Result;
use crate::error::of_system;
use crate::tcp_info::TcpInfo;
use contend_core::Refusal;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd as _, OwnedFd};

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_DUMP: u16 = 0x300;
/// The type of requests and answers.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
/// Attributes of an answer; a request asks for attribute `n` by bit `n - 1`.
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
/// Bytes of a netlink header, of `inet_diag_req_v2` and of `inet_diag_msg`.
const HEADER: usize = 16;
const REQUEST: usize = 56;
const ANSWER: usize = 72;
/// Where `inet_diag_sockid` begins in both, and its length.
const ID_IN_REQUEST: usize = 8;
const ID_IN_ANSWER: usize = 4;
const ID: usize = 48;
/// All states but TIME_WAIT and LISTEN; sockets in these have no `TCP_INFO` of a sender.
const STATES: u32 = 0xfff & !(1 << 6) & !(1 << 10);

/// What identifies a socket: addresses, interface and the kernel's cookie, as the kernel wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    family: u8,
    id: [u8; ID],
}

impl Identity {
    /// The socket's own address.
    pub fn local(&self) -> SocketAddr {
        self.address(4, 0)
    }

    /// The address of its peer.
    pub fn peer(&self) -> SocketAddr {
        self.address(20, 2)
    }

    fn address(&self, at: usize, port: usize) -> SocketAddr {
        let b = |i: usize| self.id[at + i];
        let ip: IpAddr = if self.family == AF_INET {
            Ipv4Addr::new(b(0), b(1), b(2), b(3)).into()
        } else {
            Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(b)).into()
        };
        SocketAddr::new(ip.to_canonical(), u16::from_be_bytes([self.id[port], self.id[port + 1]]))
    }
}

/// What the kernel says of a socket.
#[derive(Clone, Debug, PartialEq)]
pub struct Socket {
    /// Which socket.
    pub id: Identity,
    /// Its congestion control.
    pub congestion: String,
    /// `None` if the kernel gives none for its state.
    pub info: Option<TcpInfo>,
}

/// A netlink socket for requests.
#[derive(Debug)]
pub struct SockDiag {
    fd: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
}

impl SockDiag {
    /// Opens the netlink socket.
    ///
    /// # Errors
    /// When the kernel has no INET_DIAG.
    pub fn open() -> Result<SockDiag> {
        let missing = |e: Errno| {
            Refusal::new(
                format!("the kernel does not tell about TCP sockets (sock_diag): {e}"),
                "it needs CONFIG_INET_DIAG; as root: modprobe tcp_diag",
            )
        };
        let fd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag)
            .map_err(missing)?;
        setsockopt(&fd, sockopt::ReceiveTimeout, &TimeVal::seconds(2)).map_err(missing)?;
        let mut diag = SockDiag { fd, buffer: vec![0; 1 << 16], sequence: 0 };
        diag.all()?;
        Ok(diag)
    }

    /// All TCP sockets of this network namespace that are neither listening nor in TIME_WAIT.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn all(&mut self) -> Result<Vec<Socket>> {
        let mut found = Vec::new();
        for family in [AF_INET, AF_INET6] {
            self.ask(family, None).and_then(|()| self.answers(&mut |s| found.push(s))).map_err(refused)?;
        }
        Ok(found)
    }

    /// The socket `id`; `None` if it does not exist any more.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn one(&mut self, id: &Identity) -> Result<Option<Socket>> {
        let mut found = None;
        match self.ask(id.family, Some(&id.id)).and_then(|()| self.answers(&mut |s| found = Some(s))) {
            Ok(()) => Ok(found),
            Err(Errno::ENOENT | Errno::ESTALE) => Ok(None),
            Err(e) => Err(refused(e)),
        }
    }

    /// Sends a request: for one socket, or for all of a family.
    fn ask(&mut self, family: u8, id: Option<&[u8; ID]>) -> nix::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut m = [0_u8; HEADER + REQUEST];
        let flags = NLM_F_REQUEST | if id.is_none() { NLM_F_DUMP } else { 0 };
        m[0..4].copy_from_slice(&((HEADER + REQUEST) as u32).to_ne_bytes());
        m[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        m[6..8].copy_from_slice(&flags.to_ne_bytes());
        m[8..12].copy_from_slice(&self.sequence.to_ne_bytes());
        let r = &mut m[HEADER..];
        let wanted = (1 << (INET_DIAG_INFO - 1)) | (1 << (INET_DIAG_CONG - 1));
        r[..4].copy_from_slice(&[family, IPPROTO_TCP, wanted, 0]);
        r[4..8].copy_from_slice(&STATES.to_ne_bytes());
        if let Some(id) = id {
            r[ID_IN_REQUEST..].copy_from_slice(id);
        }
        sendto(self.fd.as_raw_fd(), &m, &NetlinkAddr::new(0, 0), MsgFlags::empty()).map(drop)
    }

    /// Reads the answers to the last request.
    fn answers(&mut self, each: &mut dyn FnMut(Socket)) -> nix::Result<()> {
        loop {
            let n = match recv(self.fd.as_raw_fd(), &mut self.buffer, MsgFlags::empty()) {
                Err(Errno::EINTR) => continue,
                n => n?,
            };
            let mut rest = &self.buffer[..n];
            while let Some(m) = Message::first(&mut rest) {
                // An answer to a request that timed out.
                if m.sequence != self.sequence {
                    continue;
                }
                match m.kind {
                    NLMSG_DONE => return Ok(()),
                    NLMSG_ERROR => {
                        let code = m.body.get(..4).and_then(|b| b.try_into().ok()).map_or(0, i32::from_ne_bytes);
                        return if code == 0 { Ok(()) } else { Err(Errno::from_raw(code.saturating_neg())) };
                    }
                    _ => drop(read(m.body).map(&mut *each)),
                }
                if m.flags & 0x2 == 0 {
                    return Ok(());
                }
            }
        }
    }
}

fn refused(e: Errno) -> Refusal {
    of_system("the kernel refuses a request about its TCP sockets", e)
}

/// A netlink message.
struct Message<'a> {
    kind: u16,
    /// Bit 1 (NLM_F_MULTI): further messages follow, up to NLMSG_DONE.
    flags: u16,
    sequence: u32,
    body: &'a [u8],
}

impl<'a> Message<'a> {
    /// Takes the first message from `rest`.
    fn first(rest: &mut &'a [u8]) -> Option<Message<'a>> {
        let head = rest.get(..HEADER)?;
        let len = u32::from_ne_bytes(head[..4].try_into().ok()?) as usize;
        let body = rest.get(HEADER..len)?;
        let two = |at: usize| u16::from_ne_bytes([head[at], head[at + 1]]);
        let m =
            Message { kind: two(4), flags: two(6), sequence: u32::from_ne_bytes(head[8..12].try_into().ok()?), body };
        *rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some(m)
    }
}

/// Reads `inet_diag_msg` and its attributes.
fn read(body: &[u8]) -> Option<Socket> {
    let id = Identity { family: *body.first()?, id: body.get(ID_IN_ANSWER..ID_IN_ANSWER + ID)?.try_into().ok()? };
    let mut s = Socket { id, congestion: String::new(), info: None };
    let mut rest = body.get(ANSWER..)?;
    while let Some(head) = rest.get(..4) {
        let (len, kind) = (u16::from_ne_bytes([head[0], head[1]]), u16::from_ne_bytes([head[2], head[3]]));
        let len = usize::from(len);
        let value = rest.get(4..len)?;
        match kind {
            INET_DIAG_INFO => s.info = Some(TcpInfo::read(value)),
            INET_DIAG_CONG => {
                s.congestion = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned();
            }
            _ => {}
        }
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_socket_of_our_own_is_found_and_asked_until_it_is_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut b, _) = listener.accept().unwrap();
        a.write_all(&[7; 5000]).unwrap();
        b.read_exact(&mut [0; 5000]).unwrap();
        let mut diag = SockDiag::open().unwrap();
        let all = diag.all().unwrap();
        let is_a = |s: &&Socket| s.id.local() == a.local_addr().unwrap() && s.id.peer() == a.peer_addr().unwrap();
        let found = all.iter().find(is_a).unwrap();
        let info = found.info.as_ref().unwrap();
        assert!(info.bytes_sent == 5000 && info.cwnd > 0 && !found.congestion.is_empty(), "{found:?}");
        let id = found.id;
        assert_eq!(diag.one(&id).unwrap().unwrap().id, id);
        crate::tcp::reset_on_drop(&a);
        drop(a);
        assert_eq!(diag.one(&id).unwrap(), None);
    }

    #[test]
    fn damaged_answers_are_no_panic() {
        for n in 0..200 {
            let _ = read(&vec![0xff; n]);
            let _ = Message::first(&mut vec![n as u8; n].as_slice());
        }
    }
}
