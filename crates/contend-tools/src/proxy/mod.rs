//! A TCP proxy that splits connections: what reaches the target comes from the proxy's own TCP sender.
//!
//! Arai et al. 2008 §III.C gave a terminal that cannot be changed another congestion control by such a proxy on its
//! way. For each connection it accepts, the proxy connects to its one target, with the congestion control, segment size
//! and rate asked for, and hands bytes on in both directions. One thread, epoll; `pair.rs` has one relayed connection.
//!
//! The proxy has one target, which the user names, so it is no open relay. It serves this machine only, unless the user
//! names the networks that it serves.

mod pair;
mod report;

pub use report::Totals;

use crate::address::Network;
use crate::error::of_system;
use crate::tcp::{self, Sending};
use crate::{Result, Stop, clock, descriptors};
use contend_core::Refusal;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::socket::{setsockopt, sockopt};
use pair::{Buffers, CLIENT, Ended, Pair, TARGET};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// What a proxy is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// The addresses of the target, tried in this order.
    pub to: Vec<SocketAddr>,
    /// Clients that are served; empty: those of this machine (loopback).
    pub allow: Vec<Network>,
    /// How the proxy sends to the target.
    pub to_target: Sending,
    /// How the proxy sends to clients.
    pub to_clients: Sending,
    /// The most bytes that wait for one end of a connection.
    pub buffer: usize,
    /// The most connections at one time; `None`: 10,000, or what the limit of file descriptors allows.
    pub connections: Option<usize>,
    /// How long the proxy tries one address of the target.
    pub connect_within: Duration,
    /// A connection on which nothing has moved for so long is reset.
    pub idle: Duration,
    /// How long open connections may go on after the first request to stop.
    pub grace: Duration,
    /// The proxy ends by itself after this time.
    pub duration: Option<Duration>,
}

/// Connections at one time, unless the user says otherwise.
const CONNECTIONS: usize = 10_000;
/// Bytes read at once.
const SCRATCH: usize = 64 * 1024;
/// Events taken from the kernel at once.
const EVENTS: usize = 256;
/// Connections accepted before others have their turn.
const ACCEPTS: usize = 64;
/// How soon something is tried again for which the system has no room now.
const AGAIN: Duration = Duration::from_millis(100);
/// How often deadlines are looked at.
const TICK: Duration = Duration::from_secs(1);

/// The token of the listener. Tokens below are those of connections: twice the slot, plus the side.
const LISTENER: u64 = u64::MAX;
/// The token of the request to stop.
const STOP: u64 = u64::MAX - 1;

/// A proxy that listens.
#[derive(Debug)]
pub struct Proxy {
    settings: Settings,
    /// `None` when the proxy accepts no more.
    listener: Option<TcpListener>,
    /// True if epoll waits for the listener.
    accepting: bool,
    epoll: Epoll,
    /// Connections; a slot is free when it holds none.
    slots: Vec<Option<Pair>>,
    free: Vec<usize>,
    /// Slots freed since the last events were taken: events of their old connection may still be among these.
    freed: Vec<usize>,
    /// Slots whose target could not be tried because the machine has no free port towards it.
    portless: Vec<usize>,
    most: usize,
    buffers: Buffers,
    totals: Totals,
    /// Sentences already said.
    said: Vec<&'static str>,
}

