//! UDP sockets, and waiting for one with a deadline that is exact to the kernel's timer.

use crate::tcp::cannot_listen;
use crate::{Result, Stop};
use contend_core::Refusal;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

/// Bytes of packets that a receiving socket may hold, if the system allows so many (`net.core.rmem_max`).
const RECEIVE_BUFFER: usize = 4 << 20;

/// The largest payload of a UDP packet over IPv4, in bytes.
pub const MOST_PAYLOAD: usize = 65_507;

/// Bytes of the IP and UDP headers of a packet to `to`.
pub fn headers(to: SocketAddr) -> usize {
    if to.is_ipv4() || to.ip().to_canonical().is_ipv4() { 28 } else { 48 }
}

/// A socket that sends to `to` only, from the port `from` (0: any).
///
/// # Errors
/// When there is no route to the address, or the port is taken.
pub fn sender(to: SocketAddr, from: u16) -> Result<UdpSocket> {
    let any = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let at = SocketAddr::new(any, from);
    let socket = receiver(at)?;
    socket.connect(to).map_err(|e| {
        Refusal::new(format!("no way to {to}: {e}"), "check the address and the routes: ip route get shows the way")
    })?;
    Ok(socket)
}

/// A socket that receives on `at`, and never blocks.
///
/// # Errors
/// When the address is taken or not one of this machine.
pub fn receiver(at: SocketAddr) -> Result<UdpSocket> {
    let errno = |e: std::io::Error| cannot_listen(at, e.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw));
    let socket = UdpSocket::bind(at).map_err(errno)?;
    socket.set_nonblocking(true).map_err(errno)?;
    let _ = setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER);
    Ok(socket)
}

/// What a wait has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The socket can be read, or has an error.
    pub readable: bool,
    /// The socket can be written.
    pub writable: bool,
}

/// Waits until the socket can be read (or written, if `write`), `stop` is asked, or `at_most` has passed.
pub fn wait(socket: &impl AsFd, write: bool, stop: &Stop, at_most: Duration) -> Found {
    let wants = if write { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
    let mut fds = [PollFd::new(socket.as_fd(), wants), PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
    // A signal ends the wait early: the caller looks at its clock and waits again.
    let _ = ppoll(&mut fds, Some(TimeSpec::from_duration(at_most)), None);
    let has = fds[0].revents().unwrap_or(PollFlags::empty());
    Found {
        readable: has.intersects(PollFlags::POLLIN | PollFlags::POLLERR),
        writable: has.intersects(PollFlags::POLLOUT),
    }
}

/// Sleeps for `time`, or until `stop` is asked.
pub fn sleep(stop: &Stop, time: Duration) {
    let _ = ppoll(&mut [PollFd::new(stop.as_fd(), PollFlags::POLLIN)], Some(TimeSpec::from_duration(time)), None);
}
