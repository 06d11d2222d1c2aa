//! The proxy between real sockets of this machine.

use crate::needs;
use contend_tools::address::Network;
use contend_tools::proxy::{Proxy, Settings, Totals};
use contend_tools::tcp::{self, Sending};
use contend_tools::{Stop, clock};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes that differ from place to place, so that a lost, doubled or moved byte shows.
fn pattern(n: usize) -> Vec<u8> {
    (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// Nothing listens here, and no test chooses this address.
const CLOSED: &str = "127.0.0.99:9";

/// A proxy on a free port of this machine, in a thread.
struct Running {
    at: SocketAddr,
    stop: Stop,
    thread: JoinHandle<Totals>,
}

impl Running {
    fn to(target: SocketAddr, change: impl FnOnce(&mut Settings)) -> Running {
        let mut settings = Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            to: vec![target],
            allow: vec![],
            to_target: Sending::default(),
            to_clients: Sending::default(),
            buffer: 64 * 1024,
            connections: Some(500),
            connect_within: Duration::from_secs(20),
            idle: Duration::from_secs(3600),
            grace: Duration::ZERO,
            duration: None,
        };
        change(&mut settings);
        let proxy = Proxy::open(settings).unwrap();
        let at = proxy.address().unwrap();
        let stop = Stop::new().unwrap();
        let asked = stop.clone();
        let thread = std::thread::spawn(move || proxy.run(&asked, &mut |_| {}).unwrap());
        Running { at, stop, thread }
    }

    fn client(&self) -> TcpStream {
        TcpStream::connect(self.at).unwrap()
    }

    fn end(self) -> Totals {
        self.stop.stop();
        self.thread.join().unwrap()
    }

    /// Ends the proxy when the target has done its work.
    fn end_after<T>(self, thread: JoinHandle<T>) -> (Totals, T) {
        let seen = thread.join().unwrap();
        (self.end(), seen)
    }
}

/// A target that accepts `n` connections, one after another, and handles each by `handle`.
fn target<T: Send + 'static>(
    n: usize,
    handle: impl Fn(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Vec<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    (at, std::thread::spawn(move || (0..n).map(|_| handle(listener.accept().unwrap().0)).collect()))
}

/// Reads to the end, then answers with everything.
fn answer(mut s: TcpStream) -> usize {
    let mut all = Vec::new();
    s.read_to_end(&mut all).unwrap();
    s.write_all(&all).unwrap();
    all.len()
}

fn read_all(s: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    s.read_to_end(&mut all).unwrap();
    all
}

#[test]
fn a_half_closed_connection_still_carries_the_answer() {
    let (at, served) = target(1, answer);
    let proxy = Running::to(at, |_| {});
    let mut client = proxy.client();
    let sent = pattern(3_000_000);
    client.write_all(&sent).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert!(read_all(&mut client) == sent, "the answer differs");
    let (totals, served) = proxy.end_after(served);
    assert_eq!(served, [sent.len()]);
    assert_eq!((totals.accepted, totals.handed), (1, [sent.len() as u64; 2]));
    assert_eq!(totals.closed + totals.cut, 1, "{totals:?}");
}

#[test]
fn a_target_that_ends_first_is_heard_and_the_client_may_go_on() {
    let (at, served) = target(1, |mut s| {
        s.write_all(b"bye").unwrap();
        s.shutdown(Shutdown::Write).unwrap();
        read_all(&mut s)
    });
    let proxy = Running::to(at, |_| {});
    let mut client = proxy.client();
    assert_eq!(read_all(&mut client), b"bye");
    client.write_all(&pattern(500_000)).unwrap();
    drop(client);
    let (_, served) = proxy.end_after(served);
    assert!(served[0] == pattern(500_000));
}

#[test]
fn a_slow_reader_stops_the_sender_and_gets_everything() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (at, served) = target(1, move |mut s| {
        wait.recv().unwrap();
        read_all(&mut s)
    });
    let proxy = Running::to(at, |s| s.buffer = 10_000);
    let mut client = proxy.client();
    client.set_nonblocking(true).unwrap();
    // More than all buffers of kernel and proxy between the two.
    let data = pattern(60_000_000);
    let mut sent = 0;
    // The sender is stopped when nothing was taken for a while.
    let mut quiet = 0;
    while quiet < 20 {
        match client.write(&data[sent..]) {
            Ok(n) => (sent, quiet) = (sent + n, 0),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                quiet += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(e) => panic!("{e}"),
        }
    }
    assert!(sent < data.len(), "nothing holds the sender back");
    go.send(()).unwrap();
    client.set_nonblocking(false).unwrap();
    client.write_all(&data[sent..]).unwrap();
    drop(client);
    let (totals, served) = proxy.end_after(served);
    assert!(served[0] == data, "{} of {} B", served[0].len(), data.len());
    assert!((1..=10_000).contains(&totals.most_buffered), "{}", totals.most_buffered);
}

