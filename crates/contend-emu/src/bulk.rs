//! Senders and receivers of our own: the traffic of the file's flows over real sockets.
//!
//! One thread serves all sockets. What a flow writes and when is decided by the same source as in the simulator.

use crate::host::Asking;
use crate::plan::{Plan, congestion_control};
use contend_core::Refusal;
use contend_core::Time;
use contend_sim::scenario::{EndsSpec, Scenario, TcpSpec, Transport};
use contend_sim::tcp::app::{App, Does};
use contend_sim::tcp::{SegmentFormat, UDP_HEADERS};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// Bytes written or read at once.
const BLOCK: usize = 1 << 16;
/// Writes of one flow before another has its turn.
const TURN: usize = 16;
/// What a socket for datagrams holds while this thread has no turn, in bytes: two seconds of 25 Mb/s.
const DATAGRAMS: usize = 8 << 20;

/// A flow's sending end.
#[derive(Debug)]
struct Sender {
    app: App,
    socket: Socket,
    to: SocketAddrV4,
    /// Bytes that the source has written and the socket has not taken.
    backlog: u64,
    /// The same as datagrams.
    datagrams: VecDeque<u32>,
    /// Bytes that the source has written, and those that the other end has read (TCP).
    written: u64,
    arrived: u64,
    connected: bool,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// What takes data.
#[derive(Debug)]
enum Sink {
    Listener(TcpListener),
    /// A connection, and the number of its sender.
    Stream(TcpStream, usize),
    Udp(UdpSocket),
}

/// All senders and receivers. Dropping it ends them.
#[derive(Debug)]
pub struct Bulk {
    stop: Arc<AtomicBool>,
    /// The time of the run in nanoseconds, which the emulator sets.
    clock: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Bulk {
    /// Opens the sockets of all flows of `plan`, and begins to serve them.
    ///
    /// # Errors
    /// When a socket cannot be made; the text names the flow.
    pub fn new(plan: &Plan, scenario: &Scenario, hosts: &Asking) -> Result<Bulk, Refusal> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(|e| e.to_string())?;
        let (mut senders, mut sinks) = (Vec::new(), Vec::new());
        for known in &plan.flows {
            let Some(f) = scenario.flows.get(known.flow as usize) else { continue };
            let failed = |e: io::Error| format!("flow {}: no socket: {e}", f.name);
            let (from, to) = (plan.hosts[known.from].ip, plan.hosts[known.to].ip);
            let address = SocketAddrV4::new(to, known.port);
            let (ends, window) = (f.ends.clone(), known.window);
            let sink = hosts.at(known.to, move || sink(address, &ends, window)).map_err(failed)?;
            let ends = f.ends.clone();
            let socket = hosts.at(known.from, move || sending(from, &ends)).map_err(failed)?;
            let full = full(&f.ends)?;
            let app = App::new(scenario.seed, &f.name, &f.ends, full)?;
            sinks.push(sink);
            let datagrams = VecDeque::new();
            let (backlog, written, arrived, connected) = (0, 0, 0, false);
            senders.push(Sender { app, socket, to: address, backlog, datagrams, written, arrived, connected });
        }
        let (stop, clock) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut server = Server { epoll, senders, sinks, stop: Arc::clone(&stop), clock: Arc::clone(&clock) };
        let serve = move || {
            // Without a socket to wait for, there is nothing more to do; the flows then show that they are idle.
            let _ = server.serve();
        };
        let thread = std::thread::Builder::new().name("bulk".into()).spawn(serve).map_err(|e| e.to_string())?;
        Ok(Bulk { stop, clock, thread: Some(thread) })
    }