impl Proxy {
    /// Listens, and checks what can be checked before the first client comes.
    ///
    /// # Errors
    /// When the address is taken, the congestion control is missing or not allowed, the target is the proxy itself, or
    /// the limit of file descriptors is too low.
    pub fn open(settings: Settings) -> Result<Proxy> {
        if settings.to.is_empty() {
            return Err(Refusal::new("the proxy has no target", "name one, like --to 10.0.0.2:80"));
        }
        let most = room(settings.connections)?;
        let listener = tcp::listen_on(settings.listen, &settings.to_clients)?;
        let at = listener.local_addr().map_err(|e| of_system("the listening address is unknown", e))?;
        let same = |to: &SocketAddr| {
            to.port() == at.port() && (to.ip() == at.ip() || at.ip().is_unspecified() && to.ip().is_loopback())
        };
        if let Some(to) = settings.to.iter().find(|to| same(to)) {
            return Err(Refusal::new(format!("the target {to} is the proxy itself"), "name another host or port"));
        }
        // A socket that is never connected shows now whether the options can be set.
        let probe = nix::sys::socket::socket(
            nix::sys::socket::AddressFamily::Inet,
            nix::sys::socket::SockType::Stream,
            nix::sys::socket::SockFlag::SOCK_CLOEXEC,
            None,
        );
        settings.to_target.apply(&probe.map_err(|e| of_system("no socket can be made", e))?)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(|e| of_system("no epoll", e))?;
        Ok(Proxy {
            listener: Some(listener),
            accepting: false,
            epoll,
            slots: Vec::new(),
            free: Vec::new(),
            freed: Vec::new(),
            portless: Vec::new(),
            most,
            buffers: Buffers { scratch: vec![0; SCRATCH], most: settings.buffer.max(1) },
            totals: Totals::default(),
            said: Vec::new(),
            settings,
        })
    }

    /// The address on which the proxy listens.
    ///
    /// # Errors
    /// When the proxy has stopped listening.
    pub fn address(&self) -> Result<SocketAddr> {
        let at = self.listener.as_ref().and_then(|l| l.local_addr().ok());
        at.ok_or_else(|| Refusal::new("the proxy does not listen", "start it again"))
    }

    /// The most connections at one time.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Relays until `stop` is asked, or the duration is over. `say` gets one sentence, once, for each kind of trouble.
    ///
    /// # Errors
    /// When epoll fails.
    pub fn run(mut self, stop: &Stop, say: &mut dyn FnMut(&str)) -> Result<Totals> {
        let failed = |e: Errno| of_system("epoll", e);
        let begun = clock::monotonic();
        self.epoll.add(stop, EpollEvent::new(EpollFlags::EPOLLIN, STOP)).map_err(failed)?;
        let mut events = vec![EpollEvent::empty(); EVENTS];
        let mut ticked = begun;
        let mut until = self.settings.duration.map(|d| begun + d);
        loop {
            let now = clock::monotonic();
            if self.listener.is_some() && (stop.asked() || until.is_some_and(|u| now >= u)) {
                stop.heard();
                self.listener = None;
                until = Some(now + self.settings.grace);
                let open = self.open_connections();
                if open > 0 {
                    let grace = self.settings.grace.as_secs_f64();
                    say(&format!("stopping; {open} open connections have {grace} s to end"));
                }
            }
            if self.listener.is_none()
                && (self.open_connections() == 0 || stop.at_once() || until.is_some_and(|u| now >= u))
            {
                self.cut_all();
                self.totals.seconds = (now - begun).as_secs_f64();
                return Ok(self.totals);
            }
            self.accept_or_not().map_err(failed)?;
            let soon = !self.portless.is_empty() || (self.listener.is_some() && !self.accepting);
            let left = until.map_or(TICK, |u| u.saturating_sub(now)).min(if soon { AGAIN } else { TICK });
            let n = match self.epoll.wait(&mut events, left.as_millis().max(1) as u16) {
                Ok(n) => n,
                Err(Errno::EINTR) => 0,
                Err(e) => return Err(failed(e)),
            };
            let now = clock::monotonic();
            for event in &events[..n] {
                match event.data() {
                    LISTENER => self.accept(now, say),
                    STOP => stop.heard(),
                    token => self.on_event(token, event.events(), now, say),
                }
            }
            self.free.append(&mut self.freed);
            for slot in std::mem::take(&mut self.portless) {
                self.connect(slot, now, say);
            }
            if now >= ticked + TICK {
                ticked = now;
                self.look_at_deadlines(now, say);
            }
        }
    }

