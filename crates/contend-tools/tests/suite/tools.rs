//! The measuring tools between sockets of this machine. Timing decides nothing here: loopback loses nothing, and counts
//! are exact whatever the speed.

use contend_tools::htbench::{self, Class, Method, Plan};
use contend_tools::monitor::trace::Event;
use contend_tools::monitor::{self, summary};
use contend_tools::{Stop, ap_buffer, cbr};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

/// Nothing listens here, and no test chooses this address.
const CLOSED: &str = "127.0.0.99:9";

fn anywhere() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A sink of `cbr` in a thread, and its address.
fn sink(answers: bool) -> (SocketAddr, Stop, JoinHandle<(Vec<cbr::Heard>, u64)>) {
    let stop = Stop::new().unwrap();
    let (tell, told) = channel();
    let asked = stop.clone();
    let thread = spawn(move || {
        let every = Duration::from_millis(50);
        let s = cbr::Listening { at: anywhere(), every, with_headers: false, answers, duration: None };
        let mut reported = 0;
        let sums = cbr::receive(&s, &asked, &mut |at| tell.send(at).unwrap(), &mut |h| reported += h.packets).unwrap();
        (sums, reported)
    });
    (told.recv().unwrap(), stop, thread)
}

fn source(to: SocketAddr) -> cbr::Settings {
    cbr::Settings {
        to,
        from_port: 0,
        rate_bps: 8_000_000,
        peak_bps: None,
        sweep: None,
        packet: 1000,
        burst: 1,
        with_headers: false,
        every: Duration::from_millis(100),
        pings: None,
        duration: None,
        packets: Some(500),
    }
}

/// Waits until `done` says so, at most a minute.
fn until(mut done: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not within a minute");
}

#[test]
fn every_packet_and_ping_of_a_source_is_counted() {
    let (to, stop, thread) = sink(true);
    let pings = Some(cbr::Pings { share: 0.1, random: None, depth: None });
    let mut samples = 0;
    let mut sent = 0;
    let never = Stop::new().unwrap();
    let total = cbr::send(&cbr::Settings { pings, ..source(to) }, &never, &mut |i| sent += i.packets, &mut |_, rtt| {
        assert!(rtt > 0.0);
        samples += 1;
    })
    .unwrap();
    assert_eq!((total.packets, total.bytes, total.pings, total.refused, sent), (500, 500_000, 50, 0, 500));
    assert_eq!((total.answers, samples), (50, 50));
    // 500 packets at 1000 packets/s; the first one leaves at once.
    assert!(total.seconds >= 0.498, "{}", total.seconds);
    stop.stop();
    let (heard, reported) = thread.join().unwrap();
    assert_eq!((heard.len(), heard[0].packets, heard[0].bytes, heard[0].lost), (1, 500, 500_000, 0));
    assert_eq!(reported, 500);
    assert!(heard[0].rate_bps <= 8_000_000.0 * 1.01, "{}", heard[0].rate_bps);
}

#[test]
fn a_sweep_ends_with_its_last_step() {
    let (to, stop, thread) = sink(false);
    let sweep = cbr::Sweep { until_bps: 3_200_000, add_bps: 800_000, step: Duration::from_millis(200) };
    let s = cbr::Settings { rate_bps: 800_000, sweep: Some(sweep), packets: None, burst: 1, ..source(to) };
    let mut asked = Vec::new();
    let total = cbr::send(&s, &Stop::new().unwrap(), &mut |i| asked.push(i.asked_bps), &mut |_, _| {}).unwrap();
    asked.dedup();
    assert!(asked.is_sorted() && asked.last() == Some(&3_200_000.0), "{asked:?}");
    // 0.2 s x (100 + 200 + 300 + 400) packets/s. A source that was not scheduled for a while sends them later.
    assert!((199..=202).contains(&total.packets), "{total:?}");
    stop.stop();
    assert_eq!(thread.join().unwrap().0[0].packets, total.packets);
}

#[test]
fn a_source_without_a_sink_is_an_error_and_a_sink_that_ends_refuses_packets() {
    let closed = CLOSED.parse().unwrap();
    let s = cbr::Settings { packets: Some(100), ..source(closed) };
    let e = cbr::send(&s, &Stop::new().unwrap(), &mut |_| {}, &mut |_, _| {}).unwrap_err().to_string();
    assert!(e.contains("nobody listens on") && e.contains("start the sink"), "{e}");
    let sink = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let s = cbr::Settings { packets: Some(1500), ..source(sink.local_addr().unwrap()) };
    // 1000 packets/s: the sink ends between the first second and the last packet.
    let ends = spawn(move || {
        std::thread::sleep(Duration::from_millis(1200));
        drop(sink);
    });
    let total = cbr::send(&s, &Stop::new().unwrap(), &mut |_| {}, &mut |_, _| {}).unwrap();
    ends.join().unwrap();
    assert!(total.packets == 1500 && total.refused > 0, "{total:?}");
}