    /// The time of the run is `now`: sources write what is due.
    pub fn tick(&self, now: Time) {
        self.clock.store(now.as_nanos(), Ordering::Relaxed);
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Payload of a full packet.
fn full(ends: &EndsSpec) -> Result<u32, Refusal> {
    match &ends.transport {
        Transport::Tcp(t) => Ok(SegmentFormat::new(ends.packet, t)?.mss),
        Transport::Udp(_) => Ok(ends.packet.saturating_sub(UDP_HEADERS)),
    }
}

/// The memory of a receiver whose window does not open step by step; Linux doubles what it is told. It has room for the
/// window in packets that wait behind a loss, whose buffers are larger than they are. A window that a SYN can advertise
/// is open from the start.
fn fixed(t: &TcpSpec, window: u32) -> Option<usize> {
    (!t.autotuning || window <= u32::from(u16::MAX)).then_some(2 * window as usize)
}

fn sink(at: SocketAddrV4, ends: &EndsSpec, window: u32) -> io::Result<Sink> {
    let Transport::Tcp(t) = &ends.transport else {
        let socket = UdpSocket::bind(at)?;
        socket.set_nonblocking(true)?;
        // Beyond the machine's limit (net.core.rmem_max) where that is allowed.
        let forced = setsockopt(&socket, sockopt::RcvBufForce, &DATAGRAMS);
        forced.or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &DATAGRAMS))?;
        // Datagrams of one aggregate are read in one call, where the kernel can do so.
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        return Ok(Sink::Udp(socket));
    };
    let listener = TcpListener::bind(at)?;
    listener.set_nonblocking(true)?;
    if t.ecn.accurate().is_some() {
        // A kernel whose sysctl does not offer accurate ECN accepts it for a controller that asks for it, at both ends.
        setsockopt(&listener, sockopt::TcpCongestion, &congestion_control(t).into())?;
    }
    if let Some(memory) = fixed(t, window) {
        // Connections inherit it, and what a program has set is not tuned.
        let forced = setsockopt(&listener, sockopt::RcvBufForce, &memory);
        forced.or_else(|_| setsockopt(&listener, sockopt::RcvBuf, &memory))?;
    }
    Ok(Sink::Listener(listener))
}

fn sending(from: Ipv4Addr, ends: &EndsSpec) -> io::Result<Socket> {
    let t = match &ends.transport {
        Transport::Tcp(t) => t,
        Transport::Udp(udp) => {
            let socket = UdpSocket::bind(SocketAddrV4::new(from, 0))?;
            // The ECN field is the lowest two bits of this byte.
            setsockopt(&socket, sockopt::Ipv4Tos, &(udp.ecn as i32))?;
            socket.set_nonblocking(true)?;
            return Ok(Socket::Udp(socket));
        }
    };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, SockType::Stream, flags, SockProtocol::Tcp)?;
    setsockopt(&fd, sockopt::TcpCongestion, &congestion_control(t).into())?;
    if ends.packet < crate::bytes::MTU as u32 {
        // The option counts from the end of the header without options.
        setsockopt(&fd, sockopt::TcpMaxSeg, &ends.packet.saturating_sub(40))?;
    }
    Ok(Socket::Tcp(TcpStream::from(fd)))
}

/// The thread that serves all sockets.
#[derive(Debug)]
struct Server {
    epoll: Epoll,
    senders: Vec<Sender>,
    sinks: Vec<Sink>,
    stop: Arc<AtomicBool>,
    clock: Arc<AtomicU64>,
}

impl Server {
    fn serve(&mut self) -> io::Result<()> {
        // Senders have the even numbers, sinks the odd ones.
        for (i, sink) in self.sinks.iter().enumerate() {
            self.watch_sink(i, sink)?;
        }
        let mut events = vec![EpollEvent::empty(); 256];
        let mut block = vec![0; BLOCK];
        let mut watched = vec![false; self.senders.len()];
        while !self.stop.load(Ordering::Relaxed) {
            let now = Time::from_nanos(self.clock.load(Ordering::Relaxed));
            for (i, (sender, watched)) in self.senders.iter_mut().zip(&mut watched).enumerate() {
                sender.write(now)?;
                if let Socket::Tcp(stream) = &sender.socket
                    && sender.connected
                    && sender.backlog > 0
                    && !*watched
                {
                    self.epoll.add(stream, EpollEvent::new(EpollFlags::EPOLLOUT, 2 * i as u64))?;
                    *watched = true;
                }
            }
            let n = match self.epoll.wait(&mut events, EpollTimeout::from(2_u8)) {
                Err(nix::Error::EINTR) => 0,
                n => n?,
            };
            for event in &events[..n] {
                let (i, is_sink) = ((event.data() / 2) as usize, event.data() % 2 == 1);
                if is_sink {
                    self.take(i, &mut block)?;
                } else if !self.senders[i].flush(&block) {
                    if let Socket::Tcp(stream) = &self.senders[i].socket {
                        self.epoll.delete(stream)?;
                    }
                    watched[i] = false;
                }
            }
        }
        Ok(())
    }