    fn open_connections(&self) -> usize {
        self.slots.len() - self.free.len() - self.freed.len()
    }

    fn say_once(&mut self, what: &'static str, say: &mut dyn FnMut(&str)) {
        if !self.said.contains(&what) {
            self.said.push(what);
            say(what);
        }
    }

    /// Lets epoll wait for the listener while there is room for a connection.
    fn accept_or_not(&mut self) -> nix::Result<()> {
        let room = self.open_connections() < self.most;
        if let Some(listener) = &self.listener {
            match (self.accepting, room) {
                (false, true) => self.epoll.add(listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?,
                (true, false) => self.epoll.delete(listener)?,
                _ => {}
            }
            self.accepting = room;
        }
        Ok(())
    }

    fn accept(&mut self, now: Duration, say: &mut dyn FnMut(&str)) {
        for _ in 0..ACCEPTS {
            if self.open_connections() >= self.most {
                self.say_once("the most connections are open: further clients wait; --connections sets how many", say);
                return;
            }
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok((client, from)) => {
                    let allow = &self.settings.allow;
                    let served = from.ip().to_canonical().is_loopback() || allow.iter().any(|n| n.has(from.ip()));
                    if !served {
                        self.totals.not_allowed += 1;
                        tcp::reset_on_drop(&client);
                        self.say_once("a client was refused because --allow does not name its network", say);
                        continue;
                    }
                    if client.set_nonblocking(true).is_err() {
                        continue;
                    }
                    let _ = setsockopt(&client, sockopt::TcpNoDelay, &true);
                    let _ = setsockopt(&client, sockopt::KeepAlive, &true);
                    self.totals.accepted += 1;
                    let pair = Pair::new(client, now);
                    let slot = match self.free.pop() {
                        Some(slot) => {
                            self.slots[slot] = Some(pair);
                            slot
                        }
                        None => {
                            self.slots.push(Some(pair));
                            self.slots.len() - 1
                        }
                    };
                    self.totals.most_at_once = self.totals.most_at_once.max(self.open_connections());
                    self.connect(slot, now, say);
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                // The client gave up before it was accepted, or the like: the next one may be well.
                Err(e) if !matches!(e.raw_os_error().map(Errno::from_raw), Some(Errno::EMFILE | Errno::ENFILE)) => {}
                Err(_) => {
                    self.say_once("no file descriptor is left: further clients wait; ulimit -n sets how many", say);
                    // Epoll reports the waiting client again when it is asked again, a little later.
                    if let Some(listener) = &self.listener {
                        let _ = self.epoll.delete(listener);
                    }
                    self.accepting = false;
                    std::thread::sleep(AGAIN / 10);
                    return;
                }
            }
        }
    }

    /// Begins to connect to the target, at the address whose turn it is.
    fn connect(&mut self, slot: usize, now: Duration, say: &mut dyn FnMut(&str)) {
        let Some(pair) = self.slots[slot].as_mut() else { return };
        while let Some(&to) = self.settings.to.get(pair.address) {
            match tcp::begin_connect(to, None, &self.settings.to_target) {
                Ok(target) => {
                    let _ = setsockopt(&target, sockopt::KeepAlive, &true);
                    pair.ends[TARGET].socket = Some(target);
                    pair.moved = now;
                    return self.settle(slot);
                }
                // All ports towards the target are taken, most by connections that have just ended.
                Err(Errno::EADDRNOTAVAIL | Errno::EMFILE | Errno::ENFILE)
                    if now < pair.moved + self.settings.connect_within =>
                {
                    self.portless.push(slot);
                    return self.say_once("no port or file descriptor is free towards the target: clients wait", say);
                }
                Err(_) => pair.address += 1,
            }
        }
        self.totals.no_target += 1;
        self.end(slot);
        self.say_once("the target refuses connections or cannot be reached: its clients are reset", say);
    }

    fn on_event(&mut self, token: u64, flags: EpollFlags, now: Duration, say: &mut dyn FnMut(&str)) {
        let (slot, side) = ((token / 2) as usize, (token % 2) as usize);
        let Some(pair) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        if !pair.connected {
            if side == CLIENT {
                // Only an error or a hang-up is reported of a client whose target is not connected.
                self.totals.reset += 1;
                return self.end(slot);
            }
            match pair.ends[TARGET].socket.as_ref().map(std::net::TcpStream::take_error) {
                Some(Ok(None)) if !flags.contains(EpollFlags::EPOLLERR) => {
                    pair.connected = true;
                    pair.moved = now;
                }
                _ => return self.try_next_address(slot, now, say),
            }
        } else {
            pair.on_event(side, flags, now, &mut self.buffers, &mut self.totals);
        }
        self.settle(slot);
    }

    /// The attempt to connect has failed.
    fn try_next_address(&mut self, slot: usize, now: Duration, say: &mut dyn FnMut(&str)) {
        if let Some(pair) = self.slots[slot].as_mut() {
            pair.ends[TARGET] = pair::End::default();
            pair.address += 1;
            pair.moved = now;
            self.connect(slot, now, say);
        }
    }

    /// Ends the connection if it has ended; otherwise epoll waits for its next event.
    fn settle(&mut self, slot: usize) {
        let Some(pair) = self.slots[slot].as_mut() else { return };
        match pair.settle() {
            Some(Ended::Closed) => self.totals.closed += 1,
            Some(Ended::Reset) => self.totals.reset += 1,
            None => {
                if pair.register(&self.epoll, 2 * slot as u64, self.buffers.most).is_ok() {
                    return;
                }
                // The kernel has no memory to watch the connection.
                self.totals.cut += 1;
            }
        }
        self.slots[slot] = None;
        self.freed.push(slot);
    }

    /// Resets a connection and frees its slot.
    fn end(&mut self, slot: usize) {
        if let Some(pair) = self.slots[slot].take() {
            pair.reset();
            self.portless.retain(|s| *s != slot);
            self.freed.push(slot);
        }
    }

    fn look_at_deadlines(&mut self, now: Duration, say: &mut dyn FnMut(&str)) {
        for slot in 0..self.slots.len() {
            let Some(pair) = &self.slots[slot] else { continue };
            if pair.connected && now >= pair.moved + self.settings.idle {
                self.totals.idle += 1;
                self.end(slot);
            } else if !pair.connected
                && pair.ends[TARGET].socket.is_some()
                && now >= pair.moved + self.settings.connect_within
            {
                self.try_next_address(slot, now, say);
            }
        }
    }

    fn cut_all(&mut self) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].is_some() {
                self.totals.cut += 1;
                self.end(slot);
            }
        }
    }
}

/// How many connections the limit of file descriptors allows: `asked`, or as many as are usual. The soft limit is
/// raised to the hard one if that is needed.
///
/// # Errors
/// When the limit is too low for so many, or for any.
pub fn room(asked: Option<usize>) -> Result<usize> {
    let wanted = asked.unwrap_or(CONNECTIONS);
    let need = 2 * wanted + descriptors::OTHERS;
    let limit = descriptors::raised(need)?;
    let possible = limit.saturating_sub(descriptors::OTHERS) / 2;
    match (possible, asked) {
        (0, _) => Err(Refusal::new(
            format!("the limit of {limit} file descriptors leaves none for connections"),
            "raise it: ulimit -n 20000",
        )),
        (n, Some(asked)) if n < asked => Err(Refusal::new(
            format!("{asked} connections need {need} file descriptors, and this user may open {limit}"),
            format!("ask for at most {n}, or raise the limit: ulimit -n {need}"),
        )),
        (n, _) => Ok(n.min(wanted)),
    }
}