#[test]
fn bursts_that_lose_nothing_are_no_estimate() {
    let stop = Stop::new().unwrap();
    let (tell, told) = channel();
    let asked = stop.clone();
    let thread = spawn(move || {
        let s = ap_buffer::Listening {
            at: anywhere(),
            trials: 2,
            silence: Duration::from_millis(300),
            patience: Some(Duration::from_secs(60)),
        };
        ap_buffer::receive(&s, &asked, &mut |at| tell.send(at).unwrap(), &mut |_| {}).unwrap()
    });
    let s = ap_buffer::Settings {
        to: told.recv().unwrap(),
        packets: 40,
        payload: 100,
        trials: 2,
        quiet: Duration::from_millis(600),
    };
    let bursts = ap_buffer::send(&s, &Stop::new().unwrap(), &mut |_| {}).unwrap();
    assert_eq!(bursts.len(), 2);
    let report = thread.join().unwrap();
    assert_eq!(report.trials, [ap_buffer::Trial::NoLoss; 2]);
    assert!(report.packets().is_none() && report.table().contains("no trial tells"));
    assert_eq!(report.payload, 100);
}

#[test]
fn a_source_without_a_sink_says_so() {
    let to = CLOSED.parse().unwrap();
    let s = ap_buffer::Settings { to, packets: 2000, payload: 100, trials: 1, quiet: Duration::ZERO };
    let e = ap_buffer::send(&s, &Stop::new().unwrap(), &mut |_| {}).unwrap_err();
    assert!(e.what.contains("nobody listens") && e.remedy.contains("ap-buffer receive"), "{e:?}");
    let listening = ap_buffer::Listening {
        at: anywhere(),
        trials: 1,
        silence: Duration::from_millis(10),
        patience: Some(Duration::from_millis(50)),
    };
    let e = ap_buffer::receive(&listening, &Stop::new().unwrap(), &mut |_| {}, &mut |_| {}).unwrap_err();
    assert!(e.what.contains("no packet came"), "{e:?}");
}

/// A server of `htbench` in a thread.
fn server() -> (SocketAddr, Stop, JoinHandle<u64>) {
    let stop = Stop::new().unwrap();
    let (tell, told) = channel();
    let asked = stop.clone();
    let thread = spawn(move || htbench::serve(anywhere(), &asked, &mut |at| tell.send(at).unwrap()).unwrap());
    (told.recv().unwrap(), stop, thread)
}

fn class(name: &str, server: SocketAddr, path: &str, method: Method, concurrency: usize) -> Class {
    let (name, host, path) = (name.to_owned(), "example.org".to_owned(), path.to_owned());
    Class { name, server, host, path, method, local: None, concurrency }
}

fn plan(classes: Vec<Class>, total: u64) -> Plan {
    let (every, patience) = (Duration::from_millis(100), Duration::from_secs(60));
    Plan { classes, total, wait: None, seed: 1, every, patience }
}

#[test]
fn transfers_of_both_directions_grow_to_their_size() {
    let (at, stop, thread) = server();
    let plan = plan(
        vec![
            class("down", at, "/3MB", Method::Get, 3),
            class("up", at, "/discard", Method::Put { size: 2_000_000 }, 2),
        ],
        20,
    );
    let mut samples: Vec<(usize, u64, htbench::Sample)> = Vec::new();
    let report = htbench::run(&plan, &Stop::new().unwrap(), &mut |c, n, s| samples.push((c, n, s))).unwrap();
    assert_eq!((report.done.len(), report.failed()), (20, 0), "{report:?}");
    assert!(report.dropped <= 5);
    for d in &report.done {
        assert_eq!(d.volume, [3_000_000, 2_000_000][d.class]);
        let of: Vec<_> = samples.iter().filter(|s| s.1 == d.number).map(|s| s.2).collect();
        assert_eq!((of[0].t_s, of[0].volume, of.last().unwrap().volume), (0.0, 0, d.volume));
        assert!(of.windows(2).all(|w| w[0].t_s <= w[1].t_s && w[0].volume <= w[1].volume), "{of:?}");
    }
    // Both have begun; on a busy machine one class may end all twenty before the other ends its first.
    assert!([0, 1].iter().all(|class| samples.iter().any(|s| s.0 == *class)));
    assert!(report.table(&plan).contains("20 requests"));
    stop.stop();
    assert!(thread.join().unwrap() >= 15);
}

