//! A server for transfers: `GET /10MB` gets so many bytes, the body of a `PUT` is discarded (the document's NULL-CGI).

use super::http;
use crate::error::of_system;
use crate::tcp::{self, Sending};
use crate::{Result, Stop, clock, descriptors};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::time::Duration;

/// Connections at the same time; further ones wait.
const MOST: usize = 1000;

/// A request has its whole head within this time.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// A connection on which nothing has moved for so long is ended.
const IDLE: Duration = Duration::from_secs(60);
/// How often the server looks for such connections.
const LOOK: u16 = 1000;

/// The body of an answer, again and again.
static FILLER: [u8; 64 * 1024] = [b'.'; 64 * 1024];

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The head of the request.
    Head,
    /// So many bytes of the request's body.
    Discarding(u64),
    /// The answer has so many bytes of body to come; its head lies in `out`.
    Answering(u64),
    /// The client's end.
    Ending,
}

struct Connection {
    socket: TcpStream,
    phase: Phase,
    /// What came of the head.
    head: Vec<u8>,
    /// What is to be sent before the body.
    out: Vec<u8>,
    /// When the connection began, and when something moved last, on the clock of [`clock::monotonic`].
    began: Duration,
    moved: Duration,
}

/// Serves until `stop` is asked. `ready` is called with the address.
///
/// # Errors
/// When the address is taken.
pub fn serve(at: SocketAddr, stop: &Stop, ready: &mut dyn FnMut(SocketAddr)) -> Result<u64> {
    let listener = tcp::listen_on(at, &Sending::default())?;
    ready(listener.local_addr().unwrap_or(at));
    let most = MOST.min(descriptors::raised(MOST + descriptors::OTHERS)?.saturating_sub(descriptors::OTHERS));
    let mut open: Vec<Connection> = Vec::new();
    let mut served = 0;
    let mut scratch = vec![0; 64 * 1024];
    while !stop.asked() {
        let ready: Vec<PollFlags> = {
            let mut fds = vec![PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
            let room = if open.len() < most { PollFlags::POLLIN } else { PollFlags::empty() };
            fds.push(PollFd::new(listener.as_fd(), room));
            fds.extend(open.iter().map(|c| {
                let answers = matches!(c.phase, Phase::Answering(_));
                PollFd::new(c.socket.as_fd(), if answers { PollFlags::POLLOUT } else { PollFlags::POLLIN })
            }));
            match poll(&mut fds, PollTimeout::from(LOOK)) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(e) => return Err(of_system("poll", e)),
            }
            fds.iter().map(|f| f.revents().unwrap_or(PollFlags::empty())).collect()
        };
        // From the last one on, because a connection that ends takes the place of another one.
        let now = clock::monotonic();
        for k in (0..open.len()).rev() {
            let goes_on =
                if ready[k + 2].is_empty() { !open[k].is_late(now) } else { open[k].serve(&mut scratch, now) };
            if !goes_on {
                served += u64::from(open[k].phase == Phase::Ending);
                open.swap_remove(k);
            }
        }
        if !ready[1].is_empty()
            && let Ok((socket, _)) = listener.accept()
            && socket.set_nonblocking(true).is_ok()
        {
            let (head, out) = (Vec::new(), Vec::new());
            open.push(Connection { socket, phase: Phase::Head, head, out, began: now, moved: now });
        }
    }
    Ok(served)
}

impl Connection {
    /// True if the client lets the server wait for too long.
    fn is_late(&self, now: Duration) -> bool {
        now >= self.moved + IDLE || (self.phase == Phase::Head && now >= self.began + HEAD_WITHIN)
    }

    /// Does what the socket is ready for. Returns false if the connection has ended.
    fn serve(&mut self, scratch: &mut [u8], now: Duration) -> bool {
        self.moved = now;
        if let Phase::Answering(left) = self.phase {
            return self.answer(left);
        }
        let n = match self.socket.read(scratch) {
            Ok(0) => return false,
            Ok(n) => n,
            Err(e) => return matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        match self.phase {
            Phase::Head => {
                self.head.extend(&scratch[..n]);
                match http::head(&self.head) {
                    Ok(None) => return !self.is_late(now),
                    Ok(Some(h)) => {
                        let body = (self.head.len() - h.bytes) as u64;
                        let left = h.length.unwrap_or(0).saturating_sub(body);
                        match (h.first[0].as_str(), http::size(&h.first[1])) {
                            ("GET", Some(size)) => self.begin("200 OK", size),
                            ("PUT", _) if left == 0 => self.begin("200 OK", 0),
                            ("PUT", _) => self.phase = Phase::Discarding(left),
                            ("GET", None) => self.begin("404 Write the number of bytes, like /10MB", 0),
                            _ => self.begin("405 Only GET and PUT", 0),
                        }
                    }
                    Err(_) => self.begin("400 This is no HTTP/1", 0),
                }
            }
            Phase::Discarding(left) => match left.saturating_sub(n as u64) {
                0 => self.begin("200 OK", 0),
                left => self.phase = Phase::Discarding(left),
            },
            Phase::Answering(_) | Phase::Ending => {}
        }
        true
    }

    fn begin(&mut self, status: &str, size: u64) {
        self.out = format!("HTTP/1.0 {status}\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        self.phase = Phase::Answering(size);
    }

    fn answer(&mut self, mut left: u64) -> bool {
        loop {
            let part = if self.out.is_empty() {
                &FILLER[..FILLER.len().min(usize::try_from(left).unwrap_or(usize::MAX))]
            } else {
                &self.out
            };
            if part.is_empty() {
                self.phase = Phase::Ending;
                // The client ends the connection when it has read everything.
                return self.socket.shutdown(Shutdown::Write).is_ok();
            }
            match self.socket.write(part) {
                Ok(n) if self.out.is_empty() => left -= n as u64,
                Ok(n) => drop(self.out.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    self.phase = Phase::Answering(left);
                    return true;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }
}
