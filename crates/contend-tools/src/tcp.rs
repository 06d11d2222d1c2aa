//! TCP sockets with the options that std has not: congestion control, segment size, pacing rate, reset.

use crate::Result;
use crate::error::of_system;
use contend_core::Refusal;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, SockaddrIn6, bind, connect, getsockopt, listen, setsockopt,
    socket, sockopt,
};
use nix::{setsockopt_impl, sockopt_impl};
use std::ffi::OsString;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

sockopt_impl!(
    /// The rate above which a socket never sends, in bytes per second.
    MaxPacingRate,
    SetOnly,
    libc::SOL_SOCKET,
    libc::SO_MAX_PACING_RATE,
    u64
);

sockopt_impl!(
    /// The most bytes that wait in a socket without having been sent once.
    NotSentLowat,
    SetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_NOTSENT_LOWAT,
    u32
);

/// How a TCP socket sends, and how much it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Name of the kernel's congestion control; `None`: the system's default.
    pub congestion: Option<String>,
    /// Largest segment in bytes (TCP_MAXSEG); `None`: from the path.
    pub segment: Option<u32>,
    /// Highest rate in bits per second (SO_MAX_PACING_RATE); `None`: no limit.
    pub rate_bps: Option<u64>,
    /// The most bytes that wait in the socket without having been sent once (TCP_NOTSENT_LOWAT); `None`: what the
    /// socket's buffer holds.
    pub unsent: Option<u32>,
    /// The kernel's memory for data in each direction, in bytes (SO_SNDBUF, SO_RCVBUF); `None`: it grows as the kernel
    /// sees fit.
    pub kernel_buffer: Option<usize>,
}

