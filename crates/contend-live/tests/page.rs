//! The page over its socket, as a browser asks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contend_lab::execute::{Options, execute};
use contend_lab::reading::file::{from_disk, parse};
use contend_lab::writing::folder;
use contend_live::serve;
use contend_page::session::Session;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

const FILE: &str = "title = \"Two </script> downloads\"\nduration = \"3s\"\nwarmup = \"1s\"\n\
    dials = [\"flow.down.count\", \"ap.control\", \"wire.delay\"]\n[param]\nwide = \"30p\"\n[wifi]\n\
    standard = \"802.11g\"\n[[flow]]\ncount = 2\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n\
    window = \"= wide\"\n[sweep]\n\"ap.queue\" = [\"fifo\", { kind = \"fifo\", limit = \"20p\" }]\n\
    [[claim]]\nid = \"A\"\npaper = \"p\"\nmetric = \"goodput.total\"\nexpect = { at_least = 0 }\n";

struct Server {
    host: String,
    token: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(text: &str) -> Server {
        let session = Session::new("t.toml".into(), text.into(), vec![], from_disk, &AtomicBool::new(false));
        let session = session.unwrap().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = channel();
        let asked = Arc::clone(&stop);
        let thread = spawn(move || serve(session, 1, 0, 40, &asked, |at| tell.send(at.to_owned()).unwrap()).unwrap());
        let address = told.recv().unwrap();
        let (host, token) = address.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Server { host: host.into(), token: token.into(), stop, thread: Some(thread) }
    }

