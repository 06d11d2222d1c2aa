//! One relayed connection: what one end has sent and the other has not taken yet, and how both end.
//!
//! Back-pressure: at most `buffer` bytes wait for each end. When so many wait, the other end is not read, its receive
//! window closes, and its sender stops. An end that says it sends no more (FIN) is repeated to the other end when
//! everything before it has been handed on; the other direction goes on. An end that is reset takes the other one with
//! it, after what it had sent.

use super::report::Totals;
use crate::tcp;
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// The index of the end that connected to the proxy.
pub(super) const CLIENT: usize = 0;
/// The index of the end to which the proxy connects.
pub(super) const TARGET: usize = 1;
/// Reads from one socket before others have their turn.
const READS: usize = 4;
/// A buffer that has become empty keeps this much memory, in bytes.
const KEPT: usize = 4096;

/// How a relayed connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Both ends said that they send no more, and got everything.
    Closed,
    /// One end was reset, and so was the other.
    Reset,
}

/// One end of a relayed connection.
#[derive(Debug, Default)]
pub(super) struct End {
    /// `None`: reset, or not connected yet.
    pub socket: Option<TcpStream>,
    /// What the other end has sent and this end has not taken.
    pending: VecDeque<u8>,
    /// True if this end sends no more.
    finished: bool,
    /// True if this end was told that the other one sends no more.
    told: bool,
    /// True if this end was reset.
    lost: bool,
    /// The events of the socket for which epoll waits; `None`: the socket is not registered.
    waits: Option<EpollFlags>,
}

/// A relayed connection.
#[derive(Debug)]
pub(super) struct Pair {
    /// The client's end and the target's.
    pub ends: [End; 2],
    /// Index of the target's address that is tried.
    pub address: usize,
    /// True if the target's end is connected.
    pub connected: bool,
    /// When the last byte was handed on, or the last attempt to connect began.
    pub moved: Duration,
}

impl Pair {
    /// A connection of `client`, whose target is not connected yet.
    pub fn new(client: TcpStream, now: Duration) -> Pair {
        let client = End { socket: Some(client), ..End::default() };
        Pair { ends: [client, End::default()], address: 0, connected: false, moved: now }
    }

    /// Bytes that wait for both ends.
    pub fn waiting(&self) -> usize {
        self.ends.iter().map(|e| e.pending.len()).sum()
    }

    /// Reacts to `flags` of the socket of `side`.
    pub fn on_event(
        &mut self,
        side: usize,
        flags: EpollFlags,
        now: Duration,
        buffers: &mut Buffers,
        totals: &mut Totals,
    ) {
        let before = totals.bytes();
        if flags.contains(EpollFlags::EPOLLOUT) {
            self.flush(side);
        }
        if flags.intersects(EpollFlags::EPOLLIN | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR) {
            self.pull(side, buffers, totals);
        }
        if flags.contains(EpollFlags::EPOLLERR) && self.has_error(side) {
            self.lose(side);
        }
        totals.most_buffered = totals.most_buffered.max(self.waiting());
        if totals.bytes() > before {
            self.moved = now;
        }
    }

    fn has_error(&self, side: usize) -> bool {
        self.ends[side].socket.as_ref().is_some_and(|s| !matches!(s.take_error(), Ok(None)))
    }

    /// Hands what waits for `side` to its socket, as far as it takes it.
    fn flush(&mut self, side: usize) {
        let end = &mut self.ends[side];
        let Some(socket) = &mut end.socket else { return };
        while !end.pending.is_empty() {
            match socket.write(end.pending.as_slices().0) {
                Ok(n) => drop(end.pending.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.lose(side),
            }
        }
        end.pending.shrink_to(KEPT);
    }

    /// Reads from `side` and hands it to the other end; what that does not take waits.
    fn pull(&mut self, side: usize, buffers: &mut Buffers, totals: &mut Totals) {
        let other = 1 - side;
        for _ in 0..READS {
            let room = buffers.most.saturating_sub(self.ends[other].pending.len()).min(buffers.scratch.len());
            let Some(socket) = self.ends[side].socket.as_mut().filter(|_| room > 0) else { return };
            if self.ends[side].finished || self.ends[other].lost {
                return;
            }
            let read = match socket.read(&mut buffers.scratch[..room]) {
                Ok(0) => {
                    self.ends[side].finished = true;
                    return;
                }
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(_) => return self.lose(side),
            };
            totals.handed[side] += read as u64;
            self.ends[other].pending.extend(&buffers.scratch[..read]);
            self.flush(other);
        }
    }

    /// The socket of `side` is reset: nothing more can be handed to it.
    pub fn lose(&mut self, side: usize) {
        self.ends[side] = End { lost: true, ..End::default() };
    }

    /// Repeats ends to the other side. Returns how the connection has ended, if it has.
    pub fn settle(&mut self) -> Option<Ended> {
        for side in [CLIENT, TARGET] {
            let ended = self.ends[side].finished;
            let other = &mut self.ends[1 - side];
            if ended && other.pending.is_empty() && !other.told {
                other.told = true;
                // The shutdown of a socket that is already reset fails; its next event says that it is.
                let _ = other.socket.as_ref().map(|s| s.shutdown(Shutdown::Write));
            }
        }
        if self.ends.iter().all(|e| e.told) {
            return Some(Ended::Closed);
        }
        let lost = |side: usize| self.ends[side].lost && self.ends[1 - side].pending.is_empty();
        if lost(CLIENT) || lost(TARGET) {
            self.reset();
            return Some(Ended::Reset);
        }
        None
    }

    /// Lets both ends see a reset when the pair is dropped.
    pub fn reset(&self) {
        self.ends.iter().filter_map(|e| e.socket.as_ref()).for_each(tcp::reset_on_drop);
    }

    /// Tells epoll for what to wait now. `token` is the client's; the next one is the target's.
    pub fn register(&mut self, epoll: &Epoll, token: u64, most: usize) -> nix::Result<()> {
        for side in [CLIENT, TARGET] {
            let (me, other) = (&self.ends[side], &self.ends[1 - side]);
            let mut wants = EpollFlags::empty();
            if self.connected {
                wants.set(EpollFlags::EPOLLIN, !me.finished && !other.lost && other.pending.len() < most);
                wants.set(EpollFlags::EPOLLOUT, !me.pending.is_empty());
            } else {
                wants.set(EpollFlags::EPOLLOUT, side == TARGET);
            }
            // The kernel reports a socket whose both directions have ended again and again: when such a socket is not
            // to be read now, epoll must not know it. (It reports errors and hang-ups of all others.)
            let wants = (!(wants.is_empty() && me.told)).then_some(wants);
            let end = &mut self.ends[side];
            let Some(socket) = end.socket.as_ref().filter(|_| wants != end.waits) else { continue };
            let event = |flags| EpollEvent::new(flags, token + side as u64);
            match (end.waits, wants) {
                (None, Some(flags)) => epoll.add(socket, event(flags))?,
                (Some(_), Some(flags)) => epoll.modify(socket, &mut event(flags))?,
                (Some(_), None) => epoll.delete(socket)?,
                (None, None) => {}
            }
            end.waits = wants;
        }
        Ok(())
    }
}

/// Memory for what is being handed on.
#[derive(Debug)]
pub(super) struct Buffers {
    /// Into this the sockets are read.
    pub scratch: Vec<u8>,
    /// The most bytes that wait for one end.
    pub most: usize,
}