    fn watch_sink(&self, i: usize, sink: &Sink) -> io::Result<()> {
        let event = EpollEvent::new(EpollFlags::EPOLLIN, 2 * i as u64 + 1);
        match sink {
            Sink::Listener(l) => self.epoll.add(l, event),
            Sink::Stream(s, _) => self.epoll.add(s, event),
            Sink::Udp(u) => self.epoll.add(u, event),
        }?;
        Ok(())
    }

    /// Takes what sink number `i` has.
    fn take(&mut self, i: usize, block: &mut [u8]) -> io::Result<()> {
        let mut gone = false;
        let accepted = if let Sink::Listener(listener) = &self.sinks[i] { listener.accept().ok() } else { None };
        if let Some((stream, _)) = accepted {
            stream.set_nonblocking(true)?;
            // Listeners have the numbers of their senders.
            let sink = Sink::Stream(stream, i);
            self.watch_sink(self.sinks.len(), &sink)?;
            self.sinks.push(sink);
        }
        match &mut self.sinks[i] {
            Sink::Listener(_) => {}
            Sink::Stream(stream, sender) => {
                for _ in 0..TURN {
                    match stream.read(block) {
                        Ok(0) => gone = true,
                        Ok(n) => {
                            self.senders[*sender].arrived += n as u64;
                            continue;
                        }
                        Err(e) => gone = e.kind() != ErrorKind::WouldBlock,
                    }
                    break;
                }
            }
            Sink::Udp(socket) => while socket.recv(block).is_ok() {},
        }
        if gone && let Sink::Stream(stream, _) = &self.sinks[i] {
            self.epoll.delete(stream)?;
        }
        Ok(())
    }
}

impl Sender {
    /// Lets the source write what is due at `now`.
    fn write(&mut self, now: Time) -> io::Result<()> {
        if self.app.waits() && self.arrived == self.written {
            self.app.completed(now);
        }
        if self.app.deadline() > now {
            return Ok(());
        }
        while let Some(does) = self.app.poll(now) {
            match (does, &self.socket) {
                (Does::Write(bytes), Socket::Tcp(stream)) => {
                    if !self.connected {
                        self.connected = true;
                        let to = SockaddrIn::from(self.to);
                        match connect(stream.as_raw_fd(), &to) {
                            Ok(()) | Err(nix::Error::EINPROGRESS) => {}
                            Err(e) => return Err(e.into()),
                        }
                    }
                    self.backlog = self.backlog.saturating_add(bytes);
                    self.written = self.written.saturating_add(bytes);
                }
                (Does::Write(bytes), Socket::Udp(_)) => {
                    self.datagrams.push_back(bytes.min(65_507) as u32);
                }
                (Does::TakeBack, _) => self.backlog = 0,
            }
        }
        if let Socket::Udp(socket) = &self.socket {
            let block = [0; BLOCK];
            while let Some(bytes) = self.datagrams.pop_front() {
                // A full socket drops the datagram, as a host's own queue does.
                let _ = socket.send_to(&block[..bytes as usize], self.to);
            }
        }
        Ok(())
    }

    /// Gives the socket what it takes. Returns false if there is nothing left for it.
    fn flush(&mut self, block: &[u8]) -> bool {
        let Socket::Tcp(stream) = &mut self.socket else { return false };
        for _ in 0..TURN {
            let n = self.backlog.min(block.len() as u64) as usize;
            if n == 0 {
                return false;
            }
            match stream.write(&block[..n]) {
                Ok(taken) if self.backlog != u64::MAX => self.backlog -= taken as u64,
                Ok(_) => {}
                Err(e) => return e.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }
}