    /// Status, headers and body of an answer.
    fn send(&self, request: &str) -> (u16, String, String) {
        let mut socket = TcpStream::connect(&self.host).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host))
    }

    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let (body, host, token) = (body.to_string(), &self.host, &self.token);
        let (status, _, text) = self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nX-Contend-Token: {token}\r\nConnection: \
                close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        (status, text)
    }

    /// The JSON of an answer with status 200.
    fn post_json(&self, path: &str, body: &Value) -> Value {
        let (status, text) = self.post(path, body);
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn the_page_shows_the_dials_of_the_file() {
    let server = Server::start(FILE);
    let (status, head, page) = server.get(&format!("/?token={}", server.token));
    assert_eq!(status, 200);
    assert!(head.contains("content-security-policy: default-src 'none'") && head.contains("no-store"), "{head}");
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data = serde_json::from_str::<Value>(data).unwrap()["Ok"].clone();
    assert_eq!(data["title"], "Two </script> downloads");
    let dial = |key: &str| data["dials"].as_array().unwrap().iter().find(|d| d["key"] == key).unwrap().clone();
    assert_eq!(dial("param.wide")["value"], "30p");
    assert_eq!(
        dial("param.wide")["turn"],
        json!({ "kind": "range", "low": 3.0, "high": 300.0, "at": 30.0,
        "unit": "p", "whole": true, "log": true })
    );
    let queue = dial("ap.queue");
    assert_eq!((&queue["value"], &data["swept"]), (&Value::Null, &json!(["ap.queue"])));
    assert_eq!(
        queue["turn"]["options"][1],
        json!({ "text": "fifo 20p", "value": "{ kind = \"fifo\", limit = \"20p\" }" })
    );
    assert_eq!((dial("duration")["value"].as_str(), dial("seeds")["value"].as_str()), (Some("3s"), Some("1")));
    // The keys that the file names, after its sweep. One that the file does not have shows what holds without it.
    let keys: Vec<&str> = data["dials"].as_array().unwrap().iter().map(|d| d["key"].as_str().unwrap()).collect();
    let expected = ["param.wide", "ap.queue", "flow.down.count", "ap.control", "wire.delay", "duration", "seeds"];
    assert_eq!(keys, expected);
    assert_eq!((&dial("flow.down.count")["value"], &dial("flow.down.count")["absent"]), (&json!("2"), &Value::Null));
    assert_eq!((&dial("ap.control")["value"], &dial("ap.control")["absent"]["value"]), (&Value::Null, &json!("none")));
    assert!(dial("wire.delay")["value"].is_null() && !dial("wire.delay")["absent"].is_null());
    assert!(data["keys"].as_array().unwrap().contains(&json!("flow.0.count")));
}

#[test]
fn another_key_becomes_a_dial_and_a_wrong_one_gets_a_remedy() {
    let server = Server::start(FILE);
    let dial = |key: &str| server.post_json("/dial", &json!({ "key": key, "settings": [] }));
    let count = dial("flow.0.count");
    assert_eq!((&count["value"], &count["turn"]["high"]), (&json!("2"), &json!(20.0)));
    let standards = dial("wifi.standard");
    assert_eq!(standards["value"], "802.11g");
    // A text that would be a number has quotes.
    assert_eq!(standards["turn"]["options"][0], json!({ "text": "802.11", "value": "\"802.11\"" }));
    assert_eq!(dial("flow.0.tcp")["value"], "newreno");
    // A key that the file does not have: its default, or an example.
    let delay = dial("wire.delay");
    assert_eq!(
        (&delay["value"], &delay["turn"]["kind"], &delay["turn"]["unit"]),
        (&Value::Null, &json!("range"), &json!("ms"))
    );
    let with = server.post_json("/dial", &json!({ "key": "ap.queue.limit", "settings": [["ap.queue", "codel"]] }));
    assert_eq!(with["turn"]["unit"], "p", "{with}");
    for wrong in ["flow.0.cuont", "", "ap.queue.lmit", "..", "flow.9.count\u{0}"] {
        let (status, text) = server.post("/dial", &json!({ "key": wrong, "settings": [] }));
        assert!(status == 422 && text.contains("help: "), "{wrong}: {text}");
    }
}

#[test]
fn a_change_runs_and_the_file_of_the_page_makes_the_same_run() {
    let server = Server::start(FILE);
    let settings =
        json!([["param.wide", "9p"], ["ap.queue", "{ kind = \"fifo\", limit = \"20p\" }"], ["title", "a'b"]]);
    let done = server.post_json("/run", &settings)["done"].clone();
    assert_eq!(done["runs"], 1);
    let (status, _, report) = server.get(&format!("/report/{}?token={}", done["report"], server.token));
    assert!(status == 200 && report.contains("<svg") && report.contains("param.wide=9p"), "{status}");
    // The command can be typed.
    assert!(report.contains(r"--set &#39;title=a&#39;\&#39;&#39;b&#39;") || report.contains(r"--set 'title=a'\''b'"));
    let (_, file) = server.post("/file", &settings);
    let e = parse("again.toml", &file, &folder::settings(&file)).unwrap();
    // It has the same dials.
    assert!(e.dials().iter().any(|d| d.key == "flow.down.count"));
    let again = execute(&e, &Options::default()).unwrap().outcome;
    assert_eq!((again.runs.len(), json!(again.runs[0].digest)), (1, done["digest"].clone()));
    // A sweep without a setting runs all its values.
    assert_eq!(server.post_json("/run", &json!([]))["done"]["runs"], 2);
}

#[test]
fn a_pinned_result_is_compared_with_later_ones() {
    let server = Server::start(FILE);
    let run = |wide: &str, seeds: &str| {
        let settings = json!([["param.wide", wide], ["ap.queue", "fifo"], ["seeds", seeds]]);
        server.post_json("/run", &settings)["done"]["report"].as_u64().unwrap()
    };
    let compare = |a: u64, b: u64| {
        let (status, _, text) = server.get(&format!("/compare/{a}/{b}?token={}", server.token));
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let first = run("30p", "1..3");
    assert_eq!(server.post(&format!("/pin/{first}"), &Value::Null).0, 204);
    // More reports than are kept: the pinned one stays.
    let [_, _, one, three] = [("20p", "1"), ("9p", "1"), ("2p", "1"), ("2p", "1..3")].map(|(w, s)| run(w, s));
    let (status, found) = compare(first, three);
    assert_eq!(status, 200, "{found}");
    let cells = |found: &Value, metric: &str| -> Vec<String> {
        let rows = found["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row[1][0].as_str().unwrap().starts_with(metric)).unwrap();
        row[1].as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect()
    };
    let [goodput, single] = [&found, &compare(first, one).1].map(|found| cells(found, "goodput.down"));
    assert!(goodput[3].contains('±') && goodput[5] == "less", "{goodput:?}");
    assert_eq!(found["cautions"], json!([]));
    // One pair has a difference, but no interval, and the page says so.
    assert!(single[3].starts_with('-') && !single[3].contains('±'), "{single:?}");
    let (_, of_one) = compare(first, one);
    assert!(of_one["cautions"].to_string().contains("no intervals"), "{of_one}");
    assert!(!of_one["method"].as_str().unwrap().contains('±'), "{of_one}");
    // Points that the other side does not have, and reports that are gone.
    let other = server.post_json("/run", &json!([["ap.queue", "codel"]]))["done"]["report"].as_u64().unwrap();
    let swept = server.post_json("/run", &json!([]))["done"]["report"].as_u64().unwrap();
    for (a, b, told) in [(other, swept, "no sweep point in common"), (first + 1, swept, "not kept any more")] {
        let (status, why) = compare(a, b);
        assert!(status == 422 && why["wrong"].as_str().unwrap().contains(told), "{why}");
    }
    // Two results with one point each are compared, whatever the point; of a sweep, the points that both have.
    assert_eq!(compare(first, other).0, 200);
    let (_, common) = compare(first, swept);
    assert!(common["rows"].as_array().unwrap().iter().all(|row| row[0] == "ap.queue = fifo"), "{common}");
    assert_eq!(server.post(&format!("/pin/{}", first + 1), &Value::Null).0, 422);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "how long a user waits")]
fn runs_can_be_cancelled_and_leave_no_progress_to_later_ones() {
    let server = Server::start(FILE);
    let progress = || {
        let (_, _, text) = server.get(&format!("/progress?token={}", server.token));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(server.post_json("/run", &json!([["seeds", "1..4"]]))["done"]["runs"], 8);
    assert_eq!(progress(), json!({ "done": 8, "planned": 8 }));
    std::thread::scope(|scope| {
        let begun = Instant::now();
        let long = scope.spawn(|| server.post_json("/run", &json!([["duration", "20000s"], ["ap.queue", "fifo"]])));
        // Not those of the runs before.
        while progress()["done"] == 8 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(progress()["done"], 0);
        assert_eq!(server.post("/stop", &Value::Null).0, 204);
        assert_eq!(long.join().unwrap(), json!("overtaken"));
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    });
    // Another page cannot.
    let stop = format!("POST /stop?token={} HTTP/1.1\r\nHost: {}\r\n", server.token, server.host);
    assert_eq!(server.send(&format!("{stop}Connection: close\r\n\r\n")).0, 403);
    assert!(server.post_json("/run", &json!([]))["done"].is_object());
}

#[test]
fn wrong_values_are_told_and_harm_nothing() {
    let server = Server::start(FILE);
    for (settings, told) in [
        (json!([["param.wide", "9ms"]]), "help: "),
        (json!([["flow.0.cuont", "1"]]), "did you mean `count`"),
        (json!([["duration", "1e9s"]]), "help: "),
        (json!([["", ""]]), "help: "),
    ] {
        let (status, text) = server.post("/run", &settings);
        assert!(status == 422 && text.contains(told), "{settings}: {status} {text}");
    }
    assert_eq!(server.post("/run", &json!({ "a": 1 })).0, 422);
    assert_eq!(server.get(&format!("/report/77?token={}", server.token)).0, 404);
    assert_eq!(server.get("/").0, 403);
    let (status, _, _) = server.send("nonsense\r\n\r\n");
    assert_eq!(status, 400);
    assert!(server.post_json("/run", &json!([]))["done"].is_object());
}

#[test]
#[allow(clippy::disallowed_methods, reason = "how long a user waits")]
fn a_later_change_ends_the_runs_of_an_earlier_one() {
    let server = Server::start(FILE);
    let long = json!([["duration", "20000s"], ["seeds", "1..50"]]);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.post_json("/run", &long));
        // The first run has begun when the server knows how many there are, or it is about to.
        std::thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        assert!(server.post_json("/run", &json!([]))["done"].is_object());
        assert_eq!(first.join().unwrap(), json!("overtaken"));
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    });
}

