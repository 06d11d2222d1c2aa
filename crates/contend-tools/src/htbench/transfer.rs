//! One transfer: a TCP connection from its establishment to its end.

use super::http;
use super::plan::{Class, Method};
use crate::tcp_info::TcpInfo;
use crate::{clock, tcp};
use nix::libc;
use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, sockopt_impl};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

// The first 128 bytes of TCP_INFO, which end with the bytes acknowledged: every kernel since 4.2 has them.
sockopt_impl!(
    /// What the kernel knows of a TCP sender.
    Info,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    [u8; 128]
);

/// The shortest time between two samples.
const DENSEST: Duration = Duration::from_millis(1);
/// From one sample to the next, time grows by this part: samples are dense where slow start is.
const GROWTH: u32 = 20;
/// Bytes of random data that are sent again and again. It is longer than what compression looks back.
pub(super) const RANDOM: usize = 1 << 20;

/// How much had been transferred at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds since the TCP connection was established.
    pub t_s: f64,
    /// Bytes of the body that were acknowledged.
    pub volume: u64,
}

/// What a transfer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Connecting,
    Sending,
    Head,
    Body,
}

/// How a transfer stands after it was served.
#[derive(Debug)]
pub(super) enum Step {
    /// It goes on.
    On,
    /// It is complete.
    Complete,
    /// It has failed, for this reason.
    Failed(String),
}

#[derive(Debug)]
pub(super) struct Transfer {
    pub class: usize,
    pub number: u64,
    pub socket: TcpStream,
    phase: Phase,
    /// The head of the request, and how much of head and body was sent.
    request: Vec<u8>,
    sent: u64,
    /// The head of the answer, as far as it came.
    head: Vec<u8>,
    /// Bytes of the answer's body, if known, and how many came.
    expected: Option<u64>,
    received: u64,
    /// When the connection was established; before that, when it was begun.
    begun: Duration,
    /// When the last byte moved.
    pub moved: Duration,
    next_sample: Duration,
    /// The volume at the last sample.
    pub volume: u64,
}

impl Transfer {
    pub fn begin(class: usize, number: u64, of: &Class) -> nix::Result<Transfer> {
        let socket = tcp::begin_connect(of.server, of.local, &tcp::Sending::default())?;
        let method = if of.method == Method::Get { "GET" } else { "PUT" };
        let length = match of.method {
            Method::Get => String::new(),
            Method::Put { size } => {
                format!("Content-Type: application/octet-stream\r\nContent-Length: {size}\r\n")
            }
        };
        let request =
            format!("{method} {} HTTP/1.0\r\nHost: {}\r\nUser-Agent: contend\r\n{length}\r\n", of.path, of.host);
        let now = clock::monotonic();
        Ok(Transfer {
            class,
            number,
            socket,
            phase: Phase::Connecting,
            request: request.into_bytes(),
            sent: 0,
            head: Vec::new(),
            expected: None,
            received: 0,
            begun: now,
            moved: now,
            next_sample: Duration::ZERO,
            volume: 0,
        })
    }

    /// True if the transfer waits until its socket can be written.
    pub fn writes(&self) -> bool {
        matches!(self.phase, Phase::Connecting | Phase::Sending)
    }

    /// Seconds since the connection was established.
    pub fn seconds(&self, now: Duration) -> f64 {
        now.saturating_sub(self.begun).as_secs_f64()
    }

    /// How long until the volume is to be looked at, although nothing may be ready: what was sent is acknowledged
    /// without a sign from the socket.
    pub fn due_in(&self, of: &Class, now: Duration) -> Option<Duration> {
        let sends = of.method != Method::Get && self.phase != Phase::Connecting;
        sends.then(|| (self.begun + self.next_sample).saturating_sub(now))
    }