impl Sending {
    /// Sets the options of a socket that is not connected yet.
    ///
    /// # Errors
    /// When the kernel has no such congestion control, does not let this user take it, or refuses the segment size.
    pub fn apply(&self, socket: &impl AsFd) -> Result<()> {
        if let Some(name) = &self.congestion {
            setsockopt(socket, sockopt::TcpCongestion, &OsString::from(name)).map_err(|e| congestion_error(name, e))?;
        }
        if let Some(bytes) = self.segment {
            setsockopt(socket, sockopt::TcpMaxSeg, &bytes).map_err(|e| {
                Refusal::new(format!("the kernel refuses a segment size of {bytes} B: {e}"), "write 88 B to 32767 B")
            })?;
        }
        if let Some(bps) = self.rate_bps {
            setsockopt(socket, MaxPacingRate, &(bps / 8).max(1))
                .map_err(|e| of_system("the kernel refuses SO_MAX_PACING_RATE", e))?;
        }
        if let Some(bytes) = self.unsent {
            setsockopt(socket, NotSentLowat, &bytes)
                .map_err(|e| of_system("the kernel refuses TCP_NOTSENT_LOWAT", e))?;
        }
        if let Some(bytes) = self.kernel_buffer {
            // The kernel doubles what it is asked for, and counts its own overhead in it (socket(7)).
            let of_kernel = |e| of_system("the kernel refuses the size of its buffers", e);
            setsockopt(socket, sockopt::SndBuf, &(bytes / 2)).map_err(of_kernel)?;
            setsockopt(socket, sockopt::RcvBuf, &(bytes / 2)).map_err(of_kernel)?;
            for (name, given) in [
                ("net.core.wmem_max", getsockopt(socket, sockopt::SndBuf)),
                ("net.core.rmem_max", getsockopt(socket, sockopt::RcvBuf)),
            ] {
                let given = given.map_err(of_kernel)?;
                if given < bytes / 2 * 2 {
                    return Err(Refusal::new(
                        format!("the kernel gives {given} B to each buffer of a socket, not {bytes} B"),
                        format!("ask for at most {given}B, or as root: sysctl {name}={bytes}"),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// What is wrong with the congestion control `name`, from the error of the kernel and its lists.
fn congestion_error(name: &str, e: Errno) -> Refusal {
    let list = |file: &str| {
        std::fs::read_to_string(format!("/proc/sys/net/ipv4/{file}")).unwrap_or_default().trim().to_owned()
    };
    match e {
        Errno::EPERM => Refusal::new(
            format!("only root may use the congestion control `{name}` on this machine"),
            format!(
                "take one of those allowed ({}), or as root: sysctl \
                    net.ipv4.tcp_allowed_congestion_control=\"{} {name}\"",
                list("tcp_allowed_congestion_control"),
                list("tcp_allowed_congestion_control")
            ),
        ),
        Errno::ENOENT => Refusal::new(
            format!("this kernel has no congestion control `{name}`"),
            format!(
                "it has {}; as root, modprobe tcp_{name} loads it if it is a module",
                list("tcp_available_congestion_control")
            ),
        ),
        e => of_system(&format!("the congestion control `{name}` cannot be set"), e),
    }
}

fn new_socket(family: &SocketAddr) -> nix::Result<OwnedFd> {
    let family = if family.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    socket(family, SockType::Stream, SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC, None)
}

/// Begins to connect to `to` from the address `from`, without waiting. The socket becomes writable when it is
/// connected, or when it cannot be; then `take_error` of the stream tells which.
///
/// # Errors
/// The kernel's error, if it refuses at once: no route, no free port, no file descriptor; or an option that cannot be
/// set (`EINVAL`; [`Sending::apply`] to a socket of one's own tells more).
pub fn begin_connect(to: SocketAddr, from: Option<std::net::IpAddr>, sending: &Sending) -> nix::Result<TcpStream> {
    let fd = new_socket(&to)?;
    sending.apply(&fd).map_err(|_| Errno::EINVAL)?;
    // Small writes must not wait for the acknowledgment of earlier ones: the tool hands on what it gets.
    setsockopt(&fd, sockopt::TcpNoDelay, &true)?;
    match from.map(|ip| SocketAddr::new(ip, 0)) {
        Some(SocketAddr::V4(a)) => bind(fd.as_raw_fd(), &SockaddrIn::from(a))?,
        Some(SocketAddr::V6(a)) => bind(fd.as_raw_fd(), &SockaddrIn6::from(a))?,
        None => {}
    }
    let begun = match to {
        SocketAddr::V4(a) => connect(fd.as_raw_fd(), &SockaddrIn::from(a)),
        SocketAddr::V6(a) => connect(fd.as_raw_fd(), &SockaddrIn6::from(a)),
    };
    match begun {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(TcpStream::from(fd)),
        Err(e) => Err(e),
    }
}

/// Listens on `at` without blocking; connections inherit `sending`.
///
/// # Errors
/// When the address is taken or not one of this machine, or an option cannot be set.
pub fn listen_on(at: SocketAddr, sending: &Sending) -> Result<TcpListener> {
    let fd = new_socket(&at).map_err(|e| of_system("no socket can be made", e))?;
    sending.apply(&fd)?;
    let listening = || -> nix::Result<()> {
        setsockopt(&fd, sockopt::ReuseAddr, &true)?;
        match at {
            SocketAddr::V4(a) => bind(fd.as_raw_fd(), &SockaddrIn::from(a))?,
            SocketAddr::V6(a) => bind(fd.as_raw_fd(), &SockaddrIn6::from(a))?,
        }
        listen(&fd, Backlog::MAXALLOWABLE)
    };
    match listening() {
        Ok(()) => Ok(TcpListener::from(fd)),
        Err(e) => Err(cannot_listen(at, e)),
    }
}

/// Why nothing can listen on `at`.
pub fn cannot_listen(at: SocketAddr, e: Errno) -> Refusal {
    let what = format!("no listening on {at}: {e}");
    Refusal::new(
        what,
        match e {
            Errno::EADDRINUSE => "another program has this port: choose another one, or `ss -tulpn` shows the program",
            Errno::EADDRNOTAVAIL => "listen on an address of this machine; `ip address` shows them",
            Errno::EACCES => "ports below 1024 need root: choose a higher one",
            _ => "choose another address or port",
        },
    )
}

/// Lets the peer see a reset instead of an orderly end when the socket is dropped.
pub fn reset_on_drop(socket: &TcpStream) {
    let _ = setsockopt(socket, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
}