#[test]
#[allow(clippy::disallowed_methods, reason = "how long a user waits")]
fn a_sweep_that_takes_minutes_to_build_blocks_nobody() {
    let server = Server::start(FILE);
    let long = json!([["sweep.flow.0.count", "1..20000"]]);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.post_json("/run", &long));
        std::thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        // A wrong value is told at once, and a key becomes a dial although the sweep is among the settings.
        assert_eq!(server.post_json("/dial", &json!({ "key": "wire.delay", "settings": long }))["turn"]["unit"], "ms");
        assert_eq!(server.post("/dial", &json!({ "key": "wire.dealy", "settings": long })).0, 422);
        assert!(server.post_json("/run", &json!([]))["done"].is_object());
        assert_eq!(first.join().unwrap(), json!("overtaken"));
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    });
    // So does the end of the server, in the middle of a build.
    std::thread::scope(|scope| {
        let many = json!([["flow.0.count", "20000"], ["sweep.flow.0.window", "1..500"]]);
        let body = many.to_string();
        let request = format!(
            "POST /run HTTP/1.1\r\nHost: {}\r\nX-Contend-Token: {}\r\nContent-Type: application/json\r\n\
                Content-Length: {}\r\n\r\n{body}",
            server.host,
            server.token,
            body.len()
        );
        let mut socket = TcpStream::connect(&server.host).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        scope.spawn(move || drop(server)).join().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    });
}

#[test]
#[allow(clippy::disallowed_methods, reason = "how long a user waits")]
fn half_a_request_without_the_token_keeps_nobody_out() {
    let server = Server::start(FILE);
    let begun = Instant::now();
    let half = |text: &str| {
        let mut socket = TcpStream::connect(&server.host).unwrap();
        socket.write_all(text.as_bytes()).unwrap();
        socket
    };
    // Three times as many as the server holds, and bodies that do not come.
    let heads: Vec<TcpStream> = (0..120).map(|_| half("GET / HTTP/1.1\r\nHost: ")).collect();
    assert_eq!(server.get(&format!("/?token={}", server.token)).0, 200);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    for body in [&format!("X-Contend-Token: {}\r\n", server.token), ""] {
        let head = format!("POST /run HTTP/1.1\r\nHost: {}\r\n{body}Content-Length: 9\r\n\r\n[", server.host);
        let mut answer = String::new();
        let mut socket = half(&head);
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.read_to_string(&mut answer).unwrap();
        let status = if body.is_empty() { "403" } else { "408" };
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    drop(heads);
    // RFC 9112 §3.2: a request with two hosts is wrong.
    let two = format!("GET /?token={} HTTP/1.1\r\nHost: {}\r\nHost: evil.example\r\n\r\n", server.token, server.host);
    assert_eq!(server.send(&two).0, 403);
}