#[test]
fn a_server_ends_a_request_that_does_not_come() {
    let (at, stop, thread) = server();
    let mut socket = TcpStream::connect(at).unwrap();
    socket.write_all(b"GET /1").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(socket.read(&mut [0; 10]).unwrap(), 0);
    stop.stop();
    thread.join().unwrap();
}

#[test]
fn failures_are_told_with_their_reason() {
    let (at, stop, thread) = server();
    let closed = CLOSED.parse().unwrap();
    let run = |c: Class| htbench::run(&plan(vec![c], 2), &Stop::new().unwrap(), &mut |_, _, _| {}).unwrap();
    let why = |c: Class| run(c).done[0].failed.clone().unwrap();
    assert!(why(class("x", at, "/index.html", Method::Get, 1)).contains("404"));
    assert!(why(class("x", closed, "/1", Method::Get, 1)).contains("refused"));
    stop.stop();
    thread.join().unwrap();
    // A server that breaks off, and one that speaks another protocol.
    for (text, reason) in
        [("HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nbody", "inside the body"), ("220 mail\r\n\r\n", "no HTTP/1")]
    {
        let listener = TcpListener::bind(anywhere()).unwrap();
        let at = listener.local_addr().unwrap();
        spawn(move || {
            for s in listener.incoming() {
                let mut s = s.unwrap();
                let _ = s.read(&mut [0; 1000]);
                let _ = s.write_all(text.as_bytes());
            }
        });
        assert!(why(class("x", at, "/1", Method::Get, 1)).contains(reason), "{reason}");
    }
}

#[test]
fn the_start_packet_starts() {
    let (at, stop, thread) = server();
    let free = std::net::UdpSocket::bind(anywhere()).unwrap().local_addr().unwrap();
    let plan = Plan { wait: Some(free), ..plan(vec![class("down", at, "/1kB", Method::Get, 1)], 1) };
    let client = spawn(move || htbench::run(&plan, &Stop::new().unwrap(), &mut |_, _, _| {}).unwrap());
    until(|| {
        // Until the client listens, the packet is lost.
        htbench::start(free).unwrap();
        client.is_finished()
    });
    assert_eq!(client.join().unwrap().done.len(), 1);
    stop.stop();
    thread.join().unwrap();
}

#[test]
fn a_monitor_records_a_connection_from_its_start_to_its_end() {
    let listener = TcpListener::bind(anywhere()).unwrap();
    let at = listener.local_addr().unwrap();
    let stop = Stop::new().unwrap();
    let asked = stop.clone();
    let (tell, told) = channel();
    let monitor = spawn(move || {
        let every = Duration::from_millis(1);
        let s = monitor::Settings { peer: None, port: Some(at.port()), every, look: every, duration: None };
        let mut out = Lines { all: Vec::new(), tell };
        let counted = monitor::record(&s, &asked, &mut out).unwrap();
        (counted, out.all)
    });
    let mut seen = told.recv().unwrap();
    let mut a = TcpStream::connect(at).unwrap();
    let (mut b, _) = listener.accept().unwrap();
    // The first line of each end: it is watched.
    let own = format!("{}>{at}", a.local_addr().unwrap());
    let mut sender = |is: &dyn Fn(&summary::Sender) -> bool| {
        until(|| {
            seen.extend(told.try_iter());
            let senders = summary::read(seen.as_bytes()).unwrap_or_default();
            senders.iter().any(|s| s.flow == own && is(s))
        });
    };
    sender(&|_| true);
    let reader = spawn(move || b.read_exact(&mut vec![0; 300_000]).map(|()| b));
    a.write_all(&[1; 300_000]).unwrap();
    let b = reader.join().unwrap().unwrap();
    // The connection ends only when a sample has shown data: how fast the machine samples decides nothing.
    sender(&|s| s.acked > Some(0) && s.sent > 0);
    drop(b);
    drop(a);
    sender(&|s| s.count(Event::Close) == Some(1));
    stop.stop();
    let (counted, text) = monitor.join().unwrap();
    let senders = summary::read(text.as_slice()).unwrap();
    assert_eq!(counted.sockets, senders.len() as u64);
    let s = senders.iter().find(|s| s.flow == own).unwrap();
    // All of it, and the FIN; the last sample before the end may be older.
    assert!((1..=300_001).contains(&s.acked.unwrap()) && s.sent > 0 && s.cwnd.unwrap().0 > 0, "{s:?}");
    assert_eq!((s.count(Event::Close), s.retransmitted), (Some(1), 0));
    assert_eq!(counted.lines as usize, text.iter().filter(|b| **b == b'\n').count() - 1);
}

/// Keeps what is written, and tells each piece.
struct Lines {
    all: Vec<u8>,
    tell: std::sync::mpsc::Sender<String>,
}

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.all.extend(bytes);
        let _ = self.tell.send(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