/// How many bytes a sender gets rid of when nobody reads behind the proxy.
fn held(change: impl FnOnce(&mut Settings)) -> usize {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (at, served) = target(1, move |s| {
        let _ = wait.recv();
        drop(s);
    });
    let proxy = Running::to(at, change);
    let mut client = proxy.client();
    client.set_nonblocking(true).unwrap();
    let block = [0; 64 * 1024];
    let (mut sent, mut quiet) = (0, 0);
    while quiet < 20 {
        match client.write(&block) {
            Ok(n) => (sent, quiet) = (sent + n, 0),
            Err(_) => {
                quiet += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
    go.send(()).unwrap();
    drop(client);
    proxy.end_after(served);
    sent
}

#[test]
fn the_kernel_buffers_of_a_slow_reader_are_bounded() {
    let bounded = |s: &mut Settings| {
        s.buffer = 10_000;
        for sending in [&mut s.to_target, &mut s.to_clients] {
            (sending.unsent, sending.kernel_buffer) = (Some(10_000), Some(64 * 1024));
        }
    };
    // What the sender's own socket and the receiver's hold is the same in both.
    let (free, bound) = (held(|s| s.buffer = 10_000), held(bounded));
    assert!(bound + 500_000 < free, "{bound} B with bounds, {free} B without");
    let greedy = Sending { kernel_buffer: Some(1 << 30), ..Sending::default() };
    let error = tcp::listen_on("127.0.0.1:0".parse().unwrap(), &greedy).unwrap_err();
    assert!(error.remedy.contains("sysctl net.core.wmem_max"), "{error}");
}

#[test]
fn a_reset_reaches_the_other_side_after_the_data() {
    // From the client to the target.
    let (at, served) = target(1, |mut s| {
        let mut got = [0; 5];
        s.read_exact(&mut got).unwrap();
        s.write_all(b"k").unwrap();
        (got, s.read(&mut [0; 9]).map_err(|e| e.kind()))
    });
    let proxy = Running::to(at, |_| {});
    let mut client = proxy.client();
    client.write_all(b"hello").unwrap();
    client.read_exact(&mut [0]).unwrap();
    tcp::reset_on_drop(&client);
    drop(client);
    let (totals, served) = proxy.end_after(served);
    assert_eq!(served, [(*b"hello", Err(ErrorKind::ConnectionReset))]);
    assert_eq!((totals.reset, totals.closed), (1, 0));
    // From the target to the client.
    let (at, served) = target(1, |mut s| {
        s.read_exact(&mut [0]).unwrap();
        tcp::reset_on_drop(&s);
    });
    let proxy = Running::to(at, |_| {});
    let mut client = proxy.client();
    client.write_all(b"x").unwrap();
    assert_eq!(client.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(proxy.end_after(served).0.reset, 1);
}

#[test]
fn without_a_target_the_client_is_reset_and_counted() {
    let closed = CLOSED.parse().unwrap();
    let proxy = Running::to(closed, |_| {});
    for _ in 0..3 {
        let mut client = proxy.client();
        assert_eq!(client.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    let totals = proxy.end();
    assert_eq!((totals.accepted, totals.no_target, totals.closed), (3, 3, 0));
}

#[test]
fn the_next_address_of_the_target_is_tried() {
    let closed = CLOSED.parse().unwrap();
    let (at, served) = target(1, answer);
    let proxy = Running::to(closed, |s| s.to.push(at));
    let mut client = proxy.client();
    client.write_all(b"x").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(&mut client), b"x");
    let (totals, _) = proxy.end_after(served);
    assert_eq!((totals.no_target, totals.handed), (0, [1, 1]));
}

#[test]
fn clients_wait_while_the_most_connections_are_open() {
    let (at, served) = target(20, answer);
    let proxy = Running::to(at, |s| s.connections = Some(2));
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let at = proxy.at;
            std::thread::spawn(move || {
                let mut client = TcpStream::connect(at).unwrap();
                client.write_all(b"x").unwrap();
                client.shutdown(Shutdown::Write).unwrap();
                read_all(&mut client)
            })
        })
        .collect();
    for c in clients {
        assert_eq!(c.join().unwrap(), b"x");
    }
    let (totals, _) = proxy.end_after(served);
    assert_eq!((totals.accepted, totals.most_at_once), (20, 2));
}

#[test]
fn a_connection_on_which_nothing_moves_is_reset() {
    let (at, served) = target(1, |mut s| s.read(&mut [0; 9]).map_err(|e| e.kind()));
    let proxy = Running::to(at, |s| s.idle = Duration::from_millis(100));
    let mut client = proxy.client();
    assert_eq!(client.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let (totals, served) = proxy.end_after(served);
    assert_eq!((totals.idle, served), (1, vec![Err(ErrorKind::ConnectionReset)]));
}

#[test]
fn the_end_of_the_proxy_cuts_what_is_open() {
    let (at, served) = target(1, |mut s| {
        s.write_all(b"k").unwrap();
        s.read(&mut [0; 9]).map_err(|e| e.kind())
    });
    let proxy = Running::to(at, |_| {});
    let mut client = proxy.client();
    client.read_exact(&mut [0]).unwrap();
    let stop = proxy.stop.clone();
    stop.stop();
    assert_eq!(client.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let (totals, _) = proxy.end_after(served);
    assert_eq!((totals.cut, totals.accepted), (1, 1));
}

#[test]
fn nothing_is_sent_faster_than_the_rate() {
    let (at, served) = target(1, |mut s| read_all(&mut s).len());
    // 8 Mb/s: 2 MB take 2 s; TCP sends some segments at the start without pacing.
    let proxy = Running::to(at, |s| s.to_target.rate_bps = Some(8_000_000));
    let begun = clock::monotonic();
    proxy.client().write_all(&pattern(2_000_000)).unwrap();
    let (_, served) = proxy.end_after(served);
    let took = clock::monotonic() - begun;
    assert!(served == [2_000_000] && took > Duration::from_millis(1500), "{served:?} in {took:?}");
}

#[test]
fn an_option_the_kernel_refuses_is_told_before_the_first_client() {
    let settings = |to: &str, cc: &str| Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: vec![to.parse().unwrap()],
        allow: vec![],
        to_target: Sending { congestion: Some(cc.into()), ..Sending::default() },
        to_clients: Sending::default(),
        buffer: 1000,
        connections: Some(10),
        connect_within: Duration::from_secs(1),
        idle: Duration::from_secs(1),
        grace: Duration::ZERO,
        duration: None,
    };
    let e = Proxy::open(settings("127.0.0.1:9", "nosuch")).unwrap_err();
    assert!(e.what.contains("`nosuch`") && e.remedy.contains("reno"), "{e:?}");
    assert!(Proxy::open(settings("127.0.0.1:9", "reno")).is_ok());
    let many = Settings { connections: Some(1 << 40), ..settings("127.0.0.1:9", "reno") };
    assert!(Proxy::open(many).unwrap_err().remedy.contains("ulimit -n"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let own = Settings { listen: taken, to: vec![taken], ..settings("127.0.0.1:9", "reno") };
    assert!(Proxy::open(own).unwrap_err().what.contains("itself"));
}

#[test]
fn a_client_of_another_network_is_refused_unless_it_is_named() {
    // An address of this machine that is not loopback: its connections come from there.
    let own = UdpSocket::bind("0.0.0.0:0").and_then(|s| {
        s.connect("192.0.2.1:9")?;
        s.local_addr()
    });
    let Some(own) = own.ok().map(|a| a.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified()) else {
        assert!(std::env::var("CONTEND_REQUIRE").is_err(), "this machine has no address beside loopback");
        needs::skip("an address beside loopback", "clients of another network at contend proxy");
        return;
    };
    let served = |allow: Vec<Network>| {
        let (at, _served) = target(1, answer);
        let proxy = Running::to(at, |s| (s.listen, s.allow) = ("0.0.0.0:0".parse().unwrap(), allow));
        let mut client = TcpStream::connect((own, proxy.at.port())).unwrap();
        let _ = client.write_all(b"x");
        let _ = client.shutdown(Shutdown::Write);
        let got = client.read(&mut [0; 9]).map_err(|e| e.kind());
        // A refused client sees a reset when it writes or when it reads.
        (got == Ok(1), proxy.end().not_allowed)
    };
    assert_eq!(served(vec![]), (false, 1));
    let one = |ip: IpAddr| vec![Network::parse(&ip.to_string()).unwrap()];
    assert_eq!(served(one(own)), (true, 0));
    assert_eq!(served(one("192.0.2.1".parse().unwrap())), (false, 1));
}

/// Open descriptors of this process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// `n` short connections from `clients` threads: request, answer, end. Every fifth is reset by its client. One more
/// follows them.
fn short_connections(n: usize, clients: usize) -> Totals {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let servers: Vec<_> = (0..4)
        .map(|_| {
            let listener = listener.try_clone().unwrap();
            std::thread::spawn(move || {
                loop {
                    let (mut s, _) = listener.accept().unwrap();
                    let mut asked = [0; 4];
                    match s.read(&mut asked) {
                        Ok(4) if &asked == b"stop" => return,
                        Ok(4) => drop(s.write_all(&pattern(1000))),
                        _ => {}
                    }
                }
            })
        })
        .collect();
    let proxy = Running::to(at, |s| {
        s.connect_within = Duration::from_secs(120);
        s.grace = Duration::from_secs(60);
    });
    let to = proxy.at;
    let clients: Vec<_> = (0..clients)
        .map(|c| {
            std::thread::spawn(move || {
                for i in 0..n / clients {
                    let mut s = TcpStream::connect(to).unwrap();
                    s.write_all(b"page").unwrap();
                    if (i + c) % 5 == 0 {
                        tcp::reset_on_drop(&s);
                        continue;
                    }
                    assert!(read_all(&mut s) == pattern(1000), "connection {i} of client {c}");
                }
            })
        })
        .collect();
    clients.into_iter().for_each(|c| c.join().unwrap());
    // The last one to be accepted: then the proxy has all others, also those that were reset at once.
    let mut last = TcpStream::connect(to).unwrap();
    last.write_all(b"page").unwrap();
    assert!(read_all(&mut last) == pattern(1000), "the last connection");
    drop(last);
    let totals = proxy.end();
    for _ in &servers {
        TcpStream::connect(at).unwrap().write_all(b"stop").unwrap();
    }
    servers.into_iter().for_each(|s| s.join().unwrap());
    totals
}

#[test]
fn thousands_of_short_connections_leave_nothing_behind() {
    let totals = short_connections(4000, 16);
    assert_eq!((totals.accepted, totals.closed, totals.reset), (4001, 3201, 800), "{totals:?}");
}

/// Takes half a minute or more: `cargo test -p contend-tools --test suite proxy -- --ignored --nocapture`.
#[test]
#[ignore = "long"]
fn a_hundred_thousand_short_connections_leave_nothing_behind() {
    short_connections(400, 4);
    let before = descriptors();
    let begun = clock::monotonic();
    let totals = short_connections(100_000, 16);
    println!("{:?} in {:?}; {before} descriptors before, {} after", totals, clock::monotonic() - begun, descriptors());
    assert_eq!((totals.accepted, totals.closed, totals.reset), (100_001, 80_001, 20_000), "{totals:?}");
    assert_eq!(descriptors(), before);
}