    /// Does what the socket is ready for.
    pub fn serve(
        &mut self,
        of: &Class,
        random: &[u8],
        scratch: &mut [u8],
        every: Duration,
        out: &mut dyn FnMut(Sample),
    ) -> Step {
        let step = match self.phase {
            Phase::Connecting => match self.socket.take_error() {
                Ok(None) => {
                    self.begun = clock::monotonic();
                    self.moved = self.begun;
                    self.phase = Phase::Sending;
                    out(Sample { t_s: 0.0, volume: 0 });
                    self.next_sample = DENSEST;
                    self.send(of, random)
                }
                Ok(Some(e)) | Err(e) => Step::Failed(e.to_string()),
            },
            Phase::Sending => self.send(of, random),
            Phase::Head | Phase::Body => self.receive(of, scratch),
        };
        if self.phase != Phase::Connecting {
            self.sample(of, every, matches!(step, Step::Complete), out);
        }
        step
    }

    /// Looks at the volume if it is time, or at the end.
    pub fn sample(&mut self, of: &Class, every: Duration, last: bool, out: &mut dyn FnMut(Sample)) {
        let now = clock::monotonic();
        let t = now.saturating_sub(self.begun);
        if t < self.next_sample && !last {
            return;
        }
        let volume = match of.method {
            Method::Get => self.received,
            Method::Put { size } if last => size,
            // The kernel's count begins with the SYN and goes on with the head.
            Method::Put { size } => getsockopt(&self.socket, Info)
                .map_or(0, |i| TcpInfo::read(&i).bytes_acked)
                .saturating_sub(1 + self.request.len() as u64)
                .min(size),
        };
        if volume != self.volume {
            self.moved = now;
        }
        self.volume = volume;
        self.next_sample = t + (t / GROWTH).clamp(DENSEST, every.max(DENSEST));
        out(Sample { t_s: t.as_secs_f64(), volume });
    }

    fn send(&mut self, of: &Class, random: &[u8]) -> Step {
        let head = self.request.len() as u64;
        let all = head + if let Method::Put { size } = of.method { size } else { 0 };
        while self.sent < all {
            let part = match self.request.get(self.sent as usize..).filter(|rest| !rest.is_empty()) {
                Some(rest) => rest,
                None => {
                    let at = ((self.sent - head) % random.len() as u64) as usize;
                    let left = usize::try_from(all - self.sent).unwrap_or(usize::MAX);
                    &random[at..random.len().min(at.saturating_add(left))]
                }
            };
            match self.socket.write(part) {
                Ok(n) => self.sent += n as u64,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Step::On,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Step::Failed(e.to_string()),
            }
        }
        self.phase = Phase::Head;
        Step::On
    }

    fn receive(&mut self, of: &Class, scratch: &mut [u8]) -> Step {
        let n = match self.socket.read(scratch) {
            Ok(n) => n,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Step::On,
            Err(e) => return Step::Failed(e.to_string()),
        };
        self.moved = clock::monotonic();
        if self.phase == Phase::Head {
            self.head.extend(&scratch[..n]);
            match http::head(&self.head) {
                Err(what) => return Step::Failed(format!("the server sends {what}")),
                Ok(None) if n == 0 => return Step::Failed("the server ended before its answer".into()),
                Ok(None) => return Step::On,
                Ok(Some(head)) => {
                    if !head.first[1].starts_with('2') {
                        return Step::Failed(format!("the server says {} {}", head.first[1], head.first[2]));
                    }
                    self.phase = Phase::Body;
                    self.expected = head.length;
                    self.received = (self.head.len() - head.bytes) as u64;
                }
            }
        } else {
            self.received += n as u64;
        }
        // A sender is done when the answer begins: the server has everything.
        let enough = self.expected.is_some_and(|e| self.received >= e) || of.method != Method::Get;
        match (enough, n) {
            (true, _) => Step::Complete,
            (false, 0) if self.expected.is_none() => Step::Complete,
            (false, 0) => Step::Failed("the server ended inside the body".into()),
            _ => Step::On,
        }
    }
}
